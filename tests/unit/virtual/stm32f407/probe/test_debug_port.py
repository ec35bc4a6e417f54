"""Register accesses as pyOCD makes them, in front of a memory that is a byte array."""

from __future__ import annotations

from harness.virtual.stm32f407.probe.debug_port import DebugPort

CSW, TAR, DRW, BASE, IDR = 0x00, 0x04, 0x0C, 0xF8, 0xFC
SIZE_8, SIZE_16, SIZE_32, INCREMENT = 0, 1, 2, 0x10


class ByteArrayLink:
    """Stands for the link's client, and records the accesses."""

    def __init__(self) -> None:
        self.memory = bytearray(range(256)) * 16
        self.accesses: list[tuple[int, int, int]] = []
        self.touches = 0

    def touch(self) -> None:
        self.touches += 1

    def read_memory(self, address: int, size_bytes: int, width_bytes: int = 4) -> bytes:
        self.accesses.append((address, size_bytes, width_bytes))
        return bytes(self.memory[address : address + size_bytes])

    def write_memory(self, address: int, data: bytes, width_bytes: int = 4) -> None:
        self.accesses.append((address, len(data), width_bytes))
        self.memory[address : address + len(data)] = data


def connected(control: int, address: int) -> tuple[DebugPort, ByteArrayLink]:
    link = ByteArrayLink()
    port = DebugPort(link)  # type: ignore[arg-type]
    port.write_ap(CSW, control)
    port.write_ap(TAR, address)
    return port, link


def test_identification() -> None:
    port, link = connected(SIZE_32, 0)
    assert port.read_dp(0) == 0x2BA01477
    assert port.read_ap(IDR) == 0x24770011
    assert port.read_ap(BASE) == 0xE00FF003
    assert port.read_ap(0x01000000 | IDR) == 0  # no second access port
    assert link.touches == 1


def test_power_up_is_acknowledged() -> None:
    port, _ = connected(SIZE_32, 0)
    port.write_dp(4, 0x50000000)
    assert port.read_dp(4) == 0xF0000000
    port.write_dp(4, 0)
    assert port.read_dp(4) == 0


def test_words_increment() -> None:
    port, link = connected(SIZE_32 | INCREMENT, 0x10)
    assert port.read_ap(DRW) == 0x13121110
    assert port.read_ap(DRW) == 0x17161514
    port.write_ap(DRW, 0xAABBCCDD)
    assert link.memory[0x18:0x1C] == bytes.fromhex("ddccbbaa")
    assert port.read_ap(TAR) == 0x1C


def test_without_increment_the_address_stays() -> None:
    port, _ = connected(SIZE_32, 0x20)
    assert port.read_ap(DRW) == port.read_ap(DRW) == 0x23222120


def test_bytes_and_half_words_use_their_lanes() -> None:
    port, link = connected(SIZE_8 | INCREMENT, 0x21)
    assert port.read_ap(DRW) == 0x21 << 8
    assert port.read_ap(DRW) == 0x22 << 16
    port.write_ap(DRW, 0xAB << 24)
    assert link.memory[0x23] == 0xAB
    port.write_ap(CSW, SIZE_16)
    port.write_ap(TAR, 0x32)
    assert port.read_ap(DRW) == 0x3332 << 16
    port.write_ap(DRW, 0xBEEF << 16)
    assert link.memory[0x32:0x34] == bytes.fromhex("efbe")
    assert link.accesses[-1] == (0x32, 2, 2)


def test_block_is_one_access() -> None:
    port, link = connected(SIZE_32 | INCREMENT, 0x100)
    assert port.read_words(3) == [0x03020100, 0x07060504, 0x0B0A0908]
    port.write_words([1, 2])
    assert link.accesses == [(0x100, 12, 4), (0x10C, 8, 4)]
    assert port.read_ap(TAR) == 0x114


def test_increment_wraps_within_a_kilobyte() -> None:
    port, _ = connected(SIZE_32 | INCREMENT, 0x7FC)
    port.read_ap(DRW)
    assert port.read_ap(TAR) == 0x400


def test_control_reads_back_with_access_enabled() -> None:
    port, _ = connected(SIZE_16, 0)
    assert port.read_ap(CSW) == SIZE_16 | 0x40
