"""Random fragment shaders of structured control flow in SSA form, and an interpreter that runs one invocation at a time.

A program is a list of functions, a function a list of blocks, an instruction (result, operation, operands); ``text`` writes it as SPIR-V
assembly, ``run`` interprets it. Values are used wherever they dominate, through OpPhi or not, as optimisers and front ends of all kinds
write them: phis with one operand after loops (LCSSA), pointers made in loops and used after them, selections whose arms meet before the
merge block, both targets of a branch alike, predecessors that nothing reaches.
Source: SPIR-V specification 1.6, section 2.11 "Structured Control Flow".
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

Operand = str | int
WORDS = 8  # of the arrays
UNIFORM = [3, 1, 4, 1, 5, 9, 2, 6]  # the uniform block's table


@dataclass
class Block:
    label: str
    phis: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)  # (result, [(value, label)])
    code: list[tuple[str, str, list[Operand]]] = field(default_factory=list)
    merge: str = ""  # the merge instruction's text
    end: tuple[str, list[Operand]] = ("unreachable", [])


@dataclass
class Function:
    name: str
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Flow:
    """An edge, or the point where code is being written: its block, the variables' values, and what dominates it."""

    block: Block
    env: dict[str, str]
    ints: frozenset[str]
    pointers: frozenset[str]

    def copy(self) -> Flow:
        return Flow(self.block, dict(self.env), self.ints, self.pointers)


@dataclass
class Loop:
    merge: str
    continues: list[Flow]
    breaks: list[Flow]
    continue_label: str
    switches: int = 0  # open within it


