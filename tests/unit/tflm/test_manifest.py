import os

import pytest

from harness.errors import UsageError
from harness.tflm.manifest import read_manifest

LEAST = 'include = ["inc"]\nlibraries = ["lib/liba.a"]\n'


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "tflm.toml"
        path.write_text(text)
        return path

    return write


def test_the_least_that_there_has_to_be(write, tmp_path):
    found = read_manifest(write(LEAST))
    assert found.include == (tmp_path / "inc",)
    assert found.libraries == (tmp_path / "lib/liba.a",)
    assert (found.generation, found.kernels, found.abi_flags, found.version) == (None, "reference", None, "")
    assert found.defines == {}


def test_everything(write, tmp_path):
    found = read_manifest(
        write(
            """
            generation = "2026-08"
            include = ["/abs/olute", "../up"]
            libraries = ["liba.a", "libb.a"]
            defines = ["NDEBUG", "LEVEL=3", "EMPTY="]
            kernels = "cmsis-nn"
            cmsis_nn = "6.0.0"
            abi_flags = ["-mcpu=cortex-m7"]
            version = "ours of May"
            """
        )
    )
    assert [str(path) for path in found.include] == ["/abs/olute", str(tmp_path.parent / "up")]
    assert found.defines == {"NDEBUG": None, "LEVEL": "3", "EMPTY": ""}
    assert (found.generation, found.kernels, found.version) == ("2026-08", "cmsis-nn", "ours of May")
    assert found.abi_flags == ("-mcpu=cortex-m7",)
    assert (found.cmsis_nn, found.esp_nn, found.nn_library) == ("6.0.0", "", "CMSIS-NN 6.0.0")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("= no toml", "this is no TOML"),
        ("= no toml", "hint: README.md"),
        (LEAST.replace('["lib/liba.a"]', '"liba.a"'), 'put it in brackets: libraries = ["liba.a"]'),
        (LEAST + 'defines = "NDEBUG"', 'put it in brackets: defines = ["NDEBUG"]'),
        ('include = ["inc"]', "libraries: missing key"),
        (LEAST.replace('"inc"', ""), "include: wrong value"),
        (LEAST.replace('"inc"', '""'), "include: wrong value"),
        (LEAST.replace('"inc"', '"a\\u0000b"'), "include: wrong value"),
        (LEAST + 'cmsis_nn = "7.0.0"', 'none without `tree` or kernels = "cmsis-nn"'),
        (LEAST + 'kernels = "cmsis-nn"\ncmsis_nn = "new"', "cmsis_nn: wrong value"),
        (LEAST + 'kernels = "esp-nn-s3"\nesp_nn = "latest"', "esp_nn: wrong value"),
        (LEAST + 'include_dirs = ["x"]', "did you mean include?"),
        (LEAST + 'generation = "2023"', "expected one of auto, 2026-01, 2026-08, 2024-12"),
        (LEAST + 'kernels = "cmsis"', "expected one of reference, cmsis-nn, esp-nn"),
        (LEAST + 'defines = ["-DNDEBUG"]', "tflm.toml: defines: '-DNDEBUG' is no define"),
        (LEAST + 'defines = ["A=\\u0000"]', "is no define"),
        (LEAST + 'abi_flags = "-mthumb"', "abi_flags: wrong value"),
        (LEAST + 'abi_flags = ["mthumb"]', "each with its -"),
        (LEAST + 'abi_flags = ["@flags.txt"]', "each with its -"),
        (LEAST + 'abi_flags = [""]', "each with its -"),
        (LEAST + 'abi_flags = ["-m\\u0000"]', "each with its -"),
        (LEAST.replace('"inc"', '"~no-such-user/inc"'), "include: a path leads nowhere"),
    ],
)
def test_what_is_wrong_is_told(write, text, told):
    with pytest.raises(UsageError) as caught:
        read_manifest(write(text))
    assert told in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 3


def test_what_is_given_in_place_of_a_manifest(tmp_path):
    library = tmp_path / "liba.a"
    library.write_bytes(b"!<arch>\n")
    for path, kind in ((tmp_path, "a folder"), (library, "a library")):
        with pytest.raises(
            UsageError, match=f"this is no manifest\nfound {kind}, expected a .toml file .*\nhint: README.md"
        ):
            read_manifest(path)


def test_a_manifest_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_manifest(tmp_path / "gone.toml")


def test_a_path_in_a_circle(write, tmp_path):
    (tmp_path / "inc").symlink_to("inc")
    with pytest.raises(UsageError, match="leads nowhere"):
        read_manifest(write(LEAST))


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "tflm.toml")
    with pytest.raises(UsageError, match="no regular file"):
        read_manifest(tmp_path / "tflm.toml")
