"""Machines that reject hidden fragments before texturing, on the fragments of a model in their order: the depth filter and its peers.

In: a :class:`~tilegpu.bench.depth_filter_stream.Stream`. Out: for each fragment what became of it, and misses of a cache. Fragments of one
pixel (of one block, for Hyper-Z) go one after the other, all pixels together: nothing here is an estimate. Sources: Yu and Kim, sections
1, 2 and 5, and of the two others what its section 1 tells of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilegpu.bench.cache import Cache, misses
from tilegpu.bench.depth_filter_stream import BLOCK_px, Stream, turns

_DEPTH_LINE_px, _DEPTH_LINE_B = (4, 4), 64


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of each fragment: rejected early; its depth not read; it passed the depth test (exact for any machine)."""

    rejected: NDArray[np.bool_]
    unread: NDArray[np.bool_]
    passed: NDArray[np.bool_]


def depth_filter(stream: Stream, planes: Sequence[float], skips_reads: bool = False) -> Outcome:
    """The filter of section 2: ``planes`` that reject, from near to far, in depth; with ``skips_reads`` the far plane behind them says
    where nothing is yet. Without planes: the conventional depth test.
    """
    stored, depth = stream.stored, stream.depth
    # The nearest plane that the stored depth is in front of; infinity: none.
    plane = np.append(np.array(planes, np.float32), np.float32(np.inf))
    rejected = depth >= plane[np.searchsorted(plane[:-1], stored, side="right")]
    unread = np.isinf(stored) & (depth < 1) if skips_reads else np.zeros(len(stream), bool)
    return Outcome(rejected, unread, depth < np.minimum(stored, 1))


@dataclass(frozen=True, eq=False)
class Visits:
    """Fragments in the order of a rasterizer that walks each triangle block by block: ``order`` of the stream's fragments, and runs of
    them, one for each visit of a triangle to a block."""

    order: NDArray[np.intp]
    begin: NDArray[np.intp]
    block: NDArray[np.int32]
    shape_px: tuple[int, int]


def visits_of(stream: Stream, shape_px: tuple[int, int] = BLOCK_px) -> Visits:
    """The visits to blocks of ``shape_px``."""
    block = stream.block(shape_px)
    order = np.lexsort((block, stream.triangle))
    key = stream.triangle[order].astype(np.int64) * (int(block.max()) + 1) + block[order]
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    return Visits(order, begin, block[order[begin]], shape_px)


def hyper_z(stream: Stream) -> tuple[Outcome, int]:
    """Hyper-Z: beside the depth buffer the farthest depth of each block of 8 x 8 pixels, which a fragment behind it doesn't pass. Returns
    what became of the fragments, and how often a block's farthest depth had to be found anew (64 depths each)."""
    visits = visits_of(stream)
    ends = np.append(visits.begin[1:], len(stream))
    width_px = stream.size_px[0]
    x, y = stream.pixel % width_px, stream.pixel // width_px
    place = y % BLOCK_px[1] * BLOCK_px[0] + x % BLOCK_px[0]  # in the block
    pixels = BLOCK_px[0] * BLOCK_px[1]
    blocks = stream.size_px[0] * stream.size_px[1] // pixels
    stored = np.ones((blocks, pixels), np.float32)
    farthest = np.ones(blocks, np.float32)
    rejected, passed = np.zeros(len(stream), bool), np.zeros(len(stream), bool)
    updates = 0
    for turn in turns(visits.block):
        sizes = ends[turn] - visits.begin[turn]
        starts = np.cumsum(sizes) - sizes
        at = visits.order[np.repeat(visits.begin[turn] - starts, sizes) + np.arange(sizes.sum())]
        block, depth = np.repeat(visits.block[turn], sizes), stream.depth[at]
        rejected[at] = depth >= farthest[block]
        passes = depth < stored[block, place[at]]
        passed[at] = passes
        stored[block[passes], place[at][passes]] = depth[passes]
        changed = np.unique(block[passes])
        farthest[changed] = stored[changed].max(1)
        updates += len(changed)
    return Outcome(rejected, np.zeros(len(stream), bool), passed), updates


def _interleaved(block: NDArray[np.integer], columns: int) -> list[int]:
    """Numbers of lines: the bits of column and row by turns, so that neighbours in either direction are in different sets."""
    x, y = block.astype(np.int64) % columns, block.astype(np.int64) // columns
    out = np.zeros(len(block), np.int64)
    for bit in range(int(max(x.max(), y.max())).bit_length() if len(block) else 0):
        out |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1
    found: list[int] = out.tolist()
    return found


def miss_rate(cache: Cache, visits: Visits, stream: Stream) -> float:
    """Misses of the filter's memory for each fragment (MR of section 5): each fragment looks at its line of 64 pixels, and the first of a
    visit decides for all."""
    return misses(cache, _interleaved(visits.block, stream.size_px[0] // visits.shape_px[0])) / len(stream)


def depth_traffic(cache: Cache, stream: Stream, outcome: Outcome) -> tuple[int, int]:
    """Bytes of depth read and written if the depth buffer lies behind a cache of lines of 4 x 4 pixels (64 bytes): a line is fetched
    when a depth in it is read that is not there, and written back if anything in it was written. Rejected fragments touch nothing; a
    visit whose fragments all skip the read takes an empty line (each depth of a line must then say whether it is there).
    """
    visits = visits_of(stream, _DEPTH_LINE_px)
    touches, reads, writes = ~outcome.rejected, ~outcome.rejected & ~outcome.unread, outcome.passed

    def of_visits(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.logical_or.reduceat(flags[visits.order], visits.begin)

    touched = of_visits(touches)
    sequence = zip(
        _interleaved(visits.block[touched], stream.size_px[0] // _DEPTH_LINE_px[0]),
        of_visits(reads)[touched].tolist(),
        of_visits(writes)[touched].tolist(),
        strict=True,
    )
    fetched, written = _write_back(cache, sequence)
    return fetched * _DEPTH_LINE_B, written * _DEPTH_LINE_B


def _write_back(cache: Cache, sequence: Iterable[tuple[int, bool, bool]]) -> tuple[int, int]:
    """Lines fetched and written back."""
    held: list[dict[int, tuple[bool, bool]]] = [{} for _ in range(cache.sets)]  # line: whole, changed
    fetched = written = 0
    for line, read, write in sequence:
        lines = held[line % cache.sets]
        whole, changed = lines.pop(line, (False, False))
        if len(lines) == cache.ways:
            written += lines.pop(next(iter(lines)))[1]
        if read and not whole:
            fetched, whole = fetched + 1, True
        lines[line] = (whole, changed or write)
    written += sum(changed for lines in held for _, changed in lines.values())
    return fetched, written
