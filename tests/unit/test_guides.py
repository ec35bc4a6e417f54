"""The guides for boards and TFLM generations, followed to the letter."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from harness.bench.boards import board_ids, load_board
from tests.support.models import ModelBuilder
from tests.support.places import CHECKOUT

_TABLE = "GENERATIONS: Final[tuple[TflmGeneration, ...]] = (\n"
_OTHERS = "    ...,  # the others\n)\n"


def blocks(guide: str, language: str) -> list[str]:
    """What a guide shows of code in one language."""
    text = (CHECKOUT / guide).read_text(encoding="utf-8")
    found = re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for block in found]


def test_the_boards_of_the_guide_are_boards(tmp_path: Path) -> None:
    own, twin = blocks("boards/README.md", "toml")
    (tmp_path / "my-board.toml").write_text(own, encoding="utf-8")
    (tmp_path / "my-board-virtual.toml").write_text(twin, encoding="utf-8")
    real = load_board(str(tmp_path / "my-board.toml"))
    assert (real.flash_target, real.defines) == ("stm32f407xe", {"HSE_HZ": "25000000"})
    virtual = load_board(str(tmp_path / "my-board-virtual.toml"))
    assert virtual == replace(
        real, id=virtual.id, units="virtual", machine="stm32f407", defines=load_board("stm32f407-virtual").defines
    )


@pytest.mark.parametrize("board", board_ids())
def test_the_guide_names_every_key_that_a_board_uses(board: str) -> None:
    guide = (CHECKOUT / "boards" / "README.md").read_text(encoding="utf-8")
    for line in (CHECKOUT / "boards" / f"{board}.toml").read_text(encoding="utf-8").splitlines():
        key = re.match(r"(\w+) =", line)
        assert key is None or re.search(rf"`(\w+\.)?{key[1]}`", guide), line


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a copy of the package."""
    shutil.copytree(CHECKOUT / "harness", tmp_path / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    builder = ModelBuilder()
    tensors = [builder.input("x", [1, 64]), builder.tensor("y", [1, 64])]
    builder.operator("ADD", [tensors[0], tensors[0]], [tensors[1]])
    builder.output(tensors[1])
    path = tmp_path / "add.tflite"
    path.write_bytes(builder.build())
    return path


def tail_bytes(package: Path, model: Path, generation: str) -> int:
    run = subprocess.run(
        (sys.executable, "-m", "harness", "estimate", model, "--tflm", generation, "--format", "json"),
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    tail: int = json.loads(run.stdout)[0]["tail_bytes"]
    return tail


def test_the_generation_of_the_guide_is_estimated(package: Path, model: Path) -> None:
    entry, layout = blocks("harness/tflm/README.md", "python")
    assert entry.startswith(_TABLE)
    assert entry.endswith(_OTHERS)
    table = package / "harness" / "domain" / "generations.py"
    text = table.read_text(encoding="utf-8")
    assert text.count(_TABLE) == 1
    table.write_text(text.replace(_TABLE, entry.removesuffix(_OTHERS)), encoding="utf-8")
    module = re.search(r'layout="(\w+)"', entry)
    assert module
    (package / "harness" / "estimate" / "layout" / f"{module[1]}.py").write_text(layout, encoding="utf-8")
    assert tail_bytes(package, model, "2026-11") - tail_bytes(package, model, "2026-01") == 16
