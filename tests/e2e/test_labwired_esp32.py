"""An emulator that shares no code with QEMU sees the same figures and outputs in the same flashed image."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import serial

from harness import plugins
from harness.bench.boards import load_board
from harness.build.firmware import build
from harness.build.model_image import HEADER_BYTES, pack
from harness.device import wire
from harness.domain.board import Board
from harness.domain.firmware import FirmwareImage, FlashSegment, PackedModel
from harness.domain.run_options import RunOptions
from harness.errors import SourceError, ToolchainError
from harness.estimate import read_model
from harness.virtual import launcher
from harness.virtual.esp32 import image, labwired_check, memory_map
from tests.support import esp32_probe

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("esp32"),
    # In pySerial's RFC 2217 client.
    pytest.mark.filterwarnings("ignore:set(Daemon|Name).*:DeprecationWarning"),
]
BOARD = "esp32-virtual"
ARENA_BYTES = 49152
PATIENCE_S = 60.0
MOST_CYCLES = 60_000_000
LAST_FRAME = r'"frame":"output".*\n'
SCANNED = ("gap_offset", "gap_bytes", "written_bytes", "tail_untouched_bytes", "guard_low_written_bytes")


@dataclass(frozen=True)
class Told:
    """What a firmware that measures unasked has told of one model.

    Attributes:
        figures: of arena and gap.
        output_sha256: over the output tensors' bytes.
        allocate_ticks, invoke_ticks: cycles of the emulator's core.
    """

    figures: dict[str, int]
    output_sha256: str
    allocate_ticks: int
    invoke_ticks: int


def told(frames: Iterable[wire.Frame]) -> Told:
    """The frames of a whole measurement, summed up."""
    kinds: dict[str, list[wire.Frame]] = {}
    for frame in frames:
        assert frame.nonce == wire.NO_NONCE
        if frame.kind == "hello":
            kinds.clear()  # it may have begun once before it was reset
        kinds.setdefault(frame.kind, []).append(frame)
    assert list(kinds) == ["hello", "allocated", "ok", "invoked", "scanned", "output"]
    (allocated,), (invoked,), (scanned,) = (kinds[kind] for kind in ("allocated", "invoked", "scanned"))
    assert allocated.body.text("status") == invoked.body.text("status") == "ok"
    outputs = b"".join(frame.body.data("hex") for frame in kinds["output"])
    return Told(
        {key: allocated.body.count(key) for key in ("arena_bytes", "used_bytes", "head_bytes", "tail_bytes")}
        | {key: scanned.body.count(key) for key in SCANNED},
        hashlib.sha256(outputs).hexdigest(),
        allocated.body.count("ticks"),
        invoked.body.count("ticks"),
    )


@pytest.fixture(scope="module")
def board() -> Board:
    """The virtual board, with a firmware that measures without being asked."""
    pytest.importorskip("labwired", reason="the extra `virtual` is not installed: no labwired")
    esp32_probe.require_emulator()
    chosen = replace(load_board(BOARD), defines={"HARNESS_AUTORUN": str(ARENA_BYTES)})
    try:
        plugins.toolchain(chosen.toolchain).identify()
    except ToolchainError as error:
        pytest.skip(f"{error.what}: {error.hint}")
    return chosen


@pytest.fixture(scope="module")
def firmware(board: Board) -> FirmwareImage:
    provider = plugins.tflm_provider(RunOptions().tflm)
    try:
        return build(board, provider, plugins.toolchain(board.toolchain), lambda *_: None)
    except SourceError as error:
        pytest.skip(f"the TFLM crate cannot be had: {error.what}")


@dataclass(frozen=True)
class Flash:
    """A flash that holds firmware and model, as the flasher would write it.

    Attributes:
        content: its bytes.
        in_place: what the firmware reads there, at the addresses where its linker script says that it shows.
    """

    content: bytes
    in_place: tuple[FlashSegment, ...]


@pytest.fixture(scope="module")
def flash_with(board: Board, firmware: FirmwareImage) -> Callable[[Path], Flash]:
    def flash(path: Path) -> Flash:
        model = read_model(path)
        packed = PackedModel(model.name, pack(model.data, model.sha256, firmware.build_id), HEADER_BYTES)
        content = bytearray(b"\xff" * memory_map.FLASH_BYTES)
        for part in plugins.packager(board.packager).parts(firmware, packed):
            content[part.segment.address : part.segment.end] = part.segment.data
        symbols = plugins.toolchain(board.toolchain).symbols(firmware.elf)
        assert board.mapped_flash is not None
        code = bytes(content[board.mapped_flash.start : firmware.segment.end])
        in_place = (
            FlashSegment(symbols["_mapped_data_start"], code),
            FlashSegment(symbols["_mapped_code_window"], code),
            FlashSegment(symbols["_model_flash_start"], packed.data),
        )
        return Flash(bytes(content), in_place)

    return flash


def on_labwired(flash: Flash) -> Told:
    """What the image tells on labwired."""
    run = labwired_check.run(image.parse(flash.content), LAST_FRAME, MOST_CYCLES, flash.in_place)
    seen = told(event for event in wire.Decoder().feed(run.text.encode()) if isinstance(event, wire.Frame))
    assert 0 < seen.allocate_ticks + seen.invoke_ticks < run.cycles
    return seen


def on_qemu(flash: bytes, folder: Path) -> Told:
    """What the image tells on the virtual board, over its serial port."""
    file = folder / "unit.flash"
    file.write_bytes(flash)
    with (
        launcher.start("esp32", f"labwired-{os.getpid()}", file) as unit,
        serial.serial_for_url(unit.port, load_board(BOARD).baud_rate, timeout=0.05) as port,
    ):
        port.dtr = False
        port.rts = True
        port.rts = False
        return told(frames_until_last(port))


def frames_until_last(port: serial.Serial) -> Iterator[wire.Frame]:
    """From a hello on; whoever opens the port may have missed the one of the start before the reset."""
    decoder, deadline, begun = wire.Decoder(), time.monotonic() + PATIENCE_S, False
    while time.monotonic() < deadline:
        for event in decoder.feed(port.read(max(port.in_waiting, 1))):
            if not isinstance(event, wire.Frame):
                continue
            begun = begun or event.kind == "hello"
            if begun:
                yield event
            if begun and event.kind == "output":
                return
    pytest.fail(f"no output frame within {PATIENCE_S} s")


@pytest.fixture(params=["hello_world", "micro_speech"])
def model(request, example) -> Path:
    return example(f"{request.param}.tflite")


def test_both_emulators_see_the_same(model, flash_with, harness, tmp_path):
    flash = flash_with(model)
    labwired, qemu = on_labwired(flash), on_qemu(flash.content, tmp_path)
    assert labwired.figures == qemu.figures
    assert labwired.output_sha256 == qemu.output_sha256
    for emulator, seen in (("labwired: instructions", labwired), ("QEMU: its counter follows wall time", qemu)):
        print(f"{model.stem}, {emulator}: allocate {seen.allocate_ticks:,}, invoke {seen.invoke_ticks:,}")
    run = harness("run", model, "--board", BOARD, "--arena-size", ARENA_BYTES, "--format", "json")
    assert run.status == 0, run.err
    assert_same_as_a_commanded_run(labwired, run.rows[0]["measurement"])


def assert_same_as_a_commanded_run(seen: Told, measured: dict[str, Any]) -> None:
    figures = seen.figures
    assert figures["used_bytes"] == measured["arena_used_bytes"]
    assert figures["head_bytes"] == measured["head_bytes"]
    assert figures["tail_bytes"] == measured["tail_bytes"]
    assert figures["arena_bytes"] - figures["gap_bytes"] == measured["painted_used_bytes"]
    assert seen.output_sha256 == measured["output_sha256"]
