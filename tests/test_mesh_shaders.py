"""Task and mesh shaders: against the same geometry by a vertex shader, against NumPy, against the reference interpreter; counts; what is
said of wrong use."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracle.shaders import stages

import tilegpu as tg
from mesh_scenes import HEAD, PLAIN, SHADE, TOPOLOGIES, buffers, mesh_shader, meshlets, picture, plain_picture
from primitive_scenes import FORMAT, SIZE, Array, device, same_everywhere

FULL = HEAD + """layout(local_size_x = 1) in; layout(triangles, max_vertices = 3, max_primitives = 1) out;
BEFORE
void main() {
  SetMeshOutputsEXT(3, 1);
  for (int i = 0; i < 3; i++) { gl_MeshVerticesEXT[i].gl_Position = vec4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1); VERTEX }
  gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
  PRIMITIVE
}"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


def full(before: str = "", vertex: str = "", primitive: str = "") -> str:
    """A mesh shader of one triangle over everything."""
    return FULL.replace("BEFORE", before).replace("VERTEX", vertex).replace("PRIMITIVE", primitive)


# ------------------------------------------------------------------------------------------------- as vertex shaders draw


@pytest.mark.parametrize("corners", [1, 2, 3])
@pytest.mark.parametrize("provoking", ["first", "last"])
def test_random_meshlets_are_their_primitives(corners: int, provoking: str) -> None:
    """Points, lines and triangles, clipped, over many chunks: the picture is that of the list with indices."""
    given = meshlets(400, corners, corners)

    def make(dev: tg.Device) -> Array:
        state: dict[str, Any] = {"color": FORMAT, "provoking_vertex": provoking}
        flat = SHADE.replace("in vec3 color", "flat in vec3 color")
        with_mesh = dev.pipeline(mesh=mesh_shader(corners).replace("out vec3 color[]", "flat out vec3 color[]"), frag=flat, **state)
        plain = dev.pipeline(
            PLAIN.replace("out vec3 color", "flat out vec3 color"), flat, vertex=given.points.dtype, topology=TOPOLOGIES[corners], **state
        )
        got = picture(dev, with_mesh, len(given.ranges), bind=buffers(dev, given))
        np.testing.assert_array_equal(got, plain_picture(dev, plain, given.points, indices=given.indices.reshape(-1)))
        return got

    assert same_everywhere(make).any()


def test_blending_is_in_the_order_of_workgroups() -> None:
    """What lies above what is that of the API, whatever threads ran which workgroup: blended, so that order is seen."""
    given = meshlets(600, 9)

    def make(dev: tg.Device) -> Array:
        state: dict[str, Any] = {"color": FORMAT, "blend": "alpha"}
        shade = SHADE.replace("vec4(color, 1)", "vec4(color, 0.3)")
        pipe = dev.pipeline(mesh=mesh_shader(), frag=shade, **state)
        plain = dev.pipeline(PLAIN, shade, vertex=given.points.dtype, **state)
        got = picture(dev, pipe, (len(given.ranges), 1, 1), bind=buffers(dev, given))
        np.testing.assert_array_equal(got, plain_picture(dev, plain, given.points, indices=given.indices.reshape(-1)))
        return got

    assert same_everywhere(make).any()


def test_samples_depth_and_culling_as_always() -> None:
    """What stands behind the mesh shader is what stands behind any: several samples, depth, faces."""
    given = meshlets(150, 10)
    for dev in (device(8, 2, ""),):
        for more in ({"samples": 4}, {"cull": "back"}, {"depth": "d32_sfloat"}, {"polygon_mode": "line"}):
            state: dict[str, Any] = {"color": FORMAT, **more}
            pipe = dev.pipeline(mesh=mesh_shader(), frag=SHADE, **state)
            plain = dev.pipeline(PLAIN, SHADE, vertex=given.points.dtype, **state)
            pictures = []
            for mesh in (True, False):
                samples = more.get("samples", 1)
                target, whole = dev.image(SIZE, FORMAT, samples=samples), dev.image(SIZE, FORMAT)
                depth = dev.image(SIZE, "d32_sfloat") if "depth" in more else None
                several = {"resolve": whole} if samples > 1 else {}
                color = tg.Attachment(target if several else whole, clear=(0, 0, 0, 0), **several)
                behind = None if depth is None else tg.Attachment(depth, clear=1.0)
                with dev.render_pass(color=[color], depth=behind) as rp:
                    if mesh:
                        rp.draw_mesh_tasks(pipe, len(given.ranges), bind=buffers(dev, given))
                    else:
                        rp.draw(plain, given.points, indices=given.indices.reshape(-1))
                pictures.append(whole.numpy())
            np.testing.assert_array_equal(pictures[0], pictures[1], err_msg=str(more))


