import pytest

from harness.report.scatter import SIZE, charts
from tests.support.outcomes import outcome


def job(measured, estimated, **more):
    error = estimated - measured
    return outcome(
        used_bytes=measured,
        estimate_bytes=estimated,
        error_bytes=error,
        error_percent=100 * error / measured,
        **more,
    )


def test_exact_estimates_lie_on_the_diagonal_and_others_beside_it():
    (chart,) = charts([job(100, 100), job(5000, 5000), job(1000, 1500), job(1000, 700)])
    places = {point.job.estimate_bytes: SIZE - point.y - point.x for point in chart.points}
    assert places[100] == pytest.approx(0)
    assert places[5000] == pytest.approx(0)
    assert places[1500] > 0 > places[700]
    assert (chart.models, chart.exact) == (4, 2)
    assert [each.estimate_bytes for each in chart.worst] == [1500, 700]


def test_models_at_the_same_place_are_one_mark():
    (chart,) = charts([job(100, 100, model=name) for name in "abc"] + [job(900, 900)])
    assert sorted(point.others for point in chart.points) == [0, 2]


def test_every_board_has_its_chart_and_the_unmeasured_have_none():
    jobs = [job(100, 100, board="z"), job(100, 100, board="a"), outcome(verdict="fail", board="f", estimate_bytes=5)]
    assert [chart.board for chart in charts(jobs)] == ["a", "z"]


def test_ticks_are_powers_of_two_in_words():
    (chart,) = charts([job(600, 600), job(40_000, 40_000)])
    assert [tick.label for tick in chart.ticks] == ["512", "1 K", "2 K", "4 K", "8 K", "16 K", "32 K"]
    assert all(0 <= tick.at <= SIZE for tick in chart.ticks)
