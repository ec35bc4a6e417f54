import pytest

from harness.tflm.abi import differences
from harness.tflm.objects import CPU_ARCH, CPU_ARCH_PROFILE, ENUM_SIZE, FP_NUMBER_MODEL, VFP_ARGS, ObjectFile

V7M, V6M, V7EM, V8M_MAIN = 10, 11, 13, 17


def arm(core=V7EM, vfp_args=1, enum_size=2, number_model=3, profile="M"):
    numbers = {
        CPU_ARCH: core,
        CPU_ARCH_PROFILE: ord(profile),
        VFP_ARGS: vfp_args,
        ENUM_SIZE: enum_size,
        FP_NUMBER_MODEL: number_model,
    }
    return ObjectFile("EM_ARM", 32, "little", arm=numbers)


def xtensa(abi):
    return ObjectFile("EM_XTENSA", 32, "little", xtensa={"ABI": abi})


@pytest.mark.parametrize(
    ("of_library", "of_firmware"),
    [
        (arm(), arm()),
        (arm(core=V7M), arm()),
        (arm(core=V6M), arm()),
        (arm(core=V7EM), arm(core=V8M_MAIN)),
        (arm(vfp_args=0, number_model=0), arm()),
        (arm(vfp_args=3), arm()),
        (arm(enum_size=0), arm()),
        (arm(enum_size=3), arm()),
        (arm(core=V6M, profile="\0"), arm()),
        (ObjectFile("EM_ARM", 32, "little"), arm()),
        (xtensa("1"), xtensa("1")),
        (ObjectFile("EM_XTENSA", 32, "little"), xtensa("1")),
    ],
)
def test_what_fits(of_library, of_firmware):
    assert list(differences(of_library, of_firmware)) == []


@pytest.mark.parametrize(
    ("of_library", "of_firmware", "what", "measured", "expected"),
    [
        (xtensa("1"), arm(), "another machine", "Xtensa, 32 bits, little-endian", "ARM, 32 bits, little-endian"),
        (ObjectFile("EM_ARM", 32, "big"), arm(), "another machine", "ARM, 32 bits, big-endian", None),
        (ObjectFile("EM_ALPHA", 64, "little"), arm(), "another machine", "EM_ALPHA, 64 bits, little-endian", None),
        (arm(core=V8M_MAIN), arm(), "a core whose code", "Armv8-M mainline", "Armv7E-M"),
        (arm(core=99), arm(), "a core whose code", "Tag_CPU_arch 99", "Armv7E-M"),
        (arm(core=V7M, profile="R"), arm(), "kind of core", "a Cortex-R", "a Cortex-M"),
        (arm(vfp_args=0), arm(), "float ABI", "base: floats in integer registers (soft or softfp)", None),
        (arm(vfp_args=1), arm(vfp_args=0), "float ABI", "hard: floats in VFP registers", None),
        (arm(enum_size=1), arm(), "enumerations", "as small as the values allow (-fshort-enums)", None),
        (arm(enum_size=2), arm(enum_size=1), "enumerations", "4 bytes (-fno-short-enums)", None),
        (xtensa("0"), xtensa("1"), "way to call functions", "windowed registers", "call0"),
    ],
)
def test_what_does_not_fit_is_a_sentence(of_library, of_firmware, what, measured, expected):
    (difference,) = differences(of_library, of_firmware)
    assert what in difference.what
    assert difference.measured == measured
    assert expected in (None, difference.expected)
    assert difference.hint


def test_each_difference_is_its_own():
    found = list(differences(arm(core=V8M_MAIN, vfp_args=0, enum_size=1), arm()))
    assert len(found) == len({difference.what for difference in found}) == 3
