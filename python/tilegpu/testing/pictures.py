"""Pictures as arrays, and in files: PNG for 8 bits and for one channel of 16, ``.npy`` for everything else."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import (
    Error,
    Image,
    ImageView,
    Texture,
    UndefinedContentsError,
    ValidationError,
    __version__,
    arguments,
    files,
)
from tilegpu.whole_file import write_whole

Array = NDArray[Any]

#: A golden picture has no more bytes than this.
LIMIT_B = 1 << 30
#: The key under which a PNG says which tilegpu wrote it.
_MADE_BY = "tilegpu"
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


#: What reading a picture's file raises; the last two are Pillow's, of damaged ones.
UNREADABLE = (OSError, ValueError, SyntaxError, EOFError)


class GoldenError(Error, ValueError, TypeError):
    """An argument of ``tilegpu.testing``, or a file of a golden picture, that makes no sense. Code that catches ``ValueError`` or
    ``TypeError`` goes on working."""


def as_array(image: Any) -> Array:
    """The values of a ``tilegpu.Image``, a Pillow image, a picture's file, or anything that NumPy takes. Raises :class:`GoldenError` for
    what is none."""
    if isinstance(image, (str, os.PathLike)):
        return _of_file(Path(files.place(image)))
    try:
        array = arguments.array(_pixels(image), "a picture")
    except UndefinedContentsError as wrong:  # an image it is
        raise GoldenError(str(wrong)) from None
    except ValidationError as wrong:
        raise GoldenError(f"{wrong}; give an image, or an array of integers or floats") from None
    if array.dtype.kind not in "buif":
        raise GoldenError(f"a picture of {array.dtype} has no pixels to compare; give an image, or an array of integers or floats")
    if array.size == 0:
        raise GoldenError(f"a picture has pixels, this one of shape {array.shape} is empty")
    if array.ndim < 2:
        raise GoldenError(f"a picture has the shape (height, width) or (height, width, channels), this one {array.shape}")
    return np.ascontiguousarray(array)


def _pixels(image: Any) -> Any:
    """What NumPy takes of whatever has pixels: of an image or a texture the first layer, which is said where there are others; of a view
    the level, layer and aspect that it shows."""
    if isinstance(image, (Image, Texture)):
        image = image.image if isinstance(image, Texture) else image
        image.say_left_out("a golden test compares one picture")
    return image.numpy() if not isinstance(image, ImageView) and callable(getattr(image, "numpy", None)) else image


def _of_file(path: Path) -> Array:
    """What a picture's file holds: PNG and other formats of 8 bits as they are, a palette as its colours; ``.npy``."""
    try:
        data = files.read_regular(path, LIMIT_B)
        if path.suffix.lower() == ".npy":
            return as_array(files.npy_array(data))
        picture = files.open_picture(data)
        if picture.mode in ("P", "1", "CMYK", "YCbCr"):
            picture = picture.convert("L" if picture.mode == "1" else "RGBA" if "transparency" in picture.info else "RGB")
        array = np.asarray(picture)
        return as_array(array.astype(np.uint16) if picture.mode.startswith("I") else array.copy())
    except UNREADABLE as error:
        raise GoldenError(f"a picture's file, '{path}': {getattr(error, 'strerror', None) or error}") from None


def check_number(what: str, value: Any, most: float | None = None) -> None:
    """Raises :class:`GoldenError` unless it is a number of 0 or more, and at most ``most``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise GoldenError(f"{what} is {arguments.shown(value)}; it must be a number")
    if not value >= 0 or (most is not None and value > most):
        raise GoldenError(f"{what} is {value}; it must be 0 or more" + ("" if most is None else f", and at most {most:g}"))


def _fits_png(array: Array) -> bool:
    if array.dtype == np.uint16:
        return array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 1)
    return array.dtype == np.uint8 and (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in _MODES))


def png_bytes(array: Array, made_by: str | None = None) -> bytes:
    """A PNG of (H, W) or (H, W, 1 to 4) of uint8, or of one channel of uint16."""
    from PIL import Image as Pillow
    from PIL import PngImagePlugin

    assert _fits_png(array), (array.dtype, array.shape)
    flat = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
    notes = PngImagePlugin.PngInfo()
    if made_by is not None:
        notes.add_text(_MADE_BY, made_by)
    out = io.BytesIO()
    Pillow.fromarray(flat).save(out, "png", pnginfo=notes, optimize=False)
    return out.getvalue()


def _one_of(array: Array, image: Any) -> str:
    """How one picture comes of what has four dimensions: the samples of an image, or several pictures; "" for what is one."""
    image = getattr(image, "image", image)
    if isinstance(image, Image) and image.samples > 1:
        return f"it has {image.samples} samples a pixel: resolve it (resolve= of its attachment, or dev.resolve), and compare that"
    if array.ndim > 3:
        one = "[0]" * (array.ndim - 3)
        count = f"{array.shape[0]} picture{'s' if array.shape[0] > 1 else ''}"
        return f"an array of four dimensions, or a list of pictures, is {count}: compare one, such as image{one}"
    return ""


def check_name(array: Array, path: Path, image: Any = None) -> None:
    """Raises :class:`GoldenError` for a suffix that can't hold the picture exactly. ``image``: what the array is of."""
    if path.suffix == ".npy":
        return
    if path.suffix != ".png":
        raise GoldenError(f"golden picture '{path.name}': a name ends in .png or .npy")
    if not _fits_png(array):
        fix = f"name it '{path.stem}.npy'"
        bytes_ = array.dtype.kind in "iu" and array.min() >= 0 and array.max() <= 255
        if one := _one_of(array, image):
            fix = f"{one}; or {fix}"
        elif bytes_ and _fits_png(array.astype(np.uint8)):
            fix = f"its numbers are 0 to 255: give it as .astype(np.uint8), or {fix}"
        raise GoldenError(
            f"golden picture '{path.name}': PNG holds 1 to 4 channels of uint8 or one of uint16 exactly, this picture has {array.dtype} "
            f"{array.shape}; {fix}"
        )


def encode(array: Array, path: Path) -> bytes:
    """The bytes of the file, whose name :func:`check_name` let pass."""
    if path.suffix == ".png":
        return png_bytes(array, __version__)
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def decode(path: Path) -> tuple[Array, str | None]:
    """What the file holds, and which tilegpu wrote it (PNG; else None). Raises ``OSError`` or ``ValueError`` with the reason."""
    data = files.read_regular(path, LIMIT_B)
    if path.suffix == ".npy":
        return files.npy_array(data), None
    picture = files.open_picture(data, ("PNG",))
    made_by = getattr(picture, "text", {}).get(_MADE_BY)
    if picture.mode == "P":
        raise ValueError("is a PNG with a palette, which tilegpu did not write; save it without")
    if picture.mode.startswith("I"):
        return np.asarray(picture).astype(np.uint16), made_by
    return np.asarray(picture).copy(), made_by


def like_golden(array: Array, golden: Array) -> Array:
    """The picture without its only channel, where the file has none: a PNG does not tell (H, W, 1) from (H, W)."""
    if array.ndim == 3 and array.shape[2] == 1 and golden.ndim == 2:
        return array[..., 0]
    return array


def write_file(path: Path, data: bytes) -> None:
    """Makes the folder; nobody reads half a file (pytest-xdist runs tests side by side)."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data, "golden pictures")
    except OSError as error:
        if isinstance(error, Error):
            raise
        raise GoldenError(f"{path} can't be written: {error.strerror or error}") from None
