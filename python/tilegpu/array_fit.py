"""Whether a buffer that was made from an array holds the numbers that are read of it: by vertex attributes, texels, members of blocks.

In: the array's dtype and rows, a format or a block's layout. Out: why it does not fit, ``""`` where it may. Bytes (``uint8``, and buffers
made from a size) fit everything: ``array.view(np.uint8)`` says that bits are meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import enums
from tilegpu.buffer import Buffer, BufferView, MatrixRows, is_turned, transposed_dtype
from tilegpu.structs import type_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tilegpu.structs import StructLayout, _Leaf, _Member, _Struct

    Steps = tuple[tuple[int, int], ...]  #: of each dimension bytes and number

_BYTES = np.dtype(np.uint8)
_FIX = "(array.astype), or give bytes where bits are meant (array.view(np.uint8))"


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A complex number is two floats."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def _plain(buffer: Buffer) -> np.dtype[Any] | None:
    """The kind of the numbers of an array without fields; ``None`` where nothing is known, or they are bytes."""
    dtype = buffer.held
    return None if dtype is None or dtype.names or dtype.base == _BYTES else _real(dtype.base)


def _leaves(dtype: np.dtype[Any]) -> Iterator[np.dtype[Any]]:
    """The kinds of the numbers in a dtype."""
    if dtype.fields is None:
        yield _real(dtype.base)
        return
    for name in dtype.names or ():
        yield from _leaves(dtype.fields[name][0].base)


def _width(dtype: np.dtype[Any]) -> int:
    """How many numbers an element of a dtype has."""
    if dtype.fields is None:
        return int(np.prod(dtype.shape, dtype=int))
    return int(np.prod(dtype.shape, dtype=int)) * sum(_width(dtype.fields[name][0]) for name in dtype.names or ())


def _row_widths(held: np.dtype[Any] | None, rows: tuple[int, ...]) -> set[int]:
    """How many numbers what may be a row of an array has: (N, 4, 4) has rows of 4, or of 16."""
    widths, product = set(), 1
    pair = (2,) if held is not None and held.base.kind == "c" else ()
    for side in reversed((*rows, *pair)):
        product *= side
        widths.add(product)
    return widths


def _hits(at_B: int, steps: Sequence[tuple[int, int]]) -> bool:
    """Whether something begins at a byte, counted from the first; ``steps``: of each dimension bytes and number (0: no end)."""
    for step_B, count in steps:
        if at_B < 0:
            return False
        at_B -= step_B * min(at_B // step_B, count - 1 if count else at_B // step_B)
    return at_B == 0


def _matrices_of(struct: _Struct, base_B: int = 0, steps: Steps = (), path: str = "") -> Iterator[tuple[str, _Leaf, int, Steps]]:
    """The matrices of a block: name, kind, the first one's byte, and how the others follow."""
    for member in struct.members.values():
        inner: Steps = (*steps, *zip(member.steps_B, member.dimensions, strict=True))
        if member.struct is not None:
            yield from _matrices_of(member.struct, base_B + member.offset_B, inner, f"{path}{member.name}.")
        elif member.leaf is not None and member.leaf.type.kind == "matrix":
            yield f"{path}{member.name}", member.leaf, base_B + member.offset_B, inner


def _by_row(rows: MatrixRows) -> str:
    return (
        f"holds an array of shape (..., {rows.shape[0]}, {rows.shape[1]}), row by row; shaders read columns. Give the array itself, or "
        f"make the buffer from an array with fields, such as np.zeros(n, [('m', 'f4', {rows.shape})]): both are turned round; or bytes "
        "where columns are meant (array.view(np.uint8))"
    )


def matrix_misfit(found: Sequence[MatrixRows], offset_B: int, layout: StructLayout, what: str) -> str:
    """Of matrices that lie row by row, in a buffer from byte ``offset_B`` on, where the block has them column by column."""
    for name, leaf, first_B, steps in _matrices_of(layout.struct) if found else ():
        for rows in found:
            size_B = rows.itemsize_B * rows.shape[0] * rows.shape[1]
            by_column, by_row = (rows.itemsize_B, rows.shape[0] * rows.itemsize_B), (rows.shape[1] * rows.itemsize_B, rows.itemsize_B)
            if leaf.strides[-2:] == (by_column if rows.turned else by_row):
                continue
            if rows.shape != leaf.shape[-2:] or rows.itemsize_B != leaf.dtype.itemsize:
                continue
            start_B = rows.start_B - offset_B
            if _hits(start_B - first_B, steps) or (start_B <= first_B < rows.end_B - offset_B and (first_B - start_B) % size_B == 0):
                return f"{what}, read as {type_name(leaf.type)} '{name}', {_by_row(rows)}"
    return ""


