"""OBJ, PLY and STL have one kind of mesh in common: positions, triangles, perhaps normals, texture coordinates, colours.

In: a :class:`PlainMesh` as a reader found it. Out: a part in a matte material, or in the picture that the file names. Also here: the
numbers of a text file, whose readers name the line of whatever is wrong.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilegpu.scene.description import Sampler, Texture
from tilegpu.scene.materials import Material
from tilegpu.scene.mipmaps import mip_chain
from tilegpu.scene.model_file import ModelFile, say, shown
from tilegpu.scene.part import (
    PLACED_B,
    PLACING_B,
    SMOOTH_B,
    Array,
    F,
    Part,
    build_part,
    part_cost,
    repair_normals,
    say_no_length,
)
from tilegpu.scene.tangents import smooth_normals

_CLAY = (0.62, 0.60, 0.57, 1.0)
#: Formats of the pictures that OBJ and PLY files name; the formats themselves allow any.
_PICTURES = ("PNG", "JPEG", "BMP", "TGA")
#: Bytes of a line and of a word of a text file while they are Python objects.
LINE_B, WORD_B = 72, 56


@dataclass(eq=False)
class PlainMesh:
    """``positions`` (V, 3) float64; ``triangles`` (n, 3) vertex numbers; the others are (V, ...) or None.

    ``normals``: None to make smooth ones. ``facets``: every triangle has its own normal. ``uv``: v upwards. ``colors``: (V, 4), sRGB, 0..1.
    """

    positions: Array
    triangles: Array
    normals: Array | None = None
    uv: Array | None = None
    colors: Array | None = None
    facets: bool = False


def announce(file: ModelFile, vertices: int, triangles: int, facets: bool = False) -> None:
    """Count what a mesh of this size will take, before it is made."""
    if triangles == 0:
        raise file.error("mesh", "has no triangles to draw")
    kept_B, moment_B = part_cost(vertices, triangles, 3 + 3 + 2 + 4, facets, False)
    made = 3 * triangles if facets else vertices
    moment_B += triangles * SMOOTH_B + made * (PLACING_B - PLACED_B)
    file.budget.keep(kept_B + made * (PLACED_B + 96) + triangles * 36, "mesh", f"a mesh of {triangles:,} triangles", moment_B)
    file.budget.draw(triangles, "mesh")


def texture_of(file: ModelFile, picture: Array) -> Texture:
    """A picture with its mipmaps; made once for all parts that show it."""
    return Texture(picture, "r8g8b8a8_srgb", mip_chain(picture, True), Sampler(), f"{file.path.stem} texture")


def part_of(file: ModelFile, mesh: PlainMesh, texture: Texture | None, label: str) -> Part:
    """The mesh in a matte material; in the texture's colours if there is one and the mesh has texture coordinates."""
    if not np.all(np.isfinite(mesh.positions)):
        vertex = int(np.argmin(np.all(np.isfinite(mesh.positions), axis=1)))
        raise file.error(f"vertex {vertex}", "its position is not a finite number")
    uvs: tuple[Array, ...] = ()
    maps: dict[str, Texture] = {}
    colors = mesh.colors
    if mesh.uv is not None and texture is not None:
        if not np.all(np.isfinite(mesh.uv)):
            vertex = int(np.argmin(np.all(np.isfinite(mesh.uv), axis=1)))
            raise file.error(f"vertex {vertex}", "its texture coordinate is not a finite number")
        uvs = (np.stack([mesh.uv[:, 0], 1 - mesh.uv[:, 1]], -1).astype(F),)
        maps["base_color"] = texture
        colors = None
    if colors is not None:
        if not np.all(np.isfinite(colors)):
            raise file.error("vertex colours", "one is not a finite number")
        linear = np.where(colors <= 0.04045, colors / 12.92, ((np.maximum(colors, 0) + 0.055) / 1.055) ** 2.4)
        colors = np.concatenate([linear[:, :3], colors[:, 3:]], 1).astype(F)
    triangles = mesh.triangles.astype(np.uint32)
    positions = mesh.positions.astype(F)
    normals = None
    if not mesh.facets:
        if mesh.normals is not None and np.all(np.isfinite(mesh.normals)):
            say_no_length(f"model '{file.path}': {label}: normals", mesh.normals)
            normals = repair_normals(mesh.normals.astype(F))
        else:
            normals = smooth_normals(mesh.positions, triangles)
    material = Material(
        name=file.path.stem,
        base_color=_CLAY if colors is None and not maps else (1.0, 1.0, 1.0, 1.0),
        metallic=0.0,
        roughness=0.55,
        double_sided=True,
        maps=maps,
        uv_sets=dict.fromkeys(maps, 0),
    )
    return build_part(positions, triangles, material, None, label, normals, None, uvs, colors)


