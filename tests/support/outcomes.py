"""Outcomes for tests, each with only what its test is about."""

from harness.report.facts import Heading, ReportedAttempt

HEADING = Heading("results.db, sweep 1", "2026-11-29 07:00 UTC", "0.1.0")


def outcome(model="m.tflite", verdict="ok", used_bytes=1000, **more) -> ReportedAttempt:
    measured = used_bytes if verdict in ("ok", "over", "under") else None
    common = {"sha256": "ab", "board": "b", "tflm": "2020-07", "dut": "d"}
    return ReportedAttempt(**{**common, "model": model, "verdict": verdict, "used_bytes": measured, **more})


def night(number: int) -> str:
    return f"2026-11-{number:02}T02:00:00.000Z"
