"""Entry points as stages: what their variables are, and who runs together.

In: a module, buffers and images by (set, binding), built-ins. Out: buffers are changed; outputs of vertices and fragments.
Source: Vulkan specification, "Compute Shaders", "Built-In Variables", "Shader Interfaces"; SPIR-V specification 1.6, section 2.17.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.shaders import arithmetic, groups, memory, numbers, words
from tests.oracle.shaders.images import Image
from tests.oracle.shaders.invocation import Invocation
from tests.oracle.shaders.memory import Buffer, BufferPointer, Cell, CellPointer, Resource
from tests.oracle.shaders.module import Module, Value

Bindings = Mapping[tuple[int, int], Any]  # a Buffer, an Image, or a list of such


def read(data: bytes, specialization: Mapping[int, int] | None = None, entry: str = "main") -> Module:
    """A module whose constants are evaluated."""
    return Module(data, specialization, entry, arithmetic.evaluate)


@dataclass
class Program:
    """A module with its resources; variables of each invocation are made from it."""

    module: Module
    bindings: Bindings
    push_constants: bytes = b""
    shared: dict[int, Value] = field(default_factory=dict)  # of the workgroup that is running

    def new_workgroup(self) -> None:
        """Shared memory as zeros; outputs and payload of task and mesh shaders too."""
        self.shared = {}
        classes = {memory.storage_class("Workgroup"), memory.storage_class("TaskPayloadWorkgroupEXT")}
        if self.module.mode("OutputPrimitivesEXT"):
            classes.add(memory.storage_class("Output"))
        blocks = self._blocks()
        for id_, i in self.module.variables.items():
            if i.operands[0] in classes:
                type_ = self.module.types[i.type].element
                if id_ in blocks:
                    self.shared[id_] = blocks[id_]
                    continue
                self.shared[id_] = CellPointer(Cell(type_, self.module.zero(type_), shared=True), type_)

    def _blocks(self) -> dict[int, BufferPointer]:
        """Shared variables that have a layout: all of them begin at one place."""
        class_ = memory.storage_class("Workgroup")
        types = {id_: self.module.types[i.type].element for id_, i in self.module.variables.items() if i.operands[0] == class_}
        types = {id_: t for id_, t in types.items() if self.module.decoration(t, "Block") is not None}
        sizes_B = [memory.extent_B(self.module, t) for t in types.values()]
        buffer = Buffer(bytearray(max(sizes_B, default=0)), shared=True)
        return {id_: BufferPointer(buffer, t) for id_, t in types.items()}

    def variables(self, inputs: Mapping[str | int, Value]) -> dict[int, Value]:
        """Of one invocation. ``inputs``: by the built-in's name or the location."""
        m, found = self.module, dict(self.shared)
        for id_, i in m.variables.items():
            class_, type_ = i.operands[0], m.types[i.type].element
            if id_ in found:
                continue
            if class_ in (
                memory.storage_class("StorageBuffer"),
                memory.storage_class("Uniform"),
                memory.storage_class("UniformConstant"),
            ):
                found[id_] = self._resource(id_, type_)
            elif class_ == memory.storage_class("PushConstant"):
                found[id_] = BufferPointer(Buffer(bytearray(self.push_constants)), type_)
            elif class_ in (memory.storage_class("Private"), memory.storage_class("Output")):
                value = m.constants[i.operands[1]] if len(i.operands) > 1 else m.zero(type_)
                found[id_] = CellPointer(Cell(type_, value), type_)
            elif class_ == memory.storage_class("Input"):
                found[id_] = CellPointer(Cell(type_, self._input(id_, type_, inputs)), type_)
        return found

    def _resource(self, id_: int, type_: int) -> Value:
        key = (
            (self.module.decoration(id_, "DescriptorSet") or [0])[0],
            (self.module.decoration(id_, "Binding") or [0])[0],
        )
        item = self.bindings[key]
        if isinstance(item, Buffer) and self.module.variables[id_].operands[0] == memory.storage_class("Uniform"):
            item = Buffer(item.data[: memory.extent_B(self.module, type_) or None])
        return BufferPointer(item, type_) if isinstance(item, Buffer) else Resource(type_, item)

    def _input(self, id_: int, type_: int, inputs: Mapping[str | int, Value]) -> Value:
        builtin = self.module.decoration(id_, "BuiltIn")
        if builtin is not None:
            name = next(name for name, number in words.enumerants("BuiltIn").items() if number == builtin[0])
            return inputs[name]
        location = (self.module.decoration(id_, "Location") or [0])[0]
        return inputs.get(location, self.module.zero(type_))

    def outputs(self, invocation: Invocation) -> dict[str | int, Value]:
        """By the built-in's name or the location."""
        m, found = self.module, {}
        for id_, i in m.variables.items():
            if i.operands[0] != memory.storage_class("Output"):
                continue
            builtin = m.decoration(id_, "BuiltIn")
            names = words.enumerants("BuiltIn")
            key: str | int = (m.decoration(id_, "Location") or [0])[0]
            if builtin is not None:
                key = next(name for name, number in names.items() if number == builtin[0])
            found[key] = memory.load(m, invocation.values[id_])
        return found


