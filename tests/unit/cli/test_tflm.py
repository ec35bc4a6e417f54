import json
import re
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from harness.cli.tflm import command
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.fake_tflm import HEADERS, build_library
from tests.support.source_trees import source_tree
from tests.support.tflm_parts import INTERPRETER, RECORDING, header_tree, library, manifest

M4 = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-fno-short-enums")
CODE = """
namespace tflite {
class MicroInterpreter { void AllocateTensors(); };
void MicroInterpreter::AllocateTensors() {}
class RecordingMicroAllocator { void Create(); };
void RecordingMicroAllocator::Create() {}
void Register_CONV_2D() {}
}
"""
CHECKS = ["headers", "library", "configuration", "operators", "abi", "kernels", "link"]


def check(path, *options, board="stm32f407-virtual"):
    found = CliRunner().invoke(command, ["check", str(path), "--board", board, *options], standalone_mode=False)
    assert found.exception is None, found.exception
    return found


@pytest.fixture
def compiled(tmp_path):
    """A manifest of a library that a real compiler made."""
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("no arm-none-eabi-g++: apt install gcc-arm-none-eabi")
    (tmp_path / "all.cc").write_text(CODE)
    subprocess.run(["arm-none-eabi-g++", *M4, "-c", "all.cc"], cwd=tmp_path, check=True)
    subprocess.run(["arm-none-eabi-ar", "rcs", "libtflm.a", "all.o"], cwd=tmp_path, check=True)
    return manifest(tmp_path, header_tree(tmp_path, "2026-08"), [tmp_path / "libtflm.a"])


@pytest.fixture(scope="module")
def linkable(tmp_path_factory):
    """A library that can be linked. What is made of it lies in a cache beside it."""
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("no arm-none-eabi-g++: apt install gcc-arm-none-eabi")
    return build_library(ArmGcc(), [*M4, "-Os"], tmp_path_factory.mktemp("linkable"))


@pytest.fixture
def whole(linkable, tmp_path, monkeypatch):
    """A manifest of a library that can be linked."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(linkable.parent / "cache"))
    made = shutil.copy(linkable, tmp_path)
    return manifest(tmp_path, [HEADERS], [made], 'defines = ["TF_LITE_STATIC_MEMORY", "NDEBUG"]')


@pytest.mark.xdist_group("linkable")
def test_a_sound_library(whole, linkable):
    found = check(whole, "--format", "json")
    assert found.return_value == 0, found.stdout
    rows = json.loads(found.stdout)
    assert [(row["check"], row["result"]) for row in rows] == [(name, "ok") for name in CHECKS]
    assert "bytes of flash" in rows[-1]["finding"]
    (elf,) = linkable.parent.glob("cache/harness/firmware/*/firmware.elf")
    made = elf.stat().st_mtime_ns
    assert check(whole).return_value == 0
    assert elf.stat().st_mtime_ns == made  # found, and not linked anew


@pytest.mark.slow
def test_a_library_from_which_no_firmware_can_be_linked(whole, tmp_path):
    subprocess.run(["arm-none-eabi-ar", "d", tmp_path / "libtflm.a", "micro_log.o"], check=True)
    found = check(whole, "--format", "json")
    assert found.return_value == 3
    rows = json.loads(found.stdout)
    assert [row["check"] for row in rows if row["result"] == "ok"] == CHECKS[:-1]
    assert rows[-1]["result"] == "failed"
    assert "undefined symbols: MicroPrintf" in rows[-1]["finding"]
    assert rows[-1]["where"].endswith("-tflm_2022_10.o")
    assert rows[-1]["hint"]


@pytest.mark.slow
def test_a_firmware_that_does_not_fit_the_board(whole, tmp_path):
    (tmp_path / "small.toml").write_text('base = "stm32f407-virtual"\nflash.firmware.size_bytes = 0x4000\n')
    found = check(whole, board=str(tmp_path / "small.toml"))
    assert found.return_value == 1
    assert "does not fit" in found.stdout


def test_notes(compiled):
    found = check(compiled, "--format", "json")
    notes = [row["finding"] for row in json.loads(found.stdout) if row["result"] == "note"]
    assert notes == ["in the headers, not in the library: SOFTMAX"]


def test_a_library_without_tflm(tmp_path):
    found = check(manifest(tmp_path, header_tree(tmp_path, "2026-08"), [library(tmp_path / "libc.a", "main")]))
    assert found.return_value == 3
    assert "expected one that defines tflite::MicroInterpreter::AllocateTensors()\nhint: " in found.stdout
    for name in ("configuration", "operators", "kernels", "link"):
        assert re.search(rf"{name} +not checked", found.stdout)


@pytest.mark.xdist_group("linkable")
def test_a_table_for_people(whole):
    found = check(whole)
    assert "TFLM 2026-01, schema not told" in found.stdout
    assert "as compiled with -mcpu=cortex-m4" in found.stdout
    assert "hint:" not in found.stdout


def test_another_board(compiled):
    found = check(compiled, board="esp32-virtual")
    if "not installed" in found.stdout:
        pytest.skip("no compiler for Xtensa")
    assert found.return_value == 3
    assert "libtflm.a(all.o): the library is compiled for another machine\nfound ARM" in found.stdout


def test_flags_that_the_compiler_does_not_know(compiled):
    compiled.write_text(compiled.read_text() + 'abi_flags = ["-mcpu=cortex-m99"]\n')
    found = check(compiled, "--format", "json")
    assert found.return_value == 3
    rows = json.loads(found.stdout)
    (failed,) = [row for row in rows if row["result"] == "failed"]
    assert failed["check"] == "abi"
    assert "cortex-m99" in failed["finding"]
    assert [(row["check"], row["result"]) for row in rows[-2:]] == [("kernels", "not checked"), ("link", "not checked")]


def test_without_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    made = library(tmp_path / "libtflm.a", INTERPRETER, RECORDING)
    found = check(manifest(tmp_path, header_tree(tmp_path, "2026-08"), [made]))
    assert found.return_value == 3
    assert "arm-none-eabi-g++ is not installed" in found.stdout


def test_what_cannot_be_checked_is_told(tmp_path):
    found = check(manifest(tmp_path, [tmp_path], [tmp_path / "libgone.a"]), "--format", "json")
    assert found.return_value == 3
    results = {row["check"]: row["result"] for row in json.loads(found.stdout)}
    assert results == {name: "failed" if name in ("headers", "library") else "not checked" for name in CHECKS}


def test_a_folder_of_sources_is_checked_up_to_the_firmware(tmp_path):
    found = check(source_tree(tmp_path / "tree", "upstream"))
    assert [row.split()[:2] for row in found.stdout.splitlines()[2:]] == [
        [name, "ok"] for name in ("sources", "headers", "kernels", "operators", "link")
    ]
    assert "TFLM 2026-01, with static memory" in found.stdout


def test_a_folder_that_lacks_something_tells_what(tmp_path):
    tree = source_tree(tmp_path / "tree", "upstream")
    shutil.rmtree(tree / "tensorflow/lite/micro/tools/make/downloads/ruy")
    found = check(tree)
    assert found.return_value == 3
    assert "ruy is missing" in found.stdout
