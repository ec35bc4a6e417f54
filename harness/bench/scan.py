"""Scan for plugged-in units: asks each port who is there, and each probe whom it holds.

Port names are no identity: they swap, and adapters share serial numbers. A unit's own id, which its firmware says on
the serial line and its probe reads from the chip, is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from harness import plugins
from harness.bench.boards import board_ids, load_board
from harness.bench.claims import claim_port, claim_unit
from harness.bench.identity import read_unit_id
from harness.device.hello import Hello, read_hello
from harness.device.talk import Device, Patience
from harness.domain.board import Board
from harness.domain.dut import Dut, Probe
from harness.domain.family import ChipWords
from harness.errors import HarnessError, UsageError, WrongDeviceError
from harness.ports import Flasher, Transport

Note = Callable[[str], None]
"""Told what is left out, and why."""

_PATIENCE = Patience(boot_s=1.0, answer_s=1.0, work_s=1.0)


@dataclass(frozen=True)
class KnownBoard:
    """A board that a unit may say it is.

    Attributes:
        name: what bench files call it: an id, or the path of a board file.
        board: its description.
    """

    name: str
    board: Board


@dataclass(frozen=True)
class Answer:
    """A port behind which firmware of ours runs.

    Attributes:
        port: its name.
        kind: what the firmware was built for.
        unit: the chip's own id, in hex.
        build_id: of the firmware.
    """

    port: str
    kind: KnownBoard
    unit: str
    build_id: str

    @property
    def board(self) -> Board:
        """What the firmware was built for."""
        return self.kind.board


@dataclass(frozen=True)
class Unit:
    """A unit that was found.

    Attributes:
        answer: what it said.
        probe: the id of its probe; empty for a board that needs none.
    """

    answer: Answer
    probe: str


def known_boards(own: Sequence[str]) -> Mapping[str, KnownBoard]:
    """The boards that come with harness and the user's own, by the id that their firmware says.

    Args:
        own: ids, or paths of board files. One of these stands in for a board of the same id that comes with harness.

    Raises:
        BoardFileError: no such board, or a broken file.
        UsageError: two files stand for one id.
    """
    found: dict[str, KnownBoard] = {}
    for name in own:
        known = KnownBoard(name, load_board(name))
        other = found.setdefault(known.board.id, known)
        if _file(other.name) != _file(name):
            raise UsageError(
                "two board files have the same name, and firmware says nothing more",
                where=name,
                measured=other.name,
                hint="rename one of them, and flash its units again",
            )
    return {board: KnownBoard(board, load_board(board)) for board in board_ids()} | found


def ask_ports(ports: Sequence[str], transport: Transport, boards: Mapping[str, KnownBoard], note: Note) -> list[Answer]:
    """Ask each port who is there.

    Args:
        ports: their names.
        transport: opens them.
        boards: those that units may be, by the id that their firmware says; each of their baud rates is tried.
        note: told which ports do not answer, and which answer for an unknown board.

    Raises:
        WrongDeviceError: two ports answer for the same unit.
    """
    baud_rates = sorted({known.board.baud_rate for known in boards.values()}, reverse=True)
    words = _words_of(boards.values())
    answers = []
    for port in ports:
        hello = _hello_at_any(port, transport, baud_rates, words, note)
        if hello is not None and hello.board in boards:
            answers.append(Answer(port, boards[hello.board], hello.unit, hello.build_id))
        elif hello is not None:
            note(f"{port} is left out: no board {hello.board!r} is known here; name its file with --board")
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


def _file(name: str) -> Path | str:
    """What a board's name stands for, however it is spelled."""
    return Path(name).resolve() if name.endswith(".toml") else name


def _words_of(boards: Iterable[KnownBoard]) -> ChipWords:
    """What any of their chips may say: whose port it is shows only when it answers."""
    families = [plugins.family(name) for name in sorted({known.board.family for known in boards})]
    return ChipWords(boot_texts=tuple(text for family in families for text in family.words.boot_texts))


def _hello_at_any(
    port: str, transport: Transport, baud_rates: Sequence[int], words: ChipWords, note: Note
) -> Hello | None:
    why = ""
    for baud_rate in baud_rates:
        try:
            return _hello(port, transport, baud_rate, words)
        except HarnessError as error:
            why = f"{error.what}, {error.measured}" if error.measured else error.what
    note(f"{port} is left out: {why}")
    return None


def _hello(port: str, transport: Transport, baud_rate: int, words: ChipWords) -> Hello:
    with claim_port(port), closing(transport.open(port, baud_rate)) as line:
        return read_hello(Device(line, lambda: None, _PATIENCE, words).ask("hello", "hello"))


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
        unit = Dut(answer.board, probe.unique_id, answer.port)
        with claim_unit(unit), flasher.connect(unit) as session:
            return read_unit_id(session, plugins.family(answer.board.family))
    except HarnessError as error:
        note(f"probe {probe.unique_id}: {error.what}")
        return None
