"""A virtual STM32F407 without a probe: the firmware lies in its flash, and frames go over its serial line."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Sequence

import pytest
import serial

from harness.bench.boards import load_board
from harness.build.model_image import pack
from harness.device import wire
from harness.virtual.stm32f407.faults import Faults
from harness.virtual.stm32f407.serial_line import SerialLine

machine = pytest.importorskip("harness.virtual.stm32f407.chip.machine", reason="needs unicorn", exc_type=ImportError)

BOARD = load_board("stm32f407-virtual")
NONCE = "5f3a9c01"

# DDI 0403 section C1.6: debug registers, and the numbers by which they select the core's own.
DHCSR, DCRSR, DCRDR = 0xE000EDF0, 0xE000EDF4, 0xE000EDF8
HALT, RUN = 0xA05F0003, 0xA05F0001
REGISTERS = {"sp": 13, "lr": 14, "pc": 15, "xpsr": 16, "psp": 18}
CHUNK = 200_000
FLASH_BYTES = 1 << 20
ARENA_BYTES = 4096


class Chip:
    """The chip, and the other end of its serial line.

    Args:
        image: the firmware.
        models: what lies in its model region, each behind a header of its own.
    """

    def __init__(self, image, models: Sequence[bytes] = ()):
        faults = Faults()
        flash = mmap.mmap(-1, FLASH_BYTES)
        flash.write(b"\xff" * FLASH_BYTES)
        flash[: len(image.segment.data)] = image.segment.data
        offset = image.model_region.start - image.segment.address
        for model in models:
            packed = pack(model, hashlib.sha256(model).hexdigest(), image.build_id)
            flash[offset : offset + len(packed)] = packed
            offset += -(-len(packed) // 16) * 16
        self.log: list[str] = []
        self.hello = None
        self._line = SerialLine(faults)
        self._user_end = serial.Serial(self._line.port, BOARD.baud_rate, timeout=0)
        self._machine = machine.Machine("test", flash, self._line, faults)
        self._decoder = wire.Decoder()

    def close(self):
        self._user_end.close()
        self._line.close()

    def frame(self, *kinds, pause_s=0.0):
        """Run until a frame of one of these kinds comes; before each slice the core rests for `pause_s` of its time."""
        for _ in range(400):
            self._machine.elapse(max(pause_s, self._machine.idle_s()))
            self._machine.receive()
            self._machine.run(CHUNK)
            for event in self._decoder.feed(self._user_end.read(65536)):
                if isinstance(event, wire.LogText):
                    self.log.append(event.text)
                if isinstance(event, wire.Frame) and event.kind in kinds:
                    return event.body.values
        raise AssertionError(f"no frame {kinds}: {self._machine.state()}")

    def start(self):
        """Run until the firmware has said hello."""
        self.hello = self.frame("hello")
        return self

    def send(self, **command):
        self._user_end.write(wire.encode_command(0, NONCE, command))

    def ask(self, command, answer, **arguments):
        """Send a command; a frame of the kind `answer`, an error or a fault has to come."""
        self.send(cmd=command, **arguments)
        frame = self.frame(answer, "error", "fault")
        assert frame["frame"] == answer, frame
        return frame

    def allocate(self, arena_bytes=ARENA_BYTES, **more):
        return self.ask("allocate", "allocated", arena_bytes=arena_bytes, paint=0xAA, **more)

    def run(self, data, model=0, **more):
        """Feed the beginning of a model's first input, and invoke."""
        self.ask("input", "ok", model=model, index=0, offset=0, hex=bytes(data).hex())
        return self.ask("invoke", "invoked", model=model, **more)

    def output(self, model=0):
        """The bytes of a model's first output."""
        return bytes.fromhex(self.ask("output", "output", model=model, index=0)["hex"])

    def lead_astray(self, **values):
        """Halt the core, change its registers, and let it run on."""
        self._poke(DHCSR, HALT)
        for name, value in values.items():
            self._poke(DCRDR, value)
            self._poke(DCRSR, 1 << 16 | REGISTERS[name])
        self._poke(DHCSR, RUN)
        self._poke(DHCSR, 0xA05F0000)

    def _poke(self, address, value):
        self._machine.write_memory(address, value.to_bytes(4, "little"), 4)
