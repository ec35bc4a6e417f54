"""What all GCC cross compilers have in common."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.domain.firmware import ToolchainInfo
from harness.errors import BuildError, DoesNotLinkError, StorageError, ToolchainError
from harness.toolchains.undefined import TRACE_FLAGS, are_undefined, undefined_symbols

_DIAGNOSTIC = re.compile(r"^(?P<where>[^:\n]+:\d+)(?::\d+)?: (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)
# The linker tells the number of bytes in a second line, but not always.
_DOES_NOT_FIT = re.compile(r"section `(?P<section>[^']+)' will not fit in region `(?P<region>\w+)'")
_OVERFLOW = re.compile(r"region `\w+' overflowed by (?P<bytes>\d+) bytes?")
_DEFINED_TWICE = re.compile(r"multiple definition of `(?P<symbol>[^']+)'")
# collect2 only says that the linker said something.
_ERROR_LINE = re.compile(r"^(?!collect2).*\berror: .*$", re.MULTILINE)
_NO_SPACE = "No space left on device"
_SHOWN_SYMBOLS = 5


class Gcc:
    """The programs of one GCC cross compiler. Its methods may be called from several threads.

    Args:
        name: the toolchain's plug-in name.
        prefix: of the programs' names, such as `arm-none-eabi-`.
        install_hint: how the user gets it.
        linker: the program that links: `gcc` for a compiler without a C++ library.
    """

    def __init__(self, name: str, prefix: str, install_hint: str, linker: str = "g++") -> None:
        self._name = name
        self._prefix = prefix
        self._install_hint = install_hint
        self._linker = linker

    def identify(self) -> ToolchainInfo:
        """See `ports.Toolchain`."""
        program = f"{self._prefix}g++"
        path = shutil.which(program)
        if path is None:
            raise self._missing(program)
        done = self._run(program, ["--version"])
        if done.returncode != 0 or not done.stdout:
            raise ToolchainError("the compiler does not run", where=path, hint=self._install_hint)
        return ToolchainInfo(name=self._name, version=done.stdout.splitlines()[0], path=Path(path))

    def compile(self, source: Path, target: Path, flags: Sequence[str]) -> None:
        """See `ports.Toolchain`."""
        program = f"{self._prefix}{'gcc' if source.suffix in {'.c', '.S'} else 'g++'}"
        done = self._run(program, [*flags, "-c", str(source), "-o", str(target)])
        if done.returncode != 0:
            again = shlex.join([program, *flags, "-c", str(source), "-o", os.devnull])
            raise _compile_error(source, done.stderr, f"to see all of it: {again}")

    def archive(self, objects: Sequence[Path], target: Path) -> None:
        """See `ports.Toolchain`."""
        done = self._run(f"{self._prefix}ar", ["rcsD", str(target), *map(str, objects)])
        if done.returncode != 0:
            raise _other_error("the archiver refused", target, done.stderr)

    def link(self, inputs: Sequence[Path], script: Path, target: Path, flags: Sequence[str]) -> None:
        """See `ports.Toolchain`."""
        # A group, since libraries that somebody else has built may need each other.
        group = ["-Wl,--start-group", *map(str, inputs), "-Wl,--end-group"]
        arguments = [*flags, "-T", str(script), *group, "-o", str(target)]
        program = f"{self._prefix}{self._linker}"
        done = self._run(program, arguments)
        if are_undefined(done.stderr):  # once more, to learn who wants them
            raise undefined_symbols(self._run(program, [*arguments, *TRACE_FLAGS]).stderr, target)
        if done.returncode != 0:
            raise _link_error(script, target, done.stderr)

    def copy_without(self, elf: Path, target: Path, sections: str) -> None:
        """Copy an ELF file, the sections of a pattern left out.

        Raises:
            ToolchainError: there is no such program.
            BuildError: it refused.
        """
        done = self._run(f"{self._prefix}objcopy", [f"--remove-section={sections}", str(elf), str(target)])
        if done.returncode != 0:
            raise _other_error("objcopy refused", elf, done.stderr)

    def _run(self, program: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [program, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                env={**os.environ, "LC_ALL": "C"},  # the messages are read below
            )
        except FileNotFoundError as error:
            raise self._missing(program) from error
        except OSError as error:
            raise ToolchainError(f"{program} does not run: {error.strerror}", hint=self._install_hint) from error

    def _missing(self, program: str) -> ToolchainError:
        return ToolchainError(f"{program} is not installed", where=self._name, hint=self._install_hint)


def _compile_error(source: Path, stderr: str, hint: str) -> BuildError | StorageError:
    match = _DIAGNOSTIC.search(stderr)
    if match is None:
        return _other_error("the compiler refused", source, stderr, hint)
    return BuildError(match["what"], where=match["where"], hint=hint)


def _link_error(script: Path, target: Path, stderr: str) -> BuildError | DoesNotLinkError | StorageError:
    no_fit = _DOES_NOT_FIT.search(stderr)
    if no_fit is not None:
        overflow = _OVERFLOW.search(stderr)
        excess = f"{int(overflow['bytes']):,} bytes too many" if overflow else f"{no_fit['section']} beyond its end"
        return DoesNotLinkError(
            f"the firmware does not fit its region {no_fit['region']}",
            where=script,
            measured=excess,
            hint=f"hold fewer operators with --ops used; or, in the board file, make the region that becomes "
            f"{no_fit['region']} larger or set build.optimization to -Os",
        )
    twice = sorted({match["symbol"] for match in _DEFINED_TWICE.finditer(stderr)})
    if twice:
        more = ", …" if len(twice) > _SHOWN_SYMBOLS else ""
        return BuildError(
            f"symbols defined more than once: {', '.join(twice[:_SHOWN_SYMBOLS])}{more}", where=target.name
        )
    return _other_error("the linker refused", target, stderr)


def _other_error(what: str, where: Path, stderr: str, hint: str = "") -> BuildError | StorageError:
    if _NO_SPACE in stderr:
        return StorageError("the disk is full", where=where.parent, hint="free some space, then try again")
    error = _ERROR_LINE.search(stderr)  # warnings may stand before it
    lines = [error[0]] if error else stderr.strip().splitlines()
    return BuildError(f"{what}: {lines[0] if lines else 'it said nothing'}", where=where, hint=hint)
