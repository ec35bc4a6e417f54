"""Builds the firmware of a board: TFLM once per ABI and compiler, then application, port and layer around it.

Both lie in the cache under a hash over everything that matters, so that the same inputs are never compiled twice.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from harness.cache import Cache, fingerprint
from harness.domain.board import Board, MemoryRegion
from harness.domain.firmware import FirmwareImage, FlashSegment, TflmSource, ToolchainInfo
from harness.errors import BoardFileError, StorageError
from harness.fields import Fields
from harness.ports import Progress, TflmProvider, Toolchain
from harness.resources import firmware_dir

GUARD_BYTES = 64
"""Bytes of each guard band around the arena: kGuardBytes in firmware/app/measure.h."""

_COMMON_FLAGS = ("-ffunction-sections", "-fdata-sections", "-fno-short-enums")
_CXX_FLAGS = ("-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
_TFLM_FLAGS = ("-g1", "-w")
_OWN_FLAGS = ("-g", "-Wall", "-Wextra", "-Werror")
_LINK_FLAGS = ("-Wl,--gc-sections", "-Wl,--fatal-warnings")

_ELF = "firmware.elf"
_IMAGE = "firmware.bin"
# What `_store_facts` writes; another number when that changes, so that nothing built before is taken for it.
_FACTS_VERSION = "2"
_FACTS = "facts.json"


@dataclass(frozen=True)
class _Inputs:
    """All that a build depends on."""

    board: Board
    source: TflmSource
    toolchain: Toolchain
    compiler: ToolchainInfo
    firmware: Path
    own_sources: tuple[Path, ...]

    @property
    def script(self) -> Path:
        return self.firmware / "ports" / self.board.family / "linker.ld"

    def tflm_flags(self) -> list[str]:
        """Flags that the library's objects depend on."""
        return [*self._target_flags(), *_TFLM_FLAGS, *_define_flags(self.source.defines)]

    def own_flags(self) -> list[str]:
        """Flags that the application's objects depend on, the build id excluded."""
        defines = {
            **self.source.defines,
            **self.board.defines,
            "HARNESS_BOARD_ID": f'"{self.board.id}"',
            "BAUD_RATE": str(self.board.baud_rate),
            "WATCHDOG_MS": str(round(self.board.watchdog_s * 1000)),
        }
        return [*self._target_flags(), *_OWN_FLAGS, *_define_flags(defines)]

    def _target_flags(self) -> list[str]:
        return [*self.board.cpu_flags, self.board.optimization, *_COMMON_FLAGS]

    def library_key(self) -> str:
        flags = [*self.tflm_flags(), *_CXX_FLAGS]
        return fingerprint(self.source.content_hash, self.compiler.name, self.compiler.version, *flags)

    def firmware_key(self) -> str:
        flags = [*self.own_flags(), *_LINK_FLAGS, memory_script(self.board)]
        return fingerprint(_FACTS_VERSION, self.library_key(), *flags, *_contents(self.firmware, self.own_sources))

    def path_flags(self) -> list[str]:
        """Flags that hold paths of this machine; `-ffile-prefix-map` keeps these paths out of what is built."""
        folders = [*self.source.include_dirs, self.firmware]
        return [
            f"-I{self.firmware}",
            *(f"-isystem{folder}" for folder in self.source.include_dirs),
            *(f"-ffile-prefix-map={folder}=." for folder in folders),
        ]


@dataclass(frozen=True)
class _Batch:
    """Sources to compile with the same flags, and what to call it."""

    what: str
    sources: tuple[Path, ...]
    flags: tuple[str, ...]


def build(
    board: Board, tflm: TflmProvider, toolchain: Toolchain, progress: Progress, cache: Cache | None = None
) -> FirmwareImage:
    """Build the firmware for a board, or find it built.

    Raises:
        SourceError, ToolchainError, BuildError, StorageError: as the parts raise them.
        BoardFileError: there is no port for the board's family.
    """
    cache = cache or Cache()
    inputs = _collect(board, tflm.fetch(progress), toolchain)
    library_key = inputs.library_key()
    firmware_key = inputs.firmware_key()

    def make_firmware(folder: Path) -> None:
        library = cache.entry("tflm", library_key, lambda target: _make_library(inputs, target, progress))
        _make_firmware(inputs, library / "libtflm.a", firmware_key, folder, progress)

    return _load(inputs, firmware_key, cache.entry("firmware", firmware_key, make_firmware))