class Generator:
    """``self.at`` is the open point; None after a jump."""

    def __init__(self, seed: int, size: int = 40) -> None:
        self.rng = random.Random(seed)
        self.next = 0
        self.functions: list[Function] = []
        self.budget = size
        self.kinds: dict[str, str] = {}

    # -- writing

    def new(self, prefix: str = "v") -> str:
        self.next += 1
        return f"{prefix}{self.next}"

    def emit(self, op: str, *operands: Operand, kind: str = "int") -> str:
        assert self.at is not None
        result = self.new()
        self.at.block.code.append((result, op, list(operands)))
        if kind == "int":
            self.at.ints |= {result}
        elif kind == "pointer":
            self.at.pointers |= {result}
        return result

    def store(self, pointer: str, value: str) -> None:
        assert self.at is not None
        self.at.block.code.append(("", "store", [pointer, value]))

    def open(self, label: str, edges: list[Flow]) -> None:
        """A block that these edges lead to; phis for what differs, and for some that do not."""
        block = Block(label)
        self.function.blocks.append(block)
        ints, pointers = edges[0].ints, edges[0].pointers
        for e in edges[1:]:
            ints, pointers = ints & e.ints, pointers & e.pointers
        env = {}
        labels = list(dict.fromkeys(e.block.label for e in edges))
        by_label = {e.block.label: e for e in edges}
        for name in edges[0].env:
            values = [by_label[label].env[name] for label in labels]
            if len(set(values)) == 1 and self.rng.random() < 0.6:
                env[name] = values[0]
                continue
            env[name] = self.new("p")
            block.phis.append((env[name], list(zip(values, labels, strict=True))))
        for result, _ in block.phis:
            ints |= {result}
        # A value that dominates, through a phi of its own.
        if ints and self.rng.random() < 0.3:
            extra, value = (
                self.new("p"),
                self.rng.choice(sorted(edges[0].ints & ints - {r for r, _ in block.phis}) or ["c1"]),
            )
            block.phis.append((extra, [(value, label) for label in labels]))
            ints |= {extra}
        self.at = Flow(block, env, ints, pointers)

    def branch(self, label: str) -> Flow:
        assert self.at is not None
        self.at.block.end = ("branch", [label])
        edge, self.at = self.at.copy(), None
        return edge

    # -- values

    def value(self) -> str:
        assert self.at is not None
        k = self.rng.randrange(10)
        if k < 4:
            return self.at.env[self.rng.choice(sorted(self.at.env))]
        if k < 7 and self.at.ints:
            return self.rng.choice(sorted(self.at.ints))
        return self.rng.choice(["x", "y", "u", "c0", "c1", "c2", "c3", "c5"])

    def index(self) -> str:
        return self.emit("and", self.value(), "c7")

    def pointer(self) -> str:
        assert self.at is not None
        if self.at.pointers and self.rng.random() < 0.6:
            return self.rng.choice(sorted(self.at.pointers))
        base = self.rng.choice(["t", "t", "g", "tab"])
        return self.emit("chain", base, self.index(), kind="pointer")

    def expression(self) -> str:
        k = self.rng.randrange(12)
        if k < 7:
            op = self.rng.choice(["add", "add", "sub", "mul", "xor", "and"])
            return self.emit(op, self.value(), self.value())
        if k == 7:
            return self.emit("select", self.condition(), self.value(), self.value())
        if k == 8 and self.callable:
            return self.emit("call", self.rng.choice(self.callable), self.value(), self.value())
        return self.emit("load", self.pointer())

    def condition(self) -> str:
        left = self.emit("and", self.value(), self.rng.choice(["c3", "c7"]))
        return self.emit(
            self.rng.choice(["lt", "eq", "ne", "gt"]), left, self.rng.choice(["c0", "c1", "c2", "c3", "u"]), kind="bool"
        )

    def uniform_condition(self) -> str:
        return self.emit(self.rng.choice(["lt", "eq", "ne"]), "u", self.rng.choice(["c1", "c2", "c3"]), kind="bool")

    def any_condition(self) -> str:
        return self.uniform_condition() if self.rng.random() < 0.25 else self.condition()

    # -- statements

    def assign(self) -> None:
        assert self.at is not None
        self.at.env[self.rng.choice(sorted(self.at.env))] = self.expression()

    def write(self) -> None:
        pointer = self.pointer()
        while self.writable(pointer) is False:
            pointer = self.emit("chain", self.rng.choice(["t", "g"]), self.index(), kind="pointer")
        self.store(pointer, self.value())

    def writable(self, pointer: str) -> bool:
        return self.bases[pointer] != "tab" if pointer in self.bases else self.base_of(pointer) != "tab"

    def base_of(self, pointer: str) -> str:
        for f in [self.function]:
            for b in f.blocks:
                for result, _, operands in b.code:
                    if result == pointer:
                        return str(operands[0])
        raise AssertionError(pointer)

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            if self.at is None or self.budget <= 0:
                return
            self.statement(depth)

    def statement(self, depth: int) -> None:
        self.budget -= 1
        k = self.rng.randrange(100)
        if depth > 4 or k < 30:
            self.assign() if k % 3 else self.write()
        elif k < 50:
            self.selection(depth)
        elif k < 55:
            self.premerge(depth)
        elif k < 60:
            self.same_target(depth)
        elif k < 66:
            self.dead_predecessor()
        elif k < 84:
            self.loop(depth)
        elif k < 90:
            self.switch(depth)
        elif k < 97:
            self.leave_if()
        else:
            self.write()

    def arm(
        self, label: str, source: Flow, depth: int, merge: str, merge_edges: list[Flow], count: int | None = None
    ) -> None:
        self.open(label, [source])
        self.statements(self.rng.randint(1, 3) if count is None else count, depth + 1)
        if self.at is not None and self.rng.random() < 0.12 and self.jump():
            return
        if self.at is not None:
            merge_edges.append(self.branch(merge))

    def jump(self) -> bool:
        """Ends the block by a way out: break, continue, return, discard."""
        assert self.at is not None
        k = self.rng.randrange(8)
        if self.loops and k < 6:
            loop = self.loops[-1]
            if k < 3:
                loop.breaks.append(self.branch(loop.merge))
            else:
                loop.continues.append(self.branch(loop.continue_label))
            return True
        if k == 6:
            self.at.block.end = ("return", [self.value()])
            self.at = None
            return True
        if k == 7 and self.kills:
            self.at.block.end = ("kill", [])
            self.at = None
            return True
        return False

    def finish(self, merge: str, edges: list[Flow]) -> None:
        """The merge block; unreachable where no edge leads to it."""
        if edges:
            self.open(merge, edges)
        else:
            self.function.blocks.append(Block(merge))
            self.at = None

    def selection(self, depth: int) -> None:
        assert self.at is not None
        condition = self.any_condition()
        then, other, merge = self.new("L"), self.new("L"), self.new("L")
        edges: list[Flow] = []
        block = self.at.block
        block.merge = f"OpSelectionMerge %{merge} None"
        source = self.at.copy()
        if self.rng.random() < 0.35:
            block.end = ("if", [condition, then, merge] if self.rng.random() < 0.5 else [condition, merge, then])
            edges.append(source)
            self.arm(then, source, depth, merge, edges)
        else:
            block.end = ("if", [condition, then, other])
            self.arm(then, source, depth, merge, edges)
            self.arm(other, source, depth, merge, edges)
        self.finish(merge, edges)

    def premerge(self, depth: int) -> None:
        """The arms meet before the merge block."""
        assert self.at is not None
        condition = self.any_condition()
        then, other, both, merge = (self.new("L") for _ in range(4))
        block, source = self.at.block, self.at.copy()
        block.merge = f"OpSelectionMerge %{merge} None"
        block.end = ("if", [condition, then, other])
        edges: list[Flow] = []
        self.arm(then, source, depth, both, edges)
        self.arm(other, source, depth, both, edges)
        if not edges:
            self.function.blocks.append(Block(merge))
            self.at = None
            return
        self.open(both, edges)
        self.statements(2, depth + 1)
        self.finish(merge, [self.branch(merge)] if self.at is not None else [])

    def same_target(self, depth: int) -> None:
        assert self.at is not None
        condition = self.any_condition()
        body, merge = self.new("L"), self.new("L")
        block, source = self.at.block, self.at.copy()
        block.merge = f"OpSelectionMerge %{merge} None"
        block.end = ("if", [condition, body, body])
        edges: list[Flow] = []
        self.arm(body, source, depth, merge, edges)
        self.finish(merge, edges)

    def dead_predecessor(self) -> None:
        """A block that nothing reaches branches to the next one."""
        label, dead = self.new("L"), self.new("L")
        edge = self.branch(label)
        block = Block(dead)
        block.end = ("branch", [label])
        self.function.blocks.append(block)
        other = Flow(block, {name: self.rng.choice(["c0", "c5"]) for name in edge.env}, edge.ints, edge.pointers)
        self.open(label, [edge, other])

    def leave_if(self) -> None:
        """A branch without a merge block: one target leaves."""
        assert self.at is not None
        if not self.loops or self.switches:
            return self.assign()
        loop = self.loops[-1]
        condition = self.any_condition()
        rest = self.new("L")
        block, source = self.at.block, self.at.copy()
        if self.rng.random() < 0.6:
            out, edges = loop.merge, loop.breaks
        else:
            out, edges = loop.continue_label, loop.continues
        block.end = ("if", [condition, out, rest] if self.rng.random() < 0.5 else [condition, rest, out])
        edges.append(source)
        self.open(rest, [source])
        return None

    def loop(self, depth: int) -> None:
        assert self.at is not None
        header, body, latch, merge = (self.new("L") for _ in range(4))
        before = self.branch(header)
        block = Block(header)
        self.function.blocks.append(block)
        counter, step = self.new("i"), self.new("i")
        env = {name: self.new("h") for name in before.env}
        for name, result in env.items():
            block.phis.append((result, [(before.env[name], before.block.label)]))
        block.phis.append((counter, [("c0", before.block.label)]))
        self.at = Flow(block, dict(env), before.ints | {counter} | set(env.values()), before.pointers)
        loop = Loop(merge, [], [], latch, 0)
        self.loops.append(loop)
        outer_switches, self.switches = self.switches, 0
        for _ in range(self.rng.randrange(3)):
            self.assign()
        if self.rng.random() < 0.4:
            self.pointer()
        bound = (
            self.rng.choice(["c1", "c2", "c3", "c5"])
            if self.rng.random() < 0.3
            else self.emit("and", self.value(), "c3")
        )
        shape = self.rng.randrange(4)
        block.merge = f"OpLoopMerge %{merge} %{latch} None"
        test = self.emit("lt", counter, bound, kind="bool") if shape < 3 else ""
        if shape == 0:  # while, tested in the header
            block.end = ("if", [test, body, merge])
            loop.breaks.append(self.at.copy())
            self.open(body, [self.at.copy()])
        elif shape == 1:  # tested in a block of its own
            check = self.new("L")
            edge = self.branch(check)
            self.open(check, [edge])
            test = self.emit("lt", counter, self.emit("and", self.value(), "c3"), kind="bool")
            assert self.at is not None
            self.at.block.end = ("if", [test, body, merge])
            loop.breaks.append(self.at.copy())
            self.open(body, [self.at.copy()])
        elif shape == 2:  # tested by a selection with a break in it
            edge = self.branch(body)
            self.open(body, [edge])
            go, inner = self.new("L"), self.new("L")
            assert self.at is not None
            self.at.block.merge = f"OpSelectionMerge %{go} None"
            self.at.block.end = ("if", [test, go, inner])
            source = self.at.copy()
            self.open(inner, [source])
            self.assign()
            loop.breaks.append(self.branch(merge))
            self.open(go, [source])
        else:  # tested at the end
            edge = self.branch(body)
            self.open(body, [edge])
        self.statements(self.rng.randint(1, 4), depth + 1)
        if self.at is not None:
            loop.continues.append(self.branch(latch))
        if loop.continues:
            self.open(latch, loop.continues)
            if self.rng.random() < 0.5:
                self.assign()
        else:  # a continue target that nothing reaches
            self.function.blocks.append(Block(latch))
            self.at = Flow(self.function.blocks[-1], dict.fromkeys(env, "c1"), frozenset(), frozenset())
        self.at.block.code.append((step, "add", [counter, "c1"]))
        self.at.ints |= {step} if loop.continues else set()
        back = self.at
        again = self.emit("lt", step, bound if loop.continues else "c3", kind="bool") if shape == 3 else ""
        if shape == 3:
            self.at.block.end = ("if", [again, header, merge])
            loop.breaks.append(self.at.copy())
        else:
            self.at.block.end = ("branch", [header])
        for name, (_result, incoming) in zip(env, block.phis, strict=False):
            incoming.append((back.env[name], back.block.label))
        block.phis[len(env)][1].append((step, back.block.label))
        self.at = None
        self.loops.pop()
        self.switches = outer_switches
        self.finish(merge, loop.breaks)

    def switch(self, depth: int) -> None:
        assert self.at is not None
        selector = self.emit("and", self.value(), "c3") if self.rng.random() < 0.8 else "u"
        merge = self.new("L")
        cases = [self.new("L") for _ in range(self.rng.randint(1, 3))]
        fallback = self.rng.choice([merge, self.new("L"), cases[0]])
        block, source = self.at.block, self.at.copy()
        block.merge = f"OpSelectionMerge %{merge} None"
        block.end = ("switch", [selector, fallback, *(o for k, c in enumerate(cases) for o in (k, c))])
        edges: list[Flow] = [source] if fallback == merge else []
        self.switches += 1
        labels = cases if fallback in (merge, cases[0]) else [*cases, fallback]
        falling: list[Flow] = []
        for k, label in enumerate(labels):
            self.open(label, [source, *falling])
            falling = []
            self.statements(self.rng.randint(1, 2), depth + 1)
            if self.at is None:
                continue
            # Case k may fall into case k + 1 only.
            if k + 1 < len(labels) and labels[k + 1] != fallback and self.rng.random() < 0.3:
                falling = [self.branch(labels[k + 1])]
            else:
                edges.append(self.branch(merge))
        self.switches -= 1
        self.finish(merge, edges)

    # -- programs

    def make_function(self, name: str, variables: dict[str, str], depth: int, kills: bool) -> Function:
        self.function = Function(name)
        self.functions.append(self.function)
        self.loops: list[Loop] = []
        self.switches, self.kills, self.bases = 0, kills, {"t": "t"}
        entry = Block(self.new("L"))
        self.function.blocks.append(entry)
        self.at: Flow | None = Flow(entry, variables, frozenset(), frozenset())
        if name == "body":
            for k in range(WORDS):
                self.store(
                    self.emit(
                        "chain", "t", f"c{k}" if k in (0, 1, 2, 3, 5, 7) else ("c4" if k == 4 else "c6"), kind="pointer"
                    ),
                    self.value(),
                )
        while self.budget > 0 and self.at is not None:
            self.statement(depth)
        if self.at is not None:
            total = self.at.env[sorted(self.at.env)[0]]
            for name_ in sorted(self.at.env)[1:]:
                total = self.emit("add", self.emit("mul", total, "c5"), self.at.env[name_])
            for k in range(0, WORDS, 3):
                at = self.emit("chain", "t", f"c{k}", kind="pointer")
                total = self.emit("add", self.emit("mul", total, "c3"), self.emit("load", at))
            self.at.block.end = ("return", [total])
        return self.function

    def program(self) -> list[Function]:
        whole = self.budget
        self.callable: list[str] = []
        if self.rng.random() < 0.5:
            self.budget = 8
            self.make_function("f0", {"a": "a0", "b": "a1"}, 2, False)
            self.callable = ["f0"]
        self.budget = whole
        self.make_function("body", {"a": "x", "b": "y", "c": "c1", "d": "u"}, 0, self.rng.random() < 0.3)
        return self.functions


