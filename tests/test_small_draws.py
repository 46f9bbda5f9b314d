"""Draws of a few vertices share a block of varyings (process_piece in cpp/src/geometry/process.cpp). A board of rectangles, each its own
draw of one of two pipelines, some of them outside, culled or cut by the near plane, against the picture that NumPy paints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilegpu as tg

CELL_PX, COLUMNS, ROWS = 8, 13, 9
SIZE = (CELL_PX * COLUMNS, CELL_PX * ROWS)
VERT = """#version 450
layout(push_constant) uniform P { vec4 rect; vec4 color; vec2 z; };
layout(location = 0) out vec4 v_color;
#ifdef MORE
layout(location = 1) out vec3 v_more;
#endif
void main() {
  vec2 corner = vec2(gl_VertexIndex % 3 == 1 || gl_VertexIndex == 3, gl_VertexIndex == 2 || gl_VertexIndex > 3);
  gl_Position = vec4(mix(rect.xy, rect.zw, corner), mix(z.x, z.y, corner.x), 1);
  v_color = vec4(color.rgb, corner.x);
#ifdef MORE
  v_color.rg *= 0.5;
  v_more = vec3(color.rg * 0.5, 0);
#endif
}"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color;
#ifdef MORE
layout(location = 1) in vec3 v_more;
#endif
layout(location = 0) out vec4 o_color;
void main() {
  o_color = v_color;
#ifdef MORE
  o_color.rgb += v_more;
#endif
}"""
KINDS = ("plain", "two draws", "indexed", "outside", "culled", "cut")


@pytest.fixture(scope="module")
def devices() -> list[tuple[tg.Device, list[tg.Pipeline]]]:
    found = []
    for lanes, threads in ((4, 1), (8, 2), (16, 1), (16, 2)):
        device = tg.Device(lanes=lanes, threads=threads)
        pipes = []
        for define in ("", "#define MORE\n"):
            vert, frag = (s.replace("450\n", f"450\n{define}", 1) for s in (VERT, FRAG))
            pipes.append(device.pipeline(vert, frag, color=["r8g8b8a8_unorm"], cull="back", front_face="clockwise"))
        found.append((device, pipes))
    return found


def paint(device: tg.Device, pipes: list[tg.Pipeline], cells: list[tuple[str, int, tuple[int, ...]]]) -> np.ndarray:
    image = device.image(SIZE, "r8g8b8a8_unorm")
    with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
        for k, (kind, pipe, color) in enumerate(cells):
            x, y = k % COLUMNS, k // COLUMNS
            rect = [2 * x / COLUMNS - 1, 2 * y / ROWS - 1, 2 * (x + 1) / COLUMNS - 1, 2 * (y + 1) / ROWS - 1]
            if kind == "outside":
                rect = [rect[0] + 4, rect[1], rect[2] + 4, rect[3]]
            if kind == "culled":
                rect = [rect[2], rect[1], rect[0], rect[3]]
            push: Any = {
                "rect": rect,
                "color": [c / 255 for c in color] + [1],
                "z": (-0.5, 0.5) if kind == "cut" else (0.5, 0.5),
            }
            if kind == "two draws":
                rp.draw(pipes[pipe], push=push, first=0, count=3)
                rp.draw(pipes[pipe], push=push, first=3, count=3)
            elif kind == "indexed":
                rp.draw(pipes[pipe], push=push, indices=np.array([0, 1, 2, 2, 1, 4], np.uint16))
            else:
                rp.draw(pipes[pipe], push=push, count=6)
    return image.numpy()


def expected(cells: list[tuple[str, int, tuple[int, ...]]]) -> np.ndarray:
    picture = np.zeros((SIZE[1], SIZE[0], 4), np.uint8)
    ramp = np.rint((np.arange(CELL_PX) + 0.5) / CELL_PX * 255).astype(np.uint8)
    for k, (kind, _, color) in enumerate(cells):
        x, y = k % COLUMNS * CELL_PX, k // COLUMNS * CELL_PX
        first = CELL_PX // 2 if kind == "cut" else 0
        if kind in ("outside", "culled"):
            continue
        picture[y : y + CELL_PX, x + first : x + CELL_PX, :3] = color
        picture[y : y + CELL_PX, x + first : x + CELL_PX, 3] = ramp[first:]
    return picture


@given(st.integers(0, 1 << 30))
@settings(max_examples=12, deadline=None)
def test_board(devices: list[tuple[tg.Device, list[tg.Pipeline]]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    often = rng.integers(1, 20)  # draws between two changes of pipeline, on average
    pipe, cells = 0, []
    for _ in range(COLUMNS * ROWS):
        pipe ^= int(rng.random() * often < 1)
        cells.append((str(rng.choice(KINDS)), pipe, tuple(int(c) for c in rng.integers(0, 256, 3))))
    for device, pipes in devices:
        np.testing.assert_array_equal(paint(device, pipes, cells), expected(cells))
