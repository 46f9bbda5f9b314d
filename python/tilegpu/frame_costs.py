"""A frame on several modelled GPUs side by side, and what would make it cheaper: as a table, as JSON, and for a report's page.

In: what each pass counted on each profile (:mod:`tilegpu.frame_profiles`), and what the frame itself found across its passes. Out: text,
HTML, plain data.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Mapping, Sequence
from typing import Any

from tilegpu.context import CommandStats
from tilegpu.cost_changes import Change, changes
from tilegpu.cost_counts import PassCounts, drawn_to, in_the_tile, without_chains
from tilegpu.costs import PassCosts, sum_of
from tilegpu.files import size_text
from tilegpu.frame_graph import Node, Unread
from tilegpu.frame_lint import Finding, in_use
from tilegpu.frame_memory import counts_after
from tilegpu.frame_page import bar, table
from tilegpu.frame_profiles import ProfileRun
from tilegpu.frame_samples import fewer_samples_of_all
from tilegpu.frame_traffic import Join, passes_of
from tilegpu.image import Image
from tilegpu.stats import bytes_text

#: Of a pass's own lint and of findings across passes: the dearest that are asked the model.
_MOST_FINDINGS = 12
_MOST_CHANGES = 8  #: in a terminal
_LEAST_SHARE = 0.001  #: of the frame's bytes or cycles, on the profile that a change helps most
_LEAST_SHOWN = 0.01  #: of the frame's cycles, of a command in a table
_MOST_TILES = 2  #: sizes of tiles in a cell
BLEND_UNIT = "blend unit"  #: explained beside the techniques, and none of them


class Comparison:
    """``profiles``: a row for each profile (tiles, splits, techniques, operations, bytes read and written, cycles, what limits them, its
    passes, dispatches and commands as of :meth:`tilegpu.costs.PassCosts.asdict`, and ``steps``: all of these by name, with cycles and
    bytes); ``changes``: what would help, most first, each a ``text`` with what it ``saves`` by profile (``order``: of draws, that was drawn
    to find out; ``at_most``: following may save less), and ``drawn_B``: what it saves on the device that drew the frame, whose profile is
    ``drawn_on``, by that one's ledger (0: nobody asked it); ``left_out``: what the frame did that the model does not know. Plain data;
    printed, a table of all profiles, the dearest step and the dearest changes."""

    def __init__(
        self,
        title: str,
        profiles: list[dict[str, Any]],
        changes_found: list[dict[str, Any]],
        left_out: Sequence[str] = (),
        drawn_on: str = "",
    ) -> None:
        self.title, self.profiles, self.changes, self.left_out = title, profiles, changes_found, list(left_out)
        self.drawn_on = drawn_on

    def asdict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"title": self.title, "profiles": self.profiles, "changes": self.changes, "left_out": self.left_out,
                "drawn_on": self.drawn_on}  # fmt: skip

    def __str__(self) -> str:
        return _text_of(self, _MOST_CHANGES)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self)


def _left_out(runs: Sequence[ProfileRun]) -> list[str]:
    """What of a frame is not in the model."""
    count = sum(one.uses_addresses for one in runs[0].dispatches) if runs else 0
    found = [f"how often the same memory is reached by address in {count} dispatch{'es' if count != 1 else ''}"] if count else []
    fixed = {number: why for run in runs for number, why in run.fixed.items()}
    return found + [f"other orders of the draws of pass {number}: {why}" for number, why in sorted(fixed.items())]


def read_stores(nodes: Sequence[Node], unread: Sequence[Unread], outputs: Sequence[Image] = ()) -> set[tuple[int, str]]:
    """Stores that something reads, in the frame or since, or that the frame is drawn for: the pass's number among passes, and the
    attachment."""
    passes = [node.number for node in nodes if node.kind == "pass"]
    nobody = {(one.source, one.use.attachment) for one in unread}
    return {(passes.index(node.number), use.attachment) for node in nodes if node.kind == "pass" for use in node.uses
            if use.write and use.how == "store"
            and ((node.number, use.attachment) not in nobody or in_use(node, use.attachment, outputs))}  # fmt: skip


def comparison(
    title: str,
    runs: Sequence[ProfileRun],
    findings: Sequence[Finding] = (),
    nodes: Sequence[Node] = (),
    unread: Sequence[Unread] = (),
    outputs: Sequence[Image] = (),
    drawn_on: str = "",
) -> Comparison:
    """Of the runs that have a cost model. ``findings``: what the frame says across its passes, by the ledger of a device of profile
    ``drawn_on``; ``nodes``, ``unread``, ``outputs``: of its graph. Without them (of a capture) what reads a store is what may read it."""
    rows = []
    found: dict[str, dict[str, dict[str, Any]]] = {}
    drawn_B: dict[str, int] = {}
    kept = read_stores(nodes, unread, outputs) if nodes else runs[0].in_use if runs else set()
    made = {(use.thing.format, *use.thing.size[:2]) for node in nodes for use in node.uses if use.write and isinstance(use.thing, Image)}
    made |= {shape for run in runs[:1] for one in run.passes for shape in drawn_to(one.layout)}
    asked = [finding for finding in findings if finding.cuts][:_MOST_FINDINGS]
    for run in runs:
        total = run.modelled()
        if total is None:
            continue
        names = _step_names(run, nodes)
        rows.append(_row(run, total, names))
        places = _places(nodes, run)
        halved: set[int] = set()  # passes that a change of samples is about
        said: set[tuple[int, str, str]] = set()  # by a finding: pass, attachment, cause
        for finding in asked:
            change = _of_finding(finding, run, places)
            if change.saves_B > 0 or change.saves_cycles > 0:
                found.setdefault(finding.advice, {})[run.profile] = _saved(change, total)
                drawn_B[finding.advice] = finding.saves_B
            said |= {(places[cut.node][0], cut.attachment, cut.cause) for cut in finding.cuts if cut.attachment and cut.node in places}
        for number, one in enumerate(run.passes):
            assert one.counts is not None
            for of_pass in [*changes(without_chains(one.counts, made), one.explain), *run.orders.get(number, ())]:
                change = of_pass
                if of_pass.samples and nodes:
                    if number in halved:
                        continue
                    change, about = fewer_samples_of_all(of_pass, number, run, nodes, places)
                    halved |= about
                if (number, change.drops) in kept or {(number, change.drops, "store"), (number, change.skips, "load")} & said:
                    continue
                where = f"{names[number]}: " if len(run.passes) > 1 else ""
                found.setdefault(where + change.text, {})[run.profile] = _saved(change, total)

    def weight(saves: Mapping[str, Mapping[str, Any]]) -> float:
        return float(max(max(s["cycles_share"], s["bytes_share"]) for s in saves.values()))

    ordered = sorted(((t, s) for t, s in found.items() if weight(s) >= _LEAST_SHARE), key=lambda item: -weight(item[1]))
    texts = [{"text": text, "saves": saves, "drawn_B": drawn_B.get(text, 0)} for text, saves in ordered]
    return Comparison(title, rows, texts, _left_out(runs), drawn_on)


def _step_names(run: ProfileRun, nodes: Sequence[Node]) -> list[str]:
    """Of its passes, dispatches and commands, in this order: as the frame names its nodes, and of a capture by their numbers. Commands of
    one node have one name."""
    kinds = [
        [f"pass {i} '{one.counts.label if one.counts else ''}'" for i, one in enumerate(run.passes)],
        [f"dispatch {i} '{one.label}'" for i, one in enumerate(run.dispatches)],
        [f"command {i} ({one.command.replace('_', ' ')})" for i, one in enumerate(run.commands)],
    ]
    for own, kind in zip(kinds, ("pass", "dispatch"), strict=False):
        titles = [node.title for node in nodes if node.kind == kind]
        if len(titles) == len(own):
            own[:] = titles
    for number, commands in _places(nodes, run).items():
        for at in commands if isinstance(nodes[number].stats, CommandStats) else ():
            kinds[2][at] = nodes[number].title
    return [name for own in kinds for name in own]


def _steps(run: ProfileRun, names: Sequence[str]) -> list[dict[str, Any]]:
    """Each by itself: what overlaps is in the frame alone."""
    passes = [costs for one in run.passes if (costs := one.modelled()) is not None]
    found: dict[str, dict[str, Any]] = {}
    for name, costs in zip(names, [*passes, *run.modelled_dispatches(), *run.modelled_commands()], strict=True):
        step = found.setdefault(name, {"step": name, "cycles": 0.0, "bytes_B": 0.0, "limited_by": costs.limited_by})
        step["cycles"] += costs.cycles
        step["bytes_B"] += costs.total("read_B") + costs.total("write_B")
    return list(found.values())


def _row(run: ProfileRun, total: PassCosts, names: Sequence[str]) -> dict[str, Any]:
    on = [name for name, (count, _) in run.techniques().items() if count and name not in ("early tests", "visibility buffer", BLEND_UNIT)]
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
        "dispatches": [costs.asdict() for costs in run.modelled_dispatches()],
        "commands": [costs.asdict() for costs in run.modelled_commands()],
        "steps": _steps(run, names),
    }


def _places(nodes: Sequence[Node], run: ProfileRun) -> dict[int, list[int]]:
    """Of each node of a frame where the run has it: its pass, or its commands, which may be several."""
    found: dict[int, list[int]] = {}
    passes = at = 0
    for node in nodes:
        if node.kind == "pass":
            found[node.number] = [passes]
            passes += 1
        elif isinstance(node.stats, CommandStats):
            first, moved_B = at, 0
            while at < len(run.commands) and (at == first or moved_B < node.stats.moved_B):
                moved_B += run.commands[at].moved_B
                at += 1
            found[node.number] = list(range(first, at))
    return found


def _of_finding(finding: Finding, run: ProfileRun, places: Mapping[int, Sequence[int]]) -> Change:
    """The frame as it is, less the same without the bytes that a finding says need not move, by this profile's ledger."""
    gone_nodes = {cut.node for cut in finding.cuts if not cut.attachment}
    gone = {number for node in gone_nodes for number in places.get(node, ())}
    changed: dict[int, PassCounts] = {}

    def change_to(number: int, rows: Mapping[str, Mapping[str, int]]) -> None:
        counts = run.passes[number].counts
        assert counts is not None
        changed[number] = dataclasses.replace(counts, traffic=rows)

    if finding.change is not None and any(run.in_memory(places[node][0]) for node in passes_of(finding.change)):
        counts = {node: of for node in passes_of(finding.change) if (of := run.passes[places[node][0]].counts) is not None}
        then = counts_after(finding.change, counts)
        if then is None:
            return Change(str(finding), "", 0.0, 0.0, 0.0)
        changed = {places[node][0]: of for node, of in then.items()}
    elif finding.change is not None:
        ledger = finding.change.after({node: run.passes[places[node][0]].moved for node in passes_of(finding.change)})
        if ledger is None:
            return Change(str(finding), "", 0.0, 0.0, 0.0)
        for node, rows in ledger.items():
            change_to(places[node][0], rows)
        if isinstance(finding.change, Join):
            second = places[finding.change.second][0]
            changed[second] = in_the_tile(changed[second], finding.change.in_tile)
    else:
        for cut in (one for one in finding.cuts if one.attachment):
            for number in places.get(cut.node, ()):
                traffic = (changed.get(number) or run.passes[number].counts).traffic  # type: ignore[union-attr]
                change_to(number, {**traffic, cut.attachment: {**traffic.get(cut.attachment, {}), cut.cause: 0}})
    # The whole frame both times: what a pass costs depends on the one before it, whose rendering may hide its binning.
    before, after = sum_of(run.in_a_row(), "before"), sum_of(run.in_a_row(changed, gone), "after")
    return Change(str(finding), "", before.total("read_B") - after.total("read_B"), before.total("write_B") - after.total("write_B"),
                  before.cycles - after.cycles)  # fmt: skip


