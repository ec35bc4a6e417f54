"""The board's serial port: an RFC 2217 server for one client at a time, on this machine only."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

from serial.rfc2217 import PortManager

from harness.virtual.faults import LineFaults
from harness.virtual.line_speed import as_received

_RECEIVED_BYTES = 1 << 16
_QUEUE_BYTES = 1 << 22
_DEFAULT_BAUD = 115200


@dataclass
class _Settings:
    """What pyserial's `PortManager` takes for a serial port: the settings, and the modem lines.

    Attributes:
        lines_changed: told `dtr` and `rts` whenever either is set.
    """

    lines_changed: Callable[[bool, bool], None]
    discard_input: Callable[[], None]
    baudrate: int = _DEFAULT_BAUD
    bytesize: int = 8
    parity: str = "N"
    stopbits: float = 1
    xonxoff: bool = False
    rtscts: bool = False
    break_condition: bool = False
    cts: bool = True
    dsr: bool = True
    ri: bool = False
    cd: bool = False
    _dtr: bool = False
    _rts: bool = False

    @property
    def dtr(self) -> bool:
        """Whether DTR is asserted."""
        return self._dtr

    @dtr.setter
    def dtr(self, value: bool) -> None:
        self.set_lines(value, self._rts)

    @property
    def rts(self) -> bool:
        """Whether RTS is asserted."""
        return self._rts

    @rts.setter
    def rts(self, value: bool) -> None:
        self.set_lines(self._dtr, value)

    def set_lines(self, dtr: bool, rts: bool) -> None:
        """Drive both lines at once."""
        self._dtr, self._rts = dtr, rts
        self.lines_changed(dtr, rts)

    def get_settings(self) -> dict[str, object]:
        """What `apply_settings` takes, to go back to."""
        return {name: getattr(self, name) for name in ("baudrate", "bytesize", "parity", "stopbits")}

    def apply_settings(self, settings: dict[str, object]) -> None:
        """Set what `get_settings` gave."""
        for name, value in settings.items():
            setattr(self, name, value)

    def reset_input_buffer(self) -> None:
        """Throw away what the client has not received yet."""
        self.discard_input()

    def reset_output_buffer(self) -> None:
        """Nothing waits on its way to the board."""


class SerialPort:
    """The user's end of the board's serial line.

    Args:
        faults: what the line does to bytes.
        lines_changed: told `dtr` and `rts` whenever the client drives them.

    Attributes:
        url: what a user opens.
    """

    def __init__(self, faults: LineFaults, lines_changed: Callable[[bool, bool], None]) -> None:
        self._faults = faults
        self._lines_changed = lines_changed
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"rfc2217://127.0.0.1:{self._listener.getsockname()[1]}"
        self._client: socket.socket | None = None
        self._queue = bytearray()
        self._open(_Settings(lines_changed, self._queue.clear))

    @property
    def listener(self) -> socket.socket:
        """Readable when somebody wants to open the port."""
        return self._listener

    @property
    def client(self) -> socket.socket | None:
        """Readable when bytes have arrived; None while nobody has the port open."""
        return self._client

    @property
    def pending(self) -> bool:
        """Whether bytes wait for a slow reader."""
        return bool(self._queue)

    def accept(self) -> bool:
        """Let a client in; hang up on it when there is one already. True when it is in."""
        client, _ = self._listener.accept()
        if self._client is not None:
            client.close()
            return False
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client = client
        self._open(_Settings(self._lines_changed, self._queue.clear))
        return True

    def receive(self, device_baud: float) -> bytes | None:
        """What has arrived, as the device's receiver takes it; None when the client has gone."""
        if self._client is None:
            return None
        try:
            data = self._client.recv(_RECEIVED_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            return None
        received = b"".join(self._manager.filter(data))
        return self._faults.to_device.apply(self._at_speed(received, device_baud))

    def send(self, data: bytes, device_baud: float) -> None:
        """Put bytes on the line. What nobody reads is lost, as on a real line."""
        if self._client is None:
            return
        sent = self._faults.from_device.apply(self._at_speed(data, device_baud))
        self._queue += sent.replace(b"\xff", b"\xff\xff")  # as RFC 2217, a Telnet option, asks
        del self._queue[_QUEUE_BYTES:]
        self.flush()

    def write(self, data: bytes) -> None:
        """Called by the `PortManager` for its own part of the conversation."""
        self._queue += data
        self.flush()

    def flush(self) -> None:
        """Hand over what the reader has room for."""
        try:
            while self._client is not None and self._queue:
                del self._queue[: self._client.send(self._queue)]
        except BlockingIOError:
            pass
        except OSError:
            self._queue.clear()  # its end will be seen when it is read

    def hang_up(self) -> None:
        """The client has gone, or is thrown out: the adapter lets both lines go."""
        if self._client is not None:
            self._client.close()
            self._client = None
        self._queue.clear()
        self._lines_changed(False, False)

    def close(self) -> None:
        """Unplug it."""
        self.hang_up()
        self._listener.close()

    def _open(self, settings: _Settings) -> None:
        self._settings = settings
        self._manager = PortManager(settings, self)  # type: ignore[arg-type]  # it needs no more of a port than this

    def _at_speed(self, data: bytes, device_baud: float) -> bytes:
        """The bytes as they come out when both ends have their own idea of the speed."""
        return as_received(data, device_baud, self._settings.baudrate)
