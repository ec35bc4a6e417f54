"""The names that people know TFLM by."""

import pytest

from harness.domain.distributions import DISTRIBUTIONS, distribution_named, similar_words
from harness.domain.estimate import Profile
from harness.domain.generations import GENERATIONS, canonical, generation_named, served
from harness.estimate import basis_of, has_profile


@pytest.mark.parametrize("package", DISTRIBUTIONS, ids=lambda each: "/".join(each.words))
def test_every_package_means_a_profile_that_there_is(package):
    profile = Profile(package.generation, "arm32", package.kernels, package.static_memory, frozenset(package.traits))
    assert has_profile(profile)
    assert basis_of(profile) in ("measured", "read")


def test_no_word_means_two_packages():
    words = [word for package in DISTRIBUTIONS for word in package.words]
    assert len(set(words)) == len(words)
    assert all(generation_named(word) is None for word in words)


@pytest.mark.parametrize(
    ("word", "generation"),
    [
        ("esp-tflite-micro@1.3.3~1", "2024-12"),
        ("esp-tflite-micro@1.2.0", "2023-09"),
        ("esp-tflite-micro", "2026-01"),
        ("Chirale", "2022-12"),
        ("neuralspot@0c46d6e", "2022-04"),
    ],
)
def test_a_word_means_a_version_or_the_newest(word, generation):
    found = distribution_named(word)
    assert found is not None
    assert found.generation == generation


@pytest.mark.parametrize("word", ["esp-tflite-micro@9.9", "tflite", "", "@"])
def test_other_words_mean_none(word):
    assert distribution_named(word) is None


def test_what_somebody_may_have_meant():
    assert similar_words("esp-tflite-micro@1.3.6")[0].startswith("esp-tflite-micro@1.3.")
    assert similar_words("chiral") == ["chirale"]


def test_the_arduino_ide_builds_without_static_memory():
    dynamic = {package.name for package in DISTRIBUTIONS if not package.static_memory}
    assert {"chirale", "tflite-micro-arduino-examples", "tensorflowlite_esp32"} <= dynamic


def test_generations_are_in_order_and_former_names_lead_to_present_ones():
    assert [each.name for each in served()] == sorted((each.name for each in served()), reverse=True)
    assert canonical("2026-08") == "2026-01"
    assert canonical("mine/tflm.toml") == "mine/tflm.toml"
    names = [name for each in GENERATIONS for name in (each.name, *each.aliases)]
    assert len(set(names)) == len(names)
