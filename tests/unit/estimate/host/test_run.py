"""Running models with the official wheel, for real, in its own process."""

import numpy as np
import pytest

from harness.errors import DeadlineError, ModelError, UsageError
from harness.estimate import ModelFile, load_graph, read_model
from harness.estimate.host.run import host_run
from harness.estimate.reading.npy import array_bytes
from tests.support.places import SHARED_MODELS

pytest.importorskip("tflite_micro", reason="the official wheel is not installed (extra oracle)")


@pytest.fixture
def adder():
    path = SHARED_MODELS / "simple_add_float.tflite"
    if not path.is_file():
        pytest.skip("no ../shared/models beside the checkout")
    return read_model(path)


def test_the_outputs_are_those_of_the_inputs(adder):
    sizes = _input_sizes(adder)
    found = host_run(adder, [bytes(size) for size in sizes], 1)
    assert found.tflm.startswith("TFLM 2026-01 (tflite-micro ")
    assert len(found.outputs) == 1
    assert found.outputs != host_run(adder, [b"\x40" * size for size in sizes], 1).outputs


def _input_sizes(model):
    main = load_graph(model).main
    tensors = [main.tensors[number] for number in main.inputs]
    return [int(np.prod(tensor.shape)) * tensor.element_bytes for tensor in tensors]


def test_inputs_that_do_not_fit_are_refused(adder):
    with pytest.raises(ModelError, match="refuses it"):
        host_run(adder, [b"abc"] * len(_input_sizes(adder)), 1)


def test_a_file_that_is_no_model_is_refused_not_crashed_on():
    with pytest.raises(ModelError):
        host_run(ModelFile.of("noise", bytes(range(256))), [], 1)


def test_the_deadline_holds(adder):
    with pytest.raises(DeadlineError, match="did not come to an end"):
        host_run(adder, [], 1, deadline_s=0.01)


def test_a_numpy_file_gives_its_elements_row_by_row(tmp_path):
    path = tmp_path / "data.npy"
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    np.save(path, np.asfortranarray(array))
    assert array_bytes(path.read_bytes(), path) == array.tobytes()


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00", b"no array"])
def test_what_is_no_numpy_file_is_refused(content):
    with pytest.raises(UsageError, match="NumPy"):
        array_bytes(content, "data.npy")


def test_a_numpy_file_of_python_objects_is_refused(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(UsageError, match="NumPy"):
        array_bytes(path.read_bytes(), path)
