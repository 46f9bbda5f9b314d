"""What a frame costs without need, across its passes.

In: nodes, edges, what nobody reads. Out: a line each, with the bytes that the change saves by the passes' own ledgers. What one pass can
say by itself is its own lint's (``cpp/src/framebuffer/describe.cpp``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tilegpu.context import CommandStats
from tilegpu.errors import ValidationError
from tilegpu.frame_graph import BEFORE, Edge, Graph, Node
from tilegpu.frame_joins import join_of
from tilegpu.frame_memory import saved_in_memory_B
from tilegpu.frame_traffic import (
    STORE,
    Attached,
    Change,
    ClearInPass,
    ResolveInPass,
    WithoutResolve,
    passes_of,
    saved_B,
    stored_row_B,
)
from tilegpu.image import Image
from tilegpu.pass_lint import IF_UNREAD, attached_of, without_store
from tilegpu.stats import bytes_text

if TYPE_CHECKING:
    from tilegpu.pass_results import PassResults

#: The pass's own lint can't know who reads what it stores; the frame does.
_PASS_GUESSES = ("if nothing reads it after the pass", "all samples are stored;")
_BY_TILES = ("store", "resolve")


class Cut(NamedTuple):
    """Bytes that a finding is about: of a pass those of an attachment's ``cause`` (``"store"``), of a command (no attachment) all, which
    then is not executed."""

    node: int
    attachment: str = ""
    cause: str = ""


class Finding(str):
    """A line of lint. ``saves_B``: bytes that the change saves, 0 where it isn't about bytes; ``nodes``: numbers of those it is about;
    ``cuts``: which bytes these are; ``change``: what it makes of the ledger of a pass, which each profile has its own of."""

    saves_B: int
    nodes: tuple[int, ...]
    cuts: tuple[Cut, ...]
    change: Change | None

    def __new__(
        cls, text: str, saves_B: int = 0, nodes: Iterable[int] = (), cuts: Iterable[Cut] = (), change: Change | None = None
    ) -> Finding:
        made = super().__new__(cls, text)
        made.saves_B, made.nodes, made.cuts, made.change = int(saves_B), tuple(nodes), tuple(cuts), change
        return made

    @property
    def is_said(self) -> bool:
        """Whether it saves something on the device that drew the frame, or isn't about bytes. What it would save where there are tiles,
        on a device that has none, only other profiles are asked."""
        return self.saves_B > 0 or not self.cuts

    @property
    def advice(self) -> str:
        """The same without ``saves_B``, which are of the device that drew the frame: what the change saves on another it says itself."""
        figure = f" saves {bytes_text(self.saves_B)}"
        for words in (f", and{figure}", f",{figure}", figure):
            if words in self:
                return self.replace(words, "", 1)
        return str(self)


def findings(nodes: Sequence[Node], graph: Graph, outputs: Sequence[Image]) -> list[Finding]:
    """All of a frame, what saves most first; those that are for other profiles alone (:attr:`Finding.is_said`) as well."""
    found = [
        *_undefined(nodes),
        *_never_read(nodes, graph, outputs),
        *_joinable(nodes, graph),
        *_g_buffers(nodes, graph, outputs),
        *_resolved_by_command(nodes, graph, outputs),
        *_cleared_by_command(nodes, graph),
    ]
    told = {frozenset(one.cuts) for one in found if one.cuts}  # by who reads what: the pass's own lint says the same change again
    found += [one for one in _of_passes(nodes, outputs) if frozenset(one.cuts) not in told]
    return sorted(found, key=lambda f: -f.saves_B)


def store_B(node: Node, attachment: str, how: str = "store") -> int:
    """Bytes that a pass stored of an attachment (``"resolve"``: of what it is resolved to). What transaction elimination saved counts:
    it saves nothing when the picture moves."""
    causes = node.stats.traffic.get(attachment, {})
    return stored_row_B(causes) if how == "store" else int(causes.get(how, 0))


def _passes(change: Change, nodes: Sequence[Node]) -> dict[int, PassResults]:
    return {n: rp for n in passes_of(change) if (rp := nodes[n].render_pass) is not None}


def _in_memory(change: Change, nodes: Sequence[Node]) -> bool:
    """Whether a pass that it changes has no tiles on the device that drew the frame."""
    return any(rp._in_memory for rp in _passes(change, nodes).values())


def _saved(change: Change, nodes: Sequence[Node], commands_B: int = 0) -> int:
    """By the frame's own ledger, of passes without tiles by the cost model; 0 where it can't be known."""
    passes = _passes(change, nodes)
    if not _in_memory(change, nodes):
        return saved_B(change, {n: rp._moved() for n, rp in passes.items()}, commands_B) or 0
    if not isinstance(change, WithoutResolve | ClearInPass):
        return 0  # without asking what the pass counts, for which it is executed again
    try:
        return max(0, saved_in_memory_B(change, {n: rp._counts() for n, rp in passes.items()}, commands_B))
    except ValidationError:  # its draws run several programs, and it can't be executed again: what_if() knows, which draws the frame anew
        return 0


def _attached(node: Node, names: Iterable[str]) -> tuple[tuple[str, Attached], ...]:
    """Attachments of a pass by its pieces."""
    rp = node.render_pass
    assert rp is not None
    found = attached_of({"load": rp.load, "store": rp.store})
    packed = {name for name, _, view, *_ in getattr(rp, "_bound", ()) if view.image.tiling != "linear"}
    return tuple((name, found[name]._replace(compressed=name in packed)) for name in names if name in found)


def _undefined(nodes: Sequence[Node]) -> Iterable[Finding]:
    for node in nodes:
        for text in node.undefined:
            yield Finding(f"{node.title}: {text}" if not text.startswith(node.title) else text, 0, (node.number,))


def _host_read(node: Node, image: Image, over: Node | None) -> bool:
    """The program read the image since the node wrote it, and before another wrote over it."""
    key, now = id(image), image._host_reads
    until = now if over is None else over.host_reads.get(key, now)
    return until > node.host_reads.get(key, until)


def _read_since(node: Node, image: Image) -> bool:
    """Something that the frame does not have after the node reads on the GPU what the node left in the image: a later frame, or what was
    executed outside of frames, before another wrote over it."""
    return any(one.read for one in node.left.values() if one.use.thing is image)


def in_use(node: Node, attachment: str, outputs: Sequence[Image]) -> bool:
    """What the pass stores there is asked for, whoever else in the frame reads it."""
    images = [use.thing for use in node.uses if use.write and use.attachment == attachment and isinstance(use.thing, Image)]
    return any(any(one is image for one in outputs) or _host_read(node, image, None) or _read_since(node, image) for image in images)


def _never_read(nodes: Sequence[Node], graph: Graph, outputs: Sequence[Image]) -> Iterable[Finding]:
    kept = {id(image._whole()[0]) for image in outputs}
    for unread in graph.unread:
        node, use = nodes[unread.source], unread.use
        if not isinstance(use.thing, Image) or use.how == "storage image":
            continue
        over = unread.overwritten_by
        if (over is None and id(use.thing) in kept) or _host_read(node, use.thing, None if over is None else nodes[over]):
            continue
        if (left := node.left.get(id(use))) is not None and left.read:
            continue
        what = f"image '{use.thing.label}'" + (f" ({use.aspect})" if len(use.thing.format_info.aspects) > 1 else "")
        then = "nobody has read it yet" if over is None else f"{nodes[over].title} overwrites it, and nobody reads it before"
        if node.kind == "pass" and use.how in _BY_TILES:
            change = _not_written(node, use.attachment, use.how)
            saves = _saved(change, nodes)
            fix = "store_op='dont_care'" if use.how == "store" else "a pass without resolve="
            if saves or _in_memory(change, nodes):
                yield Finding(
                    f"{node.title}: {use.attachment}: {what} is {'stored' if use.how == 'store' else 'resolved to'}, and {then}; "
                    f"{fix} saves {bytes_text(saves)}",
                    saves,
                    (node.number, *(() if over is None else (over,))),
                    [Cut(node.number, use.attachment, use.how)],
                    change,
                )
        elif isinstance(node.stats, CommandStats) and _first_of_all_unread(node, use, graph):
            moved = bytes_text(node.stats.written_B) + " are not written"
            if node.stats.read_B:
                moved = f"{bytes_text(node.stats.read_B)} are not read and {moved}"
            yield Finding(
                f"{node.title}: {what} is written, and {then}; without it {moved}", node.stats.moved_B, (node.number,), [Cut(node.number)]
            )


def _not_written(node: Node, attachment: str, how: str) -> Change:
    ((_, one),) = _attached(node, [attachment])
    rp = node.render_pass
    if how == "store" and rp is not None:
        return without_store({"layout": rp.layout, "store": rp.store}, node.number, attachment, one)
    return WithoutResolve(node.number, attachment, one)


def _first_of_all_unread(node: Node, use: Any, graph: Graph) -> bool:
    """All that the command writes is one thing that nobody reads, and this is the first use of it: it is said once."""
    mine = [one.use for one in graph.unread if one.source == node.number]
    writes = [one for one in node.uses if one.write]
    return mine[0] is use and len(mine) == len(writes) and all(one.thing is use.thing for one in mine)


def _incoming(graph: Graph, number: int) -> list[Edge]:
    return [edge for edge in graph.edges if edge.target == number]


def _joinable(nodes: Sequence[Node], graph: Graph) -> Iterable[Finding]:
    """A pass that only loads what the pass before it in the tile had: its draws could follow there."""
    for second in nodes:
        loads = [e for e in _incoming(graph, second.number) if e.read == "load"]
        firsts = {e.source for e in loads}
        if second.kind != "pass" or len(firsts) != 1 or BEFORE in firsts:
            continue
        first = nodes[firsts.pop()]
        if first.kind != "pass" or not _nothing_between(nodes, graph, first, second):
            continue
        found = join_of(first, second)
        if found is None:
            continue
        join, between, scissor = found
        saves = _saved(join, nodes)
        if saves > 0 or _in_memory(join, nodes):
            names = ", ".join(sorted({f"'{e.thing.label}'" for e in loads}))
            how = "the draws of both" + (f", with {' and '.join(between)} between them," if between else "") + scissor
            yield Finding(
                f"{second.title} loads what {first.title} stored ({names}), and needs nothing that comes between: one pass with "
                f"{how} saves {bytes_text(saves)}",
                saves,
                (first.number, second.number),
                [*(Cut(second.number, name, "load") for name, one in join.of_second if one.loads),
                 *(Cut(first.number, name, "store") for name, one in join.of_first if one.stores)],
                join,
            )  # fmt: skip


def _nothing_between(nodes: Sequence[Node], graph: Graph, first: Node, second: Node) -> bool:
    """What the second needs is there before the first begins, nothing between touches what both have or what the second writes, and
    neither draws with what the other has as an attachment or writes otherwise: in one pass there is no order between these."""
    if any(e.read != "load" and e.source >= first.number for e in _incoming(graph, second.number)):
        return False
    held = {id(use.thing) for node in (first, second) for use in node.uses if use.attachment}
    written = {id(use.thing) for use in second.uses if use.write}
    between = {id(use.thing) for node in nodes[first.number + 1 : second.number] for use in node.uses}
    if between & (held | written):
        return False
    drawn = {id(use.thing) for node in (first, second) for use in node.uses if not use.attachment}
    written_by_draws = {id(use.thing) for node in (first, second) for use in node.uses if use.write and not use.attachment}
    if drawn & held or written_by_draws & drawn:
        return False
    images = {id(use.thing): use.thing for use in first.uses if use.write and isinstance(use.thing, Image)}
    return not any(_host_read(first, image, second) for image in images.values())


def _g_buffers(nodes: Sequence[Node], graph: Graph, outputs: Sequence[Image]) -> Iterable[Finding]:
    """Several images that one pass stores at its own size and the next alone samples: a g-buffer that leaves the tile."""
    kept = {id(image._whole()[0]) for image in outputs}
    for second in nodes:
        sampled = [e for e in _incoming(graph, second.number) if e.read == "sampled" and e.source != BEFORE]
        for first in {e.source: nodes[e.source] for e in sampled if nodes[e.source].kind == "pass"}.values():
            mine = {id(e.thing): e.thing for e in sampled if e.source == first.number and isinstance(e.thing, Image)}
            readers = {e.target for e in graph.edges if e.source == first.number and id(e.thing) in mine}
            others = [e for e in _incoming(graph, second.number) if first.number < e.source]
            if second.kind != "pass" or len(mine) < 2 or readers != {second.number} or others:
                continue
            stores = [
                use for use in first.uses if use.how == "store" and id(use.thing) in mine and id(use.thing) not in kept
            ]
            if len(stores) != len(mine) or any(_host_read(first, image, None) or _read_since(first, image) for image in mine.values()):
                continue
            found = join_of(first, second, frozenset(mine))
            saves = 0 if found is None else _saved(found[0], nodes)
            if found is not None and (saves > 0 or _in_memory(found[0], nodes)):
                names = ", ".join(sorted(f"'{image.label}'" for image in mine.values()))
                yield Finding(
                    f"{second.title} alone samples what {first.title} stored at the same size ({names}): where it reads each at "
                    f"its own pixel, one pass with input attachments fetches nothing, and saves {bytes_text(saves)}",
                    saves,
                    (first.number, second.number),
                    [Cut(first.number, use.attachment, "store") for use in stores],
                    found[0],
                )


def _all_of(node: Node, how: str, thing: Any) -> list[Any]:
    """A pass's uses of that kind, of attachments that are this image, where the pass has all of its area; else none."""
    found = [use for use in node.uses if use.how == how and use.thing is thing]
    rp: Any = node.render_pass
    if rp is None or rp._framebuffer is not None or rp._samples:
        return []
    x, y, width, height = rp._area
    whole = not (width or height) or (x, y, width, height) == (0, 0, *thing.size[:2])
    return found if whole and rp._window is None else []


