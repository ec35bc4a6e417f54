"""What a run is to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.domain.recipe import Recipe
from harness.domain.reconciliation import DEFAULT_THRESHOLD_PERCENT
from harness.domain.tflm_options import TflmOptions


@dataclass(frozen=True)
class RunOptions:
    """What a run is to do.

    Attributes:
        tflm: the TFLM provider's plug-in name, or the path of a source tree or of a manifest.
        tflm_options: what else the user says of a source tree.
        probe, port: which unit, when there are several.
        recipe: how to measure.
        min_arena: whether to search for the smallest working arena as well.
        force_flash: write the flash even when it already holds the right bytes.
        keep_flash: write nothing over what harness has not written itself.
        threshold_percent: how far too high an estimate may be.
        margin_percent: what to add to the recommended arena.
        corrections: folder of corrections to the estimate, or None for none.
        check_output: whether to compare the outputs with those of TFLM on this machine.
        input_shapes: other shapes of the models' inputs, by name or number: each model is rewritten to them.
        shared_arena: whether to run all models in one arena as well, after each alone.
        operators: the only ones that the firmware is to hold, so that it is small; None for all that TFLM has.
    """

    tflm: str = "crate"
    probe: str | None = None
    port: str | None = None
    recipe: Recipe = field(default_factory=Recipe)
    min_arena: bool = False
    force_flash: bool = False
    keep_flash: bool = False
    threshold_percent: float = DEFAULT_THRESHOLD_PERCENT
    margin_percent: float = 0.0
    corrections: Path | None = None
    check_output: bool = False
    input_shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    shared_arena: bool = False
    operators: frozenset[str] | None = None
    tflm_options: TflmOptions = field(default_factory=TflmOptions)
