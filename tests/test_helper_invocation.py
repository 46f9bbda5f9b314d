"""``gl_HelperInvocation`` behind a demotion: as it was at the entry, or as it is by now where the load is Volatile. Oracle: what SPIR-V
says of ``HelperInvocation`` (who wants it up to date loads it as Volatile), seen by the neighbour's derivative, as a demoted invocation
writes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg
from spirv import assemble
from test_input_attachments import DTYPE, SIZE, random_rectangles, vertices
from test_input_attachments import VERT as RECTANGLES

WIDTH_PX, HEIGHT_PX = 16, 4
VERT = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0, 1); }"""


def fragment(decoration: str, operand: str) -> bytes:
    """Odd pixels are demoted. Red: the x derivative of the built-in, read behind that; green: the same of what was read before it; blue: of
    OpIsHelperInvocationEXT."""
    return assemble(
        f"""
OpCapability Shader
OpCapability DemoteToHelperInvocation
OpExtension "SPV_EXT_demote_to_helper_invocation"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %at %helper %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %at BuiltIn FragCoord
OpDecorate %helper BuiltIn HelperInvocation
{decoration}
OpDecorate %o Location 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%f = OpTypeFloat 32
%v4 = OpTypeVector %f 4
%u = OpTypeInt 32 0
%in_v4 = OpTypePointer Input %v4
%in_f = OpTypePointer Input %f
%in_bool = OpTypePointer Input %bool
%out_v4 = OpTypePointer Output %v4
%at = OpVariable %in_v4 Input
%helper = OpVariable %in_bool Input
%o = OpVariable %out_v4 Output
%c0 = OpConstant %u 0
%c1 = OpConstant %u 1
%zero = OpConstant %f 0
%one = OpConstant %f 1
%main = OpFunction %void None %fn
%entry = OpLabel
%px = OpAccessChain %in_f %at %c0
%x = OpLoad %f %px
%column = OpConvertFToU %u %x
%bit = OpBitwiseAnd %u %column %c1
%odd = OpIEqual %bool %bit %c1
%before = OpLoad %bool %helper {operand}
OpSelectionMerge %rest None
OpBranchConditional %odd %demote %rest
%demote = OpLabel
OpDemoteToHelperInvocation
OpBranch %rest
%rest = OpLabel
%after = OpLoad %bool %helper {operand}
%asked = OpIsHelperInvocationEXT %bool
%a = OpSelect %f %after %one %zero
%b = OpSelect %f %before %one %zero
%c = OpSelect %f %asked %one %zero
%da = OpDPdxFine %f %a
%db = OpDPdxFine %f %b
%dc = OpDPdxFine %f %c
%color = OpCompositeConstruct %v4 %da %db %dc %one
OpStore %o %color
OpReturn
OpFunctionEnd
""".replace("OpCapability Shader", "OpCapability Shader\nOpCapability DerivativeControl"),
        version="1.3",
        vulkan="vulkan1.1",
    )


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("decoration, operand, now", [("", "", 0), ("OpDecorate %helper Volatile", "", 1), ("", "Volatile", 1)])
def test_behind_a_demotion(decoration: str, operand: str, now: int, lanes: int) -> None:
    dev = tg.Device(lanes=lanes)
    image = dev.image((WIDTH_PX, HEIGHT_PX), "r32g32b32a32_sfloat")
    pipe = dev.pipeline(VERT, fragment(decoration, operand), color=["r32g32b32a32_sfloat"])
    with dev.render_pass(color=tg.Attachment(image, clear=(9, 9, 9, 9))) as rp:
        rp.draw(pipe, count=3)
    seen = image.numpy()
    assert (seen[:, 1::2] == 9).all()
    assert np.array_equal(np.unique(seen[:, ::2].reshape(-1, 4), axis=0), [[now, 0, 1, 1]])


WAITS = {
    "discards": "if ((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) % 5 == 0) discard;",
    "reads depth": "value += subpassLoad(old, 0).r * 0.125;",
}


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("kind", WAITS)
def test_who_is_a_helper_does_not_depend_on_who_waits(kind: str, samples: int) -> None:
    """Depth that is written after shading: a test before it finds what has been shaded by then, so that a fragment that is hidden would be
    shaded or not, and a helper or none, by what else lies in the bin."""
    reads = f"""layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput{"MS" if samples > 1 else ""} old;
"""
    body = WAITS[kind] if samples > 1 else WAITS[kind].replace(", 0)", ")")
    shader = f"""#version 450
{reads if "depth" in kind else ""}layout(location = 0) flat in uint v_id;
layout(location = 0) out float o_value;
void main() {{
  float value = float(v_id % 7u);
  {body}
  if (gl_HelperInvocation) value = 64.0;
  o_value = value + abs(dFdy(value)) * 0.25;
}}"""
    rects = random_rectangles(77, 60)
    state = {"input_attachments": ["depth"]} if "depth" in kind else {}
    seen = []
    for options in ({"bin_px": 32}, {"bin_px": 64}, {"bin_px": 128}, {"lanes": 4}, {"tiler_heap": 1 << 12}, {"threads": 3, "lanes": 16}):
        device = tg.Device(**options)
        image, depth = device.image(SIZE, "r32_sfloat", samples=samples), device.image(SIZE, "d32_sfloat", samples=samples)
        pipe = device.pipeline(
            RECTANGLES, shader, vertex=DTYPE, color=["r32_sfloat"], depth="d32_sfloat", samples=samples, blend="additive",
            depth_compare="less_or_equal", **state,
        )  # fmt: skip
        with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
            rp.draw(pipe, vertices(rects))
        seen.append((options, image.numpy()))
    for options, picture in seen[1:]:
        assert np.array_equal(picture, seen[0][1]), options
