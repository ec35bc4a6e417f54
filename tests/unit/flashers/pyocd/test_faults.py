"""What the user is told for each of pyOCD's exceptions."""

from __future__ import annotations

import pytest
from pyocd.core import exceptions

from harness.errors import BoardFileError, FlashError, HarnessError, ProbeError
from harness.flashers.pyocd.faults import explained


def undetected(cause: Exception) -> exceptions.Error:
    error = exceptions.Error("Target not detected")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (exceptions.ProbeDisconnected("unplugged"), ProbeError, "the probe is gone"),
        (exceptions.ProbeError("USB glitch"), ProbeError, "USB glitch"),
        (exceptions.TransferTimeoutError("WAIT"), ProbeError, "does not answer"),
        (exceptions.TransferProtocolError(), ProbeError, "TransferProtocolError"),
        (exceptions.TransferFaultError(fault_address=0x60000000), FlashError, "0x60000000"),
        (exceptions.FlashEraseFailure("erase", address=0x08004000), FlashError, "0x08004000"),
        (exceptions.FlashProgramFailure("program", address=0x08000000), FlashError, "0x08000000"),
        (exceptions.TargetSupportError("z80"), BoardFileError, "z80"),
        (exceptions.Error("no target"), ProbeError, "no target"),
        (undetected(exceptions.TransferError("no ACK")), ProbeError, "does not answer"),
        (undetected(exceptions.ProbeDisconnected("unplugged")), ProbeError, "the probe is gone"),
        (OSError("pipe error"), ProbeError, "pipe error"),
        (RecursionError("maximum depth"), ProbeError, "does not answer"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_explanations(error: Exception, kind: type[HarnessError], words: str) -> None:
    with pytest.raises(kind) as told, explained("reading", "X"):
        raise error
    assert words in str(told.value)
    assert told.value.where == "probe X"
    assert told.value.hint
    assert told.value.__cause__ is error


def test_own_errors_pass_unchanged() -> None:
    own = FlashError("as it was")
    with pytest.raises(FlashError) as passed, explained("reading", "X"):
        raise own
    assert passed.value is own
