"""What a device is to the objects that it makes: the core's device, a profile, a queue to submit to, memory for arguments.

In: recorded command buffers. Out: executed ones. It knows none of those objects, so images and passes can know their device without a
circle of modules; :class:`tilegpu.Device` adds what makes them.
"""

from __future__ import annotations

import functools
import operator
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tilegpu import _core, notebook, reads_since
from tilegpu.errors import (
    Place,
    UndefinedContentsError,
    UndefinedContentsWarning,
    UnusedNameWarning,
    beyond_vulkan,
    users_level,
    users_place,
)
from tilegpu.fixed import Fixed, no_block

if TYPE_CHECKING:
    from typing import Any


#: Every way to use a buffer.
_USAGES = functools.reduce(operator.or_, _core.ENUMS["buffer_usage"].values())


@no_block
class CommandStats(NamedTuple):
    """What a copy, blit, resolve, clear or mip chain moved: each texel of its regions once, with all its samples."""

    command: str  #: ``"copy"``, ``"blit"``, ``"resolve"``, ``"clear"``, ``"generate_mipmaps"``
    read_B: int
    written_B: int

    @property
    def moved_B(self) -> int:
        """Both."""
        return self.read_B + self.written_B

    def _repr_html_(self) -> str:
        rows = [("read", f"{self.read_B:,} B"), ("written", f"{self.written_B:,} B")]
        return notebook.table(self.command, (), rows, {1})


@no_block
class DeviceOptions(NamedTuple):
    """What a device was made with that devices which execute its frames again are made with too: all but what changes no count
    (threads, lanes, bins, caches, and whether samples are compressed on this host)."""

    compiler_limits: tuple[float, int] | None = None
    render_mode: _core.RenderMode = _core.RenderMode.gmem
    tiler_heap_B: int = 0
    vertex_batch: int = 0
    lrz_flush: bool = True
    ordered_atomics: bool = True
    loop_budget: int = 0
    indirect_budget: int = 0

    def of_another(self) -> DeviceOptions:
        """On another profile: it has batches of vertices and a mode of its own."""
        return self._replace(render_mode=_core.RenderMode.gmem, vertex_batch=0)


DEFAULT_OPTIONS = DeviceOptions()


class _OpenPasses(threading.local):
    """Of each thread, the passes whose ``with`` block it is in, the outermost first."""

    def __init__(self) -> None:
        self.passes: list[weakref.ref[Any]] = []  # who drops an open pass has given it up


open_here = _OpenPasses()


def open_passes() -> list[Any]:
    """The passes whose ``with`` block this thread is in, the outermost first."""
    found = [(place, place()) for place in open_here.passes]
    open_here.passes[:] = [place for place, open_pass in found if open_pass is not None]
    return [open_pass for _, open_pass in found if open_pass is not None]


def _say_not_captured(process: int, path: str, place: Place) -> None:
    if os.getpid() == process:  # a child of it asked for nothing
        said = f"device: capture: no pass ended after it, so {path} was not written; call it before the pass, or rp.capture(path) behind it"
        place.warn(said, UnusedNameWarning)


def check_order(what: str, thing: Any, write: bool, **part: Any) -> None:
    """An image or a buffer is about to be read, or written, at once; open passes of this thread are executed only when they end.

    ``part``: as the fields of :class:`tilegpu.uses.Use`. Raises :class:`ValidationError` where a pass has used the part otherwise, so that
    the order of the lines is not the order of execution.
    """
    for open_pass in open_passes():
        open_pass.check_order(what, thing, write, **part)


