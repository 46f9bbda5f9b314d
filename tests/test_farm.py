"""tilegpu.farm: frames on executors, in order, retried, resumed, proved; tiles to the bit; what manifests from outside may not do."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import hashlib
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from tilegpu import farm
from tilegpu.cli import main
from tilegpu.farm import (
    Done,
    FarmError,
    Job,
    Scheduler,
    Task,
    draw,
    pictures,
    read_manifest,
    render,
    verify,
    workers_of,
)
from tilegpu.farm.executors import Workers
from tilegpu.farm.manifest import Manifest
from tilegpu.farm.worker import in_turn

JOB = Job("triangle", size=(64, 48), of=12)
PIXELS = "0" * 64  #: of what nobody looks at


def files_of(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def drawn_alone(job: Job, index: int) -> np.ndarray[Any, Any]:
    """By one device, as a whole."""
    import tilegpu
    from tilegpu.scene import SceneRenderer

    scene = farm.scene_of(job)
    return SceneRenderer(tilegpu.Device(job.profile)).render(farm.frame_of(scene, job, index)).images[0]


# ------------------------------------------------------------------------------------------------------------ one result


def test_threads_and_processes_give_what_one_device_gives(tmp_path: Path) -> None:
    for executor in ("threads", "processes"):
        folder = tmp_path / executor
        folder.mkdir()
        run = render(JOB, folder / "t.png", executor=executor, workers=2)
        assert run.frames == list(range(12)) and not run.failures and run.compiled == 0
        assert [f.name for f in run.files] == [f"t_{k:03}.png" for k in range(12)]
        for k in (0, 7):
            assert np.array_equal(np.asarray(Pillow.open(folder / f"t_{k:03}.png")), drawn_alone(JOB, k))
    assert files_of(tmp_path / "threads") == files_of(tmp_path / "processes")  # the manifest too
    assert set(files_of(tmp_path / "threads")) == {"t.manifest.json", *(f"t_{k:03}.png" for k in range(12))}


def test_a_part_is_of_the_whole(tmp_path: Path) -> None:
    whole = render(JOB, tmp_path / "t.png", executor="threads")
    (tmp_path / "part").mkdir()
    part = render(JOB, tmp_path / "part" / "t.png", range(5, 8), executor="threads")
    assert part.frames == [5, 6, 7]
    for k in part.frames:
        assert (tmp_path / f"t_{k:03}.png").read_bytes() == (tmp_path / "part" / f"t_{k:03}.png").read_bytes()
    # Parts of one job, by and by, are its manifest.
    render(JOB, tmp_path / "part" / "t.png", executor="threads")
    assert whole.manifest is not None and (tmp_path / "part" / "t.manifest.json").read_bytes() == whole.manifest.read_bytes()


def test_pictures_come_in_order() -> None:
    seen = list(pictures(JOB, [9, 1, 4], executor="threads", workers=3))
    assert [k for k, _ in seen] == [1, 4, 9]
    assert all(np.array_equal(images[0], drawn_alone(JOB, k)) for k, images in seen)


# ------------------------------------------------------------------------------------------------------------ failures


class Scripted(Executor):
    """Runs a function of the test's in place of the worker's, each task in a thread of its own."""

    def __init__(self, answer: Callable[[Task], Done]) -> None:
        self._answer, self._max_workers = answer, 4
        self.bundles: list[int] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def work() -> None:
            try:
                if function is in_turn:
                    assert arguments[0] is draw
                    self.bundles.append(len(arguments[1]))
                    future.set_result(in_turn(self._answer, arguments[1]))
                else:
                    assert function is draw
                    future.set_result(self._answer(*arguments))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return future


def tasks(count: int) -> list[Task]:
    return [Task(JOB, k, None, "", "0", "") for k in range(count)]


def test_answers_are_in_order_whatever_comes_first() -> None:
    luck = random.Random(1)
    waits = [luck.random() * 0.01 for _ in range(60)]

    def answer(task: Task) -> Done:
        time.sleep(waits[task.index])
        return Done(task.index, None, "w", "drawn", pixels=PIXELS)

    run = Scheduler(workers_of(Scripted(answer)), dict).run(tasks(60))
    assert [done.index for done in run] == list(range(60))


def test_a_failure_is_retried_elsewhere_and_named() -> None:
    where = iter(["a", "a", "b", "b", "c"])
    lock = threading.Lock()

    def answer(task: Task) -> Done:
        if task.index != 3:
            return Done(task.index, None, "z", "drawn", pixels=PIXELS)
        with lock:
            worker = next(where)
        if worker in task.avoid:
            return Done(task.index, None, worker, "declined")
        return Done(task.index, None, worker, "drawn" if worker == "c" else "failed", pixels=PIXELS, error=f"no disk on {worker}")

    scheduler = Scheduler(workers_of(Scripted(answer)), dict)
    assert [d.worker for d in scheduler.run(tasks(5))] == ["z", "z", "z", "c", "z"]
    assert [(f.index, f.worker, f.error) for f in scheduler.failures] == [(3, "a", "no disk on a"), (3, "b", "no disk on b")]


def test_what_fails_everywhere_is_an_error_with_the_frame_and_the_workers() -> None:
    def answer(task: Task) -> Done:
        state = "failed" if task.index == 2 else "drawn"
        return Done(task.index, None, f"w{len(task.avoid)}", state, pixels=PIXELS, error="no such texture")

    with pytest.raises(FarmError, match=r"frame 2 failed 3 times, on w0, w1, w2: no such texture"):
        list(Scheduler(workers_of(Scripted(answer)), dict).run(tasks(4)))


def test_a_lone_worker_that_failed_is_asked_again() -> None:
    asked: list[tuple[str, ...]] = []

    def answer(task: Task) -> Done:
        asked.append(task.avoid)
        if "only" in task.avoid:
            return Done(task.index, None, "only", "declined")
        return Done(task.index, None, "only", "failed" if len(asked) == 1 else "drawn", pixels=PIXELS, error="once")

    assert [d.state for d in Scheduler(workers_of(Scripted(answer)), dict).run(tasks(1))] == ["drawn"]
    assert asked[-1] == () and len(asked) == 10


def test_shaders_are_sent_to_who_misses_them() -> None:
    have: set[str] = set()
    lock = threading.Lock()
    turn = iter(range(1000))

    def answer(task: Task) -> Done:
        with lock:
            worker = f"w{next(turn) % 3}"
            if worker not in have and task.pack is None:
                return Done(task.index, None, worker, "shaders")
            have.add(worker)
        return Done(task.index, None, worker, "drawn", pixels=PIXELS)

    scheduler = Scheduler(workers_of(Scripted(answer)), lambda: {"a": b"code"})
    assert len(list(scheduler.run(tasks(50)))) == 50
    assert 1 <= scheduler.packs_sent <= 24  # those under way when the first came


@pytest.mark.parametrize("seed", range(4))
def test_short_tasks_go_to_far_workers_several_at_once(seed: int) -> None:
    """In order, each once, whatever fails, is lost, declines or lacks shaders in the middle of others."""
    luck, lock, drawn = random.Random(seed), threading.Lock(), collections.Counter[int]()

    def answer(task: Task) -> Done:
        with lock:
            chance, worker = luck.random(), f"w{luck.randrange(3)}"
        if chance < 0.02:
            raise ConnectionError("the worker ended")
        if worker in task.avoid:
            return Done(task.index, None, worker, "declined")
        if chance < 0.04:
            return Done(task.index, None, worker, "failed", error="no disk")
        if chance < 0.06 and task.pack is None:
            return Done(task.index, None, worker, "shaders")
        with lock:
            drawn[task.index] += 1
        return Done(task.index, None, worker, "drawn", pixels=PIXELS, render_ms=1.0, save_ms=1.0)

    far = Scripted(answer)
    scheduler = Scheduler(Workers("far", lambda: far, lambda _: 2, False, 8), lambda: {"a": b"code"})
    assert [done.index for done in scheduler.run(tasks(400))] == list(range(400))
    assert set(drawn) == set(range(400)) and max(far.bundles) == 16 and sum(far.bundles) > 300
    lost = [f.index for f in scheduler.failures if f.worker == "a worker that ended"]
    assert scheduler.packs_sent and len(lost) > 16  # of one that ended, all that it held


@pytest.mark.parametrize(("work_ms", "held", "most"), [(2.0, 8, 16), (15.0, 8, 2), (50.0, 8, 0), (2.0, 2, 0)])
def test_how_many_tasks_go_at_once(work_ms: float, held: int, most: int) -> None:
    """Some 40 ms of work, to what goes through a scheduler alone."""
    pool = Scripted(lambda task: Done(task.index, None, "w", "drawn", pixels=PIXELS, render_ms=work_ms))
    list(Scheduler(Workers("pool", lambda: pool, lambda _: 1, False, held), dict).run(tasks(60)))
    assert max(pool.bundles, default=0) == most


def test_a_worker_with_an_empty_cache_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its shaders come from the coordinator: files of one disk cache to another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "coordinator"))
    prepared = farm.Prepared(JOB)
    prepared.warm(0)
    task = prepared.tasks([0], ".png", 1)[0]
    assert len(task.shaders) >= 3 and prepared.device.compile_stats["functions_compiled"] > 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "worker"))
    with ThreadPoolExecutor(1) as fresh:  # a thread that has no desk yet
        assert fresh.submit(draw, task).result().state == "shaders"
        done = fresh.submit(draw, dataclasses.replace(task, pack=prepared.pack())).result()
    assert done.state == "drawn" and done.compiled == 0, done
    with ThreadPoolExecutor(1) as fresh:  # and what it has now, others of its machine find
        assert fresh.submit(draw, task).result().compiled == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    with ThreadPoolExecutor(1) as fresh:
        assert fresh.submit(draw, dataclasses.replace(task, shaders=())).result().compiled > 0  # the counter counts


def test_workers_with_other_versions_or_scenes_are_named() -> None:
    task = farm.Prepared(JOB).tasks([0], "", 1)[0]
    done = draw(dataclasses.replace(task, version="0.0.0"))
    assert done.state == "failed" and "its tilegpu is" in done.error and done.worker.endswith(f":{os.getpid()}")
    done = draw(dataclasses.replace(task, content="0" * 64))
    assert done.state == "failed" and "the scene triangle is another one here" in done.error


def kill(worker: str, killed: list[int]) -> None:
    """The process of an answer, unless it is gone: answers may come from workers that have ended since."""
    pid = int(worker.rpartition(":")[2])
    assert pid != os.getpid()
    if pid not in killed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)


def test_a_killed_process_costs_its_frames_once_more(tmp_path: Path) -> None:
    job = dataclasses.replace(JOB, of=60)
    killed: list[int] = []

    def kill_one(items: Any, total: int, label: str) -> Any:
        for k, done in enumerate(items):
            if k >= (10, 30, total)[len(killed)]:
                kill(done.worker, killed)
            yield done

    run = render(job, tmp_path / "t.png", executor="processes", workers=2, progress=kill_one)
    assert run.frames == list(range(60)) and len(killed) == 2 and run.failures
    assert len(run.workers) > 2
    assert all("worker that ended" in f.worker for f in run.failures)
    assert verify(tmp_path / "t.manifest.json", 0.2, seed=1).same


# ------------------------------------------------------------------------------------------------------------ resuming


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop_at(items: Any, total: int, label: str) -> Any:
        for k, done in enumerate(items):
            if k == 5:
                raise Stop
            yield done

    with pytest.raises(Stop):
        render(JOB, tmp_path / "t.png", executor="threads", progress=stop_at)
    assert (tmp_path / "t.manifest.json.part").exists() and not (tmp_path / "t.manifest.json").exists()
    (tmp_path / "t_003.png").write_bytes(b"half a file")
    (tmp_path / "t_001.png").unlink()
    with (tmp_path / "t.manifest.json.part").open("a") as journal:
        journal.write('{"frame": 5, "pix')  # it ended in the middle of a line
    run = render(JOB, tmp_path / "t.png", executor="threads")
    assert run.kept == [0, 2, 4] and run.frames == [1, 3, 5, 6, 7, 8, 9, 10, 11]
    assert not (tmp_path / "t.manifest.json.part").exists()
    (tmp_path / "other").mkdir()
    render(JOB, tmp_path / "other" / "t.png", executor="threads")
    assert files_of(tmp_path / "other").items() <= files_of_flat(tmp_path).items()
    assert render(JOB, tmp_path / "t.png", executor="threads").frames == []


def files_of_flat(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


def test_a_manifest_of_another_job_is_not_gone_on_with(tmp_path: Path) -> None:
    render(JOB, tmp_path / "t.png", executor="threads")
    with pytest.raises(FarmError, match=r"another run: size \[64, 48\] there, \[64, 32\] asked for"):
        render(dataclasses.replace(JOB, size=(64, 32)), tmp_path / "t.png", executor="threads")
    assert render(JOB, tmp_path / "t.png", [3], executor="threads", restart=True).frames == [3]


# ------------------------------------------------------------------------------------------------------------ proofs


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    return path


def test_verify_draws_again_what_is_asked(tmp_path: Path) -> None:
    manifest = render(JOB, tmp_path / "t.png", executor="threads").manifest
    assert manifest is not None
    result = verify(manifest, 0.25, seed=3)
    assert result.same and (result.drawn, result.of, result.files, result.files_missing) == (3, 12, 12, 0)
    assert verify(manifest, frames=[2, 5], lanes=4).drawn == 2
    (tmp_path / "t_002.png").unlink()
    (tmp_path / "t_004.png").write_bytes(b"other")
    result = verify(manifest, 0.1)
    assert not result.same and result.files_differ == ["t_004.png"] and result.files_missing == 1
    (tmp_path / "t_004.png").write_bytes((tmp_path / "t_003.png").read_bytes())
    (tmp_path / "t_004.png").unlink()
    result = verify(manifest, frames=[2, 5])
    assert not result.same and result.files_gone == ["t_002.png"] and result.files_missing == 2
    assert "10 files are as it says, 2 are not here\nt_002.png is not here, and is of a frame that was drawn" in str(result)
    assert main(["verify", str(manifest), "--executor", "threads", "-q"]) == 1, "a file of a frame that is asked for is not there"
    result = verify(manifest, frames=[5, 6])
    assert result.same and result.files_missing == 2 and "10 files are as it says, 2 are not here" in str(result), "not of the share"
    alone = tmp_path / "alone" / manifest.name
    alone.parent.mkdir()
    alone.write_bytes(manifest.read_bytes())
    assert verify(alone, frames=[5]).same, "a manifest without any of its files is compared by pixels"

    def another_pixel(values: dict[str, Any]) -> None:
        values["frames"][7]["pixels"] = "0" * 64

    result = verify(changed(manifest, another_pixel))
    assert result.differ == [7] and "the pixels of 1 frame are others: 7" in str(result)


def test_a_file_that_shows_another_picture_is_found(tmp_path: Path) -> None:
    """Its hash in the manifest fits, and so do the pixels: whoever edits both is found by the picture alone."""
    run = render(JOB, tmp_path / "t.png", executor="threads")
    assert run.manifest is not None
    Pillow.new("RGBA", (64, 48), (1, 2, 3, 255)).save(run.files[3])
    said = json.loads(run.manifest.read_text())
    said["frames"][3]["files"][0] |= {"sha256": hashlib.sha256(run.files[3].read_bytes()).hexdigest(), "bytes": run.files[3].stat().st_size}
    run.manifest.write_text(json.dumps(said))
    found = verify(run.manifest)
    assert not found.same and found.files_other == [run.files[3].name] and not found.differ and not found.files_differ
    assert "shows another picture" in str(found)


def test_a_file_that_is_none_is_not_waited_for(tmp_path: Path) -> None:
    run = render(JOB, tmp_path / "t.png", [2], executor="threads")
    assert run.manifest is not None
    run.files[0].unlink()
    os.mkfifo(run.files[0])
    said = json.loads(run.manifest.read_text())
    said["frames"][0]["files"][0]["bytes"] = 0
    run.manifest.write_text(json.dumps(said))
    assert verify(run.manifest).files_differ == [run.files[0].name]


def test_restarting_a_part_keeps_the_others(tmp_path: Path) -> None:
    run = render(JOB, tmp_path / "t.png", executor="threads")
    assert render(JOB, tmp_path / "t.png", [3], executor="threads", restart=True).frames == [3]
    assert run.manifest is not None and sorted(read_manifest(run.manifest).frames) == list(range(JOB.of))


def test_a_manifest_lies_beside_its_pictures(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(FarmError, match="must lie in the pictures' folder"):
        render(JOB, tmp_path / "t.png", [0], executor="threads", manifest=tmp_path / "other" / "m.json")


def test_the_manifest_says_what_it_is_of(tmp_path: Path) -> None:
    job = dataclasses.replace(JOB, of=2, time=1.5)
    values = json.loads(Path(str(render(job, tmp_path / "t.png", executor="threads").manifest)).read_text())
    assert values["job"]["size"] == [64, 48] and values["job"]["time"] == 1.5 and values["job"]["scene"] == "triangle"
    assert len(values["scene"]["content"]) == len(values["scene"]["shaders"]) == 64
    assert [(f["frame"], f["files"][0]["name"]) for f in values["frames"]] == [(0, "t_000.png"), (1, "t_001.png")]
    assert all(f["files"][0]["bytes"] == (tmp_path / f["files"][0]["name"]).stat().st_size for f in values["frames"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v["frames"][0]["files"][0].update(name="../../etc/passwd"), "without a folder"),
        (lambda v: v["frames"][0]["files"][0].update(name=".."), "without a folder"),
        (lambda v: v.update(output="/tmp/x.png"), "without a folder"),
        (lambda v: v["frames"][0].update(pixels="zz"), "SHA-256"),
        (lambda v: v["frames"][0].update(frame=99), "0 to 1"),
        (lambda v: v["frames"][0].update(frame=True), "whole number"),
        (lambda v: v["job"].update(size=[0, 5]), "each 1 to 65534"),
        (lambda v: v["job"].update(size="big"), "each 1 to 65534"),
        (lambda v: v["job"].update(shell="rm"), "a job has no shell"),
        (lambda v: v["job"].update(time="now"), "time is"),
        (lambda v: v["job"].update(scene=7), "must be text"),
        (lambda v: v.update(format=9), "its format is 9"),
        (lambda v: v.update(frames={}), "must be a list"),
        (lambda v: v["scene"].update(content=None), "SHA-256"),
        (lambda v: v["scene"].update(content="0" * 64), "is another one here"),
        (lambda v: v["job"].update(scene="evil.py"), "run only if you name it"),
        (lambda v: v["job"].update(scene="evil.PY:draw"), "run only if you name it"),
    ],
)
def test_manifests_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    manifest = render(dataclasses.replace(JOB, of=2), tmp_path / "t.png", executor="threads").manifest
    assert manifest is not None
    (tmp_path / "evil.py").write_text("open('was_run', 'w')\n")
    with pytest.raises(FarmError, match=said):
        verify(changed(manifest, change))
    assert not (tmp_path / "was_run").exists()


@pytest.mark.parametrize(
    "change",
    [lambda v: v["job"].update(scene=None), lambda v: v["job"].update(exposure=10**400), lambda v: v["job"].update(of=0)],
)
def test_what_is_wrong_with_a_job_is_said_of_the_file(tmp_path: Path, change: Any) -> None:
    """Found by `make fuzz`: a job's own error came without the file's name, and a number that no float holds as OverflowError."""
    job = dataclasses.replace(JOB, of=2)
    path = tmp_path / "m.json"
    Manifest(job, "0.1.0", "a" * 64, "b" * 64, "t.png").write(path)
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(FarmError, match=r"m\.json is no manifest: (Job|a job)"):
        read_manifest(path)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"format": 1}', "[" * 100_000, "\ud800"])
def test_what_is_no_manifest(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(FarmError, match="no manifest"):
        read_manifest(path)


FUNCTION = """
from tilegpu.scene import Frame, Draw, Program
VERT = '''#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }'''
FRAG = '''#version 450
layout(push_constant) uniform P { float t; };
layout(location = 0) out vec4 c;
void main() { c = vec4(fract(gl_FragCoord.xy / 37 + t), fract(dFdx(gl_FragCoord.x * gl_FragCoord.y) / 91), 1); }'''
PROGRAM = Program(VERT, FRAG)


