"""What the commands share: options of scenes and devices, values as JSON, and what :mod:`tilegpu.terminal` has for all."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.terminal import (
    EXIT_FAILED,
    EXIT_NO_REFERENCE,
    EXIT_OK,
    EXIT_USAGE,
    Parser,
    UsageError,
    add_quiet_option,
    check_different,
    check_output,
    load_scene,
    parse_size,
    positive,
    profile_name,
    progress,
    scene_file,
)

if TYPE_CHECKING:
    from tilegpu import Device
    from tilegpu.scene import Frame, Scene

__all__ = [
    "EXIT_FAILED",
    "EXIT_NO_REFERENCE",
    "EXIT_OK",
    "EXIT_USAGE",
    "Parser",
    "UsageError",
    "add_device_options",
    "add_isolation_option",
    "add_quiet_option",
    "add_scene_options",
    "as_plain",
    "capture_of",
    "check_device_used",
    "check_different",
    "check_output",
    "chosen_scene",
    "existing_capture",
    "is_capture",
    "load_scene",
    "make_device",
    "parse_size",
    "positive",
    "profile_name",
    "progress",
    "read_by",
    "refuse",
    "seconds",
    "wants_isolation",
]

SAMPLE_COUNTS = (1, 2, 4, 8, 16)
LANE_COUNTS = (4, 8, 16)


def add_scene_options(
    parser: argparse.ArgumentParser, size: Callable[[str], tuple[int, int]] = parse_size, captures: bool = False
) -> None:
    """SCENE|FILE, ``--size`` and ``--samples``; ``captures``: whether the command takes them too."""
    files = "a scene's name ('tilegpu scenes'), a model file, Python of your own (FILE.py[:NAME])" + (", a capture" if captures else "")
    parser.add_argument("scene", metavar="SCENE|FILE", help=files)
    parser.add_argument(
        "--size", type=size, metavar="WxH", help="size of the picture in pixels (default: the scene's own)"
    )
    parser.add_argument(
        "--samples",
        type=int,
        choices=SAMPLE_COUNTS,
        metavar="N",
        help="samples for each pixel: 1, 2, 4, 8 or 16 (default: the scene's own)",
    )
    parser.add_argument("--time", type=seconds, metavar="T", help="the moment to show, in seconds (default: 0)")
    parser.add_argument(
        "--animation", metavar="NAME|INDEX", help="of a model: which of its animations (default: the first); none: as the file has it"
    )
    parser.add_argument("--camera", metavar="NAME|INDEX", help="of a model: one of its cameras (default: one that frames it)")
    parser.add_argument("--lights", choices=("file", "studio"), help="of a model: its own lights (default, if it has any), or the studio's")
    parser.add_argument("--exposure", type=float, metavar="E", help="of a model: what its light is multiplied by (default: 0.62)")
    parser.add_argument(
        "--environment", metavar="SKY", help="of a model: a .hdr or .exr picture of the whole sky that lights it (default: a studio)"
    )


def given_options(options: argparse.Namespace, names: tuple[str, ...]) -> list[str]:
    """Which of these the command line has, as they are written; ``None``, ``False`` and an empty list are what nobody gave, 0 is not."""

    def is_given(value: Any) -> bool:
        return value is not None and value is not False and value != []

    found = [name for name in names if is_given(getattr(options, name, None))]
    return [f"--{name.replace('_', '-')}" for name in found]


def refuse(options: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    """Raises :class:`UsageError` for options that nothing would look at. ``why``: what the command does instead, and the fix."""
    if given := given_options(options, names):
        raise UsageError(f"{', '.join(given)} {'has' if len(given) == 1 else 'have'} no effect: {why}")


def read_by(options: argparse.Namespace) -> dict[str, str | Path | None]:
    """Files that a command's scene is read from, for :func:`check_different`."""
    return {"the scene": scene_file(options.scene), "--environment": options.environment}


