"""Objects that real compilers made, and broken ones."""

import random
import shutil
import struct
import subprocess

import pytest

from harness.tflm.objects import CPU_ARCH, ENUM_SIZE, FP_ARCH, FP_NUMBER_MODEL, HARD_FP_USE, VFP_ARGS, read_object

SOURCE = 'extern "C" float other(float); extern "C" float twice(float x) { return other(x) * 2; }\n'
M4 = ("-mcpu=cortex-m4", "-mthumb")


@pytest.fixture
def compiled(tmp_path):
    def compile_with(compiler, *flags):
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        (tmp_path / "a.cc").write_text(SOURCE)
        subprocess.run([compiler, *flags, "-c", "a.cc"], cwd=tmp_path, check=True)
        return (tmp_path / "a.o").read_bytes()

    return compile_with


@pytest.mark.parametrize(
    ("flags", "core", "vfp_args", "enum_size"),
    [
        ((*M4, "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-fno-short-enums"), 13, 1, 2),
        ((*M4, "-mfloat-abi=softfp", "-mfpu=fpv4-sp-d16", "-fno-short-enums"), 13, 0, 2),
        ((*M4, "-mfloat-abi=soft"), 13, 0, 1),
        (("-mcpu=cortex-m0", "-mthumb"), 12, 0, 1),
    ],
)
def test_objects_for_arm(compiled, flags, core, vfp_args, enum_size):
    found = read_object(compiled("arm-none-eabi-g++", *flags))
    assert (found.machine, found.bits, found.byte_order) == ("EM_ARM", 32, "little")
    assert found.arm[CPU_ARCH] == core
    assert found.arm.get(VFP_ARGS, 0) == vfp_args
    assert found.arm[ENUM_SIZE] == enum_size
    assert found.arm[FP_NUMBER_MODEL] == 3
    assert "other" in found.wanted
    assert "twice" not in found.wanted


@pytest.mark.parametrize(
    ("fpu", "value", "use"), [("fpv4-sp-d16", 6, 1), ("fpv5-sp-d16", 8, 1), ("fpv5-d16", 8, 0), ("vfpv3-d16", 4, 0)]
)
def test_the_fpu_of_objects_for_arm(compiled, fpu, value, use):
    found = read_object(compiled("arm-none-eabi-g++", "-mcpu=cortex-m7", "-mfloat-abi=hard", f"-mfpu={fpu}"))
    assert (found.arm[FP_ARCH], found.arm.get(HARD_FP_USE, 0)) == (value, use)


def test_objects_for_xtensa(compiled):
    found = read_object(compiled("xtensa-lx106-elf-g++"))
    assert (found.machine, found.xtensa["ABI"]) == ("EM_XTENSA", "1")


def test_objects_of_the_host(compiled):
    assert read_object(compiled("g++")).arm == {}


@pytest.mark.parametrize(
    "data", [b"", b"text", b"\x7fELF", b"\x7fELF\x01\x01\x01" + bytes(45), b"\x7fELF" + b"\xff" * 60]
)
def test_what_is_no_object(data):
    with pytest.raises(ValueError, match="object file"):
        read_object(data)


def test_a_program_is_no_object(compiled):
    data = bytearray(compiled("arm-none-eabi-g++", *M4))
    struct.pack_into("<H", data, 16, 2)  # e_type: ET_EXEC
    with pytest.raises(ValueError, match="no object file"):
        read_object(bytes(data))


def test_damaged_objects_give_an_error_or_an_object(compiled):
    sound = compiled("arm-none-eabi-g++", *M4)
    dice = random.Random(1)  # noqa: S311 - a fixed series of damages
    refused = 0
    for _ in range(300):
        data = bytearray(sound[: dice.randrange(len(sound))] if dice.random() < 0.2 else sound)
        for _ in range(dice.randrange(1, 20)):
            place = dice.randrange(64) if dice.random() < 0.5 else dice.randrange(len(sound))
            if place < len(data):
                data[place] = dice.randrange(256)
        try:
            read_object(bytes(data))
        except ValueError:
            refused += 1
    assert refused > 50


def attributes(body):
    """An object's .ARM.attributes with another content, of the same length."""
    return b"A" + struct.pack("<I", len(body) + 10) + b"aeabi\0" + body


@pytest.fixture
def with_attributes(compiled):
    def replaced(body):
        sound = compiled("arm-none-eabi-g++", *M4)
        start = sound.index(b"aeabi\0") - 5
        damaged = attributes(body)
        return sound[:start] + damaged + sound[start + len(damaged) :]

    return replaced


@pytest.mark.parametrize("body", [b"\x01\0\0\0\0", b"\x01\x06\0\0\0\x05unended"])
def test_attributes_that_end_too_early_are_none(with_attributes, body):
    assert read_object(with_attributes(body)).arm == {}


def test_attributes_that_never_end(with_attributes):
    with pytest.raises(ValueError, match="its attributes has no end"):
        read_object(with_attributes(b"\x01\xff\xff\xff\xff" + b"\x80" * 20))