# -- as SPIR-V

HEAD = (
    """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %coord %out
OpExecutionMode %main OriginUpperLeft
OpDecorate %coord BuiltIn FragCoord
OpDecorate %out Location 0
OpDecorate %array ArrayStride 16
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 128
OpDecorate %block Block
OpDecorate %uniforms DescriptorSet 0
OpDecorate %uniforms Binding 0
%void = OpTypeVoid
%vf = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%v4int = OpTypeVector %int 4
%v4float = OpTypeVector %float 4
%fi = OpTypeFunction %int %int %int %int %int %int
%pin = OpTypePointer Input %v4float
%pinf = OpTypePointer Input %float
%pout = OpTypePointer Output %v4int
"""
    + "".join(f"%c{k} = OpConstant %int {k}\n" for k in range(10))
    + """%words = OpTypeArray %int %c8
%array = OpTypeArray %int %c8
%block = OpTypeStruct %array %int
%pblock = OpTypePointer Uniform %block
%pword = OpTypePointer Function %int
%pgword = OpTypePointer Private %int
%puword = OpTypePointer Uniform %int
%pwords = OpTypePointer Function %words
%pgwords = OpTypePointer Private %words
%gnull = OpConstantNull %words
%g = OpVariable %pgwords Private %gnull
%uniforms = OpVariable %pblock Uniform
%coord = OpVariable %pin Input
%out = OpVariable %pout Output
"""
)
BINARY = {"add": "OpIAdd", "sub": "OpISub", "mul": "OpIMul", "and": "OpBitwiseAnd", "xor": "OpBitwiseXor"}
COMPARE = {"lt": "OpSLessThan", "gt": "OpSGreaterThan", "eq": "OpIEqual", "ne": "OpINotEqual"}


