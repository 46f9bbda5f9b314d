"""Text without a font file: letters as strokes, and a texture of their distance fields.

In: the table below, strokes on a grid of digits. Out: :func:`atlas`, one texture for all sizes, and :func:`quads`, where letters go.
The field is what "Improved Alpha-Tested Magnification for Vector Textures and Special Effects" (Green, Valve 2007) stores.

The same bytes on every machine: sums, products and square roots only.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.scene.description import Sampler, Texture
from tilegpu.scene.seals import frozen

Array = NDArray[Any]
_LOOP = "~12 32 43 45 36 16 05 03 12"
_ROUND = "~10 30 42 44 36 16 04 02 10"

#: Strokes by letter: points (column, row) as two digits, row 0 the top of capitals, 2 of small letters, 6 the base line, 8 below it.
#: ``~``: corners are rounded. The width is that of the widest stroke.
STROKES = {
    "A": "06 20 46;14 34", "B": "06 00;~00 40 43 03;~03 43 46 06", "C": "~41 30 10 02 04 16 36 45", "D": "00 06;~00 20 42 44 26 06",
    "E": "40 00 06 46;03 33", "F": "40 00 06;03 33", "G": "~41 30 10 02 04 16 36 44;44 43 23", "H": "00 06;40 46;03 43",
    "I": "10 16", "J": "~40 44 36 16 04", "K": "00 06;40 03 46", "L": "00 06 46", "M": "06 00 23 40 46", "N": "06 00 46 40",
    "O": _ROUND, "P": "06 00;~00 40 43 03", "Q": _ROUND + ";24 46", "R": "06 00;~00 40 43 03;23 46",
    "S": "~41 30 10 01 02 13 33 44 45 36 16 05", "T": "20 26;00 40", "U": "~00 04 16 36 44 40", "V": "00 26 40", "W": "00 16 31 56 60",
    "X": "00 46;40 06", "Y": "00 23 40;23 26", "Z": "00 40 06 46",
    "a": _LOOP + ";42 46", "b": "00 06;" + _LOOP, "c": "~43 32 12 03 05 16 36 45", "d": "40 46;" + _LOOP,
    "e": "04 44;~44 43 32 12 03 05 16 36 45", "f": "~30 20 11 12;12 16;02 32", "g": _LOOP + ";42 46;~46 47 38 18 07",
    "h": "00 06;~04 12 32 43 46", "i": "12 16;10 10", "j": "~22 27 18 08;20 20", "k": "00 06;32 04 36", "l": "~00 05 16 26",
    "m": "02 06;~04 12 22 33 36;~34 42 52 63 66", "n": "02 06;~04 12 32 43 46", "o": _LOOP, "p": "02 08;" + _LOOP,
    "q": "42 48;" + _LOOP, "r": "02 06;~04 12 32", "s": "~43 32 12 03 14 34 45 36 16 05", "t": "~10 15 26 36;02 32",
    "u": "~02 05 16 36 44;42 46", "v": "02 26 42", "w": "02 16 33 56 62", "x": "02 46;42 06", "y": "02 26;42 18", "z": "02 42 06 46",
    "0": "~10 30 41 45 36 16 05 01 10", "1": "11 20 26;06 46", "2": "~01 10 30 41 42 06;06 46",
    "3": "~01 10 30 41 42 23;~23 44 45 36 16 05",
    "4": "36 30 04 44", "5": "40 00 03;~03 12 32 44 45 36 16 05", "6": "~40 20 03 05 16 36 45 44 33 13 04", "7": "00 40 16",
    "8": "~13 02 01 10 30 41 42 33 13;~13 33 44 45 36 16 05 04 13", "9": "~06 26 43 41 30 10 01 02 13 33 42",
    ".": "16 16", ",": "16 07", ":": "13 13;16 16", ";": "13 13;16 07", "-": "04 34", "+": "04 44;22 26", "/": "06 40",
    "%": "06 40;~00 10 11 01 00;~35 45 46 36 35", "(": "~20 02 04 26", ")": "~00 22 24 06", "!": "10 14;16 16",
    "?": "~01 10 30 41 42 24;26 26",
    "'": "10 11", '"': "00 01;20 21", "=": "03 43;05 45", "*": "20 24;01 43;41 03", "#": "10 16;30 36;02 42;04 44", "_": "07 47",
    "<": "42 04 46", ">": "02 44 06", "[": "20 00 06 26", "]": "00 20 26 06", "{": "~20 10 03 16 26", "}": "~00 10 23 16 06", "|": "10 17",
    "\\": "00 46", "^": "02 20 42", "~": "~04 13 34 43", "&": "~46 02 10 21 03 05 16 36 44", "@": "~33 22 13 24 34 33 43 31 11 03 05 16 36",
    "$": "~41 30 10 01 02 13 33 44 45 36 16 05;20 26", "`": "00 11",
}  # fmt: skip

ORDER = "".join(sorted(STROKES))
CELL_W_PX, CELL_H_PX, COLUMNS = 40, 56, 12
UNIT_PX = 4  #: texels of a step of the grid
_LEFT_PX, _TOP_PX = 8, 10  # where column 0 and row 0 lie in a cell
_REACH_PX = 6.0  # distance at which the field ends
_HALF_STROKE_PX = 1.7
#: Height of a capital, in which sizes are given, and what a line takes, in steps of the grid.
CAPITAL, LINE = 6.0, 11.0


def _points(stroke: str) -> Array:
    points = np.array([(int(p[0]), int(p[1])) for p in stroke.removeprefix("~").split()], np.float64)
    if not stroke.startswith("~"):
        return points
    closed = bool((points[0] == points[-1]).all())
    for _ in range(3):  # Chaikin's corner cutting
        a, b = points[:-1], points[1:]
        cut = np.stack([0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b], 1).reshape(-1, 2)
        points = np.vstack([cut, cut[:1]]) if closed else np.vstack([points[:1], cut[1:-1], points[-1:]])
    return points


def _field(strokes: str) -> Array:
    """(CELL_H_PX, CELL_W_PX) distance to the nearest stroke in texels."""
    y, x = np.mgrid[0:CELL_H_PX, 0:CELL_W_PX] + 0.5
    nearest = np.full((CELL_H_PX, CELL_W_PX), 1e9)
    for stroke in strokes.split(";"):
        points = _points(stroke) * UNIT_PX + (_LEFT_PX, _TOP_PX)
        for (ax, ay), (bx, by) in itertools.pairwise(points):
            dx, dy = bx - ax, by - ay
            length2 = max(dx * dx + dy * dy, 1e-9)
            t = np.clip(((x - ax) * dx + (y - ay) * dy) / length2, 0, 1)
            nearest = np.minimum(nearest, (x - ax - t * dx) ** 2 + (y - ay - t * dy) ** 2)
    return np.sqrt(nearest)


@functools.cache
def advances() -> dict[str, float]:
    """How far the next letter is, in steps of the grid."""
    widths = {letter: max(int(p[0]) for s in text.split(";") for p in s.removeprefix("~").split()) for letter, text in STROKES.items()}
    return {letter: width + 2.0 for letter, width in widths.items()} | {" ": 4.0}


@functools.cache
def atlas() -> Texture:
    """One channel: 0.5 at the edge of a stroke, more inside."""
    rows = -(-len(ORDER) // COLUMNS)
    pixels = np.zeros((rows * CELL_H_PX, COLUMNS * CELL_W_PX, 1), np.uint8)
    for k, letter in enumerate(ORDER):
        value = 0.5 + (_HALF_STROKE_PX - _field(STROKES[letter])) / (2 * _REACH_PX)
        y, x = k // COLUMNS * CELL_H_PX, k % COLUMNS * CELL_W_PX
        pixels[y : y + CELL_H_PX, x : x + CELL_W_PX, 0] = (np.clip(value, 0, 1) * 255 + 0.5).astype(np.uint8)
    sampler = Sampler(address_u="clamp_to_edge", address_v="clamp_to_edge")
    return frozen(Texture(pixels, "r8_unorm", False, sampler, "letters"))


def width_px(text: str, size_px: float) -> float:
    """Of a line of text with capitals of ``size_px`` pixels."""
    table = advances()
    return sum(table.get(letter, 4.0) for letter in text) * size_px / CAPITAL


def quads(text: str, x: float, y: float, size_px: float) -> tuple[Array, Array]:
    """(n, 4) rectangles x, y, x2, y2 in pixels and (n, 4) in the atlas, 0 to 1, of a text whose first line has its capitals' top left
    at (x, y). ``\\n`` begins a line. Letters that are not in :data:`STROKES` leave a gap."""
    table, scale = advances(), size_px / CAPITAL
    height, width = atlas().pixels.shape[:2]
    places, cells, at, line = [], [], 0.0, 0.0
    for letter in text:
        if letter == "\n":
            at, line = 0.0, line + LINE
            continue
        if letter in STROKES:
            places.append((at, line))
            cells.append(ORDER.index(letter))
        at += table.get(letter, 4.0)
    if not places:
        return np.zeros((0, 4), np.float32), np.zeros((0, 4), np.float32)
    step, number = np.array(places), np.array(cells)
    low = np.array([x, y]) + (step - np.array([_LEFT_PX, _TOP_PX]) / UNIT_PX) * scale
    high = low + np.array([CELL_W_PX, CELL_H_PX]) / UNIT_PX * scale
    u, v = number % COLUMNS * CELL_W_PX / width, number // COLUMNS * CELL_H_PX / height
    cell = np.stack([u, v, u + CELL_W_PX / width, v + CELL_H_PX / height], 1)
    return np.concatenate([low, high], 1).astype(np.float32), cell.astype(np.float32)
