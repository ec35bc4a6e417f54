"""Survey of a TFLM that somebody else has built, as far as no compiler is needed for that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from harness.domain.firmware import STATIC_MEMORY, Registration, TflmSource
from harness.domain.generations import FIRST
from harness.errors import BenchError, ConfigMismatchError, SourceError
from harness.files.cache import fingerprint
from harness.tflm.archive import Library, read_library
from harness.tflm.findings import LibraryFinding, obstacle
from harness.tflm.forks import COUNTS_TEMPORARIES
from harness.tflm.headers import SCHEMA_VERSION, Headers, missing_header, place_of, read_headers
from harness.tflm.manifest import Manifest
from harness.tflm.static_memory import refuse_half_static

# The Itanium C++ ABI writes a name's length before it.
_REGISTER = re.compile(r"(\d{1,3})(Register_\w+)")
# tflite::MicroInterpreter::AllocateTensors()
_INTERPRETER = "_ZN6tflite16MicroInterpreter15AllocateTensorsEv"
_RECORDING = "23RecordingMicroAllocator"
_COMPRESSION = "USE_TFLM_COMPRESSION"
# common.cc always defines the first, and the second only without TF_LITE_STATIC_MEMORY.
_COMMON, _DYNAMIC = "TfLiteIntArrayEqual", "TfLiteIntArrayCreate"
# A method of MicroInterpreterContext that there is only with USE_TFLM_COMPRESSION.
_COMPRESSED = "18IsTensorCompressed"


@dataclass(frozen=True)
class Survey:
    """What there is.

    Attributes:
        manifest: what its manifest says; its defines are joined by those that the headers act as if they had.
        headers: None when they are of no known generation.
        libraries: those that could be read.
        findings: what is wrong, or good to know.
    """

    manifest: Manifest
    headers: Headers | None
    libraries: tuple[Library, ...]
    findings: tuple[LibraryFinding, ...]

    @property
    def holds_tflm(self) -> bool:
        """Whether there is a TFLM in the libraries at all."""
        return _INTERPRETER in Symbols(self.libraries)

    def source(self) -> TflmSource:
        """What a build needs; only useful when no finding stands in its way."""
        hashes = [library.sha256 for library in self.libraries]
        return TflmSource(
            generation=self.headers.generation if self.headers else "unknown",
            version=self._version(),
            content_hash=hashes[0] if len(hashes) == 1 else fingerprint(*hashes),
            include_dirs=self.manifest.include,
            sources=(),
            defines=self.manifest.defines,
            kernels=self.manifest.kernels,
            registrations=self._registrations(),
            libraries=self.manifest.libraries,
            abi_flags=self.manifest.abi_flags,
            header_hash=self.headers.hash if self.headers else "",
            traits=self.headers.traits if self.headers else frozenset(),
            layer_defines=self.headers.layer_defines if self.headers else {},
        )

    def _version(self) -> str:
        """The user's words for it, or the files' names with the start of their hash."""
        files = ", ".join(f"{library.path.name} {library.sha256[:12]}" for library in self.libraries)
        told = self.headers.version if self.headers else None
        base = self.manifest.version or (f"{files} (TensorFlow {told})" if told else files)
        return f"{base} with {self.manifest.nn_library}" if self.manifest.nn_library else base

    def _registrations(self) -> tuple[Registration, ...]:
        if self.headers is None:
            return ()
        lacking = _not_in_library(self.headers, Symbols(self.libraries))
        return tuple(one.registration for one in self.headers.operators.known if one.registration not in lacking)


@dataclass(frozen=True)
class Symbols:
    """The global symbols that some libraries define."""

    libraries: Sequence[Library]

    def __contains__(self, symbol: str) -> bool:
        return any(symbol in library.symbols for library in self.libraries)

    def any_holds(self, part: str) -> bool:
        """Whether there is a symbol with `part` in it."""
        return any(part in symbol for library in self.libraries for symbol in library.symbols)

    @cached_property
    def register_functions(self) -> Mapping[str, Sequence[str]]:
        """The members that define each function `Register_…`, by its name without namespaces."""
        defined: dict[str, list[str]] = {}
        for library in self.libraries:
            for symbol, members in library.symbols.items():
                for length, rest in _REGISTER.findall(symbol):
                    defined.setdefault(rest[: int(length)], []).extend(members)
        return defined


def survey(manifest: Manifest) -> Survey:
    """Look at headers and libraries. What is wrong is among the findings."""
    headers, libraries = None, []
    findings = [*_lacking_folders(manifest.include)]
    if not findings:  # whatever else is wrong with headers follows from that
        try:
            headers = read_headers(manifest.include, manifest.generation)
            manifest = replace(manifest, defines={**manifest.defines, **headers.forced_defines})
            findings += _header_findings(manifest, headers)
        except BenchError as error:
            findings.append(obstacle("headers", error))
    for path in manifest.libraries:
        try:
            libraries.append(read_library(path))
        except SourceError as error:
            findings.append(obstacle("library", error))
    if libraries:
        findings += _library_findings(manifest, headers, Symbols(libraries))
    return Survey(manifest, headers, tuple(libraries), tuple(findings))


def _lacking_folders(folders: Iterable[Path]) -> Iterator[LibraryFinding]:
    for folder in folders:
        if not folder.is_dir():
            error = SourceError("the include folder is missing", where=folder, hint="correct `include` in the manifest")
            yield obstacle("headers", error)


def _header_findings(manifest: Manifest, headers: Headers) -> Iterator[LibraryFinding]:
    if COUNTS_TEMPORARIES in headers.traits:
        yield LibraryFinding(
            "headers",
            "a fork: its allocator has one member more, as that of Infineon's ml-tflite-micro, and counts as it",
        )
    for name, includer in headers.missing.items():
        yield obstacle("headers", missing_header(name, includer))
    try:
        refuse_half_static(headers.asks_for_arduino, manifest.defines, place_of(manifest.include))
    except SourceError as half_static:
        yield obstacle("configuration", half_static)
    if headers.schema_version not in (None, SCHEMA_VERSION):
        error = SourceError(
            "these headers read models of another schema",
            where=", ".join(map(str, manifest.include)),
            measured=f"TFLITE_SCHEMA_VERSION {headers.schema_version}",
            expected=SCHEMA_VERSION,
            hint="take a release of TFLM with that schema; correct `include` if these are the headers of another one",
        )
        yield obstacle("headers", error)
    if headers.operators.unclear:
        yield LibraryFinding(
            "operators", f"methods that cannot be called without knowing more: {', '.join(headers.operators.unclear)}"
        )


def _library_findings(manifest: Manifest, headers: Headers | None, symbols: Symbols) -> Iterator[LibraryFinding]:
    where = symbols.libraries[0].path
    if _INTERPRETER not in symbols:
        error = SourceError(
            "the libraries hold no TFLM",
            where=where,
            expected="one that defines tflite::MicroInterpreter::AllocateTensors()",
            hint="correct `libraries` in the manifest: the library is usually libtensorflow-microlite.a",
        )
        yield obstacle("library", error)
        return
    yield from _configuration(manifest, symbols)
    if headers is not None:
        yield from _generation(headers, symbols)
        yield from _operators(headers, symbols)


def _configuration(manifest: Manifest, symbols: Symbols) -> Iterator[LibraryFinding]:
    if symbols.any_holds(_COMMON):
        yield from _same_define(manifest, STATIC_MEMORY, not symbols.any_holds(_DYNAMIC))
    yield from _same_define(manifest, _COMPRESSION, symbols.any_holds(_COMPRESSED))


def _same_define(manifest: Manifest, define: str, built_with: bool) -> Iterator[LibraryFinding]:
    """Whether library and manifest agree on a preprocessor symbol that structures depend on."""
    if built_with == (define in manifest.defines):
        return
    with_it, without_it = f"built with {define}", f"built without {define}"
    error = ConfigMismatchError(
        f"config_mismatch: the library is {with_it if built_with else without_it}",
        where=manifest.libraries[0],
        expected=f"{without_it if built_with else with_it}, as `defines` in the manifest says",
        hint=f"add {define} to `defines`"
        if built_with
        else f"compile the library with -D{define}, or take it out of `defines` and estimate without it",
    )
    yield obstacle("configuration", error)


def _generation(headers: Headers, symbols: Symbols) -> Iterator[LibraryFinding]:
    if headers.generation != FIRST and not symbols.any_holds(_RECORDING):
        error = SourceError(
            "the library lacks RecordingMicroAllocator, which the headers declare",
            where=symbols.libraries[0].path,
            hint="build recording_micro_allocator.cc into it; or headers and library are of different releases",
        )
        yield obstacle("library", error)


def _operators(headers: Headers, symbols: Symbols) -> Iterator[LibraryFinding]:
    lacking = _not_in_library(headers, symbols)
    if len(lacking) == len(headers.operators.known):
        error = SourceError(
            "the library has none of the operators that the headers declare",
            where=symbols.libraries[0].path,
            measured=f"{len(symbols.register_functions)} functions Register_…",
            hint="headers and library are of different releases, or the kernels are in a library of their own",
        )
        yield obstacle("operators", error)
    elif lacking:
        names = ", ".join(sorted(one.operator for one in lacking))
        yield LibraryFinding("operators", f"in the headers, not in the library: {names}")
    twice = sorted(name for name, members in symbols.register_functions.items() if len(members) > 1)
    if twice:
        yield LibraryFinding(
            "operators", f"in the library more than once, of which the linker takes one: {', '.join(twice)}"
        )


def _not_in_library(headers: Headers, symbols: Symbols) -> frozenset[Registration]:
    there = {"", *symbols.register_functions, *headers.inline}
    return frozenset(one.registration for one in headers.operators.known if one.function not in there)
