"""The matrix: every model on every board, with every TFLM and every size of the arena, as a list of jobs.

A plan file, with paths relative to it::

    models = ["models/*.tflite"]
    boards = ["stm32f407-discovery", "stm32f407-virtual"]
    tflm = ["crate", "tflite-micro"]     # providers, source trees or manifests; by default the first one
    arena_size_bytes = [65536, 98304]    # by default the largest that fits
    min_arena = true                     # by default false
    bench = "bench.toml"                 # the units on the desk

    [units]                              # virtual units of the sweep's own; by default one per virtual board
    stm32f407-virtual = 2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import plugins
from harness.bench.boards import load_board
from harness.bench.file import BenchDut, read_bench, virtual_duts
from harness.domain.attempt import Job
from harness.errors import ModelError, UsageError
from harness.estimate import file_name, read_model
from harness.files.toml import read_toml, refuse_unknown_keys

_KEYS = ("models", "boards", "tflm", "arena_size_bytes", "min_arena", "bench", "units")


@dataclass(frozen=True)
class SweepPlan:
    """What the user asks for.

    Attributes:
        models: model files.
        boards: board ids, or paths of board files.
        tflm: plug-in names of TFLM providers, or paths of source trees or manifests.
        arenas: arena sizes in bytes; None for the largest that fits.
        min_arena: whether to search the smallest working arena as well.
        bench: the bench file, if there is one.
        units: by board, how many virtual units to start.
    """

    models: tuple[Path, ...] = ()
    boards: tuple[str, ...] = ()
    tflm: tuple[str, ...] = ("crate",)
    arenas: tuple[int | None, ...] = (None,)
    min_arena: bool = False
    bench: Path | None = None
    units: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PlannedJob:
    """A job, and what already stands against it.

    Attributes:
        job: the job.
        refused: why its model cannot be used at all; None when it can.
    """

    job: Job
    refused: ModelError | None = None


def read_plan(path: Path) -> SweepPlan:
    """Read a plan file.

    Raises:
        UsageError: it cannot be read, or a key is unknown or wrong, or a pattern fits no file.
    """
    top = read_toml(path)
    refuse_unknown_keys(top, _KEYS)
    plan = SweepPlan(
        models=tuple(model for pattern in top.texts("models") for model in _matching(path.parent, pattern)),
        boards=top.texts("boards") if top.has("boards") else (),
        min_arena=top.truth("min_arena") if top.has("min_arena") else False,
        bench=path.parent / top.text("bench") if top.has("bench") else None,
        units=top.inner("units").all_integers() if top.has("units") else {},
    )
    if top.has("tflm"):
        plan = replace(plan, tflm=tuple(_beside(path, name) for name in top.texts("tflm")))
    if top.has("arena_size_bytes"):
        plan = replace(plan, arenas=top.integers("arena_size_bytes"))
    return plan


def plan_jobs(plan: SweepPlan) -> list[PlannedJob]:
    """All jobs, grouped by board, TFLM and model, numbered from 1.

    Raises:
        UsageError: nothing to do, no such model or TFLM, two different models or manifests of the same name, or a path
            that cannot be stored.
        BoardFileError: there is no such board.
    """
    boards = [load_board(board).id for board in dict.fromkeys(plan.boards)]
    models = _models(plan.models)
    cells = [
        (board, tflm, model, arena)
        for board in boards
        for tflm in _tflms(plan.tflm)
        for model in models
        for arena in dict.fromkeys(plan.arenas)
    ]
    if not cells:
        raise UsageError("there is nothing to do", hint="a sweep needs models and boards")
    jobs = [
        PlannedJob(
            Job(number, model.name, str(model.path), model.sha256, board, tflm, arena, plan.min_arena), model.refused
        )
        for number, (board, tflm, model, arena) in enumerate(cells, 1)
    ]
    _check_paths([planned.job for planned in jobs])
    _check_tflms([planned.job for planned in jobs])
    return jobs


def boards_at_hand(plan: SweepPlan) -> tuple[str, ...]:
    """The ids of the boards that there are units for, which are meant when a plan names no boards.

    Raises:
        UsageError: the bench file is wrong.
    """
    listed = [dut.board.id for dut in read_bench(plan.bench)] if plan.bench else []
    return tuple(dict.fromkeys([*listed, *plan.units]))


def plan_duts(plan: SweepPlan) -> list[BenchDut]:
    """The units for a plan: those of the bench file, and virtual ones of the sweep's own.

    A virtual board gets one unit when neither the plan nor the bench file says anything of it.

    Raises:
        UsageError: the bench file is wrong, or units are asked for that cannot be started.
    """
    listed = read_bench(plan.bench) if plan.bench else []
    wanted = {board.id: board for board in map(load_board, plan.boards)}
    unknown = sorted(set(plan.units) - set(wanted))
    if unknown:
        raise UsageError("units of a board that is not in the plan", where=unknown[0], expected=", ".join(wanted))
    duts = [dut for dut in listed if dut.board.id in wanted]
    for board in wanted.values():
        default = int(board.machine is not None and not any(dut.board.id == board.id for dut in duts))
        duts += virtual_duts(board, plan.units.get(board.id, default)) if plan.units.get(board.id, default) else []
    return duts


@dataclass(frozen=True)
class _Model:
    name: str
    path: Path
    sha256: str
    refused: ModelError | None


def _models(paths: Sequence[Path]) -> list[_Model]:
    """Each model once, in the order given."""
    _check_there(paths)
    found: dict[str, _Model] = {}
    for path in dict.fromkeys(each.absolute() for each in paths):
        model = _read(path)
        namesake = found.setdefault(model.name, model)
        if namesake.sha256 != model.sha256:
            raise UsageError(
                "two different models have the same name",
                where=namesake.path,
                measured=model.path,
                hint="rename one: histories and baselines go by the file's name",
            )
    return list(found.values())


def _check_there(paths: Sequence[Path]) -> None:
    """A model that is missing has its row in the results, unless nothing is there at all: that is a slip."""
    missing = [path for path in paths if not _is_there(path)]
    for path in missing:
        if _is_pattern(str(path)):
            raise UsageError("no model fits", where=path)
    if missing and len(missing) == len(paths):
        raise UsageError("there is no such file, nor any other model: nothing is begun", where=missing[0])


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long, or a folder that nobody may look into
        return False


def _beside(plan_file: Path, tflm: str) -> str:
    """A TFLM as a plan file names it; manifests and source trees lie relative to that file."""
    beside = plan_file.parent / tflm
    is_path = plugins.is_path(tflm) or (beside.is_dir() and plugins.is_tree(str(beside)))
    return str(beside) if is_path else tflm


def _tflms(names: Sequence[str]) -> Iterable[str]:
    """Each TFLM once; paths of manifests and source trees absolute, so that a sweep can be resumed from anywhere."""
    found = map(plugins.tflm_name, names)
    return dict.fromkeys(str(Path(name).absolute()) if plugins.is_path(name) else name for name in found)


def _check_paths(jobs: Sequence[Job]) -> None:
    """The results database holds text, and on Linux a path may be any bytes."""
    for path in {path for job in jobs for path in (job.path, job.tflm)}:
        try:
            path.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                "the path is no UTF-8, and cannot be kept in the results", where=path, hint="rename it for a sweep"
            ) from error


def _check_tflms(jobs: Sequence[Job]) -> None:
    found: dict[str, str] = {}
    for job in jobs:
        namesake = found.setdefault(job.tflm_name, job.tflm)
        if namesake != job.tflm:
            raise UsageError(
                "two different TFLMs have the same name",
                where=namesake,
                measured=job.tflm,
                hint="rename one, or its folder: baselines go by these two",
            )


def _read(path: Path) -> _Model:
    try:
        model = read_model(path)
    except ModelError as error:
        return _Model(file_name(path), path, "", error)
    return _Model(model.name, path, model.sha256, None)


def _matching(folder: Path, pattern: str) -> list[Path]:
    if not _is_pattern(pattern):
        return [folder / pattern]
    base = Path(pattern)
    anchor = Path(base.anchor) if base.is_absolute() else folder
    found = sorted(anchor.glob(str(base.relative_to(base.anchor))))
    if not found:
        raise UsageError("no model fits", where=f"{folder}: {pattern}")
    return found


def _is_pattern(text: str) -> bool:
    return any(mark in text for mark in "*?[")
