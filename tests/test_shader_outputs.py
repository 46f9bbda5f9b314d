"""Outputs that a shader does not write are 0, whatever ran before, on any thread; initializers of outputs count."""

# ruff: noqa: E501
from __future__ import annotations

import re
import subprocess
from typing import Any

import numpy as np
import pytest

import spirv
import tilegpu as tg

FMT = "r32g32b32a32_sfloat"
VERT = """#version 450
layout(location=0) out vec2 uv;
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); uv = p * .5; gl_Position = vec4(p * 2 - 1, 0, 1); }"""
HEAD = "#version 450\nlayout(location=0) in vec2 uv;\n"
#: Leave something in every component, for whole quads, pixels, and blocks of one colour.
BEFORE = [
    HEAD
    + "layout(location=0) out vec4 o; void main() { if (uv.x + dFdx(uv.x) < uv.y) o = vec4(.1, .2, .3, .4); else o = vec4(.5, .6, .7, .8); }",
    HEAD + "layout(location=0) out vec4 o; void main() { o = vec4(gl_FragCoord.xyx, 77.0 + gl_FragCoord.x); }",
    HEAD + "layout(location=0) out vec4 o; void main() { o = vec4(3); }",
]
#: (body, the components that are written)
SHORT = {
    "two components": ("layout(location=0) out vec2 o; void main() { o = uv + dFdx(uv.yx); }", 2),
    "three of a vec4": ("layout(location=0) out vec4 o; void main() { o.rgb = vec3(gl_FragCoord.xy, 1.0); }", 3),
    "three of a vec4, derivative": ("layout(location=0) out vec4 o; void main() { o.rgb = vec3(uv, dFdx(uv.x)); }", 3),
    "one of a constant": ("layout(location=0) out vec4 o; void main() { o.r = 1.0; }", 1),
    "one float": ("layout(location=0) out float o; void main() { o = uv.x; }", 1),
    "with discard": ("layout(location=0) out vec2 o; void main() { if (uv.x > 0.25) discard; o = vec2(1); }", 2),
    "in one branch": ("layout(location=0) out vec4 o; void main() { if (uv.x > 0.25) o.a = 1.0; o.rg = uv; }", 4),
}  # fmt: skip


def drawn(dev: tg.Device, frag: Any, *, side: int = 64, **state: Any) -> np.ndarray:
    out = dev.image((side, side), FMT)
    pipe = dev.pipeline(VERT, frag, color=[FMT], **state)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0.25, 0.25, 0.25, 0.25))]) as rp:
        rp.draw(pipe, count=3)
    return out.numpy()


@pytest.mark.parametrize("name", SHORT)
def test_components_that_are_not_written_are_zero(name: str) -> None:
    body, written = SHORT[name]
    first: np.ndarray | None = None
    for lanes in (4, 8, 16):
        for threads in (1, 2):
            dev = tg.Device(cache_dir="off", threads=threads, lanes=lanes)
            for before in [None, *BEFORE]:
                if before:
                    drawn(dev, before)
                image = drawn(dev, HEAD + body)
                hit = image[..., 0] != 0.25 if name == "with discard" else np.ones(image.shape[:2], bool)
                assert (image[..., written:][hit] == 0).all(), (lanes, threads)
                if name == "in one branch":
                    assert (image[:, :32, 3] == 0).all() and (image[:, 33:, 3] == 1).all()
                assert first is None or (image == first).all(), (lanes, threads)
                first = image


def test_second_source_without_its_output_is_refused() -> None:
    dev = tg.Device(cache_dir="off")
    blend = {"src_color": "one", "dst_color": "src1_color"}
    with pytest.raises(tg.ValidationError, match=r"blend of color\[0\] has a factor of a second source"):
        drawn(dev, BEFORE[2], blend=blend)
    frag = (
        HEAD
        + "layout(location=0, index=0) out vec4 o; layout(location=0, index=1) out vec4 p; void main() { o = vec4(1); p.r = 0.5; }"
    )
    for before in [None, *BEFORE]:
        if before:
            drawn(dev, before)
        assert (drawn(dev, frag, blend=blend)[5, 5, :3] == [1.125, 1, 1]).all()


