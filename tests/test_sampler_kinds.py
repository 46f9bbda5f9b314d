"""Every kind of sampler that GLSL names, every way to ask it, in both stages: of a flat texture, whose value is known by any filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tilegpu as tg

FORMAT, DEPTH = "r32g32b32a32_sfloat", "d32_sfloat"
PLACE = "gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0);"
HEAD = """#version 450
#extension GL_ARB_shader_texture_image_samples : enable
layout(binding = 0) uniform {kind} t;
"""


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def flat(dev: tg.Device, *shape: int, depth: bool = False, **options: Any) -> tg.Texture:
    pixels = np.full((*shape, 1 if depth else 4), 0.5, np.float32)
    return dev.texture(pixels, DEPTH if depth else FORMAT, **({"compare": "less"} if depth else {}), **options)


def cubes(dev: tg.Device, depth: bool = False) -> tuple[tg.Image, tg.Sampler]:
    image = dev.image((8, 8), DEPTH if depth else FORMAT, cube=True, layers=12)
    for layer in range(12):
        dev.copy(np.full((8, 8, 1 if depth else 4), 0.5, np.float32), image, destination_layer=layer)
    return image, dev.sampler(**({"compare": "less"} if depth else {}))


def samples(dev: tg.Device, layers: int) -> tuple[tg.Image, tg.Sampler]:
    image = dev.image((8, 8), FORMAT, samples=4, layers=layers)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0.5, 0.5, 0.5, 0.5))], layers=layers):
        pass
    return image, dev.sampler(filter="nearest")


class Case(NamedTuple):
    kind: str
    asked: str
    make: Callable[[tg.Device], Any]
    want: float = 0.5


ALL = "ivec2[](ivec2(0), ivec2(1, 0), ivec2(0, 1), ivec2(1, 1))"
CASES = [
    Case("sampler1D", "texture(t, 0.5)", lambda d: flat(d, 8, type="1d")),
    Case("sampler1DArray", "texture(t, vec2(0.5, 1))", lambda d: flat(d, 3, 8, type="1d")),
    Case("sampler2DArray", "texture(t, vec3(0.5, 0.5, 1))", lambda d: flat(d, 3, 8, 8)),
    Case("samplerCube", "texture(t, vec3(1, 0.1, 0.1))", lambda d: flat(d, 6, 8, 8, cube=True)),
    Case("samplerCubeArray", "texture(t, vec4(1, 0.1, 0.1, 1))", cubes),
    Case("samplerCubeArray", "textureGather(t, vec4(1, 0.1, 0.1, 1), 1)", cubes),
    Case("sampler2D", f"textureGatherOffsets(t, vec2(0.5), {ALL})", lambda d: flat(d, 8, 8)),
    Case("sampler1DShadow", "vec4(texture(t, vec3(0.5, 0, 0.4)))", lambda d: flat(d, 8, depth=True, type="1d"), 1),
    Case("sampler1DArrayShadow", "vec4(texture(t, vec3(0.5, 1, 0.6)))", lambda d: flat(d, 3, 8, depth=True, type="1d"), 0),
    Case("sampler2DShadow", "vec4(textureProj(t, vec4(0.5, 0.5, 0.4, 1)))", lambda d: flat(d, 8, 8, depth=True), 1),
    Case("sampler2DShadow", "vec4(textureGrad(t, vec3(0.5, 0.5, 0.6), vec2(0.1), vec2(0.1)))", lambda d: flat(d, 8, 8, depth=True), 0),
    Case("sampler2DShadow", "vec4(textureLodOffset(t, vec3(0.5, 0.5, 0.4), 0.0, ivec2(1)))", lambda d: flat(d, 8, 8, depth=True), 1),
    Case("sampler2DShadow", "textureGather(t, vec2(0.5), 0.4)", lambda d: flat(d, 8, 8, depth=True), 1),
    Case("sampler2DArrayShadow", "vec4(texture(t, vec4(0.5, 0.5, 1, 0.6)))", lambda d: flat(d, 3, 8, 8, depth=True), 0),
    Case("samplerCubeShadow", "vec4(texture(t, vec4(1, 0.1, 0.1, 0.4)))", lambda d: flat(d, 6, 8, 8, depth=True, cube=True), 1),
    Case("samplerCubeArrayShadow", "vec4(texture(t, vec4(1, 0.1, 0.1, 1), 0.6))", lambda d: cubes(d, True), 0),
    Case("sampler2DMS", "texelFetch(t, ivec2(1), 2)", lambda d: samples(d, 1)),
    Case("sampler2DMSArray", "texelFetch(t, ivec3(1, 1, 2), 2)", lambda d: samples(d, 3)),
    Case("sampler2DMSArray", "vec4(textureSamples(t)) / 8.0", lambda d: samples(d, 3)),
]


@pytest.mark.parametrize("stage", ["fragment", "vertex"])
@pytest.mark.parametrize("case", CASES, ids=[f"{c.kind} {c.asked.partition('(')[0]}{n}" for n, c in enumerate(CASES)])
def test_every_kind_in_every_stage(dev: tg.Device, case: Case, stage: str) -> None:
    head = HEAD.replace("{kind}", case.kind)
    vert = f"#version 450\nvoid main() {{ {PLACE} }}"
    frag = f"{head}layout(location = 0) out vec4 o; void main() {{ o = {case.asked}; }}"
    if stage == "vertex":
        vert = f"{head}layout(location = 0) out vec4 v; void main() {{ v = {case.asked}; {PLACE} }}"
        frag = "#version 450\nlayout(location = 0) in vec4 v; layout(location = 0) out vec4 o; void main() { o = v; }"
    out = dev.image((4, 4), FORMAT)
    pipe = dev.pipeline(vert, frag, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(9, 9, 9, 9))]) as rp:
        rp.draw(pipe, count=3, bind={"t": case.make(dev)})
    np.testing.assert_allclose(out.numpy(), case.want, atol=1e-6)
