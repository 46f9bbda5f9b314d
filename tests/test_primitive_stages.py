"""Geometry and tessellation shaders: against NumPy, and against what the same primitives give without them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from primitive_scenes import (
    CASES,
    FLAT_EVALUATION,
    FORMAT,
    PASS_CONTROL,
    PASS_TRIANGLES,
    PLAIN,
    SHADE,
    SIZE,
    Array,
    device,
    picture,
    same_everywhere,
    triangles,
)


@pytest.mark.parametrize("topology", ["triangle_list", "triangle_strip", "triangle_fan"])
@pytest.mark.parametrize("indexed", [False, True])
def test_a_geometry_shader_that_changes_nothing(topology: str, indexed: bool) -> None:
    """Clipped triangles, many chunks: the picture is the one without it."""
    vertices = triangles(700, 1)
    indices = np.random.default_rng(2).permutation(len(vertices)).astype(np.uint32) if indexed else None

    def make(dev: tg.Device) -> Array:
        state = {"vertex": vertices.dtype, "color": FORMAT, "topology": topology}
        with_it = dev.pipeline(PLAIN, SHADE, geometry=PASS_TRIANGLES, **state)
        without = dev.pipeline(PLAIN, SHADE, **state)
        got, want = (picture(dev, pipe, vertices, indices=indices) for pipe in (with_it, without))
        np.testing.assert_array_equal(got, want)
        return got

    assert same_everywhere(make).any()


def test_tessellation_coordinates_that_are_said_to_be_of_the_patch() -> None:
    """HLSL's compilers decorate TessCoord with Patch: it stays each vertex's own."""
    vertices = triangles(60, 5)

    def make(dev: tg.Device) -> Array:
        words = np.frombuffer(tg.compile_glsl(FLAT_EVALUATION, "tessellation_evaluation"), np.uint32)
        coordinate, patch = 13, 15  # BuiltIn TessCoord; Decoration Patch
        places = [k for k in range(5, len(words) - 3) if words[k] == 4 << 16 | 71 and words[k + 2] == 11 and words[k + 3] == coordinate]
        assert len(places) == 1
        said = np.insert(words, places[0], [3 << 16 | 71, words[places[0] + 1], patch]).astype(np.uint32)
        control = PASS_CONTROL.replace("LEVEL", "3")
        pictures = [
            picture(
                dev,
                dev.pipeline(
                    PLAIN, SHADE, tessellation_control=control, tessellation_evaluation=module, vertex=vertices.dtype, color=FORMAT
                ),
                vertices,
            )
            for module in (words.tobytes(), said.tobytes())
        ]
        np.testing.assert_array_equal(*pictures)
        return pictures[1]

    assert same_everywhere(make).any()


@pytest.mark.parametrize("count", ["", "[2]", "[3]"])
def test_blocks_of_a_patch(count: str) -> None:
    """One, and arrays of them: their length is not a number of vertices."""
    last = f"[{int(count[1]) - 1}]" if count else ""
    block = f"layout(location = 1) patch %s Block {{ vec4 x; vec2 y; }} b{count};"
    control = f"""#version 450
layout(vertices = 5) out; {block % "out"}
void main() {{ for (int k = 0; k < 4; k++) gl_TessLevelOuter[k] = 2; gl_TessLevelInner[0] = gl_TessLevelInner[1] = 2;
  {"b[0].x = vec4(0); b[0].y = vec2(0); " if count else ""}b{last}.x = vec4(0.2, 0.4, 0.6, 1); b{last}.y = vec2(0.2, 0.4); }}"""
    evaluation = f"""#version 450
