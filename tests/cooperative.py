"""SPIR-V with SPV_KHR_cooperative_matrix, which spirv-as 2023.1 doesn't know: text to words, and kernels that tests share.

In: assembly whose instructions of the extension have its own names (``%x = OpCooperativeMatrixLoadKHR %type %pointer %layout %stride``).
Out: words. Each stands as a call of a marker while spirv-as reads the text, and is put right in the words.
Source: SPV_KHR_cooperative_matrix, "Modifications to the SPIR-V Specification".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from spirv import assemble as assemble_known

SIGNED_A, SIGNED_B, SIGNED_C, SIGNED_RESULT, SATURATES = 1, 2, 4, 8, 16
ROW, COLUMN = 0, 1
A, B, SUM = 0, 1, 2

_NUMBERS = {"Type": 4456, "Load": 4457, "Store": 4458, "MulAdd": 4459, "Length": 4460}
_LINE = re.compile(r"^(\s*(?:(%\w+)\s*=\s*)?)Op(Type)?CooperativeMatrix(\w*)KHR (.*)$", re.M)
_CALL, _STRUCT, _STRING, _CAPABILITY, _SPEC_OP = 57, 30, 7, 17, 52
_NV_CAPABILITY, _CAPABILITY_NUMBER, _NV_LENGTH = 5357, 6022, 5362


def assemble(text: str) -> bytes:
    """Words of the text; the validator of the package spirv-tools would refuse them."""
    markers: set[str] = set()
    count = 0

    def marked(found: re.Match[str]) -> str:
        nonlocal count
        before, _, is_type, name, operands = found.groups()
        if is_type:
            markers.add("%khr_Type")
            return f"{before}OpTypeStruct {operands} %khr_Type"
        words, flags = operands.split(), ""
        if name == "MulAdd" and not words[-1].startswith("%"):
            flags = "_" + words.pop()
        marker = f"%khr_{name}{flags}"
        markers.add(marker)
        if name == "Store":
            count += 1
            return f"%store_{count} = OpFunctionCall %void {marker} {' '.join(words)}"
        return f"{before}OpFunctionCall {words[0]} {marker} {' '.join(words[1:])}"

    text = _LINE.sub(marked, text)
    strings = "\n".join(f'{marker} = OpString "{marker[1:]}"' for marker in sorted(markers))
    text = text.replace("; debug", strings)
    words = np.frombuffer(assemble_known(text, validate=False, version="1.3"), np.uint32).tolist()
    return np.array(words[:5] + _with_numbers(words[5:]), np.uint32).tobytes()


def _with_numbers(words: list[int]) -> list[int]:
    names: dict[int, str] = {}
    out: list[int] = []
    at = 0
    while at < len(words):
        length, op = words[at] >> 16, words[at] & 0xFFFF
        i = words[at + 1 : at + length]
        at += length
        if op == _STRING:
            names[i[0]] = np.array(i[1:], np.uint32).tobytes().split(b"\0")[0].decode()
        if op == _CAPABILITY and i[0] == _NV_CAPABILITY:
            i = [_CAPABILITY_NUMBER]
        if op == _SPEC_OP and i[2] == _NV_LENGTH:
            i[2] = _NUMBERS["Length"]
        if op == _STRUCT and len(i) > 1 and names.get(i[-1]) == "khr_Type":
            op, i = _NUMBERS["Type"], i[:-1]
        if op == _CALL and (marker := names.get(i[2], "")).startswith("khr_"):
            name, *flags = marker[4:].split("_")
            op = _NUMBERS[name]
            i = (i[3:] if name == "Store" else [*i[:2], *i[3:]]) + [int(f) for f in flags]
        out += [(len(i) + 1) << 16 | op, *i]
    return out


@dataclass(frozen=True)
class Scalar:
    """A component's type, as NumPy, SPIR-V and Vulkan have it."""

    name: str
    dtype: np.dtype
    capabilities: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        kind, bits = self.dtype.kind, 8 * self.dtype.itemsize
        return f"OpTypeFloat {bits}" if kind == "f" else f"OpTypeInt {bits} {int(kind == 'i')}"


_EIGHT, _SIXTEEN = ("Int8", "StorageBuffer8BitAccess"), ("Int16", "StorageBuffer16BitAccess")
SCALARS = {
    s.name: s
    for s in [
        Scalar("float16", np.dtype(np.float16), ("Float16", "StorageBuffer16BitAccess")),
        Scalar("float32", np.dtype(np.float32)),
        Scalar("float64", np.dtype(np.float64), ("Float64",)),
        Scalar("int8", np.dtype(np.int8), _EIGHT),
        Scalar("uint8", np.dtype(np.uint8), _EIGHT),
        Scalar("int16", np.dtype(np.int16), _SIXTEEN),
        Scalar("uint16", np.dtype(np.uint16), _SIXTEEN),
        Scalar("int32", np.dtype(np.int32)),
        Scalar("uint32", np.dtype(np.uint32)),
    ]
}


