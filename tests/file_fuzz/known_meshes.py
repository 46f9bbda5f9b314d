"""Meshes that are known, written to files in one of the many ways that the formats have, and what a reader must find in them.

In: a source of choices. Out: a file, and of each corner in the order in which it is drawn its position in the world, normal, colour and
texture coordinate. The writers follow the specifications alone and share nothing with the readers: Khronos glTF 2.0, sections 3.6
(accessors, sparse ones too), 3.5 (nodes) and 3.7 (meshes), KHR_mesh_quantization; Wavefront OBJ; Turk's PLY; 3D Systems' STL.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gltf_documents import Builder, png

Array = NDArray[Any]
#: Component types of glTF by NumPy's, and what one stands for where it is normalized.
WORDS = {"u1": (5121, 255), "i1": (5120, 127), "u2": (5123, 65535), "i2": (5122, 32767), "u4": (5125, 1), "f4": (5126, 1)}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}


@dataclass
class Known:
    """``corners``: how many make a triangle, a line or a point. Arrays are of all corners in order; None: the file does not say."""

    name: str
    data: bytes
    corners: int
    position: Array
    normal: Array | None = None
    color: Array | None = None
    uv: Array | None = None


# ---------------------------------------------------------------------------------------------------------------------------- glTF


def _stored(builder: Builder, choose: random.Random, values: Array, normalized: bool) -> int:
    """An accessor of (n, k) numbers, whichever way they lie."""
    kind, most = values.dtype.str[1:], len(values)
    size_B = values.itemsize * values.shape[1]
    entry: dict[str, Any] = {"componentType": WORDS[kind][0], "count": most, "type": KINDS[values.shape[1]]}
    if normalized:
        entry["normalized"] = True
    kept = values.copy()
    if choose.random() < 0.3:  # some are elsewhere (3.6.2.3)
        which = sorted(choose.sample(range(most), choose.randint(1, most)))
        index_type = choose.choice(("u1", "u2", "u4"))
        there = builder.view(np.array(which, f"<{index_type}").tobytes())
        entry["sparse"] = {"count": len(which), "indices": {"bufferView": there, "componentType": WORDS[index_type][0]},
                           "values": {"bufferView": builder.view(values[which].tobytes())}}  # fmt: skip
        kept[which] = 0 if choose.random() < 0.5 else 77
    bare = "sparse" in entry and len(entry["sparse"]) and choose.random() < 0.3
    if bare:  # without a view all others are zeros
        rest = np.ones(most, bool)
        rest[which] = False
        values[rest] = 0
    else:
        before_B = 4 * choose.randrange(4)
        step_B = -(-size_B // 4) * 4 + 4 * choose.randrange(3) if choose.random() < 0.6 or size_B % 4 else size_B
        rows = np.full((most, step_B), 0xA5, np.uint8)
        rows[:, :size_B] = np.ascontiguousarray(kept).view(np.uint8).reshape(most, size_B)
        text = bytes(before_B) + rows.tobytes()[: (most - 1) * step_B + size_B]
        extra = {"byteStride": step_B} if step_B != size_B or choose.random() < 0.5 else {}
        entry["bufferView"] = builder.view(text, **extra)
        if before_B:
            entry["byteOffset"] = before_B
    builder.json["accessors"].append(entry)
    return len(builder.json["accessors"]) - 1


def _bounded(builder: Builder, accessor: int, values: Array) -> int:
    """With the least and the greatest, which positions must have."""
    builder.json["accessors"][accessor] |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
    return accessor


def _numbers(choose: random.Random, count: int, width: int, kind: str) -> Array:
    if kind == "f4":
        return np.array([[choose.randint(-4096, 4096) / 256 for _ in range(width)] for _ in range(count)], "<f4")
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    return np.array([[choose.choice((low, high, 0, choose.randint(low, high))) for _ in range(width)] for _ in range(count)], f"<{kind}")


def _meaning(values: Array, normalized: bool) -> Array:
    """3.6.2.4: what stored numbers stand for."""
    if not normalized:
        return values.astype(np.float64)
    return np.maximum(values.astype(np.float64) / WORDS[values.dtype.str[1:]][1], -1)


def _turned(choose: random.Random) -> tuple[dict[str, Any], Array]:
    """Of a node: what the document says, and the matrix that it means (3.5.2: T R S)."""
    matrix = np.eye(4)
    if choose.random() < 0.3:
        matrix[:3] = [[choose.randint(-8, 8) / 4 for _ in range(4)] for _ in range(3)]
        return {"matrix": matrix.T.reshape(-1).tolist()}, matrix
    node: dict[str, Any] = {}
    if choose.random() < 0.6:
        node["scale"] = [choose.choice((-2.0, 0.5, 1.0, 3.0)) for _ in range(3)]
        matrix = np.diag([*node["scale"], 1.0])
    if choose.random() < 0.6:
        q = np.array([choose.uniform(-1, 1) for _ in range(4)])
        x, y, z, w = q = q / np.linalg.norm(q)
        node["rotation"] = q.tolist()
        turn = np.eye(4)
        turn[:3, :3] = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]  # fmt: skip
        matrix = turn @ matrix
    if choose.random() < 0.6:
        node["translation"] = [choose.randint(-8, 8) / 4 for _ in range(3)]
        move = np.eye(4)
        move[:3, 3] = node["translation"]
        matrix = move @ matrix
    return node, matrix


def _order(mode: int, indices: list[int]) -> list[list[int]]:
    """3.7.2.1: the corners of each primitive."""
    n = len(indices)
    if mode == 0:
        return [[v] for v in indices]
    if mode == 1:
        return [indices[k : k + 2] for k in range(0, n - 1, 2)]
    if mode in (2, 3):
        return [[indices[k], indices[(k + 1) % n]] for k in range(n if mode == 2 else n - 1)]
    if mode == 4:
        return [indices[k : k + 3] for k in range(0, n - 2, 3)]
    if mode == 5:
        return [[indices[k], indices[k + 1 + k % 2], indices[k + 2 - k % 2]] for k in range(n - 2)]
    return [[indices[k + 1], indices[k + 2], indices[0]] for k in range(n - 2)]


def gltf(choose: random.Random, folder: Path) -> Known:
    b, count = Builder(), choose.randint(3, 12)
    quantized = choose.random() < 0.4
    if quantized:
        b.json["extensionsUsed"] = b.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    attributes, fields = {}, {}

    def attribute(name: str, width: int, kinds: tuple[str, ...], normalized: bool) -> None:
        kind = choose.choice(kinds)
        normalized = kind != "f4" and normalized
        values = _numbers(choose, count, width, kind)
        if name == "NORMAL":
            values[:, 0] = np.where(np.abs(values).max(axis=1) < 2, 3, values[:, 0])
        accessor = _stored(b, choose, values, normalized)
        attributes[name] = _bounded(b, accessor, values) if name == "POSITION" else accessor
        fields[name] = _meaning(values, normalized)

    attribute("POSITION", 3, ("f4", "i1", "u1", "i2", "u2") if quantized else ("f4",), choose.random() < 0.5)
    if choose.random() < 0.6:
        attribute("NORMAL", 3, ("f4", "i1", "i2") if quantized else ("f4",), True)
    if choose.random() < 0.6:
        attribute("COLOR_0", choose.choice((3, 4)), ("f4", "u1", "u2"), True)
    if choose.random() < 0.6:
        attribute("TEXCOORD_0", 2, ("f4", "u1", "u2"), True)
    mode = choose.choice((4, 4, 4, 4, 0, 1, 2, 3, 5, 6))
    primitive: dict[str, Any] = {"attributes": attributes, "mode": mode}
    indices = list(range(count))
    if choose.random() < 0.7:
        indices = [choose.randrange(count) for _ in range(choose.randint(3, 15))]
    step = {1: 2, 4: 3}.get(mode, 1)
    if len(indices) % step or indices != list(range(count)):
        indices = indices[: len(indices) // step * step]
        kind = choose.choice(("u1", "u2", "u4"))
        values = np.array(indices, f"<{kind}")
        primitive["indices"] = b.accessor(values)
    if mode == 4 and choose.random() < 0.5:
        del primitive["mode"]
    if "TEXCOORD_0" in attributes:
        b.json["images"], b.json["textures"] = [{"bufferView": b.view(png()), "mimeType": "image/png"}], [{"source": 0}]
        b.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
        primitive["material"] = 0
    b.json["meshes"] = [{"primitives": [primitive]}]
    node, matrix = _turned(choose)
    b.json["nodes"] = [{"mesh": 0, **node}]
    if choose.random() < 0.5:
        parent, outer = _turned(choose)
        b.json["nodes"].append({"children": [0], **parent})
        matrix = outer @ matrix
    b.json["scenes"], b.json["scene"] = [{"nodes": [len(b.json["nodes"]) - 1]}], 0
    path = b.glb(folder / "known.glb") if choose.random() < 0.5 else b.gltf(folder / "known.gltf")
    corner = np.array(_order(mode, indices))
    flat = corner.reshape(-1)
    local = fields["POSITION"].astype(np.float32).astype(np.float64)
    world = local @ matrix[:3, :3].T + matrix[:3, 3]
    color = fields.get("COLOR_0")
    if color is not None and color.shape[1] == 3:
        color = np.concatenate([color, np.ones((count, 1))], 1)
    normal = fields.get("NORMAL")
    if normal is not None:  # what has no direction is (0, 0, 1) here
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        normal = np.where(length > 0, normal / np.where(length > 0, length, 1), [0.0, 0.0, 1.0])
    of = {"normal": normal, "color": color, "uv": fields.get("TEXCOORD_0")}
    return Known(path.name, path.read_bytes(), corner.shape[1], world[flat], **{k: None if v is None else v[flat] for k, v in of.items()})


# --------------------------------------------------------------------------------------------------------------- OBJ, PLY and STL


def _number(choose: random.Random) -> str:
    value = choose.randint(-99999, 99999) / choose.choice((1, 8, 1000))
    return choose.choice((f"{value:.3f}", f"{value:.5e}", f"{value:+.2f}", repr(value)))


def _linear(srgb: Array) -> Array:
    """IEC 61966-2-1."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _fans(faces: list[list[int]]) -> list[int]:
    return [v for face in faces for k in range(1, len(face) - 1) for v in (face[0], face[k], face[k + 1])]


