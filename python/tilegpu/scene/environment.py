"""The light of a sky: from a picture of it to what ``pbr.frag`` reads.

In: an equirectangular picture in linear light. Out: :class:`Environment`: a chain of maps filtered for roughness, irradiance as spherical
harmonics, the table of the split sum, a picture for the background. Source: Karis, "Real Shading in Unreal Engine 4" (2013);
Ramamoorthi and Hanrahan, "An Efficient Representation for Irradiance Environment Maps" (2001); the octahedral map of Praun and Hoppe,
"Spherical Parametrization and Remeshing" (2003). Sums, products, roots and the C library's sines in a fixed order: the same bits
everywhere.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilegpu import arguments
from tilegpu.errors import ClampedValueWarning, ModelWarning, ValidationError, users_level
from tilegpu.files import read_regular
from tilegpu.fixed import Spelt, made_once
from tilegpu.hdr import read_hdr
from tilegpu.scene.description import CLAMPED, Draw, Sampler, State, Texture
from tilegpu.scene.programs import program
from tilegpu.scene.seals import freeze, frozen

Array = NDArray[Any]
F = np.float32
#: Levels of the filtered map; level k is for the roughness k / (LEVELS - 1).
LEVELS = 6
_TOP_px, _BACKGROUND_px = 512, 1024
_SAMPLES = (0, 64, 128, 320, 768, 1024)
_TABLE_px, _TABLE_SAMPLES = 64, 1024
_IRRADIANCE_px = 64, 128  # height, width
_STRIP_px, _STRIP_VALUES = 64, 1 << 19
_MAX_FILE_B = 1 << 30
_LARGEST_VALUE = 65504.0  # of a half float
_EXACT = Sampler(mipmap_mode="nearest", address_u="clamp_to_edge", address_v="clamp_to_edge")


class Environment(Spelt):
    """A sky that lights models and is seen behind them.

    ``picture``: (H, W, 3) or (H, W, 4) floats, linear, equirectangular: row 0 is straight up, the middle column is what a camera sees
    that looks along -z. Negative values count as 0, values above 65504 (and infinity) as that, with a
    :class:`tilegpu.ClampedValueWarning`. Raises :class:`tilegpu.ValidationError` for other shapes and for NaN.
    """

    def __init__(self, picture: ArrayLike, name: str = "environment") -> None:
        values = arguments.array(picture, f"environment '{name}': the picture", "floats of shape (H, W, 3) are needed, linear")
        if values.ndim != 3 or values.shape[2] not in (3, 4) or values.shape[0] < 2 or values.shape[1] < 2 or values.dtype.kind != "f":
            raise ValidationError(
                f"environment '{name}': the picture is {values.dtype} of shape {values.shape}; floats of shape (H, W, 3) are needed, linear"
            )
        if any(np.isnan(values[first : first + _STRIP_px, :, :3]).any() for first in range(0, len(values), _STRIP_px)):
            raise ValidationError(f"environment '{name}': has values that are no numbers (NaN)")
        _warn_of_clamped(values, name)
        _warn_of_shape(values, name)
        self.name = name
        background = _BACKGROUND_px if len(values) > _TOP_px else _TOP_px
        small = _shrunk(values, {_IRRADIANCE_px, *(_averaged(values.shape, size) for size in (*_map_sizes(_TOP_px), background))})
        self.irradiance = _irradiance(small[_IRRADIANCE_px])
        levels = _filtered({size: small[_averaged(values.shape, size)] for size in _map_sizes(_TOP_px)}, _TOP_px)
        self._filtered = Texture(levels[0], "r16g16b16a16_sfloat", levels[1:], _EXACT, f"{name}, filtered")
        pixels = levels[0] if background == _TOP_px else _as_half(_octahedral(small[_averaged(values.shape, background)], background))
        self._background = Texture(pixels, "r16g16b16a16_sfloat", False, CLAMPED, f"{name}, background")
        freeze((self._filtered, self._background))

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Environment:
        """Of a Radiance (``.hdr``) or OpenEXR (``.exr``) file; the same object again for a file of the same name and content, as long as it
        is among the last few. Raises ``ValueError`` that names the file and what is wrong with it."""
        path = arguments.path(path, "Environment.read: path")
        name = os.path.basename(path)  # noqa: PTH119
        key = name, _digest(path)
        made = _read.pop(key, None)
        if made is None:
            made = Environment(read_hdr(path), name)
        if key[1] is not None and _digest(path) == key[1]:  # it may have been written meanwhile
            _read[key] = made
        while len(_read) > _MAX_READ:
            _read.pop(next(iter(_read)), None)
        return made

    def bind(self) -> dict[str, Any]:
        """What ``pbr.frag`` has with ENVIRONMENT defined."""
        return {"sky_map": self._filtered, "brdf_table": brdf_table(), "Environment": self._block}

    @made_once
    def _block(self) -> dict[str, Any]:
        return frozen({"irradiance": np.concatenate([self.irradiance, np.zeros((9, 1))], 1).astype(F)})

    def background(self, corners: Array, exposure: float) -> Draw:
        """A draw of the sky where nothing nearer is. ``corners``: (3, 3) directions in the world at the places (-1, -1), (3, -1), (-1, 3)
        of clip space."""
        directions = np.concatenate([corners, np.full((3, 1), exposure)], 1).astype(F)
        state = State(depth_write=False, depth_compare="less_or_equal")
        shader = program("sky.vert", "sky.frag")
        return Draw(shader, count=3, push={"corner": directions}, bind={"sky_map": self._background}, state=state, label="the sky")


def _warn_of_clamped(values: Array, name: str) -> None:
    """There is no light below 0, and half floats, as the maps are, end at 65504."""
    low, high = float(np.min(values[..., :3])), float(np.max(values[..., :3]))
    said = [f"the least is {low:g}, and negative light counts as 0"] if low < 0 else []
    if high > _LARGEST_VALUE:
        said.append(f"the largest is {high:g}, and values above {_LARGEST_VALUE:g} count as that")
    if said:
        warnings.warn(f"environment '{name}': {'; '.join(said)}", ClampedValueWarning, stacklevel=users_level())


def _warn_of_shape(values: Array, name: str) -> None:
    """All the way round is twice as far as from top to bottom; light probes, crosses and strips of cubes are other maps."""
    height, width = values.shape[:2]
    if abs(width - 2 * height) * 50 > width:
        is_not = f"the picture is {width}x{height}, and equirectangular ones are twice as wide as high: it is taken for one, stretched"
        text = f"environment '{name}': {is_not}; light probes, crosses and cubes have to be converted first"
        warnings.warn(text, ModelWarning, stacklevel=users_level())


#: Environments by the name and the digest of their files, the last one asked for last: a window reads its scene again at each change of a
#: file, and the maps of a sky take a second.
_read: dict[tuple[str, bytes | None], Environment] = {}
_MAX_READ = 4


def _digest(path: str | os.PathLike[str]) -> bytes | None:
    """Of a file's content; ``None`` where it can't be read: :func:`read_hdr` says why."""
    try:
        return hashlib.blake2b(read_regular(path, _MAX_FILE_B)).digest()
    except (OSError, ValueError):
        return None


# -------------------------------------------------------------------------------------------------- pictures and directions


def _averaged(shape: tuple[int, ...], size: int) -> tuple[int, int]:
    """Height and width that a picture of this shape is averaged to for an octahedral map of ``size``: no larger than it is."""
    return min(shape[0], size), min(shape[1], 2 * size)


def _shrunk(values: Array, sizes: set[tuple[int, int]]) -> dict[tuple[int, int], Array]:
    """The picture (H, W, 3 or 4), its values clipped, averaged to each of the (height, width): float64 of three components.

    Some columns at a time, and of tall and of flat pictures apart: float64 of all of it would be gigabytes for a sky of 16384x8192.
    """
    out: dict[tuple[int, int], Array] = {}
    for tall in (False, True):
        heights = {height for height, _ in sizes if (height > _TOP_px) == tall}
        rows = {height: np.empty((height, values.shape[1], 3)) for height in heights}
        step = max(1, _STRIP_VALUES // len(values))
        for first in range(0, values.shape[1] if heights else 0, step):
            strip = np.clip(values[:, first : first + step, :3].astype(np.float64), 0, _LARGEST_VALUE)
            sums = _sums(strip, 0)
            for height, row in rows.items():
                row[:, first : first + step] = strip if height == len(strip) else _shares(sums, height, 0)
        out.update({(height, width): _narrowed(rows[height], width) for height, width in sizes if height in rows})
    return out


def _narrowed(values: Array, width: int) -> Array:
    """:func:`_resized` along the rows, some at a time."""
    return np.concatenate([_resized(values[first : first + _STRIP_px], width, 1) for first in range(0, len(values), _STRIP_px)])


def _sums(values: Array, axis: int) -> Array:
    """What is before each pixel along an axis, and at the end all."""
    return np.concatenate([np.zeros_like(np.take(values, [0], axis)), np.cumsum(values, axis)], axis)


def _resized(values: Array, size: int, axis: int) -> Array:
    """Averages over equal shares of an axis, parts of pixels included."""
    return values if values.shape[axis] == size else _shares(_sums(values, axis), size, axis)


def _shares(sums: Array, size: int, axis: int) -> Array:
    n = sums.shape[axis] - 1
    at = np.arange(size + 1) * (n / size)
    low = np.minimum(at.astype(np.int64), n - 1)
    shape = [1] * sums.ndim
    shape[axis] = -1
    share = (at - low).reshape(shape)
    cut = np.take(sums, low, axis) * (1 - share) + np.take(sums, low + 1, axis) * share
    out: Array = np.diff(cut, axis=axis) * (size / n)
    return np.maximum(out, 0)


def _arctan2(y: Array, x: Array) -> Array:
    """In sums, products and roots alone: NumPy's own differs from CPU to CPU. Within 1e-12."""
    a, b = np.abs(x), np.abs(y)
    large = np.maximum(np.maximum(a, b), 1e-300)
    t = np.minimum(a, b) / large
    for _ in range(2):  # the angle is halved: tan(a / 2) = t / (1 + sqrt(1 + t^2))
        t = t / (1 + np.sqrt(1 + t * t))
    square, angle = t * t, np.zeros_like(t)
    for k in range(15, -1, -2):
        angle = 1 / k - square * angle
    angle = 4 * t * angle
    angle = np.where(b > a, math.pi / 2 - angle, angle)
    angle = np.where(x < 0, math.pi - angle, angle)
    return np.where(y < 0, -angle, angle)


