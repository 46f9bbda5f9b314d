"""The house in figures: for each room of cpp/src its files, lines, asserts per thousand lines and longest functions; the longest ones of
python/tilegpu.

    python scripts/house.py [--functions 10] [--json]

In: the sources of cpp/src, read as text, and those of python/tilegpu, by Python's own parser.
A function is a body of braces that follows a parameter list at the level of a namespace or
a class; lambdas belong to the function that they stand in. No compiler and no ctags is asked, so that the figures are the same
everywhere. Blank lines and comments count as lines.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "cpp" / "src"
PYTHON = Path(__file__).resolve().parent.parent / "python" / "tilegpu"
GENERATED = "icd/generated"
ASSERT = re.compile(r"(?<![\w_])assert\s*\(")
#: What may stand between the parameter list and the body.
AFTER_PARAMETERS = re.compile(r"\)\s*(?:const|noexcept|override|final|mutable|&|&&|->[^{};]*|\s)*$")
KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "alignof", "decltype", "requires", "constexpr"}


@dataclass
class Function:
    lines: int
    name: str
    file: str
    line: int


@dataclass
class Room:
    name: str
    files: int
    lines: int
    asserts: int
    functions: list[Function]

    @property
    def asserts_per_1000(self) -> float:
        return 1000 * self.asserts / max(self.lines, 1)


def without_texts(source: str) -> str:
    """The source with comments, strings and preprocessor lines blanked, each character in its place."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<![\w])\'(?:[^\'\\\n]|\\.)+\''
        r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
        re.DOTALL | re.MULTILINE,
    )
    return token.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def name_before(head: str) -> str | None:
    """The function's name, where `head` (what stands before a brace) ends in a parameter list; constructors' initialisers are cut off."""
    depth, start = 0, None
    initialisers = re.search(r"\)\s*(?:noexcept\s*)?:(?!:)", head)
    if initialisers:
        head = head[: initialisers.start() + 1]
    if not AFTER_PARAMETERS.search(head):
        return None
    end = head.rindex(")", 0, AFTER_PARAMETERS.search(head).start() + 1)  # type: ignore[union-attr]
    for k in range(end, -1, -1):
        depth += (head[k] == ")") - (head[k] == "(")
        if depth == 0:
            start = k
            break
    if start is None:
        return None
    found = re.search(r"(?:operator\s*[^\w\s]+|~?\w+(?:<[^<>]*>)?(?:::~?\w+)*)\s*$", head[:start])
    if not found or found[0].strip() in KEYWORDS:
        return None
    return re.sub(r"\s+", "", found[0])


def functions_of(source: str, file: str) -> list[Function]:
    """All function bodies, with their lines from the head (template and result included) to the closing brace."""
    text = without_texts(source)
    found: list[Function] = []
    inside: list[tuple[str | None, int]] = []  # open braces: the function that begins there or None, and the line
    head_from = 0
    line = 1
    for k, c in enumerate(text):
        if c == "\n":
            line += 1
        elif c == "{":
            in_function = any(name is not None for name, _ in inside)
            head = text[head_from:k]
            name = None if in_function else name_before(head)
            first = line - head.strip().count("\n") if name else line
            inside.append((name, first))
            head_from = k + 1
        elif c == "}":
            if inside:
                name, first = inside.pop()
                if name is not None:
                    found.append(Function(line - first + 1, name, file, first))
            head_from = k + 1
        elif c == ";":
            head_from = k + 1
    return found


def room_of(folder: Path) -> Room:
    files = sorted([*folder.glob("*.cpp"), *folder.glob("*.hpp")])
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    functions = [f for file, text in texts.items() for f in functions_of(text, str(file.relative_to(SOURCES)))]
    functions.sort(key=lambda f: (-f.lines, f.file, f.line))
    lines = sum(text.count("\n") for text in texts.values())
    asserts = sum(len(ASSERT.findall(without_texts(text))) for text in texts.values())
    return Room(str(folder.relative_to(SOURCES)), len(files), lines, asserts, functions)


@functools.cache
def house() -> list[Room]:
    """The rooms in the order of their names."""
    folders = {file.parent for file in SOURCES.rglob("*.[ch]pp")}
    return [room_of(folder) for folder in sorted(folders)]


def python_functions() -> list[Function]:
    """Those of python/tilegpu, the longest first; functions inside of others belong to them, docstrings don't count."""
    found = []

    def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
        first = node.body[0]
        said = (first.end_lineno or first.lineno) - first.lineno + 1 if ast.get_docstring(node, clean=False) is not None else 0
        return (node.end_lineno or node.lineno) - node.lineno + 1 - said

    def visit(node: ast.AST, file: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append(Function(lines_of(child), child.name, file, child.lineno))
            else:
                visit(child, file)

    for path in sorted(PYTHON.rglob("*.py")):
        visit(ast.parse(path.read_text(encoding="utf-8")), str(path.relative_to(PYTHON)))
    return sorted(found, key=lambda f: (-f.lines, f.file, f.line))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--functions", type=int, default=10, help="how many of the longest functions (default 10)")
    parser.add_argument("--rooms", action="store_true", help="the longest functions of each room, not of all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rooms = house()
    everything = sorted((f for room in rooms for f in room.functions), key=lambda f: (-f.lines, f.file, f.line))
    if options.json:
        rows = [
            {**asdict(r), "functions": [asdict(f) for f in r.functions[: options.functions]], "asserts_per_1000": r.asserts_per_1000}
            for r in rooms
        ]
        longest, python = ([asdict(f) for f in all_of[: options.functions]] for all_of in (everything, python_functions()))
        print(json.dumps({"rooms": rows, "longest": longest, "python": python}, indent=1))
        return 0
    print(f"{'room':<18} {'files':>5} {'lines':>6} {'asserts':>7} {'per 1000':>8}  longest function")
    for r in rooms:
        longest = f"{r.functions[0].lines:>4} {r.functions[0].name}" if r.functions else ""
        print(f"{r.name:<18} {r.files:>5} {r.lines:>6} {r.asserts:>7} {r.asserts_per_1000:>8.1f}  {longest}")
    lines, asserts = sum(r.lines for r in rooms), sum(r.asserts for r in rooms)
    print(f"{'all':<18} {sum(r.files for r in rooms):>5} {lines:>6} {asserts:>7} {1000 * asserts / lines:>8.1f}")
    titles = [(r.name, r.functions) for r in rooms] if options.rooms else [("all", everything)]
    for title, functions in [*titles, ("python/tilegpu", python_functions())]:
        print(f"\nlongest functions of {title}:")
        for f in functions[: options.functions]:
            print(f"  {f.lines:>4}  {f.name}  {f.file}:{f.line}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
