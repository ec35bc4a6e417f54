"""What machines tell each other, as JSON text: units, jobs, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.cluster.option_messages import options_from_json, options_to_json
from harness.domain.attempt import Circumstances, Job
from harness.errors import ResultError
from harness.files.fields import Fields
from harness.results.as_json import reconciliation_from_json, reconciliation_to_json
from harness.session import RunOptions
from harness.sweep.dut_runner import Outcome


@dataclass(frozen=True)
class OfferedDut:
    """A unit that a worker offers.

    Attributes:
        name: on its bench.
        board: its board's id.
        probe, port: how its machine reaches it.
        power_hook: the command that switches its power, on its machine.
    """

    name: str
    board: str
    probe: str | None
    port: str | None
    power_hook: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A job for a unit elsewhere.

    Attributes:
        dut: the unit's name on its bench.
        job: what to do; its path says nothing there, the model's bytes travel beside.
        options: what all jobs of the sweep have in common, without its folder of corrections.
        corrections: the files of that folder: name → text.
    """

    dut: str
    job: Job
    options: RunOptions
    corrections: Mapping[str, str]


@dataclass(frozen=True)
class Revival:
    """A unit elsewhere that is to be switched off and on.

    Attributes:
        dut: the unit's name on its bench.
        hook: the command that does it.
        timeout_s: how long it may take, and then the unit.
    """

    dut: str
    hook: tuple[str, ...]
    timeout_s: float


def offer_to_text(version: str, duts: list[OfferedDut]) -> str:
    """A worker's units, and the version of its harness."""
    return json.dumps({"version": version, "duts": [asdict(dut) for dut in duts]})


def offer_from_text(text: str, place: str) -> tuple[str, list[OfferedDut]]:
    """The reverse of `offer_to_text`."""
    offer = _fields(text, place)
    return offer.text("version"), [
        OfferedDut(
            name=dut.text("name"),
            board=dut.text("board"),
            probe=dut.text("probe") if dut.has("probe") else None,
            port=dut.text("port") if dut.has("port") else None,
            power_hook=dut.texts("power_hook"),
        )
        for dut in offer.inners("duts")
    ]


def task_to_text(task: Task) -> str:
    """A job for a unit elsewhere."""
    return json.dumps(
        {
            "dut": task.dut,
            "job": asdict(task.job),
            "options": options_to_json(task.options),
            "corrections": dict(task.corrections),
        }
    )


def task_from_text(text: str) -> Task:
    """The reverse of `task_to_text`."""
    task = _fields(text, "task")
    return Task(
        dut=task.text("dut"),
        job=_job(task.inner("job")),
        options=options_from_json(task.inner("options")),
        corrections=task.inner("corrections").all_texts(),
    )


def revival_to_text(revival: Revival) -> str:
    """A unit to be switched off and on."""
    return json.dumps(asdict(revival))


def revival_from_text(text: str) -> Revival:
    """The reverse of `revival_to_text`."""
    revival = _fields(text, "revival")
    return Revival(revival.text("dut"), revival.texts("hook"), revival.number("timeout_s", 0, 86_400))


def outcome_to_text(outcome: Outcome) -> str:
    """What came of a job, without the serial log."""
    return json.dumps(
        {"result": reconciliation_to_json(outcome.result), "circumstances": asdict(outcome.circumstances)}
    )


def outcome_from_text(text: str, log: bytes, place: str) -> Outcome:
    """The reverse of `outcome_to_text`.

    Raises:
        ResultError: it is something else.
    """
    outcome = _fields(text, place)
    return Outcome(
        reconciliation_from_json(outcome.inner("result")),
        Circumstances(**outcome.inner("circumstances").all_texts()),
        log,
    )


def read_corrections(folder: Path | None) -> dict[str, str]:
    """The files of a folder of corrections: name → text.

    Raises:
        ResultError: one of them cannot be read.
    """
    try:
        return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.toml"))} if folder else {}
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"the corrections cannot be read: {error}", where=folder) from error


def _job(item: Fields) -> Job:
    return Job(
        number=item.integer("number"),
        model=item.text("model"),
        path=item.text("path"),
        sha256=item.text("sha256"),
        board=item.text("board"),
        tflm=item.text("tflm"),
        arena_size_bytes=item.integer_or_none("arena_size_bytes"),
        min_arena=item.truth("min_arena"),
    )


def _fields(text: str, place: str) -> Fields:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ResultError(f"this is no JSON: {error}", where=place) from error
    if not isinstance(values, dict):
        raise ResultError("this is no JSON object", where=place)
    return Fields(place, values, ResultError)
