"""Which port is the unit's: by the id in its chip."""

from dataclasses import dataclass, field

import pytest

from harness import plugins
from harness.bench.boards import load_board
from harness.bench.identity import find_port, read_unit_id
from harness.domain.dut import SerialPort
from harness.errors import SerialPortError
from tests.support.scripted import ScriptedLine

BOARD = load_board("stm32f407-virtual")
FAMILY = plugins.family(BOARD.family)


class NotedLine(ScriptedLine):
    """Writes down that it was closed."""

    def __init__(self, port, unit, closed):
        super().__init__(unit=unit)
        self.port = port
        self._closed = closed

    def close(self):
        self._closed.append(self.port)


@dataclass
class Flash:
    """A probe on a chip with an id, whose firmware says hello at the ports that `lines` names."""

    unit: bytes
    started: list[str] = field(default_factory=list)

    def read(self, address, size_bytes):
        assert (address, size_bytes) == (FAMILY.unit_id.start, FAMILY.unit_id.size_bytes)
        return self.unit

    def write(self, segment, progress):
        pass

    def start(self, open_line):
        line = open_line()
        self.started.append(line.port)
        line.reset()
        return line

    def restart(self, line):
        line.reset()


@dataclass
class Ports:
    """Serial ports; at each some unit says hello, or an error comes."""

    units: dict[str, object]
    closed: list[str] = field(default_factory=list)

    def ports(self):
        return [SerialPort(name, name, "") for name in self.units]

    def open(self, port, baud_rate):
        found = self.units[port]
        if isinstance(found, Exception):
            raise found
        return NotedLine(port, found, self.closed)


def test_the_port_is_the_one_at_which_the_probes_chip_answers():
    flash, ports = (
        Flash(bytes(range(12))),
        Ports({"/dev/a": "ff" * 12, "/dev/b": bytes(range(12)).hex(), "/dev/c": "x"}),
    )
    assert find_port(flash, BOARD, FAMILY, ports) == "/dev/b"
    assert flash.started == ["/dev/a", "/dev/b"]
    assert ports.closed == ["/dev/a", "/dev/b"]


def test_when_it_is_none_of_them_each_ones_words_are_told():
    ports = Ports({"/dev/a": "ff" * 12, "/dev/b": SerialPortError("the port is in use")})
    with pytest.raises(SerialPortError, match="no serial port is this unit's") as raised:
        find_port(Flash(bytes(12)), BOARD, FAMILY, ports)
    assert raised.value.measured == f"/dev/a: {'ff' * 12}; /dev/b: the port is in use"
    assert raised.value.where == f"{BOARD.id} {'00' * 12}"


def test_without_ports_that_is_said():
    with pytest.raises(SerialPortError) as raised:
        find_port(Flash(bytes(12)), BOARD, FAMILY, Ports({}))
    assert raised.value.measured == "no ports"


def test_a_family_without_an_id_has_none():
    assert read_unit_id(Flash(bytes(12)), FAMILY) == "00" * 12
    assert read_unit_id(Flash(bytes(12)), plugins.family("esp32")) is None
