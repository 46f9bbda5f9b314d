"""A model of the thread pool with as many threads as asked, from lengths of jobs: list scheduling, with what passing cache lines costs.

The pool as it is (``cpp/src/exec/thread_pool.cpp``): each worker has its own run of job numbers and takes them in order; who has done its
own takes the last one of whoever has most left, the first of these by number; the caller is worker 0, and a run ends when all are done.
Costs are counted in transfers of a cache line from core to core (:class:`Costs`). In: recorded frames, a number of threads. Out: the time
of a frame, and what of it is lost to what. Pure functions; nothing is measured here.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: Why a frame takes longer than its work by the number of threads, as it is said.
LOSSES = (
    "serial part",
    "more work",
    "too few jobs",
    "longest job",
    "uneven ends",
    "barriers and steals",
    "memory bandwidth",
)


@dataclass(frozen=True)
class Costs:
    """What the model states. ``line_ns``: a cache line comes from another core. ``parallel_lines``: as many of them at once where nothing
    waits for each. ``sleep_after_ns``, ``wake_ns``, ``wake_each_ns``: workers that had nothing to do for so long sleep; the first is awake
    so much later, and the caller needs so much for each. ``spin_ns``: so long the caller waits before it sleeps too.
    ``shared_operations``: atomic operations of a job, by phase, each on a line that another core has. ``socket_GBps``: memory's, in bytes
    a nanosecond; what one core may have of it is in the lengths of its jobs."""

    line_ns: float = 130.0
    parallel_lines: int = 8
    sleep_after_ns: float = 250_000.0
    wake_ns: float = 50_000.0
    wake_each_ns: float = 1_000.0
    spin_ns: float = 80_000.0
    socket_GBps: float = 200.0
    socket_cores: int = 64
    shared_operations: Mapping[str, float] = field(default_factory=dict)

    def lines_ns(self, lines: float) -> float:
        """So many lines that do not wait for one another."""
        return self.line_ns * lines / self.parallel_lines

    def bandwidth(self, threads: int) -> float:
        """Bytes a nanosecond of so many threads, socket by socket."""
        return -(-threads // self.socket_cores) * self.socket_GBps


#: Nothing but jobs takes time.
FREE = Costs(line_ns=0, wake_ns=0, wake_each_ns=0, socket_GBps=1e12)


@dataclass(frozen=True)
class Run:
    """Jobs that are shared: one call of the pool. ``gap_ns``: since the run before, or the submission's start, on one thread; ``idle_ns``:
    since the pool's last run ended, whoever worked meanwhile. ``moved_B``: bytes of memory that the jobs read and write."""

    phase: str
    jobs_ns: tuple[float, ...]
    gap_ns: float = 0.0
    idle_ns: float = 0.0
    moved_B: float = 0.0


@dataclass(frozen=True)
class RecordedFrame:
    """A frame as one thread did it, its jobs cut for a number of threads. ``tail_ns``: serial, behind the last run. ``outside_ns``: apart
    from the core: recording, and what Python does between submissions."""

    runs: tuple[Run, ...]
    tail_ns: float = 0.0
    outside_ns: float = 0.0

    @property
    def serial_ns(self) -> float:
        """What one thread does alone."""
        return sum(run.gap_ns for run in self.runs) + self.tail_ns

    @property
    def work_ns(self) -> float:
        """All jobs."""
        return sum(sum(run.jobs_ns) for run in self.runs)


@dataclass(frozen=True)
class SimulatedRun:
    """``ns``: from its call to its end. ``steals``: jobs that others took than whose they were."""

    ns: float
    steals: int
    done_ns: tuple[float, ...]


def _start_ns(worker: int, workers: int, costs: Costs, asleep: bool) -> float:
    """When a worker takes its first job: the caller publishes the lines of all, and wakes who sleeps; who is awake reads two lines, one
    after the other."""
    published = costs.lines_ns(workers)
    if asleep:
        published += costs.wake_each_ns * (workers - 1)
    if worker == 0:
        return published
    if asleep:
        return costs.lines_ns(workers) + costs.wake_each_ns * worker + costs.wake_ns + 2 * costs.line_ns
    return published + costs.line_ns * worker + 2 * costs.line_ns  # all want the generation's line, one after the other