def _resolved_by_command(nodes: Sequence[Node], graph: Graph, outputs: Sequence[Image]) -> Iterable[Finding]:
    for node in nodes:
        incoming = _incoming(graph, node.number)
        if node.kind != "resolve" or len(incoming) != 1 or incoming[0].source == BEFORE:
            continue
        (edge,) = incoming
        source, thing = nodes[edge.source], edge.thing
        stores = [use for use in _all_of(source, "store", thing) if use.whole] if source.kind == "pass" else []
        reads = [use for use in node.uses if not use.write]
        writes = [use for use in node.uses if use.write]
        between = {id(use.thing) for one in nodes[source.number + 1 : node.number] for use in one.uses}
        if not isinstance(thing, Image) or len(stores) != 1 or len(reads) != 1 or len(writes) != 1 or source.render_pass is None:
            continue
        store, target = stores[0], writes[0]
        same = (store.levels, store.layers) == (reads[0].levels, reads[0].layers) and target.thing.size == thing.size and target.whole
        if not same or id(target.thing) in between or any(use.thing is target.thing for use in source.uses):
            continue
        if any(use.how == "resolve" and use.attachment == store.attachment for use in source.uses):
            continue  # it is resolved to something else
        alone = not any(e is not edge and e.source == source.number and e.thing is thing for e in graph.edges)
        alone = alone and not _host_read(source, thing, None) and not _read_since(source, thing) and not any(
            image is thing for image in outputs
        )  # fmt: skip
        change = ResolveInPass(source.number, _attached(source, [store.attachment]), thing.samples, not alone, node.stats.written_B)
        saves = _saved(change, nodes, node.stats.moved_B)
        if saves <= 0 and not _in_memory(change, nodes):
            continue
        size = bytes_text(node.stats.read_B)
        detail = f"{size} of samples are then {'neither stored nor read' if alone else 'not read; others read them'}"
        fix = "resolve= of the attachment" + (" with store_op='dont_care'" if alone else "")
        yield Finding(
            f"{source.title} stores the samples of image '{thing.label}', and {node.title} resolves them by a command: "
            f"{fix} saves {bytes_text(saves)} ({detail})",
            saves,
            (source.number, node.number),
            [Cut(node.number), *([Cut(source.number, store.attachment, "store")] if alone else [])],
            change,
        )


