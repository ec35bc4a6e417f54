import dataclasses

import pytest

from harness.errors import ConfigMismatchError, SourceError
from harness.tflm.manifest import read_manifest
from harness.tflm.survey import survey
from tests.support.tflm_parts import INTERPRETER, RECORDING, header_tree, library, manifest

CONV, SOFTMAX = "_ZN6tflite16Register_CONV_2DEv", "_ZN6tflite16Register_SOFTMAXEv"
WHOLE = (INTERPRETER, RECORDING, CONV, SOFTMAX)
STATIC = 'defines = ["TF_LITE_STATIC_MEMORY"]'


@pytest.fixture
def look(tmp_path):
    """Surveys a library that defines `symbols`, beside headers of 2026-08."""

    def look(*symbols, lines=(), generation="2026-08", **texts):
        include = header_tree(tmp_path, generation, **texts)
        made = library(tmp_path / "libtflm.a", *symbols)
        return survey(read_manifest(manifest(tmp_path, include, [made], *lines)))

    return look


def operators(found):
    return [one.operator for one in found.source().registrations]


def errors(found):
    return [finding.error for finding in found.findings if finding.error]


def test_a_whole_library(look):
    found = look(*WHOLE, lines=['version = "ours"', "abi_flags = []"])
    assert found.findings == ()
    source = found.source()
    assert (source.generation, source.version, source.kernels) == ("2026-01", "ours", "reference")
    assert source.abi_flags == ()
    assert source.content_hash == found.libraries[0].sha256
    assert source.header_hash == found.headers.hash
    assert [one.call for one in source.registrations] == ["AddConv2D()", "AddSoftmax()"]


def test_without_a_version_the_files_name_and_hash_stand_for_it(look):
    found = look(*WHOLE)
    assert found.source().version == f"libtflm.a {found.libraries[0].sha256[:12]}"
    told = "#define TF_MAJOR_VERSION 2\n#define TF_MINOR_VERSION 2\n#define TF_PATCH_VERSION 0\n"
    assert (
        look(*WHOLE, tensorflow__lite__micro__micro_interpreter=told).source().version.endswith(" (TensorFlow 2.2.0)")
    )


def test_the_hash_of_several_libraries_is_over_all_of_them(look, tmp_path):
    found = look(*WHOLE)
    two = dataclasses.replace(found, libraries=(*found.libraries, dataclasses.replace(found.libraries[0], sha256="1")))
    other = dataclasses.replace(
        found, libraries=(*found.libraries, dataclasses.replace(found.libraries[0], sha256="2"))
    )
    assert len({found.source().content_hash, two.source().content_hash, other.source().content_hash}) == 3


def test_an_operator_that_the_library_lacks_is_left_out_and_told(look):
    found = look(INTERPRETER, RECORDING, CONV)
    assert operators(found) == ["CONV_2D"]
    (finding,) = found.findings
    assert (finding.check, finding.error) == ("operators", None)
    assert finding.text == "in the headers, not in the library: SOFTMAX"


def test_an_operator_that_a_header_defines_is_not_looked_for_in_the_library(look):
    inline = "inline R Register_SOFTMAX() { return {}; }"
    assert operators(look(INTERPRETER, RECORDING, CONV, tensorflow__lite__micro__micro_interpreter=inline)) == [
        "CONV_2D",
        "SOFTMAX",
    ]


def test_a_new_operator_needs_no_change(look):
    resolver = """class MicroMutableOpResolver {
      TfLiteStatus AddBrandNew() { return AddBuiltin(BuiltinOperator_BRAND_NEW, Register_BRAND_NEW(), Parse); }
      TfLiteStatus AddEthosU() { return AddCustom(GetString_ETHOSU(), Register_ETHOSU()); }
    };"""
    found = look(
        *WHOLE, "_ZN6tflite18Register_BRAND_NEWEv", tensorflow__lite__micro__micro_mutable_op_resolver=resolver
    )
    assert operators(found) == ["BRAND_NEW"]
    assert [finding.text for finding in found.findings] == [
        "methods that cannot be called without knowing more: AddEthosU"
    ]


def test_the_operators_of_2020(look):
    found = look(INTERPRETER, "_ZN6tflite3ops5micro16Register_CONV_2DEv", generation="2020-07")
    assert operators(found) == ["CONV_2D"]
    assert "CIRCULAR_BUFFER" in found.findings[0].text


def test_an_operator_that_is_there_twice_is_told(look, tmp_path):
    found = look(*WHOLE)
    again = dataclasses.replace(found.manifest, libraries=found.manifest.libraries * 2)
    texts = [finding.text for finding in survey(again).findings]
    assert texts == ["in the library more than once, of which the linker takes one: Register_CONV_2D, Register_SOFTMAX"]


