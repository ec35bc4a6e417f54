"""Building, with a firmware of a few lines and the real arm compiler."""

import re
import shutil
from dataclasses import replace

import pytest

import harness.build.inputs
from harness.bench.boards import load_board
from harness.build.firmware import GUARD_BYTES, build
from harness.build.inputs import memory_script
from harness.domain.board import MemoryRegion
from harness.domain.firmware import Registration
from harness.errors import BuildError, DoesNotLinkError, StorageError
from harness.files.cache import Cache
from harness.files.resources import firmware_dir
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.small_firmware import SOURCES, CountingGcc, Sources, ignore

BOARD = load_board("stm32f407-virtual")


class OtherVersion(CountingGcc):
    """Says that it is another compiler."""

    def identify(self):
        return replace(super().identify(), version="another version")


@pytest.fixture
def tflm(tmp_path):
    folder = tmp_path / "tflm"
    folder.mkdir()
    (folder / "part.c").write_text("int library_part(void) { return PART; }\n")
    return Sources(folder)


def test_an_image_is_described(firmware, tflm, cache):
    image = build(BOARD, tflm, ArmGcc(), ignore, cache)
    assert re.fullmatch("[0-9a-f]{16}", image.build_id)
    assert image.segment.address == BOARD.firmware_flash.start
    assert f"{image.build_id} {BOARD.id} ".encode() in image.segment.data
    assert image.text_bytes == len(image.segment.data)
    assert image.ram_bytes == 4
    assert image.arena_max_bytes == 128 * 1024 - 2 * GUARD_BYTES
    assert image.elf.is_file()


def test_what_is_built_is_not_built_again(firmware, tflm, cache):
    toolchain = CountingGcc()
    first = build(BOARD, tflm, toolchain, ignore, cache)
    assert build(BOARD, tflm, toolchain, ignore, cache) == first
    assert toolchain.compiled == {"part.c": 1, **dict.fromkeys(SOURCES, 1)}


def test_the_library_serves_another_firmware_of_the_same_abi(firmware, tflm, cache):
    toolchain = CountingGcc()
    first = build(BOARD, tflm, toolchain, ignore, cache)
    second = build(replace(BOARD, id="other"), tflm, toolchain, ignore, cache)
    assert first.build_id != second.build_id
    assert toolchain.compiled == {"part.c": 1, **dict.fromkeys(SOURCES, 2)}


@pytest.mark.parametrize(
    "change",
    [
        {"baud_rate": 9600},
        {"watchdog_s": 2.0},
        {"defines": {"HSE_HZ": "8000000", "MORE": "1"}},
        {"ram": MemoryRegion(0x20000000, 0x10000)},
        {"model_flash": MemoryRegion(0x08040000, 0x40000)},
        {"stack_ram": None},
        {"cpu_flags": (*BOARD.cpu_flags, "-fno-inline")},
    ],
)
def test_what_a_board_file_says_changes_the_build_id(firmware, tflm, cache, change):
    first = build(BOARD, tflm, ArmGcc(), ignore, cache)
    assert build(replace(BOARD, **change), tflm, ArmGcc(), ignore, cache).build_id != first.build_id


@pytest.mark.parametrize(
    "name",
    [
        "app/main.cc",
        "app/answer.h",
        "tflm/tflm_2020.cc",
        "ports/stm32f4/linker.ld",
        "ports/stm32f4/port.toml",
        "ports/common/sections.ld",
        "ports/common/inner/inner.S",
    ],
)
def test_every_file_of_the_firmware_changes_the_build_id(firmware, tflm, cache, name):
    first = build(BOARD, tflm, ArmGcc(), ignore, cache)
    path = firmware / name
    path.write_text(path.read_text() + "\n")
    assert build(BOARD, tflm, ArmGcc(), ignore, cache).build_id != first.build_id


def test_other_sources_or_another_compiler_are_compiled_anew(firmware, tflm, cache):
    first = build(BOARD, tflm, ArmGcc(), ignore, cache)
    other_sources, other_compiler = CountingGcc(), OtherVersion()
    second = build(BOARD, Sources(tflm.source.include_dirs[0], content_hash="second"), other_sources, ignore, cache)
    third = build(BOARD, tflm, other_compiler, ignore, cache)
    assert len({image.build_id for image in (first, second, third)}) == 3
    assert other_sources.compiled["part.c"] == other_compiler.compiled["part.c"] == 1


