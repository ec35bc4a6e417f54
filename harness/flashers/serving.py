"""The worker's end of a flasher's process: takes requests from standard input, answers them on standard output.

For messages see `harness.flashers.messages`. Each request has a `call`; its replies are any number of `progress`, then
one `result` or `error`. Before all of them comes one `ready`.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from harness.errors import HarnessError
from harness.flashers.messages import Message, encode, receive

Report = Callable[[float], None]
"""Told the part of the work that is done, 0 to 1."""
Calls = Mapping[str, Callable[[Message], Message]]
"""What is done for each `call`."""


def serve(make_calls: Callable[[Report], Calls]) -> None:
    """Answer requests until standard input ends.

    Args:
        make_calls: loads the library, which may take long: requests are taken meanwhile.
    """
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get between the replies
    threading.Thread(target=_take_requests, args=(os.fdopen(0, "rb"), requests), daemon=True).start()

    def send(message: Message) -> None:
        replies.write(encode(message))
        replies.flush()

    calls = make_calls(lambda done: send(Message({"kind": "progress", "done": done})))
    send(Message({"kind": "ready"}))
    while True:
        send(_answer(calls, requests.get()))


def result(data: bytes = b"", **fields: Any) -> Message:  # noqa: ANN401  # JSON
    """What a call gives back."""
    return Message({"kind": "result", **fields}, data)


def _answer(calls: Calls, request: Message) -> Message:
    try:
        return calls[request.fields["call"]](request)
    except HarnessError as error:
        return Message({"kind": "error", **_describe(error)})


def _take_requests(pipe: BinaryIO, requests: queue.SimpleQueue[Message]) -> None:
    """Runs in a thread of its own, so that the process ends with its parent even while the library spins."""

    def read_exactly(size: int) -> bytes:
        data = pipe.read(size)
        if len(data) < size:
            os._exit(0)
        return data

    while True:
        requests.put(receive(read_exactly))


def _describe(error: HarnessError) -> dict[str, Any]:
    return {
        "class": type(error).__name__,
        "what": error.what,
        "where": error.where,
        "measured": error.measured,
        "expected": error.expected,
        "hint": error.hint,
    }
