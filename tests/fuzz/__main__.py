"""`make fuzz`: damaged models, serial streams and libraries, until the time is up; every find is kept and told."""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

UNLIMITED = 10**12
# Two processes at a time, for two cores: the first one's targets take turns, and so do the second one's.
LANES = ((("stream", 0.8), ("library", 0.2)), (("model", 0.4), ("device", 0.25), ("board", 0.35)))
STARTING_S = 120


@dataclass(frozen=True)
class Plan:
    """How long to go on.

    Attributes:
        seed: of all random numbers.
        seconds: altogether.
        cases: at most so many per target; the others are not run at all when any is named.
    """

    seed: str
    seconds: float
    cases: dict[str, int]


def main() -> int:
    """Fuzz, print what came of it; 1 when anything was found."""
    plan = _plan()
    print(f"seed {plan.seed}")
    print(f"{'target':<8}{'cases':>12}{'finds':>7}{'peak MB':>9}  outcomes", flush=True)
    with ThreadPoolExecutor(len(LANES)) as lanes:
        finds = [find for found in lanes.map(lambda lane: _run_lane(plan, lane), LANES) for find in found]
    for find in finds:
        print(f"found: {find}")
    return 1 if finds else 0


def _plan() -> Plan:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", default=secrets.token_hex(4), help="the same one gives the same inputs")
    for target in (target for lane in LANES for target, _ in lane):
        parser.add_argument(f"--{target}", type=int, metavar="CASES", help=f"at most so many cases of {target}")
    options = parser.parse_args()
    named = {target: getattr(options, target) for lane in LANES for target, _ in lane}
    return Plan(options.seed, options.seconds, {target: cases for target, cases in named.items() if cases is not None})


def _run_lane(plan: Plan, lane: tuple[tuple[str, float], ...]) -> list[str]:
    """One target after the other; what they found."""
    finds = []
    for target, share in lane:
        if not plan.cases or target in plan.cases:
            finds += _run(plan, target, share * plan.seconds)
    return finds


def _run(plan: Plan, target: str, seconds: float) -> list[str]:
    cases = str(plan.cases.get(target, UNLIMITED))
    command = [sys.executable, "-m", "tests.fuzz.worker", target, plan.seed, cases, str(seconds)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=seconds + STARTING_S, check=False)
    except subprocess.TimeoutExpired:
        return [f"{target}: its process hangs"]
    if ended.returncode:
        return [f"{target}: its process ended with {ended.returncode}: {ended.stderr.strip()[-300:]}"]
    report = json.loads(ended.stdout)
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report["outcomes"].items()))
    peak_mb = report["peak_bytes"] / 1e6
    print(f"{target:<8}{report['cases']:>12,}{len(report['finds']):>7}{peak_mb:>9.0f}  {outcomes}", flush=True)
    return [f"{target}: {find}" for find in report["finds"]]


if __name__ == "__main__":
    raise SystemExit(main())
