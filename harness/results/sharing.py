"""What sharing an arena changes: a row of several models in one arena beside those of each model alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.domain.measurement import Measurement
from harness.domain.reconciliation import Reconciliation
from harness.errors import OutputMismatchError


def beside_alone(shared: Reconciliation, alone: Sequence[Reconciliation]) -> Reconciliation:
    """A row with what the models take alone as further causes; it fails when their outputs are others then.

    It stays as it is when one of them could not be measured.

    Args:
        shared: of the models in one arena.
        alone: of each model, in the same order and with the same inputs.
    """
    found = shared.measurement
    if found is None:
        return shared
    measured = [row.measurement for row in alone if row.measurement]
    if len(measured) < len(alone):
        return shared
    row = replace(shared, causes=(*shared.causes, *_comparison(found, measured)))
    if _outputs(measured) == found.output_data:
        return row
    return replace(
        row,
        verdict=OutputMismatchError.verdict,
        causes=("in the shared arena the outputs are not those of each model alone", *row.causes),
        exit_code=max(row.exit_code, OutputMismatchError.exit_code),
        error_class=OutputMismatchError.__name__,
    )


def _outputs(measured: Sequence[Measurement]) -> tuple[bytes, ...]:
    return tuple(data for each in measured for data in each.output_data)


def _comparison(shared: Measurement, alone: Sequence[Measurement]) -> Iterator[str]:
    for each in alone:
        yield f"{each.model} alone uses {each.arena_used_bytes:,} bytes{_minimum(each)}"
    separate = sum(each.arena_used_bytes for each in alone)
    yield f"together {shared.arena_used_bytes:,}{_minimum(shared)} against {separate:,} in arenas of their own"


def _minimum(measured: Measurement) -> str:
    minimum = measured.min_working_arena_bytes
    return "" if minimum is None else f" (at least {minimum:,})"
