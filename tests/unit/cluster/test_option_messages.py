"""Every option of a run reaches a unit on another machine."""

import json
from dataclasses import fields, replace
from pathlib import Path

from harness.cluster.option_messages import LEFT_BEHIND, options_from_json, options_to_json
from harness.domain.recipe import Recipe
from harness.domain.run_options import RunOptions
from harness.domain.tflm_options import TflmOptions
from harness.errors import ProtocolError
from harness.files.fields import Fields

TFLM_OPTIONS = TflmOptions("cmsis-nn", (Path("/a"), Path("/b c")), Path("/nn"), Path("/esp"))
RECIPE = Recipe(arena_size_bytes=4096, inputs=(b"\x00\xff", b""), invokes=4, random_seed=7)
OPTIONS = RunOptions(
    tflm="/trees/tflite-micro",
    tflm_options=TFLM_OPTIONS,
    probe="mine",
    port="/dev/ttyUSB7",
    recipe=RECIPE,
    min_arena=True,
    force_flash=True,
    keep_flash=True,
    threshold_percent=5.5,
    margin_percent=10,
    corrections=Path("/here"),
    check_output=True,
    input_shapes={"x": (1, 96, 96, 1)},
    shared_arena=True,
    operators=frozenset({"ADD", "Mine"}),
)


def there_and_back(options):
    return options_from_json(Fields("options", json.loads(json.dumps(options_to_json(options))), ProtocolError))


def test_these_options_leave_no_field_at_its_default():
    for value in (OPTIONS, RECIPE, TFLM_OPTIONS):
        default = type(value)()
        same = [each.name for each in fields(value) if getattr(value, each.name) == getattr(default, each.name)]
        assert not same, f"give {same} another value here, so that the next test can see whether it travels"


def test_every_field_travels_but_those_that_mean_nothing_elsewhere():
    found = there_and_back(OPTIONS)
    lost = {each.name for each in fields(OPTIONS) if getattr(found, each.name) != getattr(OPTIONS, each.name)}
    assert lost == LEFT_BEHIND


def test_what_nobody_chose_stays_unchosen():
    assert there_and_back(RunOptions()) == RunOptions()
    assert there_and_back(replace(RunOptions(), operators=frozenset())).operators == frozenset()
