"""TFLM's sources from the crate `tfmicro`, the one package of a public registry that carries them in C++.

Version 0.1.0 holds TFLM of 2020-07 (TensorFlow 33689c48) under `submodules/tensorflow`, the headers that it needs under
`tensorflow/lite/micro/tools/make/downloads`, and four models with sample inputs under `examples/models`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from harness.domain.firmware import Registration, TflmSource
from harness.domain.generations import FIRST
from harness.errors import SourceError, UsageError
from harness.files.cache import Cache
from harness.ports import Progress
from harness.tflm.operators import micro_ops_operators
from harness.tflm.tree_sources import sources_of_2020

_NAME = "tfmicro-0.1.0"
_SHA256 = "b2da8beabd85d11badfc2d603a31c9fb468702cda5fc034ac872fbaf43544e94"
_MANIFEST = """\
[package]
name = "harness-fetch"
version = "0.0.0"
edition = "2018"

[dependencies]
tfmicro = "=0.1.0"
"""

# Older ones know only the git index, which not every network reaches.
_OLDEST_CARGO = (1, 70)
_FETCH_TIMEOUT_S = 600.0
_RUSTUP_HINT = "install a current cargo: https://rustup.rs"

_TENSORFLOW = Path("submodules/tensorflow")
_DOWNLOADS = _TENSORFLOW / "tensorflow/lite/micro/tools/make/downloads"
_EXAMPLES = Path("examples/models")
_INCLUDE_DIRS = (_TENSORFLOW, _DOWNLOADS / "flatbuffers/include", _DOWNLOADS / "gemmlowp", _DOWNLOADS / "ruy")


class CrateProvider:
    """TFLM 2020-07. Needs cargo, and the network, only until the sources are in the cache once.

    Args:
        cache: where the unpacked sources stay.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache or Cache()

    def fetch(self, progress: Progress) -> TflmSource:
        """See `ports.TflmProvider`."""
        root = self._root(progress)
        lite = root / _TENSORFLOW / "tensorflow/lite"
        return TflmSource(
            generation=FIRST,
            version="crate tfmicro 0.1.0 (TensorFlow 33689c48)",
            content_hash=_SHA256,
            include_dirs=tuple(root / folder for folder in _INCLUDE_DIRS),
            sources=sources_of_2020(lite),
            # Without NDEBUG some kernels' debug checks halt on good models.
            defines={"NDEBUG": None, "TF_LITE_STATIC_MEMORY": None},
            registrations=_registrations(lite),
        )

    def example(self, name: str, progress: Progress | None = None) -> Path:
        """A model or a sample input that the crate brings, such as `micro_speech.tflite`.

        Raises:
            UsageError: there is none of that name.
            SourceError: as `fetch`.
        """
        folder = self._root(progress or _tell_nobody) / _EXAMPLES
        path = folder / name
        if not path.is_file():
            there = sorted(file.name for file in folder.iterdir() if file.suffix in {".tflite", ".data"})
            raise UsageError(f"no example {name!r}", expected=f"one of {', '.join(there)}")
        return path

    def _root(self, progress: Progress) -> Path:
        return self._cache.entry("sources", _SHA256, lambda folder: _unpack_crate(folder, progress)) / _NAME


def _registrations(lite: Path) -> tuple[Registration, ...]:
    micro_ops, schema = lite / "micro/kernels/micro_ops.h", lite / "schema/schema_generated.h"
    found = micro_ops_operators(micro_ops.read_text("utf-8"), schema.read_text("utf-8"))
    return tuple(operator.registration for operator in found.known)


def _tell_nobody(what: str, done: int, total: int) -> None:
    """The Progress of a caller that shows none."""


def _unpack_crate(folder: Path, progress: Progress) -> None:
    progress("fetch TFLM's sources", 0, 2)
    package = _cached_by_cargo() or _fetch_with_cargo()
    _check_hash(package)
    progress("fetch TFLM's sources", 1, 2)
    try:
        with tarfile.open(package) as archive:
            _extract(archive, folder)
    except tarfile.TarError as error:
        raise SourceError(f"the package cannot be unpacked: {error}", where=package) from error
    progress("fetch TFLM's sources", 2, 2)


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    """Plain files into `folder` and nowhere else; Debian 12's Python 3.11.2 has no extraction filters yet."""
    inside = folder.resolve()
    for member in archive:
        target = (folder / member.name).resolve()
        content = archive.extractfile(member) if member.isreg() else None
        if not target.is_relative_to(inside) or not (content or member.isdir()):
            raise tarfile.TarError(f"{member.name!r} is no plain file inside its folder")
        if content:
            target.parent.mkdir(parents=True, exist_ok=True)
            with content, target.open("wb") as file:
                shutil.copyfileobj(content, file)


def _check_hash(package: Path) -> None:
    found = hashlib.sha256(package.read_bytes()).hexdigest()
    if found != _SHA256:
        raise SourceError(
            "the package of TFLM's sources is not the pinned one",
            where=package,
            measured=f"SHA-256 {found}",
            expected=_SHA256,
            hint="delete the file, so that cargo brings it anew",
        )


def _cached_by_cargo() -> Path | None:
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    return next(iter(sorted(home.glob(f"registry/cache/*/{_NAME}.crate"))), None)


def _fetch_with_cargo() -> Path:
    _check_cargo_version()
    with tempfile.TemporaryDirectory(prefix="harness-fetch-") as name:
        manifest = Path(name) / "Cargo.toml"
        manifest.write_text(_MANIFEST)
        (Path(name) / "src").mkdir()
        (Path(name) / "src/lib.rs").touch()
        # One target only: without it cargo brings the dependencies of all platforms.
        _cargo("fetch", "--target", "x86_64-unknown-linux-gnu", "--manifest-path", str(manifest))
    package = _cached_by_cargo()
    if package is None:
        raise SourceError("cargo brought no package file", expected=f"{_NAME}.crate in cargo's registry cache")
    return package


def _check_cargo_version() -> None:
    output = _cargo("--version")
    match = re.search(r"(\d+)\.(\d+)", output)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if version < _OLDEST_CARGO:
        raise SourceError(
            "cargo is too old to fetch TFLM's sources",
            measured=output.strip() or "no version",
            expected=f"{_OLDEST_CARGO[0]}.{_OLDEST_CARGO[1]} or newer",
            hint=_RUSTUP_HINT,
        )


def _cargo(*arguments: str) -> str:
    """Run cargo and return what it printed."""
    try:
        done = subprocess.run(
            ["cargo", *arguments], capture_output=True, text=True, check=True, timeout=_FETCH_TIMEOUT_S
        )
    except FileNotFoundError as error:
        raise SourceError("cargo is not installed; it brings TFLM's sources", hint=_RUSTUP_HINT) from error
    except subprocess.TimeoutExpired as error:
        raise SourceError(
            f"cargo {arguments[0]} did not end",
            measured=f"{_FETCH_TIMEOUT_S:.0f} s",
            hint="check the network, then try again",
        ) from error
    except subprocess.CalledProcessError as error:
        raise SourceError(
            f"cargo {arguments[0]} failed: {_reason(error.stderr)}",
            hint="the first build needs the network: the registry or mirror that cargo is configured for",
        ) from error
    return done.stdout


def _reason(stderr: str) -> str:
    """The innermost cause: cargo prints its causes from the outside in."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
