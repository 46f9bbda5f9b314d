"""A head as a scanner sees it: a volume in a 3D image that a compute shader fills, marched by rays through a transfer function.

    python samples/scripts/volume.py [out.png]

Seen: skin that light goes through, the skull opened over the brain, and meshes, a ring around the head and a probe at the brain, which hide
what is behind them and shine through what is thin: rays end at the depth that the pass before stored. The transfer function is a 1D texture
from density to color and opacity. Printed: invocations and bytes of the volume, what of it is bone, brain and skin, samples along the
rays (counted by atomics), how many rays a mesh ended and how many were opaque before, and what each pass moved.
"""

import sys

import numpy as np

import tilegpu as tg

FILL = """#version 450
layout(local_size_x = 4, local_size_y = 4, local_size_z = 4) in;
layout(binding = 0, r16) uniform writeonly image3D density;
float ellipsoid(vec3 p, vec3 at, vec3 r) { vec3 q = (p - at) / r; return (length(q) - 1) * min(r.x, min(r.y, r.z)); }
float join(float a, float b, float soft) { float h = max(soft - abs(a - b), 0) / soft; return min(a, b) - h * h * soft / 4; }
void main() {
  vec3 size = vec3(imageSize(density)), p = (vec3(gl_GlobalInvocationID) + 0.5) / size * 2 - 1;
  vec3 q = vec3(abs(p.x), p.yz), inner = vec3(0, 0.25, -0.1);  // y up, it looks along +z, and is the same left and right
  float skull = ellipsoid(q, inner, vec3(0.5, 0.56, 0.64));
  float jaw = max(ellipsoid(q, vec3(0, -0.35, 0.2), vec3(0.31, 0.4, 0.37)), -ellipsoid(q, vec3(0, -0.45, -0.12), vec3(0.22, 0.4, 0.36)));
  skull = join(skull, jaw, 0.2);
  skull = join(skull, ellipsoid(q, vec3(0.27, -0.15, 0.4), vec3(0.09, 0.07, 0.1)), 0.1);  // cheekbones
  float skin = join(skull - 0.07, ellipsoid(q, vec3(0, -0.3, 0.18), vec3(0.36, 0.5, 0.46)), 0.1);
  skin = join(skin, max(length(q.xz - vec2(0, -0.18)) - 0.3, q.y + 0.3), 0.3);
  skin = join(skin, ellipsoid(q, vec3(0, -0.13, 0.64), vec3(0.07, 0.18, 0.13)), 0.12);
  skin = join(skin, ellipsoid(q, vec3(0.575, 0.02, -0.1), vec3(0.05, 0.17, 0.1)), 0.06);
  float cavity = ellipsoid(q, inner, vec3(0.43, 0.48, 0.57));
  float holes = min(ellipsoid(q, vec3(0.19, 0.02, 0.5), vec3(0.13, 0.11, 0.18)), ellipsoid(q, vec3(0, -0.2, 0.52), vec3(0.06, 0.1, 0.2)));
  float teeth = max(max(abs(q.y + 0.45) - 0.09, abs(abs(fract(q.x * 13) - 0.5) - 0.5) / 13 - 0.008), -skull - 0.03);  // the gaps of them
  teeth = max(min(teeth, max(abs(q.y + 0.45) - 0.012, -skull - 0.06)), max(0.3 - q.z, q.x - 0.2));
  float bone = max(max(max(skull, -cavity), -holes), -teeth);
  vec3 w = 15 * q + 1.7 * sin(9 * q.zxy) + vec3(0, 2, 1);
  float folds = 0.035 * (sin(w.x) * sin(w.y) + sin(w.y + 1) * sin(w.z)) + 0.05 * exp(-900 * q.x * q.x);
  float soft = 2.5 / size.x, d = 0.3 * smoothstep(soft, -soft, skin);
  d = mix(d, 0.05, smoothstep(soft, -soft, cavity));
  d = mix(d, 0.42, smoothstep(soft, -soft, cavity + 0.065 + folds));
  d = mix(d, 0.95, smoothstep(soft, -soft, bone));
  imageStore(density, ivec3(gl_GlobalInvocationID), vec4(d));
}"""
MESH_VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;
layout(push_constant) uniform Push { mat4 view; mat4 model; vec4 color; vec4 eye; };
layout(location = 0) out vec3 at; layout(location = 1) out vec3 n;
void main() { at = vec3(model * vec4(position, 1)); n = mat3(model) * normal; gl_Position = view * vec4(at, 1); }"""
MESH = """#version 450
layout(location = 0) in vec3 at; layout(location = 1) in vec3 n; layout(location = 0) out vec4 o;
layout(push_constant) uniform Push { mat4 view; mat4 model; vec4 color; vec4 eye; };
void main() {
  vec3 m = normalize(n), light = normalize(vec3(-0.5, 0.8, 0.9)), h = normalize(light + normalize(eye.xyz - at));
  o = vec4(color.rgb * (0.25 + 0.1 * m.y + 0.7 * max(dot(m, light), 0)) + 0.7 * pow(max(dot(m, h), 0), 60), 1);
}"""
FULL = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
MARCH = """#version 450
layout(push_constant) uniform Push { mat4 to_world; vec2 size; float step_length; };
layout(binding = 0) uniform sampler3D density;
layout(binding = 1) uniform sampler1D transfer;
layout(binding = 2) uniform sampler2D depth;
layout(binding = 3) buffer Counts { uint samples, ended_by_mesh, full; };
layout(location = 0) out vec4 o;
float at(vec3 p) { return texture(density, p * 0.5 + 0.5).r; }
void main() {
  vec2 xy = gl_FragCoord.xy / size * 2 - 1;
  vec4 a = to_world * vec4(xy, 0, 1), b = to_world * vec4(xy, texelFetch(depth, ivec2(gl_FragCoord.xy), 0).r, 1);
  vec3 from = a.xyz / a.w, along = b.xyz / b.w - from;
  float solid = length(along);
  along /= solid;
  vec3 low = (-1 - from) / along, high = (1 - from) / along, first = min(low, high), last = max(low, high);
  float begin = max(max(first.x, first.y), first.z), end = min(min(last.x, last.y), last.z), through = 1;
  vec3 sum = vec3(0), light = normalize(vec3(-0.5, 0.8, 0.9));
  uint count = 0;
  bool meets = solid < end && solid > begin;
  end = min(end, solid);
  for (float t = begin + 0.5 * step_length; t < end && through > 0.01; t += step_length, count++) {
    vec3 p = from + along * t;
    float d = at(p);
    float cut = min(min(0.03 - p.x, p.y - 0.22), length((p - vec3(0, 0.25, -0.1)) / vec3(0.41, 0.46, 0.55)) - 1);  // of bone and skin
    vec4 c = texture(transfer, d);
    c.a *= smoothstep(0.008, -0.008, cut);
    if (c.a < 0.003) continue;
    float e = 0.016;
    vec3 n = vec3(at(p + vec3(e, 0, 0)) - at(p - vec3(e, 0, 0)), at(p + vec3(0, e, 0)) - at(p - vec3(0, e, 0)),
                  at(p + vec3(0, 0, e)) - at(p - vec3(0, 0, e)));
    float edge = length(n);  // of skin its surfaces are seen; brain is where density is even, not where skin becomes bone
    if (d < 0.34) c.a *= smoothstep(0.0, 0.25, edge); else if (d < 0.47) c.a *= 1 - smoothstep(0.12, 0.2, edge);
    float here = 1 - pow(1 - c.a, step_length * 100);
    n = -n / max(edge, 1e-3);
    float shine = pow(max(dot(n, normalize(light - along)), 0), 30);
    sum += through * here * (c.rgb * (0.3 + 0.75 * max(dot(n, light), 0)) + 0.12 * shine);
    through *= 1 - here;
  }
  atomicAdd(samples, count);
  if (through <= 0.01) atomicAdd(full, 1u); else if (meets) atomicAdd(ended_by_mesh, 1u);
  o = vec4(sum, 1 - through);
}"""
COLORS = [  # density; red, green, blue, opacity
    (0, 0, 0, 0, 0), (0.08, 0.9, 0.55, 0.4, 0), (0.15, 0.9, 0.58, 0.45, 0.09), (0.3, 0.9, 0.6, 0.48, 0.09), (0.34, 0.9, 0.6, 0.5, 0),
    (0.37, 0.9, 0.45, 0.42, 0.7), (0.44, 0.92, 0.5, 0.46, 0.7), (0.48, 0.95, 0.85, 0.7, 0), (0.8, 1, 0.94, 0.82, 0.9),
]  # fmt: skip


def render(size: tuple[int, int] = (960, 540), voxels: int = 128) -> tuple[tg.Image, np.ndarray, dict[str, int], list[tg.RenderPass]]:
    """The picture, the volume (z, y, x), figures, and the two passes."""
    device, m = tg.Device(), tg.math
    volume = device.image((voxels, voxels, voxels), "r16_unorm", label="density")
    filled = device.dispatch(device.compute_pipeline(FILL), invocations=(voxels,) * 3, bind={"density": volume})
    keys, d = np.array(COLORS), np.linspace(0, 1, 256)
    transfer = np.stack([np.interp(d, keys[:, 0], keys[:, k]) for k in range(1, 5)], -1).astype(np.float32)
    transfer = device.texture(transfer, "r32g32b32a32_sfloat", type="1d", address="clamp_to_edge")

    out, depth, eye = device.image(size, "r8g8b8a8_srgb", label="out"), device.image(size, "d32_sfloat", label="depth"), (-2.0, 1.3, 3.3)
    view = m.multiply(m.perspective(32, size[0] / size[1], 0.5, 20), m.look_at(eye, (0.05, -0.06, 0)))
    meshes = device.pipeline(MESH_VERTEX, MESH, vertex=tg.shapes.VERTEX, color=out, depth=depth, samples=4, cull="back")
    march = device.pipeline(FULL, MARCH, color=out, blend="premultiplied")
    ring, probe, tip = tg.shapes.torus(0.86, 0.035, 128), tg.shapes.cylinder(0.022, 1.3), tg.shapes.sphere(0.06)
    slant = m.multiply(m.translate(-0.2, 0.57, 0.08), m.multiply(m.rotate_z(0.55), m.rotate_x(0.45)))
    steel, red = (0.5, 0.53, 0.58, 1), (0.9, 0.12, 0.08, 1)
    things = [(ring, m.multiply(m.translate(0, -0.3, 0), m.rotate_x(0.14)), steel), (tip, slant, red)]
    things.append((probe, m.multiply(slant, m.translate(0, 0.65, 0)), steel))
    with device.render_pass([tg.Attachment(out, clear=(0.035, 0.045, 0.06, 1))], tg.Attachment(depth, clear=1.0), samples=4) as solid:
        for mesh, model, color in things:
            push = {"view": view, "model": model, "color": color, "eye": (*eye, 1)}
            solid.draw(meshes, mesh.vertices, indices=mesh.indices, push=push)
    counts = device.buffer(np.zeros(3, np.uint32))
    clamped, exact = device.sampler(address="clamp_to_edge"), device.sampler(filter="nearest")
    bind = {"density": (volume, clamped), "transfer": transfer, "depth": (depth, exact), "Counts": counts}
    push = {"to_world": m.inverse(view), "size": size, "step_length": 0.5 / voxels}
    with device.render_pass([out]) as rays:
        rays.draw(march, count=3, bind=bind, push=push)
    samples, ended, full = counts.numpy(np.uint32).tolist()
    figures = {"invocations": filled.invocations, "samples": samples, "ended_by_mesh": ended, "full": full}
    density = np.stack([volume.numpy(layer=z)[..., 0] for z in range(voxels)])
    return out, density, figures, [solid, rays]


def main() -> None:
    image, density, figures, passes = render()
    image.save(sys.argv[1] if len(sys.argv) > 1 else "volume.png")
    share = [np.mean((density > 65535 * low) & (density < 65535 * high)) for low, high in ((0.7, 1), (0.38, 0.46), (0.2, 0.34))]
    print(f"{figures['invocations']:,} invocations of compute filled {density.nbytes:,} B: "
          f"{share[0]:.1%} bone, {share[1]:.1%} brain, {share[2]:.1%} skin and flesh")  # fmt: skip
    print(f"{figures['samples']:,} samples along rays; meshes ended {figures['ended_by_mesh']:,} rays, opacity {figures['full']:,}")
    for name, rp in zip(("meshes", "rays"), passes, strict=True):
        print(f"{name}: {rp.stats.fragments_shaded:,} fragments; loaded {rp.stats.bytes('load'):,} B, stored {rp.stats.bytes('store'):,} B")


if __name__ == "__main__":
    main()
