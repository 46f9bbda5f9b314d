"""Vertices that a geometry shader emits: too few for a primitive, more than it may, or without what the next stage reads of each.

In: a pipeline with a geometry shader. Out: warnings, errors with ``strict``. Told is what happens in any execution that comes to an
emission: counts are bounds over all ways through the shader, and an output counts as written for a vertex where some way writes it.
Source: Vulkan specification, "Geometry Shading"; SPIR-V specification, OpEmitVertex, which leaves all outputs undefined.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from tilegpu import _core
from tilegpu.certain_uses import STRANGE, Instruction, Uses, Ways
from tilegpu.errors import LostPrimitivesWarning, UndefinedContentsError, UndefinedContentsWarning, ValidationError
from tilegpu.fixed import made_once
from tilegpu.unwritten import stage_uses

if TYPE_CHECKING:
    from tilegpu.program import Program

Key = tuple[int, bool, int]  # as of Uses.stored
Node = tuple[int, frozenset[int]]  # a block, and the loops around it that are beyond their first turn

_EACH: dict[Key, str] = {(0, False, 0): "gl_Position"} | {
    (number, False, k): f"{name}[{k}]" for number, name in ((3, "gl_ClipDistance"), (4, "gl_CullDistance")) for k in range(8)
}
_EACH_POINT: dict[Key, str] = {(1, False, 0): "gl_PointSize", (9, False, 0): "gl_Layer", (10, False, 0): "gl_ViewportIndex"}
_MADE = {27: (1, "points"), 28: (2, "line_strip"), 29: (3, "triangle_strip")}
_MOST_VERTICES, _FEEDBACK = 26, 11  # modes
_EMITS, _ENDS, _STREAMS = frozenset({218, 220}), frozenset({219, 221}), frozenset({220, 221})
_CALL, _STORES = 57, (62, 63)
_NOTHING = "the geometry shader emits nothing that is drawn"
_MOST_LOOPS = 5  # around each other and beside: each doubles the nodes
_TYPES: dict[str, int] = _core.ENUMS["descriptor_type"]
_WRITTEN = {_TYPES[name] for name in ("storage_buffer", "storage_image", "storage_texel_buffer")}


def warn_of_emissions(pipeline: Program, stream: int, rasterizes: bool, strict: bool) -> None:
    """``stream``: which is drawn; ``rasterizes``: it is, unless state says otherwise; ``strict``: of the device."""
    if "geometry" not in pipeline.stages:
        return
    try:
        lost, names = _found(pipeline, stream, rasterizes)
    except STRANGE:
        return
    if lost and strict:
        raise ValidationError(f"{pipeline.title}: {lost}")
    if lost:
        pipeline._warn_once("EmitVertex", lost, LostPrimitivesWarning)
    if names:
        which = " and ".join(names)
        text = (
            f"the geometry shader emits a vertex for which it has not written {which}: EmitVertex() leaves outputs undefined in Vulkan, "
            "here they keep their values (0 at first); write them before each EmitVertex()"
        )
        if strict:
            raise UndefinedContentsError(f"{pipeline.title}: {text}")
        pipeline._warn_once("EmitVertex", text, UndefinedContentsWarning)


def _found(pipeline: Program, stream: int, rasterizes: bool) -> tuple[str, list[str]]:
    """Why primitives are lost, and which outputs a vertex lacks."""
    uses = stage_uses(pipeline, "geometry")
    if not uses.entry:
        return "", []
    emissions = _emissions(uses, stream)
    feeds = _FEEDBACK in uses.modes
    lost = emissions.too_few(feeds or _stores_elsewhere(pipeline)) if rasterizes or feeds else ""
    lost = lost or emissions.too_many
    wanted = _read(pipeline, emissions.points) if rasterizes and not lost else {}
    return lost, [wanted[key] for key in emissions.unwritten(frozenset(wanted))]


def _stores_elsewhere(pipeline: Program) -> bool:
    return any(b.used and b.descriptor in _WRITTEN for b in pipeline.stages["geometry"].reflection.bindings)


def _read(pipeline: Program, points: bool) -> dict[Key, str]:
    """Outputs that each vertex wants, whatever comes, and their names. What is flat is of one vertex of a primitive, and needs no more."""
    wanted = _EACH | (_EACH_POINT if points else {})
    if "fragment" in pipeline.stages:
        fragment = stage_uses(pipeline, "fragment")
        named = [o for o in pipeline.stages["geometry"].reflection.outputs if o.name]
        for part, _, _ in fragment.loaded if fragment.entry else ():
            if part.built_in < 0 and part.places == 1 and (points or not fragment.is_flat(part.variable)):
                for output in named:
                    if output.location <= part.first < output.location + max(1, output.type.locations):
                        wanted[-1, False, part.first] = f"'{output.name}'"
    return wanted


@functools.lru_cache(maxsize=16)
def _emissions(uses: Uses, stream: int) -> _Emissions:
    return _Emissions(uses, stream)


class _Emissions:
    """Of one geometry shader."""

    def __init__(self, uses: Uses, stream: int) -> None:
        self._uses, self._stream = uses, stream
        self._ways: Ways = uses.ways[uses.entry]
        self._most = uses.modes.get(_MOST_VERTICES, [1 << 32])[0]
        self._need, self._made = next((_MADE[mode] for mode in _MADE if mode in uses.modes), (1, "points"))
        self.points = self._need == 1
        self._lacking: dict[frozenset[Key], tuple[Key, ...]] = {}
        self._emitting = {f for f in uses.functions if self._holds(f, _EMITS, set())}

    def _holds(self, function: int, numbers: frozenset[int], seen: set[int]) -> bool:
        """Whether a function, or one that it calls, has one of the instructions."""
        seen.add(function)
        instructions = [one for block in self._uses.functions.get(function, {}).values() for one in block]
        called = {a[2] for op, a in instructions if op == _CALL} - seen
        return any(op in numbers for op, _ in instructions) or any(self._holds(f, numbers, seen) for f in called)

    def _is_drawn(self, one: Instruction) -> bool:
        """Whether an emission goes to the stream that is drawn, or may."""
        op, a = one
        return self._uses.module.value.get(a[0], self._stream) == self._stream if op in _STREAMS else self._stream == 0

    # ---------------------------------------------------------------------------------------------------- how many

    def too_few(self, has_other_use: bool) -> str:
        """Why no primitive comes of it. ``has_other_use``: it need not emit."""
        if not any(op in _EMITS and self._is_drawn((op, a)) for op, a in self._uses.instructions()):
            return "" if has_other_use else f"{_NOTHING}; write EmitVertex() for each vertex, or give rasterizer_discard=True"
        whole = f"a primitive of its {self._made} has {self._need}"
        if self._most < self._need:
            return f"the geometry shader may emit {self._most} (max_vertices), and {whole}: nothing is drawn; raise max_vertices"
        if self._at_most < self._need:
            return f"the geometry shader emits {self._at_most} to a primitive at most, and {whole}: nothing is drawn; emit one for each"
        return ""

    @made_once
    def _at_most(self) -> int:
        """Emissions to one primitive, up to what it needs."""
        return int(min(self._bound(self._uses.entry, frozenset()), self._longest()))

    @made_once
    def too_many(self) -> str:
        """More than max_vertices, in any execution."""
        count = 0
        for label, block in self._uses.functions[self._uses.entry].items():
            emits = sum(op in _EMITS for op, _ in block)
            around = [header for header, inside in self._ways.loops.items() if label in inside]
            if emits and self._uses.is_certain(self._uses.entry, label):
                count += emits * math.prod(self._ways.turns.get(header, 1) for header in around)
        if count <= self._most:
            return ""
        what = f"the geometry shader emits {count} vertices, and max_vertices is {self._most}"
        return f"{what}: those behind are lost; write layout(max_vertices = {count}) out"

    def _bound(self, function: int, within: frozenset[int]) -> float:
        """At most so many emissions of a call."""
        ways, total = self._uses.ways[function], 0.0
        for label, block in self._uses.functions[function].items():
            count = 0.0
            for op, a in block:
                if op == _CALL and a[2] in self._emitting:
                    count += math.inf if a[2] in within else self._bound(a[2], within | {function})
                count += op in _EMITS and self._is_drawn((op, a))
            turns = math.prod(ways.turns.get(header, math.inf) for header, inside in ways.loops.items() if label in inside)
            total += count * turns if count else 0
        return total

    def _longest(self) -> int:
        """Emissions between two EndPrimitive() at most, up to what a primitive needs."""
        most = 0
        before = {self._ways.first: 0}
        ahead = [self._ways.first]
        while ahead:
            label = ahead.pop()
            run = before[label]
            for op, a in self._uses.functions[self._uses.entry][label]:
                if op in _EMITS and self._is_drawn((op, a)):
                    run = min(run + 1, self._need)
                elif op == _CALL and a[2] in self._emitting:
                    run = self._need
                elif op in _ENDS and self._is_drawn((op, a)):
                    run = 0
                most = max(most, run)
            for after in self._ways.next[label]:
                if run > before.get(after, -1):
                    before[after] = run
                    ahead.append(after)
        return most

    # --------------------------------------------------------------------------------------------- with which outputs

    def unwritten(self, wanted: frozenset[Key]) -> tuple[Key, ...]:
        """What is wanted and not written for a vertex that is emitted whatever comes."""
        if wanted not in self._lacking:
            self._lacking[wanted] = self._unwritten(wanted)
        return self._lacking[wanted]

    def _unwritten(self, wanted: frozenset[Key]) -> tuple[Key, ...]:
        stored = self._uses.stored
        streams = any(op in _STREAMS for op, _ in self._uses.instructions())
        if stored is None or streams or len(self._ways.loops) > _MOST_LOOPS:
            return ()
        keys = wanted & stored
        found: dict[Key, None] = {}
        start: Node = (self._ways.first, frozenset())
        before: dict[Node, frozenset[Key]] = {start: frozenset()}
        ahead = [start]
        while ahead:
            node = ahead.pop()
            written = self._through(node[0], before[node], keys, None)
            for after in self._after(node):
                if after not in before or not written <= before[after]:
                    before[after] = before.get(after, frozenset()) | written
                    ahead.append(after)
        for node, written in before.items():
            if self._is_certain(node):
                self._through(node[0], written, keys, found)
        return tuple(found)

    def _through(self, label: int, written: frozenset[Key], keys: frozenset[Key], found: dict[Key, None] | None) -> frozenset[Key]:
        """What may have been written behind a block, of ``keys``; ``found``: gets what an emission of it lacks."""
        for op, a in self._uses.functions[self._uses.entry][label]:
            if op in _EMITS:
                if found is not None:
                    found.update(dict.fromkeys(sorted(keys - written)))
                written = frozenset()
            elif op == _CALL:
                written = keys if self._holds(a[2], _EMITS | frozenset(_STORES), set()) else written | self._stored(a[3:], keys)
            elif op in _STORES:
                written |= self._stored(a[:1], keys)
        return written

    def _stored(self, pointers: tuple[int, ...], keys: frozenset[Key]) -> frozenset[Key]:
        parts = [part for pointer in pointers for part in self._uses.parts(pointer, 3) or ()]
        return frozenset((p.built_in, p.patch, k) for p in parts for k in range(p.first, p.first + p.places)) & keys

    def _after(self, node: Node) -> list[Node]:
        """Nodes that may follow: a step back to a loop's begin is to a later turn of it."""
        label, later = node
        found: list[Node] = []
        for to in self._ways.next[label]:
            flags = frozenset(h for h in later if to in self._ways.loops[h] and (to != h or label in self._ways.loops[h]))
            if to in self._ways.loops and label in self._ways.loops[to]:
                flags |= {to}
            found.append((to, flags))
        return found

    def _is_certain(self, node: Node) -> bool:
        label, later = node
        return self._uses.is_certain(self._uses.entry, label) and all(self._ways.turns.get(header, 0) > 1 for header in later)
