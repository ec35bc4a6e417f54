"""Typed access to decoded JSON and TOML, with errors that name place, key, what was found and what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from harness.errors import HarnessError

_T = TypeVar("_T")

_FOUND_LIMIT = 80
# JSON and TOML hold whole numbers of any length; what counts bytes, ticks or addresses fits.
_MOST_BITS = 63


@dataclass(frozen=True)
class Fields:
    """The object or table at one place of a document.

    Attributes:
        place: where it stands, for messages.
        values: what it holds.
        error: the class of error to raise.
        hint: the advice that goes with it.
    """

    place: str
    values: Mapping[str, object]
    error: type[HarnessError]
    hint: str = ""

    def has(self, key: str) -> bool:
        """Whether the key is there, and not null."""
        return self.values.get(key) is not None

    def text(self, key: str) -> str:
        """A string."""
        return self._value(key, str, "a text")

    def integer(self, key: str, least: int | None = None, most: int | None = None) -> int:
        """A whole number, within bounds if there are any."""
        value = self._value(key, int, "a whole number")
        if (least is not None and value < least) or (most is not None and value > most):
            raise self.wrong(key, f"a whole number {_bounds(least, most)}")
        return value

    def count(self, key: str) -> int:
        """A number that is never negative: bytes, offsets, ticks, registers."""
        return self.integer(key, least=0)

    def integer_or_none(self, key: str) -> int | None:
        """A whole number, or null."""
        return self.integer(key) if self.has(key) else None

    def number(self, key: str, least: float, most: float) -> float:
        """A whole or fractional number within bounds."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.wrong(key, f"a number {_bounds(least, most)}")
        return float(value)

    def truth(self, key: str) -> bool:
        """True or false."""
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def data(self, key: str) -> bytes:
        """Bytes, written as hex digits."""
        try:
            return bytes.fromhex(self.text(key))
        except ValueError:
            raise self.wrong(key, "hex digits") from None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        return tuple(self._items(key, str, "texts"))

    def integers(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        return tuple(self._items(key, int, "whole numbers"))

    def pairs(self, key: str) -> tuple[tuple[int, int], ...]:
        """A list of pairs of whole numbers, such as offset and size."""
        pairs = self._items(key, list, "pairs of numbers")
        if not all(len(pair) == 2 and all(isinstance(part, int) for part in pair) for pair in pairs):
            raise self.wrong(key, "a list of pairs of numbers")
        return tuple((pair[0], pair[1]) for pair in pairs)

    def inner(self, key: str) -> Fields:
        """The object inside this one."""
        return replace(self, place=f"{self.place}.{key}", values=self._value(key, dict, "a table"))

    def inners(self, key: str) -> tuple[Fields, ...]:
        """A list of objects."""
        items = self._items(key, dict, "tables")
        return tuple(
            replace(self, place=f"{self.place}.{key}[{number}]", values=item) for number, item in enumerate(items)
        )

    def all_texts(self) -> dict[str, str]:
        """Every key, each with a string."""
        return {key: self.text(key) for key in self.values}

    def all_integers(self) -> dict[str, int]:
        """Every key, each with a whole number."""
        return {key: self.integer(key) for key in self.values}

    def wrong(self, key: str, expected: str) -> HarnessError:
        """The error that says what is wrong with a key."""
        missing = key not in self.values
        return self.error(
            "missing key" if missing else "wrong value",
            where=f"{self.place}: {key}",
            measured=None if missing else _shown(self.values[key]),
            expected=expected,
            hint=self.hint,
        )

    def _value(self, key: str, kind: type[_T], expected: str) -> _T:
        value = self.values.get(key)
        if not _is(value, kind):
            raise self.wrong(key, expected)
        return value  # type: ignore[return-value]  # _is has just made sure of it

    def _items(self, key: str, kind: type[_T], expected: str) -> list[_T]:
        items = self.values.get(key)
        if not isinstance(items, list) or not all(_is(item, kind) for item in items):
            raise self.wrong(key, f"a list of {expected}")
        return items


def objects_in(items: object, place: str, error: type[HarnessError], hint: str) -> list[Fields]:
    """The objects of a list that was read from JSON.

    Args:
        items: what was read.
        place: where it stands, for messages.
        error: the class of error to raise, here and for what is wrong with the objects.
        hint: the advice that goes with it.

    Raises:
        HarnessError: of the class `error`; this is no such list.
    """
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise error("this is no list of objects", where=place, hint=hint)
    return [Fields(f"{place}[{number}]", item, error, hint) for number, item in enumerate(items)]


def _is(value: object, kind: type) -> bool:
    """Whether `value` is of `kind`; true and false are no numbers here, as they are in Python."""
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _MOST_BITS
    return isinstance(value, kind)


def _shown(value: object) -> str:
    try:
        return repr(value)[:_FOUND_LIMIT]
    except ValueError:  # Python refuses to write out numbers of thousands of digits
        return "a number of thousands of digits"


def _bounds(least: float | None, most: float | None) -> str:
    if most is None:
        return f"of {least} or more"
    return f"from {least} to {most}" if least is not None else f"of {most} or less"
