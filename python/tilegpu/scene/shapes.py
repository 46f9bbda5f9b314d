"""Shapes of the demo: surfaces of revolution, a torus knot, a cut gem. Vertices carry normal, tangent and texture coordinate."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilegpu import ValidationError, arguments
from tilegpu.scene.mesh import Mesh, grid_indices
from tilegpu.scene.tangents import generate_tangents

Array = NDArray[Any]
#: 48 bytes: position, normal, tangent with handedness, texture coordinate.
DETAIL_VERTEX = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("tangent", "<f4", 4), ("uv", "<f4", 2)])


#: Steps of a shape end here.
_MOST_STEPS = 8192


def is_number(value: Any) -> bool:
    """A real number of Python's or NumPy's."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def size_of(value: Any, what: str) -> float:
    """Above 0, and finite. Raises :class:`tilegpu.ValidationError` for anything else, as the others here."""
    if not is_number(value) or not 0 < value < math.inf:
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be a size above 0")
    return float(value)


def steps_of(value: Any, least: int, what: str) -> int:
    """How fine: a whole number."""
    if not is_number(value) or not least <= value <= _MOST_STEPS or value != int(value):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be a whole number from {least} to {_MOST_STEPS}")
    return int(value)


def _turns(value: Any, what: str) -> int:
    """Of a knot: either way round, or none."""
    if not is_number(value) or not abs(value) <= _MOST_STEPS or value != int(value):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be a whole number")
    return int(value)


def _finite(value: Any, what: str) -> float:
    if not is_number(value) or not abs(value) <= sys.float_info.max:
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be a finite number")
    return float(value)


def cos_sin(angles: Array) -> tuple[Array, Array]:
    """Of an array: cosine and sine in float64 through the C library, the same on every CPU whatever NumPy vectorises."""
    angles = np.asarray(arguments.array(angles, "cos_sin: angles"))
    if angles.dtype.kind not in "fiu" or not np.isfinite(angles).all():
        raise ValidationError("cos_sin: angles are of another kind than finite numbers")
    flat = angles.reshape(-1).tolist()
    cosine, sine = [math.cos(a) for a in flat], [math.sin(a) for a in flat]
    return np.array(cosine).reshape(angles.shape), np.array(sine).reshape(angles.shape)


def _hypot(x: Array, y: Array) -> Array:
    """The length of (x, y), within half a unit in the last place and a bit: NumPy's is the C library's, which calculates it in another way
    where the processor has fused operations. Source: C. F. Borges, "An Improved Algorithm for hypot(a,b)" (2019), without them."""
    a, b = np.maximum(abs(x), abs(y)), np.minimum(abs(x), abs(y))
    h = np.sqrt(a * a + b * b)
    d, e = h - b, h - a
    low = np.where(h <= 2 * b, a * (2 * d - a) + (d - 2 * (a - b)) * d, 2 * e * (a - 2 * b) + ((4 * e - b) * b + e * e))
    length: Array = np.where(b > a * np.finfo(np.float64).eps, h - low / np.where(h > 0, 2 * h, 1), a + b)
    return length


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-20)


