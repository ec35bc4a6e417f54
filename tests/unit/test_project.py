"""The project itself: what is committed, what is pinned, what a wheel carries, how the code is cut."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from harness.tflm.crate import CrateProvider
from tests.support.models import chain
from tests.support.places import CHECKOUT

SCRIPTS = [CHECKOUT / ".ci" / "run", *sorted((CHECKOUT / ".setup").glob("*.sh"))]
MODULES = sorted((CHECKOUT / "harness").rglob("*.py"))

# In pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = [
    f"{name}.{domain}"
    for name, domain in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("crates", "io"),
        ("deb.debian", "org"),
        ("npmjs", "org"),
        ("proxy.golang", "org"),
    ]
]


def output_of(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=CHECKOUT, env=os.environ | environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def committed() -> list[Path]:
    """The files that git knows, relative to the checkout."""
    if not (CHECKOUT / ".git").exists():
        pytest.skip("this is no git checkout")
    listing = output_of("git", "ls-files", "-z")
    assert listing.returncode == 0, listing.stderr
    return [Path(name) for name in listing.stdout.split("\0") if name and (CHECKOUT / name).is_file()]


def test_the_top_level_holds_only_what_the_layout_names(committed: list[Path]) -> None:
    allowed = {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "Makefile",
        "harness",
        "firmware",
        "boards",
        "tests",
        "results",
    }
    top = {path.parts[0] for path in committed if not path.parts[0].startswith(".")}
    assert top <= allowed


def test_no_lock_file_is_committed(committed: list[Path]) -> None:
    assert not [path for path in committed if path.name in {"uv.lock", "Cargo.lock"}]


def test_no_package_registry_is_named(committed: list[Path]) -> None:
    naming = [
        f"{path}: {host}"
        for path in committed
        for host in REGISTRY_HOSTS
        if host.encode() in (CHECKOUT / path).read_bytes().lower()
    ]
    assert not naming


def pinned_requirements() -> list[tuple[Requirement, str]]:
    """Each pin of the requirements file, with the text of its hashes."""
    text = (CHECKOUT / ".setup" / "requirements.txt").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE))
    pins = [block.partition(" \\\n") for block in blocks]
    return [(Requirement(pin), hashes) for pin, _, hashes in pins]


def wanted_requirements() -> list[Requirement]:
    """What pyproject.toml asks for, the extras included."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    return [Requirement(line) for line in [*project["dependencies"], *(line for extra in extras for line in extra)]]


def test_every_python_package_is_pinned_with_hashes() -> None:
    for requirement, hashes in pinned_requirements():
        assert [specifier.operator for specifier in requirement.specifier] == ["=="], requirement
        assert "--hash=sha256:" in hashes, requirement


def test_the_pins_satisfy_what_the_project_asks_for() -> None:
    pinned: dict[str, list[Version]] = {}
    for pin, _ in pinned_requirements():
        pinned.setdefault(pin.name.lower(), []).append(Version(next(iter(pin.specifier)).version))
    for wanted in wanted_requirements():
        versions = pinned.get(wanted.name.lower(), [])
        assert versions, f"{wanted.name} is not pinned: make lock"
        for version in versions:
            assert wanted.specifier.contains(version, prereleases=True), f"{wanted} but {version} is pinned: make lock"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_can_be_run(script: Path) -> None:
    assert os.access(script, os.X_OK)


def test_scripts_are_sound() -> None:
    findings = output_of("shellcheck", *SCRIPTS)
    assert findings.returncode == 0, findings.stdout


def test_make_help_lists_every_target() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony
    assert (
        re.findall(r"^make ([\w-]+)", output_of("make", "--no-print-directory", "help").stdout, re.MULTILINE)
        == phony[1].split()
    )


def test_what_tests_share_lies_in_support(committed: list[Path]) -> None:
    tests = [path for path in committed if path.parts[0] == "tests" and path.suffix == ".py"]
    importing = {
        path: found
        for path in tests
        if (found := re.findall(r"\btests(?:\.\w+)*\.(?:test_\w+|conftest)\b", (CHECKOUT / path).read_text("utf-8")))
    }
    assert not importing, "no test module is imported by another, and no conftest by anybody"
    collected = {"unit", "contract", "e2e"}  # the other folders are tools, of which some also test themselves
    helpers = [path for path in tests if path.parts[1] in collected and not re.match("test_|conftest", path.name)]
    assert not helpers, "tests.support is the place for helpers"


