"""Vertex input: NumPy dtypes to Vulkan's bindings and attributes, and arrays to what the bindings say."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilegpu import _core, arguments, enums
from tilegpu.buffer import matrix_fields, native, native_dtype, upload_layout
from tilegpu.errors import ClampedValueWarning, ValidationError, beyond_vulkan, users_level

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST_STRIDE_B = 2048  # maxVertexInputBindingStride


class VertexBinding(NamedTuple):
    """One vertex buffer, said explicitly: ``attributes`` are (location, format, offset in bytes). A draw takes buffers for it, and arrays
    whose rows are ``stride`` bytes, as they lie in memory. There are as many elements as have all attributes that the shader reads before
    the data ends: an offset beyond the stride reaches into the rows behind, and the last of them are none.

    ``rate`` is ``"vertex"`` or ``"instance"``; ``divisor``: of the latter, how many instances share an element (0: all).
    """

    stride: int
    attributes: Sequence[tuple[int, str, int]]
    rate: str = "vertex"
    divisor: int = 1


#: Elements where all are one: the stride is 0.
ENDLESS = 1 << 32


class BoundLayout(NamedTuple):
    """What draws need of one binding."""

    stride_B: int
    rate: str
    dtype: np.dtype[Any] | None  #: None: explicit, which bytes are taken for
    divisor: int = 1

    def elements(self, size_B: int, end_B: int) -> int:
        """How many can be read of so many bytes. ``end_B``: where the attributes of one end, which may be before its stride does."""
        if size_B < end_B:
            return 0
        if not self.stride_B:
            return ENDLESS
        return (size_B - end_B) // self.stride_B + 1 if end_B else size_B // self.stride_B


class VertexLayout:
    """Bindings and attributes of a pipeline."""

    def __init__(self) -> None:
        self.bindings: list[BoundLayout] = []
        self.attributes: list[tuple[int, int, int, int]] = []  #: location, binding, format, offset
        self.per_vertex: list[int] = []
        self.per_instance: list[int] = []
        self.ends_B: list[int] = []  #: by binding: where the last of an element's attributes ends that the shader reads
        self.alignments_B: list[int] = []  #: by binding: what Vulkan wants its addresses to be multiples of

    def normalised(self, number: int) -> set[int]:
        """Bytes of a binding's elements at which integers begin that the shader reads as floats of 0 to 1, or -1 to 1."""
        return {
            offset_B
            for _, binding, format_, offset_B in self.attributes
            if binding == number and enums.format_of(format_).numeric in ("unorm", "snorm")
        }

    def finish(self, inputs: Sequence[_core.ReflectedVariable]) -> VertexLayout:
        """Remembers which bindings advance with the vertex and which with the instance, and of what the shader's inputs read where it
        ends."""
        read = {v.location + k for v in inputs if v.used for k in range(max(1, v.type.locations))}
        self.per_vertex = [i for i, b in enumerate(self.bindings) if b.rate == "vertex"]
        self.per_instance = [i for i, b in enumerate(self.bindings) if b.rate == "instance"]
        self.ends_B, self.alignments_B = [0] * len(self.bindings), [1] * len(self.bindings)
        asked = {number for location, number, _, _ in self.attributes if location in read}
        for location, number, format_, offset_B in self.attributes:
            info = enums.format_of(format_)
            if location in read or number not in asked:
                self.ends_B[number] = max(self.ends_B[number], offset_B + info.texel_B)
            self.alignments_B[number] = max(self.alignments_B[number], component_B(info))
        return self


