"""Pixels as users have them to texels as formats have them, and back: arrays, files, Pillow's images."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, enums, files, hdr
from tilegpu.errors import ClampedValueWarning, ValidationError, beyond_vulkan, users_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_PICTURE_B = 1 << 31
#: What is converted between two looks at signals: some ten milliseconds.
PIECE_PX = 1 << 20


def numbers_of(pixels: Any, what: str) -> tuple[Any, bool]:
    """Of a file or a Pillow picture its numbers, and whether it is grey: its one number is red, green and blue. Others as they are."""
    if isinstance(pixels, (str, os.PathLike)) and os.path.splitext(pixels)[1].lower() in hdr.SUFFIXES:  # noqa: PTH122
        try:
            return hdr.read_floats_of(pixels, f"{what}: '{os.fspath(pixels)}'")
        except hdr.HdrError as wrong:
            raise ValidationError(str(wrong)) from None
    if isinstance(pixels, (str, os.PathLike)):
        try:
            with files.open_picture(files.read_regular(pixels, _MAX_PICTURE_B)) as picture:
                pixels = _from_pillow(picture)
        except MemoryError:
            raise
        except Exception as wrong:  # Pillow raises many types for damaged files
            raise ValidationError(f"{what}: can't read '{pixels}': {getattr(wrong, 'strerror', None) or wrong}") from None
    elif hasattr(pixels, "getbands"):
        pixels = _from_pillow(pixels)
    else:
        return pixels, False
    return pixels, pixels.ndim == 2


def as_colors(grey: NDArray[Any], info: enums.FormatInfo) -> NDArray[Any]:
    """A grey picture, (..., 1), for a format with red, green and blue; :func:`texels_of` adds the alpha."""
    return np.repeat(grey, 3, axis=-1) if info.component_count >= 3 else grey


def layers_of(pixels: Any, what: str, type_: str = "2d") -> NDArray[Any]:
    """What the user gave as pixels: (layers, H, W, C). ``type_``: of the image; "1d": as (W,), (W, C) or (layers, W, C), "3d": as
    (D, H, W) or (D, H, W, C). "slices" are those of a 3D image that is written to: as of "2d", and (L, H, W) where W is more than 4,
    which can't be one slice of several components."""
    pixels, _ = numbers_of(pixels, what)
    array = arguments.array(pixels, f"{what}: what is given as pixels", "they must be numbers (an array), a path or a Pillow image")
    if array.dtype.kind not in "fiub":
        raise ValidationError(f"{what}: pixels have dtype {array.dtype}; they must be numbers")
    if type_ == "3d":
        if not 3 <= array.ndim <= 4 or 0 in array.shape or (array.ndim == 4 and array.shape[3] > 4):
            raise ValidationError(
                f"{what}: pixels have shape {array.shape}; it must be (D, H, W) or (D, H, W, C) with C 1 to 4, none of them 0"
            )
        return array[..., None] if array.ndim == 3 else array
    if type_ == "1d":
        if not 1 <= array.ndim <= 3 or 0 in array.shape or (array.ndim > 1 and array.shape[-1] > 4):
            raise ValidationError(
                f"{what}: pixels have shape {array.shape}; it must be (W,), (W, C) or (layers, W, C) with C 1 to 4, none of them 0"
            )
        return array[None, None, :, None] if array.ndim == 1 else array[None, None] if array.ndim == 2 else array[:, None]
    if array.ndim == 2:
        array = array[None, :, :, None]
    elif array.ndim == 3:
        array = array[..., None] if type_ == "slices" and array.shape[2] > 4 else array[None]
    if array.ndim != 4 or not 1 <= array.shape[3] <= 4 or 0 in array.shape:
        raise ValidationError(
            f"{what}: pixels have shape {np.shape(pixels)}; it must be (H, W), (H, W, C) or (layers, H, W, C) with C 1 to 4, none of them 0"
        )
    return array


def _from_pillow(picture: Any) -> NDArray[Any]:
    if picture.mode in ("L", "RGB", "RGBA", "F"):
        return np.asarray(picture)
    if picture.mode.startswith("I;16"):
        return np.asarray(picture).astype(np.uint16)  # in the byte order of this machine
    if picture.mode == "I":  # 32 bits, and what Pillow makes of a PNG of 16
        numbers = np.asarray(picture)
        sixteen = picture.format in ("PNG", "PPM") or not numbers.size
        return numbers.astype(np.uint16) if sixteen else numbers
    if picture.mode == "1":
        return np.asarray(picture.convert("L"))
    return np.asarray(picture.convert("RGBA" if "A" in picture.getbands() or "transparency" in picture.info else "RGB"))


