"""Where draws of a pass lie over one another, from pixels of it: which orders of the draws keep the picture, and which are near to far.

In: events of some pixels (:mod:`tilegpu.history`), and what each draw tests and writes. Out: :class:`Overlaps`, which draws the pixels
again in any order, with names in place of colours: two orders make the same picture there if the names at the end are the same. Pixels with
the same draws, in the same order of depth, are one. It is a guess of the whole picture: orders are drawn to find out
(:mod:`tilegpu.frame_orders`). Sources: none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tilegpu.fixed import made_once

_COMPARE = re.compile(r"\bdepth ([A-Z_]+)")
#: Compares with a direction: whether near is small.
_NEAR_IS_SMALL = {"LESS": True, "LESS_OR_EQUAL": True, "GREATER": False, "GREATER_OR_EQUAL": False}
_PASSES: dict[str, Callable[[float, float], bool]] = {
    "LESS": lambda z, stored: z < stored,
    "LESS_OR_EQUAL": lambda z, stored: z <= stored,
    "GREATER": lambda z, stored: z > stored,
    "GREATER_OR_EQUAL": lambda z, stored: z >= stored,
    "EQUAL": lambda z, stored: z == stored,
    "NOT_EQUAL": lambda z, stored: z != stored,
    "NEVER": lambda _z, _stored: False,
}
_MOST_SIDE = 24  #: pixels of a pass that are looked at, each way
_MOST_IMPROVED = 16  #: draws of which single ones are moved
_MOST_STEPS = 60_000  #: fragments that are drawn again to find one order


class State(NamedTuple):
    """Of a draw: ``compare``: of depth, "" without a test; ``colors``: a bit for each that is written; ``cost``: of a fragment."""

    compare: str
    writes_depth: bool
    stencil: bool
    writes_stencil: bool
    opaque: bool
    late: bool
    colors: int
    reads_tile: bool = False
    cost: float = 1.0

    @property
    def directed(self) -> bool:
        """Its depth test has a direction, and nothing else says what is seen of it."""
        return self.compare in _NEAR_IS_SMALL and not self.stencil

    @property
    def free(self) -> bool:
        """It hides what is behind it and is hidden by what is before it, whoever comes first."""
        return self.directed and self.opaque and self.writes_depth and not self.reads_tile


class _Fragment(NamedTuple):
    draw: int
    z: float
    gone: bool  #: it was discarded
    stencil_failed: bool


class _Pixel(NamedTuple):
    stored: float  #: before all of them
    fragments: tuple[_Fragment, ...]


def compare_of(plan: str) -> str:
    """Of a row of ``rp.explain()``: what depth is compared with, "" without a test."""
    found = _COMPARE.search(plan)
    return found[1] if found else ""


def uses_stencil(plan: str) -> bool:
    """The same of the stencil test."""
    return ", stencil" in plan


def grid(width_px: int, height_px: int) -> list[tuple[int, int]]:
    """Pixels to look at, evenly over a pass. Rows are shifted, so that edges at powers of two don't hide what is between."""
    columns, rows = min(_MOST_SIDE, width_px), min(_MOST_SIDE, height_px)
    return [
        (min(width_px - 1, int((i + (0.25 + 0.5 * (j % 2))) * width_px / columns)), min(height_px - 1, int((j + 0.5) * height_px / rows)))
        for j in range(rows)
        for i in range(columns)
    ]


