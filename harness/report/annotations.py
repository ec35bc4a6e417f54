"""Findings as workflow commands, which GitHub and compatible CI services show beside a change."""

from __future__ import annotations

from harness.domain.finding import Checked


def workflow_commands(row: Checked, allowed: frozenset[str]) -> list[str]:
    """One line per finding: an error, or a notice for kinds that are allowed."""
    figure = row.figure
    lines = []
    for finding in row.findings:
        level = "notice" if finding.kind in allowed else "error"
        title = f"{figure.name} on {figure.board}: {finding.kind}"
        lines.append(f"::{level} title={_property(title)}::{_data(finding.message)}")
    return lines


def _data(text: str) -> str:
    """Escaped as the workflow commands' documentation says, so that no name can begin a command of its own."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
