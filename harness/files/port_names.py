"""What serial ports are called: device paths, COM ports, and pySerial's URLs. Opening them is not done here."""

from __future__ import annotations

import os
import re
from pathlib import Path

from harness.errors import SerialPortError

RFC2217 = "rfc2217://"
_LOOP = "loop://"

TROUBLE_WITH_URLS = (OSError, ValueError, LookupError, TypeError, AttributeError, ImportError, re.error)
"""What pySerial's URL handlers raise for a URL that they cannot make sense of."""

URL_HINT = "URLs that lead to a device: rfc2217://HOST:PORT and socket://HOST:PORT; is it running there, and reachable?"


def is_url(port: str) -> bool:
    """Whether a port is named by a URL."""
    return "://" in port


def real_name(port: str) -> str:
    """The one name of a port that may have several: where its links lead to. URLs stay as they are."""
    if is_url(port):
        return port
    return str(Path(port).resolve()) if os.name == "posix" else port.upper()


def check_port_name(port: str) -> None:
    """Refuse what no device can stand behind.

    Raises:
        SerialPortError: the name is empty, or leads back here.
    """
    if not port:
        raise SerialPortError("a port without a name", hint="name it with --port; `harness doctor` lists the ports")
    if port.startswith(_LOOP):
        raise SerialPortError(
            "this URL leads back to harness itself: no device stands behind it",
            where=port,
            hint="name the board's own port with --port; `harness doctor` lists the ports",
        )
