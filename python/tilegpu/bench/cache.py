"""A cache that throws out what was used longest ago: what the models of :mod:`tilegpu.bench` put between a machine and its memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cache:
    """``lines`` of it in sets of ``ways``; the lowest bits of a line's number choose the set."""

    lines: int
    ways: int

    def __post_init__(self) -> None:
        sets = self.lines // self.ways if self.ways > 0 else 0
        if sets < 1 or sets * self.ways != self.lines or sets & (sets - 1):
            raise ValueError(
                f"Cache: lines is {self.lines} with {self.ways} ways; lines must be the ways times a power of two, such as 16 and 4"
            )

    @property
    def sets(self) -> int:
        """How many."""
        return self.lines // self.ways


def misses(cache: Cache, numbers: Iterable[int]) -> int:
    """How many accesses to the lines ``numbers``, in order, find their line missing; the cache is empty before."""
    sets, ways = cache.sets, cache.ways
    held: list[dict[int, None]] = [{} for _ in range(sets)]
    count = 0
    for line in numbers:
        lines = held[line % sets]
        if line in lines:
            del lines[line]
        else:
            count += 1
            if len(lines) == ways:
                del lines[next(iter(lines))]
        lines[line] = None
    return count
