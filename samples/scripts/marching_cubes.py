"""Metaballs: a field of a few points becomes triangles on the GPU (marching cubes by compute), and an indirect draw shows what came out.

    python samples/scripts/marching_cubes.py [out.png]

Seen: drops that flow into each other over a floor, on the left with their triangles. Three dispatches make the mesh: each cell counts its
triangles; a prefix sum over all cells says where each one's begin, so that no atomic decides about an order; each cell writes its vertices.
The prefix sum also writes the draw's vertex count, which the program need not read. Printed: cells, triangles, their bytes, invocations,
and edges without a neighbour (none: the surface is closed).
"""

import sys

import numpy as np

import tilegpu as tg

EDGES = [(a, a | 1 << axis) for axis in range(3) for a in range(8) if not a >> axis & 1]  # corners by bits: x, y, z
FACES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]  # corners in a circle, seen from outside
VERTEX = np.dtype([("position", "f4", 3)])
GROUP = 256


def triangles_of(inside: int) -> list[int]:
    """The edges of a cell that make its triangles, three by three; ``inside``: a bit for each corner.

    On each face a segment leads round every run of corners that are inside, from the edge where the circle comes in to where it leaves.
    Where one face's circle leaves, its neighbour's comes in: the segments join to rings, and a ring is a fan of triangles."""
    follows = {}
    for face in FACES:
        for k in range(4):
            run = [face[(k + i) % 4] for i in range(6)]
            if not inside >> run[0] & 1 and inside >> run[1] & 1:
                end = next(i for i in range(2, 6) if not inside >> run[i] & 1)
                come, leave = (tuple(sorted(pair)) for pair in ((run[0], run[1]), (run[end - 1], run[end])))
                follows[EDGES.index(come)] = EDGES.index(leave)
    out: list[int] = []
    while follows:
        ring = [next(iter(follows))]
        while (edge := follows.pop(ring[-1])) != ring[0]:
            ring.append(edge)
        out += [edge for i in range(1, len(ring) - 1) for edge in (ring[0], ring[i], ring[i + 1])]
    return out


