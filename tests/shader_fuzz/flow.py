"""Random structured control flow around random expressions: selections, switches with fall-through, loops of four shapes with several
exits, early returns, kills, phis for what differs and for what doesn't, values used wherever they dominate.

Source: SPIR-V specification 1.6, section 2.11 "Structured Control Flow".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.shader_fuzz.numeric import Numeric
from tests.shader_fuzz.palette import INTEGERS, bits, like, shape
from tests.shader_fuzz.values import Block, Flow, Place


@dataclass
class Loop:
    """``switches``: open within it."""

    merge: str
    continue_: str
    continues: list[Flow] = field(default_factory=list)
    breaks: list[Flow] = field(default_factory=list)


@dataclass
class Function:
    """``parameters``: (id, type); a pointer's type is its pointee's with a "*" before."""

    name: str
    result: str
    parameters: list[tuple[str, str]]
    blocks: list[Block] = field(default_factory=list)
    kills: bool = False


class Flows(Numeric):
    """Statements; each leaves ``at`` open, or None after a jump."""

    function: Function
    uniforms: list[str]  # small numbers that all invocations share
    budget = 0
    plain = 0.0  # share of statements that are assignments and stores whatever else there is
    stage = "compute"

    def start(self, function: Function) -> None:
        """A function's first block."""
        self.function = function
        self.loops: list[Loop] = []
        self.switches = 0
        self.callable = getattr(self, "callable", [])
        self.left = False  # some invocations may have returned
        block = Block(self.new("L"))
        function.blocks.append(block)
        self.at = Flow(block, {}, {}, ())

    # -- blocks

    def open(self, label: str, edges: list[Flow]) -> None:
        """A block that these edges lead to."""
        block = Block(label)
        self.function.blocks.append(block)
        by_label = {e.block.label: e for e in edges}
        labels = list(by_label)
        env: dict[str, str] = {}
        values = {
            t: tuple(x for x in ids if all(x in e.values.get(t, ()) for e in edges))
            for t, ids in edges[0].values.items()
        }
        places = tuple(p for p in edges[0].places if all(p in e.places for e in edges))
        self.at = Flow(block, env, values, places)
        for name in edges[0].env:
            found = [by_label[label].env[name] for label in labels]
            if len(set(found)) == 1 and self.rng.random() < 0.6:
                env[name] = found[0]
            else:
                env[name] = self.phi(self.env_types[name], list(zip(found, labels, strict=True)))
        if values and self.rng.random() < 0.25:  # a value that dominates, through a phi of its own
            type_ = self.rng.choice(sorted(values))
            if values[type_]:
                id_ = self.rng.choice(values[type_])
                self.remember(type_, self.phi(type_, [(id_, label) for label in labels]))
        if len(labels) > 1 and self.rng.random() < 0.3:
            self.say_where_from(labels)

    def say_where_from(self, labels: list[str]) -> None:
        """Constants, another for each edge: nothing but the way there makes them differ between invocations."""
        assert self.at is not None
        came = self.phi("u32", [(self.d.constant("u32", k + 1), label) for k, label in enumerate(labels)])
        self.remember("u32", came)
        names = [name for name in self.at.env if self.env_types[name] == "u32"]
        if names:
            self.at.env[self.rng.choice(names)] = came

    def phi(self, type_: str, incoming: list[tuple[str, str]]) -> str:
        """OpPhi of the open block."""
        assert self.at is not None
        id_ = "%" + self.new("p")
        of = self.pointer_type(type_) if type_.startswith("*") else self.d.type(type_)
        self.at.block.phis.append(f"{id_} = OpPhi {of} " + " ".join(f"{v} %{label}" for v, label in incoming))
        return id_

    def pointer_type(self, type_: str) -> str:
        """Of a variable pointer."""
        return self.d.pointer("StorageBuffer", type_[1:])

    def branch(self, label: str) -> Flow:
        """Ends the block."""
        assert self.at is not None
        self.at.block.end = f"OpBranch %{label}"
        edge, self.at = self.at.copy(), None
        return edge

    def fork(self, condition: str, first: str, second: str, merge: str = "") -> Flow:
        """Ends the block by two branches."""
        assert self.at is not None
        if self.rng.random() < 0.3:
            condition, first, second = self.emit("OpLogicalNot", "bool", condition), second, first
        if merge:
            hint = self.rng.choice(["None", "None", "Flatten", "DontFlatten"])
            self.at.block.merge = f"OpSelectionMerge %{merge} {hint}"
        weights = " 3 1" if self.rng.random() < 0.1 else ""
        self.at.block.end = f"OpBranchConditional {condition} %{first} %{second}{weights}"
        edge, self.at = self.at.copy(), None
        return edge

    def finish(self, merge: str, edges: list[Flow]) -> None:
        """The merge block; unreachable where no edge leads to it."""
        if edges:
            self.open(merge, edges)
        else:
            self.function.blocks.append(Block(merge))
            self.at = None

    # -- statements

    def statements(self, count: int, depth: int) -> None:
        """Some of them."""
        for _ in range(count):
            if self.at is None or self.budget <= 0:
                return
            self.statement(depth)

    def statement(self, depth: int) -> None:
        """Any."""
        self.budget -= 1
        k = self.rng.randrange(100)
        if depth > 4 or k < 25 or self.rng.random() < self.plain:
            (self.assign, self.write, self.assign)[k % 3]()
        elif k < 40:
            self.special(depth)
        elif k < 54:
            self.selection(depth)
        elif k < 58:
            self.premerge(depth)
        elif k < 60:
            self.same_target(depth)
        elif k < 61:
            self.long_values(depth)
        elif k < 65:
            self.dead_predecessor()
        elif k < 79:
            self.loop(depth)
        elif k < 87:
            self.switch(depth)
        elif k < 94:
            self.leave_if()
        else:
            self.call()

    def special(self, depth: int) -> None:
        """What a stage has of its own; see program.py."""
        self.write()

    def assign(self) -> None:
        """A variable of the environment changes."""
        assert self.at is not None
        name = self.rng.choice(sorted(self.at.env))
        type_ = self.env_types[name]
        if type_.startswith("*"):
            self.at.env[name] = self.variable_pointer(type_)
        else:
            self.at.env[name] = self.make(type_)
            self.mix(type_, self.at.env[name])

    def mix(self, type_: str, value: str) -> None:
        """Part of a value joins the first variable, which is observed: most of what is computed is seen."""
        assert self.at is not None
        s, d = shape(type_), self.d
        if self.env_types.get("e0") != "u32" or s.kind not in ("scalar", "vector") or self.rng.random() < 0.3:
            return
        if s.kind == "vector":
            value = self.emit("OpCompositeExtract", s.scalar, value, str(self.rng.randrange(s.count)), keep=False)
        word = value
        if s.scalar == "bool":
            word = self.emit("OpSelect", "u32", value, *(d.constant("u32", k) for k in (77, 5)), keep=False)
        elif bits(s.scalar) == 32 and s.scalar != "u32":
            word = self.emit("OpBitcast", "u32", value, keep=False)
        elif s.scalar in INTEGERS and s.scalar != "u32":
            unsigned = "u" + s.scalar[1:]
            if s.scalar != unsigned:
                value = self.emit("OpBitcast", unsigned, value, keep=False)
            word = self.emit("OpUConvert", "u32", value, keep=False)
        elif s.scalar != "u32":
            word = self.emit("OpBitcast", "u32", self.emit("OpFConvert", "f32", value, keep=False), keep=False)
        five = self.emit("OpIMul", "u32", self.at.env["e0"], d.constant("u32", 5), keep=False)
        self.at.env["e0"] = self.emit("OpIAdd", "u32", five, word, keep=False)

    def variable_pointer(self, type_: str) -> str:
        """Another element of the same array, or one of two pointers."""
        assert self.at is not None
        mine = [x for n, x in self.at.env.items() if self.env_types[n] == type_]
        if self.rng.random() < 0.5 and len(mine) > 1:
            a, b = self.rng.choice(mine), self.rng.choice(mine)
            id_ = "%" + self.new("q")
            self.line(f"{id_} = OpSelect {self.pointer_type(type_)} {self.value('bool')} {a} {b}")
            return id_
        at = self.place(type_[1:], 0)
        return at if at and self.is_readable_buffer(at) else self.rng.choice(mine)

    def is_readable_buffer(self, id_: str) -> bool:
        """Whether a pointer is into the typed input buffer."""
        assert self.at is not None
        return any(p.id == id_ and p.storage == "StorageBuffer" and not p.writable for p in self.at.places)

    def write(self) -> None:
        """A store."""
        assert self.at is not None
        roots = [p for p in (*self.roots, *self.at.places) if p.writable]
        if not roots:
            return self.assign()
        root = self.rng.choice(roots)
        way, type_ = self.some_way(root.type)
        place = self.chain(root, way, type_, 1)
        volatile = " Volatile" if self.rng.random() < 0.03 and root.storage == "StorageBuffer" else ""
        wide = like(type_, "f32")
        if type_.startswith("f16") and "f32" in self.scalars and "m" not in type_ and root.storage == "StorageBuffer":
            value = self.emit("OpFConvert", type_, self.value(wide), keep=False)
            self.decorations.append(f"OpDecorate {value} FPRoundingMode {self.rng.choice(['RTE', 'RTZ'])}")
        else:
            value = self.value(type_)
        self.line(f"OpStore {place} {value}{volatile}")
        return None

    def some_way(self, whole: str) -> tuple[list[str | int], str]:
        """Into a composite, as far as it pleases; run-time arrays are indexed always."""
        way: list[str | int] = []
        while shape(whole).kind != "scalar":
            s = shape(whole)
            must = s.kind == "array" and s.count == 0
            must = must or (
                s.kind == "struct"
                and any(shape(x).kind == "array" and not shape(x).count for x in self.d.structs[whole])
            )
            if not must and self.rng.random() < 0.35:
                break
            if s.kind == "struct":
                way.append(self.rng.randrange(len(self.d.structs[whole])))
                whole = self.d.structs[whole][int(way[-1])]
            else:
                way.append(f"*{s.count}")
                whole = s.element
        return way, whole

    def condition(self) -> str:
        """The same for all invocations, or not, or decided by constants."""
        k = self.rng.random()
        if k > 0.88:
            return self.decided()
        if k < 0.25:
            a, b = self.rng.choice(self.uniforms), self.d.constant("u32", self.rng.randrange(8))
            return self.emit(self.rng.choice(["OpULessThan", "OpIEqual", "OpINotEqual"]), "bool", a, b)
        return self.value("bool")

    def decided(self) -> str:
        """What constants say, by instructions of the function: one way is never taken."""
        rng, d = self.rng, self.d
        kind = self.scalar_of(("u32", "i32", "u16", "i8", "u64", "i64")) or "u32"
        operands = [
            d.specialised(kind, rng.randrange(3)) if rng.random() < 0.5 else d.constant(kind, rng.randrange(3))
            for _ in range(2)
        ]
        if rng.random() < 0.3:
            op = rng.choice(["OpIAdd", "OpISub", "OpIMul", "OpBitwiseXor", "OpUMod", "OpShiftLeftLogical"])
            if op == "OpUMod" and kind[0] != "u":
                op = "OpSMod"
            operands[0] = self.emit(op, kind, operands[0], d.constant(kind, rng.choice([1, 2, 5])), keep=False)
        truth = self.emit(
            rng.choice(["OpIEqual", "OpINotEqual", "OpULessThan", "OpSGreaterThan"]), "bool", *operands, keep=False
        )
        if rng.random() < 0.3:  # one operand may do
            op = rng.choice(["OpLogicalAnd", "OpLogicalOr"])
            truth = self.emit(op, "bool", *rng.sample([truth, self.value("bool")], 2), keep=False)
        return truth

    def jump(self) -> bool:
        """Ends the block by a way out."""
        assert self.at is not None
        k = self.rng.randrange(8)
        if self.loops and k < 6:
            loop = self.loops[-1]
            if k < 3:
                loop.breaks.append(self.branch(loop.merge))
            else:
                loop.continues.append(self.branch(loop.continue_))
            return True
        if k == 6:
            self.left = True
            self.end_function()
            return True
        if k == 7 and self.function.kills:
            self.left = True
            ends = self.rng.random() < 0.3
            if ends:
                self.d.need("Shader", "SPV_KHR_terminate_invocation")
            self.at.block.end = "OpTerminateInvocation" if ends else "OpKill"
            self.at = None
            return True
        return False

    def end_function(self) -> None:
        """A return; see program.py for what is observed before."""
        assert self.at is not None
        self.at.block.end = (
            "OpReturn" if self.function.result == "void" else f"OpReturnValue {self.value(self.function.result)}"
        )
        self.at = None

    def arm(self, label: str, source: Flow, depth: int, merge: str, edges: list[Flow]) -> None:
        """One side of a selection."""
        self.open(label, [source])
        self.statements(self.rng.randint(1, 3), depth + 1)
        if self.at is not None and self.function.result != "void" and self.rng.random() < 0.25:  # an early return
            return self.end_function()
        if self.at is not None and self.rng.random() < 0.12 and self.jump():
            return None
        if self.at is not None:
            edges.append(self.branch(merge))
        return None

    def selection(self, depth: int) -> None:
        """if, if-else; either side may be empty."""
        condition = self.condition()
        then, other, merge = self.new("L"), self.new("L"), self.new("L")
        edges: list[Flow] = []
        if self.rng.random() < 0.35:
            source = self.fork(condition, then, merge, merge)
            edges.append(source)
            self.arm(then, source, depth, merge, edges)
        else:
            source = self.fork(condition, then, other, merge)
            self.arm(then, source, depth, merge, edges)
            self.arm(other, source, depth, merge, edges)
        self.finish(merge, edges)

    def premerge(self, depth: int) -> None:
        """The arms meet before the merge block."""
        then, other, both, merge = (self.new("L") for _ in range(4))
        source = self.fork(self.condition(), then, other, merge)
        edges: list[Flow] = []
        self.arm(then, source, depth, both, edges)
        self.arm(other, source, depth, both, edges)
        if not edges:
            return self.finish(merge, [])
        self.open(both, edges)
        self.statements(2, depth + 1)
        return self.finish(merge, [self.branch(merge)] if self.at is not None else [])

    def same_target(self, depth: int) -> None:
        """Both targets alike."""
        body, merge = self.new("L"), self.new("L")
        source = self.fork(self.condition(), body, body, merge)
        edges: list[Flow] = []
        self.arm(body, source, depth, merge, edges)
        self.finish(merge, edges)

    def long_values(self, depth: int) -> None:
        """A chain of many values before a selection: one way drops what it gives, or keeps it for some invocations, the other goes on
        with it. Compilers move such chains."""
        assert self.at is not None
        rng = self.rng
        kinds = {}
        for name in sorted(self.at.env):
            type_ = self.env_types[name]
            if not type_.startswith("*") and shape(type_).kind in ("scalar", "vector") and shape(type_).scalar in ("u32", "i32", "f32"):
                kinds[name] = shape(type_)
        if not kinds:
            return self.assign()
        name = rng.choice(list(kinds))
        type_ = self.env_types[name]
        before = self.at.env[name]
        value = self.chain_of(type_, before, rng.choice([20, 70, 90]))
        then, merge = self.new("L"), self.new("L")
        source = self.fork(self.condition(), then, merge, merge)
        source.env[name] = value
        self.open(then, [source])
        other = self.chain_of(type_, before, rng.choice([1, 30]))  # short ways are no branches
        kept = [other, other, before, value, self.emit("OpSelect", type_, self.value(like(type_, "bool")), value, other)]
        assert self.at is not None
        self.at.env[name] = rng.choice(kept)
        if rng.random() < 0.3:
            self.statements(1, depth + 1)
        edges = [source] if self.at is None else [source, self.branch(merge)]
        self.finish(merge, edges)
        if self.at is not None:
            self.mix(type_, self.at.env[name])
        return None

    def chain_of(self, type_: str, value: str, count: int) -> str:
        """So many operations, one of the other."""
        ops = ["OpFMul", "OpFAdd", "OpFSub"] if shape(type_).scalar == "f32" else ["OpIMul", "OpIAdd", "OpBitwiseXor", "OpISub"]
        with_ = [self.value(type_) for _ in range(3)]
        for _ in range(count):
            value = self.emit(self.rng.choice(ops), type_, value, self.rng.choice(with_), keep=False)
        return value

    def dead_predecessor(self) -> None:
        """A block that nothing reaches branches to the next one."""
        label, dead = self.new("L"), self.new("L")
        edge = self.branch(label)
        block = Block(dead, end=f"OpBranch %{label}")
        self.function.blocks.append(block)
        env = {
            name: x if self.env_types[name].startswith("*") else self.constant(self.env_types[name])
            for name, x in edge.env.items()
        }
        env = {name: edge.env[name] if self.env_types[name].startswith("*") else x for name, x in env.items()}
        self.open(label, [edge, Flow(block, env, edge.values, edge.places)])

    def leave_if(self) -> None:
        """A branch without a merge block: one target leaves the loop, or its round."""
        if not self.loops or self.switches:
            return self.assign()
        loop, rest = self.loops[-1], self.new("L")
        breaks = self.rng.random() < 0.6
        source = self.fork(self.condition(), loop.merge if breaks else loop.continue_, rest)
        (loop.breaks if breaks else loop.continues).append(source)
        self.open(rest, [source])
        return None

    # -- loops

    def loop(self, depth: int) -> None:
        """At most a few rounds; tested in the header, in a block of its own, by a selection with a break in it, or at the end."""
        rng = self.rng
        header, body, latch, merge = (self.new("L") for _ in range(4))
        before = self.branch(header)
        block = Block(header)
        self.function.blocks.append(block)
        phis: dict[str, list[tuple[str, str]]] = {}
        env = {}
        for name, value in before.env.items():
            env[name] = "%" + self.new("h")
            phis[env[name]] = [(value, before.block.label)]
        counter, step = "%" + self.new("i"), "%" + self.new("i")
        self.at = Flow(
            block, dict(env), {**before.values, "u32": (*before.values.get("u32", ()), counter)}, before.places
        )
        loop = Loop(merge, latch)
        self.loops.append(loop)
        outer, self.switches = self.switches, 0
        for _ in range(rng.randrange(3)):
            self.assign()
        bound = self.bound()
        shape_ = rng.randrange(4)
        hint = rng.choice(["None", "None", "None", "Unroll", "DontUnroll"])
        block.merge = f"OpLoopMerge %{merge} %{latch} {hint}"
        self.test(loop, shape_, counter, bound, body)
        self.statements(rng.randint(1, 4), depth + 1)
        if self.at is not None:
            loop.continues.append(self.branch(latch))
        if loop.continues:
            self.open(latch, loop.continues)
            if len(loop.continues) > 1 and rng.random() < 0.6:
                self.say_where_from(list(dict.fromkeys(e.block.label for e in loop.continues)))
            if rng.random() < 0.5:
                self.assign()
        else:  # a continue target that nothing reaches
            self.function.blocks.append(Block(latch))
            dead = {
                n: before.env[n] if self.env_types[n].startswith("*") else self.constant(self.env_types[n]) for n in env
            }
            self.at = Flow(self.function.blocks[-1], dead, {}, ())
            bound = self.d.constant("u32", 3)
        self.line(f"{step} = OpIAdd {self.d.type('u32')} {counter} {self.d.constant('u32', 1)}")
        back = self.at
        if shape_ == 3:
            again = self.emit("OpULessThan", "bool", step, bound)
            back.block.end = f"OpBranchConditional {again} %{header} %{merge}"
            loop.breaks.append(back.copy())
        else:
            back.block.end = f"OpBranch %{header}"
        for name, id_ in env.items():
            phis[id_].append((back.env[name], back.block.label))
        phis[counter] = [(self.d.constant("u32", 0), before.block.label), (step, back.block.label)]
        types = {env[name]: self.env_types[name] for name in env} | {counter: "u32"}
        for id_, incoming in phis.items():
            of = self.pointer_type(types[id_]) if types[id_].startswith("*") else self.d.type(types[id_])
            block.phis.append(f"{id_} = OpPhi {of} " + " ".join(f"{v} %{label}" for v, label in incoming))
        self.at = None
        self.loops.pop()
        self.switches = outer
        self.finish(merge, loop.breaks)

    def bound(self) -> str:
        """Of a loop's rounds: a constant, or 0 to 3."""
        if self.rng.random() < 0.3:
            return self.d.constant("u32", self.rng.choice([1, 2, 3, 5]))
        return self.emit("OpBitwiseAnd", "u32", self.value("u32"), self.d.constant("u32", 3))

    def test(self, loop: Loop, shape_: int, counter: str, bound: str, body: str) -> None:
        """From the header to the body."""
        if shape_ == 3:
            return self.open(body, [self.branch(body)])
        if shape_ == 1:
            check = self.new("L")
            self.open(check, [self.branch(check)])
            bound = self.bound()
        test = self.emit("OpULessThan", "bool", counter, bound)
        if shape_ < 2:
            source = self.fork(test, body, loop.merge)
            loop.breaks.append(source)
            return self.open(body, [source])
        self.open(body, [self.branch(body)])
        go, inner = self.new("L"), self.new("L")
        source = self.fork(test, go, inner, go)
        self.open(inner, [source])
        self.assign()
        loop.breaks.append(self.branch(loop.merge))
        return self.open(go, [source])

    def switch(self, depth: int) -> None:
        """One to three cases, some of which fall into the next; a default of its own, at the merge block, or one of the cases."""
        rng, d = self.rng, self.d
        kind = self.scalar_of(("u32", "i32", "u16", "i8", "u64", "i64")) or "u32"
        selector = self.emit("OpBitwiseAnd", kind, self.value(kind), self.d.constant(kind, 3))
        k = rng.random()
        if k > 0.88:
            selector = rng.choice([d.specialised, d.constant])(kind, rng.randrange(4))
        elif k < 0.2:
            kind, selector = "u32", self.rng.choice(self.uniforms)
        merge = self.new("L")
        cases = [self.new("L") for _ in range(rng.randint(1, 3))]
        fallback = rng.choice([merge, self.new("L"), cases[0]])
        assert self.at is not None
        block, source = self.at.block, self.at.copy()
        block.merge = f"OpSelectionMerge %{merge} None"
        block.end = f"OpSwitch {selector} %{fallback} " + " ".join(f"{k} %{label}" for k, label in enumerate(cases))
        edges: list[Flow] = [source] if fallback == merge else []
        self.switches += 1
        labels = cases if fallback in (merge, cases[0]) else [*cases, fallback]
        falling: list[Flow] = []
        for k, label in enumerate(labels):
            self.open(label, [source, *falling])
            falling = []
            self.statements(rng.randint(1, 2), depth + 1)
            if self.at is None:
                continue
            if k + 1 < len(labels) and labels[k + 1] != fallback and rng.random() < 0.3:
                falling = [self.branch(labels[k + 1])]
            elif rng.random() > 0.1 or not self.jump():
                edges.append(self.branch(merge))
        self.switches -= 1
        self.finish(merge, edges)

    def call(self) -> None:
        """Of a function made before."""
        assert self.at is not None
        if not self.callable:
            return self.assign()
        f: Function = self.rng.choice(self.callable)
        arguments = []
        for _, type_ in f.parameters:
            if not type_.startswith("*"):
                arguments.append(self.value(type_))
                continue
            there = [p.id for p in self.roots if p.storage == "Function" and p.type == type_[1:]]
            if not there:
                return self.assign()
            arguments.append(self.rng.choice(there))
        self.emit("OpFunctionCall", f.result, f"%{f.name}", *arguments)
        return None


__all__ = ["Flows", "Function", "Place"]
