"""A current TFLM library, which no registry has: HARNESS_TFLM names its manifest."""

import csv
import os
import tomllib
from pathlib import Path

import pytest

from harness.tflm.manifest import read_manifest
from harness.tflm.survey import survey
from tests.support.boards import BOARD
from tests.support.places import SHARED_MODELS

TRUTH = SHARED_MODELS.parent / "truth"
TRUTH_OF = {"reference": "tflm_2026_08_cortex_m4.csv", "cmsis-nn": "tflm_2026_08_cortex_m4_cmsis_nn.csv"}
# The arena that the figures were measured in; where it ends decides on bytes of alignment.
ARENA_SIZE = 112 * 1024
STREAMING = "okay_nabu_streaming_int8.tflite"
TIMEOUT_S = 1500

pytestmark = [pytest.mark.slow, pytest.mark.timeout(TIMEOUT_S)]


@pytest.fixture(scope="module")
def tflm():
    """The manifest."""
    named = os.environ.get("HARNESS_TFLM")
    if not named:
        pytest.skip("HARNESS_TFLM names no manifest of a current TFLM library")
    found = survey(read_manifest(Path(named).resolve()))
    if found.headers and found.headers.generation != "2026-01":
        pytest.skip(f"HARNESS_TFLM is a library of {found.headers.generation}: these tests need one of 2026-01")
    return found.manifest.path


@pytest.fixture(scope="module")
def truth(tflm):
    """What an independent measurement found, by model."""
    kernels = tomllib.loads(tflm.read_text()).get("kernels", "reference")
    path = TRUTH / TRUTH_OF.get(kernels, "")
    if not path.is_file():
        pytest.skip(f"no figures in ../shared/truth for the kernels {kernels}")
    with path.open(newline="") as file:
        return {line["model"]: line for line in csv.DictReader(file)}


@pytest.fixture(scope="module")
def run(harness, tflm):
    def run(names, *options):
        paths = [SHARED_MODELS / name for name in names]
        return harness(
            "run", *paths, "--board", BOARD, "--tflm", tflm, "--arena-size", ARENA_SIZE, "--format", "json", *options,
            timeout_s=TIMEOUT_S,
        )  # fmt: skip

    return run


def test_the_library_passes_every_check(harness, tflm):
    ended = harness("tflm", "check", tflm, "--board", BOARD)
    assert ended.status == 0, ended.out
    assert "TFLM 2026-01" in ended.out


def test_every_figure_is_that_of_the_independent_measurement(run, truth):
    ended = run(truth, "--min-arena")
    assert [row["model"] for row in ended.rows] == list(truth)
    differences = [line for row in ended.rows for line in differences_of(row, truth[row["model"]])]
    assert differences == []
    assert ended.status == 0, ended.err


def differences_of(row, line):
    """What is not as it should be with a row, in words."""
    measured, estimate = row["measurement"], row["estimate"]
    if measured is None:
        return [f"{row['model']}: {row['verdict']} {row['causes']}"]
    used, least = int(line["arena_used_bytes"]), int(line["min_working_arena_bytes"])
    figures = [
        ("used", measured["arena_used_bytes"], used),
        ("minimum", measured["min_working_arena_bytes"], least),
        ("estimate", estimate["arena_used_bytes"], used),
    ]
    recorded = [key for key in line if key.startswith("recorded_")]
    figures += [(key, measured["sections"].get(key.removeprefix("recorded_")), int(line[key])) for key in recorded]
    return [f"{row['model']}: {what} {found}, not {right}" for what, found, right in figures if found != right]


def test_a_streaming_model_keeps_its_state_over_several_invokes(run, truth):
    rows = [run([STREAMING], "--invokes", times).rows[0] for times in (1, 8)]
    assert [row["verdict"] for row in rows] == ["ok", "ok"]
    assert {row["measurement"]["arena_used_bytes"] for row in rows} == {int(truth[STREAMING]["arena_used_bytes"])}
    assert all(not row["measurement"]["overruns"] for row in rows)


def test_two_models_share_an_arena_as_estimated(run):
    ended = run(["micro_speech_int8.tflite", "hello_world_int8.tflite"], "--shared-arena", "--min-arena")
    assert ended.status == 0, ended.err
    *alone, shared = ended.rows
    assert [row["verdict"] for row in ended.rows] == ["ok"] * 3
    measured = shared["measurement"]
    assert shared["error_bytes"] == 0
    assert measured["head_bytes"] == max(row["measurement"]["head_bytes"] for row in alone)
    assert measured["arena_used_bytes"] < sum(row["measurement"]["arena_used_bytes"] for row in alone)
    assert 0 <= shared["estimate"]["min_working_arena_bytes"] - measured["min_working_arena_bytes"] <= 16


def test_the_operators_of_one_model_are_enough_for_it(run, truth):
    (row,) = run([STREAMING], "--ops", "used").rows
    assert row["verdict"] == "ok"
    assert row["measurement"]["arena_used_bytes"] == int(truth[STREAMING]["arena_used_bytes"])
