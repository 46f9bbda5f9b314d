"""The documents: every Python block runs, every link leads somewhere, every public name has a docstring and stands in the reference.

What is built of them, and a browser that looks at it, is tested by `make docs` and `make test-docs`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import warnings
from pathlib import Path

import pytest

import tilegpu
import tilegpu.farm
import tilegpu.scene
import tilegpu.testing

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "scripts"))

import docs_blocks  # noqa: E402
import docs_site  # noqa: E402
import docs_tables  # noqa: E402

MADE = DOCS / "made"
PAGES = [p for p in sorted(DOCS.rglob("*.md")) if MADE not in p.parents]
#: Seconds of rendering that `make test` need not repeat: `make docs` runs these pages too.
LONG = {"showcase.md"}


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return re.sub(r"^(`{3,})[^\n]*\n.*?^\1[ \t]*$", "", text, flags=re.MULTILINE | re.DOTALL)


# --- code


@pytest.mark.parametrize("page", [p for p in docs_blocks.pages() if p.name not in LONG], ids=lambda p: str(p.relative_to(DOCS)))
def test_code_of_the_documents_runs(page: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a reader would see them
        found = docs_blocks.run_page(page, tmp_path)
    assert any(block.runs for block in found)


def test_what_a_block_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "a\n```python\nimport tilegpu\nx = 1\n```\n```python\nprint(x)\n```\n```python no-run\nprint(y, ...)\n```\n```sh\nls\n```\n"
    found = docs_blocks.run_page(page, tmp_path, text)
    assert [(b.line, b.runs, b.begins, b.printed) for b in found] == [(3, True, True, ""), (7, True, False, "1"), (10, False, False, "")]
    alone = text + "```python\nimport tilegpu.testing\nprint(x)\n```\n"
    with pytest.raises(docs_blocks.BlockError, match=r"page.md, line 16:(?s:.*)name 'x' is not defined"):
        docs_blocks.run_page(page, tmp_path, alone)
    with pytest.raises(docs_blocks.BlockError, match="the one word that is known is no-run"):
        docs_blocks.blocks("```python norun\nx\n```\n")
    with pytest.raises(SyntaxError):
        docs_blocks.run_page(page, tmp_path, "```python no-run\nf(x, ...\n```\n")


def code_of(page: Path) -> list[tuple[str, str]]:
    """Language and text of each block."""
    return re.findall(r"^```(\w+)[^\n]*\n(.*?)^```[ \t]*$", text_of(page), re.MULTILINE | re.DOTALL)


def test_commands_to_copy_ask_no_registry_for_tilegpu() -> None:
    """It is not there yet; somebody else could be."""
    wheels = 0
    for page in [*PAGES, ROOT / "README.md"]:
        for language, code in code_of(page):
            if language == "python":
                continue
            assert not re.search(r"""pip install[^\n]*[ "']tilegpu""", code), page.name
            wheels += len(re.findall(r'pip install "\$\(echo \./(?:wheels/)?tilegpu-\*\.whl\)\[', code))
    assert wheels >= 8
    assert "not on PyPI yet" in text_of(DOCS / "install.md")


def test_files_for_ci_services_are_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    found = [yaml.safe_load(code) for language, code in code_of(DOCS / "golden-tests.md") if language == "yaml"]
    said = [str(document) for document in found]
    assert len(found) == 4 and all('pip install "$(echo ./wheels/tilegpu-*.whl)[testing]" -e .' in text for text in said)


def test_pages_say_what_undefined_contents_do() -> None:
    """NumPy and files refuse them, passes warn: tests/test_image_contents.py."""
    wrong = re.compile(r"ever stored is an error when it is read|contents that nobody stored cannot be read")
    assert [p.name for p in PAGES if wrong.search(" ".join(text_of(p).split()))] == []
    for name in ("concepts.md", "tutorial/1-triangle.md", "coming-from/vulkan.md"):
        assert "UndefinedContentsWarning" in text_of(DOCS / name) and "Device(strict=True)" in text_of(DOCS / name)


def test_blocks_that_are_no_programs_say_so_on_the_site() -> None:
    """Whatever has no caption runs in a module of its own, which test_code_of_the_documents_runs sees."""
    first, more = "```python\nimport tilegpu\nx = 1\n```\n", "```python\nprint(x)  # ````\n```\n"
    text = docs_site.with_results(f"a\n{first}b\n{more}c\n", "page")
    assert f"a\n{first}b\n" in text and text.count(docs_site.GOES_ON) == 1
    marked = f"`````{{code-block}} python\n:caption: {docs_site.GOES_ON}\n\nprint(x)  # ````\n`````\n"
    assert f"b\n{marked}" in text and ":class: printed\n\n1\n" in text.partition(marked)[2]
    plain = docs_site.with_results(f"{first}{more.replace('````', '')}", "page")
    assert f"````{{code-block}} python\n:caption: {docs_site.GOES_ON}\n\nprint(x)  # \n````\n" in plain
    going_on = [block for page in docs_blocks.pages() for block in docs_blocks.blocks(text_of(page)) if block.goes_on]
    assert len(going_on) > 15
    assert [p.name for p in docs_blocks.pages() if next(b for b in docs_blocks.blocks(text_of(p)) if b.runs).goes_on] == []


