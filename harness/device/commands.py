"""The single steps of measuring: what is asked of the device, and what its answer must be."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from harness.device.hello import Hello, ModelState
from harness.device.input_data import feed, given_data
from harness.device.talk import Device
from harness.device.tflm_log import explain, tells_of_small_arena
from harness.domain.measurement import TensorInfo
from harness.domain.recipe import MAGIC_BYTES, FlashedModel, Recipe, Subject
from harness.errors import ConfigMismatchError, DeadlineError, DeviceError, FlashError, ProtocolError, UsageError
from harness.files.fields import Fields

_NO_MODEL = ModelState("missing", 0, "")


@dataclass(frozen=True)
class Allocated:
    """A model whose tensors TFLM has allocated.

    Attributes:
        number: of the model, in flash.
        answer: what the device said; its arena figures are of all models up to this one.
        inputs, outputs: its tensors.
    """

    number: int
    answer: Fields
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]


def await_hello(device: Device, subject: Subject) -> Hello:
    """The hello of the firmware that was flashed; one of another build may be a late word of what ran before.

    Raises:
        FlashError, UsageError, ConfigMismatchError: as `check_hello`.
    """
    hello = device.await_boot()
    if hello.build_id != subject.image.build_id:
        with suppress(DeadlineError, ProtocolError):
            hello = device.await_boot()
    return check_hello(hello, subject)


def check_hello(hello: Hello, subject: Subject) -> Hello:
    """Make sure that what runs is what was flashed, and what was estimated.

    Raises:
        FlashError: another firmware, a damaged one, or another model.
        UsageError: so many models cannot share an arena.
        ConfigMismatchError: TFLM's structures have other sizes than the estimate counts on.
    """
    _check_build(hello, subject)
    _check_sharing(hello, subject)  # before the models: it looks for no more of them than can share
    _check_models(hello, subject)
    _check_sizes(hello, subject)
    return hello


def arena_size(recipe: Recipe, hello: Hello) -> int:
    """The arena to give, in bytes.

    Raises:
        UsageError: the device does not have so much.
    """
    size = recipe.arena_size_bytes or hello.arena_max_bytes
    check_arena_size(size, hello.arena_max_bytes)
    return size


def check_arena_size(size_bytes: int, largest_bytes: int, where: str = "") -> None:
    """Make sure that an arena of this size can be had.

    Raises:
        UsageError: the firmware leaves only `largest_bytes`.
    """
    if size_bytes > largest_bytes:
        raise UsageError(
            "the arena is larger than the RAM that the firmware leaves",
            where=where,
            measured=f"{size_bytes:,} bytes",
            expected=f"at most {largest_bytes:,}",
            hint="choose a smaller --arena-size",
        )


def record(device: Device, subject: Subject, arena_bytes: int) -> dict[str, int]:
    """Let TFLM allocate the first model's tensors once more, and say how many bytes it took for what.

    Raises:
        DeviceError: it does not fit; TFLM takes more of the arena when it records.
    """
    (model,) = subject.models
    answer = _allocated(
        device, "allocate", arena_bytes=arena_bytes, paint=MAGIC_BYTES[0], variables=model.variables, record=1
    )
    sections = answer.inner("sections")
    return {name: sections.inner(name).count("used_bytes") for name in sections.values}


def allocate(device: Device, subject: Subject, arena_bytes: int, magic_byte: int) -> tuple[Allocated, ...]:
    """Paint an arena and let TFLM allocate the tensors of each model in it.

    Raises:
        DeviceError: it does not fit, or TFLM refuses a model.
    """

    def ask(number: int, model: FlashedModel) -> Fields:
        if number == 0:
            return _allocated(device, "allocate", arena_bytes=arena_bytes, paint=magic_byte, variables=model.variables)
        return _allocated(device, "share", model=number, variables=model.variables)

    answers = [ask(number, model) for number, model in enumerate(subject.models)]
    return tuple(
        Allocated(number, answer, _tensors(answer, "inputs"), _tensors(answer, "outputs"))
        for number, answer in enumerate(answers)
    )


def invoke(device: Device, hello: Hello, model: Allocated, recipe: Recipe, *, watch: bool = False) -> Fields:
    """Run a model as often as the recipe says; its inputs, which share their memory with later tensors, are fed anew.

    Args:
        device: where it is allocated.
        hello: what the device said when it started.
        model: which.
        recipe: how often, and with which inputs.
        watch: whether the device is to look for overruns after each operator.

    Returns:
        The last answer.

    Raises:
        DeviceError: it does not run.
        UsageError: the inputs do not fit.
    """
    data = given_data(model.inputs, recipe.inputs, recipe.random_seed)
    for _ in range(recipe.invokes):
        feed(device, hello.line_bytes, model.inputs, data, model.number)
        log_before = len(device.transcript.log)
        invoked = device.ask("invoke", "invoked", works=True, model=model.number, watch=int(watch)).body
        if invoked.text("status") != "ok":
            raise explain(device.transcript.log[log_before:], "Invoke")
    return invoked


def scan(device: Device) -> Fields:
    """What the arena, its guards and the stack look like."""
    return device.ask("scan", "scanned").body


def read_outputs(device: Device, model: Allocated) -> list[bytes]:
    """The bytes of a model's output tensors."""
    return [
        device.ask("output", "output", model=model.number, index=index).body.data("hex")
        for index in range(len(model.outputs))
    ]


