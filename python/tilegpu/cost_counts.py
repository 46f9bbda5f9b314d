"""What a pass counted, as the cost model takes it: counters, bytes, and of each draw its programs and what ran of them.

In: a submission whose pass was traced. Out: :class:`PassCounts`. Operations are counted once for each run of draws with the same state.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tilegpu import _core
from tilegpu.errors import ValidationError
from tilegpu.operations import Operations, count

_VERTEX, _FRAGMENT = 1, 16
_ALL_COLORS, _STENCIL = 0xFF, 1 << 9  # of written_targets: eight colours, depth, stencil
#: Stages between the two, and what counts their invocations.
BETWEEN = {
    2: "control_invocations", 4: "evaluation_invocations", 8: "geometry_invocations", 64: "task_invocations", 128: "mesh_invocations",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Texture:
    """A view that a fragment shader reads: ``texel_B`` may be less than 1, of compressed formats. ``chain``: it could have a mip chain:
    no depth, which is compared, and nothing that was just drawn; ``shape``: format, width and height; ``in_tile``: it is read there, as an
    input attachment, and nothing is fetched."""

    image: int
    levels: int
    level_B: int
    size_B: int
    texel_B: float
    chain: bool = True
    shape: tuple[str, int, int] = ("", 0, 0)
    in_tile: bool = False


@dataclasses.dataclass(frozen=True)
class TextureLines:
    """Cache lines of an image that fragment shaders read, each a block of texels: ``lines`` different ones of the pass, ``tile_lines`` of
    each tile, added up. ``reads``: texture operations of the draws on it, and ``levels`` of its views, when they were counted: what a
    change makes of the draws, changes them by as much."""

    image: int
    lines: float
    tile_lines: float
    reads: float
    levels: int


@dataclasses.dataclass(frozen=True)
class Programs:
    """What some draws run; operations of one invocation."""

    pipeline: str
    fragment: Operations
    coverage: Operations  #: of the fragment shader, up to known coverage
    vertex: Operations
    position: Operations  #: of the vertex shader, for the position alone
    between: Mapping[str, Operations]  #: by the counter of their invocations
    textures: tuple[Texture, ...]
    varyings_B: int
    color_B: int  #: of a sample, in all colour targets that are written
    color_targets: int
    decides_coverage: bool
    reads_tile: bool
    tests_depth: bool
    writes_depth: bool
    per_sample: bool = False  #: it asks to be run for each sample
    opaque: bool = True  #: overwrites what is below, if it writes colours
    written_colors: int = 0  #: a bit for each
    writes_stencil: bool = False
    blend_targets: int = 0  #: colours that a blend shader blends, and what it executes for one sample in all of them
    blend_operations: int = 0


@dataclasses.dataclass(frozen=True)
class DrawCounts:
    """One draw: its programs, and what ran of them."""

    draw: int
    programs: Programs
    rasterized: int = 0
    shaded: int = 0
    sliced: int = 0
    unseen: int = 0  #: shaded and overwritten
    killed: int = 0  #: shaded and discarded, or late killed
    vertices: Mapping[str, int] = dataclasses.field(default_factory=dict)  #: as of ``draw_vertices``
    #: Invocations that run for their quad alone, for each fragment that is shaded, and sliced; ``None``: not counted.
    helper_share: float | None = None
    prepass_share: float = 0.0  #: of its fragments: those that a pre-pass tested, by the tiles where none had ended before it
    sliced_helper_share: float | None = None
    more_pixels: int = 0  #: that shaded fragments were for, beyond one each (fragment shading rate)

    @property
    def written(self) -> int:
        """Pixels of fragments that were shaded and left something in the attachments there."""
        return max(0, self.shaded + self.more_pixels - self.killed)

    @property
    def unseen_fragments(self) -> int:
        """Shaded fragments of which nothing is seen; those of several pixels by their share of pixels."""
        return self.unseen * self.shaded // (self.shaded + self.more_pixels) if self.more_pixels else self.unseen


@dataclasses.dataclass(frozen=True)
class LowResolutionZCounts:
    """What a pass did with low-resolution Z. ``buffer_B``: of one direction, 16 bits for 8x8 samples; ``modified_B``: of all directions,
    the blocks that the bits of the fast clear name, else everything; ``tested``, ``written``: by some draw, ``written`` while it is
    binned; ``fast_clear``: ``None``: nobody asked for a buffer, so it goes by its size."""

    buffer_B: float
    clear_bits_B: float
    modified_B: float
    clears: bool
    tested: bool
    written: bool
    fast_clear: bool | None = None

    def of_samples(self, share: float) -> LowResolutionZCounts:
        """With another number of samples a pixel."""
        sizes = {name: getattr(self, name) * share for name in ("buffer_B", "clear_bits_B", "modified_B")}
        return dataclasses.replace(self, **sizes)  # type: ignore[arg-type]


@dataclasses.dataclass(frozen=True)
class PassCounts:
    """A pass on one profile. ``layout``, ``load``, ``store``: the framebuffer's pieces; ``techniques``: what was on, by the names of
    ``hsr=``."""

    label: str
    profile: str
    counters: Mapping[str, Any]
    traffic: Mapping[str, Mapping[str, int]]
    layout: Mapping[str, Any]
    load: Mapping[str, Any]
    store: Mapping[str, Any]
    techniques: frozenset[str]
    draws: tuple[DrawCounts, ...]
    texture_lines: tuple[TextureLines, ...] | None = None  #: ``None``: not traced
    #: It may be binned while what comes before it is rendered (A7xx).
    binned_concurrently: bool = False
    low_resolution_z: LowResolutionZCounts | None = None  #: ``None``: the technique is off

    def bytes(self, *causes: str) -> int:
        """Bytes of some causes, all attachments."""
        return sum(int(row.get(cause, 0)) for row in self.traffic.values() for cause in causes)

    @property
    def samples(self) -> int:
        """For each pixel."""
        return int(self.layout["samples"])

    def loads_samples(self, attachment: str) -> bool:
        """Whether all samples of an attachment are loaded: its image has as many as the tile, which it need not."""
        return self.samples > 1 and bool(self.load[attachment]["msaa"] == "all")

    def stores_samples(self, attachment: str) -> bool:
        """Whether all samples of an attachment are stored; else one a pixel is, by a resolve on its way or of one sample."""
        return self.samples > 1 and bool(self.store[attachment]["samples"]["msaa"] == "all")

    def loads(self, attachment: str) -> bool:
        """Whether what its image holds is loaded when the pass begins; not what parts of a split pass load of one another."""
        load = self.load.get(attachment, {})
        return bool(load.get("in_bounds") == "image" and not load.get("for_splits"))

    def clears(self, attachment: str) -> bool:
        """Whether it is cleared when the pass begins."""
        return bool(self.load.get(attachment, {}).get("in_bounds") == "clear")

    def spreads_samples(self, attachment: str) -> bool:
        """Whether an image of one sample a pixel is loaded to several of the pass."""
        return self.samples > 1 and self.loads(attachment) and not self.loads_samples(attachment)

    def resolve_modes(self, attachment: str) -> list[str]:
        """How samples become one a pixel: of what is stored itself, and of ``resolve=`` beside it."""
        pieces = [piece for piece in self.store.get(attachment, {}).values() if piece["store"]] if self.samples > 1 else []
        return [str(piece["msaa"]) for piece in pieces if piece["msaa"] not in ("all", "none")]

    def resolves(self, attachment: str) -> bool:
        """Whether it is resolved in the tile."""
        return bool(self.store[attachment]["resolved"]["store"])

    def texture_reads(self) -> tuple[dict[int, float], dict[int, Texture]]:
        """By image: texture operations of fragment shaders, spread over the images of a draw; and its largest view."""
        reads: dict[int, float] = {}
        images: dict[int, Texture] = {}
        for d in self.draws:
            count = d.shaded * d.programs.fragment.texture + d.sliced * d.programs.coverage.texture
            for t in d.programs.textures:
                reads[t.image] = reads.get(t.image, 0.0) + count / len(d.programs.textures)
                if t.image not in images or images[t.image].size_B < t.size_B:
                    images[t.image] = t
        return reads, images

    @property
    def tile_px(self) -> int:
        """Pixels of a tile; 0 where there are none."""
        return int(self.layout["tile_width_px"] * self.layout["tile_height_px"])


@functools.cache
def _formats() -> dict[int, Any]:
    found = (_core.find_format(name) for name in _core.format_names())
    return {info.number: info for info in found if info is not None}


def texel_B(name: str) -> int:
    """Bytes of a texel of a format; 0 for ``"none"``."""
    info = None if name == "none" else _core.find_format(name)
    return 0 if info is None else info.texel_B


def _texture(row: Mapping[str, Any]) -> Texture:
    info = _formats()[row["format"]]
    width_px, height_px = info.block_px
    return Texture(row["image"], row["levels"], row["level_B"], row["size_B"], info.texel_B / (width_px * height_px),
                   not info.is_depth_stencil, (info.name, row["width_px"], row["height_px"]))  # fmt: skip


def _color_B(layout: Mapping[str, Any], targets: int) -> tuple[int, int]:
    written = [texel_B(name) for i, name in enumerate(layout["color_formats"]) if targets >> i & 1 and name != "none"]
    return sum(written), len(written)


def _programs(row: Mapping[str, Any], layout: Mapping[str, Any]) -> Programs:
    stages = {stage: (spirv, dict(constants)) for stage, spirv, constants in row["stages"]}

    def of(stage: int, part: str = "all") -> Operations:
        return count(*stages[stage], part) if stage in stages else Operations()

    color_B, color_targets = _color_B(layout, row["written_targets"])
    # What no stage behind it reads, a driver's compiler takes out: of a draw of depth alone all but the position.
    whole = row["varyings_B"] or row["vertex_writes_memory"] or stages.keys() - {_VERTEX, _FRAGMENT}
    return Programs(
        pipeline=row["pipeline"], fragment=of(_FRAGMENT), coverage=of(_FRAGMENT, "coverage"),
        vertex=of(_VERTEX, "all" if whole else "position"),
        position=of(_VERTEX, "position"), between={name: of(stage) for stage, name in BETWEEN.items() if stage in stages},
        textures=tuple(_texture(t) for t in row["textures"] if t["stage"] == _FRAGMENT), varyings_B=row["varyings_B"],
        color_B=color_B, color_targets=color_targets, decides_coverage=row["decides_coverage"], reads_tile=row["reads_tile"],
        tests_depth=row["tests_depth"], writes_depth=row["writes_depth"], per_sample=row["per_sample"],
        opaque=row["opaque"], written_colors=row["written_targets"] & _ALL_COLORS, writes_stencil=bool(row["written_targets"] & _STENCIL),
        blend_targets=row["blend_shader_targets"], blend_operations=row["blend_shader_operations"],
    )  # fmt: skip


def counts_of(
    submission: _core.Submission, index: int, label: str, profile: str, techniques: Sequence[str], trace: Mapping[str, Any] | None
) -> PassCounts:
    """Of pass ``index``; ``techniques``: names that ``hsr=`` takes; ``trace``: its fragments, as ``submission.fragment_trace`` has them,
    or ``None``: then the pass's counters are spread over its draws, which makes no difference where all run the same programs. Raises
    :class:`ValidationError` where they don't."""
    import json  # what few programs need is loaded when they do

    counters = dict(submission.pass_stats(index).asdict())
    traffic = {name: dict(causes) for name, causes in counters.pop("traffic").items()}
    pieces = json.loads(submission.describe_framebuffer(index))
    layout = pieces["layout"]
    vertices = {row["draw"]: {k: v for k, v in row.items() if k != "draw"} for row in counters["draw_vertices"]}
    rows = [(_programs(row, layout), row) for row in submission.draw_programs(index)]
    if trace is None:
        costs = _spread(label, rows, counters, vertices)
    else:
        costs = dict(enumerate(trace["draws"]))
    draws: list[DrawCounts] = []
    for programs, row in rows:
        for draw in range(row["first_draw"], row["first_draw"] + row["draws"]):
            cost = costs.get(draw, {})
            killed = sum(cost.get(k, 0) for k in ("fragments_discarded", "fragments_late_killed"))
            draws.append(
                DrawCounts(draw, programs, cost.get("fragments_rasterized", 0), cost.get("fragments_shaded", 0),
                           cost.get("sliced_invocations", 0), cost.get("fragments_overwritten", 0), killed,
                           vertices.get(draw, {}), _share(cost, "helper_invocations", "fragments_shaded"),
                           _in_prepass(counters, programs, draw),
                           _share(cost, "sliced_helper_invocations", "sliced_invocations"), _more_pixels(cost))
            )  # fmt: skip
    names = frozenset(name.partition(":")[0] for name in techniques)
    low = submission.low_resolution_z(index)
    counts = PassCounts(
        label, profile, counters, traffic, layout, pieces["load"], pieces["store"], names, tuple(draws),
        binned_concurrently=not submission.concurrent_binning_off(index),
        low_resolution_z=None if low is None else _low_resolution_z(low, submission.explain(index), layout, draws),
    )  # fmt: skip
    if trace is None:
        return counts
    reads, images = counts.texture_reads()
    lines = tuple(
        TextureLines(
            image, once, of_tiles, reads.get(image, 0.0), images[image].levels if image in images else 1
        )
        for image, once, of_tiles in trace["textures"]
    )
    return dataclasses.replace(counts, texture_lines=lines)


