import pytest

from harness.tflm.abi import Flags, differences
from harness.tflm.objects import (
    CPU_ARCH,
    CPU_ARCH_PROFILE,
    ENUM_SIZE,
    FP_ARCH,
    FP_NUMBER_MODEL,
    HARD_FP_USE,
    VFP_ARGS,
    ObjectFile,
)

V4T, V7M, V6M, V7EM, V8M_MAIN = 2, 10, 11, 13, 17
NO_FPU, VFP2, VFP3, VFP3_D16, FPV4_D16, FPV5_D16 = 0, 2, 3, 4, 6, 8
BOARD = Flags(("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"))


def arm(core=V7EM, vfp_args=1, enum_size=2, number_model=3, profile="M", fpu=FPV4_D16, doubles=False):  # noqa: PLR0917 - one per tag
    numbers = {
        CPU_ARCH: core,
        CPU_ARCH_PROFILE: ord(profile),
        VFP_ARGS: vfp_args,
        ENUM_SIZE: enum_size,
        FP_NUMBER_MODEL: number_model,
        FP_ARCH: fpu,
        HARD_FP_USE: int(not doubles),
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
        (arm(fpu=NO_FPU, number_model=0), arm()),
        (arm(fpu=VFP2), arm()),
        (arm(fpu=VFP3_D16), arm()),
        (arm(fpu=FPV4_D16), arm(fpu=FPV5_D16)),
        (arm(fpu=FPV5_D16), arm(fpu=FPV5_D16, doubles=True)),
        (arm(fpu=FPV5_D16, doubles=True), arm(fpu=FPV5_D16, doubles=True)),
        (arm(fpu=99), arm()),
        (ObjectFile("EM_ARM", 32, "little"), arm()),
        (xtensa("1"), xtensa("1")),
        (ObjectFile("EM_XTENSA", 32, "little"), xtensa("1")),
    ],
)
def test_what_fits(of_library, of_firmware):
    assert list(differences(of_library, of_firmware, BOARD)) == []


@pytest.mark.parametrize(
    ("of_library", "of_firmware", "what", "measured", "expected"),
    [
        (xtensa("1"), arm(), "another machine", "Xtensa, 32 bits, little-endian", "ARM, 32 bits, little-endian"),
        (ObjectFile("EM_ARM", 32, "big"), arm(), "another machine", "ARM, 32 bits, big-endian", None),
        (ObjectFile("EM_ALPHA", 64, "little"), arm(), "another machine", "EM_ALPHA, 64 bits, little-endian", None),
        (arm(core=V8M_MAIN), arm(), "a core whose code", "Armv8-M mainline", "Armv7E-M"),
        (arm(core=99), arm(), "a core whose code", "Tag_CPU_arch 99", "Armv7E-M"),
        (arm(core=14), arm(), "a core whose code", "Armv8-A", "Armv7E-M"),
        (arm(core=V7M, profile="R"), arm(), "kind of core", "a Cortex-R", "a Cortex-M"),
        (arm(vfp_args=0), arm(), "float ABI", "floats in integer registers (soft or softfp)", None),
        (arm(vfp_args=1), arm(vfp_args=0), "float ABI", "floats in VFP registers (hard)", None),
        (arm(fpu=FPV4_D16, doubles=True), arm(), "an FPU", "VFPv4-D16 with single and double precision", None),
        (arm(fpu=FPV5_D16), arm(), "an FPU", "FPv5-D16 with single precision", "VFPv4-D16 with single precision"),
        (arm(fpu=VFP3), arm(), "an FPU", "VFPv3 with single precision", None),
        (arm(vfp_args=0), arm(vfp_args=0, fpu=NO_FPU), "an FPU", "VFPv4-D16 with single precision", "no FPU"),
        (arm(enum_size=1), arm(), "enumerations", "as small as the values allow (-fshort-enums)", None),
        (arm(enum_size=2), arm(enum_size=1), "enumerations", "4 bytes (-fno-short-enums)", None),
        (xtensa("0"), xtensa("1"), "way to call functions", "windowed registers", "call0"),
    ],
)
def test_what_does_not_fit_is_a_sentence(of_library, of_firmware, what, measured, expected):
    (difference,) = differences(of_library, of_firmware, BOARD)
    assert what in difference.what
    assert difference.measured == measured
    assert expected in (None, difference.expected)
    assert difference.hint


def test_each_difference_is_its_own():
    found = list(differences(arm(core=V8M_MAIN, vfp_args=0, enum_size=1, fpu=FPV5_D16), arm(), BOARD))
    assert len(found) == len({difference.what for difference in found}) == 4


def hints(of_library, of_firmware, flags=BOARD):
    return [difference.hint for difference in differences(of_library, of_firmware, flags)]


@pytest.mark.parametrize(
    ("of_library", "of_firmware", "manifest", "flag"),
    [
        (arm(vfp_args=0), arm(), None, "-mfloat-abi=softfp"),
        (arm(vfp_args=0, fpu=NO_FPU), arm(), None, "-mfloat-abi=soft"),
        (arm(), arm(vfp_args=0), (*BOARD.board[:2], "-mfloat-abi=softfp", BOARD.board[3]), "-mfloat-abi=hard"),
    ],
)
def test_the_hint_at_another_float_abi_is_a_whole_line_for_the_manifest(of_library, of_firmware, manifest, flag):
    (hint,) = hints(of_library, of_firmware, Flags(BOARD.board, manifest))
    assert hint.endswith(f'abi_flags = ["-mcpu=cortex-m4", "-mthumb", "{flag}", "-mfpu=fpv4-sp-d16"]')


def test_flags_of_a_manifest_that_name_no_core_are_the_only_thing_told():
    flags = Flags(BOARD.board, ("-mfloat-abi=softfp", "-fshort-enums", "-mlong-calls"))
    (hint,) = hints(arm(enum_size=1), arm(core=V4T, profile="\0", vfp_args=0, fpu=NO_FPU), flags)
    assert "takes the place of the board's flags" in hint
    line = 'abi_flags = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=softfp", "-mfpu=fpv4-sp-d16", "-mlong-calls"]'
    assert hint.endswith(line)


def test_a_library_of_short_enumerations_is_to_be_compiled_without():
    (hint,) = hints(arm(enum_size=1), arm())
    assert "-fno-short-enums" in hint
    assert "abi_flags" not in hint
