"""Finds the units that are plugged in by asking each port who is there, and each probe whom it holds.

Port names are no identity: they swap, and adapters share serial numbers. A unit's own id, which its firmware says on
the serial line and its probe reads from the chip, is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.bench.boards import load_board
from harness.bench.identity import read_unit_id
from harness.device.hello import Hello, read_hello
from harness.device.talk import Device, Patience
from harness.domain.board import Board
from harness.domain.dut import Dut, Probe
from harness.errors import HarnessError, WrongDeviceError
from harness.ports import Flasher, Transport

Note = Callable[[str], None]
"""Told what is left out, and why."""

_PATIENCE = Patience(boot_s=1.0, answer_s=1.0, work_s=1.0)


@dataclass(frozen=True)
class Answer:
    """A port behind which firmware of ours runs.

    Attributes:
        port: its name.
        board: what the firmware was built for.
        unit: the chip's own id, in hex.
        build_id: of the firmware.
    """

    port: str
    board: Board
    unit: str
    build_id: str


@dataclass(frozen=True)
class Unit:
    """A unit that was found.

    Attributes:
        answer: what it said.
        probe: the id of its probe; empty for a board that needs none.
    """

    answer: Answer
    probe: str


def ask_ports(ports: Sequence[str], transport: Transport, baud_rates: Sequence[int], note: Note) -> list[Answer]:
    """Ask each port who is there.

    Args:
        ports: their names.
        transport: opens them.
        baud_rates: those that boards use; each is tried.
        note: told which ports do not answer.

    Raises:
        WrongDeviceError: two ports answer for the same unit.
    """
    answers = [answer for port in ports if (answer := _ask_port(port, transport, baud_rates, note))]
    _refuse_doubles(answers)
    return answers


def match_probes(answers: Sequence[Answer], flashers: Mapping[str, Flasher], note: Note) -> list[Unit]:
    """Find the probe of each unit, by the id that it reads from its chip.

    Args:
        answers: the units that have answered.
        flashers: by the name that boards give them.
        note: told which units have no probe, and which probes cannot be asked.
    """
    units = []
    for answer in answers:
        flasher = flashers[answer.board.flasher]
        probe = _find_probe(answer, flasher, note) if flasher.uses_probe else ""
        if probe is None:
            note(f"{answer.port}: no probe holds {answer.board.id} {answer.unit}")
        else:
            units.append(Unit(answer, probe))
    return units


def _ask_port(port: str, transport: Transport, baud_rates: Sequence[int], note: Note) -> Answer | None:
    why = ""
    for baud_rate in baud_rates:
        try:
            hello = _hello(port, transport, baud_rate)
            return Answer(port, load_board(hello.board), hello.unit, hello.build_id)
        except HarnessError as error:
            why = f"{error.what}, {error.measured}" if error.measured else error.what
    note(f"{port} is left out: {why}")
    return None


def _hello(port: str, transport: Transport, baud_rate: int) -> Hello:
    line = transport.open(port, baud_rate)
    try:
        return read_hello(Device(line, lambda: None, _PATIENCE).ask("hello", "hello"))
    finally:
        line.close()


def _refuse_doubles(answers: Sequence[Answer]) -> None:
    for answer in answers:
        ports = [each.port for each in answers if each.unit == answer.unit]
        if len(ports) > 1:
            raise WrongDeviceError(
                "two ports answer for one unit",
                where=f"{answer.board.id} {answer.unit}",
                measured=", ".join(ports),
                hint="unplug one of them, and scan again",
            )


def _find_probe(answer: Answer, flasher: Flasher, note: Note) -> str | None:
    for probe in flasher.probes():
        if probe.is_virtual == answer.board.emulated and _held(probe, answer, flasher, note) == answer.unit:
            return probe.unique_id
    return None


def _held(probe: Probe, answer: Answer, flasher: Flasher, note: Note) -> str | None:
    """The id of the chip that a probe holds; None when it cannot be read."""
    try:
        with flasher.connect(Dut(answer.board, probe.unique_id, answer.port)) as session:
            return read_unit_id(session, answer.board)
    except HarnessError as error:
        note(f"probe {probe.unique_id}: {error.what}")
        return None
