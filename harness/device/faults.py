"""What fault frames and unexpected resets of a device amount to."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.domain.family import CORE_REGISTERS, ChipWords
from harness.domain.postmortem import DeviceFault, RunningOperator
from harness.errors import (
    BrownOutError,
    DeviceError,
    DeviceFaultError,
    FlashMappingError,
    ForeignHandError,
    StackOverflowError,
    WatchdogError,
)
from harness.files.fields import Fields

_ONE_AT_A_TIME = "end other debuggers, serial monitors and IDEs that use this board, then run again"
_MORE_TIME = "a larger watchdog.timeout_s in the board file gives slow models more time"


def read_fault(body: Fields, words: ChipWords) -> DeviceFault:
    """The content of a fault frame.

    Args:
        body: the frame's fields.
        words: which registers such a chip has. Some kinds of fault, such as abort, have none but pc, lr and sp: the
            others are then 0.
    """
    core = {name: body.count(name) for name in CORE_REGISTERS}
    family = {name: body.count(name) if body.has(name) else 0 for name in words.fault_registers}
    return DeviceFault(
        kind=body.text("kind"),
        stage=body.text("stage"),
        text=body.text("text"),
        registers=core | family,
        operator=read_operator(body),
    )


def read_operator(body: Fields) -> RunningOperator | None:
    """The operator that a frame names; None when it names none."""
    if not body.has("operator"):
        return None
    return RunningOperator(body.count("operator"), body.text("operator_name"), body.count("operator_function"))


def fault_error(fault: DeviceFault, port: str, words: ChipWords) -> DeviceError | FlashMappingError:
    """The error that a fault amounts to."""
    during = f"{fault.stage}, in {fault.operator}" if fault.operator else fault.stage
    measured = ", ".join(f"{name}={fault.registers[name]:#010x}" for name in (*CORE_REGISTERS, *words.cause_registers))
    if fault.kind == "flash_mapping":
        return _mapping_error(fault, port)
    if fault.kind == "hang":
        return WatchdogError(f"the device hangs during {during}", where=port, measured=measured, hint=_MORE_TIME)
    error = StackOverflowError if fault.kind == "stack_overflow" else DeviceFaultError
    what = f"the device ended in a {fault.kind.replace('_', ' ')} during {during}"
    return error(f"{what}: {fault.text}" if fault.text else what, where=port, measured=measured)


def _mapping_error(fault: DeviceFault, port: str) -> FlashMappingError:
    """What firmware says that cannot read its own flash; the address, where there is one, is that of the wrong byte."""
    address = fault.registers.get("excvaddr", 0)
    return FlashMappingError(
        f"the chip cannot read its flash in place: {fault.text}",
        where=port,
        measured=f"first at {address:#010x}" if address else None,
        hint="cut the board's power and run again; if it stays, the cache of this chip does not obey its registers",
    )


_FOREIGN: Mapping[str, str] = MappingProxyType(
    {
        "pin": "its reset pin was pulled",
        "debugger": "it was reset through its debug port",
        "power": "it was powered up anew, or its reset pin was pulled",
    }
)
"""Causes of a reset that no model can bring about."""


def halt_error(doing: str, port: str) -> ForeignHandError:
    """The error for a device that is silent because somebody has stopped its core."""
    return ForeignHandError(
        f"somebody else halted the chip during {doing!r}", where=port, measured="a halted core", hint=_ONE_AT_A_TIME
    )


def reset_error(cause: str, doing: str, port: str) -> DeviceError | ForeignHandError:
    """The error that an unexpected reset amounts to.

    Args:
        cause: what the device says has reset it.
        doing: the command that it was to carry out.
        port: where it is.
    """
    if cause == "watchdog":
        return WatchdogError(
            f"the device hung during {doing!r}, and its watchdog reset it", where=port, hint=_MORE_TIME
        )
    if cause == "brownout":
        return BrownOutError(
            f"the supply voltage fell too low during {doing!r}, and reset the device",
            where=port,
            hint="feed the board from a stronger supply, by a shorter cable, without a hub",
        )
    if cause in _FOREIGN:
        return ForeignHandError(
            f"somebody else reset the chip during {doing!r}: {_FOREIGN[cause]}",
            where=port,
            measured=f"reset cause: {cause}",
            hint="is its supply strong enough, its cable sound? " * (cause == "power") + _ONE_AT_A_TIME,
        )
    return DeviceFaultError(f"the device reset itself during {doing!r}", where=port, measured=f"reset cause: {cause}")
