"""Messages between harness and a flasher's process: a JSON object and raw bytes, over pipes.

offset  size  field
0       4     length of the JSON text, little endian
4       4     length of the bytes
8       …     JSON text, bytes
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_LENGTHS = struct.Struct("<II")


@dataclass(frozen=True)
class Message:
    """A JSON object and the bytes that go with it.

    Attributes:
        fields: the object. `Any`: JSON.
        data: the bytes.
    """

    fields: Mapping[str, Any]
    data: bytes = b""


def encode(message: Message) -> bytes:
    """A message as it goes through the pipe."""
    text = json.dumps(message.fields).encode()
    return _LENGTHS.pack(len(text), len(message.data)) + text + message.data


def receive(read_exactly: Callable[[int], bytes]) -> Message:
    """Take a message from a pipe.

    Args:
        read_exactly: waits for as many bytes as it is asked for; raises what it likes when it cannot have them.
    """
    text_bytes, data_bytes = _LENGTHS.unpack(read_exactly(_LENGTHS.size))
    fields = json.loads(read_exactly(text_bytes))
    return Message(fields, read_exactly(data_bytes))
