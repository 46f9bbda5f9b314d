"""Structured control flow as optimisers and front ends of all kinds write it: every pixel is what one invocation alone would compute, with
4, 8 and 16 lanes, before and after spirv-opt. `python tests/test_shader_control_flow.py FIRST COUNT` tries other random programs."""

# ruff: noqa: E501
from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import control_flow_programs as programs
import spirv
import tilegpu as tg

SIDE = 8
LANES = (4, 8, 16)
CLEAR = (7, 7, 7, 7)
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0, 0, 1); }"
#: Passes of spirv-opt that change control flow or where values are used.
RECIPES = (
    ("-O",),
    ("-Os",),
    ("--loop-peeling",),
    ("--loop-unswitch",),
    ("--loop-fission", "50"),
    ("--redundancy-elimination", "--local-redundancy-elimination"),
    ("--merge-blocks", "--if-conversion", "--simplify-instructions"),
    ("--eliminate-dead-branches", "--eliminate-dead-code-aggressive", "--merge-return"),
    ("--inline-entry-points-exhaustive", "--ssa-rewrite", "--code-sink"),
)
_devices: dict[int, tg.Device] = {}


def device(lanes: int) -> tg.Device:
    if lanes not in _devices:
        _devices[lanes] = tg.Device(cache_dir="off", threads=1, lanes=lanes)
    return _devices[lanes]


def draw(
    module: bytes, lanes: int, *, bind: Any = None, fmt: str = "r32g32b32a32_sint", side: int = SIDE
) -> np.ndarray:
    dev = device(lanes)
    out = dev.image((side, side), fmt)
    pipe = dev.pipeline(FULL, module, color=[fmt])
    clear = CLEAR[: fmt.count("32")]
    used = {(b.set, b.binding): bind for b in pipe.interface.bindings.values() if b.used and bind is not None}
    with dev.render_pass(color=[tg.Attachment(out, clear=clear)]) as rp:
        rp.draw(pipe, count=3, bind=used or None)
    return out.numpy()


def columns(module: bytes, lanes: int, *, fmt: str = "r32_sint") -> list[int]:
    image = draw(module, lanes, fmt=fmt)
    assert (image == image[:1]).all()
    return [int(v) for v in image[0, :, 0]]


# -- random programs


def table(u: int) -> np.ndarray:
    words = np.zeros(36, np.int32)
    words[:32:4] = programs.UNIFORM
    words[32] = u
    return words.view(np.uint8)


def check_program(seed: int, recipes: tuple[tuple[str, ...], ...], size: int = 40) -> None:
    functions = programs.Generator(seed, size).program()
    want = np.array(programs.run(functions, SIDE, 2, CLEAR), np.int32)
    module = spirv.assemble(programs.text(functions), validate=False)
    for recipe in ((), *recipes):
        words = spirv.optimise(module, *recipe) if recipe else module
        for lanes in LANES:
            got = draw(words, lanes, bind=device(lanes).buffer(table(2), usage="uniform"))
            wrong = np.argwhere((got != want).any(axis=2))
            assert not len(wrong), (
                f"seed {seed}, {' '.join(recipe) or 'as written'}, {lanes} lanes: {len(wrong)} pixels, first {wrong[0]}: {got[tuple(wrong[0])]}, wanted {want[tuple(wrong[0])]}"
            )


@pytest.mark.parametrize("seed", range(1, 13))
def test_random_programs(seed: int) -> None:
    """The same pixels as the interpreter's, as written and through two of spirv-opt's recipes."""
    check_program(seed, (RECIPES[seed % len(RECIPES)], RECIPES[(seed * 5 + 3) % len(RECIPES)]))


# -- values, pointers and phis that leave a loop in which lanes leave one by one


