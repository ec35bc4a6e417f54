import shutil

import pytest

from harness.errors import SourceError
from harness.tflm.third_party import cmsis_core, optimised_library, third_party_folders
from harness.tflm.tree_layouts import recognise
from tests.support.source_trees import LAYOUTS, source_tree, third_party


@pytest.fixture
def upstream(tmp_path):
    return recognise(source_tree(tmp_path / "tree", "upstream"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_brings_its_third_party_headers(tmp_path, layout):
    tree = recognise(source_tree(tmp_path, layout))
    names = [folder.name for folder in third_party_folders(tree, ())]
    assert names == ["include", "gemmlowp", "ruy"]


@pytest.mark.parametrize("name", ["flatbuffers", "gemmlowp", "ruy"])
def test_a_missing_one_is_named_with_where_it_usually_lies(tmp_path, name):
    tree = recognise(source_tree(tmp_path, "esp-idf"))
    shutil.rmtree(tmp_path / "third_party" / name)
    with pytest.raises(SourceError, match=f"{name} is missing") as raised:
        third_party_folders(tree, ())
    assert f"third_party/{name}" in str(raised.value.expected)
    assert "--include" in raised.value.hint


def test_it_may_lie_beside_the_tree(tmp_path):
    tree = recognise(source_tree(tmp_path / "tree", "esp-idf"))
    shutil.rmtree(tmp_path / "tree" / "third_party")
    third_party(tmp_path)
    assert third_party_folders(tree, ())[0] == tmp_path.resolve() / "flatbuffers/include"


def test_what_the_user_names_comes_first(tmp_path, upstream):
    third_party(tmp_path / "mine")
    folder = tmp_path / "mine/flatbuffers/include"
    assert third_party_folders(upstream, [folder])[0] == folder


def test_flatbuffers_of_another_version_than_the_schema_asserts_is_refused(upstream):
    schema = upstream.root / "tensorflow/lite/schema/schema_generated.h"
    schema.write_text(
        "static_assert(FLATBUFFERS_VERSION_MAJOR == 23 &&\n"
        "  FLATBUFFERS_VERSION_MINOR == 5 && FLATBUFFERS_VERSION_REVISION == 26);"
    )
    with pytest.raises(SourceError, match="another version") as raised:
        third_party_folders(upstream, ())
    assert (raised.value.measured, raised.value.expected) == ("25.9.23", "23.5.26")


def test_kissfft_is_taken_where_it_is(upstream):
    folder = upstream.root / "tensorflow/lite/micro/tools/make/downloads/kissfft"
    folder.mkdir()
    (folder / "kiss_fft.h").touch()
    assert folder.resolve() in third_party_folders(upstream, ())


@pytest.mark.parametrize(
    ("kernels", "folder", "header"),
    [
        ("cmsis-nn", "third_party/cmsis_nn", "Include/arm_nnfunctions.h"),
        ("cmsis-nn", "../cmsis-nn", "Include/arm_nnfunctions.h"),
        ("esp-nn", "../espressif__esp-nn", "include/esp_nn.h"),
    ],
)
def test_the_library_of_optimised_kernels_is_found_in_the_tree_or_beside_it(upstream, kernels, folder, header):
    path = upstream.root / folder / header
    path.parent.mkdir(parents=True)
    path.touch()
    assert optimised_library(upstream, kernels, None) == (upstream.root / folder).resolve()


def test_a_missing_one_asks_for_the_option_that_names_it(upstream):
    with pytest.raises(SourceError, match="cmsis_nn is missing") as raised:
        optimised_library(upstream, "cmsis-nn", None)
    assert "--cmsis-nn" in raised.value.hint


def test_a_folder_that_is_not_it_is_refused(tmp_path, upstream):
    with pytest.raises(SourceError, match="no ESP-NN"):
        optimised_library(upstream, "esp-nn", tmp_path)


def test_cmsis_core_is_optional(upstream):
    assert cmsis_core(upstream, ()) == ()
    header = upstream.root / "third_party/cmsis/CMSIS/Core/Include/cmsis_compiler.h"
    header.parent.mkdir(parents=True)
    header.touch()
    assert cmsis_core(upstream, ()) == (header.parent.resolve(),)
