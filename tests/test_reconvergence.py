"""Who is together: operations of subgroups in loops that their invocations leave at different times, behind breaks, continues, returns and
cases that fall (VK_KHR_shader_maximal_reconvergence); votes of quads and helper invocations that take part (VK_KHR_shader_quad_control).

Oracles: closed forms of the specifications' rules, and the reference interpreter, whose invocations are together where they came to the
same place in the same rounds of all loops around it. Source: SPV_KHR_maximal_reconvergence, "Tangles"; SPV_KHR_quad_control.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.oracle.shaders import stages, words
from tests.shader_fuzz import compare
from tests.shader_fuzz.program import Generator

import spirv
import tilegpu as tg
from tilegpu.errors import ShaderError

COUNT = 32


@pytest.fixture(params=list(compare.SHARES), ids=lambda c: f"{c[0]} lanes, {c[1]}")
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return compare.device(*request.param)


def reconverging(module: bytes) -> bytes:
    """The module with the mode MaximallyReconvergesKHR, which glslang of 2023 has no word for."""
    found = words.parse(module)
    entry = next(i for i in found.instructions if i.op == "OpEntryPoint")
    at = max(k for k, i in enumerate(found.instructions) if i.op in ("OpExecutionMode", "OpEntryPoint"))
    found.instructions.insert(at + 1, words.Instruction("OpExecutionMode", operands=[entry.operands[1], 6023]))
    at = max(k for k, i in enumerate(found.instructions) if i.op == "OpCapability")
    name = list(np.frombuffer(b"SPV_KHR_maximal_reconvergence".ljust(32, b"\0"), "<u4").tolist())
    found.instructions.insert(at + 1, words.Instruction("OpExtension", operands=name))
    return words.write(found)


#: Each adds a ballot, or what is as telling, to the invocation's row.
BODIES = {
    "a loop left at different times": """
  for (uint k = 0u; k < 9u; ++k) { if (k > i % 7u) break; say(subgroupBallot(true).x); } say(subgroupBallot(true).x);""",
    "continues": """
  for (uint k = 0u; k < 6u; ++k) { if ((k + i) % 3u == 0u) continue; say(subgroupBallot(true).x + 16u * k); } say(subgroupAdd(i));""",
    "a loop in a loop": """
  for (uint k = 0u; k < 1u + i % 4u; ++k) {
    for (uint j = 0u; j < 4u; ++j) { if (j == (i ^ k) % 4u) break; say(subgroupBallot(j < 2u).x); }
    say(subgroupAdd(1u));
    if (k == 1u && i % 3u == 1u) break;
  }
  say(subgroupBallot(true).x);""",
    "a case that falls": """
  for (uint k = 0u; k < 3u; ++k) {
    switch ((i + k) % 4u) {
      case 0: say(subgroupBallot(true).x);
      case 1: say(subgroupBallot(true).x | 32u); break;
      case 2: if (i % 8u < 4u) break; say(subgroupElect() ? 7u : 9u); break;
      default: say(subgroupAdd(i));
    }
    say(subgroupBallot(true).x | 64u);
  }""",
    "a test at the end": "uint k = 0u; do { say(subgroupBallot(true).x); k += 1u + i % 2u; } while (k < 1u + i % 5u); say(subgroupAdd(k));",
    "a return within": """
  for (uint k = 0u; k < 5u; ++k) { if (k == i % 6u) return; say(subgroupBallot(true).x); } say(subgroupBallot(true).x | 128u);""",
    "one at a time": """
  bool todo = true;
  while (todo) { uint who = subgroupBroadcastFirst(i % 3u); if (who == i % 3u) { say(subgroupBallot(true).x + 16u * who); todo = false; } }
  say(subgroupBallot(true).x);""",
}


def kernel(body: str) -> bytes:
    text = f"""#version 450
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = {COUNT}) in;
layout(binding = 0) buffer Out {{ uint o[][64]; }};
uint i = gl_LocalInvocationIndex, n = 1u;
void say(uint value) {{ if (n < 64u) o[i][n] = value + 1000u; o[i][0] = n; n += 1u; }}
void main() {{ {body} }}"""
    return reconverging(tg.compile_glsl(text, "compute"))


def both(dev: tg.Device, module: bytes) -> tuple[np.ndarray, np.ndarray]:
    out = dev.buffer(np.zeros(COUNT * 64, np.uint32))
    dev.dispatch(dev.compute_pipeline(module), 1, bind={(0, 0): out})
    wanted = stages.Buffer(bytearray(COUNT * 256))
    stages.dispatch(stages.Program(stages.read(module), {(0, 0): wanted}), (1, 1, 1))
    return out.numpy().reshape(COUNT, 64), np.frombuffer(wanted.data, np.uint32).reshape(COUNT, 64)


@pytest.mark.parametrize("name", BODIES)
def test_subgroups_in_divergent_flow(dev: tg.Device, name: str) -> None:
    got, want = both(dev, kernel(BODIES[name]))
    np.testing.assert_array_equal(got, want)
    assert len(np.unique(want)) > 5


def test_rounds_by_the_rule(dev: tg.Device) -> None:
    """In round k of a loop those are together that did not leave before it, and behind it all are again."""
    got, _ = both(dev, kernel(BODIES["a loop left at different times"]))
    for i in range(COUNT):
        quad = [4 * (i // 4) + p for p in range(4)]
        rounds = [sum(1 << p for p, other in enumerate(quad) if k <= other % 7) for k in range(9) if k <= i % 7]
        want = [1000 + bits for bits in [*rounds, 15]]
        assert list(got[i, 1 : 1 + len(want)]) == want and got[i, 0] == len(want)


# -- votes of quads


SIDE = 16
VOTES = """OpCapability Shader
OpCapability GroupNonUniform
OpCapability GroupNonUniformBallot
OpCapability DemoteToHelperInvocation
OpCapability QuadControlKHR
OpExtension "SPV_KHR_quad_control"
OpExtension "SPV_KHR_maximal_reconvergence"
OpExtension "SPV_EXT_demote_to_helper_invocation"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %at %o
OpExecutionMode %main OriginUpperLeft
OpExecutionMode %main MaximallyReconvergesKHR
{mode}
OpDecorate %at BuiltIn FragCoord
OpDecorate %o Location 0
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%uint4 = OpTypeVector %uint 4
%float = OpTypeFloat 32
%float4 = OpTypeVector %float 4
%in4 = OpTypePointer Input %float4
%out4 = OpTypePointer Output %uint4
%at = OpVariable %in4 Input
%o = OpVariable %out4 Output
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%five = OpConstant %uint 5
%true = OpConstantTrue %bool
%main = OpFunction %void None %f
%start = OpLabel
%p = OpLoad %float4 %at
%fx = OpCompositeExtract %float %p 0
%fy = OpCompositeExtract %float %p 1
%x = OpConvertFToU %uint %fx
%y = OpConvertFToU %uint %fy
%sum = OpIAdd %uint %x %y
%sum5 = OpUMod %uint %sum %five
%is = OpINotEqual %bool %sum5 %zero
{before}
%all = OpGroupNonUniformQuadAllKHR %bool %is
%not = OpLogicalNot %bool %is
%any = OpGroupNonUniformQuadAnyKHR %bool %not
%ballot = OpGroupNonUniformBallot %uint4 %three %true
%bits = OpCompositeExtract %uint %ballot 0
%a = OpSelect %uint %all %one %zero
%b = OpSelect %uint %any %one %zero
%made = OpCompositeConstruct %uint4 %a %b %bits %one
OpStore %o %made
OpReturn
OpFunctionEnd
"""
#: Pixels of one column in two that end, or become helper invocations.
END = """%low = OpBitwiseAnd %uint %x %one
%ends = OpIEqual %bool %low %one
OpSelectionMerge %on None
OpBranchConditional %ends %gone %on
%gone = OpLabel
{end}
%on = OpLabel"""
TRIANGLE = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 1.03 : -0.97, gl_VertexIndex == 2 ? 1.03 : -0.95, 0.5, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out uvec4 o; void main() { o = uvec4(9); }"


@pytest.mark.parametrize("full", [False, True], ids=["as it comes", "full quads"])
@pytest.mark.parametrize("ending", ["none", "terminated", "demoted"])
def test_quads_of_fragments(dev: tg.Device, full: bool, ending: str) -> None:
    """At the triangle's edge quads have helper invocations: they vote, and are in ballots with full quads; what has ended is in none."""
    ends = {"none": "", "terminated": END.format(end="OpKill"), "demoted": END.format(end="OpDemoteToHelperInvocation\nOpBranch %on")}
    text = VOTES.format(mode="OpExecutionMode %main RequireFullQuadsKHR" if full else "", before=ends[ending])
    module = spirv.assemble(spirv.with_numbers(text), validate=False, version="1.3")

    def draw(frag: bytes | str) -> np.ndarray:
        color = dev.image((SIDE, SIDE), "r8g8b8a8_uint")
        with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(dev.pipeline(TRIANGLE, frag, color=[color.format]), count=3)
        return np.asarray(color.numpy()).reshape(SIDE, SIDE, 4)

    covered = draw(WHITE)[..., 0] == 9
    got = draw(module)
    x, y = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
    holds = (x + y) % 5 != 0
    live = covered & (x % 2 == 0) if ending != "none" else covered
    votes = np.ones_like(covered) if ending != "terminated" else x % 2 == 0
    for v, u in zip(*np.nonzero(live), strict=True):
        quad = [(v & ~1 | p >> 1, u & ~1 | p & 1) for p in range(4)]
        voters = [q for q in quad if votes[q]]
        running = votes if full else live
        ballot = sum(1 << p for p, q in enumerate(quad) if running[q])
        want = [all(holds[q] for q in voters), any(not holds[q] for q in voters), ballot, 1]
        assert list(got[v, u]) == want, (u, v)
    assert not got[~live].any() and 0 < live.sum() < SIDE * SIDE


