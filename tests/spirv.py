"""SPIR-V for tests: text to words, and words through spirv-opt's passes, by the programs of the package spirv-tools."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

VULKAN = "vulkan1.0"


def assemble(text: str, *, validate: bool = True, version: str = "1.0", vulkan: str = VULKAN) -> bytes:
    """The module of an assembly text; the validator must take it."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "a.spv"
        subprocess.run(
            ["spirv-as", "--target-env", f"spv{version}", "-o", path, "-"], input=text, text=True, check=True, timeout=60
        )
        if validate:
            subprocess.run(["spirv-val", "--target-env", vulkan, path], check=True, timeout=60)
        return path.read_bytes()


#: What spirv-as of 2023 has no names for: instructions with a result (SPV_KHR_quad_control, SPV_EXT_replicated_composites,
#: SPV_KHR_relaxed_extended_instruction, SPV_EXT_shader_tile_image), capabilities and modes (those, SPV_KHR_maximal_reconvergence,
#: SPV_KHR_float_controls2).
NEWER_INSTRUCTIONS = {
    "OpExtInstWithForwardRefsKHR": 4433,
    "OpConstantCompositeReplicateEXT": 4461,
    "OpSpecConstantCompositeReplicateEXT": 4462,
    "OpCompositeConstructReplicateEXT": 4463,
    "OpGroupNonUniformQuadAllKHR": 5110,
    "OpGroupNonUniformQuadAnyKHR": 5111,
    "OpColorAttachmentReadEXT": 4160,
    "OpDepthAttachmentReadEXT": 4161,
    "OpStencilAttachmentReadEXT": 4162,
}
NEWER_NAMES = {
    "QuadControlKHR": 5087,
    "QuadDerivativesKHR": 5088,
    "RequireFullQuadsKHR": 5089,
    "MaximallyReconvergesKHR": 6023,
    "ReplicatedCompositesEXT": 6024,
    "FPFastMathDefault": 6028,
    "FloatControls2": 6029,
    "TileImageColorReadAccessEXT": 4166,
    "TileImageDepthReadAccessEXT": 4167,
    "TileImageStencilReadAccessEXT": 4168,
    "NonCoherentColorAttachmentReadEXT": 4169,
    "NonCoherentDepthAttachmentReadEXT": 4170,
    "NonCoherentStencilAttachmentReadEXT": 4171,
}


def with_numbers(text: str) -> str:
    """Assembly text with numbers in place of :data:`NEWER_INSTRUCTIONS` and :data:`NEWER_NAMES`, for :func:`assemble`, not validated."""
    lines = []
    for line in text.splitlines():
        parts = line.split()
        if len(parts) > 3 and parts[1] == "=" and parts[2] in NEWER_INSTRUCTIONS:
            operands = [f"!{x}" if x.isdigit() else x for x in parts[4:]]
            head = (3 + len(operands)) << 16 | NEWER_INSTRUCTIONS[parts[2]]
            # Behind OpNoLine, which has no operands: words would be those of an instruction before it that takes any number.
            line = " ".join(["OpNoLine", f"!{head}", parts[3], parts[0], *operands])
        elif parts and parts[0] in ("OpCapability", "OpExecutionMode", "OpExecutionModeId"):
            line = " ".join(f"!{NEWER_NAMES[x]}" if x in NEWER_NAMES else x for x in parts)
        lines.append(line)
    return "\n".join(lines)


def optimise(module: bytes, *passes: str) -> bytes:
    """What spirv-opt makes of it; the module itself where the validator does not take that."""
    with tempfile.TemporaryDirectory() as directory:
        before, after = Path(directory) / "a.spv", Path(directory) / "b.spv"
        before.write_bytes(module)
        subprocess.run(["spirv-opt", *passes, before, "-o", after], check=True, timeout=60, capture_output=True)
        valid = (
            subprocess.run(
                ["spirv-val", "--target-env", "vulkan1.3", after], timeout=60, capture_output=True
            ).returncode
            == 0
        )
        return after.read_bytes() if valid else module


def kernel_text(
    capabilities: str, element: str, stride_B: int, types: str, body: str, variables: str = "", extensions: str = "",
    glsl: bool = False, decorations: str = "",
) -> str:
    """SPIR-V of 32 invocations that GLSL can't say: block B is an array of ``element`` (%b), R of %uint (%out); %i is the invocation."""
    asked = "\n".join(f"OpCapability {name}" for name in capabilities.split())
    more = "".join(f'OpExtension "{name}"\n' for name in extensions.split())
    return f"""OpCapability Shader
{asked}
{more}OpExtension "SPV_KHR_storage_buffer_storage_class"
{'%glsl = OpExtInstImport "GLSL.std.450"' if glsl else ""}
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %id
OpExecutionMode %main LocalSize 32 1 1
OpName %B "B"
OpName %R "R"
OpMemberName %B 0 "v"
OpMemberName %R 0 "v"
{decorations}
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %elements ArrayStride {stride_B}
OpDecorate %words ArrayStride 4
OpDecorate %B Block
OpMemberDecorate %B 0 Offset 0
OpDecorate %R Block
OpMemberDecorate %R 0 Offset 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1
%void = OpTypeVoid
%f = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint3 = OpTypeVector %uint 3
%in3 = OpTypePointer Input %uint3
%id = OpVariable %in3 Input
{"".join(f"%u{k} = OpConstant %uint {k}" + chr(10) for k in range(7))}{types}
%elements = OpTypeRuntimeArray {element}
%words = OpTypeRuntimeArray %uint
%B = OpTypeStruct %elements
%R = OpTypeStruct %words
%pB = OpTypePointer StorageBuffer %B
%pR = OpTypePointer StorageBuffer %R
%pelement = OpTypePointer StorageBuffer {element}
%puint = OpTypePointer StorageBuffer %uint
%b = OpVariable %pB StorageBuffer
%out = OpVariable %pR StorageBuffer
%main = OpFunction %void None %f
%start = OpLabel
{variables}%id3 = OpLoad %uint3 %id
%i = OpCompositeExtract %uint %id3 0
{body}
OpReturn
OpFunctionEnd
"""


def kernel(*parts: str, validate: bool = True, **more: Any) -> bytes:
    """The module of :func:`kernel_text`."""
    return assemble(kernel_text(*parts, **more), validate=validate)
