from __future__ import annotations

import importlib

import click
import pytest
from click.testing import CliRunner, Result

from harness.cli.options import margin_option, port_option, probe_option, threshold_option, together
from harness.errors import UsageError


@click.command()
@together(probe_option, port_option, threshold_option, margin_option)
def command(**values: object) -> None:
    click.echo(values)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, standalone_mode=False)


@pytest.mark.parametrize("option", ["--threshold", "--margin"])
@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1001", ""])
def test_what_is_no_percentage_is_refused(option: str, value: str) -> None:
    assert isinstance(run(option, value).exception, click.BadParameter | UsageError)


@pytest.mark.parametrize("option", ["--probe", "--port"])
def test_an_unset_shell_variable_chooses_no_unit(option: str) -> None:
    found = run(option, "")
    assert isinstance(found.exception, UsageError)
    assert option in str(found.exception)


def test_good_values_pass() -> None:
    found = run("--threshold", "0", "--margin", "12.5", "--probe", "bench1", "--port", "/dev/ttyUSB0")
    assert "'threshold_percent': 0.0, 'margin_percent': 12.5" in found.stdout


@pytest.mark.parametrize("module", ["build", "flash"])
def test_operators_of_no_model_are_none_to_build_with(module: str) -> None:
    subject = importlib.import_module(f"harness.cli.{module}").command
    found = CliRunner().invoke(subject, ["--board", "stm32f407-virtual", "--ops", "used"], standalone_mode=False)
    assert isinstance(found.exception, UsageError)
    assert "No model is given" in str(found.exception)