def simulate_run(jobs_ns: Sequence[float], workers: int, costs: Costs = FREE, asleep: bool = False) -> SimulatedRun:
    """One call of the pool. One job, or one worker, is the caller's alone."""
    count = len(jobs_ns)
    if workers == 1 or count <= 1:
        return SimulatedRun(float(sum(jobs_ns)), 0, (float(sum(jobs_ns)),))
    first = [count * w // workers for w in range(workers)]
    end = [count * (w + 1) // workers for w in range(workers)]
    free = [(_start_ns(w, workers, costs, asleep), w) for w in range(workers)]
    heapq.heapify(free)
    stolen_from = [False] * workers
    done_ns = [0.0] * workers
    steals, left = 0, count
    scan_ns = costs.lines_ns(workers)
    while free:
        now, w = heapq.heappop(free)
        if first[w] < end[w]:
            job = first[w]
            first[w] += 1
            if stolen_from[w]:
                now, stolen_from[w] = now + costs.line_ns, False
        elif left:
            victim = max(range(workers), key=lambda v: (end[v] - first[v], -v))
            end[victim] -= 1
            job = end[victim]
            now += scan_ns + costs.line_ns
            stolen_from[victim] = True
            steals += 1
        else:
            done_ns[w] = now + scan_ns
            continue
        left -= 1
        heapq.heappush(free, (now + jobs_ns[job], w))
    last = 0.0  # each counts itself out on one line, which goes from core to core
    for at in sorted(done_ns[1:]):
        last = max(last, at) + costs.line_ns
    ended = last + costs.line_ns if last > done_ns[0] else done_ns[0]
    if ended - done_ns[0] > costs.spin_ns:
        ended += costs.wake_ns
    return SimulatedRun(ended, steals, tuple(done_ns))


@dataclass(frozen=True)
class Simulated:
    """A frame on so many threads. ``losses``: nanoseconds beyond its work by the number of threads, by :data:`LOSSES`; with ``ideal_ns``
    they are ``ns``. ``phases``: of each phase's runs."""

    threads: int
    ns: float
    ideal_ns: float
    losses: Mapping[str, float]
    phases: Mapping[str, float]
    steals: int

    @property
    def why(self) -> str:
        """Of the losses, the largest."""
        return max(LOSSES, key=lambda name: self.losses[name])


def simulate(frame: RecordedFrame, one: RecordedFrame, threads: int, costs: Costs) -> Simulated:
    """A frame whose jobs are cut for so many threads; ``one``: the same cut for one, which is what it is compared with."""
    losses = dict.fromkeys(LOSSES, 0.0)
    phases: dict[str, float] = {}
    ideal_ns = (one.work_ns + one.serial_ns) / threads
    losses["serial part"] = frame.serial_ns - one.serial_ns / threads
    losses["more work"] = (frame.work_ns - one.work_ns) / threads
    total, steals = frame.serial_ns, 0
    for run in frame.runs:
        work, longest = sum(run.jobs_ns), max(run.jobs_ns, default=0.0)
        shared = costs.shared_operations.get(run.phase, 0.0) * costs.line_ns if threads > 1 else 0.0
        free = simulate_run(run.jobs_ns, threads)
        paid = simulate_run([ns + shared for ns in run.jobs_ns], threads, costs, run.idle_ns > costs.sleep_after_ns)
        took = max(paid.ns, run.moved_B / costs.bandwidth(threads))
        bound = max(work / threads, longest)
        losses["too few jobs" if len(run.jobs_ns) < threads else "longest job"] += bound - work / threads
        losses["uneven ends"] += free.ns - bound
        losses["barriers and steals"] += paid.ns - free.ns
        losses["memory bandwidth"] += took - paid.ns
        phases[run.phase] = phases.get(run.phase, 0.0) + took
        total += took
        steals += paid.steals
    return Simulated(threads, total, ideal_ns, losses, phases, steals)
