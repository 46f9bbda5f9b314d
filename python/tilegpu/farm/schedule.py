"""Tasks to workers, answers in order. In: tasks, :class:`Workers`. Out: :class:`Done`, one for each task, in the tasks' order.

As many tasks are under way as keep every worker busy, and no answer waits in memory for long: only a few more than that may be ahead of the
first that is missing. Where the way to a worker costs more than a small picture, several short tasks go as one. What fails is sent again,
alone, elsewhere where there is an elsewhere; what was lost with its worker is sent again too.
"""

from __future__ import annotations

import dataclasses
import queue
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass, field
from typing import Any

from tilegpu.errors import users_level
from tilegpu.farm.answers import name_of, problem_of
from tilegpu.farm.executors import Workers
from tilegpu.farm.job import FarmError
from tilegpu.farm.worker import Done, Task, draw, in_turn

#: How far answers may be ahead of the first that is missing, in tasks that workers hold.
_AHEAD = 2
#: Work that goes to a far worker at once, in tasks that are shorter: ten times what the way costs; and the most tasks of it, since their
#: answers come at once too.
_BUNDLE_MS, _BUNDLE = 40.0, 16
#: How often a task is drawn that fails; how often it may be lost with its worker, which says little about it.
TRIES, LOSSES = 3, 10
#: How often workers that failed may decline before one of them must.
_DECLINES = 8
#: How often somebody who waits for an answer looks whether there is still an executor.
_LOOK_S = 1.0
#: After how long without any answer that is said, once; a picture of a minute is rare, and an executor that never answers looks alike.
_SILENT_S = 60.0
#: Which tasks, the executor's generation, their future.
_Answer = tuple[range, int, Future[Any]]


@dataclass(frozen=True)
class Failure:
    """A task that failed, or was lost, on a worker, and was sent again."""

    index: int
    worker: str  #: ``"a worker that ended"`` where nobody knows which
    error: str


@dataclass
class _State:
    task: Task
    failed: int = 0
    lost: int = 0
    declined: int = 0


