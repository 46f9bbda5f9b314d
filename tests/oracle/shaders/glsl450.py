"""The extended instructions of GLSL.std.450.

In: a module, an OpExtInst, its operands' values. Out: the result; for Modf and Frexp also what is stored. What is exact or rounded once
is so here, what is made of several roundings follows docs/undefined.md. Sines, logarithms and their kind (:data:`WITHIN`) are the
mathematical function rounded once: a shader's result may differ from it by as much as Vulkan allows, so they have no place in programs
that are compared bit by bit.
Source: SPIR-V Extended Instructions for GLSL, 1.00; Vulkan specification, "Precision and Operation of SPIR-V Instructions".
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.oracle.shaders import numbers as n
from tests.oracle.shaders.arithmetic import Values, dot, each, rounded, widened, work_bits
from tests.oracle.shaders.module import Module, Value
from tests.oracle.shaders.numbers import mask, signed
from tests.oracle.shaders.words import Instruction

TABLE: dict[str, Callable[[Module, Instruction, Values], Value]] = {}
NUMBERS = {
    1: "Round", 2: "RoundEven", 3: "Trunc", 4: "FAbs", 5: "SAbs", 6: "FSign", 7: "SSign", 8: "Floor", 9: "Ceil", 10: "Fract",
    11: "Radians", 12: "Degrees", 13: "Sin", 14: "Cos", 15: "Tan", 16: "Asin", 17: "Acos", 18: "Atan", 19: "Sinh", 20: "Cosh",
    21: "Tanh", 22: "Asinh", 23: "Acosh", 24: "Atanh", 25: "Atan2", 26: "Pow", 27: "Exp", 28: "Log", 29: "Exp2", 30: "Log2",
    31: "Sqrt", 32: "InverseSqrt", 33: "Determinant", 34: "MatrixInverse", 35: "Modf", 36: "ModfStruct", 37: "FMin", 38: "UMin",
    39: "SMin", 40: "FMax", 41: "UMax", 42: "SMax", 43: "FClamp", 44: "UClamp", 45: "SClamp", 46: "FMix", 48: "Step",
    49: "SmoothStep", 50: "Fma", 51: "Frexp", 52: "FrexpStruct", 53: "Ldexp", 54: "PackSnorm4x8", 55: "PackUnorm4x8",
    56: "PackSnorm2x16", 57: "PackUnorm2x16", 58: "PackHalf2x16", 59: "PackDouble2x32", 60: "UnpackSnorm2x16", 61: "UnpackUnorm2x16",
    62: "UnpackHalf2x16", 63: "UnpackSnorm4x8", 64: "UnpackUnorm4x8", 65: "UnpackDouble2x32", 66: "Length", 67: "Distance",
    68: "Cross", 69: "Normalize", 70: "FaceForward", 71: "Reflect", 72: "Refract", 73: "FindILsb", 74: "FindSMsb", 75: "FindUMsb",
    76: "InterpolateAtCentroid", 77: "InterpolateAtSample", 78: "InterpolateAtOffset", 79: "NMin", 80: "NMax", 81: "NClamp",
}  # fmt: skip


def _bits(m: Module, i: Instruction) -> int:
    return m.scalar(m.type_of[i.operands[2]]).bits


def _floats(f: Callable[..., Value], whole: bool = False) -> Callable[[Module, Instruction, Values], Value]:
    """f(patterns..., bits) of scalars, or ``whole``: of whole operands. In 32 bits at least, rounded at the end."""

    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = _bits(m, i)
        wide, work = [widened(x, bits) for x in v], work_bits(bits)
        out = f(*wide, work) if whole else each(lambda *x: f(*x, work), *wide)
        return rounded(out, bits)

    return run


def _integers(f: Callable[..., int], is_signed: bool) -> Callable[[Module, Instruction, Values], Value]:
    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = _bits(m, i)
        return each(lambda *x: f(*(signed(y, bits) if is_signed else y for y in x)) & mask(bits), *v)

    return run


def less(a: int, b: int, bits: int) -> bool:
    """Of floats; false with NaN."""
    return n.decode(a, bits) < n.decode(b, bits)


def fmin(a: int, b: int, bits: int) -> int:
    """The second where neither is less, but a number beside a NaN."""
    return a if less(a, b, bits) or n.is_nan(b, bits) else b


def fmax(a: int, b: int, bits: int) -> int:
    """The second where neither is more, but a number beside a NaN."""
    return a if less(b, a, bits) or n.is_nan(b, bits) else b


def fclamp(x: int, low: int, high: int, bits: int) -> int:
    """min(max(x, low), high)."""
    return fmin(fmax(x, low, bits), high, bits)


def _zeros(a: int, b: int, bits: int) -> bool:
    return n.decode(a, bits) == 0 == n.decode(b, bits)


def nmin(a: int, b: int, bits: int) -> int:
    """A number wins over NaN, and of zeros the negative one."""
    return a | b if _zeros(a, b, bits) else fmin(a, b, bits)


def nmax(a: int, b: int, bits: int) -> int:
    """A number wins over NaN, and of zeros the positive one."""
    return a & b if _zeros(a, b, bits) else fmax(a, b, bits)


def _sign(x: int, bits: int) -> int:
    """NaN has none: 0; zeros stay as they are."""
    value = n.decode(x, bits)
    return x if value == 0 else 0 if value != value else n.encode(math.copysign(1.0, value), bits)


def _fract(m: Module, i: Instruction, v: Values) -> Value:
    """Below 1, of halves too."""
    bits = _bits(m, i)

    def one(x: int) -> int:
        part = n.sub(x, n.floor(x, bits), bits)
        return n.encode(1.0, bits) - 1 if n.decode(part, bits) >= 1 else part

    return each(one, v[0])


def _mix(x: int, y: int, a: int, bits: int) -> int:
    return n.fma(a, y, n.fma(n.neg(a, bits), x, x, bits), bits)


def _smooth_step(low: int, high: int, x: int, bits: int) -> int:
    zero, one = 0, n.encode(1.0, bits)
    t = fclamp(n.div(n.sub(x, low, bits), n.sub(high, low, bits), bits), zero, one, bits)
    return n.mul(n.mul(t, t, bits), n.fma(n.encode(-2.0, bits), t, n.encode(3.0, bits), bits), bits)


def _inverse_sqrt(x: int, bits: int) -> int:
    return n.div(n.encode(1.0, bits), n.sqrt(x, bits), bits)


def _ldexp(m: Module, i: Instruction, v: Values) -> Value:
    """Rounded once to 32 or 64 bits; halves again to 16."""
    bits, exponent_bits = _bits(m, i), m.scalar(m.type_of[i.operands[3]]).bits
    work = work_bits(bits)

    def one(x: int, e: int) -> int:
        value = n.decode(x, work)
        if not math.isfinite(value) or value == 0:
            return n.encode(value, work)
        return n.encode_fraction(
            n.Fraction(value) * n.Fraction(2) ** max(-3000, min(3000, signed(e, exponent_bits))), work
        )

    return rounded(each(one, widened(v[0], bits), v[1]), bits)


def _length(v: Value, bits: int) -> int:
    return n.sqrt(dot(v, v, bits), bits) if isinstance(v, tuple) else n.absolute(v, bits)


def _distance(a: Value, b: Value, bits: int) -> int:
    return _length(each(lambda x, y: n.sub(x, y, bits), a, b), bits)


def _normalize(v: Value, bits: int) -> Value:
    if not isinstance(v, tuple):
        return _sign(v, bits)
    factor = _inverse_sqrt(dot(v, v, bits), bits)
    return each(lambda x: n.mul(x, factor, bits), v)


def _cross(a: Value, b: Value, bits: int) -> Value:
    turns = ((1, 2), (2, 0), (0, 1))
    return tuple(n.fma(a[p], b[q], n.neg(n.mul(a[q], b[p], bits), bits), bits) for p, q in turns)


def _dot(a: Value, b: Value, bits: int) -> int:
    return dot(a, b, bits) if isinstance(a, tuple) else n.mul(a, b, bits)


def _face_forward(v: Value, incident: Value, reference: Value, bits: int) -> Value:
    keep = less(_dot(reference, incident, bits), 0, bits)
    return each(lambda x: x if keep else n.neg(x, bits), v)


def _reflect(incident: Value, normal: Value, bits: int) -> Value:
    twice = n.mul(_dot(normal, incident, bits), n.encode(-2.0, bits), bits)
    return each(lambda x, y: n.fma(twice, y, x, bits), incident, normal)


def _refract(m: Module, i: Instruction, v: Values) -> Value:
    bits, eta_bits = _bits(m, i), m.type(i.operands[4]).bits
    work = work_bits(bits)
    incident, normal = (widened(x, bits) for x in v[:2])
    eta = n.convert(v[2], eta_bits, work)
    d, one = _dot(normal, incident, work), n.encode(1.0, work)
    rest = n.fma(n.neg(n.mul(eta, eta, work), work), n.fma(n.neg(d, work), d, one, work), one, work)
    if less(rest, 0, work):
        return each(lambda x: 0, incident)
    along = n.fma(eta, d, n.sqrt(rest, work), work)
    out = each(lambda x, y: n.fma(eta, x, n.neg(n.mul(along, y, work), work), work), incident, normal)
    return rounded(out, bits)


def _minor(columns: Value, rows: list[int], chosen: list[int], bits: int) -> int:
    """The determinant of some rows and columns, by the first row."""
    if len(rows) == 1:
        return columns[chosen[0]][rows[0]]
    total = 0
    for k, column in enumerate(chosen):
        factor = columns[column][rows[0]]
        part = _minor(columns, rows[1:], chosen[:k] + chosen[k + 1 :], bits)
        if k == 0:
            total = n.mul(factor, part, bits)
        else:
            total = n.fma(n.neg(factor, bits) if k & 1 else factor, part, total, bits)
    return total


def _determinant(matrix: Value, bits: int) -> int:
    every = list(range(len(matrix)))
    return _minor(matrix, every, every, bits)


def _inverse(matrix: Value, bits: int) -> Value:
    every = list(range(len(matrix)))
    scale = n.div(n.encode(1.0, bits), _determinant(matrix, bits), bits)

    def cofactor(column: int, row: int) -> int:
        x = _minor(matrix, every[:column] + every[column + 1 :], every[:row] + every[row + 1 :], bits)
        x = n.mul(x, scale, bits)
        return n.neg(x, bits) if row + column & 1 else x

    return tuple(tuple(cofactor(column, row) for row in every) for column in every)


def _modf(x: int, bits: int) -> tuple[int, int]:
    """Fraction and whole part, both with the sign of x; an infinite number has a fraction of zero."""
    whole, value = n.trunc(x, bits), n.decode(x, bits)
    part = 0 if math.isinf(value) else n.sub(x, whole, bits)
    if n.is_nan(part, bits):
        return part, whole
    return n.absolute(part, bits) | x & 1 << bits - 1, whole


def _frexp(x: int, bits: int) -> tuple[int, int]:
    """Significand in [0.5, 1) and exponent; zeros, infinities and NaN as they are, with 0."""
    value = n.decode(x, bits)
    if value == 0 or not math.isfinite(value):
        return n.canonical(x, bits), 0
    significand, exponent = math.frexp(value)
    return n.encode(significand, bits), exponent


def _two_parts(f: Callable[[int, int], tuple[int, int]]) -> Callable[[Module, Instruction, Values], Value]:
    """Both parts, as a pair of scalars or vectors."""

    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = _bits(m, i)
        parts = v[0] if isinstance(v[0], tuple) else (v[0],)
        pairs = [f(x, bits) for x in parts]
        first, second = tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
        return (first, second) if isinstance(v[0], tuple) else (first[0], second[0])

    return run


def _pack(op: str) -> Callable[[Module, Instruction, Values], Value]:
    is_signed, bits = "Snorm" in op, 8 if "4x8" in op else 16
    most = float(mask(bits - 1) if is_signed else mask(bits))

    def one(x: int) -> int:
        if "Half" in op:
            return n.convert(x, 32, 16)
        limited = fclamp(x, n.encode(-1.0 if is_signed else 0.0, 32), n.encode(1.0, 32), 32)
        return n.to_integer(n.round_even(n.mul(limited, n.encode(most, 32), 32), 32), 32, 32, True) & mask(bits)

    return lambda m, i, v: sum(one(x) << bits * k for k, x in enumerate(v[0]))


def _unpack(op: str) -> Callable[[Module, Instruction, Values], Value]:
    is_signed, bits = "Snorm" in op, 8 if "4x8" in op else 16
    most = n.encode(float(mask(bits - 1) if is_signed else mask(bits)), 32)

    def one(x: int) -> int:
        if "Half" in op:
            return n.convert(x, 16, 32)
        value = n.div(n.from_integer(signed(x, bits) if is_signed else x, 32), most, 32)
        return fmax(value, n.encode(-1.0, 32), 32) if is_signed else value

    return lambda m, i, v: tuple(one(v[0] >> bits * k & mask(bits)) for k in range(32 // bits))


TABLE.update(
    {
        "Round": _floats(n.round_even),
        "RoundEven": _floats(n.round_even),
        "Trunc": _floats(n.trunc),
        "FAbs": lambda m, i, v: each(lambda x: n.absolute(x, _bits(m, i)), v[0]),
        "SAbs": _integers(abs, True),
        "FSign": _floats(_sign),
        "SSign": _integers(lambda x: (x > 0) - (x < 0), True),
        "Floor": _floats(n.floor),
        "Ceil": _floats(n.ceil),
        "Fract": _fract,
        "Radians": _floats(lambda x, b: n.mul(x, n.encode(math.pi / 180, 32), b)),
        "Degrees": _floats(lambda x, b: n.mul(x, n.encode(180 / math.pi, 32), b)),
        "Sqrt": _floats(n.sqrt),
        "InverseSqrt": _floats(_inverse_sqrt),
        "Determinant": _floats(_determinant, whole=True),
        "MatrixInverse": _floats(_inverse, whole=True),
        "FMin": _floats(fmin),
        "FMax": _floats(fmax),
        "NMin": _floats(nmin),
        "NMax": _floats(nmax),
        "UMin": _integers(min, False),
        "SMin": _integers(min, True),
        "UMax": _integers(max, False),
        "SMax": _integers(max, True),
        "FClamp": _floats(fclamp),
        "NClamp": _floats(lambda x, low, high, b: nmin(nmax(x, low, b), high, b)),
        "UClamp": _integers(lambda x, low, high: min(max(x, low), high), False),
        "SClamp": _integers(lambda x, low, high: min(max(x, low), high), True),
        "FMix": _floats(_mix),
        "Step": _floats(lambda edge, x, b: 0 if less(x, edge, b) else n.encode(1.0, b)),
        "SmoothStep": _floats(_smooth_step),
        "Fma": _floats(n.fma),
        "Ldexp": _ldexp,
        "Modf": _two_parts(_modf),
        "ModfStruct": _two_parts(_modf),
        "Frexp": _two_parts(_frexp),
        "FrexpStruct": _two_parts(_frexp),
        "PackDouble2x32": lambda m, i, v: v[0][0] | v[0][1] << 32,
        "UnpackDouble2x32": lambda m, i, v: (v[0] & mask(32), v[0] >> 32),
        "Length": _floats(_length, whole=True),
        "Distance": _floats(_distance, whole=True),
        "Normalize": _floats(_normalize, whole=True),
        "Cross": _floats(_cross, whole=True),
        "FaceForward": _floats(_face_forward, whole=True),
        "Reflect": _floats(_reflect, whole=True),
        "Refract": _refract,
        "FindILsb": _integers(lambda x: (x & -x).bit_length() - 1, False),
        "FindUMsb": _integers(lambda x: x.bit_length() - 1, False),
        "FindSMsb": _integers(lambda x: (~x if x < 0 else x).bit_length() - 1, True),
    }
)
for _op in ("PackSnorm4x8", "PackUnorm4x8", "PackSnorm2x16", "PackUnorm2x16", "PackHalf2x16"):
    TABLE[_op] = _pack(_op)
for _op in ("UnpackSnorm4x8", "UnpackUnorm4x8", "UnpackSnorm2x16", "UnpackUnorm2x16", "UnpackHalf2x16"):
    TABLE[_op] = _unpack(_op)


# -- within Vulkan's precision


def _domain(f: Callable[..., float]) -> Callable[..., float]:
    """NaN where mathematics has no value, infinity where there is a pole or no float."""

    def run(*x: float) -> float:
        try:
            return f(*x)
        except OverflowError:
            return math.inf if f not in (math.sinh,) or x[0] > 0 else -math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan

    return run


def _log(base: float | None) -> Callable[[float], float]:
    def run(x: float) -> float:
        if x == 0:
            return -math.inf
        return math.log(x) if base is None else math.log2(x)

    return run


def _by_exponentials(f: Callable[[float], float]) -> Callable[[float], float]:
    """Vulkan's table has them inherit from their exponentials: infinite where those are, for all that half of one would be a float."""

    def run(x: float) -> float:
        largest = 88.72283172607422  # of which the exponential is finite
        return math.copysign(math.inf, x if f is math.sinh else 1) if abs(x) > largest else f(x)

    return run


#: The function, of float64.
WITHIN: dict[str, Callable[..., float]] = {
    "Sin": math.sin, "Cos": math.cos, "Tan": math.tan, "Asin": math.asin, "Acos": math.acos, "Atan": math.atan,
    "Sinh": _by_exponentials(math.sinh), "Cosh": _by_exponentials(math.cosh),
    "Tanh": math.tanh, "Asinh": math.asinh, "Acosh": math.acosh, "Atanh": math.atanh, "Atan2": math.atan2,
    "Pow": math.pow, "Exp": math.exp, "Log": _log(None), "Exp2": lambda x: 2.0**x, "Log2": _log(2),
}  # fmt: skip


def _mathematical(f: Callable[..., float]) -> Callable[[Module, Instruction, Values], Value]:
    safe = _domain(f)

    def run(m: Module, i: Instruction, v: Values) -> Value:
        bits = _bits(m, i)
        return each(lambda *x: n.encode(safe(*(n.decode(y, bits) for y in x)), bits), *v)

    return run


for _op, _f in WITHIN.items():
    TABLE[_op] = _mathematical(_f)
