"""A mesh with a material at one place: what every kind of model file is turned into.

In: loose arrays of attributes. Out: structured vertices and a list of triangles, lines or points. Missing normals and tangents are made
here, and the memory that this takes is told by :func:`part_cost`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tilegpu.fixed import made_once
from tilegpu.scene.camera import transform
from tilegpu.scene.materials import Material
from tilegpu.scene.model_file import say
from tilegpu.scene.tangents import flat_normals, generate_tangents

Array = NDArray[Any]
F = np.float32
#: Bytes for each triangle that only the making takes (measured: 248 flat, 1168 with tangents, 436 smooth normals).
FLAT_B, TANGENTS_B, SMOOTH_B = 320, 1280, 480
#: Bytes for each vertex of each part at its place: a scene frames its points by them (measured: 25 that stay, 136 at most).
PLACED_B, PLACING_B = 25, 136


Topology = Literal["triangle_list", "line_list", "point_list"]


@dataclass(frozen=True, eq=False)
class Morphs:
    """Morph targets. ``deltas``: (targets, V, streams, 4) float32, what a weight of 1 adds; ``streams``: which attributes these are."""

    deltas: Array
    streams: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Part:
    """A mesh with a material, at one place. ``matrix``: (4, 4) float32, mesh to world (where it stands as the file has it).

    A mesh that bends has the vertex fields ``joints0``, ``weights0`` (and ``joints1``, ``weights1``) or ``morphs``; without ``normal`` a
    shader makes flat normals of what it became.
    """

    vertices: Array
    indices: Array
    material: Material
    matrix: Array
    label: str
    topology: Topology = "triangle_list"
    morphs: Morphs | None = None

    @property
    def skin_sets(self) -> int:
        """How many times four joints move a vertex."""
        return sum(name.startswith("joints") for name in self.attributes)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the vertex fields."""
        return tuple(self.vertices.dtype.names or ())

    @made_once
    def variant(self) -> dict[str, object]:
        """What ``pbr.vert`` and ``pbr.frag`` have to know of the mesh, as names to define; none for a mesh that stands still."""
        out: dict[str, object] = {}
        if self.skin_sets:
            out["SKIN_SETS"] = self.skin_sets
        if self.morphs is not None:
            out["MORPH_STREAMS"] = len(self.morphs.streams)
            out.update({f"MORPH_{name.upper()}": k for k, name in enumerate(self.morphs.streams)})
        if self.topology == "point_list":
            out["POINTS"] = 1
        if "normal" not in self.attributes:
            out["NO_NORMAL"] = 1
            if self.topology != "triangle_list":
                out["LIGHTLESS"] = 1
        return out

    @made_once
    def mirrored(self) -> bool:
        """Whether the matrix turns the winding round."""
        return bool(np.linalg.det(self.matrix[:3, :3].astype(np.float64)) < 0)

    def world_positions(self, which: Array | None = None) -> Array:
        """(V, 3) float64 positions in the world, of all vertices or those with these numbers."""
        m = self.matrix.astype(np.float64)
        local = self.vertices["position"] if which is None else self.vertices["position"][which]
        return transform(m[:3, :3], local.astype(np.float64)) + m[:3, 3]


def part_cost(vertices: int, triangles: int, floats: int, flat: bool, tangents: bool) -> tuple[int, int]:
    """Bytes that :func:`build_part` keeps, and those that it takes for a moment. ``floats``: of the attributes that are given."""
    if flat or tangents:
        vertices = max(vertices, 3 * triangles)
    kept_B = vertices * 4 * (floats + (3 if flat else 0) + (4 if tangents else 0)) + triangles * 12
    return kept_B, kept_B + triangles * (TANGENTS_B if tangents else FLAT_B if flat else 0)


