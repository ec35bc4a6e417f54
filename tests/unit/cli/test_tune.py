"""`harness tune`: files in, one reviewable file per profile out."""

import json

import pytest
from click.testing import CliRunner

from harness.cli.tune import command
from harness.domain.estimate import Profile
from harness.errors import ResultError
from harness.estimate.corrections import load_correction
from harness.results.as_json import reconciliation_to_json
from harness.results.reconcile import reconcile
from tests.support.tuning import PROFILE, estimate, measurement


@pytest.fixture
def results(tmp_path):
    """Writes a file of `harness run` in which the tail of each model takes so many bytes more than estimated."""

    def write(*more):
        rows = [reconcile(estimate(n), measurement(estimate(n), tail=bytes_)) for n, bytes_ in enumerate(more)]
        path = tmp_path / "run.json"
        path.write_text(json.dumps([reconciliation_to_json(row) for row in rows]))
        return path

    return write


def run(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


def test_a_correction_is_written_and_shown_with_its_held_out_errors(results, tmp_path):
    result = run(results(48, 48, 48, 48, 48), "--output", tmp_path / "out", "--format", "json")
    assert result.return_value == 0
    (row,) = json.loads(result.stdout)
    assert row["offsets"] == [{"section": "tail", "region": "tail", "size_bytes": 48}]
    assert (row["held_out_before"]["mean_bytes"], row["held_out_after"]["mean_bytes"]) == (48, 0)
    correction = load_correction(tmp_path / "out", PROFILE)
    assert correction.id == row["correction"]
    assert correction.files == ("run.json",)


def test_the_same_correction_leaves_its_file_untouched(results, tmp_path):
    path = results(16, 16, 16, 16, 16)
    run(path, "--output", tmp_path)
    (written,) = tmp_path.glob("*.toml")
    before = written.stat().st_mtime_ns
    assert "left untouched" in run(path, "--output", tmp_path).stderr
    assert written.stat().st_mtime_ns == before


def test_an_exact_profile_is_left_alone(results, tmp_path):
    result = run(results(0, 0, 0, 0, 0), "--output", tmp_path)
    assert result.return_value == 0
    assert "nothing to correct" in result.stderr
    assert not list(tmp_path.glob("*.toml"))


@pytest.mark.parametrize("more", [(16, 16, 16, 16), (0, 0, 0, 0, 5)])
def test_what_cannot_be_learned_is_refused_and_nothing_written(results, tmp_path, more):
    result = run(results(*more), "--output", tmp_path)
    assert result.return_value == 2
    assert PROFILE.id in result.stderr
    assert not list(tmp_path.glob("*.toml"))


def test_files_that_are_none(tmp_path):
    path = tmp_path / "empty.json"
    path.write_text("{}")
    assert isinstance(run(path).exception, ResultError)
    assert load_correction(tmp_path, Profile("2026-08", "arm32")) is None
