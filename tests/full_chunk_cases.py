"""Draws of every kind, of which each primitive shows: what `tests/test_full_chunks.py` runs with chunks of several sizes.

As a program: prints a line for each draw, its picture's hash and what queries say; and what the geometry phase had of memory at most."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any

import numpy as np

import tilegpu as tg

SIZE = (200, 150)
COLOR, DEPTH = "r8g8b8a8_unorm", "d32_sfloat"
VERTEX = np.dtype([("position", "f4", 3)])
VERT = """#version 450
layout(location = 0) in vec3 position;
void main() { gl_Position = vec4(position.xy + 0.01 * gl_InstanceIndex, position.z, 1); gl_PointSize = 3; }"""
FRAG = """#version 450
layout(location = 0) out vec4 o;
void main() { o = vec4(gl_FragCoord.xy / 200, float(gl_PrimitiveID % 7) / 7, 0.4); }"""
CONTROL = """#version 450
layout(vertices = 3) out;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 3;
}"""
EVALUATION = """#version 450
layout(triangles, equal_spacing, cw) in;
void main() {
  gl_Position = gl_in[0].gl_Position * gl_TessCoord.x + gl_in[1].gl_Position * gl_TessCoord.y + gl_in[2].gl_Position * gl_TessCoord.z;
}"""
GEOMETRY = """#version 450
layout(triangles, invocations = 2) in;
layout(triangle_strip, max_vertices = 4) out;
void main() {
  for (int i = 0; i < 4; i++) {
    gl_Position = gl_in[i % 3].gl_Position + vec4(0.02 * gl_InvocationID, 0.05 * (i / 3), 0, 0);
    gl_PrimitiveID = gl_PrimitiveIDIn + i;
    EmitVertex();
  }
}"""
MESH = """#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 8) in;
layout(triangles, max_vertices = 24, max_primitives = 8) out;
TASK
void main() {
  SetMeshOutputsEXT(24, 8);
  uint i = gl_LocalInvocationIndex, n = NUMBER;
  for (uint k = 0; k < 3; k++) {
    vec2 at = vec2(float((n * 37 + i * 11) % 200), float((n * 17 + i * 23 + k * 5) % 150)) / vec2(100, 75) - 1;
    gl_MeshVerticesEXT[i * 3 + k].gl_Position = vec4(at + 0.2 * vec2(k & 1u, k >> 1), 0.5, 1);
  }
  gl_PrimitiveTriangleIndicesEXT[i] = uvec3(0, 1, 2) + i * 3;
  gl_MeshPrimitivesEXT[i].gl_PrimitiveID = int(n + i);
}"""
TASK = """#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
taskPayloadSharedEXT uint base;
void main() { base = gl_WorkGroupID.x * 50; EmitMeshTasksEXT(1 + gl_WorkGroupID.x % 5, 1, 1); }"""


def corners(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    out = np.zeros((count, 3), VERTEX)
    out["position"][..., :2] = rng.uniform(-1.1, 1.1, (count, 1, 2)) + rng.normal(0, 0.2, (count, 3, 2))
    out["position"][..., 2] = rng.uniform(0, 1, (count, 1))
    return out.reshape(-1)


def strip_indices(count: int) -> np.ndarray:
    indices = np.arange(count, dtype=np.uint32)
    indices[np.arange(7, count, 11)] = 0xFFFFFFFF
    return indices


def cases() -> dict[str, dict[str, Any]]:
    """Pipelines' arguments, and under "draw" those of the draw."""
    plain: dict[str, Any] = {"vert": VERT, "frag": FRAG, "vertex": VERTEX}
    patches = {"tessellation_control": CONTROL, "tessellation_evaluation": EVALUATION, "topology": "patch_list", "patch_control_points": 3}
    vertices = corners(1, 700)
    mesh = {"mesh": MESH.replace("TASK", "").replace("NUMBER", "gl_WorkGroupID.x"), "frag": FRAG}
    task = {"task": TASK, "frag": FRAG, "mesh": MESH.replace("TASK", "taskPayloadSharedEXT uint base;")}
    task["mesh"] = task["mesh"].replace("NUMBER", "base + gl_WorkGroupID.x")
    strip = {"topology": "triangle_strip", "primitive_restart": True}
    restarted = {"vertices": vertices, "indices": strip_indices(len(vertices))}
    order = np.random.default_rng(2).permutation(len(vertices)).astype(np.uint32)
    return {
        "list": plain | {"draw": {"vertices": vertices}},
        "list, blended": plain | {"blend": "alpha", "draw": {"vertices": vertices}},
        "dense indices": plain | {"draw": {"vertices": vertices, "indices": np.arange(len(vertices), dtype=np.uint32)}},
        "indices": plain | {"blend": "alpha", "draw": {"vertices": vertices, "indices": order}},
        "instances": plain | {"blend": "alpha", "draw": {"vertices": vertices[:90], "instances": 20}},
        "strips that restart": plain | strip | {"blend": "alpha", "draw": restarted},
        "strips that restart, instances": plain | strip | {"blend": "alpha", "draw": restarted | {"instances": 3}},
        "fan": plain | {"topology": "triangle_fan", "blend": "alpha", "draw": {"vertices": vertices}},
        "lines": plain | {"topology": "line_strip", "draw": {"vertices": vertices}},
        "points": plain | {"topology": "point_list", "draw": {"vertices": vertices}},
        "wireframe": plain | {"polygon_mode": "line", "draw": {"vertices": vertices}},
        "patches": plain | patches | {"blend": "alpha", "draw": {"vertices": vertices}},
        "patches, instances": plain | patches | {"blend": "alpha", "draw": {"vertices": vertices[:300], "instances": 4}},
        "geometry": plain | {"geometry": GEOMETRY, "blend": "alpha", "draw": {"vertices": vertices}},
        "geometry of strips that restart": plain | strip | {"geometry": GEOMETRY, "blend": "alpha", "draw": restarted},
        "patches and geometry": plain | patches | {"geometry": GEOMETRY, "blend": "alpha", "draw": {"vertices": vertices}},
        "mesh": mesh | {"blend": "alpha", "draw": {"groups": (150, 1, 1)}},
        "task": task | {"blend": "alpha", "draw": {"groups": (90, 1, 1)}},
    }