def _saved(change: Change, total: PassCosts) -> dict[str, Any]:
    bytes_B = total.total("read_B") + total.total("write_B")
    return {
        "read_B": change.saves_read_B,
        "write_B": change.saves_write_B,
        "cycles": change.saves_cycles,
        "detail": change.detail,
        "at_most": change.at_most,
        "order": list(change.order),
        "same_picture": change.same_picture,
        "bytes_share": change.saves_B / bytes_B if bytes_B else 0.0,
        "cycles_share": change.saves_cycles / total.cycles if total.cycles else 0.0,
    }


def _count(value: float) -> str:
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 10 * unit:
            return f"{value / unit:,.1f} {name}"
    return f"{value:,.0f}"


def some_tiles(sizes: Sequence[str]) -> str:
    """Different sizes of tiles, as many as a cell holds."""
    tiles = list(dict.fromkeys(tile for tile in sizes if tile))
    return ", ".join(tiles[:_MOST_TILES]) + (f" and {len(tiles) - _MOST_TILES} more" if len(tiles) > _MOST_TILES else "") or "none"


_HEADS = ("profile", "tile", "splits", "arithmetic", "texture", "read", "written", "cycles", "limited by", "techniques on")


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["profile"], some_tiles(row["tiles_px"]), f"{row['splits']:,}", ("" if row["exact"] else "<") + _count(row["arithmetic"]),
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


