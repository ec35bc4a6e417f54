import csv
import io

import pytest

from harness.cli.output import counted, show, tell

HOSTILE = "=cmd|' /C calc'!A0\x1b[2J\n\u202eevil"


@pytest.mark.parametrize("output_format", ["table", "csv", "markdown"])
def test_untrusted_names_reach_no_terminal_as_they_are(capsys, output_format):
    show([{"model": HOSTILE, "used_bytes": 1}], output_format)
    shown = capsys.readouterr().out
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert "\\x1b[2J\\n\\u202eevil" in shown


def test_untrusted_names_are_no_formula_in_a_spreadsheet(capsys):
    show([{"model": HOSTILE, "error_bytes": -4}], "csv")
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["model"].startswith("'=")
    assert row["error_bytes"] == "-4"


def test_remarks_go_to_stderr_on_a_line_each(capsys):
    tell("a\nb.tflite", ["one", "two"])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "a\\nb.tflite: one\na\\nb.tflite: two\n"


@pytest.mark.parametrize(("count", "said"), [(0, "0 jobs"), (1, "1 job"), (2, "2 jobs"), (1234, "1,234 jobs")])
def test_numbers_of_things_are_said_as_people_say_them(count, said):
    assert counted(count, "job") == said
