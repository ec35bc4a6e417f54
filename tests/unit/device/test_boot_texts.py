"""Boot texts, alone and through a device that says them instead of frames."""

from __future__ import annotations

import pytest

from harness.device.boot_texts import explain, explain_noise
from harness.device.talk import Device, Patience
from harness.errors import (
    BrownOutError,
    DeviceFaultError,
    FlashError,
    ProbeError,
    ProtocolError,
    WatchdogError,
)
from tests.support.scripted import ScriptedLine

BANNER = "ets Jun  8 2016 00:22:57"
PATIENCE = Patience(boot_s=0.3, answer_s=0.3, work_s=0.3)
TROUBLE = [
    ("rst:0xf (RTCWDT_BROWN_OUT_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", BrownOutError),
    ("Brownout detector was triggered", BrownOutError),
    ("rst:0x10 (RTCWDT_RTC_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", WatchdogError),
    ("rst:0x8 (TG1WDT_SYS_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", WatchdogError),
    ("rst:0xb (TGWDT_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", WatchdogError),
    ("E (10315) task_wdt: Task watchdog got triggered.", WatchdogError),
    ("invalid header: 0xffffffff", FlashError),
    ("csum err:0x57!=0x56", FlashError),
    ("waiting for download", ProbeError),
    ("Fatal exception (28): ", DeviceFaultError),
]


@pytest.mark.parametrize(("line", "error"), TROUBLE)
def test_trouble_is_named(line, error) -> None:
    found = explain([BANNER, line], "/dev/ttyUSB0")
    assert type(found) is error
    assert found.where == "/dev/ttyUSB0"
    assert found.measured == line.strip()


def test_a_normal_start_is_no_trouble() -> None:
    lines = [BANNER, "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", "load:0x3ffb4800,len:18300"]
    assert explain(lines, "p") is None
    assert explain([BANNER, "rst:0xc (SW_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)"], "p") is None
    assert explain([], "p") is None


def test_a_missing_image_is_named_before_the_watchdog_that_ends_the_wait_for_it() -> None:
    lines = ["rst:0x10 (RTCWDT_RTC_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", "invalid header: 0xffffffff"]
    assert isinstance(explain(lines, "p"), FlashError)


def test_noise_is_told_from_damaged_text() -> None:
    noise = r"\xf0\x80\x1c\x8e\xfe\x00x\x83\xc2\x9b\xd1"
    found = explain_noise([noise, noise], "p")
    assert isinstance(found, ProtocolError)
    assert "74880" in found.hint
    assert explain_noise([noise, r"Didn't find op for \xf3uiltin opcode"], "p") is None
    assert explain_noise([], "p") is None


def test_a_device_at_another_speed_is_told_by_its_noise() -> None:
    mute = Mute(b"\xf0\x80\x1c\x8e\xfe\x00\x83\xc2\x9b\xd1\r\n")
    with pytest.raises(ProtocolError, match="noise"):
        Device(mute, mute.reset, PATIENCE).reboot()


class Mute(ScriptedLine):
    """A device that boots into trouble instead of saying hello."""

    def __init__(self, said: bytes) -> None:
        super().__init__(lambda line, command: b"")
        self._said = said

    def boot(self, **changes: object) -> None:
        self.say(self._said)


@pytest.mark.parametrize(("line", "error"), TROUBLE)
def test_a_device_that_does_not_start_says_why(line, error) -> None:
    mute = Mute(f"{BANNER}\r\n\r\n{line}\r\n".encode())
    device = Device(mute, mute.reset, PATIENCE)
    with pytest.raises(error):
        device.reboot()


def test_a_reset_in_the_middle_of_an_answer_is_named() -> None:
    def die(line: ScriptedLine, command) -> bytes:
        half = line.frame({"frame": "scanned", "gap_offset": 0})[:20]
        return half + f"\r\n{BANNER}\r\nrst:0x10 (RTCWDT_RTC_RESET),boot:0x13\r\ninvalid header: 0x0\r\n".encode()

    line = ScriptedLine(die)
    device = Device(line, line.reset, PATIENCE)
    device.reboot()
    with pytest.raises(FlashError, match="no firmware"):
        device.ask("allocate", "allocated", works=True, arena_bytes=100, paint=170)


def test_what_an_earlier_start_said_is_not_held_against_a_later_one() -> None:
    line = ScriptedLine(lambda line, command: b"")
    device = Device(line, line.reset, PATIENCE)
    line.say(b"rst:0x10 (RTCWDT_RTC_RESET),boot:0x13\r\n")
    device.reboot()
    with pytest.raises(Exception, match="no answer to"):
        device.ask("allocate", "allocated", works=True, arena_bytes=100, paint=170)
