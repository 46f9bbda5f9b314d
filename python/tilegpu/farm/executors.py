"""Who draws: executors by name, and any that somebody has. In: a name, an executor, a Dask client. Out: :class:`Workers`.

An executor is what :mod:`concurrent.futures` calls one: its ``submit`` returns futures. Functions and tasks are pickled on their way to
it, as the executor does it; what comes back is :class:`tilegpu.farm.worker.Done`, plain data, unpickled by the executor as well: workers
are as trusted as the machine itself.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any

from tilegpu.arguments import shown
from tilegpu.errors import needs_packages
from tilegpu.farm.job import FarmError

#: What an executor may be called, for messages.
CHOICES = "threads, processes, dask://ADDRESS or MODULE:FUNCTION (a function that returns an executor)"
#: How long the number of a cluster's workers is believed.
_COUNTED_S = 1.0
#: Tasks that a worker of a cluster holds: an answer and the next task go through a scheduler (measured: 2 cost 6 ms a frame, 8 cost 2.4).
_HELD_FAR = 8
#: How many looks, a second apart, find an ended process before its pool is broken.
_LOOKS = 3
#: How long a scheduler may take to answer.
_CONNECT_S = 10.0


class ExecutorGone(FarmError):
    """An executor that takes no more tasks: its scheduler or client ended, or it was shut down."""


class Workers:
    """An executor, how many tasks it does at a time, and how another one is made where it broke. ``made``: it is closed by
    :meth:`close`."""

    def __init__(
        self, name: str, make: Callable[[], Any], count: Callable[[Any], int], made: bool, held: int = 2,
        why_gone: Callable[[], str] = lambda: "", is_pool: bool = False,
    ) -> None:  # fmt: skip
        self.name, self._make, self._count, self._made, self._why_gone = name, make, count, made, why_gone
        self._is_pool = is_pool  # of the standard library's, made here
        self.held = held  #: tasks for each: one that it does, and those that wait there, so that no answer's way leaves it idle
        self.is_far = held >= _HELD_FAR  #: whether tasks go through a scheduler, whose way costs more than a small picture
        self._executor = make()
        self._counted: tuple[float, int] = (-1e9, 1)
        self._generation = 0
        self._looks = 0  # that found an ended process in a pool that knows nothing of it
        self.renewed = 0  #: how often the executor broke

    def submit(self, function: Callable[..., Any], *arguments: Any) -> tuple[Future[Any], int]:
        """The future, and the executor's generation: of an executor that broke, all futures fail. Raises :class:`ExecutorGone`."""
        try:
            try:
                future = self._executor.submit(function, *arguments)
            except BrokenExecutor:
                self.renew(self._generation)
                future = self._executor.submit(function, *arguments)
        except FarmError:
            raise
        except RuntimeError as error:  # it was shut down, or the interpreter is
            fix = "give one that is open, and close it afterwards"
            raise ExecutorGone(f"the executor {self.name} takes no tasks: {error}; {fix}") from None
        except Exception as error:
            raise self._gone(error) from error
        if not callable(getattr(future, "add_done_callback", None)):
            raise FarmError(f"the executor {self.name} is none: submit() returned {shown(future)}; it must return a future")
        return future, self._generation

    def _gone(self, error: BaseException) -> ExecutorGone:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return ExecutorGone(f"the executor {self.name} is gone, or out of reach ({said})")

    def require_there(self) -> None:
        """Raises :class:`ExecutorGone` where no answer will come any more."""
        if why := self._why_gone():
            raise ExecutorGone(f"the executor {self.name} is gone, or out of reach ({why})")

    def look_at_processes(self, at_once: bool = False) -> None:
        """Breaks a pool of processes, made here, that waits for the rest of an answer whose sender was killed: half of it lies in the pipe,
        and the pool holds the pipe's other end itself, so that no end comes. ``at_once``: nobody wants its answers any more."""
        processes = dict(getattr(self._executor, "_processes", None) or {}) if self._is_pool else {}
        queue = getattr(self._executor, "_result_queue", None)
        if queue is None or getattr(self._executor, "_broken", True) or not any(map(_has_ended, processes.values())):
            self._looks = 0
            return
        self._looks += 1
        if self._looks < _LOOKS and not at_once:  # the pool sees it by itself, unless it reads
            return
        for process in processes.values():
            with contextlib.suppress(Exception):
                process.kill()
        with contextlib.suppress(Exception):
            queue._writer.close()

    def renew(self, generation: int) -> None:
        """Makes another executor, unless that was done since. Raises :class:`FarmError` for one that was given."""
        if generation != self._generation:
            return
        if not self._made:
            raise FarmError(f"the executor {self.name} broke (a process of it ended), and it was given: make another; what is done stays")
        self._executor.shutdown(wait=False)
        self._executor = self._make()
        self._generation += 1
        self.renewed += 1

    def capacity(self) -> int:
        """Tasks that are done at a time: asked anew each second, since machines come and go."""
        now = time.monotonic()
        if now - self._counted[0] > _COUNTED_S:
            try:
                self._counted = now, max(1, self._count(self._executor))
            except Exception as error:  # of a client whose scheduler ended
                raise self._gone(error) from error
        return self._counted[1]

    def drop(self, futures: Iterable[Future[Any]]) -> None:
        """Nobody waits for these any more. Pools cancel theirs themselves: where a process ends meanwhile (``timeout`` sends SIGTERM to all
        of a group), their thread would find futures that others cancelled, and print an error."""
        if self._is_pool:
            self.look_at_processes(at_once=True)
            self._executor.shutdown(wait=False, cancel_futures=True)
        else:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        """Ends what was made here, and lets go of what was given. What is gone can't be closed, which was told before."""
        if self._made:
            with contextlib.suppress(Exception):
                self._executor.shutdown(wait=False)