def _instruction(result: str, op: str, o: list[Operand], bases: dict[str, str]) -> str:
    names = [f"%{x}" for x in o]
    if op in BINARY:
        return f"%{result} = {BINARY[op]} %int {names[0]} {names[1]}"
    if op in COMPARE:
        return f"%{result} = {COMPARE[op]} %bool {names[0]} {names[1]}"
    if op == "select":
        return f"%{result} = OpSelect %int {' '.join(names)}"
    if op == "call":
        return f"%{result} = OpFunctionCall %int {names[0]} {names[1]} {names[2]} %x %y %u"
    if op == "load":
        return f"%{result} = OpLoad %int {names[0]}"
    if op == "store":
        return f"OpStore {names[0]} {names[1]}"
    assert op == "chain"
    bases[result] = str(o[0])
    if o[0] == "tab":
        return f"%{result} = OpAccessChain %puword %uniforms %c0 {names[1]}"
    return f"%{result} = OpAccessChain {'%pgword' if o[0] == 'g' else '%pword'} {names[0]} {names[1]}"


def _end(block: Block) -> str:
    op, o = block.end
    if op == "branch":
        return f"OpBranch %{o[0]}"
    if op == "if":
        return f"OpBranchConditional %{o[0]} %{o[1]} %{o[2]}"
    if op == "switch":
        return f"OpSwitch %{o[0]} %{o[1]} " + " ".join(f"{x}" if k % 2 == 0 else f"%{x}" for k, x in enumerate(o[2:]))
    return {"return": "OpReturnValue %" + str(o[0] if o else ""), "kill": "OpKill", "unreachable": "OpUnreachable"}[op]


