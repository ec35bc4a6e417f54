from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.estimate import command
from harness.errors import UsageError
from tests.support.models import chain


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "three.tflite"
    path.write_bytes(chain("TANH", "TANH", "TANH").build())
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


def test_planners_are_laid_beside_the_estimate(model: Path) -> None:
    estimate = json.loads(run(model, "--planners", "--format", "json").stdout)[0]
    assert estimate["lower_bound_bytes"] == 128
    assert estimate["planners"][0] == {"planner": "tflm_greedy", "arena_bytes": 128, "above_bound_percent": 0.0}


def test_without_the_option_there_are_none(model: Path) -> None:
    assert "planners" not in json.loads(run(model, "--format", "json").stdout)[0]


def test_the_header_holds_the_recommendation(model: Path) -> None:
    recommended = json.loads(run(model, "--margin", "15", "--format", "json").stdout)[0]["recommended_arena_bytes"]
    header = run(model, "--margin", "15", "--format", "c-header").stdout
    assert f"#define THREE_ARENA_BYTES {recommended}\n" in header


def test_an_unchanged_header_keeps_its_time(model: Path, tmp_path: Path) -> None:
    header = tmp_path / "arena.h"
    run(model, "--format", "c-header", "-o", header)
    os.utime(header, ns=(1, 1))
    run(model, "--format", "c-header", "-o", header)
    assert header.stat().st_mtime_ns == 1
    run(model, "--format", "c-header", "-o", header, "--margin", "50")
    assert header.stat().st_mtime_ns != 1


def test_no_header_is_written_when_a_model_fails(model: Path, tmp_path: Path) -> None:
    header = tmp_path / "arena.h"
    ended = run(model, tmp_path / "missing.tflite", "--format", "c-header", "-o", header)
    assert ended.return_value == 2
    assert not header.exists()
    assert "#define" not in ended.stdout


def test_an_output_file_is_for_headers(model: Path, tmp_path: Path) -> None:
    ended = run(model, "-o", tmp_path / "out.json", "--format", "json")
    assert isinstance(ended.exception, UsageError)
