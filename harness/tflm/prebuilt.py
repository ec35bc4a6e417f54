"""Provider of the TFLM that a manifest names: libraries that somebody else has built, or a tree of sources."""

from __future__ import annotations

from pathlib import Path

from harness.domain.board import Board
from harness.domain.firmware import TflmSource
from harness.errors import UsageError
from harness.ports import Progress
from harness.tflm.archive import read_library
from harness.tflm.findings import raise_first
from harness.tflm.manifest import read_manifest
from harness.tflm.survey import survey
from harness.tflm.tree import TreeProvider


class PrebuiltProvider:
    """Libraries that are measured as they are, down to the byte; sources are left to the provider of trees.

    Args:
        manifest: the path of the manifest.
    """

    def __init__(self, manifest: Path | None = None) -> None:
        self._manifest = manifest

    def fetch(self, progress: Progress) -> TflmSource:
        """See `ports.TflmProvider`.

        Raises:
            UsageError: the manifest cannot be used.
            ConfigMismatchError: library and manifest differ in what structures depend on.
        """
        path = self._path()
        manifest = read_manifest(path)
        if manifest.tree is not None:
            defines = manifest.defines if manifest.says_defines else None
            return TreeProvider(manifest.tree, manifest.options, defines, manifest.version).fetch(progress)
        progress("look at TFLM's library", 0, 1)
        found = survey(manifest)
        raise_first(found.findings, path)
        progress("look at TFLM's library", 1, 1)
        return found.source()

    def verify(self, source: TflmSource, probe: Path, board: Board) -> None:
        """See `ports.Verifiable`."""
        from harness.tflm.abi import Flags  # noqa: PLC0415 - pyelftools is slow to load: only for a build
        from harness.tflm.compatibility import compare  # noqa: PLC0415 - as above

        if not source.libraries:  # of a tree, which is compiled with the firmware's own flags
            return
        libraries = [read_library(library) for library in source.libraries]
        flags = Flags(board.cpu_flags, source.abi_flags)
        raise_first(compare(libraries, source.kernels, probe, flags), self._path())

    def _path(self) -> Path:
        if self._manifest is None:
            raise UsageError(
                "the provider `prebuilt` needs a manifest",
                where="--tflm",
                expected="the path of a .toml file",
                hint="README.md, section `Use your TFLM`, shows manifests",
            )
        return self._manifest