def _on(names: Sequence[str], profiles: int) -> str:
    if len(names) == profiles and profiles > 1:
        return "all profiles"
    return ", ".join(names) if len(names) < 5 else f"{len(names)} of {profiles} profiles"


def _saves(change: Mapping[str, Any], profiles: int, drawn_on: str) -> str:
    """What a change saves, over the profiles that it saves something on; and on the device that drew the frame, where that is none."""
    saves = change["saves"]
    saved_B = {name: round(s["read_B"] + s["write_B"]) for name, s in saves.items()}
    most_on = max(saved_B, key=lambda name: saved_B[name])
    parts, same = [], len(set(saved_B.values())) == 1
    at_most = "up to " if any(s["at_most"] for s in saves.values()) else ""
    if saved_B[most_on] > 0:
        size, shares = bytes_text(saved_B[most_on]), _range([s["bytes_share"] for s in saves.values()])
        parts.append(f"{at_most}{size} ({shares} of the bytes)" if same else f"up to {size} ({most_on}; {shares} of the bytes)")
    cycles = [s["cycles_share"] for s in saves.values()]
    parts.append(f"{at_most}{_range(cycles)} of the cycles" if max(cycles) >= 0.0005 else "no cycles: something else is waited for")
    asked = change["drawn_B"] and drawn_on not in saves and not (same and saved_B[most_on] == change["drawn_B"])
    drawn = f"; {bytes_text(change['drawn_B'])} on {drawn_on}, which drew it" if asked else ""
    return f"{', '.join(parts)} on {_on(list(saves), profiles)}{drawn}"


