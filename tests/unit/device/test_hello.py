"""What a device says of itself, in the words of today's firmware and of older ones."""

import pytest

from harness.device.hello import ModelState, read_hello
from harness.device.wire import NO_NONCE, Frame
from harness.errors import ProtocolError
from harness.files.fields import Fields
from tests.support.scripted import HELLO

FIRST = {"state": "ok", "size_bytes": 4, "sha256": "aa" * 32}
SECOND = {"state": "bad_crc", "size_bytes": 8, "sha256": "bb" * 32}


def read(**changes):
    return read_hello(Frame("hello", NO_NONCE, Fields("frame 'hello'", {**HELLO, **changes}, ProtocolError)))


def test_several_models_and_what_this_tflm_can_do():
    hello = read(model=FIRST, models=[FIRST, SECOND], records=1, share_max=4)
    assert hello.models == (ModelState("ok", 4, "aa" * 32), ModelState("bad_crc", 8, "bb" * 32))
    assert hello.model == hello.models[0]
    assert (hello.records, hello.share_max) == (True, 4)


def test_firmware_of_before_has_one_model_and_can_neither_record_nor_share():
    hello = read(model=FIRST)
    assert hello.models == (hello.model,)
    assert (hello.records, hello.share_max) == (False, 1)


@pytest.mark.parametrize("wrong", [{"models": FIRST}, {"records": "yes"}, {"share_max": 0}, {"models": [{}]}])
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ProtocolError):
        read(**wrong)
