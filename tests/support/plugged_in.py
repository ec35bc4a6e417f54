"""Hardware that can only be listed."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.dut import Probe, SerialPort


@dataclass(frozen=True)
class PluggedIn:
    """A flasher and transport in one, that only list."""

    found_probes: tuple[Probe, ...] = ()
    found_ports: tuple[SerialPort, ...] = ()
    uses_probe: bool = True

    def probes(self) -> tuple[Probe, ...]:
        return self.found_probes

    def ports(self) -> tuple[SerialPort, ...]:
        return self.found_ports
