"""Draws of a frame's passes in other orders: each is drawn, and what it saves is what it then costs less.

In: a capture, and its run on a profile. Out: in :class:`tilegpu.frame_profiles.ProfileRun` the orders that help, each with what it saves
and whether what all passes store stays the same. An order that makes another picture is told only where the draws that it moves test
depth in a direction, as blended ones do that belong behind the others; where nothing tests depth, the order is the picture.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilegpu._core import RenderMode
from tilegpu.cost_changes import Change
from tilegpu.cost_counts import PassCounts
from tilegpu.costs import costs_of
from tilegpu.draw_orders import LEAST, NEAR, Moves, Order, first_tries, is_much, is_worth_a_try, then, without_unseen
from tilegpu.frame_profiles import PassRun, ProfileRun, run, run_in_order

#: As of :func:`tilegpu.frame_profiles.run`: hsr, compiler_limits, render_mode.
_How = tuple[Any, tuple[float, int] | None, RenderMode]
_MOST_RUNS = 5  #: of a frame on a profile: what-if is to stay quick
_MOST_SHOWN = 8  #: draws of an order in a text
_TIES = 0.01  #: of the texels: who is first may decide where depths are equal, and there alone
_GOOD = 0.5  #: of what no order can do better: near to far is not tried in another way


@dataclasses.dataclass(eq=False)
class _Tried:
    order: Order
    counts: PassCounts
    change: Change
    differs: float  #: share of the texels of what is stored


def run_with_orders(
    path: str | os.PathLike[str],
    profile: str,
    hsr: Any = None,
    trace: bool = False,
    compiler_limits: tuple[float, int] | None = None,
    render_mode: RenderMode = RenderMode.gmem,
) -> ProfileRun:
    """As :func:`tilegpu.frame_profiles.run`, with the orders that help."""
    made = run(path, profile, hsr, trace, compiler_limits, render_mode, keeps_picture=True)
    _try_orders(path, made, (hsr, compiler_limits, render_mode))
    made.picture = []
    return made


def run_all(
    path: str | os.PathLike[str],
    first: str,
    hsr: Any,
    others: Sequence[str],
    compiler_limits: tuple[float, int] | None = None,
    render_mode: RenderMode = RenderMode.gmem,
) -> list[ProfileRun]:
    """``first``, traced, and in ``render_mode``; and then the others, in GMEM where they have one."""
    more = [run_with_orders(path, name, compiler_limits=compiler_limits) for name in others if name != first]
    return [run_with_orders(path, first, hsr, True, compiler_limits, render_mode), *more]


def _try_orders(path: str | os.PathLike[str], made: ProfileRun, how: _How) -> None:
    pending: dict[int, list[Order]] = {}
    for number, one in enumerate(made.passes):
        if one.counts is None or not is_worth_a_try(one.counts):
            continue
        if len(made.moves) != len(made.passes):
            made.fixed[number] = "the frame suspends and resumes passes"
        elif made.moves[number].fixed:
            made.fixed[number] = made.moves[number].fixed
        else:
            pending[number] = first_tries(one.counts, one.explain, made.moves[number])
    tried: dict[int, list[_Tried]] = {number: [] for number in pending}
    for _ in range(_MOST_RUNS):
        batch = {number: orders.pop(0) for number, orders in pending.items() if orders}
        if not batch:
            break
        for number, (found, differs) in _draw(path, made, batch, how).items():
            before, order, moves = made.passes[number].counts, batch[number], made.moves[number]
            assert before is not None and found.counts is not None
            tried[number].append(now := _Tried(order, found.counts, _change(order, before, found.counts, differs), differs))
            more = then(order, found.counts, found.explain, moves)
            if more and more.draws not in {one.draws for one in [*pending[number], *(t.order for t in tried[number])]}:
                pending[number].insert(0, more)
            if order.kind == NEAR and _is_good(before, now):
                pending[number] = [one for one in pending[number] if one.kind != NEAR]
    for number, of in tried.items():
        counts = made.passes[number].counts
        assert counts is not None
        if best := [*_best(of, counts, made.moves[number]), *_inside(of, counts, made.moves[number])]:
            made.orders[number] = best


def _draw(
    path: str | os.PathLike[str], made: ProfileRun, batch: Mapping[int, Order], how: _How
) -> dict[int, tuple[PassRun, float]]:
    """Passes in their orders, all at once, with the share of the picture that is another; then each alone, as others may be why."""
    hsr, limits, render_mode = how
    orders = {number: order.draws for number, order in batch.items()}
    runs, picture = run_in_order(path, made.profile, hsr, orders, limits, render_mode)
    parts = [(one, other) for one, other in zip(made.picture, picture, strict=True) if not np.array_equal(one, other)]
    differs = max((float(np.mean(np.any(one != other, axis=1))) for one, other in parts), default=0.0)
    if not differs or len(batch) == 1:
        return {number: (one, differs) for number, one in runs.items()}
    return {number: of for one in batch for number, of in _draw(path, made, {one: batch[one]}, how).items()}


def _change(order: Order, counts: PassCounts, changed: PassCounts, differs: float) -> Change:
    before, after = costs_of(counts), costs_of(changed)
    shown = ", ".join(map(str, order.draws[:_MOST_SHOWN])) + (", ..." if len(order.draws) > _MOST_SHOWN else "")
    picture = f"another picture in {max(0.01, 100 * differs):.2f} % of an image" if differs else "the same picture"
    return Change(
        order.text, f"drawn in the order {shown}: {picture}", before.total("read_B") - after.total("read_B"),
        before.total("write_B") - after.total("write_B"), before.cycles - after.cycles, order=order.draws, same_picture=not differs,
    )  # fmt: skip


def _is_good(counts: PassCounts, tried: _Tried) -> bool:
    most = costs_of(counts).cycles - costs_of(without_unseen(counts)).cycles
    return tried.differs <= _TIES and tried.change.saves_cycles >= _GOOD * most


def _best(tried: Sequence[_Tried], counts: PassCounts, moves: Moves) -> list[Change]:
    """Of each kind the one that saves most; of those that save as much the one that changes least, and moves fewest draws."""
    before = costs_of(counts)

    def may_be_told(one: _Tried) -> bool:
        may_differ = one.differs <= _TIES if one.order.kind == NEAR else all(moves.ordered[n] for n in one.order.moved)
        return (not one.differs or may_differ) and is_much(before, costs_of(one.counts))

    found = []
    for kind in dict.fromkeys(one.order.kind for one in tried):
        good = [one for one in tried if one.order.kind == kind and may_be_told(one)]
        if good:
            most = max(one.change.saves_cycles for one in good)
            as_good = [one for one in good if one.change.saves_cycles >= most - LEAST * before.cycles]
            found.append(min(as_good, key=lambda one: (one.differs, len(one.order.moved))).change)
    return found


def _inside(tried: Sequence[_Tried], counts: PassCounts, moves: Moves) -> list[Change]:
    """What is left where draws are near to far: their own triangles and instances. This can't be tried, and is what it saves at most."""
    near = [one.counts for one in tried if one.order.kind == NEAR]
    if counts.counters["prepass_tiles"] or sum(map(bool, moves.ordered)) == 0 or (tried and not near):
        return []
    least = min([counts, *near], key=lambda of: sum(d.unseen for d in of.draws))
    order = next((one.order.draws for one in tried if one.counts is least), tuple(range(len(moves.ordered))))
    may = {place for place, number in enumerate(order) if moves.ordered[number]}
    draws = [d if d.draw in may and not d.programs.reads_tile else dataclasses.replace(d, unseen=0) for d in least.draws]
    left = sum(d.unseen for d in draws)
    before, after = costs_of(least), costs_of(without_unseen(dataclasses.replace(least, draws=tuple(draws))))
    if not left or not is_much(before, after):
        return []
    return [Change(
        "instances and triangles near to far inside opaque draws", f"{left:,} fragments are shaded and not seen in the best order of draws",
        before.total("read_B") - after.total("read_B"), before.total("write_B") - after.total("write_B"), before.cycles - after.cycles,
        at_most=True,
    )]  # fmt: skip
