"""Vertex input: NumPy dtypes to Vulkan's bindings and attributes, and arrays to what the bindings say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilegpu import _core, enums
from tilegpu.buffer import matrix_fields, native, transposed_dtype, upload_layout
from tilegpu.errors import ValidationError
from tilegpu.structs import type_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


class VertexBinding(NamedTuple):
    """One vertex buffer, said explicitly: ``attributes`` are (location, format, offset in bytes).

    ``rate`` is ``"vertex"`` or ``"instance"``.
    """

    stride: int
    attributes: Sequence[tuple[int, str, int]]
    rate: str = "vertex"


class _Field:
    """One field of a dtype that may feed an input."""

    __slots__ = ("base", "binding", "name", "offset_B", "shape", "used")

    def __init__(self, binding: int, name: str, base: np.dtype[Any], shape: tuple[int, ...], offset_B: int) -> None:
        self.binding, self.name, self.base, self.shape, self.offset_B = binding, name, base, shape, offset_B
        self.used = False


class BoundLayout(NamedTuple):
    """What draws need of one binding."""

    stride_B: int
    rate: str
    dtype: np.dtype[Any] | None  #: None: explicit, only buffers fit


class VertexLayout:
    """Bindings and attributes of a pipeline."""

    def __init__(self) -> None:
        self.bindings: list[BoundLayout] = []
        self.attributes: list[tuple[int, int, int, int]] = []  #: location, binding, format, offset
        self.unused: list[str] = []  #: names of fields that feed no input
        self.per_vertex: list[int] = []
        self.per_instance: list[int] = []

    def finish(self) -> VertexLayout:
        """Remembers which bindings advance with the vertex and which with the instance."""
        self.per_vertex = [i for i, b in enumerate(self.bindings) if b.rate == "vertex"]
        self.per_instance = [i for i, b in enumerate(self.bindings) if b.rate == "instance"]
        return self


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, VertexBinding):
        return [value]
    if isinstance(value, (list, tuple)) and any(isinstance(v, (np.dtype, VertexBinding, list)) for v in value):
        return list(value)
    return [value]


def _fields(number: int, dtype: np.dtype[Any]) -> list[_Field]:
    if dtype.names and dtype.fields is not None:
        result = []
        for name in dtype.names:
            kind, offset_B = dtype.fields[name][:2]
            result.append(_Field(number, name, kind.base, kind.shape, offset_B))
        return result
    return [_Field(number, "", dtype.base, dtype.shape, 0)]


def _component_format(item: _Field, wanted: _core.ReflectedVariable, components: int, what: str) -> int:
    base, shader = item.base, wanted.type.base
    found = _core.vertex_format(base.kind, base.itemsize, components, shader)
    if found:
        return found
    # NumPy's names of its dtypes take long to make: they are for messages.
    bits = base.itemsize * 8
    where = f"{what}: vertex field '{item.name or wanted.name}' of dtype {base}"
    if base.kind == "f" and bits == 64:
        raise ValidationError(f"{where}: 64-bit floats can't be vertex data; use 'f4' (array.astype)")
    if base.kind in "iub" and shader == "float" and bits == 32:
        raise ValidationError(
            f"{where}: the shader's '{wanted.name}' is a float, and 32-bit integers can't be converted to it; "
            "use 'f4', or declare an int in the shader"
        )
    if base.kind in "iub" and bits == 64:
        raise ValidationError(f"{where}: 64-bit integers can't be vertex data; use 'i4' or 'u4' (array.astype)")
    if base.kind == "f" and shader != "float":
        raise ValidationError(
            f"{where}: the shader's '{wanted.name}' is {type_name(wanted.type)}; use an integer field"
        )
    raise ValidationError(f"{where} can't be vertex data; use 'f4', 'f2', 'i1' to 'i4' or 'u1' to 'u4'")


def _add_attributes(layout: VertexLayout, item: _Field, wanted: _core.ReflectedVariable, what: str) -> None:
    kind = wanted.type.kind
    where = f"{what}: vertex field '{item.name or wanted.name}' of shape {item.shape}"
    if kind == "array":
        raise ValidationError(
            f"{where}: the shader's '{wanted.name}' is an array; describe it with tilegpu.VertexBinding"
        )
    if kind == "matrix":
        rows, columns = wanted.type.rows, wanted.type.columns
        if item.shape != (rows, columns):
            raise ValidationError(
                f"{where}: the shader's '{wanted.name}' is {type_name(wanted.type)}, which takes a field of shape ({rows}, {columns})"
            )
        for column in range(columns):
            number = _component_format(item, wanted, rows, what)
            layout.attributes.append(
                (wanted.location + column, item.binding, number, item.offset_B + column * rows * item.base.itemsize)
            )
        return
    if len(item.shape) > 1:
        raise ValidationError(
            f"{where}: the shader's '{wanted.name}' is {type_name(wanted.type)}, which takes a field of shape ({wanted.type.rows},)"
        )
    components = item.shape[0] if item.shape else 1
    if not 1 <= components <= 4:
        raise ValidationError(
            f"{where}: the shader's '{wanted.name}' is {type_name(wanted.type)}; 1 to 4 components are allowed"
        )
    layout.attributes.append(
        (wanted.location, item.binding, _component_format(item, wanted, components, what), item.offset_B)
    )


def make_layout(vertex: Any, instance: Any, inputs: Sequence[_core.ReflectedVariable], what: str) -> VertexLayout:
    """Matches fields with the vertex shader's inputs: by name, or by order = location where no name matches."""
    layout = VertexLayout()
    fields: list[_Field] = []
    explicit: set[int] = set()
    for rate, entries in (("vertex", _as_list(vertex)), ("instance", _as_list(instance))):
        for entry in entries:
            number = len(layout.bindings)
            if isinstance(entry, VertexBinding):
                enums.parse("vertex_input_rate", entry.rate, f"{what}: rate of vertex binding {number}")
                layout.bindings.append(BoundLayout(int(entry.stride), entry.rate.lower(), None))
                for location, format_, offset_B in entry.attributes:
                    info = enums.parse_format(format_, f"{what}: vertex attribute at location {location}")
                    layout.attributes.append((int(location), number, info.number, int(offset_B)))
                    explicit.add(int(location))
                continue
            try:
                dtype = np.dtype(entry)
            except TypeError:
                raise ValidationError(
                    f"{what}: {rate}={entry!r} is no dtype; give array.dtype, a list of dtypes, or tilegpu.VertexBinding"
                ) from None
            if not dtype.isnative:
                dtype = dtype.newbyteorder("=")
            layout.bindings.append(BoundLayout(dtype.itemsize, rate, dtype))
            fields += _fields(number, dtype)
    if len(layout.bindings) > _core.MAX_VERTEX_BINDINGS:
        raise ValidationError(
            f"{what}: {len(layout.bindings)} vertex bindings; at most {_core.MAX_VERTEX_BINDINGS} are allowed"
        )
    wanted = [v for v in inputs if v.location not in explicit]
    by_name = {v.name: v for v in wanted if v.name}
    if any(f.name in by_name for f in fields):
        pairs = [(f, by_name[f.name]) for f in fields if f.name in by_name]
    else:
        pairs = list(zip(fields, wanted, strict=False))
    for item, variable in pairs:
        item.used = True
        if variable.used:
            _add_attributes(layout, item, variable, what)
    fed = {variable.location for _, variable in pairs}
    left = [f.name or f"field {i}" for i, f in enumerate(fields) if not f.used]
    for variable in wanted:
        if variable.used and variable.location not in fed:
            text = f"{what}: the vertex shader reads '{variable.name}' ({type_name(variable.type)}, location {variable.location}), "
            if not layout.bindings:
                raise ValidationError(text + "but no vertex= was given; give the dtype of the vertex array")
            raise ValidationError(
                text + f"but no field of vertex= feeds it; fields left are: {', '.join(left) or 'none'}"
            )
    layout.unused = left + [f.name for f, v in pairs if not v.used and f.name]
    return layout.finish()


