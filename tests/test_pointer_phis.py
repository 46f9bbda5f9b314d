"""OpPhi of pointers that are no variable pointers: of one pointer it is that pointer, as spirv-opt's loop-peeling writes it; of several an
error. SPIR-V 1.6, section 2.16.1: neither exists, and SPIRV-Tools' validator takes both where a module declares VariablePointers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shader_fuzz import compare

import tilegpu as tg
from spirv import kernel

TYPES = """%array = OpTypeArray %uint %u4
%parray = OpTypePointer Function %array
%pword = OpTypePointer Function %uint
%bool = OpTypeBool
"""
VARIABLES = "%a = OpVariable %parray Function\n"
FILLED = "".join(
    f"%p{k} = OpAccessChain %pword %a %u{k}\n%x{k} = OpIAdd %uint %i %u{k}\nOpStore %p{k} %x{k}\n" for k in range(4)
)
RESULT = "%to = OpAccessChain %puint %out %u0 %i\nOpStore %to %sum"
# Behind a branch that invocations take differently, through a loop's header, with an OpPhi of numbers between both of pointers.
ONE = f"""{FILLED}%own = OpBitwiseAnd %uint %i %u3
%place = OpAccessChain %pword %a %own
%odd = OpBitwiseAnd %uint %i %u1
%is_odd = OpIEqual %bool %odd %u1
OpSelectionMerge %merge None
OpBranchConditional %is_odd %then %merge
%then = OpLabel
OpStore %place %u6
OpBranch %merge
%merge = OpLabel
%q = OpPhi %pword %place %start %place %then
%number = OpPhi %uint %u2 %start %u5 %then
%whole = OpPhi %parray %a %start %a %then
OpBranch %header
%header = OpLabel
%r = OpPhi %pword %q %merge %r %latch
%n = OpPhi %uint %u0 %merge %more %latch
%s = OpPhi %uint %number %merge %sum %latch
OpLoopMerge %end %latch None
OpBranch %latch
%latch = OpLabel
%word = OpLoad %uint %r
%second = OpAccessChain %pword %whole %u1
%other = OpLoad %uint %second
%both = OpIAdd %uint %word %other
%sum = OpIAdd %uint %s %both
OpStore %r %n
%more = OpIAdd %uint %n %u1
%again = OpULessThan %bool %more %u3
OpBranchConditional %again %header %end
%end = OpLabel
{RESULT}"""
SEVERAL = f"""{FILLED}%odd = OpBitwiseAnd %uint %i %u1
%is_odd = OpIEqual %bool %odd %u1
OpSelectionMerge %merge None
OpBranchConditional %is_odd %then %merge
%then = OpLabel
OpBranch %merge
%merge = OpLabel
%q = OpPhi %pword %p1 %start %p2 %then
%sum = OpLoad %uint %q
{RESULT}"""


def module(body: str) -> bytes:
    return kernel("VariablePointersStorageBuffer", "%uint", 4, TYPES, body, VARIABLES, extensions="SPV_KHR_variable_pointers")


def wanted(i: int) -> int:
    a = [i + k for k in range(4)]
    s = 5 if i & 1 else 2
    if i & 1:
        a[i & 3] = 6
    for n in range(3):
        s += a[i & 3] + a[1]
        a[i & 3] = n
    return s


@pytest.mark.parametrize("variant", list(compare.SHARES), ids=str)
def test_of_one_pointer(variant: tuple[int, str]) -> None:
    dev = compare.device(*variant)
    out = dev.buffer(np.zeros(32, "u4"))
    dev.dispatch(dev.compute_pipeline(module(ONE)), 1, bind={(0, 1): out})
    np.testing.assert_array_equal(out.numpy(), [wanted(i) for i in range(32)])


def test_of_several_pointers() -> None:
    dev = tg.Device(threads=1, cache_dir="off")
    with pytest.raises(tg.ShaderError, match=r"OpPhi \d+ chooses between pointers that are no variable pointers"):
        dev.compute_pipeline(module(SEVERAL))
