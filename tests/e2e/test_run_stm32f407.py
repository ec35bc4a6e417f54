import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from tests.support.boards import BOARD


def run_one(harness, model, *options):
    ended = harness("run", model, "--board", BOARD, "--format", "json", *options)
    (row,) = ended.rows
    return ended, row


def test_demo_gives_the_known_figures_of_the_crates_models(harness):
    ended = harness("demo", "--format", "json")
    assert ended.status == 0, ended.err
    found = {row["model"]: row["measurement"] for row in ended.rows}
    assert len(found) == 4
    # From another emulator, with the same TFLM.
    for model, head, tail in (("hello_world", 48, 1424), ("micro_speech", 5968, 1056)):
        measured = found[f"{model}.tflite"]
        assert (measured["head_bytes"], measured["tail_bytes"]) == (head, tail)
        assert measured["arena_used_bytes"] == head + tail
    assert all(row["verdict"] == "ok" and row["error_bytes"] == 0 for row in ended.rows)
    assert all(row["measurement"]["emulated"] for row in ended.rows)


def test_demo_prints_a_table_for_people(harness):
    ended = harness("demo")
    assert ended.status == 0
    assert re.search(r"hello_world\.tflite +stm32f407-virtual +2020-07 .* 1,472 +1,472 +1,472 +1,888 +0 ", ended.out)
    assert "planner scratch touched" in ended.out
    assert ended.err == ""


def test_the_minimum_works_and_four_bytes_less_do_not(harness, example):
    model = example("hello_world.tflite")
    ended, row = run_one(harness, model, "--min-arena")
    assert ended.status == 0
    minimum = row["measurement"]["min_working_arena_bytes"]
    assert minimum > row["measurement"]["arena_used_bytes"]
    assert run_one(harness, model, "--arena-size", minimum)[0].status == 0
    ended, row = run_one(harness, model, "--arena-size", minimum - 4)
    assert ended.status == 1
    assert row["verdict"] == "fail"
    assert "arena is too small" in row["causes"][0]


def test_min_arena_is_the_same_search(harness, example):
    ended = harness("min-arena", example("micro_speech.tflite"), "--board", BOARD, "--format", "json")
    (row,) = ended.rows
    assert row["measurement"]["min_working_arena_bytes"] <= row["estimate"]["min_working_arena_bytes"] + 16
    assert row["measurement"]["min_arena_failure"]


def best_class(row):
    return max(enumerate(bytes.fromhex(row["measurement"]["outputs"][0]["hex"])), key=lambda pair: pair[1])[0]


@pytest.mark.parametrize(
    ("model", "data", "expected"),
    [
        ("micro_speech", "yes_micro_f2e59fea_nohash_1", 2),  # silence, unknown, yes, no
        ("micro_speech", "no_micro_f9643d42_nohash_4", 3),
        ("person_detection_grayscale", "person_image_data_grayscale", 1),  # unused, person, no person
        ("person_detection_grayscale", "no_person_image_data_grayscale", 2),
    ],
)
def test_samples_get_their_class_on_the_device(harness, example, model, data, expected):
    _, row = run_one(harness, example(f"{model}.tflite"), "--input", example(f"{data}.data"))
    assert best_class(row) == expected


def test_every_public_model_is_measured_or_refused_with_its_reason(harness, shared_models):
    ended = harness("run", *shared_models, "--board", BOARD, "--min-arena", "--format", "json")
    assert len(ended.rows) == len(shared_models)
    for row in ended.rows:
        if row["measurement"]:
            assert row["error_bytes"] == 0, row["model"]
            estimate, measured = row["estimate"], row["measurement"]
            assert estimate["head_bytes"] == measured["head_bytes"], row["model"]
            assert 0 <= estimate["min_working_arena_bytes"] - measured["min_working_arena_bytes"] <= 16, row["model"]
        else:
            assert row["verdict"] in ("not_run", "fail"), row
            assert row["causes"], row["model"]
    measured = [row for row in ended.rows if row["measurement"]]
    assert len(measured) >= 7


def test_a_model_that_no_arena_of_the_board_holds_is_told_so(harness, shared_models):
    model = next(path for path in shared_models if path.stem == "person_detect_int8")
    for command in ("run", "min-arena"):
        ended = harness(command, model, "--board", BOARD, "--tflm", "2020-07", "--format", "json")
        assert (ended.status, ended.rows[0]["verdict"]) == (1, "fail")
        told = "\n".join(ended.rows[0]["causes"])
        assert "does not fit this board: it needs an arena of about 132,140 bytes, of at most 130,944 here" in told
        assert "another board, or a smaller model" in told
        assert "min-arena" not in told


