"""The virtual ESP32 as whoever opens its serial port sees it, running a bare program."""

from __future__ import annotations

import os
import signal
import socket
import struct
import time
from pathlib import Path

import pytest

from harness.errors import ProbeError
from harness.virtual import link
from harness.virtual.esp32 import memory_map
from tests.support.esp32_bench import PATIENCE_S, READY, Bench

pytestmark = pytest.mark.filterwarnings(
    "ignore:set(Daemon|Name).. is deprecated:DeprecationWarning"
)  # in pySerial's RFC 2217 client


@pytest.fixture
def bench(esp32_images, start_esp32) -> Bench:
    started = start_esp32(esp32_images())
    started.reset()
    started.until(READY)
    return started


def test_the_rom_loads_what_is_in_flash_and_says_so(esp32_images, start_esp32):
    bench = start_esp32(esp32_images())
    bench.reset()
    said = bench.until(READY)
    assert b"rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n" in said
    assert b"mode:DIO, clock div:2\r\n" in said
    assert b"load:0x40080000,len:" in said
    assert bench.control("state")["mode"] == "running"


def test_all_bytes_pass_both_ways(bench):
    data = bytes(range(256)) * 40
    bench.port.write(b"e" + struct.pack("<I", len(data)) + data)
    received = b""
    deadline = time.monotonic() + PATIENCE_S
    while len(received) < len(data):
        assert time.monotonic() < deadline
        received += bench.port.read(len(data) - len(received))
    assert received == data


@pytest.mark.parametrize(
    ("command", "name", "cause"), [(b"r", b"rst:0x3 (SW_RESET)", 3), (b"c", b"(SW_CPU_RESET)", 12)]
)
def test_firmware_resets_itself_and_can_read_why(bench, command, name, cause):
    assert name in bench.ask(command, b"reset=%08x" % cause)


def test_a_watchdog_bites_unless_it_is_fed(bench):
    bench.port.write(b"w")
    for _ in range(10):
        time.sleep(0.1)
        bench.port.write(b"k")
    assert b"mac_high" in bench.ask(b"m", b"mac_high")  # twice its time has passed
    assert b"rst:0x8 (TG1WDT_SYS_RESET)" in bench.until(b"reset=00000008")


def test_boot_watchdogs_that_are_left_on_reset_it_again_and_again(esp32_images, start_esp32):
    bench = start_esp32(esp32_images("KEEP_WATCHDOGS"))
    bench.reset()
    for _ in range(2):
        assert b"rst:0x7 (TG0WDT_SYS_RESET)" in bench.until(b"reset=00000007")


def test_watchdogs_that_cannot_be_silenced(bench):
    bench.control("watchdogs_stuck")
    bench.reset()
    assert b"rst:0x7 (TG0WDT_SYS_RESET)" in bench.until(b"reset=00000007")


def test_bytes_in_code_memory_cannot_be_read_but_words_can(bench):
    said = bench.ask(b"i", b"address=40081005")
    assert b"word=08070605" in said
    assert b"fault=00000003" in said
    assert b"byte" not in said


@pytest.mark.parametrize(("command", "fault", "address"), [(b"n", 28, 0), (b"s", 29, 0x20000000)])
def test_wild_pointers_reach_the_firmwares_own_exception_handler(bench, command, fault, address):
    assert b"fault=%08x" % fault in bench.ask(command, b"address=%08x" % address)


def test_an_exception_without_a_handler_is_reported_by_the_rom(esp32_images, start_esp32):
    bench = start_esp32(esp32_images("NO_VECTORS"))
    bench.reset()
    bench.until(READY)
    assert b"Fatal exception (28)" in bench.ask(b"n", b"excvaddr=0x00000000")
    assert str(bench.control("state")["trouble"]).startswith("exception 28 at 0x4008")


def test_firmware_reads_the_boards_own_mac(bench):
    said = bench.ask(b"m", b"mac_high=") + bench.until(b"\r\n")
    mac = str(bench.control("state")["mac"]).replace(":", "")
    assert b"mac_low=" + mac[4:].encode() in said
    assert said.rstrip().endswith(mac[:4].encode())


def test_both_ends_must_agree_about_the_speed(bench):
    bench.port.write(b"b" + struct.pack("<I", 87))  # 40 MHz / 87 = 460 kbit/s
    time.sleep(0.2)
    bench.port.write(b"m")
    time.sleep(0.3)
    assert b"mac" not in bench.port.read(200)
    bench.port.baudrate = 460800
    assert b"mac_high" in bench.ask(b"m", b"mac_high")


def test_erased_flash_ends_in_the_watchdog(start_esp32):
    bench = start_esp32(b"")
    bench.reset()
    said = bench.until(b"rst:0x10 (RTCWDT_RTC_RESET)")
    assert said.count(b"invalid header: 0xffffffff\r\n") == 6


def test_a_changed_byte_of_the_image_is_found_by_the_rom(bench):
    bench.control("flash_flip", address=memory_map.BOOT_OFFSET + 0x30, mask=4)
    bench.reset()
    assert b"csum err:" in bench.until(b"rst:0x10 (RTCWDT_RTC_RESET)")
    assert "checksum" in str(bench.control("state")["trouble"])


def test_the_boot_strap_leads_to_a_download(bench):
    bench.port.rts = True
    bench.port.dtr = True
    bench.port.rts = False
    assert b"boot:0x3 (DOWNLOAD_BOOT" in bench.until(b"waiting for download")
    bench.port.dtr = False
    bench.control("strap_ignored")
    bench.port.rts = True
    bench.port.dtr = True
    bench.port.rts = False
    assert b"boot:0x13 (SPI_FAST_FLASH_BOOT)" in bench.until(READY)


def test_brown_outs(bench):
    bench.control("brown_out", count=2)
    bench.reset()
    assert bench.until(b"reset=0000000f").count(b"rst:0xf (RTCWDT_BROWN_OUT_RESET)") == 2


def test_a_byte_lost_on_the_line(bench):
    bench.control("serial", to="host", kind="drop", first=1)
    assert bench.ask(b"m", b"_low=").startswith(b"mc_low")


def test_one_client_at_a_time(bench):
    with socket.create_connection(("127.0.0.1", int(bench.board.port.rpartition(":")[2]))) as second:
        assert second.recv(1) == b""
    assert b"mac_high" in bench.ask(b"m", b"mac_high")


def test_commands_that_make_no_sense_are_refused(bench):
    for command in ({"do": "fly"}, {"do": "nack"}, {"do": "flash_flip", "address": 1 << 30, "mask": 1}):
        with pytest.raises(ProbeError), link.Client(bench.board.socket) as client:
            client.control(command)


def test_a_core_that_is_killed_is_noticed_and_a_reset_brings_a_new_one(bench):
    os.kill(int(str(bench.control("state")["core_pid"])), signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_S
    while bench.control("state")["trouble"] != "the emulator has ended":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    bench.reset()
    bench.until(READY)


def test_the_core_ends_with_the_boards_process(bench):
    core = Path(f"/proc/{bench.control('state')['core_pid']}")
    assert b"qemu" in (core / "cmdline").read_bytes()
    bench.board.process.kill()
    bench.board.process.wait()
    deadline = time.monotonic() + PATIENCE_S
    while core.exists() and (core / "cmdline").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.02)
