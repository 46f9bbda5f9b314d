"""Variable pointers: chosen while the shader runs, to storage buffers and shared memory; modules that GLSL can't say, against NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tilegpu as tg
from spirv import assemble

CASES = [(4, 1), (8, 2), (16, 1), (16, 2)]
N = 64  # invocations, two workgroups
Words = npt.NDArray[np.uint32]

HEAD = """OpCapability Shader
OpCapability VariablePointers
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %id %local_id
OpExecutionMode %main LocalSize 32 1 1
OpName %a "a"
OpName %b "b"
OpName %choice "choice"
OpName %out "out_"
OpName %many "many"
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %local_id BuiltIn LocalInvocationId
OpDecorate %words ArrayStride 4
OpDecorate %to_word ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 1
OpDecorate %choice DescriptorSet 0
OpDecorate %choice Binding 2
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 3
OpDecorate %many DescriptorSet 0
OpDecorate %many Binding 4
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%uvec3 = OpTypeVector %uint 3
%to_id = OpTypePointer Input %uvec3
%to_id_x = OpTypePointer Input %uint
%id = OpVariable %to_id Input
%local_id = OpVariable %to_id Input
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%to_block = OpTypePointer StorageBuffer %block
%to_words = OpTypePointer StorageBuffer %words
%to_word = OpTypePointer StorageBuffer %uint
%k0 = OpConstant %uint 0
%k1 = OpConstant %uint 1
%k2 = OpConstant %uint 2
%k3 = OpConstant %uint 3
%k4 = OpConstant %uint 4
%k5 = OpConstant %uint 5
%k7 = OpConstant %uint 7
%k8 = OpConstant %uint 8
%k32 = OpConstant %uint 32
%k64 = OpConstant %uint 64
%k264 = OpConstant %uint 264
%minus = OpConstant %int -1
%a = OpVariable %to_block StorageBuffer
%b = OpVariable %to_block StorageBuffer
%choice = OpVariable %to_block StorageBuffer
%out = OpVariable %to_block StorageBuffer
%two_blocks = OpTypeArray %block %k2
%to_two = OpTypePointer StorageBuffer %two_blocks
%many = OpVariable %to_two StorageBuffer
%null = OpConstantNull %to_word
%slot = OpTypePointer Function %to_word
%slots_type = OpTypeArray %to_word %k4
%slots = OpTypePointer Function %slots_type
"""
BEGIN = """%entry = OpLabel
VARIABLES
%i_at = OpAccessChain %to_id_x %id %k0
%i = OpLoad %uint %i_at
%local_at = OpAccessChain %to_id_x %local_id %k0
%local = OpLoad %uint %local_at
%choice_at = OpAccessChain %to_word %choice %k0 %i
%c = OpLoad %uint %choice_at
%low = OpBitwiseAnd %uint %c %k1
%odd = OpINotEqual %bool %low %k0
%out_at = OpAccessChain %to_word %out %k0 %i
%a_at = OpAccessChain %to_word %a %k0 %c
%b_at = OpAccessChain %to_word %b %k0 %i
"""


@functools.cache
def device(lanes: int, threads: int) -> tg.Device:
    return tg.Device(lanes=lanes, threads=threads, cache_dir="off")


def module(
    body: str, variables: str = "", globals_: str = "", decorations: str = "", functions: str = "", version: str = "1.3",
    interface: str = "",
) -> bytes:
    """``interface``: what the shader names beside, from 1.4 on."""
    head = HEAD.replace("%void = OpTypeVoid", decorations + "%void = OpTypeVoid", 1)
    if version >= "1.4":  # the interface names every variable
        head = head.replace("%id %local_id\n", f"%id %local_id %a %b %choice %out %many {interface}\n")
    text = (
        head + globals_ + "%main = OpFunction %void None %function\n" + BEGIN.replace("VARIABLES", variables) + body
        + "\nOpReturn\nOpFunctionEnd\n" + functions
    )  # fmt: skip
    return assemble(text, version=version, vulkan="vulkan1.2")


def data(seed: int = 1) -> dict[str, Words]:
    rng = np.random.default_rng(seed)
    arrays = {name: rng.integers(1, 1 << 31, N, dtype=np.uint32) for name in ("a", "b")}
    arrays["choice"] = rng.integers(0, N, N, dtype=np.uint32)
    arrays["out_"] = np.full(N, 77, np.uint32)
    arrays["many0"], arrays["many1"] = (rng.integers(1, 1 << 31, N, dtype=np.uint32) for _ in range(2))
    return arrays


def run(code: bytes, arrays: dict[str, Words], want: dict[str, Words], many: bool = False) -> None:
    """At all lanes and threads. ``want``: what buffers hold afterwards."""
    for lanes, threads in CASES:
        dev = device(lanes, threads)
        buffers = {name: dev.buffer(array.view(np.uint8), label=name) for name, array in arrays.items()}
        bound: dict[tuple[int, int], Any] = {(0, k): buffers[n] for k, n in enumerate(("a", "b", "choice", "out_"))}
        if many:
            bound[0, 4] = [buffers["many0"], buffers["many1"]]
        dev.dispatch(dev.compute_pipeline(code), bind=bound, groups=N // 32)
        for name, array in want.items():
            got = buffers[name].numpy(np.uint32, array.shape)
            np.testing.assert_array_equal(got, array, f"lanes {lanes}, threads {threads}, {name}")


def test_chosen_by_lane_and_for_all() -> None:
    """OpSelect between two buffers, a null pointer and an element of an array of blocks."""
    v = data()
    odd = (v["choice"] & 1) != 0
    chosen = "%p = OpSelect %to_word %odd %a_at %b_at\n%x = OpLoad %uint %p\nOpStore %out_at %x"
    run(module(chosen), v, {"out_": np.where(odd, v["a"][v["choice"]], v["b"])})
    null = "%p = OpSelect %to_word %odd %null %b_at\n%x = OpLoad %uint %p\nOpStore %out_at %x\nOpStore %p %k7"
    run(module(null), v, {"out_": np.where(odd, 0, v["b"]), "b": np.where(odd, v["b"], 7).astype(np.uint32)})
    # Uniform: the first word of `choice` decides for all.
    uniform = (
        "%first_at = OpAccessChain %to_word %choice %k0 %k0\n%first = OpLoad %uint %first_at\n"
        "%is = OpIEqual %bool %first %k7\n%p = OpSelect %to_block %is %a %b\n%q = OpAccessChain %to_word %p %k0 %i\n"
        "%x = OpLoad %uint %q\nOpStore %out_at %x"
    )
    for first in (7, 8):
        v["choice"][0] = first
        run(module(uniform), v, {"out_": v["a" if first == 7 else "b"]})
    blocks = (
        "%d = OpAccessChain %to_block %many %low\n%p = OpSelect %to_block %odd %d %b\n"
        "%q = OpAccessChain %to_word %p %k0 %i\n%x = OpLoad %uint %q\nOpStore %out_at %x"
    )
    odd = (v["choice"] & 1) != 0
    run(module(blocks), v, {"out_": np.where(odd, v["many1"], v["b"])}, many=True)


WALK = """OpBranch %head
%head = OpLabel
%p = OpPhi %to_word %a_at %entry %next %more
%n = OpPhi %uint %k0 %entry %n1 %more
%sum = OpPhi %uint %k0 %entry %sum1 %more
OpLoopMerge %end %more None
OpBranch %test
%test = OpLabel
%on = OpULessThan %bool %n %low2
OpBranchConditional %on %body %end
%body = OpLabel
%x = OpLoad %uint %p
%sum1 = OpIAdd %uint %sum %x
%half = OpIEqual %bool %n %k2
%step = OpPtrAccessChain %to_word %p %k3
OpBranch %more
%more = OpLabel
%next = OpSelect %to_word %half %b_at %step
%n1 = OpIAdd %uint %n %k1
OpBranchConditional %true %head %end
%end = OpLabel
OpStore %out_at %sum
OpStore %p %k5
"""


def test_a_walk_through_two_buffers() -> None:
    """OpPhi in a loop that lanes leave one by one; the pointer is used behind the loop, where lanes keep their own."""
    v = data(2)
    body = "%low2 = OpBitwiseAnd %uint %c %k7\n" + WALK.replace("%head %end\n%end", "%head %end\n%end")
    body = body.replace("OpBranchConditional %true %head %end", "OpBranch %head")
    out, a, b = np.zeros(N, np.uint32), v["a"].copy(), v["b"].copy()
    writes: list[tuple[Words, int]] = []
    for i in range(N):
        memory, at, total = v["a"], int(v["choice"][i]), 0
        for n in range(int(v["choice"][i]) & 7):
            total += int(memory[at]) if at < N else 0
            memory, at = (v["b"], i) if n == 2 else (memory, at + 3)
        out[i] = total & 0xFFFFFFFF
        writes.append((a if memory is v["a"] else b, at))
    for memory, at in writes:
        if at < N:
            memory[at] = 5
    # What one invocation writes another must not read: they write to copies of what is read.
    reads = module(body.replace("OpStore %p %k5\n", ""))
    run(reads, v, {"out_": out, "a": v["a"], "b": v["b"]})
    stores = module(body.replace("%x = OpLoad %uint %p", "%x = OpCopyObject %uint %k1").replace("OpStore %out_at %sum\n", ""))
    run(stores, v, {"a": a, "b": b, "out_": v["out_"]})


def test_kept_in_variables_and_passed_to_functions() -> None:
    """An array of pointers that is indexed dynamically, and a function that takes two pointers and returns one."""
    v = data(3)
    body = """%s0 = OpAccessChain %slot %kept %k0
