"""A golden picture is one picture in a run: who compared with it first, so that an update never replaces what another test just saw.

In: a golden's path, who asks. Out: who was first. Notes lie in a folder of the run, which the processes of pytest-xdist share
(TILEGPU_GOLDEN_RUN, set by the pytest plugin); without one in a folder of this process.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@cache
def _of_process(_: int) -> Path:
    folder = tempfile.mkdtemp(prefix="tilegpu-golden-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@contextmanager
def claimed(path: Path, who: str) -> Iterator[str | None]:
    """Holds the golden for one comparison of a run that updates. Yields who was first, None if nobody was; then ``who`` is, unless the
    comparison raises."""
    given = os.environ.get("TILEGPU_GOLDEN_RUN")
    folder = Path(given) if given else _of_process(os.getpid())
    note = folder / hashlib.sha256(os.path.realpath(path).encode()).hexdigest()
    with note.open("a+", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # until it is closed
        stream.seek(0)
        first = stream.read() or None
        yield first
        if first is None:
            stream.write(who)
