"""Samples that alpha and gl_SampleMask leave of a pixel: the first round(alpha * samples), halves up, of those in the mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (37, 22)
FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1); }"""
FRAG = """#version 450
layout(set = 0, binding = 0) uniform sampler2D wanted;  layout(location = 0) out vec4 o_color;
void main() {
  vec4 w = texelFetch(wanted, ivec2(gl_FragCoord.xy), 0);
  o_color = vec4(1, 1, 1, w.r);
#ifdef MASK
  gl_SampleMask[0] = int(w.g);
#endif
}"""
ALPHAS = np.array(
    [0.0, -0.0, -1.0, np.nan, np.inf, -np.inf, 1.0, 2.0, 1e-30, 0.125, 0.25, 0.375, 0.5, 0.75, 0.875, 0.03125], "f4"
)


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("covers", [False, True])
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_samples_that_are_left(samples: int, masked: bool, covers: bool, lanes: int) -> None:
    rng = np.random.default_rng(samples)
    wanted = np.zeros((SIZE[1], SIZE[0], 4), "f4")
    some = rng.random(wanted.shape[:2]) < 0.5
    wanted[..., 0] = np.where(some, rng.choice(ALPHAS, some.shape), rng.uniform(-0.2, 1.2, some.shape))
    wanted[..., 1] = rng.integers(0, 1 << samples, some.shape)
    device = tg.Device(lanes=lanes, threads=1)
    color, resolved = (device.image(SIZE, "r32g32b32a32_sfloat", samples=n) for n in (samples, 1))
    state: dict[str, Any] = {"alpha_to_coverage": True} if covers else {}
    pipe = device.pipeline(
        FULL,
        FRAG,
        defines={"MASK": 1} if masked else {},
        color=[color.format],
        samples=samples,
        write_mask="rgb",
        **state,
    )
    texture = device.texture(wanted, "r32g32b32a32_sfloat", filter="nearest")
    attachment = tg.Attachment(color, load_op="clear", clear=(0, 0, 0, 0), store_op="dont_care", resolve=resolved)
    with device.render_pass(color=[attachment]) as rp:
        rp.draw(pipe, count=3, bind={"wanted": texture})
    alpha = np.where(wanted[..., 0] > 0, np.minimum(wanted[..., 0], np.float32(1)), np.float32(0))
    first = (
        np.floor(alpha * np.float32(samples) + np.float32(0.5)).astype(int) if covers else np.full(some.shape, samples)
    )
    left = (1 << first) - 1
    if masked:
        left &= wanted[..., 1].astype(int)
    counts = sum((left >> s & 1) for s in range(samples))
    np.testing.assert_array_equal(resolved.numpy()[..., 0] * samples, counts)
