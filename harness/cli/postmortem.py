"""`harness postmortem`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from harness.cli.options import store_option
from harness.cli.output import format_option, show
from harness.domain.postmortem import ArenaEnds, PostMortem
from harness.errors import printable

_DUMP_BYTES = 16
_REGISTERS_PER_LINE = 4
_NAME_WIDTH = 5


@click.command()
@click.argument("which", metavar="FILE|ATTEMPT")
@store_option
@format_option
def command(*, which: str, store: Path, output_format: str) -> int:
    """Show what was found after a device had died.

    FILE is one that `harness run` named in its causes; ATTEMPT is the number of an attempt in the results database.
    """
    from harness.results.postmortem_file import postmortem_to_json, read_postmortem
    from harness.store import open_store

    if which.isdecimal():
        with open_store(store) as opened:
            found = read_postmortem(opened.postmortem(int(which)))
    else:
        found = read_postmortem(Path(which))
    if output_format != "table":
        show([postmortem_to_json(found)], output_format)
        return 0
    for line in _lines(found):
        click.echo(printable(line))
    return 0


def _lines(found: PostMortem) -> Iterator[str]:
    """All of it, for people."""
    yield f"{found.model} on {found.board} {found.unit}, firmware {found.build_id}"
    yield f"{found.error_class}: {found.what}"
    yield from (f"  {line}" for line in found.summary())
    if found.probe_trouble:
        yield f"the probe could not look: {found.probe_trouble}"
    if found.fault:
        yield from _register_lines(f"registers when it died ({found.fault.kind})", found.fault.registers)
    yield from _register_lines("registers as the probe read them", found.registers)
    yield from (f"  {words}" for words in found.fault_words)
    if found.calls:
        yield "calls on the stack, innermost first (stale ones may be among them)"
    yield from (f"  {call}" for call in found.calls)
    if found.stack_free_bytes is not None:
        yield f"stack: {found.stack_free_bytes:,} bytes free"
    if found.arena:
        yield from _arena_lines(found.arena)


def _register_lines(title: str, registers: Mapping[str, int]) -> Iterator[str]:
    if registers:
        yield title
    width = max((_NAME_WIDTH, *map(len, registers)))
    pairs = [f"{name:>{width}} {value:08x}" for name, value in registers.items()]
    for start in range(0, len(pairs), _REGISTERS_PER_LINE):
        yield "  " + "  ".join(pairs[start : start + _REGISTERS_PER_LINE])


def _arena_lines(arena: ArenaEnds) -> Iterator[str]:
    yield f"arena: {arena.size_bytes:,} bytes at {arena.start:#010x}"
    for name, data in (
        ("guard below", arena.guard_low),
        ("first bytes", arena.head),
        ("last bytes", arena.tail),
        ("guard above", arena.guard_high),
    ):
        yield f"  {name}"
        for start in range(0, len(data), _DUMP_BYTES):
            yield f"    {data[start : start + _DUMP_BYTES].hex(' ')}"