def _tensors(answer: Fields, key: str) -> tuple[TensorInfo, ...]:
    return tuple(
        TensorInfo(tensor.text("type"), tensor.integers("shape"), tensor.count("size_bytes"))
        for tensor in answer.inners(key)
    )


def _allocated(device: Device, command: str, **arguments: int) -> Fields:
    log_before = len(device.transcript.log)
    answer = device.ask(command, "allocated", works=True, **arguments).body
    if not answer.truth("paint_ok"):
        raise DeviceError("the paint did not take: the RAM does not hold what is written to it")
    said = device.transcript.log[log_before:]
    if answer.text("status") != "ok" or tells_of_small_arena(said):
        raise explain(said, "AllocateTensors")
    return answer


def _check_build(hello: Hello, subject: Subject) -> None:
    image = subject.image
    for what, measured, expected in (
        ("firmware build", hello.build_id, image.build_id),
        ("CRC-32 of the firmware", f"{hello.image_crc32:08x}", f"{image.crc32:08x}"),
    ):
        _check_flashed(hello, subject, what, measured, expected)


def _check_sharing(hello: Hello, subject: Subject) -> None:
    if len(subject.models) > hello.share_max:
        raise UsageError(
            "the firmware cannot run so many models in one arena",
            measured=f"{len(subject.models)} models",
            expected=f"at most {hello.share_max}",
            hint="let fewer models share an arena",
        )


def _check_models(hello: Hello, subject: Subject) -> None:
    """As many as were written; behind them there may be remains of others."""
    in_flash = (hello.model, *hello.models[1:])
    for number, model in enumerate(subject.models):
        found = in_flash[number] if number < len(in_flash) else _NO_MODEL
        which = f" {number + 1}" if number else ""
        _check_flashed(hello, subject, f"model region{which}", found.state, "ok")
        _check_flashed(hello, subject, f"SHA-256 of the model{which}", found.sha256, model.sha256)


def _check_flashed(hello: Hello, subject: Subject, what: str, measured: str, expected: str) -> None:
    if measured != expected:
        raise FlashError(
            f"the device runs something else than was flashed: {what}",
            where=f"{subject.board.id} {hello.unit}",
            measured=measured,
            expected=expected,
            hint="flash it anew: --force-flash",
        )


def _check_sizes(hello: Hello, subject: Subject) -> None:
    found = hello.struct_sizes
    differences = [
        f"{name} {found[name]} instead of {size} bytes"
        for name, size in subject.struct_sizes.items()
        if found.get(name, size) != size
    ]
    if differences:
        raise ConfigMismatchError(
            f"config_mismatch: {', '.join(differences)}",
            where=f"{subject.board.id} {hello.unit}",
            hint=f"TFLM is not built as its layout profile {subject.image.tflm} has it: library and `defines` differ "
            "in TF_LITE_STATIC_MEMORY, USE_TFLM_COMPRESSION set, no -fno-short-enums (TfLiteType), headers of another "
            "release than the library's, or a fork",
        )
