"""Files from outside. In: a path or bytes, and limits. Out: bytes, or a decoded picture.

The one place where tilegpu opens a file that a user or another file names. Only regular files are read (a pipe would wait for ever,
a device never ends), and never more of one than the caller allows. Pictures are decoded as one of the formats that the caller names:
left alone, Pillow tries everything it knows, and for PostScript it starts another program. What a file says is small and what it asks for
may be large: :func:`allowed_B` is what a file may take of memory once it is decoded, and it is asked before that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any, BinaryIO

from tilegpu.errors import ValidationError, shown

#: Formats that a texture's file may have: decoded inside this process, by Pillow itself or libjpeg, libtiff, libwebp.
PICTURES = ("PNG", "JPEG", "BMP", "TGA", "TIFF", "WEBP", "GIF", "PPM")
#: A file of N bytes may take LEAST_B + TIMES * N bytes of memory: a PNG of one colour has a thousandth of its pixels' bytes.
LEAST_B, TIMES = 512 << 20, 1000
#: Bytes for each pixel while Pillow decodes it and an array is made of it (measured: 16; of WebP 28, whose decoder has two canvasses).
_PIXEL_B, _WEBP_PIXEL_B = 16, 28
#: Scans of a JPEG; each goes over all of its pixels. Encoders write 10, optimizers up to 20.
_MAX_SCANS = 64
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


_ZERO_BYTE = "its name has a zero byte, which no file can have"


def place(path: str | os.PathLike[str]) -> str:
    """A path that a user gave, as the system takes it: ``~`` and ``~name`` at its beginning are home folders, as in a shell (a folder that
    is called so is ``./~``). Raises :class:`ValidationError` for a zero byte, behind which the system would not look."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise ValidationError(f"path is {shown(path)}; it must be a path")
    try:
        name = os.fsdecode(path)
    except Exception:  # a __fspath__ of the user's
        raise ValidationError(f"path is {shown(path)}; it must be a path") from None
    if "\0" in name:
        raise ValidationError(f"path {name!r}: {_ZERO_BYTE}")
    return os.path.expanduser(name) if name.startswith("~") else name  # noqa: PTH111 -- pathlib would be imported for this alone


def regular_size_B(path: str | os.PathLike[str]) -> int:
    """Bytes of a regular file; whatever else there is by that name is an ``OSError`` that says so."""
    return _size_of(os.stat(_readable(path)))  # noqa: PTH116 -- pathlib would be imported for this alone


#: How what Git LFS leaves in a file's place begins. Source: Git LFS specification, "The Pointer".
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
#: How files of pictures begin, by Pillow's names.
_SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"BM", "BMP"), (b"II*\0", "TIFF"),
               (b"MM\0*", "TIFF"))  # fmt: skip


def _why_no_picture(data: bytes, formats: tuple[str, ...]) -> str:
    """Of bytes that Pillow took for none of the formats."""
    found = next((name for begins, name in _SIGNATURES if data.startswith(begins)), "")
    found = "WEBP" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else found
    if not data:
        return "is empty"
    if found in formats:
        return f"begins as a {found} and is none that can be read; is it cut short, or damaged?"
    is_what = f" but a {found}" if found else ""
    return f"is no picture in a format that is read here ({', '.join(formats)}){is_what}"


def _readable(path: str | os.PathLike[str]) -> str:
    """:func:`place`, whose error is one of the system's."""
    try:
        return place(path)
    except ValidationError:
        raise OSError(0, _ZERO_BYTE) from None


def input_problem(path: str | os.PathLike[str]) -> str:
    """Why nothing can be read from a path, "" if something can: "is not there", "is a named pipe; ..."."""
    try:
        regular_size_B(path)
    except FileNotFoundError:
        return "is not there"
    except OSError as error:
        return error.strerror or str(error)
    return ""


