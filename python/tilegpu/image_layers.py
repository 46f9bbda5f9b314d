"""Which layers of a bound array of images a shader can read, where its coordinates say so: constants in their last place.

In: SPIR-V, a binding. Out: numbers of layers, or ``None`` where one is known at run time only. For warnings of contents that nobody
wrote, beside the levels of ``image_reads`` of the core. Source: SPIR-V specification, "Image Instructions"; Vulkan specification,
"Layer Selection".
"""

from __future__ import annotations

import functools
import struct

from tilegpu.pipeline_rules import Words

_TYPE_FLOAT, _TYPE_IMAGE, _TYPE_SAMPLED_IMAGE, _TYPE_ARRAYS, _TYPE_POINTER, _VARIABLE, _LOAD = 22, 25, 27, (28, 29), 32, 59, 61
_CONSTANT, _CONSTANT_COMPOSITE, _DECORATE, _CONSTRUCT = 43, 44, 71, 80
_HANDED_ON = {_LOAD, 65, 66, 83, 86, 100}  # a load, places in arrays, a copy, an image with its sampler, the image of both
_READS = {*range(87, 99), 60}  # samples, fetches, gathers, reads; a texel's pointer: the coordinate is the second operand
_NO_TEXELS = {8, 99, 317, *range(103, 108)}  # lines of the source, a store, sizes and levels
_FUNCTION, _EXT_INST, _EXTRACT = 54, 12, 81


class _Reader:
    """Words by what they define."""

    def __init__(self, spirv: bytes, set_: int, binding: int) -> None:
        self.instructions = list(Words(spirv).instructions())
        self.made_by = {a[1]: (op, a) for op, a in self.instructions if len(a) > 1 and op not in (_DECORATE, 5, 6, 15, 62)}
        self.types = {a[0]: (op, a) for op, a in self.instructions if 19 <= op <= 33}
        places: dict[int, list[int]] = {}
        for op, a in self.instructions:
            if op == _DECORATE and a[1] in (33, 34):
                places.setdefault(a[0], [0, -1])[a[1] == 33] = a[2]
        self.ours = {number for number, place in places.items() if place == [set_, binding]}

    def is_array(self) -> bool:
        """Whether what is bound are arrays of 1D, 2D or cube images."""
        for variable in self.ours:
            op, a = self.made_by.get(variable, (0, []))
            kind = a[0] if op == _VARIABLE else 0
            while kind in self.types and self.types[kind][0] in (_TYPE_POINTER, *_TYPE_ARRAYS, _TYPE_SAMPLED_IMAGE):
                op, a = self.types[kind]
                kind = a[2] if op == _TYPE_POINTER else a[1]
            op, a = self.types.get(kind, (0, []))
            if op != _TYPE_IMAGE or not a[4]:
                return False
        return bool(self.ours)

    def layer(self, coordinate: int) -> int | None:
        """The constant at a coordinate's end, rounded to even."""
        op, a = self.made_by.get(coordinate, (0, []))
        while op in (_CONSTRUCT, _CONSTANT_COMPOSITE):
            op, a = self.made_by.get(a[-1], (0, []))
        if op != _CONSTANT or len(a) != 3:
            return None
        kind, words = self.types.get(a[0], (0, [0, 0]))
        if words[1] != 32:
            return None
        value = struct.unpack("<f" if kind == _TYPE_FLOAT else "<i", struct.pack("<I", a[2]))[0]
        return max(0, round(value)) if abs(value) < 1 << 24 else None

    def layers(self) -> frozenset[int] | None:
        """Of all that is read; ``None`` too where the image goes to a function, or is chosen among others."""
        found: set[int] = set()
        ours = set(self.ours)
        first = next((k for k, (op, _) in enumerate(self.instructions) if op == _FUNCTION), 0)
        for op, a in self.instructions[first:]:
            ids = a[4:] if op == _EXT_INST else a[:3] if op == _EXTRACT else a  # what else they have are numbers
            if op in _NO_TEXELS or not ours.intersection(ids):
                continue
            if op in _HANDED_ON and a[2] in ours:
                ours.add(a[1])
            elif op in _READS and a[2] in ours and (layer := self.layer(a[3])) is not None:
                found.add(layer)
            else:
                return None
        return frozenset(found)


@functools.lru_cache(maxsize=256)
def layers_read(spirv: bytes, set_: int, binding: int) -> frozenset[int] | None:
    """Numbers of layers, cubes in arrays of cubes; those beyond the last one are the last one. ``None``: any."""
    reader = _Reader(spirv, set_, binding)
    return reader.layers() if reader.is_array() else None
