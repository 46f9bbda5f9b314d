"""Which instructions of a shader decide its position, or which samples it covers.

In: the blocks of its functions, and what a part is about. Out: the instructions that it needs, by block and place: values by their
operands; what is loaded from a variable by every store that may come before; what happens on a condition by the condition. A call counts
as a whole where its result is needed, or where it may discard. The compiler's own slices (``cpp/src/shader/lower``) go by LLVM's
dead-code elimination, and may be a little smaller.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

Instruction = tuple[int, tuple[int, ...]]
Place = tuple[int, int]  #: label of the block, number in it

_KILLS = {252, 4416, 5380}  # OpKill, OpTerminateInvocation, OpDemoteToHelperInvocation
_POINTERS = {65, 66, 67, 70}  # access chains
#: Stores, what ends blocks, what waits or writes images: their second word is no result.
_NO_RESULT = {62, 63, 99, 218, 219, 220, 221, 224, 225, 228, *range(246, 256)}
_OWN_MEMORY = {6, 7}  # Private, Function: what is loaded was stored by this invocation
_OUTPUT = 3
#: Built-in outputs that a part is about: Position, ClipDistance, CullDistance; SampleMask, FragDepth, FragStencilRefEXT.
_OUTPUTS = {"position": {0, 3, 4}, "coverage": {20, 22, 5014}}
#: Operands that are no ids, from this place on, of instructions that may be needed.
_LITERALS = {12: (2, 4), 79: (4, 1 << 30), 81: (3, 1 << 30), 82: (4, 1 << 30)}


@dataclasses.dataclass(frozen=True)
class Body:
    """A function: ``blocks`` by label, in order; ``merges``: where what a block decides comes together, 0: it decides nothing."""

    blocks: Mapping[int, list[Instruction]]
    merges: Mapping[int, int]

    def successors(self, label: int) -> list[int]:
        """Labels that may follow."""
        op, a = self.blocks[label][-1]
        if op == 249:
            return [a[0]]
        if op == 250:
            return [a[1], a[2]]
        if op == 251:
            return [a[1], *a[3::2]]
        return []

    def reached(self, label: int, barrier: int = 0) -> set[int]:
        """What may run after the block, without passing ``barrier``."""
        found: set[int] = set()
        ahead = self.successors(label)
        while ahead:
            now = ahead.pop()
            if now in found or now == barrier or now not in self.blocks:
                continue
            found.add(now)
            ahead += self.successors(now)
        return found


def needed(
    functions: Mapping[int, Body],
    entry: int,
    part: str,
    storage: Mapping[int, int],
    builtin_of: Callable[[int, int | None], int | None],
) -> set[Place]:
    """Instructions of the entry point that the part (``"position"``, ``"coverage"``) needs. ``storage``: classes of variables;
    ``builtin_of``: BuiltIn of a variable and, of a member, the id of its number."""
    body = functions[entry]
    slicer = _Slicer(body, storage)
    for label, instructions in body.blocks.items():
        for i, (op, a) in enumerate(instructions):
            if part == "coverage" and (op in _KILLS or (op == 57 and _may_kill(functions, a[2], set()))):
                slicer.take(label, i)
            if op == 62:
                variable, member = slicer.root(a[0])
                if storage.get(variable) == _OUTPUT and builtin_of(variable, member) in _OUTPUTS[part]:
                    slicer.take(label, i)
    slicer.run()
    return slicer.kept


def _may_kill(functions: Mapping[int, Body], function: int, seen: set[int]) -> bool:
    if function in seen or function not in functions:
        return False
    seen.add(function)
    return any(
        op in _KILLS or (op == 57 and _may_kill(functions, a[2], seen))
        for instructions in functions[function].blocks.values()
        for op, a in instructions
    )


class _Slicer:
    def __init__(self, body: Body, storage: Mapping[int, int]) -> None:
        self.body, self.storage = body, storage
        self.kept: set[Place] = set()
        self.ahead: list[Place] = []
        self.defined: dict[int, Place] = {}
        self.stores: dict[int, list[Place]] = {}
        self.reach: dict[int, set[int]] = {}
        self.deciders: dict[int, list[int]] = {}  # of a block: those whose branch decides whether it runs
        for label, instructions in body.blocks.items():
            for i, (op, a) in enumerate(instructions):
                if op not in _NO_RESULT and len(a) > 1:
                    self.defined.setdefault(a[1], (label, i))
        for label, instructions in body.blocks.items():
            for i, (op, a) in enumerate(instructions):
                if op in (62, 63):  # OpStore, OpCopyMemory
                    self.stores.setdefault(self.root(a[0])[0], []).append((label, i))
                elif op == 57:  # a call may store through the pointers that it gets
                    for pointer in a[3:]:
                        self.stores.setdefault(self.root(pointer)[0], []).append((label, i))
            if instructions[-1][0] in (250, 251):
                for inside in body.reached(label, body.merges[label]):
                    self.deciders.setdefault(inside, []).append(label)

    def root(self, pointer: int) -> tuple[int, int | None]:
        """The variable that a pointer is of, and the id of the first index into it."""
        member: int | None = None
        for _ in range(64):
            place = self.defined.get(pointer)
            if place is None or pointer in self.storage:
                break
            op, a = self.body.blocks[place[0]][place[1]]
            if op not in _POINTERS:
                break
            member = a[3] if len(a) > 3 else member
            pointer = a[2]
        return pointer, member

    def take(self, label: int, i: int) -> None:
        if (label, i) not in self.kept:
            self.kept.add((label, i))
            self.ahead.append((label, i))

    def _before(self, store: Place, load: Place) -> bool:
        if store[0] == load[0] and store[1] < load[1]:
            return True
        if store[0] not in self.reach:
            self.reach[store[0]] = self.body.reached(store[0])
        return load[0] in self.reach[store[0]]

    def run(self) -> None:
        while self.ahead:
            place = self.ahead.pop()
            label, i = place
            op, a = self.body.blocks[label][i]
            for decider in self.deciders.get(label, ()):
                self.take(decider, len(self.body.blocks[decider]) - 1)
            if op == 61:  # OpLoad
                variable = self.root(a[2])[0]
                if self.storage.get(variable) in _OWN_MEMORY:
                    for store in self.stores.get(variable, ()):
                        if self._before(store, place):
                            self.take(*store)
            if op == 57:
                for pointer in a[3:]:
                    for store in self.stores.get(self.root(pointer)[0], ()):
                        if store != place and self._before(store, place):
                            self.take(*store)
            first, last = _LITERALS.get(op, (1 << 30, 0))
            for k, operand in enumerate(a):
                if not first <= k < last and operand in self.defined:
                    self.take(*self.defined[operand])
