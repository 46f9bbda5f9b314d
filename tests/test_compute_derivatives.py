"""Derivatives in compute shaders (VK_KHR_compute_shader_derivatives): quads of rows and of squares, explicit ones, levels of textures.
Oracles: the reference interpreter, and closed forms of levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracle.shaders import stages
from tests.shader_fuzz import compare

import tilegpu as tg
from spirv import assemble

KINDS = {"quads": "derivative_group_quadsNV", "linear": "derivative_group_linearNV"}
HEAD = """#version 450
#extension GL_NV_compute_shader_derivatives : require
#extension GL_KHR_shader_subgroup_quad : require
"""


@pytest.fixture(params=list(compare.SHARES), ids=lambda c: f"{c[0]} lanes, {c[1]}")
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return compare.device(*request.param)


def kernel(size: tuple[int, int, int], group: str) -> str:
    """Twelve words of each invocation: derivatives, where it stands in its subgroup, and what a neighbour has behind a barrier."""
    x, y, z = size
    return f"""{HEAD}
layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;
layout({KINDS[group]}) in;
layout(binding = 0) buffer Out {{ uint o[][12]; }};
shared float kept[{x * y * z}];
void main() {{
  vec3 at = vec3(gl_LocalInvocationID) + vec3(gl_WorkGroupID);
  float f = at.x * at.x * 1.25 + at.y * at.x * 3.0 - at.y * at.y * 0.5 + at.z * 7.0;
  uint i = gl_LocalInvocationIndex, n = {x * y * z}u;
  kept[i] = f;
  barrier();
  float g = kept[(i * 5u + 3u) % n];
  uint to = i + n * gl_WorkGroupID.x;
  o[to][0] = floatBitsToUint(dFdx(f));
  o[to][1] = floatBitsToUint(dFdy(f));
  o[to][2] = floatBitsToUint(dFdxFine(f));
  o[to][3] = floatBitsToUint(dFdyFine(f));
  o[to][4] = floatBitsToUint(dFdxCoarse(g));
  o[to][5] = floatBitsToUint(dFdyCoarse(g));
  o[to][6] = floatBitsToUint(fwidth(g));
  o[to][7] = floatBitsToUint(fwidthFine(f));
  o[to][8] = gl_SubgroupID * 100u + gl_SubgroupInvocationID;
  o[to][9] = subgroupQuadSwapHorizontal(i);
  o[to][10] = subgroupQuadBroadcast(i, 3u);
  o[to][11] = floatBitsToUint(dFdx(at).x) ^ floatBitsToUint(dFdy(at).y);
}}"""


SIZES = [
    ("quads", (2, 2, 1)),
    ("quads", (8, 4, 1)),
    ("quads", (6, 2, 1)),
    ("quads", (2, 6, 2)),
    ("quads", (4, 2, 3)),
    ("quads", (16, 16, 1)),
    ("linear", (4, 1, 1)),
    ("linear", (12, 1, 1)),
    ("linear", (2, 3, 2)),
    ("linear", (32, 2, 1)),
]


@pytest.mark.parametrize(("group", "size"), SIZES)
def test_derivatives_are_the_interpreters(dev: tg.Device, group: str, size: tuple[int, int, int]) -> None:
    module = tg.compile_glsl(kernel(size, group), "compute")
    count = size[0] * size[1] * size[2]
    out = dev.buffer(np.zeros(2 * count * 12, np.uint32))
    dev.dispatch(dev.compute_pipeline(module), 2, bind={(0, 0): out})
    wanted = stages.Buffer(bytearray(2 * count * 48))
    stages.dispatch(stages.Program(stages.read(module), {(0, 0): wanted}), (2, 1, 1))
    np.testing.assert_array_equal(out.numpy(), np.frombuffer(wanted.data, np.uint32))


def test_squares_and_rows_are_what_vulkan_says(dev: tg.Device) -> None:
    """Of x + 100 y the closed form: along x 1, along y 100 in squares; of invocations in a row 1 and 2."""
    for group, along_y in (("quads", 100.0), ("linear", 2.0)):
        text = f"""{HEAD}
