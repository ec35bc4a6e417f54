"""A device at frame level, for injecting faults that a real one shows too rarely. It speaks through ports.Line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.bench.boards import load_board
from harness.device.wire import encode
from harness.domain.board import MemoryRegion
from harness.domain.firmware import FirmwareImage, FlashSegment
from harness.domain.recipe import FlashedModel, Subject

Body = dict[str, Any]

HELLO: Body = {
    "frame": "hello",
    "protocol": 1,
    "build_id": "0123456789abcdef",
    "image_crc32": 0x1234,
    "board": "scripted",
    "tflm": "2020-07",
    "unit": "aabbcc",
    "arena_max_bytes": 4096,
    "line_bytes": 1024,
    "clock_hz": 168_000_000,
    "clock_source": "hse",
    "stack_bytes": 8192,
    "reset": "pin",
    "sizes": {"TfLiteTensor": 64},
    "model": {"state": "ok", "size_bytes": 3, "sha256": "ff" * 32},
}
IMAGE = FirmwareImage(
    build_id=HELLO["build_id"],
    board_id=HELLO["board"],
    tflm=HELLO["tflm"],
    tflm_version="",
    toolchain="",
    segment=FlashSegment(0, b""),
    model_region=MemoryRegion(0, 0x1000),
    crc32=HELLO["image_crc32"],
    elf=Path(),
    text_bytes=0,
    ram_bytes=0,
    arena_max_bytes=HELLO["arena_max_bytes"],
)
SHA256: str = HELLO["model"]["sha256"]
SUBJECT = Subject(
    "m.tflite", SHA256, load_board("stm32f407-virtual"), "p1", IMAGE, (FlashedModel(SHA256),), HELLO["sizes"]
)
"""What the scripted device has in flash."""

ALLOCATED: Body = {
    "frame": "allocated",
    "status": "ok",
    "arena_bytes": 4096,
    "used_bytes": 1000,
    "head_bytes": 200,
    "tail_bytes": 800,
    "ticks": 5,
    "paint_ok": True,
    "stack_used_bytes": 100,
    "inputs": [{"type": "int8", "shape": [1, 4], "size_bytes": 4}],
    "outputs": [{"type": "int8", "shape": [1], "size_bytes": 1}],
    "untouched": [[16, 64], [300, 2800]],
}
SCANNED: Body = {
    "frame": "scanned",
    "gap_offset": 200,
    "gap_bytes": 3096,
    "written_bytes": 0,
    "written_first": 0,
    "written_last": 0,
    "tail_untouched_bytes": 8,
    "guard_low_written_bytes": 0,
    "guard_low_first": 0,
    "guard_high_written_bytes": 0,
    "guard_high_first": 0,
    "stack_used_bytes": 120,
    "untouched": [],
}
ANSWERS: Mapping[str, Body] = {
    "hello": HELLO,
    "allocate": ALLOCATED,
    "share": {**ALLOCATED, "used_bytes": 1600, "head_bytes": 300, "tail_bytes": 1300},
    "input": {"frame": "ok", "cmd": "input"},
    "fill": {"frame": "ok", "cmd": "fill"},
    "repaint": {"frame": "ok", "cmd": "repaint"},
    "invoke": {"frame": "invoked", "status": "ok", "ticks": 9, "stack_used_bytes": 110},
    "scan": SCANNED,
    "output": {"frame": "output", "index": 0, "type": "int8", "size_bytes": 1, "hex": "2a"},
}
FAULT: Body = {
    "frame": "fault",
    "kind": "hard_fault",
    "stage": "invoke",
    "text": "",
    **dict.fromkeys(("pc", "lr", "sp", "psr", "cfsr", "hfsr", "mmfar", "bfar"), 0x08000123),
}

# Given a command, the bytes to answer with; None for the usual answer.
Script = Callable[["ScriptedLine", Body], bytes | None]


class ScriptedLine:
    """Answers every command as a good device does, unless the script says otherwise.

    Args:
        script: what to answer instead.
        hello: what every hello says instead.
    """

    port = "/dev/scripted"

    def __init__(self, script: Script | None = None, **hello: object) -> None:
        self._hello = {**HELLO, **hello}
        self.commands: list[Body] = []
        self.resets = 0
        self._script = script
        self._out = bytearray()
        self._sequence = 0
        self._nonce = "00000000"

    def reset(self) -> None:
        self.resets += 1
        self._out.clear()
        self.boot()

    def boot(self, **changes: object) -> None:
        self._sequence = 0
        self._nonce = "00000000"
        self._out += self.frame({**self._hello, **changes})

    def say(self, data: bytes) -> None:
        self._out += data

    def frame(self, body: Body) -> bytes:
        """The body as the device would send it next."""
        line = encode(self._sequence, self._nonce, json.dumps(body))
        self._sequence += 1
        return line

    def read(self, timeout_s: float) -> bytes:
        data = bytes(self._out)
        self._out.clear()
        if not data:
            time.sleep(min(timeout_s, 0.01))  # a real line waits, too, instead of keeping a core busy
        return data

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            _, _, nonce, _, payload = line.split(b" ", 4)
            self._nonce = nonce.decode()
            self._answer(json.loads(payload.rsplit(b" ", 1)[0]))

    def set_control(self, *, dtr: bool, rts: bool) -> None:
        pass

    def close(self) -> None:
        pass

    def _answer(self, command: Body) -> None:
        self.commands.append(command)
        said = self._script(self, command) if self._script else None
        if said is None:
            body = dict(ANSWERS[command["cmd"]])
            if command["cmd"] == "allocate":
                body["arena_bytes"] = command["arena_bytes"]
            said = self.frame(body)
        self._out += said


def changed(name: str, body: Body, *, only_paint: int | None = None) -> Script:
    """A script that answers a command with another body, in all passes or in the one with `only_paint`."""
    paint = [0]

    def script(line: ScriptedLine, command: Body) -> bytes | None:
        paint[0] = command.get("paint", paint[0])
        if command["cmd"] == name and only_paint in (None, paint[0]):
            return line.frame({**body, "arena_bytes": 4096} if name == "allocate" else body)
        return None

    return script


def failing(name: str, body: Body, log: str) -> Script:
    """A script that answers a command with another body, behind a line of log."""
    return lambda line, command: (log.encode() + b"\n" + line.frame(body)) if command["cmd"] == name else None
