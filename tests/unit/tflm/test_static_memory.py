import pytest

from harness.errors import SourceError
from harness.tflm.headers import read_headers
from harness.tflm.static_memory import refuse_half_static
from tests.support.tflm_parts import header_tree

TENSOR = "struct TfLiteTensor { int type;\n%s\n  void* delegate;\n#endif\n};\n"
ASKS, NEVER = TENSOR % "#ifndef TF_LITE_STATIC_MEMORY", TENSOR % "#if 0  // TF_LITE_STATIC_MEMORY"
STATIC = {"TF_LITE_STATIC_MEMORY": None}


@pytest.mark.parametrize(
    ("common", "forced"), [(ASKS, {}), (NEVER, STATIC), ("struct TfLiteTensor { int type; };", {}), ("", {})]
)
@pytest.mark.parametrize("folder", ["c", "core__c"])
def test_headers_that_are_always_static_say_so(tmp_path, folder, common, forced):
    folders = header_tree(tmp_path, "2023-09", **{f"tensorflow__lite__{folder}__common": common})
    assert read_headers(folders, None).forced_defines == forced


def test_the_header_that_has_the_structure_counts(tmp_path):
    texts = {
        "tensorflow__lite__c__common": '#include "tensorflow/lite/core/c/common.h"\n',
        "tensorflow__lite__core__c__common": NEVER,
    }
    assert read_headers(header_tree(tmp_path, "2023-09", **texts), None).forced_defines == STATIC


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("#ifndef ARDUINO\n#include <string>\n#endif\n", True),
        ("#if !defined(ARDUINO)\n#endif\n", True),
        ("#ifndef TF_LITE_STATIC_MEMORY\n#endif\n", False),
        ("#if defined(ARDUINO) || defined(TF_LITE_STATIC_MEMORY)\n#endif\n", False),
        ("// #ifndef ARDUINO\n", False),
    ],
)
def test_kernels_that_go_by_arduinos_define(tmp_path, text, asks):
    folders = header_tree(tmp_path, "2024-12", tensorflow__lite__kernels__kernel_util=text)
    assert read_headers(folders, None).asks_for_arduino is asks


def test_static_memory_without_arduinos_define_is_half_static():
    with pytest.raises(SourceError, match="only when ARDUINO is defined") as caught:
        refuse_half_static(True, STATIC, "include")
    assert 'add "ARDUINO" to `defines`' in caught.value.hint


@pytest.mark.parametrize("defines", [(), ("ARDUINO",), ("ARDUINO", "TF_LITE_STATIC_MEMORY")])
def test_with_both_or_without_static_memory_nothing_is_half(defines):
    refuse_half_static(True, defines, "include")
    refuse_half_static(False, STATIC, "include")
