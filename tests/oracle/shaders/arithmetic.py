"""Conversions, arithmetic, bits, comparisons, composites: instructions whose result is a function of their operands' values.

In: a module, an instruction, its operands' values. Out: the result. Halves are computed as floats of 32 bits and rounded once, at the
end of each instruction. Divisions by zero, large shifts and their kind: docs/undefined.md; sums of products are chains of fused
multiply-adds, first term first (there as well).
Source: SPIR-V specification 1.6, sections 3.32.11 "Conversion" to 3.32.15 "Relational and Logical", 3.32.12 "Composite".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle.shaders import numbers
from tests.oracle.shaders.memory import inserted
from tests.oracle.shaders.module import Module, Value
from tests.oracle.shaders.numbers import mask, signed
from tests.oracle.shaders.words import Instruction

Values = list[Value]
#: By instruction: what it gives.
TABLE: dict[str, Callable[[Module, Instruction, Values], Value]] = {}


def each(f: Callable[..., Value], *values: Value) -> Value:
    """f of scalars, or of each component of vectors and of columns of matrices."""
    if isinstance(values[0], tuple):
        return tuple(each(f, *parts) for parts in zip(*values, strict=True))
    return f(*values)


def work_bits(bits: int) -> int:
    """What a float is computed in."""
    return max(bits, 32)


def widened(value: Value, bits: int) -> Value:
    """Halves as floats of 32 bits, everything else as it is."""
    return each(lambda x: numbers.convert(x, 16, 32), value) if bits == 16 else value


def rounded(value: Value, bits: int) -> Value:
    """Back."""
    return each(lambda x: numbers.convert(x, 32, 16), value) if bits == 16 else value


# -- scalar by scalar


def _floats(f: Callable[..., int]) -> Callable[[Module, Instruction, Values], Value]:
    """f(patterns..., bits)."""

    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = m.scalar(i.type).bits
        wide = [widened(x, bits) for x in v]
        return rounded(each(lambda *x: f(*x, work_bits(bits)), *wide), bits)

    return run


def _integers(f: Callable[..., int]) -> Callable[[Module, Instruction, Values], Value]:
    """f(patterns..., bits) modulo 2^bits; bits of the first operand."""

    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = m.scalar(m.type_of[i.operands[0]]).bits
        return each(lambda *x: f(*x, bits) & mask(bits), *v)

    return run


def _logical(f: Callable[..., int]) -> Callable[[Module, Instruction, Values], Value]:
    return lambda m, i, v: each(lambda *x: int(f(*x)), *v)


def _compare_integers(f: Callable[[int, int], bool], is_signed: bool) -> Callable[[Module, Instruction, Values], Value]:
    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = m.scalar(m.type_of[i.operands[0]]).bits
        if is_signed:
            return each(lambda a, b: int(f(signed(a, bits), signed(b, bits))), *v)
        return each(lambda a, b: int(f(a, b)), *v)

    return run


def _compare_floats(
    f: Callable[[float, float], bool], unordered: bool
) -> Callable[[Module, Instruction, Values], Value]:
    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = m.scalar(m.type_of[i.operands[0]]).bits

        def one(a: int, b: int) -> int:
            x, y = numbers.decode(a, bits), numbers.decode(b, bits)
            return int(unordered if x != x or y != y else f(x, y))

        return each(one, *v)

    return run


def _quotient(a: int, b: int, bits: int) -> int:
    """Towards zero; by zero 0."""
    x, y = signed(a, bits), signed(b, bits)
    if y == 0:
        return 0
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _remainder(a: int, b: int, bits: int) -> int:
    """With the first operand's sign; by zero 0."""
    return signed(a, bits) - _quotient(a, b, bits) * signed(b, bits) if b else 0


def _modulo(a: int, b: int, bits: int) -> int:
    """With the second operand's sign; by zero 0."""
    return signed(a, bits) % signed(b, bits) if b else 0


def _float_remainder(a: int, b: int, bits: int, whole: Callable[[int, int], int]) -> int:
    """x - y * whole(x / y), each step rounded, the last two together."""
    return numbers.fma(numbers.neg(whole(numbers.div(a, b, bits), bits), bits), b, a, bits)


def _reverse(x: int, bits: int) -> int:
    return int(f"{x:0{bits}b}"[::-1], 2)


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "Equal": lambda a, b: a == b,
    "NotEqual": lambda a, b: a != b,
    "LessThan": lambda a, b: a < b,
    "GreaterThan": lambda a, b: a > b,
    "LessThanEqual": lambda a, b: a <= b,
    "GreaterThanEqual": lambda a, b: a >= b,
}
for _name, _f in _COMPARISONS.items():
    TABLE[f"OpFOrd{_name}"], TABLE[f"OpFUnord{_name}"] = _compare_floats(_f, False), _compare_floats(_f, True)
    if _name in ("Equal", "NotEqual"):
        TABLE[f"OpI{_name}"] = _compare_integers(_f, False)
        TABLE[f"OpLogical{_name}"] = _logical(_f)
    else:
        TABLE[f"OpS{_name}"], TABLE[f"OpU{_name}"] = _compare_integers(_f, True), _compare_integers(_f, False)

