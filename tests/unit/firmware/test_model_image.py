"""The model region as the host packs it and the firmware reads it."""

import hashlib

import pytest

from harness.build.model_image import HEADER_BYTES, pack
from tests.support.firmware_script import BUILD_ID, Script

# The program is compiled once for all of them.
pytestmark = pytest.mark.xdist_group("firmware")

MODEL = Script().packed()


def region(model=MODEL, build_id=BUILD_ID):
    return pack(model, hashlib.sha256(model).hexdigest(), build_id)


def state(talk, content):
    return talk(region=content).body("hello")["model"]


def test_a_sound_model_is_taken_with_its_hash(talk):
    assert state(talk, region()) == {
        "state": "ok",
        "size_bytes": len(MODEL),
        "sha256": hashlib.sha256(MODEL).hexdigest(),
    }


def test_an_erased_region_holds_no_model(talk):
    assert state(talk, b"") == {"state": "missing", "size_bytes": 0, "sha256": ""}


@pytest.mark.parametrize("position", [9, 12, 30, 60, 100, 127])
def test_a_damaged_header_is_not_believed(talk, position):
    content = bytearray(region())
    content[position] ^= 0x10
    assert state(talk, content)["state"] == "bad_header"


def test_a_model_that_would_leave_the_region_is_not_read(talk):
    model = bytes(4096 - HEADER_BYTES + 1)  # the test's port has a region of 4,096 bytes
    assert state(talk, region(model)[:4096])["state"] == "bad_header"


def test_a_damaged_model_is_named(talk):
    content = bytearray(region())
    content[-1] ^= 1
    assert state(talk, content)["state"] == "bad_crc"


def test_a_model_of_another_build_is_named(talk):
    assert state(talk, region(build_id="fedcba9876543210"))["state"] == "other_build"


def test_another_schema_is_named(talk):
    assert state(talk, region(Script(schema=2).packed()))["state"] == "bad_schema"


def test_a_bad_model_is_not_allocated(talk):
    done = talk({"cmd": "allocate", "arena_bytes": 1024, "paint": 170}, region=b"")
    assert done.body("error") == {"frame": "error", "error": "no_model", "text": "missing"}
