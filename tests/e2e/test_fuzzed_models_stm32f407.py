"""Damaged models that the host lets pass, on the virtual board: measured, or refused by the device itself."""

import random

import pytest

from tests.fuzz.targets import on_board


@pytest.mark.slow
def test_damaged_models_end_in_a_measurement_or_a_refusal(needs_firmware):
    with on_board() as board:
        for case in range(12):
            numbers = random.Random(f"board {case}")  # noqa: S311 - no secret
            board.check(numbers, board.any_model(numbers))
