"""A vector may lie at any multiple of 4: the verifier of flatbuffers asks for no more, whatever its elements are."""

from __future__ import annotations

import pytest

from harness.domain.estimate import Profile
from harness.estimate import ModelFile, estimate
from harness.estimate.host.estimate import HOST_PROFILE, host_estimate
from harness.estimate.reading.parse import parse
from tests.support.models import ModelBuilder, layers
from tests.support.moved import all_moved, moved, vectors
from tests.support.places import SHARED_MODELS


def quantized() -> bytes:
    """Per-channel weights, an offline plan and options: vectors of numbers of 1, 4 and 8 bytes."""
    model = ModelBuilder()
    x = model.input("x", [1, 4, 4, 2], "int8", scales=1)
    weights = model.constant("w", [2, 3, 3, 2], "int8", scales=2)
    y = model.tensor("y", [1, 4, 4, 2], "int8", scales=1)
    model.operator("CONV_2D", [x, weights, -1], [y], ("Conv2DOptions", {"StrideW": 1, "StrideH": 1}))
    model.output(y)
    model.offline_plan(-1, -1, 0)
    return model.build()


MODELS = {"quantized": quantized(), "float": layers((8, 4, 2)).build()}


@pytest.mark.parametrize("name", MODELS)
def test_every_vector_may_lie_at_any_multiple_of_4(name: str) -> None:
    model = MODELS[name]
    found = vectors(model)
    assert {vector.element_bytes for vector in found} >= {1, 4}
    for vector in found:
        assert parse(moved(model, vector)) == parse(model), vector


def test_8_byte_numbers_at_4_mod_8_are_read() -> None:
    wide = [vector for vector in vectors(MODELS["quantized"]) if vector.element_bytes == 8]
    assert wide
    for vector in wide:
        data = moved(MODELS["quantized"], vector)
        assert (vector.pointer + int.from_bytes(data[vector.pointer :][:4], "little") + 4) % 8 == 4
        assert parse(data) == parse(MODELS["quantized"])


def figures(data: bytes) -> tuple[int, int | None]:
    found = estimate(ModelFile.of("m", data), Profile("2026-08", "arm32"))
    return found.arena_used_bytes, found.min_working_arena_bytes


@pytest.mark.parametrize("path", sorted(SHARED_MODELS.glob("*.tflite")), ids=lambda path: path.stem)
def test_public_models_with_all_vectors_moved_have_the_same_figures(path) -> None:
    model = path.read_bytes()
    assert figures(all_moved(model)) == figures(model)


def test_the_official_wheel_agrees() -> None:
    pytest.importorskip("tflite_micro", reason="the official wheel is not installed (extra oracle)")
    model = ModelFile.of("m", all_moved(MODELS["quantized"]))
    on_host, by_layout = host_estimate(model), estimate(model, HOST_PROFILE)
    assert on_host.arena_used_bytes == by_layout.arena_used_bytes
    assert on_host.min_working_arena_bytes == by_layout.min_working_arena_bytes
