"""Materials and textures of a glTF document.

In: a validated :class:`~tilegpu.scene.gltf.Document`. Out: :class:`~tilegpu.scene.materials.Material` and the texture coordinates that it
reads. Source: Khronos glTF 2.0, sections 3.8 (textures) and 3.9 (materials). Texture transforms are applied to the texture coordinates
when a mesh is made, so a shader sees one coordinate for each distinct (set, transform) that a material uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np

from tilegpu.scene.description import Address, Filter, Sampler, Texture
from tilegpu.scene.gltf import Document
from tilegpu.scene.materials import MAPS, Material
from tilegpu.scene.mipmaps import mip_chain
from tilegpu.scene.model_file import named, say
from tilegpu.scene.packages import missing_basis
from tilegpu.scene.part import Array

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
SLOTS = {
    "base_color": ("baseColorTexture", True, True),
    "metal_rough": ("metallicRoughnessTexture", True, False),
    "normal": ("normalTexture", False, False),
    "occlusion": ("occlusionTexture", False, False),
    "emissive": ("emissiveTexture", False, True),
}


class GltfMaterials:
    """Materials of a document; each, and each texture, is made once and shared."""

    def __init__(self, document: Document) -> None:
        self.doc = document
        self._textures: dict[tuple[int, bool], Texture] = {}
        self._levels: dict[tuple[int, str, bool], tuple[Array, ...]] = {}
        self._materials: dict[int, tuple[Material, list[tuple[int, Array | None]]]] = {}

    def material(self, index: Any, where: str) -> tuple[Material, list[tuple[int, Array | None]]]:
        """Material and its distinct (texCoord, 2x3 transform or None), to which its uv_sets refer."""
        if index is None:
            return _DEFAULT_MATERIAL, []
        doc = self.doc
        table = doc.item("materials", index, where)
        if index in self._materials:
            return self._materials[index]
        here = f"materials[{index}]"
        pbr = doc.object(table, "pbrMetallicRoughness", here)
        extensions = doc.object(table, "extensions", here)
        maps: dict[str, Texture] = {}
        sets: dict[str, int] = {}
        coordinates: list[tuple[int, Array | None]] = []
        scalars = {"normal_scale": 1.0, "occlusion_strength": 1.0}
        for name in MAPS:
            key, inside, srgb = SLOTS[name]
            info = doc.object(pbr if inside else table, key, here)
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
        cutoff = doc.number(table, "alphaCutoff", 0.5, here)
        if mode != "MASK" and cutoff != 0.5:  # the default is written by many exporters
            text = f"alphaCutoff {cutoff:g} has no effect with alphaMode {mode}; it is of MASK (section 3.9.4)"
            doc.say_once("alphaCutoff", f"{here}: {text}")
        strength = doc.object(extensions, "KHR_materials_emissive_strength", here)
        emissive = self._shares(table, "emissiveFactor", 3, [0.0, 0.0, 0.0], here)
        factor = doc.number(strength, "emissiveStrength", 1.0, here)
        material = Material(
            name=named(table.get("name"), f"material {index}"),
            base_color=cast(
                "tuple[float, float, float, float]", tuple(self._shares(pbr, "baseColorFactor", 4, [1.0] * 4, here))
            ),
            metallic=self._share(pbr, "metallicFactor", here),
            roughness=self._share(pbr, "roughnessFactor", here),
            emissive=(emissive[0] * factor, emissive[1] * factor, emissive[2] * factor),
            alpha_mode=cast("Literal['OPAQUE', 'MASK', 'BLEND']", mode),
            alpha_cutoff=cutoff,
            double_sided=doc.flag(table, "doubleSided", here),
            unlit="KHR_materials_unlit" in extensions,
            maps=maps,
            uv_sets=sets,
            **scalars,
        )
        self._materials[index] = (material, coordinates)
        return self._materials[index]

    def _share(self, table: dict[str, Any], key: str, where: str) -> float:
        return self._shares({key: [table.get(key, 1.0)]}, key, 1, [1.0], where)[0]

    def _shares(self, table: dict[str, Any], key: str, count: int, default: list[float], where: str) -> Sequence[float]:
        """Numbers from 0 to 1, as all factors of glTF are; light that is brighter has emissiveStrength."""
        values = self.doc.numbers(table, key, count, default, where)
        if not all(0 <= v <= 1 for v in values):
            shown = ", ".join(f"{v:g}" for v in values)
            raise self.doc.error(where, f"{key} is {shown}; factors are from 0 to 1")
        return values

    def _coordinates(self, info: dict[str, Any], where: str) -> tuple[int, Array | None]:
        """texCoord and the 2x3 matrix of KHR_texture_transform, None where it is the identity."""
        doc = self.doc
        texcoord = doc.integer(info, "texCoord", where, 0)
        extension = doc.object(doc.object(info, "extensions", where), "KHR_texture_transform", where)
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
            source, kind = self._source(table, here)
            pixels = doc.image(source, here, kind)
            sampler, mipmaps = self._sampler(table.get("sampler"), here)
            name = named(doc.item("images", source, here).get("name"), named(table.get("name"), here))
            texture_format = "r8g8b8a8_srgb" if srgb else "r8g8b8a8_unorm"
            key = (source, kind, srgb)
            if mipmaps and key not in self._levels:  # textures that differ in the sampler alone share their texels
                self._levels[key] = mip_chain(pixels, srgb)
            levels = self._levels[key] if mipmaps else False
            self._textures[index, srgb] = Texture(pixels, texture_format, levels, sampler, name)
        return self._textures[index, srgb]

    def _source(self, table: dict[str, Any], where: str) -> tuple[Any, str]:
        """Number of a texture's image, and of what kind that is: an extension's comes first (KHR_texture_basisu, EXT_texture_webp)."""
        doc = self.doc
        extensions = doc.object(table, "extensions", where)
        basis = doc.object(extensions, "KHR_texture_basisu", where)
        webp = doc.object(extensions, "EXT_texture_webp", where)
        if "source" in basis:
            missing = missing_basis()
            if missing is None or "source" not in table:
                return basis["source"], "KTX2"
            say(f"model '{doc.path}': {where}: {missing}; the other picture is taken")
        if "source" in webp:
            return webp["source"], "WEBP"
        if table.get("source") is None:
            raise doc.error(where, "has no source image (an extension's image format that is not supported?)")
        return table["source"], "PNG or JPEG"

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
