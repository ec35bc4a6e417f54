"""Empty tensors: accepted, with the official wheel's figures, where its kernels do no harm; else refused."""

from __future__ import annotations

import pytest

from harness.errors import ModelError
from harness.estimate import HOST_PROFILE, ModelFile, estimate
from harness.estimate.host.estimate import host_estimate
from tests.support.models import ModelBuilder
from tests.support.operator_models import SOUND, Operand, OperatorCase, constant, integers

JOIN = ("ConcatenationOptions", {"Axis": 1})
KEEP = ("ReducerOptions", {"KeepDims": False})
PADS = Operand((2, 2), "int32", b"".join(number.to_bytes(4, "little") for number in (0, 0, 1, 1)))
IMAGE = Operand((1, 4, 4, 3))
STRIDES = ("Conv2DOptions", {"StrideW": 1, "StrideH": 1})

HARMLESS = [
    OperatorCase("CONCATENATION", "input", (Operand((1, 4)), Operand((1, 0))), (Operand((1, 4)),), JOIN),
    OperatorCase("CONCATENATION", "constant", (Operand((1, 4)), constant((1, 0))), (Operand((1, 4)),), JOIN),
    OperatorCase("SUM", "float", (Operand((1, 0, 8)), integers(1)), (Operand((1, 8)),), KEEP),
    OperatorCase("SUM", "no axes", (Operand((2, 2)), constant((0,), "int32")), (Operand((2, 2)),), KEEP),
    OperatorCase("MEAN", "int8", (Operand((1, 0, 8), "int8"), integers(1)), (Operand((1, 8), "int8"),), KEEP),
    OperatorCase("PAD", "float", (Operand((2, 0)), PADS), (Operand((2, 2)),)),
    OperatorCase("ADD", "scalars", (Operand((1,)), Operand((0,))), (Operand((0,)),), ("AddOptions", {})),
    OperatorCase("SLICE", "nothing", (Operand((6,)), integers(2), integers(0)), (Operand((0,)),)),
    OperatorCase("MEAN", "old scalar", (Operand((1, 8)), integers(0, 1)), (Operand((0,)),), KEEP),
    OperatorCase(
        "CONV_2D", "empty bias", (Operand((1, 4, 4, 2)), constant((3, 1, 1, 2)), constant((0,))),
        (Operand((1, 4, 4, 3)),), STRIDES,
    ),
]  # fmt: skip

HARMFUL = [
    (OperatorCase("TANH", "written", (Operand((1, 0)),), (Operand((1, 0)),)), "dynamic tensor"),
    (OperatorCase("TANH", "old scalar", (Operand((1, 6)),), (Operand((0,)),)), "write where no memory is"),
    (OperatorCase("TANH", "other shape", (Operand((1, 0)),), (Operand((1, 6)),)), "should then have shapes [[1, 0]]"),
    (OperatorCase("MEAN", "float", (Operand((1, 0, 8)), integers(1)), (Operand((1, 8)),), KEEP), "read where no"),
    (
        OperatorCase("CONV_2D", "float", (Operand((1, 4, 4, 0)), constant((3, 1, 1, 0))), (IMAGE,), STRIDES),
        "divide by 0",
    ),
    (OperatorCase("SLICE", "none", (Operand((6,)), constant((0,), "int32"), integers(3)), (Operand((3,)),)), "read"),
    (OperatorCase("SHAPE", "no outputs", (Operand((0,)),), ()), "do not follow"),
]  # fmt: skip


def model_of(case: OperatorCase | ModelBuilder) -> ModelFile:
    return ModelFile.of("m", (case.build() if isinstance(case, OperatorCase) else case).build())


def agree(model: ModelFile) -> None:
    pytest.importorskip("tflite_micro", reason="the official wheel is not installed (extra oracle)")
    by_layout, on_host = estimate(model, HOST_PROFILE), host_estimate(model)
    assert by_layout.arena_used_bytes == on_host.arena_used_bytes
    assert by_layout.head_bytes == on_host.head_bytes
    assert by_layout.min_working_arena_bytes == on_host.min_working_arena_bytes


@pytest.mark.parametrize("case", HARMLESS, ids=lambda case: case.id)
def test_empty_tensors_that_do_no_harm_are_estimated(case: OperatorCase) -> None:
    agree(model_of(case))


def test_an_empty_input_that_nobody_reads_is_estimated() -> None:
    model = ModelBuilder()
    x, y = model.input("x", [1, 4]), model.tensor("y", [1, 4])
    model.input("nothing", [1, 0])
    model.operator("TANH", [x], [y])
    model.output(y)
    agree(model_of(model))


@pytest.mark.parametrize(("case", "words"), HARMFUL, ids=lambda value: getattr(value, "id", None))
def test_empty_tensors_that_a_kernel_reaches_into_are_refused(case: OperatorCase, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        estimate(model_of(case), HOST_PROFILE)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "case", [case for case in SOUND if case.variant.startswith("float32")], ids=lambda case: case.id
)
def test_no_operator_may_write_an_empty_tensor(case: OperatorCase) -> None:
    with pytest.raises(ModelError, match="dynamic tensor"):
        estimate(model_of(case.with_output(0, shape=(0, 6))), HOST_PROFILE)
