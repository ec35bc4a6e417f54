"""What `harness run` prints of rows that are known."""

from dataclasses import replace

import pytest

from harness.cli.running import show_rows
from harness.results.reconcile import reconcile
from tests.support.figures import ESTIMATE, MEASUREMENT

PLAIN = reconcile(ESTIMATE, MEASUREMENT)
RECORDED = reconcile(ESTIMATE, replace(MEASUREMENT, sections={"op_data": 804, "unheard_of": 5}))


@pytest.mark.parametrize("output_format", ["table", "markdown"])
def test_recorded_sections_stand_beside_their_estimates(output_format, capsys):
    show_rows([PLAIN, RECORDED], output_format)
    main, sections = capsys.readouterr().out.split("\n\n")[:2]
    assert "op_data  " not in main
    (row,) = [line for line in sections.splitlines() if "op_data" in line]
    assert row.replace("|", " ").split() == ["m.tflite", "op_data", "812", "804", "8"]
    assert "unheard_of" in sections


@pytest.mark.parametrize("output_format", ["table", "markdown"])
def test_without_recorded_sections_there_is_one_table(output_format, capsys):
    show_rows([PLAIN], output_format)
    assert "recorded" not in capsys.readouterr().out


def test_csv_stays_one_table(capsys):
    show_rows([PLAIN, RECORDED], "csv")
    assert len(capsys.readouterr().out.splitlines()) == 3