def _vertex_matrices(buffer: Buffer, dtype: np.dtype[Any], offset_B: int, what: str) -> str:
    """The same of a vertex binding with matrices."""
    fields = [dtype.fields[name][:2] for name in dtype.names] if dtype.names and dtype.fields is not None else [(dtype, 0)]
    for rows in buffer.matrices:
        for field, at_B in fields:
            if not rows.turned and field.shape == rows.shape and (rows.start_B - offset_B - at_B) % dtype.itemsize == 0:
                return f"{what}: buffer '{buffer.label}' {_by_row(rows)}"
    return ""


def vertex_misfit(
    buffer: Buffer, dtype: np.dtype[Any] | None, formats: Iterable[int], what: str, offset_B: int = 0, size_B: int | None = None
) -> str:
    """Of a vertex binding: ``dtype`` of the pipeline, or of an explicit one the attributes' formats, by number; of so many bytes from a
    byte on."""
    if dtype is not None and buffer.matrices and (wrong := _vertex_matrices(buffer, dtype, offset_B, what)):
        return wrong
    given = buffer.held
    if given is None or given.base == _BYTES:
        return ""
    made = f"{what}: {buffer.said_of(given)}"
    if dtype is None:
        return kinds_misfit(given, formats, made)
    if given.names and dtype.names:
        same = transposed_dtype(given) == transposed_dtype(dtype)
        return "" if same else f"{made}, the pipeline was made for {dtype}"
    if set(_leaves(given)) != set(_leaves(dtype)):
        return f"{made}, the pipeline was made for {dtype}; make it from that {_FIX}"
    rows = buffer.rows_at(offset_B, buffer.size if size_B is None else size_B)
    width, widths = _width(dtype), _row_widths(given, rows)
    if not given.names and widths and width not in widths:
        return f"{made} with rows of {rows[-1] if rows else 2}; a vertex of the pipeline's {dtype} takes {width}"
    return ""


def kinds_misfit(given: np.dtype[Any], formats: Iterable[int], made: str) -> str:
    """Of an array for attributes that are given outright, by their formats' numbers: none of its numbers are one's."""
    infos = [enums.format_of(number) for number in formats]
    kinds = list(dict.fromkeys(_leaves(given)))
    if not infos or any(texels_fit(kind, info) for kind in kinds for info in infos):
        return ""
    read = ", ".join(dict.fromkeys(info.name for info in infos))
    return f"{made}, the pipeline's attributes are {read}; make it from such numbers {_FIX}"


def texels_fit(kind: np.dtype[Any], info: enums.FormatInfo) -> bool:
    """Whether numbers are texels of a format, or several of its components packed into one."""
    kind = _real(kind)
    if kind.itemsize == 1:
        return True
    bits = kind.itemsize * 8
    floats = info.numeric in ("sfloat", "ufloat")
    if kind.kind == "f":
        return floats and info.component_bits == bits
    if kind.kind not in "iu" or (floats and not (kind.kind == "u" and bits == 16 == info.component_bits)):
        return kind.kind == "u" and floats and info.texel_B * 8 == bits and info.component_count > 1  # b10g11r11_ufloat
    return info.component_bits == bits or (kind.kind == "u" and info.component_bits < bits)


def texel_misfit(view: BufferView, what: str) -> str:
    """Of ``buffer.texels(format)``. Rows that neither are whole texels nor parts of one are read across."""
    buffer, info = view.buffer, view.format_info
    kind = _plain(buffer)
    if kind is None:
        return ""
    if not texels_fit(kind, info):
        return f"{what}: {buffer.said_of(kind)}, format is {info.name}; make it from such numbers {_FIX}"
    rows = view.number_rows
    row_B = min(_row_widths(buffer.held, rows), default=0) * kind.itemsize
    if row_B and view.core.range_B > row_B and not _in_step(row_B, info.texel_B):
        return (
            f"{what}: {buffer.said_of(kind)} with rows of {row_B // kind.itemsize} numbers ({row_B} bytes), and a texel of {info.name} has "
            f"{info.texel_B} bytes: give a format of as many numbers, or a flat array (array.reshape(-1)) where that is meant"
        )
    return ""


def number_misfit(buffer: Buffer, kinds: Collection[np.dtype[Any]], how: str, what: str) -> str:
    """Of numbers that shaders write; of fields nothing is said."""
    kind = _plain(buffer)
    if kind is None or _kind(kind) in map(_kind, kinds):
        return ""
    written = " and ".join(dict.fromkeys(str(k) for k in kinds))
    return f"{what}: {buffer.said_of(kind)}, {how} are {written}; make it from such numbers {_FIX}"


