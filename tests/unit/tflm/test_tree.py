import shutil

import pytest

from harness.domain.tflm_options import TflmOptions
from harness.errors import SourceError, UsageError
from harness.tflm.tree import TreeProvider
from tests.support.fake_tflm import REGISTRATIONS
from tests.support.source_trees import MICRO, add_overlay, source_tree


def fetch(folder, **options):
    return TreeProvider(folder, TflmOptions(**options)).fetch(lambda *_: None)


@pytest.fixture
def upstream(tmp_path):
    return source_tree(tmp_path / "tflite micro", "upstream")


def test_a_tree_becomes_what_a_build_needs(upstream):
    source = fetch(upstream)
    assert source.kernels == "reference"
    assert source.defines == {"NDEBUG": None, "TF_LITE_STATIC_MEMORY": None}
    assert set(source.registrations) == set(REGISTRATIONS)
    assert source.version == "tflite-micro checkout tflite micro"
    assert set(source.source_hashes) == set(source.sources)
    assert source.include_dirs[0] == upstream.resolve()


def test_operators_whose_kernels_are_not_there_are_left_out(upstream):
    kernels = upstream / MICRO / "kernels/micro_ops.cc"
    kernels.write_text(kernels.read_text().replace("Register_NEG", "Register_MINUS"))
    assert "NEG" not in {one.operator for one in fetch(upstream).registrations}


def test_a_touched_kernel_changes_its_own_hash_alone(upstream):
    before = fetch(upstream)
    with (upstream / MICRO / "kernels/micro_ops.cc").open("a") as file:
        file.write("// changed\n")
    after = fetch(upstream)
    changed = [path.stem for path in after.sources if after.source_hashes[path] != before.source_hashes[path]]
    assert changed == ["micro_ops"]
    assert after.content_hash != before.content_hash


def test_a_touched_header_that_the_firmware_reads_changes_the_headers_hash(upstream):
    before = fetch(upstream)
    with (upstream / MICRO / "micro_interpreter.h").open("a") as file:
        file.write("// changed\n")
    assert fetch(upstream).header_hash != before.header_hash


def test_a_missing_header_is_named_with_who_includes_it(upstream):
    (upstream / MICRO / "compatibility.h").unlink()
    with pytest.raises(SourceError, match=r"compatibility\.h is missing"):
        fetch(upstream)


def test_cmsis_nn_is_compiled_beside_its_kernels(upstream, tmp_path):
    add_overlay(upstream, "upstream", "cmsis_nn", "conv")
    for name in ("Include/arm_nnfunctions.h", "Source/ConvolutionFunctions/arm_convolve_s8.c"):
        (tmp_path / "nn" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "nn" / name).write_text('#include "arm_nnfunctions.h"\n' if name.endswith(".c") else "")
    source = fetch(upstream, kernels="cmsis-nn", cmsis_nn=tmp_path / "nn")
    assert source.kernels == "cmsis-nn"
    assert "CMSIS_NN" in source.defines
    assert {"conv", "arm_convolve_s8"} <= {path.stem for path in source.sources}
    assert (tmp_path / "nn" / "Include") in source.include_dirs


def test_esp_nn_is_compiled_as_esp_idf_configures_it(upstream, tmp_path):
    add_overlay(upstream, "upstream", "esp_nn", "conv")
    for name in ("include/esp_nn.h", "src/convolution/esp_nn_conv_ansi.c"):
        (tmp_path / "espressif__esp-nn" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "espressif__esp-nn" / name).touch()
    with (upstream / MICRO / "kernels/esp_nn/conv.cc").open("a") as file:
        file.write("#include <esp_timer.h>\n")
    source = fetch(upstream, kernels="esp-nn")
    assert any((folder / "esp_timer.h").is_file() for folder in source.include_dirs)
    assert source.defines["CONFIG_NN_OPTIMIZED"] == "1"
    assert "esp_nn_conv_ansi" in {path.stem for path in source.sources}


def test_the_tree_is_never_written_to(upstream):
    def state():
        return {path: path.stat().st_mtime_ns for path in (upstream, *upstream.rglob("*"))}

    before = state()
    for path in before:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert fetch(upstream).sources
        assert state() == before
    finally:
        for path in before:
            path.chmod(0o700 if path.is_dir() else 0o600)


def test_two_copies_of_a_tree_have_the_same_hashes(upstream, tmp_path):
    shutil.copytree(upstream, tmp_path / "copy")
    one, other = fetch(upstream), fetch(tmp_path / "copy")
    assert sorted(one.source_hashes.values()) == sorted(other.source_hashes.values())
    assert (one.content_hash, one.header_hash) == (other.content_hash, other.header_hash)


def test_without_a_folder_the_provider_says_how_to_name_one():
    with pytest.raises(UsageError, match="needs a folder"):
        TreeProvider().fetch(lambda *_: None)
