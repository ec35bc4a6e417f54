import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.device.wire import MAX_LINE_BYTES, Damaged, Decoder, Frame, LogText, OtherVersion, encode, encode_command
from harness.errors import ProtocolError

NONCE = "5f3a9c01"
TEXT = '{"frame":"ok","cmd":"input"}'


def events(*pieces: bytes) -> list[object]:
    decoder = Decoder()
    return [event for piece in pieces for event in decoder.feed(piece)]


def test_a_frame_is_readable_text_and_comes_back():
    line = encode(17, NONCE, TEXT)
    assert line.startswith(b'#H1 17 5f3a9c01 . {"frame":"ok","cmd":"input"} ')
    (frame,) = events(line)
    assert isinstance(frame, Frame)
    assert (frame.kind, frame.nonce, frame.body.text("cmd")) == ("ok", NONCE, "input")


def test_a_command_is_one_line():
    line = encode_command(1, NONCE, {"cmd": "allocate", "arena_bytes": 1024})
    assert line.count(b"\n") == 1
    assert b'{"cmd":"allocate","arena_bytes":1024}' in line


def test_long_frames_are_joined_from_pieces():
    (frame,) = events(encode(3, NONCE, TEXT[:5], more=True), encode(4, NONCE, TEXT[5:]))
    assert isinstance(frame, Frame)
    assert frame.kind == "ok"


def test_a_lost_middle_line_is_damage_and_the_next_frame_is_good():
    lines = [encode(3, NONCE, TEXT[:5], more=True), encode(5, NONCE, TEXT[9:]), encode(6, NONCE, TEXT)]
    found = events(*lines)
    assert [type(event) for event in found] == [Damaged, Damaged, Frame]


def test_a_reset_within_a_frame_drops_its_first_half():
    found = events(encode(30, NONCE, TEXT[:5], more=True), encode(0, "00000000", TEXT))
    assert [type(event) for event in found] == [Damaged, Frame]


@given(st.lists(st.integers(1, 40), max_size=30))
def test_any_cut_of_the_stream_gives_the_same_events(cuts):
    stream = b"boot\r\n" + encode(1, NONCE, TEXT) + b"noise" + encode(2, NONCE, TEXT) + b"\xff\xfe\n"
    whole = events(stream)
    pieces, start = [], 0
    for cut in cuts:
        pieces.append(stream[start : start + cut])
        start += cut
    assert events(*pieces, stream[start:]) == whole
    assert [type(event) for event in whole] == [LogText, Frame, LogText, Frame, LogText]


def test_half_a_frame_before_a_good_one_on_the_same_line():
    found = events(b"#H1 8 5f3a9c01 . {" + encode(9, NONCE, TEXT))
    assert isinstance(found[-1], Frame)


@given(st.integers(0, len(encode(1, NONCE, TEXT)) - 2), st.integers(1, 255))
def test_no_changed_byte_goes_unnoticed(position, flip):
    line = bytearray(encode(1, NONCE, TEXT))
    line[position] ^= flip
    assert not any(isinstance(event, Frame) for event in events(bytes(line)))


@given(st.binary(max_size=3000))
def test_noise_never_raises_and_never_makes_a_frame(noise):
    assert not any(isinstance(event, Frame) for event in events(noise + b"\n"))


def test_noise_without_line_ends_does_not_fill_the_memory():
    decoder = Decoder()
    for _ in range(100):
        list(decoder.feed(b"x" * 1000))
    assert len(decoder._pending) <= MAX_LINE_BYTES


def test_another_version_is_named():
    line = b"#H7 1 5f3a9c01 . {}"
    assert events(line + f" {zlib.crc32(line):08x}\r\n".encode()) == [OtherVersion(7)]


@pytest.mark.parametrize("text", ["[1]", '{"frame":1}', "{}", '"x"', "[" * 3000])
def test_json_that_is_no_frame_is_damage(text):
    assert [type(event) for event in events(encode(1, NONCE, text))] == [Damaged]


def test_log_text_is_made_printable():
    assert events(b"\x1b[31mred\xff\n") == [LogText("\\x1b[31mred\\xff")]


def test_a_field_that_is_missing_or_of_another_type_is_a_protocol_error():
    (frame,) = events(encode(1, NONCE, '{"frame":"scanned","gap_bytes":"12"}'))
    assert isinstance(frame, Frame)
    for key in ("gap_bytes", "gap_offset"):
        with pytest.raises(ProtocolError, match=r"value|key") as caught:
            frame.body.count(key)
        assert f"frame 'scanned': {key}" in str(caught.value)
