import pytest

from harness.errors import UsageError
from harness.files.toml import read_toml, refuse_unknown_keys


def test_a_file_is_its_table(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("number = 3\n")
    assert read_toml(path).integer("number") == 3


@pytest.mark.parametrize("data", [b"number =", b"\xff\xfeo", b"a = " + b"[" * 50_000, b"a = " + b"9" * 5_000])
def test_what_is_no_toml(tmp_path, data):
    path = tmp_path / "a.toml"
    path.write_bytes(data)
    with pytest.raises(UsageError, match="no TOML"):
        read_toml(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_toml(tmp_path / "none.toml")


def test_a_misspelt_key_names_the_nearest(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("bord = 3\n")
    with pytest.raises(UsageError) as raised:
        refuse_unknown_keys(read_toml(path), ["board", "probe"])
    assert "did you mean board?" in str(raised.value)
