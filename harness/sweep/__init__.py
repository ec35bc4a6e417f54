"""Many jobs on many units: planned first, then spread over the units that fit, each result kept as it comes."""

from harness.sweep.crew import Crew, ThreadCrew
from harness.sweep.dut_runner import DutRunner, Outcome
from harness.sweep.plan import SweepPlan, plan_jobs, read_plan
from harness.sweep.policy import Policy, parse_retries
from harness.sweep.runner import Observer, run_sweep
from harness.sweep.scheduler import Scheduler

__all__ = [
    "Crew",
    "DutRunner",
    "Observer",
    "Outcome",
    "Policy",
    "Scheduler",
    "SweepPlan",
    "ThreadCrew",
    "parse_retries",
    "plan_jobs",
    "read_plan",
    "run_sweep",
]
