"""Compressed formats in Python: texel blocks to colours, as the specification words it, one texel after the other.

Source: Khronos Data Format Specification 1.3: "S3TC", "RGTC" and "BPTC Compressed Texture Image Formats", "sRGB Transfer Functions".
A block is one whole number, its first byte the lowest. Fractions are exact until the end, where they are rounded once, to float32.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from tests.oracle import compressed_astc, compressed_etc2

Color = list[Fraction]  # R, G, B, A
Texels = list[Color]  # of a block, row by row


def _bits(block: int, high: int, low: int) -> int:
    """Bits high to low, as the specification counts them."""
    return block >> low & ((1 << (high - low + 1)) - 1)


def _bytes_from(block: int, first: int) -> int:
    return block >> (8 * first) & 0xFFFFFFFFFFFFFFFF


# -- BC1 to BC5


def _rgb565(color: int) -> Color:
    return [Fraction(_bits(color, 15, 11), 31), Fraction(_bits(color, 10, 5), 63), Fraction(_bits(color, 4, 0), 31)]


def _bc1_colors(block: int, transparent: bool) -> Texels:
    """``transparent``: blocks whose first colour is not the greater one have a code for black without alpha."""
    color0, color1, bits = _bits(block, 15, 0), _bits(block, 31, 16), _bits(block, 63, 32)
    rgb0, rgb1 = _rgb565(color0), _rgb565(color1)
    texels = []
    for i in range(16):
        code = _bits(bits, 2 * i + 1, 2 * i)
        alpha = Fraction(1)
        if code < 2:
            rgb = rgb1 if code else rgb0
        elif color0 > color1 or not transparent:
            rgb = [(2 * a + b) / 3 if code == 2 else (a + 2 * b) / 3 for a, b in zip(rgb0, rgb1, strict=True)]
        elif code == 2:
            rgb = [(a + b) / 2 for a, b in zip(rgb0, rgb1, strict=True)]
        else:
            rgb, alpha = [Fraction(0)] * 3, Fraction(0)
        texels.append([*rgb, alpha])
    return texels


def _bc4_values(block: int, signed: bool) -> list[Fraction]:
    ends = [_bits(block, 7, 0), _bits(block, 15, 8)]
    if signed:
        ends = [e - 256 if e > 127 else e for e in ends]
    least, most = (Fraction(-1), Fraction(1)) if signed else (Fraction(0), Fraction(1))
    e0, e1 = (max(Fraction(e, 127), least) if signed else Fraction(e, 255) for e in ends)
    if ends[0] > ends[1]:
        values = [e0, e1, *((e0 * (7 - k) + e1 * k) / 7 for k in range(1, 7))]
    else:
        values = [e0, e1, *((e0 * (5 - k) + e1 * k) / 5 for k in range(1, 5)), least, most]
    return [values[_bits(block, 16 + 3 * i + 2, 16 + 3 * i)] for i in range(16)]


def _bc1(block: int) -> Texels:
    return _bc1_colors(block, True)


def _bc1_opaque(block: int) -> Texels:
    return [[*texel[:3], Fraction(1)] for texel in _bc1_colors(block, True)]


def _bc2(block: int) -> Texels:
    colors = _bc1_colors(_bytes_from(block, 8), False)
    return [[*c[:3], Fraction(_bits(block, 4 * i + 3, 4 * i), 15)] for i, c in enumerate(colors)]


def _bc3(block: int) -> Texels:
    colors = _bc1_colors(_bytes_from(block, 8), False)
    return [[*c[:3], alpha] for c, alpha in zip(colors, _bc4_values(_bytes_from(block, 0), False), strict=True)]


def _bc4(signed: bool) -> Callable[[int], Texels]:
    return lambda block: [[red, Fraction(0), Fraction(0), Fraction(1)] for red in _bc4_values(block, signed)]


def _bc5(signed: bool) -> Callable[[int], Texels]:
    def decode(block: int) -> Texels:
        red, green = (_bc4_values(_bytes_from(block, first), signed) for first in (0, 8))
        return [[r, g, Fraction(0), Fraction(1)] for r, g in zip(red, green, strict=True)]

    return decode


# -- BC6H and BC7. Subsets of texels, row by row; the letters A, B and C are 0, 1 and 2 where a subset has its anchor.

def _rows(text: str) -> list[str]:
    return text.split()


PARTITIONS_2 = _rows("""
A01100110011001B A00100010001000B A11101110111011B A00100110011011B A00000010001001B A01101110111111B A00100110111111B
A00000010011011B A00000000001001B A01101111111111B A00000010111111B A00000000001011B A00101111111111B A00000001111111B
A00011111111111B A00000000000111B A00010001110111B A1B1000100000000 A0000000B0001110 A1B1001100010000 A0B1000100000000
A0001000B1001110 A0000000B0001100 A11100110011000B A0B1000100010000 A0001000B0001100 A1B0011001100110 A0B1011001101100
A0010111B1101000 A0001111B1110000 A1B1000110001110 A0B1100110011100 A10101010101010B A00011110000111B A10110B001011010
A0110011B1001100 A0B1110000111100 A1010101B0101010 A11010010110100B A10110101010010B A1B1001111001110 A0010011B1001000
A0B1001001001100 A0B1101111011100 A1B0100110010110 A01111001100001B A11001101001100B A00001B001100000 A10011B001000000
A0B0011100100000 A00000B001110010 A0000100B1100100 A11011001001001B A01101101100100B A1B0001110011100 A0B1100111000110
A11011001100100B A11000110011100B A11111101000000B A00110001110011B A00011110011001B A0B1001111110000 A0B0001011101110
A10001000111011B
""")

PARTITIONS_3 = _rows("""
A01B00110221222C A00B0011C2112221 A0002001C211221B A22C00220011011B A0000000B122112C A01B00110022002C A02C00221111111B
A0110011C211221B A0000000B111222C A0001111B111222C A00011B12222222C A01200B20012001C A11201B20112011C A1220B220122012C
A01B01121122122C A01B2001C2002220 A00B00110112112C A11B0011C0012200 A0001122B122112C A02C00220022111B A11B01110222022C
A00B0001C2212221 A00000B10122012C A0001100C2B02210 A12C0B2200110000 A0120012B122222C A11012C1B2210110 A00001B012C11221
A0221102B102002C A1100B102002222C A011012201C2001B A0002000C211222B A0000002B122122C A22C00220012001B A01B00120022022C
A1200B2001C00120 A00011B122C20000 A1201201C0B20120 A1202012BC010120 A011220011C2001B A01111C22200001B A10B01012222222C
A0000000C121212B A0221B220022112C A02C00110022001B A22012C10220122B A10122C22222010B A0002121C121212B A10B01010101222C
A22C01110222011B A0021B120002111C A0002B122112211C A2220B110111022C A0021112B112000C A1100B100110222C A000000021B2211C
A1100B102222222C A022001100B1002C A0221122B122002C A000000000002B1C A00C00010002000B A22212220222B22C A10B22222222222C
A11B2011C2012220
""")

# Mode: number of subsets, bits of partition, rotation, index selection, colour, alpha, P of each endpoint, shared P, index, second index.
BC7_MODES = [
    (3, 4, 0, 0, 4, 0, 1, 0, 3, 0),
    (2, 6, 0, 0, 6, 0, 0, 1, 3, 0),
    (3, 6, 0, 0, 5, 0, 0, 0, 2, 0),
    (2, 6, 0, 0, 7, 0, 1, 0, 2, 0),
    (1, 0, 2, 1, 5, 6, 0, 0, 2, 3),
    (1, 0, 2, 0, 7, 8, 0, 0, 2, 2),
    (1, 0, 0, 0, 7, 7, 1, 0, 4, 0),
    (2, 6, 0, 0, 5, 5, 1, 0, 2, 0),
]

# Mode: variables and their bits from the lowest of the block on; a..b begins at bit b.
BC6H_BLOCKS = {
    0: (
        "G2:4 B2:4 B3:4 R0:9..0 G0:9..0 B0:9..0 R1:4..0 G3:4 G2:3..0 G1:4..0 B3:0 G3:3..0 B1:4..0 B3:1 B2:3..0 R2:4..0 "
        "B3:2 R3:4..0 B3:3 PB:4..0"
    ),
    1: (
        "G2:5 G3:4 G3:5 R0:6..0 B3:0 B3:1 B2:4 G0:6..0 B2:5 B3:2 G2:4 B0:6..0 B3:3 B3:5 B3:4 R1:5..0 G2:3..0 G1:5..0 "
        "G3:3..0 B1:5..0 B2:3..0 R2:5..0 R3:5..0 PB:4..0"
    ),
    2: (
        "R0:9..0 G0:9..0 B0:9..0 R1:4..0 R0:10 G2:3..0 G1:3..0 G0:10 B3:0 G3:3..0 B1:3..0 B0:10 B3:1 B2:3..0 R2:4..0 "
        "B3:2 R3:4..0 B3:3 PB:4..0"
    ),
    6: (
        "R0:9..0 G0:9..0 B0:9..0 R1:3..0 R0:10 G3:4 G2:3..0 G1:4..0 G0:10 G3:3..0 B1:3..0 B0:10 B3:1 B2:3..0 R2:3..0 "
        "B3:0 B3:2 R3:3..0 G2:4 B3:3 PB:4..0"
    ),
    10: (
        "R0:9..0 G0:9..0 B0:9..0 R1:3..0 R0:10 B2:4 G2:3..0 G1:3..0 G0:10 B3:0 G3:3..0 B1:4..0 B0:10 B2:3..0 R2:3..0 "
        "B3:1 B3:2 R3:3..0 B3:4 B3:3 PB:4..0"
    ),
    14: (
        "R0:8..0 B2:4 G0:8..0 G2:4 B0:8..0 B3:4 R1:4..0 G3:4 G2:3..0 G1:4..0 B3:0 G3:3..0 B1:4..0 B3:1 B2:3..0 R2:4..0 "
        "B3:2 R3:4..0 B3:3 PB:4..0"
    ),
    18: (
        "R0:7..0 G3:4 B2:4 G0:7..0 B3:2 G2:4 B0:7..0 B3:3 B3:4 R1:5..0 G2:3..0 G1:4..0 B3:0 G3:3..0 B1:4..0 B3:1 "
        "B2:3..0 R2:5..0 R3:5..0 PB:4..0"
    ),
    22: (
        "R0:7..0 B3:0 B2:4 G0:7..0 G2:5 G2:4 B0:7..0 G3:5 B3:4 R1:4..0 G3:4 G2:3..0 G1:5..0 G3:3..0 B1:4..0 B3:1 "
        "B2:3..0 R2:4..0 B3:2 R3:4..0 B3:3 PB:4..0"
    ),
    26: (
        "R0:7..0 B3:1 B2:4 G0:7..0 B2:5 G2:4 B0:7..0 B3:5 B3:4 R1:4..0 G3:4 G2:3..0 G1:4..0 B3:0 G3:3..0 B1:5..0 "
        "B2:3..0 R2:4..0 B3:2 R3:4..0 B3:3 PB:4..0"
    ),
    30: (
        "R0:5..0 G3:4 B3:0 B3:1 B2:4 G0:5..0 G2:5 B2:5 B3:2 G2:4 B0:5..0 G3:5 B3:3 B3:5 B3:4 R1:5..0 G2:3..0 G1:5..0 "
        "G3:3..0 B1:5..0 B2:3..0 R2:5..0 R3:5..0 PB:4..0"
    ),
    3: "R0:9..0 G0:9..0 B0:9..0 R1:9..0 G1:9..0 B1:9..0",
    7: "R0:9..0 G0:9..0 B0:9..0 R1:8..0 R0:10 G1:8..0 G0:10 B1:8..0 B0:10",
    11: "R0:9..0 G0:9..0 B0:9..0 R1:7..0 R0:10..11 G1:7..0 G0:10..11 B1:7..0 B0:10..11",
    15: "R0:9..0 G0:9..0 B0:9..0 R1:3..0 R0:10..15 G1:3..0 G0:10..15 B1:3..0 B0:10..15",
}
# Mode: bits of the first endpoint; of the differences of the others in R, G, B (0: they are no differences).
BC6H_MODES = {
    0: (10, 5, 5, 5),
    1: (7, 6, 6, 6),
    2: (11, 5, 4, 4),
    6: (11, 4, 5, 4),
    10: (11, 4, 4, 5),
    14: (9, 5, 5, 5),
    18: (8, 6, 5, 5),
    22: (8, 5, 6, 5),
    26: (8, 5, 5, 6),
    30: (6, 0, 0, 0),
    3: (10, 0, 0, 0),
    7: (11, 9, 9, 9),
    11: (12, 8, 8, 8),
    15: (16, 4, 4, 4),
}


class _Stream:
    def __init__(self, block: int) -> None:
        self.rest = block

    def take(self, count: int) -> int:
        value = self.rest & ((1 << count) - 1)
        self.rest >>= count
        return value


def _partition(subsets: int, number: int) -> tuple[list[int], list[bool]]:
    """The subset of each texel, and which are anchors."""
    text = "A" + "0" * 15 if subsets == 1 else (PARTITIONS_2 if subsets == 2 else PARTITIONS_3)[number]
    return [int(c) if c.isdigit() else ord(c) - ord("A") for c in text], [not c.isdigit() for c in text]


def _indices(stream: _Stream, anchors: list[bool], bits: int) -> list[int]:
    return [stream.take(bits - anchor) for anchor in anchors]


def _weight(index: int, bits: int) -> int:
    if bits == 2:
        return index * 21 + (index >> 1)
    return index * 9 + (index >> 2) if bits == 3 else (index << 2) + (index >> 2) + (index >> 1 & 1)


def _interpolated(e0: int, e1: int, weight: int) -> int:
    return ((64 - weight) * e0 + weight * e1 + 32) >> 6


def _to_byte(value: int, bits: int) -> int:
    """The top bits again in the lowest."""
    text = format(value, f"0{bits}b")
    return int((text + text)[:8], 2)


def _bc7(block: int) -> Texels:
    if block & 0xFF == 0:
        return [[Fraction(0)] * 4 for _ in range(16)]
    stream = _Stream(block)
    number = 0
    while not stream.take(1):
        number += 1
    subsets, partition_bits, rotation_bits, selection_bits, color, alpha, p_each, p_shared, index, index2 = BC7_MODES[number]
    of_texel, anchors = _partition(subsets, stream.take(partition_bits))
    rotation, selection = stream.take(rotation_bits), stream.take(selection_bits)
    count = 2 * subsets
    channels = [[stream.take(color) for _ in range(count)] for _ in range(3)]
    channels.append([stream.take(alpha) for _ in range(count)])
    p = [stream.take(1) for _ in range(count)] if p_each else []
    if p_shared:
        p = [bit for bit in (stream.take(1), stream.take(1)) for _ in range(2)]
    for channel, bits in zip(channels, (color, color, color, alpha), strict=True):
        for e in range(count):
            if not bits:
                channel[e] = 255
            else:
                channel[e] = _to_byte(channel[e] << 1 | p[e], bits + 1) if p else _to_byte(channel[e], bits)
    primary = _indices(stream, anchors, index)
    secondary = _indices(stream, [True] + [False] * 15, index2) if index2 else primary
    of_color, of_alpha = (primary, index), (secondary, index2 or index)
    if selection:
        of_color, of_alpha = of_alpha, of_color
    texels = []
    for i in range(16):
        e = 2 * of_texel[i]
        rgba = []
        for c in range(4):
            indices, bits = of_alpha if c == 3 else of_color
            rgba.append(_interpolated(channels[c][e], channels[c][e + 1], _weight(indices[i], bits)))
        if rotation:
            rgba[3], rgba[rotation - 1] = rgba[rotation - 1], rgba[3]
        texels.append([Fraction(v, 255) for v in rgba])
    return texels


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _unquantized(x: int, bits: int, signed: bool) -> int:
    if not signed:
        if bits >= 15 or x == 0:
            return x
        return 0xFFFF if x == (1 << bits) - 1 else ((x << 15) + 0x4000) >> (bits - 1)
    if bits >= 16 or x == 0:
        return x
    size = abs(x)
    value = 0x7FFF if size >= (1 << (bits - 1)) - 1 else ((size << 15) + 0x4000) >> (bits - 1)
    return -value if x < 0 else value


def _half(i: int, signed: bool) -> int:
    if not signed:
        return (i * 31) >> 6
    return ((-i * 31) >> 5) | 0x8000 if i < 0 else (i * 31) >> 5


def _bc6h_halves(block: int, signed: bool) -> list[list[int]]:
    """Bits of the half floats of red, green and blue."""
    mode = block & 3 if block & 3 < 2 else block & 31
    if mode not in BC6H_MODES:
        return [[0] * 3 for _ in range(16)]
    stream = _Stream(block >> (2 if mode < 2 else 5))
    v = {f"{c}{e}": 0 for c in "RGB" for e in range(4)} | {"PB": 0}
    for item in BC6H_BLOCKS[mode].split():
        name, _, places = item.partition(":")
        a, _, b = places.partition("..")
        first, last = int(b or a), int(a)
        for bit in range(first, last + 1) if first <= last else range(first, last - 1, -1):
            v[name] |= stream.take(1) << bit
    bits, *deltas = BC6H_MODES[mode]
    two = "PB" in BC6H_BLOCKS[mode]
    ends = []
    for e in range(4):
        color = []
        for c, delta in zip("RGB", deltas, strict=True):
            x = v[f"{c}{e}"]
            if e and delta:
                x = (v[f"{c}0"] + _signed(x, delta)) & ((1 << bits) - 1)
            color.append(_unquantized(_signed(x, bits) if signed else x, bits, signed))
        ends.append(color)
    of_texel, anchors = _partition(2 if two else 1, v["PB"])
    index_bits = 3 if two else 4
    indices = _indices(stream, anchors, index_bits)
    return [
        [_half(_interpolated(a, b, _weight(indices[i], index_bits)), signed) for a, b in zip(ends[2 * s], ends[2 * s + 1], strict=True)]
        for i, s in enumerate(of_texel)
    ]


# -- all of them

DECODERS: dict[str, Callable[[int], Texels]] = {
    "bc1_rgb_unorm": _bc1_opaque,
    "bc1_rgba_unorm": _bc1,
    "bc2_unorm": _bc2,
    "bc3_unorm": _bc3,
    "bc4_unorm": _bc4(False),
    "bc4_snorm": _bc4(True),
    "bc5_unorm": _bc5(False),
    "bc5_snorm": _bc5(True),
    "bc7_unorm": _bc7,
    **compressed_etc2.DECODERS,
}

FORMATS = [f"{name}_block" for name in DECODERS]
FORMATS += [name.replace("unorm", "srgb") for name in FORMATS if name[:3] not in ("bc4", "bc5", "eac") and "unorm" in name]
FORMATS += ["bc6h_ufloat_block", "bc6h_sfloat_block"]
FORMATS += [f"astc_{w}x{h}_{kind}_block" for w, h in compressed_astc.FOOTPRINTS for kind in ("unorm", "srgb")]

# One of each kind of number that filters see.
FILTERED = [
    "bc1_rgba_unorm_block",
    "bc3_srgb_block",
    "bc5_snorm_block",
    "bc6h_sfloat_block",
    "eac_r11_unorm_block",
    "astc_10x6_unorm_block",
]


def block_px(name: str) -> tuple[int, int]:
    """Width and height of a texel block."""
    found = re.match(r"astc_(\d+)x(\d+)_", name)
    return (int(found[1]), int(found[2])) if found else (4, 4)


def block_B(name: str) -> int:
    """Bytes of a texel block."""
    return 8 if re.match("bc[14]|etc2_r8g8b8_|etc2_r8g8b8a1_|eac_r11_", name) else 16


def _rounded(value: Fraction) -> np.float32:
    # Both are exact in float32 for these fractions, so that the quotient is rounded once.
    return np.float32(value.numerator) / np.float32(value.denominator)


def _linear(value: Fraction) -> np.float32:
    x = float(value)
    return np.float32(x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4)


def decode(name: str, block: bytes) -> NDArray[np.float32]:
    """(height, width, 4) of a block: what a shader reads."""
    number = int.from_bytes(block, "little")
    width, height = block_px(name)
    out = np.empty((height * width, 4), np.float32)
    if name.startswith("bc6h"):
        halves = np.array(_bc6h_halves(number, "sfloat" in name), np.uint16)
        out[:, :3], out[:, 3] = halves.view(np.float16), 1
    elif name.startswith("astc"):
        srgb = "srgb" in name
        for i, texel in enumerate(compressed_astc.decode(number, width, height, srgb)):
            bytes_ = [Fraction(int(v), 255) for v in texel]
            out[i] = [_linear(v) if c < 3 else _rounded(v) for c, v in enumerate(bytes_)] if srgb else texel
    else:
        srgb = "srgb" in name
        for i, texel in enumerate(DECODERS[name.replace("srgb", "unorm").removesuffix("_block")](number)):
            out[i] = [_linear(v) if srgb and c < 3 else _rounded(v) for c, v in enumerate(texel)]
    return out.reshape(height, width, 4)


def decode_image(name: str, blocks: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.float32]:
    """(height, width, 4) of a level: ``blocks`` are (rows of blocks, columns, bytes); edges cut the last ones."""
    rows = [np.concatenate([decode(name, block.tobytes()) for block in row], axis=1) for row in blocks]
    return np.concatenate(rows)[: size[1], : size[0]]
