"""How the firmware is built around a library of TFLM 2026-01: here, the one made for tests."""

from contextlib import closing

import pytest

from harness import plugins
from harness.bench.boards import load_board
from harness.build.firmware import build
from harness.errors import ToolchainError
from harness.tflm.operators import resolver_operators
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.chip import BOARD, Chip
from tests.support.fake_tflm import HEADERS, REGISTRATIONS, FakeTflm, build_library
from tests.support.models import chain, delay_line
from tests.support.tflm_parts import manifest as write_manifest

NEG = chain("NEG", type="int8").build()
TWICE = chain("NEG", "NEG", type="int8").build()
DEFINES = 'defines = ["NDEBUG", "TF_LITE_STATIC_MEMORY"]'
# What the firmware does when an input begins so, and it is built for it: app/misbehave.cc.
OVERRUNS_GUARD = 0xE1


@pytest.fixture(scope="module")
def library(needs_firmware, tmp_path_factory):
    flags = [*BOARD.cpu_flags, BOARD.optimization]
    return build_library(ArmGcc(), flags, tmp_path_factory.mktemp("fake_tflm"))


def built(tflm):
    return build(BOARD, tflm, ArmGcc(), lambda *_: None)


def test_the_operators_are_those_of_the_headers():
    header = HEADERS / "tensorflow/lite/micro/micro_mutable_op_resolver.h"
    known = resolver_operators(header.read_text()).known
    assert tuple(found.registration for found in known) == REGISTRATIONS


@pytest.mark.parametrize("held", [(), REGISTRATIONS[:1]])
def test_an_operator_that_was_left_out_is_named(library, held):
    with closing(Chip(built(FakeTflm(library, held)), [NEG])) as chip:
        assert chip.start().allocate()["status"] == "error"
        assert chip.log == ["Didn't find op for builtin opcode 'NEG'"]


@pytest.mark.parametrize("optimization", ["-O0", "-Os"])
def test_no_heap_no_stdio_and_no_exceptions_however_the_library_was_compiled(library, tmp_path, optimization):
    other = build_library(ArmGcc(), [*BOARD.cpu_flags, optimization], tmp_path)
    unwanted = {"malloc", "_malloc_r", "free", "_sbrk", "_Znwj", "_Znaj", "__cxa_throw", "printf", "vsnprintf"}
    assert unwanted.isdisjoint(ArmGcc().symbols(built(FakeTflm(other)).elf))


def test_watching_tells_which_operator_wrote_where_nothing_may_be_written(library):
    image = built(FakeTflm(library, defines={"HARNESS_TEST_FAULTS": None}))
    with closing(Chip(image, [TWICE])) as chip:
        chip.start().allocate()
        invoked = chip.run([OVERRUNS_GUARD], watch=1)
        assert (invoked["operator"], invoked["operator_name"], invoked["operator_function"]) == (1, "NEG", 0)
        assert chip.ask("scan", "scanned")["guard_high_written_bytes"] == 1


@pytest.mark.parametrize("board", ["stm32f407-black", "esp32-virtual"])
def test_it_is_built_for_other_boards_too(board, tmp_path):
    other = load_board(board)
    toolchain = plugins.toolchain(other.toolchain)
    try:
        toolchain.identify()
    except ToolchainError as error:
        pytest.skip(f"{error.what}: {error.hint}")
    library = build_library(toolchain, [*other.cpu_flags, other.optimization], tmp_path)
    assert build(other, FakeTflm(library), toolchain, lambda *_: None).tflm == "2026-01"


def test_enumerations_of_another_size_are_told_before_anything_is_measured(harness, tmp_path):
    short = [*BOARD.cpu_flags, "-fshort-enums"]
    library = build_library(ArmGcc(), [*short, BOARD.optimization], tmp_path)
    manifest = write_manifest(tmp_path, [HEADERS], [library], DEFINES, f"abi_flags = {short}")
    (tmp_path / "neg.tflite").write_bytes(NEG)
    ended = harness("run", tmp_path / "neg.tflite", "--board", BOARD.id, "--tflm", manifest)
    assert ended.status == 3
    assert "config_mismatch: TfLiteType 1 instead of 4 bytes" in ended.out
    assert "-fno-short-enums" in ended.out


def test_a_streaming_model_runs_as_any_other(harness, library, tmp_path):
    model, data = tmp_path / "delay_line.tflite", tmp_path / "input.bin"
    manifest = write_manifest(tmp_path, [HEADERS], [library], DEFINES)
    model.write_bytes(delay_line().build())
    data.write_bytes(bytes(range(16)))
    ended = harness(
        "run", model, "--board", BOARD.id, "--tflm", manifest, "--input", data, "--min-arena", "--format", "json"
    )
    assert ended.status == 0, ended.err
    (row,) = ended.rows
    assert (row["verdict"], row["error_bytes"]) == ("ok", 0)
    # It runs more than once, so that what went in has come out.
    assert row["measurement"]["outputs"][0]["hex"] == bytes(range(16)).hex()
