"""Texel formats in NumPy: colour to texel and back, written from the Vulkan specification and the formats' own names.

Source: Vulkan specification, "Format Definition" (component order of array and packed formats), "Conversion From Floating-Point to
Normalized Fixed-Point", "16-Bit Floating-Point Numbers", "Unsigned 11-Bit and 10-Bit Floating-Point Numbers", sRGB: the Khronos Data
Format specification, "Transfer Functions". A texel is one whole number; component c takes `bits` bits from `shift` on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Component:
    channel: int  # 0 red .. 3 alpha
    bits: int
    shift: int


@dataclass(frozen=True)
class Format:
    name: str
    numeric: str
    components: tuple[Component, ...]
    texel_B: int

    @property
    def is_integer(self) -> bool:
        return self.numeric in ("uint", "sint")

    @property
    def blends(self) -> bool:
        return not self.is_integer


def parse(name: str) -> Format:
    """From Vulkan's name: an array format lists its components by address, a packed one from the highest bit down."""
    match = re.fullmatch(r"((?:[rgbax]\d+)+)_([a-z]+)(?:_(\d?)pack(\d+))?", name)
    assert match, name
    parts = [("rgbax".index(c), int(bits)) for c, bits in re.findall(r"([rgbax])(\d+)", match[1])]
    if match[4]:  # of several words each
        words = int(match[3] or 1)
        each = len(parts) // words
        parts = [part for k in range(words) for part in reversed(parts[k * each : (k + 1) * each])]
    components, shift = [], 0
    for channel, bits in parts:
        if channel < 4:  # x: nobody reads these bits
            components.append(Component(channel, bits, shift))
        shift += bits
    return Format(name, match[2], tuple(components), shift // 8)


#: All colour formats that Vulkan requires of attachments, and the usual ones beyond.
COLOR_FORMATS = [
    *(f"{c}{n}" for c in ("r8", "r8g8", "r8g8b8a8") for n in ("_unorm", "_snorm", "_uint", "_sint", "_srgb")),
    *(f"{c}{n}" for c in ("r16", "r16g16", "r16g16b16a16") for n in ("_unorm", "_snorm", "_uint", "_sint", "_sfloat")),
    *(f"{c}{n}" for c in ("r32", "r32g32", "r32g32b32a32") for n in ("_uint", "_sint", "_sfloat")),
    *(f"b8g8r8a8_{n}" for n in ("unorm", "snorm", "uint", "sint", "srgb")),
    *(f"a8b8g8r8_{n}_pack32" for n in ("unorm", "snorm", "uint", "sint", "srgb")),
    *(f"a2{o}_{n}_pack32" for o in ("b10g10r10", "r10g10b10") for n in ("unorm", "uint")),
    "b10g11r11_ufloat_pack32",
    *(f"{o}_unorm_{n}pack16" for x in ("10x6", "12x4") for n, o in (("", f"r{x}"), (2, f"r{x}g{x}"), (4, f"r{x}g{x}b{x}a{x}"))),
    *(f"{o}_unorm_pack16" for o in ("r5g6b5", "b5g6r5", "r5g5b5a1", "b5g5r5a1", "a1r5g5b5", "r4g4b4a4", "b4g4r4a4")),
]  # fmt: skip


def srgb_exact(linear: Array) -> Array:
    """The code before rounding, in 0..255, float64."""
    x = np.clip(linear.astype(np.float64), 0, 1)
    return 255 * np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def _ufloat(x: Array, mantissa: int) -> Array:
    """Nearest even; negative numbers are 0. Of numbers below the largest finite one."""
    x = np.maximum(x.astype(np.float64), 0)
    exponent = np.maximum(np.floor(np.log2(np.maximum(x, 1e-30))), -14)
    units = np.rint(x / 2.0 ** (exponent - mantissa)).astype(np.int64)  # 2**mantissa .. 2**(mantissa+1), below that: denormal
    return units + ((exponent.astype(np.int64) + 14) << mantissa)


def encode_component(numeric: str, bits: int, channel: int, x: Array) -> Array:
    """float32 colours (or their bits as whole numbers for integer formats) to codes, int64."""
    mask = (1 << bits) - 1
    if numeric == "srgb" and channel < 3:
        return np.rint(srgb_exact(x)).astype(np.int64)
    if numeric in ("unorm", "srgb"):
        return np.rint(np.clip(np.nan_to_num(x.astype(np.float64), nan=0.0), 0, 1) * mask).astype(np.int64)
    if numeric == "snorm":
        return np.rint(np.clip(np.nan_to_num(x.astype(np.float64), nan=0.0), -1, 1) * (mask >> 1)).astype(np.int64) & mask
    if numeric == "ufloat":
        return _ufloat(x, bits - 5)
    if numeric == "sfloat":
        if bits == 16:
            with np.errstate(over="ignore"):
                return x.astype(np.float32).astype(np.float16).view(np.uint16).astype(np.int64)
        return x.astype(np.float32).view(np.uint32).astype(np.int64)
    if numeric == "uint":
        return np.minimum(x.astype(np.int64), mask)
    return np.clip(x.astype(np.int64), -(1 << (bits - 1)), (1 << (bits - 1)) - 1) & mask


def decode_component(numeric: str, bits: int, channel: int, code: Array) -> Array:
    """Codes to float64 values (whole numbers for integer formats)."""
    mask = (1 << bits) - 1
    signed = np.where(code >> (bits - 1), code - (1 << bits), code)
    if numeric == "srgb" and channel < 3:
        c = code / 255.0
        return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    if numeric in ("unorm", "srgb"):
        return code / mask
    if numeric == "snorm":
        return np.maximum(signed / (mask >> 1), -1.0)
    if numeric == "ufloat":
        m, e = code & ((1 << (bits - 5)) - 1), code >> (bits - 5)
        return np.where(e == 0, m * 2.0 ** (-14 - (bits - 5)), (1 + m / 2.0 ** (bits - 5)) * 2.0 ** (e - 15.0))
    if numeric == "sfloat":
        kind, unsigned = (np.float16, np.uint16) if bits == 16 else (np.float32, np.uint32)
        return code.astype(unsigned).view(kind).astype(np.float64)
    return (signed if numeric == "sint" else code).astype(np.float64)


def encode(format_: Format, rgba: Array) -> Array:
    """(n, 4) colours to (n, components) codes, in the order of `format_.components`."""
    return np.stack([encode_component(format_.numeric, c.bits, c.channel, rgba[:, c.channel]) for c in format_.components], 1)


def decode(format_: Format, codes: Array) -> Array:
    """(n, components) codes to (n, 4) float64; absent components are 0, 0, 0, 1."""
    rgba = np.tile(np.array([0.0, 0.0, 0.0, 1.0]), (len(codes), 1))
    for k, c in enumerate(format_.components):
        rgba[:, c.channel] = decode_component(format_.numeric, c.bits, c.channel, codes[:, k])
    return rgba


def to_bytes(format_: Format, codes: Array) -> bytes:
    """(n, components) codes to n texels, little endian."""
    out = bytearray()
    for row in codes.tolist():
        out += sum(int(code) << c.shift for code, c in zip(row, format_.components, strict=True)).to_bytes(format_.texel_B, "little")
    return bytes(out)


def from_bytes(format_: Format, texels: bytes) -> Array:
    """Texels to (n, components) codes, int64."""
    rows = []
    for at in range(0, len(texels), format_.texel_B):
        value = int.from_bytes(texels[at : at + format_.texel_B], "little")
        rows.append([value >> c.shift & ((1 << c.bits) - 1) for c in format_.components])
    return np.array(rows, np.int64)


def step_of(format_: Format, component: Component, value: Array) -> Array:
    """The distance between neighbouring codes around a value: what one unit in the last place is worth."""
    bits = component.bits
    if format_.numeric in ("unorm", "snorm") or (format_.numeric == "srgb" and component.channel == 3):
        return np.full(value.shape, 1.0 / ((1 << (bits - (format_.numeric == "snorm"))) - 1))
    mantissa, lowest = (bits - 5, -14) if format_.numeric == "ufloat" else (10, -14) if bits == 16 else (23, -126)
    exponent = np.maximum(np.floor(np.log2(np.maximum(np.abs(value), 1e-300))), lowest)
    return 2.0 ** (exponent - mantissa)
