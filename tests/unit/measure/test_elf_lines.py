import shutil
import subprocess

import pytest

from harness import plugins
from harness.domain.postmortem import CodePlace
from harness.errors import BuildError
from harness.measure.elf_lines import CodeMap, readable_name

SOURCE = """\
#include "inlined.h"
namespace deep { namespace {
[[gnu::noinline]] int Sink(int depth) {
  volatile int kept = depth;
  return kept;
}
}
int Middle(int depth) {
  return Halved(depth) + Sink(depth);
}
}
extern "C" void _start() { deep::Middle(1); for (;;) {} }
"""


@pytest.fixture(scope="module", params=["4", "5"])
def program(request, tmp_path_factory):
    compiler = shutil.which("arm-none-eabi-g++")
    if compiler is None:
        pytest.skip("no arm-none-eabi-g++: apt install gcc-arm-none-eabi")
    folder = tmp_path_factory.mktemp("elf")
    (folder / "code.cc").write_text(SOURCE)
    (folder / "inlined.h").write_text("inline int Halved(int number) { return number / 2; }\n")
    flags = ["-mcpu=cortex-m4", "-mthumb", "-O1", f"-gdwarf-{request.param}", "-nostdlib", "-Ttext=0x08000000"]
    command = [compiler, *flags, f"-ffile-prefix-map={folder}=.", str(folder / "code.cc"), "-o", str(folder / "elf")]
    subprocess.run(command, check=True, timeout=60)
    return CodeMap(folder / "elf", plugins.family("stm32f4"))


def symbol(program, part):
    return next(value for name, value in program.symbols.items() if part in name)


def test_a_place_has_function_file_and_line(program):
    place = program.place(symbol(program, "Sink"))
    assert (place.function, place.file, place.line) == ("deep::Sink", "code.cc", 3)


def test_the_low_bit_of_code_addresses_does_not_count(program):
    even = symbol(program, "Middle") & ~1
    assert program.place(even | 1) == program.place(even)


def test_a_functions_entry_is_a_line_of_its_own_file(program):
    entry = program.entry(symbol(program, "Middle"))
    assert (entry.function, entry.file, entry.line) == ("deep::Middle", "code.cc", 8)


def test_a_call_is_found_by_the_address_that_it_returns_to(program):
    start = symbol(program, "Middle") & ~1
    call = program.call(start + 6 | 1)
    assert (call.address, call.function) == (start + 4, "deep::Middle")
    assert program.call(start + 6) is None  # without the Thumb bit it is no return address


def test_an_address_outside_all_functions_stays_a_number(program):
    assert program.place(0x2000_0000) == CodePlace(0x2000_0000)
    assert str(program.place(0x2000_0000)) == "no function at 0x20000000"


def test_what_is_no_elf_file_is_refused(tmp_path):
    (tmp_path / "elf").write_text("no ELF")
    with pytest.raises(BuildError, match="ELF"):
        CodeMap(tmp_path / "elf", plugins.family("stm32f4")).place(0)


@pytest.mark.parametrize(
    ("symbol_name", "readable"),
    [
        ("abort", "abort"),
        ("_ZN7harness9SendHelloEv", "harness::SendHello"),
        ("_ZN7harness12_GLOBAL__N_112OverrunArenaERKNS_13PaintedMemoryE.isra.0", "harness::OverrunArena"),
        ("_ZNK6tflite5ModelcvbEv", "tflite::Model"),
        ("_ZL6staticv", "static"),
        ("main.cold", "main"),
        ("_Znwj", "_Znwj"),
    ],
)
def test_readable_names(symbol_name, readable):
    assert readable_name(symbol_name) == readable
