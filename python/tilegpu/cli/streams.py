"""Standard streams that whoever started the process had closed, as some daemons do (``2>&-``): Python has None in their place.

In: the process's streams. Out: all three, those that were not there at ``/dev/null``, so that whatever writes to them goes on.
Source: Python's documentation of ``sys.stdin``, ``sys.stdout``, ``sys.stderr`` ("can be None").
"""

from __future__ import annotations

import os
import sys


def _is_free(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


def open_missing_streams() -> None:
    """Also takes the streams' descriptors where they are free: a file that is opened later would have their numbers, and get what
    libraries write to stderr."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != descriptor and _is_free(descriptor):
            os.dup2(opened, descriptor)
            os.close(opened)
            opened = descriptor
        setattr(sys, name, os.fdopen(opened, "w" if descriptor else "r", encoding="utf-8", errors="backslashreplace"))
