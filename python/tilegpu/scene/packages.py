"""Packages that only some models need. In: what is to be decoded. Out: arrays; or what to install, as a :class:`MissingPackage`.

They are imported when a file asks for them: ``pip install "tilegpu[gltf]"``. Both decode in native code, which checks its input itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class MissingPackage(ImportError):
    """A package is not installed; the message says what it is for and how to get it."""

    def __init__(self, package: str, what: str, extra: str = "gltf") -> None:
        super().__init__(f'{what} needs the package {package}, which is not installed: pip install "tilegpu[{extra}]"')


def draco_mesh(data: bytes) -> tuple[Array, dict[int, Array]]:
    """Indices (n,) and attributes (V, components) by their number, of a Draco bitstream. Raises ``ValueError`` for what is no mesh."""
    try:
        import DracoPy
    except ImportError:
        raise MissingPackage("DracoPy", "KHR_draco_mesh_compression") from None
    try:
        mesh = DracoPy.decode(data)
    except (DracoPy.FileTypeException, ValueError, MemoryError, RuntimeError) as error:
        raise ValueError(f"Draco can't decode it: {error}") from error
    faces = getattr(mesh, "faces", None)
    if faces is None:
        raise ValueError("it is a cloud of points; a mesh is needed")
    return np.asarray(faces).reshape(-1), {int(one["unique_id"]): np.asarray(one["data"]) for one in mesh.attributes}


def missing_basis() -> MissingPackage | None:
    """What keeps pictures of Basis Universal from being read, for a texture that has another one as well."""
    try:
        import opengl_basisu  # noqa: F401
    except ImportError:
        return MissingPackage("opengl_basisu", "KHR_texture_basisu")
    return None


class BasisPicture:
    """A picture of Basis Universal in a KTX 2 file: ``size`` in pixels first, then :meth:`pixels`. Raises ``ValueError``."""

    def __init__(self, data: bytes) -> None:
        missing = missing_basis()
        if missing is not None:
            raise missing
        import opengl_basisu

        if data[:12] != b"\xabKTX 20\xbb\r\n\x1a\n":
            raise ValueError("it is no KTX 2 file")
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
