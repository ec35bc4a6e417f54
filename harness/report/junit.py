"""A check as JUnit XML, as Jenkins, GitLab and others read it (one suite per board, one case per model)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from harness.domain.finding import Checked

_BENCH_TROUBLE = "not_measured"


def to_junit(rows: Sequence[Checked], allowed: frozenset[str]) -> bytes:
    """The document.

    Args:
        rows: of the check, sorted by board.
        allowed: kinds of findings that fail no case.
    """
    suites = ET.Element("testsuites", name="harness check")
    for board, group in groupby(rows, key=lambda row: row.figure.board):
        suites.append(_suite(board, list(group), allowed))
    ET.indent(suites)
    document: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _suite(board: str, rows: Sequence[Checked], allowed: frozenset[str]) -> ET.Element:
    cases = [_case(row, allowed) for row in rows]
    suite = ET.Element(
        "testsuite",
        name=_clean(board),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time=f"{sum(row.seconds for row in rows):.3f}",
    )
    suite.extend(cases)
    return suite


def _case(row: Checked, allowed: frozenset[str]) -> ET.Element:
    figure = row.figure
    case = ET.Element(
        "testcase",
        name=_clean(figure.name),
        classname=_clean(f"{figure.board}.{figure.tflm}"),
        time=f"{row.seconds:.3f}",
    )
    told = [finding for finding in row.findings if finding.kind not in allowed]
    for finding in told:
        tag = "error" if finding.kind == _BENCH_TROUBLE else "failure"
        ET.SubElement(case, tag, type=finding.kind, message=_clean(finding.message)).text = _clean(
            "\n".join((finding.message, *row.causes))
        )
    if not told and figure.verdict == "not_run":
        ET.SubElement(case, "skipped", message=_clean(row.causes[0] if row.causes else "not run"))
    return case


def _clean(text: str) -> str:
    """Text without what XML cannot hold (XML 1.0 section 2.2), written out instead."""
    return "".join(c if _is_xml(ord(c)) else repr(c)[1:-1] for c in text)


def _is_xml(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
