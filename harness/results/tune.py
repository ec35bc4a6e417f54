"""Fits corrections: additive terms per section and profile, from estimates and the measurements of the same models.

A term is a high quantile of what was missing, since an arena that is too small does not work at all, while one that is
a little too large costs only its bytes. A correction counts only when it helps models that it was not fitted to: each
model is held out once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.domain.correction import CORRECTION_PREFIX, Correction, FitErrors, FittedModel, Offset
from harness.domain.estimate import SHARED_NAME, Estimate, Profile
from harness.domain.measurement import Measurement
from harness.errors import ResultError
from harness.files.version import version

LEAST_MODELS: Final = 5
UNDER_WEIGHT: Final = 9
"""How many bytes of over-estimate are as bad as one of under-estimate."""

Key = tuple[str, str]
"""Region and section."""

_HEAD: Final = ("head", "head")
_TAIL: Final = ("tail", "tail")


@dataclass(frozen=True)
class Sample:
    """One model: what its uncorrected estimate lacks.

    Attributes:
        model, sha256: file name and hash.
        missing: measured minus estimated bytes, by section.
        missing_minimum: the same of the smallest working arena, where it was measured.
        measurements: how many it sums up; of each section the worst counts.
    """

    model: str
    sha256: str
    missing: Mapping[Key, int]
    missing_minimum: int | None
    measurements: int

    @property
    def total(self) -> int:
        """Bytes missing in all."""
        return sum(self.missing.values())


@dataclass(frozen=True)
class Terms:
    """A fit: bytes to add by section, and to the smallest working arena."""

    offsets: Mapping[Key, int]
    minimum: int

    @property
    def total(self) -> int:
        """Bytes to add in all."""
        return sum(self.offsets.values())


Pair = tuple[Estimate, Measurement]


def pair_up(results: Iterable[tuple[Sequence[Estimate], Sequence[Measurement]]]) -> dict[Profile, list[Pair]]:
    """Lay each measurement beside the estimate of its model in the same file, by profile.

    Args:
        results: estimates and measurements, file by file.

    Raises:
        ResultError: a measurement without an estimate of that model hash, board, TFLM and kernel set, or with one of
            another method than `layout`.
    """
    pairs: dict[Profile, list[Pair]] = {}
    for estimates, measurements in results:
        known = {(found.sha256, found.board, found.profile.tflm, found.profile.kernels): found for found in estimates}
        for measurement in measurements:
            if measurement.model == SHARED_NAME:  # corrections are of models alone
                continue
            key = (measurement.sha256, measurement.board, measurement.tflm, measurement.kernels)
            estimate = known.get(key)
            if estimate is None:
                what = "a measurement has no estimate of its model, board, TFLM and kernels"
                raise ResultError(what, where=measurement.model)
            if estimate.method != "layout":
                what = "only estimates of the layout method can be corrected"
                raise ResultError(what, where=estimate.model, measured=estimate.method)
            pairs.setdefault(estimate.profile, []).append((estimate, measurement))
    return pairs


def samples_of(pairs: Sequence[Pair]) -> list[Sample]:
    """One sample per model, by hash. Sections count that every estimate and every measurement of the profile names."""
    named = [{*_recorded(estimate)} & measurement.sections.keys() for estimate, measurement in pairs]
    names = set.intersection(*named) if named else set()
    by_model: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_model.setdefault(pair[1].sha256, []).append(pair)
    return [_sample(by_model[sha256], names) for sha256 in sorted(by_model)]


def _sample(pairs: Sequence[Pair], names: Collection[str]) -> Sample:
    missing = [_missing(estimate, measurement, names) for estimate, measurement in pairs]
    minima = [minimum for pair in pairs if (minimum := _missing_minimum(*pair)) is not None]
    return Sample(
        model=pairs[0][1].model,
        sha256=pairs[0][1].sha256,
        missing={key: max(one[key] for one in missing) for key in missing[0]},
        missing_minimum=max(minima, default=None),
        measurements=len(pairs),
    )


def _missing(estimate: Estimate, measurement: Measurement, names: Collection[str]) -> dict[Key, int]:
    """By section, as TFLM records them; what the tail lacks beside its named sections is the section `tail`."""
    expected = _recorded(estimate)
    named = {("tail", name): measurement.sections[name] - expected[name] for name in sorted(names)}
    head = measurement.head_bytes - ((estimate.head_bytes or 0) - _corrected_bytes(estimate, "head"))
    tail = measurement.tail_bytes - ((estimate.tail_bytes or 0) - _corrected_bytes(estimate, "tail"))
    return {_HEAD: head, _TAIL: tail - sum(named.values()), **named}


def _missing_minimum(estimate: Estimate, measurement: Measurement) -> int | None:
    if estimate.min_working_arena_bytes is None or measurement.min_working_arena_bytes is None or estimate.corrections:
        return None
    return measurement.min_working_arena_bytes - estimate.min_working_arena_bytes


def _recorded(estimate: Estimate) -> dict[str, int]:
    return {section.name: section.size_bytes for section in estimate.recorded_sections}


def _corrected_bytes(estimate: Estimate, region: str) -> int:
    """What an earlier correction has already added: a fit starts from the bare estimate."""
    return sum(
        section.size_bytes
        for section in estimate.sections
        if section.region == region and section.name.startswith(CORRECTION_PREFIX)
    )


def fit(samples: Sequence[Sample]) -> Terms:
    """The terms that make the weighted error least, and that make no estimate of these models too low that was not."""
    offsets = {key: _term([sample.missing[key] for sample in samples]) for key in samples[0].missing}
    total = sum(offsets.values())
    offsets[_TAIL] += max(
        (sample.total - total for sample in samples if sample.total <= 0 and sample.total > total), default=0
    )
    minima = [sample.missing_minimum for sample in samples if sample.missing_minimum is not None]
    measured = len(minima) >= LEAST_MODELS
    return Terms(offsets, max(minima) if measured else max(sum(offsets.values()), 0))


def _term(missing: Sequence[int]) -> int:
    """The weighted error is least at the quantile of 9 in 10; what was enough before stays so."""
    ordered = sorted(missing)
    quantile = ordered[math.ceil(UNDER_WEIGHT * len(ordered) / (UNDER_WEIGHT + 1)) - 1]
    return max([quantile, *(bytes_missing for bytes_missing in ordered if bytes_missing <= 0)])


def held_out(samples: Sequence[Sample]) -> Iterator[tuple[Sample, Terms]]:
    """Each sample, with the terms fitted to all others."""
    for number, sample in enumerate(samples):
        yield sample, fit([*samples[:number], *samples[number + 1 :]])


def errors_of(errors: Sequence[int]) -> FitErrors:
    """Sum up errors; negative ones are under-estimates."""
    return FitErrors(
        mean_bytes=round(sum(map(abs, errors)) / len(errors), 2),
        largest_bytes=max(map(abs, errors)),
        under_estimates=sum(error < 0 for error in errors),
        loss=round(sum(error if error >= 0 else -UNDER_WEIGHT * error for error in errors) / len(errors), 2),
    )


def is_exact(samples: Sequence[Sample]) -> bool:
    """Whether there is nothing to correct: no total is off, and no smallest arena too low."""
    return all(sample.total == 0 and (sample.missing_minimum or 0) <= 0 for sample in samples)


def tune(profile: Profile, samples: Sequence[Sample], files: Sequence[str], date: str) -> Correction | None:
    """Fit a correction.

    Args:
        profile: what the samples are of.
        samples: one per model.
        files: names of the result files, for the record.
        date: YYYY-MM-DD, for the record.

    Returns:
        The correction; None when the profile is exact.

    Raises:
        ResultError: fewer than 5 models, or a correction that does not help models it was not fitted to.
    """
    if len(samples) < LEAST_MODELS:
        raise ResultError(
            "too few models to learn from",
            where=profile.id,
            measured=f"{len(samples)} models",
            expected=f"{LEAST_MODELS} or more",
            hint="run more models, and give all their files",
        )
    if is_exact(samples):
        return None
    before = errors_of([-sample.total for sample in samples])
    after = errors_of([terms.total - sample.total for sample, terms in held_out(samples)])
    terms = fit(samples)
    if before.loss <= after.loss and not _only_the_minimum_is_short(samples, terms):
        raise ResultError(
            "a correction would not help models that it was not fitted to",
            where=profile.id,
            measured=f"held-out error {after.loss} bytes with it",
            expected=f"less than the {before.loss} bytes without",
            hint="the error is no constant: look at its causes in the rows of harness run",
        )
    return Correction(
        profile=profile,
        method="layout",
        offsets=tuple(
            Offset(section, region, size) for (region, section), size in sorted(terms.offsets.items()) if size
        ),
        minimum_bytes=terms.minimum,
        models=tuple(FittedModel(sample.model, sample.sha256, -sample.total) for sample in samples),
        measurements=sum(sample.measurements for sample in samples),
        before=before,
        after=after,
        files=tuple(sorted(files)),
        date=date,
        harness_version=version(),
    )


def _only_the_minimum_is_short(samples: Sequence[Sample], terms: Terms) -> bool:
    """Whether the totals are exact, but smallest arenas were under-estimated."""
    return terms.minimum > 0 and all(sample.total == 0 for sample in samples)
