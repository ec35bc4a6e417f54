from __future__ import annotations

from harness.estimate.formula import formula_sections
from harness.estimate.reading.parse import parse
from tests.support.models import ModelBuilder, chain


def sizes(model: ModelBuilder) -> dict[str, int]:
    return {section.name: section.size_bytes for section in formula_sections(parse(model.build()))}


def test_live_tensors_scratch_operators_and_interpreter_add_up_to_a_multiple_of_16() -> None:
    terms = sizes(chain("RELU", "ABS", "RELU", size=16))
    assert terms == {
        "live_tensors": 2 * 64,
        "scratch": 4096,
        "registered_operators": 2 * 24,
        "interpreter": 200,
        "rounding": 8,
    }
    assert sum(terms.values()) % 16 == 0


def test_constants_are_not_live() -> None:
    model = chain("RELU")
    y = model.tensor("y", [1, 16])
    model.operator("ADD", [0, model.constant("w", [1, 16])], [y])
    model.output(y)
    assert sizes(model)["live_tensors"] == 3 * 64


def test_open_dimensions_count_as_one() -> None:
    model = chain("RELU")
    model.tensors[0].shape = [-1, 16]
    assert sizes(model)["live_tensors"] == 2 * 64
