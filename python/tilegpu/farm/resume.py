"""What an interrupted run left, looked at before it is gone on with. In: a manifest or a journal, files. Out: frames that are kept.

The head says of what a run is: its version, its job, what frame 0 is made of, the scene's file. What a file imports or reads besides (a
module, a shader, a texture that is there from frame 100 on) stands in none of these hashes, and a function that draws by itself can't be
looked into at all. So of scenes that are files, the first and the last frame that is there are drawn again, and their pixels compared.

One run at a time writes a manifest: two would each write what they know, and the last would win. POSIX's locks of records (fcntl(2)) end
with their process, however that ends, and no child has them; within a process they exclude nobody, so that has a list of its own.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
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


#: File systems that have no locks; there runs are on their own.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
_here_lock = threading.Lock()
_here: set[Path] = set()  #: manifests that runs of this process write


@contextmanager
def only_run(manifest: Path) -> Iterator[None]:
    """While it lasts nobody else writes this manifest. Raises :class:`FarmError` where somebody does, by the name of the machine and the
    number of the process. ``NAME.manifest.json.lock`` is beside it meanwhile; of a run that was killed it is left, and locks nobody out."""
    path = manifest.with_name(manifest.name + ".lock")
    own = path.resolve()
    with _here_lock:
        if own in _here:
            raise FarmError(_is_written(manifest, "another run of this process"))
        _here.add(own)
    try:
        descriptor = _locked(path, manifest)
        try:
            yield
        finally:
            if descriptor is not None:
                with suppress(OSError):
                    path.unlink()
                os.close(descriptor)
    finally:
        with _here_lock:
            _here.discard(own)


def _locked(path: Path, manifest: Path) -> int | None:
    """The lock's open file; ``None``: the folder takes no file, of which the run itself will say more, or has no locks."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            if not os.path.lexists(path):
                return None
            fix = "another user's run writes the manifest, or left it: wait, or remove it"
            raise FarmError(f"{path} can't be opened ({error.strerror}); {fix}") from None
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_at(path, descriptor):  # who had it ended, and took its name away
                os.close(descriptor)
                continue
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} of {socket.gethostname()}".encode(), 0)
        except OSError as error:
            who = os.pread(descriptor, 300, 0).decode("utf-8", "replace")
            os.close(descriptor)
            if error.errno in (errno.EACCES, errno.EAGAIN):
                raise FarmError(_is_written(manifest, who if who.isprintable() and who else "another run")) from None
            if error.errno in (*_NO_LOCKS, errno.ENOSPC, errno.EDQUOT):
                return None
            raise
        return descriptor


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _is_written(manifest: Path, who: str) -> str:
    fix = "wait until it has ended, and what it drew is kept, or give another manifest= (--manifest)"
    return f"the manifest {manifest} is being written by {who}; {fix}"


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
