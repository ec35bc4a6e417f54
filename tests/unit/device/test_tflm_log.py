"""TFLM's words, as its generations say them, and what they mean."""

import pytest

from harness.device.tflm_log import explain, tells_of_small_arena
from harness.errors import ArenaTooSmallError, ModelRefusedError, OperatorMissingError

PREPARE = "Node CONV_2D (number 3f) failed to prepare with status 1"

# Wording of 2020-07 or of later ones, and a part of what is to be said of it.
TOO_SMALL = [
    ("The arena cannot hold TFLM's own allocator", "not even the allocator"),
    ("MicroAllocator: Failed to initialize.", "not even the allocator"),
    ("Failed starting model allocation.", "not even the allocator"),
    ("Arena size is too small for activation buffers. Needed 55296 but only 54096 was available.", "planned tensors"),
    ("Arena size is too small for all buffers. Needed 2304 but only 2064 was available.", "planned tensors"),
    ("Too many buffers (max is 10)", "planner's own tables"),
    ("Failed to allocate memory for allocation_info, 1234 bytes required", "list of buffers"),
    ("Failed to resize buffer. Requested: 49152, available 9056, missing: 40096", "scratch requests"),
    ("Failed to register scratch buffer handle", "scratch buffers"),
    ("Failed to allocate persistent buffer of size 96", "operator's data"),
    ("Failed to allocate temp memory. Requested: 60, available 40, missing: 20", "temporary tensor"),
    ("Failed to allocate temp. memory for tensor 3, subgraph 0", "temporary tensor"),
    ("Failed to allocate variables. Please increase arena size.", "variables"),
    ("Failed to allocate variable tensor of size 320", "variables"),
    ("Failed to allocate resource buffer.", "resource variables"),
    ("Unable to allocate TfLiteAffineQuantization.", "quantization data"),
    ("Unable to allocate quantization->zero_point.", "quantization data"),
    ("Failed to allocate memory for context->tensors, 640 bytes required", "list of tensors"),
    ("Failed to allocate memory for context->eval_tensors, 640 bytes required", "persistent data"),
    ("Failed to allocate memory for context->input_tensors_, 4 bytes required", "list of tensors"),
    ("Failed to allocate memory for node_and_registrations.", "list of operators"),
    ("Failed to allocate memory for persistent TfLiteTensor", "tensor's description"),
    ("Failed to allocate tail memory. Requested: 32, available 16, missing: 16", "persistent data"),
    ("Failed to allocate memory. Requested: 32, available 16, missing: 16", "persistent data"),
    ("failed to allocate DecodeState[2]", "something does not fit"),
]


@pytest.mark.parametrize(("line", "meaning"), TOO_SMALL)
def test_words_for_an_arena_that_is_too_small(line, meaning):
    error = explain(["unrelated", line, PREPARE], "AllocateTensors")
    assert type(error) is ArenaTooSmallError
    assert meaning in error.what
    assert "AllocateTensors, operator 3 CONV_2D" in error.what
    assert line in str(error)


def test_a_size_below_zero_is_called_so():
    line = "Failed to allocate memory. Requested: 4294967280, available 16, missing: 4294967264"
    assert "(-16, -32: a size below zero)" in str(explain([line], "AllocateTensors"))
    assert "below zero" not in str(explain(["Failed to resize buffer. Requested: 49152, available 9056"], "Invoke"))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Didn't find op for builtin opcode 'STRIDED_SLICE' version '2'", "STRIDED_SLICE"),
        ("Failed to get registration from op code CUSTOM", "CUSTOM"),
        ("Missing registration for opcode_index 4", "4"),
    ],
)
def test_words_for_a_missing_operator(line, name):
    error = explain([line], "AllocateTensors")
    assert type(error) is OperatorMissingError
    assert f"no operator {name}" in error.what


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("Type INT16 (7) not supported.", "a kernel cannot do"),
        ("Type INT16 not currently supported by Pad.", "a kernel cannot do"),
        ("./micro/kernels/svdf.cc:416 weights_time->type != kTfLiteInt16 (9 != 7)", "a check in a kernel failed"),
        ("kernels/quantize.cc:66 input->type == kTfLiteFloat32 was not true.", "a check in a kernel failed"),
        ("Only 1 subgraph is currently supported.", ""),
        ("something nobody has heard of", "AllocateTensors"),
    ],
)
def test_words_for_a_model_that_is_refused(line, meaning):
    error = explain([line, PREPARE], "AllocateTensors")
    assert type(error) is ModelRefusedError
    assert meaning in error.what
    assert line in str(error)


def test_the_arena_comes_before_what_follows_from_it():
    lines = ["kernels/conv.cc:1 data != nullptr was not true.", "Failed to allocate persistent buffer of size 96"]
    assert type(explain(lines, "AllocateTensors")) is ArenaTooSmallError


def test_silence_is_a_refusal_without_words():
    error = explain([], "Invoke")
    assert type(error) is ModelRefusedError
    assert "none" in str(error)


@pytest.mark.parametrize("line", [line for line, _ in TOO_SMALL])
def test_a_complaint_about_the_arena_counts_even_when_the_kernel_goes_on(line):
    assert tells_of_small_arena(["unrelated", line])


def test_other_words_are_no_complaint_about_the_arena():
    assert not tells_of_small_arena(["Type INT16 (7) not supported.", "hello", ""])
