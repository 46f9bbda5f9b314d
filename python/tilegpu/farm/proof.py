"""A manifest, proved on this machine. In: a manifest, which share of it. Out: what was drawn again, and what differs.

The scene is made anew and its content compared first: where that differs, pictures say nothing about the renderer, and the error says
so. Then frames, or tiles, that are chosen by chance are drawn and the hashes of their pixels compared; files that lie beside the
manifest are compared with what it says of their bytes, and ``.png`` and ``.npy`` of whole frames that were drawn with their pixels. Where
all tiles of a frame were drawn, the hash of the whole is compared too.
Python named by a manifest is run only where the caller names it too.
"""

from __future__ import annotations

import dataclasses
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tilegpu
from tilegpu import arguments
from tilegpu.farm.answers import passed_on
from tilegpu.farm.encoding import shows
from tilegpu.farm.executors import ExecutorGone, workers_of
from tilegpu.farm.hashes import frame_hash, shader_hash
from tilegpu.farm.job import FarmError, Job, file_hash, file_of, frame_of, scene_of, windows_of, with_whole_paths
from tilegpu.farm.manifest import FrameRecord, Manifest, manifest_path, read_manifest
from tilegpu.farm.resume import is_as_written
from tilegpu.farm.run import Progress, check_device, expected_of, no_progress, numbers_of, require_progress
from tilegpu.farm.schedule import Scheduler
from tilegpu.farm.tiles import TiledHash
from tilegpu.farm.worker import Task, Window
from tilegpu.files import place

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Frame, window and pixels' hash of what may be drawn.
_Item = tuple[FrameRecord, Window | None, str]


