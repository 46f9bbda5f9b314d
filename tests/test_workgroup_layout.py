"""Shared memory with a layout (VK_KHR_workgroup_memory_explicit_layout): blocks that begin at one place, of 8 to 64 bits, arrays with
strides, matrices of both orders; against the reference interpreter and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.shaders import stages
from tests.shader_fuzz import compare

import tilegpu as tg
from spirv import assemble

HEAD = """#version 450
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
"""


@pytest.fixture(params=list(compare.SHARES), ids=lambda c: f"{c[0]} lanes, {c[1]}")
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return compare.device(*request.param)


def check(dev: tg.Device, text: str, words: int, groups: int = 2) -> np.ndarray:
    """What the kernel leaves in its buffer: that of the interpreter."""
    module = tg.compile_glsl(HEAD + text, "compute")
    out = dev.buffer(np.zeros(words, np.uint32))
    dev.dispatch(dev.compute_pipeline(module), groups, bind={(0, 0): out})
    wanted = stages.Buffer(bytearray(4 * words))
    stages.dispatch(stages.Program(stages.read(module), {(0, 0): wanted}), (groups, 1, 1))
    found = out.numpy()
    np.testing.assert_array_equal(found, np.frombuffer(wanted.data, np.uint32))
    return np.asarray(found)


def test_bytes_of_words(dev: tg.Device) -> None:
    """What one block stores as words another reads as bytes and halves."""
    found = check(
        dev,
        """layout(local_size_x = 32) in;
layout(binding = 0) buffer Out { uint o[]; };
shared Words { uint w[32]; };
shared Bytes { uint8_t b[128]; };
shared Halves { int16_t h[64]; };
shared Wide { uint64_t d[16]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  w[i] = i * 0x01020304u + 0xf0e0d0c0u;
  barrier();
  uint byte = b[(i * 7u) % 128u], wide = uint(d[i % 16u] >> 16);
  int half_ = h[(i * 5u) % 64u];
  barrier();
  b[4u * i + 1u] = uint8_t(i);
  barrier();
  uint at = 4u * (32u * gl_WorkGroupID.x + i);
  o[at] = byte, o[at + 1u] = uint(half_), o[at + 2u] = wide, o[at + 3u] = w[31u - i];
}""",
        256,
    ).reshape(2, 32, 4)
    i = np.arange(32, dtype=np.uint64)
    words = ((i * 0x01020304 + 0xF0E0D0C0) & 0xFFFFFFFF).astype("<u4")
    np.testing.assert_array_equal(found[0, :, 0], words.view("u1")[(i * 7) % 128])
    np.testing.assert_array_equal(found[1, :, 1].view("<i4"), words.view("<i2")[(i * 5) % 64])
    np.testing.assert_array_equal(found[0, :, 2], (words.view("<u8")[i % 16] >> np.uint64(16)).astype("u4"))
    words.view("u1")[1::4] = i
    np.testing.assert_array_equal(found[1, :, 3], words[::-1])


def test_matrices_and_structures(dev: tg.Device) -> None:
    """Strides, row-major matrices, vectors as wholes and by a dynamic component, structures in arrays; another block sees the words."""
    check(
        dev,
        """layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint o[]; };
struct Part { vec3 v; float f; u16vec2 h; };
layout(std430) shared A {
  layout(row_major) mat3x2 m[4];
  layout(column_major) mat2x3 n;
  Part parts[8];
  float16_t tail[3];
};
layout(scalar) shared B { uint words[112]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  if (i < 4u) m[i] = mat3x2(i, 1, 2, 3, 4, 5 + i);
  if (i == 4u) n = mat2x3(6, 7, 8, 9, 10, 11);
  if (i >= 8u) {
    parts[i - 8u].v = vec3(i, 2.0 * i, 3.0 * i);
    parts[i - 8u].v[i % 3u] += 0.5;
    parts[i - 8u].f = 100.0 + i, parts[i - 8u].h = u16vec2(i, 7u * i);
  }
  if (i < 3u) tail[i] = float16_t(i) * 0.5hf;
  barrier();
  vec2 column = m[i % 4u][i % 3u];
  vec3 one = n * vec2(i, 1);
  Part part = parts[(i * 3u) % 8u];
  barrier();
  if (i == 5u) words[0] = 0x40000000u;
  barrier();
  uint at = 16u * (16u * gl_WorkGroupID.x + i);
  for (uint k = 0u; k < 7u; k++) o[at + k] = words[7u * i + k];
  o[at + 7u] = floatBitsToUint(column.x), o[at + 8u] = floatBitsToUint(column.y), o[at + 9u] = floatBitsToUint(one.y);
  o[at + 10u] = floatBitsToUint(part.v.x + part.v.y), o[at + 11u] = floatBitsToUint(part.f), o[at + 12u] = part.h.y;
  o[at + 13u] = floatBitsToUint(m[0][0][0]), o[at + 14u] = floatBitsToUint(float(tail[i % 3u]));
}""",
        512,
    )


def test_atomics_and_indices_beyond(dev: tg.Device) -> None:
    """Sums on words that another block holds too; an index that is out of range stays in its array."""
    found = check(
        dev,
        """layout(local_size_x = 24) in;
