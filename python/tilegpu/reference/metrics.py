"""How much two pictures differ: plain NumPy, no renderer.

Differences are in units of the format's full range: 8-bit values by 255; of float images the error relative to the larger of 1 and
the reference's magnitude.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Image = NDArray[Any]


@dataclass(frozen=True)
class Difference:
    """Differences of two pictures over the pixels that either covers (that differ from the clear colour).

    ``max_diff``, ``rms``: 0..1, over covered pixels. ``share_over_2``: share of covered pixels of which a channel differs by more than
    2/255; ``share_over_2_inside``: the same without pixels at geometry edges; ``share_over_2_edges``: the pixels at edges
    over 2/255, as a share of all covered ones. Without an edge mask inside is everything.
    """

    max_diff: float
    rms: float
    share_over_2: float
    share_over_2_inside: float
    share_over_2_edges: float
    max_diff_inside: float
    over_8_inside_px: int
    covered_px: int
    edge_px: int

    def as_dict(self) -> dict[str, float | int]:
        """The fields by name, for ``--json``."""
        return asdict(self)


def per_pixel(ours: Image, reference: Image) -> NDArray[np.float64]:
    """(H, W) largest difference of a channel, in units of full range (see the module's text)."""
    if ours.shape != reference.shape:
        raise ValueError(f"pictures have shapes {ours.shape} and {reference.shape}; they must be equal")
    if reference.dtype == np.uint8 and ours.dtype == np.uint8:
        difference = np.abs(ours.astype(np.int16) - reference.astype(np.int16)) / 255.0
    else:
        a, b = ours.astype(np.float64), reference.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(invalid="ignore"):
            difference = np.where(same, 0.0, np.abs(a - b) / np.maximum(1.0, np.abs(b)))
        difference = np.where(np.isnan(difference), np.inf, difference)
    out: NDArray[np.float64] = difference.reshape(*difference.shape[:2], -1).max(axis=-1)
    return out


def covered(ours: Image, reference: Image) -> NDArray[np.bool_]:
    """(H, W): pixels that in either picture differ from the clear value, taken to be the reference's commonest border value.

    Use :func:`differs_from` where the clear value is known.
    """
    border = np.concatenate([reference[0], reference[-1], reference[:, 0], reference[:, -1]])
    values, counts = np.unique(border.reshape(len(border), -1), axis=0, return_counts=True)
    clear = values[counts.argmax()]
    return np.logical_or(differs_from(ours, clear), differs_from(reference, clear))


def differs_from(image: Image, clear: Image, tolerance: float = 0.0) -> NDArray[np.bool_]:
    """(H, W): pixels of which a channel differs from ``clear`` by more than ``tolerance`` (in the image's own units)."""
    off = np.abs(image.astype(np.float64) - np.asarray(clear, np.float64)) > tolerance
    out: NDArray[np.bool_] = np.asarray(off.any(axis=-1))
    return out


def difference(
    ours: Image, reference: Image, edges: NDArray[np.bool_] | None = None, cover: NDArray[np.bool_] | None = None
) -> Difference:
    """Compares two (H, W, C) pictures; ``edges`` and ``cover`` are (H, W) masks, ``cover = None`` finds the background."""
    pixels = per_pixel(ours, reference)
    cover = covered(ours, reference) if cover is None else cover
    edges = np.zeros(pixels.shape, bool) if edges is None else edges
    count = int(cover.sum())
    if count == 0:
        outside = float(pixels.max(initial=0.0))
        share = float(outside > 2 / 255)
        return Difference(outside, outside, share, share, 0.0, outside, int((pixels > 8 / 255).sum()), 0, 0)
    inside = cover & ~edges
    over_2 = pixels > 2 / 255 + 1e-9
    finite = np.minimum(pixels[cover], 1e9)
    return Difference(
        max_diff=float(pixels[cover].max()),
        rms=float(np.sqrt(np.mean(finite * finite))),
        share_over_2=float(over_2[cover].sum() / count),
        share_over_2_inside=float(over_2[inside].sum() / max(1, int(inside.sum()))),
        share_over_2_edges=float(over_2[cover & edges].sum() / count),
        max_diff_inside=float(pixels[inside].max(initial=0.0)),
        over_8_inside_px=int((pixels[inside] > 8 / 255 + 1e-9).sum()),
        covered_px=count,
        edge_px=int((cover & edges).sum()),
    )