def _faces(choose: random.Random, count: int) -> list[list[int]]:
    return [[choose.randrange(count) for _ in range(choose.choice((3, 3, 4, 5)))] for _ in range(choose.randint(1, 8))]


def obj(choose: random.Random, folder: Path) -> Known:
    count = choose.randint(3, 9)
    colored, with_normals = choose.random() < 0.5, choose.random() < 0.6
    words = [[_number(choose) for _ in range(3)] for _ in range(count)]
    colors = [[choose.randint(0, 255) / 255 for _ in range(3)] for _ in range(count)]
    normals = [[choose.choice((-1.0, 0.25, 2.0)) for _ in range(3)] for _ in range(choose.randint(1, 5))]
    lines = [" ".join(["v", *row, *(repr(c) for c in color)] if colored else ["v", *row]) for row, color in zip(words, colors, strict=True)]
    lines += [choose.choice(("vt 0.5 0.25", "vt 1 0 0"))] * choose.randrange(3)
    texels = sum(line.startswith("vt") for line in lines)
    lines += [f"vn {x} {y} {z}" for x, y, z in normals]
    flat: list[int] = []
    flat_normals: list[int] = []

    def index(at: int, size: int) -> str:
        return str(at + 1 if choose.random() < 0.7 else at - size)

    for face in _faces(choose, count):
        of_normals = [choose.randrange(len(normals)) for _ in face]
        texel = choose.randrange(texels) if texels and choose.random() < 0.8 else None
        row = []
        for v, n in zip(face, of_normals, strict=True):
            middle = "" if texel is None else index(texel, texels)
            end = f"/{middle}/{index(n, len(normals))}" if with_normals else f"/{middle}" if middle else ""
            row.append(index(v, count) + end)
        lines.append(choose.choice(("f ", "f\t ")) + "  ".join(row) + choose.choice(("", " ", " # face")))
        flat += _fans([face])
        flat_normals += _fans([of_normals])
        if choose.random() < 0.2:
            lines.append(choose.choice(("# v 9 9 9", "g part", "s off", "o name", "")))
    text = choose.choice(("\n", "\r\n")).join(lines) + choose.choice(("", "\n"))
    position = np.array([[float(word) for word in row] for row in words])
    unit = np.array(normals) / np.linalg.norm(normals, axis=1, keepdims=True)
    color = None
    if colored and not texels:  # else they are a picture's
        color = np.concatenate([_linear(np.array(colors)), np.ones((count, 1))], 1)[flat]
    normal = unit[flat_normals] if with_normals else None
    return Known("known.obj", text.encode(), 3, position[flat], normal, color)


