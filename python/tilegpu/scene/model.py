"""Model files as scenes: glTF and GLB through ``gltf.py``; OBJ, PLY and STL through trimesh.

In: a path. Out: a :class:`ModelScene`, whose parts are meshes (structured vertices, triangle lists) with a material and a matrix.
Texture transforms are applied to the texture coordinates here, so a shader sees one coordinate for each distinct
(set, transform) that a material uses.
"""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from tilegpu.scene.camera import OrbitCamera, transform
from tilegpu.scene.description import Address, Draw, Filter, Frame, Sampler, Scene, Texture
from tilegpu.scene.gltf import Document, ModelError, decode_image
from tilegpu.scene.lighting import studio
from tilegpu.scene.materials import MAPS, Material
from tilegpu.scene.mipmaps import mip_chain
from tilegpu.scene.tangents import flat_normals, generate_tangents, smooth_normals

Array = NDArray[Any]
F = np.float32
_MAX_DEPTH = 256
_MAX_PARTS = 100_000
_MAX_VISITS = 500_000


@dataclass(frozen=True, eq=False)
class Part:
    """A mesh with a material, at one place. ``matrix``: (4, 4) float32, mesh to world."""

    vertices: Array
    indices: Array
    material: Material
    matrix: Array
    label: str

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the vertex fields."""
        return tuple(self.vertices.dtype.names or ())

    @functools.cached_property
    def mirrored(self) -> bool:
        """Whether the matrix turns the winding round."""
        return bool(np.linalg.det(self.matrix[:3, :3].astype(np.float64)) < 0)

    def world_positions(self) -> Array:
        """(V, 3) float64 positions in the world."""
        m = self.matrix.astype(np.float64)
        return transform(m[:3, :3], self.vertices["position"].astype(np.float64)) + m[:3, 3]


class ModelScene(Scene):
    """A model in the studio light, framed by the camera; blended parts are drawn last, back to front."""

    default_samples = 4
    clear_color = (0.055, 0.06, 0.07, 1.0)  # linear

    def __init__(
        self, name: str, parts: list[Part], yaw: float = 0.45, pitch: float = 0.22, path: str | Path | None = None
    ) -> None:
        source = name if path is None else path  # for messages
        if not parts:
            raise ModelError(f"model '{source}': has no triangles to draw")
        self.name = name
        self.parts = parts
        triangles = sum(part.indices.size // 3 for part in parts)
        materials = {id(part.material) for part in parts}
        self.description = f"{triangles:,} triangles, {len(parts)} draws, {len(materials)} materials"
        self._yaw, self._pitch = yaw, pitch
        used = [part.world_positions()[np.unique(part.indices)] for part in parts]
        self._centres = [(p.min(0) + p.max(0)) / 2 for p in used]
        points = np.concatenate(used)
        self.low, self.high = points.min(0), points.max(0)
        self._points = points
        if not np.abs(points).max() < 1e15:
            largest = float(np.abs(points).max())
            raise ModelError(
                f"model '{source}': a position is {largest:.3g} from the origin; at most 1e15 can be projected"
            )
        self.default_size = self._natural_size()
        self._blocks = {id(part.material): part.material.block() for part in parts}
        self._textures: dict[int, Mapping[str, Texture]] = {}

    def _natural_size(self) -> tuple[int, int]:
        """About 0.9 megapixels in the model's proportions, so that it fills the frame."""
        camera = self._framed(1.0)
        clip = np.c_[self._points, np.ones(len(self._points))] @ camera.view_projection(1.0).astype(np.float64).T
        extent = np.ptp(clip[:, :2] / clip[:, 3:], axis=0)
        aspect = float(np.clip(extent[0] / max(extent[1], 1e-6), 0.6, 16 / 9))
        width = round(math.sqrt(1280 * 720 * aspect) / 16) * 16
        return width, round(width / aspect / 16) * 16

    def camera(self, aspect: float | None = None) -> OrbitCamera:
        """A camera that frames the model for ``aspect`` = width / height (default: that of ``default_size``)."""
        return self._framed(self.default_size[0] / self.default_size[1] if aspect is None else aspect)

    def _framed(self, aspect: float) -> OrbitCamera:
        return OrbitCamera.framing(
            self.low, self.high, self._yaw, self._pitch, points=self._points, aspect=aspect, fill=0.94
        )

    def frame(
        self,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        camera: OrbitCamera | None = None,
        time: float = 0.0,
    ) -> Frame:
        """See :meth:`Scene.frame`."""
        size, samples = self._resolve_request(size, samples)
        aspect = size[0] / size[1]
        if camera is None:
            camera = self.camera(aspect)
        view = studio(camera, aspect, math.degrees(self._yaw))
        order = [k for k, part in enumerate(self.parts) if part.material.alpha_mode != "BLEND"]
        blended = [k for k, part in enumerate(self.parts) if part.material.alpha_mode == "BLEND"]
        eye = camera.eye.astype(np.float64)
        blended.sort(key=lambda k: -float(np.linalg.norm(self._centres[k] - eye)))
        draws = [draw for k in order + blended for draw in self._draws(self.parts[k], view)]
        return Frame(
            size,
            samples,
            ("r8g8b8a8_srgb",),
            (self.clear_color,),
            resolve="pass" if samples > 1 else "none",
            draws=tuple(draws),
            label=self.name,
        )

    def _draws(self, part: Part, view: dict[str, Any]) -> Iterator[Draw]:
        names = part.attributes
        uv_count = sum(name.startswith("uv") for name in names)
        shader = part.material.program(uv_count, "color" in names, "tangent" in names)
        bind: dict[str, Any] = {"view": view, "material": self._blocks[id(part.material)]}
        bind.update(part.material.textures(shader))
        for state in part.material.states(part.mirrored):
            yield Draw(
                shader,
                part.vertices,
                part.indices,
                push={"model": part.matrix},
                bind=bind,
                state=state,
                label=f"{part.label} ({part.material.name})",
            )


