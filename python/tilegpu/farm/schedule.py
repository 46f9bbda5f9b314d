"""Tasks to workers, answers in order. In: tasks, :class:`Workers`. Out: :class:`Done`, one for each task, in the tasks' order.

As many tasks are under way as keep every worker busy, and no answer waits in memory for long: only a few more than that may be ahead of the
first that is missing. What fails is sent again, elsewhere where there is an elsewhere; what was lost with its worker is sent again too.
"""

from __future__ import annotations

import dataclasses
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass, field
from typing import Any

from tilegpu.farm.executors import Workers
from tilegpu.farm.job import FarmError
from tilegpu.farm.worker import Done, Task, draw

#: How far answers may be ahead of the first that is missing, in tasks that workers hold.
_AHEAD = 2
#: How often a task is drawn that fails; how often it may be lost with its worker, which says little about it.
TRIES, LOSSES = 3, 10
#: How often workers that failed may decline before one of them must.
_DECLINES = 8


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

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Raises :class:`FarmError` where a task failed everywhere."""
        states = [_State(task) for task in tasks]
        answers: queue.SimpleQueue[tuple[int, int, Future[Any]]] = queue.SimpleQueue()
        waiting: dict[int, Done] = {}
        futures: set[Future[Any]] = set()
        sent = given = 0

        def send(k: int) -> None:
            future, generation = self.workers.submit(self.function, states[k].task)
            futures.add(future)

            def answered(done: Future[Any]) -> None:
                answers.put((k, generation, done))

            future.add_done_callback(answered)

        try:
            while given < len(tasks):
                held = self.workers.held * self.workers.capacity()
                while sent < len(tasks) and len(futures) < held and sent < given + _AHEAD * held:
                    send(sent)
                    sent += 1
                k, generation, future = answers.get()
                futures.discard(future)
                done = self._take(states[k], generation, future)
                if done is None:
                    send(k)
                else:
                    waiting[k] = done
                while given in waiting:
                    yield waiting.pop(given)
                    given += 1
        finally:
            for future in futures:
                future.cancel()

    def _take(self, state: _State, generation: int, future: Future[Any]) -> Done | None:
        """The answer, or ``None``: the task goes out again."""
        task = state.task
        try:
            done: Done = future.result()
        except BrokenExecutor as error:
            self.workers.renew(generation)
            self._lost(state, error)
            return None
        except (Exception, CancelledError) as error:  # of the executor: a worker that ended, a connection
            self._lost(state, error)
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
            state.failed += 1
            self.failures.append(Failure(task.index, done.worker, done.error))
            if state.failed >= TRIES:
                where = ", ".join(dict.fromkeys(f.worker for f in self.failures if f.index == task.index))
                raise FarmError(f"frame {task.index} failed {state.failed} times, on {where}: {done.error}")
            state.task, state.declined = dataclasses.replace(task, avoid=(*task.avoid, done.worker)), 0
            return None
        return done

    def _lost(self, state: _State, error: BaseException) -> None:
        state.lost += 1
        said = f"{type(error).__name__}: {error}"
        self.failures.append(Failure(state.task.index, "a worker that ended", " ".join(said.split())[:300]))
        if state.lost >= LOSSES:
            raise FarmError(f"frame {state.task.index} was lost with its worker {state.lost} times: {self.failures[-1].error}")