def octahedral_directions(size: int) -> Array:
    """(size, size, 3) unit vectors of the texels of an octahedral map about y; the outermost lie on its edge, which both sides share."""
    e = np.arange(size) * (2 / (size - 1)) - 1
    u, v = np.meshgrid(e, e)
    y = 1 - np.abs(u) - np.abs(v)
    fold = np.maximum(-y, 0)
    x, z = u - np.where(u < 0, -fold, fold), v - np.where(v < 0, -fold, fold)
    length = np.sqrt(x * x + y * y + z * z)
    return np.stack([x / length, y / length, z / length], -1)


def _bilinear(values: Array, x: Array, y: Array, wrap: bool) -> Array:
    """Values (H, W, 3) at places in pixels, pixel centres at whole numbers; columns repeat if ``wrap``."""
    height, width = values.shape[:2]
    y = np.clip(y, 0, height - 1)
    if not wrap:
        x = np.clip(x, 0, width - 1)
    x0, y0 = np.floor(x), np.floor(y)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]
    column, row = x0.astype(np.int64), y0.astype(np.int64)
    beside, below = column + 1, np.minimum(row + 1, height - 1)
    if wrap:
        column, beside = column % width, beside % width
    else:
        beside = np.minimum(beside, width - 1)
    upper = values[row, column] * (1 - fx) + values[row, beside] * fx
    lower = values[below, column] * (1 - fx) + values[below, beside] * fx
    out: Array = upper * (1 - fy) + lower * fy
    return out


