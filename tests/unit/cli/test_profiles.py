"""What --tflm means for an estimate."""

import json

import pytest
from click.testing import CliRunner

from harness.cli import estimate, tflm
from harness.cli.profiles import all_profiles, profile_for
from harness.domain.estimate import Profile
from harness.domain.tflm_options import TflmOptions
from harness.errors import UsageError
from tests.support.models import chain
from tests.support.source_trees import source_tree

PLAIN = TflmOptions()


def run(command, *arguments):
    return CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "neg.tflite"
    path.write_bytes(chain("NEG").build())
    return path


@pytest.mark.parametrize(
    ("word", "profile"),
    [
        ("2026-08", Profile("2026-01", "arm32")),
        ("2024-12", Profile("2024-12", "arm32")),
        ("crate", Profile("2020-07", "arm32")),
        ("esp-tflite-micro@1.3.3", Profile("2024-12", "arm32", "esp-nn")),
        ("pico-tflmicro", Profile("2024-12", "arm32", "cmsis-nn")),
        (
            "chirale",
            Profile("2022-12", "arm32", "reference", False, frozenset({"first-lstm", "small-variables"})),
        ),
    ],
)
def test_a_word_means_a_profile(word, profile):
    assert profile_for(word, None, PLAIN, None) == profile


def test_kernels_on_the_command_line_win_over_the_packages():
    assert profile_for("pico-tflmicro", None, TflmOptions("reference"), None).kernels == "reference"


def test_a_source_tree_means_what_is_in_it(tmp_path):
    found = profile_for(str(source_tree(tmp_path / "tree", "upstream")), "xtensa32", PLAIN, None)
    assert found == Profile("2026-01", "xtensa32")


def test_an_arduino_library_is_estimated_without_static_memory(tmp_path):
    assert not profile_for(str(source_tree(tmp_path / "tree", "arduino")), None, PLAIN, None).static_memory


def test_an_unknown_word_is_refused_with_what_may_have_been_meant():
    with pytest.raises(UsageError, match="no TFLM is called 'chiral'") as raised:
        profile_for("chiral", None, PLAIN, None)
    assert raised.value.hint == "did you mean chirale?"


def test_all_means_every_generation_that_has_the_kernels():
    names = [profile.tflm for profile in all_profiles(None, PLAIN, None)]
    assert names == ["2026-01", "2024-12", "2024-09", "2023-09", "2023-06", "2022-12", "2022-04", "2020-07"]
    assert "2020-07" not in [profile.tflm for profile in all_profiles(None, TflmOptions("cmsis-nn"), None)]


def test_all_lays_the_generations_side_by_side(model):
    rows = json.loads(run(estimate.command, model, "--tflm", "all", "--format", "json").stdout)
    assert [row["tflm"] for row in rows][:2] == ["2026-01", "2024-12"]
    assert {row["tflm"]: row["basis"] for row in rows}["2023-06"] == "read"
    table = run(estimate.command, model, "--tflm", "all", "--format", "csv").stdout
    assert "change_bytes" in table.splitlines()[0]


def test_what_one_generation_lacks_is_told_and_no_error_of_all(tmp_path):
    path = tmp_path / "leaky.tflite"
    path.write_bytes(chain("SQUARED_DIFFERENCE").build())
    ended = run(estimate.command, path, "--tflm", "all", "--format", "json")
    assert "TFLM 2020-07 has no such operator" in ended.stderr
    assert ended.return_value in (None, 0)


def test_figures_that_were_read_say_so(model):
    ended = run(estimate.command, model, "--tflm", "2024-09", "--format", "json")
    assert json.loads(ended.stdout)[0]["basis"] == "read"
    assert "not measured yet" in ended.stderr
    assert "not measured yet" not in run(estimate.command, model, "--tflm", "2024-12").stderr


def test_the_list_has_generations_and_packages_with_their_basis():
    rows = {row["tflm"]: row for row in json.loads(run(tflm.command, "list", "--format", "json").stdout)}
    assert (rows["2023-09"]["basis"], rows["2022-12"]["basis"]) == ("measured", "read")
    assert rows["chirale"] == {
        "tflm": "chirale",
        "generation": "2022-12",
        "kernels": "reference",
        "static_memory": False,
        "traits": "first-lstm, small-variables",
        "basis": "read",
        "known_from": rows["chirale"]["known_from"],
    }
    assert {row["generation"] for row in rows.values()} == {
        name for name, row in rows.items() if name == row["generation"]
    }
