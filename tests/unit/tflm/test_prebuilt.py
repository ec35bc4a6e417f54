import pytest

from harness.errors import BenchError, SourceError, UsageError
from harness.plugins import tflm_provider
from harness.ports import Verifiable
from harness.tflm.findings import LibraryFinding, obstacle, raise_first
from harness.tflm.prebuilt import PrebuiltProvider
from tests.support.tflm_parts import INTERPRETER, RECORDING, header_tree, library, manifest


def ignore(what, done, total):
    pass


@pytest.fixture
def path(tmp_path):
    made = library(tmp_path / "libtflm.a", INTERPRETER, RECORDING, "_ZN6tflite16Register_CONV_2DEv")
    return manifest(tmp_path, header_tree(tmp_path, "2026-08"), [made])


def test_the_path_of_a_manifest_names_the_provider(path):
    provider = tflm_provider(str(path))
    assert isinstance(provider, PrebuiltProvider)
    assert isinstance(provider, Verifiable)
    source = provider.fetch(ignore)
    assert [one.operator for one in source.registrations] == ["CONV_2D"]
    assert source.libraries == (path.parent / "libtflm.a",)
    assert source.sources == ()


def test_without_a_manifest():
    with pytest.raises(UsageError, match="needs a manifest"):
        tflm_provider("prebuilt").fetch(ignore)


def test_what_stands_in_the_way_is_raised(path):
    (path.parent / "libtflm.a").write_bytes(b"!<arch>\n")
    with pytest.raises(SourceError, match="the library is empty"):
        PrebuiltProvider(path).fetch(ignore)


def test_a_changed_library_and_a_changed_header_show_in_the_hashes(path):
    before = PrebuiltProvider(path).fetch(ignore)
    library(path.parent / "libtflm.a", INTERPRETER, RECORDING, "_ZN6tflite16Register_SOFTMAXEv")
    (path.parent / "third_party/flatbuffers/flatbuffers.h").write_text("// changed")
    after = PrebuiltProvider(path).fetch(ignore)
    assert before.content_hash != after.content_hash
    assert before.header_hash != after.header_hash


def test_the_first_obstacle_says_how_to_see_the_others(tmp_path):
    findings = [
        LibraryFinding("operators", "only good to know"),
        obstacle("headers", SourceError("first", where="here", measured=1, expected=2, hint="mend it")),
        obstacle("abi", SourceError("second")),
    ]
    with pytest.raises(BenchError) as caught:
        raise_first(findings, tmp_path / "tflm.toml")
    assert str(caught.value) == (
        "here: first\nfound 1, expected 2\n"
        f"hint: mend it; all 2 findings: harness tflm check {tmp_path / 'tflm.toml'} --board …"
    )
    raise_first(findings[:1], tmp_path)
