"""Operations that an invocation of a shader executes, counted in its SPIR-V as Arm's table counts them: arithmetic, and texture.

An arithmetic instruction on n components counts n; a dot product of n components 2n - 1, a product with a matrix one dot product for each
component of the result, a function of GLSL.std.450 one for each component of its result. Comparisons, conversions, selections and
derivatives are arithmetic; loads, stores, access chains, composites and branches are not. Each sample, fetch, gather or image read
is one texture operation.

Functions count at each call. A loop whose counter runs between constants counts as often as it runs. What only some invocations do is
counted as if all did: of a selection both sides, of any other loop one turn; ``exact`` is then False. Blending, tests and the
interpolation of inputs are fixed functions, and not counted.

A shader may be counted in part (:data:`PARTS`): of a vertex shader what its position needs, of a fragment shader what is executed up to
known coverage, so far as :mod:`tilegpu.shader_slices` follows it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from tilegpu.shader_slices import Body, needed

#: What may be counted of a shader: all of it, what its position needs, what decides which samples it covers and at which depth.
PARTS = ("all", "position", "coverage")

_ARITHMETIC = {
    *range(109, 125),  # conversions and bit casts
    *range(126, 153),  # arithmetic, extended multiplication
    *range(154, 192),  # any, all, tests, comparisons, logic, select
    *range(194, 206),  # shifts, bits
    *range(207, 216),  # derivatives
}
_TEXTURE = {*range(87, 99)}
_ROW_BY_ROW = {144, 145, 146}  # vector times matrix, ...
_DOT = 148
_MAGIC = 0x07230203


@dataclasses.dataclass(frozen=True)
class Operations:
    """Of one invocation."""

    arithmetic: int = 0
    texture: int = 0
    exact: bool = True

    def __add__(self, other: Operations) -> Operations:
        return Operations(self.arithmetic + other.arithmetic, self.texture + other.texture, self.exact and other.exact)

    def __mul__(self, times: int) -> Operations:
        return Operations(self.arithmetic * times, self.texture * times, self.exact)


@dataclasses.dataclass
class _Block:
    instructions: list[tuple[int, tuple[int, ...]]]
    loop: tuple[int, int] | None = None  # labels: after the loop, continue target
    merge: int = 0  # label where what it decides comes together


class Counter(NamedTuple):
    """Of a loop whose turns are known."""

    variable: int
    start: int
    step: int
    turns: int


class Module:
    """The functions of a module, as far as counting asks."""

    def __init__(self, spirv: bytes, constants: Mapping[int, int]) -> None:
        words = np.frombuffer(spirv, "<u4").tolist()
        if len(words) < 5 or words[0] != _MAGIC:
            raise ValueError("no SPIR-V module")
        self.width: dict[int, int] = {}  # components of a type
        self.columns: dict[int, int] = {}  # of a matrix
        self.type_of: dict[int, int] = {}
        self.value: dict[int, int] = {}  # of integer constants
        self.functions: dict[int, dict[int, _Block]] = {}
        self.entry = 0
        self.storage: dict[int, int] = {}  # of variables
        self.builtins: dict[tuple[int, int], int] = {}  # of a variable, -1; of a member of a type
        self.pointee: dict[int, int] = {}
        spec_ids: dict[int, int] = {}
        blocks: dict[int, _Block] = {}
        block: _Block | None = None
        at = 5
        while at < len(words):
            length, op = words[at] >> 16, words[at] & 0xFFFF
            if not length:
                raise ValueError("an instruction of no words")
            a = tuple(words[at + 1 : at + length])
            at += length
            if op == 15:
                self.entry = a[1]
            elif op == 71 and a[1] == 1:
                spec_ids[a[0]] = a[2]
            elif op == 71 and a[1] == 11:
                self.builtins[a[0], -1] = a[2]
            elif op == 72 and a[2] == 11:
                self.builtins[a[0], a[1]] = a[3]
            elif op == 32:
                self.pointee[a[0]] = a[2]
            elif op in (20, 21, 22):
                self.width[a[0]] = 1
            elif op in (23, 24):
                self.width[a[0]] = self.width[a[1]] * a[2]
                if op == 24:
                    self.columns[a[0]] = a[2]
            elif op in (43, 50):
                self.type_of[a[1]] = a[0]
                self.value[a[1]] = constants.get(spec_ids[a[1]], a[2]) if op == 50 and a[1] in spec_ids else a[2]
            elif op == 59 and block is None:
                self.storage[a[1]] = a[2]
                self.type_of[a[1]] = a[0]
            elif op == 54:
                blocks = self.functions.setdefault(a[1], {})
            elif op == 248:
                block = blocks[a[0]] = _Block([])
            elif block is not None:
                if op == 246:
                    block.loop = (a[0], a[1])
                if op in (246, 247):
                    block.merge = a[0]
                block.instructions.append((op, a))
                if len(a) > 1 and a[0] in self.width:
                    self.type_of[a[1]] = a[0]
                if op == 59:
                    self.storage[a[1]] = a[2]
                    self.type_of[a[1]] = a[0]
                if op in (249, 250, 251, 252, 253, 254, 255):
                    block = None

    def of_instruction(self, op: int, a: tuple[int, ...]) -> Operations:
        """Of one, by its number and operands; of a call, what is called."""
        if op == 57:
            return self.of_function(a[2])
        if op in _TEXTURE:
            return Operations(texture=1)
        if op == 12 or op in _ARITHMETIC:
            width = self.width.get(a[0], 1)
            if op == _DOT or op in _ROW_BY_ROW:
                left = self.type_of.get(a[2], 0)
                inner = self.width.get(left, 1)
                if op != _DOT and op != 144:
                    inner = self.columns.get(left, 1)
                return Operations(width * (2 * inner - 1))
            return Operations(width)
        return Operations()

    def of_part(self, part: str) -> Operations:
        """Of the entry point; see :data:`PARTS`."""
        if part == "all":
            return self.of_function(self.entry)
        bodies = {f: Body({label: b.instructions for label, b in blocks.items()}, {label: b.merge for label, b in blocks.items()})
                  for f, blocks in self.functions.items()}  # fmt: skip
        kept = needed(bodies, self.entry, part, self.storage, self._builtin_of)
        return self.of_function(self.entry, kept) if kept else Operations()

    def _builtin_of(self, variable: int, member: int | None) -> int | None:
        """The BuiltIn that a variable is, or a member of it, by the id of the constant that picks it."""
        if (variable, -1) in self.builtins:
            return self.builtins[variable, -1]
        if member is None:
            return None
        return self.builtins.get((self.pointee.get(self.type_of.get(variable, 0), 0), self.value.get(member, -1)))

    def of_function(self, function: int, kept: Collection[tuple[int, int]] | None = None) -> Operations:
        """``kept``: of its instructions those that count, by block and place."""
        blocks = self.functions[function]
        labels = list(blocks)
        total = Operations()
        times = self.times(blocks)
        for label in labels:
            block = blocks[label]
            chosen = [i for i in range(len(block.instructions)) if kept is None or (label, i) in kept]
            for i in chosen:
                total += self.of_instruction(*block.instructions[i]) * times[label][0]
            if not chosen:
                continue
            total += Operations(exact=times[label][1])
            if any(op in (250, 251) for op, _ in block.instructions) and not self._decides_counted_loop(blocks, label):
                total += Operations(exact=False)
        return total

    def loops(self, blocks: dict[int, _Block], labels: list[int]) -> Iterable[tuple[int, list[int], Counter | None]]:
        """Header, blocks from there up to the merge block (in SPIR-V's order they lie between), what counts its turns."""
        for i, header in enumerate(labels):
            loop = blocks[header].loop
            if loop is not None:
                end = labels.index(loop[0]) if loop[0] in labels else len(labels)
                inside = labels[i:end]
                yield header, inside, self._counter(blocks, labels[:i], inside, loop[1])

    def times(self, blocks: dict[int, _Block]) -> dict[int, tuple[int, bool]]:
        """How often each block of a function runs, as far as that is known."""
        labels = list(blocks)
        times = dict.fromkeys(labels, (1, True))
        for _, inside, counter in self.loops(blocks, labels):
            for label in inside:
                count, exact = times[label]
                # The header's test runs once more; not worth a count of its own.
                times[label] = (count * (1 if counter is None else counter.turns), exact and counter is not None)
        return times

    def _decides_counted_loop(self, blocks: dict[int, _Block], label: int) -> bool:
        labels = list(blocks)
        for header, inside, counter in self.loops(blocks, labels):
            if counter is not None and label == self.condition_block(blocks, header, inside):
                return True
        return False

    def condition_block(self, blocks: dict[int, _Block], header: int, inside: list[int]) -> int | None:
        """The first block that branches on a condition and is reached without one."""
        label: int | None = header
        for _ in inside:
            if label is None:
                return None
            op, a = blocks[label].instructions[-1]
            if op == 250:
                return label
            label = a[0] if op == 249 and a[0] in inside else None
        return None

    def _counter(self, blocks: dict[int, _Block], before: list[int], inside: list[int], step_label: int) -> Counter | None:
        """Of ``for (int i = constant; i < constant; i += constant)``; None where it is not that."""
        where = self.condition_block(blocks, inside[0], inside)
        if where is None:
            return None
        defined = {a[1]: (op, a) for op, a in blocks[where].instructions if len(a) > 2}
        compare = defined.get(blocks[where].instructions[-1][1][0])
        if compare is None or compare[0] not in (176, 177, 178, 179):  # u, s <; u, s <=
            return None
        load, limit = defined.get(compare[1][2]), self.value.get(compare[1][3])
        if load is None or load[0] != 61 or limit is None:
            return None
        counter = load[1][2]
        stores = [
            (label, a[1])
            for label in (*before, *inside)
            for op, a in blocks[label].instructions
            if op == 62 and a[0] == counter
        ]
        first = [value for label, value in stores if label in before]
        steps = [(label, value) for label, value in stores if label in inside]
        if not first or self.value.get(first[-1]) is None or len(steps) != 1 or step_label != steps[0][0]:
            return None
        added = {a[1]: (op, a) for op, a in blocks[step_label].instructions if len(a) > 2}.get(steps[0][1])
        if added is None or added[0] != 128:
            return None
        step = self.value.get(added[1][3], self.value.get(added[1][2]))
        start = self.value[first[-1]]
        if not step:
            return None
        if compare[0] in (177, 179):
            start, limit, step = map(_signed, (start, limit, step))
        if step < 0:
            return None
        inclusive = 1 if compare[0] in (178, 179) else 0
        # A branch out of the middle makes it fewer; it shows as a condition of its own.
        return Counter(counter, start, step, max(0, -(-(limit + inclusive - start) // step)))


def _signed(word: int) -> int:
    return word - 2**32 if word >= 2**31 else word


@functools.lru_cache(maxsize=256)
def _count(spirv: bytes, constants: tuple[tuple[int, int], ...], part: str) -> Operations:
    return Module(spirv, dict(constants)).of_part(part)


def count(spirv: bytes, constants: Mapping[int, int] | None = None, part: str = "all") -> Operations:
    """Operations of one invocation of the module's entry point; ``constants``: specialisation by constant_id, as integers; ``part``: one
    of :data:`PARTS`.

    Raises :class:`ValueError` for what is no SPIR-V, and for another part."""
    if part not in PARTS:
        raise ValueError(f"part is {part!r}; it must be one of {', '.join(PARTS)}")
    return _count(bytes(spirv), tuple(sorted((constants or {}).items())), part)