@dataclass
class Scheduler:
    """``pack``: called once a worker misses shaders; gives the bytes of their files. ``failures``: what was sent again."""

    workers: Workers
    pack: Callable[[], dict[str, bytes]]
    function: Callable[[Task], Done] = draw
    failures: list[Failure] = field(default_factory=list)
    packs_sent: int = 0
    _work_ms: float = 0.0  # of a task, as the last ones say
    _told_silence: bool = False

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Raises :class:`FarmError` where a task failed everywhere."""
        states = [_State(task) for task in tasks]
        answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        waiting: dict[int, Done] = {}
        under_way: dict[Future[Any], int] = {}  # how many tasks each holds
        sent = given = 0

        def send(some: range) -> None:
            several = [states[k].task for k in some]
            if len(several) == 1:
                future, generation = self.workers.submit(self.function, several[0])
            else:
                future, generation = self.workers.submit(in_turn, self.function, several)
            under_way[future] = len(several)

            def answered(done: Future[Any]) -> None:
                answers.put((some, generation, done))

            future.add_done_callback(answered)

        try:
            while given < len(tasks):
                size = self._bundle()
                held = max(self.workers.held, 2 * size) * self.workers.capacity()
                while sent < len(tasks) and sum(under_way.values()) < held and sent < given + _AHEAD * held:
                    some = range(sent, min(sent + size, len(tasks)))
                    send(some)
                    sent = some.stop
                some, generation, future = self._next(answers)
                del under_way[future]
                for k, done in zip(some, self._answers(some, states, generation, future), strict=True):
                    if done is None:
                        send(range(k, k + 1))
                    else:
                        waiting[k] = done
                while given in waiting:
                    yield waiting.pop(given)
                    given += 1
        finally:
            if under_way:
                self.workers.drop(under_way)

    def _next(self, answers: queue.SimpleQueue[_Answer]) -> _Answer:
        """The next that comes. Raises :class:`ExecutorGone` where none will; warns where none has come for long."""
        began_s = time.monotonic()
        while True:
            try:
                return answers.get(timeout=_LOOK_S)
            except queue.Empty:
                self.workers.look_at_processes()
                self.workers.require_there()
            waited_s = time.monotonic() - began_s
            if waited_s >= _SILENT_S and not self._told_silence:
                self._told_silence = True
                text = (
                    f"no answer from the executor {self.workers.name} for {waited_s:.0f} s: either a picture takes that long, or nobody "
                    "draws; frames that are done are kept (Ctrl-C ends the run, and the same command resumes it)"
                )
                warnings.warn(text, stacklevel=users_level())

    def _bundle(self) -> int:
        """How many tasks go as one: to far workers as many as are :data:`_BUNDLE_MS` of work, by those that came back."""
        if not self.workers.is_far or not self._work_ms:
            return 1
        return max(1, min(_BUNDLE, int(_BUNDLE_MS / max(self._work_ms, 1e-3))))

    def _answers(self, some: range, states: Sequence[_State], generation: int, future: Future[Any]) -> list[Done | None]:
        """One for each task of ``some``; ``None``: it goes out again."""

        try:  # not result(), which would raise a task's KeyboardInterrupt as if it were ours
            error = future.exception()
        except CancelledError as cancelled:
            error = cancelled
        if isinstance(error, BrokenExecutor):
            self.workers.renew(generation)
        if error is not None:  # of the executor: a worker that ended, a connection; all that it held are lost
            self.workers.require_there()
            for k in some:
                self._lost(states[k], error)
            return [None for _ in some]
        answer = future.result()
        if len(some) == 1:
            return [self._take(states[some.start], answer, True)]
        if not isinstance(answer, list) or len(answer) != len(some):
            answer = [answer for _ in some]  # which is no answer to any of them
        return [self._take(states[k], one, k == some.start) for k, one in zip(some, answer, strict=True)]

    def _take(self, state: _State, answer: Any, is_first: bool) -> Done | None:
        """The answer, or ``None``: the task goes out again. ``is_first``: no other stood before it, for which it may have been left."""
        task = state.task
        if problem := problem_of(task, answer, is_first):
            worker = name_of(answer)
            self._failed(state, worker, f"{problem} (through the executor {self.workers.name})" if worker else problem)
            return None
        done: Done = answer
        if done.state == "left":
            return None
        if done.state == "shaders":
            self.packs_sent += 1
            state.task = dataclasses.replace(task, pack=self.pack())
            return None
        if done.state == "declined":
            state.declined += 1
            if state.declined >= _DECLINES:  # there is nobody else
                state.task = dataclasses.replace(task, avoid=())
            return None
        if done.state == "failed":
            self._failed(state, done.worker, done.error)
            return None
        took_ms = done.render_ms + done.save_ms
        self._work_ms = took_ms if not self._work_ms else 0.75 * self._work_ms + 0.25 * took_ms
        return done

    def _failed(self, state: _State, worker: str, error: str) -> None:
        """Goes out again, elsewhere if there is an elsewhere. ``worker``: "" where the answer has no name."""
        task = state.task
        state.failed += 1
        self.failures.append(Failure(task.index, worker or f"the executor {self.workers.name}", error))
        if state.failed >= TRIES:
            where = ", ".join(dict.fromkeys(f.worker for f in self.failures if f.index == task.index))
            raise FarmError(f"frame {task.index} failed {state.failed} times, on {where}: {error}")
        state.task, state.declined = dataclasses.replace(task, avoid=(*task.avoid, worker) if worker else task.avoid), 0

    def _lost(self, state: _State, error: BaseException) -> None:
        state.lost += 1
        said = f"{type(error).__name__}: {error}"
        self.failures.append(Failure(state.task.index, "a worker that ended", " ".join(said.split())[:300]))
        if state.lost >= LOSSES:
            raise FarmError(f"frame {state.task.index} was lost with its worker {state.lost} times: {self.failures[-1].error}")
