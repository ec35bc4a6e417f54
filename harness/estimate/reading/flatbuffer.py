"""Reading a flatbuffer that nobody has vouched for.

Python's `flatbuffers` has no verifier, and its accessors follow any offset. Here every offset, length and alignment is
checked at the moment it is used, by the rules of flatbuffers' own verifier (include/flatbuffers/verifier.h) and no
stricter: nothing outside the file is read, and what this reads without an error, a C++ reader that does not verify can
read as well. Offsets and lengths lie at multiples of 4, scalar fields at multiples of their size. What a vector holds
need not be aligned beyond its length: older builders put 8-byte numbers at 4 mod 8, where 32-bit cores read them too.
"""

from __future__ import annotations

import struct
from typing import Final

from harness.errors import ModelError

INT8: Final = struct.Struct("<b")
UINT8: Final = struct.Struct("<B")
UINT16: Final = struct.Struct("<H")
INT32: Final = struct.Struct("<i")
UINT32: Final = struct.Struct("<I")
UINT64: Final = struct.Struct("<Q")
FLOAT32: Final = struct.Struct("<f")

MAX_TABLES: Final = 200_000
"""A file may point at one table from many places, so that a small file unfolds into a huge one."""

MAX_ELEMENTS: Final = 2_000_000
"""Numbers and letters that are unpacked, over the whole file; constant data is not unpacked."""


