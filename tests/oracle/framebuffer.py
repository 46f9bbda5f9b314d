"""A render pass on whole framebuffers, as the Vulkan specification words it: no tiles, no border, no spills, no compression.

Values are codes: whole numbers as they lie in the texel (depth of 32 bits: the float's bits, whose order is that of the numbers, for
depth is not negative). Every sample carries whether Vulkan defines it; what is not defined is not compared.

Source: Vulkan specification, "Render Pass Load Operations", "Render Pass Store Operations", "Render Pass Multisample Resolve Operations",
"Clearing Images Inside a Render Pass Instance", VK_EXT_multisampled_render_to_single_sampled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tests.oracle import formats as fm

Array = np.ndarray
Rect = tuple[int, int, int, int]  # x, y, width, height


@dataclass(frozen=True)
class Kind:
    """What the codes of a plane mean: a colour format, or depth or stencil of so many bits (32: float)."""

    color: fm.Format | None = None
    depth_bits: int = 0

    @property
    def components(self) -> int:
        return len(self.color.components) if self.color else 1

    @property
    def averages(self) -> bool:
        return not self.color.is_integer if self.color else self.depth_bits > 0

    def values(self, codes: Array) -> Array:
        """(..., components) codes as float64."""
        if self.color is None:
            return codes.astype(np.uint32).view(np.float32).astype(np.float64) if self.depth_bits == 32 else codes.astype(np.float64)
        parts = self.color.components
        return np.stack([fm.decode_component(self.color.numeric, c.bits, c.channel, codes[..., k]) for k, c in enumerate(parts)], -1)

    def codes(self, values: Array) -> Array:
        """The nearest codes of float64 values, rounded once."""
        if self.color is None:
            if self.depth_bits == 32:
                return values.astype(np.float32).view(np.uint32).astype(np.int64)
            return np.rint(values).astype(np.int64)
        parts = self.color.components
        rounded = [fm.encode_component(self.color.numeric, c.bits, c.channel, values[..., k]) for k, c in enumerate(parts)]
        return np.stack(rounded, -1)

    def reduce(self, codes: Array, mode: str) -> Array:
        """(..., samples, components) to (..., components)."""
        if mode == "sample_zero":
            return codes[..., 0, :]
        values = self.values(codes)
        if mode in ("min", "max"):
            at = values.argmin(-2) if mode == "min" else values.argmax(-2)
            return np.take_along_axis(codes, at[..., None, :], -2)[..., 0, :]
        mean = self.codes(values.mean(-2))
        for k, c in enumerate(self.color.components if self.color else ()):
            numeric = "unorm" if self.color.numeric == "srgb" and c.channel == 3 else self.color.numeric
            if numeric in ("unorm", "snorm"):
                # In whole numbers: the mean of the fractions would round its way to a tie's wrong side.
                code = codes[..., k]
                signed = np.where(code >> (c.bits - 1), code - (1 << c.bits), code) if numeric == "snorm" else code
                mean[..., k] = np.rint(signed.mean(-1)).astype(np.int64) & ((1 << c.bits) - 1)
        return mean


@dataclass
class Plane:
    """One aspect of an image: codes (layers, height, width, samples, components), and which samples are defined."""

    kind: Kind
    codes: Array
    known: Array
    lost: Array  # what a store operation made undefined
    stored: Array  # by layer: something was stored, copied or cleared
    in_rows: bool = True  # else what is known of contents is known of whole layers
    inexact: bool = False  # sRGB that was averaged: within 0.6 of a code

    @staticmethod
    def make(kind: Kind, layers: int, height: int, width: int, samples: int, in_rows: bool = True) -> Plane:
        shape = (layers, height, width, samples)
        known, lost, stored = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(layers, bool)
        return Plane(kind, np.zeros((*shape, kind.components), np.int64), known, lost, stored, in_rows)

    def readable(self, layer: int) -> bool:
        """Something is there, and nothing of it is undefined."""
        return bool(self.stored[layer] and not self.lost[layer].any())

    def note(self, part: slice, area: Array, lost: bool) -> None:
        """The area was stored, or lost."""
        height, width = area.shape
        whole = area.all() and (height, width) == self.lost.shape[1:3]
        if self.in_rows:
            self.lost[part, :height, :width][:, area] = lost
        elif lost or whole:
            self.lost[part] = lost
        if not lost:
            self.stored[part] = True


@dataclass
class Attachment:
    plane: Plane
    load: str
    store: str
    clear: tuple[int, ...]
    layer: int = 0
    resolve: Plane | None = None
    resolve_layer: int = 0
    mode: str = "average"


@dataclass
class Clear:
    target: int  # index in Pass.attachments
    rect: Rect
    codes: tuple[int, ...]


@dataclass
class Draw:
    """A flat-coloured shape on layer 0; `coverage` (height, width, samples)."""

    coverage: Array
    codes: list[tuple[int, ...]]  # of the colours, in order; all of them are written
    z: int = 0
    depth: str = "none"  # none, less, always: the latter two write
    stencil: str = "none"  # none, increment, replace
    reference: int = 0


@dataclass
class Pass:
    attachments: list[Attachment | None]  # colours, then depth, then stencil
    size: tuple[int, int]  # (width, height) of the framebuffer
    area: Rect
    samples: int
    layers: int = 1
    single_sampled: bool = False
    commands: list[Clear | Draw] = field(default_factory=list)


def inside(rect: Rect, size: tuple[int, int]) -> Array:
    x, y, w, h = rect
    mask = np.zeros((size[1], size[0]), bool)
    mask[max(0, y) : max(0, y + h), max(0, x) : max(0, x + w)] = True
    return mask


def run(p: Pass) -> None:
    """Renders the pass into the planes of its attachments."""
    width, height = p.size
    area = inside(p.area, p.size)
    tiles: list[Plane | None] = []
    written = [a is not None and a.load == "clear" for a in p.attachments]
    for a in p.attachments:
        if a is None:
            tiles.append(None)
            continue
        tile = Plane.make(a.plane.kind, p.layers, height, width, p.samples)
        if a.load == "clear":
            tile.codes[:] = a.clear
            tile.known[:] = True
        elif a.load == "load" or a.store == "none":  # nothing may be lost that the pass does not store
            part = slice(a.layer, a.layer + p.layers)
            tile.codes[:] = a.plane.codes[part, :height, :width]
            tile.known[:] = a.plane.known[part, :height, :width]
            if a.load != "load":
                tile.known[:] = False
            tile.inexact = a.plane.inexact
        tiles.append(tile)
    for command in p.commands:
        if isinstance(command, Clear):
            written[command.target] = True
            tile = tiles[command.target]
            assert tile is not None
            where = inside(command.rect, p.size) & area
            tile.codes[:, where] = command.codes
            tile.known[:, where] = True
        else:
            _draw(p, tiles, command, area)
            states = [True] * (len(tiles) - 2) + [command.depth != "none", command.stencil != "none"]
            written = [before or now for before, now in zip(written, states, strict=True)]
    for a, tile, wrote in zip(p.attachments, tiles, written, strict=True):
        if a is None or tile is None:
            continue
        part = slice(a.layer, a.layer + p.layers)
        nothing = a.load in ("dont_care", "none") and not wrote  # what is stored is as undefined as it was in the tile
        if a.resolve is not None:
            _write(a.resolve, a.resolve_layer, tile, a.mode, area, nothing)
        if a.store == "store":
            if p.single_sampled:
                mode = "average" if a.plane.kind.averages and a.plane.kind.color else "sample_zero"
                _write(a.plane, a.layer, tile, mode, area, nothing)
            else:
                a.plane.codes[part, :height, :width][:, area] = tile.codes[:, area]
                a.plane.known[part, :height, :width][:, area] = tile.known[:, area]
                a.plane.inexact |= tile.inexact
            a.plane.note(part, area, lost=nothing)
        elif a.store == "dont_care" or wrote:  # NONE promises that nothing was written; what was, makes the contents undefined
            a.plane.known[part, :height, :width][:, area] = False
            a.plane.note(part, area, lost=True)


def _draw(p: Pass, tiles: list[Plane | None], draw: Draw, area: Array) -> None:
    live = draw.coverage & area[..., None]
    *colors, depth, stencil = tiles
    if draw.depth == "less":
        assert depth is not None
        passes = draw.z < depth.codes[0, ..., 0]
    else:
        passes = np.ones_like(live)
    if draw.stencil != "none":
        assert stencil is not None
        wrote = live & passes  # the other operations are keep
        old = stencil.codes[0, ..., 0]
        stencil.codes[0, wrote, 0] = (old[wrote] + 1) & 255 if draw.stencil == "increment" else draw.reference
        if draw.stencil == "replace":
            stencil.known[0, wrote] = True
    live = live & passes
    if draw.depth != "none":
        assert depth is not None
        depth.codes[0, live, 0] = draw.z
        depth.known[0, live] = True
    for tile, codes in zip([t for t in colors if t is not None], draw.codes, strict=True):
        tile.codes[0, live] = codes
        tile.known[0, live] = True


def _write(target: Plane, layer: int, tile: Plane, mode: str, area: Array, lost: bool) -> None:
    """Samples reduced to the target's only one."""
    height, width = area.shape
    part = slice(layer, layer + len(tile.codes))
    reduced = tile.kind.reduce(tile.codes, mode)
    known = tile.known[..., 0] if mode == "sample_zero" else tile.known.all(-1)
    target.codes[part, :height, :width, 0][:, area] = reduced[:, area]
    target.known[part, :height, :width, 0][:, area] = known[:, area]
    target.note(part, area, lost=lost)
    srgb = tile.kind.color is not None and tile.kind.color.numeric == "srgb"
    target.inexact |= tile.inexact or (srgb and mode == "average")
