"""``tilegpu bench vertex MESH``: how often a mesh's vertices are shaded, by cache, by order of its triangles, and on each profile.

For each order (as given, random, as an optimiser leaves it) each cache of shaded vertices that Giesen's article and its comments name,
simulated on the mesh's own indices: vertices shaded, the ratio to those that are named, calls of the shader, and the bytes that come in:
vertices through an input cache (lines of 64 bytes), indices once. Below it what tilegpu itself shades on each profile, counted by the
pass. Counts only: nothing here is timed. Each draw begins with empty caches; one instance of it is counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilegpu as tg
from tilegpu.bench.cache import Cache, misses
from tilegpu.bench.vertex_caches import CACHES, Shaded
from tilegpu.errors import needs_packages
from tilegpu.scene import Frame
from tilegpu.terminal import EXIT_OK, UsageError, load_scene, progress, say

ORDERS = ("given", "random", "optimised")
#: Of the input cache: bytes of a line, and its ways. No vendor publishes either: a model, as are the default size below and the largest.
LINE_B, WAYS = 64, 4
INPUT_CACHE_KiB, _MOST_INPUT_CACHE_KiB = 16, 4096
#: Of the random order: any would do; the year of the article that the caches are from (:mod:`tilegpu.bench.vertex_caches`).
_SEED = 2011

_VERTEX = """#version 450
layout(location = 0) out float which;
void main() { gl_Position = vec4(gl_VertexIndex % 2, gl_VertexIndex / 2 % 2, 0.5, 1.0); which = float(gl_VertexIndex); }"""
_FRAGMENT = """#version 450
layout(location = 0) in float which; layout(location = 0) out vec4 color;
void main() { color = vec4(which); }"""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles of one draw: (n, 3) indices; bytes of a vertex and of an index in the buffers (0: the draw has none)."""

    triangles: NDArray[np.uint32]
    vertex_B: int
    index_B: int


@dataclass(frozen=True)
class Row:
    """One cache and order, summed over the mesh's draws. ``shaded_per_named``: the least is 1. ``vertex_B``, ``index_B``: bytes that come
    in through the input cache."""

    order: str
    cache: str
    triangles: int
    named: int
    shaded: int
    shaded_per_named: float
    shaded_per_triangle: float
    batches: int
    vertex_B: int
    index_B: int


@dataclass(frozen=True)
class ProfileRow:
    """What a device of a profile shades. ``vertex_batch``: 0 for ranges of indices; ``vertex_group``: vertices of a request to
    a cache of so many; 0: batches that begin empty."""

    order: str
    profile: str
    vertex_batch: int
    named: int
    shaded: int
    shaded_per_named: float
    batches: int
    vertex_group: int = 0


def meshes_of(frame: Frame) -> list[Mesh]:
    """The draws of triangles of a frame. Raises :class:`tilegpu.terminal.UsageError` where there is none."""
    found = []
    for draw in frame.all_draws:
        if not draw.triangle_count or draw.state.topology not in _TRIANGLES:
            continue
        count = draw.element_count
        if draw.indices is not None:
            indices = np.asarray(draw.indices.reshape(-1)[draw.first : draw.first + count]).astype(np.uint32)
        else:
            indices = np.arange(draw.first, draw.first + count, dtype=np.uint32)
        found.append(
            Mesh(
                _TRIANGLES[draw.state.topology](indices),
                draw.vertices.dtype.itemsize if draw.vertices is not None else 0,
                draw.indices.dtype.itemsize if draw.indices is not None else 0,
            )
        )
    if not found:
        raise UsageError(f"bench vertex: '{frame.label}' has no triangles (points, lines or patches only); give a mesh")
    return found


def _strip(indices: NDArray[np.uint32]) -> NDArray[np.uint32]:
    first, odd = np.arange(len(indices) - 2), np.arange(len(indices) - 2) % 2
    return np.stack([indices[first], indices[first + 1 + odd], indices[first + 2 - odd]], 1)


def _fan(indices: NDArray[np.uint32]) -> NDArray[np.uint32]:
    first = np.arange(len(indices) - 2)
    return np.stack([indices[first + 1], indices[first + 2], np.full(len(first), indices[0])], 1)


