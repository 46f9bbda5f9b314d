"""Several runs at once on one manifest: one writes it, the others are told who does, before they draw. And manifests, modules and folders
that others made: errors in bounded time that name them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tilegpu import farm
from tilegpu.farm.resume import only_run

JOB = farm.Job("cube", size=(64, 48), of=6)
#: Takes the manifest to itself, says so, and waits.
HOLDER = """
import sys, time
from pathlib import Path
from typing import Any
from tilegpu.farm.resume import only_run
with only_run(Path(sys.argv[1])):
    print("there", flush=True)
    time.sleep(60)
"""


def test_parts_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    """By threads of this process: whoever comes second is told so, and draws its part later; nothing is lost."""
    begun, goes_on = threading.Event(), threading.Event()

    def progress(items: object, total: int, label: str) -> object:
        begun.set()
        assert goes_on.wait(60)
        yield from items  # type: ignore[attr-defined]

    first = threading.Thread(target=lambda: farm.render(JOB, tmp_path / "t.png", range(3), executor="threads", progress=progress))  # type: ignore[arg-type]
    first.start()
    assert begun.wait(60)
    try:
        with pytest.raises(farm.FarmError, match=r"t\.manifest\.json is being written by another run of this process; wait until it has"):
            farm.render(JOB, tmp_path / "t.png", range(3, 6), executor="threads")
        assert farm.render(JOB, tmp_path / "u.png", [0], executor="threads").frames == [0]  # another manifest of the same folder
    finally:
        goes_on.set()
        first.join()
    assert farm.render(JOB, tmp_path / "t.png", range(3, 6), executor="threads").frames == [3, 4, 5]
    assert farm.verify(tmp_path / "t.manifest.json").same
    assert not list(tmp_path.glob("*.lock"))


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_another_process_is_named_and_locks_nobody_out_once_it_ended(tmp_path: Path, end: signal.Signals) -> None:
    manifest = tmp_path / "t.manifest.json"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(manifest)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "there\n"
        with pytest.raises(farm.FarmError, match=rf"is being written by process {holder.pid} of "):
            farm.render(JOB, tmp_path / "t.png", executor="threads")
        assert not list(tmp_path.glob("*.png"))
        holder.send_signal(end)
    assert len(farm.render(JOB, tmp_path / "t.png", executor="threads").frames) == JOB.of
    assert not list(tmp_path.glob("*.lock"))


def test_a_folder_without_locks(tmp_path: Path) -> None:
    """Where no file can be made the run itself says why it ends; the lock says nothing."""
    with only_run(tmp_path / "missing" / "t.manifest.json"):
        pass


def test_a_lock_that_is_no_file_of_ours(tmp_path: Path) -> None:
    """Somebody else's, a folder, a link: none is passed by in silence."""
    lock = tmp_path / "t.manifest.json.lock"
    for make, end in ((lock.mkdir, lock.rmdir), (lambda: lock.symlink_to("nowhere"), lock.unlink)):
        make()
        with pytest.raises(farm.FarmError, match=r"t\.manifest\.json\.lock can't be opened \(.*\); another user's run .*or remove it"):
            farm.render(JOB, tmp_path / "t.png", executor="threads")
        end()
    assert len(farm.render(JOB, tmp_path / "t.png", executor="threads").frames) == JOB.of


