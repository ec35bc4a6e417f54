"""Whether objects of a library can be linked with a firmware: what both were compiled for, compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.tflm.objects import CPU_ARCH, CPU_ARCH_PROFILE, ENUM_SIZE, FP_NUMBER_MODEL, VFP_ARGS, ObjectFile

_MACHINES = {
    "EM_ARM": "ARM", "EM_XTENSA": "Xtensa", "EM_RISCV": "RISC-V", "EM_X86_64": "x86-64", "EM_386": "x86",
    "EM_AARCH64": "AArch64",
}  # fmt: skip
# Values of Tag_CPU_arch that Cortex-M cores have, and the older ones whose code each of them runs.
_ARM_CORES: Mapping[int, str] = {
    10: "Armv7-M", 11: "Armv6-M", 12: "Armv6S-M", 13: "Armv7E-M", 16: "Armv8-M baseline", 17: "Armv8-M mainline",
    21: "Armv8.1-M mainline",
}  # fmt: skip
_ARM_RUNS: Mapping[int, frozenset[int]] = {
    12: frozenset({11}),
    10: frozenset({11, 12}),
    13: frozenset({10, 11, 12}),
    16: frozenset({11, 12}),
    17: frozenset({10, 11, 12, 13, 16}),
    21: frozenset({10, 11, 12, 13, 16, 17}),
}
# The same value of Tag_CPU_arch stands for several kinds of core, whose exceptions and instructions differ.
_ARM_PROFILES = {ord("A"): "a Cortex-A", ord("R"): "a Cortex-R", ord("M"): "a Cortex-M"}
_FLOAT_ABIS = {0: "base: floats in integer registers (soft or softfp)", 1: "hard: floats in VFP registers"}
_FLOAT_INDEPENDENT = 3
_ENUM_SIZES = {1: "as small as the values allow (-fshort-enums)", 2: "4 bytes (-fno-short-enums)"}
_XTENSA_ABIS = {"0": "windowed registers", "1": "call0"}


@dataclass(frozen=True)
class Difference:
    """Something in which an object and the firmware differ.

    Attributes:
        what: the sentence.
        measured: the object's side.
        expected: the firmware's side.
        hint: how to mend it.
    """

    what: str
    measured: str
    expected: str
    hint: str


def differences(of_library: ObjectFile, of_firmware: ObjectFile) -> Iterator[Difference]:
    """Each thing in which an object of a library does not fit a firmware."""
    machines = [_machine(each) for each in (of_library, of_firmware)]
    if machines[0] != machines[1]:
        hint = "build it for this board, or choose its board"
        yield Difference("the library is compiled for another machine", machines[0], machines[1], hint)
        return  # whatever else differs follows from that
    for compare in (_core, _profile, _float_abi, _enum_size, _xtensa_abi):
        difference = compare(of_library, of_firmware)
        if difference is not None:
            yield difference


def _machine(one: ObjectFile) -> str:
    return f"{_MACHINES.get(one.machine, one.machine)}, {one.bits} bits, {one.byte_order}-endian"


def _core(of_library: ObjectFile, of_firmware: ObjectFile) -> Difference | None:
    theirs, ours = of_library.arm.get(CPU_ARCH), of_firmware.arm.get(CPU_ARCH)
    if theirs is None or ours is None or theirs == ours or theirs in _ARM_RUNS.get(ours, ()):
        return None
    return Difference(
        "the library is compiled for a core whose code this one does not run",
        _ARM_CORES.get(theirs, f"Tag_CPU_arch {theirs}"),
        _ARM_CORES.get(ours, f"Tag_CPU_arch {ours}"),
        "build it with the board's -mcpu; `abi_flags` in the manifest are those of the firmware",
    )


def _profile(of_library: ObjectFile, of_firmware: ObjectFile) -> Difference | None:
    theirs, ours = of_library.arm.get(CPU_ARCH_PROFILE), of_firmware.arm.get(CPU_ARCH_PROFILE)
    if theirs == ours or theirs not in _ARM_PROFILES or ours not in _ARM_PROFILES:
        return None
    return Difference(
        "the library is compiled for another kind of core",
        _ARM_PROFILES[theirs],
        _ARM_PROFILES[ours],
        "build it with the board's -mcpu",
    )


def _float_abi(of_library: ObjectFile, of_firmware: ObjectFile) -> Difference | None:
    """Only objects that use floating-point numbers have such an ABI."""
    if not of_library.arm.get(FP_NUMBER_MODEL):
        return None
    theirs, ours = of_library.arm.get(VFP_ARGS, 0), of_firmware.arm.get(VFP_ARGS, 0)
    if theirs in (ours, _FLOAT_INDEPENDENT):
        return None
    return Difference(
        "the library is compiled for another float ABI",
        _FLOAT_ABIS.get(theirs, f"Tag_ABI_VFP_args {theirs}"),
        _FLOAT_ABIS.get(ours, f"Tag_ABI_VFP_args {ours}"),
        "build it with the board's -mfloat-abi, or give its own in `abi_flags`",
    )


def _enum_size(of_library: ObjectFile, of_firmware: ObjectFile) -> Difference | None:
    theirs, ours = of_library.arm.get(ENUM_SIZE), of_firmware.arm.get(ENUM_SIZE)
    if theirs == ours or theirs not in _ENUM_SIZES or ours not in _ENUM_SIZES:
        return None
    hints = {
        1: "build it with -fno-short-enums, for which the layout profiles hold, or add -fshort-enums to `abi_flags`",
        2: "take -fshort-enums out of `abi_flags`",
    }
    return Difference(
        "the library has enumerations of another size",
        _ENUM_SIZES[theirs],
        _ENUM_SIZES[ours],
        hints[theirs],
    )


def _xtensa_abi(of_library: ObjectFile, of_firmware: ObjectFile) -> Difference | None:
    theirs, ours = of_library.xtensa.get("ABI"), of_firmware.xtensa.get("ABI")
    if theirs is None or ours is None or theirs == ours:
        return None
    return Difference(
        "the library is compiled for another way to call functions",
        _XTENSA_ABIS.get(theirs, f"ABI={theirs}"),
        _XTENSA_ABIS.get(ours, f"ABI={ours}"),
        "a library of ESP-IDF needs Espressif's xtensa-esp32-elf-g++ on PATH; Debian's compiler makes call0 code only",
    )
