"""Orders of a pass's draws that are worth a try: what ends a technique last, opaque draws near to far, late Z behind early.

In: what the pass counted, its explanation, and where its draws overlap (:mod:`tilegpu.draw_overlaps`). Out: orders,
as lists of draws. What they save is not estimated: :mod:`tilegpu.frame_orders` draws them. Sources: Arm, "Place incompatible primitives
last" (pre-pass); Mesa, Turnip's low-resolution Z; and for GPUs without either, near to far.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tilegpu.cost_counts import PassCounts
from tilegpu.costs import PassCosts, costs_of
from tilegpu.draw_overlaps import Overlaps

#: Of a pass's cycles or bytes, if nothing that is not seen were shaded: less is not worth a try.
LEAST = 0.005
_MOST_NAMED = 6  #: draws in a text
STOPS, BREAKS, NEAR, LATE, BOTH = "stops", "breaks", "near", "late", "both"
_BREAKER = re.compile(r"\(draw (\d+)\)$")
_MOST_TRIES = 2  #: culprits of a kind that are tried alone


class Moves(NamedTuple):
    """What of a pass's draws can be recorded in another order: ``runs`` of draws that stand one behind the other, ``ordered``: draws whose
    depth test is LESS, GREATER or one of these with EQUAL; ``fixed``: why none can, or ""."""

    runs: list[int]
    ordered: list[bool]
    fixed: str


class Culprit(NamedTuple):
    """Draws that are better drawn last, and why. ``harmful``: they end or break a technique; else it is what they leave behind that lets
    another draw do so, and it does no harm if they are last."""

    draws: frozenset[int]
    why: str
    harmful: bool = True


class Order(NamedTuple):
    """``draws`` by their numbers, in the order to be drawn in. ``kind``: :data:`STOPS`, :data:`BREAKS`, :data:`NEAR`, :data:`LATE` or
    :data:`BOTH`; ``culprits``: those that are drawn last; ``exact``: pixels of the pass say that the picture stays."""

    kind: str
    text: str
    draws: tuple[int, ...]
    culprits: tuple[Culprit, ...] = ()
    exact: bool = True

    @property
    def moved(self) -> frozenset[int]:
        """All culprits."""
        return frozenset().union(*(one.draws for one in self.culprits))


def without_unseen(counts: PassCounts) -> PassCounts:
    """As if all were shaded only where it is seen: more than an order can do."""
    draws = [dataclasses.replace(d, shaded=d.shaded - d.unseen_fragments) for d in counts.draws]
    shaded, rasterized = sum(d.shaded for d in draws), counts.counters["fragments_rasterized"]
    if any(name.partition(":")[0] == "lrz" for name in counts.techniques):
        rasterized = min(rasterized, shaded)  # rejected as triangles
    counters = {**counts.counters, "fragments_shaded": shaded, "fragments_rasterized": rasterized}
    return dataclasses.replace(counts, draws=tuple(draws), counters=counters)


def is_much(before: PassCosts, after: PassCosts) -> bool:
    """Whether what is saved is worth a line."""
    cost_B, left_B = (costs.total("read_B") + costs.total("write_B") for costs in (before, after))
    return before.cycles - after.cycles >= max(LEAST * before.cycles, 1e-9) or cost_B - left_B >= max(LEAST * cost_B, 1e-9)


def is_worth_a_try(counts: PassCounts) -> bool:
    """Whether an order may make the pass cheaper: something ends its pre-pass, or it would be cheaper if all were shaded only where it is
    seen. What leaves attachments out hides nothing whole, so that where it ends the pre-pass the fragments that are not seen don't tell."""
    if any(stop["rule"] != "clear" for stop in counts.counters["prepass_stops"]):
        return True
    if any(d.sliced and d.programs.decides_coverage for d in counts.draws):
        return True  # it runs for what is not seen, too
    return any(d.unseen for d in counts.draws) and is_much(costs_of(counts), costs_of(without_unseen(counts)))


