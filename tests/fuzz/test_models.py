"""Damaged and hostile models: whatever the bytes, the answer is an estimate or a ModelError, and it comes soon."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.domain.estimate import Profile
from harness.errors import ModelError
from harness.estimate import ModelFile, device_refusals, estimate, load_graph
from tests.fuzz.seeds import SEEDS
from tests.support.models import ModelBuilder

PROFILES = st.sampled_from(
    [Profile("2020-07", "arm32"), Profile("2026-08", "arm32", "cmsis-nn"), Profile("2026-08", "x86-64")]
)
QUICK = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answer(data: bytes, profile: Profile) -> None:
    """Estimate, and ask whether a device may have it; ModelError is a good answer, anything else an escape."""
    with contextlib.suppress(ModelError):
        model = ModelFile.of("fuzzed.tflite", data)
        graph = load_graph(model)
        with contextlib.suppress(ModelError):
            device_refusals(graph, profile)
        found = estimate(model, profile, graph=graph)
        assert sum(section.size_bytes for section in found.sections) == found.arena_used_bytes
        assert found.recommended_arena_bytes >= (found.min_working_arena_bytes or 0)


@QUICK
@given(
    seed=st.sampled_from(SEEDS),
    changes=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=8),
    profile=PROFILES,
)
def test_changed_bytes(seed: bytes, changes: list[tuple[int, int]], profile: Profile) -> None:
    data = bytearray(seed)
    for position, value in changes:
        data[position % len(data)] = value
    answer(bytes(data), profile)


@QUICK
@given(
    seed=st.sampled_from(SEEDS),
    position=st.integers(0, 1000),
    word=st.sampled_from([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x10000]),
    profile=PROFILES,
)
def test_changed_words(seed: bytes, position: int, word: int, profile: Profile) -> None:
    data = bytearray(seed)
    place = 4 * (position % (len(data) // 4))
    data[place : place + 4] = word.to_bytes(4, "little")
    answer(bytes(data), profile)


@QUICK
@given(seed=st.sampled_from(SEEDS), length=st.integers(0, 4000), profile=PROFILES)
def test_truncated_files(seed: bytes, length: int, profile: Profile) -> None:
    answer(seed[: length % (len(seed) + 1)], profile)


OPERATORS = st.sampled_from(
    """
    ADD CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED SVDF MEAN BATCH_MATMUL TRANSPOSE_CONV UNIDIRECTIONAL_SEQUENCE_LSTM IF
    WHILE CALL_ONCE VAR_HANDLE ASSIGN_VARIABLE RESHAPE CONCATENATION AVERAGE_POOL_2D SOFTMAX Mine
    """.split()  # noqa: SIM905 - a list of names reads better without quotes
)
TYPES = st.sampled_from(["int8", "int16", "float32", "int4", "int64", "bool", "resource", "string"])
SHAPES = st.one_of(st.none(), st.lists(st.sampled_from([-1, 0, 1, 2, 3, 8, 1 << 20]), max_size=5))


@st.composite
def models(draw: st.DrawFn) -> ModelBuilder:
    """Models whose file is well formed, and whose contents are anything."""
    model = ModelBuilder()
    graphs: list[Any] = [model, *(model.subgraph(f"s{n}") for n in range(draw(st.integers(0, 2))))]
    for graph in graphs:
        count = draw(st.integers(1, 6))
        for number in range(count):
            scales, zero_points = draw(st.integers(0, 3)), draw(st.integers(0, 3))
            data = draw(st.one_of(st.none(), st.binary(max_size=64)))
            graph.tensor(
                f"t{number}",
                draw(SHAPES),
                draw(TYPES),
                scales=scales,
                zero_points=zero_points,
                quantized_dimension=draw(st.integers(-1, 5)),
                variable=draw(st.booleans()),
                data=data,
            )
        operands = st.lists(st.integers(-1, count - 1), max_size=6)
        graph.inputs, graph.outputs = draw(operands), draw(operands)
        for _ in range(draw(st.integers(0, 4))):
            calls = {"ThenSubgraphIndex": draw(st.integers(-1, 3)), "ElseSubgraphIndex": draw(st.integers(-1, 3))}
            graph.operator(draw(OPERATORS), draw(operands), draw(operands), ("IfOptions", calls))
    return model


@QUICK
@given(model=models(), profile=PROFILES)
def test_well_formed_files_with_senseless_contents(model: ModelBuilder, profile: Profile) -> None:
    answer(model.build(), profile)
