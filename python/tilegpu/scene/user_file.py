"""A user's own Python file as a scene: what ``tilegpu render|view|compare|explain FILE.py[:NAME]`` draws.

In: the names of a module that was run. Out: a scene. A name may be

* a :class:`Scene`, or a class of them that takes no arguments;
* a :class:`Frame`, which is drawn as it is;
* a function. Of ``device``, ``size``, ``samples``, ``time`` (or ``t``), ``camera``, ``mouse``, ``keys`` and ``view`` (all of it, and more:
  :class:`~tilegpu.scene.interaction.View`) it is given those that it names; it draws with the front end and returns an
  image (or a view, a texture, an array (H, W) or (H, W, C), a list of them: the colour images), or returns a :class:`Frame`.
  Defaults of ``size``, ``samples`` and ``camera`` (an :class:`OrbitCamera`; or a scene, whose camera it is) are the scene's own.

What goes wrong in the file is a :class:`SceneFileError` with the file and the line.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tilegpu import Device, Error, Image, ImageView, Texture, ValidationError, arguments
from tilegpu.errors import ClampedValueWarning, UnusedNameWarning, candidates, users_level
from tilegpu.picture_file import FAR_BELOW
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.description import Frame, Scene
from tilegpu.scene.interaction import Interaction, View

#: What a function may ask for.
PARAMETERS = ("device", "size", "samples", "time", "t", "camera", "mouse", "keys", "view")
#: Names that are looked for, in this order, where the command line gives none.
NAMES = ("scene", "draw", "render", "frame")
_DEFAULT_SIZE = (640, 480)


class SceneFileError(Error, RuntimeError):
    """Something is wrong in a user's file; the message begins with the file and the line."""


def error_in(path: Path, error: BaseException, doing: str) -> SceneFileError:
    """What was raised while ``doing`` something, at the file's own line: the innermost that is of the file."""
    if isinstance(error, SceneFileError):
        return error
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename) == path:
        return SceneFileError(f"{path}:{error.lineno}: {type(error).__name__}: {error.msg}{_source(error.text)}")
    lines = [entry for entry in traceback.extract_tb(error.__traceback__) if Path(entry.filename) == path]
    where = f"{path}:{lines[-1].lineno}" if lines else str(path)
    source = _source(lines[-1].line) if lines else ""
    said = f": {error}" if str(error) else ""
    if isinstance(error, SystemExit):
        said = f"{said} (sys.exit); what is drawn returns its picture, and doesn't end the program"
    return SceneFileError(f"{where}: {doing}: {type(error).__name__}{said}{source}")


def _source(line: str | None) -> str:
    return f"\n    {line.strip()}" if line and line.strip() else ""


