"""Whole random modules with the data that they read: compute, fragment, vertex and geometry shaders of 24 invocations or fewer.

Each invocation reads everything and writes what is its own alone, so that there is one result; what invocations share goes through
barriers, subgroups and atomics. At the end an invocation stores the variables of its environment and parts of its local ones.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
from tests.shader_fuzz.edges import patterns
from tests.shader_fuzz.flow import Function
from tests.shader_fuzz.palette import FLOATS, INTEGERS, Declarations, Member, bits, extent_B, pattern, placed, shape
from tests.shader_fuzz.specials import SHARED_ATOMICS, Specials
from tests.shader_fuzz.values import WORDS, Flow, Place

INTERFACE = ("%id", "%local_id", "%coord", "%color", "%index", "%position")
WIDTH_PX, HEIGHT_PX = 6, 4  # of fragment programs: as many invocations
BUFFERS = {"in": 0, "tin": 1, "tout": 2, "uni": 3, "out": 4, "atomic": 5, "tail": 6}


@dataclass
class Program:
    """``buffers``: what is bound, by binding; ``observed``: bindings that are compared; ``floats``: bytes of ``out`` that are floats."""

    seed: int
    stage: str
    text: str
    version: str
    local_size: int
    groups: int
    buffers: dict[int, bytes]
    push_constants: bytes
    layouts: dict[str, list[Member]] = field(default_factory=dict)


class Generator(Specials):
    """``Generator(seed).program()``."""

    def __init__(self, seed: int, size: int = 30, stage: str = "") -> None:
        rng = random.Random(seed)
        more = [x for x in (*INTEGERS, *FLOATS) if x not in ("u32", "f32")]
        chosen = {
            "u32",
            "bool",
            *(["f32"] if rng.random() < 0.9 else []),
            *rng.sample(more, rng.choice([0, 1, 1, 2, 3])),
        }
        if rng.random() < 0.6:
            chosen.add("i32")
        super().__init__(rng, tuple(sorted(chosen)))
        self.seed, self.size = seed, size
        self.plain = rng.choice([0.0, 0.0, 0.2, 0.6])
        self.stage = stage or rng.choice(
            ["compute", "compute", "compute", "fragment", "fragment", "vertex", "geometry"]
        )
        self.version = rng.choice(["1.3", "1.5"])
        self.modern = self.version == "1.5"
        self.local_size = rng.choice([1, 3, 4, 6, 8, 12, 16, 20])
        self.groups = max(1, rng.randint(1, 24 // self.local_size))
        self.variable_pointers = rng.random() < 0.25
        self.quad_control = random.Random(seed).random() < 0.15  # of its own numbers: other programs stay what they were
        self.edges = 0.5  # share of edge cases among what the typed input holds

    @property
    def count(self) -> int:
        """Invocations."""
        return self.local_size * self.groups if self.stage == "compute" else WIDTH_PX * HEIGHT_PX

    # -- types and memory

    def any_type(self, composites: bool = True, bools: bool = True) -> str:
        """For a variable."""
        rng = self.rng
        scalar = rng.choice([x for x in self.scalars if bools or x != "bool"])
        r = rng.random()
        if scalar[0] == "f" and r < 0.15 and composites:
            return f"{scalar}m{rng.randint(2, 4)}x{rng.randint(2, 4)}"
        return f"{scalar}v{rng.randint(2, 4)}" if r < 0.45 else scalar

    def make_layouts(self) -> None:
        """The typed buffers' element, uniform and push constant blocks."""
        rng, d = self.rng, self.d
        inner = [(self.any_type(bools=False), False) for _ in range(rng.randint(1, 3))]
        self.add_struct("SN", placed(inner, d.layouts))
        size, align = extent_B("SN", d.layouts)
        members: list[tuple[str, bool]] = [("u32", False), *((x, False) for x in self.more_members())]
        for _ in range(rng.randint(3, 6)):
            base = self.any_type(bools=False)
            row_major = shape(base).kind == "matrix" and rng.random() < 0.5
            if rng.random() < 0.35:
                own, to = extent_B(base, d.layouts, row_major)
                to = max(to, extent_B(base, d.layouts)[1])
                base = f"A{rng.randint(2, 5)}_{base}_L{-(-own // to) * to}"
            members.append((base, row_major))
        members.append(("SN", False))
        if rng.random() < 0.5:
            members.append((f"A3_SN_L{-(-size // align) * align}", False))
        self.add_struct("SD", placed(members, d.layouts))
        element_B = extent_B("SD", d.layouts)[0]
        self.element_B = element_B
        self.add_block("SB", [Member(f"A0_SD_L{element_B}", 0)])
        self.add_block("SI", [Member("A0_u32_L4", 0)])
        uniform = [("u32", False), ("u32", False), ("A4_u32_L16", False)]
        if "f32" in self.scalars:
            uniform += [("A3_f32v3_L16", False), ("f32m3x3", rng.random() < 0.5), ("f32v4", False)]
        self.add_block("SU", placed(uniform, d.layouts, 16))
        self.add_block("SP", placed([("u32", False), ("u32v2", False), ("A3_u32_L4", False)], d.layouts))

    def more_members(self) -> list[str]:
        """Types that the typed buffers' element has for sure."""
        return []

    def add_struct(self, name: str, members: list[Member]) -> None:
        """A structure with a layout."""
        self.d.structs[name] = [m.type for m in members]
        self.d.layouts[name] = members
        if name not in ("SN", "SD"):
            return
        for m in members:
            self.storage_capabilities(m.type)

    def storage_capabilities(self, type_: str) -> None:
        """What a member of a storage buffer asks for."""
        s = shape(type_)
        if s.kind == "struct":
            return
        if s.kind == "array":
            return self.storage_capabilities(s.element)
        if bits(s.scalar) == 16:
            self.d.need("StorageBuffer16BitAccess", "SPV_KHR_16bit_storage")
        if bits(s.scalar) == 8:
            self.d.need("StorageBuffer8BitAccess", "SPV_KHR_8bit_storage")

    def add_block(self, name: str, members: list[Member]) -> None:
        """A block."""
        self.add_struct(name, members)
        self.d.decorations.append(f"OpDecorate %t_{name} Block")

    def resource(self, id_: str, type_: str, storage: str, writable: bool) -> None:
        """A buffer's variable."""
        self.d.variable(id_, storage, type_)
        if id_ in BUFFERS:
            self.d.decorations += [f"OpDecorate %{id_} DescriptorSet 0", f"OpDecorate %{id_} Binding {BUFFERS[id_]}"]
        if not writable and storage == "StorageBuffer":
            self.d.decorations.append(f"OpDecorate %{id_} NonWritable")

    # -- the whole

    def helper(self, name: str) -> Function:
        """A function that is called from others."""
        parameters = [(f"%{name}_{k}", self.any_type()) for k in range(self.rng.randint(1, 3))]
        if self.rng.random() < 0.5:
            parameters.append((f"%{name}_p", f"*{self.locals[0]}"))
        f = Function(name, self.any_type(), parameters)
        self.start(f)
        assert self.at is not None
        for id_, type_ in parameters:
            if not type_.startswith("*"):
                self.remember(type_, id_)
        self.invocation = self.emit("OpLoad", "u32", "%number", keep=False)
        self.roots = [
            *self.module_roots,
            *(Place(x, t[1:], "Function", True) for x, t in parameters if t.startswith("*")),
        ]
        self.local_variables(self.locals[1:], name)
        self.environment(2)
        self.budget = 6
        while self.budget > 0 and self.at is not None:
            self.statement(2)
        if self.at is not None:
            self.end_function()
        return f

    def helpers(self) -> list[Function]:
        """Those that others may call, which may call those before."""
        made = []
        for k in range(self.rng.choice([0, 0, 1, 2])):
            made.append(self.helper(f"f{k}"))
            self.callable = [*self.callable, made[-1]]
        return made

    def environment(self, count: int) -> None:
        """Variables that change as the program runs."""
        assert self.at is not None
        self.env_types = {}
        pool = list(self.kinds)
        for k in range(count):
            self.env_types[f"e{k}"] = pool[k % len(pool)]
        for name, type_ in self.env_types.items():
            self.at.env[name] = self.value(type_)
        if self.variable_pointers and self.function.name == "body":
            for name in ("e7", "e8"):
                place = self.chain(next(p for p in self.roots if p.id == "%tin"), [0, "*0", 0], "u32", 0)
                self.env_types[name], self.at.env[name] = "*u32", place
                self.at.places = (*self.at.places, Place(place, "u32", "StorageBuffer", False))

    def local_variables(self, types: list[str], prefix: str) -> None:
        """OpVariable at the function's begin."""
        first = self.function.blocks[0]
        for k, type_ in enumerate(types):
            start = "" if self.rng.random() < 0.3 else " " + self.constant(type_)
            first.code.insert(0, f"%{prefix}_l{k} = OpVariable {self.d.pointer('Function', type_)} Function{start}")
            self.roots.append(Place(f"%{prefix}_l{k}", type_, "Function", True))

    def end_function(self) -> None:
        """Of the body: what it found is stored first."""
        assert self.at is not None
        if self.function.name != "body":
            return super().end_function()
        for k, (name, type_) in enumerate(self.observed_env()):
            value = self.at.env[name]
            if type_.startswith("*"):
                value = self.emit("OpLoad", type_[1:], value, keep=False)
            self.observe(k, type_ if not type_.startswith("*") else type_[1:], value)
        for k, (root, way, type_) in enumerate(self.observed_locals, len(self.observed_env())):
            place = self.chain(root, way, type_, 9)
            self.observe(k, type_, self.emit("OpLoad", type_, place, keep=False))
        self.at.block.end, self.at = "OpReturn", None
        return None

    def observed_env(self) -> list[tuple[str, str]]:
        """In order."""
        return sorted(self.env_types.items())

    def stored_type(self, type_: str) -> str:
        """Truths are stored as numbers."""
        return type_.replace("bool", "u32")

    def observe(self, member: int, type_: str, value: str) -> None:
        """Stores to the invocation's own element of the output."""
        stored = self.stored_type(type_)
        if stored != type_:
            one, none = (self.d.constant("u32", k) for k in (1, 0))
            s = shape(type_)
            if s.kind == "vector":
                one, none = (self.d.composite(stored, [x] * s.count) for x in (one, none))
            value = self.emit("OpSelect", stored, value, one, none, keep=False)
        pointer, of = "%" + self.new("q"), self.d.pointer("StorageBuffer", stored)
        zero, place = (self.d.constant("u32", k) for k in (0, member))
        self.line(f"{pointer} = OpAccessChain {of} %out {zero} {self.invocation} {place}")
        self.line(f"OpStore {pointer} {value}")

    def plan(self) -> None:
        """Types of the environment and of local variables, and what of them is observed."""
        rng = self.rng
        self.kinds = ["u32", *(self.any_type() for _ in range(rng.randint(3, 5)))]
        self.d.structs["SL"] = [self.any_type() for _ in range(rng.randint(2, 3))] + [f"A3_{self.any_type()}"]
        self.locals = [
            f"A{rng.choice([3, 4, 8])}_{self.any_type()}",
            self.any_type(),
            rng.choice(["SL", f"A2_{self.any_type()}", "A2_SL"]),
        ]
        self.privates = [f"A{rng.choice([4, 5])}_{self.any_type()}", self.any_type()]

    def declare(self) -> None:
        """Blocks and module variables."""
        self.make_layouts()
        self.resource("in", "SI", "StorageBuffer", False)
        self.resource("tin", "SB", "StorageBuffer", False)
        self.resource("tout", "SB", "StorageBuffer", True)
        self.resource("uni", "SU", "Uniform", False)
        self.resource("atomic", "SI", "StorageBuffer", True)
        self.resource("push", "SP", "PushConstant", False)
        self.module_roots = [Place("%tin", "SB", "StorageBuffer", False), Place("%tout", "SB", "StorageBuffer", True),
                             Place("%uni", "SU", "Uniform", False), Place("%push", "SP", "PushConstant", False)]  # fmt: skip
        for k, type_ in enumerate(self.privates):
            start = self.constant(type_) if self.rng.random() < 0.6 else self.d.constant(type_, None)
            self.d.variable(f"private{k}", "Private", type_, start)
            self.module_roots.append(Place(f"%private{k}", type_, "Private", True))
        self.d.variable("number", "Private", "u32")  # of the invocation, for functions
        if self.stage == "compute":
            self.d.variable("shared", "Workgroup", f"A{self.local_size}_u32")
            self.d.variable("id", "Input", "u32v3")
            self.d.variable("local_id", "Input", "u32")
            self.d.decorations += [
                "OpDecorate %id BuiltIn GlobalInvocationId",
                "OpDecorate %local_id BuiltIn LocalInvocationIndex",
            ]
        elif self.stage in ("vertex", "geometry"):
            self.d.variable("index", "Input", "u32")
            self.d.variable("position", "Output", "f32v4")
            number = "VertexIndex" if self.stage == "vertex" else "PrimitiveId"
            self.d.decorations += [f"OpDecorate %index BuiltIn {number}", "OpDecorate %position BuiltIn Position"]
        else:
            self.d.variable("coord", "Input", "f32v4")
            self.d.variable("color", "Output", "u32v4")
            self.d.decorations += ["OpDecorate %coord BuiltIn FragCoord", "OpDecorate %color Location 0"]

    def begin(self) -> None:
        """The invocation's number, the uniforms."""
        d = self.d
        if self.stage == "compute":
            id3 = self.emit("OpLoad", "u32v3", "%id", keep=False)
            self.invocation = self.emit("OpCompositeExtract", "u32", id3, "0")
            self.line(f"%local = OpLoad {d.type('u32')} %local_id")
            self.remember("u32", "%local")
        elif self.stage in ("vertex", "geometry"):
            self.invocation = self.emit("OpLoad", "u32", "%index")
            self.line(
                f"OpStore %position {d.composite('f32v4', [d.constant('f32', 0.0)] * 3 + [d.constant('f32', 1.0)])}"
            )
        else:
            coord = self.emit("OpLoad", "f32v4", "%coord", keep="f32" in self.scalars)
            x, y = (
                self.emit("OpConvertFToU", "u32", self.emit("OpCompositeExtract", "f32", coord, k, keep=False))
                for k in "01"
            )
            row = self.emit("OpIMul", "u32", y, d.constant("u32", WIDTH_PX), keep=False)
            self.invocation = self.emit("OpIAdd", "u32", row, x)
            color = self.emit("OpCompositeConstruct", "u32v4", *(self.word(9) for _ in range(4)), keep=False)
            self.line(f"OpStore %color {color}")
        self.line(f"OpStore %number {self.invocation}")
        self.uniforms = []
        for id_, class_ in (("%uni", "Uniform"), ("%push", "PushConstant")):
            pointer = "%" + self.new("q")
            self.line(f"{pointer} = OpAccessChain {d.pointer(class_, 'u32')} {id_} {d.constant('u32', 0)}")
            self.uniforms.append(self.emit("OpLoad", "u32", pointer))

    def program(self) -> Program:
        """The module and its data."""
        self.plan()
        self.declare()
        self.callable: list[Function] = []
        self.uniforms = [self.d.constant("u32", 2)]
        functions = self.helpers()
        body = Function("body", "void", [], kills=self.stage == "fragment" and self.rng.random() < 0.5)
        self.start(body)
        self.roots = list(self.module_roots)
        self.local_variables(self.locals, "b")
        self.begin()
        self.environment(6)
        local_roots = [p for p in self.roots if p.storage in ("Function", "Private")]
        self.observed_locals = [
            (root, *self.some_leaf(root.type)) for root in (self.rng.choice(local_roots) for _ in range(4))
        ]
        self.make_output()
        self.budget = self.size
        while self.budget > 0 and self.at is not None:
            self.statement(0)
        if self.at is not None:
            self.end_function()
        functions.append(body)
        return self.whole(functions)

    def whole(self, functions: list[Function]) -> Program:
        """With its data."""
        return Program(self.seed, self.stage, self.text(functions), self.version, self.local_size, self.groups, self.data(),
                       np.array([self.rng.randrange(4), 3, 5, 7, 0xFFFFFFFF, 11, 2], "u4").tobytes(), self.d.layouts)  # fmt: skip

    def some_leaf(self, whole: str) -> tuple[list[str | int], str]:
        """To a scalar, vector or matrix."""
        way: list[str | int] = []
        while shape(whole).kind in ("array", "struct"):
            s = shape(whole)
            if s.kind == "struct":
                way.append(self.rng.randrange(len(self.d.structs[whole])))
                whole = self.d.structs[whole][int(way[-1])]
            else:
                way.append(f"*{s.count}")
                whole = s.element
        return way, whole

    def make_output(self) -> None:
        """The output's element: what is observed."""
        types = [t.removeprefix("*") for _, t in self.observed_env()] + [t for _, _, t in self.observed_locals]
        self.add_struct("SR", placed([(self.stored_type(t), False) for t in types], self.d.layouts))
        for t in types:
            self.storage_capabilities(self.stored_type(t))
        self.result_B = extent_B("SR", self.d.layouts)[0]
        self.add_block("SO", [Member(f"A0_SR_L{self.result_B}", 0)])
        self.resource("out", "SO", "StorageBuffer", True)

    # -- text and data

    def text(self, functions: list[Function]) -> str:
        """Assembly."""
        d = self.d
        bodies: list[str] = []
        for f in functions:
            parameters = [d.pointer("Function", t[1:]) if t.startswith("*") else d.type(t) for _, t in f.parameters]
            bodies.append(f"%{f.name} = OpFunction {d.type(f.result)} None {d.function(f.result, *parameters)}")
            bodies += [f"{id_} = OpFunctionParameter {t}" for (id_, _), t in zip(f.parameters, parameters, strict=True)]
            for block in f.blocks:
                bodies += block.text()
            bodies.append("OpFunctionEnd")
        if self.variable_pointers:
            d.need("VariablePointers" if self.rng.random() < 0.5 else "VariablePointersStorageBuffer")
        interface = d.globals if self.version == "1.5" else [g for g in d.globals if g in INTERFACE]
        model = "GLCompute" if self.stage == "compute" else self.stage.capitalize()
        modes = {
            "compute": [f"LocalSize {self.local_size} 1 1"],
            "fragment": ["OriginUpperLeft"],
            "vertex": [],
            "geometry": ["InputPoints", "Invocations 1", "OutputPoints", "OutputVertices 4"],
        }[self.stage]
        if self.stage == "geometry":
            d.need("Geometry")
        if "ComputeDerivativeGroupLinearNV" in d.capabilities:
            modes.append("DerivativeGroupLinearNV")
        if "QuadControlKHR" in d.capabilities:
            d.need("GroupNonUniform", "SPV_KHR_maximal_reconvergence")
            full = ["RequireFullQuadsKHR"] if self.stage == "fragment" and self.rng.random() < 0.5 else []
            modes += ["MaximallyReconvergesKHR", *full]
        lines = [
            "OpCapability Shader",
            *(f"OpCapability {x}" for x in d.capabilities),
            *(f'OpExtension "{x}"' for x in d.extensions),
        ]
        lines += ['%glsl = OpExtInstImport "GLSL.std.450"', "OpMemoryModel Logical GLSL450"]
        lines += [
            f'OpEntryPoint {model} %body "main" {" ".join(interface)}',
            *(f"OpExecutionMode %body {mode}" for mode in modes),
        ]
        return "\n".join([*lines, *d.decorations, *self.decorations, *d.lines, *bodies]) + "\n"

    def data(self) -> dict[int, bytes]:
        """Contents of the buffers."""
        rng = np.random.default_rng(self.seed)
        count = self.count
        edges = (0, 1, 2, 3, 7, 8, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE)
        floats_ = (0x3F800000, 0xBF800000, 0x7F800000, 0x7FC00000, 0x40490FDB, 0x00800000, 0x00400000, 0x447A0000)
        interesting = np.array((*edges, *floats_), "u4")
        words = rng.choice(interesting, WORDS)
        words[::3] = rng.integers(0, 64, len(words[::3]))
        elements = b"".join(self.element("SD", rng) for _ in range(count))
        uniform = bytearray(extent_B("SU", self.d.layouts)[0])
        numbers = rng.integers(0, 4, len(uniform) // 4, dtype="u4")
        if "f32" in self.scalars:
            floats = rng.choice(np.array([0, 1, -1, 0.5, 3, -2.5], "f4"), len(numbers)).view("u4")
            numbers[20:] = floats[20:]
        uniform[: 4 * len(numbers)] = numbers.tobytes()
        atomics = np.concatenate([rng.choice(interesting, count), np.full(len(SHARED_ATOMICS), 0x0000FF0F, "u4")])
        there = b"".join(self.element("SD", rng) for _ in range(count))
        return {0: words.tobytes(), 1: elements, 2: there, 3: bytes(uniform), 4: bytes(self.result_B * count),
                5: atomics.astype("u4").tobytes()}  # fmt: skip

    def element(self, struct: str, rng: np.random.Generator) -> bytes:
        """Of the typed input: numbers of each member's kind."""
        out = bytearray(extent_B(struct, self.d.layouts)[0])
        for m in self.d.layouts[struct]:
            self.fill(out, m.offset_B, m, rng)
        return bytes(out)

    def fill(self, out: bytearray, at: int, m: Member, rng: np.random.Generator) -> None:
        """One member."""
        s = shape(m.type)
        if s.kind == "struct":
            inner = self.element(m.type, rng)
            out[at : at + len(inner)] = inner
        elif s.kind == "array":
            for k in range(s.count):
                self.fill(out, at + k * s.stride_B, Member(s.element, 0, m.row_major, m.matrix_stride_B), rng)
        else:
            own_B = bits(s.scalar) // 8
            for k in range(extent_B(m.type, self.d.layouts, m.row_major)[0] // own_B):
                out[at + k * own_B : at + (k + 1) * own_B] = self.data_word(s.scalar, rng).to_bytes(own_B, "little")

    def data_word(self, scalar: str, rng: np.random.Generator) -> int:
        """A pattern."""
        n, r = bits(scalar), rng.random()
        if scalar[0] == "f" and n > 16 and r < 0.03:  # an integer that a program carries in a float, which is a NaN
            return (1 << n) - 1 - int(rng.integers(1 << 20))
        if r < self.edges:
            found = patterns(scalar)
            return found[rng.integers(len(found))]
        if scalar[0] == "f":
            value = float(rng.normal() * rng.choice([0.1, 1, 3, 30, 1e4, 3e9]))
            return pattern(value if n > 16 or abs(value) < 60000 else 7.25, n)
        return int(rng.integers(0, 256 if r < 0.6 else 1 << min(n, 62))) & (1 << n) - 1


__all__ = ["Declarations", "Flow", "Generator", "Program"]
