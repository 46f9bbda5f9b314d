"""VK_EXT_blend_operation_advanced in NumPy and float64, with how far a result in float32 may be from it.

Source: Vulkan specification, "Advanced Blend Operations": tables "f/X/Y/Z", "Hue-Saturation-Luminosity", "Additional RGB", "Advanced Blend
Overlap Modes", and the equations for colours that are premultiplied or not. Colours are (n, 4) float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
F = Callable[[Array, Array], Array]

#: One rounding of float32, and what some of them in a row may come to.
ROUNDING = 6e-8
TOLERANCE = 2e-6


@dataclass(frozen=True)
class How:
    src_premultiplied: bool = True
    dst_premultiplied: bool = True
    overlap: str = "uncorrelated"
    clamp_results: bool = False


def _cases(*pairs: tuple[Array, Array], otherwise: Array) -> Array:
    return np.select([c for c, _ in pairs], [v for _, v in pairs], otherwise)


def _dodge(s: Array, d: Array) -> Array:
    return _cases((d <= 0, d * 0), (s < 1, np.minimum(1, d / np.where(s < 1, 1 - s, 1))), otherwise=np.ones_like(d))


def _burn(s: Array, d: Array) -> Array:
    return _cases((d >= 1, d * 0 + 1), (s > 0, 1 - np.minimum(1, (1 - d) / np.where(s > 0, s, 1))), otherwise=np.zeros_like(d))


def _hard(s: Array, d: Array) -> Array:
    return np.where(s <= 0.5, 2 * s * d, 1 - 2 * (1 - s) * (1 - d))


def _soft(s: Array, d: Array) -> Array:
    return _cases(
        (s <= 0.5, d - (1 - 2 * s) * d * (1 - d)),
        (d <= 0.25, d + (2 * s - 1) * d * ((16 * d - 12) * d + 3)),
        otherwise=d + (2 * s - 1) * (np.sqrt(np.maximum(d, 0)) - d),
    )


def _vivid(s: Array, d: Array) -> Array:
    inside = (s > 0) & (s < 1)
    low = 1 - np.minimum(1, (1 - d) / np.where(inside, 2 * s, 1))
    high = np.minimum(1, d / np.where(inside, 2 * (1 - s), 1))
    return _cases((s <= 0, d * 0), (s >= 1, d * 0 + 1), (s < 0.5, low), otherwise=high)


def _pin(s: Array, d: Array) -> Array:
    return _cases(
        ((2 * s - 1 > d) & (s < 0.5), d * 0),
        (2 * s - 1 > d, 2 * s - 1),
        (s < 0.5 * d, 2 * s),
        otherwise=d,
    )


def _linear(s: Array, d: Array) -> Array:
    v = 2 * s + d
    return _cases((v > 2, v * 0 + 1), (v > 1, v - 1), otherwise=v * 0)


def _none(s: Array, d: Array) -> Array:
    return s * 0 + d * 0


#: Operator: (X, Y, Z), f.
SEPARABLE: dict[str, tuple[tuple[int, int, int], F]] = {
    "zero": ((0, 0, 0), _none),
    "src": ((1, 1, 0), lambda s, d: s + d * 0),
    "dst": ((1, 0, 1), lambda s, d: d + s * 0),
    "src_over": ((1, 1, 1), lambda s, d: s + d * 0),
    "dst_over": ((1, 1, 1), lambda s, d: d + s * 0),
    "src_in": ((1, 0, 0), lambda s, d: s + d * 0),
    "dst_in": ((1, 0, 0), lambda s, d: d + s * 0),
    "src_out": ((0, 1, 0), _none),
    "dst_out": ((0, 0, 1), _none),
    "src_atop": ((1, 0, 1), lambda s, d: s + d * 0),
    "dst_atop": ((1, 1, 0), lambda s, d: d + s * 0),
    "xor": ((0, 1, 1), _none),
    "multiply": ((1, 1, 1), lambda s, d: s * d),
    "screen": ((1, 1, 1), lambda s, d: s + d - s * d),
    "overlay": ((1, 1, 1), lambda s, d: _hard(d, s)),
    "darken": ((1, 1, 1), np.minimum),
    "lighten": ((1, 1, 1), np.maximum),
    "colordodge": ((1, 1, 1), _dodge),
    "colorburn": ((1, 1, 1), _burn),
    "hardlight": ((1, 1, 1), _hard),
    "softlight": ((1, 1, 1), _soft),
    "difference": ((1, 1, 1), lambda s, d: np.abs(d - s)),
    "exclusion": ((1, 1, 1), lambda s, d: s + d - 2 * s * d),
    "invert": ((1, 0, 1), lambda s, d: 1 - d + s * 0),
    "invert_rgb": ((1, 0, 1), lambda s, d: s * (1 - d)),
    "lineardodge": ((1, 1, 1), lambda s, d: np.where(s + d <= 1, s + d, 1)),
    "linearburn": ((1, 1, 1), lambda s, d: np.where(s + d > 1, s + d - 1, 0)),
    "vividlight": ((1, 1, 1), _vivid),
    "linearlight": ((1, 1, 1), _linear),
    "pinlight": ((1, 1, 1), _pin),
    "hardmix": ((1, 1, 1), lambda s, d: np.where(s + d < 1, 0.0, 1.0)),
}


def _luminosity(c: Array) -> Array:
    return c @ np.array([0.30, 0.59, 0.11])


def _divided(a: Array, b: Array) -> Array:
    return a / np.where(b == 0, 1, b)


def _clip_color(color: Array) -> Array:
    """A grey beyond 0 to 1 would be divided by 0: it is taken to the limit, as those next to it are."""
    lum, low, high = _luminosity(color), color.min(1), color.max(1)
    grey = (high - low)[:, None] < 1e-9
    shifted = lum[:, None] + _divided((color - lum[:, None]) * lum[:, None], (lum - low)[:, None])
    color = np.where((low < 0)[:, None], np.where(grey, 0, shifted), color)
    shifted = lum[:, None] + _divided((color - lum[:, None]) * (1 - lum)[:, None], (high - lum)[:, None])
    return np.where((high > 1)[:, None], np.where(grey, 1, shifted), color)


def _set_lum(base: Array, lum: Array) -> Array:
    return _clip_color(base + (_luminosity(lum) - _luminosity(base))[:, None])


def _set_lum_sat(base: Array, sat: Array, lum: Array) -> Array:
    low, own = base.min(1), base.max(1) - base.min(1)
    color = (base - low[:, None]) * _divided(sat.max(1) - sat.min(1), own)[:, None]
    return _set_lum(np.where((own > 0)[:, None], color, 0), lum)


HSL: dict[str, F] = {
    "hsl_hue": lambda s, d: _set_lum_sat(s, d, d),
    "hsl_saturation": lambda s, d: _set_lum_sat(d, s, d),
    "hsl_color": lambda s, d: _set_lum(s, d),
    "hsl_luminosity": lambda s, d: _set_lum(d, s),
}


def _channel(k: int) -> Callable[..., tuple[Array, Array]]:
    def take(s: Array, d: Array, sa: Array, da: Array) -> tuple[Array, Array]:
        return np.where(np.arange(3) == k, s, d), da

    return take


#: Of premultiplied colours and alphas, (n, 3) and (n, 1).
ADDITIONAL: dict[str, Callable[..., tuple[Array, Array]]] = {
    "plus": lambda s, d, sa, da: (s + d, sa + da),
    "plus_clamped": lambda s, d, sa, da: (np.minimum(1, s + d), np.minimum(1, sa + da)),
    "plus_clamped_alpha": lambda s, d, sa, da: (np.minimum(np.minimum(1, sa + da), s + d), np.minimum(1, sa + da)),
    "plus_darker": lambda s, d, sa, da: (
        np.maximum(0, np.minimum(1, sa + da) - ((sa - s) + (da - d))),
        np.minimum(1, sa + da),
    ),
    "minus": lambda s, d, sa, da: (d - s, da - sa),
    "minus_clamped": lambda s, d, sa, da: (np.maximum(0, d - s), np.maximum(0, da - sa)),
    "contrast": lambda s, d, sa, da: (da / 2 + 2 * (d - da / 2) * (s - sa / 2), da),
    "invert_ovg": lambda s, d, sa, da: (sa * (1 - d) + (1 - sa) * d, sa + da - sa * da),
    "red": _channel(0),
    "green": _channel(1),
    "blue": _channel(2),
}

OPERATORS = (*SEPARABLE, *HSL, *ADDITIONAL)
assert len(OPERATORS) == 46
OVERLAPS = ("uncorrelated", "disjoint", "conjoint")


def weights(overlap: str, sa: Array, da: Array) -> tuple[Array, Array, Array]:
    if overlap == "conjoint":
        return np.minimum(sa, da), np.maximum(sa - da, 0), np.maximum(da - sa, 0)
    if overlap == "disjoint":
        return np.maximum(sa + da - 1, 0), np.minimum(sa, 1 - da), np.minimum(da, 1 - sa)
    return sa * da, sa * (1 - da), da * (1 - sa)


@dataclass
class Expected:
    low: Array  # (n, 4): a result lies between both
    high: Array
    defined: Array  # (n, 4) bool


def _base(color: Array, premultiplied: bool) -> Array:
    if not premultiplied:
        return color[:, :3]
    alpha = color[:, 3:]
    return np.where(alpha == 0, 0, color[:, :3] / np.where(alpha == 0, 1, alpha))


def _multiplied(color: Array, premultiplied: bool) -> Array:
    return color[:, :3] if premultiplied else color[:, :3] * color[:, 3:]


def _weighed(op: str, s: Array, d: Array, how: How) -> tuple[list[Array], Array]:
    """Premultiplied results for base colours that are a little off (steps of a function), and their error."""
    cs, cd = _base(s, how.src_premultiplied), _base(d, how.dst_premultiplied)
    p0, p1, p2 = weights(how.overlap, s[:, 3:], d[:, 3:])
    (x, y, z), f = SEPARABLE.get(op, ((1, 1, 1), None))
    of = HSL[op] if f is None else f
    results = []
    for step in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)):
        a, b = cs * (1 + step[0] * TOLERANCE / 2), cd * (1 + step[1] * TOLERANCE / 2)
        rgb = x * of(a, b) * p0 + y * cs * p1 + z * cd * p2
        results.append(np.concatenate([rgb, x * p0 + y * p1 + z * p2], 1))
    # Weights of correlated overlap are differences of alphas: their error is one of alphas.
    size = 1 + np.abs(cs).max(1, keepdims=True) + np.abs(cd).max(1, keepdims=True)
    alphas = np.maximum(s[:, 3:], d[:, 3:])
    error = TOLERANCE * size**3 * np.minimum(alphas, 1) if f is not None else 10 * TOLERANCE * size * np.minimum(alphas, 1)
    if how.overlap == "disjoint":
        error = error + ROUNDING * 4 * size * (alphas > 0)
    return results, np.concatenate([np.repeat(error, 3, 1), ROUNDING * 8 * alphas], 1)


def blend(op: str, source: Array, destination: Array, how: How) -> Expected:
    """`source`, `destination`: (n, 4) float64, in the range of the format."""
    s, d = source, destination
    if op in ADDITIONAL:
        rgb, alpha = ADDITIONAL[op](
            _multiplied(s, how.src_premultiplied), _multiplied(d, how.dst_premultiplied), s[:, 3:], d[:, 3:]
        )
        results = [np.concatenate([rgb, np.broadcast_to(alpha, (len(s), 1))], 1)]
        error = TOLERANCE * (np.abs(s).max(1, keepdims=True) + np.abs(d).max(1, keepdims=True)) * (1 + np.abs(s).max() / 2)
        error = np.concatenate([np.repeat(error, 3, 1), ROUNDING * 8 * (s[:, 3:] + d[:, 3:])], 1)
    else:
        results, error = _weighed(op, s, d, how)
    exact = results[0]
    alpha = exact[:, 3:]
    low, high = np.min(results, 0) - error, np.max(results, 0) + error
    certain = (np.isin(s[:, 3:], (0.0, 1.0)) & np.isin(d[:, 3:], (0.0, 1.0))) | (op == "zero")  # then alphas are exact
    defined = np.broadcast_to((s[:, 3:] >= 0) & (d[:, 3:] >= 0) & (alpha >= 0), low.shape).copy()
    for color, premultiplied in ((s, how.src_premultiplied), (d, how.dst_premultiplied)):
        if premultiplied:
            defined[:, :3] &= ~((color[:, 3:] == 0) & (color[:, :3] != 0))
    if not how.dst_premultiplied:
        vague = alpha < 1e-3  # such a quotient has no digits
        zero = vague & certain & (alpha == 0)
        defined[:, :3] &= ~(vague & ~(zero & (exact[:, :3] == 0)))
        least, most = np.where(vague, 1, alpha - error[:, 3:]), np.where(vague, 1, alpha + error[:, 3:])
        quotients = [v[:, :3] / a for v in (low, high) for a in (least, most)]
        low[:, :3] = np.where(zero, exact[:, :3] - error[:, :3], np.min(quotients, 0))
        high[:, :3] = np.where(zero, exact[:, :3] + error[:, :3], np.max(quotients, 0))
    if op in HSL:  # a hue of next to no saturation
        for color, premultiplied in ((s, how.src_premultiplied), (d, how.dst_premultiplied)):
            base = _base(color, premultiplied)
            span = base.max(1, keepdims=True) - base.min(1, keepdims=True)
            defined[:, :3] &= ~((span > 0) & (span < 0.02 * (1 + np.abs(base).max(1, keepdims=True))))
    if how.clamp_results:
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    return Expected(low, high, defined)