def culprits(counts: PassCounts, explain: Sequence[Mapping[str, Any]]) -> dict[str, list[Culprit]]:
    """By kind; each set of draws once."""
    colors = {d.draw: d.programs.color_targets for d in counts.draws}
    standard = min((n for n in colors.values() if n), default=0)
    stops: dict[frozenset[int], Culprit] = {}
    for stop in counts.counters["prepass_stops"]:
        draw, because = stop["draw"], stop["because_of"]
        if stop["rule"] == "clear":
            continue
        one = frozenset({draw})
        if stop["rule"] == "1.2" and because >= 0:
            richer = frozenset(n for n, targets in colors.items() if targets > colors[draw]) or frozenset({because})
            special = frozenset(n for n, targets in colors.items() if targets > standard)
            if special > richer:  # those that write more than any need to, in one step
                least = next(n for n, targets in colors.items() if targets == standard)
                stops[special] = Culprit(special, _writes_more(special, f"draw {least}"), False)
            stops[richer] = Culprit(richer, _writes_more(richer, f"draw {draw}, which ends the pre-pass for it"), False)
            if colors[draw] > standard:
                continue  # it ends it for those that are last then
        stops.setdefault(one, Culprit(one, STOPS))
    breaks: dict[frozenset[int], Culprit] = {}
    if any(name.partition(":")[0] == "lrz" for name in counts.techniques):
        for row in explain:
            if found := _BREAKER.search(row["low_resolution_z_off"]):
                one = frozenset({int(found[1])})
                breaks[one] = Culprit(one, BREAKS)
    return {kind: list(found.values()) for kind, found in ((STOPS, stops), (BREAKS, breaks)) if found}


def _writes_more(draws: Collection[int], than: str) -> str:
    who = "it writes" if len(draws) == 1 else "they write"
    return f"{who} more colour attachments than {than} (rule 1.2; or let all write all of them)"


def _blame(draws: Sequence[int], why: str) -> str:
    what = {STOPS: ("it ends the pre-pass", "they end the pre-pass"), BREAKS: ("it breaks low-resolution Z", "they break low-resolution Z")}
    return what[why][len(draws) > 1] if why in what else why


def _united(found: Iterable[Culprit]) -> tuple[Culprit, ...]:
    """One for each reason, and each draw in one."""
    by_why: dict[tuple[str, bool], set[int]] = {}
    known: set[int] = set()
    for one in sorted(found, key=lambda one: (one.harmful, -len(one.draws))):
        by_why.setdefault((one.why, one.harmful), set()).update(one.draws - known)
        known |= one.draws
    return tuple(Culprit(frozenset(draws), why, harmful) for (why, harmful), draws in by_why.items() if draws)


def _text(order: Sequence[int], found: Sequence[Culprit]) -> str:
    """What goes last, and why each does."""
    moved = sorted(frozenset().union(*(one.draws for one in found)))
    where = "last" if set(order[-len(moved):]) == set(moved) else "as late as the picture allows"
    if len(found) == 1:
        return f"{named(moved)} {where}: {_blame(moved, found[0].why)}"
    whys = [f"{named(sorted(one.draws))}: {_blame(sorted(one.draws), one.why)}" for one in found]
    return f"{named(moved)} {where} ({'; '.join(whys)})"


def first_tries(
    counts: PassCounts, explain: Sequence[Mapping[str, Any]], overlaps: Overlaps, depths: Mapping[int, float]
) -> list[Order]:
    """The orders to begin with: near to far, culprits last, and both. Whether others are then culprits too, :func:`then` asks."""
    blamed = culprits(counts, explain)
    # A pre-pass that nothing ends needs no order.
    found = [near_to_far(overlaps, depths)] if STOPS in blamed or not counts.counters["prepass_tiles"] else []
    for kind, all_of_kind in blamed.items():
        together = _united(all_of_kind)
        for some in [*((one,) for one in all_of_kind[:_MOST_TRIES]), together]:
            found += last(kind, some, counts, overlaps)
    everyone = _united(one for of_kind in blamed.values() for one in of_kind)
    if counts.counters["prepass_tiles"]:
        found += _late_behind(counts, overlaps, depths)
    if everyone:
        found.append(both(everyone, counts, overlaps, depths))
    # Where near to far is the same order as a culprit last, the culprit says more.
    told = {order.draws: order for order in reversed(found) if order.kind in (STOPS, BREAKS)}
    return unlike([told.get(order.draws, order) for order in found], [tuple(range(len(overlaps.states)))])


def unlike(found: Iterable[Order], known: Iterable[tuple[int, ...]]) -> list[Order]:
    """Each once, and none that is known."""
    seen = set(known)
    each: dict[tuple[int, ...], Order] = {}
    for order in found:
        if order.draws not in seen:
            each.setdefault(order.draws, order)
    return list(each.values())


def last(kind: str, found: Sequence[Culprit], counts: PassCounts, overlaps: Overlaps) -> list[Order]:
    """These behind the other draws of their runs, in the order that they have: as far as the picture stays; and as far as nothing but
    depths says what is seen. Those that write more colour attachments in the order of how many, as each ends the pre-pass for the next."""
    key = _last_key(found, counts)

    def of(exact: bool) -> Order:
        order = overlaps.sorted_by(lambda draw, _: key(draw), exact)
        return Order(kind, _text(order, found), order, tuple(found), exact)

    return [of(True), of(False)]


