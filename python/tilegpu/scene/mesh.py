"""Procedural meshes and the test texture, vectorised; structured vertices and uint32 triangle lists.

``sphere``, ``columns`` and ``reference_texture_levels`` are those of the reference scenes, bit for bit what
the reference program ``vkpeer`` makes (a test compares hashes): float64 and float32 where it uses them, in its order.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilegpu import notebook
from tilegpu.scene.camera import normalize
from tilegpu.scene.fields import tell_frozen
from tilegpu.scene.seals import frozen

F = np.float32
#: 32 bytes: position, normal, texture coordinate.
VERTEX = np.dtype([("aPos", "<f4", 3), ("aNormal", "<f4", 3), ("aUV", "<f4", 2)])


@dataclass(frozen=True, eq=False)
class Mesh:
    """``vertices``: structured, 1-D. ``indices``: uint32, 1-D, triangle list, counter-clockwise seen from outside."""

    vertices: NDArray[np.void]
    indices: NDArray[np.uint32]

    def _repr_html_(self) -> str:
        """Its attributes, and how large it is."""
        fields = [(n, f"{f[0].base} x {int(np.prod(f[0].shape, dtype=int))}") for n, f in (self.vertices.dtype.fields or {}).items()]
        size = [("vertices", f"{len(self.vertices):,}"), ("triangles", f"{self.triangles:,}")]
        if "position" in (self.vertices.dtype.names or ()) and len(self.vertices):
            low, high = (getattr(self.vertices["position"], name)(axis=0) for name in ("min", "max"))
            size.append(("from, to", f"{low.round(4).tolist()}, {high.round(4).tolist()}"))
        return notebook.facts("mesh", [*size, *fields])

    @property
    def triangles(self) -> int:
        """Number of triangles, degenerate ones included."""
        return int(self.indices.size) // 3


def grid_indices(nu: int, nv: int) -> NDArray[np.uint32]:
    """(6 nu nv,) triangles (a, b, c), (b, d, c) of a grid of (nv + 1) rows of (nu + 1) vertices; quads row by row."""
    a = (np.arange(nv, dtype=np.uint32)[:, None] * np.uint32(nu + 1) + np.arange(nu, dtype=np.uint32)).reshape(-1)
    out = np.empty((a.size, 6), np.uint32)
    for column, offset in enumerate((0, 1, nu + 1, 1, nu + 2, nu + 1)):
        out[:, column] = a + np.uint32(offset)
    return out.reshape(-1)


def quad_indices(count: int, turned: bool = False) -> NDArray[np.uint32]:
    """(6 count,) triangles (a, b, c), (b, d, c) of ``count`` quads of four vertices each, such as the corners left top, right top, left
    bottom, right bottom; ``turned``: (a, c, b), (b, c, d), which are seen from the other side."""
    corners = np.array([0, 2, 1, 1, 2, 3] if turned else [0, 1, 2, 1, 3, 2], np.uint32)
    return (np.arange(count, dtype=np.uint32)[:, None] * np.uint32(4) + corners).reshape(-1)


@functools.cache
def sphere(nu: int, nv: int, bump: float = 0.0) -> Mesh:
    """Unit sphere of ``nu`` slices and ``nv`` stacks, radius 1 + bump sin(12 phi) sin(10 theta), with exact normals."""
    b = F(bump)
    theta = [math.pi * j / nv for j in range(nv + 1)]
    phi = [2 * math.pi * i / nu for i in range(nu + 1)]

    def column(values: list[float]) -> NDArray[np.float64]:
        return np.array(values)[:, None]

    st, ct = column([math.sin(t) for t in theta]), column([math.cos(t) for t in theta])
    s10, c10 = column([math.sin(10 * t) for t in theta]), column([math.cos(10 * t) for t in theta])
    sp, cp = np.array([math.sin(p) for p in phi]), np.array([math.cos(p) for p in phi])
    s12, c12 = np.array([math.sin(12 * p) for p in phi]), np.array([math.cos(12 * p) for p in phi])
    d = np.empty((nv + 1, nu + 1, 3), F)
    d[..., 0], d[..., 1], d[..., 2] = st * cp, ct, st * sp
    r = 1 + float(b) * s12 * s10
    normal = d
    if bump != 0:
        rt = float(b) * s12 * 10 * c10
        rp = float(b * F(12)) * c12 * s10

        def single(value: NDArray[np.float64]) -> NDArray[np.float32]:
            return value.astype(F)

        tx, ty = single(rt * st * cp + r * ct * cp), single(rt * ct - r * st)
        tz = single(rt * st * sp + r * ct * sp)
        px, py, pz = single(rp * st * cp - r * st * sp), single(rp * ct), single(rp * st * sp + r * st * cp)
        n = np.stack([py * tz - pz * ty, pz * tx - px * tz, px * ty - py * tx], -1)  # cross(dP/dphi, dP/dtheta)
        poles = (st <= 1e-6)[:, 0]
        n[poles] = 1
        normal = normalize(n)
        normal[poles] = d[poles]
    vertices = np.empty((nv + 1, nu + 1), VERTEX)
    vertices["aPos"] = d * np.asarray(r, F)[..., None]
    vertices["aNormal"] = normal
    vertices["aUV"][..., 0] = np.arange(nu + 1, dtype=F) / F(nu)
    vertices["aUV"][..., 1] = (np.arange(nv + 1, dtype=F) / F(nv))[:, None]
    return Mesh(frozen(vertices.reshape(-1)), frozen(grid_indices(nu, nv)))  # type: ignore[arg-type]


tell_frozen(Mesh)


class Random:
    """The generator of the reference scenes: s = s * 1664525 + 1013904223 (32 bits), result (s >> 8) / 2^24 in [0, 1)."""

    def __init__(self, seed: int = 12345) -> None:
        self._s = seed

    def next(self) -> np.float32:
        """The next number, float32."""
        self._s = (self._s * 1664525 + 1013904223) & 0xFFFFFFFF
        return F(self._s >> 8) * F(1 / 16777216)


def _cross(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], F)


@functools.cache
def columns() -> tuple[Mesh, NDArray[np.float32]]:
    """100 hexagonal columns in world space, 60 indices each, and their (100, 3) colours."""
    random = Random()

    def uniform(low: float, span: float) -> np.float32:
        return F(low) + F(span) * random.next()

    up = np.array([0, 0, 1], F)
    step = F(1.04719755)
    parts: list[list[Any]] = []
    indices: list[int] = []
    colours: list[list[np.float32]] = []
    for _ in range(100):
        x, z, radius = uniform(-6, 12), F(-2) - F(14) * random.next(), uniform(0.25, 0.35)
        yaw, tx, tz = F(6.2831853) * random.next(), uniform(-0.3, 0.6), uniform(-0.3, 0.6)
        colours.append([uniform(0.3, 0.7) for _ in range(3)])
        axis = normalize(np.array([tx, 1, tz], F))
        e1 = normalize(_cross(axis, up))
        e2 = _cross(axis, e1)
        centre = np.array([x, 0, z], F)
        low, high = centre - axis * F(5), centre + axis * F(5)
        ring = []
        for s in range(6):
            angle = yaw + F(s) * step
            ring.append(e1 * F(math.cos(angle)) + e2 * F(math.sin(angle)))
        for s in range(6):
            a, b = ring[s], ring[(s + 1) % 6]
            normal = normalize(a + b)
            u0, u1 = F(s) / F(6) * F(2), F(s + 1) / F(6) * F(2)
            first = len(parts)
            for end, corner, u, v in ((low, a, u0, 0.0), (low, b, u1, 0.0), (high, a, u0, 8.0), (high, b, u1, 8.0)):
                parts.append([*(end + corner * radius), *normal, u, v])
            indices += [first + q for q in (0, 2, 1, 1, 2, 3)]
        for end, normal in ((low, axis * F(-1)), (high, axis)):
            first = len(parts)
            for s in range(6):
                uv = [F(0.5) + F(0.5) * F(f(F(s) * step)) for f in (math.cos, math.sin)]
                parts.append([*(end + ring[s] * radius), *normal, *uv])
            for s in range(1, 5):
                indices += [first, first + s, first + s + 1]
    vertices = np.array(parts, F).view(VERTEX).reshape(-1)
    mesh = Mesh(frozen(vertices), frozen(np.array(indices, np.uint32)))  # type: ignore[arg-type]
    return mesh, frozen(np.array(colours, F))


@functools.cache
def reference_texture_levels() -> tuple[NDArray[np.uint8], ...]:
    """512x512 RGBA8 test texture and its ten further levels by 2x2 box, (sum + 2) / 4 in integers."""
    y, x = np.mgrid[0:512, 0:512]
    level = np.empty((512, 512, 4), np.uint8)
    level[..., 0] = (x ^ y) & 255
    level[..., 1] = x * 255 // 511
    level[..., 2] = np.where(((x // 32) + (y // 32)) & 1, 200, 60)
    level[..., 3] = 255
    levels = [level]
    while levels[-1].shape[0] > 1:
        s = levels[-1].astype(np.uint16)
        levels.append(((s[0::2, 0::2] + s[0::2, 1::2] + s[1::2, 0::2] + s[1::2, 1::2] + 2) // 4).astype(np.uint8))
    return tuple(frozen(a) for a in levels)  # type: ignore[misc]


def box(size: ArrayLike = (1, 1, 1)) -> Mesh:
    """Box about the origin with one texture square a face; 24 vertices."""
    half = np.asarray(size, np.float64) / 2
    faces = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            normal = np.zeros(3)
            normal[axis] = sign
            right = np.zeros(3)
            right[(axis + 1) % 3 if axis != 1 else 0] = 1
            if axis == 0:
                right = np.array([0, 0, -sign])
            elif axis == 2:
                right = np.array([sign, 0, 0])
            up = np.cross(normal, right)
            faces += [
                (*(half * (normal + right * (2 * u - 1) + up * (1 - 2 * v))), *normal, u, v)
                for u, v in ((0, 0), (1, 0), (0, 1), (1, 1))
            ]
    vertices = np.array(faces, F).view(VERTEX).reshape(-1)
    return Mesh(vertices, quad_indices(6, turned=True))
