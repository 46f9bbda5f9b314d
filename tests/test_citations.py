"""Who cites a document cites one that a reader has, and a number that stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("cpp", "python", "samples", "shaders", "tests", "benchmarks", "scripts", "docs")
SUFFIXES = {".cpp", ".hpp", ".py", ".pyi", ".md", ".vert", ".frag", ".glsl"}
#: Studies that were never published, and folders outside of the repository (but for the models of the tests).
UNKNOWN = re.compile(
    r"mesa_study|feasibility\.md|reference feasibility|python_ecosystem|architecture, decision|shared/(?!assets)|seeds/"
    r"|\(issue \d+\)"
)
DOCUMENT = re.compile(r"docs/([a-z_]+\.md)(?:, ((?:\d+(?:(?:, | to | and )(?=\d))?)+))?")


def texts() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and path != Path(__file__):
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def numbers() -> set[int]:
    """Of docs/decisions.md."""
    return {int(n) for n in re.findall(r"^\*\*(\d+)\.(?: |\*\*)", (ROOT / "docs" / "decisions.md").read_text(), re.MULTILINE)}


def test_nobody_cites_what_a_reader_does_not_have() -> None:
    found = [f"{name}: {match[0]}" for name, text in texts() for match in UNKNOWN.finditer(text)]
    found += [
        f"{name}: {match[0]}" for name, text in texts() for match in DOCUMENT.finditer(text) if not (ROOT / "docs" / match[1]).is_file()
    ]
    assert found == []


def test_cited_numbers_are_there() -> None:
    known, cited, wrong = numbers(), 0, []
    for name, text in texts():
        for match in DOCUMENT.finditer(text):
            if match[1] == "decisions.md":
                given = [int(n) for n in re.findall(r"\d+", match[2] or "")]
                cited += len(given)
                wrong += [f"{name}: {n}" for n in given if n not in known]
    assert wrong == [] and cited > 20


def test_numbers_are_given_once() -> None:
    given = re.findall(r"^\*\*(\d+)\.(?: |\*\*)", (ROOT / "docs" / "decisions.md").read_text(), re.MULTILINE)
    assert len(given) == len(set(given)) and given == sorted(given, key=int)


#: A source that a comment names, with its folder.
SOURCE = re.compile(r"(?<![\w/.<-])((?:[a-z_0-9]+/)+[a-z_0-9]+\.[ch]pp)\b")


#: The same without one, beside who names it or anywhere; and several by one name, with a star.
#: Programs of others, called like sources.
PROGRAMS = {"llama.cpp"}
BARE = re.compile(r"(?<![\w/.<*-])([a-z_0-9]+\.(?:[ch]pp|py))\b(?!\.)")
STARRED = re.compile(r"(?<![\w/.<-])((?:[a-z_0-9]+/)*[a-z_0-9]*\*[a-z_0-9]*\.[ch]pp)\b")


#: A folder of the core that a comment names.
FOLDER = re.compile(r"(?<![\w/.<-])((?:cpp/)?src/(?:[a-z_0-9]+/?)+)(?![\w./*{])")


def test_named_folders_are_there() -> None:
    found = [
        f"{name}: {match[1]}"
        for name, text in texts()
        if name.startswith(("cpp", "docs", "python"))
        for match in FOLDER.finditer(text)
        if not (ROOT / "cpp" / match[1].removeprefix("cpp/")).is_dir()
    ]
    assert found == []


def test_named_sources_are_there() -> None:
    there = [f"/{path.relative_to(ROOT)}" for path in (ROOT / "cpp").rglob("*.[ch]pp")]
    there += [f"/{path.relative_to(ROOT)}" for folder in ("samples", "benchmarks") for path in (ROOT / folder).rglob("*.[ch]pp")]
    wrong = [
        f"{name}: {match[1]}"
        for name, text in texts()
        if name.startswith(("cpp", "docs", "python"))
        for match in SOURCE.finditer(text)
        if not any(path.endswith(f"/{match[1]}") for path in there)
    ]
    assert wrong == []


def test_bare_names_of_sources_are_there() -> None:
    """Outside of tests, which make up names."""
    there = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    names = {path.name for path in there} | {path.name for path in ROOT.glob("*.py")}
    read = [(name, text) for name, text in texts() if not name.startswith("tests/")]
    read += [(name, (ROOT / name).read_text(encoding="utf-8")) for name in ("README.md", "CONTRIBUTING.md")]
    wrong = [f"{name}: {match[1]}" for name, text in read for match in BARE.finditer(text) if match[1] not in names | PROGRAMS]
    wrong += [
        f"{name}: {match[1]}"
        for name, text in read
        for match in STARRED.finditer(text)
        if not any(path.match(match[1]) for path in there)
    ]
    assert wrong == []
