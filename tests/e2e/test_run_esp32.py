"""The whole pipeline on the virtual ESP32: built, flashed by esptool, run by QEMU, measured over RFC 2217."""

from __future__ import annotations

import os
import struct

import pytest

from harness import plugins
from harness.bench.boards import load_board
from harness.errors import ToolchainError
from harness.virtual import launcher
from harness.virtual.esp32 import memory_map
from harness.virtual.link import Client
from tests.support import esp32_probe
from tests.support.boards import BOARD as STM32
from tests.support.fake_tflm import HEADERS, build_library
from tests.support.models import chain
from tests.support.tflm_parts import manifest as write_manifest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("esp32")]
BOARD = "esp32-virtual"
SAME_FIGURES = ("arena_used_bytes", "head_bytes", "tail_bytes", "painted_used_bytes", "output_sha256")
FLIPPED = 0x30000
"""In flash: in the firmware's code, which is read in place."""


@pytest.fixture(scope="module", autouse=True)
def _tools():
    pytest.importorskip("esptool", reason="the extra `esp32` is not installed")
    esp32_probe.require_emulator()
    try:
        plugins.toolchain(load_board(BOARD).toolchain).identify()
    except ToolchainError as error:
        pytest.skip(f"{error.what}: {error.hint}")


def rows_of(harness, board, *arguments):
    ended = harness("run", *arguments, "--board", board, "--format", "json")
    assert ended.out, ended.err
    return ended, ended.rows


def test_figures_and_outputs_are_those_of_the_other_board(harness, example):
    models = [example(f"{name}.tflite") for name in ("hello_world", "micro_speech")]
    ended, rows = rows_of(harness, BOARD, *models)
    assert ended.status == 0, ended.out
    _, others = rows_of(harness, STM32, *models)
    for row, other in zip(rows, others, strict=True):
        assert row["verdict"] == "ok"
        assert row["measurement"]["emulated"]
        here, there = row["measurement"], other["measurement"]
        for key in SAME_FIGURES if "micro_speech" in row["model"] else SAME_FIGURES[:4]:
            assert here[key] == there[key], (row["model"], key)


def test_every_public_model_is_measured_or_refused(harness, shared_models):
    _, rows = rows_of(harness, BOARD, *shared_models)
    _, others = rows_of(harness, STM32, *shared_models)
    assert len(rows) == len(shared_models)
    for row, other in zip(rows, others, strict=True):
        assert row["verdict"] in ("ok", "fail", "not_run"), row
        if row["measurement"]:
            assert row["error_bytes"] == 0, row["model"]
            if other["measurement"] is None:  # its arena is larger than the other board's RAM
                assert row["measurement"]["arena_used_bytes"] > load_board(STM32).ram.size_bytes
                continue
            for key in SAME_FIGURES[:3]:
                assert row["measurement"][key] == other["measurement"][key], (row["model"], key)
            kinds = {tensor["type"] for tensor in row["measurement"]["outputs"]}
            if kinds <= {"int8", "uint8"}:
                assert row["measurement"]["output_sha256"] == other["measurement"]["output_sha256"], row["model"]
        else:
            assert row["causes"], row["model"]
    measured = {row["model"] for row in rows if row["verdict"] == "ok"}
    assert measured >= {row["model"] for row in others if row["verdict"] == "ok"}
    assert measured >= {"ad01_int8.tflite", "person_detect_int8.tflite"}


