"""Random shaders by the compiler and by the reference interpreter of tests/oracle/shaders: the same bits. Which instructions the
interpreter knows; that a difference is seen, and made small. `make fuzz-shaders` runs more of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.shaders import glsl450, invocation, stages, words
from tests.shader_fuzz import compare, functions, reduce, tables
from tests.shader_fuzz.program import Generator

import spirv
import tilegpu as tg

ROOT = Path(__file__).parent.parent
SOURCES = [p for room in ("lower", "spirv") for p in sorted((ROOT / "cpp" / "src" / "shader" / room).glob("*.[ch]pp"))]
#: The compiler asks for an instruction between two: all that lie between are meant.
RANGES = (
    ("OpSDot", "OpSUDotAccSat"),
    ("OpGroupNonUniformElect", "OpGroupNonUniformQuadSwap"),
    ("OpAtomicLoad", "OpAtomicXor"),
)
#: Instructions that the compiler names and the interpreter does not execute, and why.
NOT_EXECUTED = {
    "declarations and debug information, read before anything runs": """
        OpCapability OpExtension OpMemoryModel OpEntryPoint OpExecutionMode OpExecutionModeId OpExtInstImport OpName OpMemberName OpString
        OpLine OpNoLine
        OpNop OpDecorate OpMemberDecorate OpDecorationGroup OpGroupDecorate OpGroupMemberDecorate OpTypeVoid OpTypeBool OpTypeInt
        OpTypeFloat OpTypeVector OpTypeMatrix OpTypeArray OpTypeRuntimeArray OpTypeStruct OpTypePointer OpTypeFunction OpTypeImage
        OpTypeSampler OpTypeSampledImage OpTypeForwardPointer OpConstant OpConstantTrue OpConstantFalse OpConstantComposite
        OpConstantNull OpSpecConstant OpSpecConstantTrue OpSpecConstantFalse OpSpecConstantComposite OpSpecConstantOp OpFunction
        OpFunctionParameter OpFunctionEnd OpLabel OpSelectionMerge OpLoopMerge""",
    "refused by the compiler, or by its capability": "OpConstantSampler OpAtomicCompareExchangeWeak",
    "sampling is the oracles' of images (test_sampler_footprints, test_sampler_kinds, test_ycbcr, test_compressed_formats)": """
        OpImageSampleImplicitLod OpImageSampleExplicitLod OpImageSampleDrefImplicitLod OpImageSampleDrefExplicitLod
        OpImageSampleProjImplicitLod OpImageSampleProjExplicitLod OpImageSampleProjDrefImplicitLod
        OpImageSampleProjDrefExplicitLod OpImageGather OpImageDrefGather OpImageQueryLod""",
    "said to the validator alone, for SPV_KHR_cooperative_matrix, which the grammar lacks (test_cooperative_matrices)": """
        OpTypeCooperativeMatrixNV OpCooperativeMatrixLoadNV OpCooperativeMatrixStoreNV OpCooperativeMatrixMulAddNV
        OpCooperativeMatrixLengthNV""",
    "buffers by address: test_addresses, test_addresses_in_stages": "OpConvertPtrToU OpConvertUToPtr",
}
INTERPOLATION = {
    "InterpolateAtCentroid",
    "InterpolateAtSample",
    "InterpolateAtOffset",
}  # bits of the rasteriser: test_barycentrics


def compiler_takes() -> set[str]:
    """Instructions that the compiler's sources name, and those between two that bound a range."""
    text = "\n".join(p.read_text(encoding="utf-8") for p in SOURCES)
    found = set(re.findall(r"spv::(Op[A-Z]\w+)", text))
    numbers = words.all_names()
    for first, last in RANGES:
        assert {first, last} <= found, "the compiler's range changed"
        found |= {
            name for name, n in numbers.items() if numbers[first] <= n <= numbers[last] and words.name_of(n) == name
        }
    return {words.name_of(numbers[name]) for name in found}


def test_every_instruction_is_interpreted_or_has_a_reason() -> None:
    left_out = {words.name_of(words.opcode_of(name)) for names in NOT_EXECUTED.values() for name in names.split()}
    covered = {words.name_of(words.opcode_of(name)) for name in invocation.covered()}
    taken = compiler_takes()
    assert taken - covered - left_out == set()
    assert left_out & covered == set() and left_out - taken == set(), "reasons that nothing needs"
    assert len(covered) >= 209


