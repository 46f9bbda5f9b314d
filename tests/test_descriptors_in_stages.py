"""Descriptor sets in every stage: each reads the same words from blocks, textures, images and arrays, whatever of them is not there.

Dynamic offsets and push descriptors have no Python; every stage with these: ``cpp/tests/test_descriptor_stages.cpp``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

STAGES = ["vertex", "tessellation_control", "tessellation_evaluation", "geometry", "fragment", "compute"]
LANES = [4, 8, 16]
FORMAT = "r32g32b32a32_uint"
SIZE_PX = 6

#: Three vectors of what a stage found. `i` is known when it runs.
LOOK = """#version 450
layout(push_constant) uniform Push { int i; };
layout(set = 0, binding = 0) uniform U { uvec4 u; };
layout(set = 0, binding = 1) readonly buffer S { uint s[]; };
layout(set = 0, binding = 2) uniform usampler2D t;
layout(set = 0, binding = 3) uniform usampler2D many[4];
layout(set = 0, binding = 4, r32ui) readonly uniform uimage2D image;
layout(set = 1, binding = 0) uniform UB { uvec4 x; } blocks[4];
layout(set = 1, binding = 1) readonly buffer SB { uint v[]; } buffers[3];
void look(out uvec4 a, out uvec4 b, out uvec4 c) {
  a = uvec4(u.y, s[i], s[1000 + i], texelFetch(t, ivec2(1, 0), 0).x);
  b = uvec4(texelFetch(many[i], ivec2(0), 0).x, texelFetch(many[2], ivec2(0), 0).x, imageLoad(image, ivec2(1, 1)).x, s.length());
  c = uvec4(blocks[i].x.z, blocks[1].x.z, buffers[i - 1].v[1], buffers[1].v[0] + buffers[1].v.length());
}
"""
FOUND_OUT = "".join(f"layout(location = {k}) flat out uvec4 {n};\n" for k, n in enumerate("abc"))
FOUND_IN = FOUND_OUT.replace("flat out", "flat in")
PATCH_OUT = FOUND_OUT.replace("flat out", "patch out")
PATCH_IN = "".join(f"layout(location = {k}) patch in uvec4 p{n};\n" for k, n in enumerate("abc"))
VERTEX = "void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); FOUND }"
CONTROL = """layout(vertices = 3) out;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 2; gl_TessLevelInner[0] = 2; FOUND
}"""
EVALUATION = """layout(triangles) in;
void main() {
  vec3 k = gl_TessCoord;
  gl_Position = k.x * gl_in[0].gl_Position + k.y * gl_in[1].gl_Position + k.z * gl_in[2].gl_Position; FOUND
}"""
GEOMETRY = """layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
void main() { for (int k = 0; k < 3; k++) { gl_Position = gl_in[k].gl_Position; FOUND EmitVertex(); } }"""
TARGETS = "".join(f"layout(location = {k}) out uvec4 o{k};\n" for k in range(3))
GIVE = "void main() { o0 = a; o1 = b; o2 = c; }"
COMPUTE = """layout(local_size_x = 1) in;
layout(set = 0, binding = 5) writeonly buffer Out { uvec4 result[3]; };
void main() { look(result[0], result[1], result[2]); }"""
CALL = "look(a, b, c);"
PLAIN = "#version 450\n"


def graphics(stage: str) -> dict[str, str]:
    """The shaders of a pipeline in which `stage` looks, and the fragment shader writes what was found."""
    shaders = {"vert": PLAIN + VERTEX.replace("FOUND", ""), "frag": PLAIN + FOUND_IN + TARGETS + GIVE}
    if stage == "vertex":
        shaders["vert"] = LOOK + FOUND_OUT + VERTEX.replace("FOUND", CALL)
    elif stage == "fragment":
        shaders["frag"] = LOOK + TARGETS + "void main() { look(o0, o1, o2); }"
    elif stage == "geometry":
        shaders["geometry"] = LOOK + FOUND_OUT + GEOMETRY.replace("FOUND", CALL)
    elif stage == "tessellation_control":
        shaders["tessellation_control"] = LOOK + PATCH_OUT + CONTROL.replace("FOUND", CALL)
        shaders["tessellation_evaluation"] = (
            PLAIN + PATCH_IN + FOUND_OUT + EVALUATION.replace("FOUND", "a = pa; b = pb; c = pc;")
        )
    else:
        shaders["tessellation_control"] = PLAIN + CONTROL.replace("FOUND", "")
        shaders["tessellation_evaluation"] = LOOK + FOUND_OUT + EVALUATION.replace("FOUND", CALL)
    return shaders


class Kit:
    """What the stages find, and the words of it."""

    def __init__(self, lanes: int) -> None:
        self.dev = dev = tg.Device(lanes=lanes, threads=2, cache_dir="off")
        self.layout = dev.descriptor_set_layout(
            {0: ("uniform_buffer", 4), 1: ("storage_buffer", 3)}, partially_bound=True
        )
        elements: dict[int, dict[int, Any]] = {
            0: {k: np.array([0, 0, 300 + k, 0], np.uint32).tobytes() for k in (0, 3)},
            1: {k: dev.buffer(np.array([0, 400 + k], np.uint32)) for k in (0, 2)},
        }
        self.set = dev.descriptor_set(self.layout, bind=elements)
        self.storage = dev.image((2, 2), "r32_uint")
        dev.copy(np.arange(70, 74, dtype=np.uint32).reshape(2, 2, 1), self.storage)
        words = np.array([50, 51, 52, 53], np.uint32)
        self.textures = [self.texture(20 + k) for k in range(4)]
        self.bind: dict[str, Any] = {
            "U": np.array([5, 6, 7, 8], np.uint32).tobytes(),
            "S": dev.buffer(words),
            "t": self.texture(10),
            "many": [self.textures[0], self.textures[1], None, self.textures[3]],
            "image": self.storage,
        }

    def texture(self, value: int) -> Any:
        image = self.dev.image((2, 1), "r32_uint")
        self.dev.copy(np.array([[[value], [value + 100]]], np.uint32), image)
        return (image.view(), self.dev.sampler(mag_filter="nearest", min_filter="nearest"))

    def found(self, stage: str, i: int, bind: dict[str, Any]) -> np.ndarray[Any, Any]:
        push = {"i": i}
        if stage == "compute":
            out = self.dev.buffer(np.full((3, 4), 99, np.uint32))
            computes = self.dev.compute_pipeline(LOOK + COMPUTE, set_layouts={1: self.layout})
            self.dev.dispatch(computes, 1, bind=bind | {"Out": out}, sets={1: self.set}, push=push)
            return np.frombuffer(out.numpy().tobytes(), np.uint32).reshape(3, 4)
        targets = [self.dev.image((SIZE_PX, SIZE_PX), FORMAT) for _ in range(3)]
        pipe = self.dev.pipeline(**graphics(stage), color=[FORMAT] * 3, set_layouts={1: self.layout}, label=stage)
        with self.dev.render_pass(color=[tg.Attachment(image, clear=(99, 99, 99, 99)) for image in targets]) as rp:
            rp.draw(pipe, count=3, bind=bind, sets={1: self.set}, push=push)
        pictures = [image.numpy().reshape(-1, 4) for image in targets]
        assert all((picture == picture[0]).all() for picture in pictures)  # whatever vertex, patch or pixel
        return np.stack([picture[0] for picture in pictures])


@pytest.fixture(scope="module", params=LANES)
def kit(request: pytest.FixtureRequest) -> Kit:
    return Kit(request.param)


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_finds_the_same(kit: Kit, stage: str) -> None:
    """Elements that are null, were never written, or lie beyond the buffer give 0."""
    assert kit.found(stage, 3, kit.bind).tolist() == [[6, 53, 0, 110], [23, 0, 73, 4], [303, 0, 402, 0]]
    assert kit.found(stage, 1, kit.bind).tolist() == [[6, 51, 0, 110], [21, 0, 73, 4], [0, 0, 400, 0]]


@pytest.mark.parametrize("stage", STAGES)
def test_nothing_is_there(kit: Kit, stage: str) -> None:
    nothing = dict.fromkeys(kit.bind)
    nothing["many"] = [None] * 4
    found = kit.found(stage, 3, nothing)
    assert found.tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [303, 0, 402, 0]]
