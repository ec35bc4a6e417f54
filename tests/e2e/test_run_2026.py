"""`harness run` with a library of TFLM 2026-01 that somebody else has built: here, the one made for tests."""

import hashlib
import shutil

import pytest

from harness.bench.boards import load_board
from harness.domain.run_options import RunOptions
from harness.estimate import read_model
from harness.session import open_session
from harness.store import open_store
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.boards import BOARD
from tests.support.fake_tflm import HEADERS, build_library
from tests.support.models import chain, delay_line

FLAGS = (*load_board(BOARD).cpu_flags, load_board(BOARD).optimization)


def write_manifest(folder, headers, library):
    path = folder / "tflm.toml"
    path.write_text(
        f'include = ["{headers}"]\nlibraries = ["{library}"]\ndefines = ["NDEBUG", "TF_LITE_STATIC_MEMORY"]\n'
    )
    return path


@pytest.fixture(scope="module")
def library(needs_firmware, tmp_path_factory):
    return build_library(ArmGcc(), FLAGS, tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def manifest(library):
    return write_manifest(library.parent, HEADERS, library)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    operators = {"deep": (["NEG"] * 3, 100), "wide": (["NEG"], 400), "other": (["NEG"] * 2, 400), "relu": (["RELU"], 8)}
    for name, (kinds, size) in operators.items():
        (folder / f"{name}.tflite").write_bytes(chain(*kinds, size=size, type="int8").build())
    (folder / "stream.tflite").write_bytes(delay_line(size=200).build())
    return {name: folder / f"{name}.tflite" for name in (*operators, "stream")}


@pytest.fixture
def run(harness, manifest):
    def run_with(*arguments, tflm=manifest):
        return harness("run", *arguments, "--board", BOARD, "--tflm", tflm, "--format", "json")

    return run_with


def test_every_figure_and_section_is_as_estimated(run, models):
    ended = run(models["deep"], models["wide"], models["stream"], "--min-arena")
    assert ended.status == 0, ended.err
    for row in ended.rows:
        estimate, measured = row["estimate"], row["measurement"]
        assert (row["verdict"], row["error_bytes"], measured["resets"]) == ("ok", 0, 0)
        assert measured["min_working_arena_bytes"] == estimate["min_working_arena_bytes"]
        recorded = {section["name"]: section["size_bytes"] for section in estimate["recorded_sections"]}
        assert measured["sections"] == recorded
        assert measured["recording_failure"] is None


@pytest.mark.parametrize("size", [4096, 4092, 4088, 4084])
def test_sections_align_as_in_the_arena_of_the_run(run, models, size):
    (row,) = run(models["wide"], "--arena-size", size).rows
    recorded = {section["name"]: section["size_bytes"] for section in row["estimate"]["recorded_sections"]}
    assert (row["error_bytes"], row["measurement"]["sections"]) == (0, recorded)


@pytest.mark.parametrize("alone", [("deep", "wide"), ("stream", "deep", "stream")])
def test_models_share_an_arena_as_estimated(run, models, alone):
    ended = run(*(models[name] for name in alone), "--shared-arena", "--min-arena", "--invokes", 2)
    assert ended.status == 0, ended.err
    *rows, shared = ended.rows
    assert (shared["model"], shared["verdict"], shared["error_bytes"]) == ("(shared)", "ok", 0)
    measured = shared["measurement"]
    largest_head = max(row["measurement"]["head_bytes"] for row in rows)
    assert measured["head_bytes"] == shared["estimate"]["head_bytes"] == largest_head
    assert measured["arena_used_bytes"] < sum(row["measurement"]["arena_used_bytes"] for row in rows)
    assert measured["min_working_arena_bytes"] == shared["estimate"]["min_working_arena_bytes"]
    outputs = [output["hex"] for row in rows for output in row["measurement"]["outputs"]]
    assert [output["hex"] for output in measured["outputs"]] == outputs
    assert measured["overruns"] == []
    assert any("in arenas of their own" in cause for cause in shared["causes"])


def test_an_operator_that_the_library_lacks_is_refused_before_it_is_flashed(run, models):
    ended = run(models["relu"], models["wide"])
    refused, sound = ended.rows
    assert ended.status == 1
    assert (refused["verdict"], refused["error_class"]) == ("fail", "OperatorMissingError")
    assert "no operator 'RELU'" in refused["causes"][0]
    assert sound["verdict"] == "ok"


def test_firmware_with_the_used_operators_only_gives_the_same_figures(run, models):
    (all_of_them,), (used,) = run(models["deep"]).rows, run(models["deep"], "--ops", "used").rows
    assert all_of_them["measurement"]["build_id"] != used["measurement"]["build_id"]
    for key in ("arena_used_bytes", "sections", "output_sha256"):
        assert all_of_them["measurement"][key] == used["measurement"][key]


def test_a_library_of_other_structures_is_found_at_the_first_frame(run, models, tmp_path):
    headers = tmp_path / "headers"
    shutil.copytree(HEADERS, headers)
    common = headers / "tensorflow/lite/c/common.h"
    before, begin, after = common.read_text().partition("struct TfLiteEvalTensor {\n")
    common.write_text(f"{before}{begin}  int32_t one_more;\n{after}")
    library = build_library(ArmGcc(), [*FLAGS, f"-I{headers}"], tmp_path)
    ended = run(models["wide"], tflm=write_manifest(tmp_path, headers, library))
    (row,) = ended.rows
    assert ended.status == 3
    assert (row["verdict"], row["error_class"]) == ("error", "ConfigMismatchError")
    assert "config_mismatch: TfLiteEvalTensor 16 instead of 12 bytes" in row["causes"][0]


def test_flash_knows_which_models_it_holds(manifest, models):
    read = {name: read_model(path) for name, path in models.items()}
    with open_session(load_board(BOARD), RunOptions(tflm=str(manifest)), lambda *_: None) as session:
        session.flash([read["deep"], read["wide"]])  # whatever earlier runs have left there
        assert session.flash([read["deep"], read["wide"]]) == []
        assert session.flash([read["deep"]]) == []
        assert session.flash([read["deep"], read["other"]]) == ["model deep.tflite, other.tflite"]
        assert session.flash([read["deep"], read["wide"]]) == ["model deep.tflite, wide.tflite"]


def test_a_sweep_keeps_which_library_it_was(harness, manifest, library, models, tmp_path):
    store = tmp_path / "harness.db"
    options = ("--boards", BOARD, "--tflm", manifest, "--store", store, "--format", "json")
    ended = harness("sweep", models["deep"], *options)
    assert ended.status == 0, ended.err
    with open_store(store) as opened:
        (attempt,) = opened.attempts()
        (result,) = opened.job_results(1)
    assert attempt.circumstances.tflm_hash == hashlib.sha256(library.read_bytes()).hexdigest()
    assert (attempt.circumstances.tflm, attempt.circumstances.kernels) == ("2026-01", "reference")
    assert (result.job.tflm, result.job.tflm_name) == (str(manifest), "/".join(manifest.parts[-2:]))