_PLY = {"f4": ("float", "float32"), "f8": ("double", "float64"), "u1": ("uchar", "uint8"), "i1": ("char", "int8"),
        "i2": ("short", "int16"), "u2": ("ushort", "uint16"), "i4": ("int", "int32"), "u4": ("uint", "uint32")}  # fmt: skip


def ply(choose: random.Random, folder: Path) -> Known:
    count = choose.randint(3, 9)
    order = choose.choice(("", "<", ">"))
    faces = _faces(choose, count)
    if choose.random() < 0.3:
        faces = [face[:3] for face in faces]  # rows of one length
    columns: dict[str, tuple[str, Array]] = {}

    def column(name: str, kinds: tuple[str, ...]) -> None:
        kind = choose.choice(kinds)
        if kind[0] == "f":
            values = np.array([choose.randint(-4096, 4096) / 256 for _ in range(count)])
        else:
            values = np.array([choose.randint(max(np.iinfo(kind).min, -9999), min(np.iinfo(kind).max, 9999)) for _ in range(count)])
        columns[name] = (kind, values)

    axis_kinds = ("f4", "f4", "f8", "i2", "i4", "u1")
    for name in ("x", "y", "z"):
        column(name, axis_kinds)
    if with_normals := choose.random() < 0.5:
        for name in ("nx", "ny", "nz"):
            column(name, ("f4", "f8"))
        columns["nz"] = (columns["nz"][0], np.abs(columns["nz"][1]) + 0.5)
    if colored := choose.random() < 0.5:
        for name in ("red", "green", "blue", *(("alpha",) if choose.random() < 0.5 else ())):
            columns[name] = ("u1", np.array([choose.randint(0, 255) for _ in range(count)]))
    if choose.random() < 0.4:
        column("quality", tuple(_PLY))
    names = list(columns)
    choose.shuffle(names)
    length, index = choose.choice(("u1", "i1", "u2", "i2", "i4")), choose.choice(("u1", "u2", "i4", "u4"))
    extra = choose.random() < 0.4
    head = ["ply", f"format {({'': 'ascii', '<': 'binary_little_endian', '>': 'binary_big_endian'})[order]} 1.0", "comment known"]
    head += [f"element vertex {count}"] + [f"property {choose.choice(_PLY[columns[name][0]])} {name}" for name in names]
    head += ["element camera 1", "property float f"] if extra else []
    flags = choose.random() < 0.4
    head += [f"element face {len(faces)}"] + (["property uchar flags"] if flags else [])
    called = choose.choice(("vertex_indices", "vertex_index"))
    head += [f"property list {choose.choice(_PLY[length])} {choose.choice(_PLY[index])} {called}", "end_header"]
    if order:
        body = b"".join(np.array(columns[name][1][k]).astype(order + columns[name][0]).tobytes() for k in range(count) for name in names)
        body += struct.pack(order + "f", 7.0) if extra else b""
        for face in faces:
            body += b"\x09" * flags + np.array(len(face)).astype(order + length).tobytes() + np.array(face).astype(order + index).tobytes()
    else:
        rows = [" ".join(repr(columns[name][1][k].item()) for name in names) for k in range(count)] + (["7.0"] if extra else [])
        body = ("\n".join(rows + [" ".join(map(str, ([9] if flags else []) + [len(face), *face])) for face in faces]) + "\n").encode()
    flat = _fans(faces)

    def table(*wanted: str) -> Array:
        return np.stack([columns[name][1].astype(np.float64) for name in wanted], -1)[flat]

    normal = table("nx", "ny", "nz") if with_normals else None
    if normal is not None:
        normal = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    color = None
    if colored:
        alpha = table("alpha") / 255 if "alpha" in columns else np.ones((len(flat), 1))
        color = np.concatenate([_linear(table("red", "green", "blue") / 255), alpha], 1)
    return Known("known.ply", "\n".join(head).encode() + b"\n" + body, 3, table("x", "y", "z"), normal, color)