def _cleared_by_command(nodes: Sequence[Node], graph: Graph) -> Iterable[Finding]:
    for clear in nodes:
        out = [e for e in graph.edges if e.source == clear.number]
        if clear.kind != "clear" or len(out) != 1 or out[0].read != "load":
            continue
        (edge,) = out
        target, thing = nodes[edge.target], edge.thing
        (written,) = [use for use in clear.uses if use.write] if sum(use.write for use in clear.uses) == 1 else (None,)
        loads = [use for use in _all_of(target, "load", thing) if use.aspect == edge.aspect] if isinstance(thing, Image) else []
        if written is None or len(loads) != 1 or (written.levels, written.layers) != (loads[0].levels, loads[0].layers):
            continue
        image = thing if isinstance(thing, Image) else None
        others = any(e.source != clear.number and e.target == target.number and e.thing is thing and e.read == "load"
                     and e.aspect == edge.aspect for e in graph.edges)  # fmt: skip
        if others or image is None or _host_read(clear, image, target):
            continue
        change = ClearInPass(target.number, _attached(target, [loads[0].attachment]))
        saves = _saved(change, nodes, clear.stats.moved_B)
        if saves > 0 or _in_memory(change, nodes):
            yield Finding(
                f"{target.title} loads image '{thing.label}', which {clear.title} filled by a command: clear= of the attachment saves "
                f"{bytes_text(saves)} (the command writes {bytes_text(clear.stats.written_B)})",
                saves,
                (clear.number, target.number),
                [Cut(clear.number), Cut(target.number, loads[0].attachment, "load")],
                change,
            )


