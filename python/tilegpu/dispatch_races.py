"""Invocations of one dispatch that load what others of it store: what depends on threads and lanes, where it is certain.

In: a compute shader's module, its workgroups, and what is bound. Out: a sentence, or nothing. Followed are loads and stores of buffers and
of shared variables in the entry point's first block, which every invocation executes, at places that come from constants and the
invocation's numbers alone; what else there is may order them, or never happen, and tells nothing. Source: Vulkan specification, "Memory
Model", data races.
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
_MOST_WORDS = 16  # of what is loaded or stored at once, which are looked at
_BARRIERS = frozenset({224, 225})
_WAITS = frozenset({224, 57})  # what is behind may be ordered: barriers, calls
_FUNCTION, _SHARED, _INPUT, _STORAGE = 7, 4, 1, (2, 12)  # storage classes
_SAME = {0: 2, 2: 2, 9: 2}  # of descriptors, uniform blocks, push constants: what everybody loads is the same
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
    """A load or a store of all invocations: of which binding, or shared variable (-1, id), from which word on, which words from there."""

    place: tuple[int, int]
    at: Values
    words: Values
    turn: int  #: among all of the block
    part: int  #: of the block, between barriers
    same: int  #: what is stored: 2: one value of the whole dispatch, 1: of a workgroup, 0: perhaps of each invocation


class _Shader:
    """One walk through a module; ``numbers``: what each invocation has, by built-in."""

    def __init__(self, spirv: bytes, constants: Mapping[int, int], numbers: Mapping[str, Any]) -> None:
        self.loads: list[_Touch] = []
        self.stores: list[_Touch] = []
        self.barriers = False
        self.names: dict[int, str] = {}
        self._constants, self._numbers = constants, numbers
        self._types: dict[int, tuple[int, list[int]]] = {}
        self._decorated: dict[tuple[int, int], int] = {}
        self._members: dict[tuple[int, int, int], int] = {}  # offsets (35), strides of matrices (7), that are by rows (4)
        self._values: dict[int, Any] = {}  # numbers of the invocations; lists of these are vectors
        self._same: dict[int, int] = {}  # as _Touch.same
        self._pointers: dict[int, tuple[int, list[Any]]] = {}  # variable, indices
        self._variables: dict[int, tuple[int, int]] = {}  # pointee, storage class
        self._own: dict[int, tuple[Any, int]] = {}  # what the function's variables hold
        self._kept: dict[tuple[tuple[int, int], int], int] = {}  # of words that all store to: what, as _Touch.same
        self._part = 0
        entry, state = 0, 0  # entry: -1: there are several; state: 1: in the entry point, 2: behind its first block
        for number, a in Words(spirv).instructions():
            self.barriers |= number in _BARRIERS
            if number == 15:
                entry = -1 if entry else a[1]
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
                    self._part += number in _WAITS
                    self._execute(number, a)

    def _declare(self, number: int, a: list[int]) -> None:
        if number in (21, 22, 23, 24, 28, 29, 30, 32):
            self._types[a[0]] = number, a[1:]
        elif number == 5:
            self.names[a[0]] = np.array(a[1:], "<u4").tobytes().split(b"\0")[0].decode(errors="replace")
        elif number == 71 and len(a) > 2:
            self._decorated[a[0], a[1]] = a[2]
        elif number == 72 and a[2] in (4, 7, 35):
            self._members[a[0], a[1], a[2]] = a[3] if len(a) > 3 else 1
        elif number in (43, 50) and self._types.get(a[0]) in ((21, [32, 0]), (21, [32, 1])):
            value = a[2]
            if number == 50:
                value = self._constants.get(self._decorated.get((a[1], 1), -1), value)
            self._values[a[1]] = np.int64(value & _U32)
        elif number in (44, 51):
            self._values[a[1]] = self._vector(a[2:])
        elif number == 59 and a[0] in self._types:
            self._variables[a[1]] = self._types[a[0]][1][1], a[2]
        if 41 <= number <= 52 and len(a) > 1:
            self._same[a[1]] = 2

    def _vector(self, ids: Sequence[int]) -> Any:
        parts = [self._values.get(one) for one in ids]
        return None if any(part is None or isinstance(part, list) for part in parts) else parts

    def _execute(self, number: int, a: list[int]) -> None:
        if number in (65, 66):
            base, before = self._pointers.get(a[2], (a[2], []))
            self._pointers[a[1]] = base, [*before, *(self._values.get(index) for index in a[3:])]
            self._same[a[1]] = min(self._same_of(base), self._same_of(a[2]), *(self._same.get(index, 0) for index in a[3:]))
        elif number == 61:
            self._values[a[1]], self._same[a[1]] = self._loaded(a[2])
        elif number == 62:
            self._store(a[0], a[1])
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
        if 109 <= number <= 203 or number == 80:
            self._same[a[1]] = min(self._same.get(one, 0) for one in a[2:])
        elif number in (12, 79, 81):
            self._same[a[1]] = min(self._same.get(one, 0) for one in {12: a[4:], 79: a[2:4], 81: a[2:3]}[number])

    def _same_of(self, pointer: int) -> int:
        """Of what is loaded through it."""
        if pointer in self._variables:
            return _SAME.get(self._variables[pointer][1], 0)
        return self._same.get(pointer, 0)

    def _computed(self, operation: Callable[[Values, Values], Values], ids: Sequence[int]) -> Any:
        first, second = (self._values.get(one) for one in ids)
        if first is None or second is None:
            return None
        if isinstance(first, list) or isinstance(second, list):
            if not (isinstance(first, list) and isinstance(second, list) and len(first) == len(second)):
                return None
            return [operation(x, y) & _U32 for x, y in zip(first, second, strict=True)]
        return operation(first, second) & _U32

    def _loaded(self, pointer: int) -> tuple[Any, int]:
        """Its value, and whether all have the same."""
        base, indices = self._pointers.get(pointer, (pointer, []))
        pointee, storage = self._variables.get(base, (0, -1))
        if storage == _FUNCTION:
            return (None, 0) if indices else self._own.get(base, (None, 0))
        if storage == _INPUT:
            name = _BUILT_INS.get(self._decorated.get((base, 11), -1), "")
            value, same = self._numbers.get(name), {"groups": 2, "group": 1}.get(name, 0)
            if not indices or value is None:
                return value, same
            one = isinstance(value, list) and len(indices) == 1 and indices[0] is not None and np.ndim(indices[0]) == 0
            return (value[int(indices[0])] if one else None), same
        kept = self._touch(self.loads, base, pointee, storage, indices, 0)
        return None, self._same_of(pointer) if kept is None else self._kept.get(kept, 0)

    def _store(self, pointer: int, value: int) -> None:
        base, indices = self._pointers.get(pointer, (pointer, []))
        pointee, storage = self._variables.get(base, (0, -1))
        if storage == _FUNCTION:
            self._own[base] = (None, 0) if indices else (self._values.get(value), self._same.get(value, 0))
        else:
            same = self._same.get(value, 0)
            kept = self._touch(self.stores, base, pointee, storage, indices, same)
            if kept is None:
                self._kept.clear()
            else:
                self._kept[kept] = same

    def _touch(
        self, found: list[_Touch], base: int, type_: int, storage: int, indices: list[Any], same: int
    ) -> tuple[tuple[int, int], int] | None:
        """Of a buffer or a shared variable: where, if it is known. Returns that where it is one word for all."""
        shared = storage == _SHARED
        place = (-1, base) if shared else (self._decorated.get((base, 34), 0), self._decorated.get((base, 33), -1))
        if not shared and (storage not in _STORAGE or place[1] < 0):
            return None
        stepped = self._step_shared(type_, indices) if shared else self._step(type_, indices)
        if stepped is None:
            return None
        at, type_, stride_B = stepped
        words = np.arange(min(self._scalars(type_), _MOST_WORDS)) if shared else self._words(type_, stride_B)
        if words.size:
            turn = len(self.loads) + len(self.stores)
            found.append(_Touch(place, np.broadcast_to(at, self._numbers["index"].shape), words, turn, self._part, same))
        return (place, int(at)) if np.ndim(at) == 0 and words.size == 1 else None

    def _step(self, type_: int, indices: list[Any]) -> tuple[Any, int, int] | None:
        """The word that indices into a block lead to, its type, and of a matrix how far columns are apart; ``None``: nobody knows."""
        at_B: Any = np.int64(0)
        stride_B = 0
        for index in indices:
            kind, operands = self._types.get(type_, (0, []))
            if index is None or isinstance(index, list):
                return None
            if kind == 30:
                member = int(index)
                if member >= len(operands) or (type_, member, 35) not in self._members:
                    return None
                stride_B = self._stride_B(type_, member)
                at_B, type_ = at_B + self._members[type_, member, 35], operands[member]
            elif kind in (28, 29) and (type_, 6) in self._decorated:
                at_B, type_ = at_B + index * self._decorated[type_, 6], operands[0]
            elif kind == 23 and self._scalar_B(operands[0]):
                at_B, type_ = at_B + index * self._scalar_B(operands[0]), operands[0]
            else:
                return None
        return at_B // 4, type_, stride_B

    def _step_shared(self, type_: int, indices: list[Any]) -> tuple[Any, int, int] | None:
        """The same of a shared variable, where each number counts as a word; indices beyond an end are the last."""
        at: Any = np.int64(0)
        for index in indices:
            kind, operands = self._types.get(type_, (0, []))
            if index is None or isinstance(index, list):
                return None
            if kind == 30:
                at, type_ = at + sum(map(self._scalars, operands[: int(index)])), operands[int(index)]
            elif kind in (23, 24, 28) and self._scalars(type_):
                count = self._scalars(type_) // self._scalars(operands[0])
                at, type_ = at + np.minimum(index, count - 1) * self._scalars(operands[0]), operands[0]
            else:
                return None
        return at, type_, 0

    def _scalars(self, type_: int) -> int:
        """How many numbers it has; 0: nobody knows."""
        kind, operands = self._types.get(type_, (0, []))
        if kind in (21, 22):
            return 1
        if kind in (23, 24):
            return self._scalars(operands[0]) * operands[1]
        if kind == 28:
            return self._scalars(operands[0]) * int(self._values.get(operands[1], 0))
        members = [self._scalars(member) for member in operands] if kind == 30 else [0]
        return sum(members) if all(members) else 0

    def _words(self, type_: int, stride_B: int) -> Values:
        """Words of a value of a block, some of them where there are many."""
        kind, operands = self._types.get(type_, (0, []))
        parts: list[Values] = []
        if kind in (21, 22):
            parts = [np.arange(self._scalar_B(type_) // 4)]
        elif kind == 23:
            parts = [np.arange(self._scalar_B(operands[0]) * operands[1] // 4)]
        elif kind == 24 and stride_B:
            parts = [self._words(operands[0], 0) + column * stride_B // 4 for column in range(operands[1])]
        elif kind == 28 and (type_, 6) in self._decorated:
            count = min(int(self._values.get(operands[1], 0)), _MOST_WORDS)
            parts = [self._words(operands[0], stride_B) + k * self._decorated[type_, 6] // 4 for k in range(count)]
        elif kind == 30:
            for member, inner in enumerate(operands):
                if (type_, member, 35) in self._members:
                    inner_words = self._words(inner, self._stride_B(type_, member))
                    parts.append(inner_words + self._members[type_, member, 35] // 4)
        return np.concatenate(parts)[:_MOST_WORDS] if parts else np.arange(0)

    def _stride_B(self, type_: int, member: int) -> int:
        """From a matrix's column to the next; 0: it is by rows, which are not followed, or none."""
        return 0 if (type_, member, 4) in self._members else self._members.get((type_, member, 7), 0)

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


