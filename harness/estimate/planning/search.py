"""The best plan that can be found: several orders first, then an exact search.

The exact search rests on this: any plan can be pushed down until each buffer stands on the floor or on another that is
in use at the same time. So it is enough to place buffers by ascending offset, each on top of those already placed that
it meets. Branches that cannot end below the best plan so far are cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.estimate.planning import Buffer, Placement, lower_bound, placement, steps
from harness.estimate.planning.fitting import first_gap, place_in_order, tightest_gap
from harness.estimate.planning.greedy import greedy_first_wins, greedy_last_wins
from harness.estimate.planning.tflite import arena_planner, first_fit_decreasing, simple_memory_arena

MAX_SEARCHED_BUFFERS: Final = 200
"""With more, only the known planners are compared: the search goes as deep as there are buffers."""

MAX_PARTIAL_PLANS: Final = 10_000
"""What the exact search looks at before it gives up: 5 seconds with 200 buffers, 3 with 60."""


@dataclass(frozen=True)
class BestPlan:
    """The outcome of a search.

    Attributes:
        plan: the best placement found.
        candidates: it, and what the simple orders gave, best first.
        is_optimal: whether no plan can be smaller.
        partial_plans: how many the exact search looked at; 0 when it was not needed or not tried.
    """

    plan: Placement
    candidates: tuple[Placement, ...]
    is_optimal: bool
    partial_plans: int


def best_plan(buffers: Sequence[Buffer], max_partial_plans: int = MAX_PARTIAL_PLANS) -> BestPlan:
    """Search the smallest placement of buffers, wherever others decided that they lie."""
    free = [buffer._replace(offset=None) for buffer in buffers]
    bound = lower_bound(free)
    orders = _ORDERS if len(free) <= MAX_SEARCHED_BUFFERS else ()
    candidates = sorted(_simple_plans(free, orders), key=lambda plan: plan.arena_bytes)
    best = candidates[0]
    if best.arena_bytes <= bound or len(free) > MAX_SEARCHED_BUFFERS:
        return BestPlan(best, tuple(candidates), best.arena_bytes <= bound, 0)
    exact = _ExactSearch(free, bound, best, max_partial_plans)
    exact.run()
    is_optimal = exact.partial_plans < max_partial_plans or exact.best.arena_bytes <= bound
    return BestPlan(exact.best, (exact.best, *candidates), is_optimal, exact.partial_plans)


_Order = Callable[[Buffer], tuple[int, ...]]

_ORDERS: Final[tuple[_Order, ...]] = (
    lambda buffer: (-buffer.size_bytes, -(buffer.last - buffer.first)),
    lambda buffer: (-buffer.size_bytes * (buffer.last - buffer.first + 1),),
    lambda buffer: (-(buffer.last - buffer.first), -buffer.size_bytes),
    lambda buffer: (buffer.first, -buffer.size_bytes),
    lambda buffer: (-buffer.last, -buffer.size_bytes),
)


def _simple_plans(buffers: Sequence[Buffer], orders: Sequence[_Order]) -> list[Placement]:
    planners = (greedy_last_wins, greedy_first_wins, arena_planner, first_fit_decreasing, simple_memory_arena)
    plans = [planner(buffers) for planner in planners]
    for order in orders:
        indices = sorted(range(len(buffers)), key=lambda index: (*order(buffers[index]), index))
        plans += [place_in_order(buffers, indices, choose) for choose in (first_gap, tightest_gap)]
    return plans


class _ExactSearch:
    """Depth first over the buffers by ascending offset."""

    def __init__(self, buffers: Sequence[Buffer], bound: int, start: Placement, max_partial_plans: int) -> None:
        self._buffers = buffers
        self._bound = bound
        self._max_partial_plans = max_partial_plans
        moments = steps(buffers)
        self._moments = [
            [number for number, step in enumerate(moments) if buffer.first <= step <= buffer.last] for buffer in buffers
        ]
        self._waiting = [
            sum(buffer.size_bytes for buffer in buffers if buffer.first <= step <= buffer.last) for step in moments
        ]
        self._tops = [0] * len(moments)  # where the highest buffer placed so far ends, by moment
        self._offsets = [0] * len(buffers)
        self.best = start
        self.partial_plans = 0

    def run(self) -> None:
        """Search until the bound is met, all is searched, or enough was tried."""
        self._place_next({i for i, buffer in enumerate(self._buffers) if buffer.size_bytes and self._moments[i]}, 0)

    def _place_next(self, left: set[int], floor: int) -> None:
        self.partial_plans += 1
        if not left:
            self.best = placement(self._buffers, self._offsets)
            return
        lowest = {index: max(floor, *(self._tops[m] for m in self._moments[index])) for index in left}
        # A buffer that fits below another's place would only leave a hole there if it came later.
        limit = min(offset + self._buffers[index].size_bytes for index, offset in lowest.items())
        for index in sorted(left, key=lambda i: (lowest[i], -self._buffers[i].size_bytes, i)):
            if lowest[index] >= limit or self._is_over():
                return
            self._try(index, lowest[index], left)

    def _is_over(self) -> bool:
        return self.partial_plans >= self._max_partial_plans or self.best.arena_bytes <= self._bound

    def _try(self, index: int, offset: int, left: set[int]) -> None:
        size, moments = self._buffers[index].size_bytes, self._moments[index]
        before = [self._tops[m] for m in moments]
        for moment in moments:
            self._tops[moment] = offset + size
            self._waiting[moment] -= size
        if self._can_improve(offset):
            self._offsets[index] = offset
            self._place_next(left - {index}, offset)
        for moment, top in zip(moments, before, strict=True):
            self._tops[moment] = top
            self._waiting[moment] += size

    def _can_improve(self, floor: int) -> bool:
        """Whether what still waits at each moment fits on top of what is placed, below the best plan so far."""
        limit = self.best.arena_bytes
        return all(
            (max(top, floor) if waiting else top) + waiting < limit
            for top, waiting in zip(self._tops, self._waiting, strict=True)
        )
