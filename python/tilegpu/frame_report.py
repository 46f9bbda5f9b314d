"""The report of a frame: one HTML page that needs no network and no other file.

In: nodes and edges, findings, what each pass cost on the frame's profile and on others. Out: the page. What a reader wants first stands
first: what the frame moves and the dearest findings, the graph with bytes by cause, profiles side by side; each pass in full is folded.
Styles and words of the page are here and in :mod:`tilegpu.frame_page`.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tilegpu.buffer import Buffer
from tilegpu.context import CommandStats
from tilegpu.cost_constants import CONSTANTS
from tilegpu.explain import Explanation
from tilegpu.files import size_text
from tilegpu.frame_costs import BLEND_UNIT, Comparison, comparison, html_of, some_tiles
from tilegpu.frame_drawing import Row, drawing
from tilegpu.frame_graph import BEFORE, Edge, Graph, Node
from tilegpu.frame_lint import Finding, store_B
from tilegpu.frame_page import bar, card, folded, listed, page, table
from tilegpu.frame_pictures import killers, map_picture, ramp_css, thumbnail
from tilegpu.frame_profiles import PassRun, ProfileRun, is_killed_only
from tilegpu.frame_stats import NOT_MOVED, moved_B
from tilegpu.history import HEATMAPS, KILLERS, MAP_COUNTERS
from tilegpu.image import Image
from tilegpu.uses import use_of_view

_READ_WORDS = {"load": "loaded", "sampled": "sampled", "copy": "copied", "blit": "blitted"}
_MAPS = ("rasterized", "shaded", "overwritten", "discarded", "late_killed", "sliced")
_FRAMES_A_SECOND = 60
_LEAST_COLUMNS = 3  #: fewer profiles of a kind stand beside others
#: What profiles are compared by, beside bytes and techniques.
_COUNTERS = {
    "splits: the heap was full": "splits",
    "fragments shaded": "fragments_shaded",
    "killed by early tests": "fragments_early_killed",
    "killed by the pre-pass": "fragments_killed_by_prepass",
    "killed while they waited": "fragments_killed_by_fpk",
    "left out of bins by low-resolution Z": "lrz_primitives_rejected_in_binning",
    "primitives hidden by low-resolution Z": "lrz_primitives_rejected",
}
#: And what the modelled GPU runs of the stages before the rasterizer, which need not be what this program runs.
_INVOCATIONS = {
    "vertices and what is made of them, modelled": "vertices",
    "vertices for their positions, while binning, modelled": "positions, binning",
    "vertices for the rest of them, while binning, modelled": "varyings, binning",
    "other stages before the rasterizer, while binning, modelled": "vertices, binning",
    "vertices for their positions, in the pre-pass, modelled": "positions, pre-pass",
    "vertices, whole, in the pre-pass, modelled": "vertices, pre-pass",
    "vertices, whole, in tiles, modelled": "vertices, tiles",
}
#: Half as large, if they have to do; the words end a sentence that begins "..., where".
_SMALLER_FORMATS = {
    "r16g16b16a16_sfloat": ("b10g11r11_ufloat_pack32", "neither alpha nor values below zero are needed"),
    "d32_sfloat": ("d16_unorm", "16 bits of depth are enough"),
}
_WORTH_A_CARD = 0.01  #: of the cycles
_MOST_REASONS = 12  #: why a technique is not on for all draws


def report(
    label: str,
    profile: str,
    nodes: Sequence[Node],
    graph: Graph,
    findings: Sequence[Finding],
    outputs: Sequence[Image],
    runs: Sequence[ProfileRun],
) -> str:
    """The page."""
    own = runs[0] if runs else ProfileRun(profile, [])
    passes = dict(zip([node.number for node in nodes if node.kind == "pass"], own.passes, strict=True))
    resting = {node.number: in_tile_only(node) for node in nodes}
    modelled = comparison(label, runs, findings, nodes, graph.unread, outputs, profile)
    findings = [one for one in findings if one.is_said]  # others are of other profiles
    sections = [
        _summary(nodes, own, findings, resting, modelled, smaller_formats(nodes, passes)),
        f"<h2>Passes, and what flows between them</h2>{_legend()}"
        f'<div class="wide">{drawing(_rows(nodes, graph, passes, resting, outputs))}</div>',
        _lint(findings, profile),
        _flows(nodes, graph),
        _causes(nodes, passes),
        _profiles(nodes, runs),
        html_of(modelled),
        "<h2>Each pass</h2>",
        *(_pass(node, passes[node.number], graph, findings) for node in nodes if node.number in passes),
        *_others(nodes),
    ]
    data = {
        "frame": label,
        "profile": profile,
        "nodes": [{"number": n.number, "kind": n.kind, "label": n.label} for n in nodes],
        "edges": [
            {
                "source": e.source,
                "target": e.target,
                "thing": e.thing.label,
                "part": e.part,
                "written": e.written,
                "read": e.read,
                "size_B": e.size_B,
            }
            for e in graph.edges
        ],
        "lint": [{"text": str(f), "saves_B": f.saves_B, "nodes": list(f.nodes)} for f in findings],
        "profiles": [
            {"profile": r.profile, "moved_B": r.moved_B, "passes": [p.traffic for p in r.passes]} for r in runs
        ],
        "modelled": modelled.profiles,
        "changes": modelled.changes,
    }
    return page(f"{label}: a frame on {profile}", "".join(sections), json.dumps(data))


def in_tile_only(node: Node) -> list[tuple[str, int]]:
    """Attachments of a pass that are neither loaded nor stored: image and bytes that never left tile memory. Without tiles there are
    none."""
    if node.render_pass is None or node.render_pass._in_memory:
        return []
    used = {use.attachment for use in node.uses if use.attachment}
    found = []
    for name, _, view, *_ in getattr(node.render_pass, "_bound", ()):
        if name not in used:
            aspect = name if name in ("depth", "stencil") else None
            found.append((view.image.label, sum(use.size_B for use in use_of_view(view, True, "", aspect=aspect))))
    return found


def _sums(one: PassRun) -> tuple[int, int, int, int]:
    """Bytes loaded, stored, resolved, and otherwise."""
    loaded, stored, resolved = one.bytes("load"), one.bytes("store"), one.bytes("resolve")
    return loaded, stored, resolved, moved_B(one.traffic) - loaded - stored - resolved


def _summary(
    nodes: Sequence[Node], own: ProfileRun, findings: Sequence[Finding], resting: dict[int, list[tuple[str, int]]],
    modelled: Comparison, smaller: Sequence[str],
) -> str:  # fmt: skip
    moved, kept = own.moved_B, sum(size for found in resting.values() for _, size in found)
    tiles = own.has_tiles or not own.passes
    dearest = [f for f in findings if f.saves_B]
    saves = max((f.saves_B for f in dearest), default=0)
    rasterized, shaded = own.total("fragments_rasterized"), own.total("fragments_shaded")
    kinds = {kind: sum(n.kind == kind for n in nodes) for kind in dict.fromkeys(n.kind for n in nodes)}
    rate = f"attachments of passes alone, {_rate(moved)}"
    all_B = next((round(row["read_B"] + row["write_B"]) for row in modelled.profiles if row["profile"] == own.profile), 0)
    words = {"pass": "passes", "dispatch": "dispatches", "copy": "copies"}
    done = ", ".join(f"{n} {kind if n == 1 else words.get(kind, kind + 's')}" for kind, n in kinds.items())
    commands = sum(node.stats.moved_B for node in nodes if isinstance(node.stats, CommandStats))
    all_moved = moved + commands if tiles else all_B
    share = f"{saves / all_moved:.0%} of the bytes moved" if saves and all_moved else ""
    mine = own.profile in CONSTANTS  # a modelled GPU: what helps another one is not its affair
    changes = [one for one in modelled.changes if own.profile in one["saves"]] if mine else modelled.changes
    # Beside what lint found by bytes, what saves more cycles than all of it: who waits for something else gains nothing by bytes.
    most = (_saves_more_cycles(changes, dearest, own.profile if mine else "") if saves else changes[0]) if changes else None
    found = [card("the dearest finding saves", size_text(saves), share, "bad")] if saves else []
    modelled_first = ""
    if most:
        name, best = _best_on(most, own.profile if mine else "")
        bytes_, cycles = best["bytes_share"], best["cycles_share"]
        by_bytes = bytes_ >= cycles and not saves
        of = f"{bytes_:.0%} of the bytes" if by_bytes else f"{cycles:.0%} of the cycles"
        found.append(card("what would help most saves", of, f"modelled on {name}: {most['text']}", "bad"))
        modelled_first = f"<li>{html.escape(most['text'])}: saves {of}, modelled on {html.escape(name)}</li>" if saves else ""
    elif not saves:
        found = [card("moved without need", "nothing was found", f"on {own.profile}", "good")]
    cards = [
        *([card("between tile memory and images", size_text(moved), rate)] if tiles else []),
        *([card("all of external memory", size_text(all_B), f"vertices, textures, lists too: {_rate(all_B)}, modelled")] if all_B else []),
        *([card("never left the tile", size_text(kept), "attachments neither loaded nor stored", "good" if kept else "")] if tiles else []),
        card("fragments shaded", f"{shaded:,}", f"of {rasterized:,} rasterized" if rasterized else ""),
        *found,
        card("done", done.replace("_", " ") or "nothing", own.profile),
    ]
    first = modelled_first + "".join(f"<li>{html.escape(f)}</li>" for f in dearest[:3])
    could = "".join(f"<li>{html.escape(f)}</li>" for f in smaller)
    return (
        f'<div class="cards">{"".join(cards)}</div>'
        + (f"<p><b>Look at first:</b></p><ol>{first}</ol>" if first else "")
        + (f"<p><b>{'Then smaller' if first else 'Smaller'} formats, which only you can judge:</b></p><ul>{could}</ul>" if could else "")
    )


def _best_on(change: Mapping[str, Any], profile: str) -> tuple[str, Mapping[str, Any]]:
    """On which profile a change saves the greatest share, and what; on ``profile``, if it is given."""
    saves = {profile: change["saves"][profile]} if profile else change["saves"]
    name, best = max(saves.items(), key=lambda item: max(item[1]["bytes_share"], item[1]["cycles_share"]))
    return str(name), best


def _saves_more_cycles(changes: Sequence[Mapping[str, Any]], dearest: Sequence[Finding], profile: str) -> Mapping[str, Any] | None:
    """The change that saves most cycles, if no finding that is said by its bytes saves as many."""
    said = {f.advice for f in dearest}
    cycles = {one["text"]: max(s["cycles_share"] for name, s in one["saves"].items() if not profile or name == profile) for one in changes}
    others = [one for one in changes if one["text"] not in said]
    most = max(others, key=lambda one: cycles[one["text"]], default=None)
    least = max((cycles[text] for text in said if text in cycles), default=0.0) + _WORTH_A_CARD
    return most if most is not None and cycles[most["text"]] >= least else None


def _rate(moved_B: int) -> str:
    return f"{moved_B * _FRAMES_A_SECOND / 1e9:.2f} GB/s at {_FRAMES_A_SECOND} frames a second"


def smaller_formats(nodes: Sequence[Node], passes: dict[int, PassRun]) -> list[str]:
    """Attachments whose formats have one of half the size, with what passes move of them; where it is a twentieth or more of all."""
    moved: dict[str, dict[str, int]] = {}
    total = sum(moved_B(one.traffic) for one in passes.values())
    for node in nodes:
        for name, _, view, *_ in getattr(node.render_pass, "_bound", ()) if node.number in passes else ():
            row = passes[node.number].traffic.get(name)
            if row and view.image.format in _SMALLER_FORMATS and name != "stencil":
                images = moved.setdefault(view.image.format, {})
                images[view.image.label] = images.get(view.image.label, 0) + moved_B({name: row})
    lines = []
    for format, images in sorted(moved.items(), key=lambda item: -sum(item[1].values())):
        all_B = sum(images.values())
        if 20 * all_B < total or not all_B:
            continue
        names = [name for name, size_B in sorted(images.items(), key=lambda item: -item[1]) if size_B]
        what = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        smaller, where = _SMALLER_FORMATS[format]
        lines.append(
            f"{what}: {format}, {size_text(all_B)} of {size_text(total)}; as {smaller} half of it, {size_text(all_B // 2)}, where {where}"
        )
    return lines


def _legend() -> str:
    return (
        '<p class="soft">A row for each step, in order. The bar: bytes between tile memory and images, '
        '<span class="key load"></span>loaded <span class="key store"></span>stored <span class="key resolve"></span>resolved '
        '<span class="key other"></span>otherwise. Arcs go from where something is stored to where it is '
        '<span class="key load"></span>loaded, <span class="key sampled"></span>sampled or <span class="key copied"></span>read otherwise, '
        "with the size of what is read.</p>"
    )


def _rows(
    nodes: Sequence[Node],
    graph: Graph,
    passes: dict[int, PassRun],
    resting: dict[int, list[tuple[str, int]]],
    outputs: Sequence[Image],
) -> list[Row]:
    rows = []
    results = {id(image._whole()[0]) for image in outputs}
    for node in nodes:
        one = passes.get(node.number)
        notes: list[tuple[str, str]] = []
        if found := resting[node.number]:
            notes.append(
                (
                    f"in the tile only: {', '.join(name for name, _ in found)} ({size_text(sum(n for _, n in found))})",
                    "good",
                )
            )
        for unread in (u for u in graph.unread if u.source == node.number and isinstance(u.use.thing, Image)):
            name = unread.use.thing.label
            over = "" if unread.overwritten_by is None else f", {unread.overwritten_by} overwrites it"
            result = id(unread.use.thing) in results and unread.overwritten_by is None
            notes.append((f"result: {name}", "good") if result else (f"nobody in the frame reads {name}{over}", "bad"))
        notes += [("reads undefined contents", "bad")] if node.undefined else []
        rows.append(
            Row(node.number, node.label or node.kind, _detail(node, one), _sums(one) if one else (0, 0, 0, 0), _reads(node, graph), notes,
                _picture(node), f"node{node.number}" if one else "")
        )  # fmt: skip
    return rows


def _detail(node: Node, one: PassRun | None) -> str:
    if one is None:
        if node.kind == "dispatch" and node.stats is not None:
            return f"dispatch, {' x '.join(map(str, node.stats.workgroups))} workgroups"
        return node.kind if node.label else f"{node.kind} by a command"
    samples = f", {one.layout['samples']} samples" if one.layout["samples"] > 1 else ""
    tile = f", tile {one.tile}" if one.tile else ""
    draws = one.counters["draws"]
    return (
        f"{one.layout['width_px']} x {one.layout['height_px']}{samples}{tile}, {draws} draw{'s' if draws != 1 else ''}"
    )


def _reads(node: Node, graph: Graph) -> list[tuple[int, str, str]]:
    edges = [e for e in graph.edges if e.target == node.number and (e.source != BEFORE or e.read == "load")]
    return [(e.source, _edge_text(e), e.read) for e in edges]


def _edge_text(edge: Edge) -> str:
    what = _READ_WORDS.get(edge.read, f"read ({edge.read})")
    part = f" ({edge.part})" if edge.part else ""
    start = "from before the frame, " if edge.source == BEFORE else ""
    return f"{edge.thing.label}{part}: {start}{what}, {size_text(edge.size_B)}"


def _picture(node: Node) -> str:
    written = [use for use in node.uses if use.write and not isinstance(use.thing, Buffer) and use.thing.type == "2d"]
    for use in sorted(written, key=lambda use: use.aspect != "color"):
        found = thumbnail(use.thing, use.aspect, use.levels[0], use.layers[0]) if isinstance(use.thing, Image) else ""
        if found:
            return found
    return ""


def _lint(findings: Sequence[Finding], profile: str) -> str:
    if not findings:
        return '<h2>What costs without need</h2><p class="good">Nothing was found.</p>'
    most = max(f.saves_B for f in findings)
    rows = [
        [size_text(f.saves_B) if f.saves_B else "", bar([(f.saves_B, "bad")], most), html.escape(f.advice),
         ", ".join(f'<a href="#node{n}">{n}</a>' for n in f.nodes)]
        for f in findings
    ]  # fmt: skip
    return f"<h2>What costs without need</h2>{table([f'saves on {profile}', '', 'what, and the change', 'steps'], rows, {0})}"


def _causes(nodes: Sequence[Node], passes: dict[int, PassRun]) -> str:
    """Bytes by cause for each pass; causes that no pass has are left out."""
    causes = [c for c in dict.fromkeys(c for one in passes.values() for row in one.traffic.values() for c in row)
              if any(one.bytes(c) for one in passes.values())]  # fmt: skip
    if not causes:
        return ""
    rows = []
    for n, one in passes.items():
        cells = [size_text(one.bytes(c)) if one.bytes(c) else "" for c in causes]
        rows.append([f"{n} {html.escape(nodes[n].label)}", *cells, size_text(moved_B(one.traffic))])
    totals = [sum(one.bytes(c) for one in passes.values()) for c in causes]
    rows.append(
        ["<b>all</b>", *map(size_text, totals), size_text(sum(moved_B(one.traffic) for one in passes.values()))]
    )
    heads = [c.replace("_", " ") + (" *" if c.startswith(NOT_MOVED) else "") for c in causes]
    note = (
        '<p class="soft">* did not move: it was saved, or happened in the tile.</p>'
        if any(c.startswith(NOT_MOVED) for c in causes)
        else ""
    )
    return f"<h2>Bytes by cause</h2>{table(['pass', *heads, 'moved'], rows, set(range(1, len(heads) + 2)))}{note}"


def _tables_of(runs: Sequence[ProfileRun]) -> list[list[int]]:
    """Profiles that stand in one table: the first with those of its kind, or with the largest kind that there is, so that nobody has to
    scroll for a column."""
    kinds: dict[str, list[int]] = {}
    for i, run in enumerate(runs):
        kind = "buffer" if run.profile not in CONSTANTS else CONSTANTS[run.profile].kind
        kinds.setdefault("others" if kind == "immediate" else kind, []).append(i)
    if len(kinds.get("others", ())) < _LEAST_COLUMNS and "gmem" in kinds:
        kinds["gmem"] += kinds.pop("others", [])
    return list(kinds.values())


def _profiles(nodes: Sequence[Node], runs: Sequence[ProfileRun]) -> str:
    """A column for each profile, as many tables as fit the page; rows that nobody has anything in are left out, and where all have the
    same they are soft."""
    if len(runs) < 2:
        return ""
    most, found = max(r.moved_B for r in runs), [r.techniques() for r in runs]
    sums = [[sum(values) for values in zip(*map(_sums, r.passes), strict=True)] or [0, 0, 0, 0] for r in runs]
    styles = ("load", "store", "resolve", "other")
    rows: list[tuple[str, list[str]]] = [
        (
            "tiles in px",
            [some_tiles([one.tile for one in r.passes]) if r.profile in CONSTANTS else "the host's" for r in runs],
        ),
        ("between tiles and images", ["no tiles" if r.passes and not r.has_tiles else size_text(r.moved_B) for r in runs]),
        ("", [bar(list(zip(parts, styles, strict=True)), most) for parts in sums]),
    ]
    for k, name in enumerate(("loaded", "stored", "resolved", "otherwise")):
        rows.append((name, [size_text(parts[k]) if parts[k] else "" for parts in sums]))
    costs = [r.modelled() for r in runs]
    modelled = [of.total("read_B") + of.total("write_B") if of else 0.0 for of in costs]
    rows.append(("all of external memory, modelled", [size_text(round(all_B)) if all_B else "" for all_B in modelled]))
    for name, counter in _COUNTERS.items():
        rows.append((name, [f"{r.total(counter):,}" if r.total(counter) else "" for r in runs]))
    own = [r.total("vertices_shaded") if r.profile not in CONSTANTS else 0 for r in runs]
    rows.append(("vertices shaded by this program", [f"{count:,}" if count else "" for count in own]))
    for name, what in _INVOCATIONS.items():
        counts = [round(of.invocations.get(what, 0.0)) if of else 0 for of in costs]
        rows.append((name, [f"{count:,}" if count else "" for count in counts]))
    for name in dict.fromkeys(name for one in found for name in one):
        rows.append(
            (
                "blended without a shader: draws" if name == BLEND_UNIT else f"{name}: draws",
                [f"{one[name][0]} of {one[name][1]}" if one.get(name, (0, 0))[0] else "" for one in found],
            )
        )
    kept = [(name, cells) for name, cells in rows if any(cells)]
    texts = []
    for columns in _tables_of(runs):
        body = [
            [f'<span class="{"soft" if len(set(cells)) == 1 else ""}">{html.escape(name)}</span>', *(cells[i] for i in columns)]
            for name, cells in kept
            if any(cells[i] for i in columns)
        ]
        texts.append(table(["", *(runs[i].profile for i in columns)], body, set(range(1, len(columns) + 1))))
    return (
        f'<h2>Profiles side by side</h2><div class="wide">{"".join(texts)}</div>'
        '<p class="soft">The same frame with the techniques that each profile has; the first drew it. Techniques: draws that they were on '
        "for (deferred vertex shading: for what small triangles they have). What nobody has is left out, what all have alike is soft.</p>"
        + _why_not(nodes, runs)
    )


def _why_not(nodes: Sequence[Node], runs: Sequence[ProfileRun]) -> str:
    """Why a technique that a profile has is not on for all draws, so that profiles with the same one can be told apart."""
    titles = [node.title for node in nodes if node.kind == "pass"]
    found: dict[tuple[str, str], dict[str, tuple[int, set[int]]]] = {}  # technique, reason: of each profile draws and passes
    for run in runs:
        on = {name for name, (draws, _) in run.techniques().items() if draws}
        for number, one in enumerate(run.passes):
            for draws_of, t in ((row["draws"], t) for row in one.explain for t in row["techniques"]):
                name, half = t["technique"].replace("_", " "), is_killed_only(t)
                if name == BLEND_UNIT or not (half or (name in on and t["state"] != "on")):
                    continue
                reason = t["reason"] + (f" (rule {t['rule']})" if t["rule"] else "")
                profiles = found.setdefault((name, reason), {})
                draws, passes = profiles.get(run.profile, (0, set()))
                profiles[run.profile] = draws + draws_of, passes | {number}
    body = []
    for (name, reason), profiles in found.items():
        draws, passes = max(profiles.values(), key=lambda one: one[0])
        where = titles[min(passes)] if len(passes) == 1 and min(passes) < len(titles) else f"{len(passes)} passes"
        body.append([html.escape(name), ", ".join(profiles), f"{draws:,}", html.escape(where), html.escape(reason)])
    body.sort(key=lambda cells: cells[0])
    heads = ["technique", "profiles", "draws", "in", "why it is not on for them, or kills nothing"]
    return folded("Why a technique is not on for all draws", table(heads, body[:_MOST_REASONS], {2})) if body else ""


def _flows(nodes: Sequence[Node], graph: Graph) -> str:
    """The images that cost most: what is stored of them, and the size of what is read."""
    found: dict[int, dict[str, Any]] = {}
    for node in nodes:
        for use in node.uses:
            if use.write and isinstance(use.thing, Image):
                entry = found.setdefault(
                    id(use.thing), {"image": use.thing, "by": [], "readers": [], "stored": 0, "read": 0}
                )
                entry["by"] += [node.number] if node.number not in entry["by"] else []
                entry["stored"] += (
                    store_B(node, use.attachment, use.how) if node.kind == "pass" and use.attachment else use.size_B
                )
    for edge in graph.edges:
        if edge.source >= 0 and id(edge.thing) in found:
            entry = found[id(edge.thing)]
            entry["readers"] += [edge.target] if edge.target not in entry["readers"] else []
            entry["read"] += edge.size_B
    dearest = sorted(found.values(), key=lambda e: -(e["stored"] + e["read"]))[:8]
    if not dearest:
        return ""
    most = max(e["stored"] + e["read"] for e in dearest)
    rows = []
    for e in dearest:
        image = e["image"]
        samples = f", {image.samples} samples" if image.samples > 1 else ""
        readers = ", ".join(map(str, e["readers"])) or "nobody in the frame"
        size = f"{image.width} x {image.height}{samples}"
        texel_B = str(image.format_info.texel_B * image.samples)
        flow = bar([(e["stored"], "store"), (e["read"], "sampled")], most)
        written = ", ".join(map(str, e["by"])), size_text(e["stored"])
        rows.append(
            [html.escape(image.label), size, image.format, texel_B, *written, readers, size_text(e["read"]), flow]
        )
    heads = ["image", "size", "format", "bytes a pixel", "stored by", "stored", "read by", "size of what is read", ""]
    return f"<h2>The dearest images</h2>{table(heads, rows, {3, 5, 7})}"


def _pass(node: Node, one: PassRun, graph: Graph, findings: Sequence[Finding]) -> str:
    mine = [f for f in findings if node.number in f.nodes]
    head = (
        f"<b>{node.number} {html.escape(node.label)}</b> "
        f"<span class='soft'>{html.escape(_detail(node, one))}, {size_text(moved_B(one.traffic))}"
        f"</span>{f' <span class=bad>{len(mine)} to look at</span>' if mine else ''}"
    )
    parts = [listed("What costs without need", [html.escape(f) for f in mine], "bad")]
    parts.append(listed("Reads", _read_list([e for e in graph.edges if e.target == node.number])))
    parts.append(
        listed(
            "Is read by",
            [f"{html.escape(_edge_text(e))} &rarr; {e.target}" for e in graph.edges if e.source == node.number],
        )
    )
    parts.append(_attachments(node, one))
    parts.append(_heatmaps(one))
    explanation = Explanation(node.label, one.explain, lambda: one.costs)
    headings, rows, notes, off = explanation.folded()
    text = table(headings, [[html.escape(cell) for cell in row] for row in rows], set()) if rows else ""
    below = "".join(f"<p class='soft'>{html.escape(line)}</p>" for line in (*notes, *off))
    parts.append(f"<h3>Draws: which hidden-surface removal, and why not</h3>{text}{below}" if rows else "")
    if any(c["fragments_overwritten"] or c["fragments_discarded"] or c["fragments_late_killed"] for c in one.costs):
        parts.append(f"<h3>Shaded in vain</h3><pre>{html.escape(explanation.unseen())}</pre>")
    counters = [[k.replace("_", " "), f"{v:,}"] for k, v in one.counters.items() if isinstance(v, int) and v]
    parts.append(folded("Counters", table(["what", "how many"], counters, {1})))
    return f'<details id="node{node.number}"><summary>{head}</summary>{"".join(parts)}</details>'


def _read_list(edges: Sequence[Edge]) -> list[str]:
    """Each edge; buffers that the program filled before the frame by how they are read."""
    out = [html.escape(_edge_text(e)) + (f" &larr; {e.source}" if e.source >= 0 else "")
           for e in edges if e.source >= 0 or isinstance(e.thing, Image)]  # fmt: skip
    given = [e for e in edges if e.source < 0 and isinstance(e.thing, Buffer)]
    for how in dict.fromkeys(e.read for e in given):
        same = [e for e in given if e.read == how]
        count = f"{len(same)} buffers" if len(same) > 1 else html.escape(same[0].thing.label)
        out.append(f"from before the frame, {html.escape(how)}: {count}, {size_text(sum(e.size_B for e in same))}")
    return out


def _attachments(node: Node, one: PassRun) -> str:
    """Each with its image; what never left the tile says so."""
    images = {name: view.image for name, _, view, *_ in getattr(node.render_pass, "_bound", ())}
    resting = {name for name, image in images.items() if image.label in {label for label, _ in in_tile_only(node)}}
    causes = [c for c in dict.fromkeys(c for row in one.traffic.values() for c in row) if one.bytes(c)]
    rows = []
    for name, row in one.traffic.items():
        image = images.get(name)
        what = "" if image is None else f"{image.label}, {image.format}"
        stays = '<span class="good">in the tile only</span>' if name in resting else ""
        rows.append([name, html.escape(what), stays, *(size_text(row[c]) if row.get(c) else "" for c in causes)])
    heads = [c.replace("_", " ") for c in causes]
    text = table(["attachment", "image", "", *heads], rows, set(range(3, len(heads) + 3)))
    return f"<h3>Attachments: bytes between tile memory and images</h3>{text}"


def _heatmaps(one: PassRun) -> str:
    """Maps that are not empty, with the profile's tiles over them and a scale."""
    width, height = one.layout["width_px"], one.layout["height_px"]
    tile = (one.layout["tile_width_px"], one.layout["tile_height_px"]) if one.tile else (32, 32)
    grid = f"background-size: {100 * tile[0] / width:.4f}% {100 * tile[1] / height:.4f}%"
    figures = []
    for kind in _MAPS:
        values = one.maps.get(kind)
        if values is None or not values.any():
            continue
        counter = MAP_COUNTERS.get(kind)
        total = one.counters.get(counter, int(values.sum())) if counter else int(values.sum())
        scale = f'<div class="scale"><span>0</span><i style="background:{ramp_css()}"></i><span>{int(values.max()):,}</span></div>'
        figures.append(_figure(map_picture(values), f"{HEATMAPS[kind]}: {total:,}", grid, scale))
    if one.maps and any(
        one.maps[k].any()
        for k in ("early_killed", "visibility_buffer", "pre_pass", "forward_kill", "late_killed", "discarded")
    ):
        keys = " ".join(
            f'<span><i class="dot" style="background:rgb{color}"></i>{name.replace("_", " ")}</span>'
            for name, color in KILLERS.items()
        )
        figures.append(_figure(killers(one.maps), "who killed fragments", grid, f'<div class="soft">{keys}</div>'))
    if not figures:
        return ""
    whose = f"{tile[0]} x {tile[1]} px tiles" + ("" if one.tile else " (the host's; this profile has none of its own)")
    return f'<h3>Tiles <span class="soft">{whose}; click a picture for the grid</span></h3><div class="maps">{"".join(figures)}</div>'


def _figure(picture: str, caption: str, grid: str, below: str) -> str:
    inner = f'<div class="map"><img alt="{html.escape(caption)}" src="{picture}"><div class="grid" style="{grid}"></div></div>'
    return f"<figure>{inner}<figcaption>{html.escape(caption)}</figcaption>{below}</figure>"


def _others(nodes: Sequence[Node]) -> list[str]:
    """Dispatches; commands have nothing more to say than the drawing does."""
    dispatches = [node for node in nodes if node.kind == "dispatch" and node.stats is not None]
    if not dispatches:
        return []
    rows = []
    for n in dispatches:
        groups, ordered = " x ".join(map(str, n.stats.workgroups)), "in order, on one thread" if n.stats.ordered else ""
        cells = [f"{n.stats.invocations:,}", size_text(n.stats.shared_memory_B), ordered]
        rows.append([str(n.number), html.escape(n.label), groups, *cells])
    return [
        "<h2>Dispatches</h2>",
        table(["step", "pipeline", "workgroups", "invocations", "shared memory", ""], rows, {3, 4}),
    ]