def memory_script(board: Board) -> str:
    """The MEMORY command that a port's linker script includes as `memory.ld`."""
    regions = {
        "FIRMWARE_FLASH (rx)": board.firmware_flash,
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


def _collect(board: Board, source: TflmSource, toolchain: Toolchain) -> _Inputs:
    firmware = firmware_dir()
    ports = {path.name: path for path in (firmware / "ports").iterdir()}
    if board.family not in ports:  # asked by name, so that `..` and the like lead nowhere
        raise BoardFileError(
            f"there is no firmware port {board.family!r}",
            where=board.id,
            expected=f"one of {', '.join(sorted(ports))}",
            hint="correct `family` in the board file",
        )
    port = ports[board.family]
    layer = firmware / "tflm" / f"tflm_{source.generation.partition('-')[0]}.cc"
    sources = (*sorted((firmware / "app").glob("*.cc")), layer, *sorted(port.glob("*.cc")), *sorted(port.glob("*.S")))
    return _Inputs(board, source, toolchain, toolchain.identify(), firmware, sources)


def _contents(firmware: Path, sources: Sequence[Path]) -> list[str | bytes]:
    """Names and contents of the sources, and of whatever else lies in their folders."""
    files = sorted({path for folder in {source.parent for source in sources} for path in folder.iterdir()})
    return [part for path in files if path.is_file() for part in (str(path.relative_to(firmware)), path.read_bytes())]


def _make_library(inputs: _Inputs, folder: Path, progress: Progress) -> None:
    batch = _Batch("compile TFLM", inputs.source.sources, (*inputs.tflm_flags(), *inputs.path_flags()))
    objects = _compile_all(batch, inputs.toolchain, folder, progress)
    inputs.toolchain.archive(objects, folder / "libtflm.a")
    for compiled in objects:
        compiled.unlink()


def _make_firmware(inputs: _Inputs, library: Path, key: str, folder: Path, progress: Progress) -> None:
    flags = (*inputs.own_flags(), *inputs.path_flags(), f'-DHARNESS_BUILD_ID="{_build_id(key)}"')
    batch = _Batch("compile the firmware", inputs.own_sources, flags)
    objects = _compile_all(batch, inputs.toolchain, folder, progress)
    (folder / "memory.ld").write_text(memory_script(inputs.board))
    elf = folder / _ELF
    link_flags = [*inputs.board.cpu_flags, *_LINK_FLAGS, f"-L{folder}"]
    inputs.toolchain.link([*objects, library], inputs.script, elf, link_flags)
    for compiled in objects:
        compiled.unlink()
    _store_facts(inputs.toolchain, elf, folder)


def _store_facts(toolchain: Toolchain, elf: Path, folder: Path) -> None:
    """Keep what a build found already done would otherwise have to parse the ELF file for."""
    segment = toolchain.flash_image(elf)
    symbols = toolchain.symbols(elf)
    facts = {
        "address": segment.address,
        "crc32": zlib.crc32(toolchain.contents(elf, symbols["_image_start"], symbols["_image_size"])),
        "model_start": symbols["_model_flash_start"],
        "model_size_bytes": symbols["_model_flash_size"],
        "ram_bytes": symbols["_static_ram_end"] - symbols["_static_ram_start"],
        "arena_max_bytes": symbols["_arena_ram_end"] - symbols["_arena_ram_start"] - 2 * GUARD_BYTES,
    }
    (folder / _IMAGE).write_bytes(segment.data)
    (folder / _FACTS).write_text(json.dumps(facts))


def _load(inputs: _Inputs, key: str, folder: Path) -> FirmwareImage:
    facts = _read_facts(folder)
    segment = FlashSegment(facts.count("address"), (folder / _IMAGE).read_bytes())
    return FirmwareImage(
        build_id=_build_id(key),
        board_id=inputs.board.id,
        tflm=inputs.source.generation,
        tflm_version=inputs.source.version,
        toolchain=inputs.compiler.version,
        segment=segment,
        model_region=MemoryRegion(facts.count("model_start"), facts.count("model_size_bytes")),
        crc32=facts.count("crc32"),
        elf=folder / _ELF,
        text_bytes=len(segment.data),
        ram_bytes=facts.count("ram_bytes"),
        arena_max_bytes=facts.count("arena_max_bytes"),
        tflm_hash=inputs.source.content_hash,
        kernels=inputs.source.kernels,
        flags=" ".join(inputs.own_flags()),
    )


def _read_facts(folder: Path) -> Fields:
    """The facts that `_store_facts` kept, unless a crash of the machine has spoilt them."""
    path = folder / _FACTS
    hint = f"remove {folder}: the firmware is then built anew"
    try:
        return Fields(str(path), dict(json.loads(path.read_text("utf-8"))), StorageError, hint)
    except (OSError, ValueError, TypeError) as error:
        raise StorageError("what was built is damaged", where=path, hint=hint) from error


def _build_id(key: str) -> str:
    return key[:16]


def _compile_all(batch: _Batch, toolchain: Toolchain, folder: Path, progress: Progress) -> list[Path]:
    """Compile a batch into `folder`, on all processors.

    After an error or Ctrl-C the sources not yet begun are dropped; the compilers that run end before it returns.
    """
    # Numbered, since sources of different folders share names.
    objects = [folder / f"{number:03}-{source.stem}.o" for number, source in enumerate(batch.sources)]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        futures = [
            pool.submit(toolchain.compile, source, target, _flags_for(source, batch.flags))
            for source, target in zip(batch.sources, objects, strict=True)
        ]
        progress(batch.what, 0, len(futures))
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                progress(batch.what, done, len(futures))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return objects


def _flags_for(source: Path, flags: tuple[str, ...]) -> tuple[str, ...]:
    return (*flags, *_CXX_FLAGS) if source.suffix == ".cc" else flags


def _define_flags(defines: Mapping[str, str | None]) -> list[str]:
    return [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in sorted(defines.items())]
