"""Pictures to files' bytes, whole or row by row. In: arrays (H, W, C). Out: bytes of a file; names of files.

A PNG of tiles is written a band of rows at a time, so that a picture of 40,000 x 20,000 pixels never lies in memory as a whole.
Source: PNG specification (ISO/IEC 15948), "Chunk layout", "Filter types".
"""

from __future__ import annotations

import io
import os
import re
import struct
import tempfile
import zlib
from collections.abc import Container, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu.farm.job import FarmError
from tilegpu.files import npy_array, open_picture, read_regular
from tilegpu.picture_file import check_integers, eight_bits, save_exr, save_picture, suffix_of
from tilegpu.whole_file import whole_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What pictures of tiles are written as, row by row.
BAND_SUFFIXES = (".png", ".npy")
_MOST_FILE_B = 8 << 30
_PNG_LEVEL = 3
_COLOR_TYPES = {1: 0, 3: 2, 4: 6}


#: A number as C's printf and FFmpeg write it in names of files, as Python does, and as Blender and Nuke do.
_C_NUMBER = re.compile(r"[_-]?(%0?\d*[duis]|\{(?:i|n|k|number|index|frame)?(?::[^{}]*)?\}|##+)")


def number_problem(output: str | os.PathLike[str], of: int) -> str:
    """Why a name is none for several pictures; "": it is one. A picture alone may be called whatever it is."""
    path = Path(output)
    if of == 1 or not (found := _C_NUMBER.search(path.stem)):
        return ""
    plain = f"{_C_NUMBER.sub('', path.stem) or 'frame'}{path.suffix}"
    own = f"a number is put before the suffix by itself: {plain} gives {output_path(plain, 0, of).name} and so on"
    return f"{path.name}: {found[1]} would stay in the name as it is; {own}"


def output_path(output: str | os.PathLike[str], index: int, of: int) -> Path:
    """``turn.png`` of frame 7 of 100 is ``turn_007.png``; of one frame it is ``turn.png``."""
    path = Path(output)
    if of == 1:
        return path
    digits = max(3, len(str(of - 1)))
    return path.with_name(f"{path.stem}_{index:0{digits}}{path.suffix}")


def color_path(path: Path, color: int) -> Path:
    """Where colour attachment ``color`` goes: 0 to the path itself, others beside it."""
    return path if color == 0 else path.with_name(f"{path.stem}.color{color}{path.suffix}")


def is_picture_of(other: str | os.PathLike[str], output: Path, frames: Container[int], of: int) -> bool:
    """Whether a path is one of the files that pictures of these frames are written to, whatever colours they have."""
    real = Path(os.path.realpath(other))
    if real.parent != Path(os.path.realpath(output.parent)):
        return False
    number = "" if of == 1 else r"_(\d+)"
    found = re.fullmatch(rf"{re.escape(output.stem)}{number}(?:\.color[1-7])?{re.escape(output.suffix)}", real.name)
    return found is not None and (of == 1 or int(found[1]) in frames)


def as_picture(image: Any) -> Any:
    """An (H, W, C) array as a Pillow image of 8 bits."""
    from PIL import Image as Pillow

    image = eight_bits(image)
    channels = image.shape[2]
    if channels == 1:
        image = image[..., 0]
    elif channels == 2:
        image = np.concatenate([image, np.zeros_like(image[..., :1])], axis=2)
    return Pillow.fromarray(np.ascontiguousarray(image))


def encoded(image: NDArray[Any], suffix: str, what: str = "the picture") -> bytes:
    """A picture's file: ``.npy`` and ``.exr`` take the numbers, all others 8 bits. Raises what :mod:`tilegpu.picture_file` does."""
    stream = io.BytesIO()
    if suffix == ".npy":
        np.save(stream, image)
    elif suffix == ".exr":  # its library writes files alone
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.exr"
            save_exr(image, str(path), what)
            return path.read_bytes()
    else:
        if image.dtype != np.uint16:  # which are numbers of 0 to 1
            check_integers(image, suffix, what)
        save_picture(as_picture(image), stream, suffix, what)
    return stream.getvalue()


