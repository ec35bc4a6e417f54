"""Record of a talk with a device: what it said besides its answers, how often it started, and its last words."""

from __future__ import annotations

from harness.device.wire import Damaged, Event, LogText
from harness.domain.postmortem import DeviceFault

LOG_LIMIT_LINES = 1000


class Transcript:
    """What is known of a device's lives. A life begins with a start that somebody waited for.

    Attributes:
        boots: how often it has started.
        damaged_lines: lines of its that did not arrive whole.
        fault: its last words in this life.
        arena_bytes: the arena that it was given in this life.
        unit: the chip's own id; empty before its first hello.
        restarted: whether it has started by itself in this life: its memory and registers are of another one.
    """

    def __init__(self) -> None:
        self.boots = 0
        self.damaged_lines = 0
        self.fault: DeviceFault | None = None
        self.arena_bytes: int | None = None
        self.unit = ""
        self.restarted = False
        self._awaited_boots = 0
        self._lines: list[str] = []
        self._dropped_lines = 0

    @property
    def log(self) -> tuple[str, ...]:
        """Everything on the line that was no frame; a flood of it is cut and counted."""
        cut = (f"({self._dropped_lines} more lines)",) if self._dropped_lines else ()
        return (*self._lines, *cut)

    @property
    def length(self) -> int:
        """How many lines are kept."""
        return len(self._lines)

    def lines_since(self, start: int) -> list[str]:
        """The lines that are kept since there were `start` of them."""
        return self._lines[start:]

    @property
    def unexpected_boots(self) -> int:
        """How often it has started although nobody waited for that."""
        return max(0, self.boots - self._awaited_boots)

    def begin_life(self) -> None:
        """A start is waited for: what is known of the life before holds no more."""
        self._awaited_boots += 1
        self.fault = self.arena_bytes = None
        self.restarted = False

    def note_start(self, *, expected: bool) -> None:
        """It says hello."""
        self.boots += 1
        self.restarted = self.restarted or not expected

    def keep(self, event: Event) -> None:
        """Keep what is no frame."""
        if isinstance(event, Damaged):
            self.damaged_lines += 1
        if isinstance(event, Damaged | LogText):
            if len(self._lines) < LOG_LIMIT_LINES:
                self._lines.append(event.text)
            else:
                self._dropped_lines += 1
