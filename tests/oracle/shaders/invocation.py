"""One invocation of an entry point, instruction by instruction.

In: a module, what its variables are. Out: what it stores. Where an invocation must know of others (barriers, subgroups, derivatives) it
waits: the generator yields a :class:`Wait` and is sent the result. A wait's key says which dynamic instance of the instruction it is, and
orders instances as structured control flow does: invocations with equal keys are together, the least key goes first.
Source: SPIR-V specification 1.6, sections 2.11 "Structured Control Flow", 3.32.9 "Function", 3.32.17 "Control-Flow Instructions".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from tests.oracle.shaders import arithmetic, atomics, contraction, glsl450, images, memory, numbers
from tests.oracle.shaders.memory import Cell, CellPointer
from tests.oracle.shaders.module import Block, Function, Module, Value
from tests.oracle.shaders.words import Instruction

#: Instructions that an invocation executes at most.
MOST_STEPS = 200_000


class EndlessError(Exception):
    """A shader that executes more than :data:`MOST_STEPS` instructions."""


@dataclass
class Wait:
    """``kind``: barrier (of the workgroup), subgroup or quad. ``values`` are of ``instruction``'s operands that are ids."""

    kind: str
    key: tuple[int, ...]
    instruction: Instruction
    values: list[Value]


@dataclass
class Frame:
    """A call: where it is, and the rounds of the loops around that place."""

    function: Function
    block: Block
    index: int = 0
    rounds: list[list[int]] = field(default_factory=list)  # [header's label, round]
    call: Instruction | None = None


