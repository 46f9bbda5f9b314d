"""``python -m tests.file_fuzz.reach TARGET FOLDER``: which cases of a folder reach code of tilegpu's that no smaller one reaches.

Out: their names, one a line. What is reached are the steps from line to line of tilegpu's Python code, as the interpreter reports them:
slow, and wants nothing that is built otherwise.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tests.file_fuzz.targets import TARGETS  # noqa: E402

import tilegpu  # noqa: E402

OWN = str(Path(tilegpu.__file__).parent)


def steps_of(name: str, data: bytes) -> set[tuple[str, int, int]]:
    """(file, line, next line) of what one case runs."""
    steps: set[tuple[str, int, int]] = set()
    last: dict[int, int] = {}

    def within(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            steps.add((frame.f_code.co_filename, last.get(id(frame), 0), frame.f_lineno))
            last[id(frame)] = frame.f_lineno
        elif event == "return":
            last.pop(id(frame), None)
        return within

    def entered(frame: FrameType, event: str, _: Any) -> Any:
        return within if event == "call" and frame.f_code.co_filename.startswith(OWN) else None

    sys.settrace(entered)
    try:
        TARGETS[name](data)
    finally:
        sys.settrace(None)
    return steps


def kept(name: str, folder: Path) -> list[str]:
    """Names, small cases first."""
    reached: set[tuple[str, int, int]] = set()
    names = []
    for path in sorted(folder.iterdir(), key=lambda p: (p.stat().st_size, p.name)):
        data = path.read_bytes()
        TARGETS[name](data)  # what is made only the first time is nobody's
        steps = steps_of(name, data)
        if not steps <= reached:
            reached |= steps
            names.append(path.name)
    return names


if __name__ == "__main__":
    print("\n".join(kept(sys.argv[1], Path(sys.argv[2]))))