#: Of low-resolution Z: a texel's pixels are 8x8 samples; a bit of the fast clear has 16x4 texels, and rows of texels are multiples of 32.
_TEXEL_PX = {1: (8, 8), 2: (8, 4), 4: (4, 4), 8: (4, 2), 16: (2, 2)}
_TEXEL_B, _BLOCK = 2, (16, 4)


def _low_resolution_z(
    low: Mapping[str, Any], explain: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], draws: Sequence[DrawCounts]
) -> LowResolutionZCounts:
    """By the core's own buffers, as the pass left them; of a pass without any (nobody tests or writes it) only its size."""
    width_px, height_px = _TEXEL_PX[int(layout["samples"])]
    columns, rows = -(-layout["width_px"] // width_px), -(-layout["height_px"] // height_px)
    modified = 0.0
    for buffer in low["buffers"]:
        assert buffer["texels"].shape == (rows, columns), "the same sum as the core's"
        blocks = buffer["modified"].astype(bool)
        of_block = blocks.repeat(_BLOCK[1], 0).repeat(_BLOCK[0], 1)[:rows, :columns]
        modified += _TEXEL_B * float(of_block.sum() if buffer["fast_clear"] else rows * columns)
    writes = {d.draw: d.programs.writes_depth for d in draws}
    reasons = [(row["low_resolution_z_off"], range(row["first_draw"], row["first_draw"] + row["draws"])) for row in explain]
    return LowResolutionZCounts(
        buffer_B=float(_TEXEL_B * rows * columns),
        clear_bits_B=math.ceil(columns / 32) * 2 * math.ceil(rows / 16) * 4 / 8,
        modified_B=modified,
        clears="LRZ_CLEAR" in low["events"],
        tested=any(not reason or reason.startswith("write off ") for reason, _ in reasons),
        written=any(not reason and any(writes.get(draw) for draw in numbers) for reason, numbers in reasons),
        fast_clear=low["buffers"][0]["fast_clear"] if low["buffers"] else None,
    )


def drawn_to(layout: Mapping[str, Any]) -> set[tuple[str, int, int]]:
    """Shapes of what a pass draws to."""
    names = [*layout["color_formats"], layout["depth_format"], layout["stencil_format"]]
    return {(name, layout["width_px"], layout["height_px"]) for name in names if name != "none"}


def without_chains(counts: PassCounts, shapes: Collection[tuple[str, int, int]]) -> PassCounts:
    """The same, where textures of these shapes are images that were made in the frame: they can have no mip chain from before. Another
    texture of such a shape counts as one."""

    return _with_textures(counts, lambda t: dataclasses.replace(t, chain=False) if t.shape in shapes else t)


def in_the_tile(counts: PassCounts, shapes: Sequence[tuple[str, int, int]]) -> PassCounts:
    """The same, where images of these shapes, one of each, are read in the tile. Where the pass reads more images of a shape, those that it
    fetches least of: what the change saves is not less then."""
    _, images = counts.texture_reads()
    fetched = {line.image: line.tile_lines for line in counts.texture_lines or ()}
    by_shape: dict[tuple[str, int, int], list[int]] = {}
    for image in sorted(images, key=lambda i: fetched.get(i, 0.0)):
        by_shape.setdefault(images[image].shape, []).append(image)
    there = {image for shape, of in by_shape.items() for image in of[: shapes.count(shape)]}
    return _with_textures(counts, lambda t: dataclasses.replace(t, in_tile=True) if t.image in there else t)


def _with_textures(counts: PassCounts, change: Callable[[Texture], Texture]) -> PassCounts:
    draws = [dataclasses.replace(d, programs=dataclasses.replace(d.programs, textures=tuple(map(change, d.programs.textures))))
             for d in counts.draws]  # fmt: skip
    return dataclasses.replace(counts, draws=tuple(draws))


def _in_prepass(counters: Mapping[str, Any], programs: Programs, draw: int) -> float:
    """The share of the tiles with a pre-pass in which it held ``draw``; what is not opaque and writes no depth it skips."""
    tiles = counters["prepass_tiles"]
    if not tiles or not (programs.opaque or programs.writes_depth):
        return 0.0
    # A clear inside the pass follows the draw, which was still taken.
    ended = sum(s["tiles"] for s in counters["prepass_stops"] if s["draw"] < draw or (s["draw"] == draw and s["rule"] != "clear"))
    return max(0.0, 1.0 - ended / tiles)


def _share(cost: Mapping[str, Any], helpers: str, of: str) -> float | None:
    if helpers not in cost:
        return None
    return float(cost[helpers]) / cost[of] if cost[of] else 0.0


def _more_pixels(cost: Mapping[str, Any]) -> int:
    if "pixels_shaded" in cost:
        return int(cost["pixels_shaded"] - cost["fragments_shaded"])
    return int(cost.get("coarse_pixels", 0) - cost.get("coarse_fragments", 0))


_SPREAD = ("fragments_rasterized", "fragments_shaded", "sliced_invocations", "fragments_discarded", "fragments_late_killed",
           "coarse_pixels", "coarse_fragments")  # fmt: skip


def _spread(
    label: str, rows: Sequence[tuple[Programs, Mapping[str, Any]]], counters: Mapping[str, Any], vertices: Mapping[int, Mapping[str, int]]
) -> dict[int, dict[str, int]]:
    """Fragments of draws, by their indices, where only the pass's are known; the first has what is left over."""
    if any(programs != rows[0][0] for programs, _ in rows):
        names = ", ".join(dict.fromkeys(f"'{programs.pipeline}'" for programs, _ in rows))
        raise ValidationError(
            f"pass '{label}': costs() needs the fragments of each draw, as its draws run different programs ({names}), and the pass "
            "can't be executed again to count them (it loads what it overwrites, was split, or its shaders write memory); "
            "let it count them while it is drawn: dev.render_pass(..., trace='fragments')"
        )
    draws = [draw for _, row in rows for draw in range(row["first_draw"], row["first_draw"] + row["draws"])]
    indices = sum(vertices.get(draw, {}).get("indices", 0) for draw in draws)
    found = {
        draw: {name: int(counters[name] * vertices.get(draw, {}).get("indices", 0) / indices) if indices else 0 for name in _SPREAD}
        for draw in draws
    }
    for name in _SPREAD if draws else ():
        found[draws[0]][name] += counters[name] - sum(one[name] for one in found.values())
    return found