def _octahedral(values: Array, size: int) -> Array:
    """(size, size, 3) float64 octahedral map of an equirectangular picture, whose pixels are first averaged to the same size."""
    small = _resized(_resized(values, min(values.shape[0], size), 0), min(values.shape[1], 2 * size), 1)
    height, width = small.shape[:2]
    d = octahedral_directions(size)
    x, y, z = d[..., 0], d[..., 1], d[..., 2]
    u = 0.5 + _arctan2(x, -z) / (2 * math.pi)
    v = _arctan2(np.sqrt(x * x + z * z), y) / math.pi
    return _bilinear(small, u * width - 0.5, v * height - 0.5, True)


def _as_half(values: Array) -> Array:
    """(H, W, 4) float16."""
    out = np.ones((*values.shape[:2], 4), np.float16)
    out[..., :3] = values
    out.flags.writeable = False
    return out


# ------------------------------------------------------------------------------------------------------------- irradiance


def _irradiance(values: Array) -> Array:
    """(9, 3) float64: irradiance / pi as a polynomial of the normal: 1, y, z, x, xy, yz, 3z^2 - 1, xz, x^2 - y^2 times these."""
    height, width = _IRRADIANCE_px
    small = _resized(_resized(values, height, 0), width, 1)
    theta = [math.pi * k / height for k in range(height + 1)]
    area = np.array([(math.cos(a) - math.cos(b)) * 2 * math.pi / width for a, b in itertools.pairwise(theta)])[:, None]
    middle = [(a + b) / 2 for a, b in itertools.pairwise(theta)]
    up, out_ = np.array([math.cos(a) for a in middle])[:, None], np.array([math.sin(a) for a in middle])[:, None]
    angle = [2 * math.pi * ((k + 0.5) / width - 0.5) for k in range(width)]
    x, z = out_ * np.array([math.sin(a) for a in angle]), -out_ * np.array([math.cos(a) for a in angle])
    y = np.broadcast_to(up, x.shape)
    basis = (1 + 0 * x, y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y)
    # Square of the harmonic's constant, times the cosine lobe's factor over pi.
    factor = (1 / (4 * math.pi), *[3 / (4 * math.pi) * 2 / 3] * 3, *[15 / (4 * math.pi) / 4] * 2,
              5 / (16 * math.pi) / 4, 15 / (4 * math.pi) / 4, 15 / (16 * math.pi) / 4)  # fmt: skip
    return np.array([[math.fsum((small[..., c] * b * area).reshape(-1).tolist()) * f for c in range(3)]
                     for b, f in zip(basis, factor, strict=True)])  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ reflections