def _touched(touch: _Touch, first_B: int, end_B: float) -> Values:
    """(invocations, words) of 32 bits that are touched, from the buffer's begin on; -1: beyond what is bound."""
    words = touch.at[:, None] + touch.words + first_B // 4
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


def _without_own(load: _Touch, loads: Values, store: _Touch, stores: Values) -> Values:
    """What is loaded without what the invocation itself has stored there before, where all others store the same: it finds that."""
    if store.same < (1 if store.place[0] < 0 else 2) or store.turn > load.turn:
        return loads
    return np.where((loads[:, :, None] == stores[:, None, :]).any(axis=2), -1, loads)


#: What is bound at a place: the buffer, its first byte there, and the first behind.
_Bound = Mapping[tuple[int, int], tuple[Any, int, float]]


def race_of(pipeline: Program, size: Sequence[int], groups: Sequence[int], base: Sequence[int], bind: Any, sets: Any) -> str:
    """What invocations of two numbers do to one word of a buffer or a shared variable; ``""``: nothing that is known. ``size``: of a
    workgroup; ``groups``, ``base``: how many of them, and from which on."""
    known: dict[Any, Any] = vars(pipeline).get("_races") or _first(pipeline, size)
    alone = known["alone"] and _alone(pipeline, known, size, groups, base)
    if type(alone) is str:
        return alone
    if not alone:
        given = [v if isinstance(v, Buffer) else v.buffer for v in (bind or {}).values() if isinstance(v, (Buffer, BufferSlice))]
        if not sets and len(set(map(id, given))) == len(given):
            return ""
    at: dict[tuple[int, int], tuple[Buffer, int, float]] = {}
    for binding, value in bound_of(pipeline, bind, sets):
        if type(value) is Buffer:
            at[binding.set, binding.binding] = value, 0, value.size
        elif type(value) is BufferSlice:
            at[binding.set, binding.binding] = value.buffer, value.offset, value.offset + value.size
    if not alone and len({id(whole) for whole, _, _ in at.values()}) == len(at):
        return ""
    names = {id(whole): n for n, (whole, _, _) in enumerate(at.values())}
    key = (*groups, *base, *((place, names[id(whole)], first, end) for place, (whole, first, end) in at.items()))
    if key not in known:
        if len(known) > 2 * _MOST_KNOWN:
            known = _first(pipeline, size)
        known[key] = _race(pipeline, _numbers(size, groups, base), at) if groups[0] * groups[1] * groups[2] else None
    found = known[key]
    return "" if found is None else found[0].replace(_LABEL, str(at[found[1]][0].label))


