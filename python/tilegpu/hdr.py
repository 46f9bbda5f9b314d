"""Pictures of floats, in linear light: Radiance (.hdr) and OpenEXR (.exr).

In: a path. Out: (H, W, C), row 0 on top: of the sky three components of float32, of textures what the file has. Source: Ward, "Real
Pixels" (Graphics Gems II, 1991) and Radiance's "Picture File Format": RGBE, both run-length codings. EXR is read by the OpenEXR package. A
file is not trusted: what is wrong is a :class:`HdrError`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tilegpu.errors import Error, needs_packages
from tilegpu.files import check_picture, place, read_regular, regular_size_B

if TYPE_CHECKING:  # numpy.typing takes milliseconds of every import
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"
#: Files that are read here.
SUFFIXES = (".hdr", ".pic", ".exr")
#: Channels of an EXR file that are read together, and no others beside them.
_OF_A_SKY = (("R", "G", "B"), ("Y",))
_OF_TEXTURES = (("R", "G", "B", "A"), ("R", "G", "B"), ("R", "G"), ("R",), ("Y",), ("Z",), ("A",))
_MAX_FILE_B = 1 << 30
_MAX_PIXELS = 16384 * 8192
_LONGEST_HEADER_B = 1 << 16
_AHEAD_PIXELS = 256
#: Bytes for each pixel of a Radiance picture while it is read (its bytes and three floats), and for each value of an EXR's channels.
_EXR_MAGIC, _EXR_DEEP = b"\x76\x2f\x31\x01", 0x800  # OpenEXR, "File Layout": the version field
_RADIANCE_B, _EXR_VALUE_B = 16, 10
_STRIP_PIXELS = 1 << 18


class HdrError(Error, ValueError):
    """A picture that cannot be read; the message names file, what is wrong, and what is allowed."""


def read_hdr(path: str | os.PathLike[str]) -> Array:
    """(H, W, 3) float32 of a ``.hdr`` or ``.exr`` file that shows a sky. Raises :class:`HdrError`."""
    where = f"environment '{os.fspath(path)}'"
    pixels = read_floats(path, where, sky=True)
    pixels = np.repeat(pixels, 3, 2) if pixels.shape[2] == 1 else pixels[..., :3]
    return np.ascontiguousarray(pixels, np.float32)


def read_floats(path: str | os.PathLike[str], where: str, sky: bool = False) -> Array:
    """(H, W, C) of a ``.hdr`` (three components, float32) or ``.exr`` file (1 to 4, float16, float32 or uint32 as in the file).
    ``sky``: colours, or brightness alone. Raises :class:`HdrError`, which begins with ``where``."""
    return read_floats_of(path, where, sky)[0]


def read_floats_of(path: str | os.PathLike[str], where: str, sky: bool = False) -> tuple[Array, bool]:
    """The same, and whether its one component is brightness (channel Y), which is red, green and blue."""
    suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122 -- pathlib would be imported for this alone
    if suffix not in SUFFIXES:
        raise HdrError(f"{where}: the suffix is '{suffix}'; .hdr (Radiance) and .exr (OpenEXR) are read")
    try:
        if suffix == ".exr":
            return _read_exr(path, regular_size_B(path), where, sky)
        return read_radiance(read_regular(path, _MAX_FILE_B), where), False
    except OSError as error:
        raise HdrError(f"{where}: cannot be read: {error.strerror or error}") from error


def _check_size(width_px: int, height_px: int, file_B: int, pixel_B: int, where: str) -> None:
    if width_px < 1 or height_px < 1 or width_px * height_px > _MAX_PIXELS:
        raise HdrError(f"{where}: has {width_px}x{height_px} pixels; 1 to {_MAX_PIXELS:,} are read")
    try:
        check_picture((width_px, height_px), file_B, pixel_B)
    except ValueError as error:
        raise HdrError(f"{where}: {error}") from None


# ---------------------------------------------------------------------------------------------------------------- Radiance


def read_radiance(data: bytes, where: str = "picture") -> Array:
    """(H, W, 3) float32 of a Radiance picture's bytes. Raises :class:`HdrError`."""
    if not data.startswith((b"#?RADIANCE", b"#?RGBE")):
        raise HdrError(f"{where}: is no Radiance picture; it begins with {data[:10]!r}, not '#?RADIANCE'")
    end = data.find(b"\n\n", 0, _LONGEST_HEADER_B)
    line_end = data.find(b"\n", end + 2, end + 200)
    if end < 0 or line_end < 0:
        raise HdrError(f"{where}: the header has no end; is the file truncated?")
    lines = data[:end].decode("latin-1").split("\n")
    formats = [line.partition("=")[2].strip() for line in lines if line.startswith("FORMAT=")]
    if formats and formats[-1] != "32-bit_rle_rgbe":
        raise HdrError(f"{where}: FORMAT is {formats[-1]}; 32-bit_rle_rgbe is read")
    text = data[end + 2 : line_end].decode("latin-1").strip()
    found = re.fullmatch(r"-Y (\d{1,6}) \+X (\d{1,6})", text)
    if found is None:
        raise HdrError(f"{where}: the resolution is '{text[:40]}'; '-Y height +X width' is read (rows from the top, from left to right)")
    height_px, width_px = int(found[1]), int(found[2])
    _check_size(width_px, height_px, len(data), _RADIANCE_B, where)
    try:
        rgbe = _rows(data, line_end + 1, width_px, height_px)
    except (IndexError, ValueError) as error:
        raise HdrError(f"{where}: the pixels end too early or overrun a row ({error}); is the file truncated?") from error
    return _linear(rgbe, np.float32(_exposure(lines, where)))


