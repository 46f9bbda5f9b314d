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


def check_parameter_names(buffer: Buffer, words: int, what: str) -> None:
    """Fields of a structured buffer that are called as parameters must be in their order."""
    names = [] if buffer.dtype is None else list(buffer.dtype.names or ())
    known = [name.replace(" ", "") for name in _PARAMETERS[words]]
    for at, name in enumerate(names[:words]):
        plain = name.lower().replace("_", "")
        if plain in known and known.index(plain) != at:
            order = ", ".join(_PARAMETERS[words])
            raise ValidationError(f"{what}: buffer '{buffer.label}': field {at} is '{name}'; the order is {order}")
