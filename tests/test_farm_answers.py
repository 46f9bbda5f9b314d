"""What executors answer, what manifests say and what a run left, looked at before it counts: told by frame and name, never a KeyError."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from tilegpu import farm
from tilegpu.cli import main
from tilegpu.farm import Done, FarmError, Job, draw, read_manifest, render, verify
from tilegpu.farm.answers import problem_of

JOB = Job("cube", size=(32, 24), of=6)


def without(done: Done) -> Any:
    return None


Change = Callable[[Done], Any]


class Wrong(Executor):
    """Draws, and changes what comes of one frame so many times."""

    def __init__(self, change: Change, times: int, index: int = 2, *, last: bool = False) -> None:
        """``last``: only once all frames before it have been answered."""
        self._before = [threading.Event() for _ in range(index if last else 0)]
        self._change, self._times, self._index = change, times, index
        self._max_workers, self._pool = 2, ThreadPoolExecutor(2)
        self._lock = threading.Lock()

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        def work() -> Any:
            done = function(*arguments)
            if arguments[0].index < len(self._before):
                self._before[arguments[0].index].set()
            for event in self._before if arguments[0].index == self._index else ():
                assert event.wait(60)
            with self._lock:
                wrong = arguments[0].index == self._index and self._times > 0 and done.state == "drawn"
                self._times -= wrong
            return self._change(done) if wrong else done

        return self._pool.submit(work)


def changed_to(**fields: Any) -> Change:
    return lambda done: dataclasses.replace(done, **fields)


def small_png() -> bytes:
    import io

    stream = io.BytesIO()
    Pillow.new("RGBA", (8, 8)).save(stream, "png")
    return stream.getvalue()


def with_files(*files: Any) -> Change:
    return lambda done: dataclasses.replace(done, files=files, hashes=tuple(map(farm.hashes.bytes_hash, files)))  # type: ignore[attr-defined]


WRONG: dict[str, tuple[Change, str]] = {
    "none": (without, r"its answer is None; it must be the tilegpu\.farm\.Done"),
    "word": (lambda done: "drawn", "its answer is 'drawn'"),
    "another frame": (changed_to(index=0), "its answer is of frame 0; asked for was frame 2"),
    "a frame of no number": (changed_to(index="2"), "its answer is of frame '2'"),
    "True": (changed_to(index=np.array([2, 2])), "its answer is of frame"),
    "a tile": (changed_to(window=(0, 0, 8, 8)), r"its answer is of frame 2, tile \(0, 0, 8, 8\)"),
    "no worker": (changed_to(worker=None), "worker is None"),
    "a worker of two lines": (changed_to(worker="a\nb"), "worker is"),
    "state": (changed_to(state="done"), "state is 'done'"),
    "error": (changed_to(state="failed", error=None), "error is None"),
    "left": (changed_to(state="left"), "it left a task that stood behind no other"),
    "declined": (changed_to(state="declined", worker="w"), "w declined a task that it had not failed with"),
    "no files": (changed_to(files=(), hashes=()), "its answer has 0 files; the frame has 1"),
    "two files": (lambda d: dataclasses.replace(d, files=d.files * 2, hashes=d.hashes * 2), "its answer has 2 files; the frame has 1"),
    "files that are none": (changed_to(files=None), "files are None"),
    "text": (changed_to(files=("x",)), "files are"),
    "no hashes": (changed_to(hashes=()), "has 1 files and these hashes"),
    "hashes' form": (changed_to(hashes=("x",)), "has 1 files and these hashes"),
    "another hash": (changed_to(hashes=("0" * 64,)), "is not what was sent"),
    "empty file": (with_files(b""), "file 0 of its answer is empty"),
    "no PNG": (with_files(b"hello, this is no picture of any kind"), "file 0 of its answer is no PNG"),
    "small PNG": (with_files(small_png()), "has 8x8 px; it must have 32x24"),
    "size": (changed_to(size_px=(8, 8)), "its picture has 8x8 px; asked for was 32x24"),
    "size's form": (changed_to(size_px=None), "size is None"),
    "pixels": (changed_to(pixels=""), "hash of the pixels is ''"),
    "time": (changed_to(render_ms=float("nan")), "render_ms is nan"),
    "compiled": (changed_to(compiled="3"), "compiled is '3'"),
    "images": (changed_to(images=(np.zeros((4, 4, 4)),)), "has 1 images, and none was asked for"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_a_failure_of_its_frame(tmp_path: Path, name: str) -> None:
    change, said = WRONG[name]
    run = render(JOB, tmp_path / "t.png", executor=Wrong(change, 1))
    assert run.frames == list(range(6)) and [f.index for f in run.failures] == [2]
    assert len(read_manifest(tmp_path / "t.manifest.json").frames) == 6 and verify(tmp_path / "t.manifest.json").same
    with pytest.raises(FarmError, match=rf"frame 2 failed 3 times, on .*{said}.*; 2 of 6 frames are kept") as failed:
        render(JOB, tmp_path / "u.png", executor=Wrong(change, 99, last=True))
    assert "executor Wrong" in str(failed.value)
    assert not (tmp_path / "u.manifest.json").exists(), "no manifest that lacks frames"
    assert render(JOB, tmp_path / "u.png", executor="threads").kept == [0, 1]


def test_wrong_answers_of_other_calls(tmp_path: Path) -> None:
    """Films, arrays, tiles and proofs take answers in the same place."""
    cases = ((without, "its answer is None"), (changed_to(images=(), files=(), hashes=()), "its answer has 0"))
    for change, said in cases:
        with pytest.raises(FarmError, match=said):
            list(farm.pictures(JOB, executor=Wrong(change, 99)))
        with pytest.raises(FarmError, match=said):
            list(farm.pictures(JOB, executor=Wrong(change, 99), eight_bits=True))
        with pytest.raises(FarmError, match=said):
            render(dataclasses.replace(JOB, tile=64, size=(128, 64)), tmp_path / "t.png", executor=Wrong(change, 99))
    manifest = render(JOB, tmp_path / "v.png", executor="threads").manifest
    assert manifest is not None

    def with_images(done: Done) -> Done:
        return dataclasses.replace(done, images=(np.zeros_like(done.images[0]),))

    for change, said in ((without, "its answer is None"), (changed_to(images=()), "has 0 images"), (with_images, "not those of its hash")):
        with pytest.raises(FarmError, match=said):
            verify(manifest, executor=Wrong(change, 99))


def test_answers_that_would_go_round_for_ever() -> None:
    task = farm.Prepared(JOB).tasks([0], ".png", 1)[0]
    done = draw(task)
    assert not problem_of(task, dataclasses.replace(done, state="shaders"), True)
    assert "shaders that were sent" in problem_of(dataclasses.replace(task, pack={}), dataclasses.replace(done, state="shaders"), True)
    assert not problem_of(task, dataclasses.replace(done, state="left"), False)
    assert not problem_of(dataclasses.replace(task, avoid=(done.worker,)), dataclasses.replace(done, state="declined"), True)


def test_several_answers_at_once_that_are_none() -> None:
    from tilegpu.farm.executors import Workers

    class Far(Executor):
        def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
            future: Future[Any] = Future()
            done = function(*arguments)
            future.set_result(done[:-1] if isinstance(done, list) else done)
            return future

    tasks = farm.Prepared(JOB).tasks(range(6), "", 1)
    quick = [dataclasses.replace(one, index=k % 6) for k, one in enumerate(tasks * 4)]
    far = Far()
    scheduler = farm.Scheduler(Workers("far", lambda: far, lambda _: 1, False, 8), dict)
    assert [done.index for done in scheduler.run(quick)] == [task.index for task in quick]
    assert scheduler.failures and "its answer is [" in scheduler.failures[0].error


def test_a_task_that_raises_ctrl_c_is_not_ours(tmp_path: Path) -> None:
    def raises(done: Done) -> Any:
        raise KeyboardInterrupt

    run = render(JOB, tmp_path / "t.png", executor=Wrong(raises, 1))
    assert [(f.index, f.error) for f in run.failures] == [(2, "KeyboardInterrupt:")] and len(run.frames) == 6


class Closed(Executor):
    """Takes some, then none."""

    def __init__(self, answer: Any) -> None:
        self._left, self._answer, self._pool = 4, answer, ThreadPoolExecutor(1)
        self._max_workers = 1

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        self._left -= 1
        if self._left >= 0:
            return self._pool.submit(function, *arguments)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (OSError("no route to host"), r"the executor Closed is gone, or out of reach \(OSError: no route to host\)"),
        (RuntimeError("shut down"), "the executor Closed takes no tasks: shut down"),
        (None, r"submit\(\) returned None; it must return a future"),
    ],
)
def test_an_executor_that_takes_no_more(tmp_path: Path, answer: Any, said: str) -> None:
    with pytest.raises(FarmError, match=rf"{said}.*; \d of 6 frames are kept, and the same call goes on from there"):
        render(JOB, tmp_path / "t.png", executor=Closed(answer))
    assert render(JOB, tmp_path / "t.png", executor="threads").kept
    with pytest.raises(FarmError, match=said):
        list(farm.pictures(JOB, executor=Closed(answer)))
    with pytest.raises(FarmError, match=said):
        verify(tmp_path / "t.manifest.json", executor=Closed(answer))


def test_what_progress_leaves_out(tmp_path: Path) -> None:
    def some(items: Any, total: int, label: str) -> Any:
        yield from (one for k, one in enumerate(items) if k != 3)

    def last(items: Any, total: int, label: str) -> Any:
        yield from (one for k, one in enumerate(items) if k != 5)

    def numbers(items: Any, total: int, label: str) -> Any:
        yield from (one.index for one in items)

    manifest = render(JOB, tmp_path / "v.png", executor="threads").manifest
    assert manifest is not None
    for progress, said in ((some, "in another's place"), (last, "5 answers of 6"), (numbers, "0 in place of an answer")):
        with pytest.raises(FarmError, match=rf"progress yielded .*{said}; progress must yield every item"):
            render(JOB, tmp_path / "t.png", executor="threads", progress=progress, restart=True)
        assert not (tmp_path / "t.manifest.json").exists()
        with pytest.raises(FarmError, match="progress must yield every item"):
            verify(manifest, executor="threads", progress=progress)


def test_files_that_go_while_others_are_drawn(tmp_path: Path) -> None:
    def remove(items: Any, total: int, label: str) -> Any:
        for k, one in enumerate(items):
            if k == 4:
                (tmp_path / "t_001.png").unlink()
            yield one

    with pytest.raises(FarmError, match=r"t_001\.png of frame 1 has gone or was changed while others were drawn"):
        render(JOB, tmp_path / "t.png", executor="threads", progress=remove)
    assert render(JOB, tmp_path / "t.png", executor="threads").frames == [1]


# ------------------------------------------------------------------------------------------------------------ manifests


def twice(values: Any) -> None:
    values["frames"].insert(2, {**values["frames"][3], "pixels": "0" * 64})


def renumbered(values: Any) -> None:
    values["frames"][3]["frame"] = 2
    del values["frames"][2]


def foreign(values: Any) -> None:
    values["frames"][3]["files"].append({**values["frames"][4]["files"][0], "name": "t_009.png"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (twice, "it has frame 3 twice"),
        (renumbered, r"frame 2: file 0 is 't_003\.png'; that of this frame is called 't_002\.png'"),
        (foreign, r"frame 3: file 1 is 't_009\.png'; that of this frame is called 't_003\.color1\.png'"),
        (lambda v: v["frames"][3].update(frame=6), "frame is 6; it must be a whole number from 0 to 5"),
        (lambda v: v["frames"][3].update(file=[]), "frame 3 has 'file'; it has frame, pixels, tiles, files"),
        (lambda v: v["frames"][3]["files"][0].update(md5=""), "a file has 'md5'"),
        (lambda v: v["scene"].update(shader=""), "scene has 'shader'"),
        (lambda v: v.update(output="u.png"), r"that of this frame is called 'u_000\.png'"),
        (
            lambda v: v["frames"][3].update(tiles=[{"window": [0, 0, 32, 24], "pixels": "0" * 64}]),
            "tiles of frame 3 are not those of its job",
        ),
    ],
)
@pytest.mark.parametrize("frames", [None, [0]])  # outside of the share too
def test_manifests_that_contradict_themselves(tmp_path: Path, change: Any, said: str, frames: Any) -> None:
    path = render(JOB, tmp_path / "t.png", executor="threads").manifest
    assert path is not None
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(FarmError, match=said):
        verify(path, frames=frames)


def test_an_object_that_says_one_thing_twice(tmp_path: Path) -> None:
    path = render(JOB, tmp_path / "t.png", executor="threads").manifest
    assert path is not None
    path.write_text(path.read_text().replace('"frame": 3,', '"frame": 3, "frame": 3,'))
    with pytest.raises(FarmError, match="an object has 'frame' twice"):
        read_manifest(path)


@pytest.mark.parametrize("files", [[], None])
def test_frames_whose_files_are_not_their_pictures(tmp_path: Path, files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Also of frames outside of the share, and of a function's, whose pictures are counted when they are drawn."""
    (tmp_path / "own.py").write_text("import numpy as np\ndef draw(time):\n    return np.full((8, 8, 3), int(time * 99), np.uint8)\n")
    for name, job in (("t", JOB), ("o", Job(f"{tmp_path}/own.py", of=6))):
        path = render(job, tmp_path / f"{name}.png", executor="threads").manifest
        assert path is not None
        values = json.loads(path.read_text())
        first = values["frames"][3]["files"][0]
        values["frames"][3]["files"] = [first, {**first, "name": f"{name}_003.color1.png"}] if files is None else files
        (tmp_path / f"{name}_003.color1.png").write_bytes((tmp_path / f"{name}_003.png").read_bytes())
        path.write_text(json.dumps(values))
        count = 2 if files is None else 0
        words = ["verify", str(path), "-q"] + (["--scene", job.scene] if name == "o" else [])
        assert main(words) == 1
        assert f"frame 3 has {count} files in the manifest; its pictures are 1" in capsys.readouterr().out
        if name == "t":
            assert main([*words, "--frames", "0:1"]) == 1


