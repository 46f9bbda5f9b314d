"""CONTRIBUTING.md against the tree: every environment variable that is read stands in its tables, every file that it names is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
READS = re.compile(r"""(?:getenv\(|environ(?:\.get\(|\.setdefault\(|\.pop\(|\[))\s*(["']?)([A-Z_][A-Z0-9_]+)\1""")


def sources() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    kinds = {".py", ".cpp", ".hpp", ".sh", ".txt", ".cmake"}
    return [REPOSITORY / name for name in listed.splitlines() if Path(name).suffix in kinds and (REPOSITORY / name).exists()]


def read_in(text: str) -> set[str]:
    """What a source asks for, in quotes or by a constant of its own."""
    names = set()
    for quote, name in READS.findall(text):
        constant = re.search(rf"""^{name} = ["']([A-Z0-9_]+)["']$""", text, re.MULTILINE)
        names |= {name} if quote else {constant[1]} if constant else set()
    return names


def variables_of_tables() -> set[str]:
    rows = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \|", TEXT, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}


def test_every_variable_that_is_read_is_in_a_table() -> None:
    read: dict[str, str] = {}
    for path in sources():
        if path != Path(__file__):
            for name in read_in(path.read_text(encoding="utf-8")):
                read.setdefault(name, path.name)
    assert {"TILEGPU_CODE", "TILEGPU_DUMP", "TILEGPU_FUZZ_SEED", "TILEGPU_MODEL_MEMORY_MB", "XDG_CACHE_HOME"} <= set(read)
    python, qt = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONPYCACHEPREFIX"}, {"QSG_INFO", "QT_LOGGING_RULES"}
    foreign = {"PATH", *python, *qt}
    table = variables_of_tables()
    assert {name: where for name, where in read.items() if name not in table | foreign} == {}
    assert {name for name in table if name.startswith("TILEGPU_")} <= set(read), "a table names what nobody reads"


def test_every_option_of_the_build_is_named() -> None:
    options = re.findall(r"^option\((TILEGPU_\w+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert options
    assert [name for name in options if f"`{name}`" not in TEXT] == []


def test_every_variable_of_the_makefile_is_named() -> None:
    names = re.findall(r"^(?:export )?(\w+) *\?=", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert {"JOBS", "DEMO", "CMAKE_CXX_COMPILER_LAUNCHER"} <= set(names)
    assert [name for name in names if f"`{name}`" not in TEXT and f"`{name}=`" not in TEXT] == []


def test_files_and_functions_that_recipes_name_are_there() -> None:
    names = re.findall(r"`([\w./-]+/[\w.-]+\.(?:cpp|hpp|py|pyi|json|md|yaml))`", TEXT)
    assert len(names) > 20
    places = [REPOSITORY, REPOSITORY / "cpp" / "src", REPOSITORY / "cpp" / "include", REPOSITORY / "cpp", REPOSITORY / "python"]
    assert [name for name in names if not any((place / name).exists() for place in places)] == []
    files = [*sources(), REPOSITORY / "Makefile"]
    known = {path.stem for path in files}.union(*(re.findall(r"\w+", path.read_text(errors="replace")) for path in files))
    identifiers = re.findall(r"`(\w*(?:_\w|[a-z][A-Z])\w*)(?:\(\))?`", TEXT)
    assert len(identifiers) > 20
    of_spirv = re.compile(r"Op[A-Z]|SPV_|[A-Z]\w+KHR$")  # what recipes add
    assert [name for name in identifiers if name not in known and not of_spirv.match(name)] == []
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert [name for name in linked if not (REPOSITORY / name).exists()] == []
