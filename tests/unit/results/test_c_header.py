from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.estimate import Estimate, Profile
from harness.results.c_header import Header, render_header

ESTIMATE = Estimate(
    model="kws-int8.tflite",
    sha256="ab" * 32,
    profile=Profile("2026-08", "arm32", "cmsis-nn"),
    method="layout",
    arena_used_bytes=100,
    head_bytes=60,
    tail_bytes=40,
    min_working_arena_bytes=120,
    recommended_arena_bytes=144,
)


def render(*models: str, command: str = "harness estimate", file_name: str | None = "arena_sizes.h") -> Header:
    estimates = [replace(ESTIMATE, model=model, recommended_arena_bytes=16 * n) for n, model in enumerate(models, 1)]
    return render_header(estimates, margin_percent=12.5, command=command, file_name=file_name)


def macros(header: Header) -> dict[str, int]:
    found = re.findall(r"^#define (\w+) (\d+)$", header.text, flags=re.MULTILINE)
    return {name: int(value) for name, value in found}


def test_each_model_has_its_macro() -> None:
    assert macros(render("kws-int8.tflite", "person detect.tflite")) == {
        "KWS_INT8_ARENA_BYTES": 16,
        "PERSON_DETECT_ARENA_BYTES": 32,
    }


def test_it_says_where_the_numbers_come_from() -> None:
    text = render("kws.tflite", command="harness estimate kws.tflite --margin 12.5").text
    for fact in (
        "Made by: harness estimate kws.tflite --margin 12.5",
        "SHA-256: " + "ab" * 32,
        "TFLM: 2026-01, ABI arm32, kernels cmsis-nn",
        "margin: 12.5 %",
        "smallest working arena: 120 bytes",
    ):
        assert fact in text


def test_the_command_is_whole_so_that_it_can_be_called_again() -> None:
    command = "harness estimate " + " ".join(f"models/{number}.tflite" for number in range(200))
    assert f" * Made by: {command}\n" in render("kws.tflite", command=command).text
    assert f"{'x' * 390}..." in render("x" * 500).text


def test_the_guard_is_made_of_the_file_s_name() -> None:
    assert "#ifndef ARENA_SIZES_H_INCLUDED\n#define ARENA_SIZES_H_INCLUDED\n" in render("kws.tflite").text
    assert "#ifndef HARNESS_ARENA_SIZES_INCLUDED\n" in render("kws.tflite", file_name=None).text


def test_equal_macros_are_told_apart_and_said() -> None:
    header = render("a-b.tflite", "a_b.tflite", "a b.tflite", "a_b_2.tflite")
    assert list(macros(header)) == ["A_B_ARENA_BYTES", "A_B_3_ARENA_BYTES", "A_B_4_ARENA_BYTES", "A_B_2_ARENA_BYTES"]
    assert header.notes == (
        "a_b.tflite: its macro is A_B_3_ARENA_BYTES, because another model took A_B_ARENA_BYTES",
        "a b.tflite: its macro is A_B_4_ARENA_BYTES, because another model took A_B_ARENA_BYTES",
    )
    assert all(note in header.text for note in header.notes)


@pytest.mark.parametrize(
    ("model", "macro"),
    [
        ("96x96.tflite", "MODEL_96X96_ARENA_BYTES"),
        ("日本.tflite", "MODEL_ARENA_BYTES"),
        ("__x__.tflite", "X_ARENA_BYTES"),
        ("ß.tflite", "MODEL_ARENA_BYTES"),
    ],
)
def test_odd_names_give_valid_macros(model: str, macro: str) -> None:
    assert list(macros(render(model))) == [macro]


def test_the_same_estimates_give_the_same_text() -> None:
    assert render("a.tflite", "b.tflite") == render("a.tflite", "b.tflite")


HOSTILE = ("*/ int x; /*.tflite", 'quote".tflite', "new\nline\\.tflite", "??/.tflite", "\\", "//", "int.tflite")


@pytest.mark.parametrize(("compiler", "language"), [("gcc", "c"), ("g++", "c++")])
@pytest.mark.parametrize("models", [("ad01_int8.tflite", "kws_int8.tflite"), HOSTILE], ids=["two", "hostile"])
def test_it_compiles_without_a_warning(models: tuple[str, ...], compiler: str, language: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} on this machine")
    header = render(*models, command=f"harness estimate {' '.join(models)}")
    (tmp_path / "arena_sizes.h").write_text(header.text, encoding="utf-8")
    arrays = "".join(f"extern unsigned char a{n}[{name}];\n" for n, name in enumerate(macros(header)))
    source = '#include "arena_sizes.h"\n#include "arena_sizes.h"\n' + arrays
    ended = subprocess.run(
        [compiler, "-x", language, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{tmp_path}", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6), st.text(max_size=60))
@settings(max_examples=200)
def test_no_name_breaks_out_of_a_comment(models: list[str], command: str) -> None:
    header = render(*models, command=command)
    code = re.sub(r"/\*.*?\*/", "", header.text, flags=re.DOTALL)
    lines = [line for line in code.splitlines() if line.strip()]
    guard = "ARENA_SIZES_H_INCLUDED"
    assert [line.strip() for line in (lines[0], lines[1], lines[-1])] == [
        f"#ifndef {guard}",
        f"#define {guard}",
        "#endif",
    ]
    assert all(re.fullmatch(r"#define [A-Z][A-Z0-9_]* \d+", line) for line in lines[2:-1])
    assert len(macros(header)) == len(models)
    assert "__" not in code
