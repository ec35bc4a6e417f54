from dataclasses import replace

import pytest

from harness.device.talk import Device, Patience
from harness.domain.recipe import FlashedModel, Recipe
from harness.errors import (
    ArenaTooSmallError,
    ConfigMismatchError,
    DeviceError,
    FlashError,
    ModelRefusedError,
    OperatorMissingError,
    ProtocolError,
    UsageError,
)
from harness.measure.procedure import measure
from tests.support.scripted import ALLOCATED, FAULT, HELLO, SCANNED, SHA256, SUBJECT, ScriptedLine, changed, failing

USUAL = Recipe()


def measured(script=None, recipe=USUAL, **hello):
    line = ScriptedLine(script)
    line.boot(**hello)
    return line, measure(Device(line, line.reset, Patience(0.3, 0.3, 0.3)), SUBJECT, recipe)


def test_the_procedure_uses_both_paints_for_each_stage():
    line, found = measured()
    assert [command["cmd"] for command in line.commands] == [
        "allocate", "repaint", "fill", "invoke", "scan", "repaint", "fill", "invoke", "scan", "output",
        "allocate", "scan",
    ]  # fmt: skip
    assert [command["paint"] for command in line.commands if "paint" in command] == [0xAA, 0xAA, 0x55, 0x55]
    assert line.resets == 1
    assert found.arena_size_bytes == 4096
    assert found.painted_used_bytes == 1000
    assert found.output_data == (b"\x2a",)


def test_untouched_means_untouched_on_both_paints():
    other = changed("scan", {**SCANNED, "gap_offset": 300, "gap_bytes": 2900}, only_paint=0x55)
    _, found = measured(other)
    assert found.painted_used_bytes == 4096 - 2900


def test_what_allocation_touched_of_the_middle_is_counted_over_both_paints():
    other = changed("allocate", {**ALLOCATED, "untouched": [[100, 1000], [1200, 5]]}, only_paint=0x55)
    _, found = measured(other)
    # First pass: [16, 80) and [300, 3100); second: [100, 1100) and [1200, 1205); the middle: [200, 3296).
    assert found.touched_by_allocation_bytes == 3096 - (1100 - 300) - 5


def test_input_goes_out_in_pieces_before_every_invoke():
    line, _ = measured(recipe=Recipe(inputs=(b"\x01\x02\x03\x04",)))
    sent = [command for command in line.commands if command["cmd"] == "input"]
    assert [command["hex"] for command in sent] == ["01020304"] * 2


def test_long_input_is_cut_to_the_devices_line():
    size = 5000
    info = [{"type": "int8", "shape": [size], "size_bytes": size}]
    line, _ = measured(changed("allocate", {**ALLOCATED, "inputs": info}), Recipe(inputs=(bytes(range(250)) * 20,)))
    sent = [command for command in line.commands if command["cmd"] == "input"]
    assert max(len(command["hex"]) for command in sent) + 128 <= HELLO["line_bytes"]
    first = sent[: len(sent) // 2]
    assert b"".join(bytes.fromhex(command["hex"]) for command in first) == bytes(range(250)) * 20
    assert first[1]["offset"] == len(first[0]["hex"]) // 2


@pytest.mark.parametrize("inputs", [(b"abc",), (b"abcd", b"")])
def test_input_of_another_size_is_refused(inputs):
    with pytest.raises(UsageError, match="do not fit") as caught:
        measured(recipe=Recipe(inputs=inputs))
    assert "[4] bytes" in str(caught.value)


def test_an_arena_that_the_device_does_not_have_is_refused():
    with pytest.raises(UsageError, match="larger than the RAM") as caught:
        measured(recipe=Recipe(arena_size_bytes=8192))
    assert "4,096" in str(caught.value)


def test_a_device_that_claims_to_use_nothing_is_not_believed():
    with pytest.raises(ProtocolError, match="wrong value"):
        measured(changed("allocate", {**ALLOCATED, "used_bytes": 0}))


def test_an_overrun_is_kept_with_its_offset():
    _, found = measured(changed("scan", {**SCANNED, "guard_high_written_bytes": 3, "guard_high_first": 7}))
    (overrun,) = found.overruns
    assert "3 bytes" in overrun
    assert "offset 7" in overrun


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"build_id": "feedfeedfeedfeed"}, "firmware build"),
        ({"image_crc32": 1}, "CRC-32"),
        ({"model": {"state": "bad_crc", "size_bytes": 0, "sha256": ""}}, "model region"),
        ({"model": {"state": "ok", "size_bytes": 3, "sha256": "00" * 32}}, "SHA-256"),
    ],
)
def test_what_runs_must_be_what_was_flashed(changes, told):
    with pytest.raises(FlashError, match=told):
        measured(**changes)