@dataclass
class Verified:
    """``drawn``, ``of``: frames or tiles that were drawn again, and how many the manifest has. ``differ``: numbers of frames whose
    pixels are others; ``wholes_differ``: of those whose tiles are the same, and the hash of the whole in the manifest is another;
    ``files_differ``: names of files that are not as the manifest says; ``files_other``: of those that are, and
    show something else than was drawn, though the manifest's hash of the pixels is right;
    ``files``: how many were looked at, ``files_missing``: how many are not there; ``files_gone``: names of those of frames that were drawn,
    where others are there (a manifest alone, without any of its files, is compared by pixels). ``files_wrong``: frames whose number
    of files is not that of the pictures, as sentences. ``job_of``: how many frames the job has; ``has``: how many the manifest;
    ``lacks``: the numbers of those that it should have, since neither a share nor frames were asked for. ``seed``: what chose the share."""

    manifest: Path
    version: str
    drawn: int = 0
    of: int = 0
    tiles: bool = False
    differ: list[int] = field(default_factory=list)
    wholes_differ: list[int] = field(default_factory=list)
    files: int = 0
    files_missing: int = 0
    files_gone: list[str] = field(default_factory=list)
    files_differ: list[str] = field(default_factory=list)
    files_other: list[str] = field(default_factory=list)
    files_wrong: list[str] = field(default_factory=list)
    has: int = 0
    job_of: int = 0
    lacks: list[int] = field(default_factory=list)
    seed: int = 0
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Whether nothing differs, and no file of what was drawn is missing, nor a frame where all were asked for."""
        pixels, files = self.differ or self.wholes_differ, self.files_differ or self.files_other or self.files_gone or self.files_wrong
        return not (pixels or files or self.lacks)

    def __str__(self) -> str:
        what = "tiles" if self.tiles else "frames"
        lines = [f"{self.manifest}: {self.drawn} of {self.of} {what} drawn again in {self.seconds:.1f} s (seed {self.seed}): "]
        if self.differ:
            shown = ", ".join(map(str, self.differ[:20])) + (", ..." if len(self.differ) > 20 else "")
            lines[0] += f"the pixels of {len(self.differ)} frame{'s' if len(self.differ) > 1 else ''} are others: {shown}"
        else:
            lines[0] += "the same bytes"
        if self.wholes_differ:
            which = _numbers(self.wholes_differ)
            lines.append(f"the manifest's hash of the whole is another than that of its tiles together: frames {which}")
        if self.has < self.job_of:
            lines.append(f"the manifest has {self.has} of the job's {self.job_of} frames")
        if self.lacks:
            lines[-1] += f"; it lacks {_numbers(self.lacks)}: frames= (--frames A:B) says that a part is meant"
        if self.version != tilegpu.__version__:
            lines.append(f"it was drawn by tilegpu {self.version}, this is {tilegpu.__version__}")
        if self.files or self.files_missing:
            lines.append(f"{_files(self.files)} as it says" + (f", {_are(self.files_missing)} not here" if self.files_missing else ""))
        lines += [f"{name} is not here, and is of a frame that was drawn" for name in self.files_gone[:20]]
        if len(self.files_gone) > 20:
            lines.append(f"and {len(self.files_gone) - 20} more are not here")
        lines += [f"{name} is not as it says" for name in self.files_differ]
        lines += self.files_wrong[:20]
        other = "is the file of the manifest, and shows another picture than the frame that was drawn"
        lines += [f"{name} {other}" for name in self.files_other]
        return "\n".join(lines)


def _numbers(several: Sequence[int]) -> str:
    """Numbers in order, those that follow each other as one range."""
    ranges: list[list[int]] = []
    for n in several:
        if ranges and n == ranges[-1][1] + 1:
            ranges[-1][1] = n
        else:
            ranges.append([n, n])
    shown = [str(a) if a == b else f"{a} to {b}" for a, b in ranges]
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "")


def _are(count: int) -> str:
    return "1 is" if count == 1 else f"{count} are"


def _files(count: int) -> str:
    return "1 file is" if count == 1 else f"{count} files are"


def verify(
    manifest: str | os.PathLike[str],
    share: float = 1.0,
    frames: Iterable[int] | int | None = None,
    *,
    scene: str | os.PathLike[str] | None = None,
    environment: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    executor: Any = "threads",
    workers: int | None = None,
    threads: int = 1,
    lanes: int = 0,
    isolate_compiler: bool | None = None,
    progress: Progress[Any] = no_progress,
) -> Verified:
    """Draws a ``share`` (above 0, up to 1) of a manifest's frames again, chosen by ``seed`` (by chance), or ``frames`` of it, and compares.
    Without both, the manifest must have all frames of its job.

    ``scene``, ``environment``: where these files are here, if not where the manifest says; Python is run only if ``scene`` names it.
    ``isolate_compiler``: as of :class:`Job`, which a manifest has not. Others: as of :func:`render`.
    Raises :class:`FarmError` for what is no manifest, for frames that it has not, and where the scene's content is another one here.
    """
    require_progress(progress)
    check_device(threads, lanes)
    path = manifest_path(manifest)
    said = read_manifest(path)
    if isinstance(share, bool) or not isinstance(share, (int, float, np.integer, np.floating)) or not 0 < share <= 1:
        raise FarmError(f"share is {arguments.shown(share)}; it must be a number above 0, and 1 at most, such as 0.25 for a quarter")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer))):
        raise FarmError(f"seed is {arguments.shown(seed)}; it must be a whole number, or None: by chance")
    job = dataclasses.replace(_job_here(said, scene, environment), isolate_compiler=isolate_compiler)
    windows, expected = _same_content(said, job)
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    items = _items(said, windows, frames)
    count = max(1, round(share * len(items)))
    chosen = sorted(random.Random(seed).sample(range(len(items)), count))
    result = Verified(path, said.version, count, len(items), windows is not None, has=len(said.frames), job_of=said.job.of, seed=seed)
    if frames is None and share == 1:
        result.lacks = [n for n in range(said.job.of) if n not in said.frames]
    _compare_counts(said, expected.get("colors"), result)
    _compare_files(said, path.parent, {items[k][0].index for k in chosen}, result)
    start = time.perf_counter()
    remote = with_whole_paths(job)
    wholes = _whole_frames(items, chosen, windows)
    tasks = [
        Task(
            remote, items[k][0].index, items[k][1], "", tilegpu.__version__, said.content, threads=threads, lanes=lanes,
            keep_images=windows is None or items[k][0].index in wholes, **expected,
        )
        for k in chosen
    ]  # fmt: skip
    by = workers_of(executor, workers)
    try:
        answers = progress(Scheduler(by, dict).run(tasks), len(tasks), path.name)
        for k, done in zip(chosen, passed_on(answers, tasks), strict=True):
            if done.pixels != items[k][2] and done.index not in result.differ:
                result.differ.append(done.index)
            if windows is None:
                _compare_pixels(items[k][0], done.images, path.parent, result)
            elif done.index in wholes:
                _compare_whole(items[k], done.images, wholes[done.index], result)
    except ExecutorGone as error:
        raise FarmError(f"{error}; nothing is proved: verify again") from error
    finally:
        by.close()
    result.seconds = time.perf_counter() - start
    return result


def _job_here(said: Manifest, scene: str | os.PathLike[str] | None, environment: str | os.PathLike[str] | None) -> Job:
    """The job with files as they are called on this machine."""
    job = said.job
    named = scene is not None
    if scene is not None:
        job = dataclasses.replace(job, scene=place(scene))
    if environment is not None:
        job = dataclasses.replace(job, environment=place(environment))
    if not named and (job.scene.lower().endswith(".py") or ".py:" in job.scene.lower()):
        raise FarmError(f"the manifest's scene is Python, {job.scene}, which is run only if you name it: scene= (--scene {job.scene})")
    if said.file is not None and file_of(job) is None:
        raise FarmError(f"the manifest's scene is a file, {job.scene}, that is not here; say where it is: scene= (--scene FILE)")
    return job


def _same_content(said: Manifest, job: Job) -> tuple[list[Window] | None, dict[str, Any]]:
    """The windows of each frame, and what is known of pictures. Raises :class:`FarmError` where the scene is another one here."""
    if said.file is not None and file_hash(job) != said.file:
        here = (file_hash(job) or "")[:12]
        raise FarmError(f"{job.scene} is another file than the manifest's (its SHA-256 begins with {here}, not {said.file[:12]})")
    scene = scene_of(job)
    first = frame_of(scene, job, 0)
    for name, here, there in (("shaders", shader_hash(first), said.shaders), ("content", frame_hash(first), said.content)):
        if here != there:
            raise FarmError(
                f"the scene {job.scene} is another one here: the hash of its {name} is {here[:12]}..., the manifest says {there[:12]}...; "
                "another version of tilegpu or NumPy may have made it, or another file"
            )
    return windows_of(job, first), expected_of(scene, first)


def _items(said: Manifest, windows: list[Window] | None, frames: Iterable[int] | int | None) -> list[_Item]:
    """Frame, window and pixels' hash of all that may be drawn."""
    there = f"the manifest has frames {_numbers(sorted(said.frames)) or 'none'}"
    asked = sorted(said.frames) if frames is None else numbers_of(frames, there)
    if strange := [n for n in asked if isinstance(n, bool) or not isinstance(n, (int, np.integer))]:
        raise FarmError(f"frames has {arguments.shown(strange[0])}; it must be numbers, such as range(0, 2) or [0, 5]; {there}")
    numbers = list(dict.fromkeys(asked))
    if missing := [n for n in numbers if n not in said.frames]:
        raise FarmError(f"the manifest has no frame {missing[0]}; it has {_numbers(sorted(said.frames))}")
    if not numbers:
        raise FarmError("the manifest has no frames")
    for frame in said.frames.values():  # of those that are not asked for too: they say that they are of this job
        if [window for window, _ in frame.tiles] != (windows or []):
            raise FarmError(f"the manifest's tiles of frame {frame.index} are not those of its job")
    chosen = [said.frames[n] for n in numbers]
    if windows is None:
        return [(frame, None, frame.pixels) for frame in chosen]
    return [(frame, window, pixels) for frame in chosen for window, pixels in frame.tiles]


