"""`harness estimate`: profile, method, shapes, corrections, other tools, shared arenas."""

import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from harness import plugins
from harness.cli.estimate import command
from harness.domain.correction import Correction, FitErrors, FittedModel, Offset
from harness.domain.estimate import Profile
from harness.domain.firmware import STATIC_MEMORY, TflmSource
from harness.errors import UsageError
from harness.estimate.corrections import to_toml
from tests.support.models import ModelBuilder, chain


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "three.tflite"
    path.write_bytes(chain("TANH", "RELU", "TANH").build())
    return path


@pytest.fixture
def open_model(tmp_path):
    builder = ModelBuilder()
    x, y = builder.input("a=b", [-1, 4]), builder.tensor("y", [-1, 4])
    builder.operator("TANH", [x], [y])
    builder.output(y)
    path = tmp_path / "open.tflite"
    path.write_bytes(builder.build())
    return path


@pytest.fixture
def corrections(tmp_path):
    """A folder with a correction of the default profile: 100 bytes more in the tail."""
    profile, errors = Profile("2026-08", "arm32"), FitErrors(0.0, 0, 0, 0.0)
    correction = Correction(
        profile=profile,
        method="layout",
        offsets=(Offset("tail", "tail", 100),),
        minimum_bytes=100,
        models=(FittedModel("m", "00" * 32, -100),),
        measurements=5,
        before=errors,
        after=errors,
        files=("run.json",),
        date="2026-11-29",
        harness_version="0",
    )
    folder = tmp_path / "corrections"
    folder.mkdir()
    (folder / f"{profile.id}.toml").write_text(to_toml(correction))
    return folder


def run(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


def estimates(*arguments):
    result = run(*arguments, "--format", "json")
    assert result.exception is None
    assert result.return_value == 0
    return json.loads(result.stdout)


def test_abi_and_kernels_are_chosen(model):
    (plain,) = estimates(model)
    (wide,) = estimates(model, "--abi", "x86-64")
    (cmsis,) = estimates(model, "--kernels", "cmsis-nn")
    assert [found["abi"] for found in (plain, wide, cmsis)] == ["arm32", "x86-64", "arm32"]
    assert cmsis["kernels"] == "cmsis-nn"
    assert wide["arena_used_bytes"] > plain["arena_used_bytes"]


@pytest.fixture
def manifest(monkeypatch):
    """A manifest whose library is of 2026 and has CMSIS-NN's kernels."""
    source = TflmSource("2026-08", "mine", "00", (), (), {STATIC_MEMORY: None}, kernels="cmsis-nn")
    provider = SimpleNamespace(fetch=lambda progress: source)
    monkeypatch.setattr(plugins, "tflm_provider", lambda word, options: {"mine/tflm.toml": provider}[word])
    return "mine/tflm.toml"


def test_a_manifest_tells_generation_and_kernels(model, manifest):
    (mine,) = estimates(model, "--tflm", manifest)
    assert (mine["tflm"], mine["kernels"]) == ("2026-01", "cmsis-nn")
    assert (
        mine
        == estimates(model, "--kernels", "cmsis-nn")[0]
        == estimates(model, "--tflm", manifest, "--kernels", "cmsis-nn")[0]
    )


def test_short_enumerations_are_warned_of(model, monkeypatch):
    flags = ("-mcpu=cortex-m4", "-fshort-enums")
    source = TflmSource("2026-08", "mine", "00", (), (), {STATIC_MEMORY: None}, abi_flags=flags)
    provider = SimpleNamespace(fetch=lambda progress: source)
    monkeypatch.setattr(plugins, "tflm_provider", lambda word, options: {"mine/tflm.toml": provider}[word])
    result = run(model, "--tflm", "mine/tflm.toml", "--format", "json")
    assert "warning: mine/tflm.toml: with -fshort-enums structures are smaller" in result.stderr
    assert json.loads(result.stdout)[0]["tflm"] == "2026-01"


def test_kernels_that_the_manifest_does_not_have_are_refused(model, manifest):
    error = run(model, "--tflm", manifest, "--kernels", "reference").exception
    assert isinstance(error, UsageError)
    assert (error.measured, error.expected) == ("reference", "cmsis-nn")


def test_the_host_method_answers_as_the_layout_for_its_abi(model):
    pytest.importorskip("tflite_micro", reason="the official wheel is not installed (extra oracle)")
    (on_host,), (by_layout,) = estimates(model, "--method", "host"), estimates(model, "--abi", "x86-64")
    same = ("model", "sha256", "abi", "arena_used_bytes", "head_bytes", "tail_bytes", "min_working_arena_bytes")
    assert [on_host[key] for key in same] == [by_layout[key] for key in same]
    assert on_host["method"] == "host"


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "host", "--abi", "arm32"),
        ("--method", "host", "--tflm", "2020-07"),
        ("--method", "host", "--kernels", "cmsis-nn"),
        ("--method", "formula", "--shared-arena"),
        ("--abi", "arm64"),
        ("--board", "stm32f407-virtual", "--abi", "xtensa32"),
        ("--input-shape", "x"),
    ],
)
def test_options_that_contradict_each_other(model, options):
    result = run(model, *options)
    assert isinstance(result.exception, UsageError) or result.return_value == 2


