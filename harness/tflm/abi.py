"""Comparison of ABIs: whether objects of a library can be linked with a firmware.

What the build attributes of ARM mean is from "Addenda to, and Errata in, the ABI for the Arm Architecture", section
"Build Attributes".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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

SHORT_ENUMS = "-fshort-enums"

_MACHINES = {
    "EM_ARM": "ARM", "EM_XTENSA": "Xtensa", "EM_RISCV": "RISC-V", "EM_X86_64": "x86-64", "EM_386": "x86",
    "EM_AARCH64": "AArch64",
}  # fmt: skip
# Values of Tag_CPU_arch, and of those that Cortex-M cores have, the older ones whose code each of them runs.
_ARM_CORES: Mapping[int, str] = dict(
    enumerate(
        (
            "before Armv4", "Armv4", "Armv4T", "Armv5T", "Armv5TE", "Armv5TEJ", "Armv6", "Armv6KZ", "Armv6T2",
            "Armv6K", "Armv7", "Armv6-M", "Armv6S-M", "Armv7E-M", "Armv8-A", "Armv8-R", "Armv8-M baseline",
            "Armv8-M mainline", "Armv8.1-A", "Armv8.2-A", "Armv8.3-A", "Armv8.1-M mainline", "Armv9-A",
        )
    )
)  # fmt: skip
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
_FLOAT_ABIS = {0: "floats in integer registers (soft or softfp)", 1: "floats in VFP registers (hard)"}
_FLOAT_INDEPENDENT = 3
_SINGLE_PRECISION = 1
_ENUM_SIZES = {1: f"as small as the values allow ({SHORT_ENUMS})", 2: "4 bytes (-fno-short-enums)"}
_XTENSA_ABIS = {"0": "windowed registers", "1": "call0"}


@dataclass(frozen=True)
class _Fpu:
    """A value of Tag_FP_arch: a version of the FPU's instructions, with so many registers for doubles."""

    name: str
    version: int
    registers: int

    def runs(self, other: _Fpu) -> bool:
        """Whether it has what code for the other one uses."""
        return other.version <= self.version and other.registers <= self.registers


_FPUS: Mapping[int, _Fpu] = {
    0: _Fpu("no FPU", 0, 0),
    1: _Fpu("VFPv1", 1, 16),
    2: _Fpu("VFPv2", 2, 16),
    3: _Fpu("VFPv3", 3, 32),
    4: _Fpu("VFPv3-D16", 3, 16),
    5: _Fpu("VFPv4", 4, 32),
    6: _Fpu("VFPv4-D16", 4, 16),
    7: _Fpu("FPv5", 5, 32),
    8: _Fpu("FPv5-D16", 5, 16),
}


@dataclass(frozen=True)
class Flags:
    """The flags that choose a firmware's ABI.

    Attributes:
        board: those of the board's file.
        manifest: those that the manifest gives in their place; None when it gives none.
    """

    board: Sequence[str]
    manifest: Sequence[str] | None = None

    @property
    def in_use(self) -> Sequence[str]:
        """Those that the firmware is compiled with."""
        return self.board if self.manifest is None else self.manifest

    @property
    def name_a_core(self) -> bool:
        """Whether they say which core of ARM the code is for."""
        return any(flag.startswith(("-mcpu=", "-march=")) for flag in self.in_use)

    def board_with_manifest(self) -> str:
        """A line for the manifest: the board's flags, with what the manifest has besides or instead.

        Without short enumerations, with which no figure would be right.
        """
        return _line(self.board, [flag for flag in self.manifest or () if flag != SHORT_ENUMS])

    def in_use_with(self, flag: str) -> str:
        """A line for the manifest: the flags in use, with one more, or with another value of it."""
        return _line(self.in_use, (flag,))


def _line(flags: Sequence[str], changes: Sequence[str]) -> str:
    """A manifest's `abi_flags`; a change `-name=value` takes the place of the flag of that name."""
    by_name = {flag.partition("=")[0]: flag for flag in (*flags, *changes)}
    return "abi_flags = [" + ", ".join(f'"{flag}"' for flag in by_name.values()) + "]"


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


def differences(of_library: ObjectFile, of_firmware: ObjectFile, flags: Flags) -> Iterator[Difference]:
    """Each thing in which an object of a library does not fit a firmware, which was compiled with these flags."""
    machines = [_machine(each) for each in (of_library, of_firmware)]
    if machines[0] != machines[1]:
        hint = "build it for this board, or choose its board"
        yield Difference("the library is compiled for another machine", machines[0], machines[1], hint)
        return  # whatever else differs follows from that
    core = _core(of_library, of_firmware, flags)
    if core is not None:
        yield core
        if not flags.name_a_core:
            return  # the firmware is for no board at all: nothing else that it is compiled for counts
    for compare in (_profile, _fpu, _float_abi, _enum_size, _xtensa_abi):
        difference = compare(of_library, of_firmware, flags)
        if difference is not None:
            yield difference


def _machine(one: ObjectFile) -> str:
    return f"{_MACHINES.get(one.machine, one.machine)}, {one.bits} bits, {one.byte_order}-endian"