@dataclasses.dataclass(frozen=True, eq=False)
class DrawnFrame(Frame):
    """A frame whose picture a user's function draws. ``arguments``: what it may be given, beside the device, and what the window tells
    (``live``); ``wanted``: names of what it is given."""

    function: Callable[..., Any] = lambda: None
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    wanted: frozenset[str] = frozenset()
    path: Path = Path()
    live: Interaction = dataclasses.field(default_factory=Interaction)

    def told(self, live: Interaction) -> DrawnFrame:
        """With mouse and keys."""
        return dataclasses.replace(self, live=live)

    @property
    def wants_device(self) -> bool:
        """Whether it draws with the device that it is given."""
        return bool({"device", "view"} & self.wanted)

    def call(self, device: Device) -> Any:
        """What the function returns. Raises :class:`SceneFileError` for whatever goes wrong in it."""
        have = {"device": device, "mouse": self.live.mouse, "keys": self.live.keys, **self.arguments}
        if "view" in self.wanted:
            a = self.arguments
            have["view"] = View(device, a["size"], a["samples"], a["time"], a["camera"], self.live)
        try:
            self.live.returned = self.function(**{name: have[name] for name in self.wanted})
        except (Exception, SystemExit) as error:  # a program that ends here has drawn nothing
            raise error_in(self.path, error, f"in {_name_of(self.function)}()") from error
        return self.live.returned

    def pictures(self, returned: Any) -> list[np.ndarray[Any, Any]]:
        """The colour images as arrays (H, W, C)."""
        values = returned if isinstance(returned, (list, tuple)) and returned else [returned]
        made = [self._picture(value) for value in values]
        self._say_turned(made[0].shape[1], made[0].shape[0])
        return made

    def _say_turned(self, width: int, height: int) -> None:
        """A warning, once for each function, where it was given a size and drew that with width and height in each other's places: arrays
        have their rows first."""
        given = self.arguments.get("size")
        if self.live.turned or width == height or not {"size", "view"} & self.wanted or (height, width) != given:
            return
        self.live.turned = True
        where = f"{self.path}:{_line_of(self.function)}: {_name_of(self.function)}()"
        fix = "arrays are (height, width, C): np.zeros((size[1], size[0], 4)), and image sizes (width, height)"
        text = f"{where} was given size={given}, and drew {width} x {height}; {fix}"
        warnings.warn(text, UnusedNameWarning, stacklevel=users_level())

    def say_clamped(self) -> None:
        """Of what :meth:`call` returned last, where it is saved or shown as 8 bits: a warning, once for each function, where an array of
        floats goes far beyond 0 to 1; whole numbers, beyond 0 to 255, but for those of 16 bits, of which 65535 is white: where all are
        bytes. Images with such floats are lit so; files of floats keep them."""
        returned = self.live.returned
        arrays = [v for v in (returned if isinstance(returned, (list, tuple)) else [returned]) if isinstance(v, np.ndarray)]
        for array in arrays:
            if array.dtype.kind not in "fiu" or array.dtype == np.uint8 or not array.size or self.live.clamped:
                continue
            low, high = float(np.fmin.reduce(array, None)), float(np.fmax.reduce(array, None))
            where = f"{self.path}:{_line_of(self.function)}: {_name_of(self.function)}()"
            if array.dtype == np.uint16:
                if not 0 < high <= 255:
                    continue
                text = f"{where} returned uint16 up to {high:g}, of which 65535 is white, so all is black; for bytes give .astype(np.uint8)"
            elif array.dtype.kind != "f":
                if low >= 0 and high <= 255:
                    continue
                text = f"{where} returned whole numbers from {low:g} to {high:g} ({array.dtype}); 8 bits hold 0 to 255 alone"
            elif nans := int(np.isnan(array.reshape(*array.shape[:2], -1)[..., :3]).any(axis=-1).sum()):
                pixels = f"{nans:,} pixel{'s that are' if nans > 1 else ' that is'} NaN"
                text = f"{where} returned {pixels}, which 8 bits hold as 0: find what divides by 0, or save as .exr or .npy to keep them"
            elif low < -FAR_BELOW or high > 1.5:
                fix = "divide pixels of 255 by 255, or give uint8" if high > 2 else "save as .exr or .npy to keep them"
                text = f"{where} returned floats from {low:g} to {high:g}; 8 bits take 0 to 1, and others are clamped: {fix}"
            else:
                continue
            self.live.clamped = True
            warnings.warn(text, ClampedValueWarning, stacklevel=users_level())

    def _picture(self, value: Any) -> np.ndarray[Any, Any]:
        name = f"{self.path}:{_line_of(self.function)}: {_name_of(self.function)}()"
        if isinstance(value, np.ndarray):
            if (
                value.ndim not in (2, 3)
                or value.dtype.kind not in "uif"
                or not value.size
                or (value.ndim == 3 and value.shape[2] > 4)
            ):
                raise SceneFileError(
                    f"{name} returned an array of shape {value.shape} and dtype {value.dtype}; it must be (H, W) or (H, W, C) of "
                    "numbers, C from 1 to 4"
                )
            return value[..., None] if value.ndim == 2 else value
        level, layer = (value.level, value.layer) if isinstance(value, ImageView) else (0, 0)
        image = value.image if isinstance(value, (ImageView, Texture)) else value
        if not isinstance(image, Image):
            what = "None (does it end with return?)" if value is None else f"{type(value).__name__} ({value!r:.60})"
            raise SceneFileError(f"{name} returned {what}; it must be an image, an array, a list of them, or a Frame")
        if image.samples > 1:
            raise SceneFileError(
                f"{name} returned image '{image.label}' with {image.samples} samples; resolve it (resolve= of its attachment)"
            )
        if not isinstance(value, ImageView):
            image.say_left_out(f"{_name_of(self.function)}() is drawn as one picture")
        try:
            return image.numpy(level, layer)
        except Exception as error:
            raise SceneFileError(f"{name} returned image '{image.label}', which can't be read: {error}") from error


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _line_of(function: Any) -> int:
    code = getattr(function, "__code__", None)
    return 0 if code is None else int(code.co_firstlineno)


