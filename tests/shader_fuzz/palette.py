"""Types by name, and the declarations of a module.

``u8``, ``i32``, ``f16``, ``bool``: scalars; ``f32v3``: a vector; ``f32m2x3``: a matrix of two columns of three; ``A4_f32v2``: an array;
``S0``: a structure that was registered. ``..._L16`` is an array with a stride, for buffers.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from functools import cache

INTEGERS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64")
FLOATS = ("f16", "f32", "f64")
CAPABILITIES = {"8": "Int8", "16": "Int16", "64": "Int64", "f16": "Float16", "f64": "Float64"}


@dataclass(frozen=True)
class Shape:
    """``kind``: scalar, vector, matrix, array, struct. ``scalar``: of the first three. ``element``: of all but scalars and structures."""

    kind: str
    scalar: str = ""
    count: int = 0
    element: str = ""
    stride_B: int = 0


@cache
def shape(name: str) -> Shape:
    """What a type's name says."""
    if name.startswith("S"):
        return Shape("struct")
    if m := re.fullmatch(r"A(\d+)_(.+?)(?:_L(\d+))?", name):
        return Shape("array", count=int(m[1]), element=m[2], stride_B=int(m[3] or 0))
    if m := re.fullmatch(r"(\w+?)m(\d)x(\d)", name):
        return Shape("matrix", m[1], int(m[2]), f"{m[1]}v{m[3]}")
    if m := re.fullmatch(r"(\w+?)v(\d)", name):
        return Shape("vector", m[1], int(m[2]), m[1])
    return Shape("scalar", name)


def bits(scalar: str) -> int:
    """Of a scalar's name."""
    return 1 if scalar == "bool" else int(scalar[1:])


def like(name: str, scalar: str) -> str:
    """A scalar or vector of the same size with other scalars."""
    s = shape(name)
    return f"{scalar}v{s.count}" if s.kind == "vector" else scalar


def is_int(name: str) -> bool:
    """Integer scalars and vectors."""
    s = shape(name)
    return s.kind in ("scalar", "vector") and s.scalar in INTEGERS


def is_float(name: str) -> bool:
    """Float scalars and vectors."""
    s = shape(name)
    return s.kind in ("scalar", "vector") and s.scalar in FLOATS


@dataclass
class Member:
    """Of a structure in a buffer."""

    type: str
    offset_B: int
    row_major: bool = False
    matrix_stride_B: int = 0


@dataclass
class Declarations:
    """Lines of a module before its functions, each once and in order."""

    capabilities: dict[str, None] = field(default_factory=dict)
    extensions: dict[str, None] = field(default_factory=dict)
    decorations: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    structs: dict[str, list[str]] = field(default_factory=dict)  # members' types
    layouts: dict[str, list[Member]] = field(default_factory=dict)  # of those in buffers
    globals: list[str] = field(default_factory=list)  # variables that an interface lists
    _constants: dict[tuple[str, str], str] = field(default_factory=dict)

    def _declare(self, name: str, line: str) -> str:
        if name not in self.known:
            self.known.add(name)
            self.lines.append(f"%{name} = {line}")
        return f"%{name}"

    def need(self, capability: str, extension: str = "") -> None:
        """Asks for a capability, and for an extension."""
        self.capabilities.setdefault(capability)
        if extension:
            self.extensions.setdefault(extension)

    def type(self, name: str) -> str:
        """The id of a type."""
        if f"t_{name}" in self.known:
            return f"%t_{name}"
        s = shape(name)
        if s.kind == "scalar":
            if name == "bool":
                return self._declare("t_bool", "OpTypeBool")
            if name == "void":
                return self._declare("t_void", "OpTypeVoid")
            for key in (name, name[1:]):
                if key in CAPABILITIES and (name[0] != "f" or key == name):
                    self.need(CAPABILITIES[key])
            if name[0] == "f":
                return self._declare(f"t_{name}", f"OpTypeFloat {bits(name)}")
            return self._declare(f"t_{name}", f"OpTypeInt {bits(name)} {int(name[0] == 'i')}")
        if s.kind == "struct":
            members = " ".join(self.type(x) for x in self.structs[name])
            for k, m in enumerate(self.layouts.get(name, ())):
                self.decorations.append(f"OpMemberDecorate %t_{name} {k} Offset {m.offset_B}")
                if m.matrix_stride_B:
                    order = "RowMajor" if m.row_major else "ColMajor"
                    self.decorations.append(f"OpMemberDecorate %t_{name} {k} {order}")
                    self.decorations.append(f"OpMemberDecorate %t_{name} {k} MatrixStride {m.matrix_stride_B}")
            return self._declare(f"t_{name}", f"OpTypeStruct {members}")
        element = self.type(s.element)
        if s.kind == "array":
            if s.stride_B:
                self.decorations.append(f"OpDecorate %t_{name} ArrayStride {s.stride_B}")
            if not s.count:
                return self._declare(f"t_{name}", f"OpTypeRuntimeArray {element}")
            return self._declare(f"t_{name}", f"OpTypeArray {element} {self.constant('u32', s.count)}")
        return self._declare(f"t_{name}", f"OpType{s.kind.capitalize()} {element} {s.count}")

    def pointer(self, storage: str, name: str) -> str:
        """The id of a pointer type."""
        to = self.type(name)
        return self._declare(f"p_{storage}_{name}", f"OpTypePointer {storage} {to}")

    def function(self, result: str, *parameters: str) -> str:
        """The id of a function type; ``parameters`` are ids of types."""
        name = "fn_" + "_".join([result, *(p.removeprefix("%") for p in parameters)])
        return self._declare(name, " ".join(["OpTypeFunction", self.type(result), *parameters]))

    def constant(self, name: str, value: int | float | bool | None) -> str:
        """The id of a scalar constant; of None, and of a type that is no scalar, OpConstantNull."""
        key = (name, repr(value))
        if key in self._constants:
            return self._constants[key]
        of, id_ = self.type(name), f"c{len(self._constants)}"
        if value is None or shape(name).kind != "scalar":
            text = f"OpConstantNull {of}"
        elif name == "bool":
            text = f"OpConstant{bool(value)} {of}"
        elif name[0] == "f":
            text = f"OpConstant {of} {float_text(float(value), bits(name))}"
        else:
            text = f"OpConstant {of} {value}"
        self._constants[key] = self._declare(id_, text)
        return self._constants[key]

    def specialised(self, name: str, value: int | float | bool) -> str:
        """The id of a scalar specialisation constant."""
        of, id_ = self.type(name), f"s{len(self._constants)}_{len(self.lines)}"
        self.decorations.append(f"OpDecorate %{id_} SpecId {len(self.lines)}")
        if name == "bool":
            return self._declare(id_, f"OpSpecConstant{bool(value)} {of}")
        text = float_text(float(value), bits(name)) if name[0] == "f" else str(value)
        return self._declare(id_, f"OpSpecConstant {of} {text}")

    def operation(self, op: str, name: str, *operands: str) -> str:
        """The id of an OpSpecConstantOp."""
        return self._declare(f"o{len(self.lines)}", f"OpSpecConstantOp {self.type(name)} {op} {' '.join(operands)}")

    def composite(self, name: str, parts: list[str]) -> str:
        """The id of a composite constant."""
        key = (name, " ".join(parts))
        if key not in self._constants:
            of, id_ = self.type(name), f"c{len(self._constants)}"
            self._constants[key] = self._declare(id_, f"OpConstantComposite {of} {' '.join(parts)}")
        return self._constants[key]

    def variable(self, id_: str, storage: str, name: str, initializer: str = "") -> str:
        """A variable of the module."""
        pointer = self.pointer(storage, name)
        self.globals.append(f"%{id_}")
        return self._declare(id_, f"OpVariable {pointer} {storage} {initializer}".rstrip())