def test_an_open_dimension_is_refused_by_name_until_it_is_given(open_model):
    refused = run(open_model)
    assert refused.return_value == 2
    assert "'a=b': a dimension is open (-1)" in refused.stderr
    (given,) = estimates(open_model, "--input-shape", "a=b=5,4")
    assert given["head_bytes"] == 2 * 80


def test_a_correction_is_applied_named_and_left_out(model, corrections):
    (plain,) = estimates(model, "--no-corrections")
    (found,) = estimates(model, "--corrections", corrections)
    assert plain["corrections"] == []
    assert found["corrections"][0].startswith("2026-01-arm32-reference-")
    assert found["arena_used_bytes"] == plain["arena_used_bytes"] + 100
    assert found["min_working_arena_bytes"] == plain["min_working_arena_bytes"] + 100
    assert found["recommended_arena_bytes"] >= found["min_working_arena_bytes"]
    assert found["corrections"][0] in run(model, "--corrections", corrections).stderr
    assert estimates(model, "--corrections", corrections, "--method", "formula")[0]["corrections"] == []


def test_corrections_cannot_be_both_given_and_left_out(model, corrections):
    assert isinstance(run(model, "--corrections", corrections, "--no-corrections").exception, UsageError)


def test_corrections_are_found_in_the_working_directory(model, corrections, tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    corrections.rename(tmp_path / "results" / "corrections")
    monkeypatch.chdir(tmp_path)
    assert len(estimates(model)[0]["corrections"]) == 1


def test_another_tool_gets_rows_of_its_own(model, tmp_path):
    other = tmp_path / "rival.json"
    other.write_text(json.dumps([{"model": "three", "bytes": 4321}]))
    ours, theirs = estimates(model, "--external", other)
    assert (theirs["method"], theirs["arena_used_bytes"], theirs["sha256"]) == ("rival", 4321, ours["sha256"])
    table = run(model, "--external", other, "--planners").stdout
    assert "rival" in table


def test_a_shared_arena_is_one_more_row(model, tmp_path):
    other = tmp_path / "wide.tflite"
    other.write_bytes(chain("RELU", size=500).build())
    one, two, shared = estimates(model, other, "--shared-arena")
    assert shared["model"] == "(shared)"
    assert shared["head_bytes"] == max(one["head_bytes"], two["head_bytes"])
    assert shared["arena_used_bytes"] < one["arena_used_bytes"] + two["arena_used_bytes"]


def test_a_model_may_share_an_arena_with_itself(model):
    one, _, shared = estimates(model, model, "--shared-arena")
    assert shared["tail_bytes"] > one["tail_bytes"]


def test_a_provider_stands_for_the_tflm_that_it_brings(model):
    named, meant = (run(model, "--tflm", word, "--format", "json").stdout for word in ("crate", "2020-07"))
    assert json.loads(named) == json.loads(meant)
    assert json.loads(named)[0]["tflm"] == "2020-07"
