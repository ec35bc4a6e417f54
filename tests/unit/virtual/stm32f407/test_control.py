from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("unicorn", reason="virtual boards need the extra `virtual`")

import json

from harness.virtual.flash_array import open_flash
from harness.virtual.link import Operation, Request, Response, Status
from harness.virtual.stm32f407.chip.machine import Machine
from harness.virtual.stm32f407.chip.memory import FLASH_BYTES
from harness.virtual.stm32f407.faults import Faults
from harness.virtual.stm32f407.serial_line import SerialLine
from harness.virtual.stm32f407.service import Service

FLASH_SR, FLASH_OPTCR = 0x4002_3C0C, 0x4002_3C14


@pytest.fixture
def service():
    faults = Faults()
    line = SerialLine(faults)
    yield Service(Machine("test", open_flash(None, FLASH_BYTES), line, faults), faults)
    line.close()


def do(service: Service, **command: object) -> dict[str, Any]:
    answer = service.answer(Request(Operation.CONTROL, payload=json.dumps(command).encode()))
    assert answer.status is Status.OK, answer.payload
    return json.loads(answer.payload)


def read(service: Service, address: int) -> Response:
    return service.answer(Request(Operation.READ, address, 4))


def test_state_tells_what_the_board_does(service):
    assert do(service, do="state")["core_hz"] == 16_000_000


def test_a_board_without_power_does_not_answer_its_probe(service):
    assert do(service, do="power", on=False)["powered"] is False
    assert read(service, 0x2000_0000).status is Status.NO_ACK
    do(service, do="power_cycle")
    assert read(service, 0x2000_0000).status is Status.OK


def test_the_reset_pin_can_be_read_back(service):
    service.answer(Request(Operation.SET_RESET, 1))
    assert service.answer(Request(Operation.GET_RESET)).address == 1
    service.answer(Request(Operation.SET_RESET, 0))
    assert service.answer(Request(Operation.GET_RESET)).address == 0


def test_a_bus_fault_is_an_answer(service):
    assert read(service, 0x6000_0000) == Response(Status.FAULT, 0x6000_0000)


@pytest.mark.parametrize("status", [Status.WAIT, Status.FAULT, Status.NO_ACK, Status.DISCONNECTED])
def test_link_faults_hit_the_transfer_they_should(service, status):
    do(service, do="link", status=status.name.lower(), first=2, count=1)
    assert [read(service, 0x2000_0000).status for _ in range(3)] == [Status.OK, status, Status.OK]


def test_a_bit_of_flash_turns(service):
    before = read(service, 0x0800_0000).payload
    do(service, do="flash_flip", address=0x0800_0001, mask=0x40)
    after = read(service, 0x0800_0000).payload
    assert [a ^ b for a, b in zip(before, after, strict=True)] == [0, 0x40, 0, 0]


def test_write_and_read_protection_are_option_bytes(service):
    do(service, do="write_protect", sectors=[1, 11])
    do(service, do="read_protect", level=1)
    options = int.from_bytes(read(service, FLASH_OPTCR).payload, "little")
    assert options >> 16 & 0xFFF == 0x7FD
    assert options >> 8 & 0xFF == 0x55
    assert read(service, 0x0800_0000).status is Status.FAULT
    do(service, do="clear_faults")
    assert read(service, 0x0800_0000).status is Status.OK


def test_power_can_be_cut_before_a_certain_transfer(service):
    do(service, do="power", on=False, at={"transfer": 2})
    assert [read(service, 0x2000_0000).status for _ in range(2)] == [Status.OK, Status.NO_ACK]
    assert do(service, do="state")["powered"] is False


def test_a_late_command_with_wrong_arguments_shows_in_the_state(service):
    do(service, do="power", at=[{"transfer": 1}])
    assert read(service, 0x2000_0000).status is Status.OK
    assert "power" in do(service, do="state")["trouble"]
    assert do(service, do="clear_faults")["trouble"] == ""


@pytest.mark.parametrize(
    "command",
    [
        {"do": "fly"},
        {},
        {"do": "power"},
        {"do": "link", "status": "late"},
        {"do": "flash_stuck_bits", "address": 0x2000_0000, "mask": 1},
        {"do": "read_protect", "level": 7},
        {"do": "serial", "to": "device", "kind": "eat"},
        {"do": "wrong_baud"},
        {"do": "power", "on": False, "at": {"someday": 1}},
        {"do": "power", "on": False, "at": 3},
        {"do": "write_protect", "sectors": 3},
        {"do": "write_protect", "sectors": [12]},
        [],
    ],
)
def test_wrong_commands_are_refused_with_a_reason(service, command):
    answer = service.answer(Request(Operation.CONTROL, payload=json.dumps(command).encode()))
    assert answer.status is Status.BAD_REQUEST
    assert answer.payload


def test_what_is_not_json_is_refused(service):
    assert service.answer(Request(Operation.CONTROL, payload=b"\xff{")).status is Status.BAD_REQUEST
