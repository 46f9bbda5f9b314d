"""What the commands share: options, scenes and devices by name, messages, the progress bar."""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from tilegpu import Device
    from tilegpu.scene import Scene

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_NO_REFERENCE = 0, 1, 2, 3
SAMPLE_COUNTS = (1, 2, 4, 8, 16)
LANE_COUNTS = (4, 8, 16)
T = TypeVar("T")


class UsageError(Exception):
    """The command names something that does not exist, cannot be read or makes no sense; exit code 2."""


class Parser(argparse.ArgumentParser):
    """argparse, with near matches where a choice is wrong."""

    def error(self, message: str) -> NoReturn:
        """Prints usage and message (with a near match) and exits with 2."""
        found = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if found:
            choices = [c.strip(" '") for c in found.group(2).split(",")]
            near = difflib.get_close_matches(found.group(1), choices, n=1, cutoff=0.5)
            message = f"'{found.group(1)}' is none of {', '.join(choices)}" + (
                f"; did you mean {near[0]}?" if near else ""
            )
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n")


def parse_size(text: str) -> tuple[int, int]:
    """``"640x480"`` as (640, 480); for argparse."""
    found = re.fullmatch(r"(\d+)[xX×](\d+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"size is '{text}'; write WIDTHxHEIGHT, for example 640x480")
    size = int(found.group(1)), int(found.group(2))
    if not all(1 <= n <= 16384 for n in size):
        raise argparse.ArgumentTypeError(f"size is '{text}'; each side may be 1 to 16384")
    return size


def positive(text: str) -> int:
    """A number of at least 1; for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return int(text)


def profile_name(text: str) -> str:
    """The name of a GPU profile; for argparse."""
    from tilegpu import _core

    names = _core.profile_names().split(", ")
    if text not in names:
        near = difflib.get_close_matches(text, names, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise argparse.ArgumentTypeError(f"profile is '{text}'; there are {', '.join(names)}{hint}")
    return text


def add_scene_options(parser: argparse.ArgumentParser) -> None:
    """SCENE|FILE, ``--size`` and ``--samples``."""
    parser.add_argument("scene", metavar="SCENE|FILE", help="a scene's name ('tilegpu scenes') or a model file")
    parser.add_argument(
        "--size", type=parse_size, metavar="WxH", help="size of the picture in pixels (default: the scene's own)"
    )
    parser.add_argument(
        "--samples",
        type=int,
        choices=SAMPLE_COUNTS,
        metavar="N",
        help="samples for each pixel: 1, 2, 4, 8 or 16 (default: the scene's own)",
    )


def add_device_options(parser: argparse.ArgumentParser) -> None:
    """``--threads``, ``--lanes``, ``--profile``."""
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


def make_device(options: argparse.Namespace, profile: str | None = None) -> Device:
    """A device as the options say."""
    import tilegpu

    arguments: dict[str, Any] = {"profile": profile or options.profile}
    if options.threads is not None:
        arguments["threads"] = options.threads
    if options.lanes is not None:
        arguments["lanes"] = options.lanes
    return tilegpu.Device(**arguments)


def load_scene(name: str) -> Scene:
    """The scene or model of that name. Raises :class:`UsageError` with near names, or with what is wrong in the model's file."""
    from tilegpu.scene import find_scene
    from tilegpu.scene.gltf import ModelError
    from tilegpu.scene.resources import MODEL_SUFFIXES

    path = Path(name)
    if path.suffix.lower() in MODEL_SUFFIXES and not path.is_file():
        raise UsageError(f"there is no file {name}")
    try:
        return find_scene(name)
    except KeyError as error:
        raise UsageError(str(error.args[0])) from None
    except (FileNotFoundError, ModelError) as error:
        raise UsageError(str(error)) from None


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


def progress(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """The items, with a bar on the terminal (if stderr is one) once they take more than half a second."""
    start = time.perf_counter()
    shown = False
    for done, item in enumerate(items):
        elapsed = time.perf_counter() - start
        if sys.stderr.isatty() and total > 1 and elapsed > 0.5:
            width = max(10, min(40, shutil.get_terminal_size().columns - len(label) - 30))
            filled = width * done // total
            left = f"{elapsed / done * (total - done):.0f} s left" if done else ""
            print(
                f"\r{label} [{'#' * filled}{'.' * (width - filled)}] {done}/{total} {left}\x1b[K",
                end="",
                file=sys.stderr,
                flush=True,
            )
            shown = True
        yield item
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
