"""Answers the link's requests for one board."""

from __future__ import annotations

import json

from harness.errors import HarnessError
from harness.virtual.link import Operation, Request, Response, Status
from harness.virtual.stm32f407.chip.bus import BusError
from harness.virtual.stm32f407.chip.machine import Machine
from harness.virtual.stm32f407.control import Control
from harness.virtual.stm32f407.faults import Faults
from harness.virtual.stm32f407.triggers import Triggers


class Service:
    """Turns requests into what the board does.

    Args:
        machine: the board.
        faults: what is broken about it.
    """

    def __init__(self, machine: Machine, faults: Faults) -> None:
        self._machine = machine
        self._faults = faults
        self._control = Control(machine, faults)

    @property
    def triggers(self) -> Triggers:
        """Commands that wait for a moment."""
        return self._control.triggers

    def answer(self, request: Request) -> Response:
        """Do what is asked."""
        if request.operation is Operation.CONTROL:
            return self._command(request.payload)
        self._control.triggers.note_transfer()
        status = self._faults.link.next()
        if status is Status.OK and not self._machine.powered:
            status = Status.NO_ACK
        if status is not Status.OK:
            return Response(status, request.address)
        try:
            return self._transfer(request)
        except BusError as error:
            return Response(Status.FAULT, error.address)

    def _transfer(self, request: Request) -> Response:
        if request.operation is Operation.READ:
            data = self._machine.read_memory(request.address, request.size_bytes, request.width_bytes)
            return Response(payload=data)
        if request.operation is Operation.WRITE:
            self._machine.write_memory(request.address, request.payload, request.width_bytes)
        elif request.operation is Operation.SET_RESET:
            self._machine.set_reset(bool(request.address))
        elif request.operation is Operation.GET_RESET:
            return Response(address=int(self._machine.reset_asserted))
        return Response()

    def _command(self, payload: bytes) -> Response:
        try:
            command = json.loads(payload)
            if not isinstance(command, dict):
                return Response(Status.BAD_REQUEST, payload=b"a command is a JSON object")
            return Response(payload=json.dumps(self._control.execute(command)).encode())
        except ValueError as error:
            return Response(Status.BAD_REQUEST, payload=f"not JSON: {error}".encode())
        except HarnessError as error:
            return Response(Status.BAD_REQUEST, payload=str(error).replace("\n", "; ").encode())
