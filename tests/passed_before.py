"""Compilers that found nothing in a text find nothing in it the next time: what a test asks them is asked once for each text."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "passed"


def told_apart_by(words: Iterable[str], files: Iterable[Path], root: Path) -> str:
    """A name for a command and the files, below ``root``, that it may read."""
    digest = hashlib.sha256("\0".join(words).encode())
    for path in sorted(files):
        text = path.read_bytes()
        digest.update(f"\0{path.relative_to(root)}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()


@contextlib.contextmanager
def passed_before(name: str) -> Iterator[bool]:
    """Whether what is in the block passed for this name (:func:`told_apart_by`); where it passes now, that is kept in the build folder."""
    mark = FOLDER / name
    there = mark.exists()
    yield there
    if not there:
        FOLDER.mkdir(parents=True, exist_ok=True)
        mark.touch()
