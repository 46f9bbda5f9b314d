"""ETC2 and EAC in Python: texel blocks to colours, as the specification words it.

Source: Khronos Data Format Specification 1.3, "ETC2 Compressed Texture Image Formats". Pixels a to p stand in columns, and a block's first
byte is its highest: ``_field(word, 63, 60)`` is bits 63 to 60 of the tables there.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

Texels = list[list[Fraction]]  # of a block, row by row; R, G, B, A

MODIFIERS = [(-8, -2, 2, 8), (-17, -5, 5, 17), (-29, -9, 9, 29), (-42, -13, 13, 42), (-60, -18, 18, 60), (-80, -24, 24, 80),
             (-106, -33, 33, 106), (-183, -47, 47, 183)]  # fmt: skip
DISTANCES = [3, 6, 11, 16, 23, 32, 41, 64]
EAC_MODIFIERS = """
-3 -6 -9 -15 2 5 8 14 | -3 -7 -10 -13 2 6 9 12 | -2 -5 -8 -13 1 4 7 12 | -2 -4 -6 -13 1 3 5 12 | -3 -6 -8 -12 2 5 7 11 |
-3 -7 -9 -11 2 6 8 10 | -4 -7 -8 -11 3 6 7 10 | -3 -5 -8 -11 2 4 7 10 | -2 -6 -8 -10 1 5 7 9 | -2 -5 -8 -10 1 4 7 9 |
-2 -4 -8 -10 1 3 7 9 | -2 -5 -7 -10 1 4 6 9 | -3 -4 -7 -10 2 3 6 9 | -1 -2 -3 -10 0 1 2 9 | -4 -6 -8 -9 3 5 7 8 | -3 -5 -7 -9 2 4 6 8
"""
EAC_TABLES = [[int(v) for v in row.split()] for row in EAC_MODIFIERS.split("|")]


def _field(word: int, high: int, low: int) -> int:
    return word >> low & ((1 << (high - low + 1)) - 1)


def _word(block: int, first_byte: int) -> int:
    return int.from_bytes((block >> (8 * first_byte) & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little"), "big")


def _extend(value: int, bits: int) -> int:
    text = format(value, f"0{bits}b")
    return int((text * 2)[:8], 2)


def _clamp(value: int, low: int = 0, high: int = 255) -> int:
    return min(max(value, low), high)


def _plus(color: list[int], d: int) -> list[int]:
    return [_clamp(v + d) for v in color]


def _pixel_index(word: int, x: int, y: int) -> int:
    letter = 4 * x + y
    return _field(word, 16 + letter, 16 + letter) << 1 | _field(word, letter, letter)


def _two_subblocks(word: int, bases: list[list[int]], opaque: bool) -> list[list[list[int] | None]]:
    """Colours of the 16 pixels, by row and column; None: transparent."""
    flip = _field(word, 32, 32)
    rows = []
    for y in range(4):
        row: list[list[int] | None] = []
        for x in range(4):
            sub = (y >= 2) if flip else (x >= 2)
            table = MODIFIERS[_field(word, 36, 34) if sub else _field(word, 39, 37)]
            index = _pixel_index(word, x, y)
            modifier = {3: table[0], 2: table[1], 0: table[2], 1: table[3]}[index]
            if not opaque and index in (0, 2):
                modifier = 0
            row.append(None if not opaque and index == 2 else _plus(bases[sub], modifier))
        rows.append(row)
    return rows


def _painted(word: int, paint: list[list[int]], opaque: bool) -> list[list[list[int] | None]]:
    indices = [[_pixel_index(word, x, y) for x in range(4)] for y in range(4)]
    return [[None if not opaque and i == 2 else paint[i] for i in row] for row in indices]


def _t_mode(word: int, opaque: bool) -> list[list[list[int] | None]]:
    base1 = [_field(word, 60, 59) << 2 | _field(word, 57, 56), _field(word, 55, 52), _field(word, 51, 48)]
    base2 = [_field(word, 47, 44), _field(word, 43, 40), _field(word, 39, 36)]
    base1, base2 = ([_extend(v, 4) for v in base] for base in (base1, base2))
    d = DISTANCES[_field(word, 35, 34) << 1 | _field(word, 32, 32)]
    return _painted(word, [base1, _plus(base2, d), base2, _plus(base2, -d)], opaque)


def _h_mode(word: int, opaque: bool) -> list[list[list[int] | None]]:
    base1 = [_field(word, 62, 59), _field(word, 58, 56) << 1 | _field(word, 52, 52), _field(word, 51, 51) << 3 | _field(word, 49, 47)]
    base2 = [_field(word, 46, 43), _field(word, 42, 39), _field(word, 38, 35)]
    base1, base2 = ([_extend(v, 4) for v in base] for base in (base1, base2))
    d = DISTANCES[_field(word, 34, 34) << 2 | _field(word, 32, 32) << 1 | (base1 >= base2)]
    return _painted(word, [_plus(base1, d), _plus(base1, -d), _plus(base2, d), _plus(base2, -d)], opaque)


def _planar(word: int) -> list[list[list[int] | None]]:
    bits = (6, 7, 6)
    o = [_field(word, 62, 57), _field(word, 56, 56) << 6 | _field(word, 54, 49),
         _field(word, 48, 48) << 5 | _field(word, 44, 43) << 3 | _field(word, 41, 39)]  # fmt: skip
    h = [_field(word, 38, 34) << 1 | _field(word, 32, 32), _field(word, 31, 25), _field(word, 24, 19)]
    v = [_field(word, 18, 13), _field(word, 12, 6), _field(word, 5, 0)]
    o, h, v = ([_extend(c, n) for c, n in zip(color, bits, strict=True)] for color in (o, h, v))
    return [
        [[_clamp((x * (h[c] - o[c]) + y * (v[c] - o[c]) + 4 * o[c] + 2) >> 2) for c in range(3)] for x in range(4)]
        for y in range(4)
    ]


def _color(word: int, punchthrough: bool) -> Texels:
    bit33 = _field(word, 33, 33) == 1
    opaque = bit33 or not punchthrough
    base = [_field(word, 63, 59), _field(word, 55, 51), _field(word, 47, 43)]
    moves = [(_field(word, n + 2, n) ^ 4) - 4 for n in (56, 48, 40)]
    sums = [b + d for b, d in zip(base, moves, strict=True)]
    if not bit33 and not punchthrough:
        first = [_extend(_field(word, n + 3, n), 4) for n in (60, 52, 44)]
        second = [_extend(_field(word, n + 3, n), 4) for n in (56, 48, 40)]
        rows = _two_subblocks(word, [first, second], True)
    elif sums[0] not in range(32):
        rows = _t_mode(word, opaque)
    elif sums[1] not in range(32):
        rows = _h_mode(word, opaque)
    elif sums[2] not in range(32):
        rows = _planar(word)
    else:
        rows = _two_subblocks(word, [[_extend(v, 5) for v in color] for color in (base, sums)], opaque)
    texels = [texel for row in rows for texel in row]
    return [[Fraction(0)] * 4 if t is None else [*(Fraction(v, 255) for v in t), Fraction(1)] for t in texels]


def _eac(word: int, kind: str) -> list[Fraction]:
    base, multiplier, table = _field(word, 63, 56), _field(word, 55, 52), EAC_TABLES[_field(word, 51, 48)]
    values = []
    for y in range(4):
        for x in range(4):
            modifier = table[word >> (45 - 3 * (4 * x + y)) & 7]
            if kind == "alpha":
                values.append(Fraction(_clamp(base + modifier * multiplier), 255))
            elif kind == "unorm":
                by = modifier * multiplier * 8 if multiplier else modifier
                values.append(Fraction(_clamp(base * 8 + 4 + by, 0, 2047), 2047))
            else:
                signed = max(base - 256 if base > 127 else base, -127)
                by = modifier * multiplier * 8 if multiplier else modifier
                values.append(Fraction(_clamp(signed * 8 + by, -1023, 1023), 1023))
    return values


def _rgba(block: int) -> Texels:
    color, alpha = _color(_word(block, 8), False), _eac(_word(block, 0), "alpha")
    return [[*c[:3], a] for c, a in zip(color, alpha, strict=True)]


def _r11(kind: str) -> Callable[[int], Texels]:
    return lambda block: [[v, Fraction(0), Fraction(0), Fraction(1)] for v in _eac(_word(block, 0), kind)]


def _r11g11(kind: str) -> Callable[[int], Texels]:
    def decode(block: int) -> Texels:
        red, green = (_eac(_word(block, first), kind) for first in (0, 8))
        return [[r, g, Fraction(0), Fraction(1)] for r, g in zip(red, green, strict=True)]

    return decode


DECODERS: dict[str, Callable[[int], Texels]] = {
    "etc2_r8g8b8_unorm": lambda block: _color(_word(block, 0), False),
    "etc2_r8g8b8a1_unorm": lambda block: _color(_word(block, 0), True),
    "etc2_r8g8b8a8_unorm": _rgba,
    "eac_r11_unorm": _r11("unorm"),
    "eac_r11_snorm": _r11("snorm"),
    "eac_r11g11_unorm": _r11g11("unorm"),
    "eac_r11g11_snorm": _r11g11("snorm"),
}
