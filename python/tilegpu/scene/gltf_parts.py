"""What a glTF document means for a picture: nodes, meshes, materials, textures as parts.

In: a validated :class:`~tilegpu.scene.gltf.Document`. Out: parts with the nodes' matrices. First the tree is walked and all that will
be made is counted against the model's budget, then it is made. Source: Khronos glTF 2.0, sections 3.5 (scenes) to 3.9 (materials).
Texture transforms are applied to the texture coordinates here, so a shader sees one coordinate for each distinct
(set, transform) that a material uses.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from tilegpu.scene.description import Address, Filter, Sampler, Texture
from tilegpu.scene.gltf import Document
from tilegpu.scene.materials import MAPS, Material
from tilegpu.scene.mipmaps import mip_chain
from tilegpu.scene.part import PLACED_B, PLACING_B, Array, F, Part, build_part, part_cost, repair_normals, triangulate

_MAX_DEPTH = 256
_DEFAULT_MATERIAL = Material(name="default")

_WRAP: dict[int, Address] = {10497: "repeat", 33071: "clamp_to_edge", 33648: "mirrored_repeat"}
#: minFilter to (filter, filter between mipmaps or None).
_MIN: dict[int, tuple[Filter, Filter | None]] = {
    9728: ("nearest", None),
    9729: ("linear", None),
    9984: ("nearest", "nearest"),
    9985: ("linear", "nearest"),
    9986: ("nearest", "linear"),
    9987: ("linear", "linear"),
}
_MAG: dict[int, Filter] = {9728: "nearest", 9729: "linear"}
#: Of each map: (key in the material, inside pbrMetallicRoughness?, sRGB?).
_SLOTS = {
    "base_color": ("baseColorTexture", True, True),
    "metal_rough": ("metallicRoughnessTexture", True, False),
    "normal": ("normalTexture", False, False),
    "occlusion": ("occlusionTexture", False, False),
    "emissive": ("emissiveTexture", False, True),
}


class _Visit(NamedTuple):
    """A node met on the way from the roots. ``parent``: number of the visit of its parent, -1 for a root."""

    node: int
    parent: int
    ancestors: tuple[int, ...]


class GltfParts:
    """Turns a document into parts; materials, textures and meshes are made once and shared."""

    def __init__(self, document: Document, max_visits: int, max_parts: int) -> None:
        self.doc = document
        self._max_visits, self._max_parts = max_visits, max_parts
        self._textures: dict[tuple[int, bool], Texture] = {}
        self._levels: dict[tuple[int, bool], tuple[Array, ...]] = {}
        self._meshes: dict[int, list[Part]] = {}
        self._materials: dict[int, tuple[Material, list[tuple[int, Array | None]]]] = {}

    def parts(self) -> list[Part]:
        """All parts of the default scene, with the nodes' matrices."""
        doc = self.doc
        visits = self._walk()
        self._announce(visits)
        out: list[Part] = []
        matrices: list[Array] = []
        for index, parent, _ in visits:
            node, here = doc.json["nodes"][index], f"nodes[{index}]"
            own = self._matrix(node, here)
            above = np.eye(4) if parent < 0 else matrices[parent]
            matrix = (above[:, :, None] * own[None]).sum(1)  # elementwise, not BLAS: the same bits on every CPU
            matrices.append(matrix)
            if "mesh" in node:
                label = node.get("name") or doc.item("meshes", node["mesh"], here).get("name") or f"mesh {node['mesh']}"
                for part in self._mesh(node["mesh"], here):
                    out.append(Part(part.vertices, part.indices, part.material, matrix.astype(F), str(label)))
            if len(out) > self._max_parts:
                raise doc.error(here, f"more than {self._max_parts:,} draws; join meshes that share a material")
        if not out:
            raise doc.error("scene", "has no triangles to draw")
        return out

    # -------------------------------------------------------------------------------------------------- nodes, budget

    def _roots(self) -> tuple[list[Any], str]:
        doc = self.doc
        table = doc.json
        if table["scenes"]:
            index = table.get("scene", 0)
            roots, where = doc.item("scenes", index, "scene").get("nodes", []), f"scenes[{index}]"
        else:  # no scene: every node that is nobody's child
            lists = [node.get("children") for node in table["nodes"]]
            children = {c for cs in lists if isinstance(cs, list) for c in cs if isinstance(c, int)}
            roots, where = [k for k in range(len(table["nodes"])) if k not in children], "nodes"
        if not isinstance(roots, list):
            raise doc.error(where, f"nodes is {roots!r}; a list of indices is needed")
        return roots, where

    def _walk(self) -> list[_Visit]:
        """The nodes in the order of drawing, parents before their children."""
        doc = self.doc
        roots, where = self._roots()
        out: list[_Visit] = []
        stack: list[tuple[Any, int, tuple[int, ...], str]] = [(n, -1, (), where) for n in reversed(roots)]
        while stack:
            index, parent, ancestors, where = stack.pop()
            if len(out) >= self._max_visits or len(stack) > self._max_visits:  # a child named twice doubles the tree at each level
                raise doc.error(where, f"the tree of nodes has more than {self._max_visits:,}; a node may have one parent only")
            node = doc.item("nodes", index, where)
            here = f"nodes[{index}]"
            if index in ancestors or len(ancestors) > _MAX_DEPTH:
                raise doc.error(here, "is its own ancestor, or the tree is deeper than 256 nodes")
            children = node.get("children", [])
            if not isinstance(children, list):
                raise doc.error(here, f"children is {children!r}; a list of indices is needed")
            out.append(_Visit(index, parent, ancestors))
            below, number = (*ancestors, index), len(out) - 1
            stack += [(child, number, below, here) for child in reversed(children)]
        return out

    def _announce(self, visits: list[_Visit]) -> None:
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
        attributes = primitive.get("attributes")
        if not isinstance(attributes, dict) or primitive.get("mode", 4) not in (4, 5, 6):
            return 0, 0, 0, 0
        vertices = self._count(attributes.get("POSITION"))
        corners = self._count(primitive["indices"]) if "indices" in primitive else vertices
        triangles = corners // 3 if primitive.get("mode", 4) == 4 else max(corners - 2, 0)
        materials = self.doc.json["materials"]
        index = primitive.get("material")
        material = materials[index] if isinstance(index, int) and 0 <= index < len(materials) else {}
        flat, tangents = "NORMAL" not in attributes, "normalTexture" in material
        given = {"NORMAL": 3, "TANGENT": 4, "COLOR_0": 4}
        maps = sum(key in material or inside for key, inside, _ in _SLOTS.values())  # each may have coordinates of its own
        floats = 3 + sum(size for name, size in given.items() if name in attributes) + 2 * maps
        kept_B, moment_B = part_cost(vertices, triangles, floats, flat, tangents)
        return kept_B + 16 * corners, moment_B + 32 * corners, min(vertices, 3 * triangles), triangles

    def _count(self, accessor: Any) -> int:
        table = self.doc.json["accessors"]
        known = isinstance(accessor, int) and 0 <= accessor < len(table)
        count = table[accessor].get("count") if known else 0
        if isinstance(count, float) and count.is_integer():
            count = int(count)
        return count if isinstance(count, int) and count > 0 else 0

    def _matrix(self, node: dict[str, Any], where: str) -> Array:
        doc = self.doc
        if "matrix" in node:
            return np.array(doc.numbers(node, "matrix", 16, [], where)).reshape(4, 4).T
        t = doc.numbers(node, "translation", 3, [0.0, 0.0, 0.0], where)
        x, y, z, w = doc.numbers(node, "rotation", 4, [0.0, 0.0, 0.0, 1.0], where)
        s = doc.numbers(node, "scale", 3, [1.0, 1.0, 1.0], where)
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if length < 1e-12:
            raise doc.error(where, "rotation is a quaternion of length 0")
        x, y, z, w = x / length, y / length, z / length, w / length
        rotation = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        out = np.eye(4)
        out[:3, :3] = rotation * np.array(s)
        out[:3, 3] = t
        return out

    # ------------------------------------------------------------------------------------------------------- meshes

    def _mesh(self, index: Any, where: str) -> list[Part]:
        mesh = self.doc.item("meshes", index, where)
        if index not in self._meshes:
            primitives = mesh.get("primitives")
            if not isinstance(primitives, list) or not all(isinstance(p, dict) for p in primitives):
                raise self.doc.error(
                    f"meshes[{index}]", f"primitives is {type(primitives).__name__}; a list of objects is needed"
                )
            made = (self._primitive(p, f"meshes[{index}].primitives[{k}]") for k, p in enumerate(primitives))
            self._meshes[index] = [part for part in made if part is not None]
        return self._meshes[index]

    def _primitive(self, primitive: dict[str, Any], where: str) -> Part | None:
        doc = self.doc
        mode = doc.choice(primitive, "mode", {k: k for k in range(7)}, where, 4)
        if mode < 4:
            return None  # points and lines have no triangles
        attributes = primitive.get("attributes")
        if not isinstance(attributes, dict):
            raise doc.error(where, "attributes is not an object")
        if "POSITION" not in attributes:
            return None

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
        color = get("COLOR_0", "VEC3", "VEC4")
        if color is not None and color.shape[1] == 3:
            color = np.concatenate([color, np.ones((vertex_count, 1), F)], 1)
        if "indices" in primitive:
            stored = doc.accessor(primitive["indices"], f"{where}.indices", ("SCALAR",), as_float=False)[:, 0]
            if stored.dtype.kind != "u":
                raise doc.error(f"{where}.indices", f"component type {stored.dtype}; an unsigned integer is needed")
            indices = stored.astype(np.uint32)
        else:
            indices = np.arange(vertex_count, dtype=np.uint32)
        if indices.size and int(indices.max()) >= vertex_count:
            raise doc.error(f"{where}.indices", f"index {int(indices.max())} is beyond the {vertex_count} vertices")
        triangles = triangulate(indices, mode)
        if not len(triangles):
            return None
        if normals is not None:
            normals = repair_normals(normals)

        # Which texture coordinates does the material read? One attribute for each distinct (set, transform).
        material, coordinates = self._material(primitive.get("material"), where)
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
            maps = {name: value for name, value in material.maps.items() if name not in dropped}
            sets = {name: remap[material.uv_sets[name]] for name in maps}
            material = dataclasses.replace(material, maps=maps, uv_sets=sets)
        return build_part(position, triangles, material, None, where, normals, tangents, tuple(uvs), color)

    # ---------------------------------------------------------------------------------------------------- materials

    def _material(self, index: Any, where: str) -> tuple[Material, list[tuple[int, Array | None]]]:
        """Material and its distinct (texCoord, 2x3 transform or None), to which its uv_sets refer."""
        if index is None:
            return _DEFAULT_MATERIAL, []
        doc = self.doc
        table = doc.item("materials", index, where)
        if index in self._materials:
            return self._materials[index]
        here = f"materials[{index}]"
        pbr = self._object(table, "pbrMetallicRoughness", here)
        extensions = self._object(table, "extensions", here)
        maps: dict[str, Texture] = {}
        sets: dict[str, int] = {}
        coordinates: list[tuple[int, Array | None]] = []
        scalars = {"normal_scale": 1.0, "occlusion_strength": 1.0}
        for name in MAPS:
            key, inside, srgb = _SLOTS[name]
            info = self._object(pbr if inside else table, key, here)
            if not info:
                continue
            maps[name] = self._texture(info.get("index"), srgb, f"{here}.{key}")
            texcoord, transform = self._coordinates(info, f"{here}.{key}")
            for slot, (other, matrix) in enumerate(coordinates):
                if matrix is None or transform is None:
                    same = matrix is transform
                else:
                    same = np.array_equal(matrix, transform)
                if other == texcoord and same:
                    sets[name] = slot
                    break
            else:
                sets[name] = len(coordinates)
                coordinates.append((texcoord, transform))
            if name == "normal":
                scalars["normal_scale"] = doc.number(info, "scale", 1.0, f"{here}.{key}")
            if name == "occlusion":
                scalars["occlusion_strength"] = doc.number(info, "strength", 1.0, f"{here}.{key}")
        mode = doc.choice(table, "alphaMode", {name: name for name in ("OPAQUE", "MASK", "BLEND")}, here, "OPAQUE")
        strength = self._object(extensions, "KHR_materials_emissive_strength", here)
        emissive = doc.numbers(table, "emissiveFactor", 3, [0.0, 0.0, 0.0], here)
        factor = doc.number(strength, "emissiveStrength", 1.0, here)
        material = Material(
            name=str(table.get("name") or f"material {index}"),
            base_color=cast(
                "tuple[float, float, float, float]", tuple(doc.numbers(pbr, "baseColorFactor", 4, [1.0] * 4, here))
            ),
            metallic=doc.number(pbr, "metallicFactor", 1.0, here),
            roughness=doc.number(pbr, "roughnessFactor", 1.0, here),
            emissive=(emissive[0] * factor, emissive[1] * factor, emissive[2] * factor),
            alpha_mode=cast("Literal['OPAQUE', 'MASK', 'BLEND']", mode),
            alpha_cutoff=doc.number(table, "alphaCutoff", 0.5, here),
            double_sided=doc.flag(table, "doubleSided", here),
            unlit="KHR_materials_unlit" in extensions,
            maps=maps,
            uv_sets=sets,
            **scalars,
        )
        self._materials[index] = (material, coordinates)
        return self._materials[index]

    def _object(self, table: dict[str, Any], key: str, where: str) -> dict[str, Any]:
        value = table.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.doc.error(where, f"{key} is a {type(value).__name__}; an object is needed")
        # An empty extension object still means that it is there.
        return value

    def _coordinates(self, info: dict[str, Any], where: str) -> tuple[int, Array | None]:
        """texCoord and the 2x3 matrix of KHR_texture_transform, None where it is the identity."""
        doc = self.doc
        texcoord = doc.integer(info, "texCoord", where, 0)
        extension = self._object(self._object(info, "extensions", where), "KHR_texture_transform", where)
        if not extension:
            return texcoord, None
        where = f"{where}.KHR_texture_transform"
        ox, oy = doc.numbers(extension, "offset", 2, [0.0, 0.0], where)
        sx, sy = doc.numbers(extension, "scale", 2, [1.0, 1.0], where)
        angle = doc.number(extension, "rotation", 0.0, where)
        texcoord = doc.integer(extension, "texCoord", where, texcoord)
        c, s = math.cos(angle), math.sin(angle)
        # translation * rotation * scale; the extension's rotation is counter-clockwise for v upwards.
        matrix = np.array([[c * sx, s * sy, ox], [-s * sx, c * sy, oy]])
        identity = np.array([[1.0, 0, 0], [0, 1.0, 0]])
        return texcoord, None if np.array_equal(matrix, identity) else matrix

    def _texture(self, index: Any, srgb: bool, where: str) -> Texture:
        doc = self.doc
        table = doc.item("textures", index, where)
        if (index, srgb) not in self._textures:
            here = f"textures[{index}]"
            if table.get("source") is None:
                raise doc.error(here, "has no source image (an extension's image format that is not supported?)")
            pixels = doc.image(table["source"], here)
            sampler, mipmaps = self._sampler(table.get("sampler"), here)
            name = doc.item("images", table["source"], here).get("name") or table.get("name") or here
            texture_format = "r8g8b8a8_srgb" if srgb else "r8g8b8a8_unorm"
            key = (table["source"], srgb)
            if mipmaps and key not in self._levels:  # textures that differ in the sampler alone share their texels
                self._levels[key] = mip_chain(pixels, srgb)
            levels = self._levels[key] if mipmaps else False
            self._textures[index, srgb] = Texture(pixels, texture_format, levels, sampler, str(name))
        return self._textures[index, srgb]

    def _sampler(self, index: Any, where: str) -> tuple[Sampler, bool]:
        if index is None:
            return Sampler(), True
        doc = self.doc
        table = doc.item("samplers", index, where)
        here = f"samplers[{index}]"
        wrap_u, wrap_v = (doc.choice(table, key, _WRAP, here, 10497) for key in ("wrapS", "wrapT"))
        filter_, between = doc.choice(table, "minFilter", _MIN, here, 9987)
        magnify = doc.choice(table, "magFilter", _MAG, here, 9729)
        # Without mipmaps: level 0 alone. A maxLod of 0.25 with nearest levels still tells the two filters apart
        # (Vulkan specification, VkSamplerCreateInfo).
        max_lod = 1000.0 if between else 0.25
        return Sampler(
            filter_, magnify, between or "nearest", wrap_u, wrap_v, max_lod=max_lod
        ), between is not None