%s1 = OpAccessChain %slot %kept %k1
OpStore %s0 %a_at
OpStore %s1 %b_at
%s3 = OpAccessChain %slot %kept %k3
%other = OpFunctionCall %to_word %pick %a_at %b_at %odd
OpStore %s3 %other
%which = OpBitwiseAnd %uint %i %k3
%s = OpAccessChain %slot %kept %which
%p = OpLoad %to_word %s
%x = OpLoad %uint %p
OpStore %out_at %x"""
    functions = """%pick = OpFunction %to_word None %pick_type
%first = OpFunctionParameter %to_word
%second = OpFunctionParameter %to_word
%swap = OpFunctionParameter %bool
%pick_entry = OpLabel
OpSelectionMerge %pick_end None
OpBranchConditional %swap %pick_second %pick_end
%pick_second = OpLabel
OpReturnValue %second
%pick_end = OpLabel
%after = OpPtrAccessChain %to_word %first %minus
OpReturnValue %after
OpFunctionEnd
"""
    code = module(
        body, "%kept = OpVariable %slots Function %nulls",
        "%nulls = OpConstantNull %slots_type\n%pick_type = OpTypeFunction %to_word %to_word %to_word %bool\n", functions=functions,
    )  # fmt: skip
    i, c = np.arange(N), v["choice"].astype(int)
    before = np.where(c >= 1, v["a"][np.maximum(c - 1, 0)], 0)  # in front of the buffer: nothing
    other = np.where(c & 1, v["b"], before)
    want = np.select([i % 4 == 0, i % 4 == 1, i % 4 == 2], [v["a"][c], v["b"], np.zeros(N, np.uint32)], other)
    run(code, v, {"out_": want.astype(np.uint32)})


def test_atomics_lengths_and_comparisons() -> None:
    v = data(4)
    odd = (v["choice"] & 1) != 0
    add = "%p = OpSelect %to_word %odd %a_at %b_at\n%x = OpAtomicIAdd %uint %p %k1 %k0 %k3"
    a, b = v["a"].copy(), v["b"].copy()
    np.add.at(a, v["choice"][odd], 3)
    b[~odd] += np.uint32(3)
    run(module(add), v, {"a": a, "b": b})
    short = dict(v, a=v["a"][:17].copy())
    length = "%p = OpSelect %to_block %odd %a %b\n%x = OpArrayLength %uint %p 0\nOpStore %out_at %x"
    run(module(length), short, {"out_": np.where(odd, 17, N).astype(np.uint32)})
    # Beyond the shorter buffer: zeros, and nothing is kept.
    beyond = "%p = OpSelect %to_word %odd %a_at %b_at\n%x = OpLoad %uint %p\nOpStore %out_at %x\nOpStore %p %k7"
    inside = v["choice"] < 17
    want_a, want_b = short["a"].copy(), v["b"].copy()
    want_a[v["choice"][odd & inside]] = 7
    want_b[~odd] = 7
    reads = module(beyond.replace("\nOpStore %p %k7", ""))
    padded = np.where(inside, v["a"][v["choice"]], 0)
    run(reads, short, {"out_": np.where(odd, padded, v["b"]).astype(np.uint32)})
    run(module(beyond.replace("OpStore %out_at %x\n", "")), short, {"a": want_a, "b": want_b})
    compare = """%p = OpSelect %to_word %odd %a_at %b_at