def _hammersley(count: int) -> list[tuple[float, float]]:
    """Evenly spread points of the unit square."""
    return [((k + 0.5) / count, int(f"{k:032b}"[::-1], 2) / 2**32) for k in range(count)]


def _half_vector(u: float, v: float, roughness: float) -> tuple[float, float, float]:
    """A half vector of the GGX distribution about z (Walter et al. 2007, equation 35)."""
    a2 = roughness**4
    cosine = math.sqrt((1 - u) / (1 + (a2 - 1) * u))
    sine, angle = math.sqrt(max(0.0, 1 - cosine * cosine)), 2 * math.pi * v
    return sine * math.cos(angle), sine * math.sin(angle), cosine


def _map_sizes(top: int) -> list[int]:
    """Sizes of the maps that reflections are taken from."""
    sizes = {top >> k for k in range(LEVELS)} | {8, 16, 32, 64, 128, 256}
    return [size for size in sorted(sizes) if size <= top]


def _filtered(values: Mapping[int, Array], top: int) -> list[Array]:
    """Levels of (size, size, 4) float16: the sky as reflections of growing roughness see it, the view along the normal. ``values``: the
    picture for the map of each size."""
    maps = {size: _octahedral(values[size], size) for size in _map_sizes(top)}
    out = [_as_half(maps[top])]
    for level in range(1, LEVELS):
        roughness = level / (LEVELS - 1)
        out.append(_as_half(_filter(maps, max(top >> level, 1), roughness, _SAMPLES[level])))
    return out


