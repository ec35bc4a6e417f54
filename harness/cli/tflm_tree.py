"""Check of a TFLM that is there as sources: each step of the way to a firmware, as far as it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.domain.board import Board
from harness.errors import BenchError, DoesNotLinkError, HarnessError

if TYPE_CHECKING:
    from harness.domain.firmware import FirmwareImage
    from harness.tflm.findings import LibraryFinding

_CHECKS = ("sources", "headers", "kernels", "operators", "link")


def check_tree(tflm: str, board: Board) -> tuple[Sequence[LibraryFinding], Mapping[str, str | None]]:
    """What is wrong with a tree, and what there is to say of each check when nothing is.

    Args:
        tflm: its folder, or a manifest that names it.
        board: the board to link the firmware for.
    """
    from harness import plugins
    from harness.cli.progress import StderrProgress
    from harness.tflm.findings import obstacle

    progress = StderrProgress()
    try:
        source = plugins.tflm_provider(tflm).fetch(progress)
    except HarnessError as error:
        return [obstacle("sources", error)], dict.fromkeys(_CHECKS)
    finally:
        progress.clear()
    traits = f" ({', '.join(sorted(source.traits))})" if source.traits else ""
    image, trouble = link(tflm, board)
    return trouble, {
        "sources": f"{source.version}: {len(source.sources)} files",
        "headers": f"TFLM {source.generation}{traits}, {'with' if source.static_memory else 'without'} static memory",
        "kernels": source.kernels,
        "operators": f"{len(source.registrations)} can be registered",
        "link": link_fact(image),
    }


def link(tflm: str, board: Board) -> tuple[FirmwareImage | None, Sequence[LibraryFinding]]:
    """The firmware, or what keeps it from being linked."""
    from harness import plugins
    from harness.build.firmware import build
    from harness.cli.progress import StderrProgress
    from harness.tflm.findings import obstacle

    progress = StderrProgress()
    try:
        return build(board, plugins.tflm_provider(tflm), plugins.toolchain(board.toolchain), progress), []
    except (BenchError, DoesNotLinkError) as error:
        return None, [obstacle("link", error)]
    finally:
        progress.clear()


def link_fact(image: FirmwareImage | None) -> str | None:
    """What a firmware that was linked takes and leaves; None for none."""
    if image is None:
        return None
    return f"{len(image.segment.data):,} bytes of flash, {image.arena_max_bytes:,} bytes of RAM left for the arena"
