"""Post-mortem of a device that has died: where it was, what it was doing, and what is likely to blame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from harness.build.firmware import GUARD_BYTES
from harness.device.commands import check_hello
from harness.device.talk import Device
from harness.domain.measurement import Measurement
from harness.domain.postmortem import (
    ARENA,
    CODE,
    MODEL,
    STACK,
    ArenaEnds,
    CodePlace,
    PostMortem,
    RunningOperator,
)
from harness.domain.recipe import MAGIC_BYTES, Recipe, Subject
from harness.domain.reconciliation import Reconciliation
from harness.errors import (
    ArenaTooSmallError,
    DeadlineError,
    DeviceFaultError,
    HarnessError,
    OverrunError,
    StackOverflowError,
    WatchdogError,
)
from harness.measure.elf_lines import CodeMap
from harness.measure.procedure import find_culprit
from harness.ports import Family, FlashSession, Inspectable

DEATHS = (DeviceFaultError, StackOverflowError, WatchdogError, DeadlineError)
"""The errors after which there is something to look at."""

_END_BYTES = 64
_MOST_STACK_BYTES = 4096
_MOST_CALLS = 16
_OVERRUN_REACH_BYTES = 64 * 1024
"""An access this far behind the arena is taken for one that ran out of it."""


@dataclass(frozen=True)
class Remains:
    """What there is to look into.

    Attributes:
        device: the unit, as the serial line knows it.
        flash: the probe's connection to it.
        family: its chip's.
    """

    device: Device
    flash: FlashSession
    family: Family


def examine(error: HarnessError, subject: Subject, expected_minimum_bytes: int | None, remains: Remains) -> PostMortem:
    """Look into a device that has died.

    What the probe cannot or will not tell is left out: the device may be gone altogether, or have started anew.

    Args:
        error: how it ended, one of DEATHS.
        subject: what ran.
        expected_minimum_bytes: the smallest arena that the model should need; None when unknown.
        remains: of the device.
    """
    device, family = remains.device, remains.family
    found = PostMortem(
        model=subject.model,
        board=subject.board.id,
        unit=device.transcript.unit,
        build_id=subject.image.build_id,
        error_class=type(error).__name__,
        what=error.what,
        fault=device.transcript.fault,
    )
    code = CodeMap(subject.image.elf, family)
    try:
        if not device.transcript.restarted:
            found = _with_probe(found, remains, code)
    except HarnessError as trouble:  # it must not hide what the device itself has said
        found = replace(found, probe_trouble=trouble.what)
    found = _with_places(_explained(found, family), code)
    suspect, reasons = _suspect(found, device.transcript.arena_bytes, expected_minimum_bytes, family)
    return replace(found, suspect=suspect, reasons=reasons)


def with_postmortem(row: Reconciliation, found: PostMortem | None) -> Reconciliation:
    """A row with what was found, if anything was."""
    return row if found is None else replace(row, causes=(*row.causes, *found.summary()), postmortem=found)


def name_culprit(found: Measurement, device: Device, subject: Subject, recipe: Recipe, family: Family) -> Measurement:
    """A measurement with overruns, and with the operator that makes them, found by running the model once more.

    Args:
        found: the measurement; without overruns it is returned as it is.
        device: that it was made on.
        subject: of what.
        recipe: how.
        family: the device's.

    Raises:
        HarnessError: the device does not run any more.
    """
    if not found.overruns:
        return found
    hello = check_hello(device.reboot(), subject)
    culprit = find_culprit(device, hello, subject, replace(recipe, arena_size_bytes=found.arena_size_bytes))
    if culprit is None:
        return found
    kernel = _kernel(culprit, CodeMap(subject.image.elf, family))
    words = f"the first to do so is {culprit}" + (f", kernel {kernel}" if kernel else "")
    return replace(found, overruns=(*found.overruns, words))


def blame(error: HarnessError, found: PostMortem) -> HarnessError:
    """The error that a death amounts to, in the light of its post-mortem: itself, unless the arena is to blame."""
    if found.suspect != ARENA:
        return error
    arena = found.arena
    kind = OverrunError if arena and (_broken_guards(arena) or _is_overrun(found, arena)) else ArenaTooSmallError
    what = "something wrote past the arena" if kind is OverrunError else "likely the arena is too small"
    return kind(
        f"{error.what}; {what}",
        where=error.where,
        measured=error.measured,
        hint="ask for the smallest arena that works: harness min-arena",
    )


def _with_probe(found: PostMortem, remains: Remains, code: CodeMap) -> PostMortem:
    """What a probe can tell: registers, stack, and the ends of the arena."""
    flash, family, arena_bytes = remains.flash, remains.family, remains.device.transcript.arena_bytes
    if not isinstance(flash, Inspectable):
        return found
    found = replace(found, registers=dict(flash.registers(family.mapped_registers)))
    start, end = code.symbols["_stack_start"], code.symbols["_stack_end"]
    pointer = _stack_pointer(found, family)
    low = max(start, pointer) & ~3
    stack = flash.read(low, min(end - low, _MOST_STACK_BYTES)) if low < end else b""
    found = replace(found, stack=stack, stack_free_bytes=pointer - start)
    return replace(found, arena=_arena_ends(arena_bytes, flash, code)) if arena_bytes else found


def _arena_ends(arena_bytes: int, flash: FlashSession, code: CodeMap) -> ArenaEnds:
    low = code.symbols["_arena_ram_start"]
    start = low + GUARD_BYTES
    shown = min(_END_BYTES, arena_bytes)
    return ArenaEnds(
        start=start,
        size_bytes=arena_bytes,
        guard_low=flash.read(low, GUARD_BYTES),
        guard_high=flash.read(start + arena_bytes, GUARD_BYTES),
        head=flash.read(start, shown),
        tail=flash.read(start + arena_bytes - shown, shown),
    )


def _stack_pointer(found: PostMortem, family: Family) -> int:
    """Of the code that died: after a fault the core itself stands in the handler, on another stack."""
    if found.fault and found.fault.registers["sp"]:
        return found.fault.registers["sp"]
    return family.stack_pointer(found.registers)


def _explained(found: PostMortem, family: Family) -> PostMortem:
    """Registers as words."""
    return replace(
        found,
        fault_words=tuple(family.explain(_registers(found))),
        fault_address=family.fault_address(found.fault.registers) if found.fault else None,
    )


def _with_places(found: PostMortem, code: CodeMap) -> PostMortem:
    """Addresses as functions and lines."""
    registers = _registers(found)
    calls = tuple(_calls(found.stack, code))
    pc = code.place(registers["pc"]) if registers else None
    if pc and not pc.function and calls:  # nothing was saved, since there was no stack left to save it on
        pc = calls[0]
    return replace(
        found,
        pc=pc,
        lr=code.call(registers["lr"]) if registers else None,
        kernel=_kernel(found.operator, code),
        calls=calls,
    )


def _registers(found: PostMortem) -> Mapping[str, int]:
    """Those of the code that died, as far as anybody knows them."""
    return found.fault.registers if found.fault else found.registers


def _kernel(operator: RunningOperator | None, code: CodeMap) -> CodePlace | None:
    """The function of an operator's kernel, where TFLM tells it."""
    return code.entry(operator.function) if operator and operator.function else None