def text(functions: list[Function]) -> str:
    """Names of values are of one function each; ``x``, ``y``, ``u`` are parameters, ``t`` is a local array."""
    lines = [HEAD]
    for f in functions:
        own: dict[str, str] = {n: f"{f.name}_{n}" for n in ("x", "y", "u", "a0", "a1", "t")}
        lines.append(f"%{f.name} = OpFunction %int None %fi")
        lines += [f"%{own[p]} = OpFunctionParameter %int" for p in ("a0", "a1", "x", "y", "u")]
        bases: dict[str, str] = {}
        for n, b in enumerate(f.blocks):
            body = [f"%{b.label} = OpLabel"]
            if n == 0:
                body.append(f"%{own['t']} = OpVariable %pwords Function %gnull")
            for result, incoming in b.phis:
                pairs = " ".join(f"%{own.get(v, v)} %{label}" for v, label in incoming)
                body.append(f"%{result} = OpPhi %int {pairs}")
            for result, op, operands in b.code:
                mapped: list[Operand] = [own.get(o, o) if isinstance(o, str) and o != "tab" else o for o in operands]
                line = _instruction(result, op, mapped, bases)
                for p in ("x", "y", "u"):
                    if op == "call":
                        line = line.replace(f" %{p}", f" %{own[p]}")
                body.append(line)
            if b.merge:
                body.append(b.merge)
            end = Block(b.label)
            end.end = (b.end[0], [own.get(o, o) if isinstance(o, str) else o for o in b.end[1]])
            body.append(_end(end))
            lines += body
        lines.append("OpFunctionEnd")
    lines.append("""%main = OpFunction %void None %vf
%entry = OpLabel
%xp = OpAccessChain %pinf %coord %c0
%xf = OpLoad %float %xp
%xi = OpConvertFToS %int %xf
%yp = OpAccessChain %pinf %coord %c1
%yf = OpLoad %float %yp
%yi = OpConvertFToS %int %yf
%up = OpAccessChain %puword %uniforms %c1
%ui = OpLoad %int %up
%r = OpFunctionCall %int %body %c0 %c0 %xi %yi %ui
%gp = OpAccessChain %pgword %g %c3
%gl = OpLoad %int %gp
%gq = OpAccessChain %pgword %g %c5
%gm = OpLoad %int %gq
%all = OpCompositeConstruct %v4int %r %gl %gm %c1
OpStore %out %all
OpReturn
OpFunctionEnd
""")
    return "\n".join(lines)


