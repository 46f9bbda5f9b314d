"""What tests of stages before the rasterizer share: devices, shaders that change nothing, triangles, words of modules changed in place."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import tilegpu as tg

CASES = [(4, 1, ""), (8, 2, "baseline"), (16, 2, "")]


SIZE = (64, 64)


FORMAT = "r8g8b8a8_unorm"


Array = np.ndarray[Any, Any]


PLAIN = """#version 450
layout(location = 0) in vec4 p; layout(location = 1) in vec3 c; layout(location = 0) out vec3 color;
void main() { gl_Position = p; color = c; }"""


SHADE = """#version 450
layout(location = 0) in vec3 color; layout(location = 0) out vec4 o;
void main() { o = vec4(color, 1); }"""


PASS_TRIANGLES = """#version 450
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec3 color[]; layout(location = 0) out vec3 out_color;
void main() { for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position; out_color = color[i]; EmitVertex(); } }"""


PASS_CONTROL = """#version 450
layout(vertices = 3) out;
layout(location = 0) in vec3 color[]; layout(location = 0) out vec3 out_color[];
void main() {
  out_color[gl_InvocationID] = color[gl_InvocationID];
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = LEVEL;
  gl_TessLevelInner[0] = LEVEL;
}"""


FLAT_EVALUATION = """#version 450
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec3 color[]; layout(location = 0) out vec3 out_color;
void main() {
  vec3 t = gl_TessCoord;
  gl_Position = t.x * gl_in[0].gl_Position + t.y * gl_in[1].gl_Position + t.z * gl_in[2].gl_Position;
  out_color = t.x * color[0] + t.y * color[1] + t.z * color[2];
}"""


@functools.cache
def device(lanes: int, threads: int, target: str) -> tg.Device:
    return tg.Device(lanes=lanes, threads=threads, jit_target=target, cache_dir="off")


def triangles(n: int, seed: int, w: bool = True) -> Array:
    rng = np.random.default_rng(seed)
    points = np.zeros(3 * n, np.dtype([("p", "f4", 4), ("c", "f4", 3)]))
    points["p"][:, :2] = rng.uniform(-1.3, 1.3, (3 * n, 2))
    points["p"][:, 2] = rng.uniform(0, 1, 3 * n)
    points["p"][:, 3] = rng.uniform(0.5, 2, 3 * n) if w else 1
    points["c"] = rng.uniform(0, 1, (3 * n, 3))
    return points


def picture(dev: tg.Device, pipe: tg.Pipeline, vertices: Any = None, **more: Any) -> Array:
    target = dev.image(SIZE, FORMAT)
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, vertices, **more)
    return target.numpy()


def same_everywhere(make: Any) -> Array:
    """``make(device)`` on every device: the same array."""
    first, *others = [make(device(*case)) for case in CASES]
    for other in others:
        np.testing.assert_array_equal(first, other)
    return first


def changed(glsl: str, stage: str, change: Any) -> bytes:
    """The SPIR-V of a shader, each instruction (opcode, operands) changed in place by ``change``; GLSL can't say it."""
    words = np.frombuffer(tg.compile_glsl(glsl, stage), np.uint32).copy()
    at = 5
    while at < len(words):
        count = int(words[at] >> 16)
        change(int(words[at] & 0xFFFF), words[at + 1 : at + count])
        at += count
    return words.tobytes()
