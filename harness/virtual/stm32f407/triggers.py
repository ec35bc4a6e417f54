"""Control commands that wait for a moment that the board itself comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Command = Mapping[str, Any]


@dataclass
class Moment:
    """When something is to happen.

    Attributes:
        kind: `transfer`, `cycle` or `heard`.
        left: how many transfers or cycles are still to pass.
        text: what is to be heard on the serial line.
    """

    kind: str
    left: int = 0
    text: bytes = b""


def parse(description: object) -> Moment:
    """A moment from JSON: one of `{"transfer": N}`, `{"cycle": N}`, `{"heard": TEXT}`.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(description, Mapping) or len(description) != 1:
        raise ValueError(f"no moment: {description!r}")
    ((kind, value),) = description.items()
    if kind in ("transfer", "cycle"):
        return Moment(kind, left=int(value))
    if kind == "heard" and value:
        return Moment(kind, text=str(value).encode())
    raise ValueError(f"no such moment: {kind!r}")


class Triggers:
    """Commands that wait, each for one moment after the other.

    Args:
        execute: carries a command out.
    """

    def __init__(self, execute: Callable[[Command], object]) -> None:
        self._execute = execute
        self._waiting: list[tuple[list[Moment], Command]] = []
        self._heard = b""

    def add(self, moments: Sequence[Moment], command: Command) -> None:
        """Have `command` wait for all of `moments`, the second counted from the first, and so on."""
        self._waiting.append((list(moments), command))

    def clear(self) -> None:
        """Forget all that wait."""
        self._waiting.clear()

    def cycles_left(self, limit: int) -> int:
        """How many cycles may pass, at most `limit`, until a command wants to be carried out."""
        return min([limit, *(moment.left for moment in self._next("cycle"))])

    def note_transfer(self) -> None:
        """A debug transfer is about to be carried out."""
        self._count("transfer", 1)

    def note_cycles(self, cycles: int) -> None:
        """So many cycles have passed."""
        self._count("cycle", cycles)

    def note_heard(self, data: bytes) -> None:
        """These bytes have arrived at the device."""
        longest = max((len(moment.text) for moment in self._next("heard")), default=0)
        if not longest:
            return
        self._heard += data
        self._come_to(lambda moment: bool(moment.text) and moment.text in self._heard)
        self._heard = self._heard[-longest:]

    def _next(self, kind: str) -> list[Moment]:
        """Of this kind, the moments that are waited for now."""
        return [moments[0] for moments, _ in self._waiting if moments[0].kind == kind]

    def _count(self, kind: str, passed: int) -> None:
        for moment in self._next(kind):
            moment.left -= passed
        self._come_to(lambda moment: moment.kind == kind and moment.left <= 0)

    def _come_to(self, has_come: Callable[[Moment], bool]) -> None:
        for entry in [entry for entry in self._waiting if has_come(entry[0][0])]:
            moments, command = entry
            del moments[0]
            if not moments:
                self._waiting.remove(entry)
                self._execute(command)