def stl(choose: random.Random, folder: Path) -> Known:
    facets = choose.randint(1, 9)
    words = [[_number(choose) for _ in range(3)] for _ in range(3 * facets)]
    position = np.array([[float(word) for word in row] for row in words])
    if choose.random() < 0.5:
        data = choose.choice((b"solid", b"STLB!")) + bytes(75) + struct.pack("<I", facets)
        for k in range(facets):
            data += struct.pack("<12fH", *([choose.uniform(-1, 1)] * 3), *position[3 * k : 3 * k + 3].reshape(-1), choose.randrange(65536))
        return Known("known.stl", data, 3, position.astype(np.float32).astype(np.float64))
    lines = ["solid known"]
    for k in range(facets):
        corners = [f"  vertex {' '.join(row)}" for row in words[3 * k : 3 * k + 3]]
        lines += ["facet normal 0 0 1", " outer loop", *corners, " endloop", "endfacet"]
    return Known("known.stl", "\n".join([*lines, "endsolid known", ""]).encode(), 3, position)


WRITERS = (gltf, gltf, gltf, obj, ply, stl)


# ----------------------------------------------------------------------------------------------------------------------- comparison


def known_mesh(choose: random.Random, folder: Path) -> Known:
    """One of them, by one of the writers."""
    return choose.choice(WRITERS)(choose, folder)


def difference(known: Known, part: Any) -> str:
    """What a part that was read has otherwise; "": nothing."""
    kinds = {1: "point_list", 2: "line_list", 3: "triangle_list"}
    if part.topology != kinds[known.corners]:
        return f"{part.topology} where the file has {kinds[known.corners]}"
    if part.indices.size != len(known.position):
        return f"{part.indices.size} corners, the file has {len(known.position)}"
    at = part.indices.reshape(-1)
    found = {name: part.vertices[name][at] for name in part.attributes} | {"position": part.world_positions()[at]}
    for name, wanted, field, near in (("position", known.position, "position", 1e-5), ("normal", known.normal, "normal", 1e-5),
                                      ("color", known.color, "color", 1e-6), ("uv", known.uv, "uv0", 1e-7)):  # fmt: skip
        if wanted is None:
            continue
        if field not in found:
            return f"there is no {name}"
        far = np.abs(found[field] - wanted) > near * (1 + np.abs(wanted).max())
        if far.any():
            k = int(np.argmax(far.any(axis=1)))
            return f"{name} of corner {k} is {found[field][k].tolist()}, the file has {wanted[k].tolist()}"
    return ""