def _exposure(lines: list[str], where: str) -> float:
    """Product of the header's exposures: what the values were multiplied by."""
    out = 1.0
    for line in lines:
        if line.startswith("EXPOSURE="):
            try:
                out *= float(line.partition("=")[2])
            except ValueError:
                out = 0.0
    if not 1e-30 < out < 1e30:
        raise HdrError(f"{where}: EXPOSURE makes {out:g}; a positive number is needed")
    return out


def _rows(data: bytes, at: int, width: int, height: int) -> Array:
    """(height, width, 4) uint8."""
    out = np.empty((height, width, 4), np.uint8)
    for y in range(height):
        coded = 8 <= width < 32768 and data[at : at + 2] == b"\2\2" and (data[at + 2] << 8 | data[at + 3]) == width
        if coded:
            row = bytearray()
            at = _runs(data, at + 4, row, 4 * width, width)
            out[y] = np.frombuffer(row, np.uint8).reshape(4, width).T
        else:
            at = _old_row(data, at, out[y])
    return out


def _runs(data: bytes, at: int, row: bytearray, size: int, width: int) -> int:
    """The four components of a row, one after the other, each of runs that end with it."""
    while len(row) < size:
        count, at = data[at], at + 1
        left = width - len(row) % width
        if count > 128:
            count -= 128
            row += data[at : at + 1] * count
            at += 1
        else:
            row += data[at : at + count]
            at += count
        if not 0 < count <= left or at > len(data):
            raise ValueError(f"a run of {count} where {left} are left")
    return at


def _old_row(data: bytes, at: int, row: Array) -> int:
    """Pixels as they are; (1, 1, 1, n) repeats the last one n times, and more where such follow each other."""
    x, shift = 0, 0
    while x < len(row):
        # Up to the next repetition at once; no farther than that a row of repetitions stays linear.
        ahead = np.frombuffer(data[at : at + 4 * min(len(row) - x, _AHEAD_PIXELS)], np.uint8)
        ahead = ahead[: len(ahead) // 4 * 4].reshape(-1, 4)
        repeats = np.flatnonzero((ahead[:, :3] == 1).all(1))
        plain = int(repeats[0]) if len(repeats) else len(ahead)
        if plain:
            row[x : x + plain] = ahead[:plain]
            x, at, shift = x + plain, at + 4 * plain, 0
            continue
        pixel = data[at : at + 4]
        if len(pixel) < 4:
            raise ValueError("a pixel is missing")
        at += 4
        count = pixel[3] << shift
        if x == 0 or x + count > len(row):
            raise ValueError(f"{count} repetitions at pixel {x}")
        row[x : x + count] = row[x - 1]
        x, shift = x + count, shift + 8
        if shift > 24:
            raise ValueError("repetitions without end")
    return at


def _linear(rgbe: Array, exposure: np.float32) -> Array:
    """m * 2^(e - 136), 0 where e is 0, over the exposure; some rows at a time."""
    out = np.empty((*rgbe.shape[:2], 3), np.float32)
    step = max(1, _STRIP_PIXELS // rgbe.shape[1])
    for first in range(0, len(rgbe), step):
        rows = rgbe[first : first + step]
        exponent = rows[..., 3:].astype(np.int32)
        scale = np.where(exponent == 0, np.float32(0), np.ldexp(np.float32(1), exponent - 136))
        out[first : first + step] = rows[..., :3].astype(np.float32) * scale / exposure
    return out


# -------------------------------------------------------------------------------------------------------------------- EXR


def _read_exr(path: str | os.PathLike[str], file_B: int, where: str, sky: bool) -> tuple[Array, bool]:
    try:
        import OpenEXR
    except ImportError:
        raise HdrError(needs_packages(f"{where}: an .exr file", "OpenEXR", extra="exr")) from None
    with Path(place(path)).open("rb") as begin:
        head = begin.read(8)
    if head.startswith(_EXR_MAGIC) and int.from_bytes(head[4:], "little") & _EXR_DEEP:  # 250 bytes a value and more as Python's objects
        raise HdrError(f"{where}: has deep pixels, with any number of samples; flat ones are read; save the picture flattened")
    try:
        with OpenEXR.File(place(path), header_only=True) as file:
            parts = len(file.parts)
            low, high = file.header()["dataWindow"]
            size_px = int(high[0]) - int(low[0]) + 1, int(high[1]) - int(low[1]) + 1
            count = len(file.header()["channels"])  # all of them are read, also those that are none of a picture's
        if parts != 1:
            raise HdrError(f"{where}: has {parts} parts; one is read; save the picture alone")
        _check_size(*size_px, file_B, _EXR_VALUE_B * count, where)
        with OpenEXR.File(place(path)) as file:
            channels = {name: channel.pixels for name, channel in file.channels().items()}
    except HdrError:
        raise
    except Exception as error:  # the package raises RuntimeError, TypeError and others for damaged files
        raise HdrError(f"{where}: OpenEXR can't read it: {error}") from error
    for name in ("RGBA", "RGB"):
        if name in channels:
            return np.ascontiguousarray(channels[name]), False
    for names in _OF_A_SKY if sky else _OF_TEXTURES:
        planes = [channels[name] for name in names if name in channels]
        if len(planes) == len(names) == len(channels) and len({(plane.shape, plane.dtype.kind) for plane in planes}) == 1:
            return np.ascontiguousarray(np.stack(planes, -1)), names == ("Y",)
    if set(channels) == {"Y", "A"} and channels["Y"].shape == channels["A"].shape:
        return np.ascontiguousarray(np.stack([*[channels["Y"]] * 3, channels["A"]], -1)), False
    need = "R, G and B of one size, or Y are needed" if sky else "R, G, B, A (or the first of these), Y or Z are read, of one size and kind"
    raise HdrError(f"{where}: has the channels {', '.join(sorted(channels))}; {need}")
