"""Frames on any executor, in order, with a manifest that proves them. In: a job, where pictures go. Out: files, :class:`Run`.

The coordinator draws one frame itself, so that shaders are compiled once; their files go to workers that miss them. Then it only hands out
numbers, hashes what comes back and writes it: in order, each frame with a line of the journal, from which an interrupted run goes on.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import tilegpu
from tilegpu import arguments
from tilegpu.errors import users_level
from tilegpu.farm.answers import passed_on
from tilegpu.farm.encoding import check_output, color_path, is_picture_of, number_problem, output_path
from tilegpu.farm.executors import ExecutorGone, Workers, workers_of
from tilegpu.farm.hashes import bytes_hash, frame_hash, pixel_hash, shader_hash
from tilegpu.farm.job import (
    FarmError,
    Job,
    file_hash,
    frame_of,
    require_job,
    scene_of,
    why_alike,
    windows_of,
    with_whole_paths,
)
from tilegpu.farm.manifest import (
    FrameRecord,
    Journal,
    Manifest,
    Written,
    manifest_of,
    manifest_path,
)
from tilegpu.farm.resume import kept_frames, kept_tiles, only_run, require_written
from tilegpu.farm.schedule import Failure, Scheduler
from tilegpu.farm.tiles import TileStore
from tilegpu.farm.worker import Done, Task, Window
from tilegpu.files import npy_array, place, suffix_problem
from tilegpu.scene import DrawnFrame, Frame, FunctionScene, Scene, SceneRenderer
from tilegpu.whole_file import write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
#: Items as they come, their number and what they are: :func:`tilegpu.terminal.progress` is one.
Progress = Callable[[Iterable[T], int, str], Iterator[T]]


def require_progress(progress: Any) -> None:
    """Raises for what can't be called, such as a word."""
    if not callable(progress):
        raise FarmError(
            f"progress is {progress!r:.80}; it must be a function of (items, how many, what they are) that yields the items, such as "
            "tilegpu.terminal.progress"
        )


