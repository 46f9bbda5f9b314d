"""Packages that only some models need. In: what is to be decoded. Out: arrays; or what to install, as a :class:`MissingPackage`.

They are imported when a file asks for them: ``pip install "tilegpu[gltf]"``. Draco's decodes in a process of its own
(:mod:`tilegpu.scene.draco`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.errors import needs_packages
from tilegpu.files import check_picture

Array = NDArray[Any]


class MissingPackage(ImportError):
    """A package is not installed; the message says what it is for and how to get it."""

    def __init__(self, package: str, what: str, extra: str = "gltf") -> None:
        super().__init__(needs_packages(what, package, extra=extra))


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
        try:
            import opengl_basisu
        except ImportError:
            raise MissingPackage("opengl_basisu", "KHR_texture_basisu") from None

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
