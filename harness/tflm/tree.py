"""Provider of TFLM from a source tree of the user's own: a checkout, a component, a library folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.domain.firmware import TflmSource
from harness.domain.generations import FIRST
from harness.domain.tflm_options import TflmOptions
from harness.errors import SourceError, UsageError
from harness.files.cache import fingerprint
from harness.files.resources import firmware_dir
from harness.files.safe import read_bounded
from harness.ports import Progress
from harness.tflm.closure import IncludeScanner
from harness.tflm.headers import Headers, missing_header, read_headers
from harness.tflm.source_version import source_version
from harness.tflm.third_party import KISSFFT, cmsis_core, optimised_library, third_party_folders
from harness.tflm.tree_layouts import Tree, recognise
from harness.tflm.tree_sources import (
    REFERENCE,
    SIGNAL_FOLDERS,
    Kernels,
    defined_operators,
    optimised_sources,
    sources_of_2020,
    tree_sources,
)

_WHAT = "look at TFLM's sources"
_LIMIT_BYTES = 8 * 1024 * 1024
# Of an optimised kernel set; ESP-NN's second is what ESP-IDF's configuration says unless somebody turns it off.
_DEFINES: dict[str, dict[str, str | None]] = {
    "cmsis-nn": {"CMSIS_NN": None},
    "esp-nn": {"ESP_NN": None, "CONFIG_NN_OPTIMIZED": "1"},
}


class TreeProvider:
    """TFLM as the user has it, compiled here with the flags that a firmware needs.

    Args:
        folder: that the sources lie in.
        options: what else the user says.
        defines: preprocessor symbols in place of those that the tree's layout goes with; None for these.
        version: what people call it; empty to find out.
    """

    def __init__(
        self,
        folder: Path | None = None,
        options: TflmOptions | None = None,
        defines: Mapping[str, str | None] | None = None,
        version: str = "",
    ) -> None:
        self._folder = folder
        self._options = options or TflmOptions()
        self._defines = defines
        self._version = version

    def fetch(self, progress: Progress) -> TflmSource:
        """See `ports.TflmProvider`.

        Raises:
            UsageError: there is no folder, or the tree does not have the kernels asked for.
        """
        if self._folder is None:
            raise UsageError("the provider `tree` needs a folder", where="--tflm", hint="--tflm FOLDER")
        progress(_WHAT, 0, 1)
        tree = recognise(self._folder)
        folders = (tree.root, *third_party_folders(tree, self._options.include))
        headers = read_headers(folders, None)
        for name, includer in headers.missing.items():
            raise missing_header(name, includer)
        source = self._source(tree, headers, folders)
        progress(_WHAT, 1, 1)
        return source

    def _source(self, tree: Tree, headers: Headers, folders: Sequence[Path]) -> TflmSource:
        chosen = self._kernels(tree, headers, folders)
        library, more = self._optimised(tree, chosen.kernels)
        include_dirs = (*folders, *more)
        sources = (*chosen.sources, *library)
        hashes = _hashes(sources, include_dirs)
        defines = tree.layout.defines if self._defines is None else self._defines
        has = defined_operators(chosen.sources, {path: _text(path) for path in chosen.sources}) | headers.inline
        return TflmSource(
            generation=headers.generation,
            version=self._version or f"{tree.layout.name} {source_version(tree.root) or tree.folder.resolve().name}",
            content_hash=fingerprint(*sorted(hashes.values())),
            include_dirs=include_dirs,
            sources=sources,
            # Without NDEBUG some kernels' debug checks halt on good models.
            defines={"NDEBUG": None, **defines, **headers.forced_defines, **_DEFINES.get(chosen.kernels, {})},
            kernels=chosen.kernels,
            registrations=tuple(one.registration for one in headers.operators.known if one.function in has),
            header_hash=headers.hash,
            traits=headers.traits,
            layer_defines=headers.layer_defines,
            source_hashes=hashes,
        )

    def _kernels(self, tree: Tree, headers: Headers, folders: Sequence[Path]) -> Kernels:
        if headers.generation != FIRST:
            with_signal = any((folder / KISSFFT.header).is_file() for folder in folders)
            return tree_sources(tree, self._options.kernels, with_signal=with_signal)
        if self._options.kernels not in (None, REFERENCE):
            raise UsageError(f"TFLM {FIRST} has reference kernels only here", where="--kernels")
        return Kernels(REFERENCE, sources_of_2020(tree.root / "tensorflow/lite"))

    def _optimised(self, tree: Tree, kernels: str) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """The sources of the library that optimised kernels call, and the include folders that it brings."""
        signal = tuple(folder for name in SIGNAL_FOLDERS if (folder := tree.root / name).is_dir())
        if kernels == REFERENCE:
            return (), signal
        named = self._options.cmsis_nn if kernels == "cmsis-nn" else self._options.esp_nn
        folder = optimised_library(tree, kernels, named)
        if kernels == "cmsis-nn":
            own = (folder, folder / "Include", *cmsis_core(tree, self._options.include))
        else:
            own = (folder / "include", folder / "src/common", firmware_dir() / "ports/esp32/esp_idf")
        return optimised_sources(folder, kernels), (*own, *signal)


def _hashes(sources: Iterable[Path], folders: Sequence[Path]) -> dict[Path, str]:
    """Of each source with all that it includes.

    Raises:
        SourceError: a header is missing.
    """
    scanner = IncludeScanner(folders)
    hashes = {}
    for source in sources:
        for missing in scanner.missing_of(source):
            raise missing_header(missing.name, str(missing.included_by))
        hashes[source] = scanner.hash_of(source)
    return hashes


def _text(path: Path) -> str:
    return read_bounded(path, _LIMIT_BYTES, SourceError).decode("utf-8", "replace")