class FunctionScene(Scene):
    """A function of a user's file, or of a running program (``later``: it is called when it is drawn, never for its frame alone)."""

    def __init__(self, name: str, function: Callable[..., Any], path: Path, later: bool = False) -> None:
        self.name, self._function, self.path, self._later = name, function, path, later
        self.description = (inspect.getdoc(function) or "").partition("\n")[0]
        self._where = f"{path}:{_line_of(function)}: {name}()"
        self._live = Interaction()  # keeps what a view keeps
        self._parameters = inspect.signature(function).parameters
        self._check_parameters()
        self.moves = bool({"time", "t", "view"} & set(self._parameters))
        size, samples = self._default("size"), self._default("samples")
        self.default_size = _DEFAULT_SIZE if size is None else size
        self.default_samples = 1 if samples is None else samples
        try:
            self._resolve_request(None, None)
        except (ValueError, TypeError) as error:
            raise SceneFileError(f"{self._where}: the default of size or samples: {error}") from None
        self.default_size = tuple(self.default_size)

    def _check_parameters(self) -> None:
        for parameter in self._parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY or (
                parameter.name not in PARAMETERS and parameter.default is parameter.empty
            ):
                raise SceneFileError(
                    f"{self._where} has a parameter '{parameter.name}'; what a function may ask for is {', '.join(PARAMETERS)} "
                    "(others need a default)"
                )

    @property
    def where(self) -> str:
        """File, line and name, for messages."""
        return self._where

    @property
    def parameters(self) -> tuple[str, ...]:
        """What it asks for."""
        return tuple(name for name in self._parameters if name in PARAMETERS)

    @property
    def why_still(self) -> str:
        """It may use a clock of its own, or chance: nobody knows whether its pictures are alike."""
        return f"the function {self.name}() asks for no time"

    @property
    def draws_itself(self) -> bool:
        """Whether it is called only to draw, so that its frame can't be known before."""
        return self._later or bool({"device", "view", "mouse", "keys"} & set(self._parameters))

    def _default(self, name: str) -> Any:
        parameter = self._parameters.get(name)
        return None if parameter is None or parameter.default is parameter.empty else parameter.default

    def camera(self, aspect: float | None = None) -> OrbitCamera | None:
        """The default of the parameter ``camera``, that of a scene where it is one, or a camera at its own default; ``None`` if the
        function has none."""
        return self._seen(aspect, turn=False)

    def turn_camera(self, aspect: float | None = None) -> OrbitCamera | None:
        """The same; a scene's is that to turn about it."""
        return self._seen(aspect, turn=True)

    def _seen(self, aspect: float | None, turn: bool) -> OrbitCamera | None:
        if not {"camera", "view"} & set(self._parameters):
            return None
        given = self._default("camera")
        if isinstance(given, Scene):
            if aspect is None:
                aspect = self.default_size[0] / self.default_size[1]
            given = given.turn_camera(aspect) if turn else given.camera(aspect)
        return copy.copy(given) if isinstance(given, OrbitCamera) else OrbitCamera()

    def frame(
        self,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        camera: OrbitCamera | None = None,
        time: float = 0.0,
    ) -> Frame:
        """What the function draws, or is going to draw. A function without ``device``, ``mouse`` and ``keys`` is called now, for its
        Frame."""
        if samples not in (None, self.default_samples) and not {"samples", "view"} & set(self._parameters):
            fix = "give it a parameter samples (or view), and draw so"
            raise ValidationError(f"{self._where}: samples is {arguments.shown(samples)}, and the function asks for none; {fix}")
        size, samples = self._resolve_request(size, samples, camera, time)
        now = float(time)
        values = {"size": size, "samples": samples, "time": now, "t": now, "camera": camera or self.camera(size[0] / size[1])}
        drawn = DrawnFrame(
            size,
            samples,
            resolve="pass" if samples > 1 else "none",
            label=self.name,
            function=self._function,
            arguments=values,
            wanted=frozenset(self.parameters),
            path=self.path,
            live=self._live,
        )
        if self.draws_itself:
            return drawn
        made = drawn.call(None)  # type: ignore[arg-type]
        return (
            made
            if isinstance(made, Frame)
            else dataclasses.replace(drawn, function=_returning(made, self._function), wanted=frozenset())
        )


