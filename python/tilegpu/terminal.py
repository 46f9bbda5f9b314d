"""What everything that is started from a terminal shares: exit codes, options, wrong words, scenes by name.

In: words of a command line. Out: values, or a :class:`UsageError` that says what was meant. The library is imported when it is needed:
``tilegpu --help`` starts without it.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tilegpu.scene import Scene

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_NO_REFERENCE = 0, 1, 2, 3


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
    from tilegpu import profile_names

    names = profile_names()
    if text not in names:
        near = difflib.get_close_matches(text, names, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise argparse.ArgumentTypeError(f"profile is '{text}'; there are {', '.join(names)}{hint}")
    return text


def load_scene(name: str) -> Scene:
    """The scene, model or user's file of that name. Raises :class:`UsageError` with near names, or with what is wrong in the file."""
    from tilegpu.scene import MODEL_SUFFIXES, ModelError, SceneFileError, find_scene

    path = Path(name)
    if path.suffix.lower() in MODEL_SUFFIXES and not path.is_file():
        raise UsageError(f"there is no file {name}")
    try:
        return find_scene(name)
    except KeyError as error:
        raise UsageError(str(error.args[0])) from None
    except (FileNotFoundError, ModelError, SceneFileError) as error:
        raise UsageError(str(error)) from None
