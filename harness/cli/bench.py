"""`harness bench scan`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import counted
from harness.errors import BenchError

if TYPE_CHECKING:
    from harness.bench.scan import Unit


@click.group("bench")
def command() -> None:
    """Bench files: the units on a desk or in a lab."""


@command.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The bench file to write.  [default: print it]")
@click.option("--port", "ports", multiple=True, help="Ask this port, too; for network ports such as rfc2217://….")
@click.option("--board", multiple=True, help="Know this board file, too.  [default: those that the bench file names]")
def scan(*, output: Path | None, ports: tuple[str, ...], board: tuple[str, ...]) -> None:
    """Write a bench file of what is plugged in.

    Each port is asked which unit runs there, and each probe which chip it holds, so that they fit together whatever
    their names are. Only units that run harness's firmware answer: flash new ones with `harness flash` first. Firmware
    says for which board it was built; those of your own board files are found when --board names the file.
    """
    from harness import plugins
    from harness.bench.scan import ask_ports, known_boards, match_probes
    from harness.files.safe import write_atomically
    from harness.virtual import registry

    boards = known_boards([*board, *_boards_before(output)])
    flashers = {name: plugins.flasher(name) for name in {known.board.flasher for known in boards.values()}}
    transport = plugins.transport("serial")
    listed = [each.path for each in transport.ports()] + [entry.port for entry in registry.running()]
    answers = ask_ports([*dict.fromkeys((*listed, *ports))], transport, boards, _note)
    units = match_probes(answers, flashers, _note)
    if not units:
        raise BenchError(
            "no unit has answered: nothing is written",
            where=output or "",
            hint="plug one in and `harness flash` it; without hardware: harness sweep --units stm32f407-virtual=2",
        )
    text = _bench_text(units)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_atomically(output, text.encode())
        _note(f"{counted(len(units), 'unit')} written to {output}")


def _boards_before(output: Path | None) -> list[str]:
    """The user's own boards in the bench file that is about to be written anew."""
    from harness.bench.file import boards_named_in

    if output is None or not output.exists():
        return []
    own = [name for name in boards_named_in(output) if name.endswith(".toml")]
    gone = [name for name in own if not Path(name).exists()]
    for name in gone:
        _note(f"{output}: the board file {name} is gone")
    return [name for name in own if name not in gone]


def _bench_text(units: Sequence[Unit]) -> str:
    """A bench file. JSON's strings are also TOML's."""
    counts: Counter[str] = Counter()
    lines = ["# Written by harness bench scan. What a unit is, it has said itself.\n"]
    for unit in units:
        answer = unit.answer
        counts[answer.board.id] += 1
        lines.append(f"\n# unit {answer.unit}, firmware {answer.build_id}\n[[dut]]\n")
        values = {"name": f"{answer.board.id}-{counts[answer.board.id]}", "board": answer.kind.name}
        values |= {"probe": unit.probe} if unit.probe else {}
        values |= {"port": answer.port}
        lines += [f"{key} = {json.dumps(value)}\n" for key, value in values.items()]
    return "".join(lines)


def _note(text: str) -> None:
    click.echo(text, err=True)
