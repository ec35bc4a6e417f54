"""Progress on stderr, only when that is a terminal."""

from __future__ import annotations

import sys

from harness.errors import printable

_WIDTH = 24
_CLEAR_LINE = "\r\x1b[K"


class StderrProgress:
    """One line that is rewritten in place; `clear` takes it away."""

    def __init__(self) -> None:
        self._active = sys.stderr is not None and sys.stderr.isatty()  # None: it was closed, as by `2>&-`
        self._shown = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how far `what` is; see ports.Progress."""
        if not self._active:
            return
        filled = _WIDTH * done // total if total else 0
        line = f"{printable(what)} [{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{total}"
        if line != self._shown:
            sys.stderr.write(_CLEAR_LINE + line)
            sys.stderr.flush()
            self._shown = line

    def clear(self) -> None:
        """Leave a clean line behind."""
        if self._shown:
            sys.stderr.write(_CLEAR_LINE)
            sys.stderr.flush()
            self._shown = ""
