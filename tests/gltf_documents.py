"""glTF documents that tests put together: one buffer, a view and an accessor for each array; or dictionaries with what is wrong in them."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "f4")


class Builder:
    """Puts a document together: one buffer, a view and an accessor for each array."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "accessors": [],
            "bufferViews": [],
            "meshes": [],
            "nodes": [],
        }
        self.data = b""

    def view(self, data: bytes, **extra: Any) -> int:
        self.data += bytes(-len(self.data) % 4)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **extra})
        self.data += data
        return len(self.json["bufferViews"]) - 1

    def accessor(self, array: np.ndarray, **extra: Any) -> int:
        array = np.asarray(array)
        entry = {"bufferView": self.view(array.tobytes()), "componentType": TYPES[array.dtype.str[1:]], "count": len(array),
                 "type": KINDS[1 if array.ndim == 1 else array.shape[1]], **extra}  # fmt: skip
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def mesh(self, node: dict[str, Any] | None = None, **primitive: Any) -> Builder:
        primitive.setdefault("attributes", {}).setdefault("POSITION", self.accessor(TRIANGLE))
        self.json["meshes"].append({"primitives": [primitive]})
        self.json["nodes"].append({"mesh": len(self.json["meshes"]) - 1, **(node or {})})
        return self

    def glb(self, path: Path) -> Path:
        self.json["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        binary = self.data + bytes(-len(self.data) % 4)
        body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
        path.write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body)
        return path

    def gltf(self, path: Path) -> Path:
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        self.json["buffers"] = [{"byteLength": len(self.data), "uri": uri}]
        path.write_text(json.dumps(self.json))
        return path


def png(color: tuple[int, ...] = (255, 0, 0, 128), size: tuple[int, int] = (2, 2)) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGBA", size, color).save(stream, "PNG")
    return stream.getvalue()


def with_oddity(text: str, at: Sequence[Any], odd: Any) -> dict[str, Any]:
    """The document of a .gltf with one value replaced; ``"missing"``: left out."""
    document: dict[str, Any] = json.loads(text)
    table: Any = document
    for key in at[:-1]:
        table = table[key]
    if odd == "missing":
        del table[at[-1]]
    else:
        table[at[-1]] = odd
    return document


# ------------------------------------------------------------------------------------------- documents as dictionaries


def data_uri(data: bytes) -> str:
    return "data:;base64," + base64.b64encode(data).decode()


def accessor(count: int, kind: str = "VEC3", component: int = 5126, **more: Any) -> dict[str, Any]:
    return {"componentType": component, "count": count, "type": kind, **more}


def document(**more: Any) -> dict[str, Any]:
    return {"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], **more}


def primitive(**more: Any) -> dict[str, Any]:
    return {"meshes": [{"primitives": [{"attributes": {"POSITION": 0}, **more}]}]}


def textured(image: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One triangle whose material has a texture."""
    data = TRIANGLE.tobytes() + np.zeros((3, 2), "f4").tobytes()
    made = document(
        buffers=[{"byteLength": 60, "uri": data_uri(data)}],
        bufferViews=[{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
        accessors=[accessor(3, bufferView=0), accessor(3, "VEC2", bufferView=1)],
        images=[image],
        textures=[{"source": 0}],
        materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        **primitive(attributes={"POSITION": 0, "TEXCOORD_0": 1}, material=0),
    )
    return made | more


def write(path: Path, content: dict[str, Any] | str | bytes) -> Path:
    data = json.dumps(content) if isinstance(content, dict) else content
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def one_colour_png(width: int, height: int) -> bytes:
    """A PNG of one colour: its file is a thousandth of its pixels."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(bytes((width + 7) // 8 + 1) * height, 1)
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
