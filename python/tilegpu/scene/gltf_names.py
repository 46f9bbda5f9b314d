"""Names in a glTF document that are almost those of glTF: what is misspelt is passed by, as readers pass by what they don't know.

In: the document's JSON. Out: a line for each such name. Only what is near a name that its object has not counts: names of the user's own,
``extras`` and what extensions define are left alone. Source: Khronos glTF 2.0, section 5 (properties) and 3.7.2.1 (attributes);
KHR_texture_transform, KHR_lights_punctual, KHR_materials_emissive_strength.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tilegpu.fixed import _almost

#: Keys of each kind of object, beside those that all have; a kind in braces is of the object that the key holds, in brackets of a list's.
_TABLES: dict[str, str] = {
    "document": "accessors[accessor] animations[animation] asset{asset} buffers[buffer] bufferViews[view] cameras[camera] extensionsUsed "
    "extensionsRequired images[image] materials[material] meshes[mesh] nodes[node] samplers[sampler] scene scenes[scene] skins[skin] "
    "textures[texture]",
    "accessor": "bufferView byteOffset componentType normalized count type max min sparse{sparse}",
    "sparse": "count indices{sparse_indices} values{sparse_values}",
    "sparse_indices": "bufferView byteOffset componentType",
    "sparse_values": "bufferView byteOffset",
    "animation": "channels[channel] samplers[animation_sampler]",
    "channel": "sampler target{target}",
    "target": "node path",
    "animation_sampler": "input interpolation output",
    "asset": "copyright generator version minVersion",
    "buffer": "uri byteLength",
    "view": "buffer byteOffset byteLength byteStride target",
    "camera": "orthographic{orthographic} perspective{perspective} type",
    "orthographic": "xmag ymag zfar znear",
    "perspective": "aspectRatio yfov zfar znear",
    "image": "uri mimeType bufferView",
    "material": "pbrMetallicRoughness{pbr} normalTexture{normal} occlusionTexture{occlusion} emissiveTexture{info} emissiveFactor "
    "alphaMode alphaCutoff doubleSided",
    "pbr": "baseColorFactor baseColorTexture{info} metallicFactor roughnessFactor metallicRoughnessTexture{info}",
    "info": "index texCoord",
    "normal": "index texCoord scale",
    "occlusion": "index texCoord strength",
    "mesh": "primitives[primitive] weights",
    "primitive": "attributes indices material mode targets",
    "node": "camera children skin matrix mesh rotation scale translation weights",
    "sampler": "magFilter minFilter wrapS wrapT",
    "scene": "nodes",
    "skin": "inverseBindMatrices skeleton joints",
    "texture": "sampler source",
    "extensions": "KHR_texture_transform{transform} KHR_materials_emissive_strength{strength} KHR_materials_unlit KHR_texture_basisu "
    "KHR_lights_punctual{lights} KHR_draco_mesh_compression EXT_meshopt_compression EXT_texture_webp",
    "transform": "offset rotation scale texCoord",
    "strength": "emissiveStrength",
    "lights": "lights[light] light",
    "light": "color intensity type range spot{spot}",
    "spot": "innerConeAngle outerConeAngle",
}
_OF_ALL = {"name": "", "extras": "", "extensions": "extensions"}
#: Of each kind: key to the kind of what it holds.
_KEYS: dict[str, dict[str, str]] = {
    kind: {**_OF_ALL, **dict(re.findall(r"(\w+)(?:[\[{](\w+)[\]}])?", text))} for kind, text in _TABLES.items()
}
#: Of a material's keys those that are one level further down.
_INNER = frozenset(_KEYS["pbr"]) - frozenset(_OF_ALL)
_NUMBERED = ("TEXCOORD", "COLOR", "JOINTS", "WEIGHTS")
_ATTRIBUTE = re.compile(r"POSITION|NORMAL|TANGENT|(?:TEXCOORD|COLOR|JOINTS|WEIGHTS)_\d+|_.*|.*:.*", re.DOTALL)
#: Longer names are nobody's slip; so many different ones are looked at.
_LONGEST, _MOST = 64, 1024
#: How much alike names have to be where more than a letter differs, and how long.
_ALIKE, _LONG = 0.88, 8


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def near(name: str, known: Collection[str], loose: bool = True) -> str:
    """Which of ``known`` is almost so spelt; "": none. ``loose``: also where more than one letter of many differs."""
    plain = _plain(name)
    for one in known:
        other = _plain(one)
        if plain == other or plain in (other + "s", other + "es") or other in (plain + "s", plain + "es"):
            return one
        # Another letter of few makes another name: wrapR is of another API.
        few = len(plain) == len(other) < 6 and sorted(plain) != sorted(other)
        if not few and _almost(plain, other):
            return one
    if loose and len(plain) >= _LONG:
        close = difflib.get_close_matches(plain, [_plain(one) for one in known], n=1, cutoff=_ALIKE)
        return next((one for one in known if close and _plain(one) == close[0]), "")
    return ""


def _meant(kind: str, key: str, table: dict[str, Any]) -> str:
    """What is meant by a key that an object of the kind has not, in words; "": nothing of glTF's."""
    if not key.isascii() or not 2 < len(key) <= _LONGEST or key[0] in "_$/#@":
        return ""
    if kind == "material" and key in _INNER:
        return f"{key} belongs into pbrMetallicRoughness"
    found = near(key, [one for one in _KEYS[kind] if one not in table], loose=kind != "extensions")
    return f"{key} is no name of glTF's; {found} is" if found else ""


