"""Operators that other tools put into models for another runtime or another chip, and what to do about each."""

from __future__ import annotations

from typing import Final

from harness.domain.graph import Graph

_FLEX: Final = "Flex"

_ADVICE: Final = {
    "edgetpu-custom-op": "the Edge TPU's compiler made it: take the model that was given to edgetpu_compiler"
    " (the file without _edgetpu in its name)",
    "DISPATCH_OP": "LiteRT compiled it for an NPU: take the model from before that compilation",
    "ethos-u": "Vela compiled it for an Ethos-U NPU, on whose driver its memory depends: take the model from before"
    " Vela, or measure it on the board that has the NPU",
}


def foreign_advice(graph: Graph) -> str:
    """What to do about the first operator of a model that no TFLM runs by itself; empty when there is none."""
    return next(
        (told for _, operator in graph.operators() if operator.is_custom and (told := advice(operator.name))), ""
    )


def advice(operator_name: str) -> str:
    """What to do about an operator that no TFLM runs by itself; empty for one that is not known here."""
    if operator_name.startswith(_FLEX):
        name = operator_name[len(_FLEX) :]
        return (
            f"it is TensorFlow's own {name}, which no TFLM has: convert with TFLITE_BUILTINS alone (without"
            f" SELECT_TF_OPS), and replace {name} in the model"
        )
    return _ADVICE.get(operator_name, "")
