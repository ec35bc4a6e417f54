"""`harness tflm`: a TFLM library that somebody else has built."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import board_option
from harness.cli.output import Row, format_option, show
from harness.cli.tflm_tree import check_tree, link, link_fact
from harness.domain.board import Board
from harness.errors import BenchError, BuildError, HarnessError, ToolchainError

if TYPE_CHECKING:
    from harness.domain.estimate import Profile
    from harness.tflm.findings import LibraryFinding
    from harness.tflm.survey import Survey


@click.group()
def command() -> None:
    """Which TFLMs there are, and what is wrong with one that somebody else has built."""


@command.command("list")
@format_option
def list_(output_format: str) -> None:
    """List the TFLM generations, and the packages that carry them.

    `tflm` is what `harness estimate --tflm` takes. Figures whose basis is `measured` were compared with such a TFLM on
    a device; where it is `read`, they follow from its sources.
    """
    from harness.domain.distributions import DISTRIBUTIONS
    from harness.domain.estimate import Profile
    from harness.domain.generations import GENERATIONS, served
    from harness.estimate import basis_of

    rows: list[Row] = [
        _list_row(each.name, each.name, Profile(each.name, "arm32"), each.basis, f"from {each.since} on")
        for each in served(GENERATIONS)
    ]
    for package in DISTRIBUTIONS:
        profile = package.profile("arm32")
        rows += [
            _list_row(word, package.generation, profile, basis_of(profile), package.known_from)
            for word in package.words
        ]
    show(rows, output_format)


def _list_row(word: str, generation: str, profile: Profile, basis: str, known_from: str) -> Row:
    return {
        "tflm": word,
        "generation": generation,
        "kernels": profile.kernels,
        "static_memory": profile.static_memory,
        "traits": ", ".join(sorted(profile.traits)),
        "basis": basis,
        "known_from": known_from,
    }


@command.command()
@click.argument("manifest", type=click.Path(path_type=Path))
@board_option
@format_option
def check(manifest: Path, board: Board, output_format: str) -> int:
    """Check the library that MANIFEST names against a board; or a folder of TFLM's sources, or a manifest of one.

    The checks of a library: `headers` are all there, and of a generation that harness knows; the `library` can be read,
    and holds TFLM; `configuration`: both agree on what structures depend on; `operators` that are in both; `abi`: the
    objects are compiled as the firmware will be; `kernels` are those that the manifest says; `link`: when nothing else
    is wrong, the firmware is built, and lies ready. Exit status 3 when one failed, 1 when the firmware does not
    fit the board. Of sources: `sources` are whole and of a known layout, `headers`, `kernels`, `operators`, and `link`.
    """
    from harness import plugins
    from harness.tflm.manifest import read_manifest
    from harness.tflm.survey import survey

    named = None if plugins.is_tree(str(manifest)) else read_manifest(manifest)
    if named is None or named.tree is not None:
        return _tell(*check_tree(str(manifest), board), output_format)
    found = survey(named)
    findings = [*found.findings, *_objects(found, board)]
    image = None
    if not any(finding.error for finding in findings):
        image, trouble = link(str(found.manifest.path), board)
        findings += trouble
    return _tell(findings, {**_facts(found, board, findings), "link": link_fact(image)}, output_format)


def _tell(findings: Sequence[LibraryFinding], facts: Mapping[str, str | None], output_format: str) -> int:
    _show(findings, facts, output_format)
    return max((finding.error.exit_code for finding in findings if finding.error), default=0)


def _objects(found: Survey, board: Board) -> Sequence[LibraryFinding]:
    """What shows only beside an object that the firmware's compiler has made."""
    from harness import plugins
    from harness.build.firmware import compile_probe
    from harness.build.inputs import collect_inputs
    from harness.tflm.abi import Flags
    from harness.tflm.compatibility import compare
    from harness.tflm.findings import obstacle

    if not found.libraries:
        return []
    try:
        inputs = collect_inputs(board, found.source(), plugins.toolchain(board.toolchain), None)
        flags = Flags(board.cpu_flags, found.manifest.abi_flags)
        with tempfile.TemporaryDirectory(prefix="harness-probe-") as folder:
            return list(compare(found.libraries, found.manifest.kernels, compile_probe(inputs, Path(folder)), flags))
    except BenchError as error:
        return [obstacle("abi", error)]


def _facts(found: Survey, board: Board, findings: Sequence[LibraryFinding]) -> Mapping[str, str | None]:
    """What there is to say of each check when nothing is wrong; None for what could not be checked."""
    source = found.source()
    headers, libraries = found.headers, found.libraries
    flags = board.cpu_flags if source.abi_flags is None else source.abi_flags
    is_compared = found.holds_tflm and not any(
        finding.check == "abi" and isinstance(finding.error, BuildError | ToolchainError) for finding in findings
    )
    of_library = {
        "library": "; ".join(f"{one.path.name}: {len(one.members)} objects, SHA-256 {one.sha256}" for one in libraries),
        "configuration": f"defines {', '.join(source.defines) or 'nothing'}" if found.holds_tflm else None,
        "operators": f"{len(source.registrations)} can be registered" if headers and found.holds_tflm else None,
        "abi": f"as compiled with {' '.join(flags) or 'no flags'}",
        "kernels": source.kernels if is_compared else None,
    }
    schema = headers.schema_version if headers and headers.schema_version is not None else "not told"
    return {
        "headers": f"TFLM {headers.generation}, schema {schema}" if headers else None,
        **(of_library if libraries else dict.fromkeys(of_library)),
    }


def _show(findings: Sequence[LibraryFinding], facts: Mapping[str, str | None], output_format: str) -> None:
    objects = [row for name, fact in facts.items() for row in _rows(name, fact, findings)]
    if output_format != "table":
        show(objects, output_format)
        return
    show([{key: row[key] for key in ("check", "result", "finding")} for row in objects], output_format)
    for finding in findings:
        if finding.error is not None:
            click.echo(f"\n{finding.error}")


def _rows(name: str, fact: str | None, findings: Sequence[LibraryFinding]) -> Iterator[Row]:
    own = [finding for finding in findings if finding.check == name]
    if not any(finding.error for finding in own):
        yield _row(name, "not checked" if fact is None else "ok", fact or "")
    for finding in own:
        yield _row(name, "failed" if finding.error else "note", finding.text, finding.error)


def _row(name: str, result: str, text: str, error: HarnessError | None = None) -> Row:
    return {
        "check": name,
        "result": result,
        "finding": text,
        "where": error.where if error else "",
        "found": _text(error.measured) if error else None,
        "expected": _text(error.expected) if error else None,
        "hint": error.hint if error else "",
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)
