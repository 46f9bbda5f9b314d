"""What everything that is started from a terminal shares: exit codes, options, wrong words, scenes by name, the line of progress.

In: words of a command line. Out: values, or a :class:`UsageError` that says what was meant. The library is imported when it is needed:
``tilegpu --help`` starts without it.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from tilegpu.scene import Scene

T = TypeVar("T")
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_NO_REFERENCE = 0, 1, 2, 3


class UsageError(Exception):
    """The command names something that does not exist, cannot be read or makes no sense; exit code 2."""


def plain(text: str) -> str:
    """What a module's docstring says, for a terminal: without reStructuredText's roles and double backticks."""
    return re.sub(r"(?::[a-z:]+:)?`+~?([^`]*)`+", r"\1", text)


#: Options of which whoever gives two wants both. Of all others the last counts, as with other programs, so that aliases may say some.
_ONCE = frozenset({"output", "report", "heatmaps", "stats", "manifest", "screenshot", "plot", "plots"})


class _Store(argparse.Action):
    """argparse's own, which refuses a second one of :data:`_ONCE`."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        before = getattr(namespace, self.dest, None)
        if self.dest in _ONCE and before is not None and before is not self.default:
            shown = [",".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in (before, values)]
            parser.error(f"{option_string} is given twice, {shown[0]} and {shown[1]}, and one counts; leave one of them out")
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """argparse, with near matches where a choice is wrong, and with descriptions (docstrings, most of them) in plain text."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.description = plain(self.description or "") or None
        self.register("action", None, _Store)
        self.register("action", "store", _Store)
        # "-1,4" is a value that somebody means, and which its option refuses in words; no option begins with a digit.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def error(self, message: str) -> NoReturn:
        """Prints usage and message (with a near match) and exits with 2."""
        found = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if found:
            choices = [c.strip(" '") for c in found.group(2).split(",")]
            near = difflib.get_close_matches(found.group(1), choices, n=1, cutoff=0.6)
            message = f"'{found.group(1)}' is none of {', '.join(choices)}" + (
                f"; did you mean {near[0]}?" if near else ""
            )
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n")


def parse_size(text: str, most: int = 16384) -> tuple[int, int]:
    """``"640x480"`` as (640, 480); for argparse."""
    found = re.fullmatch(r"(\d+)[xX×](\d+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"size is '{text}'; write WIDTHxHEIGHT, for example 640x480")
    size = int(found.group(1)), int(found.group(2))
    if not all(1 <= n <= most for n in size):
        raise argparse.ArgumentTypeError(f"size is '{text}'; each side may be 1 to {most}")
    return size


def positive(text: str) -> int:
    """A number of at least 1; for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return int(text)


#: What folders are not called.
_FILES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".html", ".json", ".txt", ".exr", ".npy", ".gif", ".mp4"})


def check_output(path: str | Path, option: str, folder: bool = False, content: str = "") -> Path:
    """The path of what a command is going to write. Raises :class:`UsageError` where that can't be done, before the work is, and where its
    suffix is not of its ``content`` (:func:`tilegpu.files.suffix_problem`)."""
    from tilegpu.files import output_problem, suffix_problem

    problem = output_problem(path, folder)
    if problem:
        raise UsageError(f"{option} {path}: {problem}")
    if content and (problem := suffix_problem(path, content)):
        raise UsageError(f"{option} {problem}")
    if folder and not Path(path).exists() and Path(path).suffix.lower() in _FILES:
        raise UsageError(f"{option} {path}: it is a folder for several pictures, and {Path(path).suffix} says that it is a file")
    if folder:  # some file systems, such as /proc, say that they may be written to
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{option} {path}: the folder can't be made: {error.strerror}") from None
    return Path(path)


def scene_file(name: str) -> Path | None:
    """The file that a scene's name stands for (``FILE``, ``FILE.py:NAME``); ``None`` for a sample's: then its shaders are the house's."""
    from tilegpu.scene import scene_file as found

    return found(name)


def check_different(outputs: Mapping[str, str | Path | None], inputs: Mapping[str, str | Path | None] | None = None) -> None:
    """Raises :class:`UsageError` where two options would write one file, or one would write over what the command reads. ``outputs``,
    ``inputs``: paths by option; ``None`` and "" are what nobody gave. Devices and pipes take what they get."""
    from tilegpu.files import is_same_file

    written = {option: path for option, path in outputs.items() if path and (Path(path).is_file() or not Path(path).exists())}
    for number, (option, path) in enumerate(written.items()):
        for other, its in list(written.items())[:number]:
            if is_same_file(path, its):
                raise UsageError(f"{option} {path}: {other} writes that file too; give each a path of its own")
        for other, read in (inputs or {}).items():
            if read and is_same_file(path, read):
                raise UsageError(f"{option} {path}: {other} reads that file, which would be written over; give another path")