TABLE.update(
    {
        "OpFNegate": lambda m, i, v: each(lambda x: numbers.neg(x, m.scalar(i.type).bits), v[0]),
        "OpFAdd": _floats(numbers.add),
        "OpFSub": _floats(numbers.sub),
        "OpFMul": _floats(numbers.mul),
        "OpFDiv": _floats(numbers.div),
        "OpFRem": _floats(lambda a, b, n: _float_remainder(a, b, n, numbers.trunc)),
        "OpFMod": _floats(lambda a, b, n: _float_remainder(a, b, n, numbers.floor)),
        "OpSNegate": _integers(lambda a, n: -a),
        "OpIAdd": _integers(lambda a, b, n: a + b),
        "OpISub": _integers(lambda a, b, n: a - b),
        "OpIMul": _integers(lambda a, b, n: a * b),
        "OpUDiv": _integers(lambda a, b, n: a // b if b else 0),
        "OpUMod": _integers(lambda a, b, n: a % b if b else 0),
        "OpSDiv": _integers(_quotient),
        "OpSRem": _integers(_remainder),
        "OpSMod": _integers(_modulo),
        "OpNot": _integers(lambda a, n: ~a),
        "OpBitwiseAnd": _integers(lambda a, b, n: a & b),
        "OpBitwiseOr": _integers(lambda a, b, n: a | b),
        "OpBitwiseXor": _integers(lambda a, b, n: a ^ b),
        "OpShiftLeftLogical": _integers(lambda a, b, n: a << b % n),
        "OpShiftRightLogical": _integers(lambda a, b, n: a >> b % n),
        "OpShiftRightArithmetic": _integers(lambda a, b, n: signed(a, n) >> b % n),
        "OpBitReverse": _integers(_reverse),
        "OpLogicalNot": _logical(lambda a: not a),
        "OpLogicalAnd": _logical(lambda a, b: a and b),
        "OpLogicalOr": _logical(lambda a, b: a or b),
        "OpAny": lambda m, i, v: int(any(v[0])),
        "OpAll": lambda m, i, v: int(all(v[0])),
        "OpQuantizeToF16": lambda m, i, v: each(numbers.quantize, v[0]),
    }
)


def _bit_count(m: Module, i: Instruction, v: Values) -> Value:
    return each(lambda x: x.bit_count() & mask(m.scalar(i.type).bits), v[0])


def _is_nan(m: Module, i: Instruction, v: Values) -> Value:
    bits = m.scalar(m.type_of[i.operands[0]]).bits
    return each(lambda x: int(numbers.is_nan(x, bits)), v[0])


def _is_infinite(m: Module, i: Instruction, v: Values) -> Value:
    bits = m.scalar(m.type_of[i.operands[0]]).bits
    return each(lambda x: int(numbers.absolute(x, bits) == numbers.INFINITY[bits]), v[0])


def _in_two(f: Callable[[int, int, int], tuple[int, int]]) -> Callable[[Module, Instruction, Values], Value]:
    """A structure of two results."""

    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = m.scalar(m.type_of[i.operands[0]]).bits
        scalar = not isinstance(v[0], tuple)
        pairs = [f(a, b, bits) for a, b in zip(*(((x,) if scalar else x) for x in v), strict=True)]
        low, high = (tuple(pair[k] & mask(bits) for pair in pairs) for k in (0, 1))
        return (low[0], high[0]) if scalar else (low, high)

    return run


def _bit_field(m: Module, i: Instruction, v: Values) -> Value:
    """Bits from ``offset`` modulo the width on; as many as there are of ``count``; beyond the last are zeros."""
    bits = m.scalar(i.type).bits
    offset, count = v[-2] % bits, min(v[-1], bits)
    ones = mask(count)
    if i.op == "OpBitFieldInsert":
        place = ones << offset & mask(bits)
        return each(lambda base, x: base & ~place & mask(bits) | x << offset & place, v[0], v[1])

    def extract(x: int) -> int:
        field = x >> offset & ones
        return signed(field, count) & mask(bits) if i.op == "OpBitFieldSExtract" and count else field

    return each(extract, v[0])


def bits_of(m: Module, type_: int, value: Value) -> tuple[int, int]:
    """All bits of a scalar or vector, the first component lowest, and how many there are. The one NaN is positive."""
    scalar = m.scalar(type_)
    bits = scalar.bits
    parts = value if isinstance(value, tuple) else (value,)
    if scalar.kind == "float":
        one = (numbers.NAN[bits], numbers.neg(numbers.NAN[bits], bits))
        parts = tuple(one[0] if x == one[1] or (bits == 16 and numbers.is_nan(x, 16)) else x for x in parts)
    return sum(x << bits * k for k, x in enumerate(parts)), bits * len(parts)


def _bitcast(m: Module, i: Instruction, v: Values) -> Value:
    t = m.types[i.type]
    if t.kind == "pointer":
        return v[0]
    all_bits, _ = bits_of(m, m.type_of[i.operands[0]], v[0])
    own = m.scalar(i.type).bits
    parts = tuple(all_bits >> own * k & mask(own) for k in range(t.count or 1))
    return parts if t.kind == "vector" else parts[0]


def _to_integer(is_signed: bool) -> Callable[[Module, Instruction, Values], Value]:
    def run(m: Module, i: Instruction, v: Values) -> Value:
        of, to = m.scalar(m.type_of[i.operands[0]]).bits, m.scalar(i.type).bits
        return each(lambda x: numbers.to_integer(x, of, to, is_signed), v[0])

    return run


def _from_integer(is_signed: bool) -> Callable[[Module, Instruction, Values], Value]:
    def run(m: Module, i: Instruction, v: Values) -> Value:
        of, to = m.scalar(m.type_of[i.operands[0]]).bits, m.scalar(i.type).bits
        return each(lambda x: numbers.from_integer(signed(x, of) if is_signed else x, to), v[0])

    return run


def _resize(is_signed: bool) -> Callable[[Module, Instruction, Values], Value]:
    def run(m: Module, i: Instruction, v: Values) -> Value:
        of, to = m.scalar(m.type_of[i.operands[0]]).bits, m.scalar(i.type).bits
        return each(lambda x: (signed(x, of) if is_signed else x) & mask(to), v[0])

    return run


def _convert_float(m: Module, i: Instruction, v: Values) -> Value:
    of, to = m.scalar(m.type_of[i.operands[0]]).bits, m.scalar(i.type).bits
    mode = m.decoration(i.result, "FPRoundingMode")
    f = numbers.convert_towards_zero if mode == [1] else numbers.convert
    return each(lambda x: f(x, of, to), v[0])


def _select(m: Module, i: Instruction, v: Values) -> Value:
    if isinstance(v[0], tuple):
        return tuple(a if c else b for c, a, b in zip(*v, strict=True))
    return v[1] if v[0] else v[2]


TABLE.update(
    {
        "OpBitCount": _bit_count,
        "OpIsNan": _is_nan,
        "OpIsInf": _is_infinite,
        "OpIAddCarry": _in_two(lambda a, b, n: (a + b, a + b >> n)),
        "OpISubBorrow": _in_two(lambda a, b, n: (a - b, int(a < b))),
        "OpUMulExtended": _in_two(lambda a, b, n: (a * b, a * b >> n)),
        "OpSMulExtended": _in_two(lambda a, b, n: (signed(a, n) * signed(b, n), signed(a, n) * signed(b, n) >> n)),
        "OpBitFieldInsert": _bit_field,
        "OpBitFieldSExtract": _bit_field,
        "OpBitFieldUExtract": _bit_field,
        "OpBitcast": _bitcast,
        "OpConvertFToS": _to_integer(True),
        "OpConvertFToU": _to_integer(False),
        "OpConvertSToF": _from_integer(True),
        "OpConvertUToF": _from_integer(False),
        "OpSConvert": _resize(True),
        "OpUConvert": _resize(False),
        "OpFConvert": _convert_float,
        "OpSelect": _select,
        "OpCopyObject": lambda m, i, v: v[0],
        "OpCopyLogical": lambda m, i, v: v[0],
        "OpExpectKHR": lambda m, i, v: v[0],
        "OpUndef": lambda m, i, v: m.zero(i.type),
    }
)


# -- sums of products


def dot(a: Value, b: Value, bits: int) -> int:
    """The first product rounded, each further one fused with the sum; of floats of ``bits`` >= 32."""
    total = numbers.mul(a[0], b[0], bits)
    for x, y in zip(a[1:], b[1:], strict=True):
        total = numbers.fma(x, y, total, bits)
    return total


def transposed(matrix: Value) -> Value:
    """Columns as rows."""
    return tuple(zip(*matrix, strict=True))


def _product(m: Module, i: Instruction, v: Values) -> Value:
    bits = m.scalar(i.type).bits
    n = work_bits(bits)
    a, b = (widened(x, bits) for x in v)
    if i.op == "OpDot":
        out: Value = dot(a, b, n)
    elif i.op in ("OpVectorTimesScalar", "OpMatrixTimesScalar"):
        out = each(lambda x: numbers.mul(x, b, n), a)
    elif i.op == "OpMatrixTimesVector":
        out = tuple(dot(row, b, n) for row in transposed(a))
    elif i.op == "OpVectorTimesMatrix":
        out = tuple(dot(a, column, n) for column in b)
    elif i.op == "OpMatrixTimesMatrix":
        out = tuple(tuple(dot(row, column, n) for row in transposed(a)) for column in b)
    else:  # OpOuterProduct
        out = tuple(tuple(numbers.mul(x, y, n) for x in a) for y in b)
    return rounded(out, bits)


def _integer_dot(m: Module, i: Instruction, v: Values) -> Value:
    """Exact, then modulo the result's size, then added with saturation."""
    t = m.type(i.operands[0])
    packed = t.kind == "int"
    bits = 8 if packed else m.scalar(t.id).bits
    signs = {"OpS": (True, True), "OpU": (False, False)}["OpS" if i.op.startswith("OpSDot") else "OpU"]
    if i.op.startswith("OpSU"):
        signs = (True, False)
    vectors = [tuple(x >> 8 * k & 255 for k in range(4)) if packed else x for x in v[:2]]
    a, b = (tuple(signed(x, bits) if s else x for x in vector) for vector, s in zip(vectors, signs, strict=True))
    total = sum(x * y for x, y in zip(a, b, strict=True))
    own = m.scalar(i.type).bits
    if not i.op.endswith("AccSat"):
        return total & mask(own)
    is_signed = signs[0]
    total = (signed(total & mask(own), own) if is_signed else total & mask(own)) + (
        signed(v[2], own) if is_signed else v[2]
    )
    low, high = (-(1 << own - 1), (1 << own - 1) - 1) if is_signed else (0, mask(own))
    return min(max(total, low), high) & mask(own)


for _op in (
    "Dot",
    "VectorTimesScalar",
    "MatrixTimesScalar",
    "MatrixTimesVector",
    "VectorTimesMatrix",
    "MatrixTimesMatrix",
    "OuterProduct",
):
    TABLE[f"Op{_op}"] = _product
for _op in ("SDot", "UDot", "SUDot", "SDotAccSat", "UDotAccSat", "SUDotAccSat"):
    TABLE[f"Op{_op}"] = _integer_dot


# -- composites


def _construct(m: Module, i: Instruction, v: Values) -> Value:
    if m.types[i.type].kind != "vector":
        return tuple(v)
    return tuple(x for part in v for x in (part if isinstance(part, tuple) else (part,)))


def _extract(m: Module, i: Instruction, v: Values) -> Value:
    value = v[0]
    for index in i.operands[1:]:
        value = value[index]
    return value


def _insert(m: Module, i: Instruction, v: Values) -> Value:
    return inserted(v[1], i.operands[2:], v[0])


def _shuffle(m: Module, i: Instruction, v: Values) -> Value:
    both = (*v[0], *v[1])
    return tuple(0 if k == 0xFFFFFFFF else both[k] for k in i.operands[2:])


def _vector_index(m: Module, i: Instruction, v: Values) -> int | None:
    """None: beyond the vector."""
    index, count = v[-1], m.type(i.operands[0]).count
    return index if index < count else None


def _extract_dynamic(m: Module, i: Instruction, v: Values) -> Value:
    index = _vector_index(m, i, v)
    return v[0][-1 if index is None else index]  # the last one: docs/undefined.md


def _insert_dynamic(m: Module, i: Instruction, v: Values) -> Value:
    index = _vector_index(m, i, v)
    return v[0] if index is None else (*v[0][:index], v[1], *v[0][index + 1 :])


TABLE.update(
    {
        "OpCompositeConstruct": _construct,
        "OpCompositeConstructReplicateEXT": lambda m, i, v: (v[0],) * len(m.parts(i.type)),
        "OpCompositeExtract": _extract,
        "OpCompositeInsert": _insert,
        "OpVectorShuffle": _shuffle,
        "OpVectorExtractDynamic": _extract_dynamic,
        "OpVectorInsertDynamic": _insert_dynamic,
        "OpTranspose": lambda m, i, v: transposed(v[0]),
    }
)

#: Operands that are ids, of instructions that have literals as well.
ID_COUNTS = {"OpCompositeExtract": 1, "OpCompositeInsert": 2, "OpVectorShuffle": 2, "OpSDot": 2, "OpUDot": 2, "OpSUDot": 2,
             "OpSDotAccSat": 3, "OpUDotAccSat": 3, "OpSUDotAccSat": 3}  # fmt: skip


def evaluate(m: Module, i: Instruction, values: Values) -> Value:
    """The result of an instruction of :data:`TABLE`."""
    return TABLE[i.op](m, i, values)