def _leaves_of(struct: _Struct) -> Iterator[_Leaf]:
    for member in struct.members.values():
        if member.leaf is not None:
            yield member.leaf
        elif member.struct is not None:
            yield from _leaves_of(member.struct)


def _kind(dtype: np.dtype[Any]) -> tuple[str, int]:
    dtype = _real(dtype)
    return ("i" if dtype.kind == "u" else dtype.kind), dtype.itemsize


def block_misfit(buffer: Buffer, layout: StructLayout, what: str, offset_B: int = 0, size_B: int | None = None) -> str:
    """Of a uniform or storage block, which begins at a byte of the buffer. One element alone, all that the buffer or its slice of
    ``size_B`` bytes has, may be followed by anything."""
    size_B = buffer.size if size_B is None else size_B
    if buffer.matrices and (wrong := matrix_misfit(buffer.matrices, offset_B, layout, f"{what}: buffer '{buffer.label}'")):
        return wrong
    if buffer.held is None or buffer.held.base == _BYTES:
        return ""
    if buffer.held.names:
        return _fields_misfit(buffer.held, f"{what}: buffer '{buffer.label}'", layout, offset_B, size_B)
    kind = _real(buffer.held.base)
    made = f"{what}: {buffer.said_of(buffer.held.base)}"
    if wrong := _kind_misfit(kind, layout, made):
        return wrong
    if _kind(kind) == ("f", 2):
        return ""
    members, rows = list(layout.struct.members.values()), buffer.rows_at(offset_B, size_B)
    if len(members) == 1 and members[0].steps_B and members[0].leaf is not None:
        return _stride_misfit(buffer, members[0], made, rows, size_B) or _row_misfit(buffer, members[0], made, rows, size_B)
    if len(members) == 1 and len(members[0].steps_B) == 1 and members[0].struct is not None:
        stride_B, rows_B = members[0].steps_B[0], {width * kind.itemsize for width in _row_widths(buffer.held, rows)}
        if rows_B and stride_B not in rows_B:
            return (
                f"{made}, whose numbers lie in rows of {rows[-1] if rows else 2}; elements of the block's '{members[0].name}' are "
                f"{stride_B} bytes apart: make rows of {stride_B // kind.itemsize} numbers, or an array with fields"
            )
    return ""


def _kind_misfit(kind: np.dtype[Any], layout: StructLayout, made: str) -> str:
    """Of numbers of one kind, of which the block has none. Halves may be of ``unpackHalf2x16``."""
    leaves = list(_leaves_of(layout.struct))
    halves = _kind(kind) == ("f", 2) and any(leaf.type.base == "uint" for leaf in leaves)
    if not leaves or halves or _kind(kind) in {_kind(leaf.dtype) for leaf in leaves}:
        return ""
    dtypes = list(dict.fromkeys(leaf.dtype.name for leaf in leaves))
    alike = [name for name in dtypes if np.dtype(name).kind == kind.kind]
    want = " or ".join(dtypes if len(dtypes) < 3 else alike or dtypes)
    if kind.itemsize == 8 and not any(leaf.dtype.itemsize == 8 for leaf in leaves):
        return f"{made}, the block has no numbers of 64 bits; make it from {want} {_FIX}"
    return f"{made}, the block has {', '.join(dict.fromkeys(leaf.type.base for leaf in leaves))}; make it from {want} {_FIX}"


def _mixed_misfit(kind: np.dtype[Any], layout: StructLayout, made: str) -> str:
    """Of numbers of one kind for a block that has others too, which would get bits."""
    others = {leaf.type.base: None for leaf in _leaves_of(layout.struct) if _kind(leaf.dtype) != _kind(kind)}
    if not others or _kind(kind) == ("f", 2):
        return ""
    bits = "or bytes where bits are meant (array.view(np.uint8))"
    return f"{made}, the block has {', '.join(others)} too; give an array with fields, {bits}"


