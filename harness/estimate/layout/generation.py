"""What a TFLM generation has to say about a model. Each generation is one module or package `tflm_<year>_<month>`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from harness.domain.estimate import Profile
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
        id: such as `2026-08`.
        kernels: kernel sets that it can be built with.
        struct_sizes: sizeof() of its structures with 4-byte and with 8-byte pointers.
        lay_out: what AllocateTensors does; raises ModelError for a model that it cannot follow.
        unknown_operators: the operators that it lacks, each with its place.
        warnings: what its estimate leaves out of a model with a kernel set, or does not promise.
        refusals: why it must not be given a model, beyond what no TFLM must be given.
        recorded: for each kind that its RecordingMicroAllocator reports, the sections that it is made of.
        recording_objects: the structure that a RecordingMicroInterpreter puts into a section instead of the plain one.
        lifetimes: when each tensor is in use, and each operator runs.
        planner: how it plans its memory.
        reads_offline_plans: whether it follows a plan that comes with the model.
    """

    id: str
    kernels: tuple[str, ...]
    struct_sizes: Mapping[str, tuple[int, int]]
    lay_out: Callable[[Graph, Target], Layout]
    unknown_operators: Callable[[Graph], tuple[str, ...]]
    warnings: Callable[[Graph, str], tuple[str, ...]]
    refusals: Callable[[Graph], tuple[str, ...]]
    recorded: Mapping[str, tuple[str, ...]]
    recording_objects: Mapping[str, str]
    lifetimes: Callable[[Graph], Lifetimes]
    planner: Planner
    reads_offline_plans: bool

    def target(self, profile: Profile) -> Target:
        """What a layout for this profile is made for."""
        wide = POINTER_BYTES[profile.abi] == 8
        sizes = {name: pair[wide] for name, pair in self.struct_sizes.items()}
        return Target(profile.kernels, POINTER_BYTES[profile.abi], sizes)


def installed_generations() -> tuple[str, ...]:
    """The generations that there is a layout for, oldest first."""
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return tuple(sorted(name[len("tflm_") :].replace("_", "-") for name in names if name.startswith("tflm_")))


def generation_of(profile: Profile) -> Generation:
    """The generation of a profile.

    Raises:
        UsageError: no such generation, or it cannot have that ABI or those kernels.
    """
    _check(profile.tflm, installed_generations(), "TFLM generation")
    _check(profile.abi, tuple(POINTER_BYTES), "ABI")
    found: Generation = import_module(f"harness.estimate.layout.tflm_{profile.tflm.replace('-', '_')}").GENERATION
    _check(profile.kernels, found.kernels, f"kernel set of TFLM {found.id}")
    return found


def struct_sizes(profile: Profile) -> Mapping[str, int]:
    """sizeof() of TFLM's structures that estimates for a profile count on, by name.

    Raises:
        UsageError: there is no such profile.
    """
    return generation_of(profile).target(profile).sizes


def _check(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise UsageError(f"unknown {what} {value!r}", expected=f"one of {', '.join(known)}")