_TRIANGLES: dict[str, Callable[[NDArray[np.uint32]], NDArray[np.uint32]]] = {
    "triangle_list": lambda indices: indices[: len(indices) // 3 * 3].reshape(-1, 3),
    "triangle_strip": _strip,
    "triangle_fan": _fan,
}


def in_order(mesh: Mesh, order: str) -> Mesh:
    """The same triangles in another order. ``"optimised"`` also puts the vertices in the order of their first use, and needs the
    package meshopt; raises :class:`tilegpu.terminal.UsageError` where it is not installed."""
    if order == "given":
        return mesh
    if order == "random":
        triangles = np.random.default_rng(_SEED).permutation(mesh.triangles)
        return Mesh(triangles, mesh.vertex_B, mesh.index_B)
    try:
        import meshopt
    except ImportError:
        raise UsageError(
            needs_packages("bench vertex: the optimised order", "meshopt", extra="mesh")
            + "; or name the orders that you want: --order given --order random"
        ) from None
    indices, _, _ = meshopt.reorder_mesh(mesh.triangles.ravel(), triangles=True, optsize=False)
    return Mesh(np.asarray(indices, np.uint32).reshape(-1, 3), mesh.vertex_B, mesh.index_B)


def fetched_B(vertices: Iterable[int], vertex_B: int, cache: Cache) -> int:
    """Bytes that an input cache fetches for vertices that are read in this order, from a buffer where they lie one after the other."""
    if vertex_B == 0:
        return 0
    lines = (
        line for v in vertices for line in range(v * vertex_B // LINE_B, (v * vertex_B + vertex_B - 1) // LINE_B + 1)
    )
    return misses(cache, lines) * LINE_B


def simulate(meshes: Iterable[Mesh], order: str, name: str, input_cache: Cache) -> Row:
    """One row: all draws through the cache ``name`` of :data:`~tilegpu.bench.vertex_caches.CACHES`."""
    triangles = named = shaded = batches = vertex_B = index_B = 0
    for mesh in meshes:
        indices = mesh.triangles.ravel().tolist()
        done: Shaded = CACHES[name](indices)
        triangles += len(mesh.triangles)
        named += len(set(indices))
        shaded += len(done.vertices)
        batches += done.batches
        vertex_B += fetched_B(done.vertices, mesh.vertex_B, input_cache)
        index_B += -(-(done.index_B or len(indices) * mesh.index_B) // LINE_B) * LINE_B
    return Row(order, name, triangles, named, shaded, shaded / named, shaded / triangles, batches, vertex_B, index_B)


def count_on(profile: str, meshes: Iterable[Mesh], order: str, vertex_batch: int = 0) -> ProfileRow:
    """One row: a pass of a device with this profile that draws all meshes; ``vertex_batch`` as of :class:`tilegpu.Device`."""
    device = tg.Device(profile, vertex_batch=vertex_batch, hsr="off")  # positions and varyings in one go
    target = device.image((8, 8), "r8g8b8a8_unorm", transient=True)
    pipeline = device.pipeline(_VERTEX, _FRAGMENT, color=["r8g8b8a8_unorm"])
    named = 0
    with device.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0), store_op="dont_care")) as rp:
        for mesh in meshes:
            rp.draw(pipeline, indices=mesh.triangles.ravel(), count=mesh.triangles.size)
            named += len(np.unique(mesh.triangles))
    stats = rp.stats
    shaded = stats.vertices_shaded
    info = device.info
    return ProfileRow(order, profile, info["vertex_batch"], named, shaded, shaded / named, stats.vertex_batches, info["vertex_group"])


def input_cache_of(size_KiB: int) -> Cache:
    """The input cache of a size."""
    return Cache(size_KiB * 1024 // LINE_B, WAYS)


def _power_of_two(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_INPUT_CACHE_KiB or int(text) & (int(text) - 1):
        raise argparse.ArgumentTypeError(f"'{text}' is not a power of two from 1 to {_MOST_INPUT_CACHE_KiB}")
    return int(text)


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "vertex",
        help="how often a mesh's vertices are shaded: caches, orders, profiles",
        description=__doc__.split("\n\n", 1)[1].replace("\n", " "),
    )
    parser.add_argument("mesh", metavar="MESH", help="a scene, or a model's file")
    parser.add_argument("--order", action="append", choices=ORDERS, help="may be repeated (default: all that can be made here)")
    parser.add_argument(
        "--input-cache", type=_power_of_two, default=INPUT_CACHE_KiB, metavar="KiB",
        help=f"size of the input cache, a power of two (default: {INPUT_CACHE_KiB}); lines of {LINE_B} bytes, {WAYS} ways",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.set_defaults(run=run)


def _orders_there_are() -> Iterable[str]:
    """All orders, where nobody names any: without the optimised one, and a line that says so, where its package is not installed."""
    if importlib.util.find_spec("meshopt") is not None:
        return ORDERS
    missing = needs_packages("bench vertex: the optimised order", "meshopt", extra="mesh")
    print(f"note: {missing}; it is left out", file=sys.stderr)
    return [order for order in ORDERS if order != "optimised"]


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    meshes = meshes_of(load_scene(options.mesh).frame((64, 64)))
    orders = options.order or list(_orders_there_are())
    ordered = {order: [in_order(mesh, order) for mesh in meshes] for order in orders}
    cache = input_cache_of(options.input_cache)
    jobs = [(order, name) for order in orders for name in CACHES]
    rows = [simulate(ordered[o], o, name, cache) for o, name in progress(jobs, len(jobs), "bench vertex")]
    counted = [count_on(profile, ordered[order], order) for order in orders for profile in tg.profile_names()]
    if options.json:
        print(json.dumps({"caches": [asdict(r) for r in rows], "profiles": [asdict(r) for r in counted]}, indent=1))
        return EXIT_OK
    first = rows[0]
    say(f"{len(meshes)} draws, {first.triangles:,} triangles, {first.named:,} vertices named")
    print_tables(rows, counted)
    return EXIT_OK


def print_tables(rows: Iterable[Row], counted: Iterable[ProfileRow]) -> None:
    """The caches of each order, then the profiles."""
    print(
        f"{'order':11}{'cache':28}{'shaded':>11}{'/named':>8}{'/triangle':>11}{'batches':>9}{'vertices in':>13}{'indices in':>12}"
    )
    for r in rows:
        print(
            f"{r.order:11}{r.cache:28}{r.shaded:11,}{r.shaded_per_named:8.2f}{r.shaded_per_triangle:11.2f}"
            f"{r.batches or '':>9}{r.vertex_B / 1024:9,.0f} KiB{r.index_B / 1024:8,.0f} KiB"
        )
    print(f"\n{'order':11}{'profile':28}{'shaded':>11}{'/named':>8}{'held':>14}{'batches':>9}")
    for p in counted:
        held = f"FIFO {p.vertex_batch}" + (f" by {p.vertex_group}" if p.vertex_group > 1 else "")
        is_fifo = p.vertex_group and p.vertex_batch  # which goes on from triangle to triangle: the batches are this program's own
        batch = held if is_fifo else f"{p.vertex_batch or 'ranges'}"
        print(f"{p.order:11}{p.profile:28}{p.shaded:11,}{p.shaded_per_named:8.2f}{batch:>14}{'' if is_fifo else f'{p.batches:,}':>9}")