def _of_passes(nodes: Sequence[Node], outputs: Sequence[Image]) -> Iterable[Finding]:
    for node in nodes:
        if node.render_pass is None:
            continue
        for line in node.render_pass._lint(node.number):
            name = line.text.partition(":")[0]
            read = _read_later(nodes, node, name)
            text = line.text.removesuffix(IF_UNREAD)
            if text in node.undefined or any(guess in text for guess in _PASS_GUESSES):
                continue
            if text != line.text and (read or in_use(node, name, outputs) or any(_bound(node, name) is image for image in outputs)):
                continue
            if "although the pass resolves them" in text:  # if nobody reads them, that is said as such
                if read:
                    continue
                text = text.replace("; store_op", "; where what reads them can do with the resolved ones, store_op")
            causes = _CAUSES.get(type(line.change), getattr(line.change, "causes", ()))
            cuts = [Cut(node.number, name, "store" if cause in STORE[:1] else cause) for cause in causes if cause not in STORE[1:]]
            yield Finding(f"{node.title}: {text}", line.saves_B, (node.number,), cuts, line.change)
        for text in node.render_pass._undefined:
            if text not in node.undefined:
                yield Finding(f"{node.title}: {text}", 0, (node.number,))


def _bound(node: Node, attachment: str) -> Image | None:
    """What a pass has as that attachment."""
    bound: Any = getattr(node.render_pass, "_bound", ())
    return next((view.image for name, _, view, *_ in bound if name == attachment), None)


def _read_later(nodes: Sequence[Node], node: Node, attachment: str) -> bool:
    """Whether something behind the pass reads what it has as that attachment."""
    image, aspect = _bound(node, attachment), attachment if attachment in ("depth", "stencil") else "color"
    if image is None:
        return False
    return _read_since(node, image) or any(
        use.thing is image and use.aspect == aspect and not use.write for later in nodes[node.number + 1 :] for use in later.uses
    )


_CAUSES: dict[type, tuple[str, ...]] = {ClearInPass: ("load",), ResolveInPass: ("store",), WithoutResolve: ("store",)}
