"""Trouble with an ESP32 on the desk, and what harness makes of it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from harness import plugins
from harness.bench.boards import load_board
from harness.bench.flash import first_difference
from harness.device.talk import Device, Patience
from harness.domain.dut import Dut
from harness.domain.firmware import FlashSegment
from harness.errors import (
    BrownOutError,
    FlashError,
    HarnessError,
    ProbeError,
    SerialPortError,
    WatchdogError,
    WrongDeviceError,
)
from harness.flashers.esptool import EsptoolFlasher
from harness.ports import FlashSession
from harness.virtual import launcher
from harness.virtual.launcher import VirtualBoard
from harness.virtual.link import Client
from tests.support import esp32_probe

pytest.importorskip("esptool", reason="the extra `esp32` is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("esp32")]
BOARD = load_board("esp32-virtual")
WORDS = plugins.family(BOARD.family).words
DATA = random.Random(5).randbytes(100_000)  # noqa: S311 - no secret
SEGMENT = FlashSegment(0x1000, DATA)
MAGIC_OF_ESP32_S2 = 0x000007C6
# In pySerial's RFC 2217 client.
PYSERIAL_IS_OLD = pytest.mark.filterwarnings("ignore:set(Daemon|Name).*:DeprecationWarning")


@pytest.fixture(scope="module")
def flasher() -> Iterator[EsptoolFlasher]:
    started = EsptoolFlasher()
    started.prepare()
    yield started
    started.close()


@pytest.fixture
def unit() -> Iterator[VirtualBoard]:
    esp32_probe.require_emulator()
    with launcher.start("esp32", f"trouble-{os.getpid()}") as board:
        yield board


@pytest.fixture
def dut(unit: VirtualBoard) -> Dut:
    return Dut(BOARD, unit.probe_id, unit.port)


@pytest.fixture
def order(unit: VirtualBoard) -> Callable[..., object]:
    def control(do: str, **arguments: object) -> object:
        with Client(unit.socket) as client:
            return client.control({"do": do, **arguments})

    return control


def ignore(what: str, done: int, total: int) -> None:
    pass


def write(session: FlashSession) -> None:
    session.write(SEGMENT, ignore)


def refusal_of(flasher: EsptoolFlasher, dut: Dut, work: Callable[[FlashSession], object] = write) -> HarnessError:
    with pytest.raises(HarnessError) as refusal, flasher.connect(dut) as session:
        work(session)
    assert len(str(refusal.value).splitlines()) <= 3
    assert refusal.value.hint
    return refusal.value


def test_what_is_written_reads_back(flasher, dut):
    with flasher.connect(dut) as session:
        write(session)
        assert session.read(0x1000, len(DATA)) == DATA
        assert first_difference(session, [SEGMENT]) is None


def test_the_chip_runs_when_the_session_ends(flasher, dut, order, tmp_path):
    with flasher.connect(dut) as session:
        session.write(FlashSegment(0x1000, esp32_probe.build(tmp_path).read_bytes()), ignore)
    assert order("state")["mode"] == "running"


def test_progress_goes_up_to_the_end(flasher, dut):
    told = []
    with flasher.connect(dut) as session:
        session.write(SEGMENT, lambda what, done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (len(DATA), len(DATA))


def test_another_chip_is_named(flasher, dut, order):
    order("wrong_chip", magic=MAGIC_OF_ESP32_S2)
    error = refusal_of(flasher, dut)
    assert isinstance(error, WrongDeviceError)
    assert (error.measured, error.expected) == ("ESP32-S2", "ESP32")


def test_a_flash_that_is_smaller_than_told_is_named(flasher, dut, order):
    order("flash_size", megabytes=2)
    error = refusal_of(flasher, dut)
    assert isinstance(error, WrongDeviceError)
    assert error.measured == "2 MB"
    assert str(error.expected).startswith("at least 4 MB")
    assert "esp32-devkitc-2mb" in error.hint
    smaller = replace(dut, board=load_board("esp32-devkitc-2mb"))
    with flasher.connect(smaller) as session:
        write(session)


def test_another_unit_behind_the_port_is_named(flasher, dut):
    with flasher.connect(dut) as session:
        session._mac = "00:11:22:33:44:55"
        session.disconnect(restart=False)
        with pytest.raises(WrongDeviceError) as refusal:
            session.read(0, 4)
    assert refusal.value.expected == "00:11:22:33:44:55"


def test_a_silent_boot_loader_gets_advice(flasher, dut, order):
    order("no_sync")
    error = refusal_of(flasher, dut)
    assert isinstance(error, ProbeError)


def test_a_chip_that_does_not_obey_its_strap_gets_advice(flasher, dut, order):
    order("strap_ignored")
    error = refusal_of(flasher, dut)
    assert isinstance(error, ProbeError)
    assert "0x13" in str(error.measured)
    assert "BOOT" in error.hint


def test_commands_that_are_refused_for_good_fail(flasher, dut, order):
    with flasher.connect(dut) as session:
        order("nack", count=100)
        with pytest.raises(FlashError):
            write(session)


def test_after_a_lost_reply_the_next_call_begins_anew(flasher, dut, order):
    with flasher.connect(dut) as session:
        order("drop_replies", count=1)
        with pytest.raises(ProbeError, match="answers no longer"):
            write(session)
        write(session)
        assert first_difference(session, [SEGMENT]) is None


def test_a_bit_that_does_not_program_is_named(flasher, dut, order):
    address = next(0x1000 + offset for offset, byte in enumerate(DATA) if not byte & 0x04)
    order("flash_stuck_bits", address=address, mask=0x04)
    error = refusal_of(flasher, dut)
    assert isinstance(error, FlashError)
    assert error.where == f"{address:#010x}"
    assert int(str(error.measured), 16) == int(str(error.expected), 16) | 0x04


def test_unplugged_in_the_middle_of_a_write(flasher, dut, order):
    order("unplug_after", blocks=2)
    assert isinstance(refusal_of(flasher, dut), SerialPortError | ProbeError)


def test_a_port_that_does_not_exist(flasher, dut):
    error = refusal_of(flasher, replace(dut, port="/dev/ttyNONE"))
    assert isinstance(error, SerialPortError)


def boot(flasher: EsptoolFlasher, dut: Dut, before: Callable[[], object] = lambda: None) -> None:
    """Connect, do something else, start what is in flash, and wait for a hello."""
    transport = plugins.transport(BOARD.transport)
    with flasher.connect(dut) as session:
        before()
        line = session.start(lambda: transport.open(dut.port, BOARD.baud_rate))
        try:
            Device(line, lambda: session.restart(line), Patience(boot_s=3.0), WORDS).await_boot()
        finally:
            line.close()


@PYSERIAL_IS_OLD
def test_an_empty_flash_is_named(flasher, dut):
    with pytest.raises(FlashError, match="no firmware"):
        boot(flasher, dut)


@PYSERIAL_IS_OLD
def test_a_brown_out_loop_is_named(flasher, dut, order):
    with pytest.raises(BrownOutError):
        boot(flasher, dut, lambda: order("brown_out", count=None))


@PYSERIAL_IS_OLD
def test_a_watchdog_left_on_is_named(flasher, dut, order, tmp_path):
    image = esp32_probe.build(tmp_path)
    with flasher.connect(dut) as session:
        session.write(FlashSegment(0x1000, image.read_bytes()), ignore)
    with pytest.raises(WatchdogError):
        boot(flasher, dut, lambda: order("watchdogs_stuck"))
