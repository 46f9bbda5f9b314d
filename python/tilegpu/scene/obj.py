"""Wavefront OBJ. In: a file's bytes. Out: a part for each material that the faces use.

Source: Wavefront's "Object Files (.obj)", appendix B1 of the Advanced Visualizer manual, and its MTL counterpart. Read: ``v`` (with
colours behind the position, as many programs write them), ``vt``, ``vn``, ``f`` of any number of corners (cut into a fan, which is
right for convex faces), negative indices, ``usemtl``, ``mtllib`` with ``map_Kd``. Points, lines, groups and smoothing groups are
passed over; free-form surfaces are an error. Why no library: docs/dependencies.md.
"""

from __future__ import annotations

import functools
import itertools
import os
from typing import NamedTuple

import numpy as np

from tilegpu.scene.description import Texture
from tilegpu.scene.model_file import ModelFile, named, say
from tilegpu.scene.part import Array, Part
from tilegpu.scene.plain_mesh import (
    PlainMesh,
    announce,
    announce_text,
    lines_of,
    named_picture,
    numbers,
    part_of,
    picture_beside,
    rows,
    texture_of,
)

_FREE_FORM = frozenset((b"curv", b"curv2", b"surf", b"cstype"))
#: What says nothing of a picture here, or what is said of no picture.
_LEFT_OUT = frozenset(
    b"o g s vp mg lod bevel c_interp d_interp usemap maplib shadow_obj trace_obj deg step bmat parm trim hole scrv sp end con ctech stech "
    b"call csh bzp bsp cdc cdp res".split()
)
_TABLES = ("v", "vt", "vn")
_MAX_PARTS = 20_000
_MOST_TOLD = 4  # keywords that are no words of OBJ
_MAX_MAP_B = 8192  # of a map's options and its file's name


class _Rows:
    """Lines of one keyword, and where they stand."""

    def __init__(self) -> None:
        self.text: list[bytes] = []
        self.at: list[int] = []


class _Lines(NamedTuple):
    """The lines of a file that matter. ``bases``: face number to how many v, vt, vn stood before it, where an index is negative."""

    tables: dict[bytes, _Rows]
    faces: _Rows
    bases: dict[int, tuple[int, int, int]]
    materials: list[tuple[int, str]]  # number of the first face, name
    libraries: list[str]


def read_obj(file: ModelFile) -> list[Part]:
    """The parts of an OBJ file."""
    data = file.read()
    announce_text(file, data)
    if b"\\" in data:  # a line goes on where it ends in a backslash
        data = data.replace(b"\\\r\n", b"  ").replace(b"\\\n", b" ")
    lines = _sort_lines(file, data)
    if not lines.faces.text:
        raise file.error("the file", "has no faces (lines that begin with 'f')")
    positions, columns = rows(file, lines.tables[b"v"].text, lines.tables[b"v"].at, 3, 6)
    uv, _ = rows(file, lines.tables[b"vt"].text, lines.tables[b"vt"].at, 1, 2)
    normals, _ = rows(file, lines.tables[b"vn"].text, lines.tables[b"vn"].at, 3, 3)
    corners, counts = _corners(file, lines)
    _resolve(file, lines, corners, counts, (len(positions), len(uv), len(normals)))
    announce(file, len(corners), int((counts - 2).sum()))
    colors = _colors(positions[:, 3:], columns)
    pictures = _library_pictures(file, lines.libraries)
    textures: dict[int, Texture] = {}  # by the picture
    beside = functools.cache(lambda: picture_beside(file))
    starts = np.cumsum(counts) - counts
    parts: list[Part] = []
    groups = _groups(lines.materials, len(counts))
    if len(groups) > _MAX_PARTS:
        raise file.error("the file", f"its faces use {len(groups):,} materials (usemtl); at most {_MAX_PARTS:,} are drawn; join materials")
    for name, chosen in groups:
        mesh = _mesh(corners, starts[chosen], counts[chosen], positions[:, :3], uv, normals, colors)
        picture = pictures.get(name)
        if picture is None and mesh.uv is not None:
            picture = beside()
        if picture is not None and id(picture) not in textures:
            textures[id(picture)] = texture_of(file, picture)
        texture = None if picture is None else textures[id(picture)]
        parts.append(part_of(file, mesh, texture, file.path.stem if len(groups) == 1 else f"{file.path.stem} {len(parts)}"))
    return parts


