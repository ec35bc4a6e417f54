"""What a sweep is made of: its jobs, and the attempts at them, each with the full key of what it was an attempt at."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath

from harness.domain.generations import canonical

RUNNING, DONE, FAILED, INTERRUPTED = "running", "done", "failed", "interrupted"
"""States of an attempt: at it now; ended with a verdict about the model; ended by trouble on the bench; cut off."""


@dataclass(frozen=True)
class Job:
    """One cell of a sweep's matrix.

    Attributes:
        number: its place in the plan, from 1; unique within its sweep.
        model: file name.
        path: where the file lies.
        sha256: of the model file, in hex; empty when it could not be read.
        board: board id.
        tflm: plug-in name of the TFLM provider, or where its source tree or manifest lies.
        arena_size_bytes: the arena asked for; None for the largest that fits.
        min_arena: whether the smallest working arena is searched as well.
    """

    number: int
    model: str
    path: str
    sha256: str
    board: str
    tflm: str
    arena_size_bytes: int | None = None
    min_arena: bool = False

    @property
    def tflm_name(self) -> str:
        """The TFLM as baselines call it, the same on every machine: of a manifest its folder and file name only."""
        return "/".join(PurePath(self.tflm).parts[-2:])


@dataclass(frozen=True)
class Sweep:
    """Many jobs that were planned together.

    Attributes:
        id: given by the store.
        started_at, ended_at: UTC, ISO 8601; `ended_at` is empty while it runs, and after it was cut off.
        host: the machine that planned it.
        harness_version: that planned it.
        options: what it was started with, as JSON text.
        jobs: how many it has.
    """

    id: int
    started_at: str
    ended_at: str
    host: str
    harness_version: str
    options: str
    jobs: int


@dataclass(frozen=True)
class Circumstances:
    """The part of an attempt's key that is known once firmware and unit are: what was built, and where it ran.

    Attributes:
        probe_id, unit: the DUT's probe, and the chip's own unique id; empty where unknown.
        tflm: TFLM generation, by its present name.
        tflm_version, tflm_hash: what people call it, and SHA-256 of its sources.
        kernels: the kernel set.
        toolchain: the compiler's version line.
        flags: the compiler's flags.
        build_id: of the firmware.
    """

    probe_id: str = ""
    unit: str = ""
    tflm: str = ""
    tflm_version: str = ""
    tflm_hash: str = ""
    kernels: str = ""
    toolchain: str = ""
    flags: str = ""
    build_id: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tflm", canonical(self.tflm))


@dataclass(frozen=True)
class Attempt:
    """One try of one job on one DUT, as it stands in the store; what is unknown is None or empty.

    Attributes:
        id: given by the store; later attempts have higher ones.
        sweep, job: what it belongs to; None for a single `harness run`.
        number: which try of its job it is, from 1.
        state: RUNNING, DONE, FAILED or INTERRUPTED.
        started_at, ended_at: UTC, ISO 8601 with milliseconds.
        host, harness_version: which machine and which harness tried.
        model, sha256, board: what was tried, on which kind of board.
        dut: the DUT's name on its bench.
        circumstances: the rest of the key.
        asked_arena_bytes: the arena asked for; None for the largest that fits.
        arena_size_bytes: the arena given.
        method, corrections: how the estimate was made, and the ids of corrections applied to it.
        verdict: one of reconciliation.VERDICTS; empty while running and after an interruption.
        causes: sentences.
        error_class: one of harness/errors.py; empty when there was no error.
        exit_code: what it asks the command to end with.
        estimate_bytes, estimate_minimum_bytes: estimated use of the arena, and smallest working arena.
        used_bytes, painted_bytes, minimum_bytes, stack_bytes: measured.
        error_bytes, error_percent: estimated minus measured use.
        log: name of its serial log, in the folder `logs` beside the database; empty when there is none.
    """

    id: int
    sweep: int | None
    job: int | None
    number: int
    state: str
    started_at: str
    ended_at: str
    host: str
    harness_version: str
    model: str
    sha256: str
    board: str
    dut: str
    circumstances: Circumstances = field(default_factory=Circumstances)
    asked_arena_bytes: int | None = None
    arena_size_bytes: int | None = None
    method: str = ""
    corrections: tuple[str, ...] = ()
    verdict: str = ""
    causes: tuple[str, ...] = ()
    error_class: str = ""
    exit_code: int | None = None
    estimate_bytes: int | None = None
    estimate_minimum_bytes: int | None = None
    used_bytes: int | None = None
    painted_bytes: int | None = None
    minimum_bytes: int | None = None
    stack_bytes: int | None = None
    error_bytes: int | None = None
    error_percent: float | None = None
    log: str = ""


@dataclass(frozen=True)
class JobResult:
    """How a job stands: after a sweep, how it ended.

    Attributes:
        job: which.
        attempt: the last one that came to an end; None when none did.
        attempts: how many were begun.
        failures: how many ended by trouble on the bench.
        not_run: why no board ever tried it, or none was left to try it again; empty when that is not so.
        not_run_exit_code: what that asks the command to end with.
    """

    job: Job
    attempt: Attempt | None
    attempts: int
    failures: int
    not_run: tuple[str, ...] = ()
    not_run_exit_code: int = 3

    @property
    def verdict(self) -> str:
        """The verdict of the last attempt that ended; `not_run` when there is none."""
        return self.attempt.verdict if self.attempt else "not_run"

    @property
    def causes(self) -> tuple[str, ...]:
        """Sentences: of the last attempt, and why there was no further one."""
        return (*(self.attempt.causes if self.attempt else ()), *self.not_run)

    @property
    def exit_code(self) -> int:
        """What this job asks the command to end with."""
        code = self.attempt.exit_code if self.attempt else self.not_run_exit_code
        return self.not_run_exit_code if code is None else code

    @property
    def flaky(self) -> bool:
        """Whether it came to a verdict only after trouble on the bench."""
        return self.failures > 0 and self.attempt is not None and self.attempt.state == DONE
