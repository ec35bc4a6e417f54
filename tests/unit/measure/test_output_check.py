import struct

import pytest

from harness.domain.measurement import TensorInfo
from harness.errors import DeadlineError, OutputMismatchError
from harness.measure.output_check import Difference, first_difference, unchecked, with_output_check
from tests.support.attempts import result

INT8 = TensorInfo("int8", (1, 3), 3)
INT16 = TensorInfo("int16", (2,), 4)
FLOAT = TensorInfo("float32", (2,), 8)


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def test_equal_outputs_have_no_difference():
    assert first_difference([INT8, FLOAT], [b"abc", floats(1, 2)], [b"abc", floats(1, 2)]) is None


def test_the_first_of_several_differences_is_named():
    device, host = [b"abc", b"\x01\x00\xfe\xff"], [b"abc", b"\x02\x00\xff\xff"]
    assert first_difference([INT8, INT16], device, host) == Difference(1, 0, 1, 2, count=2)


def test_integers_have_no_tolerance_and_their_sign():
    assert first_difference([INT8], [b"\xff\x00\x00"], [b"\x00\x00\x00"]) == Difference(0, 0, -1, 0, count=1)


@pytest.mark.parametrize(
    ("device", "host", "differ"),
    [
        (1.0, 1.000_009, False),
        (1.0, 1.000_02, True),
        (0.0, 9e-6, False),
        (1000.0, 1000.009, False),
        (1000.0, 1000.02, True),
        (float("nan"), float("nan"), False),
        (float("nan"), 1.0, True),
        (float("inf"), float("inf"), False),
        (float("inf"), 1.0, True),
        (float("-inf"), float("inf"), True),
    ],
)
def test_floats_have_a_tolerance(device, host, differ):
    found = first_difference([FLOAT], [floats(0, device)], [floats(0, host)])
    assert (found is not None) == differ


def test_other_tensors_than_the_hosts_are_refused():
    with pytest.raises(OutputMismatchError, match="other output tensors"):
        first_difference([INT8], [b"abc"], [b"abcd"])


def test_an_element_type_that_cannot_be_compared_is_refused():
    with pytest.raises(OutputMismatchError, match="cannot be compared"):
        first_difference([TensorInfo("complex64", (1,), 8)], [bytes(8)], [bytes(8)])


def test_a_row_with_equal_outputs_says_so_and_keeps_its_verdict():
    row = with_output_check(result(), result().measurement, [b"*"], "TFLM X")
    assert (row.verdict, row.exit_code) == ("ok", 0)
    assert row.causes[-1] == "the outputs are those of TFLM X on the host"


@pytest.mark.parametrize("host", [[b"+"], [b"**"]])
def test_a_row_with_another_output_fails(host):
    row = with_output_check(result(), result().measurement, host, "TFLM X")
    assert (row.verdict, row.exit_code, row.error_class) == ("fail", 1, "OutputMismatchError")
    assert "output" in row.causes[0]
    assert row.measurement is not None


def test_a_row_that_could_not_be_checked_is_no_success():
    row = unchecked(result(), DeadlineError("TFLM on the host did not come to an end"))
    assert (row.verdict, row.exit_code, row.error_class) == ("error", 3, "DeadlineError")
    assert "not checked" in row.causes[0]