def _check_mesh(attributes: Mapping[str, tuple[Any, int]], indices: Any) -> None:
    """``attributes``: arrays, with how many numbers a vertex has of each."""
    for name, (array, width) in attributes.items():
        numbers = isinstance(array, np.ndarray) and array.dtype.kind in "fiu" and array.size
        if not numbers or array.ndim < 2 or array.shape[-1] != width:
            raise ValidationError(f"make_mesh: {name} is {arguments.shown(array)}; it must be an array of numbers, (..., {width})")
    counts = {name: array.size // width for name, (array, width) in attributes.items()}
    if len(set(counts.values())) > 1:
        raise ValidationError(f"make_mesh: there are {', '.join(f'{n} of {name}' for name, n in counts.items())}; they must be as many")
    count = counts["position"]
    whole = isinstance(indices, np.ndarray) and indices.dtype.kind in "iu" and indices.size % 3 == 0 and indices.size
    if not whole or int(indices.min()) < 0 or int(indices.max()) >= count:
        must = f"it must be an array of whole numbers from 0 to {count - 1}, (n, 3)"
        raise ValidationError(f"make_mesh: indices is {arguments.shown(indices)}; {must}")


def make_mesh(position: Array, normal: Array, uv: Array, indices: Array) -> Mesh:
    """Vertices with generated tangents. ``position``, ``normal``: (..., 3), ``uv``: (..., 2), of as many; ``indices``: (n, 3)."""
    _check_mesh({"position": (position, 3), "normal": (normal, 3), "uv": (uv, 2)}, indices)
    p, n, t = position.reshape(-1, 3), normal.reshape(-1, 3), uv.reshape(-1, 2)
    tangent, source, triangles = generate_tangents(p, n, t, indices.reshape(-1, 3))
    vertices = np.empty(len(source), DETAIL_VERTEX)
    vertices["position"], vertices["normal"], vertices["uv"] = p[source], n[source], t[source]
    vertices["tangent"] = tangent
    return Mesh(vertices, triangles.reshape(-1))


def _floats(value: Any, tail: tuple[int, ...], least: int, what: str) -> Array:
    """(n, *tail) numbers, at least so many rows."""
    try:
        array = np.asarray(value)
    except Exception:
        array = np.zeros(0, object)
    if array.dtype.kind not in "fiu" or array.ndim != 1 + len(tail) or array.shape[1:] != tail or len(array) < least:
        shape = ", ".join(["n", *map(str, tail)])
        raise ValidationError(f"{what} has shape {array.shape} and dtype {array.dtype}; it must be numbers, ({shape}), n from {least}")
    if not np.isfinite(array).all():
        raise ValidationError(f"{what} has numbers that are not finite")
    return array.astype(np.float64)


def curve(points: ArrayLike, steps: int = 8) -> Array:
    """(n, 2) points of a Catmull-Rom curve through ``points``, ``steps`` to each span, at least 1. Raises
    :class:`tilegpu.ValidationError` for other values, as all shapes."""
    p, steps = _floats(points, (2,), 2, "curve: points"), steps_of(steps, 1, "curve: steps")
    p = np.vstack([2 * p[0] - p[1], p, 2 * p[-1] - p[-2]])
    t = (np.arange(steps) / steps)[:, None]
    spans = []
    for a, b, c, d in zip(p[:-3], p[1:-2], p[2:-1], p[3:], strict=True):
        spans.append(
            0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * (t * t) + (3 * b - a - 3 * c + d) * (t * t * t))
        )
    return np.vstack([*spans, p[-2:-1]])


