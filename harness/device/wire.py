r"""The serial frames: pure functions on bytes.

A frame is one line, or several, that a person can read in any terminal::

    #H1 17 5f3a9c01 . {"frame":"ok","cmd":"input"} 8d2e11f0

    field    meaning
    #H1      start mark, with the version of this protocol
    17       sequence number of the line, decimal, from 0 at the sender's start
    5f3a9c01 nonce of this run, 8 hex digits; the device says 00000000 until a command has told it one
    .        last line of its frame; `+` when the JSON text goes on in the next line
    {…}      JSON text, or a piece of it cut at any byte; no control characters
    8d2e11f0 CRC-32 (as zlib's) of all bytes from `#` to the blank before it, 8 hex digits

Lines end in `\n`; a `\r` before it is ignored. The device takes its nonce from the first command. Commands are frames
of one line, at most `line_bytes` (of the hello frame) long. Each command is answered by exactly one frame.

Commands (host to device)::

    {"cmd":"hello"}                                    → hello
    {"cmd":"allocate","arena_bytes":N,"paint":170}     → allocated   optional, 0 if left out: "model", "variables" (how
                                                         many resource variables to make room for), "record" (1: tell
                                                         what was allocated for what)
    {"cmd":"share","model":1}                          → allocated   one more model in the arena of the first; optional:
                                                         "variables"
    {"cmd":"input","index":0,"offset":0,"hex":"00ff"}  → ok
    {"cmd":"fill","index":0}                           → ok      a fixed pattern, see below
    {"cmd":"repaint","paint":85}                       → ok      the free middle and the guards, anew
    {"cmd":"invoke","watch":0}                         → invoked   1: look for overruns after each operator
    {"cmd":"scan"}                                     → scanned
    {"cmd":"output","index":0}                         → output
    {"cmd":"reset"}                                    → ok, then the device resets itself

"model" is a model's number in flash, from 0. input, fill, invoke and output take it too: whose tensors, whose Invoke; 0
if left out. Each model lies in flash behind a header of its own (model_image.py), which begins at the next multiple of
16 bytes behind the model before.

Frames (device to host); all numbers are decimal JSON numbers::

    hello      protocol, build_id, image_crc32, board, tflm, unit (the chip's unique id, hex), arena_max_bytes,
               line_bytes, clock_hz, clock_source, stack_bytes, reset (power|pin|software|watchdog|brownout|unknown),
               sizes {name: sizeof}, records (1: this TFLM can record what it allocates), share_max (how many models
               can share an arena; 1: none),
               models [{state (ok|missing|bad_header|bad_crc|other_build|bad_schema), size_bytes, sha256}, …]: what lies
               in flash, as far as there are sound headers; model: the first of them
               Sent once by itself after each reset, with nonce 00000000.
    allocated  status (ok|error), arena_bytes, used_bytes, head_bytes, tail_bytes (of all models in the arena), ticks,
               paint_ok, stack_used_bytes, inputs and outputs [{type, shape, size_bytes}] (of this model),
               untouched [[offset, size_bytes], …]
               when recorded: sections {name: {requested_bytes, used_bytes, count}}; the names are eval_tensors,
               persistent_tensors, persistent_quantization, persistent_buffers, variables, node_and_registration and
               op_data
    invoked    status (ok|error), ticks, stack_used_bytes; when watched, of the first operator that wrote where nothing
               may be written: operator, operator_name, operator_function
    scanned    gap_offset, gap_bytes: the longest run between head and tail that still is paint
               written_bytes, written_first, written_last: bytes between head and tail that are no longer paint
               tail_untouched_bytes, guard_low_written_bytes, guard_low_first, guard_high_written_bytes,
               guard_high_first, stack_used_bytes, untouched [[offset, size_bytes], …] in the whole arena
    output     index, type, size_bytes, hex
    ok         cmd
    error      error (a word), text. `unsupported`: this TFLM cannot do it
    fault      kind (hard_fault|bus_fault|mem_manage|usage_fault|nmi|abort|stack_overflow|hang), stage (boot|idle|
               allocate|input|invoke|scan|output), pc, lr, sp, text. Sent by itself
               where the core itself has found the fault: the registers of its family (harness/families), by the names
               that its manual gives them, lower case
               while an operator runs: operator (its number), operator_name, operator_function (its kernel's address)

lr is where the code would have returned to, and sp the stack pointer, whatever the core calls these registers.

The fill pattern: element i of an integer tensor is (i·37 + 11) mod 256, its low byte first, upper bytes zero; of a
float tensor 1.0 + 0.5·(i mod 16).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.errors import ProtocolError
from harness.files.fields import Fields

VERSION = 1
NO_NONCE = "00000000"

# A line longer than this is no frame of ours; without a bound, binary noise would fill the memory.
MAX_LINE_BYTES = 4096
# An output tensor in hex is the largest thing a frame carries; more than this, no arena holds.
MAX_FRAME_BYTES = 8 * 1024 * 1024

_OTHER_BUILD = "the firmware is of another build; flash it anew: --force-flash"

_MARK = b"#H"
_LINE = re.compile(rb"#H(\d{1,3}) (\d{1,10}) ([0-9a-f]{8}) ([.+]) ([\x20-\xff]*) ([0-9a-f]{8})")


@dataclass(frozen=True)
class Frame:
    """A frame that arrived whole.

    Attributes:
        kind: the value of its `frame` key.
        nonce: whose run it belongs to.
        body: its fields; one that is missing or of another type is a ProtocolError.
    """

    kind: str
    nonce: str
    body: Fields


@dataclass(frozen=True)
class OtherVersion:
    """A sound line of a firmware that speaks another version of this protocol."""

    version: int


@dataclass(frozen=True)
class LogText:
    """A line, or the rest of one, that is no frame: boot noise, TFLM's log."""

    text: str


