"""Choosing among probes and ports."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from harness import plugins
from harness.bench.attached import AttachedUnits
from harness.bench.boards import load_board
from harness.bench.connection import Connection
from harness.domain.dut import Dut, Probe, SerialPort
from harness.domain.run_options import RunOptions
from harness.errors import ProbeError, SerialPortError
from harness.flashers.process import Process, Program
from harness.virtual import launcher
from tests.support.plugged_in import PluggedIn

BOARD = load_board("stm32f407-virtual")
ST_LINK = Probe("066BFF", "STMicroelectronics ST-LINK/V2-1")
CMSIS_DAP = Probe("E6633", "Raspberry Pi Debug Probe")
ACM = SerialPort("/dev/ttyACM0", "STM32 STLink", "066BFF")
USB = SerialPort("/dev/ttyUSB0", "CP2102", "0001")


def acquire(hardware: PluggedIn, probe: str | None = None, port: str | None = None) -> Dut:
    with AttachedUnits().acquire(BOARD, probe, port, flasher=hardware, transport=hardware) as dut:
        return dut


def test_only_unit_is_taken() -> None:
    assert acquire(PluggedIn((ST_LINK,), (ACM,))) == Dut(BOARD, "066BFF", "/dev/ttyACM0")


def test_a_running_virtual_board_is_not_taken_for_hardware() -> None:
    virtual = Probe("virtual-bench1", "harness virtual STM32F407")
    assert acquire(PluggedIn((virtual, ST_LINK), (ACM,))).probe_id == "066BFF"
    with pytest.raises(ProbeError, match="no debug probe"):
        acquire(PluggedIn((virtual,), (ACM,)))


def test_choice_needs_no_list() -> None:
    assert acquire(PluggedIn(), "066BFF", "/dev/ttyS0") == Dut(BOARD, "066BFF", "/dev/ttyS0")


def test_a_board_that_is_flashed_through_its_port_needs_no_probe() -> None:
    assert acquire(PluggedIn((ST_LINK,), (USB,), uses_probe=False)) == Dut(BOARD, "", "/dev/ttyUSB0")


def test_several_probes_are_listed() -> None:
    with pytest.raises(ProbeError, match="several") as refusal:
        acquire(PluggedIn((ST_LINK, CMSIS_DAP), (ACM,)))
    assert "066BFF" in str(refusal.value)
    assert "E6633" in str(refusal.value)
    assert "--probe" in refusal.value.hint
    assert acquire(PluggedIn((ST_LINK, CMSIS_DAP), (ACM,)), probe="E6633").probe_id == "E6633"


def test_several_ports_are_listed() -> None:
    with pytest.raises(SerialPortError, match="several") as refusal:
        acquire(PluggedIn((ST_LINK,), (ACM, USB), uses_probe=False))
    assert "/dev/ttyACM0 (STM32 STLink), /dev/ttyUSB0 (CP2102)" in str(refusal.value)
    assert acquire(PluggedIn((ST_LINK,), (ACM, USB)), port="/dev/ttyUSB0").port == "/dev/ttyUSB0"


def test_of_several_ports_a_probe_will_find_the_right_one() -> None:
    assert acquire(PluggedIn((ST_LINK,), (ACM, USB))).port == ""


def test_no_probe() -> None:
    with pytest.raises(ProbeError, match="no debug probe") as refusal:
        acquire(PluggedIn((), (ACM,)))
    assert "`harness doctor --udev`" in refusal.value.hint


def test_no_port() -> None:
    with pytest.raises(SerialPortError, match="no serial port"):
        acquire(PluggedIn((ST_LINK,), ()))


def test_a_run_that_has_to_look_for_its_probe_starts_pyocd_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("unicorn", reason="the extra `virtual` is not installed")
    started: list[str] = []

    def counted(program: Program, silence_s: float) -> Process:
        started.append(program.worker)
        return Process(program, silence_s)

    monkeypatch.setattr("harness.flashers.pyocd.client.Process", counted)
    monkeypatch.setattr(Probe, "is_virtual", False)  # it plays hardware here
    flasher = plugins.flasher(BOARD.flasher)
    flasher.prepare()
    hardware = replace(BOARD, units="attached", machine=None)
    with launcher.start("stm32f407", f"attached-{os.getpid()}", private=False) as plugged_in:
        connection = Connection(hardware, plugins.family(hardware.family), flasher, RunOptions(port=plugged_in.port))
        try:
            assert connection.open().dut == Dut(hardware, plugged_in.probe_id, plugged_in.port)
            connection.close()
            connection.open()
        finally:
            connection.close()
    assert started == ["harness.flashers.pyocd.worker"]
