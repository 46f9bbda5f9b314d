"""Instructions that GLSL has no words for, against NumPy: minima with NaN, conversions towards zero, groups of decorations; and what GLSL
has words for and few write: ballots with bits of nobody, interpolants chosen as the shader runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spirv
import tilegpu as tg

Array = np.ndarray[Any, Any]
CASES = [(4, 1, ""), (8, 2, "baseline"), (16, 1, "")]
N = 32


def words_of(module: bytes | str, data: Array, given: Array | None = None) -> Array:
    """Of R, on every device the same: what 32 invocations make of B. ``given``: what R holds; B is the result then."""
    seen = []
    for lanes, threads, target in CASES:
        dev = tg.Device(lanes=lanes, threads=threads, jit_target=target, cache_dir="off")
        b, r = dev.buffer(data), dev.buffer(np.zeros(N, np.uint32) if given is None else given)
        dev.dispatch(dev.compute_pipeline(module), 1, bind={"B": b, "R": r})
        seen.append((r if given is None else b).numpy())
    for other in seen[1:]:
        np.testing.assert_array_equal(other, seen[0])
    return seen[0]


SPECIAL = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 3.0], np.float32)
THREE = """%float = OpTypeFloat 32
%v3 = OpTypeVector %float 4"""
LOAD3 = """%at = OpAccessChain %pelement %b %u0 %i
%v = OpLoad %v3 %at
%x = OpCompositeExtract %float %v 0
%y = OpCompositeExtract %float %v 1
%z = OpCompositeExtract %float %v 2
"""
STORE = """%word = OpBitcast %uint %r
%to = OpAccessChain %puint %out %u0 %i
OpStore %to %word"""


@pytest.mark.parametrize("name", ["NMin", "NMax", "NClamp", "FMin", "FMax", "FClamp"])
def test_a_number_wins_over_nan(name: str) -> None:
    rng = np.random.default_rng(4)
    rows = rng.choice(SPECIAL, (N, 4))
    rows[:16, :2] = [(a, b) for a in (1.5, np.nan, -np.inf, 3.0) for b in (np.nan, 1.5, np.inf, -1.5)]
    low, high = np.fmin(rows[:, 1], rows[:, 2]), np.fmax(rows[:, 1], rows[:, 2])
    if name[1:] == "Clamp":
        rows[:, 1], rows[:, 2] = np.where(np.isnan(low), 0, low), np.where(np.isnan(high), 1, high)
        rows[:, 1:3].sort(axis=1)
        want = np.fmin(np.fmax(rows[:, 0], rows[:, 1]), rows[:, 2])
    else:
        want = (np.fmin if name[1:] == "Min" else np.fmax)(rows[:, 0], rows[:, 1])
    operands = "%x %y %z" if name[1:] == "Clamp" else "%x %y"
    body = f"{LOAD3}%r = OpExtInst %float %glsl {name} {operands}\n{STORE}"
    module = spirv.kernel("", "%v3", 16, THREE, body, glsl=True)
    got = words_of(module, rows).view(np.float32)
    np.testing.assert_array_equal(got, want)  # zeros of either sign are equal
    if name[1:] == "Clamp":
        return
    # Of zeros the one that the signs say, in any order of the operands; by F the second.
    zeros = np.array([(0.0, -0.0, 0, 0), (-0.0, 0.0, 0, 0), (0.0, 0.0, 0, 0), (-0.0, -0.0, 0, 0)], np.float32)
    rows = np.tile(zeros, (N // 4, 1))
    got = words_of(module, rows).view(np.float32)
    signs = {"NMin": np.logical_or, "NMax": np.logical_and}.get(name, lambda _, second: second)(*np.signbit(rows[:, :2].T))
    assert np.array_equal(np.signbit(got), signs)


@pytest.mark.parametrize("constant", ["0.0", "-0.0", "2.0", "0x1p+128", "0x1.8p+128"])
@pytest.mark.parametrize("name", ["FMin", "FMax"])
def test_constants_change_nothing_of_minima(name: str, constant: str) -> None:
    """Beside a constant, at either place, one comparison is enough: a number wins over NaN all the same, and the second of two zeros."""
    rows = np.tile(np.repeat(SPECIAL, 2)[:, None], (N // 16, 4))
    body = f"""{LOAD3}%odd = OpBitwiseAnd %uint %i %u1
