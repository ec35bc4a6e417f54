"""What registers and addresses of a Cortex-M mean."""

from __future__ import annotations

import pytest

from harness import plugins
from harness.domain.board import MemoryRegion

STM32F4 = plugins.family("stm32f4")


def test_the_unit_id_is_where_the_reference_manual_says() -> None:
    assert STM32F4.unit_id == MemoryRegion(0x1FFF7A10, 12)


@pytest.mark.parametrize(
    ("registers", "names"),
    [
        ({"cfsr": 1 << 16}, ["UNDEFINSTR"]),
        ({"cfsr": 1 << 9 | 1 << 12}, ["PRECISERR", "STKERR"]),
        ({"cfsr": 1 << 1, "hfsr": 1 << 30}, ["DACCVIOL", "FORCED"]),
        ({"cfsr": 0, "hfsr": 0}, []),
        ({}, []),
    ],
)
def test_fault_status_has_words(registers, names) -> None:
    assert [words.partition(":")[0] for words in STM32F4.explain(registers)] == names


@pytest.mark.parametrize(("bit", "address"), [(7, 0x1000), (15, 0x2000), (9, None)])
def test_a_fault_address_counts_when_the_status_says_so(bit, address) -> None:
    registers = {"cfsr": 1 << bit, "mmfar": 0x1000, "bfar": 0x2000}
    assert STM32F4.fault_address(registers) == address
    said = [words for words in STM32F4.explain(registers) if "could not be accessed" in words]
    assert said == ([f"the address that could not be accessed is {address:#010x}"] if address else [])


@pytest.mark.parametrize(("status", "lacks"), [(1 << 16, True), (1 << 19, True), (1 << 17, False), (0, False)])
def test_an_instruction_of_another_core_is_known(status, lacks) -> None:
    assert STM32F4.lacks_instruction({"cfsr": status}) is lacks


def test_the_applications_stack_is_the_process_stack() -> None:
    assert STM32F4.stack_pointer({"sp": 0x10004800, "psp": 0x10003000}) == 0x10003000
    assert STM32F4.stack_pointer({"sp": 0x10004800, "psp": 0}) == 0x10004800
    assert STM32F4.stack_pointer({"sp": 0x10004800}) == 0x10004800


def test_the_thumb_bit_is_no_part_of_an_address() -> None:
    assert STM32F4.code_address(0x08000101) == STM32F4.code_address(0x08000100) == 0x08000100


@pytest.mark.parametrize(
    ("word", "site"),
    [
        (0x08000105, 0x08000102),
        (0x08000104, None),  # no Thumb bit
        (0xFFFFFFFD, None),  # ends an exception
        (0xFFFFFFE9, None),
        (0, None),
    ],
)
def test_only_some_words_are_return_addresses(word, site) -> None:
    assert STM32F4.call_site(word) == site


def test_every_register_of_a_fault_frame_that_lies_in_memory_can_be_read_by_a_probe() -> None:
    assert set(STM32F4.mapped_registers) == set(STM32F4.words.cause_registers)