def component_B(info: enums.FormatInfo) -> int:
    """Bytes of a component, or of the word that a packed format is; Vulkan aligns attributes to them."""
    return info.texel_B if "pack" in info.name else max(1, info.component_bits // 8)


def warn_of_layout(layout: VertexLayout, what: str, strict: bool) -> None:
    """Vulkan has attributes at multiples of their components (the specification's text on attribAddress), and limits of strides and offsets
    (VUID-VkVertexInputBindingDescription-stride-00619, VUID-VkVertexInputAttributeDescription-offset-00622); tilegpu reads any byte."""
    for location, number, format_, offset_B in layout.attributes:
        info, stride_B = enums.format_of(format_), layout.bindings[number].stride_B
        step_B = component_B(info)
        if stride_B > _MOST_STRIDE_B or offset_B >= _MOST_STRIDE_B:
            beyond_vulkan(
                f"{what}: the attribute at location {location} has offset {offset_B} and stride {stride_B}, in bytes; Vulkan's limit is "
                f"{_MOST_STRIDE_B}: split the array in several bindings",
                strict,
            )
            return
        if offset_B % step_B or stride_B % step_B:
            beyond_vulkan(
                f"{what}: the attribute at location {location}, {info.name}, has offset {offset_B} and stride {stride_B}, in bytes, not "
                f"both multiples of {step_B}; align the dtype (np.dtype(..., align=True))",
                strict,
            )
            return


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, VertexBinding):
        return [value]
    if isinstance(value, (list, tuple)) and any(isinstance(v, (np.dtype, VertexBinding, list)) for v in value):
        return list(value)
    return [value]


def make_layout(vertex: Any, instance: Any, reflection: _core.Reflection, what: str) -> VertexLayout:
    """Matches fields with the vertex shader's inputs: by name, or by order = location where fields (f0, f1, ...) or inputs have none."""
    layout = VertexLayout()
    dtypes: list[tuple[int, np.dtype[Any]]] = []
    explicit: list[int] = []
    for rate, entries in (("vertex", _as_list(vertex)), ("instance", _as_list(instance))):
        for entry in entries:
            number = len(layout.bindings)
            if isinstance(entry, VertexBinding):
                enums.parse("vertex_input_rate", entry.rate, f"{what}: rate of vertex binding {number}")
                divisor = arguments.count(entry.divisor, f"{what}: {rate}: divisor", 0xFFFFFFFF)
                if divisor != 1 and entry.rate.lower() != "instance":
                    raise ValidationError(f"{what}: vertex binding {number} has divisor {divisor}; that is for rate='instance'")
                stride_B = arguments.count(entry.stride, f"{what}: stride of vertex binding {number}", 0x7FFFFFFF)
                layout.bindings.append(BoundLayout(stride_B, entry.rate.lower(), None, divisor))
                must = "it must be a list of (location, format, offset in bytes)"
                for given in arguments.sequence(entry.attributes, f"{what}: attributes of vertex binding {number}", must):
                    attribute = arguments.sequence(given, f"{what}: an attribute of vertex binding {number}", must)
                    if len(attribute) != 3:
                        raise ValidationError(f"{what}: an attribute of vertex binding {number} is {arguments.shown(given)}; {must}")
                    location = arguments.count(attribute[0], f"{what}: vertex binding {number}: location", 0xFFFFFFFF)
                    where = f"{what}: vertex attribute at location {location}"
                    info = enums.parse_format(attribute[1], f"{where}: format")
                    layout.attributes.append((location, number, info.number, arguments.count(attribute[2], f"{where}: offset", 0x7FFFFFFF)))
                    explicit.append(location)
                continue
            try:
                dtype = np.dtype(entry)
            except Exception:
                raise ValidationError(
                    f"{what}: {rate}={arguments.shown(entry)} is no dtype; give array.dtype, a list of dtypes, or tilegpu.VertexBinding"
                ) from None
            dtype = native_dtype(dtype)
            layout.bindings.append(BoundLayout(dtype.itemsize, rate, dtype))
            dtypes.append((number, dtype))
    if len(layout.bindings) > _core.MAX_VERTEX_BINDINGS:
        raise ValidationError(
            f"{what}: {len(layout.bindings)} vertex bindings; at most {_core.MAX_VERTEX_BINDINGS} are allowed"
        )
    try:
        attributes = _core.match_vertex_fields(dtypes, reflection, explicit, bool(layout.bindings), what)
    except ValidationError:
        if layout.bindings and not dtypes:
            _say_missing_location(explicit, reflection, what)
        raise
    _check_rows(dtypes, attributes, reflection, what)
    _check_signs(attributes, reflection, what)
    layout.attributes += [_of_booleans(attribute, dtypes) for attribute in attributes]
    return layout.finish(reflection.inputs)


