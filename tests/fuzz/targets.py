"""What is fuzzed, and what must hold whatever the bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache

from harness import plugins
from harness.bench.boards import load_board
from harness.device import wire
from harness.device.talk import Device, Patience
from harness.domain.estimate import Profile
from harness.domain.measurement import Measurement
from harness.domain.recipe import Recipe
from harness.errors import HarnessError, ModelError, SourceError
from harness.estimate import ModelFile, device_refusals, estimate, load_graph
from harness.measure.procedure import measure
from harness.session import RunOptions, Session, open_session
from tests.fuzz.libraries import any_library, look_into
from tests.fuzz.mutations import mutated_model, mutated_stream
from tests.fuzz.seeds import seeds
from tests.support.scripted import ALLOCATED, ANSWERS, HELLO, SUBJECT, ScriptedLine
from tests.support.spots import Spot, spots

PROFILES = (
    Profile("2020-07", "arm32"),
    Profile("2026-08", "arm32", "cmsis-nn"),
    Profile("2026-08", "x86-64"),
)
BRIEF = Patience(boot_s=0.01, answer_s=0.01, work_s=0.01)
WORDS = plugins.family("esp32").words  # of a chip that talks by itself


class BrokenPromiseError(AssertionError):
    """Something came out that must not."""


def require(truth: bool, promise: str) -> None:
    """Complain unless a promise is kept."""
    if not truth:
        raise BrokenPromiseError(promise)


@cache
def _mapped_seeds() -> tuple[tuple[bytes, list[Spot]], ...]:
    return tuple((model, spots(model)) for model in seeds())


def any_model(numbers: random.Random) -> bytes:
    """A damaged model."""
    model, places = numbers.choice(_mapped_seeds())
    return mutated_model(numbers, model, places)


def check_model(numbers: random.Random, data: bytes) -> str:
    """Estimate a model: either a ModelError, or figures that add up."""
    profile = numbers.choice(PROFILES)
    try:
        model = ModelFile.of("fuzzed.tflite", data)
        graph = load_graph(model)
        with suppress(ModelError):
            device_refusals(graph, profile)
        found = estimate(model, profile, graph=graph)
    except ModelError as error:
        require(len(str(error).splitlines()) <= 3, "an error has three lines at most")
        return "refused"
    require(sum(section.size_bytes for section in found.sections) == found.arena_used_bytes, "sections add up")
    require(found.recommended_arena_bytes >= (found.min_working_arena_bytes or 0), "what is recommended works")
    return "estimated"


@cache
def _sent() -> tuple[bytes, frozenset[str]]:
    """A stream of frames, one of them cut into lines, and the frames as text."""
    bodies = [HELLO, *ANSWERS.values(), ALLOCATED]
    stream = bytearray(b"boot noise\r\n")
    sequence = 0
    for body in bodies:
        text = json.dumps(body)
        pieces = [text[at : at + 150] for at in range(0, len(text), 150)]
        for piece in pieces:
            stream += wire.encode(sequence, "5f3a9c01", piece, more=piece is not pieces[-1])
            sequence += 1
    return bytes(stream), frozenset(json.dumps(body, sort_keys=True) for body in bodies)


def any_stream(numbers: random.Random) -> bytes:
    """A damaged piece of a stream."""
    stream, _ = _sent()
    start = numbers.randrange(len(stream))
    return mutated_stream(numbers, stream[start : start + numbers.choice((50, 200, 600))])


def check_stream(numbers: random.Random, data: bytes) -> str:
    """Decode a stream: no frame that was not sent, and the same events however it is cut."""
    whole = list(wire.Decoder().feed(data))
    decoder, cut = wire.Decoder(), numbers.randrange(len(data) + 1)
    require([*decoder.feed(data[:cut]), *decoder.feed(data[cut:])] == whole, "pieces give the same events")
    frames = [json.dumps(event.body.values, sort_keys=True) for event in whole if isinstance(event, wire.Frame)]
    require(set(frames) <= _sent()[1], "every frame was sent")
    return "frames" if frames else "no frame"


def _measured(line: ScriptedLine) -> Measurement:
    line.boot()
    return replace(measure(Device(line, line.reset, BRIEF, WORDS), SUBJECT, Recipe()), log=())


@cache
def _undamaged() -> Measurement:
    return _measured(ScriptedLine())


def any_damage(numbers: random.Random) -> bytes:
    """The seed of a conversation's damage."""
    return numbers.randbytes(8)


def check_device(_numbers: random.Random, data: bytes) -> str:
    """Measure over a bad line: the right figures, or an error."""
    numbers = random.Random(data)  # noqa: S311 - no secret
    share = numbers.choice((0.02, 0.1, 0.5))
    line = _BadLine(lambda answer: mutated_stream(numbers, answer) if numbers.random() < share else answer)
    try:
        found = _measured(line)
    except HarnessError as error:
        require(len(str(error).splitlines()) <= 3, "an error has three lines at most")
        return type(error).__name__
    require(found == _undamaged(), "never a wrong number")
    return "measured"


class _BadLine(ScriptedLine):
    """A good device at the far end of a bad line."""

    def __init__(self, damage: Callable[[bytes], bytes]) -> None:
        super().__init__()
        self._damage = damage

    def read(self, timeout_s: float) -> bytes:
        data = super().read(timeout_s)
        return self._damage(data) if data else data


@dataclass(frozen=True)
class OnBoard:
    """Runs models that the host lets pass on a virtual board."""

    session: Session
    options: RunOptions

    def any_model(self, numbers: random.Random) -> bytes:
        """A damaged model that the host's checks do not refuse, and that is not merely a copy of its seed."""
        while True:
            model, places = numbers.choice([pair for pair in _mapped_seeds() if len(pair[0]) < 20_000])
            data = mutated_model(numbers, model, places, changes=1)
            if data != model and _passes(data):
                return data

    def check(self, _numbers: random.Random, data: bytes) -> str:
        """Measured, or refused by the device: the bench is not in trouble, and the estimate is not too low."""
        row = self.session.run(ModelFile.of("fuzzed.tflite", data), self.options)
        require(row.verdict in ("ok", "over", "fail"), f"{row.verdict} {row.error_class}: {'; '.join(row.causes)}")
        return " ".join(filter(None, (row.verdict, row.error_class)))


def _passes(data: bytes) -> bool:
    try:
        return not device_refusals(load_graph(ModelFile.of("fuzzed.tflite", data)), PROFILES[0])
    except ModelError:
        return False


@contextmanager
def on_board() -> Iterator[OnBoard]:
    """A virtual board of its own."""
    options = RunOptions()
    board = replace(load_board("stm32f407-virtual"), watchdog_s=2.0)
    with open_session(board, options, lambda *_: None) as session:
        yield OnBoard(session, options)


def check_library(_numbers: random.Random, data: bytes) -> str:
    """Look into a static library: what is wrong with it is an error, or among what was found."""
    try:
        return "sound" if look_into(data) else "told"
    except SourceError as error:
        require(len(str(error).splitlines()) <= 3, "an error has three lines at most")
        return "refused"


ALONE = {
    "model": (any_model, check_model),
    "stream": (any_stream, check_stream),
    "library": (any_library, check_library),
    "device": (any_damage, check_device),
}
"""What needs no board: how to make an input, and how to check what comes of it."""
