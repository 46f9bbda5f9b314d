"""The order in which a geometry shader finds the vertices of strips and fans, by provoking vertex. Oracle: tables written from Vulkan's
"Triangle Strips", "Triangle Fans", "Triangle Strips With Adjacency" and "Provoking Vertex": where the last vertex provokes, it is the
last of each primitive (``triStripVertexOrderIndependentOfProvokingVertex`` is false)."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg

VERT = """#version 450
layout(location = 0) flat out int id;
void main() {
  id = gl_VertexIndex;
  gl_Position = vec4(float(gl_VertexIndex & 3) * 0.4 - 0.8, float(gl_VertexIndex >> 2) * 0.3 - 0.8, 0.5, 1);
}"""
FRAG = """#version 450
layout(location = 0) flat in int id;
layout(location = 0) out int o;
void main() { o = id; }"""
#: Topology: its word in geometry shaders, vertices of a primitive in gl_in, vertices of the draw, primitives.
KINDS = {
    "triangle_strip": ("triangles", 3, 8, 6),
    "triangle_fan": ("triangles", 3, 8, 6),
    "triangle_strip_with_adjacency": ("triangles_adjacency", 6, 14, 5),
    "line_strip": ("lines", 2, 6, 5),
    "line_strip_with_adjacency": ("lines_adjacency", 4, 7, 4),
    "triangle_list": ("triangles", 3, 9, 3),
    "triangle_list_with_adjacency": ("triangles_adjacency", 6, 12, 2),
}


def wanted(topology: str, last: bool, i: int, count: int) -> list[int]:
    """Primitive ``i`` of ``count``."""
    odd = i % 2
    if topology == "triangle_strip":
        return [i + odd, i + 1 - odd, i + 2] if last else [i, i + 1 + odd, i + 2 - odd]
    if topology == "triangle_fan":
        return [0, i + 1, i + 2] if last else [i + 1, i + 2, 0]
    if topology == "triangle_strip_with_adjacency":
        v = 2 * i
        before, beside, after = (1 if i == 0 else v - 2), v + 3, (v + 5 if i == count - 1 else v + 6)
        if not odd:
            return [v, before, v + 2, after, v + 4, beside]
        return [v + 2, before, v, beside, v + 4, after] if last else [v, beside, v + 4, after, v + 2, before]
    size = KINDS[topology][1]
    step = size if "list" in topology else 1
    return [i * step + k for k in range(size)]


@pytest.mark.parametrize("way", ["static", "dynamic", "indexed"])
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("topology", list(KINDS))
def test_order_of_inputs(topology: str, last: bool, way: str) -> None:
    word, size, vertices, count = KINDS[topology]
    own = [0, 2, 4] if size == 6 else [1, 2] if "line" in topology and size == 4 else list(range(size))
    strip = "line_strip" if "line" in topology else "triangle_strip"
    out = "".join(f"gl_Position = gl_in[{k}].gl_Position; to = id[{k}]; EmitVertex(); " for k in own)
    geometry = f"""#version 450
layout({word}) in;
layout({strip}, max_vertices = 3) out;
layout(location = 0) flat in int id[];
layout(location = 0) flat out int to;
layout(set = 0, binding = 0) buffer Found {{ int found[]; }};
void main() {{ for (int k = 0; k < {size}; k++) found[gl_PrimitiveIDIn * {size} + k] = id[k]; {out} }}"""
    mode = "last" if last else "first"
    dev = tg.Device(cache_dir="off")
    state = {"dynamic": ["provoking_vertex_mode"]} if way == "dynamic" else {"provoking_vertex": mode}
    pipe = dev.pipeline(VERT, FRAG, geometry=geometry, topology=topology, color=["r32_sint"], **state)
    found = dev.buffer(np.full(count * size, -1, np.int32))
    image = dev.image((64, 64), "r32_sint")
    with dev.render_pass(color=tg.Attachment(image, clear=(-1, 0, 0, 0))) as rp:
        if way == "dynamic":
            rp.set(provoking_vertex_mode=mode)
        if way == "indexed":
            rp.draw(pipe, indices=np.arange(vertices, dtype=np.uint16), bind={"Found": found})
        else:
            rp.draw(pipe, count=vertices, bind={"Found": found})
    order = [wanted(topology, last, i, count) for i in range(count)]
    assert found.numpy().view(np.int32).reshape(count, size).tolist() == order
    # What is emitted in that order is coloured by the same vertex as without a geometry shader.
    colors = {primitive[own[-1 if last else 0]] for primitive in order}
    assert set(np.unique(image.numpy())) - {-1} <= colors
