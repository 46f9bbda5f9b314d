"""What a glTF document means for a picture: its meshes at their nodes, as parts.

In: a validated :class:`~tilegpu.scene.gltf.Document`. Out: parts with the nodes' matrices, and what poses them. First the tree is walked
and all that will be made is counted against the model's budget, then it is made. Source: Khronos glTF 2.0, section 3.7 (meshes).
"""

from __future__ import annotations

import dataclasses
import warnings
from collections import Counter
from typing import Any

import numpy as np

from tilegpu.errors import LostPrimitivesWarning, users_level
from tilegpu.scene.gltf import Document
from tilegpu.scene.gltf_draco import Decoded, provide_draco
from tilegpu.scene.gltf_materials import SLOTS, GltfMaterials
from tilegpu.scene.gltf_nodes import NodeTree, Visit
from tilegpu.scene.gltf_rigs import GltfPoser, Placement, Skin, read_joints, read_morphs, read_skin
from tilegpu.scene.model_file import named, say
from tilegpu.scene.part import (
    PLACED_B,
    PLACING_B,
    Array,
    F,
    Part,
    build_part,
    part_cost,
    repair_normals,
    say_no_length,
    segments,
    triangulate,
)


class GltfParts:
    """Turns a document into parts; materials, textures and meshes are made once and shared."""

    def __init__(self, document: Document, max_parts: int) -> None:
        self.doc = document
        self._max_parts = max_parts
        self._materials = GltfMaterials(document)
        self._meshes: dict[tuple[int, bool], list[Part]] = {}
        self._skins: dict[int, Skin] = {}
        self._draco = Decoded()

    def close(self) -> None:
        """Whatever came of it: nothing more is read."""
        self._draco.close()

    def parts(self) -> tuple[list[Part], GltfPoser]:
        """All parts of the default scene as the file has them; what poses them, with the file's cameras and lights."""
        doc = self.doc
        tree = NodeTree(doc)
        self._announce(tree.visits)
        out: list[Part] = []
        placements: list[Placement] = []
        for number, (visit, matrix) in enumerate(zip(tree.visits, tree.matrices(), strict=True)):
            node, here = doc.json["nodes"][visit.node], f"nodes[{visit.node}]"
            if "mesh" in node:
                mesh = doc.item("meshes", node["mesh"], here)
                label = named(node.get("name"), named(mesh.get("name"), f"mesh {node['mesh']}"))
                skin = node.get("skin")
                if skin is not None:
                    doc.item("skins", skin, here)
                    if skin not in self._skins:
                        self._skins[skin] = read_skin(doc, tree, skin, here)
                for part in self._mesh(node["mesh"], skin, here):
                    skinned = part.skin_sets > 0
                    placed = dataclasses.replace(part, matrix=(np.eye(4) if skinned else matrix).astype(F), label=label)
                    out.append(placed)
                    targets = 0 if part.morphs is None else len(part.morphs.deltas)
                    placements.append(Placement(number, skin if skinned else None, node["mesh"], targets))
            if len(out) > self._max_parts:
                raise doc.error(here, f"more than {self._max_parts:,} draws; join meshes that share a material")
        if not out:
            raise doc.error("scene", "has no triangles, lines or points to draw")
        return out, GltfPoser(doc, tree, placements, self._skins)

    # -------------------------------------------------------------------------------------------------------- budget

    def _announce(self, visits: list[Visit]) -> None:
        """Count what the meshes will take. What is malformed counts nothing: building it says what is wrong."""
        doc = self.doc
        uses = Counter(mesh for v in visits if isinstance(mesh := doc.json["nodes"][v.node].get("mesh"), int))
        most_B = 0
        for mesh, times in uses.items():
            table = doc.json["meshes"][mesh] if 0 <= mesh < len(doc.json["meshes"]) else {}
            primitives = table.get("primitives")
            for k, primitive in enumerate(primitives if isinstance(primitives, list) else ()):
                where = f"meshes[{mesh}].primitives[{k}]"
                if not isinstance(primitive, dict):
                    continue
                kept_B, moment_B, vertices, triangles = self._primitive_cost(primitive)
                doc.budget.keep(kept_B + vertices * times * PLACED_B, where, f"a primitive that is drawn {times:,} times", moment_B)
                doc.budget.draw(triangles * times, where)
                most_B += vertices * times * (PLACING_B - PLACED_B)
        doc.budget.room(most_B, "scene", "placing all vertices")

    def _primitive_cost(self, primitive: dict[str, Any]) -> tuple[int, int, int, int]:
        """Bytes that stay, bytes for a moment, vertices and triangles of the part."""
        attributes, mode = primitive.get("attributes"), primitive.get("mode", 4)
        if not isinstance(attributes, dict) or mode not in range(7):
            return 0, 0, 0, 0
        vertices = self._count(attributes.get("POSITION"))
        corners = self._count(primitive["indices"]) if "indices" in primitive else vertices
        triangles = 0 if mode < 4 else corners // 3 if mode == 4 else max(corners - 2, 0)
        materials = self.doc.json["materials"]
        index = primitive.get("material")
        material = materials[index] if isinstance(index, int) and 0 <= index < len(materials) else {}
        flat, tangents = "NORMAL" not in attributes, "normalTexture" in material
        given = {"NORMAL": 3, "TANGENT": 4, "COLOR_0": 4, "JOINTS_0": 6, "JOINTS_1": 6}
        maps = sum(key in material or inside for key, inside, _ in SLOTS.values())  # each may have coordinates of its own
        floats = 3 + sum(size for name, size in given.items() if name in attributes) + 2 * maps
        kept_B, moment_B = part_cost(vertices, triangles, floats, flat, tangents)
        if mode < 4:  # points, or lines of two indices each
            kept_B, moment_B = kept_B + 8 * corners, moment_B + 16 * corners
        targets = primitive.get("targets")
        if isinstance(targets, list):  # three vectors of four floats, once as given and once in the order of the vertices
            each_B = 48 * len(targets)
            kept_B += max(vertices, 3 * triangles if flat or tangents else 0) * each_B
            moment_B += vertices * each_B
        drawn = min(vertices, 3 * triangles) if mode > 3 else vertices
        return kept_B + 16 * corners, moment_B + 32 * corners, drawn, triangles

    def _count(self, accessor: Any) -> int:
        table = self.doc.json["accessors"]
        known = isinstance(accessor, int) and 0 <= accessor < len(table)
        count = table[accessor].get("count") if known else 0
        if isinstance(count, float) and count.is_integer():
            count = int(count)
        return count if isinstance(count, int) and 0 < count <= 1 << 53 else 0

    # ------------------------------------------------------------------------------------------------------- meshes

    def _mesh(self, index: Any, skin: int | None, where: str) -> list[Part]:
        mesh = self.doc.item("meshes", index, where)
        key = (index, skin is not None)  # what it takes was counted once, however many skins bend it
        if key not in self._meshes:
            primitives = mesh.get("primitives")
            if not isinstance(primitives, list) or not all(isinstance(p, dict) for p in primitives):
                raise self.doc.error(
                    f"meshes[{index}]", f"primitives is {type(primitives).__name__}; a list of objects is needed"
                )
            made = (self._primitive(p, key[1], f"meshes[{index}].primitives[{k}]") for k, p in enumerate(primitives))
            self._meshes[key] = [part for part in made if part is not None]
        if skin is not None:
            self._check_joints(self._meshes[key], len(self._skins[skin].joints), f"meshes[{index}]")
        return self._meshes[key]

    def _check_joints(self, parts: list[Part], count: int, where: str) -> None:
        for part in parts:
            for k in range(part.skin_sets):
                greatest = int(part.vertices[f"joints{k}"].max())
                if greatest >= count:
                    raise self.doc.error(where, f"JOINTS_{k} refers to joint {greatest}; the skin has {count}")

    def _primitive(self, primitive: dict[str, Any], skinned: bool, where: str) -> Part | None:
        doc = self.doc
        mode = doc.choice(primitive, "mode", {k: k for k in range(7)}, where, 4)
        attributes = primitive.get("attributes")
        if not isinstance(attributes, dict):
            raise doc.error(where, "attributes is not an object")
        if "POSITION" not in attributes:
            return None
        provide_draco(doc, primitive, where, self._draco)

        def get(name: str, *kinds: str) -> Array | None:
            if name not in attributes:
                return None
            values = doc.accessor(attributes[name], f"{where}.attributes.{name}", kinds)
            if len(values) != vertex_count:
                raise doc.error(
                    where, f"{name} has {len(values)} elements, POSITION has {vertex_count}; they must be as many"
                )
            return values

        position = doc.accessor(attributes["POSITION"], f"{where}.attributes.POSITION", ("VEC3",))
        vertex_count = len(position)
        normals, tangents = get("NORMAL", "VEC3"), get("TANGENT", "VEC4")
        for name, given in (("NORMAL", normals), ("TANGENT", tangents)):
            say_no_length(f"model '{doc.path}': {where}: {name}", given)
        color = get("COLOR_0", "VEC3", "VEC4")
        if color is not None and color.shape[1] == 3:
            color = np.concatenate([color, np.ones((vertex_count, 1), F)], 1)
        indices = self._indices(primitive, vertex_count, where)
        corners = segments(indices, mode) if mode < 4 else triangulate(indices, mode)
        step = {1: 2, 4: 3}.get(mode, 1)
        if len(indices) % step:
            warnings.warn(
                f"model '{doc.path}': {where}: {len(indices) % step} of {len(indices)} indices are left over: "
                f"{'lines' if mode == 1 else 'triangles'} take {step} each",
                LostPrimitivesWarning,
                stacklevel=users_level(),
            )
        if not len(corners):
            return None
        if normals is not None:
            normals = repair_normals(normals)
        material, coordinates = self._materials.material(primitive.get("material"), where)

        # Which texture coordinates does the material read? One attribute for each distinct (set, transform).
        uvs: list[Array] = []
        dropped: set[str] = set()
        remap: dict[int, int] = {}
        for slot, (texcoord, matrix) in enumerate(coordinates):
            uv = get(f"TEXCOORD_{texcoord}", "VEC2")
            if uv is None:  # the specification leaves this open: such a map is not applied
                dropped |= {name for name, used in material.uv_sets.items() if used == slot}
                continue
            remap[slot] = len(uvs)
            if matrix is not None:
                u, v = uv[:, :1].astype(np.float64), uv[:, 1:].astype(np.float64)
                uv = (u * matrix[:, 0] + v * matrix[:, 1] + matrix[:, 2]).astype(F)
            uvs.append(uv)
        if dropped:
            names = ", ".join(SLOTS[name][0] for name in sorted(dropped))
            say(f"model '{doc.path}': {where}: drawn without {names}, whose texture coordinates (TEXCOORD_n) the mesh does not have")
            maps = {name: value for name, value in material.maps.items() if name not in dropped}
            sets = {name: remap[material.uv_sets[name]] for name in maps}
            material = dataclasses.replace(material, maps=maps, uv_sets=sets)
        joints, weights = read_joints(doc, attributes, vertex_count, where) if skinned else ([], [])
        morphs = read_morphs(doc, primitive, vertex_count, normals is not None, where)
        return build_part(
            position, corners, material, None, where, normals, tangents, tuple(uvs), color, tuple(joints), tuple(weights), morphs
        )

    def _indices(self, primitive: dict[str, Any], vertex_count: int, where: str) -> Array:
        """(n,) uint32; all vertices in their order where there is no list."""
        if "indices" not in primitive:
            return np.arange(vertex_count, dtype=np.uint32)
        stored = self.doc.accessor(primitive["indices"], f"{where}.indices", ("SCALAR",), as_float=False)[:, 0]
        if stored.dtype.kind != "u":
            raise self.doc.error(f"{where}.indices", f"component type {stored.dtype}; an unsigned integer is needed")
        indices: Array = stored.astype(np.uint32)
        if indices.size and int(indices.max()) >= vertex_count:
            raise self.doc.error(f"{where}.indices", f"index {int(indices.max())} is beyond the {vertex_count} vertices")
        return indices
