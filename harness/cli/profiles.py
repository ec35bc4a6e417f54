"""Options that choose what an estimate is for, and the profiles that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from harness.cli.options import Decorator, profile_tree_options, together
from harness.cli.progress import StderrProgress
from harness.domain.board import Board
from harness.domain.distributions import distribution_named, similar_words
from harness.domain.estimate import Profile
from harness.domain.generations import DEFAULT, generation_named, served
from harness.domain.tflm_options import TflmOptions
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.domain.firmware import TflmSource

ALL: Final = "all"
"""Stands for every generation that is served."""
_DEFAULT_ABI: Final = "arm32"
_DEFAULT_KERNELS: Final = "reference"
_SHORT_ENUMS: Final = "-fshort-enums"

profile_options: Decorator = together(
    click.option(
        "--tflm",
        default=DEFAULT,
        show_default=True,
        help="TFLM generation, a package such as esp-tflite-micro@1.3.3 (harness tflm list), the folder of your own "
        "TFLM's sources, or a manifest.",
    ),
    click.option("--abi", help=f"Binary interface, such as x86-64.  [default: the board's, or {_DEFAULT_ABI}]"),
    profile_tree_options,
)


def profile_for(
    tflm: str, abi: str | None, options: TflmOptions, board: Board | None, method: str = "layout"
) -> Profile:
    """The profile that options ask for.

    Args:
        tflm: a generation, a provider, a package, or the path of a source tree or a manifest.
        abi: the binary interface; None for the board's.
        options: what else is said of TFLM.
        board: the board, if any.
        method: how to estimate.

    Raises:
        UsageError: they contradict each other, or there is no such TFLM.
        SourceError: a tree or a manifest, or what it names, cannot be used.
    """
    if board and abi not in {None, board.abi}:
        raise UsageError("--abi is not the board's", measured=abi, expected=board.abi)
    chosen = abi or (board.abi if board else _DEFAULT_ABI)
    if method != "host":
        return _profile(tflm, chosen, options)
    from harness.estimate import HOST_PROFILE

    profile = _profile(tflm, abi or HOST_PROFILE.abi, options)
    if profile != HOST_PROFILE:
        raise UsageError(
            "the host method has one TFLM only: the official wheel", measured=profile.id, expected=HOST_PROFILE.id
        )
    return HOST_PROFILE


def all_profiles(abi: str | None, options: TflmOptions, board: Board | None) -> Sequence[Profile]:
    """One profile per generation that has the kernels, the newest first."""
    from harness.estimate import has_profile

    found = (profile_for(each.name, abi, options, board) for each in served())
    return [profile for profile in found if has_profile(profile)]


def _profile(tflm: str, abi: str, options: TflmOptions) -> Profile:
    from harness import plugins

    if plugins.is_path(tflm):
        return _of_source(_fetched(tflm, options), abi)
    package = distribution_named(tflm)
    if package is not None:
        return package.profile(abi, options.kernels)
    generation = plugins.GENERATIONS.get(tflm, tflm)
    if generation_named(generation) is None:
        raise _unknown(tflm)
    return Profile(generation, abi, options.kernels or _DEFAULT_KERNELS)


def _fetched(tflm: str, options: TflmOptions) -> TflmSource:
    """What a source tree or a manifest says of its TFLM."""
    from harness import plugins

    progress = StderrProgress()
    is_manifest = plugins.is_manifest(tflm)
    try:
        source = plugins.tflm_provider(tflm, None if is_manifest else options).fetch(progress)
    finally:
        progress.clear()
    if _SHORT_ENUMS in (source.abi_flags or ()):
        click.echo(f"warning: {tflm}: with {_SHORT_ENUMS} structures are smaller than this estimate has them", err=True)
    if options.kernels not in {None, source.kernels}:
        raise UsageError(
            "--kernels is not the manifest's", where=tflm, measured=options.kernels, expected=source.kernels
        )
    return source


def _of_source(source: TflmSource, abi: str) -> Profile:
    return Profile(source.generation, abi, source.kernels, source.static_memory, source.traits)


def _unknown(tflm: str) -> UsageError:
    near = similar_words(tflm)
    return UsageError(
        f"no TFLM is called {tflm!r}",
        where="--tflm",
        expected=f"a generation ({', '.join(each.name for each in served())}), a package, a folder or a manifest",
        hint=f"did you mean {', '.join(near)}?" if near else "harness tflm list shows what there is",
    )