class Invocation:
    """``variables``: pointers, by the ids of the module's variables. ``place``: in its subgroup."""

    def __init__(self, module: Module, variables: dict[int, Value], place: int = 0, helper: bool = False) -> None:
        self.module = module
        if module.products is None:
            module.products = contraction.fused_products(module)
        self.products = module.products
        self.values: dict[int, Value] = {**module.constants, **variables}
        self.place = place
        self.helper = helper  # its stores are nobody's
        self.killed = False
        self.steps = 0
        self.emit: Callable[[str, int], None] | None = None  # of geometry shaders: the instruction, the stream
        self.make: Callable[[tuple[int, ...]], None] | None = None  # of task and mesh shaders: what they say of the workgroup
        self.frames: list[Frame] = []

    # -- control flow

    def run(self) -> Generator[Wait, Value, None]:
        """Until the entry point returns."""
        first = self.module.functions[self.module.entry]
        self.frames = [Frame(first, first.blocks[first.first])]
        self._arrive(0)
        while self.frames:
            frame = self.frames[-1]
            i = frame.block.code[frame.index]
            frame.index += 1
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise EndlessError(f"{self.steps} instructions; loops of %{frame.block.loops}")
            flow = _FLOW.get(i.op)
            if flow is not None:
                flow(self, frame, i)
            elif i.op in WAITS:
                yield from self._wait(i)
            else:
                result = self.execute(i)
                if i.result:
                    self.values[i.result] = result

    def _wait(self, i: Instruction) -> Generator[Wait, Value, None]:
        kind = WAITS[i.op]
        if i.op == "OpControlBarrier" and self.values[i.operands[0]] == 3:
            kind = "subgroup"
        ids = [x for k, x in enumerate(i.operands) if not (kind == "subgroup" and k == 1 and i.op in HAVE_OPERATION)]
        result = yield Wait(kind, self.key(), i, [self.values[x] for x in ids])
        if i.result:
            self.values[i.result] = memory.plain(result)

    def key(self) -> tuple[int, ...]:
        """Of the instruction that is being executed."""
        out: list[int] = []
        for frame in self.frames:
            for header, count in frame.rounds:
                out += [frame.function.blocks[header].position, count]
            out += [frame.block.position, frame.index]
        return tuple(out)

    def _arrive(self, before: int) -> None:
        """At the begin of a block: rounds of loops, phis all at once."""
        frame = self.frames[-1]
        label = frame.block.label
        while frame.rounds and frame.rounds[-1][0] not in frame.block.loops:
            frame.rounds.pop()
        if frame.block.continue_:
            if frame.rounds and frame.rounds[-1][0] == label:
                frame.rounds[-1][1] += 1
            else:
                frame.rounds.append([label, 0])
        frame.index = 0
        found: dict[int, Value] = {}
        for i in frame.block.code:
            if i.op != "OpPhi":
                break
            value, label_ = i.operands[0::2], i.operands[1::2]
            found[i.result] = memory.plain(self.values[value[label_.index(before)]])
            frame.index += 1
        self.values.update(found)

    def go(self, frame: Frame, label: int) -> None:
        """A branch."""
        before, frame.block = frame.block.label, frame.function.blocks[label]
        self._arrive(before)

    def conditional(self, frame: Frame, i: Instruction) -> None:
        """OpBranchConditional."""
        self.go(frame, i.operands[1] if self.values[i.operands[0]] else i.operands[2])

    def switch(self, frame: Frame, i: Instruction) -> None:
        """OpSwitch."""
        selector, n = self.values[i.operands[0]], i.case_words
        bits = self.module.type(i.operands[0]).bits
        for at in range(2, len(i.operands), n):
            literal = sum(word << 32 * k for k, word in enumerate(i.operands[at : at + n - 1]))
            if literal & numbers.mask(bits) == selector:
                return self.go(frame, i.operands[at + n - 1])
        return self.go(frame, i.operands[1])

    def call(self, frame: Frame, i: Instruction) -> None:
        """OpFunctionCall."""
        callee = self.module.functions[i.operands[0]]
        self.values.update(zip(callee.parameters, [self.values[x] for x in i.operands[1:]], strict=True))
        self.frames.append(Frame(callee, callee.blocks[callee.first], call=i))
        self._arrive(0)

    def leave(self, frame: Frame, i: Instruction) -> None:
        """OpReturn and OpReturnValue; OpUnreachable is left the same way, with a zero (docs/undefined.md)."""
        self.frames.pop()
        if frame.call is not None and self.module.types[frame.call.type].kind != "void":
            value = self.values[i.operands[0]] if i.op == "OpReturnValue" else self.module.zero(frame.call.type)
            self.values[frame.call.result] = memory.plain(value)

    def kill(self, frame: Frame, i: Instruction) -> None:
        """OpKill and OpTerminateInvocation."""
        self.killed = True
        self.frames.clear()

    # -- everything else

    def execute(self, i: Instruction) -> Value:
        """The result of an instruction that no other invocation takes part in."""
        compute = arithmetic.TABLE.get(i.op)
        products = self.products
        if i.result in products:
            return 0  # its sum computes it
        if products and i.op in ("OpFAdd", "OpFSub") and any(x in products for x in i.operands):
            return self.one_nan(i.type, contraction.fused_sum(self.module, i, products, self.values))
        if compute is not None:
            count = arithmetic.ID_COUNTS.get(i.op, len(i.operands))
            found = compute(self.module, i, [self.values[x] for x in i.operands[:count]])
            if i.op == "OpBitcast":
                return memory.given(found)
            return found if i.op in _CARRIES else memory.plain(found) if i.op in _MOVES else self.one_nan(i.type, found)
        found = _EXECUTE[i.op](self, i)
        return found if i.op in ("OpLoad", "OpExtInst") else memory.plain(found)

    def one_nan(self, type_: int, value: Value) -> Value:
        """Of arithmetic: whichever operand's bits a NaN has, it is the one NaN."""
        t = self.module.types[type_]
        if t.kind == "struct":
            return tuple(self.one_nan(k, x) for k, x in zip(t.members, value, strict=True))
        if isinstance(value, tuple):
            return tuple(self.one_nan(t.element if t.kind in ("matrix", "array") else type_, x) for x in value)
        scalar = self.module.scalar(type_)
        return numbers.canonical(value, scalar.bits) if scalar.kind == "float" and scalar.bits >= 32 else value

    def pointer(self, id_: int) -> memory.Pointer:
        """A pointer's value."""
        return self.values[id_]

    def variable(self, i: Instruction) -> Value:
        """OpVariable of a function: new each time, zero unless it says otherwise."""
        type_ = self.module.types[i.type].element
        value = self.values[i.operands[1]] if len(i.operands) > 1 else self.module.zero(type_)
        return CellPointer(Cell(type_, value), type_)

    def access(self, i: Instruction) -> Value:
        """OpAccessChain."""
        indices = [memory.index_value(self.module, x, self.values[x]) for x in i.operands[1:]]
        return memory.chain(self.module, self.pointer(i.operands[0]), indices)

    def element(self, i: Instruction) -> Value:
        """OpPtrAccessChain: the first index is signed, of any type."""
        base, first, *rest = i.operands
        step = numbers.signed(self.values[first], self.module.type(first).bits)
        pointer = memory.element_step(self.module, self.pointer(base), self.module.type_of[base], step)
        return memory.chain(self.module, pointer, [memory.index_value(self.module, x, self.values[x]) for x in rest])

    def load(self, i: Instruction) -> Value:
        """OpLoad."""
        return memory.load(self.module, self.pointer(i.operands[0]))

    def store(self, i: Instruction) -> None:
        """OpStore."""
        self.write(self.pointer(i.operands[0]), self.values[i.operands[1]])

    def write(self, pointer: memory.Pointer, value: Value) -> None:
        """What helper invocations write is their own alone."""
        if not (self.helper and isinstance(pointer, memory.BufferPointer)):
            memory.store(self.module, pointer, value)

    def copy_memory(self, i: Instruction) -> None:
        """OpCopyMemory."""
        self.write(self.pointer(i.operands[0]), memory.load(self.module, self.pointer(i.operands[1])))

    def array_length(self, i: Instruction) -> Value:
        """OpArrayLength."""
        pointer = self.pointer(i.operands[0])
        assert isinstance(pointer, memory.BufferPointer)
        return memory.array_length(self.module, pointer, i.operands[1]) & numbers.mask(32)

    def compare_pointers(self, i: Instruction) -> Value:
        """OpPtrEqual, -NotEqual, -Diff."""
        a, b = (self.pointer(x) for x in i.operands)
        if i.op == "OpPtrDiff":
            apart = memory.distance(self.module, self.module.type_of[i.operands[0]], a, b)
            return apart & numbers.mask(self.module.types[i.type].bits)
        return int(memory.same(a, b) == (i.op == "OpPtrEqual"))

    def extended(self, i: Instruction) -> Value:
        """OpExtInst; instruction sets that mean nothing do nothing."""
        if self.module.imports[i.operands[0]] != "GLSL.std.450":
            return 0
        name = glsl450.NUMBERS[i.operands[1]]
        if name in ("Modf", "Frexp"):
            first, second = glsl450.TABLE[name](self.module, i, [self.values[i.operands[2]]])
            pointer = self.pointer(i.operands[3])
            bits = self.module.scalar(pointer.type).bits
            first, second = self.one_nan(i.type, first), self.one_nan(i.type, second) if name == "Modf" else second
            self.write(pointer, second if name == "Modf" else arithmetic.each(lambda x: x & numbers.mask(bits), second))
            return first
        values = [self.values[x] for x in i.operands[2:]]
        found = glsl450.TABLE[name](self.module, i, values)
        if name == "FrexpStruct":
            bits = self.module.scalar(self.module.types[i.type].members[1]).bits
            found = (found[0], arithmetic.each(lambda x: x & numbers.mask(bits), found[1]))
        if name == "PackDouble2x32":
            return memory.given(found)
        return found if name == "UnpackDouble2x32" else self.one_nan(i.type, found)

    def atomic(self, i: Instruction) -> Value:
        """OpAtomic*: of helper invocations nothing, 0."""
        if self.helper:
            return self.module.zero(i.type) if i.result else None
        return atomics.execute(self.module, i, self.values)

    def image(self, i: Instruction) -> Value:
        """Images and texel buffers: fetches, reads, writes, sizes."""
        if self.helper and i.op == "OpImageWrite":
            return None
        return images.execute(self.module, i, self.values)

    def demote(self, i: Instruction) -> None:
        """From here on it is a helper invocation."""
        self.helper = True

    def vertex(self, i: Instruction) -> None:
        """OpEmitVertex and its kind."""
        assert self.emit is not None
        self.emit(i.op, self.values[i.operands[0]] if i.operands else 0)


    def make_outputs(self, i: Instruction) -> None:
        """OpSetMeshOutputsEXT, and the operands of OpEmitMeshTasksEXT."""
        assert self.make is not None
        self.make(tuple(self.values[x] for x in i.operands[:3]))

    def start_meshes(self, frame: Frame, i: Instruction) -> None:
        """OpEmitMeshTasksEXT."""
        self.make_outputs(i)
        self.kill(frame, i)


