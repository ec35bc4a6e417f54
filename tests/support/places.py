"""Where things lie that tests read: this checkout, and the public models beside it, which not every machine has."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
SHARED = CHECKOUT.parent / "shared"
SHARED_MODELS = SHARED / "models"
SHARED_CASES = SHARED / "cases"
