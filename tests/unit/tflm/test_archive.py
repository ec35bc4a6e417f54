import hashlib
import os
import shutil
import subprocess

import pytest

from harness.errors import SourceError
from harness.tflm.archive import read_library
from tests.support.tflm_parts import archive

GOOD = archive({"a.o": b"first", "b.o": b"second"}, {"one": ["a.o"], "two": ["b.o", "a.o"]})


@pytest.fixture
def write(tmp_path):
    def write(data):
        path = tmp_path / "libthing.a"
        path.write_bytes(data)
        return path

    return write


def test_members_symbols_and_hash(write):
    found = read_library(write(GOOD))
    assert [(member.name, data) for member, data in found.contents()] == [("a.o", b"first"), ("b.o", b"second")]
    assert found.symbols == {"one": ("a.o",), "two": ("b.o", "a.o")}
    assert found.sha256 == hashlib.sha256(GOOD).hexdigest()


@pytest.mark.parametrize(
    ("data", "what", "measured"),
    [
        (archive({}), "the library is empty", None),
        (archive({}, {}), "the library is empty", None),
        (b"", "no static library", "an empty file"),
        (b"\x7fELF" + bytes(100), "no static library", "an ELF file"),
        (b"#!/bin/sh\n", "no static library", "a file of another kind"),
        (archive({"a.o": b""}, magic=b"!<thin>\n"), "thin archive", None),
        (archive({"a.o": b"object"}), "no index of its symbols", None),
        (archive({"a.o": b"object"}, {}), "no index of its symbols", None),
        (GOOD[:-4], "damaged", None),
        (GOOD[:30], "damaged", None),
        (GOOD.replace(b"6         `", b"-60       `"), "damaged", None),
        (GOOD.replace(b"6         `", b"9999999999`"), "damaged", None),
        (GOOD.replace(b"b.o/", b"/77 "), "damaged", None),
        (GOOD.replace(b"b.o/", b"#1/x"), "damaged", None),
        (GOOD.replace(b"\0\0\0\x03", b"\xff\xff\xff\xff"), "damaged", None),
        (GOOD.replace(b"\0\0\0\x03", b"\0\0\0\x06"), "damaged", None),
    ],
)
def test_what_a_linker_would_not_take_is_refused_with_its_reason(write, data, what, measured):
    path = write(data)
    with pytest.raises(SourceError, match=what) as caught:
        read_library(path)
    assert caught.value.where == str(path)
    assert caught.value.measured == measured


def test_a_library_that_is_not_there(tmp_path):
    with pytest.raises(SourceError, match=r"cannot be read: No such file.*\nhint: correct `libraries`"):
        read_library(tmp_path / "libgone.a")
    with pytest.raises(SourceError, match="cannot be read: Is a directory"):
        read_library(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "lib.a")
    with pytest.raises(SourceError, match="no regular file"):
        read_library(tmp_path / "lib.a")


def test_a_library_of_the_real_archiver(tmp_path):
    compiler, archiver = shutil.which("arm-none-eabi-gcc"), shutil.which("arm-none-eabi-ar")
    if not compiler or not archiver:
        pytest.skip("no arm-none-eabi-gcc: apt install gcc-arm-none-eabi")
    name = "an_object_whose_name_is_longer_than_sixteen_bytes"
    (tmp_path / f"{name}.c").write_text("int answer(void) { return 42; }\nstatic int hidden;\n")
    subprocess.run([compiler, "-c", f"{name}.c"], cwd=tmp_path, check=True)
    subprocess.run([archiver, "rcs", "libone.a", f"{name}.o"], cwd=tmp_path, check=True)
    found = read_library(tmp_path / "libone.a")
    assert found.symbols == {"answer": (f"{name}.o",)}
    assert next(found.contents())[1] == (tmp_path / f"{name}.o").read_bytes()
