"""The process in which pyOCD runs: `python -m harness.flashers.pyocd.worker`.

pyOCD changes the working directory, can spin for ever when a probe dies, and takes a second to import. Here it can be
started early, and killed.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.errors import ProbeError
from harness.flashers.messages import Message
from harness.flashers.serving import Calls, Report, result, serve

if TYPE_CHECKING:
    from harness.flashers.pyocd.chip import Chip


class PyocdCalls:
    """What pyOCD is asked to do, with at most one chip at a time.

    Args:
        report: told the progress of a write.
    """

    def __init__(self, report: Report) -> None:
        from harness.flashers.pyocd import chip  # noqa: PLC0415  # a second; the requests are being taken meanwhile

        self._pyocd = chip
        self._report = report
        self._chip: Chip | None = None

    def by_name(self) -> Calls:
        """What is done for each call."""
        return {
            "probes": self._probes,
            "connect": self._connect,
            "read": self._read,
            "write": self._write,
            "registers": self._registers,
            "is_halted": self._is_halted,
            "reset_and_halt": self._reset_and_halt,
            "resume": self._resume,
            "disconnect": self._disconnect,
        }

    def _probes(self, request: Message) -> Message:
        return result(probes=[asdict(probe) for probe in self._pyocd.connected_probes()])

    def _connect(self, request: Message) -> Message:
        self._disconnect(request)
        fields = request.fields
        self._chip = self._pyocd.Chip(fields["probe_id"], fields["target"], fields["connect_mode"])
        return result()

    def _read(self, request: Message) -> Message:
        return result(self._connected.read(request.fields["address"], request.fields["size_bytes"]))

    def _write(self, request: Message) -> Message:
        self._connected.write(request.fields["address"], request.data, self._report)
        return result()

    def _registers(self, request: Message) -> Message:
        return result(registers=self._connected.registers(request.fields["mapped"]))

    def _is_halted(self, request: Message) -> Message:
        return result(halted=self._connected.is_halted())

    def _reset_and_halt(self, request: Message) -> Message:
        self._connected.reset_and_halt()
        return result()

    def _resume(self, request: Message) -> Message:
        self._connected.resume()
        return result()

    def _disconnect(self, request: Message) -> Message:
        if self._chip is not None:
            self._chip.close()
            self._chip = None
        return result()

    @property
    def _connected(self) -> Chip:
        if self._chip is None:
            raise ProbeError("no chip is connected")
        return self._chip


if __name__ == "__main__":
    serve(lambda report: PyocdCalls(report).by_name())
