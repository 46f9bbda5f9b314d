"""Sampling of formats whose luma and chroma lie apart, in NumPy, to the bit: planes, reconstruction of chroma, range and model.

Source: Vulkan specification, "Format Definition" (multi-planar and _422 formats), "Chroma Reconstruction", "Sampler Y'CbCr Range
Expansion", "Sampler Y'CbCr Model Conversion". Where the specification leaves the order of roundings open, it is float32 with fused
multiply-adds: u = fma(s, size, -1/2), mixes fma(b - a, w, a) along x, then y; numbers are codes until the range divides them, once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
f32 = np.float32


def fma(a: Any, b: Any, c: Any) -> Array:
    """float32 a * b + c, rounded once: the product is exact in float64, the sum rounded to odd there, then to float32."""
    p = np.asarray(a, np.float64) * np.asarray(b, np.float64)
    c = np.asarray(c, np.float64)
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)
    even = (s.view(np.int64) & 1) == 0
    s = np.where((error != 0) & even & np.isfinite(s), np.nextafter(s, np.copysign(np.inf, error)), s)
    return s.astype(f32)


def divide(v: Array, by: int) -> Array:
    """v / by as a product with a reciprocal in two parts."""
    high = f32(1.0 / by)
    low = f32(1.0 / by - float(high))
    return fma(v, high, (v * low).astype(f32))


def mix(a: Array, b: Array, w: Array) -> Array:
    return fma((b - a).astype(f32), w, a)


@dataclass(frozen=True)
class Format:
    """From Vulkan's name."""

    name: str

    @property
    def bits(self) -> int:
        return int(re.match(r"[gb](\d+)", self.name)[1])  # type: ignore[index]

    @property
    def word(self) -> Any:
        return np.uint8 if self.bits == 8 else np.uint16

    @property
    def low(self) -> int:
        """Bits of a word that mean nothing."""
        return 0 if self.bits == 8 else 16 - self.bits

    @property
    def planes(self) -> int:
        found = re.search(r"(\d)plane", self.name)
        return int(found[1]) if found else 1

    @property
    def chroma(self) -> tuple[int, int]:
        """Columns and rows that share it."""
        return {"420": (2, 2), "422": (2, 1), "444": (1, 1)}[re.search(r"_(4\d\d)_", self.name)[1]]  # type: ignore[index]

    def random(self, size: tuple[int, int], rng: np.random.Generator) -> list[Array]:
        """Words of each plane, of packed formats blocks (H, W / 2, 4)."""
        (w, h), (x, y) = size, self.chroma
        small = (h // y, w // x)
        shapes = {1: [(h, w // 2, 4)], 2: [(h, w), (*small, 2)], 3: [(h, w), small, small]}[self.planes]
        return [rng.integers(0, np.iinfo(self.word).max + 1, shape).astype(self.word) for shape in shapes]

    def components(self, planes: list[Array]) -> tuple[Array, Array, Array]:
        """Codes of R, G and B, float32, each in its own resolution."""
        codes = [(p >> self.low).astype(f32) for p in planes]
        if self.planes == 3:
            return codes[2], codes[0], codes[1]
        if self.planes == 2:
            return codes[1][:, :, 1], codes[0], codes[1][:, :, 0]
        order = self.name.replace("x6", "").replace("x4", "").split("_")[0]  # g8b8g8r8
        at = [m[0] for m in re.findall(r"([rgb])(\d+)", order)]
        block = codes[0]
        luma = [k for k, letter in enumerate(at) if letter == "g"]
        green = np.stack([block[:, :, luma[0]], block[:, :, luma[1]]], 2).reshape(block.shape[0], -1)
        return block[:, :, at.index("r")], green, block[:, :, at.index("b")]


@dataclass(frozen=True)
class Conversion:
    model: str = "ycbcr_709"
    range: str = "itu_narrow"
    components: str = "rgba"
    x_chroma_offset: str = "cosited_even"
    y_chroma_offset: str = "cosited_even"
    chroma_filter: str = "nearest"
    force_explicit_reconstruction: bool = False


def _axis(coordinate: Array, size: int, linear: bool, move: float) -> tuple[Array, Array, Array | None]:
    """Lower and upper texel, clamped to the edge, and the weight of the upper one."""
    before = (1 / 512 - 0.5 if linear else 0.0) + move  # the nearest of 256 places (subTexelPrecisionBits)
    u = fma(coordinate, f32(size), f32(before)) if before else (coordinate * f32(size)).astype(f32)
    u = np.clip(u, f32(-(2.0**20)), f32(2.0**20))
    whole = np.floor(u)
    low = whole.astype(np.int64)
    fraction = (np.floor((u - whole) * 256) / 256).astype(f32) if linear else None
    return np.clip(low, 0, size - 1), np.clip(low + 1, 0, size - 1), fraction


def _filtered(codes: Array, x: tuple[Array, Array, Array | None], y: tuple[Array, Array, Array | None]) -> Array:
    def row(j: Array) -> Array:
        return codes[j, x[0]] if x[2] is None else mix(codes[j, x[0]], codes[j, x[1]], x[2])

    return row(y[0]) if y[2] is None else mix(row(y[0]), row(y[1]), y[2])


def _at_luma(codes: Array, i: Array, j: Array, steps: tuple[int, int], how: Conversion) -> Array:
    """Explicit reconstruction at luma's texel."""

    def axis(index: Array, step: int, size: int, location: str) -> tuple[Array, Array, Array | None]:
        if step == 1:
            return index, index, None
        if how.chroma_filter == "nearest":
            return index // 2, index, None
        at = 0.5 * (index - (0.5 if location == "midpoint" else 0.0))
        low = np.floor(at).astype(np.int64)
        return np.clip(low, 0, size - 1), np.clip(low + 1, 0, size - 1), (at - low).astype(f32)

    h, w = codes.shape
    return _filtered(codes, axis(i, steps[0], w, how.x_chroma_offset), axis(j, steps[1], h, how.y_chroma_offset))


def _reconstructed(format_: Format, planes: list[Array], s: Array, t: Array, linear: bool, how: Conversion) -> list[Array]:
    """R, G, B as filtered codes."""
    red, green, blue = format_.components(planes)
    steps = format_.chroma
    h, w = green.shape
    x, y = _axis(s, w, linear, 0), _axis(t, h, linear, 0)
    if how.force_explicit_reconstruction and steps != (1, 1):

        def texel(i: Array, j: Array) -> list[Array]:
            return [_at_luma(red, i, j, steps, how), green[j, i], _at_luma(blue, i, j, steps, how)]

        if not linear:
            return texel(x[0], y[0])
        rows = [
            [mix(a, b, x[2]) for a, b in zip(texel(x[0], j), texel(x[1], j), strict=True)]  # type: ignore[arg-type]
            for j in y[:2]
        ]
        return [mix(a, b, y[2]) for a, b in zip(*rows, strict=True)]  # type: ignore[arg-type]
    luma = _filtered(green, x, y)
    if steps == (1, 1):
        return [_filtered(red, x, y), luma, _filtered(blue, x, y)]
    chroma_linear = how.chroma_filter == "linear"
    moves = [
        0.25 if step == 2 and location == "cosited_even" else 0.0
        for step, location in zip(steps, (how.x_chroma_offset, how.y_chroma_offset), strict=True)
    ]
    ch, cw = red.shape
    cx, cy = _axis(s, cw, chroma_linear, moves[0]), _axis(t, ch, chroma_linear, moves[1])
    return [_filtered(red, cx, cy), luma, _filtered(blue, cx, cy)]


MODELS = {  # Kr, Kb of the primaries; the specification's factors follow from them
    "ycbcr_709": (0.2126, 0.0722),
    "ycbcr_601": (0.299, 0.114),
    "ycbcr_2020": (0.2627, 0.0593),
}


def convert(rgb: list[Array], bits: int, how: Conversion) -> Array:
    """(..., 4) of codes of R, G, B."""
    top = (1 << bits) - 1
    one = np.ones_like(rgb[0])
    letters = {"r": 0, "g": 1, "b": 2}
    alpha = {"0": 0 * one, "1": one, "a": one}[how.components[3]]
    r, g, b = (rgb[letters[c]] for c in how.components[:3])
    if how.model == "rgb_identity":
        return np.stack([divide(r, top), divide(g, top), divide(b, top), alpha], -1)
    if how.range == "itu_full":
        y = divide(g, top)
        cr, cb = (divide((c - f32(1 << (bits - 1))).astype(f32), top) for c in (r, b))
    else:
        scale = 1 << (bits - 8)
        y = divide((g - f32(16 * scale)).astype(f32), 219 * scale)
        cr, cb = (divide((c - f32(128 * scale)).astype(f32), 224 * scale) for c in (r, b))
    if how.model == "ycbcr_identity":
        return np.stack([cr, y, cb, alpha], -1)
    kr, kb = MODELS[how.model]
    kg = 1 - kr - kb
    red = fma(cr, f32(2 * (1 - kr)), y)
    green = fma(cr, f32(-2 * kr * (1 - kr) / kg), fma(cb, f32(-2 * kb * (1 - kb) / kg), y))
    blue = fma(cb, f32(2 * (1 - kb)), y)
    return np.stack([red, green, blue, alpha], -1)


def sample(format_: Format, planes: list[Array], s: Array, t: Array, linear: bool, how: Conversion) -> Array:
    """(n, 4) float32 at normalised coordinates."""
    return convert(_reconstructed(format_, planes, s.astype(f32), t.astype(f32), linear, how), format_.bits, how)
