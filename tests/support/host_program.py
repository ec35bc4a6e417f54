"""A small program for this machine: its ELF file serves where any will do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def compiled(folder: Path, *flags: str) -> Path:
    """The file of a program whose `main` returns at once."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a compiler for this machine: gcc")
    source, program = folder / "main.c", folder / "main"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run([compiler, "-g", *flags, str(source), "-o", str(program)], check=True, timeout=60)
    return program
