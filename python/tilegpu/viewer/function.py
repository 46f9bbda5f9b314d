"""``tilegpu.show``: a window on any loop. In: a function that draws a picture. Out: a window until it is closed.

The function is called for each picture, in a thread of the window's; what it asks for by the names of its parameters is
:mod:`tilegpu.scene.user_file`'s business, as for ``tilegpu view FILE.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tilegpu import ValidationError, profile_names
from tilegpu.files import output_problem
from tilegpu.picture_file import suffix_of
from tilegpu.scene import KEY_NAMES, FunctionScene
from tilegpu.viewer.keys import ACTIONS
from tilegpu.viewer.state import SAMPLE_CHOICES
from tilegpu.viewer.window import view

#: Parameters for which a function is called again and again.
_MOVING = {"time", "t", "view", "keys"}
_MAX_SIDE_PX = 16384


def _name_of(function: Any) -> str:
    name = str(getattr(function, "__name__", type(function).__name__))
    return "a function" if name == "<lambda>" else name


def _path_of(function: Any) -> Path:
    code = getattr(function, "__code__", None)
    if code is not None:
        return Path(code.co_filename)
    return Path(inspect.getsourcefile(type(function)) or "<function>")


def _own_keys(keys: str | Mapping[str, str]) -> dict[str, str]:
    if not isinstance(keys, (str, Mapping)):
        must = "it must be text, a key each, or a mapping from keys to what they do"
        raise ValidationError(f"show: own_keys is {keys!r}; {must}")
    given = dict.fromkeys(keys, "") if isinstance(keys, str) else dict(keys)
    for name in given:
        if not isinstance(name, str) or name not in KEY_NAMES or name in ("h", "?", "escape"):
            raise ValidationError(
                f"show: own_keys has {name!r}; names are lower-case letters, digits and {', '.join(map(repr, KEY_NAMES[36:]))}; "
                "h, ? and escape are the window's"
            )
    return given


def _check(size: Any, profile: Any, threads: Any, lanes: Any, max_frames: Any, screenshot: Any) -> None:
    """What is wrong with an argument is said before a window is looked for."""

    def whole(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    sides = isinstance(size, (tuple, list)) and len(size) == 2 and all(whole(n) and 1 <= n <= _MAX_SIDE_PX for n in size)
    if size is not None and not sides:
        raise ValidationError(f"show: size is {size!r:.80}; it must be (width, height) in pixels, each from 1 to {_MAX_SIDE_PX}")
    if profile not in profile_names():
        raise ValidationError(f"show: profile is {profile!r:.80}; there are {', '.join(profile_names())}")
    if threads is not None and not (whole(threads) and threads >= 1):
        raise ValidationError(f"show: threads is {threads!r:.80}; it must be a whole number of at least 1")
    if lanes not in (None, 4, 8, 16):
        raise ValidationError(f"show: lanes is {lanes!r:.80}; it must be 4, 8 or 16")
    if not (whole(max_frames) and max_frames >= 0):
        raise ValidationError(f"show: max_frames is {max_frames!r:.80}; it must be a whole number, 0 for a window that stays")
    if screenshot is not None:
        suffix_of(screenshot, "show: screenshot")
        problem = output_problem(screenshot)
        if problem:
            raise ValidationError(f"show: screenshot: {problem}")


def show(
    function: Callable[..., Any],
    *,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    profile: str = "host",
    threads: int | None = None,
    lanes: int | None = None,
    own_keys: str | Mapping[str, str] = "",
    max_frames: int = 0,
    screenshot: str | None = None,
    event_hook: Any = None,
) -> None:
    """Opens a window and shows what ``function`` draws, again and again, until the window is closed.

    The function is given what it names: ``t`` (or ``time``): seconds; ``size``: (width, height) of the window in pixels; ``camera``: an
    :class:`~tilegpu.math.OrbitCamera` that the mouse turns (a default of the parameter is where it begins); ``device``, ``samples``: the
    window's, which keys change; ``mouse``, ``keys``; or ``view``: all of these in one, with images and pipelines that are kept
    (:class:`tilegpu.scene.View`). It returns an image (a view, a texture, an array (H, W) or (H, W, C)), or a :class:`tilegpu.scene.Frame`.

    Shaders given as paths are read again when their files change. An exception of the function, or an error in a shader, is shown over the
    last good picture, and printed; the next picture is tried when something changes. ``H`` in the window lists the keys.
    ``own_keys``: keys that are the function's, such as ``"wasd"`` or ``{"w": "forward"}``, which the help then says.
    ``size`` is that of the window in the beginning, ``samples``, ``profile``, ``threads`` and ``lanes`` are the device's.
    ``max_frames``: closes it after so many pictures; ``screenshot``: a file for what it shows at the end.

    Raises :class:`tilegpu.viewer.ViewerError` where no window can be opened, :class:`tilegpu.ValidationError` for wrong arguments,
    :class:`tilegpu.scene.SceneFileError` for a parameter that nobody can give.
    """
    if not callable(function):
        raise ValidationError(f"show: function is {type(function).__name__}; it must be a function that draws, such as def draw(t): ...")
    if samples is not None and samples not in SAMPLE_CHOICES:
        raise ValidationError(f"show: samples is {samples!r:.80}; allowed are {', '.join(map(str, SAMPLE_CHOICES))}")
    _check(size, profile, threads, lanes, max_frames, screenshot)
    own = _own_keys(own_keys)
    scene = FunctionScene(_name_of(function), function, _path_of(function), later=True)
    wanted = set(scene.parameters)
    if samples not in (None, 1) and not wanted & {"samples", "view"}:
        raise ValidationError(f"show: samples is {samples}, but the function asks for none: name a parameter samples, or view")
    for name in own:
        if name in ACTIONS and ACTIONS[name].action in ("end",):
            raise ValidationError(f"show: own_keys has {name!r}, which ends the window; choose another")
    view(
        scene,
        size=size,
        samples=samples,
        profile=profile,
        threads=threads,
        lanes=lanes,
        max_frames=max_frames,
        screenshot=screenshot,
        event_hook=event_hook,
        own_keys=own,
        spin=bool(wanted & _MOVING),
        turns=False,
        strict=False,
    )
