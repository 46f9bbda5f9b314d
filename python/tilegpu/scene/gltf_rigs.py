"""What makes a glTF model bend and move: skins, morph targets, and the poses of all its parts at a time.

In: a validated :class:`~tilegpu.scene.gltf.Document` and its node tree. Out: :class:`~tilegpu.scene.pose.PartPose` for each part. Source:
Khronos glTF 2.0, sections 3.7.2.2 (morph targets), 3.7.3 (skins), 3.11 (animations). On the CPU in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tilegpu.scene.camera import FixedCamera
from tilegpu.scene.gltf import Document
from tilegpu.scene.gltf_animation import Animation, read_animations
from tilegpu.scene.gltf_nodes import NodeTree
from tilegpu.scene.gltf_views import read_lights, read_views
from tilegpu.scene.matrices import product
from tilegpu.scene.model_file import named, say, shown
from tilegpu.scene.part import Array, F, Morphs
from tilegpu.scene.pose import PartPose

#: Attribute of a morph target to the vertex field that it moves; others are left out, with a warning.
_STREAMS = {"POSITION": "position", "NORMAL": "normal", "TANGENT": "tangent"}
_MAX_SETS = 2


class Placement(NamedTuple):
    """Of a part: the visit of its node, the node's skin, its mesh, and how many morph targets the part has."""

    visit: int
    skin: int | None
    mesh: int
    targets: int


@dataclass(frozen=True, eq=False)
class Skin:
    """``joints``: visits of the nodes; ``inverse_bind``: (J, 4, 4) float64."""

    joints: list[int]
    inverse_bind: Array


def read_skin(doc: Document, tree: NodeTree, index: Any, where: str) -> Skin:
    """A skin whose joints are nodes of the drawn scene."""
    table = doc.item("skins", index, where)
    here = f"skins[{index}]"
    joints = table.get("joints")
    if not isinstance(joints, list) or not joints:
        raise doc.error(here, f"joints is {shown(joints)}; a list of nodes is needed")
    visits = []
    for k, node in enumerate(joints):
        doc.item("nodes", node, f"{here}.joints[{k}]")
        if node not in tree.visit_of:
            raise doc.error(here, f"joints[{k}] is nodes[{node}], which is not in the drawn scene; a skin needs its joints there")
        visits.append(tree.visit_of[node])
    inverse = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    if "inverseBindMatrices" in table:
        columns = doc.accessor(table["inverseBindMatrices"], f"{here}.inverseBindMatrices", ("MAT4",))
        if len(columns) < len(joints):
            raise doc.error(here, f"inverseBindMatrices has {len(columns)} matrices for {len(joints)} joints; one for each is needed")
        inverse = columns[: len(joints)].reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)
    return Skin(visits, inverse)


def read_joints(doc: Document, attributes: dict[str, Any], vertices: int, where: str) -> tuple[list[Array], list[Array]]:
    """(V, 4) uint16 joints and (V, 4) float32 weights of a primitive, up to two of each; the weights of a vertex sum to 1.

    A vertex without weights follows its first joint.
    """
    all_joints: list[Array] = []
    all_weights: list[Array] = []
    for k in range(_MAX_SETS):
        name, of = f"JOINTS_{k}", f"WEIGHTS_{k}"
        if name not in attributes and of in attributes:
            raise doc.error(where, f"{of} without {name}; each weight needs its joint")
        if name not in attributes:
            continue
        if len(all_joints) < k:
            raise doc.error(where, f"{name} without JOINTS_{k - 1}; sets are numbered from 0 on")
        if of not in attributes:
            raise doc.error(where, f"{name} without {of}; each joint needs its weight")
        number = doc.accessor(attributes[name], f"{where}.attributes.{name}", ("VEC4",), as_float=False)
        weight = doc.accessor(attributes[of], f"{where}.attributes.{of}", ("VEC4",)).astype(np.float64)
        if len(number) != vertices or len(weight) != vertices:
            raise doc.error(where, f"{name} has {len(number)} elements, {of} {len(weight)}, POSITION {vertices}; they must be as many")
        if number.dtype.kind != "u" or number.dtype.itemsize > 2:
            raise doc.error(f"{where}.attributes.{name}", f"component type {number.dtype}; unsigned bytes or shorts are needed")
        used = np.where(weight != 0, number, 0)  # what has no weight may be anything
        if weight.size and float(weight.min()) < 0:
            raise doc.error(where, f"{of} has a negative weight, {float(weight.min()):.3g}")
        all_joints.append(used.astype(np.uint16))
        all_weights.append(weight)
    if not all_joints:
        text = f"model '{doc.path}': {where}: drawn without its node's skin, as it has no JOINTS_0 and WEIGHTS_0"
        say(text)
        return [], []
    total = np.zeros(vertices)
    for weight in all_weights:
        for corner in range(4):
            total = total + weight[:, corner]
    all_weights[0][total == 0, 0] = 1
    total = np.where(total == 0, 1, total)[:, None]
    return all_joints, [(weight / total).astype(F) for weight in all_weights]