def load_model(path: str | Path) -> ModelScene:
    """A model file (glTF, GLB, OBJ, PLY, STL) as a scene.

    Raises :class:`ModelError` (a ``ValueError``) that names the file, the object and the field for whatever is wrong with it.
    """
    path = Path(path)
    if not path.is_file():
        raise ModelError(f"model '{path}': there is no such file")
    # Transforms that overflow give infinite positions, which ModelScene refuses by name; NumPy's warning would only come before.
    with np.errstate(over="ignore", invalid="ignore"):
        if path.suffix.lower() in (".obj", ".ply", ".stl"):
            return ModelScene(path.stem, _load_trimesh(path), path=path)
        return ModelScene(path.stem, _GltfReader(Document.load(path)).parts(), path=path)


# --------------------------------------------------------------------------------------------------- building vertices


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
) -> Part:
    """A :class:`Part` of loose arrays: (V, 3) positions, (n, 3) triangles, and whichever attributes there are, each (V, ...).

    Missing normals make flat shading (glTF 2.0, section 3.7.2.1); tangents are made if the material has a normal map.
    """
    attributes: dict[str, Array] = {"position": np.asarray(positions, F)}
    for k, uv in enumerate(uvs):
        attributes[f"uv{k}"] = uv
    if colors is not None:
        attributes["color"] = colors
    if normals is None:
        flat = triangles.reshape(-1)
        attributes = {name: value[flat] for name, value in attributes.items()}
        triangles = np.arange(flat.size, dtype=np.uint32).reshape(-1, 3)
        attributes["normal"] = np.repeat(
            flat_normals(attributes["position"].reshape(-1, 3, 3).astype(np.float64)), 3, 0
        )
        tangents = None
    else:
        attributes["normal"] = normals
    if "normal" in material.maps and not material.unlit and uvs:
        if tangents is None:
            uv = attributes[f"uv{material.uv_sets.get('normal', 0)}"]
            tangents, source, triangles = generate_tangents(attributes["position"], attributes["normal"], uv, triangles)
            attributes = {name: value[source] for name, value in attributes.items()}
        attributes["tangent"] = tangents
    order = ["position", "normal", "tangent", "color", *(f"uv{k}" for k in range(len(uvs)))]
    fields = [(name, "<f4", attributes[name].shape[1]) for name in order if name in attributes]
    vertices = np.empty(len(attributes["position"]), np.dtype(fields))
    for name, *_ in fields:
        vertices[name] = attributes[name]
    indices = np.ascontiguousarray(triangles, np.uint32).reshape(-1)
    for array in (vertices, indices):
        array.flags.writeable = False
    matrix = np.eye(4, dtype=F) if matrix is None else np.asarray(matrix, F)
    return Part(vertices, indices, material, matrix, label)


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


# ----------------------------------------------------------------------------------------------------------------- glTF

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


