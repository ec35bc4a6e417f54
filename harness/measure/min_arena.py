"""The smallest arena with which a model runs, found by bisection on the device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.device.commands import check_hello
from harness.device.talk import Device
from harness.domain.recipe import Recipe, Subject
from harness.errors import DeadlineError, DeviceError
from harness.measure.procedure import try_run

# TFLM aligns nothing in the arena to less.
STEP_BYTES = 4


@dataclass(frozen=True)
class Minimum:
    """The result of a search.

    Attributes:
        size_bytes: a size that works.
        failure: how `size_bytes` less 4 bytes failed.
    """

    size_bytes: int
    failure: str


def find_min_arena(device: Device, subject: Subject, recipe: Recipe, works: int, guess: int | None) -> Minimum:
    """Find the smallest arena, one size per reset.

    A hang, a reset, a fault or a write outside the arena counts as "too small", since a larger arena cures it. Trouble
    on the way to the first command does not: it says nothing about the size.

    Args:
        device: the device that `measure` was done with.
        subject: what is to be measured.
        recipe: how; its arena size is not used.
        works: a size in bytes that is known to work.
        guess: the estimated minimum, which is tried first.

    Raises:
        FlashError: something else runs on the device than was flashed.
        HarnessError: the device does not start any more, or there is no way to it.
    """

    def attempt(size_bytes: int) -> str | None:
        hello = check_hello(device.reboot(), subject)
        try:
            overruns = try_run(device, hello, subject, replace(recipe, arena_size_bytes=size_bytes))
        except (DeviceError, DeadlineError) as error:
            return error.what
        return "; ".join(overruns) or None

    return search(attempt, works, guess)


def search(attempt: Callable[[int], str | None], works: int, guess: int | None) -> Minimum:
    """Bisect in steps of 4 bytes.

    Args:
        attempt: tries a size in bytes; None when it works, else how it failed.
        works: a size that works.
        guess: where the answer is expected: when it is exact, two attempts find it.
    """
    bad, good, failure = 0, works, "no arena at all"
    candidates = [size for size in _around(guess) if size < works]
    while good - bad > STEP_BYTES:
        size = candidates.pop(0) if candidates else _between(bad, good)
        if not bad < size < good:
            continue
        failed = attempt(size)
        if failed is None:
            good = size
        else:
            bad, failure = size, failed
    return Minimum(good, failure)


def _around(guess: int | None) -> list[int]:
    if guess is None:
        return []
    exact = -(-guess // STEP_BYTES) * STEP_BYTES
    return [exact, exact - STEP_BYTES, exact + 16, exact - 16]


def _between(bad: int, good: int) -> int:
    """The middle, kept a whole number of steps below `good`, so that the search ends 4 bytes below a working size."""
    steps = (good - bad) // STEP_BYTES
    return good - max(1, steps // 2) * STEP_BYTES
