from __future__ import annotations

import sys

import pytest

from harness.cli.progress import StderrProgress


def test_nothing_is_shown_where_standard_error_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    progress = StderrProgress()
    progress("compile", 1, 2)
    progress.clear()
    assert progress._shown == ""
