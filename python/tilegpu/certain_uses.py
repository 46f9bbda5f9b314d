"""What a stage does with its inputs and outputs, whatever comes: which it stores to anywhere, and which it loads in every execution.

In: SPIR-V, constants, the stage. Out: parts of the interface, as built-ins or locations. Certain is what stands in a block that every way
through the entry point passes; a loop that is known to turn passes its body. What is stored under any condition counts as stored, through
a pointer that nobody can follow as all of it. Source: SPIR-V specification, "Structured Control Flow", "Shader Interface" of Vulkan's.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from tilegpu.fixed import made_once
from tilegpu.operations import Counter, Module
from tilegpu.pipeline_rules import Words

Instruction = tuple[int, tuple[int, ...]]
Blocks = dict[int, list[Instruction]]

INPUT, OUTPUT = 1, 3  # storage classes
#: What modules of forms that no compiler writes may raise: of these nothing is known.
STRANGE = (KeyError, IndexError, TypeError, ValueError)
INVOCATION = 8  # gl_InvocationID
LEVELS = (11, 12)  # gl_TessLevelOuter, gl_TessLevelInner
_CHAINS = (65, 66)
_LOAD, _STORE, _COPY, _CALL, _EXTENDED = 61, 62, 63, 57, 12
_INTERPOLATIONS = frozenset({76, 77, 78})
_EXITS = frozenset({252, 253, 254, 4416, 5294})
_LOCATION, _BUILT_IN, _PATCH, _PER_VERTEX, _FLAT = 30, 11, 15, 5285, 14
_MODELS = {
    "vertex": 0, "tessellation_control": 1, "tessellation_evaluation": 2, "geometry": 3, "fragment": 4, "compute": 5, "task": 5364,
    "mesh": 5365,
}  # fmt: skip
#: Whose inputs, and whose outputs, are arrays with an element for each vertex.
_ARRAYED = {
    INPUT: frozenset({"tessellation_control", "tessellation_evaluation", "geometry"}),
    OUTPUT: frozenset({"tessellation_control", "mesh"}),
}


class Part(NamedTuple):
    """Of a stage's inputs or outputs."""

    built_in: int  #: SPIR-V's number, -1: a variable of the user's
    patch: bool
    first: int  #: location; of a built-in the element
    places: int
    vertex: int  #: the id of the vertex that it is of; 0: there is one, or all are meant
    variable: int


