"""A fountain of sparks: particles that a compute shader moves, bounces off a ball and a floor, and that are drawn as points that add up.

    python samples/scripts/particles.py [out.png]

Seen: the last of the simulated frames. Each dispatch is one step of time for all particles (gravity, drag, a bounce, a new life at the
nozzle where the old one ended); the buffer that it writes is the draw's vertex buffer, and no byte goes through the program. Points add
their light to a picture of half floats, behind the depth of ball and floor; a last pass maps it to colors. Printed: invocations, sparks
that bounced, fragments, how many a pixel has on average and at most, samples that were blended beside bytes that were stored, and how each
draw went.
"""

import sys

import numpy as np

import tilegpu as tg

PARTICLE = np.dtype([("place", "f4", 4), ("motion", "f4", 4)])  # position and age; velocity and the number of bounces
BALL = "const vec4 BALL = vec4(0.7, 0.55, 0.0, 0.55);  // center, radius\n"
STEP = f"""#version 450
layout(local_size_x = 64) in;
struct Particle {{ vec4 place; vec4 motion; }};
layout(binding = 0) buffer Particles {{ Particle particle[]; }};
layout(push_constant) uniform Push {{ float seconds; uint step_number; float life; }};
{BALL}
uint hash(uint x) {{ x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }}
vec3 random(uint seed) {{ uint a = hash(seed), b = hash(a), c = hash(b); return vec3(a >> 8, b >> 8, c >> 8) / 16777216.0; }}
void main() {{
  uint i = gl_GlobalInvocationID.x;
  if (i >= particle.length()) return;
  vec4 place = particle[i].place, motion = particle[i].motion;
  place.w += seconds;
  if (place.w >= life) {{  // a new one leaves the nozzle, in a cone
    vec3 r = random(i * 977u + step_number * 1664525u);
    float angle = 6.2831853 * r.x, wide = 0.09 * sqrt(r.y);
    motion = vec4(normalize(vec3(wide * cos(angle) + 0.27, 1, wide * sin(angle))) * (4.5 + 0.4 * r.z), 0);
    place = vec4(vec3(-0.9, 0, 0) + (place.w - life - seconds) * motion.xyz, place.w - life);  // born within this step
  }} else if (motion.w < 0) {{  // it waits for its first life, under the floor
    particle[i].place.w = place.w;
    return;
  }}
  motion.xyz += seconds * (vec3(0, -5, 0) - 0.12 * motion.xyz);
  place.xyz += seconds * motion.xyz;
  vec3 out_of_ball = place.xyz - BALL.xyz, rough = 0.5 * (random(i + 7919u * step_number) - 0.5);
  if (dot(out_of_ball, out_of_ball) < BALL.w * BALL.w) {{
    vec3 n = normalize(out_of_ball);
    place.xyz = BALL.xyz + n * BALL.w;
    if (dot(motion.xyz, n) < 0) {{ motion.xyz = 0.62 * reflect(motion.xyz, n) + rough; motion.w += 1; }}
  }}
  if (place.y < 0) {{
    place.y = 0;
    if (motion.y < 0) {{ motion.xyz *= vec3(0.8, -0.45, 0.8); motion.xyz += rough * motion.y; motion.w += 1; }}
  }}
  particle[i] = Particle(place, motion);
}}"""
POINT_VERTEX = """#version 450
layout(location = 0) in vec4 place; layout(location = 1) in vec4 motion;
layout(push_constant) uniform Push { mat4 view; vec4 eye; float pixels; float life; };
layout(location = 0) out vec3 glow;
void main() {
  gl_Position = view * vec4(place.xyz, 1);
  gl_PointSize = clamp(pixels / gl_Position.w, 1.5, 12);
  float hot = exp(-0.8 * place.w) * exp(-0.5 * max(motion.w - 1, 0)), fresh = smoothstep(life, 0.6 * life, place.w);
  vec3 warm = mix(vec3(0.35, 0.05, 0.01), vec3(0.5, 0.25, 0.09), hot), cold = mix(vec3(0.02, 0.07, 0.4), vec3(0.15, 0.5, 1), hot);
  glow = fresh * (motion.w > 0 ? cold : warm);
}"""
POINT = """#version 450
layout(location = 0) in vec3 glow; layout(location = 0) out vec4 o;
void main() { vec2 q = gl_PointCoord * 2 - 1; o = vec4(glow * max(1 - dot(q, q), 0), 1); }"""
SOLID_VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;
layout(push_constant) uniform Push { mat4 view; vec4 eye; float pixels; float life; };
layout(location = 0) out vec3 at; layout(location = 1) out vec3 n;
void main() { at = position; n = normal; gl_Position = view * vec4(position, 1); }"""
SOLID = f"""#version 450
layout(location = 0) in vec3 at; layout(location = 1) in vec3 n; layout(location = 0) out vec4 o;
layout(push_constant) uniform Push {{ mat4 view; vec4 eye; float pixels; float life; }};
{BALL}
void main() {{
  vec3 m = normalize(n), to_eye = normalize(eye.xyz - at), flame = vec3(-0.75, 0.9, 0.15) - at, up = BALL.xyz - at;
  bool ground = at.y < 0.001;
  float shade = ground ? 1 - 0.85 * exp(-6 * max(length(up.xz) - 0.15, 0) * max(length(up.xz) - 0.15, 0)) : 1;
  vec3 paint = ground ? vec3(0.035, 0.04, 0.05) : vec3(0.09, 0.15, 0.25), warm = vec3(2.4, 1.2, 0.5) / (0.25 + dot(flame, flame));
  vec3 lit = paint * (vec3(0.1, 0.13, 0.2) * (1 + m.y) + shade * warm * max(dot(m, normalize(flame)), 0));
  lit += warm * (ground ? 0.02 : 0.5) * shade * pow(max(dot(m, normalize(normalize(flame) + to_eye)), 0), ground ? 12 : 50);
  o = vec4(mix(lit, vec3(0.002, 0.003, 0.007), smoothstep(1.5, 6, length(at.xz))), 1);
}}"""
FULL = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
TONE = """#version 450
layout(binding = 0) uniform sampler2D hdr; layout(location = 0) out vec4 o;
void main() { o = vec4(1 - exp(-1.6 * texelFetch(hdr, ivec2(gl_FragCoord.xy), 0).rgb), 1); }"""


def render(
    size: tuple[int, int] = (960, 540), particles: int = 150_000, steps: int = 240
) -> tuple[tg.Image, np.ndarray, tg.RenderPass, int]:
    """The picture, the sparks, the pass that drew them, and invocations of compute."""
    device, m, life = tg.Device(), tg.math, 3.2
    start = np.zeros(particles, PARTICLE)
    start["place"][:, 1] = start["motion"][:, 3] = -1
    start["place"][:, 3] = np.linspace(0, life, particles, endpoint=False)  # ages, so that they start in turn
    sparks, invocations = device.buffer(start, label="sparks"), 0
    step = device.compute_pipeline(STEP)
    for k in range(steps):
        push = {"seconds": 1 / 60, "step_number": k, "life": life}
        invocations += device.dispatch(step, invocations=particles, bind={"Particles": sparks}, push=push).invocations

    hdr, out = device.image(size, "r16g16b16a16_sfloat", label="hdr"), device.image(size, "r8g8b8a8_srgb", label="out")
    depth = device.image(size, "d32_sfloat", transient=True)
    state = {"color": hdr, "depth": depth, "samples": 4}
    solid = device.pipeline(SOLID_VERTEX, SOLID, vertex=tg.shapes.VERTEX, cull="back", **state)
    more = {"topology": "point_list", "blend": "additive", "depth_write": False}
    points = device.pipeline(POINT_VERTEX, POINT, vertex=PARTICLE, **more, **state)
    tone, eye = device.pipeline(FULL, TONE, color=out), (0.4, 1.7, 4.6)
    view = m.multiply(m.perspective(40, size[0] / size[1], 0.1, 40), m.look_at(eye, (0.12, 0.85, 0)))
    push = {"view": view, "eye": (*eye, 1), "pixels": size[1] * 0.02, "life": life}
    ball, floor = tg.shapes.sphere(0.55, 96), tg.shapes.plane(30)
    ball.vertices["position"] += np.float32([0.7, 0.55, 0])
    target = tg.Attachment(depth, clear=1.0, store_op="dont_care")
    with device.render_pass(color=[tg.Attachment(hdr, clear=(0.002, 0.003, 0.007, 1))], depth=target, samples=4, trace="fragments") as rp:
        for mesh in (ball, floor):
            rp.draw(solid, mesh.vertices, indices=mesh.indices, push=push)
        rp.draw(points, sparks, push=push)
    with device.render_pass(color=[tg.Attachment(out, load_op="dont_care")]) as last:
        last.draw(tone, count=3, bind={"hdr": (hdr, device.sampler(filter="nearest"))})
    return out, sparks.numpy().copy(), rp, invocations


def main() -> None:
    image, sparks, rp, invocations = render()
    image.save(sys.argv[1] if len(sys.argv) > 1 else "particles.png")
    print(f"{len(sparks):,} sparks, {invocations:,} invocations of compute; {(sparks['motion'][:, 3] > 0).sum():,} of them bounced")
    overdraw = rp.heatmap("rasterized")
    print(f"{overdraw.sum():,} fragments: {overdraw.mean():.1f} to a pixel on average, {overdraw.max()} at most")
    print(f"{rp.stats.samples_written:,} samples written in the tile; {rp.stats.bytes('store'):,} B stored, 8 a pixel")
    print(rp.explain())


if __name__ == "__main__":
    main()
