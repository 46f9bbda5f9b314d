"""Which layers of a bound array of images a shader can read, where its coordinates say so: constants in their last place.

In: SPIR-V, values of its constants, a binding. Out: numbers of layers, or ``None`` where one is known at run time only. For warnings of
contents that nobody wrote, beside the levels of ``image_reads`` of the core. Source: SPIR-V specification, "Image Instructions"; Vulkan
specification, "Layer Selection".
"""

from __future__ import annotations

import functools

from tilegpu.constant_numbers import Numbers

_TYPE_IMAGE, _TYPE_SAMPLED_IMAGE, _TYPE_ARRAYS, _TYPE_POINTER, _VARIABLE, _LOAD = 25, 27, (28, 29), 32, 59, 61
_COMPOSITES, _DECORATE = (44, 51, 80), 71  # constants, specialised or not, and what is constructed
_HANDED_ON = {_LOAD, 65, 66, 83, 86, 100}  # a load, places in arrays, a copy, an image with its sampler, the image of both
_READS = {*range(87, 99), 60}  # samples, fetches, gathers, reads; a texel's pointer: the coordinate is the second operand
_NO_TEXELS = {8, 99, 317, *range(103, 108)}  # lines of the source, a store, sizes and levels
_FUNCTION, _EXT_INST, _EXTRACT = 54, 12, 81


class _Reader(Numbers):
    """Words by what they define."""

    def __init__(self, spirv: bytes, values: tuple[tuple[int, int], ...], set_: int, binding: int) -> None:
        super().__init__(spirv, values)
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
        op, a = self.source(coordinate)
        while op in _COMPOSITES:
            coordinate = a[-1]
            op, a = self.source(coordinate)
        value = self.number(coordinate)
        return max(0, round(value)) if value is not None and abs(value) < 1 << 24 else None

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
def layers_read(spirv: bytes, values: tuple[tuple[int, int], ...], set_: int, binding: int) -> frozenset[int] | None:
    """Numbers of layers, cubes in arrays of cubes; those beyond the last one are the last one. ``None``: any. ``values``: (id, bits) of
    specialisation constants; others have their defaults."""
    reader = _Reader(spirv, values, set_, binding)
    return reader.layers() if reader.is_array() else None
