"""Orders of a pass's draws that are worth a try: what ends a technique last, opaque draws near to far.

In: what the pass counted, its explanation, and which of its draws may change places. Out: orders, as lists of draws. What they save is not
estimated: :mod:`tilegpu.frame_orders` draws them. Sources: Arm, "Place incompatible primitives last" (pre-pass); Mesa, Turnip's
low-resolution Z; and for GPUs without either, near to far.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tilegpu.cost_counts import DrawCounts, PassCounts
from tilegpu.costs import PassCosts, costs_of

#: Of a pass's cycles or bytes, if nothing that is not seen were shaded: less is not worth a try.
LEAST = 0.005
_MOST_NAMED = 6  #: draws in a text
STOPS, BREAKS, NEAR = "stops", "breaks", "near"
_BREAKER = re.compile(r"\(draw (\d+)\)$")
_MOST_TRIES = 2  #: culprits of a kind that are tried alone


class Moves(NamedTuple):
    """What of a pass's draws can be recorded in another order: ``runs`` of draws that stand one behind the other, ``ordered``: draws whose
    depth test is LESS, GREATER or one of these with EQUAL; ``fixed``: why none can, or ""."""

    runs: list[int]
    ordered: list[bool]
    fixed: str


class Order(NamedTuple):
    """``draws`` by their numbers, in the order to be drawn in. ``kind``: :data:`STOPS`, :data:`BREAKS` or :data:`NEAR`; ``moved``: those
    that are drawn last."""

    kind: str
    text: str
    draws: tuple[int, ...]
    moved: frozenset[int] = frozenset()


def without_unseen(counts: PassCounts) -> PassCounts:
    """As if all were shaded only where it is seen: more than an order can do."""
    draws = [dataclasses.replace(d, shaded=d.shaded - d.unseen) for d in counts.draws]
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
    return any(d.unseen for d in counts.draws) and is_much(costs_of(counts), costs_of(without_unseen(counts)))


class Culprit(NamedTuple):
    """Draws that are better drawn last, and why. ``harmful``: they end or break a technique; else it is what they leave behind that lets
    another draw do so, and it does no harm if they are last."""

    draws: frozenset[int]
    why: str
    harmful: bool = True


def culprits(counts: PassCounts, explain: Sequence[Mapping[str, Any]]) -> dict[str, list[Culprit]]:
    """By kind; each set of draws once."""
    colors = {d.draw: d.programs.color_targets for d in counts.draws}
    stops: dict[frozenset[int], Culprit] = {}
    for stop in counts.counters["prepass_stops"]:
        draw, because = stop["draw"], stop["because_of"]
        if stop["rule"] == "clear":
            continue
        if stop["rule"] == "1.2" and because >= 0:
            richer = frozenset(n for n, targets in colors.items() if targets > colors[draw]) or frozenset({because})
            who = "it writes" if len(richer) == 1 else "they write"
            why = f"{who} more colour attachments than draw {draw}, which ends the pre-pass for it (rule 1.2; or let all write all of them)"
            stops[richer] = Culprit(richer, why, False)
        one = frozenset({draw})
        stops.setdefault(one, Culprit(one, _blame(STOPS, one)))
    breaks: dict[frozenset[int], Culprit] = {}
    if any(name.partition(":")[0] == "lrz" for name in counts.techniques):
        for row in explain:
            if found := _BREAKER.search(row["low_resolution_z_off"]):
                one = frozenset({int(found[1])})
                breaks[one] = Culprit(one, _blame(BREAKS, one))
    return {kind: list(found.values()) for kind, found in ((STOPS, stops), (BREAKS, breaks)) if found}


def _blame(kind: str, draws: Collection[int]) -> str:
    what = {STOPS: ("it ends", "they end", "the pre-pass"), BREAKS: ("it breaks", "they break", "low-resolution Z")}[kind]
    return f"{what[len(draws) > 1]} {what[2]}"


def first_tries(counts: PassCounts, explain: Sequence[Mapping[str, Any]], moves: Moves) -> list[Order]:
    """The orders to begin with: near to far, and culprits last. Whether others are then culprits too, :func:`then` asks."""
    found = [] if counts.counters["prepass_tiles"] else _near_to_far(counts.draws, moves)
    for kind, all_of_kind in culprits(counts, explain).items():
        found += [last(kind, one.draws, moves, one.why) for one in all_of_kind[:_MOST_TRIES]]
    as_given = tuple(range(len(moves.ordered)))
    each: dict[tuple[int, ...], Order] = {}
    for order in found:
        if order.draws != as_given:
            each.setdefault(order.draws, order)
    return list(each.values())


def last(kind: str, draws: Iterable[int], moves: Moves, why: str = "") -> Order:
    """These behind the other draws of their runs, in the order that they have."""
    moved = frozenset(draws)
    order: list[int] = []
    for run in _runs(moves):
        order += [n for n in run if n not in moved] + [n for n in run if n in moved]
    ordered = sorted(moved)
    return Order(kind, f"{named(ordered)} last: {why or _blame(kind, ordered)}", tuple(order), moved)


def then(order: Order, counts: PassCounts, explain: Sequence[Mapping[str, Any]], moves: Moves) -> Order | None:
    """What to try after ``order``, by what its draws counted and explained in it: what ends or breaks it now, last too; or nothing."""
    if order.kind == NEAR:
        return None
    # Counted in the new order: a number is a place in it.
    again = {order.draws[place] for one in culprits(counts, explain).get(order.kind, ()) if one.harmful for place in one.draws}
    return last(order.kind, order.moved | again, moves) if again - order.moved else None


def named(draws: Sequence[int]) -> str:
    """Draws in a sentence."""
    if len(draws) == 1:
        return f"draw {draws[0]}"
    if len(draws) > _MOST_NAMED:
        return f"{len(draws)} draws ({', '.join(map(str, draws[:_MOST_NAMED]))}, ...)"
    return f"draws {', '.join(map(str, draws[:-1]))} and {draws[-1]}"


def _runs(moves: Moves) -> list[range]:
    found, at = [], 0
    for count in moves.runs:
        found.append(range(at, at + count))
        at += count
    return found


def _near_to_far(draws: Sequence[DrawCounts], moves: Moves) -> list[Order]:
    """Opaque draws whose depth test has a direction, by the share of their fragments that is seen, others behind them; and the same between
    the others, which stay."""
    by_number = {d.draw: d for d in draws}

    def moves_freely(n: int) -> bool:
        return moves.ordered[n] and n in by_number and not by_number[n].programs.reads_tile

    def by_share(n: int) -> tuple[float, int]:
        d = by_number[n]
        return -(d.shaded - d.unseen) / max(1, d.rasterized), -n  # of equal shares the later ones: what came before was overwritten

    def in_order(others_last: bool) -> Order:
        order: list[int] = []
        for run in _runs(moves):
            others = [n for n in run if not moves_freely(n)]
            ends = [run.stop] if others_last else [*others, run.stop]
            first = run.start
            for end in ends:
                order += sorted(filter(moves_freely, range(first, end)), key=by_share) + ([end] if end < run.stop else [])
                first = end + 1
            order += others if others_last else []
        return Order(NEAR, "opaque draws near to far", tuple(order))

    return [in_order(True), in_order(False)]