def test_every_extended_instruction_is_interpreted() -> None:
    text = (ROOT / "cpp" / "src" / "shader" / "lower" / "glsl450.cpp").read_text(encoding="utf-8")
    taken = set(re.findall(r"GLSLstd450([A-Z]\w+)", text))
    assert taken <= set(glsl450.NUMBERS.values())
    assert set(glsl450.NUMBERS.values()) - INTERPOLATION == set(glsl450.TABLE) | {"Modf", "Frexp"}


SEEDS = range(1, 9)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int) -> None:
    """As written and through a recipe of spirv-opt."""
    first = int(os.environ.get("TILEGPU_FUZZ_SEED", "0"))
    compare.check(Generator(first + seed, 16).program())


@pytest.mark.parametrize("kind", sorted(set(tables.KINDS)))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tables(kind: str, seed: int) -> None:
    """Operations on edge cases, each table by one of the compiler's variants."""
    first = int(os.environ.get("TILEGPU_FUZZ_SEED", "0"))
    compare.sample(tables.Table(first + seed, 24, kind).program())


def test_every_function_has_a_row() -> None:
    """Tables choose among all whose bits Vulkan says: not sines and their kind, nor what 180 by pi is."""
    rows = {row[0] for row in functions.ROWS} | {"Modf", "ModfStruct", "Frexp", "FrexpStruct", "Radians", "Degrees"}
    assert set(glsl450.TABLE) - set(glsl450.WITHIN) - rows == set()
    simple = {op for op in invocation.arithmetic.TABLE if op.startswith(("OpF", "OpI", "OpS", "OpU", "OpBit", "OpShift", "OpConvert"))}
    by_methods = {"OpFDiv", "OpIAddCarry", "OpISubBorrow", "OpUMulExtended", "OpSMulExtended", "OpBitcast"}
    dots = {f"Op{x}Dot{y}" for x in ("S", "U", "SU") for y in ("", "AccSat")}
    assert simple - rows - by_methods - dots == {"OpUndef"}


ADDS = """%at = OpAccessChain %puint %out %u0 %i
%x = OpIAdd %uint %i %u3
%y = OpIMul %uint %x %x
OpStore %at %y"""


def test_a_module_survives_reading_and_writing() -> None:
    module = spirv.kernel("", "%uint", 4, "", ADDS)
    assert words.write(words.parse(module))[20:] == module[20:]


def test_reduction_keeps_what_is_asked_for() -> None:
    """Down to the one instruction that makes a module interesting."""
    program = Generator(5, 4, "compute").program()
    module = spirv.assemble(program.text, version=program.version, validate=False)
    wanted = next(i.op for i in words.parse(module).instructions[::-1] if i.op in invocation.arithmetic.TABLE)

    def interesting(candidate: bytes) -> bool:
        return any(i.op == wanted for i in words.parse(candidate).instructions)

    small = reduce.reduced(module, interesting, 300)
    assert interesting(small) and reduce.is_valid(small)
    assert len(small) < len(module) / 2


#: x * x - 1, the product for the difference alone; and a switch, whose literal is put in later.
PRODUCT = """%at = OpAccessChain %puint %out %u0 %i
%word = OpLoad %uint %at
%x = OpBitcast %float %word
%square = OpFMul %float %x %x
%less = OpFSub %float %square %one
%bits = OpBitcast %uint %less
OpStore %at %bits
OpSelectionMerge %end None
OpSwitch %i %end 77 %other
%other = OpLabel
OpBranch %end
%end = OpLabel"""


def test_literals_are_no_uses_of_a_product() -> None:
    """Whether a product is fused with its sum does not depend on numbers that happen to be its id."""
    types = "%float = OpTypeFloat 32\n%one = OpConstant %float 1"
    parsed = words.parse(spirv.kernel("", "%uint", 4, types, PRODUCT))
    product = next(i.result for i in parsed.instructions if i.op == "OpFMul")
    data = np.arange(32, dtype="f4") / 4096 + 1
    found = []
    for literal in (77, product):
        switch = next(i for i in parsed.instructions if i.op == "OpSwitch")
        switch.operands[2] = literal
        module = words.write(parsed)
        dev = compare.device(8, "quick")
        r = dev.buffer(data.view("u4").copy())
        dev.dispatch(dev.compute_pipeline(module), 1, bind={(0, 1): r})
        found.append(r.numpy().view("f4").astype("f8"))
        buffers = {(0, 0): stages.Buffer(bytearray(4)), (0, 1): stages.Buffer(bytearray(data.tobytes()))}
        stages.dispatch(stages.Program(stages.read(module), buffers))
        np.testing.assert_array_equal(np.frombuffer(buffers[0, 1].data, "f4"), found[-1])
    np.testing.assert_array_equal(found[0], found[1])
    exact = data.astype("f8") ** 2 - 1
    assert (found[0] == exact.astype("f4")).all() and (found[0] != data * data - np.float32(1)).any()