def test_a_modern_tflm_is_measured_too_and_no_model_is_too_large(harness, shared_models, tmp_path):
    board = load_board(BOARD)
    library = build_library(plugins.toolchain(board.toolchain), [*board.cpu_flags, board.optimization], tmp_path)
    flags = f"abi_flags = {list(board.cpu_flags)}"
    manifest = write_manifest(tmp_path, [HEADERS], [library], 'defines = ["NDEBUG", "TF_LITE_STATIC_MEMORY"]', flags)
    model = tmp_path / "neg.tflite"
    model.write_bytes(chain("NEG", "NEG", type="int8").build())
    large = [path for path in shared_models if path.stat().st_size > 250_000]
    _, rows = rows_of(harness, BOARD, model, *large, "--tflm", manifest)
    assert rows[0]["verdict"] == "ok"
    assert rows[0]["error_bytes"] == 0
    for row in rows[1:]:  # this library has hardly any operators
        assert row["verdict"] in ("ok", "fail", "not_run"), row
        assert row["causes"] or row["measurement"], row


def test_another_model_leaves_the_firmware_alone(harness, example):
    with launcher.start("esp32", f"alone-{os.getpid()}", private=False) as unit:
        for name, written in (("hello_world", 2), ("micro_speech", 1), ("hello_world", 1)):
            model = example(f"{name}.tflite")
            (row,) = harness("flash", model, "--board", BOARD, "--probe", unit.name, "--format", "json").rows
            assert row["written"].count(",") + 1 == written
            assert row["written"].endswith(f"model {name}.tflite")


def test_what_esp_idf_has_in_flash_is_kept_when_asked_to(harness, example, tmp_path):
    model, before = example("hello_world.tflite"), bytearray(b"\xff" * memory_map.FLASH_BYTES)
    before[0x8000:0x8020] = struct.pack("<HBBII16sI", 0x50AA, 0, 0, 0x10000, 0x100000, b"factory", 0)
    before[0x10000:0x100000] = bytes(0xF0000)
    path = tmp_path / "unit.flash"
    path.write_bytes(before)
    with launcher.start("esp32", f"kept-{os.getpid()}", path, private=False) as unit:
        flash = ("flash", model, "--board", BOARD, "--probe", unit.name)
        refused = harness(*flash, "--keep-flash")
        assert refused.status == 3
        assert "found boot loader, partition table, factory" in refused.err
        assert path.read_bytes() == before
        assert harness(*flash).status == 0
        assert harness(*flash, "--keep-flash", "--force-flash").status == 0
        with Client(unit.socket) as client:  # as if another program had put its boot loader there
            client.control({"do": "flash_flip", "address": memory_map.BOOT_OFFSET, "mask": 0xFF})
        assert "firmware" in harness(*flash).out


def test_a_second_run_flashes_nothing_and_a_changed_byte_is_named(harness, example):
    model = example("hello_world.tflite")
    with launcher.start("esp32", f"flip-{os.getpid()}", private=False) as unit:
        assert rows_of(harness, BOARD, model, "--probe", unit.name)[0].status == 0
        flashed = harness("flash", model, "--board", BOARD, "--probe", unit.name, "--format", "json")
        assert flashed.rows[0]["written"].startswith("nothing")
        with Client(unit.socket) as client:
            client.control({"do": "flash_flip", "address": FLIPPED, "mask": 0x01})
        ended, (row,) = rows_of(harness, BOARD, model, "--probe", unit.name)
        assert ended.status == 3
        assert row["verdict"] == "error"
        assert f"{FLIPPED:#010x}" in str(row["causes"])
        assert rows_of(harness, BOARD, model, "--probe", unit.name, "--force-flash")[0].status == 0


def test_an_interrupted_write_is_taken_up_again(harness, example):
    long, short = example("person_detection_grayscale.tflite"), example("hello_world.tflite")
    with launcher.start("esp32", f"cut-{os.getpid()}", private=False) as unit:
        for model in (long, short):  # leaves the end of the longer one behind
            assert harness("flash", model, "--board", BOARD, "--probe", unit.name).status == 0
        with Client(unit.socket) as client:
            client.control({"do": "unplug_after", "blocks": 3})
        assert harness("flash", long, "--board", BOARD, "--probe", unit.name).status == 3
        assert rows_of(harness, BOARD, long, "--probe", unit.name)[0].status == 0