layout(quads) in; {block % "in"} layout(location = 0) out vec4 c;
void main() {{ gl_Position = vec4(gl_TessCoord.xy * 2 - 1, 0, 1); c = b{last}.x + vec4(b{last}.y, 0, 0); }}"""
    head = "#version 450\n"
    flat = head + "layout(location = 0) in vec4 c; layout(location = 0) out vec4 o; void main() { o = c; }"

    def make(dev: tg.Device) -> Array:
        image = dev.image((8, 8), "r8g8b8a8_unorm")
        made = dev.pipeline(
            head + "void main() { gl_Position = vec4(0); }", flat, tessellation_control=control, tessellation_evaluation=evaluation,
            color=image, patch_control_points=1,
        )  # fmt: skip
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(made, count=1)
        return image.numpy()

    assert (same_everywhere(make) == (102, 204, 153, 255)).all()


def test_tessellation_at_level_one() -> None:
    """A patch of level 1 is its triangle; positions are the same, colours within the rounding of their sum."""
    vertices = triangles(300, 3, w=False)
    vertices["p"][:, :2] = np.round(vertices["p"][:, :2] * 64) / 64

    def make(dev: tg.Device) -> Array:
        state = {"vertex": vertices.dtype, "color": FORMAT}
        tessellated = dev.pipeline(
            PLAIN, SHADE, tessellation_control=PASS_CONTROL.replace("LEVEL", "1"), tessellation_evaluation=FLAT_EVALUATION, **state
        )
        got, want = (picture(dev, pipe, vertices) for pipe in (tessellated, dev.pipeline(PLAIN, SHADE, **state)))
        assert np.abs(got.astype(int) - want).max() <= 1
        return got

    same_everywhere(make)


@pytest.mark.parametrize("spacing", ["equal_spacing", "fractional_even_spacing", "fractional_odd_spacing"])
@pytest.mark.parametrize("level", [1.0, 3.7, 17.3, 64.0])
def test_tessellation_covers_its_triangle_once(spacing: str, level: float) -> None:
    """Additive blending of a flat patch: every pixel inside exactly once, none outside: no cracks, no overlaps."""
    corners = np.array([[-0.9, -0.8, 0, 1], [0.95, -0.35, 0, 1], [-0.2, 0.9, 0, 1]], np.float32)
    vertices = np.zeros(3, np.dtype([("p", "f4", 4), ("c", "f4", 3)]))
    vertices["p"], vertices["c"] = corners, 1 / 255

    def make(dev: tg.Device) -> Array:
        state = {"vertex": vertices.dtype, "color": FORMAT, "blend": "additive"}
        pipe = dev.pipeline(
            PLAIN,
            SHADE,
            tessellation_control=PASS_CONTROL.replace("LEVEL", str(level)),
            tessellation_evaluation=FLAT_EVALUATION.replace("equal_spacing", spacing),
            **state,
        )
        got, want = (picture(dev, p, vertices)[..., :3] for p in (pipe, dev.pipeline(PLAIN, SHADE, **state)))
        # Corners of small triangles are snapped: pixels along the edges may differ, no others.
        assert got.max() == 1 and (got != want).any(-1).sum() <= 6
        return got

    same_everywhere(make)


FUR = """#version 450
layout(points, invocations = 3) in; layout(line_strip, max_vertices = 5) out;
layout(location = 0) in vec3 color[]; layout(location = 0) out vec3 out_color;
void main() {
  vec4 p = gl_in[0].gl_Position;
  if (gl_PrimitiveIDIn % 5 == 4) return;
  for (int i = 0; i < 2 + gl_PrimitiveIDIn % 3; i++) {
    gl_Position = p + vec4(0.1 * i, 0.07 * gl_InvocationID, 0, 0);
    out_color = color[0] * (1.0 - 0.2 * i);
    EmitVertex();
    if (i == 1 && gl_InvocationID == 1) EndPrimitive();
  }
}"""


def test_strips_of_several_lengths() -> None:
    """Lanes that emit different numbers of vertices, in order: as the lines that NumPy makes of the same rules."""
    n = 90
    vertices = triangles(n // 3, 4, w=False)
    vertices["p"][:, :2] = np.round(vertices["p"][:, :2] * 256) / 256
    lines: list[tuple[Any, Any]] = []
    for k, point in enumerate(vertices):
        for invocation in range(3):
            strips: list[list[tuple[Array, Array]]] = [[]]
            for i in range(0 if k % 5 == 4 else 2 + k % 3):
                at = point["p"] + np.array([np.float32(0.1) * i, np.float32(0.07) * invocation, 0, 0], np.float32)
                strips[-1].append((at, point["c"] * np.float32(1 - np.float32(0.2) * i)))
                if i == 1 and invocation == 1:
                    strips.append([])
            for strip in strips:
                lines += itertools.pairwise(strip)
    flat = np.zeros(2 * len(lines), vertices.dtype)
    flat["p"], flat["c"] = (np.array([end[k] for line in lines for end in line]) for k in (0, 1))

    def make(dev: tg.Device) -> Array:
        fur = dev.pipeline(PLAIN, SHADE, geometry=FUR, vertex=vertices.dtype, color=FORMAT, topology="point_list")
        plain = dev.pipeline(PLAIN, SHADE, vertex=vertices.dtype, color=FORMAT, topology="line_list")
        got, want = picture(dev, fur, vertices), picture(dev, plain, flat)
        assert np.abs(got.astype(int) - want).max() <= 1
        return got

    assert same_everywhere(make).any()


def test_layers_viewports_and_primitive_ids() -> None:
    """A geometry shader sends each triangle to two layers, with numbers of its own."""
    geometry = """#version 450