layout(local_size_x = 8, local_size_y = 4) in;
layout({KINDS[group]}) in;
layout(binding = 0) buffer Out {{ vec2 o[]; }};
void main() {{
  float f = float(gl_LocalInvocationID.x) + 100.0 * float(gl_LocalInvocationID.y);
  o[gl_LocalInvocationIndex] = vec2(dFdx(f), dFdy(f));
}}"""
        out = dev.buffer(np.zeros((32, 2), np.float32))
        dev.dispatch(dev.compute_pipeline(text), 1, bind={(0, 0): out})
        np.testing.assert_array_equal(out.numpy().reshape(32, 2), np.tile(np.array([1.0, along_y], np.float32), (32, 1)))


@pytest.mark.parametrize("kind", ["2d", "3d", "cube"])
def test_levels_of_textures(dev: tg.Device, kind: str) -> None:
    """Levels that hold their own number, read where a step from invocation to invocation is 2^k texels: implicit levels, with a bias,
    asked for; and the first level where there is no group."""
    size, levels = 64, 7
    where = {"2d": "(p + 0.5) * step", "3d": "vec3((p + 0.5) * step, 0.5)", "cube": "vec3(1.0, (p - 3.5) * step * 2.0)"}[kind]
    shapes = [(max(1, size >> k),) * (3 if kind == "3d" else 2) for k in range(levels)]
    faces = (6,) if kind == "cube" else ()
    data = [np.full((*faces, *s, 1), k, np.float32) for k, s in enumerate(shapes)]
    options: dict[str, Any] = {"cube": True} if kind == "cube" else {"type": kind}
    texture = dev.texture(data[0], "r32_sfloat", mipmaps=data[1:], mipmap_mode="nearest", filter="nearest", **options)
    for group in ("quads", None):
        declared = f"layout({KINDS[group]}) in;" if group else ""
        query = "textureQueryLod(t, at).y" if group else "0.0"
        biased = "texture(t, at, 1.0).r" if group else "0.0"
        text = f"""{HEAD}
layout(local_size_x = 8, local_size_y = 8) in;
{declared}
layout(binding = 0) uniform sampler{kind.upper().replace("CUBE", "Cube")} t;
layout(binding = 1) buffer Out {{ vec4 o[][64]; }};
void main() {{
  float step = exp2(float(gl_WorkGroupID.x)) / {size}.0;
  vec2 p = vec2(gl_LocalInvocationID.xy);
  {"vec2" if kind == "2d" else "vec3"} at = {where};
  o[gl_WorkGroupID.x][gl_LocalInvocationIndex] = vec4(texture(t, at).r, {biased}, {query}, textureLod(t, at, 2.0).r);
}}"""
        out = dev.buffer(np.zeros((4, 64, 4), np.float32))
        dev.dispatch(dev.compute_pipeline(text), 4, bind={(0, 0): texture, (0, 1): out})
        found = out.numpy().reshape(4, 64, 4)
        for k in range(4):
            wanted = [k, k + 1, k, 2] if group else [0, 0, 0, 2]  # the first level, without a group
            np.testing.assert_array_equal(found[k], np.tile(np.array(wanted, np.float32), (64, 1)))


BY_ROWS = """OpCapability Shader
OpCapability ComputeDerivativeGroupLinearNV
OpExtension "SPV_KHR_compute_shader_derivatives"
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %index
OpExecutionMode %main LocalSize 8 1 1
OpExecutionMode %main DerivativeGroupLinearNV
OpName %B "B"
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %floats ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %B DescriptorSet 0
OpDecorate %B Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%in = OpTypePointer Input %uint
%floats = OpTypeRuntimeArray %float
%block = OpTypeStruct %floats
%to = OpTypePointer StorageBuffer %block
%to_float = OpTypePointer StorageBuffer %float
%k0 = OpConstant %uint 0
%index = OpVariable %in Input
%B = OpVariable %to StorageBuffer
%main = OpFunction %void None %fn
%top = OpLabel
%i = OpLoad %uint %index
%f = OpConvertUToF %float %i
%square = OpFMul %float %f %f
%d = OpDPdy %float %square
%place = OpAccessChain %to_float %B %k0 %i
OpStore %place %d
OpReturn
OpFunctionEnd"""


def test_the_names_of_the_khr_extension(dev: tg.Device) -> None:
    """A module that declares SPV_KHR_compute_shader_derivatives, whose numbers are the older extension's."""
    out = dev.buffer(np.zeros(8, np.float32))
    dev.dispatch(dev.compute_pipeline(assemble(BY_ROWS, validate=False, version="1.3")), 1, bind={(0, 0): out})
    np.testing.assert_array_equal(out.numpy(), np.array([4.0] * 4 + [20.0] * 4, np.float32))  # 2^2 - 0, 6^2 - 4^2


@pytest.mark.parametrize(
    ("group", "size", "text"),
    [
        ("quads", (3, 2, 1), r"its workgroups have 3x2x1 invocations, and DerivativeGroupQuads wants multiples of 2 in x and y"),
        ("linear", (3, 2, 1), r"its workgroups have 3x2x1 invocations, and DerivativeGroupLinear wants a multiple of 4 in all"),
    ],
)
def test_sizes_that_are_no_quads(group: str, size: tuple[int, int, int], text: str) -> None:
    """Of modules that GLSL can't say: its compiler refuses them too."""
    text_of = BY_ROWS.replace("LocalSize 8 1 1", f"LocalSize {size[0]} {size[1]} {size[2]}")
    text_of = text_of.replace("GroupLinear", "GroupQuads" if group == "quads" else "GroupLinear")
    device = tg.Device(cache_dir="off", threads=1)
    with pytest.raises(tg.Error, match=text):
        device.compute_pipeline(assemble(text_of, validate=False, version="1.3"))
