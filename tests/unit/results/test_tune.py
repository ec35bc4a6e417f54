"""Corrections: what is planted is recovered, what is exact is left alone, and nothing becomes too low."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ResultError
from harness.estimate.corrections import corrected
from harness.results.tune import errors_of, fit, is_exact, pair_up, samples_of
from tests.support.tuning import PROFILE, SECTIONS, estimate, fitted, measurement, samples

BYTES = st.integers(-200, 200)
BIAS = st.fixed_dictionaries({"head": BYTES, "tail": BYTES, "sections": st.tuples(BYTES, BYTES)})
NOISE = st.lists(BIAS, min_size=5, max_size=12)


@given(bias=BIAS, count=st.integers(5, 12))
def test_a_planted_bias_is_recovered_section_by_section(bias, count):
    pairs = [(one, measurement(one, **bias)) for one in map(estimate, range(count))]
    planted = {"head": bias["head"], "tail": bias["tail"], **dict(zip(SECTIONS, bias["sections"], strict=True))}
    total = sum(planted.values())
    if total == 0:
        assert fitted(*pairs) is None
        return
    correction = fitted(*pairs)
    assert {term.section: term.size_bytes for term in correction.offsets} == {k: v for k, v in planted.items() if v}
    assert correction.after == errors_of([0] * count)
    for expected, found in pairs:
        assert corrected(expected, correction).arena_used_bytes == found.arena_used_bytes


@given(bias=st.integers(1, 500), outlier=st.integers(500, 5000))
def test_one_outlier_among_many_does_not_move_the_term(bias, outlier):
    pairs = [(one, measurement(one, tail=bias)) for one in map(estimate, range(12))]
    pairs[3] = (pairs[3][0], measurement(pairs[3][0], tail=bias + outlier))
    (term,) = fitted(*pairs).offsets
    assert (term.section, term.size_bytes) == ("tail", bias)


@given(NOISE)
def test_no_training_model_that_was_high_enough_becomes_too_low(biases):
    pairs = [(one, measurement(one, **bias)) for one, bias in zip(map(estimate, range(99)), biases, strict=False)]
    total = fit(samples(*pairs)).total
    for expected, found in pairs:
        if expected.arena_used_bytes >= found.arena_used_bytes:
            assert expected.arena_used_bytes + total >= found.arena_used_bytes


@given(NOISE)
def test_what_is_fitted_again_after_correction_is_the_same(biases):
    pairs = [(one, measurement(one, **bias)) for one, bias in zip(map(estimate, range(99)), biases, strict=False)]
    try:
        correction = fitted(*pairs)
    except ResultError:
        return
    if correction is not None:
        again = [(corrected(expected, correction), found) for expected, found in pairs]
        assert fit(samples(*again)).offsets == fit(samples(*pairs)).offsets


@given(NOISE, st.lists(st.integers(-16, 300), min_size=12, max_size=12))
def test_a_corrected_minimum_is_never_below_a_measured_one(biases, minima):
    pairs = [
        (one, measurement(one, **bias, minimum=minimum))
        for one, bias, minimum in zip(map(estimate, range(99)), biases, minima, strict=False)
    ]
    terms = fit(samples(*pairs))
    for expected, found in pairs:
        assert expected.min_working_arena_bytes + terms.minimum >= found.min_working_arena_bytes


def test_an_exact_profile_is_left_alone():
    pairs = [(one, measurement(one, minimum=-8)) for one in map(estimate, range(6))]
    assert is_exact(samples(*pairs))
    assert fitted(*pairs) is None


def test_minima_that_are_too_low_are_corrected_though_totals_are_exact():
    pairs = [(one, measurement(one, minimum=20)) for one in map(estimate, range(6))]
    correction = fitted(*pairs)
    assert (correction.offsets, correction.minimum_bytes) == ((), 20)
    before, after = pairs[0][0], corrected(pairs[0][0], correction)
    assert after.arena_used_bytes == before.arena_used_bytes
    assert after.min_working_arena_bytes == before.min_working_arena_bytes + 20
    assert after.recommended_arena_bytes >= after.min_working_arena_bytes


def test_four_models_are_too_few_however_often_they_were_measured():
    pairs = [(one, measurement(one, tail=16)) for one in map(estimate, range(4))] * 3
    with pytest.raises(ResultError, match="too few models"):
        fitted(*pairs)


def test_an_error_that_is_no_constant_is_refused():
    pairs = [
        (one, measurement(one, tail=more)) for one, more in zip(map(estimate, range(5)), [0, 0, 0, 0, 5], strict=True)
    ]
    with pytest.raises(ResultError, match="would not help") as caught:
        fitted(*pairs)
    assert "9.0 bytes" in str(caught.value)


def test_the_same_model_counts_once_with_its_worst_measurement():
    pairs = [(one, measurement(one, tail=16)) for one in map(estimate, range(5))]
    more = measurement(pairs[0][0], tail=24)
    found = pair_up([([one for one, _ in pairs], [other for _, other in pairs]), ([pairs[0][0]], [more])])[PROFILE]
    assert [sample.total for sample in samples_of(found)] == [24, 16, 16, 16, 16]
    assert samples_of(found)[0].measurements == 2


def test_models_that_shared_an_arena_teach_nothing():
    shared = replace(measurement(estimate(0)), model="(shared)", sections={})
    assert pair_up([([estimate(0)], [shared])]) == {}


def test_kernel_sets_of_one_file_are_told_apart():
    of_cmsis = estimate(0)
    of_reference = replace(of_cmsis, profile=replace(PROFILE, kernels="reference"), head_bytes=512)
    measurements = [measurement(of_cmsis), measurement(of_reference)]
    found = pair_up([([of_cmsis, of_reference], measurements)])
    assert found == {PROFILE: [(of_cmsis, measurements[0])], of_reference.profile: [(of_reference, measurements[1])]}


def test_measurements_need_their_estimate():
    expected = estimate(1)
    with pytest.raises(ResultError, match="no estimate of its model"):
        pair_up([([replace(expected, board="another")], [measurement(expected)])])
    with pytest.raises(ResultError, match="only estimates of the layout method"):
        pair_up([([replace(expected, method="formula")], [measurement(expected)])])
