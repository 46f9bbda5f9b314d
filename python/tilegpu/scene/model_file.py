"""What a model file may do: which files it may open, how much memory it may take, how many triangles it may have.

In: the path of a model. Out: bytes and pictures, or a :class:`ModelError` before anything of that size is allocated. A model file is
not trusted: a few hundred bytes can name a pipe, a picture of gigabytes, or the same million vertices ten thousand times. Every file
goes through :class:`ModelFile`, every allocation whose size a file decides is announced to its :class:`Budget` first.
"""

from __future__ import annotations

import os
import urllib.parse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.files import open_picture, read_regular, regular_size_B

Array = NDArray[Any]
MEMORY_VARIABLE = "TILEGPU_MODEL_MEMORY_MB"
_DEFAULT_MEMORY_MB = 4096
_MAX_SIDE_px = 16384
_MAX_TRIANGLES = 200_000_000
#: Bytes for each pixel while a picture is decoded and its mipmaps are made (measured: 44 at odd sizes), and those that stay: level 0
#: once and the further levels for each of two formats.
_DECODE_B, _DECODED_B = 64, 8


class ModelError(ValueError):
    """A model file that is malformed, truncated, or needs what is not supported. The message names file, object and field."""


class Budget:
    """Memory that one model may take, its files and all that is made of them. Counted before it is allocated."""

    def __init__(self, path: Path, memory_B: int | None = None) -> None:
        self.path = path
        self.limit_B = _limit_from_environment() if memory_B is None else memory_B
        self.used_B = 0
        self.triangles = 0

    def keep(self, size_B: int, where: str, what: str, moment_B: int = 0) -> None:
        """Count ``size_B`` for as long as the model is being loaded; ``moment_B`` more are needed only to make it."""
        size_B = int(size_B)
        if self.used_B + size_B + moment_B > self.limit_B:
            raise ModelError(
                f"model '{self.path}': {where}: {what} needs {(size_B + moment_B) >> 20:,} MB; a model may take {self.limit_B >> 20:,} MB "
                f"and has taken {self.used_B >> 20:,}; make the model smaller, or allow more with {MEMORY_VARIABLE}"
            )
        self.used_B += size_B

    def draw(self, triangles: int, where: str) -> None:
        """Count triangles that a frame of the model will have."""
        self.triangles += triangles
        if self.triangles > _MAX_TRIANGLES:
            raise ModelError(
                f"model '{self.path}': {where}: with its {triangles:,} triangles the model has {self.triangles:,}; "
                f"at most {_MAX_TRIANGLES:,} are drawn; make the model smaller, or place its meshes less often"
            )

    def room(self, size_B: int, where: str, what: str) -> None:
        """Check that there is room for what is given back at once."""
        self.keep(0, where, what, int(size_B))


def _limit_from_environment() -> int:
    text = os.environ.get(MEMORY_VARIABLE, "")
    if not text:
        return _DEFAULT_MEMORY_MB << 20
    if not text.isascii() or not text.isdigit() or not 1 <= len(text) <= 9:
        raise ModelError(f"{MEMORY_VARIABLE} is {text!r}; a number of megabytes is needed")
    return int(text) << 20


class ModelFile:
    """A model's file and what lies beside it."""

    def __init__(self, path: Path, budget: Budget | None = None) -> None:
        self.path = path
        self.budget = Budget(path) if budget is None else budget

    def error(self, where: str, what: str) -> ModelError:
        """A :class:`ModelError` of this file."""
        return ModelError(f"model '{self.path}': {where}: {what}")

    def read(self) -> bytes:
        """Content of the model's own file."""
        try:
            return self._content(self.path, "the file")
        except FileNotFoundError:
            raise ModelError(f"model '{self.path}': there is no such file") from None
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"model '{self.path}': cannot read the file: {getattr(error, 'strerror', None) or error}") from error

    def beside(self, uri: str, where: str, quoted: bool = True) -> bytes | None:
        """Content of a file in the model's folder or below; None if there is none. ``quoted``: %20 is a space."""
        folder = self.path.parent.resolve()
        try:
            file = (folder / (urllib.parse.unquote(uri) if quoted else uri)).resolve()
            if not file.is_relative_to(folder):
                raise self.error(where, f"'{uri}' leads out of the model's folder; move the file into it")
            return self._content(file, where)
        except FileNotFoundError:
            return None
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead round in a circle
            raise self.error(where, f"'{uri}' cannot be read: {getattr(error, 'strerror', None) or error}") from error
        except ModelError:
            raise
        except ValueError as error:
            raise self.error(where, f"{uri!r} is no file name: {error}") from error

    def _content(self, path: Path, where: str) -> bytes:
        self.budget.keep(regular_size_B(path), where, f"reading '{path.name}'")
        return read_regular(path, self.budget.limit_B)

    def announce_picture(self, size: tuple[int, int], where: str) -> None:
        """Count a picture of (width, height) pixels and its mipmaps; ``ValueError`` if it is too large for any budget."""
        width_px, height_px = size
        if not (1 <= width_px <= _MAX_SIDE_px and 1 <= height_px <= _MAX_SIDE_px):
            raise ValueError(f"{width_px}x{height_px} pixels; at most {_MAX_SIDE_px}x{_MAX_SIDE_px} are allowed")
        pixels = width_px * height_px
        self.budget.keep(pixels * _DECODED_B, where, f"a picture of {width_px}x{height_px} pixels", pixels * _DECODE_B)

    def picture(self, data: bytes, where: str, formats: tuple[str, ...] = ("PNG", "JPEG")) -> Array:
        """(H, W, 4) uint8 of a picture file's bytes; 16-bit channels are rounded to 8."""
        try:
            with open_picture(data, formats) as image:
                self.announce_picture(image.size, where)
                return _rgba8(image)
        except (ModelError, MemoryError):
            raise
        except Exception as error:  # Pillow raises many types for damaged files
            raise self.error(where, f"cannot be decoded: {error}") from error


def _rgba8(image: Any) -> Array:
    if image.mode.startswith("I"):
        # (code / 257) to the nearest, in integers; two halves never meet, since 257 is odd.
        codes = np.asarray(image).astype(np.int64).clip(0, 65535)
        grey = ((codes + 128) // 257).astype(np.uint8)
        pixels = np.dstack([grey, grey, grey, np.full_like(grey, 255)])
    else:
        pixels = np.array(image.convert("RGBA"))
    pixels.flags.writeable = False
    return pixels