def test_a_manifest_that_was_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(render(JOB, tmp_path / "t.png", [0, 1, 4], executor="threads").manifest)
    result = verify(path)
    assert not result.same and result.lacks == [2, 3, 5] and (result.has, result.job_of) == (3, 6)
    assert main(["verify", path, "-q"]) == 1
    assert "the manifest has 3 of the job's 6 frames; it lacks 2 to 3, 5: frames= (--frames A:B) says" in capsys.readouterr().out
    for words in (["--frames", "0:2"], ["--share", "50%"]):
        assert main(["verify", path, "-q", *words]) == 0
        said = capsys.readouterr().out
        assert "the manifest has 3 of the job's 6 frames" in said and "lacks" not in said
    assert main(["verify", path, "-q", "--frames", "1:3"]) == 2
    assert "the manifest has no frame 2; it has 0 to 1, 4" in capsys.readouterr().err
    render(JOB, tmp_path / "t.png", executor="threads")
    assert main(["verify", path, "-q"]) == 0 and "of the job's" not in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------------ going on

MAIN = """
import numpy as np
from {module} import value

def draw(time):
    return np.full((16, 16, 3), value(time), np.uint8)
"""
FRAMES = """
import numpy as np
from tilegpu.scene import Draw, Frame, Program
VERT = '''#version 450
void main() {{ gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }}'''
FRAG = '''#version 450
layout(push_constant) uniform P {{ float t; }};
layout(location = 0) out vec4 c;
void main() {{ c = vec4(t); }}'''
PROGRAM = Program(VERT, FRAG)
from {module} import value

def draw(size, time):
    return Frame(size, depth_format=None, draws=(Draw(PROGRAM, count=3, push={{"t": value(time) / 255}}),))
"""
COMMAND = """
import sys
from tilegpu.cli import main
sys.path.insert(0, {folder!r})
sys.exit(main({words!r}))
"""


