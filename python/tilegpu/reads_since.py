"""Who reads, later on the GPU, what a step of a frame wrote: passes, dispatches and commands of later frames, and outside of frames.

In: what each step that is executed reads and writes (:class:`tilegpu.uses.Use`). Out: of each write of an image that a frame keeps, whether
somebody has read it (:attr:`Left.read`). What reads it later within its own frame is the graph's to say, and does not count here.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from typing import Any

_lock = threading.Lock()


class Mark:
    """Stands for a frame where the frame must not be kept alive."""

    __slots__ = ("__weakref__",)


#: The frames that something is a step of, and its number there, the first where it is several times.
Steps = weakref.WeakKeyDictionary[Mark, int]


class Left:
    """What step ``number`` of a frame wrote of an image and left there."""

    __slots__ = ("__weakref__", "frame", "number", "read", "use")

    def __init__(self, use: Any, frame: Mark, number: int) -> None:
        self.use, self.frame, self.number = use, frame, number
        self.read = False

    def put(self) -> None:
        """The image holds it now, or holds it again."""
        image = self.use.thing
        with _lock:
            if not self.read and not any(ref() is self for ref in image._left):
                image._left = [*(ref for ref in image._left if ref() is not None), weakref.ref(self)]

    def is_under(self, write: Any) -> bool:
        """Whether a write leaves nothing of it."""
        mine = self.use
        return bool(
            write.whole and write.aspect == mine.aspect and write.levels[0] <= mine.levels[0] and mine.levels[1] <= write.levels[1]
            and write.layers[0] <= mine.layers[0] and mine.layers[1] <= write.layers[1]
        )  # fmt: skip


def left_by(uses: Iterable[Any], frame: Mark, number: int) -> list[Left]:
    """Of a step that was executed: what it wrote of images, put there."""
    found = [Left(use, frame, number) for use in uses if use.write and hasattr(use.thing, "_left")]
    for one in found:
        one.put()
    return found


def executed(uses: Iterable[Any], steps: Steps | None = None) -> None:
    """Something was executed that uses this."""
    uses = [use for use in uses if getattr(use.thing, "_left", ())]
    with _lock:
        for use in uses:
            if not use.write:
                use.thing._left = [ref for ref in use.thing._left if not _is_read(ref(), use, steps)]
        for use in uses:
            if use.write:
                use.thing._left = [ref for ref in use.thing._left if (one := ref()) is not None and not one.is_under(use)]


def _is_read(one: Left | None, use: Any, steps: Steps | None) -> bool:
    """Notes it; what is read, or gone, need not be looked at again."""
    if one is None:
        return True
    in_its_frame = steps is not None and steps.get(one.frame, -1) > one.number
    if not in_its_frame and one.use.meets(use.aspect, use.levels, use.layers, use.bytes):
        one.read = True
    return one.read
