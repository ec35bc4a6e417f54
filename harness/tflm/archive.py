"""Static libraries: the objects in an ar archive, and the index of their symbols, which the linker goes by.

The index of System V and GNU archives is the member `/`: a big-endian count, as many offsets of members, and the names
of the symbols, each ended by a zero byte. It holds the global symbols that a member defines, and no others.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import arpy

from harness.errors import SourceError

_MAGIC = b"!<arch>\n"
_THIN_MAGIC = b"!<thin>\n"
_ELF_MAGIC = b"\x7fELF"
_LIMIT_MEMBERS = 50_000
_LIMIT_BYTES = 1024 * 1024 * 1024
_OBJECT_KINDS = (arpy.HEADER_BSD, arpy.HEADER_GNU, arpy.HEADER_NORMAL)
_RANLIB_HINT = "add one with the toolchain's own archiver: arm-none-eabi-gcc-ranlib or xtensa-esp32-elf-gcc-ranlib"


@dataclass(frozen=True)
class Member:
    """A file in an archive.

    Attributes:
        name: its name, without folders.
        start: where its content begins, in bytes from the archive's start.
        size_bytes: the length of that.
    """

    name: str
    start: int
    size_bytes: int


@dataclass(frozen=True)
class Library:
    """A static library.

    Attributes:
        path: where it lies.
        sha256: of the whole file, in hex.
        members: its objects, in order.
        symbols: names of the members that define each global symbol, in the archive's order.
    """

    path: Path
    sha256: str
    members: tuple[Member, ...]
    symbols: Mapping[str, tuple[str, ...]]

    def contents(self) -> Iterator[tuple[Member, bytes]]:
        """Each object and its bytes."""
        with self.path.open("rb") as file:
            for member in self.members:
                file.seek(member.start)
                yield member, file.read(member.size_bytes)


def read_library(path: Path) -> Library:
    """Read what a static library holds, the objects' content aside.

    Raises:
        SourceError: it cannot be read, is no archive that a linker takes, or there is nothing in it.
    """
    try:
        if path.is_fifo():  # to open one waits until somebody writes into it
            raise SourceError("this is no regular file", where=path, expected="an ar archive (.a)")
        with path.open("rb") as file:
            _check_magic(path, file.read(len(_MAGIC)))
            size_bytes = path.stat().st_size
            if size_bytes > _LIMIT_BYTES:
                raise SourceError("the library is too large", where=path, expected=f"at most {_LIMIT_BYTES:,} bytes")
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            archive = arpy.Archive(fileobj=file)
            headers = _headers(archive, size_bytes)
            index = next((header for header in headers if header.type == arpy.HEADER_GNU_SYMBOLS), None)
            symbols = _index(archive, index) if index else []
    except OSError as error:
        raise SourceError(
            f"the library cannot be read: {error.strerror or error}",
            where=path,
            hint="correct `libraries` in the manifest; paths in it are relative to its folder",
        ) from error
    except (arpy.ArchiveFormatError, ValueError, struct.error) as error:
        raise SourceError(
            f"the library is damaged: {error}", where=path, hint="build it anew, or copy it again"
        ) from error
    return _library(path, sha256, headers, symbols)


def _check_magic(path: Path, magic: bytes) -> None:
    if magic == _THIN_MAGIC:
        raise SourceError(
            "this is a thin archive, which names its objects and does not hold them",
            where=path,
            expected="an archive that holds them, so that its hash stands for them",
            hint="make one with `ar rcs`, without T",
        )
    if magic != _MAGIC:
        kinds = {b"": "an empty file", _ELF_MAGIC: "an ELF file"}
        raise SourceError(
            "this is no static library",
            where=path,
            measured=kinds.get(magic[:4], "a file of another kind"),
            expected="an ar archive (.a)",
            hint="make one of the object files: arm-none-eabi-ar rcs libtflm.a *.o" if magic[:4] == _ELF_MAGIC else "",
        )


def _headers(archive: arpy.Archive, size_bytes: int) -> list[arpy.ArchiveFileHeader]:
    headers = []
    while (header := archive.read_next_header()) is not None:
        # arpy believes the sizes: a negative one would bring the same header again and again.
        if header.size < 0 or header.file_offset + header.size > size_bytes:
            raise ValueError(f"the member at byte {header.offset} ends past the file's end")
        headers.append(header)
        if len(headers) > _LIMIT_MEMBERS:
            raise ValueError(f"there are more than {_LIMIT_MEMBERS} members")
    return headers


def _index(archive: arpy.Archive, header: arpy.ArchiveFileHeader) -> list[tuple[str, int]]:
    """Each symbol with the offset of the member that defines it."""
    archive.seek(header.file_offset)
    data = archive.read(header.size)
    (count,) = struct.unpack_from(">I", data)
    offsets = struct.unpack_from(f">{count}I", data, 4)
    names = data[4 + 4 * count :].split(b"\0")
    if len(names) <= count:
        raise ValueError("its index ends too early")
    return [(name.decode("utf-8", "replace"), offset) for name, offset in zip(names, offsets, strict=False)]


def _library(path: Path, sha256: str, headers: list[arpy.ArchiveFileHeader], symbols: list[tuple[str, int]]) -> Library:
    objects = {header.offset: header for header in headers if header.type in _OBJECT_KINDS}
    if not objects:
        raise SourceError("the library is empty", where=path, expected="an archive with object files")
    if not symbols:
        raise SourceError("the library has no index of its symbols", where=path, hint=_RANLIB_HINT)
    members = {offset: Member(_name(header), header.file_offset, header.size) for offset, header in objects.items()}
    defined_in: dict[str, list[str]] = {}
    for symbol, offset in symbols:
        if offset in members:
            defined_in.setdefault(symbol, []).append(members[offset].name)
    return Library(path, sha256, tuple(members.values()), {name: tuple(where) for name, where in defined_in.items()})


def _name(header: arpy.ArchiveFileHeader) -> str:
    return bytes(header.name).rstrip(b"\0").decode("utf-8", "replace")
