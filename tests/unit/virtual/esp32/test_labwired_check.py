from __future__ import annotations

import pytest

from harness.errors import DeadlineError
from harness.virtual.esp32 import image, labwired_check, memory_map
from tests.support import esp32_probe


@pytest.fixture(scope="module")
def flashed(tmp_path_factory) -> image.Image:
    pytest.importorskip("labwired", reason="labwired is not installed")
    built = esp32_probe.build(tmp_path_factory.mktemp("probe")).read_bytes()
    flash = bytearray(b"\xff" * memory_map.FLASH_BYTES)
    flash[memory_map.BOOT_OFFSET : memory_map.BOOT_OFFSET + len(built)] = built
    return image.parse(flash)


def test_the_flashed_image_says_the_same_on_another_emulator(flashed):
    run = labwired_check.run(flashed, "\r\n", 10_000_000)
    assert run.text.startswith("reset=00000001")
    assert 0 < run.cycles < 10_000_000


def test_an_image_that_does_not_say_it_is_given_up(flashed):
    with pytest.raises(DeadlineError, match="labwired"):
        labwired_check.run(flashed, "never", 100_000)