_FLOW: dict[str, Callable[[Invocation, Frame, Instruction], None]] = {
    "OpBranch": lambda self, frame, i: self.go(frame, i.operands[0]),
    "OpBranchConditional": Invocation.conditional,
    "OpSwitch": Invocation.switch,
    "OpFunctionCall": Invocation.call,
    "OpReturn": Invocation.leave,
    "OpReturnValue": Invocation.leave,
    "OpUnreachable": Invocation.leave,
    "OpKill": Invocation.kill,
    "OpTerminateInvocation": Invocation.kill,
    "OpEmitMeshTasksEXT": Invocation.start_meshes,
}

#: Of these also a store keeps the bits that memory or a bitcast gave.
_CARRIES = frozenset(
    ("OpCopyObject", "OpCopyLogical", "OpCompositeConstruct", "OpCompositeConstructReplicateEXT", "OpCompositeExtract",
     "OpCompositeInsert", "OpVectorShuffle")
)
#: What keeps the bits of its operands, whichever they are.
_MOVES = frozenset(
    (
        "OpSelect", "OpCopyObject", "OpCopyLogical", "OpUndef", "OpBitcast", "OpCompositeConstruct",
        "OpCompositeConstructReplicateEXT",
        "OpCompositeExtract", "OpCompositeInsert", "OpVectorShuffle", "OpVectorExtractDynamic",
        "OpVectorInsertDynamic", "OpTranspose", "OpExpectKHR",
    )
)  # fmt: skip
_EXECUTE: dict[str, Callable[[Invocation, Instruction], Value]] = {
    "OpVariable": Invocation.variable,
    "OpAccessChain": Invocation.access,
    "OpInBoundsAccessChain": Invocation.access,
    "OpPtrAccessChain": Invocation.element,
    "OpInBoundsPtrAccessChain": Invocation.element,
    "OpLoad": Invocation.load,
    "OpStore": Invocation.store,
    "OpCopyMemory": Invocation.copy_memory,
    "OpArrayLength": Invocation.array_length,
    "OpPtrEqual": Invocation.compare_pointers,
    "OpPtrNotEqual": Invocation.compare_pointers,
    "OpPtrDiff": Invocation.compare_pointers,
    "OpExtInst": Invocation.extended,
    "OpExtInstWithForwardRefsKHR": Invocation.extended,
    "OpDemoteToHelperInvocation": Invocation.demote,
    "OpIsHelperInvocationEXT": lambda self, i: int(self.helper),
    "OpEmitVertex": Invocation.vertex,
    "OpEndPrimitive": Invocation.vertex,
    "OpEmitStreamVertex": Invocation.vertex,
    "OpEndStreamPrimitive": Invocation.vertex,
    "OpSetMeshOutputsEXT": Invocation.make_outputs,
}
for _op in atomics.NAMES:
    _EXECUTE[_op] = Invocation.atomic