def _sort_lines(file: ModelFile, data: bytes) -> _Lines:
    tables = {b"v": _Rows(), b"vt": _Rows(), b"vn": _Rows()}
    out = _Lines(tables, _Rows(), {}, [], [])
    faces = out.faces
    lost: dict[bytes, list[int]] = {}  # keywords that nobody reads: how many lines, the first of them
    for number, line in enumerate(lines_of(data), 1):
        words = line.split(None, 1)
        if len(words) < 2:
            continue
        key, rest = words
        table = tables.get(key)
        if table is not None:
            table.text.append(_uncommented(rest))
            table.at.append(number)
        elif key == b"f":
            if b"-" in rest:
                out.bases[len(faces.text)] = (len(tables[b"v"].text), len(tables[b"vt"].text), len(tables[b"vn"].text))
            faces.text.append(_uncommented(rest))
            faces.at.append(number)
        elif key == b"usemtl":
            out.materials.append((len(faces.text), rest.strip().decode("utf-8", "replace")))
        elif key == b"mtllib":
            out.libraries.append(rest.strip().decode("utf-8", "replace"))
        elif key in _FREE_FORM:
            raise file.error(f"line {number}", f"'{key.decode()}': free-form curves and surfaces are not read; export the model as faces")
        elif key not in _LEFT_OUT and not key.startswith(b"#"):
            lost.setdefault(key, [0, number])[0] += 1
    for key, (count, number) in list(lost.items())[:_MOST_TOLD]:
        name = key.decode("utf-8", "replace")[:20]
        what = {"l": "lines", "p": "points"}.get(name)
        why = f"{what} are not drawn" if what else f"'{name}' is no keyword of OBJ files"
        left = f"{count} lines of the file that begin so are left out" if count > 1 else "that line of the file is left out"
        say(f"model '{file.path}': line {number}: {why}; {left}")
    return out


def _uncommented(rest: bytes) -> bytes:
    return rest.partition(b"#")[0] if b"#" in rest else rest


def _corners(file: ModelFile, lines: _Lines) -> tuple[Array, Array]:
    """(C, 3) v, vt, vn as they are written (0 where there is none), and (faces,) number of corners of each."""
    text, at = lines.faces.text, lines.faces.at
    counts = np.zeros(len(text), np.int64)
    pieces: list[Array] = []
    step = 1 << 14
    for first in range(0, len(text), step):
        split = [line.split() for line in text[first : first + step]]
        count = np.fromiter(map(len, split), np.int64, len(split))
        if count.min() < 3:
            k = int(np.argmax(count < 3))
            raise file.error(f"line {at[first + k]}", f"a face has {count[k]} corners; at least 3 are needed")
        counts[first : first + step] = count
        words = [word for row in split for word in row]
        pieces.append(_corner_words(file, words, np.repeat(np.asarray(at[first : first + step]), count)))
    return np.concatenate(pieces), counts


def _corner_words(file: ModelFile, words: list[bytes], at: Array) -> Array:
    """(n, 3) of corners written as v, v/vt, v//vn or v/vt/vn. ``at``: line of each. Those of one form together: each has as many words."""
    out = np.zeros((len(words), 3), np.int64)
    slashes = np.fromiter((word.count(b"/") for word in words), np.int64, len(words))
    for count in np.unique(slashes).tolist():
        which = np.flatnonzero(slashes == count)
        if count > 2:
            raise file.error(f"line {at[which[0]]}", f"a corner has {count + 1} indices; v/vt/vn are allowed")
        alike, width = [words[k] for k in which.tolist()], count + 1
        loose = b" ".join(alike).replace(b"//", b"/0/").replace(b"/", b" ").split()
        if len(loose) != width * len(alike):  # "1/": nothing stands behind the last slash, or in front of the first
            loose = [field or (b"" if column == 0 else b"0") for word in alike for column, field in enumerate(word.split(b"/"))]
        lines = at[which]
        out[which, :width] = numbers(file, loose, int, np.int64, lambda k, at=lines, n=width: f"line {at[k // n]}").reshape(-1, width)  # type: ignore[misc]
    return out


def _resolve(file: ModelFile, lines: _Lines, corners: Array, counts: Array, sizes: tuple[int, int, int]) -> None:
    """Indices as written become 0-based, -1 for none; in place."""
    starts = np.cumsum(counts) - counts
    relative = corners < 0
    for face, base in lines.bases.items():
        span = slice(starts[face], starts[face] + counts[face])
        corners[span] += relative[span] * (np.array(base) + 1)
    bad_zero = np.any(relative & (corners <= 0), axis=1) | (corners[:, 0] == 0)
    bad = bad_zero | np.any(corners > np.array(sizes), axis=1)
    if bad.any():
        k = int(np.argmax(bad))
        line = lines.faces.at[int(np.searchsorted(starts, k, "right")) - 1]
        have = ", ".join(f"{size:,} {name}" for name, size in zip(_TABLES, sizes, strict=True))
        raise file.error(f"line {line}", f"a corner refers to what the file does not have; it has {have}, counted from 1 or back from -1")
    corners -= 1