def seconds(text: str) -> float:
    """A number of seconds from 0 to 1e9, as far as floats tell moments apart at all; for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is no time; a number of seconds is needed, 0 to 1e9")
    return value


def is_capture(name: str) -> bool:
    """By its name, or a file of another name that is one."""
    if name.endswith(".tgcap"):
        return True
    if not Path(name).is_file() or Path(name).suffix.lower() in (".py", ".gltf", ".glb", ".obj", ".ply", ".stl"):
        return False
    import tilegpu

    try:
        tilegpu.capture_profile(name)
    except tilegpu.Error:
        return False
    return True


def existing_capture(name: str) -> Path:
    """The path of a capture. Raises :class:`UsageError` where it is not there."""
    from tilegpu.files import input_problem

    path = Path(name)
    if problem := input_problem(path):
        is_what = "is a folder" if path.is_dir() else problem
        writers = "rp.capture() and dev.capture() write one, TILEGPU_CAPTURE of programs on the Vulkan driver"
        raise UsageError(f"capture '{path}' {is_what}; {writers}")
    return path


def capture_of(options: argparse.Namespace) -> Path:
    """The capture that stands for a scene. Raises :class:`UsageError` where it is not there, or an option wants to change it."""
    path = existing_capture(options.scene)
    chosen = ("size", "samples", "time", "animation", "camera", "lights", "exposure", "environment")
    refuse(options, chosen, f"'{path}' is a capture, and holds what it was made with")
    return path


def chosen_scene(options: argparse.Namespace) -> Scene:
    """The scene that the options name, with what they choose of it. Raises :class:`UsageError`."""
    if is_capture(options.scene):
        path = existing_capture(options.scene)
        raise UsageError(f"'{path}' is a capture: tilegpu replay draws it, tilegpu explain and what-if say what it costs")
    scene = load_scene(options.scene)
    _check_taken(scene, options)
    try:
        chosen = scene.configured(
            animation=options.animation,
            camera=options.camera,
            lights=options.lights,
            exposure=options.exposure,
            environment=options.environment,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    if not chosen.moves and options.time:  # at 0 it is what is shown in any case
        still = chosen.why_still.replace("the scene", chosen.name, 1)
        refuse(options, ("time",), f"{still}; leave it out")
    options.time = options.time or 0.0
    return chosen


def _check_taken(scene: Scene, options: argparse.Namespace) -> None:
    """What is given is used: a function of a user's takes no more than it asks for. A window has a size in any case."""
    from tilegpu.scene import FunctionScene

    if not isinstance(scene, FunctionScene):
        if scene.fixed_samples and options.samples not in (None, scene.default_samples):
            raise UsageError(f"--samples {options.samples}: scene {scene.name} is defined with {scene.default_samples}; leave it out")
        return
    for name in ("size", "samples"):
        if getattr(options, name) is None or {name, "view"} & set(scene.parameters):
            continue
        if (name, options.command) != ("size", "view"):
            raise UsageError(f"--{name}: the function {scene.name}() asks for none; give it a parameter {name} (or view), and draw so")


def check_device_used(options: argparse.Namespace, frame: Frame) -> None:
    """Of a frame that was drawn. Raises :class:`UsageError` where the options' device is not what drew it: a function that asks for none
    has one of its own, or needs none. What it returns as a Frame is drawn by the options'."""
    from tilegpu.scene import DrawnFrame
    from tilegpu.scene import Frame as Described

    if not isinstance(frame, DrawnFrame) or frame.wants_device or isinstance(frame.live.returned, Described):
        return
    given = given_options(options, ("threads", "lanes", "isolate_compiler"))
    if options.isolate_compiler is False:
        given.append("--no-isolate-compiler")
    given += [f"--{name}" for name, none in (("profile", "host"), ("hsr", "default")) if getattr(options, name, none) != none]
    if given:
        asks = f"the function {frame.label}() asks for no device, and draws by itself"
        raise UsageError(f"{', '.join(given)}: {asks}; give it a parameter device (or view), and draw with that")


def add_device_options(parser: argparse.ArgumentParser) -> None:
    """``--threads``, ``--lanes``, ``--profile``, ``--isolate-compiler``."""
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="threads to render with (default: all that this process may use)"
    )
    parser.add_argument(
        "--lanes",
        type=int,
        choices=LANE_COUNTS,
        metavar="N",
        help="fragments that a shader runs on at once: 4, 8 or 16 (default: by CPU)",
    )
    parser.add_argument(
        "--profile",
        type=profile_name,
        default="host",
        metavar="P",
        help="the GPU to model: host, immortalis-g925, ... (default: host; a wrong name lists them)",
    )
    add_isolation_option(parser)


def add_isolation_option(parser: argparse.ArgumentParser) -> None:
    """``--isolate-compiler``, which :func:`wants_isolation` reads: of every command that draws what a user names."""
    parser.add_argument(
        "--isolate-compiler",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="compile shaders in a process of their own, which may crash or hang (default: for files; not for named scenes)",
    )


def wants_isolation(options: argparse.Namespace, source: str | None = None) -> bool:
    """As ``--isolate-compiler`` says, else whether what is drawn comes from a file. ``source``: its name, if it is not the command's
    capture or scene."""
    if options.isolate_compiler is not None:
        return bool(options.isolate_compiler)
    return scene_file(str(source or getattr(options, "capture", None) or options.scene)) is not None


def make_device(options: argparse.Namespace, profile: str | None = None, source: str | None = None, **more: Any) -> Device:
    """A device as the options say. ``source``: as of :func:`wants_isolation`; ``more``: what else :class:`tilegpu.Device` takes."""
    import tilegpu

    arguments: dict[str, Any] = {"profile": profile or options.profile, "isolate_compiler": wants_isolation(options, source), **more}
    for name in ("threads", "lanes"):
        if getattr(options, name, None) is not None:
            arguments[name] = getattr(options, name)
    return tilegpu.Device(**arguments)


def as_plain(value: Any) -> Any:
    """Statistics as what JSON can hold."""
    for name in ("as_dict", "asdict", "to_dict"):
        convert = getattr(value, name, None)
        if callable(convert):
            return as_plain(convert())
    if isinstance(getattr(value, "rows", None), list):
        return as_plain(value.rows)
    if isinstance(value, dict):
        return {str(k): as_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "item"):
        return value.item()
    return str(value)
