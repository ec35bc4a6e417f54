"""What every flasher must do, on virtual boards whose flash and link can be broken."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from harness.bench.boards import load_board
from harness.domain.dut import Dut
from harness.domain.firmware import FlashSegment
from harness.errors import BoardFileError, DeadlineError, FlashError, LockedError, ProbeError
from harness.flashers.pyocd import PyocdFlasher
from harness.ports import FlashSession
from harness.virtual import launcher
from harness.virtual.launcher import VirtualBoard
from harness.virtual.link import Client

pytest.importorskip("unicorn", reason="the extra `virtual` is not installed")

pytestmark = pytest.mark.xdist_group("flasher")  # which shares one virtual board and one process of the flasher's

BOARD = load_board("stm32f407-virtual")
FLASH = 0x0800_0000
SECTOR_1 = 0x0800_4000
SECTOR_5 = 0x0802_0000
SECTOR_6 = 0x0804_0000
HANGS_AFTER_S = 3.0


@pytest.fixture(scope="module", params=[PyocdFlasher], ids=["pyocd"])
def flasher(request: pytest.FixtureRequest) -> Iterator[PyocdFlasher]:
    started = request.param(HANGS_AFTER_S)
    started.prepare()
    yield started
    started.close()


@pytest.fixture(scope="module")
def virtual_board() -> Iterator[VirtualBoard]:
    with launcher.start("stm32f407", f"flasher-{os.getpid()}") as board:
        yield board


@pytest.fixture
def order(virtual_board: VirtualBoard) -> Iterator[Callable[..., dict]]:
    """Has the virtual board do something: see `harness.virtual.stm32f407.control`. Afterwards all is well again."""

    def control(do: str, **arguments: object) -> dict:
        with Client(virtual_board.socket) as client:
            return client.control({"do": do, **arguments})

    yield control
    control("clear_faults")
    control("power_cycle")


@pytest.fixture
def dut(virtual_board: VirtualBoard) -> Dut:
    return Dut(BOARD, virtual_board.probe_id, virtual_board.port)


def ignore(what: str, done: int, total: int) -> None:
    pass


def content(size_bytes: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size_bytes)  # noqa: S311  # no secret, and the same every time


def write(session: FlashSession, address: int, data: bytes) -> None:
    session.write(FlashSegment(address, data), ignore)


def write_alone(flasher: PyocdFlasher, dut: Dut, address: int, data: bytes) -> None:
    with flasher.connect(dut) as session:
        write(session, address, data)


@pytest.mark.parametrize(
    ("address", "size_bytes"),
    [
        pytest.param(FLASH, 1, id="one byte"),
        pytest.param(FLASH, 4096, id="one page"),
        pytest.param(FLASH, 30_001, id="across sectors of one size"),
        pytest.param(0x0800_F000, 0x12_000, id="across sectors of three sizes"),
        pytest.param(SECTOR_1 + 100, 5_000, id="from within a page"),
        pytest.param(SECTOR_5 - 10, 20, id="from the end of a sector"),
        pytest.param(0x080F_FFF0, 16, id="to the end of flash"),
    ],
)
def test_what_is_written_reads_back(flasher: PyocdFlasher, dut: Dut, address: int, size_bytes: int) -> None:
    data = content(size_bytes, address)
    with flasher.connect(dut) as session:
        write(session, address, data)
        assert session.read(address, size_bytes) == data
    with flasher.connect(dut) as session:
        assert session.read(address, size_bytes) == data


def test_reads_of_any_length_and_alignment(flasher: PyocdFlasher, dut: Dut) -> None:
    data = content(64)
    with flasher.connect(dut) as session:
        write(session, FLASH, data)
        for start, end in [(0, 1), (1, 2), (3, 9), (5, 64), (7, 7)]:
            assert session.read(FLASH + start, end - start) == data[start:end]


def test_other_sectors_keep_their_content(flasher: PyocdFlasher, dut: Dut) -> None:
    with flasher.connect(dut) as session:
        write(session, FLASH, content(1000, 1))
        write(session, SECTOR_6, content(1000, 2))
        write(session, SECTOR_1, content(1000, 3))
        assert session.read(FLASH, 1000) == content(1000, 1)
        assert session.read(SECTOR_6, 1000) == content(1000, 2)


def test_progress_runs_once_from_start_to_end(flasher: PyocdFlasher, dut: Dut) -> None:
    seen: list[tuple[str, int, int]] = []
    with flasher.connect(dut) as session:
        session.write(FlashSegment(FLASH, content(40_000)), lambda *told: seen.append(told))
    done = [told[1] for told in seen]
    assert done == sorted(done)
    assert seen[-1] == ("flash", 40_000, 40_000)
    assert len(set(done)) > 10


@pytest.mark.parametrize("percent", [5, 30, 40, 60, 75])
def test_interrupted_write_leaves_no_label(
    flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict], percent: int
) -> None:
    """The first page holds what says that an image is complete; it must not be there before the rest is."""
    old, new = content(40_000, 1), content(40_000, 2)

    def unplug(what: str, done: int, total: int) -> None:
        if done * 100 >= total * percent:
            order("link", status="disconnected", first=1, count=None)

    with flasher.connect(dut) as session:
        write(session, FLASH, old)
        with pytest.raises(ProbeError):
            session.write(FlashSegment(FLASH, new), unplug)
    order("clear_faults")
    with flasher.connect(dut) as session:
        label, rest = session.read(FLASH, 4096), session.read(FLASH + 4096, 40_000 - 4096)
    assert label != old[:4096] or rest == old[4096:]
    assert label != new[:4096] or rest == new[4096:]


def test_silent_bit_flip_is_found_and_located(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]) -> None:
    data = bytes(40_000)
    order("flash_stuck_bits", address=FLASH + 0x5010, mask=0x20)
    order("flash_stuck_bits", address=FLASH + 0x7000, mask=0x20)
    with pytest.raises(FlashError, match="other bytes read back") as flipped, flasher.connect(dut) as session:
        write(session, FLASH, data)
    assert (flipped.value.where, flipped.value.measured, flipped.value.expected) == ("0x08005010", "0x20", "0x00")


def test_write_protected_sector(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]) -> None:
    order("write_protect", sectors=[1])
    with pytest.raises(FlashError, match="0x08004000") as refused, flasher.connect(dut) as session:
        write(session, FLASH, content(40_000))
    assert "write-protected" in refused.value.hint


def test_sector_that_does_not_erase(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]) -> None:
    write_alone(flasher, dut, SECTOR_1, bytes(16))
    order("flash_failing_sector", sector=1)
    with pytest.raises(FlashError), flasher.connect(dut) as session:
        write(session, SECTOR_1, content(1000))


def test_locked_chip_is_left_alone(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]) -> None:
    write_alone(flasher, dut, FLASH, content(1000, 1))
    order("read_protect", level=1)
    with pytest.raises(LockedError, match="read-out protection"):
        write_alone(flasher, dut, FLASH, content(1000, 2))
    assert order("state")["protection_level"] == 1
    order("clear_faults")
    order("power_cycle")
    with flasher.connect(dut) as session:
        assert session.read(FLASH, 1000) == content(1000, 1)


def test_chip_that_is_locked_after_connecting(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]) -> None:
    with flasher.connect(dut) as session:
        order("read_protect", level=1)
        with pytest.raises(LockedError):
            write(session, FLASH, content(1000))
        with pytest.raises(LockedError):
            session.read(FLASH, 16)


@pytest.mark.parametrize("status", ["wait", "no_ack", "disconnected", "fault"])
def test_link_fails_on_connecting(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict], status: str) -> None:
    order("link", status=status, first=1, count=None)
    with pytest.raises((ProbeError, FlashError), match="while connecting"), flasher.connect(dut):
        pass


@pytest.mark.parametrize("status", ["wait", "no_ack", "disconnected", "fault"])
@pytest.mark.parametrize("count", [1, None], ids=["once", "for good"])
def test_link_fails_while_writing(
    flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict], status: str, count: int | None
) -> None:
    """It may only fail by an error that says so, and only succeed with the right bytes in flash."""
    data = content(40_000)
    with flasher.connect(dut) as session:
        order("link", status=status, first=300, count=count)
        failure = failure_of(lambda: write(session, FLASH, data))
    assert failure is None or "while writing 40,000 bytes at 0x08000000" in failure.what
    assert failure is not None or count == 1
    order("clear_faults")
    with flasher.connect(dut) as session:
        assert failure is not None or session.read(FLASH, len(data)) == data
        write(session, FLASH, data)
        assert session.read(FLASH, len(data)) == data


def failure_of(work: Callable[[], object]) -> ProbeError | FlashError | None:
    try:
        work()
    except (ProbeError, FlashError) as error:
        return error
    return None


def test_hanging_chip_is_given_up_and_named(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]) -> None:
    order("flash_busy")
    with pytest.raises(DeadlineError, match="while writing") as hung:
        write_alone(flasher, dut, FLASH, content(1000))
    assert dut.probe_id in hung.value.where
    order("clear_faults")
    order("power_cycle")
    write_alone(flasher, dut, FLASH, content(1000))


def test_board_without_power(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]) -> None:
    order("power", on=False)
    with pytest.raises(ProbeError, match="does not answer") as silent, flasher.connect(dut):
        pass
    assert "power" in silent.value.hint


def test_probe_that_dies_while_writing(flasher: PyocdFlasher) -> None:
    with launcher.start("stm32f407", f"dying-{os.getpid()}") as board:
        dut = Dut(BOARD, board.probe_id, board.port)
        with flasher.connect(dut) as session:
            board.process.kill()
            board.process.wait()
            with pytest.raises(ProbeError, match="gone while writing") as gone:
                write(session, FLASH, content(1000))
    assert board.probe_id in gone.value.where


def test_no_such_probe(flasher: PyocdFlasher, dut: Dut) -> None:
    with pytest.raises(ProbeError, match="no such probe"), flasher.connect(replace(dut, probe_id="none-1")):
        pass


def test_unknown_chip_and_unknown_way_to_connect(flasher: PyocdFlasher, dut: Dut) -> None:
    for board in (replace(BOARD, flash_target="z80"), replace(BOARD, connect_mode="politely")):
        with pytest.raises(BoardFileError), flasher.connect(replace(dut, board=board)):
            pass


def test_address_outside_flash(flasher: PyocdFlasher, dut: Dut) -> None:
    for address in (0x2000_0000, 0x080F_FFF0):
        with pytest.raises(FlashError, match="no flash"):
            write_alone(flasher, dut, address, content(100))


def test_memory_that_is_not_there(flasher: PyocdFlasher, dut: Dut) -> None:
    with flasher.connect(dut) as session, pytest.raises(FlashError, match="bus"):
        session.read(0x6000_0000, 4)


def test_probe_in_use_names_its_user(flasher: PyocdFlasher, dut: Dut) -> None:
    with (
        flasher.connect(dut),
        pytest.raises(ProbeError, match="in use") as refused,
        flasher.connect(dut),
    ):
        pass
    assert str(os.getpid()) in str(refused.value)


class QuietLine:
    """A line whose opening tells what the chip does at that moment."""

    def __init__(self) -> None:
        self.port = "none"
        self.closed = False

    def read(self, timeout_s: float) -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        pass

    def set_control(self, *, dtr: bool, rts: bool) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def endless_loop() -> bytes:
    """Firmware: stack pointer, reset vector, `b .`."""
    return b"".join(value.to_bytes(4, "little") for value in (0x2000_1000, FLASH + 9, 0xE7FE_E7FE))


def test_line_is_opened_while_the_chip_is_held(flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]) -> None:
    held: list[dict] = []

    def open_line() -> QuietLine:
        held.append(order("state"))
        return QuietLine()

    with flasher.connect(dut) as session:
        write(session, FLASH, endless_loop())
        line = session.start(open_line)
        assert (held[0]["halted"], held[0]["pc"]) == (True, FLASH + 8)
        assert order("state")["halted"] is False
        before = order("state")["cycles"]
        session.restart(line)
        assert order("state")["halted"] is False
        assert order("state")["cycles"] != before
    assert order("state")["halted"] is False


def test_line_is_given_back_when_the_chip_does_not_start(
    flasher: PyocdFlasher, dut: Dut, order: Callable[..., dict]
) -> None:
    line = QuietLine()

    def open_line() -> QuietLine:
        order("link", status="disconnected", first=1, count=None)
        return line

    with flasher.connect(dut) as session:
        write(session, FLASH, endless_loop())
        with pytest.raises(ProbeError):
            session.start(open_line)
        order("clear_faults")
    assert line.closed


def test_only_probe_is_taken_and_several_are_listed(flasher: PyocdFlasher) -> None:
    names = [f"first-{os.getpid()}", f"second-{os.getpid()}"]
    with launcher.start("stm32f407", names[0], private=False), launcher.start("stm32f407", names[1], private=False):
        listed: Sequence[str] = [probe.unique_id for probe in flasher.probes()]
        assert {f"virtual-{name}" for name in names} <= set(listed)
        with pytest.raises(ProbeError, match="several probes") as several, flasher.connect(Dut(BOARD, "", "")):
            pass
        assert all(name in str(several.value) for name in names)
