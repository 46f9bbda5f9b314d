"""Every instruction and function that computes as a row: what it gives and takes. Tables choose among them, each as often as any other.

Letters stand for types of one program: ``F`` a float or vector of them, ``f`` its scalar, ``B`` truths, ``E`` exponents and ``N`` integers
of the same size, ``G`` floats of another width; ``V`` a vector, ``v`` its scalar, ``C`` of three, ``M`` a square matrix, ``m`` its scalar;
``I`` any integers, ``U`` unsigned and ``S`` signed ones, ``J`` of another width than I, ``T`` truths like I, ``W`` of 32 bits; anything
else is a type's name.
"""

from __future__ import annotations

from tests.shader_fuzz.numeric import Numeric
from tests.shader_fuzz.palette import FLOATS, INTEGERS, bits, like, shape

ORDER = ("Equal", "NotEqual", "LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual")
_ROWS = [
    *(f"{x} F F" for x in ["Round", "RoundEven", "Trunc", "FAbs", "FSign", "Floor", "Ceil", "Fract", "Sqrt", "InverseSqrt",
                                "Normalize", "OpFNegate"]),
    *(f"{x} F F F" for x in ["FMin", "FMax", "NMin", "NMax", "Step", "Reflect", "OpFAdd", "OpFSub", "OpFMul", "OpFRem", "OpFMod"]),
    *(f"{x} F F F F" for x in ["FClamp", "NClamp", "FMix", "SmoothStep", "Fma", "FaceForward"]),
    "Refract F F F f", "Length f F", "Distance f F F", "Cross C C C", "MatrixInverse M M", "Determinant m M", "Ldexp F F E",
    *(f"Pack{x} u32 f32v2" for x in ("Snorm2x16", "Unorm2x16", "Half2x16")), *(f"Pack{x}norm4x8 u32 f32v4" for x in "SU"),
    *(f"Unpack{x} f32v2 u32" for x in ("Snorm2x16", "Unorm2x16", "Half2x16")), *(f"Unpack{x}norm4x8 f32v4 u32" for x in "SU"),
    "PackDouble2x32 f64 u32v2", "UnpackDouble2x32 u32v2 f64",
    "OpVectorTimesScalar V V v", "OpDot v V V", "OpMatrixTimesScalar M M m", "OpMatrixTimesMatrix M M M", "OpTranspose M M",
    "OpQuantizeToF16 f32 f32", "OpFConvert F G", "OpIsNan B F", "OpIsInf B F",
    *(f"OpF{kind}{x} B F F" for kind in ("Ord", "Unord") for x in ORDER),
    "OpConvertFToU U F", "OpConvertFToS N F", "OpConvertUToF F N", "OpConvertSToF F N",
    *(f"Op{x} I I I" for x in ["IAdd", "ISub", "IMul", "BitwiseAnd", "BitwiseOr", "BitwiseXor"]), "OpNot I I", "OpSNegate I I",
    "OpUDiv U U U", "OpUMod U U U", *(f"OpS{x} S S S" for x in ("Div", "Rem", "Mod")),
    *(f"OpShift{x} I I {y}" for x in ("LeftLogical", "RightLogical", "RightArithmetic") for y in "IJ"),
    "OpBitReverse W W", "OpBitCount W W", "OpBitFieldInsert W W W u32 u32", *(f"OpBitField{x}Extract W W u32 u32" for x in "SU"),
    *(f"FindI{x} W W" for x in ("Lsb",)), "FindSMsb W W", "FindUMsb W W", "SAbs S S", "SSign S S",
    *(f"{m}{x} {m} {m} {m}" for m in "US" for x in ("Min", "Max")), "UClamp U U U U", "SClamp S S S S",
    *(f"Op{m}{x} T I I" for m in "US" for x in ORDER[2:]), "OpIEqual T I I", "OpINotEqual T I I",
    "OpUConvert U J", "OpSConvert S J", "OpSelect I T I I", "OpSelect F B F F",
    *(f"OpLogical{x} T T T" for x in ("And", "Or", "Equal", "NotEqual")), "OpLogicalNot T T",
]  # fmt: skip
ROWS = tuple(tuple(row.split()) for row in _ROWS)
#: These are made by methods of Numeric, which write more than one instruction.
METHODS = (*["dot"] * 4, *["two"] * 2, "parts", "product", "matrix", "contracted", "quotient", "bitcast", "insert", "extract",
           "shuffle", "construct")  # fmt: skip


