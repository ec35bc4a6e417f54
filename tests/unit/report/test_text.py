from dataclasses import replace

import pytest

from harness.domain.plan import TimelineBar
from harness.domain.reconciliation import VERDICTS
from harness.report.text import (
    VERDICT_SIGNS,
    VERDICT_WORDS,
    buffer_name,
    counted,
    grouped,
    moment,
    percent,
    shown,
    signed,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("conv_1/Relu", "conv_1/Relu"),
        ("größe µ", "größe µ"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x00\nb", "a\\x00\\nb"),
        ("\ud800", "\\ud800"),
        ("x" * 300, "x" * 199 + "…"),
    ],
)
def test_untrusted_text_is_made_visible(text, expected):
    assert shown(text) == expected


def test_a_buffer_without_a_name_is_told_by_its_place():
    tensor = TimelineBar("", "tensor", "subgraph 0, tensor 7 ''", "int8", (1,), 0, 1, 1, 2, 0, 16)
    assert buffer_name(tensor) == "subgraph 0, tensor 7 ''"
    assert buffer_name(replace(tensor, name="x")) == "x"
    assert buffer_name(replace(tensor, name="SVDF", kind="scratch")) == "scratch of SVDF"


def test_numbers():
    assert (grouped(1234567), grouped(None)) == ("1,234,567", "")
    assert (signed(1500), signed(-2), signed(0), signed(None)) == ("+1,500", "-2", "0", "")
    assert (percent(12.5), percent(-3), percent(0.0), percent(None)) == ("+12.50 %", "-3.00 %", "0 %", "")
    assert (counted(1, "job"), counted(2, "job"), counted(0, "history", "histories")) == (
        "1 job",
        "2 jobs",
        "0 histories",
    )
    assert (moment("2026-11-29T02:03:04.567Z"), moment("")) == ("2026-11-29 02:03", "")


def test_every_verdict_has_its_word_and_its_sign():
    assert tuple(VERDICT_WORDS) == tuple(VERDICT_SIGNS) == VERDICTS
