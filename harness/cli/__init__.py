"""The command line. The only place that prints or exits."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from harness.errors import HarnessError, InterruptedRunError, StorageError, UsageError

# A command's module is imported when the command is used: `harness --help` stays fast.
_COMMANDS: Mapping[str, tuple[str, str]] = {
    "boards": ("boards", "List the boards that harness knows."),
    "doctor": ("doctor", "Check toolchain, probes, ports and permissions, and say how to mend what is wrong."),
    "estimate": ("estimate", "Say what arena a model needs, without a device."),
    "plan": ("plan", "Show the memory plan of a model, what could be saved, and write a better one."),
    "tflm": ("tflm", "List TFLM generations and packages, and check a library that somebody else has built."),
    "build": ("build", "Build the firmware for a board."),
    "flash": ("flash", "Write firmware and model into a board's flash."),
    "run": ("run", "Estimate, build, flash, measure and reconcile."),
    "min-arena": ("min_arena", "Find the smallest arena that a model runs with, on the device."),
    "postmortem": ("postmortem", "Show what was found after a device had died."),
    "reconcile": ("reconcile", "Lay estimates beside measurements from files."),
    "sweep": ("sweep", "Run many models on many boards and settings, and keep every result."),
    "worker": ("worker", "Offer the units of this machine to sweeps on other machines."),
    "history": ("history", "Show how a model's figures went over time, and what changed with them."),
    "check": ("check", "Compare a sweep with a baseline and with budgets."),
    "export": ("export", "Write all attempts as CSV or Parquet."),
    "tune": ("tune", "Learn corrections of the estimate from measurements."),
    "report": ("report", "Write a page, or Markdown, of results, history and memory timelines."),
    "demo": ("demo", "Run the four models that come with TFLM."),
    "config": ("config", "Show what options default to here, and where from."),
    "bench": ("bench", "Write a bench file of the units that are plugged in."),
    "virtual": ("virtual", "Start, stop and list virtual boards."),
}


class _LazyGroup(click.Group):
    """Knows its commands' names and short helps without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"harness.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in _COMMANDS.items()])


def _show_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from harness.files.version import version

        click.echo(f"harness, version {version()}")
        context.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Project file.  [default: harness.toml, here or above]",
)
@click.pass_context
def cli(context: click.Context, config: Path | None) -> None:
    """The truth about the memory of neural networks on microcontrollers.

    Exit status: 0 all is well; 1 a deviation past the threshold, an under-estimate, or a model that the device refused;
    2 wrong usage or input; 3 trouble with bench, probe, port or toolchain; 130 interrupted.
    """
    from harness.cli.project_file import defaults_for, find_project_file, read_project_file

    path = config or find_project_file(_working_folder())
    name = context.invoked_subcommand
    command = cli.get_command(context, name) if name else None
    if path is not None and name is not None and command is not None:
        context.obj = read_project_file(path)
        context.default_map = {name: defaults_for(command, context.obj)}


def _working_folder() -> Path:
    """Where harness was started.

    Raises:
        UsageError: it is no longer there: no path would lead anywhere.
    """
    try:
        return Path.cwd()
    except OSError as error:
        where = os.environ.get("PWD", "")
        raise UsageError(
            "the working folder does not exist any more", where=where, hint="change to another folder, then run again"
        ) from error


def main() -> NoReturn:
    """The `harness` command."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # not every system has both
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # which is what nohup asks for
            signal.signal(number, _as_interrupt)
    _print_whatever_comes()
    sys.exit(_run())


def _print_whatever_comes() -> None:
    """Characters that a terminal's encoding lacks are escaped, on stdout as on stderr: no result is lost for them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _run() -> int:
    try:
        status = cli.main(standalone_mode=False)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit:
        # Click's own answer to a reader of our output that has gone, as in `harness boards | head -1`: nobody is left
        # to tell, and its status 1 would stand for a deviation.
        return 0
    except (HarnessError, OSError, KeyboardInterrupt, click.Abort) as error:
        return _tell(_as_ours(error))
    return status if isinstance(status, int) else 0


def _as_ours(error: BaseException) -> HarnessError:
    if isinstance(error, HarnessError):
        return error
    if isinstance(error, OSError):
        return StorageError(error.strerror or str(error), where=error.filename or "")
    return InterruptedRunError("interrupted")


def _tell(error: HarnessError) -> int:
    with suppress(OSError):  # the terminal may have hung up
        click.echo(f"error: {error}", err=True)
    return error.exit_code


def _as_interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    """SIGTERM and SIGHUP end harness as Ctrl-C does: boards, ports and locks are given back on the way out."""
    raise KeyboardInterrupt