HEAD = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %o %fc
OpExecutionMode %main OriginUpperLeft
OpDecorate %o Location 0
OpDecorate %fc BuiltIn FragCoord
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%true = OpConstantTrue %bool
%yes = OpSpecConstantFalse %bool
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%v4 = OpTypeVector %float 4
%i0 = OpConstant %int 0
%i1 = OpConstant %int 1
%i2 = OpConstant %int 2
%i100 = OpConstant %int 100
%ptr = OpTypePointer Output %int
%pin = OpTypePointer Input %v4
%pf = OpTypePointer Input %float
%o = OpVariable %ptr Output
%fc = OpVariable %pin Input
%main = OpFunction %void None %fn
%entry = OpLabel
%xp = OpAccessChain %pf %fc %i0
%x = OpLoad %float %xp
%n = OpConvertFToS %int %x
"""
#: Each stores 100 + 2 n, n the pixel's column.
CASES = {
    "two exits with different values (break from the body)": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
%t0 = OpSLessThan %bool %i %i2
OpLoopMerge %m %k None
OpBranchConditional %t0 %b %m
%b = OpLabel
%q = OpIAdd %int %a %i0
%t = OpSLessThan %bool %i %n
OpBranchConditional %t %k %m
%k = OpLabel
%a2 = OpIAdd %int %a %i2
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %a %h %q %b
%rest = OpISub %int %n %i2
%neg = OpSLessThan %bool %rest %i0
%r0 = OpSelect %int %neg %i0 %rest
%r1 = OpIMul %int %r0 %i2
%z2 = OpIAdd %int %z %r1
OpStore %o %z2
OpReturn
OpFunctionEnd""",
    "one exit, value of a body block used after (break), phi": """OpBranch %h
%h = OpLabel
%i = OpPhi %int %i0 %entry %i3 %k
OpLoopMerge %m %k None
OpBranch %b
%b = OpLabel
%q1 = OpIMul %int %i %i2
%q = OpIAdd %int %q1 %i100
%t = OpSLessThan %bool %i %n
OpBranchConditional %t %k %m
%k = OpLabel
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %q %b
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "phi at a selection merge inside a divergent loop, then used after the loop": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
%t = OpSLessThan %bool %i %n
OpLoopMerge %m %k None
OpBranchConditional %t %b %m
%b = OpLabel
%odd = OpBitwiseAnd %int %i %i1
%isodd = OpIEqual %bool %odd %i1
OpSelectionMerge %sm None
OpBranchConditional %isodd %s1 %s2
%s1 = OpLabel
%u = OpIAdd %int %a %i2
OpBranch %sm
%s2 = OpLabel
%v = OpIAdd %int %a %i2
OpBranch %sm
%sm = OpLabel
%a2 = OpPhi %int %u %s1 %v %s2
OpBranch %k
%k = OpLabel
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
OpStore %o %a
OpReturn
OpFunctionEnd""",
    "switch merge phi (no loop)": """OpSelectionMerge %m None
OpSwitch %n %d 1 %c1 2 %c2
%c1 = OpLabel
%w1 = OpIAdd %int %i100 %i2
OpBranch %m
%c2 = OpLabel
%w2 = OpIAdd %int %i100 %i2
%w3 = OpIAdd %int %w2 %i2
OpBranch %m
%d = OpLabel
%w4 = OpIMul %int %n %i2
%w5 = OpIAdd %int %w4 %i100
OpBranch %m
%m = OpLabel
%z = OpPhi %int %w1 %c1 %w3 %c2 %w5 %d
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "uniform loop, phi of a varying value in the merge block": """%x2 = OpIMul %int %n %i2
OpBranch %h
%h = OpLabel
%a = OpPhi %int %x2 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
%t = OpSLessThan %bool %i %i100
OpLoopMerge %m %k None
OpBranchConditional %t %k %m
%k = OpLabel
%a2 = OpIAdd %int %a %i1
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %a %h
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "nested: inner loop's merge phi feeds the outer loop": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %z %k
%i = OpPhi %int %i0 %entry %i3 %k
%t = OpSLessThan %bool %i %n
OpLoopMerge %m %k None
OpBranchConditional %t %ih0 %m
%ih0 = OpLabel
OpBranch %ih
%ih = OpLabel
%b = OpPhi %int %a %ih0 %b2 %ik
%j = OpPhi %int %i0 %ih0 %j3 %ik
%jt = OpSLessThan %bool %j %i2
OpLoopMerge %im %ik None
OpBranchConditional %jt %ik %im
%ik = OpLabel
%b2 = OpIAdd %int %b %i1
%j3 = OpIAdd %int %j %i1
OpBranch %ih
%im = OpLabel
%z = OpPhi %int %b %ih
OpBranch %k
%k = OpLabel
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
OpStore %o %a
OpReturn
OpFunctionEnd""",
    "direct use of the header's phi after the loop": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
%t = OpSLessThan %bool %i %n
OpLoopMerge %m %k None
OpBranchConditional %t %k %m
%k = OpLabel
%a2 = OpIAdd %int %a %i2
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
OpStore %o %a
OpReturn
OpFunctionEnd""",
    "phi in the merge block of the header's phi (LCSSA)": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
