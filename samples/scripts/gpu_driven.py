"""A scene that the GPU draws by itself: compute leaves out what the camera can't see, and indirect draws with a count take what is left.

    python samples/scripts/gpu_driven.py [out.png]

Seen: a street in a town of some sixteen thousand things, of which most stand behind houses; a ride along it, of which the last frame is
kept. Each frame draws first what the frame before has shown; the depth of that becomes a pyramid of farthest depths; then each thing's box
is tested against it, and what comes into sight is drawn, too. So nothing is missing, whatever the camera does: each frame is compared with
one that draws everything, and has the same bits. The program writes no draw and reads no count (but to print it). Printed for each frame:
things in the frustum, draws before and after the pyramid, what was hidden, triangles and fragments beside those of drawing all, and pixels
that differ (none). The first frame has no frame before it, and leaves out only what is beside the picture.
"""

import sys

import numpy as np

import tilegpu as tg

THING = np.dtype([("center", "f4", 3), ("kind", "u4"), ("size", "f4", 3), ("seed", "f4"), ("color", "f4", 4)])
THINGS = """
struct Thing { vec3 center; uint kind; vec3 size; float seed; vec4 color; };
layout(binding = 0) readonly buffer Things { Thing thing[]; };
layout(push_constant) uniform Push { mat4 view; vec4 eye; uint count, second; };"""
CULL = f"""#version 450
layout(local_size_x = 64) in;
{THINGS}
struct Draw {{ uint indices, instances, first_index; int vertex_offset; uint first_instance; }};
layout(binding = 1) readonly buffer Meshes {{ uvec4 mesh[]; }};  // indices, the first one, where their vertices begin
layout(binding = 2) buffer Seen {{ uint seen[]; }};
layout(binding = 3) writeonly buffer Draws {{ Draw draw[]; }};
layout(binding = 4) buffer Counts {{ uint drawn, inside, hidden; }};
layout(binding = 5) uniform sampler2D pyramid;  // the farthest depth of ever more pixels
bool occluded(vec3 low, vec3 high) {{  // in pixels and depth: is it behind all that is there
  vec2 size = vec2(textureSize(pyramid, 0)) * 2;
  low.xy = clamp(low.xy - 1, vec2(0), size - 1); high.xy = clamp(high.xy + 1, vec2(0), size - 1);
  int level = clamp(int(ceil(log2(max(max(high.x - low.x, high.y - low.y), 1)))) - 1, 0, textureQueryLevels(pyramid) - 1);
  vec2 texels = vec2(textureSize(pyramid, level));
  ivec2 first = ivec2(low.xy * texels / size), last = min(ivec2(high.xy * texels / size), ivec2(texels) - 1);
  for (int y = first.y; y <= last.y; y++)
    for (int x = first.x; x <= last.x; x++)
      if (low.z - 1e-6 <= texelFetch(pyramid, ivec2(x, y), level).r) return false;
  return true;
}}
void main() {{
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  vec3 low = vec3(1e9), high = vec3(-1e9);
  uint beyond = 63;  // the planes that all corners are beyond
  float nearest = 1e9;
  for (int c = 0; c < 8; c++) {{
    vec4 p = view * vec4(thing[i].center + (vec3(c & 1, c >> 1 & 1, c >> 2) - 0.5) * thing[i].size, 1);
    beyond &= uint(p.x < -p.w) | uint(p.x > p.w) << 1 | uint(p.y < -p.w) << 2 | uint(p.y > p.w) << 3
           | uint(p.z < 0) << 4 | uint(p.z > p.w) << 5;
    nearest = min(nearest, min(p.z, p.w));
    p.xyz = vec3((p.xy / p.w * 0.5 + 0.5) * vec2(textureSize(pyramid, 0)) * 2, p.z / p.w);
    low = min(low, p.xyz); high = max(high, p.xyz);
  }}
  bool within = beyond == 0, before = seen[i] != 0, shown = within && before;
  if (second != 0) {{
    bool hidden_now = within && nearest > 0.01 && occluded(low, high);
    shown = within && !before && !hidden_now;
    seen[i] = uint(within && !hidden_now);
    if (within) atomicAdd(inside, 1);
    if (hidden_now) atomicAdd(hidden, 1);
  }}
  uvec4 m = mesh[thing[i].kind];
  if (shown) draw[atomicAdd(drawn, 1)] = Draw(m.x, 1, m.y, int(m.z), i);
}}"""
REDUCE = """#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D from;
layout(binding = 1, r32f) uniform writeonly image2D to;
void main() {
  ivec2 p = ivec2(gl_GlobalInvocationID), size = imageSize(to), all = textureSize(from, 0);
  if (any(greaterThanEqual(p, size))) return;
  ivec2 first = p * all / size, last = ((p + 1) * all + size - 1) / size;  // 2x2 texels, or 3 where the size was odd
  float farthest = 0;
  for (int y = first.y; y < last.y; y++)
    for (int x = first.x; x < last.x; x++) farthest = max(farthest, texelFetch(from, ivec2(x, y), 0).r);
  imageStore(to, p, vec4(farthest));
}"""
VERTEX = f"""#version 450
{THINGS}
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;
layout(location = 0) out vec3 at; layout(location = 1) out vec3 n; layout(location = 2) flat out uint number;
void main() {{
  number = gl_InstanceIndex;
  at = thing[number].center + position * thing[number].size;
  n = normal / thing[number].size;
  gl_Position = view * vec4(at, 1);
}}"""
FRAGMENT = f"""#version 450
{THINGS}
layout(location = 0) in vec3 at; layout(location = 1) in vec3 n; layout(location = 2) flat in uint number;
layout(location = 0) out vec4 o;
void main() {{
  vec3 m = normalize(n), sun = normalize(vec3(-0.55, 0.42, 0.5)), color = thing[number].color.rgb, glow = vec3(0);
  vec3 corner = at - thing[number].center + thing[number].size / 2;
  vec2 wall = vec2(abs(m.x) > 0.5 ? corner.z : corner.x, corner.y);
  if (thing[number].color.a > 0 && abs(m.y) < 0.5) {{  // a house: windows, some of them lit
    vec2 cell = floor(wall / vec2(1.6, 3)), in_cell = abs(fract(wall / vec2(1.6, 3)) - 0.5), soft = fwidth(wall) / vec2(1.6, 3);
    float chance = fract(sin(dot(cell, vec2(12.9898, 78.233)) + thing[number].seed * 40) * 43758.5453);
    vec2 inside = smoothstep(vec2(0.32, 0.3) + soft, vec2(0.32, 0.3) - soft, in_cell);
    float glass = inside.x * inside.y * step(1, cell.y);
    color = mix(color, vec3(0.10, 0.13, 0.17), glass);
    glow = glass * step(0.82, chance) * vec3(0.9, 0.6, 0.25);
  }}
  if (at.y < 0.01 && thing[number].kind == 0) {{  // streets between the blocks
    vec2 street = abs(fract(at.xz / 36 + 0.5) - 0.5) * 36;  // how far from the middle of a block
    float road = step(13, max(street.x, street.y)), line = step(17.9, max(street.x, street.y)) * step(0.5, fract((at.x + at.z) / 6));
    color = mix(mix(vec3(0.42, 0.41, 0.38), vec3(0.14, 0.14, 0.15), road), vec3(0.7), line * step(min(street.x, street.y), 13));
  }}
  float open = 0.55 + 0.45 * smoothstep(0, 9, at.y);
  vec3 around = open * mix(vec3(0.22, 0.2, 0.2), vec3(0.38, 0.44, 0.55), 0.5 + 0.5 * m.y);
  vec3 lit = color * (around + vec3(1.15, 0.85, 0.55) * max(dot(m, sun), 0)) + glow;
  float fog = 1 - exp(-max(length(at - eye.xyz) - 15, 0) * 0.006);
  o = vec4(mix(lit, vec3(0.80, 0.66, 0.55), fog), 1);
}}"""


