import struct

import pytest

from harness.device.input_data import check_inputs, given_data, input_data, pattern
from harness.domain.measurement import TensorInfo
from harness.errors import UsageError


def tensor(kind, size_bytes):
    return TensorInfo(kind, (1,), size_bytes)


def test_the_pattern_of_each_kind_of_element():
    assert pattern(tensor("int8", 8)) == bytes([11, 48, 85, 122, 159, 196, 233, 14])
    assert pattern(tensor("int16", 4)) == bytes([11, 0, 48, 0])
    assert struct.unpack("<2f", pattern(tensor("float32", 8))) == (1.0, 1.5)
    assert struct.unpack("<17f", pattern(tensor("float32", 68)))[16] == 1.0


def test_an_element_type_without_pattern_is_refused():
    with pytest.raises(UsageError, match="element type"):
        pattern(tensor("complex64", 8))


def test_random_data_are_the_same_for_the_same_seed():
    tensors = [tensor("int8", 32), tensor("float32", 64)]
    first = given_data(tensors, (), 7)
    assert first == given_data(tensors, (), 7)
    assert first != given_data(tensors, (), 8)
    assert [len(data) for data in first] == [32, 64]
    assert all(-1 <= number <= 1 for number in struct.unpack("<16f", first[1]))


def test_random_truth_values_are_true_or_false():
    assert set(given_data([tensor("bool", 64)], (), 7)[0]) == {0, 1}


def test_what_the_user_gives_comes_before_the_pattern():
    assert input_data([tensor("int8", 2)], (b"ab",), None) == (b"ab",)
    assert input_data([tensor("int8", 2)], (), None) == (bytes([11, 48]),)


def test_inputs_of_other_sizes_are_refused():
    with pytest.raises(UsageError, match="do not fit"):
        check_inputs([tensor("int8", 2)], [b"abc"])
