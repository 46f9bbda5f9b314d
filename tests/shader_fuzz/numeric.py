"""Random expressions that compute: integers, truths, floats and matrices, conversions, GLSL.std.450.

Not here: sines and the like, whose bits Vulkan leaves open.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.shader_fuzz.palette import FLOATS, INTEGERS, bits, like, shape
from tests.shader_fuzz.values import WORDS, Values


class Numeric(Values):
    """Every instruction that makes a value of others, of any type that a program has."""

    def make(self, type_: str, depth: int = 0) -> str:
        """A new instruction (and its operands) that gives a value of a type."""
        s = shape(type_)
        ways: list[Callable[[str, int], str]] = [self._select, self._load, self._copy]
        if s.kind in ("array", "struct", "matrix"):
            ways += [self._construct, self._insert]
        if s.kind in ("array", "struct"):
            ways += [self._load] * 2
        if s.kind == "matrix":
            ways += [self._matrix] * 3
        if s.kind == "vector":
            ways += [self._construct, self._insert, self._shuffle]
        if s.kind in ("scalar", "vector"):
            ways += [self._extract]
            if s.scalar == "bool":
                ways += [self._compare] * 4 + [self._logic] * 2
            elif s.scalar in INTEGERS:
                ways += [self._integer] * 6 + [self._integer_ext, self._to_integer, self._in_two, self._bitcast]
            else:
                ways += [self._float] * 5 + [self._float_ext] * 3 + [self._to_float, self._bitcast, self._product]
        return self.rng.choice(ways)(type_, depth)

    # -- integers

    def _integer(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        a = self.value(type_, depth)
        ops = [
            "OpIAdd",
            "OpISub",
            "OpIMul",
            "OpBitwiseAnd",
            "OpBitwiseOr",
            "OpBitwiseXor",
            "OpNot",
            "OpSNegate",
            "shift",
            "shift",
            "shift",
        ]
        ops += (
            ["OpUDiv", "OpUMod"] if s.scalar[0] == "u" else ["OpSDiv", "OpSRem", "OpSMod", "OpSDiv", "OpSRem", "OpSMod"]
        )
        if bits(s.scalar) == 32:
            ops += ["OpBitReverse", "field", "OpBitCount", "dot"]
        op = rng.choice(ops)
        if op in ("OpNot", "OpSNegate", "OpBitReverse", "OpBitCount"):
            return self.emit(op, type_, a)
        if op == "shift":
            by = self.value(like(type_, self.scalar_of(INTEGERS) or "u32"), depth)
            return self.emit(
                rng.choice(["OpShiftLeftLogical", "OpShiftRightLogical", "OpShiftRightArithmetic"]), type_, a, by
            )
        if op == "field":
            kinds = ("u32", "i32", "u16", "u8", "u64")
            offset, count = (self.value(self.scalar_of(kinds) or "u32", depth) for _ in range(2))
            if rng.random() < 0.4:
                return self.emit("OpBitFieldInsert", type_, a, self.value(type_, depth), offset, count)
            return self.emit(rng.choice(["OpBitFieldSExtract", "OpBitFieldUExtract"]), type_, a, offset, count)
        if op == "dot":
            return self._integer_dot(type_, depth) if s.kind == "scalar" else self._to_integer(type_, depth)
        other = like(type_, ("i" if s.scalar[0] == "u" else "u") + s.scalar[1:])
        mixed = op not in ("OpUDiv", "OpUMod") and other.split("v")[0] in self.scalars and rng.random() < 0.2
        return self.emit(op, type_, a, self.value(other if mixed else type_, depth))

    def _integer_dot(self, type_: str, depth: int) -> str:
        """Of four bytes in a word, or of vectors of words."""
        self.d.need("DotProduct", "SPV_KHR_integer_dot_product")
        is_signed = type_[0] == "i"
        op = self.rng.choice(["OpSDot", "OpSUDot"]) if is_signed else "OpUDot"
        sums = [self.value(type_, depth)] if self.rng.random() < 0.5 else []
        op += "AccSat" if sums else ""
        if self.rng.random() < 0.6:
            self.d.need("DotProductInput4x8BitPacked")
            return self.emit(
                op, type_, self.value("u32", depth), self.value("u32", depth), *sums, "PackedVectorFormat4x8Bit"
            )
        self.d.need("DotProductInputAll")
        n = self.rng.randint(2, 4)
        first, second = f"{type_}v{n}", f"u32v{n}" if op.startswith("OpSU") else f"{type_}v{n}"
        # Small enough that nothing overflows: what does is open.
        a, b = (
            self.emit(
                "OpBitwiseAnd",
                t,
                self.value(t, depth),
                self.d.composite(t, [self.d.constant(t.split("v")[0], 4095)] * n),
            )
            for t in (first, second)
        )
        return self.emit(op, type_, a, b, *sums)

    def _integer_ext(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        if type_ == "u32" and "f32" in self.scalars and rng.random() < 0.3:
            name = rng.choice(["PackSnorm4x8", "PackUnorm4x8", "PackSnorm2x16", "PackUnorm2x16", "PackHalf2x16"])
            return self.ext(name, type_, self.value("f32v4" if "4x8" in name else "f32v2", depth))
        mark = "U" if s.scalar[0] == "u" else "S"
        ops = [f"{mark}Min", f"{mark}Max", f"{mark}Clamp"] + (["SAbs", "SSign"] if mark == "S" else [])
        if bits(s.scalar) == 32:
            ops += ["FindILsb", "FindSMsb", "FindUMsb"]
        op = rng.choice(ops)
        count = {"n": 2, "x": 2, "p": 3}[op[-1]] if op[1:] in ("Min", "Max", "Clamp") else 1
        return self.ext(op, type_, *(self.value(type_, depth) for _ in range(count)))

    def _to_integer(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        floats = self.scalar_of(FLOATS)
        if floats and rng.random() < 0.5:
            op = "OpConvertFToU" if s.scalar[0] == "u" else "OpConvertFToS"
            return self.emit(op, type_, self.value(like(type_, floats), depth))
        others = tuple(x for x in INTEGERS if bits(x) != bits(s.scalar))
        of = self.scalar_of(others)
        if of is None:
            truth = like(type_, "bool")
            return self.emit(
                "OpSelect", type_, self.value(truth, depth), self.constant(type_), self.value(type_, depth)
            )
        op = "OpUConvert" if s.scalar[0] == "u" else "OpSConvert"
        return self.emit(op, type_, self.value(like(type_, of), depth))

    def _in_two(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        is_signed = s.scalar[0] == "i"
        op = (
            "OpSMulExtended"
            if is_signed
            else rng.choice(["OpIAddCarry", "OpISubBorrow", "OpUMulExtended", "OpSMulExtended"])
        )
        name = f"S2_{type_}"
        self.d.structs.setdefault(name, [type_, type_])
        both = self.emit(op, name, self.value(type_, depth), self.value(type_, depth))
        return self.emit("OpCompositeExtract", type_, both, str(rng.randrange(2)))

    def _bitcast(self, type_: str, depth: int) -> str:
        s = shape(type_)
        total = bits(s.scalar) * (s.count or 1)
        ways = []
        for scalar in self.scalars:
            count, rest = divmod(total, bits(scalar))
            if not rest and 1 <= count <= 4 and scalar != s.scalar and scalar != "bool":
                ways.append(scalar if count == 1 else f"{scalar}v{count}")
        if not ways:
            return self._copy(type_, depth)
        of = self.rng.choice(ways)
        value = self.emit("OpBitcast", type_, self.value(of, depth), keep=s.scalar not in FLOATS)
        return self.number_of(type_, value) if s.scalar in FLOATS and of[0] != "f" else value

    def number_of(self, type_: str, value: str) -> str:
        """A float, 1 instead of NaN: what operations make of the bits of a NaN that they are given is open."""
        s = shape(type_)
        ones = self.d.constant(s.scalar, 1.0)
        other = self.d.composite(type_, [ones] * s.count) if s.kind == "vector" else ones
        is_nan = self.emit("OpIsNan", like(type_, "bool"), value, keep=False)
        return self.emit("OpSelect", type_, is_nan, other, value)

    # -- truths

    def _compare(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        scalar = self.scalar_of(INTEGERS + FLOATS) or "u32"
        of = f"{scalar}v{s.count}" if s.kind == "vector" else scalar
        a, b = self.value(of, depth), self.value(of, depth)
        if scalar[0] == "f":
            if rng.random() < 0.2:
                return self.emit(rng.choice(["OpIsNan", "OpIsInf"]), type_, a)
            order = rng.choice(["Ord", "Unord"])
            name = rng.choice(["Equal", "NotEqual", "LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual"])
            return self.emit(f"OpF{order}{name}", type_, a, b)
        mark = rng.choice("US")
        name = rng.choice(["LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual", "Equal", "NotEqual"])
        return self.emit(f"Op{'I' if name in ('Equal', 'NotEqual') else mark}{name}", type_, a, b)

    def _logic(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        if s.kind == "scalar" and rng.random() < 0.25:
            return self.emit(rng.choice(["OpAny", "OpAll"]), type_, self.value(f"boolv{rng.randint(2, 4)}", depth))
        op = rng.choice(["And", "Or", "Equal", "NotEqual", "Not"])
        count = 1 if op == "Not" else 2
        return self.emit(f"OpLogical{op}", type_, *(self.value(type_, depth) for _ in range(count)))

    # -- floats

    def _float(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        op = rng.choice(
            [
                "FAdd",
                "FSub",
                "FMul",
                "FAdd",
                "FMul",
                "FNegate",
                "sum of products",
                "sum of products",
                "FRem",
                "FMod",
                "FDiv",
                "VectorTimesScalar",
                "Dot",
            ]
        )
        if op == "sum of products":
            return self._contracted(type_, depth)
        if op == "FNegate":
            return self.emit("OpFNegate", type_, self.value(type_, depth))
        if op == "FDiv":
            return self._quotient(type_, depth)
        if op == "VectorTimesScalar" and s.kind == "vector":
            return self.emit("OpVectorTimesScalar", type_, self.value(type_, depth), self.value(s.scalar, depth))
        if op == "Dot" and s.kind == "scalar":
            vector = f"{type_}v{rng.randint(2, 4)}"
            return self.emit("OpDot", type_, self.value(vector, depth), self.value(vector, depth))
        if op in ("VectorTimesScalar", "Dot"):
            op = "FAdd"
        return self.emit(f"Op{op}", type_, self.value(type_, depth), self.value(type_, depth))

    def _contracted(self, type_: str, depth: int) -> str:
        """A product whose only use is a sum, or two of them."""
        s, rng = shape(type_), self.rng
        product = "OpVectorTimesScalar" if s.kind == "vector" and rng.random() < 0.3 else "OpFMul"
        second = s.scalar if product == "OpVectorTimesScalar" else type_
        terms = [self.emit(product, type_, self.value(type_, depth), self.value(second, depth), keep=False)]
        terms.append(self.value(type_, depth))
        if rng.random() < 0.2:
            terms[1] = self.emit("OpFMul", type_, self.value(type_, depth), self.value(type_, depth), keep=False)
        rng.shuffle(terms)
        return self.emit(rng.choice(["OpFAdd", "OpFSub"]), type_, *terms)

    def _quotient(self, type_: str, depth: int) -> str:
        """By what is known at run time only; constants are divided by otherwise (docs/undefined.md)."""
        s = shape(type_)
        if s.kind != "scalar":
            return self.emit("OpFAdd", type_, self.value(type_, depth), self.value(type_, depth))
        word = self.word(depth)
        if type_ == "f32":
            divisor = self.number_of("f32", self.emit("OpBitcast", "f32", word, keep=False))
        else:
            divisor = self.emit("OpConvertUToF", type_, word, keep=False)
        return self.emit("OpFDiv", type_, self.value(type_, depth), divisor)

    def word(self, depth: int) -> str:
        """Of the input buffer."""
        at = self.emit("OpBitwiseAnd", "u32", self.value("u32", depth), self.d.constant("u32", WORDS - 1), keep=False)
        id_ = "%" + self.new("q")
        self.line(
            f"{id_} = OpAccessChain {self.d.pointer('StorageBuffer', 'u32')} %in {self.d.constant('u32', 0)} {at}"
        )
        return self.emit("OpLoad", "u32", id_)

    def _float_ext(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        one = [
            "Round",
            "RoundEven",
            "Trunc",
            "FAbs",
            "FSign",
            "Floor",
            "Ceil",
            "Fract",
            "Sqrt",
            "InverseSqrt",
            "Normalize",
        ]
        two = ["FMin", "FMax", "NMin", "NMax", "Step", "Reflect"]
        three = ["FClamp", "NClamp", "FMix", "SmoothStep", "Fma", "FaceForward"]
        special = ["Ldexp", "Modf", "Frexp", "Refract"]
        special += ["Length", "Distance"] if s.kind == "scalar" else []
        special += ["Cross"] * 2 if s.count == 3 else []
        special += ["Unpack"] if type_ in ("f32v2", "f32v4") else []
        op = rng.choice(one + two + three + special * 2)
        count = 1 if op in one else 2 if op in two else 3
        if op in one + two + three:
            return self.ext(op, type_, *(self.value(type_, depth) for _ in range(count)))
        if op in ("Length", "Distance"):
            of = rng.choice([type_, f"{type_}v{rng.randint(2, 4)}"])
            return self.ext(op, type_, *(self.value(of, depth) for _ in range(1 if op == "Length" else 2)))
        if op == "Cross":
            return self.ext(op, type_, self.value(type_, depth), self.value(type_, depth))
        if op == "Refract":
            return self.ext(op, type_, self.value(type_, depth), self.value(type_, depth), self.value(s.scalar, depth))
        if op == "Unpack":
            name = rng.choice(
                ["UnpackSnorm2x16", "UnpackUnorm2x16", "UnpackHalf2x16"]
                if s.count == 2
                else ["UnpackSnorm4x8", "UnpackUnorm4x8"]
            )
            return self.ext(name, type_, self.value("u32", depth))
        if op == "Ldexp":
            return self.ext(op, type_, self.value(type_, depth), self.value(like(type_, self.exponent()), depth))
        second = type_ if op == "Modf" else like(type_, "i32")
        name = f"S2_{type_}_{second}"
        self.d.structs.setdefault(name, [type_, second])
        both = self.ext(f"{op}Struct", name, self.value(type_, depth))
        self.emit("OpCompositeExtract", second, both, "1")
        return self.emit("OpCompositeExtract", type_, both, "0")

    def exponent(self) -> str:
        """A type of exponents."""
        return self.scalar_of(("i16", "i32", "i64")) or "i32"

    def _to_float(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        others = self.scalar_of(tuple(x for x in FLOATS if x != s.scalar))
        if others and rng.random() < 0.4:
            return self.emit("OpFConvert", type_, self.value(like(type_, others), depth))
        if type_.split("v")[0] == "f32" and rng.random() < 0.2:
            return self.emit("OpQuantizeToF16", type_, self.value(type_, depth))
        of = self.scalar_of(INTEGERS) or "u32"
        return self.emit(
            "OpConvertUToF" if of[0] == "u" else "OpConvertSToF", type_, self.value(like(type_, of), depth)
        )

    def _product(self, type_: str, depth: int) -> str:
        """A vector of a matrix and a vector; a scalar of a matrix."""
        s, n = shape(type_), self.rng.randint(2, 4)
        if s.kind == "scalar":
            return self.ext("Determinant", type_, self.value(f"{type_}m{n}x{n}", depth))
        if self.rng.random() < 0.5:
            return self.emit(
                "OpMatrixTimesVector",
                type_,
                self.value(f"{s.scalar}m{n}x{s.count}", depth),
                self.value(f"{s.scalar}v{n}", depth),
            )
        return self.emit(
            "OpVectorTimesMatrix",
            type_,
            self.value(f"{s.scalar}v{n}", depth),
            self.value(f"{s.scalar}m{s.count}x{n}", depth),
        )

    def _matrix(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        rows, columns = shape(s.element).count, s.count
        op = rng.choice(
            ["OpMatrixTimesScalar", "OpTranspose", "OpMatrixTimesMatrix", "OpOuterProduct", "MatrixInverse"]
        )
        if op == "OpMatrixTimesScalar":
            return self.emit(op, type_, self.value(type_, depth), self.value(s.scalar, depth))
        if op == "OpTranspose":
            return self.emit(op, type_, self.value(f"{s.scalar}m{rows}x{columns}", depth))
        if op == "OpMatrixTimesMatrix":
            n = rng.randint(2, 4)
            return self.emit(
                op, type_, self.value(f"{s.scalar}m{n}x{rows}", depth), self.value(f"{s.scalar}m{columns}x{n}", depth)
            )
        if op == "MatrixInverse" and rows == columns:
            return self.ext(op, type_, self.value(type_, depth))
        return self.emit(
            "OpOuterProduct", type_, self.value(s.element, depth), self.value(f"{s.scalar}v{columns}", depth)
        )