def command(folder: Path, *words: str) -> tuple[int, str]:
    """In a process of its own: modules are imported once."""
    import subprocess
    import sys

    code = COMMAND.format(folder=str(folder), words=["render", *words, "--executor", "threads", "--workers", "1", "-q"])
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("text", "index"), [(MAIN, 0), (MAIN, 5), (FRAMES, 5)])
def test_a_module_that_was_changed_is_another_run(tmp_path: Path, text: str, index: int) -> None:
    """Also where its frames are alike at first: the last that is there is drawn again too."""
    (tmp_path / "own.py").write_text(text.format(module="helps"))
    (tmp_path / "helps.py").write_text("def value(time):\n    return 7 + int(time * 30)\n")
    words = ("own.py:draw", "-o", "h.png", "--of", "9", *(() if text is MAIN else ("--size", "16x16")))
    assert command(tmp_path, *words, "--frames", "0:6")[0] == 0
    code, said = command(tmp_path, *words, "--frames", "0:6")
    assert code == 0 and "16x16, 0 frames and 6 that were there" in said, "it says the size of its pictures, and draws none again"
    at_0, each_s = (70, 30) if index == 0 else (7, 60)
    (tmp_path / "helps.py").write_text(f"def value(time):\n    return {at_0} + int(time * {each_s})\n")
    for more in (("--frames", "0:6"), ("--frames", "6:9")):
        code, said = command(tmp_path, *words, *more)
        assert code == 2 and f"is of another run: frame {index} is another picture now" in said and "--restart" in said
    code, said = command(tmp_path, *words, "--frames", "0:6", "--restart")
    assert code == 0 and "6 frames by 1 process" in said
    assert command(tmp_path, *words, "--frames", "6:9")[0] == 0


