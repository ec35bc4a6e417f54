"""`harness bench scan`, with nothing plugged in."""

import pytest
from click.testing import CliRunner

from harness import plugins
from harness.cli.bench import command
from harness.errors import BenchError, BoardFileError, UsageError
from harness.virtual import registry
from tests.support.plugged_in import PluggedIn


@pytest.fixture
def nothing_plugged_in(monkeypatch):
    monkeypatch.setattr(plugins, "transport", lambda _: PluggedIn())
    monkeypatch.setattr(registry, "running", list)


def test_a_scan_that_finds_no_unit_leaves_the_bench_file_alone(nothing_plugged_in, tmp_path):
    path = tmp_path / "bench.toml"
    path.write_text("# mine")
    ended = CliRunner().invoke(command, ["scan", "-o", str(path)], standalone_mode=False)
    assert isinstance(ended.exception, BenchError)
    assert ended.exception.exit_code == 3
    assert "--units stm32f407-virtual=2" in ended.exception.hint
    assert path.read_text() == "# mine"


def test_board_files_that_are_gone_from_the_bench_file_are_named_and_broken_ones_refused(nothing_plugged_in, tmp_path):
    path = tmp_path / "bench.toml"
    path.write_text(f"[[dut]]\nboard = '{tmp_path}/gone.toml'\n[[dut]]\nboard = 'stm32f407-virtual'\n")
    ended = CliRunner().invoke(command, ["scan", "-o", str(path)], standalone_mode=False)
    assert isinstance(ended.exception, BenchError)
    assert f"{path}: the board file {tmp_path}/gone.toml is gone" in ended.stderr
    (tmp_path / "gone.toml").write_text("title = 3")
    ended = CliRunner().invoke(command, ["scan", "-o", str(path)], standalone_mode=False)
    assert isinstance(ended.exception, BoardFileError)


def test_a_bench_file_that_cannot_be_read_is_not_written_over(nothing_plugged_in, tmp_path):
    path = tmp_path / "bench.toml"
    path.write_text("[[dut]\n")
    ended = CliRunner().invoke(command, ["scan", "-o", str(path)], standalone_mode=False)
    assert isinstance(ended.exception, UsageError)
    assert "this is no TOML" in str(ended.exception)