def read_regular(path: str | os.PathLike[str], limit_B: int) -> bytes:
    """Content of a regular file of at most ``limit_B`` bytes. Raises ``OSError``, whose ``strerror`` says what is wrong: also that it is
    what Git LFS leaves in a file's place."""
    _check_size(regular_size_B(path), limit_B)
    with open_regular(path) as stream:
        size_B = _size_of(os.fstat(stream.fileno()))
        _check_size(size_B, limit_B)
        data = stream.read(size_B + 1)
    _check_size(len(data), limit_B)  # it grew meanwhile
    if data.startswith(_LFS_POINTER):
        raise OSError(0, "is a pointer of Git LFS in place of the file, which was not fetched; run git lfs pull")
    return data


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, to be read piece by piece. Raises ``OSError`` for all else."""
    regular_size_B(path)  # before it is opened: opening may already do something to a device
    # The name may have become another file since; O_NONBLOCK, so that opening a pipe doesn't wait.
    stream = os.fdopen(os.open(_readable(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    try:
        _size_of(os.fstat(stream.fileno()))
    except OSError:
        stream.close()
        raise
    return stream


def _size_of(status: os.stat_result) -> int:
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "no regular file")
        raise OSError(0, f"is {kind}; only regular files are read")
    return status.st_size


def _check_size(size_B: int, limit_B: int) -> None:
    if size_B > limit_B:
        raise OSError(0, f"has {size_B:,} bytes; at most {limit_B:,} are read")


def output_problem(path: str | os.PathLike[str], folder: bool = False) -> str:
    """Why nothing can be written to a path, "" if something can: asked before the work whose result it takes. ``folder``: files are to be
    written into it, and it is made where it is not there."""
    try:
        name = place(path)
    except ValidationError as wrong:
        return _ZERO_BYTE if isinstance(path, (str, bytes, os.PathLike)) else str(wrong)
    if folder:
        above = os.path.abspath(name)  # noqa: PTH100 -- pathlib would be imported for this alone
        while not os.path.lexists(above):
            above = os.path.dirname(above)  # noqa: PTH120
        if not os.path.isdir(above):  # noqa: PTH112
            return f"{above} is no folder"
        return "" if os.access(above, os.W_OK | os.X_OK) else f"the folder {above} may not be written to"
    if os.path.isdir(name):  # noqa: PTH112
        return f"{name} is a folder; name a file in it"
    parent = os.path.dirname(name) or "."  # noqa: PTH120
    if not os.path.isdir(parent):  # noqa: PTH112
        return f"there is no folder {parent}"
    if os.path.lexists(name):
        return "" if os.access(name, os.W_OK) or not os.path.exists(name) else f"{name} may not be written to"  # noqa: PTH110
    return "" if os.access(parent, os.W_OK | os.X_OK) else f"the folder {parent} may not be written to"


#: Suffixes that say what is in a file, and of what they are.
_CONTENTS = {
    "pictures": (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tga", ".tif", ".tiff", ".ppm", ".exr", ".hdr", ".svg"),
    "films": (".mp4",),
    "arrays": (".npy", ".npz"),
    "HTML pages": (".html", ".htm"),
    "JSON": (".json",),
    "captures": (".tgcap",),
    "PDF": (".pdf",),
    "text": (".txt", ".log", ".md", ".rst", ".csv", ".tsv", ".xml", ".yaml", ".yml", ".toml", ".ini"),
    "programs": (".py", ".ipynb", ".sh", ".js", ".css", ".c", ".h", ".cpp", ".hpp", ".glsl", ".vert", ".frag", ".comp", ".spv"),
    "models": (".gltf", ".glb", ".obj", ".ply", ".stl", ".mtl"),
    "archives": (".zip", ".gz", ".tar", ".xz", ".7z"),
}
#: What may be called so as well: JSON is text.
_ALSO = {("text", "JSON")}


def suffix_problem(path: str | os.PathLike[str], content: str) -> str:
    """Why a path is no name for ``content``, a key of the table above: its suffix says that something else is in it. "": none, or one that
    says nothing."""
    suffix = os.path.splitext(os.fsdecode(path))[1].lower()  # noqa: PTH122
    for other, suffixes in _CONTENTS.items():
        if suffix in suffixes and other != content and (other, content) not in _ALSO:
            return f"{os.fsdecode(path)}: {suffix} is the suffix of {other}; name {content} *{_CONTENTS[content][0]}"
    return ""


def is_same_file(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one file, which need not be there yet: by links, or by another way of writing it."""
    path, other = place(path), place(other)
    try:
        return os.path.samefile(path, other)  # noqa: PTH121
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)


