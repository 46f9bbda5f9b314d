"""Soft shadows on horizontal planes, baked: casters are projected from many points of each light and averaged.

In: triangles, a plane's height and extent, lights; out: one image whose channels say how much of each light arrives. It is the
shadow of the real shapes, with penumbras, at the cost of one texture look-up in the shader. Filled triangles through Pillow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.scene.shapes import cos_sin

Array = NDArray[Any]


def spiral(count: int) -> Array:
    """(count, 2) points of a unit disc, evenly spread (Vogel's spiral)."""
    k = np.arange(count)
    r = np.sqrt((k + 0.5) / count)
    angle = k * (math.pi * (3 - math.sqrt(5)))
    c, s = cos_sin(angle)
    return np.stack([r * c, r * s], -1)


def light_points(position: Sequence[float], radius: float, count: int) -> Array:
    """(count, 3) points of a disc about ``position`` that faces the origin."""
    centre = np.asarray(position, np.float64)
    axis = centre / math.hypot(*position)
    right = np.cross([0.0, 1.0, 0.0], axis)
    right /= math.hypot(*right)
    up = np.cross(axis, right)
    disc = spiral(count) * radius
    out: Array = centre + disc[:, :1] * right + disc[:, 1:] * up
    return out


def dome_points(count: int, distance: float = 40.0) -> Array:
    """(count, 3) far points above the horizon, spread as the cosine of the angle to the vertical (for ambient light)."""
    disc = spiral(count) * 0.97
    height = np.sqrt(1 - (disc**2).sum(1))
    return np.stack([disc[:, 0], height, disc[:, 1]], -1) * distance


def plane_visibility(
    casters: Array, y: float, half_width: float, size: int, lights: Sequence[Array], centre: tuple[float, float]
) -> Array:
    """(size, size, len(lights)) uint8: the share of each light's points seen from the plane at height ``y``.

    ``casters``: (n, 3, 3) triangles of closed shapes; those below the plane cast nothing. The image spans
    ``centre`` -/+ ``half_width`` in x (columns) and z (rows).
    """
    from PIL import Image, ImageDraw

    casters = casters[(casters[..., 1] > y + 1e-4).all(1)].astype(np.float64)
    normals = np.cross(casters[:, 1] - casters[:, 0], casters[:, 2] - casters[:, 0])
    out = np.zeros((size, size, len(lights)))
    for channel, points in enumerate(lights):
        for light in points:
            # Of a closed shape the side that faces the light is enough.
            faces = ((light - casters[:, 0]) * normals).sum(1) > 0
            p = casters[faces & (casters[..., 1] < light[1] - 1e-3).all(1)]
            shadow = light + (p - light) * ((light[1] - y) / (light[1] - p[..., 1:2]))
            xz = (shadow[..., [0, 2]] - np.array(centre) + half_width) * (size / (2 * half_width)) - 0.5
            near = ((xz.max(1) > 0) & (xz.min(1) < size)).all(1)
            image = Image.new("L", (size, size), 255)
            draw = ImageDraw.Draw(image)
            for triangle in np.clip(xz[near].reshape(-1, 6), -4 * size, 4 * size).tolist():
                draw.polygon(triangle, fill=0)
            out[..., channel] += np.asarray(image)
        out[..., channel] /= len(points)
    return (out + 0.5).astype(np.uint8)


def blur(image: Array, radius: int) -> Array:
    """Box blur of an (H, W, C) uint8 image, edges extended."""
    a: Array = image.astype(np.float64)
    for axis in (0, 1):
        n = a.shape[axis]
        first, last = np.repeat(a.take([0], axis), radius, axis), np.repeat(a.take([-1], axis), radius, axis)
        padded = np.concatenate([first, a, last], axis)
        shifted = [np.take(padded, range(k, k + n), axis) for k in range(2 * radius + 1)]
        a = np.mean(np.stack(shifted), 0)
    return (a + 0.5).astype(np.uint8)
