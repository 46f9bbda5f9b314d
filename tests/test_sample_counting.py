"""When samples are counted: with early tests before the shader and its coverage, always behind the sample mask
(VkPhysicalDeviceMaintenance5Properties); points without a size; swizzles of depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

WHOLE = "#version 450\nvoid main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.5, 1); }"
COLOR = "r8g8b8a8_unorm"


def counted(dev: tg.Device, body: str, early: bool, samples: int, **state: Any) -> int:
    tests = "layout(early_fragment_tests) in;" if early else ""
    frag = f"#version 450\n{tests}\nlayout(location = 0) out vec4 o;\nvoid main() {{ {body} o = vec4(1); }}"
    color, depth = dev.image((8, 8), COLOR, samples=samples), dev.image((8, 8), "d32_sfloat", samples=samples)
    pipe = dev.pipeline(WHOLE, frag, color=[COLOR], depth="d32_sfloat", samples=samples, depth_test=True, **state)
    attachments: dict[str, Any] = {"color": [tg.Attachment(color, clear=(0, 0, 0, 0))], "depth": tg.Attachment(depth, clear=1.0)}
    with dev.render_pass(**attachments) as rp, rp.query() as query:
        rp.draw(pipe, count=3)
    return query.samples


@pytest.mark.parametrize("hsr", ["off", "all"])
def test_early_tests_count_before_the_shader_and_behind_the_sample_mask(hsr: str) -> None:
    dev = tg.Device(hsr=hsr)
    assert counted(dev, "if (gl_FragCoord.x < 4) discard;", early=True, samples=1) == 64
    assert counted(dev, "if (gl_FragCoord.x < 4) discard;", early=False, samples=1) == 32
    assert counted(dev, "gl_SampleMask[0] = 1;", early=True, samples=4) == 256
    assert counted(dev, "gl_SampleMask[0] = 1;", early=False, samples=4) == 64
    for early in (True, False):
        assert counted(dev, "", early=early, samples=4, sample_mask=3) == 128


def test_points_without_a_size_are_one_pixel() -> None:
    dev = tg.Device()
    color = dev.image((8, 8), COLOR)
    vert = "#version 450\nvoid main() { gl_Position = vec4(0.1, 0.1, 0.5, 1); }"
    frag = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(dev.pipeline(vert, frag, color=[COLOR], topology="point_list"), count=1)
    assert np.argwhere(color.numpy()[..., 0]).tolist() == [[4, 4]]


@pytest.mark.parametrize(("swizzle", "want"), [("1r10", (1, 0.25, 1, 0)), ("rrr1", (0.25, 0.25, 0.25, 1)), ("0101", (0, 1, 0, 1))])
def test_swizzles_of_depth(swizzle: str, want: tuple[float, ...]) -> None:
    dev = tg.Device()
    depth = dev.image((4, 4), "d32_sfloat")
    with dev.render_pass(depth=tg.Attachment(depth, clear=0.25)):
        pass
    kernel = """#version 450
layout(local_size_x = 1) in;
layout(binding = 0) uniform sampler2D t; layout(binding = 1) buffer R { vec4 r; };
void main() { r = textureLod(t, vec2(0.5), 0); }"""
    result = dev.buffer(np.zeros(4, np.float32))
    dev.dispatch(dev.compute_pipeline(kernel), 1, bind={"t": (depth.view(swizzle=swizzle), dev.sampler(filter="nearest")), "R": result})
    assert tuple(result.numpy()) == want


@pytest.mark.parametrize("named", ["", "gl_SampleID;", "gl_SamplePosition;"])
def test_a_sample_that_is_in_the_interface_shades_each_one(named: str) -> None:
    """Vulkan, "Sample Shading": what the interface of the entry point has decides, whether anything reads it or not (glslang keeps the
    variable of such a statement, and nothing that loads it)."""
    dev = tg.Device(cache_dir="off")
    pipe = dev.pipeline(
        "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.5, 1.0); }",
        f"""#version 450
layout(location = 0) out vec4 o;
layout(set = 0, binding = 0) buffer Count {{ uint count; }};
void main() {{ {named} atomicAdd(count, 1u); o = vec4(1.0); }}""",
        color=["r8g8b8a8_unorm"],
        samples=4,
    )
    count = dev.buffer(np.zeros(1, np.uint32))
    with dev.render_pass(color=tg.Attachment(dev.image((4, 4), "r8g8b8a8_unorm", samples=4), clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, count=3, bind={"Count": count})
    assert count.numpy().view(np.uint32)[0] == (64 if named else 16)