FAR = """#version 450
struct S { uvec4 x; uvec4 y; };
layout(binding = 0) buffer B { S s[]; };
layout(binding = 1) buffer C { uint pad[4]; uint a[2][2][2][2]; };
layout(binding = 2) buffer R { uint far; uint r[]; };
void main() {
  r[0] = s[0x08000000].y.x + s[0x7fffffff].y.x + s[0x7ffffffe].y.w;
  r[1] = a[far][far][far][far] + a[far][far >> 1][0][far];
  r[2] = s[far].y[far & 1u];
  s[0x08000000].y.x = 9;
  a[far][far][far][far] = 9;
  s[far].x = uvec4(9);
}"""


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_far_indices_do_not_come_round(lanes: int) -> None:
    """Offsets are sums of 32 bits: what lies beyond 4 GiB is beyond the buffer all the same."""
    dev = compare.device(lanes, "quick")
    pipe = dev.compute_pipeline(FAR)
    for far in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000000, 0x20000000):
        s, a = np.full(64, 7, "u4"), np.full(20, 7, "u4")
        b, c, r = dev.buffer(s), dev.buffer(a), dev.buffer(np.array([far, 5, 5, 5], "u4"))
        dev.dispatch(pipe, 1, bind={"B": b, "C": c, "R": r})
        assert r.numpy().tolist() == [far, 0, 0, 0], hex(far)
        assert (b.numpy() == s).all() and (c.numpy() == a).all(), hex(far)


def test_a_descriptor_reaches_one_gibibyte() -> None:
    """maxStorageBufferRange: more is an error, a part of a larger buffer is not."""
    dev = compare.device(8, "quick")
    text = """#version 450
    layout(binding = 0) buffer B { uint v[]; };
    layout(binding = 1) buffer R { uint r[]; };
    void main() { v[0x0fffffff] = 3; v[0x10000000] = 4; r[0] = v[0x0fffffff]; r[1] = v[0x10000000]; }"""
    large, r, pipe = dev.buffer((1 << 30) + 256), dev.buffer(np.full(2, 9, "u4")), dev.compute_pipeline(text)
    with pytest.raises(tg.ValidationError, match=r"1073742080 B; a descriptor reaches 1073741824 B"):
        dev.dispatch(pipe, 1, bind={"B": large, "R": r})
    dev.dispatch(pipe, 1, bind={"B": large.slice(0, 1 << 30), "R": r})
    assert r.numpy().tolist() == [3, 0]


TEXELS = """#version 450
layout(local_size_x = 6, local_size_y = 4) in;
layout(binding = 0, r32ui) uniform uimage2D image;
layout(binding = 1) buffer R { uint r[]; };
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  uint k = gl_LocalInvocationIndex;
  uint near = imageLoad(image, at - 1).x + 3u * imageLoad(image, at + ivec2(1, 0)).x;
  barrier();
  uint old = imageAtomicAdd(image, at + ivec2(2, 3), k + 1u);
  barrier();
  imageAtomicMax(image, ivec2(0, 7), k * 5u);
  imageAtomicXor(image, ivec2(1, 7), 1u << k);
  imageAtomicCompSwap(image, ivec2(7, 0), 77u, k);
  if (k % 3u == 0u) imageStore(image, ivec2(k, k / 2u) - 2, uvec4(k + 1000u));
  r[k] = near + old * 1000u + uint(imageSize(image).x) * 100000u;
}"""


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_texels(lanes: int) -> None:
    """Loads, stores and atomics of an image, inside and outside."""
    dev = compare.device(lanes, "quick")
    start = np.arange(64, dtype="u4").reshape(8, 8, 1) * 37 % 1000
    image, r = dev.image((8, 8), "r32_uint"), dev.buffer(np.zeros(24, "u4"))
    image.write(start)
    module = tg.compile_glsl(TEXELS, "compute")
    dev.dispatch(dev.compute_pipeline(module), 1, bind={"image": image, "R": r})
    model = stages.Image((8, 8), {(x, y): (int(start[y, x, 0]), 0, 0, 1) for x in range(8) for y in range(8)}, one=1)
    bindings = {(0, 0): model, (0, 1): stages.Buffer(bytearray(96))}
    stages.dispatch(stages.Program(stages.read(module), bindings))
    assert r.numpy().tobytes() == bytes(bindings[0, 1].data)
    wanted = np.array([[model.read((x, y))[0] for x in range(8)] for y in range(8)], "u4")
    np.testing.assert_array_equal(image.numpy()[..., 0], wanted)
