"""Draws of one pass that depend on each other: what shaders of one write, and another reads where Vulkan would want a barrier.

In: what each draw binds, and what its shaders do with it. Out: a line for each, of what is read too early, for a warning or an error
before anything is executed. Not looked at: fragments that read what fragments wrote, but by a uniform block (each pixel may read its
own, which is defined), and what is reached by address. Source: Vulkan specification, "Synchronization and Cache Control", "Render Pass
Self-Dependency".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tilegpu.buffer import Buffer, BufferSlice, BufferView
from tilegpu.descriptor_set import DescriptorSet
from tilegpu.image import Image, ImageView, Texture
from tilegpu.uses import Use, use_of_buffer, use_of_image, use_of_view

if TYPE_CHECKING:
    from tilegpu.interface import Binding
    from tilegpu.program import Program

_FRAGMENTS = "fragments are shaded when the vertices of all draws have been"
_TILES = "a tile's fragments do not wait for those of other tiles"
_VERTICES_ALIKE = "its invocations do not wait for each other"
_VERTICES = "a draw does not wait for the vertices of those before it"
#: What the hardware reads of a buffer for a draw, as :attr:`tilegpu.uses.Use.how` says it, and how a message does.
FIXED = {
    "vertices": "reads its vertices from",
    "instances": "reads its instances from",
    "indices": "reads its indices from",
    "indirect": "reads its parameters from",
    "draw count": "reads how many draws there are from",
    "condition": "depends on",
}


class _Write(NamedTuple):
    """By whom a part of a thing is written."""

    use: Use
    who: str
    by_fragments: bool


def _uses_of(thing: Any, write: bool) -> Iterator[Use]:
    """Of what a binding was given: buffers, images, parts of them, lists."""
    if isinstance(thing, Texture):
        thing = thing.image
    if isinstance(thing, (Buffer, BufferSlice, BufferView)):
        yield use_of_buffer(thing, write, "")
    elif isinstance(thing, ImageView):
        yield from use_of_view(thing, write, "")
    elif isinstance(thing, Image):
        yield from use_of_image(thing, write, "")
    elif isinstance(thing, (list, tuple)):
        for item in thing:
            yield from _uses_of(item, write)


def _block_uses(pipeline: Program, binding: Binding, given: Any, stores: bool) -> Iterator[tuple[str, Use]]:
    """Of each stage, bytes of what a block's binding was given that it may load, or store."""
    place = binding.set, binding.binding
    access = pipeline.accesses[place]
    for stage, ranges in pipeline.block_bytes.items():
        if not access[(2 if stage == "fragment" else 0) + stores]:  # only behind what constants switch off
            continue
        for first_B, end_B in ranges[stores].get(place, ()):
            for use in _uses_of(given, stores):
                begin_B, all_B = use.bytes
                yield stage, use._replace(bytes=(begin_B + first_B, int(min(all_B, begin_B + end_B))))


def bound_of(
    pipeline: Program, bind: Mapping[Any, Any] | None, sets: Mapping[int, DescriptorSet] | None
) -> Iterator[tuple[Binding, Any]]:
    """What a draw binds, by the pipeline's bindings."""
    interface = pipeline.interface
    for name, value in (bind or {}).items():
        binding = interface.bindings.get(name) if isinstance(name, tuple) else interface.names.get(name)
        if binding is not None:
            yield binding, value
    for number, descriptors in (sets or {}).items():
        for at, thing in descriptors.bound():
            binding = interface.bindings.get((int(number), at))
            if binding is not None:
                yield binding, thing


