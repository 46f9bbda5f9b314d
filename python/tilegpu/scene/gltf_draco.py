"""Meshes of a glTF document that Draco compressed (KHR_draco_mesh_compression).

In: a primitive. Out: its accessors are provided with what the compressed data holds, so that whoever reads them need not know. Source: the
extension's specification. The decoder is a package's (:mod:`tilegpu.scene.packages`).
"""

from __future__ import annotations

import warnings
from typing import Any

from tilegpu.scene.gltf import Document
from tilegpu.scene.packages import MissingPackage, draco_mesh

_NAME = "KHR_draco_mesh_compression"


def provide_draco(doc: Document, primitive: dict[str, Any], where: str) -> None:
    """Provide the accessors of a compressed primitive; of one that is not compressed nothing."""
    extension = doc.object(doc.object(primitive, "extensions", where), _NAME, where)
    if not extension:
        return
    here = f"{where}.{_NAME}"
    numbers, attributes = doc.object(extension, "attributes", here), doc.object(primitive, "attributes", where)
    if doc.integer(primitive, "mode", where, 4) != 4:
        raise doc.error(where, f"mode is {primitive['mode']}; of {_NAME} triangle lists (4) are read")
    try:
        indices, values = draco_mesh(bytes(doc.view_bytes(extension.get("bufferView"), here)[0]))
    except MissingPackage as error:
        if _has_fallback(doc, [primitive.get("indices"), *(attributes.get(name) for name in numbers)]):
            warnings.warn(f"model '{doc.path}': {error}; the uncompressed copy is read", UserWarning, stacklevel=2)
            return
        raise doc.error(here, str(error)) from None
    except ValueError as error:
        raise doc.error(here, str(error)) from error
    for name, number in numbers.items():
        if name not in attributes:
            raise doc.error(here, f"has the attribute {name}, which the primitive has not")
        found = values.get(number) if isinstance(number, int) else None
        if found is None:
            raise doc.error(here, f"{name} is number {number!r}; the data has {', '.join(map(str, sorted(values)))}")
        doc.provide(attributes[name], found, f"{here}.{name}")
    if "indices" not in primitive:
        raise doc.error(where, "has no indices, which a compressed primitive needs")
    doc.provide(primitive["indices"], indices.reshape(-1, 1), f"{here}: the list of triangles")


def _has_fallback(doc: Document, accessors: list[Any]) -> bool:
    """Whether the accessors have buffer views, so that the mesh is there uncompressed too."""
    if _NAME in doc.json.get("extensionsRequired", []):
        return False
    table = doc.json["accessors"]
    return all(isinstance(k, int) and 0 <= k < len(table) and "bufferView" in table[k] for k in accessors)
