"""A library that was built elsewhere: here, the crate's sources compiled beforehand."""

import dataclasses
import shutil
import subprocess

import pytest

from harness import plugins
from harness.bench.boards import load_board
from harness.build.firmware import build
from harness.build.inputs import CXX_FLAGS, collect_inputs
from harness.errors import SourceError
from harness.files.cache import Cache
from harness.tflm.archive import read_library
from harness.tflm.crate import CrateProvider
from tests.support.boards import BOARD

# What differs from one run to the next; instructions are counted while the serial line interrupts.
PASSING = ("build_id", "probe_id", "unit", "alloc_ticks", "invoke_ticks")


def ignore(what, done, total):
    pass


@pytest.fixture(scope="module")
def inputs(needs_firmware):
    """All that the crate's firmware is built from."""
    board = load_board(BOARD)
    try:
        return collect_inputs(board, CrateProvider().fetch(ignore), plugins.toolchain(board.toolchain), None)
    except SourceError as error:
        pytest.skip(f"the TFLM crate cannot be had: {error.what}")


@pytest.fixture(scope="module")
def crate_library(inputs, tmp_path_factory):
    """TFLM as the `crate` provider compiles it, as a file that somebody might hand over."""
    build(inputs.board, CrateProvider(), inputs.toolchain, ignore)
    made = Cache().entry("tflm", inputs.library_key(), lambda folder: pytest.fail("the build left no library"))
    return shutil.copy(made / "libtflm.a", tmp_path_factory.mktemp("library") / "libtensorflow-microlite.a")


@pytest.fixture
def write_manifest(inputs, tmp_path):
    def write(library, *more, include=inputs.source.include_dirs, defines=("NDEBUG", "TF_LITE_STATIC_MEMORY")):
        path = tmp_path / "tflm.toml"
        lists = {"include": map(str, include), "libraries": [str(library)], "defines": defines}
        path.write_text("\n".join([*(f"{key} = {list(values)}" for key, values in lists.items()), *more]) + "\n")
        return path

    return write


@pytest.fixture
def small_library(inputs, tmp_path):
    """A library of one operator and the sources that tell which configuration it has, compiled with other flags."""

    def make(**changes):
        changed = dataclasses.replace(inputs, **changes)
        flags = [*changed.tflm_flags(), *changed.path_flags()]
        names = ("common.c", "micro_interpreter.cc", "neg.cc")
        sources = [path for path in inputs.source.sources if path.name in names]
        objects = [tmp_path / f"{source.stem}.o" for source in sources]
        for source, target in zip(sources, objects, strict=True):
            inputs.toolchain.compile(source, target, [*flags, *(CXX_FLAGS if source.suffix == ".cc" else ())])
        inputs.toolchain.archive(objects, tmp_path / "libsmall.a")
        return tmp_path / "libsmall.a"

    return make


def figures(row):
    measured = {key: value for key, value in row["measurement"].items() if key not in PASSING}
    return {**row, "measurement": measured}


@pytest.mark.slow
def test_every_figure_equals_that_of_the_crate(harness, shared_models, crate_library, write_manifest):
    from_crate = harness("run", *shared_models, "--board", BOARD, "--format", "json")
    paths = {path.name: path for path in shared_models}
    measured = {row["model"]: row for row in from_crate.rows if row["measurement"]}
    assert len(measured) >= 7
    manifest = write_manifest(crate_library)
    again = harness("run", *map(paths.get, measured), "--board", BOARD, "--tflm", manifest, "--format", "json")
    assert again.status == 0, again.err
    for row in again.rows:
        assert figures(row) == figures(measured[row["model"]])
    assert len(again.rows) == len(measured)


def refused(harness, example, manifest):
    ended = harness("run", example("hello_world.tflite"), "--board", BOARD, "--tflm", manifest)
    assert (ended.status, ended.out) == (3, "")
    assert len(ended.err.splitlines()) <= 3
    return ended.err


def test_a_library_of_another_float_abi(harness, example, inputs, small_library, write_manifest):
    soft = [flag for flag in inputs.board.cpu_flags if "fpu" not in flag and "float" not in flag]
    library = small_library(board=dataclasses.replace(inputs.board, cpu_flags=(*soft, "-mfloat-abi=soft")))
    error = refused(harness, example, write_manifest(library))
    assert "libsmall.a(common.o) and 2 more: the library is compiled for another float ABI" in error
    assert "found floats in integer registers (soft or softfp), expected floats in VFP registers (hard)" in error


