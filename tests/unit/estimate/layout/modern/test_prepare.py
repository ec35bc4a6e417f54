"""Models that TFLM refuses in Prepare: the estimate says so, with operator and rule, and the official wheel agrees."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import pytest

from harness.domain.estimate import Profile
from harness.estimate import HOST_PROFILE, ModelFile, estimate, read_model
from harness.estimate.host.run import host_run
from harness.estimate.layout.modern.prepare import CHECKS, refused
from harness.estimate.reading.parse import parse
from tests.support.operator_models import SOUND, Operand, OperatorCase, constant
from tests.support.places import SHARED_CASES, SHARED_MODELS

CHECKED = [case for case in SOUND if case.name in CHECKS]
CASES = {
    "concat_33_inputs": "at most 10 inputs",
    "litert_svdf_quantized_refused_by_tflm": "SVDF",
    "litert_w8a16_batch_matmul_refused": "one type",
}


def refusals(case: OperatorCase) -> list[str]:
    return list(refused(parse(case.build().build())))


@pytest.mark.parametrize("case", SOUND, ids=lambda case: case.id)
def test_what_a_kernel_accepts_is_not_refused(case: OperatorCase) -> None:
    assert refusals(case) == []


@pytest.mark.parametrize("path", sorted(SHARED_MODELS.glob("*.tflite")), ids=lambda path: path.stem)
def test_public_models_are_not_refused(path) -> None:
    assert estimate(read_model(path), HOST_PROFILE).refused_by_tflm == ()


@pytest.mark.parametrize("name", CASES)
def test_the_refused_cases_say_operator_and_rule(name: str) -> None:
    path = SHARED_CASES / f"{name}.tflite"
    if not path.exists():
        pytest.skip("no ../shared/cases beside the checkout")
    (reason, *_) = estimate(read_model(path), Profile("2026-01", "arm32")).refused_by_tflm
    assert CASES[name] in reason
    assert reason.startswith("subgraph 0, operator ")


def changed(case: OperatorCase) -> Iterator[tuple[str, OperatorCase]]:
    """The case with one operand of another type, or without one of its inputs."""
    for number, operand in enumerate(case.inputs):
        yield (
            f"without {number}",
            OperatorCase(
                case.name, case.variant, case.inputs[:number] + case.inputs[number + 1 :], case.outputs, case.options
            ),
        )
        if operand is not None:
            data = None if operand.data is None else bytes(8 * max(1, prod(operand.shape)))
            for kind in ("float32", "int8", "int16", "uint8", "int32"):
                yield f"input {number} {kind}", case.with_input(number, type=kind, data=data)


def runs(case: OperatorCase) -> bool:
    model = case.build()
    sizes = [prod(model.tensors[index].shape or ()) for index in model.inputs]
    width = {"float32": 4, "int32": 4, "int64": 8, "int16": 2}
    data = [bytes(size * width.get(model.tensors[i].type, 1)) for size, i in zip(sizes, model.inputs, strict=True)]
    try:
        host_run(ModelFile.of("m", model.build()), data, 1)
    except Exception:  # noqa: BLE001 - refused, or crashed
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("case", CHECKED, ids=lambda case: case.id)
def test_what_is_refused_here_does_not_run_with_the_official_wheel(case: OperatorCase) -> None:
    pytest.importorskip("tflite_micro", reason="the official wheel is not installed (extra oracle)")
    for what, other in changed(case):
        if refusals(other):
            assert not runs(other), what


def test_the_rule_is_named() -> None:
    hybrid = OperatorCase(
        "CONV_2D", "hybrid", (Operand((1, 4, 4, 2)), constant((3, 1, 1, 2), "int8", scales=3)), (Operand((1, 4, 4, 3)),)
    )
    assert refusals(hybrid)[0].startswith("subgraph 0, operator 0 CONV_2D: it takes data and weights of these types")