%same = OpPtrEqual %bool %p %a_at
%unlike = OpPtrNotEqual %bool %p %b_at
%begin = OpAccessChain %to_word %b %k0 %k5
%far = OpPtrDiff %int %b_at %begin
%far_u = OpBitcast %uint %far
%s = OpSelect %uint %same %k1 %k0
%u = OpSelect %uint %unlike %k64 %k0
%t = OpBitwiseOr %uint %s %u
%scaled = OpIMul %uint %far_u %k264
%x = OpIAdd %uint %t %scaled
OpStore %out_at %x"""
    far = (np.arange(N, dtype=np.int64) - 5) * 264
    run(module(compare, version="1.4"), v, {"out_": (np.where(odd, 65, 0) + far).astype(np.uint32)})


def test_shared_memory() -> None:
    """Of variables whose scalars are of 32 and of 64 bits; beyond all of it a pointer is to its last place."""
    v = data(5)
    globals_ = """%ulong = OpTypeInt 64 0
%long_2 = OpConstant %ulong 2
%shared_words = OpTypeArray %uint %k32
%shared_longs = OpTypeArray %ulong %k32
%to_shared_words = OpTypePointer Workgroup %shared_words
%to_shared_longs = OpTypePointer Workgroup %shared_longs
%to_shared = OpTypePointer Workgroup %uint
%to_shared_long = OpTypePointer Workgroup %ulong
%x_words = OpVariable %to_shared_words Workgroup
%y_words = OpVariable %to_shared_words Workgroup
%longs = OpVariable %to_shared_longs Workgroup
"""
    body = """%x_at = OpAccessChain %to_shared %x_words %local
