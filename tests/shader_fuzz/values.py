"""Random expressions: values that are there, constants, composites, memory. What is computed is in numeric.py.

:class:`Values` writes instructions into the open block and remembers what dominates it. Float sums and products keep their own roundings
or leave the compiler its choice, which docs/undefined.md says.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.shader_fuzz import edges
from tests.shader_fuzz.palette import FLOATS, Declarations, bits, shape

WORDS = 64  # of the input buffer
ORDERS = ("LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual")


@dataclass
class Place:
    """A pointer that dominates: what it points to, its storage class, whether it may be written."""

    id: str
    type: str
    storage: str
    writable: bool


@dataclass
class Block:
    label: str
    phis: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    merge: str = ""
    end: str = "OpUnreachable"

    def text(self) -> list[str]:
        """Its lines."""
        return [f"%{self.label} = OpLabel", *self.phis, *self.code, *([self.merge] if self.merge else []), self.end]


@dataclass
class Flow:
    """An edge, or the point where code is written: its block, the variables' values, what dominates it."""

    block: Block
    env: dict[str, str]
    values: dict[str, tuple[str, ...]]
    places: tuple[Place, ...]

    def copy(self) -> Flow:
        """For an edge."""
        return Flow(self.block, dict(self.env), dict(self.values), self.places)


