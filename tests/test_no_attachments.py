"""Passes without an attachment, whose shaders write buffers and images alone: the area says how large they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
COUNT = """#version 450
layout(binding = 0) buffer B { uint n[]; };
void main() { atomicAdd(n[uint(gl_FragCoord.y) * 32 + uint(gl_FragCoord.x)], 1u); }"""


def _counted(dev: tg.Device, area: tuple[int, int, int, int], samples: int = 1, **options: Any) -> tuple[tg.RenderPass, Any]:
    pipe = dev.pipeline(FULL, COUNT, color=[], samples=samples)
    counts = dev.buffer(np.zeros((32, 32), np.uint32))
    with dev.render_pass(area=area, label="histogram", **options) as rp:
        rp.draw(pipe, count=3, bind={"B": counts})
    return rp, counts.numpy().reshape(32, 32)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("profile", ["host", "immortalis-g925", "adreno-a740"])
@pytest.mark.parametrize("area", [(0, 0, 20, 10), (5, 3, 8, 9)])
def test_shaders_write_buffers(profile: str, samples: int, area: tuple[int, int, int, int]) -> None:
    x, y, width, height = area
    wanted = np.zeros((32, 32), np.uint32)
    wanted[y : y + height, x : x + width] = 1
    for threads, lanes in ((1, 4), (2, 8)):
        rp, counts = _counted(tg.Device(profile, threads=threads, lanes=lanes), area, samples)
        assert np.array_equal(counts, wanted)
    assert (rp.layout["width_px"], rp.layout["height_px"], rp.layout["samples"]) == (x + width, y + height, samples)
    assert "histogram" in str(rp.explain()) + str(rp.stats) and isinstance(rp.lint(), list)


def test_all_that_is_told_of_a_pass(tmp_path: Path) -> None:
    dev = tg.Device("immortalis-g925")
    with dev.frame("f") as frame:
        rp, _ = _counted(dev, (0, 0, 20, 10), trace="fragments")
    assert rp.heatmap("shaded").shape == (10, 20) and rp.heatmap("shaded").sum() == 200
    assert rp.costs() is not None and rp._repr_html_() and str(frame) and frame.lint() is not None
    with rp_of_one_pixel(dev) as traced:
        pass
    assert traced.why(3, 2).fragments == ()


def rp_of_one_pixel(dev: tg.Device) -> tg.RenderPass:
    return dev.render_pass(area=(0, 0, 8, 8), trace=[(3, 2)])


def test_the_area_is_needed() -> None:
    dev = tg.Device()
    said = r"has no attachment; give color=.*or for shaders that write buffers and images alone area=\(0, 0, width, height\)"
    with pytest.raises(tg.ValidationError, match=said), dev.render_pass():
        pass
    with pytest.raises(tg.ValidationError, match="has no target; give color= or depth= formats"):
        tg.FramebufferLayout(size=(4, 4))
