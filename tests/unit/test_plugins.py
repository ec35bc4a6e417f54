"""What words after --tflm mean."""

import pytest

from harness import plugins
from harness.domain.tflm_options import TflmOptions
from harness.errors import UsageError
from harness.tflm.crate import CrateProvider
from harness.tflm.tree import TreeProvider


@pytest.mark.parametrize(
    ("word", "name"),
    [
        *(("crate", "crate"), ("2020-07", "crate"), ("mine/tflm.toml", "mine/tflm.toml")),
        *(("2020-07.toml", "2020-07.toml"), ("./crate", "./crate"), ("mine/tflite-micro", "mine/tflite-micro")),
    ],
)
def test_a_tflm_goes_by_provider_generation_manifest_or_folder(word, name):
    assert plugins.tflm_name(word) == name


def test_a_generation_is_built_by_the_provider_that_brings_it():
    assert isinstance(plugins.tflm_provider("2020-07"), CrateProvider)


def test_a_folder_is_a_source_tree_unless_a_provider_has_its_name(tmp_path, monkeypatch):
    for name in ("crate", "tflite-micro"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert isinstance(plugins.tflm_provider("crate"), CrateProvider)
    assert isinstance(plugins.tflm_provider("tflite-micro"), TreeProvider)


def test_only_a_source_tree_has_a_choice_of_kernels():
    with pytest.raises(UsageError, match="choice of kernels"):
        plugins.tflm_provider("crate", TflmOptions(kernels="cmsis-nn"))


@pytest.mark.parametrize("word", ["2026-08", "creat", ""])
def test_another_word_is_refused_with_what_can_be_said(word):
    with pytest.raises(UsageError) as refusal:
        plugins.tflm_provider(word)
    assert refusal.value.expected == (
        "crate (TFLM 2020-07) or the folder of TFLM's sources or the path of a manifest (.toml)"
    )
    assert "Use your TFLM" in refusal.value.hint
