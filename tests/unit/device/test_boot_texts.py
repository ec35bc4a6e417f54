"""A chip's own words, alone and through a device that says them instead of frames."""

from __future__ import annotations

import pytest

from harness.device.boot_texts import explain, explain_noise
from harness.device.talk import Device, Patience
from harness.domain.family import NO_WORDS, BootText, ChipWords
from harness.errors import FlashError, ProtocolError, WatchdogError
from tests.support.scripted import ScriptedLine

PATIENCE = Patience(boot_s=0.3, answer_s=0.3, work_s=0.3)
WORDS = ChipWords(
    boot_texts=(
        BootText("no image|bad image", FlashError, "the chip has no firmware", "flash it"),
        BootText(r"reset by dog \d", WatchdogError, "a watchdog reset the chip", ""),
    ),
    boot_speed="the ROM talks at 300 baud",
)


def test_trouble_is_named() -> None:
    found = explain(["hello", " reset by dog 7 "], "/dev/ttyUSB0", WORDS)
    assert isinstance(found, WatchdogError)
    assert (found.what, found.where, found.measured) == ("a watchdog reset the chip", "/dev/ttyUSB0", "reset by dog 7")


def test_the_first_kind_of_trouble_counts_whatever_came_first() -> None:
    found = explain(["reset by dog 7", "bad image"], "p", WORDS)
    assert isinstance(found, FlashError)
    assert found.hint == "flash it"


def test_other_words_are_no_trouble() -> None:
    assert explain(["reset by cat 7"], "p", WORDS) is None
    assert explain([], "p", WORDS) is None
    assert explain(["bad image"], "p", NO_WORDS) is None


def test_noise_is_told_from_damaged_text() -> None:
    noise = r"\xf0\x80\x1c\x8e\xfe\x00x\x83\xc2\x9b\xd1"
    found = explain_noise([noise, noise], "p", WORDS)
    assert isinstance(found, ProtocolError)
    assert found.hint.startswith("the ROM talks at 300 baud, harness's firmware talks at the board file's baud_rate")
    assert explain_noise([noise, r"Didn't find op for \xf3uiltin opcode"], "p", WORDS) is None
    assert explain_noise([], "p", WORDS) is None


def test_the_noise_of_a_chip_without_a_rom_that_talks_is_the_firmwares() -> None:
    found = explain_noise([r"\xf0\x80"], "p", NO_WORDS)
    assert found is not None
    assert found.hint.startswith("harness's firmware talks at")


def test_a_device_at_another_speed_is_told_by_its_noise() -> None:
    mute = Mute(b"\xf0\x80\x1c\x8e\xfe\x00\x83\xc2\x9b\xd1\r\n")
    with pytest.raises(ProtocolError, match="noise"):
        Device(mute, mute.reset, PATIENCE, WORDS).reboot()


class Mute(ScriptedLine):
    """A device that boots into trouble instead of saying hello."""

    def __init__(self, said: bytes) -> None:
        super().__init__(lambda line, command: b"")
        self._said = said

    def boot(self, **changes: object) -> None:
        self.say(self._said)


@pytest.mark.parametrize(("line", "error"), [("bad image", FlashError), ("reset by dog 1", WatchdogError)])
def test_a_device_that_does_not_start_says_why(line, error) -> None:
    mute = Mute(f"hello\r\n\r\n{line}\r\n".encode())
    device = Device(mute, mute.reset, PATIENCE, WORDS)
    with pytest.raises(error):
        device.reboot()


def test_a_reset_in_the_middle_of_an_answer_is_named() -> None:
    def die(line: ScriptedLine, command) -> bytes:
        half = line.frame({"frame": "scanned", "gap_offset": 0})[:20]
        return half + b"\r\nhello\r\nreset by dog 1\r\nno image\r\n"

    line = ScriptedLine(die)
    device = Device(line, line.reset, PATIENCE, WORDS)
    device.reboot()
    with pytest.raises(FlashError, match="no firmware"):
        device.ask("allocate", "allocated", works=True, arena_bytes=100, paint=170)


def test_what_an_earlier_start_said_is_not_held_against_a_later_one() -> None:
    line = ScriptedLine(lambda line, command: b"")
    device = Device(line, line.reset, PATIENCE, WORDS)
    line.say(b"reset by dog 1\r\n")
    device.reboot()
    with pytest.raises(Exception, match="no answer to"):
        device.ask("allocate", "allocated", works=True, arena_bytes=100, paint=170)
