"""What esptool says, and what harness makes of it. The texts are esptool 5.6's and 4.8's."""

from __future__ import annotations

import pytest

pytest.importorskip("esptool", reason="the extra `esp32` is not installed")

from harness.errors import FlashError, ProbeError, SerialPortError
from harness.flashers.esptool.faults import explain, explained

CONNECT = "Failed to connect to ESP32: "
POINTER = (
    "\nFor troubleshooting steps visit: https://docs.espressif.com/projects/esptool/en/latest/troubleshooting.html"
)
SAID = [
    (f"{CONNECT}Wrong boot mode detected (0x13)! The chip needs to be in download mode.", ProbeError, "BOOT"),
    (f"{CONNECT}Download mode successfully detected, but getting no sync reply: The serial TX path seems to be down.",
     ProbeError, "GPIO3"),
    (f"{CONNECT}No serial data received.", ProbeError, "--port"),
    ("No serial data received.", ProbeError, "cable"),
    ("Invalid head of packet (0x1B): Possible serial noise or corruption.", ProbeError, "baud_rate"),
    ("Failed to start stub flasher. There was no response.", ProbeError, "supply"),
    ("Failed to write compressed data to flash after seq 2 (result was 0106: Operation failed)", FlashError, "worn"),
    ("Failed to calculate md5sum (result was 0106)", FlashError, "worn"),
    ("something new", ProbeError, "again"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "error", "advice"), SAID)
def test_each_text_has_its_class_and_advice(text, error, advice):
    found = explain(text + POINTER, "connecting", "/dev/ttyUSB0")
    assert type(found) is error
    assert found.where == "/dev/ttyUSB0"
    assert advice in found.hint
    assert "https" not in str(found)
    assert len(str(found).splitlines()) == 3


def test_a_port_that_goes_away_is_named():
    with pytest.raises(SerialPortError, match="gone while writing"), explained("writing", "/dev/ttyUSB0"):
        raise OSError(5, "Input/output error")
