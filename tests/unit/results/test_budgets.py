import pytest

from harness.errors import UsageError
from harness.results.budgets import read_budgets


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "budgets.toml"
        path.write_text(text)
        return path

    return write


def test_the_first_that_fits_counts(written):
    budgets = read_budgets(written('[desk]\n"kws.tflite" = 40_000\n"*" = 90_000\n["*"]\n"kws*" = 10_000\n'))
    assert budgets.limit_bytes("kws.tflite", "desk") == 40_000
    assert budgets.limit_bytes("other.tflite", "desk") == 90_000
    assert budgets.limit_bytes("kws.tflite", "lab") == 10_000
    assert budgets.limit_bytes("other.tflite", "lab") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kws = 3", "kws: wrong value"),
        ('[desk]\n"kws.tflite" = -1', "kws.tflite: wrong value"),
        ('[desk]\n"kws.tflite" = "40k"', "kws.tflite: wrong value"),
        ("[desk", "no TOML"),
    ],
)
def test_what_is_no_budget_is_named(written, text, told):
    with pytest.raises(UsageError) as raised:
        read_budgets(written(text))
    assert told in str(raised.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_budgets(tmp_path / "none.toml")
