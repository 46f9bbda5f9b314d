"""Values to bytes in a shader's layout: blocks of uniform and storage buffers and push constants, by member name.

Offsets, strides and matrix order come from the shader's reflection. A scalar, vector or matrix, alone or in arrays,
becomes a strided
NumPy view on the block's bytes; writing is one assignment. Matrices are those of mathematics: element [r][c] is row
r, column c.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core
from tilegpu.arguments import refuse_masked, shown
from tilegpu.errors import ValidationError, candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: NumPy's types of GLSL's scalars in a block.
_DTYPES = {
    name: np.dtype(dtype)
    for name, dtype in {
        "float": "<f4", "int": "<i4", "uint": "<u4", "bool": "<u4", "float16_t": "<f2", "double": "<f8",
        "int8_t": "i1", "uint8_t": "u1", "int16_t": "<i2", "uint16_t": "<u2", "int64_t": "<i8", "uint64_t": "<u8",
    }.items()
}  # fmt: skip

#: Of the module struct; a Boolean's are those of a uint.
SCALAR_CODES = {name: "I" if name == "bool" else dtype.char.replace("l", "q").replace("L", "Q") for name, dtype in _DTYPES.items()}

_NUMBERS = {float, int}

Type = _core.ReflectedType
type_name = _core.type_name  #: GLSL's name of a type, such as ``"mat4"`` or ``"vec3[8]"``


class _Leaf:
    """A scalar, vector or matrix in any number of arrays: shape and strides of the view on the block."""

    __slots__ = ("dtype", "is_bool", "shape", "strides", "type")

    def __init__(self, type_: Type, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.type = type_
        self.dtype = _DTYPES[type_.base]
        self.is_bool = type_.base == "bool"
        own_B = self.dtype.itemsize
        if type_.kind == "vector":
            shape, strides = (*shape, type_.rows), (*strides, own_B)
        elif type_.kind == "matrix":
            shape = (*shape, type_.rows, type_.columns)
            step = type_.matrix_stride_B
            strides = (*strides, step, own_B) if type_.row_major else (*strides, own_B, step)
        self.shape, self.strides = shape, strides


class _Member:
    """One member of a struct: where it lies and what it is."""

    __slots__ = ("dimensions", "leaf", "name", "offset_B", "runtime", "steps_B", "struct", "type")

    def __init__(self, name: str, offset_B: int, type_: Type) -> None:
        self.name, self.offset_B, self.type = name, offset_B, type_
        self.runtime = type_.kind == "array" and type_.array_length == 0
        dimensions: list[int] = []
        steps_B: list[int] = []
        inner = type_
        while inner.kind == "array":
            dimensions.append(inner.array_length)
            steps_B.append(inner.array_stride_B)
            inner = inner.members[0][2]
        self.dimensions, self.steps_B = tuple(dimensions), tuple(steps_B)
        self.struct = _Struct(inner) if inner.kind == "structure" else None
        self.leaf = None if self.struct else _Leaf(inner, self.dimensions, self.steps_B)

    @property
    def end_B(self) -> int:
        """Of its last scalar: without the padding behind an array's last element."""
        if 0 in self.dimensions:
            return 0  # an array of no elements has no bytes, nor has the padding before it
        if self.leaf:
            last_B, shape, steps_B = self.leaf.dtype.itemsize, self.leaf.shape, self.leaf.strides
        else:
            assert self.struct is not None
            last_B, shape, steps_B = self.struct.end_B, self.dimensions, self.steps_B
        return self.offset_B + last_B + sum((n - 1) * step for n, step in zip(shape, steps_B, strict=True))


class _Struct:
    """Members by name."""

    @property
    def end_B(self) -> int:
        """Of its last scalar."""
        return max((member.end_B for member in self.members.values()), default=0)

    __slots__ = ("members", "size_B")

    def __init__(self, type_: Type) -> None:
        self.size_B = type_.size_B
        self.members: dict[str, _Member] = {}
        for index, (name, offset_B, member) in enumerate(type_.members):
            key = name or f"_{index}"
            self.members[key] = _Member(key, offset_B, member)


