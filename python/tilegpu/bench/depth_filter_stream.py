"""The fragments of a model in the order in which an immediate-mode GPU meets them: triangle by triangle over the whole screen.

The paper's hardware has no tiles, so what its caches hold and what a hierarchical buffer knows depends on this order, which a tile-based
machine doesn't have. In: a model (one mesh, one matrix). Out: for each fragment its triangle, pixel and depth. Rules as in Vulkan: 8
subpixel bits, top-left rule, depth linear over the screen. What lies before the
near or behind the far plane is left out fragment by fragment, which is as good as clipping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.bench.depth_filter_models import SIZE_PX, Model
from tilegpu.fixed import made_once

#: Candidates that are looked at together: pixels of bounding boxes.
_TOGETHER = 1 << 21
_SUBPIXELS = 256
#: What the filter's memory moves at once, and a block of hierarchical depth.
BLOCK_px = (8, 8)


@dataclass(frozen=True, eq=False)
class Stream:
    """Fragments in order; ``pixel`` counts from the top left, row by row."""

    size_px: tuple[int, int]
    triangle: NDArray[np.int32]
    pixel: NDArray[np.int32]
    depth: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.pixel)

    def block(self, shape_px: tuple[int, int] = BLOCK_px) -> NDArray[np.int32]:
        """The block of ``shape_px`` in which each fragment lies, row by row."""
        width_px = self.size_px[0]
        x, y = self.pixel % width_px, self.pixel // width_px
        return (y // shape_px[1] * (width_px // shape_px[0]) + x // shape_px[0]).astype(np.int32)

    @made_once
    def stored(self) -> NDArray[np.float32]:
        """The depth that is stored where each fragment comes: the least of those before it at its pixel; infinity: none yet."""
        out = np.full(len(self), np.inf, np.float32)
        least = np.full(self.size_px[0] * self.size_px[1], np.inf, np.float32)
        for turn in turns(self.pixel):
            pixel, depth = self.pixel[turn], self.depth[turn]
            out[turn] = least[pixel]
            least[pixel] = np.where(depth < np.minimum(least[pixel], 1), depth, least[pixel])
        return out


def turns(keys: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Places of the first of each key, of the second of each key, and so on."""
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order], prepend=keys[order[0]] - 1))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    return np.split(order[np.argsort(rank, kind="stable")], np.cumsum(np.bincount(rank))[:-1])


def _window(model: Model, size_px: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Window positions in subpixels, and depths, of all vertices. Raises ``ValueError`` where one lies behind the eye."""
    position = model.mesh.vertices["aPos"].astype(np.float32)
    m = np.asarray(model.mvp, np.float32)
    clip = m[:, 0] * position[:, 0:1] + m[:, 1] * position[:, 1:2] + m[:, 2] * position[:, 2:3] + m[:, 3]
    w = clip[:, 3]
    if not (w > 0).all():
        raise ValueError(
            f"model ({model.name}): a vertex is behind the eye, and nothing is cut here; move it before it"
        )
    half = np.array(size_px, np.float32) / 2
    xy = clip[:, :2] / w[:, None] * half + half
    return np.rint(xy * np.float32(_SUBPIXELS)).astype(np.int64), clip[:, 2] / w


def _cover(
    xy: NDArray[np.int64], z: NDArray[np.float64], box: NDArray[np.int64], at: NDArray[np.int64]
) -> tuple[NDArray, ...]:
    """Fragments of the triangles ``at``: each one's number, x, y and depth, in order."""
    low, high = box[at, 0], box[at, 1]
    extent = high - low
    count = extent[:, 0] * extent[:, 1]
    number = np.repeat(np.arange(len(at)), count)
    inside = np.arange(len(number)) - np.repeat(np.cumsum(count) - count, count)
    wide = extent[number, 0]
    x, y = low[number, 0] + inside % wide, low[number, 1] + inside // wide
    px, py = x * _SUBPIXELS + _SUBPIXELS // 2, y * _SUBPIXELS + _SUBPIXELS // 2
    corners = xy[at]
    covered = np.ones(len(number), bool)
    weights = []
    for k in range(3):
        a, b = corners[:, k], corners[:, (k + 1) % 3]
        edge = b - a
        # y points down and the area is positive: an edge is a left one where it goes up, a top one where it goes right.
        ties = (edge[:, 1] < 0) | ((edge[:, 1] == 0) & (edge[:, 0] > 0))
        value = edge[number, 0] * (py - a[number, 1]) - edge[number, 1] * (px - a[number, 0])
        covered &= (value > 0) | ((value == 0) & ties[number])
        weights.append(value)
    number, x, y = number[covered], x[covered], y[covered]
    # The weight of a corner is that of the edge opposite to it.
    weight = np.stack([weights[1][covered], weights[2][covered], weights[0][covered]], 1)
    depth = (weight * z[at][number]).sum(1) / weight.sum(1)
    kept = (depth >= 0) & (depth <= 1)
    return number[kept], x[kept], y[kept], depth[kept]


def stream_of(model: Model, size_px: tuple[int, int] = SIZE_PX) -> Stream:
    """All fragments of the model; both facings, as nothing is culled."""
    window, depth = _window(model, size_px)
    triangles = np.asarray(model.mesh.indices, np.int64).reshape(-1, 3)
    xy, z = window[triangles], depth.astype(np.float64)[triangles]
    ab, ac = xy[:, 1] - xy[:, 0], xy[:, 2] - xy[:, 0]
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    turned = area < 0
    xy[turned], z[turned] = xy[turned][:, [0, 2, 1]], z[turned][:, [0, 2, 1]]
    low = np.maximum((xy.min(1) + _SUBPIXELS // 2 - 1) // _SUBPIXELS, 0)
    high = np.minimum((xy.max(1) - _SUBPIXELS // 2) // _SUBPIXELS + 1, np.array(size_px))
    box = np.stack([low, high], 1)
    pixels = np.where(area != 0, np.prod(np.maximum(high - low, 0), 1), 0)
    seen = np.flatnonzero(pixels)
    cuts = np.searchsorted(np.cumsum(pixels[seen]), np.arange(_TOGETHER, int(pixels.sum()), _TOGETHER))
    parts = []
    for at in np.split(seen, np.unique(cuts)):
        if len(at):
            number, x, y, values = _cover(xy, z, box, at)
            parts.append((at[number], y * size_px[0] + x, values))
    triangle, pixel, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Stream(size_px, triangle.astype(np.int32), pixel.astype(np.int32), values.astype(np.float32))