def run(dev: tg.Device, case: dict[str, Any]) -> tuple[str, int]:
    case = dict(case)
    drawn = case.pop("draw")
    pipe = dev.pipeline(color=[COLOR], depth=DEPTH, depth_compare="less_or_equal", **case)
    color, depth = dev.image(SIZE, COLOR), dev.image(SIZE, DEPTH)
    attachments: dict[str, Any] = {"color": [tg.Attachment(color, clear=(0, 0, 0, 0))], "depth": tg.Attachment(depth, clear=1)}
    with dev.render_pass(**attachments) as rp, rp.statistics() as counted, rp.query() as seen:
        if "groups" in drawn:
            rp.draw_mesh_tasks(pipe, drawn["groups"])
        else:
            more = dict(drawn)
            rp.draw(pipe, more.pop("vertices"), **more)
    named = {k: v for k, v in counted.views[0].items() if "vertex_shader" not in k}
    picture = hashlib.sha256(color.numpy().tobytes() + depth.numpy().tobytes()).hexdigest()[:16]
    said = f"{picture} {seen.samples} {sorted(named.items())} in {rp.stats.primitives_in} culled {rp.stats.primitives_culled}"
    return said, rp.stats.peak_arena_B


def main() -> None:
    warnings.simplefilter("ignore")
    devices: list[dict[str, Any]] = [{"threads": 2}, {"threads": 1, "profile": "adreno-a740", "hsr": "all"}, {"tiler_heap": 1 << 13}]
    for number, device in enumerate(devices):
        dev = tg.Device(**device)
        for name, case in cases().items():
            said, memory_B = run(dev, case)
            print(f"{number} {name}: {said} | {memory_B}")


if __name__ == "__main__":
    main()
