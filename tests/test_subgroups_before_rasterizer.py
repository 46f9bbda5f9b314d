"""Subgroup operations of vertex, tessellation and geometry shaders: vertices, points of patches and primitives are alone in theirs, the
invocations of a control shader four by four; the same bits for lanes, batches, threads and techniques."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIDE = 16
EXTENSIONS = "".join(
    f"#extension GL_KHR_shader_subgroup_{name} : require\n"
    for name in ("basic", "vote", "arithmetic", "ballot", "shuffle", "shuffle_relative", "clustered")
)
HEAD = "#version 450\n" + EXTENSIONS
# Of one invocation that is alone: whose number is v.
ALONE = """
uvec4 asked(uint v) {
  uint bits = uint(subgroupElect()) | uint(subgroupAny(v % 2u == 0u)) << 1 | uint(subgroupAll(v % 3u == 0u)) << 2
    | uint(subgroupAllEqual(v)) << 3 | gl_SubgroupInvocationID << 4 | gl_SubgroupSize << 8
    | uint(subgroupInverseBallot(uvec4(v, 0, 0, 0))) << 12 | uint(subgroupBallotBitExtract(uvec4(v, 0, 0, 0), 1u)) << 13
    | uint(subgroupAllEqual(float(v) / 0.0)) << 14;
  uint ballots = subgroupBallot(v % 2u == 0u).x | subgroupBallotBitCount(uvec4(v)) << 4 | subgroupBallotInclusiveBitCount(uvec4(v)) << 8
    | subgroupBallotExclusiveBitCount(uvec4(v)) << 12 | subgroupBallotFindMSB(uvec4(v | 2u)) << 16 | gl_SubgroupEqMask.x << 20
    | gl_SubgroupLtMask.x << 24 | gl_SubgroupGeMask.x << 28;
  uint sums = subgroupAdd(v) * 3u + subgroupInclusiveMax(v) * 5u + subgroupExclusiveAdd(v) * 7u + subgroupExclusiveMin(v) % 11u
    + subgroupClusteredXor(v, 2u) * 13u;
  if (v % 2u == 1u) sums += subgroupMul(v) * 17u;
  uint taken = subgroupBroadcastFirst(v) + subgroupBroadcast(v, 0u) * 3u + subgroupShuffle(v, v) * 5u + subgroupShuffleXor(v, 1u) * 7u
    + subgroupShuffleUp(v, 1u) * 11u + subgroupShuffleDown(v, 1u) * 13u + subgroupShuffle(v, 3u) * 17u;
  return uvec4(bits, ballots, sums, taken);
}
"""
FRAGMENT = "#version 450\nlayout(location = 0) flat in uvec4 f; layout(location = 0) out uvec4 o; void main() { o = f; }"


def alone(v: int) -> list[int]:
    """Of an invocation that is its subgroup's first, and runs alone."""
    odd, low = v % 2, v & 15
    bits = 1 | (1 - odd) << 1 | (v % 3 == 0) << 2 | 1 << 3 | 4 << 8 | odd << 12 | (v >> 1 & 1) << 13 | (v > 0) << 14
    ballots = (1 - odd) | low.bit_count() << 4 | odd << 8 | ((low | 2).bit_length() - 1) << 16 | 1 << 20 | 15 << 28
    sums = v * 3 + v * 5 + 0 + 0xFFFFFFFF % 11 + v * 13 + (v * 17 if odd else 0)
    return [bits, ballots, sums, v * (1 + 3 + 5 + 7 + 11 + 13 + 17)]


def devices() -> list[tg.Device]:
    made = [tg.Device(threads=2, lanes=n, cache_dir="off") for n in (4, 8, 16)]
    made.append(tg.Device(threads=1, lanes=8, vertex_batch=17, cache_dir="off"))
    return [*made, tg.Device(hsr=("deferred_vertex_shading",), cache_dir="off")]


def draw(dev: tg.Device, out: tg.Image, pipe: Any, count: int, **options: Any) -> np.ndarray:
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=count, **options)
    return out.numpy()