def test_tests_of_a_block_are_called(tmp_path: Path) -> None:
    text = "```python\nimport numpy as np\nfrom tilegpu.testing import assert_image_equal\ndef test_a():\n"
    text += "    assert_image_equal(np.zeros((2, 2), np.uint8), 'a.png')\n    assert LIMIT == 1, 'wrong'\n"
    page = tmp_path / "page.md"
    found = docs_blocks.run_page(page, tmp_path, text + "LIMIT = 1\n```\n")
    assert found[0].files == [] and (tmp_path / "golden" / "a.png").is_file()
    with pytest.raises(docs_blocks.BlockError, match=r"page.md, line 2:(?s:.*)AssertionError: wrong"):
        docs_blocks.run_page(page, tmp_path, text + "LIMIT = 2\n```\n")


def test_blocks_write_nothing_beside_their_folder() -> None:
    """Nothing of the documents names a file of the tree, but to read it."""
    for page in docs_blocks.pages():
        for block in docs_blocks.blocks(text_of(page)):
            assert not re.search(r"""(save|open)\(f?["'](/|~|\.\.)""", block.code), f"{page.name}:{block.line}"


# --- links


def slug(heading: str) -> str:
    """What GitHub, and MyST, make an anchor of."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {slug(h) for h in re.findall(r"^#+ (.*)$", without_code(text_of(page)), re.MULTILINE)}


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"], ids=lambda p: p.name
)
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(page))):
        if re.match(r"https?:|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            wrong.append(target)
    assert wrong == []


def test_every_page_is_in_the_site() -> None:
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL):
            names = [line for line in tree.splitlines() if line and not line.startswith(":")]
            for name in names:
                assert (page.parent / f"{name}.md").is_file(), f"{page.name}: {name}"
            listed |= {(page.parent / f"{name}.md").resolve() for name in names}
    assert [str(p.relative_to(DOCS)) for p in PAGES if p.resolve() not in listed] == []


def test_pages_begin_with_their_title() -> None:
    shown = [p for p in PAGES if not text_of(p).startswith("```{include}")]
    assert [p.name for p in shown if not text_of(p).startswith("# ")] == []


def test_every_extra_is_named_where_one_installs() -> None:
    table = text_of(ROOT / "pyproject.toml").partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = ", table, re.MULTILINE))
    assert extras >= {"view", "testing", "docs", "all"}
    named = set(re.findall(r"^\| `(\w+)` \|", text_of(DOCS / "install.md"), re.MULTILINE))
    assert extras - named == {"test", "lint"}, "those are of the project's own development"


# --- the reference

REFERENCE = "\n".join(text_of(p) for p in [*sorted((DOCS / "api").glob("*.md")), DOCS / "errors.md"])
REFERENCE = re.sub(r"<!-- table: ([\w ]*reference) -->", lambda match: docs_tables.table(match[1]), REFERENCE)


def listed(module: str) -> set[str]:
    """Names of a module that the reference documents."""
    return {name.rpartition(".")[2] for name in docs_tables.documented(REFERENCE) if name.rpartition(".")[0] == module}


@pytest.mark.parametrize("module", [tilegpu, tilegpu.testing, tilegpu.scene, tilegpu.farm], ids=lambda m: m.__name__)
def test_every_public_name_is_in_the_reference(module: object) -> None:
    name = module.__name__  # type: ignore[attr-defined]
    modules = {n for n in module.__all__ if inspect.ismodule(getattr(module, n))}  # type: ignore[attr-defined]
    assert modules <= set(re.findall(rf"^\.\. automodule:: {re.escape(name)}\.(\w+)", REFERENCE, re.MULTILINE))
    assert set(module.__all__) - modules - listed(name) == set()  # type: ignore[attr-defined]


def test_what_is_loaded_when_asked_for_is_in_the_reference() -> None:
    """``tilegpu.math`` and its like are in no ``__all__``."""
    late = {name for name in dir(tilegpu) if name not in vars(tilegpu)} | {"farm", "math", "shapes"}
    modules = set(re.findall(r"^\.\. automodule:: tilegpu\.(\w+)", REFERENCE, re.MULTILINE))
    assert late - modules - listed("tilegpu") == set()


def test_nothing_stands_twice_in_the_reference() -> None:
    """Sphinx would say so, when the site is built."""
    once = re.sub(r"^\.\. auto\w+:: [\w.]+\n   :no-index:$", "", REFERENCE, flags=re.MULTILINE)
    found, current = [], ""
    for directive, name in docs_tables.DIRECTIVE.findall(once):
        if directive == "currentmodule":
            current = name
        elif directive != "automodule":
            found.append(name if "." in name else f"{current}.{name}")
    assert sorted({name for name in found if found.count(name) > 1}) == []


def test_every_error_and_warning_is_on_its_page() -> None:
    names = {name for name, _, _ in docs_tables.error_classes()}
    assert {"ShaderError", "UnusedNameWarning", "ModelError", "ImageMismatch", "ViewerError", "UsageError"} <= names
    assert "<!-- table: errors -->" in text_of(DOCS / "errors.md")
    assert [name for name, _, text in docs_tables.error_classes() if not text] == []
    exported = {name for name in tilegpu.__all__ if name in names}
    assert {name for name in exported if not re.search(rf"auto(?:exception|class):: {name}$", REFERENCE, re.MULTILINE)} == set()


def undocumented(path: Path) -> list[str]:
    out = []

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef) and not child.name.startswith("_"):
                setter = any(ast.unparse(d).endswith(".setter") for d in child.decorator_list)
                if not ast.get_docstring(child) and not setter:
                    out.append(f"{prefix}{child.name}")
                if isinstance(child, ast.ClassDef):
                    walk(child, f"{prefix}{child.name}.")

    walk(ast.parse(text_of(path)), f"{path.stem}.")
    return out


def test_every_public_function_and_class_has_a_docstring() -> None:
    assert [name for path in sorted((ROOT / "python").rglob("*.py")) for name in undocumented(path)] == []
