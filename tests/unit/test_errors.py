"""Each error class has its exit status and verdict, is drawn in the tree, and some test provokes it."""

import ast
import inspect
from pathlib import Path

import pytest

from harness import errors
from harness.errors import HarnessError

TESTS = Path(__file__).parents[1]
BASES = {"HarnessError", "InputError", "BenchError", "DeviceError"}
CLASSES = [item for _, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, HarnessError)]


@pytest.fixture(scope="module")
def expected_in_tests():
    """Names of the error classes that tests expect: in pytest.raises, as a row's error class, or by isinstance."""
    names = set()
    for path in TESTS.rglob("test_*.py"):
        if path == Path(__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
    return names


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind is not HarnessError])
def test_it_is_drawn_in_the_tree_with_its_exit_status(kind):
    drawn = [line.split() for line in errors.__doc__.splitlines()]
    (words,) = [words for words in drawn if kind.__name__ in words]
    assert words[words.index(kind.__name__) + 1] == str(kind.exit_code)


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind.__name__ not in BASES])
def test_some_test_provokes_it(kind, expected_in_tests):
    assert kind.__name__ in expected_in_tests


@pytest.mark.parametrize("kind", CLASSES)
def test_it_is_one_or_two_steps_from_the_root(kind):
    assert len(kind.__mro__) - len(HarnessError.__mro__) <= 2


def test_an_error_is_three_lines_at_most_whatever_is_in_it():
    error = HarnessError("what\nelse", where="a\x1bb", measured="c\rd", expected="e\nf", hint="g\nh")
    assert len(str(error).splitlines()) == 3
    assert str(error).isprintable() or all(line.isprintable() for line in str(error).splitlines())
