"""Painting, scanning and the measuring commands, against writes that are known."""

import pytest

from tests.support.firmware_script import Script

# The program is compiled once for all of them.
pytestmark = pytest.mark.xdist_group("firmware")

HELLO = {"cmd": "hello"}
SCAN = {"cmd": "scan"}
INVOKE = {"cmd": "invoke"}


def allocate(arena_bytes=1024, paint=0xAA):
    return {"cmd": "allocate", "arena_bytes": arena_bytes, "paint": paint}


def test_untouched_arena(talk):
    body = talk(allocate()).body("allocated")
    assert body["status"] == "ok"
    assert body["paint_ok"] is True
    assert (body["used_bytes"], body["head_bytes"], body["tail_bytes"]) == (192, 128, 64)
    assert body["untouched"] == [[0, 1024]]
    assert body["ticks"] == 5
    assert body["inputs"][0] == {"type": "int16", "shape": [1, 8], "size_bytes": 16}


def test_what_allocation_touched_shows_and_is_painted_over(talk):
    done = talk(allocate(), SCAN, script=Script(in_allocate=[(100, 8), (500, 20)]))
    assert done.body("allocated")["untouched"] == [[0, 100], [108, 392], [520, 504]]
    scanned = done.body("scanned")
    assert scanned["written_bytes"] == 0
    assert (scanned["gap_offset"], scanned["gap_bytes"]) == (128, 1024 - 128 - 64)
    assert scanned["untouched"] == [[0, 100], [108, 916]]


def test_writes_of_invoke_between_head_and_tail(talk):
    scanned = talk(allocate(), INVOKE, SCAN, script=Script(in_invoke=[(200, 4), (700, 6), (0, 128)])).body("scanned")
    assert (scanned["written_bytes"], scanned["written_first"], scanned["written_last"]) == (10, 200, 705)
    assert (scanned["gap_offset"], scanned["gap_bytes"]) == (204, 496)
    assert scanned["tail_untouched_bytes"] == 64
    assert scanned["guard_low_written_bytes"] == scanned["guard_high_written_bytes"] == 0


def test_writes_into_both_guards(talk):
    scanned = talk(allocate(), INVOKE, SCAN, script=Script(in_invoke=[(-3, 3), (1024, 5), (1000, 24)])).body("scanned")
    assert (scanned["guard_low_written_bytes"], scanned["guard_low_first"]) == (3, 61)
    assert (scanned["guard_high_written_bytes"], scanned["guard_high_first"]) == (5, 0)
    assert scanned["tail_untouched_bytes"] == 40


def test_a_byte_equal_to_the_paint_shows_with_the_other_magic(talk):
    script = Script(in_invoke=[(300, 1)])  # the fake writes 0x33
    written = [
        talk(allocate(paint=paint), INVOKE, SCAN, script=script).body("scanned")["written_bytes"]
        for paint in (0x33, 0xCC)
    ]
    assert written == [0, 1]


def test_repainting_tells_the_next_invoke_from_the_last(talk):
    script = Script(in_invoke=[(300, 4), (-2, 2)])
    done = talk(allocate(), INVOKE, {"cmd": "repaint", "paint": 0x55}, SCAN, script=script)
    scanned = done.body("scanned")
    assert scanned["written_bytes"] == scanned["guard_low_written_bytes"] == 0
    assert (scanned["gap_offset"], scanned["gap_bytes"]) == (128, 1024 - 128 - 64)
    assert scanned["tail_untouched_bytes"] == 64  # the tail keeps its first paint


def test_repainting_needs_an_arena_and_a_byte(talk):
    assert talk({"cmd": "repaint", "paint": 0x55}).body("error")["error"] == "not_allocated"
    assert talk(allocate(), {"cmd": "repaint", "paint": 256}).body("error")["error"] == "bad_argument"


def test_the_high_guard_lies_right_behind_an_arena_of_any_size(talk):
    scanned = talk(allocate(1021), INVOKE, SCAN, script=Script(in_invoke=[(1021, 1)])).body("scanned")
    assert (scanned["guard_high_written_bytes"], scanned["guard_high_first"]) == (1, 0)


def test_short_runs_are_not_worth_telling(talk):
    body = talk(allocate(), script=Script(in_allocate=[(15, 1), (32, 1)])).body("allocated")
    assert body["untouched"] == [[16, 16], [33, 1024 - 33]]


def test_the_48_longest_runs_are_told_in_their_order(talk):
    gaps, offset = [], 0
    for size in range(16, 16 + 60):
        gaps.append([offset, size])
        offset += size + 1
    body = talk(allocate(4096), script=Script(growing_gaps=60)).body("allocated")
    assert body["untouched"] == [*gaps[-47:], [offset, 4096 - offset]]


