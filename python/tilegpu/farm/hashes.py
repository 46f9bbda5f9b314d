"""What a frame is made of and what was drawn, as SHA-256. In: frames as plain data; pictures as arrays. Out: hexadecimal text.

A frame's hash is of all that is drawn: arrays with their types, texts of shaders, states, matrices; where a file or a label is only a name,
it is left out. Whoever gets another hash from the same scene has other data (another file, another NumPy), so its pictures say nothing
about the renderer.
"""

from __future__ import annotations

import dataclasses
import hashlib
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import ValidationError, arguments
from tilegpu.files import open_regular
from tilegpu.scene import DrawnFrame, Frame
from tilegpu.scene.frame_checks import check_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Fields that name where something came from.
_NAMES = ("label", "vertex_file", "fragment_file")


class _Walk:
    """Feeds plain data into a hash. What is held twice is told once: a texture of a hundred draws costs one of them."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {}  # holds the objects, so that their ids stay their own

    def add(self, value: Any) -> None:
        if isinstance(value, (bool, np.bool_)):
            self._put(b"b", b"1" if value else b"0")
        elif isinstance(value, (int, np.integer)):
            self._put(b"i", str(int(value)).encode())
        elif isinstance(value, (float, np.floating)):
            self._put(b"f", struct.pack("<d", float(value)))
        elif isinstance(value, str):
            self._put(b"s", value.encode())
        elif value is None:
            self._put(b"n", b"")
        elif isinstance(value, bytes):
            self._put(b"y", value)
        elif not self._told_before(value):
            self._object(value)

    def _object(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            self._put(b"a", f"{np.lib.format.dtype_to_descr(value.dtype)!r} {value.shape!r}".encode())
            self.hash.update(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [f.name for f in dataclasses.fields(value) if f.name not in _NAMES]
            self._put(b"d", f"{type(value).__name__} {len(fields)}".encode())
            for name in fields:
                self.add(getattr(value, name))
        elif isinstance(value, Mapping):
            self._put(b"m", str(len(value)).encode())
            for key in sorted(value, key=str):
                self.add(str(key))
                self.add(value[key])
        elif isinstance(value, (list, tuple)):
            self._put(b"l", str(len(value)).encode())
            for one in value:
                self.add(one)
        else:
            raise ValidationError(f"a frame holds a {type(value).__name__}, which is no plain data; give arrays, numbers and texts")

    def _told_before(self, value: Any) -> bool:
        found = self._seen.get(id(value))
        if found is None:
            self._seen[id(value)] = len(self._seen), value
            return False
        # Plain values that happen to be shared (an empty tuple) are told by their content, as those that are not.
        if not isinstance(value, np.ndarray) and not (dataclasses.is_dataclass(value) and type(value).__eq__ is object.__eq__):
            return False
        self._put(b"r", str(found[0]).encode())
        return True

    def _put(self, kind: bytes, data: bytes) -> None:
        self.hash.update(kind + str(len(data)).encode() + b":" + data)


def frame_hash(frame: Frame) -> str:
    """Of all that is drawn. A function that draws itself is its file and what it is given: its modules are not looked into. Raises
    :class:`tilegpu.ValidationError` for what is no frame, such as the scene that makes it."""
    check_frame(frame, "frame_hash")
    walk = _Walk()
    if isinstance(frame, DrawnFrame):
        walk.add(frame.path.read_bytes())
        walk.add([frame.function.__name__, frame.size, frame.samples, sorted(frame.wanted)])
    else:
        walk.add(frame)
    return walk.hash.hexdigest()


def shader_hash(frame: Frame) -> str:
    """Of the texts and constants of all programs, in the order in which they draw first; of a function that draws itself: of none. Raises
    as :func:`frame_hash`."""
    check_frame(frame, "shader_hash")
    walk = _Walk()
    if not isinstance(frame, DrawnFrame):
        for program in {id(d.program): d.program for d in frame.all_draws}.values():
            walk.add([program.vertex, program.fragment, program.constants, program.input_attachments])
    return walk.hash.hexdigest()


def pixel_hash(images: Iterable[NDArray[Any]]) -> str:
    """Of pictures: type, shape and bytes of each, in C order, whatever file they go to. ``images``: a list of arrays, or an array (N, H, W,
    C) of N; of one picture ``[image]``. Raises :class:`tilegpu.ValidationError` for one picture alone, whose rows would be taken for
    pictures, and for what are no arrays."""
    what, must = "pixel_hash: images", "it must be a list of arrays, such as [image.numpy()]"
    if isinstance(images, np.ndarray) and images.ndim < 4:
        one = f"{what} is one array of shape {images.shape}, whose rows are no pictures"
        raise ValidationError(f"{one}; give a list of pictures: pixel_hash([array])")
    digest = hashlib.sha256()
    for number, image in enumerate(arguments.sequence(images, what, must)):
        if not isinstance(image, np.ndarray) or image.dtype.hasobject:
            raise ValidationError(f"pixel_hash: images[{number}] is {arguments.shown(image)}; {must}")
        digest.update(pixel_head(image.dtype, image.shape))
        digest.update(np.ascontiguousarray(image).data.cast("B"))
    return digest.hexdigest()


def pixel_head(dtype: Any, shape: tuple[int, ...]) -> bytes:
    """What stands before a picture's bytes, for those who have them row by row."""
    return f"{np.dtype(dtype).str} {shape!r}\n".encode()


def bytes_hash(data: bytes) -> str:
    """SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def hash_of_file(path: Path) -> str:
    """SHA-256 of a regular file, a megabyte at a time. Raises ``OSError``."""
    digest = hashlib.sha256()
    with open_regular(path) as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
