"""Order-independent transparency: fragment shader interlock sorts the fragments of each pixel as they come, whatever order they come in.

    python samples/scripts/order_independent.py [out.png]

Seen: rings and sheets of colored glass that go through each other, around a ball. Left blended thing by thing, the farthest middle first,
which is wrong for what goes through each other; right by interlock: each pixel has a list of up to 16 fragments, sorted by depth, in a
buffer that only one fragment of the pixel changes at a time, and a last pass blends the lists. Printed: fragments, the longest list, memory
of the lists; how many pixels change with the order of the draws; how many are unlike the lists when nothing is sorted, when things are, and
when all triangles are, which is still wrong where two cross; and how the draw into the lists went.
"""

import sys

import numpy as np

import tilegpu as tg

DEEPEST = 16
VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal; layout(location = 2) in vec4 color;
layout(push_constant) uniform Push { mat4 view; vec4 eye; int width; };
layout(location = 0) out vec3 at; layout(location = 1) out vec3 n; layout(location = 2) flat out vec4 paint;
void main() { at = position; n = normal; paint = color; gl_Position = view * vec4(position, 1); }"""
GLASS = """
layout(location = 0) in vec3 at; layout(location = 1) in vec3 n; layout(location = 2) flat in vec4 paint;
layout(push_constant) uniform Push { mat4 view; vec4 eye; int width; };
vec4 glass() {  // both sides; more opaque at grazing angles. 8 bits each, as the lists keep them
  vec3 to_eye = normalize(eye.xyz - at), m = faceforward(normalize(n), -to_eye, normalize(n)), light = normalize(vec3(0.4, 0.9, 0.6));
  float rim = pow(1 - max(dot(m, to_eye), 0), 3), shine = pow(max(dot(m, normalize(light + to_eye)), 0), 90);
  vec3 c = paint.rgb * (0.35 + 0.65 * max(dot(m, light), 0)) + 0.25 * rim + 0.9 * shine;
  return unpackUnorm4x8(packUnorm4x8(vec4(c, clamp(paint.a + 0.4 * rim + 0.5 * shine, 0, 0.97))));
}"""
BLENDED = "#version 450\n" + GLASS + "layout(location = 0) out vec4 o;\nvoid main() { o = glass(); }"
INSERT = f"""#version 450
#extension GL_ARB_fragment_shader_interlock : require
layout(early_fragment_tests, pixel_interlock_unordered) in;
{GLASS}
layout(binding = 0) coherent buffer Lists {{ uvec2 item[]; }};  // depth as bits, color; nearest first; {DEEPEST} to a pixel
layout(binding = 1, r32ui) coherent uniform uimage2D lengths;
void main() {{
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  uint first = uint(pixel.y * width + pixel.x) * {DEEPEST}u;
  uvec2 mine = uvec2(floatBitsToUint(gl_FragCoord.z), packUnorm4x8(glass()));  // bits of positive floats are in order
  beginInvocationInterlockARB();
  uint held = imageLoad(lengths, pixel).x;
  for (uint i = 0; i < min(held, {DEEPEST}u); i++) {{
    uvec2 other = item[first + i];
    bool before = mine.x < other.x || (mine.x == other.x && mine.y < other.y);  // as deep: by color, so that no order of draws is left
    if (before) {{ item[first + i] = mine; mine = other; }}
  }}
  if (held < {DEEPEST}u) item[first + held] = mine;  // else the farthest is lost
  imageStore(lengths, pixel, uvec4(held + 1));
  endInvocationInterlockARB();
}}"""
FULL = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
RESOLVE = f"""#version 450
layout(push_constant) uniform Push {{ int width; }};
layout(binding = 0) readonly buffer Lists {{ uvec2 item[]; }};
layout(binding = 1, r32ui) uniform readonly uimage2D lengths;
layout(binding = 2) uniform sampler2D behind;
layout(location = 0) out vec4 o;
void main() {{
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  int first = (pixel.y * width + pixel.x) * {DEEPEST}, held = int(min(imageLoad(lengths, pixel).x, {DEEPEST}u));
  o = texelFetch(behind, pixel, 0);
  for (int i = held - 1; i >= 0; i--) {{ vec4 c = unpackUnorm4x8(item[first + i].y); o.rgb = c.rgb * c.a + o.rgb * (1 - c.a); }}
}}"""
SOLID = """#version 450
layout(location = 0) in vec3 at; layout(location = 1) in vec3 n; layout(location = 2) flat in vec4 paint;
layout(push_constant) uniform Push { mat4 view; vec4 eye; int width; };
layout(location = 0) out vec4 o;
void main() {
  vec3 m = normalize(n), light = normalize(vec3(0.4, 0.9, 0.6)), to_eye = normalize(eye.xyz - at);
  vec2 tile = floor(at.xz * 1.5);
  vec3 color = paint.a < 0.5 ? mix(vec3(0.13, 0.14, 0.16), vec3(0.28, 0.29, 0.31), mod(tile.x + tile.y, 2)) : paint.rgb;
  vec3 lit = color * (0.3 + 0.7 * max(dot(m, light), 0)) + step(0.5, paint.a) * 0.5 * pow(max(dot(m, normalize(light + to_eye)), 0), 40);
  o = vec4(mix(lit, vec3(0.2, 0.25, 0.33), smoothstep(4, 11, length(at.xz))), 1);
}"""
VERTEX_TYPE = np.dtype([("position", "f4", 3), ("normal", "f4", 3), ("color", "f4", 4)])


def triangles_of(mesh: tg.shapes.Mesh, model: np.ndarray, color: tuple[float, ...]) -> np.ndarray:
    """(n, 3) vertices; no two triangles share one, so that they may be sorted."""
    m, out = tg.math, np.zeros(mesh.indices.size, VERTEX_TYPE)
    used = mesh.vertices[mesh.indices.ravel()]
    out["position"], out["color"] = m.transform(model, used["position"]), color
    out["normal"] = m.transform(model, used["normal"]) - model[:3, 3]
    return out.reshape(-1, 3)


def glass() -> list[np.ndarray]:
    """Three rings through each other, and two sheets through them."""
    m, ring, sheet = tg.math, tg.shapes.torus(0.78, 0.17, 96, 32), tg.shapes.plane((2.1, 1.5), 24)
    upright = m.rotate_x(1.5708)
    parts = [
        (ring, (0.03, 0.2, 0.08), m.rotate_x(0.45), (1.0, 0.16, 0.1, 0.5)),
        (ring, (-0.05, 0.27, 0.12), m.multiply(m.rotate_z(1.15), m.rotate_x(-0.3)), (0.1, 0.8, 0.25, 0.5)),
        (ring, (0, 0.25, -0.08), m.multiply(m.rotate_y(0.5), upright), (0.12, 0.4, 1.0, 0.5)),
        (sheet, (0, 0.25, -0.15), m.multiply(m.rotate_y(0.9), upright), (1.0, 0.7, 0.1, 0.3)),
        (sheet, (0, 0.25, 0.0), m.multiply(m.rotate_y(-0.5), upright), (0.7, 0.2, 0.9, 0.3)),
    ]
    return [triangles_of(mesh, m.multiply(m.translate(at), turn), color) for mesh, at, turn, color in parts]


class Glasshouse:
    """The solid things of the scene, and glass over them by blending or by lists."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.device, self.size, form = tg.Device(), size, "r32g32b32a32_sfloat"
        m, eye = tg.math, (0.9, 1.5, 4.0)
        view = m.multiply(m.perspective(38, size[0] / size[1], 0.5, 40), m.look_at(eye, (0, 0.12, 0)))
        self.push = {"view": view, "eye": (*eye, 1), "width": size[0]}
        dev = self.device
        self.behind, self.out, self.depth = dev.image(size, form), dev.image(size, form), dev.image(size, "d32_sfloat")
        state = {"vertex": VERTEX_TYPE, "depth": self.depth}
        solid = dev.pipeline(VERTEX, SOLID, color=form, cull="back", **state)
        self.blended = dev.pipeline(VERTEX, BLENDED, color=form, blend="alpha", depth_write=False, **state)
        self.insert = dev.pipeline(VERTEX, INSERT, depth_write=False, **state)
        self.resolve = dev.pipeline(FULL, RESOLVE, color=form)
        self.items, self.lengths = dev.buffer(size[0] * size[1] * DEEPEST * 8, label="items"), dev.image(size, "r32_uint", label="lengths")
        floor = triangles_of(tg.shapes.plane(60, 8), m.translate(0, -0.8, 0), (0, 0, 0, 0))
        ball = triangles_of(tg.shapes.sphere(0.36, 64), m.translate(0, 0.25, 0), (0.9, 0.9, 0.92, 1))
        with dev.render_pass([tg.Attachment(self.behind, clear=(0.2, 0.25, 0.33, 1))], tg.Attachment(self.depth, clear=1.0)) as rp:
            rp.draw(solid, np.concatenate([ball, floor]).ravel(), push=self.push)

    def by_blending(self, triangles: np.ndarray) -> np.ndarray:
        self.device.copy(self.behind, self.out)
        with self.device.render_pass([self.out], self.depth) as rp:
            rp.draw(self.blended, triangles.ravel(), push=self.push)
        return self.out.numpy()[..., :3].copy()

    def by_lists(self, triangles: np.ndarray) -> np.ndarray:
        self.device.clear(self.lengths, (0, 0, 0, 0))
        lists = {"Lists": self.items, "lengths": self.lengths}
        with self.device.render_pass(depth=self.depth, trace="fragments") as rp:
            rp.draw(self.insert, triangles.ravel(), bind=lists, push=self.push)
        behind = (self.behind, self.device.sampler(filter="nearest"))
        with self.device.render_pass([tg.Attachment(self.out, load_op="dont_care")]) as last:
            last.draw(self.resolve, count=3, bind={**lists, "behind": behind}, push={"width": self.size[0]})
        self.inserted = rp
        return self.out.numpy()[..., :3].copy()

    def farthest_first(self, parts: list[np.ndarray] | np.ndarray) -> np.ndarray:
        """Things, or triangles, by the distance of their middles."""
        middles = np.array([part["position"].reshape(-1, 3).mean(0, dtype=np.float64) for part in parts])
        distances = -tg.math.transform(tg.math.look_at(self.push["eye"][:3], (0, 0.12, 0)), middles)[:, 2]
        return np.concatenate([parts[k].reshape(-1, 3) for k in np.argsort(-distances, kind="stable")])


