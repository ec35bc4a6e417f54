"""Sessions without boards, for faults that no real one shows on demand."""

import time
from contextlib import contextmanager

from harness.bench.boards import load_board
from harness.device.serial_log import SerialLog
from harness.domain.attempt import Job
from harness.domain.firmware import FirmwareImage, FlashSegment
from harness.domain.reconciliation import RowSubject
from harness.errors import HarnessError
from harness.results.reconcile import without_measurement
from tests.support.attempts import result

BOARD = load_board("stm32f407-virtual")
IMAGE = FirmwareImage(
    build_id="0" * 16, board_id=BOARD.id, tflm="2020-07", tflm_version="crate 0.1.0", toolchain="gcc 12",
    segment=FlashSegment(0, b""), crc32=0, elf=None, text_bytes=0, ram_bytes=0, arena_max_bytes=4096,
    tflm_hash="ff" * 32, flags="-Os", model_region=BOARD.model_flash,
)  # fmt: skip


class FakeBench:
    """Opens sessions; `trouble` is asked before each job and each connection, and returns an error or None.

    Args:
        trouble: given the unit's probe, and the model (None while connecting).
        pause_s: how long a job takes.
    """

    def __init__(self, trouble=lambda probe, model: None, pause_s=0.0):
        self.trouble = trouble
        self.pause_s = pause_s
        self.opened = []
        self.done = []
        self.forced = []

    @contextmanager
    def __call__(self, board, options, progress):
        error = self.trouble(options.probe, None)
        if error:
            raise error
        self.opened.append((options.probe, options.tflm))
        yield FakeSession(self, options.probe)


class FakeSession:
    image = IMAGE
    dut = None

    def __init__(self, bench, probe):
        self._bench = bench
        self._probe = probe
        self.serial_log = SerialLog()

    def run(self, model, options):
        time.sleep(self._bench.pause_s)
        self.serial_log.add(f"#H1 {model.name}\n".encode())
        error = self._bench.trouble(self._probe, model.name)
        if isinstance(error, HarnessError):
            return without_measurement(RowSubject(model.name, model.sha256, BOARD.id, "2020-07"), None, error)
        if error is not None:
            raise error
        self._bench.forced += [model.name] if options.force_flash else []
        self._bench.done.append((self._probe, model.name, options.recipe.arena_size_bytes))
        return result(used=len(model.data), model=model.name, sha256=model.sha256)

    def await_answer(self):
        error = self._bench.trouble(self._probe, None)
        if error:
            raise error


def jobs_for(paths_and_hashes, arenas=(None,), tflm=("crate",)):
    cells = [(t, p, a) for t in tflm for p in paths_and_hashes for a in arenas]
    return [Job(n, p.name, str(p), sha, BOARD.id, t, a) for n, (t, (p, sha), a) in enumerate(cells, 1)]
