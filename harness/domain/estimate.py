"""What the host says about the arena of a model before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.domain.generations import MEASURED, canonical, generation_named

SHARED_NAME: Final = "(shared)"
"""What several models that share an arena are called, in place of a file name."""


@dataclass(frozen=True)
class Profile:
    """What an estimate is for.

    Attributes:
        tflm: the TFLM generation, such as `2020-07`; by its present name, whichever it was given.
        abi: `arm32`, `xtensa32`, `wasm32` or `x86-64`.
        kernels: the kernel set, such as `reference` or `cmsis-nn`.
        static_memory: whether TFLM is built with TF_LITE_STATIC_MEMORY.
        traits: which of the generation's differences inside it hold; see `domain.generations.Trait`.
    """

    tflm: str
    abi: str
    kernels: str = "reference"
    static_memory: bool = True
    traits: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tflm", canonical(self.tflm))

    @property
    def id(self) -> str:
        """One word, fit for a file name."""
        return "-".join((self.tflm, *self._rest))

    @property
    def former_ids(self) -> tuple[str, ...]:
        """The words that it had while its generation was called otherwise."""
        entry = generation_named(self.tflm)
        return tuple("-".join((alias, *self._rest)) for alias in (entry.aliases if entry else ()))

    @property
    def _rest(self) -> tuple[str, ...]:
        dynamic = () if self.static_memory else ("dynamic",)
        return (self.abi, self.kernels, *dynamic, *sorted(self.traits))


@dataclass(frozen=True)
class Section:
    """A named part of the arena; the sections of an estimate add up to its total.

    Attributes:
        name: TFLM's own name where it has one (`NodeAndRegistration array`), in snake case.
        region: `head` or `tail`.
        size_bytes: bytes, its alignment padding included.
    """

    name: str
    region: str
    size_bytes: int


@dataclass(frozen=True)
class Estimate:
    """The arena of one model under one profile.

    Attributes:
        model: file name.
        sha256: of the model file, in hex.
        profile: TFLM generation, ABI and kernels.
        board: the board it was asked for, if any.
        method: `layout`, `formula`, `host` or the name of an external source.
        arena_used_bytes: what `arena_used_bytes()` will say.
        head_bytes, tail_bytes: its two parts; None where the method cannot tell.
        min_working_arena_bytes: the smallest arena that AllocateTensors and Invoke get along with.
        recommended_arena_bytes: that, with the margin asked for, rounded up to 16.
        sections: parts that add up to `arena_used_bytes`.
        recorded_sections: what a RecordingMicroInterpreter will report for the same model, where there is one.
            Its own objects are larger than the plain interpreter's, so that alignment comes out differently.
        corrections: ids of the corrections applied.
        warnings: what the user should know.
        basis: whether figures of this profile were measured, or read from TFLM's sources.
        unknown_parts: what the figures leave out, or only guess; empty for an exact estimate.
        refused_by_tflm: operators that this TFLM refuses in Prepare, each with its place and the rule that it breaks;
            the figures are then those of what it would have allocated.
    """

    model: str
    sha256: str
    profile: Profile
    method: str
    arena_used_bytes: int
    head_bytes: int | None
    tail_bytes: int | None
    min_working_arena_bytes: int | None
    recommended_arena_bytes: int
    sections: tuple[Section, ...] = ()
    recorded_sections: tuple[Section, ...] = ()
    corrections: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    board: str | None = None
    basis: str = MEASURED
    unknown_parts: tuple[str, ...] = ()
    refused_by_tflm: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the figures hold every part that there is."""
        return not self.unknown_parts
