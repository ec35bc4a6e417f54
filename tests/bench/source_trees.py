"""What the object cache gains for a source tree that its owner works on."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.tflm.crate import CrateProvider
from tests.bench.process import cost_of
from tests.bench.table import Row

BOARD = "stm32f407-virtual"


def rows() -> Iterator[Row]:
    """The figures, in seconds and numbers of object files; the tree is a copy of the crate's own sources."""
    example = CrateProvider().example("hello_world.tflite")
    with tempfile.TemporaryDirectory() as folder:
        tree = shutil.copytree(example.parents[2], Path(folder) / "tree")
        build = _Build(example, tree, Path(folder) / "cache")
        cold_s, objects = build()
        yield Row(f"source tree, first build, {objects} objects", cold_s, "s")
        same_s, objects = build()
        yield Row(f"  nothing changed, {objects} objects compiled", same_s, "s", beside=cold_s)
        for name in ("kernels/softmax.cc", "micro_allocator.h"):
            [changed] = tree.rglob(f"lite/micro/{name}")
            changed.write_text(changed.read_text("utf-8") + "\n", "utf-8")
            changed_s, objects = build()
            yield Row(f"  {name} changed, {objects} compiled", changed_s, "s", beside=cold_s)


class _Build:
    """`harness build` with a cache of its own."""

    def __init__(self, model: Path, tree: Path, cache: Path) -> None:
        command = [sys.executable, "-m", "harness", "build", str(model), "--board", BOARD, "--tflm", str(tree)]
        self._command, self._cache = command, cache

    def __call__(self) -> tuple[float, int]:
        """Seconds that it took, and how many object files it added to the cache."""
        before = self._objects()
        cost = cost_of(self._command, {"XDG_CACHE_HOME": str(self._cache)})
        if cost.status:
            raise RuntimeError(f"status {cost.status}: {' '.join(self._command)}")
        return cost.wall_s, self._objects() - before

    def _objects(self) -> int:
        return sum(1 for _ in self._cache.rglob("object.o"))
