"""How a unit is held, with plug-ins that write down what happens to them."""

from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from harness import plugins
from harness.bench.boards import load_board
from harness.bench.connection import Connection
from harness.domain.dut import Dut
from harness.domain.firmware import FlashPart, FlashSegment
from harness.domain.run_options import RunOptions
from harness.errors import DeadlineError, FlashError, ProbeError
from tests.support.scripted import ScriptedLine

BOARD = replace(load_board("stm32f407-virtual"), watchdog_s=0.1)
PART = FlashPart("model", FlashSegment(0x0808_0000, b"\x01\x02"), ())


class NotedLine(ScriptedLine):
    """Writes down that it was closed."""

    happened: list[str]

    def close(self):
        self.happened.append("closed")


@dataclass
class Bench:
    """A unit source, a flasher and a transport in one."""

    happened: list[str] = field(default_factory=list)
    line: NotedLine = field(default_factory=NotedLine)
    flash: bytes = b"\x01\x02"
    breaks: bool = False

    @contextmanager
    def acquire(self, board, probe, port, *, flasher, transport):
        self.happened.append("acquired")
        yield Dut(board, "p1", port or "/dev/x")
        self.happened.append("given back")

    @contextmanager
    def connect(self, dut):
        if self.breaks:
            raise ProbeError("no such probe")
        self.happened.append("connected")
        yield self
        self.happened.append("disconnected")

    def open(self, port, baud_rate):
        self.happened.append(f"opened {port}")
        self.line.happened = self.happened
        return self.line

    def read(self, address, size_bytes):
        return self.flash

    def write(self, segment, progress):
        pass

    def start(self, open_line):
        line = open_line()
        self.line.reset()
        return line

    def restart(self, line):
        self.line.reset()


@pytest.fixture
def bench(monkeypatch):
    made = Bench()
    monkeypatch.setattr(plugins, "unit_source", lambda _: made)
    monkeypatch.setattr(plugins, "transport", lambda _: made)
    return made


def held(bench, **options):
    return Connection(BOARD, plugins.family(BOARD.family), bench, RunOptions(**options))


def test_a_unit_is_connected_once_and_given_back_in_turn(bench):
    connected = held(bench)
    assert connected.dut is None
    assert connected.open() is connected.open()
    assert connected.dut is not None
    connected.close()
    assert bench.happened == ["acquired", "connected", "disconnected", "given back"]
    assert connected.dut is None


def test_a_unit_whose_probe_does_not_answer_is_given_back(bench):
    bench.breaks = True
    connected = held(bench)
    with pytest.raises(ProbeError):
        connected.open()
    connected.close()
    assert bench.happened == ["acquired", "given back"]


def test_a_talk_starts_the_device_and_closes_its_line(bench):
    connected = held(bench, port="/dev/mine")
    with connected.talk([PART]) as device:
        assert device.await_boot().unit == "aabbcc"
    assert bench.happened == ["acquired", "connected", "opened /dev/mine", "closed"]
    assert b"hello" in connected.serial_log.take()


def test_silence_is_blamed_on_flash_that_holds_something_else(bench):
    bench.flash = b"\x01\xff"
    with pytest.raises(FlashError), held(bench).talk([PART]):
        raise DeadlineError("the device is silent", where="/dev/x")
    assert bench.happened[-1] == "closed"


def test_silence_with_sound_flash_stays_silence(bench):
    with pytest.raises(DeadlineError), held(bench).talk([PART]):
        raise DeadlineError("the device is silent", where="/dev/x")
