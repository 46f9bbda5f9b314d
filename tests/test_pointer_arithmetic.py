"""Pointers that leave their array and come back, differences of pointers, and comparisons: modules that GLSL can't say, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg
from test_variable_pointers import N, data, device, module, run

SHARED = """%shared_words = OpTypeArray %uint %k32
%to_shared_words = OpTypePointer Workgroup %shared_words
%to_shared = OpTypePointer Workgroup %uint
%x_words = OpVariable %to_shared_words Workgroup
%slot_shared = OpTypePointer Function %to_shared
%null_shared = OpConstantNull %to_shared
%to_private = OpTypePointer Private %to_shared
%private = OpVariable %to_private Private
"""
STRIDES = "OpDecorate %to_shared ArrayStride 4\n"

WALK = """%x_at = OpAccessChain %to_shared %x_words %local
OpStore %x_at %i
OpControlBarrier %k2 %k2 %k264
%first = OpAccessChain %to_shared %x_words %k0
%last = OpPtrAccessChain %to_shared %first %k32
OpStore %forward %first
OpStore %private %last
OpBranch %head
%head = OpLabel
%n = OpPhi %uint %k0 %entry %n1 %head
%equal_n = OpPhi %uint %k0 %entry %equal_n1 %head
%sum = OpPhi %int %zero %entry %sum1 %head
%f = OpLoad %to_shared %forward
%bw = OpLoad %to_shared %private
%f1 = OpPtrAccessChain %to_shared %f %k1
%b1 = OpPtrAccessChain %to_shared %bw %minus
OpStore %forward %f1
OpStore %private %b1
%same = OpPtrEqual %bool %f %bw
%equal_n1 = OpSelect %uint %same %n %equal_n
%apart = OpPtrDiff %int %bw %f
%odd_n = OpBitwiseAnd %uint %n %k1
%is_odd = OpIEqual %bool %odd_n %k1
%twice = OpIAdd %int %apart %apart
%term = OpSelect %int %is_odd %twice %apart
%sum1 = OpIAdd %int %sum %term
%n1 = OpIAdd %uint %n %k1
%go = OpULessThan %bool %n1 %k40
OpLoopMerge %behind %head None
OpBranchConditional %go %head %behind
%behind = OpLabel
%back = OpPtrAccessChain %to_shared %f1 %m37
%x = OpLoad %uint %back
%sum_u = OpBitcast %uint %sum1
%scaled = OpIMul %uint %sum_u %k264
%equal_scaled = OpIMul %uint %equal_n1 %k1000
%part = OpIAdd %uint %scaled %equal_scaled
%all = OpIAdd %uint %part %x
OpStore %out_at %all"""


def test_shared_memory_is_walked_beyond_its_ends() -> None:
    """From both ends to eight elements beyond, by a variable of the function and a private one; then three elements inside again."""
    more = "%zero = OpConstant %int 0\n%k40 = OpConstant %uint 40\n%m37 = OpConstant %int -37\n%k1000 = OpConstant %uint 1000000\n"
    code = module(WALK, "%forward = OpVariable %slot_shared Function", more + SHARED, STRIDES, version="1.4", interface="%x_words %private")
    n = np.arange(40)
    total = int(np.sum((32 - 2 * n) * np.where(n % 2, 2, 1)))
    group = np.arange(N) // 32 * 32
    run(code, data(6), {"out_": (total * 264 + 16 * 1000000 + group + 3).astype(np.uint32)})


LED_OUT = [
    "%u = OpAccessChain %to_shared %far %k0",
    "%u0 = OpAccessChain %to_shared %far %k0\n%u = OpCopyObject %to_shared %u0",
    "%far2 = OpCopyObject %to_row %far\n%u = OpInBoundsAccessChain %to_shared %far2 %k0",
]


@pytest.mark.parametrize("way", LED_OUT)
def test_chains_of_what_leads_out_come_back(way: str) -> None:
    """Of rows of four the eleventh, of eight, and from its first element 37 back."""
    types = """%row = OpTypeArray %uint %k4
%rows = OpTypeArray %row %k8
%to_rows = OpTypePointer Workgroup %rows
%to_row = OpTypePointer Workgroup %row
%to_shared = OpTypePointer Workgroup %uint
%x_rows = OpVariable %to_rows Workgroup
%back37 = OpConstant %int -37
%k10 = OpConstant %uint 10
%k100 = OpConstant %uint 100
"""
    body = f"""%at_row = OpShiftRightLogical %uint %local %k2
