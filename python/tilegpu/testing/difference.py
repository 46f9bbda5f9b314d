"""How two pictures differ: number, size and place of it, as figures and as a picture. Exact means equal bits: -0 is not 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import arguments, notebook
from tilegpu.errors import needs_packages
from tilegpu.testing.pictures import GoldenError, as_array, check_number

Array = NDArray[Any]


@dataclass(frozen=True)
class Difference:
    """``differing_px``: pixels of which a channel differs by more than the tolerance. ``largest``: the largest difference of a channel
    (infinite where only one of two is no number). ``box``: the least (x0, y0, x1, y1) that holds them, ends excluded. ``first``: the
    first of them in reading order. ``flip``: mean of FLIP over the picture, 0 to 1, where it was asked for.
    """

    pixels: int
    differing_px: int
    largest: float
    box: tuple[int, int, int, int] | None
    first: tuple[int, int] | None
    flip: float | None = None

    def _repr_html_(self) -> str:
        rows = [
            ("pixels", f"{self.pixels:,}"),
            ("differing", f"{self.differing_px:,}"),
            ("largest difference", f"{self.largest:g}"),
            ("within", "" if self.box is None else str(self.box)),
            ("the first at", "" if self.first is None else str(self.first)),
        ]
        return notebook.table("difference", (), [*rows, *([("FLIP", f"{self.flip:.4f}")] if self.flip is not None else [])], {1})


def _by_pixel(expected: Array, actual: Array) -> NDArray[np.float64]:
    """(H, W): the largest difference of a channel; of pictures with the same bits at a place 0."""
    if expected.dtype.kind == "f":
        bits = np.dtype(f"u{expected.dtype.itemsize}")
        same = expected.view(bits) == actual.view(bits)
        with np.errstate(invalid="ignore", over="ignore"):
            distance = np.abs(expected.astype(np.float64) - actual.astype(np.float64))
        both = np.isnan(expected) & np.isnan(actual)
        distance = np.where(np.isnan(distance), np.where(both, 0.0, np.inf), distance)
        # Bits that differ and numbers that don't (zeros, NaNs) differ by the least that there is.
        out = np.where(same, 0.0, np.maximum(distance, np.finfo(np.float64).tiny))
    elif expected.dtype.itemsize == 8:  # more bits than float64 has
        less, more = np.minimum(expected, actual), np.maximum(expected, actual)
        out = (more.view(np.uint64) - less.view(np.uint64)).astype(np.float64)
    else:
        out = np.abs(expected.astype(np.int64) - actual.astype(np.int64)).astype(np.float64)
    result: NDArray[np.float64] = out.reshape(*out.shape[:2], -1).max(-1) if out.ndim > 2 else out
    return result


def difference_of(expected: Array, actual: Array, tolerance: float = 0.0, *, perceptual: bool = False) -> Difference:
    """Of two arrays of one shape (H, W, ...) and one dtype. ``tolerance`` is in the values' own units: 2 is 2 of 255 for uint8.

    ``perceptual``: FLIP as well, of pictures of 8 bits or of floats from 0 to 1 (package ``flip-evaluator``, extra ``testing``).
    Raises :class:`GoldenError` for other shapes, dtypes or values, ``ImageMismatch`` for nothing: this only measures.
    """
    expected, actual = as_array(expected), as_array(actual)
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        raise GoldenError(f"pictures are {expected.dtype} {expected.shape} and {actual.dtype} {actual.shape}; they must be alike")
    check_number("tolerance", tolerance)
    if not isinstance(perceptual, (bool, np.bool_)):
        raise GoldenError(f"difference_of: perceptual is {arguments.shown(perceptual)}; it must be True or False")
    far = _by_pixel(expected, actual)
    rows, columns = np.nonzero(far > tolerance)
    box = first = None
    if rows.size:
        box = int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1
        first = int(columns[0]), int(rows[0])
    flip = _flip(expected, actual) if perceptual else None
    return Difference(far.size, int(rows.size), float(far.max()), box, first, flip)


def _flip(expected: Array, actual: Array) -> float:
    """Mean of FLIP (Andersson et al., "FLIP: A Difference Evaluator for Alternating Images", 2020), at its default distance."""
    try:
        import flip_evaluator
    except ImportError:
        raise GoldenError(needs_packages("perceptual=", "flip-evaluator", extra="testing")) from None

    def colours(picture: Array) -> NDArray[np.float32]:
        if picture.dtype == np.uint8:
            unit = picture.astype(np.float32) / 255
        elif picture.dtype.kind == "f" and bool(((picture >= 0) & (picture <= 1)).all()):
            unit = picture.astype(np.float32)
        else:
            raise GoldenError(f"perceptual= takes pictures of uint8, or of floats from 0 to 1, not {picture.dtype} beyond")
        if unit.ndim > 3 or (unit.ndim == 3 and unit.shape[2] > 4):
            raise GoldenError(f"perceptual= takes pictures of up to four channels, not of the shape {picture.shape}")
        return np.ascontiguousarray(_rgb(unit))

    return float(flip_evaluator.evaluate(colours(expected), colours(actual), "LDR")[1])


def _rgb(unit: Array) -> Array:
    """(H, W, 3) of values from 0 to 1 in (H, W) or (H, W, ...): grey, with alpha over black, of more channels the first three."""
    values = unit.reshape(*unit.shape[:2], -1)
    if values.shape[2] in (2, 4):
        values = values[..., :-1] * values[..., -1:]
    return np.repeat(values, 3, 2) if values.shape[2] == 1 else values[..., :3]


def shown(picture: Array) -> NDArray[np.uint8]:
    """(H, W, 3) of uint8 to look at: 8 bits as they are over black, 16 bits by 257, others stretched from their least to their largest."""
    if picture.dtype in (np.uint8, np.uint16):
        unit = picture / float(np.iinfo(picture.dtype).max)
    else:
        finite = np.where(np.isfinite(picture), picture, 0).astype(np.float64)
        least, most = min(float(finite.min()), 0.0), max(float(finite.max()), 1.0)
        unit = (finite - least) / (most - least)
    return np.rint(_rgb(unit) * 255).astype(np.uint8)


def marked(expected: Array, actual: Array, tolerance: float = 0.0) -> NDArray[np.uint8]:
    """(H, W, 3): the expected picture, dark and grey; what differs from dark red (little) to bright yellow (the most of this picture)."""
    far = _by_pixel(expected, actual)
    grey = shown(expected).mean(2) * 0.3
    out = np.repeat(grey[..., None], 3, 2)
    differs = far > tolerance
    if differs.any():
        finite = far[differs & np.isfinite(far)]
        scale = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
        heat = np.clip(np.where(np.isfinite(far), far / scale, 1.0), 0, 1)[differs]
        out[differs] = np.stack([160 + 95 * heat, 220 * heat, 40 * heat], 1)
    return np.rint(out).astype(np.uint8)


_GAP_PX, _CAPTION_PX, _LEAST_PX = 8, 16, 128


def side_by_side(pictures: Mapping[str, NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """(H, W, 3): pictures of (h, w, 3) from left to right, each below its name. Small ones are enlarged alike, each pixel a square."""
    from PIL import Image, ImageDraw

    side = max(max(picture.shape[:2]) for picture in pictures.values())
    scale = max(1, _LEAST_PX // side)
    large = {name: picture.repeat(scale, 0).repeat(scale, 1) for name, picture in pictures.items()}
    width = sum(max(picture.shape[1], _LEAST_PX) + _GAP_PX for picture in large.values()) + _GAP_PX
    height = max(picture.shape[0] for picture in large.values()) + _CAPTION_PX + 2 * _GAP_PX
    out = Image.new("RGB", (width, height), (32, 32, 32))
    draw, x = ImageDraw.Draw(out), _GAP_PX
    for name, picture in large.items():
        draw.text((x, _GAP_PX - 2), name, fill=(230, 230, 230))
        out.paste(Image.fromarray(picture), (x, _GAP_PX + _CAPTION_PX))
        x += max(picture.shape[1], _LEAST_PX) + _GAP_PX
    return np.asarray(out)
