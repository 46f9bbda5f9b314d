"""Invocations of one dispatch that load what others of it store: what depends on threads and lanes, where it is certain.

In: a compute shader's module, its workgroups, and which buffers stand at two bindings. Out: a sentence, or nothing. Followed are loads and
stores of the entry point's first block, which every invocation executes, at places that come from constants and the invocation's numbers
alone; what else there is may order them, or never happen, and tells nothing. Source: Vulkan specification, "Memory Model", data races.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilegpu.buffer import Buffer, BufferSlice
from tilegpu.pass_hazards import bound_of
from tilegpu.pipeline_rules import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tilegpu.program import Program

    Values = NDArray[np.int64]

_MOST_INVOCATIONS = 1 << 14  # of the first workgroups
_MOST_KNOWN = 64  # of a pipeline
_BARRIERS = frozenset({224, 225})
_BUILT_INS = {24: "groups", 26: "group", 27: "local", 28: "global", 29: "index"}
_U32 = 0xFFFFFFFF


def _signed(values: Values) -> Values:
    return np.where(values >= 1 << 31, values - (1 << 32), values)


def _divided(a: Values, b: Values) -> Values:
    """Towards zero; by 0 it is anything."""
    safe = np.where(b == 0, 1, b)
    return np.asarray(np.sign(a) * np.sign(safe) * (np.abs(a) // np.abs(safe)), np.int64)


#: Of whole numbers of 32 bits, held as they are without a sign.
_OPERATIONS: dict[int, Callable[[Values, Values], Values]] = {
    128: lambda a, b: a + b,
    130: lambda a, b: a - b,
    132: lambda a, b: (a * (b & 0xFFFF)) + (((a * (b >> 16)) & 0xFFFF) << 16),
    134: lambda a, b: a // np.maximum(b, 1),
    135: lambda a, b: _divided(_signed(a), _signed(b)),
    137: lambda a, b: a % np.maximum(b, 1),
    138: lambda a, b: _signed(a) - _divided(_signed(a), _signed(b)) * _signed(b),
    139: lambda a, b: _signed(a) % np.where(b == 0, 1, _signed(b)),
    194: lambda a, b: a >> (b & 31),
    195: lambda a, b: _signed(a) >> (b & 31),
    196: lambda a, b: (a & _U32) << (b & 31),
    197: lambda a, b: a | b,
    198: lambda a, b: a ^ b,
    199: lambda a, b: a & b,
}
_FUNCTIONS: dict[int, Callable[[Values, Values], Values]] = {  # GLSL.std.450
    38: np.minimum, 41: np.maximum,
    39: lambda a, b: np.minimum(_signed(a), _signed(b)), 42: lambda a, b: np.maximum(_signed(a), _signed(b)),
}  # fmt: skip


class _Touch(NamedTuple):
    """A load or a store of all invocations: at which binding, at which bytes of it, how many."""

    place: tuple[int, int]
    at_B: Values
    size_B: int


class _Shader:
    """One walk through a module; ``numbers``: what each invocation has, by built-in."""

    def __init__(self, spirv: bytes, constants: Mapping[int, int], numbers: Mapping[str, Any]) -> None:
        self.loads: list[_Touch] = []
        self.stores: list[_Touch] = []
        self.barriers = False
        self._constants, self._numbers = constants, numbers
        self._types: dict[int, tuple[int, list[int]]] = {}
        self._decorated: dict[tuple[int, int], int] = {}
        self._members: dict[tuple[int, int], int] = {}  # offsets
        self._values: dict[int, Any] = {}  # numbers of the invocations; lists of these are vectors
        self._pointers: dict[int, tuple[int, list[Any]]] = {}  # variable, indices
        self._variables: dict[int, tuple[int, int]] = {}  # pointee, storage class
        self._own: dict[int, Any] = {}  # what the function's variables hold
        entry, state = 0, 0  # 1: in the entry point, 2: behind its first block
        for number, a in Words(spirv).instructions():
            self.barriers |= number in _BARRIERS
            if number == 15:
                entry = a[1]
            elif number == 54:
                state = 1 if a[1] == entry else 2
            elif state == 0:
                self._declare(number, a)
            elif state == 1:
                if number == 59:
                    self._variables[a[1]] = self._types[a[0]][1][1], a[2]
                elif 249 <= number <= 255:
                    state = 2
                else:
                    self._execute(number, a)

    def _declare(self, number: int, a: list[int]) -> None:
        if number in (21, 22, 23, 24, 28, 29, 30, 32):
            self._types[a[0]] = number, a[1:]
        elif number == 71 and len(a) > 2:
            self._decorated[a[0], a[1]] = a[2]
        elif number == 72 and a[2] == 35:
            self._members[a[0], a[1]] = a[3]
        elif number in (43, 50) and self._types.get(a[0]) in ((21, [32, 0]), (21, [32, 1])):
            value = a[2]
            if number == 50:
                value = self._constants.get(self._decorated.get((a[1], 1), -1), value)
            self._values[a[1]] = np.int64(value & _U32)
        elif number in (44, 51):
            self._values[a[1]] = self._vector(a[2:])
        elif number == 59 and a[0] in self._types:
            self._variables[a[1]] = self._types[a[0]][1][1], a[2]

    def _vector(self, ids: Sequence[int]) -> Any:
        parts = [self._values.get(one) for one in ids]
        return None if any(part is None or isinstance(part, list) for part in parts) else parts

    def _execute(self, number: int, a: list[int]) -> None:
        if number in (65, 66):
            base, before = self._pointers.get(a[2], (a[2], []))
            self._pointers[a[1]] = base, [*before, *(self._values.get(index) for index in a[3:])]
        elif number == 61:
            self._values[a[1]] = self._loaded(a[2])
        elif number == 62:
            self._store(a[0], self._values.get(a[1]))
        elif number == 57:  # which may change what it is given
            self._own.clear()
        elif number in _OPERATIONS:
            self._values[a[1]] = self._computed(_OPERATIONS[number], a[2:4])
        elif number == 12 and a[3] in _FUNCTIONS:
            self._values[a[1]] = self._computed(_FUNCTIONS[a[3]], a[4:6])
        elif number == 124:
            self._values[a[1]] = self._values.get(a[2])
        elif number == 81:
            of = self._values.get(a[2])
            self._values[a[1]] = of[a[3]] if isinstance(of, list) and len(a) == 4 else None
        elif number == 80:
            self._values[a[1]] = self._vector(a[2:])

    def _computed(self, operation: Callable[[Values, Values], Values], ids: Sequence[int]) -> Any:
        first, second = (self._values.get(one) for one in ids)
        if first is None or second is None:
            return None
        if isinstance(first, list) or isinstance(second, list):
            if not (isinstance(first, list) and isinstance(second, list) and len(first) == len(second)):
                return None
            return [operation(x, y) & _U32 for x, y in zip(first, second, strict=True)]
        return operation(first, second) & _U32

    def _loaded(self, pointer: int) -> Any:
        base, indices = self._pointers.get(pointer, (pointer, []))
        pointee, storage = self._variables.get(base, (0, -1))
        if storage == 7:  # the function's own
            return None if indices else self._own.get(base)
        if storage == 1:
            value = self._numbers.get(_BUILT_INS.get(self._decorated.get((base, 11), -1), ""))
            if not indices or value is None:
                return value
            return value[int(indices[0])] if isinstance(value, list) and len(indices) == 1 and np.ndim(indices[0]) == 0 else None
        self._touch(self.loads, base, pointee, storage, indices)
        return None

    def _store(self, pointer: int, value: Any) -> None:
        base, indices = self._pointers.get(pointer, (pointer, []))
        pointee, storage = self._variables.get(base, (0, -1))
        if storage == 7:
            self._own[base] = None if indices else value
        else:
            self._touch(self.stores, base, pointee, storage, indices)

    def _touch(self, found: list[_Touch], base: int, type_: int, storage: int, indices: list[Any]) -> None:
        """Of a buffer: where, if it is known."""
        place = self._decorated.get((base, 34), 0), self._decorated.get((base, 33), -1)
        if storage not in (2, 12) or place[1] < 0:
            return
        at_B: Any = np.int64(0)
        for index in indices:
            kind, operands = self._types.get(type_, (0, []))
            if index is None or isinstance(index, list):
                return
            if kind == 30:
                member = int(index)
                if member >= len(operands) or (type_, member) not in self._members:
                    return
                at_B, type_ = at_B + self._members[type_, member], operands[member]
            elif kind in (28, 29) and (type_, 6) in self._decorated:
                at_B, type_ = at_B + index * self._decorated[type_, 6], operands[0]
            elif kind == 23 and self._scalar_B(operands[0]):
                at_B, type_ = at_B + index * self._scalar_B(operands[0]), operands[0]
            else:
                return
        kind, operands = self._types.get(type_, (0, []))
        size_B = self._scalar_B(type_) if kind != 23 else self._scalar_B(operands[0]) * operands[1]
        if size_B:
            found.append(_Touch(place, np.broadcast_to(at_B, self._numbers["index"].shape), size_B))

    def _scalar_B(self, type_: int) -> int:
        kind, operands = self._types.get(type_, (0, []))
        return operands[0] // 8 if kind in (21, 22) and operands[0] in (32, 64) else 0


def _numbers(size: Sequence[int], groups: Sequence[int], base: Sequence[int]) -> dict[str, Any]:
    """What the invocations of the first workgroups have: arrays, of vectors three; ``flat``: which workgroup."""
    count = size[0] * size[1] * size[2]
    most = max(1, _MOST_INVOCATIONS // count)
    taken = [min(groups[0], most)]
    taken.append(min(groups[1], max(1, most // taken[0])))
    taken.append(min(groups[2], max(1, most // (taken[0] * taken[1]))))
    flat, index = np.divmod(np.arange(count * taken[0] * taken[1] * taken[2], dtype=np.int64), count)
    local = [index % size[0], index // size[0] % size[1], index // (size[0] * size[1])]
    group = [flat % taken[0] + base[0], flat // taken[0] % taken[1] + base[1], flat // (taken[0] * taken[1]) + base[2]]
    whole = [g * s + at for g, s, at in zip(group, size, local, strict=True)]
    return {"groups": [np.int64(n) for n in groups], "group": group, "local": local, "global": whole, "index": index, "flat": flat}


def _words(touch: _Touch, first_B: int, end_B: int) -> Values:
    """(invocations, words) of 32 bits that are touched, from the buffer's begin on; -1: beyond what is bound."""
    words = (touch.at_B[:, None] + first_B) // 4 + np.arange(touch.size_B // 4)
    return np.where(words * 4 < end_B, words, -1)


