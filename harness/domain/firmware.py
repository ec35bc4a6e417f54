"""What a build yields, and what goes into the chip's flash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from harness.domain.board import MemoryRegion

STATIC_MEMORY = "TF_LITE_STATIC_MEMORY"
"""The preprocessor symbol without which TFLM's structures hold what a dynamic allocation needs."""


@dataclass(frozen=True)
class Registration:
    """An operator that a firmware can hold.

    Attributes:
        operator: TFLite's name of its kind, such as `CONV_2D`; a custom operator's own name.
        call: the C++ call on the resolver that registers it, such as `AddConv2D()`.
    """

    operator: str
    call: str


@dataclass(frozen=True)
class TflmSource:
    """A TFLM source state, ready to compile, or a library that somebody has compiled from one.

    Attributes:
        generation: such as `2020-07`; picks the thin layer in `firmware/tflm` and the layout profile.
        version: what people call it, such as `crate tfmicro 0.1.0 (TensorFlow 33689c48)`.
        content_hash: SHA-256 of what it came from.
        include_dirs: folders for `-I`, in order.
        sources: files to compile into the library.
        defines: preprocessor symbols that library and application must share.
        kernels: the kernel set, such as `reference`.
        registrations: the operators that it has.
        libraries: static libraries to link in place of compiling `sources`.
        abi_flags: compiler flags of the libraries' ABI, in place of the board's; None for the board's.
        header_hash: SHA-256 of the headers, where `content_hash` does not cover them.
        traits: those of the generation's traits that it has.
        layer_defines: preprocessor symbols for the firmware's own layer over TFLM.
        source_hashes: SHA-256 of each of `sources` with all that it includes, where sources may change; an object file
            is then compiled anew only when its own hash is another one.
    """

    generation: str
    version: str
    content_hash: str
    include_dirs: tuple[Path, ...]
    sources: tuple[Path, ...]
    defines: Mapping[str, str | None] = field(default_factory=dict)
    kernels: str = "reference"
    registrations: tuple[Registration, ...] = ()
    libraries: tuple[Path, ...] = ()
    abi_flags: tuple[str, ...] | None = None
    header_hash: str = ""
    traits: frozenset[str] = frozenset()
    layer_defines: Mapping[str, str | None] = field(default_factory=dict)
    source_hashes: Mapping[Path, str] = field(default_factory=dict)

    @property
    def static_memory(self) -> bool:
        """Whether it is built with TF_LITE_STATIC_MEMORY, which makes TFLM's structures smaller."""
        return STATIC_MEMORY in self.defines


@dataclass(frozen=True)
class ToolchainInfo:
    """Which compiler it is.

    Attributes:
        name: plug-in name.
        version: the compiler's own first line.
        path: where it lies.
        remark: what a user should know about it; empty when there is nothing to say.
    """

    name: str
    version: str
    path: Path
    remark: str = ""


@dataclass(frozen=True)
class FlashSegment:
    """Bytes and the address they belong to."""

    address: int
    data: bytes

    @property
    def end(self) -> int:
        """The first address behind the segment."""
        return self.address + len(self.data)

    def first_difference(self, found: bytes) -> int | None:
        """The address of the first byte that is another in `found`, read back from there; None when all are equal."""
        if found == self.data:
            return None
        pairs = zip_longest(self.data, found)
        return self.address + next(offset for offset, (wanted, read) in enumerate(pairs) if wanted != read)


@dataclass(frozen=True)
class PackedModel:
    """A model as the firmware takes it, or several.

    Attributes:
        name: its file's name; for several a name for all.
        data: each flatbuffer behind its header, whose bytes differ from model to model.
        header_bytes: length of a header.
        header_offsets: where each model's header begins.
    """

    name: str
    data: bytes
    header_bytes: int
    header_offsets: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class FlashPart:
    """A piece of flash that is written as a whole.

    Attributes:
        name: how messages call it, such as `model kws.tflite`.
        segment: the bytes and where they go.
        labels: offset and size, in the segment, of the bytes that tell whether flash holds it already: they are there
            only when it was written to its end. Empty when nothing tells.
    """

    name: str
    segment: FlashSegment
    labels: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class FirmwareImage:
    """A built firmware, model-free: it holds every operator, or those asked for, and serves every model made of them.

    Attributes:
        build_id: 16 hex digits; the same inputs give the same id.
        board_id: the board it was built for.
        tflm: the TFLM generation inside.
        tflm_version, toolchain: for people and for the store's key.
        tflm_hash: SHA-256 of what the TFLM sources came from.
        kernels: the kernel set.
        flags: the compiler's flags, paths of this machine left out.
        static_memory: whether TFLM is built with TF_LITE_STATIC_MEMORY.
        traits: those of the generation's traits that it has.
        operators: those that it holds, by TFLite's name.
        segment: the bytes and where they go.
        model_region: where in flash the model goes, behind its header.
        crc32: of the bytes that the firmware can check; the device computes its own at boot and says it.
        elf: the file with symbols.
        text_bytes, ram_bytes: what it takes, the arena excluded.
        arena_max_bytes: the largest arena that fits.
    """

    build_id: str
    board_id: str
    tflm: str
    tflm_version: str
    toolchain: str
    segment: FlashSegment
    model_region: MemoryRegion
    crc32: int
    elf: Path
    text_bytes: int
    ram_bytes: int
    arena_max_bytes: int
    tflm_hash: str = ""
    kernels: str = "reference"
    flags: str = ""
    operators: tuple[str, ...] = ()
    static_memory: bool = True
    traits: frozenset[str] = frozenset()
