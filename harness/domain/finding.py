"""What a comparison with a baseline and budgets brings up."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("new", "gone", "grew", "shrank", "over_budget", "estimate_off", "verdict_changed", "not_measured")
"""`new`: not in the baseline; `gone`: only there; `grew`, `shrank`: other bytes than there; `over_budget`: more bytes
than allowed; `estimate_off`: the estimate is too low, or too high by more than the threshold; `verdict_changed`: the
device says yes where it said no, or the other way round; `not_measured`: trouble on the bench, or no unit."""


@dataclass(frozen=True, order=True)
class Figure:
    """What one model takes on one board: a row of a baseline.

    Attributes:
        board, model, tflm: which; `tflm` is the provider's plug-in name, or the manifest's folder and file.
        arena_size_bytes: the arena asked for; 0 for the largest that fits.
        sha256: of the model file.
        verdict: `measured` where the device gave figures, else `fail` or `not_run`.
        used_bytes, minimum_bytes: measured; None where unknown.
    """

    board: str
    model: str
    tflm: str
    arena_size_bytes: int
    sha256: str
    verdict: str
    used_bytes: int | None = None
    minimum_bytes: int | None = None

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What it is the figure of."""
        return self.board, self.model, self.tflm, self.arena_size_bytes

    @property
    def name(self) -> str:
        """The model and, where it was chosen, the arena."""
        return f"{self.model} in {self.arena_size_bytes} bytes" if self.arena_size_bytes else self.model


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        kind: one of KINDS.
        message: a sentence with the numbers.
        measured_bytes, expected_bytes: the numbers; None where it is not about bytes.
    """

    kind: str
    message: str
    measured_bytes: int | None = None
    expected_bytes: int | None = None


@dataclass(frozen=True)
class Checked:
    """One row of a check.

    Attributes:
        figure: of the sweep; of the baseline when it is gone.
        seconds: how long the last attempt took.
        findings: what is to be said of it; empty when all is well.
        causes: of its verdict, in words.
    """

    figure: Figure
    seconds: float
    findings: tuple[Finding, ...]
    causes: tuple[str, ...] = ()
