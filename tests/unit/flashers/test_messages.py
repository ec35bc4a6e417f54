"""Messages through a pipe."""

from __future__ import annotations

import io

import pytest

from harness.flashers.messages import Message, encode, receive


@pytest.mark.parametrize(
    "message",
    [
        Message({"kind": "ready"}),
        Message({"call": "write", "address": 0x08000000}, bytes(range(256))),
        Message({"what": "Größe, 大きさ\n\0"}, b"{}"),
    ],
)
def test_round_trip(message: Message) -> None:
    pipe = io.BytesIO(encode(message) * 2)
    assert receive(pipe.read) == message
    assert receive(pipe.read) == message
    assert pipe.read() == b""
