from __future__ import annotations

import pytest

from harness.domain.estimate import Profile
from harness.errors import UsageError
from harness.estimate.layout.generation import POINTER_BYTES, generation_of, installed_generations


def test_generations_are_found_by_their_files() -> None:
    assert installed_generations() == ("2020-07", "2026-08")


@pytest.mark.parametrize("name", installed_generations())
@pytest.mark.parametrize("abi", POINTER_BYTES)
def test_every_generation_has_every_size_for_every_abi(name: str, abi: str) -> None:
    generation = generation_of(Profile(name, abi))
    target = generation.target(Profile(name, abi))
    assert generation.id == name
    assert target.sizes.keys() == generation.struct_sizes.keys()
    assert all(size > 0 for size in target.sizes.values())


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
