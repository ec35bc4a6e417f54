from harness.domain.estimate import Profile
from harness.domain.reconciliation import RecordedSection
from harness.estimate import ModelFile
from harness.estimate.analysis.compare import analyse
from harness.report.compose import Material, ReportLimits, compose
from tests.support.models import chain, skipping
from tests.support.outcomes import HEADING, outcome


def plan_of(model):
    return analyse(ModelFile.of("m.tflite", model.build()), Profile("2020-07", "arm32"))


def test_a_small_report_leaves_nothing_out():
    jobs = [outcome("a"), outcome("b", "fail")]
    report = compose(HEADING, Material(jobs, jobs, [plan_of(skipping())]))
    assert report.rows == tuple(jobs)
    assert report.counts == {"ok": 1, "fail": 1}
    assert (report.left_out, len(report.plans)) == ((), 1)


def test_of_too_many_rows_the_worst_stay():
    jobs = [outcome("good"), outcome("low", "under"), outcome("late", "not_run"), outcome("bad", "fail")]
    report = compose(HEADING, Material(jobs, []), ReportLimits(rows=2))
    assert [row.model for row in report.rows] == ["low", "bad"]
    assert report.counts["ok"] == 1
    assert report.left_out == ("2 of 4 jobs are in the table, the worst verdicts first.",)


def test_recorded_sections_that_differ_come_first():
    equal, other = (RecordedSection("op_data", 8, 8),), (RecordedSection("op_data", 8, 9),)
    jobs = [outcome("plain"), outcome("equal", sections=equal), outcome("other", sections=other)]
    assert [job.model for job in compose(HEADING, Material(jobs, [])).recorded] == ["other", "equal"]
    report = compose(HEADING, Material(jobs, []), ReportLimits(recorded=1))
    assert report.left_out == ("1 of 2 jobs have their recorded allocations shown, those that differ first.",)


def test_histories_without_change_are_only_counted():
    past = [outcome("steady"), outcome("grows", used_bytes=1), outcome("steady"), outcome("grows", used_bytes=2)]
    report = compose(HEADING, Material([], past))
    assert ([history.model for history in report.histories], report.steady, report.regressions) == (["grows"], 1, 1)


def test_long_histories_keep_their_latest_changes():
    past = [outcome(used_bytes=n) for n in range(1, 9)]
    report = compose(HEADING, Material([], past), ReportLimits(changes=3, levels=3))
    (history,) = report.histories
    assert [change.number for change in history.changes] == [5, 6, 7]
    assert history.levels == ((5, 6), (6, 7), (7, 8))
    assert report.left_out == ("Long histories list their latest changes only.",)


def test_of_too_many_bars_the_largest_stay_in_order():
    plan = plan_of(skipping())
    report = compose(HEADING, Material([], [], [plan]), ReportLimits(bars=4))
    kept = report.plans[0].timeline
    assert len(kept) == 4
    assert [bar for bar in plan.timeline if bar in kept] == list(kept)
    assert report.left_out == ("The timeline of m.tflite has its 4 largest of 6 bars.",)


def test_timelines_end_where_the_page_gets_too_large():
    plans = [plan_of(chain(*["TANH"] * count)) for count in (3, 4, 5)]
    size = sum(len(plan.timeline) + len(plan.steps) for plan in plans[:2])
    report = compose(HEADING, Material([], [], plans, unplanned=1), ReportLimits(drawn=size))
    assert len(report.plans) == 2
    assert report.left_out == ("2 of 4 memory timelines are drawn.",)
