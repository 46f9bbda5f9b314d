"""What numbers a shader's expressions are once its specialisation constants are given: levels and layers that it asks for.

In: SPIR-V, values of constants by id. Out: numbers; the module again, with the levels of detail of its image instructions as literals,
which is what the core's ``image_reads`` knows. Source: SPIR-V specification, "Constant-Creation Instructions", "Image Instructions".
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tilegpu.pipeline_rules import Words

# SPIR-V's numbers.
_TYPE_INT, _TYPE_FLOAT, _CONSTANT_TRUE, _CONSTANT_FALSE, _CONSTANT = 21, 22, 41, 42, 43
_SPEC_TRUE, _SPEC_FALSE, _SPEC_CONSTANT, _SPEC_OP = 48, 49, 50, 52
_FUNCTION, _FUNCTION_END, _VARIABLE, _LOAD, _STORE, _DECORATE, _SPEC_ID, _COPY, _SELECT = 54, 56, 59, 61, 62, 71, 1, 83, 169
_LABEL, _OF_FUNCTION = 248, 7
_NO_RESULT = frozenset({3, 5, 6, 15, 16, 62, _DECORATE, 72})  # whose second operand is no result
_NAMES = frozenset({5, 6, _DECORATE, 15})
#: Where the mask of image operands stands, of those that have a level of detail; the level stands behind it.
_MASKS, _LOD = {88: 4, 92: 4, 90: 5, 94: 5, 95: 4}, 2
_MOST_STEPS = 64  # of an expression

_MASK = 0xFFFFFFFF


def _signed(bits: int) -> int:
    return bits - (1 << 32) if bits & 0x80000000 else bits


def _float(bits: int) -> np.float32:
    return np.uint32(bits).view(np.float32)


def _bits(value: Any) -> int:
    return int(np.float32(value).view(np.uint32))


def _integers(function: Callable[[int, int], int], signed: bool = False) -> Callable[[int, int], int]:
    return lambda a, b: int(function(_signed(a), _signed(b)) if signed else function(a, b)) & _MASK


def _floats(function: Callable[[Any, Any], Any]) -> Callable[[int, int], int]:
    return lambda a, b: _bits(function(_float(a), _float(b)))


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


#: Of one operand and of two, bits to bits; what divides by 0 is no number.
_UNARY: dict[int, Callable[[int], int]] = {
    109: lambda a: int(_float(a)) & _MASK,
    110: lambda a: int(_float(a)) & _MASK,
    111: lambda a: _bits(_signed(a)),
    112: _bits,
    124: lambda a: a,
    126: lambda a: -a & _MASK,
    127: lambda a: a ^ 0x80000000,
}
_BINARY: dict[int, Callable[[int, int], int]] = {
    128: _integers(operator.add), 130: _integers(operator.sub), 132: _integers(operator.mul),
    129: _floats(operator.add), 131: _floats(operator.sub), 133: _floats(operator.mul), 136: _floats(operator.truediv),
    134: _integers(operator.floordiv), 137: _integers(operator.mod), 135: _integers(_quotient, True),
    170: _integers(operator.eq), 171: _integers(operator.ne), 172: _integers(operator.gt), 173: _integers(operator.gt, True),
    176: _integers(operator.lt), 177: _integers(operator.lt, True), 197: _integers(operator.or_), 199: _integers(operator.and_),
}  # fmt: skip


class Numbers:
    """Of a module, with the values of its specialisation constants: (id, bits)."""

    def __init__(self, spirv: bytes, values: tuple[tuple[int, int], ...]) -> None:
        self.instructions = list(Words(spirv).instructions())
        self.made_by = {a[1]: (op, a) for op, a in self.instructions if len(a) > 1 and op not in _NO_RESULT}
        self.types = {a[0]: (op, a) for op, a in self.instructions if 19 <= op <= 33}
        given = dict(values)
        self._given = {a[0]: given[a[2]] for op, a in self.instructions if op == _DECORATE and a[1] == _SPEC_ID and a[2] in given}
        self._stored = self._stored_once()

    def _stored_once(self) -> dict[int, int]:
        """Variables of functions that one line sets, before any branch, and nothing but loads uses: to what."""
        first_block, labels = False, 0
        stored: dict[int, int] = {}
        variables: set[int] = set()
        others: set[int] = set()
        for op, a in self.instructions:
            if op == _FUNCTION:
                first_block, labels = True, 0
            elif op == _LABEL:
                labels += 1
                first_block = labels == 1
            if op == _VARIABLE and a[2] == _OF_FUNCTION:
                variables.add(a[1])
                others.update(a[1:2] if len(a) > 3 else ())
            elif op == _STORE:
                if a[0] in stored or not first_block:
                    others.add(a[0])
                stored[a[0]] = a[1]
                others.add(a[1])
            elif op == _LOAD:
                others.update(() if a[2] in stored else a[2:3])  # before it is set
            elif op not in _NAMES:
                others.update(a)
        return {variable: value for variable, value in stored.items() if variable in variables - others}

    def source(self, number: int) -> tuple[int, list[int]]:
        """The instruction that makes a value, behind variables that hold it."""
        op, a = self.made_by.get(number, (0, []))
        for _ in range(_MOST_STEPS):
            if op == _COPY:
                op, a = self.made_by.get(a[2], (0, []))
            elif op == _LOAD and a[2] in self._stored:
                op, a = self.made_by.get(self._stored[a[2]], (0, []))
            else:
                return op, a
        return 0, []

    def bits(self, number: int, steps: int = _MOST_STEPS) -> int | None:
        """Of a scalar of 32 bits, or of a truth value; ``None``: known at run time only."""
        op, a = self.source(number)
        if steps <= 0:
            return None
        if op in (_CONSTANT_TRUE, _CONSTANT_FALSE):
            return int(op == _CONSTANT_TRUE)
        if op in (_SPEC_TRUE, _SPEC_FALSE):
            return int(bool(self._given.get(a[1], op == _SPEC_TRUE)))
        if op in (_CONSTANT, _SPEC_CONSTANT):
            return None if len(a) != 3 else self._given.get(a[1], a[2]) & _MASK
        if op == _SPEC_OP:
            op, a = a[2], [*a[:2], *a[3:]]
        kind, words = self.types.get(a[0], (0, [])) if a else (0, [])
        if kind in (_TYPE_INT, _TYPE_FLOAT) and words[1] != 32:
            return None
        if op == _SELECT and (chosen := self.bits(a[2], steps - 1)) is not None:
            return self.bits(a[3] if chosen else a[4], steps - 1)
        function: Callable[..., int] | None = _UNARY.get(op) if len(a) == 3 else _BINARY.get(op) if len(a) == 4 else None
        operands = [] if function is None else [self.bits(operand, steps - 1) for operand in a[2:]]
        if function is None or None in operands:
            return None
        try:
            with np.errstate(all="ignore"):
                return function(*operands)
        except (ArithmeticError, ValueError):
            return None

    def number(self, number: int) -> float | int | None:
        """The same as a float, or a signed number."""
        bits = self.bits(number)
        if bits is None:
            return None
        kind, words = self.types.get(self.source(number)[1][0], (0, [0, 0]))
        if kind not in (_TYPE_INT, _TYPE_FLOAT) or words[1] != 32:
            return None
        return float(_float(bits)) if kind == _TYPE_FLOAT else _signed(bits)


@functools.lru_cache(maxsize=64)
def with_levels(spirv: bytes, values: tuple[tuple[int, int], ...]) -> bytes | None:
    """The module with levels of detail that are numbers as constants; ``None``: it has none that were none before."""
    numbers = Numbers(spirv, values)
    words = np.frombuffer(spirv, np.uint32).tolist()
    made: list[int] = []
    at, first_function = 5, 0
    for op, a in numbers.instructions:
        if op == _FUNCTION and not first_function:
            first_function = at
        mask = _MASKS.get(op, 0)
        if mask and len(a) > mask + 1 and a[mask] & _LOD and not a[mask] & 1:
            made_by, from_ = numbers.made_by.get(a[mask + 1], (0, []))
            bits = numbers.bits(a[mask + 1]) if made_by and made_by != _CONSTANT else None
            if bits is not None:
                words[at + 2 + mask] = words[3]
                made += [4 << 16 | _CONSTANT, from_[0], words[3], bits]
                words[3] += 1
        at += len(a) + 1
    if not made:
        return None
    return np.array([*words[:first_function], *made, *words[first_function:]], np.uint32).tobytes()
