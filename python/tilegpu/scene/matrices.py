"""Products of matrices and rotations by quaternions (x, y, z, w), in float64.

In: arrays of numbers that were checked. Out: float64. Sums go elementwise and in a fixed order, sines through the C library: the same
bits on every CPU (BLAS and NumPy's own sines are not). For glTF's nodes and animations, and for :mod:`tilegpu.math`, which rounds to
float32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def product(a: Array, b: Array) -> Array:
    """(..., n, n) matrix products, each sum from k = 0 on."""
    out: Array = a[..., :, 0, None] * b[..., None, 0, :]
    for k in range(1, a.shape[-1]):
        out = out + a[..., :, k, None] * b[..., None, k, :]
    return out


def unit(q: Array) -> Array:
    """A quaternion's unit one; a zero stays, and whoever makes a matrix of it says so."""
    length = math.sqrt(sum(float(x) * float(x) for x in q))
    return q / length if length > 0 else q


def rotation(q: Sequence[float] | Array) -> Array:
    """(3, 3) rotation of a unit quaternion."""
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def slerp(a: Array, b: Array, t: float) -> Array:
    """(4,) from quaternion ``a`` to ``b`` along the shorter arc (glTF 2.0, appendix C.4); unit length."""
    a, b = unit(a), unit(b)
    d = float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3])
    if d < 0:
        b, d = -b, -d
    if d > 1 - 1e-12:  # the sine of the angle is lost: the chord is the arc
        return unit((1 - t) * a + t * b)
    angle = math.acos(d)
    return unit((math.sin((1 - t) * angle) * a + math.sin(t * angle) * b) / math.sin(angle))
