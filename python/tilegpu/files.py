"""Files from outside. In: a path or bytes, and limits. Out: bytes, or a decoded picture.

The one place where tilegpu opens a file that a user or another file names. Only regular files are read (a pipe would wait for ever,
a device never ends), and never more of one than the caller allows. Pictures are decoded as one of the formats that the caller names:
left alone, Pillow tries everything it knows, and for PostScript it starts another program.
"""

from __future__ import annotations

import os
import stat
from typing import Any

#: Formats that a texture's file may have: decoded inside this process, by Pillow itself or libjpeg, libtiff, libwebp.
PICTURES = ("PNG", "JPEG", "BMP", "TGA", "TIFF", "WEBP", "GIF", "PPM")
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def regular_size_B(path: str | os.PathLike[str]) -> int:
    """Bytes of a regular file; whatever else there is by that name is an ``OSError`` that says so."""
    return _size_of(os.stat(path))  # noqa: PTH116 -- pathlib would be imported for this alone


def read_regular(path: str | os.PathLike[str], limit_B: int) -> bytes:
    """Content of a regular file of at most ``limit_B`` bytes. Raises ``OSError``, whose ``strerror`` says what is wrong."""
    size_B = regular_size_B(path)  # before it is opened: opening may already do something to a device
    _check_size(size_B, limit_B)
    # The name may have become another file since; O_NONBLOCK, so that opening a pipe doesn't wait.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, "rb") as stream:
        size_B = _size_of(os.fstat(number))
        _check_size(size_B, limit_B)
        data = stream.read(size_B + 1)
    _check_size(len(data), limit_B)  # it grew meanwhile
    return data


def _size_of(status: os.stat_result) -> int:
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "no regular file")
        raise OSError(0, f"is {kind}; only regular files are read")
    return status.st_size


def _check_size(size_B: int, limit_B: int) -> None:
    if size_B > limit_B:
        raise OSError(0, f"has {size_B:,} bytes; at most {limit_B:,} are read")


def open_picture(data: bytes, formats: tuple[str, ...] = PICTURES) -> Any:
    """A Pillow image, its pixels not yet decoded. Raises ``ValueError`` if it is in none of the ``formats``."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(data), formats=formats)
    except UnidentifiedImageError:
        raise ValueError(f"is no picture in a format that is read here ({', '.join(formats)})") from None
