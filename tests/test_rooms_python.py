"""The rooms of the Python package: imports go one way, through doors, as docs/architecture.md says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "tilegpu"


class Room(NamedTuple):
    """A row of the table. ``modules``: full names, in order, the door last; ``public``: those that others may import."""

    door: str
    modules: list[str]
    public: set[str]


def rooms_of_document() -> list[Room]:
    text = (ROOT / "docs" / "architecture.md").read_text().partition("## The rooms of the Python package")[2]
    rooms = []
    for door, modules in re.findall(r"^\| [a-z ]+ \| `([a-z_.]+)` \|([^|]*)\|", text, re.MULTILINE):
        names = [f"{door}.{name}" for name in re.findall(r"`([a-z_]+)`", modules)]
        public = {f"{door}.{name}" for name in re.findall(r"\*\*`([a-z_]+)`\*\*", modules)}
        rooms.append(Room(door, [*names, door], {*public, door}))
    return rooms


def modules_of_package() -> dict[str, str]:
    """Text of each module by its full name; a package's is that of its ``__init__``."""
    out = {"tilegpu._core": ""}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        out[name.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return out


#: Ways to a module, or to code, that no import statement shows, under whatever name they came.
HIDDEN = {"exec", "eval", "compile", "__import__", "import_module", "exec_module", "load_module", "run_module", "run_path", "modules",
          "runpy", "pkgutil", "zipimport"}  # fmt: skip
#: Who needs one all the same. A sample is a file beside the package, loaded under a name of its own; an executor is a user's module.
LOADS_FILES = {"tilegpu.scene.resources": {"modules", "exec_module"}, "tilegpu.farm.executors": {"import_module"}}


#: The front end's door hands on what users reach through it of later rooms, when they ask: in this function, and to type checkers.
HANDS_ON = {"tilegpu": "__getattr__"}


def handing_on(text: str, name: str) -> set[int]:
    """Lines of the function by that name, and of blocks for type checkers alone, at the top of a module."""
    lines: set[int] = set()
    for node in ast.parse(text).body:
        checked = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if checked or (isinstance(node, ast.FunctionDef) and node.name == name):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def hidden_ways(text: str) -> Iterator[tuple[int, str]]:
    """Line and word: names, attributes (but ``re.compile``), what is imported from a module, and texts, as getattr takes them."""
    for node in ast.walk(ast.parse(text)):
        words: list[str] = []
        if isinstance(node, ast.Name):
            words = [node.id]
        elif isinstance(node, ast.Attribute) and not (node.attr == "compile" and ast.unparse(node.value) == "re"):
            words = [node.attr]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = [node.value]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            words = [alias.name for alias in node.names] + ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])
        yield from ((getattr(node, "lineno", 0), word) for word in words if word in HIDDEN)


def imports(text: str, known: set[str], package: str = "") -> Iterator[tuple[int, str]]:
    """Line and module of every import, wherever it stands: in functions and for type checkers too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:  # relative: seen from the module's package
                above = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
                base = f"{above}.{base}".rstrip(".")
            for alias in node.names:
                name = f"{base}.{alias.name}"
                if name in known or base in known:
                    yield node.lineno, name if name in known else base


def wrong_imports(rooms: list[Room], modules: dict[str, str]) -> list[str]:
    """Each import against the order, past a door, or that can't be read."""
    where = {name: (r, m) for r, room in enumerate(rooms) for m, name in enumerate(room.modules)}
    wrong = []
    for name, text in modules.items():
        if name not in where:
            wrong.append(f"{name}: is in no room of docs/architecture.md")
            continue
        room, place = where[name]
        package = name if any(other.startswith(f"{name}.") for other in modules) else name.rpartition(".")[0]
        allowed = LOADS_FILES.get(name, set())
        handed_on = handing_on(text, HANDS_ON[name]) if name in HANDS_ON else set()
        wrong += [f"{name}:{line}: '{word}' hides what is imported" for line, word in hidden_ways(text) if word not in allowed]
        for line, target in imports(text, set(modules), package):
            if target not in where or target == name:
                continue
            other, there = where[target]
            if other == room:
                if there >= place:
                    wrong.append(f"{name}:{line}: imports {target}, which stands later in its room")
            elif other > room and line in handed_on and target in rooms[other].public:
                continue
            elif other > room:
                wrong.append(f"{name}:{line}: imports {target}, a room that stands later")
            elif target not in rooms[other].public:
                wrong.append(f"{name}:{line}: imports {target} past the door {rooms[other].door}")
    return wrong


