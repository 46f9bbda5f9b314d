"""Whether what a frame names was changed in place since it was uploaded. In: arrays, mappings, textures. Out: a seal, which keeps what they
held, or ``None`` of what nobody can change.

Read-only things have no seal, so they are neither copied nor looked at again: arrays with ``flags.writeable`` off all the way to the
memory's owner, ``types.MappingProxyType`` of such values, numbers, tuples, texts. :func:`frozen` makes arrays so.

A seal never holds a view of the user's memory beyond a question: a ``bytearray`` of which there is a view can't grow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import numpy as np

from tilegpu.scene.description import Sampled, Texture

T = TypeVar("T")
_SMALL_B = 4096
_CHUNK = 1 << 15  # words of 8 bytes: both sides stay in the cache
_NEVER = (int, float, complex, bool, str, bytes, range, type(None), np.number, np.bool_, Sampled)
_NUMBERS = frozenset({int, float, bool, np.float32, np.float64})  #: of items that need no second look


class Seal(Protocol):
    """What a thing held."""

    def broken(self) -> bool:
        """Whether it holds something else now."""


Ask = Callable[[Any], Seal | None]


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


def freeze(thing: Any, seen: dict[int, Any] | None = None) -> None:
    """Makes an array (and what it is a view of), or those in a dataclass (frame, draw, mesh, texture), a mapping or a sequence, read-only.
    ``seen``: what was done already, by identity, with its holder: parts are shared, and a list may hold itself."""
    kind = type(thing)
    if kind in _NUMBERS or isinstance(thing, _NEVER):
        return
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        owner: Any = thing
        while isinstance(owner, np.ndarray):
            owner.flags.writeable = False
            owner = owner.base
    elif dataclasses.is_dataclass(kind):
        for field in dataclasses.fields(kind):
            freeze(getattr(thing, field.name), seen)
    elif isinstance(thing, Mapping):
        for one in thing.values():
            freeze(one, seen)
    elif isinstance(thing, (tuple, list)):
        for one in thing:
            freeze(one, seen)


def frozen(thing: T) -> T:
    """The same frame, draw, mesh, texture, array, or mapping or sequence of these, whose arrays are made read-only
    (``array.flags.writeable = False``) with the arrays that they are views of: NumPy raises where somebody writes to them, and a renderer
    neither keeps a copy of them nor compares them.

    Mappings and lists stay what they are, and whether they have the same members is looked at each frame; give
    ``types.MappingProxyType`` and tuples where that counts. So are arrays whose memory is not NumPy's (a ``bytearray``, a file, a tensor):
    these can't be made read-only for everybody. A view that was made before stays writeable, and what is written through it is not seen.

    It goes through all of a frame, each time: of arrays that many frames name, freeze those, once, where they are made. Worth it from
    some 10 MB or 1,000 draws on."""
    freeze(thing)
    return thing


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


class _MemorySeal:
    """Of a ``bytearray`` or whatever else has memory to show (``array.array``, ``ctypes``, ``mmap``): its form and bytes, of which no
    view stays."""

    __slots__ = ("_held", "_owner")

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._held = self._content()

    def _content(self) -> Any:
        with memoryview(self._owner) as view:
            return view.format, view.shape, view.tobytes()

    def broken(self) -> bool:
        try:
            return bool(self._content() != self._held)
        except ValueError:  # closed or released since: what takes it says so
            return True


class _GroupSeal:
    """Of a mapping or a list: which values it has, and whether these changed."""

    __slots__ = ("_group", "_inner", "_keys", "_small", "_values")

    def __init__(self, group: Any, of_member: Ask | None) -> None:
        self._group = group
        self._keys = tuple(group) if isinstance(group, Mapping) else ()
        self._values = tuple(group.values()) if isinstance(group, Mapping) else tuple(group)
        inner = [seal for seal in map(of_member, self._values) if seal is not None] if of_member is not None else []
        # Of a draw's few numbers, which are looked at in each frame: without a call for each.
        self._small = [(seal._array, seal._held) for seal in inner if type(seal) is _SmallSeal]
        self._inner = [seal for seal in inner if type(seal) is not _SmallSeal]

    def broken(self) -> bool:
        group, values = self._group, self._values
        keyed = type(group) is dict or isinstance(group, Mapping)
        if len(group) != len(values):
            return True
        for now, was in zip(group.values() if keyed else group, values, strict=False):
            if now is not was:
                return True
        if keyed and tuple(group) != self._keys:
            return True
        for array, held in self._small:
            if array.tobytes() != held:
                return True
        return any(one.broken() for one in self._inner) if self._inner else False


def seal_of_members(group: Any) -> Seal | None:
    """Which members a mapping or a list has, whatever these hold."""
    return None if isinstance(group, (tuple, MappingProxyType)) else _GroupSeal(group, None)


def never_changes(thing: Any) -> bool:
    """Whether nobody can change what a thing holds, so that no seal is wanted. Copies nothing."""
    kind = type(thing)
    if kind in _NUMBERS:
        return True
    if isinstance(thing, np.ndarray):
        return is_fixed(thing)
    if kind is MappingProxyType or isinstance(thing, tuple):
        for one in thing if kind is not MappingProxyType else thing.values():  # of ten thousand draws: without a call for each
            if not (is_fixed(one) if type(one) is np.ndarray else never_changes(one)):
                return False
        return True
    if isinstance(thing, Texture):
        return never_changes(thing.pixels) and (isinstance(thing.mipmaps, bool) or never_changes(thing.mipmaps))
    if isinstance(thing, memoryview):
        return thing.readonly and isinstance(thing.obj, bytes)
    return isinstance(thing, _NEVER)


def _has_memory(thing: Any) -> bool:
    try:
        with memoryview(thing):
            return True
    except (TypeError, ValueError, BufferError):
        return False


def is_large(thing: Any) -> bool:
    """Whether a thing is an array that its seal has a copy of, and which takes time to compare."""
    return isinstance(thing, np.ndarray) and thing.nbytes > _SMALL_B and not thing.dtype.hasobject


def seal_of(thing: Any, of_member: Ask | None = None) -> Seal | None:
    """What a thing holds now; ``None`` where it will hold nothing else. ``of_member``: who seals what is in a group; this function, where
    nothing else is said."""
    if never_changes(thing):
        return None
    if isinstance(thing, np.ndarray):
        return _ArraySeal(thing) if is_large(thing) else _SmallSeal(thing)
    if isinstance(thing, Texture):
        return seal_of((thing.pixels, () if isinstance(thing.mipmaps, bool) else thing.mipmaps), of_member)
    if isinstance(thing, np.void):
        return _SmallSeal(thing)
    if isinstance(thing, (Mapping, tuple, list)):
        return _GroupSeal(thing, of_member or seal_of)
    if _has_memory(thing):
        return _MemorySeal(thing)
    if hasattr(thing, "__array__"):
        return _ArraySeal(thing)  # a tensor of somebody's
    return _GroupSeal(thing, of_member or seal_of) if isinstance(thing, Sequence) else None
