"""The rooms of the core: folders of cpp/src include only folders that stand before them in the order of docs/architecture.md."""

import graphlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "cpp" / "src"
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
#: What the compiler takes out before it reads a directive.
NOT_CODE = re.compile(r"\\\n|/\*.*?\*/", re.DOTALL)
SUFFIXES = {".cpp", ".hpp", ".inc"}
#: First folders of what isn't ours; "": the language's own headers.
OUTSIDE = {"", "glslang", "linux", "llvm", "llvm-c", "spirv", "spirv-tools", "sys", "vulkan"}


def includes_of(text: str) -> list[str]:
    """Of quoted and angle-bracketed includes what is the project's: a path with a folder or one of ours."""
    return INCLUDE.findall(NOT_CODE.sub(" ", text))


def sources() -> list[Path]:
    return [path for path in SOURCES.rglob("*") if path.suffix in SUFFIXES]


def rooms_of_build() -> list[str]:
    """The list in CMakeLists.txt, in its order."""
    text = (ROOT / "CMakeLists.txt").read_text()
    found = re.search(r"set\(TILEGPU_ROOMS\s+([^)]*)\)", text)
    assert found
    return found[1].split()


def rooms_of_document() -> list[str]:
    """The table of docs/architecture.md, from the first row on."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    return re.findall(r"^\| `([a-z_/]+)` \|", text, re.MULTILINE)


def wrong_includes(order: list[str], files: dict[str, str]) -> list[str]:
    """Of files (path below cpp/src: text): each include of a room that is unknown or stands later."""
    rank = {room: i for i, room in enumerate(order)}
    wrong = []
    for path, text in files.items():
        room = path.rpartition("/")[0]
        for included in includes_of(text):
            if included.startswith("tilegpu/"):
                continue  # the public interface
            other = included.rpartition("/")[0]
            if other not in rank and other.split("/")[0] in OUTSIDE:
                continue
            if room not in rank or other not in rank or rank[other] > rank[room]:
                wrong.append(f"{path} includes {included}")
    return wrong


def test_document_and_build_name_the_same_order() -> None:
    assert rooms_of_document() == rooms_of_build()


def test_every_source_is_in_a_room() -> None:
    folders = {str(path.parent.relative_to(SOURCES)) for path in sources()}
    assert folders == set(rooms_of_build())


def test_includes_follow_the_order() -> None:
    files = {str(path.relative_to(SOURCES)): path.read_text() for path in sources()}
    assert wrong_includes(rooms_of_build(), files) == []


def test_bindings_see_the_public_interface_alone() -> None:
    """What a front end needs is installed: the bindings are one front end of several."""
    bindings = ROOT / "cpp" / "bindings"
    ours = {path.name for path in bindings.iterdir()}
    seen = {
        f"{path.name} includes {included}"
        for path in bindings.iterdir()
        for included in includes_of(path.read_text())
        if "." in included and included not in ours and included.split("/")[0] not in {"tilegpu", "pybind11", "vulkan", "Python.h"}
    }
    assert not seen


def test_top_folders_have_no_circle() -> None:
    """Whatever order their rooms have: two folders at the top don't need each other."""
    needs: dict[str, set[str]] = {}
    for path in sources():
        folder = path.relative_to(SOURCES).parts[0]
        tops = {included.split("/")[0] for included in includes_of(path.read_text()) if (SOURCES / included).is_file()}
        needs.setdefault(folder, set()).update(tops - {folder})
    graphlib.TopologicalSorter(needs).prepare()  # raises CycleError, with the circle


#: Of a line of nm: file, kind (T, D, B, R: defined for others; U: wanted), name.
SYMBOL = re.compile(r"^(.*):\S*\s+([A-Z])\s+(\S+)$", re.MULTILINE)


def wrong_symbols(order: list[str], symbols: dict[str, list[tuple[str, str]]]) -> list[str]:
    """Of the rooms' symbols (kind, name): each that a room wants and only later ones define."""
    defined: dict[str, list[str]] = {}
    for room in order:
        for kind, name in symbols.get(room, []):
            if kind in "TDBR":
                defined.setdefault(name, []).append(room)
    rank = {room: i for i, room in enumerate(order)}
    wanted = sorted({(room, name) for room, found in symbols.items() for kind, name in found if kind == "U" and name in defined})
    return [f"{room} wants {name} of {defined[name][0]}" for room, name in wanted if rank[defined[name][0]] > rank[room]]


def test_symbols_follow_the_order() -> None:
    """What a header declares may be defined in a room below: the linker finds it, the includes don't show it."""
    assert wrong_symbols(["a", "b"], {"a": [("T", "f"), ("U", "g")], "b": [("T", "g"), ("U", "f")]}) == ["a wants g of b"]
    build = ROOT / "build" / "release" / "CMakeFiles"
    symbols: dict[str, list[tuple[str, str]]] = {}
    for room in rooms_of_build():
        objects = [build / f"tilegpu_{room.replace('/', '_')}.dir" / "cpp" / "src" / room / f"{source.name}.o"
                   for source in (SOURCES / room).glob("*.cpp")]
        there = [str(path) for path in objects if path.exists()]
        if there:
            text = subprocess.run(["nm", "-A", *there], capture_output=True, text=True, check=True).stdout
            symbols[room] = [(kind, name) for _, kind, name in SYMBOL.findall(text)]
    if len(symbols) < 20:
        pytest.skip("not built in build/release")
    assert wrong_symbols(rooms_of_build(), symbols) == []


def test_files_that_the_document_names_are_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    rooms = "|".join(rooms_of_build())
    files = set(re.findall(rf"`((?:{rooms})/[a-z_0-9]+\.[ch]pp)`", text))
    assert len(files) > 10
    assert [name for name in sorted(files) if not (SOURCES / name).exists()] == []
    # And what stands beside each in the table of questions is in it.
    for path, functions in re.findall(r"^\| [^|]*\| `([^`]+)` \| ([^|]*) \|$", text, re.MULTILINE):
        if path in files:
            name = re.match(r"`(\w+)`", functions)
            assert name and name[1] in (SOURCES / path).read_text(), path


def test_public_headers_include_public_headers_alone() -> None:
    for path in (ROOT / "cpp" / "include").rglob("*.hpp"):
        named = includes_of(path.read_text())
        assert all(name.startswith("tilegpu/") or name.rpartition("/")[0].split("/")[0] in OUTSIDE for name in named), path


def test_what_breaks_the_order_is_found() -> None:
    files = {"vk/format.cpp": '#include "vk/format.hpp"\n  #  include "exec/queue.hpp"\n#include "tilegpu/device.hpp"\n#include <map>\n'}
    assert wrong_includes(["base", "vk", "exec"], files) == ["vk/format.cpp includes exec/queue.hpp"]
    assert wrong_includes(["vk"], files) == ["vk/format.cpp includes exec/queue.hpp"]
    named = "exec/queue.hpp"
    for written in (f"#include <{named}>", f'#include/**/"{named}"', f'#include \\\n  "{named}"', f'#include"{named}"'):
        assert wrong_includes(["vk", "exec"], {"vk/format.cpp": written + "\n"}) == ["vk/format.cpp includes exec/queue.hpp"], written
