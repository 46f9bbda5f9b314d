"""What a worker does with a frame. In: a :class:`Task`, plain data. Out: a :class:`Done`, plain data: a file's bytes and hashes.

Each thread of a worker keeps a device, the scene and what it uploaded for as long as tasks of one job come. Compiled shaders are the
coordinator's: a worker that misses some of their files asks for them, and writes what it gets into its own disk cache, where the device
finds them. Files go that way alone: to workers, who run what the coordinator says anyway; nothing that a worker returns is run, though
executors unpickle it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tilegpu
from tilegpu.farm.encoding import as_picture, encoded
from tilegpu.farm.hashes import bytes_hash, frame_hash, pixel_hash
from tilegpu.farm.job import Job, frame_of, scene_of
from tilegpu.scene import DrawnFrame, Scene, SceneRenderer

Window = tuple[int, int, int, int]


@dataclass(frozen=True)
class Task:
    """A frame, or the ``window`` of one. ``suffix``: of the file that is wanted; ``".raw"``: 8 bits as they are, as ``.npy``, for films;
    ``""``: the pixels alone. ``content``: what frame 0 must be made of; ``""``: anything. ``shaders``: names of files of the disk cache;
    ``pack``: their bytes, where they are sent along. ``avoid``: workers that failed with it."""

    job: Job
    index: int
    window: Window | None
    suffix: str
    version: str
    content: str
    shaders: tuple[str, ...] = ()
    pack: dict[str, bytes] | None = None
    avoid: tuple[str, ...] = ()
    threads: int = 1
    lanes: int = 0
    keep_images: bool = False
    colors: int | None = None  #: how many pictures it has; ``None``: a user's function decides
    size_px: tuple[int, int] | None = None  #: of colour 0, of the whole; ``None``: a user's function decides


@dataclass
class Done:
    """What became of a task. ``state``: ``"drawn"``; ``"shaders"``: send it again with the pack; ``"declined"``: this worker is to be
    avoided; ``"left"``: send it again, since one before it was not drawn here;
    ``"failed"``: ``error`` says why. ``files``: bytes by colour attachment."""

    index: int
    window: Window | None
    worker: str
    state: str
    error: str = ""
    pixels: str = ""
    files: tuple[bytes, ...] = ()
    hashes: tuple[str, ...] = ()
    images: tuple[Any, ...] = ()
    render_ms: float = 0.0
    save_ms: float = 0.0
    size_px: tuple[int, int] = (0, 0)  #: of colour 0, or of the window
    compiled: int = 0  #: functions that this worker's device compiled since its last frame

    @property
    def has_picture(self) -> bool:
        """Whether there is a colour 0, of which ``size_px`` is."""
        return bool(self.files or self.images or all(self.size_px))


class _Desk:
    """What a thread keeps for one job."""

    def __init__(self, task: Task) -> None:
        self.key = key_of(task)
        self.scene: Scene = scene_of(task.job)
        self.device = tilegpu.Device(
            task.job.profile, threads=task.threads, lanes=task.lanes, isolate_compiler=task.job.isolates
        )
        self.renderer = SceneRenderer(self.device)
        self.frame: tuple[int, Any] | None = None  # of the last task, of which there may be more tiles
        self.content = frame_hash(frame_of(self.scene, task.job, 0)) if task.content else ""
        self.compiled = 0


_mine = threading.local()


def key_of(task: Task) -> Any:
    """Tasks with one key share a desk."""
    return (task.job, task.threads, task.lanes, task.content)


def name_of_worker() -> str:
    """Host and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def draw(task: Task) -> Done:
    """Draws a task. Raises nothing: what goes wrong is in the answer, with the worker's name."""
    worker = name_of_worker()
    if worker in task.avoid:
        time.sleep(0.02)  # somebody else may take it
        return Done(task.index, task.window, worker, "declined")
    try:
        if task.version != tilegpu.__version__:
            here = tilegpu.__version__
            raise RuntimeError(f"its tilegpu is {here}, and the job is {task.version}'s; pictures may differ, so install one")
        missing = install_shaders(task)
        if missing:
            return Done(task.index, task.window, worker, "shaders")
        return _draw(task, worker)
    except (Exception, SystemExit) as error:
        _mine.desk = None
        return Done(task.index, task.window, worker, "failed", error=f"{type(error).__name__}: {error}")


def in_turn(function: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
    """Several tasks of one job, one after another, until one is not drawn."""
    done: list[Done] = []
    for task in tasks:
        if done and done[-1].state != "drawn":
            done.append(Done(task.index, task.window, done[-1].worker, "left"))
        else:
            done.append(function(task))
    return done


def install_shaders(task: Task) -> bool:
    """Puts the pack's files into this machine's cache. True: some are missing, and there is no pack."""
    if not task.shaders or getattr(_mine, "shaders", None) == task.shaders:
        return False
    device = tilegpu.Device(threads=1)
    folder_text = device.info["cache_dir"]  # makes it, or says that there is none
    if not folder_text:
        _mine.shaders = task.shaders
        return False
    folder = Path(folder_text)
    missing = [name for name in task.shaders if not (folder / name).exists()]
    if missing and task.pack is None:
        return True
    pack = task.pack or {}
    device.add_cache_entries({name: pack[name] for name in missing if name in pack})
    _mine.shaders = task.shaders
    return False


def _draw(task: Task, worker: str) -> Done:
    desk: _Desk | None = getattr(_mine, "desk", None)
    if desk is None or desk.key != key_of(task):
        _mine.desk = None  # the old one's memory goes first
        desk = _mine.desk = _Desk(task)
    if task.content and desk.content != task.content:
        raise RuntimeError(
            f"the scene {task.job.scene} is another one here: its content is {desk.content[:12]}..., that of the job "
            f"{task.content[:12]}... (another file, or another version of NumPy)"
        )
    start = time.perf_counter()
    if desk.frame is None or desk.frame[0] != task.index:
        desk.frame = task.index, frame_of(desk.scene, task.job, task.index)
    result = desk.renderer.render(desk.frame[1], window=task.window)
    drawn = time.perf_counter()
    if isinstance(desk.frame[1], DrawnFrame) and task.suffix not in ("", ".npy", ".exr"):
        desk.frame[1].say_clamped()
    if task.suffix:
        result.picture_of(desk.frame[1])
    images = [np.asarray(image) for image in result.images]
    files: tuple[bytes, ...] = ()
    if task.suffix == ".raw":
        files = (encoded(np.asarray(as_picture(images[0])), ".npy"),)
    elif task.suffix:
        files = tuple(encoded(image, task.suffix) for image in images)
    stats = desk.device.compile_stats
    compiled = stats["functions_compiled"] + stats["glsl_compiled"]
    newly, desk.compiled = compiled - desk.compiled, compiled
    return Done(
        task.index,
        task.window,
        worker,
        "drawn",
        pixels=pixel_hash(images),
        files=files,
        hashes=tuple(bytes_hash(one) for one in files),
        images=tuple(images) if task.keep_images else (),
        render_ms=(drawn - start) * 1e3,
        save_ms=(time.perf_counter() - drawn) * 1e3,
        size_px=(images[0].shape[1], images[0].shape[0]) if images else (0, 0),
        compiled=newly,
    )
