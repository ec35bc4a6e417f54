"""`harness virtual start | stop | list`: virtual boards that outlive the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.files.folders import data_folder, runtime_folder
from harness.virtual.machines import MACHINES

if TYPE_CHECKING:
    from harness.virtual.registry import Entry

_MACHINES = [*MACHINES]
_FORMAT = click.option("--format", "style", type=click.Choice(["table", "json"]), default="table", help="How to print.")


@click.group("virtual")
def command() -> None:
    """Virtual boards, which any flasher and serial program can use like real ones."""


@command.command()
@click.option("--name", default="board", show_default=True, help="How to call it.")
@click.option("--machine", type=click.Choice(_MACHINES), default=_MACHINES[0], show_default=True, help="What it is.")
@_FORMAT
def start(name: str, machine: str, style: str) -> None:
    """Start a board that runs until it is stopped. What was flashed into it is there again the next time."""
    from harness.virtual import launcher, registry

    flash_file = data_folder() / "virtual" / f"{registry.check_name(name)}.{machine}.flash"
    _print([launcher.start_daemon(machine, name, Path(flash_file))], style)


@command.command()
@click.argument("name", default="board")
def stop(name: str) -> None:
    """Stop the board called NAME."""
    from harness.virtual import launcher

    launcher.stop_daemon(name)


@command.command("list")
@_FORMAT
def list_boards(style: str) -> None:
    """List the boards that run."""
    from harness.virtual import registry

    _print(registry.running(), style)


def _print(entries: Sequence[Entry], style: str) -> None:
    """The note first: the list may be empty because of it."""
    if note := runtime_folder().note:
        click.echo(note, err=True)
    rows = [
        {"name": each.name, "machine": each.machine, "probe": each.probe_id, "port": each.port, "pid": each.pid}
        for each in entries
    ]
    if style == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    from tabulate import tabulate

    click.echo(tabulate(rows, headers="keys") if rows else "no virtual board is running")
