"""Lengths of jobs, cut for any number of threads and measured on one: what :mod:`tilegpu.bench.scaling_model` simulates with.

A device with so many threads records (``Device.record_jobs`` of the core): its submissions run on the calling thread, jobs in the order of
their numbers. Several frames are recorded; each job, each gap between runs is the median of them. In: a scene, a size. Out: recorded
frames, bytes that they move, and measured frames of the same device where it does not record.
"""

from __future__ import annotations

import collections
import dataclasses
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tilegpu as tg
from tilegpu.bench.scaling_model import RecordedFrame, Run
from tilegpu.scene import Frame, SceneRenderer, Texture

#: A submission as the core says it: start, end, and its runs: phase, start, end, jobs.
Submission = tuple[int, int, list[tuple[str, int, int, list[int]]]]


@dataclass(frozen=True)
class Measured:
    """One frame as it was recorded. ``wall_ns``: of all, Python's part too. ``last_ns``: when the frame before ended its last run."""

    submissions: tuple[Submission, ...]
    wall_ns: float
    last_ns: int

    @property
    def shape(self) -> tuple[Any, ...]:
        """What two frames must have in common to be compared job by job."""
        return tuple(tuple((run[0], len(run[3])) for run in submission[2]) for submission in self.submissions)

    def flat(self) -> list[float]:
        """All times in one row, in an order that the shape alone decides about."""
        out: list[float] = []
        last_ns, inside = self.last_ns, 0.0
        for start, end, runs in self.submissions:
            inside += end - start
            at = start
            for _, run_start, run_end, jobs in runs:
                out += [run_start - at, run_start - last_ns, *jobs]
                at = last_ns = run_end
            out.append(end - at)
        return [*out, max(self.wall_ns - inside, 0.0)]


def median_frame(frames: Sequence[Measured], moved_B: Mapping[str, float]) -> RecordedFrame:
    """Job by job the median of those frames whose jobs are cut alike, which are most of them. ``moved_B``: by phase, given to its runs by
    how long they take."""
    shape, _ = collections.Counter(frame.shape for frame in frames).most_common(1)[0]
    times = np.median([frame.flat() for frame in frames if frame.shape == shape], axis=0).tolist()
    runs: list[Run] = []
    at, serial_ns = 0, 0.0
    for submission in shape:
        for phase, count in submission:
            gap_ns, idle_ns, *jobs = times[at : at + 2 + count]
            runs.append(Run(phase, tuple(jobs), serial_ns + gap_ns, idle_ns))
            at += 2 + count
            serial_ns = 0.0
        serial_ns += times[at]
        at += 1
    work_ns: dict[str, float] = collections.defaultdict(float)
    for run in runs:
        work_ns[run.phase] += sum(run.jobs_ns)
    shared = [
        dataclasses.replace(run, moved_B=moved_B.get(run.phase, 0.0) * sum(run.jobs_ns) / max(work_ns[run.phase], 1.0))
        for run in runs
    ]
    return RecordedFrame(tuple(shared), serial_ns, times[at])


def _arrays(value: Any, kind: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Arrays that a frame names, each once: which phase reads them, and bytes."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield kind, value.nbytes
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _arrays(one, kind, seen)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _arrays(one, kind, seen)
    elif dataclasses.is_dataclass(value):
        kind = "tiles" if isinstance(value, Texture) else kind
        for item in dataclasses.fields(value):
            yield from _arrays(getattr(value, item.name), kind, seen)


def moved_bytes(frame: Any, stats: Any) -> dict[str, float]:
    """Bytes by phase: images loaded and stored by tiles, from the ledger, and what commands moved; binned geometry, written once and read
    once; the frame's own arrays and textures, read once. Not what shaders read and write in buffers, nor texels that are read again."""
    stats = stats if isinstance(stats, tg.FrameStats) else tg.FrameStats("frame", [stats])
    geometry_B = float(stats.tiler_heap_B)
    moved = {"geometry": geometry_B, "tiles": geometry_B + stats.moved_B, "transfer": float(stats.commands_B)}
    if isinstance(frame, Frame):
        for kind, size_B in _arrays(frame, "geometry", set()):
            moved[kind] += size_B
    return moved


class Recorder:
    """A scene's frame on a device with so many threads."""

    def __init__(self, frame: Any, threads: int) -> None:
        self.frame = frame
        self._device = tg.Device(threads=threads)
        self._renderer = SceneRenderer(self._device)
        for _ in range(3):
            stats = self._renderer.render(frame, read=False).stats
            self._device.wait_compiles()
        self.moved_B = moved_bytes(frame, stats)

    def record(self, frames: int) -> list[Measured]:
        """So many frames, recorded; one before them is thrown away."""
        out: list[Measured] = []
        last_ns = 0
        self._device.core.record_jobs(True)
        try:
            for number in range(frames + 1):
                start = time.perf_counter_ns()
                self._renderer.render(self.frame, read=False)
                wall_ns = time.perf_counter_ns() - start
                submissions: tuple[Submission, ...] = tuple(self._device.core.take_job_records())
                if number:
                    out.append(Measured(submissions, wall_ns, last_ns))
                last_ns = max((run[2] for s in submissions for run in s[2]), default=start)
        finally:
            self._device.core.record_jobs(False)
        return out

    def times_ns(self, frames: int) -> list[float]:
        """So many frames as they are, without recording; one before them is thrown away."""
        out: list[float] = []
        for _ in range(frames + 1):
            start = time.perf_counter_ns()
            self._renderer.render(self.frame, read=False)
            out.append(time.perf_counter_ns() - start)
        return out[1:]


def empty_run_ns() -> float:
    """Of two threads that are awake; only where two are free. A tenth of the runs are quicker, so that other processes are left out."""
    return statistics.quantiles(tg.Device(threads=2).core.empty_runs_ns(2, 2000), n=10)[0]
