"""A short run of the fuzzer, with the same inputs every time; `make fuzz` goes on for ten minutes with new ones."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time

import pytest

from tests.fuzz import worker
from tests.fuzz.mutations import mutated_model, mutated_stream
from tests.fuzz.seeds import seeds
from tests.fuzz.worker import Budget, fuzz
from tests.support.spots import spots


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "cases"), [("model", 8_000), ("stream", 40_000), ("device", 1_000), ("library", 1_500)]
)
def test_damaged_input_breaks_no_promise(target: str, cases: int) -> None:
    if target == "library" and shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("no arm-none-eabi-g++: apt install gcc-arm-none-eabi")
    command = [sys.executable, "-m", "tests.fuzz", f"--{target}", str(cases), "--seconds", "600", "--seed", "test"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert ended.returncode == 0, ended.stdout
    assert f" {cases:,} " in ended.stdout


def test_spots_cover_every_operator_and_tensor() -> None:
    for model in seeds():
        found = spots(model)
        assert {spot.kind for spot in found} >= {"offset", "length", "vtable", "scalar", "element"}
        assert all(0 <= spot.position <= len(model) - spot.size for spot in found)


def test_mutations_keep_the_length_of_models_and_differ() -> None:
    numbers, model = random.Random(1), seeds()[0]  # noqa: S311 - no secret
    damaged = [mutated_model(numbers, model, spots(model)) for _ in range(100)]
    assert {len(each) for each in damaged} == {len(model)}
    assert len(set(damaged)) > 80
    assert len({mutated_stream(numbers, b"#H1 0 00000000 . {} 12345678\n") for _ in range(100)}) > 80


def check_hanging(_numbers: random.Random, data: bytes) -> str:
    if data == b"hang":
        time.sleep(10)
    return "ok"


def check_failing(_numbers: random.Random, data: bytes) -> str:
    return str(1 // (len(data) - 4))


@pytest.mark.parametrize(
    ("check", "told"), [(check_hanging, "HangError"), (check_failing, "ZeroDivisionError")], ids=["hang", "crash"]
)
def test_a_broken_promise_is_kept_with_its_input(check, told, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(worker, "FINDS", tmp_path)
    report = fuzz("x", lambda _: b"hang", check, seed="s", budget=Budget(1, 60), hang_s=1)
    (find,) = report.finds
    assert told in find
    assert [path.read_bytes() for path in tmp_path.glob("*.bin")] == [b"hang"]
