"""TFLM 2026-01 (tflite-micro from 0efdd51a3 on; measured at 90b983c of 2026-08): what operators take of the arena."""

from __future__ import annotations

from typing import Final

from harness.estimate.layout.modern.operators import REFERENCE
from harness.estimate.layout.modern.tables import Tables, generation

TABLES: Final = Tables(REFERENCE, has_64_bit=True)

GENERATION: Final = generation("2026-01", TABLES)
