"""Numbers as shaders hold them: integers modulo 2^bits, floats as bit patterns of 16, 32 and 64 bits; each operation rounded once.

A float is an int, its pattern. It is computed in Python's float64: sums, products, quotients and roots of two numbers of 24 bits are
rounded to 53 bits and then to 24 (or 11) as if they had been rounded once, since 53 >= 2 * 24 + 2 (Figueroa, "When is double rounding
innocuous?", 1995). What that doesn't hold for goes by fractions or by rounding to odd.
Source: IEEE 754-2019; Vulkan specification, "Precision and Operation of SPIR-V Instructions"; docs/undefined.md.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

#: The one NaN that operations make and memory holds, by bits.
NAN = {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8000000000000}
INFINITY = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}
_FLOATS = {16: struct.Struct("<e"), 32: struct.Struct("<f"), 64: struct.Struct("<d")}
_WORDS = {8: struct.Struct("<B"), 16: struct.Struct("<H"), 32: struct.Struct("<I"), 64: struct.Struct("<Q")}
_MANTISSA = {16: 10, 32: 23, 64: 52}


def mask(bits: int) -> int:
    """All ones."""
    return (1 << bits) - 1


def signed(x: int, bits: int) -> int:
    """A pattern as a number in two's complement."""
    return x - (1 << bits) if x >> (bits - 1) else x


def word_bytes(x: int, bits: int) -> bytes:
    """Little-endian."""
    return _WORDS[bits].pack(x)


def word_at(data: bytes | bytearray, offset_B: int, bits: int) -> int:
    """Little-endian."""
    return _WORDS[bits].unpack_from(data, offset_B)[0]


def decode(x: int, bits: int) -> float:
    """The number of a pattern."""
    return _FLOATS[bits].unpack(_WORDS[bits].pack(x))[0]


def encode(x: float, bits: int) -> int:
    """The pattern nearest to a number, ties to even; infinity beyond the largest; the one NaN."""
    if x != x:
        return NAN[bits]
    try:
        return _WORDS[bits].unpack(_FLOATS[bits].pack(x))[0]
    except OverflowError:
        return INFINITY[bits] | (1 << (bits - 1) if x < 0 else 0)


def is_nan(x: int, bits: int) -> bool:
    """By the pattern."""
    return x & mask(bits - 1) > INFINITY[bits]


def canonical(x: int, bits: int) -> int:
    """As memory holds it."""
    return NAN[bits] if is_nan(x, bits) else x


def _odd(near: float, exact_above: bool) -> float:
    """Between two neighbours, the one whose last bit is one: ``near`` is inexact, the number is above or below it."""
    pattern = struct.unpack("<Q", struct.pack("<d", near))[0]
    if pattern & 1:
        return near
    return math.nextafter(near, math.inf if exact_above else -math.inf)


def encode_fraction(x: Fraction, bits: int, zero_sign: bool = False) -> int:
    """The pattern nearest to an exact number, rounded once."""
    if x == 0:
        return 1 << (bits - 1) if zero_sign else 0
    try:
        near = float(x)  # correctly rounded
    except OverflowError:
        return INFINITY[bits] | (1 << (bits - 1) if x < 0 else 0)
    if bits == 64 or Fraction(near) == x:
        return encode(near, bits) if near else (1 << (bits - 1) if x < 0 else 0)
    if near == 0:
        return encode(-0.0 if x < 0 else 0.0, bits)
    return encode(_odd(near, x > Fraction(near)), bits)


def add(a: int, b: int, bits: int) -> int:
    """a + b."""
    return encode(decode(a, bits) + decode(b, bits), bits)


def sub(a: int, b: int, bits: int) -> int:
    """a - b."""
    return encode(decode(a, bits) - decode(b, bits), bits)


def mul(a: int, b: int, bits: int) -> int:
    """a * b."""
    return encode(decode(a, bits) * decode(b, bits), bits)


def div(a: int, b: int, bits: int) -> int:
    """a / b; by zero an infinity, 0 / 0 NaN."""
    x, y = decode(a, bits), decode(b, bits)
    if y == 0 or y != y:
        if x != x or y != y or x == 0:
            return NAN[bits]
        negative = (math.copysign(1, x) < 0) != (math.copysign(1, y) < 0)
        return INFINITY[bits] | (1 << (bits - 1) if negative else 0)
    return encode(x / y, bits)


