"""Sample counts that OpenGL's driver has not, put together from one picture for each sample.

For a sample at (x, y) of a pixel all is drawn moved by (1/2 - x, 1/2 - y), so that the pixel's centre, which a picture of one sample
tests, falls on the sample; locations are sixteenths of a pixel and vertices are rounded to 1/256, so nothing is rounded otherwise.
Coverage, depth test and blending are then the sample's own. A multisampled pixel is shaded once, at its centre, outside of the primitive
too: the fragment shader's inputs are carried there along the planes of input / w and 1 / w (llvmpipe's ``interpolateAtOffset`` divides by
the wrong w). The pictures' average is the resolve.
Sample locations: Vulkan specification, "Multisampling", standard sample locations.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INPUT = re.compile(
    r"^layout\(location = \d+(?:, component = \d+)?\) ((?:noperspective )?)in (float|vec[234]) (\w+);$", re.MULTILINE
)

#: Of a pixel's width, by sample count.
LOCATIONS: dict[int, tuple[tuple[float, float], ...]] = {
    count: tuple((x / 16, y / 16) for x, y in sixteenths)
    for count, sixteenths in {
        1: [(8, 8)],
        2: [(12, 12), (4, 4)],
        4: [(6, 2), (14, 6), (2, 10), (10, 14)],
        8: [(9, 5), (7, 11), (13, 9), (5, 3), (3, 13), (1, 7), (11, 15), (15, 1)],
        16: [
            (9, 9), (7, 5), (5, 10), (12, 7), (3, 6), (10, 13), (13, 11), (11, 3),
            (6, 14), (8, 1), (4, 2), (2, 12), (0, 8), (15, 4), (14, 15), (1, 0),
        ],
    }.items()
}  # fmt: skip


def shift_px(samples: int, sample: int) -> tuple[float, float]:
    """How far the picture of a sample is moved."""
    x, y = LOCATIONS[samples][sample]
    return 0.5 - x, 0.5 - y


def at_pixel_centre(fragment_glsl: str) -> str:
    """The fragment shader with its smooth inputs taken ``tg_offset`` pixels from where it is run."""
    found = _INPUT.findall(fragment_glsl)
    if not found:
        return fragment_glsl
    text = _INPUT.sub(
        lambda m: m.group(0)[: -len(m.group(3)) - 1] + f"tg_in_{m.group(3)};\n{m.group(2)} {m.group(3)};", fragment_glsl
    )
    lines = "\n    vec2 tg_w = vec2(gl_FragCoord.w, gl_FragCoord.w + dot(vec2(dFdx(gl_FragCoord.w), dFdy(gl_FragCoord.w)), tg_offset));"
    for flat_on_screen, kind, name in found:
        if flat_on_screen:
            lines += (
                f"\n    {name} = tg_in_{name} + dFdx(tg_in_{name}) * tg_offset.x + dFdy(tg_in_{name}) * tg_offset.y;"
            )
        else:
            lines += f"\n    {kind} tg_{name} = tg_in_{name} * tg_w.x;"
            lines += (
                f"\n    {name} = (tg_{name} + dFdx(tg_{name}) * tg_offset.x + dFdy(tg_{name}) * tg_offset.y) / tg_w.y;"
            )
    text = re.sub(r"void main\(\)\s*\{", lambda m: m.group(0) + lines, text, count=1)
    version, rest = text.split("\n", 1)
    return f"{version}\nuniform vec2 tg_offset;\n{rest}"


def resolve(pictures: list[NDArray[Any]], format_name: str) -> NDArray[Any]:
    """The average, of sRGB images in linear light."""
    first = pictures[0]
    if first.dtype != np.uint8:
        return np.asarray(np.mean([p.astype(np.float32) for p in pictures], axis=0), first.dtype)
    if not format_name.endswith("_srgb"):
        return np.rint(np.mean(pictures, axis=0)).astype(np.uint8)
    code = np.arange(256) / 255
    linear = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    mean = np.mean([linear[p] for p in pictures], axis=0)
    out = np.where(mean <= 0.0031308, mean * 12.92, 1.055 * mean ** (1 / 2.4) - 0.055)
    out[..., 3:] = np.mean([p[..., 3:] for p in pictures], axis=0) / 255
    return np.rint(out * 255).astype(np.uint8)
