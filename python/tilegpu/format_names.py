"""What other interfaces call formats, for error messages.

In: a name that Vulkan has not. Out: Vulkan's names that are meant, likeliest first.

Sources: OpenGL 4.6, tables 8.12 and 8.13 (sized internal formats); WebGPU, GPUTextureFormat and GPUVertexFormat; moderngl's dtypes with
components, and its formats of buffers; NumPy's dtypes; types of GLSL, HLSL and Metal.
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
    "unorm1010102": ("a2b10g10r10_unorm_pack32",),
    "unorm8x4bgra": ("b8g8r8a8_unorm",),
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

#: Numbers and how many of them: float32x2 (WebGPU), 2f4 (moderngl), <f4 (NumPy), f32x2 (Rust), vec2 (GLSL), uchar4normalized (Metal).
_NUMBERS = re.compile(
    r"([1-4])?[<>=|]?(float|half|double|unorm|snorm|uint|sint|int|uchar|char|ubyte|byte|ushort|short|bool|[iu]?vec|n?[iu]|[fb])"
    r"(8|16|32|64|[1-4])?(?:x([1-4]))?(normalized)?(?:/[ivr])?"
)
#: What the numbers are, and their bits where none are said.
_OF_NUMBERS = {
    **dict.fromkeys(("float", "f", "vec"), ("sfloat", 32)), "double": ("sfloat", 64), "half": ("sfloat", 16),
    **dict.fromkeys(("uint", "u", "uvec"), ("uint", 32)), **dict.fromkeys(("sint", "int", "i", "ivec"), ("sint", 32)),
    **dict.fromkeys(("unorm", "nu"), ("unorm", 8)), **dict.fromkeys(("snorm", "ni"), ("snorm", 8)),
    **dict.fromkeys(("uchar", "ubyte", "bool", "b"), ("uint", 8)), **dict.fromkeys(("char", "byte"), ("sint", 8)),
    "ushort": ("uint", 16), "short": ("sint", 16),
}  # fmt: skip


def _numbers_meant(text: str) -> list[str]:
    """Of numbers that are named without channels."""
    found = _NUMBERS.fullmatch(text)
    if not found:
        return []
    before, word, digits, after, normalized = found.groups()
    kind, bits = _OF_NUMBERS[word]
    count = int(before or after or 1)
    letters = word in ("f", "i", "u", "b", "nu", "ni")
    if digits is not None and int(digits) <= 4 and not letters:
        count = int(digits)  # vec2
    elif digits is not None:
        # A letter with a number is NumPy's, in bytes; but u8 and i8 are Rust's.
        in_bytes = letters and (int(digits) <= 4 or (word, digits) == ("f", "8"))
        bits = int(digits) * (8 if in_bytes else 1)
    bits = min(bits, 32)  # there are no formats of 64
    if bits not in (8, 16, 32):
        return []
    if kind == "sfloat" and bits == 8:
        kind = "unorm"  # moderngl's f1
    kinds = [kind]
    if kind in ("uint", "sint") and bits < 32:
        alike = "unorm" if kind == "uint" else "snorm"
        bare = before is None and after is None and (letters or word == "uint")  # a dtype's: of pictures
        kinds = [alike] if normalized else [alike, kind] if bare else [kind, alike]
    orders = ["rgb", "rgba"] if count == 3 else ["rgba"[:count]]
    return ["".join(f"{c}{bits}" for c in order) + f"_{one}" for order in orders for one in kinds]


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
        return _numbers_meant(text)
    channels, bits, given = re.sub(r"\d", "", found[1]), found[2], found[3] or ""
    if channels not in _CHANNELS:
        return []
    kinds = [_KINDS.get(given, given)] if given else {"8": ["unorm", "srgb"], "16": ["sfloat", "unorm"], "32": ["sfloat"]}[bits]
    if given == "f" and bits == "8":  # moderngl: one byte, read as float
        kinds = ["unorm"]
    wide = [channels, "rgba"] if channels == "rgb" else [channels]  # three components: seldom an attachment
    return ["".join(f"{c}{bits}" for c in order) + f"_{kind}" for order in wide for kind in kinds]
