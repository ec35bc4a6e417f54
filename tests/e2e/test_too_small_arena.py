"""Arenas below the minimum, down to nothing: each has to be told as too small, and none may yield a number."""

import pytest

from harness.bench.boards import load_board
from harness.domain.recipe import Recipe
from harness.estimate import read_model
from harness.session import RunOptions, open_session
from tests.support.boards import BOARD

MODELS = (
    "ad01_int8",
    "hello_world_float",
    "hello_world_int8",
    "kws_int8",
    "micro_speech_int8",
    "simple_add_float",
)
SIZES = 20


def sizes_below(minimum):
    """4 and 8 bytes less, and so on with growing steps, down to the smallest arena."""
    steps = [4, 8, 12, 16, 32, 64, 128, 256]
    near = [minimum - step for step in steps if minimum - step > 0]
    rest = SIZES - len(near)
    return [*near, *(max(4, near[-1] * (rest - number) // (rest + 1) // 4 * 4) for number in range(rest))]


@pytest.fixture(scope="module")
def session(needs_firmware):
    with open_session(load_board(BOARD), RunOptions(), lambda *_: None) as opened:
        yield opened


@pytest.mark.parametrize("name", MODELS)
def test_no_size_below_the_minimum_yields_a_number(session, shared_models, name):
    model = read_model(next(path for path in shared_models if path.stem == name))
    row = session.run(model, RunOptions(min_arena=True, force_flash=True))
    assert row.measurement, row.causes
    minimum = row.measurement.min_working_arena_bytes
    for size in sizes_below(minimum):
        row = session.run(model, RunOptions(recipe=Recipe(arena_size_bytes=size)))
        assert row.measurement is None, size
        assert (row.verdict, row.error_class) == ("fail", "ArenaTooSmallError"), (size, row.causes)
        assert "arena is too small" in row.causes[0]
    assert session.run(model, RunOptions(recipe=Recipe(arena_size_bytes=minimum))).measurement