TABLE = [triangles_of(case) for case in range(256)]
COMMON = """#version 450
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Balls { vec4 ball[]; };  // center, radius
layout(binding = 1) buffer Starts { uint start[]; };         // of each cell's triangles, within its workgroup; then of workgroups
layout(binding = 2) readonly buffer Cases { uint size[256]; uint edge[]; };
layout(push_constant) uniform Push { int cells; float half_side; uint balls; uint groups; };
float field(vec3 p) {
  float sum = -1.0;
  for (uint i = 0; i < balls; i++) { vec3 d = p - ball[i].xyz; sum += ball[i].w * ball[i].w / max(dot(d, d), 1e-6); }
  return sum;
}
vec3 corner(uint cell, uint c) {
  uint n = uint(cells);
  uvec3 at = uvec3(cell % n, cell / n % n, cell / (n * n)) + uvec3(c & 1, c >> 1 & 1, c >> 2);
  return (vec3(at) / float(cells) * 2.0 - 1.0) * half_side;
}
uint case_of(uint cell) {
  uint inside = 0;
  for (uint c = 0; c < 8; c++) inside |= uint(field(corner(cell, c)) > 0.0) << c;
  return inside;
}
shared uint sums[256];
uint sum_before(uint own, out uint all) {  // of the workgroup's invocations before this one
  uint me = gl_LocalInvocationID.x;
  sums[me] = own;
  barrier();
  for (uint step = 1; step < 256; step *= 2) {
    uint more = me >= step ? sums[me - step] : 0;
    barrier();
    sums[me] += more;
    barrier();
  }
  all = sums[255];
  return sums[me] - own;
}
"""
COUNT = COMMON + """
void main() {
  uint cell = gl_GlobalInvocationID.x, all, many = uint(cells * cells * cells);
  start[cell] = sum_before(cell < many ? size[case_of(cell)] / 3 : 0, all);
  if (gl_LocalInvocationID.x == 0) start[groups * 256 + gl_WorkGroupID.x] = all;
}"""
SCAN = COMMON + """
layout(binding = 3) writeonly buffer Draw { uint vertex_count, instance_count, first_vertex, first_instance; };
void main() {
  uint per = (groups + 255) / 256, first = groups * 256 + gl_LocalInvocationID.x * per, own = 0, all;
  uint last = min(first + per, groups * 257);
  for (uint i = first; i < last; i++) own += start[i];
  uint sum = sum_before(own, all);
  for (uint i = first; i < last; i++) { uint here = start[i]; start[i] = sum; sum += here; }
  if (gl_LocalInvocationID.x == 0) { vertex_count = 3 * all; instance_count = 1; first_vertex = 0; first_instance = 0; }
}"""
EMIT = COMMON + """
layout(binding = 4) writeonly buffer Vertices { float v[]; };
void main() {
  uint cell = gl_GlobalInvocationID.x, inside = cell < uint(cells * cells * cells) ? case_of(cell) : 0;
  uint first = 3 * (start[cell] + start[groups * 256 + gl_WorkGroupID.x]);
  for (uint i = 0; i < size[inside] && (first + i + 1) * 3 <= v.length(); i++) {
    uint ends = edge[inside * LONGEST + i], to = (first + i) * 3;
    vec3 a = corner(cell, ends & 7), b = corner(cell, ends >> 3);
    float fa = field(a), fb = field(b);
    vec3 p = mix(a, b, fa / (fa - fb));
    v[to] = p.x; v[to + 1] = p.y; v[to + 2] = p.z;
  }
}"""
LIT_VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 0) out vec3 at;
layout(push_constant) uniform Push { mat4 view; vec4 eye; float floor_y; };
void main() { at = position; gl_Position = view * vec4(position, 1); }"""
LIT = """#version 450
#extension GL_EXT_fragment_shader_barycentric : require
layout(location = 0) in vec3 at; layout(location = 0) out vec4 o;
layout(push_constant) uniform Push { mat4 view; vec4 eye; float floor_y; };
layout(binding = 0) readonly buffer Balls { vec4 ball[]; };
vec3 sky(vec3 d) { return mix(vec3(0.1, 0.11, 0.14), vec3(0.55, 0.65, 0.8), smoothstep(-0.2, 0.9, d.y)) + 3 * smoothstep(0.9, 0.96, d.y); }
void main() {
  bool is_floor = at.y < floor_y + 0.001;
  vec3 light = normalize(vec3(0.5, 0.9, 0.35)), to_eye = normalize(eye.xyz - at), n = vec3(0), paint = vec3(0);
  float shade = 1, open = 1, weights = 0;
  for (int i = 0; i < ball.length(); i++) {
    vec3 d = at - ball[i].xyz;
    float r = ball[i].w, w = r * r / dot(d, d), along = dot(d, light), above = -d.y / length(d);
    n += d * w / dot(d, d);  // the field falls along it
    paint += w * w * pow(0.5 + 0.45 * cos(i * 0.83 + vec3(0.2, 2.3, 4.4)), vec3(1.5));
    weights += w * w;
    if (is_floor) { shade *= smoothstep(0.75, 1.3, length(d - light * along) / r / 1.25); open *= 1 - clamp(above * 1.5 * w, 0, 0.8); }
  }
  n = is_floor ? vec3(0, 1, 0) : normalize(n);
  paint = is_floor ? vec3(0.62) : paint / weights;
  vec3 lit = paint * (open * (0.28 + 0.14 * n.y) + 0.85 * shade * max(dot(n, light), 0));
  float fresnel = 0.04 + 0.96 * pow(1 - max(dot(n, to_eye), 0), 5);
  if (!is_floor) lit += fresnel * sky(reflect(-to_eye, n)) + 0.9 * pow(max(dot(n, normalize(light + to_eye)), 0), 120);
  vec3 edges = smoothstep(vec3(0), fwidth(gl_BaryCoordEXT) * 0.9, gl_BaryCoordEXT);
  if (!is_floor) lit *= mix(1, 0.45 + 0.55 * min(edges.x, min(edges.y, edges.z)), smoothstep(0.05, -0.1, at.x));  // the mesh, on the left
  o = vec4(mix(lit, vec3(0.62, 0.68, 0.76), smoothstep(5, 16, length(at.xz))), 1);
}"""
BALLS = [(0.0, 0.15, 0.0, 0.5), (0.85, 0.45, 0.1, 0.3), (-0.9, 0.3, 0.15, 0.33), (0.35, -0.6, 0.45, 0.28), (-0.45, -0.55, -0.35, 0.3),
         (0.2, 1.0, -0.15, 0.28), (-0.5, 0.95, 0.55, 0.16), (1.15, -0.35, -0.25, 0.2)]  # fmt: skip


def render(size: tuple[int, int] = (960, 540), cells: int = 64) -> tuple[tg.Image, np.ndarray, dict[str, int]]:
    """The picture, the triangles' corners (n, 3, 3), and figures."""
    device, m = tg.Device(), tg.math
    balls, groups, longest = np.array(BALLS, np.float32), -(-(cells**3) // GROUP), max(map(len, TABLE))
    ends = np.zeros((256, longest), np.uint32)
    for case, edges in enumerate(TABLE):
        ends[case, : len(edges)] = [EDGES[e][0] | EDGES[e][1] << 3 for e in edges]
    vertices = device.buffer(np.zeros(3 * 12 * cells**2, VERTEX), label="vertices")  # room for 12 triangles for each cell of a layer
    starts, draw = device.buffer(groups * 257 * 4), device.buffer(np.zeros(4, np.uint32))
    bind = {"Balls": balls, "Starts": starts, "Cases": {"size": [len(edges) for edges in TABLE], "edge": ends.ravel()}}
    push = {"cells": cells, "half_side": 1.9, "balls": len(balls), "groups": groups}
    count, scan, emit = (device.compute_pipeline(text.replace("LONGEST", str(longest))) for text in (COUNT, SCAN, EMIT))
    done = device.dispatch(count, groups, bind=bind, push=push)
    device.dispatch(scan, 1, bind={"Starts": starts, "Draw": draw}, push=push)
    device.dispatch(emit, groups, bind={**bind, "Vertices": vertices}, push=push)

    out, eye, ground = device.image(size, "r8g8b8a8_srgb"), (2.2, 1.6, 4.6), -1.1
    pipe = device.pipeline(LIT_VERTEX, LIT, vertex=VERTEX, color=out, depth="d32_sfloat", cull="back", samples=4)
    depth = tg.Attachment(device.image(size, "d32_sfloat", transient=True), clear=1.0, store_op="dont_care")
    view = m.multiply(m.perspective(36, size[0] / size[1], 0.1, 60), m.look_at(eye, (0.05, 0.05, 0)))
    floor = np.array([((x, ground, z),) for x in (-60, 60) for z in (-60, 9)], VERTEX)
    more = {"bind": {"Balls": balls}, "push": {"view": view, "eye": (*eye, 1), "floor_y": ground}}
    with device.render_pass(color=[tg.Attachment(out, clear=(0.62, 0.68, 0.76, 1))], depth=depth, samples=4) as rp:
        rp.draw_indirect(pipe, draw, vertices, **more)
        rp.draw(pipe, floor, indices=[[0, 1, 2], [2, 1, 3]], **more)
    used = int(draw.numpy(np.uint32)[0])
    figures = {"cells": cells**3, "triangles": used // 3, "vertex_B": used * VERTEX.itemsize, "drawn": rp.stats.primitives_in - 2,
               "invocations": 2 * done.invocations + GROUP, "shaded": rp.stats.fragments_shaded}  # fmt: skip
    return out, vertices.numpy()["position"][:used].reshape(-1, 3, 3).copy(), figures


def open_edges(triangles: np.ndarray) -> int:
    """Edges that not exactly two triangles share: 0 for a closed surface."""
    _, corner = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    edges = np.sort(corner.reshape(-1, 3)[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), 1)
    _, times = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0, return_counts=True)
    return int((times != 2).sum())


def main() -> None:
    image, triangles, figures = render()
    image.save(sys.argv[1] if len(sys.argv) > 1 else "marching_cubes.png")
    print(f"{figures['cells']:,} cells, {figures['triangles']:,} triangles ({figures['vertex_B']:,} B), {figures['drawn']:,} drawn")
    print(f"{figures['invocations']:,} invocations of compute, {figures['shaded']:,} of the fragment shader")
    print(f"edges without a neighbour: {open_edges(triangles)}")


if __name__ == "__main__":
    main()
