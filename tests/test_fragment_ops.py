"""Depth, stencil and blending of random stacks of rectangles equal the oracle's, pixel by pixel, for every lane count and with MSAA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.fragment_ops import (
    COMPARE,
    STENCIL_OPS,
    Blend,
    DepthStencil,
    StencilFace,
    blend_unorm8,
    depth_stencil,
)

import tilegpu as tg

SIZE = 16
CLEAR = (0.25, 0.5, 0.75, 1.0)
CLEAR_STENCIL = 3

VERT = """#version 450
layout(push_constant) uniform PC { vec4 rect; vec4 color; float z; } pc;
void main() {
  vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
  gl_Position = vec4(mix(pc.rect.xy, pc.rect.zw, corner), pc.z, 1.0);
}"""
FRAG = """#version 450
layout(push_constant) uniform PC { vec4 rect; vec4 color; float z; } pc;
layout(location = 0) out vec4 o_color;
void main() { o_color = pc.color; }"""
DISCARD_FRAG = FRAG.replace(
    "o_color = pc.color;", "if (((int(gl_FragCoord.x) + int(gl_FragCoord.y)) & 1) == 1) discard; o_color = pc.color;"
)
DEPTH_FRAG = FRAG.replace("o_color = pc.color;", "gl_FragDepth = pc.z; o_color = pc.color;")
SHADERS = {"plain": FRAG, "discard": DISCARD_FRAG, "depth": DEPTH_FRAG}


@dataclass(frozen=True)
class Rectangle:
    x0: int
    y0: int
    x1: int
    y1: int
    z: float
    color: tuple[float, float, float, float]
    shader: str
    blend: Blend
    state: DepthStencil


FACTORS = [
    "zero",
    "one",
    "src_color",
    "one_minus_src_color",
    "dst_color",
    "one_minus_dst_color",
    "src_alpha",
    "one_minus_src_alpha",
    "dst_alpha",
    "one_minus_dst_alpha",
    "constant_color",
    "one_minus_constant_color",
    "constant_alpha",
    "one_minus_constant_alpha",
    "src_alpha_saturate",
]
OPS = ["add", "subtract", "reverse_subtract", "min", "max"]

eighth = st.integers(0, 8).map(lambda v: v / 8)
# Few different states, so that few epilogues are compiled; every factor and operation occurs.
BLENDS = [Blend(), Blend(write="rb"), Blend(write="ga")] + [
    Blend(
        True,
        FACTORS[i],
        FACTORS[(i * 4 + 3) % 15],
        OPS[i % 5],
        FACTORS[(i * 7 + 1) % 15],
        FACTORS[(i * 2 + 5) % 15],
        OPS[(i + i // 5) % 5],
        "rgba" if i % 3 else "rga",
        (0.5, 0.25, 1.0, 0.75),
    )
    for i in range(15)
]
stencil_faces = st.builds(
    StencilFace,
    *[st.sampled_from(sorted(STENCIL_OPS))] * 3,
    st.sampled_from(sorted(COMPARE)),
    st.sampled_from([255, 15, 3]),
    st.sampled_from([255, 15, 0]),
    st.integers(0, 5),
)
states = st.builds(
    DepthStencil, st.booleans(), st.booleans(), st.sampled_from(sorted(COMPARE)), st.booleans(), stencil_faces
)


@st.composite
def rectangles(draw: st.DrawFn) -> Rectangle:
    x = sorted(draw(st.lists(st.integers(0, SIZE), min_size=2, max_size=2)))
    y = sorted(draw(st.lists(st.integers(0, SIZE), min_size=2, max_size=2)))
    color = draw(st.tuples(eighth, eighth, eighth, eighth))
    return Rectangle(
        x[0],
        y[0],
        x[1],
        y[1],
        draw(eighth),
        color,
        draw(st.sampled_from(sorted(SHADERS))),
        draw(st.sampled_from(BLENDS)),
        draw(states),
    )


def expected(stack: list[Rectangle]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    color = np.empty((SIZE, SIZE, 4), np.uint8)
    color[:] = [round(c * 255 + 1e-9) if c != 0.5 else 128 for c in CLEAR]
    depth = np.full((SIZE, SIZE), 0.5, np.float32)
    stencil = np.full((SIZE, SIZE), CLEAR_STENCIL, np.uint8)
    for r in stack:
        for y in range(r.y0, r.y1):
            for x in range(r.x0, r.x1):
                if r.shader == "discard" and (x + y) & 1:
                    continue
                passes, new_depth, new_stencil = depth_stencil(r.state, r.z, float(depth[y, x]), int(stencil[y, x]))
                depth[y, x], stencil[y, x] = new_depth, new_stencil
                if passes:
                    color[y, x] = blend_unorm8(r.blend, r.color, color[y, x])
    return color, depth, stencil


_pipelines: dict[object, tg.Pipeline] = {}


def pipeline(device: tg.Device, r: Rectangle, samples: int, depth_format: str) -> tg.Pipeline:
    key = (id(device), r.shader, r.blend, r.state, samples, depth_format)
    if key not in _pipelines:
        f, b = r.state.face, r.blend
        face = {
            "fail": f.fail,
            "pass": f.passes,
            "depth_fail": f.depth_fail,
            "compare": f.compare,
            "compare_mask": f.compare_mask,
            "write_mask": f.write_mask,
            "reference": f.reference,
        }
        blend = (
            {
                "src_color": b.src_color,
                "dst_color": b.dst_color,
                "color_op": b.color_op,
                "src_alpha": b.src_alpha,
                "dst_alpha": b.dst_alpha,
                "alpha_op": b.alpha_op,
            }
            if b.enable
            else None
        )
        _pipelines[key] = device.pipeline(
            VERT,
            SHADERS[r.shader],
            color=["r8g8b8a8_unorm"],
            depth=depth_format,
            stencil=depth_format,
            samples=samples,
            topology="triangle_strip",
            depth_test=r.state.depth_test,
            depth_write=r.state.depth_write,
            depth_compare=r.state.depth_compare,
            stencil_test=r.state.stencil_test,
            stencil_front=face,
            stencil_back=face,
            blend=blend,
            blend_constants=b.constants,
            write_mask=b.write,
        )
    return _pipelines[key]


def render(
    device: tg.Device, stack: list[Rectangle], samples: int, depth_format: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    color = device.image((SIZE, SIZE), "r8g8b8a8_unorm", samples=samples)
    zs = device.image((SIZE, SIZE), depth_format, samples=samples)
    with device.render_pass(
        color=[tg.Attachment(color, clear=CLEAR)],
        depth=tg.Attachment(zs, clear=0.5),
        stencil=tg.Attachment(zs, clear=CLEAR_STENCIL),
    ) as rp:
        for r in stack:
            rect = [v / (SIZE / 2) - 1 for v in (r.x0, r.y0, r.x1, r.y1)]
            rp.draw(
                pipeline(device, r, samples, depth_format), count=4, push={"rect": rect, "color": r.color, "z": r.z}
            )
    return color.numpy(), zs.numpy(aspect="depth"), zs.numpy(aspect="stencil")


@pytest.fixture(scope="module", params=[4, 8, 16])
def device(request: pytest.FixtureRequest) -> tg.Device:
    return tg.Device(lanes=request.param)


@pytest.mark.parametrize("samples", [1, 4])
@settings(max_examples=25, deadline=None)
@given(stack=st.lists(rectangles(), min_size=1, max_size=5))
def test_random_stacks(device: tg.Device, samples: int, stack: list[Rectangle]) -> None:
    color, depth, stencil = render(device, stack, samples, "d32_sfloat_s8_uint")
    want_color, want_depth, want_stencil = expected(stack)
    shape = (SIZE, SIZE, samples)
    # The rectangles end at pixel borders: all samples of a pixel are alike.
    assert (stencil.reshape(shape) == want_stencil[..., None]).all()
    assert (depth.reshape(shape) == want_depth[..., None]).all()
    error = np.abs(color.reshape(*shape, 4).astype(int) - want_color[:, :, None, :].astype(int))
    assert error.max() <= len(stack), f"colour differs by {error.max()}"


@pytest.mark.parametrize("depth_format", ["d24_unorm_s8_uint", "d32_sfloat_s8_uint"])
def test_equal_passes_after_writing_the_same_depth(depth_format: str) -> None:
    """Quantised depth equals itself: the second pass over the same geometry with EQUAL hits every pixel."""
    device = tg.Device()
    first = Rectangle(0, 0, SIZE, SIZE, 0.375, (1, 0, 0, 1), "plain", Blend(), DepthStencil(True, True, "always"))
    second = Rectangle(0, 0, SIZE, SIZE, 0.375, (0, 1, 0, 1), "plain", Blend(), DepthStencil(True, False, "equal"))
    color, _, _ = render(device, [first, second], 1, depth_format)
    assert (color == (0, 255, 0, 255)).all()
