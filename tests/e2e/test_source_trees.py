"""`--tflm FOLDER`: source trees in every layout, built and run on both virtual boards."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.bench.boards import load_board
from harness.build.inputs import collect_inputs
from harness.build.library import library
from harness.files.cache import Cache
from harness.ports import TflmProvider
from harness.tflm.crate import CrateProvider
from harness.tflm.tree import TreeProvider
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.boards import BOARD
from tests.support.fake_tflm.variants import NEWEST, VARIANTS, generation_of, write_variant
from tests.support.models import chain
from tests.support.source_trees import LAYOUTS, MICRO, source_tree, third_party

ESP32 = "esp32-virtual"
FIGURES = ("arena_used_bytes", "head_bytes", "tail_bytes", "min_working_arena_bytes")


def silent(*_):
    pass


def measured(row):
    return [row["measurement"][figure] for figure in FIGURES]


def estimated(row):
    return [row["estimate"][figure] for figure in FIGURES]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "deep.tflite"
    path.write_bytes(chain("NEG", "NEG", "NEG", size=100, type="int8").build())
    return path


@pytest.fixture(scope="module")
def crate_folder(needs_firmware, example):
    """The folder that the crate's own sources lie in."""
    return example("hello_world.tflite").parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "board"), [*((layout, BOARD) for layout in LAYOUTS), ("esp-idf", ESP32), ("arduino", ESP32)]
)
def test_each_layout_is_built_and_measured(harness, tmp_path, model, layout, board):
    if board == ESP32 and not (shutil.which("xtensa-lx106-elf-g++") and shutil.which("qemu-system-xtensa")):
        pytest.skip("no xtensa-lx106-elf-g++ or qemu-system-xtensa: make setup")
    tree = source_tree(tmp_path / "a tree", layout)
    ended = harness("run", model, "--board", board, "--tflm", tree, "--min-arena", "--format", "json")
    assert ended.status == 0, ended.err
    [row] = ended.rows
    assert measured(row) == estimated(row)


@pytest.mark.slow
@pytest.mark.parametrize("board", [BOARD, ESP32])
@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != NEWEST])
def test_each_generation_is_recognised_built_and_measured(harness, tmp_path, model, variant, board):
    if board == ESP32 and not (shutil.which("xtensa-lx106-elf-g++") and shutil.which("qemu-system-xtensa")):
        pytest.skip("no xtensa-lx106-elf-g++ or qemu-system-xtensa: make setup")
    tree = write_variant(variant, tmp_path / "tflm")
    third_party(tree / "third_party")
    ended = harness("run", model, "--board", board, "--tflm", tree, "--format", "json")
    assert ended.status == 0, ended.err
    [row] = ended.rows
    assert row["tflm"] == generation_of(variant)
    assert measured(row)[:-1] == estimated(row)[:-1]  # but the smallest arena, which takes long to search