# --------------------------------------------------------------------------------------------------------- task shaders

PAYLOAD = "struct Payload { uint first; uint which[32]; };\ntaskPayloadSharedEXT Payload payload;\n"
TASK = HEAD + PAYLOAD + """layout(local_size_x = 32) in;
shared uint count;
layout(push_constant) uniform Push { uint meshlets; uint keep; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (gl_LocalInvocationIndex == 0) count = 0;
  barrier();
  bool kept = i < meshlets && (i * 2654435761u >> 28) % keep == 0;
  if (kept) payload.which[atomicAdd(count, 1)] = i;
  barrier();
  payload.first = gl_WorkGroupID.x;
  EmitMeshTasksEXT(count, 1, 1);
}"""
FROM_TASK = (
    mesh_shader()
    .replace("layout(location = 0) out", f"{PAYLOAD}layout(location = 0) out")
    .replace("ranges[gl_WorkGroupID.x]", "ranges[payload.which[gl_WorkGroupID.x]]")
)


def test_a_task_shader_chooses_meshlets() -> None:
    """Those that it keeps are drawn, and no others: the payload arrives, order is the API's, counts are told."""
    given = meshlets(500, 20)
    keep = 3
    chosen = [i for i in range(500) if ((i * 2654435761 & 0xFFFFFFFF) >> 28) % keep == 0]
    rows = [given.indices[r[2] : r[2] + r[3]] for r in given.ranges[chosen]]

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(task=TASK, mesh=FROM_TASK, frag=SHADE, color=FORMAT)
        target = dev.image(SIZE, FORMAT)
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp, rp.statistics() as q:
            rp.draw_mesh_tasks(pipe, 16, bind=buffers(dev, given), push={"meshlets": 500, "keep": keep})
        s = rp.stats
        assert (s.task_workgroups, s.task_invocations, s.mesh_workgroups) == (16, 16 * 32, len(chosen))
        assert s.mesh_invocations == 20 * len(chosen) and s.mesh_primitives == sum(map(len, rows))
        assert s.mesh_vertices == given.ranges[chosen, 1].sum() and s.primitives_in == 16
        assert q["task_shader_invocations"] == 16 * 32 and q["mesh_shader_invocations"] == s.mesh_invocations
        assert q["mesh_primitives_generated"] == s.mesh_primitives and q["primitives_generated"] == 0
        assert q["input_assembly_primitives"] == q["input_assembly_vertices"] == q["vertex_shader_invocations"] == 0
        plain = dev.pipeline(PLAIN, SHADE, vertex=given.points.dtype, color=FORMAT)
        got = target.numpy()
        np.testing.assert_array_equal(got, plain_picture(dev, plain, given.points, indices=np.concatenate(rows).reshape(-1)))
        return got

    assert same_everywhere(make).any()


def test_counts_of_workgroups_in_three_directions() -> None:
    """NumWorkgroups and WorkgroupId of both stages; a pixel for each mesh workgroup of each task workgroup."""
    task = HEAD + """layout(local_size_x = 1) in;
struct At { uvec3 id, count; }; taskPayloadSharedEXT At at;
void main() { at = At(gl_WorkGroupID, gl_NumWorkGroups); EmitMeshTasksEXT(gl_WorkGroupID.x + 1, 2, gl_WorkGroupID.y + 1); }"""
    mesh = HEAD + """layout(local_size_x = 1) in; layout(points, max_vertices = 1, max_primitives = 1) out;
struct At { uvec3 id, count; }; taskPayloadSharedEXT At at;
layout(location = 0) flat out uvec4 ids[];
void main() {
  SetMeshOutputsEXT(1, 1);
  uvec3 n = gl_NumWorkGroups, g = gl_WorkGroupID;
  uint t = at.id.x + at.count.x * (at.id.y + at.count.y * at.id.z), m = g.x + 3 * (g.y + 2 * g.z);
  gl_MeshVerticesEXT[0].gl_Position = vec4((vec2(m, t) + 0.5) / 32 - 1, 0, 1);
  gl_MeshVerticesEXT[0].gl_PointSize = 1;
  gl_PrimitivePointIndicesEXT[0] = 0;
  ids[0] = uvec4(n.x * 100 + n.y * 10 + n.z, g.x * 100 + g.y * 10 + g.z, t, gl_DrawID);
}"""
    frag = "#version 450\nlayout(location = 0) flat in uvec4 ids; layout(location = 0) out uvec4 o; void main() { o = ids; }"

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(task=task, mesh=mesh, frag=frag, color="r32g32b32a32_uint")
        return picture(dev, pipe, (3, 2, 2), format="r32g32b32a32_uint")

    got, want = same_everywhere(make), np.zeros((64, 64, 4), np.uint32)
    for t in range(12):
        x, y = t % 3, t // 3 % 2
        n = (x + 1, 2, y + 1)
        for g in np.ndindex(n[2], 2, n[0]):
            gz, gy, gx = g
            want[t, gx + 3 * (gy + 2 * gz)] = (n[0] * 100 + n[1] * 10 + n[2], gx * 100 + gy * 10 + gz, t, 0)
    np.testing.assert_array_equal(got, want)