def _convert(array: NDArray[Any], dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    """The array with the dtype: fields by name, or the columns of a plain 2-D array."""
    if dtype.names and array.dtype.names:
        missing = [n for n in dtype.names if n not in array.dtype.names]
        if missing:
            raise ValidationError(
                f"{what}: vertices have no field {', '.join(map(repr, missing))}; they have: {', '.join(array.dtype.names)}"
            )
        out = np.zeros(array.shape, dtype)
        for name in dtype.names:
            if array[name].shape != out[name].shape:
                raise ValidationError(
                    f"{what}: vertex field '{name}' has shape {array[name].shape[1:]}, the pipeline has {out[name].shape[1:]}"
                )
            out[name] = array[name]
        return out
    if array.dtype.names:
        raise ValidationError(
            f"{what}: vertices are structured ({', '.join(array.dtype.names)}), the pipeline was made for plain {dtype}"
        )
    leaves = _fields(0, dtype)
    width = sum(int(np.prod(f.shape, dtype=int)) for f in leaves)
    columns = int(np.prod(array.shape[1:], dtype=int))
    if columns != width:
        raise ValidationError(
            f"{what}: vertices of shape {array.shape} have {columns} columns; the pipeline's {dtype} takes {width}"
        )
    if array.dtype.kind not in "fiub":
        raise ValidationError(f"{what}: vertices have dtype {array.dtype}; the pipeline's is {dtype}")
    flat = array.reshape(len(array), width)
    if not dtype.names:
        return flat.astype(dtype.base).reshape(len(array), *dtype.shape)
    out = np.zeros(len(array), dtype)
    column = 0
    for leaf in leaves:
        count = int(np.prod(leaf.shape, dtype=int))
        out[leaf.name] = flat[:, column : column + count].reshape(len(array), *leaf.shape)
        column += count
    return out


def vertex_array(data: Any, dtype: np.dtype[Any] | None, what: str) -> tuple[NDArray[Any], int]:
    """(bytes to upload as an array, number of vertices) for a NumPy argument of a draw."""
    array = np.asarray(data)
    if array.ndim == 0:
        raise ValidationError(
            f"{what}: vertices are {data!r}; give an array with one row for each vertex, or a tilegpu.Buffer"
        )
    if dtype is None:
        raise ValidationError(
            f"{what}: the pipeline's vertex binding is explicit (tilegpu.VertexBinding); give a tilegpu.Buffer"
        )
    array = native(array)
    if dtype.names:
        same = array.dtype == dtype
        count = array.size if array.dtype.names else len(array)
        array = array.reshape(-1) if array.dtype.names else array
    else:
        same = array.dtype == dtype.base and array.shape[1:] == dtype.shape
        count = len(array)
    if not same:
        array = _convert(array, dtype, what)
    return upload_layout(array) if matrix_fields(array.dtype) else array, count


def buffer_matches(buffer_dtype: np.dtype[Any] | None, dtype: np.dtype[Any] | None) -> bool:
    """A buffer made from an array fits a binding made from a dtype (buffers made from a size fit always)."""
    if buffer_dtype is None or dtype is None or not dtype.names or not buffer_dtype.names:
        return True
    return transposed_dtype(buffer_dtype) == transposed_dtype(dtype)


def index_array(indices: Any, restart: bool, what: str) -> NDArray[Any]:
    """Indices as uint8, uint16 or uint32, 1-D and contiguous."""
    array = np.asarray(indices)
    if array.dtype.kind not in "iu":
        raise ValidationError(f"{what}: indices have dtype {array.dtype}; they must be integers, best uint16 or uint32")
    array = native(array).reshape(-1)
    if array.dtype in (np.uint8, np.uint16, np.uint32):
        return array
    if array.size:
        low, high = int(array.min()), int(array.max())
        if high > 0xFFFFFFFF or low < (-1 if restart else 0):
            raise ValidationError(
                f"{what}: indices go from {low} to {high}; allowed are 0 to {0xFFFFFFFF}"
                + (" (and -1, the restart index)" if restart else "")
            )
    return array.astype(np.uint32)