def _calls(stack: bytes, code: CodeMap) -> Iterator[CodePlace]:
    """The calls that words on the stack look like return addresses of."""
    words = (int.from_bytes(stack[at : at + 4], "little") for at in range(0, len(stack) - 3, 4))
    calls = (call for word in words if (call := code.call(word)) and call.function)
    return islice(calls, _MOST_CALLS)


def _suspect(
    found: PostMortem, arena_bytes: int | None, expected_bytes: int | None, family: Family
) -> tuple[str, tuple[str, ...]]:
    """Who is to blame, and why."""
    stack = tuple(_stack_reasons(found))
    if stack:
        return STACK, stack
    code = tuple(_code_reasons(found, family))
    if code:
        return CODE, code
    arena = tuple(_arena_reasons(found, arena_bytes, expected_bytes))
    if arena:
        return ARENA, arena
    if found.operator:
        return MODEL, (f"arena and stack are sound, and {found.operator} was running",)
    return "", ()


def _stack_reasons(found: PostMortem) -> Iterator[str]:
    if found.fault and found.fault.kind == "stack_overflow":
        yield "the core could not use its stack any more"
    elif found.stack_free_bytes is not None and found.stack_free_bytes < 0:
        yield f"the stack pointer is {-found.stack_free_bytes} bytes below the stack"


def _code_reasons(found: PostMortem, family: Family) -> Iterator[str]:
    """Only where code lies: a core that was led astray meets anything."""
    if found.fault and family.lacks_instruction(found.fault.registers) and found.pc and found.pc.function:
        yield (
            "the core does not have the instruction at which it died: something was compiled for another core or FPU "
            f"({family.core_choice}), and the model is not to blame"
        )


def _arena_reasons(found: PostMortem, arena_bytes: int | None, expected_bytes: int | None) -> Iterator[str]:
    if found.arena:
        yield from (f"the guard band {side} the arena was written to" for side in _broken_guards(found.arena))
        if _is_overrun(found, found.arena):
            yield "the access that failed lies behind the arena"
    if arena_bytes is not None and expected_bytes is not None and arena_bytes < expected_bytes:
        yield f"it has {arena_bytes:,} bytes, and the model should need {expected_bytes:,}"


def _broken_guards(arena: ArenaEnds) -> list[str]:
    """Which guard bands no longer hold one of the magic bytes all through."""
    bands = {"below": arena.guard_low, "above": arena.guard_high}
    whole = [bytes([magic]) * GUARD_BYTES for magic in MAGIC_BYTES]
    return [side for side, band in bands.items() if band not in whole]


def _is_overrun(found: PostMortem, arena: ArenaEnds) -> bool:
    address = found.fault_address
    return address is not None and arena.end <= address < arena.end + _OVERRUN_REACH_BYTES
