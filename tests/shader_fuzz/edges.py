"""Numbers at which operations change their mind, as patterns: of each scalar type those around its own limits, around the limits of the
types that it is converted to, where a rounding is a tie, and what is no number.
"""

from __future__ import annotations

import struct
from functools import cache

from tests.shader_fuzz.palette import bits, pattern

_FORMS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
#: Exponents of powers of two where integers end, halves overflow or vanish, or floats lose their units.
_EXPONENTS = {16: (-15, -14, -1, 3, 7, 8, 10, 11, 15), 32: (-126, -25, -24, -14, -1, 7, 8, 15, 16, 23, 24, 31, 32, 63, 64, 127),
              64: (-1022, -149, -127, -126, -24, -1, 7, 15, 16, 23, 31, 32, 52, 53, 63, 64, 127, 128, 1023)}  # fmt: skip
_TIES = (0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5, 0.25, 0.75, 254.5, 255.5, 127.5, -128.5, 2049.0, 2051.0, 65519.0, 65520.0)


@cache
def patterns(scalar: str) -> tuple[int, ...]:
    """Of a type."""
    n = bits(scalar)
    if scalar[0] != "f":
        found = {0, 1, 2, 3, 5, n - 1, n, n + 1, (1 << n - 1) - 1, 1 << n - 1, (1 << n - 1) + 1, (1 << n) - 1, (1 << n) - 2}
        found |= {x for k in (7, 8, 15, 16, 24, 31, 32, 63) if k < n for x in ((1 << k) - 1, 1 << k, (1 << n) - (1 << k))}
        if n == 64:
            found |= {(1 << 24) + 1, (1 << 53) + 1, (1 << 63) + (1 << 39), (1 << 32) + 31}
        return tuple(sorted(x & (1 << n) - 1 for x in found))
    largest = {16: 0x7BFF, 32: 0x7F7FFFFF, 64: 0x7FEFFFFFFFFFFFFF}[n]
    infinity, least = largest + 1, {16: 0x400, 32: 0x800000, 64: 1 << 52}[n]
    quiet = infinity + (infinity & -infinity) // 2
    found = {0, 1, least - 1, least, largest, infinity, pattern(1.0, n), pattern(0.1, n), pattern(3.0, n), pattern(1e4, n)}
    for k in _EXPONENTS[n]:
        x = pattern(2.0**k, n)
        found |= {x - 1, x, x + 1}
    if n > 16:
        found |= {pattern(x, n) for x in (1.2e-38, 5e-8, 6.2e-5, 32767.5, 1e9, 4.2e9, 1e19)}
    # Halfway between neighbours of narrower floats, and beside it: two roundings would be seen.
    for half, own in ((11, 16), (24, 32)):
        if own < n:
            found |= {pattern(x * (1 + 2.0**-half), n) + step for x in (1.0, 2.0**-14, 3.0 / (1 + 2.0**-half)) for step in (-1, 0, 1)}
            found |= {pattern(1.0 + 3 * 2.0**-half, n) + step for step in (-1, 1)}
    both = sorted(found | {x | 1 << n - 1 for x in found})
    ties = [pattern(x, n) for x in _TIES if n > 16 or abs(x) < 65504]
    ones = [pattern(x, n) for x in (0.0, 1.0, -1.0, -0.0, float("inf"))]
    return (*both, *ties, *ones * 3, *[quiet] * 6)


def value(scalar: str, x: int) -> int | float | bool:
    """A pattern as the number that a constant is written with."""
    n = bits(scalar)
    if scalar[0] == "f":
        of, word = _FORMS[n]
        return float(struct.unpack(of, struct.pack(word, x))[0])
    return x - (1 << n) if scalar[0] == "i" and x >> n - 1 else x
