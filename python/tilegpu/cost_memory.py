"""What gets through a cache, and what attachments move where there are no tiles: on an immediate-mode GPU, and in sysmem.

In: :class:`tilegpu.cost_counts.PassCounts`, bytes of the cache. Out: bytes read and written, by what for. Each attachment is judged by its
own load, draws and resolve, and has its share of the cache. The rules: ``docs/costs.md``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from tilegpu.cost_counts import DrawCounts, PassCounts, texel_B

_COLOR = "color"


def through_cache(moved_B: float, footprint_B: float, cache_B: float) -> float:
    """Bytes that get through a cache: the footprint once, and of what is moved again as much as the cache does not hold of it."""
    once = min(moved_B, footprint_B)
    return once + (moved_B - once) * missed_share(footprint_B, cache_B)


def missed_share(footprint_B: float, cache_B: float) -> float:
    """Of what is touched again, the share that a cache does not hold: all of the footprint is touched as often."""
    return max(0.0, 1.0 - cache_B / footprint_B) if footprint_B else 0.0


@dataclasses.dataclass(frozen=True)
class _Attachment:
    """``names``: of its entries in ``load`` and ``store``: depth and stencil of one format are one image."""

    row: str  #: that its bytes are printed in
    names: tuple[str, ...]
    texel_B: int

    def reads_B(self, d: DrawCounts) -> int:
        """Of a sample, by a draw: what it tests and what it blends with."""
        if self.row == "colour":
            return d.written * self.texel_B if d.programs.reads_tile and self._is_written(d) else 0
        tests = ("depth" in self.names and d.programs.tests_depth) or self._writes_stencil(d)
        return d.rasterized * self.texel_B if tests else 0

    def writes_B(self, d: DrawCounts) -> int:
        """The same of what it leaves there."""
        writes = self._is_written(d) or ("depth" in self.names and d.programs.writes_depth) or self._writes_stencil(d)
        return d.written * self.texel_B if writes else 0

    def _is_written(self, d: DrawCounts) -> bool:
        return any(name.startswith(_COLOR) and d.programs.written_colors >> int(name[len(_COLOR) :]) & 1 for name in self.names)

    def _writes_stencil(self, d: DrawCounts) -> bool:
        return "stencil" in self.names and d.programs.writes_stencil


def _attachments(layout: Mapping[str, Any]) -> Iterator[_Attachment]:
    for i, name in enumerate(layout["color_formats"]):
        if name != "none":
            yield _Attachment("colour", (f"{_COLOR}{i}",), texel_B(name))
    depth, stencil = layout["depth_format"], layout["stencil_format"]
    if depth == stencil != "none":
        yield _Attachment("depth", ("depth", "stencil"), texel_B(depth))
        return
    if depth != "none":
        yield _Attachment("depth", ("depth",), texel_B(depth))
    if stencil != "none":
        yield _Attachment("stencil", ("stencil",), texel_B(stencil))


def bytes_in_memory(c: PassCounts, l2_B: float) -> tuple[dict[str, float], dict[str, float]]:
    """Each fragment reads what it tests and blends and writes what it leaves, through the L2; a clear writes all of an attachment, through
    the L2 too; samples are resolved by a pass of their own. Hierarchical Z saves no reads here: what this host's has is by bins, which
    no such GPU has."""
    x0, y0, x1, y1 = c.layout["render_area_px"]
    pixels = (x1 - x0 + 1) * (y1 - y0 + 1) * max(1, c.layout["layers"])
    read_B: dict[str, float] = {}
    write_B: dict[str, float] = {}

    def add(to: dict[str, float], what: str, count: float) -> None:
        if count:
            to[what] = to.get(what, 0.0) + count

    found = list(_attachments(c.layout))
    all_B = sum(one.texel_B for one in found)
    for one in found:
        footprint_B, of_l2_B = float(pixels * one.texel_B * c.samples), l2_B * one.texel_B / all_B
        read = float(sum(one.reads_B(d) for d in c.draws) * c.samples)
        written = float(sum(one.writes_B(d) for d in c.draws) * c.samples)
        cleared_B = footprint_B if any(c.clears(name) for name in one.names) else 0.0
        held = min(1.0, of_l2_B / footprint_B) if footprint_B else 1.0
        fetched_B = through_cache(read, footprint_B, of_l2_B)
        # What the clear left in the cache is not fetched, nor what draws left there, where memory has nothing yet that is worth it; and
        # what is drawn over a clear there leaves the cache once.
        in_cache_B = 0.0 if any(c.loads(name) for name in one.names) else footprint_B * held
        add(read_B, one.row, fetched_B - min(fetched_B, max(in_cache_B, cleared_B * held)))
        drawn_B = through_cache(written, footprint_B, of_l2_B)
        add(write_B, one.row, drawn_B)
        add(write_B, "clears", through_cache(written + cleared_B, footprint_B, of_l2_B) - drawn_B)
        if c.samples == 1:
            continue
        # Of an image with one sample a pixel (samples= of the pass) the samples are spread before, and resolved behind.
        if any(c.spreads_samples(name) for name in one.names):
            add(read_B, "unresolve", footprint_B / c.samples)
            add(write_B, "unresolve", footprint_B)
        if modes := {mode for name in one.names for mode in c.resolve_modes(name)}:
            add(read_B, "resolve", footprint_B / (c.samples if modes == {"sample_zero"} else 1))
            add(write_B, "resolve", footprint_B / c.samples)
    return read_B, write_B
