"""`harness export`: where its table goes."""

import pytest
from click.testing import CliRunner

from harness.cli.export import command
from harness.store import open_store


@pytest.mark.parametrize("option", ["-o", "--output"])
def test_the_table_goes_to_the_file_named(option, tmp_path):
    store, target = tmp_path / "harness.db", tmp_path / "all.csv"
    with open_store(store, create=True):
        pass
    ended = CliRunner().invoke(command, ["--store", str(store), option, str(target)], standalone_mode=False)
    assert (ended.exception, ended.stdout) == (None, "")
    assert "build_id" in target.read_text()
