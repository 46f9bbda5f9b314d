"""The rooms of the core: folders of cpp/src include only folders that stand before them in the order of docs/architecture.md.

Looked at twice: the text of every file, where an include has one form alone, and, where there is a build, what the compiler did read.
"""

import graphlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "cpp" / "src"
SUFFIXES = {".cpp", ".hpp", ".inc"}
#: First folders of what isn't ours; "": the language's own headers.
OUTSIDE = {"", "glslang", "linux", "llvm", "llvm-c", "sanitizer", "simde", "spirv", "spirv-tools", "sys", "vulkan"}

#: A line that goes on in the next one.
SPLICE = re.compile(r"\\[ \t\r\f\v]*\n")
#: What holds no directive though it may look so, in the order in which the compiler takes it out.
NOT_CODE = re.compile(
    r"(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)"
    r'|(?P<raw>(?<!\w)(?:u8|[uUL])?R"(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)")'
    r"""|(?P<kept>\.?\d(?:'?[\w.])*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"^\s*(#|%:|\?\?=)\s*(\w*)[ \t]*(.*?)\s*$", re.MULTILINE)
#: The one form of an include: a path as it is, from a folder that the compiler is given, without a way up.
LITERAL = re.compile(r'"([\w+-][\w.+-]*(?:/[\w+-][\w.+-]*)*)"|<([\w+-][\w.+-]*(?:/[\w+-][\w.+-]*)*)>')
#: What older compilers read as "#" and as the end of a line; units that are imported.
TRIGRAPH = re.compile(r"\?\?[=/]")
IMPORTED = re.compile(r"^\s*(?:export\s+)?(?:import|module)\b[^=(]*;", re.MULTILINE)


def directives(text: str) -> list[tuple[str, str]]:
    """Those that read another file: the line as it stands in what the compiler sees, and the path, or "" where no literal path is there."""

    def without(found: re.Match[str]) -> str:
        return found["kept"] or ('""' if found["raw"] else " ")

    code = NOT_CODE.sub(without, SPLICE.sub("", text))
    read = []
    for sign, word, rest in DIRECTIVE.findall(code):
        if sign == "#" and word not in ("include", "include_next", "import", "embed"):
            continue
        path = LITERAL.fullmatch(rest) if (sign, word) == ("#", "include") else None
        read.append((f"{sign}{word} {rest}", (path[1] or path[2]) if path else ""))
    return read + [(found.strip(), "") for found in TRIGRAPH.findall(text) + IMPORTED.findall(code)]


def unreadable(text: str) -> list[str]:
    """Includes whose path isn't literal: a macro, `..`, #import, a digraph for the sign, a trigraph, a unit that is imported."""
    return [line for line, path in directives(text) if not path]


def includes_of(text: str) -> list[str]:
    """Of quoted and angle-bracketed includes what is the project's: a path with a folder or one of ours."""
    return [path for _, path in directives(text) if path]


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
        wrong += [f"{path} has '{line}', which is no include of a literal path" for line in unreadable(text)]
        for included in includes_of(text):
            if included.startswith("tilegpu/"):
                continue  # the public interface: a literal path has no way out of it
            other = included.rpartition("/")[0]
            if other not in rank and other.split("/")[0] in OUTSIDE:
                continue
            if room not in rank or other not in rank or rank[other] > rank[room]:
                wrong.append(f"{path} includes {included}")
    return wrong


def test_document_and_build_name_the_same_order() -> None:
    assert rooms_of_document() == rooms_of_build()


def test_every_source_is_in_a_room() -> None:
    others = {path for path in SOURCES.rglob("*") if path.is_file() and path.suffix not in SUFFIXES and path.name != ".clang-format"}
    assert not others, "a file with another suffix could be included unread"
    folders = {str(path.parent.relative_to(SOURCES)) for path in sources()}
    assert folders == set(rooms_of_build())


def test_includes_follow_the_order() -> None:
    files = {str(path.relative_to(SOURCES)): path.read_text() for path in sources()}
    assert wrong_includes(rooms_of_build(), files) == []


#: Of other people: pybind11 and what it stands on, Vulkan's.
FOREIGN = {"tilegpu", "pybind11", "vulkan", "Python.h", "structmember.h"}


def test_bindings_see_the_public_interface_alone() -> None:
    """What a front end needs is installed: the bindings are one front end of several."""
    bindings = ROOT / "cpp" / "bindings"
    assert not [line for path in bindings.iterdir() for line in unreadable(path.read_text())]
    ours = {path.name for path in bindings.iterdir()}
    seen = {
        f"{path.name} includes {included}"
        for path in bindings.iterdir()
        for included in includes_of(path.read_text())
        if "." in included and included not in ours and included.split("/")[0] not in FOREIGN
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


def wrong_reads(order: list[str], read: dict[str, list[str]], root: Path) -> list[str]:
    """Of sources and the files that the compiler read for them: each of a room that stands later; of any room for what is in none."""
    rank = {room: i for i, room in enumerate(order)}
    sources_of = root / "cpp" / "src"

    def room_of(path: str) -> str | None:
        where = Path(os.path.normpath(path))
        return str(where.parent.relative_to(sources_of)) if where.is_relative_to(sources_of) else None

    wrong = set()
    for source, files in read.items():
        own = room_of(source)
        allowed = -1 if own is None else rank.get(own, -1)
        for file in files:
            room = room_of(file)
            if room is not None and rank.get(room, len(order)) > allowed:
                wrong.add(f"{os.path.relpath(source, root)} reads {os.path.relpath(file, root)}")
    return sorted(wrong)


def read_by_compiler(build: Path) -> dict[str, list[str]]:
    """Source: the files that its compile read, as ninja noted them, where none has changed since."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=False).stdout
    found: dict[str, list[str]] = {}
    for part in text.split("\n\n"):
        head, *files = (line.strip() for line in part.strip().splitlines() or [""])
        built = build / head.partition(":")[0]
        if not head.endswith("(VALID)") or not files:
            continue
        paths = [Path(os.path.normpath(build / file)) for file in files]  # a compiler's cache writes them from the build's folder on
        if all(path.exists() and path.stat().st_mtime <= built.stat().st_mtime for path in paths):
            found[str(paths[0])] = [str(path) for path in paths]
    return found


def test_what_the_compiler_read_follows_the_order() -> None:
    """However an include is written. Tests and fuzzers of the insides may read everything; the bindings read nothing of the rooms."""
    root = Path("/p")
    good = {"/p/cpp/src/exec/queue.cpp": ["/p/cpp/src/vk/format.hpp", "/p/b/../cpp/src/exec/queue.hpp", "/usr/include/map"]}
    assert wrong_reads(["vk", "exec"], good, root) == []
    up = {"/p/cpp/src/vk/format.cpp": ["/p/cpp/include/tilegpu/../../src/exec/queue.hpp"]}
    assert wrong_reads(["vk", "exec"], up, root) == ["cpp/src/vk/format.cpp reads cpp/src/exec/queue.hpp"]
    assert wrong_reads(["vk", "exec"], {"/p/cpp/bindings/a.cpp": ["/p/cpp/src/vk/format.hpp"]}, root)
    build = ROOT / "build" / "release"
    if not (build / "build.ninja").exists() or not shutil.which("ninja"):
        pytest.skip("not built in build/release by ninja")
    inside = (ROOT / "cpp" / "tests", ROOT / "cpp" / "fuzz")
    read = {s: files for s, files in read_by_compiler(build).items() if not any(Path(s).is_relative_to(folder) for folder in inside)}
    if len(read) < 100:
        pytest.skip("not built in build/release")
    assert wrong_reads(rooms_of_build(), read, ROOT) == []


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
        assert not unreadable(path.read_text()), path
        assert all(name.startswith("tilegpu/") or name.rpartition("/")[0].split("/")[0] in OUTSIDE for name in named), path


def test_what_breaks_the_order_is_found() -> None:
    files = {"vk/format.cpp": '#include "vk/format.hpp"\n  #  include "exec/queue.hpp"\n#include "tilegpu/device.hpp"\n#include <map>\n'}
    assert wrong_includes(["base", "vk", "exec"], files) == ["vk/format.cpp includes exec/queue.hpp"]
    assert wrong_includes(["vk"], files) == ["vk/format.cpp includes exec/queue.hpp"]
    named = "exec/queue.hpp"
    for written in (f"#include <{named}>", f'#include/**/"{named}"', f'#include \\\n  "{named}"', f'#include"{named}"',
                    f'#inc\\ \nlude "{named}"', f'/* " */ #include "{named}"', f'R"(/*)";\n#include "{named}"\n//*/',
                    f'"/*";\n#include "{named}"\n//*/', f"'\"'; int a = 1'000; char b = '/*';\n#include \"{named}\"\n//'*/",
                    f'u8R"x(/* )" )x"\n#include "{named}"'):  # fmt: skip
        assert wrong_includes(["vk", "exec"], {"vk/format.cpp": written + "\n"}) == ["vk/format.cpp includes exec/queue.hpp"], written
    for written in (f'#define H "{named}"\n#include H', "#include H(exec)", f'#import "{named}"', f'#include_next "{named}"',
                    f'%:include "{named}"', f'??=include "{named}"', f'#include "tilegpu/../../src/{named}"', f'#include "./{named}"',
                    f'#include "vk/../{named}"', f'#include "vk//{named}"', f'#include "/p/cpp/src/{named}"', '#embed "x"',
                    f'import "{named}";', "import exec.queue;", '"??/"', f'#include "{named}" H'):  # fmt: skip
        found = wrong_includes(["vk", "exec"], {"vk/format.cpp": written + "\n"})
        assert found and found[0].startswith("vk/format.cpp has '"), written
    for written in (f'// #include "{named}"', f'/*\n#include "{named}"\n*/', f'R"(\n#include "{named}"\n)"', '"??!"; // import x;',
                    "#pragma once"):  # fmt: skip
        assert wrong_includes(["vk", "exec"], {"vk/format.cpp": written + "\n"}) == [], written
