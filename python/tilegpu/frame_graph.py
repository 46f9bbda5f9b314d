"""A frame as a graph: what was done, in order, and what flowed between.

In: nodes with what each reads and writes (:mod:`tilegpu.uses`). Out: edges from where something was stored to where it is read, and the
writes that nobody reads. By image, aspect, level and layer, and by bytes of buffers; areas within a level are not told apart, so a pass
or copy that writes a part of a level adds to who wrote it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tilegpu import notebook
from tilegpu.binding import ReadLate
from tilegpu.buffer import Buffer
from tilegpu.fixed import Told
from tilegpu.image import Image
from tilegpu.reads_since import Left, Steps
from tilegpu.uses import Use, level_size_B

if TYPE_CHECKING:
    from tilegpu.pass_results import PassResults

BEFORE = -1  #: the number of what was there before the frame began


@dataclasses.dataclass(eq=False)
class Node(Told):
    """A step of a frame: ``kind`` is ``"pass"``, ``"dispatch"``, ``"copy"``, ``"blit"``, ``"clear"``, ``"resolve"`` or
    ``"generate_mipmaps"``; ``stats``: what it cost, of a pass or a dispatch, or moved, of a command."""

    number: int
    kind: str
    label: str
    uses: Sequence[Use]
    stats: Any = None
    render_pass: PassResults | None = None
    undefined: tuple[str, ...] = ()
    commands: Any = dataclasses.field(default=None, repr=False)
    keep: Any = dataclasses.field(default=None, repr=False)  # memory that its commands read
    late: Sequence[ReadLate] = dataclasses.field(default=(), repr=False)  # sets that are read as they are when it is executed
    host_reads: dict[int, int] = dataclasses.field(default_factory=dict, repr=False)
    left: dict[int, Left] = dataclasses.field(default_factory=dict, repr=False)  # by id of its uses: what it wrote of images
    steps: Steps = dataclasses.field(default_factory=Steps, repr=False)

    def _repr_html_(self) -> str:
        """What it is, what it reads and writes, and what it cost."""
        parts = [notebook.facts(self.title, [(f"{'writes' if use.write else 'reads'} ({use.how})", repr(use.thing)) for use in self.uses])]
        of_stats = getattr(self.stats, "_repr_html_", None)
        return "".join([*parts, *([of_stats()] if of_stats is not None else [])])

    @property
    def title(self) -> str:
        """Kind, number and name."""
        kind = self.kind.replace("_", " ")
        return f"{kind} {self.number} '{self.label}'" if self.label else f"{kind} {self.number}"


@dataclasses.dataclass(frozen=True, eq=False)
class Edge(Told):
    """Something that node ``source`` wrote (-1: it was there before the frame) and node ``target`` reads.

    ``written``, ``read``: how (``"store"``, ``"resolve"``, ``"copy"``; ``"load"``, ``"sampled"``, ``"vertices"``). ``levels`` and
    ``layers`` (first, end) of an image's ``aspect``, ``bytes`` (first, end) of a buffer; ``size_B``: of all of it.
    """

    source: int
    target: int
    thing: Image | Buffer
    written: str
    read: str
    aspect: str
    levels: tuple[int, int]
    layers: tuple[int, int]
    bytes: tuple[int, int]
    size_B: int

    def _repr_html_(self) -> str:
        source = "before the frame" if self.source == BEFORE else f"node {self.source}"
        rows = [("what", f"{self.thing!r}" + (f", {self.part}" if self.part else "")), ("written by", f"{source} ({self.written})"),
                ("read by", f"node {self.target} ({self.read})"), ("size", f"{self.size_B:,} B")]  # fmt: skip
        return notebook.facts("edge of a frame", rows)

    @property
    def part(self) -> str:
        """Which part of the image or the buffer it is, ``""`` for all of it."""
        if isinstance(self.thing, Buffer):
            return "" if self.bytes == (0, self.thing.size) else f"bytes {self.bytes[0]} to {self.bytes[1]}"
        words = [self.aspect] if len(self.thing.format_info.aspects) > 1 else []
        for name, (first, end), all_of_it in (
            ("level", self.levels, self.thing.mip_levels),
            (
                "slice" if self.thing.type == "3d" else "layer",
                self.layers,
                self.thing.depth if self.thing.type == "3d" else self.thing.layers,
            ),
        ):
            if (first, end) != (0, all_of_it):
                words.append(f"{name} {first}" if end == first + 1 else f"{name}s {first} to {end - 1}")
        return ", ".join(words)


@dataclasses.dataclass(frozen=True, eq=False)
class Unread:
    """A write of node ``source`` that no later node reads. ``overwritten_by``: the node that wrote over it, ``None`` if none did."""

    source: int
    use: Use
    overwritten_by: int | None


_Part = tuple[str, int, int]  # aspect, level, layer


class _ImageParts:
    """Who wrote each part of an image."""

    def __init__(self) -> None:
        self.writers: dict[_Part, list[tuple[int, Use]]] = {}

    def read(self, use: Use) -> Iterable[tuple[int, str, _Part]]:
        for level, layer in use.parts():
            part = (use.aspect, level, layer)
            writers = self.writers.get(part)
            if not writers or not any(w.whole for _, w in writers):
                yield BEFORE, "", part
            yield from ((number, w.how, part) for number, w in writers or ())

    def write(self, number: int, use: Use) -> list[tuple[int, Use]]:
        """Returns the writes that are gone now."""
        gone: list[tuple[int, Use]] = []
        for level, layer in use.parts():
            writers = self.writers.setdefault((use.aspect, level, layer), [])
            if use.whole:
                gone += writers
                writers.clear()
            writers.append((number, use))
        return gone


class _BufferParts:
    """Who wrote which bytes of a buffer, latest last."""

    def __init__(self) -> None:
        self.writers: list[tuple[int, Use]] = []

    def read(self, use: Use) -> list[tuple[int, Use]]:
        return [(n, w) for n, w in self.writers if w.bytes[0] < use.bytes[1] and use.bytes[0] < w.bytes[1]]

    def write(self, number: int, use: Use) -> list[tuple[int, Use]]:
        gone = []
        if use.whole:
            gone = [(n, w) for n, w in self.writers if use.bytes[0] <= w.bytes[0] and w.bytes[1] <= use.bytes[1]]
            self.writers = [pair for pair in self.writers if pair not in gone]
        self.writers.append((number, use))
        return gone


class Graph:
    """``edges`` in the order of their targets; ``unread``: writes that nobody reads within the frame."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.edges: list[Edge] = []
        self.unread: list[Unread] = []
        self._images: dict[int, _ImageParts] = {}
        self._buffers: dict[int, _BufferParts] = {}
        self._read: set[tuple[int, int]] = set()  # (node, id of its use)
        overwritten: dict[tuple[int, int], int] = {}
        for node in nodes:
            for use in node.uses:
                if not use.write:
                    self._add_read(node.number, use)
            for use in node.uses:
                if use.write:
                    for number, old in self._write(node.number, use):
                        if number != node.number:
                            overwritten.setdefault((number, id(old)), node.number)
        for node in nodes:
            for use in node.uses:
                if use.write and (node.number, id(use)) not in self._read:
                    self.unread.append(Unread(node.number, use, overwritten.get((node.number, id(use)))))

    def _write(self, number: int, use: Use) -> list[tuple[int, Use]]:
        table: Any = self._buffers if isinstance(use.thing, Buffer) else self._images
        parts = table.setdefault(id(use.thing), _BufferParts() if isinstance(use.thing, Buffer) else _ImageParts())
        gone: list[tuple[int, Use]] = parts.write(number, use)
        return gone

    def _add_read(self, number: int, use: Use) -> None:
        if isinstance(use.thing, Buffer):
            found = self._buffers.get(id(use.thing), _BufferParts()).read(use)
            for source, write in found:
                self._read.add((source, id(write)))
                span = max(use.bytes[0], write.bytes[0]), min(use.bytes[1], write.bytes[1])
                self._add(source, number, use, write.how, span, span[1] - span[0])
            if not found:
                self._add(BEFORE, number, use, "", use.bytes, use.bytes[1] - use.bytes[0])
            return
        images = self._images.get(id(use.thing), _ImageParts())
        by_source: dict[tuple[int, str], list[_Part]] = {}
        for source, how, part in images.read(use):
            by_source.setdefault((source, how), []).append(part)
        for place in use.parts():
            self._read |= {(source, id(write)) for source, write in images.writers.get((use.aspect, *place), ())}
        for (source, how), parts in by_source.items():
            levels, layers = sorted({p[1] for p in parts}), sorted({p[2] for p in parts})
            narrowed = use._replace(levels=(levels[0], levels[-1] + 1), layers=(layers[0], layers[-1] + 1))
            self._add(
                source, number, narrowed, how, (0, 0), sum(level_size_B(use.thing, p[1], use.aspect) for p in parts)
            )

    def _add(self, source: int, target: int, use: Use, written: str, span: tuple[int, int], size_B: int) -> None:
        if source == target:  # a pass that reads its own attachment in the tile
            return
        self.edges.append(
            Edge(source, target, use.thing, written, use.how, use.aspect, use.levels, use.layers, span, size_B)
        )