def test_the_same_inputs_give_the_same_bytes_anywhere(firmware, tflm, tmp_path, monkeypatch):
    moved = tmp_path / "elsewhere" / "firmware"
    first = build(BOARD, tflm, ArmGcc(), ignore, Cache(tmp_path / "cache"))
    shutil.copytree(firmware, moved)
    monkeypatch.setattr(harness.build.inputs, "firmware_dir", lambda: moved)
    second = build(BOARD, tflm, ArmGcc(), ignore, Cache(tmp_path / "other cache"))
    assert (second.build_id, second.segment) == (first.build_id, first.segment)


CONV = Registration("CONV_2D", "AddConv2D()")
SOFTMAX = Registration("SOFTMAX", "AddSoftmax()")
LAYER_THAT_COUNTS = """
#define HARNESS_OPERATOR(call) + 1
extern "C" int layer() { return 0
#include "operators.inc"
; }
"""


def with_registrations(tflm, *registrations):
    tflm.source = replace(tflm.source, registrations=registrations)
    return tflm


def test_the_layer_includes_what_registers_the_operators(firmware, tflm, cache):
    (firmware / "tflm/tflm_2020.cc").write_text(LAYER_THAT_COUNTS)
    image = build(BOARD, with_registrations(tflm, CONV, SOFTMAX), ArmGcc(), ignore, cache)
    assert image.operators == ("CONV_2D", "SOFTMAX")
    assert (image.elf.parent / "operators.inc").read_text() == (
        "HARNESS_OPERATOR(AddConv2D())\nHARNESS_OPERATOR(AddSoftmax())\n"
    )


def test_a_firmware_of_some_operators_is_another_one(firmware, tflm, cache):
    (firmware / "tflm/tflm_2020.cc").write_text(LAYER_THAT_COUNTS)
    tflm = with_registrations(tflm, CONV, SOFTMAX)
    toolchain = CountingGcc()
    every = build(BOARD, tflm, toolchain, ignore, cache)
    some = build(BOARD, tflm, toolchain, ignore, cache, operators={"SOFTMAX", "NOT_THERE"})
    assert some.operators == ("SOFTMAX",)
    assert some.build_id != every.build_id
    assert toolchain.compiled["part.c"] == 1  # the library is the same


def test_progress_counts_the_sources(firmware, tflm, cache):
    told = []
    build(BOARD, tflm, ArmGcc(), lambda *step: told.append(step), cache)
    assert told[:2] == [("compile TFLM", 0, 1), ("compile TFLM", 1, 1)]
    assert told[2:] == [("compile the firmware", done, 5) for done in range(6)]


def test_ctrl_c_leaves_no_half_build(firmware, tflm, cache, tmp_path):
    def interrupt(what, done, total):
        if what == "compile the firmware" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(BOARD, tflm, ArmGcc(), interrupt, cache)
    assert [path for path in (tmp_path / "cache/firmware").iterdir() if path.is_dir()] == []
    assert build(BOARD, tflm, ArmGcc(), ignore, cache).elf.is_file()


def test_a_compile_error_is_passed_on(firmware, tflm, cache):
    (firmware / "app/main.cc").write_text("int start() { return nothing; }\n")
    with pytest.raises(BuildError, match="'nothing' was not declared"):
        build(BOARD, tflm, ArmGcc(), ignore, cache)


def test_a_firmware_that_is_too_large_names_its_region(firmware, tflm, cache):
    small = replace(BOARD, firmware_flash=MemoryRegion(0x08000000, 16))
    with pytest.raises(DoesNotLinkError, match="region FIRMWARE_FLASH"):
        build(small, tflm, ArmGcc(), ignore, cache)


@pytest.mark.parametrize("facts", ["", "{}", "[1]", '{"address": "here"}'])
def test_what_was_built_and_got_damaged_is_named_with_how_to_mend_it(firmware, tflm, cache, facts):
    spoilt = build(BOARD, tflm, ArmGcc(), ignore, cache).elf.with_name("facts.json")
    spoilt.write_text(facts)
    with pytest.raises(StorageError) as caught:
        build(BOARD, tflm, ArmGcc(), ignore, cache)
    assert str(spoilt) in caught.value.where
    assert f"remove {spoilt.parent}" in caught.value.hint


def test_memory_script_of_a_board_with_and_without_a_ram_of_its_own_for_the_stack():
    assert "STACK_RAM (rw) : ORIGIN = 0x10000000, LENGTH = 0x10000" in memory_script(BOARD)
    assert 'REGION_ALIAS("STACK_RAM", RAM)' in memory_script(replace(BOARD, stack_ram=None))


def test_guard_bands_are_as_wide_as_the_firmware_says():
    header = (firmware_dir() / "app/measure.h").read_text()
    assert f"kGuardBytes = {GUARD_BYTES};" in header
