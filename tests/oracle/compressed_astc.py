"""ASTC, LDR profile, in Python: texel blocks to colours, as the specification words it.

Source: Khronos Data Format Specification 1.3, "ASTC Compressed Texture Image Formats". Bits are kept as text, the lowest first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FOOTPRINTS = [(4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8), (10, 5), (10, 6), (10, 8), (10, 10), (12, 10), (12, 12)]
LDR_MODES = {0, 1, 4, 5, 6, 8, 9, 10, 12, 13}
MAGENTA = (1, 0, 1, 1)


class IllegalBlockError(Exception):
    """All texels are the error colour."""


class Range(NamedTuple):
    """``high``: the highest value."""

    high: int
    trits: int
    quints: int
    bits: int

    def size(self, count: int) -> int:
        return -(-count * 8 * self.trits // 5) + -(-count * 7 * self.quints // 3) + count * self.bits


def _range(high: int) -> Range:
    n = high + 1
    for trits, quints, factor in ((0, 0, 1), (1, 0, 3), (0, 1, 5)):
        if n % factor == 0 and (n // factor) & (n // factor - 1) == 0:
            return Range(high, trits, quints, (n // factor).bit_length() - 1)
    raise AssertionError(high)


WEIGHT_RANGES = [[1, 2, 3, 4, 5, 7], [9, 11, 15, 19, 23, 31]]  # by P, from 010 on
COLOR_RANGES = [_range(h) for h in (255, 191, 159, 127, 95, 79, 63, 47, 39, 31, 23, 19, 15, 11, 9, 7, 5)]

# By number of bits: pattern of B from the highest bit on, and C.
COLOR_TRITS = {1: ("000000000", 204), 2: ("b000b0bb0", 93), 3: ("cb000cbcb", 44), 4: ("dcb000dcb", 22), 5: ("edcb000ed", 11),
               6: ("fedcb000f", 5)}  # fmt: skip
COLOR_QUINTS = {1: ("000000000", 113), 2: ("b0000bb00", 54), 3: ("cb0000cbc", 26), 4: ("dcb0000dc", 13), 5: ("edcb0000e", 6)}
WEIGHT_TRITS = {1: ("0000000", 50), 2: ("b000b0b", 23), 3: ("cb000cb", 11)}
WEIGHT_QUINTS = {1: ("0000000", 28), 2: ("b0000b0", 13)}


def _number(bits: str) -> int:
    return int(bits[::-1], 2) if bits else 0


def _split_trits(t: int) -> list[int]:
    b = lambda value, high, low: value >> low & ((1 << (high - low + 1)) - 1)  # noqa: E731
    if b(t, 4, 2) == 0b111:
        c, t4, t3 = b(t, 7, 5) << 2 | b(t, 1, 0), 2, 2
    else:
        c = b(t, 4, 0)
        t4, t3 = (2, b(t, 7, 7)) if b(t, 6, 5) == 0b11 else (b(t, 7, 7), b(t, 6, 5))
    if b(c, 1, 0) == 0b11:
        t2, t1, t0 = 2, b(c, 4, 4), b(c, 3, 3) << 1 | (b(c, 2, 2) & (1 - b(c, 3, 3)))
    elif b(c, 3, 2) == 0b11:
        t2, t1, t0 = 2, 2, b(c, 1, 0)
    else:
        t2, t1, t0 = b(c, 4, 4), b(c, 3, 2), b(c, 1, 1) << 1 | (b(c, 0, 0) & (1 - b(c, 1, 1)))
    return [t0, t1, t2, t3, t4]


def _split_quints(q: int) -> list[int]:
    b = lambda value, high, low: value >> low & ((1 << (high - low + 1)) - 1)  # noqa: E731
    if b(q, 2, 1) == 0b11 and b(q, 6, 5) == 0:
        not0 = 1 - b(q, 0, 0)
        return [4, 4, b(q, 0, 0) << 2 | (b(q, 4, 4) & not0) << 1 | (b(q, 3, 3) & not0)]
    if b(q, 2, 1) == 0b11:
        q2, c = 4, b(q, 4, 3) << 3 | (3 - b(q, 6, 5)) << 1 | b(q, 0, 0)
    else:
        q2, c = b(q, 6, 5), b(q, 4, 0)
    if b(c, 2, 0) == 0b101:
        return [b(c, 4, 3), 4, q2]
    return [b(c, 2, 0), b(c, 4, 3), q2]


def _sequence(bits: str, kind: Range, count: int) -> list[tuple[int, int]]:
    """(trit or quint, bits) of each value."""
    bits = bits[: kind.size(count)] + "0" * 64
    n = kind.bits
    if not kind.trits and not kind.quints:
        return [(0, _number(bits[i * n : (i + 1) * n])) for i in range(count)]
    widths = (2, 2, 1, 2, 1) if kind.trits else (3, 2, 2)
    values: list[tuple[int, int]] = []
    at = 0
    while len(values) < count:
        m, packed = [], ""
        for width in widths:
            m.append(_number(bits[at : at + n]))
            packed += bits[at + n : at + n + width]
            at += n + width
        digits = _split_trits(_number(packed)) if kind.trits else _split_quints(_number(packed))
        values += zip(digits, m, strict=True)
    return values[:count]


def _repeated(value: int, bits: int, to: int) -> int:
    return int((format(value, f"0{bits}b") * 8)[:to], 2)


def _mixed(digit: int, m: int, pattern: str, c: int, top: int) -> int:
    letters = {"0": "0", **{"abcdef"[k]: str(m >> k & 1) for k in range(6)}}
    b = int("".join(letters[x] for x in pattern), 2)
    a = int(letters["a"] * len(pattern), 2)
    unq = (digit * c + b) ^ a
    return (a & top) | (unq >> 2)


def _color_value(kind: Range, digit: int, m: int) -> int:
    if not kind.trits and not kind.quints:
        return _repeated(m, kind.bits, 8)
    return _mixed(digit, m, *(COLOR_TRITS if kind.trits else COLOR_QUINTS)[kind.bits], 0x80)


def _weight_value(kind: Range, digit: int, m: int) -> int:
    if kind.high == 2:
        unq = (0, 32, 63)[digit]
    elif kind.high == 4:
        unq = (0, 16, 32, 47, 63)[digit]
    elif not kind.trits and not kind.quints:
        unq = _repeated(m, kind.bits, 6)
    else:
        unq = _mixed(digit, m, *(WEIGHT_TRITS if kind.trits else WEIGHT_QUINTS)[kind.bits], 0x20)
    return unq + 1 if unq > 32 else unq


def _block_mode(bits: str) -> tuple[int, int, bool, Range]:
    """Width and height of the grid, two planes, range of the weights."""
    b = lambda high, low: _number(bits[low : high + 1])  # noqa: E731
    dual, precise = b(10, 10), b(9, 9)
    if b(1, 0):
        r = b(1, 1) << 2 | b(0, 0) << 1 | b(4, 4)
        rows = {0: (b(8, 7) + 4, b(6, 5) + 2), 1: (b(8, 7) + 8, b(6, 5) + 2), 2: (b(6, 5) + 2, b(8, 7) + 8),
                3: (b(7, 7) + 2, b(6, 5) + 2) if b(8, 8) else (b(6, 5) + 2, b(7, 7) + 6)}  # fmt: skip
        width, height = rows[b(3, 2)]
    else:
        if b(3, 2) == 0 or b(8, 6) == 0b111:
            raise IllegalBlockError
        r = b(3, 3) << 2 | b(2, 2) << 1 | b(4, 4)
        if b(8, 7) == 0:
            width, height = 12, b(6, 5) + 2
        elif b(8, 7) == 1:
            width, height = b(6, 5) + 2, 12
        elif b(8, 7) == 2:
            width, height, dual, precise = b(6, 5) + 6, b(10, 9) + 6, 0, 0
        else:
            width, height = (10, 6) if b(5, 5) else (6, 10)
    return width, height, bool(dual), _range(WEIGHT_RANGES[precise][r - 2])


def _transferred(a: int, b: int) -> tuple[int, int]:
    b = b >> 1 | (a & 0x80)
    a = a >> 1 & 0x3F
    return (a - 0x40 if a & 0x20 else a), b


def _contracted(r: int, g: int, b: int, a: int) -> list[int]:
    return [(r + b) >> 1, (g + b) >> 1, b, a]


def _endpoints(mode: int, v: list[int]) -> tuple[list[int], list[int]]:
    if mode == 0:
        e = [v[0]] * 3 + [255], [v[1]] * 3 + [255]
    elif mode == 1:
        low = v[0] >> 2 | (v[1] & 0xC0)
        e = [low] * 3 + [255], [min(low + (v[1] & 0x3F), 255)] * 3 + [255]
    elif mode == 4:
        e = [v[0]] * 3 + [v[2]], [v[1]] * 3 + [v[3]]
    elif mode == 5:
        (d, base), (da, alpha) = _transferred(v[1], v[0]), _transferred(v[3], v[2])
        e = [base] * 3 + [alpha], [base + d] * 3 + [alpha + da]
    elif mode in (6, 10):
        alphas = (v[4], v[5]) if mode == 10 else (255, 255)
        e = [c * v[3] >> 8 for c in v[:3]] + [alphas[0]], [*v[:3], alphas[1]]
    elif mode in (8, 12):
        first, second = [v[0], v[2], v[4], *v[6:7]], [v[1], v[3], v[5], *v[7:8]]
        first, second = [*first, 255][:4], [*second, 255][:4]
        e = (first, second) if sum(second[:3]) >= sum(first[:3]) else (_contracted(*second), _contracted(*first))
    else:
        pairs = [_transferred(v[i + 1], v[i]) for i in range(0, len(v), 2)]
        base, plus = [b for _, b in pairs], [a + b for a, b in pairs]
        base, plus = [*base, 255][:4], [*plus, 255][:4]
        e = (base, plus) if sum(a for a, _ in pairs[:3]) >= 0 else (_contracted(*plus), _contracted(*base))
    return [min(max(c, 0), 255) for c in e[0]], [min(max(c, 0), 255) for c in e[1]]


def _hash52(p: int) -> int:
    m = 0xFFFFFFFF
    p ^= p >> 15
    p = (p - (p << 17)) & m
    p = (p + (p << 7)) & m
    p = (p + (p << 4)) & m
    p ^= p >> 5
    p = (p + (p << 16)) & m
    p ^= p >> 7
    p ^= p >> 3
    p = (p ^ (p << 6)) & m
    return p ^ p >> 17


def _select_partition(seed: int, x: int, y: int, count: int, small_block: bool) -> int:
    if small_block:
        x, y = x << 1, y << 1
    seed += (count - 1) * 1024
    rnum = _hash52(seed)
    seeds = [(rnum >> (4 * k) & 0xF) ** 2 for k in range(8)]
    sh1 = 4 if seed & 2 else 5
    sh2 = 6 if count == 3 else 5
    if not seed & 1:
        sh1, sh2 = sh2, sh1
    seeds = [s >> (sh2 if k % 2 else sh1) for k, s in enumerate(seeds)]
    heights = [(seeds[2 * k] * x + seeds[2 * k + 1] * y + (rnum >> (14 - 4 * k))) & 0x3F for k in range(4)]
    if count < 4:
        heights[3] = 0
    if count < 3:
        heights[2] = 0
    a, b, c, d = heights
    if a >= b and a >= c and a >= d:
        return 0
    if b >= c and b >= d:
        return 1
    return 2 if c >= d else 3


def _infill(grid: list[int], width: int, height: int, size: tuple[int, int], x: int, y: int) -> int:
    ds, dt = ((1024 + n // 2) // (n - 1) for n in size)
    gs, gt = (ds * x * (width - 1) + 32) >> 6, (dt * y * (height - 1) + 32) >> 6
    js, fs, jt, ft = gs >> 4, gs & 15, gt >> 4, gt & 15
    at = lambda n: grid[n] if n < len(grid) else 0  # noqa: E731
    v0 = js + jt * width
    w11 = (fs * ft + 8) >> 4
    w10, w01, w00 = ft - w11, fs - w11, 16 - fs - ft + w11
    return (at(v0) * w00 + at(v0 + 1) * w01 + at(v0 + width) * w10 + at(v0 + width + 1) * w11 + 8) >> 4


def _finished(c: int, srgb: bool) -> float:
    """A byte of sRGB; else the number."""
    if srgb:
        return c >> 8
    if c == 65535:
        return 1.0
    # To 16 bits, towards zero.
    half = np.float16(c / 65536)
    return float(np.nextafter(half, np.float16(0)) if float(half) > c / 65536 else half)


def _void_extent(bits: str, srgb: bool) -> list[float]:
    coordinates = [_number(bits[k : k + 13]) for k in (12, 25, 38, 51)]
    if bits[9] == "1" or bits[10:12] != "11":
        raise IllegalBlockError
    if set(coordinates) != {0x1FFF} and (coordinates[0] >= coordinates[1] or coordinates[2] >= coordinates[3]):
        raise IllegalBlockError
    return [_finished(_number(bits[k : k + 16]), srgb) for k in (64, 80, 96, 112)]


def _modes(bits: str, partitions: int, below: int) -> tuple[list[int], int]:
    """Endpoint modes of the partitions, and how many of their bits lie below the weights."""
    if partitions == 1:
        return [_number(bits[13:17])] * 1, 0
    selector = _number(bits[23:25])
    if selector == 0:
        return [_number(bits[25:29])] * partitions, 0
    extra = 3 * partitions - 4
    fields = bits[25:29] + bits[below - extra : below]
    return [
        4 * (selector - 1 + int(fields[p])) + _number(fields[partitions + 2 * p : partitions + 2 * p + 2]) for p in range(partitions)
    ], extra


def _texels(block: int, width: int, height: int, srgb: bool) -> list[list[float]]:
    bits = format(block, "0128b")[::-1]
    if bits[:9] == "001111111":
        return [_void_extent(bits, srgb)] * (width * height)
    grid_width, grid_height, dual, weight_range = _block_mode(bits)
    partitions = _number(bits[11:13]) + 1
    count = grid_width * grid_height * (2 if dual else 1)
    weight_bits = weight_range.size(count)
    if grid_width > width or grid_height > height or count > 64 or not 24 <= weight_bits <= 96 or (dual and partitions == 4):
        raise IllegalBlockError
    modes, extra = _modes(bits, partitions, 128 - weight_bits)
    color_count = sum((mode // 4 + 1) * 2 for mode in modes)
    first = 17 if partitions == 1 else 29
    left = 128 - weight_bits - extra - (2 if dual else 0) - first
    if color_count > 18 or left < -(-13 * color_count // 5):
        raise IllegalBlockError
    color_range = next(r for r in COLOR_RANGES if r.size(color_count) <= left)
    colors = [_color_value(color_range, *v) for v in _sequence(bits[first:], color_range, color_count)]
    weights = [_weight_value(weight_range, *v) for v in _sequence(bits[::-1], weight_range, count)]
    planes = [weights[0::2], weights[1::2]] if dual else [weights, weights]
    selected = _number(bits[128 - weight_bits - extra - 2 : 128 - weight_bits - extra]) if dual else None
    seed = _number(bits[13:23])
    texels: list[list[float]] = []
    for y in range(height):
        for x in range(width):
            p = _select_partition(seed, x, y, partitions, width * height < 31) if partitions > 1 else 0
            if modes[p] not in LDR_MODES:
                texels.append([c * (255 if srgb else 1) for c in MAGENTA])
                continue
            start = sum((mode // 4 + 1) * 2 for mode in modes[:p])
            e0, e1 = _endpoints(modes[p], colors[start : start + (modes[p] // 4 + 1) * 2])
            texel = []
            for c in range(4):
                i = _infill(planes[1 if c == selected else 0], grid_width, grid_height, (width, height), x, y)
                c0, c1 = (v << 8 | (0x80 if srgb else v) for v in (e0[c], e1[c]))
                texel.append(_finished((c0 * (64 - i) + c1 * i + 32) // 64, srgb))
            texels.append(texel)
    return texels


def is_legal(block: int, width: int, height: int) -> bool:
    """Whether there is anything but the error colour."""
    try:
        _texels(block, width, height, False)
    except IllegalBlockError:
        return False
    return True


def decode(block: int, width: int, height: int, srgb: bool) -> list[list[float]]:
    """R, G, B, A of the texels, row by row: of sRGB bytes, else numbers."""
    try:
        return _texels(block, width, height, srgb)
    except IllegalBlockError:
        return [[c * (255 if srgb else 1) for c in MAGENTA]] * (width * height)