def test_a_task_shader_that_ends_early() -> None:
    """EmitMeshTasksEXT ends the invocation wherever it stands, in a function too; what stands behind it has no effect."""
    task = HEAD + """layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) buffer Log { uint log_[]; };
void go(uint n) { EmitMeshTasksEXT(n, 1, 1); }
void main() {
  log_[gl_LocalInvocationIndex] = 7;
  if (gl_WorkGroupID.x != 9) go(1);
  log_[gl_LocalInvocationIndex] = 9;
}"""
    for case in ((4, 1, ""), (8, 2, ""), (16, 1, "")):
        dev = device(*case)
        log = dev.buffer(np.zeros(8, np.uint32), usage="storage")
        got = picture(dev, dev.pipeline(task=task, mesh=full(), frag=WHITE, color=FORMAT), 1, bind={"Log": log})
        assert (got == 255).all() and (log.numpy() == 7).all()


def test_more_than_is_allowed_is_cut() -> None:
    """Workgroups beyond the limits: none; vertices and primitives beyond max_...: cut; indices beyond the vertices: no primitive."""
    dev = device(8, 2, "")
    task = HEAD + "layout(local_size_x = 1) in; void main() { EmitMeshTasksEXT(COUNT); }"
    for count, drawn in (("65536, 1, 1", False), ("65535, 65535, 1", False), ("0, 1, 1", False), ("2, 1, 1", True)):
        pipe = dev.pipeline(task=task.replace("COUNT", count), mesh=full(), frag=WHITE, color=FORMAT)
        assert picture(dev, pipe, 1).any() == drawn
    for text, drawn in (
        (full().replace("SetMeshOutputsEXT(3, 1)", "SetMeshOutputsEXT(4000000000, 4000000000)"), True),
        (full().replace("SetMeshOutputsEXT(3, 1)", "SetMeshOutputsEXT(2, 1)"), False),
        (full().replace("SetMeshOutputsEXT(3, 1)", "SetMeshOutputsEXT(3, 0)"), False),
        (full().replace("SetMeshOutputsEXT(3, 1);", ""), False),
        (full().replace("uvec3(0, 1, 2)", "uvec3(0, 1, 4000000000u)"), False),
    ):
        assert picture(dev, dev.pipeline(mesh=text, frag=WHITE, color=FORMAT), 1).any() == drawn


def test_the_first_invocation_says_how_many() -> None:
    """Where invocations disagree, which Vulkan leaves undefined, the first one counts: for any number of lanes."""
    mesh = HEAD + """layout(local_size_x = 16) in; layout(points, max_vertices = 16, max_primitives = 16) out;
void main() {
  uint i = gl_LocalInvocationIndex;
  if (i % 2 == 1) SetMeshOutputsEXT(i, i); else if (i > 4) SetMeshOutputsEXT(16, 16);
  gl_MeshVerticesEXT[i].gl_Position = vec4((i + 0.5) / 32 - 1, 0.5 / 32 - 1, 0, 1);
  gl_MeshVerticesEXT[i].gl_PointSize = 1;
  gl_PrimitivePointIndicesEXT[i] = 0;
}"""

    def make(dev: tg.Device) -> Array:
        target = dev.image(SIZE, FORMAT)
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            rp.draw_mesh_tasks(dev.pipeline(mesh=mesh, frag=WHITE, color=FORMAT))
        assert rp.stats.mesh_primitives == rp.stats.mesh_vertices == 1
        return target.numpy()

    same_everywhere(make)


# ------------------------------------------------------------------------------------------------- what is a primitive's