def no_progress(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Shows nothing."""
    yield from items


@dataclass
class Run:
    """What was done. ``frames``: numbers of those that were drawn now; ``kept``: of those that were there, as the manifest says.
    ``files``: all paths, in order. ``failures``: what was drawn again elsewhere, and why. ``compiled``: functions that workers compiled
    themselves."""

    manifest: Path | None
    frames: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    workers: dict[str, int] = field(default_factory=dict)  #: tasks by HOST:PROCESS; threads of one process are one
    compiled: int = 0
    packs_sent: int = 0  #: how often shaders went to a worker that missed them
    seconds: float = 0.0
    render_ms: list[float] = field(default_factory=list)  #: of each task
    save_ms: list[float] = field(default_factory=list)
    size_px: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        drawn = f"{len(self.frames)} frame{'s' if len(self.frames) != 1 else ''}"
        drawn += f" and {len(self.kept)} that were there" if self.kept else ""
        rate = ""
        if len(self.frames) > 1 and self.seconds:  # of one it would say the seconds once more
            each_s = self.seconds / len(self.frames)
            rate = f", {1 / each_s:.1f}/s" if each_s <= 1 else f", {each_s:.1f} s each"
        again = f"; {len(self.failures)} drawn again elsewhere" if self.failures else ""
        by = f" by {len(self.workers)} process{'es' if len(self.workers) != 1 else ''}" if self.workers else ""
        return f"{drawn}{by} in {self.seconds:.1f} s{rate}{again}"


def _check_device_used(frame: Frame, job: Job, threads: int, lanes: int) -> None:
    """Raises for what is asked of the workers' devices, where a function draws by itself. One that asks for mouse or keys is not called
    before it is drawn; nobody knows of it yet."""
    if not isinstance(frame, DrawnFrame) or frame.wants_device or frame.wanted:
        return
    asked = {"profile": job.profile != "host", "isolate_compiler": job.isolate_compiler is not None, "threads": threads != 1}
    asked["lanes"] = lanes != 0
    if given := [name for name, is_given in asked.items() if is_given]:
        asks = f"the function {frame.label}() asks for no device, and draws by itself"
        raise FarmError(f"{', '.join(given)}: {asks}; give it a parameter device (or view), and draw with that")


class Prepared:
    """A job, looked at by the coordinator: what its frame 0 is made of, its tiles, and its shaders, compiled."""

    def __init__(self, job: Job, threads: int = 0, lanes: int = 0) -> None:
        require_job(job)
        self.job, self.lanes = job, lanes
        self.scene = scene_of(job)
        if job.time and not self.scene.moves:
            text = f"Job: time={job.time} of '{self.scene.name}' has no effect: {self.scene.why_still}; leave it out"
            warnings.warn(text, tilegpu.UnusedNameWarning, stacklevel=users_level())
        self.first: Frame = frame_of(self.scene, job, 0)
        self.content, self.shaders = frame_hash(self.first), shader_hash(self.first)
        self.windows = windows_of(job, self.first)
        self.size_px: tuple[int, int] = self.first.size  #: a function may draw as large as it likes
        self.device = tilegpu.Device(job.profile, threads=threads, lanes=lanes, isolate_compiler=job.isolates)

    @property
    def smallest_window(self) -> Window | None:
        """Of tiles, the one that costs least; ``None``: frames are drawn whole."""
        return None if self.windows is None else min(self.windows, key=lambda w: w[2] * w[3])

    def pixels_of(self, index: int, window: Window | None) -> str:
        """The pixels' hash of a frame, or of a tile, drawn here."""
        frame = frame_of(self.scene, self.job, index)
        images = [np.asarray(one) for one in SceneRenderer(self.device).render(frame, window=window).images]
        if images and self.windows is None:
            self.size_px = images[0].shape[1], images[0].shape[0]
        return pixel_hash(images)

    def warm(self, index: int) -> None:
        """Draws a frame (of tiles the smallest), and waits for the code that goes to the disk cache."""
        frame = frame_of(self.scene, self.job, index)
        SceneRenderer(self.device).render(frame, read=isinstance(frame, DrawnFrame), window=self.smallest_window)
        self.device.wait_compiles()

    def pack(self) -> dict[str, bytes]:
        """Its shaders, for the caches of other machines."""
        return self.device.cache_entries()

    def tasks(self, frames: Iterable[int], suffix: str, threads: int, **more: Any) -> list[Task]:
        """One for each frame, or for each of its tiles."""
        job, shaders = with_whole_paths(self.job), self.device.cache_files
        windows: list[Window | None] = [None] if self.windows is None else [*self.windows]
        more |= {"threads": threads, "lanes": self.lanes, **expected_of(self.scene, self.first)}
        return [
            Task(job, index, window, suffix, tilegpu.__version__, self.content, shaders, **more)
            for index in frames
            for window in windows
        ]

    def manifest(self, output: str) -> Manifest:
        """What a run of it says first."""
        return Manifest(self.job, tilegpu.__version__, self.content, self.shaders, output, file_hash(self.job))


def expected_of(scene: Scene, first: Frame) -> dict[str, Any]:
    """What a :class:`Task` says of the pictures that come of it. A user's function decides for itself, frame by frame."""
    return {} if isinstance(scene, FunctionScene) else {"colors": len(first.color_formats), "size_px": first.size}


def numbers_of(frames: Any, there: str) -> list[Any]:
    """One number, or several, as a list. Raises :class:`FarmError` for what would be taken apart, such as the letters of "0:2"; ``there``:
    which there are."""
    if isinstance(frames, (int, np.integer)):
        return [frames]
    if isinstance(frames, (str, bytes, Mapping)) or not isinstance(frames, Iterable):
        raise FarmError(f"frames is {arguments.shown(frames)}; it must be a number, or numbers, such as range(0, 2) or [0, 5]; {there}")
    try:
        return list(frames)
    except TypeError:  # an array of no dimension
        raise FarmError(f"frames is {arguments.shown(frames)}; it must be a number, or numbers, such as [0, 5]; {there}") from None


def frames_of(frames: Iterable[int] | int | None, job: Job) -> list[int]:
    """Numbers of frames, in order, each once; ``None``: all. Raises :class:`FarmError` for one that the job has not."""
    wanted = list(range(job.of)) if frames is None else numbers_of(frames, f"the job has frames 0 to {job.of - 1} (of={job.of})")
    if not wanted:
        raise FarmError("frames is empty; name at least one")
    bad = [n for n in wanted if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 0 <= n < job.of]
    if bad:
        raise FarmError(f"frames has {bad[0]!r}; the job has frames 0 to {job.of - 1} (of={job.of})")
    return sorted({int(n) for n in wanted})


def _require_flag(value: Any, name: str) -> None:
    """Raises for a word, which Python takes for True whatever it says."""
    if not isinstance(value, (bool, np.bool_)):
        raise FarmError(f"{name} is {arguments.shown(value)}; it must be True or False")


def check_device(threads: Any, lanes: Any) -> None:
    """Raises for what no worker's device takes, before the first of them tries."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 0:
        raise FarmError(f"threads is {arguments.shown(threads)}; it must be a number of at least 1, of each worker's device, or 0 for all")
    if isinstance(lanes, bool) or not isinstance(lanes, (int, np.integer)) or lanes not in (0, 4, 8, 16):
        raise FarmError(f"lanes is {arguments.shown(lanes)}; it must be 4, 8 or 16, or 0 for what suits the CPU")


def render(
    job: Job,
    output: str | os.PathLike[str],
    frames: Iterable[int] | int | None = None,
    *,
    executor: Any = "processes",
    workers: int | None = None,
    threads: int = 1,
    lanes: int = 0,
    manifest: str | os.PathLike[str] | None = None,
    restart: bool = False,
    progress: Progress[Any] = no_progress,
) -> Run:
    """Draws frames of a job to files, and writes the manifest beside them.

    ``output``: of one frame its file; of several each gets its number before the suffix. ``frames``: by default all of ``job.of``.
    ``executor``: ``"processes"``, ``"threads"``, ``"dask://ADDRESS"``, ``"MODULE:FUNCTION"``, any executor of :mod:`concurrent.futures`,
    or a Dask client. ``workers``: how many, for the first two. ``threads``, ``lanes``: of each worker's device.
    ``manifest``: by default ``NAME.manifest.json`` beside the output. If it, or the journal of a run that was interrupted, is there and
    is of the same job, frames whose files are as it says are kept; ``restart`` draws them all the same.

    Raises :class:`FarmError` where a manifest is of another job, another run is writing it, or a frame fails everywhere; what is done is
    kept for the next run.
    """
    require_job(job)
    require_progress(progress)
    check_device(threads, lanes)
    _require_flag(restart, "restart")
    if not isinstance(output, (str, bytes, os.PathLike)):
        raise FarmError(f"output is {arguments.shown(output)}; it must be a path, such as 'turn.png'; pictures(job) writes nothing")
    output = Path(place(output))
    wanted = frames_of(frames, job)
    prepared = Prepared(job, lanes=lanes)
    _check_device_used(prepared.first, job, threads, lanes)
    if alike := why_alike(prepared.scene, len(wanted)):
        warnings.warn(f"Job: of={job.of}: {alike}", tilegpu.UnusedNameWarning, stacklevel=users_level())
    suffix = check_output(output, prepared.windows is not None)
    if problem := number_problem(output, job.of):
        raise FarmError(f"output {problem}")
    path = manifest_path(manifest) if manifest is not None else manifest_of(output)
    if not path.parent.is_dir():
        raise FarmError(f"there is no folder {path.parent} for the manifest")
    if path.parent.resolve() != output.parent.resolve():
        raise FarmError(f"the manifest {path} must lie in the pictures' folder, {output.parent}: it names files without folders")
    if is_picture_of(path, output, wanted, job.of):
        raise FarmError(f"the manifest {path} has the name of one of the pictures; give it another, such as {manifest_of(output).name}")
    if problem := suffix_problem(path, "JSON"):
        raise FarmError(f"the manifest {problem}")
    with only_run(path):
        return _to_files(prepared, wanted, output, suffix, path, executor, workers, threads, restart, progress)


def _to_files(
    prepared: Prepared,
    wanted: list[int],
    output: Path,
    suffix: str,
    path: Path,
    executor: Any,
    workers: int | None,
    threads: int,
    restart: bool,
    progress: Progress[Any],
) -> Run:
    """What :func:`render` does once it has the manifest to itself."""
    head = prepared.manifest(output.name)
    kept = kept_frames(prepared, head, path, output.parent, wanted, restart)
    todo = [n for n in wanted if n not in kept]
    head.frames |= kept
    run = Run(path, kept=sorted(n for n in kept if n in set(wanted)), size_px=prepared.size_px)
    chosen = workers_of(executor, workers)  # before there is a journal: what is wrong with it leaves none
    start = time.perf_counter()
    try:
        journal = Journal(head, path)
        whole = False
        try:
            if todo:
                prepared.warm(todo[0])
                _draw(prepared, todo, output, suffix, chosen, journal, run, threads, restart, progress)
            require_written(output.parent, [head.frames[n] for n in wanted])
            whole = True
        except FarmError as error:
            raise FarmError(f"{error}{_what_is_kept(head, wanted, run)}") from error
        finally:
            journal.close(whole)
            run.seconds = time.perf_counter() - start
    finally:
        chosen.close()
    run.files = [output.parent / file.name for n in wanted for file in head.frames[n].files]
    return run


def _what_is_kept(head: Manifest, wanted: Sequence[int], run: Run) -> str:
    """Of a run that can't go on, behind its error; "": nothing was drawn."""
    there = sum(n in head.frames for n in wanted)
    what = f"{there} of {len(wanted)} frames" if there else f"{len(run.render_ms)} tiles"  # of whole frames each came with its own
    return f"; {what} are kept, and the same call goes on from there" if there or run.render_ms else ""


def _draw(
    prepared: Prepared,
    todo: list[int],
    output: Path,
    suffix: str,
    chosen: Workers,
    journal: Journal,
    run: Run,
    threads: int,
    restart: bool,
    progress: Progress[Any],
) -> None:
    scheduler = Scheduler(chosen, prepared.pack)
    run.failures = scheduler.failures
    store: TileStore | None = None
    key = bytes_hash(json.dumps(prepared.manifest("").head()).encode())
    tasks = prepared.tasks(todo, ".npy" if prepared.windows else suffix, threads)
    if prepared.windows is not None:
        store = TileStore(output, prepared.first.size, prepared.windows, suffix)
        there = set() if restart else kept_tiles(prepared, store, [(t.index, t.window) for t in tasks if t.window is not None], key)
        tasks = [task for task in tasks if (task.index, task.window) not in there]
    for done in passed_on(progress(scheduler.run(tasks), len(tasks), prepared.scene.name), tasks):
        _received(run, done)
        if store is None:
            journal.add(_written(done, output_path(output, done.index, prepared.job.of)))
            run.frames.append(done.index)
        else:
            assert done.window is not None
            store.put(done.index, done.window, done.files, done.pixels, key)
    if store is not None:
        for index in todo:
            journal.add(store.assemble(index, output_path(output, index, prepared.job.of)))
            run.frames.append(index)
        store.remove()
    run.packs_sent = scheduler.packs_sent


def _received(run: Run, done: Done) -> None:
    """Counts what came."""
    run.workers[done.worker] = run.workers.get(done.worker, 0) + 1
    run.compiled += done.compiled
    if done.window is None and all(done.size_px):  # a function may draw as large as it likes
        run.size_px = done.size_px
    run.render_ms.append(done.render_ms)
    run.save_ms.append(done.save_ms)


def _written(done: Done, path: Path) -> FrameRecord:
    """Writes a frame's files, each under its name in one step."""
    written = []
    for color, data in enumerate(done.files):
        target = color_path(path, color)
        write_whole(target, data, f"frame {done.index}")
        written.append(Written(target.name, done.hashes[color], len(data)))
    return FrameRecord(done.index, done.pixels, tuple(written))


def pictures(
    job: Job,
    frames: Iterable[int] | int | None = None,
    *,
    executor: Any = "processes",
    workers: int | None = None,
    threads: int = 1,
    lanes: int = 0,
    eight_bits: bool = False,
    progress: Progress[Any] = no_progress,
    run: Run | None = None,
) -> Iterator[tuple[int, list[NDArray[Any]]]]:
    """(number, colour images as arrays (H, W, C)) of each frame, in order, for films and for programs of one's own; nothing is written.

    ``eight_bits``: colour 0 alone, as 8 bits to look at. ``run``: is told what was done. Other arguments: as of :func:`render`.
    """
    require_progress(progress)
    require_job(job)
    check_device(threads, lanes)
    _require_flag(eight_bits, "eight_bits")
    if run is not None and not isinstance(run, Run):
        raise FarmError(f"run is {arguments.shown(run)}; it must be a tilegpu.farm.Run, such as Run(None), or None")
    wanted = frames_of(frames, job)
    prepared = Prepared(job, lanes=lanes)
    _check_device_used(prepared.first, job, threads, lanes)
    if alike := why_alike(prepared.scene, len(wanted)):
        warnings.warn(f"Job: of={job.of}: {alike}", tilegpu.UnusedNameWarning, stacklevel=users_level())
    if prepared.windows is not None:
        raise FarmError(f"{job.scene}: pictures() gives whole frames; render() draws tiles to files")
    run = Run(None) if run is None else run
    run.size_px = prepared.size_px
    prepared.warm(wanted[0])
    chosen = workers_of(executor, workers)
    start = time.perf_counter()
    try:
        scheduler = Scheduler(chosen, prepared.pack)
        run.failures = scheduler.failures
        tasks = prepared.tasks(wanted, ".raw" if eight_bits else "", threads, keep_images=not eight_bits)
        for done in passed_on(progress(scheduler.run(tasks), len(tasks), prepared.scene.name), tasks):
            _received(run, done)
            run.frames.append(done.index)
            yield done.index, [npy_array(f) for f in done.files] if eight_bits else list(done.images)
        run.packs_sent = scheduler.packs_sent
    except ExecutorGone as error:
        fix = "draw again, or render() to files, which goes on where it ended"
        raise FarmError(f"{error}; none of these pictures is kept: {fix}") from error
    finally:
        run.seconds = time.perf_counter() - start
        chosen.close()
