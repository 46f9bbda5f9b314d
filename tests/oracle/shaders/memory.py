"""Memory as shaders see it: variables, buffers with layouts, pointers to parts of either.

Variables that have no layout (Function, Private, Workgroup, Input, Output) are values in a cell; a pointer is a cell and a path. Memory
with a layout (StorageBuffer, Uniform, PushConstant) is bytes; a pointer is a buffer, an offset and what layout is in force there. Indices
are clamped in variables; in buffers what lies beyond the end reads 0 and is not written, scalar by scalar (docs/undefined.md).
Source: SPIR-V specification 1.6, sections 2.18 "Memory Model", 3.32.8 "Memory Instructions"; Vulkan specification, "Offset and Stride
Assignment", "Robust Buffer Access".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tests.oracle.shaders import numbers, words
from tests.oracle.shaders.module import Module, Type, Value


class Given(int):
    """A scalar whose bits memory or a bitcast gave, and which was moved, as a component of composites too, and nothing else: a store to
    memory keeps all of its bits, where of another NaN there is one."""


def given(value: Value) -> Value:
    """All of it."""
    return tuple(given(x) for x in value) if isinstance(value, tuple) else Given(value) if isinstance(value, int) else value


def plain(value: Value) -> Value:
    """None of it."""
    return tuple(plain(x) for x in value) if isinstance(value, tuple) else int(value) if isinstance(value, Given) else value


@dataclass(eq=False)
class Cell:
    """A variable without a layout."""

    type: int
    value: Value
    shared: bool = False  # other invocations see it: of NaN that is stored there is one


@dataclass(frozen=True)
class CellPointer:
    """To a part of a variable."""

    cell: Cell
    type: int  # of what it points to
    path: tuple[int, ...] = ()


@dataclass(eq=False)
class Buffer:
    """Bytes that a descriptor names; ``size_B`` of them may be reached."""

    data: bytearray
    shared: bool = False  # a workgroup's: indices of what has a length are kept inside

    @property
    def size_B(self) -> int:
        """What the descriptor says."""
        return len(self.data)


@dataclass(frozen=True)
class BufferPointer:
    """To a place in a buffer. ``step_B``: between a vector's components, where it is the column of a row-major matrix."""

    buffer: Buffer
    type: int
    offset_B: int = 0
    row_major: bool = False
    matrix_stride_B: int = 0
    step_B: int = 0


@dataclass(frozen=True)
class Resource:
    """A descriptor or an array of them: buffers, images, samplers. ``items``: one of them, or as many as there are."""

    type: int
    items: Any = field(hash=False)


Pointer = CellPointer | BufferPointer | Resource


def index_value(module: Module, id_: int, value: int) -> int:
    """An index as a number, by its type's sign."""
    t = module.type(id_)
    return numbers.signed(value, t.bits) if t.signed else value


def _clamped(index: int, length: int) -> int:
    """As an unsigned number, a negative one is large."""
    return length - 1 if index < 0 or index >= length else index


def chain(module: Module, pointer: Pointer, indices: list[int]) -> Pointer:
    """A pointer to a part: OpAccessChain. Each index is a number."""
    for index in indices:
        t = module.types[pointer.type]
        if isinstance(pointer, CellPointer):
            if t.kind == "struct":
                pointer = CellPointer(pointer.cell, t.members[index], (*pointer.path, index))
            else:
                pointer = CellPointer(pointer.cell, t.element, (*pointer.path, _clamped(index, t.count)))
        elif isinstance(pointer, Resource):
            items = pointer.items
            chosen = items[_clamped(index, len(items))]
            pointer = BufferPointer(chosen, t.element) if isinstance(chosen, Buffer) else Resource(t.element, chosen)
        else:
            pointer = _step(module, pointer, t, index)
    return pointer


def _step(module: Module, p: BufferPointer, t: Type, index: int) -> BufferPointer:
    if t.kind == "struct":
        offset = module.member_decoration(t.id, index, "Offset") or [0]
        stride = module.member_decoration(t.id, index, "MatrixStride") or [0]
        row_major = module.member_decoration(t.id, index, "RowMajor") is not None
        return BufferPointer(p.buffer, t.members[index], p.offset_B + offset[0], row_major, stride[0])
    if p.buffer.shared:
        index = _clamped(index, t.count)
    # As an unsigned number: what is before the buffer is beyond its end.
    index = index if index >= 0 else 1 << 40
    if t.kind in ("array", "runtime_array"):
        stride_B = (module.decoration(t.id, "ArrayStride") or [0])[0]
        return replace(p, type=t.element, offset_B=p.offset_B + index * stride_B)
    own_B = module.scalar(t.id).bits // 8
    if t.kind == "matrix":
        if p.row_major:
            return replace(p, type=t.element, offset_B=p.offset_B + index * own_B, step_B=p.matrix_stride_B)
        return replace(p, type=t.element, offset_B=p.offset_B + index * p.matrix_stride_B)
    return replace(p, type=t.element, offset_B=p.offset_B + index * (p.step_B or own_B))


def element_step(module: Module, pointer: Pointer, pointer_type: int, index: int) -> Pointer:
    """To the element ``index`` further of the array that the pointer is into: OpPtrAccessChain's first index."""
    if isinstance(pointer, BufferPointer):
        stride_B = (module.decoration(pointer_type, "ArrayStride") or [0])[0]
        return replace(pointer, offset_B=pointer.offset_B + index * stride_B)
    assert isinstance(pointer, CellPointer) and pointer.path
    return replace(pointer, path=(*pointer.path[:-1], pointer.path[-1] + index))


