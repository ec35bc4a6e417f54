from pathlib import Path
from xml.etree import ElementTree as ET

import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.finding import Checked, Figure, Finding
from harness.report.annotations import workflow_commands
from harness.report.junit import to_junit

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))
NONE: frozenset[str] = frozenset()


def row(*findings, model="kws.tflite", board="desk", verdict="measured", causes=()):
    return Checked(Figure(board, model, "crate", 0, "ab" * 32, verdict), 1.25, findings, causes)


GREW = Finding("grew", "it grew by 8 bytes", 1008, 1000)
ROWS = [
    row(),
    row(GREW, Finding("over_budget", "too much"), model="big.tflite"),
    row(Finding("not_measured", "no probe"), model="lost.tflite", causes=("no probe", "hint: plug it in")),
    row(model="refused.tflite", verdict="not_run", causes=("no such operator",)),
    row(board="lab"),
]


def test_one_suite_per_board_with_its_counts():
    document = to_junit(ROWS, NONE)
    SCHEMA.validate(document.decode())
    desk, lab = ET.fromstring(document)  # noqa: S314 - our own document
    assert desk.attrib == {
        "name": "desk",
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "5.000",
    }
    assert (lab.get("name"), lab.get("tests"), lab.get("failures")) == ("lab", "1", "0")
    big = desk[1]
    assert [each.get("type") for each in big] == ["grew", "over_budget"]
    assert big[0].get("message") == "it grew by 8 bytes"
    assert desk[2][0].text == "no probe\nno probe\nhint: plug it in"


def test_what_is_allowed_fails_no_case():
    document = to_junit([row(GREW)], frozenset({"grew"}))
    assert ET.fromstring(document)[0].get("failures") == "0"  # noqa: S314 - our own document


@given(st.text(), st.text(), st.text())
def test_any_name_gives_a_valid_document(model, board, message):
    document = to_junit([row(Finding("grew", message), model=model, board=board, causes=(message,))], NONE)
    SCHEMA.validate(document.decode())


def test_annotations_are_errors_or_notices():
    assert workflow_commands(row(GREW), NONE) == ["::error title=kws.tflite on desk%3A grew::it grew by 8 bytes"]
    assert workflow_commands(row(GREW), frozenset({"grew"}))[0].startswith("::notice ")
    assert workflow_commands(row(), NONE) == []


def test_no_name_begins_a_command_of_its_own():
    hostile = row(Finding("grew", "50 %\n::error::mine"), model="a,b::x\r\n::set-output name=x::y")
    (line,) = workflow_commands(hostile, NONE)
    assert "\n" not in line
    assert "\r" not in line
    assert line.endswith("::50 %25%0A::error::mine")
    assert "a%2Cb%3A%3Ax%0D%0A" in line
