"""The constants of the cost model: one table, a row for each profile, a source for each figure.

Rates are for each cycle of the GPU; those of shader cores are of one core. What no document says is an estimate, and its source says so.
``tilegpu info --profile NAME`` and ``docs/costs.md`` print the table.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

#: What figures come from, by the short name that a :class:`Figure` has.
SOURCES = {
    "libGPUInfo": "Arm, libGPUInfo, table of products: FMAs, texels and pixels a cycle of a core",
    "names of products": "Arm, libGPUInfo: Immortalis from 10 cores on, Mali-G720 and G725 from 6; how many of them is an estimate",
    "freedreno": "Mesa, freedreno's table of devices (SP cores) and performance counters (two uSPTPs each, 128 ALUs each)",
    "device": "estimate: of a device with this GPU",
    "bandwidth": "estimate: the bandwidth of such a device's memory by its GPU's clock",
    "units": "estimate: by what such a GPU is said to have",
    "early tests": "estimate: four times the pixels, as a test reads and writes 4 bytes of a buffer on the chip and no shader runs",
    "set-up": "estimate: one primitive a cycle; desktop GPUs have several rasterizers",
    "caches": "estimate: caches between the cores and memory are 1 to 4 MiB",
    "lines": "estimate: 64 bytes, as of most caches",
    "layout": "four floats, as a vertex shader writes them",
    "lists": "estimate: an index of 4 bytes for each primitive of a tile",
    "streams": "Mesa, freedreno's documents: a visibility stream has a bit for each primitive; without its compression",
    "overlap": "estimate: Arm's article says that the dependency of main pass and pre-pass is hidden well, and worse in smaller tiles",
    "warps": "Mesa, panfrost: subgroups of 16 from architecture 9 on; freedreno's table of devices: 64 fibers; "
    "desktop GPUs have 32",
    "requests": "Arm, performance counter references of Mali-G57, G610 and G720 (libGPUCounters): a request of position or varying shading "
    "has 4 vertices; Arm's engineers (community.arm.com, 55793): from a multiple of 4 on, so that neighbours come along",
    "gathered": "Arm, performance counter references of Mali-G725 and G625: a request has 16 vertices, and fewer where it is partial; "
    "that no neighbours come along is an estimate",
    "article": "Giesen's article: batches of different vertices, each from nothing; that this GPU does so is an estimate",
    "room": "estimate: as in Giesen's article, between 16 and 64; no vendor publishes how many shaded vertices are remembered",
    "caches of vertices": "estimate: Giesen's article has such a cache; no vendor publishes its size",
    "queue": "estimate: Arm's article on forward pixel kill has a queue of fixed size; no source says which size",
    "small triangles": "estimate: Arm's article defers vertices of small triangles; how small is not published",
    "heap": "estimate: drivers let a heap grow to such a size; what happens then is PanVK's article (incremental rendering)",
    "calls": "estimate: a jump and a return",
    "fast clear": "Mesa, freedreno's table of devices (enable_lrz_fast_clear, from the A650 on), and its document, \"LRZ Fast-Clear\"",
    "none": "there is no such thing",
}


class Figure(NamedTuple):
    """``value``, and where it is from: a key of :data:`SOURCES`."""

    value: float
    source: str

    @property
    def estimated(self) -> bool:
        """No document says so."""
        return "estimate" in SOURCES[self.source]


    @property
    def text(self) -> str:
        """The value; a star stands behind an estimate."""
        value = f"{self.value:,.0f}" if self.value == int(self.value) else f"{self.value:g}"
        return value + (" *" if self.estimated else "")


@dataclasses.dataclass(frozen=True)
class Constants:
    """Of one profile. Everything is a :class:`Figure` but ``kind``: ``"buffer"`` (Mali's tile buffers), ``"gmem"`` (Adreno's), or
    ``"immediate"``. What each is stands beside it (:func:`rows_of`)."""

    kind: str
    cores: Figure = dataclasses.field(metadata={"is": "shader cores"})
    operations: Figure = dataclasses.field(metadata={"is": "arithmetic lanes of a core: one operation on one component each, a cycle"})
    texels: Figure = dataclasses.field(metadata={"is": "filtered texels of a core, a cycle"})
    pixels: Figure = dataclasses.field(metadata={"is": "pixels that a core writes (blends) to tile memory or to its colour cache, a cycle"})
    depth_tests: Figure = dataclasses.field(metadata={"is": "pixels that a core rasterizes and tests early, a cycle"})
    primitives: Figure = dataclasses.field(metadata={"is": "primitives that are set up, culled and binned, a cycle, by the whole GPU"})
    bus_B: Figure = dataclasses.field(metadata={"is": "bytes from and to external memory, a cycle, by the whole GPU"})
    l2_B: Figure = dataclasses.field(metadata={"is": "bytes of the cache between the cores and memory"})
    line_B: Figure = dataclasses.field(metadata={"is": "bytes of a line of the caches"})
    position_B: Figure = dataclasses.field(metadata={"is": "bytes of a vertex's position in memory between binning and the tiles"})
    entry_B: Figure = dataclasses.field(metadata={"is": "bytes of a primitive in the list of a tile, or in the visibility stream"})
    prepass_overlap: Figure = dataclasses.field(metadata={"is": "share of a pre-pass in the largest tile that others hide; 0: no pre-pass"})
    wave: Figure = dataclasses.field(metadata={"is": "invocations that a core runs together: a workgroup takes whole ones"})
    vertex_batch: Figure = dataclasses.field(metadata={"is": "shaded vertices that are remembered, in a batch or in a cache"})
    vertex_group: Figure = dataclasses.field(metadata={"is": "vertices of a request to a cache, from an aligned index on; 0: batches"})
    vertex_input_cache_B: Figure = dataclasses.field(metadata={"is": "bytes of the cache that vertices are fetched through: four ways"})
    kill_queue: Figure = dataclasses.field(metadata={"is": "groups of four fragments that forward pixel kill's queue holds; 0: none"})
    deferred_triangle_px2: Figure = dataclasses.field(metadata={"is": "bounding box of the largest triangle that is deferred; 0: none"})
    tiler_heap_B: Figure = dataclasses.field(metadata={"is": "bytes of binned primitives from which on a pass is split; 0: never"})
    lrz_clear_B: Figure = dataclasses.field(
        metadata={"is": "bytes at most of the bits that clear low-resolution Z, one for 16x4 texels; 0: none, it is cleared as a whole"}
    )
    blend_call: Figure = dataclasses.field(metadata={"is": "operations of a blend shader beside its equation; 0: nothing needs one"})


_INPUT, _HEAP = Figure(16 * 2**10, "caches of vertices"), Figure(128 * 2**20, "heap")
_ROOM, _FOUR, _BATCHES, _GATHERED = Figure(32, "room"), Figure(4, "requests"), Figure(0, "article"), Figure(1, "gathered")


def _mali(
    cores: Figure, operations: float, texels: float, pixels: float, bus_B: float, l2_MiB: float, *, overlap: float = 0.0,
    group: Figure = _FOUR, deferred: bool = True,
) -> Constants:
    return Constants(
        kind="buffer", cores=cores, operations=Figure(operations, "libGPUInfo"), texels=Figure(texels, "libGPUInfo"),
        pixels=Figure(pixels, "libGPUInfo"), depth_tests=Figure(4 * pixels, "early tests"), primitives=Figure(1, "set-up"),
        bus_B=Figure(bus_B, "bandwidth"), l2_B=Figure(l2_MiB * 2**20, "caches"), line_B=Figure(64, "lines"),
        position_B=Figure(16, "layout"), entry_B=Figure(4, "lists"),
        prepass_overlap=Figure(overlap, "overlap" if overlap else "none"), wave=Figure(16, "warps"),
        vertex_batch=_ROOM, vertex_group=group, vertex_input_cache_B=_INPUT, kill_queue=Figure(256, "queue"),
        deferred_triangle_px2=Figure(256, "small triangles") if deferred else Figure(0, "none"), tiler_heap_B=_HEAP,
        lrz_clear_B=Figure(0, "none"), blend_call=Figure(2, "calls"),
    )  # fmt: skip


def _adreno(cores: float, bus_B: float, l2_MiB: float, lrz_clear_B: float) -> Constants:
    return Constants(
        kind="gmem", cores=Figure(cores, "freedreno"), operations=Figure(256, "freedreno"), texels=Figure(8, "units"),
        pixels=Figure(8, "units"), depth_tests=Figure(32, "early tests"), primitives=Figure(1, "set-up"),
        bus_B=Figure(bus_B, "bandwidth"), l2_B=Figure(l2_MiB * 2**20, "caches"), line_B=Figure(64, "lines"),
        position_B=Figure(16, "layout"), entry_B=Figure(0.125, "streams"), prepass_overlap=Figure(0, "none"),
        wave=Figure(64, "warps"), vertex_batch=_ROOM, vertex_group=_BATCHES, vertex_input_cache_B=_INPUT,
        kill_queue=Figure(0, "none"), deferred_triangle_px2=Figure(0, "none"), tiler_heap_B=_HEAP,
        lrz_clear_B=Figure(lrz_clear_B, "fast clear"), blend_call=Figure(0, "none"),
    )  # fmt: skip


_PRODUCTS, _DEVICE = "names of products", "device"

#: By profile. ``host`` is not there: it is measured, not modelled.
CONSTANTS: dict[str, Constants] = {
    "immortalis-g925": _mali(Figure(12, _PRODUCTS), 128, 8, 4, 48, 4, overlap=0.95, group=_GATHERED),
    "mali-g725": _mali(Figure(7, _PRODUCTS), 128, 8, 4, 40, 2, overlap=0.95, group=_GATHERED),
    "mali-g625": _mali(Figure(4, _DEVICE), 128, 8, 4, 32, 1, overlap=0.95, group=_GATHERED),
    "immortalis-g920": _mali(Figure(12, _PRODUCTS), 128, 8, 4, 48, 4),
    "mali-g720": _mali(Figure(7, _PRODUCTS), 128, 8, 4, 40, 2),
    "mali-g610": _mali(Figure(4, _DEVICE), 64, 8, 4, 32, 1, deferred=False),
    "mali-g57": _mali(Figure(5, _DEVICE), 32, 4, 2, 32, 1, deferred=False),
    "adreno-a630": _adreno(2, 40, 1, 0),
    "adreno-a650": _adreno(3, 64, 1, 512),
    "adreno-a740": _adreno(6, 96, 2, 1024),
    "desktop-immediate": Constants(
        kind="immediate",
        cores=Figure(32, "units"),
        operations=Figure(128, "units"),
        texels=Figure(4, "units"),
        pixels=Figure(2, "units"),
        depth_tests=Figure(8, "early tests"),
        primitives=Figure(4, "set-up"),
        bus_B=Figure(256, "bandwidth"),
        l2_B=Figure(4 * 2**20, "caches"),
        line_B=Figure(64, "lines"),
        position_B=Figure(16, "layout"),
        entry_B=Figure(0, "none"),
        prepass_overlap=Figure(0, "none"),
        wave=Figure(32, "warps"),
        vertex_batch=_ROOM,
        vertex_group=_BATCHES,
        vertex_input_cache_B=_INPUT,
        kill_queue=Figure(0, "none"),
        deferred_triangle_px2=Figure(0, "none"),
        tiler_heap_B=Figure(0, "none"),
        lrz_clear_B=Figure(0, "none"),
        blend_call=Figure(0, "none"),
    ),
}


def rows_of(profile: str) -> list[tuple[str, Figure, str]]:
    """The constants of a profile of :data:`CONSTANTS`, in their order: name, figure, what it is."""
    row = CONSTANTS[profile]
    return [(f.name, getattr(row, f.name), f.metadata["is"]) for f in dataclasses.fields(row) if f.name != "kind"]
