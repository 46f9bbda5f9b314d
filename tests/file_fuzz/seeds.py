"""What the fuzzers of ``cpp/fuzz`` begin with, beside the corpus that is committed: shaders of the repository and random programs.

    python -m tests.file_fuzz.seeds FOLDER     # makes FOLDER/spirv, FOLDER/glsl, ...

A new seed joins the committed corpus through ``make fuzz-corpus``, which keeps what reaches code that nothing else reaches.
"""

from __future__ import annotations

import base64
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402
from tests.shader_fuzz.compare import assembled  # noqa: E402
from tests.shader_fuzz.kernels import Kernel  # noqa: E402
from tests.shader_fuzz.program import Generator  # noqa: E402

from gltf_documents import png  # noqa: E402

STAGES = {".vert": "vertex", ".frag": "fragment", ".comp": "compute", ".geom": "geometry", ".tesc": "control", ".tese": "evaluation"}
HEAD = "#version 450\n"
#: What the repository's shaders have none of. Small, as every word is a word to change.
OWN = {
    "switch.comp": """layout(local_size_x = 1) in;
layout(binding = 0) buffer B { int v[]; };
void main() {
  int sum = 0;
  for (int i = 0; i < 9; i++) {
    switch (v[i] & 7) { case 0: sum += 3; break; case 1: sum ^= v[i + 1]; case 2: continue; case 3: if (sum > 5) return; default: sum--; }
    v[20 + i] = sum;
  }
}""",
    "shared.comp": """layout(local_size_x_id = 0) in;
layout(local_size_x = 8) in;
layout(constant_id = 1) const int count = 4;
layout(binding = 0) buffer B { uint v[]; };
layout(binding = 1, r32ui) uniform uimage2D image;
shared uint s[16];
void main() {
  uint i = gl_LocalInvocationIndex;
  s[i] = v[i];
  barrier();
  for (int k = 0; k < count; k++) atomicAdd(s[(i + k) & 15], v[k]);
  barrier();
  imageAtomicAdd(image, ivec2(i, 1), s[i]);
  v[i + 16] = s[15 - i];
}""",
    "subgroup.comp": """#extension GL_KHR_shader_subgroup_arithmetic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#extension GL_KHR_shader_subgroup_ballot : enable
#extension GL_KHR_shader_subgroup_clustered : enable
layout(local_size_x = 8) in;
layout(binding = 0) buffer B { uint v[]; };
void main() {
  uint x = v[gl_SubgroupInvocationID];
  if ((x & 1) == 0) x = subgroupAdd(x); else x = subgroupShuffleXor(x, 1);
  v[gl_LocalInvocationIndex + 16] = subgroupExclusiveMul(x) + subgroupBallot(x > 3).x + subgroupClusteredMin(x, 2);
}""",
    "widths.comp": """#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_shader_16bit_storage : enable
#extension GL_EXT_shader_8bit_storage : enable
layout(local_size_x = 1) in;
layout(binding = 0) buffer B { float16_t h[8]; int8_t b[8]; uint64_t q[4]; double d[4]; int16_t s[4]; };
void main() {
  h[0] = h[1] * h[2] + float16_t(b[0]);
  b[1] = int8_t(s[0]) - b[2];
  q[0] = q[1] * q[2] >> (q[3] & 63);
  d[0] = sqrt(d[1]) / d[2] + double(h[3]);
  s[1] = int16_t(d[3]) * s[2];
}""",
    "address.comp": """#extension GL_EXT_buffer_reference : enable
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430) buffer Node { Node next; uint value; };
layout(push_constant) uniform P { Node first; uint count; };
layout(binding = 0) buffer B { uint v[]; };
void main() { Node n = first; for (uint k = 0; k < count; k++) { v[k] = n.value; n = n.next; } }""",
    "matrices.frag": """layout(location = 0) out vec4 o;
layout(location = 1) out ivec2 p;
layout(location = 0) in vec4 a;
layout(location = 1) flat in ivec3 b;
layout(binding = 0, row_major) uniform U { mat3 m; mat4x2 n; vec3 list[4]; };
void main() {
  vec3 v = inverse(m + mat3(2)) * a.xyz + transpose(n)[1].xxx * list[b.x & 3];
  if (determinant(m) > a.x) discard;
  o = vec4(normalize(v), dFdx(v.x) + fwidth(a.y));
  p = bitfieldExtract(b.xy, 3, 7) + findMSB(b.z);
  gl_FragDepth = smoothstep(0, 9, a.z);
}""",
    "functions.frag": """layout(location = 0) out vec4 o;
layout(location = 0) in vec4 a;
vec2 turned(inout vec4 v, int n) { v = v.yzwx; if (n > 2) return v.xy; return mod(v.zw, 3); }
vec4 all(vec4 x) {
  return vec4(sin(x.x) * cos(x.y) + tan(x.z), pow(abs(x.x), x.y) + exp(x.z) - log(abs(x.w) + 1),
              atan(x.y, x.x) + asinh(x.z), ldexp(x.w, 3));
}
void main() {
  vec4 v = a;
  vec4 list[3] = vec4[](v, v * 2, floor(v));
  for (int i = 0; i < int(a.x) + 4; i++) { v.xy += turned(list[i % 3], i); if (v.x > 100) break; }
  ivec2 e; vec2 f = frexp(v.xy, e) + unpackHalf2x16(packHalf2x16(v.zw));
  o = all(v) + f.xyxy + vec4(list[1].x, fma(v.x, v.y, v.z), isnan(v.w), reflect(v.x, 0.5));
}""",
    "textures.frag": """layout(location = 0) out vec4 o;
layout(location = 0) in vec4 a;
layout(binding = 0) uniform sampler2D t;
layout(binding = 1) uniform sampler2DArrayShadow s;
layout(binding = 2) uniform samplerCube c;
layout(binding = 3) uniform isampler3D i;
layout(binding = 4) uniform sampler2DMS m;
layout(binding = 5) uniform samplerBuffer b;
layout(binding = 6, rgba8) uniform image2D w;
void main() {
  o = texture(t, a.xy) + textureLod(c, a.xyz, a.w) + textureGrad(t, a.xy, a.zw, a.xx) + textureGather(t, a.zw, 2);
  o += texture(s, a) + vec4(texelFetch(i, ivec3(a.xyz), 0)) + texelFetch(m, ivec2(a.xy), 2) + texelFetch(b, int(a.x));
  o += textureOffset(t, a.xy, ivec2(1, -2), 0.5) + textureQueryLod(t, a.xy).xyxy + vec4(textureSize(t, 0), imageSize(w));
  o += imageLoad(w, ivec2(a.xy));
}""",
    "samples.frag": """layout(location = 0, index = 0) out vec4 o;
layout(location = 0) sample in vec4 a;
layout(location = 1) centroid noperspective in vec2 b;
void main() {
  o = interpolateAtOffset(a, vec2(0.2)) + interpolateAtSample(b, 0).xyxy * gl_SampleID + gl_PointCoord.xyxy;
  gl_SampleMask[0] = int(a.x);
}""",
    "flow.frag": """layout(location = 0) out vec4 o;
layout(location = 1) out uvec4 p;
layout(location = 0) in vec4 a;
int nested(int n, float x) {
  int sum = 0;
  for (int i = 0; i < 4 + n; i++) {
    if (((i + int(x)) & 1) == 0) continue;
    for (int k = 0; k < i; k++) { if (k * n > 7) break; if (k == n) continue; sum += k + i; if (sum > 40) return sum; }
    sum ^= i << n;
  }
  return sum;
}
void main() {
  int n = (int(gl_FragCoord.x) * 3 + int(gl_FragCoord.y)) & 7, sum = 0, i = 0;
  do { i++; if (i == n) continue; sum += i; if (sum > 12 + n) break; } while (i < 9);
  switch (n) {
    case 0: sum += 100; break; case 1: sum -= 7; case 2: sum *= 3; break;
    case 5: if (a.x > 2) { sum = 1; break; } default: sum++;
  }
  while (true) { if (sum > 50) break; sum += n + 1; if ((sum & 3) == 1) continue; sum += 2; }
  float list[4] = float[](a.x, a.y, a.z, a.w);
  list[n] = float(sum);
  o = vec4(list[n & 3], list[3 - (n & 3)], float(nested(n, a.x)), float(i));
  p = uvec4(sum, nested(n & 3, a.y), i, n);
}""",
    "flow.vert": """layout(location = 0) in vec4 a;
layout(location = 0) out vec4 v;
layout(location = 1) flat out ivec4 w;
void main() {
  int n = gl_VertexIndex % 5, sum = 0;
  for (int i = 0; i < 6; i++) { if (i == n) continue; if (i * n > 8) break; sum += i * i; }
  vec4 list[3] = vec4[](a, a.wzyx, vec4(sum));
  for (int i = n; i > 0; i--) { list[i % 3] += list[(i + 1) % 3]; if (list[0].x > 9) break; }
  v = list[n % 3]; w = ivec4(sum, n, int(list[2].y), int(list[1].x));
  gl_Position = vec4(float(n) * 0.4 - 0.9, float(gl_VertexIndex % 3) * 0.8 - 0.8, 0.5, 1); gl_PointSize = 1;
}""",
    "points.vert": """layout(location = 0) in vec4 a;
layout(location = 1) in uvec2 b;
layout(location = 0) out vec3 v;
layout(location = 1) flat out int w[2];
out float gl_ClipDistance[2];
void main() {
  gl_Position = a * 0.1 - 0.5; gl_Position.w = 1; gl_PointSize = 3;
  gl_ClipDistance[0] = a.x - 2; gl_ClipDistance[1] = 1;
  v = cross(a.xyz, a.zxy); w[0] = int(b.x) + gl_InstanceIndex; w[1] = gl_VertexIndex;
}""",
    "strip.geom": """layout(triangles) in;
layout(triangle_strip, max_vertices = 6) out;
layout(location = 0) in vec4 a[];
layout(location = 0) out vec4 v;
void main() {
  for (int i = 0; i < gl_in.length(); i++) {
    gl_Position = gl_in[i].gl_Position * 0.5; v = a[i]; EmitVertex();
    if (a[i].x > 9) EndPrimitive();
  }
  gl_Position = vec4(0, 0, 0, 1); v = a[0]; EmitVertex(); EndPrimitive();
}""",
    "lines.geom": """layout(points, invocations = 2) in;
layout(line_strip, max_vertices = 4) out;
void main() {
  for (int i = 0; i < 3; i++) {
    gl_Position = gl_in[0].gl_Position + vec4(i, gl_InvocationID, 0, 0) * 0.3; gl_Layer = 0; EmitVertex();
  }
}""",
    "patch.tesc": """layout(vertices = 3) out;
layout(location = 0) in vec4 a[];
layout(location = 0) patch out vec4 p;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  barrier();
  gl_TessLevelOuter[0] = a[0].x; gl_TessLevelOuter[1] = 2; gl_TessLevelOuter[2] = 3.5; gl_TessLevelInner[0] = gl_out[0].gl_Position.x + 2;
  p = a[1];
}""",
    "patch.tese": """layout(triangles, fractional_odd_spacing, cw) in;
layout(location = 0) out vec4 v;
void main() {
  gl_Position = gl_in[0].gl_Position * gl_TessCoord.x + gl_in[1].gl_Position * gl_TessCoord.y + gl_in[2].gl_Position * gl_TessCoord.z;
  v = gl_TessCoord.xyzx * gl_TessLevelInner[0];
}""",
}
# The same in each quad and another one in the next: four lanes go together where eight part.
OWN["quads.frag"] = OWN["flow.frag"].replace(
    "int(gl_FragCoord.x) * 3 + int(gl_FragCoord.y)", "(int(gl_FragCoord.x) >> 1) * 3 + (int(gl_FragCoord.y) >> 1)"
)
PROGRAMS = 60