def test_structures_of_other_sizes_are_named_before_anything_is_allocated():
    expected = {"TfLiteTensor": 40, "NodeAndRegistration": 32, "SubgraphAllocations": 8, "MicroAllocator": 36}
    line = ScriptedLine()
    line.boot(sizes={"TfLiteTensor": 64, "NodeAndRegistration": 44, "MicroAllocator": 36, "Other": 1})
    with pytest.raises(ConfigMismatchError) as caught:
        measure(Device(line, line.reset, Patience(0.3, 0.3, 0.3)), replace(SUBJECT, struct_sizes=expected), USUAL)
    words = "config_mismatch: TfLiteTensor 64 instead of 40 bytes, NodeAndRegistration 44 instead of 32 bytes"
    assert caught.value.what == words
    assert "TF_LITE_STATIC_MEMORY" in caught.value.hint
    assert line.commands == []


RECORDED = {
    "eval_tensors": {"requested_bytes": 36, "used_bytes": 36, "count": 3},
    "op_data": {"requested_bytes": 0, "used_bytes": 0, "count": 0},
}


def recording(answer):
    """A script whose device answers so when it is to record."""
    return lambda line, command: answer(line) if command.get("record") else None


def test_a_tflm_that_can_record_does_so_in_a_boot_of_its_own():
    line, found = measured(recording(lambda line: line.frame({**ALLOCATED, "sections": RECORDED})), records=1)
    assert found.sections == {"eval_tensors": 36, "op_data": 0}
    assert found.recording_failure is None
    assert line.resets == 2
    assert [command["cmd"] for command in line.commands][-3:] == ["allocate", "scan", "allocate"]


@pytest.mark.parametrize(("size", "recorded_in"), [(1000, 4088), (1008, 4096), (4096, 4096), (4092, 4092)])
def test_recording_gets_the_largest_arena_that_aligns_alike(size, recorded_in):
    line, _ = measured(
        recording(lambda line: line.frame({**ALLOCATED, "sections": RECORDED})),
        Recipe(arena_size_bytes=size),
        records=1,
    )
    assert [command["arena_bytes"] for command in line.commands if "arena_bytes" in command] == [
        size,
        size,
        recorded_in,
    ]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            lambda line: b"Failed to allocate memory. Requested: 64\n" + line.frame({**ALLOCATED, "status": "error"}),
            "arena",
        ),
        (lambda line: line.frame(FAULT), "hard fault"),
        (lambda line: b"", "no answer"),
    ],
)
def test_a_recording_that_fails_is_no_failure_of_the_model(answer, told):
    _, found = measured(recording(answer), records=1)
    assert found.sections == {}
    assert told in found.recording_failure
    assert found.arena_used_bytes == 1000


def test_a_tflm_that_cannot_record_is_not_asked_to():
    line, found = measured()
    assert not any("record" in command for command in line.commands)
    assert (found.sections, found.recording_failure) == ({}, None)


def test_resource_variables_are_made_in_every_pass():
    line = ScriptedLine(recording(lambda line: line.frame({**ALLOCATED, "sections": RECORDED})))
    line.boot(records=1)
    subject = replace(SUBJECT, models=(FlashedModel(SHA256, variables=3),))
    measure(Device(line, line.reset, Patience(0.3, 0.3, 0.3)), subject, USUAL)
    assert [command["variables"] for command in line.commands if command["cmd"] == "allocate"] == [3, 3, 3]


def test_starts_that_nobody_asked_for_are_counted():
    line = ScriptedLine()
    line.boot(build_id="feedfeedfeedfeed")  # a late word of another firmware, waited out
    line.boot()
    device = Device(line, line.reset, Patience(0.3, 0.3, 0.3))
    assert measure(device, SUBJECT, USUAL).resets == 0
    line.boot(reset="software")
    with pytest.raises(DeviceError, match="reset itself"):
        device.ask("scan", "scanned")
    assert device.transcript.unexpected_boots == 1


@pytest.mark.parametrize(
    ("log", "error"),
    [
        ("Failed to allocate memory. Requested: 64, available 3, missing: 61", ArenaTooSmallError),
        ("Arena size is too small for activation buffers. Needed 9 but only 3 was available.", ArenaTooSmallError),
        ("Too many buffers (max is 2)", ArenaTooSmallError),
        ("Didn't find op for builtin opcode 'X' version '1'", OperatorMissingError),
        ("", ModelRefusedError),
    ],
)
def test_tflms_own_words_tell_a_full_arena_from_a_refused_model(log, error):
    with pytest.raises(error) as caught:
        measured(failing("allocate", {**ALLOCATED, "status": "error"}, log))
    assert log[:30] in str(caught.value)


def test_a_failing_invoke_is_told_as_such():
    failed = {"frame": "invoked", "status": "error", "ticks": 1, "stack_used_bytes": 1}
    with pytest.raises(ModelRefusedError, match="Invoke"):
        measured(failing("invoke", failed, "Node SOFTMAX (number 3) failed to invoke with status 1"))


def test_ram_that_does_not_hold_the_paint():
    with pytest.raises(DeviceError, match="paint did not take"):
        measured(changed("allocate", {**ALLOCATED, "paint_ok": False}))


def test_success_with_words_about_too_small_an_arena_is_not_believed():
    with pytest.raises(ArenaTooSmallError):
        measured(failing("allocate", ALLOCATED, "Failed to allocate memory. Requested: 64, available 3, missing: 61"))
