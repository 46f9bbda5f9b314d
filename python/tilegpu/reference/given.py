"""A reference that the user names: a picture in a file, or what a function of theirs returns, beside the picture that tilegpu drew.

In: two arrays of pixels, or a file. Out: a :class:`~tilegpu.reference.compare.Comparison`, with the same figures as for OpenGL's pictures.
Nobody knows the draws behind such pictures, so there is no edge mask: edges count as inside, within the tolerance of kept pictures
(:data:`tilegpu.reference.stored.TOLERANCE`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import hdr
from tilegpu.files import npy_array, open_picture, read_regular
from tilegpu.reference.compare import Comparison
from tilegpu.reference.metrics import difference

Array = NDArray[Any]
#: Suffixes of files that are pictures: 8 and 16 bits, floats in linear light, arrays as they are.
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tga", ".tif", ".tiff", ".gif", ".ppm", *hdr.SUFFIXES, ".npy")
_MAX_FILE_B = 1 << 31


def read_reference(path: str | os.PathLike[str]) -> Array:
    """(H, W, C) of a picture file: uint8 (uint16 of PNGs of one channel), floats of ``.exr`` and ``.hdr``, whatever numbers a ``.npy`` has.
    Raises ``ValueError`` that names the file and what is wrong with it."""
    where = f"reference '{os.fspath(path)}'"
    suffix = Path(path).suffix.lower()
    if suffix in hdr.SUFFIXES:
        return hdr.read_floats(path, where)
    try:
        data = read_regular(path, _MAX_FILE_B)
        if suffix == ".npy":
            return _pixels(npy_array(data), where)
        with open_picture(data) as picture:
            if picture.mode.startswith("I"):
                return _pixels(np.asarray(picture).astype(np.uint16), where)
            plain = picture.mode in ("L", "RGB", "RGBA")
            clear = "A" in picture.getbands() or "transparency" in picture.info
            return _pixels(np.asarray(picture if plain else picture.convert("RGBA" if clear else "RGB")), where)
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except MemoryError:
        raise
    except Exception as error:  # Pillow raises many types for damaged files
        text = str(getattr(error, "strerror", None) or error)
        raise ValueError(text if text.startswith(where) else f"{where}: {text}") from error


def _pixels(array: Array, where: str) -> Array:
    array = array[..., None] if array.ndim == 2 else array
    if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or 0 in array.shape or array.dtype.kind not in "uif":
        raise ValueError(f"{where}: is {array.dtype} of the shape {array.shape}; it must be numbers of (H, W) or (H, W, C), C from 1 to 4")
    return array


def alike(ours: Array, reference: Array, where: str) -> tuple[Array, Array, str]:
    """Both as arrays that can be compared, and what was left out, in words ("" for nothing).

    8 bits stay 8 bits. Where the types differ, or are 16 bits, unsigned integers become 0 to 1 and all are float64; nothing is converted
    between sRGB and linear light. A grey picture is one of three equal channels; alpha counts where both have it.
    Raises ``ValueError`` for pictures of different sizes.
    """
    if ours.shape[:2] != reference.shape[:2]:
        (h, w), (other_h, other_w) = ours.shape[:2], reference.shape[:2]
        sizes = f"{other_w}x{other_h} pixels, what was drawn {w}x{h}"
        raise ValueError(f"{where}: has {sizes}; they must be as many (--size {other_w}x{other_h})")
    left_out = ""
    if ours.shape[2] != reference.shape[2]:
        counts = sorted((ours.shape[2], reference.shape[2]))
        if 2 in counts:
            raise ValueError(f"{where}: has {reference.shape[2]} channels, what was drawn {ours.shape[2]}; give one with as many")
        left_out = "alpha is not compared: one of the pictures has none" if counts[1] == 4 else ""
        ours, reference = (np.repeat(a, 3, 2) if a.shape[2] == 1 else a[..., :3] for a in (ours, reference))
    if not ours.dtype == reference.dtype == np.uint8:
        ours, reference = (
            a.astype(np.float64) / (np.iinfo(a.dtype).max if a.dtype.kind == "u" else 1) for a in (ours, reference)
        )
    return ours, reference, left_out


def compare(ours: Array, reference: Array, attachment: int, where: str) -> Comparison:
    """Colour ``attachment`` against a picture; ``where`` names it, in messages and as the comparison's renderer."""
    ours, reference, left_out = alike(ours, reference, where)
    provenance = {"renderer": where} | ({"left_out": left_out} if left_out else {})
    return Comparison(attachment, ours, reference, None, difference(ours, reference), provenance)
