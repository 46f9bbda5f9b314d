"""Shadow volumes: a geometry shader finds the outline of each thing as the lamp sees it, and the stencil buffer counts who is inside.

    python samples/scripts/shadow_volumes.py [out.png]

Seen: on the left things over a floor with exact shadows on it, on each other and on themselves; on the right the volumes that made them, as
glass. Triangles come with their neighbours' corners (triangles_adjacency). One that faces the lamp is drawn twice, as it is and pushed to
infinity, and from each edge whose other triangle faces away a wall goes there, too. Where these lie behind what is seen, front faces take
one from the stencil and back faces add one (z-fail), so that the eye may be inside of a volume; 0 is light. All of it is one pass: depth
and stencil never leave the tile. Printed: what went into the geometry shader and came out, fragments, and bytes.
"""

import sys

import numpy as np

import tilegpu as tg

VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;
layout(push_constant) uniform Push { mat4 view; vec4 color; vec4 eye; };
layout(location = 0) out vec3 at; layout(location = 1) out vec3 n;
invariant gl_Position;
void main() { at = position; n = normal; gl_Position = view * vec4(position, 1); }"""
AMBIENT = """#version 450
layout(location = 0) in vec3 at; layout(location = 1) in vec3 n; layout(location = 0) out vec4 o;
layout(push_constant) uniform Push { mat4 view; vec4 color; vec4 eye; };
void main() { o = vec4(color.rgb * vec3(0.10, 0.12, 0.17) * (1.2 + 0.5 * normalize(n).y) / (1 + 0.05 * dot(at, at)), 1); }"""
LAMP = "const vec3 LAMP = vec3(-1.1, 2.9, 1.3);\n"
LIT = f"""#version 450
layout(location = 0) in vec3 at; layout(location = 1) in vec3 n; layout(location = 0) out vec4 o;
layout(push_constant) uniform Push {{ mat4 view; vec4 color; vec4 eye; }};
{LAMP}
void main() {{
  vec3 m = normalize(n), to_lamp = LAMP - at, light = normalize(to_lamp), h = normalize(light + normalize(eye.xyz - at));
  float toward = smoothstep(0.0, 0.25, dot(m, light)) * dot(m, light);  // soft where triangles turn away, which is sharp
  o = vec4(vec3(1, 0.9, 0.75) * (color.rgb * toward + color.a * toward * pow(max(dot(m, h), 0), 50)) * 8 / dot(to_lamp, to_lamp), 0);
}}"""
PLAIN = """#version 450
layout(location = 0) in vec3 position; layout(location = 0) out vec3 at;
void main() { at = position; }"""
VOLUME = f"""#version 450
layout(triangles_adjacency) in; layout(triangle_strip, max_vertices = 18) out;
layout(location = 0) in vec3 at[];
layout(push_constant) uniform Push {{ mat4 view; vec4 color; vec4 eye; }};
{LAMP}
invariant gl_Position;
bool lit(vec3 a, vec3 b, vec3 c) {{ return dot(cross(b - a, c - a), LAMP - a) > 0; }}
void here(vec3 p) {{ gl_Position = view * vec4(p, 1); EmitVertex(); }}
void far(vec3 p) {{ gl_Position = view * vec4(p - LAMP, 0); EmitVertex(); }}
void main() {{
  vec3 p[3] = vec3[](at[0], at[2], at[4]);
  if (!lit(p[0], p[1], p[2])) return;
  here(p[0]); here(p[1]); here(p[2]); EndPrimitive();
  far(p[0]); far(p[2]); far(p[1]); EndPrimitive();
  for (int i = 0; i < 3; i++) {{
    vec3 a = p[i], b = p[(i + 1) % 3];
    if (lit(b, a, at[2 * i + 1])) continue;  // the triangle over this edge goes on
    here(b); here(a); far(b); far(a); EndPrimitive();
  }}
}}"""
GLASS = """#version 450
layout(location = 0) out vec4 o;
void main() { o = gl_FrontFacing ? vec4(0.05, 0.04, 0.015, 0) : vec4(0.02, 0.017, 0.01, 0); }"""


def things() -> list[tuple[np.ndarray, np.ndarray, tuple[float, ...]]]:
    """Vertices, triangles (n, 3), color and gloss; the floor is the last."""
    m, shapes = tg.math, tg.shapes
    placed = [
        (shapes.torus_knot(segments=240), m.multiply(m.translate(0.35, 1.0, 0), m.scale(1.25)), (0.85, 0.4, 0.12, 0.5)),
        (shapes.sphere(0.33, 64), m.translate(-0.95, 0.33, 0.35), (0.75, 0.1, 0.12, 0.6)),
        (shapes.cube(0.55), m.multiply(m.translate(-0.55, 0.275, -0.85), m.rotate_y(0.5)), (0.2, 0.5, 0.25, 0.1)),
        (shapes.torus(0.28, 0.07, 64), m.multiply(m.translate(1.25, 0.35, 0.75), m.rotate_z(1.2)), (0.2, 0.4, 0.8, 0.6)),
        (shapes.plane(60), m.identity(), (0.5, 0.49, 0.47, 0)),
    ]
    out = []
    for mesh, model, color in placed:
        vertices = tg.shapes.only(mesh, "position", "normal").vertices.copy()
        vertices["position"] = np.round(m.transform(model, vertices["position"]), 5)  # both sides of a seam the same
        vertices["normal"] = m.transform(model, vertices["normal"]) - model[:3, 3]  # turned, and all as long
        out.append((vertices, mesh.indices.reshape(-1, 3), color))
    return out


def with_neighbours(positions: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners without seams, and (n, 6) of them: each triangle's own, and after each the far corner of the triangle over the edge."""
    _, first, same = np.unique(positions, axis=0, return_index=True, return_inverse=True)
    corners = same.reshape(-1)[triangles]
    corners = corners[(corners != np.roll(corners, 1, axis=1)).all(1)]  # those of the poles are lines
    over = {(a, b): c for t in corners for a, b, c in (t, np.roll(t, -1), np.roll(t, -2))}
    assert len(over) == 3 * len(corners)
    rows = [(a, over[b, a], b, over[c, b], c, over[a, c]) for a, b, c in corners]  # a closed surface has them all
    return positions[first], np.array(rows, np.uint32)


