"""What a firmware with HARNESS_TEST_FAULTS does wrong: the first byte of the input says what (app/misbehave.cc)."""

from __future__ import annotations

from collections.abc import Callable

from harness.domain.recipe import Recipe
from harness.domain.reconciliation import Reconciliation
from harness.estimate import ModelFile
from harness.session import RunOptions, Session

ARENA_BYTES = 8192
GUARD, ARENA, STACK, HANG, GAP, MODEL = 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6


def by_first_byte(session: Session, model: ModelFile) -> Callable[[int], Reconciliation]:
    """Runs the model, whose input has four bytes, with this one first."""

    def run(byte: int) -> Reconciliation:
        recipe = Recipe(ARENA_BYTES, (bytes([byte, 0, 0, 0]),))
        return session.run(model, RunOptions(recipe=recipe))

    return run
