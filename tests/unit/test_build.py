"""Building, with a firmware of a few lines and the real arm compiler."""

import re
import shutil
from collections import Counter
from dataclasses import replace

import pytest

import harness.build_inputs
from harness.boards import load_board
from harness.build import GUARD_BYTES, build
from harness.build_inputs import memory_script
from harness.cache import Cache
from harness.domain.board import MemoryRegion
from harness.domain.firmware import Registration, TflmSource
from harness.errors import BoardFileError, BuildError, DoesNotLinkError, SourceError, StorageError
from harness.resources import firmware_dir
from harness.toolchains.arm_gcc import ArmGcc

BOARD = load_board("stm32f407-virtual")

SCRIPT = """
INCLUDE memory.ld
ENTRY(start)
SECTIONS
{
  .text : { *(.text*) KEEP(*(.rodata.*id*)) *(.rodata*) } > FIRMWARE_FLASH
  .bss (NOLOAD) : { _static_ram_start = .; *(.bss*) _static_ram_end = .; } > STACK_RAM
  .arena (NOLOAD) : { _arena_ram_start = .; } > RAM
  _image_start = ORIGIN(FIRMWARE_FLASH);
  _image_size = SIZEOF(.text);
  _model_flash_start = ORIGIN(MODEL_FLASH);
  _model_flash_size = LENGTH(MODEL_FLASH);
  _arena_ram_end = ORIGIN(RAM) + LENGTH(RAM);
  /DISCARD/ : { *(.ARM.exidx*) }
}
"""
MAIN = """
#include "app/answer.h"
extern "C" int library_part();
extern "C" int layer();
[[gnu::used]] const char id[] = HARNESS_BUILD_ID " " HARNESS_BOARD_ID " " __FILE__;
int counter;
extern "C" int start() { return counter++ + library_part() + layer() + id[0] + ANSWER + BAUD_RATE + WATCHDOG_MS; }
"""


def ignore(what, done, total):
    pass


class CountingGcc(ArmGcc):
    """The real compiler; counts what it is asked for."""

    def __init__(self):
        super().__init__()
        self.compiled = Counter()

    def compile(self, source, target, flags):
        self.compiled[source.name] += 1
        super().compile(source, target, flags)


class OtherVersion(CountingGcc):
    """Says that it is another compiler."""

    def identify(self):
        return replace(super().identify(), version="another version")


class Sources:
    """A TFLM of one file, as a provider hands it over."""

    def __init__(self, folder, content_hash="first"):
        self.source = TflmSource(
            generation="2020-07",
            version="a test's",
            content_hash=content_hash,
            include_dirs=(folder,),
            sources=(folder / "part.c",),
            defines={"NDEBUG": None, "PART": "5"},
        )

    def fetch(self, progress):
        return self.source