def _last_key(found: Sequence[Culprit], counts: PassCounts) -> Callable[[int], tuple[int, int, int]]:
    moved = {draw: one for one in found for draw in one.draws}
    colors = {d.draw: d.programs.color_targets for d in counts.draws}

    def key(draw: int) -> tuple[int, int, int]:
        if draw not in moved:
            return 0, 0, draw
        return (2, 0, draw) if moved[draw].harmful else (1, colors.get(draw, 0), draw)

    return key


def near_to_far(overlaps: Overlaps, depths: Mapping[int, float]) -> Order:
    """Draws that hide and are hidden by depth, the nearest first; the others behind them where the picture stays."""
    near = overlaps.nearness(depths)

    def key(draw: int, rest: Sequence[int]) -> tuple[Any, ...]:
        return (0, *near(draw, rest)) if overlaps.states[draw].free else (1, draw)

    order = overlaps.improved(overlaps.sorted_by(key))
    moved = any(overlaps.moves(draw, order) for draw, state in enumerate(overlaps.states) if not state.free)
    return Order(NEAR, "draws near to far, as far as the picture allows" if moved else "opaque draws near to far", order)


def _late_behind(counts: PassCounts, overlaps: Overlaps, depths: Mapping[int, float]) -> list[Order]:
    """Draws whose shaders decide coverage: they run in the pre-pass, where what is already there hides them; others of them too."""
    late = frozenset(d.draw for d in counts.draws if d.programs.decides_coverage and d.sliced)
    if not late:
        return []
    near, behind = overlaps.nearness(depths), "draws that decide coverage (late Z) behind opaque ones"
    found = [Order(LATE, behind, overlaps.sorted_by(lambda draw, _: (draw in late, draw)))]
    if len(late) > 1:
        among = overlaps.sorted_by(lambda draw, rest: (True, *near(draw, rest)) if draw in late else (False, draw))
        found.append(Order(LATE, f"{behind}, the nearest of them first", among))
    return found


def both(found: Sequence[Culprit], counts: PassCounts, overlaps: Overlaps, depths: Mapping[int, float]) -> Order:
    """Culprits last, and before them near to far; on GPUs with a pre-pass what decides coverage behind what does not."""
    key, near = _last_key(found, counts), overlaps.nearness(depths)
    has_prepass = bool(counts.counters["prepass_tiles"])

    def of(draw: int, rest: Sequence[int]) -> tuple[Any, ...]:
        state = overlaps.states[draw]
        late = has_prepass and state.late
        return (*key(draw)[:2], late, *near(draw, rest)) if state.free else (*key(draw)[:2], late, 1e9, 0.0, draw)

    order = overlaps.sorted_by(of)
    ahead = "opaque draws that don't decide coverage first" if has_prepass else "opaque draws near to far"
    return Order(BOTH, f"{_text(order, found)}, and before that {ahead}", order, tuple(found))


def then(
    order: Order,
    counts: PassCounts,
    explain: Sequence[Mapping[str, Any]],
    given: PassCounts,
    overlaps: Overlaps,
    depths: Mapping[int, float],
) -> list[Order]:
    """What to try after ``order``, by what its draws counted and explained in it: what ends or breaks it now, last too; or nothing.
    ``given``: as the pass is."""
    if order.kind in (NEAR, LATE):
        return []
    # Counted in the new order: a number is a place in it.
    kinds = culprits(counts, explain)
    harmful = [one for kind, of in kinds.items() if order.kind in (kind, BOTH) for one in of if one.harmful]
    again = {order.draws[place] for one in harmful for place in one.draws}
    if not again - order.moved:
        return []
    kind = BREAKS if BREAKS in kinds else STOPS
    found = _united([*order.culprits, Culprit(frozenset(again - order.moved), kind)])
    if order.kind == BOTH:
        return [both(found, given, overlaps, depths)]
    return [one for one in last(order.kind, found, given, overlaps) if one.exact == order.exact]


def named(draws: Sequence[int]) -> str:
    """Draws in a sentence."""
    if len(draws) == 1:
        return f"draw {draws[0]}"
    if len(draws) > _MOST_NAMED:
        return f"{len(draws)} draws ({', '.join(map(str, draws[:_MOST_NAMED]))}, ...)"
    return f"draws {', '.join(map(str, draws[:-1]))} and {draws[-1]}"
