from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.graph import Graph
from harness.estimate.analysis.reorder import Needs, find_order, reordered
from harness.estimate.reading.parse import parse
from tests.support.models import ModelBuilder


def two_branches() -> ModelBuilder:
    """A small input feeds two branches, wide at first; the file interleaves them, so that both are wide at once."""
    model = ModelBuilder()
    x = model.input("x", [1, 4])
    wide = [model.tensor(f"wide{branch}", [1, 100]) for branch in "ab"]
    narrow = [model.tensor(f"narrow{branch}", [1, 4]) for branch in "ab"]
    total = model.tensor("total", [1, 4])
    for tensor in wide:
        model.operator("TANH", [x], [tensor])
    for before, after in zip(wide, narrow, strict=True):
        model.operator("TANH", [before], [after])
    model.operator("ADD", narrow, [total])
    model.output(total)
    return model


def graph_of(model: ModelBuilder) -> Graph:
    return parse(model.build())


def needs_of(graph: Graph, scratch: dict[int, int] | None = None) -> Needs:
    return Needs({tensor.index: tensor.size_bytes for tensor in graph.main.tensors}, scratch or {})


def peak(graph: Graph, needs: Needs) -> int:
    """The largest sum of live tensors, counted the plain way."""
    main, worst = graph.main, 0
    for now, operator in enumerate(main.operators):
        live = 0
        for tensor, size in needs.tensors.items():
            written = [o.index for o in main.operators if tensor in o.outputs]
            read = [o.index for o in main.operators if tensor in o.inputs]
            first = 0 if tensor in main.inputs else min(written, default=len(main.operators))
            last = len(main.operators) if tensor in main.outputs else max(read, default=first)
            live += size if first <= now <= last else 0
        worst = max(worst, live + needs.scratch.get(operator.index, 0))
    return worst


def test_one_wide_branch_after_the_other_needs_less() -> None:
    graph = graph_of(two_branches())
    found = find_order(graph, needs_of(graph))
    assert found.is_complete
    assert found.order == (0, 2, 1, 3, 4)
    assert peak(reordered(graph, found.order), needs_of(graph)) == 16 + 400 + 16 < peak(graph, needs_of(graph))


def test_operators_keep_their_tensors_and_get_new_numbers() -> None:
    graph = graph_of(two_branches())
    other = reordered(graph, (0, 2, 1, 3, 4))
    assert [operator.index for operator in other.main.operators] == [0, 1, 2, 3, 4]
    assert other.main.operators[1].inputs == graph.main.operators[2].inputs


def test_a_row_of_operators_stays_as_it_is() -> None:
    model = ModelBuilder()
    last = model.input("x", [1, 4])
    for number in range(6):
        target = model.tensor(f"t{number}", [1, 4 * number + 4])
        model.operator("TANH", [last], [target])
        last = target
    model.output(last)
    graph = graph_of(model)
    assert find_order(graph, needs_of(graph)).order == (0, 1, 2, 3, 4, 5)


def test_scratch_counts() -> None:
    graph = graph_of(two_branches())
    needs = needs_of(graph, scratch={1: 1000})
    # Operator 1 wants scratch: it had better run while nothing wide is in use.
    order = find_order(graph, needs).order
    assert peak(reordered(graph, order), Needs(needs.tensors, {order.index(1): 1000})) == 16 + 400 + 1000


def test_a_search_that_gives_up_keeps_the_order_of_the_file() -> None:
    graph = graph_of(two_branches())
    found = find_order(graph, needs_of(graph), max_visits=22)
    assert not found.is_complete
    assert found.order == (0, 1, 2, 3, 4)


def handle_of(model: ModelBuilder, name: str) -> int:
    handle = model.tensor(f"handle {name}", [1], "resource")
    model.operator("VAR_HANDLE", [], [handle], options=("VarHandleOptions", {"SharedName": name}))
    return handle


def test_reads_and_writes_of_one_variable_keep_their_order() -> None:
    model = ModelBuilder()
    x = model.input("x", [1, 4])
    state = handle_of(model, "state")
    old, new, y = (model.tensor(name, [1, 4]) for name in ("old", "new", "y"))
    model.operator("READ_VARIABLE", [state], [old])
    model.operator("TANH", [x], [new])
    model.operator("ASSIGN_VARIABLE", [state, new], [])
    model.operator("ADD", [x, old], [y])
    model.output(y)
    graph = graph_of(model)
    order = find_order(graph, needs_of(graph)).order
    assert order.index(1) < order.index(3)  # the read comes before the write


def test_variables_apart_do_not_bind_each_other() -> None:
    model = ModelBuilder()
    x = model.input("x", [1, 1])
    wide = []
    for name in "ab":
        handle = handle_of(model, name)
        wide.append(model.tensor(f"wide {name}", [1, 100]))
        model.operator("READ_VARIABLE", [handle], [wide[-1]])
    narrow = [model.tensor(f"narrow{number}", [1, 1]) for number in range(3)]
    model.operator("TANH", [wide[0]], [narrow[0]])
    model.operator("TANH", [wide[1]], [narrow[1]])
    model.operator("ADD", narrow[:2], [narrow[2]])
    model.output(narrow[2])
    graph = graph_of(model)
    needs = Needs(dict.fromkeys(wide, 400) | {x: 4}, {})
    assert peak(reordered(graph, find_order(graph, needs).order), needs) < peak(graph, needs)


def test_custom_operators_keep_their_order() -> None:
    model = two_branches()
    for operator in (model.operators[0], model.operators[1], model.operators[3]):
        operator.name = "MY_OPERATOR"
    graph = graph_of(model)
    order = find_order(graph, needs_of(graph)).order
    assert order.index(0) < order.index(1) < order.index(3)


@st.composite
def some_graph(draw: st.DrawFn) -> Graph:
    model = ModelBuilder()
    tensors = [model.input("x", [1, draw(st.integers(1, 9))])]
    for number in range(draw(st.integers(1, 6))):
        inputs = draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=2, unique=True))
        tensors.append(model.tensor(f"t{number}", [1, draw(st.integers(1, 9))]))
        model.operator("CONCATENATION", inputs, [tensors[-1]])
    model.output(tensors[-1])
    return graph_of(model)


@given(some_graph())
@settings(max_examples=60)
def test_the_order_found_is_the_best_of_all_that_can_run(graph: Graph) -> None:
    needs = needs_of(graph)
    found = find_order(graph, needs)
    assert found.is_complete
    peaks = [peak(reordered(graph, order), needs) for order in every_order(graph, ())]
    assert peak(reordered(graph, found.order), needs) == min(peaks)


def every_order(graph: Graph, begun: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Every order in which each operator comes after those that write what it reads."""
    if len(begun) == len(graph.main.operators):
        return [begun]
    ready = {*graph.main.inputs, *(tensor for index in begun for tensor in graph.main.operators[index].outputs)}
    return [
        order
        for operator in graph.main.operators
        if operator.index not in begun and set(operator.inputs) <= ready
        for order in every_order(graph, (*begun, operator.index))
    ]
