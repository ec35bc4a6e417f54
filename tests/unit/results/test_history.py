from dataclasses import replace

from harness.domain.attempt import Attempt, Circumstances
from harness.results.history import steps

KEY = Circumstances("probe", "unit-1", "2020-07", "crate 0.1.0", "ff" * 32, "reference", "gcc 12", "-Os", "build-1")


def attempt(number, used=1000, board="desk", key=KEY, **changes):
    first = Attempt(
        number, 1, 1, 1, "done", f"2026-01-{number:02}", f"2026-01-{number:02}", "lab", "0.1", "kws.tflite", "ab" * 32,
        board, "dut", key, verdict="ok", used_bytes=used, estimate_bytes=1000,
    )  # fmt: skip
    return replace(first, **changes)


def test_the_same_again_is_one_step():
    (step,) = steps([attempt(1), attempt(2), attempt(3)])
    assert (step.count, step.first.id, step.last.id, step.changed, step.used_delta_bytes) == (3, 1, 3, (), None)


def test_a_step_names_what_changed_in_the_key():
    newer = replace(KEY, toolchain="gcc 13", build_id="build-2")
    found = steps([attempt(1), attempt(2, used=1016, key=newer)])
    assert found[1].changed == ("toolchain: gcc 12 → gcc 13", "firmware: build-1 → build-2")
    assert found[1].used_delta_bytes == 16


def test_a_changed_model_and_corrections_are_named():
    found = steps([attempt(1), attempt(2, sha256="cd" * 32, corrections=("fit-1",))])
    assert found[1].changed == ("model: abababababab → cdcdcdcdcdcd", "corrections: none → fit-1")


def test_a_key_that_changed_without_effect_is_a_step_too():
    found = steps([attempt(1), attempt(2, key=replace(KEY, tflm_version="crate 0.1.1"))])
    assert (found[1].used_delta_bytes, found[1].changed) == (0, ("TFLM: crate 0.1.0 → crate 0.1.1",))


def test_units_that_take_turns_make_no_steps():
    other = replace(KEY, unit="unit-2")
    assert len(steps([attempt(1), attempt(2, key=other), attempt(3)])) == 1


def test_the_unit_is_named_when_nothing_else_changed():
    found = steps([attempt(1), attempt(2, used=900, key=replace(KEY, unit="unit-2"))])
    assert found[1].changed == ("unit: unit-1 → unit-2",)


def test_boards_and_arenas_are_series_of_their_own():
    found = steps([attempt(1), attempt(2, board="lab"), attempt(3, asked_arena_bytes=4096), attempt(4)])
    assert [(step.first.board, step.first.asked_arena_bytes, step.count) for step in found] == [
        ("desk", None, 2),
        ("desk", 4096, 1),
        ("lab", None, 1),
    ]


def test_trouble_in_between_does_not_lose_the_trend():
    trouble = attempt(2, used=None, verdict="error", error_class="ProbeError", key=Circumstances())
    found = steps([attempt(1), trouble, attempt(3, used=1008)])
    assert [step.used_delta_bytes for step in found] == [None, None, 8]
    assert found[2].changed == ()
