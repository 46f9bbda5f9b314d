"""Pictures for the window, drawn in a thread of their own: the window answers while shaders are compiled and while a picture takes long.

In: a :class:`~tilegpu.viewer.state.Request`, and which files changed. Out: a :class:`Shown`: the picture, or what went wrong; the heatmap's
legend, the pixel that is looked at, costs; the files that it is made of. Errors of a scene or of a user's function are texts here, and
never end the window.
"""

from __future__ import annotations

import dataclasses
import inspect
import queue
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tilegpu as tg
from tilegpu.picture_file import eight_bits
from tilegpu.program import made_of_files
from tilegpu.scene import DrawnFrame, Frame, Interaction, Program, Scene, SceneFileError, SceneRenderer
from tilegpu.scene.programs import spliced
from tilegpu.shader import files_of
from tilegpu.viewer import inspection
from tilegpu.viewer.state import Request

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PROGRAMS_EVERY = 60  # pictures: how often a described frame is asked for the files of its shaders


@dataclass
class Shown:
    """What came of a request. ``picture``: (H, W, 4) uint8, ``None`` where there is none. ``error``: to be shown over the last one;
    ``raised``: the same as an exception. ``scene``: another one, of a file that changed. ``drawn``: by a function, with the front end;
    ``described``: it returned a frame; ``own_device``: it draws with a device of its own. ``samples``: that the picture has, 0 where nobody
    knows; ``asked``: for how many. ``passes``: how many made the picture. ``first``: on new images or a new device, where nothing is as
    the picture before left it, so that ``cost`` has bytes that transaction elimination saves from the next one on."""

    picture: NDArray[np.uint8] | None = None
    size: tuple[int, int] = (0, 0)
    samples: int = 1
    asked: int = 1
    ms: float = 0.0
    error: str = ""
    raised: BaseException | None = None
    cost: str = ""
    look: inspection.Look = dataclasses.field(default_factory=inspection.Look)
    files: frozenset[str] = frozenset()
    scene: Scene | None = None
    hsr: tuple[str, ...] = ()
    drawn: bool = False
    described: bool = False
    own_device: bool = False
    passes: int = 1
    ended: bool = False
    first: bool = False


def as_rgba(image: NDArray[Any]) -> NDArray[np.uint8]:
    """(H, W, 4) uint8 of any colour image."""
    image = eight_bits(image)
    height, width, channels = image.shape
    if channels == 4:
        return image
    out = np.full((height, width, 4), 255, np.uint8)
    out[..., :3] = 0 if channels > 1 else image
    out[..., :channels] = image
    return out


def files_of_scene(scene: Scene) -> tuple[str, ...]:
    """The Python file that a scene was written in; a wrapped one's, a function's."""
    path = getattr(scene, "path", None)
    if path is None:
        try:
            path = inspect.getsourcefile(type(scene))
        except TypeError:
            path = None
    return (str(path),) if path else ()


def reread(program: Program) -> Program:
    """The program with its files' texts of now; ``#define`` lines that were put in front stay, and what the files include is put in where
    it was before. Raises where that is not there."""

    def text(old: Any, file: str) -> Any:
        if old is None:  # no fragment shader
            return None
        try:
            with open(file, encoding="utf-8") as stream:  # noqa: PTH123
                new = stream.read()
        except (OSError, UnicodeDecodeError):
            return old
        if "#include" in new and "#include" not in old:
            new = spliced(Path(file))
        head, mark, _ = old.partition("\n#line 2\n")
        if not mark or not new.startswith("#version"):
            return new
        version, _, rest = new.partition("\n")
        return version + head[len(head.partition("\n")[0]) :] + mark + rest

    return dataclasses.replace(
        program, vertex=text(program.vertex, program.vertex_file), fragment=text(program.fragment, program.fragment_file)
    )


def _shader_files(program: Program) -> tuple[str, str]:
    return program.vertex_file, program.fragment_file


def _with_included(named: tuple[str, str]) -> frozenset[str]:
    """Those files, with what they include beside themselves."""
    return frozenset(files_of([Path(file) for file in named if file]))


