"""A frame on several modelled GPUs side by side, and what would make it cheaper: as a table, as JSON, and for a report's page.

In: what each pass counted on each profile (:mod:`tilegpu.frame_profiles`), and what the frame itself found across its passes. Out: text,
HTML, plain data.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tilegpu.cost_changes import Change, changes
from tilegpu.cost_constants import CONSTANTS
from tilegpu.costs import PassCosts
from tilegpu.files import size_text
from tilegpu.frame_graph import Node, Unread
from tilegpu.frame_lint import Finding
from tilegpu.frame_page import bar, table
from tilegpu.frame_profiles import ProfileRun

#: Of a pass's own lint and of findings across passes: the dearest that are asked the model.
_MOST_FINDINGS = 12
_MOST_CHANGES = 8  #: in a terminal
_LEAST_SHARE = 0.001  #: of the frame's bytes or cycles, on the profile that a change helps most
_MOST_TILES = 2  #: sizes of tiles in a cell


class Comparison:
    """``profiles``: a row for each profile (tiles, splits, techniques, operations, bytes read and written, cycles, what limits them, and
    its passes as of :meth:`tilegpu.costs.PassCosts.asdict`); ``changes``: what would help, most first, each a ``text`` with what it
    ``saves`` by profile; ``left_out``: what the frame did that the model knows nothing of (``"2 dispatches"``). Plain data; printed, a
    table of all profiles and the dearest changes."""

    def __init__(
        self, title: str, profiles: list[dict[str, Any]], changes_found: list[dict[str, Any]], left_out: Sequence[str] = ()
    ) -> None:
        self.title, self.profiles, self.changes, self.left_out = title, profiles, changes_found, list(left_out)

    def asdict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"title": self.title, "profiles": self.profiles, "changes": self.changes, "left_out": self.left_out}

    def __str__(self) -> str:
        return _text_of(self, _MOST_CHANGES)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self)


def left_out(nodes: Sequence[Node]) -> list[str]:
    """What of a frame is no pass, and not in the model: a text for each kind."""
    counts: dict[str, int] = {}
    for node in nodes:
        if node.kind != "pass":
            counts[node.kind] = counts.get(node.kind, 0) + 1
    plurals = {"dispatch": "dispatches", "copy": "copies", "generate_mipmaps": "mip chains"}
    names = {"generate_mipmaps": "mip chain"}
    return [f"{n} {plurals.get(kind, kind + 's') if n != 1 else names.get(kind, kind)}" for kind, n in counts.items()]


def read_stores(nodes: Sequence[Node], unread: Sequence[Unread]) -> set[tuple[int, str]]:
    """Stores that something in the frame reads: the pass's number among passes, and the attachment."""
    passes = [node.number for node in nodes if node.kind == "pass"]
    nobody = {(one.source, one.use.attachment) for one in unread}
    return {(passes.index(node.number), use.attachment) for node in nodes if node.kind == "pass" for use in node.uses
            if use.write and use.how == "store" and (node.number, use.attachment) not in nobody}  # fmt: skip


def comparison(
    title: str,
    runs: Sequence[ProfileRun],
    findings: Sequence[Finding] = (),
    kept: Collection[tuple[int, str]] = (),
    others: Sequence[str] = (),
) -> Comparison:
    """Of the runs that have a cost model. ``findings``: what the frame says across its passes; ``kept``: stores that are needed, as of
    :func:`read_stores`; ``others``: what is left out, as of :func:`left_out`."""
    rows = []
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for run in runs:
        total = run.modelled()
        if total is None:
            continue
        rows.append(_row(run, total))
        for number, one in enumerate(run.passes):
            assert one.counts is not None
            for change in changes(one.counts, one.explain):
                if (number, change.drops) in kept:
                    continue
                where = f"pass {number} '{one.counts.label}': " if len(run.passes) > 1 else ""
                found.setdefault(where + change.text, {})[run.profile] = _saved(change, total)
        for finding in findings[:_MOST_FINDINGS]:
            if finding.saves_B and CONSTANTS[run.profile].kind != "immediate":
                found.setdefault(str(finding), {})[run.profile] = _saved(_of_finding(finding, total, run.profile), total)

    def weight(saves: Mapping[str, Mapping[str, Any]]) -> float:
        return float(max(max(s["cycles_share"], s["bytes_share"]) for s in saves.values()))

    ordered = sorted(((t, s) for t, s in found.items() if weight(s) >= _LEAST_SHARE), key=lambda item: -weight(item[1]))
    return Comparison(title, rows, [{"text": text, "saves": saves} for text, saves in ordered], others)


def _row(run: ProfileRun, total: PassCosts) -> dict[str, Any]:
    on = [name for name, (count, _) in run.techniques().items() if count and name not in ("early tests", "visibility buffer")]
    return {
        "profile": run.profile,
        "tiles_px": [one.tile for one in run.passes],
        "splits": run.total("splits"),
        "techniques": on,
        "fragments_shaded": run.total("fragments_shaded"),
        **{name: total.total(name) for name in ("arithmetic", "texture", "read_B", "write_B")},
        "cycles": total.cycles,
        "limited_by": total.limited_by,
        "exact": total.exact,
        "passes": [costs.asdict() for one in run.passes if (costs := one.modelled()) is not None],
    }


def _of_finding(finding: Finding, total: PassCosts, profile: str) -> Change:
    """Bytes that need not move save cycles only as far as the bus is what is waited for."""
    units = dict(total.units)
    units["bus"] = max(0.0, units["bus"] - finding.saves_B / CONSTANTS[profile].bus_B.value)
    return Change(str(finding), "", 0.0, float(finding.saves_B), max(0.0, max(total.units.values()) - max(units.values())))