@dataclass(frozen=True)
class Damaged:
    """Something that began as a frame and did not arrive whole."""

    text: str


Event = Frame | OtherVersion | LogText | Damaged


def encode(sequence: int, nonce: str, payload: str, *, more: bool = False) -> bytes:
    """One line, its newline included.

    Args:
        sequence: number of the line.
        nonce: 8 hex digits.
        payload: JSON text, or a piece of it, without control characters.
        more: whether the JSON text goes on in the next line.
    """
    head = f"#H{VERSION} {sequence} {nonce} {'+' if more else '.'} {payload}".encode()
    return head + f" {zlib.crc32(head):08x}\n".encode()


def encode_command(sequence: int, nonce: str, command: Mapping[str, object]) -> bytes:
    """A command as the device takes it: one line."""
    return encode(sequence, nonce, json.dumps(command, separators=(",", ":")))


@dataclass
class Decoder:
    """Turns a stream of bytes, in pieces of any size, into events.

    Attributes:
        frame_lines: how many lines of the frame that is arriving, or arrived last, came undamaged.
    """

    frame_lines: int = 0
    _pending: bytearray = field(default_factory=bytearray)
    _parts: bytearray = field(default_factory=bytearray)
    _next_line: tuple[bytes, int] | None = None  # nonce and sequence number that would continue the frame

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that `data` completes."""
        self._pending += data
        while (end := self._pending.find(b"\n")) >= 0:
            line = bytes(self._pending[:end])
            del self._pending[: end + 1]
            yield from self._line(line.rstrip(b"\r"))
        if len(self._pending) > MAX_LINE_BYTES:
            yield LogText(_readable(bytes(self._pending)))
            self._pending.clear()

    @property
    def unfinished(self) -> str:
        """What has arrived of a line that has not ended."""
        return _readable(bytes(self._pending))

    def _line(self, line: bytes) -> Iterator[Event]:
        start = line.find(_MARK)
        while start >= 0:
            match = _LINE.fullmatch(line, start)
            if match and zlib.crc32(line[start : match.end(5)]) == int(match[6], 16):
                if line[:start].strip():
                    yield LogText(_readable(line[:start]))
                yield from self._sound_line(match)
                return
            start = line.find(_MARK, start + 1)
        if _MARK in line:
            yield Damaged(_readable(line))
        elif line.strip():
            yield LogText(_readable(line))

    def _sound_line(self, match: re.Match[bytes]) -> Iterator[Event]:
        version, sequence, nonce, more, payload = int(match[1]), int(match[2]), match[3], match[4], match[5]
        if version != VERSION:
            yield OtherVersion(version)
            return
        self.frame_lines = self.frame_lines + 1 if self._next_line == (nonce, sequence) else 1
        if self._next_line not in (None, (nonce, sequence)):  # its middle was lost, or the device began anew
            yield Damaged(_readable(bytes(self._parts)))
            self._parts.clear()
        self._parts += payload
        if more == b"+" and len(self._parts) <= MAX_FRAME_BYTES:
            self._next_line = (nonce, sequence + 1)
            return
        yield _frame(bytes(self._parts), nonce.decode())
        self._parts.clear()
        self._next_line = None


def _frame(text: bytes, nonce: str) -> Frame | Damaged:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return Damaged(_readable(text))
    if not isinstance(body, dict) or not isinstance(body.get("frame"), str):
        return Damaged(_readable(text))
    return Frame(body["frame"], nonce, Fields(f"frame {body['frame']!r}", body, ProtocolError, _OTHER_BUILD))


def _readable(line: bytes) -> str:
    """Text from the line for logs and messages: control characters and bytes that are no UTF-8 are escaped."""
    text = line.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in text)
