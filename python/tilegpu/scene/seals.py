"""Whether what a frame names was changed in place since it was uploaded. In: arrays, mappings, textures. Out: a seal, which keeps what they
held, or ``None`` of what nobody can change.

Read-only things have no seal, so they are neither copied nor looked at again: arrays with ``flags.writeable`` off all the way to the
memory's owner, ``types.MappingProxyType`` of such values, numbers, tuples, texts. :func:`frozen` makes a frame's arrays so.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from tilegpu.scene.description import Frame, Sampled, Texture

_SMALL_B = 4096
_CHUNK = 1 << 15  # words of 8 bytes: both sides stay in the cache
_NEVER = (int, float, bool, str, bytes, type(None), np.number, np.bool_, Sampled)


class Seal(Protocol):
    """What a thing held."""

    def broken(self) -> bool:
        """Whether it holds something else now."""


def is_fixed(array: np.ndarray[Any, Any]) -> bool:
    """Whether nobody writes to an array: neither it nor what it is a view of is writeable."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
        if owner is None:
            return True
    if isinstance(owner, memoryview):
        return owner.readonly and isinstance(owner.obj, bytes)
    return isinstance(owner, bytes)


def freeze(thing: Any) -> None:
    """Makes an array (and what it is a view of), or those in a texture, a mapping or a sequence, read-only."""
    if isinstance(thing, np.ndarray):
        owner: Any = thing
        while isinstance(owner, np.ndarray):
            owner.flags.writeable = False
            owner = owner.base
    elif isinstance(thing, Texture):
        freeze(thing.pixels)
        freeze(thing.mipmaps)
    elif isinstance(thing, Mapping):
        freeze(tuple(thing.values()))
    elif isinstance(thing, (tuple, list)):
        for one in thing:
            if not isinstance(one, (int, float)):
                freeze(one)


def frozen(frame: Frame) -> Frame:
    """The frame, whose arrays and textures are made read-only (``array.flags.writeable = False``): a renderer then never looks whether they
    were changed, and NumPy raises where somebody writes to them. Worth it from some 10 MB or 1,000 draws on."""
    for draw in frame.all_draws:
        for thing in (draw.vertices, draw.indices, draw.push, draw.bind):
            if thing is not None:
                freeze(thing)
    return frame


def _bytes_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view where the array is in one piece, else a copy."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if a.size != b.size:
        return False
    words = a.size & ~7
    one, other = a[:words].view(np.uint64), b[:words].view(np.uint64)
    for at in range(0, one.size, _CHUNK):
        if (one[at : at + _CHUNK] != other[at : at + _CHUNK]).any():
            return False
    return bool((a[words:] == b[words:]).all())


class _SmallSeal:
    """Of an array of few bytes, or a structured scalar."""

    __slots__ = ("_array", "_held")

    def __init__(self, array: Any) -> None:
        self._array, self._held = array, array.tobytes()

    def broken(self) -> bool:
        return bool(self._array.tobytes() != self._held)


class _ArraySeal:
    __slots__ = ("_array", "_held")

    def __init__(self, array: Any) -> None:
        self._array, self._held = array, _bytes_of(np.asarray(array)).copy()

    def broken(self) -> bool:
        return not _same(_bytes_of(np.asarray(self._array)), self._held)


class _GroupSeal:
    """Of a mapping or a list: which values it has, and whether these changed."""

    __slots__ = ("_group", "_inner", "_keys", "_values")

    def __init__(self, group: Any, deep: bool) -> None:
        self._group = group
        self._keys = tuple(group) if isinstance(group, Mapping) else ()
        self._values = tuple(group.values()) if isinstance(group, Mapping) else tuple(group)
        self._inner = tuple(seal for seal in map(seal_of, self._values) if seal is not None) if deep else ()

    def broken(self) -> bool:
        group, keyed = self._group, isinstance(self._group, Mapping)
        now = tuple(group.values()) if keyed else group
        return (
            len(now) != len(self._values)
            or not all(map(operator.is_, now, self._values))
            or (keyed and tuple(group) != self._keys)
            or any(one.broken() for one in self._inner)
        )


def seal_of_members(group: Any) -> Seal | None:
    """Which members a mapping or a list has, whatever these hold. An empty mapping is a default: it names nothing that is drawn."""
    fixed = isinstance(group, (tuple, MappingProxyType)) or (not group and isinstance(group, Mapping))
    return None if fixed else _GroupSeal(group, False)


def seal_of(thing: Any) -> Seal | None:
    """What a thing holds now; ``None`` where it will hold nothing else."""
    if isinstance(thing, np.ndarray):
        if is_fixed(thing):
            return None
        return _SmallSeal(thing) if thing.nbytes <= _SMALL_B or thing.dtype.hasobject else _ArraySeal(thing)
    if isinstance(thing, _NEVER):
        return None
    if isinstance(thing, Texture):
        return seal_of((thing.pixels, () if isinstance(thing.mipmaps, bool) else thing.mipmaps))
    if isinstance(thing, np.void):
        return _SmallSeal(thing)
    if isinstance(thing, (bytearray, memoryview)):
        return _SmallSeal(memoryview(thing))
    if isinstance(thing, (tuple, MappingProxyType)):
        members = thing if isinstance(thing, tuple) else thing.values()
        return None if all(seal_of(one) is None for one in members) else _GroupSeal(thing, True)
    if isinstance(thing, (Mapping, list)):
        return _GroupSeal(thing, True)
    return _ArraySeal(thing) if hasattr(thing, "__array__") else None  # a tensor of somebody's
