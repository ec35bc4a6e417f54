import itertools

from hypothesis import given
from hypothesis import strategies as st

from harness.domain.attempt import Job
from harness.sweep.policy import Policy
from harness.sweep.scheduler import Scheduler


def job(number, board="x", model=None, tflm="crate", arena=None):
    name = model or f"m{number}"
    return Job(number, name, f"/{name}", name, board, tflm, arena)


def order(scheduler, unit):
    """What a unit does when it is alone and all goes well."""
    done = []
    while (next_job := scheduler.next_job(unit)) is not None:
        done.append(next_job)
        scheduler.ended(unit, "")
    return done


def test_one_unit_keeps_tflm_and_model_together():
    cells = [(t, m, a) for m in "pq" for a in (1, 2) for t in ("old", "new")]  # the worst order
    jobs = [job(n, model=m, tflm=t, arena=a) for n, (t, m, a) in enumerate(cells, 1)]
    done = order(Scheduler(jobs, {"u": "x"}, Policy()), "u")
    flashed = [(each.tflm, each.model) for each in done]
    assert sum(a != b for a, b in itertools.pairwise(flashed)) == 3
    assert sum(a[0] != b[0] for a, b in itertools.pairwise(flashed)) == 1


def test_two_units_share_out_models_not_settings():
    jobs = [job(n, model=m, arena=a) for n, (m, a) in enumerate([(m, a) for m in "pq" for a in (1, 2)], 1)]
    scheduler = Scheduler(jobs, {"u": "x", "v": "x"}, Policy())
    models: dict[str, list[str]] = {"u": [], "v": []}
    for _ in range(2):
        for unit in "uv":
            models[unit].append(scheduler.next_job(unit).model)
        for unit in "uv":
            scheduler.ended(unit, "")
    assert models == {"u": ["p", "p"], "v": ["q", "q"]}


def test_a_failed_job_goes_to_a_peer():
    scheduler = Scheduler([job(1), job(2)], {"u": "x", "v": "x"}, Policy())
    assert scheduler.next_job("u").number == 1
    assert scheduler.ended("u", "ProbeError")
    assert scheduler.next_job("u").number == 2
    assert scheduler.next_job("v").number == 1


def test_a_dead_unit_does_not_use_up_the_tries_of_a_job_that_its_peer_could_do():
    scheduler = Scheduler([job(1), job(2)], {"dead": "x", "busy": "x"}, Policy(retries=2))
    assert scheduler.next_job("busy").number == 1
    assert scheduler.next_job("dead").number == 2
    scheduler.ended("dead", "ProbeError")
    assert scheduler.next_job("dead") is None
    scheduler.ended("busy", "ProbeError")
    assert scheduler.next_job("busy").number == 2
    assert scheduler.next_job("dead").number == 1


def test_the_last_unit_tries_again_itself():
    scheduler = Scheduler([job(1)], {"u": "x", "v": "x"}, Policy(retries=2))
    scheduler.set_aside("v", "broken")
    scheduler.next_job("u")
    scheduler.ended("u", "ProbeError")
    assert scheduler.next_job("u").number == 1


def test_failures_of_different_jobs_set_a_unit_aside_and_a_success_forgives():
    scheduler = Scheduler([job(n) for n in range(1, 9)], {"u": "x"}, Policy(retries=0, set_aside_after=2))
    for error in ("ProbeError", "", "ProbeError"):
        scheduler.next_job("u")
        scheduler.ended("u", error)
    assert not scheduler.reason_set_aside("u")
    scheduler.next_job("u")
    scheduler.ended("u", "FlashError")
    assert "2 jobs failed in a row" in scheduler.reason_set_aside("u")
    assert scheduler.next_job("u") is None
    assert [job.number for job, _ in scheduler.give_up_unserved()] == [5, 6, 7, 8]


def test_trouble_of_this_machine_blames_no_unit():
    scheduler = Scheduler([job(n) for n in range(1, 5)], {"u": "x"}, Policy(set_aside_after=1))
    scheduler.next_job("u")
    assert not scheduler.ended("u", "ToolchainError")
    assert not scheduler.reason_set_aside("u")


def test_a_lost_unit_leaves_its_job_to_its_peers():
    scheduler = Scheduler([job(1)], {"u": "x", "v": "x"}, Policy(retries=0))
    assert scheduler.next_job("u").number == 1
    assert scheduler.next_job("v") is None
    scheduler.lost("u", "its machine went away")
    assert scheduler.give_up_unserved() == []
    assert scheduler.next_job("v").number == 1


def test_a_board_without_a_unit_is_named():
    scheduler = Scheduler([job(1, board="y")], {"u": "x"}, Policy())
    assert scheduler.give_up_unserved() == [(job(1, board="y"), "there is no unit of y on the bench")]


ERRORS = st.sampled_from(["", "", "", "ProbeError", "DeadlineError", "BuildError", "lost"])


@given(
    boards=st.lists(st.sampled_from("xyz"), min_size=1, max_size=20),
    units=st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xy"), max_size=4),
    ends=st.lists(ERRORS, max_size=60),
    limits=st.tuples(st.integers(0, 3), st.integers(1, 4)),
    chance=st.randoms(use_true_random=False),
)
def test_every_job_ends_once_whatever_happens(boards, units, ends, limits, chance):
    retries, set_aside_after = limits
    jobs = [job(n, board=board, model=chance.choice("pqr")) for n, board in enumerate(boards, 1)]
    scheduler = Scheduler(jobs, units, Policy(retries, set_aside_after=set_aside_after))
    verdicts: list[int] = []
    attempts: list[int] = []
    at: dict[str, Job] = {}
    dropped = [each.number for each, _ in scheduler.give_up_unserved()]
    ends = iter(ends)
    while True:
        for unit in units:
            if unit not in at and (given_job := scheduler.next_job(unit)) is not None:
                assert given_job.board == units[unit]
                assert not scheduler.reason_set_aside(unit)
                assert given_job.number not in verdicts + [each.number for each in at.values()]
                at[unit] = given_job
                attempts.append(given_job.number)
        if not at:
            break
        unit = chance.choice(sorted(at))
        ended, how = at.pop(unit), next(ends, "")
        if how == "lost":
            attempts.remove(ended.number)
            scheduler.lost(unit, "gone")
        elif not scheduler.ended(unit, how):
            verdicts.append(ended.number)
        dropped += [each.number for each, _ in scheduler.give_up_unserved()]
    assert sorted(verdicts + dropped) == [each.number for each in jobs]
    assert scheduler.left == 0
    assert all(attempts.count(each.number) <= 1 + retries for each in jobs)
