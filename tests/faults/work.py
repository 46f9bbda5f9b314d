"""What is disturbed, and how its state is checked. In: a device. Out: pictures whose bits are known, of every part that keeps a state:
compiled code, pools of memory, threads of passes, buffers that shaders write, queries.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import tilegpu as tg

FORMAT = "r8g8b8a8_unorm"
SIZE = (96, 64)
VERTEX = np.dtype([("position", "<f4", 3), ("color", "<f4", 3)])
VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 color;
layout(location = 0) out vec3 shade;
void main() { gl_Position = vec4(position, 1.0); shade = color; }"""
FRAG = """#version 450
layout(location = 0) in vec3 shade;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D grain;
layout(set = 0, binding = 1) buffer Count { uint count; };
void main() {
  float sum = 0.0;
  for (int k = 0; k < 8; ++k) sum += sin(shade.x * float(k) + KIND) / 8.0;
  if (texture(grain, shade.xy).r < 0.3) discard;
  atomicAdd(count, 1u);
  color = vec4(shade * (0.5 + 0.5 * sum), 1.0);
}"""
KERNEL = """#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
shared uint part[32];
void main() {
  part[gl_LocalInvocationIndex] = data[gl_GlobalInvocationID.x] * 2654435761u;
  barrier();
  data[gl_GlobalInvocationID.x] = part[31u - gl_LocalInvocationIndex] ^ gl_GlobalInvocationID.x;
}"""


def _triangles() -> np.ndarray[Any, Any]:
    random = np.random.default_rng(3)
    out = np.zeros(3 * 40, VERTEX)
    out["position"] = random.uniform(-1.1, 1.1, (120, 3))
    out["position"][:, 2] = np.repeat(random.uniform(0.05, 0.95, 40), 3)
    out["color"] = random.uniform(0, 1, (120, 3))
    return out


_TRIANGLES = _triangles()
_GRAIN = np.random.default_rng(4).integers(0, 255, (16, 16, 4), dtype=np.uint8)


def picture(device: tg.Device, kind: int = 0) -> str:
    """Draws anew, with objects of its own, and says a hash of all that came out. Another ``kind`` is another shader."""
    fragment = FRAG.replace("KIND", f"{kind}.0")
    pipeline = device.pipeline(VERT, fragment, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", samples=4)
    color, depth = device.image(SIZE, FORMAT, samples=4), device.image(SIZE, "d32_sfloat", samples=4)
    out, count = device.image(SIZE, FORMAT), device.buffer(np.zeros(1, np.uint32))
    grain = device.texture(_GRAIN)
    with device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 1), resolve=out)], depth=tg.Attachment(depth, clear=1.0)) as rp:
        rp.draw(pipeline, _TRIANGLES, bind={"grain": grain, "Count": count})
    data = device.buffer(np.arange(256, dtype=np.uint32))
    device.dispatch(device.compute_pipeline(KERNEL), (8, 1, 1), bind={"Data": data})
    made = hashlib.blake2b(digest_size=12)
    for array in (out.numpy(), count.numpy(), data.numpy()):
        made.update(np.ascontiguousarray(array).tobytes())
    return made.hexdigest()
