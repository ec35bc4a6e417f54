"""Lays estimate and measurement side by side: one row per model, with a verdict and causes in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harness.domain.estimate import Estimate
from harness.domain.measurement import Measurement
from harness.domain.reconciliation import DEFAULT_THRESHOLD_PERCENT, Reconciliation, RowSubject, recorded_sections
from harness.errors import HarnessError, ResultError

if TYPE_CHECKING:
    import pandas as pd

# What the table shows, in order.
_COLUMNS = (
    "model",
    "board",
    "tflm",
    "method",
    "arena_size_bytes",
    "estimate_bytes",
    "used_bytes",
    "painted_bytes",
    "minimum_bytes",
    "error_bytes",
    "error_percent",
    "verdict",
    "causes",
)


def reconcile(
    estimate: Estimate, measurement: Measurement, threshold_percent: float = DEFAULT_THRESHOLD_PERCENT
) -> Reconciliation:
    """Compare one estimate with one measurement.

    Args:
        estimate: what was expected.
        measurement: what was found, of the same model, board, TFLM and kernels.
        threshold_percent: an estimate that is too high by more than this is `over`. One that is too low by even a
            byte is `under`: an arena of that size does not work.

    Raises:
        ResultError: they are of different models, boards, TFLM generations or kernel sets.
    """
    _check_same(estimate, measurement)
    error_bytes = estimate.arena_used_bytes - measurement.arena_used_bytes
    error_percent = 100.0 * error_bytes / measurement.arena_used_bytes
    verdict = _verdict(estimate, measurement, error_percent, threshold_percent)
    return Reconciliation(
        model=measurement.model,
        sha256=measurement.sha256,
        board=measurement.board,
        tflm=measurement.tflm,
        verdict=verdict,
        estimate=estimate,
        measurement=measurement,
        error_bytes=error_bytes,
        error_percent=round(error_percent, 2),
        causes=tuple(_causes(estimate, measurement)),
        exit_code=0 if verdict == "ok" else 1,
    )


def without_measurement(subject: RowSubject, estimate: Estimate | None, error: HarnessError) -> Reconciliation:
    """The row of a model that was not measured, and why.

    Args:
        subject: what the row is about.
        estimate: where there is one.
        error: what stood in the way.
    """
    return Reconciliation(
        model=subject.model,
        sha256=subject.sha256,
        board=subject.board,
        tflm=subject.tflm,
        verdict=error.verdict,
        estimate=estimate,
        measurement=None,
        error_bytes=None,
        error_percent=None,
        causes=tuple(str(error).splitlines()),
        exit_code=error.exit_code,
        error_class=_public_class(error),
    )


def _public_class(error: HarnessError) -> str:
    """The class of harness/errors.py that an error is of; parts of harness have finer ones of their own."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == HarnessError.__module__)


def join(
    estimates: Sequence[Estimate], measurements: Sequence[Measurement], threshold_percent: float
) -> list[Reconciliation]:
    """Reconcile each measurement with the estimate of its model.

    Raises:
        ResultError: a measurement without an estimate of that model hash and board, an estimate without a measurement,
            two of either for one, or measurements of different firmware builds for one board.
    """
    _check_builds(measurements)
    by_key: dict[tuple[str, str], Estimate] = {}
    for estimate in estimates:
        key = (estimate.sha256, estimate.board or "")
        if key in by_key:
            raise ResultError("two estimates for the same model and board", where=estimate.model)
        by_key[key] = estimate
    rows = []
    for measurement in measurements:
        found = by_key.pop((measurement.sha256, measurement.board), None)
        if found is None:
            raise _no_partner(measurement, estimates)
        rows.append(reconcile(found, measurement, threshold_percent))
    if by_key:
        left = next(iter(by_key.values()))
        raise ResultError("an estimate has no measurement of the same model and board", where=left.model)
    return rows


def table(rows: Sequence[Reconciliation]) -> pd.DataFrame:
    """One pandas table of all rows; numbers that are not known are missing values (`<NA>`), never 0."""
    import pandas as pd  # noqa: PLC0415 - heavy; `harness run --format json` does without it

    frame = pd.DataFrame([_row(row) for row in rows], columns=list(_COLUMNS))
    whole = [column for column in _COLUMNS if column.endswith("_bytes")]
    return frame.astype(dict.fromkeys(whole, "Int64") | {"error_percent": "Float64"})


def _row(row: Reconciliation) -> dict[str, object]:
    measured = row.measurement
    return {
        "model": row.model,
        "board": row.board,
        "tflm": row.tflm,
        "method": row.estimate.method if row.estimate else None,
        "arena_size_bytes": measured.arena_size_bytes if measured else None,
        "estimate_bytes": row.estimate.arena_used_bytes if row.estimate else None,
        "used_bytes": measured.arena_used_bytes if measured else None,
        "painted_bytes": measured.painted_used_bytes if measured else None,
        "minimum_bytes": measured.min_working_arena_bytes if measured else None,
        "error_bytes": row.error_bytes,
        "error_percent": row.error_percent,
        "verdict": row.verdict,
        "causes": "; ".join(row.causes),
    }