def test_modules_are_short() -> None:
    lengths = {path.relative_to(CHECKOUT): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not {path: length for path, length in lengths.items() if length >= 300}


def functions() -> Iterator[int]:
    """The length of each function, in lines from its first statement after the docstring to its last."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                yield node.end_lineno - body[0].lineno + 1 if body and node.end_lineno else 0


def test_functions_are_short() -> None:
    lengths = list(functions())
    assert statistics.median(lengths) <= 10
    assert sum(length > 35 for length in lengths) <= len(lengths) * 0.02


def imported_by(*arguments: str) -> set[str]:
    """The names of the top-level packages that a harness command imports."""
    run = output_of(sys.executable, "-X", "importtime", "-m", "harness", *arguments)
    assert run.returncode == 0, run.stderr[-2000:]
    return {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in run.stderr.splitlines() if "|" in line}


def test_help_imports_nothing_heavy() -> None:
    assert not imported_by("--help") & {"numpy", "pandas", "pyocd", "serial", "tflite", "unicorn"}


def test_estimate_imports_neither_pandas_nor_pyocd(tmp_path: Path) -> None:
    model = tmp_path / "relu.tflite"
    model.write_bytes(chain("RELU").build())
    imported = imported_by("estimate", str(model), "--tflm", "2020-07")
    assert "harness" in imported
    assert not imported & {"pandas", "pyocd", "serial", "unicorn"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel, built as `pip install` would."""
    folder = tmp_path_factory.mktemp("wheel")
    build = output_of(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"),
        *("--wheel-dir", folder, CHECKOUT),
    )
    assert build.returncode == 0, build.stderr
    [built] = folder.glob("*.whl")
    return built


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_wheel_carries_boards_and_firmware(wheel: Path, committed: list[Path]) -> None:
    carried = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"harness/_data/{path.as_posix()}" for path in committed if path.parts[0] in {"boards", "firmware"}}
    assert wanted
    assert wanted | {"harness/py.typed"} <= carried


@pytest.fixture(scope="module")
def installed_harness(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `harness` command of a virtual environment that has the wheel, and its dependencies from this environment."""
    venv = tmp_path_factory.mktemp("elsewhere") / "venv"
    python = venv / "bin" / "python"
    for command in (
        (sys.executable, "-m", "venv", "--without-pip", venv),
        (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel),
    ):
        done = output_of(*command)
        assert done.returncode == 0, done.stderr
    [packages] = venv.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return venv / "bin" / "harness"


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_installed_wheel_knows_the_boards_away_from_the_checkout(installed_harness: Path, tmp_path: Path) -> None:
    listing = subprocess.run(
        [installed_harness, "boards", "--format", "json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert listing.returncode == 0, listing.stderr
    assert {board["board"] for board in json.loads(listing.stdout)} == {
        path.stem for path in CHECKOUT.glob("boards/*.toml")
    }


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_installed_wheel_builds_flashes_and_measures_away_from_the_checkout(
    installed_harness: Path, tmp_path: Path
) -> None:
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("no arm-none-eabi-g++: apt install gcc-arm-none-eabi")
    model = CrateProvider().example("hello_world.tflite")
    run = subprocess.run(
        [installed_harness, "run", model, "--board", "stm32f407-virtual", "--min-arena", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    [row] = json.loads(run.stdout)
    assert row["measurement"]["arena_used_bytes"] == 1472
    assert row["measurement"]["min_working_arena_bytes"] == row["estimate"]["min_working_arena_bytes"]


@pytest.mark.slow
def test_tests_of_one_group_run_in_one_process(tmp_path: Path) -> None:
    """Whether pytest and xdist get on: otherwise tests that are not to meet would, and all would still pass."""
    (tmp_path / "test_pids.py").write_text(
        "import os, pathlib, pytest\n"
        "@pytest.mark.xdist_group('one')\n"
        "@pytest.mark.parametrize('number', range(8))\n"
        f"def test(number): pathlib.Path({str(tmp_path)!r}, f'pid-{{os.getpid()}}').touch()\n",
        encoding="utf-8",
    )
    run = output_of(sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "--rootdir", tmp_path, tmp_path)
    assert run.returncode == 0, run.stdout
    assert len(list(tmp_path.glob("pid-*"))) == 1
