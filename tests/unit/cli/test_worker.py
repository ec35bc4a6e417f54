import pytest
from click.testing import CliRunner

pytest.importorskip("distributed")

from harness.cli.worker import command
from harness.cluster import worker
from harness.errors import UsageError

BOARD = "stm32f407-virtual"


@pytest.fixture
def bench(tmp_path):
    path = tmp_path / "bench.toml"
    path.write_text(f'[[dut]]\nname = "left"\nboard = "{BOARD}"\n')
    return path


@pytest.fixture
def served(monkeypatch):
    """What would be offered, to whom."""
    calls = []
    monkeypatch.setattr(worker, "serve", lambda duts, *rest: calls.append(([dut.name for dut in duts], *rest)))
    return calls


def run(*arguments):
    result = CliRunner().invoke(command, [str(argument) for argument in arguments], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result


def test_everything_is_loopback_unless_said_otherwise(served, bench):
    result = run("--bench", bench, "--name", "one")
    assert served == [(["left"], "tcp://127.0.0.1:8786", "one", "127.0.0.1")]
    assert "warning" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "warned"),
    [
        (["tcp://10.0.0.1:8786"], True),
        (["tcp://127.0.0.1:8786", "--listen", "0.0.0.0"], True),  # noqa: S104 - what the warning is about
        (["10.0.0.1:8786"], True),
        (["tls://10.0.0.1:8786", "--listen", "10.0.0.2"], False),
        (["localhost:8786"], False),
        (["tcp://[::1]:8786", "--listen", "::1"], False),
    ],
)
def test_an_open_door_is_pointed_out(served, bench, arguments, warned):
    assert ("not encrypted" in run(*arguments, "--bench", bench).stderr) == warned
    assert len(served) == 1


def test_a_bench_without_units_offers_nothing(served, tmp_path):
    (tmp_path / "bench.toml").write_text("dut = []\n")
    with pytest.raises(UsageError, match="no unit"):
        run("--bench", tmp_path / "bench.toml")
    assert served == []