def test_a_manifest_of_a_billion_frames(tmp_path: Path) -> None:
    run = farm.render(JOB, tmp_path / "t.png", executor="threads")
    assert run.manifest is not None
    said = json.loads(run.manifest.read_text())
    said["job"]["of"] = 10**9
    run.manifest.write_text(json.dumps(said))
    with pytest.raises(farm.FarmError, match=r"of is 1000000000; it must be the number of frames of the whole, from 1 to 1,000,000"):
        farm.verify(run.manifest)
    with pytest.raises(farm.FarmError, match="from 1 to 1,000,000"):
        farm.Job("cube", of=1_000_001)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def make(a): pass", r"make\(\) raised TypeError: .*; it is called without arguments"),
        ("make = 3", "make is 3; it must be a function that returns an executor"),
        ("def make(): raise ValueError('no machines\\n today')", r"make\(\) raised ValueError: no machines today"),
        ("def make(:", r"module their_machines raised SyntaxError: "),
        ("raise OSError('no licence')", r"module their_machines raised OSError: no licence"),
    ],
)
def test_an_executor_of_a_module_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    (tmp_path / "their_machines.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "their_machines", raising=False)
    with pytest.raises(farm.FarmError, match=rf"^executor is 'their_machines:make': {said}"):
        farm.render(JOB, tmp_path / "t.png", executor="their_machines:make")
    monkeypatch.delitem(sys.modules, "their_machines", raising=False)
    assert not list(tmp_path.glob("t.*"))


def test_a_file_where_tiles_would_lie(tmp_path: Path) -> None:
    (tmp_path / "t.tiles").touch()
    with pytest.raises(farm.FarmError, match=r"t\.tiles is a file; tiles are kept in a folder of this name .*move it away"):
        farm.render(farm.Job("cube", size=(130, 70), tile=64), tmp_path / "t.png", executor="threads")


def test_an_executor_that_never_answers_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, with what to do; the run goes on, as a picture may take that long."""

    class Late(ThreadPoolExecutor):
        """Begins only once the warning has come."""

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            return super().submit(lambda: told.wait(60) and fn(*args, **kwargs))

    told = threading.Event()
    monkeypatch.setattr("tilegpu.farm.schedule._SILENT_S", 1.5)
    said: list[str] = []

    def show(message: Warning | str, *_: object) -> None:
        said.append(str(message))
        told.set()

    with warnings.catch_warnings(), Late(2) as executor:
        warnings.simplefilter("always")
        warnings.showwarning = show  # type: ignore[assignment]
        assert farm.render(JOB, tmp_path / "t.png", executor=executor).frames == list(range(6))
    (text,) = said
    assert text.startswith("no answer from the executor Late for 2 s: ") and "Ctrl-C ends the run, and the same command resumes it" in text


#: A scene that is killed once, in a worker, with half of an answer in the pipe and that pipe's lock in its hand.
HALF = """
import os, signal, sys
from pathlib import Path
from tilegpu.scene import Draw, Frame, Program
VERT = "#version 450\\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }"
FRAG = "#version 450\\nlayout(location = 0) out vec4 c;\\nvoid main() { c = gl_FragCoord / 99; }"
PROGRAM = Program(VERT, FRAG)

def frame(size, t):
    mark = Path(__file__).with_name("was_killed")
    at = sys._getframe()
    while at and "result_queue" not in at.f_locals:
        at = at.f_back
    if at and t > 0 and not mark.exists():
        mark.touch()
        answers = at.f_locals["result_queue"]
        answers._wlock.acquire()
        os.write(answers._writer.fileno(), b"\\0\\0\\1\\0half")
        os.kill(os.getpid(), signal.SIGKILL)
    return Frame(size, depth_format=None, draws=(Draw(PROGRAM, count=3),))
"""
#: Renders by it; or is interrupted once the worker has been killed.
RENDERS = """
import os, signal, sys, threading, time
from pathlib import Path
from tilegpu import farm
if __name__ == "__main__":
    if sys.argv[1] == "interrupt":
        def interrupt():
            while not Path("was_killed").exists():
                time.sleep(0.02)
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
    run = farm.render(farm.Job("own.py", size=(64, 48), of=12), "t.png", executor="processes", workers=2)
    print(run.frames, len(run.failures) > 0)
"""


@pytest.mark.parametrize("what", ["goes on", "interrupt"])
def test_a_process_killed_within_its_answer(tmp_path: Path, what: str) -> None:
    """The pool reads on for ever, holding the other end of the pipe itself; and so did the process at its end."""
    (tmp_path / "own.py").write_text(HALF)
    (tmp_path / "renders.py").write_text(RENDERS)
    done = subprocess.run([sys.executable, "renders.py", what], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert (tmp_path / "was_killed").exists(), done.stderr
    if what == "interrupt" and done.returncode != 0:  # else it was done before: a busy machine's thread may come late
        assert "KeyboardInterrupt" in done.stderr, done.stderr[-3000:]
        return
    assert done.returncode == 0 and f"{list(range(12))} True" in done.stdout, done.stderr[-3000:]
    assert farm.verify(tmp_path / "t.manifest.json", scene=tmp_path / "own.py").same
