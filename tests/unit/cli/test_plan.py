from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.plan import command
from harness.errors import UsageError
from tests.support.models import ModelBuilder, chain


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "three.tflite"
    path.write_bytes(chain("TANH", "TANH", "TANH").build())
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


def test_json_has_the_whole_plan_of_each_model(model: Path) -> None:
    plans = json.loads(run(model, model, "--format", "json").stdout)
    assert len(plans) == 2
    plan = plans[0]
    assert plan["model"] == "three.tflite"
    assert plan["head_bytes"] == plan["lower_bound_bytes"] == 128
    assert [bar["name"] for bar in plan["timeline"]] == ["x", "t0", "t1", "t2"]
    assert plan["peak"]["fragmentation_percent"] == 0
    assert plan["best_plan"]["is_optimal"] is True


def test_csv_has_a_row_for_each_model_whether_it_has_a_plan_of_its_own_or_not(model: Path, tmp_path: Path) -> None:
    planned = chain("TANH", "TANH")
    planned.offline_plan(0, 4096, 8192)
    other = tmp_path / "planned.tflite"
    other.write_bytes(planned.build())
    rows = list(csv.DictReader(io.StringIO(run(model, other, "--format", "csv").stdout)))
    assert [row["offline_plan_bytes"] for row in rows] == ["", "8256"]


@pytest.mark.parametrize("output_format", ["table", "markdown"])
def test_people_see_planners_peak_savings_and_timeline(model: Path, output_format: str) -> None:
    said = run(model, "--format", output_format, "--persistent", "t0").stdout
    for part in (
        "planners",
        "what could be saved",
        "in use at the peak (subgraph 0, operator 0 TANH)",
        "cost of never sharing",
        "timeline",
        "no plan is smaller",
    ):
        assert part in said


def test_hostile_names_stay_inside_their_cell(tmp_path: Path) -> None:
    builder = ModelBuilder()
    x = builder.input("x|\n\x1b[31m", [1, 4])
    y = builder.tensor("y" * 500, [1, 4])
    builder.operator("TANH", [x], [y])
    builder.output(y)
    path = tmp_path / "hostile.tflite"
    path.write_bytes(builder.build())
    said = run(path, "--format", "markdown").stdout
    assert "\x1b" not in said
    assert max(len(line) for line in said.splitlines()) < 400
    names = [bar["name"] for bar in json.loads(run(path, "--format", "json").stdout)[0]["timeline"]]
    assert names == ["x|\n\x1b[31m", "y" * 500]


def test_no_better_plan_is_an_answer_and_no_error(model: Path, tmp_path: Path) -> None:
    ended = run(model, "--write-offline", tmp_path / "out.tflite", "--format", "json")
    assert (ended.exception, ended.return_value) == (None, 0)
    assert "out.tflite: not written, since no plan was found that is smaller" in ended.stderr
    assert json.loads(ended.stdout)
    assert not (tmp_path / "out.tflite").exists()


def test_one_bad_model_does_not_hide_the_others(model: Path, tmp_path: Path) -> None:
    ended = run(tmp_path / "missing.tflite", model, "--format", "json")
    assert ended.return_value == 2
    assert [plan["model"] for plan in json.loads(ended.stdout)] == ["three.tflite"]
    assert "there is no such file" in ended.stderr


def test_several_models_cannot_be_written_to_one_file(model: Path, tmp_path: Path) -> None:
    ended = run(model, model, "--write-offline", tmp_path / "out.tflite")
    assert isinstance(ended.exception, UsageError)
    assert not (tmp_path / "out.tflite").exists()


def test_the_plan_is_made_anew_for_another_input_shape(model: Path) -> None:
    plan = json.loads(run(model, "--input-shape", "x=1,32", "--format", "json").stdout)[0]
    assert plan["head_bytes"] == 2 * 128


def test_the_board_says_which_abi(model: Path) -> None:
    assert json.loads(run(model, "--board", "stm32f407-virtual", "--format", "json").stdout)[0]["abi"] == "arm32"
    ended = run(model, "--board", "stm32f407-virtual", "--abi", "x86-64")
    assert isinstance(ended.exception, UsageError)


def test_the_help_explains_symptoms() -> None:
    said = run("--help").stdout
    for symptom in ("AllocateTensors fails", "Wrong results from the second run on", "writes outside the arena"):
        assert symptom in said
