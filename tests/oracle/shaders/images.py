"""Images as shaders reach them texel by texel: fetches, reads, writes, sizes, atomics of texels. Sampling is not here.

In: an OpImage*, the values of ids. Out: texels. An image's texels are held as shaders see them, four components each; what is outside
reads 0 and is not written (docs/undefined.md).
Source: SPIR-V specification 1.6, section 3.32.10 "Image Instructions"; Vulkan specification, "Texel Input Validation", "Texel Output".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.shaders.module import Module, Value
from tests.oracle.shaders.words import Instruction

NAMES = {"OpImage", "OpSampledImage", "OpImageFetch", "OpImageRead", "OpImageWrite", "OpImageQuerySize", "OpImageQuerySizeLod",
         "OpImageQueryLevels", "OpImageQuerySamples", "OpImageTexelPointer"}  # fmt: skip
_BUFFER_DIM = 5
_CUBE_DIM = 3


@dataclass(eq=False)
class Image:
    """``size``: width, height, depth or layers, as far as there are. ``texels``: by coordinates; what is missing is zero."""

    size: tuple[int, ...]
    texels: dict[tuple[int, ...], tuple[int, int, int, int]] = field(default_factory=dict)
    one: int = 0  # what an alpha that the format has not reads as

    def read(self, at: tuple[int, ...]) -> tuple[int, int, int, int]:
        """Zeros outside."""
        return self.texels.get(at, (0, 0, 0, self.one)) if self.inside(at) else (0, 0, 0, 0)

    def write(self, at: tuple[int, ...], texel: tuple[int, int, int, int]) -> None:
        """Nothing outside."""
        if self.inside(at):
            self.texels[at] = texel

    def inside(self, at: tuple[int, ...]) -> bool:
        """As far as coordinates go."""
        return all(0 <= x < most for x, most in zip(at, self.size, strict=True))


@dataclass(frozen=True)
class TexelPointer:
    """OpImageTexelPointer: of a texel's first component."""

    image: Image
    at: tuple[int, ...]
    type: int

    def load(self) -> int:
        """0 outside."""
        return self.image.read(self.at)[0]

    def store(self, value: int) -> None:
        """Nothing outside."""
        self.image.write(self.at, (value, 0, 0, self.image.one))


def _coordinates(m: Module, id_: int, values: dict[int, Value]) -> tuple[int, ...]:
    bits = m.scalar(m.type_of[id_]).bits
    value = values[id_]
    return tuple(x - (1 << bits) if x >> bits - 1 else x for x in (value if isinstance(value, tuple) else (value,)))


def _vector(value: tuple[int, ...]) -> Value:
    return value if len(value) > 1 else value[0]


def execute(m: Module, i: Instruction, values: dict[int, Value]) -> Value:
    """The result; None for a write."""
    o = i.operands
    if i.op in ("OpImage", "OpSampledImage"):
        return values[o[0]]
    if i.op == "OpImageTexelPointer":
        image = values[o[0]].items
        return TexelPointer(image, _coordinates(m, o[1], values), m.types[i.type].element)
    image = values[o[0]]
    if i.op in ("OpImageFetch", "OpImageRead"):
        texel = image.read(_coordinates(m, o[1], values))
        return texel[: m.types[i.type].count] if m.types[i.type].kind == "vector" else texel[0]
    if i.op == "OpImageWrite":
        texel = values[o[2]]
        parts = texel if isinstance(texel, tuple) else (texel,)
        image.write(_coordinates(m, o[1], values), (*parts, 0, 0, 0)[:4])
        return None
    if i.op in ("OpImageQuerySize", "OpImageQuerySizeLod"):
        return _vector(tuple(image.size))
    return 1  # levels and samples: images here have one of each
