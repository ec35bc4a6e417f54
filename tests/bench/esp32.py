"""The virtual ESP32: seconds per warm model, flashing, and from the reset pulse to the first frame."""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import plugins
from harness.bench.boards import load_board
from harness.device.talk import Device, Patience
from harness.domain.firmware import FlashSegment
from harness.estimate import read_model
from harness.session import RunOptions, open_session
from harness.tflm.crate import CrateProvider
from tests.bench.process import cost_of
from tests.bench.table import Row
from tests.support.places import SHARED_MODELS

BOARD = "esp32-virtual"
MODELS = {"hello_world": 4.0, "micro_speech": 4.0, "person_detection_grayscale": 12.0}
"""Of the crate, with the seconds that one more of them may take."""
KEYWORDS, KEYWORDS_TARGET_S = SHARED_MODELS / "kws_int8.tflite", 4.0
FLASH_BYTES = 100 * 1000
BOOTS = 5


def rows() -> Iterator[Row]:
    """Everything, one figure after the other."""
    warnings.filterwarnings("ignore", "set(Daemon|Name)", DeprecationWarning)  # in pySerial's RFC 2217 client
    yield from _per_model()
    yield from _other_model()
    yield from _flash()
    yield from _boot()


def _per_model() -> Iterator[Row]:
    targets = {str(CrateProvider().example(f"{model}.tflite")): target for model, target in MODELS.items()}
    targets |= {str(KEYWORDS): KEYWORDS_TARGET_S} if KEYWORDS.is_file() else {}
    paths = list(targets)
    run = (sys.executable, "-m", "harness", "run", "--board", BOARD)
    cost_of([*run, *paths])  # builds what is not built yet
    for path in paths:
        others = [other for other in paths if other != path]
        without = cost_of([*run, *others])
        with_it = cost_of([*run, path, *others])
        seconds = with_it.wall_s - without.wall_s
        yield Row(f"one more warm {Path(path).stem} on {BOARD}", seconds, "s", target=targets[path])


def _other_model() -> Iterator[Row]:
    """How much is written when only the model is another."""
    models = [read_model(CrateProvider().example(f"{model}.tflite")) for model in MODELS]
    with open_session(load_board(BOARD), RunOptions(), _silent) as session:
        session.flash(models[:1])
        written = [part for model in (models[1], models[0]) for part in session.flash([model])]
    rewritten = sum(part.startswith("firmware") for part in written)
    yield Row(f"firmware rewritten for 2 other models on {BOARD}", rewritten, "x", target=0)


def _flash() -> Iterator[Row]:
    board = load_board(BOARD)
    segment = FlashSegment(0x1000, random.Random(1).randbytes(FLASH_BYTES))  # noqa: S311 - no secret
    flasher, transport = plugins.flasher(board.flasher), plugins.transport(board.transport)
    units = plugins.unit_source(board.units)
    with units.acquire(board, None, None, flasher=flasher, transport=transport) as dut:
        flasher.prepare()

        def flash() -> None:
            with flasher.connect(dut) as session:
                session.write(segment, _silent)

        yield Row(f"flash of 100 KB on {BOARD}, connecting included", _seconds(flash), "s", target=6)


def _boot() -> Iterator[Row]:
    board = load_board(BOARD)
    transport = plugins.transport(board.transport)
    with open_session(board, RunOptions(), _silent) as session:
        session.flash()
        bench = session.connect()
        line = bench.flash.start(lambda: transport.open(bench.dut.port, board.baud_rate))
        device = Device(line, lambda: bench.flash.restart(line), Patience())
        device.await_boot()
        boot = min(_seconds(device.reboot) for _ in range(BOOTS))
        line.close()
    yield Row(f"reset pulse and boot, to the first frame, on {BOARD}", boot, "s", target=0.5)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _silent(what: str, done: int, total: int) -> None:
    """Benchmarks show their results only."""