class Overlaps:
    """``states`` of a pass's draws; ``pixels``: for each, the core's events; ``runs`` of draws that may change places; ``keeps_depth``,
    ``keeps_stencil``: it is stored, so that it is a part of the picture."""

    def __init__(
        self, states: Sequence[State], pixels: Iterable[Sequence[Mapping[str, Any]]], runs: Sequence[int], keeps: tuple[bool, bool]
    ) -> None:
        self.states, self._keeps = states, keeps
        run_of = [run for run, count in enumerate(runs) for _ in range(count)]
        assert len(run_of) == len(states)
        self._last_run = len(runs) - 1
        self._run_of = run_of
        weights: dict[_Pixel, int] = {}
        for events in pixels:
            for pixel in _pixels(events, run_of):
                known = _ranked(self._with_stencil(pixel))
                weights[known] = weights.get(known, 0) + 1
        self._pixels = list(weights.items())
        self.seen = {f.draw for pixel, _ in self._pixels for f in pixel.fragments}
        self._of_draw: dict[int, list[int]] = {}
        for i, (pixel, _) in enumerate(self._pixels):
            for draw in {f.draw for f in pixel.fragments}:
                self._of_draw.setdefault(draw, []).append(i)
        as_given = {draw: draw for draw in range(len(states))}
        self._wanted = [self._picture(pixel, as_given) for pixel, _ in self._pixels]

    def _with_stencil(self, pixel: _Pixel) -> _Pixel:
        """What failed though its depth passes, failed the stencil test."""
        stored, found = pixel.stored, []
        for f in pixel.fragments:
            state = self.states[f.draw]
            passes = _passes(state, f.z, stored)
            failed = state.stencil and f.stencil_failed and passes
            if passes and not failed and not f.gone and state.writes_depth:
                stored = f.z
            found.append(f._replace(stencil_failed=failed))
        return pixel._replace(fragments=tuple(found))

    def _picture(self, pixel: _Pixel, places: Mapping[int, int]) -> tuple[tuple[Any, ...], frozenset[Any]]:
        """What is left of it with its draws at these places; and who met which stencil, of those whose depth passes: whether they pass is
        known for that stencil alone. Of who is hidden it doesn't matter, but for what it writes there."""
        stored, stencil = pixel.stored, ()
        colors: dict[int, Any] = {}
        tests: set[Any] = set()
        for f in sorted(pixel.fragments, key=lambda f: places[f.draw]):
            state = self.states[f.draw]
            passes = _passes(state, f.z, stored)
            if state.stencil and not f.gone:
                if passes:
                    tests.add((f, stencil))
                if state.writes_stencil:
                    stencil = (*stencil, f.draw, passes)  # type: ignore[assignment]
            if not passes or f.stencil_failed or f.gone:
                continue
            if state.writes_depth:
                stored = f.z
            below = tuple(sorted(colors.items())) if state.reads_tile else ()
            for target in range(state.colors.bit_length()):
                if state.colors >> target & 1:
                    colors[target] = f if state.opaque and not state.reads_tile else (f, colors.get(target), below)
        last = self._run_of[pixel.fragments[0].draw] == self._last_run
        left = (
            tuple(sorted(colors.items(), key=lambda item: item[0])),
            stored if self._keeps[0] or not last else None, stencil if self._keeps[1] or not last else None,
        )  # fmt: skip
        return left, frozenset(tests)

    def keeps_picture(self, order: Sequence[int], of: int | None = None) -> bool:
        """Whether the pixels are the same in ``order``; ``of``: those that this draw is in."""
        places = {draw: place for place, draw in enumerate(order)}
        which = range(len(self._pixels)) if of is None else self._of_draw.get(of, ())
        for i in which:
            left, tests = self._picture(self._pixels[i][0], places)
            wanted, known = self._wanted[i]
            if left != wanted or not tests <= known:
                return False
        return True

    def keeps_layers(self, order: Sequence[int]) -> bool:
        """Nothing changes places with a draw without a directed depth test, or with stencil: where others do, their depths say what is
        seen, except of what blends."""
        fixed = [place for place, draw in enumerate(order) if not self.states[draw].directed]
        if [order[place] for place in fixed] != sorted(order[place] for place in fixed):
            return False
        return all({*order[:place]} == {*range(order[place])} for place in fixed)

    def moves(self, draw: int, order: Sequence[int]) -> bool:
        """Whether others come before it in ``order`` than those that are before it as given."""
        return {*order[: order.index(draw)]} != {*range(draw)}

    def _is_known(self, draw: int, rest: Sequence[int]) -> bool:
        """Whether the pixels can tell if ``draw`` may come before those of ``rest`` that it stands behind: what covers none of them is
        left where it is, unless depth alone says what is seen."""
        state, known = self.states[draw], draw in self.seen
        for other in rest:
            if other >= draw:
                continue
            if known and other in self.seen:
                continue
            one = self.states[other]
            if (state.free and (one.free or one.directed)) or (one.free and state.directed):
                continue
            return False
        return True

    def sorted_by(self, key: Callable[[int, Sequence[int]], Any], exact: bool = True) -> tuple[int, ...]:
        """The draws with the smallest ``key`` (of a draw, and those that are left) first, as far as the picture stays; ``exact=False``: as
        far as layers stay. Each run by itself."""
        order: list[int] = []
        steps = 0
        for run in sorted(set(self._run_of)):
            rest = [draw for draw in range(len(self.states)) if self._run_of[draw] == run]
            behind = [draw for draw in range(len(self.states)) if self._run_of[draw] > run]
            while rest:
                left = rest
                for draw in sorted(rest, key=lambda d: key(d, left)):
                    then = [*order, draw, *(d for d in rest if d != draw), *behind]
                    steps += 1 + sum(len(self._pixels[i][0].fragments) for i in self._of_draw.get(draw, ()))
                    if draw == rest[0] or (exact and steps < _MOST_STEPS and self._is_known(draw, rest) and self.keeps_picture(then, draw)):
                        break
                    if not exact and self.keeps_layers(then):
                        break
                order.append(draw)
                rest = [d for d in rest if d != draw]
        return tuple(order)

    @made_once
    def _hidden(self) -> dict[int, dict[int, float]]:
        """Of each draw by which others how much of it would be hidden, in what its fragments cost."""
        found: dict[int, dict[int, float]] = {}
        for pixel, weight in self._pixels:
            for one in pixel.fragments:
                for other in pixel.fragments:
                    state, small = self.states[other.draw], _NEAR_IS_SMALL.get(self.states[other.draw].compare)
                    nearer = small is not None and (other.z < one.z if small else other.z > one.z)
                    if one.draw != other.draw and nearer and state.free and not other.gone and self.states[one.draw].directed:
                        row = found.setdefault(one.draw, {})
                        row[other.draw] = row.get(other.draw, 0.0) + weight * self.states[one.draw].cost
        return found

    def nearness(self, depths: Mapping[int, float]) -> Callable[[int, Sequence[int]], Any]:
        """A key: what those that are left hide least of, then the nearest by ``depths``."""

        def key(draw: int, rest: Sequence[int]) -> tuple[float, float, int]:
            hidden = self._hidden.get(draw, {})
            near = depths.get(draw, float("inf"))
            return sum(hidden.get(other, 0.0) for other in rest) if hidden else 0.0, near, draw

        return key

    def improved(self, order: tuple[int, ...]) -> tuple[int, ...]:
        """The same, with single draws in other places while the picture stays and less is shaded: what hides others and must wait for a
        third no order by depth alone finds. Of few draws."""
        if len(order) > _MOST_IMPROVED or not self.keeps_picture(order):
            return order
        cost, of_all = self.shaded_cost(order), sum(len(pixel.fragments) for pixel, _ in self._pixels)
        steps, again = 0, True
        while again:
            again = False
            for draw in order:
                rest = [d for d in order if d != draw]
                run = [place for place, d in enumerate(rest) if self._run_of[d] == self._run_of[draw]]
                for place in range(run[0], run[-1] + 2) if run else ():
                    then = (*rest[:place], draw, *rest[place:])
                    steps += of_all
                    if steps > _MOST_STEPS:
                        return order
                    now = self.shaded_cost(then)
                    if now < cost and self._is_possible(then) and self.keeps_picture(then):
                        order, cost, again = then, now, True
        return order

    def _is_possible(self, order: Sequence[int]) -> bool:
        """As far as draws that no pixel shows are concerned."""
        return all(self._is_known(draw, order[place:]) for place, draw in enumerate(order))

    def shaded_cost(self, order: Sequence[int]) -> float:
        """What the fragments cost that pass their depth tests in this order."""
        places = {draw: place for place, draw in enumerate(order)}
        cost = 0.0
        for pixel, weight in self._pixels:
            stored = pixel.stored
            for f in sorted(pixel.fragments, key=lambda f: places[f.draw]):
                state = self.states[f.draw]
                if _passes(state, f.z, stored) and not f.stencil_failed:
                    cost += weight * state.cost
                    stored = f.z if state.writes_depth and not f.gone else stored
        return cost