@pytest.fixture
def firmware(tmp_path, monkeypatch):
    """A folder like `firmware/`, which `build` takes for the real one."""
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("needs the compiler arm-none-eabi-g++")
    folder = tmp_path / "firmware"
    files = {
        "app/main.cc": MAIN,
        "app/answer.h": "#define ANSWER 42\n",
        "tflm/tflm_2020.cc": 'extern "C" int layer() { return PART; }\n',
        "ports/stm32f4/linker.ld": SCRIPT,
        "ports/stm32f4/port.cc": "static_assert(HSE_HZ == 8000000);\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(harness.build_inputs, "firmware_dir", lambda: folder)
    return folder


@pytest.fixture
def tflm(tmp_path):
    folder = tmp_path / "tflm"
    folder.mkdir()
    (folder / "part.c").write_text("int library_part(void) { return PART; }\n")
    return Sources(folder)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


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
    assert toolchain.compiled == {"part.c": 1, "main.cc": 1, "tflm_2020.cc": 1, "port.cc": 1}


def test_the_library_serves_another_firmware_of_the_same_abi(firmware, tflm, cache):
    toolchain = CountingGcc()
    first = build(BOARD, tflm, toolchain, ignore, cache)
    second = build(replace(BOARD, id="other"), tflm, toolchain, ignore, cache)
    assert first.build_id != second.build_id
    assert toolchain.compiled == {"part.c": 1, "main.cc": 2, "tflm_2020.cc": 2, "port.cc": 2}


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


@pytest.mark.parametrize("name", ["app/main.cc", "app/answer.h", "tflm/tflm_2020.cc", "ports/stm32f4/linker.ld"])
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
    monkeypatch.setattr(harness.build_inputs, "firmware_dir", lambda: moved)
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


class Prebuilt(Sources):
    """Libraries that somebody else has built, as a provider hands them over."""

    def __init__(self, folder, *libraries, trouble=None, **changes):
        super().__init__(folder)
        self.source = replace(self.source, sources=(), libraries=libraries, **changes)
        self.trouble = trouble
        self.probes = []

    def verify(self, source, probe):
        assert source is self.source
        self.probes.append(probe.read_bytes())
        if self.trouble:
            raise self.trouble


@pytest.fixture
def libraries(firmware, tmp_path):
    return make_libraries(tmp_path, BOARD.cpu_flags)


def make_libraries(tmp_path, flags):
    """Two that need each other."""
    paths = []
    for name, text in (
        ("outer", "int inner(void); int library_part(void) { return inner(); } int five(void) { return 5; }"),
        ("inner", "int five(void); int inner(void) { return five(); }"),
    ):
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        ArmGcc().compile(source, tmp_path / f"{name}.o", list(flags))
        ArmGcc().archive([tmp_path / f"{name}.o"], tmp_path / f"lib{name}.a")
        paths.append(tmp_path / f"lib{name}.a")
    return paths


def test_libraries_that_need_each_other_are_linked_and_not_compiled(tmp_path, libraries, cache):
    toolchain = CountingGcc()
    image = build(BOARD, Prebuilt(tmp_path, *reversed(libraries)), toolchain, ignore, cache)
    assert image.elf.is_file()
    assert toolchain.compiled == {"main.cc": 1, "tflm_2020.cc": 1, "port.cc": 1, "probe.cc": 1}


def test_libraries_are_verified_against_an_object_of_the_same_flags_once(tmp_path, libraries, cache):
    tflm = Prebuilt(tmp_path, *libraries)
    for _ in range(2):
        build(BOARD, tflm, ArmGcc(), ignore, cache)
    assert [probe[:4] for probe in tflm.probes] == [b"\x7fELF"]


def test_a_library_that_does_not_pass_is_not_linked(tmp_path, libraries, cache):
    toolchain = CountingGcc()
    tflm = Prebuilt(tmp_path, *libraries, trouble=SourceError("another float ABI"))
    with pytest.raises(SourceError, match="another float ABI"):
        build(BOARD, tflm, toolchain, ignore, cache)
    assert toolchain.compiled == {"probe.cc": 1}


class Rebuilt(Prebuilt):
    """A library whose own build ends just when the firmware is linked."""

    def verify(self, source, probe):
        super().verify(source, probe)
        self.source = replace(source, content_hash="second")


def test_a_library_that_changes_while_it_is_linked_is_not_taken_for_the_one_before(tmp_path, libraries, cache):
    with pytest.raises(SourceError, match="changed while the firmware was built"):
        build(BOARD, Rebuilt(tmp_path, *libraries), ArmGcc(), ignore, cache)
    tflm = Prebuilt(tmp_path, *libraries)
    build(BOARD, tflm, ArmGcc(), ignore, cache)
    assert len(tflm.probes) == 1  # nothing lay in the cache


@pytest.mark.parametrize("flag", ["-fsyntax-only", "--version"])
def test_flags_with_which_the_compiler_makes_no_object_are_named(tmp_path, libraries, cache, flag):
    tflm = Prebuilt(tmp_path, *libraries, abi_flags=(*BOARD.cpu_flags, flag))
    with pytest.raises(BuildError, match="made no object file") as caught:
        build(BOARD, tflm, ArmGcc(), ignore, cache)
    assert flag in caught.value.measured


def test_flags_of_the_libraries_go_before_the_boards(tmp_path, firmware, cache):
    soft = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft")
    libraries = make_libraries(tmp_path, soft)
    image = build(BOARD, Prebuilt(tmp_path, *libraries, abi_flags=soft), ArmGcc(), ignore, cache)
    assert "-mfloat-abi=soft" in image.flags
    assert "-mfloat-abi=hard" not in image.flags


def test_other_headers_are_another_firmware(tmp_path, libraries, cache):
    ids = {
        build(BOARD, Prebuilt(tmp_path, *libraries, header_hash=text), ArmGcc(), ignore, cache).build_id
        for text in ("one", "two")
    }
    assert len(ids) == 2


def test_progress_counts_the_sources(firmware, tflm, cache):
    told = []
    build(BOARD, tflm, ArmGcc(), lambda *step: told.append(step), cache)
    assert told[:2] == [("compile TFLM", 0, 1), ("compile TFLM", 1, 1)]
    assert told[2:] == [("compile the firmware", done, 3) for done in range(4)]


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


@pytest.mark.parametrize("family", ["z80", "", ".", "..", "../ports/toy", "a\nb"])
def test_an_unknown_family_lists_the_ports(firmware, tflm, cache, family):
    with pytest.raises(BoardFileError, match="no firmware port") as caught:
        build(replace(BOARD, family=family), tflm, ArmGcc(), ignore, cache)
    assert caught.value.expected == "one of stm32f4"


def test_memory_script_of_a_board_with_and_without_a_ram_of_its_own_for_the_stack():
    assert "STACK_RAM (rw) : ORIGIN = 0x10000000, LENGTH = 0x10000" in memory_script(BOARD)
    assert 'REGION_ALIAS("STACK_RAM", RAM)' in memory_script(replace(BOARD, stack_ram=None))


def test_guard_bands_are_as_wide_as_the_firmware_says():
    header = (firmware_dir() / "app/measure.h").read_text()
    assert f"kGuardBytes = {GUARD_BYTES};" in header
