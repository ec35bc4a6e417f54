"""The core: QEMU's kc705 machine with the guest shim, as a child process that ends with this one."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from harness.errors import ToolchainError

EMULATOR = "qemu-system-xtensa"
_RAM_MEGABYTES = 1280
"""Up to 0x4FFFFFFF, so that the ESP32's code and data addresses are RAM."""
_ESCAPE = 0xDB
_LITERAL, _WRITE, _START, _EXCEPTION = 0, 1, 2, 3
_WORDS = {_LITERAL: 0, _WRITE: 2, _START: 0, _EXCEPTION: 3}
_READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Started:
    """The firmware's first instruction comes next."""


@dataclass(frozen=True)
class RegisterWrite:
    """The firmware wrote a register that has an effect."""

    address: int
    value: int


@dataclass(frozen=True)
class UnhandledException:
    """The firmware ran into an exception for which it has no vector; the core has stopped.

    Attributes:
        cause: EXCCAUSE.
        pc: EPC1.
        address: EXCVADDR.
    """

    cause: int
    pc: int
    address: int


@dataclass(frozen=True)
class Ended:
    """The emulator has ended, which it never does by itself."""


Happening = bytes | Started | RegisterWrite | UnhandledException | Ended


class ShimDecoder:
    """Takes apart what the shim sends: plain bytes, and what it has to tell."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, data: bytes) -> Iterator[Happening]:
        """What has happened, in order."""
        rest = self._pending + data
        self._pending = b""
        while rest:
            plain, escape, rest = rest.partition(bytes([_ESCAPE]))
            if plain:
                yield plain
            if not escape:
                return
            size = 1 + 4 * _WORDS.get(rest[0], 0) if rest else 1
            if len(rest) < size:
                self._pending = escape + rest
                return
            yield _happening(rest[0], rest[1:size])
            rest = rest[size:]


def _happening(kind: int, payload: bytes) -> Happening:
    words = struct.unpack(f"<{len(payload) // 4}I", payload)
    if kind == _WRITE:
        return RegisterWrite(*words)
    if kind == _EXCEPTION:
        return UnhandledException(*words)
    return Started() if kind == _START else bytes([_ESCAPE])


def require() -> None:
    """Make sure that there is an emulator.

    Raises:
        ToolchainError: there is none.
    """
    if shutil.which(EMULATOR) is None:
        raise ToolchainError(f"no {EMULATOR} for the virtual ESP32", hint="apt-get install qemu-system-misc")


class Qemu:
    """A running core.

    Args:
        elf: what it starts, as `guest.elf` makes it.
    """

    def __init__(self, elf: bytes) -> None:
        image = os.memfd_create("guest.elf")  # no file that a killed process would leave behind
        # Pipes, not sockets: the core sends byte by byte, and a socket's buffer is full of some hundred such pieces.
        guest_input, self._input = os.pipe()
        self._output, guest_output = os.pipe()
        with os.fdopen(image, "wb") as file, os.fdopen(guest_input) as stdin, os.fdopen(guest_output, "w") as stdout:
            file.write(elf)
            file.flush()
            self._process = subprocess.Popen(
                _command(image), stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, pass_fds=(image,)
            )
        for descriptor in (self._input, self._output):
            os.set_blocking(descriptor, False)
        self._decoder = ShimDecoder()
        self._outgoing = bytearray()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def fileno(self) -> int:
        """For waiting until something happens."""
        return self._output

    @property
    def pending(self) -> bool:
        """Whether bytes wait until the core takes them."""
        return bool(self._outgoing)

    def happenings(self) -> Iterator[Happening]:
        """What has happened since the last call."""
        try:
            data = os.read(self._output, _READ_BYTES)
        except BlockingIOError:
            return
        yield from self._decoder.feed(data)
        if not data:
            yield Ended()

    def send(self, data: bytes) -> None:
        """Bytes for UART0's receiver."""
        self._outgoing += data
        self.flush()

    def flush(self) -> None:
        """Hand over what the core has room for."""
        try:
            while self._outgoing:
                del self._outgoing[: os.write(self._input, self._outgoing)]
        except (BlockingIOError, BrokenPipeError):
            pass

    def stop(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        os.close(self._input)
        os.close(self._output)


def _command(elf: int) -> list[str]:
    """QEMU, killed by the kernel when this process ends; `elf` is a descriptor that it inherits."""
    return [
        *("setpriv", "--pdeathsig", "KILL", EMULATOR),
        *("-machine", "kc705", "-cpu", "dc233c", "-m", str(_RAM_MEGABYTES)),
        *("-display", "none", "-monitor", "none", "-nodefaults"),
        *("-chardev", "stdio,id=uart,signal=off", "-serial", "chardev:uart"),
        *("-device", f"loader,file=/proc/self/fd/{elf},cpu-num=0"),
    ]
