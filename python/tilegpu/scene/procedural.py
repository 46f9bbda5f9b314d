"""Textures made of noise, without files: the same pixels on every machine (integers, sums and products only)."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
F = np.float32


def random_numbers(seed: int, count: int) -> Array:
    """(count,) float32 in [0, 1): the upper 24 bits of a PCG64 stream, which NumPy keeps the same from version to version."""
    return (np.random.PCG64(seed).random_raw(count) >> np.uint64(40)).astype(F) / F(1 << 24)


def value_noise(size: int, cells: int, seed: int) -> Array:
    """(size, size) smooth periodic noise in 0..1 with ``cells`` lattice points to a side; ``cells`` divides ``size``."""
    lattice = random_numbers(seed, cells * cells).reshape(cells, cells)
    repeat = size // cells
    f = np.tile(np.arange(repeat, dtype=F) / F(repeat), cells)
    f = f * f * (3 - 2 * f)
    rows = lattice.repeat(repeat, 0) * (1 - f)[:, None] + np.roll(lattice, -1, 0).repeat(repeat, 0) * f[:, None]
    out: Array = rows.repeat(repeat, 1) * (1 - f) + np.roll(rows, -1, 1).repeat(repeat, 1) * f
    return out


def fractal_noise(size: int, cells: int, octaves: int, seed: int, gain: float = 0.5) -> Array:
    """(size, size) periodic sum of octaves, scaled to about 0..1."""
    total, weight = np.zeros((size, size), F), 0.0
    for k in range(octaves):
        if cells << k > size:
            break
        total += F(gain**k) * value_noise(size, cells << k, seed + k)
        weight += gain**k
    return total / F(weight)


def to_srgb8(linear: ArrayLike) -> NDArray[np.uint8]:
    """(H, W, 3) or (H, W) linear 0..1 to (H, W, 4) uint8 sRGB, opaque."""
    a = np.asarray(linear, F)
    if a.ndim == 2:
        a = np.repeat(a[..., None], 3, 2)
    out = np.full((*a.shape[:2], 4), 255, np.uint8)
    out[..., :3] = _srgb_table()[(np.clip(a, 0, 1) * F(65535)).astype(np.uint16)]
    return out


@functools.cache
def _srgb_table() -> NDArray[np.uint8]:
    """(65536,) 16-bit linear to sRGB."""
    a = [k / 65535 for k in range(65536)]
    encoded = [v * 12.92 if v <= 0.0031308 else 1.055 * math.pow(v, 1 / 2.4) - 0.055 for v in a]
    return (np.array(encoded) * 255 + 0.5).astype(np.uint8)


def mix(a: ArrayLike, b: ArrayLike, t: Array) -> Array:
    """(H, W, 3): from colour ``a`` to colour ``b`` by (H, W) ``t``."""
    t = t[..., None].astype(F)
    out: Array = np.asarray(a, F) * (1 - t) + np.asarray(b, F) * t
    return out


def smooth(low: float, high: float, x: Array) -> Array:
    """Hermite step from ``low`` to ``high``."""
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def normal_map(height: Array, strength: float) -> NDArray[np.uint8]:
    """(H, W, 4) uint8 tangent-space normals of a periodic height field; +y is up (towards row 0)."""
    dx = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) * strength
    dy = (np.roll(height, -1, 0) - np.roll(height, 1, 0)) * strength
    n = np.stack([-dx, dy, np.ones_like(dx)], -1)
    n /= np.sqrt((n * n).sum(-1, keepdims=True))
    out = np.full((*height.shape, 4), 255, np.uint8)
    out[..., :3] = ((n * 0.5 + 0.5) * 255 + 0.5).astype(np.uint8)
    return out


@functools.cache
def marble_floor(size: int = 1024) -> NDArray[np.uint8]:
    """Four tiles of two marbles in a chequer with grout between; (size, size, 4) sRGB."""
    warp = fractal_noise(size, 4, 5, 11)
    fine = fractal_noise(size, 16, 5, 23)
    vein = 1 - np.abs(2 * ((3.0 * warp + 0.6 * fine) % 1) - 1)
    vein = smooth(0.86, 1.0, vein)
    cloud = fractal_noise(size, 4, 6, 41)
    dark = mix(mix([0.030, 0.034, 0.040], [0.075, 0.080, 0.088], cloud), [0.42, 0.38, 0.30], vein * 0.75)
    light = mix(mix([0.52, 0.48, 0.42], [0.74, 0.71, 0.65], cloud), [0.30, 0.25, 0.19], vein * 0.6)
    y, x = np.mgrid[0:size, 0:size]
    half = size // 2
    chequer = ((x // half + y // half) & 1).astype(F)
    edge = np.minimum(np.minimum(x % half, half - 1 - x % half), np.minimum(y % half, half - 1 - y % half))
    colour = dark * (1 - chequer[..., None]) + light * chequer[..., None]
    # A brass inlay follows the grout.
    inlay = smooth(5.0, 7.0, edge.astype(F))
    brass = np.array([0.45, 0.30, 0.10], F) * (0.8 + 0.4 * fine[..., None])
    return to_srgb8(brass * (1 - inlay[..., None]) + colour * inlay[..., None])


@functools.cache
def stone(size: int = 512) -> NDArray[np.uint8]:
    """Dark green serpentine; (size, size, 4) sRGB."""
    warp, fine = fractal_noise(size, 4, 6, 5), fractal_noise(size, 32, 4, 9)
    vein = smooth(0.9, 1.0, 1 - np.abs(2 * ((4 * warp + 0.5 * fine) % 1) - 1))
    return to_srgb8(mix(mix([0.012, 0.030, 0.024], [0.045, 0.095, 0.072], warp), [0.34, 0.42, 0.33], vein * 0.55))


@functools.cache
def jade(size: int = 512) -> NDArray[np.uint8]:
    """Polished jade; (size, size, 4) sRGB."""
    warp, fine = fractal_noise(size, 4, 6, 71), fractal_noise(size, 16, 5, 73)
    return to_srgb8(
        mix(
            mix([0.06, 0.25, 0.13], [0.30, 0.55, 0.34], smooth(0.25, 0.75, warp)),
            [0.62, 0.72, 0.52],
            fine * fine * fine,
        )
    )


@functools.cache
def ceramic(size: int = 512) -> NDArray[np.uint8]:
    """A glaze with painted bands: white ground, cobalt scales and lines, v along the vase; (size, size, 4) sRGB."""
    y, x = np.mgrid[0:size, 0:size] / size
    cloud = fractal_noise(size, 8, 5, 31)
    cells = 12
    row = np.floor(y * 18)
    u = (x * cells + 0.5 * (row % 2)) % 1 - 0.5
    v = (y * 18) % 1
    arc = np.sqrt(u * u * 2.6 + v * v)
    scales = smooth(0.03, 0.06, np.abs(arc - 0.86)) * smooth(0.03, 0.06, np.abs(arc - 0.60))
    body = (y > 0.30) & (y < 0.74)
    paint = np.where(body, 1 - scales, 0.0)
    for line, width in ((0.115, 0.010), (0.20, 0.004), (0.27, 0.012), (0.765, 0.012), (0.80, 0.004), (0.93, 0.02)):
        paint = np.maximum(paint, 1 - smooth(width * 0.8, width, np.abs(y - line)))
    waves = np.abs(((x * 24) % 1) - 0.5) * 2
    paint = np.maximum(
        paint, np.where((y > 0.215) & (y < 0.255), 1 - smooth(0.25, 0.4, np.abs(waves - (y - 0.215) / 0.04)), 0)
    )
    cobalt = mix([0.010, 0.030, 0.20], [0.035, 0.085, 0.38], cloud)
    ground = mix([0.74, 0.75, 0.74], [0.82, 0.82, 0.80], cloud)
    return to_srgb8(ground * (1 - paint[..., None]) + cobalt * paint[..., None])


@functools.cache
def hammered(size: int = 512) -> NDArray[np.uint8]:
    """Normal map of hammered metal: dimples about jittered centres; (size, size, 4)."""
    cells = 16
    jitter = random_numbers(3, cells * cells * 2).reshape(cells, cells, 2)
    y, x = np.mgrid[0:size, 0:size] * (cells / size)
    nearest = np.full((size, size), 9.0)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            cy, cx = np.floor(y) + dy, np.floor(x) + dx
            point = jitter[cy.astype(int) % cells, cx.astype(int) % cells]
            nearest = np.minimum(nearest, (cy + point[..., 0] - y) ** 2 + (cx + point[..., 1] - x) ** 2)
    return normal_map(np.minimum(nearest, 0.8), 3.5)
