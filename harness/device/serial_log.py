"""Log of what passes over a serial line, in both directions, as it was."""

from __future__ import annotations

from harness.ports import Line

_LIMIT_BYTES = 8 * 1024 * 1024
"""A device that babbles must not fill the disk."""


class SerialLog:
    """Bytes that were read from lines and written to them, in order; what is too much is left out and counted."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._dropped_bytes = 0

    def add(self, data: bytes) -> None:
        """Keep `data`, as far as there is room."""
        room = max(0, _LIMIT_BYTES - len(self._kept))
        self._kept += data[:room]
        self._dropped_bytes += len(data[room:])

    def take(self) -> bytes:
        """All that was kept, which is then forgotten."""
        note = f"\n({self._dropped_bytes} more bytes)\n".encode() if self._dropped_bytes else b""
        taken = bytes(self._kept) + note
        self._kept.clear()
        self._dropped_bytes = 0
        return taken


class RecordedLine:
    """A line all of whose traffic is kept in a log.

    Args:
        line: the line itself.
        log: where to keep it.
    """

    def __init__(self, line: Line, log: SerialLog) -> None:
        self._line = line
        self._log = log

    @property
    def port(self) -> str:
        """The line's device path or URL."""
        return self._line.port

    def read(self, timeout_s: float) -> bytes:
        """See `Line.read`."""
        data = self._line.read(timeout_s)
        self._log.add(data)
        return data

    def write(self, data: bytes) -> None:
        """See `Line.write`."""
        self._log.add(data)
        self._line.write(data)

    def set_control(self, *, dtr: bool, rts: bool) -> None:
        """See `Line.set_control`."""
        self._line.set_control(dtr=dtr, rts=rts)

    def close(self) -> None:
        """Give the port back."""
        self._line.close()