layout(triangles, invocations = 2) in; layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec3 color[];
void main() {
  for (int i = 0; i < 3; i++) {
    gl_Position = gl_in[i].gl_Position; gl_Layer = gl_InvocationID;
    gl_PrimitiveID = 10 + gl_PrimitiveIDIn + 100 * gl_InvocationID; EmitVertex();
  }
}"""
    fragment = "#version 450\nlayout(location = 0) out uint o; void main() { o = gl_PrimitiveID; }"
    vertices = np.zeros(6, np.dtype([("p", "f4", 4), ("c", "f4", 3)]))
    vertices["p"] = [[-1, -1, 0, 1], [0, -1, 0, 1], [-1, 3, 0, 1], [0, -1, 0, 1], [1, -1, 0, 1], [1, 3, 0, 1]]

    def make(dev: tg.Device) -> Array:
        target = dev.image((8, 8), "r32_uint", layers=2)
        pipe = dev.pipeline(PLAIN, fragment, geometry=geometry, vertex=vertices.dtype, color="r32_uint")
        with dev.render_pass(color=[tg.Attachment(target.view("2d_array"), clear=(0, 0, 0, 0))], layers=2) as rp:
            rp.draw(pipe, vertices)
        return np.stack([target.numpy(layer=k) for k in range(2)])

    got = same_everywhere(make).reshape(2, 8, 8)
    assert got[0, 7, 0] == 10 and got[0, 7, 7] == 11 and got[1, 7, 0] == 110 and got[1, 7, 7] == 111


def test_control_shaders_share_their_outputs() -> None:
    """Patches of 32 control points: each invocation reads its neighbours' outputs behind a barrier; patch outputs, inputs of the patch."""
    control = """#version 450
layout(vertices = 32) out;
layout(location = 0) in vec3 color[]; layout(location = 0) out float value[];
layout(location = 1) patch out vec2 sums; layout(location = 2) patch out float rows[4];
void main() {
  value[gl_InvocationID] = color[gl_InvocationID].x;
  barrier();
  float total = 0.0;
  for (int i = 0; i < gl_PatchVerticesIn; i++) total += value[i];
  if (gl_InvocationID == 7) sums = vec2(total, gl_PrimitiveID);
  if (gl_InvocationID < 4) rows[gl_InvocationID] = value[8 * gl_InvocationID + 1];
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelOuter[3] = 2.0;
  gl_TessLevelInner[0] = gl_TessLevelInner[1] = 2.0;
}"""
    evaluation = """#version 450
layout(quads, point_mode) in;
layout(location = 0) in float value[]; layout(location = 1) patch in vec2 sums; layout(location = 2) patch in float rows[4];
layout(xfb_buffer = 0, xfb_stride = 40, xfb_offset = 0, location = 0) out vec4 a;
layout(xfb_buffer = 0, xfb_offset = 16, location = 1) out vec4 b;
layout(xfb_buffer = 0, xfb_offset = 32, location = 2) out vec2 c;
void main() {
  int k = int(gl_TessCoord.x * 2.0) + 3 * int(gl_TessCoord.y * 2.0);
  gl_Position = vec4(0, 0, 0, 1);
  a = vec4(gl_TessCoord.xy, sums); b = vec4(value[3 * k], value[31], gl_PrimitiveID, gl_PatchVerticesIn);
  c = vec2(rows[k % 4], gl_TessLevelOuter[1]);
}"""
    patches = 5
    vertices = triangles(64, 8)[: 32 * patches]
    colors = vertices["c"][:, 0].reshape(patches, 32)

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(
            PLAIN,
            None,
            tessellation_control=control,
            tessellation_evaluation=evaluation,
            vertex=vertices.dtype,
            color=FORMAT,
            patch_control_points=32,
            rasterizer_discard=True,
        )
        data = dev.buffer(40 * 9 * patches)
        target = tg.Attachment(dev.image(SIZE, FORMAT), clear=(0, 0, 0, 0))
        with dev.render_pass(color=[target]) as rp, rp.transform_feedback(data) as captured, rp.statistics() as counts:
            rp.draw(pipe, vertices)
        assert captured.primitives == 9 * patches and counts["tessellation_control_shader_patches"] == patches
        got = data.numpy(np.float32, (patches, 9, 10))
        totals = np.zeros(patches, np.float32)
        for k in range(32):
            totals += colors[:, k]
        for p in range(patches):
            assert sorted(map(tuple, got[p, :, :2].tolist())) == sorted((x / 2, y / 2) for x in range(3) for y in range(3))
            k = (got[p, :, 0] * 2 + 3 * (got[p, :, 1] * 2)).astype(int)
            np.testing.assert_array_equal(got[p, :, 2:4], np.tile([totals[p], p], (9, 1)))
            np.testing.assert_array_equal(got[p, :, 4], colors[p][3 * k])
            np.testing.assert_array_equal(got[p, :, 5:8], np.tile(np.array([colors[p][31], p, 32], np.float32), (9, 1)))
            np.testing.assert_array_equal(got[p, :, 8], colors[p][8 * (k % 4) + 1])
            assert (got[p, :, 9] == 2).all()
        return got

    same_everywhere(make)


