"""Hills from sixteen patches: tessellated by distance, moved by a height function, with a wireframe that a geometry shader knows.

    python samples/scripts/tessellated_hills.py [out.png]
"""

import sys

import numpy as np

import tilegpu as tg
from tilegpu.scene.camera import multiply, perspective, rotate_x, translate

VERTEX = "#version 450\nlayout(location = 0) in vec2 corner; void main() { gl_Position = vec4(corner, 0, 1); }"
CONTROL = """#version 450
layout(vertices = 4) out;
float level(vec2 a, vec2 b) { return clamp(28.0 / distance((a + b) * 0.5, vec2(0, -3)), 1.0, 64.0); }  // the same from both sides
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  vec2 p[4];
  for (int i = 0; i < 4; i++) p[i] = gl_in[i].gl_Position.xy;
  gl_TessLevelOuter[0] = level(p[0], p[2]); gl_TessLevelOuter[1] = level(p[0], p[1]);
  gl_TessLevelOuter[2] = level(p[1], p[3]); gl_TessLevelOuter[3] = level(p[2], p[3]);
  gl_TessLevelInner[0] = gl_TessLevelInner[1] = gl_TessLevelOuter[1];
}"""
EVALUATION = """#version 450
layout(quads, fractional_even_spacing, ccw) in;
layout(push_constant) uniform Push { mat4 view; };
layout(location = 0) out vec3 world;
void main() {
  vec2 p = mix(mix(gl_in[0].gl_Position.xy, gl_in[1].gl_Position.xy, gl_TessCoord.x),
               mix(gl_in[2].gl_Position.xy, gl_in[3].gl_Position.xy, gl_TessCoord.x), gl_TessCoord.y);
  world = vec3(p, 0.35 * sin(2.3 * p.x + 1.0) * cos(1.7 * p.y) + 0.08 * sin(9.0 * p.x) * sin(8.0 * p.y));
  gl_Position = view * vec4(world, 1);
}"""
GEOMETRY = """#version 450
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec3 world[];
layout(location = 0) out vec3 edge; layout(location = 1) out vec3 at; layout(location = 2) flat out vec3 normal;
void main() {
  normal = normalize(cross(world[1] - world[0], world[2] - world[0]));
  for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position; edge = vec3(i == 0, i == 1, i == 2); at = world[i]; EmitVertex(); }
}"""
FRAGMENT = """#version 450
layout(location = 0) in vec3 edge; layout(location = 1) in vec3 at; layout(location = 2) flat in vec3 normal;
layout(location = 0) out vec4 color;
void main() {
  vec3 lines = smoothstep(vec3(0), fwidth(edge) * 1.2, edge);
  vec3 ground = mix(vec3(0.16, 0.35, 0.18), vec3(0.75, 0.7, 0.6), smoothstep(-0.3, 0.4, at.z));
  float light = 0.25 + 0.75 * abs(dot(normal, normalize(vec3(0.4, -0.5, 0.75))));
  color = vec4(ground * light * mix(0.35, 1.0, min(lines.x, min(lines.y, lines.z))), 1);
}"""


def main() -> None:
    steps = np.linspace(-2, 2, 5)
    patches = [(steps[i + a], steps[j + b]) for i in range(4) for j in range(4) for b in (0, 1) for a in (0, 1)]
    corners = np.zeros(len(patches), np.dtype([("corner", "f4", 2)]))
    corners["corner"] = patches
    device = tg.Device()
    color, depth = device.image((960, 540), "r8g8b8a8_srgb"), device.image((960, 540), "d32_sfloat")
    pipe = device.pipeline(
        VERTEX, FRAGMENT, tessellation_control=CONTROL, tessellation_evaluation=EVALUATION, geometry=GEOMETRY,
        vertex=corners.dtype, color=color, depth=depth, patch_control_points=4,
    )  # fmt: skip
    view = multiply(perspective(45, 960 / 540, 0.1, 20), multiply(rotate_x(np.pi * 1.66), translate(0, 3.4, -2.0)))
    with device.render_pass(color=[tg.Attachment(color, clear=(0.55, 0.7, 0.85, 1))], depth=tg.Attachment(depth, clear=1.0)) as rp:
        rp.draw(pipe, corners, push={"view": view})
    print(f"{rp.stats.patches} patches, {rp.stats.evaluation_invocations} points, {rp.stats.geometry_primitives} triangles")
    color.save(sys.argv[1] if len(sys.argv) > 1 else "tessellated_hills.png")


if __name__ == "__main__":
    main()
