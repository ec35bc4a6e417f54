"""Frames and commands, as the firmware sends and takes them."""

import re
import zlib

import pytest

from harness.device import wire
from tests.support.firmware_script import NONCE

# The program is compiled once for all of them.
pytestmark = pytest.mark.xdist_group("firmware")

HELLO = {"cmd": "hello"}


def test_hello_comes_by_itself_without_a_nonce(talk):
    (frame,) = talk().frames
    assert frame.kind == "hello"
    assert frame.nonce == wire.NO_NONCE
    assert frame.body.values["build_id"] == "0123456789abcdef"
    assert frame.body.values["unit"] == "c0ffee"
    assert frame.body.values["reset"] == "power"


def test_image_crc_is_the_one_of_zlib(talk):
    assert talk().body("hello")["image_crc32"] == 0xCBF43926  # of "123456789", CRC-32's check value


def test_answers_carry_the_nonce_of_the_run(talk):
    assert [frame.nonce for frame in talk(HELLO).frames] == [wire.NO_NONCE, NONCE]


def test_another_nonce_is_refused_until_a_hello_brings_it(talk):
    other = wire.encode_command(0, "aaaaaaaa", {"cmd": "scan"})
    taken = wire.encode_command(1, "aaaaaaaa", HELLO)
    frames = talk(HELLO, other, taken).frames
    assert [(frame.kind, frame.nonce) for frame in frames[2:]] == [("error", NONCE), ("hello", "aaaaaaaa")]
    assert frames[2].body.values["error"] == "bad_nonce"


def test_lines_are_short_and_numbered(talk):
    lines = talk(HELLO).raw.splitlines()
    assert max(map(len, lines)) < 256
    assert [int(line.split()[1]) for line in lines] == list(range(len(lines)))


def test_a_damaged_command_is_answered_at_once(talk):
    line = wire.encode_command(0, NONCE, HELLO)
    for position in (3, 8, 25, len(line) - 2):
        damaged = bytearray(line)
        damaged[position] ^= 1
        assert talk(bytes(damaged)).body("error")["error"] == "bad_crc"


def test_noise_before_the_mark_is_skipped(talk):
    assert len(talk(b"\xff\x00" + wire.encode_command(0, NONCE, HELLO)).bodies("hello")) == 2


def test_carriage_returns_and_empty_lines_are_ignored(talk):
    line = wire.encode_command(0, NONCE, HELLO).replace(b"\n", b"\r\n")
    assert len(talk(b"\n\r\n" + line).bodies("hello")) == 2


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"rubbish\n", "bad_frame"),
        (wire.encode(0, NONCE, "{}", more=True), "bad_frame"),
        (wire.encode_command(0, NONCE, {"cmd": "x" * 5000}), "too_long"),
        (wire.encode_command(0, NONCE, {"cmd": "dance"}), "bad_command"),
        (wire.encode_command(0, NONCE, {"cmd": 1}), "bad_command"),
        (wire.encode_command(0, NONCE, {"cmd": "hello", "inner": {}}), "bad_command"),
        (wire.encode(0, NONCE, '{"cmd":"hello"'), "bad_command"),
        (wire.encode(0, NONCE, '{"cmd":"hello"} x'), "bad_command"),
        (wire.encode(0, NONCE, ""), "bad_command"),
    ],
)
def test_what_is_no_command_is_named(talk, line, error):
    assert talk(line).body("error")["error"] == error


def test_another_protocol_version_is_named(talk):
    line = re.sub(rb"^#H\d+", b"#H9", wire.encode_command(0, NONCE, HELLO))
    head = line.rpartition(b" ")[0]
    assert talk(head + f" {zlib.crc32(head):08x}\n".encode()).body("error")["error"] == "bad_version"


def test_reset_is_confirmed_before_it_happens(talk):
    done = talk({"cmd": "reset"}, HELLO)
    assert done.body("ok") == {"frame": "ok", "cmd": "reset"}
    assert done.exit_code == 10  # what the test's port does on Reset()
