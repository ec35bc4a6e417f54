from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.estimate.reading import model_file
from harness.estimate.reading.model_file import read_model, what_is
from tests.support.models import chain


def write(folder: Path, data: bytes) -> Path:
    path = folder / "model.tflite"
    path.write_bytes(data)
    return path


def test_a_model_comes_with_its_hash(tmp_path: Path) -> None:
    data = chain("RELU").build()
    model = read_model(write(tmp_path, data))
    assert (model.name, model.data) == ("model.tflite", data)
    assert model.sha256 == hashlib.sha256(data).hexdigest()


def test_a_name_that_is_no_utf_8_becomes_text(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"non\xffutf8.tflite")
    path.write_bytes(chain("TANH").build())
    assert read_model(path).name == r"non\xffutf8.tflite"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        read_model(tmp_path / "none.tflite")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="folder"):
        read_model(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="no regular file"):
        read_model(tmp_path / "pipe")


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(ModelError):
        read_model(Path("a\0b"))


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "MAX_BYTES", 100)
    with pytest.raises(ModelError, match="too large"):
        read_model(write(tmp_path, chain("RELU").build()))


def test_a_git_lfs_pointer_says_how_to_fetch(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n"
    with pytest.raises(ModelError, match="this is a Git LFS pointer, fetch the file") as caught:
        read_model(write(tmp_path, pointer))
    assert caught.value.hint == "git lfs pull"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "an empty file"),
        (b"\x7fELF\x02\x01\x01\x00", "ELF"),
        (gzip.compress(b"x", mtime=0), "gzip"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"just words\n", "a text file"),
        (b"\x18\x00\x00\x00TFL2rest", "another schema (TFL2)"),
        (b"\x00\x01\x02\xff\xfe\x00\x00\x00\x00", "9 bytes that start with 00 01 02 ff"),
    ],
)
def test_what_is_no_model_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    assert words in what_is(data)
    with pytest.raises(ModelError, match="no TensorFlow Lite model") as caught:
        read_model(write(tmp_path, data))
    assert words in str(caught.value)


def test_a_zip_archive_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("model", "x")
    assert "zip archive" in what_is((tmp_path / "a.zip").read_bytes())
