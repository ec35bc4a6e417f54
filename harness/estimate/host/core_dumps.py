"""Crashes of the wheel are expected, and worth no files."""

from __future__ import annotations

from contextlib import suppress


def leave_no_core_dumps() -> None:
    """Have this process leave no file behind when it crashes, where systems would write one."""
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - not every system has it

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
