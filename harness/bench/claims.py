"""One program at a time works with a unit: its probe and its port are claimed together, before its chip is touched.

Flashers and transports lock what they have open while they have it open; a claim lasts as long as the work does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from harness.domain.dut import VIRTUAL_PROBE_PREFIX, Dut
from harness.errors import ProbeError, SerialPortError
from harness.files import locks
from harness.files.folders import runtime_folder
from harness.files.port_names import real_name


@contextmanager
def claim_unit(dut: Dut) -> Iterator[None]:
    """Hold a unit for as long as the context lasts, as far as it is known.

    Raises:
        ProbeError, SerialPortError: another program, of whatever user, works with its probe or its port.
    """
    with (
        claim_probe(dut.probe_id) if dut.probe_id else nullcontext(),
        claim_port(dut.port) if dut.port else nullcontext(),
    ):
        yield


@contextmanager
def claim_probe(probe_id: str) -> Iterator[None]:
    """Hold the unit behind a probe; raises as `claim_unit`. Virtual probes are one user's, in one session."""
    whose = f" in {runtime_folder().path}" if probe_id.startswith(VIRTUAL_PROBE_PREFIX) else ""
    with locks.hold(f"unit at probe {probe_id}{whose}", ProbeError):
        yield


@contextmanager
def claim_port(port: str) -> Iterator[None]:
    """Hold the unit behind a serial port; raises as `claim_unit`."""
    with locks.hold(f"unit at port {real_name(port)}", SerialPortError):
        yield