class Uses:
    """Of one entry point."""

    def __init__(self, spirv: bytes, constants: Mapping[int, int], stage: str) -> None:
        self.module = Module(spirv, constants)
        self.stage = stage
        self.names: dict[int, str] = {}
        self.modes: dict[int, list[int]] = {}
        self._types: dict[int, tuple[int, list[int]]] = {}
        entries: list[int] = []
        self._decorated: dict[tuple[int, int, int], int] = {}  # (variable, -1, decoration), (structure, member, decoration)
        self._bases: dict[int, tuple[int, tuple[int, ...]]] = {}  # pointers: variable, ids of indices
        self.loaded_from: dict[int, int] = {}  # values: the variable
        for number, a in Words(spirv).instructions():
            if number == 54:
                break
            if number in (21, 22, 23, 24, 28, 30, 32):
                self._types[a[0]] = number, a[1:]
            elif number == 5:
                self.names[a[0]] = b"".join(word.to_bytes(4, "little") for word in a[1:]).split(b"\0")[0].decode(errors="replace")
            elif number == 71:
                self._decorated[a[0], -1, a[1]] = a[2] if len(a) > 2 else 1
            elif number == 72:
                self._decorated[a[0], a[1], a[2]] = a[3] if len(a) > 3 else 1
            elif number == 15 and a[0] == _MODELS[stage]:
                entries.append(a[1])
            elif number == 16 and entries == [a[0]]:
                self.modes[a[1]] = a[2:]
        #: The entry point's function; 0: the module has several of the stage, and nothing is known.
        self.entry = entries[0] if len(entries) == 1 else 0
        self.functions: dict[int, Blocks] = {
            f: {label: block.instructions for label, block in blocks.items()} for f, blocks in self.module.functions.items()
        }
        for op, op_a in self.instructions():
            if op in _CHAINS:
                base, before = self._bases.get(op_a[2], (op_a[2], ()))
                self._bases[op_a[1]] = base, (*before, *op_a[3:])
            elif op == _LOAD:
                self.loaded_from[op_a[1]] = op_a[2]
        wide = {type_ for type_, (kind, operands) in self._types.items() if kind == 21 and operands[0] == 64}
        self.ways = {f: Ways(self.module, f, wide) for f in self.functions}

    def instructions(self) -> Iterator[Instruction]:
        """Of all functions."""
        for blocks in self.functions.values():
            for instructions in blocks.values():
                yield from instructions

    def decorated(self, variable: int, decoration: int) -> int | None:
        """The decoration's word, 1 where it has none; ``None``: the variable has no such decoration."""
        return self._decorated.get((variable, -1, decoration))

    # ------------------------------------------------------------------------------------------------- what is there

    @made_once
    def stored(self) -> set[tuple[int, bool, int]] | None:
        """(built-in, of the patch, place) of all outputs that something is stored to; ``None``: nobody knows."""
        found: set[tuple[int, bool, int]] = set()
        if not self.entry:
            return None
        for op, a in self.instructions():
            pointers = a[:1] if op in (_STORE, _COPY) else a[3:] if op == _CALL else ()
            for pointer in pointers:
                parts = self.parts(pointer, OUTPUT)
                if parts is None:
                    return None
                found.update((p.built_in, p.patch, k) for p in parts for k in range(p.first, p.first + p.places))
        return found

    @made_once
    def loaded(self) -> list[tuple[Part, int, int]]:
        """Inputs that every execution loads: what, in which function, in which block of it."""
        found: list[tuple[Part, int, int]] = []
        for function, label in self.certain():
            for op, a in self.functions[function][label]:
                pointer = a[2] if op == _LOAD else a[1] if op == _COPY else 0
                if op == _EXTENDED and a[3] in _INTERPOLATIONS:
                    pointer = a[4]
                for part in (self.parts(pointer, INPUT) if pointer else None) or ():
                    found.append((part, function, label))
        return found

    def certain(self) -> Iterator[tuple[int, int]]:
        """(function, block) of what is executed whatever comes."""
        ahead, seen = [self.entry], {self.entry}
        while ahead:
            function = ahead.pop()
            for label, instructions in self.functions.get(function, {}).items():
                if any(op in (_LOAD, _COPY, _CALL, _EXTENDED) for op, _ in instructions) and self.is_certain(function, label):
                    yield function, label
                    for op, a in instructions:
                        if op == _CALL and a[2] not in seen:
                            seen.add(a[2])
                            ahead.append(a[2])

    def is_certain(self, function: int, label: int) -> bool:
        """Whether whoever calls the function comes through the block."""
        return self.ways[function].passes(label)

    def counter_of(self, function: int, label: int, variable: int) -> Counter | None:
        """Of the loop around a block that counts with the variable, and that nothing else leaves."""
        return self.ways[function].counters.get((label, variable))

    def most(self, value: int, function: int, label: int) -> int | None:
        """The largest that a number surely becomes: a constant, gl_InvocationID, or what a loop counts with."""
        if value in self.module.value:
            return self.module.value[value]
        variable = self.loaded_from.get(value, 0)
        if self.decorated(variable, _BUILT_IN) == INVOCATION:
            count = self.modes.get(26) if self.stage == "tessellation_control" else None  # OutputVertices
            return None if count is None else count[0] - 1
        counter = self.counter_of(function, label, variable)
        return None if counter is None else counter.start + counter.step * (counter.turns - 1)

    # --------------------------------------------------------------------------------------------------- which it is

    def parts(self, pointer: int, storage: int) -> list[Part] | None:
        """Of the interface, that a pointer is of: none where it is of something else; ``None``: nobody knows."""
        variable, indices = self._bases.get(pointer, (pointer, ()))
        if self.module.storage.get(variable) != storage:
            return []
        type_ = self.module.pointee.get(self.module.type_of.get(variable, 0), 0)
        patch = self.decorated(variable, _PATCH) is not None
        built_in = self.decorated(variable, _BUILT_IN)
        vertex = 0
        kind, operands = self._types.get(type_, (0, []))
        arrayed = self.stage in _ARRAYED[storage] or self.decorated(variable, _PER_VERTEX) is not None
        if kind == 28 and arrayed and not patch and built_in not in LEVELS:
            vertex, indices, type_ = indices[0] if indices else 0, indices[1:], operands[0]
            kind, operands = self._types.get(type_, (0, []))
        if built_in is not None:
            return [self._built_in(built_in, type_, indices, vertex, variable)]
        location = self.decorated(variable, _LOCATION)
        if kind != 30:
            return None if location is None else [self._place(type_, indices, location, patch, vertex, variable)]
        members = range(len(operands))
        if indices:
            chosen = self.module.value.get(indices[0])
            members = members if chosen is None else range(chosen, chosen + 1)
        found: list[Part] = []
        for member in members:
            number = self._decorated.get((type_, member, _BUILT_IN))
            of_patch = patch or (type_, member, _PATCH) in self._decorated
            if number is not None:
                found.append(self._built_in(number, operands[member], indices[1:], vertex, variable))
                continue
            at = self._decorated.get((type_, member, _LOCATION))
            if at is None and location is not None:
                at = location + sum(map(self._locations, operands[:member]))
            if at is None:
                return None
            found.append(self._place(operands[member], indices[1:], at, of_patch, vertex, variable))
        return found

    def _built_in(self, number: int, type_: int, indices: Sequence[int], vertex: int, variable: int) -> Part:
        kind, operands = self._types.get(type_, (0, []))
        count = self.module.value.get(operands[1], 1) if kind == 28 else 1
        at = self.module.value.get(indices[0]) if kind == 28 and indices else None
        return Part(number, number in LEVELS, 0 if at is None else at, count if at is None else 1, vertex, variable)

    def _place(self, type_: int, indices: Sequence[int], location: int, patch: bool, vertex: int, variable: int) -> Part:
        """Of a user's variable, as far as constants say which element, column or member."""
        for index in indices:
            kind, operands = self._types.get(type_, (0, []))
            at = self.module.value.get(index)
            if kind not in (24, 28, 30) or at is None:
                break
            if kind == 30:
                location, type_ = location + sum(map(self._locations, operands[:at])), operands[at]
            else:
                location, type_ = location + at * self._locations(operands[0]), operands[0]
        return Part(-1, patch, location, self._locations(type_), vertex, variable)

    def _locations(self, type_: int) -> int:
        kind, operands = self._types.get(type_, (0, []))
        if kind == 23:
            return 2 if operands[1] > 2 and self._types.get(operands[0], (0, [0]))[1][0] == 64 else 1
        if kind == 24:
            return self._locations(operands[0]) * operands[1]
        if kind == 28:
            return self._locations(operands[0]) * self.module.value.get(operands[1], 1)
        return sum(map(self._locations, operands)) if kind == 30 else 1

    def is_flat(self, variable: int) -> bool:
        """Whether an input is one vertex's, all of it or a member."""
        type_ = self.module.pointee.get(self.module.type_of.get(variable, 0), 0)
        return any(of in (variable, type_) and decoration == _FLAT for of, _, decoration in self._decorated)

    def declared(self, built_in: int) -> int:
        """Elements of an output that is a built-in array, 1 for others; 0: it is not there."""
        for variable, storage in self.module.storage.items():
            for part in (self.parts(variable, OUTPUT) if storage == OUTPUT else None) or ():
                if part.built_in == built_in:
                    return part.places
        return 0