layout(binding = 0) buffer Out { uint o[]; };
shared A { uint sums[4]; uint behind[4]; };
shared B { uvec4 all; uvec4 rest; };
void main() {
  uint i = gl_LocalInvocationIndex;
  atomicAdd(sums[i % 4u], i);
  barrier();
  if (i == 0u) rest = all + 1u;
  barrier();
  uint at = 24u * gl_WorkGroupID.x + i;
  o[at] = i < 12u ? behind[i % 4u] : sums[i + 1000u * gl_WorkGroupID.x];
}""",
        48,
    )
    sums = [sum(range(k, 24, 4)) for k in range(4)]
    np.testing.assert_array_equal(found[:12], np.tile(np.array(sums, np.uint32) + 1, 3))
    np.testing.assert_array_equal(found[12:24], np.full(12, sums[3]))


VARIABLE_POINTERS = """OpCapability Shader
OpCapability VariablePointers
OpCapability WorkgroupMemoryExplicitLayoutKHR
OpExtension "SPV_KHR_workgroup_memory_explicit_layout"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %index %out %a %b
OpExecutionMode %main LocalSize 16 1 1
OpName %out "out_"
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
OpDecorate %spread ArrayStride 8
OpMemberDecorate %shared 0 Offset 4
OpDecorate %shared Block
OpDecorate %dense ArrayStride 4
OpMemberDecorate %shared2 0 Offset 0
OpDecorate %shared2 Block
OpDecorate %a Aliased
OpDecorate %b Aliased
OpDecorate %to_shared_word ArrayStride 8
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%in = OpTypePointer Input %uint
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%to_block = OpTypePointer StorageBuffer %block
%to_word = OpTypePointer StorageBuffer %uint
%k0 = OpConstant %uint 0
%k1 = OpConstant %uint 1
%k2 = OpConstant %uint 2
%k3 = OpConstant %uint 3
%k8 = OpConstant %uint 8
%k16 = OpConstant %uint 16
%k32 = OpConstant %uint 32
%semantics = OpConstant %uint 264
%spread = OpTypeArray %uint %k16
%shared = OpTypeStruct %spread
%dense = OpTypeArray %uint %k32
%shared2 = OpTypeStruct %dense
%to_shared = OpTypePointer Workgroup %shared
%to_shared2 = OpTypePointer Workgroup %shared2
%to_shared_word = OpTypePointer Workgroup %uint
%index = OpVariable %in Input
%out = OpVariable %to_block StorageBuffer
%a = OpVariable %to_shared Workgroup
%b = OpVariable %to_shared2 Workgroup
%main = OpFunction %void None %fn
%top = OpLabel
%i = OpLoad %uint %index
%own = OpAccessChain %to_shared_word %a %k0 %i
%thrice = OpIMul %uint %i %k3
OpStore %own %thrice
%even = OpIMul %uint %i %k2
%gap = OpAccessChain %to_shared_word %b %k0 %even
OpStore %gap %i
OpControlBarrier %k2 %k2 %semantics
%low = OpULessThan %bool %i %k8
%chosen = OpSelect %to_shared_word %low %own %gap
%next = OpPtrAccessChain %to_shared_word %chosen %k1
%v = OpLoad %uint %next
%place = OpAccessChain %to_word %out %k0 %i
OpStore %place %v
OpReturn
OpFunctionEnd"""


def test_variable_pointers_go_by_the_stride(dev: tg.Device) -> None:
    """From the own word, or its gap, to the next one 8 bytes further; what is beyond the end stays within shared memory."""
    module = assemble(VARIABLE_POINTERS, validate=False, version="1.4")
    out = dev.buffer(np.zeros(16, np.uint32))
    dev.dispatch(dev.compute_pipeline(module), 1, bind={(0, 0): out})
    wanted = [3 * (i + 1) if i < 8 else i + 1 for i in range(15)]
    np.testing.assert_array_equal(out.numpy()[:15], wanted)


def test_a_block_that_is_too_large() -> None:
    text = HEAD + """layout(local_size_x = 1) in;
layout(binding = 0) buffer Out { uint o[]; };
shared A { uint a[20000]; };
shared B { uint b[4]; };
void main() { a[gl_WorkGroupID.x] = 1u; o[0] = b[0]; }"""
    device = tg.Device(cache_dir="off", threads=1)
    with pytest.raises(tg.Error, match=r"shared variables take 80000 bytes; at most 65536 are allowed"):
        device.compute_pipeline(text)
