"""What is known of a model before a device is asked."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.bench.boards import load_board
from harness.domain.board import MemoryRegion
from harness.domain.firmware import FirmwareImage, FlashSegment
from harness.domain.run_options import RunOptions
from harness.errors import ArenaTooSmallError, DeadlineError, ModelError, OperatorMissingError
from harness.estimate import ModelFile
from harness.measure.expectation import advised_for_board, expect, used_operators
from tests.support.models import chain

BOARD = load_board("stm32f407-virtual")
IMAGE = FirmwareImage(
    build_id="0" * 16, board_id=BOARD.id, tflm="2026-08", tflm_version="mine", toolchain="", crc32=0, elf=Path(),
    segment=FlashSegment(0, b""), model_region=MemoryRegion(0, 0x1000), text_bytes=0, ram_bytes=0,
    arena_max_bytes=65_540, operators=("RELU", "TANH", "AVERAGE_POOL_2D"),
)  # fmt: skip
OPTIONS = RunOptions()


def expect_one(model, image=IMAGE):
    return expect([model], image, BOARD, OPTIONS)


def model(*operators):
    return ModelFile.of("m.tflite", chain(*operators).build())


def test_the_estimate_is_for_the_kernels_of_the_firmware_and_the_arena_that_it_leaves():
    found = expect_one(model("TANH"), replace(IMAGE, kernels="cmsis-nn"))
    assert (found.profile.tflm, found.profile.abi, found.profile.kernels) == ("2026-01", "arm32", "cmsis-nn")
    other_end = expect_one(model("TANH"), replace(IMAGE, kernels="cmsis-nn", arena_max_bytes=65_536))
    assert (found.arena_used_bytes - other_end.arena_used_bytes) % 16 == 4


def test_an_operator_that_the_firmware_does_not_hold_is_refused_by_name():
    with pytest.raises(OperatorMissingError) as caught:
        expect_one(model("RELU", "LOGISTIC", "TANH", "ABS", "LOGISTIC"), IMAGE)
    assert caught.value.what == "the firmware has no operator 'LOGISTIC', 'ABS'"
    assert caught.value.where == "m.tflite, subgraph 0, operator 1 LOGISTIC"
    assert "mine" in str(caught.value.measured)


def test_an_operator_that_no_tflm_of_this_generation_has_is_the_models_fault():
    with pytest.raises(ModelError, match="has no such operator"):
        expect_one(model("COS", "Mine"), replace(IMAGE, operators=("COS", "Mine")))


def test_used_operators_are_those_of_all_models_that_can_be_read(tmp_path):
    paths = [tmp_path / name for name in ("one.tflite", "other.tflite", "bad.tflite", "missing.tflite")]
    paths[0].write_bytes(chain("RELU", "TANH").build())
    paths[1].write_bytes(chain("TANH", "Mine").build())
    paths[2].write_bytes(b"no model")
    assert used_operators(paths) == {"RELU", "TANH", "Mine"}


TOO_SMALL = ArenaTooSmallError("the arena is too small", where="/dev/x", measured="its words", hint="a larger one")


@pytest.mark.parametrize(("given", "less"), [(None, 4), (65_540, 4), (1024, 4), (None, 0), (65_540, 0)])
def test_where_no_larger_arena_can_be_had_none_is_advised(given, less):
    expected = expect_one(model("TANH"))
    told = advised_for_board(TOO_SMALL, expected, given, expected.min_working_arena_bytes - less if less else 65_540)
    assert isinstance(told, ArenaTooSmallError)
    assert told.what.startswith("the model does not fit this board: it needs ")
    assert told.what.endswith("; the arena is too small")
    assert (f"an arena of about {expected.min_working_arena_bytes:,} bytes, of at most" in told.what) == bool(less)
    assert (told.where, told.measured, told.hint) == (
        "/dev/x",
        "its words",
        "take another board, or a smaller model",
    )


def test_advice_that_can_help_stays():
    expected = expect_one(model("TANH"))
    assert advised_for_board(TOO_SMALL, expected, 1024, 65_540) is TOO_SMALL
    assert advised_for_board(TOO_SMALL, None, 1024, 65_540) is TOO_SMALL
    silence = DeadlineError("nothing came")
    assert advised_for_board(silence, expected, None, 4) is silence
