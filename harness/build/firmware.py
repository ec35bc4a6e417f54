"""Builder of a board's firmware: TFLM once per ABI and compiler, then application, port and layer around it.

Both lie in the cache under a hash over everything that matters, so that the same inputs are never compiled twice.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path

from harness.build.compiling import Batch, compile_all
from harness.build.inputs import LINK_FLAGS, BuildInputs, collect_inputs, memory_script
from harness.build.library import library
from harness.domain.board import Board
from harness.domain.firmware import FirmwareImage, FlashSegment, TflmSource
from harness.errors import BuildError, SourceError, StorageError
from harness.files.cache import Cache
from harness.files.fields import Fields
from harness.ports import Progress, TflmProvider, Toolchain, Verifiable

GUARD_BYTES = 64
"""Bytes of each guard band around the arena: kGuardBytes in firmware/app/measure.h."""

_ELF = "firmware.elf"
_IMAGE = "firmware.bin"
_FACTS = "facts.json"
# What the layer in firmware/tflm includes, to register the operators.
_OPERATORS = "operators.inc"
_SHOWN_DIGITS = 12


def build(  # noqa: PLR0913, PLR0917 - one argument per part; the last two have a sensible default
    board: Board,
    tflm: TflmProvider,
    toolchain: Toolchain,
    progress: Progress,
    cache: Cache | None = None,
    operators: Collection[str] | None = None,
) -> FirmwareImage:
    """Build the firmware for a board, or find it built.

    Args:
        board: which.
        tflm: where TFLM comes from.
        toolchain: the compiler.
        progress: told how far it is.
        cache: where built parts stay.
        operators: the only ones to hold, by TFLite's name, so that it is small; None for all. Those that TFLM does not
            have are left out.

    Raises:
        SourceError, ToolchainError, BuildError, StorageError: as the parts raise them.
        BoardFileError: there is no port for the board's family.
    """
    cache = cache or Cache()
    inputs = collect_inputs(board, tflm.fetch(progress), toolchain, operators)
    firmware_key = inputs.firmware_key()

    def make_firmware(folder: Path) -> None:
        if isinstance(tflm, Verifiable):
            tflm.verify(inputs.source, compile_probe(inputs, folder), board)
        libraries = inputs.source.libraries or (library(inputs, tflm, cache, progress),)
        _make_firmware(inputs, libraries, firmware_key, folder, progress)
        if inputs.source.libraries or inputs.source.source_hashes:
            _refuse_changed(inputs.source, tflm.fetch(progress))

    return _load(inputs, firmware_key, cache.entry("firmware", firmware_key, make_firmware))


def _refuse_changed(before: TflmSource, after: TflmSource) -> None:
    """What was changed meanwhile must not lie in the cache under the hash of what was there before."""
    if (before.content_hash, before.header_hash) != (after.content_hash, after.header_hash):
        raise SourceError(
            "TFLM's library, sources or headers changed while the firmware was built",
            where=(*before.libraries, *before.include_dirs)[0],
            measured=after.content_hash[:_SHOWN_DIGITS],
            expected=before.content_hash[:_SHOWN_DIGITS],
            hint="run it again once nothing writes to them any more",
        )


def compile_probe(inputs: BuildInputs, folder: Path) -> Path:
    """An object file without content in `folder`, which shows what the firmware's flags make of one.

    Raises:
        BuildError: the compiler does not take these flags, or makes no object with them.
    """
    source, target = folder / "probe.cc", folder / "probe.o"
    source.touch()
    inputs.toolchain.compile(source, target, inputs.own_flags())
    source.unlink()
    if not target.is_file():
        raise BuildError(
            "the compiler made no object file",
            where=target.name,
            measured=f"the flags {' '.join(inputs.abi_flags())}",
            hint="`abi_flags` in the manifest, or the board's `cpu_flags`, are to choose code, and nothing else",
        )
    return target


def _make_firmware(inputs: BuildInputs, libraries: Sequence[Path], key: str, folder: Path, progress: Progress) -> None:
    (folder / _OPERATORS).write_text(inputs.operators())
    flags = (*inputs.own_flags(), *inputs.path_flags(), f"-I{folder}", f'-DHARNESS_BUILD_ID="{_build_id(key)}"')
    batch = Batch("compile the firmware", inputs.own_sources, flags)
    objects = compile_all(batch, inputs.toolchain, folder, progress)
    (folder / "memory.ld").write_text(memory_script(inputs.board))
    elf = folder / _ELF
    link_flags = [*inputs.abi_flags(), *LINK_FLAGS, f"-L{folder}", f"-L{inputs.firmware}"]
    inputs.toolchain.link([*objects, *libraries], inputs.port.script, elf, link_flags)
    for compiled in objects:
        compiled.unlink()
    _store_facts(inputs.toolchain, elf, folder)


def _store_facts(toolchain: Toolchain, elf: Path, folder: Path) -> None:
    """Keep what a build found already done would otherwise have to parse the ELF file for."""
    segment = toolchain.flash_image(elf)
    symbols = toolchain.symbols(elf)
    loaded_from = symbols.get("_image_load_start", symbols["_image_start"])
    facts = {
        "address": segment.address,
        "crc32": zlib.crc32(toolchain.contents(elf, loaded_from, symbols["_image_size"])),
        "ram_bytes": symbols["_static_ram_end"] - symbols["_static_ram_start"],
        "arena_max_bytes": symbols["_arena_ram_end"] - symbols["_arena_ram_start"] - 2 * GUARD_BYTES,
    }
    (folder / _IMAGE).write_bytes(segment.data)
    (folder / _FACTS).write_text(json.dumps(facts))


def _load(inputs: BuildInputs, key: str, folder: Path) -> FirmwareImage:
    facts = _read_facts(folder)
    segment = FlashSegment(facts.count("address"), (folder / _IMAGE).read_bytes())
    return FirmwareImage(
        build_id=_build_id(key),
        board_id=inputs.board.id,
        tflm=inputs.source.generation,
        tflm_version=inputs.source.version,
        toolchain=inputs.compiler.version,
        segment=segment,
        model_region=inputs.board.model_flash,
        crc32=facts.count("crc32"),
        elf=folder / _ELF,
        text_bytes=len(segment.data),
        ram_bytes=facts.count("ram_bytes"),
        arena_max_bytes=facts.count("arena_max_bytes"),
        tflm_hash=inputs.source.content_hash,
        kernels=inputs.source.kernels,
        flags=" ".join(inputs.own_flags()),
        operators=tuple(one.operator for one in inputs.registrations),
        static_memory=inputs.source.static_memory,
        traits=inputs.source.traits,
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
