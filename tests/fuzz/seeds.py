"""Sound models, from which damaged ones are made."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.test_models import SEEDS
from tests.models import chain, layers, skipping

SHARED_MODELS = Path(__file__).parents[3] / "shared" / "models"
_LARGEST_BYTES = 60_000


def seeds() -> list[bytes]:
    """Models of the test builder, and small public ones where they lie beside the checkout."""
    built = [*SEEDS, skipping().build(), layers((8, 4, 2)).build(), chain("LOGISTIC", "ABS", "RELU").build()]
    paths = sorted(SHARED_MODELS.glob("*.tflite"))
    return built + [path.read_bytes() for path in paths if path.stat().st_size <= _LARGEST_BYTES]
