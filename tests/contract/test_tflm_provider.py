"""What every TflmProvider has to do."""

import re

import pytest

from harness import plugins
from harness.domain.generations import layer_of
from harness.errors import SourceError
from harness.files.resources import firmware_dir
from tests.support.tflm_parts import INTERPRETER, RECORDING, header_tree, library, manifest


def ignore(what, done, total):
    pass


@pytest.fixture(params=sorted(plugins.installed(plugins.TFLM)))
def source(request, tmp_path):
    name = request.param
    if name == plugins.PREBUILT:
        made = library(tmp_path / "libtflm.a", INTERPRETER, RECORDING, "_ZN6tflite16Register_CONV_2DEv")
        name = str(manifest(tmp_path, header_tree(tmp_path, "2026-08"), [made]))
    try:
        if name == plugins.TREE:
            name = str(plugins.tflm_provider("crate").fetch(ignore).include_dirs[0])
        return plugins.tflm_provider(name).fetch(ignore)
    except SourceError as error:
        pytest.skip(f"{error.what}: {error.hint}")


def test_everything_it_names_is_there(source):
    assert bool(source.sources) != bool(source.libraries)
    assert all(path.is_file() for path in (*source.sources, *source.libraries))
    assert all(path.is_dir() for path in source.include_dirs)
    assert any((folder / "tensorflow/lite/micro/micro_interpreter.h").is_file() for folder in source.include_dirs)


def test_no_source_is_named_twice_and_none_is_a_test(source):
    assert len(set(source.sources)) == len(source.sources)
    assert not [path.name for path in source.sources if path.stem.endswith("_test")]


def test_it_has_operators_each_once(source):
    names = [registration.operator for registration in source.registrations]
    assert "CONV_2D" in names
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"Add\w+\(.*\)", registration.call) for registration in source.registrations)


def test_it_is_identified_by_a_hash(source):
    assert re.fullmatch("[0-9a-f]{64}", source.content_hash)


def test_the_firmware_has_a_layer_for_its_generation(source):
    assert (firmware_dir() / "tflm" / f"{layer_of(source.generation)}.cc").is_file()


@pytest.mark.parametrize("name", plugins.GENERATIONS)
def test_a_generation_known_beforehand_is_the_one_that_comes(name):
    try:
        source = plugins.tflm_provider(name).fetch(ignore)
    except SourceError as error:
        pytest.skip(f"{error.what}: {error.hint}")
    assert source.generation == plugins.GENERATIONS[name]
