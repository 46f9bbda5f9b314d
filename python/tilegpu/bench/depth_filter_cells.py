"""The depth filter at any position and spacing, from one count of a model's fragments.

A filter knows of a pixel only in front of which planes its stored depth lies, so what it does with a fragment follows from two numbers:
the fragment's depth and the one that is stored. Planes lie at multiples of 1/128 of the depth range; a table of how many fragments have
which two cells answers for every filter at once, exactly. Beside it the two ways to move the position, as in the core
(``hsr/depth_filter.cpp``). Source: Yu and Kim, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tilegpu.bench.depth_filter_stream import Stream

#: Cells of the depth range, steps of a position, spacings of a filter (`/N` behind its name), and the one it has if nothing is said.
CELLS, STEPS, SPACINGS, SPACING = 128, 16, 64, 8
_ONE, _NOTHING = CELLS, CELLS + 1  # depth 1 itself; stored: nothing yet


@dataclass(frozen=True)
class Counts:
    """FP, SP, RP of a frame, and fragments whose depth was not read; shares of all fragments."""

    front: float
    survived: float
    rejected: float
    unread: float


class Cells:
    """A model's fragments by stored depth and own depth."""

    def __init__(self, stream: Stream) -> None:
        stored = np.where(np.isinf(stream.stored), _NOTHING, np.minimum(stream.stored * CELLS, _ONE)).astype(np.int64)
        own = np.minimum(stream.depth * CELLS, _ONE).astype(np.int64)
        table = np.bincount(stored * (CELLS + 2) + own, minlength=(CELLS + 2) ** 2).reshape(CELLS + 2, CELLS + 2)
        self.table: NDArray[np.float64] = table / len(stream)
        #: Fragments that fail the depth test, as a share of all: the most that can be rejected.
        self.hidden = float((stream.depth >= np.minimum(stream.stored, 1)).mean())

    def count(self, system: str, position: int, spacing: int = SPACING) -> Counts:
        """What the filter does at a position (16ths) with a spacing (64ths)."""
        at = position * (CELLS // STEPS)
        reject = np.array(plane_cells(system, position, spacing))
        # The nearest plane that the stored depth is in front of; beyond the last there is none.
        cell = np.arange(CELLS + 2)
        number = np.searchsorted(reject, cell, side="right")
        plane = np.append(reject, CELLS + 2)[number]
        hidden = cell[None, :] >= plane[:, None]
        rejected = float(self.table[hidden].sum())
        front = float(self.table[:, :at][~hidden[:, :at]].sum())
        unread = float(self.table[_NOTHING, :_ONE].sum()) if system == "two_plane_skip" else 0.0
        return Counts(front, 1 - rejected - front, rejected, unread)


def plane_cells(system: str, position: int, spacing: int = SPACING) -> list[int]:
    """The planes that reject, from near to far, in cells."""
    at, half = position * (CELLS // STEPS), spacing * (CELLS // SPACINGS) // 2
    offsets = {"one_plane": (0,), "three_plane": (-2 * half, 0, 2 * half)}.get(system, (-half, half))
    return [min(max(at + offset, 0), CELLS) for offset in offsets]


@dataclass
class Position:
    """Where the planes are, frame after frame."""

    steps: int = STEPS // 2
    last: int = 0
    last_difference: float = 0.0
    last_passed: float = 1.0
    path: list[int] = field(default_factory=list)

    def by_secant(self, counts: Counts) -> None:
        """By the secant through the last two frames: what ``depth_filter:MODE`` does."""
        total = counts.front + counts.survived
        if total == 0:
            return
        difference = (counts.front - counts.survived) / total
        move, way, rise = -difference * STEPS / 2, self.steps - self.last, difference - self.last_difference
        if self.last and way * rise > 0:
            move = -difference * way / rise
        most = STEPS / 4
        step = 0 if abs(difference) < 1 / 16 else round(min(max(move, -most), most))
        passed = total / (total + counts.rejected)
        if abs(step) == 1 and self.steps + step == self.last and passed <= self.last_passed:
            step = 0
        if step:
            self.last, self.last_difference, self.last_passed = self.steps, difference, passed
            self.steps = min(max(self.steps + step, 1), STEPS - 1)

    def by_counters(self, counts: Counts, fragments: int) -> None:
        """By counters and leading-one detectors: what ``depth_filter:MODE@counters`` does."""
        front, survived = round(counts.front * fragments), round(counts.survived * fragments)
        if front == survived:
            return
        apart = (front + survived).bit_length() - abs(front - survived).bit_length()
        step = (STEPS // 4) >> apart
        self.steps = min(max(self.steps + (-step if front > survived else step), 1), STEPS - 1)


def follow(count: Callable[[int], Counts], frames: int, start: int = STEPS // 2, fragments: int = 0) -> list[int]:
    """The positions of ``frames`` frames from ``start`` on; with ``fragments`` (of a frame) by counters, else by the secant."""
    position = Position(steps=start)
    for _ in range(frames):
        position.path.append(position.steps)
        counts = count(position.steps)
        if fragments:
            position.by_counters(counts, fragments)
        else:
            position.by_secant(counts)
    return position.path
