"""The virtual STM32F407: cold and warm runs, flashing, seconds per model, memory, start-up."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from harness import plugins
from harness.bench.boards import load_board
from harness.bench.flash import flash_parts
from harness.build.model_image import HEADER_BYTES, pack
from harness.domain.firmware import FlashPart, FlashSegment
from harness.tflm.crate import CrateProvider
from tests.bench.process import cost_of
from tests.bench.table import Row

BOARD = "stm32f407-virtual"
MODELS = ("hello_world", "magic_wand", "micro_speech", "person_detection_grayscale")
FLASH_BYTES = 250 * 1000


def rows() -> Iterator[Row]:
    """Everything, one figure after the other."""
    yield from _start_up()
    yield from _cold_and_warm()
    yield from _per_model()
    yield from _flash()


def _harness(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "harness", *arguments]


def _example(model: str) -> str:
    return str(CrateProvider().example(f"{model}.tflite"))


def _start_up() -> Iterator[Row]:
    costs = [cost_of(_harness("--help")) for _ in range(5)]
    yield Row("harness --help, CPU", min(cost.cpu_s for cost in costs), "s", target=0.2)


def _cold_and_warm() -> Iterator[Row]:
    command = _harness("run", _example("hello_world"), "--board", BOARD)
    with tempfile.TemporaryDirectory() as folder:
        empty = {"XDG_CACHE_HOME": f"{folder}/cache", "XDG_STATE_HOME": f"{folder}/state"}
        cold = cost_of(command, empty)
        warm = cost_of(command, empty)
    yield Row("run hello_world, cold: builds TFLM and firmware", cold.wall_s, "s")
    yield Row("run hello_world, warm", warm.wall_s, "s", beside=cold.wall_s)


def _per_model() -> Iterator[Row]:
    paths = [_example(model) for model in MODELS]
    one = cost_of(_harness("run", paths[0], "--board", BOARD))
    for model, path in zip(MODELS, paths, strict=True):
        cost_of(_harness("run", path, "--board", BOARD))  # flashes the model
        once = cost_of(_harness("run", path, "--board", BOARD))
        thrice = cost_of(_harness("run", path, path, path, "--board", BOARD))
        yield Row(f"one more warm {model}", (thrice.wall_s - once.wall_s) / 2, "s", target=1.5)
    everything = cost_of(_harness("run", *paths, "--board", BOARD))
    yield Row("mean of the four models, model flash included", everything.wall_s / len(paths), "s", target=1.5)
    yield Row("peak memory of run, all processes", max(everything.peak_bytes, one.peak_bytes) / 1e6, "MB", target=600)


def _flash() -> Iterator[Row]:
    board = load_board(BOARD)
    model = random.Random(1).randbytes(FLASH_BYTES)  # noqa: S311 - no secret
    segment = FlashSegment(0x08080000, pack(model, "0" * 64, "0" * 16))
    parts = [FlashPart("model", segment, ((0, HEADER_BYTES),))]
    flasher, transport = plugins.flasher(board.flasher), plugins.transport(board.transport)
    units = plugins.unit_source(board.units)
    with units.acquire(board, None, None, flasher=flasher, transport=transport) as dut, flasher.connect(dut) as session:
        written = _seconds(lambda: flash_parts(session, parts, _silent, force=True))
        unchanged = _seconds(lambda: flash_parts(session, parts, _silent))
        session.write(FlashSegment(segment.address, bytes(HEADER_BYTES)), _silent)  # leave no model that is none
    yield Row("flash of 250 KB, read back and compared", written, "s", target=2.5)
    yield Row("flash of 250 KB, unchanged", unchanged, "s", target=0.3, beside=written)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _silent(what: str, done: int, total: int) -> None:
    """Benchmarks show their results only."""
