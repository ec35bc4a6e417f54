"""The serial port that esptool is given."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import serial
from serial import rfc2217

from harness.errors import SerialPortError
from harness.files import locks
from harness.files.port_names import RFC2217, TROUBLE_WITH_URLS, URL_HINT, check_port_name, is_url, real_name


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
    check_port_name(name)
    claims.enter_context(locks.hold(real_name(name), SerialPortError))
    try:
        if name.startswith(RFC2217):
            port: Any = QuickRfc2217(name)
        elif is_url(name):
            port = serial.serial_for_url(name)
        else:
            port = serial.Serial(name, exclusive=True)
    except TROUBLE_WITH_URLS as error:
        cable = "is the cable plugged in, and no other program using the port? `harness doctor` lists the ports"
        hint = URL_HINT if is_url(name) else cable
        raise SerialPortError(f"cannot be opened: {error}", where=name, hint=hint) from error
    claims.callback(port.close)
    return port