def to_pillow(array: NDArray[Any], info: enums.FormatInfo) -> Any:
    """(H, W, C) as a Pillow image of 8 bits a component."""
    from PIL import Image as PillowImage

    height, width, components = array.shape
    rows = max(1, PIECE_PX // max(1, width))
    if array.dtype == np.uint8 and components in (1, 4) and info.numeric != "snorm":
        return PillowImage.fromarray(np.ascontiguousarray(array[:, :, 0] if components == 1 else array))
    if rows >= height:
        return PillowImage.fromarray(_bytes_of(array, info))
    # In pieces, so that Ctrl-C waits for one at most.
    whole = PillowImage.new({1: "L", 4: "RGBA"}.get(components, "RGB"), (width, height))
    for top in range(0, height, rows):
        whole.paste(PillowImage.fromarray(_bytes_of(array[top : top + rows], info)), (0, top))
    return whole


def _bytes_of(array: NDArray[Any], info: enums.FormatInfo) -> NDArray[np.uint8]:
    """What Pillow takes: two components are three of colours, one has no axis."""
    data: NDArray[Any]
    if array.dtype.kind == "f" and info.numeric == "srgb":  # of compressed formats; linear
        height, width, components = array.shape
        rgba = np.ones((height * width, 4), np.float32)
        rgba[:, :components] = array.reshape(-1, components)
        codes = _core.Image.pack_texels(enums.parse_format("r8g8b8a8_srgb", "").number, rgba)
        data = codes.reshape(height, width, 4)[:, :, :components]
    elif array.dtype.kind == "f":
        values = np.nan_to_num(array.astype(np.float32), nan=0.0, posinf=1.0, neginf=0.0)
        data = (np.clip(values, 0.0, 1.0) * np.float32(255) + np.float32(0.5)).astype(np.uint8)
    elif info.numeric == "unorm" and array.dtype == np.uint16:
        data = ((array.astype(np.uint32) * 255 + 32767) // 65535).astype(np.uint8)
    elif info.numeric == "snorm":
        data = (np.clip(array.astype(np.float32) / np.iinfo(array.dtype).max, 0, 1) * 255 + 0.5).astype(np.uint8)
    elif array.dtype == np.uint8:
        data = array
    else:
        data = np.clip(array, 0, 255).astype(np.uint8)
    if data.shape[2] == 2:
        data = np.concatenate([data, np.zeros_like(data[:, :, :1])], axis=2)
    return np.ascontiguousarray(data[:, :, 0] if data.shape[2] == 1 else data)


def samples_side_by_side(array: NDArray[Any], most_px: int = 1280) -> NDArray[Any]:
    """(H, W, samples, C) as one picture, (H, W, C): sample 0 at the top left, each as large as fits (every n-th pixel of larger ones)."""
    height, width, samples, components = array.shape
    columns = 1 << ((samples.bit_length()) // 2)  # 2, 2, 4, 4 for 2, 4, 8, 16
    rows, gap = samples // columns, 2
    step = max(1, -(-max(width * columns, height * rows) // most_px))
    small = array[::step, ::step]
    h, w = small.shape[:2]
    out = np.zeros((rows * (h + gap) - gap, columns * (w + gap) - gap, components), array.dtype)
    for k in range(samples):
        y, x = k // columns * (h + gap), k % columns * (w + gap)
        out[y : y + h, x : x + w] = small[:, :, k]
    return out


def _fix_of_wide(pixels: NDArray[Any]) -> str:
    """Of integers that NumPy makes by itself, and that are bytes of a picture: for messages."""
    wide = pixels.dtype.kind in "iu" and pixels.dtype != np.uint8 and pixels.size
    return ", or .astype(np.uint8) for bytes of 0 to 255" if wide and pixels.min() >= 0 and pixels.max() <= 255 else ""


def default_texture_format(pixels: NDArray[Any], what: str) -> str:
    """Format for an array of pixels of which only the shape and dtype are known."""
    components = {1: "r{0}", 2: "r{0}g{0}", 3: "r{0}g{0}b{0}a{0}", 4: "r{0}g{0}b{0}a{0}"}.get(pixels.shape[-1])
    kind = {"b1": "8", "u1": "8", "u2": "16", "f2": "16", "f4": "32", "f8": "32"}.get(
        f"{pixels.dtype.kind}{pixels.dtype.itemsize}"
    )
    if components is None or kind is None:
        raise ValidationError(
            f"{what}: pixels of shape {pixels.shape} and dtype {pixels.dtype} have no default format; give format=" + _fix_of_wide(pixels)
        )
    return components.format(kind) + ("_sfloat" if pixels.dtype.kind == "f" else "_unorm")


#: Of floats without sign, by format.
MOST_UNSIGNED = {"b10g11r11_ufloat_pack32": 65024.0, "e5b9g9r9_ufloat_pack32": 65408.0}
#: So far below the least number of a format a picture's filter does not overshoot: normals and differences do.
FAR_BELOW = 0.25
#: By bits of a float.
MOST_FINITE = {16: 65504.0, 32: float(np.finfo(np.float32).max), 64: float(np.finfo(np.float64).max)}


def _say_clamped(array: NDArray[Any], info: enums.FormatInfo, what: str) -> None:
    """Warns of floats that are far from what the format holds. A little beyond is ordinary: filters overshoot, light is cut."""
    if not array.size:
        return
    with np.errstate(invalid="ignore"):
        low, high = float(array.min()), float(array.max())
    if info.numeric in ("unorm", "srgb", "snorm"):
        least = -1 if info.numeric == "snorm" else 0
        if least - FAR_BELOW <= low and high <= 1.5:
            return
        text = f"takes floats from {least} to 1, and others are clamped"
        text += "; divide pixels of 255 by 255, or give uint8" if high > 2 else ""
    elif info.numeric == "sfloat":
        most = MOST_FINITE.get(info.component_bits, float("inf"))
        if not (max(-low, high) > most) or not np.any(np.isfinite(array) & (np.abs(array) > most)):
            return
        text = f"takes floats up to {most:g}, and larger ones become infinite"
    elif info.numeric == "ufloat":
        most = MOST_UNSIGNED.get(info.name, float("inf"))
        if low >= -FAR_BELOW and not np.any(np.isfinite(array) & (array > most)):
            return
        text = f"takes floats from 0 to {most:g}, and others are clamped"
    else:
        return
    warnings.warn(f"{what}: pixels are from {low:g} to {high:g}; {info.name} {text}", ClampedValueWarning, stacklevel=users_level())


def texels_of(pixels: NDArray[Any], info: enums.FormatInfo, what: str) -> NDArray[np.uint8]:
    """(H, W, C) pixels as tightly packed texels of the format.

    Integers of the format's own width are stored as they are; floats are converted (linear light for ``*_srgb``),
    uint8 also to float
    formats as value / 255. Booleans are 1 and 0. A missing alpha is 1.
    """
    if info.needs_conversion:
        raise ValidationError(
            f"{what}: format {info.name} keeps two columns together; copy blocks of (H, W / 2, 4) words to an image (dev.copy)"
        )
    if info.is_compressed:
        raise ValidationError(
            f"{what}: format {info.name} is compressed, and tilegpu compresses nothing; copy texel blocks to an image (dev.copy)"
        )
    if pixels.dtype.kind == "b":  # True is 1: the number, or the largest code where codes are 0 to 1
        pixels = pixels.astype(np.uint8) * np.uint8(1 if info.is_integer else 255)
    height, width, components = pixels.shape
    wanted = info.component_count
    if components > wanted:
        raise ValidationError(
            f"{what}: pixels have {components} components, format {info.name} has {wanted}; drop some, or choose another format"
        )
    if components < wanted and not (components == 3 and wanted == 4):
        raise ValidationError(
            f"{what}: pixels have {components} components, format {info.name} has {wanted}; give all, or choose a format with {components}"
        )
    array = np.ascontiguousarray(pixels if pixels.dtype.isnative else pixels.astype(pixels.dtype.newbyteorder("=")))
    bits = info.component_bits
    values: NDArray[Any]
    uniform = info.texel_B * 8 == bits * wanted and bits in (8, 16, 32, 64)
    kind = {"sfloat": "f", "snorm": "i", "sint": "i"}.get(info.numeric, "u")
    same = uniform and array.dtype == np.dtype(f"{kind}{bits // 8}")
    if same and not info.name.startswith("b8g8r8a8") and not info.name.endswith("pack32"):
        if components < wanted:
            one: Any = np.iinfo(array.dtype).max if info.numeric in ("unorm", "srgb", "snorm") else 1
            array = np.concatenate([array, np.full((height, width, 1), one, array.dtype)], axis=2)
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if info.is_integer:
        if array.dtype.kind not in "iub":
            raise ValidationError(
                f"{what}: pixels are {array.dtype}, format {info.name} holds integers; convert with astype"
            )
        signed = info.numeric == "sint"
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if uniform and array.size and (int(array.min()) < low or int(array.max()) > high):
            raise ValidationError(
                f"{what}: pixels are from {array.min()} to {array.max()}; format {info.name} holds integers from {low} to {high}"
            )
        if bits == 64:
            return np.ascontiguousarray(array.astype(np.int64 if signed else np.uint64)).reshape(-1).view(np.uint8)
        values = array.astype(np.int32 if signed else np.uint32)
    elif array.dtype == np.uint8 and info.numeric in ("unorm", "srgb", "sfloat", "ufloat"):
        values = array.astype(np.float32) / np.float32(255)
        if info.numeric == "srgb":  # stored as it is, only in another order
            order = [2, 1, 0, 3] if info.name.startswith("b8") else [0, 1, 2, 3]
            full = np.full((height, width, 4), 255, np.uint8)
            full[:, :, :components] = array
            return np.ascontiguousarray(full[:, :, order]).reshape(-1)
    elif array.dtype.kind == "f":
        _say_clamped(array, info, what)
        with np.errstate(over="ignore"):
            values = array.astype(np.float32)
    else:
        raise ValidationError(
            f"{what}: pixels are {array.dtype}, which can't become {info.name}; give floats, or integers of the format's width"
            + _fix_of_wide(array)
        )
    if components < wanted:
        values = np.concatenate([values, np.ones((height, width, 1), values.dtype)], axis=2)
    return _core.Image.pack_texels(info.number, np.ascontiguousarray(values).reshape(height * width, wanted))


def depth_stencil_texels(pixels: NDArray[Any], info: enums.FormatInfo, aspect: str, what: str) -> NDArray[np.uint8]:
    """(H, W, 1) depths or stencils as the texels that copies take of this aspect.

    Depth: floats from 0 to 1, rounded to the nearest that a ``unorm`` has (floats of ``d32_sfloat`` as they are), or the format's own
    integers; stencil: integers from 0 to 255.
    """
    if pixels.shape[2] != 1:
        raise ValidationError(f"{what}: pixels have {pixels.shape[2]} components; {aspect} has one")
    if aspect == "stencil":
        pixels = pixels.astype(np.uint8) if pixels.dtype.kind == "b" else pixels
        if pixels.dtype.kind not in "iu" or int(pixels.min()) < 0 or int(pixels.max()) > 255:
            raise ValidationError(
                f"{what}: pixels are {pixels.dtype} from {pixels.min()} to {pixels.max()}; stencil has integers from 0 to 255"
            )
        return np.ascontiguousarray(pixels.astype(np.uint8)).reshape(-1)
    bits = info.depth_bits
    stored = np.dtype(np.uint16 if bits == 16 else np.uint32)
    if bits != 32 and pixels.dtype == stored:
        if int(pixels.max()) >> bits:
            raise ValidationError(f"{what}: pixels are up to {pixels.max()}; {info.name} has {bits} bits of depth")
        return np.ascontiguousarray(pixels).reshape(-1).view(np.uint8)
    if pixels.dtype.kind != "f":
        own = "" if bits == 32 else f", or {stored} as the format has them"
        raise ValidationError(f"{what}: pixels are {pixels.dtype}; depth of {info.name} takes floats from 0 to 1{own}")
    if bits == 32:
        return np.ascontiguousarray(pixels.astype(np.float32)).reshape(-1).view(np.uint8)
    if not (float(pixels.min()) >= 0 and float(pixels.max()) <= 1):  # no NaN either
        raise ValidationError(f"{what}: pixels are from {pixels.min()} to {pixels.max()}; depth of {info.name} is from 0 to 1")
    return np.rint(pixels.astype(np.float64) * ((1 << bits) - 1)).astype(stored).reshape(-1).view(np.uint8)


def say_depth(label: str, values: NDArray[Any], what: str, strict: bool) -> None:
    """Depth of floats is stored as it is, beyond 0 to 1 too (VUID-vkCmdCopyBufferToImage-None-00214)."""
    within = (values >= 0) & (values <= 1)
    if not np.all(within):
        beyond_vulkan(f"{what}: {float(values[~within].flat[0]):g} is given as depth of image '{label}'; depth is from 0 to 1", strict)