%t = OpSLessThan %bool %i %n
OpLoopMerge %m %k None
OpBranchConditional %t %k %m
%k = OpLabel
%a2 = OpIAdd %int %a %i2
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %a %h
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "the same with a body block": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
%t = OpSLessThan %bool %i %n
OpLoopMerge %m %k None
OpBranchConditional %t %b %m
%b = OpLabel
%a2 = OpIAdd %int %a %i2
OpBranch %k
%k = OpLabel
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %a %h
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "LoopMerge in a header that only branches; phi from the test block": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
OpLoopMerge %m %k None
OpBranch %c
%c = OpLabel
%t = OpSLessThan %bool %i %n
OpBranchConditional %t %b %m
%b = OpLabel
%a2 = OpIAdd %int %a %i2
OpBranch %k
%k = OpLabel
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %a %c
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "phi of a value computed in the header": """OpBranch %h
%h = OpLabel
%i = OpPhi %int %i0 %entry %i3 %k
%a1 = OpIMul %int %i %i2
%a = OpIAdd %int %a1 %i100
%t = OpSLessThan %bool %i %n
OpLoopMerge %m %k None
OpBranchConditional %t %k %m
%k = OpLabel
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %a %h
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "break from the body, phi of two exits": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
%t0 = OpSLessThan %bool %i %i100
OpLoopMerge %m %k None
OpBranchConditional %t0 %b %m
%b = OpLabel
%t = OpSLessThan %bool %i %n
OpBranchConditional %t %k %m
%k = OpLabel
%a2 = OpIAdd %int %a %i2
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %a %h %a %b
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "do-while: exit in the continue block, phi": """%np = OpIAdd %int %n %i1
OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
OpLoopMerge %m %k None
OpBranch %k
%k = OpLabel
%a2 = OpIAdd %int %a %i2
%i3 = OpIAdd %int %i %i1
%t = OpSLessThan %bool %i3 %np
OpBranchConditional %t %h %m
%m = OpLabel
%z = OpPhi %int %a %k
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "the swapped branch (merge first)": """OpBranch %h
%h = OpLabel
%a = OpPhi %int %i100 %entry %a2 %k
%i = OpPhi %int %i0 %entry %i3 %k
%t = OpSGreaterThanEqual %bool %i %n
OpLoopMerge %m %k None
OpBranchConditional %t %m %k
%k = OpLabel
%a2 = OpIAdd %int %a %i2
%i3 = OpIAdd %int %i %i1
OpBranch %h
%m = OpLabel
%z = OpPhi %int %a %h
OpStore %o %z
OpReturn
OpFunctionEnd""",
    "merge block with one predecessor, which is an arm": """%c = OpLogicalNot %bool %yes
%w = OpIMul %int %n %i2
OpSelectionMerge %merge None
OpBranchConditional %yes %then %else
%then = OpLabel
OpKill
%else = OpLabel
OpSelectionMerge %inner None
OpBranchConditional %c %l1 %l2
%l1 = OpLabel
OpBranch %inner
%l2 = OpLabel
OpBranch %inner
%inner = OpLabel
%v = OpPhi %int %i100 %l1 %i2 %l2
OpBranch %merge
%merge = OpLabel
%p = OpPhi %int %v %inner
%r = OpIAdd %int %p %w
OpStore %o %r
OpReturn
OpFunctionEnd""",
    "a predecessor that nothing reaches": """%w = OpIMul %int %n %i2
OpBranch %live
%dead = OpLabel
%d = OpIAdd %int %w %i2
OpBranch %join
%live = OpLabel
%l = OpIAdd %int %w %i100
OpBranch %join
%join = OpLabel
%p = OpPhi %int %d %dead %l %live
OpStore %o %p
OpReturn
OpFunctionEnd""",
    "arms that meet before the merge block": """%c = OpSLessThan %bool %n %i2
OpSelectionMerge %merge None
OpBranchConditional %c %then %else
%then = OpLabel
%a = OpIAdd %int %n %n
OpBranch %both
%else = OpLabel
%b = OpIMul %int %n %i2
OpBranch %both
%both = OpLabel
%p = OpPhi %int %a %then %b %else
%q = OpIAdd %int %p %i100
OpBranch %merge
%merge = OpLabel
OpStore %o %q
OpReturn
OpFunctionEnd""",
    "both targets alike": """%w = OpIMul %int %n %i2
%c = OpSLessThan %bool %n %i2
OpSelectionMerge %merge None
OpBranchConditional %c %body %body
%body = OpLabel
%v = OpIAdd %int %w %i100
OpBranch %merge
%merge = OpLabel
%p = OpPhi %int %v %body
OpStore %o %p
OpReturn
OpFunctionEnd""",
}


