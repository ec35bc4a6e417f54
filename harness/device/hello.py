"""What a device says of itself after each reset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.device.wire import Frame
from harness.files.fields import Fields


@dataclass(frozen=True)
class ModelState:
    """What the device found where a model should be: `ok`, or why it cannot use it."""

    state: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class Hello:
    """What a device says of itself after each reset; wire.py explains the fields."""

    build_id: str
    image_crc32: int
    board: str
    tflm: str
    unit: str
    arena_max_bytes: int
    line_bytes: int
    clock_hz: int
    clock_source: str
    stack_bytes: int
    reset: str
    struct_sizes: Mapping[str, int]
    model: ModelState
    models: tuple[ModelState, ...]
    records: bool
    share_max: int


def read_hello(frame: Frame) -> Hello:
    """The content of a hello frame. Firmware of before there were several models says nothing of them.

    Raises:
        ProtocolError: a field is missing, or of another type.
    """
    body = frame.body
    model = _model_state(body.inner("model"))
    return Hello(
        build_id=body.text("build_id"),
        image_crc32=body.count("image_crc32"),
        board=body.text("board"),
        tflm=body.text("tflm"),
        unit=body.text("unit"),
        arena_max_bytes=body.count("arena_max_bytes"),
        line_bytes=body.count("line_bytes"),
        clock_hz=body.count("clock_hz"),
        clock_source=body.text("clock_source"),
        stack_bytes=body.count("stack_bytes"),
        reset=body.text("reset"),
        struct_sizes=body.inner("sizes").all_integers(),
        model=model,
        models=tuple(map(_model_state, body.inners("models"))) if body.has("models") else (model,),
        records=body.has("records") and body.count("records") > 0,
        share_max=body.integer("share_max", least=1) if body.has("share_max") else 1,
    )


def _model_state(body: Fields) -> ModelState:
    return ModelState(body.text("state"), body.count("size_bytes"), body.text("sha256"))
