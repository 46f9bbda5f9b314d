"""Depth, stencil and blending of one fragment against one sample, in plain Python and float64.

Source: Vulkan specification, "Stencil Test", "Depth Test", "Blending", "Fixed-Point Data Conversions".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

COMPARE = {
    "never": lambda a, b: False,
    "less": lambda a, b: a < b,
    "equal": lambda a, b: a == b,
    "less_or_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "not_equal": lambda a, b: a != b,
    "greater_or_equal": lambda a, b: a >= b,
    "always": lambda a, b: True,
}

STENCIL_OPS = {
    "keep": lambda s, ref: s,
    "zero": lambda s, ref: 0,
    "replace": lambda s, ref: ref,
    "increment_and_clamp": lambda s, ref: min(s + 1, 255),
    "decrement_and_clamp": lambda s, ref: max(s - 1, 0),
    "invert": lambda s, ref: ~s & 255,
    "increment_and_wrap": lambda s, ref: (s + 1) & 255,
    "decrement_and_wrap": lambda s, ref: (s - 1) & 255,
}

Colour = tuple[float, float, float, float]


def _factor(name: str, src: Colour, dst: Colour, constants: Colour) -> Colour:
    one = (1.0, 1.0, 1.0, 1.0)

    def minus(c: Colour) -> Colour:
        return tuple(1.0 - v for v in c)  # type: ignore[return-value]

    table: dict[str, Colour] = {
        "zero": (0.0, 0.0, 0.0, 0.0),
        "one": one,
        "src_color": src,
        "one_minus_src_color": minus(src),
        "dst_color": dst,
        "one_minus_dst_color": minus(dst),
        "src_alpha": (src[3],) * 4,
        "one_minus_src_alpha": (1.0 - src[3],) * 4,
        "dst_alpha": (dst[3],) * 4,
        "one_minus_dst_alpha": (1.0 - dst[3],) * 4,
        "constant_color": constants,
        "one_minus_constant_color": minus(constants),
        "constant_alpha": (constants[3],) * 4,
        "one_minus_constant_alpha": (1.0 - constants[3],) * 4,
        "src_alpha_saturate": (min(src[3], 1.0 - dst[3]),) * 3 + (1.0,),
    }
    return table[name]


def _combine(op: str, s: float, sf: float, d: float, df: float) -> float:
    if op == "add":
        return s * sf + d * df
    if op == "subtract":
        return s * sf - d * df
    if op == "reverse_subtract":
        return d * df - s * sf
    return min(s, d) if op == "min" else max(s, d)


@dataclass(frozen=True)
class Blend:
    """Vulkan's names without prefix, lower case. `write` is a subset of "rgba"."""

    enable: bool = False
    src_color: str = "one"
    dst_color: str = "zero"
    color_op: str = "add"
    src_alpha: str = "one"
    dst_alpha: str = "zero"
    alpha_op: str = "add"
    write: str = "rgba"
    constants: Colour = (0.0, 0.0, 0.0, 0.0)


def blend_unorm8(state: Blend, src: Colour, dst: np.ndarray) -> np.ndarray:
    """New RGBA8 texel from a fragment's colour and the old texel (4,) uint8. Exact up to the rounding of float32 arithmetic: the caller
    allows one step."""
    s: Colour = tuple(min(max(float(v), 0.0), 1.0) for v in src)  # type: ignore[assignment]
    d: Colour = tuple(float(v) / 255.0 for v in dst)  # type: ignore[assignment]
    k: Colour = tuple(min(max(v, 0.0), 1.0) for v in state.constants)  # type: ignore[assignment]
    out = list(s)
    if state.enable:
        fs, fd = _factor(state.src_color, s, d, k), _factor(state.dst_color, s, d, k)
        fsa, fda = _factor(state.src_alpha, s, d, k), _factor(state.dst_alpha, s, d, k)
        out = [_combine(state.color_op, s[c], fs[c], d[c], fd[c]) for c in range(3)]
        out.append(_combine(state.alpha_op, s[3], fsa[3], d[3], fda[3]))
    new = dst.copy()
    for c, letter in enumerate("rgba"):
        if letter in state.write:
            new[c] = int(np.rint(min(max(out[c], 0.0), 1.0) * 255.0))
    return new


@dataclass(frozen=True)
class StencilFace:
    fail: str = "keep"
    passes: str = "keep"
    depth_fail: str = "keep"
    compare: str = "always"
    compare_mask: int = 255
    write_mask: int = 255
    reference: int = 0


@dataclass(frozen=True)
class DepthStencil:
    depth_test: bool = False
    depth_write: bool = False
    depth_compare: str = "less"
    stencil_test: bool = False
    face: StencilFace = field(default_factory=StencilFace)


def depth_stencil(state: DepthStencil, z: float, depth: float, stencil: int) -> tuple[bool, float, int]:
    """(passes, new depth, new stencil) of one fragment at one sample."""
    face = state.face
    passes_stencil = not state.stencil_test or COMPARE[face.compare](face.reference & face.compare_mask, stencil & face.compare_mask)
    passes_depth = not state.depth_test or COMPARE[state.depth_compare](z, depth)
    if state.stencil_test:
        op = face.fail if not passes_stencil else face.passes if passes_depth else face.depth_fail
        new = STENCIL_OPS[op](stencil, face.reference)
        stencil = (stencil & ~face.write_mask) | (new & face.write_mask)
    passes = passes_stencil and passes_depth
    if passes and state.depth_test and state.depth_write:
        depth = z
    return passes, depth, stencil
