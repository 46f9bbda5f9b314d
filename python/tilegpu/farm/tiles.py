"""Tiles of a large picture, kept until all are there. In: tiles as ``.npy`` bytes. Out: one file, written a row of tiles at a time.

They lie in a folder beside the picture, each with what it is in a line of its own file's name and hash, so that an interrupted run finds
those that are whole; the folder goes when the picture is there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu.farm.encoding import BandWriter, band_of, color_path
from tilegpu.farm.hashes import bytes_hash, hash_of_file, pixel_head
from tilegpu.farm.job import FarmError
from tilegpu.farm.manifest import FrameRecord, Written
from tilegpu.whole_file import write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Window = tuple[int, int, int, int]
_OURS = re.compile(r"\d+_\d+_\d+_\d+\.(npy|json|part)")


class TileStore:
    """Tiles of the frames of one run."""

    def __init__(self, output: Path, size: tuple[int, int], windows: Sequence[Window], suffix: str) -> None:
        self.folder = output.with_name(f"{output.stem}.tiles")
        self._size, self._windows, self._suffix = size, list(windows), suffix
        try:
            self.folder.mkdir(exist_ok=True)
        except FileExistsError:
            fix = "tiles are kept in a folder of this name until the picture is whole: move it away"
            raise FarmError(f"{self.folder} is a file; {fix}") from None

    def _path(self, index: int, window: Window, color: int) -> Path:
        x, y = window[:2]
        return self.folder / f"{index}_{x}_{y}_{color}.npy"

    def _said(self, index: int, window: Window) -> Path:
        return self._path(index, window, 0).with_suffix(".json")

    def put(self, index: int, window: Window, files: Sequence[bytes], pixels: str, key: str) -> None:
        """A tile as it came from its worker; what is said of it is written last."""
        for color, data in enumerate(files):
            write_whole(self._path(index, window, color), data, f"frame {index}, its tile at {window[:2]}")
        said = {"window": window, "pixels": pixels, "job": key, "files": [bytes_hash(data) for data in files]}
        write_whole(self._said(index, window), json.dumps(said), f"frame {index}, its tile at {window[:2]}")

    def has(self, index: int, window: Window, key: str) -> bool:
        """Whether it is there, whole, from a run of the same job (``key``)."""
        said = self._what(index, window)
        if said is None or said["job"] != key:
            return False
        return all(bytes_hash(self._path(index, window, k).read_bytes()) == h for k, h in enumerate(said["files"]))

    def pixels(self, index: int, window: Window) -> str:
        """The hash of a tile's pixels, as its worker said it; "": it is not there."""
        said = self._what(index, window)
        return "" if said is None else str(said["pixels"])

    def _what(self, index: int, window: Window) -> dict[str, Any] | None:
        try:
            said = json.loads(self._said(index, window).read_text(encoding="utf-8"))
            colors = len(said["files"])
            there = said["window"] == list(window) and all(self._path(index, window, k).is_file() for k in range(colors))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return said if there else None

    def assemble(self, index: int, path: Path) -> FrameRecord:
        """Writes a frame of its tiles, and forgets them."""
        said = [self._what(index, window) for window in self._windows]
        lost = [window for window, one in zip(self._windows, said, strict=True) if one is None]
        if lost:
            raise FarmError(f"frame {index}: its tile at {lost[0][:2]} is gone from {self.folder}; draw it again")
        whole = [one for one in said if one is not None]
        pixels = hashlib.sha256()
        written = []
        for color in range(len(whole[0]["files"])):
            target = color_path(path, color)
            self._write(index, color, target, pixels)
            written.append(Written(target.name, hash_of_file(target), target.stat().st_size))
        for window in self._windows:
            for color in range(len(whole[0]["files"])):
                self._path(index, window, color).unlink()
            self._said(index, window).unlink()
        tiles = tuple((window, str(one["pixels"])) for window, one in zip(self._windows, whole, strict=True))
        return FrameRecord(index, pixels.hexdigest(), tuple(written), tiles)

    def _write(self, index: int, color: int, target: Path, pixels: Any) -> None:
        width, height = self._size
        with BandWriter(target, self._size, self._suffix) as out:
            for y in sorted({window[1] for window in self._windows}):
                row = [window for window in self._windows if window[1] == y]
                band: NDArray[Any] = band_of([np.load(self._path(index, w, color), allow_pickle=False) for w in row])
                if y == 0:
                    pixels.update(pixel_head(band.dtype, (height, width, band.shape[2])))
                pixels.update(np.ascontiguousarray(band).data.cast("B"))
                out.write(band)

    def remove(self) -> None:
        """What is left of tiles, and the folder, unless somebody keeps files of his own in it."""
        for path in self.folder.iterdir():
            if _OURS.fullmatch(path.name):
                path.unlink()
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class TiledHash:
    """The hash of a frame's pixels, of its tiles in the order of ``windows``: a row of tiles is in memory, what belongs behind other
    pictures waits in files without names."""

    def __init__(self, windows: Sequence[Window]) -> None:
        assert windows and windows[0][:2] == (0, 0)
        x, y, width, height = windows[-1]
        self._size, self._windows = (x + width, y + height), list(windows)
        self._taken = 0
        self._row: list[Sequence[NDArray[Any]]] = []
        self._first = hashlib.sha256()
        self._later: list[Any] = []

    def add(self, window: Window, images: Sequence[NDArray[Any]]) -> bool:
        """The next tile's pictures. True: it was the last one."""
        assert self._windows[self._taken] == window and images
        self._taken += 1
        self._row.append(images)
        if window[0] + window[2] < self._size[0]:
            return False
        for color in range(len(images)):
            band = band_of([tile[color] for tile in self._row])
            if window[1] == 0:
                self._put(color, pixel_head(band.dtype, (self._size[1], self._size[0], band.shape[2])))
            self._put(color, np.ascontiguousarray(band).data.cast("B"))
        self._row.clear()
        return self._taken == len(self._windows)

    def _put(self, color: int, data: bytes | memoryview) -> None:
        if color == 0:
            self._first.update(data)
            return
        while len(self._later) < color:
            self._later.append(tempfile.TemporaryFile())  # noqa: SIM115 - open until digest()
        self._later[color - 1].write(data)

    def digest(self) -> str:
        """As :func:`tilegpu.farm.pixel_hash` gives it for the whole frame; all tiles are there."""
        assert self._taken == len(self._windows)
        for file in self._later:
            with file:
                file.seek(0)
                while data := file.read(1 << 20):
                    self._first.update(data)
        self._later.clear()
        return self._first.hexdigest()
