"""What a frame costs without need, across its passes.

In: nodes, edges, what nobody reads. Out: a line each, with the bytes that the change saves by the passes' own ledgers. What one pass can
say by itself is its own lint's (``cpp/src/framebuffer/describe.cpp``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tilegpu.context import CommandStats
from tilegpu.frame_graph import BEFORE, Edge, Graph, Node
from tilegpu.image import Image
from tilegpu.stats import bytes_text

#: The pass's own lint can't know who reads what it stores; the frame does.
_PASS_GUESSES = ("if nothing reads it after the pass", "all samples are stored;")
_BY_TILES = ("store", "resolve")
#: What lines of a pass's own lint (describe.cpp) are about.
_CUTS = {
    "all samples are stored although": ("store",),
    "is loaded and then cleared": ("load",),
    "store_op none makes the pass load it": ("load",),
    "the render area is not aligned": ("border_load", "border_store"),
}


class Cut(NamedTuple):
    """Bytes that don't move any more: of a pass those of an attachment's ``cause`` (``"store"``), of a command (no attachment) all.
    ``resolves``: the pass then resolves the attachment itself."""

    node: int
    attachment: str = ""
    cause: str = ""
    resolves: bool = False


class Finding(str):
    """A line of lint. ``saves_B``: bytes that the change saves, 0 where it isn't about bytes; ``nodes``: numbers of those it is about;
    ``cuts``: which bytes these are, for the cost model, which has its own for each profile."""

    saves_B: int
    nodes: tuple[int, ...]
    cuts: tuple[Cut, ...]

    def __new__(cls, text: str, saves_B: int = 0, nodes: Iterable[int] = (), cuts: Iterable[Cut] = ()) -> Finding:
        made = super().__new__(cls, text)
        made.saves_B, made.nodes, made.cuts = int(saves_B), tuple(nodes), tuple(cuts)
        return made


def findings(nodes: Sequence[Node], graph: Graph, outputs: Sequence[Image]) -> list[Finding]:
    """All of a frame, what saves most first."""
    found = [
        *_undefined(nodes),
        *_never_read(nodes, graph, outputs),
        *_joinable(nodes, graph),
        *_g_buffers(nodes, graph, outputs),
        *_resolved_by_command(nodes, graph),
        *_cleared_by_command(nodes, graph),
    ]
    told = {frozenset(one.cuts) for one in found if one.cuts}  # by who reads what: the pass's own lint says the same change again
    found += [one for one in _of_passes(nodes) if frozenset(one.cuts) not in told]
    return sorted(found, key=lambda f: -f.saves_B)


def store_B(node: Node, attachment: str, how: str = "store") -> int:
    """Bytes that a pass stored of an attachment (``"resolve"``: of what it is resolved to). What transaction elimination saved counts:
    it saves nothing when the picture moves."""
    causes = node.stats.traffic.get(attachment, {})
    return int(causes.get(how, 0)) + (int(causes.get("saved_transaction_elimination", 0)) if how == "store" else 0)


def load_B(node: Node, attachment: str) -> int:
    """Bytes that a pass loaded of an attachment."""
    return int(node.stats.traffic.get(attachment, {}).get("load", 0))


def _undefined(nodes: Sequence[Node]) -> Iterable[Finding]:
    for node in nodes:
        for text in node.undefined:
            yield Finding(f"{node.title}: {text}" if not text.startswith(node.title) else text, 0, (node.number,))


def _host_read(node: Node, image: Image, over: Node | None) -> bool:
    """The program read the image since the node wrote it, and before another wrote over it."""
    key, now = id(image), image._host_reads
    until = now if over is None else over.host_reads.get(key, now)
    return until > node.host_reads.get(key, until)


def _never_read(nodes: Sequence[Node], graph: Graph, outputs: Sequence[Image]) -> Iterable[Finding]:
    kept = {id(image) for image in outputs}
    for unread in graph.unread:
        node, use = nodes[unread.source], unread.use
        if not isinstance(use.thing, Image) or use.how == "storage image":
            continue
        over = unread.overwritten_by
        if (over is None and id(use.thing) in kept) or _host_read(node, use.thing, None if over is None else nodes[over]):
            continue
        what = f"image '{use.thing.label}'" + (f" ({use.aspect})" if len(use.thing.format_info.aspects) > 1 else "")
        then = "nobody reads it" if over is None else f"{nodes[over].title} overwrites it, and nobody reads it before"
        if node.kind == "pass" and use.how in _BY_TILES:
            saves = store_B(node, use.attachment, use.how)
            fix = "store_op='dont_care'" if use.how == "store" else "a pass without resolve="
            if saves:
                yield Finding(
                    f"{node.title}: {use.attachment}: {what} is {'stored' if use.how == 'store' else 'resolved to'}, and {then}; "
                    f"{fix} saves {bytes_text(saves)}",
                    saves,
                    (node.number, *(() if over is None else (over,))),
                    [Cut(node.number, use.attachment, use.how)],
                )
        elif node.kind != "pass" and not any(
            other.use.thing is not use.thing for other in graph.unread if other.source == node.number
        ):
            yield Finding(
                f"{node.title}: {what} is written, and {then}; without it {bytes_text(use.size_B)} are not written",
                use.size_B,
                (node.number,),
                [Cut(node.number)] if isinstance(node.stats, CommandStats) else [],
            )


def _incoming(graph: Graph, number: int) -> list[Edge]:
    return [edge for edge in graph.edges if edge.target == number]


def _joinable(nodes: Sequence[Node], graph: Graph) -> Iterable[Finding]:
    """A pass that only loads what the pass before it in the tile had: its draws could follow there."""
    for second in nodes:
        loads = [e for e in _incoming(graph, second.number) if e.read == "load" and e.source != BEFORE]
        firsts = {e.source for e in loads}
        if second.kind != "pass" or len(firsts) != 1:
            continue
        first = nodes[firsts.pop()]
        if first.kind != "pass" or not _same_framebuffer(first, second):
            continue
        # What else it needs must be there before the first one begins, and nothing between may read or write these images.
        others = [e for e in _incoming(graph, second.number) if e.read != "load" and e.source >= first.number]
        images = {id(e.thing) for e in loads}
        between = nodes[first.number + 1 : second.number]
        touched = any(id(use.thing) in images for node in between for use in node.uses)
        if others or touched:
            continue
        loads_of = [use.attachment for use in second.uses if use.how == "load" and id(use.thing) in images]
        stores_of = [use.attachment for use in first.uses if use.how == "store" and id(use.thing) in images]
        loaded, stored = sum(load_B(second, name) for name in loads_of), sum(store_B(first, name) for name in stores_of)
        if loaded + stored:
            names = ", ".join(sorted({f"'{e.thing.label}'" for e in loads}))
            yield Finding(
                f"{second.title} loads what {first.title} stored ({names}), and needs nothing that comes between: one pass with the "
                f"draws of both saves {bytes_text(loaded + stored)} ({bytes_text(stored)} stored, {bytes_text(loaded)} loaded)",
                loaded + stored,
                (first.number, second.number),
                [*(Cut(second.number, name, "load") for name in loads_of), *(Cut(first.number, name, "store") for name in stores_of)],
            )


def _g_buffers(nodes: Sequence[Node], graph: Graph, outputs: Sequence[Image]) -> Iterable[Finding]:
    """Several images that one pass stores at its own size and the next alone samples: a g-buffer that leaves the tile."""
    kept = {id(image) for image in outputs}
    for second in nodes:
        sampled = [e for e in _incoming(graph, second.number) if e.read == "sampled" and e.source != BEFORE]
        for first in {e.source: nodes[e.source] for e in sampled if nodes[e.source].kind == "pass"}.values():
            mine = {id(e.thing): e.thing for e in sampled if e.source == first.number and isinstance(e.thing, Image)}
            readers = {e.target for e in graph.edges if e.source == first.number and id(e.thing) in mine}
            others = [e for e in _incoming(graph, second.number) if first.number < e.source]
            if (
                second.kind != "pass"
                or len(mine) < 2
                or readers != {second.number}
                or others
                or not _same_framebuffer(first, second)
            ):
                continue
            stores = [
                use for use in first.uses if use.how == "store" and id(use.thing) in mine and id(use.thing) not in kept
            ]
            stored = sum(store_B(first, use.attachment) for use in stores)
            if stored and len(stores) == len(mine):
                names = ", ".join(sorted(f"'{image.label}'" for image in mine.values()))
                yield Finding(
                    f"{second.title} alone samples what {first.title} stored at the same size ({names}): where it reads each at "
                    f"its own pixel, one pass with input attachments saves {bytes_text(stored)} stored, and as much fetched",
                    stored,
                    (first.number, second.number),
                    [Cut(first.number, use.attachment, "store") for use in stores],
                )


def _same_framebuffer(a: Node, b: Node) -> bool:
    one, other = (node.render_pass for node in (a, b))
    if one is None or other is None:
        return False
    keys = ("width_px", "height_px", "samples", "layers")
    first, second = one.layout, other.layout
    return all(first.get(key) == second.get(key) for key in keys)


def _resolved_by_command(nodes: Sequence[Node], graph: Graph) -> Iterable[Finding]:
    for node in nodes:
        if node.kind != "resolve":
            continue
        for edge in _incoming(graph, node.number):
            source = nodes[edge.source] if edge.source != BEFORE else None
            if source is None or source.kind != "pass" or edge.written != "store":
                continue
            stores = [use for use in source.uses if use.thing is edge.thing and use.how == "store"]
            alone = all(
                e.target == node.number for e in graph.edges if e.source == source.number and e.thing is edge.thing
            )
            saves = edge.size_B + (sum(store_B(source, use.attachment) for use in stores) if alone else 0)
            size = bytes_text(edge.size_B)
            detail = (
                f"{size} of samples are then neither stored nor read"
                if alone
                else f"{size} of samples are then not read; others read them"
            )
            fix = "resolve= of the attachment" + (" with store_op='dont_care'" if alone else "")
            yield Finding(
                f"{source.title} stores the samples of image '{edge.thing.label}', and {node.title} resolves them by a command: "
                f"{fix} saves {bytes_text(saves)} ({detail})",
                saves,
                (source.number, node.number),
                [Cut(node.number), *(Cut(source.number, use.attachment, "store" if alone else "", True) for use in stores)],
            )


def _cleared_by_command(nodes: Sequence[Node], graph: Graph) -> Iterable[Finding]:
    for edge in graph.edges:
        if edge.source == BEFORE or nodes[edge.source].kind != "clear" or edge.read != "load":
            continue
        clear, target = nodes[edge.source], nodes[edge.target]
        loads_of = [use.attachment for use in target.uses if use.how == "load" and use.thing is edge.thing]
        loaded = sum(load_B(target, name) for name in loads_of)
        if loaded:
            yield Finding(
                f"{target.title} loads image '{edge.thing.label}', which {clear.title} filled by a command: clear= of the attachment saves "
                f"{bytes_text(loaded + edge.size_B)} ({bytes_text(edge.size_B)} written, {bytes_text(loaded)} loaded)",
                loaded + edge.size_B,
                (clear.number, target.number),
                [Cut(clear.number), *(Cut(target.number, name, "load") for name in loads_of)],
            )


def _of_passes(nodes: Sequence[Node]) -> Iterable[Finding]:
    for node in nodes:
        if node.render_pass is None:
            continue
        for line in node.render_pass.lint():
            if line in node.undefined or any(guess in line for guess in _PASS_GUESSES):
                continue
            name, cuts = line.partition(":")[0], next((causes for words, causes in _CUTS.items() if words in line), ())
            # Its text is rounded; the ledger is not.
            saves = sum(_moved_B(node, name, cause) for cause in cuts) or getattr(line, "saves_B", 0) or bytes_in(line)
            text = _SAVES.sub(f"saves {bytes_text(saves)}", line) if cuts and saves else line
            yield Finding(f"{node.title}: {text}", saves, (node.number,), [Cut(node.number, name, cause) for cause in cuts])


def _moved_B(node: Node, attachment: str, cause: str) -> int:
    return store_B(node, attachment) if cause == "store" else int(node.stats.traffic.get(attachment, {}).get(cause, 0))


_SAVES = re.compile(r"saves ([\d.,]+) (MiB|KiB|B|bytes)\b")


def bytes_in(line: str) -> int:
    """Bytes that a line of a pass's own lint says are saved, 0 where it names none."""
    found = _SAVES.search(line)
    return int(float(found[1].replace(",", "")) * {"MiB": 1 << 20, "KiB": 1 << 10}.get(found[2], 1)) if found else 0