class Ways:
    """The ways through a function, where loops whose turns are known turn at least once."""

    def __init__(self, module: Module, function: int, wide: Collection[int] = ()) -> None:
        """``wide``: types of whole numbers of 64 bits."""
        blocks = module.functions[function]
        labels = list(blocks)
        self.next: dict[int, list[int]] = {label: _successors(module, blocks[label].instructions, wide) for label in labels}
        self.loops: dict[int, frozenset[int]] = {}  # headers: their blocks
        self.turns: dict[int, int] = {}  # of loops that end in no other way
        #: Of a block and the variable that a loop around it counts with, if the loop ends in no other way.
        self.counters: dict[tuple[int, int], Counter] = {}
        self.first = labels[0] if labels else 0
        self._exits = {label for label in labels if blocks[label].instructions and blocks[label].instructions[-1][0] in _EXITS}
        self._passes: dict[int, bool] = {}
        for header, inside, counter in module.loops(blocks, labels):
            loop = blocks[header].loop
            self.loops[header] = frozenset(inside)
            if counter is None or not counter.turns or loop is None:
                continue
            where = module.condition_block(blocks, header, inside)
            leaves = [label for label in inside if label != where and (label in self._exits or not set(self.next[label]) <= set(inside))]
            if where is None or loop[1] not in self.next:
                continue
            self.next[where] = [label for label in self.next[where] if label in inside]
            self.next[loop[1]] = [*self.next[loop[1]], loop[0]]
            if not leaves:
                self.turns[header] = counter.turns
                self.counters.update({(label, counter.variable): counter for label in inside if label != where})

    def passes(self, label: int) -> bool:
        """Whether no way from the function's begin to an end leaves the block out."""
        if label not in self._passes:
            seen, ahead = {label}, [self.first] if self.first != label else []
            while ahead:
                now = ahead.pop()
                if now not in seen:
                    seen.add(now)
                    ahead += self.next.get(now, [])
            self._passes[label] = seen.isdisjoint(self._exits - {label})
        return self._passes[label]


def _successors(module: Module, instructions: list[Instruction], wide: Collection[int]) -> list[int]:
    op, a = instructions[-1] if instructions else (0, ())
    if op == 249:
        return [a[0]]
    if op == 250:
        return [a[1], a[2]]
    if op == 251:  # a selector, where to go otherwise, numbers of its type and where to go
        words = 2 if module.type_of.get(a[0]) in wide else 1
        return [a[1], *a[2 + words :: 1 + words]]
    return []


@functools.lru_cache(maxsize=32)  # a few hundred kilobytes each
def _uses(spirv: bytes, constants: tuple[tuple[int, int], ...], stage: str) -> Uses:
    return Uses(spirv, dict(constants), stage)


def uses_of(spirv: bytes, constants: Mapping[int, int], stage: str) -> Uses:
    """What a module's entry point does; ``constants``: specialisation by constant_id, as integers."""
    return _uses(bytes(spirv), tuple(sorted(constants.items())), stage)