def test_tiles_of_a_module_that_was_changed(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(FRAMES.format(module="helps"))
    (tmp_path / "helps.py").write_text("def value(time):\n    return 7 + int(time * 30)\n")
    words = ("own.py:draw", "-o", "h.png", "--size", "160x96", "--tile", "64", "--frames", "3")
    assert command(tmp_path, *words)[0] == 0
    assert "0 frames and 3 that were there" in command(tmp_path, *words)[1]
    (tmp_path / "helps.py").write_text("def value(time):\n    return 7 + int(time * 60)\n")
    code, said = command(tmp_path, *words)
    assert code == 2 and "frame 2 is another picture now" in said


def test_tiles_of_a_frame_that_was_not_finished(tmp_path: Path) -> None:
    """They lie beside a journal without frames."""
    value = tmp_path / "value.txt"
    read = f"(time > 0) * float(open({str(value)!r}).read())"  # frame 0 is the same, whatever it says
    text = FRAMES.format(module="helps").replace("from helps import value", "").replace("value(time) / 255", read)
    (tmp_path / "own.py").write_text(text)
    job = Job(f"{tmp_path}/own.py:draw", size=(128, 128), tile=64, of=2)
    total = []

    def stop(items: Any, count: int, label: str) -> Any:
        for k, one in enumerate(items):
            if k == 3:
                raise KeyboardInterrupt
            yield one

    def count(items: Any, count: int, label: str) -> Any:
        total.append(count)
        yield from items

    value.write_text("0.5")
    with pytest.raises(KeyboardInterrupt):
        render(job, tmp_path / "t.npy", [1], executor="threads", progress=stop)
    value.write_text("0.75")
    with pytest.raises(FarmError, match=r"the tiles in .*t\.tiles are of another run: frame 1 is another picture now"):
        render(job, tmp_path / "t.npy", [1], executor="threads", progress=count)
    value.write_text("0.5")
    render(job, tmp_path / "t.npy", [1], executor="threads", progress=count)
    (tmp_path / "t.manifest.json").unlink()
    with pytest.raises(KeyboardInterrupt):
        render(job, tmp_path / "t.npy", [1], executor="threads", progress=stop)
    value.write_text("0.75")
    render(job, tmp_path / "t.npy", [1], executor="threads", progress=count, restart=True)
    assert total == [1, 4] and len(np.unique(np.load(tmp_path / "t_001.npy"))) == 1


def test_an_empty_journal(tmp_path: Path) -> None:
    render(JOB, tmp_path / "t.png", [0, 1], executor="threads")
    for text in ("", '{"format": 1, "tile'):
        (tmp_path / "t.manifest.json.part").write_text(text)
        with pytest.warns(UserWarning, match=r"t\.manifest\.json\.part is empty: frames that an earlier run drew.* are drawn again"):
            assert render(JOB, tmp_path / "t.png", executor="threads").kept == ([0, 1] if not text else list(range(6)))
    for text, said in (("", "it is empty"), ("{\n", "it is no JSON: Expecting")):
        (tmp_path / "t.manifest.json").write_text(text)
        with pytest.raises(FarmError, match=rf"is no manifest: {said}.*; give another manifest=, or draw all anew with restart=True"):
            render(JOB, tmp_path / "t.png", executor="threads")


def test_rates() -> None:
    run = farm.Run(None, frames=[0], seconds=30.0)
    assert str(run) == "1 frame in 30.0 s", "of one picture the time says all"
    run.frames = [0, 1]
    assert str(run) == "2 frames in 30.0 s, 15.0 s each"
    run.seconds = 0.5
    assert str(run) == "2 frames in 0.5 s, 4.0/s"
