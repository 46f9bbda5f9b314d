"""Meshes by code. In: sizes and how fine. Out: a :class:`Mesh`: ``vertices`` (structured, a field an attribute), ``indices`` (uint32).

>>> import tilegpu as tg
>>> ball = tg.shapes.sphere(0.5)
>>> ball.vertices.dtype.names
('position', 'normal', 'uv')

``rp.draw(pipe, ball.vertices, indices=ball.indices)`` draws one, with a pipeline of ``vertex=ball.vertices.dtype``. The fields are
``position`` (3 float32), ``normal`` (3, of length 1, outward) and ``uv`` (2; (0, 0) is the texture's top left corner);
``attributes=("position", "uv", "tangent")`` gives others, what the shaders read. A ``tangent`` has 4: where u grows, and the side of the
bitangent (glTF's). y is up; triangles are lists, counter-clockwise seen from outside (``front_face="counter_clockwise"``, ``cull="back"``).
Sizes are in the units of your world, all shapes are about the origin. The same bits on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import ValidationError, arguments, keywords
from tilegpu.scene import mesh as meshes
from tilegpu.scene import shapes as detailed
from tilegpu.scene.mesh import Mesh
from tilegpu.scene.shapes import DETAIL_VERTEX, cos_sin, curve, faceted, gem, lathe
from tilegpu.scene.shapes import is_number as _is_number
from tilegpu.scene.shapes import size_of as _size
from tilegpu.scene.shapes import steps_of as _steps

__all__ = [
    "DETAIL_VERTEX",
    "VERTEX",
    "Mesh",
    "cube",
    "curve",
    "cylinder",
    "faceted",
    "full_screen_triangle",
    "gem",
    "lathe",
    "only",
    "plane",
    "quad",
    "sphere",
    "torus",
    "torus_knot",
]

#: 32 bytes: position, normal, texture coordinate.
VERTEX = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("uv", "<f4", 2)])
ATTRIBUTES = ("position", "normal", "uv")
#: 16 bytes, of what is flat: x, y and texture coordinate.
FLAT_VERTEX = np.dtype([("position", "<f4", 2), ("uv", "<f4", 2)])


def _sides(size: Any, count: int, what: str, must: str) -> list[float]:
    """One size for all sides, or one for each."""
    sides = list(size) if isinstance(size, (tuple, list)) or (isinstance(size, np.ndarray) and size.ndim) else [size] * count
    if len(sides) != count:
        raise ValidationError(f"{what} is {size!r:.80}; it must be a number, or {must}")
    return [_size(v, what) for v in sides]


def _names(attributes: Any) -> Sequence[str]:
    """Of ``attributes=``."""
    if isinstance(attributes, str):
        raise ValidationError(f"shapes: attributes is '{attributes}'; it must be a list of names, such as ('position', 'uv')")
    if not isinstance(attributes, (list, tuple)):
        raise ValidationError(f"shapes: attributes is {attributes!r:.80}; it must be a list of names, such as ('position', 'uv')")
    return attributes


def only(mesh: Mesh, *attributes: str | Sequence[str]) -> Mesh:
    """The mesh with these vertex attributes alone, in this order (one by one, or one list of names); what shaders don't read costs
    memory. Raises :class:`tilegpu.ValidationError` for one that it has not."""
    names: tuple[Any, ...] = tuple(attributes[0]) if len(attributes) == 1 and isinstance(attributes[0], (list, tuple)) else attributes
    if not isinstance(mesh, Mesh):
        raise ValidationError(f"shapes: mesh is {mesh!r:.80}; it must be a Mesh, such as shapes.sphere()")
    have = mesh.vertices.dtype
    if len(names) > 1 and all(isinstance(name, str) and len(name) == 1 for name in names):  # a text where a list belongs
        raise ValidationError(f"shapes: attributes is '{''.join(names)}'; it must be a list of names, such as ('position', 'uv')")
    missing = [name for name in names if not isinstance(name, str) or name not in (have.names or ())]
    if missing or not names:
        raise ValidationError(f"shapes: attributes are {arguments.shown(names)}; choose from {', '.join(have.names or ())}")
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise ValidationError(f"shapes: attributes are {names}; '{twice}' is there twice, and a vertex has one of a name")
    vertices = np.empty(mesh.vertices.shape, np.dtype([(name, *have[name].subdtype) for name in names]))  # type: ignore[misc]
    for name in names:
        vertices[name] = mesh.vertices[name]
    return Mesh(vertices, mesh.indices)


def cube(size: float | tuple[float, float, float] = 1.0, *, attributes: Sequence[str] = ATTRIBUTES) -> Mesh:
    """A box of ``size`` to a side, or (x, y, z): 24 vertices, 12 triangles, the whole texture on each face."""
    box = meshes.box(_sides(size, 3, "cube: size", "three for x, y and z"))
    v = box.vertices
    return only(detailed.make_mesh(v["aPos"], v["aNormal"], v["aUV"], box.indices), *_names(attributes))


def sphere(radius: float = 0.5, segments: int = 48, *, attributes: Sequence[str] = ATTRIBUTES) -> Mesh:
    """A ball: ``segments`` round (at least 4), half as many from pole to pole. u goes round, v from the top down."""
    r, n = _size(radius, "sphere: radius"), _steps(segments, 4, "sphere: segments")
    c, s = cos_sin(np.linspace(-math.pi / 2, math.pi / 2, n // 2 + 1))
    return only(lathe(np.stack([np.abs(c) * r, s * r], -1), n, sharp=90, smooth_ends=True), *_names(attributes))


def torus(radius: float = 0.4, tube: float = 0.15, segments: int = 64, sides: int = 24, *, attributes: Sequence[str] = ATTRIBUTES) -> Mesh:
    """A ring about y: ``radius`` to the middle of its ``tube``, which has a radius of its own; ``segments`` round, ``sides`` about."""
    mesh = detailed.ring(
        _size(radius, "torus: radius"),
        _size(tube, "torus: tube"),
        _steps(segments, 3, "torus: segments"),
        _steps(sides, 3, "torus: sides"),
        smooth_ends=True,
    )
    return only(mesh, *_names(attributes))


def torus_knot(
    p: int = 2, q: int = 3, radius: float = 0.4, tube: float = 0.1, segments: int = 360, *, attributes: Sequence[str] = ATTRIBUTES
) -> Mesh:
    """A tube along the (p, q) torus knot about y, ``segments`` along it."""
    size, thick, n = _size(radius, "torus_knot: radius"), _size(tube, "torus_knot: tube"), _steps(segments, 8, "torus_knot: segments")
    return only(detailed.torus_knot(p, q, size, 0.4 * size, thick, n), *_names(attributes))


def cylinder(
    radius: float = 0.5, height: float = 1.0, segments: int = 48, *, top_radius: float | None = None, attributes: Sequence[str] = ATTRIBUTES
) -> Mesh:
    """A closed cylinder about y; with ``top_radius`` a cone (0) or what is between."""
    low, high = _size(radius, "cylinder: radius"), radius if top_radius is None else top_radius
    if not _is_number(high) or not 0 <= high < math.inf:
        raise ValidationError(f"cylinder: top_radius is {top_radius}; it must be 0 (a cone) or more")
    half = _size(height, "cylinder: height") / 2
    profile = [(0.0, -half), (low, -half), (high, half)] + ([(0.0, half)] if high > 0 else [])
    return only(lathe(profile, _steps(segments, 3, "cylinder: segments")), *_names(attributes))


def plane(size: float | tuple[float, float] = 1.0, segments: int = 1, *, attributes: Sequence[str] = ATTRIBUTES) -> Mesh:
    """A square (or x by z) that lies in y = 0 and faces up, as ``segments`` x ``segments`` quads; v grows towards the viewer (+z)."""
    x, z = _sides(size, 2, "plane: size", "two (x, z)")
    n = _steps(segments, 1, "plane: segments")
    t = np.arange(n + 1) / n
    u, v = np.broadcast_arrays(t[None, :], t[:, None])
    position = np.stack([(u - 0.5) * x, np.zeros_like(u), (v - 0.5) * z], -1)
    normal = np.broadcast_to(np.array([0.0, 1.0, 0.0]), position.shape)
    indices = meshes.grid_indices(n, n).reshape(-1, 3)[:, [0, 2, 1]]
    return only(detailed.make_mesh(position, normal, np.stack([u, v], -1), indices), *_names(attributes))


def full_screen_triangle() -> NDArray[np.void]:
    """(3,) vertices of one triangle that covers the whole picture: ``position`` (2 float32, in clip space) and ``uv``, whose (0, 0) is the
    picture's top left corner and (1, 1) its bottom right one. Draw it without indices: ``rp.draw(pipe, shapes.full_screen_triangle())``."""
    return _flat([(-1, -1, 0, 0), (-1, 3, 0, 2), (3, -1, 2, 0)])


def quad(left: float = -1.0, top: float = -1.0, right: float = 1.0, bottom: float = 1.0) -> NDArray[np.void]:
    """(6,) vertices, two triangles, of a rectangle: ``position`` (2 float32) and ``uv``, (0, 0) at (``left``, ``top``). By default the
    whole picture in clip space, y down; for pixels use :func:`tilegpu.math.pixels`."""
    for name, value in (("left", left), ("top", top), ("right", right), ("bottom", bottom)):
        if not _is_number(value) or not math.isfinite(value):
            raise ValidationError(f"quad: {name} is {value!r:.80}; it must be a finite number")
    a, b, c, d = (left, top, 0, 0), (left, bottom, 0, 1), (right, top, 1, 0), (right, bottom, 1, 1)
    return _flat([a, b, c, c, b, d])


def _flat(rows: list[tuple[Any, ...]]) -> NDArray[np.void]:
    return np.array([((x, y), (u, v)) for x, y, u, v in rows], FLAT_VERTEX)


keywords.explain_calls(globals(), __all__, "tilegpu.shapes")
