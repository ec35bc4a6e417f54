"""Real pseudo-terminals whose far end speaks as a device in trouble does."""

from __future__ import annotations

import os
import random
import select
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest

from harness.device.talk import Device, Patience
from harness.device.wire import encode
from harness.domain.recipe import Recipe
from harness.errors import FlashError, ProtocolError, SerialPortError
from harness.measure.procedure import measure
from harness.transports.serial import SerialTransport
from tests.support.scripted import HELLO, SUBJECT, ScriptedLine

PATIENCE = Patience(boot_s=1.0, answer_s=1.0, work_s=1.0)
ROM_TEXT = b"ets Jun  8 2016 00:22:57\r\n\r\nrst:0x8 (TG1WDT_SYS_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n"


class Speaker:
    """A device behind a pseudo-terminal, in a thread of its own.

    Args:
        device: answers commands.
        pause_s: how long it waits before each single byte; 0 sends all at once.
    """

    def __init__(self, device: ScriptedLine, pause_s: float = 0.0) -> None:
        self._device = device
        self._pause_s = pause_s
        self._master, user_end = os.openpty()
        tty.setraw(user_end)
        self.port = os.ttyname(user_end)
        self._user_end = user_end
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Speaker:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.unplug()
        self._thread.join()

    def unplug(self) -> None:
        """The port is gone, in whatever it was saying."""
        self._ended.set()

    def _serve(self) -> None:
        heard = b""
        with suppress(OSError):
            while not self._ended.is_set():
                self._say(self._device.read(0))
                if select.select([self._master], [], [], 0.005)[0]:
                    heard += os.read(self._master, 4096)
                    lines, newline, heard = heard.rpartition(b"\n")
                    if newline:
                        self._device.write(lines)
        for descriptor in (self._user_end, self._master):
            os.close(descriptor)

    def _say(self, data: bytes) -> None:
        pieces = [data] if not self._pause_s else [data[at : at + 1] for at in range(len(data))]
        for piece in pieces:
            if self._ended.wait(self._pause_s):
                return
            os.write(self._master, piece)


@contextmanager
def talk(device: ScriptedLine, pause_s: float = 0.0) -> Iterator[tuple[Device, Speaker]]:
    """A device behind a real port."""
    with Speaker(device, pause_s) as speaker:
        line = SerialTransport().open(speaker.port, 115200)
        try:
            yield Device(line, device.reset, PATIENCE), speaker
        finally:
            line.close()


def figures(device: Device):
    return replace(measure(device, SUBJECT, Recipe()), log=())


def test_the_good_frame_after_much_trouble_gives_one_result_and_counts_the_resets():
    quiet = ScriptedLine()
    with talk(quiet) as (device, _):
        quiet.boot()
        undisturbed = figures(device)
    troubled = ScriptedLine()
    hello = troubled.frame(HELLO)
    with talk(troubled) as (device, _):
        troubled.say(random.Random(1).randbytes(200))  # noqa: S311 - no secret
        troubled.say(b"\r\n" + ROM_TEXT)
        troubled.boot(build_id="another_build_01")
        troubled.say(hello[:60] + b"\n")
        troubled.say(hello[:90] + ROM_TEXT + hello[90:])
        troubled.boot()
        assert figures(device) == undisturbed
    assert device.transcript.boots == 3  # the other build's, this one's, and the reset that measuring asks for
    assert device.transcript.damaged_lines >= 2
    assert any("TG1WDT_SYS_RESET" in text for text in device.transcript.log)


def test_a_device_that_only_ever_says_another_build_is_named():
    line = ScriptedLine()
    with talk(line) as (device, _):
        line.boot(build_id="another_build_01")
        with pytest.raises(FlashError, match="firmware build") as caught:
            figures(device)
    assert caught.value.measured == "another_build_01"


def test_one_byte_per_100_ms_does_not_outlast_the_deadline():
    line = ScriptedLine()
    with talk(line, pause_s=0.1) as (device, _):
        line.boot()
        with pytest.raises(ProtocolError, match="no frame of ours"):  # long before the hello has come in
            device.await_boot()


def test_a_hello_that_begins_again_and_again_does_not_outlast_the_deadline():
    line = ScriptedLine(lambda _line, _command: b"")  # nor does the device answer when it is asked for its hello
    first_line = encode(0, "00000000", '{"frame":', more=True)
    with talk(line) as (device, _):
        babbling = threading.Event()

        def babble():
            while not babbling.wait(0.05):
                line.say(first_line)

        babbler = threading.Thread(target=babble)
        babbler.start()
        try:
            with pytest.raises(ProtocolError, match="no frame of ours"):
                device.await_boot()
        finally:
            babbling.set()
            babbler.join()


def test_a_port_that_is_gone_in_mid_frame_is_named_and_its_new_name_works():
    line = ScriptedLine()
    with talk(line) as (device, speaker):
        line.boot()
        device.await_boot()
        line.say(line.frame(HELLO)[:40])
        speaker.unplug()
        with pytest.raises(SerialPortError, match="gone") as gone:
            device.ask("scan", "scanned")
    assert gone.value.where == speaker.port
    with pytest.raises(SerialPortError):
        SerialTransport().open(speaker.port, 115200)
    line = ScriptedLine()
    with talk(line) as (device, _):  # the board is back, under another name or the same
        line.boot()
        assert device.await_boot().unit == HELLO["unit"]
