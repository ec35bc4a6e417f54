"""What every Toolchain has to do."""

import pytest

from harness import plugins
from harness.errors import BuildError, ToolchainError

FLAGS = {"arm-gcc": ("-mcpu=cortex-m4", "-mthumb")}
# Where code runs; for the ESP32, what lies lower is read in place.
START = {"arm-gcc": 0x1000, "xtensa-gcc": 0x4008_0000}
SCRIPT = "ENTRY(start) SECTIONS { .text START : { *(.text*) } /DISCARD/ : { *(.comment) *(.ARM.exidx*) } }"


@pytest.fixture(params=sorted(plugins.installed(plugins.TOOLCHAINS)))
def toolchain(request):
    found = plugins.toolchain(request.param)
    try:
        found.identify()
    except ToolchainError as error:
        pytest.skip(f"{error.what}: {error.hint}")
    return found


@pytest.fixture
def flags(toolchain):
    return FLAGS.get(toolchain.identify().name, ())


def test_it_names_itself_by_its_plug_in_name_and_its_version(toolchain):
    info = toolchain.identify()
    assert info.name in plugins.installed(plugins.TOOLCHAINS)
    assert info.version
    assert info.path.is_file()
    assert toolchain.identify() == info


@pytest.mark.parametrize("suffix", [".c", ".cc"])
def test_sources_become_a_library_and_an_elf_file(toolchain, flags, tmp_path, suffix):
    source, part = tmp_path / f"start{suffix}", tmp_path / "part.c"
    external = 'extern "C" ' if suffix == ".cc" else ""
    source.write_text(f"{external}int part(void);\n{external}int start(void) {{ return part(); }}\n")
    part.write_text("int part(void) { return 1; }\n")
    for each in (source, part):
        toolchain.compile(each, each.with_suffix(".o"), flags)
    toolchain.archive([part.with_suffix(".o")], tmp_path / "libpart.a")
    script, elf = tmp_path / "script.ld", tmp_path / "start.elf"
    first = START[toolchain.identify().name]
    script.write_text(SCRIPT.replace("START", hex(first)))
    toolchain.link([source.with_suffix(".o"), tmp_path / "libpart.a"], script, elf, [*flags, "-nostdlib"])
    assert toolchain.flash_image(elf).address == 0x1000
    code = toolchain.contents(elf, first, 64)
    for name in ("start", "part"):
        assert first <= toolchain.symbols(elf)[name] < first + len(code.rstrip(b"\xff"))
    assert toolchain.contents(elf, first + 2, 8) == code[2:10]
    assert toolchain.contents(elf, first - 2, 4) == b"\xff\xff" + code[:2]


def test_a_source_it_cannot_compile_is_an_error(toolchain, flags, tmp_path):
    source = tmp_path / "wrong.cc"
    source.write_text("this is no program\n")
    with pytest.raises(BuildError):
        toolchain.compile(source, tmp_path / "wrong.o", flags)


def test_a_missing_function_is_an_error(toolchain, flags, tmp_path):
    source, script = tmp_path / "start.c", tmp_path / "script.ld"
    source.write_text("int absent(void);\nint start(void) { return absent(); }\n")
    script.write_text(SCRIPT.replace("START", "0x1000"))
    toolchain.compile(source, tmp_path / "start.o", flags)
    with pytest.raises(BuildError, match="absent"):
        toolchain.link([tmp_path / "start.o"], script, tmp_path / "start.elf", [*flags, "-nostdlib"])
