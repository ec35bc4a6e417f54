"""The crate provider, with cargo played by small scripts on PATH."""

import hashlib
import io
import os
import tarfile

import pytest

from harness.errors import SourceError, UsageError
from harness.files.cache import Cache
from harness.tflm import crate
from harness.tflm.crate import CrateProvider

LITE = "tfmicro-0.1.0/submodules/tensorflow/tensorflow/lite"
FILES = [
    f"{LITE}/c/common.c",
    f"{LITE}/micro/micro_allocator.cc",
    f"{LITE}/micro/micro_allocator_test.cc",
    f"{LITE}/micro/debug_log.cc",
    f"{LITE}/micro/kernels/conv.cc",
    f"{LITE}/micro/kernels/micro_ops.h",
    f"{LITE}/schema/schema_generated.h",
    f"{LITE}/micro/kernels/cmsis-nn/conv.cc",
    f"{LITE}/micro/memory_planner/greedy_memory_planner.cc",
    f"{LITE}/kernels/kernel_util.cc",
    f"{LITE}/kernels/lstm.cc",
    "tfmicro-0.1.0/examples/models/hello_world.tflite",
    "tfmicro-0.1.0/examples/models/yes.data",
]


def ignore(what, done, total):
    pass


def crate_bytes(names=FILES):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return stream.getvalue()


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without cargo and with empty caches, on which `put_cargo` installs one."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))
    return tmp_path


@pytest.fixture
def pinned(monkeypatch):
    """Pins the small package of these tests instead of the real one."""
    content = crate_bytes()
    monkeypatch.setattr(crate, "_SHA256", hashlib.sha256(content).hexdigest())
    return content


def put_cargo(machine, fetch="exit 0", version="cargo 1.96.0 (abcdef 2026-01-01)"):
    program = machine / "bin/cargo"
    program.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; exit 0; fi\n{fetch}\n')
    program.chmod(0o755)


def put_package(machine, content):
    folder = machine / "cargo/registry/cache/registry-1"
    folder.mkdir(parents=True)
    (folder / "tfmicro-0.1.0.crate").write_bytes(content)


def provider(machine):
    return CrateProvider(Cache(machine / "cache"))


def test_cargos_own_cache_is_enough(machine, pinned):
    put_package(machine, pinned)
    source = provider(machine).fetch(ignore)
    assert source.generation == "2020-07"
    assert [path.name for path in source.sources] == [
        "common.c", "kernel_util.cc", "conv.cc", "greedy_memory_planner.cc", "micro_allocator.cc"
    ]  # fmt: skip
    assert all("cmsis" not in str(path) for path in source.sources)
    assert source.content_hash == hashlib.sha256(pinned).hexdigest()


def test_once_unpacked_neither_cargo_nor_its_cache_is_needed(machine, pinned):
    put_package(machine, pinned)
    first = provider(machine).fetch(ignore)
    (machine / "cargo/registry/cache/registry-1/tfmicro-0.1.0.crate").unlink()
    assert provider(machine).fetch(ignore) == first


def test_cargo_fetches_for_one_target_from_a_throw_away_manifest(machine, pinned):
    put_package(machine, pinned)
    kept = machine / "cargo/registry"
    hidden = machine / "hidden"
    kept.rename(hidden)
    put_cargo(machine, fetch=f'echo "$@" > {machine}/said; /bin/mv {hidden} {kept}')
    provider(machine).fetch(ignore)
    said = (machine / "said").read_text().split()
    assert said[:3] == ["fetch", "--target", "x86_64-unknown-linux-gnu"]
    assert not os.path.exists(said[-1])  # noqa: PTH110 - the text as cargo got it


def test_without_cargo(machine):
    with pytest.raises(SourceError, match="not installed") as caught:
        provider(machine).fetch(ignore)
    assert "rustup" in caught.value.hint


def test_an_old_cargo(machine):
    put_cargo(machine, version="cargo 1.65.0")
    with pytest.raises(SourceError, match="too old") as caught:
        provider(machine).fetch(ignore)
    assert caught.value.measured == "cargo 1.65.0"
    assert "rustup" in caught.value.hint


def test_without_network(machine):
    put_cargo(machine, fetch='echo "error: failed to download" >&2; echo "  Could not resolve host" >&2; exit 101')
    with pytest.raises(SourceError, match="Could not resolve host") as caught:
        provider(machine).fetch(ignore)
    assert "network" in caught.value.hint


def test_a_cargo_that_brings_nothing(machine):
    put_cargo(machine)
    with pytest.raises(SourceError, match="no package file"):
        provider(machine).fetch(ignore)


def test_another_package_than_the_pinned_one(machine):
    content = crate_bytes()
    put_package(machine, content)
    with pytest.raises(SourceError, match="not the pinned one") as caught:
        provider(machine).fetch(ignore)
    assert caught.value.where.endswith("tfmicro-0.1.0.crate")
    assert hashlib.sha256(content).hexdigest() in str(caught.value.measured)


@pytest.mark.parametrize("content", [b"no archive", crate_bytes(["../outside"])], ids=["no archive", "path outside"])
def test_a_package_that_cannot_be_unpacked_safely(machine, monkeypatch, content):
    monkeypatch.setattr(crate, "_SHA256", hashlib.sha256(content).hexdigest())
    put_package(machine, content)
    with pytest.raises(SourceError, match="cannot be unpacked"):
        provider(machine).fetch(ignore)
    assert not (machine / "cache/outside").exists()


def test_examples(machine, pinned):
    put_package(machine, pinned)
    assert provider(machine).example("hello_world.tflite").is_file()
    with pytest.raises(UsageError, match="no example") as caught:
        provider(machine).example("goodbye.tflite")
    assert caught.value.expected == "one of hello_world.tflite, yes.data"
