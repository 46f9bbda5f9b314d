"""One frame on tilegpu and on the reference: pictures, differences, verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.reference.edges import edge_mask
from tilegpu.reference.gl import Renderer
from tilegpu.reference.metrics import Difference, difference, differs_from, per_pixel
from tilegpu.scene import Frame


@dataclass(frozen=True)
class Tolerance:
    """What still counts as agreement: shares of covered pixels, and pixels inside over 8/255."""

    inside_share_over_2: float = 0.005
    edges_share_over_2: float = 0.02
    inside_over_8_px: int = 0

    def failures(self, found: Difference, unexplained_px: int | None = None) -> list[str]:
        """What exceeds the tolerance, as sentences; empty if nothing does.

        ``unexplained_px``: how many of the pixels inside over 8/255 have no explanation; ``None`` counts all.
        """
        out = []
        over_8 = found.over_8_inside_px if unexplained_px is None else unexplained_px
        if found.share_over_2_inside > self.inside_share_over_2:
            out.append(
                f"{found.share_over_2_inside:.2%} of the pixels inside differ by more than 2/255 (at most {self.inside_share_over_2:.2%})"
            )
        if over_8 > self.inside_over_8_px:
            out.append(
                f"{over_8} of {found.over_8_inside_px} pixels inside that differ by more than 8/255 are unexplained "
                f"(at most {self.inside_over_8_px})"
            )
        if found.share_over_2_edges > self.edges_share_over_2:
            out.append(
                f"pixels at edges that differ by more than 2/255 are {found.share_over_2_edges:.2%} of the picture "
                f"(at most {self.edges_share_over_2:.2%})"
            )
        return out


@dataclass
class Comparison:
    """Result for one colour attachment: both pictures, the edge mask (``None`` with a stored reference) and the figures."""

    attachment: int
    ours: NDArray[Any]
    reference: NDArray[Any]
    edges: NDArray[np.bool_] | None
    difference: Difference
    provenance: dict[str, str] = field(default_factory=dict)


def clear_value(format_name: str, color: tuple[float, float, float, float], channels: int) -> NDArray[np.float64]:
    """What the clear colour reads back as: (C,) in the units of the image."""
    value = np.asarray(color[:channels], np.float64)
    if format_name.endswith("_srgb"):
        rgb = np.clip(value[:3], 0, 1)
        value[:3] = np.where(rgb <= 0.0031308, rgb * 12.92, 1.055 * rgb ** (1 / 2.4) - 0.055)
    if not format_name.endswith("_sfloat"):
        value = np.rint(np.clip(value, 0, 1) * 255)
    return value


def compare_frame(
    frame: Frame, ours: list[NDArray[Any]], progress: Callable[[str], None] = lambda _: None, exact_lod: bool = True
) -> list[Comparison]:
    """Draws the frame by the reference and compares every colour image of ``ours`` with it.

    ``exact_lod``: the reference computes levels of detail as the specification writes them, not as its driver does
    (:mod:`tilegpu.reference.lod`). Raises :class:`~tilegpu.reference.gl.ReferenceError` if the reference cannot draw it.
    """
    with Renderer.shared(exact_lod) as renderer:
        progress("reference")
        picture = renderer.render(frame)
        progress("edges")
        edges = edge_mask(renderer, frame)
    out = []
    for i, (a, b) in enumerate(zip(ours, picture.images, strict=True)):
        clear = clear_value(frame.color_formats[i], frame.clear_color(i), b.shape[2])
        slack = 1.0 if b.dtype == np.uint8 else 1e-3
        cover = differs_from(a, clear, slack) | differs_from(b, clear, slack)
        out.append(Comparison(i, a, b, edges, difference(a, b, edges, cover), picture.provenance))
    return out


def _as_rgb(image: NDArray[Any]) -> NDArray[np.uint8]:
    if image.dtype != np.uint8:
        with np.errstate(invalid="ignore"):
            image = np.clip(np.nan_to_num(image.astype(np.float64)) * 255, 0, 255).astype(np.uint8)
    if image.shape[2] < 3:
        image = np.concatenate([image, np.zeros((*image.shape[:2], 3 - image.shape[2]), np.uint8)], axis=2)
    return image[..., :3]


def side_by_side(comparison: Comparison, amplify: float = 16.0) -> NDArray[np.uint8]:
    """(H, 3 W + gaps, 3): tilegpu, reference, and the difference times ``amplify``; pixels of the edge mask keep a blue tint."""
    ours, reference = _as_rgb(comparison.ours), _as_rgb(comparison.reference)
    size = np.minimum(per_pixel(comparison.ours, comparison.reference), 1.0)
    grey = np.clip(size * 255 * amplify, 0, 255).astype(np.uint8)
    amplified = np.repeat(grey[..., None], 3, axis=2)
    if comparison.edges is not None:
        amplified[..., 2] = np.maximum(amplified[..., 2], np.where(comparison.edges, 64, 0).astype(np.uint8))
    gap = np.full((ours.shape[0], 8, 3), 255, np.uint8)
    return np.concatenate([ours, gap, reference, gap, amplified], axis=1)
