"""One unit at work: does jobs one after the other, keeps its session open between them, and says what came of each."""

from __future__ import annotations

import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.bench.file import BenchDut
from harness.domain.attempt import Circumstances, Job
from harness.domain.reconciliation import Reconciliation, RowSubject
from harness.errors import HarnessError, ModelError, StorageError
from harness.estimate import ModelFile, read_model
from harness.results.reconcile import without_measurement
from harness.session import ModelSession, OpenSession, RunOptions, open_session
from harness.sweep.policy import blames_unit

_ANSWER_PAUSE_S = 0.5


@dataclass(frozen=True)
class Outcome:
    """What came of an attempt.

    Attributes:
        result: estimate, measurement, verdict.
        circumstances: the rest of the key.
        log: what was on the serial line.
    """

    result: Reconciliation
    circumstances: Circumstances
    log: bytes = b""


class DutRunner:
    """Does jobs on one unit. Only one thread at a time may use it.

    Args:
        dut: the unit.
        options: what all jobs have in common.
        opener: builds the firmware and connects; `open_session`.
    """

    def __init__(self, dut: BenchDut, options: RunOptions, opener: OpenSession = open_session) -> None:
        self._dut = dut
        self._options = replace(options, probe=dut.probe, port=dut.port)
        self._opener = opener
        self._stack = ExitStack()
        self._session: ModelSession | None = None
        self._tflm = ""
        self._unit = ""
        self._distrusts_flash = False

    def run(self, job: Job) -> Outcome:
        """Try a job. Whatever stands in its way is in the outcome."""
        try:
            model = read_unchanged(job)
            result = self._open(job.tflm).run(model, self._options_for(job))
        except HarnessError as error:
            result = without_measurement(_subject(job), None, error)
        except OSError as error:
            trouble = StorageError(error.strerror or str(error), where=error.filename or "")
            result = without_measurement(_subject(job), None, trouble)
        self._distrusts_flash = blames_unit(result.error_class)
        log = self._session.serial_log.take() if self._session else b""
        return Outcome(result, self._circumstances(result), log)

    def revive(self, hook: tuple[str, ...], timeout_s: float) -> str:
        """Switch the unit's power off and on, and wait until it answers.

        Args:
            hook: the command that does it; it learns which unit from its environment.
            timeout_s: how long it may take, and how long after it the unit may.

        Returns:
            Why the unit is still dead; empty when it answers. What the hook itself says is not believed.
        """
        self.close()
        complaint = _run_hook(hook, self._dut, timeout_s)
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                self._open(self._tflm or self._options.tflm).await_answer()
            except (HarnessError, OSError) as error:
                self.close()
                if time.monotonic() > deadline:
                    return "; ".join(filter(None, (complaint, str(error).splitlines()[0])))
                time.sleep(_ANSWER_PAUSE_S)
            else:
                return ""

    def close(self) -> None:
        """Give unit and probe back. Trouble with that is not worth a word: the next job would meet it, too."""
        self._session = None
        with suppress(HarnessError):
            self._stack.close()

    def _open(self, tflm: str) -> ModelSession:
        if self._session is None or self._tflm != tflm:
            self.close()  # of another TFLM, or one that could not be opened
            options = replace(self._options, tflm=tflm)
            self._session = self._stack.enter_context(self._opener(self._dut.board, options, _silent))
            self._tflm = tflm
        return self._session

    def _options_for(self, job: Job) -> RunOptions:
        recipe = replace(self._options.recipe, arena_size_bytes=job.arena_size_bytes)
        # After trouble the flash is written anew: what a broken cell or another program left in it may bear our label.
        force = self._options.force_flash or self._distrusts_flash
        return replace(self._options, tflm=job.tflm, recipe=recipe, min_arena=job.min_arena, force_flash=force)

    def _circumstances(self, result: Reconciliation) -> Circumstances:
        measured = result.measurement
        self._unit = measured.unit if measured else self._unit
        probe = measured.probe_id if measured else self._dut.probe or ""
        if self._session is None:
            return Circumstances(probe_id=probe, unit=self._unit)
        image = self._session.image
        return Circumstances(
            probe_id=probe,
            unit=self._unit,
            tflm=image.tflm,
            tflm_version=image.tflm_version,
            tflm_hash=image.tflm_hash,
            kernels=image.kernels,
            toolchain=image.toolchain,
            flags=image.flags,
            build_id=image.build_id,
        )


def _subject(job: Job) -> RowSubject:
    """What the row of a job that never reached its unit says of it."""
    return RowSubject(job.model, job.sha256, job.board, job.tflm_name)


def read_unchanged(job: Job) -> ModelFile:
    """The model of a job.

    Raises:
        ModelError: it cannot be used, or is not what it was when the sweep was planned.
    """
    model = read_model(Path(job.path))
    if model.sha256 != job.sha256:
        raise ModelError(
            "the model has changed since the sweep was planned",
            where=job.path,
            measured=model.sha256[:16],
            expected=job.sha256[:16],
            hint="plan a new sweep",
        )
    return model


def _run_hook(hook: tuple[str, ...], dut: BenchDut, timeout_s: float) -> str:
    """Run a power hook; what there is to complain of, or nothing."""
    words = {"{dut}": dut.name, "{board}": dut.board.id, "{probe}": dut.probe or "", "{port}": dut.port or ""}
    command = [words.get(word, word) for word in hook]
    try:
        subprocess.run(
            command,
            timeout=timeout_s,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return f"the power hook did not end within {timeout_s:g} s"
    except subprocess.CalledProcessError as error:
        return f"the power hook ended with status {error.returncode}"
    except OSError as error:
        return f"the power hook cannot be run: {error.strerror}"
    return ""


def _silent(what: str, done: int, total: int) -> None:
    """Several units at work would talk at once; the sweep tells how far it is as a whole."""
