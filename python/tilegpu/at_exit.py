"""Threads that still draw when the process ends. In: the end of the interpreter. Out: no thread of Python within the core.

Python ends a daemon thread where it next asks for the interpreter's lock: by ``pthread_exit``, which unwinds the frames of C++ that it
stands in, and where one of these must not be unwound the process aborts (``Py_FinalizeEx``, CPython up to 3.13; later versions let the
thread hang). So before that, whoever is in the core comes back from it, and who calls it then ends as ``sys.exit`` ends a thread: quietly,
and so that others can wait for it. Threads that are no daemons have ended by then.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from tilegpu import _core

#: What the process waits for passes and compiles that daemon threads began; what takes longer is left to its fate.
_LONGEST_S = 3.0
_TURN_S = 0.0005
_HERE = os.path.dirname(__file__) + os.sep  # noqa: PTH120 -- pathlib would be imported for this alone


def _closed(function: Callable[..., Any], owner: int) -> Callable[..., Any]:
    """The function for one thread; it is the end of others."""

    def call(*arguments: Any, **named: Any) -> Any:
        if threading.get_ident() != owner:
            raise SystemExit("the process ends, and a daemon thread still draws")
        return function(*arguments, **named)

    return call


def close(core: Any, owner: int) -> None:
    """From now on functions of the core, and methods and constructors of its classes, are for one thread alone."""
    for name, value in list(vars(core).items()):
        if not isinstance(value, type):
            if callable(value):
                setattr(core, name, _closed(value, owner))
            continue
        for method, function in list(vars(value).items()) if not issubclass(value, BaseException) else ():
            if isinstance(function, staticmethod):
                setattr(value, method, staticmethod(_closed(function.__func__, owner)))
            elif callable(function) and (method == "__init__" or not method.startswith("__")):
                setattr(value, method, _closed(function, owner))


def _is_in_package(frame: Any) -> bool:
    """Whether what a thread runs last is a line of this package: it may be within a call of the core there."""
    return bool(frame.f_code.co_filename.startswith(_HERE))


def _end() -> None:
    own = threading.get_ident()
    if len(sys._current_frames()) < 2:
        return
    close(_core, own)
    until = time.monotonic() + _LONGEST_S
    while any(_is_in_package(frame) for thread, frame in sys._current_frames().items() if thread != own) and time.monotonic() < until:
        time.sleep(_TURN_S)


def watch() -> None:
    """Once for the process, when the package is imported: what was registered later runs before, and finds the core as it was."""
    atexit.register(_end)