VERTEX = HEAD + "layout(location = 0) flat out uvec4 f;\n" + ALONE + """
void main() {
  f = asked(uint(gl_VertexIndex));
  gl_PointSize = 1.0;
  gl_Position = vec4((vec2(gl_VertexIndex % 16, gl_VertexIndex / 16) + 0.5) / 8.0 - 1.0, 0.5, 1.0);
}"""


@pytest.mark.parametrize("indexed", [False, True])
def test_vertices_are_alone(indexed: bool) -> None:
    """As ranges and as batches of unique vertices, in which each has other neighbours."""
    want = np.array([alone(v) for v in range(SIDE * SIDE)], np.uint32).reshape(SIDE, SIDE, 4)
    rng = np.random.default_rng(1)
    indices = rng.permutation(np.repeat(np.arange(SIDE * SIDE, dtype=np.uint32), 2))
    for dev in devices():
        out = dev.image((SIDE, SIDE), "r32g32b32a32_uint")
        pipe = dev.pipeline(VERTEX, FRAGMENT, color=[out], topology="point_list")
        options = {"indices": indices} if indexed else {}
        got = draw(dev, out, pipe, len(indices) if indexed else SIDE * SIDE, **options)
        assert np.array_equal(got, want)


EVALUATION = HEAD + """layout(triangles, equal_spacing, point_mode) in;
layout(location = 0) flat out uvec4 f;
""" + ALONE + """
void main() {
  uint v = uint(round(gl_TessCoord.x * 7.0)) + 16u * uint(round(gl_TessCoord.y * 7.0));
  f = asked(v);
  gl_PointSize = 1.0;
  gl_Position = vec4((vec2(v % 16u, v / 16u) + 0.5) / 8.0 - 1.0, 0.5, 1.0);
}"""
CONTROL = HEAD + """layout(vertices = 7) out;
layout(location = 0) patch out uint sums[7];
void main() {
  uint v = uint(gl_InvocationID) * 3u + 1u;
  sums[gl_InvocationID] = subgroupAdd(v) | subgroupBallot(true).x << 8 | gl_SubgroupInvocationID << 12 | subgroupBroadcast(v, 1u) << 16;
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 7.0;
}"""
PLAIN_VERTEX = "#version 450\nvoid main() { gl_Position = vec4(0.0); }"


def test_points_of_patches_are_alone() -> None:
    control = """#version 450
layout(vertices = 3) out;
void main() { gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 7.0; }"""
    pictures = []
    for dev in devices():
        out = dev.image((SIDE, SIDE), "r32g32b32a32_uint")
        stages = {"tessellation_control": control, "tessellation_evaluation": EVALUATION}
        pipe = dev.pipeline(PLAIN_VERTEX, FRAGMENT, color=[out], topology="patch_list", patch_control_points=3, **stages)
        pictures.append(draw(dev, out, pipe, 3))
    seen = [(y, x) for y in range(SIDE) for x in range(SIDE) if pictures[0][y, x].any()]
    assert len(seen) > 20
    for picture in pictures:
        assert np.array_equal(picture, pictures[0])
    for y, x in seen:
        assert pictures[0][y, x].tolist() == alone(16 * y + x)


