import shutil
import subprocess

import pytest

from harness.errors import BuildError
from harness.toolchains.elf import read_flash_image, read_symbols


@pytest.fixture
def elf(tmp_path):
    """Two pieces with a gap of 12 bytes between them."""
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("needs the compiler arm-none-eabi-gcc")
    source, script, target = (tmp_path / name for name in ("a.c", "a.ld", "a.elf"))
    source.write_text(
        'const int one __attribute__((section(".one"))) = 1;\nconst int two __attribute__((section(".two"))) = 2;'
    )
    script.write_text(
        "PHDRS { a PT_LOAD; b PT_LOAD; } SECTIONS { "
        ".one 0x1000 : { KEEP(*(.one)) } :a .two 0x1010 : { KEEP(*(.two)) } :b /DISCARD/ : { *(.ARM.*) } }"
    )
    command = [
        "arm-none-eabi-gcc",
        "-mcpu=cortex-m4",
        "-nostdlib",
        "-Wl,-n",
        "-Wl,-e,0",
        "-T",
        script,
        source,
        "-o",
        target,
    ]
    subprocess.run(command, check=True, timeout=60)
    return target


def test_gaps_read_as_erased_flash(elf):
    image = read_flash_image(elf)
    assert image.address == 0x1000
    assert image.data == b"\x01\0\0\0" + b"\xff" * 12 + b"\x02\0\0\0"


def test_symbols_by_name(elf):
    symbols = read_symbols(elf)
    assert (symbols["one"], symbols["two"]) == (0x1000, 0x1010)


def test_a_stripped_file_is_refused(elf):
    subprocess.run(["arm-none-eabi-strip", elf], check=True, timeout=60)
    with pytest.raises(BuildError, match="no symbols"):
        read_symbols(elf)


def test_an_object_file_has_nothing_for_the_flash(elf, tmp_path):
    source = tmp_path / "a.c"
    subprocess.run(["arm-none-eabi-gcc", "-c", source, "-o", tmp_path / "a.o"], check=True, timeout=60)
    with pytest.raises(BuildError, match="nothing for the flash"):
        read_flash_image(tmp_path / "a.o")