def _check_same(estimate: Estimate, measurement: Measurement) -> None:
    for what, ours, theirs in (
        ("model hash", estimate.sha256, measurement.sha256),
        ("board", estimate.board, measurement.board),
        ("TFLM generation", estimate.profile.tflm, measurement.tflm),
        ("kernel set", estimate.profile.kernels, measurement.kernels),
    ):
        if ours != theirs:
            raise ResultError(
                f"estimate and measurement are of different kinds: {what}",
                where=measurement.model,
                measured=theirs,
                expected=ours,
                hint="estimate with the --board, --tflm and --kernels that the measurement was made with",
            )


def _check_builds(measurements: Sequence[Measurement]) -> None:
    builds: dict[str, Measurement] = {}
    for measurement in measurements:
        first = builds.setdefault(measurement.board, measurement)
        if first.build_id != measurement.build_id:
            raise ResultError(
                f"measurements of different firmware builds on {measurement.board}",
                where=measurement.model,
                measured=measurement.build_id,
                expected=f"{first.build_id}, as for {first.model}",
                hint="measure them again with one build",
            )


def _no_partner(measurement: Measurement, estimates: Sequence[Estimate]) -> ResultError:
    namesake = next((estimate for estimate in estimates if estimate.model == measurement.model), None)
    if namesake is None:
        return ResultError("a measurement has no estimate", where=measurement.model)
    return ResultError(
        "the estimate of that name is for another model hash or board",
        where=measurement.model,
        measured=f"{measurement.sha256[:16]} on {measurement.board}",
        expected=f"{namesake.sha256[:16]} on {namesake.board}",
    )


def _verdict(estimate: Estimate, measurement: Measurement, error_percent: float, threshold_percent: float) -> str:
    if measurement.overruns:
        return "fail"
    if error_percent < 0 or _minimum_error(estimate, measurement) < 0:
        return "under"
    return "over" if error_percent > threshold_percent else "ok"


def _minimum_error(estimate: Estimate, measurement: Measurement) -> int:
    if estimate.min_working_arena_bytes is None or measurement.min_working_arena_bytes is None:
        return 0
    return estimate.min_working_arena_bytes - measurement.min_working_arena_bytes


def _causes(estimate: Estimate, measurement: Measurement) -> Iterator[str]:
    yield from (f"the estimate is not exact: {part}" for part in estimate.unknown_parts)
    yield from measurement.overruns
    if measurement.resets:
        yield f"starts of the device that nobody asked for: {measurement.resets}"
    yield from _deviations(estimate, measurement)
    yield from _paint_findings(measurement)
    yield from _minimum_findings(estimate, measurement)


def _deviations(estimate: Estimate, measurement: Measurement) -> Iterator[str]:
    """Which part of the arena the difference lies in, and in which sections, where the device records them."""
    for part, expected, found in (
        ("head", estimate.head_bytes, measurement.head_bytes),
        ("tail", estimate.tail_bytes, measurement.tail_bytes),
    ):
        if expected is not None and expected != found:
            yield f"the {part} is {_signed(found - expected)} bytes off the estimate ({expected:,} → {found:,})"
    for section in recorded_sections(estimate, measurement):
        if section.error_bytes:
            yield f"{section.name} takes {_signed(-section.error_bytes)} bytes against the estimate"
    if measurement.recording_failure:
        yield f"what TFLM takes for what could not be recorded: {measurement.recording_failure}"


def _paint_findings(measurement: Measurement) -> Iterator[str]:
    free = measurement.arena_size_bytes - measurement.arena_used_bytes
    if measurement.touched_by_allocation_bytes and free:
        share = 100 * measurement.touched_by_allocation_bytes / free
        yield f"planner scratch touched {share:.2g} % of the free middle before Invoke"
    if measurement.untouched_tail_bytes:
        yield f"{measurement.untouched_tail_bytes:,} bytes of the tail never written"
    unused = measurement.arena_used_bytes - measurement.painted_used_bytes
    if unused > 0:
        yield f"{unused:,} bytes next to the free middle are counted as used but were never written"


def _minimum_findings(estimate: Estimate, measurement: Measurement) -> Iterator[str]:
    minimum = measurement.min_working_arena_bytes
    if minimum is None:
        return
    more = minimum - measurement.arena_used_bytes
    if more > 0:
        yield f"AllocateTensors needs {more:,} bytes more for a while than arena_used_bytes() says afterwards"
    elif more < 0:
        yield f"{-more:,} bytes of what is used are padding that an arena of the smallest size does not need"
    difference = _minimum_error(estimate, measurement)
    if difference:
        yield f"the estimated minimum is {_signed(difference)} bytes off the measured one"


def _signed(difference: int) -> str:
    return f"{difference:+,}"
