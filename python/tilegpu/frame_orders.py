"""Draws of a frame's passes in other orders: each is drawn, and what it saves is what it then costs less.

In: a capture, and its run on a profile. Out: in :class:`tilegpu.frame_profiles.ProfileRun` the orders that help, each with what it saves
and whether what all passes store stays the same. An order that makes another picture is told only where the draws that it moves test
depth in a direction, as blended ones do that belong behind the others; where nothing tests depth, the order is the picture.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilegpu.context import DEFAULT_OPTIONS, DeviceOptions
from tilegpu.cost_changes import Change
from tilegpu.cost_counts import DrawCounts, PassCounts
from tilegpu.costs import costs_of
from tilegpu.draw_orders import (
    BOTH,
    BREAKS,
    LATE,
    LEAST,
    NEAR,
    STOPS,
    Moves,
    Order,
    first_tries,
    is_much,
    is_worth_a_try,
    then,
    unlike,
    without_unseen,
)
from tilegpu.draw_overlaps import Overlaps, State, compare_of, mean_depths, uses_stencil
from tilegpu.frame_profiles import PassRun, ProfileRun, look_at, run, run_in_order

#: As of :func:`tilegpu.frame_profiles.run`: hsr, options.
_How = tuple[Any, DeviceOptions]
_MOST_RUNS = 8  #: of a frame on a profile: what-if is to stay quick
_MOST_SHOWN = 8  #: draws of an order in a text
_MOST_LEARNED, _LEARNED_PX = 2, 16  #: orders of a pass whose picture was not foreseen, and pixels of each that are looked at then
_TIES = 0.01  #: of the texels: who is first may decide where depths are equal, and there alone
_WORTH, _MUCH = 0.01, 0.05  #: of the cycles, that several things at once and another picture must save more than less does


@dataclasses.dataclass(eq=False)
class _Tried:
    order: Order
    run: PassRun
    counts: PassCounts
    change: Change
    differs: float  #: share of the texels of what is stored


class _Drawn(NamedTuple):
    """A pass in another order: with the share of the picture that is another, and where in the pass (x, y) it is."""

    run: PassRun
    differs: float = 0.0
    where: tuple[tuple[int, int], ...] = ()


def run_with_orders(
    path: str | os.PathLike[str],
    profile: str,
    hsr: Any = None,
    trace: bool = False,
    options: DeviceOptions = DEFAULT_OPTIONS,
) -> ProfileRun:
    """As :func:`tilegpu.frame_profiles.run`, with the orders that help."""
    made = run(path, profile, hsr, trace, options, keeps_picture=True)
    _try_orders(path, made, (hsr, options))
    made.picture = []
    return made


def run_all(
    path: str | os.PathLike[str],
    first: str,
    hsr: Any,
    others: Sequence[str],
    options: DeviceOptions = DEFAULT_OPTIONS,
) -> list[ProfileRun]:
    """``first``, traced, with the ``options`` of the device that drew the frame; and then the others, with what of these is not the first's
    alone."""
    more = [run_with_orders(path, name, options=options.of_another()) for name in others if name != first]
    return [run_with_orders(path, first, hsr, True, options), *more]


@dataclasses.dataclass(eq=False)
class _Search:
    """Of one pass: what is known of its draws, and what is left to try."""

    counts: PassCounts
    overlaps: Overlaps
    depths: dict[int, float]
    pending: list[Order]
    tried: list[_Tried] = dataclasses.field(default_factory=list)
    learned: int = 0

    def begin(self, other: _Search) -> None:
        """Once more, with what another knows: what was tried stays."""
        self.overlaps, self.depths, self.learned = other.overlaps, other.depths, self.learned + 1
        self.pending = unlike([*other.pending, *self.pending], [t.order.draws for t in self.tried])


def _search(one: PassRun, moves: Moves) -> _Search:
    assert one.counts is not None
    plans = {number: row["plan"] for row in reversed(one.explain) for number in range(row["first_draw"], row["first_draw"] + row["draws"])}
    states = [_state(d, plans.get(d.draw, ""), moves.ordered[d.draw]) for d in one.counts.draws]
    keeps = tuple(any(piece["store"] for piece in one.counts.store.get(name, {}).values()) for name in ("depth", "stencil"))
    overlaps = Overlaps(states, one.pixels, moves.runs, (keeps[0], keeps[1]))
    depths = mean_depths(one.pixels, states)
    return _Search(one.counts, overlaps, depths, first_tries(one.counts, one.explain, overlaps, depths))


def _state(d: DrawCounts, plan: str, ordered: bool) -> State:
    p, compare = d.programs, compare_of(plan)
    assert not ordered or not compare or compare in ("LESS", "LESS_OR_EQUAL", "GREATER", "GREATER_OR_EQUAL")
    return State(compare, p.writes_depth, uses_stencil(plan), p.writes_stencil, p.opaque, p.decides_coverage, p.written_colors,
                 p.reads_tile and p.opaque, 1.0 + p.fragment.arithmetic + p.fragment.texture)  # fmt: skip


def _try_orders(path: str | os.PathLike[str], made: ProfileRun, how: _How) -> None:
    found: dict[int, _Search] = {}
    for number, one in enumerate(made.passes):
        if one.counts is None or not is_worth_a_try(one.counts):
            continue
        if len(made.moves) != len(made.passes):
            made.fixed[number] = "the frame suspends and resumes passes"
        elif made.moves[number].fixed:
            made.fixed[number] = made.moves[number].fixed
        else:
            found[number] = _search(one, made.moves[number])
    for _ in range(_MOST_RUNS):
        batch = {number: of.pending.pop(0) for number, of in found.items() if of.pending}
        if not batch:
            break
        drawn = _draw(path, made, batch, how)
        for number, (run_, differs, _) in drawn.items():
            order, of = batch[number], found[number]
            assert run_.counts is not None
            of.tried.append(_Tried(order, run_, run_.counts, _change(order, of.counts, run_.counts, differs), differs))
            more = then(order, run_.counts, run_.explain, of.counts, of.overlaps, of.depths)
            of.pending = unlike([*more, *of.pending], [t.order.draws for t in of.tried])
        wrong = {n: one.where for n, one in drawn.items() if one.where and batch[n].exact and found[n].learned < _MOST_LEARNED}
        for number, events in (look_at(path, made.profile, how[0], wrong, how[1]).items() if wrong else ()):
            made.passes[number].pixels += events
            found[number].begin(_search(made.passes[number], made.moves[number]))
    for number, of in found.items():
        if best := [*_best(of.tried, of.counts, made.moves[number]), *_inside(of.tried, made.passes[number], of.overlaps)]:
            made.orders[number] = best


def _draw(path: str | os.PathLike[str], made: ProfileRun, batch: Mapping[int, Order], how: _How) -> dict[int, _Drawn]:
    """Passes in their orders, all at once; where the picture is another, each alone, as others may be why."""
    hsr, options = how
    orders = {number: order.draws for number, order in batch.items()}
    runs, picture = run_in_order(path, made.profile, hsr, orders, options)
    parts = [np.any(one != other, axis=-1) for one, other in zip(made.picture, picture, strict=True) if not np.array_equal(one, other)]
    differs = max((float(np.mean(part)) for part in parts), default=0.0)
    if not differs or len(batch) == 1:
        return {number: _Drawn(one, differs, _where(parts, one)) for number, one in runs.items()}
    return {number: of for one in batch for number, of in _draw(path, made, {one: batch[one]}, how).items()}


def _where(parts: Sequence[NDArray[np.bool_]], one: PassRun) -> tuple[tuple[int, int], ...]:
    """Some pixels of the pass that are others, evenly over all of them; of what is stored as large as the pass."""
    size = int(one.layout["height_px"]), int(one.layout["width_px"])
    for part in parts:
        if part.shape == size and len(places := np.argwhere(part)):
            return tuple((int(x), int(y)) for y, x in places[:: max(1, len(places) // _LEARNED_PX)][:_LEARNED_PX])
    return ()


def _change(order: Order, counts: PassCounts, changed: PassCounts, differs: float) -> Change:
    before, after = costs_of(counts), costs_of(changed)
    shown = ", ".join(map(str, order.draws[:_MOST_SHOWN])) + (", ..." if len(order.draws) > _MOST_SHOWN else "")
    picture = f"another picture in {max(0.01, 100 * differs):.2f} % of an image" if differs else "the same picture"
    text = order.text + (" (another picture)" if differs else "")
    return Change(
        text, f"drawn in the order {shown}: {picture}", before.total("read_B") - after.total("read_B"),
        before.total("write_B") - after.total("write_B"), before.cycles - after.cycles,
        order=order.draws, same_picture=not differs,
    )  # fmt: skip


def _best(tried: Sequence[_Tried], counts: PassCounts, moves: Moves) -> list[Change]:
    """Of each kind the one that saves most with the same picture; of those that save as much the one that moves fewest draws. One that
    makes another picture only where it saves much more; and what does several things at once only where it saves more than each."""
    before = costs_of(counts)

    def may_be_told(one: _Tried) -> bool:
        may_differ = one.differs <= _TIES if one.order.kind in (NEAR, LATE) else all(moves.ordered[n] for n in one.order.moved)
        return (not one.differs or (may_differ and one.order.kind != BOTH)) and is_much(before, costs_of(one.counts))

    def best_of(some: Sequence[_Tried]) -> _Tried | None:
        most = max((one.change.saves_cycles for one in some), default=0.0)
        as_good = [one for one in some if one.change.saves_cycles >= most - LEAST * before.cycles]
        return min(as_good, key=lambda one: (one.differs, len(one.order.moved)), default=None)

    extra = (BOTH, LATE, NEAR) if counts.counters["prepass_tiles"] else (BOTH, LATE)
    kinds = (STOPS, BREAKS, NEAR, LATE, BOTH)
    good = {kind: [one for one in tried if one.order.kind == kind and may_be_told(one)] for kind in kinds}
    same: dict[str, _Tried] = {}
    for kind in kinds:
        one = best_of([one for one in good[kind] if not one.differs])
        if one and (kind not in extra or _saves_more(one, [*same.values()], _WORTH * before.cycles)):
            same[kind] = one
    found: list[Change] = []
    for kind in kinds:
        found += [same[kind].change] if kind in same else []
        other = best_of([one for one in good[kind] if one.differs])
        if other and _saves_more(other, [*same.values()], _MUCH * before.cycles):
            found.append(other.change)
    return found


def _saves_more(one: _Tried, than: Sequence[_Tried], cycles: float) -> bool:
    return all(one.change.saves_cycles > other.change.saves_cycles + cycles for other in than)


def _inside(tried: Sequence[_Tried], one: PassRun, overlaps: Overlaps) -> list[Change]:
    """What is left where draws are near to far: their own triangles and instances, in what a draw itself covers. This can't be tried, and
    is what it saves at most."""
    counts = one.counts
    assert counts is not None
    near = [t for t in tried if t.order.kind == NEAR]
    if counts.counters["prepass_tiles"] or not any(state.directed for state in overlaps.states):
        return []
    as_given = tuple(range(len(overlaps.states)))
    order, run_ = min([(as_given, one), *((t.order.draws, t.run) for t in near)], key=lambda of: sum(_covers_itself(of[1].costs).values()))
    least, own = run_.counts, _covers_itself(run_.costs)
    assert least is not None
    draws = [
        dataclasses.replace(d, unseen=min(d.unseen, own.get(d.draw, 0)) if _may_be_sorted(overlaps.states[order[d.draw]], d) else 0)
        for d in least.draws
    ]
    left = sum(d.unseen for d in draws)
    before, after = costs_of(least), costs_of(without_unseen(dataclasses.replace(least, draws=tuple(draws))))
    if not left or not is_much(before, after):
        return []
    return [Change(
        "instances and triangles near to far inside opaque draws",
        f"{left:,} fragments are shaded and covered by their own draw in the best order of draws",
        before.total("read_B") - after.total("read_B"), before.total("write_B") - after.total("write_B"), before.cycles - after.cycles,
        at_most=True,
    )]  # fmt: skip


def _covers_itself(costs: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Of each draw, fragments that were shaded and that it covered itself."""
    return {n: sum(by["fragments"] for by in cost["covered_by"] if by["by_draw"] == n) for n, cost in enumerate(costs)}


def _may_be_sorted(state: State, d: DrawCounts) -> bool:
    return state.directed and not d.programs.reads_tile
