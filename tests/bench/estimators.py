"""`make bench-estimators`: estimators side by side on the same models, against device and host, and what ours costs.

Device truth is measured elsewhere and read from ../shared/truth where that is present; host truth is what the official
wheel allocates here. Other people's tools live in a virtual environment of their own, made on demand.
"""

from __future__ import annotations

import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.domain.estimate import Profile
from harness.errors import HarnessError
from harness.estimate import ModelFile, estimate, read_model
from harness.estimate.host.estimate import host_estimate
from harness.tflm.crate import CrateProvider
from tests.bench.table import Row, show
from tests.support.models import ModelBuilder
from tests.support.places import CHECKOUT

SHARED = CHECKOUT.parent / "shared"
TOOLS_DIR = CHECKOUT / ".cache" / "bench-estimators"
TOOLS = ("mcufit==0.5.2", "tensorscope-cli==0.5.0", "tinyml-deployer==0.1.0")
CRATE_MODELS = ("hello_world", "magic_wand", "micro_speech", "person_detection_grayscale")
DEVICE = Profile("2026-08", "arm32")
MODEL = "MODEL"
BIG_MODEL_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    """What a tool says of a model.

    Attributes:
        arena_bytes: None when it gives no figure.
        cpu_s: user and system time of the whole command.
        peak_bytes: its largest resident memory.
    """

    arena_bytes: int | None
    cpu_s: float
    peak_bytes: int


@dataclass(frozen=True)
class Tool:
    """An estimator as a command.

    Attributes:
        name: for the table.
        words: of its command line; MODEL stands for the model's path.
        read: finds the arena in what it prints.
        truth: `device` or `host` when its figure is meant for one of them only.
    """

    name: str
    words: Sequence[str]
    read: Callable[[str], int]
    truth: str = ""

    def command(self, model: Path) -> list[str]:
        """The command for a model."""
        return [str(model) if word == MODEL else word for word in self.words]


def tools() -> list[Tool]:
    """Theirs, the formula, and ours for device and host."""
    there = TOOLS_DIR / "bin"
    harness = (sys.executable, "-m", "harness", "estimate", MODEL, "--no-corrections", "--format", "json")
    deployer = (f"{there}/tinyml-deployer", "analyze", MODEL, "-t", "stm32f4")
    return [
        Tool("mcufit 0.5.2", (f"{there}/mcufit", "check", MODEL, "-b", "stm32f407-disco", "--json"), _mcufit),
        Tool("tensorscope-cli 0.5.0", (f"{there}/tensorscope", "analyze", MODEL, "--json"), _tensorscope),
        Tool("tinyml-deployer 0.1.0", deployer, _deployer),
        Tool("formula", (*harness, "--method", "formula"), _ours),
        Tool("harness, arm32", harness, _ours, "device"),
        Tool("harness, x86-64", (*harness, "--abi", "x86-64"), _ours, "host"),
    ]


def _ours(said: str) -> int:
    return int(json.loads(said)[0]["arena_used_bytes"])


def _mcufit(said: str) -> int:
    return int(json.loads(said)["estimate"]["total_arena_bytes"])


def _tensorscope(said: str) -> int:
    """It gives no total, only the head."""
    answer = json.loads(said)
    return int(answer["arena_total"]["bytes"] or answer["arena_head"]["bytes"])


def _deployer(said: str) -> int:
    """It prints kilobytes with one decimal."""
    found = re.search(r"Tensor arena\W+([\d.]+) (B|KB|MB)", said)
    if found is None:
        raise ValueError("no tensor arena in its answer")
    return int(float(found[1]) * {"B": 1, "KB": 1024, "MB": 1024**2}[found[2]])


def ask(tool: Tool, model: Path) -> Answer:
    """Run a tool, cold, on one model."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            tool.command(model),
            stdout=output,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"COLUMNS": "200", "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read().decode(errors="replace")
    try:
        arena_bytes = tool.read(said)
    except (ValueError, KeyError, TypeError, IndexError):
        arena_bytes = None
    return Answer(arena_bytes, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def install_tools() -> None:
    """Make the virtual environment of the other tools, once."""
    done = TOOLS_DIR / "installed"
    if done.is_file() and done.read_text() == " ".join(TOOLS):
        return
    print(f"installing {', '.join(TOOLS)} into {TOOLS_DIR} (2 GB, once)", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(TOOLS_DIR)], check=True)
    subprocess.run([str(TOOLS_DIR / "bin" / "pip"), "install", "--quiet", *TOOLS], check=True)
    done.write_text(" ".join(TOOLS))


def models() -> list[Path]:
    """The crate's models, and the public ones where they are present."""
    crate = [Path(CrateProvider().example(f"{name}.tflite")) for name in CRATE_MODELS]
    return [*crate, *sorted((SHARED / "models").glob("*.tflite"))]