@pytest.mark.parametrize("name", CASES)
def test_phis(name: str) -> None:
    module = spirv.assemble(HEAD + CASES[name] + "\n")
    for lanes in LANES:
        assert columns(module, lanes) == [100 + 2 * k for k in range(SIDE)], lanes


#: A pointer with an index that is the same for all pixels within an iteration, read (or written) behind the loop; each stores the column.
POINTERS = {
    "local array": "void main() { int x = int(gl_FragCoord.x); int t[10] = int[](0,1,2,3,4,5,6,7,8,9); int i; for (i = 0; t[i] < x; i++); o = t[i]; }",
    "uniform buffer": "layout(binding=0) uniform U { ivec4 t[10]; };\nvoid main() { int x = int(gl_FragCoord.x); int i; for (i = 0; t[i].x < x; i++); o = t[i].x; }",
    "storage buffer": "layout(binding=0) readonly buffer U { ivec4 t[10]; };\nvoid main() { int x = int(gl_FragCoord.x); int i; for (i = 0; t[i].x < x; i++); o = t[i].x; }",
    "search with a break": "layout(binding=0) uniform U { ivec4 t[10]; };\nvoid main() { int x = int(gl_FragCoord.x); int i; for (i = 0; i < 10; i++) { if (t[i].x >= x) break; } o = t[i].x; }",
    "store": "void main() { int x = int(gl_FragCoord.x); int t[10] = int[](0,1,2,3,4,5,6,7,8,9); int i; for (i = 0; t[i] < x; i++); t[i] += 100;\n  int s = 0; for (int k = 0; k < 10; k++) if (t[k] >= 100) s += t[k] - 100; o = s; }",
    "array of buffers": "layout(binding=0) readonly buffer U { int v; } b[8];\nvoid main() { int x = int(gl_FragCoord.x); int i; for (i = 0; b[i].v < x; i++); o = b[i].v; }",
    "global array in a function": "int t[10] = int[](0,1,2,3,4,5,6,7,8,9);\nint f(int x) { int i; for (i = 0; t[i] < x; i++); return t[i]; }\nvoid main() { o = f(int(gl_FragCoord.x)); }",
}


