from __future__ import annotations

import csv
from pathlib import Path

import pytest

from harness.domain.estimate import Profile
from harness.domain.generations import GENERATIONS, TflmGeneration
from harness.errors import UsageError
from harness.estimate import ModelFile, estimate, read_model
from harness.estimate.layout.generation import POINTER_BYTES, generation_of, installed_generations, struct_sizes
from tests.support.models import chain, delay_line
from tests.support.places import SHARED, SHARED_MODELS

SERVED = ("2020-07", "2022-04", "2022-12", "2023-06", "2023-09", "2024-09", "2024-12", "2026-01")
DIFFERENCES = {
    "hello_world_int8": (0, 0, -16, -16, -16),
    "ad01_int8": (0, 0, -16, -48, -48),
    "keyword_svdf_int8": (0, 0, 0, -32, -32),
    "kws_int8": (0, 0, 0, -16, -16),
    "person_detect_int8": (0, 0, 0, -64, -64),
    "resnet8_int8": (0, 0, 0, -48, -48),
    "okay_nabu_streaming_int8": (0, 256, 256, 240, 192),
    "mean_float": (-32, -32, -32, -32, -32),
    "sqrt_mean_mul_float": (-32, -32, -32, -32, -32),
}
"""What public models use in 2024-12, 2024-09, 2023-09, 2023-06 and 2022-12, less what they use in 2026-01."""


def used(name: str, profile: Profile) -> int:
    path = SHARED_MODELS / f"{name}.tflite"
    if not path.is_file():
        pytest.skip(f"no {path.name} beside the checkout")
    return estimate(read_model(path), profile).arena_used_bytes


def test_those_that_are_served_have_a_layout() -> None:
    assert installed_generations() == SERVED


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("abi", POINTER_BYTES)
def test_every_generation_has_every_size_for_every_abi(name: str, abi: str) -> None:
    profile = Profile(name, abi)
    if abi == "x86-64" and name not in ("2020-07", "2026-01"):
        with pytest.raises(UsageError, match="not known for x86-64"):
            generation_of(profile)
        return
    generation = generation_of(profile)
    target = generation.target(profile)
    assert generation.id == name
    assert target.sizes.keys() == generation.struct_sizes.keys()
    assert all(size > 0 for size in target.sizes.values())


@pytest.mark.parametrize("name", DIFFERENCES)
def test_what_the_generations_differ_in(name: str) -> None:
    newest = used(name, Profile("2026-01", "arm32"))
    older = ("2024-12", "2024-09", "2023-09", "2023-06", "2022-12")
    assert tuple(used(name, Profile(each, "arm32")) - newest for each in older) == DIFFERENCES[name]


TRUTH = SHARED / "truth" / "generations.csv"


@pytest.mark.skipif(not TRUTH.is_file(), reason="no measured truth beside the checkout")
def test_the_estimate_equals_what_libraries_of_older_generations_took() -> None:
    with TRUTH.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for row in rows:
        made = estimate(read_model(SHARED_MODELS / row["model"]), Profile(row["generation"], "arm32"))
        found[row["generation"], row["model"]] = (made.arena_used_bytes, made.min_working_arena_bytes)
    assert found == {(row["generation"], row["model"]): (int(row["used"]), int(row["min"])) for row in rows}
    assert rows


def test_without_static_memory_tensors_and_nodes_are_larger() -> None:
    model = ModelFile.of("m", chain("NEG", "NEG").build())
    static, dynamic = (estimate(model, Profile("2022-12", "arm32", static_memory=static)) for static in (True, False))
    grown = {
        one.name: other.size_bytes - one.size_bytes
        for one, other in zip(static.sections, dynamic.sections, strict=True)
        if one.size_bytes != other.size_bytes
    }
    assert grown["node_and_registration"] == 2 * (44 - 32)
    assert grown["persistent_tensors"] == 2 * (64 - 40)


@pytest.mark.parametrize(("trait", "more"), [("small-variables", -4), ("first-lstm", 0)])
def test_traits_make_a_difference_inside_a_generation(trait: str, more: int) -> None:
    model = ModelFile.of("m", delay_line(size=256).build())
    plain, other = (generation_of(Profile("2022-12", "arm32", traits=frozenset(each))) for each in ((), (trait,)))
    sizes = [each.struct_sizes["MicroResourceVariable"][0] for each in (plain, other)]
    assert sizes[1] - sizes[0] == more
    assert estimate(model, Profile("2022-12", "arm32", traits=frozenset({trait}))).arena_used_bytes > 0


def test_the_devices_sizes_tell_the_generations_apart() -> None:
    told = ("TfLiteConvParams", "TfLiteStridedSliceParams", "OpDataReduce", "OpDataFullyConnected")
    sizes = {name: tuple(struct_sizes(Profile(name, "arm32"))[each] for each in told) for name in SERVED[2:]}
    assert sizes == {
        "2022-12": (24, 20, 40, 36),
        "2023-06": (24, 24, 40, 36),
        "2023-09": (28, 24, 40, 36),
        "2024-09": (28, 24, 40, 48),
        "2024-12": (28, 24, 40, 48),
        "2026-01": (28, 24, 44, 48),
    }


def test_a_former_name_means_the_same() -> None:
    assert Profile("2026-08", "arm32") == Profile("2026-01", "arm32")
    assert Profile("2026-08", "arm32").former_ids == ("2026-08-arm32-reference",)


@pytest.mark.parametrize("name", ["2022-09", "2021-05", "TF 2.4"])
def test_a_generation_that_is_not_served_says_why(name: str) -> None:
    with pytest.raises(UsageError, match=f"TFLM {name} is not served") as caught:
        generation_of(Profile(name, "arm32"))
    assert "take a release" in caught.value.hint


def test_a_new_generation_is_one_entry_and_one_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tflm_2031_05.py").write_text(
        "from dataclasses import replace\n"
        "from harness.estimate.layout import tflm_2026_01 as older\n"
        "from harness.estimate.layout.modern.tables import changed, generation\n"
        "from harness.estimate.layout.rules import rule\n"
        "GENERATION = generation('2031-05', replace(older.TABLES, reference=changed(older.TABLES.reference, "
        "{'NEG': rule(0, 400)})))\n"
    )
    entry = TflmGeneration("2031-05", "", "2031-05-01", "", "tflm_2022_10", "tests_layouts.tflm_2031_05")
    monkeypatch.setattr("harness.domain.generations.GENERATIONS", (entry, *GENERATIONS))
    monkeypatch.setattr("harness.estimate.layout.generation.GENERATIONS", (entry, *GENERATIONS))
    (tmp_path / "tests_layouts").mkdir()
    (tmp_path / "tflm_2031_05.py").rename(tmp_path / "tests_layouts" / "tflm_2031_05.py")
    monkeypatch.syspath_prepend(tmp_path)
    model = ModelFile.of("m", chain("NEG").build())
    new, old = (estimate(model, Profile(name, "arm32")).arena_used_bytes for name in ("2031-05", "2026-01"))
    assert 400 <= new - old < 432  # what is allocated behind it may lie 16 bytes off
    assert "2031-05" in installed_generations()


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (Profile("2019-01", "arm32"), "TFLM generation '2019-01'"),
        (Profile("2026-08", "avr"), "ABI 'avr'"),
        (Profile("2020-07", "arm32", "cmsis-nn"), "kernel set of TFLM 2020-07 'cmsis-nn'"),
    ],
)
def test_an_unknown_profile_lists_what_there_is(profile: Profile, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        generation_of(profile)
    assert "one of" in str(caught.value)
