from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ProbeError, ProtocolError
from harness.virtual import link
from tests.support.link_server import answering

WORDS = st.integers(0, 0xFFFFFFFF)


TOUCH = link.Request(link.Operation.TOUCH)
REQUESTS = st.builds(
    link.Request,
    st.sampled_from(link.Operation),
    WORDS,
    st.integers(0, link.MAX_PAYLOAD_BYTES),
    st.sampled_from([1, 2, 4]),
    st.binary(max_size=2000),
)


@given(sent=REQUESTS, rest=st.binary(max_size=20))
def test_requests_survive_the_wire(sent, rest):
    encoded = link.encode_request(sent)
    assert link.decode_request(encoded + rest) == (sent, len(encoded))


@given(cut=st.integers(0, 15 + 5))
def test_an_incomplete_request_is_waited_for(cut):
    encoded = link.encode_request(link.Request(link.Operation.WRITE, 1, payload=b"12345"))
    assert link.decode_request(encoded[:cut]) is None


@given(noise=st.binary(min_size=16, max_size=200))
def test_noise_is_refused_or_waited_for(noise):
    try:
        decoded = link.decode_request(noise)
    except ProtocolError:
        return
    assert decoded is None or link.encode_request(decoded[0])[:4] == noise[:4]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (link.Status.WAIT, link.WaitError),
        (link.Status.FAULT, link.BusFaultError),
        (link.Status.NO_ACK, link.NoAckError),
        (link.Status.DISCONNECTED, link.DisconnectedError),
        (link.Status.BAD_REQUEST, ProbeError),
    ],
)
def test_each_bad_status_is_an_error_of_its_own(tmp_path, status, error):
    answer = link.encode_response(link.Response(status, 0x1234, b"reason"))
    with answering(tmp_path / "s", answer), link.Client(tmp_path / "s") as client:
        with pytest.raises(ProbeError) as caught:
            client.ask(TOUCH)
        assert type(caught.value) is error


def test_a_bus_fault_tells_its_address(tmp_path):
    answer = link.encode_response(link.Response(link.Status.FAULT, 0x6000_0000))
    with answering(tmp_path / "s", answer), link.Client(tmp_path / "s") as client:
        with pytest.raises(link.BusFaultError) as caught:
            client.ask(link.Request(link.Operation.READ, 0x6000_0000, 4))
        assert caught.value.address == 0x6000_0000


def test_a_board_that_hangs_up_is_noticed(tmp_path):
    with answering(tmp_path / "s"), link.Client(tmp_path / "s") as client, pytest.raises(link.DisconnectedError):
        client.ask(TOUCH)


def test_a_board_that_hangs_is_noticed(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        with link.Client(tmp_path / "s", timeout_s=0.05) as client, pytest.raises(link.DisconnectedError):
            client.ask(TOUCH)


def test_a_board_that_is_not_there(tmp_path):
    with pytest.raises(link.DisconnectedError):
        link.Client(tmp_path / "nobody")


def test_a_response_out_of_bounds_is_refused():
    with pytest.raises(ProtocolError):
        link.decode_response_header(b"\xff" * link.RESPONSE_HEADER_BYTES)
