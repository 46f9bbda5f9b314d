"""What a pass would cost on a modelled GPU: operations, bytes read and written, cycles, and what they are limited by.

In: what the pass counted (:class:`tilegpu.cost_counts.PassCounts`) and the profile's constants (:mod:`tilegpu.cost_constants`). Out:
:class:`PassCosts`. Pure arithmetic: the same counts give the same costs. The rules, with their sources, and what they leave out:
``docs/costs.md``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping

from tilegpu import notebook
from tilegpu.cost_constants import CONSTANTS, Constants
from tilegpu.cost_counts import BETWEEN, DrawCounts, PassCounts, Texture, TextureLines
from tilegpu.cost_memory import bytes_in_memory, missed_share, through_cache
from tilegpu.errors import ValidationError
from tilegpu.fixed import Told
from tilegpu.stats import bytes_text

_LARGEST_TILE_PX = 64 * 64  #: that a pre-pass's overlap is given for
_LRZ, _LRZ_CLEAR = "low-resolution Z", "low-resolution Z, clear"
_FEW_TILES = 2  #: Adreno's driver (Mesa, tu_util.cc) does not bin for so many

Amounts = Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class PassCosts(Told):
    """Of a pass, or of several. All by what it is for: ``arithmetic`` and ``texture`` operations, ``read_B`` and ``write_B`` of external
    memory; ``units``: cycles that each part of the GPU is busy; ``stall``: cycles that nothing hides; ``binning``: the same as ``units``
    of a pass over all geometry before the first tile (Adreno's), ``concurrent``: which may run while what comes before is rendered
    (A7xx). Printed, a table."""

    profile: str
    label: str
    arithmetic: Amounts
    texture: Amounts
    read_B: Amounts
    write_B: Amounts
    units: Amounts
    stall: float = 0.0
    #: False: operations are at most so many: those of branches are counted as if all were taken, or vertices of which tiles need some
    #: can't be told apart (they are shaded whole in a pre-pass, or other stages make primitives of them).
    exact: bool = True
    binning: Amounts = dataclasses.field(default_factory=dict)
    concurrent: bool = False
    invocations: Amounts = dataclasses.field(default_factory=dict)  #: of shaders, and of their parts, by what they are for

    @property
    def cycles(self) -> float:
        """Of the whole GPU: of the binning pass, of the unit that is busy longest afterwards, and what nothing hides."""
        return self.binning_cycles + max(self.units.values(), default=0.0) + self.stall

    @property
    def binning_cycles(self) -> float:
        """Of the binning pass alone."""
        return max(self.binning.values(), default=0.0)

    @property
    def busiest(self) -> str:
        """The unit that is busy longest, binning aside."""
        return max(self.units, key=lambda unit: self.units[unit]) if any(self.units.values()) else "nothing"

    @property
    def limited_by(self) -> str:
        """The unit that is busy longest, or ``"binning"`` where that takes longer."""
        return "binning" if self.binning_cycles > self.units.get(self.busiest, 0.0) else self.busiest

    def total(self, what: str) -> float:
        """The sum of ``"arithmetic"``, ``"texture"``, ``"read_B"`` or ``"write_B"``."""
        return float(sum(getattr(self, what).values()))

    def _rows(self) -> list[tuple[str, list[tuple[str, str]]]]:
        def counted(amounts: Amounts, text: Callable[[int], str]) -> list[tuple[str, str]]:
            return [(what, text(round(value))) for what, value in amounts.items()]

        units = [(what, f"{value:,.0f}") for what, value in sorted(self.units.items(), key=lambda item: -item[1]) if value]
        stall = [("waiting for the pre-pass", f"{self.stall:,.0f}")] if self.stall else []
        binning = [
            (f"binning, before the tiles: {what}", f"{value:,.0f}")
            for what, value in sorted(self.binning.items(), key=lambda item: -item[1])
            if value
        ]
        return [
            ("cycles", [("whole GPU", f"{self.cycles:,.0f}"), *units, *stall, *binning]),
            ("arithmetic operations" + ("" if self.exact else " (at most)"), counted(self.arithmetic, "{:,}".format)),
            ("texture operations", counted(self.texture, "{:,}".format)),
            (f"read, {bytes_text(round(self.total('read_B')))}", counted(self.read_B, bytes_text)),
            (f"written, {bytes_text(round(self.total('write_B')))}", counted(self.write_B, bytes_text)),
        ]

    def _head(self) -> str:
        return f"pass '{self.label}' on {self.profile}, modelled: {self.cycles:,.0f} cycles, limited by {self.limited_by}"

    def __str__(self) -> str:
        groups = [(title, rows) for title, rows in self._rows() if rows]
        width = max(len(what) for _, rows in groups for what, _ in rows)
        value_width = max(len(value) for _, rows in groups for _, value in rows)
        lines = [self._head()]
        for title, rows in groups:
            lines += [f"  {title}", *(f"    {what:<{width}}  {value:>{value_width}}" for what, value in rows)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = []
        for title, group in self._rows():
            rows += [(notebook.Html(f"<b>{notebook.escaped(title)}</b>"), ""), *group] if group else []
        return notebook.table(self._head(), (), rows, {1})

    def asdict(self) -> dict[str, object]:
        """Ready for JSON."""
        found = {name: dict(getattr(self, name)) for name in ("arithmetic", "texture", "read_B", "write_B", "units", "binning")}
        return {"profile": self.profile, "label": self.label, **found, "stall": self.stall, "cycles": self.cycles,
                "limited_by": self.limited_by, "exact": self.exact}  # fmt: skip


def constants_of(profile: str) -> Constants:
    """Raises :class:`ValidationError` for ``host`` and unknown names."""
    found = CONSTANTS.get(profile)
    if found is None:
        raise ValidationError(
            f"costs: profile '{profile}' has no cost model; there are {', '.join(CONSTANTS)}"
            + (" (host is this computer: its times are measured)" if profile == "host" else "")
        )
    return found


def quad_share(fragments: float, primitives: float) -> float:
    """Lanes that run for each fragment, 1 to 4, as quads are shaded whole: of convex primitives of this mean area, twice as wide as high
    triangles do for all. Their quads are those that the triangle, grown by a pixel, touches: (area + width + height + 1) / 4."""
    if not fragments or not primitives:
        return 1.0
    area = fragments / primitives
    quads = (area + 2 * math.sqrt(2 * area) + 1) / 4
    return min(4.0, max(1.0, 4 * min(quads, area) / area))


def costs_of(counts: PassCounts, constants: Constants | None = None) -> PassCosts:
    """Of one pass. ``constants``: others than its profile's."""
    k = constants or constants_of(counts.profile)
    work = _Work(counts, k)
    work.vertices()
    work.fragments()
    if work.in_memory:
        work.attachments_in_memory()
    else:
        work.attachments_in_tiles()
        work.binned()
    work.low_resolution_z()
    work.textures()
    return work.costs()


def sum_of(in_a_row: list[PassCosts], label: str) -> PassCosts:
    """Passes one after another, each of which follows the one before it in the list: what was picked from different places of a frame is no
    such list, as what of a binning pass the rendering before it does not hide is ``"binning"`` among the units. Cycles are added pass by
    pass, so that ``limited_by`` is what limits most of them."""

    def add(name: str) -> dict[str, float]:
        out: dict[str, float] = {}
        for one in in_a_row:
            for key, value in getattr(one, name).items():
                out[key] = out.get(key, 0) + value
        return out

    units = {unit: 0.0 for one in in_a_row for unit in one.units}
    total = 0.0
    for i, one in enumerate(in_a_row):
        if any(one.units.values()):
            units[one.busiest] += one.units[one.busiest]
        exposed = _exposed_binning(one, in_a_row[i - 1] if i else None)
        if exposed:
            units["binning"] = units.get("binning", 0.0) + exposed
        total += one.cycles - one.binning_cycles + exposed
    longest = max(units.values(), default=0.0)
    return PassCosts(
        in_a_row[0].profile if in_a_row else "", label, add("arithmetic"), add("texture"), add("read_B"), add("write_B"), units,
        total - longest, all(one.exact for one in in_a_row), invocations=add("invocations"),
    )  # fmt: skip


def _exposed_binning(one: PassCosts, before: PassCosts | None) -> float:
    """Cycles of a binning pass that the rendering before it does not hide. Both run on the same shader cores and bus, so that what they are
    busy with adds up; primitives have a processor of their own."""
    if before is None or not one.concurrent:
        return one.binning_cycles
    rendering = max(before.units.values(), default=0.0)
    shared = max((n + before.units.get(unit, 0.0) for unit, n in one.binning.items() if unit != "primitives"), default=0.0)
    return max(0.0, shared - rendering, one.binning_cycles - rendering)


def costs_of_command(profile: str, command: str, read_B: float, written_B: float) -> PassCosts:
    """Of a copy, blit, resolve, clear or mip chain: what it moves goes through the bus once."""
    what = command.replace("_", " ")
    read, written = ({what: float(n)} if n else {} for n in (read_B, written_B))
    return PassCosts(profile, what, {}, {}, read, written, {"bus": (read_B + written_B) / constants_of(profile).bus_B.value})


class _Work:
    """The sums of a pass while they are made."""

    def __init__(self, counts: PassCounts, constants: Constants) -> None:
        self.c, self.k = counts, constants
        self.arithmetic: dict[str, float] = {}
        self.texture: dict[str, float] = {}
        self.read_B: dict[str, float] = {}
        self.write_B: dict[str, float] = {}
        self.invocations: dict[str, float] = {}
        self.exact = True
        n = counts.counters
        #: Nothing is binned: an immediate-mode GPU, or a pass in sysmem.
        self.in_memory = constants.kind == "immediate" or n["rendered_in_sysmem"] > 0
        self.prepassed = "pre_pass" in counts.techniques and n["prepass_tiles"] > 0
        self.prepass_operations = 0.0
        self.helpers = {"arithmetic": 0.0, "texture": 0.0}  #: operations of lanes that are there for their quad alone
        #: Adreno's driver bins where there are more than two tiles; with fewer each tile gets all of the geometry.
        self.bins = constants.kind != "gmem" or n["bins"] > _FEW_TILES

    def _add(self, to: dict[str, float], what: str, count: float) -> None:
        if count:
            to[what] = to.get(what, 0.0) + count

    def _run(self, what: str, operations: object, times: float) -> float:
        arithmetic, texture = operations.arithmetic * times, operations.texture * times  # type: ignore[attr-defined]
        self._add(self.arithmetic, what, arithmetic)
        self._add(self.texture, what, texture)
        self._add(self.invocations, what, max(0.0, times))  # less of a part is as often the rest
        if times:
            self.exact = self.exact and operations.exact  # type: ignore[attr-defined]
        return float(arithmetic + texture)

    # -- vertices

    def vertices(self) -> None:
        """Positions up to three times, whole vertices at most twice; and what they fetch. All by the draw's own counts: what is drawn
        beside it changes nothing, but for what it hides."""
        footprint_B = float(self.c.counters["vertices_fetched_B"])
        for d in self.c.draws:
            v = d.vertices
            if not v:
                continue
            first = v["vertices_shaded"] + v["vertices_position_shaded"]
            again = 0.0
            if self._is_deferred(d):
                self._run("positions, binning", d.programs.position, v["vertices_position_shaded"])
                self._run_varyings(d, self._kept_whole(d))
                again = self._deferred(d)
            elif self.in_memory:
                self._run("vertices", d.programs.vertex, first)
            else:
                # Mali shades varyings of what is left after culling, Adreno the whole vertex, in each tile where it is seen.
                again = self._kept_in_tiles(d) if self.k.kind == "gmem" else self._kept(d)
                if not self.bins:
                    again = first * max(1.0, self.c.counters["bins"])
                self._run("positions, binning", d.programs.position, first if self.bins else 0)
                if self.k.kind == "gmem":
                    self._run("vertices, tiles", d.programs.vertex, again)
                else:
                    self._run_varyings(d, again)
                    again = 0.0
            once_B = v["vertices_fetched_B"]
            self._add(self.read_B, "indices", v["indices_fetched_B"])
            self._add(self.read_B, "vertices" if self.in_memory else "vertices, binning" if self.bins else "vertices, tiles", once_B)
            if again and first:
                more = again / first - (0 if self.bins else 1)
                self._add(self.read_B, "vertices, tiles", once_B * more * missed_share(footprint_B, self.k.l2_B.value))
        for name in BETWEEN.values():
            with_stage = [d.programs.between[name] for d in self.c.draws if name in d.programs.between]
            if with_stage:  # of several programs the dearest
                what = "vertices" if self.in_memory else "vertices, binning"
                self._run(what, max(with_stage, key=lambda o: o.arithmetic), self.c.counters[name])

    def _run_varyings(self, d: DrawCounts, times: float) -> None:
        """The rest of vertices whose positions binning has shaded already."""
        self._run("varyings, binning", d.programs.vertex, times)
        self._run("varyings, binning", d.programs.position, -times)

    def _is_deferred(self, d: DrawCounts) -> bool:
        """Whether binning shades positions alone, and tiles what its small triangles need."""
        return "deferred_vertex_shading" in self.c.techniques and d.vertices["vertices_position_shaded"] > 0

    def _cached(self, d: DrawCounts) -> float:
        """Runs of the vertex shader for each different vertex of a batch: a cache asks for its neighbours too, or has it from before."""
        v = d.vertices
        runs = v["vertices_position_shaded"] if self._is_deferred(d) else v["vertices_shaded"]
        return float(runs) / v["vertices_in_batches"] if v["vertices_in_batches"] else 0.0

    def _kept(self, d: DrawCounts) -> float:
        """Runs for the vertices that culling leaves. Stages behind the vertex shader make others of them: then all, if anything is left."""
        v = d.vertices
        if not d.programs.between:  # a primitive that is cut has more corners than vertices
            return self._cached(d) * min(v["vertices_kept"], v["vertices_in_batches"])
        self.exact = self.exact and v["primitives_out"] == v["primitives_in"]
        return float(v["vertices_shaded"]) if v["primitives_out"] else 0.0

    def _kept_whole(self, d: DrawCounts) -> float:
        """Of a draw with deferred vertices, what binning shades to the end: batches with a large triangle, less what culling took."""
        return min(float(d.vertices["vertices_shaded"]), self._kept(d))

    def _kept_in_tiles(self, d: DrawCounts) -> float:
        """The same in each tile that has them, without what was rejected while binning."""
        v = d.vertices
        if not d.programs.between:
            return self._cached(d) * v["vertices_kept_in_tiles"]
        self.exact = False  # which of them a tile needs is not known
        return v["vertices_shaded"] * v["bin_entries"] / v["primitives_out"] if v["primitives_out"] else 0.0

    def _deferred(self, d: DrawCounts) -> float:
        """Runs of vertices in tiles. Without a pre-pass every vertex of a tile is shaded; with one, positions alone are, or whole vertices
        where the fragment shader decides about coverage, and then again what is seen; of what the pre-pass did not hold, all."""
        v, before = d.vertices, 0.0
        if not self.prepassed:
            self._run("vertices, tiles", d.programs.vertex, v["vertices_in_tiles"])
            return float(v["vertices_in_tiles"])
        before = v["vertices_positioned_in_prepass"] + v["vertices_shaded_in_prepass"]
        self.prepass_operations += self._run("positions, pre-pass", d.programs.position, v["vertices_positioned_in_prepass"])
        self.prepass_operations += self._run("vertices, pre-pass", d.programs.vertex, v["vertices_shaded_in_prepass"])
        # Whole vertices of the pre-pass are not told from those that are seen after it.
        self.exact = self.exact and not (v["vertices_shaded_in_prepass"] and v["vertices_shaded_after_prepass"])
        main = min(float(v["vertices_in_tiles"]), v["vertices_in_tiles"] - before + float(v["vertices_shaded_after_prepass"]))
        self._run("vertices, tiles", d.programs.vertex, main)
        return before + main

    # -- fragments

    def fragments(self) -> None:
        """Whole fragment shaders, and slices up to known coverage; beside them helpers, as they were counted, else by the mean triangle of
        the draw: what of it is hidden makes no quads, and tiles cut none."""
        for d in self.c.draws:
            shaded, programs = self._shaded(d), d.programs
            self._run("fragments", programs.fragment, shaded)
            times = self._blend_shaders(d, shaded)
            sliced = self._run("coverage, pre-pass" if self.prepassed else "coverage", programs.coverage, d.sliced)
            self.prepass_operations += sliced if self.prepassed else 0.0
            mean = quad_share(d.rasterized, d.vertices["primitives_out"]) - 1 if d.vertices else 0.0
            of_shaded = mean if d.helper_share is None else d.helper_share
            of_sliced = mean if d.sliced_helper_share is None else d.sliced_helper_share
            for what in self.helpers:
                self.helpers[what] += getattr(programs.fragment, what) * shaded * of_shaded * times
                self.helpers[what] += getattr(programs.coverage, what) * d.sliced * of_sliced

    def _blend_shaders(self, d: DrawCounts, shaded: int) -> int:
        """Colours that the fixed unit can't blend: what is left of a fragment jumps to a blend shader and back, for each of its samples;
        and so that it knows which, the whole fragment shader runs once for each. Returns how often it runs."""
        programs, samples = d.programs, self.c.samples
        if not programs.blend_targets:
            return 1
        of_one = programs.blend_operations + self.k.blend_call.value * programs.blend_targets
        self._add(self.arithmetic, "blend shaders", d.written * samples * of_one)
        if samples == 1 or programs.per_sample:
            return 1
        self._run("fragments, for each sample of blend shaders", programs.fragment, shaded * (samples - 1))
        return samples

    def _color_writes(self, d: DrawCounts) -> float:
        """Accesses of pixels in tile memory, up to four samples at once; a blend shader reads and writes each by itself."""
        if not d.programs.color_B:
            return 0.0
        by_unit = max(1, d.programs.color_targets) - d.programs.blend_targets
        return d.written * (by_unit * max(1.0, self.c.samples / 4) + 2 * d.programs.blend_targets * self.c.samples)

    def _shaded(self, d: DrawCounts) -> int:
        # Of a shader that decides coverage no test comes first but the hierarchical Z of this host, whose bins are no GPU's.
        late = self.k.kind == "immediate" and d.programs.decides_coverage and d.programs.writes_depth
        return max(d.shaded, d.rasterized) if late else d.shaded

    # -- bytes

    def attachments_in_tiles(self) -> None:
        """By the pass's ledger."""
        for what, causes in (("attachments loaded", ("load", "border_load")), ("spills", ("spill_load",))):
            self._add(self.read_B, what, self.c.bytes(*causes))
        for what, causes in (("attachments stored", ("store", "border_store")), ("resolved", ("resolve",)), ("spills", ("spill_store",))):
            self._add(self.write_B, what, self.c.bytes(*causes))

    def attachments_in_memory(self) -> None:
        """By draws, attachment by attachment."""
        for to, found in zip((self.read_B, self.write_B), bytes_in_memory(self.c, self.k.l2_B.value), strict=True):
            for what, count in found.items():
                self._add(to, what, count)

    def binned(self) -> None:
        """What goes from binning to the tiles through memory: lists or visibility streams, and of what is not deferred positions and
        varyings."""
        n = self.c.counters
        if not self.bins:
            return
        if self.k.kind == "gmem":
            stream_B = float(n["visibility_stream_B"])
            self._add(self.write_B, "visibility stream", stream_B)
            self._add(self.read_B, "visibility stream", stream_B)
            return
        lists_B = n["bin_entries"] * self.k.entry_B.value
        self._add(self.write_B, "lists of tiles", lists_B)
        self._add(self.read_B, "lists of tiles", lists_B)
        read_B = footprint_B = 0.0
        for d in self.c.draws:
            if not d.vertices:
                continue
            # Deferred: vertices that were shaded whole while binning are those of large triangles. Else: all positions, and varyings of
            # what is left after culling.
            positions = float(d.vertices["vertices_shaded"])
            shaded = self._kept_whole(d) if self._is_deferred(d) else self._kept(d)
            each_B = self.k.position_B.value + d.programs.varyings_B
            self._add(self.write_B, "vertices", positions * self.k.position_B.value + shaded * d.programs.varyings_B)
            read_B += d.vertices["vertices_kept_in_tiles"] * each_B
            footprint_B += d.vertices["vertices_kept"] * each_B
        self._add(self.read_B, "vertices, from binning", through_cache(read_B, footprint_B, self.k.l2_B.value))

    def low_resolution_z(self) -> None:
        """What the pass did with its buffer: cleared, by bits or as a whole; written while binning, or by feedback from the tiles; read by
        the tiles where draws are tested. In memory nothing is binned, so that there is feedback alone, which came with the fast clear
        (both from the A650 on, Mesa's table of devices): before, nothing is ever in it there."""
        z = self.c.low_resolution_z
        if z is None:
            return
        limit_B = self.k.lrz_clear_B.value
        fast = z.clear_bits_B <= limit_B if z.fast_clear is None else z.fast_clear
        if z.clears:
            self._add(self.write_B, _LRZ_CLEAR, z.clear_bits_B if fast else z.buffer_B)
        if self.in_memory and not limit_B:
            return
        if z.written and not self.in_memory:
            self._add(self.write_B, _LRZ, z.modified_B)
        moved_B = 2.0 * self.c.counters["lrz_feedback_texels"]
        self._add(self.write_B, "low-resolution Z, feedback", min(moved_B, z.modified_B))
        if z.tested:
            self._add(self.read_B, _LRZ, z.modified_B)

    def textures(self) -> None:
        """Of each image, all draws together, the lines that were read: those of each tile, as a core's cache has them, of which the L2
        lets through what it does not hold. Where nobody traced them, bounds: a texture operation brings a new texel where there are levels
        to choose from; else a line, until the level is there, and then a texel too."""
        late = tuple(dataclasses.replace(d, shaded=self._shaded(d)) for d in self.c.draws)
        reads, images = dataclasses.replace(self.c, draws=late).texture_reads()
        if self.c.texture_lines is not None:
            for line in self.c.texture_lines:
                texture = images.get(line.image)
                if texture is None or not texture.in_tile:
                    self._traced_texture(line, reads.get(line.image, 0.0), texture)
            return
        for image, t in images.items():
            if t.in_tile:
                continue
            fetched_B = reads[image] * t.texel_B
            if t.levels == 1:
                fetched_B = max(fetched_B, min(float(t.level_B), reads[image] * self.k.line_B.value))
            self._add(self.read_B, "textures", through_cache(fetched_B, t.size_B, self.k.l2_B.value))

    def _traced_texture(self, line: TextureLines, reads: float, texture: Texture | None) -> None:
        more = reads / line.reads if line.reads else 1.0
        moved_B, once_B = line.tile_lines * more * self.k.line_B.value, line.lines * min(1.0, more) * self.k.line_B.value
        if texture is not None and texture.levels > line.levels:  # with levels: a new texel at most, each time
            moved_B = min(moved_B, reads * texture.texel_B)
            once_B = min(once_B, moved_B)
        self._add(self.read_B, "textures", through_cache(moved_B, once_B, self.k.l2_B.value))

    # -- cycles

    def _binning(self) -> dict[str, float]:
        """Adreno's pass over all geometry before the first tile: positions, set-up and culling, what it fetches and writes."""
        if self.k.kind != "gmem" or self.in_memory or not self.bins:
            return {}
        k = self.k
        moved_B = sum(self.read_B.get(name, 0.0) for name in ("indices", "vertices, binning"))
        moved_B += sum(self.write_B.get(name, 0.0) for name in ("visibility stream", _LRZ_CLEAR, _LRZ))
        positions = sum(n for what, n in self.arithmetic.items() if what.endswith(", binning"))
        return {
            "arithmetic": positions / (k.operations.value * k.cores.value),
            "primitives": self.c.counters["primitives_in"] / k.primitives.value,
            "bus": moved_B / k.bus_B.value,
        }

    def costs(self) -> PassCosts:
        k, n = self.k, self.c.counters
        rasterized = float(n["fragments_rasterized"])
        # The main pass rasterizes again what is seen: a primitive without samples of its own is culled, in whatever order it came.
        again = sum(min(d.rasterized, d.shaded) * d.prepass_share for d in self.c.draws)
        written = sum(self._color_writes(d) for d in self.c.draws)
        binning = self._binning()
        binned = n["bin_entries"] if binning else max(n["primitives_in"], n["bin_entries"])
        if not self.bins:
            binned = n["primitives_in"] * max(1, n["bins"])
        units = {
            "arithmetic": (sum(self.arithmetic.values()) + self.helpers["arithmetic"]) / (k.operations.value * k.cores.value),
            "texture": (sum(self.texture.values()) + self.helpers["texture"]) / (k.texels.value * k.cores.value),
            "depth tests": (rasterized + again) * max(1.0, self.c.samples / 4) / (k.depth_tests.value * k.cores.value),
            "colour writes": written / (k.pixels.value * k.cores.value),
            "primitives": binned / k.primitives.value,
            "bus": (sum(self.read_B.values()) + sum(self.write_B.values())) / k.bus_B.value,
        }
        stall = 0.0
        if self.prepassed:
            # The main pass of a tile waits for its pre-pass; smaller tiles hide less of it.
            exposed = min(1.0, (1 - k.prepass_overlap.value) * _LARGEST_TILE_PX / max(1, self.c.tile_px))
            tested = sum(d.rasterized * d.prepass_share for d in self.c.draws)
            busy = max(self.prepass_operations / (k.operations.value * k.cores.value), tested / (k.depth_tests.value * k.cores.value))
            stall = exposed * busy
        for unit in ("arithmetic", "bus") if binning else ():
            units[unit] -= binning[unit]  # it was added up with the rest
        clean = lambda amounts: {what: value for what, value in amounts.items() if value}  # noqa: E731
        return PassCosts(self.c.profile, self.c.label, clean(self.arithmetic), clean(self.texture), clean(self.read_B), clean(self.write_B),
                         units, stall, self.exact, binning, bool(binning) and self.c.binned_concurrently,
                         clean(self.invocations))  # fmt: skip
