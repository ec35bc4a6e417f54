"""Corrections as files, one per profile, and what they do to an estimate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.domain.correction import CORRECTION_PREFIX, Correction, FitErrors, FittedModel, Offset
from harness.domain.estimate import Estimate, Profile, Section
from harness.errors import ResultError
from harness.estimate.layout.arena import ALIGNMENT, align_up
from harness.files.fields import Fields
from harness.files.toml import read_toml

DEFAULT_DIR: Final = Path("results/corrections")
_MOST_BYTES: Final = 2**31


def default_dir() -> Path | None:
    """The folder of corrections: in the working directory, or in the checkout that harness runs from; None without."""
    here = DEFAULT_DIR
    checkout = Path(__file__).resolve().parents[2] / DEFAULT_DIR
    return next((folder for folder in (here, checkout) if folder.is_dir()), None)


def load_correction(folder: Path | None, profile: Profile) -> Correction | None:
    """The correction of a profile; None when the folder has none.

    Raises:
        ResultError: the file cannot be read, or is none.
    """
    names = (profile.id, *profile.former_ids) if folder else ()
    path = next((path for name in names if folder and (path := folder / f"{name}.toml").is_file()), None)
    if path is None:
        return None
    correction = _from_fields(read_toml(path, hint="write it anew with harness tune", error=ResultError))
    if correction.profile != profile:
        raise ResultError("the correction is for another profile", where=path, measured=correction.profile.id)
    return correction


def corrected(estimate: Estimate, correction: Correction | None) -> Estimate:
    """The estimate with its profile's correction added; unchanged when it is of another method."""
    if correction is None or (estimate.profile, estimate.method) != (correction.profile, correction.method):
        return estimate
    head, tail = correction.region_bytes("head"), correction.region_bytes("tail")
    added = [Section(CORRECTION_PREFIX + term.section, term.region, term.size_bytes) for term in correction.offsets]
    recommended = max(estimate.recommended_arena_bytes + correction.minimum_bytes, 0)
    return replace(
        estimate,
        arena_used_bytes=estimate.arena_used_bytes + head + tail,
        head_bytes=_plus(estimate.head_bytes, head),
        tail_bytes=_plus(estimate.tail_bytes, tail),
        min_working_arena_bytes=_plus(estimate.min_working_arena_bytes, correction.minimum_bytes),
        recommended_arena_bytes=align_up(recommended, ALIGNMENT),
        sections=(*estimate.sections, *added),
        corrections=(*estimate.corrections, correction.id),
    )


def uncorrected(estimate: Estimate, correction: Correction | None) -> Estimate:
    """The estimate of a shared arena: it says that its profile's correction is left out, if there is one."""
    if correction is None:
        return estimate
    remark = "the profile's correction is not for shared arenas: left out"
    return replace(estimate, warnings=(*estimate.warnings, remark))


def _plus(size: int | None, more: int) -> int | None:
    return None if size is None else size + more


def to_toml(correction: Correction) -> str:
    """The text of a correction's file: the same correction gives the same text."""
    return "\n".join([*_lines(correction), ""])


def same_but_for_the_date(one: str, other: str) -> bool:
    """Whether two texts of `to_toml` differ in their dates only."""
    return [line for line in one.splitlines() if not line.startswith("date = ")] == [
        line for line in other.splitlines() if not line.startswith("date = ")
    ]


def _lines(correction: Correction) -> Iterator[str]:
    profile = correction.profile
    yield "# Written by `harness tune`. Estimates of this profile get these bytes added, but for --no-corrections."
    yield f"id = {_text(correction.id)}"
    yield f"method = {_text(correction.method)}"
    yield f"minimum_bytes = {correction.minimum_bytes}"
    yield from ("", "[profile]")
    yield f"tflm = {_text(profile.tflm)}"
    yield f"abi = {_text(profile.abi)}"
    yield f"kernels = {_text(profile.kernels)}"
    for offset in correction.offsets:
        yield from ("", "[[offsets]]")
        yield f"region = {_text(offset.region)}"
        yield f"section = {_text(offset.section)}"
        yield f"size_bytes = {offset.size_bytes}"
    for name, errors in (("before", correction.before), ("after", correction.after)):
        yield from ("", f"[errors.{name}]  # of models held out of the fit, one at a time")
        yield f"mean_bytes = {errors.mean_bytes}"
        yield f"largest_bytes = {errors.largest_bytes}"
        yield f"under_estimates = {errors.under_estimates}"
        yield f"loss = {errors.loss}"
    yield from ("", "[provenance]")
    yield f"date = {_text(correction.date)}"
    yield f"harness_version = {_text(correction.harness_version)}"
    yield f"measurements = {correction.measurements}"
    yield f"files = [{', '.join(map(_text, correction.files))}]"
    for model in correction.models:
        yield from ("", "[[models]]")
        yield f"model = {_text(model.model)}"
        yield f"sha256 = {_text(model.sha256)}"
        yield f"error_bytes = {model.error_bytes}"


def _text(value: str) -> str:
    """A TOML basic string: JSON's escapes, and DEL, which TOML wants escaped as well."""
    return json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def _from_fields(item: Fields) -> Correction:
    profile, errors, provenance = item.inner("profile"), item.inner("errors"), item.inner("provenance")
    return Correction(
        profile=Profile(
            profile.text("tflm"),
            profile.text("abi"),
            profile.text("kernels"),
            static_memory=profile.truth("static_memory") if profile.has("static_memory") else True,
            traits=frozenset(profile.texts("traits")) if profile.has("traits") else frozenset(),
        ),
        method=item.text("method"),
        offsets=tuple(_offset(term) for term in item.inners("offsets")) if item.has("offsets") else (),
        minimum_bytes=item.integer("minimum_bytes", -_MOST_BYTES, _MOST_BYTES),
        models=tuple(
            FittedModel(model.text("model"), model.text("sha256"), model.integer("error_bytes"))
            for model in item.inners("models")
        ),
        measurements=provenance.integer("measurements"),
        before=_errors(errors.inner("before")),
        after=_errors(errors.inner("after")),
        files=provenance.texts("files"),
        date=provenance.text("date"),
        harness_version=provenance.text("harness_version"),
    )


def _offset(item: Fields) -> Offset:
    region = item.text("region")
    if region not in {"head", "tail"}:
        raise item.wrong("region", "head or tail")
    return Offset(item.text("section"), region, item.integer("size_bytes", -_MOST_BYTES, _MOST_BYTES))


def _errors(item: Fields) -> FitErrors:
    return FitErrors(
        mean_bytes=item.number("mean_bytes", 0, float("inf")),
        largest_bytes=item.integer("largest_bytes"),
        under_estimates=item.integer("under_estimates"),
        loss=item.number("loss", 0, float("inf")),
    )
