import os
import shutil

import pytest

from harness.domain.firmware import STATIC_MEMORY
from harness.errors import SourceError
from harness.tflm.tree_layouts import recognise
from tests.support.source_trees import LAYOUTS, MICRO, source_tree


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_recognised_by_its_own_marks(tmp_path, layout):
    tree = recognise(source_tree(tmp_path / "a tree", layout))
    assert tree.layout.name == LAYOUTS[layout].name
    assert tree.root == (tmp_path / "a tree" / LAYOUTS[layout].root).resolve()


def test_an_arduino_library_is_built_without_static_memory_and_the_others_with_it(tmp_path):
    static = {name: STATIC_MEMORY in recognise(source_tree(tmp_path / name, name)).layout.defines for name in LAYOUTS}
    assert static == {name: name != "arduino" for name in LAYOUTS}


def test_pico_defines_what_its_headers_ask_for(tmp_path):
    assert recognise(source_tree(tmp_path, "pico")).layout.defines == {STATIC_MEMORY: "1", "ARDUINO": "1"}


@pytest.mark.parametrize(
    "below",
    ["managed_components/espressif__esp-tflite-micro", "components/esp-tflite-micro", "modules/lib/tflite-micro"],
)
def test_the_tree_of_a_project_is_found_in_the_project(tmp_path, below):
    source_tree(tmp_path / below, "esp-idf")
    assert recognise(tmp_path).root == (tmp_path / below).resolve()


def test_two_trees_in_one_folder_are_refused_with_both(tmp_path):
    source_tree(tmp_path, "upstream")
    source_tree(tmp_path, "arduino")
    with pytest.raises(SourceError, match="several TFLM source trees") as raised:
        recognise(tmp_path)
    assert raised.value.measured == "., src"


def test_a_link_to_the_same_tree_is_no_second_one(tmp_path):
    source_tree(tmp_path, "upstream")
    (tmp_path / "src").symlink_to(tmp_path)
    assert recognise(tmp_path).root == tmp_path.resolve()


def test_links_in_a_circle_end(tmp_path):
    source_tree(tmp_path, "upstream")
    (tmp_path / MICRO / "kernels" / "loop").symlink_to(tmp_path / MICRO)
    (tmp_path / "components").mkdir()
    (tmp_path / "components" / "esp-tflite-micro").symlink_to("esp-tflite-micro")
    assert recognise(tmp_path).layout.name == "tflite-micro checkout"


def test_a_folder_without_tflm_says_what_was_looked_for(tmp_path):
    with pytest.raises(SourceError, match="no TFLM sources") as raised:
        recognise(tmp_path)
    assert MICRO in str(raised.value.measured)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match="no such folder"):
        recognise(tmp_path / "gone")


@pytest.mark.parametrize(
    "part", [f"{MICRO}/micro_allocator.cc", f"{MICRO}/micro_interpreter.h", "tensorflow/lite/schema/schema_generated.h"]
)
def test_a_partial_checkout_says_which_part_is_missing(tmp_path, part):
    source_tree(tmp_path, "upstream")
    (tmp_path / part).unlink()
    with pytest.raises(SourceError, match="not complete") as raised:
        recognise(tmp_path)
    assert part in str(raised.value.measured)


def test_a_tree_without_kernels_is_a_partial_one(tmp_path):
    source_tree(tmp_path, "upstream")
    shutil.rmtree(tmp_path / MICRO / "kernels")
    with pytest.raises(SourceError, match="not complete"):
        recognise(tmp_path)


def test_a_named_pipe_in_place_of_a_source_is_no_source(tmp_path):
    source_tree(tmp_path, "upstream")
    (tmp_path / MICRO / "micro_allocator.cc").unlink()
    os.mkfifo(tmp_path / MICRO / "micro_allocator.cc")
    with pytest.raises(SourceError, match="not complete"):
        recognise(tmp_path)