def _saved(change: Change, total: PassCosts) -> dict[str, Any]:
    bytes_B = total.total("read_B") + total.total("write_B")
    return {
        "read_B": change.saves_read_B,
        "write_B": change.saves_write_B,
        "cycles": change.saves_cycles,
        "detail": change.detail,
        "bytes_share": change.saves_B / bytes_B if bytes_B else 0.0,
        "cycles_share": change.saves_cycles / total.cycles if total.cycles else 0.0,
    }


def _count(value: float) -> str:
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 10 * unit:
            return f"{value / unit:,.1f} {name}"
    return f"{value:,.0f}"


def _tiles(row: Mapping[str, Any]) -> str:
    tiles = list(dict.fromkeys(tile for tile in row["tiles_px"] if tile))
    return ", ".join(tiles[:_MOST_TILES]) + (f" and {len(tiles) - _MOST_TILES} more" if len(tiles) > _MOST_TILES else "") or "none"


_HEADS = ("profile", "tile", "splits", "arithmetic", "texture", "read", "written", "cycles", "limited by", "techniques on")


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["profile"], _tiles(row), f"{row['splits']:,}", ("" if row["exact"] else "<") + _count(row["arithmetic"]),
        _count(row["texture"]),
        size_text(round(row["read_B"])), size_text(round(row["write_B"])), _count(row["cycles"]), row["limited_by"],
        ", ".join(row["techniques"]) or "none",
    )  # fmt: skip


def _range(shares: Sequence[float]) -> str:
    low, high = 100 * min(shares), 100 * max(shares)
    return f"{high:.1f} %" if high - low < 0.05 else f"{low:.1f} to {high:.1f} %"


def _with_detail(change: Mapping[str, Any]) -> str:
    """The change, with what the profile that it saves most on has there."""
    most = max(change["saves"].values(), key=lambda s: max(s["cycles_share"], s["bytes_share"]))
    return f"{change['text']} ({most['detail']})" if most["detail"] else str(change["text"])


def _saves(saves: Mapping[str, Mapping[str, Any]], profiles: int) -> str:
    """What a change saves, over the profiles that it saves something on."""
    most = max(saves.values(), key=lambda s: s["read_B"] + s["write_B"])
    parts = []
    if most["read_B"] + most["write_B"] > 0:
        size, shares = size_text(round(most["read_B"] + most["write_B"])), _range([s["bytes_share"] for s in saves.values()])
        parts.append(f"up to {size} ({shares} of the bytes)")
    cycles = [s["cycles_share"] for s in saves.values()]
    parts.append(f"{_range(cycles)} of the cycles" if max(cycles) >= 0.0005 else "no cycles: something else is waited for")
    on = (
        "all profiles"
        if len(saves) == profiles and profiles > 1
        else ", ".join(saves)
        if len(saves) < 5
        else f"{len(saves)} of {profiles} profiles"
    )
    return f"{', '.join(parts)} on {on}"


def _text_of(found: Comparison, most_changes: int) -> str:
    rows = [_HEADS, *map(_cells, found.profiles)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    right = {2, 3, 4, 5, 6, 7}
    lines = [f"{found.title} on {len(rows) - 1} modelled GPU{'s' if len(rows) != 2 else ''} (constants and their sources: docs/costs.md)"]
    for row in rows:
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  " + "  ".join(cells).rstrip())
    if found.left_out:
        lines.append(f"  not in the model: {', '.join(found.left_out)}")
    lines.append("what would help:" if found.changes else "what would help: nothing that the model knows of")
    for change in found.changes[:most_changes]:
        lines += [f"  {_with_detail(change)}", f"      saves {_saves(change['saves'], len(rows) - 1)}"]
    more = len(found.changes) - most_changes
    if more > 0:
        lines.append(f"  and {more} more (as JSON, all)")
    return "\n".join(lines)


def html_of(found: Comparison, most_changes: int = 10) -> str:
    """A report's section: the same table, with bars of what is read and written, and the changes."""
    rows = found.profiles
    if not rows:
        return ""
    most = max(row["read_B"] + row["write_B"] for row in rows)
    longest = max(row["cycles"] for row in rows)
    body = []
    for row in rows:
        cells = [html.escape(cell) for cell in _cells(row)]
        cells.insert(7, bar([(round(row["read_B"]), "load"), (round(row["write_B"]), "store")], round(most)))
        cells.insert(9, bar([(round(row["cycles"]), "other")], round(longest)))
        body.append(cells)
    heads = [*_HEADS[:7], "", _HEADS[7], "", *_HEADS[8:]]
    right = {2, 3, 4, 5, 6, 8}
    if not any(row["splits"] for row in rows):
        heads, body, right = heads[:2] + heads[3:], [cells[:2] + cells[3:] for cells in body], {2, 3, 4, 5, 7}
    text = table(heads, body, right)
    lines = [
        f"<li>{html.escape(_with_detail(change))}<br><span class='soft'>saves {html.escape(_saves(change['saves'], len(rows)))}</span></li>"
        for change in found.changes[:most_changes]
    ]
    others = f"Not in it: {html.escape(', '.join(found.left_out))}. " if found.left_out else ""
    help_text = f"<h3>What would help</h3><ol>{''.join(lines)}</ol>" if lines else ""
    return (
        f'<h2>What it would cost on each GPU</h2><div class="wide">{text}</div>'
        '<p class="soft">A model: counts of this frame by constants of each profile, which docs/costs.md lists with their sources. '
        f"{others}Bytes are of external memory (read, written); cycles are of the unit that is busy longest.</p>{help_text}"
    )
