"""A frame's graph as a drawing. In: nodes, edges, bytes by cause. Out: SVG, a row for each node with its bytes as a bar, and an arc from
where something is stored to where it is read."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence

from tilegpu.files import size_text

CAUSES = (("loaded", "#c0563f"), ("stored", "#4a78c8"), ("resolved", "#7a5cc0"), ("other", "#b8922e"))
READS = {"load": "#c0563f", "sampled": "#2a8f6a"}
_OTHER_READ = "#8a8f98"
_NAME_X, _BAR_X, _BAR_PX, _ARC_X, _LANE_PX, _LINE_PX, _WIDTH_PX = 92, 400, 190, 690, 13, 15, 1240


@dataclasses.dataclass(eq=False)
class Row:
    """A node. ``bytes``: by cause, as :data:`CAUSES`; ``read``: (number of the source or -1, text, how) of each edge into it;
    ``notes``: (text, style) below its name."""

    number: int
    title: str
    detail: str
    bytes: tuple[int, ...]
    read: list[tuple[int, str, str]]
    notes: list[tuple[str, str]]
    picture: str = ""
    anchor: str = ""

    @property
    def height_px(self) -> int:
        """Room for its lines, on either side."""
        return max(62, 36 + _LINE_PX * len(self.notes), 20 + _LINE_PX * len(self.read))


def _lanes(arcs: Sequence[tuple[int, int]]) -> list[int]:
    """A lane for each (first row, last row), so that none overlap; short arcs are inside."""
    used: list[list[tuple[int, int]]] = []
    out = [0] * len(arcs)
    for i in sorted(range(len(arcs)), key=lambda i: (arcs[i][1] - arcs[i][0], arcs[i])):
        first, last = arcs[i]
        lane = next((k for k, spans in enumerate(used) if all(last <= a or b <= first for a, b in spans)), len(used))
        if lane == len(used):
            used.append([])
        used[lane].append((first, last))
        out[i] = lane
    return out


def _text(x: float, y: float, text: str, style: str = "", most: int = 60) -> str:
    shown = text if len(text) <= most else text[: most - 1] + "…"
    return f'<text x="{x:g}" y="{y:g}" class="{style}"><title>{html.escape(text)}</title>{html.escape(shown)}</text>'


def _row(row: Row, top: float, most_B: int) -> list[str]:
    out = [f'<line x1="0" y1="{top:g}" x2="{_WIDTH_PX}" y2="{top:g}" class="rule"/>']
    if row.picture:
        out.append(
            f'<image href="{row.picture}" x="4" y="{top + 6:g}" width="80" height="50" preserveAspectRatio="xMidYMid meet"/>'
        )
    name = _text(_NAME_X, top + 19, f"{row.number}  {row.title}", "name", 40)
    out.append(f'<a href="#{html.escape(row.anchor)}">{name}</a>' if row.anchor else name)
    out.append(_text(_NAME_X, top + 35, row.detail, "soft", 50))
    out += [_text(_NAME_X, top + 35 + _LINE_PX * (k + 1), text, style, 50) for k, (text, style) in enumerate(row.notes)]
    x = float(_BAR_X)
    for (cause, color), count in zip(CAUSES, row.bytes, strict=True):
        width = _BAR_PX * count / most_B if most_B else 0.0
        if count:
            title = f"<title>{cause}: {size_text(count)}</title>"
            out.append(
                f'<rect x="{x:g}" y="{top + 10:g}" width="{max(width, 1):.1f}" height="12" fill="{color}">{title}</rect>'
            )
        x += width
    if sum(row.bytes):
        out.append(_text(x + 6, top + 20, size_text(sum(row.bytes)), ""))
        words = ", ".join(f"{cause} {size_text(n)}" for (cause, _), n in zip(CAUSES, row.bytes, strict=True) if n)
        out.append(_text(_BAR_X, top + 38, words, "soft", 46))
    return out


def drawing(rows: Sequence[Row]) -> str:
    """The SVG."""
    tops, y = [], 8.0
    for row in rows:
        tops.append(y)
        y += row.height_px
    by_number = {row.number: k for k, row in enumerate(rows)}
    arcs = [
        (by_number[source], k, text, how) for k, row in enumerate(rows) for source, text, how in row.read if source >= 0
    ]
    lanes = _lanes([(a, b) for a, b, _, _ in arcs])
    label_x = _ARC_X + _LANE_PX * (max(lanes, default=0) + 1) + 22
    out = []
    most_B = max((sum(row.bytes) for row in rows), default=0)
    for row, top in zip(rows, tops, strict=True):
        out += _row(row, top, most_B)
    line = dict.fromkeys(range(len(rows)), 0)  # how many lines a row's right side has
    k = 0
    for b, row in enumerate(rows):
        for source, text, how in row.read:
            at = tops[b] + 19 + _LINE_PX * line[b]
            line[b] += 1
            color = READS.get(how, _OTHER_READ)
            if source >= 0:
                a, lane = arcs[k][0], _ARC_X + _LANE_PX * (lanes[k] + 1)
                start = tops[a] + rows[a].height_px - 12
                k += 1
                path = f"M{_ARC_X} {start:g} H{lane - 5:g} q5 0 5 5 V{at - 9:g} q0 5 5 5 H{label_x - 8:g}"
                title = f"<title>{html.escape(f'{rows[a].title}: {text}')}</title>"
                out.append(
                    f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2" class="edge">{title}</path>'
                )
                out.append(f'<circle cx="{_ARC_X}" cy="{start:g}" r="3" fill="{color}"/>')
            out.append(f'<path d="M{label_x - 8:g} {at - 8:g} l7 4 l-7 4 z" fill="{color}"/>')
            out.append(_text(label_x + 4, at, text, "", 70))
    height = y + 8
    return (
        f'<svg viewBox="0 0 {_WIDTH_PX} {height:g}" width="{_WIDTH_PX}" height="{height:g}" role="img" '
        f'aria-label="passes and what flows between them">{"".join(out)}</svg>'
    )