class Context(Fixed):
    """Base of :class:`tilegpu.Device`."""

    def __init__(self, core: _core.Device, profile: str, strict: bool = False) -> None:
        self.core = core
        self.profile = profile
        self.strict = strict  #: what reads contents that nobody wrote is an error, not a warning
        #: Seconds and bytes of each process that compiles shaders, 0: the defaults; ``None``: this process does. Other devices that execute
        #: what this one did have the same.
        self.compiler_limits: tuple[float, int] | None = None
        self._options = DEFAULT_OPTIONS
        self._lock = threading.RLock()  # what the garbage collector drops while it is held gives memory back too
        self._next_capture: str | None = None  # where the next pass is written before it is executed
        self._capture_left: weakref.finalize[..., Any] | None = None
        self._chunks = _core.ArgumentChunks(_USAGES)  # of arrays that are arguments of draws
        #: What passes that say nothing of ``trace=`` keep, for the window: as :attr:`tilegpu.scene.SceneRenderer.trace`.
        self.default_trace: bool | tuple[float, float] = False
        # Short names of shader files: which files they are, and a number for whatever else a pipeline has.
        self._file_labels: dict[str, tuple[tuple[str, ...], dict[tuple[bytes, ...], int]]] = {}
        self._frame: Any = None  # the frame that is open (frame.py): what is executed becomes a node of it
        self._frames: weakref.WeakSet[Any] = weakref.WeakSet()  # all that somebody can still ask who read what they stored

    def _capture_next(self, path: str | None) -> str | None:
        """The next pass is written there; gives back what was asked for before. The device's end, or the process's, says if none came."""
        before, self._next_capture = self._next_capture, path
        if self._capture_left is not None:
            self._capture_left.detach()
        self._capture_left = None if path is None else weakref.finalize(self, _say_not_captured, os.getpid(), path, users_place())
        return before

    def _run(
        self, record: Callable[[_core.CommandBuffer], None], kind: str = "", uses: Callable[[], Sequence[Any]] | None = None
    ) -> CommandStats:
        """Records and executes. ``kind``, ``uses``: what it is to an open frame, and what it reads and writes; without: nothing to it."""
        commands = _core.CommandBuffer(self.core)
        commands.begin()
        record(commands)
        commands.end()
        if open_here.passes and uses is not None:
            self._check_order(kind, uses())
        rows = self._submit(commands).command_traffic()
        stats = CommandStats(kind, sum(read_B for _, read_B, _ in rows), sum(written_B for _, _, written_B in rows))
        if self._frame is not None and uses is not None:
            self._frame.add_command(kind, commands, uses(), stats)
        elif self._frames and uses is not None:
            reads_since.executed(uses())
        return stats

    def _before(self, what: str, undefined: Sequence[str]) -> None:
        """Something is about to be executed. ``undefined``: what it reads, or may read, though nobody wrote it: an error or a warning."""
        if undefined and self.strict:
            texts = (text.removeprefix(f"{what}: ").removeprefix(f"{what}, ") for text in undefined)
            raise UndefinedContentsError(f"{what}: {'; '.join(texts)}")
        if not (self._frame is not None and self._frame.strict):  # which raises
            for text in undefined:
                named = text if text.startswith(what) else f"{what}: {text}"
                warnings.warn(named, UndefinedContentsWarning, stacklevel=users_level())
        if self._frame is not None:
            self._frame.before(what, undefined)

    def say_foreign(self, thing: Any, what: str) -> None:
        """Of an image or a buffer that another device of the process made: its memory is used as it is."""
        device = thing._device
        if device is not self and device is not self.core and device is not None:
            kind = "image" if isinstance(device, Context) else "buffer"
            named = what if f"'{thing.label}'" in what else f"{what}: {kind} '{thing.label}'"
            beyond_vulkan(f"{named} was made by another device", self.strict)

    def _check_order(self, what: str, uses: Iterable[Any]) -> None:
        """Of what is executed now, and uses this; see :func:`check_order`."""
        for use in uses if open_here.passes else ():
            part = {"aspect": use.aspect, "levels": use.levels, "layers": use.layers, "bytes": use.bytes}
            check_order(what, use.thing, use.write, **part)

    def _submit(
        self, commands: _core.CommandBuffer, traces: Sequence[tuple[int, bool, list[tuple[int, int]]]] = ()
    ) -> _core.Submission:
        return self.core.submit_and_wait([commands], list(traces)) if traces else self.core.submit_one(commands)
