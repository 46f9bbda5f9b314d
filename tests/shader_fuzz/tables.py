"""Dense programs without control flow: many operations over a table of edge cases, a row for each invocation, every result stored.

They cost LLVM little and reach what random control flow seldom does: each instruction, of each type and size, with operands at the edges.
A table is of numbers (arithmetic, bits, comparisons, conversions, composites, GLSL.std.450), of memory (loads and stores of all layouts
and storage classes) or of groups (subgroups, atomics, quads).
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.shader_fuzz.flow import Function
from tests.shader_fuzz.functions import Functions
from tests.shader_fuzz.kernels import Kernel
from tests.shader_fuzz.palette import FLOATS, INTEGERS, bits, extent_B, placed, shape
from tests.shader_fuzz.program import BUFFERS, Generator, Program
from tests.shader_fuzz.specials import SHARED_ATOMICS
from tests.shader_fuzz.values import Place

KINDS = ("numbers", "numbers", "numbers", "memory", "groups", "groups")
ATOMIC = ("u32", "i32", "u64", "i64", "f32", "f64")
SUMS = 3
#: Whose results say nothing.
TRIVIAL = ("OpCopyObject", "OpLoad", "OpUndef")


class Table(Functions, Generator):
    """``Table(seed).program()``; ``size``: results that are stored, about."""

    def __init__(self, seed: int, size: int = 40, kind: str = "") -> None:
        rng = random.Random(seed * 7919 + 5)
        self.kind = kind or rng.choice(KINDS)
        super().__init__(seed, size, "fragment" if self.kind == "groups" and rng.random() < 0.35 else "compute")
        self.rng = rng
        floats = rng.choice([1, 2, 2, 3] if self.kind == "numbers" else [0, 1, 1])
        some = rng.sample(INTEGERS, rng.randint(1, 3)) + rng.sample(FLOATS, floats)
        if (self.kind == "numbers" and rng.random() < 0.4) or ("f16" in some and rng.random() < 0.5) or self.stage == "fragment":
            some.append("f32")
        self.scalars = tuple(sorted({"u32", "bool", *some}))
        self.local_size = rng.choice([4, 8, 12, 24, 20] if self.kind == "groups" else [24, 16, 23, 20])
        self.groups = max(1, 24 // self.local_size)
        self.plain, self.edges, self.variable_pointers = 1.0, 0.75, False
        self.inside = False  # of a selection
        self.given: dict[str, tuple[str, ...]] = {}  # the input's
        self.table: list[tuple[str, str]] = []  # types and ids of what is stored

    # -- operands

    def more_members(self) -> list[str]:
        """Two scalars of each type, and a vector."""
        own = [x for x in self.scalars if x != "bool"]
        return [*own, *own, *(f"{x}v{self.rng.randint(2, 4)}" for x in own)]

    def load_row(self) -> None:
        """The invocation's own element of the input."""
        zero = self.d.constant("u32", 0)
        for k, m in enumerate(self.d.layouts["SD"]):
            if shape(m.type).kind in ("struct", "array") and self.kind == "numbers":
                continue
            id_ = "%" + self.new("q")
            place = self.d.constant("u32", k)
            self.line(f"{id_} = OpAccessChain {self.d.pointer('StorageBuffer', m.type)} %tin {zero} {self.invocation} {place}")
            self.emit("OpLoad", m.type, id_)
        self.given = dict(self.at.values) if self.at else {}

    def pick(self, type_: str) -> str | None:
        """Of the input more often than of what was computed."""
        given = self.given.get(type_)
        return self.rng.choice(given) if given and self.rng.random() < 0.6 else super().pick(type_)

    def value(self, type_: str, depth: int = 0) -> str:
        """Of the table most often; a vector or matrix that is not in it is put together."""
        s, r = shape(type_), self.rng.random()
        there = self.pick(type_)
        if there and r < 0.75:
            return there
        if r > 0.9 and depth < 2:
            return self.make(type_, depth + 1)
        if r > 0.8 or depth > 6:
            return self.constant(type_)
        if s.kind == "scalar":
            return there or (self._compare(type_, 8) if type_ == "bool" else self.constant(type_))
        parts = self.d.structs[type_] if s.kind == "struct" else [s.element] * s.count
        return super().emit("OpCompositeConstruct", type_, *(self.value(x, depth + 2) for x in parts))

    def emit(self, op: str, type_: str, *operands: str, keep: bool = True) -> str:
        """What is computed is stored, if it is a scalar, a vector or a matrix."""
        id_ = super().emit(op, type_, *operands, keep=keep)
        if keep and op not in TRIVIAL and shape(type_).kind in ("scalar", "vector", "matrix"):
            self.table.append((type_, id_))
        return id_

    def mix(self, type_: str, value: str) -> None:
        """It is stored already."""

    # -- rows

    def row(self) -> None:
        """One more operation."""
        rng = self.rng
        if self.kind == "numbers":
            scalar = rng.choice(self.scalars) if rng.random() < 0.85 else rng.choice(("u32", "bool"))
            sizes = ["", "", "v2", "v3", "v4"]
            sizes += [f"m{rng.randint(2, 4)}x{rng.randint(2, 4)}"] if scalar[0] == "f" else []
            if rng.random() < 0.1:
                self.specialised_row()
                return
            if rng.random() < 0.75:
                self.any_function()
                return
            self.make(scalar + rng.choice(sizes))
            return
        if self.kind == "memory":
            ways: list[Callable[[], object]] = [self.write, self.write, self.read, self.read, self.read, self.copy_memory, self.length]
            ways += [self.exchange_any]
            ways += [self.copy_logical] if self.modern else []
        elif self.stage == "compute":
            ways = [self.vote, self.ballot, self.ballot, *[self.reduce] * 3, self.atomic, *[self.typed_atomic] * 3]
            ways += [] if self.inside else [self.guarded, *[self.shuffle] * 3, self.exchange_any]
        else:
            ways = [self.vote, self.ballot, self.reduce, self.atomic, self.typed_atomic]
            ways += [] if self.inside else [self.demote, *[self.derivative] * 5]
            # Of helper invocations alone there is no first one, and what an operation takes from who is elsewhere is open.
            ways += [] if self.inside or self.left else [self.guarded] * 2
        rng.choice(ways)()

    def specialised_row(self) -> None:
        """Operations of specialisation constants, several at once: they cost nothing when the shader runs."""
        for _ in range(4):
            type_ = self.rng.choice([x for x in self.scalars if x[0] != "f"])
            self.table.append((type_, self.specialised(type_)))

    def guarded(self) -> None:
        """A few rows for some invocations only."""
        then, merge = self.new("L"), self.new("L")
        source = self.fork(self.value("bool"), then, merge, merge)
        self.open(then, [source])
        self.inside, before = True, len(self.table)
        for _ in range(self.rng.randint(1, 3)):
            self.row()
        made, self.inside = self.table[before:], False
        del self.table[before:]
        edge = self.branch(merge)
        self.open(merge, [source, edge])
        for type_, id_ in made:
            found = self.phi(type_, [(id_, edge.block.label), (self.constant(type_), source.block.label)])
            self.table.append((type_, found))
            self.remember(type_, found)

    def declare(self) -> None:
        """Shared memory of any type, and a block whose run-time array is not its first member, as well."""
        super().declare()
        rng = self.rng
        if self.stage == "compute":
            self.shared_type = rng.choice([self.any_type(), self.any_type(), "SL"])
            self.d.variable("shared_any", "Workgroup", f"A{self.local_size}_{self.shared_type}")
        first = rng.choice(["u32", "u32v2", "u32v4", "A3_u32_L4"])
        member = rng.choice(["u32", "u32v2", "u32v4"])
        stride_B = rng.choice([1, 1, 2]) * extent_B(member, self.d.layouts)[0]
        self.add_block("ST", placed([(first, False), (f"A0_{member}_L{stride_B}", False)], self.d.layouts))
        self.resource("tail", "ST", "StorageBuffer", False)
        self.module_roots.append(Place("%tail", "ST", "StorageBuffer", False))

    def data(self) -> dict[int, bytes]:
        """That block has words of any number."""
        return super().data() | {BUFFERS["tail"]: random.Random(self.seed).randbytes(4 * (9 + self.seed % 40))}

    def length(self) -> None:
        """Of a run-time array."""
        name, member = self.rng.choice([("%in", 0), ("%tin", 0), ("%atomic", 0), ("%tail", 1), ("%tail", 1), ("%tail", 1)])
        self.emit("OpArrayLength", "u32", name, str(member))

    def exchange_any(self) -> None:
        """A value of any type goes to another invocation through shared memory."""
        type_, mine, theirs = self.shared_type, "%" + self.new("q"), "%" + self.new("q")
        pointer = self.d.pointer("Workgroup", type_)
        self.line(f"{mine} = OpAccessChain {pointer} %shared_any %local")
        self.line(f"OpStore {mine} {self.value(type_)}")
        self.barrier()
        turned = self.emit("OpIAdd", "u32", "%local", self.d.constant("u32", self.rng.randrange(5)), keep=False)
        at = self.emit("OpUMod", "u32", turned, self.d.constant("u32", self.local_size), keep=False)
        self.line(f"{theirs} = OpAccessChain {pointer} %shared_any {at}")
        self.taken_apart(type_, self.emit("OpLoad", type_, theirs))
        self.barrier()

    def taken_apart(self, type_: str, id_: str) -> None:
        """All parts of a value join the table."""
        s = shape(type_)
        if s.kind in ("array", "struct"):
            for k, part in enumerate(self.d.structs[type_] if s.kind == "struct" else [s.element] * s.count):
                self.taken_apart(part, super().emit("OpCompositeExtract", part, id_, str(k)))
        else:
            self.table.append((type_, id_))

    def typed_atomic(self) -> None:
        """On the invocation's own element of the typed output, or in shared memory on its own: integers and floats of 32 and 64 bits."""
        d, rng = self.d, self.rng
        places = [(m.type, k) for k, m in enumerate(d.layouts["SD"]) if m.type in ATOMIC]
        pointer, (type_, member) = "%" + self.new("q"), rng.choice(places)
        if self.stage == "compute" and self.shared_type in ATOMIC and rng.random() < 0.5:
            type_ = self.shared_type
            self.line(f"{pointer} = OpAccessChain {d.pointer('Workgroup', type_)} %shared_any %local")
        else:
            indices = f"{d.constant('u32', 0)} {self.invocation} {d.constant('u32', member)}"
            self.line(f"{pointer} = OpAccessChain {d.pointer('StorageBuffer', type_)} %tout {indices}")
        some = ["Exchange", "Load", "Store"]
        if type_[0] == "f":
            some += ["FAddEXT", "FMinEXT", "FMaxEXT"] * 2
        else:
            some += [*SHARED_ATOMICS, "ISub", "IIncrement", "IDecrement", "CompareExchange"]
        self.atomic_on(rng.choice(some), type_, pointer)

    def atomic_on(self, op: str, type_: str, pointer: str) -> None:
        """One operation."""
        d, width = self.d, bits(type_)
        if width == 64 and type_[0] != "f":
            d.need("Int64Atomics")
        if op.startswith("FM"):
            d.need(f"AtomicFloat{width}MinMaxEXT", "SPV_EXT_shader_atomic_float_min_max")
        elif op == "FAddEXT":
            d.need(f"AtomicFloat{width}AddEXT", "SPV_EXT_shader_atomic_float_add")
        scope, none = d.constant("u32", 1), d.constant("u32", 0)
        operands = [] if op in ("IIncrement", "IDecrement", "Load") else [self.value(type_)]
        if op == "Store":
            return self.line(f"OpAtomicStore {pointer} {scope} {none} {operands[0]}")
        if op == "CompareExchange":
            operands = [none, self.value(type_), self.value(type_)]
        there = self.emit(f"OpAtomic{op}", type_, pointer, scope, none, *operands, keep=type_[0] != "f")
        if type_[0] == "f":  # the bits of a NaN that was there may be any
            self.number_of(type_, there)
        return None

    def read(self) -> None:
        """From any place."""
        roots = [p for p in self.roots if p.storage != "Workgroup"]
        root = self.rng.choice(roots)
        way, type_ = self.some_way(root.type)
        if root.id in ("%tin", "%tout") and self.rng.random() < 0.3:  # all of an invocation's element
            way, type_ = [0, "*0"], "SD"
        self.taken_apart(type_, super().emit("OpLoad", type_, self.chain(root, way, type_, 5)))

    # -- the whole

    def program(self) -> Program:
        """The module and its data."""
        self.plan()
        self.callable = []
        self.uniforms = [self.d.constant("u32", 2)]
        self.declare()
        body = Function("body", "void", [], kills=self.kind == "groups" and self.stage == "fragment")
        self.start(body)
        self.roots = list(self.module_roots)
        self.local_variables(self.locals, "b")
        self.begin()
        self.load_row()
        self.table.clear()
        while len(self.table) < self.size and self.at is not None:
            before = len(self.table)
            self.row()
            if self.kind == "memory" and len(self.table) == before:
                self.size -= 1
        self.observed_locals = []
        self.make_output()
        self.end_function()
        return self.whole([body])

    def observed_env(self) -> list[tuple[str, str]]:
        """What is stored."""
        self.whole_rows = self.table[: self.rng.choice([0, 0, 3])]
        return [(id_, type_) for type_, id_ in self.whole_rows] + [("", "u32")] * SUMS

    def end_function(self) -> None:
        """A few results are stored as they are; of the words of all others sums are, by turns."""
        assert self.at is not None
        sums = [self.invocation] * SUMS
        for type_, id_ in self.table[len(self.whole_rows) :]:
            for word in self.words(type_, id_):
                sums = [*sums[1:], self.emit("OpIAdd", "u32", sums[0], word, keep=False)]
        for k, (type_, id_) in enumerate([*self.whole_rows, *(("u32", x) for x in sums)]):
            self.observe(k, type_, id_)
        self.at.block.end, self.at = "OpReturn", None

    def words(self, type_: str, id_: str) -> list[str]:
        """All bits of a scalar, vector or matrix, as words."""
        s, d = shape(type_), self.d
        if s.count:
            parts = [self.emit("OpCompositeExtract", s.element, id_, str(k), keep=False) for k in range(s.count)]
            return [word for part in parts for word in self.words(s.element, part)]
        if type_ == "bool":
            return [self.emit("OpSelect", "u32", id_, d.constant("u32", 77), d.constant("u32", 5), keep=False)]
        if bits(type_) == 64:
            both = self.emit("OpBitcast", "u32v2", id_, keep=False)
            return [self.emit("OpCompositeExtract", "u32", both, k, keep=False) for k in "01"]
        if type_ == "f16":
            two = self.emit("OpCompositeConstruct", "f16v2", id_, d.constant("f16", 1.0), keep=False)
            return [self.emit("OpBitcast", "u32", two, keep=False)]
        if type_ in ("i32", "f32"):
            return [self.emit("OpBitcast", "u32", id_, keep=False)]
        return [id_ if type_ == "u32" else self.emit("OpUConvert", "u32", id_, keep=False)]


def any_program(seed: int, size: int = 0, stage: str = "") -> Program:
    """What a seed stands for when programs are tried until the time is over: tables, somewhat fewer programs with control flow, and one
    of eight a kernel of short loops."""
    rng = random.Random(seed * 31 + 7)
    kind = stage or ("table" if rng.random() < 0.55 else "")
    if kind == "kernel" or (not stage and random.Random(seed * 37 + 3).random() < 0.12):
        return Kernel(seed, size or rng.choice((3, 5, 8))).program()
    if kind == "table":
        return Table(seed, size or rng.choice((30, 60))).program()
    return Generator(seed, size or rng.choice((8, 14, 20, 30)), stage).program()


__all__ = ["KINDS", "Place", "Table", "any_program"]