%at = OpBitwiseAnd %uint %local %k3
%x_at = OpAccessChain %to_shared %x_rows %at_row %at
OpStore %x_at %i
OpControlBarrier %k2 %k2 %k264
%first = OpAccessChain %to_row %x_rows %k0
%far = OpPtrAccessChain %to_row %first %k10
{way}
%v = OpPtrAccessChain %to_shared %u %back37
%x = OpLoad %uint %v
%first_u = OpAccessChain %to_shared %x_rows %k0 %k0
%gap = OpPtrDiff %int %u %first_u
%gap_u = OpBitcast %uint %gap
%scaled = OpIMul %uint %gap_u %k100
%all = OpIAdd %uint %scaled %x
OpStore %out_at %all"""
    decorations = "OpDecorate %to_row ArrayStride 16\nOpDecorate %to_shared ArrayStride 4\n"
    code = module(body, globals_=types, decorations=decorations, version="1.4", interface="%x_rows")
    run(code, data(6), {"out_": (4000 + np.arange(N) // 32 * 32 + 3).astype(np.uint32)})


def test_null_is_no_place_in_shared_memory() -> None:
    body = """%first = OpAccessChain %to_shared %x_words %k0
%chosen = OpSelect %to_shared %odd %null_shared %first
%is_null = OpPtrEqual %bool %chosen %null_shared
%is_first = OpPtrEqual %bool %chosen %first
%is_not = OpPtrNotEqual %bool %null_shared %first
%one = OpSelect %uint %is_null %k1 %k0
%two = OpSelect %uint %is_first %k2 %k0
%four = OpSelect %uint %is_not %k4 %k0
%some = OpBitwiseOr %uint %one %two
%all = OpBitwiseOr %uint %some %four
OpStore %out_at %all"""
    v = data(7)
    odd = (v["choice"] & 1) != 0
    code = module(body, globals_=SHARED, decorations=STRIDES, version="1.4", interface="%x_words %private")
    run(code, v, {"out_": np.where(odd, 5, 6).astype(np.uint32)})


def strided(body: str, functions: str = "") -> bytes:
    """``%ints_at``: a block of ints 16 bytes apart, at binding 0; no type of a pointer has an ArrayStride."""
    types = """%ints = OpTypeRuntimeArray %int
%int_block = OpTypeStruct %int %ints
%to_int_block = OpTypePointer StorageBuffer %int_block
%to_int = OpTypePointer StorageBuffer %int
%ints_at = OpVariable %to_int_block StorageBuffer
%take = OpTypeFunction %int %to_int %to_int
%give = OpTypeFunction %to_int %to_int
%slot_int = OpTypePointer Function %to_int
%pair = OpTypeStruct %to_int %to_int
"""
    decorations = """OpDecorate %ints ArrayStride 16