def _say_missing_location(explicit: Sequence[int], reflection: _core.Reflection, what: str) -> None:
    """Raises for an input of the shader that no :class:`VertexBinding` feeds, where they alone were given."""
    for variable in reflection.inputs:
        if variable.used and variable.location not in explicit:
            there = ", ".join(map(str, sorted(explicit))) or "none"
            raise ValidationError(
                f"{what}: the vertex shader reads '{variable.name}' ({_core.type_name(variable.type)}, location {variable.location}), and "
                f"the attributes of vertex= and instance= (VertexBinding) are at locations: {there}; add ({variable.location}, format, "
                "offset in bytes) to its attributes, or change the location"
            )


def _of_booleans(attribute: tuple[int, int, int, int], dtypes: list[tuple[int, np.dtype[Any]]]) -> tuple[int, int, int, int]:
    """Booleans are bytes of 1, which a float would read as 1 of 255: it reads the numbers themselves."""
    location, number, format_, offset_B = attribute
    name = enums.format_of(format_).name
    if not name.endswith("_unorm"):
        return attribute
    dtype = next(dtype for known, dtype in dtypes if known == number)
    fields = [(0, dtype)] if dtype.fields is None else [(field[1], field[0]) for field in dtype.fields.values()]
    if not any(base.base.kind == "b" and start_B <= offset_B < start_B + base.itemsize for start_B, base in fields):
        return attribute
    return location, number, enums.parse_format(name.replace("unorm", "uscaled"), "").number, offset_B


def _check_rows(
    dtypes: list[tuple[int, np.dtype[Any]]], attributes: Sequence[tuple[int, int, int, int]], reflection: _core.Reflection, what: str
) -> None:
    """A flat array of numbers feeds a vector with one number, and zeros: its dtype has lost the rows."""
    flat = {number: dtype for number, dtype in dtypes if dtype.names is None and not dtype.shape}
    inputs = {variable.location: variable for variable in reflection.inputs}
    for location, number, _, _ in attributes:
        dtype, variable = flat.get(number), inputs.get(location)
        if dtype is not None and variable is not None and variable.type.kind == "vector":
            rows = variable.type.rows
            raise ValidationError(
                f"{what}: vertex={dtype} is one number for each vertex, and the vertex shader's '{variable.name}' is "
                f"{_core.type_name(variable.type)}; give np.dtype(({dtype.str[1:]!r}, {rows})) and arrays of rows, of shape (n, {rows})"
            )


def _check_signs(attributes: Sequence[tuple[int, int, int, int]], reflection: _core.Reflection, what: str) -> None:
    """Integers with a sign for an input without, or the reverse: -1 is 2^32 - 1 (VUID-VkGraphicsPipelineCreateInfo-Input-08733)."""
    inputs = {variable.location: variable for variable in reflection.inputs if variable.used}
    for location, _, format_, _ in attributes:
        variable, info = inputs.get(location), enums.format_of(format_)
        if variable is None or info.numeric not in ("sint", "uint") or variable.type.base not in ("int", "uint"):
            continue
        if (info.numeric == "sint") != (variable.type.base == "int"):
            bits = info.component_bits
            has, wants = (f"int{bits}", f"uint{bits}") if info.numeric == "sint" else (f"uint{bits}", f"int{bits}")
            raise ValidationError(
                f"{what}: the vertex shader's '{variable.name}' ({_core.type_name(variable.type)}, location {location}) gets {has} "
                f"({info.name}); make the array's field {wants}, or declare the input {'signed' if info.numeric == 'sint' else 'unsigned'}"
            )


