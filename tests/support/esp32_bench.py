"""A virtual ESP32 that runs the bare program of `esp32_probe`, and its open serial port."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import serial

from harness.virtual import launcher, link
from harness.virtual.esp32 import memory_map
from harness.virtual.launcher import VirtualBoard

PATIENCE_S = 20.0
READY = b"reset=00000001\r\n"


class Bench:
    """A running board and its open port."""

    def __init__(self, board: VirtualBoard) -> None:
        self.board = board
        self.port = serial.serial_for_url(board.port, 115200, timeout=0.05)
        self._received = b""

    def control(self, do: str, **arguments: object) -> dict[str, object]:
        with link.Client(self.board.socket) as client:
            return client.control({"do": do, **arguments})

    def reset(self) -> None:
        self.port.dtr = False
        self.port.rts = True
        self.port.rts = False

    def until(self, text: bytes) -> bytes:
        """What comes, up to a text that has to come."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self._received:
            assert time.monotonic() < deadline, self._received
            self._received += self.port.read(max(self.port.in_waiting, 1))
        before, _, self._received = self._received.partition(text)
        return before + text

    def ask(self, command: bytes, until: bytes) -> bytes:
        self.port.write(command)
        return self.until(until)


@contextmanager
def starting(folder: Path) -> Iterator[Callable[..., Bench]]:
    """Starts boards with an image at the ROM's offset, their flash in `folder`; ends them with the context."""
    with ExitStack() as stack:

        def start(image: bytes, *more: tuple[int, bytes]) -> Bench:
            path = folder / "unit.flash"
            flash = bytearray(b"\xff" * memory_map.FLASH_BYTES)
            for offset, contents in ((memory_map.BOOT_OFFSET, image), *more):
                flash[offset : offset + len(contents)] = contents
            path.write_bytes(flash)
            board = launcher.start("esp32", f"test-{os.getpid()}", path)
            stack.callback(board.stop)
            bench = Bench(board)
            stack.callback(bench.port.close)
            return bench

        yield start
