from harness.domain.estimate import Profile
from harness.domain.reconciliation import RecordedSection
from harness.estimate import ModelFile
from harness.estimate.analysis.compare import analyse
from harness.report import markdown
from harness.report.compose import Material, compose
from tests.support.models import skipping
from tests.support.outcomes import HEADING, night, outcome


def text(jobs=(), past=(), plans=()):
    return markdown.render(compose(HEADING, Material(jobs, past, plans)))


def test_the_facts_of_the_page_are_there():
    jobs = [outcome(estimate_bytes=1200, error_bytes=200, error_percent=20.0, minimum_bytes=1100, verdict="over")]
    past = [outcome(used_bytes=900, when=night(1)), outcome(when=night(2))]
    plan = analyse(ModelFile.of("m.tflite", skipping().build()), Profile("2026-08", "arm32"))
    found = text(jobs, past, [plan])
    assert "1 job: 1 over; **1 regression** in the history." in found
    assert "| m.tflite | b | 2020-07 | over | 1,200 | 1,000 | +200 | +20.00 % | 1,100 |  |" in found
    assert "| **grew** | m.tflite | b | 2026-11-02 02:00 | 900 | 1,000 |  |" in found
    assert "| d | b | 2 | 0 | 0 | 2026-11-02 02:00 |  |" in found
    assert "| m.tflite | 2026-01 | 192 | 192 |" in found


def test_recorded_sections_stand_beside_their_estimates():
    jobs = [outcome(sections=(RecordedSection("op_data", 812, 804), RecordedSection("un_heard", None, 5)))]
    found = text(jobs)
    assert "### Recorded allocations" in found
    assert "| m.tflite | b | op\\_data | 812 | 804 | +8 |" in found
    assert "| m.tflite | b | un\\_heard |  | 5 |  |" in found
    assert "Recorded" not in text([outcome()])


def test_names_are_no_markup():
    found = text([outcome("a|b_c*[x](http://e)<img>@all\n#1`", "fail", causes=("it | broke",))])
    row = next(line for line in found.splitlines() if line.startswith("| a"))
    assert row.startswith("| a\\|b\\_c\\*\\[x\\]\\(http://e\\)&lt;img&gt;&#64;all\\\\n\\#1\\` |")
    assert "it \\| broke" in row


def test_a_comment_stays_short():
    found = text([outcome(str(number), "fail", causes=("x" * 500,)) for number in range(500)])
    assert len(found) < 65_536
    assert "and 380 more rows in the page" in found
