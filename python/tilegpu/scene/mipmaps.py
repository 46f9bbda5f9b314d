"""Mipmaps of 8-bit images, so that every renderer samples the same texels.

In: (H, W, 4) uint8; out: all further levels. Each level is the box average of the one above, in integers; sRGB colours are averaged
in linear light. An odd size is reduced with three weighted texels (as in OpenGL's ARB_texture_non_power_of_two, "box of n/m").
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import arguments
from tilegpu.errors import ValidationError

Array = NDArray[Any]
#: So many texels are averaged at a time: what is in between stays in the cache, and small beside the picture.
_STRIP_TEXELS = 1 << 16


@functools.cache
def _srgb_tables() -> tuple[Array, Array]:
    """uint8 sRGB to 16-bit linear, and back from the upper 12 bits."""

    def decode(code: float) -> float:
        # math.pow, not NumPy's: the same bits on every CPU.
        return code / 12.92 if code <= 0.04045 else math.pow((code + 0.055) / 1.055, 2.4)

    linear = np.array([decode(k / 255) for k in range(256)])
    # The middle between the linear values of two neighbouring codes is where the one turns into the other.
    edges = [decode((k + 0.5) / 255) for k in range(255)]
    back = np.searchsorted(edges, np.arange(65536) / 65535).astype(np.uint8)
    return (linear * 65535 + 0.5).astype(np.uint16), back


def _halve(a: Array, axis: int, n: int, first: int) -> Array:
    """uint16 averages along one axis of ``n`` texels, of which ``a`` has those that the averages from number ``first`` on are made of; the
    size is halved, rounded down."""
    if n == 1:
        return a
    m, here = n // 2, (a.shape[axis] if n % 2 == 0 else a.shape[axis] - 1) // 2
    take = functools.partial(np.take, a.astype(np.uint32), axis=axis)  # sums stay below 2^32 up to sizes of 2^15
    even = np.arange(here) * 2
    shape = [1] * a.ndim
    shape[axis] = here
    i = np.arange(first, first + here, dtype=np.uint32).reshape(shape)
    if n % 2 == 0:
        total, n = take(even) + take(even + 1), 2
    else:
        total = take(even) * (np.uint32(m) - i) + take(even + 1) * np.uint32(m) + take(even + 2) * (i + np.uint32(1))
    return ((total + np.uint32(n // 2)) // np.uint32(n)).astype(np.uint16)


def _halve_even(a: Array) -> Array:
    """2x2 box of a uint16 image of even size."""
    rows = np.add(a[0::2], a[1::2], dtype=np.uint32)
    total = rows[:, 0::2] + rows[:, 1::2]
    total += np.uint32(2)
    total >>= np.uint32(2)
    return total.astype(np.uint16)


def _widened(pixels: Array, srgb: bool) -> Array:
    """16 bits, linear."""
    if not srgb:
        return pixels * np.uint16(257)
    wide: Array = _srgb_tables()[0][pixels]
    wide[..., 3] = pixels[..., 3] * np.uint16(257)
    return wide


def mip_chain(pixels: Array, srgb: bool) -> tuple[Array, ...]:
    """Levels 1 to the last of (H, W, 4) uint8 ``pixels``, each (max(1, H >> k), max(1, W >> k), 4) uint8.

    Some rows at a time: what it takes for a moment is a quarter of the picture twice, in 16 bits.
    """
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 4 or not pixels.size:
        found = f"{pixels.dtype} of shape {pixels.shape}" if isinstance(pixels, np.ndarray) else arguments.shown(pixels)
        raise ValidationError(
            f"mip_chain: pixels is {found}; it must be (H, W, 4) uint8, such as (pixels.clip(0, 1) * 255 + 0.5).astype('u1') of floats; "
            "of other formats dev.texture makes the levels (mipmaps=True)"
        )
    to_code = _srgb_tables()[1]
    levels: list[Array] = []
    above = pixels
    while above.shape[0] > 1 or above.shape[1] > 1:
        height, width = above.shape[:2]
        size = max(1, height // 2), max(1, width // 2)
        wide, level = np.empty((*size, 4), np.uint16), np.empty((*size, 4), np.uint8)
        step = max(1, _STRIP_TEXELS // width)
        for first in range(0, size[0], step):
            end = min(first + step, size[0])
            rows = above[2 * first : 2 * end + height % 2] if height > 1 else above
            rows = _widened(rows, srgb) if above is pixels else rows
            if height % 2 == 0 and width % 2 == 0:
                half = _halve_even(rows)
            else:
                half = _halve(_halve(rows, 0, height, first), 1, width, 0)
            wide[first:end] = half
            linear = ((half.astype(np.uint32) + np.uint32(128)) // np.uint32(257)).astype(np.uint8)
            level[first:end] = to_code[half] if srgb else linear
            level[first:end, :, 3] = linear[..., 3]
        level.flags.writeable = False
        levels.append(level)
        above = wide
    return tuple(levels)
