"""Operators of other runtimes: each error says what to do about it."""

from __future__ import annotations

import pytest

from harness.domain.estimate import Profile
from harness.errors import ModelError
from harness.estimate import ModelFile, estimate, foreign_advice, load_graph
from tests.support.models import chain

ADVICE = {
    "FlexErf": "without SELECT_TF_OPS",
    "edgetpu-custom-op": "edgetpu_compiler",
    "DISPATCH_OP": "from before that compilation",
    "ethos-u": "from before Vela",
}


def model_of(name: str) -> ModelFile:
    return ModelFile.of("m", chain("RELU", name).build())


@pytest.mark.parametrize("name", ADVICE)
def test_each_has_its_advice(name: str) -> None:
    assert ADVICE[name] in foreign_advice(load_graph(model_of(name)))


@pytest.mark.parametrize("name", ["MY_CUSTOM", "RELU", "flex", "TFLite_Detection_PostProcess"])
def test_others_have_none(name: str) -> None:
    assert foreign_advice(load_graph(model_of(name))) == ""


@pytest.mark.parametrize("name", ["FlexErf", "edgetpu-custom-op", "DISPATCH_OP"])
def test_the_estimate_gives_it_as_its_hint(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        estimate(model_of(name), Profile("2026-08", "arm32"))
    assert name in str(caught.value)
    assert ADVICE[name] in caught.value.hint


@pytest.mark.parametrize("name", ADVICE)
def test_the_host_method_gives_it_as_well(name: str) -> None:
    pytest.importorskip("tflite_micro", reason="the official wheel is not installed (extra oracle)")
    from harness.estimate.host.estimate import host_estimate  # noqa: PLC0415 - needs the wheel

    with pytest.raises(ModelError) as caught:
        host_estimate(model_of(name))
    assert ADVICE[name] in caught.value.hint
