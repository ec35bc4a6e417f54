from __future__ import annotations

import pytest

from harness.virtual.stm32f407.triggers import Triggers, parse


@pytest.fixture
def done():
    return []


@pytest.fixture
def triggers(done):
    return Triggers(done.append)


def test_a_command_waits_for_its_transfer(triggers, done):
    triggers.add([parse({"transfer": 3})], {"do": "a"})
    for expected in ([], [], [{"do": "a"}], [{"do": "a"}]):
        triggers.note_transfer()
        assert done == expected


def test_no_slice_runs_past_the_cycle_that_is_waited_for(triggers, done):
    assert triggers.cycles_left(1000) == 1000
    triggers.add([parse({"cycle": 700})], {"do": "a"})
    assert triggers.cycles_left(1000) == 700
    triggers.note_cycles(699)
    assert (triggers.cycles_left(1000), done) == (1, [])
    triggers.note_cycles(2)
    assert (triggers.cycles_left(1000), done) == (1000, [{"do": "a"}])


def test_text_is_heard_in_pieces(triggers, done):
    triggers.add([parse({"heard": "invoke"})], {"do": "a"})
    triggers.note_heard(b"xxinv")
    assert done == []
    triggers.note_heard(b"oke")
    assert done == [{"do": "a"}]


def test_moments_come_one_after_the_other(triggers, done):
    triggers.add([parse({"heard": "go"}), parse({"transfer": 2})], {"do": "a"})
    triggers.note_transfer()
    triggers.note_transfer()
    triggers.note_heard(b"go")
    triggers.note_transfer()
    assert done == []
    triggers.note_transfer()
    assert done == [{"do": "a"}]


def test_what_waits_can_be_forgotten(triggers, done):
    triggers.add([parse({"transfer": 1})], {"do": "a"})
    triggers.clear()
    triggers.note_transfer()
    assert done == []


@pytest.mark.parametrize("description", [{}, {"later": 1}, {"heard": ""}, {"cycle": "x"}, {"transfer": 1, "cycle": 2}])
def test_what_is_no_moment_is_refused(description):
    with pytest.raises(ValueError):  # noqa: PT011 - int() words its own
        parse(description)
