"""The faults, each with the verdict that it has to get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support import misdeeds

Command = Mapping[str, Any]

STM32, ESP32 = "stm32f407-virtual", "esp32-virtual"
MODEL_FLASH = 0x0808_0000
_ESP32_MODEL_FLASH = 0x10_0000
_SECTOR_OF_MODEL = 8
_NEVER_ENDS = {"first": 1, "count": None}
_IN_ALLOCATE = [{"heard": '"allocate"'}, {"cycle": 200_000}]
_IN_INVOKE = [{"heard": '"invoke"'}, {"cycle": 20_000}]


@dataclass(frozen=True)
class Case:
    """One fault.

    Attributes:
        name: what is broken, in words.
        faults: commands for the virtual board, in order, given before the run.
        verdict, error: what the run has to end with; no error class where it has to succeed all the same.
        says: a regular expression that the error has to match.
        deadline_s: how long the verdict may take, on two slow cores.
        writes: the run has a model to write; otherwise flash holds everything already.
        connects: the run has to connect to the probe first.
        board: which virtual board it is about.
        misdeed: what the firmware does wrong by itself: one of `tests.support.misdeeds`.
    """

    name: str
    faults: tuple[Command, ...]
    verdict: str = "error"
    error: str = ""
    says: str = ""
    deadline_s: float = 15.0
    writes: bool = False
    connects: bool = False
    board: str = STM32
    misdeed: int | None = None


def _link(status: str, first: int, count: int | None = None) -> Command:
    return {"do": "link", "status": status, "first": first, "count": count}


def _serial(to: str, kind: str, first: int, count: int | None = 1, **more: object) -> Command:
    return {"do": "serial", "to": to, "kind": kind, "first": first, "count": count, **more}


def _during(command: str, fault: Command) -> Command:
    """The fault as soon as the device has heard this command."""
    return {**fault, "at": {"heard": f'"cmd":"{command}"'}}


_PROBE = (
    Case("probe answers WAIT on connecting", (_link("wait", 1),), error="ProbeError", connects=True),
    Case("probe answers WAIT while writing", (_link("wait", 150),), error="ProbeError", writes=True),
    Case("bus FAULT on connecting", (_link("fault", 1),), error="FlashError", says="bus", connects=True),
    Case("bus FAULT while writing", (_link("fault", 150),), error="FlashError", says="bus", writes=True),
    Case("no acknowledge on connecting", (_link("no_ack", 1),), error="ProbeError", connects=True),
    Case("no acknowledge while writing", (_link("no_ack", 150),), error="ProbeError", writes=True),
    Case("probe unplugged on connecting", (_link("disconnected", 1),), error="ProbeError", connects=True),
    Case("probe unplugged while writing", (_link("disconnected", 150),), error="ProbeError", writes=True),
)
_FLASH = (
    Case(
        "flash bits do not program",
        ({"do": "flash_stuck_bits", "address": MODEL_FLASH + 0x84, "mask": 0xFF},),
        error="FlashError", says="0x08080084", writes=True,
    ),
    Case(
        "flash bit wrong after programming",
        ({"do": "flash_flipped_bits", "address": MODEL_FLASH + 0x100, "mask": 1},),
        error="FlashError", says="0x08080100", writes=True,
    ),
    Case(
        "flash bit turns after verifying",
        ({"do": "flash_flip", "address": MODEL_FLASH + 0x100, "mask": 1},),
        error="FlashError", says="0x08080100",
    ),
    Case(
        "flash bit of the firmware's vectors turns",
        ({"do": "flash_flip", "address": 0x0800_0006, "mask": 0x40},),
        error="FlashError", says="0x08000006",
    ),
    Case(
        "flash stays busy for ever",
        ({"do": "flash_busy"},),
        error="FlashError", says="timed out", deadline_s=40, writes=True,
    ),
    Case(
        "sector does not erase",
        ({"do": "flash_failing_sector", "sector": _SECTOR_OF_MODEL},),
        error="FlashError", writes=True,
    ),
    Case(
        "sector write-protected",
        ({"do": "write_protect", "sectors": [_SECTOR_OF_MODEL]},),
        error="FlashError", says="write-protected", writes=True,
    ),
    Case(
        "read-out protection level 1", ({"do": "read_protect", "level": 1},), error="LockedError", says="read-out"
    ),
)  # fmt: skip
_POWER = (
    Case("no power at all", ({"do": "power", "on": False},), error="ProbeError", says="power", connects=True),
    Case(
        "power cut while writing",
        ({"do": "power", "on": False, "at": {"transfer": 150}},),
        error="ProbeError", says="power", writes=True,
    ),
    Case(
        "power cut in AllocateTensors, for good",
        ({"do": "power", "on": False, "at": _IN_ALLOCATE},),
        error="DeadlineError", says="allocate", deadline_s=40,
    ),
    Case(
        "power fails for a moment in Invoke",
        ({"do": "power_cycle", "at": _IN_INVOKE},),
        verdict="ok",  # it was nobody's fault but the bench's, and is measured anew
    ),
)  # fmt: skip
_SERIAL = (
    Case("byte of an answer lost", (_during("scan", _serial("host", "drop", 40)),), verdict="ok"),
    Case("byte of a command lost", (_during("scan", _serial("device", "drop", 20)),), verdict="ok"),
    Case("byte of an answer twice", (_during("scan", _serial("host", "duplicate", 40)),), verdict="ok"),
    Case("byte of a command twice", (_during("scan", _serial("device", "duplicate", 20)),), verdict="ok"),
    Case("byte of an answer garbled", (_during("scan", _serial("host", "garble", 40)),), verdict="ok"),
    Case("byte of a command garbled", (_during("scan", _serial("device", "garble", 20)),), verdict="ok"),
    Case(
        "answer to Invoke garbled",
        (_during("invoke", _serial("host", "garble", 40)),),
        error="ProtocolError", says="invoke.*damaged",
    ),
    Case(
        "every answer garbled",
        (_during("scan", _serial("host", "garble", 40, None)),),
        error="ProtocolError", says="half an answer to 'scan'",
    ),
    Case("200 bytes of noise before hello", (_serial("host", "noise", 0, 200),), verdict="ok"),
    Case("noise inside an answer", (_during("scan", _serial("host", "noise", 30, 50)),), verdict="ok"),
    Case("noise inside a command", (_during("scan", _serial("device", "noise", 20, 50)),), verdict="ok"),
    Case("answer one second late", (_during("scan", _serial("host", "delay", 10, delay_s=1.0)),), verdict="ok"),
    Case("command one second late", (_during("scan", _serial("device", "delay", 10, delay_s=1.0)),), verdict="ok"),
    Case(
        "answer later than the deadline",
        (_during("scan", _serial("host", "delay", 10, delay_s=30.0)),),
        error="ProtocolError", says="half an answer to 'scan'",
    ),
    Case("answer split into bytes", (_during("scan", _serial("host", "split", 0, 200, delay_s=0.002)),), verdict="ok"),
    Case("command split into bytes", (_during("fill", _serial("device", "split", 0, 60, delay_s=0.002)),), "ok"),
    Case(
        "one byte per 100 ms",
        (_serial("host", "split", 0, None, delay_s=0.1),),
        error="ProtocolError", says="talks, but no frame",
    ),
    Case("wrong baud rate", ({"do": "wrong_baud", "factor": 0.25},), error="ProtocolError", says="baud rate"),
)  # fmt: skip
_DEVICE = (
    Case("device says nothing", (_serial("host", "drop", 0, None),), error="DeadlineError", says="silent"),
    Case(
        "device hears nothing",
        (_serial("device", "drop", 0, None),),
        error="DeadlineError", says="no answer to 'allocate'", deadline_s=40,
    ),
    Case(
        "device hangs in AllocateTensors",
        ({"do": "hang", "at": _IN_ALLOCATE},),
        verdict="fail", error="WatchdogError", says="hung during 'allocate'",
    ),
    Case(
        "device hangs in Invoke",
        ({"do": "hang", "at": _IN_INVOKE},),
        verdict="fail", error="WatchdogError", says="hung during 'invoke'",
    ),
    Case(
        "device resets itself again and again",
        ({"do": "resetting", "after_s": 0.02},),
        error="ForeignHandError", says="somebody else reset the chip",
    ),
    Case(
        "boot loop: resets before hello",
        ({"do": "resetting", "after_s": 0.0005},),
        error="DeadlineError", says="silent",
    ),
    Case("crystal does not start", ({"do": "hse_missing"},), verdict="ok"),
    Case("clocks 2 % fast", ({"do": "clock_error", "percent": 2.0},), verdict="ok"),
    Case("clocks 5 % fast", ({"do": "clock_error", "percent": 5.0},), error="ProtocolError", says="baud rate"),
    Case("clocks 5 % slow", ({"do": "clock_error", "percent": -5.0},), error="ProtocolError", says="baud rate"),
)  # fmt: skip


def _cache(name: str, kind: str, says: str) -> Case:
    faults = ({"do": "cache", "kind": kind},)
    return Case(f"ESP32: {name}", faults, error="FlashMappingError", says=says, board=ESP32)


_ESP32 = (
    _cache("data window of the flash cache stays masked", "drom_masked", "masked"),
    _cache("flash cache does not switch on", "never_enabled", "switched on"),
    _cache("flush of the flash cache never ends", "never_flushed", "flushed"),
    _cache("flash mapped one page off", "page_off", "other bytes"),
    Case(
        "ESP32: bit of the model turns after verifying",
        ({"do": "flash_flip", "address": _ESP32_MODEL_FLASH + 0x100, "mask": 1},),
        error="FlashError", says="0x00100100", board=ESP32,
    ),
    Case(
        "ESP32: bit of the code in flash turns after verifying",
        ({"do": "flash_flip", "address": 0x3_0000, "mask": 1},),
        error="FlashError", says="0x00030000", board=ESP32,
    ),
    Case(
        "ESP32: flash smaller than told",
        ({"do": "flash_size", "megabytes": 2},),
        error="WrongDeviceError", says="2 MB", board=ESP32, connects=True,
    ),
    Case(
        "ESP32: operator stores into flash",
        (),
        verdict="fail", error="DeviceFaultError", says="a store into flash", board=ESP32, misdeed=misdeeds.MODEL,
    ),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_PROBE, *_FLASH, *_POWER, *_SERIAL, *_DEVICE, *_ESP32)
