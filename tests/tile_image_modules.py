"""Modules of SPV_EXT_shader_tile_image for tests: GLSL of 2023's glslang has no tile images, so they are made of input attachments.

Of a subpass input the number is the location of a tile image; :data:`DEPTH` and :data:`STENCIL` are reads of those. What a
``subpassLoad`` names as its sample is the sample of the read.
"""

from __future__ import annotations

import re
import subprocess

import spirv
import tilegpu as tg

DEPTH, STENCIL = 100, 101  #: as input_attachment_index
_TILE_IMAGE_DATA, _TILE_IMAGE = 4173, 4172


def disassembled(glsl: str) -> str:
    words = tg.compile_glsl(glsl, "fragment")
    return subprocess.run(["spirv-dis", "--raw-id", "-"], input=words, capture_output=True, check=True, timeout=60).stdout.decode()


def tile_image_text(glsl: str) -> str:
    """The fragment shader with a tile image in place of each subpass input, for :func:`spirv.with_numbers`."""
    lines = disassembled(glsl).splitlines()
    index = {m[1]: int(m[2]) for line in lines if (m := re.match(r"\s*OpDecorate (%\d+) InputAttachmentIndex (\d+)", line))}
    images = {m[1] for line in lines if (m := re.match(r"\s*(%\d+) = OpTypeImage %\d+ SubpassData", line))}
    pointers = {m[1] for line in lines if (m := re.match(r"\s*(%\d+) = OpTypePointer UniformConstant (%\d+)", line)) and m[2] in images}
    arrays = {m[1] for line in lines if (m := re.match(r"\s*(%\d+) = OpTypeArray (%\d+)", line)) and m[2] in images}
    pointers |= {m[1] for line in lines if (m := re.match(r"\s*(%\d+) = OpTypePointer UniformConstant (%\d+)", line)) and m[2] in arrays}
    loads = {m[1]: m[2] for line in lines if (m := re.match(r"\s*(%\d+) = OpLoad %\d+ (%\d+)", line))}
    scalar = {m[1]: m[2] for line in lines if (m := re.match(r"\s*(%\d+) = OpTypeVector (%\d+) 4", line))}
    planes = {variable for variable, number in index.items() if number in (DEPTH, STENCIL)}
    out: list[str] = []
    for line in lines:
        words = line.split()
        if re.match(r"\s*OpCapability InputAttachment$", line):
            out += [f"OpCapability TileImage{plane}ReadAccessEXT" for plane in ("Color", "Depth", "Stencil")]
        elif words[:1] == ["OpEntryPoint"]:
            out.append(" ".join(word for word in words if word not in planes))
        elif re.match(r"\s*OpMemoryModel", line):
            out += ['OpExtension "SPV_EXT_shader_tile_image"', line]
        elif words[:1] == ["OpDecorate"] and words[1] in index:
            if words[2] == "InputAttachmentIndex" and words[1] not in planes:
                out.append(f"OpDecorate {words[1]} Location {words[3]}")
        elif words[:1] == ["OpName"] and words[1] in planes:
            continue
        elif words[0] in images:
            out.append(f"{words[0]} = OpTypeImage {words[3]} !{_TILE_IMAGE_DATA} !0 !0 !0 !2 !0")
        elif words[0] in pointers:
            out.append(f"{words[0]} = OpTypePointer !{_TILE_IMAGE} {words[4]}")
        elif len(words) > 3 and words[2] == "OpVariable" and words[3] in pointers:
            out += [] if words[0] in planes else [f"{words[0]} = OpVariable {words[3]} !{_TILE_IMAGE}"]
        elif loads.get(words[0]) in planes:
            continue
        elif len(words) > 4 and words[2] == "OpImageRead":
            sample = words[7] if len(words) > 7 else ""
            if (variable := loads.get(words[4])) in planes:
                op = "OpDepthAttachmentReadEXT" if index[variable] == DEPTH else "OpStencilAttachmentReadEXT"
                one = f"%plane{words[0][1:]}"
                out.append(f"{one} = {op} {scalar[words[3]]} {sample}")
                out.append(f"{words[0]} = OpCompositeConstruct {words[3]} {one} {one} {one} {one}")
            else:
                out.append(f"{words[0]} = OpColorAttachmentReadEXT {words[3]} {words[4]} {sample}")
        else:
            out.append(line)
    return "\n".join(out)


def assembled(text: str, version: str = "1.6") -> bytes:
    return spirv.assemble(spirv.with_numbers(text), validate=False, version=version)


def tile_image_module(glsl: str, version: str = "1.6") -> bytes:
    return assembled(tile_image_text(glsl), version)
