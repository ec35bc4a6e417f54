"""What all chips with an ARMv7-M core (Cortex-M3, M4, M7) share.

Source: ARMv7-M Architecture Reference Manual (DDI 0403), whose sections are named below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harness.domain.board import MemoryRegion
from harness.domain.family import ChipWords

_WORDS = ChipWords(state_registers=("psr",), cause_registers=("cfsr", "hfsr", "mmfar", "bfar"))
# Section B3.2.2.
_FAULT_STATUS: Mapping[str, int] = MappingProxyType(
    {"cfsr": 0xE000_ED28, "hfsr": 0xE000_ED2C, "mmfar": 0xE000_ED34, "bfar": 0xE000_ED38}
)
# Section B3.2.15, CFSR, and B3.2.16, HFSR.
_BITS: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        "cfsr": {
            0: "IACCVIOL: code was fetched from where none may be executed",
            1: "DACCVIOL: an access to data that the memory protection forbids",
            3: "MUNSTKERR: the memory protection forbade the return from an exception to read the stack",
            4: "MSTKERR: the memory protection forbade an exception to write to the stack",
            5: "MLSPERR: the memory protection forbade the FPU's registers to be saved on the stack",
            8: "IBUSERR: code was fetched from where there is no memory",
            9: "PRECISERR: an access to data failed on the bus",
            10: "IMPRECISERR: an earlier write to data failed on the bus; pc is somewhere behind it",
            11: "UNSTKERR: the return from an exception could not read the stack",
            12: "STKERR: an exception could not write to the stack",
            13: "LSPERR: the FPU's registers could not be saved on the stack",
            16: "UNDEFINSTR: an instruction that the core does not have",
            17: "INVSTATE: a jump to an address without the Thumb bit, or an instruction in an illegal state",
            18: "INVPC: a return from an exception that cannot be",
            19: "NOCP: an instruction for an FPU or coprocessor that is not there, or is off",
            24: "UNALIGNED: an unaligned access that the core cannot make",
            25: "DIVBYZERO: a division by zero",
        },
        "hfsr": {
            1: "VECTTBL: the vector table could not be read",
            30: "FORCED: a fault whose own handler could not run",
            31: "DEBUGEVT: a breakpoint without a debugger",
        },
    }
)
# The fault address registers hold something only when these bits of CFSR say so.
_ADDRESS_VALID: Mapping[str, int] = MappingProxyType({"mmfar": 1 << 7, "bfar": 1 << 15})
_NO_INSTRUCTION = 1 << 16 | 1 << 19

_THUMB = 1
"""The low bit of an address that code is called at or returns to (section A2.3.1)."""
_EXCEPTION_RETURNS = 0xF000_0000
"""From here up lie the values that end an exception when they are returned to (section B1.5.8)."""
_SHORTEST_CALL_BYTES = 2


@dataclass(frozen=True)
class CortexM:
    """A family of chips with such a core; see `ports.Family`.

    Attributes:
        unit_id: where its chips keep their unique id, as their firmware says it; None where a probe cannot read it.
    """

    unit_id: MemoryRegion | None = None

    @property
    def words(self) -> ChipWords:
        """See `ports.Family`. The chips themselves say nothing."""
        return _WORDS

    @property
    def mapped_registers(self) -> Mapping[str, int]:
        """See `ports.Family`."""
        return _FAULT_STATUS

    @property
    def core_choice(self) -> str:
        """See `ports.Family`."""
        return "-mcpu, -mfpu"

    def explain(self, registers: Mapping[str, int]) -> Sequence[str]:
        """See `ports.Family`."""
        return tuple(self._reasons(registers))

    def _reasons(self, registers: Mapping[str, int]) -> Iterator[str]:
        for name, bits in _BITS.items():
            yield from (words for bit, words in bits.items() if registers.get(name, 0) >> bit & 1)
        address = self.fault_address(registers)
        if address is not None:
            yield f"the address that could not be accessed is {address:#010x}"

    def fault_address(self, registers: Mapping[str, int]) -> int | None:
        """See `ports.Family`."""
        status = registers.get("cfsr", 0)
        return next((registers[name] for name, bit in _ADDRESS_VALID.items() if status & bit), None)

    def lacks_instruction(self, registers: Mapping[str, int]) -> bool:
        """See `ports.Family`."""
        return registers.get("cfsr", 0) & _NO_INSTRUCTION != 0

    def stack_pointer(self, registers: Mapping[str, int]) -> int:
        """See `ports.Family`. The application runs on the process stack, and sp is the handler's after a fault."""
        return registers.get("psp") or registers["sp"]

    def code_address(self, address: int) -> int:
        """See `ports.Family`."""
        return address & ~_THUMB

    def call_site(self, word: int) -> int | None:
        """See `ports.Family`."""
        if not word & _THUMB or word >= _EXCEPTION_RETURNS:
            return None
        return self.code_address(word) - _SHORTEST_CALL_BYTES
