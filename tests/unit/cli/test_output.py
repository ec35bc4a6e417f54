import csv
import io

import pytest

from harness.cli.output import Row, counted, show, tell

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


def test_long_cells_are_folded_to_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    rows: list[Row] = [
        {"check": "package", "ok": True, "found": "word " * 40, "mend": "x" * 100},
        dict.fromkeys(ROW, "a"),
    ]
    show(rows, "table", folded=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert len(lines) > 10
    show(rows, "csv", folded=True)
    assert len(capsys.readouterr().out.splitlines()) == 3


ROW = ("check", "ok", "found", "mend")


def test_nothing_is_folded_where_nobody_knows_the_width(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    show([{"a": "word " * 100}], "table", folded=True)
    assert len(capsys.readouterr().out.splitlines()) == 3
