"""Buffer device addresses in draws and captures: every stage reads by them, fragments store by them, the same bits whatever is on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from primitive_scenes import CASES, FORMAT, SHADE, SIZE, Array, device, picture, same_everywhere, triangles

HEAD = """#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
struct Vertex { vec4 p; vec3 c; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Vertices { Vertex of[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant) uniform Push { Vertices vertices; Words words; };
"""
PLAIN = """#version 450
layout(location = 0) in vec4 p; layout(location = 1) in vec3 c; layout(location = 0) out vec3 color;
void main() { gl_Position = p; color = c; }"""
#: The vertex shader finds its vertex by address.
PULL = HEAD + """layout(location = 0) out vec3 color;
void main() { Vertex v = vertices.of[gl_VertexIndex]; gl_Position = v.p; color = v.c; }"""
#: The last stage before the rasterizer does: the vertex shader gives it no more than a number.
NUMBER = """#version 450
layout(location = 0) out float number; void main() { gl_Position = vec4(0); number = gl_VertexIndex; }"""
GEOMETRY = HEAD + """layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in float number[]; layout(location = 0) out vec3 color;
void main() { for (int i = 0; i < 3; i++) {
  gl_Position = vertices.of[int(number[i])].p; color = vertices.of[int(number[i])].c; EmitVertex(); } }"""
CONTROL = HEAD + """layout(vertices = 3) out;
layout(location = 0) in float number[]; layout(location = 0) out float passed[];
layout(location = 1) out vec4 p[];
void main() {
  passed[gl_InvocationID] = number[gl_InvocationID];
  p[gl_InvocationID] = vertices.of[int(number[gl_InvocationID])].p;
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 1; gl_TessLevelInner[0] = 1;
}"""
EVALUATION = HEAD + """layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in float number[]; layout(location = 1) in vec4 p[]; layout(location = 0) out vec3 color;
void main() {
  int k = gl_TessCoord.x == 1 ? 0 : gl_TessCoord.y == 1 ? 1 : 2;
  gl_Position = p[k]; color = vertices.of[int(number[k])].c;
}"""
#: Colours by address, of the primitive; and a count of each.
PAINT = HEAD + """layout(location = 0) out vec4 o;
void main() { o = vec4(vertices.of[gl_PrimitiveID * 3 + 1].c, 1); }"""
COUNT = HEAD + """layout(location = 0) in vec3 color; layout(location = 0) out vec4 o;
void main() { atomicAdd(words.at[int(gl_FragCoord.y) * 64 + int(gl_FragCoord.x)], 1u + uint(gl_PrimitiveID)); o = vec4(color, 1); }"""


def addressed(dev: tg.Device, vertices: Array) -> tuple[tg.Buffer, tg.Buffer, dict[str, Any]]:
    buffer, words = dev.buffer(vertices.tobytes(), label="vertices"), dev.buffer(4 * 64 * 64, label="words")
    return buffer, words, {"vertices": buffer.device_address, "words": words.device_address}


@pytest.mark.parametrize("stage", ["vertex", "geometry", "tessellation"])
def test_stages_that_find_their_vertices_by_address(stage: str) -> None:
    vertices = triangles(200, 11, w=False)
    stages: dict[str, tuple[str, dict[str, Any]]] = {
        "vertex": (PULL, {}),
        "geometry": (NUMBER, {"geometry": GEOMETRY}),
        "tessellation": (NUMBER, {"tessellation_control": CONTROL, "tessellation_evaluation": EVALUATION}),
    }
    first, more = stages[stage]

    def make(dev: tg.Device) -> Array:
        keep, words, push = addressed(dev, vertices)
        pipe = dev.pipeline(first, SHADE, color=FORMAT, **more)
        got = picture(dev, pipe, count=len(vertices), push=push)
        want = picture(dev, dev.pipeline(PLAIN, SHADE, vertex=vertices.dtype, color=FORMAT), vertices)
        np.testing.assert_array_equal(got, want)
        del keep, words
        return got

    assert same_everywhere(make).any()


@pytest.mark.parametrize("hsr", ["off", "all"])
def test_fragments_read_by_address(hsr: str) -> None:
    """The same bits with and without hidden-surface removal: reading changes nothing."""
    vertices = triangles(150, 12)

    def make(dev: tg.Device, hsr: str) -> Array:
        keep, words, push = addressed(dev, vertices)
        pipe = dev.pipeline(
            PULL, PAINT, color=FORMAT, depth="d32_sfloat", depth_test=True, depth_write=True, depth_compare="less"
        )
        target, depth = dev.image(SIZE, FORMAT), dev.image(SIZE, "d32_sfloat")
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0), hsr=hsr) as rp:
            rp.draw(pipe, count=len(vertices), push=push)
        del keep, words
        return target.numpy()

    results = [make(device(*case), hsr) for case in CASES]
    results.append(make(device(*CASES[1]), "off"))
    assert results[0].any()
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize("hsr", ["off", "all"])
def test_fragments_store_by_address(hsr: str) -> None:
    """Stores are side effects: every fragment that passes runs, hidden by a later one or not, and is explained so."""
    vertices = triangles(60, 13)

    def make(dev: tg.Device) -> tuple[Array, Array]:
        keep, words, push = addressed(dev, vertices)
        state = {"color": FORMAT, "depth": "d32_sfloat", "depth_test": True, "depth_write": True, "depth_compare": "always"}
        target, depth = dev.image(SIZE, FORMAT), dev.image(SIZE, "d32_sfloat")
        by_binding = COUNT.replace("Push { Vertices vertices; Words words; };", "Push { Vertices vertices; uint64_t words_; };").replace(
            "void main()", "layout(set = 0, binding = 0, std430) buffer Bound { uint at[]; } words;\nvoid main()"
        )
        bound = dev.buffer(4 * 64 * 64)
        counts = []
        for fragment, more in ((COUNT, {}), (by_binding, {"bind": {(0, 0): bound}})):
            pipe = dev.pipeline(PULL if not more else PULL.replace("Words words;", "uint64_t words_;"), fragment, **state)
            color, z = tg.Attachment(target, clear=(0, 0, 0, 0)), tg.Attachment(depth, clear=1.0)
            with dev.render_pass(color=[color], depth=z, hsr=hsr) as rp:
                rp.draw(pipe, count=len(vertices), push=push if not more else {"vertices": push["vertices"], "words_": 0}, **more)
            counts.append((bound if more else words).numpy(np.uint32).copy())
        assert counts[0].any()
        np.testing.assert_array_equal(*counts)
        del keep
        return target.numpy(), counts[0]

    first = make(device(*CASES[0]))
    for case in CASES[1:]:
        for a, b in zip(make(device(*case)), first, strict=True):
            np.testing.assert_array_equal(a, b)


def test_particles_move_by_address_between_passes() -> None:
    """A kernel moves what the next pass's vertex shader finds, three times: each pass sees the dispatch before it."""
    vertices = triangles(40, 14, w=False)
    move = HEAD.replace("readonly buffer Vertices", "buffer Vertices") + """layout(local_size_x = 32) in;
void main() { uint i = gl_GlobalInvocationID.x; if (i < words.at[0]) vertices.of[i].p.x = vertices.of[i].p.x * 0.5 + 0.25; }"""

