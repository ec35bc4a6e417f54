"""The real firmware on the virtual chip's core, led astray by its debug registers: each fault has to become a frame."""

import mmap

import pytest
import serial

from harness import wire
from harness.boards import load_board
from harness.build import build
from harness.tflm.crate import CrateProvider
from harness.toolchains.arm_gcc import ArmGcc
from harness.virtual.faults import Faults
from harness.virtual.serial_line import SerialLine

machine = pytest.importorskip("harness.virtual.stm32f407.machine", reason="needs unicorn", exc_type=ImportError)

BOARD = load_board("stm32f407-virtual")
NONCE = "5f3a9c01"

# DDI 0403 section C1.6: debug registers, and the numbers by which they select the core's own.
DHCSR, DCRSR, DCRDR = 0xE000EDF0, 0xE000EDF4, 0xE000EDF8
HALT, RUN = 0xA05F0003, 0xA05F0001
REGISTERS = {"sp": 13, "lr": 14, "pc": 15, "xpsr": 16, "psp": 18}
CHUNK = 200_000


class Chip:
    """A virtual chip with the firmware in its flash, and the other end of its serial line."""

    def __init__(self, image):
        faults = Faults()
        flash = mmap.mmap(-1, 1 << 20)
        flash.write(b"\xff" * (1 << 20))
        flash[: len(image.segment.data)] = image.segment.data
        self._line = SerialLine(faults)
        self._user_end = serial.Serial(self._line.port, BOARD.baud_rate, timeout=0)
        self._machine = machine.Machine("test", flash, self._line, faults)
        self._decoder = wire.Decoder()

    def close(self):
        self._user_end.close()
        self._line.close()

    def frame(self, kind, pause_s=0.0):
        """Run until a frame of this kind comes; before each slice the core rests for `pause_s` of its own time."""
        for _ in range(400):
            self._machine.elapse(max(pause_s, self._machine.idle_s()))
            self._machine.receive()
            self._machine.run(CHUNK)
            for event in self._decoder.feed(self._user_end.read(65536)):
                if isinstance(event, wire.Frame) and event.kind == kind:
                    return event.body.values
        raise AssertionError(f"no frame {kind!r}: {self._machine.state()}")

    def send(self, **command):
        self._user_end.write(wire.encode_command(0, NONCE, command))

    def lead_astray(self, **values):
        """Halt the core, change its registers, and let it run on."""
        self._poke(DHCSR, HALT)
        for name, value in values.items():
            self._poke(DCRDR, value)
            self._poke(DCRSR, 1 << 16 | REGISTERS[name])
        self._poke(DHCSR, RUN)
        self._poke(DHCSR, 0xA05F0000)

    def _poke(self, address, value):
        self._machine.write_memory(address, value.to_bytes(4, "little"), 4)


@pytest.fixture(scope="module")
def image(needs_firmware):
    return build(BOARD, CrateProvider(), ArmGcc(), lambda *_: None)


@pytest.fixture
def chip(image):
    chip = Chip(image)
    yield chip
    chip.close()


@pytest.fixture
def idle(chip):
    """A chip that has said hello and waits for commands."""
    assert chip.frame("hello")["reset"] == "power"
    return chip


def symbols(image):
    return ArmGcc().symbols(image.elf)


def test_hello_tells_what_the_build_knows(chip, image):
    hello = chip.frame("hello")
    assert hello["build_id"] == image.build_id
    assert hello["image_crc32"] == image.crc32
    assert hello["arena_max_bytes"] == image.arena_max_bytes
    assert (hello["clock_hz"], hello["clock_source"]) == (168_000_000, "hse_pll")
    assert hello["model"]["state"] == "missing"
    assert len(hello["unit"]) == 24


def test_the_image_has_no_heap_no_stdio_and_no_exceptions(image):
    unwanted = {"malloc", "_malloc_r", "_sbrk", "_Znwj", "_Znaj", "__cxa_throw", "printf", "fprintf", "_write"}
    assert unwanted.isdisjoint(symbols(image))


def test_a_jump_to_nowhere(idle):
    idle.lead_astray(pc=0x60000000)
    fault = idle.frame("fault")
    assert fault["kind"] in {"bus_fault", "mem_manage"}
    assert fault["stage"] == "idle"
    assert fault["pc"] == 0x60000000
    assert fault["cfsr"] != 0


def test_a_jump_out_of_thumb_state(idle):
    idle.lead_astray(xpsr=0)
    fault = idle.frame("fault")
    assert fault["kind"] == "usage_fault"
    assert fault["cfsr"] == 1 << 17  # INVSTATE


def test_a_stack_that_leaves_its_ram(idle, image):
    idle.lead_astray(sp=0x10000004, pc=symbols(image)["_ZN7harness9SendHelloEv"] & ~1)
    fault = idle.frame("fault")
    assert fault["kind"] == "stack_overflow"
    assert fault["sp"] <= 0x10000004


def test_abort_of_the_library(idle, image):
    idle.lead_astray(pc=symbols(image)["abort"] & ~1)
    fault = idle.frame("fault")
    assert (fault["kind"], fault["text"]) == ("abort", "abort() was called")


def test_the_watchdog_resets_a_chip_that_has_stopped(idle, image):
    idle.lead_astray(pc=symbols(image)["abort"] & ~1)
    idle.frame("fault")
    assert idle.frame("hello", pause_s=BOARD.watchdog_s / 50)["reset"] == "watchdog"


def test_the_reset_command(idle):
    idle.send(cmd="reset")
    assert idle.frame("ok") == {"frame": "ok", "cmd": "reset"}
    assert idle.frame("hello")["reset"] == "software"
