"""Text as editors and shells write it."""

import pytest

from harness.errors import ResultError
from harness.files.text import decoded, read_json
from harness.files.toml import read_toml

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
WRITTEN = 'name = "Modèle ✓"\n'


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_unicode_encoding_is_read(encoding):
    assert decoded(WRITTEN.encode(encoding)) == WRITTEN


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_and_toml_are_read_in_each(encoding, tmp_path):
    (tmp_path / "a.toml").write_bytes(WRITTEN.encode(encoding))
    (tmp_path / "a.json").write_bytes('[{"name": "Modèle ✓"}]'.encode(encoding))
    assert read_toml(tmp_path / "a.toml").text("name") == "Modèle ✓"
    assert read_json(tmp_path / "a.json", 1000, ResultError) == [{"name": "Modèle ✓"}]


@pytest.mark.parametrize("data", [WRITTEN.encode("latin-1", "replace"), b"\xff\xfeo", b"{\xff"])
def test_other_encodings_are_refused_with_what_to_do(data, tmp_path):
    (tmp_path / "a.toml").write_bytes(data)
    for read in (lambda path: read_toml(path, error=ResultError), lambda path: read_json(path, 1000, ResultError)):
        with pytest.raises(ResultError, match="save it as UTF-8"):
            read(tmp_path / "a.toml")


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b"[" + b"9" * 5000 + b"]"])
def test_what_is_no_json_is_refused(text, tmp_path):
    (tmp_path / "a.json").write_bytes(text)
    with pytest.raises(ResultError, match="this is no JSON"):
        read_json(tmp_path / "a.json", 1_000_000, ResultError)