%y_at = OpAccessChain %to_shared %y_words %local
%long_at = OpAccessChain %to_shared_long %longs %local
%wide = OpUConvert %ulong %i
OpStore %x_at %i
%i2 = OpIAdd %uint %i %k264
OpStore %y_at %i2
OpStore %long_at %wide
OpControlBarrier %k2 %k2 %k264
%masked = OpBitwiseAnd %uint %c %k7
%x_first = OpAccessChain %to_shared %x_words %k0
%y_first = OpAccessChain %to_shared %y_words %k0
%p = OpSelect %to_shared %odd %x_first %y_first
%q = OpPtrAccessChain %to_shared %p %masked
%x = OpLoad %uint %q
%long_first = OpAccessChain %to_shared_long %longs %k8
%far = OpPtrAccessChain %to_shared_long %long_first %FAR
%y = OpLoad %ulong %far
%y32 = OpUConvert %uint %y
%z = OpShiftLeftLogical %uint %y32 %k8
%sum = OpIAdd %uint %x %z
OpStore %out_at %sum"""
    i, c = np.arange(N), v["choice"].astype(int)
    group = i // 32 * 32
    x = group + (c & 7) + np.where(c & 1, 0, 264)
    wide = "OpCapability VariablePointers\nOpCapability Int64"
    for far, at in (("minus", 7), ("k64", None)):
        text = body.replace("%FAR", f"%{far}")
        code = module_with(text, globals_, wide)
        y = group + at if at is not None else None
        if y is not None:
            run(code, v, {"out_": (x + (y << 8)).astype(np.uint32)})
        else:  # which variable is last is nobody's to know, but something of the workgroup's is read
            run_only(code, v)


def module_with(body: str, globals_: str, capabilities: str) -> bytes:
    head = HEAD.replace("OpCapability VariablePointers", capabilities)
    text = head + globals_ + "%main = OpFunction %void None %function\n" + BEGIN.replace("VARIABLES", "") + body
    return assemble(text + "\nOpReturn\nOpFunctionEnd\n", version="1.3", vulkan="vulkan1.2")


def run_only(code: bytes, arrays: dict[str, Words]) -> None:
    run(code, arrays, {"choice": arrays["choice"]})


def test_layouts_that_a_value_does_not_hold() -> None:
    """A pointer to a matrix is refused, by name; a pointer to the structure that it is in is not."""
    decorations = """OpMemberDecorate %holds 0 Offset 0
OpMemberDecorate %holds 0 RowMajor
OpMemberDecorate %holds 0 MatrixStride 16
OpDecorate %to_holds ArrayStride 32
OpDecorate %all_holds ArrayStride 32
OpDecorate %m_block Block
OpMemberDecorate %m_block 0 Offset 0
OpDecorate %ma DescriptorSet 0
OpDecorate %ma Binding 0
OpDecorate %mb DescriptorSet 0
OpDecorate %mb Binding 1
"""
    globals_ = """%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%mat2 = OpTypeMatrix %vec2 2
