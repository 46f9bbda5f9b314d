"""Fragments of several pixels, from the specification alone: sizes, their combination, coverage masks, which fragments there are.

Source: Vulkan specification, "Fragment Shading Rates" (required rates, "Combining the Fragment Shading Rates" with the steps of clamping,
attachment texels), "Multisampling" (coverage index of fragments of several pixels). Sizes are (width, height) in pixels.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Size = tuple[int, int]

#: What tilegpu offers beside 1x1, and for which samples: the limits are 4x4, an aspect ratio of 2, 4 samples, and 32 of them in a fragment.
RATES: dict[Size, tuple[int, ...]] = {
    (4, 4): (1, 2),
    (4, 2): (1, 2, 4),
    (2, 4): (1, 2, 4),
    (2, 2): (1, 2, 4),
    (2, 1): (1, 2, 4),
    (1, 2): (1, 2, 4),
}
OPS = ("keep", "replace", "min", "max", "mul")


def supported(samples: int) -> list[Size]:
    return [size for size, counts in RATES.items() if samples in counts] + [(1, 1)]


def clamp(size: Size, samples: int) -> Size:
    """The three steps, in order; of a wide and a tall one that remain the wide one."""
    rates = supported(samples)
    if size in rates:
        return size
    rates = [r for r in rates if r[0] <= size[0] and r[1] <= size[1]]
    area = max(w * h for w, h in rates)
    rates = [r for r in rates if r[0] * r[1] == area]
    ratio = min(w + h for w, h in rates)
    return max(r for r in rates if r[0] + r[1] == ratio)


def combine(op: str, a: Size, b: Size) -> Size:
    """Component-wise; products of ones are ones (fragmentShadingRateStrictMultiplyCombiner)."""
    rule = {"keep": lambda x, y: x, "replace": lambda x, y: y, "min": min, "max": max, "mul": lambda x, y: x * y}[op]
    return rule(a[0], b[0]), rule(a[1], b[1])


def decode(texel: int) -> Size:
    """Of an attachment's texel, and of SPIR-V's enumeration."""
    return 1 << (texel >> 2 & 3), 1 << (texel & 3)


def encode(size: Size) -> int:
    return (size[0].bit_length() - 1) * 4 + size[1].bit_length() - 1


def final_size(pipeline: Size, ops: tuple[str, str], primitive: int, texel: int, samples: int) -> Size:
    """Inputs of both combinations are clamped (fragmentShadingRateClampCombinerInputs), and the result of the second one."""
    first = combine(ops[0], clamp(pipeline, samples), clamp(decode(primitive), samples))
    return clamp(combine(ops[1], clamp(first, samples), clamp(decode(texel), samples)), samples)


def mask_of(covered: Array) -> int:
    """gl_SampleMaskIn of a fragment from the coverage (height, width, samples) of its pixels: bit j = i + r * (w * h - 1 - p)."""
    height, width, samples = covered.shape
    mask = 0
    for y, x, i in itertools.product(range(height), range(width), range(samples)):
        pixel = x + y * width
        mask |= int(covered[y, x, i]) << (i + samples * (width * height - 1 - pixel))
    return mask


def sizes_over(width: int, height: int, size_at: Any) -> list[tuple[int, int, Size]]:
    """Every fragment's corner and size, where ``size_at(x, y)`` says the size of the 8x8 pixels from there on."""
    found = []
    for y, x in itertools.product(range(0, height, 8), range(0, width, 8)):
        w, h = size_at(x, y)
        found += [(fx, fy, (w, h)) for fy in range(y, y + 8, h) for fx in range(x, x + 8, w)]
    return [(x, y, size) for x, y, size in found if x < width and y < height]


def centroid(covered: Array, x: int, y: int, places: list[tuple[float, float]]) -> tuple[float, float]:
    """Where tilegpu evaluates centroid inputs: the centre of fragments that are covered whole, else their first covered sample."""
    height, width, samples = covered.shape
    if covered.all() or not covered.any():
        return x + width / 2, y + height / 2
    for py, px, i in itertools.product(range(height), range(width), range(samples)):
        if covered[py, px, i]:
            return x + px + places[i][0], y + py + places[i][1]
    raise AssertionError


def first_pixel_bits(mask: int, size: Size, samples: int, x: int, y: int) -> int:
    """What a mask by coverage index says of the samples of one of the fragment's pixels."""
    pixel = x % size[0] + (y % size[1]) * size[0]
    return mask >> (samples * (size[0] * size[1] - 1 - pixel)) & ((1 << samples) - 1)
