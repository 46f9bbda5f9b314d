"""Extensions of SPIR-V that SPIRV-Tools of 2023 does not know: replicated composites, debug information that names what comes later, what
may be contracted (SPV_EXT_replicated_composites, SPV_KHR_relaxed_extended_instruction, SPV_KHR_float_controls2); and what DXC's modules
declare (SPV_GOOGLE_decorate_string, SPV_GOOGLE_hlsl_functionality1, SPV_GOOGLE_user_type). Oracles: the reference interpreter, and the same
module without them.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.shaders import stages
from tests.shader_fuzz import compare

import spirv
import tilegpu as tg
from tilegpu.errors import ShaderError

COUNT = 32


@pytest.fixture(params=list(compare.SHARES), ids=lambda c: f"{c[0]} lanes, {c[1]}")
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return compare.device(*request.param)


def text_of(body: str, *, types: str = "", decorations: str = "", capabilities: str = "", extensions: str = "", imports: str = "",
            modes: str = "", names: str = "") -> str:  # fmt: skip
    """A kernel of 32 invocations: %i is the invocation, as float %x; %store is where its word goes."""
    return f"""OpCapability Shader
{capabilities}
{extensions}
{imports}
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %id
OpExecutionMode %main LocalSize 32 1 1
{modes}
{names}
{decorations}
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %words ArrayStride 4
OpDecorate %R Block
OpMemberDecorate %R 0 Offset 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%uint3 = OpTypeVector %uint 3
%float3 = OpTypeVector %float 3
%in3 = OpTypePointer Input %uint3
%id = OpVariable %in3 Input
%zero = OpConstant %uint 0
%three = OpConstant %uint 3
%words = OpTypeRuntimeArray %uint
%R = OpTypeStruct %words
%pR = OpTypePointer StorageBuffer %R
%puint = OpTypePointer StorageBuffer %uint
%out = OpVariable %pR StorageBuffer
{types}
%main = OpFunction %void None %f
%start = OpLabel
%id3 = OpLoad %uint3 %id
%i = OpCompositeExtract %uint %id3 0
%x = OpConvertUToF %float %i
%store = OpAccessChain %puint %out %zero %i
{body}
OpStore %store %word
OpReturn
OpFunctionEnd
"""


def assembled(text: str) -> bytes:
    return spirv.assemble(spirv.with_numbers(text), validate=False, version="1.4")


def run(dev: tg.Device, module: bytes, constants: dict[int, int] | None = None) -> np.ndarray:
    out = dev.buffer(np.zeros(COUNT, np.uint32))
    dev.dispatch(dev.compute_pipeline(module, constants=constants), 1, bind={(0, 0): out})
    wanted = stages.Buffer(bytearray(4 * COUNT))
    stages.dispatch(stages.Program(stages.read(module, constants), {(0, 0): wanted}), (1, 1, 1))
    got = np.asarray(out.numpy())
    np.testing.assert_array_equal(got, np.frombuffer(wanted.data, np.uint32))
    return got


REPLICATED = text_of(
    """%v = OpCompositeConstructReplicateEXT %float3 %x
%q = OpCompositeConstruct %float3 %x %half %half
%m = OpCompositeConstructReplicateEXT %mat %q
%a = OpCompositeConstructReplicateEXT %array %q
%s = OpCompositeConstructReplicateEXT %pair %a
%s1 = OpCompositeExtract %array %s 1
OpStore %local %s1
%last = OpISub %uint %length %three
%at = OpAccessChain %pfloat %local %last %zero
%e = OpLoad %float %at
%m2 = OpCompositeExtract %float %m 1 0
%c = OpCompositeExtract %float %carray 3 1
%d = OpCompositeExtract %uint %cvector 2
%ds = OpCompositeExtract %uint %sarray 4
%e1 = OpFAdd %float %e %m2
%e2 = OpFAdd %float %e1 %c
%u = OpConvertFToU %uint %e2
%u1 = OpIAdd %uint %u %d
%word = OpIAdd %uint %u1 %ds""",
    types="""%length = OpSpecConstant %uint 5
%seven = OpConstant %uint 7
%spec = OpSpecConstant %uint 100
%half = OpConstant %float 40
%mat = OpTypeMatrix %float3 3
%array = OpTypeArray %float3 %length
%pair = OpTypeStruct %array %array
%uarray = OpTypeArray %uint %length
%cv = OpConstantCompositeReplicateEXT %float3 %half
%carray = OpConstantCompositeReplicateEXT %array %cv
%cvector = OpConstantCompositeReplicateEXT %uint3 %seven
%sarray = OpSpecConstantCompositeReplicateEXT %uarray %spec
%parray = OpTypePointer Private %array
%pfloat = OpTypePointer Private %float
%local = OpVariable %parray Private""",
    decorations="OpDecorate %length SpecId 1\nOpDecorate %spec SpecId 2",
    capabilities="OpCapability ReplicatedCompositesEXT",
    extensions='OpExtension "SPV_EXT_replicated_composites"',
).replace('"main" %id', '"main" %id %local %out')


@pytest.mark.parametrize("constants", [None, {1: 12, 2: 5000}], ids=str)
def test_replicated_composites(dev: tg.Device, constants: dict[int, int] | None) -> None:
    """Of vectors, matrices, structures and arrays, whose length a specialisation constant may be."""
    got = run(dev, assembled(REPLICATED), constants)
    np.testing.assert_array_equal(got, 2 * np.arange(COUNT) + 40 + 7 + (constants or {2: 100})[2])


RELAXED = text_of(
    "%word = OpIAdd %uint %i %three",
    capabilities="",
    extensions='OpExtension "SPV_KHR_non_semantic_info"\nOpExtension "SPV_KHR_relaxed_extended_instruction"',
    imports='%debug = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"',
    names='OpName %first "first"',
    types="""%first = OpExtInstWithForwardRefsKHR %void %debug 5 %later %three
