"""Sound models, from which damaged ones are made."""

from __future__ import annotations

from tests.support.models import ModelBuilder, chain, layers, skipping
from tests.support.places import SHARED_MODELS

_LARGEST_BYTES = 60_000


def convolution() -> ModelBuilder:
    model = ModelBuilder()
    x = model.input("x", [1, 4, 4, 2], "int8", scales=1)
    weights = model.constant("w", [2, 3, 3, 2], "int8", scales=2)
    y = model.tensor("y", [1, 4, 4, 2], "int8", scales=1)
    model.operator("CONV_2D", [x, weights, -1], [y], ("Conv2DOptions", {"StrideW": 1, "StrideH": 1}))
    model.output(y)
    model.offline_plan(-1, -1, 0)
    return model


def streaming() -> ModelBuilder:
    model = chain("ABS")
    handle = model.tensor("h", [], "resource")
    model.operator("CALL_ONCE", [], [], ("CallOnceOptions", {"InitSubgraphIndex": 1}))
    model.operator("VAR_HANDLE", [], [handle], ("VarHandleOptions", {"Container": "c", "SharedName": "n"}))
    model.operator("ASSIGN_VARIABLE", [handle, 0], [])
    inner = model.subgraph("inner")
    inner.operator("ABS", [inner.input("a", [2])], [inner.tensor("b", [2])])
    return model


SEEDS = [chain("SOFTMAX", "RESHAPE", "MEAN").build(), convolution().build(), streaming().build()]


def seeds() -> list[bytes]:
    """Models of the test builder, and small public ones where they lie beside the checkout."""
    built = [*SEEDS, skipping().build(), layers((8, 4, 2)).build(), chain("LOGISTIC", "ABS", "RELU").build()]
    paths = sorted(SHARED_MODELS.glob("*.tflite"))
    return built + [path.read_bytes() for path in paths if path.stat().st_size <= _LARGEST_BYTES]
