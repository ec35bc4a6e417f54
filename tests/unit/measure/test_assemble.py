"""A measurement, put together from what the device said."""

import pytest

from harness.device.talk import Device, Patience
from harness.domain.recipe import Recipe
from harness.errors import ProtocolError
from harness.files.fields import Fields
from harness.measure.assemble import overruns
from harness.measure.procedure import measure
from tests.support.scripted import ALLOCATED, SCANNED, SUBJECT, ScriptedLine, changed


def measured(script=None):
    line = ScriptedLine(script)
    line.boot()
    return measure(Device(line, line.reset, Patience(0.5, 0.5, 0.5)), SUBJECT, Recipe())


def test_figures_are_those_of_the_frames():
    found = measured()
    assert (found.arena_size_bytes, found.arena_used_bytes) == (4096, 1000)
    assert (found.head_bytes, found.tail_bytes) == (200, 800)
    assert found.painted_used_bytes == 4096 - SCANNED["gap_bytes"]
    assert found.stack_used_bytes == SCANNED["stack_used_bytes"]
    assert found.output_data == (b"\x2a",)
    assert found.emulated
    assert found.log == ()


def test_untouched_means_untouched_on_both_paints():
    """On the second paint the gap begins 100 bytes later: those bytes equalled the first paint by chance."""
    found = measured(changed("scan", {**SCANNED, "gap_offset": 300, "gap_bytes": 2996}, only_paint=0x55))
    assert found.painted_used_bytes == 4096 - 2996


def test_what_allocation_touched_is_what_either_paint_shows():
    plain = measured().touched_by_allocation_bytes
    assert plain == 3096 - 2800  # of the free middle, one run of 2,800 bytes stayed paint
    found = measured(changed("allocate", {**ALLOCATED, "untouched": [[300, 1000]]}, only_paint=0x55))
    assert found.touched_by_allocation_bytes == 3096 - 1000


@pytest.mark.parametrize(
    ("field", "first", "place"),
    [
        ("written_bytes", "written_first", "the free middle"),
        ("guard_low_written_bytes", "guard_low_first", "the guard below the arena"),
        ("guard_high_written_bytes", "guard_high_first", "the guard above the arena"),
    ],
)
def test_an_overrun_is_told_with_its_first_byte(field, first, place):
    found = overruns(Fields("scan", {**SCANNED, field: 12, first: 40}, ProtocolError))
    assert len(found) == 1
    assert "12 bytes written into " + place in found[0]
    assert found[0].endswith(" 40")
    assert overruns(Fields("scan", SCANNED, ProtocolError)) == ()


def test_a_frame_without_a_figure_is_no_measurement():
    lacking = {name: value for name, value in SCANNED.items() if name != "gap_bytes"}
    with pytest.raises(ProtocolError, match="gap_bytes"):
        measured(changed("scan", lacking))
