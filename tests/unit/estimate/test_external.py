"""Another tool's figures beside ours."""

import json

import pytest

from harness.domain.estimate import Profile
from harness.errors import ResultError
from harness.estimate import ModelFile, estimate
from harness.estimate.external import external_estimates, read_external
from tests.support.models import chain

OURS = estimate(ModelFile.of("kws.tflite", chain("RELU").build()), Profile("2026-08", "arm32"), board="a-board")


@pytest.fixture
def figures(tmp_path):
    def read(*items):
        path = tmp_path / "tool.json"
        path.write_text(items[0] if isinstance(items[0], str) else json.dumps(items))
        return read_external(path)

    return read


@pytest.mark.parametrize("name", ["kws", "kws.tflite", "models/kws.tflite", "C:\\models\\kws.tflite"])
def test_models_are_joined_by_name(figures, name):
    (found,) = external_estimates(figures({"model": name, "bytes": 1000}, {"model": "other", "bytes": 1}), [OURS])
    assert (found.model, found.method, found.arena_used_bytes) == ("kws.tflite", "tool", 1000)
    assert (found.recommended_arena_bytes, found.board, found.profile) == (1008, "a-board", OURS.profile)


def test_models_are_joined_by_hash(figures):
    item = {"model": "renamed", "sha256": OURS.sha256.upper(), "arena_used_bytes": 16, "bytes": 1, "method": "mcufit"}
    (found,) = external_estimates(figures(item), [OURS])
    assert (found.method, found.arena_used_bytes) == ("mcufit", 16)


def test_a_figure_for_another_file_of_that_name(figures):
    with pytest.raises(ResultError, match="another file of that name"):
        external_estimates(figures({"model": "kws", "bytes": 1, "sha256": "00" * 32}), [OURS])


def test_figures_for_no_model_of_ours(figures):
    with pytest.raises(ResultError, match="for none of these models"):
        external_estimates(figures({"model": "resnet", "bytes": 1}), [OURS])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        '[{"bytes": 1}]',
        '[{"model": "kws"}]',
        '[{"model": "kws", "bytes": -1}]',
        '[{"model": "kws", "bytes": 1.5}]',
        '[{"model": "kws", "bytes": true}]',
    ],
)
def test_files_that_are_no_such_list(figures, text):
    with pytest.raises(ResultError):
        figures(text)


def test_a_missing_file(tmp_path):
    with pytest.raises(ResultError, match="cannot be read"):
        read_external(tmp_path / "missing.json")