def test_adjacency() -> None:
    """Six vertices of each triangle reach the geometry shader, which draws the neighbours."""
    geometry = """#version 450
layout(triangles_adjacency) in; layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec3 color[]; layout(location = 0) out vec3 out_color;
void main() { for (int i = 1; i < 6; i += 2) { gl_Position = gl_in[i].gl_Position; out_color = color[i]; EmitVertex(); } }"""
    vertices = triangles(200, 9)

    def make(dev: tg.Device) -> Array:
        state = {"vertex": vertices.dtype, "color": FORMAT}
        pipe = dev.pipeline(PLAIN, SHADE, geometry=geometry, topology="triangle_list_with_adjacency", **state)
        plain = dev.pipeline(PLAIN, SHADE, **state)
        got, want = picture(dev, pipe, vertices), picture(dev, plain, np.ascontiguousarray(vertices[1::2]))
        np.testing.assert_array_equal(got, want)
        ignored = picture(dev, dev.pipeline(PLAIN, SHADE, topology="triangle_list_with_adjacency", **state), vertices)
        np.testing.assert_array_equal(ignored, picture(dev, plain, np.ascontiguousarray(vertices[0::2])))
        return got

    same_everywhere(make)


def test_what_is_refused() -> None:
    dev = device(*CASES[1])
    state: dict[str, Any] = {"vertex": triangles(1, 0).dtype, "color": FORMAT}
    control, evaluation = PASS_CONTROL.replace("LEVEL", "1"), FLAT_EVALUATION
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"tessellation_control": control}, "a tessellation control shader without a tessellation evaluation shader"),
        ({"tessellation_evaluation": evaluation, "topology": "patch_list"}, "evaluation shader without a tessellation control shader"),
        ({"geometry": PASS_TRIANGLES, "topology": "line_list"}, "takes primitives of 3 vertices; those of topology LINE_LIST have 2"),
        ({"topology": "patch_list"}, "the topology is PATCH_LIST, but there are no tessellation shaders"),
        ({"geometry": SHADE}, "given as the geometry shader, but it is a fragment shader|does not compile"),
        (
            {"tessellation_control": control, "tessellation_evaluation": evaluation, "patch_control_points": 0},
            "patch_control_points is 0; 1 to 32 are allowed",
        ),
        ({"geometry": PASS_TRIANGLES.replace("max_vertices = 3", "max_vertices = 257")}, "257"),
    ]
    for more, message in wrong:
        with pytest.raises(tg.Error, match=message):
            dev.pipeline(PLAIN, SHADE, **{**state, **more})
    pipe = dev.pipeline(PLAIN, SHADE, **state)
    with (
        pytest.raises(tg.ValidationError, match="the pass ends while a query is open"),
        dev.render_pass(color=[tg.Attachment(dev.image(SIZE, FORMAT), clear=(0, 0, 0, 0))]) as rp,
    ):
        rp.transform_feedback(dev.buffer(64)).__enter__()
    views = dev.image(SIZE, FORMAT, layers=2)
    with (
        pytest.raises(tg.ValidationError, match="the pass has several views; transform feedback takes one"),
        dev.render_pass(color=[views.view("2d_array")], view_mask=0b11) as rp,
        rp.transform_feedback(dev.buffer(64)),
    ):
        pass
    with dev.secondary(color=[FORMAT]) as part:
        part.draw(pipe, triangles(1, 0))
    with (
        pytest.raises(tg.ValidationError, match="execute_commands: transform feedback is active"),
        dev.render_pass(color=[tg.Attachment(dev.image(SIZE, FORMAT), clear=(0, 0, 0, 0))]) as rp,
        rp.transform_feedback(dev.buffer(64)),
    ):
        rp.execute_commands(part)


