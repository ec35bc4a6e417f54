"""The report as one page that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.domain.plan import FRAGMENTATION_LIMIT_PERCENT, MemoryPlan, TimelineBar
from harness.report import curve, scatter
from harness.report.facts import Report
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

_TABLE_LIVE = 12
"""Buffers that a table of a memory plan lists; the drawing has them all."""

_PLACE_LIMIT = 90
_TEXT_LIMIT = 400


def render(report: Report) -> str:
    """The page.

    Everything that came from outside is text to it: jinja2 escapes it in the markup, `tojson` in the data for the
    script. Should something slip through all the same, the page's Content-Security-Policy lets nothing run but the
    one script, known by its hash, and nothing be fetched at all.
    """
    style, script = _asset("page.css"), _asset("page.js")
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            report=report,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            style_hash=_hash(style),
            script_hash=_hash(script),
            charts=scatter.charts(report.rows),
            chart_size=scatter.SIZE,
            curves=[(history, curve.curve(history)) for history in report.histories],
            curve_width=curve.WIDTH,
            curve_height=curve.HEIGHT,
            drawings=[_drawing(plan) for plan in report.plans],
            fragmentation_limit=FRAGMENTATION_LIMIT_PERCENT,
            table_limit=_TABLE_LIVE,
            verdict_words=VERDICT_WORDS,
            verdict_signs=VERDICT_SIGNS,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breakable=_breakable,
        buffer=buffer_name,
        grouped=grouped,
        moment=moment,
        percentage=percent,
        shown=shown,
        signed=signed,
    )
    environment.globals.update(counted=counted)
    return environment


def _finalized(value: object) -> object:
    """What every expression of the template passes through: no text gets onto the page unseen."""
    return shown(value, _TEXT_LIMIT) if isinstance(value, str) and not isinstance(value, Markup) else value


def _breakable(name: str) -> Markup:
    """A name that may be broken over lines where its words end."""
    return Markup("<wbr>").join(escape(word) for word in re.findall(r"[^_/;.-]+[_/;.-]*|[_/;.-]+", shown(name)))


def _asset(name: str) -> str:
    return files("harness.report").joinpath("assets", name).read_text("utf-8")


def _hash(content: str) -> str:
    """As a Content-Security-Policy names an inline script or style (CSP Level 3, section 2.3.1)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _drawing(plan: MemoryPlan) -> Mapping[str, object]:
    """A plan for the script: short, since a page may hold thousands of bars."""
    long_lived = {(bar.place, bar.first_step) for bar in plan.long_lived}
    return {
        "head": plan.head_bytes,
        "peak": plan.peak.step,
        "steps": [
            [step.step, step.main_operator, shown(step.operator or "", _PLACE_LIMIT), step.live_bytes]
            for step in plan.steps
        ],
        "bars": [_bar(bar, is_long_lived=(bar.place, bar.first_step) in long_lived) for bar in plan.timeline],
    }


def _bar(bar: TimelineBar, *, is_long_lived: bool) -> Sequence[object]:
    kind = "scratch" if bar.kind == "scratch" else "long" if is_long_lived else "tensor"
    shape = "" if bar.shape is None else f"{bar.type} [{', '.join(map(str, bar.shape))}]"
    return [shown(buffer_name(bar)), kind, shape, bar.first_step, bar.last_step, bar.offset_bytes, bar.size_bytes]
