"""`harness bench scan`, with nothing plugged in."""

import pytest
from click.testing import CliRunner

from harness import plugins
from harness.cli.bench import command
from harness.errors import BenchError
from harness.virtual import registry
from tests.support.plugged_in import PluggedIn


@pytest.fixture
def empty_desk(monkeypatch):
    monkeypatch.setattr(plugins, "transport", lambda _: PluggedIn())
    monkeypatch.setattr(registry, "running", list)


def test_a_scan_that_finds_no_unit_leaves_the_bench_file_alone(empty_desk, tmp_path):
    path = tmp_path / "bench.toml"
    path.write_text("# mine")
    ended = CliRunner().invoke(command, ["scan", "-o", str(path)], standalone_mode=False)
    assert isinstance(ended.exception, BenchError)
    assert ended.exception.exit_code == 3
    assert "--units stm32f407-virtual=2" in ended.exception.hint
    assert path.read_text() == "# mine"
