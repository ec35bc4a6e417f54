from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.reconcile import command


@pytest.mark.parametrize("output_format", ["table", "json", "csv", "markdown"])
def test_results_without_a_row_are_no_trouble(tmp_path: Path, output_format: str) -> None:
    path = tmp_path / "none.json"
    path.write_text("[]")
    found = CliRunner().invoke(command, [str(path), "--format", output_format], standalone_mode=False)
    assert found.exception is None
    assert found.return_value == 0