class Painter:
    """Draws what is asked for, on the device that is asked for. ``reload``: makes the scene anew when one of its files changed."""

    def __init__(self, options: Mapping[str, Any], reload: Callable[[], Scene] | None = None, scene_files: Iterable[str] = ()) -> None:
        self._options = dict(options)
        self._reload = reload
        self._scene_files = frozenset(scene_files)
        self._renderer: SceneRenderer | None = None
        self._drawn_as: tuple[Any, ...] | None = None  # what the last picture's device and images were made for
        self._device_key: Any = None
        self._own_device = False
        self._live = Interaction()
        self._problems: dict[Any, str] = {}  # of files that changed, until they are right
        self._program_files: weakref.WeakKeyDictionary[Any, tuple[str, ...]] = weakref.WeakKeyDictionary()
        self._shaders: dict[tuple[str, str], frozenset[str]] = {}  # of described frames: the files of each program, with what they include
        self._changed_shaders: set[str] = set()
        self._fresh: dict[int, tuple[Program, Program]] = {}
        self._count = 0
        self._shown_px: tuple[int, int] | None = None
        self._last_trace = ""

    def paint(self, request: Request, changed: frozenset[str]) -> Shown:
        """Never raises what comes of a scene, a shader or a user's function."""
        scene = self._take_changes(request, changed)
        try:
            shown = self._draw(dataclasses.replace(request, scene=scene))
        except SystemExit:
            return Shown(ended=True)
        except Exception as error:
            if isinstance(error.__cause__, SystemExit):  # of the function that draws
                return Shown(ended=True)
            shown = Shown(error=self._text_of(error), raised=error)
        shown.scene = scene if scene is not request.scene else None
        shown.error = "\n".join(filter(None, [*self._problems.values(), shown.error]))
        if shown.error and shown.raised is None:
            shown.raised = RuntimeError(shown.error)
        self._know_programs()
        shown.files = self._scene_files.union(*self._shaders.values(), *self._program_files.values())
        shown.own_device = self._own_device
        return shown

    # ---------------------------------------------------------------------------------------------------------- changes

    def _take_changes(self, request: Request, changed: frozenset[str]) -> Scene:
        """The scene, and pipelines, as their files are now."""
        scene = request.scene
        if changed & self._scene_files and self._reload is not None:
            try:
                scene = self._reload()
                self._problems.pop("scene", None)
                self._count = 0
            except Exception as error:
                self._problems["scene"] = self._text_of(error)
        if any(changed & files for files in self._shaders.values()):
            self._changed_shaders |= changed
            self._fresh.clear()
            self._shaders = {named: _with_included(named) for named in self._shaders}  # they may include others now
        for program, files in list(self._program_files.items()):
            if changed & set(files):
                try:
                    program.reload()
                    self._problems.pop(id(program), None)
                except Exception as error:
                    self._problems[id(program)] = self._text_of(error)
                self._program_files[program] = program.files
        return scene

    def _know_programs(self) -> None:
        """Pipelines that are new: files are read for what they include, so only once."""
        for program in made_of_files():
            if program not in self._program_files:
                self._program_files[program] = program.files

    def _with_fresh_programs(self, frame: Frame) -> Frame:
        def fresh(draw: Any) -> Any:
            program = draw.program
            if self._changed_shaders.isdisjoint(self._shaders.get(_shader_files(program), ())):
                return draw
            if id(program) not in self._fresh:
                self._fresh[id(program)] = program, reread(program)
            return dataclasses.replace(draw, program=self._fresh[id(program)][1])

        passes = tuple(dataclasses.replace(one, draws=tuple(map(fresh, one.draws))) for one in frame.passes)
        return dataclasses.replace(frame, draws=tuple(map(fresh, frame.draws)), passes=passes)

    # ------------------------------------------------------------------------------------------------------------ draw

    def _make_renderer(self, request: Request) -> SceneRenderer:
        key = request.profile, request.hsr
        if self._renderer is None or (self._device_key != key and not self._own_device):
            hsr: Any = "default" if request.hsr is None else list(request.hsr) or "off"
            self._renderer = SceneRenderer(tg.Device(profile=request.profile, hsr=hsr, **self._options))
            self._device_key = key
        return self._renderer

    def _draw(self, request: Request) -> Shown:
        renderer = self._make_renderer(request)
        x, y = request.probe or (0, 0)
        width, height = (request.heatmap and self._shown_px) or request.size  # what the mouse points at
        place = (x + 0.5) / width, (y + 0.5) / height
        renderer.trace = place if request.probe is not None or request.heatmap else False
        frame = request.frame(self._live)
        if not isinstance(frame, DrawnFrame):
            if self._count % _PROGRAMS_EVERY == 0:
                self._shaders = {named: _with_included(named) for named in {_shader_files(d.program) for d in frame.all_draws}}
            if self._changed_shaders:
                frame = self._with_fresh_programs(frame)
        self._count += 1
        start = time.perf_counter()
        result = renderer.render(frame)
        ms = (time.perf_counter() - start) * 1e3
        if isinstance(frame, DrawnFrame):
            frame.say_clamped()
        picture = as_rgba(result.picture_of(frame))
        size = picture.shape[1], picture.shape[0]
        shown = Shown(picture, size, renderer.samples_of(frame), request.samples, ms, hsr=renderer.device.hsr)
        drawn_as = request.profile, request.hsr, request.size, request.samples
        shown.first, self._drawn_as = drawn_as != self._drawn_as, drawn_as
        shown.drawn, shown.described = isinstance(frame, DrawnFrame), isinstance(self._live.returned, Frame)
        self._notice_device(renderer)
        shown.passes = max(1, len(renderer.passes))
        shown.cost = inspection.cost_text(result.stats, renderer.device)
        if request.heatmap or request.probe is not None:
            shown.look = inspection.look(renderer, request.heatmap, request.probe, request.from_last, size)
            if shown.look.picture is not None:
                shown.picture = as_rgba(shown.look.picture)
        assert shown.picture is not None
        self._shown_px = shown.picture.shape[1], shown.picture.shape[0]
        return shown

    def _notice_device(self, renderer: SceneRenderer) -> None:
        """A function may draw with a device of its own: its passes are that one's."""
        value = self._live.returned
        value = value[0] if isinstance(value, (list, tuple)) and value else value
        image = getattr(value, "image", value)
        device = image.device if isinstance(image, tg.Image) else None
        if isinstance(device, tg.Device) and device is not renderer.device:
            self._renderer, self._own_device = SceneRenderer(device), True

    def _text_of(self, error: BaseException) -> str:
        """For the window; where it came from goes to the terminal, once."""
        trace = "".join(traceback.format_exception(error))
        if trace != self._last_trace and not isinstance(error, (tg.Error, SceneFileError)):
            print(trace, file=sys.stderr, end="")
        elif trace != self._last_trace:
            print(f"tilegpu: {error}", file=sys.stderr)
        self._last_trace = trace
        expected = isinstance(error, (tg.Error, SceneFileError, OSError, ValueError, RuntimeError))
        return str(error) if expected and str(error) else f"{type(error).__name__}: {error}"


class Worker:
    """A thread that paints, one request at a time."""

    def __init__(self, paint: Callable[[Request, frozenset[str]], Shown]) -> None:
        self._paint = paint
        self._requests: queue.SimpleQueue[tuple[Request, frozenset[str]] | None] = queue.SimpleQueue()
        self._done = threading.Event()
        self._shown: Shown | None = None
        self.busy = False
        self._thread = threading.Thread(target=self._run, name="tilegpu viewer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while (job := self._requests.get()) is not None:
            try:
                self._shown = self._paint(*job)
            except BaseException as error:  # an error of the viewer itself: the window's thread raises it
                self._shown = Shown(error=repr(error), raised=error, ended=True)
            self._done.set()

    def start(self, request: Request, changed: frozenset[str]) -> None:
        """Begins; :attr:`busy` until :meth:`wait` gives what came of it."""
        self.busy = True
        self._done.clear()
        self._requests.put((request, changed))

    def wait(self, seconds: float) -> Shown | None:
        """What came of it, if it is there by then."""
        if not self._done.wait(seconds):
            return None
        self.busy = False
        return self._shown

    def stop(self) -> None:
        """After what is being painted, for a while."""
        self._requests.put(None)
        self._thread.join(10)
