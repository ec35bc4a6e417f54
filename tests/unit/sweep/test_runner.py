import sys
import time

import pytest

from harness.errors import DeviceFaultError, ProbeError, SerialPortError
from harness.sweep.policy import Policy
from tests.support.fake_session import FakeBench


def verdicts(store, number):
    return [each.verdict for each in store.job_results(number)]


def test_every_job_is_done_once_and_kept_with_its_key(store, sweep):
    bench = FakeBench()
    number, watcher = sweep(bench, arenas=(2048, 4096))
    assert verdicts(store, number) == [
        "ok" if each.job.model == "model00.tflite" else "under" for each in store.job_results(number)
    ]
    assert len(bench.done) == len(set(bench.done)) == 12
    assert len(bench.opened) == 2  # sessions stay open
    attempt = store.attempts(number)[0]
    assert (attempt.state, attempt.circumstances.build_id, attempt.circumstances.toolchain) == (
        "done",
        "0" * 16,
        "gcc 12",
    )
    assert store.log(attempt) == f"#H1 {attempt.model}\n".encode()
    assert store.sweep(number).ended_at
    assert len(watcher.ended_jobs) == 12


def test_trouble_once_is_flaky(store, sweep):
    failed: list[str] = []

    def once(probe, model):
        if model == "model03.tflite" and not failed:
            failed.append(probe)
            return ProbeError("gone for a moment")
        return None

    number, _ = sweep(FakeBench(once))
    assert [each.job.model for each in store.job_results(number) if each.flaky] == ["model03.tflite"]
    tries = [each for each in store.attempts(number) if each.model == "model03.tflite"]
    assert [each.state for each in tries] == ["failed", "done"]
    assert tries[0].dut != tries[1].dut
    assert tries[0].causes == ("gone for a moment",)


def test_after_trouble_the_flash_is_written_anew_once(sweep):
    failed: list[str] = []

    def once(probe, model):
        if model == "model01.tflite" and not failed:
            failed.append(model)
            return ProbeError("gone for a moment")
        return None

    bench = FakeBench(once)
    sweep(bench, units="a")
    assert bench.forced == ["model02.tflite"]  # what comes next on this unit


def test_verdicts_about_a_model_are_final(store, sweep):
    number, _ = sweep(FakeBench(lambda _, model: DeviceFaultError("HardFault") if model else None))
    assert verdicts(store, number) == ["fail"] * 6
    assert all(each.attempts == 1 for each in store.job_results(number))


def test_a_dead_unit_is_set_aside_and_its_peer_does_the_work(store, sweep):
    bench = FakeBench(lambda probe, _: SerialPortError("no such port") if probe == "a" else None, pause_s=0.02)
    number, watcher = sweep(bench)
    assert "error" not in verdicts(store, number)
    assert {probe for probe, _, _ in bench.done} == {"b"}
    assert any("a was set aside" in note for note in watcher.notes)


def test_without_a_unit_left_jobs_end_as_not_run_or_with_their_error(store, sweep):
    number, _ = sweep(FakeBench(lambda *_: ProbeError("dead")), units="a", policy=Policy(set_aside_after=2))
    results = store.job_results(number)
    assert [each.verdict for each in results] == ["error"] * 2 + ["not_run"] * 4
    assert all("set aside" in each.causes[-1] for each in results)
    assert {each.exit_code for each in results} == {3}


def test_resume_does_only_what_is_left(store, sweep):
    dead = [True]
    bench = FakeBench(lambda _, model: ProbeError("dead") if dead[0] and model and model >= "model03" else None)
    number, _ = sweep(bench, units="a", policy=Policy(retries=0))
    assert verdicts(store, number).count("error") == 3
    first = len(bench.done)
    dead[0] = False
    sweep(bench, units="a", resume=number, policy=Policy(retries=1))
    assert len(bench.done) == len(set(bench.done)) == 6
    assert first == 3
    assert "error" not in verdicts(store, number)
    sweep(bench, units="a", resume=number)
    assert len(bench.done) == 6


def test_a_mistake_in_harness_ends_the_sweep_and_is_not_hidden(store, sweep):
    with pytest.raises(ZeroDivisionError):
        sweep(FakeBench(lambda _, model: ZeroDivisionError() if model == "model02.tflite" else None))
    assert "running" not in {each.state for each in store.attempts()}


def test_the_deadline_leaves_the_rest_not_run(store, sweep):
    number, watcher = sweep(FakeBench(pause_s=0.3), units="a", policy=Policy(deadline_s=0.4))
    found = verdicts(store, number)
    assert "not_run" in found
    assert found[0] == "ok"
    assert store.job_results(number)[-1].causes == ("the sweep's deadline came first",)
    assert any("the deadline has come" in note for note in watcher.notes)


def hook(code, *arguments):
    return (sys.executable, "-c", code, *map(str, arguments))


def test_the_power_hook_brings_a_unit_back(store, sweep, tmp_path):
    switched = tmp_path / "switched"

    def hangs_until_switched(probe, model):
        return ProbeError("hangs") if (model and model >= "model03") and not switched.exists() else None

    command = hook("import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])", switched, "{dut}")
    number, watcher = sweep(FakeBench(hangs_until_switched), units="a", policy=Policy(power_hook=command))
    assert "error" not in verdicts(store, number)
    assert switched.read_text() == "a"
    assert any("power off and on" in note for note in watcher.notes)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (hook("pass"), "dead"),  # the hook is content, the board is not
        (hook("raise SystemExit(7)"), "status 7"),
        (hook("import time; time.sleep(60)"), "did not end within"),
        (("/nonexistent/hook",), "cannot be run"),
    ],
)
def test_a_hook_that_does_not_help_sets_the_unit_aside(store, sweep, command, complaint):
    policy = Policy(power_hook=command, power_hook_timeout_s=0.3)
    number, watcher = sweep(FakeBench(lambda *_: ProbeError("dead")), units="a", policy=policy)
    assert any(complaint in note for note in watcher.notes)
    assert verdicts(store, number) == ["error"] + ["not_run"] * 5
    assert "does not answer after power off and on" in store.job_results(number)[-1].causes[0]


def test_two_units_are_faster_than_one(sweep):
    # Not a matter of milliseconds: two units that each wait must wait at the same time.
    together = []

    def count(probe, model):
        if model:
            together.append((probe, time.monotonic()))

    sweep(FakeBench(count, pause_s=0.2))
    assert {probe for probe, _ in together} == {"a", "b"}
    first, second = (next(at for probe, at in together if probe == name) for name in "ab")
    assert abs(first - second) < 0.2


def test_a_model_that_changed_meanwhile_is_refused(store, sweep, models):
    models[2] = (models[2][0], "00" * 32)
    number, _ = sweep()
    result = store.job_results(number)[2]
    assert (result.verdict, result.exit_code) == ("not_run", 2)
    assert "has changed since the sweep was planned" in result.causes[0]