def _field_numbers(values: NDArray[Any], own: np.dtype[Any], normalised: bool, what: str) -> NDArray[Any]:
    """Numbers of an array as a field of the pipeline has them: unchanged, but for the rounding of floats."""
    kind, width_bits = own.kind, own.itemsize * 8
    if values.dtype.kind not in "fiub" or kind not in "fiub":
        raise ValidationError(f"{what} has dtype {values.dtype}; the pipeline's is {own}")
    if kind == "b":
        return values.astype(own)
    if kind == "f":
        if values.dtype == np.uint8 and values.size and values.max() > 1:
            warnings.warn(
                f"{what} has bytes (uint8) up to {values.max()}, which the pipeline's {own} takes as they are: {values.max()} is "
                f"{float(values.max())}, not 1; for 0 to 1 give dev.pipeline a dtype with uint8 there (which the shader reads as 0 to 1), "
                f"for the numbers themselves .astype(np.{own})",
                ClampedValueWarning,
                stacklevel=users_level(),
            )
        with np.errstate(all="ignore"):
            made = values.astype(own)
        lost = ~np.isfinite(made) & np.isfinite(values) if values.dtype.kind != "b" else np.zeros(values.shape, bool)
        must = f"the pipeline's {own} can't hold"
        fix = "give smaller numbers, or dev.pipeline a dtype with wider floats"
    else:
        limits = np.iinfo(own)
        if values.dtype.kind == "f" and normalised:
            least = -1 if kind == "i" else 0
            raise ValidationError(
                f"{what} has floats ({values.dtype}), the pipeline's is {own}, which the shader reads as {least} to 1 (a normalised "
                f"integer of {limits.min} to {limits.max}); multiply by {limits.max}, round, and give .astype(np.{own})"
            )
        with np.errstate(all="ignore"):
            made = values.astype(own) * own.type(limits.max if values.dtype.kind == "b" and normalised else 1)
        if values.dtype.kind == "f":
            wide = values.astype(np.float64)  # in float16 the limits would round to infinity
            # As floats of 64 bits the limits of 64-bit integers round up, so the upper end is one that is not allowed.
            end = float(limits.max) + (1.0 if width_bits < 64 else 0.0)
            lost = ~((wide >= float(limits.min)) & (wide < end) & (wide == np.floor(wide)))
        elif values.dtype.kind == "b":
            lost = np.zeros(values.shape, bool)
        else:
            lost = (values < limits.min) | (values > limits.max)
        must = f"the pipeline's {own} can't hold: it takes whole numbers from {limits.min} to {limits.max}"
        fix = "give dev.pipeline a dtype that holds them"
    if np.any(lost):
        raise ValidationError(f"{what} has {values[lost].flat[0].item()!r}, which {must}; {fix}")
    return made


def _convert(array: NDArray[Any], dtype: np.dtype[Any], what: str, normalised: Collection[int]) -> NDArray[Any]:
    """The array with the dtype: fields by name, or the columns of a plain 2-D array. ``normalised``: bytes at which the shader's
    floats of 0 to 1 or -1 to 1 begin that are integers here."""
    fields: Any = dtype.fields or {}
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
            out[name] = _field_numbers(array[name], out[name].dtype, fields[name][1] in normalised, f"{what}: vertex field '{name}'")
        return out
    if array.dtype.names:
        raise ValidationError(
            f"{what}: vertices are structured ({', '.join(array.dtype.names)}), the pipeline was made for plain {dtype}"
        )
    leaves = [(n, dtype[n].shape) for n in dtype.names] if dtype.names else [("", dtype.shape)]
    width = sum(int(np.prod(shape, dtype=int)) for _, shape in leaves)
    columns = int(np.prod(array.shape[1:], dtype=int))
    if columns != width:
        raise ValidationError(
            f"{what}: vertices of shape {array.shape} have {columns} columns; the pipeline's {dtype} takes {width}"
        )
    flat = array.reshape(len(array), width)
    if not dtype.names:
        return _field_numbers(flat, dtype.base, 0 in normalised, f"{what}: vertices: the array").reshape(len(array), *dtype.shape)
    out = np.zeros(len(array), dtype)
    column = 0
    for name, shape in leaves:
        count = int(np.prod(shape, dtype=int))
        numbers = flat[:, column : column + count].reshape(len(array), *shape)
        out[name] = _field_numbers(numbers, out[name].dtype, fields[name][1] in normalised, f"{what}: vertex field '{name}'")
        column += count
    return out


