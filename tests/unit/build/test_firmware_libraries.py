"""Building with libraries that somebody else has built."""

from dataclasses import replace

import pytest

from harness.bench.boards import load_board
from harness.build.firmware import build
from harness.errors import BuildError, SourceError
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.small_firmware import SOURCES, CountingGcc, Sources, ignore

BOARD = load_board("stm32f407-virtual")


class Prebuilt(Sources):
    """Libraries that somebody else has built, as a provider hands them over."""

    def __init__(self, folder, *libraries, trouble=None, **changes):
        super().__init__(folder)
        self.source = replace(self.source, sources=(), libraries=libraries, **changes)
        self.trouble = trouble
        self.probes = []

    def verify(self, source, probe, board):
        assert board is BOARD
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
    assert toolchain.compiled == {"probe.cc": 1, **dict.fromkeys(SOURCES, 1)}


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

    def verify(self, source, probe, board):
        super().verify(source, probe, board)
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
    assert flag in str(caught.value.measured)


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
