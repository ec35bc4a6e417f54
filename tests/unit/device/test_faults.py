"""Fault frames, with the registers that a chip's family has."""

import pytest

from harness.device.faults import fault_error, read_fault
from harness.device.talk import Device, Patience
from harness.domain.family import ChipWords
from harness.errors import DeviceFaultError, FlashMappingError, ProtocolError
from harness.files.fields import Fields
from tests.support.scripted import FAULT, ScriptedLine

WORDS = ChipWords(state_registers=("psr",), cause_registers=("cfsr", "bfar"))


def fields(**changes):
    return Fields("frame", {**FAULT, **changes}, ProtocolError)


def test_the_registers_are_the_familys_in_its_order():
    assert list(read_fault(fields(), WORDS).registers) == ["pc", "lr", "sp", "psr", "cfsr", "bfar"]


def test_a_register_that_a_kind_of_fault_does_not_have_is_zero():
    body = fields(kind="abort", cfsr=None)
    assert read_fault(body, WORDS).registers["cfsr"] == 0


@pytest.mark.parametrize("name", ["pc", "lr", "sp"])
def test_every_fault_has_the_cores_registers(name):
    with pytest.raises(ProtocolError, match=name):
        read_fault(fields(**{name: None}), WORDS)


def test_an_error_lists_what_tells_the_cause():
    error = fault_error(read_fault(fields(bfar=0x20020000), WORDS), "p", WORDS)
    assert error.measured == "pc=0x08000123, lr=0x08000123, sp=0x08000123, cfsr=0x08000123, bfar=0x20020000"


@pytest.mark.parametrize(("address", "measured"), [(0x3F720010, "first at 0x3f720010"), (0, None)])
def test_flash_that_cannot_be_read_in_place_is_no_fault_of_the_model(address, measured):
    words = ChipWords(cause_registers=("excvaddr",))
    said = fields(kind="flash_mapping", text="the flash cache is never flushed", excvaddr=address)
    error = fault_error(read_fault(said, words), "p", words)
    assert isinstance(error, FlashMappingError)
    assert error.what == "the chip cannot read its flash in place: the flash cache is never flushed"
    assert error.measured == measured
    assert error.hint


def test_a_device_reads_them_by_the_words_that_it_is_given():
    line = ScriptedLine(lambda line, command: line.frame(FAULT) if command["cmd"] == "scan" else None)
    device = Device(line, line.reset, Patience(0.3, 0.3, 0.3), WORDS)
    device.reboot()
    with pytest.raises(DeviceFaultError, match="bfar=0x08000123"):
        device.ask("scan", "scanned")
    assert "psr" in device.transcript.fault.registers
