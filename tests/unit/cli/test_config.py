import json

import pytest

from harness.cli import cli
from harness.cli.project_file import find_project_file, read_project_file
from harness.errors import UsageError
from tests.support.models import chain


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Writes a project file, and works in a folder below it."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    (tmp_path / "relu.tflite").write_bytes(chain("RELU").build())

    def write(text):
        (tmp_path / "harness.toml").write_text(text)
        return tmp_path

    return write


def rows(capsys, *arguments):
    assert cli.main([*arguments, "--format", "json"], standalone_mode=False) in (None, 0)
    return json.loads(capsys.readouterr().out)


def test_config_shows_what_holds_and_where_from(project, capsys):
    folder = project('board = "stm32f407-virtual"\nstore = "db.sqlite"\n')
    found = {row["key"]: row for row in rows(capsys, "config")}
    assert found["board"]["value"] == "stm32f407-virtual"
    assert found["board"]["from"] == str(folder / "harness.toml")
    assert found["store"]["value"] == str(folder / "db.sqlite")
    assert (found["tflm"]["value"], found["tflm"]["from"]) == (None, "the command's own default")


def test_without_a_file_the_commands_own_defaults_hold(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert {row["value"] for row in rows(capsys, "config")} == {None}


def test_commands_take_their_defaults_from_it(project, capsys):
    folder = project('tflm = "2020-07"\nmargin = 50\n')
    [row] = rows(capsys, "estimate", str(folder / "relu.tflite"))
    assert row["tflm"] == "2020-07"
    assert row["recommended_arena_bytes"] >= 1.5 * row["min_working_arena_bytes"]


def test_the_command_line_wins(project, capsys):
    folder = project('tflm = "2020-07"\n')
    [row] = rows(capsys, "estimate", str(folder / "relu.tflite"), "--tflm", "2026-08")
    assert row["tflm"] != "2020-07"


def test_config_takes_another_file(project, tmp_path, capsys):
    project('board = "stm32f407-virtual"\n')
    (tmp_path / "other.toml").write_text('board = "esp32-virtual"\n')
    found = {row["key"]: row["value"] for row in rows(capsys, "--config", str(tmp_path / "other.toml"), "config")}
    assert found["board"] == "esp32-virtual"


def test_the_nearest_file_counts(project, tmp_path):
    project("margin = 1\n")
    (tmp_path / "deep" / "harness.toml").write_text("margin = 2\n")
    assert find_project_file(tmp_path / "deep" / "er") == tmp_path / "deep" / "harness.toml"
    assert find_project_file(tmp_path) == tmp_path / "harness.toml"


def test_paths_in_it_are_relative_to_it(project):
    folder = project('tflm = "../tflite-micro"\ninclude = ["third_party"]\nbench = "bench.toml"\nboard = "my.toml"\n')
    values = read_project_file(folder / "harness.toml").values
    assert values == {
        "tflm": str(folder / "../tflite-micro"),
        "include": [str(folder / "third_party")],
        "bench": str(folder / "bench.toml"),
        "board": str(folder / "my.toml"),
    }


def test_a_word_that_is_no_path_stays_a_word(project):
    folder = project('tflm = "crate"\nboard = "stm32f407-black"\n')
    assert read_project_file(folder / "harness.toml").values == {"tflm": "crate", "board": "stm32f407-black"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('bord = "x"\n', "unknown key"),
        ("board = 3\n", "board"),
        ('margin = "much"\n', "margin"),
        ("margin = -1\n", "margin"),
        ('board = ""\n', "empty"),
        ('include = "one"\n', "include"),
        ("[board\n", "no TOML"),
    ],
)
def test_what_is_wrong_in_it_is_named(project, text, words):
    folder = project(text)
    with pytest.raises(UsageError, match=words):
        read_project_file(folder / "harness.toml")


def test_a_file_that_is_not_there_is_wrong_usage(project, tmp_path):
    project("")
    with pytest.raises(UsageError, match="cannot be read"):
        cli.main(["--config", str(tmp_path / "gone.toml"), "config"], standalone_mode=False)
