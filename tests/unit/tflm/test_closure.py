import pytest

from harness.errors import SourceError
from harness.tflm.closure import IncludeScanner


@pytest.fixture
def tree(tmp_path):
    """a.cc includes one.h, which includes two.h; b.cc includes nothing."""
    for name, text in {
        "a.cc": '#include "one.h"\n#include <vector>\n',
        "b.cc": "int b;\n",
        "one.h": '#ifndef ONE\n#define ONE\n#include "deep/two.h"\n#ifdef RARE\n#include "rare.h"\n#endif\n#endif\n',
        "deep/two.h": "int two;\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def hashes(folder, *folders):
    scanner = IncludeScanner([folder, *folders])
    return [scanner.hash_of(folder / name) for name in ("a.cc", "b.cc")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one.h", '#include "deep/two.h" // changed\n'),
        ("deep/two.h", "int other;\n"),
        ("a.cc", "int a;\n"),
    ],
)
def test_a_change_shows_in_the_sources_that_include_it_and_in_no_other(tree, name, text):
    before = hashes(tree)
    (tree / name).write_text(text)
    after = hashes(tree)
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_the_place_of_the_tree_does_not_count(tree, tmp_path_factory):
    other = tmp_path_factory.mktemp("elsewhere") / "tree"
    tree.rename(other)
    moved = hashes(other)
    other.rename(tree)
    assert moved == hashes(tree)


def test_a_header_that_an_earlier_folder_gets_counts_instead_of_the_later_one(tree, tmp_path_factory):
    first = tmp_path_factory.mktemp("first")
    (tree / "deep/two.h").rename(tree / "two.h")
    (tree / "a.cc").write_text("#include <two.h>\n")
    scanned = IncludeScanner([first, tree]).hash_of(tree / "a.cc")
    (first / "two.h").write_text("int shadow;\n")
    assert IncludeScanner([first, tree]).hash_of(tree / "a.cc") != scanned


def test_what_an_if_excuses_counts_once_it_is_there(tree):
    before = hashes(tree)[0]
    (tree / "rare.h").write_text("int rare;\n")
    assert hashes(tree)[0] != before


def test_missing_headers_are_those_without_excuse(tree):
    (tree / "deep/two.h").write_text('#include "gone.h"\n#include <also_gone>\n')
    [missing] = IncludeScanner([tree]).missing_of(tree / "a.cc")
    assert (missing.name, missing.included_by) == ("gone.h", (tree / "deep/two.h").resolve())


def test_headers_that_include_each_other_end(tree):
    (tree / "deep/two.h").write_text('#include "../one.h"\n#include "two.h"\n')
    assert hashes(tree)[0]


def test_links_in_a_circle_are_no_headers(tree):
    (tree / "loop.h").symlink_to("loop.h")
    (tree / "a.cc").write_text('#include "loop.h"\n')
    [missing] = IncludeScanner([tree]).missing_of(tree / "a.cc")
    assert missing.name == "loop.h"


def test_a_file_that_cannot_be_read_is_named(tree):
    with pytest.raises(SourceError, match="cannot be read"):
        IncludeScanner([tree]).hash_of(tree / "gone.cc")
