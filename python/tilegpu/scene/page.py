"""Flat drawings: rounded panels and lines of text in the pixels of a design, scaled to the picture. Interfaces and charts of the samples.

In: rectangles, colours, texts. Out: draws with the samples' shaders ``panel`` and ``text``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilegpu.fixed import Spelt
from tilegpu.scene import glyphs
from tilegpu.scene.description import Draw, State
from tilegpu.scene.mesh import quad_indices
from tilegpu.scene.programs import program

FLAT = State(depth_test=False, depth_write=False, blend="alpha")
STRIP = State(depth_test=False, depth_write=False, blend="alpha", topology="triangle_strip")
TEXT_VERTEX = np.dtype([("position", "<f4", 2), ("uv", "<f4", 2), ("color", "u1", 4)])
Rect = tuple[float, float, float, float]
Color = tuple[float, ...]
#: (text, x, y, height of capitals in pixels, colour of four bytes).
Text = tuple[str, float, float, float, tuple[int, int, int, int]]


def text_draw(
    parts: Sequence[Text], size_px: Any, label: str, scissor: tuple[int, int, int, int] | None = None
) -> Draw:
    """One draw of any number of texts in an image of ``size_px`` pixels, a (2,) float32 array.

    Raises ``ValueError`` where none has a letter."""
    vertices, count = [], 0
    for text, x, y, height_px, color in parts:
        place, cell = glyphs.quads(text, x, y, height_px)
        quad = np.zeros((len(place), 4), TEXT_VERTEX)
        for k in range(4):  # corners: left top, right top, left bottom, right bottom
            quad["position"][:, k, 0], quad["position"][:, k, 1] = place[:, 2 * (k & 1)], place[:, 1 + 2 * (k >> 1)]
            quad["uv"][:, k, 0], quad["uv"][:, k, 1] = cell[:, 2 * (k & 1)], cell[:, 1 + 2 * (k >> 1)]
        quad["color"] = color
        vertices.append(quad.reshape(-1))
        count += len(place)
    if not count:
        raise ValueError(f"draw '{label}': its texts have no letter that there is; letters are {glyphs.ORDER}")
    return Draw(
        program("text.vert", "text.frag"),
        np.concatenate(vertices),
        quad_indices(count),
        push={"size_px": size_px},
        bind={"letters": glyphs.atlas()},
        state=FLAT,
        label=label,
        scissor=scissor,
    )


class Page(Spelt):
    """Draws in the pixels of a design of fixed size, scaled to the picture; ``draws`` is what there is so far, in order."""

    def __init__(self, size: tuple[int, int], design: tuple[int, int]) -> None:
        self.size, self.scale = size, (size[0] / design[0], size[1] / design[1])
        self.size_px = np.array(design, "f4")
        self.draws: list[Draw] = []

    def clip(self, rect: Rect | None) -> tuple[int, int, int, int] | None:
        """Pixels of the picture that a rectangle of the design touches: a scissor."""
        if rect is None:
            return None
        ends = [
            (math.floor(rect[k] * self.scale[k]), math.ceil((rect[k] + rect[k + 2]) * self.scale[k])) for k in range(2)
        ]
        (x, right), (y, bottom) = (
            (max(0, low), min(limit, high)) for (low, high), limit in zip(ends, self.size, strict=True)
        )
        return x, y, max(0, right - x), max(0, bottom - y)

    def panel(
        self,
        rect: Rect,
        color: Color,
        clip: Rect | None = None,
        radius: float = 0.0,
        border: Color = (0, 0, 0, 0),
        width: float = 0.0,
        soft: float = 0.0,
        low: Color | None = None,
        label: str = "panel",
    ) -> None:
        """A rounded rectangle (x, y, width, height) in pixels, from ``color`` above to ``low`` below, with a border ``width`` wide, or with
        an edge that is ``soft`` pixels wide (a shadow). ``clip``: only within this rectangle."""
        push = {
            "rect_px": np.array(rect, "f4"),
            "color": np.array(color, "f4"),
            "low": np.array(low or color, "f4"),
            "border": np.array(border, "f4"),
            "shape_px": np.array([radius, width, soft, 0], "f4"),
            "size_px": self.size_px,
        }
        what = program("panel.vert", "panel.frag")
        self.draws.append(Draw(what, count=4, push=push, state=STRIP, label=label, scissor=self.clip(clip)))

    def text(self, parts: Sequence[Text], label: str, clip: Rect | None = None) -> None:
        """Lines of text, as one draw."""
        self.draws.append(text_draw(parts, self.size_px, label, self.clip(clip)))
