"""What a run expects of a model before the device is asked: that it can run there, and what arena it will take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.domain.board import Board
from harness.domain.estimate import SHARED_NAME, Estimate, Profile
from harness.domain.firmware import FirmwareImage
from harness.domain.graph import Graph, operator_place, quoted
from harness.domain.run_options import RunOptions
from harness.errors import ArenaTooSmallError, HarnessError, ModelError, OperatorMissingError
from harness.estimate import (
    ModelFile,
    corrected,
    device_refusals,
    estimate,
    foreign_advice,
    load_correction,
    load_graph,
    read_model,
    shared_estimate,
    shared_sha256,
    uncorrected,
)


def profile_of(image: FirmwareImage, board: Board) -> Profile:
    """What an estimate for this firmware on this board is for."""
    return Profile(image.tflm, board.abi, image.kernels, image.static_memory, image.traits)


def label_of(models: Sequence[ModelFile]) -> tuple[str, str]:
    """What rows call a model, or several that share an arena: name and hash."""
    return (models[0].name, models[0].sha256) if len(models) == 1 else (SHARED_NAME, shared_sha256(models))


def expect(models: Sequence[ModelFile], image: FirmwareImage, board: Board, options: RunOptions) -> Estimate:
    """The estimate of a model in the arena that it will be given, or of several that share it.

    Raises:
        ModelError: the device must not be given one of them.
        OperatorMissingError: one has an operator that the firmware does not hold.
        UsageError: interpreters of this TFLM cannot share an arena.
    """
    profile = profile_of(image, board)
    graphs = [load_graph(model) for model in models]
    for graph in graphs:
        _check_runnable(graph, profile, image)
    arena_bytes = options.recipe.arena_size_bytes or image.arena_max_bytes
    margin, correction = options.margin_percent, load_correction(options.corrections, profile)
    if len(models) == 1:
        alone = estimate(
            models[0], profile, graph=graphs[0], arena_size_bytes=arena_bytes, margin_percent=margin, board=board.id
        )
        return corrected(alone, correction)
    shared = shared_estimate(models, profile, arena_size_bytes=arena_bytes, margin_percent=margin, board=board.id)
    return uncorrected(shared, correction)


def advised_for_board(
    error: HarnessError, expected: Estimate | None, given_bytes: int | None, largest_bytes: int
) -> HarnessError:
    """How a run failed, in view of what its board has: where no larger arena can be given, none must be advised.

    Args:
        error: how it failed.
        expected: the estimate, as far as there is one.
        given_bytes: the arena asked for; None for the largest.
        largest_bytes: the largest arena on this board with this firmware.
    """
    minimum_bytes = expected.min_working_arena_bytes if expected else None
    is_short = minimum_bytes is not None and minimum_bytes > largest_bytes
    is_largest = given_bytes in (None, largest_bytes)
    if not isinstance(error, ArenaTooSmallError) or not (is_short or is_largest):
        return error
    needs = f"an arena of about {minimum_bytes:,} bytes" if is_short else "a larger arena"
    return ArenaTooSmallError(
        f"the model does not fit this board: it needs {needs}, of at most {largest_bytes:,} here; {error.what}",
        where=error.where,
        measured=error.measured,
        expected=error.expected,
        hint="take another board, or a smaller model",
    )


def used_operators(paths: Iterable[Path]) -> frozenset[str]:
    """The operators of models, by TFLite's name; files that are no models have none."""
    return frozenset(name for path in paths for name in _operators_in(path))


def _operators_in(path: Path) -> list[str]:
    try:
        graph = load_graph(read_model(path))
    except ModelError:  # what is wrong with the file will stand in its row
        return []
    return [operator.name for _, operator in graph.operators()]


def _check_runnable(graph: Graph, profile: Profile, image: FirmwareImage) -> None:
    refusals = device_refusals(graph, profile)
    if refusals:
        hint = foreign_advice(graph) or f"TFLM {image.tflm} on the device cannot run this model"
        raise ModelError(refusals[0], hint=hint)
    _check_operators(graph, image)


def _check_operators(graph: Graph, image: FirmwareImage) -> None:
    missing = [place for place in graph.operators() if place[1].name not in image.operators]
    if missing:
        names = dict.fromkeys(quoted(operator.name) for _, operator in missing)
        raise OperatorMissingError(
            f"the firmware has no operator {', '.join(names)}",
            where=f"{graph.model}, {operator_place(*missing[0])}",
            measured=f"{len(image.operators)} others, of TFLM {image.tflm_version}",
            hint=foreign_advice(graph)
            or "take a TFLM that has it: --tflm; with --ops all the firmware holds every operator of its TFLM",
        )