def sqrt(a: int, bits: int) -> int:
    """NaN below zero; the root of -0 is -0."""
    x = decode(a, bits)
    if x < 0 or x != x:
        return NAN[bits]
    return encode(math.sqrt(x), bits)


def fma(a: int, b: int, c: int, bits: int) -> int:
    """a * b + c, rounded once."""
    x, y, z = decode(a, bits), decode(b, bits), decode(c, bits)
    if not (math.isfinite(x) and math.isfinite(y)):
        return encode(x * y + z, bits)
    if not math.isfinite(z):  # whatever the product is: it may be too large for a float64, but it is a number
        return encode(z, bits)
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        # An exact zero: with the sign that both terms have; +0 where they differ.
        return encode(x * y + z if z == 0 and (x == 0 or y == 0) else 0.0, bits)
    return encode_fraction(exact, bits)


def neg(a: int, bits: int) -> int:
    """The sign turned."""
    return a ^ 1 << (bits - 1)


def absolute(a: int, bits: int) -> int:
    """The sign taken away."""
    return a & mask(bits - 1)


def floor(a: int, bits: int) -> int:
    """With the sign of a zero kept."""
    x = decode(a, bits)
    if not math.isfinite(x) or x == 0:
        return encode(x, bits)
    return encode(math.copysign(float(math.floor(x)), x), bits)


def ceil(a: int, bits: int) -> int:
    """With the sign kept, of -0.5 as well."""
    x = decode(a, bits)
    if not math.isfinite(x) or x == 0:
        return encode(x, bits)
    return encode(math.copysign(abs(float(math.ceil(x))), x), bits)


def trunc(a: int, bits: int) -> int:
    """Towards zero, with the sign kept."""
    x = decode(a, bits)
    if not math.isfinite(x) or x == 0:
        return encode(x, bits)
    return encode(math.copysign(float(math.trunc(x)), x), bits)


def round_even(a: int, bits: int) -> int:
    """To the nearest whole number, halves to even, with the sign kept."""
    x = decode(a, bits)
    if not math.isfinite(x) or x == 0:
        return encode(x, bits)
    return encode(math.copysign(abs(float(round(x))), x), bits)


def convert(a: int, from_bits: int, to_bits: int) -> int:
    """Between floats, rounded once."""
    return encode(decode(a, from_bits), to_bits)


def convert_towards_zero(a: int, from_bits: int, to_bits: int) -> int:
    """Between floats: never beyond the number; finite stays finite."""
    x = decode(a, from_bits)
    out = encode(x, to_bits)
    if x == x and abs(decode(out, to_bits)) > abs(x):
        out -= 1  # the pattern before, nearer to zero
    return out


def to_integer(a: int, from_bits: int, bits: int, is_signed: bool) -> int:
    """Towards zero; saturating, NaN is 0."""
    x = decode(a, from_bits)
    if x != x:
        return 0
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, mask(bits))
    if x in (math.inf, -math.inf):
        return (high if x > 0 else low) & mask(bits)
    return min(max(math.trunc(x), low), high) & mask(bits)


def from_integer(x: int, bits: int) -> int:
    """The float nearest to a whole number."""
    return encode_fraction(Fraction(x), bits)


def quantize(a: int) -> int:
    """A 32-bit float as a half holds it; what is too small for a normal half is a zero of its sign."""
    half = convert(a, 32, 16)
    if not half & INFINITY[16]:
        half &= 0x8000
    return convert(half, 16, 32)


def ulp(a: int, bits: int) -> float:
    """The distance to the next number away from zero."""
    x = abs(decode(a, bits))
    if not math.isfinite(x):
        return math.inf
    exponent = (
        max(math.frexp(x)[1] - 1, {16: -14, 32: -126, 64: -1022}[bits]) if x else {16: -14, 32: -126, 64: -1022}[bits]
    )
    return math.ldexp(1.0, exponent - _MANTISSA[bits])