def device_truth() -> dict[str, int]:
    """arena_used_bytes as measured, by the model's hash."""
    path = SHARED / "truth" / "tflm_2026_08_cortex_m4.csv"
    if not path.is_file():
        return {}
    with path.open(newline="") as file:
        return {row["sha256"]: int(row["arena_used_bytes"]) for row in csv.DictReader(file)}


def host_truth(paths: Sequence[Path]) -> dict[str, int]:
    """What the wheel allocates, by the model's hash; models that it refuses are left out."""
    truth = {}
    for path in paths:
        model = read_model(path)
        try:
            truth[model.sha256] = host_estimate(model).arena_used_bytes
        except HarnessError as error:
            print(f"no host truth: {error}".splitlines()[0], file=sys.stderr)
    return truth


def compare(paths: Sequence[Path]) -> None:
    """Print a line per tool, as soon as it is known."""
    truths = {"device": device_truth(), "host": host_truth(paths)}
    hashes = {path: read_model(path).sha256 for path in paths}
    print(f"{len(paths)} models; {len(truths['device'])} with device truth, {len(truths['host'])} with host truth")
    print(f"{'':<24}{'device truth':^34}{'host truth':^34}{'CPU per call':>14}")
    print(f"{'estimator':<24}" + f"{'n':>4}{'median':>10}{'maximum':>10}{'too low':>10}" * 2 + f"{'median':>14}")
    for tool in tools():
        answers = {path: ask(tool, path) for path in paths}
        said = {hashes[path]: answer.arena_bytes for path, answer in answers.items() if answer.arena_bytes is not None}
        columns = [_errors(said, truth) if tool.truth in {"", name} else f"{'':<34}" for name, truth in truths.items()]
        cpu_s = statistics.median(answer.cpu_s for answer in answers.values())
        print(f"{tool.name:<24}{''.join(columns)}{cpu_s:>12.2f} s", flush=True)


def _errors(said: Mapping[str, int], truth: Mapping[str, int]) -> str:
    errors = [
        100 * (bytes_said - truth[sha256]) / truth[sha256] for sha256, bytes_said in said.items() if sha256 in truth
    ]
    if not errors:
        return f"{0:>4}{'':<30}"
    sizes = [abs(error) for error in errors]
    too_low = sum(error < 0 for error in errors)
    return f"{len(errors):>4}{statistics.median(sizes):>8.1f} %{max(sizes):>8.1f} %{too_low:>10}"


def costs(paths: Sequence[Path]) -> Iterator[Row]:
    """What ours costs."""
    ours = next(tool for tool in tools() if tool.name == "harness, arm32")
    cold = [ask(ours, paths[0]) for _ in range(5)]
    yield Row("harness estimate, cold, CPU", min(answer.cpu_s for answer in cold), "s", target=0.45)
    for path in paths:
        if path.stem in {"seanet_conv0", "seanet_add0", "person_detect_int8", "person_detection_grayscale"}:
            target = 2 if path.stem.startswith("seanet") else 20
            yield Row(f"{path.stem}, in process, CPU", _in_process_ms(read_model(path)), "ms", target=target)
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.tflite"
        big.write_bytes(_big_model())
        yield Row("a 4 MB model, peak memory", ask(ours, big).peak_bytes / 1e6, "MB", target=120)


def _in_process_ms(model: ModelFile) -> float:
    """The best of some runs: what else the machine does only ever adds."""
    times = []
    for _ in range(20):
        started = time.process_time()
        estimate(ModelFile.of(model.name, model.data), DEVICE)
        times.append(1000 * (time.process_time() - started))
    return min(times)


def _big_model() -> bytes:
    builder = ModelBuilder()
    source, target = builder.input("x", [1, 1024]), builder.tensor("y", [1, BIG_MODEL_BYTES // 4096])
    builder.operator("FULLY_CONNECTED", [source, builder.constant("w", [BIG_MODEL_BYTES // 4096, 1024]), -1], [target])
    builder.output(target)
    return builder.build()


if __name__ == "__main__":
    install_tools()
    every_model = models()
    compare(every_model)
    print()
    show(costs(every_model))
