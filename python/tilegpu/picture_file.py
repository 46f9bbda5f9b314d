"""Pixels to picture files. In: an array of :meth:`tilegpu.Image.numpy`, what its numbers are. Out: a file, in the format of its suffix.

PNG, lossless WebP, EXR and NPY keep what they hold bit for bit; JPEG, GIF and lossy WebP are for looking at. 8 bits a component take what
:func:`tilegpu.texels.to_pillow` makes of it. EXR (OpenEXR 3, `TechnicalIntroduction`) holds float16, float32 and uint32.
"""

from __future__ import annotations

import os
import threading
import warnings
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from tilegpu import arguments
from tilegpu.errors import ClampedValueWarning, UnsupportedError, ValidationError, needs_packages, users_level
from tilegpu.texels import FAR_BELOW as FAR_BELOW
from tilegpu.texels import PIECE_PX
from tilegpu.whole_file import WholeStream, whole_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Suffix: what the format holds.
SUFFIXES: dict[str, str] = {
    ".png": "8 bits a component, lossless",
    ".webp": "8 bits a component, lossless unless quality= is given",
    ".jpg": "8 bits a component, lossy, no alpha",
    ".jpeg": "8 bits a component, lossy, no alpha",
    ".gif": "256 colours, no alpha",
    ".bmp": "8 bits a component, lossless, no alpha",
    ".tga": "8 bits a component, lossless",
    ".tif": "8 bits a component, lossless",
    ".tiff": "8 bits a component, lossless",
    ".ppm": "8 bits a component, lossless, no alpha",
    ".exr": "floats as they are (float16, float32), depth, uint32",
    ".npy": "any numbers as they are",
}
_EXR_TYPES = ("float16", "float32", "uint32")
#: Far above the white of a picture.
_BRIGHT = 2.0
#: Longest side of a picture in pixels, by the formats' own fields.
_LONGEST_PX = {".webp": 16383, ".jpg": 65535, ".jpeg": 65535, ".gif": 65535}


def choices(array: NDArray[Any] | None = None) -> str:
    """Suffixes that fit, for messages: all, or those for this array."""
    fit = [s for s in SUFFIXES if s != ".exr" or array is None or array.dtype.name in _EXR_TYPES]
    return ", ".join(fit[:-1]) + f" or {fit[-1]}"


def check_integers(array: NDArray[Any], suffix: str, what: str) -> None:
    """Raises where integers, such as ids, are beyond what 8 bits hold."""
    if array.dtype.kind not in "iu" or not array.size:
        return
    low, high = int(array.min()), int(array.max())
    if low < 0 or high > 255:
        fit = ".npy" if array.dtype.name not in _EXR_TYPES else ".exr or .npy"
        raise ValidationError(
            f"{what}: {suffix} holds whole numbers from 0 to 255, and these pixels ({array.dtype}) are from {low} to {high}; save as {fit}"
        )