@pytest.mark.parametrize(
    ("symbols", "lines", "what"),
    [
        (["TfLiteIntArrayEqual"], [], "the library is built with TF_LITE_STATIC_MEMORY"),
        (["TfLiteIntArrayEqual"], [STATIC], None),
        (["TfLiteIntArrayEqual", "TfLiteIntArrayCreate"], [], None),
        (
            ["TfLiteIntArrayEqual", "TfLiteIntArrayCreate"],
            [STATIC],
            "the library is built without TF_LITE_STATIC_MEMORY",
        ),
        ([], [STATIC], None),
        (
            ["_ZN6tflite23MicroInterpreterContext18IsTensorCompressedEPK10TfLiteNodei"],
            [],
            "the library is built with USE_TFLM_COMPRESSION",
        ),
        ([], ['defines = ["USE_TFLM_COMPRESSION"]'], "the library is built without USE_TFLM_COMPRESSION"),
    ],
)
def test_library_and_manifest_agree_on_what_structures_depend_on(look, symbols, lines, what):
    found = errors(look(*WHOLE, *symbols, lines=lines))
    assert [error.what for error in found] == ([f"config_mismatch: {what}"] if what else [])
    assert all(isinstance(error, ConfigMismatchError) and error.hint for error in found)


@pytest.mark.parametrize(
    ("symbols", "what"),
    [
        (["main"], "the libraries hold no TFLM"),
        ([INTERPRETER, CONV], "the library lacks RecordingMicroAllocator"),
        ([INTERPRETER, RECORDING, "_ZN6tflite12Register_ADDEv"], "none of the operators that the headers declare"),
    ],
)
def test_a_library_that_is_not_that_of_the_headers(look, symbols, what):
    found = look(*symbols)
    (error,) = errors(found)
    assert what in error.what
    assert error.hint
    assert found.holds_tflm == (INTERPRETER in symbols)


def test_everything_that_is_wrong_is_told_at_once(tmp_path):
    (tmp_path / "libempty.a").write_bytes(b"!<arch>\n")
    path = manifest(tmp_path, [tmp_path / "gone"], [tmp_path / "libempty.a", tmp_path / "libgone.a"])
    found = survey(read_manifest(path))
    assert [(finding.check, finding.text) for finding in found.findings] == [
        ("headers", "the include folder is missing"),
        ("library", "the library is empty"),
        ("library", "the library cannot be read: No such file or directory"),
    ]
    assert found.source().registrations == ()
    assert not found.holds_tflm


def test_models_of_another_schema(look):
    text = "#define TFLITE_SCHEMA_VERSION (4)"
    (error,) = errors(look(*WHOLE, tensorflow__lite__micro__micro_interpreter=text))
    assert isinstance(error, SourceError)
    assert (error.measured, error.expected) == ("TFLITE_SCHEMA_VERSION 4", 3)


def test_every_missing_header_is_told(look):
    found = look(*WHOLE, flatbuffers__flatbuffers=None)
    assert [error.what for error in errors(found)] == ["the header flatbuffers/flatbuffers.h is missing"]


def test_headers_that_are_always_static_need_no_define(look):
    never = "struct TfLiteTensor { int type;\n#if 0\n  void* delegate;\n#endif\n};\n"
    found = look(*WHOLE, "TfLiteIntArrayEqual", generation="2023-09", tensorflow__lite__core__c__common=never)
    assert errors(found) == []
    assert found.source().static_memory


@pytest.mark.parametrize("lines", [(), (STATIC,), ('defines = ["TF_LITE_STATIC_MEMORY", "ARDUINO"]',)])
def test_headers_that_go_by_arduinos_define_are_refused_with_half_of_both(look, lines):
    found = look(*WHOLE, lines=lines, tensorflow__lite__kernels__kernel_util="#ifndef ARDUINO\n#endif\n")
    told = [(finding.check, finding.error.hint) for finding in found.findings if finding.error]
    assert [check for check, _ in told] == (["configuration"] if lines == (STATIC,) else [])
    assert all('add "ARDUINO" to `defines`' in hint for _, hint in told)


def test_infineons_fork_is_named_and_has_its_trait(look):
    text = "class SingleArenaBufferAllocator {\n  uint8_t* head_;\n  size_t all_temp_bytes_;\n};\n"
    allocator = "tensorflow__lite__micro__arena_allocator__single_arena_buffer_allocator"
    found = look(*WHOLE, generation="2024-12", **{allocator: text})
    assert errors(found) == []
    assert "Infineon" in found.findings[0].text
    assert found.source().traits == {"counts-temporaries"}


def test_the_version_of_what_kernels_call_is_part_of_the_librarys(look):
    found = look(*WHOLE, lines=['kernels = "esp-nn"', 'esp_nn = "1.1.0"', 'version = "ours"'])
    assert found.source().version == "ours with ESP-NN 1.1.0"
