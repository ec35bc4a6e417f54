"""An estimate that leaves something out says so wherever it goes, and goes into no header by accident."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.estimate import command
from harness.errors import UsageError
from harness.results.as_json import read_results
from tests.support.models import chain


@pytest.fixture
def inexact(tmp_path: Path) -> Path:
    """A model with an operator whose needs no profile knows."""
    path = tmp_path / "inexact.tflite"
    path.write_bytes(chain("RELU", "ethos-u").build())
    return path


@pytest.fixture
def exact(tmp_path: Path) -> Path:
    path = tmp_path / "exact.tflite"
    path.write_bytes(chain("RELU", "TANH").build())
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


def test_json_says_what_is_left_out(inexact: Path, exact: Path) -> None:
    left_out, whole = json.loads(run(inexact, exact, "--format", "json").stdout)
    assert (left_out["exact"], whole["exact"]) == (False, True)
    assert "'ethos-u' is not in the profile" in left_out["unknown_parts"][0]
    assert "from before Vela" in left_out["unknown_parts"][0]
    assert whole["unknown_parts"] == []


def test_what_was_read_back_is_as_inexact_as_before(inexact: Path, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(run(inexact, "--format", "json").stdout)
    ((estimate,), _) = read_results(tmp_path / "e.json")
    assert not estimate.exact
    assert estimate.unknown_parts


@pytest.mark.parametrize("output_format", ["table", "markdown"])
def test_tables_mark_it(output_format: str, inexact: Path, exact: Path) -> None:
    result = run(inexact, exact, "--format", output_format)
    marks = {line.split()[0 if output_format == "table" else 1]: line for line in result.stdout.splitlines()[2:]}
    assert "no" in marks["inexact.tflite"].split()
    assert "yes" in marks["exact.tflite"].split()
    assert "is not in the profile" in result.stderr


def test_csv_marks_it(inexact: Path) -> None:
    (row,) = csv.DictReader(io.StringIO(run(inexact, "--format", "csv").stdout))
    assert row["exact"] == "False"


def test_a_header_is_refused_unless_it_is_asked_for(inexact: Path, tmp_path: Path) -> None:
    header = tmp_path / "sizes.h"
    with pytest.raises(UsageError, match="the estimate is not exact") as caught:
        raise run(inexact, "--format", "c-header", "-o", header).exception or AssertionError("no error")
    assert "--allow-inexact" in caught.value.hint
    assert not header.exists()
    text = run(inexact, "--format", "c-header", "--allow-inexact").stdout
    assert "NOT EXACT: subgraph 0, operator 1" in text
    assert "#define INEXACT_ARENA_BYTES" in text


def test_the_header_of_an_exact_estimate_says_nothing_of_it(exact: Path) -> None:
    text = run(exact, "--format", "c-header").stdout
    assert "EXACT" not in text.replace("EXACT_ARENA_BYTES", "")


def test_the_formula_is_never_exact(exact: Path) -> None:
    (row,) = json.loads(run(exact, "--method", "formula", "--format", "json").stdout)
    assert not row["exact"]