def test_invocations_of_a_control_shader_go_four_by_four() -> None:
    evaluation = """#version 450
layout(triangles, equal_spacing, point_mode) in;
layout(location = 0) patch in uint sums[7]; layout(location = 0) flat out uvec4 f;
void main() {
  uint v = uint(round(gl_TessCoord.x * 6.0));
  f = uvec4(sums[v], 1, 1, 1);
  gl_PointSize = 1.0;
  gl_Position = vec4((vec2(v, 0) + 0.5) / 8.0 - 1.0, 0.5, 1.0);
}"""
    want = []
    for i in range(7):
        group = [k * 3 + 1 for k in range(i // 4 * 4, min(i // 4 * 4 + 4, 7))]
        want.append(sum(group) | ((1 << len(group)) - 1) << 8 | (i % 4) << 12 | group[1] << 16)
    for dev in devices():
        out = dev.image((SIDE, SIDE), "r32g32b32a32_uint")
        stages = {"tessellation_control": CONTROL, "tessellation_evaluation": evaluation}
        pipe = dev.pipeline(PLAIN_VERTEX, FRAGMENT, color=[out], topology="patch_list", patch_control_points=3, **stages)
        assert draw(dev, out, pipe, 3)[0, :7, 0].tolist() == want


GEOMETRY = HEAD + """layout(points) in; layout(points, max_vertices = 2) out;
layout(location = 0) flat out uvec4 f;
""" + ALONE + """
void main() {
  for (uint k = 0u; k < 2u; k++) {
    uint v = uint(gl_PrimitiveIDIn) * 2u + k;
    if (v % 5u == 3u) continue;
    f = asked(v);
    gl_PointSize = 1.0;
    gl_Position = vec4((vec2(v % 16u, v / 16u) + 0.5) / 8.0 - 1.0, 0.5, 1.0);
    EmitVertex();
    EndPrimitive();
  }
}"""


def test_primitives_are_alone() -> None:
    want = np.array([alone(v) if v % 5 != 3 else [0] * 4 for v in range(SIDE * SIDE)], np.uint32).reshape(SIDE, SIDE, 4)
    for dev in devices():
        out = dev.image((SIDE, SIDE), "r32g32b32a32_uint")
        pipe = dev.pipeline(PLAIN_VERTEX, FRAGMENT, geometry=GEOMETRY, color=[out], topology="point_list")
        assert np.array_equal(draw(dev, out, pipe, SIDE * SIDE // 2), want)


def test_operations_of_quads_are_refused() -> None:
    dev = tg.Device(cache_dir="off")
    vertex = """#version 450
#extension GL_KHR_shader_subgroup_quad : require
void main() { gl_Position = vec4(subgroupQuadSwapVertical(float(gl_VertexIndex)), 0.0, 0.5, 1.0); }"""
    out = dev.image((4, 4), "r8g8b8a8_unorm")
    with pytest.raises(tg.Error, match="OpGroupNonUniformQuadSwap is supported in compute and fragment shaders only"):
        dev.pipeline(vertex, "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }", color=[out])


PLACES = """uvec4(gl_SubgroupInvocationID, gl_SubgroupSize, gl_SubgroupEqMask.x | gl_SubgroupGtMask.x << 8, gl_SubgroupLeMask.y)
  + words[gl_SubgroupInvocationID]"""
BLOCK = "layout(set = 0, binding = 0) uniform B { uvec4 words[2]; };\n"


@pytest.mark.parametrize("stage", ["vertex", "evaluation", "geometry"])
def test_places_are_those_of_all_invocations(stage: str) -> None:
    """Built-ins by themselves: where an invocation is alone they are constants, also to a stage all of whose other inputs are shared."""
    head = HEAD + BLOCK + "layout(location = 0) flat out uvec4 f;\n"
    full = "gl_PointSize = 1.0; gl_Position = vec4(0.0625, 0.0625, 0.5, 1.0);"
    stages: dict[str, Any] = {"vert": PLAIN_VERTEX, "topology": "point_list"}
    if stage == "vertex":
        stages["vert"] = head + f"void main() {{ f = {PLACES}; {full} }}"
    elif stage == "geometry":
        layout = "layout(points) in; layout(points, max_vertices = 1) out;\n"
        stages["geometry"] = head + layout + f"void main() {{ f = {PLACES}; {full} EmitVertex(); }}"
    else:
        control = """#version 450
layout(vertices = 3) out;
void main() { gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 7.0; }"""
        evaluation = head + f"layout(triangles, point_mode) in;\nvoid main() {{ f = {PLACES}; {full} }}"
        stages |= {"topology": "patch_list", "patch_control_points": 3}
        stages |= {"tessellation_control": control, "tessellation_evaluation": evaluation}
    words = np.array([[1000, 2000, 3000, 4000], [9, 9, 9, 9]], np.uint32)
    for dev in devices():
        out = dev.image((SIDE, SIDE), "r32g32b32a32_uint")
        pipe = dev.pipeline(frag=FRAGMENT, color=[out], **stages)
        got = draw(dev, out, pipe, 3, bind={"B": words})
        assert got[SIDE // 2, SIDE // 2].tolist() == [1000, 2004, 3000 + (1 | 14 << 8), 4000], (stage, dev)
