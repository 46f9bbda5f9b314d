"""Pixels inside that differ by more than 8/255: what they depend on, proved pixel by pixel.

Three things are implementation-dependent to within a bound that the specification or the formats give, and a picture may depend on them
without a bound: where a vertex is rounded to (both renderers have 8 bits below a pixel), which of two surfaces at the same depth wins,
and on which side of a texel's border or of a mipmap level a coordinate falls. A pixel is explained if

* ``edge``: at every sample at which the renderers show different primitives, the float64 triangle of one of them has an edge within 1/256
  pixel of the sample; or
* ``depth tie``: or both cover the sample and their float64 depths are within 2^-22 (four steps of the reference's 24-bit depth); or
* ``texel border``, ``steep shading``: the renderers show the same primitives, and our own picture takes the reference's colour (within
  2/255) when all of it is moved by at most 1/256 pixel. It is a texel border if a texture of the frame has a nearest filter or
  nearest levels. (A pixel with other primitives that the first two rules do not allow is also explained so: ``rounded position``.)

Everything else is unexplained, and a failure of the comparison. The levels of detail are no reason any more: the reference's shader
computes them exactly (:mod:`tilegpu.reference.lod`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.reference import primitives, samples
from tilegpu.reference.gl import Renderer
from tilegpu.reference.metrics import per_pixel
from tilegpu.scene import Frame, Texture

if TYPE_CHECKING:
    from tilegpu.reference.compare import Comparison
    from tilegpu.scene import SceneRenderer

SUBPIXEL_PX = 1 / 256
DEPTH_TIE = 2.0**-22
LIMIT, REPRODUCED = 8 / 255, 2 / 255
#: More pixels than these are not an accident of rounding; they are not looked at and stay unexplained.
MAX_PIXELS = 512
_DIRECTIONS = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y]
SHIFTS_PX = [(x * r, y * r) for r in (SUBPIXEL_PX / 2, SUBPIXEL_PX) for x, y in _DIRECTIONS]
UNEXPLAINED = "unexplained"


@dataclass
class Pixel:
    """One pixel over the limit: place, difference of full range, reason, and what the reason rests on, in words."""

    x: int
    y: int
    attachment: int
    difference: float
    reason: str = UNEXPLAINED
    detail: str = ""


@dataclass
class Findings:
    """All pixels over the limit inside."""

    pixels: list[Pixel] = field(default_factory=list)

    def unexplained_px(self, attachment: int) -> int:
        """How many of an attachment have no reason."""
        return sum(p.reason == UNEXPLAINED and p.attachment == attachment for p in self.pixels)

    def counts(self, attachment: int) -> dict[str, int]:
        """Number of pixels by reason."""
        return dict(Counter(p.reason for p in self.pixels if p.attachment == attachment))


def explain(renderer: SceneRenderer, frame: Frame, found: list[Comparison]) -> Findings:
    """Looks into every pixel over 8/255 inside. ``renderer`` has drawn the frame; a few more pictures are drawn, if there are any."""
    out = Findings()
    for one in found:
        size = per_pixel(one.ours, one.reference)
        over = size > LIMIT + 1e-9
        if one.edges is not None:
            over &= ~one.edges
        out.pixels += [Pixel(int(x), int(y), one.attachment, float(size[y, x])) for y, x in np.argwhere(over)]
    if not out.pixels or len(out.pixels) > MAX_PIXELS or frame.samples not in samples.LOCATIONS:
        return out
    reproduced = _reproduced(renderer, frame, found, out.pixels)
    mine = primitives.ours(renderer, frame)
    with Renderer.shared() as gl:
        theirs = primitives.reference(gl, frame)
        geometry = primitives.triangles(gl, frame)
    border = _has_borders(frame)
    for pixel, (shift, rest) in zip(out.pixels, reproduced, strict=True):
        a, b = mine[pixel.y, pixel.x], theirs[pixel.y, pixel.x]
        differ = np.flatnonzero((a[:, :2] != b[:, :2]).any(1))
        verdicts = [_sample(geometry, frame, pixel, int(s), a[s], b[s]) for s in differ]
        moved = f"moved by ({shift[0] * 256:+.1f}, {shift[1] * 256:+.1f})/256 px our picture is {rest * 255:.0f}/255 from it"
        if verdicts and all(reason for reason, _ in verdicts):
            reasons = {reason for reason, _ in verdicts}
            pixel.reason = "depth tie" if reasons == {"depth tie"} else "edge"
            pixel.detail = "; ".join(text for _, text in verdicts)
        elif rest <= REPRODUCED + 1e-9:
            pixel.reason = "rounded position" if verdicts else "texel border" if border else "steep shading"
            pixel.detail = "; ".join([*(text for _, text in verdicts), moved])
        else:
            pixel.detail = "; ".join([*(text for _, text in verdicts), moved])
    return out


def _has_borders(frame: Frame) -> bool:
    textures = {id(v): v for draw in frame.draws for v in draw.bind.values() if isinstance(v, Texture)}.values()
    return any("nearest" in (t.sampler.min_filter, t.sampler.mag_filter, t.sampler.mipmap_mode) for t in textures)


def _reproduced(
    renderer: SceneRenderer, frame: Frame, found: list[Comparison], pixels: list[Pixel]
) -> list[tuple[tuple[float, float], float]]:
    """For each pixel the shift at which our picture comes nearest to the reference's colour, and how near."""
    best: list[tuple[tuple[float, float], float]] = [((0.0, 0.0), p.difference) for p in pixels]
    by_attachment = {one.attachment: one for one in found}
    for shift in SHIFTS_PX:
        images = renderer.render(frame, shift_px=shift).images
        for i, p in enumerate(pixels):
            reference: NDArray[Any] = by_attachment[p.attachment].reference[p.y : p.y + 1, p.x : p.x + 1]
            rest = float(per_pixel(images[p.attachment][p.y : p.y + 1, p.x : p.x + 1], reference)[0, 0])
            if rest < best[i][1]:
                best[i] = shift, rest
    return best