def town(blocks: int) -> np.ndarray:
    """Houses, trees and cars of (2 * blocks + 1) squared blocks, 36 m apart; kinds are 0, a box, 1, a cone, and 2, a ball."""
    rng, rows = np.random.default_rng(7), [((0, -0.5, 0), 0, (4000, 1, 4000), 0, (0.4, 0.4, 0.4, 0))]
    for x, z in [(36 * i, 36 * j) for i in range(-blocks, blocks + 1) for j in range(-blocks, blocks + 1)]:
        for dx, dz in ((-5.6, -5.6), (5.6, -5.6), (-5.6, 5.6), (5.6, 5.6)):
            (w, d), h, tint = rng.choice((8, 9.6), 2), 0.6 + 3 * int(2 + 13 * rng.random() ** 2.5), rng.uniform(0.75, 1.1)
            color = [(0.62, 0.46, 0.36), (0.66, 0.6, 0.5), (0.45, 0.47, 0.5), (0.6, 0.36, 0.28)][rng.integers(4)]
            rows.append(((x + dx, h / 2, z + dz), 0, (w, h, d), rng.random(), (*(c * tint for c in color), 1)))
        for k in range(8):  # trees along the pavement
            side, along, tall = (-12.2, 12.2)[k & 1], (-9, -3, 3, 9)[k >> 1] + rng.uniform(-1, 1), rng.uniform(0.8, 1.3)
            ball = rng.random() < 0.6
            green = (0.16 + 0.12 * rng.random(), 0.3 + 0.1 * rng.random(), 0.1, 0)
            rows.append(((x + side, tall, z + along), 0, (0.3, 2 * tall, 0.3), 0, (0.25, 0.17, 0.12, 0)))
            rows.append(((x + side, 3.2 * tall, z + along), 2 if ball else 1, (2.4 * tall, 3.4 * tall, 2.4 * tall), 0, green))
        for _ in range(3):  # cars that stand at the roadside, in both directions
            side, along, paint = 14.6 * rng.choice((-1, 1)), rng.uniform(-10, 10), (*rng.uniform(0.1, 0.7, 3), 0)
            rows.append(((x + side, 0.62, z + along), 0, (1.8, 0.7, 4.2), 0, paint))
            rows.append(((x + side, 1.22, z + along), 0, (1.5, 0.5, 2.1), 0, (0.08, 0.1, 0.12, 0)))
    return np.array(rows, THING)