def frame(size, t):
    return Frame(size, depth_format=None, draws=(Draw(PROGRAM, count=3, push={"t": t}),))
"""


def test_a_python_file_is_verified_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(FUNCTION)
    render(Job("own.py", size=(32, 32), of=3), "t.png", executor="threads")
    with pytest.raises(FarmError, match=r"--scene own\.py"):
        verify("t.manifest.json")
    assert verify("t.manifest.json", scene="own.py").same
    Path("own.py").write_text(FUNCTION.replace("37", "38"))
    with pytest.raises(FarmError, match="another file than the manifest's"):
        verify("t.manifest.json", scene="own.py")


# ------------------------------------------------------------------------------------------------------------ tiles


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("scene", ["textured_pbr", "mesh_100k", "bloom", "mobile_frame"])
def test_tiles_are_the_whole_to_the_byte(tmp_path: Path, scene: str, samples: int) -> None:
    job = Job(scene, size=(330, 205), samples=samples, of=5)
    tiled = dataclasses.replace(job, tile=128)
    run = render(tiled, tmp_path / "t.npy", [3], executor="threads")
    assert np.array_equal(np.load(tmp_path / "t_003.npy"), drawn_alone(job, 3))
    assert not (tmp_path / "t.tiles").exists()
    assert run.manifest is not None and verify(run.manifest, 0.5, seed=2).same
    frame = read_manifest(run.manifest).frames[3]
    assert len(frame.tiles) == 6 and frame.pixels == farm.pixel_hash([drawn_alone(job, 3)])


@pytest.mark.parametrize(("scene", "pictures"), [("triangle", 1), ("gbuffer5", 5)])
def test_the_hash_of_a_whole_frame_of_tiles_is_verified(tmp_path: Path, scene: str, pictures: int) -> None:
    """Its tiles' hashes are right, and so are its files': only all tiles together tell."""
    run = render(Job(scene, size=(200, 130), tile=64, of=2), tmp_path / "t.npy", executor="threads")
    assert run.manifest is not None
    path = run.manifest
    drawn = verify(path)
    assert drawn.same and drawn.drawn == drawn.of == 24 and len(read_manifest(path).frames[0].files) == pictures
    values = json.loads(path.read_text())
    values["frames"][1]["pixels"] = values["frames"][0]["pixels"][::-1]
    path.write_text(json.dumps(values))
    told = verify(path)
    assert not told.same and told.wholes_differ == [1] and not told.differ and not told.files_differ
    assert "the manifest's hash of the whole is another than that of its tiles together: frames 1" in str(told)
    assert main(["verify", str(path), "--executor", "threads", "--quiet"]) == 1
    assert verify(path, frames=[0]).same and verify(path, 0.5, seed=1).drawn == 12


def test_a_png_of_tiles(tmp_path: Path) -> None:
    render(dataclasses.replace(JOB, tile=64, size=(200, 130), of=1), tmp_path / "t.png", executor="threads")
    with Pillow.open(tmp_path / "t.png") as picture:
        assert np.array_equal(np.asarray(picture), drawn_alone(dataclasses.replace(JOB, size=(200, 130), of=1), 0))
    with pytest.raises(FarmError, match=r"row by row, as \.png or \.npy"):
        render(dataclasses.replace(JOB, tile=64), tmp_path / "t.jpg", executor="threads")


def test_a_folder_of_tiles_that_somebody_uses_stays(tmp_path: Path) -> None:
    (tmp_path / "t.tiles").mkdir()
    (tmp_path / "t.tiles" / "mine.txt").write_text("mine")
    render(Job("triangle", size=(128, 64), tile=64), tmp_path / "t.npy", executor="threads")
    assert [p.name for p in (tmp_path / "t.tiles").iterdir()] == ["mine.txt"]


def test_interrupted_tiles_are_found_again(tmp_path: Path) -> None:
    job = dataclasses.replace(JOB, tile=64, size=(256, 128), of=1)

    def stop(items: Any, total: int, label: str) -> Any:
        assert total == 8
        for k, done in enumerate(items):
            if k == 5:
                raise KeyboardInterrupt
            yield done

    with pytest.raises(KeyboardInterrupt):
        render(job, tmp_path / "t.npy", executor="threads", progress=stop)
    (tmp_path / "t.tiles" / "0_64_0_0.npy").write_bytes(b"broken")
    seen = []

    def count(items: Any, total: int, label: str) -> Any:
        seen.append(total)
        yield from items

    render(job, tmp_path / "t.npy", executor="threads", progress=count)
    assert seen == [4]
    assert np.array_equal(np.load(tmp_path / "t.npy"), drawn_alone(dataclasses.replace(job, tile=None), 0))


def test_any_tiles_of_a_picture_that_no_image_holds_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """40,000 px: tiles of two sizes, in the corners that whole coordinates reach; gl_FragCoord is the picture's."""
    import tilegpu
    from tilegpu.scene import SceneRenderer

    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(FUNCTION)
    for scene, size in (("own.py", (40000, 128)), ("triangle", (40000, 20000)), ("mesh_100k", (65534, 65534))):
        job = Job(scene, size=size)
        frame = farm.frame_of(farm.scene_of(job), job, 0)
        renderer = SceneRenderer(tilegpu.Device())
        for x, y in ((0, 0), (size[0] // 2 // 64 * 64, size[1] // 2 // 64 * 64), (32768 - 64, 0), (size[0] // 64 * 64 - 192, 0)):
            width, height = min(256, size[0] - x), min(128, size[1] - y)
            whole = renderer.render(frame, window=(x, y, width, height)).images[0]
            for dx, dy, w, h in ((64, 0, width - 64, 64), (128, 64, width - 128, height - 64), (0, 0, 64, height)):
                if h <= 0:
                    continue
                part = renderer.render(frame, window=(x + dx, y + dy, w, h)).images[0]
                assert np.array_equal(part, whole[dy : dy + h, dx : dx + w]), (scene, x, y, dx, dy)
            if scene == "own.py":
                px = (np.arange(x, x + width, dtype=np.float32) + np.float32(0.5)) / np.float32(37)
                red = np.rint((px - np.floor(px)) * 255)
                assert np.abs(whole[0, :, 0].astype(int) - red).max() <= 1


def test_what_cannot_be_drawn_in_tiles(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("def draw(device, size):\n    return device.image(size, 'r8g8b8a8_unorm')\n")
    with pytest.raises(FarmError, match="its function draws by itself"):
        render(Job(str(path), size=(20000, 64)), tmp_path / "t.png", executor="threads")


# ------------------------------------------------------------------------------------------------------------ the command line


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "t.png")
    words = ["render", "triangle", "-o", out, "--size", "64x48", "--frames", "0:6", "--executor", "threads"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "t_000.png to t_005.png: triangle, 64x48, 6 frames by 1 process" in said and "t.manifest.json" in said
    assert main(["verify", str(tmp_path / "t.manifest.json"), "--share", "50%", "--seed", "1"]) == 0
    assert "3 of 6 frames drawn again" in capsys.readouterr().out
    assert main([*words[:7], "2:4", "--of", "6", "--executor", "threads"]) == 0
    assert "0 frames and 2 that were there" in capsys.readouterr().out
    (tmp_path / "t_001.png").write_bytes(b"x")
    assert main(["verify", str(tmp_path / "t.manifest.json"), "--frames", "1:2"]) == 1


def test_parts_without_workers_are_the_same_pictures(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert main(["render", "triangle", "-o", str(tmp_path / "t.png"), "--size", "64x48", "--frames", "4:6", "--of", "9"]) == 0
    render(dataclasses.replace(JOB, of=9), tmp_path / "a" / "t.png", [4, 5], executor="threads")
    for name in ("t_004.png", "t_005.png"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "a" / name).read_bytes()


def test_a_film_from_workers_is_the_film(tmp_path: Path) -> None:
    words = ["render", "triangle", "--size", "64x48", "--frames", "5", "-o"]
    assert main([*words, str(tmp_path / "a.webp")]) == 0
    assert main([*words, str(tmp_path / "b.webp"), "--executor", "threads"]) == 0
    assert (tmp_path / "a.webp").read_bytes() == (tmp_path / "b.webp").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--frames", "5:5"], "names no frames"),
        (["--frames", "a:5"], "names no frames"),
        (["--frames", "\N{ARABIC-INDIC DIGIT THREE}"], "names no frames"),
        (["--frames", "0:\N{SUPERSCRIPT TWO}"], "names no frames"),
        (["--frames", "0:6:2"], "'0:6:2' has steps"),
        (["--frames", "3:5"], "--of N"),
        (["--frames", "0:5", "--of", "4"], "at least 5"),
        (["--executor", "nobody"], "threads, processes, dask://ADDRESS or MODULE:FUNCTION"),
        (["--executor", "nomodule:f"], "No module named 'nomodule'"),
        (["--executor", "json:nothing"], "module json has no nothing"),
        (["--executor", "builtins:dict"], "must return an executor"),
        (["--executor", "threads", "--stats", "s.json"], "--stats"),
        (["--tile", "100"], "multiple of 64"),
        (["--size", "70000x5"], "1 to 65534"),
    ],
)
def test_wrong_words(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["render", "triangle", "-o", str(tmp_path / "t.png"), "--size", "64x48", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_an_executor_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "from concurrent.futures import ThreadPoolExecutor as Pool\n\ndef make():\n    return Pool(2)\n"
    Path("my_pool_of_threads.py").write_text(text)
    assert main(["render", "triangle", "-o", "t.png", "--size", "32x32", "--frames", "3", "--executor", "my_pool_of_threads:make"]) == 0


# ------------------------------------------------------------------------------------------------------------ Dask


def test_a_dask_cluster_whose_workers_are_killed_and_added(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="tilegpu[farm]")
    job = dataclasses.replace(JOB, of=400)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        killed: list[int] = []

        def disturb(items: Any, total: int, label: str) -> Any:
            for k, done in enumerate(items):
                time.sleep(0.01)  # so that who joins finds something to do
                if k >= (15, 45, total)[len(killed)]:
                    kill(done.worker, killed)
                if k == 25:
                    cluster.scale(3)
                yield done

        address = cluster.scheduler_address.replace("tcp://", "dask://")
        run = render(job, tmp_path / "t.png", executor=address, progress=disturb)
        assert run.frames == list(range(400)) and len(killed) == 2 and len(run.workers) >= 3
        assert run.compiled == 0
        with distributed.Client(cluster) as client:
            assert verify(tmp_path / "t.manifest.json", 0.1, executor=client).same
    (tmp_path / "alone").mkdir()
    render(job, tmp_path / "alone" / "t.png", executor="threads")
    assert files_of(tmp_path / "alone") == files_of_flat(tmp_path)


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilegpu.farm.executors._CONNECT_S", 0.3)
    pytest.importorskip("distributed", reason="tilegpu[farm]")
    with pytest.raises(FarmError, match=r"no Dask scheduler at 127\.0\.0\.1:9"):
        workers_of("dask://127.0.0.1:9")
