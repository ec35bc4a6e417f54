"""What a TFLM generation has to say about a model. Each is one module here, which the table of generations names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final

from harness.domain.estimate import Profile
from harness.domain.generations import GENERATIONS, READ, TflmGeneration, generation_named, served
from harness.domain.graph import Graph, Operator, Subgraph, Tensor, operator_place, tensor_place
from harness.errors import UsageError
from harness.estimate.layout.arena import Trace
from harness.estimate.planning import Buffer, Placement, Planner
from harness.estimate.planning.lifetimes import Lifetimes

POINTER_BYTES: Final = {"arm32": 4, "xtensa32": 4, "wasm32": 4, "x86-64": 8}
"""Pointer sizes by ABI. Measured: all 32-bit structures of xtensa equal those of arm; assumed for wasm32, likewise."""


@dataclass(frozen=True)
class Target:
    """What a layout is made for.

    Attributes:
        kernels: the kernel set.
        pointer_bytes: 4 or 8.
        sizes: sizeof() of TFLM's structures, by name.
    """

    kernels: str
    pointer_bytes: int
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Owner:
    """What a planned buffer is for: a tensor's contents, or an operator's scratch.

    Attributes:
        subgraph: where it is.
        wants: the tensor or operator.
    """

    subgraph: Subgraph
    wants: Tensor | Operator

    @property
    def label(self) -> str:
        """What it is, for people."""
        if isinstance(self.wants, Tensor):
            return tensor_place(self.subgraph, self.wants)
        return f"scratch of {operator_place(self.subgraph, self.wants)}"


@dataclass(frozen=True)
class Layout:
    """What AllocateTensors does with one model.

    Attributes:
        trace: every step that touches the arena, in order.
        buffers: what the planner places.
        owners: what each of them is for.
        plan: where it places them.
    """

    trace: Trace
    buffers: tuple[Buffer, ...]
    owners: tuple[Owner, ...]
    plan: Placement


@dataclass(frozen=True)
class Generation:
    """A TFLM source state.

    Attributes:
        id: such as `2026-01`.
        kernels: kernel sets that it can be built with.
        struct_sizes: sizeof() of its structures with 4-byte and with 8-byte pointers.
        dynamic_sizes: those of them that are of another size without TF_LITE_STATIC_MEMORY, on 32-bit targets.
        checked_sizes: sizes of further structures by which a device on a 32-bit target shows its generation.
        lay_out: what AllocateTensors does; raises ModelError for a model that it cannot follow.
        unknown_operators: the operators that it lacks, each with its place.
        warnings: what a user should know of its estimate of a model with a kernel set.
        refused: the operators that it refuses in Prepare, each with its place and the rule.
        unknown_parts: what its estimate leaves out of a model with a kernel set, or does not promise.
        refusals: why it must not be given a model, beyond what no TFLM must be given.
        recorded: for each kind that its RecordingMicroAllocator reports, the sections that it is made of.
        recording_objects: the structure that a RecordingMicroInterpreter puts into a section instead of the plain one.
        lifetimes: when each tensor is in use, and each operator runs.
        planner: how it plans its memory.
        reads_offline_plans: whether it follows a plan that comes with the model.
        has_64_bit: whether its sizes with 8-byte pointers are known.
        with_traits: itself with some of its traits; None where it has none.
    """

    id: str
    kernels: tuple[str, ...]
    struct_sizes: Mapping[str, tuple[int, int]]
    lay_out: Callable[[Graph, Target], Layout]
    unknown_operators: Callable[[Graph], tuple[str, ...]]
    warnings: Callable[[Graph, str], tuple[str, ...]]
    unknown_parts: Callable[[Graph, str], tuple[str, ...]]
    refused: Callable[[Graph], tuple[str, ...]]
    refusals: Callable[[Graph], tuple[str, ...]]
    recorded: Mapping[str, tuple[str, ...]]
    recording_objects: Mapping[str, str]
    lifetimes: Callable[[Graph], Lifetimes]
    planner: Planner
    reads_offline_plans: bool
    has_64_bit: bool = True
    dynamic_sizes: Mapping[str, int] = field(default_factory=dict)
    checked_sizes: Mapping[str, int] = field(default_factory=dict)
    with_traits: Callable[[frozenset[str]], Generation] | None = None

    def target(self, profile: Profile) -> Target:
        """What a layout for this profile is made for."""
        wide = POINTER_BYTES[profile.abi] == 8
        sizes = {name: pair[wide] for name, pair in self.struct_sizes.items()}
        dynamic = {} if profile.static_memory else self.dynamic_sizes
        return Target(profile.kernels, POINTER_BYTES[profile.abi], {**sizes, **dynamic})


def installed_generations() -> tuple[str, ...]:
    """The generations that there is a layout for, oldest first."""
    return tuple(sorted(each.name for each in served(GENERATIONS)))


def generation_of(profile: Profile) -> Generation:
    """The generation of a profile.

    Raises:
        UsageError: no such generation, or it cannot have that ABI, those kernels or those traits.
    """
    entry = _entry(profile.tflm)
    _check(profile.abi, tuple(POINTER_BYTES), "ABI")
    found = _layout_of(entry)
    if profile.traits:
        found = _with_traits(found, profile.traits, entry)
    if POINTER_BYTES[profile.abi] == 8 and not found.has_64_bit:
        raise UsageError(
            f"the sizes of TFLM {found.id} are not known for {profile.abi}",
            expected=f"one of {', '.join(abi for abi, size in POINTER_BYTES.items() if size == 4)}",
        )
    if not profile.static_memory and POINTER_BYTES[profile.abi] == 8:
        raise UsageError("without static memory, sizes are known for 32-bit targets only", measured=profile.abi)
    _check(profile.kernels, found.kernels, f"kernel set of TFLM {found.id}")
    return found


def _entry(name: str) -> TflmGeneration:
    entry = generation_named(name, GENERATIONS)
    if entry is None:
        raise UsageError(f"unknown TFLM generation {name!r}", expected=f"one of {', '.join(installed_generations())}")
    if entry.refused:
        raise UsageError(f"TFLM {entry.name} is not served", hint=entry.refused)
    return entry


def _layout_of(entry: TflmGeneration) -> Generation:
    name = entry.layout if "." in entry.layout else f"{__package__}.{entry.layout}"
    found: Generation = import_module(name).GENERATION
    return found


def _with_traits(generation: Generation, traits: frozenset[str], entry: TflmGeneration) -> Generation:
    for trait in sorted(traits):
        _check(trait, tuple(each.name for each in entry.traits), f"trait of TFLM {generation.id}")
    return generation if generation.with_traits is None else generation.with_traits(traits)


def has_profile(profile: Profile) -> bool:
    """Whether there is such a profile."""
    try:
        generation_of(profile)
    except UsageError:
        return False
    return True


def basis_of(profile: Profile) -> str:
    """Whether figures for a profile were measured with such a TFLM, or read from its sources."""
    entry = _entry(profile.tflm)
    plain = profile.static_memory and not profile.traits
    kernels = profile.kernels in entry.measured_kernels
    return entry.basis if plain and kernels else READ


def struct_sizes(profile: Profile) -> Mapping[str, int]:
    """sizeof() of TFLM's structures that estimates for a profile count on, by name.

    Those that only tell one generation from another are among them for reference kernels on 32-bit targets.

    Raises:
        UsageError: there is no such profile.
    """
    found = generation_of(profile)
    tells = found.checked_sizes if POINTER_BYTES[profile.abi] == 4 else {}
    return {**found.target(profile).sizes, **tells}


def _check(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise UsageError(f"unknown {what} {value!r}", expected=f"one of {', '.join(known) or 'none'}")