def shows(path: Path, image: NDArray[Any]) -> bool:
    """Whether a ``.png`` or ``.npy`` holds a picture, pixel for pixel. True of all other formats, which may lose some, and of what is not
    there."""
    if path.suffix.lower() not in BAND_SUFFIXES:
        return True
    try:
        data = read_regular(path, _MOST_FILE_B)
        if path.suffix.lower() == ".npy":
            held, drawn = npy_array(data), image
        else:
            with open_picture(data) as picture:
                held, drawn = np.asarray(picture), np.asarray(as_picture(image))
    except (OSError, ValueError):
        return False
    return held.dtype == drawn.dtype and np.array_equal(held, drawn, equal_nan=held.dtype.kind == "f")


def check_output(path: Path, tiled: bool) -> str:
    """The suffix, before anything is drawn. Raises :class:`FarmError` for a folder or a format that there is not."""
    if not path.parent.is_dir():
        raise FarmError(f"there is no folder {path.parent}")
    suffix = suffix_of(path, "the picture")
    if tiled and suffix not in BAND_SUFFIXES:
        raise FarmError(f"{path}: a picture of tiles is written row by row, as {' or '.join(BAND_SUFFIXES)}")
    return suffix


class BandWriter:
    """A picture's file, written from the top: a context manager, whose :meth:`write` takes bands of rows (h, width, C) of one type.

    ``.png`` takes uint8 with 1, 3 or 4 components; others become 8 bits as :func:`eight_bits` says. The file appears when it is whole.
    """

    def __init__(self, path: Path, size: tuple[int, int], suffix: str) -> None:
        self._path, self._size, self._suffix = path, size, suffix
        self._whole = ExitStack()
        self._file = self._whole.enter_context(whole_file(path, "a picture of tiles"))
        self._above: NDArray[np.uint8] | None = None
        self._deflate = zlib.compressobj(_PNG_LEVEL)
        self._rows = 0

    def __enter__(self) -> BandWriter:
        return self

    def write(self, band: NDArray[Any]) -> None:
        """The next rows."""
        if self._suffix == ".npy":
            if not self._rows:
                head = {"descr": np.lib.format.dtype_to_descr(band.dtype), "fortran_order": False}
                np.lib.format.write_array_header_1_0(self._file, {**head, "shape": (self._size[1], self._size[0], band.shape[2])})
            self._file.write(np.ascontiguousarray(band).data.cast("B"))
        else:
            if band.dtype != np.uint16:
                check_integers(band, self._suffix, str(self._path))
            self._write_png(eight_bits(band))
        self._rows += band.shape[0]

    def _write_png(self, band: NDArray[np.uint8]) -> None:
        channels = band.shape[2]
        if channels == 2:
            band, channels = np.concatenate([band, np.zeros_like(band[..., :1])], axis=2), 3
        if not self._rows:
            self._file.write(b"\x89PNG\r\n\x1a\n")
            self._chunk(b"IHDR", struct.pack(">IIBBBBB", *self._size, 8, _COLOR_TYPES[channels], 0, 0, 0))
            self._above = np.zeros((self._size[0] * channels,), np.uint8)
        rows = np.ascontiguousarray(band).reshape(band.shape[0], -1)
        assert self._above is not None
        before = np.concatenate([self._above[None], rows[:-1]])
        filtered = np.empty((rows.shape[0], rows.shape[1] + 1), np.uint8)
        filtered[:, 0] = 2  # "up": the difference to the row above
        np.subtract(rows, before, out=filtered[:, 1:])
        self._above = rows[-1].copy()
        if data := self._deflate.compress(filtered.data.cast("B")):
            self._chunk(b"IDAT", data)

    def _chunk(self, kind: bytes, data: bytes) -> None:
        self._file.write(struct.pack(">I", len(data)) + kind)
        self._file.write(data)
        self._file.write(struct.pack(">I", zlib.crc32(data, zlib.crc32(kind))))

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self._whole.__exit__(kind, value, trace)
            return
        with self._whole:
            if self._suffix == ".png":
                self._chunk(b"IDAT", self._deflate.flush())
                self._chunk(b"IEND", b"")
            assert self._rows == self._size[1]


def band_of(tiles: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Tiles of one row, side by side."""
    return np.concatenate(tiles, axis=1)
