"""Corrections as files, and what they do to an estimate."""

from dataclasses import replace

import pytest

from harness.domain.correction import Correction
from harness.domain.estimate import Profile
from harness.errors import ResultError
from harness.estimate.corrections import corrected, load_correction, same_but_for_the_date, to_toml
from tests.support.tuning import PROFILE, estimate, fitted, measurement


def planted() -> Correction:
    correction = fitted(*[(one, measurement(one, head=32, tail=-4)) for one in map(estimate, range(5))])
    return replace(correction, files=('odd "name"\n\x7f.json',))


def test_a_correction_survives_its_file(tmp_path):
    correction = planted()
    (tmp_path / f"{PROFILE.id}.toml").write_text(to_toml(correction))
    assert load_correction(tmp_path, PROFILE) == correction
    assert load_correction(tmp_path, Profile("2026-08", "arm32")) is None
    assert load_correction(None, PROFILE) is None


def test_only_the_date_differs_from_day_to_day():
    correction = planted()
    tomorrow = to_toml(replace(correction, date="2026-11-30"))
    assert same_but_for_the_date(to_toml(correction), tomorrow)
    assert not same_but_for_the_date(to_toml(correction), to_toml(replace(correction, minimum_bytes=99)))


@pytest.mark.parametrize(
    ("old", "new"), [("size_bytes = 32", "size_bytes = 1.5"), ('region = "head"', 'region = "middle"'), ("[", "[[")]
)
def test_a_broken_file_is_named(tmp_path, old, new):
    path = tmp_path / f"{PROFILE.id}.toml"
    path.write_text(to_toml(planted()).replace(old, new, 1))
    with pytest.raises(ResultError) as caught:
        load_correction(tmp_path, PROFILE)
    assert str(path) in caught.value.where


def test_a_correction_is_for_its_own_profile_and_method():
    correction = planted()
    plain = estimate(1)
    assert corrected(plain, None) == plain
    assert corrected(replace(plain, method="host"), correction).corrections == ()
    assert corrected(replace(plain, profile=Profile("2020-07", "arm32")), correction).corrections == ()
    changed = corrected(plain, correction)
    assert changed.corrections == (correction.id,)
    assert sum(part.size_bytes for part in changed.sections) == changed.arena_used_bytes
    assert (changed.head_bytes, changed.tail_bytes) == (plain.head_bytes + 32, plain.tail_bytes - 4)