%holds = OpTypeStruct %mat2
%all_holds = OpTypeRuntimeArray %holds
%m_block = OpTypeStruct %all_holds
%to_m_block = OpTypePointer StorageBuffer %m_block
%to_holds = OpTypePointer StorageBuffer %holds
%to_mat2 = OpTypePointer StorageBuffer %mat2
%to_float = OpTypePointer StorageBuffer %float
%to_vec2 = OpTypePointer StorageBuffer %vec2
%ma = OpVariable %to_m_block StorageBuffer
%mb = OpVariable %to_m_block StorageBuffer
"""
    whole = """%which = OpBitwiseAnd %uint %i %k7
%h_a = OpAccessChain %to_holds %ma %k0 %which
%h_b = OpAccessChain %to_holds %mb %k0 %which
%h = OpSelect %to_holds %odd %h_a %h_b
%f = OpAccessChain %to_float %h %k0 %k1 %k0
%v = OpLoad %float %f
%col_at = OpAccessChain %to_vec2 %h %k0 %k1
%col = OpLoad %vec2 %col_at
%y = OpCompositeExtract %float %col 1
%sum = OpFAdd %float %v %y
%x = OpBitcast %uint %sum
OpStore %out_at %x"""
    head = HEAD
    for name, binding in (("a", 0), ("b", 1)):
        head = head.replace(f"OpDecorate %{name} DescriptorSet 0\nOpDecorate %{name} Binding {binding}\n", "")
    head = head.replace('OpName %a "a"', 'OpName %ma "a"').replace('OpName %b "b"', 'OpName %mb "b"')
    head = head.replace("%a = OpVariable %to_block StorageBuffer\n%b = OpVariable %to_block StorageBuffer\n", "")
    begin = "\n".join(line for line in BEGIN.splitlines() if not line.startswith(("%a_at", "%b_at", "VARIABLES"))) + "\n"

    def build(body: str) -> bytes:
        text = head.replace("%void = OpTypeVoid", decorations + "%void = OpTypeVoid", 1) + globals_
        text += "%main = OpFunction %void None %function\n" + begin + body + "\nOpReturn\nOpFunctionEnd\n"
        return assemble(text, version="1.3", vulkan="vulkan1.2")

    v = data(6)
    rng = np.random.default_rng(7)
    m = {name: rng.standard_normal((N // 8, 2, 4)).astype(np.float32) for name in ("a", "b")}  # rows of 16 bytes
    arrays = dict(v, a=m["a"].view(np.uint32).ravel(), b=m["b"].view(np.uint32).ravel())
    i = np.arange(N) & 7
    # Column 1: element 1 of each row.
    parts = [m[name][i, 0, 1] + m[name][i, 1, 1] for name in ("a", "b")]
    want = np.where(v["choice"] & 1, parts[0], parts[1]).astype(np.float32)
    run(build(whole), arrays, {"out_": want.view(np.uint32)})
    of_matrix = whole.replace("%h = OpSelect %to_holds %odd %h_a %h_b", "%m_a = OpAccessChain %to_mat2 %h_a %k0\n"
        "%m_b = OpAccessChain %to_mat2 %h_b %k0\n%h = OpSelect %to_mat2 %odd %m_a %m_b").replace(
        "%to_float %h %k0 %k1 %k0", "%to_float %h %k1 %k0").replace("%to_vec2 %h %k0 %k1", "%to_vec2 %h %k1")  # fmt: skip
    with pytest.raises(tg.Error, match=r"matrix.*point to the structure"):
        device(8, 2).compute_pipeline(build(of_matrix))


def test_what_a_fragment_shader_chooses() -> None:
    """In fragments, where lanes are pixels: by the parity of x."""
    text = """OpCapability Shader
