"""Sweeps on real virtual boards: side by side, killed and resumed, and with one board in trouble."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from harness.store import open_store
from harness.virtual import launcher
from harness.virtual.link import Client
from tests.support.boards import BOARD

MODELS = ("hello_world", "magic_wand", "micro_speech")


@pytest.fixture
def models(example):
    return [example(f"{name}.tflite") for name in MODELS]


def arguments(models, folder, *more):
    given = ["sweep", *models, "--boards", BOARD, "--store", folder / "harness.db", "--format", "json", *more]
    return list(map(str, given))


def facts(rows):
    """What has to be the same whenever and wherever a sweep is run."""
    keys = ("job", "model", "verdict", "flaky", "arena_size_asked_bytes", "error_bytes")
    figures = ("arena_used_bytes", "painted_used_bytes", "arena_size_bytes", "output_sha256", "build_id")
    return [{key: row[key] for key in keys} | {key: row["measurement"][key] for key in figures} for row in rows]


def test_two_units_share_the_work_and_every_attempt_is_kept(harness, models, tmp_path):
    ended = harness(*arguments(models, tmp_path, "--units", f"{BOARD}=2", "--arena", "100k", "--arena", "60k"))
    assert ended.status == 0, ended.err
    assert [row["verdict"] for row in ended.rows] == ["ok"] * 6
    assert {row["dut"] for row in ended.rows} == {f"{BOARD}-1", f"{BOARD}-2"}
    with open_store(tmp_path / "harness.db") as store:
        attempts = store.attempts()
        assert len(attempts) == 6
        for attempt in attempts:
            key = attempt.circumstances
            assert all((key.probe_id, key.unit, key.tflm, key.tflm_version, key.tflm_hash, key.build_id, key.flags))
            assert b"#H1" in store.log(attempt)
    again = harness(*arguments([], tmp_path, "--resume"))
    assert facts(again.rows) == facts(ended.rows)
    with open_store(tmp_path / "harness.db") as store:
        assert len(store.attempts()) == 6


def test_killed_and_resumed_it_ends_as_if_undisturbed(harness, models, tmp_path):
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    options = ["--units", f"{BOARD}=2", "--arena", "100k", "--arena", "60k"]
    undisturbed = harness(*arguments(models, calm, *options))
    command = [sys.executable, "-m", "harness"]
    for pause_s, given in ((3.0, arguments(models, killed, *options)), (2.0, arguments([], killed, "--resume"))):
        process = subprocess.Popen([*command, *given], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(pause_s)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    ended = harness(*arguments([], killed, "--resume"))
    assert ended.status == 0, ended.err
    assert facts(ended.rows) == facts(undisturbed.rows)
    with open_store(killed / "harness.db") as store:
        done = [attempt.job for attempt in store.attempts() if attempt.state == "done"]
        assert sorted(done) == [1, 2, 3, 4, 5, 6]


def test_ctrl_c_ends_what_is_in_hand_and_says_how_to_go_on(models, tmp_path, needs_firmware):
    command = [sys.executable, "-m", "harness", *arguments(models, tmp_path, "--min-arena")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "harness sweep --resume 1" in err
    assert "Traceback" not in err
    assert len(json.loads(out)) == 3
    with open_store(tmp_path / "harness.db") as store:
        assert "running" not in {attempt.state for attempt in store.attempts()}


@pytest.fixture
def bench(tmp_path, needs_firmware):
    """Two boards of a bench; the first is to be hurt."""
    names = [f"sweep-{os.getpid()}-{name}" for name in ("sick", "well")]
    boards = [launcher.start("stm32f407", name) for name in names]
    duts = [
        f'[[dut]]\nname = "{name}"\nboard = "{BOARD}"\nprobe = "{board.probe_id}"\n'
        for name, board in zip(("sick", "well"), boards, strict=True)
    ]
    path = tmp_path / "bench.toml"
    path.write_text("".join(duts))
    yield path, boards[0]
    for board in boards:
        board.stop()


SILENT = {"do": "serial", "to": "host", "kind": "drop", "first": 0, "count": None}
GARBAGE = {"do": "serial", "to": "host", "kind": "garble", "first": 300, "count": None}
BAD_FLASH = {"do": "flash_stuck_bits", "address": 0x08080100, "mask": 0xFF}
UNPLUGGED = {"do": "link", "status": "disconnected", "first": 20, "count": None}
RESETTING = {"do": "resetting", "after_s": 0.02}


@pytest.mark.slow
@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param((SILENT, "silent"), id="silent"),
        pytest.param((GARBAGE, ""), id="garbage on the line"),
        pytest.param((BAD_FLASH, "0x08080100"), id="bad flash"),
        pytest.param((UNPLUGGED, "unplugged"), id="unplugged"),
        pytest.param((RESETTING, ""), id="resetting"),
    ],
)
def test_a_board_in_trouble_does_no_harm_to_the_others(harness, models, tmp_path, bench, trouble):
    fault, told = trouble
    path, sick = bench
    with Client(sick.socket) as client:
        client.control(fault)
    ended = harness(*arguments(models, tmp_path, "--bench", path, "--set-aside-after", "1"))
    assert ended.status == 0, ended.err
    assert [row["verdict"] for row in ended.rows] == ["ok"] * 3
    assert {row["dut"] for row in ended.rows} == {"well"}
    assert "sick was set aside" in ended.err
    assert "1 flaky" in ended.err
    with open_store(tmp_path / "harness.db") as store:
        (failed,) = [attempt for attempt in store.attempts() if attempt.state == "failed"]
    assert (failed.dut, failed.verdict) == ("sick", "error")
    assert told in " ".join(failed.causes)


def test_the_power_hook_brings_a_silent_board_back(harness, models, tmp_path, bench):
    path, sick = bench
    path.write_text(path.read_text().split('[[dut]]\nname = "well"')[0])
    hook = tmp_path / "hook.py"
    hook.write_text(
        "import sys\nfrom pathlib import Path\nfrom harness.virtual.link import Client\n"
        "with Client(Path(sys.argv[1])) as client:\n    client.control({'do': 'clear_faults'})\n"
    )
    with Client(sick.socket) as client:
        client.control(SILENT)
    words = ("--bench", path, "--power-hook", f"{sys.executable} {hook} {sick.socket}")
    ended = harness(*arguments(models, tmp_path, *words))
    assert ended.status == 0, ended.err
    assert [(row["verdict"], row["flaky"]) for row in ended.rows] == [("ok", True), ("ok", False), ("ok", False)]
    assert "sick: power off and on" in ended.err


def test_a_board_that_dies_in_mid_sweep(harness, models, tmp_path, bench):
    path, sick = bench
    command = [sys.executable, "-m", "harness", *arguments(models, tmp_path, "--bench", path, "--arena", "60k")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.stderr.readline() and sick.process.poll() is None:
        sick.process.kill()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert [row["verdict"] for row in json.loads(out)] == ["ok"] * 3


def test_without_any_board_the_jobs_are_told_as_not_run(harness, models, tmp_path):
    ended = harness(*arguments(models, tmp_path, "--boards", "stm32f407-discovery", "--units", f"{BOARD}=1"))
    assert ended.status == 3
    assert [row["verdict"] for row in ended.rows] == ["ok"] * 3 + ["not_run"] * 3
    assert "there is no unit of stm32f407-discovery on the bench" in ended.rows[-1]["causes"][0]


def test_check_names_what_changed(harness, models, tmp_path):
    assert harness(*arguments(models, tmp_path)).status == 0
    baseline, junit = tmp_path / "baseline.json", tmp_path / "junit.xml"
    options = ("--store", tmp_path / "harness.db", "--baseline", baseline, "--format", "json")
    assert harness("check", *options, "--update-baseline").status == 0
    assert harness("check", *options).status == 0
    changed = json.loads(baseline.read_text())
    changed["figures"][0]["used_bytes"] -= 16
    changed["figures"][1]["used_bytes"] += 16
    baseline.write_text(json.dumps(changed))
    budgets = tmp_path / "budgets.toml"
    budgets.write_text(f'[{BOARD}]\n"micro_speech.tflite" = 7_000\n')
    ended = harness("check", *options, "--budgets", budgets, "--junit", junit, "--annotations")
    assert ended.status == 1
    assert {(row["model"], row["finding"]) for row in ended.rows} == {
        ("hello_world.tflite", "grew"),
        ("magic_wand.tflite", "shrank"),
        ("micro_speech.tflite", "over_budget"),
    }
    assert ended.err.count("::error ") == 3
    assert 'failures="3"' in junit.read_text()
    assert harness("check", *options, "--allow", "grew", "--allow", "shrank").status == 0


def test_the_pytest_plugin_measures_on_a_real_virtual_board(example, tmp_path, needs_firmware):
    test = tmp_path / "test_fits.py"
    test.write_text(
        f"def test_it(dut):\n"
        f"    measured = dut.measure({str(example('hello_world.tflite'))!r})\n"
        f"    assert measured.arena_used_bytes == 1472\n"
        f"    assert 1472 < measured.min_working_arena_bytes < 60_000\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--harness-board={BOARD}", str(test)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout
