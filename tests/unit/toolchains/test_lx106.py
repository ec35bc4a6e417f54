"""The functions that Debian's Xtensa compiler lacks, compiled for this machine and held against its own arithmetic."""

from __future__ import annotations

import ctypes
import operator
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from harness.errors import ToolchainError
from harness.toolchains.lx106 import HELPER_FLAGS, Lx106, helper_sources

COUNT = 120_000
SEED = 2020

# Values at which such functions go wrong.
SPECIAL_32 = (0, 1, 2, 3, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)
SPECIAL_64 = (*SPECIAL_32, 1 << 32, (1 << 53) - 1, 1 << 53, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 1)
SPECIAL_F = (0.0, 1.0, 0.5, 1.5, 2.0**-149, 2.0**-126, 2.0**127, 3.4028234e38, float("inf"), float("nan"), 2.0**31)
SPECIAL_D = (*SPECIAL_F, 5e-324, 2.0**-1022, 2.0**1023, 1.7976931348623157e308, 2.0**32, 2.0**53, 2.0**-1000)


def random_ints(rng, kind, special):
    """All sizes alike: a random number of bits each."""
    bits = np.dtype(kind).itemsize * 8
    drawn = rng.integers(0, 2 ** (bits - 1), COUNT, dtype=np.uint64) * 2 + rng.integers(0, 2, COUNT, dtype=np.uint64)
    drawn >>= rng.integers(0, bits, COUNT, dtype=np.uint64)
    drawn[rng.integers(0, COUNT, COUNT // 8)] = rng.choice(np.array(special, dtype=np.uint64), COUNT // 8)
    return drawn.astype(f"u{bits // 8}").view(kind)


def random_floats(rng, kind, special):
    """Random bits, which gives all exponents and some NaN; some of ordinary size; and special ones of both signs."""
    bits = np.dtype(kind).itemsize
    drawn = np.frombuffer(rng.bytes(COUNT * bits), dtype=kind).copy()
    drawn[::3] = rng.normal(0, 1000, len(drawn[::3])).astype(kind)
    signs = rng.choice([-1.0, 1.0], COUNT // 8)
    drawn[rng.integers(0, COUNT, COUNT // 8)] = (rng.choice(np.array(special), COUNT // 8) * signs).astype(kind)
    return drawn


OPERANDS = {
    "f4": lambda rng: random_floats(rng, "f4", SPECIAL_F),
    "f8": lambda rng: random_floats(rng, "f8", SPECIAL_D),
    "i4": lambda rng: random_ints(rng, "i4", SPECIAL_32),
    "u4": lambda rng: random_ints(rng, "u4", SPECIAL_32),
    "i8": lambda rng: random_ints(rng, "i8", SPECIAL_64),
    "u8": lambda rng: random_ints(rng, "u8", SPECIAL_64),
}
C_TYPES = {"f4": "float", "f8": "double", "i4": "int", "u4": "unsigned", "i8": "long long", "u8": "unsigned long long"}


def truncated(quotient: Callable) -> Callable:
    """C's division, which rounds towards zero, out of numpy's, which rounds down."""

    def divide(a, b):
        down = quotient(a, b)
        return np.where((down * b != a) & ((a < 0) != (b < 0)), down + 1, down).astype(a.dtype)

    return divide


def in_range(least: float, most: float) -> Callable:
    """Only what the result's type can hold: everything else is undefined in C."""
    return lambda a: (a > least) & (a < most)


@dataclass(frozen=True)
class Operation:
    """A function, and what it must compute.

    Attributes:
        name: without its underscores.
        operands, result: types, as numpy's.
        expected: the same by numpy.
        defined: for which operands; all of them by default.
    """

    name: str
    operands: tuple[str, ...]
    result: str
    expected: Callable
    defined: Callable = lambda *operands: np.ones(len(operands[0]), dtype=bool)


def divisible(a, b):
    most_negative = np.iinfo(a.dtype).min
    return (b != 0) & ~((a == most_negative) & (b == a.dtype.type(-1)) if most_negative else False)


def quotient_is_normal(a, b):
    """compiler-rt flushes double quotients to zero up to the smallest normal one; TFLM divides no such numbers."""
    with np.errstate(all="ignore"):
        quotient = np.abs(a / b)
    return ~((quotient <= 2.0**-1022) & (quotient > 0)) & ~((quotient == 0) & (a != 0) & np.isfinite(b))


OPERATIONS = (
    Operation("addsf3", ("f4", "f4"), "f4", operator.add),
    Operation("subsf3", ("f4", "f4"), "f4", operator.sub),
    Operation("mulsf3", ("f4", "f4"), "f4", operator.mul),
    Operation("adddf3", ("f8", "f8"), "f8", operator.add),
    Operation("subdf3", ("f8", "f8"), "f8", operator.sub),
    Operation("muldf3", ("f8", "f8"), "f8", operator.mul),
    Operation("divdf3", ("f8", "f8"), "f8", operator.truediv, quotient_is_normal),
    Operation("extendsfdf2", ("f4",), "f8", lambda a: a.astype("f8")),
    Operation("truncdfsf2", ("f8",), "f4", lambda a: a.astype("f4")),
    Operation("fixdfsi", ("f8",), "i4", lambda a: a.astype("i4"), in_range(-(2.0**31) - 1, 2.0**31)),
    Operation("fixunsdfsi", ("f8",), "u4", lambda a: a.astype("u4"), in_range(-1, 2.0**32)),
    Operation("fixunssfsi", ("f4",), "u4", lambda a: a.astype("u4"), in_range(-1, 2.0**32)),
    Operation("floatsidf", ("i4",), "f8", lambda a: a.astype("f8")),
    Operation("floatsisf", ("i4",), "f4", lambda a: a.astype("f4")),
    Operation("floatunsidf", ("u4",), "f8", lambda a: a.astype("f8")),
    Operation("floatunsisf", ("u4",), "f4", lambda a: a.astype("f4")),
    Operation("divsi3", ("i4", "i4"), "i4", truncated(operator.floordiv), divisible),
    Operation("udivsi3", ("u4", "u4"), "u4", operator.floordiv, divisible),
    Operation("umodsi3", ("u4", "u4"), "u4", operator.mod, divisible),
    Operation("divdi3", ("i8", "i8"), "i8", truncated(operator.floordiv), divisible),
    Operation("udivdi3", ("u8", "u8"), "u8", operator.floordiv, divisible),
    Operation("umoddi3", ("u8", "u8"), "u8", operator.mod, divisible),
    Operation("muldi3", ("i8", "i8"), "i8", operator.mul),
    Operation("umulsidi3", ("u4", "u4"), "u8", lambda a, b: a.astype("u8") * b.astype("u8")),
)


def loop(operation: Operation) -> str:
    """C code that calls one function on arrays."""
    arguments = [f"const {C_TYPES[kind]} *x{i}" for i, kind in enumerate(operation.operands)]
    values = ", ".join(f"x{i}[i]" for i in range(len(operation.operands)))
    kinds = ", ".join(C_TYPES[kind] for kind in operation.operands)
    return (
        f"{C_TYPES[operation.result]} __{operation.name}({kinds});\n"
        f"void loop_{operation.name}(long n, {', '.join(arguments)}, {C_TYPES[operation.result]} *result)\n"
        f"{{ for (long i = 0; i < n; i++) result[i] = __{operation.name}({values}); }}\n"
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The helpers as a library of this machine; on one of 64 bits the compiler itself calls none of them."""
    if shutil.which("gcc") is None or platform.machine() not in {"x86_64", "aarch64"}:
        pytest.skip("needs gcc on a machine of 64 bits")
    try:
        sources = helper_sources()
    except ToolchainError as error:
        pytest.skip(f"{error.what}: {error.hint}")
    folder = tmp_path_factory.mktemp("helpers")
    (folder / "loops.c").write_text("".join(map(loop, OPERATIONS)))
    command = ["gcc", *HELPER_FLAGS, "-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", folder / "helpers.so"]
    subprocess.run([*command, *sources, folder / "loops.c"], check=True, timeout=120)
    return ctypes.CDLL(str(folder / "helpers.so"))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_helper_computes_what_this_machine_does(library, operation):
    rng = np.random.default_rng(SEED)
    drawn = [OPERANDS[kind](rng) for kind in operation.operands]
    with np.errstate(all="ignore"):
        defined = operation.defined(*drawn)
        operands = [np.ascontiguousarray(values[defined]) for values in drawn]
        expected = operation.expected(*operands)
    found = np.empty(len(expected), dtype=operation.result)
    pointers = [values.ctypes.data_as(ctypes.c_void_p) for values in (*operands, found)]
    library[f"loop_{operation.name}"](ctypes.c_long(len(found)), *pointers)
    assert expected.dtype == found.dtype
    assert len(found) >= 100_000 or operation.name.startswith("fix")
    same = (found.view(f"u{found.itemsize}") == expected.view(f"u{found.itemsize}")) | (
        np.isnan(found) & np.isnan(expected) if found.dtype.kind == "f" else False
    )
    wrong = np.flatnonzero(~same)
    assert not len(wrong), [(*(values[wrong[0]] for values in operands), found[wrong[0]], expected[wrong[0]])]


def test_every_helper_is_tested():
    inner = {"udivmoddi4", "udivmodsi4"}  # called by others
    names = {source.stem for source in helper_sources()} - inner
    assert names == {operation.name for operation in OPERATIONS}


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="not installed"):
        Lx106("xtensa-gcc", "install it").identify()
