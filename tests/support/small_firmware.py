"""A firmware and a TFLM of a few lines each, for tests of the build with the real arm compiler."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from harness.domain.firmware import TflmSource
from harness.toolchains.arm_gcc import ArmGcc

SCRIPT = """
INCLUDE memory.ld
ENTRY(start)
SECTIONS
{
  .text : { *(.text*) KEEP(*(.rodata.*id*)) *(.rodata*) } > FIRMWARE_FLASH
  .bss (NOLOAD) : { _static_ram_start = .; *(.bss*) _static_ram_end = .; } > STACK_RAM
  .arena (NOLOAD) : { _arena_ram_start = .; } > RAM
  _image_start = ORIGIN(FIRMWARE_FLASH);
  _image_size = SIZEOF(.text);
  _model_flash_start = ORIGIN(MODEL_FLASH);
  _model_flash_size = LENGTH(MODEL_FLASH);
  _arena_ram_end = ORIGIN(RAM) + LENGTH(RAM);
  /DISCARD/ : { *(.ARM.exidx*) }
}
"""
SOURCES = ("main.cc", "tflm_2020.cc", "port.cc", "shared.cc", "inner.S")
"""Of `write_firmware`, by name."""
MAIN = """
#include "app/answer.h"
extern "C" int library_part();
extern "C" int layer();
[[gnu::used]] const char id[] = HARNESS_BUILD_ID " " HARNESS_BOARD_ID " " __FILE__;
int counter;
extern "C" int start() { return counter++ + library_part() + layer() + id[0] + ANSWER + BAUD_RATE + WATCHDOG_MS; }
"""


def ignore(what, done, total):
    pass


class CountingGcc(ArmGcc):
    """The real compiler; counts what it is asked for."""

    def __init__(self):
        super().__init__()
        self.compiled: Counter[str] = Counter()

    def compile(self, source, target, flags):
        self.compiled[source.name] += 1
        super().compile(source, target, flags)


class Sources:
    """A TFLM of one file, as a provider hands it over."""

    def __init__(self, folder, content_hash="first"):
        self.source = TflmSource(
            generation="2020-07",
            version="a test's",
            content_hash=content_hash,
            include_dirs=(folder,),
            sources=(folder / "part.c",),
            defines={"NDEBUG": None, "PART": "5"},
        )

    def fetch(self, progress):
        return self.source


def write_firmware(folder: Path) -> None:
    """A folder like `firmware/`."""
    files = {
        "app/main.cc": MAIN,
        "app/answer.h": "#define ANSWER 42\n",
        "tflm/tflm_2020.cc": 'extern "C" int layer() { return PART; }\n',
        "ports/stm32f4/linker.ld": "INCLUDE ports/common/sections.ld\n",
        "ports/stm32f4/port.toml": 'needs = ["common", "common/inner"]\n',
        "ports/common/sections.ld": SCRIPT,
        "ports/common/shared.cc": "int shared;\n",
        "ports/common/inner/inner.S": ".text\n",
        "ports/stm32f4/port.cc": "static_assert(HSE_HZ == 8000000);\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