def _dearest(found: Comparison) -> str:
    """The step of each profile that takes most cycles, "" for a frame of one."""
    by_step: dict[str, list[tuple[str, float, float]]] = {}
    for row in found.profiles:
        if len(row["steps"]) < 2 or not row["cycles"]:
            return ""
        step = max(row["steps"], key=lambda one: one["cycles"])
        bytes_B = row["read_B"] + row["write_B"]
        shares = min(1.0, step["cycles"] / row["cycles"]), step["bytes_B"] / bytes_B if bytes_B else 0.0
        by_step.setdefault(step["step"], []).append((row["profile"], *shares))
    ordered = sorted(by_step.items(), key=lambda item: -len(item[1]))
    parts = []
    for name, on in ordered:
        cycles, bytes_ = _range([share for _, share, _ in on]), _range([share for _, _, share in on])
        of = "of the cycles and of the bytes" if cycles == bytes_ else f"of the cycles and {bytes_} of the bytes"
        parts.append(f"{name}, {cycles} {of} on {_on([profile for profile, _, _ in on], len(found.profiles))}")
    return "; ".join(parts)


def _text_of(found: Comparison, most_changes: int) -> str:
    rows = [_HEADS, *map(_cells, found.profiles)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    right = {2, 3, 4, 5, 6, 7}
    many = "s" if len(rows) != 2 else ""
    lines = [f"{found.title} on {len(rows) - 1} modelled GPU{many} (constants and their sources: tilegpu info --profile P)"]
    for row in rows:
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  " + "  ".join(cells).rstrip())
    if found.left_out:
        lines.append(f"  not in the model: {', '.join(found.left_out)}")
    if dearest := _dearest(found):
        lines.append(f"dearest step: {dearest}")
    lines.append("what would help:" if found.changes else "what would help: nothing that the model knows of")
    for change in found.changes[:most_changes]:
        lines += [f"  {_with_detail(change)}", f"      saves {_saves(change, len(rows) - 1, found.drawn_on)}"]
    more = len(found.changes) - most_changes
    if more > 0:
        lines.append(f"  and {more} more (as JSON, all)")
    return "\n".join(lines)


def _by_step(rows: Sequence[Mapping[str, Any]]) -> str:
    """Cycles of each step by profile, and what limits it; the dearest of each profile stands out. Commands that take next to nothing are
    left out: a frame may have hundreds."""
    first_command = len(rows[0]["passes"]) + len(rows[0]["dispatches"]) if rows else 0
    shown = [
        i for i in range(len(rows[0]["steps"]) if rows else 0)
        if i < first_command or any(row["steps"][i]["cycles"] >= _LEAST_SHOWN * row["cycles"] for row in rows)
    ]  # fmt: skip
    steps = [[row["steps"][i] for i in shown] for row in rows]
    if len(shown) < 2:
        return ""
    body = []
    dearest = [max(range(len(of)), key=lambda i, of=of: of[i]["cycles"]) for of in steps]  # type: ignore[misc]
    for i, first in enumerate(steps[0]):
        cells = [html.escape(first["step"])]
        for of, most in zip(steps, dearest, strict=True):
            cycles = _count(of[i]["cycles"])
            limit = f'<br><span class="soft">{html.escape(of[i]["limited_by"])}</span>'
            cells.append((f"<b>{cycles}</b>" if i == most else cycles) + limit)
        body.append(cells)
    heads = ["step", *(row["profile"] for row in rows)]
    return (
        f'<h3>Cycles of each step</h3><div class="wide narrow">{table(heads, body, set(range(1, len(heads))))}</div>'
        '<p class="soft">Each by itself, with what limits it; what overlaps (binning, from A7xx on) is in the frame alone.</p>'
    )


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
        f"<li>{html.escape(_with_detail(change))}<br><span class='soft'>saves {html.escape(saves)}</span></li>"
        for change in found.changes[:most_changes]
        for saves in [_saves(change, len(rows), found.drawn_on)]
    ]
    bound = any(not row["exact"] for row in rows)
    branches = "A < stands before operations that are at most so many (of branches both sides). " if bound else ""
    others = f"Not in it: {html.escape(', '.join(found.left_out))}. " if found.left_out else ""
    # The profile that the page is about comes first, also where what is found is about others alone.
    modelled = {row["profile"] for row in rows}
    silent = found.drawn_on in modelled and not any(found.drawn_on in change["saves"] for change in found.changes)
    nothing = f"<p>On {html.escape(found.drawn_on)}: nothing that the model knows of.</p>" if silent else ""
    others_only = f"<p>On others:</p><ol>{''.join(lines)}</ol>" if lines and silent else f"<ol>{''.join(lines)}</ol>" if lines else ""
    words = 'Orders of draws were drawn so, and save what is said; all else is an estimate: "up to" may be more than following gives.'
    measured = f'<p class="soft">{words}</p>' if lines else ""
    help_text = f"<h3>What would help</h3>{measured}{nothing}{others_only}" if lines or nothing else ""
    return (
        f'<h2>What it would cost on each GPU</h2><div class="wide">{text}</div>'
        '<p class="soft">A model: counts of this frame by constants of each profile, which tilegpu info --profile P prints. '
        f"{others}Bytes are all that external memory sees: attachments, which alone are what moves between tile memory and images, and "
        "vertices, lists of tiles, textures, what dispatches read and write, commands. "
        f"{branches}Cycles are of the unit that is busy longest.</p>{_by_step(rows)}{help_text}"
    )