def _same_flags(flags: Flags) -> str:
    return f"compile the library with the firmware's flags: {' '.join(flags.in_use)}"


def _core(of_library: ObjectFile, of_firmware: ObjectFile, flags: Flags) -> Difference | None:
    theirs, ours = of_library.arm.get(CPU_ARCH), of_firmware.arm.get(CPU_ARCH)
    if theirs is None or ours is None or theirs == ours or theirs in _ARM_RUNS.get(ours, ()):
        return None
    no_core = f"`abi_flags` takes the place of the board's flags, and names no core: {flags.board_with_manifest()}"
    return Difference(
        "the library is compiled for a core whose code this one does not run",
        _core_name(theirs),
        _core_name(ours),
        _same_flags(flags) if flags.name_a_core else no_core,
    )


def _core_name(core: int) -> str:
    return _ARM_CORES.get(core, f"Tag_CPU_arch {core}")


def _profile(of_library: ObjectFile, of_firmware: ObjectFile, flags: Flags) -> Difference | None:
    theirs, ours = of_library.arm.get(CPU_ARCH_PROFILE), of_firmware.arm.get(CPU_ARCH_PROFILE)
    if theirs == ours or theirs not in _ARM_PROFILES or ours not in _ARM_PROFILES:
        return None
    return Difference(
        "the library is compiled for another kind of core",
        _ARM_PROFILES[theirs],
        _ARM_PROFILES[ours],
        _same_flags(flags),
    )


def _fpu(of_library: ObjectFile, of_firmware: ObjectFile, flags: Flags) -> Difference | None:
    """Code for an FPU that is not there ends in a usage fault, which looks as if the model were to blame."""
    theirs, ours = (_FPUS.get(each.arm.get(FP_ARCH, 0)) for each in (of_library, of_firmware))
    if theirs is None or ours is None:  # newer than the ABI document of 2023
        return None
    if ours.runs(theirs) and _has_doubles(of_firmware) >= _has_doubles(of_library):
        return None
    return Difference(
        "the library is compiled for an FPU whose code this core does not run",
        _fpu_name(of_library, theirs),
        _fpu_name(of_firmware, ours),
        _same_flags(flags),
    )


def _has_doubles(one: ObjectFile) -> bool:
    return one.arm.get(FP_ARCH, 0) > 0 and one.arm.get(HARD_FP_USE, 0) != _SINGLE_PRECISION


def _fpu_name(one: ObjectFile, fpu: _Fpu) -> str:
    if fpu.version == 0:
        return fpu.name
    return f"{fpu.name} with {'single and double' if _has_doubles(one) else 'single'} precision"


def _float_abi(of_library: ObjectFile, of_firmware: ObjectFile, flags: Flags) -> Difference | None:
    """Only objects that use floating-point numbers have such an ABI."""
    if not of_library.arm.get(FP_NUMBER_MODEL):
        return None
    theirs, ours = of_library.arm.get(VFP_ARGS, 0), of_firmware.arm.get(VFP_ARGS, 0)
    if theirs in (ours, _FLOAT_INDEPENDENT):
        return None
    in_integer_registers = "softfp" if of_library.arm.get(FP_ARCH) else "soft"
    line = flags.in_use_with(f"-mfloat-abi={'hard' if theirs else in_integer_registers}")
    return Difference(
        "the library is compiled for another float ABI",
        _FLOAT_ABIS.get(theirs, f"Tag_ABI_VFP_args {theirs}"),
        _FLOAT_ABIS.get(ours, f"Tag_ABI_VFP_args {ours}"),
        f"{_same_flags(flags)}; or let the firmware have its ABI: {line}",
    )


def _enum_size(of_library: ObjectFile, of_firmware: ObjectFile, _flags: Flags) -> Difference | None:
    theirs, ours = of_library.arm.get(ENUM_SIZE), of_firmware.arm.get(ENUM_SIZE)
    if theirs == ours or theirs not in _ENUM_SIZES or ours not in _ENUM_SIZES:
        return None
    hints = {
        1: "compile it with -fno-short-enums: the layout profiles hold for no other size",
        2: f"take {SHORT_ENUMS} out of `abi_flags`",
    }
    return Difference(
        "the library has enumerations of another size",
        _ENUM_SIZES[theirs],
        _ENUM_SIZES[ours],
        hints[theirs],
    )


def _xtensa_abi(of_library: ObjectFile, of_firmware: ObjectFile, _flags: Flags) -> Difference | None:
    theirs, ours = of_library.xtensa.get("ABI"), of_firmware.xtensa.get("ABI")
    if theirs is None or ours is None or theirs == ours:
        return None
    return Difference(
        "the library is compiled for another way to call functions",
        _XTENSA_ABIS.get(theirs, f"ABI={theirs}"),
        _XTENSA_ABIS.get(ours, f"ABI={ours}"),
        "a library of ESP-IDF needs Espressif's xtensa-esp32-elf-g++ on PATH; Debian's compiler makes call0 code only",
    )
