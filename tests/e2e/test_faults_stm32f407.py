"""The real firmware on the virtual chip's core, led astray by its debug registers: each fault has to become a frame."""

import pytest

from harness.build.firmware import build
from harness.tflm.crate import CrateProvider
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.chip import BOARD, Chip


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
