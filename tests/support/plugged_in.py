"""Hardware that can be listed, and no more."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from harness.domain.dut import Dut, Probe, SerialPort
from harness.errors import ProbeError, SerialPortError
from harness.ports import FlashSession, Line


@dataclass(frozen=True)
class PluggedIn:
    """A flasher and transport in one, which find these probes and ports, and reach none of them."""

    found_probes: tuple[Probe, ...] = ()
    found_ports: tuple[SerialPort, ...] = ()
    uses_probe: bool = True

    def prepare(self) -> None:
        pass

    def probes(self) -> tuple[Probe, ...]:
        return self.found_probes

    def connect(self, dut: Dut) -> AbstractContextManager[FlashSession]:
        raise ProbeError("the probe does not answer", where=dut.probe_id)

    def ports(self) -> tuple[SerialPort, ...]:
        return self.found_ports

    def open(self, port: str, baud_rate: int) -> Line:
        raise SerialPortError("the port cannot be opened", where=port)
