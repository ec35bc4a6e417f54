"""The measuring procedure: paint, AllocateTensors, paint again, Invoke, scan; each with two magic bytes.

A scan from the arena's end for the first byte that is no paint always answers "full", because the tail starts there.
And the planner uses the whole free middle as scratch, so that what AllocateTensors leaves painted says little. Hence
the middle, from head end to tail start, is painted a second time before Invoke. A byte that equals the paint by chance
shows on the other paint, so "untouched" means untouched on both. Invoke runs on each paint in the same life of the
interpreter, since its state may grow from run to run; AllocateTensors runs on each paint after a reset of its own.

Models that share an arena are allocated one behind the other, and run in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.device.commands import (
    Allocated,
    allocate,
    arena_size,
    await_hello,
    check_hello,
    invoke,
    read_outputs,
    record,
    scan,
)
from harness.device.faults import read_operator
from harness.device.hello import Hello
from harness.device.talk import Device
from harness.domain.measurement import Measurement
from harness.domain.postmortem import RunningOperator
from harness.domain.recipe import MAGIC_BYTES, Recipe, Subject
from harness.errors import DeadlineError, DeviceError
from harness.files.fields import Fields
from harness.measure.assemble import Findings, Round, measurement, overruns

# Of the arena's base, and the largest of all that TFLM allocates in it.
_ARENA_ALIGNMENT = 16


def measure(device: Device, subject: Subject, recipe: Recipe) -> Measurement:
    """Measure one model, or several that share an arena.

    Args:
        device: where they lie; it has just been started.
        subject: what is to be measured.
        recipe: how.

    Raises:
        FlashError: something else runs on the device than was flashed.
        ConfigMismatchError: TFLM there is built otherwise than the estimate counts on.
        DeviceError: the device said no.
        UsageError: the inputs or the arena do not fit, or there are too many models for one arena.
    """
    hello = await_hello(device, subject)
    arena_bytes = arena_size(recipe, hello)
    allocated = allocate(device, subject, arena_bytes, MAGIC_BYTES[0])
    first = _run_on_paint(device, hello, allocated, recipe, MAGIC_BYTES[0])
    second = _run_on_paint(device, hello, allocated, recipe, MAGIC_BYTES[1])
    outputs = (*second.outputs, *read_outputs(device, allocated[-1]))
    check_hello(device.reboot(), subject)
    again = allocate(device, subject, arena_bytes, MAGIC_BYTES[1])
    fresh = scan(device)
    recorded = _record(device, hello, subject, arena_bytes)
    findings = Findings(hello, (allocated, again), (first, second), fresh, outputs, *recorded)
    return measurement(subject, findings, device)


def try_run(device: Device, hello: Hello, subject: Subject, recipe: Recipe) -> tuple[str, ...]:
    """Run models as often as the recipe says, without measuring.

    Args:
        device: where they lie; it has just been started.
        hello: what the device said when it started.
        subject: the models.
        recipe: how.

    Returns:
        Overruns, in words; none is good.

    Raises:
        DeviceError: it does not run.
        DeadlineError: it hangs.
    """
    allocated = allocate(device, subject, arena_size(recipe, hello), MAGIC_BYTES[0])
    for model in allocated:
        invoke(device, hello, model, recipe)
    return overruns(scan(device))


def find_culprit(device: Device, hello: Hello, subject: Subject, recipe: Recipe) -> RunningOperator | None:
    """The first operator that writes where nothing may be written; None when none does, or TFLM itself does.

    Args:
        device: where the models lie; it has just been started.
        hello: what the device said when it started.
        subject: the models.
        recipe: how to run them.

    Raises:
        HarnessError: they do not run any more.
    """
    allocated = allocate(device, subject, arena_size(recipe, hello), MAGIC_BYTES[0])
    answers = (invoke(device, hello, model, recipe, watch=True) for model in allocated)
    return next(filter(None, map(read_operator, answers)), None)


def _record(device: Device, hello: Hello, subject: Subject, arena_bytes: int) -> tuple[dict[str, int], str | None]:
    """What TFLM takes for what, and why it cannot say so. Models that share an arena are not recorded.

    Recording takes more of the arena, so that it gets the largest one that ends at the same place modulo 16: what
    alignment costs is then the same.
    """
    if not hello.records or len(subject.models) > 1:
        return {}, None
    check_hello(device.reboot(), subject)
    largest = hello.arena_max_bytes - (hello.arena_max_bytes - arena_bytes) % _ARENA_ALIGNMENT
    try:
        return record(device, subject, largest), None
    except (DeviceError, DeadlineError) as error:
        return {}, error.what


def _run_on_paint(
    device: Device, hello: Hello, allocated: Sequence[Allocated], recipe: Recipe, magic_byte: int
) -> Round:
    """Paint the middle, run each model on it, and scan."""
    device.ask("repaint", "ok", paint=magic_byte)
    invoked: list[Fields] = []
    outputs: list[bytes] = []
    for model in allocated:
        if model.number:  # it will write over the outputs of the one before
            outputs += read_outputs(device, allocated[model.number - 1])
        invoked.append(invoke(device, hello, model, recipe))
    return Round(tuple(invoked), scan(device), tuple(outputs))