def _compare_pixels(frame: FrameRecord, images: Sequence[NDArray[Any]], folder: Path, result: Verified) -> None:
    """Files whose format keeps every bit against what was drawn: a manifest may state the hash of another picture. Where the pixels
    themselves are others, that is told."""
    if frame.index in result.differ:
        return
    if len(frame.files) != len(images):
        _tell_count(frame, len(images), result)
        return
    for file, image in zip(frame.files, images, strict=True):
        if file.name in result.files_differ or not is_as_written(folder, file) or shows(folder / file.name, image):
            continue
        result.files_other.append(file.name)


def _whole_frames(items: Sequence[_Item], chosen: Sequence[int], windows: list[Window] | None) -> dict[int, TiledHash]:
    """Frames that are drawn in tiles, of which all are chosen."""
    if windows is None:
        return {}
    count = Counter(items[k][0].index for k in chosen)
    return {index: TiledHash(windows) for index, drawn in count.items() if drawn == len(windows)}


def _compare_whole(item: _Item, images: Sequence[NDArray[Any]], whole: TiledHash, result: Verified) -> None:
    """With the next tile of a frame; after the last one its hash. Where a tile is another, that is told."""
    frame, window, _ = item
    assert window is not None
    if whole.add(window, images) and whole.digest() != frame.pixels and frame.index not in result.differ:
        result.wholes_differ.append(frame.index)


def _compare_counts(said: Manifest, colors: int | None, result: Verified) -> None:
    """Of all frames. ``colors``: pictures that each has; ``None``: a user's function decides, so that each must have one at least."""
    for frame in said.frames.values():
        if len(frame.files) != colors and (colors is not None or not frame.files):
            _tell_count(frame, colors or 1, result)


def _tell_count(frame: FrameRecord, pictures: int, result: Verified) -> None:
    text = f"frame {frame.index} has {len(frame.files)} files in the manifest; its pictures are {pictures}"
    if text not in result.files_wrong:
        result.files_wrong.append(text)


def _compare_files(said: Manifest, folder: Path, drawn: set[int], result: Verified) -> None:
    gone: list[str] = []
    for frame in said.frames.values():
        for file in frame.files:
            if not (folder / file.name).exists():
                result.files_missing += 1
                gone += [file.name] if frame.index in drawn else []
            elif is_as_written(folder, file):
                result.files += 1
            else:
                result.files_differ.append(file.name)
    if result.files or result.files_differ:
        result.files_gone = gone
