"""glTF 2.0 files: container, buffers, accessors, images; in: a path, out: a validated :class:`Document` of NumPy arrays.

Source: Khronos glTF 2.0 specification, sections 3.6 (accessors, sparse, alignment, normalised integers) and 4 (GLB). Nothing in
the file is trusted: every index and byte range is checked before it is used, and whatever is wrong is a :class:`ModelError` that
names the file, the object, the field and the value. What the pieces mean for a picture is in ``gltf_parts.py``; what may be opened
and how much memory may be taken, in ``model_file.py``. Why no library does this: docs/dependencies.md.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tilegpu.scene.gltf_names import extensions_in, misspelt
from tilegpu.scene.gltf_rules import bounds_problem, problems
from tilegpu.scene.meshopt import FILTERS, MODES, MeshoptError, decode
from tilegpu.scene.model_file import ModelError, ModelFile, named, say, shown
from tilegpu.scene.packages import BasisPicture

__all__ = ["Document", "ModelError"]
_SUFFIXES = (".gltf", ".glb", ".json", ".vrm")  #: of what may be JSON or GLB, whatever else it is called
#: First bytes of PNG, JPEG, GIF, WebP, BMP, OpenEXR, TIFF.
_PICTURES_BEGIN = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"v/1\x01", b"II*\0", b"MM\0*")

Array = NDArray[Any]
T = TypeVar("T")

COMPONENT_TYPES: dict[int, np.dtype[Any]] = {
    5120: np.dtype("<i1"),
    5121: np.dtype("<u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
#: Type name to (columns, rows).
SHAPES = {
    "SCALAR": (1, 1),
    "VEC2": (1, 2),
    "VEC3": (1, 3),
    "VEC4": (1, 4),
    "MAT2": (2, 2),
    "MAT3": (3, 3),
    "MAT4": (4, 4),
}
#: Extensions that may stand in extensionsRequired.
SUPPORTED_EXTENSIONS = frozenset(
    {
        "EXT_meshopt_compression",
        "EXT_texture_webp",
        "KHR_draco_mesh_compression",
        "KHR_lights_punctual",
        "KHR_materials_emissive_strength",
        "KHR_materials_unlit",
        "KHR_mesh_quantization",
        "KHR_texture_basisu",
        "KHR_texture_transform",
    }
)
_MESHOPT = "EXT_meshopt_compression"
_JSON_CHUNK, _BINARY_CHUNK, _MAX_CHUNKS = 0x4E4F534A, 0x004E4942, 1000
#: The largest integer that every reader of JSON holds (RFC 8259, section 6).
_MOST = 1 << 53
_LARGEST = float(np.finfo(np.float32).max)
#: What the parsed JSON takes, at most, for each of these characters (an object with one member; a list, a number or a text in one).
_JSON_B = {b"{": 320, b"[": 128, b",": 96, b":": 96}


#: So many names of a list are in a message.
_SOME = 8


def _some(names: Sequence[str]) -> str:
    """Names with commas, the first of many."""
    more = f" and {len(names) - _SOME:,} more" if len(names) > _SOME else ""
    return ", ".join(named(name, "''") for name in names[:_SOME]) + more


class Document:
    """A parsed glTF file. ``json``: the document as a dictionary, with the top-level lists present and lists of dictionaries."""

    def __init__(self, file: ModelFile, document: dict[str, Any], binary: memoryview | None) -> None:
        self.file = file
        self.path = file.path
        self.budget = file.budget
        self.json = document
        self._binary = binary
        self._buffers: dict[int, memoryview] = {}
        self._views: dict[int, memoryview] = {}
        self._images: dict[tuple[int, str], Array] = {}
        self._accessors: dict[tuple[int, bool], Array] = {}
        self._broken: set[str] = set()  # rules of which it is said that the file breaks them
        self._check_header()

    # ------------------------------------------------------------------------------------------------------ reading

    @staticmethod
    def load(source: str | Path | ModelFile) -> Document:
        """Read a .gltf or .glb file; which of the two is told by its content."""
        file = source if isinstance(source, ModelFile) else ModelFile(Path(source))
        path, data = file.path, file.read()
        binary: memoryview | None = None
        if data[:4] == b"glTF":
            data, binary = _split_glb(path, data)
        file.budget.keep(len(data) + sum(size_B * data.count(sign) for sign, size_B in _JSON_B.items()), "the file", "its JSON")
        try:
            document = json.loads(data.decode("utf-8-sig"))
        except (UnicodeDecodeError, ValueError, RecursionError) as error:
            if data.startswith(_PICTURES_BEGIN):
                raise ModelError(f"model '{path}': it is a picture; a model is glTF, GLB, OBJ, PLY or STL") from None
            if path.suffix and path.suffix.lower() not in _SUFFIXES:
                fix = "export it as one that is (.gltf, .glb, .obj, .ply, .stl)"
                raise ModelError(f"model '{path}': {path.suffix} is no format that is read; {fix}") from None
            raise ModelError(f"model '{path}': not JSON and not GLB: {error}") from error
        if not isinstance(document, dict):
            raise ModelError(f"model '{path}': the document is a {type(document).__name__}; a JSON object is needed")
        return Document(file, document, binary)

    def _check_header(self) -> None:
        asset = self.json.get("asset")
        version = asset.get("version") if isinstance(asset, dict) else None
        if not isinstance(version, str) or not version.startswith("2."):
            raise ModelError(f"model '{self.path}': asset.version is {shown(version)}; only glTF 2.x is read")
        required = self.json.get("extensionsRequired", [])
        if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            raise ModelError(f"model '{self.path}': extensionsRequired is {shown(required)}; a list of names is needed")
        missing = sorted(set(required) - SUPPORTED_EXTENSIONS)
        if missing:
            supported = ", ".join(sorted(SUPPORTED_EXTENSIONS))
            raise ModelError(
                f"model '{self.path}': extensionsRequired names {_some(missing)}, which is not supported; "
                f"supported are {supported}; export the model without it"
            )
        lists = [
            "accessors",
            "animations",
            "buffers",
            "bufferViews",
            "cameras",
            "images",
            "materials",
            "meshes",
            "nodes",
            "samplers",
            "scenes",
            "skins",
            "textures",
        ]
        for name in lists:
            value = self.json.setdefault(name, [])
            if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
                raise ModelError(f"model '{self.path}': {name} is not a list of objects")
        self._warn_of_what_is_left_out()

    def _warn_of_what_is_left_out(self) -> None:
        """One warning for the file, of whatever it has that changes the picture and is not drawn."""
        used = self.json.get("extensionsUsed", [])
        names = {name for name in used if isinstance(name, str)} if isinstance(used, list) else set()
        unknown = sorted((names | extensions_in(self.json)) - SUPPORTED_EXTENSIONS)
        if undeclared := sorted((extensions_in(self.json) & SUPPORTED_EXTENSIONS) - names):
            of = "extensions" if len(undeclared) > 1 else "extension"
            text = "in the file, and not in extensionsUsed; drawn, where other readers may not"
            say(f"model '{self.path}': {of} {_some(undeclared)}: {text}")
        left_out = [f"extension {name}" for name in unknown] if len(unknown) <= _SOME else [f"extensions {_some(unknown)}"]
        primitives = [p for mesh in self.json["meshes"] if isinstance(found := mesh.get("primitives"), list) for p in found]
        attributes = [p.get("attributes") for p in primitives if isinstance(p, dict)]
        if any(isinstance(names_of, dict) and "JOINTS_2" in names_of for names_of in attributes):
            left_out.append("joints of a vertex beyond the eighth")
        targets = [target for p in primitives if isinstance(p, dict) and isinstance(p.get("targets"), list) for target in p["targets"]]
        others = {str(name) for target in targets if isinstance(target, dict) for name in target} - {"POSITION", "NORMAL", "TANGENT"}
        if others:
            left_out.append(f"morph targets of {_some(sorted(others))}")
        if left_out:
            say(f"model '{self.path}': drawn without {'; '.join(left_out)}")
        if slips := [*misspelt(self.json)]:
            more = f"; and {len(slips) - _SOME:,} more" if len(slips) > _SOME else ""
            say(f"model '{self.path}': {'; '.join(slips[:_SOME])}{more}; names that glTF has not are passed by")

    def release(self) -> None:
        """Let go of the file's bytes and of what was decoded of them; what was made of that stays with who has it."""
        self._binary = None
        for kept in (self._buffers, self._views, self._images, self._accessors):
            kept.clear()

    def error(self, where: str, what: str) -> ModelError:
        """A :class:`ModelError` of this file."""
        return ModelError(f"model '{self.path}': {where}: {what}")

    def item(self, kind: str, index: Any, where: str) -> dict[str, Any]:
        """``json[kind][index]`` with the index checked; ``where`` says who refers to it."""
        table = self.json[kind]
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(table):
            raise self.error(where, f"refers to {kind}[{shown(index)}]; the file has {len(table)}")
        return cast("dict[str, Any]", table[index])

    def integer(self, table: dict[str, Any], key: str, where: str, default: int | None = None) -> int:
        """A non-negative integer field."""
        value = table.get(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
            raise self.error(where, f"{key} is {shown(value)}; a non-negative integer is needed, at most 2^53")
        return value

    def choice(self, table: dict[str, Any], key: str, allowed: Mapping[Any, T], where: str, default: Any = None) -> T:
        """What ``allowed`` has for the value of a field; its keys are the numbers or names that glTF defines."""
        value = table.get(key, default)
        # The type first: a list is not hashable, and true is not the number 1.
        known = isinstance(value, (int, float, str)) and not isinstance(value, bool)
        if not known or value not in allowed:
            raise self.error(where, f"{key} is {shown(value)}; allowed are {', '.join(map(str, allowed))}")
        return allowed[value]

    def flag(self, table: dict[str, Any], key: str, where: str) -> bool:
        """A truth value, false where it is missing."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self.error(where, f"{key} is {shown(value)}; true or false is needed")
        return value

    def numbers(self, table: dict[str, Any], key: str, count: int, default: list[float], where: str) -> list[float]:
        """A list of ``count`` numbers that a 32-bit float can hold."""
        value = table.get(key, default)
        good = isinstance(value, list) and len(value) == count
        good = good and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in value)
        # Compared before it is converted: NaN is false, and so is an integer of any length.
        if not good or not all(abs(x) <= _LARGEST for x in value):
            raise self.error(where, f"{key} is {shown(value)}; {count} finite numbers are needed, at most 3.4e38")
        return [float(x) for x in value]

    def number(self, table: dict[str, Any], key: str, default: float, where: str) -> float:
        """One finite number."""
        return self.numbers({key: [table.get(key, default)]}, key, 1, [default], where)[0]

    def object(self, table: dict[str, Any], key: str, where: str) -> dict[str, Any]:
        """An object in an object, empty where it is missing. (An empty extension object still means that it is there.)"""
        value = table.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(where, f"{key} is a {type(value).__name__}; an object is needed")
        return value

    def objects(self, table: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
        """A list of objects, empty where it is missing."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(where, f"{key} is not a list of objects")
        return value

    # -------------------------------------------------------------------------------------------------------- bytes

    def _external(self, uri: str, where: str) -> bytes:
        """Content of a data URI or of a file beside the document."""
        if uri.startswith("data:"):
            head, comma, body = uri.partition(",")
            if not comma:
                raise self.error(where, "uri is a data URI without a comma")
            self.budget.keep(len(body), where, "its data URI", 2 * len(body))
            try:
                if head.endswith(";base64"):
                    return base64.b64decode(body, validate=True)
                return urllib.parse.unquote_to_bytes(body)
            except (binascii.Error, ValueError) as error:
                raise self.error(where, f"uri is a data URI whose base64 is broken: {error}") from error
        if "://" in uri:
            raise self.error(where, f"uri is {shown(uri)}; only files beside the model and data URIs are read")
        data = self.file.beside(uri, where)
        if data is None:
            raise self.error(where, f"uri {shown(uri)} cannot be read: there is no such file beside the model")
        return data

    def buffer(self, index: Any, where: str) -> memoryview:
        """Bytes of a buffer, at least its byteLength of them."""
        table = self.item("buffers", index, where)
        if index not in self._buffers:
            here = f"buffers[{index}]"
            length = self.integer(table, "byteLength", here)
            uri = table.get("uri")
            data: bytes | memoryview
            if uri is None:
                if index != 0 or self._binary is None:
                    raise self.error(here, "has no uri, and the file has no binary chunk for it")
                data = self._binary
            elif isinstance(uri, str):
                data = self._external(uri, here)
            else:
                raise self.error(here, f"uri is {shown(uri)}; a string is needed")
            if len(data) < length:
                raise self.error(
                    here, f"byteLength is {length}, but there are only {len(data)} bytes; is the file truncated?"
                )
            self._buffers[index] = memoryview(data)[:length]
        return self._buffers[index]

    def view_bytes(self, index: Any, where: str) -> tuple[memoryview, int]:
        """Bytes of a buffer view, uncompressed, and its byteStride (0 if it has none)."""
        table = self.item("bufferViews", index, where)
        here = f"bufferViews[{index}]"
        stride = self.integer(table, "byteStride", here, 0)
        compressed = self.object(self.object(table, "extensions", here), _MESHOPT, here)
        if not compressed:
            return self._range(table, here), stride
        if index not in self._views:
            self._views[index] = self._meshopt(table, compressed, stride, f"{here}.{_MESHOPT}")
        return self._views[index], stride

    def _range(self, table: dict[str, Any], where: str) -> memoryview:
        """The bytes of a buffer from byteOffset on, byteLength of them."""
        data = self.buffer(table.get("buffer"), where)
        offset, length = self.integer(table, "byteOffset", where, 0), self.integer(table, "byteLength", where)
        if offset + length > len(data):
            raise self.error(
                where, f"byteOffset {offset} + byteLength {length} is beyond the buffer's {len(data)} bytes"
            )
        return data[offset : offset + length]

    def _meshopt(self, view: dict[str, Any], table: dict[str, Any], stride: int, where: str) -> memoryview:
        """What a compressed view stands for (EXT_meshopt_compression)."""
        mode = self.choice(table, "mode", {name: name for name in MODES}, where)
        filter_name = self.choice(table, "filter", {name: name for name in FILTERS}, where, "NONE")
        count, step = self.integer(table, "count", where), self.integer(table, "byteStride", where)
        allowed: Sequence[int] = {"OCTAHEDRAL": (4, 8), "QUATERNION": (8,)}.get(filter_name, tuple(range(4, 257, 4)))
        if mode != "ATTRIBUTES":
            allowed = (2, 4) if filter_name == "NONE" else ()
        if step not in allowed or (stride and stride != step):
            what = f"byteStride is {step}, the view's {stride or 'none'}"
            raise self.error(where, f"{what}; they are one, and mode {mode} with filter {filter_name} takes {list(allowed) or 'none'}")
        length = self.integer(view, "byteLength", where)
        if count * step != length or (mode == "TRIANGLES" and count % 3):
            what = f"count is {count}, byteStride {step}, the view's byteLength {length}"
            raise self.error(where, f"{what}; it is their product, and triangles have three")
        data = self._range(table, where)
        moment_B = 3 * length if mode == "ATTRIBUTES" else 48 * count
        self.budget.keep(length + len(data), where, f"{count:,} elements", moment_B)
        self.budget.decompress(len(data), where)
        try:
            return memoryview(decode(bytes(data), mode, filter_name, count, step))
        except MeshoptError as error:
            raise self.error(where, f"the compressed data {error}") from error

    # ---------------------------------------------------------------------------------------------------- accessors

    def _elements(self, view: Any, offset: int, count: int, component: np.dtype[Any], kind: str, where: str) -> Array:
        """(count, components) of a buffer view; matrices lose their column padding."""
        columns, rows = SHAPES[kind]
        # Each column of a matrix starts on a multiple of four bytes.
        column_B = rows * component.itemsize
        pitch_B = (column_B + 3) // 4 * 4 if columns > 1 else column_B
        element_B = pitch_B * (columns - 1) + column_B if columns > 1 else column_B
        data, stride = self.view_bytes(view, where)
        stride = stride or (pitch_B * columns if columns > 1 else column_B)
        if stride < element_B:
            raise self.error(where, f"the view's byteStride {stride} is less than an element's {element_B} bytes")
        end = offset + (stride * (count - 1) + element_B if count else 0)
        if end > len(data):
            raise self.error(
                where, f"{count} elements from byte {offset} end at {end}, beyond the view's {len(data)} bytes"
            )
        raw = np.frombuffer(data, np.uint8)
        if count == 0:
            return np.zeros((0, columns * rows), component)
        rows_of_bytes = np.lib.stride_tricks.as_strided(raw[offset:], (count, element_B), (stride, 1), writeable=False)
        if columns == 1:
            return np.ascontiguousarray(rows_of_bytes).view(component)
        parts = [rows_of_bytes[:, c * pitch_B : c * pitch_B + column_B] for c in range(columns)]
        return np.ascontiguousarray(np.concatenate(parts, 1)).view(component)

    def accessor(self, index: Any, where: str, kinds: tuple[str, ...], as_float: bool = True) -> Array:
        """(count, components) of an accessor, sparse substitution applied.

        ``as_float``: converted to float32, normalised integers to [0, 1] or [-1, 1]; else the stored integers.
        """
        table = self.item("accessors", index, where)
        here = f"accessors[{index}]"
        kind = table.get("type")
        if kind not in kinds:
            raise self.error(here, f"type is {shown(kind)}; {where} needs {' or '.join(kinds)}")
        key = (cast("int", index), as_float)
        if key in self._accessors:
            self._say_broken_rules(table, where, here)  # of another use
            return self._accessors[key]
        component = self.choice(table, "componentType", COMPONENT_TYPES, here)
        count = self.integer(table, "count", here)
        size = SHAPES[kind][0] * SHAPES[kind][1]
        value_B = component.itemsize + 4
        self.budget.keep(count * size * value_B, here, f"an accessor of {count:,} elements", count * size * 2 * value_B)
        if "bufferView" in table:
            offset = self.integer(table, "byteOffset", here, 0)
            values = self._elements(table["bufferView"], offset, count, component, kind, here)
        else:
            values = np.zeros((count, size), component)
        if "sparse" in table:
            values = self._sparse(table["sparse"], values, component, kind, here)
        stored = values
        if as_float:
            values = _to_float(values, self.flag(table, "normalized", here))
            if kind != "SCALAR" and not np.all(np.isfinite(values)):
                raise self.error(here, "has a component that is not a finite number")
        elif component.kind == "f":
            raise self.error(here, "componentType is 5126 (float); an integer type is needed here")
        values.flags.writeable = False
        self._accessors[key] = values
        self._say_broken_rules(table, where, here, stored)  # of what can be read
        return values

    def _say_broken_rules(self, table: dict[str, Any], where: str, here: str, stored: Array | None = None) -> None:
        """A warning for the first accessor that breaks a rule, of each rule. ``stored``: its components, where it is read for the first
        time."""
        views, number = self.json["bufferViews"], table.get("bufferView")
        known = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(views)
        view = views[number] if known else {}
        packed = isinstance(view.get("extensions"), dict) and _MESHOPT in view["extensions"]
        view = {} if packed else view
        # What compression rounds lies a little beside the bounds of what was compressed.
        if stored is not None and not packed and where.endswith(".attributes.POSITION") and (wrong := bounds_problem(table, stored)):
            self.say_once("bounds", f"{here} ({where}): {wrong}")
        used = self.json.get("extensionsUsed")
        quantized = isinstance(used, list) and "KHR_mesh_quantization" in used
        for rule, text in problems(table, view, where, quantized):
            self.say_once(rule, f"{here} ({where}): {text}")

    def say_once(self, rule: str, text: str) -> None:
        """A warning for the first that breaks a rule."""
        if rule not in self._broken:
            self._broken.add(rule)
            say(f"model '{self.path}': {text}")

    def _sparse(self, sparse: Any, values: Array, component: np.dtype[Any], kind: str, where: str) -> Array:
        if not isinstance(sparse, dict) or not all(isinstance(sparse.get(k), dict) for k in ("indices", "values")):
            raise self.error(where, "sparse needs the objects indices and values")
        count = self.integer(sparse, "count", f"{where}.sparse")
        unsigned = {code: dtype for code, dtype in COMPONENT_TYPES.items() if dtype.kind == "u"}
        index_type = self.choice(sparse["indices"], "componentType", unsigned, f"{where}.sparse.indices")
        parts = []
        for name, dtype, shape in (("indices", index_type, "SCALAR"), ("values", component, kind)):
            part = sparse[name]
            offset = self.integer(part, "byteOffset", f"{where}.sparse.{name}", 0)
            parts.append(self._elements(part.get("bufferView"), offset, count, dtype, shape, f"{where}.sparse.{name}"))
        at = parts[0][:, 0].astype(np.int64)
        if at.size > 1 and not np.all(np.diff(at) > 0) and "sparse" not in self._broken:
            self._broken.add("sparse")
            say(f"model '{self.path}': {where}: sparse indices are not strictly increasing; of those that are there twice the last counts")
        if at.size and int(at.max()) >= len(values):
            raise self.error(where, f"sparse index {int(at.max())} is beyond the accessor's {len(values)} elements")
        values = values.copy()
        values[at] = parts[1]
        return values

    # ------------------------------------------------------------------------------------------------------- images

    def image(self, index: Any, where: str, kind: str = "PNG or JPEG") -> Array:
        """(H, W, 4) uint8 of an image; the same object at every call. ``kind``: ``"WEBP"`` or ``"KTX2"`` where an extension says so."""
        table = self.item("images", index, where)
        if (index, kind) in self._images:
            return self._images[index, kind]
        here = f"images[{index}]"
        if "bufferView" in table:
            data: bytes | memoryview = self.view_bytes(table["bufferView"], here)[0]
        elif isinstance(table.get("uri"), str):
            data = self._external(table["uri"], here)
        else:
            raise self.error(here, "has neither a bufferView nor a uri")
        if kind == "KTX2":
            pixels = self._basis(bytes(data), here)
        else:
            pixels = self.file.picture(bytes(data), here, ("WEBP",) if kind == "WEBP" else ("PNG", "JPEG"))
        self._images[index, kind] = pixels
        return pixels

    def _basis(self, data: bytes, where: str) -> Array:
        try:
            picture = BasisPicture(data)
            self.file.announce_picture(picture.size, where)
            return picture.pixels()
        except ImportError as error:
            raise self.error(where, str(error)) from None
        except ModelError:
            raise
        except ValueError as error:
            raise self.error(where, f"cannot be decoded: {error}") from error

    # ---------------------------------------------------------------------------------------------- from other sources

    def provide(self, index: Any, values: Array, where: str) -> None:
        """What an accessor stands for, from elsewhere than its buffer view: (count, components), converted to its component type."""
        table = self.item("accessors", index, where)
        here = f"accessors[{index}]"
        component = self.choice(table, "componentType", COMPONENT_TYPES, here)
        count = self.integer(table, "count", here)
        columns, rows = self.choice(table, "type", SHAPES, here)
        if values.shape != (count, columns * rows):
            raise self.error(where, f"has {values.shape[0]} elements of {values.shape[1]}; {here} says {count} of {columns * rows}")
        if component.kind != "f" and values.size:
            least, most = int(np.iinfo(component).min), int(np.iinfo(component).max)
            if values.dtype.kind not in "ui" or int(values.min()) < least or int(values.max()) > most:
                raise self.error(where, f"has {values.dtype} from {values.min()} to {values.max()}; {here} says {component}")
        self.budget.keep(values.size * (component.itemsize + 4), where, f"{count:,} elements")
        with np.errstate(invalid="ignore", over="ignore"):
            stored = values.astype(component)
        if component.kind != "f":
            self._accessors[index, False] = stored
        as_float = _to_float(stored, self.flag(table, "normalized", here))
        if not np.all(np.isfinite(as_float)):
            raise self.error(where, "has a component that is not a finite number")
        self._accessors[index, True] = as_float


def _split_glb(path: Path, data: bytes) -> tuple[bytes, memoryview | None]:
    """JSON and binary chunk of a GLB file."""
    if len(data) < 20:
        raise ModelError(f"model '{path}': {len(data)} bytes are too few for a GLB header; is the file truncated?")
    _, version, length = struct.unpack_from("<III", data)
    if version != 2:
        raise ModelError(f"model '{path}': GLB version is {version}; only 2 is read")
    if length > len(data):
        raise ModelError(f"model '{path}': the header says {length} bytes, the file has {len(data)}; is it truncated?")
    chunks: dict[int, memoryview] = {}
    offset = 12
    for _ in range(_MAX_CHUNKS):
        if offset + 8 > length:
            break
        size, kind = struct.unpack_from("<II", data, offset)
        offset += 8
        if offset + size > length:
            raise ModelError(
                f"model '{path}': a chunk of {size} bytes at byte {offset} ends beyond the file's {length} bytes"
            )
        chunks.setdefault(kind, memoryview(data)[offset : offset + size])
        offset += (size + 3) // 4 * 4
    else:
        raise ModelError(f"model '{path}': has more than {_MAX_CHUNKS} chunks")
    if _JSON_CHUNK not in chunks:
        raise ModelError(f"model '{path}': the GLB has no JSON chunk")
    return bytes(chunks[_JSON_CHUNK]), chunks.get(_BINARY_CHUNK)


def _to_float(values: Array, normalized: bool) -> Array:
    if values.dtype.kind == "f":
        return values.astype(np.float32)
    if not normalized:
        return values.astype(np.float32)
    scale = float(np.iinfo(values.dtype).max)
    # Signed: max(c / 127, -1), so that both ends are exact (glTF 2.0, section 3.6.2.2).
    return np.maximum(values.astype(np.float64) / scale, -1).astype(np.float32)
