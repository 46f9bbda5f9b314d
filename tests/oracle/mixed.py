"""A whole pass of mixed draws, fragment by fragment in API order, in NumPy: attachments, storage, who is seen.

Source: Vulkan specification, "Fragment Operations" (order of tests, early fragment tests), "Rasterization Order", "Blending", "Stencil
Test". All numbers are exact: flat colours and depths that are small multiples of powers of two, blending by halves in float32, sums of
8-bit codes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.oracle.coverage import covered, snap
from tests.oracle.fragment_ops import StencilFace

COMPARE = {
    "less": np.less,
    "less_or_equal": np.less_equal,
    "greater": np.greater,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "always": lambda a, b: np.ones(np.broadcast(a, b).shape, bool),
}
STENCIL = {
    "keep": lambda s, ref: s,
    "replace": lambda s, ref: np.full_like(s, ref),
    "increment_and_wrap": lambda s, ref: (s + 1) & 255,
    "invert": lambda s, ref: ~s & 255,
}


@dataclass(frozen=True)
class Kind:
    """A pipeline. Its shader, and its colours, are functions of a primitive's number alone, but for what is named here."""

    shader: bool = True
    compare: str | None = "less_or_equal"  # depth; None: no test
    depth_write: bool = True
    stencil: StencilFace | None = None
    blend: bool = False  # target 0: source alpha; target 1: sum
    masks: tuple[str, str] = ("rgba", "rgba")
    holes: bool = False  # discards some pixels
    own_depth: bool = False  # writes gl_FragDepth
    own_mask: bool = False  # writes gl_SampleMask
    alpha_to_coverage: bool = False
    counts: bool = False  # an atomic for each invocation that was not discarded
    stores: bool = False  # each invocation that was not discarded leaves its mark in a place of its own
    early: bool = False  # early_fragment_tests
    reads: bool = False  # target 0 gets a half of what its sample 0 held, and a half of its own colour

    @property
    def replaced(self) -> tuple[bool, bool]:
        """By target: nothing of what was there is left."""
        return tuple(m == "rgba" and not self.blend and not self.reads for m in self.masks)  # type: ignore[return-value]


@dataclass
class Draw:
    kind: Kind
    corners: np.ndarray  # (n, 3, 2) px
    depth: np.ndarray  # (n,)
    numbers: np.ndarray  # (n,)


def color0(number: int) -> np.ndarray:
    return np.array([number % 8, number * 3 % 8, number * 5 % 8, 4], np.float32) / np.float32(8)


def color1(number: int) -> np.ndarray:
    return np.array([number * 37 % 251, number * 59 % 241, number * 83 % 239, 128 + number % 97], np.int64)


@dataclass
class Result:
    color: np.ndarray  # (h, w, s, 4) float32
    code: np.ndarray  # (h, w, s, 4) integers
    depth: np.ndarray
    stencil: np.ndarray
    counts: dict[int, int] = field(default_factory=dict)
    stored: set[tuple[int, int, int]] = field(default_factory=set)  # number, x, y
    passed: list[int] = field(default_factory=list)  # samples, by draw: what an occlusion query counts
    covered: np.ndarray | None = None  # (h, w, s): fragments that reach the sample
    seen: list[list[tuple[int, int]]] = field(default_factory=list)  # by sample (flat index): (draw, primitive) of what is left

    @property
    def visible_pairs(self) -> int:
        """Pixels and primitives with at least one sample in which something of the primitive is left."""
        samples = self.depth.shape[2]
        return sum(
            len({pair for s in range(samples) for pair in self.seen[pixel * samples + s]})
            for pixel in range(self.depth.shape[0] * self.depth.shape[1])
        )


def holes(x: np.ndarray, y: np.ndarray, number: int) -> np.ndarray:
    return (x * 7 + y * 5 + number) % 3 == 0