def test_numbers_of_64_bits_and_blocks_go_through_all_stages() -> None:
    """Doubles, a block with an array, integers: from the vertex shader through every stage, bit by bit."""
    members = "dvec3 d; ivec2 n[2]; double e;"
    vertex = """#version 450
layout(location = 0) in vec4 p; layout(location = 1) in vec3 c;
layout(location = 1) out Block { MEMBERS } o;
void main() {
  gl_Position = p; o.d = dvec3(c) / 3.0lf; o.n[0] = ivec2(gl_VertexIndex); o.n[1] = -o.n[0]; o.e = 1.0lf / (gl_VertexIndex + 1); }"""
    control = """#version 450
layout(vertices = 3) out;
layout(location = 1) in Block { MEMBERS } i[]; layout(location = 1) out Block { MEMBERS } o[];
layout(location = 9) patch out dvec2 whole;
void main() {
  o[gl_InvocationID].d = i[gl_InvocationID].d; o[gl_InvocationID].n = i[gl_InvocationID].n; o[gl_InvocationID].e = i[gl_InvocationID].e;
  if (gl_InvocationID == 0) whole = dvec2(i[0].e + i[1].e, i[2].e);
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 1.0;
}"""
    evaluation = """#version 450
layout(triangles) in;
layout(location = 1) in Block { MEMBERS } i[]; layout(location = 9) patch in dvec2 whole;
layout(location = 1) out Block { MEMBERS } o; layout(location = 9) out dvec2 sums;
void main() {
  int k = gl_TessCoord.x == 1 ? 0 : gl_TessCoord.y == 1 ? 1 : 2;
  gl_Position = vec4(0, 0, 0, 1); o.d = i[k].d; o.n = i[k].n; o.e = i[k].e; sums = whole;
}"""
    geometry = """#version 450
layout(triangles) in; layout(points, max_vertices = 3) out;
layout(location = 1) in Block { MEMBERS } i[]; layout(location = 9) in dvec2 sums[];
layout(xfb_buffer = 0, xfb_stride = 64, xfb_offset = 0, location = 0) out dvec3 d;
layout(xfb_buffer = 0, xfb_offset = 24, location = 2) out ivec4 n;
layout(xfb_buffer = 0, xfb_offset = 40, location = 3) out dvec3 e;
void main() {
  for (int k = 0; k < 3; k++) {
    d = i[k].d; n = ivec4(i[k].n[0], i[k].n[1]); e = dvec3(i[k].e, sums[k]); gl_Position = vec4(0, 0, 0, 1); EmitVertex();
  }
}"""
    vertices = triangles(30, 10)
    n = len(vertices)
    layout = np.dtype([("d", "f8", 3), ("n", "i4", 4), ("e", "f8", 3)])
    e = 1.0 / np.arange(1, n + 1)
    want = np.zeros(n, layout)
    want["d"], want["n"] = vertices["c"].astype(np.float64) / 3, np.arange(n)[:, None] * [1, 1, -1, -1]
    want["e"] = np.stack([e, (e[0::3] + e[1::3]).repeat(3), e[2::3].repeat(3)], 1)

    def make(dev: tg.Device) -> Array:
        stages = [text.replace("MEMBERS", members) for text in (vertex, control, evaluation, geometry)]
        pipe = dev.pipeline(
            stages[0], None, tessellation_control=stages[1], tessellation_evaluation=stages[2], geometry=stages[3],
            vertex=vertices.dtype, color=FORMAT, rasterizer_discard=True,
        )  # fmt: skip
        data = dev.buffer(64 * n)
        target = tg.Attachment(dev.image(SIZE, FORMAT), clear=(0, 0, 0, 0))
        with dev.render_pass(color=[target]) as rp, rp.transform_feedback(data) as captured:
            rp.draw(pipe, vertices)
        assert captured.primitives == n
        got = data.numpy(np.uint8, (64 * n,)).view(layout)
        # The order of a patch's three points is the tessellator's.
        for k in range(0, n, 3):
            order = np.argsort(got["n"][k : k + 3, 0])
            assert got[k : k + 3][order].tobytes() == want[k : k + 3].tobytes()
        return got.view(np.uint8)

    same_everywhere(make)


