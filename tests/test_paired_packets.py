"""Shaders with loops that nobody can count go over two packets at once where blocks are whole: the same bits as packet by packet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tilegpu as tg

VERTEX = """#version 450
layout(location = 0) out vec2 uv;
void main() {
  uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2;
  gl_Position = vec4(uv * 2 - 1, 0, 1);
}"""

FRACTAL = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 o;
layout(location = 1) out ivec4 rounds;
void main() {
  DISCARD
  vec2 c = vec2(-0.7451, 0.1131) + (uv - 0.5) * 0.02, z = vec2(0);
  int n = 0, odd = 0;
  for (; n < 150; n++) {
    z = vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
    if (int(z.x * 7.5) % 5 == 3) continue;
    odd += int(z.y * 3e9) & 1;
    if (dot(z, z) > 16) break;
  }
  vec2 across = vec2(dFdx(z.x), dFdy(float(n)));
  o = vec4(z * 0.1, across.x, sin(float(n)));
  rounds = ivec4(n, odd, int(gl_FragCoord.x), int(across.y));
}"""


# Nothing in it asks neighbours, so that what only the loop reads is stored without masks; NEIGHBOURS has something that does.
ALONE = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 o;
layout(location = 1) out ivec4 rounds;
void main() {
  vec2 c = vec2(-0.7451, 0.1131) + (uv - 0.5) * 0.02, z = vec2(0), kept = vec2(0);
  float size = 0, before = 3;
  int n = 0;
  OUTER for (; n < 150; n++) {
    z = vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
    CONTINUE
    if (z.x > 0.3) before = z.y;
    size = dot(z, z) + before * 1e-3;
    kept = z;
    if (size > 16) break;
    z.x += before * 1e-4;
    before *= 0.99;
  }
  o = vec4(kept * 0.1, size, 1);
  rounds = ivec4(n, int(gl_FragCoord.x), 0, 0);
  NEIGHBOURS
}"""


def drawn(size: tuple[int, int], fragment: str, lanes: int, jit_target: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The colours, and what the loops counted."""
    dev = tg.Device(threads=1, lanes=lanes, jit_target=jit_target)
    targets = [dev.image(size, f) for f in ("r32g32b32a32_sfloat", "r32g32b32a32_sint")]
    pipeline = dev.pipeline(VERTEX, fragment, color=["r32g32b32a32_sfloat", "r32g32b32a32_sint"])
    for _ in range(2):  # functions over whole blocks are made when a pass first wanted them
        with dev.render_pass(color=[tg.Attachment(t, clear=(0, 0, 0, 0)) for t in targets]) as rp:
            rp.draw(pipeline, count=3)
        dev.wait_compiles()
    assert ("shaded by blocks" in str(rp.explain())) == ("discard;" not in fragment)
    return targets[0].numpy(), targets[1].numpy()


@pytest.mark.parametrize("size", [(64, 32), (36, 20), (45, 27), (4, 4), (12, 8)])
@pytest.mark.parametrize(("lanes", "target"), [(16, ""), (8, ""), (4, ""), (8, "x86-64-v3")])
def test_pairs_give_the_bits_of_packets(size: tuple[int, int], lanes: int, target: str) -> None:
    one_by_one = drawn(size, FRACTAL.replace("DISCARD", "if (uv.x > 1e9) discard;"), lanes=4, jit_target="x86-64-v3")
    in_pairs = drawn(size, FRACTAL.replace("DISCARD", ""), lanes=lanes, jit_target=target)
    assert np.array_equal(in_pairs[0].view(np.uint32), one_by_one[0].view(np.uint32))
    assert np.array_equal(in_pairs[1], one_by_one[1])
    assert size == (4, 4) or len(np.unique(in_pairs[1][..., 0])) > 3


@pytest.mark.parametrize("goes_on", ["", "if (int(z.x * 7.5) % 5 == 3) continue;"])
@pytest.mark.parametrize("outer", ["", "for (; size < 1e3 && n < 100; size += 300, n -= 9)"])
@pytest.mark.parametrize(("lanes", "target"), [(16, ""), (8, "x86-64-v3"), (4, "")])
def test_stores_without_masks_reach_nobody_who_left(lanes: int, target: str, outer: str, goes_on: str) -> None:
    shader = ALONE.replace("OUTER", outer).replace("CONTINUE", goes_on)
    asking = shader.replace("NEIGHBOURS", "if (uv.x > 1e9) o.x += dFdx(uv.y);")
    masked = drawn((45, 27), asking, lanes=4, jit_target="x86-64-v3")
    alone = drawn((45, 27), shader.replace("NEIGHBOURS", ""), lanes=lanes, jit_target=target)
    assert np.array_equal(alone[0].view(np.uint32), masked[0].view(np.uint32))
    assert np.array_equal(alone[1], masked[1])
    assert len(np.unique(alone[1][..., 0])) > 3


def test_a_loop_without_end_is_named() -> None:
    endless = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 o;
void main() {
  float x = uv.x;
  while (x < 2) x = x * 0.5 + 0.01;
  o = vec4(x);
}"""
    dev = tg.Device(threads=1, loop_budget=1000)
    image = dev.image((32, 16), "r8g8b8a8_unorm")
    pipeline = dev.pipeline(VERTEX, endless, color=["r8g8b8a8_unorm"], label="endless")
    for _ in range(2):
        with pytest.raises(tg.Error, match="loop"), dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipeline, count=3)
        dev.wait_compiles()