def lathe(
    profile: ArrayLike, segments: int = 64, sharp: float = 35.0, uv_scale: tuple[float, float] = (1.0, 1.0), smooth_ends: bool = False
) -> Mesh:
    """Surface of revolution about y of a profile of (radius, height), from its lower or inner end outwards round to the upper one, in
    ``segments`` round, at least 3.

    Corners of more than ``sharp`` degrees get two normals. u goes round, v along the profile. ``smooth_ends``: the surface goes on
    smoothly beyond the ends of the profile, round the axis where an end is on it, else where the other end is the same point.
    """
    p, segments = _floats(profile, (2,), 2, "lathe: profile"), steps_of(segments, 3, "lathe: segments")
    sharp, smooth_ends = _finite(sharp, "lathe: sharp"), arguments.flag(smooth_ends, "lathe: smooth_ends")
    uv_scale = arguments.numbers(uv_scale, "lathe: uv_scale", (2,), "it must be two numbers, for u and v")  # type: ignore[assignment]
    step = np.diff(p, axis=0)
    length = _hypot(step[:, 0], step[:, 1])
    if not length.all():
        at = p[int(np.argmin(length))].tolist()
        raise ValidationError(f"lathe: profile has the point {tuple(at)} twice in a row, so a span has no length; leave one out")
    along = np.concatenate([[0], np.cumsum(length)]) / length.sum()
    face = np.stack([step[:, 1], -step[:, 0]], -1) / length[:, None]  # outward normal of each span
    rows: list[tuple[Array, Array, float]] = []
    spans: list[int] = []  # row at which each span begins
    for k in range(len(p)):
        before, after = face[max(k - 1, 0)], face[min(k, len(face) - 1)]
        if 0 < k < len(face) and float(before @ after) < math.cos(math.radians(sharp)):
            rows += [(p[k], before, along[k]), (p[k], after, along[k])]
        else:
            if smooth_ends and k in (0, len(face)):
                before, after = _across_end(p, face, k)
            rows.append((p[k], _unit(before + after), along[k]))
        if k < len(face):
            spans.append(len(rows) - 1)
    radius = np.array([r[0] for r in rows])
    normal2 = np.array([r[1] for r in rows])
    v = np.array([r[2] for r in rows])
    c, s = cos_sin(np.arange(segments + 1) * (2 * math.pi / segments))
    ones = np.ones_like(c)
    position = np.stack([radius[:, :1] * c, radius[:, 1:] * ones, -radius[:, :1] * s], -1)
    normal = np.stack([normal2[:, :1] * c, normal2[:, 1:] * ones, -normal2[:, :1] * s], -1)
    u = np.arange(segments + 1) / segments
    uv = np.stack(np.broadcast_arrays(u * uv_scale[0], (1 - v[:, None]) * uv_scale[1]), -1)
    quads = grid_indices(segments, 1).reshape(-1, 3).astype(np.int64)
    indices = np.concatenate([quads + start * (segments + 1) for start in spans])
    corner = position.reshape(-1, 3)[indices]
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    return make_mesh(position, normal, uv, indices[area > 1e-12])


def _across_end(p: Array, face: Array, k: int) -> tuple[Array, Array]:
    """Normals of the spans on both sides of the end ``k`` of a profile."""
    own, other = (face[0], face[-1]) if k == 0 else (face[-1], face[0])
    if abs(p[k, 0]) < 1e-9 * np.abs(p).max():
        return own, own * (-1, 1)  # the same span, half a turn on
    return own, other if np.allclose(p[0], p[-1], atol=1e-6) else own


def torus_knot(
    p: int = 2,
    q: int = 3,
    radius: float = 0.4,
    depth: float = 0.16,
    tube: float = 0.1,
    steps: int = 360,
    sides: int = 28,
) -> Mesh:
    """Tube along the (p, q) torus knot; u goes along, v round."""
    p, q, depth = _turns(p, "torus_knot: p"), _turns(q, "torus_knot: q"), _finite(depth, "torus_knot: depth")
    if p == q == 0:
        raise ValidationError("torus_knot: p and q are 0, which is no way round; one of them must be another")
    radius, tube = size_of(radius, "torus_knot: radius"), size_of(tube, "torus_knot: tube")
    steps, sides = steps_of(steps, 8, "torus_knot: steps"), steps_of(sides, 3, "torus_knot: sides")
    t = np.arange(steps + 1) * (2 * math.pi / steps)
    cp, sp = cos_sin(p * t)
    cq, sq = cos_sin(q * t)
    ring = radius + depth * cq
    centre = np.stack([ring * cp, depth * sq, ring * sp], -1)
    d_ring = -depth * q * sq
    forward = _unit(np.stack([d_ring * cp - ring * p * sp, depth * q * cq, d_ring * sp + ring * p * cp], -1))
    outward = np.stack([cp * cq, sq, sp * cq], -1)  # normal of the torus: never parallel to the tangent
    side = _unit(np.cross(forward, outward))
    up = np.cross(side, forward)
    c, s = cos_sin(np.arange(sides + 1) * (2 * math.pi / sides))
    normal = side[:, None] * c[None, :, None] + up[:, None] * s[None, :, None]
    position = centre[:, None] + tube * normal
    uv = np.stack(
        np.broadcast_arrays((np.arange(steps + 1) * (24 / steps))[:, None], np.arange(sides + 1) * (2 / sides)), -1
    )
    return make_mesh(position, normal, uv, grid_indices(sides, steps).reshape(-1, 3)[:, ::-1])