def array_misfit(array: NDArray[Any], layout: StructLayout, what: str) -> str:
    """Of an array that is given for a block of several names, whose bytes it has to be."""
    if array.dtype.names:
        return _fields_misfit(array.dtype, f"{what}: the array", layout, 0, array.nbytes)
    if array.dtype == _BYTES:
        return ""
    made = f"{what}: the array is of {array.dtype}"
    if wrong := _kind_misfit(_real(array.dtype), layout, made) or _mixed_misfit(_real(array.dtype), layout, made):
        return f"{wrong}; or a mapping with: {', '.join(layout.names)}"
    if array.ndim != 2:
        return ""
    for name, leaf, first_B, _ in _matrices_of(layout.struct):
        side, row_B = leaf.shape[-1], array.shape[1] * array.itemsize
        square = leaf.shape[-2] == side == array.shape[1] and leaf.strides[-2:] == (leaf.dtype.itemsize, row_B)
        rows = array[first_B // row_B :][:side]
        if square and leaf.dtype.itemsize == array.itemsize and first_B % row_B == 0 and rows.shape[0] == side and not is_turned(rows):
            return (
                f"{made} and shape {array.shape}, row by row; shaders read the columns of {type_name(leaf.type)} '{name}': give a mapping "
                f"with: {', '.join(layout.names)}; or array.reshape(-1) where columns are meant"
            )
    return ""


def _stride_misfit(buffer: Buffer, member: _Member, made: str, rows: tuple[int, ...], size_B: int) -> str:
    """Of a block that is one array of numbers or vectors, whose elements lie further apart than they are large."""
    leaf, stride_B = member.leaf, member.steps_B[-1]
    assert leaf is not None
    own_B = _own_B(member)
    if len(member.steps_B) > 1 or leaf.type.kind == "matrix" or stride_B == own_B:
        return ""
    rows_B = {width * leaf.dtype.itemsize for width in _row_widths(buffer.held, rows)}
    if stride_B in rows_B or not (rows_B or own_B == leaf.dtype.itemsize) or size_B <= min(rows_B, default=leaf.dtype.itemsize):
        return ""
    lie = f"in rows of {rows[-1] if rows else 2}" if rows_B else "one behind the other"
    return (
        f"{made}, whose numbers lie {lie}; elements of the block's '{member.name}' are {stride_B} bytes apart: give bind= the array "
        f"itself, which is laid out by name, or make rows of {stride_B // leaf.dtype.itemsize} numbers"
    )


def _own_B(member: _Member) -> int:
    """Bytes of the numbers of one element of an array."""
    assert member.leaf is not None
    return member.leaf.dtype.itemsize * int(np.prod(member.leaf.shape[len(member.steps_B) :], dtype=int))


def _row_misfit(buffer: Buffer, member: _Member, made: str, rows: tuple[int, ...], size_B: int) -> str:
    """Of a block that is one array of vectors or matrices: rows that neither are whole vectors (of a matrix its columns) nor parts of one
    are read across."""
    leaf = member.leaf
    assert leaf is not None and buffer.held is not None
    if leaf.type.kind not in ("vector", "matrix") or not rows:
        return ""
    row_B = min(_row_widths(buffer.held, rows)) * _real(buffer.held.base).itemsize
    if leaf.type.kind == "vector":
        step_B, what, padded = member.steps_B[-1], f"reads {member.steps_B[-1] // leaf.dtype.itemsize} at a time", False
    else:
        step_B = max(leaf.strides[-2:])
        padded = step_B > leaf.dtype.itemsize * leaf.shape[-1 if leaf.type.row_major else -2]
        what = f"has {'rows' if leaf.type.row_major else 'columns'} {step_B // leaf.dtype.itemsize} numbers apart"
    if size_B <= row_B or (row_B % step_B == 0 if padded else _in_step(row_B, step_B)):
        return ""
    return (
        f"{made}, whose numbers lie in rows of {rows[-1]}; the block's '{member.name}' {what}: make rows of as many numbers, "
        "or a flat array (array.reshape(-1)) where that is meant"
    )


def _in_step(one_B: int, other_B: int) -> bool:
    return one_B % other_B == 0 or other_B % one_B == 0


def _records_misfit(dtype: np.dtype[Any], layout: StructLayout, made: str, offset_B: int, size_B: int) -> str:
    """Of an array with fields where the block has no names for these: its kinds of numbers, and how far its elements are apart. Numbers one
    behind the other, as vertices are pulled, may be of any fields."""
    kinds = {_kind(leaf) for leaf in _leaves(dtype)}
    leaves = list(_leaves_of(layout.struct))
    halves = ("f", 2) in kinds and any(leaf.type.base == "uint" for leaf in leaves)
    if leaves and not halves and _BYTES not in set(_leaves(dtype)) and not kinds & {_kind(leaf.dtype) for leaf in leaves}:
        bases = ", ".join(dict.fromkeys(leaf.type.base for leaf in leaves))
        return f"{made}, the block has {bases}; make it from such numbers, or give bytes where bits are meant (array.view(np.uint8))"
    member = next(reversed(layout.struct.members.values()), None)
    if len(layout.struct.members) != 1 or member is None or not member.steps_B or size_B <= dtype.itemsize:
        return ""
    step_B, has_B = member.steps_B[-1], dtype.itemsize
    apart = f"{made}, whose elements are {has_B} bytes apart, those of the block's '{member.name}' {step_B}"
    pad = "; pad the dtype (np.dtype of names, formats, offsets and itemsize)"
    pad += "" if member.leaf is None else ", or give bind= its numbers as an array without fields, which is laid out for the block"
    if not _in_step(has_B, step_B):
        return apart + pad
    if member.leaf is None:
        return ""
    own_B, number_B = _own_B(member), member.leaf.dtype.itemsize
    if own_B == step_B:
        return ""
    if has_B < step_B and (has_B > number_B or own_B == number_B):
        return apart + pad
    for name in dtype.names or ():  # what lies in a gap may be nobody's; what begins there and goes on is read as something else
        field, at_B = dtype.fields[name][:2] if dtype.fields is not None else (dtype, 0)
        first_B = (at_B - offset_B) % step_B
        if first_B and first_B + field.itemsize > step_B and has_B % step_B == 0:
            return f"{made}, whose field '{name}' begins within an element of the block's '{member.name}', {step_B} bytes apart{pad}"
    return ""


def _fields_misfit(given: np.dtype[Any], of: str, layout: StructLayout, start_B: int, size_B: int) -> str:
    """Of an array with fields: those that are called as members lie where these do. It may be the block, or the elements of its array."""
    dtype = transposed_dtype(given)
    assert dtype.fields is not None
    struct: _Struct = layout.struct
    members = list(layout.struct.members.values())
    if len(members) == 1 and members[0].struct is not None and members[0].name not in dtype.fields:
        inner, struct = members[0], members[0].struct
        if inner.steps_B and set(struct.members) & set(dtype.fields) and dtype.itemsize != inner.steps_B[-1]:
            return (
                f"{of}: its elements are {dtype.itemsize} bytes apart, those of the shader's '{inner.name}' "
                f"{inner.steps_B[-1]}; pad the dtype (np.dtype of names, formats, offsets and itemsize)"
            )
    named = [member for name, member in struct.members.items() if name in dtype.fields]
    made = f"{of} was made from {dtype}"
    elements = not named or (len(members) == 1 and named == members and not _holds_all(dtype, members[0]))
    if elements and (wrong := _records_misfit(dtype, layout, made, start_B, size_B)):
        return wrong
    for name, member in struct.members.items():
        if name not in dtype.fields:
            continue
        field, offset_B = dtype.fields[name][:2]
        where = f"{of}: field '{name}'"
        if offset_B != member.offset_B:
            return (
                f"{where} is at byte {offset_B}, the shader has it at {member.offset_B}; give the dtype these offsets, or bytes of "
                "pipeline.struct(...)"
            )
        if member.leaf is None or field.fields is not None:
            continue
        if _kind(field.base) != _kind(member.leaf.dtype) and field.base != _BYTES:
            return f"{where} is {field.base}, the shader's is {member.leaf.type.base}; make it of that"
        if not member.runtime and field.itemsize < member.end_B - member.offset_B:
            return (
                f"{where} has {field.itemsize} bytes, the shader's {member.leaf.type.base} spans {member.end_B - member.offset_B}, as its "
                "elements are padded; give bytes of pipeline.struct(...)"
            )
        if member.steps_B and _holds_all(dtype, member) and (wrong := _whole_misfit(field, member)):
            return f"{where} {wrong}; give bytes of pipeline.struct(...)"
    return ""


def _whole_misfit(field: np.dtype[Any], member: _Member) -> str:
    """Of a field that is a whole array of the block's, as it lies in memory: two dimensions of 2 to 4 are a matrix there, turned round."""
    assert member.leaf is not None
    if member.leaf.type.kind == "vector" and field.shape[-1] != member.leaf.shape[-1]:
        return f"lies in memory in rows of {field.shape[-1]}, and the shader reads {member.leaf.shape[-1]} at a time"
    step_B = field.itemsize // field.shape[0]
    return f"has elements {step_B} bytes apart, the shader's are {member.steps_B[0]}" if step_B != member.steps_B[0] else ""


def _holds_all(dtype: np.dtype[Any], member: _Member) -> bool:
    """Whether one element of the records is the block, as its field of that name is a whole array, not one element of it."""
    field = dtype[member.name]
    return member.leaf is None or not member.steps_B or len(field.shape) >= len(member.leaf.shape)
