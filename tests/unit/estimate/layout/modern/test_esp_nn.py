"""TFLM 2026-08 with ESP-NN."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.domain.estimate import Profile
from harness.estimate import ModelFile, estimate
from tests.support.layouts import convolution, requested, scratch
from tests.support.models import ModelBuilder, chain

GENERIC = Profile("2026-08", "xtensa32", "esp-nn")
S3 = Profile("2026-08", "xtensa32", "esp-nn-s3")


def depthwise(element: str = "int8") -> ModelBuilder:
    model = ModelBuilder()
    x = model.input("x", [1, 8, 8, 8], element, scales=1)
    weights = model.constant("w", [1, 3, 3, 8], "int8", scales=8, quantized_dimension=3)
    y = model.tensor("y", [1, 8, 8, 8], element, scales=1)
    options = {"StrideW": 1, "StrideH": 1, "DepthMultiplier": 1}
    model.operator("DEPTHWISE_CONV_2D", [x, weights, -1], [y], ("DepthwiseConv2DOptions", options))
    model.output(y)
    return model


def softmax(element: str = "int8") -> ModelBuilder:
    model = ModelBuilder()
    x, y = model.input("x", [2, 10], element, scales=1), model.tensor("y", [2, 10], element, scales=1)
    model.operator("SOFTMAX", [x], [y], ("SoftmaxOptions", {}))
    model.output(y)
    return model


def warnings(model: ModelBuilder, profile: Profile) -> tuple[str, ...]:
    """All but the one that figures for ESP-NN were read, and not measured."""
    first, *others = estimate(ModelFile.of("m", model.build()), profile).warnings
    assert "not measured yet" in first
    return tuple(others)


def test_kernels_for_plain_cores_take_no_scratch_but_for_softmax() -> None:
    assert scratch(convolution(), GENERIC) == []
    assert scratch(depthwise(), GENERIC) == []
    assert scratch(softmax(), GENERIC) == [48]  # 4 * 10, up to 16
    assert warnings(convolution(), GENERIC) == ()


def test_user_data_are_those_of_the_kernels() -> None:
    assert requested(convolution(), "persistent_buffers", GENERIC)[0] == 60
    assert requested(convolution(), "persistent_buffers", replace(GENERIC, tflm="2024-09"))[0] == 56
    assert requested(depthwise(), "persistent_buffers", GENERIC)[0] == 60
    assert requested(softmax(), "persistent_buffers", GENERIC)[0] == 60


@pytest.mark.parametrize(
    ("channels", "wanted"),
    [
        # filter, columns of 8 positions, spare bytes
        (8, 8 * 2 + 16 * 8 + 32),
        # the same for 16 channels, and the input with its channels filled up
        (12, 16 * 2 + 64 * 16 + 16 * 16 + 32),
    ],
)
def test_pointwise_convolution_on_the_s3_fills_channels_up(channels: int, wanted: int) -> None:
    assert scratch(convolution(side=1, channels=channels), S3) == [wanted]


def test_other_convolutions_on_the_s3_copy_input_and_filter_and_promise_nothing() -> None:
    assert scratch(convolution(), S3) == [8 * 8 * 4 + 2 * 3 * 3 * 4 + 64 + 8]  # up to 16
    assert scratch(depthwise(), S3) == [8 * 8 * 8 + 3 * 3 * 8 + 64 + 8]
    (said,) = warnings(depthwise(), S3)
    assert "from version to version of ESP-NN (subgraph 0, operator 0 DEPTHWISE_CONV_2D): the estimate" in said


def test_many_kernels_without_a_promise_are_one_warning() -> None:
    model = convolution()
    z = model.tensor("z", [1, 8, 8, 2], "int8", scales=1)
    model.operator("CONV_2D", [0, 1, -1], [z], ("Conv2DOptions", {"StrideW": 1, "StrideH": 1}))
    (said,) = warnings(model, S3)
    assert "(subgraph 0, operator 0 CONV_2D and 1 more)" in said


@pytest.mark.parametrize("profile", [GENERIC, S3])
def test_only_8_bit_integers_have_kernels_of_their_own(profile: Profile) -> None:
    assert scratch(convolution("float32", "float32"), profile) == []
    assert scratch(convolution(element="int16"), profile) == []
    assert scratch(softmax("int16"), profile) == []
    assert warnings(convolution("float32", "float32"), profile) == ()
    assert warnings(chain("RELU"), profile) == ()


def test_a_4_bit_filter_is_unpacked_before_the_kernels_own_scratch() -> None:
    assert scratch(convolution("int4"), GENERIC) == [80]
    assert scratch(convolution("int4"), S3)[0] == 80
