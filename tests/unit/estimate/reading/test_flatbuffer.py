from __future__ import annotations

import struct

import pytest

from harness.errors import ModelError
from harness.estimate.reading import flatbuffer
from harness.estimate.reading.flatbuffer import INT32, UINT8, UINT64, FlatBuffer


def buffer(*words: int, tail: bytes = b"") -> FlatBuffer:
    """A flatbuffer from 32-bit words."""
    return FlatBuffer(b"".join(struct.pack("<I", word & 0xFFFFFFFF) for word in words) + tail, "x")


def vtable(*halves: int) -> int:
    """Two 16-bit words as one 32-bit word."""
    low, high = halves
    return low | high << 16


# Byte 0: offset to the table at 20. Byte 8: vtable of 8 bytes for tables of 12, fields at 4 and 8. Byte 20: the table,
# whose first field is 7, and whose second leads 4 bytes on to a vector at byte 32.
GOOD = (20, 0, vtable(8, 12), vtable(4, 8), 0, 12, 7, 4, 2, 10, 11)


def test_fields_and_vectors_are_read() -> None:
    table = buffer(*GOOD).root()
    assert table.integer(4, INT32) == 7
    assert table.numbers(6, INT32) == (10, 11)
    assert table.count(6, 4) == 2


def test_absent_fields_have_defaults() -> None:
    table = buffer(*GOOD).root()
    assert table.integer(8, INT32, default=5) == 5
    assert table.numbers(8, INT32) == ()
    assert table.text(8) is None
    assert table.view(8) is None
    assert table.table(8) is None
    assert table.tables(8) == []
    assert not table.has(8)
    assert table.has(4)


@pytest.mark.parametrize(
    ("position", "value", "words"),
    [
        (0, 0, "offset that leads to byte 0"),
        (0, 22, "offset that leads to byte 22"),
        (0, 4000, "offset that leads to byte 4000"),
        (5, 4000, "table without description"),
        (5, -4000, "table without description"),
        (5, 11, "table without description"),
        (2, vtable(7, 12), "description is broken"),
        (2, vtable(400, 12), "description is broken"),
    ],
)
def test_a_broken_table_is_refused(position: int, value: int, words: str) -> None:
    broken = list(GOOD)
    broken[position] = value
    with pytest.raises(ModelError, match=words):
        buffer(*broken).root()


@pytest.mark.parametrize("offsets", [vtable(4, 24), vtable(4, 400), vtable(4, 10)])
def test_a_field_past_the_end_or_crooked_is_refused(offsets: int) -> None:
    broken = list(GOOD)
    broken[3] = offsets
    with pytest.raises(ModelError, match="field past its end"):
        buffer(*broken).root().numbers(6, INT32)


@pytest.mark.parametrize("sizes", [vtable(0, 12), vtable(2, 12), vtable(8, 2), vtable(8, 400)])
def test_what_the_verifier_of_flatbuffers_does_not_look_at_is_not_refused(sizes: int) -> None:
    odd = list(GOOD)
    odd[2] = sizes
    assert buffer(*odd).root().integer(4, INT32) in {0, 7}


@pytest.mark.parametrize("count", [3, 0x40000000, 0xFFFFFFFF])
def test_a_vector_past_the_end_is_refused(count: int) -> None:
    broken = list(GOOD)
    broken[8] = count
    with pytest.raises(ModelError, match="vector of"):
        buffer(*broken).root().numbers(6, INT32)


def test_a_vector_of_wide_elements_need_not_be_aligned() -> None:
    assert buffer(*GOOD, 0, 0).root().numbers(6, UINT64) == (10 + (11 << 32), 0)


def test_a_string_ends_in_zero() -> None:
    text = (*GOOD[:8], 3)
    assert buffer(*text, tail=b"abc\0").root().text(6) == "abc"
    with pytest.raises(ModelError, match="closing zero"):
        buffer(*text, tail=b"abcd").root().text(6)
    with pytest.raises(ModelError, match="closing zero"):
        buffer(*text, tail=b"abc").root().text(6)


def test_bytes_that_are_no_text_are_escaped() -> None:
    assert buffer(*GOOD[:8], 2, tail=b"\xff\xc3\0\0").root().text(6) == "\\xff\\xc3"


def test_a_view_copies_nothing() -> None:
    root = buffer(*GOOD[:8], 4, tail=b"data")
    view = root.root().view(6)
    assert view is not None
    assert view.obj is root.data
    assert bytes(view) == b"data"


@pytest.mark.parametrize("data", [b"", b"\x08\0\0\0", b"\x04\0\0\0TFL3"])
def test_a_file_that_ends_early_is_refused(data: bytes) -> None:
    with pytest.raises(ModelError):
        FlatBuffer(data, "x").root().integer(4, UINT8)


def test_one_table_named_many_times_does_not_unfold_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = (*GOOD[:8], 4, 16, 12, 8, 4, 44, 7, 4)  # four offsets to one table at byte 52
    assert len(buffer(*shared).root().tables(6)) == 4
    monkeypatch.setattr(flatbuffer, "MAX_TABLES", 3)
    with pytest.raises(ModelError, match="more than 3 tables"):
        buffer(*shared).root().tables(6)


def test_numbers_do_not_unfold_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flatbuffer, "MAX_ELEMENTS", 7)  # the description has 4 words
    table = buffer(*GOOD).root()
    table.numbers(6, INT32)
    with pytest.raises(ModelError, match="more than 7 numbers"):
        table.numbers(6, INT32)


def test_long_names_do_not_unfold_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flatbuffer, "MAX_ELEMENTS", 6)
    with pytest.raises(ModelError, match="more than 6 numbers"):
        buffer(*GOOD[:8], 3, tail=b"abc\0").root().text(6)
