"""Coordinators and schedulers that end in the middle: nobody is left behind, and what is done is kept and said."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from tilegpu.cli import main
from tilegpu.cli.signals import as_interrupts
from tilegpu.farm import FarmError, Job, Scheduler, Task, render
from tilegpu.farm.executors import Workers

SLOW = """
import os, time as clock
import numpy as np
from pathlib import Path

def draw(time):
    Path(f"worker_{os.getpid()}").touch()
    clock.sleep(%s)
    return np.zeros((8, 8, 3), np.uint8)
"""


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition: Any, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


@contextlib.contextmanager
def coordinator(folder: Path, sleep: str, *words: str, before: str = "") -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """``tilegpu render`` with two processes, once both draw; with the processes of its workers and of their server."""
    (folder / "own.py").write_text(SLOW % sleep)
    code = f"import sys, signal\n{before}\nfrom tilegpu.cli import main\nsys.exit(main(sys.argv[1:]))"
    every = ["render", "own.py:draw", "-o", "t.png", "--frames", "600", "--executor", "processes", "--workers", "2", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([sys.executable, "-c", code, *every], cwd=folder, start_new_session=True, **pipes) as process:
        workers: list[int] = []
        try:
            assert until(lambda: len(list(folder.glob("worker_*"))) >= 3, 60)  # the coordinator draws one
            others = [int(path.name.partition("_")[2]) for path in folder.glob("worker_*")]
            workers = [pid for pid in others if pid != process.pid]
            servers = [int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in workers]
            yield process, [*workers, *dict.fromkeys(servers)]
        finally:
            process.kill()
            for pid in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_end_it_as_ctrl_c_does(tmp_path: Path, number: signal.Signals, code: int) -> None:
    default = "signal.signal(signal.SIGINT, signal.default_int_handler)\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)"
    with coordinator(tmp_path, "0.05", before=default) as (process, others):
        assert until(lambda: len(list(tmp_path.glob("t_*.png"))) > 3, 30)
        process.send_signal(number)
        said, _ = process.communicate(timeout=30)  # the pipe's end: nobody holds it any more
        word = "" if number == signal.SIGINT else f" ({number.name})"
        assert said == f"what is done is kept: the same command goes on from there\ntilegpu render: interrupted{word}\n"
        assert process.returncode == code
        assert until(lambda: not any(map(is_there, others)), 10)
    lines = (tmp_path / "t.manifest.json.part").read_text().splitlines()
    assert len(lines) > 3 and all(json.loads(line) for line in lines)


@pytest.mark.parametrize("sleep", ["0.05", "60"])
def test_workers_end_with_a_coordinator_that_was_killed(tmp_path: Path, sleep: str) -> None:
    """However long they would draw."""
    start = f"0 if os.getppid() == {os.getpid()} else {sleep}"  # the coordinator's own picture is quick
    with coordinator(tmp_path, start) as (process, others):
        assert len(others) == 3 and all(map(is_there, others))
        process.kill()
        process.communicate(timeout=30)
        assert until(lambda: not any(map(is_there, others)), 10)


def test_a_signal_to_the_whole_group(tmp_path: Path) -> None:
    """As ``timeout`` sends it, twice to the coordinator: no word but ours."""
    with coordinator(tmp_path, "0.05") as (process, others):
        process.send_signal(signal.SIGTERM)
        os.killpg(process.pid, signal.SIGTERM)
        said, _ = process.communicate(timeout=30)
        assert said == "what is done is kept: the same command goes on from there\ntilegpu render: interrupted (SIGTERM)\n"
        assert process.returncode == 143 and until(lambda: not any(map(is_there, others)), 10)


def test_who_ignores_a_signal_goes_on(tmp_path: Path) -> None:
    """``nohup``."""
    with coordinator(tmp_path, "0.05", before="signal.signal(signal.SIGHUP, signal.SIG_IGN)") as (process, _):
        before = len(list(tmp_path.glob("t_*.png")))
        process.send_signal(signal.SIGHUP)
        assert until(lambda: len(list(tmp_path.glob("t_*.png"))) > before + 5, 30) and process.poll() is None


def test_handlers_of_others_and_threads_are_left_alone() -> None:
    def own(number: int, frame: Any) -> None:
        raise AssertionError

    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, own)
        with as_interrupts():
            assert signal.getsignal(signal.SIGHUP) is own and callable(signal.getsignal(signal.SIGTERM))
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        seen: list[Any] = []

        def inside() -> None:
            with as_interrupts():
                seen.append(signal.getsignal(signal.SIGTERM))

        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
        assert seen == [signal.SIG_DFL]
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def test_every_command_says_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def ends(*_: Any) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        return 0

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        monkeypatch.setattr("tilegpu.cli.scenes.run", ends)
        monkeypatch.setattr("tilegpu.cli.verify.run", ends)
        assert main(["verify", "x.json"]) == 143
        assert capsys.readouterr().err == "tilegpu verify: interrupted (SIGTERM)\n"
        assert main(["scenes"]) == 143
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_dask_scheduler_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="tilegpu[farm]")
    monkeypatch.setattr("tilegpu.farm.executors._CONNECT_S", 2.0)
    where = tmp_path / "scheduler.json"
    start = [sys.executable, "-m", "dask"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(where)]
    scheduler = subprocess.Popen([*start, "scheduler", *arguments], **quiet)
    worker = None
    try:
        assert until(where.exists, 60)
        address = json.loads(where.read_text())["address"].replace("tcp://", "dask://")
        arguments = ["--scheduler-file", str(where), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        worker = subprocess.Popen([*start, "worker", *arguments], **quiet)

        def kill(items: Any, total: int, label: str) -> Any:
            for k, one in enumerate(items):
                if k == 5:
                    scheduler.kill()
                    scheduler.wait()
                yield one

        said = r"the executor dask://.* is gone, or out of reach \(.*\); \d+ of 300 frames are kept, and the same call goes on from there"
        with pytest.raises(FarmError, match=said):
            render(Job("cube", size=(32, 24), of=300), tmp_path / "t.png", executor=address, progress=kill)
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()
    run = render(Job("cube", size=(32, 24), of=300), tmp_path / "t.png", executor="threads")
    assert len(run.kept) >= 5 and len(run.kept) + len(run.frames) == 300


class Mute(Executor):
    """Takes tasks and never answers."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []
        self.ended: list[dict[str, Any]] = []

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        self.futures.append(Future())
        return self.futures[-1]

    def shutdown(self, wait: bool = True, **more: Any) -> None:
        self.ended.append({"wait": wait, **more})


@pytest.mark.parametrize("is_pool", [True, False])
def test_nobody_waits_for_an_executor_that_is_gone(is_pool: bool) -> None:
    """Nor are futures cancelled behind the back of a pool's thread, which would print an error where its processes end too."""
    mute = Mute()
    workers = Workers("mute", lambda: mute, lambda _: 1, True, why_gone=lambda: "its client is closed", is_pool=is_pool)
    with pytest.raises(FarmError, match=r"the executor mute is gone, or out of reach \(its client is closed\)"):
        list(Scheduler(workers, dict).run([Task(Job("cube"), 0, None, "", "0", "")]))
    assert [future.cancelled() for future in mute.futures] == [not is_pool]
    assert mute.ended == ([{"wait": False, "cancel_futures": True}] if is_pool else [])
