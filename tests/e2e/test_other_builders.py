"""Models as other flatbuffers builders write them run on the device, with the figures of what was converted anew."""

import pytest

from tests.support.boards import BOARD
from tests.support.models import ModelBuilder
from tests.support.moved import all_moved

SAME = ("arena_used_bytes", "head_bytes", "tail_bytes", "painted_used_bytes", "output_sha256")


@pytest.mark.slow
@pytest.mark.parametrize("board", [BOARD, "esp32-virtual"])
def test_vectors_at_4_mod_16_change_nothing_on_the_device(harness, example, board, tmp_path):
    sound = example("micro_speech.tflite")
    moved = tmp_path / "moved.tflite"
    moved.write_bytes(all_moved(sound.read_bytes()))
    ended = harness("run", sound, moved, "--board", board, "--format", "json")
    before, after = ended.rows
    assert after["verdict"] == before["verdict"] == "ok", ended.err
    assert [after["measurement"][key] for key in SAME] == [before["measurement"][key] for key in SAME]


def test_an_empty_input_is_measured_as_estimated(harness, tmp_path):
    model = ModelBuilder()
    x, nothing, y = model.input("x", [1, 4]), model.input("nothing", [1, 0]), model.tensor("y", [1, 4])
    model.operator("CONCATENATION", [x, nothing], [y], options=("ConcatenationOptions", {"Axis": 1}))
    model.output(y)
    (tmp_path / "m.tflite").write_bytes(model.build())
    (row,) = harness("run", tmp_path / "m.tflite", "--board", BOARD, "--format", "json").rows
    assert (row["verdict"], row["error_bytes"]) == ("ok", 0)
