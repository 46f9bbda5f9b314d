"""Atomic operations, one invocation after the other.

In: an OpAtomic*, the values of ids. Out: what was there before; memory is changed.
Source: SPIR-V specification 1.6, section 3.32.18 "Atomic Instructions"; SPV_EXT_shader_atomic_float_add, _min_max. A minimum leaves NaN
out and takes -0 for less than 0 (docs/undefined.md).
"""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.shaders import images, memory, numbers
from tests.oracle.shaders.module import Module, Value
from tests.oracle.shaders.numbers import mask, signed
from tests.oracle.shaders.words import Instruction


def _order(x: int, bits: int) -> int:
    """Of floats, as integers: -0 before 0."""
    return -numbers.absolute(x, bits) - 1 if x >> bits - 1 else x


def _float_extreme(old: int, x: int, bits: int, least: bool) -> int:
    if numbers.is_nan(x, bits):
        return old
    if numbers.is_nan(old, bits):
        return x
    smaller = _order(x, bits) < _order(old, bits)
    return x if smaller == least and _order(x, bits) != _order(old, bits) else old


#: What is stored, of what was there and the operand.
_CHANGES: dict[str, Callable[[int, int, int], int]] = {
    "OpAtomicExchange": lambda old, x, n: x,
    "OpAtomicStore": lambda old, x, n: x,
    "OpAtomicIAdd": lambda old, x, n: old + x,
    "OpAtomicISub": lambda old, x, n: old - x,
    "OpAtomicSMin": lambda old, x, n: min(signed(old, n), signed(x, n)),
    "OpAtomicUMin": lambda old, x, n: min(old, x),
    "OpAtomicSMax": lambda old, x, n: max(signed(old, n), signed(x, n)),
    "OpAtomicUMax": lambda old, x, n: max(old, x),
    "OpAtomicAnd": lambda old, x, n: old & x,
    "OpAtomicOr": lambda old, x, n: old | x,
    "OpAtomicXor": lambda old, x, n: old ^ x,
    "OpAtomicFAddEXT": lambda old, x, n: numbers.add(old, x, n),
    "OpAtomicFMinEXT": lambda old, x, n: _float_extreme(old, x, n, True),
    "OpAtomicFMaxEXT": lambda old, x, n: _float_extreme(old, x, n, False),
}
NAMES = {*_CHANGES, "OpAtomicLoad", "OpAtomicIIncrement", "OpAtomicIDecrement", "OpAtomicCompareExchange"}


def execute(m: Module, i: Instruction, values: dict[int, Value]) -> Value:
    """What was there; None for a store."""
    pointer = values[i.operands[0]]
    bits = m.types[pointer.type].bits
    if isinstance(pointer, images.TexelPointer):
        old = pointer.load()
    elif isinstance(pointer, memory.BufferPointer) and pointer.offset_B + bits // 8 > pointer.buffer.size_B:
        return 0
    else:
        old = memory.load(m, pointer)
    if i.op == "OpAtomicLoad":
        return old
    if i.op == "OpAtomicIIncrement":
        new = old + 1
    elif i.op == "OpAtomicIDecrement":
        new = old - 1
    elif i.op == "OpAtomicCompareExchange":
        new = values[i.operands[4]] if old == values[i.operands[5]] else old
    else:
        new = _CHANGES[i.op](old, values[i.operands[3]], bits)
    if isinstance(pointer, images.TexelPointer):
        pointer.store(new & mask(bits))
    elif isinstance(pointer, memory.BufferPointer):  # a word: of a NaN that is moved all bits stay
        at = pointer.offset_B
        pointer.buffer.data[at : at + bits // 8] = numbers.word_bytes(new & mask(bits), bits)
    else:
        memory.store(m, pointer, new & mask(bits), whole_words=True)
    return None if i.op == "OpAtomicStore" else old
