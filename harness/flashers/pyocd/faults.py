"""What pyOCD's exceptions mean to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyocd.core import exceptions

from harness.errors import BenchError, BoardFileError, FlashError, HarnessError, ProbeError


@contextmanager
def explained(doing: str, probe_id: str) -> Iterator[None]:
    """Turn pyOCD's exceptions into harness's errors.

    So it does with the USB libraries' `OSError`, and with the `RecursionError` in which pyOCD's attempts to clear an
    error end when they fail themselves.

    Args:
        doing: what is being done, as in `while reading`.
        probe_id: which probe the messages name.
    """
    try:
        yield
    except (exceptions.Error, OSError, RecursionError) as error:
        raise _explain(error, doing, f"probe {probe_id}") from error


def _explain(error: Exception, doing: str, where: str) -> HarnessError:
    cause = error.__cause__
    if type(error) is exceptions.Error and isinstance(cause, exceptions.Error):
        error = cause  # "Target not detected", whatever the reason
    for kind, explain in _EXPLANATIONS:
        if isinstance(error, kind):
            return explain(error, doing, where)
    return _unexpected(error, doing, where)


def _disconnected(error: Exception, doing: str, where: str) -> BenchError:
    return ProbeError(
        f"the probe is gone while {doing}: {error}", where=where, hint="check its USB cable, then run again"
    )


def _memory_fault(error: Exception, doing: str, where: str) -> BenchError:
    return FlashError(
        f"the chip's bus answered with a fault while {doing}: {error}",
        where=where,
        hint="is the board file's flash and memory map right for this chip?",
    )


def _silent_chip(error: Exception, doing: str, where: str) -> BenchError:
    return ProbeError(
        f"the chip does not answer while {doing}: {str(error) or type(error).__name__}",
        where=where,
        hint="check the board's power and the wires SWDIO, SWCLK and GND",
    )


def _flash_failure(error: Exception, doing: str, where: str) -> BenchError:
    return FlashError(
        f"{error} while {doing}",
        where=where,
        hint="is the sector write-protected (option bytes nWRP), or the supply too low?",
    )


def _unknown_target(error: Exception, doing: str, where: str) -> HarnessError:
    return BoardFileError(
        f"pyOCD does not know the board's flash target: {error}",
        where=where,
        hint="correct `target` in the board file, or install its CMSIS pack: pyocd pack install TARGET",
    )


def _unexpected(error: Exception, doing: str, where: str) -> BenchError:
    return ProbeError(
        f"{str(error) or type(error).__name__} while {doing}",
        where=where,
        hint="is another program using the probe? Unplug it and plug it in again",
    )


_EXPLANATIONS: tuple[tuple[type[Exception], Callable[[Exception, str, str], HarnessError]], ...] = (
    (exceptions.ProbeDisconnected, _disconnected),
    (exceptions.TransferFaultError, _memory_fault),
    (exceptions.TransferError, _silent_chip),
    (RecursionError, _silent_chip),
    (exceptions.FlashFailure, _flash_failure),
    (exceptions.TargetSupportError, _unknown_target),
)
"""The first kind that fits counts."""
