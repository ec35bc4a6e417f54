"""What estimate and measurement say of each other."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.correction import CORRECTION_PREFIX
from harness.domain.estimate import Estimate
from harness.domain.measurement import Measurement
from harness.domain.postmortem import PostMortem

DEFAULT_THRESHOLD_PERCENT = 20.0
"""How far too high an estimate may be before it is no longer `ok`."""

VERDICTS = ("ok", "over", "under", "fail", "does_not_link", "error", "not_run")


@dataclass(frozen=True)
class RowSubject:
    """What a row of results is about.

    Attributes:
        model: the file's name, or what several that share an arena are called.
        sha256: of the file; empty where it could not be read.
        board: board id.
        tflm: TFLM generation, or what the user called it; empty where nothing was built.
    """

    model: str
    sha256: str
    board: str
    tflm: str


@dataclass(frozen=True, slots=True)
class RecordedSection:
    """Bytes that TFLM takes for one kind of thing, while it records.

    Attributes:
        name: the kind.
        estimate_bytes: what was expected; None where the estimate does not know the kind.
        measured_bytes: what TFLM says.
    """

    name: str
    estimate_bytes: int | None
    measured_bytes: int

    @property
    def error_bytes(self) -> int | None:
        """The estimate less what TFLM says."""
        return None if self.estimate_bytes is None else self.estimate_bytes - self.measured_bytes


def recorded_sections(estimate: Estimate | None, measurement: Measurement | None) -> tuple[RecordedSection, ...]:
    """What TFLM recorded of a model, beside its corrected estimate; empty where there is one of the two only."""
    if estimate is None or measurement is None:
        return ()
    expected = {section.name: section.size_bytes for section in estimate.recorded_sections}
    for section in estimate.sections:
        kind = section.name.removeprefix(CORRECTION_PREFIX)
        if section.name != kind and kind in expected:
            expected[kind] += section.size_bytes
    return tuple(RecordedSection(name, expected.get(name), found) for name, found in measurement.sections.items())


@dataclass(frozen=True)
class Reconciliation:
    """One model on one board: what was expected, what was found, and why they differ.

    Attributes:
        model: file name.
        sha256: of the model file, in hex; empty when it could not be read.
        board: board id.
        tflm: TFLM generation.
        verdict: `ok`; `over`, the estimate is too high; `under`, it is too low; `fail`, the device said no;
            `does_not_link`, firmware and model do not fit the board's memory; `error`, harness or bench; `not_run`.
        estimate, measurement: None when there is none.
        error_bytes: estimated minus measured `arena_used_bytes`.
        error_percent: that, in percent of the measured.
        causes: sentences.
        exit_code: what this one row asks the command to end with.
        error_class: the class of the error that stood in the way, one of harness/errors.py; empty when none did.
        postmortem: what was found after the device had died; None when it lives.
    """

    model: str
    sha256: str
    board: str
    tflm: str
    verdict: str
    estimate: Estimate | None
    measurement: Measurement | None
    error_bytes: int | None
    error_percent: float | None
    causes: tuple[str, ...]
    exit_code: int
    error_class: str = ""
    postmortem: PostMortem | None = None
