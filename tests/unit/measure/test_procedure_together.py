"""Several models in one arena."""

import hashlib
from dataclasses import replace

import pytest

from harness.device.talk import Device, Patience
from harness.domain.recipe import FlashedModel, Recipe
from harness.errors import ArenaTooSmallError, FlashError, UsageError
from harness.measure.procedure import measure
from tests.support.scripted import ANSWERS, HELLO, SHA256, SUBJECT, ScriptedLine, changed, failing

OTHER_SHA256 = "ee" * 32
BOTH = replace(
    SUBJECT, model="(shared)", sha256="both", models=(FlashedModel(SHA256), FlashedModel(OTHER_SHA256, variables=2))
)
IN_FLASH = [HELLO["model"], {"state": "ok", "size_bytes": 5, "sha256": OTHER_SHA256}]


def measured_together(script=None, subject=BOTH, **hello):
    line = ScriptedLine(script, **{"models": IN_FLASH, "share_max": 2, "records": 1, **hello})
    line.boot()
    return line, measure(Device(line, line.reset, Patience(0.3, 0.3, 0.3)), subject, Recipe())


def output_of_each(line, command):
    return line.frame({**ANSWERS["output"], "hex": f"{command['model']:02x}"}) if command["cmd"] == "output" else None


def test_models_that_share_an_arena_take_turns_on_both_paints():
    line, found = measured_together(output_of_each)
    turns = [(command["cmd"], command.get("model")) for command in line.commands]
    one_round = [
        ("repaint", None), ("fill", 0), ("invoke", 0), ("output", 0), ("fill", 1), ("invoke", 1), ("scan", None),
    ]  # fmt: skip
    allocated = [("allocate", None), ("share", 1)]
    assert turns == [*allocated, *one_round, *one_round, ("output", 1), *allocated, ("scan", None)]
    assert [command["variables"] for command in line.commands if "variables" in command] == [0, 2, 0, 2]
    assert (found.model, found.sha256) == ("(shared)", "both")
    assert (found.arena_used_bytes, found.head_bytes, found.tail_bytes) == (1600, 300, 1300)
    assert (found.alloc_ticks, found.invoke_ticks) == (10, 18)
    assert found.output_data == (b"\x00", b"\x01")
    assert found.output_sha256 == hashlib.sha256(b"\x00\x01").hexdigest()
    assert len(found.inputs) == len(found.outputs) == 2
    assert found.sections == {}


def test_what_any_of_the_models_touched_counts():
    other = {**ANSWERS["share"], "arena_bytes": 4096, "untouched": [[1000, 500], [2000, 100]]}
    _, found = measured_together(changed("share", other))
    # The free middle is [300, 2796); of it [300, 3100) stayed as it was with the first model.
    assert found.touched_by_allocation_bytes == 2496 - 600


@pytest.mark.parametrize(
    ("models", "told"),
    [
        (IN_FLASH[:1], "model region 2"),
        ([IN_FLASH[0], {**IN_FLASH[1], "state": "bad_crc"}], "model region 2"),
        ([IN_FLASH[0], {**IN_FLASH[1], "sha256": "00" * 32}], "SHA-256 of the model 2"),
    ],
)
def test_every_model_must_be_what_was_flashed(models, told):
    with pytest.raises(FlashError, match=told):
        measured_together(models=models)


def test_remains_of_other_models_behind_ours_do_not_matter():
    _, found = measured_together(models=[*IN_FLASH, {"state": "bad_crc", "size_bytes": 9, "sha256": "11" * 32}])
    assert found.arena_used_bytes == 1600


def test_more_models_than_the_firmware_has_room_for_are_refused():
    with pytest.raises(UsageError, match="so many models") as caught:
        measured_together(share_max=1, models=IN_FLASH[:1])  # the firmware looks for no more than can share
    assert (caught.value.measured, caught.value.expected) == ("2 models", "at most 1")


def test_a_second_model_that_does_not_fit_is_told_as_such():
    log = "Failed to allocate memory. Requested: 64, available 3, missing: 61"
    with pytest.raises(ArenaTooSmallError):
        measured_together(failing("share", {**ANSWERS["share"], "arena_bytes": 4096, "status": "error"}, log))