def target_tables(doc: Document, primitive: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """The morph targets of a primitive."""
    return doc.objects(primitive, "targets", where)


def read_morphs(doc: Document, primitive: dict[str, Any], vertices: int, normals: bool, where: str) -> Morphs | None:
    """What the morph targets of a primitive add to positions, normals and tangents; None if nothing. ``normals``: the mesh has some."""
    targets = target_tables(doc, primitive, where)
    allowed = [name for name in _STREAMS if name == "POSITION" or normals]
    given = [name for name in allowed if any(name in target for target in targets)]
    if not given:
        return None
    deltas = np.zeros((len(targets), vertices, len(given), 4), F)
    for k, target in enumerate(targets):
        for stream, name in enumerate(given):
            if name not in target:
                continue
            values = doc.accessor(target[name], f"{where}.targets[{k}].{name}", ("VEC3",))
            if len(values) != vertices:
                raise doc.error(f"{where}.targets[{k}]", f"{name} has {len(values)} elements, POSITION has {vertices}; as many are needed")
            deltas[k, :, stream, :3] = values
    return Morphs(deltas, tuple(_STREAMS[name] for name in given))


class GltfPoser:
    """Poses of a document's parts: as the file has them, or by one of its animations."""

    def __init__(self, doc: Document, tree: NodeTree, placements: list[Placement], skins: dict[int, Skin]) -> None:
        self.doc, self.tree = doc, tree
        self._placements, self._skins = placements, skins
        counts: dict[int, int] = {}
        for place in placements:
            node = tree.visits[place.visit].node
            counts[node] = max(counts.get(node, 0), place.targets)
        of_mesh: dict[int, int] = {}  # many nodes have one mesh
        for k, node_table in enumerate(doc.json["nodes"]):  # a mesh of another scene is not drawn, but may be moved
            mesh = node_table.get("mesh")
            if k not in counts and isinstance(mesh, int):
                if mesh not in of_mesh:
                    of_mesh[mesh] = self._targets_of(mesh)
                counts[k] = of_mesh[mesh]
        self._say_idle_weights(of_mesh)
        self._animations: list[Animation] = read_animations(doc, counts)
        self.animations = [(one.name, one.duration_s) for one in self._animations]
        self._of_mesh: dict[tuple[int, int], list[float]] = {}
        self._weights = {place.visit: self._rest_weights(place) for place in placements if place.targets}
        self.moves = bool(self._animations or skins or self._weights)
        self._views, self._lights = read_views(doc, tree.visits), read_lights(doc, tree.visits)
        self.cameras = [(view.name, view.aspect) for view in self._views]
        # Cameras that no node of the scene places, for messages: (number, name).
        placed = {doc.json["nodes"][visit.node].get("camera") for visit in tree.visits}
        tables = enumerate(doc.json["cameras"])
        self.unplaced_cameras = [(k, named(table.get("name"), f"camera {k}")) for k, table in tables if k not in placed]
        self.has_lights = bool(self._lights)
        self._kept: tuple[int | None, float, dict[int, dict[str, Any]], list[Array]] | None = None  # of the moment asked for last

    def pose(self, animation: int | None, time: float) -> list[PartPose]:
        """A pose for each part, in their order, at a time in seconds."""
        moved, matrices = self._moment(animation, time)
        joints = {k: product(np.stack([matrices[j] for j in skin.joints]), skin.inverse_bind) for k, skin in self._skins.items()}
        out = []
        for place in self._placements:
            matrix = matrices[place.visit]
            mirrored = bool(np.linalg.det(matrix[:3, :3]) < 0)
            weights: tuple[float, ...] = ()
            if place.targets:
                node = self.tree.visits[place.visit].node
                weights = tuple(moved.get(node, {}).get("weights", self._weights[place.visit]))[: place.targets]
            skinned = None if place.skin is None else joints[place.skin]
            out.append(PartPose(matrix if skinned is None else np.eye(4), mirrored, skinned, weights))
        return out

    def camera(self, index: int, animation: int | None, time: float) -> FixedCamera:
        """A camera where it is then."""
        view = self._views[index]
        return view.placed(self._moment(animation, time)[1][view.visit])

    def lights(self, animation: int | None, time: float) -> Array:
        """(lights, 3, 4) float32."""
        matrices = self._moment(animation, time)[1]
        return np.stack([light.placed(matrices[light.visit]) for light in self._lights])

    def _moment(self, animation: int | None, time: float) -> tuple[dict[int, dict[str, Any]], list[Array]]:
        """What the animation changes, by node and path, and the matrices of all visits."""
        time = 0.0 if animation is None else time  # nothing moves then
        if self._kept is None or self._kept[:2] != (animation, time):
            moved = {} if animation is None else self._animations[animation].at(time)
            transforms = {node: {path: v for path, v in values.items() if path != "weights"} for node, values in moved.items()}
            self._kept = animation, time, moved, self.tree.matrices(transforms)
        return self._kept[2], self._kept[3]

    def _say_idle_weights(self, of_mesh: dict[int, int]) -> None:
        """Weights where there are no morph targets (sections 3.5.3 and 3.7.2.2). ``of_mesh``: targets of meshes that are known."""
        doc = self.doc

        def targets(mesh: int) -> int:
            if mesh not in of_mesh:
                of_mesh[mesh] = self._targets_of(mesh)
            return of_mesh[mesh]

        for k, table in enumerate(doc.json["meshes"]):
            if table.get("weights") and not targets(k):
                doc.say_once("weights", f"meshes[{k}]: has weights and no morph targets: they move nothing; leave them out")
        for k, table in enumerate(doc.json["nodes"]):
            if not table.get("weights"):
                continue
            mesh = table.get("mesh")
            if not isinstance(mesh, int) or not targets(mesh):
                of = "whose mesh has no morph targets" if isinstance(mesh, int) else "and no mesh"
                doc.say_once("weights", f"nodes[{k}]: has weights, {of}: they move nothing; leave them out")

    def _targets_of(self, mesh: int) -> int:
        table = self.doc.json["meshes"][mesh] if 0 <= mesh < len(self.doc.json["meshes"]) else {}
        primitives = table.get("primitives")
        lists = [p.get("targets") for p in primitives if isinstance(p, dict)] if isinstance(primitives, list) else []
        return max((len(targets) for targets in lists if isinstance(targets, list)), default=0)

    def _rest_weights(self, place: Placement) -> list[float]:
        """Of the node, else of its mesh, else 0. Places of one mesh share its list."""
        doc = self.doc
        node = self.tree.visits[place.visit].node
        if "weights" in doc.json["nodes"][node]:
            return doc.numbers(doc.json["nodes"][node], "weights", place.targets, [], f"nodes[{node}]")
        key = place.mesh, place.targets
        if key not in self._of_mesh:
            none = [0.0] * place.targets
            self._of_mesh[key] = doc.numbers(doc.json["meshes"][place.mesh], "weights", place.targets, none, f"meshes[{place.mesh}]")
        return self._of_mesh[key]