class _GltfReader:
    """Turns a document into parts; materials, textures and meshes are made once and shared."""

    def __init__(self, document: Document) -> None:
        self.doc = document
        self._textures: dict[tuple[int, bool], Texture] = {}
        self._meshes: dict[int, list[Part]] = {}

    def parts(self) -> list[Part]:
        """All parts of the default scene, with the nodes' matrices."""
        doc = self.doc
        table = doc.json
        if table["scenes"]:
            index = table.get("scene", 0)
            roots = doc.item("scenes", index, "scene").get("nodes", [])
            where = f"scenes[{index}]"
        else:  # no scene: every node that is nobody's child
            lists = [node.get("children") for node in table["nodes"]]
            children = {c for cs in lists if isinstance(cs, list) for c in cs if isinstance(c, int)}
            roots, where = [k for k in range(len(table["nodes"])) if k not in children], "nodes"
        if not isinstance(roots, list):
            raise doc.error(where, f"nodes is {roots!r}; a list of indices is needed")
        out: list[Part] = []
        stack: list[tuple[Any, Array, tuple[int, ...], str]] = [(n, np.eye(4), (), where) for n in reversed(roots)]
        visits = 0
        while stack:
            index, parent, ancestors, where = stack.pop()
            visits += 1
            if visits > _MAX_VISITS:  # children that are named twice double the tree at each level
                raise doc.error(where, f"the tree of nodes has more than {_MAX_VISITS:,}; a node may have one parent only")
            node = doc.item("nodes", index, where)
            here = f"nodes[{index}]"
            if index in ancestors or len(ancestors) > _MAX_DEPTH:
                raise doc.error(here, "is its own ancestor, or the tree is deeper than 256 nodes")
            own = self._matrix(node, here)
            matrix = (parent[:, :, None] * own[None]).sum(1)  # elementwise, not BLAS: the same bits on every CPU
            if "mesh" in node:
                label = node.get("name") or doc.item("meshes", node["mesh"], here).get("name") or f"mesh {node['mesh']}"
                for part in self._mesh(node["mesh"], here):
                    out.append(Part(part.vertices, part.indices, part.material, matrix.astype(F), str(label)))
            if len(out) > _MAX_PARTS or len(stack) > _MAX_PARTS:
                raise doc.error(here, f"more than {_MAX_PARTS:,} draws")
            children_of = node.get("children", [])
            if not isinstance(children_of, list):
                raise doc.error(here, f"children is {children_of!r}; a list of indices is needed")
            stack += [(child, matrix, (*ancestors, index), here) for child in reversed(children_of)]
        if not out:
            raise doc.error("scene", "has no triangles to draw")
        return out

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
            normals = _repair_normals(normals)

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
            material = _replace(material, maps=maps, uv_sets=sets)
        return build_part(position, triangles, material, None, where, normals, tangents, tuple(uvs), color)

    # ---------------------------------------------------------------------------------------------------- materials

    def _material(self, index: Any, where: str) -> tuple[Material, list[tuple[int, Array | None]]]:
        """Material and its distinct (texCoord, 2x3 transform or None), to which its uv_sets refer."""
        if index is None:
            return _DEFAULT_MATERIAL, []
        doc = self.doc
        table = doc.item("materials", index, where)
        if not hasattr(self, "_materials"):
            self._materials: dict[int, tuple[Material, list[tuple[int, Array | None]]]] = {}
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
            levels = mip_chain(pixels, srgb) if mipmaps else False
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


_DEFAULT_MATERIAL = Material(name="default")


def _replace(material: Material, **changes: Any) -> Material:
    import dataclasses

    return dataclasses.replace(material, **changes)


def _repair_normals(normals: Array) -> Array:
    """Unit length; (0, 0, 1) where a normal is zero."""
    length = np.linalg.norm(normals.astype(np.float64), axis=1, keepdims=True)
    good = length > 1e-20
    if np.all(np.abs(length - 1) < 1e-3):
        return normals
    return np.where(good, normals / np.where(good, length, 1), np.array([0.0, 0.0, 1.0])).astype(F)


# ------------------------------------------------------------------------------------------------------ OBJ, PLY, STL

_CLAY = (0.62, 0.60, 0.57, 1.0)