def mean_depths(pixels: Iterable[Sequence[Mapping[str, Any]]], states: Sequence[State]) -> dict[int, float]:
    """Of each draw that a pixel shows, over all of them; smaller is nearer."""
    found: dict[int, list[float]] = {}
    for events in pixels:
        for event in events:
            if event["step"] == "rasterized":
                found.setdefault(event["fragment"][0], []).append(event["depth"])
    return {draw: sum(z) / len(z) * (1 if _NEAR_IS_SMALL.get(states[draw].compare, True) else -1) for draw, z in found.items()}


def _passes(state: State, z: float, stored: float) -> bool:
    return state.compare not in _PASSES or _PASSES[state.compare](z, stored)


def _pixels(events: Sequence[Mapping[str, Any]], run_of: Sequence[int]) -> Iterable[_Pixel]:
    """Of each sample of a pixel, and each run of draws."""
    found: dict[tuple[int, int], dict[tuple[int, int, int], list[Mapping[str, Any]]]] = {}
    for event in events:
        draw = event["fragment"][0]
        if draw < len(run_of):
            found.setdefault((event["sample"], run_of[draw]), {}).setdefault(event["fragment"], []).append(event)
    for fragments in found.values():
        made = []
        for (draw, _, _), steps in sorted(fragments.items()):
            names = {step["step"] for step in steps}
            z = next((e["depth"] for e in reversed(steps) if e["step"] == "shaded" and e["depth"]), steps[0]["depth"])
            made.append(_Fragment(draw, z, bool(names & {"discarded", "masked"}), bool(names & {"early_test", "late_test"})))
        first = min(fragments)
        yield _Pixel(fragments[first][0]["depth_before"], tuple(made))


def _ranked(pixel: _Pixel) -> _Pixel:
    """With places in place of depths, so that pixels of one kind are equal."""
    rank = {z: float(place) for place, z in enumerate(sorted({pixel.stored, *(f.z for f in pixel.fragments)}))}
    return _Pixel(rank[pixel.stored], tuple(f._replace(z=rank[f.z]) for f in pixel.fragments))