def test_what_is_of_a_primitive() -> None:
    """Colours, numbers and culling of each primitive, while they share vertices; a fragment shader that reads both kinds."""
    mesh = HEAD + """layout(local_size_x = 32) in; layout(triangles, max_vertices = 18, max_primitives = 32) out;
layout(location = 0) out float shade[]; layout(location = 1) perprimitiveEXT out vec3 color[];
layout(location = 2) perprimitiveEXT flat out uvec2 more[];
void main() {
  SetMeshOutputsEXT(18, 16);
  uint i = gl_LocalInvocationIndex;
  if (i < 18) {
    gl_MeshVerticesEXT[i].gl_Position = vec4(vec2(i % 9, i / 9 * 8) / 4 - 1, 0.5, 1);
    shade[i] = 0.5;
  }
  if (i < 16) {
    uint x = i / 2;
    gl_PrimitiveTriangleIndicesEXT[i] = i % 2 == 0 ? uvec3(x, x + 1, x + 9) : uvec3(x + 1, x + 10, x + 9);
    gl_MeshPrimitivesEXT[i].gl_PrimitiveID = int(100 + i);
    gl_MeshPrimitivesEXT[i].gl_CullPrimitiveEXT = i % 5 == 3;
    color[i] = vec3(i, 255 - i, i * 10) / 255;
    more[i] = uvec2(i, i * i);
  }
}"""
    frag = """#version 450
#extension GL_EXT_mesh_shader : require
layout(location = 0) in float shade; layout(location = 1) perprimitiveEXT in vec3 color;
layout(location = 2) perprimitiveEXT flat in uvec2 more;
layout(location = 0) out uvec4 o;
void main() { o = uvec4(gl_PrimitiveID, uint(color.g * 255 + 0.5), more.y, uint(shade * 2 + color.r * 255 + 0.5)); }"""

    def make(dev: tg.Device) -> Array:
        pictures = []
        for provoking in ("first", "last"):
            pipe = dev.pipeline(mesh=mesh, frag=frag, color="r32g32b32a32_uint", provoking_vertex=provoking)
            target = dev.image(SIZE, "r32g32b32a32_uint")
            with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
                rp.draw_mesh_tasks(pipe)
            assert (rp.stats.mesh_primitives, rp.stats.mesh_primitives_culled) == (16, 3)
            pictures.append(target.numpy())
        np.testing.assert_array_equal(*pictures)
        return pictures[0]

    got = same_everywhere(make)
    seen = {int(i) - 100 for i in np.unique(got[..., 0]) if i}
    assert seen == {i for i in range(16) if i % 5 != 3}
    for i in seen:
        pixels = got[got[..., 0] == 100 + i]
        assert (pixels == (100 + i, 255 - i, i * i, 1 + i)).all()


def test_layers_and_viewports() -> None:
    """Each primitive chooses its layer and its viewport; where there is none, nothing is drawn."""
    mesh = HEAD + """layout(local_size_x = 8) in; layout(triangles, max_vertices = 3, max_primitives = 8) out;
void main() {
  SetMeshOutputsEXT(3, 8);
  uint i = gl_LocalInvocationIndex;
  if (i < 3) gl_MeshVerticesEXT[i].gl_Position = vec4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1);
  gl_PrimitiveTriangleIndicesEXT[i] = uvec3(0, 1, 2);
  gl_MeshPrimitivesEXT[i].gl_Layer = int(i % 4);
  gl_MeshPrimitivesEXT[i].gl_ViewportIndex = int(i / 4);
}"""
    frag = """#version 450
layout(location = 0) out vec4 o; void main() { o = vec4(gl_Layer + 1, gl_ViewportIndex + 1, 0, 255) / 255; }"""

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(mesh=mesh, frag=frag, color=FORMAT)
        target = dev.image((16, 16), FORMAT, layers=3)
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))], layers=3) as rp:
            rp.draw_mesh_tasks(pipe, viewport=[(0, 0, 8, 16), (8, 0, 8, 16)], scissor=[(0, 0, 8, 16), (8, 0, 8, 16)])
        return np.stack([target.numpy(layer=layer) for layer in range(3)])

    got = same_everywhere(make)
    for layer in range(3):
        assert (got[layer, :, :8] == (layer + 1, 1, 0, 255)).all() and (got[layer, :, 8:] == (layer + 1, 2, 0, 255)).all()


def test_clip_and_cull_distances_of_vertices() -> None:
    for name, fix in (("gl_ClipDistance", "gl_ClipDistance[1]"), ("gl_CullDistance", "gl_CullDistance[1]")):
        before = f"out gl_MeshPerVertexEXT {{ vec4 gl_Position; float {fix}; }} gl_MeshVerticesEXT[];"
        vertex = f"gl_MeshVerticesEXT[i].{name}[0] = i == 1 ? -8.0 : 1.0;"
        plain = """#version 450
out gl_PerVertex { vec4 gl_Position; float FIX; };
void main() { int i = gl_VertexIndex; gl_Position = vec4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1); NAME[0] = i == 1 ? -8.0 : 1.0; }"""
        for dev in (device(4, 1, ""), device(16, 2, "")):
            pipe = dev.pipeline(mesh=full(before, vertex), frag=WHITE, color=FORMAT)
            other = dev.pipeline(plain.replace("FIX", fix).replace("NAME", name), WHITE, color=FORMAT)
            got = picture(dev, pipe, 1)
            np.testing.assert_array_equal(got, plain_picture(dev, other, count=3))
            assert name == "gl_CullDistance" or 0 < got.any(-1).sum() < 64 * 64


