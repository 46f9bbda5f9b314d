"""Modf and Frexp store their second result through a pointer: a store like any other, by address too, and a side effect of a fragment."""

from __future__ import annotations

import numpy as np
import pytest

import spirv
import tilegpu as tg

TYPES = """
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%float = OpTypeFloat 32"""
KERNEL = """
OpCapability Shader
OpCapability Int64
OpCapability PhysicalStorageBufferAddresses
OpExtension "SPV_KHR_physical_storage_buffer"
OpExtension "SPV_KHR_storage_buffer_storage_class"
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint GLCompute %main "main" %id
OpExecutionMode %main LocalSize 32 1 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %numbers ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %push_type Block
OpMemberDecorate %push_type 0 Offset 0
OpDecorate %bound DescriptorSet 0
OpDecorate %bound Binding 0
TYPES
%uvec3 = OpTypeVector %uint 3
%to_id = OpTypePointer Input %uvec3
%to_id_x = OpTypePointer Input %uint
%id = OpVariable %to_id Input
%numbers = OpTypeRuntimeArray %RESULT
%block = OpTypeStruct %numbers
%address = OpTypePointer PhysicalStorageBuffer %block
%to_far = OpTypePointer PhysicalStorageBuffer %RESULT
%to_block = OpTypePointer StorageBuffer %block
%to_near = OpTypePointer StorageBuffer %RESULT
%push_type = OpTypeStruct %address
%to_push = OpTypePointer PushConstant %push_type
%to_pushed = OpTypePointer PushConstant %address
%push = OpVariable %to_push PushConstant
%bound = OpVariable %to_block StorageBuffer
%zero = OpConstant %uint 0
%half = OpConstant %float 2.5
%main = OpFunction %void None %function
%entry = OpLabel
%i_at = OpAccessChain %to_id_x %id %zero
%i = OpLoad %uint %i_at
%from_at = OpAccessChain %to_pushed %push %zero
%from = OpLoad %address %from_at
%place = OpAccessChain %PLACE %zero %i
%whole = OpConvertUToF %float %i
%x = OpFAdd %float %whole %half
%part = OpExtInst %float %glsl OPERATION %x %place
OpReturn
OpFunctionEnd
"""
FRAGMENT = """
OpCapability Shader
OpExtension "SPV_KHR_storage_buffer_storage_class"
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %at %color
OpExecutionMode %main OriginUpperLeft
OpDecorate %at BuiltIn FragCoord
OpDecorate %color Location 0
OpDecorate %numbers ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %bound DescriptorSet 0
OpDecorate %bound Binding 0
OpDecorate %push_type Block
OpMemberDecorate %push_type 0 Offset 0
TYPES
%vec4 = OpTypeVector %float 4
%to_at = OpTypePointer Input %vec4
%at = OpVariable %to_at Input
%to_color = OpTypePointer Output %vec4
%color = OpVariable %to_color Output
%numbers = OpTypeRuntimeArray %RESULT
%block = OpTypeStruct %numbers
%to_block = OpTypePointer StorageBuffer %block
%to_number = OpTypePointer StorageBuffer %RESULT
%bound = OpVariable %to_block StorageBuffer
%push_type = OpTypeStruct %uint
%to_push = OpTypePointer PushConstant %push_type
%to_pushed = OpTypePointer PushConstant %uint
%push = OpVariable %to_push PushConstant
%zero = OpConstant %uint 0
%half = OpConstant %float 2.5
%main = OpFunction %void None %function
%entry = OpLabel
%k_at = OpAccessChain %to_pushed %push %zero
%k = OpLoad %uint %k_at
%place = OpAccessChain %to_number %bound %zero %k
%c = OpLoad %vec4 %at
%part = OpExtInst %float %glsl OPERATION %half %place
OpStore %color %c
OpReturn
OpFunctionEnd
"""
RESULTS = {"Modf": "float", "Frexp": "int"}
VERTEX = """#version 450
layout(push_constant) uniform P { uint k; };
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0.9 - 0.1 * float(k), 1); }"""


def assembled(text: str, operation: str, place: str = "", *, validate: bool = True) -> bytes:
    """SPIR-V of one of the two, with Modf or Frexp."""
    words = {"TYPES": TYPES, "RESULT": RESULTS[operation], "OPERATION": operation, "PLACE": place}
    for name, word in words.items():
        text = text.replace(name, word)
    return spirv.assemble(text, validate=validate)


@pytest.mark.parametrize("operation", RESULTS)
@pytest.mark.parametrize("place", ["to_near %bound", "to_far %from"])
def test_stored_by_binding_and_by_address(operation: str, place: str) -> None:
    words = assembled(KERNEL, operation, place, validate=False)
    x = np.arange(32, dtype=np.float32) + np.float32(2.5)
    expected = np.trunc(x) if operation == "Modf" else np.frexp(x)[1].astype(np.int32)
    for lanes in (4, 8, 16):
        dev = tg.Device(cache_dir="off", lanes=lanes)
        out = dev.buffer(np.zeros(32, expected.dtype))
        pipe = dev.compute_pipeline(words)
        push = np.array([out.device_address], np.uint64).tobytes()
        dev.dispatch(pipe, groups=1, push=push, bind={} if "far" in place else {(0, 0): out})
        assert (out.numpy(expected.dtype) == expected).all(), lanes


@pytest.mark.parametrize("operation", RESULTS)
def test_a_side_effect_that_no_removal_takes_away(operation: str) -> None:
    """Four draws, each in front of the one before: all of them store."""
    words = assembled(FRAGMENT, operation)
    kind = np.float32 if operation == "Modf" else np.int32
    for hsr in ("off", "all"):
        dev = tg.Device(cache_dir="off")
        stored, out, z = dev.buffer(np.zeros(4, kind)), dev.image((64, 64), "r32g32b32a32_sfloat"), dev.image((64, 64), "d32_sfloat")
        pipe = dev.pipeline(VERTEX, words, color=[out.format], depth=z.format, depth_compare="less")
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), depth=tg.Attachment(z, clear=1.0), hsr=hsr) as rp:
            for k in range(4):
                rp.draw(pipe, count=3, push=np.uint32(k).tobytes(), bind={(0, 0): stored})
        assert (stored.numpy(kind) == 2).all(), hsr