def _is_same(a: Type, b: Type) -> bool:
    """Whether two types lie the same way in a block."""
    if (a.kind, type_name(a), a.array_stride_B, a.matrix_stride_B, a.row_major) != (
        b.kind, type_name(b), b.array_stride_B, b.matrix_stride_B, b.row_major
    ):  # fmt: skip
        return False
    pairs = zip(a.members, b.members, strict=False)
    return len(a.members) == len(b.members) and all(
        x[:2] == y[:2] and _is_same(x[2], y[2]) for x, y in pairs
    )


def block_conflict(a: Type, b: Type) -> str:
    """Why a name can't mean one place in both of two blocks that share their bytes; ``""`` where all names do."""
    for name, offset_B, type_ in a.members:
        end_B = offset_B + type_.size_B
        for other, other_B, other_type in b.members:
            mine, theirs = f"{type_name(type_)} '{name}' at byte {offset_B}", f"{type_name(other_type)} '{other}' at byte {other_B}"
            if name == other and (offset_B != other_B or not _is_same(type_, other_type)):
                return f"one has {mine}, the other {theirs}"
            if name != other and offset_B < other_B + other_type.size_B and other_B < end_B:
                return f"one has {mine}, the other {theirs}, which are the same bytes"
    return ""


def _finite_int(values: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    info = np.iinfo(dtype)
    return bool(np.all((values >= info.min) & (values <= info.max)))


def _assign(view: NDArray[Any], leaf: _Leaf, value: Any, path: str) -> None:
    refuse_masked(value, path)
    if hasattr(type(value), "device_address"):
        wants = f"{path} is {shown(value)}; the shader's {type_name(leaf.type)} takes"
        if leaf.dtype == np.uint64 or (leaf.type.base == "uint" and view.shape == (2,)):
            raise ValidationError(f"{wants} its address, as of a buffer_reference: give buffer.device_address")
        if np.shape(value) != view.shape:
            raise ValidationError(f"{wants} {_shape_text(view.shape)}, and the buffer's numbers have shape {np.shape(value)}")
    try:
        array = np.asarray(value)
    except Exception as wrong:  # whatever an object's own __array__ raises
        raise ValidationError(
            f"{path}: {type_name(leaf.type)} of shape {view.shape} can't be made of this value: {wrong}"
        ) from None
    if array.dtype.kind not in "fiub":
        raise ValidationError(f"{path} is {shown(value)}; it must be numbers of shape {view.shape} ({type_name(leaf.type)})")
    if array.shape != view.shape:
        raise ValidationError(
            f"{path} has shape {array.shape}; the shader's {type_name(leaf.type)} takes {_shape_text(view.shape)}"
        )
    if leaf.is_bool:
        view[...] = array.astype(bool)
        return
    if leaf.dtype.kind != "f":
        if array.dtype.kind == "f":
            if not np.all(array == np.floor(array)):
                raise ValidationError(f"{path} is {shown(value)}; the shader's {leaf.type.base} takes whole numbers")
            array = array.astype(np.int64)
        if array.dtype.kind != "b" and not _finite_int(array, leaf.dtype):
            raise ValidationError(f"{path} is {shown(value)}, outside the range of the shader's {leaf.type.base}")
    view[...] = array


def _shape_text(shape: tuple[int, ...]) -> str:
    return "a number" if shape == () else f"shape {shape}"


def _in_a_row(member: _Member, value: Any) -> Any:
    """An array of more dimensions for a run-time array of numbers, vectors, matrices or structs: its elements in a row, as in a
    buffer."""
    if not member.runtime or not isinstance(value, np.ndarray):
        return value
    if member.leaf is None:
        return value.reshape(-1) if value.dtype.names and value.ndim > 1 else value
    inner = member.leaf.shape[1:]
    if value.ndim <= len(member.leaf.shape) or value.shape[value.ndim - len(inner) :] != inner:
        return value
    return value.reshape(-1, *inner)


class StructLayout:
    """Packs values by name into the bytes of one block.

    ``name`` is what messages call it. A block may end in a run-time array; its length is that of the value.
    """

    def __init__(self, type_: Type, name: str) -> None:
        self.name = name
        self.size_B = type_.size_B  #: without a run-time array at its end
        self.struct = _Struct(type_)
        self._lock = threading.RLock()  # of the block that all calls fill by turns
        self._prepare()

    def _prepare(self) -> None:
        members = self.struct.members
        self._fixed = not any(m.runtime for m in members.values())
        self._names = list(members)
        self._block = bytearray(self.size_B)
        self.end_B = self.struct.end_B  #: without the padding behind an array's last element
        # The common case, members of floats, are views that pack() makes once; the others are looked at each time.
        self._floats = [
            key for key, m in members.items() if self._fixed and m.leaf is not None and m.leaf.type.base == "float"
        ]
        self._views: list[tuple[str, tuple[int, ...], NDArray[Any]]] | None = None
        floats = set(self._floats)
        self._others = [key for key in members if key not in floats]

    def _float_views(self) -> list[tuple[str, tuple[int, ...], NDArray[Any]]]:
        if self._views is None:
            self._views = [
                (key, leaf.shape, self._view(self._block, leaf, self.struct.members[key].offset_B))
                for key, leaf in ((key, self._leaf(key)) for key in self._floats)
            ]
        return self._views

    def float_block(self, most_B: int = _core.MAX_PUSH_CONSTANTS_B) -> _core.FloatBlock | None:
        """The same in the core, where all members are floats, vectors and matrices of them. ``most_B``: longer ones are an error."""
        if self._others:
            return None
        table = []
        for key, member in self.struct.members.items():
            leaf = self._leaf(key)
            if len(leaf.shape) > 2:
                return None
            table.append((key, member.offset_B, leaf.shape, leaf.strides))
        try:
            return _core.FloatBlock(self.size_B, table, most_B)
        except ValueError:
            return None  # the general way says what is wrong, with its number of bytes

    def add_member(self, name: str, offset_B: int, type_: Type) -> None:
        """Adds a member that another stage's block has."""
        if name not in self.struct.members:
            self.struct.members[name] = _Member(name, offset_B, type_)
            self.size_B = max(self.size_B, offset_B + type_.size_B)
            self._prepare()

    @property
    def names(self) -> list[str]:
        """Names of the members, in order."""
        return list(self._names)

    def _leaf(self, key: str) -> _Leaf:
        leaf = self.struct.members[key].leaf
        assert leaf is not None
        return leaf

    @staticmethod
    def _view(block: bytearray, leaf: _Leaf, offset_B: int) -> NDArray[Any]:
        try:
            return np.ndarray(leaf.shape, leaf.dtype, buffer=block, offset=offset_B, strides=leaf.strides)
        except ValueError:
            raise ValidationError(f"a member at byte {offset_B} does not fit its block of {len(block)} bytes") from None

    def check_names(self, fields: Mapping[str, Any]) -> None:
        """Raises :class:`ValidationError` unless exactly the members are given."""
        if fields.keys() == self.struct.members.keys():
            return
        for given in fields:
            if given not in self.struct.members:
                raise ValidationError(f"{self.name} has no member '{given}'{candidates(given, self._names)}")
        missing = [n for n in self._names if n not in fields]
        raise ValidationError(
            f"{self.name}: missing {', '.join(repr(m) for m in missing)}; the shader's block has: {', '.join(self._names)}"
        )

    def pack(self, fields: Mapping[str, Any]) -> bytes:
        """The bytes of the block. Every member must be given; padding is zero."""
        try:
            with np.errstate(over="raise"):
                return self._pack(fields)
        except FloatingPointError:
            raise ValidationError(f"{self.name}: {self._too_large(fields)}") from None

    def _too_large(self, fields: Mapping[str, Any]) -> str:
        """Which member has a number that its floats can't hold."""
        for key, value in fields.items():
            leaf = self.struct.members[key].leaf
            array = np.asarray(value) if leaf is not None else np.zeros(0)
            if leaf is not None and leaf.dtype.kind == "f" and array.dtype.kind in "fiu":
                with np.errstate(over="ignore"):
                    lost = np.isfinite(array) & ~np.isfinite(array.astype(leaf.dtype))
                if np.any(lost):
                    return f"{key} has {array[lost].flat[0].item()!r}, which {leaf.type.base} can't hold"
        return "a number in it is larger than its floats can hold"

    def _pack(self, fields: Mapping[str, Any]) -> bytes:
        self.check_names(fields)
        # From within itself, of a value's __array__, it fills another one.
        if self._fixed and not self._lock._is_owned():  # type: ignore[attr-defined]
            with self._lock:
                for key, shape, view in self._float_views():
                    value = fields[key]
                    kind = type(value)
                    if kind is np.ndarray:
                        ready = value.shape == shape and value.dtype.kind == "f"
                    elif kind is tuple:
                        ready = len(shape) == 1 and len(value) == shape[0] and _NUMBERS.issuperset(map(type, value))
                    else:
                        ready = kind is float and shape == ()
                    if ready:
                        view[...] = value
                    else:
                        _assign(view, self._leaf(key), value, f"{self.name}.{key}")
                for key in self._others:
                    member = self.struct.members[key]
                    self._write_member(self._block, member, member.offset_B, fields[key], f"{self.name}.{key}")
                return bytes(self._block)
        fields = {key: _in_a_row(self.struct.members[key], value) for key, value in fields.items()}
        block = bytearray(self._runtime_size_B(fields))
        for key, member in self.struct.members.items():
            self._write_member(block, member, member.offset_B, fields[key], f"{self.name}.{key}")
        return bytes(block)

    def _runtime_size_B(self, fields: Mapping[str, Any]) -> int:
        size_B = self.size_B
        for key, member in self.struct.members.items():
            if member.runtime:
                size_B = max(size_B, member.offset_B + member.steps_B[0] * _length(fields[key], f"{self.name}.{key}"))
        return size_B

    def _write_member(self, block: bytearray, member: _Member, offset_B: int, value: Any, path: str) -> None:
        length = _length(value, path) if member.runtime else 0
        if member.leaf is not None:
            leaf = member.leaf
            shape = (length, *leaf.shape[1:]) if member.runtime else leaf.shape
            view: NDArray[Any] = np.ndarray(shape, leaf.dtype, buffer=block, offset=offset_B, strides=leaf.strides)
            _assign(view, leaf, value, path)
            return
        assert member.struct is not None
        dimensions = (length, *member.dimensions[1:]) if member.runtime else member.dimensions
        self._write_structs(block, member.struct, dimensions, member.steps_B, offset_B, value, path)

    def _write_structs(
        self,
        block: bytearray,
        struct: _Struct,
        dimensions: Sequence[int],
        steps_B: Sequence[int],
        offset_B: int,
        value: Any,
        path: str,
    ) -> None:
        if not dimensions:
            fields = _fields_of(value, path)
            for given in fields:
                if given not in struct.members:
                    raise ValidationError(f"{path} has no member '{given}'{candidates(given, struct.members)}")
            for key, member in struct.members.items():
                if key not in fields:
                    raise ValidationError(
                        f"{path}: missing '{key}'; the shader's struct has: {', '.join(struct.members)}"
                    )
                self._write_member(block, member, offset_B + member.offset_B, fields[key], f"{path}.{key}")
            return
        if isinstance(value, Mapping):  # a mapping of arrays: one array for each member
            lengths = {k: _length(v, f"{path}.{k}") for k, v in value.items()}
            wrong = {k: n for k, n in lengths.items() if n != dimensions[0]}
            if wrong:
                raise ValidationError(f"{path}: the shader's array has {dimensions[0]} elements, given were {wrong}")
            value = [{k: v[i] for k, v in value.items()} for i in range(dimensions[0])]
        if _length(value, path) != dimensions[0]:
            raise ValidationError(f"{path} has {len(value)} elements; the shader's array has {dimensions[0]}")
        for i in range(dimensions[0]):
            self._write_structs(
                block, struct, dimensions[1:], steps_B[1:], offset_B + i * steps_B[0], value[i], f"{path}[{i}]"
            )


def _length(value: Any, path: str) -> int:
    if isinstance(value, Mapping):
        return max((_length(v, path) for v in value.values()), default=0)
    try:
        return len(value)
    except TypeError:
        raise ValidationError(f"{path} is {shown(value)}; the shader's array takes a sequence") from None


def _fields_of(value: Any, path: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, np.void) and value.dtype.names:
        return {name: value[name] for name in value.dtype.names}
    if isinstance(value, np.ndarray) and value.dtype.names and value.shape == ():
        return {name: value[name] for name in value.dtype.names}
    raise ValidationError(f"{path} is {shown(value)}; the shader's struct takes a mapping or a structured NumPy scalar")


def widest_B(layout: StructLayout) -> int:
    """Bytes of its widest number."""

    def of_member(member: _Member) -> int:
        return of(member.struct) if member.struct is not None else member.leaf.dtype.itemsize if member.leaf is not None else 0

    def of(struct: _Struct) -> int:
        return max(map(of_member, struct.members.values()), default=0)

    return of(layout.struct)