def test_views() -> None:
    """gl_ViewIndex in both stages: each view runs them."""
    mesh = full().replace("SetMeshOutputsEXT(3, 1)", "SetMeshOutputsEXT(3, gl_ViewIndex == 1 ? 0 : 1)")
    mesh = mesh.replace("#extension", "#extension GL_EXT_multiview : require\n#extension", 1)
    dev = device(8, 2, "")
    target = dev.image((8, 8), FORMAT, layers=3)
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))], view_mask=0b111) as rp:
        rp.draw_mesh_tasks(dev.pipeline(mesh=mesh, frag=WHITE, color=FORMAT))
    got = [target.numpy(layer=view) for view in range(3)]
    assert got[0].all() and got[2].all() and not got[1].any()
    assert (rp.stats.mesh_workgroups, rp.stats.mesh_primitives) == (3, 2)


# ---------------------------------------------------------------------------------------------------- indirect, reused


def test_indirect_draws() -> None:
    """Rows of three numbers, from arrays and buffers, with a count in memory; gl_DrawID is the row."""
    mesh = HEAD + """layout(local_size_x = 1) in; layout(points, max_vertices = 1, max_primitives = 1) out;
void main() {
  SetMeshOutputsEXT(1, 1);
  uvec3 g = gl_WorkGroupID;
  gl_MeshVerticesEXT[0].gl_Position = vec4((vec2(g.x + 8 * g.y + 16 * g.z, gl_DrawID) + 0.5) / 32 - 1, 0, 1);
  gl_MeshVerticesEXT[0].gl_PointSize = 1;
  gl_PrimitivePointIndicesEXT[0] = 0;
}"""
    rows = np.array([[3, 1, 1], [0, 5, 5], [2, 2, 2], [70000, 1, 1], [1, 1, 1]], np.uint32)
    want = np.zeros((64, 64), bool)
    want[0, :3] = want[4, 0] = True
    want[2, [x + 8 * y + 16 * z for x in (0, 1) for y in (0, 1) for z in (0, 1)]] = True

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(mesh=mesh, frag=WHITE, color=FORMAT)
        found = []
        for given, more in (
            (rows, {}),
            (dev.buffer(rows, usage="indirect"), {}),
            (dev.buffer(rows, usage="indirect"), {"draw_count": dev.buffer(np.array([5], np.uint32), usage="indirect")}),
        ):
            target = dev.image(SIZE, FORMAT)
            with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
                rp.draw_mesh_tasks_indirect(pipe, given, **more)
            found.append(target.numpy().any(-1))
        assert all((one == want).all() for one in found)
        return found[0]

    same_everywhere(make)
    dev = device(8, 2, "")
    pipe, target = dev.pipeline(mesh=mesh, frag=WHITE, color=FORMAT), dev.image(SIZE, FORMAT)
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        count = dev.buffer(np.array([1], np.uint32), usage="indirect")
        rp.draw_mesh_tasks_indirect(pipe, dev.buffer(rows, usage="indirect"), draw_count=count)
    assert target.numpy().any(-1).sum() == 3


def test_barriers_and_more_vectors_than_one() -> None:
    """A workgroup of several vectors that waits: a sum over shared memory decides what is drawn."""
    mesh = HEAD + """layout(local_size_x = 70) in; layout(points, max_vertices = 70, max_primitives = 70) out;
shared uint sum[70];
void main() {
  uint i = gl_LocalInvocationIndex;
  sum[i] = i % 3 == 0 ? 1 : 0;
  for (uint step = 1; step < 70; step *= 2) {
    barrier();
    uint more = i >= step ? sum[i - step] : 0;
    barrier();
    sum[i] += more;
  }
  barrier();
  SetMeshOutputsEXT(sum[69], sum[69]);
  if (i % 3 != 0) return;
  uint at = sum[i] - 1;
  gl_MeshVerticesEXT[at].gl_Position = vec4((vec2(i % 64, at) + 0.5) / 32 - 1, 0, 1);
  gl_MeshVerticesEXT[at].gl_PointSize = 1;
  gl_PrimitivePointIndicesEXT[at] = at;
}"""
    got = same_everywhere(lambda dev: picture(dev, dev.pipeline(mesh=mesh, frag=WHITE, color=FORMAT), 1)).any(-1)
    want = np.zeros((64, 64), bool)
    for at, i in enumerate(range(0, 70, 3)):
        want[at, i % 64] = True
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("profile", ["mali-g57", "immortalis-g925", "adreno-a740", "desktop-immediate"])
def test_profiles_change_no_bit(profile: str) -> None:
    """Tile sizes, low-resolution Z, pre-pass, vertex counts, a heap that is split: the picture of the host's way; deferral says why not."""
    given = meshlets(200, 40)

    def make(**more: Any) -> tuple[Array, tg.RenderPass]:
        dev = tg.Device(threads=2, **more)
        pipe = dev.pipeline(task=TASK, mesh=FROM_TASK, frag=SHADE, color=FORMAT, depth="d32_sfloat")
        target, depth = dev.image(SIZE, FORMAT), dev.image(SIZE, "d32_sfloat")
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
            rp.draw_mesh_tasks(pipe, 7, bind=buffers(dev, given), push={"meshlets": 200, "keep": 2})
        return target.numpy(), rp

    want, _ = make()
    got, rp = make(profile=profile)
    np.testing.assert_array_equal(got, want)
    split, other = make(tiler_heap=20_000)
    np.testing.assert_array_equal(split, want)
    assert other.stats.splits > 2
    if profile == "immortalis-g925":
        assert "a mesh shader makes the vertices" in str(rp.explain())
    assert rp.costs().cycles > 0