def workers_of(executor: Any, count: int | None = None) -> Workers:
    """``executor``: a name (:data:`CHOICES`), an executor, or a Dask client. ``count``: threads or processes of the first two names, by
    default what affinity allows; of others, how many tasks they do at a time where they don't say."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise FarmError(f"workers is {count!r}; it must be a number of at least 1")
    if isinstance(executor, type):
        name = executor.__name__
        raise FarmError(f"executor is the class {name}; it must be {CHOICES}, or an executor that is made: {name}()")
    if isinstance(executor, str):
        return _by_name(executor, count)
    if hasattr(executor, "get_executor"):  # Dask's client
        return _of_client(executor, "of Dask", False)
    if not callable(getattr(executor, "submit", None)):
        raise FarmError(f"executor is {executor!r}; it must be {CHOICES}, an executor (concurrent.futures) or a Dask client")
    client = getattr(executor, "_client", None)
    if hasattr(client, "nthreads"):
        return Workers(type(executor).__name__, lambda: executor, lambda _: _threads_of(client), False, _HELD_FAR)
    return Workers(type(executor).__name__, lambda: executor, lambda one: count or int(getattr(one, "_max_workers", 0) or _cpus()), False)


def _by_name(name: str, count: int | None) -> Workers:
    workers = count or _cpus()
    if name == "threads":
        from concurrent.futures import ThreadPoolExecutor

        return Workers(name, lambda: ThreadPoolExecutor(workers, "tilegpu-farm"), lambda _: workers, True, is_pool=True)
    if name == "processes":
        return Workers(name, lambda: _processes(workers), lambda _: workers, True, is_pool=True)
    if name.startswith("dask://"):
        return _dask(name)
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise FarmError(f"executor is '{name}'; it must be {CHOICES}")
    return _by_function(name, module, function, count)


def _processes(workers: int) -> Any:
    """Workers are forked from a server that has tilegpu loaded and no threads: quickly made, also when one was killed."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tilegpu.farm"])
    return ProcessPoolExecutor(workers, context, _begin_worker)


def _has_ended(process: Any) -> bool:
    from multiprocessing.connection import wait

    with contextlib.suppress(OSError, ValueError):  # it was joined meanwhile
        return bool(wait([process.sentinel], 0))
    return False


def _begin_worker() -> None:
    """A process of ours leaves Ctrl-C to the coordinator, and ends when that is gone, however it went: nobody else would end it."""
    import multiprocessing

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    coordinator = multiprocessing.parent_process()
    assert coordinator is not None

    def end_with_it() -> None:
        coordinator.join()
        os._exit(1)  # whatever it draws: nobody takes the answer

    threading.Thread(target=end_with_it, name="tilegpu-farm-end", daemon=True).start()


def _dask(name: str) -> Workers:
    try:
        import distributed
    except ImportError:
        raise FarmError(needs_packages(name, "distributed", extra="farm")) from None
    address = name[len("dask://") :]
    if not address:
        raise FarmError(f"executor is '{name}'; it must be dask://ADDRESS, such as dask://127.0.0.1:8786")
    logging.getLogger("distributed.batched").setLevel(logging.WARNING)  # its traceback of a connection that ended, which we tell in words
    try:
        client = distributed.Client(address if "://" in address else f"tcp://{address}", timeout=_CONNECT_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise FarmError(f"there is no Dask scheduler at {address}: {error}") from None
    return _of_client(client, name, True)


def _of_client(client: Any, name: str, made: bool) -> Workers:
    class _Client(Workers):
        def close(self) -> None:
            super().close()
            if made:
                with contextlib.suppress(Exception):
                    client.close()

    def why_gone() -> str:
        return f"its client is {client.status}" if getattr(client, "status", "") in ("closed", "closing") else ""

    return _Client(name, lambda: client.get_executor(pure=False), lambda _: _threads_of(client), made, _HELD_FAR, why_gone)


def _threads_of(client: Any) -> int:
    """All threads of a cluster's workers; 1 while there are none, so that something waits for them."""
    return max(1, sum(client.nthreads().values()))


def _by_function(name: str, module: str, function: str, count: int | None) -> Workers:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        make = getattr(importlib.import_module(module), function)
    except ImportError as error:
        raise FarmError(f"executor is '{name}': {error}") from None
    except AttributeError:
        raise FarmError(f"executor is '{name}': module {module} has no {function}") from None
    except Exception as error:  # a user's module runs as it is imported
        raise FarmError(f"executor is '{name}': {_raised(f'module {module}', error)}") from error
    if not callable(make):
        raise FarmError(f"executor is '{name}': {function} is {shown(make)}; it must be a function that returns an executor")

    def made_anew() -> Any:
        try:
            return make()
        except FarmError:
            raise
        except Exception as error:
            fix = "; it is called without arguments" if isinstance(error, TypeError) else ""
            raise FarmError(f"executor is '{name}': {_raised(f'{function}()', error)}{fix}") from error

    made = made_anew()
    if hasattr(made, "get_executor"):
        return _of_client(made, name, True)
    if not callable(getattr(made, "submit", None)):
        raise FarmError(f"executor is '{name}': {function}() returned {made!r:.200}; it must return an executor")
    first = [made]
    return Workers(
        name, lambda: first.pop() if first else made_anew(), lambda one: count or int(getattr(one, "_max_workers", 0) or _cpus()), True
    )


def _raised(what: str, error: Exception) -> str:
    """One line of somebody else's error."""
    return f"{what} raised {type(error).__name__}: " + " ".join(str(error).split())[:300]


def _cpus() -> int:
    return len(os.sched_getaffinity(0))