class Values:
    """``scalars``: the scalar types that the program has; ``at``: the open point."""

    quad_control = False  # it may have what belongs to VK_KHR_shader_quad_control, and replicated composites

    def __init__(self, rng: random.Random, scalars: tuple[str, ...]) -> None:
        self.rng = rng
        self.scalars = scalars
        self.d = Declarations()
        self.next = 0
        self.at: Flow | None = None
        self.env_types: dict[str, str] = {}
        self.decorations: list[str] = []
        self.roots: list[Place] = []  # that dominate everything in the function
        self.invocation = ""
        self.modern = False  # SPIR-V 1.4 and later

    # -- writing

    def new(self, prefix: str = "v") -> str:
        self.next += 1
        return f"{prefix}{self.next}"

    def line(self, text: str) -> None:
        assert self.at is not None
        self.at.block.code.append(text)

    def emit(self, op: str, type_: str, *operands: str, keep: bool = True) -> str:
        """An instruction; its result may be used from here on."""
        assert self.at is not None
        id_ = "%" + self.new()
        self.line(f"{id_} = {op} {self.d.type(type_)} {' '.join(operands)}".rstrip())
        if keep:
            self.remember(type_, id_)
        if op in ("OpFAdd", "OpFSub", "OpFMul", "OpVectorTimesScalar") and self.rng.random() < 0.4:
            self.decorations.append(f"OpDecorate {id_} NoContraction")
        return id_

    def ext(self, name: str, type_: str, *operands: str) -> str:
        return self.emit("OpExtInst", type_, "%glsl", name, *operands)

    def remember(self, type_: str, id_: str) -> None:
        assert self.at is not None
        self.at.values[type_] = (*self.at.values.get(type_, ())[-12:], id_)

    # -- choosing

    def constant(self, type_: str) -> str:
        s, rng = shape(type_), self.rng
        if s.kind == "scalar":
            if rng.random() < 0.05:
                return self.specialised(type_)
            return self.d.constant(type_, self.number(type_))
        if rng.random() < 0.15:
            return self.d.constant(type_, None)
        if s.kind == "struct":
            return self.d.composite(type_, [self.constant(x) for x in self.d.structs[type_]])
        return self.d.composite(type_, [self.constant(s.element) for _ in range(s.count)])

    def specialised(self, scalar: str) -> str:
        """A specialisation constant, or an operation of some."""
        rng, d = self.rng, self.d
        if rng.random() < 0.3 or scalar[0] == "f":
            return d.specialised(scalar, self.number(scalar))
        of = rng.choice([x for x in self.scalars if x[0] != "f"]) if rng.random() < 0.3 else scalar
        a, b = (d.specialised(of, self.number(of)) for _ in range(2))
        if scalar == "bool":
            ops = ["LogicalAnd", "LogicalOr", "LogicalEqual", "LogicalNotEqual"]
            if of != "bool":
                ops = ["IEqual", "INotEqual", *(m + x for m in "US" for x in ORDERS)]
            return d.operation(rng.choice(ops), scalar, a, b)
        if rng.random() < 0.2 or of == "bool":
            truth = d.specialised("bool", rng.random() < 0.5)
            return d.operation("Select", scalar, truth, *(d.specialised(scalar, self.number(scalar)) for _ in range(2)))
        if bits(of) != bits(scalar):
            unsigned = scalar[0] == "u" and self.modern
            if scalar[0] == "u" and not unsigned:  # UConvert: SPIR-V 1.4
                return d.specialised(scalar, self.number(scalar))
            return d.operation("UConvert" if unsigned else "SConvert", scalar, a)
        if rng.random() < 0.15:
            return d.operation(rng.choice(["SNegate", "Not"]), scalar, a)
        ops = ["IAdd", "ISub", "IMul", "BitwiseAnd", "BitwiseOr", "BitwiseXor"]
        ops += ["ShiftLeftLogical", "ShiftRightLogical", "ShiftRightArithmetic"]
        # spirv-val wants unsigned results of an unsigned division.
        ops += ["UDiv", "UMod"] * 2 if scalar[0] == of[0] == "u" else ["SDiv", "SMod", "SRem"] * 3
        if rng.random() < 0.4:  # a small divisor, factor or shift
            b = d.specialised(of, rng.choice([2, 3, 5, 7] if of[0] == "u" else [-3, 2, 3, -5, 7]))
        return d.operation(rng.choice(ops), scalar, a, b)

    def number(self, scalar: str) -> int | float | bool:
        rng = self.rng
        if scalar == "bool":
            return rng.random() < 0.5
        n, r = bits(scalar), rng.random()
        if r < 0.5:
            return edges.value(scalar, rng.choice(edges.patterns(scalar)))
        if scalar[0] == "f":
            return rng.choice([1.0, -1.0, 0.5, 2.0, -3.0, 1.5, 100.0, -0.375, *(rng.uniform(-4, 4) for _ in range(8))])
        return edges.value(scalar, rng.choice([rng.randrange(9), rng.getrandbits(n)]) & (1 << n) - 1)

    def pick(self, type_: str) -> str | None:
        """A value that is there."""
        assert self.at is not None
        found = [self.at.env[name] for name, t in self.env_types.items() if t == type_ and name in self.at.env]
        found += self.at.values.get(type_, ())
        return self.rng.choice(found) if found else None

    def value(self, type_: str, depth: int = 0) -> str:
        """Any value of a type: one that is there, a constant, a new one."""
        r = self.rng.random()
        if r < 0.55:
            there = self.pick(type_)
            if there:
                return there
        if depth > 3 or r > 0.9:
            return self.constant(type_)
        return self.make(type_, depth + 1)

    def make(self, type_: str, depth: int = 0) -> str:
        """A new instruction (and its operands) that gives a value of a type; see numeric.py."""
        return self.rng.choice([self._select, self._load, self._copy])(type_, depth)

    def scalar_of(self, kinds: tuple[str, ...]) -> str | None:
        """A scalar type of the program among these."""
        there = [x for x in self.scalars if x in kinds]
        return self.rng.choice(there) if there else None

    # -- of any type

    def _select(self, type_: str, depth: int) -> str:
        s = shape(type_)
        condition = "bool"  # of composites and whole vectors: SPIR-V 1.4
        if s.kind == "vector" and (not self.modern or self.rng.random() < 0.5):
            condition = f"boolv{s.count}"
        if s.kind in ("array", "struct", "matrix") and not self.modern:
            return self._load(type_, depth)
        return self.emit(
            "OpSelect", type_, self.value(condition, depth), self.value(type_, depth), self.value(type_, depth)
        )

    def _copy(self, type_: str, depth: int) -> str:
        return self.emit("OpCopyObject", type_, self.value(type_, depth + 1))

    def _construct(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        if s.kind == "struct":
            return self.emit("OpCompositeConstruct", type_, *(self.value(x, depth + 1) for x in self.d.structs[type_]))
        if self.quad_control and rng.random() < 0.4:
            self.d.need("ReplicatedCompositesEXT", "SPV_EXT_replicated_composites")
            return self.emit("OpCompositeConstructReplicateEXT", type_, self.value(s.element, depth + 1))
        if s.kind == "vector" and s.count > 2 and rng.random() < 0.5:
            first = rng.randrange(2, s.count)
            parts = [self.value(f"{s.scalar}v{first}", depth + 1)] + [
                self.value(s.scalar, depth + 1) for _ in range(s.count - first)
            ]
            rng.shuffle(parts)
            return self.emit("OpCompositeConstruct", type_, *parts)
        return self.emit("OpCompositeConstruct", type_, *(self.value(s.element, depth + 1) for _ in range(s.count)))

    def _insert(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        if s.kind == "vector" and rng.random() < 0.4:
            index = self.value(self.scalar_of(("u32", "i32", "u16", "i8", "u64")) or "u32", depth + 1)
            return self.emit(
                "OpVectorInsertDynamic", type_, self.value(type_, depth), self.value(s.scalar, depth), index
            )
        path, part = [], type_
        while True:
            t = shape(part)
            parts = self.d.structs[part] if t.kind == "struct" else [t.element] * t.count
            path.append(rng.randrange(len(parts)))
            part = parts[path[-1]]
            if shape(part).kind == "scalar" or rng.random() < 0.5:
                break
        return self.emit(
            "OpCompositeInsert", type_, self.value(part, depth + 1), self.value(type_, depth + 1), *map(str, path)
        )

    def _extract(self, type_: str, depth: int) -> str:
        """Of a composite that is there, or of a vector that is made."""
        assert self.at is not None
        s, rng = shape(type_), self.rng
        found: list[tuple[str, list[int]]] = []
        for whole, ids in self.at.values.items():
            if ids and shape(whole).kind in ("array", "struct", "matrix", "vector"):
                found += [(ids[-1], path) for path in self.paths(whole, type_)]
        if found and rng.random() < 0.7:
            id_, path = rng.choice(found)
            return self.emit("OpCompositeExtract", type_, id_, *map(str, path))
        if s.kind != "scalar":
            return self._shuffle(type_, depth)
        vector = f"{type_}v{rng.randint(2, 4)}"
        if rng.random() < 0.5:
            return self.emit(
                "OpCompositeExtract", type_, self.value(vector, depth), str(rng.randrange(shape(vector).count))
            )
        index = self.value(self.scalar_of(("u32", "i32", "u16", "i8", "u64")) or "u32", depth)
        return self.emit("OpVectorExtractDynamic", type_, self.value(vector, depth), index)

    def paths(self, whole: str, wanted: str, most: int = 6) -> list[list[int]]:
        """Ways from a composite to its parts of a type."""
        s, out = shape(whole), []
        parts = self.d.structs[whole] if s.kind == "struct" else [s.element] * s.count
        for k, part in enumerate(parts):
            if part == wanted:
                out.append([k])
            elif shape(part).kind != "scalar":
                out += [[k, *rest] for rest in self.paths(part, wanted)]
        return out[:most]

    def _shuffle(self, type_: str, depth: int) -> str:
        s, rng = shape(type_), self.rng
        a, b = (f"{s.scalar}v{rng.randint(2, 4)}" for _ in range(2))
        total = shape(a).count + shape(b).count
        places = [str(rng.randrange(total)) if rng.random() < 0.95 else "0xFFFFFFFF" for _ in range(s.count)]
        return self.emit("OpVectorShuffle", type_, self.value(a, depth), self.value(b, depth), *places)

    # -- memory

    def _load(self, type_: str, depth: int) -> str:
        place = self.place(type_, depth)
        return self.emit("OpLoad", type_, place) if place else self.constant(type_)

    def place(self, type_: str, depth: int, writable: bool = False) -> str | None:
        """A pointer to a value of a type: one that is there, or a new chain into a variable or a buffer."""
        assert self.at is not None
        there = [p for p in self.at.places if p.type == type_ and (p.writable or not writable)]
        if there and self.rng.random() < 0.4:
            return self.rng.choice(there).id
        roots = [p for p in (*self.roots, *self.at.places) if p.writable or not writable]
        self.rng.shuffle(roots)
        for root in roots:
            ways = self.ways(root.type, type_)
            if ways:
                return self.chain(root, self.rng.choice(ways), type_, depth)
        return None

    def ways(self, whole: str, wanted: str, depth: int = 0) -> list[list[str | int]]:
        """Index lists from ``whole`` to ``wanted``: members' numbers, and for what is indexed its length ("*0": a run-time array)."""
        if whole == wanted:
            return [[]]
        s = shape(whole)
        if s.kind == "scalar" or depth > 5:
            return []
        if s.kind == "struct":
            return [
                [k, *rest]
                for k, part in enumerate(self.d.structs[whole])
                for rest in self.ways(part, wanted, depth + 1)
            ]
        return [[f"*{s.count}", *rest] for rest in self.ways(s.element, wanted, depth + 1)]

    def chain(self, root: Place, way: list[str | int], type_: str, depth: int) -> str:
        """OpAccessChain. Indices of what others may write stay inside; the rest goes where it wants."""
        assert self.at is not None
        if not way:
            return root.id
        shared = root.storage in ("StorageBuffer", "Workgroup") and root.writable
        # What lies behind an array in a buffer is of any type: floats are read where there are floats.
        inside = shared or (root.storage in ("StorageBuffer", "Uniform", "PushConstant") and self.has_floats(type_))
        indices = []
        for step in way:
            if isinstance(step, int):
                indices.append(self.d.constant("u32", step))
            else:
                indices.append(self.index(int(step[1:]), inside, depth, own=shared))
        op = "OpInBoundsAccessChain" if self.rng.random() < 0.2 and shared else "OpAccessChain"
        id_ = "%" + self.new("q")
        self.line(f"{id_} = {op} {self.d.pointer(root.storage, type_)} {root.id} {' '.join(indices)}")
        self.at.places = (*self.at.places[-8:], Place(id_, type_, root.storage, root.writable))
        return id_

    def has_floats(self, type_: str) -> bool:
        """Anywhere in a type."""
        s = shape(type_)
        if s.kind == "struct":
            return any(self.has_floats(x) for x in self.d.structs[type_])
        return self.has_floats(s.element) if s.kind == "array" else s.scalar in FLOATS

    def index(self, length: int, inside: bool, depth: int, own: bool = False) -> str:
        """Of an array of ``length``, 0: as many as there are invocations, of which one is the invocation's ``own``."""
        rng, r = self.rng, self.rng.random()
        if length == 0:
            return self.invocation if own or r < 0.3 else self.value("u32", depth)
        if r < 0.3:
            return self.d.constant(rng.choice(["u32", "i32"]), rng.randrange(length))
        kind = self.scalar_of(("u32", "i32", "u16", "i8", "u64")) or "u32"
        if not inside and r < 0.5:
            return self.value(kind, depth)
        if inside or length & length - 1 or r < 0.5:
            value = self.value("u32", depth)
            return self.emit("OpUMod", "u32", value, self.d.constant("u32", length))
        return self.emit("OpBitwiseAnd", kind, self.value(kind, depth), self.d.constant(kind, length - 1))


__all__ = ["Block", "Flow", "Place", "Values"]
