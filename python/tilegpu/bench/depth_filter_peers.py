"""The depth filter beside its peers on one model: the conventional depth test, Hyper-Z and mid-texturing, and what caches make of them.

Bytes for each fragment by the paper's section 5: reading and writing depth and colour and reading a texel are 4 bytes each, rejected
fragments move nothing. What is added, as far as the paper tells it:

- Depth filter: each miss of its cache moves 64 pixels' bits in and out.
- Hyper-Z: the map of farthest depths (24 bits a block) lies inside, so tests are free; finding a block's farthest depth anew reads the
  block's 64 depths: ``upkeep_B`` says what that is if none of them is at hand, which is the "excessive burden" that the paper names.
- Mid-texturing: every fragment reads its depth once more, before texturing; whoever fails is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilegpu.bench.cache import Cache
from tilegpu.bench.depth_filter_cells import CELLS, SPACING, Cells, follow, plane_cells
from tilegpu.bench.depth_filter_machines import Outcome, depth_filter, depth_traffic, hyper_z, miss_rate, visits_of
from tilegpu.bench.depth_filter_models import Model
from tilegpu.bench.depth_filter_runs import ACCESS_B, SYSTEMS, UNREAD_B, LINE_px
from tilegpu.bench.depth_filter_stream import BLOCK_px, Stream


@dataclass(frozen=True)
class FilterCache:
    """A cache of the filter's bits: lines of 64 pixels in a shape."""

    name: str
    cache: Cache
    line_px: tuple[int, int]


#: The one that has the paper's miss rate, 5.7 % with one plane on model (b): five lines of 16 x 4 pixels, 40 bytes of bits. And one of
#: 64 lines of 8 x 8 pixels in four ways, 512 bytes, as small as a cache of today. Both are models: the paper says nothing of its own.
FILTER_CACHES = (FilterCache("five lines", Cache(5, 5), (16, 4)), FilterCache("64 lines", Cache(64, 4), BLOCK_px))
#: A cache before the depth buffer, 4 KiB in lines of 64 bytes (4 x 4 pixels), four ways: a model.
DEPTH_CACHE = Cache(64, 4)
_DEPTH_B = 8  # read and written, of ACCESS_B


@dataclass(frozen=True)
class Misses:
    """The miss rate of a filter cache on a model; ``size_B`` with one bit a pixel."""

    model: str
    line_px: tuple[int, int]
    lines: int
    ways: int
    size_B: int
    miss_rate: float


def miss_curve(model: Model, stream: Stream) -> list[Misses]:
    """Miss rates of caches of one to 256 lines, four ways as soon as there are so many."""
    found = []
    for shape in (BLOCK_px, (16, 4)):
        visits = visits_of(stream, shape)
        for lines in (1, 2, 3, 4, 5, 8, 16, 32, 64, 128, 256):
            cache = Cache(lines, lines if lines < 8 else 4)
            rate = miss_rate(cache, visits, stream)
            found.append(Misses(model.name, shape, lines, cache.ways, lines * LINE_px // 8, rate))
    return found


@dataclass(frozen=True)
class Peer:
    """One machine on one model, after adaptation. Shares are of all fragments, bytes for each fragment. ``gain``: the conventional test's
    20 bytes to what this one moves; ``cached_gain``: the same where both have the depth cache, and the filter the larger cache."""

    model: str
    machine: str
    inside_B: int
    rejection: float
    effective_rejection: float
    unread: float
    miss_rates: tuple[float, ...]
    moved_B: tuple[float, ...]
    gain: tuple[float, ...]
    upkeep_B: float
    depth_B: float
    cached_gain: float

    @property
    def gain_with_upkeep(self) -> float:
        """With the smaller filter cache, if all upkeep comes from memory."""
        return ACCESS_B / (self.moved_B[0] + self.upkeep_B)


def miss_rates(stream: Stream) -> tuple[float, ...]:
    """Of each of :data:`FILTER_CACHES`."""
    return tuple(miss_rate(c.cache, visits_of(stream, c.line_px), stream) for c in FILTER_CACHES)


def filtered(cells: Cells, stream: Stream, system: str, spacing: int = SPACING) -> tuple[int, Outcome]:
    """The position after ten frames, and what becomes of the fragments there."""
    position = follow(lambda at: cells.count(system, at, spacing), 10)[-1]
    planes = [cell / CELLS for cell in plane_cells(system, position, spacing)]
    return position, depth_filter(stream, planes, system == "two_plane_skip")


def compare(model: Model, stream: Stream, cells: Cells) -> list[Peer]:
    """All machines on a model."""
    rates = miss_rates(stream)
    conventional = depth_filter(stream, [])
    hidden = float((~conventional.passed).mean())
    all_depth_B = sum(depth_traffic(DEPTH_CACHE, stream, conventional)) / len(stream)

    def peer(
        machine: str, outcome: Outcome, bits: int = 0, inside_B: int = 0, own_B: float = 0.0, upkeep_B: float = 0.0
    ) -> Peer:
        rejection, unread = float(outcome.rejected.mean()), float(outcome.unread.mean())
        # Who reads each fragment's depth before texturing has the second reading from the cache.
        depth_B = all_depth_B if own_B else sum(depth_traffic(DEPTH_CACHE, stream, outcome)) / len(stream)
        pixels_B = unread * UNREAD_B + (1 - rejection - unread) * ACCESS_B
        filter_B = [2 * rate * LINE_px * bits / 8 for rate in rates]
        moved = tuple(pixels_B + own_B + extra for extra in filter_B)
        behind_cache = (1 - rejection) * (ACCESS_B - _DEPTH_B) + depth_B + filter_B[-1]
        return Peer(
            model.name, machine, inside_B, rejection, rejection / hidden if hidden else 0.0, unread, rates if bits else (), moved,
            tuple(ACCESS_B / each for each in moved), upkeep_B, depth_B, (ACCESS_B - _DEPTH_B + all_depth_B) / behind_cache,
        )  # fmt: skip

    found = [peer("conventional", conventional)]
    for system, bits in SYSTEMS.items():
        inside = FILTER_CACHES[0].cache.lines * LINE_px * bits // 8
        found.append(peer(system, filtered(cells, stream, system)[1], bits, inside))
    outcome, updates = hyper_z(stream)
    pixels = stream.size_px[0] * stream.size_px[1]
    found.append(peer("hyper_z", outcome, 0, pixels // LINE_px * 3, 0.0, updates * LINE_px * 4 / len(stream)))
    exact = Outcome(~conventional.passed, conventional.unread, conventional.passed)
    found.append(peer("mid_texturing", exact, own_B=4.0))
    return found
