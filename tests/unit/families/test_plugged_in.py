"""A family that is known by its entry point alone: nothing of harness names it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness import plugins
from harness.bench.boards import board_ids, load_board
from harness.bench.connection import Connection
from harness.bench.scan import KnownBoard, ask_ports
from harness.domain.run_options import RunOptions
from harness.errors import DeviceFaultError, FlashError, PluginError
from harness.measure.postmortem import Remains, examine
from harness.session import open_session
from tests.support import z80
from tests.support.host_program import compiled
from tests.support.scripted import SUBJECT


@pytest.fixture
def board(tmp_path, monkeypatch):
    z80.install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "sinclair.toml"
    path.write_text(z80.BOARD)
    return load_board(str(path))


@pytest.fixture
def connection(board):
    return Connection(board, plugins.family(board.family), plugins.flasher(board.flasher), RunOptions())


def test_the_port_of_a_unit_is_found_by_the_id_that_the_family_knows_where_to_read(connection):
    with connection.talk([]) as device:
        assert device.await_boot().unit == z80.UNIT


def test_its_boot_texts_are_understood(connection, monkeypatch):
    with connection.talk([]) as device:
        device.await_boot()
        monkeypatch.setattr(z80.Z80Line, "boot", lambda line: line.say(b"?NO PROM\r\n"))
        with pytest.raises(FlashError, match="socket is empty") as caught:
            device.reboot()
    assert caught.value.hint == "put a PROM into it"


def test_its_boot_texts_are_understood_before_anybody_knows_whose_port_it_is(board, monkeypatch):
    monkeypatch.setattr(z80.Z80Lines, "script", lambda line, command: b"?NO PROM\r\n")
    notes: list[str] = []
    boards = {board.id: KnownBoard(board.id, board)}
    assert ask_ports(["left"], plugins.transport(board.transport), boards, notes.append) == []
    assert notes == ["left is left out: the socket is empty, ?NO PROM"]


def test_its_faults_are_read_and_explained(connection, tmp_path, monkeypatch):
    def die(line, command):
        return line.frame(z80.FAULT) if command["cmd"] == "scan" else None

    monkeypatch.setattr(z80.Z80Lines, "script", die)
    subject = replace(SUBJECT, image=replace(SUBJECT.image, elf=compiled(tmp_path)))
    with connection.talk([]) as device:
        device.await_boot()
        with pytest.raises(DeviceFaultError) as caught:
            device.ask("scan", "scanned")
        found = examine(caught.value, subject, None, Remains(device, connection.open().flash, connection.family))
    assert caught.value.measured == "pc=0x00001234, lr=0x00000000, sp=0x00009000, trap=0x00000002, hl=0x0000beef"
    assert found.fault.registers == {"pc": 0x1234, "lr": 0, "sp": 0x9000, "flags": 7, "trap": 2, "hl": 0xBEEF}
    assert found.fault_words == ("trap 2: no such opcode",)
    assert found.fault_address == 0xBEEF


def test_a_family_that_is_not_installed_is_named_before_anything_is_built(monkeypatch):
    monkeypatch.setattr("harness.session.build", lambda *_, **__: pytest.fail("it was built"))
    board = replace(load_board("stm32f407-virtual"), family="z80")
    with pytest.raises(PluginError, match=r"no plug-in 'z80' in harness\.families") as caught:
        open_session(board, RunOptions(), lambda *_: None).__enter__()
    assert caught.value.expected == f"one of {', '.join(sorted(plugins.installed(plugins.FAMILIES)))}"
    assert "board file" in caught.value.hint


def test_every_board_that_comes_with_harness_has_a_family():
    for board in board_ids():
        assert plugins.family(load_board(board).family).words.cause_registers
