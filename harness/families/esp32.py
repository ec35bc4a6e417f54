"""The ESP32: two Xtensa LX6 cores, of which harness uses the first, and a boot ROM that talks.

Sources: RESET_REASON in ESP-IDF's components/esp_rom/include/esp32/rom/rtc.h (names of the resets); esptool's
documentation, "Boot Mode Selection" (boot modes, `flash read err`); ESP-IDF Programming Guide, "Fatal Errors"; for the
ROM's other complaints, what boards print in reports of trouble. Registers, exception causes and calls: Xtensa
Instruction Set Architecture Reference Manual; ESP-IDF has the same causes in xtensa/corebits.h.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harness.domain.board import MemoryRegion
from harness.domain.family import BootText, ChipWords
from harness.errors import BrownOutError, DeviceFaultError, FlashError, ProbeError, WatchdogError

# The first kind that is found counts: a chip without an image is also reset by its watchdog, again and again.
_BOOT_TEXTS = (
    BootText(
        r"Brownout detector was triggered|RTCWDT_BROWN_OUT_RESET",
        BrownOutError,
        "the supply voltage fell too low, and reset the chip",
        "feed the board from a stronger supply, by a shorter cable, without a hub",
    ),
    BootText(
        r"invalid header: 0x",
        FlashError,
        "the chip finds no firmware in its flash",
        "flash it anew: --force-flash",
    ),
    BootText(
        r"csum err|hash err|flash read err|ets_main\.c \d+",
        FlashError,
        "the chip refuses the firmware in its flash: it is damaged",
        "flash it anew: --force-flash",
    ),
    BootText(
        r"waiting for download|\(DOWNLOAD_BOOT",
        ProbeError,
        "the chip waits for a download instead of starting its firmware",
        "GPIO0 is low at reset: let go of the BOOT button, and take off what is wired to GPIO0",
    ),
    BootText(
        r"Guru Meditation Error|Fatal exception \(",
        DeviceFaultError,
        "the chip ended in an exception before the firmware could report it",
        "",
    ),
    BootText(
        r"rst:0x\w+ \(\w*WDT_\w*RESET\)|[Ww]atchdog got triggered",
        WatchdogError,
        "a watchdog reset the chip",
        "",
    ),
)
_WORDS = ChipWords(
    boot_texts=_BOOT_TEXTS,
    boot_speed="a boot ROM talks at 115200 baud (74880 with a 26 MHz crystal)",
    state_registers=("ps",),
    cause_registers=("vector", "exccause", "excvaddr"),
)

_CAUSES: Mapping[int, str] = MappingProxyType(
    {
        0: "IllegalInstruction: an instruction that the core does not have",
        1: "Syscall: a system call, which nobody serves",
        2: "InstructionFetchError: code was fetched from where there is none, or from data",
        3: "LoadStoreError: a load or store where there is no memory, or not of this width",
        6: "IntegerDivideByZero: a division by zero",
        8: "Privileged: an instruction that is not allowed in user mode",
        9: "LoadStoreAlignment: an unaligned load or store that the core cannot make",
        12: "InstrPIFDataError: fetching code failed on the bus",
        13: "LoadStorePIFDataError: a load or store failed on the bus",
        14: "InstrPIFAddrError: code was fetched from an address that the bus does not know",
        15: "LoadStorePIFAddrError: a load or store at an address that the bus does not know",
        20: "InstFetchProhibited: code was fetched from where none may be executed",
        28: "LoadProhibited: a load from where none is allowed, such as a null pointer",
        29: "StoreProhibited: a store to where none is allowed, such as a null pointer",
        32: "Coprocessor0Disabled: an instruction for an FPU that is off",
    }
)
_CAUSES_WITH_ADDRESS = frozenset({3, 9, 13, 15, 28, 29})
"""After which EXCVADDR holds the address of the load or store."""
_STORE_PROHIBITED = 29
_MAPPED_FLASH = MemoryRegion(0x3F40_0000, 0x40_0000)
_STORE_INTO_FLASH = "StoreProhibited: a store into flash, where model and constants are read in place, and only read"
_NO_INSTRUCTION = frozenset({0, 32})

# Offsets of vectors from VECBASE (XCHAL_*_VECOFS in ESP-IDF's core-isa.h).
_GENERAL_EXCEPTIONS = frozenset({0x300, 0x340})
"""Kernel and user exceptions: EXCCAUSE says why. Other vectors leave it as it was."""
_OTHER_VECTORS: Mapping[int, str] = MappingProxyType(
    {
        0x280: "a debug exception, such as a breakpoint",
        0x2C0: "a non-maskable interrupt",
        0x3C0: "an exception inside an exception's handler",
    }
)

_WINDOW_BITS = 0x3FFF_FFFF
"""The windowed ABI keeps the window's increment in the two high bits of a return address."""
_CODE_QUARTER = 0x4000_0000
"""What stands there in the address of any code of the ESP32 (TRM, "System and Memory")."""
_CALL_BYTES = 3


@dataclass(frozen=True)
class Esp32:
    """The family; see `ports.Family`."""

    @property
    def unit_id(self) -> MemoryRegion | None:
        """See `ports.Family`. There is no probe that could read the MAC address, which is the id."""
        return None

    @property
    def words(self) -> ChipWords:
        """See `ports.Family`."""
        return _WORDS

    @property
    def mapped_registers(self) -> Mapping[str, int]:
        """See `ports.Family`."""
        return MappingProxyType({})

    @property
    def core_choice(self) -> str:
        """See `ports.Family`."""
        return "such as a library for the ESP32-S3"

    def explain(self, registers: Mapping[str, int]) -> Sequence[str]:
        """See `ports.Family`."""
        return tuple(self._reasons(registers))

    def _reasons(self, registers: Mapping[str, int]) -> Iterator[str]:
        vector = registers.get("vector", 0)
        if vector in _GENERAL_EXCEPTIONS:
            cause = registers["exccause"]
            into_flash = cause == _STORE_PROHIBITED and _MAPPED_FLASH.holds(registers["excvaddr"])
            yield _STORE_INTO_FLASH if into_flash else _CAUSES.get(cause, f"exception cause {cause}")
        elif vector in _OTHER_VECTORS:
            yield _OTHER_VECTORS[vector]
        address = self.fault_address(registers)
        if address is not None:
            yield f"the address that could not be accessed is {address:#010x}"

    def fault_address(self, registers: Mapping[str, int]) -> int | None:
        """See `ports.Family`."""
        tells = registers.get("vector") in _GENERAL_EXCEPTIONS and registers["exccause"] in _CAUSES_WITH_ADDRESS
        return registers["excvaddr"] if tells else None

    def lacks_instruction(self, registers: Mapping[str, int]) -> bool:
        """See `ports.Family`."""
        return registers.get("vector") in _GENERAL_EXCEPTIONS and registers["exccause"] in _NO_INSTRUCTION

    def stack_pointer(self, registers: Mapping[str, int]) -> int:
        """See `ports.Family`."""
        return registers["sp"]

    def code_address(self, address: int) -> int:
        """See `ports.Family`."""
        return address

    def call_site(self, word: int) -> int | None:
        """See `ports.Family`. Words that are no return address only show by where they lead to."""
        return None if word == 0 else (word & _WINDOW_BITS | _CODE_QUARTER) - _CALL_BYTES