class Functions(Numeric):
    """``any_function``: one of all."""

    def any_function(self) -> None:
        """Any instruction; one that wants a type that the program has not is another."""
        row = self.rng.choice((*ROWS, *METHODS))
        if isinstance(row, str):
            return self._by_method(row)
        name, *letters = row
        types = self._types(letters)
        if types is None:
            return self.any_function()
        result, operands = types[0], [self.value(x, 0) for x in types[1:]]
        if name == "PackDouble2x32":
            id_ = self.emit("OpExtInst", result, "%glsl", name, *operands, keep=False)
            self.number_of(result, id_)
        else:
            self.emit(name, result, *operands) if name.startswith("Op") else self.ext(name, result, *operands)
        return None

    def _types(self, letters: list[str]) -> list[str] | None:
        """What letters stand for this time; None: there is nothing."""
        rng = self.rng
        size = rng.choice(["", "", "v2", "v3", "v4"])
        f, i = self.scalar_of(FLOATS), self.scalar_of(INTEGERS) or "u32"
        u = self.scalar_of(tuple(x for x in INTEGERS if x[0] == "u"))
        s = self.scalar_of(tuple(x for x in INTEGERS if x[0] == "i"))
        w = self.scalar_of(("u32", "i32"))
        first = {"U": u, "S": s}.get(letters[0], i) or i
        j = self.scalar_of(tuple(x for x in INTEGERS if bits(x) != bits(first)))
        g = self.scalar_of(tuple(x for x in FLOATS if x != f))
        columns = rng.choice("234")
        if letters[0] == "V" or "V" in letters:
            size = size or "v4"
        known = {"I": first + size, "U": u and u + size, "S": s and s + size, "J": j and j + size, "T": f"bool{size}", "W": w and w + size}
        if f:
            known |= {"F": f + size, "f": f, "B": f"bool{size}", "E": self.exponent() + size, "N": i + size, "G": g and g + size,
                      "V": f + size, "v": f, "C": f"{f}v3", "M": f"{f}m{columns}x{columns}", "m": f}  # fmt: skip
        found = [known.get(x) if len(x) == 1 else x for x in letters]
        there = all(x and (shape(x).scalar in self.scalars or x.startswith(self.exponent())) for x in found)
        return [x for x in found if x] if there else None

    def _by_method(self, name: str) -> None:
        """What Numeric and Values write."""
        rng = self.rng
        scalar = self.scalar_of(FLOATS) or "u32"
        integer = self.scalar_of(INTEGERS) or "u32"
        size = rng.choice(["", "v2", "v3", "v4"])
        matrix = f"{scalar}m{rng.randint(2, 4)}x{rng.randint(2, 4)}"
        if name == "dot":
            self._integer_dot(self.scalar_of(("u32", "i32")) or "u32", 1)
        elif name == "two":
            self._in_two(integer + size, 1)
        elif name == "bitcast":
            self._bitcast(rng.choice((scalar, integer)) + size, 1)
        elif name in ("insert", "extract", "shuffle", "construct"):
            type_ = rng.choice(list(self.scalars)) + rng.choice(["v2", "v3", "v4"])
            if name == "extract":
                self._extract(shape(type_).scalar, 1)
            else:
                {"insert": self._insert, "shuffle": self._shuffle, "construct": self._construct}[name](type_, 1)
        elif scalar[0] != "f":
            self._in_two(integer + size, 1)
        elif name == "product":
            self._product(scalar + size, 1)
        elif name == "matrix":
            self._matrix(matrix, 1)
        elif name == "contracted":
            self._contracted(scalar + size, 1)
        elif name == "quotient":
            self._quotient(scalar, 1)
        else:
            self._parts(scalar + size)

    def _parts(self, type_: str) -> None:
        """Modf and Frexp, as structures."""
        op = self.rng.choice(["Modf", "Frexp"])
        second = type_ if op == "Modf" else like(type_, "i32")
        name = f"S2_{type_}_{second}"
        self.d.structs.setdefault(name, [type_, second])
        both = self.ext(f"{op}Struct", name, self.value(type_, 1))
        self.emit("OpCompositeExtract", second, both, "1")
        self.emit("OpCompositeExtract", type_, both, "0")


__all__ = ["ROWS", "Functions"]