class FlatBuffer:
    """The bytes of a file, and how much may still be read from it.

    Args:
        data: the whole file.
        name: what messages call the file.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self._tables_left = MAX_TABLES
        self._elements_left = MAX_ELEMENTS
        self._vtables: dict[int, tuple[int, ...]] = {}

    def root(self) -> Table:
        """The outermost table.

        Raises:
            ModelError: the file is too short, or points outside itself.
        """
        if len(self.data) < 8:
            raise self.damaged("ends before its first table", 0)
        return self.table(self.follow(0))

    def damaged(self, how: str, position: int) -> ModelError:
        """The error for a file that breaks a rule at byte `position`."""
        return ModelError(
            f"the flatbuffer {how}",
            where=f"{self.name}, byte {position}",
            measured=f"a file of {len(self.data)} bytes",
            hint="the file is truncated or damaged: convert or download it again",
        )

    def follow(self, position: int) -> int:
        """Where the offset stored at `position` leads to."""
        (offset,) = UINT32.unpack_from(self.data, position)
        target: int = position + offset
        if offset == 0 or target + 4 > len(self.data) or target % 4:
            raise self.damaged(f"has an offset that leads to byte {target}", position)
        return target

    def table(self, position: int) -> Table:
        """The table at `position`, which lies inside the file."""
        self._tables_left -= 1
        if self._tables_left < 0:
            raise self.damaged(f"unfolds into more than {MAX_TABLES} tables", position)
        (distance,) = INT32.unpack_from(self.data, position)
        vtable = position - distance
        if vtable not in self._vtables:
            self._vtables[vtable] = self._read_vtable(vtable)
        return Table(self, position, self._vtables[vtable])

    def _read_vtable(self, position: int) -> tuple[int, ...]:
        """A vtable's 16-bit words: its size, its tables' size, then one offset per field."""
        if position < 0 or position + 2 > len(self.data) or position % 2:
            raise self.damaged("has a table without description", position)
        (vtable_bytes,) = UINT16.unpack_from(self.data, position)
        if vtable_bytes % 2 or position + vtable_bytes > len(self.data):
            raise self.damaged("has a table whose description is broken", position)
        self.spend(vtable_bytes // 2, position)
        return struct.unpack_from(f"<{vtable_bytes // 2}H", self.data, position)

    def spend(self, elements: int, position: int) -> None:
        """Count elements that are about to be unpacked."""
        self._elements_left -= elements
        if self._elements_left < 0:
            raise self.damaged(f"unfolds into more than {MAX_ELEMENTS} numbers", position)


class Table:
    """One table. Fields are named by their vtable offset: 4 for the first, 6 for the second, and so on."""

    __slots__ = ("_buffer", "_offsets", "position")

    def __init__(self, buffer: FlatBuffer, position: int, offsets: tuple[int, ...]) -> None:
        self._buffer = buffer
        self.position = position
        self._offsets = offsets

    def has(self, field: int) -> bool:
        """Whether the field is there."""
        return self._place(field, 1) != 0

    @property
    def fields(self) -> list[int]:
        """The fields that are there."""
        return [2 * number for number, offset in enumerate(self._offsets) if number >= 2 and offset]

    def pointer(self, field: int) -> int | None:
        """Where the offset itself is stored that leads to a field's table, vector or string; None when absent."""
        return self._place(field, 4) or None

    def target(self, field: int) -> int | None:
        """Where the table, vector or string lies that a field points to; None when absent."""
        place = self._place(field, 4)
        return self._buffer.follow(place) if place else None

    def integer(self, field: int, kind: struct.Struct, default: int = 0) -> int:
        """A whole number, or truth value."""
        place = self._place(field, kind.size)
        return int(kind.unpack_from(self._buffer.data, place)[0]) if place else default

    def real(self, field: int, default: float = 0.0) -> float:
        """A 32-bit floating-point number."""
        place = self._place(field, 4)
        return float(FLOAT32.unpack_from(self._buffer.data, place)[0]) if place else default

    def text(self, field: int) -> str | None:
        """A string; bytes that are not UTF-8 are shown as escapes."""
        found = self._vector(field, 1)
        if found is None:
            return None
        start, count = found
        data = self._buffer.data
        if start + count >= len(data) or data[start + count] != 0:
            raise self._buffer.damaged("has a string without its closing zero byte", start)
        self._buffer.spend(count, start)
        return data[start : start + count].decode("utf-8", "backslashreplace")

    def numbers(self, field: int, kind: struct.Struct) -> tuple[int, ...]:
        """A vector of whole numbers, unpacked; empty when absent."""
        found = self._vector(field, kind.size)
        if found is None:
            return ()
        start, count = found
        self._buffer.spend(count, start)
        return struct.unpack_from(f"<{count}{kind.format[-1]}", self._buffer.data, start)

    def count(self, field: int, element_bytes: int) -> int:
        """The length of a vector whose elements are not wanted."""
        found = self._vector(field, element_bytes)
        return found[1] if found else 0

    def view(self, field: int) -> memoryview | None:
        """A vector of bytes, not copied; None when absent."""
        found = self._vector(field, 1)
        return memoryview(self._buffer.data)[found[0] : found[0] + found[1]] if found else None

    def table(self, field: int) -> Table | None:
        """A table that this one points to."""
        place = self._place(field, 4)
        return self._buffer.table(self._buffer.follow(place)) if place else None

    def tables(self, field: int) -> list[Table]:
        """A vector of tables; empty when absent."""
        found = self._vector(field, 4)
        if found is None:
            return []
        start, count = found
        buffer = self._buffer
        return [buffer.table(buffer.follow(place)) for place in range(start, start + 4 * count, 4)]

    def _place(self, field: int, size: int) -> int:
        """Where a field's value lies; 0 when it is absent."""
        number = field >> 1
        offset = self._offsets[number] if number < len(self._offsets) else 0
        if offset == 0:
            return 0
        place = self.position + offset
        if place + size > len(self._buffer.data) or place % size:
            raise self._buffer.damaged("has a field past its end, or at a crooked address", place)
        return place

    def _vector(self, field: int, element_bytes: int) -> tuple[int, int] | None:
        """Where a vector's first element lies, and how many there are."""
        place = self._place(field, 4)
        if place == 0:
            return None
        buffer = self._buffer
        header = buffer.follow(place)
        (count,) = UINT32.unpack_from(buffer.data, header)
        start = header + 4
        if start + count * element_bytes > len(buffer.data):
            raise buffer.damaged(f"has a vector of {count} elements that runs past its end", header)
        return start, count