def run(draws: list[Draw], side: int, samples: int, clear: dict[str, Any]) -> Result:
    """`clear`: color (4,), code (4,), depth, stencil."""
    shape = (side, side, samples)
    out = Result(
        np.broadcast_to(np.array(clear["color"], np.float32), (*shape, 4)).copy(),
        np.broadcast_to(np.array(clear["code"], np.int64), (*shape, 4)).copy(),
        np.full(shape, clear["depth"], np.float32),
        np.full(shape, clear["stencil"], np.int64),
        covered=np.zeros(shape, int),
    )
    assert out.covered is not None
    left: list[dict[tuple[int, int], list[bool]]] = [{} for _ in range(side * side * samples)]
    y, x = np.mgrid[:side, :side]

    def tests(kind: Kind, coverage: np.ndarray, depth: np.ndarray) -> np.ndarray:
        alive = coverage
        if kind.stencil is not None:
            face = kind.stencil
            fine = COMPARE[face.compare](face.reference & face.compare_mask, out.stencil & face.compare_mask)
            failed = coverage & ~fine
            alive = coverage & fine
        fine = np.ones(shape, bool) if kind.compare is None else COMPARE[kind.compare](depth, out.depth)
        passed = alive & fine
        if kind.stencil is not None:
            for where, op in ((failed, face.fail), (alive & ~fine, face.depth_fail), (passed, face.passes)):
                new = (out.stencil & ~face.write_mask) | (STENCIL[op](out.stencil, face.reference) & face.write_mask)
                out.stencil[where] = new[where]
        if kind.compare is not None and kind.depth_write:
            out.depth[passed] = depth[passed]
        return passed

    for number_of_draw, draw in enumerate(draws):
        kind = draw.kind
        total = 0
        for primitive, (corners, z, number) in enumerate(
            zip(draw.corners, draw.depth, draw.numbers.tolist(), strict=True)
        ):
            coverage = covered(snap(corners), side, side, samples)
            out.covered += coverage
            depth = np.full(shape, z, np.float32)
            if kind.own_depth and not kind.early:
                depth = np.broadcast_to(((x * 3 + y * 5 + number * 7) % 16 / 16).astype(np.float32)[..., None], shape)
            killed = np.zeros(shape, bool)
            if kind.holes:
                killed |= holes(x, y, number)[..., None]
            if kind.own_mask:
                for s in range(samples):
                    killed[..., s] |= (number * 5 + x + y) >> s & 1 == 0
            if kind.alpha_to_coverage:
                kept = int(np.floor(float(color0(number)[3]) * samples + 0.5))  # which samples is the implementation's: the first
                killed |= np.arange(samples) >= kept
            discarded = holes(x, y, number) if kind.holes else np.zeros((side, side), bool)
            if kind.early:
                passed = tests(kind, coverage, depth)
                ran = passed.any(axis=2) & ~discarded
                total += int(passed.sum())  # samples are counted early too
                passed = passed & ~killed
            else:
                ran = coverage.any(axis=2) & ~discarded
                passed = tests(kind, coverage & ~killed, depth)
                total += int(passed.sum())
            if kind.counts:
                out.counts[number] = out.counts.get(number, 0) + int(ran.sum())
            if kind.stores:
                out.stored |= {(number, int(px), int(py)) for py, px in np.argwhere(ran)}
            if not kind.shader:
                continue
            source0 = np.broadcast_to(color0(number), (*shape, 4))
            if kind.reads:
                source0 = out.color[:, :, :1] * np.float32(0.5) + source0 * np.float32(0.5)
                source0 = np.broadcast_to(source0, (*shape, 4))
            if kind.blend:
                alpha = source0[..., 3:]
                source0 = source0 * alpha + out.color * (1 - alpha)
            source1 = np.broadcast_to(color1(number), (*shape, 4))
            if kind.blend:
                source1 = np.minimum(source1 + out.code, 255)
            for target, source, mask in ((out.color, source0, kind.masks[0]), (out.code, source1, kind.masks[1])):
                for c, letter in enumerate("rgba"):
                    if letter in mask:
                        target[..., c][passed] = source[..., c][passed]
            writes = [bool(m) for m in kind.masks]
            for at in np.flatnonzero(passed):
                those = left[at]
                for pair in list(those):
                    those[pair] = [old and not new for old, new in zip(those[pair], kind.replaced, strict=True)]
                    if not any(those[pair]):
                        del those[pair]
                those[(number_of_draw, primitive)] = writes
        out.passed.append(total)
    out.seen = [list(those) for those in left]
    return out
