"""What chips of one family say on the serial line by themselves, and what their firmware says when it dies."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import HarnessError

CORE_REGISTERS = ("pc", "lr", "sp")
"""Of every fault frame: where it happened, where the code would have returned to, and the stack pointer."""


@dataclass(frozen=True)
class BootText:
    """One kind of trouble that a boot ROM, or a vendor's library, tells of.

    Attributes:
        pattern: a regular expression that its line matches somewhere.
        error: what it amounts to.
        what: the same in words.
        hint: what to do about it; empty when there is nothing to say.
    """

    pattern: str
    error: type[HarnessError]
    what: str
    hint: str


@dataclass(frozen=True)
class ChipWords:
    """What comes from a chip that only those of its family say.

    Attributes:
        boot_texts: the kinds of trouble; the first one that is found counts.
        boot_speed: who talks at which speed before the firmware does, as a sentence begins; empty where nobody does.
        state_registers: of a fault frame, besides CORE_REGISTERS: those that say in which state the core was.
        cause_registers: those that say why it could not go on; errors list them.
    """

    boot_texts: tuple[BootText, ...] = ()
    boot_speed: str = ""
    state_registers: tuple[str, ...] = ()
    cause_registers: tuple[str, ...] = ()

    @property
    def fault_registers(self) -> tuple[str, ...]:
        """Those of both kinds, in the order in which people read them."""
        return (*self.state_registers, *self.cause_registers)


NO_WORDS = ChipWords()
"""Of a chip that says nothing of its own."""