@pytest.mark.parametrize("name", POINTERS)
def test_pointers(name: str) -> None:
    words = tg.compile_glsl("#version 450\nlayout(location=0) out int o;\n" + POINTERS[name], "fragment")
    data = np.zeros((10, 4), np.int32)
    data[:, 0] = range(10)
    for passes in ((), ("-O",), ("-Os",), ("--redundancy-elimination",)):
        module = spirv.optimise(words, *passes) if passes else words
        for lanes in LANES:
            dev = device(lanes)
            usage = "uniform" if "uniform U" in POINTERS[name] else "storage"
            if name == "array of buffers":
                bind: Any = [dev.buffer(np.full(1, k, np.int32), usage=usage) for k in range(8)]
            else:
                bind = dev.buffer(data.view(np.uint8).reshape(-1), usage=usage)
            image = draw(module, lanes, bind=bind, fmt="r32_sint")
            assert image[0, :, 0].tolist() == list(range(SIDE)), (passes, lanes)


def test_textures_chosen_in_a_loop() -> None:
    """An image loaded in a loop, and sampled behind it."""
    text = """#version 450
layout(location=0) out float o; layout(binding=0) uniform sampler2D t[8];
void main() { int x = int(gl_FragCoord.x), i; float v; for (i = 0; ; i++) { v = textureLod(t[i], vec2(0.5), 0.0).x * 255.0; if (v >= float(x)) break; }
  o = v + textureLod(t[i], vec2(0.5), 0.0).x * 255.0; }"""
    words = tg.compile_glsl(text, "fragment")
    for passes in ((), ("-O",), ("--redundancy-elimination",)):
        module = spirv.optimise(words, *passes) if passes else words
        for lanes in LANES:
            bind = [device(lanes).texture(np.full((1, 1, 4), k, np.uint8)) for k in range(8)]
            image = draw(module, lanes, bind=bind, fmt="r32_sfloat")
            assert np.abs(image[0, :, 0] - 2 * np.arange(SIDE)).max() < 1e-4, (passes, lanes)


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    failed = 0
    for number in range(first, first + count):
        try:
            check_program(number, RECIPES if len(sys.argv) > 3 else ())
        except Exception as error:
            failed += 1
            print(number, type(error).__name__, str(error)[:400], flush=True)
    print(f"{count} programs, {failed} failed")


def test_what_lanes_that_continue_have_missed() -> None:
    """A counter that only those who did not `continue` advance: each lane has its own, though all began alike."""
    text = """#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer R { uint r[]; };
void main() {
  uint x = gl_GlobalInvocationID.x, k = 0, sum = 0, last = 7;
  for (uint i = 0; i < 6; i++) {
    if ((i + x) % 3 == 1) continue;
    r[8 * x + i] = k++;
    for (uint j = 0; j < 3; j++) { if ((x >> j & 1) == 0) continue; sum += j + 1; last = i; }
  }
  r[8 * x + 6] = sum; r[8 * x + 7] = last;
}"""
    want = np.full((32, 8), 9, np.uint32)
    for x in range(32):
        k, total, last = 0, 0, 7
        for i in range(6):
            if (i + x) % 3 == 1:
                continue
            want[x, i], k = k, k + 1
            for j in range(3):
                if x >> j & 1:
                    total, last = total + j + 1, i
        want[x, 6:] = total, last
    for lanes in (4, 8, 16):
        dev = tg.Device(lanes=lanes, cache_dir="off")
        result = dev.buffer(np.full((32, 8), 9, np.uint32))
        dev.dispatch(dev.compute_pipeline(text), 1, bind={"R": result})
        np.testing.assert_array_equal(result.numpy(np.uint32, (32, 8)), want)