def ball(radius: float, segments: int = 64) -> Mesh:
    """Sphere about the origin."""
    radius, segments = size_of(radius, "ball: radius"), steps_of(segments, 4, "ball: segments")
    c, s = cos_sin(np.linspace(-math.pi / 2, math.pi / 2, segments // 2 + 1))
    return lathe(np.stack([np.abs(c) * radius, s * radius], -1), segments, sharp=90, uv_scale=(2.0, 1.0))


def ring(radius: float, tube: float, segments: int = 96, sides: int = 16, smooth_ends: bool = False) -> Mesh:
    """Torus about y."""
    radius, tube, sides = size_of(radius, "ring: radius"), size_of(tube, "ring: tube"), steps_of(sides, 3, "ring: sides")
    segments = steps_of(segments, 3, "ring: segments")
    c, s = cos_sin(np.arange(sides + 1) * (2 * math.pi / sides))
    return lathe(np.stack([radius + tube * c, tube * s], -1), segments, sharp=90, smooth_ends=smooth_ends)


def faceted(corners: Array) -> Mesh:
    """Flat-shaded mesh of (n, 3, 3) triangles."""
    corners = _floats(corners, (3, 3), 1, "faceted: corners")
    normal = np.repeat(_unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])), 3, 0)
    uv = np.tile(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), (len(corners), 1))
    return make_mesh(corners.reshape(-1, 3), normal, uv, np.arange(3 * len(corners)).reshape(-1, 3))


def gem(radius: float, height: float, sides: int = 8) -> Mesh:
    """A brilliant of flat facets: table, crown and pavilion with ``sides`` facets each, at least 3."""
    radius, height, sides = size_of(radius, "gem: radius"), size_of(height, "gem: height"), steps_of(sides, 3, "gem: sides")
    angle = np.arange(sides) * (2 * math.pi / sides)
    c, s = cos_sin(angle)
    ch, sh = cos_sin(angle + math.pi / sides)
    table = np.stack([0.55 * radius * ch, np.full(sides, 0.32 * height), -0.55 * radius * sh], -1)
    girdle = np.stack([radius * c, np.zeros(sides), -radius * s], -1)
    top, low = np.array([0, 0.32 * height, 0]), np.array([0, -0.68 * height, 0])
    faces: list[Sequence[Array]] = []
    for k in range(sides):
        n = (k + 1) % sides
        faces += [
            (top, table[k], table[n]),
            (table[k], girdle[n], table[n]),
            (girdle[k], girdle[n], table[k]),
            (low, girdle[n], girdle[k]),
        ]
    return faceted(np.array(faces))


def disc(radius: float, tile: float, segments: int = 96) -> Mesh:
    """Horizontal disc that faces up; uv = (x, z) / tile."""
    radius, tile, segments = size_of(radius, "disc: radius"), size_of(tile, "disc: tile"), steps_of(segments, 3, "disc: segments")
    c, s = cos_sin(np.arange(segments) * (2 * math.pi / segments))
    position = np.vstack([np.zeros((1, 3)), np.stack([radius * c, 0 * c, -radius * s], -1)])
    k = np.arange(segments)
    triangles = np.stack([0 * k, 1 + k, 1 + (k + 1) % segments], -1)
    normal = np.broadcast_to(np.array([0.0, 1.0, 0.0]), position.shape)
    return make_mesh(position, normal, position[:, [0, 2]] / tile, triangles)