def test_imports_go_one_way_and_through_doors() -> None:
    modules = modules_of_package()
    del modules["tilegpu.__main__"]  # python -m tilegpu: the command line
    assert wrong_imports(rooms_of_document(), modules) == []


def test_every_module_of_the_document_is_there() -> None:
    named = [name for room in rooms_of_document() for name in room.modules]
    assert len(named) == len(set(named))
    assert set(named) == set(modules_of_package()) - {"tilegpu.__main__"}


@pytest.mark.parametrize("folder", ["benchmarks", "scripts", "samples"])
def test_programs_beside_the_package_use_its_doors(folder: str) -> None:
    rooms, known = rooms_of_document(), set(modules_of_package())
    public = set().union(*(room.public for room in rooms))
    files = sorted((ROOT / folder).rglob("*.py"))
    found = [(f.name, line, m) for f in files for line, m in imports(f.read_text(encoding="utf-8"), known)]
    assert [x for x in found if x[2] not in public] == []


def test_what_the_check_finds() -> None:
    rooms = [Room("a", ["a.x", "a.y", "a"], {"a", "a.y"}), Room("b", ["b.u", "b.v", "b"], {"b"})]
    good = {"a.x": "", "a.y": "from a.x import f", "a": "from a import x, y"}
    good |= {"b.u": "import a\nfrom a import y", "b.v": "from b import u", "b": ""}
    assert wrong_imports(rooms, good) == []

    def found(name: str, text: str) -> str:
        (message,) = wrong_imports(rooms, good | {name: text})
        return message

    assert found("a.x", "def f():\n    from a.y import g") == "a.x:2: imports a.y, which stands later in its room"
    assert found("a.x", "if TYPE_CHECKING:\n    from a import y") == "a.x:2: imports a.y, which stands later in its room"
    assert found("a.x", "from a import g") == "a.x:1: imports a, which stands later in its room"
    assert found("a.x", "import b") == "a.x:1: imports b, a room that stands later"
    assert found("b.u", "from a.x import f") == "b.u:1: imports a.x past the door a"
    assert found("b.u", "from a import x") == "b.u:1: imports a.x past the door a"
    assert found("b.u", "from .v import f") == "b.u:1: imports b.v, which stands later in its room"
    for text in ("importlib.import_module(name)", "importlib.import_module('b')", "__import__('b')", "i.import_module('b')",
                 "from importlib import import_module as i", "from sys import modules", "sys.modules['b']", "s.modules['b']",
                 "exec('import b')", "run = eval", "compile(text, '', 'exec')", "getattr(importlib, 'import_module')", "import runpy",
                 "from runpy import run_path as p", "spec.loader.exec_module(m)"):  # fmt: skip
        messages = wrong_imports(rooms, good | {"b.u": text})
        assert messages and messages[0].startswith("b.u:1: '") and messages[0].endswith("' hides what is imported"), text
    assert wrong_imports(rooms, good | {"b.u": "import re\nre.compile('x')\nself.execute()"}) == []
    with_door = [Room("tilegpu", ["tilegpu"], {"tilegpu"}), Room("b", ["b.u", "b"], {"b"})]
    modules = {"b.u": "", "b": ""}
    assert wrong_imports(with_door, modules | {"tilegpu": "def __getattr__(name):\n    import b"}) == []
    assert wrong_imports(with_door, modules | {"tilegpu": "if TYPE_CHECKING:\n    import b"}) == []
    method = "class A:\n    def __getattr__(self):\n        import b"
    for text in (method, "import b", "def f():\n    import b", "def __getattr__(name):\n    import b.u"):
        assert len(wrong_imports(with_door, modules | {"tilegpu": text})) == 1, text
    assert found("c", "") == "c: is in no room of docs/architecture.md"


def test_the_front_end_loads_no_later_room() -> None:
    code = "import sys, tilegpu; tilegpu.Device; print(*sorted(m for m in sys.modules if m.startswith('tilegpu')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    rooms = rooms_of_document()
    late = set().union(*(set(room.modules) for room in rooms[[r.door for r in rooms].index("tilegpu") + 1 :]))
    assert "tilegpu.device" in loaded and not late & set(loaded)


@pytest.mark.parametrize("name", ["farm", "math", "scene", "shapes", "testing", "show"])
def test_rooms_of_users_need_no_import_of_their_own(name: str) -> None:
    code = f"import tilegpu as tg; assert '{name}' in dir(tg); found = tg.{name}; print(found.__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == ("show" if name == "show" else f"tilegpu.{name}")
