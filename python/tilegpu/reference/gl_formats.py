"""Formats by OpenGL's names, and the error of a reference that can't draw. In: Vulkan's names. Out: what moderngl takes."""

from __future__ import annotations

from dataclasses import dataclass

from tilegpu import Error


class ReferenceError(Error, RuntimeError):
    """The reference cannot draw this frame, or there is no reference on this machine; the message says why."""


@dataclass(frozen=True)
class GlFormat:
    """How OpenGL names a format: components, moderngl's type, internal format where it is not the default."""

    components: int
    dtype: str
    internal: int | None = None
    numpy: str = "u1"


FORMATS = {
    "r8_unorm": GlFormat(1, "f1"),
    "r8g8_unorm": GlFormat(2, "f1"),
    "r8g8b8a8_unorm": GlFormat(4, "f1"),
    "r8g8b8a8_srgb": GlFormat(4, "f1", 0x8C43),
    "r16_sfloat": GlFormat(1, "f2", None, "f2"),
    "r16g16_sfloat": GlFormat(2, "f2", None, "f2"),
    "r16g16b16a16_sfloat": GlFormat(4, "f2", None, "f2"),
    "r32_sfloat": GlFormat(1, "f4", None, "f4"),
    "r32g32_sfloat": GlFormat(2, "f4", None, "f4"),
    "r32g32b32a32_sfloat": GlFormat(4, "f4", None, "f4"),
}
#: Of what passes hand on: nobody reads these as arrays.
TARGET_FORMATS = FORMATS | {
    "a2b10g10r10_unorm_pack32": GlFormat(4, "f1", 0x8059),
    "b10g11r11_ufloat_pack32": GlFormat(3, "f2", 0x8C3A),
}


def gl_format(name: str, target: bool = False) -> GlFormat:
    """The OpenGL form of a Vulkan format name; ``target``: of what passes hand on. Raises :class:`ReferenceError` with the list of those
    that exist."""
    table = TARGET_FORMATS if target else FORMATS
    if name not in table:
        raise ReferenceError(f"the reference has no format {name}; it has {', '.join(table)}")
    return table[name]