def module(
    buffers: list[str], matrices: dict[str, tuple[str, int, int, int]], body: str, *, declarations: str = "", variables: str = "",
    local: int = 4, model: str = "GLCompute", scope: int = 3, capabilities: tuple[str, ...] = (), functions: str = "",
    specialised_rows: int = 0, names: str = "", addressing: str = "Logical",
) -> bytes:  # fmt: skip
    """One kernel. Buffer ``k`` is a run-time array of numbers, ``%p_k_0`` a pointer to its first one; ``matrices`` are types by name:
    component, rows, columns, use. Their rows are constant_id 0, ``rows``, where ``specialised_rows`` is a default of it. There are
    ``%c_0`` to ``%c_64`` (uint), ``%u`` (subgroup), ``%l`` (invocation), types by name."""
    kinds = sorted({*buffers, *(m[0] for m in matrices.values()), "uint32", "float32", "int32"})
    asked = sorted({c for name in kinds for c in SCALARS[name].capabilities} | set(capabilities))
    debug, annotations, declare, load = "", "", [], []
    for k, name in enumerate(buffers):
        size = SCALARS[name].dtype.itemsize
        debug += f'OpName %b_{k} "b{k}"\nOpName %B_{k} "B{k}"\nOpMemberName %B_{k} 0 "v"\n'
        declare.append(
            f"%array_{k} = OpTypeRuntimeArray %{name}\n%B_{k} = OpTypeStruct %array_{k}\n%pB_{k} = OpTypePointer StorageBuffer %B_{k}\n"
            f"%b_{k} = OpVariable %pB_{k} StorageBuffer\n"
        )
        load.append(f"%p_{k}_0 = OpAccessChain %to_{name} %b_{k} %c_0 %c_0\n")
        annotations += (
            f"OpDecorate %array_{k} ArrayStride {size}\nOpDecorate %B_{k} Block\nOpMemberDecorate %B_{k} 0 Offset 0\n"
            f"OpDecorate %b_{k} DescriptorSet 0\nOpDecorate %b_{k} Binding {k}\n"
        )
    types = "".join(f"%{n} = {SCALARS[n].text}\n" for n in kinds)
    types += "".join(f"%c_{k} = OpConstant %uint32 {k}\n" for k in range(65))
    types += "".join(f"%to_{n} = OpTypePointer StorageBuffer %{n}\n" for n in sorted(set(buffers)))
    if specialised_rows:
        debug += 'OpName %rows "rows"\n'
        annotations += "OpDecorate %rows SpecId 0\n"
        types += f"%rows = OpSpecConstant %uint32 {specialised_rows}\n"
    types += "".join(
        f"%{name} = OpTypeCooperativeMatrixKHR %{c} %c_{scope} {'%rows' if specialised_rows else f'%c_{rows}'} %c_{columns} %c_{use}\n"
        f"%of_{name} = OpTypePointer Function %{name}\n"
        for name, (c, rows, columns, use) in matrices.items()
    )
    mode = (
        f"OpExecutionMode %main LocalSize {local} 1 1"
        if model == "GLCompute"
        else "OpExecutionMode %main OriginUpperLeft"
    )
    builtins = "%subgroup %invocation %group" if model == "GLCompute" else ""
    return assemble(f"""OpCapability Shader
OpCapability CooperativeMatrixNV
OpCapability GroupNonUniform
{"".join(f"OpCapability {c}{chr(10)}" for c in asked)}OpExtension "SPV_KHR_storage_buffer_storage_class"
OpExtension "SPV_KHR_cooperative_matrix"
OpExtension "SPV_KHR_physical_storage_buffer"
OpExtension "SPV_KHR_16bit_storage"
OpExtension "SPV_KHR_8bit_storage"
OpMemoryModel {addressing} GLSL450
OpEntryPoint {model} %main "main" {builtins}
{mode}
; debug
{debug}{names}
{annotations}
{"OpDecorate %subgroup BuiltIn SubgroupId" if builtins else ""}
{"OpDecorate %invocation BuiltIn LocalInvocationIndex" if builtins else ""}
{"OpDecorate %group BuiltIn WorkgroupId" if builtins else ""}
%void = OpTypeVoid
%f = OpTypeFunction %void
{types}
%v3 = OpTypeVector %uint32 3
%pin = OpTypePointer Input %uint32
%pin3 = OpTypePointer Input %v3
{"%subgroup = OpVariable %pin Input" if builtins else ""}
{"%invocation = OpVariable %pin Input" if builtins else ""}
{"%group = OpVariable %pin3 Input" if builtins else ""}
{"".join(declare)}
{declarations}
{functions}
%main = OpFunction %void None %f
%start = OpLabel
{variables}
{"".join(load)}
{"%u = OpLoad %uint32 %subgroup" if builtins else ""}
{"%l = OpLoad %uint32 %invocation" if builtins else ""}
{body}
OpReturn
OpFunctionEnd
""")