def test_the_paint_agrees_with_the_interpreter(harness, example):
    _, row = run_one(harness, example("magic_wand.tflite"))
    measured = row["measurement"]
    assert measured["overruns"] == []
    # Head and tail were written up to their very ends, or nearly: unused ends are alignment.
    assert 0 <= measured["arena_used_bytes"] - measured["painted_used_bytes"] <= 16
    assert measured["stack_used_bytes"] > 0
    assert measured["touched_by_allocation_bytes"] > 0


def test_two_runs_give_the_same_output_and_figures(harness, example):
    rows = [run_one(harness, example("micro_speech.tflite"))[1]["measurement"] for _ in range(2)]
    for key in ("output_sha256", "arena_used_bytes", "painted_used_bytes", "build_id", "stack_used_bytes"):
        assert rows[0][key] == rows[1][key]


@pytest.mark.parametrize(
    ("options", "status", "told"),
    [
        (["--board", "stm32f407-virtuel"], 2, "did you mean stm32f407-virtual"),
        (["--board", BOARD, "--arena-size", "10M"], 2, "no number of bytes"),
        (["--board", BOARD, "--arena-size", "200k"], 2, "larger than the RAM"),
        (["--board", BOARD, "--arena-size", "1001"], 2, "multiple of 4"),
        (["--board", BOARD, "--input", "/nonexistent"], 2, "cannot be read"),
        (["--board", "stm32f407-discovery"], 3, "harness doctor --udev"),
        (["--board", BOARD, "--tflm", "none"], 2, "no TFLM 'none' can be built here"),
        (["--board", BOARD, "--tflm", "2026-08"], 2, "describe it in a manifest"),
    ],
)
def test_trouble_is_told_in_three_lines_at_most(harness, example, options, status, told):
    ended = harness("run", example("hello_world.tflite"), *options)
    assert ended.status == status, ended
    assert told in ended.err
    assert "Traceback" not in ended.err
    assert len(ended.err.splitlines()) <= 3
    assert ended.out == ""


def test_input_of_another_size_is_refused(harness, example):
    ended, row = run_one(harness, example("hello_world.tflite"), "--input", example("person_image_data_grayscale.data"))
    assert ended.status == 2
    assert row["verdict"] == "not_run"
    assert "do not fit the model's input" in row["causes"][0]


def test_without_a_compiler_the_error_says_what_to_install(harness, example, tmp_path):
    ended = harness(
        "run", example("hello_world.tflite"), "--board", BOARD,
        env={"PATH": str(tmp_path), "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", "")},
    )  # fmt: skip
    assert ended.status == 3
    assert "gcc-arm-none-eabi" in ended.err


def test_a_model_that_is_none_does_not_stop_the_others(harness, example, tmp_path):
    bad = tmp_path / "bad.tflite"
    bad.write_bytes(b"not a model")
    ended = harness("run", bad, example("hello_world.tflite"), "--board", BOARD, "--format", "json")
    assert [row["verdict"] for row in ended.rows] == ["not_run", "ok"]
    assert ended.status == 2


def processes_of(mark: str) -> set[str]:
    """The processes that run with `mark` in their environment: a command and all that it started."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # a process that has just ended
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.add(entry.name)
    return found


def gone_within(seconds: float, mark: str) -> bool:
    deadline = time.monotonic() + seconds
    while processes_of(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not processes_of(mark)


@pytest.mark.parametrize("after_s", [0.3, 1.0, 2.0, 4.0])
def test_ctrl_c_leaves_nothing_behind(harness, example, after_s):
    mark = f"HARNESS_TEST_MARK={uuid.uuid4()}"
    models = [str(example("person_detection_grayscale.tflite"))] * 4
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "run", *models, "--board", BOARD],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | dict([mark.split("=")]),
    )
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    # CPython ends by the signal itself when it strikes inside an exec(), as of a dataclass; a shell says 130 for both.
    assert process.returncode in (130, -signal.SIGINT), err
    assert "Traceback" not in err
    assert gone_within(5, mark)
    assert run_one(harness, example("hello_world.tflite"))[0].status == 0