def test_stack_high_water_mark(talk):
    bodies = talk(allocate(), INVOKE, script=Script(stack_depth=3000)).frames
    used = {frame.kind: frame.body.values["stack_used_bytes"] for frame in bodies if frame.kind != "hello"}
    assert used == {"allocated": 1024 + 256, "invoked": 3000}


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (allocate(8192 - 127), "bad_argument"),
        (allocate(paint=256), "bad_argument"),
        ({"cmd": "allocate", "paint": 1}, "bad_argument"),
        (SCAN, "not_allocated"),
        (INVOKE, "not_allocated"),
        ({"cmd": "output", "index": 0}, "not_allocated"),
        ({"cmd": "input", "index": 0, "offset": 0, "hex": ""}, "not_allocated"),
    ],
)
def test_refused_commands(talk, command, error):
    assert talk(command).body("error")["error"] == error


def test_one_allocate_per_reset(talk):
    done = talk(allocate(), allocate())
    assert done.body("error")["error"] == "reset_first"


@pytest.mark.parametrize("refuse", [1, 2])
def test_a_refused_model_is_said_and_cannot_be_invoked(talk, refuse):
    done = talk(allocate(), INVOKE, script=Script(refuse=refuse))
    body = done.body("allocated")
    assert (body["status"], body["used_bytes"], body["inputs"]) == ("error", 0, [])
    assert done.body("error")["error"] == "not_allocated"
    assert done.log == ["made"]


def test_a_failed_invoke_is_said(talk):
    assert talk(allocate(), INVOKE, script=Script(refuse=3)).body("invoked")["status"] == "error"


def test_a_fault_in_the_middle_of_a_frame_is_not_taken_for_the_rest_of_it(talk):
    done = talk(allocate(), script=Script(refuse=5), cut_off_frames=1)
    assert done.body("fault")["stage"] == "allocate"
    assert b" + " in done.raw.splitlines()[-3], "the frame was cut off after one of its lines had gone"


def test_a_large_tensor_on_a_slow_line_does_not_starve_the_watchdog(talk):
    done = talk(allocate(8000), {"cmd": "output", "index": 0}, script=Script(input_bytes=4000))
    assert done.exit_code == 0
    assert len(done.body("output")["hex"]) == 8000


def test_abort_becomes_a_fault_frame(talk):
    done = talk(allocate(), INVOKE, HELLO, script=Script(refuse=4))
    fault = done.body("fault")
    assert (fault["kind"], fault["stage"]) == ("abort", "invoke")
    assert fault["pc"] != 0
    assert done.exit_code == 11  # what the test's port does on Halt(); the hello is not answered


def test_input_and_output_are_the_tensors_bytes(talk):
    script = Script(input_bytes=4)
    done = talk(
        allocate(),
        {"cmd": "input", "index": 0, "offset": 1, "hex": "00fFa1"},
        {"cmd": "output", "index": 0},
        script=script,
    )
    assert done.body("output") == {
        "frame": "output", "index": 0, "type": "uint8", "size_bytes": 4, "hex": "aa00ffa1"
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"offset": 16, "hex": "00"},
        {"offset": 15, "hex": "0000"},
        {"offset": 4294967295, "hex": "00"},
        {"offset": 0, "hex": "0"},
        {"offset": 0, "hex": "0g"},
        {"offset": 0},
        {"index": 2, "offset": 0, "hex": "00"},
    ],
)
def test_input_outside_the_tensor_is_refused(talk, wrong):
    done = talk(allocate(), {"cmd": "input", "index": 0, **wrong})
    assert done.body("error")["error"] == "bad_argument"


def test_fill_pattern_of_integers_and_floats(talk):
    read = {"cmd": "output", "index": 0}
    done = talk(allocate(), {"cmd": "fill", "index": 0}, read, {"cmd": "fill", "index": 1}, read)
    integers, floats = (body["hex"] for body in done.bodies("output"))
    assert integers == "".join(f"{(i * 37 + 11) % 256:02x}00" for i in range(8))
    assert floats == "0000803f0000c03f0000004000002040"  # 1.0, 1.5, 2.0, 2.5


def test_watching_tells_which_operator_wrote_where_nothing_may_be_written(talk):
    watched = {"cmd": "invoke", "watch": 1}
    for write in ((-3, 3), (1024, 5), (300, 1)):
        invoked = talk(allocate(), watched, script=Script(in_invoke=[write])).body("invoked")
        assert (invoked["operator"], invoked["operator_name"], invoked["operator_function"]) == (1, "WRITER", 0x200)


def test_watching_a_good_model_and_not_watching_tell_of_no_operator(talk):
    assert "operator" not in talk(allocate(), {"cmd": "invoke", "watch": 1}).body("invoked")
    assert "operator" not in talk(allocate(), INVOKE, script=Script(in_invoke=[(-3, 3)])).body("invoked")