class Hazards:
    """Of one pass, or of one secondary command buffer (``part``), which may stand behind writes that it doesn't know. ``found``: a line
    each, in order."""

    __slots__ = ("_part", "_reads", "_written", "found", "listening")

    def __init__(self, part: bool = False) -> None:
        self._written: dict[int, list[_Write]] = {}
        self._part = part
        self.listening = part  #: something was written, or may have been: what draws read is looked at
        self._reads: dict[tuple[Any, ...], tuple[Use, str, bool]] = {}  # of a part
        self.found: dict[str, None] = {}

    @property
    def active(self) -> bool:
        """Whether anything was written by a draw."""
        return bool(self._written)

    def wrote(self, uses: Iterable[Use], who: str, by_fragments: bool) -> None:
        """A draw's shaders write this."""
        self.listening = True
        for use in uses:
            self._written.setdefault(id(use.thing), []).append(_Write(use, who, by_fragments))

    def reads(self, given: Any, what: str, how: str) -> None:
        """The hardware reads this for a draw: ``how`` is a key of :data:`FIXED`."""
        for use in _uses_of(given, False):
            self._check(use, f"{what} {FIXED[how]}")

    def note_draw(
        self,
        what: str,
        pipeline: Program,
        bind: Mapping[Any, Any] | None,
        sets: Mapping[int, DescriptorSet] | None,
        fixed: Sequence[tuple[str, Any]],
    ) -> None:
        """A draw that draws something. ``fixed``: what the hardware reads for it, and how (:data:`FIXED`)."""
        assert self.listening or pipeline.may_write  # asked before: most draws are neither, and cost nothing
        accesses = pipeline.accesses
        bound = [(binding, value) for binding, value in bound_of(pipeline, bind, sets) if (binding.set, binding.binding) in accesses]
        for binding, value in bound if self._written or self._part else ():
            access = accesses[binding.set, binding.binding]
            uniform = access.fragment_reads and binding.descriptor == "uniform_buffer"
            if access.vertex_reads or uniform:
                stage = "vertex shader" if access.vertex_reads else "fragment shader"
                for use in _uses_of(value, False):
                    self._check(use, f"{what}: its {stage} reads, as {binding.title},", access.vertex_reads)
        for binding, value in bound:
            access = accesses[binding.set, binding.binding]
            if access.fragment_writes or access.vertex_writes:
                stage = "fragment shader" if access.fragment_writes else "vertex shader"
                who = f"the {stage} of {pipeline.title} writes as {binding.title}"
                self.wrote(_uses_of(value, True), who, access.fragment_writes)
        if pipeline.may_write:
            self._check_own(what, pipeline, bound)
        for how, given in fixed:
            self.reads(given, f"{what}:", how)

    def _check_own(self, what: str, pipeline: Program, bound: Sequence[tuple[Binding, Any]]) -> None:
        """Bytes of uniform blocks, which all invocations read alike, that the same draw writes: by fragments, and where a stage before the
        rasterizer reads them by any stage."""
        accesses = pipeline.accesses
        blocks = [(b, value) for b, value in bound if b.descriptor == "uniform_buffer"]
        stored = [(b, value) for b, value in bound if accesses[b.set, b.binding][1] or accesses[b.set, b.binding][3]]
        for (block, given), (binding, value) in itertools.product(blocks, stored):
            for (reader, read), (writer, write) in itertools.product(
                _block_uses(pipeline, block, given, False), _block_uses(pipeline, binding, value, True)
            ):
                met = read.thing is write.thing and write.meets("", (0, 1), (0, 1), read.bytes)
                if not met or (reader == "fragment" and writer != "fragment"):  # fragments come after the vertices
                    continue
                why = _VERTICES_ALIKE if writer != "fragment" else _TILES if reader == "fragment" else _FRAGMENTS
                self.found[
                    f"{what}: its {reader.replace('_', ' ')} shader reads, as {block.title}, buffer '{read.thing.label}', which the draw "
                    f"itself writes (the {writer.replace('_', ' ')} shader, as {binding.title}): {why}, so it may find what was there "
                    "before; bind a copy of it, or write another buffer"
                ] = None

    def take(self, other: Hazards) -> None:
        """Those of a secondary command buffer, which is executed here."""
        for use, what, vertex in other._reads.values() if self._written else ():
            self._check(use, what, vertex)
        self.listening |= bool(other._written)
        for key, writes in other._written.items():
            self._written.setdefault(key, []).extend(writes)
        self.found.update(other.found)

    def _check(self, use: Use, what: str, vertex: bool = True) -> None:
        """``vertex``: it is read with or before the vertices, else by fragments."""
        if self._part:
            self._reads[(id(use.thing), *use[1:], what)] = use, what, vertex
        for write in self._written.get(id(use.thing), ()):
            if not write.use.meets(use.aspect, use.levels, use.layers, use.bytes) or not (vertex or write.by_fragments):
                continue
            kind = "buffer" if isinstance(use.thing, Buffer) else "image"
            why = _VERTICES if not write.by_fragments else _FRAGMENTS if vertex else _TILES
            self.found[
                f"{what} {kind} '{use.thing.label}', which a draw of the same pass writes ({write.who}): {why}, so it may find what was "
                "there before; draw it in a pass behind this one"
            ] = None
            return