    def make(dev: tg.Device) -> Array:
        buffer, words, push = addressed(dev, vertices)
        words.numpy(np.uint32)[0] = len(vertices)
        kernel, pull = dev.compute_pipeline(move), dev.pipeline(PULL, SHADE, color=FORMAT)
        plain, moved = dev.pipeline(PLAIN, SHADE, vertex=vertices.dtype, color=FORMAT), vertices.copy()
        pictures = []
        for _ in range(3):
            dev.dispatch(kernel, invocations=len(vertices), push=push)
            moved["p"][:, 0] = moved["p"][:, 0] * np.float32(0.5) + np.float32(0.25)
            pictures.append(picture(dev, pull, count=len(vertices), push=push))
            np.testing.assert_array_equal(pictures[-1], picture(dev, plain, moved))
        del buffer
        return np.stack(pictures)

    assert same_everywhere(make).any()


def test_vertices_are_not_deferred_where_addresses_may_meet() -> None:
    """Deferred vertex shading runs vertex shaders again in the tile phase: not where something writes by address, nor if they read so."""
    dev = device(*CASES[0])
    vertices = triangles(20, 15)
    keep, words, push = addressed(dev, vertices)
    state = {"color": FORMAT, "depth": "d32_sfloat", "depth_test": True, "depth_write": True, "depth_compare": "less"}
    pull = dev.pipeline(PULL, SHADE, **state)
    plain, count = (dev.pipeline(PLAIN, f, vertex=vertices.dtype, **state) for f in (SHADE, COUNT))
    target, depth = dev.image(SIZE, FORMAT), dev.image(SIZE, "d32_sfloat")

    def reasons(draws: list[tuple[tg.Pipeline, Any, dict[str, Any]]]) -> str:
        color, z = tg.Attachment(target, clear=(0, 0, 0, 0)), tg.Attachment(depth, clear=1.0)
        with dev.render_pass(color=[color], depth=z, hsr=["deferred_vertex_shading"]) as rp:
            for pipe, data, more in draws:
                rp.draw(pipe, data, **more)
        return str(rp.explain())

    assert "by address" in reasons([(pull, None, {"count": 60, "push": push})])
    assert "by address" in reasons([(plain, vertices, {}), (count, vertices, {"push": push})])
    assert "by address" not in reasons([(plain, vertices, {})])
    del keep, words


def test_a_capture_keeps_addresses(tmp_path: Path) -> None:
    """Another device gives the buffers the addresses that they had; one that has given these to others says so."""
    vertices = triangles(50, 16, w=False)
    path = tmp_path / "pass.capture"
    dev = tg.Device(cache_dir="off", threads=2)
    early = [dev.buffer(64) for _ in range(3)]
    assert all(b.device_address for b in early[:2])
    keep, words, push = addressed(dev, vertices)
    gap = dev.buffer(128)
    assert gap.device_address
    del gap
    pipe = dev.pipeline(PULL, COUNT, color=FORMAT)
    target = dev.image(SIZE, FORMAT)
    dev.capture(path)
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=len(vertices), push=push)
    replay = tg.Device(cache_dir="off", threads=1, lanes=4).load_capture(path)
    replay.run()
    np.testing.assert_array_equal(replay.pictures[0], target.numpy())
    assert target.numpy().any()
    with pytest.raises(tg.Error, match=r"address is 0x\w+, allowed is one that no other buffer has; replay with a device of its own"):
        dev.load_capture(path)
    del keep, words, early