OpCapability VariablePointersStorageBuffer
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %position %color
OpExecutionMode %main OriginUpperLeft
OpName %a "a"
OpName %b "b"
OpDecorate %position BuiltIn FragCoord
OpDecorate %color Location 0
OpDecorate %floats ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 0 NonWritable
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 1
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%to_in = OpTypePointer Input %vec4
%to_in_x = OpTypePointer Input %float
%to_out = OpTypePointer Output %vec4
%position = OpVariable %to_in Input
%color = OpVariable %to_out Output
%floats = OpTypeRuntimeArray %float
%block = OpTypeStruct %floats
%to_block = OpTypePointer StorageBuffer %block
%to_float = OpTypePointer StorageBuffer %float
%a = OpVariable %to_block StorageBuffer
%b = OpVariable %to_block StorageBuffer
%k0 = OpConstant %uint 0
%k1 = OpConstant %uint 1
%one = OpConstant %float 1
%main = OpFunction %void None %function
%entry = OpLabel
%x_at = OpAccessChain %to_in_x %position %k0
%y_at = OpAccessChain %to_in_x %position %k1
%x = OpLoad %float %x_at
%y = OpLoad %float %y_at
%xi = OpConvertFToU %uint %x
%yi = OpConvertFToU %uint %y
%low = OpBitwiseAnd %uint %xi %k1
%odd = OpIEqual %bool %low %k1
%p = OpSelect %to_block %odd %a %b
%at = OpAccessChain %to_float %p %k0 %yi
%v = OpLoad %float %at
%o = OpCompositeConstruct %vec4 %v %v %v %one
OpStore %color %o
OpReturn
OpFunctionEnd
"""
    fragment = assemble(text, version="1.3", vulkan="vulkan1.1")
    vertex = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }"""
    h, w = 40, 48
    a, b = (np.random.default_rng(k).random(h).astype(np.float32) for k in (1, 2))
    x = np.arange(w)[None, :, None]
    want = np.broadcast_to(np.where(x % 2 == 1, a[:, None, None], b[:, None, None]), (h, w, 1))
    for lanes, threads in CASES:
        dev = device(lanes, threads)
        target = dev.image((w, h), "r32g32b32a32_sfloat")
        pipe = dev.pipeline(vertex, fragment, color=[target.format])
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3, bind={(0, 0): dev.buffer(a), (0, 1): dev.buffer(b)})
        np.testing.assert_array_equal(target.numpy()[..., :1], want, f"lanes {lanes}, threads {threads}")


def test_lanes_that_left_a_loop_keep_their_own() -> None:
    """A pointer of a loop's last round, whose index would be another one if it were asked again."""
    v = data(8)
    v["out_"] = np.zeros(N, np.uint32)
    body = """%most = OpBitwiseAnd %uint %c %k7
OpBranch %head
%head = OpLabel
OpLoopMerge %end %more None
OpBranch %body
%body = OpLabel
%x = OpLoad %uint %out_at
%x1 = OpIAdd %uint %x %k1
OpStore %out_at %x1
%p = OpPtrAccessChain %to_word %b_at %x
%static = OpAccessChain %to_word %a %k0 %x
OpBranch %more
%more = OpLabel
%on = OpULessThan %bool %x %most
OpBranchConditional %on %head %end
%end = OpLabel
%q = OpSelect %to_word %odd %p %static
%y = OpLoad %uint %p
%z = OpLoad %uint %q
%sum = OpIAdd %uint %y %z
OpStore %out_at %sum"""
    i, last = np.arange(N), (v["choice"] & 7).astype(int)
    padded = np.concatenate([v["b"], np.zeros(8, np.uint32)])
    of_b = padded[i + last]
    run(module(body), v, {"out_": of_b + np.where(v["choice"] & 1, of_b, v["a"][last])})


def test_what_varies_is_seen_through_chains() -> None:
    """A chain of constants from a pointer that differs between lanes: what it reads is kept in a variable, and decides a branch."""
    v = data(9)
    body = """%p = OpSelect %to_block %odd %a %b
%q = OpAccessChain %to_word %p %k0 %k3
%x = OpLoad %uint %q
OpStore %kept %x
%low_x = OpBitwiseAnd %uint %x %k1
%on = OpINotEqual %bool %low_x %k0
OpSelectionMerge %end None
OpBranchConditional %on %then %end
%then = OpLabel
%y = OpLoad %uint %kept
%y1 = OpIAdd %uint %y %k1
OpStore %kept %y1
OpBranch %end
%end = OpLabel
%z = OpLoad %uint %kept
OpStore %out_at %z"""
    v["a"][3], v["b"][3] = 1001, 2000
    code = module(body, "%kept = OpVariable %to_own Function", "%to_own = OpTypePointer Function %uint\n")
    run(code, v, {"out_": np.where(v["choice"] & 1, 1002, 2000).astype(np.uint32)})


