"""The page that a frame's report is made of: styles, tables, bars, what is folded. In: HTML of cells and parts. Out: HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --good: #2a8f4a; --bad: #c4442e; --load: #c0563f; --store: #4a78c8;
  --resolve: #7a5cc0; --other: #b8922e; --sampled: #2a8f6a; --copied: #8a8f98; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5em auto; max-width: 1260px; padding: 0 1em; }
h1 { font-size: 1.45em; margin-bottom: .2em; } h2 { font-size: 1.15em; margin: 1.8em 0 .4em; }
h3 { font-size: 1em; margin: 1.1em 0 .3em; }
table { border-collapse: collapse; margin: .3em 0; }
th, td { padding: .2em .7em; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead th { background: var(--soft); }
details { border: 1px solid var(--line); border-radius: .4em; margin: .5em 0; padding: .35em .8em; } summary { cursor: pointer; }
details details { border-style: dotted; } .soft { opacity: .72; font-weight: normal; } .good { color: var(--good); fill: var(--good); }
.bad { color: var(--bad); fill: var(--bad); } pre { overflow-x: auto; white-space: pre-wrap; } .wide { overflow-x: auto; }
ul, ol { margin: .2em 0; padding-left: 1.5em; }
.cards { display: flex; flex-wrap: wrap; gap: .8em; margin: 1em 0; }
.card { border: 1px solid var(--line); border-radius: .5em; padding: .5em .9em; }
.card b { display: block; font-size: 1.35em; } .card small { opacity: .72; }
.wide td, .wide th { padding: .2em .45em; } .wide td:first-child { white-space: nowrap; }
.wide th.n { white-space: normal; } .narrow { font-size: .92em; } .wide > svg { max-width: 100%; height: auto; min-width: 60em; }
.bar { display: flex; width: 6em; height: .8em; margin-top: .3em; } .bar i, .key { display: inline-block; height: 100%; }
.key { width: .8em; height: .8em; margin: 0 .2em 0 .5em; vertical-align: -.05em; }
.load { background: var(--load); } .store { background: var(--store); } .resolve { background: var(--resolve); }
.other { background: var(--other); }
.sampled { background: var(--sampled); } .copied { background: var(--copied); } .bar .bad { background: var(--bad); }
svg text { font: 12px system-ui, sans-serif; fill: CanvasText; } svg text.name { font-weight: 600; font-size: 13px; }
svg text.soft { opacity: .72; }
svg text.good { fill: var(--good); } svg text.bad { fill: var(--bad); } svg .rule { stroke: var(--line); }
svg .edge:hover { stroke-width: 4; }
.maps { display: flex; flex-wrap: wrap; gap: 1em; } figure { margin: 0; } figcaption { margin: .2em 0; max-width: 32em; }
.map { position: relative; display: inline-block; line-height: 0; background: #000; cursor: pointer; } .map img { max-width: 100%; }
.grid { position: absolute; inset: 0; display: none; background-image: linear-gradient(to right, #fff6 1px, transparent 1px),
  linear-gradient(to bottom, #fff6 1px, transparent 1px); } .map.on .grid { display: block; }
.scale { display: flex; align-items: center; gap: .5em; } .scale i { display: inline-block; width: 12em; height: .8em; }
.dot { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin: 0 .25em 0 .6em; }
"""
_SCRIPT = """
document.querySelectorAll('.map').forEach(m => m.addEventListener('click', () => m.classList.toggle('on')));
const open = () => {
  const d = document.getElementById(location.hash.slice(1));
  if (d && 'open' in d) { d.open = true; d.scrollIntoView(); }
};
addEventListener('hashchange', open); open();
"""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: set[int]) -> str:
    """Heads are text, cells are HTML; ``numeric``: columns that stand to the right."""

    def style(i: int) -> str:
        return ' class="n"' if i in numeric else ""

    head = "".join(f"<th{style(i)}>{html.escape(text)}</th>" for i, text in enumerate(heads))
    body = "".join(
        "<tr>" + "".join(f"<td{style(i)}>{cell}</td>" for i, cell in enumerate(row)) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def bar(parts: Sequence[tuple[int, str]], most: int) -> str:
    """Parts of a bar, (count, style) each; ``most`` is the whole width."""
    pieces = "".join(f'<i class="{style}" style="width:{100 * n / most:.2f}%"></i>' for n, style in parts if n and most)
    return f'<div class="bar">{pieces}</div>'


def card(title: str, value: str, below: str, style: str = "") -> str:
    """A figure with what it is."""
    title, value, below = map(html.escape, (title, value, below))
    return f'<div class="card"><small>{title}</small><b class="{style}">{value}</b><small>{below}</small></div>'


def listed(title: str, items: Sequence[str], style: str = "") -> str:
    """A list of HTML under a title; nothing where there is none."""
    return (
        f'<h3 class="{style}">{html.escape(title)}</h3><ul>{"".join(f"<li>{item}</li>" for item in items)}</ul>'
        if items
        else ""
    )


def folded(title: str, inner: str) -> str:
    """HTML that a click shows."""
    return f"<details><summary>{html.escape(title)}</summary>{inner}</details>"


def page(title: str, body: str, data: str) -> str:
    """The whole page; ``data``: JSON of what it shows, for programs."""
    safe = data.replace("<", "\\u003c")
    title = html.escape(title)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head><body><h1>{title}</h1>{body}'
        f'<script type="application/json" id="data">{safe}</script><script>{_SCRIPT}</script></body></html>\n'
    )
