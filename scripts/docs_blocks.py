"""The Python blocks of the documents: found, run in order, and what they print and save.

    python scripts/docs_blocks.py docs/PAGE.md ... [--out FOLDER]

In: Markdown. Out: for each block what it printed and the files that it wrote (PNG, GIF, HTML), which the site puts below it
(docs_site.py), and which tests look at.

A block ```` ```python ```` is run; ```` ```python no-run ```` is shown only (what is left out in it stands as ``...``), and must parse.
A block that imports tilegpu begins a program of its own; a block that doesn't goes on with the one before. So whatever has an import can
be copied alone. Functions ``test_*`` that a block defines are called, as pytest would, with golden pictures written into the folder.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import sys
import tempfile
import traceback
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
FENCE = re.compile(r"^(?P<fence>`{3,})python(?P<words>[^\n`]*)\n(?P<code>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
BEGINS = re.compile(r"^(?:import|from) [^\n]*\btilegpu\b", re.MULTILINE)
#: What a block may write to be shown.
SHOWN = {".png", ".gif", ".html"}


@dataclass
class Block:
    """``start``, ``end``: where it stands in the page's text, with its fences. ``line``: of its first line of code, from 1."""

    code: str
    words: frozenset[str]
    line: int
    start: int
    end: int
    printed: str = ""
    files: list[Path] = field(default_factory=list)

    @property
    def runs(self) -> bool:
        return "no-run" not in self.words

    @property
    def begins(self) -> bool:
        """Whether it is a program of its own."""
        return BEGINS.search(self.code) is not None

    @property
    def goes_on(self) -> bool:
        """Whether it needs what the one before made: copied alone it is no program."""
        return self.runs and not self.begins


class BlockError(Exception):
    """A block failed; the message has the page, the line and the traceback."""


def blocks(text: str) -> list[Block]:
    """All Python blocks of a page."""
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        words = frozenset(match["words"].split())
        if words - {"no-run"}:
            raise BlockError(f"line {line - 1}: ```python {' '.join(words)}: the one word that is known is no-run")
        found.append(Block(match["code"], words, line, match.start(), match.end()))
    return found


def _times(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix in SHOWN}


@contextlib.contextmanager
def _inside(folder: Path, path: list[str]) -> Iterator[None]:
    """The current folder, and what a block adds to the search path taken away again."""
    before, old_path = Path.cwd(), list(sys.path)
    os.chdir(folder)
    sys.path[:0] = path
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = old_path


def _call(tests: list[Any]) -> None:
    """Calls tests, of which each writes the golden pictures that it asks for, then compares."""
    given = os.environ.get("TILEGPU_GOLDEN_UPDATE")
    try:
        for test in tests:
            os.environ["TILEGPU_GOLDEN_UPDATE"] = "1"
            test()
            os.environ["TILEGPU_GOLDEN_UPDATE"] = "0"
            test()
    finally:
        os.environ.pop("TILEGPU_GOLDEN_UPDATE", None)
        if given is not None:
            os.environ["TILEGPU_GOLDEN_UPDATE"] = given


def run_page(page: Path, folder: Path, text: str | None = None) -> list[Block]:
    """Runs the blocks of a page in ``folder`` (empty), each program in a module of its own. Raises :class:`BlockError` for the first
    that fails. Files keep the times by which it is seen which block wrote them."""
    found = blocks(page.read_text(encoding="utf-8") if text is None else text)
    module: dict[str, Any] | None = None
    seen: dict[Path, int] = {}
    with _inside(folder, [str(folder)]):
        for number, block in enumerate(found):
            where = f"{page.name}, line {block.line}"
            source = "\n" * (block.line - 1) + block.code
            if not block.runs:
                ast.parse(source, where)
                continue
            if block.begins or module is None:
                name = f"block_{page.stem.replace('-', '_')}_{number}"
                made = types.ModuleType(name)
                sys.modules[name] = made  # dataclasses and pickle look a class's module up
                module = made.__dict__
            printed = io.StringIO()
            before = {name: thing for name, thing in module.items() if name.startswith("test_")}
            try:
                with contextlib.redirect_stdout(printed):
                    exec(compile(source, str(page), "exec"), module)
                tests = [thing for name, thing in module.items() if name.startswith("test_") and before.get(name) is not thing]
                now = _times(folder)  # golden pictures are not the block's own
                _call(tests)
            except BaseException as error:
                raise BlockError(f"{where}:\n{traceback.format_exc()}") from error
            block.printed = printed.getvalue().rstrip()
            block.files = sorted((p for p, t in now.items() if seen.get(p) != t), key=lambda p: now[p])
            seen = _times(folder)
    return found


def pages() -> list[Path]:
    """All pages with blocks that run."""
    made = DOCS / "made"
    found = [p for p in sorted(DOCS.rglob("*.md")) if made not in p.parents]
    return [p for p in found if any(block.runs for block in blocks(p.read_text(encoding="utf-8")))]


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs the Python blocks of documents.")
    parser.add_argument("pages", nargs="*", type=Path, help="default: all of docs/")
    parser.add_argument("--out", type=Path, help="keep what they write, in a folder for each page")
    arguments = parser.parse_args()
    for page in arguments.pages or pages():
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) if arguments.out is None else (arguments.out / page.stem).resolve()
            folder.mkdir(parents=True, exist_ok=True)
            for block in run_page(page.resolve(), folder):
                if block.runs:
                    print(f"{page}:{block.line}: {', '.join(p.name for p in block.files) or 'ran'}")
                    if arguments.out is not None and block.printed:
                        print(block.printed)


if __name__ == "__main__":
    main()
