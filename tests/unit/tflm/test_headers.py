from contextlib import suppress
from itertools import pairwise

import pytest

from harness.domain.generations import GENERATIONS, generation_named, served
from harness.errors import SourceError
from harness.tflm.headers import missing_header, read_headers, recognise_generation
from tests.support.tflm_parts import HEADER_GENERATIONS, MICRO, header_tree

SERVED = [each.name for each in served()]


@pytest.fixture(params=["2020-07", "2022-12", "2026-01"])
def generation(request):
    return request.param


@pytest.mark.parametrize("generation", SERVED)
def test_the_generation_shows_in_the_headers(tmp_path, generation):
    found = read_headers(header_tree(tmp_path, generation), None)
    assert found.generation == generation
    assert found.schema_version == 3
    assert found.version is None
    assert found.missing == {}
    assert "CONV_2D" in [one.registration.operator for one in found.operators.known]


@pytest.mark.parametrize("name", [each.name for each in GENERATIONS])
def test_each_generation_is_recognised_by_what_it_brought(tmp_path, name):
    folders = header_tree(tmp_path, name)
    entry = generation_named(name)
    if entry.is_served:
        assert recognise_generation(folders, None) == entry
    else:
        with pytest.raises(SourceError, match=f"headers of TFLM {name}, which harness does not serve") as caught:
            recognise_generation(folders, None)
        assert caught.value.hint == entry.refused


@pytest.mark.parametrize(("older", "newer"), list(pairwise(HEADER_GENERATIONS[1:])))
def test_a_mark_in_a_comment_makes_no_generation(tmp_path, older, newer):
    """Each neighbouring pair is told apart by what the newer one brought, and by nothing else."""
    plain = header_tree(tmp_path / "older", older)
    newest = header_tree(tmp_path / "newer", newer)
    for path in sorted(newest[0].rglob("*.h")):
        there = plain[0] / path.relative_to(newest[0])
        if there.is_file() and there.read_text() != path.read_text():
            there.write_text(f"{there.read_text()}/* {path.read_text()} */\n")
    with suppress(SourceError):
        assert recognise_generation(plain, None).name == older
    with pytest.raises(SourceError, match=f"TFLM {older}, "):
        recognise_generation(plain, newer)


@pytest.mark.parametrize(
    ("header", "text", "trait"),
    [
        ("tensorflow__lite__micro__micro_resource_variable", "struct V { int id; };", "small-variables"),
        ("tensorflow__lite__micro__kernels__lstm_shared", None, "first-lstm"),
    ],
)
def test_traits_show_in_the_headers(tmp_path, header, text, trait):
    assert read_headers(header_tree(tmp_path / "plain", "2022-12"), None).traits == frozenset()
    assert read_headers(header_tree(tmp_path / "with", "2022-12", **{header: text}), None).traits == {trait}


def test_how_tflm_logs_shows_in_the_headers(tmp_path):
    found = {name: read_headers(header_tree(tmp_path / name, name), None).logs_plain_text for name in SERVED}
    assert [name for name, plain in found.items() if plain] == ["2023-06", "2022-12", "2022-04"]


def test_options_may_lie_in_another_folder(tmp_path):
    folders = header_tree(tmp_path, "2024-12")
    options = folders[0] / "tensorflow/lite/c/builtin_op_data.h"
    moved = folders[0] / "tensorflow/compiler/mlir/lite/core/c/builtin_op_data.h"
    moved.parent.mkdir(parents=True)
    options.rename(moved)
    for name in ("conv", "fully_connected"):
        (folders[0] / MICRO / "kernels" / f"{name}.h").write_text("")
    assert recognise_generation(folders, None).name == "2023-09"


def test_headers_without_any_mark_are_refused_with_what_was_looked_for(tmp_path):
    (tmp_path / MICRO).mkdir(parents=True)
    with pytest.raises(SourceError, match="no headers of a TFLM that harness knows") as caught:
        read_headers([tmp_path, tmp_path], None)
    assert "2026-01: scratch of REDUCE" in str(caught.value.measured)
    assert caught.value.where == f"{tmp_path} and 1 more"


def test_edge_impulses_sdk_is_named(tmp_path):
    (tmp_path / "edge-impulse-sdk/tensorflow/lite/micro").mkdir(parents=True)
    with pytest.raises(SourceError, match="Edge Impulse"):
        read_headers([tmp_path], None)


def test_folders_without_any_tflm_are_told_in_short(tmp_path):
    with pytest.raises(SourceError, match="no headers of a TFLM") as caught:
        read_headers([tmp_path], None)
    assert caught.value.where == str(tmp_path)
    assert caught.value.measured == "no folder tensorflow/lite/micro in them"