def test_second_source_of_one_value() -> None:
    """What is the same for all pixels is made before the loop over them, but for a second source: every pair of factors that has one."""
    second = ["src1_color", "one_minus_src1_color", "src1_alpha", "one_minus_src1_alpha"]
    others = ["zero", "one", "src_color", "dst_alpha", "one_minus_dst_alpha", "src_alpha_saturate", "constant_color", *second]
    frag = "#version 450\nlayout(location=0, index=0) out vec4 o; layout(location=0, index=1) out vec4 p;\nvoid main() { o = vec4(1, .5, .25, 1); p = vec4(.5, .75, 1, .25); }"
    pairs = [pair for one in second for other in others for pair in ((one, other), (other, one))]
    devices = [tg.Device(cache_dir="off", threads=1, lanes=lanes) for lanes in (4, 8, 16)]
    for fmt, some in (("r8g8b8a8_unorm", pairs), ("r8_unorm", pairs[:12]), ("r5g6b5_unorm_pack16", pairs[:12]), ("r16g16b16a16_sfloat", pairs[:6])):
        for source, destination in some:
            blend = {"src_color": source, "dst_color": destination}
            pictures = []
            for dev in devices:
                out = dev.image((16, 16), fmt)
                pipe = dev.pipeline(VERT, frag, color=[fmt], blend=blend)
                with dev.render_pass(color=[tg.Attachment(out, clear=(0.25, 0.25, 0.25, 0.25))]) as rp:
                    rp.draw(pipe, count=3, blend_constants=(0.5, 0.5, 0.5, 0.5)) if "constant_color" in blend.values() else rp.draw(pipe, count=3)
                pictures.append(out.numpy())
            assert all((one == pictures[0]).all() for one in pictures), (fmt, blend)
            if (fmt, source, destination) == ("r8g8b8a8_unorm", "src1_color", "zero"):
                assert (pictures[0] == [128, 96, 64, 64]).all()


def test_initializer() -> None:
    """Of an output that nothing stores to, and of one of which a component is stored."""
    text = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %out %depth