# ------------------------------------------------------------------------------------------------------------ pictures


def named_picture(file: ModelFile, name: str, where: str) -> Array | None:
    """(H, W, 4) uint8 of a picture that the model names; None, with a warning, if it isn't there.

    A picture of one colour is None too: such stand for "no texture".
    """
    data = file.beside(name, where, quoted=False)
    if data is None:
        say(f"model '{file.path}': {where}: there is no file {shown(name)} beside the model; it is drawn without")
        return None
    pixels = file.picture(data, where, _PICTURES)
    return None if min(pixels.shape[:2]) < 2 or bool(np.all(pixels == pixels[0, 0])) else pixels


def picture_beside(file: ModelFile) -> Array | None:
    """(H, W, 4) uint8 of the one picture beside a model that has texture coordinates but names no picture."""
    path = file.path
    images = [p for p in sorted(path.parent.iterdir()) if p.suffix.lower() in (".png", ".jpg", ".jpeg")]
    stem = path.stem.split("_")[0]
    named = [p for p in images if p.stem.startswith(stem)]
    if len(named) != 1 and len(images) != 1:
        return None
    found = named[0] if len(named) == 1 else images[0]
    data = file.beside(found.name, "its texture", quoted=False)
    return None if data is None else file.picture(data, f"its texture '{found.name}'")


# ---------------------------------------------------------------------------------------------------------------- text


def announce_text(file: ModelFile, data: bytes) -> None:
    """Count what a text file takes while it is lines and words."""
    lines = data.count(b"\n") + data.count(b"\r") + 1
    words = lines + data.count(b" ") + data.count(b"\t")
    file.budget.room(2 * len(data) + lines * LINE_B + words * WORD_B, "the file", f"its {lines:,} lines of text")


def numbers(file: ModelFile, words: Sequence[bytes], convert: Callable[[bytes], Any], dtype: Any, where: Callable[[int], str]) -> Array:
    """(n,) array of the words of a text file. ``where`` names the n-th word in a message."""
    try:
        # int() and float() take 1_000 and 1.0_0, which no other program reads.
        if not any(b"_" in word for word in words):
            return np.fromiter(map(convert, words), dtype, len(words))
    except (ValueError, OverflowError):
        pass
    for k, word in enumerate(words):
        try:
            if b"_" not in word:
                np.array(convert(word), dtype)
                continue
        except (ValueError, OverflowError):
            pass
        shown = word[:40].decode("ascii", "backslashreplace")
        raise file.error(where(k), f"'{shown}' is not {'an integer' if convert is int else 'a number'}")
    raise AssertionError("unreachable: one of the words could not be converted")


def rows(file: ModelFile, lines: Sequence[bytes], at: Sequence[int], least: int, most: int) -> tuple[Array, Array]:
    """(n, most) float64 of lines of numbers, and how many each has; what a line lacks is 0. ``at``: line numbers, for messages."""
    out = np.zeros((len(lines), most))
    counts = np.zeros(len(lines), np.int64)
    step = 1 << 14
    for first in range(0, len(lines), step):
        split = [line.split(None, most)[:most] for line in lines[first : first + step]]
        count = np.fromiter(map(len, split), np.int64, len(split))
        if count.min() < least:
            k = int(np.argmax(count < least))
            raise file.error(f"line {at[first + k]}", f"has {count[k]} numbers; at least {least} are needed")
        words = [word for row in split for word in row]
        owner = np.repeat(np.arange(len(split)), count)
        values = numbers(file, words, float, np.float64, lambda k, o=owner, f=first: f"line {at[f + int(o[k])]}")  # type: ignore[misc]
        column = np.arange(len(words)) - np.repeat(np.cumsum(count) - count, count)
        out[first + owner, column] = values
        counts[first : first + step] = count
    return out, counts


def without_mark(data: bytes) -> bytes:
    """Without what some editors begin UTF-8 with, which is no part of the first line."""
    return data[len(codecs.BOM_UTF8) :] if data.startswith(codecs.BOM_UTF8) else data


def lines_of(data: bytes) -> io.BytesIO:
    """The lines of a text, one at a time; a lone CR ends one too."""
    data = without_mark(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return io.BytesIO(data)
