"""Sound models, from which damaged ones are made."""

from __future__ import annotations

from tests.fuzz.test_models import SEEDS
from tests.support.models import chain, layers, skipping
from tests.support.places import SHARED_MODELS

_LARGEST_BYTES = 60_000


def seeds() -> list[bytes]:
    """Models of the test builder, and small public ones where they lie beside the checkout."""
    built = [*SEEDS, skipping().build(), layers((8, 4, 2)).build(), chain("LOGISTIC", "ABS", "RELU").build()]
    paths = sorted(SHARED_MODELS.glob("*.tflite"))
    return built + [path.read_bytes() for path in paths if path.stat().st_size <= _LARGEST_BYTES]
