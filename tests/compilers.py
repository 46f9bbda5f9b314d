"""The processes that compile for a program: its keeper, which is nobody's child and says whose it is, and the keeper's workers."""

from __future__ import annotations

import contextlib
from pathlib import Path


def keepers_of(pid: int) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # of those that have just ended
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"/tilegpu-compiler") and words[1:2] == [str(pid).encode()]:
                found.append(process)
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        found = [one for one in found if (one / "stat").read_text().rpartition(")")[2].split()[0] != "Z"]
    return [int(one.name) for one in found if not _is_worker(one)]


def _is_worker(process: Path) -> bool:
    """Of a keeper, which it is a fork of."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        return Path(f"/proc/{parent}/cmdline").read_bytes() == (process / "cmdline").read_bytes()
    return True


def compilers_of(pid: int) -> list[int]:
    """Workers: of the keepers of the process."""
    found = []
    for keeper in keepers_of(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += [int(one) for one in Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()]
    return found
