from __future__ import annotations

import pytest

from harness.virtual.faults import CellFaults, LineFaults, SerialFault, SerialFaults
from harness.virtual.line_speed import garbled


def test_stuck_bits_stay_and_flipped_bits_turn():
    faults = CellFaults(stuck_bits={0x101: 0x0F}, flipped_bits={0x102: 0x80})
    assert faults.programmed(0x100, b"\xff\xff\xff", b"\x00\x00\x00") == b"\x00\x0f\x80"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (SerialFault("drop", 1), b"acdef"),
        (SerialFault("drop", 4, None), b"abcd"),
        (SerialFault("duplicate", 0, 2), b"aabbcdef"),
        (SerialFault("garble", 5), b"abcde" + bytes([garbled(ord("f"))])),
    ],
)
def test_serial_faults(fault, expected):
    line = SerialFaults()
    line.inject(fault)
    assert line.apply(b"abc") + line.apply(b"def") == expected


def test_noise_is_inserted_once():
    line = SerialFaults()
    line.inject(SerialFault("noise", 2, 200))
    received = line.apply(b"abcd")
    assert len(received) == 204
    assert (received[:2], received[-2:]) == (b"ab", b"cd")
    assert line.apply(b"efgh") == b"efgh"


def test_a_delay_holds_back_the_rest_of_the_line():
    line = SerialFaults()
    line.inject(SerialFault("delay", first=3, delay_s=2.0))
    assert line.apply(b"abcdef") == b"abcdef"
    assert line.released_bytes(100.0) == 3
    line.note_released(3)
    assert [line.released_bytes(now) for now in (100.0, 101.9, 102.0)] == [0, 0, None]


def test_a_split_stream_comes_byte_by_byte():
    line = SerialFaults()
    line.inject(SerialFault("split", first=1, count=2, delay_s=0.5))
    released = []
    for now in (10.0, 10.4, 10.5, 10.6, 11.1, 11.2):
        count = line.released_bytes(now)
        released.append(count)
        line.note_released(count or 0) if count else None
    assert released == [1, 0, 0, 0, 1, 0]
    line.note_released(1)
    assert line.released_bytes(20.0) is None


def test_a_line_has_a_direction_for_each_receiver():
    line = LineFaults()
    assert line.towards("device") is line.to_device
    assert line.towards("host") is line.from_device
    with pytest.raises(KeyError):
        line.towards("nobody")
