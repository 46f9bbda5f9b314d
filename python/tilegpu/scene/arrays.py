"""Vertices and indices as shaders read them. In: arrays as NumPy makes them, and the draw's label. Out: the same array, a view of it where
the bits are right, else a copy with floats of 32 bits and integers without a sign; or an error that names the draw.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import arguments
from tilegpu.errors import ValidationError

Array = NDArray[Any]
_INDEX_TYPES = tuple(map(np.dtype, (np.uint8, np.uint16, np.uint32)))
_ROWS = "it must have a row for each vertex: an array with fields, of shape (n, C) with 1 to 4 numbers in a row, or (n,) of one"
#: Views that were made before, for as long as somebody keeps them: a renderer knows arrays by identity.
_views: weakref.WeakValueDictionary[tuple[int, np.dtype[Any]], Array] = weakref.WeakValueDictionary()


def _place(array: Array) -> tuple[Any, ...]:
    """Which memory an array is: of two of one dtype with the same place, one is as good as the other."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return id(owner if owner.base is None else owner.base), array.__array_interface__["data"], array.nbytes


def _same_view(array: Array, made: Array) -> Array:
    """``made`` of the array, or the one that was made of it before: the same memory under the same identity."""
    key = id(array), made.dtype
    found = _views.get(key)
    if found is not None and found.shape == made.shape and found.strides == made.strides and _place(found) == _place(made):
        return found
    _views[key] = made
    return made


def _number(base: np.dtype[Any]) -> np.dtype[Any]:
    """The kind of number for shaders: floats of 64 bits become those of 32. Another byte order is put right where arrays are uploaded."""
    return np.dtype(np.float32) if base.kind == "f" and base.itemsize == 8 else base


@functools.lru_cache(maxsize=256)
def _vertex_dtype(dtype: np.dtype[Any], row: tuple[int, ...]) -> np.dtype[Any]:
    """What a vertex array's elements are for shaders: itself, or with other numbers; rows of numbers are one field."""
    if dtype.fields is None:
        return np.dtype([("f0", _number(dtype), row)]) if row and dtype.kind in "fiu" else _number(dtype)
    fields = [(name, dtype.fields[name][0]) for name in dtype.names or ()]
    if all(_number(field.base) == field.base for _, field in fields):
        return dtype
    return np.dtype([(name, _number(field.base), field.shape) for name, field in fields])


def _plain(array: Array, what: str) -> Array:
    """Without NumPy's subclasses: a mask that hides something would be passed by, and a matrix has rows of its own."""
    mask = getattr(array, "mask", None)
    if array.dtype.names and isinstance(array, np.ma.MaskedArray) and mask is not None:
        for name in array.dtype.names:
            arguments.array(array[name], f"{what}: field '{name}'")
    return _same_view(array, arguments.array(array, what))


def as_vertices(array: Array, label: str) -> Array:
    """Vertices of a draw. Raises where a float becomes infinite, something is masked, or there are no rows."""
    what = f"draw '{label}': vertices" if label else "scene.Draw: vertices"
    if type(array) is not np.ndarray:
        array = _plain(array, what)
    shape = array.shape
    if array.dtype.names is None and not (len(shape) == 1 or (len(shape) == 2 and 1 <= shape[1] <= 4)):
        raise ValidationError(f"{what} {f'has shape {shape}' if shape else 'is one number'}; {_ROWS}")
    dtype = _vertex_dtype(array.dtype, shape[1:])
    if array.dtype == dtype:
        return array
    if dtype.names and array.dtype.names is None and array.flags.c_contiguous and dtype["f0"].base == array.dtype:
        return _same_view(array, array.view(dtype).reshape(-1))  # the same memory: what is changed in place is seen
    made = np.empty(shape if array.dtype.names else shape[:1], dtype)
    for name in dtype.names or ("",):
        values, out = array[name] if array.dtype.names else array, made[name] if name else made
        with np.errstate(over="ignore"):
            out[...] = values
        if values.dtype.kind == "f" and values.dtype.itemsize == 8 and np.any(np.isfinite(values) & ~np.isfinite(out)):
            raise ValidationError(f"{what} has numbers beyond what 32-bit floats hold; scale them")
    return made


def as_indices(array: Array, label: str) -> Array:
    """Indices of a draw, without a sign: those of 8, 16 and 32 bits are the same memory. Raises for what is negative, too large
    or masked."""
    if array.dtype in _INDEX_TYPES and type(array) is np.ndarray:
        return array
    what = f"draw '{label}': indices" if label else "scene.Draw: indices"
    if type(array) is not np.ndarray:
        array = _plain(array, what)
    if array.dtype.kind not in "iu" or array.dtype in _INDEX_TYPES:
        return array
    if array.size and not (int(array.min()) >= 0 and int(array.max()) <= 0xFFFFFFFF):
        raise ValidationError(f"{what} are from {array.min()} to {array.max()}; they must be 0 to {0xFFFFFFFF}")
    if array.dtype.isnative and array.itemsize <= 4:
        return _same_view(array, array.view(f"u{array.itemsize}"))
    return array.astype(np.uint32)