@pytest.mark.parametrize("domain", ["quads", "isolines"])
def test_other_domains(domain: str) -> None:
    """A quad covers its square once; isolines are the lines that NumPy makes."""
    control = """#version 450
layout(vertices = 4) out;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  gl_TessLevelOuter[0] = 5.0; gl_TessLevelOuter[1] = 8.0; gl_TessLevelOuter[2] = 3.0; gl_TessLevelOuter[3] = 6.0;
  gl_TessLevelInner[0] = 7.0; gl_TessLevelInner[1] = 4.0;
}"""
    evaluation = """#version 450
layout(DOMAIN, equal_spacing, cw) in;
layout(location = 0) out vec3 color;
void main() { vec2 t = gl_TessCoord.xy; gl_Position = vec4(mix(vec2(-0.75), vec2(0.75), t), 0, 1); color = vec3(1.0 / 255.0); }"""
    corners = np.zeros(4, np.dtype([("p", "f4", 4), ("c", "f4", 3)]))

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(
            PLAIN, SHADE, tessellation_control=control, tessellation_evaluation=evaluation.replace("DOMAIN", domain), vertex=corners.dtype,
            color=FORMAT, patch_control_points=4, blend="additive",
        )  # fmt: skip
        got = picture(dev, pipe, corners)[..., 0]
        if domain == "quads":
            want = np.zeros_like(got)
            want[8:56, 8:56] = 1
        else:
            lines = np.zeros((5, 8, 2), corners.dtype)
            u = np.arange(9, dtype=np.float32) / 8
            for k in range(5):
                at = np.float32(np.round(k / 5 * 65536) / 65536)
                for end in (0, 1):
                    lines["p"][k, :, end, 0] = -0.75 + 1.5 * u[end : end + 8]
                    lines["p"][k, :, end, 1] = np.float32(-0.75) * (1 - at) + np.float32(0.75) * at
            lines["p"][..., 3], lines["c"] = 1, np.float32(1 / 255)
            plain = dev.pipeline(PLAIN, SHADE, vertex=lines.dtype, color=FORMAT, topology="line_list", blend="additive")
            want = picture(dev, plain, lines.ravel())[..., 0]
        np.testing.assert_array_equal(got, want)
        return got

    same_everywhere(make)


