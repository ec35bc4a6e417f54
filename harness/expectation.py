"""What a run expects of a model before the device is asked: that it can run there, and what arena it will take."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.domain.board import Board
from harness.domain.estimate import Estimate, Profile
from harness.domain.firmware import FirmwareImage
from harness.domain.graph import Graph, operator_place, quoted
from harness.errors import ModelError, OperatorMissingError
from harness.estimate import ModelFile, device_refusals, estimate, load_graph, read_model
from harness.estimate.corrections import corrected, load_correction
from harness.run_options import RunOptions


def profile_of(image: FirmwareImage, board: Board) -> Profile:
    """What an estimate for this firmware on this board is for."""
    return Profile(image.tflm, board.abi, image.kernels)


def expect(model: ModelFile, image: FirmwareImage, board: Board, options: RunOptions) -> Estimate:
    """The estimate of a model, in the arena that it will be given.

    Raises:
        ModelError: the device must not be given this model.
        OperatorMissingError: it has an operator that the firmware does not hold.
    """
    profile, graph = profile_of(image, board), load_graph(model)
    refusals = device_refusals(graph, profile)
    if refusals:
        raise ModelError(refusals[0], hint=f"TFLM {image.tflm} on the device cannot run this model")
    _check_operators(graph, image)
    found = estimate(
        model,
        profile,
        arena_size_bytes=options.recipe.arena_size_bytes or image.arena_max_bytes,
        margin_percent=options.margin_percent,
        board=board.id,
    )
    return corrected(found, load_correction(options.corrections, profile))


def used_operators(paths: Iterable[Path]) -> frozenset[str]:
    """The operators of models, by TFLite's name; files that are no models have none."""
    return frozenset(name for path in paths for name in _operators_in(path))


def _operators_in(path: Path) -> list[str]:
    try:
        graph = load_graph(read_model(path))
    except ModelError:  # what is wrong with the file will stand in its row
        return []
    return [operator.name for _, operator in graph.operators()]


def _check_operators(graph: Graph, image: FirmwareImage) -> None:
    missing = [place for place in graph.operators() if place[1].name not in image.operators]
    if missing:
        names = dict.fromkeys(quoted(operator.name) for _, operator in missing)
        raise OperatorMissingError(
            f"the firmware has no operator {', '.join(names)}",
            where=f"{graph.model}, {operator_place(*missing[0])}",
            measured=f"{len(image.operators)} others, of TFLM {image.tflm_version}",
            hint="take a TFLM that has it: --tflm; with --ops all the firmware holds every operator of its TFLM",
        )