def _meant_attribute(name: str, given: Collection[str]) -> str:
    if _ATTRIBUTE.fullmatch(name) or not name.isascii() or len(name) > _LONGEST:
        return ""
    base, digits = re.fullmatch(r"(.*?)[_-]?(\d*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    found = near(base, ("POSITION", "NORMAL", "TANGENT", *_NUMBERED), loose=False)
    found = f"{found}_{digits or 0}" if found in _NUMBERED else found
    return f"attribute {name} is no name of glTF's; {found} is" if found and found not in given else ""


def extensions_in(document: Mapping[str, Any]) -> set[str]:
    """Extensions that objects of the file have, whether extensionsUsed names them or not; what lies in extras is somebody else's."""
    found: set[str] = set()
    pending: list[Any] = [document]
    while pending:
        thing = pending.pop()
        if isinstance(thing, list):
            pending += [one for one in thing if isinstance(one, (dict, list))]
            continue
        extensions = thing.get("extensions")
        if isinstance(extensions, dict):
            found |= {str(name) for name in extensions}
        pending += [one for key, one in thing.items() if isinstance(one, (dict, list)) and key != "extras"]
    return found


def misspelt(document: dict[str, Any]) -> Iterator[str]:
    """A line for each different name, with the first object that has it. What is no object where one should be is told elsewhere."""
    told: set[tuple[str, str]] = set()
    pending: list[tuple[str, str, dict[str, Any]]] = [("document", "", document)]
    while pending:
        kind, where, table = pending.pop()
        known = _KEYS[kind]
        for key, value in table.items():
            if key in known:
                inner = known[key]
                path = f"{where}.{key}" if where else key
                if inner and isinstance(value, dict):
                    pending.append((inner, path, value))
                elif inner and isinstance(value, list):
                    pending += [(inner, f"{path}[{k}]", one) for k, one in reversed([*enumerate(value)]) if isinstance(one, dict)]
            elif (kind, key) not in told and len(told) < _MOST:
                told.add((kind, key))
                if line := _meant(kind, key, table):
                    yield f"{where or 'the document'}: {line}"
        attributes = table.get("attributes") if kind == "primitive" else None
        if not isinstance(attributes, dict):
            continue
        for key in attributes:
            if ("attributes", key) not in told and len(told) < _MOST:
                told.add(("attributes", key))
                if line := _meant_attribute(key, attributes):
                    yield f"{where}: {line}"
