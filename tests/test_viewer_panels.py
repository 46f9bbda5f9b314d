"""What lies over the window's picture: boxes beside each other, cut with a word where there is no room."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tilegpu.viewer import mapping, panels

_COST = """640 x 480, 1x, host, 12.3 ms, 60.1 a second
10 passes, 56 draws, 90,855 primitives, 9.8 MiB between tiles and images
fragments: 2,551,625 rasterized, 91,409 killed, 1,233,733 shaded
1+ visibility buffer  2+ hierarchical z  3- pre pass  4- forward pixel kill  5- deferred vertex shading  6- lrz  7- depth filter"""
_PIXEL = """pass 10 of 10: compose and interface
pass 'compose and interface', pixel (320, 288): 3 fragments
draw 0 primitive 0, depth 0: written: (0.0999, 0.2016, 0.3005, 1) -> (0.3372, 0.4342, 0.5333, 1)
draw 1 primitive 17, depth 0.25: killed by the early test
draw 2 primitive 3, depth 0.125: written: (0.3372, 0.4342, 0.5333, 1) -> (0.1, 0.2, 0.3, 1)
tile (320, 256), 64 x 64 px: fragments 4,096 rasterized, 4,096 shaded
moved: color0 store 16.0 KiB"""


@pytest.mark.parametrize("size", [(640, 480), (480, 300), (320, 240), (200, 150), (1280, 720)])
@pytest.mark.parametrize("pixel", [None, (150, 120)])
def test_nothing_lies_over_something_else(size: mapping.Size, pixel: Any) -> None:
    """Costs, the pixel's box, the legend, messages, errors: beside each other, within the window, and said where they are cut."""
    strip = (bytes(3 * 380 * 75), (380, 75))
    choices = ("", "wrong " * 40), ("", "heatmap: shaded"), ("", _COST), ("", _PIXEL), (None, strip)
    for error, message, cost, probe, legend in itertools.product(*choices):
        overlay = panels.Overlay(size, 1.0, (), message, "drawing, 2 s", cost, probe, error, legend, None, pixel)
        boxes = panels.arrange(overlay).boxes
        where = [(box.kind, box.x, box.y, box.width, box.height) for box in boxes]
        assert not any(panels.overlap(a, b) for a, b in itertools.combinations(boxes, 2)), where
        assert all(b.x >= 0 and b.y >= 0 and b.x + b.width <= size[0] and b.y + b.height <= size[1] for b in boxes), where
        kinds = [box.kind for box in boxes]
        if size[0] >= 480 and not error:
            given = ("message", message), ("cost", cost), ("probe", probe), ("strip", legend)
            assert {kind for kind, text in given if text} <= set(kinds), where
            text = "\n".join(line for box in boxes if box.kind == "probe" for line in box.lines)
            assert text.replace("\n", " ").endswith("moved: color0 store 16.0 KiB") or not probe
            assert size[0] == 480 or not cost or "depth filter" in " ".join(line for box in boxes for line in box.lines)
        for box in boxes:
            text = " ".join(box.lines)
            assert box.kind != "cost" or "depth filter" in text or "larger window" in text or size[0] < 320


def test_the_pixel_stays_free_and_the_box_where_it_is() -> None:
    """A message that comes and goes doesn't move it."""
    for pixel in ((320, 60), (320, 440)):
        overlays = [panels.Overlay((640, 480), message=m, probe=_PIXEL, pixel=pixel) for m in ("", "the pixel below the mouse")]
        first, second = ([box for box in panels.arrange(overlay).boxes if box.kind == "probe"] for overlay in overlays)
        assert first == second and not first[0].holds(pixel)
