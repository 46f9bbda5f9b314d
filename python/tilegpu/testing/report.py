"""One HTML page of all pictures of a test run: failures first, expected, actual and difference side by side; works without a network.

In: records of ``assert_image_equal``. Out: the page, with pictures inside, so that one file can be kept by a CI service.
"""

from __future__ import annotations

import base64
import html
import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tilegpu import ValidationError, __version__, arguments
from tilegpu.files import place, suffix_problem
from tilegpu.testing.golden import Picture, Status
from tilegpu.testing.pictures import UNREADABLE, GoldenError, write_file

#: Pictures that are as they should be are shown no larger, so that the page of a large suite stays small.
_THUMBNAIL_PX = 256
#: Small pictures that ask for a look are enlarged to about this, all of a comparison alike, each pixel a square.
_LEAST_PX = 256
#: Of each status, those that ask for a look first.
_WORDS: dict[Status, str] = {
    "different": "different",
    "missing": "without a golden",
    "updated": "replaced",
    "written": "written",
    "near": "near",
    "equal": "equal",
}

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #c0392b; --new: #b7791f; --good: #2e7d32; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; padding: 0 1rem; max-width: 96rem; }
h1 { font-size: 1.3rem; }
h2 { font-size: 1rem; margin: 0; }
pre { white-space: pre-wrap; margin: .4rem 0; }
code { font-size: .9em; }
article { border: 1px solid var(--line); border-left: 5px solid var(--good); border-radius: 4px; padding: .7rem 1rem; margin: .8rem 0; }
article.different, article.missing { border-left-color: var(--bad); }
article.updated, article.written, article.near { border-left-color: var(--new); }
.pictures, .fine { display: flex; flex-wrap: wrap; gap: .8rem; }
.fine article { margin: 0; }
figure { margin: 0; max-width: 100%; flex: none; }
figcaption { font-size: .85rem; opacity: .8; }
img { max-width: 100%; height: auto; image-rendering: pixelated; }
img { background: repeating-conic-gradient(#8883 0 25%, transparent 0 50%) 0 0 / 16px 16px; }
.failed img { cursor: pointer; }
"""
#: A click on one of the pictures shows the other in its place: what moves is what differs.
_SCRIPT = """
document.querySelectorAll('.failed .pictures').forEach(row => {
  const [expected, actual] = ['expected', 'actual'].map(kind => row.querySelector(`img.${kind}`));
  if (!expected || !actual) return;
  [expected, actual].forEach(img => img.addEventListener('click', () => {
    for (const what of ['src', 'width', 'height']) [expected[what], actual[what]] = [actual[what], expected[what]];
    row.querySelectorAll('.swapped').forEach(s => s.hidden = !s.hidden);
  }));
});
"""


def _read(path: str, largest_px: int | None) -> tuple[bytes, tuple[int, int]] | None:
    """The file's picture for a page, and its width and height; None if it is gone, or none."""
    from PIL import Image as Pillow

    try:
        data = Path(path).read_bytes()
        picture: Pillow.Image = Pillow.open(io.BytesIO(data))
        if largest_px is not None and max(picture.size) > largest_px:
            picture.thumbnail((largest_px, largest_px))
            out = io.BytesIO()
            picture.save(out, "png")
            data = out.getvalue()
    except (*UNREADABLE, TypeError):
        return None
    return data, picture.size


def _wants_a_look(picture: Picture) -> bool:
    return picture.failed or picture.status == "updated"


def _article(picture: Picture) -> str:
    failed = _wants_a_look(picture)
    # the page has them side by side anyway
    found = {kind: _read(file, None if failed else _THUMBNAIL_PX) for kind, file in picture.files.items() if kind != "side_by_side"}
    there = {kind: read for kind, read in found.items() if read is not None}
    scale = max(1, _LEAST_PX // max((side for _, size in there.values() for side in size), default=1)) if failed else 1
    figures = []
    for kind, (data, (width, height)) in there.items():
        uri = "data:image/png;base64," + base64.b64encode(data).decode("ascii")
        swapped = '<span class="swapped" hidden> (swapped)</span>' if failed and kind in ("expected", "actual") else ""
        figures.append(
            f'<figure><figcaption>{kind}{swapped}</figcaption><img class="{kind}" alt="{kind}" width="{width * scale}" '
            f'height="{height * scale}" src="{uri}"></figure>'
        )
    test = f"<code>{html.escape(picture.test)}</code>" if picture.test else ""
    message = f"<pre>{html.escape(picture.message)}</pre>" if picture.message else ""
    return (
        f'<article class="{picture.status}{" failed" if failed else ""}"><h2>{html.escape(picture.name)}</h2>{_WORDS[picture.status]} '
        f'{test}{message}<div class="pictures">{"".join(figures)}</div></article>'
    )


def _checked(pictures: Any, who: str) -> list[Picture]:
    """A list of them. Raises :class:`GoldenError` for what is none, such as the function that gives them."""
    must = "it must be the comparisons of a run, such as take_pictures()"
    if isinstance(pictures, (str, os.PathLike)) and who == "write_report":
        must += ", and the path comes behind: write_report(take_pictures(), path)"
    try:
        given = arguments.sequence(pictures, f"{who}: pictures", must)
    except ValidationError as wrong:
        raise GoldenError(str(wrong)) from None
    for number, one in enumerate(given):
        if not isinstance(one, Picture) or one.status not in _WORDS or not isinstance(one.files, Mapping):
            raise GoldenError(f"{who}: pictures[{number}] is {arguments.shown(one)}; {must}")
    return given


def summary(pictures: Iterable[Picture]) -> str:
    """How many there are of each status, in words: "1 different, 3 equal". Raises :class:`tilegpu.testing.GoldenError` for what are no
    comparisons."""
    statuses = [picture.status for picture in _checked(pictures, "summary")]
    return ", ".join(f"{n} {words}" for status, words in _WORDS.items() if (n := statuses.count(status))) or "no pictures"


def write_report(pictures: Iterable[Picture], path: str | Path) -> Path:
    """Writes the page; its path. Pictures whose files are gone are named without. Raises :class:`tilegpu.testing.GoldenError` for a path
    whose suffix is of something else, and for what are no comparisons."""
    rows = _checked(pictures, "write_report")
    if not isinstance(path, (str, os.PathLike)):
        raise GoldenError(f"write_report: path is {arguments.shown(path)}; it must be a path, such as 'report.html'")
    if problem := suffix_problem(path, "HTML pages"):
        raise GoldenError(f"write_report: {problem}")
    order = list(_WORDS)
    rows = sorted(rows, key=lambda p: order.index(p.status))
    title = f"Pictures: {summary(rows)}"
    bad = [p for p in rows if _wants_a_look(p)]
    fine = [p for p in rows if p not in bad]
    hint = "<p>Click a picture to see expected and actual in the same place.</p>" if bad else ""
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1>{hint}"
        f'{"".join(map(_article, bad))}<div class="fine">{"".join(map(_article, fine))}</div>'
        f"<footer><p>tilegpu {__version__}</p></footer><script>{_SCRIPT}</script></html>\n"
    )
    target = Path(place(path))
    write_file(target, page.encode())
    return target
