import pytest

from harness.errors import SourceError, UsageError
from harness.tflm.tree_layouts import recognise
from harness.tflm.tree_sources import defined_operators, optimised_sources, tree_sources
from tests.support.source_trees import MICRO, add_overlay, source_tree

KERNELS = f"{MICRO}/kernels"
# What the TFLM of the tests has.
OWN_KERNELS = (f"{KERNELS}/micro_ops.cc", f"{KERNELS}/sized_ops.cc")


@pytest.fixture
def upstream(tmp_path):
    source_tree(tmp_path, "upstream")
    for name in ("conv", "conv_common", "add"):
        (tmp_path / KERNELS / f"{name}.cc").touch()
    return tmp_path


def chosen(folder, kernels=None, *, with_signal=False):
    tree = recognise(folder)
    found = tree_sources(tree, kernels, with_signal=with_signal)
    return found.kernels, {path.relative_to(tree.root).as_posix() for path in found.sources}


def test_tflms_own_sources_are_taken_and_nothing_else(upstream):
    unwanted = [
        *(f"{KERNELS}/conv_test.cc", f"{MICRO}/micro_interpreter_test.cc", f"{MICRO}/test_helpers.cc"),
        *(f"{MICRO}/fake_micro_context.cc", f"{MICRO}/mock_micro_graph.cc", f"{KERNELS}/kernel_runner.cc"),
        *(f"{MICRO}/debug_log.cc", f"{MICRO}/micro_time.cc", f"{MICRO}/system_setup.cc"),
        *(f"{MICRO}/examples/hello_world/main.cc", f"{MICRO}/benchmarks/kws.cc", f"{MICRO}/tools/benchmarking/a.cc"),
        *(f"{MICRO}/cortex_m_generic/debug_log.cc", f"{KERNELS}/xtensa/conv.cc", f"{KERNELS}/testdata/data.cc"),
        *("tensorflow/lite/experimental/microfrontend/lib/fft.cc", "python/tflite_micro/a.cc", "codegen/a.cc"),
    ]
    wanted = [
        *(f"{MICRO}/arena_allocator/single.cc", f"{MICRO}/tflite_bridge/bridge.cc", f"{MICRO}/memory_planner/p.cc"),
        *("tensorflow/lite/core/c/common.cc", "tensorflow/lite/core/api/conversions.cc", "tensorflow/lite/array.cc"),
        *("tensorflow/lite/kernels/internal/reference/comparisons.cc", "tensorflow/lite/kernels/kernel_util.cc"),
        *("tensorflow/compiler/mlir/lite/schema/schema_utils.cc", "tensorflow/lite/schema/schema_utils.cc"),
    ]
    for name in (*unwanted, *wanted):
        (upstream / name).parent.mkdir(parents=True, exist_ok=True)
        (upstream / name).touch()
    kernels, sources = chosen(upstream)
    assert kernels == "reference"
    assert not sources & set(unwanted)
    assert sources >= set(wanted)


def test_the_signal_library_needs_its_fourier_transform(upstream):
    names = {"signal/micro/kernels/rfft.cc", "signal/src/window.cc", "signal/src/kiss_fft_wrappers/kiss_fft_int16.cc"}
    for name in names:
        (upstream / name).parent.mkdir(parents=True, exist_ok=True)
        (upstream / name).touch()
    assert not chosen(upstream)[1] & names
    assert chosen(upstream, with_signal=True)[1] >= names


def test_optimised_kernels_take_the_place_of_the_reference_kernels_of_the_same_name(upstream):
    add_overlay(upstream, "upstream", "cmsis_nn", "conv", "softmax_int16")
    kernels, sources = chosen(upstream, "cmsis-nn")
    in_kernels = {name for name in sources if name.startswith(KERNELS)} - set(OWN_KERNELS)
    assert kernels == "cmsis-nn"
    assert in_kernels == {
        *(f"{KERNELS}/cmsis_nn/conv.cc", f"{KERNELS}/cmsis_nn/softmax_int16.cc"),
        *(f"{KERNELS}/conv_common.cc", f"{KERNELS}/add.cc"),
    }
    assert not any("cmsis_nn" in name for name in chosen(upstream, "reference")[1])


def test_kernels_that_the_tree_does_not_have_are_refused_with_those_that_it_has(upstream):
    add_overlay(upstream, "upstream", "esp_nn", "conv")
    with pytest.raises(UsageError, match="no kernels for cmsis-nn") as raised:
        chosen(upstream, "cmsis-nn")
    assert raised.value.expected == "reference or esp-nn"


def test_a_tree_made_for_optimised_kernels_has_no_others(tmp_path):
    source_tree(tmp_path, "pico")
    add_overlay(tmp_path, "pico", "cmsis_nn", "conv", "add")
    assert chosen(tmp_path)[0] == "cmsis-nn"
    with pytest.raises(UsageError, match="lacks reference kernels") as raised:
        chosen(tmp_path, "reference")
    assert raised.value.hint == "--kernels cmsis-nn"


def test_operators_are_those_that_the_sources_define(tmp_path):
    texts = {
        tmp_path / "conv.cc": "TFLMRegistration Register_CONV_2D() {\n return {}; }\n// Register_CONV_2D_INT8() {\n",
        tmp_path / "detection.cc": "TFLMRegistration* Register_DETECTION_POSTPROCESS() { Register_OTHER(); }",
    }
    assert defined_operators(texts, texts) == {"Register_CONV_2D", "Register_DETECTION_POSTPROCESS"}


def test_of_cmsis_nn_all_and_of_esp_nn_the_portable_sources_are_compiled(tmp_path):
    for name in (
        "Source/ConvolutionFunctions/arm_convolve_s8.c",
        "Source/Softmax/arm_softmax_s8.c",
        "Tests/UnitTest/a.c",
    ):
        (tmp_path / "cmsis" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cmsis" / name).touch()
    for name in ("esp_nn_conv_ansi.c", "esp_nn_conv_opt.c", "esp_nn_conv_esp32s3.c", "esp_nn_conv_esp32s3.S"):
        (tmp_path / "esp/src/convolution").mkdir(parents=True, exist_ok=True)
        (tmp_path / "esp/src/convolution" / name).touch()
    assert [path.stem for path in optimised_sources(tmp_path / "cmsis", "cmsis-nn")] == [
        "arm_convolve_s8",
        "arm_softmax_s8",
    ]
    assert [path.stem for path in optimised_sources(tmp_path / "esp", "esp-nn")] == [
        "esp_nn_conv_ansi",
        "esp_nn_conv_opt",
    ]
    with pytest.raises(SourceError, match="no ESP-NN"):
        optimised_sources(tmp_path / "cmsis", "esp-nn")
