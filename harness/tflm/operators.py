"""The operators that a TFLM has, as its headers declare them.

2026-08: `MicroMutableOpResolver` has one method `Add…` per operator. 2020-07: `micro_ops.h` declares one function
`Register_…` per operator. A release that brings another operator needs no change here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.domain.firmware import Registration
from harness.tflm.cpp_text import closing_brackets, without_comments

_RESOLVER = re.compile(r"\bclass\s+MicroMutableOpResolver\b[^;{]*(\{)")
_METHOD = re.compile(r"\b(Add\w+)\s*(\()")
_BODY = re.compile(r"(?:const\b|noexcept\b|override\b|\s)*(\{)")
# What the others call: they take any operator.
_GENERIC = frozenset({"AddBuiltin", "AddCustom"})
_BUILTIN = re.compile(r"\bBuiltinOperator_(\w+)")
_CUSTOM = re.compile(r"\bAddCustom\s*\(\s*\"([^\"\\]+)\"")
_NO_BUILTIN = "CUSTOM"
_FUNCTION = re.compile(r"\bRegister_\w+")
_NESTED = re.compile(r"\([^()]*\)|<[^<>]*>|\{[^{}]*\}")
_DEEPEST = 8

_MICRO_OP = re.compile(r"\bRegister_(\w+)\s*\(\s*(?:void\s*)?\)\s*;")
_ANY_VERSION = "0"
# The versions of each operator that AllOpsResolver of 2020-07 registers (all_ops_resolver.cc): from 1 to these.
_NEWEST_VERSIONS: Mapping[str, str] = {
    name: newest
    for newest, names in {
        "4": "FULLY_CONNECTED",
        "3": "CONCATENATION CONV_2D DEPTHWISE_CONV_2D MUL SPLIT SVDF",
        "2": "ADD AVERAGE_POOL_2D DEQUANTIZE EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL LOGISTIC MAX_POOL_2D "
        "NOT_EQUAL PACK PAD PADV2 RESIZE_NEAREST_NEIGHBOR SOFTMAX SUB UNPACK",
        "1": "ABS ARG_MAX ARG_MIN CEIL COS FLOOR L2_NORMALIZATION LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR MAXIMUM MEAN "
        "MINIMUM NEG PRELU QUANTIZE RELU RELU6 RESHAPE ROUND RSQRT SIN SQRT SQUARE STRIDED_SLICE TANH",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True)
class HeaderOperator:
    """An operator that the headers declare.

    Attributes:
        registration: how a firmware gets it.
        function: the function that a library has to define for it, without namespaces, such as `Register_CONV_2D`;
            empty when the header does not tell.
    """

    registration: Registration
    function: str


@dataclass(frozen=True)
class HeaderOperators:
    """What the headers declare.

    Attributes:
        known: the operators, in the headers' order, each once.
        unclear: methods that may register one, but do not say which, or need arguments that only an application has.
    """

    known: tuple[HeaderOperator, ...]
    unclear: tuple[str, ...] = ()


def resolver_operators(resolver_header: str) -> HeaderOperators:
    """The operators of 2026-08.

    Args:
        resolver_header: the text of micro_mutable_op_resolver.h.
    """
    known: dict[str, HeaderOperator] = {}
    unclear = []
    for method in _methods(without_comments(resolver_header)):
        operator = method.operator()
        if operator is None or not method.takes_no_argument():
            unclear.append(method.name)
        else:
            known.setdefault(operator, HeaderOperator(Registration(operator, f"{method.name}()"), method.function()))
    named = {found.registration.call.removesuffix("()") for found in known.values()}
    return HeaderOperators(tuple(known.values()), tuple(name for name in unclear if name not in named))


def micro_ops_operators(micro_ops_header: str, schema_header: str) -> HeaderOperators:
    """The operators of 2020-07.

    Args:
        micro_ops_header: the text of micro_ops.h.
        schema_header: the text of schema_generated.h; operators that its enumeration does not have are custom ones.
    """
    builtins = frozenset(_BUILTIN.findall(schema_header))
    names = dict.fromkeys(_MICRO_OP.findall(without_comments(micro_ops_header)))
    return HeaderOperators(tuple(_micro_op(name, name in builtins) for name in names))


@dataclass(frozen=True)
class _Method:
    """A method `Add…` that the resolver defines."""

    name: str
    parameters: str
    body: str

    def operator(self) -> str | None:
        """The operator that it registers."""
        builtin = next((name for name in _BUILTIN.findall(self.body) if name != _NO_BUILTIN), None)
        if builtin is not None:
            return str(builtin)
        custom = _CUSTOM.search(self.body)
        return custom[1] if custom else None

    def takes_no_argument(self) -> bool:
        """Whether it can be called without one: each parameter has a default."""
        plain = self.parameters
        for _ in range(_DEEPEST):  # commas inside brackets separate no parameters
            plain = _NESTED.sub("", plain)
        return plain.strip() in ("", "void") or all("=" in parameter for parameter in plain.split(","))

    def function(self) -> str:
        """The function that makes the registration, whether the body calls it or a parameter's default does."""
        found = _FUNCTION.search(self.parameters) or _FUNCTION.search(self.body)
        return found[0] if found else ""


def _methods(code: str) -> Iterator[_Method]:
    """The methods `Add…` that the class defines, the generic ones left out."""
    resolver = _RESOLVER.search(code)
    if resolver is None:
        return
    closed_at = closing_brackets(code)
    end = closed_at.get(resolver.start(1), len(code))
    for found in _METHOD.finditer(code, resolver.end(), end):
        close = closed_at.get(found.start(2), end)
        body = _BODY.match(code, close + 1, end)  # none where the method is only called
        if body is not None and found[1] not in _GENERIC:
            yield _Method(found[1], code[found.end() : close], code[body.end() : closed_at.get(body.start(1), end)])


def _micro_op(name: str, is_builtin: bool) -> HeaderOperator:
    function = f"Register_{name}"
    made = f"tflite::ops::micro::{function}()"
    newest = _NEWEST_VERSIONS.get(name)
    if not is_builtin:
        call = f'AddCustom("{name}", {made})'
    elif newest is None:
        call = f"AddBuiltin(tflite::BuiltinOperator_{name}, {made}, {_ANY_VERSION})"
    else:
        call = f"AddBuiltin(tflite::BuiltinOperator_{name}, {made}, 1, {newest})"
    return HeaderOperator(Registration(name, call), function)