def compiled(text: str, suffix: str) -> bytes | None:
    """Without names; None where glslang refuses it."""
    if "#include" in text:
        text = text.replace("\n", "\n#extension GL_GOOGLE_include_directive : enable\n", 1)
    out = ROOT / "build" / "seed.spv"
    out.parent.mkdir(exist_ok=True)
    command = ["glslangValidator", "--target-env", "vulkan1.2", "-I" + str(ROOT / "shaders"), "--stdin", "-S", suffix[1:], "-o", str(out)]
    if subprocess.run(command, input=text, text=True, capture_output=True).returncode != 0:
        return None
    stripped = subprocess.run(["spirv-opt", "--strip-debug", str(out), "-o", "-"], capture_output=True)
    return stripped.stdout if stripped.returncode == 0 else None


def shaders() -> dict[str, str]:
    """GLSL by file's name: the repository's, and those above."""
    texts = {p.name: p.read_text() for p in sorted((ROOT / "shaders").iterdir()) if p.suffix in STAGES}
    return texts | {name: HEAD + text for name, text in OWN.items()}


def put(folder: Path, fuzzer: str, name: str, data: bytes) -> None:
    (folder / fuzzer).mkdir(parents=True, exist_ok=True)
    (folder / fuzzer / name).write_bytes(data)


