"""Caches of shaded vertices: how often each of them shades a mesh's vertices, and in which order. In: indices of triangles. Out: vertices.

Source: Giesen, "A trip through the Graphics Pipeline 2011", part 3, "Vertex Caching and Shading" and its comments: the FIFO of older
GPUs, batches that begin empty (what tilegpu's core does), batches with set-associative tags, indices that name places of a cache instead of
vertices. And two that the article hasn't: ranges of indices (``geometry/vertex_range.cpp``) and the groups of four of Arm's caches.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np


def chunk_primitives(primitives: int) -> int:
    """Triangles of a chunk of a pass that has so many, as the core cuts it (``chunk_primitives_of`` of ``geometry/plan.cpp``)."""
    if primitives < 16 * 4096:
        return max(1 << (primitives // 16).bit_length() >> 1, 1024)
    return min(max(1 << (primitives // 32).bit_length() >> 1, 4096), 16384)


@dataclass(frozen=True)
class Shaded:
    """``vertices`` as they are shaded, one after the other. ``batches``: of the shader; 0 where vertices go one by one. ``index_B``: of a
    list of indices of its own, 0: the mesh's."""

    vertices: list[int]
    batches: int = 0
    index_B: int = 0


def fifo(indices: Sequence[int], entries: int) -> Shaded:
    """The last ``entries`` vertices that were shaded, whole or not."""
    when: dict[int, int] = {}
    out: list[int] = []
    for index in indices:
        if len(out) - when.get(index, -entries) < entries:
            continue
        out.append(index)
        when[index] = len(out)
    return Shaded(out)


def batches(indices: Sequence[int], vertices: int, ways: int = 0) -> Shaded:
    """Batches of up to ``vertices``, each from an empty cache; a triangle without room begins the next. ``ways``: tags in sets of so
    many (at least 3, or a triangle might never fit), by the lowest bits of the index; a full set ends the batch. 0: no sets.

    Raises ``ValueError`` where not even a triangle would fit.
    """
    ways = ways or vertices
    sets = vertices // ways
    if vertices < 3 or ways < 3 or sets * ways != vertices:
        raise ValueError(
            f"batches: vertices is {vertices} in {ways} ways; both must be at least 3, vertices a multiple of ways"
        )
    out: list[int] = []
    held: set[int] = set()
    used = [0] * sets
    count = 0
    for at in range(0, len(indices) - 2, 3):
        corners = dict.fromkeys(indices[at : at + 3])
        new = [index for index in corners if index not in held]
        if not new:
            continue
        for index in new:
            used[index % sets] += 1
        if count == 0 or max(used[index % sets] for index in new) > ways:
            held, used, new = set(), [0] * sets, list(corners)
            count += 1
            for index in new:
                used[index % sets] += 1
        held.update(new)
        out += new
    return Shaded(out, count)


def groups(indices: Sequence[int], vertices: int, size: int = 4) -> Shaded:
    """A FIFO of requests, with room for so many vertices: whoever is asked for brings along its neighbours in the vertex buffer, ``size``
    of them from an aligned one on, whether the mesh has them or not."""
    shaded = fifo([index // size for index in indices], max(1, vertices // size))
    return Shaded([vertex for group in shaded.vertices for vertex in range(group * size, group * size + size)])


def explicit(indices: Sequence[int], entries: int) -> Shaded:
    """A cache of ``entries`` places that the index list names itself, one byte each; who writes the list knows the future, so what is
    thrown out is what is needed last. Three codes are left: the next vertex that was never seen (vertices lie in the order of their first
    use), one that was seen and is gone (with its number, 4 bytes), primitive restart: up to 253 places.
    """
    if not 3 <= entries <= 253:
        raise ValueError(
            f"explicit: entries is {entries}; it must be 3 to 253, as a byte has room for with three codes"
        )
    never = len(indices)
    following = [never] * len(indices)
    last: dict[int, int] = {}
    for at in range(len(indices) - 1, -1, -1):
        following[at] = last.get(indices[at], never)
        last[indices[at]] = at
    held: dict[int, int] = {}  # vertex: its next use
    farthest: list[tuple[int, int]] = []
    seen: set[int] = set()
    out: list[int] = []
    again = 0
    for at, index in enumerate(indices):
        if index not in held:
            while len(held) >= entries:
                use, vertex = heapq.heappop(farthest)
                if held.get(vertex) == -use:
                    del held[vertex]
            out.append(index)
            again += index in seen
            seen.add(index)
        held[index] = following[at]
        heapq.heappush(farthest, (-following[at], index))
    return Shaded(out, 0, len(indices) + 4 * again)


def ranges(indices: Sequence[int], primitives: int = 0, vertices: int = 32) -> Shaded:
    """The host's way: of each chunk of ``primitives`` (0: as the core cuts a pass of this mesh alone) whose indices are dense each vertex
    once, in the order of the buffer; other chunks in batches. Dense: the range of indices is no longer than the primitives are many."""
    primitives = primitives or chunk_primitives(len(indices) // 3)
    out: list[int] = []
    calls = 0
    every = np.asarray(indices, np.int64)
    for begin in range(0, len(every), 3 * primitives):
        chunk = every[begin : begin + 3 * primitives]
        low, high = int(chunk.min()), int(chunk.max())
        if high - low >= len(chunk) // 3:
            part = batches(chunk.tolist(), vertices)
            out += part.vertices
            calls += part.batches
        else:
            named = np.unique(chunk)
            out += named.tolist()
            calls += len(np.unique((named - low) // vertices))
    return Shaded(out, calls)


#: What ``tilegpu bench vertex`` compares: a name, and what shades the vertices of the indices.
CACHES: dict[str, Callable[[Sequence[int]], Shaded]] = {
    **{f"FIFO of {n}": partial(fifo, entries=n) for n in (16, 24, 32, 48, 64)},
    **{f"batches of {n}": partial(batches, vertices=n) for n in (16, 24, 32, 48, 64)},
    **{f"batches of {n}, {w} ways": partial(batches, vertices=n, ways=w) for n, w in ((32, 4), (64, 4), (64, 8))},
    **{f"FIFO of {n}, groups of 4": partial(groups, vertices=n) for n in (16, 32, 64, 128)},
    **{f"explicit, {n} places": partial(explicit, entries=n) for n in (16, 32, 64, 253)},
    "ranges": ranges,
}