def test_random_programs_vote() -> None:
    """Random programs with votes of quads in divergent flow, of all stages that have them, as the interpreter runs them."""
    found = 0
    for seed in range(1, 400):
        if random.Random(seed).random() >= 0.15:
            continue
        program = Generator(seed, 16).program()
        if "QuadControlKHR" in program.text or "ReplicatedCompositesEXT" in program.text:
            compare.check(program, thorough=False)
            found += 1
        if found == 12:
            break
    assert found == 12


# -- what is refused


@dataclass
class Wrong:
    change: tuple[str, str]
    message: str
    more: list[str] = field(default_factory=list)


WRONG = {
    "no capability": Wrong(("OpCapability QuadControlKHR\n", ""), "the capability QuadControlKHR is not declared"),
    "a vote of numbers": Wrong(
        ("QuadAllKHR %bool %is", "QuadAllKHR %uint %x"), "not valid SPIR-V"
    ),
    "no extension": Wrong(('OpExtension "SPV_KHR_quad_control"\n', ""), "not valid SPIR-V"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str) -> None:
    wrong = WRONG[name]
    text = VOTES.format(mode="", before="")
    assert wrong.change[0] in text
    module = spirv.assemble(spirv.with_numbers(text.replace(*wrong.change)), validate=False, version="1.3")
    with pytest.raises(ShaderError) as caught:
        tg.Device(cache_dir="off", threads=1).pipeline(TRIANGLE, module, color=["r8g8b8a8_uint"])
    assert wrong.message in str(caught.value)