def render(size: tuple[int, int] = (640, 540), seen: bool = False) -> tuple[tg.Image, tg.RenderPass, int]:
    """The picture (with volumes as glass, if ``seen``), its pass, and how many triangles the geometry shader was given."""
    device, m, eye, form = tg.Device(), tg.math, (1.5, 2.1, 4.2), "d32_sfloat_s8_uint"
    out, depth = device.image(size, "r8g8b8a8_srgb"), device.image(size, form, transient=True)
    state = {"color": out, "depth": form, "stencil": form, "samples": 4}
    solid = {"vertex": np.dtype([("position", "f4", 3), ("normal", "f4", 3)]), "cull": "back", **state}
    ambient = device.pipeline(VERTEX, AMBIENT, label="ambient", **solid)
    behind = {"compare": "always", "depth_fail": "increment_and_wrap"}
    extruded = {"geometry": VOLUME, "vertex": np.dtype([("position", "f4", 3)]), "topology": "triangle_list_with_adjacency",
                "depth_write": False, "depth_clamp": True, **state}  # fmt: skip
    count = device.pipeline(PLAIN, stencil_back=behind, stencil_front={**behind, "depth_fail": "decrement_and_wrap"},
                            write_mask="", label="count", **extruded)  # fmt: skip
    light = device.pipeline(VERTEX, LIT, stencil_test={"compare": "equal", "reference": 0}, depth_compare="equal", depth_write=False,
                            blend="additive", label="light", **solid)  # fmt: skip
    glass = device.pipeline(PLAIN, GLASS, blend="additive", label="glass", **extruded)
    view = m.multiply(m.perspective(38, size[0] / size[1], 0.1, None), m.look_at(eye, (0.05, 0.6, 0)))
    scene = things()
    casters = [with_neighbours(vertices["position"], triangles) for vertices, triangles, _ in scene[:-1]]
    gone = {"store_op": "dont_care"}
    with device.render_pass([tg.Attachment(out, clear=(0.0008, 0.001, 0.0014, 1))], tg.Attachment(depth, clear=1.0, **gone),
                            tg.Attachment(depth, clear=0, **gone), samples=4) as rp:  # fmt: skip
        for pipe in (ambient, count, light, *[glass] * seen):
            of_scene = [(v, t, c) for v, t, c in scene] if pipe in (ambient, light) else [(*caster, (0,) * 4) for caster in casters]
            for vertices, triangles, color in of_scene:
                push = {"view": view, "color": color, "eye": (*eye, 1)}
                given = vertices if vertices.dtype.names else np.ascontiguousarray(vertices).view([("position", "f4", 3)]).ravel()
                rp.draw(pipe, given, indices=triangles, push=push)
    return out, rp, sum(len(rows) for _, rows in casters)


def main() -> None:
    (image, rp, triangles), (glass, _, _) = render(), render(seen=True)
    pair = np.hstack([image.numpy(), glass.numpy()])
    tg.Device().texture(pair, "r8g8b8a8_srgb").image.save(sys.argv[1] if len(sys.argv) > 1 else "shadow_volumes.png")
    s = rp.stats
    print(f"{triangles:,} triangles with their neighbours: {s.geometry_invocations:,} invocations of the geometry shader made "
          f"{s.geometry_primitives:,} triangles of volumes, {s.geometry_primitives / s.geometry_invocations:.2f} each")  # fmt: skip
    print(f"{s.fragments_rasterized:,} fragments, {s.fragments_shaded:,} shaded; {s.bytes('store') + s.bytes('resolve'):,} B to memory")
    print(rp.explain())


if __name__ == "__main__":
    main()
