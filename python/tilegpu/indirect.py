"""Parameters of indirect draws. In: arrays, or buffers, of the user's. Out: rows of integers, or an error that names the parameter.

Source: Vulkan specification, VkDrawIndirectCommand, VkDrawIndexedIndirectCommand,
VkDrawMeshTasksIndirectCommandEXT.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import arguments
from tilegpu.buffer import Buffer, BufferSlice, require_usage, require_words
from tilegpu.errors import UnusedNameWarning, ValidationError, users_level
from tilegpu.transform_feedback import Place, place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_U32 = 0xFFFFFFFF
_GROUPS = re.compile("^(num|dispatch)?(work|thread)?groups?(count)?")
#: Of VkDrawIndirectCommand and VkDrawIndexedIndirectCommand.
_PARAMETERS = {
    4: ("vertex count", "instance count", "first vertex", "first instance"),
    5: ("index count", "instance count", "first index", "vertex offset", "first instance"),
    3: ("workgroups in x", "workgroups in y", "workgroups in z"),  # VkDrawMeshTasksIndirectCommandEXT
}


def count_in(buffer: Buffer | BufferSlice, what: str) -> Place:
    """Where a buffer holds the number of draws."""
    whole = buffer.buffer if isinstance(buffer, BufferSlice) else buffer
    require_usage(whole, "indirect_buffer", what)
    place = place_of(buffer, what)
    require_words(whole, what, place[1], 4)
    return place


def _rows_of(given: Any, words: int, what: str) -> NDArray[Any]:
    """What may be rows: records as their numbers, bytes as the numbers that they are, floats that are whole numbers as these."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        given = np.frombuffer(given, np.uint8)
    array = arguments.array(given, what)
    if array.dtype.names is not None:
        _check_order(array.dtype.names, words, what)
        kinds = [array.dtype[name] for name in array.dtype.names]
        if len(kinds) != words or any(kind.shape or kind.kind not in "iuf" for kind in kinds):
            takes = f"{words} whole numbers ({', '.join(_PARAMETERS[words])})"
            raise ValidationError(f"{what} has records of {array.dtype}; a draw takes {takes}: give these alone")
        return np.stack([_whole(array[name], f"{what}: field '{name}'") for name in array.dtype.names], -1).reshape(-1, words)
    array = np.atleast_2d(array)
    if array.dtype == np.uint8 and array.ndim == 2 and array.size and array.shape[1] % (words * 4) == 0:
        numbers: NDArray[Any] = np.ascontiguousarray(array).reshape(-1).view("<u4").astype(np.int64).reshape(-1, words)
        if words == 5:
            numbers[:, 3] = numbers[:, 3].astype(np.uint32).view(np.int32)  # the offset of vertices has a sign
        return numbers
    return _whole(array, what) if array.dtype.kind == "f" else array


def _whole(array: NDArray[Any], what: str) -> NDArray[Any]:
    """As integers of 64 bits; those beyond (uint64, floats) stay beyond what a parameter may be."""
    if array.dtype.kind == "f":
        wrong = ~np.isfinite(array) | (array != np.floor(np.where(np.isfinite(array), array, 0.5)))
        if np.any(wrong):
            raise ValidationError(f"{what} has {array[wrong].flat[0].item()!r}; parameters of draws are whole numbers")
    made: NDArray[Any] = np.clip(array, -(1 << 40), 1 << 40).astype(np.int64)
    return made


def indirect_rows(given: Any, words: int, what: str) -> NDArray[Any]:
    """Parameters of indirect draws as (n, words) integers that the commands can hold."""
    array = _rows_of(given, words, what)
    if not array.size and array.shape[1] in (0, words):
        return np.zeros((0, words), np.int64)  # no draws
    if array.ndim != 2 or array.shape[1] != words or array.dtype.kind not in "iu":
        raise ValidationError(
            f"{what} has shape {array.shape} and dtype {array.dtype}; it must be integers of shape (n, {words}), or their bytes (uint8)"
        )
    if array.dtype.itemsize > 4 or array.dtype.kind == "i":
        low = np.zeros(words, np.int64)
        high = np.full(words, _MAX_U32, np.int64)
        if words == 5:
            low[3], high[3] = -0x80000000, 0x7FFFFFFF  # the offset of vertices
        wrong = (array < low) | (array > high)
        if np.any(wrong):
            row, column = np.argwhere(wrong)[0]
            raise ValidationError(
                f"{what}[{row}] has {array[row, column]} as {_PARAMETERS[words][column]}; it must be {low[column]} to {high[column]}"
            )
    return array.astype(np.int64)


