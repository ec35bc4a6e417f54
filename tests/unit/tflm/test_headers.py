import pytest

from harness.errors import SourceError
from harness.tflm.headers import missing_header, read_headers
from tests.support.tflm_parts import MICRO, header_tree


@pytest.fixture(params=["2020-07", "2026-08"])
def generation(request):
    return request.param


def test_the_generation_shows_in_the_headers(tmp_path, generation):
    found = read_headers(header_tree(tmp_path, generation), None)
    assert found.generation == generation
    assert found.schema_version == 3
    assert found.version is None
    assert found.missing == {}
    assert "CONV_2D" in [one.registration.operator for one in found.operators.known]


@pytest.mark.parametrize(
    ("generation", "header", "text", "told"),
    [
        ("2020-07", f"{MICRO}/kernels/micro_ops", None, f"no {MICRO}/kernels/micro_ops.h"),
        ("2026-08", f"{MICRO}/recording_micro_interpreter", None, f"no {MICRO}/recording_micro_interpreter.h"),
        (
            "2026-08",
            f"{MICRO}/debug_log",
            "void DebugLog(const char* s);",
            f"for 2026-08 no DebugLog that takes a va_list in {MICRO}/debug_log.h",
        ),
        (
            "2026-08",
            f"{MICRO}/micro_mutable_op_resolver",
            "// TfLiteStatus AddAbs() {}\nTfLiteStatus AddBuiltin(Op op);",
            f"for 2026-08 no Add… methods in {MICRO}/micro_mutable_op_resolver.h",
        ),
    ],
)
def test_headers_of_no_generation_are_refused_with_what_was_looked_for(tmp_path, generation, header, text, told):
    folders = header_tree(tmp_path, generation, **{header.replace("/", "__"): text})
    with pytest.raises(SourceError, match="no headers of TFLM 2020-07 or 2026-08") as caught:
        read_headers(folders, None)
    assert told in str(caught.value.measured)
    assert caught.value.where == f"{folders[0]} and 1 more"


def test_folders_without_any_tflm_are_told_in_short(tmp_path):
    with pytest.raises(SourceError, match="no headers of TFLM") as caught:
        read_headers([tmp_path], None)
    assert caught.value.where == str(tmp_path)
    assert caught.value.measured == "no folder tensorflow/lite/micro in them"


def test_another_generation_than_the_manifest_says(tmp_path):
    with pytest.raises(SourceError, match="no headers of TFLM 2020-07\n"):
        read_headers(header_tree(tmp_path, "2026-08"), "2020-07")


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
