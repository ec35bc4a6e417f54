import shutil
import subprocess

import pytest

from harness.errors import BuildError, SourceError
from harness.tflm.abi import Flags
from harness.tflm.archive import read_library
from harness.tflm.compatibility import compare as compare_with
from tests.support.tflm_parts import archive

M4 = ("-mcpu=cortex-m4", "-mthumb", "-fno-short-enums")
HARD = (*M4, "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
DOUBLE = (*M4[1:], "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16")
KERNEL = 'extern "C" void {0}(); int Register_CONV_2D() {{ {0}(); return 1; }}\n'


def compare(libraries, kernels, probe, flags=HARD):
    return compare_with(libraries, kernels, probe, Flags(flags))


@pytest.fixture
def compiled(tmp_path):
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("no arm-none-eabi-g++: apt install gcc-arm-none-eabi")

    def compile_with(name, text="", flags=HARD):
        source = tmp_path / f"{name}.cc"
        source.write_text(text)
        subprocess.run(["arm-none-eabi-g++", *flags, "-c", source.name, "-o", f"{name}.o"], cwd=tmp_path, check=True)
        return tmp_path / f"{name}.o"

    return compile_with


@pytest.fixture
def library(tmp_path):
    def make(*objects):
        target = tmp_path / "libtflm.a"
        subprocess.run(["arm-none-eabi-ar", "rcs", target, *objects], check=True)
        return read_library(target)

    return make


def test_a_library_that_fits(compiled, library):
    made = library(compiled("conv", KERNEL.format("reference")), compiled("other", "float f(float x) { return x; }"))
    assert list(compare([made], "reference", compiled("probe"))) == []


def test_each_difference_is_told_once_with_a_member_that_shows_it(compiled, library):
    soft = (*M4, "-mfloat-abi=soft")
    members = [compiled(f"member{number}", f"int f{number};", soft) for number in range(3)]
    short = (*HARD, "-fshort-enums")
    made = library(compiled("conv", KERNEL.format("reference"), short), *members)
    found = list(compare([made], "reference", compiled("probe")))
    assert [finding.check for finding in found] == ["abi", "abi"]
    errors = [finding.error for finding in found]
    assert errors[0].where == f"{made.path}(conv.o)"
    assert "enumerations" in errors[0].what
    assert errors[1].where == f"{made.path}(member0.o) and 2 more"
    assert "float ABI" in errors[1].what


def test_a_library_for_an_fpu_with_doubles(compiled, library):
    made = library(compiled("conv", KERNEL.format("reference"), DOUBLE), compiled("other"))
    (finding,) = compare([made], "reference", compiled("probe"))
    assert finding.error.where == f"{made.path}(conv.o)"
    assert (finding.error.measured, finding.error.expected) == (
        "FPv5-D16 with single and double precision",
        "VFPv4-D16 with single precision",
    )
    assert finding.error.hint.endswith(" ".join(HARD))
    assert list(compare([made], "reference", compiled("probe7", flags=DOUBLE), DOUBLE)) == []


def test_what_short_enumerations_lead_to_is_told(compiled, library):
    short = (*HARD, "-fshort-enums")
    made = library(compiled("conv", KERNEL.format("reference"), short))
    (finding,) = compare([made], "reference", compiled("probe", flags=short), short)
    assert (finding.check, finding.error) == ("abi", None)
    assert "config_mismatch" in finding.text


def test_a_library_without_kernels_has_no_wrong_ones(compiled, library):
    assert list(compare([library(compiled("other", "int f;"))], "cmsis-nn", compiled("probe"))) == []


@pytest.mark.parametrize(
    ("calls", "kernels"),
    [("arm_convolve_wrapper_s8", "cmsis-nn"), ("esp_nn_conv_s8_ansi", "esp-nn"), ("f", "reference")],
)
def test_the_kernel_set_shows_in_what_kernels_call(compiled, library, calls, kernels):
    # What no kernel calls does not count: this might be CMSIS-NN itself, linked and not used.
    unused = compiled("unused", 'extern "C" void arm_nn_thing(); void other() { arm_nn_thing(); }')
    made = library(compiled("conv", KERNEL.format(calls)), unused)
    probe = compiled("probe")
    assert list(compare([made], kernels, probe)) == []
    for claimed in {"reference", "cmsis-nn", "esp-nn"} - {kernels}:
        (finding,) = compare([made], claimed, probe)
        assert finding.check == "kernels"
        assert (finding.error.measured, finding.error.expected) == (kernels, claimed)
        assert f'kernels = "{kernels}"' in finding.error.hint


@pytest.mark.parametrize("claimed", ["reference", "cmsis-nn"])
def test_what_kernels_call_does_not_show_before_they_are_linked(compiled, library, claimed):
    made = library(compiled("conv", KERNEL.format("arm_convolve_wrapper_s8"), (*HARD, "-flto")))
    (finding,) = compare([made], claimed, compiled("probe"))
    assert (finding.check, finding.error) == ("kernels", None)
    assert "-flto" in finding.text


def test_a_member_that_is_no_object(compiled, tmp_path):
    path = tmp_path / "libtext.a"
    path.write_bytes(archive({"readme.txt": b"text"}, {"symbol": ["readme.txt"]}))
    (finding,) = compare([read_library(path)], "reference", compiled("probe"))
    assert isinstance(finding.error, SourceError)
    assert finding.error.where == f"{path}(readme.txt)"


def test_a_compiler_that_makes_no_objects(compiled, library, tmp_path):
    (tmp_path / "probe.o").write_text("no object")
    with pytest.raises(BuildError, match="made no object file"):
        list(compare([library(compiled("conv", KERNEL.format("f")))], "reference", tmp_path / "probe.o"))
