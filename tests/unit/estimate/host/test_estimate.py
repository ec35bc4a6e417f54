"""The host method, and that the x86-64 layout equals it. The official wheel runs for real, in its own process."""

import pytest

from harness.errors import ArenaTooSmallError, DeadlineError, ModelError, PluginError, UsageError
from harness.estimate import ModelFile, estimate, read_model
from harness.estimate.host import estimate as host
from harness.estimate.host.estimate import HOST_PROFILE, host_estimate
from tests.support.models import ModelBuilder, chain
from tests.support.places import SHARED

PUBLIC = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem.startswith("seanet_") else [])
    for path in sorted((SHARED / "models").glob("*.tflite"))
]
"""The models; what was cut out of one large network, operator by operator, takes its time."""

pytest.importorskip("tflite_micro", reason="the official wheel is not installed (extra oracle)")


def model_file(builder):
    return ModelFile.of("small", builder.build())


def figures(found):
    recorded = {section.name: section.size_bytes for section in found.recorded_sections if section.size_bytes}
    return (
        found.arena_used_bytes,
        found.head_bytes,
        found.tail_bytes,
        found.min_working_arena_bytes,
        found.recommended_arena_bytes,
        recorded,
    )


@pytest.mark.skipif(not PUBLIC, reason="the public models are not there")
@pytest.mark.parametrize("path", PUBLIC)
def test_the_layout_equals_the_host_on_public_models(path):
    model = read_model(path)
    assert figures(estimate(model, HOST_PROFILE)) == figures(host_estimate(model))


@pytest.mark.skipif(not PUBLIC, reason="the unusual models are not there")
@pytest.mark.parametrize("name", ["variable_tensor_4KB", "offline_plan_4k_stride", "fc_optional_bias"])
def test_the_layout_equals_the_host_on_unusual_models(name):
    model = read_model(SHARED / "cases" / f"{name}.tflite")
    assert figures(estimate(model, HOST_PROFILE)) == figures(host_estimate(model))


def kernels_that_read_compressed_tensors():
    """One of each kernel whose user data is larger in the wheel, twice, so that alignment shows."""
    builder = ModelBuilder()
    last = builder.input("x", [1, 4, 4, 2])
    bias = builder.constant("bias", [4])
    for number in range(2):
        joined = builder.tensor(f"joined{number}", [1, 4, 4, 4])
        builder.operator("CONCATENATION", [last, last], [joined], options=("ConcatenationOptions", {"Axis": 3}))
        weights = builder.constant(f"conv{number}", [4, 1, 1, 4])
        conv = builder.tensor(f"c{number}", [1, 4, 4, 4])
        strides = {"StrideH": 1, "StrideW": 1}
        builder.operator("CONV_2D", [joined, weights, bias], [conv], options=("Conv2DOptions", strides))
        weights = builder.constant(f"depthwise{number}", [1, 1, 1, 4])
        last = builder.tensor(f"d{number}", [1, 4, 4, 4])
        options = ("DepthwiseConv2DOptions", strides | {"DepthMultiplier": 1})
        builder.operator("DEPTHWISE_CONV_2D", [conv, weights, bias], [last], options=options)
        flat = builder.tensor(f"f{number}", [16, 2])
        weights = builder.constant(f"w{number}", [2, 4])
        builder.operator("FULLY_CONNECTED", [last, weights, -1], [flat], options=("FullyConnectedOptions", {}))
        last = builder.tensor(f"r{number}", [1, 4, 4, 2])
        builder.operator("RESHAPE", [flat], [last], options=("ReshapeOptions", {}))
    builder.output(last)
    return builder


def without_operators(*tensors):
    """A model that is nothing but its inputs and outputs."""
    builder = ModelBuilder()
    for kind in tensors:
        tensor = builder.constant("c", [1, 8]) if kind == "constant" else builder.tensor("t", [1, 8], "int8", scales=1)
        (builder.inputs if kind == "input" else builder.outputs).append(tensor)
    return builder


@pytest.mark.parametrize("tensors", [(), ("input",), ("input", "output"), ("constant",)])
def test_the_layout_equals_the_host_on_models_without_operators(tensors):
    model = model_file(without_operators(*tensors))
    assert figures(estimate(model, HOST_PROFILE)) == figures(host_estimate(model))


@pytest.mark.parametrize("build", [kernels_that_read_compressed_tensors, lambda: chain("RELU", "ABS", "TANH", size=99)])
def test_the_layout_equals_the_host_on_models_made_here(build):
    model = model_file(build())
    assert figures(estimate(model, HOST_PROFILE)) == figures(host_estimate(model))


@pytest.mark.parametrize("arena_size", [4096, 4100, 4104, 4108])
def test_the_arena_asked_for_is_the_one_used(arena_size):
    model = model_file(chain("RELU"))
    on_host = host_estimate(model, arena_size_bytes=arena_size)
    by_layout = estimate(model, HOST_PROFILE, arena_size_bytes=arena_size)
    assert on_host.arena_used_bytes == by_layout.arena_used_bytes


def test_its_sections_add_up_and_its_margin_is_added():
    found = host_estimate(model_file(chain("RELU", "TANH")), margin_percent=50)
    assert sum(section.size_bytes for section in found.sections) == found.arena_used_bytes
    assert found.recommended_arena_bytes >= 1.5 * found.min_working_arena_bytes
    assert found.warnings == ()


def test_an_arena_that_is_too_small():
    with pytest.raises(ArenaTooSmallError) as caught:
        host_estimate(model_file(chain("RELU")), arena_size_bytes=640)
    assert caught.value.measured == "640 bytes"


def test_an_arena_so_small_that_tflm_crashes():
    with pytest.raises(ModelError, match="crashed on it"):
        host_estimate(model_file(chain("RELU")), arena_size_bytes=64)


@pytest.mark.parametrize("arena_size", [0, -4, 2**40])
def test_a_senseless_arena(arena_size):
    with pytest.raises(UsageError):
        host_estimate(model_file(chain("RELU")), arena_size_bytes=arena_size)


def test_a_model_that_tflm_refuses():
    with pytest.raises(ModelError, match=r"refuses it: .*CUSTOM"):
        host_estimate(model_file(chain("MY_CUSTOM")))


def test_the_first_words_of_a_refusal_are_shown_and_the_operator():
    squeezed = ModelBuilder()
    x, y = squeezed.input("x", [1, 4], "int8"), squeezed.tensor("y", [1, 4], "float32")
    squeezed.operator("TANH", [x], [y])
    squeezed.output(y)
    with pytest.raises(ModelError, match=r"refuses it: \S*tanh.cc:\d+ .*\(Node TANH \(number 0\) failed to prepare"):
        host_estimate(model_file(squeezed))


def test_a_hang_is_ended():
    with pytest.raises(DeadlineError):
        host_estimate(model_file(chain("RELU")), deadline_s=0.01)


def test_without_the_wheel_its_extra_is_named(monkeypatch):
    monkeypatch.setattr(host, "find_spec", lambda name: None)
    with pytest.raises(PluginError) as caught:
        host_estimate(model_file(chain("RELU")))
    assert "harness[oracle]" in caught.value.hint