def say_clamped(array: NDArray[Any], suffix: str, what: str, scale: float = 1) -> None:
    """Warns of floats that 8 bits lose: NaN, and pictures whose numbers (divided by ``scale``) are not of 0 to 1. Highlights above 1 are
    ordinary; where most of what is not black is far above, all of it would be white."""
    if (array.dtype.kind != "f" and scale == 1) or not array.size:
        return
    nans, lit, bright, above = 0, 0, 0, 0
    high, low = 0.0, 0.0
    rows = max(1, PIECE_PX // max(1, array.shape[1]))
    for top in range(0, array.shape[0], rows):  # Ctrl-C waits for one piece at most
        colors = array[top : top + rows, ..., :3]
        if scale != 1:
            colors = colors.astype(np.float32) / np.float32(scale)
        nans += int(np.isnan(colors).any(axis=-1).sum())
        finite = np.isfinite(colors)
        positive = colors[finite & (colors > 0)]
        lit += positive.size
        bright += int(np.count_nonzero(positive > _BRIGHT))
        above += int(np.count_nonzero(colors > 1))
        high = max(high, float(positive.max(initial=0)))
        low = min(low, float(np.min(colors, where=finite, initial=0.0)))
    if nans:
        text = f"{nans} pixel{'s are' if nans > 1 else ' is'} NaN, which {suffix} holds as 0; save"
    elif lit and 2 * bright > lit:
        values = array[..., :3].size
        text = f"pixels are up to {high:g}, and {suffix} holds 0 to 1: {100 * above / values:.1f} % of the values"
        text += " are above 1, and become 1; divide"
        text += " pixels of 255 by 255, or save"
    elif low < -FAR_BELOW:
        text = f"pixels are down to {low:g}, and {suffix} holds 0 to 1: what is below 0 becomes 0; save"
    else:
        return
    warnings.warn(f"{what}: {text} as .exr or .npy", ClampedValueWarning, stacklevel=users_level())


def suffix_of(path: str | os.PathLike[str], what: str) -> str:
    """The suffix, in lower case. Raises :class:`ValidationError` that names the choices."""
    if not isinstance(path, (str, os.PathLike)):
        raise ValidationError(f"{what}: can't save to {arguments.shown(path)}; it must be a path")
    suffix = os.path.splitext(os.fspath(path))[1].lower()  # noqa: PTH122
    if suffix not in SUFFIXES:
        said = f"'{os.fspath(path)}' has no suffix" if not suffix else f"the suffix is '{suffix}'"
        raise ValidationError(f"{what}: can't save to '{os.fspath(path)}': {said}; it must be {choices()}")
    return suffix


def check_quality(quality: Any, suffix: str, what: str) -> None:
    """``quality=`` is 1 to 100, and of lossy formats."""
    if quality is None:
        return
    if suffix not in (".jpg", ".jpeg", ".webp"):
        raise ValidationError(f"{what}: quality= is for .jpg and .webp; {suffix} has none ({SUFFIXES[suffix]})")
    if isinstance(quality, bool) or not isinstance(quality, (int, np.integer)) or not 1 <= quality <= 100:
        raise ValidationError(f"{what}: quality is {quality!r}; it must be a whole number from 1 to 100")


def save_picture(picture: Any, path: IO[bytes] | WholeStream, suffix: str, what: str, quality: int | None = None) -> None:
    """Writes a Pillow image of 8 bits (modes L, RGB, RGBA) to a stream."""
    longest = _LONGEST_PX.get(suffix, max(picture.size))
    if max(picture.size) > longest:
        raise ValidationError(
            f"{what}: {picture.width} x {picture.height} px are more than {suffix} holds ({longest} to a side); save as .png"
        )
    if picture.width * picture.height <= PIECE_PX:
        return _encode(picture, path, suffix, quality)
    # Encoders may go over all of it in one call. The stream is closed where nobody waits any longer, and the thread ends once it writes.
    failed: list[BaseException] = []

    def encode() -> None:
        try:
            _encode(picture, path, suffix, quality)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=encode, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    if failed:
        raise failed[0]


def _encode(picture: Any, path: IO[bytes] | WholeStream, suffix: str, quality: int | None) -> None:
    if suffix == ".webp" and quality is None:
        picture.save(path, format="WEBP", lossless=True, exact=True, method=3)  # exact: colours below alpha 0 too
    elif suffix == ".webp":
        picture.save(path, format="WEBP", quality=quality, method=4)
    elif suffix in (".jpg", ".jpeg"):
        without_alpha(picture).save(path, format="JPEG", quality=95 if quality is None else quality, subsampling=0)
    elif suffix == ".gif":
        palette(picture).save(path, format="GIF")
    elif suffix in (".ppm", ".bmp"):
        without_alpha(picture).save(path, format=suffix[1:].upper())
    else:
        picture.save(path, format={".png": "PNG", ".tga": "TGA"}.get(suffix, "TIFF"))


def save_to(picture: Any, path: str | os.PathLike[str], what: str) -> None:
    """Writes a Pillow image of 8 bits to a file, in the format of its suffix."""
    suffix = suffix_of(path, what)
    if suffix in (".exr", ".npy"):
        raise ValidationError(f"{what}: {suffix} is for numbers, and this is a picture of 8 bits; save as .png")
    with whole_file(path, what) as stream:
        save_picture(picture, stream, suffix, what)


def without_alpha(picture: Any) -> Any:
    """The colours alone, as they are: nothing is blended with a background."""
    if picture.mode != "RGBA":
        return picture
    rows = max(1, PIECE_PX // picture.width)
    if rows >= picture.height:
        return picture.convert("RGB")
    from PIL import Image as Pillow

    whole = Pillow.new("RGB", picture.size)
    for top in range(0, picture.height, rows):  # Ctrl-C waits for one piece at most
        whole.paste(picture.crop((0, top, picture.width, min(top + rows, picture.height))).convert("RGB"), (0, top))
    return whole


def palette(picture: Any) -> Any:
    """256 colours of the picture's own; grey needs no more."""
    from PIL import Image as Pillow

    picture = without_alpha(picture)
    return picture if picture.mode == "L" else picture.quantize(256, method=Pillow.Quantize.MEDIANCUT, dither=Pillow.Dither.FLOYDSTEINBERG)


def save_exr(array: NDArray[Any], path: str, what: str, depth: bool = False) -> None:
    """Writes (H, W, C) of float16, float32 or uint32 as channels R, G, B, A, or Z for depth, each of the array's own type. Raises
    ``OSError`` where the file does not hold them then."""
    if array.dtype.name not in _EXR_TYPES:
        raise ValidationError(
            f"{what}: .exr holds {', '.join(_EXR_TYPES)}, and these pixels are {array.dtype}; save as {choices(array)}"
        )
    try:
        import OpenEXR
    except ImportError:
        raise UnsupportedError(f"{needs_packages(f'{what}: .exr', 'OpenEXR', extra='exr')}; .npy needs nothing") from None
    names = ("Z",) if depth else ("R", "G", "B", "A")
    channels = {names[k]: np.ascontiguousarray(array[..., k]) for k in range(array.shape[2])}
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    try:
        with OpenEXR.File(header, dict(channels)) as file:  # which changes what it is given
            file.write(path)
        # What the library holds back when it closes the file may be lost without a word.
        with OpenEXR.File(path, separate_channels=True) as file:
            held = file.channels()
            whole = all(held[name].pixels.tobytes() == pixels.tobytes() for name, pixels in channels.items())
    except (RuntimeError, KeyError, ValueError) as error:
        raise OSError(f"OpenEXR: {error}") from error
    if not whole:
        raise OSError("OpenEXR wrote a part of it; is the disk full?")


def eight_bits(image: NDArray[Any]) -> NDArray[np.uint8]:
    """Any numbers to look at: floats are clamped to 0..1, 16-bit values scaled, other integers clamped to 0..255."""
    if image.dtype == np.uint8:
        return image
    if image.dtype == np.uint16:
        return ((image.astype(np.uint32) * 255 + 32767) // 65535).astype(np.uint8)
    if image.dtype.kind in "iu":
        return np.clip(image, 0, 255).astype(np.uint8)
    return np.rint(np.clip(np.nan_to_num(image.astype(np.float64)), 0, 1) * 255).astype(np.uint8)
