"""Probe and port of a unit are claimed together, and before anybody touches the chip."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import pytest

from harness.bench.boards import load_board
from harness.bench.claims import claim_port, claim_probe, claim_unit
from harness.bench.connection import Connection
from harness.domain.dut import Dut
from harness.domain.run_options import RunOptions
from harness.errors import ProbeError, SerialPortError

BOARD = load_board("stm32f407-discovery")
UNIT = Dut(BOARD, "probe-7", "/dev/ttyACM7")


def test_a_unit_is_held_by_its_probe_and_by_its_port() -> None:
    with claim_unit(UNIT):
        with pytest.raises(ProbeError, match="in use"), claim_probe("probe-7"):
            pass
        with pytest.raises(SerialPortError, match="in use"), claim_port("/dev/ttyACM7"):
            pass
        with claim_unit(Dut(BOARD, "probe-8", "/dev/ttyACM8")):
            pass


def test_what_was_held_is_given_back_when_the_rest_cannot_be_had() -> None:
    with claim_port("/dev/ttyACM7"), pytest.raises(SerialPortError), claim_unit(UNIT):
        pass
    with claim_unit(UNIT):
        pass


def test_virtual_probes_are_one_session_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "one"))
    with claim_probe("virtual-board"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "two"))
        with claim_probe("virtual-board"):
            pass


def test_a_unit_whose_port_somebody_has_is_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    class Units:
        @contextmanager
        def acquire(self, *_: Any, **__: Any) -> Any:
            yield UNIT

    class Untouched:
        def connect(self, dut: Dut) -> Any:
            raise AssertionError("the chip was touched")

    monkeypatch.setattr("harness.plugins.unit_source", lambda name: Units())
    flasher: Any = Untouched()
    family: Any = None
    connection = Connection(BOARD, family, flasher, RunOptions())
    with claim_port("/dev/ttyACM7"), pytest.raises(SerialPortError, match="in use"):
        connection.open()
    connection.close()