def _filter(maps: dict[int, Array], size: int, roughness: float, count: int) -> Array:
    n = octahedral_directions(size).reshape(-1, 3)
    # Two axes at right angles to the normal (Duff et al. 2017).
    x, y, z = n[:, 0:1], n[:, 1:2], n[:, 2:3]
    sign = np.where(z < 0, -1.0, 1.0)
    a = -1 / (sign + z)
    b = x * y * a
    first = np.concatenate([1 + sign * x * x * a, sign * b, -sign * x], 1)
    second = np.concatenate([b, sign + y * y * a, -y], 1)
    total, weights = np.zeros_like(n), 0.0
    a2 = roughness**4
    for u, v in _hammersley(count):
        hx, hy, hz = _half_vector(u, v, roughness)
        lx, ly, lz = 2 * hz * hx, 2 * hz * hy, 2 * hz * hz - 1
        if lz <= 0:
            continue
        # A sample stands for 1 / (count * density) of the sphere. It is taken from the map whose texels are about twice as wide: with
        # smaller ones a sun would be seen once for each sample.
        density = a2 / (math.pi * ((hz * hz * (a2 - 1) + 1) ** 2)) / 4
        wanted = max(math.sqrt(4 * math.pi * count * density) / 2, 1.0)
        source = maps[min(maps, key=lambda s: abs(math.log2(s / wanted)))]
        total += lz * _fetch(source, first * lx + second * ly + n * lz)
        weights += lz
    return (total / weights).reshape(size, size, 3)


def _fetch(source: Array, d: Array) -> Array:
    """(N, 3) of an octahedral map towards (N, 3) directions."""
    scale = np.abs(d[:, 0]) + np.abs(d[:, 1]) + np.abs(d[:, 2])
    x, y, z = d[:, 0] / scale, d[:, 1] / scale, d[:, 2] / scale
    below = y < 0
    u = np.where(below, np.copysign(1 - np.abs(z), x), x)
    v = np.where(below, np.copysign(1 - np.abs(x), z), z)
    half = (len(source) - 1) / 2
    return _bilinear(source, (u + 1) * half, (v + 1) * half, False)


@functools.cache
def brdf_table() -> Texture:
    """Scale and bias of f0 by cosine to the view (columns) and roughness (rows): (64, 64, 4) float16, the last two unused."""
    n_v = (np.arange(_TABLE_px) / (_TABLE_px - 1)).clip(1e-3)
    view = np.sqrt(1 - n_v * n_v)
    out = np.zeros((_TABLE_px, _TABLE_px, 4), np.float16)
    for row in range(_TABLE_px):
        roughness = max(row / (_TABLE_px - 1), 0.04)
        a2 = roughness**4
        half = np.array([_half_vector(u, v, roughness) for u, v in _hammersley(_TABLE_SAMPLES)])
        hx, hz = half[:, 0:1], half[:, 2:3]
        v_h = np.maximum(view * hx + n_v * hz, 0)  # (samples, columns)
        n_l = 2 * v_h * hz - n_v
        lit = np.where(n_l > 0, n_l, 1)
        g = 0.5 / (lit * np.sqrt(n_v * n_v * (1 - a2) + a2) + n_v * np.sqrt(lit * lit * (1 - a2) + a2))
        share = np.where(n_l > 0, 4 * g * lit * v_h / hz, 0)
        w = 1 - v_h
        fresnel = w * w * w * w * w
        for k, part in enumerate(((1 - fresnel) * share, fresnel * share)):
            out[row, :, k] = np.cumsum(part, 0)[-1] / _TABLE_SAMPLES  # one after the other
    out.flags.writeable = False
    return frozen(Texture(out, "r16g16b16a16_sfloat", False, CLAMPED, "split sum"))