for _op in images.NAMES:
    _EXECUTE[_op] = Invocation.image
for _op in ("OpMemoryBarrier", "OpBeginInvocationInterlockEXT", "OpEndInvocationInterlockEXT", "OpAssumeTrueKHR"):
    _EXECUTE[_op] = lambda self, i: None

#: Instructions that wait for others, and for whom.
WAITS = {"OpControlBarrier": "barrier"}
for _op in ("DPdx", "DPdy", "Fwidth"):
    for _kind in ("", "Fine", "Coarse"):
        WAITS[f"Op{_op}{_kind}"] = "quad"
_GROUP = (
    "Elect All Any AllEqual Broadcast BroadcastFirst Ballot InverseBallot BallotBitExtract BallotBitCount BallotFindLSB BallotFindMSB "
    "Shuffle ShuffleXor ShuffleUp ShuffleDown IAdd FAdd IMul FMul SMin UMin FMin SMax UMax FMax BitwiseAnd BitwiseOr BitwiseXor "
    "LogicalAnd LogicalOr LogicalXor QuadBroadcast QuadSwap RotateKHR"
)
for _op in _GROUP.split():
    WAITS[f"OpGroupNonUniform{_op}"] = "subgroup"
for _op in ("OpGroupNonUniformQuadAllKHR", "OpGroupNonUniformQuadAnyKHR"):
    WAITS[_op] = "subgroup"
for _op in ("Ballot", "FirstInvocation", "All", "Any", "AllEqual", "ReadInvocation"):
    WAITS[f"OpSubgroup{_op}KHR"] = "subgroup"
#: Their second operand is a literal, the group operation.
HAVE_OPERATION = {
    f"OpGroupNonUniform{name}"
    for name in ("BallotBitCount", "IAdd", "FAdd", "IMul", "FMul", "SMin", "UMin", "FMin", "SMax", "UMax", "FMax", "BitwiseAnd",
                 "BitwiseOr", "BitwiseXor", "LogicalAnd", "LogicalOr", "LogicalXor")
}  # fmt: skip


def covered() -> set[str]:
    """Instructions that an invocation may meet and that are interpreted."""
    return set(arithmetic.TABLE) | set(_EXECUTE) | set(_FLOW) | set(WAITS) | {"OpPhi"}


sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