def build_part(
    positions: Array,
    triangles: Array,
    material: Material,
    matrix: Array | None = None,
    label: str = "mesh",
    normals: Array | None = None,
    tangents: Array | None = None,
    uvs: tuple[Array, ...] = (),
    colors: Array | None = None,
    joints: tuple[Array, ...] = (),
    weights: tuple[Array, ...] = (),
    morphs: Morphs | None = None,
) -> Part:
    """A :class:`Part` of loose arrays: (V, 3) positions, (n, 3) triangles, and whichever attributes there are, each (V, ...).

    Missing normals make flat shading (glTF 2.0, section 3.7.2.1), in the shader where the mesh bends; tangents are made if the material
    has a normal map. ``joints``, ``weights``: (V, 4) uint16 and float32, up to two of each. ``triangles`` of shape (n, 2) are lines,
    of (n, 1) points; these get no normals.
    """
    attributes: dict[str, Array] = {"position": np.asarray(positions, F)}
    for k, uv in enumerate(uvs):
        attributes[f"uv{k}"] = uv
    if colors is not None:
        attributes["color"] = colors
    for k, (joint, weight) in enumerate(zip(joints, weights, strict=True)):
        attributes[f"joints{k}"], attributes[f"weights{k}"] = joint, weight
    if morphs is not None:
        attributes["source"] = np.arange(len(positions))
    corners = triangles.shape[1]
    bends = bool(joints) or morphs is not None
    mapped = "normal" in material.maps and not material.unlit and bool(uvs) and corners == 3
    if normals is not None:
        attributes["normal"] = normals
    elif corners == 3 and (mapped or not bends):
        flat = triangles.reshape(-1)
        attributes = {name: value[flat] for name, value in attributes.items()}
        triangles = np.arange(flat.size, dtype=np.uint32).reshape(-1, 3)
        attributes["normal"] = np.repeat(
            flat_normals(attributes["position"].reshape(-1, 3, 3).astype(np.float64)), 3, 0
        )
        tangents = None
    if mapped:
        if tangents is None:
            uv = attributes[f"uv{material.uv_sets.get('normal', 0)}"]
            tangents, source, triangles = generate_tangents(attributes["position"], attributes["normal"], uv, triangles)
            attributes = {name: value[source] for name, value in attributes.items()}
        attributes["tangent"] = tangents
    if morphs is not None:
        deltas = morphs.deltas[:, attributes.pop("source")]
        deltas.flags.writeable = False
        morphs = Morphs(deltas, morphs.streams)
    order = ["position", "normal", "tangent", "color", *(f"uv{k}" for k in range(len(uvs)))]
    order += [f"{name}{k}" for k in range(len(joints)) for name in ("joints", "weights")]
    fields = [
        (name, "<u2" if name.startswith("joints") else "<f4", attributes[name].shape[1]) for name in order if name in attributes
    ]
    vertices = np.empty(len(attributes["position"]), np.dtype(fields))
    for name, *_ in fields:
        vertices[name] = attributes[name]
    indices = np.ascontiguousarray(triangles, np.uint32).reshape(-1)
    for array in (vertices, indices):
        array.flags.writeable = False
    matrix = np.eye(4, dtype=F) if matrix is None else np.asarray(matrix, F)
    topology: Topology = "triangle_list" if corners == 3 else "line_list" if corners == 2 else "point_list"
    return Part(vertices, indices, material, matrix, label, topology, morphs)


def triangulate(indices: Array, mode: int) -> Array:
    """(n, 3) triangles of an index list; ``mode``: 4 list, 5 strip, 6 fan (glTF 2.0, section 3.7.2.1)."""
    if mode == 4:
        return indices[: indices.size // 3 * 3].reshape(-1, 3)
    count = max(indices.size - 2, 0)
    k = np.arange(count)
    if mode == 5:
        # Vertices k, k + (1 + k % 2), k + (2 - k % 2).
        return np.stack([indices[k], indices[k + 1 + k % 2], indices[k + 2 - k % 2]], -1)
    return np.stack([indices[k + 1], indices[k + 2], np.broadcast_to(indices[:1], (count,))], -1)


def segments(indices: Array, mode: int) -> Array:
    """(n, 2) lines of an index list; ``mode``: 1 list, 2 loop, 3 strip; (n, 1) points for 0 (glTF 2.0, section 3.7.2.1)."""
    if mode == 0:
        return indices.reshape(-1, 1)
    if mode == 1:
        return indices[: indices.size // 2 * 2].reshape(-1, 2)
    if mode == 2 and indices.size > 1:
        return np.stack([indices, np.roll(indices, -1)], -1)
    return np.stack([indices[:-1], indices[1:]], -1)


def say_no_length(what: str, vectors: Array | None) -> None:
    """Warns of normals or tangents that are 0, all of them: nobody meant these, as of some degenerate triangles' somebody may."""
    if vectors is not None and len(vectors) and not np.any(vectors[:, :3]):
        say(f"{what}: all of them are 0, which have no direction; (0, 0, 1) is taken for a normal: leave them out, and they are made")


def repair_normals(normals: Array) -> Array:
    """Unit length; (0, 0, 1) where a normal is zero."""
    length = np.linalg.norm(normals.astype(np.float64), axis=1, keepdims=True)
    good = length > 1e-20
    if np.all(np.abs(length - 1) < 1e-3):
        return normals
    return np.where(good, normals / np.where(good, length, 1), np.array([0.0, 0.0, 1.0])).astype(F)
