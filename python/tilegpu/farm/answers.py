"""Whether an answer is one. In: a task, whatever an executor gave for it. Out: ``""``, or what is wrong with it.

Executors are anybody's: what comes back is looked at in this one place before it is counted, written or hashed into a manifest. What is
wrong is a failure of that frame, as one that a worker states itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu.arguments import shown
from tilegpu.farm.hashes import bytes_hash, pixel_hash
from tilegpu.farm.job import FarmError
from tilegpu.farm.manifest import is_hash
from tilegpu.farm.worker import Done, Task
from tilegpu.files import npy_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: What a task may become, as :class:`Done` says.
_STATES = ("drawn", "shaders", "declined", "left", "failed")
_PNG_HEAD_B = 24
_MOST_TEXT = 300


def problem_of(task: Task, answer: Any, is_first: bool) -> str:
    """``is_first``: no other task stood before it, for which it may have been left."""
    if not isinstance(answer, Done):
        return f"its answer is {shown(answer)}; it must be the tilegpu.farm.Done that the function returned"
    if not name_of(answer):
        return f"its answer's worker is {shown(answer.worker)}; it must be a name"
    if type(answer.index) is not int or answer.index != task.index or not _is_window(answer.window) or answer.window != task.window:
        return f"its answer is of {_named(answer.index, answer.window)}; asked for was {_named(task.index, task.window)}"
    if answer.state not in _STATES:
        return f"its answer's state is {shown(answer.state)}; it must be {', '.join(_STATES)}"
    if not isinstance(answer.error, str):
        return f"its answer's error is {shown(answer.error)}; it must be text"
    # What would go out again and again.
    if answer.state == "shaders" and task.pack is not None:
        return "it asks for shaders that were sent with the task"
    if answer.state == "declined" and answer.worker not in task.avoid:
        return f"{answer.worker} declined a task that it had not failed with"
    if answer.state == "left" and is_first:
        return "it left a task that stood behind no other"
    return _problem_of_drawn(task, answer) if answer.state == "drawn" else ""


def name_of(answer: Any) -> str:
    """The worker's, of what may be no answer; "": it has none that a terminal can show."""
    name = getattr(answer, "worker", None)
    return name if isinstance(name, str) and len(name) <= _MOST_TEXT and name.isprintable() else ""


def _is_window(value: Any) -> bool:
    return value is None or (isinstance(value, tuple) and all(type(n) is int for n in value))


def _named(index: Any, window: Any) -> str:
    return f"frame {shown(index)}" + (f", tile {shown(window)}" if window is not None else "")


def _problem_of_drawn(task: Task, done: Done) -> str:
    if not is_hash(done.pixels):
        return f"its answer's hash of the pixels is {shown(done.pixels)}; it must be a SHA-256 in hexadecimal"
    for name in ("render_ms", "save_ms"):
        value = getattr(done, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            return f"its answer's {name} is {shown(value)}; it must be a number of at least 0"
    if isinstance(done.compiled, bool) or not isinstance(done.compiled, int) or done.compiled < 0:
        return f"its answer's compiled is {shown(done.compiled)}; it must be a whole number of at least 0"
    size = done.size_px
    if not isinstance(size, tuple) or len(size) != 2 or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in size):
        return f"its answer's size is {shown(size)}; it must be (width, height)"
    wanted = task.window[2:] if task.window is not None else task.size_px
    if wanted is not None and done.has_picture and size != wanted:
        return f"its picture has {size[0]}x{size[1]} px; asked for was {wanted[0]}x{wanted[1]}"
    return _problem_of_files(task, done) or _problem_of_images(task, done)


def _problem_of_files(task: Task, done: Done) -> str:
    if not isinstance(done.files, tuple) or not all(isinstance(one, bytes) for one in done.files):
        return f"its answer's files are {shown(done.files)}; they must be bytes"
    if not isinstance(done.hashes, tuple) or len(done.hashes) != len(done.files) or not all(map(is_hash, done.hashes)):
        return f"its answer has {len(done.files)} files and these hashes: {shown(done.hashes)}; each has a SHA-256 in hexadecimal"
    count = {"": 0, ".raw": 1}.get(task.suffix, task.colors)
    if len(done.files) != count and (count is not None or not done.files):
        return f"its answer has {len(done.files)} files; the frame has {'at least 1' if count is None else count}"
    for number, (data, said) in enumerate(zip(done.files, done.hashes, strict=True)):
        if bytes_hash(data) != said:
            return f"what came of file {number} is not what was sent (a hash differs)"
        if problem := _problem_of_file(data, task.suffix, done.size_px if number == 0 else None):
            return f"file {number} of its answer {problem}"
    return ""


def _problem_of_file(data: bytes, suffix: str, size: tuple[int, int] | None) -> str:
    """Of the formats that tell their size in a few bytes. ``size``: ``None``: whatever it is."""
    if not data:
        return "is empty"
    found: tuple[int, int]
    if suffix == ".png":
        if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < _PNG_HEAD_B:
            return "is no PNG"
        found = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    elif suffix in (".npy", ".raw"):
        try:
            array = npy_array(data)
        except ValueError as error:
            return f"is no .npy: {error}"
        if array.ndim < 2:
            return f"is an array of shape {array.shape}, which is no picture"
        found = array.shape[1], array.shape[0]
    else:
        return ""
    return "" if size is None or found == size else f"has {found[0]}x{found[1]} px; it must have {size[0]}x{size[1]}"


def _problem_of_images(task: Task, done: Done) -> str:
    images = done.images
    if not isinstance(images, tuple) or not all(isinstance(one, np.ndarray) and one.ndim == 3 for one in images):
        return f"its answer's images are {shown(images)}; they must be arrays (height, width, components)"
    if not task.keep_images:
        return f"its answer has {len(images)} images, and none was asked for" if images else ""
    if task.colors is not None and len(images) != task.colors:
        return f"its answer has {len(images)} images; the frame has {task.colors}"
    if pixel_hash(images) != done.pixels:
        return "its images are not those of its hash of the pixels"
    return ""


def passed_on(items: Iterable[Any], tasks: Sequence[Task]) -> Iterator[Done]:
    """Answers behind a ``progress`` of somebody's, which must yield each as it came. Raises :class:`FarmError`."""
    fix = "progress must yield every item that it is given, as it is and in order"
    got = 0
    for done in items:
        if not isinstance(done, Done):
            raise FarmError(f"progress yielded {shown(done)} in place of an answer; {fix}")
        if got == len(tasks) or (done.index, done.window) != (tasks[got].index, tasks[got].window):
            raise FarmError(f"progress yielded {_named(done.index, done.window)} in another's place; {fix}")
        got += 1
        yield done
    if got != len(tasks):
        raise FarmError(f"progress yielded {got} answers of {len(tasks)}; {fix}")
