"""What a module says before anything runs: types, constants, decorations, functions, and the constructs that its blocks are in.

In: the words of a module, values of specialisation constants. Out: :class:`Module`. Values: a bool or an integer is an int, a float its
pattern, everything else a tuple of its parts.
Source: SPIR-V specification 1.6, sections 2.11 "Structured Control Flow", 3.32.6 "Type-Declaration Instructions", 3.32.7
"Constant-Creation Instructions", 2.12 "Specialization".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.shaders import words

Value = Any  # int, tuple of values, or a pointer, an image, a sampler


@dataclass
class Type:
    """``kind``: void, bool, int, float, vector, matrix, array, runtime_array, struct, pointer, function, image, sampler, sampled_image."""

    id: int
    kind: str
    bits: int = 0
    signed: bool = False
    element: int = 0  # of vectors, matrices (their columns), arrays, pointers, sampled images
    count: int = 0
    members: tuple[int, ...] = ()
    storage: int = 0
    image: tuple[int, ...] = ()  # dim, depth, arrayed, multisampled, sampled, format


@dataclass
class Block:
    """``code`` leaves out the merge instruction and ends with the branch."""

    label: int
    code: list[words.Instruction] = field(default_factory=list)
    merge: int = 0
    continue_: int = 0  # of a loop
    position: int = 0  # in structured order
    loops: tuple[int, ...] = ()  # labels of the headers around it, itself included, outermost first


@dataclass
class Function:
    id: int
    result_type: int
    parameters: list[int] = field(default_factory=list)
    blocks: dict[int, Block] = field(default_factory=dict)
    first: int = 0


_ALLOW_CONTRACT = 0x10000
_KINDS = {"OpTypeVector": "vector", "OpTypeMatrix": "matrix", "OpTypeRuntimeArray": "runtime_array"}
_PLAIN = {"OpTypeVoid": "void", "OpTypeBool": "bool", "OpTypeSampler": "sampler", "OpTypeFunction": "function"}
_HEADER = {"OpCapability", "OpExtension", "OpMemoryModel", "OpSource", "OpSourceExtension", "OpString", "OpNop", "OpLine", "OpNoLine",
           "OpSourceContinued", "OpModuleProcessed", "OpTypeForwardPointer"}  # fmt: skip


class Module:
    """``evaluate`` computes OpSpecConstantOp: of the instruction, the operands' values."""

    def __init__(
        self, data: bytes, specialization: Mapping[int, int] | None = None, entry: str = "main",
        evaluate: Callable[[Module, words.Instruction, list[Value]], Value] | None = None,
    ) -> None:  # fmt: skip
        self.words = words.parse(data)
        self.types: dict[int, Type] = {}
        self.type_of: dict[int, int] = {}
        self.constants: dict[int, Value] = {}
        self.decorations: dict[int, dict[int, list[int]]] = {}
        self.member_decorations: dict[tuple[int, int], dict[int, list[int]]] = {}
        self.names: dict[int, str] = {}
        self.functions: dict[int, Function] = {}
        self.variables: dict[int, words.Instruction] = {}  # of the module
        self.imports: dict[int, str] = {}
        self.modes: dict[int, list[int]] = {}
        self.fast_math: dict[int, int] = {}  # defaults of FPFastMathMode: constants, by type
        self.products: dict[int, words.Instruction] | None = None  # see contraction.py
        self.entry, self.model = 0, 0
        self._specialization = specialization or {}
        self._evaluate = evaluate
        self._groups: dict[int, dict[int, list[int]]] = {}
        function: Function | None = None
        block: Block | None = None
        for i in self.words.instructions:
            if i.result and i.type:
                self.type_of[i.result] = i.type
            if i.op == "OpFunction":
                function = self.functions[i.result] = Function(i.result, i.type)
            elif function is None:
                self._declare(i, entry)
            elif i.op == "OpFunctionParameter":
                function.parameters.append(i.result)
            elif i.op == "OpLabel":
                block = function.blocks[i.result] = Block(i.result)
                function.first = function.first or i.result
            elif i.op == "OpFunctionEnd":
                _find_constructs(function)
                function = block = None
            elif i.op in ("OpSelectionMerge", "OpLoopMerge"):
                assert block is not None
                block.merge = i.operands[0]
                block.continue_ = i.operands[1] if i.op == "OpLoopMerge" else 0
            elif block is not None and i.op not in ("OpLine", "OpNoLine", "OpNop"):
                block.code.append(i)
        if not self.entry:
            raise ValueError(f"the module has no entry point {entry!r}")

    # -- declarations

    def _declare(self, i: words.Instruction, entry: str) -> None:
        o = i.operands
        if i.op == "OpEntryPoint":
            if words.string_at(o, 2) == entry:
                self.model, self.entry = o[0], o[1]
        elif i.op in ("OpExecutionMode", "OpExecutionModeId"):
            if o[0] == self.entry and o[1] == words.enumerants("ExecutionMode")["FPFastMathDefault"]:
                self.fast_math[o[2]] = o[3]
            elif o[0] == self.entry:
                self.modes[o[1]] = (
                    o[2:] if i.op == "OpExecutionMode" else [-n for n in o[2:]]
                )  # ids: negative, see mode()
        elif i.op == "OpExtInstImport":
            self.imports[i.result] = words.string_at(o, 0)
        elif i.op == "OpName":
            self.names[o[0]] = words.string_at(o, 1)
        elif i.op == "OpDecorate":
            self.decorations.setdefault(o[0], {})[o[1]] = o[2:]
        elif i.op == "OpMemberDecorate":
            self.member_decorations.setdefault((o[0], o[1]), {})[o[2]] = o[3:]
        elif i.op == "OpGroupDecorate":
            for target in o[1:]:
                self.decorations.setdefault(target, {}).update(self.decorations.get(o[0], {}))
        elif i.op == "OpGroupMemberDecorate":
            for target, member in zip(o[1::2], o[2::2], strict=True):
                self.member_decorations.setdefault((target, member), {}).update(self.decorations.get(o[0], {}))
        elif i.op.startswith("OpType") and i.op != "OpTypeForwardPointer":
            self.types[i.result] = self._type(i)
        elif i.op.startswith(("OpConstant", "OpSpecConstant")) or i.op == "OpUndef":
            self.constants[i.result] = self._constant(i)
        elif i.op == "OpVariable":
            self.variables[i.result] = i

    def _type(self, i: words.Instruction) -> Type:
        o = i.operands
        if i.op in _PLAIN:
            return Type(i.result, _PLAIN[i.op], bits=1 if i.op == "OpTypeBool" else 0)
        if i.op == "OpTypeInt":
            return Type(i.result, "int", bits=o[0], signed=bool(o[1]))
        if i.op == "OpTypeFloat":
            return Type(i.result, "float", bits=o[0])
        if i.op in _KINDS:
            return Type(i.result, _KINDS[i.op], element=o[0], count=o[1] if len(o) > 1 else 0)
        if i.op == "OpTypeArray":
            return Type(i.result, "array", element=o[0], count=self.constants[o[1]])
        if i.op == "OpTypeStruct":
            return Type(i.result, "struct", members=tuple(o))
        if i.op == "OpTypePointer":
            return Type(i.result, "pointer", storage=o[0], element=o[1])
        if i.op == "OpTypeImage":
            return Type(i.result, "image", element=o[0], image=tuple(o[1:7]))
        if i.op == "OpTypeSampledImage":
            return Type(i.result, "sampled_image", element=o[0])
        raise NotImplementedError(i.op)

    def _constant(self, i: words.Instruction) -> Value:
        o = i.operands
        t = self.types[i.type]
        if i.op in ("OpConstantTrue", "OpSpecConstantTrue", "OpConstantFalse", "OpSpecConstantFalse"):
            return int(self._specialized(i.result, int(i.op.endswith("True"))) != 0)
        if i.op in ("OpConstant", "OpSpecConstant"):
            value = sum(word << 32 * k for k, word in enumerate(o)) & (1 << t.bits) - 1
            return self._specialized(i.result, value) & (1 << t.bits) - 1
        if i.op in ("OpConstantNull", "OpUndef"):
            return self.zero(i.type)
        if i.op in ("OpConstantComposite", "OpSpecConstantComposite"):
            return tuple(self.constants[part] for part in o)
        if i.op in ("OpConstantCompositeReplicateEXT", "OpSpecConstantCompositeReplicateEXT"):
            return (self.constants[o[0]],) * len(self.parts(i.type))
        if i.op == "OpSpecConstantOp" and self._evaluate is not None:
            inner = words.name_of(o[0])
            literals = {"OpCompositeExtract": 1, "OpCompositeInsert": 2, "OpVectorShuffle": 2}.get(inner, len(o))
            step = words.Instruction(inner, i.type, i.result, o[1:])
            return self._evaluate(self, step, [self.constants[operand] for operand in o[1 : 1 + literals]])
        raise NotImplementedError(i.op)

    def _specialized(self, id_: int, default: int) -> int:
        spec_id = self.decorations.get(id_, {}).get(words.enumerants("Decoration")["SpecId"])
        return self._specialization.get(spec_id[0], default) if spec_id else default

    # -- questions

    def type(self, id_: int) -> Type:
        """The type of a value."""
        return self.types[self.type_of[id_]]

    def decoration(self, id_: int, name: str) -> list[int] | None:
        """What follows a decoration's name; None: the id is not decorated so."""
        return self.decorations.get(id_, {}).get(words.enumerants("Decoration")[name])

    def member_decoration(self, type_: int, member: int, name: str) -> list[int] | None:
        """As :meth:`decoration`, of a structure's member."""
        return self.member_decorations.get((type_, member), {}).get(words.enumerants("Decoration")[name])

    def contracts(self, i: words.Instruction) -> bool:
        """Whether an instruction may be rounded with another one: SPV_KHR_float_controls2, and what was before it."""
        if self.decoration(i.result, "NoContraction") is not None:
            return False
        own = self.decoration(i.result, "FPFastMathMode")
        scalar = self.scalar(i.type).id
        flags = own[0] if own else self.constants[self.fast_math[scalar]] if scalar in self.fast_math else _ALLOW_CONTRACT
        return bool(flags & (_ALLOW_CONTRACT | 0x10))  # or Fast

    def mode(self, name: str) -> list[int] | None:
        """What follows an execution mode; None: it is not set."""
        found = self.modes.get(words.enumerants("ExecutionMode")[name])
        return None if found is None else [self.constants[-n] if n < 0 else n for n in found]

    def scalar(self, type_: int) -> Type:
        """The scalars of a vector or matrix; of a scalar itself."""
        t = self.types[type_]
        while t.kind in ("vector", "matrix"):
            t = self.types[t.element]
        return t

    def parts(self, type_: int) -> list[int]:
        """Types of a composite's parts."""
        t = self.types[type_]
        return list(t.members) if t.kind == "struct" else [t.element] * t.count

    def zero(self, type_: int) -> Value:
        """What is never written holds this, and OpUndef is it (docs/undefined.md)."""
        t = self.types[type_]
        if t.kind in ("bool", "int", "float", "pointer"):
            return 0
        return tuple(self.zero(part) for part in self.parts(type_))

    def workgroup_size(self) -> tuple[int, int, int]:
        """Of LocalSize, LocalSizeId or the built-in constant."""
        builtin = words.enumerants("BuiltIn")["WorkgroupSize"]
        for id_, value in self.constants.items():
            if self.decoration(id_, "BuiltIn") == [builtin]:
                return value
        size = self.mode("LocalSize") or self.mode("LocalSizeId") or [1, 1, 1]
        return (size[0], size[1], size[2])


