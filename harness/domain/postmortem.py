"""What a device was doing when it died."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ARENA, STACK, CODE, MODEL = "arena", "stack", "code", "model"
"""What a post-mortem may suspect: an arena that is too small or overrun, the stack, code for another core, or model and
kernel."""


@dataclass(frozen=True)
class RunningOperator:
    """An operator that TFLM was running.

    Attributes:
        index: its number in the model's main subgraph.
        name: TFLite's name of its kind; untrusted text when it is a custom one.
        function: the address of its kernel's function; 0 where TFLM does not tell it.
    """

    index: int
    name: str
    function: int

    def __str__(self) -> str:
        return f"operator {self.index} {self.name}"


@dataclass(frozen=True)
class DeviceFault:
    """A device's last words: its fault frame.

    Attributes:
        kind, stage: as wire.py lists them.
        text: what it had to say besides.
        registers: as the core saved them: pc, lr and sp always, the others by their family's names.
        operator: which one was running; None when none was.
    """

    kind: str
    stage: str
    text: str
    registers: Mapping[str, int]
    operator: RunningOperator | None


@dataclass(frozen=True)
class CodePlace:
    """A place in the firmware's code.

    Attributes:
        address: of the instruction.
        function: its name; empty when it is in none.
        file, line: of the source; empty and 0 when unknown.
    """

    address: int
    function: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        source = f" ({self.file}:{self.line})" if self.file else ""
        return f"{self.function or 'no function'}{source} at {self.address:#010x}"


@dataclass(frozen=True)
class ArenaEnds:
    """What was found at the ends of the arena.

    Attributes:
        start: address of its first byte.
        size_bytes: as it was given to TFLM.
        guard_low, guard_high: the guard bands before and behind it.
        head, tail: its first and last bytes.
    """

    start: int
    size_bytes: int
    guard_low: bytes
    guard_high: bytes
    head: bytes
    tail: bytes

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.start + self.size_bytes


@dataclass(frozen=True)
class PostMortem:
    """Everything that was found after a device had died.

    Attributes:
        model, board, unit, build_id: what died; `unit` is the chip's own id, empty when it never said hello.
        error_class: how the run ended, one of harness/errors.py.
        what: the same in words.
        fault: the device's last words; None when it died silently.
        registers: core and fault registers as the probe read them; empty without a probe that can.
        fault_words: what the registers say of the fault, in words.
        fault_address: of data that could not be accessed; None when the device did not know it.
        pc, lr: where it was, and where it would have returned to; None when it would have returned nowhere.
        kernel: the kernel's function of the running operator.
        calls: return addresses found on the stack, innermost first. Stale ones may be among them.
        stack: the stack's bytes from the stack pointer up.
        stack_free_bytes: what the stack pointer leaves free of the stack; negative when it has left it.
        arena: None without a probe, or before any arena was given out.
        probe_trouble: why the probe could not look; empty when it could, or there is none that can.
        suspect: ARENA, STACK, CODE, MODEL, or empty when nothing points anywhere.
        reasons: why.
    """

    model: str
    board: str
    unit: str
    build_id: str
    error_class: str
    what: str
    fault: DeviceFault | None = None
    registers: Mapping[str, int] = field(default_factory=dict)
    fault_words: tuple[str, ...] = ()
    fault_address: int | None = None
    pc: CodePlace | None = None
    lr: CodePlace | None = None
    kernel: CodePlace | None = None
    calls: tuple[CodePlace, ...] = ()
    stack: bytes = b""
    stack_free_bytes: int | None = None
    arena: ArenaEnds | None = None
    probe_trouble: str = ""
    suspect: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def operator(self) -> RunningOperator | None:
        """Which operator was running."""
        return self.fault.operator if self.fault else None

    def summary(self) -> tuple[str, ...]:
        """The short of it, in sentences."""
        kernel = f", kernel {self.kernel}" if self.kernel else ""
        lines = (
            f"it died in {self.pc}" if self.pc else "",
            f"called by way of {self.lr}" if self.lr and self.lr.function else "",
            f"while TFLM ran {self.operator}{kernel}" if self.operator else "",
            f"likely cause: the {self.suspect}: {'; '.join(self.reasons)}" if self.suspect else "",
        )
        return tuple(line for line in lines if line)