%is_first = OpIEqual %bool %odd %u1
%one = OpExtInst %float %glsl {name} %x %c
%two = OpExtInst %float %glsl {name} %c %x
%r = OpSelect %float %is_first %two %one
{STORE}"""
    types = f"{THREE}\n%bool = OpTypeBool\n%c = OpConstant %float {constant}"
    got = words_of(spirv.kernel("", "%v3", 16, types, body, glsl=True), rows).view(np.float32)
    number = {"0x1p+128": np.inf, "0x1.8p+128": np.nan}[constant] if "x" in constant else float(constant)
    x, c = rows[:, 0], np.full(N, number, np.float32)
    first, second = np.where(np.arange(N) % 2, c, x), np.where(np.arange(N) % 2, x, c)
    np.testing.assert_array_equal(got, (np.fmin if name == "FMin" else np.fmax)(first, second))
    zeros = (first == 0) & (second == 0)
    assert np.array_equal(np.signbit(got[zeros]), np.signbit(second[zeros]))


def towards_zero(x: Array) -> Array:
    """float32 to the half that is not beyond it."""
    with np.errstate(over="ignore"):
        near = x.astype(np.float16)
    beyond = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
    return np.where(beyond, near.view(np.uint16) - 1, near.view(np.uint16)).astype(np.uint16)


@pytest.mark.parametrize("mode", ["RTE", "RTZ"])
def test_conversions_to_halves_are_rounded_as_they_say(mode: str) -> None:
    rng = np.random.default_rng(8)
    values = np.concatenate(
        [
            np.array([0, -0.0, 65504, 65519, 65520, 1e6, np.inf, -np.inf, 6e-8, 2.9e-8, -5.97e-8, 6.1e-5, -6.0975e-5, 1 / 3], np.float32),
            np.ldexp(rng.uniform(1, 2, N - 14), rng.integers(-26, 17, N - 14)).astype(np.float32) * rng.choice([-1, 1], N - 14),
        ]
    ).astype(np.float32)
    body = """%at = OpAccessChain %puint %out %u0 %i
%word = OpLoad %uint %at
%x = OpBitcast %float %word
%h = OpFConvert %half %x
%to = OpAccessChain %pelement %b %u0 %i
OpStore %to %h"""
    module = spirv.kernel(
        "Float16 StorageBuffer16BitAccess", "%half", 2, "%float = OpTypeFloat 32\n%half = OpTypeFloat 16", body,
        extensions="SPV_KHR_16bit_storage", decorations=f"OpDecorate %h FPRoundingMode {mode}",
    )  # fmt: skip
    got = words_of(module, np.zeros(N, np.float16), values.view(np.uint32))
    with np.errstate(over="ignore"):
        want = (values.astype(np.float16) if mode == "RTE" else towards_zero(values).view(np.float16))
    assert got.tobytes() == want.tobytes()


def test_bits_are_counted_into_any_width() -> None:
    """OpBitCount of 32 bits as 16, 32 and 64."""
    data = np.random.default_rng(2).integers(0, 1 << 32, N, np.uint32)
    body = """%at = OpAccessChain %pelement %b %u0 %i
%v = OpLoad %uint %at
%a = OpBitCount %uint %v
%s = OpBitCount %short %v
%l = OpBitCount %long %v
%s32 = OpUConvert %uint %s
%l32 = OpUConvert %uint %l
%hi = OpIMul %uint %a %k10000
%mid = OpIMul %uint %s32 %k100
%sum = OpIAdd %uint %hi %mid
%all = OpIAdd %uint %sum %l32
%to = OpAccessChain %puint %out %u0 %i
OpStore %to %all"""
    types = "%long = OpTypeInt 64 0\n%short = OpTypeInt 16 0\n%k10000 = OpConstant %uint 10000\n%k100 = OpConstant %uint 100"
    module = spirv.kernel("Int64 Int16", "%uint", 4, types, body)
    np.testing.assert_array_equal(words_of(module, data), [int(v).bit_count() * 10101 for v in data])


def test_decorations_by_groups() -> None:
    """One group for two variables, one for members of two blocks: the same kernel as with decorations of their own."""
    body = """%at = OpAccessChain %pelement %b %u0 %i