def test_a_library_for_an_fpu_with_doubles(harness, example, inputs, small_library, write_manifest):
    flags = ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16")
    library = small_library(board=dataclasses.replace(inputs.board, cpu_flags=flags))
    error = refused(harness, example, write_manifest(library))
    assert "the library is compiled for an FPU whose code this core does not run" in error


def test_a_library_compiled_with_exceptions_is_told_before_the_run(harness, inputs, crate_library, write_manifest):
    (source,) = [path for path in inputs.source.sources if path.name == "micro_allocator.cc"]
    target = crate_library.with_name("micro_allocator.o")
    flags = [flag for flag in CXX_FLAGS if flag != "-fno-exceptions"]
    inputs.toolchain.compile(source, target, [*inputs.tflm_flags(), *inputs.path_flags(), *flags])
    library = crate_library.with_name("libexceptions.a")
    (member,) = [each.name for each in read_library(crate_library).members if "micro_allocator" in each.name]
    shutil.copy(crate_library, library)
    subprocess.run(["arm-none-eabi-ar", "rs", library, target.rename(target.with_name(member))], check=True)
    ended = harness("tflm", "check", write_manifest(library), "--board", BOARD, "--format", "json")
    assert ended.status == 3
    (failed,) = [row for row in ended.rows if row["result"] == "failed"]
    assert failed["check"] == "link"
    assert failed["where"] == f"{library}({member})"
    assert "-fno-exceptions" in failed["hint"]


def test_a_library_without_static_memory(harness, example, inputs, small_library, write_manifest):
    library = small_library(source=dataclasses.replace(inputs.source, defines={"NDEBUG": None}))
    error = refused(harness, example, write_manifest(library))
    assert "libsmall.a: config_mismatch: the library is built without TF_LITE_STATIC_MEMORY" in error


def test_a_missing_header(harness, example, inputs, crate_library, write_manifest):
    without = [folder for folder in inputs.source.include_dirs if "flatbuffers" not in str(folder)]
    error = refused(harness, example, write_manifest(crate_library, include=without))
    assert "the header flatbuffers/flatbuffers.h is missing" in error
    assert "tensorflow/lite/micro/tools/make/downloads/flatbuffers/include" in error


def test_an_empty_archive(harness, example, inputs, tmp_path, write_manifest):
    inputs.toolchain.archive([], tmp_path / "libnothing.a")
    assert "libnothing.a: the library is empty" in refused(harness, example, write_manifest(tmp_path / "libnothing.a"))


def test_operators_of_the_model_alone_give_the_same_figures(harness, example, crate_library, write_manifest):
    manifest = write_manifest(crate_library)
    rows = [
        harness(
            "run", example("hello_world.tflite"), "--board", BOARD, "--tflm", manifest, "--ops", ops, "--format", "json"
        ).rows[0]["measurement"]
        for ops in ("all", "used")
    ]
    assert rows[0]["build_id"] != rows[1]["build_id"]
    assert rows[0]["arena_used_bytes"] == rows[1]["arena_used_bytes"] == 1472


def test_the_check_says_all_at_once(harness, inputs, crate_library, write_manifest):
    manifest = write_manifest(crate_library, 'kernels = "cmsis-nn"', defines=["NDEBUG"])
    ended = harness("tflm", "check", manifest, "--board", BOARD, "--format", "json")
    assert ended.status == 3
    failed = {row["check"]: row for row in ended.rows if row["result"] == "failed"}
    assert set(failed) == {"configuration", "kernels"}
    assert (failed["kernels"]["found"], failed["kernels"]["expected"]) == ("reference", "cmsis-nn")
    assert "TF_LITE_STATIC_MEMORY" in failed["configuration"]["hint"]
    ended = harness("tflm", "check", write_manifest(crate_library), "--board", BOARD)
    assert ended.status == 0
    assert "TFLM 2020-07, schema 3" in ended.out
    assert "53 can be registered" in ended.out
