"""Manifests that name a tree of sources."""

import pytest

from harness.errors import UsageError
from harness.tflm.manifest import read_manifest
from harness.tflm.prebuilt import PrebuiltProvider
from tests.support.source_trees import add_overlay, source_tree


@pytest.fixture
def write(tmp_path):
    source_tree(tmp_path / "a tree", "upstream")

    def written(text):
        (tmp_path / "tflm.toml").write_text(text)
        return tmp_path / "tflm.toml"

    return written


def silent(*_):
    pass


def test_a_tree_lies_relative_to_the_manifest(write, tmp_path):
    source = PrebuiltProvider(write('tree = "a tree"\nversion = "ours"\n')).fetch(silent)
    assert (source.version, source.kernels, source.static_memory) == ("ours", "reference", True)
    assert source.sources
    assert source.libraries == ()


def test_its_defines_are_those_of_the_layout_unless_it_says_others(write):
    assert PrebuiltProvider(write('tree = "a tree"\n')).fetch(silent).static_memory
    assert not PrebuiltProvider(write('tree = "a tree"\ndefines = []\n')).fetch(silent).static_memory


def test_kernels_and_folders_go_to_the_tree(write, tmp_path):
    add_overlay(tmp_path / "a tree", "upstream", "esp_nn", "conv")
    for name in ("include/esp_nn.h", "src/convolution/esp_nn_conv_ansi.c"):
        (tmp_path / "nn" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "nn" / name).touch()
    source = PrebuiltProvider(write('tree = "a tree"\nkernels = "esp-nn"\nesp_nn = "nn"\n')).fetch(silent)
    assert source.kernels == "esp-nn"
    assert "esp_nn_conv_ansi" in {path.stem for path in source.sources}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('tree = "a tree"\nlibraries = ["x.a"]\n', "goes with libraries"),
        ('tree = "a tree"\ngeneration = "2026-01"\n', "goes with libraries"),
        ('include = ["."]\nlibraries = ["x.a"]\ncmsis_nn = "nn"\n', "cmsis_nn: wrong value"),
        ('tree = ""\n', "tree"),
        ('tree = ["a"]\n', "tree"),
        ('tree = "a tree"\nkernels = "esp-nn-s3"\n', "kernels"),
    ],
)
def test_what_is_wrong_is_told(write, text, words):
    with pytest.raises(UsageError, match=words):
        read_manifest(write(text))
