"""PLY, text and binary of both byte orders. In: a file's bytes. Out: one part.

Source: Greg Turk, "The PLY Polygon File Format" (1994). Read: element ``vertex`` with x, y, z, normals (nx, ny, nz), colours (red,
green, blue, alpha) and texture coordinates (u, v; s, t; texture_u, texture_v); element ``face`` with a list ``vertex_indices`` or
``vertex_index`` of any number of corners (cut into a fan, which is right for convex faces) and perhaps a list ``texcoord``; the
picture of ``comment TextureFile``. Other elements and properties are passed over. Why no library: docs/dependencies.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tilegpu.scene.model_file import ModelFile
from tilegpu.scene.part import Array, Part
from tilegpu.scene.plain_mesh import (
    WORD_B,
    PlainMesh,
    announce,
    named_picture,
    numbers,
    part_of,
    picture_beside,
    texture_of,
    without_mark,
)

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
_MAX_HEADER_B = 1 << 16
_UV_NAMES = (("u", "v"), ("s", "t"), ("texture_u", "texture_v"))


@dataclass
class _Property:
    name: str
    type: np.dtype[np.generic]
    count_type: np.dtype[np.generic] | None = None  # of a list


@dataclass
class _Element:
    name: str
    count: int
    properties: list[_Property] = field(default_factory=list)


@dataclass
class _Header:
    elements: list[_Element]
    text: bool
    order: str
    picture: str
    size_B: int


@dataclass
class _List:
    """Values of a list property of all rows, one after the other, and how many each row has."""

    counts: Array
    values: Array


_Columns = Mapping[str, "Array | _List"]


def read_ply(file: ModelFile) -> list[Part]:
    """The part of a PLY file."""
    data = without_mark(file.read())
    header = _header(file, data)
    wanted = {element.name: element for element in header.elements}
    for name in ("vertex", "face"):
        if name not in wanted or not wanted[name].count:
            raise file.error("the header", f"has no element '{name}'; points alone are not drawn")
    _check_counts(file, header, len(data) - header.size_B)
    columns = (_TextBody if header.text else _BinaryBody)(file, header, data).read()
    mesh = _mesh(file, columns["vertex"], columns["face"], wanted["vertex"])
    picture = None
    if mesh.uv is not None:
        picture = named_picture(file, header.picture, "comment TextureFile") if header.picture else picture_beside(file)
    return [part_of(file, mesh, None if picture is None else texture_of(file, picture), file.path.stem)]


# -------------------------------------------------------------------------------------------------------------- header


def _header(file: ModelFile, data: bytes) -> _Header:
    end = data.find(b"end_header", 0, _MAX_HEADER_B)
    stop = data.find(b"\n", end) if end >= 0 else -1
    if data[:3] != b"ply" or end < 0 or stop < 0:
        raise file.error("the header", "is not that of a PLY file ('ply' ... 'end_header')")
    out = _Header([], True, "", "", stop + 1)
    known = False
    for number, line in enumerate(data[:end].splitlines()[1:], 2):
        words = line.decode("utf-8", "replace").split()
        where = f"line {number}"
        if not words or words[0] == "obj_info":
            continue
        if words[0] == "comment":
            if len(words) > 2 and words[1].lower() == "texturefile":
                out.picture = line.decode("utf-8", "replace").split(None, 2)[2].strip()
        elif words[0] == "format" and len(words) == 3:
            orders = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
            if words[1] not in orders or words[2] != "1.0":
                raise file.error(where, f"format is {' '.join(words[1:])!r}; allowed are {', '.join(orders)}, each 1.0")
            out.order, out.text, known = orders[words[1]], words[1] == "ascii", True
        elif words[0] == "element" and len(words) == 3:
            if not (words[2].isascii() and words[2].isdigit() and len(words[2]) <= 15):
                raise file.error(where, f"the number of '{words[1]}' is {words[2][:40]!r}; a non-negative integer is needed")
            if any(element.name == words[1] for element in out.elements):
                raise file.error(where, f"element '{words[1]}' is there twice")
            out.elements.append(_Element(words[1], int(words[2])))
        elif words[0] == "property" and out.elements:
            made = _property(file, words, out.order or "<", where)
            if any(p.name == made.name for p in out.elements[-1].properties):
                raise file.error(where, f"element '{out.elements[-1].name}' has the property '{made.name[:40]}' twice; rename one of them")
            out.elements[-1].properties.append(made)
        else:
            raise file.error(where, f"{' '.join(words)[:60]!r} is no line of a PLY header")
    if not known:
        raise file.error("the header", "has no line 'format'")
    return out


def _property(file: ModelFile, words: list[str], order: str, where: str) -> _Property:
    is_list = len(words) == 5 and words[1] == "list"
    names = words[2:4] if is_list else words[1:2]
    if not (is_list or len(words) == 3) or not all(name in _TYPES for name in names):
        raise file.error(where, f"{' '.join(words)[:60]!r}; a property has a type ({', '.join(_TYPES)}) and a name")
    types = [np.dtype(order + _TYPES[name]) for name in names]
    if is_list and types[0].kind == "f":
        raise file.error(where, f"the length of list '{words[-1][:40]}' is of type {names[0]}; an integer type is needed")
    return _Property(words[-1], types[-1], types[0] if is_list else None)


def _check_counts(file: ModelFile, header: _Header, body_B: int) -> None:
    """No more rows than the file has bytes for: before anything is allocated for them."""
    least_B = 0
    for element in header.elements:
        if header.text:
            row_B = 2 * len(element.properties)  # a digit and a space
        else:
            row_B = sum((p.count_type or p.type).itemsize for p in element.properties)
        least_B += element.count * row_B
        if least_B > body_B + header.text:  # the last space may be missing
            what = f"{element.count:,} rows need {least_B:,} bytes, there are {body_B:,}; is it truncated?"
            raise file.error(f"element '{element.name}'", what)
        file.budget.keep(element.count * len(element.properties) * 16, f"element '{element.name}'", f"{element.count:,} rows")


# ---------------------------------------------------------------------------------------------------------------- body


class _Body(ABC):
    """Rows of numbers, element after element."""

    elements: Sequence[_Element]

    def read(self) -> dict[str, _Columns]:
        """The columns of all elements."""
        return {element.name: self._element(element) for element in self.elements}

    def _element(self, element: _Element) -> _Columns:
        if not element.properties or not element.count:
            return {}
        return self._equal_rows(element) or self._each_row(element)

    @abstractmethod
    def _equal_rows(self, element: _Element) -> _Columns | None:
        """All rows at once, where they are of one length; ``None``: they are not."""

    @abstractmethod
    def _each_row(self, element: _Element) -> _Columns:
        """Row by row."""


class _BinaryBody(_Body):
    """Rows of numbers as bytes."""

    def __init__(self, file: ModelFile, header: _Header, data: bytes) -> None:
        self.file, self.elements = file, header.elements
        self.data, self.at = data, header.size_B

    def _need(self, size_B: int, element: _Element) -> None:
        if self.at + size_B > len(self.data):
            raise self.file.error(
                f"element '{element.name}'", f"ends {self.at + size_B - len(self.data):,} bytes beyond the file's end; is it truncated?"
            )

    def _equal_rows(self, element: _Element) -> _Columns | None:
        """All rows at once, if all lists are as long as those of the first row; else None."""
        fields: list[tuple[str, object, tuple[int, ...]]] = []
        at = self.at
        for k, p in enumerate(element.properties):
            if p.count_type is None:
                fields.append((f"p{k}", p.type, ()))
                at += p.type.itemsize
                continue
            if at + p.count_type.itemsize > len(self.data):
                self._need(at + p.count_type.itemsize - self.at, element)
            length = int(np.frombuffer(self.data, p.count_type, 1, at)[0])
            if not 0 <= length <= len(self.data):
                raise self.file.error(f"element '{element.name}'", f"a list '{p.name}' has {length} values")
            fields += [(f"c{k}", p.count_type, ()), (f"p{k}", p.type, (length,))]
            at += p.count_type.itemsize + length * p.type.itemsize
        row_B = at - self.at
        if self.at + row_B * element.count > len(self.data):
            self._need(row_B, element)
            return None  # the first row may be longer than others
        table = np.frombuffer(self.data, np.dtype(fields), element.count, self.at)
        out: dict[str, Array | _List] = {}
        for k, p in enumerate(element.properties):
            if p.count_type is None:
                out[p.name] = table[f"p{k}"]
                continue
            counts = table[f"c{k}"]
            if np.any(counts != counts[0]):
                return None
            out[p.name] = _List(counts.astype(np.int64), table[f"p{k}"].reshape(-1))
        self.at += row_B * element.count
        return out

    def _each_row(self, element: _Element) -> _Columns:
        scalars: dict[str, list[bytes]] = {p.name: [] for p in element.properties}
        counts: dict[str, list[int]] = {p.name: [] for p in element.properties}
        self.file.budget.room(element.count * len(element.properties) * 2 * WORD_B, f"element '{element.name}'", "its rows")
        data, size_B = self.data, len(self.data)
        for _ in range(element.count):
            for p in element.properties:
                length = 1
                if p.count_type is not None:
                    width = p.count_type.itemsize
                    self._need(width, element)
                    order = "little" if p.count_type.newbyteorder("<") == p.count_type else "big"
                    length = int.from_bytes(data[self.at : self.at + width], order, signed=p.count_type.kind == "i")  # type: ignore[arg-type]
                    if not 0 <= length <= size_B:
                        raise self.file.error(f"element '{element.name}'", f"a list '{p.name}' has {length} values")
                    counts[p.name].append(length)
                    self.at += width
                self._need(length * p.type.itemsize, element)
                scalars[p.name].append(data[self.at : self.at + length * p.type.itemsize])
                self.at += length * p.type.itemsize
        out: dict[str, Array | _List] = {}
        for p in element.properties:
            values = np.frombuffer(b"".join(scalars[p.name]), p.type)
            out[p.name] = values if p.count_type is None else _List(np.array(counts[p.name], np.int64), values)
        return out


def _rounded(values: Array, p: _Property) -> Array:
    """Numbers of a text as the declared type holds them; integers are checked where they are used."""
    return values.astype(p.type) if p.type.kind == "f" else values


class _TextBody(_Body):
    """Rows of numbers as words."""

    def __init__(self, file: ModelFile, header: _Header, data: bytes) -> None:
        self.file, self.elements = file, header.elements
        words = len(data) - header.size_B  # at most one for two bytes
        file.budget.room((words // 2 + 1) * (WORD_B + 8), "the file", "its numbers")
        body = data[header.size_B :].split()
        self.values = numbers(file, body, float, np.float64, lambda k: f"number {k} behind the header")
        self.at = 0

    def _length(self, at: int, element: _Element, name: str) -> int:
        if at >= len(self.values):
            raise self.file.error(f"element '{element.name}'", "ends beyond the file's end; is it truncated?")
        value = float(self.values[at])
        if not (0 <= value <= len(self.values) and value.is_integer()):
            raise self.file.error(f"element '{element.name}'", f"the length of a list '{name}' is {value}")
        return int(value)

    def _equal_rows(self, element: _Element) -> _Columns | None:
        spans: list[tuple[_Property, int, int]] = []
        width = 0
        for p in element.properties:
            length = 1
            if p.count_type is not None:
                length = self._length(self.at + width, element, p.name)
                width += 1
            spans.append((p, width, length))
            width += length
        if self.at + width * element.count > len(self.values):
            return None
        table = self.values[self.at : self.at + width * element.count].reshape(element.count, width)
        out: dict[str, Array | _List] = {}
        for p, first, length in spans:
            if p.count_type is None:
                out[p.name] = _rounded(table[:, first], p)
                continue
            if np.any(table[:, first - 1] != length):
                return None
            out[p.name] = _List(np.full(element.count, length, np.int64), _rounded(table[:, first : first + length].reshape(-1), p))
        self.at += width * element.count
        return out

    def _each_row(self, element: _Element) -> _Columns:
        spans: dict[str, list[Array]] = {p.name: [] for p in element.properties}
        self.file.budget.room(element.count * len(element.properties) * 3 * WORD_B, f"element '{element.name}'", "its rows")
        at = self.at
        for _ in range(element.count):
            for p in element.properties:
                length = 1
                if p.count_type is not None:
                    length = self._length(at, element, p.name)
                    at += 1
                if at + length > len(self.values):
                    raise self.file.error(f"element '{element.name}'", "ends beyond the file's end; is it truncated?")
                spans[p.name].append(self.values[at : at + length])
                at += length
        self.at = at
        out: dict[str, Array | _List] = {}
        for p in element.properties:
            values = _rounded(np.concatenate(spans[p.name]), p)
            out[p.name] = values if p.count_type is None else _List(np.array([len(s) for s in spans[p.name]]), values)
        return out


# ---------------------------------------------------------------------------------------------------------------- mesh


def _mesh(file: ModelFile, vertex: _Columns, face: _Columns, element: _Element) -> PlainMesh:
    scalars = {name: value for name, value in vertex.items() if not isinstance(value, _List)}
    missing = [name for name in "xyz" if name not in scalars]
    if missing:
        raise file.error("element 'vertex'", f"has no property {', '.join(missing)}")

    def columns(names: tuple[str, ...]) -> Array | None:
        return np.stack([scalars[n].astype(np.float64) for n in names], -1) if all(n in scalars for n in names) else None

    positions = columns(("x", "y", "z"))
    normals, colors = columns(("nx", "ny", "nz")), columns(("red", "green", "blue"))
    uv = next((found for found in map(columns, _UV_NAMES) if found is not None), None)
    if colors is not None:
        alpha = scalars["alpha"].astype(np.float64)[:, None] if "alpha" in scalars else None
        kinds = {p.name: p.type for p in element.properties}

        def largest(name: str) -> float:
            kind = kinds[name]
            return 1.0 if kind.kind == "f" else float(2 ** (8 * kind.itemsize - (kind.kind == "i")) - 1)

        alpha = np.ones((len(colors), 1)) if alpha is None else alpha / largest("alpha")
        colors = np.concatenate([colors / largest("red"), alpha], 1).clip(0, 1)
    assert positions is not None
    corners, starts, counts = _face_corners(file, face, len(positions))
    announce(file, len(corners), int((counts - 2).sum()))
    texcoord = face.get("texcoord")
    if isinstance(texcoord, _List) and np.array_equal(texcoord.counts, 2 * counts):
        # Coordinates of corners: a corner is a vertex where the same vertex has several.
        pairs = texcoord.values.astype(np.float64).reshape(-1, 2)
        _, pair = np.unique(pairs, axis=0, return_inverse=True)
        _, source, corner = np.unique(corners * (len(pairs) + 1) + pair.reshape(-1), return_index=True, return_inverse=True)
        used = corners[source]
        positions, uv = positions[used], pairs[source]
        normals, colors = (None if a is None else a[used] for a in (normals, colors))
        corners = corner.reshape(-1)
    owner = np.repeat(np.arange(len(counts)), counts - 2)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(counts - 2) - (counts - 2), counts - 2)
    base = starts[owner]
    triangles = corners[np.stack([base, base + 1 + step, base + 2 + step], -1)]
    return PlainMesh(positions, triangles, normals, uv, colors)


def _face_corners(file: ModelFile, face: _Columns, vertices: int) -> tuple[Array, Array, Array]:
    """Vertex numbers of all corners; of each face the first corner and how many it has."""
    found = face.get("vertex_indices", face.get("vertex_index"))
    if not isinstance(found, _List):
        raise file.error("element 'face'", "has no list vertex_indices")
    if found.counts.min() < 3:
        k = int(np.argmin(found.counts))
        raise file.error(f"face {k}", f"has {found.counts[k]} corners; at least 3 are needed")
    values = found.values.astype(np.float64)
    if not np.all((values >= 0) & (values < vertices) & (values == np.floor(values))):
        k = int(np.argmin((values >= 0) & (values < vertices) & (values == np.floor(values))))
        at = int(np.searchsorted(np.cumsum(found.counts), k, "right"))
        raise file.error(f"face {at}", f"refers to vertex {values[k]:.15g}, which is out of 0..{vertices - 1}")
    return values.astype(np.int64), np.cumsum(found.counts) - found.counts, found.counts
