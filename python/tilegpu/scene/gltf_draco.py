"""Meshes of a glTF document that Draco compressed (KHR_draco_mesh_compression).

In: a primitive. Out: its accessors are provided with what the compressed data holds, so that whoever reads them need not know. Source: the
extension's specification.
"""

from __future__ import annotations

from typing import Any, cast

from tilegpu.scene.draco import DracoDecoder, DracoError, DracoMesh, draco_counts
from tilegpu.scene.gltf import Document
from tilegpu.scene.model_file import say, shown
from tilegpu.scene.packages import MissingPackage

_NAME = "KHR_draco_mesh_compression"
#: Bytes for each triangle and vertex while a mesh is decoded (measured: 190 and 40 with positions alone).
_TRIANGLE_B, _VERTEX_B = 240, 200
#: Bytes that decoding may have in any case: heaps of libraries.
_LEAST_B = 32 << 20


class Decoded:
    """What a model's streams hold, by their views: each is decoded once, and again only for attributes that nobody asked for before."""

    def __init__(self) -> None:
        self._decoder = DracoDecoder()
        self._meshes: dict[int, DracoMesh] = {}

    def close(self) -> None:
        """End the decoder's process: all is read."""
        self._decoder.close()

    def mesh(self, doc: Document, view: int, primitive: dict[str, Any], where: str, wanted: list[int]) -> DracoMesh:
        """The mesh of a view. Raises what the decoder raises, and of the model's memory."""
        known = self._meshes.get(view)
        if known is None or any(number in known.numbers and number not in known.attributes for number in wanted):
            data = bytes(doc.view_bytes(view, where)[0])
            moment_B = _count(doc, data, primitive, where)
            left_B = max(0, doc.budget.limit_B - doc.budget.used_B)
            wanted = [*wanted, *(known.attributes if known else ())]
            self._meshes[view] = self._decoder.mesh(data, wanted, max(left_B, moment_B) + _LEAST_B)
        return self._meshes[view]


def provide_draco(doc: Document, primitive: dict[str, Any], where: str, kept: Decoded) -> None:
    """Provide the accessors of a compressed primitive; of one that is not compressed nothing. ``kept``: what was decoded before."""
    extension = doc.object(doc.object(primitive, "extensions", where), _NAME, where)
    if not extension:
        return
    here = f"{where}.{_NAME}"
    numbers, attributes = doc.object(extension, "attributes", here), doc.object(primitive, "attributes", where)
    if doc.integer(primitive, "mode", where, 4) != 4:
        raise doc.error(where, f"mode is {primitive['mode']}; of {_NAME} triangle lists (4) are read")
    if "indices" not in primitive:
        raise doc.error(where, "has no indices, which a compressed primitive needs")
    view = doc.integer(extension, "bufferView", here, -1) if "bufferView" in extension else None
    try:
        mesh = kept.mesh(doc, cast("int", view), primitive, here, [number for number in numbers.values() if isinstance(number, int)])
    except MissingPackage as error:
        if _has_fallback(doc, [primitive.get("indices"), *(attributes.get(name) for name in numbers)]):
            say(f"model '{doc.path}': {error}; the uncompressed copy is read")
            return
        raise doc.error(here, str(error)) from None
    except DracoError as error:
        raise doc.error(here, str(error)) from error
    for name, number in numbers.items():
        if name not in attributes:
            raise doc.error(here, f"has the attribute {name}, which the primitive has not")
        found = mesh.attributes.get(number) if isinstance(number, int) else None
        if found is None:
            raise doc.error(here, f"{name} is number {shown(number)}; the data has {', '.join(map(str, sorted(mesh.numbers)))}")
        doc.provide(attributes[name], found, f"{here}.{name}")
    doc.provide(primitive["indices"], mesh.indices.reshape(-1, 1), f"{here}: the list of triangles")


def _count(doc: Document, data: bytes, primitive: dict[str, Any], where: str) -> int:
    """Count what decoding will take, by the header, before it is done: the same bytes may stand for any number of triangles. What the
    triangles and a few attributes of the vertices take for a moment, in bytes: others may be in the data, which nobody counts."""
    triangles, vertices = draco_counts(data)
    table = doc.item("accessors", primitive.get("indices"), where)
    there = f"accessors[{primitive['indices']}]"
    count = doc.integer(table, "count", there)
    if count != 3 * triangles:  # which is what the model's triangles were counted by
        raise doc.error(where, f"has {triangles:,} triangles, and {there}, its indices, {count:,} elements; three for each are needed")
    doc.budget.decompress(len(data), where)
    moment_B = _TRIANGLE_B * triangles + _VERTEX_B * vertices
    doc.budget.keep(12 * triangles + 16 * vertices, where, f"a mesh of {triangles:,} triangles", moment_B)
    return moment_B


def _has_fallback(doc: Document, accessors: list[Any]) -> bool:
    """Whether the accessors have buffer views, so that the mesh is there uncompressed too."""
    if _NAME in doc.json.get("extensionsRequired", []):
        return False
    table = doc.json["accessors"]
    return all(isinstance(k, int) and 0 <= k < len(table) and "bufferView" in table[k] for k in accessors)
