"""What a model file may do: which files it may open, how much memory and work it may take, how many triangles it may have.

In: the path of a model. Out: bytes and pictures, or a :class:`ModelError` before anything of that size is allocated. A model file is
not trusted: a few hundred bytes can name a pipe, a picture of gigabytes, or the same million vertices ten thousand times. Every file
goes through :class:`ModelFile`, everything whose size a file decides is announced to its :class:`Budget` first: memory, and work that
memory does not measure (bytes that are decompressed, vertices that are posed).

A model whose files have N bytes may take LEAST_B + TIMES * N bytes (:mod:`tilegpu.files`), and never more than 4096 MB;
``TILEGPU_MODEL_MEMORY_MB`` says another number, whatever its size.
"""

from __future__ import annotations

import os
import reprlib
import urllib.parse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import Error
from tilegpu.errors import ModelWarning, users_level
from tilegpu.files import LEAST_B, TIMES, allowed_B, open_picture, read_regular, regular_size_B, size_text

Array = NDArray[Any]
MEMORY_VARIABLE = "TILEGPU_MODEL_MEMORY_MB"
_DEFAULT_MEMORY_MB = 4096
_MAX_SIDE_px = 16384
_MAX_TRIANGLES = 200_000_000
#: Bytes for each pixel while a picture is decoded and its mipmaps are made (measured: 14 beside those that stay), and those that stay:
#: level 0 once and the further levels for each of two formats.
_DECODE_B, _DECODED_B = 16, 8
#: How many times over the bytes of the model's files may be decompressed (each view of a file that is whole once), and what is free.
_DECOMPRESSED_TIMES, _DECOMPRESSED_FREE_B = 4, 1 << 16
#: Steps of posing (a vertex moved by a joint or a morph target at one moment), and those for each byte of the files: about 1 µs each.
_POSE_STEPS, _POSE_STEPS_OF_A_BYTE = 5_000_000, 16
#: Longest name that is kept: a name is in the label of every draw.
_MAX_NAME = 120
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80


def shown(value: Any) -> str:
    """``repr`` of what a file says, for a message: a line, however long or deep it is."""
    return _short.repr(value)


def say(message: str) -> None:
    """A :class:`tilegpu.ModelWarning`, at the user's line."""
    warnings.warn(message, ModelWarning, stacklevel=users_level())


def named(value: Any, default: str) -> str:
    """The name that a file gives something, cut where it is longer than any is; ``default`` where it gives none."""
    text = value if isinstance(value, str) and value else default
    return text if len(text) <= _MAX_NAME else f"{text[:_MAX_NAME]}..."


class ModelError(Error, ValueError):
    """A model file that is malformed, truncated, or needs what is not supported. The message names file, object and field."""