def test_a_loop_that_does_not_end_is_named() -> None:
    dev = tg.Device(loop_budget=1000)
    endless = "uint k = 0; while (k < 4000000000u) k += min(k + 1, 1);"
    task = HEAD + f"layout(local_size_x = 1) in; void main() {{ {endless} EmitMeshTasksEXT(k == 0 ? 2 : 1, 1, 1); }}"
    target = dev.image(SIZE, FORMAT)
    for shaders, stage in (
        ({"mesh": full(primitive=endless + " if (k == 7) gl_MeshVerticesEXT[0].gl_Position.x = 1;")}, "mesh"),
        ({"mesh": full(), "task": task}, "task"),
    ):
        pipe = dev.pipeline(frag=WHITE, color=FORMAT, **shaders)
        with (
            pytest.raises(tg.DeviceLostError, match=f"loop at .* of the {stage} shader was ended"),
            dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp,
        ):
            rp.draw_mesh_tasks(pipe)


def test_a_payload_has_one_nan() -> None:
    """What arithmetic makes of none is 0x7fc00000 when another stage reads its bits."""
    task = HEAD + """layout(local_size_x = 1) in; struct P { float nan; }; taskPayloadSharedEXT P payload;
layout(push_constant) uniform Push { float zero; };
void main() { payload.nan = zero / zero; EmitMeshTasksEXT(1, 1, 1); }"""
    before = "struct P { float nan; }; taskPayloadSharedEXT P payload; layout(location = 0) perprimitiveEXT flat out uint word[];"
    mesh = full(before, primitive="word[0] = floatBitsToUint(payload.nan);")
    frag = HEAD + "layout(location = 0) perprimitiveEXT flat in uint w; layout(location = 0) out uint o; void main() { o = w; }"

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(task=task, mesh=mesh, frag=frag, color="r32_uint")
        return picture(dev, pipe, 1, format="r32_uint", push={"zero": 0.0})

    assert (same_everywhere(make) == 0x7FC00000).all()


def test_secondary_command_buffers_and_conditions() -> None:
    dev = device(8, 2, "")
    pipe, target = dev.pipeline(mesh=full(), frag=WHITE, color=FORMAT), dev.image(SIZE, FORMAT)
    for visible in (0, 1):
        word = dev.buffer(np.array([visible], np.uint32))
        with dev.secondary(color=[FORMAT]) as secondary:
            secondary.draw_mesh_tasks(pipe, viewport=(0, 0, 32, 64))
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            rp.execute_commands(secondary)
            with rp.conditional(word):
                rp.draw_mesh_tasks(pipe, viewport=(32, 0, 32, 64))
        got = target.numpy()
        assert got[:, :32].all() and bool(got[:, 32:].any()) == bool(visible)


# --------------------------------------------------------------------------------------------- the reference interpreter


