"""What golden pictures are called, and where they lie.

In: names that tests give; from the environment PYTEST_CURRENT_TEST, TILEGPU_GOLDEN_FOLDER, TILEGPU_GOLDEN_ROOT. Out: paths. Two tests
without names never share a file: a name that lost a character to the file system, or its end, has eight digits of a hash instead.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path
from types import FrameType

from tilegpu.files import place as place_of
from tilegpu.testing.pictures import GoldenError

#: File names have at most 255 bytes; room for ``.side_by_side.png`` and the like.
_LONGEST = 160

#: The test whose pictures without a name are numbered, and how many there were.
_numbered: tuple[str, int] = ("", 0)


def is_set(name: str) -> bool:
    """Whether a variable of the environment says yes: 1, true, yes or on; 0, false, no, off or nothing are no."""
    value = os.environ.get(name, "")
    if value.lower() in ("1", "true", "yes", "on"):
        return True
    if value.lower() in ("", "0", "false", "no", "off"):
        return False
    raise GoldenError(f"{name} is {value!r}; it must be 1 (or true, yes, on) or 0 (or false, no, off)")


def test_id() -> str:
    """pytest's name of the running test, else ""."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


def caller() -> FrameType:
    """The frame outside of this package that asked."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("tilegpu.testing", "tilegpu.keywords")):
        frame = frame.f_back
    return frame


def place() -> str:
    """Who asked, for messages: the test, and the line."""
    frame = caller()
    line = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
    return f"{test_id()} ({line})" if test_id() else line


def safe(name: str) -> str:
    """A file's name of letters, digits and ``_.-``; of two names two."""
    kept = re.sub(r"[^\w.\-]", "_", name)
    if kept == name and len(kept.encode()) <= _LONGEST:
        return name
    cut = kept.encode()[:_LONGEST].decode(errors="ignore")
    return f"{cut}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def of_test(test: str) -> str:
    """A file's name for pytest's ``folder/test_a.py::TestB::test_c[id]``: ``folder.test_a.TestB.test_c-id``."""
    path, _, rest = test.partition("::")
    function, bracket, parameters = rest.partition("[")
    parts = [*path.removesuffix(".py").split("/"), *function.split("::")]
    return safe(".".join(parts) + ("-" + parameters.removesuffix("]") if bracket else ""))


def begin_test() -> None:
    """A test begins, perhaps again: its pictures without a name are numbered from the first."""
    global _numbered
    _numbered = "", 0


def _own_name() -> str:
    """Of the running test: ``test_a.test_c``; its second picture without a name ``test_a.test_c.2``."""
    global _numbered
    test = test_id()
    if not test:
        raise GoldenError('assert_image_equal: without pytest a picture needs a name: assert_image_equal(image, "name.png")')
    count = _numbered[1] + 1 if _numbered[0] == test else 1
    _numbered = test, count
    path, colons, rest = test.partition("::")
    return of_test(path.rpartition("/")[2] + colons + rest) + (f".{count}" if count > 1 else "")


def _folder() -> Path:
    """Where goldens with a relative name are: beside the file of the test, or of the code that called."""
    inside = os.environ.get("TILEGPU_GOLDEN_FOLDER", "golden")
    root = os.environ.get("TILEGPU_GOLDEN_ROOT")
    if root and test_id():
        return (Path(root) / test_id().partition("::")[0]).parent / inside
    return Path(caller().f_globals.get("__file__", "here")).absolute().parent / inside


def golden_path(name: str | os.PathLike[str] | None, suffix: str) -> tuple[Path, str]:
    """The golden picture's file, and its name in messages and reports: what stands below the folder.

    ``suffix``: of a picture without a name. Raises :class:`GoldenError` for a relative name that leads out of the folder.
    """
    path = Path(os.path.normpath(place_of(name))) if name is not None else Path(_own_name() + suffix)
    if path.is_absolute():
        return path, path.name
    if path.parts[:1] == ("..",):
        raise GoldenError(
            f"golden picture '{name}': the name leads out of the folder of golden pictures, {_folder()}; give a name below it, or an "
            "absolute path, or set the folder (tilegpu_golden in pytest's settings, TILEGPU_GOLDEN_FOLDER)"
        )
    return _folder() / path, path.as_posix()