def pixels_that_differ(a: np.ndarray, b: np.ndarray) -> int:
    return int((a != b).any(-1).sum())


def main() -> None:
    house, things = Glasshouse((960, 960)), glass()
    triangles = np.concatenate(things)
    lists, blended, by_thing, by_triangle = (house.by_lists(triangles), house.by_blending(triangles),
        house.by_blending(house.farthest_first(things)), house.by_blending(house.farthest_first(triangles)))  # fmt: skip
    lengths, unlike = house.lengths.numpy(), [pixels_that_differ(way, lists) for way in (blended, by_thing, by_triangle)]
    turned = [pixels_that_differ(way(triangles[::-1]), was) for way, was in ((house.by_blending, blended), (house.by_lists, lists))]
    print(f"{len(triangles):,} triangles, {lengths.sum():,} fragments in lists; the longest has {lengths.max()} of {DEEPEST}; "
          f"{house.items.size:,} B of lists, {lengths.sum() * 8:,} B used")  # fmt: skip
    print(f"pixels that change with the order of draws: {turned[0]:,} blended, {turned[1]:,} by lists")
    print("pixels unlike the lists: {:,} unsorted, {:,} sorted by things, {:,} by triangles".format(*unlike))
    pictures, small = [], house.device.image((480, 480), "r8g8b8a8_srgb")
    for picture in (by_thing, lists):
        house.out.write(np.concatenate([picture, np.ones_like(picture[..., :1])], -1))
        house.device.blit(house.out, small)
        pictures.append(small.numpy().copy())
    house.device.texture(np.hstack(pictures), small.format).image.save(sys.argv[1] if len(sys.argv) > 1 else "order_independent.png")
    print(house.inserted.explain())


if __name__ == "__main__":
    main()
