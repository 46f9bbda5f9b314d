"""What an interrupted run left, looked at before it is gone on with. In: a manifest or a journal, files. Out: frames that are kept.

The head says of what a run is: its version, its job, what frame 0 is made of, the scene's file. What a file imports or reads besides (a
module, a shader, a texture that is there from frame 100 on) stands in none of these hashes, and a function that draws by itself can't be
looked into at all. So of scenes that are files, the first and the last frame that is there are drawn again, and their pixels compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tilegpu.errors import users_level
from tilegpu.farm.hashes import hash_of_file
from tilegpu.farm.job import FarmError, Job, file_of
from tilegpu.farm.manifest import FrameRecord, Manifest, Window, Written, journal_of, read_manifest

if TYPE_CHECKING:
    from tilegpu.farm.tiles import TileStore


class Drawing(Protocol):
    """What a run has prepared: whoever draws a frame, or a tile, here."""

    job: Job

    @property
    def smallest_window(self) -> Window | None:
        """Of tiles, the one that costs least; ``None``: frames are drawn whole."""

    def pixels_of(self, index: int, window: Window | None) -> str:
        """The pixels' hash of a frame, or of a tile."""


_FIX = "give another manifest=, or draw all anew with restart=True (--manifest, --restart)"


def kept_frames(
    prepared: Drawing, head: Manifest, path: Path, folder: Path, wanted: Sequence[int], restart: bool
) -> dict[int, FrameRecord]:
    """Frames of an earlier run: of those that are asked for, the ones whose files are as it says, none with ``restart``, which passes
    runs of other jobs by; all others as they are."""
    kept: dict[int, FrameRecord] = {}
    asked = set(wanted)
    for found in (path, journal_of(path)):
        if not found.exists():
            continue
        if found != path and _says_nothing(found):
            text = f"{found} is empty: frames that an earlier run drew, and that the manifest has not, are drawn again"
            warnings.warn(text, stacklevel=users_level())
            continue
        try:
            earlier = read_manifest(found)
        except FarmError as error:
            if restart:
                continue
            raise FarmError(f"{error}; {_FIX}") from None
        differences = earlier.differences(head)
        if not differences and not (restart and asked.issuperset(earlier.frames)):
            differences = _other_pictures(prepared, earlier)
        if differences:
            if restart:
                continue
            raise FarmError(f"{found} is of another run: {'; '.join(differences)}; {_FIX}")
        kept |= earlier.frames

    def stays(frame: FrameRecord) -> bool:
        return not restart and bool(frame.files) and all(is_as_written(folder, file) for file in frame.files)

    return {n: frame for n, frame in kept.items() if n not in asked or stays(frame)}


def _says_nothing(journal: Path) -> bool:
    """Whether it ends before its first line does: of a disk that was full, or a machine that lost its power."""
    with journal.open("rb") as stream:
        return not stream.readline(1 << 20).endswith(b"\n") and not stream.read(1)


def _other_pictures(prepared: Drawing, earlier: Manifest) -> list[str]:
    """What of an earlier run is another picture here, for whose scene a file says what is drawn."""
    if file_of(prepared.job) is None or not earlier.frames:
        return []
    for index in dict.fromkeys((min(earlier.frames), max(earlier.frames))):
        frame = earlier.frames[index]
        window = prepared.smallest_window
        there = frame.pixels if window is None else dict(frame.tiles).get(window)
        if there != prepared.pixels_of(index, window):
            return [_another_picture(index, prepared)]
    return []


def _another_picture(index: int, prepared: Drawing) -> str:
    why = f"what {prepared.job.scene} imports or reads is another one, or it draws something else each time"
    return f"frame {index} is another picture now ({why})"


def kept_tiles(prepared: Drawing, store: TileStore, asked: Sequence[tuple[int, Window]], key: str) -> set[tuple[int, Window]]:
    """Of frames that were not finished: those that are there, looked at as frames are."""
    there = [one for one in asked if store.has(*one, key)]
    if file_of(prepared.job) is not None and there:
        for index, window in dict.fromkeys((there[0], there[-1])):
            if store.pixels(index, window) != prepared.pixels_of(index, window):
                raise FarmError(f"the tiles in {store.folder} are of another run: {_another_picture(index, prepared)}; {_FIX}")
    return set(there)


def is_as_written(folder: Path, file: Written) -> bool:
    """Whether a file is there with the manifest's bytes."""
    path = folder / file.name
    try:
        return path.stat().st_size == file.size_B and hash_of_file(path) == file.sha256
    except OSError:
        return False


def require_written(folder: Path, frames: Sequence[FrameRecord]) -> None:
    """Raises :class:`FarmError` where a file that was written or kept has gone, or has grown, since."""
    for frame in frames:
        for file in frame.files:
            path = folder / file.name
            if not path.is_file() or path.stat().st_size != file.size_B:
                raise FarmError(f"{path} of frame {frame.index} has gone or was changed while others were drawn: it is to be drawn again")