OpExecutionMode %main OriginUpperLeft
OpExecutionMode %main DepthReplacing
OpDecorate %out Location 0
OpDecorate %depth BuiltIn FragDepth
%void = OpTypeVoid
%vf = OpTypeFunction %void
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%pout = OpTypePointer Output %v4
%pf = OpTypePointer Output %float
%uint = OpTypeInt 32 0
%u1 = OpConstant %uint 1
%f1 = OpConstant %float 1
%f2 = OpConstant %float 2
%half = OpConstant %float 0.5
%init = OpConstantComposite %v4 %f1 %f2 %half %f2
%out = OpVariable %pout Output %init
%depth = OpVariable %pf Output %half
%main = OpFunction %void None %vf
%entry = OpLabel
BODY
OpReturn
OpFunctionEnd
"""
    for body, want in (("", [1, 2, 0.5, 2]), ("%p = OpAccessChain %pf %out %u1\nOpStore %p %half", [1, 0.5, 0.5, 2])):
        module = spirv.assemble(text.replace("BODY\n", body + "\n" if body else ""))
        for lanes in (4, 16):
            dev = tg.Device(cache_dir="off", lanes=lanes)
            out, depth = dev.image((8, 8), FMT), dev.image((8, 8), "d32_sfloat")
            pipe = dev.pipeline(VERT, module, color=[FMT], depth="d32_sfloat", depth_compare="always")
            attachment = tg.Attachment(depth, clear=1.0)
            with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))], depth=attachment) as rp:
                rp.draw(pipe, count=3)
            assert (out.numpy() == want).all()
            assert (depth.numpy() == 0.5).all()


def initialised(stage: str, glsl: str, **variables: tuple[str, str]) -> bytes:
    """The shader's module with initializers, which GLSL has no words for: of each variable the constants' text and the one that it begins as."""
    words = tg.compile_glsl(glsl, stage)
    text = subprocess.run(["spirv-dis", "--no-color", "-"], input=words, capture_output=True, check=True, timeout=60).stdout.decode()
    for name, (constants, first) in variables.items():
        declared = re.search(rf"^ *%{name} = OpVariable .* Output$", text, re.MULTILINE)
        assert declared, f"{name} is no output of\n{text}"
        text = text.replace(declared[0], f"{constants}\n{declared[0]} {first}")
    return spirv.assemble(text, version="1.4", vulkan="vulkan1.3")


#: 20 vertices: two vectors of 16 lanes, of which the second must find what the first one stored.
CONTROL = """#version 450
layout(vertices = 20) out;
layout(location = 0) patch out vec4 tint;
layout(location = 1) out float shade[];
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID % 3].gl_Position;
  gl_TessLevelOuter[3] = 7.0;
  if (gl_InvocationID == 1) { tint.g = 1.0; shade[gl_InvocationID] = 0.25; }
}"""
EVALUATION = """#version 450
layout(triangles) in;
layout(location = 0) patch in vec4 tint;
layout(location = 1) in float shade[];
layout(location = 0) out vec4 color;
void main() {
  color = vec4(tint.rg, shade[1], shade[19]);
  gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position + gl_TessCoord.z * gl_in[2].gl_Position;
}"""
COLORED = "#version 450\nlayout(location=0) in vec4 color; layout(location=0) out vec4 o; void main() { o = color; }"


def test_initializers_of_control_shaders() -> None:
    """Levels that nothing stores to, a patch's vector of which a component is stored, and the same of each vertex: patch by patch anew."""
    levels = "%init_1 = OpConstant %float 1\n%init_LEVEL = OpConstantComposite %_arr_float_uint_COUNT " + "%init_1 " * 4
    tint = "%init_half = OpConstant %float 0.5\n%init_tint = OpConstantComposite %v4float %init_half %init_half %init_half %init_half"
    shade = "%init_shade_1 = OpConstant %float 0.75\n%init_shade = OpConstantComposite %_arr_float_uint_20 " + "%init_shade_1 " * 20
    control = initialised(
        "tessellation_control", CONTROL, gl_TessLevelOuter=(levels.replace("LEVEL", "outer").replace("COUNT", "4"), "%init_outer"),
        tint=(tint, "%init_tint"), shade=(shade, "%init_shade"),
    )  # fmt: skip
    for lanes in (4, 8, 16):
        dev = tg.Device(cache_dir="off", lanes=lanes)
        out = dev.image((16, 16), FMT)
        state: dict[str, Any] = {"tessellation_control": control, "tessellation_evaluation": EVALUATION, "patch_control_points": 3}
        pipe = dev.pipeline(VERT.replace("layout(location=0) out vec2 uv;", "").replace("uv = p * .5;", ""), COLORED, color=[FMT], **state)
        for _ in range(2):
            with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
                rp.draw(pipe, count=3)
            assert (out.numpy() == [0.5, 1.0, 0.25, 0.75]).all(), lanes


MESH = """#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 32) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
layout(location = 0) out vec4 color[];
void main() {
  SetMeshOutputsEXT(3, 1);
  if (gl_LocalInvocationIndex < 3) {
    uint i = gl_LocalInvocationIndex;
    gl_MeshVerticesEXT[i].gl_Position = vec4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1);
    color[i].r = 1.0;
  }
  if (gl_LocalInvocationIndex == 0) gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
}"""


def test_initializers_of_mesh_shaders() -> None:
    one = "%init_half = OpConstant %float 0.5\n%init_one = OpConstantComposite %v4float %init_half %init_half %init_half %init_half"
    module = initialised(
        "mesh", MESH, color=(f"{one}\n%init_color = OpConstantComposite %_arr_v4float_uint_3 %init_one %init_one %init_one", "%init_color")
    )
    for lanes in (4, 8, 16):
        dev = tg.Device(cache_dir="off", lanes=lanes)
        out = dev.image((16, 16), FMT)
        pipe = dev.pipeline(mesh=module, frag=COLORED, color=[FMT])
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw_mesh_tasks(pipe, groups=1)
        assert (out.numpy() == [1.0, 0.5, 0.5, 0.5]).all(), lanes
