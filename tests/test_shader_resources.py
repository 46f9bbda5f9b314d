"""A texture and a sampler at one binding; what is unsupported is said to be so; depths of viewports."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FMT = "r32g32b32a32_sfloat"
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0, 1, 1); }"
HEAD = "#version 450\n#extension GL_EXT_samplerless_texture_functions : enable\nlayout(location=0) out vec4 o;\n"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off")


def drawn(dev: tg.Device, frag: str, **arguments: Any) -> np.ndarray:
    out = dev.image((8, 8), FMT)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(dev.pipeline(FULL, HEAD + frag, color=[FMT]), count=3, **arguments)
    return out.numpy()


def texture(dev: tg.Device, value: int) -> Any:
    return dev.texture(np.full((2, 2, 4), value, np.uint8))


@pytest.mark.parametrize("order", ["t; {s}", "s; {t}"])
def test_texture_and_sampler_at_one_binding(dev: tg.Device, order: str) -> None:
    t, s = "layout(binding=0) uniform texture2D t;", "layout(binding=0) uniform sampler s;"
    text = t + s if order.startswith("t") else s + t
    frag = text + "void main() { o = texture(sampler2D(t, s), vec2(0.5)); }"
    pipe = dev.pipeline(FULL, HEAD + frag, color=[FMT])
    assert [b.descriptor for b in pipe.interface.bindings.values()] == ["combined_image_sampler"]
    image = drawn(dev, frag, bind={"t": texture(dev, 51)})
    assert np.abs(image - 0.2).max() < 1e-6


def test_arrays_of_both_at_one_binding(dev: tg.Device) -> None:
    frag = """layout(binding=0) uniform texture2D t[3]; layout(binding=0) uniform sampler s[3];
void main() { int i = int(gl_FragCoord.x) % 3; o = vec4(textureLod(sampler2D(t[i], s[i]), vec2(0.5), 0.0).x, texelFetch(t[i], ivec2(0), 0).x, i, 0); }"""
    image = drawn(dev, frag, bind={"t": [texture(dev, 51 * k) for k in range(3)]})
    want = (np.arange(8) % 3) * 0.2
    assert np.abs(image[0, :, 0] - want).max() < 1e-6 and np.abs(image[0, :, 1] - want).max() < 1e-6


def test_a_buffer_and_a_texture_at_one_binding_stay_an_error(dev: tg.Device) -> None:
    frag = "layout(binding=0) uniform U { vec4 a; }; layout(binding=0) uniform sampler2D t; void main() { o = a + texture(t, vec2(0)); }"
    with pytest.raises(tg.Error, match="give them different bindings"):
        dev.pipeline(FULL, HEAD + frag, color=[FMT])


UNSUPPORTED = {
    "capability SampledBuffer": "layout(binding=0) uniform samplerBuffer b; void main() { o = texelFetch(b, 0); }",
    "textures of dimension 3D": "layout(binding=0) uniform sampler3D b; void main() { o = texture(b, vec3(0)); }",
    "OpImageWrite": "layout(binding=0, rgba8) writeonly uniform image2D b; void main() { imageStore(b, ivec2(0), vec4(0)); o = vec4(0); }",
    "capability GroupNonUniform": "void main() { o = vec4(subgroupAll(true)); }",
}


@pytest.mark.parametrize("what", UNSUPPORTED)
def test_unsupported_is_its_own_error(dev: tg.Device, what: str) -> None:
    head = HEAD.replace("450\n", "450\n#extension GL_KHR_shader_subgroup_vote : enable\n")
    with pytest.raises(tg.UnsupportedError, match=what) as caught:
        dev.pipeline(FULL, head + UNSUPPORTED[what], color=[FMT])
    assert caught.value.code == "VK_ERROR_FEATURE_NOT_PRESENT"


@pytest.mark.parametrize("depths", [(0, 2), (-0.5, 1), (1.0001, 0)])
def test_depths_of_a_viewport(dev: tg.Device, depths: tuple[float, float]) -> None:
    with pytest.raises(
        tg.ValidationError, match=r"each must be 0 to 1 \(tilegpu has no VK_EXT_depth_range_unrestricted\)"
    ):
        drawn(dev, "void main() { o = vec4(1); }", viewport=(0, 0, 8, 8, *depths))
    assert (drawn(dev, "void main() { o = vec4(gl_FragCoord.z); }", viewport=(0, 0, 8, 8, 0.25, 0.5)) == 0.5).all()