OpDecorate %int_block Block
OpMemberDecorate %int_block 0 Offset 0
OpMemberDecorate %int_block 1 Offset 16
OpDecorate %ints_at DescriptorSet 0
OpDecorate %ints_at Binding 0
"""
    kept = "%kept_p = OpVariable %slot_int Function\n%kept_q = OpVariable %slot_int Function"
    return module(body, kept, types, decorations, functions, version="1.4", interface="%ints_at")


FAR = {
    "chains": "%d = OpPtrDiff %int %p %q",
    "copies": "%p2 = OpCopyObject %to_int %p\n%d = OpPtrDiff %int %p2 %q",
    "selects": "%q2 = OpAccessChain %to_int %ints_at %k1 %k3\n%r = OpSelect %to_int %odd %q %q\n%d = OpPtrDiff %int %p %r",
    "phis": "OpSelectionMerge %merge None\nOpBranchConditional %odd %left %right\n%left = OpLabel\n"
    "%p1 = OpAccessChain %to_int %ints_at %k1 %c\nOpBranch %merge\n%right = OpLabel\nOpBranch %merge\n%merge = OpLabel\n"
    "%r = OpPhi %to_int %p1 %left %p %right\n%d = OpPtrDiff %int %r %q",
    "arguments": "%d = OpFunctionCall %int %apart %p %q",
    "results": "%p1 = OpFunctionCall %to_int %same %p\n%q1 = OpFunctionCall %to_int %same %q\n%d = OpPtrDiff %int %p1 %q1",
    "variables": "OpStore %kept_p %p\nOpStore %kept_q %q\n"
    "%p1 = OpLoad %to_int %kept_p\n%q1 = OpLoad %to_int %kept_q\n%d = OpPtrDiff %int %p1 %q1",
    "structures": "%both = OpCompositeConstruct %pair %p %q\n%p1 = OpCompositeExtract %to_int %both 0\n"
    "%q1 = OpCompositeExtract %to_int %both 1\n"
    "%d = OpPtrDiff %int %p1 %q1",
}


@pytest.mark.parametrize("kind", FAR)
def test_elements_lie_apart_as_the_array_says(kind: str) -> None:
    functions = "%apart = OpFunction %int None %take\n%x = OpFunctionParameter %to_int\n%y = OpFunctionParameter %to_int\n"
    functions += "%begin = OpLabel\n%gap = OpPtrDiff %int %x %y\nOpReturnValue %gap\nOpFunctionEnd\n"
    functions += "%same = OpFunction %to_int None %give\n%z = OpFunctionParameter %to_int\n"
    functions += "%start = OpLabel\nOpReturnValue %z\nOpFunctionEnd\n"
    body = f"%p = OpAccessChain %to_int %ints_at %k1 %c\n%q = OpAccessChain %to_int %ints_at %k1 %k3\n{FAR[kind]}\n"
    v = data(8)
    want = v["choice"].astype(np.int64) - 3
    run(strided(body + "%u = OpBitcast %uint %d\nOpStore %out_at %u", functions), v, {"out_": want.astype(np.uint32)})


def test_differences_that_nothing_scales_are_refused() -> None:
    """Of two members of a structure."""
    body = "%p = OpAccessChain %to_int %ints_at %k0\n%d = OpPtrDiff %int %p %p\n%u = OpBitcast %uint %d\nOpStore %out_at %u"
    with pytest.raises(tg.ShaderError, match="no array with an ArrayStride"):
        device(8, 2).compute_pipeline(strided(body))


def test_pointers_to_matrices_are_compared() -> None:
    """Their layout is no part of a pointer's value, and none is needed."""
    types = """%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%mat4 = OpTypeMatrix %v4 4
%mats = OpTypeStruct %mat4 %mat4
%to_mats = OpTypePointer StorageBuffer %mats
%to_mat = OpTypePointer StorageBuffer %mat4
%to_column = OpTypePointer StorageBuffer %v4
%mats_at = OpVariable %to_mats StorageBuffer
"""
    decorations = """OpDecorate %mats Block
OpMemberDecorate %mats 0 Offset 0
OpMemberDecorate %mats 0 ColMajor
OpMemberDecorate %mats 0 MatrixStride 16
OpMemberDecorate %mats 1 Offset 64
OpMemberDecorate %mats 1 RowMajor
OpMemberDecorate %mats 1 MatrixStride 16
OpDecorate %mats_at DescriptorSet 0
OpDecorate %mats_at Binding 0
"""
    pairs = {
        "%m0 = OpAccessChain %to_mat %mats_at %k0": (
            "%m1 = OpAccessChain %to_mat %mats_at %k1", "%m2 = OpAccessChain %to_mat %mats_at %k0",
        ),
        "%m0 = OpAccessChain %to_column %mats_at %k1 %k1": (
            "%m1 = OpAccessChain %to_column %mats_at %k1 %k2", "%m2 = OpAccessChain %to_column %mats_at %k1 %k1",
        ),
    }  # fmt: skip
    for first, (other, same) in pairs.items():
        body = f"""{first}
{other}
{same}
%e1 = OpPtrEqual %bool %m0 %m1
%e2 = OpPtrEqual %bool %m0 %m2
%one = OpSelect %uint %e1 %k1 %k0
%two = OpSelect %uint %e2 %k2 %k0
%all = OpBitwiseOr %uint %one %two
OpStore %out_at %all"""
        code = module(body, "", types, decorations, version="1.4", interface="%mats_at")
        run(code, data(9), {"out_": np.full(N, 2, np.uint32)})