def _returning(value: Any, function: Callable[..., Any]) -> Callable[[], Any]:
    def made() -> Any:
        return value

    made.__name__, made.__code__ = _name_of(function), made.__code__.replace(co_firstlineno=_line_of(function) or 1)
    return made


class FrameScene(Scene):
    """A :class:`Frame` of a user's file: always the same picture."""

    moves = False

    def __init__(self, name: str, frame: Frame) -> None:
        self.name, self._frame = name, frame
        self.description, self.default_size, self.default_samples = frame.label, frame.size, frame.samples

    def frame(
        self,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        camera: OrbitCamera | None = None,
        time: float = 0.0,
    ) -> Frame:
        """The frame. Raises :class:`tilegpu.ValidationError` for another size or sample count than it has."""
        for word, asked, has in (("size", size, self._frame.size), ("samples", samples, self._frame.samples)):
            if asked is not None and asked != has:
                raise ValidationError(
                    f"frame '{self.name}' has {word} {has}, asked for is {asked}; write a function of {word} that returns it"
                )
        self._say_unused(camera, time)
        return self._frame


class _CheckedScene(Scene):
    """A scene of a user's file: what goes wrong in it is told with file and line."""

    def __init__(self, scene: Scene, path: Path, name: str) -> None:
        self._scene, self.path = scene, path
        self.name, self.description = scene.name or name, scene.description
        self.default_size, self.default_samples, self.fixed_samples, self.moves = (
            scene.default_size,
            scene.default_samples,
            scene.fixed_samples,
            scene.moves,
        )

    @property
    def duration_s(self) -> float:
        """The scene's."""
        return self._scene.duration_s

    def configured(self, **options: Any) -> Scene:
        """The scene's."""
        return _CheckedScene(self._scene.configured(**options), self.path, self.name)

    def camera(self, aspect: float | None = None) -> OrbitCamera | None:
        """The scene's."""
        return self._seen("camera", aspect)

    def turn_camera(self, aspect: float | None = None) -> OrbitCamera | None:
        """The scene's."""
        return self._seen("turn_camera", aspect)

    def _seen(self, method: str, aspect: float | None) -> OrbitCamera | None:
        try:
            made: OrbitCamera | None = getattr(self._scene, method)(aspect)
        except (Exception, SystemExit) as error:
            raise error_in(self.path, error, f"{self.name}: {method}()") from error
        return made

    def frame(
        self,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        camera: OrbitCamera | None = None,
        time: float = 0.0,
    ) -> Frame:
        """The scene's."""
        try:
            made = self._scene.frame(size, samples, camera, time)
        except (Exception, SystemExit) as error:
            raise error_in(self.path, error, f"{self.name}: frame()") from error
        if not isinstance(made, Frame):
            raise SceneFileError(
                f"{self.path}: {self.name}: frame() returned {type(made).__name__}; it must be a tilegpu.scene.Frame"
            )
        for word in ("size", "samples"):
            if getattr(made, word) is None:
                raise SceneFileError(
                    f"{self.path}: {self.name}: frame() returned a Frame whose {word} is None, which means that nobody asks for one; "
                    "begin frame() with size, samples = self._resolve_request(size, samples, camera, time), which takes the scene's own"
                )
        return made


def _own(module: ModuleType) -> dict[str, Any]:
    """What the file itself defines that can be drawn, by name."""
    out: dict[str, Any] = {}
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        here = getattr(value, "__module__", None) == module.__name__
        if isinstance(value, (Scene, Frame)) or (_is_scene_class(value) and here) or (inspect.isfunction(value) and here):
            out[name] = value
    classes = [value for value in out.values() if _is_scene_class(value)]
    bases = {base for cls in classes for base in cls.__mro__[1:]}  # what others are made from is no scene of its own
    return {name: value for name, value in out.items() if not (_is_scene_class(value) and value in bases)}


