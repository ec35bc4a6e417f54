"""The static library of TFLM, compiled here from its sources.

Sources that may change have a hash each, over all that they include: their object files lie in the cache under it, so
that after a change only those are compiled that it touches, in this tree or any other.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness.build.compiling import Batch, compile_all, flags_for, object_names
from harness.build.inputs import BuildInputs
from harness.errors import BuildError, SourceError
from harness.files.cache import Cache, fingerprint
from harness.ports import Progress, TflmProvider

_ARCHIVE = "libtflm.a"
_OBJECT = "object.o"
_KIND = "objects"
_WHAT = "compile TFLM"


def library(inputs: BuildInputs, tflm: TflmProvider, cache: Cache, progress: Progress) -> Path:
    """The library, made when it is not in the cache yet.

    Raises:
        BuildError: a source does not compile.
        SourceError: the sources changed meanwhile.
    """

    def make(folder: Path) -> None:
        if inputs.source.source_hashes:
            objects = _Objects(inputs, cache).compiled(tflm, folder, progress)
        else:
            objects = compile_all(_batch(inputs, inputs.source.sources), inputs.toolchain, folder, progress)
        inputs.toolchain.archive(objects, folder / _ARCHIVE)
        for compiled in objects:
            compiled.unlink()

    return cache.entry("tflm", inputs.library_key(), make) / _ARCHIVE


def _batch(inputs: BuildInputs, sources: Sequence[Path]) -> Batch:
    return Batch(_WHAT, sources, (*inputs.tflm_flags(), *inputs.path_flags()))


class _Objects:
    """The object files of one library, as far as they are in the cache."""

    def __init__(self, inputs: BuildInputs, cache: Cache) -> None:
        self._inputs = inputs
        self._cache = cache

    def compiled(self, tflm: TflmProvider, folder: Path, progress: Progress) -> list[Path]:
        """All of them in `folder`, those that the cache lacks compiled and put into it."""
        sources = self._inputs.source.sources
        found = {source: self._cache.find(_KIND, self._key(source)) for source in sources}
        lacking = [source for source in sources if found[source] is None]
        fresh = folder / "fresh"
        fresh.mkdir()
        made = dict(zip(lacking, (fresh / name for name in object_names(lacking)), strict=True))
        try:
            compile_all(_batch(self._inputs, lacking), self._inputs.toolchain, fresh, progress)
        except BuildError:
            with suppress(SourceError):  # the compiler's own words say more
                self._keep(made, tflm)
            raise
        self._keep(made, tflm)
        objects = self._gather(found, made, folder)
        shutil.rmtree(fresh)
        return objects

    def _keep(self, made: Mapping[Path, Path], tflm: TflmProvider) -> None:
        """Put what was compiled into the cache, unless its source is another one by now.

        Raises:
            SourceError: the sources changed while they were compiled.
        """
        if not made:
            return
        before = self._inputs.source.source_hashes
        after = tflm.fetch(_tell_nobody).source_hashes
        for source, compiled in made.items():
            if compiled.is_file() and after.get(source) == before[source]:
                self._cache.entry(_KIND, self._key(source), _copying(compiled))
        changed = sorted(source for source in {*before, *after} if after.get(source) != before.get(source))
        if changed:
            raise SourceError(
                "the sources changed while they were compiled",
                where=changed[0],
                measured=f"{len(changed)} of {len(before)} files, or what they include",
                hint="run it again once nothing writes to them any more",
            )

    def _gather(self, found: Mapping[Path, Path | None], made: Mapping[Path, Path], folder: Path) -> list[Path]:
        objects = []
        for (source, entry), name in zip(found.items(), object_names(list(found)), strict=True):
            shutil.copyfile(entry / _OBJECT if entry else made[source], folder / name)
            objects.append(folder / name)
        return objects

    def _key(self, source: Path) -> str:
        compiler = self._inputs.compiler
        flags = flags_for(source, self._inputs.tflm_flags())
        return fingerprint(self._inputs.source.source_hashes[source], compiler.name, compiler.version, *flags)


def _copying(compiled: Path) -> Callable[[Path], None]:
    def copy(entry: Path) -> None:
        shutil.copyfile(compiled, entry / _OBJECT)

    return copy


def _tell_nobody(what: str, done: int, total: int) -> None:
    """The Progress of a look that is too short to be shown."""
