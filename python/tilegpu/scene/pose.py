"""What a moment makes of a model's parts: matrices, joints, weights of morph targets; and where the vertices then are.

In: parts, and a :class:`PartPose` for each. Out: arrays that ``pbr.vert`` reads, and the same mathematics in NumPy, for the camera that
frames the model. Source: Khronos glTF 2.0, sections 3.7.2.2 (morph targets) and 3.7.3.3 (skinned meshes).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from tilegpu.scene.camera import FixedCamera, transform
from tilegpu.scene.part import Array, F, Part
from tilegpu.scene.seals import frozen

#: Vertices that are placed at once.
_CHUNK = 1 << 16


class PartPose(NamedTuple):
    """``matrix``: (4, 4) float64 mesh to world, the identity where joints move the mesh. ``joints``: (J, 4, 4) float64 mesh to world.
    ``weights``: one for each morph target. ``mirrored``: the winding is turned round."""

    matrix: Array
    mirrored: bool
    joints: Array | None = None
    weights: tuple[float, ...] = ()

    def bind(self, part: Part) -> dict[str, Array]:
        """What the shader's storage blocks hold: ``Joints``, ``Deltas``, ``Morphs``."""
        out: dict[str, Array] = {}
        if self.joints is not None:
            out["Joints"] = np.ascontiguousarray(self.joints.transpose(0, 2, 1), F)  # GLSL stores columns
        if part.morphs is not None:
            active = [(k, w) for k, w in enumerate(self.weights) if w != 0]
            words = np.zeros(2 + 2 * max(1, len(active)), np.uint32)
            words[0], words[1] = len(part.vertices), len(active)
            for slot, (target, weight) in enumerate(active):
                words[2 + 2 * slot] = target
                words[3 + 2 * slot] = np.array(weight, F).view(np.uint32)
            out["Deltas"], out["Morphs"] = part.morphs.deltas, words
        return frozen(out)


class Poser(Protocol):
    """What knows how a model moves, with the file's cameras and lights. Times in seconds; an animation of ``None``: as the file has it."""

    #: (name, duration in seconds) of each animation.
    animations: list[tuple[str, float]]
    #: Whether parts may stand elsewhere, or otherwise, than their matrices say.
    moves: bool
    #: (name, width / height that the file asks for or None) of each camera.
    cameras: list[tuple[str, float | None]]
    #: (number in the file, name) of cameras that stand nowhere.
    unplaced_cameras: list[tuple[int, str]]
    has_lights: bool

    def pose(self, animation: int | None, time: float) -> list[PartPose]:
        """A pose for each part, in their order."""

    def camera(self, index: int, animation: int | None, time: float) -> FixedCamera:
        """A camera where it is then."""

    def lights(self, animation: int | None, time: float) -> Array:
        """(lights, 3, 4) float32: the block ``Lights`` of ``pbr.frag``."""


def posed_positions(part: Part, pose: PartPose, which: Array | None = None) -> Array:
    """(V, 3) float64 positions in the world, of all vertices or those with these numbers."""
    number = np.arange(len(part.vertices)) if which is None else which
    out = np.empty((len(number), 3))
    for first in range(0, len(number), _CHUNK):
        chosen = number[first : first + _CHUNK]
        out[first : first + _CHUNK] = _placed(part, pose, chosen)
    return out


def _placed(part: Part, pose: PartPose, number: Array) -> Array:
    vertices = part.vertices[number]
    local: Array = vertices["position"].astype(np.float64)
    if part.morphs is not None and "position" in part.morphs.streams:
        stream = part.morphs.streams.index("position")
        for target, weight in enumerate(pose.weights):
            if weight:
                local = local + weight * part.morphs.deltas[target, number, stream, :3].astype(np.float64)
    if pose.joints is None:
        return transform(pose.matrix[:3, :3], local) + pose.matrix[:3, 3]
    out = np.zeros_like(local)
    for k in range(part.skin_sets):
        joints, weights = vertices[f"joints{k}"], vertices[f"weights{k}"].astype(np.float64)
        for corner in range(4):
            m = pose.joints[joints[:, corner]]
            x, y, z = local[:, 0:1], local[:, 1:2], local[:, 2:3]
            placed = x * m[:, :3, 0] + y * m[:, :3, 1] + z * m[:, :3, 2] + m[:, :3, 3]
            out += weights[:, corner : corner + 1] * placed
    return out


def _directions() -> Iterator[Array]:
    for k in range(27):
        d = np.array([k // 9 - 1, k // 3 % 3 - 1, k % 3 - 1], float)
        if k != 13:
            yield d


def extremes(points: Array) -> Array:
    """At most 26 of (N, 3) points, the farthest in as many directions: enough to frame them all, nearly."""
    found = {int(np.argmax(transform(d[None], points)[:, 0])) for d in _directions()}
    return points[sorted(found)]