def float_text(value: float, width_bits: int) -> str:
    """As spirv-as reads it: hexadecimal, with infinities and NaN."""
    top = {16: 16, 32: 128, 64: 1024}[width_bits]
    if value != value:
        return f"0x1.8p+{top}"
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value < 0 else ''}0x1p+{top}"
    form = {16: "<e", 32: "<f", 64: "<d"}[width_bits]
    return struct.unpack(form, struct.pack(form, value))[0].hex()


# -- layouts


def extent_B(name: str, layouts: dict[str, list[Member]], row_major: bool = False) -> tuple[int, int]:
    """Size and alignment of a type in a buffer, as std430 has them."""
    s = shape(name)
    if s.kind == "scalar":
        return bits(name) // 8, bits(name) // 8
    if s.kind == "array":
        # spirv-val asks for what columns want, in whatever order an array's matrices are.
        return s.count * s.stride_B, max(extent_B(s.element, layouts, order)[1] for order in (row_major, False))
    if s.kind == "struct":
        members = layouts[name]
        align = max(extent_B(m.type, layouts, m.row_major)[1] for m in members)
        end = members[-1].offset_B + extent_B(members[-1].type, layouts, members[-1].row_major)[0]
        return -(-end // align) * align, align
    if s.kind == "vector":
        own = bits(s.scalar) // 8
        return own * s.count, own * (4 if s.count == 3 else s.count)
    count = shape(s.element).count if row_major else s.count
    return matrix_stride_B(name, row_major) * count, matrix_stride_B(name, row_major)


def matrix_stride_B(name: str, row_major: bool) -> int:
    """Between columns, or between rows."""
    s = shape(name)
    length = s.count if row_major else shape(s.element).count
    return bits(s.scalar) // 8 * (4 if length == 3 else length)


def placed(members: list[tuple[str, bool]], layouts: dict[str, list[Member]], least_B: int = 1) -> list[Member]:
    """Types and whether they are row-major, one after the other; each aligned to ``least_B`` at least."""
    out: list[Member] = []
    at = 0
    for name, row_major in members:
        size, align = extent_B(name, layouts, row_major)
        align = max(align, least_B if shape(name).kind in ("array", "struct") else 1)
        at = -(-at // align) * align
        stride = matrix_stride_B(name, row_major) if shape(name).kind == "matrix" else 0
        out.append(Member(name, at, row_major and stride > 0, stride))
        at += size
    return out


def pattern(value: float, width_bits: int) -> int:
    """A float's bits."""
    return int.from_bytes(struct.pack({16: "<e", 32: "<f", 64: "<d"}[width_bits], value), "little")
