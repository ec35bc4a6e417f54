"""The whole error tree.

    HarnessError                     exit  verdict   when
    ├── InputError                     2   not_run   what the user gave is wrong
    │   ├── UsageError                 2             option or argument
    │   ├── BoardFileError             2             a board file, or an unknown board
    │   ├── ModelError                 2             a model file that cannot be used
    │   └── ResultError                2             a results file, or results that do not belong together
    ├── BenchError                     3   error     what stands on the desk is in trouble
    │   ├── ToolchainError             3             no compiler, or one that cannot do it
    │   ├── SourceError                3             the TFLM sources cannot be had, or are not the pinned ones
    │   ├── BuildError                 3             compile or link failed
    │   ├── ConfigMismatchError        3             library, firmware and layout profile differ in their structures
    │   ├── StorageError               3             disk full, folder not writable
    │   ├── PluginError                3             a plug-in is unknown or cannot be loaded
    │   ├── ProbeError                 3             no probe, several probes, probe gone
    │   ├── FlashError                 3             erase, program or verify failed
    │   ├── FlashMappingError          3             the chip reads other bytes in place than its flash holds
    │   ├── LockedError                3             the chip's read-out protection is on
    │   ├── WrongDeviceError           3             another chip or unit than asked for
    │   ├── SerialPortError            3             no port, no permission, port in use, port gone
    │   ├── ForeignHandError           3             somebody else reset or halted the chip
    │   ├── ProtocolError              3             the device answers, but not in our frames
    │   └── DeadlineError              3             nothing came within the time allowed
    ├── DoesNotLinkError               1   does_not_link  firmware and model do not fit the board's memory
    ├── DeviceError                    1   fail      the device ran, and said no
    │   ├── ModelRefusedError          1             TFLM on the device refused the model
    │   ├── OperatorMissingError       1             TFLM on the device has no such operator
    │   ├── ArenaTooSmallError         1             TFLM ran out of arena
    │   ├── DeviceFaultError           1             HardFault, BusFault, abort, …
    │   ├── StackOverflowError         1             the stack left its region
    │   ├── OverrunError               1             writes outside the arena
    │   ├── OutputMismatchError        1             other outputs than on the host
    │   ├── WatchdogError              1             the device hung and its watchdog reset it
    │   └── BrownOutError              1             the supply voltage fell too low
    └── InterruptedRunError           130   not_run   Ctrl-C

Each error carries its data. `str(error)` is at most three lines: what and where, measured against expected, hint.
"""

from __future__ import annotations

from typing import ClassVar


class HarnessError(Exception):
    """Anything harness has to say that is not a result.

    Args:
        what: what is wrong, as a sentence without its full stop.
        where: the file, key, address, port or operator that it is about.
        measured: what was found.
        expected: what would have been right.
        hint: what the user can do about it.
    """

    exit_code: ClassVar[int] = 3
    verdict: ClassVar[str] = "error"

    def __init__(
        self,
        what: str,
        *,
        where: object = "",
        measured: object = None,
        expected: object = None,
        hint: str = "",
    ) -> None:
        self.what = what
        self.where = str(where)
        self.measured = measured
        self.expected = expected
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        first = f"{self.where}: {self.what}" if self.where else self.what
        lines = [first, self._comparison(), f"hint: {self.hint}" if self.hint else ""]
        return "\n".join(printable(line) for line in lines if line)

    def _comparison(self) -> str:
        parts = []
        if self.measured is not None:
            parts.append(f"found {self.measured}")
        if self.expected is not None:
            parts.append(f"expected {self.expected}")
        return ", ".join(parts)


def printable(text: str) -> str:
    """Text that stays on its line: untrusted names may hold newlines and control characters."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class InputError(HarnessError):
    """What the user gave is wrong."""

    exit_code = 2
    verdict = "not_run"


class UsageError(InputError):
    """A wrong option or argument."""


class BoardFileError(InputError):
    """A board file that cannot be used, or a board that does not exist."""


class ModelError(InputError):
    """A model file that cannot be used."""


class ResultError(InputError):
    """A results file that cannot be used, or results that do not belong together."""


class BenchError(HarnessError):
    """What stands on the desk is in trouble: toolchain, probe, port, disk."""


class ToolchainError(BenchError):
    """No compiler, or one that cannot do what is asked."""


class SourceError(BenchError):
    """The TFLM sources cannot be had, or are not the pinned ones."""


class BuildError(BenchError):
    """The compiler or linker refused."""


class ConfigMismatchError(BenchError):
    """Library, firmware and layout profile do not have the same structures: no figure would be right."""


class StorageError(BenchError):
    """The disk is full or a folder cannot be written."""


class PluginError(BenchError):
    """A plug-in is unknown or cannot be loaded."""


class ProbeError(BenchError):
    """No debug probe, several of them, or one that went away."""


class FlashError(BenchError):
    """Erasing, programming or verifying the flash failed."""


class FlashMappingError(BenchError):
    """The flash holds what was written, but what the chip reads in place, through its cache, is something else."""


class LockedError(BenchError):
    """The chip's read-out protection is on; harness never takes it off by itself."""


class WrongDeviceError(BenchError):
    """Another chip or unit than the one asked for."""


class SerialPortError(BenchError):
    """No serial port, no permission, in use, or gone."""


class ForeignHandError(BenchError):
    """Somebody else reset or halted the chip while it worked: a debugger, a button, a program at its port."""


class ProtocolError(BenchError):
    """The device answers, but not in frames of this protocol version."""


class DeadlineError(BenchError):
    """Nothing came within the time allowed."""


class DoesNotLinkError(HarnessError):
    """Firmware and model together do not fit the board's memory: a finding about the model, no trouble."""

    exit_code = 1
    verdict = "does_not_link"


class DeviceError(HarnessError):
    """The device ran, and said no."""

    exit_code = 1
    verdict = "fail"


class ModelRefusedError(DeviceError):
    """TFLM on the device refused the model."""


class OperatorMissingError(DeviceError):
    """TFLM on the device has no such operator, or not its version."""


class ArenaTooSmallError(DeviceError):
    """TFLM ran out of arena."""


class DeviceFaultError(DeviceError):
    """The core took a fault exception, or TFLM aborted."""


class StackOverflowError(DeviceError):
    """The stack left its region."""


class OverrunError(DeviceError):
    """Something wrote outside the arena."""


class OutputMismatchError(DeviceError):
    """The model's outputs on the device are not those on the host."""


class WatchdogError(DeviceError):
    """The device hung, and its watchdog reset it."""


class BrownOutError(DeviceError):
    """The supply voltage fell too low, and the brown-out detector reset the chip."""


class InterruptedRunError(HarnessError):
    """Ctrl-C."""

    exit_code = 130
    verdict = "not_run"
