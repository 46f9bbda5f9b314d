"""Every page of the built site in Chromium (`make test-docs`): no dead link, all pictures, no error of the console, code as it is tested.

In: build/docs, made by `make docs`; served to the browser from this process.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "docs"
sys.path.insert(0, str(ROOT / "scripts"))

import docs_blocks  # noqa: E402
import docs_site  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
OFF = ("gpu", "quic", "background-networking", "component-update", "sync")  # a closed network would be asked again and again
FLAGS = ["--no-sandbox", "--no-first-run", *(f"--disable-{what}" for what in OFF)]
PAGES = sorted(str(p.relative_to(SITE)) for p in SITE.rglob("*.html") if not {"_static", "_downloads", "_sources"} & set(p.parts))

#: Of a page: its links, its pictures that are not there, ids, what stands in Python blocks, and whether it is wider than the window.
LOOK = """() => ({
  links: [...document.querySelectorAll('a[href]')].map(a => a.href),
  pictures: [...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.src),
  unnamed: [...document.images].filter(i => !i.alt).map(i => i.src),
  count: document.images.length,
  ids: [...document.querySelectorAll('[id]')].map(e => e.id),
  python: [...document.querySelectorAll('div.highlight-python pre')].map(e => e.textContent),
  captions: [...document.querySelectorAll('div.highlight-python')].map(
    e => e.parentElement.querySelector(':scope > .code-block-caption .caption-text')?.textContent ?? ''),
  title: document.title,
  wide: document.documentElement.scrollWidth - window.innerWidth,
})"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing of what it serves."""

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    assert SITE.joinpath("index.html").is_file(), "make docs first"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="make test-docs installs playwright")
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Looked:
    """What the browser found on all pages, by name."""

    def __init__(self, browser: Any, address: str) -> None:
        self.address = address
        self.pages: dict[str, dict[str, Any]] = {}
        self.problems: list[str] = []
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        name = ""
        tab.on("console", lambda m: self.problems.append(f"{name}: console: {m.text}") if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda e: self.problems.append(f"{name}: {e}"))
        tab.on("requestfailed", lambda r: self.problems.append(f"{name}: {r.url} failed"))
        tab.on("response", lambda r: self.problems.append(f"{name}: {r.url}: {r.status}") if r.status >= 400 else None)
        for name in PAGES:  # the handlers read it
            tab.goto(address + name)
            tab.evaluate("() => { for (const i of document.images) i.loading = 'eager'; return document.fonts.ready.then(() => 0); }")
            tab.wait_for_function("() => [...document.images].every(i => i.complete)")
            self.pages[name] = tab.evaluate(LOOK)
        tab.close()


@pytest.fixture(scope="module")
def looked(browser: Any, address: str) -> Looked:
    return Looked(browser, address)


def test_pages_are_there(looked: Looked) -> None:
    some = {"index.html", "tutorial/6-what-it-costs.html", "cookbook/passes.html", "api/passes.html", "errors.html", "support.html"}
    assert some <= set(PAGES)
    assert [name for name, page in looked.pages.items() if "tilegpu" not in page["title"]] == []


def test_nothing_goes_wrong(looked: Looked) -> None:
    assert looked.problems == []


def test_pictures_are_there_and_say_what_they_are(looked: Looked) -> None:
    assert {name: page["pictures"] for name, page in looked.pages.items() if page["pictures"]} == {}
    assert {name: page["unnamed"] for name, page in looked.pages.items() if page["unnamed"]} == {}
    assert sum(page["count"] for page in looked.pages.values()) > 40


def test_links_lead_somewhere(looked: Looked) -> None:
    """Within the site: to a page that is there, and to a place on it; downloads to a file."""
    wrong, count = set(), 0
    for name, page in looked.pages.items():
        for link in set(page["links"]):
            target, anchor = urldefrag(link)
            if not target.startswith(looked.address):
                continue
            count += 1
            path = unquote(target.removeprefix(looked.address)).partition("?")[0] or "index.html"
            path += "index.html" if path.endswith("/") else ""
            if not (SITE / path).is_file() or (anchor and path in looked.pages and unquote(anchor) not in looked.pages[path]["ids"]):
                wrong.add(f"{name} -> {path}{'#' + anchor if anchor else ''}")
    assert wrong == set() and count > 1000


def test_code_is_what_was_tested(looked: Looked) -> None:
    """What a reader copies is, letter by letter, what tests/test_docs.py and the build ran."""
    seen = 0
    for page in docs_blocks.pages():
        name = str(page.relative_to(docs_blocks.DOCS).with_suffix(".html"))
        written = [block.code for block in docs_blocks.blocks(page.read_text(encoding="utf-8"))]
        shown = looked.pages[name]["python"]
        assert [text.strip("\n") for text in shown] == [code.strip("\n") for code in written], name
        seen += len(shown)
    assert seen > 50


def test_blocks_that_are_no_programs_say_so(looked: Looked) -> None:
    marked = 0
    for page in docs_blocks.pages():
        name = str(page.relative_to(docs_blocks.DOCS).with_suffix(".html"))
        going_on = [block.goes_on for block in docs_blocks.blocks(page.read_text(encoding="utf-8"))]
        assert [caption == docs_site.GOES_ON for caption in looked.pages[name]["captions"]] == going_on, name
        marked += sum(going_on)
    assert marked > 15


def test_the_copy_button_gives_a_program(browser: Any, address: str, tmp_path: Path) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(address + "first-triangle.html")
    tab.locator("div.highlight-python").first.hover()
    tab.locator("div.highlight-python button.copybtn").first.click()
    tab.wait_for_function("() => navigator.clipboard.readText().then(t => t.includes('triangle.png'))")
    program = tab.evaluate("() => navigator.clipboard.readText()")
    context.close()
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    subprocess.run([sys.executable, "-W", "error", "program.py"], cwd=tmp_path, check=True)
    assert (tmp_path / "triangle.png").stat().st_size > 1000


def test_the_search_finds(browser: Any, address: str) -> None:
    tab = browser.new_page()
    tab.goto(address + "search.html?q=bloom")
    tab.wait_for_selector("#search-results li a")
    assert any("cookbook" in (a.get_attribute("href") or "") for a in tab.locator("#search-results li a").all())
    tab.close()


def test_narrow_windows_need_no_sideways_scrolling(browser: Any, address: str) -> None:
    tab = browser.new_page(viewport={"width": 400, "height": 800})
    wide = {}
    for name in PAGES:
        tab.goto(address + name)
        wide[name] = tab.evaluate(LOOK)["wide"]
    tab.close()
    assert {name: px for name, px in wide.items() if px > 1} == {}
