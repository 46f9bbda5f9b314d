"""What transform feedback captures. In: the shader before the rasterizer, and the buffers that are captured into. Out: why the numbers of
a buffer are others than the shader writes, ``""`` where they may fit.

Source: SPIR-V specification, decorations XfbBuffer and Offset; Vulkan specification, "Transform Feedback".
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from tilegpu.array_fit import number_misfit
from tilegpu.buffer import Buffer, BufferSlice
from tilegpu.interface import Stages
from tilegpu.pipeline_rules import Words

# SPIR-V's numbers: types, variables, decorations.
_INT, _FLOAT, _OF_ELEMENTS, _STRUCT, _POINTER, _VARIABLE = 21, 22, frozenset({23, 24, 28}), 30, 32, 59
_DECORATE, _MEMBER_DECORATE, _OFFSET, _XFB_BUFFER = 71, 72, 35, 36


def misfit(stages: Stages, number: int, given: Buffer | BufferSlice, what: str) -> str:
    """Of the buffer that is captured into as ``number``."""
    last = next((name for name in ("geometry", "tessellation_evaluation", "vertex") if name in stages), None)
    kinds = captured(stages[last].spirv).get(number) if last is not None else None
    return number_misfit(given.buffer if isinstance(given, BufferSlice) else given, kinds, "captured", what) if kinds else ""


@functools.lru_cache(maxsize=64)
def captured(spirv: bytes) -> dict[int, frozenset[np.dtype[np.generic]]]:
    """Kinds of the numbers that go to each buffer. Blocks have the buffer on the variable, or on their members; an offset is what makes
    an output captured."""
    numbers: dict[int, np.dtype[np.generic]] = {}
    parts: dict[int, list[int]] = {}
    pointers: dict[int, int] = {}
    buffers: dict[tuple[int, int], int] = {}
    offsets: set[tuple[int, int]] = set()
    variables: list[tuple[int, int]] = []
    for instruction, words in Words(spirv).instructions():
        if instruction in (_INT, _FLOAT):
            letter = "f" if instruction == _FLOAT else "i" if words[2] else "u"
            numbers[words[0]] = np.dtype(f"{letter}{words[1] // 8}")
        elif instruction in _OF_ELEMENTS:
            parts[words[0]] = words[1:2]
        elif instruction == _STRUCT:
            parts[words[0]] = words[1:]
        elif instruction == _POINTER:
            pointers[words[0]] = words[2]
        elif instruction == _VARIABLE:
            variables.append((words[1], words[0]))
        elif instruction in (_DECORATE, _MEMBER_DECORATE):
            place, (decoration, *value) = ((words[0], -1), words[1:]) if instruction == _DECORATE else ((words[0], words[1]), words[2:])
            if decoration == _XFB_BUFFER:
                buffers[place] = value[0]
            elif decoration == _OFFSET:
                offsets.add(place)

    def leaves(kind: int) -> Iterator[np.dtype[np.generic]]:
        if kind in numbers:
            yield numbers[kind]
        for part in parts.get(kind, ()):
            yield from leaves(part)

    found: dict[int, set[np.dtype[np.generic]]] = {}
    for variable, pointer in variables:
        kind = pointers.get(pointer, 0)
        while kind in parts and len(parts[kind]) == 1 and (kind, 0) not in offsets and (kind, 0) not in buffers:
            kind = parts[kind][0]  # of arrays of blocks
        own = buffers.get((variable, -1))
        if own is not None and (variable, -1) in offsets:
            found.setdefault(own, set()).update(leaves(pointers[pointer]))
        for member, part in enumerate(parts.get(kind, ())):
            where = buffers.get((kind, member), own)
            if where is not None and (kind, member) in offsets:
                found.setdefault(where, set()).update(leaves(part))
    return {number: frozenset(kinds) for number, kinds in found.items()}
