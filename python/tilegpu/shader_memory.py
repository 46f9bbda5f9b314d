"""What a shader moves between memory and its registers: bytes that one invocation loads and stores, by descriptor binding.

In: SPIR-V. Out: :class:`Access` by (set, binding); ``None``: by address, or through a pointer that no binding is known of. Loops count as
often as they run where that is known, and branches as if all were taken, as of :mod:`tilegpu.operations`. Shared memory, private variables
and push constants stay on the chip, and are not counted.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

from tilegpu.operations import Module
from tilegpu.pipeline_rules import Words

Binding = tuple[int, int] | None

_UNIFORM, _STORAGE, _BY_ADDRESS, _IMAGES = 2, 12, 5349, 0  # storage classes
_CHAINS = {65, 66, 67, 70}
_HANDLES = {61, 83, 86, 100}  # a load, a copy, an image with its sampler, the image of both: their last id is what they are of
_READS_IMAGE = {*range(87, 99)}
_ATOMIC_LOAD, _ATOMIC_STORE = 227, 228
_ATOMICS = {*range(227, 243)}


@dataclasses.dataclass
class Access:
    """Of one invocation: bytes of buffers; texels of images, whose size their format says."""

    read_B: int = 0
    write_B: int = 0
    texels_read: int = 0
    texels_written: int = 0


class _Memory:
    def __init__(self, spirv: bytes, constants: Mapping[int, int]) -> None:
        self.module = Module(spirv, constants)
        self.sizes_B: dict[int, int] = {}
        self.pointers: dict[int, tuple[int, int]] = {}  # of a type: storage class, what it points to
        self.binding: dict[int, int] = {}
        self.set: dict[int, int] = {}
        self.type_of: dict[int, int] = {}
        self.comes_from: dict[int, int] = {}  # of a pointer, an image: what it was made of
        self.found: dict[Binding, Access] = {}
        self.parameters: dict[int, list[int]] = {}  # of functions
        self.function_read = 0
        for op, operands in Words(spirv).instructions():
            self._declare(op, operands)

    def _declare(self, op: int, a: list[int]) -> None:
        if op == 71 and a[1] in (33, 34):
            (self.binding if a[1] == 33 else self.set)[a[0]] = a[2]
        elif op in (21, 22):
            self.sizes_B[a[0]] = a[1] // 8
        elif op in (23, 24):  # of Booleans, which lie nowhere, nothing: blocks hold integers
            self.sizes_B[a[0]] = self.sizes_B.get(a[1], 0) * a[2]
        elif op == 28:
            self.sizes_B[a[0]] = self.sizes_B.get(a[1], 0) * self.module.value.get(a[2], 1)
        elif op == 30:
            self.sizes_B[a[0]] = sum(self.sizes_B.get(member, 0) for member in a[1:])
        elif op == 32:
            self.pointers[a[0]] = a[1], a[2]
        elif op == 54:
            self.function_read = a[1]
        elif op == 55:
            self.type_of[a[1]] = a[0]
            self.parameters.setdefault(self.function_read, []).append(a[1])
        elif op == 59:
            self.type_of[a[1]] = a[0]
        elif op in _CHAINS or op in _HANDLES or op == 60:
            self.type_of[a[1]] = a[0]
            self.comes_from[a[1]] = a[2]

    def _made_of(self, value: int) -> int:
        """What a pointer or an image began as: a variable, or what nobody knows."""
        while value in self.comes_from:
            value = self.comes_from[value]
        return value

    def _root(self, value: int) -> Binding:
        value = self._made_of(value)
        return (self.set.get(value, 0), self.binding[value]) if value in self.binding else None

    def _access(self, value: int) -> Access:
        return self.found.setdefault(self._root(value), Access())

    def _memory(self, pointer: int, times: int, reads: bool, writes: bool) -> None:
        storage, pointee = self.pointers.get(self.type_of.get(pointer, 0), (-1, 0))
        if storage == _IMAGES:  # a texel, for an atomic
            access = self._access(pointer)
            access.texels_read += times * reads
            access.texels_written += times * writes
        elif storage in (_UNIFORM, _STORAGE, _BY_ADDRESS):
            access = self._access(pointer) if storage != _BY_ADDRESS else self.found.setdefault(None, Access())
            access.read_B += times * self.sizes_B.get(pointee, 0) * reads
            access.write_B += times * self.sizes_B.get(pointee, 0) * writes

    def function(self, number: int, times: int) -> None:
        """Adds what runs of a function and of those that it calls."""
        blocks = self.module.functions[number]
        for label, (turns, _) in self.module.times(blocks).items():
            for op, a in blocks[label].instructions:
                self._instruction(op, a, times * turns)

    def _instruction(self, op: int, a: tuple[int, ...], times: int) -> None:
        if op == 57:  # the parameters are what this call gives
            given = [self._made_of(value) for value in a[3:]]
            pairs = zip(self.parameters.get(a[2], ()), given, strict=False)
            self.comes_from.update((parameter, value) for parameter, value in pairs if parameter != value)
            self.function(a[2], times)
        elif op == 61 and self.pointers.get(self.type_of.get(a[2], 0), (0, 0))[0] != _IMAGES:
            self._memory(a[2], times, True, False)
        elif op == 62:
            self._memory(a[0], times, False, True)
        elif op in _ATOMICS:
            self._memory(a[0] if op == _ATOMIC_STORE else a[2], times, op != _ATOMIC_STORE, op != _ATOMIC_LOAD)
        elif op in _READS_IMAGE:
            self._access(a[2]).texels_read += times
        elif op == 99:
            self._access(a[0]).texels_written += times


@functools.lru_cache(maxsize=64)
def _accesses(spirv: bytes, constants: tuple[tuple[int, int], ...]) -> dict[Binding, Access]:
    memory = _Memory(spirv, dict(constants))
    memory.function(memory.module.entry, 1)
    return memory.found


def accesses(spirv: bytes, constants: Mapping[int, int] | None = None) -> Mapping[Binding, Access]:
    """Of the module's entry point; ``constants``: specialisation by constant_id, as integers. Raises :class:`ValueError` for what is no
    SPIR-V."""
    return _accesses(bytes(spirv), tuple(sorted((constants or {}).items())))