class Program:
    """A random shader: pointers through selections, branches, loops that lanes leave one by one, and variables; what it reads is summed.

    Each place of the text has a twin that does the same to Python's values, of one invocation: (array, index) and numbers.
    """

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.steps: list[Any] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(self, operation: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {operation}")
        return name

    def number(self) -> tuple[str, Any]:
        """A small one that differs between lanes, and its twin."""
        shift = int(self.rng.integers(0, 4))
        shifted = self.emit(f"OpShiftRightLogical %uint %c %k{[0, 1, 2, 3][shift]}")
        return self.emit(f"OpBitwiseAnd %uint {shifted} %k3"), lambda c: c >> shift & 3

    def block(self, pool: list[Any], depth: int) -> list[Any]:
        """Steps; gives the pointers that are there afterwards. Of each: its name and its twin, a key of the invocation's state."""
        pool = list(pool)
        for _ in range(int(self.rng.integers(2, 5))):
            kind = int(self.rng.integers(0, 6 if depth < 2 else 4))
            p, q = (pool[int(k)] for k in self.rng.integers(0, len(pool), 2))
            n, twin = self.number()
            if kind == 0:
                low = self.emit(f"OpBitwiseAnd %uint {n} %k1")
                is_odd = self.emit(f"OpINotEqual %bool {low} %k0")
                new = self.emit(f"OpSelect %to_word {is_odd} {p} {q}")
                self.steps.append(lambda s, new=new, p=p, q=q, t=twin: s.__setitem__(new, s[p] if t(s["c"]) & 1 else s[q]))
                pool.append(new)
            elif kind == 1:
                new = self.emit(f"OpPtrAccessChain %to_word {p} {n}")
                self.steps.append(lambda s, new=new, p=p, t=twin: s.__setitem__(new, (s[p][0], s[p][1] + t(s["c"]))))
                pool.append(new)
            elif kind == 2:
                self.read(p)
            elif kind == 3:  # through a variable that is indexed
                slot = self.emit(f"OpAccessChain %slot %kept {n}")
                self.lines.append(f"OpStore {slot} {p}")
                m, other = self.number()
                at = self.emit(f"OpAccessChain %slot %kept {m}")
                new = self.emit(f"OpLoad %to_word {at}")

                def through(s: Any, p: str = p, new: str = new, t: Any = twin, u: Any = other) -> None:
                    s["kept"][t(s["c"])] = s[p]
                    s[new] = s["kept"][u(s["c"])]

                self.steps.append(through)
                pool.append(new)
            elif kind == 4:
                pool.append(self.branch(pool, p, n, twin, depth))
            else:
                pool += self.loop(pool, p, n, twin, depth)
        return pool

    def nested(self, pool: list[Any], depth: int) -> tuple[list[Any], list[Any]]:
        outer, self.steps = self.steps, []
        pool = self.block(pool, depth + 1)
        inner, self.steps = self.steps, outer
        return pool, inner

    def read(self, p: str) -> None:
        x = self.emit(f"OpLoad %uint {p}")
        old = self.emit("OpLoad %uint %total")
        new = self.emit(f"OpIAdd %uint {old} {x}")
        self.lines.append(f"OpStore %total {new}")

        def add(s: Any) -> None:
            memory, at = s[p]
            s["total"] += int(memory[at]) if memory is not None and 0 <= at < len(memory) else 0

        self.steps.append(add)

    def branch(self, pool: list[Any], p: str, n: str, twin: Any, depth: int) -> str:
        low = self.emit(f"OpBitwiseAnd %uint {n} %k1")
        is_odd = self.emit(f"OpINotEqual %bool {low} %k0")
        then, other, end = (self.name() for _ in range(3))
        self.lines += [f"OpSelectionMerge {end} None", f"OpBranchConditional {is_odd} {then} {other}", f"{then} = OpLabel"]
        inside, first = self.nested(pool, depth)
        last = self.name()  # the block that the branch ends in
        self.lines += [f"OpBranch {last}", f"{last} = OpLabel", f"OpBranch {end}", f"{other} = OpLabel", f"OpBranch {end}"]
        self.lines.append(f"{end} = OpLabel")
        result = inside[-1]
        new = self.emit(f"OpPhi %to_word {result} {last} {p} {other}")

        def run(s: Any) -> None:
            if twin(s["c"]) & 1:
                for step in first:
                    step(s)
            s[new] = s[result] if twin(s["c"]) & 1 else s[p]

        self.steps.append(run)
        return new

    def loop(self, pool: list[Any], p: str, n: str, twin: Any, depth: int) -> list[Any]:
        """do ... while (++k <= n): what the body makes is used behind it."""
        before, head, body, more, end = (self.name() for _ in range(5))
        phi, k, k1 = (self.name() for _ in range(3))
        self.lines += [f"OpBranch {before}", f"{before} = OpLabel", f"OpBranch {head}", f"{head} = OpLabel"]
        at = len(self.lines)
        self.lines += [f"OpLoopMerge {end} {more} None", f"OpBranch {body}", f"{body} = OpLabel"]
        inside, steps = self.nested([*pool, phi], depth)
        result = inside[-1]
        self.lines += [f"OpBranch {more}", f"{more} = OpLabel", f"{k1} = OpIAdd %uint {k} %k1"]
        again = self.emit(f"OpULessThanEqual %bool {k1} {n}")
        self.lines += [f"OpBranchConditional {again} {head} {end}", f"{end} = OpLabel"]
        self.lines[at:at] = [f"{phi} = OpPhi %to_word {p} {before} {result} {more}", f"{k} = OpPhi %uint %k0 {before} {k1} {more}"]

        def run(s: Any) -> None:
            s[phi] = s[p]
            for round_ in range(1, 100):
                for step in steps:
                    step(s)
                if round_ > twin(s["c"]):
                    return
                s[phi] = s[result]

        self.steps.append(run)
        return [x for x in inside if x not in pool]

    def build(self) -> tuple[bytes, Any]:
        pool = self.block(["%a_at", "%b_at", "%null"], 0)
        for p in pool[-3:]:
            self.read(p)
        self.emit("OpLoad %uint %total")
        body = "\n".join([*self.lines, f"OpStore %out_at {self.lines[-1].split()[0]}"])
        code = module(
            body, "%kept = OpVariable %slots Function %nulls\n%total = OpVariable %to_total Function %k0",
            "%nulls = OpConstantNull %slots_type\n%to_total = OpTypePointer Function %uint\n",
        )  # fmt: skip

        def emulate(a: Words, b: Words, i: int, c: int) -> int:
            s: dict[str, Any] = {"%a_at": (a, c), "%b_at": (b, i), "%null": (None, 0), "c": c, "total": 0}
            s["kept"] = [(None, 0)] * 4
            for step in self.steps:
                step(s)
            return int(s["total"]) & 0xFFFFFFFF

        return code, emulate


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed: int) -> None:
    code, emulate = Program(seed).build()
    v = data(seed)
    out = [emulate(v["a"], v["b"], i, int(v["choice"][i])) for i in range(N)]
    run(code, v, {"out_": np.array(out, np.uint32)})


