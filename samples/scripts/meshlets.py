"""A knot of meshlets: a task shader leaves out those that are outside of the view or turn their backs, a mesh shader makes the others.

Left: what is seen. Right: the same meshlets, chosen for the left view, from the side: the backs are not there.

    python samples/scripts/meshlets.py [out.png]
"""

import sys

import numpy as np

import tilegpu as tg
from tilegpu.scene.camera import multiply, perspective, rotate_y, translate

ALONG, AROUND, SIDE = 96, 10, 6  # meshlets along the tube and around it; quads of each on a side
COMMON = """#version 450
#extension GL_EXT_mesh_shader : require
layout(push_constant) uniform Push { mat4 view; mat4 chosen; vec4 eye; };
struct Meshlet { vec4 sphere; vec4 cone; };  // centre and radius; mean normal, and the least cosine to it
layout(set = 0, binding = 0, std430) readonly buffer Meshlets { Meshlet meshlets[]; };
layout(set = 0, binding = 1, std430) readonly buffer Points { vec4 points[]; };
struct Chosen { uint meshlet[32]; };
taskPayloadSharedEXT Chosen payload;
"""
TASK = COMMON + """layout(local_size_x = 32) in;
shared uint count;
bool is_seen(Meshlet m) {
  vec3 to = m.sphere.xyz - eye.xyz;
  float turned = sqrt(1 - m.cone.w * m.cone.w);  // sine of the cone's half angle
  if (dot(normalize(to), m.cone.xyz) > turned + m.sphere.w / length(to)) return false;  // all of it looks away
  mat4 rows = transpose(chosen);
  for (int k = 0; k < 4; k++) {
    vec4 plane = rows[3] + (k % 2 == 0 ? rows[k / 2] : -rows[k / 2]);
    if (dot(plane, vec4(m.sphere.xyz, 1)) < -m.sphere.w * length(plane.xyz)) return false;
  }
  return true;
}
void main() {
  if (gl_LocalInvocationIndex == 0) count = 0;
  barrier();
  uint i = gl_GlobalInvocationID.x;
  if (i < meshlets.length() && is_seen(meshlets[i])) payload.meshlet[atomicAdd(count, 1)] = i;
  barrier();
  EmitMeshTasksEXT(count, 1, 1);
}"""
MESH = COMMON + """layout(local_size_x = 49) in;
layout(triangles, max_vertices = 49, max_primitives = 72) out;
layout(location = 0) out vec3 at[];
layout(location = 1) perprimitiveEXT out vec3 paint[];
void main() {
  uint meshlet = payload.meshlet[gl_WorkGroupID.x], i = gl_LocalInvocationIndex;
  SetMeshOutputsEXT(49, 72);
  at[i] = points[49 * meshlet + i].xyz;
  gl_MeshVerticesEXT[i].gl_Position = view * vec4(at[i], 1);
  if (i >= 36) return;
  uint corner = i / 6 * 7 + i % 6;
  gl_PrimitiveTriangleIndicesEXT[2 * i] = uvec3(corner, corner + 1, corner + 7);
  gl_PrimitiveTriangleIndicesEXT[2 * i + 1] = uvec3(corner + 1, corner + 8, corner + 7);
  paint[2 * i] = paint[2 * i + 1] = 0.55 + 0.4 * cos(vec3(0, 2.1, 4.2) + float(meshlet) * 2.4);
}"""
FRAGMENT = """#version 450
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec3 at; layout(location = 1) perprimitiveEXT in vec3 paint;
layout(location = 0) out vec4 color;
void main() {
  vec3 normal = normalize(cross(dFdx(at), dFdy(at)));
  color = vec4(paint * (0.25 + 0.75 * abs(dot(normal, normalize(vec3(0.3, 0.5, 0.8))))), 1);
}"""


def knot() -> tuple[np.ndarray, np.ndarray]:
    """Points of each meshlet, (n, 49, 4), and what the task shader asks of it, (n, 8)."""
    def point(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        def curve(t: np.ndarray) -> np.ndarray:
            r = 2 + np.cos(3 * t)
            return np.stack([r * np.cos(2 * t), r * np.sin(2 * t), np.sin(3 * t)], -1)

        tangent = curve(u + 1e-3) - curve(u - 1e-3)
        tangent /= np.linalg.norm(tangent, axis=-1, keepdims=True)
        side = np.cross(tangent, [0, 0, 1.0])
        side /= np.linalg.norm(side, axis=-1, keepdims=True)
        normal = np.cos(v)[..., None] * side + np.sin(v)[..., None] * np.cross(side, tangent)
        return curve(u) + 0.55 * normal, normal

    i, j, y, x = np.meshgrid(np.arange(ALONG), np.arange(AROUND), np.arange(7), np.arange(7), indexing="ij")
    at, normal = point(2 * np.pi * (i + x / SIDE) / ALONG, 2 * np.pi * (j + y / SIDE) / AROUND)
    at, normal = at.reshape(-1, 49, 3), normal.reshape(-1, 49, 3)
    centre, axis = at.mean(1), normal.mean(1)
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    radius = np.linalg.norm(at - centre[:, None], axis=-1).max(1)
    cosine = (normal * axis[:, None]).sum(-1).min(1)
    points = np.concatenate([at, np.ones((*at.shape[:2], 1))], -1)
    return points.astype("f4"), np.concatenate([centre, radius[:, None], axis, cosine[:, None]], -1).astype("f4")


def main() -> None:
    points, meshlets = knot()
    device = tg.Device()
    color, depth = device.image((1280, 640), "r8g8b8a8_srgb"), device.image((1280, 640), "d32_sfloat")
    pipe = device.pipeline(task=TASK, mesh=MESH, frag=FRAGMENT, color=color, depth=depth)
    bind = {"Meshlets": device.buffer(meshlets, usage="storage"), "Points": device.buffer(points.reshape(-1, 4), usage="storage")}
    chosen = multiply(perspective(40, 1, 0.1, 30), translate(-0.8, 0, -8.0))
    aside = multiply(perspective(40, 1, 0.1, 30), multiply(translate(0, 0, -9.5), rotate_y(np.pi * 0.42)))
    with device.render_pass(color=[tg.Attachment(color, clear=(0.02, 0.02, 0.03, 1))], depth=tg.Attachment(depth, clear=1.0)) as rp:
        for left, view in ((0, chosen), (640, aside)):
            push = {"view": view, "chosen": chosen, "eye": (0.8, 0, 8.0, 1)}
            half = (left, 0, 640, 640)
            rp.draw_mesh_tasks(pipe, -(-len(meshlets) // 32), bind=bind, push=push, viewport=half, scissor=half)
    s = rp.stats
    print(f"{s.mesh_workgroups // 2} of {len(meshlets)} meshlets drawn, {s.mesh_primitives // 2} triangles")
    color.save(sys.argv[1] if len(sys.argv) > 1 else "meshlets.png")


if __name__ == "__main__":
    main()
