"""What a run expects of a model before the device is asked: that it can run there, and what arena it will take."""

from __future__ import annotations

from harness.domain.board import Board
from harness.domain.estimate import Estimate, Profile
from harness.domain.firmware import FirmwareImage
from harness.errors import ModelError
from harness.estimate import ModelFile, device_refusals, estimate, load_graph
from harness.estimate.corrections import corrected, load_correction
from harness.run_options import RunOptions


def profile_of(image: FirmwareImage, board: Board) -> Profile:
    """What an estimate for this firmware on this board is for."""
    return Profile(image.tflm, board.abi, image.kernels)


def expect(model: ModelFile, image: FirmwareImage, board: Board, options: RunOptions) -> Estimate:
    """The estimate of a model, in the arena that it will be given.

    Raises:
        ModelError: the device must not be given this model.
    """
    profile = profile_of(image, board)
    refusals = device_refusals(load_graph(model), profile)
    if refusals:
        raise ModelError(refusals[0], hint=f"TFLM {image.tflm} on the device cannot run this model")
    found = estimate(
        model,
        profile,
        arena_size_bytes=options.recipe.arena_size_bytes or image.arena_max_bytes,
        margin_percent=options.margin_percent,
        board=board.id,
    )
    return corrected(found, load_correction(options.corrections, profile))