# -- interpreted


class Killed(Exception):
    """The invocation is discarded."""


def _signed(v: int) -> int:
    return (v + 2**31) % 2**32 - 2**31


class Invocation:
    """One pixel; ``steps`` bounds what it does."""

    def __init__(self, functions: Iterable[Function], x: int, y: int, u: int) -> None:
        self.functions = {f.name: f for f in functions}
        self.common = {"x": x, "y": y, "u": u, **{f"c{k}": k for k in range(10)}}
        self.private = [0] * WORDS
        self.steps = 0

    def call(self, name: str, a0: int, a1: int) -> int:
        f = self.functions[name]
        values: dict[str, int] = {**self.common, "a0": a0, "a1": a1}
        memory = {"t": [0] * WORDS, "g": self.private, "tab": UNIFORM}
        pointers: dict[str, tuple[list[int], int]] = {}
        blocks = {b.label: b for b in f.blocks}
        at, came = f.blocks[0], ""
        while True:
            self.steps += 1
            assert self.steps < 20000
            incoming = [(r, next(v for v, label in pairs if label == came)) for r, pairs in at.phis]
            values.update({r: values[v] for r, v in [(r, v) for r, v in incoming]} if incoming else {})
            for result, op, o in at.code:
                v = [values.get(str(k), 0) for k in o]
                if op == "chain":
                    pointers[result] = (memory[str(o[0])], v[1])
                elif op == "load":
                    base, index = pointers[str(o[0])]
                    values[result] = base[index]
                elif op == "store":
                    base, index = pointers[str(o[0])]
                    base[index] = v[1]
                elif op == "call":
                    values[result] = self.call(str(o[0]), v[1], v[2])
                elif op == "select":
                    values[result] = v[1] if v[0] else v[2]
                else:
                    values[result] = _signed(
                        {
                            "add": v[0] + v[1], "sub": v[0] - v[1], "mul": v[0] * v[1], "and": v[0] & v[1], "xor": v[0] ^ v[1],
                            "lt": v[0] < v[1], "gt": v[0] > v[1], "eq": v[0] == v[1], "ne": v[0] != v[1],
                        }[op]
                    )  # fmt: skip
            op, o = at.end
            came = at.label
            if op == "return":
                return values[str(o[0])]
            if op == "kill":
                raise Killed
            assert op != "unreachable"
            if op == "branch":
                label = o[0]
            elif op == "if":
                label = o[1] if values[str(o[0])] else o[2]
            else:
                table = dict(zip(o[2::2], o[3::2], strict=True))
                label = table.get(values[str(o[0])], o[1])
            at = blocks[str(label)]


def run(
    functions: list[Function], side: int, u: int, clear: tuple[int, int, int, int]
) -> list[list[tuple[int, int, int, int]]]:
    """The picture, by rows."""
    rows = []
    for y in range(side):
        row = []
        for x in range(side):
            one = Invocation(functions, x, y, u)
            try:
                result = one.call("body", 0, 0)
                row.append((result, one.private[3], one.private[5], 1))
            except Killed:
                row.append(clear)
        rows.append(row)
    return rows
