"""Parameters of indirect draws. In: arrays, or buffers, of the user's. Out: rows of integers, or an error that names the parameter.

Source: Vulkan specification, VkDrawIndirectCommand, VkDrawIndexedIndirectCommand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import arguments
from tilegpu.buffer import Buffer, BufferSlice, require_usage, require_words
from tilegpu.errors import ValidationError
from tilegpu.transform_feedback import Place, place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_U32 = 0xFFFFFFFF
#: Of VkDrawIndirectCommand and VkDrawIndexedIndirectCommand.
_PARAMETERS = {
    4: ("vertex count", "instance count", "first vertex", "first instance"),
    5: ("index count", "instance count", "first index", "vertex offset", "first instance"),
}


def count_in(buffer: Buffer | BufferSlice, what: str) -> Place:
    """Where a buffer holds the number of draws."""
    whole = buffer.buffer if isinstance(buffer, BufferSlice) else buffer
    require_usage(whole, "indirect_buffer", what)
    require_words(whole, what)
    return place_of(buffer, what)


def indirect_rows(given: Any, words: int, what: str) -> NDArray[Any]:
    """Parameters of indirect draws as (n, words) integers that the commands can hold."""
    array = np.atleast_2d(arguments.array(given, what))
    if not array.size and array.shape[1] in (0, words):
        return np.zeros((0, words), np.int64)  # no draws
    if array.ndim != 2 or array.shape[1] != words or array.dtype.kind not in "iu":
        raise ValidationError(f"{what} has shape {array.shape} and dtype {array.dtype}; it must be integers of shape (n, {words})")
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


def check_parameter_rows(buffer: Buffer, words: int, what: str) -> None:
    """Rows of an array that are of another width than a draw's parameters: all but the first would be read from their middles. What makes
    several draws of a row, or one of several rows, is right."""
    dtype = buffer.dtype
    if dtype is None or (dtype.names is None and len(buffer.row_shape) != 1):
        return
    row_B, draw_B = dtype.itemsize * (1 if dtype.names else buffer.row_shape[0]), words * 4
    if buffer.size > row_B and row_B % draw_B and draw_B % row_B:
        other = "; with indices= a draw takes 20" if row_B == 20 else "; without indices a draw takes 16" if row_B == 16 else ""
        raise ValidationError(
            f"{what}: buffer '{buffer.label}' has rows of {row_B} bytes, and a draw takes {draw_B} ({', '.join(_PARAMETERS[words])})"
            f"{other}: give rows of {words} numbers" + (f", or stride={row_B}" if row_B > draw_B else "")
        )


def check_parameter_names(buffer: Buffer, words: int, what: str) -> None:
    """Fields of a structured buffer that are called as parameters must be in their order."""
    names = [] if buffer.dtype is None else list(buffer.dtype.names or ())
    known = [name.replace(" ", "") for name in _PARAMETERS[words]]
    if words == 4 and [name.lower().replace("_", "") for name in names[3:4]] == ["vertexoffset"]:
        raise ValidationError(
            f"{what}: buffer '{buffer.label}': field 3 is '{names[3]}', which draws with indices= have; without them it is the "
            "first instance"
        )
    for at, name in enumerate(names[:words]):
        plain = name.lower().replace("_", "")
        if plain in known and known.index(plain) != at:
            order = ", ".join(_PARAMETERS[words])
            raise ValidationError(f"{what}: buffer '{buffer.label}': field {at} is '{name}'; the order is {order}")