def _listed(module: ModuleType, path: Path, others: bool) -> dict[str, Scene]:
    """The scenes of the list ``SCENES`` by name. Raises :class:`SceneFileError` for one that would be lost, where the list is of scenes:
    where nothing in it is one and the file has ``others`` to draw, it is the user's own affair."""
    given = getattr(module, "SCENES", [])
    want = "a list of scenes, such as SCENES = [MyScene()]"
    if isinstance(given, (str, bytes, Mapping, Scene, Frame)) or not isinstance(given, Iterable):
        is_scenes = isinstance(given, (Scene, Frame)) or (isinstance(given, Mapping) and any(isinstance(v, Scene) for v in given.values()))
        if others and not is_scenes:
            return {}
        fix = "; write SCENES = list(... .values())" if isinstance(given, Mapping) else ""
        raise SceneFileError(f"{path}: SCENES is {_kind(given)}; it must be {want}{fix}")
    entries = list(given)
    drawable = any(isinstance(one, (Scene, Frame)) or _is_scene_class(one) for one in entries)
    if others and not drawable:
        return {}
    first: dict[str, int] = {}
    for number, one in enumerate(entries):
        what = f"{path}: SCENES[{number}]"
        if not isinstance(one, Scene):
            fix = "it must be a Scene"
            if isinstance(one, type):
                fix = f"write {one.__name__}(), which makes one"
            elif isinstance(one, Frame):
                fix = f"give it a name of its own, such as picture = Frame(...), and draw {path.name}:picture"
            elif inspect.isfunction(one):
                fix = f"take it out, and draw {path.name}:{one.__name__}"
            raise SceneFileError(f"{what} is {_kind(one)}; {fix}")
        if one.name in first or (not one.name and len(entries) > 1):
            has = f"is called '{one.name}' as SCENES[{first[one.name]}] is" if one.name else f"({type(one).__name__}) has no name"
            raise SceneFileError(f"{what} {has}, and one is lost; give each a name = '...' of its own")
        first[one.name] = number
    return {one.name: one for one in entries}


def _is_scene_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Scene)


def _kind(value: Any) -> str:
    """What something is, for messages: frames and scenes have no repr that helps."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.isfunction(value):
        return f"the function {value.__name__}()"
    if isinstance(value, (Frame, Scene)):
        return f"a {type(value).__name__}"
    return arguments.shown(value)


def scene_of(module: ModuleType, name: str, path: Path) -> Scene:
    """The scene called ``name``, or the file's own one for ``""``: the only one of ``SCENES``; else :data:`NAMES`; else the only thing
    that can be drawn. Raises :class:`SceneFileError` that lists what there is."""
    things = _own(module)
    listed = _listed(module, path, bool(things))
    if name:
        found = listed.get(name, things.get(name))
        if found is None:
            there = [*listed, *(n for n in things if n not in listed)]
            which = candidates(name, there) if there else "; there is nothing that can be drawn"
            raise SceneFileError(f"{path}: there is no '{name}' to draw{which}")
        return _as_scene(found, name, path)
    if len(listed) == 1:
        only = next(iter(listed.values()))
        return _as_scene(only, only.name, path)
    chosen = next((n for n in NAMES if n in things), None)
    drawable = [
        n
        for n in things
        if not inspect.isfunction(things[n]) or set(inspect.signature(things[n]).parameters) & set(PARAMETERS)
    ]
    if chosen is None and len(drawable) == 1:
        chosen = drawable[0]
    if chosen is None:
        all_of_it = [*listed, *(n for n in things if n not in listed)]
        must = f"define a function draw(device, size), a Scene or a Frame called {', '.join(NAMES[:2])}, or say which: {path}:NAME"
        raise SceneFileError(
            f"{path}: " + (f"which of {', '.join(all_of_it)}? {must}" if all_of_it else f"nothing in it can be drawn; {must}")
        )
    return _as_scene(things[chosen], chosen, path)


def _as_scene(thing: Any, name: str, path: Path) -> Scene:
    if isinstance(thing, Frame):
        return FrameScene(name, thing)
    if isinstance(thing, type):
        try:
            thing = thing()
        except (Exception, SystemExit) as error:
            raise error_in(path, error, f"making a {name}") from error
    if isinstance(thing, Scene):
        return _CheckedScene(thing, path, name)
    return FunctionScene(name, thing, path)