%later = OpExtInstWithForwardRefsKHR %void %debug 6 %first %three""",
).replace('"main" %id', '"main" %id %out')


def test_debug_information_names_what_comes_later(dev: tg.Device) -> None:
    np.testing.assert_array_equal(run(dev, assembled(RELAXED)), np.arange(COUNT) + 3)
    with pytest.raises(ShaderError, match="Invalid opcode: 4433"):
        broken = RELAXED.replace("NonSemantic.Shader.DebugInfo.100", "GLSL.std.450")
        dev.compute_pipeline(assembled(broken.replace("%debug 5 %later %three", "%debug 4 %three %three")))


#: Of an invocation's number: a product whose own rounding is seen in the sum.
SUM = """%y = OpFDiv %float %x %three_f
%p = OpFMul %float %y %y
%s = OpFSub %float %p %x
%word = OpBitcast %uint %s"""
FAST = {"nothing": 0, "contract": 0x10000, "all": 0x70007}


def controlled(default: str = "", product: str = "", total: str = "") -> bytes:
    """``default``: of floats of 32 bits; the others of the product and the sum; "": not said."""
    flags = {name: f"%flags_{name} = OpConstant %uint {value}" for name, value in FAST.items()}
    decorations = [f"OpDecorate %{id_} FPFastMathMode !{FAST[name]}" for id_, name in (("p", product), ("s", total)) if name]
    text = text_of(
        SUM,
        types="\n".join(["%three_f = OpConstant %float 3", *flags.values()]),
        modes=f"OpExecutionModeId %main FPFastMathDefault %float %flags_{default}" if default else "",
        decorations="\n".join(decorations).replace("FPFastMathMode", "!40"),
        capabilities="OpCapability FloatControls2",
        extensions='OpExtension "SPV_KHR_float_controls2"',
    )
    return assembled(text.replace('"main" %id', '"main" %id %out'))


def test_what_may_be_contracted(dev: tg.Device) -> None:
    """Contracted where both may be: an instruction's own flags come before the entry point's, and without either all is allowed."""
    x = np.arange(COUNT, dtype=np.float32)
    y = x / np.float32(3)
    apart = (y * y - x).view(np.uint32)
    together = (y.astype(np.float64) * y - x).astype(np.float32).view(np.uint32)
    assert (apart != together).any()
    for arguments, fused in [
        ((), True),
        (("nothing",), False),
        (("contract",), True),
        (("all",), True),
        (("nothing", "contract", "contract"), True),
        (("nothing", "contract"), False),
        (("contract", "", "nothing"), False),
        (("", "nothing"), False),
        (("", "all", "all"), True),
    ]:
        np.testing.assert_array_equal(run(dev, controlled(*arguments)), together if fused else apart, err_msg=str(arguments))


def test_what_compilers_of_hlsl_declare(dev: tg.Device) -> None:
    text = text_of(
        "%word = OpIAdd %uint %i %three",
        extensions="""OpExtension "SPV_GOOGLE_decorate_string"
OpExtension "SPV_GOOGLE_hlsl_functionality1"
OpExtension "SPV_GOOGLE_user_type\"""",
        decorations="""OpDecorateString %id UserSemantic "SV_DispatchThreadID"
OpDecorateString %out UserTypeGOOGLE "rwstructuredbuffer:<uint>"
OpMemberDecorateString %R 0 UserSemantic "WORDS"
OpDecorateId %out HlslCounterBufferGOOGLE %out""",
    ).replace('"main" %id', '"main" %id %out')
    np.testing.assert_array_equal(run(dev, assembled(text)), np.arange(COUNT) + 3)


WRONG = {
    "another part": ("OpCompositeConstructReplicateEXT %float3 %x", "OpCompositeConstructReplicateEXT %float3 %i"),
    "no constant": ("OpConstantCompositeReplicateEXT %float3 %half", "OpConstantCompositeReplicateEXT %float3 %id"),
    "of a scalar": ("OpConstantCompositeReplicateEXT %uint3 %seven", "OpConstantCompositeReplicateEXT %uint %seven"),
    "what comes later": ("%v = OpCompositeConstructReplicateEXT %float3 %x", "%v = OpCompositeConstructReplicateEXT %float3 %e"),
    "not of every part": ("%s = OpCompositeConstructReplicateEXT %pair %a", "%s = OpCompositeConstructReplicateEXT %pair %v"),
    "no capability": ("OpCapability ReplicatedCompositesEXT", ""),
    "no extension": ('OpExtension "SPV_EXT_replicated_composites"', ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str) -> None:
    before, after = WRONG[name]
    assert before in REPLICATED
    with pytest.raises(ShaderError, match="valid SPIR-V"):
        tg.Device(cache_dir="off", threads=1).compute_pipeline(assembled(REPLICATED.replace(before, after)))


def test_a_set_that_is_imported_twice(dev: tg.Device) -> None:
    """Layers that add code to a module import GLSL.std.450 once more: instructions of either name are done."""
    imports = '%one = OpExtInstImport "GLSL.std.450"\n%two = OpExtInstImport "GLSL.std.450"'
    body = """%a = OpExtInst %float %one FMax %x %five
%b = OpExtInst %float %two FMin %a %ten
%word = OpConvertFToU %uint %b"""
    types = "%five = OpConstant %float 5\n%ten = OpConstant %float 10"
    text = text_of(body, imports=imports, types=types).replace('"main" %id', '"main" %id %out')
    module = assembled(text)
    assert run(dev, module).tolist() == [min(max(i, 5), 10) for i in range(COUNT)]