%v = OpLoad %uint %at
%r = OpIAdd %uint %v %u5
%to = OpAccessChain %puint %out %u0 %i
OpStore %to %r"""
    text = spirv.kernel_text("", "%uint", 4, "", body)
    members = ["MemberDecorate %B 0 Offset 0", "MemberDecorate %R 0 Offset 0"]
    for line in ["Decorate %b DescriptorSet 0", "Decorate %out DescriptorSet 0", *members]:
        assert f"Op{line}\n" in text
        text = text.replace(f"Op{line}\n", "")
    groups = """OpDecorate %set DescriptorSet 0
OpDecorate %first Offset 0
%set = OpDecorationGroup
%first = OpDecorationGroup
OpGroupDecorate %set %b %out
OpGroupMemberDecorate %first %B 0 %R 0
"""
    at = text.index("OpDecorate %b Binding 0")
    module = spirv.assemble(text[:at] + groups + text[at:], validate=False)
    data = np.arange(N, dtype=np.uint32)
    np.testing.assert_array_equal(words_of(module, data), data + 5)


def test_groups_that_would_multiply_are_refused() -> None:
    text = spirv.kernel_text("", "%uint", 4, "", "")
    many = "OpDecorate %set DescriptorSet 0\n" * 65 + "%set = OpDecorationGroup\nOpGroupDecorate %set %b\n"
    at = text.index("OpDecorate %b Binding 0")
    with pytest.raises(tg.Error, match="has 65 decorations; at most 64 are allowed"):
        tg.Device(cache_dir="off").compute_pipeline(spirv.assemble(text[:at] + many + text[at:], validate=False))


def test_bits_of_nobody_do_not_count_in_ballots() -> None:
    text = """#version 450
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer B { uint b[]; };
layout(set = 0, binding = 1) buffer R { uint r[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uvec4 v = uvec4(b[i], 7, 7, 7);
  r[i] = subgroupBallotFindLSB(v) | subgroupBallotFindMSB(v) << 8 | subgroupBallotBitCount(v) << 16;
}"""
    data = np.array([(1 + k % 15) | 0xFFF0 << k % 13 for k in range(N)], np.uint32) & ~np.uint32(0)
    low = [int(v) & 15 for v in data]
    want = [(v & -v).bit_length() - 1 | (v.bit_length() - 1) << 8 | v.bit_count() << 16 for v in low]
    np.testing.assert_array_equal(words_of(text, data), want)


AT = ["interpolateAtOffset(a[k], vec2(0.25, -0.125))", "interpolateAtCentroid(a[k])", "interpolateAtSample(a[k], 0)"]


@pytest.mark.parametrize("where", AT)
def test_interpolants_chosen_as_the_shader_runs(where: str) -> None:
    """An element of an array by an index that pixels differ in is what a switch over constants gives."""
    vertex = """#version 450
layout(location = 0) out vec3 a[4];
void main() {
  vec2 p = vec2(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1);
  for (int k = 0; k < 4; k++) a[k] = vec3(p, 1) * (k + 1) + k;
  gl_Position = vec4(p, 0, 1 + 0.25 * gl_VertexIndex);
}"""
    head = "#version 450\nlayout(location = 0) in vec3 a[4]; layout(location = 0) out vec4 o;\n"
    index = "int k = int(gl_FragCoord.x + gl_FragCoord.y * 3) % 4;"
    cases = "\n".join(f"if (k == {k}) v = {where.replace('a[k]', f'a[{k}]')};" for k in range(4))
    second = where.replace("a[k]", "a[k].y")
    frags = [
        f"{head}void main() {{ {index} o = vec4({where}, 1); }}",
        f"{head}void main() {{ {index} vec3 v; {cases} o = vec4(v, 1); }}",
        f"{head}void main() {{ {index} o = vec4(vec3({second}), 1); }}",
    ]
    pictures = []
    for lanes, threads, target in CASES:
        dev = tg.Device(lanes=lanes, threads=threads, jit_target=target, cache_dir="off")
        for frag in frags:
            image = dev.image((16, 16), "r32g32b32a32_sfloat")
            pipe = dev.pipeline(vertex, frag, color=[image])
            with dev.render_pass(color=[image]) as rp:
                rp.draw(pipe, count=3)
            pictures.append(image.numpy())
    for k in range(0, len(pictures), 3):
        np.testing.assert_array_equal(pictures[k], pictures[0])
        np.testing.assert_array_equal(pictures[k + 1], pictures[0])
        np.testing.assert_array_equal(pictures[k + 2][..., 0], pictures[0][..., 1])
    assert len(np.unique(pictures[0])) > 100


OLD_VOTES = """%at = OpAccessChain %pelement %b %u0 %i
%v = OpLoad %uint %at
%side = OpBitwiseAnd %uint %v %eight
%left = OpINotEqual %bool %side %u0
OpSelectionMerge %end None
OpBranchConditional %left %then %else
%then = OpLabel
{0}
OpBranch %end
%else = OpLabel
{1}
OpBranch %end
%end = OpLabel
%r = OpPhi %uint %r0 %then %r1 %else
%to = OpAccessChain %puint %out %u0 %i
OpStore %to %r"""
OLD_VOTE = """%odd{0} = OpBitwiseAnd %uint %v %u1
%is{0} = OpINotEqual %bool %odd{0} %u0
%is_likely{0} = OpExpectKHR %bool %is{0} %true
OpAssumeTrueKHR %is_likely{0}
%ballot{0} = OpSubgroupBallotKHR %uint4 %is_likely{0}
%bits{0} = OpCompositeExtract %uint %ballot{0} 0
%high{0} = OpCompositeExtract %uint %ballot{0} 1
%first{0} = OpSubgroupFirstInvocationKHR %uint %v
%which{0} = OpShiftRightLogical %uint %v %u5
%read{0} = OpSubgroupReadInvocationKHR %uint %v %which{0}
%all{0} = OpSubgroupAllKHR %bool %is{0}
%any{0} = OpSubgroupAnyKHR %bool %is{0}
%equal{0} = OpSubgroupAllEqualKHR %bool %is{0}
%all_word{0} = OpSelect %uint %all{0} %u1 %u0
%any_word{0} = OpSelect %uint %any{0} %u2 %u0
%equal_word{0} = OpSelect %uint %equal{0} %u4 %u0
%r01{0} = OpBitwiseOr %uint %all_word{0} %any_word{0}
%r02{0} = OpBitwiseOr %uint %r01{0} %equal_word{0}
%bits_up{0} = OpShiftLeftLogical %uint %bits{0} %u3
%r03{0} = OpBitwiseOr %uint %r02{0} %bits_up{0}
%first_up{0} = OpShiftLeftLogical %uint %first{0} %eight
%r04{0} = OpBitwiseOr %uint %r03{0} %first_up{0}
%read_up{0} = OpShiftLeftLogical %uint %read{0} %sixteen
%r05{0} = OpBitwiseOr %uint %r04{0} %read_up{0}
%r{0} = OpBitwiseOr %uint %r05{0} %high{0}"""


def test_ballots_and_votes_of_the_extensions_before_subgroups() -> None:
    """SPV_KHR_shader_ballot, SPV_KHR_subgroup_vote, SPV_KHR_expect_assume (what it assumes may be false: nothing is made of it)."""
    rng = np.random.default_rng(12)
    # Bits: 0 odd, 3 the branch, 5 and 6 the invocation that is read, which is the lane itself: those that run are defined.
    data = (rng.integers(0, 2, N) + 8 * rng.integers(0, 2, N) + 32 * (np.arange(N) % 4)).astype(np.uint32)
    data[:8] |= 9  # a subgroup that is all in one branch, and agrees
    types = """%bool = OpTypeBool
%true = OpConstantTrue %bool
%uint4 = OpTypeVector %uint 4
%eight = OpConstant %uint 8
%sixteen = OpConstant %uint 16"""
    body = OLD_VOTES.format(OLD_VOTE.format(0), OLD_VOTE.format(1))
    module = spirv.kernel(
        "SubgroupBallotKHR SubgroupVoteKHR ExpectAssumeKHR", "%uint", 4, types, body,
        extensions="SPV_KHR_shader_ballot SPV_KHR_subgroup_vote SPV_KHR_expect_assume",
    )  # fmt: skip
    want = np.zeros(N, np.uint32)
    for i in range(N):
        group = [k for k in range(i - i % 4, i - i % 4 + 4) if (data[k] ^ data[i]) & 8 == 0]
        odd = [bool(data[k] & 1) for k in group]
        bits = sum(1 << k % 4 for k in group if data[k] & 1)
        want[i] = all(odd) | any(odd) << 1 | (len(set(odd)) == 1) << 2 | bits << 3 | int(data[group[0]]) << 8 | int(data[i]) << 16
    np.testing.assert_array_equal(words_of(module, data), want)
