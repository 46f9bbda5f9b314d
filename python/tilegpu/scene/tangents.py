"""Normals and tangents for meshes that have none.

In: triangles as float arrays; out: per-vertex attributes, with vertices split where the texture is mirrored. Tangents follow the idea
of Mikkelsen, "Simulation of Wrinkled Surfaces Revisited" (2008), appendix: a tangent a corner, projected into the plane of the
vertex normal, weighted by the corner's angle, and averaged over the corners that share position, normal and texture coordinate and
have the same orientation of the texture.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _unit(v: Array, fallback: Array | None = None) -> Array:
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    good = length > 1e-20
    out = v / np.where(good, length, 1)
    if fallback is not None:
        out = np.where(good, out, fallback)
    return out


def _scatter(index: Array, values: Array, count: int) -> Array:
    """(count, 3) sums of ``values`` (n, 3) by ``index`` (n,)."""
    return np.stack([np.bincount(index, values[:, k], count) for k in range(values.shape[1])], -1)


def weld(rows: Array) -> Array:
    """(n,) group number of each row of (n, k) float32 ``rows``: equal rows, equal number (-0 equals 0)."""
    bits = np.ascontiguousarray(rows.astype(np.float32) + np.float32(0)).view(np.uint32).astype(np.uint64)
    key = np.zeros(len(bits), np.uint64)
    for column in bits.T:  # a hash of the row; that no two different rows share one is checked below
        key = (key ^ column) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    if not np.array_equal(bits[first[group]], bits):
        _, group = np.unique(bits, axis=0, return_inverse=True)
        group = group.reshape(-1)
    return group


def _arccos(cosine: Array) -> Array:
    """Through the C library: the same on every CPU, whatever NumPy vectorises."""
    return np.fromiter(map(math.acos, cosine.reshape(-1).tolist()), np.float64, cosine.size).reshape(cosine.shape)


def _dot(a: Array, b: Array) -> Array:
    """Of vectors of three, in one order: that of einsum goes by the processor's vectors, and its steps are fused on some."""
    product: Array = a * b
    total: Array = (product[..., 0] + product[..., 2]) + product[..., 1]
    return total


def corner_angles(corners: Array) -> Array:
    """(n, 3) angles in radians of triangles (n, 3, 3); 0 where a triangle is degenerate."""
    edges = _unit(np.roll(corners, -1, 1) - corners)
    cosine = -_dot(edges, np.roll(edges, 1, 1))
    angles: Array = np.where(np.all(np.any(edges != 0, -1), -1, keepdims=True), _arccos(np.clip(cosine, -1, 1)), 0)
    return angles


def flat_normals(corners: Array) -> Array:
    """(n, 3) unit normals of triangles (n, 3, 3), counter-clockwise seen from the front; (0, 0, 1) for degenerate ones."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return _unit(cross, np.array([0.0, 0.0, 1.0])).astype(np.float32)


def smooth_normals(positions: Array, triangles: Array) -> Array:
    """(V, 3) unit vertex normals of (V, 3) positions and (n, 3) triangles: face normals weighted by the corner's angle.

    Vertices at the same position share one normal, whatever their index.
    """
    same = weld(positions)
    corners = positions[triangles].astype(np.float64)
    face = _unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    weighted = face[:, None, :] * corner_angles(corners)[..., None]
    sums = _scatter(same[triangles.reshape(-1)], weighted.reshape(-1, 3), int(same.max()) + 1 if same.size else 0)
    return _unit(sums, np.array([0.0, 0.0, 1.0]))[same].astype(np.float32)


def generate_tangents(positions: Array, normals: Array, uvs: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """Tangents of a mesh: ``(tangents, source, triangles)``.

    ``source`` (W,) gives for each new vertex the old vertex it copies (a vertex between mirrored halves is there twice),
    ``tangents`` (W, 4) its tangent and handedness w (bitangent = cross(normal, tangent) * w), ``triangles`` (n, 3) the new indices.
    """
    corners, uv = positions[triangles].astype(np.float64), uvs[triangles].astype(np.float64)
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    d1, d2 = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    # dP/du up to a positive factor. An image's v grows downwards and +y of a normal map points up (glTF 2.0, section 3.9.3):
    # the bitangent is -dP/dv, so w = +1 where the area in (u, v) is negative.
    sign = np.where(area < 0, -1, 1)
    tangent = (d2[:, 1:2] * e1 - d1[:, 1:2] * e2) * sign[:, None]
    degenerate = np.abs(area) < 1e-30
    tangent[degenerate] = 0
    tangent = _unit(tangent)

    flat = triangles.reshape(-1)
    corner_normal = normals[flat].astype(np.float64)
    projected = np.repeat(tangent, 3, 0)
    projected -= corner_normal * _dot(corner_normal, projected)[:, None]
    projected = _unit(projected) * corner_angles(corners).reshape(-1, 1)
    corner_sign = np.repeat(sign, 3)

    # Weld by position, normal, uv and orientation.
    group = weld(np.concatenate([positions, normals, uvs], 1))[flat] * 2 + (corner_sign > 0)
    _, group = np.unique(group, return_inverse=True)
    group = group.reshape(-1)
    sums = _scatter(group, projected, int(group.max()) + 1 if group.size else 0)

    # New vertices: (old vertex, orientation).
    pairs, corner_vertex = np.unique(flat.astype(np.int64) * 2 + (corner_sign > 0), return_inverse=True)
    source = pairs // 2
    mean = np.zeros((len(pairs), 3))
    mean[corner_vertex.reshape(-1)] = sums[group]
    n = normals[source].astype(np.float64)
    helper = np.where(np.abs(n[:, :1]) < 0.9, np.array([[1.0, 0, 0]]), np.array([[0, 1.0, 0]]))
    mean = _unit(mean, _unit(np.cross(n, helper)))
    w = np.where(pairs % 2 == 1, -1.0, 1.0)[:, None]
    tangents = np.concatenate([mean, w], 1).astype(np.float32)
    return tangents, source, corner_vertex.reshape(-1, 3).astype(np.uint32)
