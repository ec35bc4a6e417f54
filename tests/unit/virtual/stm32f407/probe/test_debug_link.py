from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.virtual import link
from harness.virtual.link import Operation, Request, Response
from harness.virtual.stm32f407.probe.debug_link import DebugLink
from tests.support.link_server import answering


@contextmanager
def linked(path: Path, *responses: Response) -> Iterator[tuple[DebugLink, list[bytes]]]:
    """A link, and what the other end, which answers so, has been asked."""
    with answering(path, *map(link.encode_response, responses)) as requests, link.Client(path) as client:
        yield DebugLink(client), requests


def test_memory_is_read_and_written(tmp_path: Path) -> None:
    with linked(tmp_path / "s", Response(payload=b"abcd"), Response()) as (debug, requests):
        assert debug.read_memory(0x2000_0000, 4, 2) == b"abcd"
        debug.write_memory(0x2000_0004, b"xy", 1)
    assert link.decode_request(requests[0]) == (Request(Operation.READ, 0x2000_0000, 4, 2), 16)
    assert link.decode_request(requests[1]) == (Request(Operation.WRITE, 0x2000_0004, 0, 1, b"xy"), 18)


def test_the_reset_pin_is_driven_and_read(tmp_path: Path) -> None:
    with linked(tmp_path / "s", Response(), Response(address=1), Response(), Response()) as (debug, requests):
        debug.set_reset(True)
        assert debug.is_reset_asserted() is True
        debug.set_reset(False)
        assert debug.is_reset_asserted() is False
    asked = [decoded[0] for each in requests if (decoded := link.decode_request(each))]
    assert [(each.operation, each.address) for each in asked] == [
        (Operation.SET_RESET, 1), (Operation.GET_RESET, 0), (Operation.SET_RESET, 0), (Operation.GET_RESET, 0),
    ]  # fmt: skip
