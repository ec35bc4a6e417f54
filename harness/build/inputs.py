"""All that a build depends on, and the keys under which its results lie in the cache."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.build.port import Port, find_port
from harness.domain.board import Board, MemoryRegion
from harness.domain.firmware import Registration, TflmSource, ToolchainInfo
from harness.domain.generations import layer_of
from harness.files.cache import fingerprint
from harness.files.resources import firmware_dir
from harness.ports import Toolchain

_COMMON_FLAGS = ("-ffunction-sections", "-fdata-sections", "-fno-short-enums")
CXX_FLAGS = ("-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
_TFLM_FLAGS = ("-g1", "-w")
_OWN_FLAGS = ("-g", "-Wall", "-Wextra", "-Werror")
LINK_FLAGS = ("-Wl,--gc-sections", "-Wl,--fatal-warnings")

# What build.py stores beside a firmware; another number when that changes, so that nothing built before is taken for
# it.
_FACTS_VERSION = "3"


@dataclass(frozen=True)
class BuildInputs:
    """All that a build depends on."""

    board: Board
    source: TflmSource
    toolchain: Toolchain
    compiler: ToolchainInfo
    firmware: Path
    port: Port
    own_sources: tuple[Path, ...]
    registrations: tuple[Registration, ...]

    def tflm_flags(self) -> list[str]:
        """Flags that the library's objects depend on."""
        return [*self._target_flags(), *_TFLM_FLAGS, *_define_flags(self.source.defines)]

    def own_flags(self) -> list[str]:
        """Flags that the application's objects depend on, the build id excluded."""
        defines = {
            **self.source.defines,
            **self.source.layer_defines,
            **self.board.defines,
            "HARNESS_BOARD_ID": f'"{self.board.id}"',
            "HARNESS_TFLM_GENERATION": f'"{self.source.generation}"',
            "BAUD_RATE": str(self.board.baud_rate),
            "WATCHDOG_MS": str(round(self.board.watchdog_s * 1000)),
        }
        return [*self._target_flags(), *_OWN_FLAGS, *_define_flags(defines)]

    def abi_flags(self) -> tuple[str, ...]:
        """Flags that library and application have to share."""
        return self.board.cpu_flags if self.source.abi_flags is None else self.source.abi_flags

    def operators(self) -> str:
        """The text of `operators.inc`."""
        return "".join(f"HARNESS_OPERATOR({registration.call})\n" for registration in self.registrations)

    def _target_flags(self) -> list[str]:
        # Those of the ABI last: a library may have been compiled with -fshort-enums.
        return [self.board.optimization, *_COMMON_FLAGS, *self.abi_flags()]

    def library_key(self) -> str:
        """Of the library compiled from TFLM's sources."""
        flags = [*self.tflm_flags(), *CXX_FLAGS]
        hashes = self.source.content_hash, self.source.header_hash
        return fingerprint(*hashes, self.compiler.name, self.compiler.version, *flags)

    def firmware_key(self) -> str:
        """Of the firmware; its first digits are the build id."""
        texts = [*self.own_flags(), *LINK_FLAGS, memory_script(self.board), self.operators(), self.source.kernels]
        folders = {*(source.parent for source in self.own_sources), *self.port.folders}
        return fingerprint(_FACTS_VERSION, self.library_key(), *texts, *_contents(self.firmware, folders))

    def path_flags(self) -> list[str]:
        """Flags that hold paths of this machine; `-ffile-prefix-map` keeps these paths out of what is built."""
        folders = [*self.source.include_dirs, self.firmware]
        return [
            f"-I{self.firmware}",
            *(f"-isystem{folder}" for folder in self.source.include_dirs),
            *(f"-ffile-prefix-map={folder}=." for folder in folders),
        ]


def collect_inputs(
    board: Board, source: TflmSource, toolchain: Toolchain, operators: Collection[str] | None
) -> BuildInputs:
    """What the firmware of a board is to be built from.

    Args:
        board: which.
        source: TFLM.
        toolchain: the compiler.
        operators: the only ones to hold; None for all.

    Raises:
        ToolchainError: there is no such compiler.
        BoardFileError: there is no port for the board's family.
        BuildError: its `port.toml` is wrong.
    """
    firmware = firmware_dir()
    port = find_port(board, firmware / "ports")
    layer = firmware / "tflm" / f"{layer_of(source.generation)}.cc"
    sources = (*sorted((firmware / "app").glob("*.cc")), layer, *port.sources())
    wanted = tuple(one for one in source.registrations if operators is None or one.operator in operators)
    return BuildInputs(board, source, toolchain, toolchain.identify(), firmware, port, sources, wanted)


def memory_script(board: Board) -> str:
    """The MEMORY command that a port's linker script includes as `memory.ld`."""
    regions = {
        "FIRMWARE_FLASH (rx)": board.firmware_flash,
        "MAPPED_FLASH (r)": board.mapped_flash,
        "MODEL_FLASH (r)": board.model_flash,
        "CODE_RAM (rx)": board.code_ram,
        "RAM (rw)": board.ram,
        "STACK_RAM (rw)": board.stack_ram,
    }
    lines = [_region_line(name, region) for name, region in regions.items() if region is not None]
    alias = "" if board.stack_ram is not None else 'REGION_ALIAS("STACK_RAM", RAM)\n'
    return "MEMORY\n{\n" + "".join(lines) + "}\n" + alias


def _region_line(name: str, region: MemoryRegion) -> str:
    return f"  {name} : ORIGIN = {region.start:#010x}, LENGTH = {region.size_bytes:#x}\n"


def _contents(firmware: Path, folders: Collection[Path]) -> list[str | bytes]:
    """Names and contents of the folders' files: of the sources, and of whatever else may lie beside them."""
    files = sorted(path for folder in folders for path in folder.iterdir())
    return [part for path in files if path.is_file() for part in (str(path.relative_to(firmware)), path.read_bytes())]


def _define_flags(defines: Mapping[str, str | None]) -> list[str]:
    return [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in sorted(defines.items())]
