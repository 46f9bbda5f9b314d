"""Packages that only some models need. In: what is to be decoded. Out: arrays; or what to install, as a :class:`MissingPackage`.

They are imported when a file asks for them: ``pip install "tilegpu[gltf]"``. Both decode in native code, which checks its input itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import Error
from tilegpu.errors import needs_packages
from tilegpu.files import check_picture

Array = NDArray[Any]


class MissingPackage(ImportError):
    """A package is not installed; the message says what it is for and how to get it."""

    def __init__(self, package: str, what: str, extra: str = "gltf") -> None:
        super().__init__(needs_packages(what, package, extra=extra))


class DracoError(Error, ValueError):
    """What is wrong with a Draco bitstream."""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number of 7 bits a byte, and where the next thing begins."""
    value = 0
    for k in range(5):
        byte = data[at + k]
        value |= (byte & 127) << 7 * k
        if byte < 128:
            return value, at + k + 1
    raise DracoError("it has a number of more than 32 bits")


def _skip_metadata(data: bytes, at: int, depth: int = 0) -> int:
    """Entries and nested metadata: names of one byte's length, values of a number's."""
    if depth > 8:
        raise DracoError("its metadata lies deeper than 8")
    count, at = _varint(data, at)
    for _ in range(min(count, len(data))):
        at += 1 + data[at]
        size, at = _varint(data, at)
        at += size
    count, at = _varint(data, at)
    for _ in range(min(count, len(data))):
        at = _skip_metadata(data, at + 1 + data[at], depth + 1)
    return at


def draco_counts(data: bytes) -> tuple[int, int]:
    """How many triangles and vertices (at least) the header of a Draco mesh says, before anything is decoded. Raises :class:`DracoError`.

    Source: "Draco Bitstream Specification", version 2.2 (header, metadata, beginnings of the two kinds of connectivity); glTF's extension
    asks for that version.
    """
    if data[:5] != b"DRACO" or len(data) < 12:
        raise DracoError("it is no Draco bitstream")
    if data[5:7] != b"\2\2":
        raise DracoError(f"it is of version {data[5]}.{data[6]}; 2.2 is read")
    if data[7] != 1:
        raise DracoError("it is a cloud of points; a mesh is needed")
    method, flags, at = data[8], data[9] | data[10] << 8, 11
    try:
        if flags & 0x8000:
            count, at = _varint(data, at)
            for _ in range(min(count, len(data))):
                at = _skip_metadata(data, _varint(data, at)[1])
            at = _skip_metadata(data, at)
        if method == 0:  # sequential
            triangles, at = _varint(data, at)
            return triangles, _varint(data, at)[0]
        vertices, at = _varint(data, at + 1)  # edgebreaker: behind the kind of traversal
        return _varint(data, at)[0], vertices
    except IndexError:
        raise DracoError("it ends within its header") from None


def draco_mesh(data: bytes) -> tuple[Array, dict[int, Array]]:
    """Indices (n,) and attributes (V, components) by their number, of a Draco bitstream. Raises :class:`DracoError` for what is no mesh."""
    try:
        import DracoPy
    except ImportError:
        raise MissingPackage("DracoPy", "KHR_draco_mesh_compression") from None
    try:
        mesh = DracoPy.decode(data)
    except (DracoPy.FileTypeException, ValueError, MemoryError, RuntimeError) as error:
        raise DracoError(f"Draco can't decode it: {error}") from error
    faces = getattr(mesh, "faces", None)
    if faces is None:
        raise DracoError("it is a cloud of points; a mesh is needed")
    return np.asarray(faces).reshape(-1), {int(one["unique_id"]): np.asarray(one["data"]) for one in mesh.attributes}


def missing_basis() -> MissingPackage | None:
    """What keeps pictures of Basis Universal from being read, for a texture that has another one as well."""
    try:
        import opengl_basisu  # noqa: F401
    except ImportError:
        return MissingPackage("opengl_basisu", "KHR_texture_basisu")
    return None


def _check_levels(data: bytes, size: tuple[int, int]) -> None:
    """Of a KTX 2 file: no level says that it unpacks to more than its blocks are, which the package would make room for. ``ValueError``."""
    layers, faces, count = (max(1, int.from_bytes(data[at : at + 4], "little")) for at in (32, 36, 40))
    for level in range(count):
        at = 80 + 24 * level
        unpacked_B = int.from_bytes(data[at + 16 : at + 24], "little")
        blocks = math.prod((max(1, n >> level) + 3) // 4 for n in size) * layers * faces
        if at + 24 > len(data) or unpacked_B > 16 * blocks:  # UASTC; of the smaller ETC1S it is 0
            raise ValueError(f"level {level} says that it is {unpacked_B:,} bytes, and its {blocks:,} blocks are {16 * blocks:,} at most")


class BasisPicture:
    """A picture of Basis Universal in a KTX 2 file: ``size`` in pixels first, then :meth:`pixels`. Raises ``ValueError``."""

    def __init__(self, data: bytes) -> None:
        missing = missing_basis()
        if missing is not None:
            raise missing
        import opengl_basisu

        if data[:12] != b"\xabKTX 20\xbb\r\n\x1a\n" or len(data) < 80:
            raise ValueError("it is no KTX 2 file")
        size = int.from_bytes(data[20:24], "little"), max(1, int.from_bytes(data[24:28], "little"))
        check_picture(size, len(data), 4)  # before the package takes it apart
        _check_levels(data, size)
        self._texture = opengl_basisu.open(data)
        if self._texture.faces != 1 or self._texture.layers != 1:
            raise ValueError(f"it has {self._texture.faces} faces and {self._texture.layers} layers; one picture is needed")

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return int(self._texture.width), int(self._texture.height)

    def pixels(self) -> Array:
        """(H, W, 4) uint8 of the largest level."""
        return np.array(self._texture.transcode("rgba8").data, np.uint8)