def allowed_B(file_B: int) -> int:
    """Bytes of memory that a file of ``file_B`` bytes may take while it is decoded."""
    return LEAST_B + TIMES * file_B


def size_text(size_B: int) -> str:
    """Bytes for people, to three digits: ``"640 B"``, ``"1.56 KiB"``, ``"512 MiB"``."""
    for unit, one_B in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_B >= one_B:
            value = size_B / one_B
            return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{size_B:,} B"


def check_picture(size: tuple[int, int], file_B: int, pixel_B: int) -> None:
    """``ValueError`` if (width, height) pixels at ``pixel_B`` need more than a file of ``file_B`` bytes may take."""
    need_B = size[0] * size[1] * pixel_B
    if need_B > allowed_B(file_B):
        raise ValueError(
            f"{size[0]}x{size[1]} pixels need {size_text(need_B)} to be decoded; a file of {size_text(file_B)} may take "
            f"{size_text(allowed_B(file_B))} ({size_text(LEAST_B)} and {TIMES:,} times its bytes); if you trust it, decode it yourself and "
            "give the pixels as an array"
        )


def _webp_size(data: bytes) -> tuple[int, int] | None:
    """(width, height) of a WebP by its first chunk (RFC 9649, section 2.7); ``None`` if it is none. Its decoder takes memory for all of
    them when it is opened."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:
        return None
    kind, little = data[12:16], lambda at, size: int.from_bytes(data[at : at + size], "little")
    if kind == b"VP8X":
        return little(24, 3) + 1, little(27, 3) + 1
    if kind == b"VP8L":
        bits = little(21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return little(26, 2) & 0x3FFF, little(28, 2) & 0x3FFF


def open_picture(
    data: bytes, formats: tuple[str, ...] = PICTURES, check: Callable[[tuple[int, int], int], None] | None = None
) -> Any:
    """A Pillow image, its pixels not yet decoded. Raises ``ValueError`` if it is in none of the ``formats``, if its pixels need more memory
    than a file of its size may take, or if it is a JPEG of more scans than any program writes. ``check``: asked instead about the memory,
    with (width, height) and bytes a pixel."""
    import io

    from PIL import Image

    asked = check or (lambda size, pixel_B: check_picture(size, len(data), pixel_B))
    canvas = _webp_size(data)
    if canvas is not None:
        asked(canvas, _WEBP_PIXEL_B)
    try:
        image = Image.open(io.BytesIO(data), formats=formats)
    except (OSError, SyntaxError, EOFError):  # Pillow's own for what it does not know is an OSError
        raise ValueError(_why_no_picture(data, formats)) from None
    except Image.DecompressionBombError as error:  # more than 179 million pixels
        raise ValueError(f"has too many pixels: {error}") from None
    asked(image.size, _PIXEL_B)
    if image.format in ("JPEG", "MPO"):
        scans = data.count(b"\xff\xda")  # in a scan's own data 255 is followed by 0
        if scans > _MAX_SCANS:
            raise ValueError(f"is a JPEG of {scans:,} scans; at most {_MAX_SCANS} are read, each goes over all pixels; save it anew")
    return image


def npy_array(data: bytes) -> Any:
    """The array of a ``.npy`` file's bytes, read-only. Raises ``ValueError``, also where the header says more than the file has."""
    import io

    import numpy as np

    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"is a .npy of version {version[0]}.{version[1]}; 1.0 and 2.0 are read")
    shape, by_columns, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("holds Python objects; only numbers are read")
    count = 1
    for side in shape:
        count *= side
    if count * dtype.itemsize > len(data) - stream.tell():
        have = size_text(len(data) - stream.tell())
        raise ValueError(f"says {dtype} of the shape {shape}, {size_text(count * dtype.itemsize)}, and has {have}; is it truncated?")
    flat = np.frombuffer(data, dtype, count, stream.tell())
    return flat.reshape(shape, order="F" if by_columns else "C")
