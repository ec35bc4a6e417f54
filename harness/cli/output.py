"""Data for stdout, in the format that was asked for."""

from __future__ import annotations

import csv
import io
import json
import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from tabulate import tabulate

from harness.errors import printable

FORMATS = ("table", "json", "csv", "markdown")

_TABLE_STYLE = {"table": "simple", "markdown": "github"}
# A spreadsheet would take a cell that begins so for a formula; names of models and tensors are untrusted.
_FORMULA_STARTS = ("=", "+", "-", "@")

Row = Mapping[str, object]

format_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Form of the data.",
)


def show(
    objects: Sequence[Row], output_format: str, rows: Sequence[Row] | None = None, *, folded: bool = False
) -> None:
    """Print data on stdout.

    Args:
        objects: what `json` prints: the stable keys.
        output_format: one of FORMATS.
        rows: what the other formats print, when that is less than the objects hold.
        folded: whether a table's long cells are to be folded, so that it is no wider than the terminal.
    """
    if output_format == "json":
        click.echo(json.dumps(objects, indent=2))
        return
    rows = objects if rows is None else rows
    if folded and output_format == "table":
        rows = _folded(rows, shutil.get_terminal_size(fallback=(0, 0)).columns)
    click.echo(_csv(rows) if output_format == "csv" else _table(rows, output_format), nl=output_format != "csv")


def counted(count: int, noun: str) -> str:
    """A number of things, such as `1 job` or `2 jobs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def tell(model: str, remarks: Sequence[str]) -> None:
    """Print what is to be known beside a model's figures, on stderr."""
    for remark in remarks:
        click.echo(printable(f"{model}: {remark}"), err=True)


def _table(rows: Sequence[Row], output_format: str) -> str:
    if not rows:
        return "(nothing)"
    cells = [{column: _cell(value, output_format) for column, value in row.items()} for row in rows]
    right = [_is_number_column(rows, column) for column in rows[0]]
    return tabulate(
        cells,
        headers="keys",
        tablefmt=_TABLE_STYLE[output_format],
        disable_numparse=True,
        colalign=["right" if is_number else "left" for is_number in right],
    )


def _folded(rows: Sequence[Row], width: int) -> Sequence[Row]:
    """Rows whose texts are broken into lines; as they are where nobody knows how wide the terminal is."""
    if not rows or width <= 0:
        return rows
    widths = {key: max(len(key), *(len(_cell(row[key], "table")) for row in rows)) for key in rows[0]}
    while sum(widths.values()) + _GAP * (len(widths) - 1) > width and max(widths.values()) > _NARROWEST:
        widths[max(widths, key=widths.__getitem__)] -= 1
    return [{key: _lines(value, widths[key]) for key, value in row.items()} for row in rows]


_GAP = 2
"""Blanks between two columns of a table."""
_NARROWEST = 12
"""Characters of a column that is folded; on a narrower terminal the table is wider than it."""


def _lines(value: object, width: int) -> object:
    if not isinstance(value, str):
        return value
    return _Lines("\n".join(textwrap.wrap(printable(value), width, break_on_hyphens=False)))


class _Lines(str):
    """A text whose line breaks are meant."""

    __slots__ = ()


def _is_number_column(rows: Sequence[Row], column: str) -> bool:
    values = [row[column] for row in rows if row[column] is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _cell(value: object, output_format: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    text = value if isinstance(value, _Lines) else printable(str(value))
    return text.replace("|", "\\|") if output_format == "markdown" else text


def _csv(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _safe(value) for key, value in row.items()} for row in rows)
    return stream.getvalue()


def _safe(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = printable(value)
    return "'" + text if text.startswith(_FORMULA_STARTS) else text