def test_without_the_capability_a_pointer_is_not_chosen() -> None:
    code = module("%p = OpSelect %to_word %odd %a_at %b_at\n%x = OpLoad %uint %p\nOpStore %out_at %x")
    words = np.frombuffer(code, np.uint32).copy()
    at = int(np.flatnonzero((words[:-1] == (2 << 16 | 17)) & (words[1:] == 4442))[0])
    words[at + 1] = 1  # Shader, once more
    with pytest.raises(tg.Error):
        device(8, 2).compute_pipeline(words.tobytes())


@pytest.mark.parametrize("used", [True, False])
def test_pointers_in_memory_are_refused(used: bool) -> None:
    """SPIRV-Tools takes a block with a pointer in it. Found by `make fuzz`: reflection took it for an address."""
    types = "%holder = OpTypeStruct %uint %slots_type\n%to_holder = OpTypePointer Uniform %holder\n%held = OpVariable %to_holder Uniform\n"
    decorations = "OpDecorate %holder Block\nOpMemberDecorate %holder 0 Offset 0\nOpMemberDecorate %holder 1 Offset 16\n"
    decorations += "OpDecorate %slots_type ArrayStride 16\nOpDecorate %held DescriptorSet 0\nOpDecorate %held Binding 5\n"
    body = "%p_at = OpAccessChain %to_held %held %k1 %k1\n%p = OpLoad %to_word %p_at\n%x = OpLoad %uint %p\nOpStore %out_at %x"
    code = module(body if used else "", globals_=types + "%to_held = OpTypePointer Uniform %to_word\n", decorations=decorations)
    with pytest.raises(tg.ShaderError, match=r"points to holds pointers, which only variables of the classes Function and Private may"):
        device(8, 2).compute_pipeline(code)
