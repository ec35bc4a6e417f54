"""Compares the objects of a library with what the firmware's compiler makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BuildError, SourceError
from harness.tflm.abi import SHORT_ENUMS, Difference, Flags, differences
from harness.tflm.archive import Library
from harness.tflm.findings import LibraryFinding, obstacle
from harness.tflm.objects import ObjectFile, read_object

# What kernels of TFLM call when they are optimized ones.
_KERNEL_CALLS = {"cmsis-nn": "arm_", "esp-nn": "esp_nn_"}
# esp-nn-s3 is called by the same names as esp-nn.
_FOR_ONE_CORE = "-s3"


@dataclass(frozen=True)
class _Member:
    """An object of a library, read."""

    library: Library
    name: str
    read: ObjectFile

    @property
    def place(self) -> str:
        """Where it is, as linkers write it."""
        return f"{self.library.path}({self.name})"

    @property
    def registers(self) -> bool:
        """Whether it defines a function that makes an operator's registration."""
        return any("Register_" in symbol and self.name in where for symbol, where in self.library.symbols.items())


def compare(libraries: Sequence[Library], kernels: str, probe: Path, flags: Flags) -> Iterator[LibraryFinding]:
    """What keeps libraries and a firmware from being linked.

    Args:
        libraries: of TFLM.
        kernels: the kernel set that the manifest says they have.
        probe: an object file compiled with the firmware's flags.
        flags: those among them that choose the ABI.

    Raises:
        BuildError: the probe is no object file.
    """
    try:
        of_firmware = read_object(probe.read_bytes())
    except ValueError as error:
        raise BuildError(f"the compiler made no object file: {error}", where=probe) from error
    members = []
    for library in libraries:
        for member, data in library.contents():
            try:
                members.append(_Member(library, member.name, read_object(data)))
            except ValueError as error:
                what = f"a member of the library cannot be linked: {error}"
                yield obstacle("library", SourceError(what, where=f"{library.path}({member.name})"))
    yield from _compare_abi(members, of_firmware, flags)
    yield from _compare_kernels(members, kernels)


def _compare_abi(members: Iterable[_Member], of_firmware: ObjectFile, flags: Flags) -> Iterator[LibraryFinding]:
    """Each difference once, with the first member that shows it."""
    showing: dict[Difference, list[_Member]] = {}
    for member in members:
        for difference in differences(member.read, of_firmware, flags):
            showing.setdefault(difference, []).append(member)
    for difference, shown_by in showing.items():
        more = f" and {len(shown_by) - 1} more" if len(shown_by) > 1 else ""
        error = SourceError(
            difference.what,
            where=f"{shown_by[0].place}{more}",
            measured=difference.measured,
            expected=difference.expected,
            hint=difference.hint,
        )
        yield obstacle("abi", error)
    if SHORT_ENUMS in flags.in_use:
        yield LibraryFinding(
            "abi", f"with {SHORT_ENUMS} a run ends in config_mismatch: the layout profiles hold without it"
        )


def _compare_kernels(members: Sequence[_Member], claimed: str) -> Iterator[LibraryFinding]:
    """Which kernel set it is shows in what the members that register operators call."""
    if any(member.registers and member.read.is_intermediate for member in members):
        yield LibraryFinding(
            "kernels", "what they call does not show in objects of -flto: they are what the manifest says"
        )
        return
    called = {symbol for member in members if member.registers for symbol in member.read.wanted}
    optimized = [name for name, prefix in _KERNEL_CALLS.items() if any(symbol.startswith(prefix) for symbol in called)]
    found = optimized or ["reference"]
    if claimed.removesuffix(_FOR_ONE_CORE) in found or not any(member.registers for member in members):
        return
    error = SourceError(
        "the library's kernels are others than the manifest says",
        where=members[0].library.path,
        measured=found[0],
        expected=claimed,
        hint=f'write kernels = "{found[0]}" into the manifest: the estimate depends on it',
    )
    yield obstacle("kernels", error)
