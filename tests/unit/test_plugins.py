"""What words after --tflm mean."""

import pytest

from harness import plugins
from harness.errors import UsageError
from harness.tflm.crate import CrateProvider


@pytest.mark.parametrize(
    ("word", "name"),
    [("crate", "crate"), ("2020-07", "crate"), ("mine/tflm.toml", "mine/tflm.toml"), ("2020-07.toml", "2020-07.toml")],
)
def test_a_tflm_goes_by_provider_generation_or_manifest(word, name):
    assert plugins.tflm_name(word) == name


def test_a_generation_is_built_by_the_provider_that_brings_it():
    assert isinstance(plugins.tflm_provider("2020-07"), CrateProvider)


@pytest.mark.parametrize("word", ["2026-08", "creat", ""])
def test_another_word_is_refused_with_what_can_be_said(word):
    with pytest.raises(UsageError) as refusal:
        plugins.tflm_provider(word)
    assert refusal.value.expected == "crate (TFLM 2020-07) or the path of a manifest (.toml)"
    assert "Use your TFLM" in refusal.value.hint
