import pytest

from harness.errors import UsageError
from harness.sweep.policy import Policy, blames_unit, parse_retries


@pytest.mark.parametrize(
    ("error_class", "retries"),
    [
        ("ProbeError", 2),
        ("DeadlineError", 2),
        ("ToolchainError", 0),
        ("StorageError", 0),
        ("DeviceFaultError", 0),
        ("ModelError", 0),
        ("", 0),
        ("NoSuchError", 0),
    ],
)
def test_bench_trouble_is_tried_again_and_verdicts_are_not(error_class, retries):
    assert Policy().retries_after(error_class) == retries


def test_the_nearest_class_counts():
    policy = Policy(retries=1, by_class={"BenchError": 3, "FlashError": 0, "WatchdogError": 4})
    found = {name: policy.retries_after(name) for name in ("ProbeError", "FlashError", "WatchdogError", "OverrunError")}
    assert found == {"ProbeError": 3, "FlashError": 0, "WatchdogError": 4, "OverrunError": 0}


def test_only_bench_trouble_blames_the_unit():
    assert blames_unit("SerialPortError")
    assert not any(map(blames_unit, ("BuildError", "DeviceFaultError", "InputError", "", "os")))


def test_retries_from_the_command_line():
    assert parse_retries(["1", "ProbeError=5"]) == (1, {"ProbeError": 5})
    assert parse_retries([]) == (2, {})


@pytest.mark.parametrize("word", ["two", "-1", "=3", "ProbeError=", "Nonsense=1", "ProbeError=x", "²"])
def test_other_words_are_refused(word):
    with pytest.raises(UsageError, match="no number of retries"):
        parse_retries([word])