def _meet(loads: Values, stores: Values, who: Values) -> tuple[int, int] | None:
    """An invocation that loads and another one that stores the same word, where ``who`` of both differs."""
    read, written = loads.reshape(-1), stores.reshape(-1)
    readers, writers = (np.repeat(np.arange(len(who)), words.shape[1]) for words in (loads, stores))
    order = np.argsort(written, kind="stable")
    written, writers = written[order], writers[order]
    ends = np.searchsorted(written, read), np.searchsorted(written, read, "right") - 1  # the first and the last that stores there
    for at in (np.clip(end, 0, len(written) - 1) for end in ends):
        found = np.flatnonzero((written[at] == read) & (read >= 0) & (who[writers[at]] != who[readers]))
        if found.size:
            return int(readers[found[0]]), int(writers[at[found[0]]])
    return None


def race_of(pipeline: Program, size: Sequence[int], groups: Sequence[int], base: Sequence[int], bind: Any, sets: Any) -> str:
    """What invocations of two numbers do to one buffer that stands at two bindings; ``""``: nothing that is known. ``size``: of a
    workgroup; ``groups``, ``base``: how many of them, and from which on."""
    given = [v if isinstance(v, Buffer) else v.buffer for v in (bind or {}).values() if isinstance(v, (Buffer, BufferSlice))]
    if not sets and len(set(map(id, given))) == len(given):
        return ""
    at: dict[tuple[int, int], tuple[Buffer, int, int]] = {}
    for binding, value in bound_of(pipeline, bind, sets):
        if type(value) is Buffer:
            at[binding.set, binding.binding] = value, 0, value.size
        elif type(value) is BufferSlice:
            at[binding.set, binding.binding] = value.buffer, value.offset, value.offset + value.size
    if len({id(whole) for whole, _, _ in at.values()}) == len(at):
        return ""
    known: dict[Any, str] = vars(pipeline).setdefault("_races", {})
    names = {id(whole): n for n, (whole, _, _) in enumerate(at.values())}
    key = (*groups, *base, *((place, names[id(whole)], first, end) for place, (whole, first, end) in at.items()))
    if key not in known:
        if len(known) > _MOST_KNOWN:
            known.clear()
        known[key] = _race(pipeline, _numbers(size, groups, base), at) if groups[0] * groups[1] * groups[2] else ""
    return known[key]


def _race(pipeline: Program, numbers: dict[str, Any], at: Mapping[tuple[int, int], tuple[Buffer, int, int]]) -> str:
    ((stage, module),) = pipeline.stages.items()
    try:
        shader = _Shader(bytes(module.spirv), dict(pipeline.interface.specialization.get(stage, [])), numbers)
    except (KeyError, IndexError, TypeError):  # of forms that compilers don't write
        return ""
    who = numbers["flat"] if shader.barriers else np.arange(len(numbers["flat"]))
    for store, load in itertools.product(shader.stores, shader.loads):
        if load.place == store.place or not {load.place, store.place} <= at.keys() or at[load.place][0] is not at[store.place][0]:
            continue
        pair = _meet(_words(load, *at[load.place][1:]), _words(store, *at[store.place][1:]), who)
        if pair is not None:
            reader, writer = (tuple(int(part[one]) for part in numbers["global"]) for one in pair)
            reads, stores = (pipeline.interface.bindings[place].title for place in (load.place, store.place))
            return (
                f"invocation {reader} reads as {reads} what invocation {writer} stores as {stores}, in buffer "
                f"'{at[load.place][0].label}', and nothing orders them: the result depends on threads and lanes; read one buffer and write "
                "another"
            )
    return ""
