"""The library of a source tree, with a compiler that writes down what it was asked for."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from harness.bench.boards import load_board
from harness.build.inputs import collect_inputs
from harness.build.library import library
from harness.domain.firmware import TflmSource, ToolchainInfo
from harness.errors import BuildError, SourceError
from harness.files.cache import Cache, fingerprint


@dataclass
class WritingCompiler:
    """Makes an object file of a source's text."""

    compiled: list[str] = field(default_factory=list)
    refuses: str = ""
    meanwhile: object = None

    def identify(self):
        return ToolchainInfo("writing", "writing 1.0", Path("/usr/bin/writing"))

    def compile(self, source, target, flags):
        if source.stem == self.refuses:
            raise BuildError("no", where=source)
        self.compiled.append(source.stem)
        target.write_bytes(source.read_bytes())
        if callable(self.meanwhile):
            self.meanwhile(source)

    def archive(self, objects, target):
        target.write_bytes(b"|".join(path.read_bytes() for path in objects))


@dataclass
class Folder:
    """Provides the sources in a folder."""

    path: Path

    def fetch(self, progress):
        sources = tuple(sorted(self.path.glob("*.cc")))
        hashes = {path: fingerprint(path.read_bytes()) for path in sources}
        return TflmSource(
            generation="2020-07",
            version="of tests",
            content_hash=fingerprint(*hashes.values()),
            include_dirs=(self.path,),
            sources=sources,
            source_hashes=hashes,
        )


@pytest.fixture
def folder(tmp_path):
    for name in "abc":
        (tmp_path / "tree").mkdir(exist_ok=True)
        (tmp_path / "tree" / f"{name}.cc").write_text(name)
    return Folder(tmp_path / "tree")


@pytest.fixture
def compiler():
    return WritingCompiler()


@pytest.fixture
def build(tmp_path, folder, compiler):
    def make(tflm=folder):
        compiler.compiled.clear()
        inputs = collect_inputs(load_board("stm32f407-virtual"), tflm.fetch(None), compiler, None)
        return library(inputs, tflm, Cache(tmp_path / "cache"), lambda *_: None)

    return make


def test_what_did_not_change_is_not_compiled_again(build, folder, compiler):
    assert build().read_bytes() == b"a|b|c"
    assert sorted(compiler.compiled) == ["a", "b", "c"]
    build()
    assert compiler.compiled == []
    (folder.path / "b.cc").write_text("B")
    assert build().read_bytes() == b"a|B|c"
    assert compiler.compiled == ["b"]


def test_two_trees_share_what_is_the_same_in_both(build, folder, compiler, tmp_path):
    build()
    (tmp_path / "other").mkdir()
    for name, text in {"a": "a", "d": "d"}.items():
        (tmp_path / "other" / f"{name}.cc").write_text(text)
    assert build(Folder(tmp_path / "other")).read_bytes() == b"a|d"
    assert compiler.compiled == ["d"]
    assert build().read_bytes() == b"a|b|c"


def test_what_was_compiled_before_an_error_stays(build, folder, compiler):
    compiler.refuses = "c"
    with pytest.raises(BuildError):
        build()
    before = set(compiler.compiled)
    compiler.refuses = ""
    build()
    assert set(compiler.compiled) == {"a", "b", "c"} - before


def test_a_source_that_changes_while_it_is_compiled_is_refused_and_not_kept(build, folder, compiler):
    compiler.meanwhile = lambda source: source.stem == "b" and source.write_text("changed")
    with pytest.raises(SourceError, match="changed while they were compiled") as raised:
        build()
    assert raised.value.where == str(folder.path / "b.cc")
    compiler.meanwhile = None
    assert build().read_bytes() == b"a|changed|c"
    assert compiler.compiled == ["b"]


def test_without_hashes_of_sources_the_library_is_compiled_as_a_whole(tmp_path, folder, compiler):
    source = replace(folder.fetch(None), source_hashes={})
    inputs = collect_inputs(load_board("stm32f407-virtual"), source, compiler, None)
    cache = Cache(tmp_path / "cache")
    library(inputs, folder, cache, lambda *_: None)
    assert sorted(compiler.compiled) == ["a", "b", "c"]
    assert not (tmp_path / "cache" / "objects").exists()
