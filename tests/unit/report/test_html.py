import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

pytest.importorskip("jinja2")

from harness.domain.estimate import Profile
from harness.domain.reconciliation import RecordedSection
from harness.estimate import ModelFile
from harness.estimate.analysis.compare import analyse
from harness.report import html
from harness.report.compose import Material, compose
from tests.support.models import skipping
from tests.support.outcomes import HEADING, outcome

HOSTILE = "</script><script>alert(1)</script>'\"><img onerror=x>&amp;]]>\u2028\ud800"


def page(jobs=(), past=(), plans=()):
    return html.render(compose(HEADING, Material(jobs, past, plans)))


def plan(name="m.tflite", tensor="skip"):
    model = skipping()
    model.tensors[1].name = tensor
    return analyse(ModelFile.of(name, model.build()), Profile("2026-08", "arm32"))


class Elements(HTMLParser):
    """Counts elements, and collects the attributes and texts of the page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value) for name, value in attrs]

    def handle_data(self, data):
        self.texts.append(data)


def test_hostile_names_add_no_element_and_no_handler():
    names = {"model": HOSTILE, "board": HOSTILE, "tflm": HOSTILE, "dut": HOSTILE, "when": HOSTILE}
    sections = (RecordedSection(HOSTILE, 1, 2),)
    figures = {"estimate_bytes": 900, "error_bytes": -100, "error_percent": -10.0}
    jobs = [outcome(**names, **figures, causes=(HOSTILE,) * 3, sections=sections)]
    bad = outcome(**names, causes=(HOSTILE,), key={HOSTILE: HOSTILE})
    hurt = outcome(**{**names, "verdict": "error"}, causes=(HOSTILE,))
    past = [outcome(**names, used_bytes=1), bad, outcome(**{**names, "verdict": "fail"}, causes=(HOSTILE,)), hurt]
    found = Elements(page(jobs, past, [plan(HOSTILE, HOSTILE.replace("\ud800", ""))]))
    assert found.tags.count("script") == 2
    assert "img" not in found.tags
    assert not any(name.startswith("on") for name, _ in found.attributes)
    assert sum("</script>" in text for text in found.texts) > 5


def test_the_data_for_the_script_hold_no_markup():
    data = re.search(
        r'<script type="application/json" id="drawings">(.*?)</script>', page(plans=[plan(tensor="</b>&'")])
    )
    assert not set("<>&'") & set(data[1])
    (drawing,) = json.loads(data[1])
    assert "</b>&'" in [bar[0] for bar in drawing["bars"]]


def test_a_drawing_has_steps_bars_and_the_peak():
    shown: Mapping[str, Any] = html._drawing(plan())
    assert [step[:2] for step in shown["steps"]] == [[0, None], [1, 0], [2, 1], [3, 2], [4, 3], [5, 4]]
    assert ("skip", "long", "float32 [1, 16]", 1, 5) in [tuple(bar[:5]) for bar in shown["bars"]]
    assert shown["peak"] == plan().peak.step


def test_the_policy_names_the_very_script_and_style_of_the_page():
    text = page()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    script = re.search(r"<script>(.*)</script>", text, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    assert "default-src 'none'" in policy
    assert f"script-src '{html._hash(script)}'" in policy
    assert f"style-src '{html._hash(style)}'" in policy
    assert not re.search(r'(?<![\w-])style="|https?://(?!www\.w3\.org/2000/svg)', text)


def test_recorded_sections_have_a_table_of_their_own():
    found = Elements(
        page([outcome(sections=(RecordedSection("op_data", 812, 804), RecordedSection("other", None, 5)))])
    )
    assert ("id", "sections") in found.attributes
    assert {"812", "804", "+8"} <= {text.strip() for text in found.texts}
    assert ("id", "sections") not in Elements(page([outcome()])).attributes


def test_a_report_about_nothing_says_so():
    text = page()
    assert "Nothing was run." in text
    assert 'id="memory"' not in text


def test_too_much_fragmentation_is_pointed_out():
    calm, torn = plan(), plan("torn.tflite")
    torn = replace(torn, peak=replace(torn.peak, fragmentation_percent=15.1))
    assert "above 15 %" not in page(plans=[calm])
    assert "above 15 %" in page(plans=[torn])


def test_what_is_left_out_is_said():
    jobs = [outcome(str(number)) for number in range(3001)]
    assert "3,000 of 3,001 jobs are in the table" in page(jobs)
