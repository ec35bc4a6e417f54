"""The serial port that esptool is given."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import serial
from serial import rfc2217

from harness.errors import SerialPortError
from harness.files import locks

_RFC2217 = "rfc2217://"


class QuickRfc2217(rfc2217.Serial):
    """A remote port that takes a new time-out as its own business.

    pyserial negotiates all settings anew, which takes a fifth of a second, whenever a time-out is assigned; esptool
    assigns one around almost each command.
    """

    @property
    def timeout(self) -> float | None:
        """How long a read may wait, in seconds."""
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._timeout = seconds


def open_port(name: str, claims: ExitStack) -> Any:  # noqa: ANN401 - one of pyserial's classes, which share no base
    """Open a port for this program alone.

    Args:
        name: device path or URL.
        claims: gives back port and lock.

    Raises:
        SerialPortError: it cannot be opened, or another program has it.
    """
    is_url = "://" in name
    claims.enter_context(locks.hold(name if is_url else str(Path(name).resolve()), SerialPortError))
    try:
        if name.startswith(_RFC2217):
            port: Any = QuickRfc2217(name)
        elif is_url:
            port = serial.serial_for_url(name)
        else:
            port = serial.Serial(name, exclusive=True)
    except (OSError, ValueError) as error:
        raise SerialPortError(
            f"cannot be opened: {error}",
            where=name,
            hint="is the cable plugged in, and no other program using the port? `harness doctor` lists the ports",
        ) from error
    claims.callback(port.close)
    return port
