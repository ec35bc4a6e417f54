"""Walk through AllocateTensors as TFLM has it since 2022: the order of its allocations.

Sources: micro_allocator.cc, micro_interpreter.cc, micro_interpreter_graph.cc, micro_allocation_info.cc and
single_arena_buffer_allocator.cc of tensorflow/lite/micro; sizes measured by compiling them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from harness.domain.graph import (
    Graph,
    Operator,
    Subgraph,
    Tensor,
    VariableName,
    operator_place,
    variable_name,
    variable_names,
)
from harness.errors import ModelError
from harness.estimate.layout.arena import ALIGNMENT, Allocate, Event, Head, PlannerRoom, align_up
from harness.estimate.layout.generation import Layout, Owner, Target
from harness.estimate.layout.rules import (
    INPUTS,
    OUTPUT,
    Node,
    OpRule,
    OpTable,
    Persistent,
    Scratch,
    Temporary,
    int_array_bytes,
)
from harness.estimate.planning import Buffer
from harness.estimate.planning.greedy import greedy_last_wins
from harness.estimate.planning.lifetimes import Lifetimes

REQUESTS_PER_OPERATOR: Final = 12
"""Scratch requests that the allocator reserves room for before each Prepare (kMaxScratchBuffersPerOp)."""

_NO_RULE: Final = OpRule()
_ONLINE: Final = -1


@dataclass(frozen=True)
class Ways:
    """What a generation does otherwise than 2026-01.

    Attributes:
        handles_per_subgraph: whether each subgraph gets an array of handles for all scratch requests, and then its
            variables.
        variables_ignore_offline_plan: whether variables lie in the tail whatever an offline plan says of them.
    """

    handles_per_subgraph: bool = False
    variables_ignore_offline_plan: bool = False


def lay_out(
    graph: Graph,
    target: Target,
    *,
    kernels: Mapping[str, OpTable],
    ways: Ways,
    lifetimes_of: Callable[[Graph], Lifetimes],
) -> Layout:
    """Follow AllocateTensors.

    Args:
        graph: the model.
        target: what the layout is for.
        kernels: what each operator takes, by kernel set.
        ways: what the generation does otherwise than 2026-01.
        lifetimes_of: when each tensor is in use.

    Raises:
        ModelError: subgraphs call each other in a circle, or scratch is wanted by one that is never called.
    """
    walk = _Walk(graph, target, kernels[target.kernels], ways)
    walk.create_objects()
    walk.start_model()
    for subgraph, operator in graph.operators():
        walk.prepare(subgraph, operator)
    return walk.finish_model(lifetimes_of(graph))


class _Walk:
    """Writes down the trace."""

    def __init__(self, graph: Graph, target: Target, rules: OpTable, ways: Ways) -> None:
        self._graph = graph
        self._sizes = target.sizes
        self._pointer = target.pointer_bytes
        self._rules = rules
        self._ways = ways
        self._creators = _variable_creators(graph)
        self._trace: list[Event] = []
        self._requests: list[tuple[Subgraph, Operator, int]] = []

    def create_objects(self) -> None:
        """What the application's MicroAllocator::Create and MicroResourceVariables::Create put into the arena."""
        self._structure("allocator", "SingleArenaBufferAllocator")
        self._structure("memory_planner", "GreedyMemoryPlanner")
        self._structure("micro_allocator", "MicroAllocator")
        variables = len(variable_names(self._graph))
        if variables:
            self._aligned("resource_variables", self._sizes["MicroResourceVariables"])
            self._aligned("resource_variables", variables * self._sizes["MicroResourceVariable"])

    def start_model(self) -> None:
        """StartModelAllocation, then builtin data and Init of every operator."""
        subgraphs = self._graph.subgraphs
        self._structure("builtin_data_allocator", "MicroBuiltinDataAllocator")
        self._trace.append(Head(self._requests_bytes()))
        self._structure("subgraph_allocations", "SubgraphAllocations", len(subgraphs))
        for subgraph in subgraphs:
            self._structure("eval_tensors", "TfLiteEvalTensor", len(subgraph.tensors))
        for subgraph in subgraphs:
            self._structure("node_and_registration", "NodeAndRegistration", len(subgraph.operators))
        wide = self._pointer == 8
        for _, operator in self._graph.operators():
            rule = self._rules.get(operator.name, _NO_RULE)
            if rule.builtin_data[wide]:
                self._trace.append(Allocate("builtin_data", rule.builtin_data[wide], rule.builtin_align[wide]))
        for _, operator in self._graph.operators():
            user_data = self._rules.get(operator.name, _NO_RULE).user_data[wide]
            if user_data:
                self._aligned("persistent_buffers", user_data)

    def prepare(self, subgraph: Subgraph, operator: Operator) -> None:
        """Prepare of one operator: temporary tensors pile up on the head until it returns."""
        place = (subgraph.index, operator.index)
        node = Node(subgraph, operator, self._pointer, creates_variable=place in self._creators)
        top = self._requests_bytes()
        for step in self._rules.get(operator.name, _NO_RULE).prepare:
            match step:
                case Temporary():
                    top = self._temporaries(node, step, top)
                case Persistent(size):
                    if (size_bytes := size(node)) is not None:
                        self._aligned("persistent_buffers", size_bytes)
                case Scratch(size):
                    if (size_bytes := size(node)) is not None:
                        self._requests.append((subgraph, operator, size_bytes))
        # The runtime ignores it when the head cannot be resized after an operator.
        self._trace.append(Head(self._requests_bytes(), must_fit=False))

    def finish_model(self, lifetimes: Lifetimes) -> Layout:
        """FinishModelAllocation: scratch handles, variables, the plan; then the interpreter's inputs and outputs."""
        self._handles_and_variables()
        owned = [*self._planned_tensors(lifetimes), *self._planned_scratch(lifetimes)]
        buffers = tuple(buffer for _, buffer in owned)
        plan = greedy_last_wins(buffers)
        self._trace.append(self._planner_room(len(buffers)))
        self._trace.append(Head(plan.arena_bytes))
        self._interface(self._graph.main.inputs)
        self._interface(self._graph.main.outputs)
        return Layout(tuple(self._trace), buffers, tuple(owner for owner, _ in owned), plan)

    def _handles_and_variables(self) -> None:
        if self._ways.handles_per_subgraph:
            for subgraph in self._graph.subgraphs:
                self._handles()
                self._variables([subgraph])
        else:
            self._handles()
            self._variables(self._graph.subgraphs)

    def _handles(self) -> None:
        if self._requests:
            self._structure("scratch_buffer_handles", "ScratchBufferHandle", len(self._requests))

    def _variables(self, subgraphs: Sequence[Subgraph]) -> None:
        """Variables that get memory for themselves. TFLM looks their offline offsets up from 0 in every subgraph."""
        for tensor in (tensor for subgraph in subgraphs for tensor in subgraph.tensors if tensor.is_variable):
            if self._variable_offset(tensor.index) is None:
                self._aligned("variables", tensor.size_bytes)

    def _variable_offset(self, number: int) -> int | None:
        """What the offline plan says of a variable, where it is asked."""
        return None if self._ways.variables_ignore_offline_plan else _offline_offset(self._graph, number)

    def _structure(self, section: str, name: str, count: int = 1) -> None:
        self._trace.append(Allocate(section, count * self._sizes[name], self._pointer))

    def _aligned(self, section: str, size_bytes: int) -> None:
        self._trace.append(Allocate(section, size_bytes, ALIGNMENT))

    def _requests_bytes(self) -> int:
        return (REQUESTS_PER_OPERATOR + len(self._requests)) * self._sizes["ScratchBufferRequest"]

    def _temporaries(self, node: Node, step: Temporary, top: int) -> int:
        """Put temporary tensors on the head; returns where it ends then."""
        if step.when is not None and not step.when(node):
            return top
        for tensor in _named_tensors(node, step.tensors):
            top = align_up(top, self._pointer) + self._sizes["TfLiteTensor"]
            if channels := tensor.quantization_channels:
                top += self._sizes["TfLiteAffineQuantization"] + int_array_bytes(channels)
            self._trace.append(Head(top))
        return top

    def _planned_tensors(self, lifetimes: Lifetimes) -> list[tuple[Owner, Buffer]]:
        handles = _variable_handles(self._graph)
        planned = []
        for number, (subgraph, tensor) in enumerate(self._graph.tensors()):
            find = self._variable_offset if tensor.is_variable else partial(_offline_offset, self._graph)
            offset = find(number)
            place = (subgraph.index, tensor.index)
            wanted = tensor.size_bytes != 0 and place not in handles and (not tensor.is_variable or offset is not None)
            if wanted and not tensor.is_constant:
                buffer = Buffer(align_up(tensor.size_bytes, ALIGNMENT), *lifetimes.tensors[place], offset)
                planned.append((Owner(subgraph, tensor), buffer))
        return planned

    def _planned_scratch(self, lifetimes: Lifetimes) -> list[tuple[Owner, Buffer]]:
        planned = []
        for subgraph, operator, size_bytes in self._requests:
            if (subgraph.index, operator.index) not in lifetimes.operators:
                raise ModelError(
                    "a subgraph that no operator calls wants scratch memory, which TFLM would leave unplanned",
                    where=f"{self._graph.model}, {operator_place(subgraph, operator)}",
                )
            first, last = lifetimes.operators[subgraph.index, operator.index]
            planned.append((Owner(subgraph, operator), Buffer(align_up(size_bytes, ALIGNMENT), first, last)))
        return planned

    def _planner_room(self, buffers: int) -> PlannerRoom:
        """Behind the scratch requests: subgraph offsets, allocation infos, then the planner's own arrays."""
        entries = self._graph.tensor_count + len(self._requests)
        top = align_up(self._requests_bytes(), self._pointer) + self._pointer * len(self._graph.subgraphs)
        top = align_up(top, self._pointer) + self._sizes["AllocationInfo"] * entries
        if not buffers:  # the planner is given what is left, be it nothing, and asks for none of it
            return PlannerRoom(top, back_bytes=0, align=1, size_bytes=0)
        needed = self._sizes["PlannerBuffer"] * buffers
        return PlannerRoom(align_up(top, ALIGNMENT), back_bytes=0, align=ALIGNMENT, size_bytes=needed)

    def _interface(self, tensors: Sequence[int]) -> None:
        """The interpreter's own array of input or output tensors."""
        self._aligned("persistent_buffers", self._pointer * len(tensors))
        for index in tensors:
            self._structure("persistent_tensors", "TfLiteTensor")
            if channels := self._graph.main.tensors[index].quantization_channels:
                self._structure("persistent_quantization", "TfLiteAffineQuantization")
                self._trace.append(Allocate("persistent_quantization", int_array_bytes(channels), 4))


