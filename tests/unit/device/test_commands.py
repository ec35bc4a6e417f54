"""The single steps of measuring, each against a scripted device."""

from dataclasses import replace

import pytest

from harness.device import commands
from harness.device.hello import read_hello
from harness.device.talk import Device, Patience
from harness.device.wire import Frame
from harness.domain.recipe import FlashedModel, Recipe
from harness.errors import (
    ArenaTooSmallError,
    ConfigMismatchError,
    DeviceError,
    FlashError,
    ModelRefusedError,
    ProtocolError,
    UsageError,
)
from harness.files.fields import Fields
from tests.support.scripted import ALLOCATED, ANSWERS, HELLO, SUBJECT, ScriptedLine, changed, failing


def device(script=None, **hello):
    line = ScriptedLine(script, **hello)
    line.boot()
    made = Device(line, line.reset, Patience(0.5, 0.5, 0.5))
    made.await_boot()
    return made, line


def hello(**changes):
    return read_hello(Frame("hello", "0" * 8, Fields("hello", {**HELLO, **changes}, ProtocolError)))


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"build_id": "f" * 16}, FlashError, "firmware build"),
        ({"image_crc32": 1}, FlashError, "CRC-32 of the firmware"),
        ({"model": {**HELLO["model"], "state": "bad_crc"}}, FlashError, "model region"),
        ({"model": {**HELLO["model"], "sha256": "00" * 32}}, FlashError, "SHA-256 of the model"),
        ({"sizes": {"TfLiteTensor": 40}}, ConfigMismatchError, "TfLiteTensor 40 instead of 64 bytes"),
    ],
)
def test_what_runs_must_be_what_was_flashed_and_estimated(changes, error, words):
    with pytest.raises(error, match=words):
        commands.check_hello(hello(**changes), SUBJECT)


def test_sizes_that_only_one_side_knows_are_no_difference():
    subject = replace(SUBJECT, struct_sizes={"TfLiteTensor": 64, "OpDataReduce": 44})
    assert commands.check_hello(hello(sizes={"TfLiteTensor": 64, "Other": 1}), subject)


def test_more_models_than_can_share_an_arena_are_wrong_usage():
    with pytest.raises(UsageError, match="so many models"):
        commands.check_hello(hello(), replace(SUBJECT, models=SUBJECT.models * 9))


def test_the_hello_of_another_build_may_be_a_late_word():
    line = ScriptedLine()
    line.boot(build_id="f" * 16)
    line.boot()
    made = Device(line, line.reset, Patience(0.5, 0.5, 0.5))
    assert commands.await_hello(made, SUBJECT).build_id == HELLO["build_id"]


@pytest.mark.parametrize(("asked", "given"), [(None, 4096), (1024, 1024), (4096, 4096)])
def test_the_arena_is_the_one_asked_for_or_the_largest(asked, given):
    assert commands.arena_size(Recipe(arena_size_bytes=asked), hello()) == given


def test_a_larger_arena_than_there_is_cannot_be_had():
    with pytest.raises(UsageError, match="larger than the RAM") as raised:
        commands.arena_size(Recipe(arena_size_bytes=4100), hello())
    assert raised.value.expected == "at most 4,096"


def test_allocating_tells_the_tensors():
    made, line = device()
    (model,) = commands.allocate(made, SUBJECT, 2048, 0x55)
    assert [tensor.shape for tensor in model.inputs] == [(1, 4)]
    assert line.commands[-1] == {"cmd": "allocate", "arena_bytes": 2048, "paint": 0x55, "variables": 0}


def test_further_models_share_the_arena_of_the_first():
    subject = replace(SUBJECT, models=(FlashedModel("aa"), FlashedModel("bb", variables=2)))
    made, line = device()
    models = commands.allocate(made, subject, 2048, 0xAA)
    assert [model.number for model in models] == [0, 1]
    assert line.commands[-1] == {"cmd": "share", "model": 1, "variables": 2}


def test_ram_that_does_not_hold_the_paint_is_told():
    made, _ = device(changed("allocate", {**ALLOCATED, "paint_ok": False}))
    with pytest.raises(DeviceError, match="paint did not take"):
        commands.allocate(made, SUBJECT, 2048, 0xAA)


def test_a_kernel_that_goes_on_without_its_memory_is_not_believed():
    made, _ = device(failing("allocate", ALLOCATED, "Failed to allocate persistent buffer of size 100"))
    with pytest.raises(ArenaTooSmallError):
        commands.allocate(made, SUBJECT, 2048, 0xAA)


def test_recording_tells_bytes_by_kind():
    body = {**ALLOCATED, "sections": {"op_data": {"requested_bytes": 3, "used_bytes": 4, "count": 1}}}
    made, line = device(changed("allocate", body))
    assert commands.record(made, SUBJECT, 4096) == {"op_data": 4}
    assert line.commands[-1]["record"] == 1


def test_the_inputs_are_fed_before_each_invoke():
    made, line = device()
    (model,) = commands.allocate(made, SUBJECT, 4096, 0xAA)
    commands.invoke(made, hello(), model, Recipe(inputs=(b"\x01\x02\x03\x04",), invokes=2), watch=True)
    done = [(each["cmd"], each.get("watch")) for each in line.commands if each["cmd"] in ("input", "invoke")]
    assert done == [("input", None), ("invoke", 1)] * 2


def test_an_invoke_that_fails_says_why():
    refused = {**ANSWERS["invoke"], "status": "failed"}
    made, _ = device(failing("invoke", refused, "Type FLOAT16 (10) not supported."))
    (model,) = commands.allocate(made, SUBJECT, 4096, 0xAA)
    with pytest.raises(ModelRefusedError, match="Invoke"):
        commands.invoke(made, hello(), model, Recipe())


def test_outputs_are_read_one_by_one():
    made, line = device()
    (model,) = commands.allocate(made, SUBJECT, 4096, 0xAA)
    assert commands.read_outputs(made, model) == [b"\x2a"]
    assert commands.scan(made).count("gap_bytes") == 3096
    assert line.commands[-1] == {"cmd": "scan"}