_LABEL = "\0"  # in the place of a buffer's label


def _first(pipeline: Program, size: Sequence[int]) -> dict[Any, Any]:
    """A pipeline's answers: so far whether something of it may meet with itself, ``alone``."""
    shader = _walked(pipeline, _numbers(size, (1, 1, 1), (0, 0, 0)))
    may = shader is not None and any(load.place == store.place for store, load in itertools.product(shader.stores, shader.loads))
    known: dict[Any, Any] = {"alone": may}
    vars(pipeline)["_races"] = known
    return known


def _alone(pipeline: Program, known: dict[Any, Any], size: Sequence[int], groups: Sequence[int], base: Sequence[int]) -> str | bool:
    """Whether invocations meet at one binding, if as much is bound as they ask for; or at once what they do in shared memory."""
    key = ("alone", *groups, *base)
    if key not in known:
        if len(known) > _MOST_KNOWN:
            return False  # that many without a word: others, which each dispatch would pay for, are seldom news
        shader = _walked(pipeline, numbers := _numbers(size, groups, base)) if groups[0] * groups[1] * groups[2] else None
        found: str | bool = False
        if shader is not None:
            everywhere = dict.fromkeys({touch.place for touch in shader.loads if touch.place[0] >= 0}, (None, 0, np.inf))
            found = _shared_race(shader, numbers) or any(_meetings(shader, numbers, {p: b}) for p, b in everywhere.items())
        known[key] = found
    answer: str | bool = known[key]
    return answer


