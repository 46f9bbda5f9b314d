"""What tests of mesh shaders share: meshlets of triangle soups, shaders that draw them, and the same soup by a vertex shader.

In: triangles. Out: buffers of meshlets, programs, pictures.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import tilegpu as tg
from primitive_scenes import FORMAT, SIZE, Array

HEAD = "#version 460\n#extension GL_EXT_mesh_shader : require\n"
VERTICES, PRIMITIVES = 32, 24  # of a meshlet at most


class Meshlets(NamedTuple):
    """``points``: position and colour; ``ranges``: first vertex, vertices, first primitive, primitives of each meshlet; ``local``: corners
    of primitives, of the meshlet's vertices; ``indices``: the same of all vertices."""

    points: Array
    ranges: Array
    local: Array
    indices: Array


def meshlets(count: int, seed: int, corners: int = 3) -> Meshlets:
    """Random ones: some are empty, vertices are shared, positions lie beyond the picture too."""
    rng = np.random.default_rng(seed)
    ranges, local, indices = [], [], []
    first_vertex = first_primitive = 0
    for _ in range(count):
        vertices, primitives = int(rng.integers(3, VERTICES + 1)), int(rng.integers(0, PRIMITIVES + 1))
        own = rng.integers(0, vertices, (primitives, corners))
        ranges.append((first_vertex, vertices, first_primitive, primitives))
        local.append(own), indices.append(own + first_vertex)
        first_vertex, first_primitive = first_vertex + vertices, first_primitive + primitives
    points = np.zeros(first_vertex, np.dtype([("p", "f4", 4), ("c", "f4", 4)]))
    points["p"][:, :2] = rng.uniform(-1.3, 1.3, (first_vertex, 2))
    points["p"][:, 2], points["p"][:, 3] = rng.uniform(0, 1, first_vertex), rng.uniform(0.5, 2, first_vertex)
    points["c"] = rng.uniform(0, 1, (first_vertex, 4))
    return Meshlets(
        points, np.array(ranges, np.uint32), np.concatenate(local).astype(np.uint32), np.concatenate(indices).astype(np.uint32)
    )


BUFFERS = """
struct Point { vec4 p; vec4 c; };
layout(set = 0, binding = 0, std430) readonly buffer Points { Point points[]; };
layout(set = 0, binding = 1, std430) readonly buffer Ranges { uvec4 ranges[]; };
layout(set = 0, binding = 2, std430) readonly buffer Corners { uint corners[]; };
"""
#: CORNERS, KIND, INDICES are replaced.
MESH = (
    HEAD
    + """layout(local_size_x = 20) in;
layout(KIND, max_vertices = 32, max_primitives = 24) out;"""
    + BUFFERS
    + """layout(location = 0) out vec3 color[];
void main() {
  uvec4 range = ranges[gl_WorkGroupID.x];
  SetMeshOutputsEXT(range.y, range.w);
  for (uint v = gl_LocalInvocationIndex; v < range.y; v += 20) {
    gl_MeshVerticesEXT[v].gl_Position = points[range.x + v].p;
    gl_MeshVerticesEXT[v].gl_PointSize = 3.0;
    color[v] = points[range.x + v].c.rgb;
  }
  for (uint i = gl_LocalInvocationIndex; i < range.w; i += 20) {
    uint at = (range.z + i) * CORNERS;
    INDICES
  }
}"""
)
_INDICES = {
    1: "gl_PrimitivePointIndicesEXT[i] = corners[at];",
    2: "gl_PrimitiveLineIndicesEXT[i] = uvec2(corners[at], corners[at + 1]);",
    3: "gl_PrimitiveTriangleIndicesEXT[i] = uvec3(corners[at], corners[at + 1], corners[at + 2]);",
}
KINDS = {1: "points", 2: "lines", 3: "triangles"}
TOPOLOGIES = {1: "point_list", 2: "line_list", 3: "triangle_list"}
PLAIN = """#version 450
layout(location = 0) in vec4 p; layout(location = 1) in vec4 c; layout(location = 0) out vec3 color;
void main() { gl_Position = p; gl_PointSize = 3.0; color = c.rgb; }"""
SHADE = """#version 450
layout(location = 0) in vec3 color; layout(location = 0) out vec4 o;
void main() { o = vec4(color, 1); }"""


def mesh_shader(corners: int = 3) -> str:
    return MESH.replace("CORNERS", f"{corners}u").replace("KIND", KINDS[corners]).replace("INDICES", _INDICES[corners])


def buffers(dev: tg.Device, given: Meshlets) -> dict[str, tg.Buffer]:
    return {
        "Points": dev.buffer(given.points, usage="storage"),
        "Ranges": dev.buffer(given.ranges, usage="storage"),
        "Corners": dev.buffer(given.local.reshape(-1), usage="storage"),
    }


def picture(dev: tg.Device, pipe: tg.Pipeline, groups: Any, size: tuple[int, int] = SIZE, format: str = FORMAT, **more: Any) -> Array:
    target = dev.image(size, format)
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        rp.draw_mesh_tasks(pipe, groups, **more)
    return target.numpy()


def plain_picture(dev: tg.Device, pipe: tg.Pipeline, points: Any = None, size: tuple[int, int] = SIZE, **more: Any) -> Array:
    target = dev.image(size, FORMAT)
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, points, **more)
    return target.numpy()