def _load_trimesh(path: Path) -> list[Part]:
    try:
        import trimesh
    except ImportError as error:
        raise ModelError(f"model '{path}': reading {path.suffix} needs trimesh: pip install 'tilegpu[gltf]'") from error
    try:
        loaded = trimesh.load(path, process=False)
    except Exception as error:  # trimesh raises many types for damaged files
        raise ModelError(f"model '{path}': cannot be read: {type(error).__name__}: {error}") from error
    meshes = list(loaded.dump()) if isinstance(loaded, trimesh.Scene) else [loaded]
    parts: list[Part] = []
    for mesh in meshes:
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces):
            parts.append(_trimesh_part(path, mesh, f"{path.stem} {len(parts)}" if len(meshes) > 1 else path.stem))
    if not parts:
        raise ModelError(f"model '{path}': has no triangles")
    return parts


def _trimesh_part(path: Path, mesh: Any, label: str) -> Part:
    positions = np.asarray(mesh.vertices, np.float64)
    triangles = np.asarray(mesh.faces, np.int64)
    if not np.all(np.isfinite(positions)):
        raise ModelError(f"model '{path}': a position is not a finite number")
    if triangles.min() < 0 or triangles.max() >= len(positions):
        raise ModelError(f"model '{path}': a face refers to a vertex out of 0..{len(positions) - 1}")
    triangles = triangles.astype(np.uint32)
    given = mesh._cache.cache.get("vertex_normals") if hasattr(mesh, "_cache") else None
    if path.suffix.lower() == ".stl":
        normals = None  # a triangle soup: facets are what the file says
    elif given is not None and np.shape(given) == positions.shape and np.all(np.isfinite(given)):
        normals = _repair_normals(np.asarray(given, np.float64).astype(F))
    else:
        normals = smooth_normals(positions, triangles)
    uv = getattr(mesh.visual, "uv", None)
    uvs: tuple[Array, ...] = ()
    maps: dict[str, Texture] = {}
    base_color = _CLAY
    if uv is not None and len(uv) == len(positions):
        coordinates = np.asarray(uv, np.float64)[:, :2].copy()
        coordinates[:, 1] = 1 - coordinates[:, 1]  # OBJ counts v upwards
        image = _sibling_texture(path) if getattr(mesh.visual, "kind", "") == "texture" else None
        pixels = _material_image(mesh.visual)
        pixels = pixels if pixels is not None else image
        if pixels is not None and np.all(np.isfinite(coordinates)):
            maps["base_color"] = Texture(
                pixels, "r8g8b8a8_srgb", mip_chain(pixels, True), Sampler(), f"{path.stem} texture"
            )
            uvs = (coordinates.astype(F),)
            base_color = (1.0, 1.0, 1.0, 1.0)
    colors = None
    if getattr(mesh.visual, "kind", None) == "vertex" and not maps:
        rgba = np.asarray(mesh.visual.vertex_colors, np.float64) / 255
        linear = np.where(rgba <= 0.04045, rgba / 12.92, ((rgba + 0.055) / 1.055) ** 2.4)
        colors = np.concatenate([linear[:, :3], rgba[:, 3:]], 1).astype(F)
        base_color = (1.0, 1.0, 1.0, 1.0)
    material = Material(
        name=path.stem,
        base_color=base_color,
        metallic=0.0,
        roughness=0.55,
        double_sided=True,
        maps=maps,
        uv_sets=dict.fromkeys(maps, 0),
    )
    return build_part(positions.astype(F), triangles, material, None, label, normals, None, uvs, colors)


def _material_image(visual: Any) -> Array | None:
    """(H, W, 4) uint8 of the image that the file's own material names."""
    material = getattr(visual, "material", None)
    image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
    if image is None or min(image.size) < 2:  # trimesh's placeholder is 1x1 or 2x2 of one colour
        return None
    pixels = np.array(image.convert("RGBA"))
    return None if np.all(pixels == pixels[0, 0]) else pixels


def _sibling_texture(path: Path) -> Array | None:
    """(H, W, 4) uint8 of the one image beside a model that has texture coordinates but names no image."""
    images = [p for p in sorted(path.parent.iterdir()) if p.suffix.lower() in (".png", ".jpg", ".jpeg")]
    stem = path.stem.split("_")[0]
    named = [p for p in images if p.stem.startswith(stem)]
    if len(named) != 1 and len(images) != 1:
        return None
    file = named[0] if len(named) == 1 else images[0]
    try:
        return decode_image(io.BytesIO(file.read_bytes()).getvalue())
    except Exception as error:
        raise ModelError(f"model '{path}': its texture '{file.name}' cannot be decoded: {error}") from error
