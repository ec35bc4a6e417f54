"""The process in which esptool runs: `python -m harness.flashers.esptool.worker`.

esptool is GPL, prints what it likes, and can wait long for a chip. Its command line would need a connection, and the
upload of its helper program, for each step; here one connection serves for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ProbeError
from harness.flashers.messages import Message
from harness.flashers.serving import Calls, Report, result, serve

if TYPE_CHECKING:
    from harness.flashers.esptool.chip import Chip


class EsptoolCalls:
    """What esptool is asked to do, with at most one chip at a time.

    Args:
        report: told the progress of a write.
    """

    def __init__(self, report: Report) -> None:
        from harness.flashers.esptool import chip  # noqa: PLC0415  # slow; the requests are being taken meanwhile

        self._module = chip
        self._report = report
        self._chip: Chip | None = None

    def by_name(self) -> Calls:
        """What is done for each call."""
        return {"connect": self._connect, "read": self._read, "write": self._write, "disconnect": self._disconnect}

    def _connect(self, request: Message) -> Message:
        fields = request.fields
        self._close()
        wanted = self._module.Wanted(fields["target"], fields["flash_bytes"], fields["mac"])
        self._chip = self._module.Chip(fields["port"], wanted)
        return result(mac=self._chip.mac)

    def _read(self, request: Message) -> Message:
        return result(self._connected.read(request.fields["address"], request.fields["size_bytes"]))

    def _write(self, request: Message) -> Message:
        self._connected.write(request.fields["address"], request.data, self._report)
        return result()

    def _disconnect(self, request: Message) -> Message:
        if self._chip is not None and request.fields["restart"]:
            self._chip.restart()
        self._close()
        return result()

    def _close(self) -> None:
        if self._chip is not None:
            self._chip.close()
            self._chip = None

    @property
    def _connected(self) -> Chip:
        if self._chip is None:
            raise ProbeError("no chip is connected")
        return self._chip


if __name__ == "__main__":
    serve(lambda report: EsptoolCalls(report).by_name())
