"""What the site of docs/conf.py adds to Sphinx: pages as they are read.

In: a page's Markdown. Out: the same with what its Python blocks printed and drew below them (docs_blocks.py), the tables that
``<!-- table: NAME -->`` asks for (docs_tables.py), and links to files beside docs/ turned to pages where the
site has them.

Pictures and pages that blocks write go to docs/made/, which is not kept in the repository.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import docs_blocks
import docs_tables
import gallery

DOCS = docs_blocks.DOCS
MADE = DOCS / "made"
#: Files beside docs/ that are pages of the site.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"\]\(((?:\.\./)+)([\w./-]+)(#[\w-]+)?\)")
TABLE = re.compile(r"^<!-- table: ([\w ]+) -->$", re.MULTILINE)
MOST_LINES = 60
#: Above a block that needs what the one before it made.
GOES_ON = "continues the program above"


def _shown(block: docs_blocks.Block, folder: Path, page: str) -> str:
    """Markdown of what a block printed and wrote."""
    parts = []
    if block.printed:
        lines = block.printed.splitlines()
        if len(lines) > MOST_LINES:
            lines = [*lines[:MOST_LINES], f"... {len(lines) - MOST_LINES} more lines"]
        parts.append("````{code-block} text\n:class: printed\n\n" + "\n".join(lines) + "\n````")
    for path in block.files:
        name = f"{page.replace('/', '-')}-{path.relative_to(folder).as_posix().replace('/', '-')}"
        shutil.copyfile(path, MADE / name)
        if path.suffix == ".html":
            parts.append(f"{{download}}`{path.name} </made/{name}>`")
        else:
            parts.append(f"```{{image}} /made/{name}\n:alt: {path.name}, written by the code above\n:class: made\n```")
    return "\n\n".join(parts)


def with_caption(block: docs_blocks.Block) -> str:
    """Markdown of a block that is no program of its own, which says so above it: who copies it alone has names that nothing made."""
    fence = max(["```", *re.findall("`+", block.code)], key=len) + "`"
    return f"{fence}{{code-block}} python\n:caption: {GOES_ON}\n\n{block.code}{fence}"


def with_results(text: str, docname: str) -> str:
    """Runs the page's blocks; what they printed and drew stands below each."""
    if not any(block.runs for block in docs_blocks.blocks(text)):
        return _plain_words(text)
    MADE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found = docs_blocks.run_page(DOCS / f"{docname}.md", folder, text)
        out, at = [], 0
        for block in found:
            out.append(text[at : block.start])
            out.append(with_caption(block) if block.goes_on else text[block.start : block.end])
            if block.printed or block.files:
                out.append(f"\n\n{_shown(block, folder, docname)}\n")
            at = block.end
        return _plain_words("".join([*out, text[at:]]))


def _plain_words(text: str) -> str:
    """Sphinx knows no words behind a language."""
    return re.sub(r"^(`{3,}python) no-run[ \t]*$", r"\1", text, flags=re.MULTILINE)


def with_links(text: str, docname: str) -> str:
    """Links that leave docs/: to pages of the site where there is one."""
    depth = docname.count("/")

    def turned(match: re.Match[str]) -> str:
        up, name, anchor = match[1].count("../"), match[2], match[3] or ""
        if up == depth + 1 and name in PAGES:
            return f"]({'../' * depth}{PAGES[name]}{anchor})"
        return match[0]

    return LINK.sub(turned, text)


@functools.cache
def draw_gallery() -> None:
    """Once in a build."""
    gallery.draw_all(MADE)


def with_gallery(text: str) -> str:
    """Pictures of tiles as they are now: what lies in docs/images is for those who read in the repository."""
    if "images/gallery_" in text:
        draw_gallery()
        text = re.sub(r"\]\((?:\.\./)*images/(gallery_\w+\.png)\)", r"](/made/\1)", text)
    return text


def of_root(text: str) -> str:
    """A page that lies beside docs/, as if it lay in docs/."""
    text = re.sub(r"\]\(docs/([\w./-]+)", r"](\1", text)
    return re.sub(r"\]\((?!https?:|#)(?=[A-Z][\w./-]*[)#])", "](../", text)


def read(app: Any, docname: str, source: list[str]) -> None:
    """Sphinx's event: the text of a page before it is parsed."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md" or MADE in path.parents:
        return
    text = source[0]
    included = re.fullmatch(r"```\{include\} \.\./(\w+\.md)\n```\n*", text)
    if included:
        text = of_root((DOCS.parent / included[1]).read_text(encoding="utf-8"))
        app.env.note_dependency(str(DOCS.parent / included[1]))
    text = TABLE.sub(lambda match: docs_tables.table(match[1]), text)
    source[0] = with_gallery(with_links(with_results(text, docname), docname))


#: Classes of the front end that users make themselves; all others come from a method of the device or of what it made.
MADE_BY_USERS = {"Device", "Attachment", "VertexBinding", "Sampler", "SamplerYcbcrConversion"}
WITHOUT_DEVICE = ("tilegpu.scene", "tilegpu.testing", "tilegpu.math", "tilegpu.shapes")


def signature(app: Any, what: str, name: str, thing: Any, _: Any, given: str | None, returns: str | None) -> tuple[Any, Any]:
    """Autodoc's event: no arguments of classes that nobody calls; names of types as they are written."""
    if what == "exception":
        return given and "", None
    made = dataclasses.is_dataclass(thing) or (isinstance(thing, type) and issubclass(thing, tuple))
    if what == "class" and not (made or name.startswith(WITHOUT_DEVICE) or name.rpartition(".")[2] in MADE_BY_USERS):
        return "", None
    plain = [text if text is None else re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (given, returns)]
    return plain[0], plain[1]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", read)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": False, "parallel_write_safe": True}

