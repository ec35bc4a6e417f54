"""What measurements have taught about a profile's estimates: bytes to add, section by section."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from harness.domain.estimate import Profile

CORRECTION_PREFIX = "correction_of_"
"""Before the name of a section: the section of an estimate that holds the bytes added to it."""


@dataclass(frozen=True)
class Offset:
    """Bytes to add to a section of every estimate of a profile.

    Attributes:
        section: its name; `head` and `tail` stand for all of a region that has no section of its own here.
        region: `head` or `tail`.
        size_bytes: bytes, negative when the estimate is too high.
    """

    section: str
    region: str
    size_bytes: int


@dataclass(frozen=True)
class FitErrors:
    """How far estimates lie off, over the models of a fit.

    Attributes:
        mean_bytes: mean of the absolute errors.
        largest_bytes: the largest absolute error.
        under_estimates: models whose estimate is too low.
        loss: mean error, with under-estimates weighed more than over-estimates.
    """

    mean_bytes: float
    largest_bytes: int
    under_estimates: int
    loss: float


@dataclass(frozen=True)
class FittedModel:
    """A model that a correction was fitted to.

    Attributes:
        model, sha256: file name and hash.
        error_bytes: of its uncorrected estimate; negative when too low.
    """

    model: str
    sha256: str
    error_bytes: int


@dataclass(frozen=True)
class Correction:
    """Additive terms for the estimates of one profile, and where they come from.

    Attributes:
        profile: TFLM generation, ABI and kernels.
        method: of the estimates, `layout`.
        offsets: per section.
        minimum_bytes: to add to the smallest working arena and to the recommended one.
        models: what it was fitted to, by hash.
        measurements: how many measurements of them there were.
        before, after: errors of models that were held out of the fit, one at a time, without and with correction.
        files: names of the result files.
        date: of the fit, as YYYY-MM-DD.
        harness_version: that made it.
    """

    profile: Profile
    method: str
    offsets: tuple[Offset, ...]
    minimum_bytes: int
    models: tuple[FittedModel, ...]
    measurements: int
    before: FitErrors
    after: FitErrors
    files: tuple[str, ...]
    date: str
    harness_version: str

    @property
    def id(self) -> str:
        """The profile's id, and eight digits that change with every term and every model."""
        terms = [f"{offset.region}.{offset.section}={offset.size_bytes}" for offset in self.offsets]
        words = [self.method, *terms, f"minimum={self.minimum_bytes}", *(model.sha256 for model in self.models)]
        return f"{self.profile.id}-{hashlib.sha256(' '.join(words).encode()).hexdigest()[:8]}"

    def region_bytes(self, region: str) -> int:
        """Bytes to add to head or tail."""
        return sum(offset.size_bytes for offset in self.offsets if offset.region == region)