DYNAMIC = ["cull_mode", "front_face", "primitive_topology", "patch_control_points", "tessellation_domain_origin"]


def test_captures_and_secondaries_and_dynamic_state(tmp_path: Any) -> None:
    """The same picture and the same captured vertices from a file, from a secondary command buffer, and with all state dynamic."""
    vertices = triangles(60, 11)
    dev = device(*CASES[1])
    stages: dict[str, Any] = {
        "tessellation_control": PASS_CONTROL.replace("LEVEL", "3"),
        "tessellation_evaluation": FLAT_EVALUATION.replace("ccw", "cw"),
        "geometry": PASS_TRIANGLES.replace(
            "layout(location = 0) out vec3", "layout(xfb_buffer = 0, xfb_stride = 12, xfb_offset = 0, location = 0) out vec3"
        ),
    }
    pipe = dev.pipeline(PLAIN, SHADE, vertex=vertices.dtype, color=FORMAT, cull="back", **stages)
    free = dev.pipeline(PLAIN, SHADE, vertex=vertices.dtype, color=FORMAT, dynamic=DYNAMIC, **stages)
    results = []
    for way in range(3):
        target, data = dev.image(SIZE, FORMAT, label=f"target {way}"), dev.buffer(12 * 3 * 13 * 60)
        if way == 1:
            with dev.secondary(color=[FORMAT]) as part, part.transform_feedback(data):
                part.draw(pipe, vertices)
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            if way == 1:
                rp.execute_commands(part)
            if way == 2:
                rp.set(
                    cull_mode="back", front_face="counter_clockwise", primitive_topology="patch_list", patch_control_points=3,
                    tessellation_domain_origin="upper_left",
                )  # fmt: skip
            if way != 1:
                with rp.transform_feedback(data):
                    rp.draw(free if way == 2 else pipe, vertices)
        if way == 0:
            rp.capture(tmp_path / "stages.tgcap")
        results.append((target.numpy(), data.numpy(np.uint8, (data.size,))))
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "stages.tgcap")
    (stats,) = replay.run()
    np.testing.assert_array_equal(replay.pictures[0], results[0][0])
    assert (stats.patches, stats.primitives_captured) == (60, 60 * 13)
    for picture_, words in results[1:]:
        np.testing.assert_array_equal(picture_, results[0][0])
        np.testing.assert_array_equal(words, results[0][1])
    assert results[0][0].any() and results[0][1].any()
