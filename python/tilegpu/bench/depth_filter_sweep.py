"""Spacing and adaptation of the depth filter, swept: what becomes of the paper's claims that two planes that skip reads are best, and that
three planes follow faster. Exact, from :class:`~tilegpu.bench.depth_filter_cells.Cells`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilegpu.bench.depth_filter_cells import SPACING, STEPS, Cells, follow
from tilegpu.bench.depth_filter_runs import PAPER_MISS_RATE, SYSTEMS, required_bandwidth

SPACINGS = (1, 2, 4, 6, 8, 10, 12, 16)
ADAPTATIONS = ("secant", "counters")
#: Frames from a start; a filter that has not settled by then counts as so many.
FRAMES = 12
_SETTLED = 0.95


@dataclass(frozen=True)
class Sweep:
    """A system at a spacing (64ths of the depth range), moved one way. ``best``: by exhaustive search; ``rejection``, ``gain``: means of
    the last four of twelve frames from the middle, the gain at the paper's miss rate. ``frames_to_settle``: until the rejection stays
    within 5 % of the best, mean over all 15 starts, and ``frames_at_worst`` from the worst of them (:data:`FRAMES`:
    never); ``wandering``: of these, those that still move in the last four frames."""

    model: str
    system: str
    adaptation: str
    spacing: int
    best_position: int
    best_rejection: float
    best_gain: float
    rejection: float
    gain: float
    frames_to_settle: float
    frames_at_worst: int
    wandering: int


def _gain(system: str, rejection: float, unread: float) -> float:
    conventional = required_bandwidth(0, 0, 0, 0)
    return conventional / required_bandwidth(rejection, unread, PAPER_MISS_RATE, SYSTEMS[system])


def sweep_one(model: str, cells: Cells, fragments: int, system: str, adaptation: str, spacing: int = SPACING) -> Sweep:
    """One row."""
    at = {position: cells.count(system, position, spacing) for position in range(1, STEPS)}
    best = max(at, key=lambda position: (at[position].rejected, -position))
    settle, wandering = [], 0
    for start in range(1, STEPS):
        path = follow(at.__getitem__, FRAMES, start, fragments if adaptation == "counters" else 0)
        good = [at[p].rejected >= _SETTLED * at[best].rejected for p in path]
        settle.append(next((k for k in range(FRAMES) if all(good[k:])), FRAMES))
        wandering += len(set(path[-4:])) > 1
        if start == STEPS // 2:
            last = [at[p] for p in path[-4:]]
    rejection = sum(c.rejected for c in last) / len(last)
    return Sweep(
        model, system, adaptation, spacing, best, at[best].rejected, _gain(system, at[best].rejected, at[best].unread), rejection,
        _gain(system, rejection, last[0].unread), sum(settle) / len(settle), max(settle), wandering,
    )  # fmt: skip


def sweep(models: Sequence[tuple[str, Cells, int]]) -> list[Sweep]:
    """All rows of models, given as name, cells and fragments of a frame. The spacing of one plane means nothing: it has one row."""
    return [
        sweep_one(name, cells, fragments, system, adaptation, spacing)
        for name, cells, fragments in models
        for system in SYSTEMS
        for adaptation in ADAPTATIONS
        for spacing in (SPACINGS if system != "one_plane" else (SPACING,))
    ]
