"""Which board a unit is of, by what its firmware says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.bench.boards import board_ids
from harness.bench.scan import KnownBoard, ask_ports, known_boards
from harness.domain.dut import SerialPort
from harness.errors import BoardFileError, SerialPortError, UsageError
from tests.support.scripted import HELLO, ScriptedLine, changed

VIRTUAL = "stm32f407-virtual"
BAUD_RATE = 921_600


@dataclass(frozen=True)
class ScriptedPorts:
    """A transport behind whose ports are scripted devices, each of which says that it is of a board."""

    boards: Mapping[str, str]

    def ports(self) -> list[SerialPort]:
        return [SerialPort(path, "scripted", "") for path in self.boards]

    def open(self, port: str, baud_rate: int) -> ScriptedLine:
        if port not in self.boards or baud_rate != BAUD_RATE:
            raise SerialPortError("no such port", where=port)
        return ScriptedLine(changed("hello", {**HELLO, "board": self.boards[port], "unit": port}))


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A board file of the user's."""
    return copy_of_virtual(tmp_path / "own-board.toml")


def copy_of_virtual(path: Path) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'base = "{VIRTUAL}"\nserial.baud_rate = {BAUD_RATE}\n', encoding="utf-8")
    return str(path)


def ask(boards: Mapping[str, KnownBoard], said: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """What the boards of the units that answered are called, by port, and the notes."""
    notes: list[str] = []
    answers = ask_ports([*said], ScriptedPorts(said), boards, notes.append)
    return {answer.port: answer.kind.name for answer in answers}, notes


def test_the_boards_that_come_with_harness_are_known() -> None:
    assert {known.name for known in known_boards([]).values()} == set(board_ids())


def test_units_of_the_users_own_boards_are_found_at_those_boards_baud_rates(own: str) -> None:
    found, notes = ask(known_boards([own]), {"/dev/ttyUSB0": "own-board", "/dev/ttyUSB1": VIRTUAL})
    assert found == {"/dev/ttyUSB0": own, "/dev/ttyUSB1": VIRTUAL}
    assert notes == []


def test_a_unit_of_a_board_that_nobody_named_is_left_out_with_the_way_to_name_it(own: str) -> None:
    found, notes = ask(known_boards([own]), {"/dev/ttyUSB0": "someone-elses"})
    assert found == {}
    assert notes == ["/dev/ttyUSB0 is left out: no board 'someone-elses' is known here; name its file with --board"]


def test_a_file_of_the_users_stands_in_for_a_board_of_the_same_name(tmp_path: Path) -> None:
    mine = copy_of_virtual(tmp_path / f"{VIRTUAL}.toml")
    known = known_boards([mine])
    assert known[VIRTUAL].name == mine
    assert known[VIRTUAL].board.baud_rate == BAUD_RATE
    assert len(known) == len(board_ids())


def test_two_files_of_one_name_are_refused_and_one_file_named_twice_is_not(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert known_boards([own, "own-board.toml"])["own-board"].name == own
    other = copy_of_virtual(tmp_path / "other" / "own-board.toml")
    with pytest.raises(UsageError, match="two board files have the same name") as refusal:
        known_boards([own, other])
    assert (refusal.value.where, refusal.value.measured) == (other, own)


def test_a_board_that_does_not_exist() -> None:
    with pytest.raises(BoardFileError, match=r"unknown board 'nowhere\.toml'"):
        known_boards(["nowhere.toml"])
