"""Two sweeps do not fight over a unit: each holds the units that it uses, by locks that name their holder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.bench.file import BenchDut
from harness.errors import BenchError, ProbeError
from harness.files import locks


@contextmanager
def claim_duts(duts: Sequence[BenchDut], note: Callable[[str], None]) -> Iterator[list[BenchDut]]:
    """The units that nobody else uses, held for as long as the context lasts.

    A holder that died holds nothing: the kernel lets go of its locks.

    Args:
        duts: those wanted.
        note: told which are left out, and who holds them.

    Raises:
        ProbeError: all of them are in use.
    """
    with ExitStack() as held:
        free: list[BenchDut] = []
        refusal: ProbeError | None = None
        for dut in duts:
            try:
                if dut.resource is not None:
                    held.enter_context(locks.hold(dut.resource, ProbeError))
            except ProbeError as error:
                note(f"{dut.name} is left out: {error.what}, {error.measured}")
                refusal = error
            else:
                free.append(dut)
        if refusal is not None and not free:
            raise refusal
        yield free


@contextmanager
def claim_sweep(store: Path, sweep: int) -> Iterator[None]:
    """Hold a sweep, so that it is not run twice at the same time.

    Raises:
        BenchError: another program is at it.
    """
    with locks.hold(f"sweep {sweep} in {store.resolve()}", BenchError):
        yield