def _colors(values: Array, columns: Array) -> Array | None:
    """(V, 4) sRGB colours behind the positions; white for vertices without, None if none has any."""
    has = columns >= 6
    if not has.any():
        return None
    rgb = np.where(has[:, None], values, 1.0)
    if rgb.max() > 1:  # some programs write 0..255
        rgb = np.where(has[:, None], values / 255, 1.0)
    return np.concatenate([rgb.clip(0, 1), np.ones((len(rgb), 1))], 1)


def _groups(materials: list[tuple[int, str]], faces: int) -> list[tuple[str, Array]]:
    """Each material's name and its faces, in the order of first use."""
    out: dict[str, list[Array]] = {}
    edges = [(0, ""), *materials, (faces, "")]
    for (first, name), (end, _) in itertools.pairwise(edges):
        if end > first:
            out.setdefault(name, []).append(np.arange(first, end))
    return [(name, np.concatenate(spans)) for name, spans in out.items()]


def _mesh(
    corners: Array, first: Array, count: Array, positions: Array, uv: Array, normals: Array, colors: Array | None
) -> PlainMesh:
    """``first``, ``count``: where the corners of each face begin, and how many these are."""
    # A fan about each face's first corner.
    owner = np.repeat(np.arange(len(first)), count - 2)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(count - 2) - (count - 2), count - 2)
    base = first[owner]
    used = np.stack([base, base + 1 + step, base + 2 + step], -1)
    rows_used = corners[used.reshape(-1)]
    has_uv, has_normal = bool(np.all(rows_used[:, 1] >= 0)), bool(np.all(rows_used[:, 2] >= 0))
    key = rows_used[:, 0].copy()  # a corner is a vertex: equal indices, one vertex
    for column, there, size in ((1, has_uv, len(uv)), (2, has_normal, len(normals))):
        if there:
            _, key = np.unique(key * size + rows_used[:, column], return_inverse=True)
            key = key.reshape(-1)
    _, source, triangles = np.unique(key, return_index=True, return_inverse=True)
    vertex = rows_used[source]
    return PlainMesh(
        positions[vertex[:, 0]],
        triangles.reshape(-1, 3),
        normals[vertex[:, 2]] if has_normal else None,
        uv[vertex[:, 1]] if has_uv else None,
        colors[vertex[:, 0]] if colors is not None else None,
    )


def _library_pictures(file: ModelFile, libraries: list[str]) -> dict[str, Array | None]:
    """Of each material: the picture of its map_Kd."""
    out: dict[str, Array | None] = {}
    pictures: dict[str, Array | None] = {}  # by the path: a name has many spellings
    for library in libraries[:1]:  # as most programs: the first
        called = named(library, "")
        data = file.beside(library, f"mtllib '{called}'", quoted=False)
        if data is None:  # often lost on the way; the geometry alone is a model too
            say(f"model '{file.path}': there is no material library '{called}' beside it")
            continue
        announce_text(file, data)
        material = ""
        for line in lines_of(data):
            words = line.split(None, 1)
            if len(words) < 2:
                continue
            key, rest = words[0].lower(), words[1].strip()
            if key == b"newmtl":
                material = rest.decode("utf-8", "replace")
            elif key == b"map_kd":
                if len(rest) > _MAX_MAP_B:
                    where = f"material '{named(material, '')}' of '{called}'"
                    raise file.error(where, f"its map has {len(rest):,} characters; at most {_MAX_MAP_B:,} are read")
                name = _map_file(rest).decode("utf-8", "replace").replace("\\", "/")
                path = os.path.normpath(name)
                if path not in pictures:
                    pictures[path] = named_picture(file, name, f"material '{named(material, '')}' of '{called}'")
                out[material] = pictures[path]
    return out


#: Options of a map and how many words follow each (the last two up to three; written with one or more).
_OPTIONS = {b"-blendu": 1, b"-blendv": 1, b"-cc": 1, b"-clamp": 1, b"-mm": 2, b"-texres": 1, b"-imfchan": 1, b"-bm": 1, b"-boost": 1}
_VECTORS = frozenset((b"-o", b"-s", b"-t"))


def _map_file(text: bytes) -> bytes:
    """The file name behind the options of a map; it may have spaces in it."""
    while text.startswith(b"-"):
        option, _, rest = text.partition(b" ")
        rest = rest.strip()
        if option in _VECTORS:
            for _ in range(3):
                word, _, tail = rest.partition(b" ")
                try:
                    float(word)
                except ValueError:
                    break
                rest = tail.strip()
        elif option in _OPTIONS:
            for _ in range(_OPTIONS[option]):
                rest = rest.partition(b" ")[2].strip()
        else:
            break
        text = rest
    return text
