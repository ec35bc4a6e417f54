"""The process in which pyOCD runs: `python -m harness.flashers.pyocd.worker`.

pyOCD changes the working directory, can spin for ever when a probe dies, and takes a second to import. Here it can be
started early, and killed.

Requests come on standard input, replies go to standard output (see `harness.flashers.pyocd.messages`). Each request has
a `call`; its replies are any number of `progress`, then one `result` or `error`. Before all of them comes one `ready`.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO

from harness.errors import HarnessError, ProbeError
from harness.flashers.pyocd.messages import Message, encode, receive

if TYPE_CHECKING:
    from harness.flashers.pyocd.chip import Chip


def main() -> None:
    """Serve until standard input ends."""
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get between the replies
    threading.Thread(target=_take_requests, args=(os.fdopen(0, "rb"), requests), daemon=True).start()
    desk = Desk(replies)
    desk.send(Message({"kind": "ready"}))
    while True:
        desk.serve(requests.get())


def _take_requests(pipe: BinaryIO, requests: queue.SimpleQueue[Message]) -> None:
    """Runs in a thread of its own, so that the process ends with its parent even while pyOCD spins."""

    def read_exactly(size: int) -> bytes:
        data = pipe.read(size)
        if len(data) < size:
            os._exit(0)
        return data

    while True:
        requests.put(receive(read_exactly))


class Desk:
    """Answers requests, with at most one chip at a time.

    Args:
        replies: where the answers go.
    """

    def __init__(self, replies: BinaryIO) -> None:
        from harness.flashers.pyocd import chip  # noqa: PLC0415  # a second; the requests are being taken meanwhile

        self._pyocd = chip
        self._replies = replies
        self._chip: Chip | None = None
        self._calls: Mapping[str, Callable[[Message], Message]] = {
            "probes": self._probes,
            "connect": self._connect,
            "read": self._read,
            "write": self._write,
            "reset_and_halt": self._reset_and_halt,
            "resume": self._resume,
            "disconnect": self._disconnect,
        }

    def serve(self, request: Message) -> None:
        """Answer one request."""
        try:
            reply = self._calls[request.fields["call"]](request)
        except HarnessError as error:
            reply = Message({"kind": "error", **_describe(error)})
        self.send(reply)

    def _probes(self, request: Message) -> Message:
        return _result(probes=[asdict(probe) for probe in self._pyocd.connected_probes()])

    def _connect(self, request: Message) -> Message:
        self._disconnect(request)
        fields = request.fields
        self._chip = self._pyocd.Chip(fields["probe_id"], fields["target"], fields["connect_mode"])
        return _result()

    def _read(self, request: Message) -> Message:
        return _result(self._connected.read(request.fields["address"], request.fields["size_bytes"]))

    def _write(self, request: Message) -> Message:
        self._connected.write(request.fields["address"], request.data, self._report)
        return _result()

    def _reset_and_halt(self, request: Message) -> Message:
        self._connected.reset_and_halt()
        return _result()

    def _resume(self, request: Message) -> Message:
        self._connected.resume()
        return _result()

    def _disconnect(self, request: Message) -> Message:
        if self._chip is not None:
            self._chip.close()
            self._chip = None
        return _result()

    @property
    def _connected(self) -> Chip:
        if self._chip is None:
            raise ProbeError("no chip is connected")
        return self._chip

    def _report(self, done: float) -> None:
        self.send(Message({"kind": "progress", "done": done}))

    def send(self, message: Message) -> None:
        """Write one reply."""
        self._replies.write(encode(message))
        self._replies.flush()


def _result(data: bytes = b"", **fields: Any) -> Message:  # noqa: ANN401  # JSON
    return Message({"kind": "result", **fields}, data)


def _describe(error: HarnessError) -> dict[str, Any]:
    return {
        "class": type(error).__name__,
        "what": error.what,
        "where": error.where,
        "measured": error.measured,
        "expected": error.expected,
        "hint": error.hint,
    }


if __name__ == "__main__":
    main()
