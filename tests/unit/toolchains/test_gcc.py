"""Gcc with the real arm compiler, and with programs on PATH that misbehave."""

import shutil

import pytest

from harness.errors import BuildError, DoesNotLinkError, StorageError, ToolchainError
from harness.toolchains.arm_gcc import ArmGcc
from harness.toolchains.gcc import Gcc

FLAGS = ["-mcpu=cortex-m4", "-mthumb", "-std=c++17"]
SCRIPT = """
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 64  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 64 }
ENTRY(start)
SECTIONS
{
  .text : { *(.text*) } > FLASH
  .data : ALIGN(4) { data_start = .; *(.data*) } > RAM AT > FLASH
  .bss : { *(.bss*) } > RAM
  /DISCARD/ : { *(.ARM.*) }
}
"""


@pytest.fixture
def gcc():
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("needs the compiler arm-none-eabi-g++")
    return ArmGcc()


@pytest.fixture
def link(gcc, tmp_path):
    """Compile one source text, link it with SCRIPT, and return the ELF file."""

    def compile_and_link(text, *libraries):
        source, compiled, script, elf = (tmp_path / name for name in ("a.cc", "a.o", "a.ld", "a.elf"))
        source.write_text(text)
        script.write_text(SCRIPT)
        gcc.compile(source, compiled, FLAGS)
        gcc.link([compiled, *libraries], script, elf, [*FLAGS, "-nostdlib"])
        return elf

    return compile_and_link


def test_it_says_which_compiler_it_is(gcc):
    info = gcc.identify()
    assert info.name == "arm-gcc"
    assert "arm-none-eabi-g++" in info.version
    assert info.path.name == "arm-none-eabi-g++"


def test_symbols_and_flash_image_of_what_it_links(gcc, link):
    elf = link('extern "C" { int number = 0x01020304; int start() { return number; } }')
    symbols = gcc.symbols(elf)
    image = gcc.flash_image(elf)
    assert symbols["number"] == symbols["data_start"] == 0x20000000
    assert image.address == 0x08000000
    assert image.data.endswith(b"\x04\x03\x02\x01")


def test_archives_can_be_linked(gcc, link, tmp_path):
    source, compiled, library = (tmp_path / name for name in ("part.c", "part.o", "libpart.a"))
    source.write_text("int part(void) { return 7; }")
    gcc.compile(source, compiled, FLAGS[:2])
    gcc.archive([compiled], library)
    assert "part" in gcc.symbols(link('extern "C" { int part(); int start() { return part(); } }', library))


def test_the_first_error_and_its_place_are_told(gcc, tmp_path):
    source = tmp_path / "wrong.cc"
    source.write_text("int good;\nint bad = nothing;\nint worse = nobody;\n")
    with pytest.raises(BuildError, match="'nothing' was not declared") as caught:
        gcc.compile(source, tmp_path / "wrong.o", FLAGS)
    assert caught.value.where == f"{source}:2"


def test_an_overflowing_region_is_told(link):
    with pytest.raises(DoesNotLinkError, match="does not fit its region RAM") as caught:
        link("int start[20];")
    assert caught.value.measured == ".bss beyond its end"
    assert "board file" in caught.value.hint


def test_undefined_symbols_are_told(link):
    with pytest.raises(BuildError, match="undefined symbols: other, some") as caught:
        link('extern "C" { int some(); int other(); int start() { return some() + other(); } }')
    assert caught.value.where == "a.o"


@pytest.mark.parametrize("symbol", ["malloc", "TfLiteTypeGetName"])
def test_undefined_symbols_with_a_known_cause_have_a_hint_and_the_object_that_wants_them(gcc, link, tmp_path, symbol):
    source, compiled, library = (tmp_path / name for name in ("part.c", "part.o", "libpart.a"))
    source.write_text(f"void {symbol}(void); int part(void) {{ {symbol}(); return 7; }}")
    gcc.compile(source, compiled, [*FLAGS[:2], "-fno-builtin"])
    gcc.archive([compiled], library)
    with pytest.raises(BuildError, match=f"undefined symbols: {symbol}") as caught:
        link('extern "C" { int part(); int start() { return part(); } }', library)
    assert caught.value.where == "libpart.a(part.o)"
    assert caught.value.hint


def test_symbols_that_two_objects_define_are_told(gcc, link, tmp_path):
    source, compiled = tmp_path / "other.c", tmp_path / "other.o"
    source.write_text("int both;")
    gcc.compile(source, compiled, FLAGS[:2])
    with pytest.raises(BuildError, match="symbols defined more than once: both"):
        link('int both; extern "C" int start() { return both; }', compiled)


def test_a_warning_before_the_error_is_passed_over(gcc, tmp_path):
    source = tmp_path / "fine.cc"
    source.touch()
    with pytest.raises(BuildError, match="error: unrecognized") as caught:
        gcc.compile(source, tmp_path / "fine.o", [*FLAGS, "no-file", "-mno-such-flag"])
    assert "warning" not in caught.value.what


def test_a_missing_source_is_told(gcc, tmp_path):
    with pytest.raises(BuildError, match=r"the compiler refused|No such file"):
        gcc.compile(tmp_path / "absent.cc", tmp_path / "absent.o", FLAGS)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A compiler `fake-g++` made of shell commands."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(commands, mode=0o755):
        program = tmp_path / "fake-g++"
        program.write_text(f"#!/bin/sh\n{commands}\n")
        program.chmod(mode)
        return Gcc("fake", "fake-", "apt-get install fake")

    return install


def test_without_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for call in (ArmGcc().identify, lambda: ArmGcc().compile(tmp_path / "a.cc", tmp_path / "a.o", [])):
        with pytest.raises(ToolchainError, match=r"arm-none-eabi-g\+\+ is not installed") as caught:
            call()
        assert "gcc-arm-none-eabi" in caught.value.hint


def test_a_compiler_that_does_not_run(fake):
    with pytest.raises(ToolchainError, match="does not run"):
        fake("exit 1").identify()


def test_a_full_disk(fake, tmp_path):
    compiler = fake('echo "as: a.o: No space left on device" >&2; exit 1')
    with pytest.raises(StorageError, match="disk is full"):
        compiler.compile(tmp_path / "a.cc", tmp_path / "a.o", [])


def test_the_bytes_of_an_overflow_are_told(fake, tmp_path):
    compiler = fake(
        """echo "ld: a.elf section \\`.text' will not fit in region \\`FLASH'" >&2
        echo "ld: region \\`FLASH' overflowed by 48660 bytes" >&2
        exit 1"""
    )
    with pytest.raises(DoesNotLinkError, match="region FLASH") as caught:
        compiler.link([], tmp_path / "a.ld", tmp_path / "a.elf", [])
    assert caught.value.measured == "48,660 bytes too many"


def test_a_compiler_that_fails_silently(fake, tmp_path):
    with pytest.raises(BuildError, match="it said nothing"):
        fake("exit 1").compile(tmp_path / "a.cc", tmp_path / "a.o", [])