class Budget:
    """Memory and work that one model may take, its files and all that is made of them. Counted before it is allocated, or done."""

    def __init__(self, path: Path, memory_B: int | None = None) -> None:
        self.path = path
        self._given_B = _limit_from_environment() if memory_B is None else memory_B  # None: by the files' sizes
        self.used_B = self.files_B = 0
        self.triangles = self._decompressed_B = self._pose_steps = 0

    @property
    def limit_B(self) -> int:
        """What the model may take, by the files that were read so far."""
        if self._given_B is not None:
            return self._given_B
        return min(allowed_B(self.files_B), _DEFAULT_MEMORY_MB << 20)

    def read(self, size_B: int, where: str, what: str, again: bool) -> None:
        """Count a file that is read whole. ``again``: its bytes were counted as the model's already."""
        self.files_B += 0 if again else size_B
        self.keep(size_B, where, what)

    def keep(self, size_B: int, where: str, what: str, moment_B: int = 0) -> None:
        """Count ``size_B`` for as long as the model is being loaded; ``moment_B`` more are needed only to make it."""
        size_B = int(size_B)
        limit_B = self.limit_B
        if self.used_B + size_B + moment_B > limit_B:
            why = ""
            if self._given_B is None and limit_B < _DEFAULT_MEMORY_MB << 20:
                why = f" ({LEAST_B >> 20} MB and {TIMES:,} times the {size_text(self.files_B)} of its files)"
            raise ModelError(
                f"model '{self.path}': {where}: {what} needs {(size_B + moment_B) >> 20:,} MB; a model may take {limit_B >> 20:,} MB{why} "
                f"and has taken {self.used_B >> 20:,}; make the model smaller, or allow more with {MEMORY_VARIABLE}"
            )
        self.used_B += size_B

    def decompress(self, size_B: int, where: str) -> None:
        """Count compressed bytes before they are decoded: many views of the same bytes cost little memory and much time."""
        self._decompressed_B += size_B
        most_B = _DECOMPRESSED_FREE_B + _DECOMPRESSED_TIMES * self.files_B
        if self._decompressed_B > most_B:
            raise ModelError(
                f"model '{self.path}': {where}: with its {size_text(size_B)} the model has {size_text(self._decompressed_B)} to "
                f"decompress; at most {size_text(most_B)} are, {_DECOMPRESSED_TIMES} times its files; let what is the same share one view"
            )

    def pose(self, steps: int, where: str) -> None:
        """Count vertices times the joints and morph targets that move them, before they are placed."""
        self._pose_steps += steps
        most = _POSE_STEPS + _POSE_STEPS_OF_A_BYTE * self.files_B
        if self._pose_steps > most:
            raise ModelError(
                f"model '{self.path}': {where}: to frame it takes {steps:,} moves of a vertex by a joint or a morph target, the model so "
                f"far {self._pose_steps:,}; at most {most:,} are made for files of {size_text(self.files_B)}; place bent meshes less "
                "often, or leave morph targets out"
            )

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


def _limit_from_environment() -> int | None:
    text = os.environ.get(MEMORY_VARIABLE, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not 1 <= len(text) <= 9:
        raise ModelError(f"{MEMORY_VARIABLE} is {text!r}; a number of megabytes is needed")
    return int(text) << 20


class ModelFile:
    """A model's file and what lies beside it."""

    def __init__(self, path: Path, budget: Budget | None = None) -> None:
        self.path = path
        self.budget = Budget(path) if budget is None else budget
        self._read: set[Path] = set()

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
                raise self.error(where, f"{shown(uri)} leads out of the model's folder; move the file into it")
            return self._content(file, where)
        except FileNotFoundError:
            return None
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead round in a circle
            raise self.error(where, f"{shown(uri)} cannot be read: {getattr(error, 'strerror', None) or error}") from error
        except ModelError:
            raise
        except ValueError as error:
            raise self.error(where, f"{shown(uri)} is no file name: {error}") from error

    def _content(self, path: Path, where: str) -> bytes:
        whole = path.resolve()
        self.budget.read(regular_size_B(path), where, f"reading '{path.name}'", whole in self._read)
        self._read.add(whole)
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

        def check(size: tuple[int, int], pixel_B: int) -> None:
            self.budget.room(size[0] * size[1] * pixel_B, where, f"a picture of {size[0]}x{size[1]} pixels")

        try:
            with open_picture(data, formats, check) as image:
                self.announce_picture(image.size, where)
                return _rgba8(image)
        except (ModelError, MemoryError):
            raise
        except Exception as error:  # Pillow raises many types for damaged files
            raise self.error(where, f"cannot be decoded: {error}") from error


def _rgba8(image: Any) -> Array:
    if image.mode.startswith("I"):
        # (code / 257) to the nearest, in integers; two halves never meet, since 257 is odd.
        pixels = np.full((image.height, image.width, 4), 255, np.uint8)
        codes = np.asarray(image)
        for row in range(image.height):  # one by one: int64 takes eight bytes a pixel
            pixels[row, :, :3] = ((codes[row].astype(np.int64).clip(0, 65535) + 128) // 257)[:, None]
    else:
        pixels = np.array(image.convert("RGBA"))
    pixels.flags.writeable = False
    return pixels