def _bytes_of_rows(array: NDArray[Any], layout: VertexLayout, number: int, what: str) -> tuple[NDArray[Any], int]:
    """The same for a binding that is said outright (:class:`VertexBinding`): the array as it lies in memory, whose rows are as far apart
    as the binding says; one of one dimension is bytes, or numbers one behind the other."""
    stride_B = layout.bindings[number].stride_B
    plain = array.dtype.names is None and array.ndim == 1
    row_B = array.itemsize * int(np.prod(array.shape[1:], dtype=int))
    if not plain and stride_B and row_B != stride_B and len(array) > 1:
        raise ValidationError(
            f"{what}: vertices have rows of {row_B} bytes ({array.dtype}, shape {array.shape}); the stride of the pipeline's vertex "
            f"binding {number} is {stride_B}: give rows of as many bytes, or a tilegpu.Buffer of these"
        )
    return upload_layout(array), array.nbytes // max(1, stride_B)


def vertex_array(data: Any, layout: VertexLayout, number: int, what: str) -> tuple[NDArray[Any], int]:
    """(bytes to upload as an array, number of vertices) for a NumPy argument of a draw, which feeds a binding."""
    dtype = layout.bindings[number].dtype
    if isinstance(getattr(data, "vertices", None), np.ndarray):
        raise ValidationError(f"{what}: vertices is a {type(data).__name__}; give mesh.vertices, and indices=mesh.indices")
    if not isinstance(data, np.ndarray) and hasattr(data, "format"):
        raise ValidationError(f"{what}: vertices is {arguments.shown(data)}; it must be an array, or a tilegpu.Buffer, and no picture")
    array = arguments.array(data, f"{what}: what is given as vertices")
    if array.ndim == 0:
        raise ValidationError(
            f"{what}: vertices are {arguments.shown(data)}; give an array with one row for each vertex, or a tilegpu.Buffer"
        )
    if dtype is None:
        return _bytes_of_rows(native(array), layout, number, what)
    if not array.size and array.ndim == 1:
        return np.zeros((0, *dtype.shape), dtype.base), 0  # no vertices, of whatever kind
    array = native(array)
    if dtype.names:
        same = array.dtype == dtype
        count = array.size if array.dtype.names else len(array)
        array = array.reshape(-1) if array.dtype.names else array
    else:
        same = array.dtype == dtype.base and array.shape[1:] == dtype.shape
        count = len(array)
    if not same:
        array = _convert(array, dtype, what, layout.normalised(number))
    if len(dtype.shape) == 2:  # rows of mathematics to the shader's columns
        return np.ascontiguousarray(np.swapaxes(array, -1, -2)), count
    return upload_layout(array) if matrix_fields(array.dtype) else array, count


def index_array(indices: Any, restart: bool, what: str) -> NDArray[Any]:
    """Indices as uint8, uint16 or uint32, 1-D and contiguous."""
    array = arguments.array(indices, f"{what}: indices")
    if not array.size:
        return np.zeros(0, np.uint32)
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
                + (" (and -1, the restart index)" if restart else "; -1 restarts a strip, with primitive_restart=True" if low == -1 else "")
            )
    return array.astype(np.uint32)
