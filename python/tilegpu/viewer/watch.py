"""Files that are watched. In: paths. Out: which of them changed since the last question, by time of change and size.

Asking is a few microseconds a file, so that no thread and no package is needed. An editor that writes a new file in place of the old one
counts as a change; a file that is away for a moment does not, until it is back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

EVERY_S = 0.25


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class Watcher:
    """What it was told to watch, and how it was when it was last asked for."""

    def __init__(self) -> None:
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._asked_at = 0.0

    def add(self, paths: Iterable[str]) -> None:
        """Watches these too, from now on."""
        for path in paths:
            if path not in self._stamps:
                self._stamps[path] = _stamp(path)

    @property
    def paths(self) -> frozenset[str]:
        """What is watched."""
        return frozenset(self._stamps)

    def changed(self, now: float) -> list[str]:
        """Those that changed; looks at most every :data:`EVERY_S` seconds of ``now``."""
        if now - self._asked_at < EVERY_S:
            return []
        self._asked_at = now
        out = []
        for path, before in self._stamps.items():
            stamp = _stamp(path)
            if stamp is not None and stamp != before:
                self._stamps[path] = stamp
                out.append(path)
        return out