def _walked(pipeline: Program, numbers: dict[str, Any]) -> _Shader | None:
    ((stage, module),) = pipeline.stages.items()
    try:
        return _Shader(bytes(module.spirv), dict(pipeline.interface.specialization.get(stage, [])), numbers)
    except (KeyError, IndexError, TypeError):  # of forms that compilers don't write
        return None


def _named(numbers: dict[str, Any], pair: tuple[int, int]) -> list[tuple[int, ...]]:
    return [tuple(int(part[one]) for part in numbers["global"]) for one in pair]


def _shared_race(shader: _Shader, numbers: dict[str, Any]) -> str:
    """Between two barriers, among the invocations of a workgroup."""
    for store, load in itertools.product(shader.stores, shader.loads):
        if load.place != store.place or load.place[0] >= 0 or load.part != store.part:
            continue
        loads, stores = (_touched(touch, 0, np.inf) for touch in (load, store))
        loads = _without_own(load, loads, store, stores)
        own = numbers["flat"][:, None] << 32  # each workgroup has its own
        pair = _meet(np.where(loads < 0, -1, loads + own), stores + own, np.arange(len(own)))
        if pair is not None:
            reader, writer = _named(numbers, pair)
            name = shader.names.get(load.place[1]) or "variable"
            return (
                f"invocation {reader} reads in the shared '{name}' what invocation {writer} of its workgroup stores there, and no "
                "barrier() stands between: the result depends on threads and lanes; write barrier(); between the two lines"
            )
    return ""


def _meetings(shader: _Shader, numbers: dict[str, Any], at: _Bound) -> tuple[_Touch, _Touch, tuple[int, int]] | None:
    """A load and a store of one buffer, and the invocations that meet there."""
    who = numbers["flat"] if shader.barriers else np.arange(len(numbers["flat"]))
    for store, load in itertools.product(shader.stores, shader.loads):
        if not {load.place, store.place} <= at.keys() or at[load.place][0] is not at[store.place][0]:
            continue
        loads, stores = (_touched(touch, *at[touch.place][1:]) for touch in (load, store))
        pair = _meet(_without_own(load, loads, store, stores) if load.place == store.place else loads, stores, who)
        if pair is not None:
            return load, store, pair
    return None


def _race(pipeline: Program, numbers: dict[str, Any], at: _Bound) -> tuple[str, tuple[int, int]] | None:
    """The sentence, without the buffer's label, and where that is bound."""
    shader = _walked(pipeline, numbers)
    found = None if shader is None else _meetings(shader, numbers, at)
    if found is None:
        return None
    load, store, pair = found
    reader, writer = _named(numbers, pair)
    reads, stores = (pipeline.interface.bindings[place].title for place in (load.place, store.place))
    said = f"invocation {reader} reads as {reads} what invocation {writer} stores as {stores}, in buffer '{_LABEL}'"
    if load.place == store.place:
        said = f"invocation {reader} reads of {reads} what invocation {writer} stores there, in buffer '{_LABEL}'"
    why = "and nothing orders them: the result depends on threads and lanes; read one buffer and write another"
    return f"{said}, {why}", load.place