def targets(block: Block) -> list[int]:
    """Labels that a block's end names, in order."""
    if not block.code:
        return []
    end = block.code[-1]
    if end.op == "OpBranch":
        return end.operands[:1]
    if end.op == "OpBranchConditional":
        return end.operands[1:3]
    if end.op == "OpSwitch":
        return [end.operands[1], *end.operands[1 + end.case_words :: end.case_words]]
    return []


def _reachable(function: Function, start: int, stop: int) -> set[int]:
    seen: set[int] = set()
    todo = [start]
    while todo:
        label = todo.pop()
        if label == stop or label in seen or label not in function.blocks:
            continue
        seen.add(label)
        todo += targets(function.blocks[label])
    return seen


def _find_constructs(function: Function) -> None:
    """Positions in which a construct stands before its merge block, and a loop's body before its continue target; loops around blocks."""
    order: list[int] = []
    seen: set[int] = set()
    # Depth first, what comes last visited first; on a stack of its own, for deep programs.
    stack: list[tuple[int, list[int]]] = [(function.first, _visits(function.blocks[function.first]))]
    seen.add(function.first)
    while stack:
        label, rest = stack[-1]
        if not rest:
            order.append(label)
            stack.pop()
            continue
        following = rest.pop(0)
        if following in seen or following not in function.blocks:
            continue
        seen.add(following)
        stack.append((following, _visits(function.blocks[following])))
    for position, label in enumerate(reversed(order)):
        function.blocks[label].position = position
    headers = sorted((b for b in function.blocks.values() if b.continue_ and b.label in seen), key=lambda b: b.position)
    for header in headers:
        for label in _reachable(function, header.label, header.merge):
            function.blocks[label].loops += (header.label,)


def _visits(block: Block) -> list[int]:
    """Last in structured order first. Targets in reverse: a case that falls comes before the one that it falls into."""
    return [label for label in (block.merge, block.continue_) if label] + targets(block)[::-1]
