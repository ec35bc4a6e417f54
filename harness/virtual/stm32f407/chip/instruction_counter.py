"""Counter of the instructions that a slice has executed so far.

Unicorn counts them, to end a slice after a given number, but its interface does not tell the count. It lies in the
engine's own structure, beside the number to stop at (`emu_counter` and `emu_count` of `struct uc_struct`). Their place
differs between versions, so it is looked for: after a slice of an unlikely length these two words stand out.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

from harness.errors import PluginError

_UNLIKELY_COUNT = 0x5A17
_SEARCHED_BYTES = 4096
_BRANCH_TO_SELF = b"\xfe\xe7"


class InstructionCounter:
    """Reads the count of the slice that runs, or ran last.

    Args:
        engine: a Unicorn instance with its memory mapped.
        scratch: the address of executable memory in which two bytes may be used.

    Raises:
        PluginError: the count was not found: this Unicorn is built differently.
    """

    def __init__(self, engine: Any, scratch: int) -> None:  # noqa: ANN401 - half of Uc's methods are untyped
        saved = bytes(engine.mem_read(scratch, 2))
        engine.mem_write(scratch, _BRANCH_TO_SELF)
        engine.emu_start(scratch | 1, 0, count=_UNLIKELY_COUNT)
        engine.mem_write(scratch, saved)
        engine.ctl_flush_tb()
        address = engine._uch.value + _counter_offset(engine._uch.value)
        self._counter = ctypes.c_uint64.from_address(address)
        self.start(0)

    def start(self, limit: int) -> None:
        """Count a slice of at most `limit` instructions from zero."""
        self._limit = limit
        self._saved = 0
        self._counter.value = 0

    def end_slice(self) -> None:
        """Have the slice end before its next instruction.

        Unlike `emu_stop`, after which a load or store that was under way is executed a second time.
        """
        if self._counter.value < self._limit:
            self._saved = self._limit - self._counter.value
            self._counter.value = self._limit

    def executed(self) -> int:
        """Instructions begun in this slice: the counter also counts the one before which the slice ends."""
        return min(self._counter.value, self._limit) - self._saved


def _counter_offset(engine: int) -> int:
    """Where the counter is in the engine's structure."""
    content = ctypes.string_at(engine, _SEARCHED_BYTES)
    for offset in range(0, _SEARCHED_BYTES - 8, 8):
        if struct.unpack_from("<QQ", content, offset) == (_UNLIKELY_COUNT + 1, _UNLIKELY_COUNT):
            return offset
    raise PluginError("this version of Unicorn is not known", hint="pip install 'harness[virtual]'")