class Town:
    """What is on the GPU, and one frame of it."""

    def __init__(self, size: tuple[int, int], blocks: int) -> None:
        self.device, self.size, self.host_things = tg.Device(), size, town(blocks)
        dev, n = self.device, len(self.host_things)
        shapes = [tg.shapes.cube(), tg.shapes.cylinder(0.5, 1, 20, top_radius=0), tg.shapes.sphere(0.5, 20)]
        starts = np.cumsum([(0, 0)] + [(s.indices.size, len(s.vertices)) for s in shapes], axis=0)
        self.meshes = np.array([(s.indices.size, *starts[k], 0) for k, s in enumerate(shapes)], np.uint32)
        self.vertices = dev.buffer(np.concatenate([s.vertices for s in shapes]), label="vertices")
        self.indices = dev.buffer(np.concatenate([s.indices.ravel() for s in shapes]), label="indices")
        self.things, self.seen = dev.buffer(self.host_things, label="things"), dev.buffer(np.zeros(n, np.uint32))
        self.draws = [dev.buffer(np.zeros((n, 5), np.uint32)) for _ in range(2)]
        self.color, self.depth = dev.image(size, "r8g8b8a8_srgb"), dev.image(size, "d32_sfloat")
        self.pyramid = dev.image((size[0] // 2, size[1] // 2), "r32_sfloat", mip_levels=None, label="pyramid")
        self.cull, self.reduce = dev.compute_pipeline(CULL), dev.compute_pipeline(REDUCE)
        self.pipe = dev.pipeline(VERTEX, FRAGMENT, vertex=tg.shapes.VERTEX, color=self.color, depth=self.depth, cull="back")
        self.exact = dev.sampler(filter="nearest")
        dev.clear(self.pyramid, (1, 0, 0, 0))

    def pass_over(self, push: dict[str, object], draws: object, count: object, load: bool = False) -> tg.RenderPass:
        color = tg.Attachment(self.color, load_op="load") if load else tg.Attachment(self.color, clear=(0.80, 0.66, 0.55, 1))
        depth = tg.Attachment(self.depth, load_op="load") if load else tg.Attachment(self.depth, clear=1.0)
        with self.device.render_pass([color], depth) as rp:
            more = {"indices": self.indices, "bind": {"Things": self.things}, "push": push}
            rp.draw_indirect(self.pipe, draws, self.vertices, draw_count=count, **more)
        return rp

    def frame(self, view: np.ndarray, eye: tuple[float, ...]) -> tuple[list[tg.RenderPass], np.ndarray]:
        """Its two passes, and what was counted: (drawn, in the frustum, hidden) for each of them."""
        n, passes, counts = len(self.host_things), [], [self.device.buffer(np.zeros(3, np.uint32)) for _ in range(2)]
        for second in range(2):
            if second:
                for level in range(self.pyramid.mip_levels):
                    below = self.pyramid.view(level=level - 1, levels=1) if level else self.depth
                    to = self.pyramid.view(level=level, levels=1)
                    extent = [max(1, s // 2 >> level) for s in self.size]
                    self.device.dispatch(self.reduce, invocations=extent, bind={"from": (below, self.exact), "to": to})
            push = {"view": view, "eye": (*eye, 1), "count": n, "second": second}
            bind = {"Things": self.things, "Meshes": self.meshes, "Seen": self.seen, "Draws": self.draws[second],
                    "Counts": counts[second], "pyramid": (self.pyramid, self.exact)}  # fmt: skip
            self.device.dispatch(self.cull, invocations=n, bind=bind, push=push)
            passes.append(self.pass_over(push, self.draws[second], counts[second].slice(0, 4), load=bool(second)))
        return passes, np.array([c.numpy(np.uint32) for c in counts])

    def everything(self, view: np.ndarray, eye: tuple[float, ...]) -> tg.RenderPass:
        one_each = np.concatenate([self.meshes[self.host_things["kind"]], np.arange(len(self.host_things))[:, None]], 1)[:, [0, 3, 1, 2, 4]]
        one_each[:, 1] = 1
        push = {"view": view, "eye": (*eye, 1), "count": len(one_each), "second": 0}
        return self.pass_over(push, self.device.buffer(one_each.astype(np.uint32)), len(one_each))


def ride(size: tuple[int, int] = (1920, 1080), blocks: int = 12, frames: int = 5) -> tuple[tg.Image, list[dict[str, int]]]:
    """The last frame at half the size, and figures of each."""
    scene, m, rows = Town(size, blocks), tg.math, []
    for k in range(frames):
        eye = (16.4 + 0.6 * k, 4.2, 66.0 - 8 * k)
        view = m.multiply(m.perspective(52, size[0] / size[1], 0.3, 1500), m.look_at(eye, (eye[0] - 1.5 - 2.0 * k, 5.5, eye[2] - 20)))
        passes, counts = scene.frame(view, eye)
        picture = scene.color.numpy().copy()
        full = scene.everything(view, eye)
        rows.append({"things": len(scene.host_things), "inside": counts[1, 1], "first": counts[0, 0], "second": counts[1, 0],
                     "hidden": counts[1, 2], "triangles": sum(rp.stats.primitives_in for rp in passes),
                     "all_triangles": full.stats.primitives_in, "fragments": sum(rp.stats.fragments_shaded for rp in passes),
                     "all_fragments": full.stats.fragments_shaded, "differ": (picture != scene.color.numpy()).any(-1).sum()})  # fmt: skip
    half = scene.device.image((size[0] // 2, size[1] // 2), "r8g8b8a8_srgb")
    scene.device.blit(scene.color, half)
    return half, [{name: int(value) for name, value in row.items()} for row in rows]


def main() -> None:
    image, rows = ride()
    image.save(sys.argv[1] if len(sys.argv) > 1 else "gpu_driven.png")
    print(f"{rows[0]['things']:,} things\n  inside   first    then  hidden           triangles, of all        fragments, of all  differ")
    for row in rows:
        print(f"{row['inside']:8,}{row['first']:8,}{row['second']:8,}{row['hidden']:8,}{row['triangles']:10,}{row['all_triangles']:18,}"
              f"{row['fragments']:13,}{row['all_fragments']:18,}{row['differ']:8}")  # fmt: skip


if __name__ == "__main__":
    main()