def test_another_generation_than_the_manifest_says(tmp_path):
    with pytest.raises(SourceError, match="headers of TFLM 2023-09, and not of 2026-01"):
        read_headers(header_tree(tmp_path, "2023-09"), "2026-08")


def test_a_missing_header_is_told_with_who_needs_it(tmp_path, generation):
    folders = header_tree(tmp_path, generation)
    assert list(read_headers(folders[:1], None).missing) == ["flatbuffers/flatbuffers.h"]
    error = missing_header("flatbuffers/flatbuffers.h", "schema_generated.h")
    assert "tensorflow/lite/micro/tools/make/downloads/flatbuffers/include" in error.hint
    assert "managed_components/espressif__esp-tflite-micro/third_party/flatbuffers/include" in error.hint


def test_only_what_no_condition_excuses_is_missing(tmp_path):
    text = """#ifndef GUARD_H_
        #define GUARD_H_
        /* #include "commented.h" */
        #include <cstring>
        #include "needed.h"
        #if defined(XTENSA)
        #include "xtensa.h"
        #include "tensorflow/optional.h"
        #else
        # include "other.h"
        #endif
        #endif"""
    optional = '#include "follows_from_optional.h"'
    folders = header_tree(tmp_path, "2026-08", tensorflow__lite__c__common=text, tensorflow__optional=optional)
    common = folders[0] / "tensorflow/lite/c/common.h"
    includer = f'#include "tensorflow/lite/c/common.h"\n{(folders[0] / MICRO / "debug_log.h").read_text()}'
    (folders[0] / MICRO / "debug_log.h").write_text(includer)
    assert read_headers(folders, None).missing == {"needed.h": str(common)}


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_what_is_needed_without_condition_is_missing_even_when_it_is_also_needed_with_one(tmp_path, order):
    folders = header_tree(
        tmp_path,
        "2026-08",
        tensorflow__a='#include "gone.h"',
        tensorflow__first='#if X\n#include "tensorflow/a.h"\n#endif',
        tensorflow__second='#include "tensorflow/a.h"',
    )
    debug_log = folders[0] / MICRO / "debug_log.h"
    includes = "".join(f'#include "tensorflow/{name}.h"\n' for name in order)
    debug_log.write_text(includes + debug_log.read_text())
    assert list(read_headers(folders, None).missing) == ["gone.h"]


def test_headers_that_include_each_other_by_way_of_their_folder(tmp_path):
    texts = {"tensorflow__x__a": '#include "../x/b.h"', "tensorflow__x__b": '#include "../x/a.h"'}
    texts["tensorflow__lite__micro__micro_interpreter"] = '#include "../../x/a.h"'
    assert read_headers(header_tree(tmp_path, "2026-08", **texts), None).missing == {}


def test_more_headers_than_any_tflm_has_are_refused(tmp_path):
    texts = {f"n{number}": f'#include "n{number + 1}.h"' for number in range(5001)}
    folders = header_tree(tmp_path, "2026-08", tensorflow__lite__micro__micro_interpreter='#include "n0.h"', **texts)
    with pytest.raises(SourceError, match="too many headers"):
        read_headers(folders, None)


def test_the_hash_is_over_the_headers_that_are_read_and_no_others(tmp_path, generation):
    folders = header_tree(tmp_path, generation)
    first = read_headers(folders, None).hash
    (folders[0] / "tensorflow/lite/unused.h").write_text("")
    assert read_headers(folders, None).hash == first
    (folders[1] / "flatbuffers/flatbuffers.h").write_text("struct Changed;")
    assert read_headers(folders, None).hash != first


def test_the_hash_does_not_depend_on_where_they_lie(tmp_path, generation):
    hashes = {read_headers(header_tree(tmp_path / name, generation), None).hash for name in ("here", "there")}
    assert len(hashes) == 1


def test_tensorflows_version(tmp_path):
    text = "#define TF_MAJOR_VERSION 2\n#define TF_MINOR_VERSION 2\n#define TF_PATCH_VERSION 0\n"
    assert read_headers(header_tree(tmp_path, "2020-07", tensorflow__lite__version=text), None).version == "2.2.0"


def test_functions_that_headers_define_themselves(tmp_path):
    text = "inline TFLMRegistration Register_ADD ( ) {}\nTFLMRegistration Register_SUB();\n"
    found = read_headers(header_tree(tmp_path, "2026-08", tensorflow__lite__micro__micro_interpreter=text), None)
    assert found.inline == {"Register_ADD"}
    assert found.schema_version is None