def test_the_reference_interpreter_makes_the_same() -> None:
    """One invocation at a time: what a task shader starts and what a mesh shader makes of it are the interpreter's, bit for bit."""
    task = HEAD + """layout(local_size_x = 4) in;
struct P { uint seed; float base[4]; }; taskPayloadSharedEXT P payload;
void main() {
  payload.base[gl_LocalInvocationIndex] = sin(float(gl_LocalInvocationIndex) * 0.7);
  if (gl_LocalInvocationIndex == 0) payload.seed = 77 * gl_WorkGroupID.x + 5;
  EmitMeshTasksEXT(2 + gl_WorkGroupID.x, 1, 1);
}"""
    mesh = HEAD + """layout(local_size_x = 6) in; layout(points, max_vertices = 12, max_primitives = 12) out;
struct P { uint seed; float base[4]; }; taskPayloadSharedEXT P payload;
layout(location = 0) flat out uvec4 word[];
shared uint turn[6];
void main() {
  uint i = gl_LocalInvocationIndex;
  turn[(i + 1) % 6] = i * i + payload.seed;
  barrier();
  SetMeshOutputsEXT(12, 10 + gl_WorkGroupID.x);
  for (uint v = i; v < 12; v += 6) {
    uint row = payload.seed / 77 * 4 + gl_WorkGroupID.x;
    gl_MeshVerticesEXT[v].gl_Position = vec4((vec2(v, row) + 0.5) / 32 - 1, 0, 1);
    gl_MeshVerticesEXT[v].gl_PointSize = 1;
    word[v] = uvec4(turn[i], floatBitsToUint(payload.base[v % 4] * float(v) + 0.25), v * payload.seed, gl_WorkGroupID.x);
    gl_PrimitivePointIndicesEXT[v] = v;
  }
}"""
    frag = "#version 450\nlayout(location = 0) flat in uvec4 word; layout(location = 0) out uvec4 o; void main() { o = word; }"
    want = np.zeros((64, 64, 4), np.uint32)
    tasks, meshes = (stages.Program(stages.read(tg.compile_glsl(t, s)), {}) for t, s in ((task, "task"), (mesh, "mesh")))
    for t in range(3):
        counts, payload = stages.task(tasks, (t, 0, 0), (3, 1, 1))
        for m in range(counts[0]):
            made = stages.mesh(meshes, (m, 0, 0), counts, payload)
            for v in [made.outputs["PrimitivePointIndicesEXT"][i] for i in range(min(made.primitives, 12))]:
                want[t * 4 + m, v] = made.outputs[0][v]

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(task=task, mesh=mesh, frag=frag, color="r32g32b32a32_uint")
        return picture(dev, pipe, 3, format="r32g32b32a32_uint")

    np.testing.assert_array_equal(same_everywhere(make), want)


# -------------------------------------------------------------------------------------------------- what is not allowed


def test_wrong_use_is_named() -> None:
    dev = device(8, 2, "")
    good = dev.pipeline(mesh=full(), frag=WHITE, color=FORMAT, label="good")
    plain = dev.pipeline("#version 450\nvoid main() { gl_Position = vec4(0); }", WHITE, color=FORMAT, label="plain")
    target = dev.image(SIZE, FORMAT)

    def draws(wrong: Any, text: str) -> None:
        with pytest.raises(tg.ValidationError, match=text), dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            wrong(rp)

    draws(lambda rp: rp.draw(good, count=3), "'good'.*has a mesh shader.*rp.draw_mesh_tasks")
    draws(lambda rp: rp.draw_mesh_tasks(plain), "'plain'.*no mesh shader.*rp.draw")
    draws(lambda rp: rp.draw_indirect(good, np.zeros((1, 4), np.uint32)), "'good'.*draw_mesh_tasks")
    draws(lambda rp: rp.draw_mesh_tasks(good, 65536), "groups.*65536.*65535")
    draws(lambda rp: rp.draw_mesh_tasks(good, (65535, 65535)), "4294836225 in all; at most 4194304")
    draws(lambda rp: rp.draw_mesh_tasks(good, (1, 2, 3, 4)), "groups is .*one for x, y and z each")
    draws(lambda rp: rp.draw_mesh_tasks_indirect(good, np.zeros((1, 4), np.uint32)), r"shape \(n, 3\)")

    def pipelines(text: str, **more: Any) -> None:
        with pytest.raises(tg.ValidationError, match=text):
            dev.pipeline(**{"mesh": full(), "frag": WHITE, "color": FORMAT, **more})

    vertex = "#version 450\nvoid main() { gl_Position = vec4(0); }"
    pipelines("mesh= and vert= are given", vert=vertex)
    pipelines("task= is given without mesh=", mesh=None, task=TASK)
    pipelines("topology= is given beside mesh=", topology="triangle_list")
    pipelines("vertex= is given beside mesh=", vertex=np.dtype("f4"))
    pipelines("primitive_topology, which a mesh shader has not", dynamic=["primitive_topology"])
    pipelines("reads a payload .* there is no task shader", mesh=FROM_TASK)
    reads = HEAD + "layout(location = 0) perprimitiveEXT in vec4 c; layout(location = 0) out vec4 o; void main() { o = c; }"
    pipelines("'c' .* for each primitive.* for each vertex", mesh=full("layout(location = 0) out vec4 d[];", "d[i] = vec4(1);"), frag=reads)
    pipelines("gl_PrimitiveID, which the mesh shader does not write", frag=WHITE.replace("vec4(1)", "vec4(gl_PrimitiveID)"))


