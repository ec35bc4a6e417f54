"""Units are told apart by what they answer, whatever their ports are called."""

import tomllib
import uuid
from dataclasses import dataclass

import pytest

from harness import plugins
from harness.bench.boards import load_board
from harness.bench.file import read_bench
from harness.bench.identity import find_port, read_unit_id
from harness.bench.scan import ask_ports, known_boards, match_probes
from harness.domain.dut import Dut, SerialPort
from harness.errors import SerialPortError, WrongDeviceError
from harness.virtual import registry
from tests.support.boards import BOARD
from tests.support.plugged_in import PluggedIn

KIND = load_board(BOARD)
FAMILY = plugins.family(KIND.family)


@dataclass(frozen=True)
class Desk:
    """The real transport, on a desk where only these ports are listed."""

    names: tuple[str, ...]

    def ports(self):
        return [SerialPort(name, "one serial number for all", "0001") for name in self.names]

    def open(self, port, baud_rate):
        return plugins.transport("serial").open(port, baud_rate)


@pytest.fixture(scope="module")
def pair(harness):
    """Two virtual boards that run harness's firmware."""
    names = [f"twin{number}-{uuid.uuid4().hex[:6]}" for number in (1, 2)]
    try:
        for name in names:
            assert harness("virtual", "start", "--name", name).status == 0
            flashed = harness("flash", "--board", BOARD, "--probe", f"virtual-{name}")
            assert flashed.status == 0, flashed.err
        yield [registry.find(name) for name in names]
    finally:
        for name in names:
            harness("virtual", "stop", name)


def dut(entry):
    return Dut(KIND, entry.probe_id, entry.port)


def test_the_port_of_a_unit_is_found_in_any_order(pair):
    flasher = plugins.flasher(KIND.flasher)
    for entry in pair:
        with flasher.connect(dut(entry)) as flash:
            for ports in (pair, pair[::-1]):
                assert find_port(flash, KIND, FAMILY, Desk(tuple(each.port for each in ports))) == entry.port


def test_a_unit_that_answers_nowhere_is_refused_with_the_list(pair):
    flasher = plugins.flasher(KIND.flasher)
    with flasher.connect(dut(pair[0])) as flash:
        with pytest.raises(SerialPortError, match="no serial port is this unit's") as refusal:
            find_port(flash, KIND, FAMILY, Desk((pair[1].port, "/dev/no_such_port")))
        assert read_unit_id(flash, FAMILY) in str(refusal.value)
    assert f"{pair[1].port}: the device is silent" in str(refusal.value)
    assert "/dev/no_such_port: no such port" in str(refusal.value)


def test_a_scan_writes_a_bench_file_that_fits_ports_and_probes_together(harness, pair, tmp_path):
    path = tmp_path / "bench.toml"
    ended = harness("bench", "scan", "-o", path)
    assert ended.status == 0, ended.err
    found = {unit.probe: unit.port for unit in read_bench(path)}
    assert {entry.probe_id: entry.port for entry in pair}.items() <= found.items()
    assert tomllib.loads(path.read_text())["dut"][0]["board"] == BOARD


def test_a_scan_knows_boards_of_the_users_own_files(harness, pair, tmp_path):
    entry, own, path = pair[0], tmp_path / "own-board.toml", tmp_path / "bench.toml"
    own.write_text(f'base = "{BOARD}"\n')
    assert harness("flash", "--board", own, "--probe", entry.probe_id).status == 0
    try:
        unknown = harness("bench", "scan")
        assert f"{entry.port} is left out: no board 'own-board' is known here" in unknown.err
        ended = harness("bench", "scan", "--board", own, "-o", path)
        assert ended.status == 0, ended.err
        assert {unit.probe: unit.board for unit in read_bench(path)}[entry.probe_id].id == "own-board"
        again = harness("bench", "scan", "-o", path)  # which names the board
        assert again.status == 0, again.err
        assert f'board = "{own}"' in path.read_text()
    finally:
        assert harness("flash", "--board", BOARD, "--probe", entry.probe_id).status == 0


def test_a_silent_port_is_left_out_and_named(pair):
    notes: list[str] = []
    answers = ask_ports(["/dev/no_such_port"], Desk(()), known_boards([]), notes.append)
    assert answers == []
    assert "/dev/no_such_port is left out" in notes[0]


def test_two_ports_of_one_unit_are_refused(pair, tmp_path):
    alias = tmp_path / "ttyACM7"
    alias.symlink_to(pair[0].port)
    with pytest.raises(WrongDeviceError, match="two ports answer for one unit") as refusal:
        ask_ports([pair[0].port, str(alias)], Desk(()), known_boards([]), lambda _: None)
    assert str(alias) in str(refusal.value)


def test_a_unit_whose_probe_is_not_there_is_left_out(pair):
    answers = ask_ports([pair[0].port], Desk(()), known_boards([]), lambda _: None)
    notes: list[str] = []
    assert match_probes(answers, {KIND.flasher: PluggedIn()}, notes.append) == []
    assert "no probe holds" in notes[0]
