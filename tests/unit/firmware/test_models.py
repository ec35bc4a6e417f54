"""Several models in flash and in one arena, recorded allocations, resource variables."""

import hashlib

import pytest

from harness.build.model_image import HEADER_BYTES, pack
from tests.support.firmware_script import BUILD_ID, Script

# The program is compiled once for all of them.
pytestmark = pytest.mark.xdist_group("firmware")

FIRST = Script(head_bytes=256, tail_bytes=64, input_bytes=16)
SECOND = Script(head_bytes=128, tail_bytes=32, input_bytes=12, in_invoke=[(300, 4)])
SCAN = {"cmd": "scan"}


def region(*scripts):
    """The models one behind the other, each at a multiple of 16."""
    content = b""
    for script in scripts:
        model = script.packed()
        content += bytes(-len(content) % 16) + pack(model, hashlib.sha256(model).hexdigest(), BUILD_ID)
    return content


def allocate(**more):
    return {"cmd": "allocate", "arena_bytes": 1024, "paint": 0xAA, **more}


def share(model=1, **more):
    return {"cmd": "share", "model": model, **more}


def states(hello):
    return [model["state"] for model in hello["models"]]


def test_hello_tells_of_each_model(talk):
    hello = talk(region=region(FIRST, SECOND)).body("hello")
    assert [model["sha256"] for model in hello["models"]] == [
        hashlib.sha256(script.packed()).hexdigest() for script in (FIRST, SECOND)
    ]
    assert hello["model"] == hello["models"][0]
    assert (hello["records"], hello["share_max"]) == (1, 2)


def test_a_region_without_a_model_counts_as_one_that_is_missing(talk):
    assert states(talk(region=b"").body("hello")) == ["missing"]


def test_each_model_has_its_own_trouble(talk):
    content = bytearray(region(FIRST, Script(schema=2), SECOND))
    content[-1] ^= 1
    assert states(talk(region=content).body("hello")) == ["ok", "bad_schema", "bad_crc"]


def test_behind_a_damaged_header_no_model_is_looked_for(talk):
    content = bytearray(region(FIRST, SECOND, SECOND))
    content[content.index(b"HARNMODL", 1) + 12] ^= 1
    assert states(talk(region=content).body("hello")) == ["ok", "bad_header"]


def test_no_more_models_are_looked_at_than_there_is_room_for(talk):
    assert states(talk(region=region(*[FIRST] * 5)).body("hello")) == ["ok"] * 4


def test_a_model_that_fills_the_region_has_none_behind_it(talk):
    model = FIRST.packed() + bytes(4096 - HEADER_BYTES - len(FIRST.packed()))  # the test's port has 4,096 bytes
    content = pack(model, hashlib.sha256(model).hexdigest(), BUILD_ID)
    assert states(talk(region=content).body("hello")) == ["ok"]


def test_a_model_behind_the_first_runs_alone(talk):
    done = talk(allocate(model=1), {"cmd": "invoke", "model": 1}, {"cmd": "invoke"}, region=region(FIRST, SECOND))
    assert done.body("allocated")["head_bytes"] == 128
    assert done.body("invoked")["status"] == "ok"
    assert done.body("error")["error"] == "not_allocated"


def test_models_share_an_arena(talk):
    done = talk(allocate(), share(), SCAN, region=region(FIRST, SECOND))
    alone, both = done.bodies("allocated")
    assert (alone["used_bytes"], alone["head_bytes"], alone["tail_bytes"]) == (320, 256, 64)
    assert (both["used_bytes"], both["head_bytes"], both["tail_bytes"]) == (352, 256, 96)
    assert both["arena_bytes"] == 1024
    assert both["paint_ok"] is True
    assert both["inputs"][0]["size_bytes"] == 12
    scanned = done.body("scanned")
    assert (scanned["gap_offset"], scanned["gap_bytes"]) == (256, 1024 - 256 - 96)


def test_what_the_second_allocation_touches_shows_on_the_first_paint_and_is_painted_over(talk):
    second = Script(head_bytes=128, tail_bytes=32, in_allocate=[(500, 20)])
    done = talk(allocate(), {"cmd": "repaint", "paint": 0x55}, share(), SCAN, region=region(FIRST, second))
    assert done.bodies("allocated")[1]["untouched"] == [[0, 500], [520, 504]]
    assert done.body("scanned")["written_bytes"] == 0


def test_each_model_has_its_tensors_and_its_invoke(talk):
    done = talk(
        allocate(),
        share(),
        {"cmd": "input", "model": 1, "index": 0, "offset": 0, "hex": "0102"},
        {"cmd": "output", "model": 1, "index": 0},
        {"cmd": "output", "index": 0},
        {"cmd": "invoke"},
        SCAN,
        {"cmd": "invoke", "model": 1},
        SCAN,
        region=region(FIRST, SECOND),
    )
    assert [body["size_bytes"] for body in done.bodies("output")] == [12, 16]
    assert done.bodies("output")[0]["hex"].startswith("0102")
    assert [body["written_bytes"] for body in done.bodies("scanned")] == [0, 4]


def test_when_sharing_fails_no_model_can_be_run_any_more(talk):
    done = talk(allocate(), share(), {"cmd": "invoke"}, SCAN, region=region(FIRST, Script(refuse=2)))
    assert done.bodies("allocated")[1]["status"] == "error"
    assert [body["error"] for body in done.bodies("error")] == ["not_allocated"] * 2


@pytest.mark.parametrize(
    ("commands", "error"),
    [
        ([share()], "not_allocated"),
        ([allocate(), share(model=0)], "bad_argument"),
        ([allocate(), share(), share()], "bad_argument"),
        ([allocate(), share(model=2)], "bad_argument"),  # the fake shares among two
        ([allocate(), share(model=3)], "bad_argument"),
        ([allocate(model=3)], "bad_argument"),
        ([allocate(), {"cmd": "fill", "model": 1, "index": 0}], "not_allocated"),
        ([allocate(), {"cmd": "invoke", "model": 4000000000}], "not_allocated"),
    ],
)
def test_what_cannot_be_shared_is_refused(talk, commands, error):
    assert talk(*commands, region=region(FIRST, SECOND, SECOND)).body("error")["error"] == error


def test_a_damaged_model_is_not_shared(talk):
    done = talk(allocate(), share(), region=region(FIRST, Script(schema=2)))
    assert done.body("error") == {"frame": "error", "error": "no_model", "text": "bad_schema"}


def test_sections_are_told_only_when_they_were_to_be_recorded(talk):
    recorded = talk(allocate(record=1), region=region(FIRST)).body("allocated")
    assert recorded["sections"]["op_data"] == {"requested_bytes": 30, "used_bytes": 32, "count": 2}
    for quiet in (allocate(), allocate(record=0)):
        assert "sections" not in talk(quiet, region=region(FIRST)).body("allocated")


def test_each_model_says_how_many_variables_it_needs(talk):
    done = talk(allocate(record=1, variables=3), share(variables=5), region=region(FIRST, SECOND))
    assert [body["sections"]["variables"]["count"] for body in done.bodies("allocated")] == [3, 8]