def make_shaders(folder: Path) -> None:
    for name, text in shaders().items():
        suffix = Path(name).suffix
        put(folder, "glsl", name, bytes([list(STAGES).index(suffix)]) + text.encode())
        module = compiled(text, suffix)
        if module is None:
            print(f"{name}: glslang refuses it", file=sys.stderr)
        elif len(module) <= 16 << 10:
            put(folder, "spirv", f"{name}.spv", module)
    for seed in range(1, PROGRAMS + 1):
        program = (Generator(seed, 4 + seed % 8) if seed % 6 else Kernel(seed, 4)).program()
        module = assembled(program)
        if len(module) <= 20 << 10:
            put(folder, "spirv", f"program-{seed}.spv", module)


def make_compressed(folder: Path) -> None:
    """Streams of three compressions, each behind its number; meshoptimizer's behind what its view says of it."""
    from tests.test_gltf_compressed import CASES, KTX2, draco_model, stream

    from tilegpu.scene.meshopt import FILTERS, MODES

    for k, case in enumerate(CASES):
        data, mode, filter_name, count, stride = stream(case)
        head = bytes([0, MODES.index(mode), FILTERS.index(filter_name), count & 255, count >> 8 & 255, stride // 4])
        put(folder, "compressed", f"meshopt-{k}", head + data)
    for k, options in enumerate(({}, {"compression_level": 0}, {"compression_level": 10})):
        put(folder, "compressed", f"draco-{k}", b"\1" + bytes(draco_model(**options).data))
    for name, text in KTX2.items():
        put(folder, "compressed", name, b"\2" + base64.b64decode(text))


def make_models(folder: Path) -> None:
    """Models, pictures, manifests; calls of the API are random bytes."""
    from tests.test_gltf import document_with_everything
    from tests.test_model_attack import picture
    from tests.test_model_attack import seeds as models

    with tempfile.TemporaryDirectory() as place:
        for name, data in models(Path(place)).items():
            put(folder, name.partition(".")[2], name, data)
        whole = document_with_everything()
        put(folder, "gltf", "all.gltf", whole.gltf(Path(place) / "all.gltf").read_bytes())
        put(folder, "glb", "all.glb", whole.glb(Path(place) / "all.glb").read_bytes())
    make_compressed(folder)
    put(folder, "picture", "rgba.png", png())
    for kind in ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP", "TGA", "PPM"):
        put(folder, "picture", f"noise.{kind.lower()}", picture(kind, (8, 8)))
    head = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=2\n\n-Y 2 +X 9\n"
    row = b"\2\2\0\x09" + b"\x89\x80" * 3 + b"\x04\1\2\3\4\x85\x7f"
    put(folder, "radiance", "rle.hdr", head + row * 2)
    put(folder, "radiance", "flat.hdr", head.replace(b"+X 9", b"+X 3") + bytes(range(100, 124)))
    put(folder, "radiance", "old.hdr", head.replace(b"+X 9", b"+X 6") + b"\1\2\3\x80\1\1\1\5" * 2)
    choose = random.Random(1)
    for k in range(40):
        put(folder, "api", f"calls-{k}", bytes(choose.randrange(256) for _ in range(8 * (k + 1))))


def make_states(folder: Path) -> None:
    choose = random.Random(2)
    for k in range(120):
        put(folder, "render", f"pass-{k}", bytes(choose.randrange(256) for _ in range(60 + 7 * k)))
        head = bytes(choose.randrange(256) for _ in range(24))
        floats = struct.pack("<64f", *(choose.uniform(-1.5, 1.5) for _ in range(64)))
        put(folder, "texture", f"texels-{k}", head + floats + bytes(choose.randrange(256) for _ in range(16 * (1 + k % 8))))


def make_captures(folder: Path) -> None:
    """Of small passes, and what the disk cache keeps of their shaders."""
    import tilegpu as tg

    with tempfile.TemporaryDirectory() as place:
        dev = tg.Device(threads=1, cache_dir=place)
        vert = "#version 450\nlayout(location = 0) in vec3 p;\nlayout(location = 0) out vec2 v;\n"
        vert += "void main() { gl_Position = vec4(p, 1); v = p.xy; }"
        frag = "#version 450\nlayout(location = 0) in vec2 v;\nlayout(location = 0) out vec4 o;\n"
        texel = frag + "layout(binding = 0) uniform sampler2D t;\nvoid main() { o = texture(t, v) * gl_FragCoord.z; }"
        plain = frag + "layout(push_constant) uniform P { vec4 c; };\nvoid main() { if (v.x > 0.5) discard; o = c; }"
        vertex = np.dtype([("p", "f4", 3)])
        corners = np.array([(-1, -1, 0.2), (1, -1, 0.4), (0, 1, 0.6), (1, 1, 0.1), (-1, 1, 0.9)], "f4").view(vertex).reshape(-1)
        texture = dev.texture(np.arange(16, dtype="u1").reshape(2, 2, 4))
        for k, samples in enumerate((1, 4, 1, 2)):
            image = dev.image((6, 5), "r8g8b8a8_unorm", samples=samples)
            depth = dev.image((6, 5), "d24_unorm_s8_uint", samples=samples)
            resolved = dev.image((6, 5), "r8g8b8a8_unorm") if samples > 1 else None
            more: dict[str, Any] = {"blend": "alpha"} if k == 2 else {"depth_test": True, "stencil_test": {"pass": "invert"}}
            more |= {"color": [image.format], "depth": depth.format, "stencil": depth.format}
            pipes = [dev.pipeline(vert, f, vertex=vertex, samples=samples, **more) for f in (texel, plain)]
            color = tg.Attachment(image, clear=(0.2, 0.3, 0.4, 1), resolve=resolved)
            path = Path(place) / f"{k}.tgcap"
            with dev.render_pass(color, depth=tg.Attachment(depth, clear=1.0), stencil=tg.Attachment(depth, clear=3)) as rp:
                rp.draw(pipes[0], corners, bind={"t": texture})
                rp.draw(pipes[1], corners, indices=np.array([0, 1, 2, 2, 3, 4], "u2"), push={"c": [1, 0.5, 0, 0.5]}, instances=2)
                rp.clear((1, 0, 0, 1), rect=(2, 2, 3, 3))
            rp.capture(path)
            put(folder, "capture", path.name, path.read_bytes())
        dev.wait_compiles()
        for name, entry in dev.cache_entries().items():
            (key_B,) = struct.unpack_from("<Q", entry)
            body = entry[8 + key_B :]
            if len(body) < 24 << 10 and body.startswith(b"\x7fELF"):
                put(folder, "cache", name, b"\1" + body)
        for k in range(30):
            put(folder, "cache", f"record-{k}", bytes([2, k % 3, k % 5, *(k * j % 256 for j in range(1, 30))]))
        put(folder, "cache", "entry", b"\3" + struct.pack("<Q", 6) + b"fuzzed" + bytes(9))
        for path in sorted((Path(place) / "objects").glob("*"))[:1]:
            put(folder, "cache", "file", b"\0" + path.read_bytes()[: 8 << 10])


def make_manifests(folder: Path) -> None:
    """As runs of `tilegpu render` leave them."""
    from tilegpu.farm.job import Job
    from tilegpu.farm.manifest import FrameRecord, Journal, Manifest, Written, journal_of

    job = Job("triangle", size=(8, 8), samples=4, of=2, fps=24, exposure=1.5, tile=64, camera="turn")
    made = Manifest(job, "0.1.0", "a" * 64, "b" * 64, "turn.png", "c" * 64)
    frame = FrameRecord(0, "d" * 64, (Written("turn_000.png", "e" * 64, 99),), (((0, 0, 8, 8), "f" * 64),))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "m.json"
        journal = Journal(made, path)
        journal.add(frame)
        put(folder, "manifest", "journal", b"\1" + journal_of(path).read_bytes())
        journal.close(True)
        put(folder, "manifest", "plain", b"\0" + path.read_bytes())


def make(folder: Path) -> None:
    """Below ``folder``, a folder for each fuzzer."""
    make_shaders(folder)
    make_models(folder)
    make_states(folder)
    make_captures(folder)
    make_manifests(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
