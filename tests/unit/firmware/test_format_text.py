"""The firmware's own printf, as far as TFLM's messages need it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.files.resources import firmware_dir

# The program is compiled once for all of them.
pytestmark = pytest.mark.xdist_group("format_text")

EXPECTED = [
    "nothing to format",
    "0 -7 -2147483648",
    "4294967295 beef 0",
    "-8 9 -9223372036854775808 18446744073709551615",
    "10 -11 12 13 14",
    "text|c|20000010",
    "(null)",
    "abc xy ",
    "1|left|2|3|5 6",
    "1.500000 -0.003922 1000000.000000 999999999.000000",
    "? ? -?",
    "100% sure",
]
# Buffers that are too small: what fits, and how long the text would have been.
CUT_OFF = [(17, "longer "), (8, "1234567"), (1, ""), (1, "")]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a compiler for this machine: g++")
    program = tmp_path_factory.mktemp("format") / "format"
    sources = [firmware_dir() / "app/format_text.cc", Path(__file__).parent / "format_cases.cc"]
    flags = ["-std=c++17", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", f"-I{firmware_dir()}"]
    subprocess.run([compiler, *flags, *map(str, sources), "-o", str(program)], check=True, timeout=120)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


def test_texts(lines):
    assert lines[: len(EXPECTED)] == [f"{len(text)} {text}" for text in EXPECTED]


def test_texts_that_do_not_fit(lines):
    assert lines[len(EXPECTED) :] == [f"{length} {text}" for length, text in CUT_OFF]
