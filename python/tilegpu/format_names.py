"""What other interfaces call formats, for error messages.

In: a name that Vulkan has not. Out: Vulkan's names that are meant, likeliest first.

Sources: OpenGL 4.6, tables 8.12 and 8.13 (sized internal formats); WebGPU, GPUTextureFormat; moderngl's dtypes with components.
Names are suggested, never taken: ``rgba8`` is linear in OpenGL and says nothing of it, and Vulkan's name does.
"""

from __future__ import annotations

import re

#: Those without a rule, in lower case and without ``_``, ``-`` and spaces.
_OTHERS: dict[str, tuple[str, ...]] = {
    "depth": ("d32_sfloat",),
    "depth24": ("x8_d24_unorm_pack32", "d32_sfloat"),
    "d16": ("d16_unorm",),
    "d24": ("x8_d24_unorm_pack32", "d32_sfloat"),
    "d32": ("d32_sfloat",),
    "d24s8": ("d24_unorm_s8_uint", "d32_sfloat_s8_uint"),
    "d32s8": ("d32_sfloat_s8_uint",),
    "s8": ("s8_uint",),
    "rgb565": ("r5g6b5_unorm_pack16",),
    "rgba4": ("r4g4b4a4_unorm_pack16",),
    "rgb5a1": ("r5g5b5a1_unorm_pack16",),
    "rgb10a2": ("a2b10g10r10_unorm_pack32",),
    "rgb10a2ui": ("a2b10g10r10_uint_pack32",),
    "rg11b10": ("b10g11r11_ufloat_pack32",),
    "r11fg11fb10f": ("b10g11r11_ufloat_pack32",),
    "rgb9e5": ("e5b9g9r9_ufloat_pack32",),
    "srgb8": ("r8g8b8a8_srgb",),
    "srgb8alpha8": ("r8g8b8a8_srgb",),
    "srgb": ("r8g8b8a8_srgb",),
    "srgba": ("r8g8b8a8_srgb",),
    "srgba8": ("r8g8b8a8_srgb",),
    "rgb": ("r8g8b8a8_unorm", "r8g8b8a8_srgb"),
    "rgba": ("r8g8b8a8_unorm", "r8g8b8a8_srgb"),
    "bgra": ("b8g8r8a8_unorm", "b8g8r8a8_srgb"),
}
_DEPTH = re.compile(r"(?:depthcomponent|depth|d)(16|24|32)(unorm|plus|sfloat|float|f)?(?:(?:stencil|s)8(?:uint)?)?")
_COLOR = re.compile(
    r"((?:[rgba]|[rgba](?:8|16|32)(?=[rgba]))*[rgba])(8|16|32)"
    r"(snorm|sn|unormsrgb|unorm|un|srgb|uint|ui|u|sint|int|i|sfloat|float|half|f)?"
)
_KINDS = {"sn": "snorm", "un": "unorm", "unormsrgb": "srgb", "ui": "uint", "u": "uint", "i": "sint", "int": "sint", "float": "sfloat",
          "half": "sfloat", "f": "sfloat"}  # fmt: skip
_CHANNELS = ("r", "rg", "rgb", "rgba", "bgra", "a")


def meant(name: str) -> list[str]:
    """Vulkan's names for another interface's; none for what no rule knows. They may not all exist."""
    text = re.sub(r"[\s_\-]|^gl_?", "", name.strip().lower())
    if text in _OTHERS:
        return list(_OTHERS[text])
    if (bare := re.sub(r"(unorm|ufloat)$", "", text)) in _OTHERS:
        return list(_OTHERS[bare])
    if found := _DEPTH.fullmatch(text):
        key = "d32" if found[1] == "32" else f"d{found[1]}"
        return list(_OTHERS[f"{key}s8" if text.rstrip("uint").endswith(("stencil8", "s8")) and key != "d16" else key])
    if text.startswith("stencil") or text in ("s8uint",):
        return ["s8_uint"]
    found = _COLOR.fullmatch(text)
    if not found:
        return []
    channels, bits, given = re.sub(r"\d", "", found[1]), found[2], found[3] or ""
    if channels not in _CHANNELS:
        return []
    kinds = [_KINDS.get(given, given)] if given else {"8": ["unorm", "srgb"], "16": ["sfloat", "unorm"], "32": ["sfloat"]}[bits]
    if given == "f" and bits == "8":  # moderngl: one byte, read as float
        kinds = ["unorm"]
    wide = [channels, "rgba"] if channels == "rgb" else [channels]  # three components: seldom an attachment
    return ["".join(f"{c}{bits}" for c in order) + f"_{kind}" for order in wide for kind in kinds]
