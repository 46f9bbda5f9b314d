"""STL, binary and text. In: a file's bytes. Out: one part with a normal for each facet.

Source: 3D Systems' StereoLithography Interface Specification (1989). The facets' own normals are not used: they are often zero.
"""

from __future__ import annotations

import struct

import numpy as np

from tilegpu.scene.model_file import ModelFile
from tilegpu.scene.part import Array, Part
from tilegpu.scene.plain_mesh import PlainMesh, announce, announce_text, lines_of, part_of, rows, without_mark

_HEADER_B = 84
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(file: ModelFile) -> list[Part]:
    """The part of an STL file; which of the two kinds it is, its size tells (many binary ones begin with "solid" too)."""
    data = file.read()
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= _HEADER_B else 0
    if len(data) >= _HEADER_B and len(data) == _HEADER_B + count * _FACET.itemsize:
        announce(file, 3 * count, count, facets=True)
        corners = np.frombuffer(data, _FACET, count, _HEADER_B)["corners"].reshape(-1, 3).astype(np.float64)
    elif without_mark(data).lstrip()[:5].lower() == b"solid":
        corners = _text(file, data)
    elif len(data) < _HEADER_B:
        raise file.error("the file", f"{len(data)} bytes are too few for an STL; is it truncated?")
    else:
        need_B = _HEADER_B + count * _FACET.itemsize
        raise file.error("the header", f"{count:,} facets are {need_B:,} bytes, the file has {len(data):,}; is it truncated?")
    triangles = np.arange(len(corners)).reshape(-1, 3)
    return [part_of(file, PlainMesh(corners, triangles, facets=True), None, file.path.stem)]


def _text(file: ModelFile, data: bytes) -> Array:
    announce_text(file, data)
    text: list[bytes] = []
    at: list[int] = []
    inside = ended = False
    for number, line in enumerate(lines_of(data), 1):
        words = line.split(None, 1)
        key = words[0].lower() if words else b""
        if key == b"vertex":
            text.append(words[1] if len(words) > 1 else b"")
            at.append(number)
        elif key in (b"facet", b"endfacet"):
            if len(text) % 3:
                raise file.error(f"line {number}", f"'{key.decode()}' after {len(text) % 3} vertices; a facet has 3")
            inside = key == b"facet"
        elif key in (b"solid", b"endsolid"):
            ended = key == b"endsolid"
    if inside or len(text) % 3 or not ended:
        raise file.error("the file", "ends inside a solid ('endsolid' is missing); is it truncated?")
    announce(file, len(text), len(text) // 3, facets=True)
    return rows(file, text, at, 3, 3)[0]
