import os
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.sweep.plan import SweepPlan, plan_duts, plan_jobs, read_plan

BOARD = "stm32f407-virtual"


@pytest.fixture
def plan(tmp_path, models):
    def read(text):
        path = tmp_path / "plan.toml"
        path.write_text(text)
        return read_plan(path)

    return read


def test_a_plan_file_is_read_relative_to_itself(plan, models, tmp_path):
    found = plan(
        f'models = ["model0[01].tflite"]\nboards = ["{BOARD}"]\ntflm = ["crate"]\narena_size_bytes = [4096, 8192]\n'
        f'min_arena = true\nbench = "bench.toml"\n[units]\n{BOARD} = 2\n'
    )
    assert found.models == (models[0][0], models[1][0])
    assert (found.boards, found.arenas, found.min_arena) == ((BOARD,), (4096, 8192), True)
    assert found.bench == tmp_path / "bench.toml"
    assert found.units == {BOARD: 2}


def test_what_a_plan_leaves_out(plan):
    found = plan(f'models = ["model00.tflite"]\nboards = ["{BOARD}"]\n')
    assert (found.tflm, found.arenas, found.min_arena, found.bench, found.units) == (
        ("crate",),
        (None,),
        False,
        None,
        {},
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "models: missing key"),
        ('models = ["nothing*.tflite"]\nboards = []\n', "no model fits"),
        ("models = []\nboards = []\nbord = 3\n", "did you mean boards?"),
        ('models = []\nboards = []\narena_size_bytes = ["80k"]\n', "arena_size_bytes: wrong value"),
    ],
)
def test_what_is_wrong_with_a_plan_is_named(plan, text, told):
    with pytest.raises(UsageError) as raised:
        plan(text)
    assert told in str(raised.value)


def test_the_matrix_is_grouped_by_board_tflm_and_model(models):
    paths = tuple(path for path, _ in models[:2])
    jobs = [each.job for each in plan_jobs(SweepPlan(paths, (BOARD,), ("crate", "b.toml"), (4096, None), True))]
    assert [(Path(job.tflm).name, job.model, job.arena_size_bytes) for job in jobs] == [
        (tflm, f"model0{number}.tflite", arena)
        for tflm in ("crate", "b.toml")
        for number in (0, 1)
        for arena in (4096, None)
    ]
    assert [job.number for job in jobs] == list(range(1, 9))
    assert all(job.sha256 and job.min_arena for job in jobs)


def test_a_file_that_is_no_model_stays_in_the_plan_with_its_reason(tmp_path, models):
    bad = tmp_path / "bad.tflite"
    bad.write_text("not a model")
    good, refused = plan_jobs(SweepPlan((models[0][0], bad), (BOARD,)))
    assert good.refused is None
    assert (refused.job.sha256, refused.refused.what) == ("", "this is no TensorFlow Lite model")


def test_a_model_named_twice_is_one_job(models):
    assert len(plan_jobs(SweepPlan((models[0][0], models[0][0]), (BOARD, BOARD)))) == 1


def test_two_different_models_of_one_name_are_refused(tmp_path, models):
    other = tmp_path / "other" / models[0][0].name
    other.parent.mkdir()
    other.write_bytes(models[1][0].read_bytes())
    with pytest.raises(UsageError, match="same name"):
        plan_jobs(SweepPlan((models[0][0], other), (BOARD,)))


def test_nothing_to_do_is_refused():
    with pytest.raises(UsageError, match="nothing to do"):
        plan_jobs(SweepPlan((), (BOARD,)))


def test_units_come_from_the_bench_and_from_the_number_asked_for(tmp_path):
    bench = tmp_path / "bench.toml"
    bench.write_text(
        f'[[dut]]\nname = "daemon"\nboard = "{BOARD}"\nprobe = "virtual-x"\n'
        '[[dut]]\nboard = "stm32f407-black"\nprobe = "y"\n'
    )

    def names(**plan):
        return [each.name for each in plan_duts(SweepPlan((), (BOARD,), **plan))]

    assert names() == [f"{BOARD}-1"]
    assert names(units={BOARD: 2}) == [f"{BOARD}-1", f"{BOARD}-2"]
    assert names(bench=bench) == ["daemon"]
    assert names(bench=bench, units={BOARD: 1}) == ["daemon", f"{BOARD}-1"]
    assert names(units={BOARD: 0}) == []


def test_units_of_a_board_outside_the_plan_are_refused():
    with pytest.raises(UsageError, match="not in the plan"):
        plan_duts(SweepPlan((), (BOARD,), units={"stm32f407-black": 1}))


def test_manifests_lie_relative_to_the_plan_file_and_stay_where_they_are(plan, tmp_path, models):
    found = plan(f'models = ["model00.tflite"]\nboards = ["{BOARD}"]\ntflm = ["crate", "mine/tflm.toml"]\n')
    jobs = [planned.job for planned in plan_jobs(found)]
    assert [job.tflm for job in jobs] == ["crate", str(tmp_path / "mine/tflm.toml")]
    assert [job.tflm_name for job in jobs] == ["crate", "mine/tflm.toml"]


def test_a_manifest_given_on_the_command_line_is_found_from_anywhere(models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (planned,) = plan_jobs(SweepPlan((models[0][0],), (BOARD,), ("tflm.toml",)))
    assert planned.job.tflm == str(tmp_path / "tflm.toml")


def test_two_manifests_that_baselines_could_not_tell_apart_are_refused(models):
    with pytest.raises(UsageError, match="two different TFLMs") as raised:
        plan_jobs(SweepPlan((models[0][0],), (BOARD,), ("/one/mine/tflm.toml", "/other/mine/tflm.toml")))
    assert "/other/mine/tflm.toml" in str(raised.value)


@pytest.mark.parametrize("suffix", [".tflite", ".toml"])
def test_a_path_that_cannot_be_stored_is_refused(models, suffix):
    path = os.fsdecode(b"\xff") + suffix
    good = models[0][0]
    plan = SweepPlan((good, Path(path)), (BOARD,)) if suffix == ".tflite" else SweepPlan((good,), (BOARD,), (path,))
    with pytest.raises(UsageError, match="no UTF-8"):
        plan_jobs(plan)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["modles/*.tflite"], "modles/*.tflite: no model fits"),
        (["model00.tflite", "modles/?.tflite"], "modles/?.tflite: no model fits"),
        (["gone.tflite"], "gone.tflite: there is no such file"),
        (["gone.tflite", "x" * 300], "gone.tflite: there is no such file"),
    ],
)
def test_a_slip_begins_no_sweep(names, told, models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as raised:
        plan_jobs(SweepPlan(tuple(map(Path, names)), (BOARD,)))
    assert told in str(raised.value)


def test_one_model_of_several_that_is_missing_is_a_job_that_is_refused(models, tmp_path):
    good, missing = plan_jobs(SweepPlan((models[0][0], tmp_path / "gone.tflite"), (BOARD,)))
    assert (good.refused, missing.refused.what) == (None, "there is no such file")


def test_a_tflm_goes_by_its_generation_or_is_refused_before_anything_begins(models):
    (planned,) = plan_jobs(SweepPlan((models[0][0],), (BOARD,), ("2020-07", "crate")))
    assert planned.job.tflm == "crate"
    with pytest.raises(UsageError, match="no TFLM 'creat' can be built here"):
        plan_jobs(SweepPlan((models[0][0],), (BOARD,), ("creat",)))
