"""The `harness` command, also as `python -m harness`."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

from harness.errors import InterruptedRunError


def main() -> NoReturn:
    """Load the command line and run it."""
    # While it is loaded there is nothing to give back, and a traceback out of an import helps nobody.
    signal.signal(signal.SIGINT, _leave)
    from harness import cli  # noqa: PLC0415 - after the handler is in place

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    os._exit(InterruptedRunError.exit_code)


if __name__ == "__main__":
    main()
