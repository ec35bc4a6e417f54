"""Serial lines by pySerial: local ports, and its URLs such as `rfc2217://host:port` and `socket://host:port`."""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.domain.dut import SerialPort
from harness.errors import SerialPortError
from harness.files import locks
from harness.files.port_names import RFC2217, TROUBLE_WITH_URLS, URL_HINT, check_port_name, is_url, real_name
from harness.ports import Line
from harness.transports.rivals import processes_using

if TYPE_CHECKING:
    import serial  # where a port is opened, and no sooner: not every system that has harness can load it

_NO_MODEM_LINES = (errno.ENOTTY, errno.EINVAL)
_CHUNK_BYTES = 65536
_WRITE_TIMEOUT_S = 5.0
_CAN_WAIT_FOR_A_PORT = os.name == "posix"
_POLL_S = 0.002
"""How often a line without a file descriptor is looked at."""


class SerialTransport:
    """Opens serial lines."""

    def ports(self) -> Sequence[SerialPort]:
        """The serial ports of this machine that a device stands behind, by name.

        Raises:
            SerialPortError: pySerial does not work on this system.
        """
        list_ports = _pyserial("serial.tools.list_ports")
        found = sorted(list_ports.comports(), key=lambda each: str(each.device))
        return [SerialPort(each.device, each.description or "", each.serial_number or "") for each in found]

    def open(self, port: str, baud_rate: int) -> Line:
        """Open `port` for this program alone and throw away what it still held.

        DTR and RTS stay as pySerial's open leaves them: a pseudo-terminal has none and refuses to set them.

        Raises:
            SerialPortError: it does not exist, may not be opened, or is in use (by which process).
        """
        check_port_name(port)
        name = real_name(port)
        with ExitStack() as claims:
            claims.enter_context(locks.hold(name, SerialPortError))
            if not is_url(port):
                _refuse_rivals(Path(name))
            line = _open(port, name, baud_rate)
            claims.callback(line.close)
            kept = claims.pop_all()
        return SerialLine(port, line, kept)


class SerialLine:
    """An open serial line.

    Args:
        port: its name, for messages.
        line: pySerial's object, whose reads do not wait.
        claims: what to give back on close: the lock and the line itself.
    """

    def __init__(self, port: str, line: serial.Serial, claims: ExitStack) -> None:
        self._port = port
        self._line = line
        self._claims = claims

    @property
    def port(self) -> str:
        """Its device path or URL."""
        return self._port

    def read(self, timeout_s: float) -> bytes:
        """What has arrived, waiting at most `timeout_s` seconds for the first byte; empty when nothing came.

        Raises:
            SerialPortError: the port is gone.
        """
        deadline = time.monotonic() + timeout_s
        try:
            while not (data := self._take()):
                remaining_s = deadline - time.monotonic()
                if remaining_s <= 0:
                    return b""
                self._wait(remaining_s)
        except OSError as error:
            raise _gone(self._port, error) from error
        return data

    def write(self, data: bytes) -> None:
        """Send all of `data`.

        Raises:
            SerialPortError: the port is gone, or does not take the bytes.
        """
        try:
            self._line.write(data)
        except OSError as error:
            if isinstance(error, _pyserial().SerialTimeoutException):
                raise SerialPortError(
                    "the port does not take the bytes",
                    where=self._port,
                    expected=f"{len(data)} bytes gone within {_WRITE_TIMEOUT_S:g} s",
                    hint="is flow control on, or the far end stuck?",
                ) from error
            raise _gone(self._port, error) from error

    def set_control(self, *, dtr: bool, rts: bool) -> None:
        """Assert or release the modem lines, first DTR, then RTS.

        Raises:
            SerialPortError: the port is gone, or has no such lines.
        """
        try:
            self._line.dtr = dtr
            self._line.rts = rts
        except OSError as error:
            if error.errno in _NO_MODEM_LINES:
                raise SerialPortError(
                    "the port has no DTR and RTS lines",
                    where=self._port,
                    hint="a pseudo-terminal has none: reset the board by another way, or use its own port",
                ) from error
            raise _gone(self._port, error) from error

    def close(self) -> None:
        """Give the port back. Never raises."""
        with suppress(OSError):
            self._claims.close()

    def _take(self) -> bytes:
        """What has arrived, without waiting. PySerial gives the bytes of an RFC 2217 line one by one."""
        if self._port.startswith(RFC2217):
            return b"".join(self._line.read(1) for _ in range(max(1, self._line.in_waiting)))
        return bytes(self._line.read(_CHUNK_BYTES))

    def _wait(self, timeout_s: float) -> None:
        """Until something may have arrived. pySerial's own time-out would renegotiate an RFC 2217 line each time."""
        if _CAN_WAIT_FOR_A_PORT and isinstance(self._line, _pyserial().Serial):
            select.select([self._line.fileno()], [], [], timeout_s)
        else:
            time.sleep(min(_POLL_S, timeout_s))


def _pyserial(module: str = "serial") -> Any:  # noqa: ANN401 - a module
    """A module of pySerial's.

    Raises:
        SerialPortError: it cannot be loaded.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise SerialPortError(
            f"pySerial does not work on this system: {error}", hint="pip install --force-reinstall pyserial"
        ) from error


def _open(port: str, name: str, baud_rate: int) -> serial.Serial:
    """An open line, emptied of what had arrived. For a URL it is another class with the same methods."""
    options: dict[str, Any] = {"timeout": 0, "baudrate": baud_rate}
    if not is_url(port):
        options["exclusive"] = True
    if not port.startswith(RFC2217):
        options["write_timeout"] = _WRITE_TIMEOUT_S  # RFC 2217 lines have none
    try:
        line: serial.Serial = _pyserial().serial_for_url(port if is_url(port) else name, **options)
        line.reset_input_buffer()
    except TROUBLE_WITH_URLS as error:
        raise _cannot_open(port, error) from error
    return line


def _refuse_rivals(device: Path) -> None:
    """Most programs take no lock on a serial port; two that read it each get half of what arrives."""
    rivals = processes_using(device)
    if rivals:
        raise SerialPortError(
            "in use",
            where=device,
            measured=f"opened by {', '.join(map(str, rivals))}",
            hint="end that program, or choose another port with --port",
        )


_ADVICE: Mapping[int | None, tuple[str, str]] = {
    errno.ENOENT: ("no such port", "is the cable plugged in? `harness doctor` lists the ports"),
    errno.ENXIO: ("no device behind this port", "is the cable plugged in? `harness doctor` lists the ports"),
    errno.ENODEV: ("no device behind this port", "is the cable plugged in? `harness doctor` lists the ports"),
    errno.EACCES: (
        "no permission",
        "sudo usermod -aG dialout $USER and log in anew, or add the udev rule that `harness doctor --udev` prints",
    ),
    errno.EPERM: (
        "no permission",
        "sudo usermod -aG dialout $USER and log in anew, or add the udev rule that `harness doctor --udev` prints",
    ),
    errno.EBUSY: ("in use by another program", "end that program, or choose another port with --port"),
    errno.EAGAIN: ("locked by another program", "end that program, or choose another port with --port"),
}


def _cannot_open(port: str, error: Exception) -> SerialPortError:
    number = error.errno if isinstance(error, OSError) and not is_url(port) else None
    other = f"cannot be opened: {error}", URL_HINT if is_url(port) else "check the port's name and its far end"
    what, hint = _ADVICE.get(number, other)
    return SerialPortError(what, where=port, hint=hint)


def _gone(port: str, error: OSError) -> SerialPortError:
    return SerialPortError(f"the port is gone: {error}", where=port, hint="check cable and power, then run again")