def _named_tensors(node: Node, names: Sequence[int]) -> list[Tensor]:
    found: list[Tensor | None] = []
    for name in names:
        match name:
            case _ if name == INPUTS:
                found.extend(node.inputs)
            case _ if name == OUTPUT:
                found.append(node.output)
            case _:
                found.append(node.input(name))
    return [tensor for tensor in found if tensor is not None]


def _offline_offset(graph: Graph, number: int) -> int | None:
    """What the offline plan says of a tensor, by its number over all subgraphs."""
    if graph.offline_plan is None:
        return None
    offset = graph.offline_plan[3 + number]
    return None if offset == _ONLINE else offset


def _variable_handles(graph: Graph) -> dict[tuple[int, int], VariableName]:
    """The tensors that VAR_HANDLE writes, whose memory is VAR_HANDLE's own, and the variable behind each."""
    return {
        (subgraph.index, output): variable_name(operator)
        for subgraph, operator in graph.operators()
        if operator.name == "VAR_HANDLE"
        for output in operator.outputs
    }


def _variable_creators(graph: Graph) -> set[tuple[int, int]]:
    """The first ASSIGN_VARIABLE of each variable whose handle comes from the same subgraph: it allocates the memory."""
    handles = _variable_handles(graph)
    seen: set[VariableName] = set()
    creators: set[tuple[int, int]] = set()
    for subgraph, operator in graph.operators():
        if operator.name != "ASSIGN_VARIABLE" or not operator.inputs:
            continue
        name = handles.get((subgraph.index, operator.inputs[0]))
        if name is not None and name not in seen:
            seen.add(name)
            creators.add((subgraph.index, operator.index))
    return creators