def _name(frame: Frame, value: NDArray[Any]) -> str:
    if value[0] < 0:
        return "nothing"
    draw = f" of draw {int(value[1])}" if 1 < len(frame.draws) <= primitives.MAX_DRAWS else ""
    return f"primitive {int(value[0])}{draw}"


def _sample(
    geometry: primitives.Triangles, frame: Frame, pixel: Pixel, sample: int, a: NDArray[Any], b: NDArray[Any]
) -> tuple[str, str]:
    """(reason or "", what was found) for a sample at which the renderers show different primitives."""
    dx, dy = samples.LOCATIONS[frame.samples][sample]
    x, y = pixel.x + dx, pixel.y + dy
    near = geometry.near(pixel.x, pixel.y)

    def which(value: NDArray[Any]) -> tuple[float, float] | None:
        """Edge distance and depth at the sample of the triangle that has this number and nearly this depth."""
        same = near[(geometry.primitive[near] == int(value[0])) & (geometry.draw[near] == int(value[1]))]
        if value[0] < 0 or not same.size:
            return None
        centre = pixel.x + 0.5, pixel.y + 0.5
        depths = [min(abs(geometry.at(int(t), *at)[1] - float(value[2])) for at in (centre, (x, y))) for t in same]
        return geometry.at(int(same[int(np.argmin(depths))]), x, y)

    one, other = which(a), which(b)
    text = f"sample {sample}: {_name(frame, a)} here, {_name(frame, b)} in the reference"
    distances = [abs(place[0]) for place in (one, other) if place is not None]
    if distances and min(distances) <= SUBPIXEL_PX:
        return "edge", f"{text}, an edge {min(distances) * 256:.2f}/256 px away"
    if one is not None and other is not None and min(one[0], other[0]) > 0 and abs(one[1] - other[1]) <= DEPTH_TIE:
        return "depth tie", f"{text}, depths {one[1]:.9f} and {other[1]:.9f}"
    return "", text