def rows_read(
    rows: NDArray[Any], offset_B: int, stride_B: int | None, draw_count: int | None, what: str
) -> tuple[NDArray[Any], int]:
    """Of parameters that are an array the rows that are drawn, as they lie from a byte on and so many bytes apart, and their stride."""
    words = rows.shape[1]
    step_B = words * 4 if stride_B is None else stride_B
    if rows.size and step_B and step_B % (words * 4):
        lie = f"lies {words * 4} bytes apart; leave stride out, or give a multiple"
        raise ValidationError(f"{what}: stride is {step_B}, and an array of rows of {words} numbers {lie}")
    there = len(rows)
    if offset_B or step_B != words * 4:
        there = max(0, (rows.size * 4 - offset_B - words * 4) // max(1, step_B) + 1) if rows.size else 0
    if draw_count is not None and draw_count > there:
        spread = f" from byte {offset_B} on, {step_B} bytes apart" if there != len(rows) else ""
        raise ValidationError(f"{what}: draw_count is {draw_count}; indirect has {there} row{'s' if there != 1 else ''}{spread}")
    drawn = there if draw_count is None else draw_count
    if (offset_B or step_B != words * 4) and not (offset_B % 4 or step_B % 4):  # else the core says so
        starts = offset_B // 4 + step_B // 4 * np.arange(drawn)
        rows = rows.reshape(-1)[starts[:, None] + np.arange(words)]
    return rows[:drawn], step_B


def check_parameter_rows(buffer: Buffer, words: int, what: str, offset_B: int, whole: bool) -> None:
    """Rows of an array that are of another width than a draw's parameters: all but the first would be read from their middles. What makes
    several draws of a row, or one of several rows, is right. ``whole``: nobody said which part of it is read."""
    dtype, rows = buffer.held, buffer.rows_at(offset_B, max(0, buffer.size - offset_B))
    if whole and words == 4 and buffer.size == 20 and dtype in (np.dtype(np.uint32), np.dtype(np.int32)):
        warnings.warn(
            f"{what}: buffer '{buffer.label}' holds 5 numbers, as draws with indices= have; a draw takes 4 ({', '.join(_PARAMETERS[4])}), "
            "and the fifth is read by nothing",
            UnusedNameWarning,
            stacklevel=users_level(),
        )
    if dtype is None or (dtype.names is None and (len(rows) != 1 or dtype.base == np.uint8)):  # bytes may be anything
        return
    row_B, draw_B = dtype.itemsize * (1 if dtype.names else rows[0]), words * 4
    if buffer.size > row_B and row_B % draw_B and draw_B % row_B:
        other = "; with indices= a draw takes 20" if row_B == 20 else "; without indices a draw takes 16" if row_B == 16 else ""
        raise ValidationError(
            f"{what}: buffer '{buffer.label}' has rows of {row_B} bytes, and a draw takes {draw_B} ({', '.join(_PARAMETERS[words])})"
            f"{other}: give rows of {words} numbers" + (f", or stride={row_B}" if row_B > draw_B else "")
        )


def check_parameter_stride(buffer: Buffer, words: int, what: str, offset_B: int, stride_B: int) -> None:
    """A step between draws that is none between rows of the array that the buffer was made from: the second would be read from a row's
    middle. Several draws of a row are right, and every second row. A row that is one draw begins where a row does."""
    dtype, rows = buffer.held, buffer.rows_at(0, buffer.size)
    if dtype is None or (dtype.names is None and (len(rows) != 1 or dtype.base == np.uint8)):
        return
    row_B = dtype.itemsize * (1 if dtype.names else rows[0])
    named = f"{what}: buffer '{buffer.label}' has rows of {row_B} bytes"
    if stride_B % row_B and row_B % stride_B and buffer.size > row_B:
        raise ValidationError(f"{named}, and stride is {stride_B}; give stride={row_B}, or bytes (array.view(np.uint8)) that lie otherwise")
    if row_B == words * 4 and offset_B % row_B:
        raise ValidationError(f"{named}, a draw each, and offset is {offset_B}; row i begins at i * {row_B}")


def check_parameter_names(buffer: Buffer, words: int, what: str, offset_B: int = 0) -> None:
    """Fields of a structured buffer that are called as parameters must be in their order, from a byte on."""
    if (held := buffer.held) is not None and held.names:
        _check_order(_names_from(held, offset_B, words), words, f"{what}: buffer '{buffer.label}'")


def check_group_names(buffer: Buffer, offset_B: int, what: str) -> None:
    """The same of the workgroups of a dispatch, which are x, y and z."""
    if (held := buffer.held) is None or not held.names:
        return
    for at, name in enumerate(_names_from(held, offset_B, 3)):
        plain = _GROUPS.sub("", name.lower().replace("_", ""))
        if plain in ("x", "y", "z") and "xyz"[at] != plain:
            raise ValidationError(f"{what}: buffer '{buffer.label}': word {at} is '{name}'; the order is x, y, z")


def _names_from(dtype: np.dtype[Any], offset_B: int, words: int) -> list[str]:
    """What the words of 32 bits from a byte on are called, of records; "" where no field of one number begins."""
    fields = [(name, *dtype.fields[name][:2]) for name in dtype.names or () if dtype.fields is not None]
    named = {at_B: name for name, kind, at_B in fields if not kind.shape}
    return [named.get((offset_B + 4 * word) % max(1, dtype.itemsize), "") for word in range(words)]


def _check_order(names: Sequence[str], words: int, what: str) -> None:
    known = [name.replace(" ", "") for name in _PARAMETERS[words]]
    if words == 4 and [name.lower().replace("_", "") for name in names[3:4]] == ["vertexoffset"]:
        raise ValidationError(
            f"{what}: field 3 is '{names[3]}', which draws with indices= have; without them it is the first instance"
        )
    for at, name in enumerate(names[:words]):
        plain = name.lower().replace("_", "")
        if plain in known and known.index(plain) != at:
            raise ValidationError(f"{what}: field {at} is '{name}'; the order is {', '.join(_PARAMETERS[words])}")
