"""Bytes of blocks that a stage may load, and that it may store: as far as constants say where they lie.

In: a module of SPIR-V, its specialisation. Out: ranges of bytes for each (set, binding), from the block's begin on. What is not known is
counted as more: an index that isn't constant is the whole array, a pointer that goes to a function the whole block. For draws that read
what they write themselves (:mod:`tilegpu.pass_hazards`). Source: SPIR-V specification, "Shader Interface", offsets and strides.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from tilegpu.pipeline_rules import Words

Place = tuple[int, int]
Ranges = dict[Place, list[tuple[int, float]]]

_CHAINS = frozenset({65, 66})
_ATOMIC_LOAD, _ATOMIC_STORE, _ATOMICS = 227, 228, frozenset(range(227, 243))
_LOAD, _STORE, _COPY, _COPY_SIZED = 61, 62, 63, 64
#: A call, a copy, chains that step over elements, a selection, what joins branches: where pointers stand among their operands.
_HANDS_ON = {57: 3, 67: 2, 70: 2, 83: 2, 169: 3, 245: 2}
_OFFSET, _MATRIX_STRIDE, _ARRAY_STRIDE, _BINDING, _SET, _SPEC_ID = 35, 7, 6, 33, 34, 1
_BLOCKS = frozenset({2, 12})  # storage classes
_END = float("inf")


class _Blocks:
    """One walk through a module."""

    def __init__(self, spirv: bytes, constants: Mapping[int, int]) -> None:
        self.loads: Ranges = {}
        self.stores: Ranges = {}
        self._constants = constants
        self._types: dict[int, tuple[int, list[int]]] = {}
        self._decorated: dict[tuple[int, int], int] = {}
        self._members: dict[tuple[int, int, int], int] = {}
        self._values: dict[int, int] = {}
        self._variables: dict[int, int] = {}  # of blocks: what they are of
        self._pointers: dict[int, tuple[int, list[int | None]]] = {}
        self._sizes_B: dict[int, float] = {}
        for number, a in Words(spirv).instructions():
            self._declare(number, a)
            self._execute(number, a)

    def _declare(self, number: int, a: list[int]) -> None:
        if 21 <= number <= 32:
            self._types[a[0]] = number, a[1:]
        elif number == 71 and len(a) > 2:
            self._decorated[a[0], a[1]] = a[2]
        elif number == 72 and len(a) > 3:
            self._members[a[0], a[1], a[2]] = a[3]
        elif number == 43:
            self._values[a[1]] = a[2]
        elif number == 50:
            self._values[a[1]] = self._constants.get(self._decorated.get((a[1], _SPEC_ID), -1), a[2])
        elif number == 59 and a[2] in _BLOCKS and a[0] in self._types:
            self._variables[a[1]] = self._types[a[0]][1][1]

    def _execute(self, number: int, a: list[int]) -> None:
        if number in _CHAINS:
            base, before = self._pointers.get(a[2], (a[2], []))
            self._pointers[a[1]] = base, [*before, *map(self._values.get, a[3:])]
        elif number == _LOAD:
            self._note(self.loads, a[2])
        elif number == _STORE:
            self._note(self.stores, a[0])
        elif number in (_COPY, _COPY_SIZED):
            self._note(self.stores, a[0])
            self._note(self.loads, a[1])
        elif number in _ATOMICS:
            if number != _ATOMIC_LOAD:
                self._note(self.stores, a[0] if number == _ATOMIC_STORE else a[2])
            if number == _ATOMIC_LOAD:
                self._note(self.loads, a[2])
        elif number in _HANDS_ON:
            for pointer in a[_HANDS_ON[number] :]:
                base = self._pointers.get(pointer, (pointer, []))[0]
                self._note(self.loads, base)
                self._note(self.stores, base)

    def _note(self, found: Ranges, pointer: int) -> None:
        base, indices = self._pointers.get(pointer, (pointer, []))
        if base in self._variables and (base, _BINDING) in self._decorated:
            place = self._decorated.get((base, _SET), 0), self._decorated[base, _BINDING]
            found.setdefault(place, []).append(self._range(self._variables[base], list(indices)))

    def _range(self, type_: int, indices: list[int | None]) -> tuple[int, float]:
        """Of what indices lead to; of an element of an array of blocks, of any of them."""
        at_B, end_B = 0, self._size_B(type_)
        kind, operands = self._types.get(type_, (0, []))
        if kind in (28, 29) and (type_, _ARRAY_STRIDE) not in self._decorated:
            type_, indices, end_B = operands[0], indices[1:], self._size_B(operands[0])
        for index in indices:
            kind, operands = self._types.get(type_, (0, []))
            if kind == 30 and index is not None and (type_, index, _OFFSET) in self._members:
                at_B += self._members[type_, index, _OFFSET]
                if (type_, index, _MATRIX_STRIDE) in self._members:  # columns or rows, whatever follows
                    return at_B, at_B + self._matrix_B(operands[index], self._members[type_, index, _MATRIX_STRIDE])
                type_ = operands[index]
            elif kind in (28, 29) and index is not None and (type_, _ARRAY_STRIDE) in self._decorated:
                at_B, type_ = at_B + index * self._decorated[type_, _ARRAY_STRIDE], operands[0]
            elif kind == 23 and index is not None:
                at_B, type_ = at_B + int(index * self._size_B(operands[0])), operands[0]
            else:
                return at_B, at_B + self._size_B(type_)
            end_B = at_B + self._size_B(type_)
        return at_B, end_B

    def _matrix_B(self, type_: int, stride_B: int) -> float:
        """At most, of a matrix or an array of some: by columns or by rows."""
        kind, operands = self._types.get(type_, (0, []))
        if kind == 24:
            rows = self._types.get(operands[0], (0, [0, 1]))[1][1]
            return stride_B * max(operands[1], rows)
        return self._size_B(type_)

    def _size_B(self, type_: int) -> float:
        """Each type is looked at once, however often others name it."""
        if (known := self._sizes_B.get(type_)) is None:
            known = self._sizes_B[type_] = self._made_size_B(type_)
        return known

    def _made_size_B(self, type_: int) -> float:
        kind, operands = self._types.get(type_, (0, []))
        if kind in (21, 22):
            return operands[0] // 8
        if kind == 23:
            return self._size_B(operands[0]) * operands[1]
        if kind == 28 and (type_, _ARRAY_STRIDE) in self._decorated and operands[1] in self._values:
            return self._decorated[type_, _ARRAY_STRIDE] * self._values[operands[1]]
        if kind == 30:
            ends: list[float] = [0]
            for member, inner in enumerate(operands):
                stride_B = self._members.get((type_, member, _MATRIX_STRIDE))
                size_B = self._size_B(inner) if stride_B is None else self._matrix_B(inner, stride_B)
                ends.append(self._members.get((type_, member, _OFFSET), 0) + size_B)
            return max(ends)
        return _END


@functools.lru_cache(maxsize=64)
def _ranges(spirv: bytes, constants: tuple[tuple[int, int], ...]) -> tuple[Ranges, Ranges]:
    blocks = _Blocks(spirv, dict(constants))
    return blocks.loads, blocks.stores


def block_bytes(spirv: bytes, constants: Mapping[int, int]) -> tuple[Ranges, Ranges]:
    """What is loaded, and what is stored; ``constants``: specialisation by constant_id, as integers."""
    return _ranges(bytes(spirv), tuple(sorted(constants.items())))