def objects_of(archive: Path, folder: Path) -> dict[str, bytes]:
    """The members of a library, without what the debugger is told of this machine's folders."""
    folder.mkdir()
    subprocess.run(["arm-none-eabi-ar", "x", archive], cwd=folder, check=True)
    for path in folder.iterdir():
        subprocess.run(["arm-none-eabi-objcopy", "--strip-debug", path], check=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_the_crates_own_folder_gives_object_for_object_what_the_crate_gives(crate_folder, tmp_path):
    libraries = {}
    providers: dict[str, TflmProvider] = {"crate": CrateProvider(), "tree": TreeProvider(crate_folder)}
    for name, provider in providers.items():
        inputs = collect_inputs(load_board(BOARD), provider.fetch(silent), ArmGcc(), None)
        libraries[name] = objects_of(library(inputs, provider, Cache(), silent), tmp_path / f"objects of {name}")
    assert libraries["tree"] == libraries["crate"]


@pytest.mark.slow
def test_the_crates_own_folder_gives_the_crates_figures_on_all_public_models(harness, crate_folder, shared_models):
    answers = {}
    for tflm in ("crate", crate_folder):
        ended = harness("run", *shared_models, "--board", BOARD, "--tflm", tflm, "--format", "json")
        answers[tflm] = [
            (row["model"], row["verdict"], row["estimate"], row["measurement"] and measured(row), row["causes"])
            for row in ended.rows
        ]
    assert answers["crate"] == answers[crate_folder]


def test_a_compile_error_in_the_tree_tells_file_line_and_how_to_see_it_again(harness, tmp_path, model):
    tree = source_tree(tmp_path / "a tree", "upstream")
    kernels = tree / MICRO / "kernels/micro_ops.cc"
    kernels.write_text("not C++;\n" + kernels.read_text())
    ended = harness("run", model, "--board", BOARD, "--tflm", tree)
    assert ended.status == 3
    assert f"{kernels}:1" in ended.err
    command = next(line for line in ended.err.splitlines() if line.startswith("hint: ")).partition("see all of it: ")[2]
    again = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert again.returncode != 0
    assert "error:" in again.stderr


MISSING = {
    "third_party/flatbuffers": "flatbuffers is missing",
    "third_party/gemmlowp": "gemmlowp is missing",
    "third_party/ruy": "ruy is missing",
    f"{MICRO}/micro_allocator.cc": "not complete",
    f"{MICRO}/micro_op_resolver.h": "micro_op_resolver.h is missing",
    "tensorflow": "no TFLM sources",
}


@pytest.mark.parametrize(("part", "words"), MISSING.items())
def test_each_missing_piece_is_its_own_error(harness, tmp_path, model, part, words):
    tree = source_tree(tmp_path, "generated")
    path = tree / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    ended = harness("run", model, "--board", BOARD, "--tflm", tree)
    assert ended.status == 3
    assert words in ended.err
    assert "hint: " in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.slow
def test_a_sweep_over_two_trees_shows_what_moving_from_one_to_the_other_costs(harness, tmp_path, model):
    trees = []
    for generation in ("2024-09", "2026-01"):
        trees.append(write_variant(generation, tmp_path / generation / "tflm"))
        third_party(trees[-1] / "third_party")
    asked = [word for tree in trees for word in ("--tflm", tree)]
    ended = harness("sweep", model, "--boards", BOARD, *asked, "--store", tmp_path / "db", "--format", "json")
    assert ended.status == 0, ended.err
    before, after = ended.rows
    assert [row["tflm"] for row in ended.rows] == ["2024-09", "2026-01"]
    assert [row["tflm_asked"] for row in ended.rows] == [str(tree) for tree in trees]
    assert before["used_change_bytes"] == 0
    assert after["used_change_bytes"] == after["estimate"]["arena_used_bytes"] - before["estimate"]["arena_used_bytes"]
    table = harness("sweep", "--resume", "--store", tmp_path / "db").out
    assert "2024-09/tflm: used" in table
    assert "2026-01/tflm: change" in table


@pytest.mark.slow
def test_a_tree_of_the_users_own(harness, shared_models):
    """HARNESS_TFLM_TREE names it; HARNESS_TFLM_TREE_OPTIONS holds further options, such as --include FOLDER."""
    tree = os.environ.get("HARNESS_TFLM_TREE")
    if not tree:
        pytest.skip("HARNESS_TFLM_TREE names no source tree")
    options = os.environ.get("HARNESS_TFLM_TREE_OPTIONS", "").split()
    for board in os.environ.get("HARNESS_TFLM_TREE_BOARDS", BOARD).split():
        ended = harness(
            "run", *shared_models, "--board", board, "--tflm", tree, *options, "--min-arena", "--format", "json"
        )
        assert ended.out, ended.err
        run = [row for row in ended.rows if row["measurement"]]
        assert run, ended.err
        assert {row["model"]: measured(row) for row in run} == {row["model"]: estimated(row) for row in run}