def test_all_dynamic_state_is_what_there_is() -> None:
    """dynamic="all" leaves out what a mesh shader has not."""
    dev = device(8, 2, "")
    pipe = dev.pipeline(mesh=full(), frag=WHITE, color=FORMAT, dynamic="all")
    assert "cull_mode" in pipe.dynamic and "primitive_topology" not in pipe.dynamic and "vertex_input" not in pipe.dynamic


def test_a_capture_draws_the_same(tmp_path: Path) -> None:
    given = meshlets(60, 30)
    dev = device(8, 2, "")
    pipe = dev.pipeline(task=TASK, mesh=FROM_TASK, frag=SHADE, color=FORMAT)
    target = dev.image(SIZE, FORMAT)
    path = tmp_path / "mesh.tgcap"
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        rp.draw_mesh_tasks(pipe, 2, bind=buffers(dev, given), push={"meshlets": 60, "keep": 2})
        rp.draw_mesh_tasks_indirect(pipe, np.array([[1, 1, 1]], np.uint32), bind=buffers(dev, given), push={"meshlets": 60, "keep": 3})
    rp.capture(path)
    for lanes in ("4", "16"):
        made = tmp_path / f"{lanes}.npy"
        command = [sys.executable, "-m", "tilegpu", "replay", str(path), "-o", str(made), "--lanes", lanes]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(made), target.numpy())



@pytest.mark.parametrize("size", [(1024, 1, 1), (1, 1024, 1), (2, 1, 512), (16, 8, 8)])
def test_workgroups_of_all_sizes_compile(size: tuple[int, int, int]) -> None:
    """glslang's own limit is 128 each way."""
    dev, (x, y, z) = device(8, 1, ""), size
    local = f"layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;"
    mesh = f"""{HEAD}{local}
layout(points, max_vertices = 1, max_primitives = 1) out;
shared uint ran;
void main() {{ SetMeshOutputsEXT(1, 1); atomicAdd(ran, 1); barrier();
  if (gl_LocalInvocationIndex > 0) return;
  gl_MeshVerticesEXT[0].gl_Position = vec4(0, 0, 0, 1); gl_MeshVerticesEXT[0].gl_PointSize = ran == 1024 ? 64 : 1;
  gl_PrimitivePointIndicesEXT[0] = 0; }}"""
    target = dev.image(SIZE, FORMAT)
    task = f"{HEAD}{local}\nvoid main() {{ EmitMeshTasksEXT(1, 1, 1); }}"
    pipe = dev.pipeline(task=task, mesh=mesh, frag=WHITE, color=FORMAT)
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        rp.draw_mesh_tasks(pipe, 1)
    assert (target.numpy() == 255).all()


def test_layers_that_an_implicit_block_declares_are_named() -> None:
    dev, given = device(8, 1, ""), "gl_MeshPrimitivesEXT[0].gl_CullPrimitiveEXT = false;"
    mesh = f"""{HEAD}layout(local_size_x = 1) in; layout(triangles, max_vertices = 3, max_primitives = 1) out;
void main() {{ SetMeshOutputsEXT(3, 1); {given} gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2); }}"""
    target = dev.image(SIZE, FORMAT, layers=2)
    pipe = dev.pipeline(mesh=mesh, frag=WHITE, color=FORMAT)
    with (
        pytest.raises(tg.ValidationError, match="gl_MeshPerPrimitiveEXT has it where it is not declared anew"),
        dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))], view_mask=3) as rp,
    ):
        rp.draw_mesh_tasks(pipe, 1)


def test_rates_of_primitives_are_no_mistake() -> None:
    """A combiner that takes the rate that a mesh shader writes is not warned of."""
    mesh = f"""{HEAD}#extension GL_EXT_fragment_shading_rate : require
layout(local_size_x = 1) in; layout(triangles, max_vertices = 3, max_primitives = 1) out;
void main() {{ SetMeshOutputsEXT(3, 1); gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
  for (int i = 0; i < 3; i++) gl_MeshVerticesEXT[i].gl_Position = vec4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0, 1);
  gl_MeshPrimitivesEXT[0].gl_PrimitiveShadingRateEXT = 5; }}"""
    dev, rate = device(8, 1, ""), {"combiner_ops": ("replace", "keep")}
    target = dev.image(SIZE, FORMAT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe = dev.pipeline(mesh=mesh, frag=WHITE, color=FORMAT, fragment_shading_rate=rate)
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            rp.draw_mesh_tasks(pipe, 1)
    assert rp.stats.coarse_pixels == SIZE[0] * SIZE[1] == 4 * rp.stats.coarse_fragments