def profile_name(text: str) -> str:
    """The name of a GPU profile; for argparse."""
    from tilegpu import profile_names

    names = profile_names()
    if text not in names:
        near = difflib.get_close_matches(text, names, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise argparse.ArgumentTypeError(f"profile is '{text}'; there are {', '.join(names)}{hint}")
    return text


def load_scene(name: str) -> Scene:
    """The scene, model or user's file of that name. Raises :class:`UsageError` with near names, or with what is wrong in the file."""
    from tilegpu.files import input_problem
    from tilegpu.scene import MODEL_SUFFIXES, ModelError, SceneFileError, find_scene

    path = Path(name)
    if path.suffix.lower() in MODEL_SUFFIXES and (problem := input_problem(path)):
        raise UsageError(f"there is no file {name}" if problem == "is not there" else f"{name} {problem}")
    try:
        return find_scene(name)
    except KeyError as error:
        raise UsageError(str(error.args[0])) from None
    except (FileNotFoundError, ModelError, SceneFileError) as error:
        raise UsageError(str(error)) from None


# ---------------------------------------------------------------------------------------------------------------- progress


def duration_text(seconds: float) -> str:
    """``"9 s"``, ``"2:05"`` (minutes), ``"1:02:05"`` (hours)."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, s = divmod(whole, 60)
    return f"{minutes}:{s:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{s:02}"


def progress_text(label: str, done: int, total: int, seconds: float, columns: int = 80) -> str:
    """One line: label, bar, count, rate and time left (of what was done so far), at most so many columns wide."""
    rate = done / seconds if done and seconds > 0 else 0.0
    speed = f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each" if rate else ""
    left = f"{duration_text((total - done) / rate)} left" if rate else f"{duration_text(seconds)} so far"
    words = "  ".join(filter(None, (f"{done}/{total}", speed, left)))
    room = max(8, columns - len(words) - 12)
    label = label if len(label) <= room else label[: room - 1] + "…"
    width = max(4, min(32, columns - len(label) - len(words) - 6))
    filled = width * done // max(total, 1)
    return f"{label} [{'#' * filled}{'.' * (width - filled)}] {words}"


class _Line:
    """The terminal's last line, on stderr, if that is a terminal. A thread writes it anew while one item takes long."""

    AFTER_S, EVERY_S = 0.5, 0.25

    def __init__(self) -> None:
        self.quiet = False
        self._lock = threading.Lock()
        self._shown = False

    def write(self, text: str) -> None:
        with self._lock:
            with contextlib.suppress(OSError):  # the terminal may have gone
                print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = True

    def clear(self) -> None:
        with self._lock:
            if self._shown:
                with contextlib.suppress(OSError):
                    print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False

    @property
    def wanted(self) -> bool:
        return not self.quiet and sys.stderr.isatty()


_line = _Line()


def add_quiet_option(parser: argparse.ArgumentParser) -> None:
    """``--quiet``, which :func:`be_quiet` takes."""
    parser.add_argument("-q", "--quiet", action="store_true", help="no line of progress (there is none where stderr is no terminal)")


def be_quiet(quiet: bool) -> None:
    """Whether :func:`progress` shows nothing from now on."""
    _line.quiet = quiet


def say(text: str) -> None:
    """Prints a line of a result while progress may be shown."""
    _line.clear()
    print(text, flush=True)


def step(text: str) -> None:
    """What is done now, of work that has no count; until the next one, a result (:func:`say`) or :func:`end_of_steps`."""
    if _line.wanted:
        _line.write(f"{text} ...")


def end_of_steps() -> None:
    """Takes the last one away."""
    _line.clear()


def progress(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """The items; meanwhile a line on stderr, if it is a terminal, once all this takes more than half a second: how many are done, how
    fast, and how long the rest takes at that. :func:`be_quiet` switches it off."""
    if not _line.wanted or total < 1:
        yield from items
        return
    start, done, ended = time.perf_counter(), 0, threading.Event()

    def tick() -> None:
        wait_s = _Line.AFTER_S
        while not ended.wait(wait_s):
            wait_s = _Line.EVERY_S
            _line.write(progress_text(label, done, total, time.perf_counter() - start, shutil.get_terminal_size().columns - 1))

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        for item in items:
            yield item
            done += 1
    finally:
        ended.set()
        thread.join()
        _line.clear()
