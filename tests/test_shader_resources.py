"""A texture and a sampler at one binding; what is unsupported is said to be so; depths of viewports."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spirv
import tilegpu as tg
from tilegpu import _core

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


def test_unsupported_is_its_own_error(dev: tg.Device) -> None:
    quad = FULL.replace("450\n", "450\n#extension GL_KHR_shader_subgroup_quad : enable\n").replace(
        "void main() {", "void main() { if (subgroupQuadBroadcast(gl_VertexIndex, 0) < 0) return;"
    )
    assert "subgroupQuad" in quad
    message = "OpGroupNonUniformQuadBroadcast is supported in compute and fragment shaders only"
    with pytest.raises(tg.UnsupportedError, match=message) as caught:
        dev.pipeline(quad, HEAD + "void main() { o = vec4(1); }", color=[FMT])
    assert caught.value.code == "VK_ERROR_FEATURE_NOT_PRESENT"


@pytest.mark.parametrize("depths", [(0, 2), (-0.5, 1), (1.0001, 0)])
def test_depths_of_a_viewport(dev: tg.Device, depths: tuple[float, float]) -> None:
    with pytest.raises(
        tg.ValidationError, match=r"each must be 0 to 1 \(tilegpu has no VK_EXT_depth_range_unrestricted\)"
    ):
        drawn(dev, "void main() { o = vec4(1); }", viewport=(0, 0, 8, 8, *depths))
    assert (drawn(dev, "void main() { o = vec4(gl_FragCoord.z); }", viewport=(0, 0, 8, 8, 0.25, 0.5)) == 0.5).all()


ARRAY_AS_VALUE = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %out
OpExecutionMode %main OriginUpperLeft
OpName %t "t"
OpDecorate %out Location 0
OpDecorate %t DescriptorSet 0
OpDecorate %t Binding 0
%void = OpTypeVoid
%vf = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%c4 = OpConstant %uint 4
%half = OpConstant %float 0.5
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%mid = OpConstantComposite %v2 %half %half
%img = OpTypeImage %float 2D 0 0 0 1 Unknown
%si = OpTypeSampledImage %img
%arr = OpTypeArray %si %c4
%parr = OpTypePointer UniformConstant %arr
%t = OpVariable %parr UniformConstant
%pout = OpTypePointer Output %v4
%out = OpVariable %pout Output
%pickf = OpTypeFunction %v4 %arr
%pick = OpFunction %v4 None %pickf
%given = OpFunctionParameter %arr
%pe = OpLabel
%three = OpCompositeExtract %si %given 3
%p = OpImageSampleExplicitLod %v4 %three %mid Lod %half
OpReturnValue %p
OpFunctionEnd
%main = OpFunction %void None %vf
%entry = OpLabel
%all = OpLoad %arr %t
OpBranch %next
%next = OpLabel
%copy = OpCopyObject %arr %all
%one = OpCompositeExtract %si %copy 1
%bare = OpImage %img %one
%size = OpImageSampleImplicitLod %v4 %one %mid
%q = OpFunctionCall %v4 %pick %all
%x = OpCompositeExtract %float %size 0
%y = OpCompositeExtract %float %q 0
%r = OpCompositeConstruct %v4 %x %y %half %half
OpStore %out %r
OpReturn
OpFunctionEnd
"""


def test_an_array_of_textures_as_a_value(dev: tg.Device) -> None:
    """As glslang's HLSL and Tint emit it: loaded whole, copied, given to a function, and then an element of it."""
    module = _core.ShaderModule(spirv.assemble(ARRAY_AS_VALUE), "values", "main", device=dev.core)
    out = dev.image((8, 8), FMT)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(dev.pipeline(FULL, module, color=[FMT]), count=3, bind={"t": [texture(dev, 51 * k) for k in range(4)]})
    assert np.abs(out.numpy()[3, 3, :2] - (0.2, 0.6)).max() < 1e-6


# -- views that do not fit the variable: the core says so, whoever asks it


def test_views_of_another_kind_are_refused_by_the_core(dev: tg.Device) -> None:
    volume, square, whole = dev.image((8, 8, 4), FMT, label="v"), dev.image((8, 8), FMT, label="s"), dev.image((8, 8), "r32_uint", label="u")
    samples, blocks = dev.image((8, 8), FMT, samples=4, label="m"), dev.image((8, 8), FMT, tiling="block_compressed", label="b")
    for image in (volume, square, whole, samples, blocks):
        dev.clear(image, (0, 0, 0, 0))
    frag = "layout(binding=0) uniform sampler2D t; void main() { o = texelFetch(t, ivec2(0), 0); }"
    wrong = {
        "type of the view of image 'v' is 3d, allowed is 2d": volume.view("3d"),
        "type of the view of image 's' is 2d_array, allowed is 2d": square.view("2d_array"),
        "format of the view of image 'u' is r32_uint, allowed is one of floats": whole.view("2d"),
        "samples of the view of image 'm' is more than 1, allowed is 1": samples.view("2d"),
        "tiling of the view of image 'b' is block_compressed, allowed is linear": blocks.view("2d"),
    }
    for message, view in wrong.items():
        object.__setattr__(view, "type", "2d")  # past the front end's own check
        if view.image is samples:
            object.__setattr__(view.image, "samples", 1)
        with pytest.raises(tg.Error, match=f"'t' \\(set 0, binding 0\\): ?.*{message}|'t'.*{message}"):
            drawn(dev, frag, bind={"t": (view, dev.sampler())})


def test_a_buffer_may_end_before_its_block(dev: tg.Device) -> None:
    """The padding behind the last element is nobody's; elements that are missing are warned of, and clamped."""
    frag = "layout(binding=0) uniform B { vec2 a[3]; }; void main() { o = vec4(a[1], a[int(gl_FragCoord.x) % 2]); }"
    data = np.arange(12, dtype=np.float32)
    for size in (48, 40):
        want = drawn(dev, frag, bind={"B": dev.buffer(data.view(np.uint8)[:size].copy())})
        assert np.array_equal(want[0, 1], (4, 5, 4, 5)), size
    with pytest.warns(tg.ShortBufferWarning, match="has 40 bytes, buffer of 32 bytes is bound"):
        assert np.array_equal(drawn(dev, frag, bind={"B": dev.buffer(data[:8])})[0, 1], (4, 5, 4, 5))
    with pytest.raises(tg.ValidationError, match="takes 48 bytes; the given buffer has 32"):
        drawn(dev, frag, bind={"B": bytes(32)})
