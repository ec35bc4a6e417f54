"""The same inputs on the virtual board and through TFLM on this machine."""

import pytest

from tests.support.boards import BOARD

pytest.importorskip("tflite_micro", reason="the official wheel is not installed (extra oracle)")

SUPPORTED = ("ad01_int8", "hello_world_int8", "kws_int8", "micro_speech_int8", "resnet8_int8")
"""The public int8 models that both TFLM generations can run, and that fit this board."""


@pytest.mark.parametrize("options", [(), ("--random-input", 1)])
def test_int8_models_are_bit_equal(harness, shared_models, options):
    models = [path for path in shared_models if path.stem in SUPPORTED]
    assert len(models) == len(SUPPORTED)
    ended = harness("run", *models, "--board", BOARD, "--check-output", "--format", "json", *options)
    assert ended.status == 0, ended.err
    for row in ended.rows:
        assert row["verdict"] == "ok"
        assert "the outputs are those of TFLM 2026-01" in row["causes"][-1]


def test_a_file_and_random_data_exclude_each_other(harness, example):
    model = example("hello_world.tflite")
    ended = harness("run", model, "--board", BOARD, "--input", "x", "--random-input", 1)
    assert ended.status == 2
    assert "exclude each other" in ended.err
