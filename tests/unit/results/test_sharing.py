"""Several models in one arena against each alone."""

from dataclasses import replace

from harness.domain.reconciliation import RowSubject
from harness.errors import ModelError
from harness.results.reconcile import reconcile, without_measurement
from harness.results.sharing import beside_alone
from tests.support.figures import ESTIMATE, MEASUREMENT


def row(model, used, outputs, **changes):
    measured = replace(MEASUREMENT, model=model, arena_used_bytes=used, output_data=outputs, **changes)
    return reconcile(replace(ESTIMATE, arena_used_bytes=used), measured)


ALONE = [row("a", 1000, (b"1", b"2")), row("b", 2000, (b"3",), min_working_arena_bytes=2100)]


def test_the_figures_alone_are_further_causes():
    found = beside_alone(row("(shared)", 2400, (b"1", b"2", b"3"), min_working_arena_bytes=2500), ALONE)
    assert found.verdict == "under"  # as it was: the estimated minimum is below the measured
    assert found.causes[-3:] == (
        "a alone uses 1,000 bytes",
        "b alone uses 2,000 bytes (at least 2,100)",
        "together 2,400 (at least 2,500) against 3,000 in arenas of their own",
    )


def test_other_outputs_than_alone_are_a_failure():
    found = beside_alone(row("(shared)", 2400, (b"1", b"2", b"4")), ALONE)
    assert (found.verdict, found.exit_code, found.error_class) == ("fail", 1, "OutputMismatchError")
    assert "not those of each model alone" in found.causes[0]


def test_a_model_that_was_not_measured_alone_proves_nothing():
    refused = without_measurement(RowSubject("b", "", "b", ""), None, ModelError("no"))
    found = beside_alone(row("(shared)", 2400, (b"9",)), [ALONE[0], refused])
    assert found.verdict == "ok"
    assert "against 1,000" not in " ".join(found.causes)


def test_a_shared_arena_that_was_not_measured_stays_as_it_is():
    refused = without_measurement(RowSubject("(shared)", "", "b", ""), None, ModelError("no"))
    assert beside_alone(refused, ALONE) is refused
