"""What is read from the remains of a device, with a probe that only knows what it is told."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from harness import plugins
from harness.device.talk import Device
from harness.domain.postmortem import ArenaEnds, DeviceFault, PostMortem, RunningOperator
from harness.errors import ArenaTooSmallError, DeviceFaultError, OverrunError, ProbeError
from harness.measure.postmortem import Remains, blame, examine
from harness.ports import FlashSession
from harness.toolchains.elf import read_symbols
from tests.support.host_program import compiled

SOUND = b"\xaa" * 64
REGISTERS = dict.fromkeys(("pc", "lr", "sp", "psr", "cfsr", "hfsr", "mmfar", "bfar"), 0)
FAULT = DeviceFault("bus_fault", "invoke", "", REGISTERS, RunningOperator(3, "CONV_2D", 0x0800_0101))
ERROR = DeviceFaultError("the device ended in a bus fault during invoke", where="/dev/ttyX")
FAMILY = plugins.family("stm32f4")
ARENA = ArenaEnds(0x2000_0040, 1000, SOUND, SOUND, b"", b"")


class GoneProbe:
    """A flash session whose probe has been unplugged."""

    def registers(self, mapped):
        raise ProbeError("the probe is gone")


@pytest.fixture(scope="module")
def compiled_program(tmp_path_factory):
    """Any ELF file will do: its addresses are not those of the fault."""
    return compiled(tmp_path_factory.mktemp("elf"))


def subject(elf):
    return SimpleNamespace(
        model="m.tflite", board=SimpleNamespace(id="b"), image=SimpleNamespace(build_id="0" * 16, elf=elf)
    )


def remains(flash=None, **changes):
    told = {"unit": "aa", "fault": FAULT, "restarted": False, "arena_bytes": 1000, **changes}
    device = SimpleNamespace(transcript=SimpleNamespace(**told))
    return Remains(cast("Device", device), cast("FlashSession", flash or object()), FAMILY)


def test_a_probe_that_is_gone_does_not_hide_what_the_device_said(compiled_program):
    found = examine(ERROR, subject(compiled_program), 2000, remains(flash=GoneProbe()))
    assert found.probe_trouble == "the probe is gone"
    assert found.fault == FAULT
    assert found.suspect == "arena"
    assert found.reasons == ("it has 1,000 bytes, and the model should need 2,000",)


def test_a_device_that_has_started_anew_is_not_looked_into(compiled_program):
    found = examine(ERROR, subject(compiled_program), None, remains(fault=None, restarted=True, flash=GoneProbe()))
    assert (found.probe_trouble, found.suspect, found.registers) == ("", "", {})


def test_without_a_probe_the_devices_own_words_are_used(compiled_program):
    found = examine(ERROR, subject(compiled_program), 500, remains())
    assert (found.registers, found.probe_trouble) == ({}, "")
    assert found.suspect == "model"
    assert "operator 3 CONV_2D" in found.reasons[0]


def test_an_operator_whose_kernel_tflm_does_not_tell_has_none(compiled_program):
    fault = replace(FAULT, operator=RunningOperator(3, "CONV_2D", 0))
    found = examine(ERROR, subject(compiled_program), 500, remains(fault=fault))
    assert found.kernel is None
    assert "while TFLM ran operator 3 CONV_2D" in found.summary()


@pytest.fixture(scope="module")
def main_at(compiled_program):
    """The address of `main`."""
    return read_symbols(compiled_program)["main"]


UNDEFINED = {**REGISTERS, "cfsr": 1 << 16}


def test_an_instruction_that_the_core_does_not_have_is_not_the_models_fault(compiled_program, main_at):
    fault = replace(FAULT, kind="usage_fault", registers={**UNDEFINED, "pc": main_at})
    # Not even in an arena that would have been too small.
    found = examine(ERROR, subject(compiled_program), 2000, remains(fault=fault))
    assert found.suspect == "code"
    assert "another core or FPU" in found.reasons[0]
    assert any("likely cause: the code: " in line for line in found.summary())
    assert blame(ERROR, found) is ERROR


def test_a_core_that_was_led_astray_meets_anything(compiled_program):
    fault = replace(FAULT, kind="usage_fault", registers={**UNDEFINED, "pc": 0x2000_0000})
    found = examine(ERROR, subject(compiled_program), 500, remains(fault=fault))
    assert found.suspect == "model"


def test_silence_without_a_probe_accuses_nobody(compiled_program):
    found = examine(ERROR, subject(compiled_program), None, remains(fault=None, arena_bytes=None))
    assert (found.suspect, found.pc, found.summary()) == ("", None, ())


def found(**changes):
    return replace(PostMortem("m", "b", "u", "0", "DeviceFaultError", "died", fault=FAULT, arena=ARENA), **changes)


def test_a_fault_in_too_small_an_arena_is_an_arena_too_small():
    error = blame(ERROR, found(suspect="arena"))
    assert isinstance(error, ArenaTooSmallError)
    assert "bus fault" in error.what
    assert "likely the arena is too small" in error.what


def test_a_broken_guard_is_an_overrun():
    broken = replace(ARENA, guard_high=b"\x11" * 64)
    assert isinstance(blame(ERROR, found(suspect="arena", arena=broken)), OverrunError)


def test_an_access_behind_the_arena_is_an_overrun():
    near = replace(ARENA, start=0x2001_F000)
    assert isinstance(blame(ERROR, found(suspect="arena", arena=near, fault_address=0x2002_0000)), OverrunError)
    # Without an address it may have been anywhere.
    assert isinstance(blame(ERROR, found(suspect="arena", arena=near)), ArenaTooSmallError)


def test_the_family_says_what_the_registers_mean(compiled_program):
    registers = {**REGISTERS, "cfsr": 1 << 15 | 1 << 9, "bfar": 0x2002_0000}
    found = examine(ERROR, subject(compiled_program), 500, remains(fault=replace(FAULT, registers=registers)))
    assert found.fault_address == 0x2002_0000
    assert found.fault_words == (
        "PRECISERR: an access to data failed on the bus",
        "the address that could not be accessed is 0x20020000",
    )


class Probe:
    """A flash session that knows these registers, and reads nothing but zeros."""

    def __init__(self, **registers):
        self._registers = registers

    def registers(self, mapped):
        assert mapped == FAMILY.mapped_registers
        return self._registers

    def read(self, address, size_bytes):
        return bytes(size_bytes)


@pytest.fixture(scope="module")
def program_with_a_stack(tmp_path_factory):
    """An ELF file that says where stack and arena lie, as a linker script of ours does."""
    symbols = {"_stack_start": 0x1000_0000, "_stack_end": 0x1000_4000, "_arena_ram_start": 0x2000_0000}
    flags = [f"-Wl,--defsym,{name}={value:#x}" for name, value in symbols.items()]
    return compiled(tmp_path_factory.mktemp("elf"), "-no-pie", *flags)


def test_the_probes_registers_speak_for_a_device_that_said_nothing(program_with_a_stack):
    probe = Probe(pc=0, lr=0xFFFF_FFFD, sp=0x1000_4700, psp=0x1000_1000, cfsr=1 << 17)
    found = examine(ERROR, subject(program_with_a_stack), 500, remains(probe, fault=None))
    assert found.probe_trouble == ""
    assert found.stack_free_bytes == 0x1000  # of the stack that the application runs on, not of the handlers'
    assert found.fault_words[0].startswith("INVSTATE: ")
    assert found.lr is None  # it would have ended an exception


def test_what_is_no_return_address_is_no_place(compiled_program):
    """An abort saves nothing but where it happened."""
    found = examine(ERROR, subject(compiled_program), 500, remains(fault=replace(FAULT, kind="abort")))
    assert found.lr is None


@pytest.mark.parametrize("suspect", ["stack", "model", ""])
def test_others_than_the_arena_leave_the_error_as_it_is(suspect):
    assert blame(ERROR, found(suspect=suspect)) is ERROR