def distance(module: Module, pointer_type: int, a: Pointer, b: Pointer) -> int:
    """Elements from ``b`` to ``a``: OpPtrDiff."""
    if isinstance(a, BufferPointer) and isinstance(b, BufferPointer):
        stride_B = (module.decoration(pointer_type, "ArrayStride") or [1])[0]
        return (a.offset_B - b.offset_B) // stride_B
    assert isinstance(a, CellPointer) and isinstance(b, CellPointer)
    return a.path[-1] - b.path[-1]


def same(a: Pointer, b: Pointer) -> bool:
    """Whether both point to one place: OpPtrEqual."""
    if isinstance(a, BufferPointer) and isinstance(b, BufferPointer):
        return a.buffer is b.buffer and a.offset_B == b.offset_B
    assert isinstance(a, CellPointer) and isinstance(b, CellPointer)
    return a.cell is b.cell and a.path == b.path


# -- loads and stores


def load(module: Module, pointer: Pointer) -> Value:
    """What is there."""
    if isinstance(pointer, CellPointer):
        value = pointer.cell.value
        for index in pointer.path:
            value = value[index]
        return value
    if isinstance(pointer, Resource):
        return pointer.items
    return given(_load_bytes(module, pointer))


def store(module: Module, pointer: Pointer, value: Value, whole_words: bool = False) -> None:
    """Writes all of a value. ``whole_words``: of NaN too all bits."""
    if isinstance(pointer, CellPointer):
        if pointer.cell.shared and not whole_words:
            value = one_nan(module, pointer.type, value)
        pointer.cell.value = inserted(pointer.cell.value, list(pointer.path), plain(value))
    else:
        assert isinstance(pointer, BufferPointer)
        _store_bytes(module, pointer, value)


def one_nan(module: Module, type_: int, value: Value) -> Value:
    """A value as memory holds it."""
    t = module.types[type_]
    if t.kind == "struct":
        return tuple(one_nan(module, k, x) for k, x in zip(t.members, value, strict=True))
    if isinstance(value, tuple):
        return tuple(one_nan(module, t.element, x) for x in value)
    is_kept = t.kind != "float" or (t.bits > 16 and isinstance(value, Given))
    return value if is_kept else numbers.canonical(value, t.bits)


def inserted(whole: Value, path: list[int], part: Value) -> Value:
    """The composite with one part changed."""
    if not path:
        return part
    at = path[0]
    return (*whole[:at], inserted(whole[at], path[1:], part), *whole[at + 1 :])


def _load_bytes(module: Module, p: BufferPointer) -> Value:
    t = module.types[p.type]
    if t.kind in ("bool", "int", "float"):
        if p.offset_B + t.bits // 8 > p.buffer.size_B:
            return 0
        found = numbers.word_at(p.buffer.data, p.offset_B, t.bits)
        return numbers.canonical(found, 16) if t.kind == "float" and t.bits == 16 else found
    return tuple(_load_bytes(module, _step(module, p, t, k)) for k in range(len(module.parts(t.id))))


def _store_bytes(module: Module, p: BufferPointer, value: Value) -> None:
    t = module.types[p.type]
    if t.kind in ("int", "float"):
        own_B = t.bits // 8
        if p.offset_B + own_B <= p.buffer.size_B:
            is_kept = t.kind != "float" or (t.bits > 16 and isinstance(value, Given))
            kept = value if is_kept else numbers.canonical(value, t.bits)
            p.buffer.data[p.offset_B : p.offset_B + own_B] = numbers.word_bytes(kept, t.bits)
        return
    for k, part in enumerate(value):
        _store_bytes(module, _step(module, p, t, k), part)


def array_length(module: Module, block: BufferPointer, member: int) -> int:
    """Elements of the run-time array that ends a block: OpArrayLength."""
    t = module.types[block.type]
    offset = (module.member_decoration(t.id, member, "Offset") or [0])[0]
    stride_B = (module.decoration(t.members[member], "ArrayStride") or [1])[0]
    return max(0, block.buffer.size_B - block.offset_B - offset) // stride_B


def extent_B(module: Module, type_: int, member: tuple[int, int] | None = None) -> int:
    """Bytes of a type with a layout, whole strides; 0: a run-time array ends it. ``member``: says how its matrices lie."""
    t = module.types[type_]
    if t.kind == "struct":
        parts = []
        for k, part in enumerate(t.members):
            own_B = extent_B(module, part, (type_, k))
            if not own_B:
                return 0
            parts.append((module.member_decoration(type_, k, "Offset") or [0])[0] + own_B)
        return max(parts, default=0)
    if t.kind == "array":
        return (module.decoration(type_, "ArrayStride") or [0])[0] * t.count
    if t.kind == "matrix" and member is not None:
        rows = module.member_decoration(*member, "RowMajor") is not None
        lines = module.types[t.element].count if rows else t.count
        return (module.member_decoration(*member, "MatrixStride") or [0])[0] * lines
    return module.scalar(type_).bits // 8 * (t.count or 1) if t.kind != "runtime_array" else 0


def storage_class(name: str) -> int:
    """Its number."""
    return words.enumerants("StorageClass")[name]