_MASKS = {"Eq": lambda p: 1 << p, "Ge": lambda p: 15 & ~numbers.mask(p), "Gt": lambda p: 15 & ~numbers.mask(p + 1),
          "Le": lambda p: numbers.mask(p + 1), "Lt": numbers.mask}  # fmt: skip


def subgroup_inputs(place: int) -> dict[str | int, Value]:
    """Built-ins of a place in a subgroup of four."""
    out: dict[str | int, Value] = {f"Subgroup{name}Mask": (f(place), 0, 0, 0) for name, f in _MASKS.items()}
    out.update({"SubgroupSize": groups.SUBGROUP, "SubgroupLocalInvocationId": place})
    return out


def dispatch(program: Program, count: tuple[int, int, int] = (1, 1, 1)) -> None:
    """Runs workgroups one after the other; buffers and images are changed."""
    for group in ((x, y, z) for z in range(count[2]) for y in range(count[1]) for x in range(count[0])):
        program.new_workgroup()
        groups.run(program.module, _workgroup(program, group, count))


def _local(m: Module, size: tuple[int, int, int], position: int) -> tuple[int, int, int]:
    """LocalInvocationId: in rows, or in squares of four, which go in rows (DerivativeGroupQuads)."""
    if m.mode("DerivativeGroupQuadsNV") is None:
        return (position % size[0], position // size[0] % size[1], position // (size[0] * size[1]))
    square, corner = divmod(position, 4)
    below, layer = square // (size[0] // 2), square // (size[0] // 2 * (size[1] // 2))
    return (
        2 * (square % (size[0] // 2)) + corner % 2,
        2 * (below % (size[1] // 2)) + corner // 2,
        layer,
    )


def _workgroup(program: Program, group: tuple[int, int, int], count: tuple[int, ...]) -> list[Invocation]:
    m = program.module
    size = m.workgroup_size()
    total = size[0] * size[1] * size[2]
    invocations = []
    for position in range(total):
        local = _local(m, size, position)
        index = local[0] + size[0] * (local[1] + size[1] * local[2])
        inputs: dict[str | int, Value] = {
            "NumWorkgroups": count,
            "WorkgroupId": group,
            "WorkgroupSize": size,
            "LocalInvocationId": local,
            "GlobalInvocationId": tuple(g * s + k for g, s, k in zip(group, size, local, strict=True)),
            "LocalInvocationIndex": index,
            "NumSubgroups": -(-total // groups.SUBGROUP),
            "SubgroupId": position // groups.SUBGROUP,
            "DeviceIndex": 0,
            "DrawIndex": 0,
            "ViewIndex": 0,
            **subgroup_inputs(position % groups.SUBGROUP),
        }
        invocations.append(Invocation(m, program.variables(inputs), position % groups.SUBGROUP))
    return invocations


def _made(program: Program, group: tuple[int, int, int], count: tuple[int, ...]) -> tuple[int, ...]:
    """Runs a workgroup of a task or mesh shader; what the first of its invocations that says so says of it."""
    said: dict[int, tuple[int, ...]] = {}
    invocations = _workgroup(program, group, count)
    for index, one in enumerate(invocations):
        one.make = lambda made, index=index: said.setdefault(index, made)  # type: ignore[misc]
    groups.run(program.module, invocations)
    return said[min(said)] if said else (0, 0, 0)


def _payload(program: Program) -> int:
    """The variable; 0: it has none."""
    class_ = memory.storage_class("TaskPayloadWorkgroupEXT")
    return next((id_ for id_, i in program.module.variables.items() if i.operands[0] == class_), 0)


def task(program: Program, group: tuple[int, int, int], count: tuple[int, int, int]) -> tuple[tuple[int, ...], Value]:
    """Workgroups of the mesh shader that one of a task shader starts, and its payload."""
    program.new_workgroup()
    made = _made(program, group, count)
    payload = _payload(program)
    return made, memory.load(program.module, program.shared[payload]) if payload else None


@dataclass
class Made:
    """What a workgroup of a mesh shader made: outputs are tuples, a value for each vertex or primitive."""

    vertices: int
    primitives: int
    outputs: dict[str | int, Value]


def mesh(program: Program, group: tuple[int, int, int], count: tuple[int, ...], payload: Value = None) -> Made:
    """``payload``: of the task shader."""
    program.new_workgroup()
    if variable := _payload(program):
        memory.store(program.module, program.shared[variable], payload)
    vertices, primitives = _made(program, group, count)[:2]
    found: dict[str | int, Value] = {}
    names = {number: name for name, number in words.enumerants("BuiltIn").items()}
    for id_, i in program.module.variables.items():
        if i.operands[0] != memory.storage_class("Output"):
            continue
        builtin = program.module.decoration(id_, "BuiltIn")
        location = program.module.decoration(id_, "Location")
        if builtin is not None or location is not None:
            found[names[builtin[0]] if builtin is not None else location[0]] = memory.load(program.module, program.shared[id_])
    return Made(vertices, primitives, found)


def fragments(
    program: Program,
    size_px: tuple[int, int],
    covered: set[tuple[int, int]] | None = None,
    more: Mapping[str | int, Value] | None = None,
    rate: tuple[int, int] = (1, 1),
) -> dict[tuple[int, int], dict[str | int, Value]]:
    """A primitive over a framebuffer, quad by quad. ``covered``: pixels (None: all); fragments without any are helper invocations.

    Outputs by pixel, of those that were not discarded. ``more``: inputs that all fragments have. ``rate``: width and height of a
    fragment, whose invocation is that of all its covered pixels.
    """
    m, out = program.module, {}
    width, height = rate
    for y in range(0, size_px[1], 2 * height):
        for x in range(0, size_px[0], 2 * width):
            quad = [(x + k % 2 * width, y + k // 2 * height) for k in range(4)]
            invocations, pixels = [], []
            for place, (fx, fy) in enumerate(quad):
                own = [(px, py) for py in range(fy, fy + height) for px in range(fx, fx + width)]
                inside = [p for p in own if p[0] < size_px[0] and p[1] < size_px[1] and (covered is None or p in covered)]
                coord = tuple(numbers.encode(v, 32) for v in (fx + width / 2, fy + height / 2, 0.0, 1.0))
                inputs: dict[str | int, Value] = dict.fromkeys(("SampleId", "PrimitiveId", "Layer", "ViewIndex"), 0)
                inputs.update({"FragCoord": coord, "FrontFacing": 1, "HelperInvocation": int(not inside)})
                inputs["ShadingRateKHR"] = (width.bit_length() - 1) * 4 + height.bit_length() - 1
                # One sample: bit j = w * h - 1 - p of the pixel index p.
                inputs["SampleMask"] = (sum(1 << (width * height - 1 - own.index(p)) for p in inside),)
                inputs.update({**subgroup_inputs(place), **(more or {})})
                invocations.append(Invocation(m, program.variables(inputs), place, helper=not inside))
                pixels.append(inside)
            if all(i.helper for i in invocations):
                continue
            groups.run(m, invocations)
            for inside, invocation in zip(pixels, invocations, strict=True):
                if not (invocation.helper or invocation.killed):
                    out.update(dict.fromkeys(inside, program.outputs(invocation)))
    return out


def vertex(
    program: Program, index: int, inputs: Mapping[str | int, Value] | None = None, instance: int = 0
) -> dict[str | int, Value]:
    """Outputs of one vertex."""
    given: dict[str | int, Value] = {"VertexIndex": index, "InstanceIndex": instance, "BaseVertex": 0, "BaseInstance": 0, "DrawIndex": 0,
                                     "ViewIndex": 0, "DeviceIndex": 0, **(inputs or {})}  # fmt: skip
    invocation = Invocation(program.module, program.variables(given))
    groups.run(program.module, [invocation])
    return program.outputs(invocation)


@dataclass
class Emitted:
    """A vertex of a geometry shader: its outputs, its stream, and whether a primitive ends behind it."""

    outputs: dict[str | int, Value]
    stream: int = 0
    ends: bool = False


def geometry(
    program: Program, primitive: int, inputs: Mapping[str | int, Value] | None = None, invocation: int = 0
) -> list[Emitted]:
    """What one invocation emits. ``inputs``: those of a vertex are tuples, a value for each."""
    given: dict[str | int, Value] = {
        "PrimitiveId": primitive,
        "InvocationId": invocation,
        "ViewIndex": 0,
        **(inputs or {}),
    }
    one = Invocation(program.module, program.variables(given))
    out: list[Emitted] = []

    def emit(op: str, stream: int) -> None:
        if op in ("OpEmitVertex", "OpEmitStreamVertex"):
            out.append(Emitted(program.outputs(one), stream))
        else:
            for vertex_ in [x for x in out if x.stream == stream][-1:]:
                vertex_.ends = True

    one.emit = emit
    groups.run(program.module, [one])
    return out


__all__ = [
    "Buffer",
    "Emitted",
    "Image",
    "Made",
    "Program",
    "dispatch",
    "fragments",
    "geometry",
    "mesh",
    "read",
    "subgroup_inputs",
    "task",
    "vertex",
]
