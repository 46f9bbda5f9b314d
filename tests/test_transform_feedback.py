"""Transform feedback: vertices in buffers, against NumPy; streams, counters, declarations that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from primitive_scenes import (
    CASES,
    FORMAT,
    PASS_TRIANGLES,
    PLAIN,
    SHADE,
    SIZE,
    Array,
    changed,
    device,
    picture,
    same_everywhere,
    triangles,
)
from tilegpu import _core

CAPTURE = """#version 450
layout(location = 0) in vec4 p; layout(location = 1) in vec3 c;
layout(xfb_buffer = 0, xfb_stride = 32) out;
layout(location = 0, xfb_offset = 16) out vec3 color;
layout(location = 1, xfb_buffer = 1, xfb_offset = 4, xfb_stride = 12) flat out ivec2 number;
out gl_PerVertex { layout(xfb_offset = 0) vec4 gl_Position; };
void main() { gl_Position = p * 2; color = c + 1; number = ivec2(gl_VertexIndex, gl_InstanceIndex); }"""


@pytest.mark.parametrize("discard", [False, True])
@pytest.mark.parametrize("topology", ["triangle_list", "triangle_strip", "line_strip", "point_list"])
def test_transform_feedback_of_vertices(topology: str, discard: bool) -> None:
    """Many chunks and instances, in order; gaps keep what was there; what doesn't fit is counted and not written."""
    vertices = triangles(2000, 5)
    n, instances = len(vertices), 2
    starts = {
        "triangle_list": [(i, i + 1, i + 2) for i in range(0, n, 3)],
        "triangle_strip": [(i, i + 1 + i % 2, i + 2 - i % 2) for i in range(n - 2)],
        "line_strip": [(i, i + 1) for i in range(n - 1)],
        "point_list": [(i,) for i in range(n)],
    }[topology]
    order = np.array(starts).ravel()
    per = len(starts[0])

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(
            CAPTURE, None if discard else SHADE, vertex=vertices.dtype, color=FORMAT, topology=topology, rasterizer_discard=discard
        )
        room = instances * len(order) - per  # one primitive too few
        first = dev.buffer(np.full((room, 8), 7, np.float32))
        second = dev.buffer(np.full((instances * len(order), 3), 9, np.int32))
        target = dev.image(SIZE, FORMAT)
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp, rp.transform_feedback([first, second]) as captured:
            rp.draw(pipe, vertices, instances=instances)
        assert (captured.needed, captured.primitives) == (instances * len(starts), instances * len(starts) - 1)
        got, numbers = first.numpy(np.float32, (room, 8)), second.numpy(np.int32, (instances * len(order), 3))
        want = np.concatenate([vertices[order]] * instances)[:room]
        np.testing.assert_array_equal(got[:, :4], want["p"] * 2)
        np.testing.assert_array_equal(got[:, 4:7], want["c"] + np.float32(1))
        assert (got[:, 7] == 7).all() and (numbers[:, 0] == 9).all() and (numbers[room:] == 9).all()
        np.testing.assert_array_equal(numbers[:room, 1], np.concatenate([order] * instances)[:room])
        np.testing.assert_array_equal(numbers[:room, 2], np.repeat(np.arange(instances), len(order))[:room])
        return got

    same_everywhere(make)


def test_transform_feedback_goes_on_and_is_drawn() -> None:
    """Two intervals of one pass and one of the next share a counter; then as many vertices are drawn as were written."""
    vertices = triangles(40, 6)

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(CAPTURE.replace("* 2", ""), SHADE, vertex=vertices.dtype, color=FORMAT)
        data, other = dev.buffer(32 * 200, label="data"), dev.buffer(12 * 200)
        counters = dev.buffer(np.zeros(2, np.uint32))
        keep = [counters.slice(0, 4), counters.slice(4, 4)]
        target = dev.image(SIZE, FORMAT)
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            with rp.transform_feedback([data, other], keep=keep):
                rp.draw(pipe, vertices[:30])
            with rp.transform_feedback([data, other], resume=keep, keep=keep):
                rp.draw(pipe, vertices[30:60])
        with dev.render_pass(color=[target]) as rp, rp.transform_feedback([data, other], resume=keep, keep=keep):
            rp.draw(pipe, vertices[60:])
        assert counters.numpy(np.uint32, (2,)).tolist() == [32 * 120, 12 * 120]
        layout = np.dtype({"names": ["p", "c"], "formats": [("f4", 4), ("f4", 3)], "offsets": [0, 16], "itemsize": 32})
        again = dev.pipeline(PLAIN.replace("color = c", "color = c - 1"), SHADE, vertex=layout, color=FORMAT)
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            rp.draw_indirect(again, counters, data, byte_count=32)
        got = target.numpy()
        want = picture(
            dev, dev.pipeline(PLAIN.replace("color = c", "color = (c + 1) - 1"), SHADE, vertex=vertices.dtype, color=FORMAT), vertices
        )
        np.testing.assert_array_equal(got, want)
        return got

    same_everywhere(make)


def test_streams_of_a_geometry_shader() -> None:
    geometry = """#version 450
layout(points) in; layout(points, max_vertices = 6) out;
layout(location = 0) in vec3 color[];
layout(stream = 0, xfb_buffer = 0, xfb_stride = 4, xfb_offset = 0, location = 0) out float a;
layout(stream = 1, xfb_buffer = 1, xfb_stride = 8, xfb_offset = 0, location = 1) out vec2 b;
void main() {
  for (int i = 0; i < 1 + gl_PrimitiveIDIn % 3; i++) { b = vec2(gl_PrimitiveIDIn, i); EmitStreamVertex(1); EndStreamPrimitive(1); }
  gl_Position = vec4(0, 0, 0, 1); a = gl_PrimitiveIDIn * 0.5; EmitStreamVertex(0);
}"""
    vertices = triangles(100, 7)

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(
            PLAIN, None, geometry=geometry, vertex=vertices.dtype, color=FORMAT, topology="point_list", rasterizer_discard=True
        )
        first, second = dev.buffer(4 * 300), dev.buffer(8 * 600)
        with (
            dev.render_pass(color=[tg.Attachment(dev.image(SIZE, FORMAT), clear=(0, 0, 0, 0))]) as rp,
            rp.transform_feedback([first, second], stream=1) as captured,
            rp.statistics() as counts,
        ):
            rp.draw(pipe, vertices)
        assert captured.primitives == 600 and counts["geometry_shader_invocations"] == 300 and counts["geometry_shader_primitives"] == 900
        np.testing.assert_array_equal(first.numpy(np.float32, (300,)), np.arange(300) * np.float32(0.5))
        want = [(k, i) for k in range(300) for i in range(1 + k % 3)]
        np.testing.assert_array_equal(second.numpy(np.float32, (600, 2)), np.array(want, np.float32))
        return first.numpy(np.float32, (300,))

    same_everywhere(make)


def captured_words(dev: tg.Device, declared: str, written: str, buffers: int) -> list[Array]:
    """Of one point: 64 bytes of each buffer, -1 where nothing was captured."""
    text = f"#version 450\n{declared}\nvoid main() {{ gl_Position = vec4(0, 0, 0, 1); {written} }}"
    pipe = dev.pipeline(text, None, topology="point_list", rasterizer_discard=True)
    to = [dev.buffer(np.full(16, -1, np.float32)) for _ in range(buffers)]
    with dev.render_pass(area=(0, 0, 4, 4)) as rp, rp.transform_feedback(to):
        rp.draw(pipe, count=1)
    return [b.numpy(np.uint32, (16,)) for b in to]


def test_arrays_of_blocks_are_captured_by_buffers_one_after_the_other() -> None:
    members = "layout(xfb_offset = 16) vec2 y; layout(xfb_offset = 0) vec3 x;"
    for dev in [device(*case) for case in CASES]:
        got = captured_words(
            dev,
            f"layout(location = 0, xfb_buffer = 1, xfb_stride = 32) out B {{ {members} }} b[3];",
            "for (int i = 0; i < 3; i++) { b[i].x = vec3(1, 2, 3) + i * 10; b[i].y = vec2(5, 6) + i * 10; }",
            4,
        )
        none = np.float32(-1)
        np.testing.assert_array_equal(got[0].view(np.float32), np.full(16, none))
        for i in range(3):
            want = np.full(16, none)
            want[:3], want[4:6] = np.array([1, 2, 3]) + i * 10, np.array([5, 6]) + i * 10
            np.testing.assert_array_equal(got[1 + i].view(np.float32), want)


def test_doubles_in_structures_begin_at_multiples_of_eight() -> None:
    """And structures with doubles end at one: in arrays, and before the next member of the structure around them."""
    declared = """struct Inner { double d; uint u; };
struct Outer { uvec3 a; dvec2 b; uint c; Inner inner[2]; uint last; };
layout(location = 0, xfb_buffer = 0, xfb_stride = 96) out B { layout(xfb_offset = 8) Outer o; };"""
    written = """o.a = uvec3(1, 2, 3); o.b = dvec2(4, 5); o.c = 6;
for (int i = 0; i < 2; i++) { o.inner[i].d = 7 + i; o.inner[i].u = 9 + i; } o.last = 11;"""
    for dev in [device(*case) for case in CASES]:
        text = f"#version 450\n{declared}\nvoid main() {{ gl_Position = vec4(0); {written} }}"
        pipe = dev.pipeline(text, None, topology="point_list", rasterizer_discard=True)
        to = dev.buffer(bytes(96))
        with dev.render_pass(area=(0, 0, 4, 4)) as rp, rp.transform_feedback(to):
            rp.draw(pipe, count=1)
        places = {"a": 8, "b": 24, "c": 40, "d0": 48, "u0": 56, "d1": 64, "u1": 72, "last": 80}
        formats = ["3u4", "2f8", "u4", "f8", "u4", "f8", "u4", "u4"]
        dtype = np.dtype({"names": list(places), "formats": formats, "offsets": list(places.values()), "itemsize": 96})
        got = np.frombuffer(to.numpy(np.uint8, (96,)).tobytes(), dtype)[0]
        assert [got[name].tolist() for name in places] == [[1, 2, 3], [4, 5], 6, 7, 9, 8, 10, 11]


def test_strips_of_several_streams() -> None:
    """Vertices of two streams by turns: each stream has strips of its own, which end where its own EndStreamPrimitive says."""
    geometry = """#version 450
layout(points) in; layout(triangle_strip, max_vertices = 32) out;
layout(stream = 0, location = 0, xfb_buffer = 0, xfb_stride = 4, xfb_offset = 0) out float a;
layout(stream = 2, location = 1, xfb_buffer = 1, xfb_stride = 4, xfb_offset = 0) out float b;
void main() {
  EndStreamPrimitive(2);
  for (int i = 0; i < 12; i++) {
    gl_Position = vec4(0, 0, 0, 1); a = i; b = 100 + i;
    if (i % 3 == 2) EmitStreamVertex(2); else EmitStreamVertex(0);
    if (i == 6) EndStreamPrimitive(0);
    if (i == 9) EndStreamPrimitive(2);
  }
}"""
    strips = {0: [[0, 1, 3, 4, 6], [7, 9, 10]], 2: [[102, 105, 108], [111]]}
    want = {
        stream: [v for s in runs for i in range(len(s) - 2) for v in (s[i], s[i + 1 + i % 2], s[i + 2 - i % 2])]
        for stream, runs in strips.items()
    }

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(
            "#version 450\nvoid main() { gl_Position = vec4(0); }", None, geometry=geometry, topology="point_list", rasterizer_discard=True
        )
        to = [dev.buffer(np.full(64, -1, np.float32)) for _ in range(2)]
        with dev.render_pass(area=(0, 0, 4, 4)) as rp, rp.transform_feedback(to):
            rp.draw(pipe, count=5)
        got = [b.numpy(np.float32, (64,)) for b in to]
        for one, stream in zip(got, want, strict=True):
            np.testing.assert_array_equal(one[one >= 0], np.array(want[stream] * 5, np.float32)[: len(one[one >= 0])])
            assert (one >= 0).sum() == min(64, 5 * len(want[stream])) // 3 * 3
        return got[0]

    same_everywhere(make)


def test_a_geometry_shader_may_read_fewer_vertices_than_there_are() -> None:
    """Arrays of one vertex, where the primitives have three: the first is read."""
    constant, vertices = 43, triangles(40, 3)
    first = """#version 450
layout(triangles) in; layout(points, max_vertices = 1) out;
layout(location = 0) in vec3 color[]; layout(location = 0) out vec3 out_color;
void main() { gl_Position = gl_in[0].gl_Position; gl_PointSize = 5; out_color = color[0]; EmitVertex(); }"""
    lengths: list[int] = []

    def shorter(op: int, operands: Array) -> None:
        if op == constant and operands[2] == 3:
            lengths.append(1)
            operands[2] = 1

    def make(dev: tg.Device) -> Array:
        got, want = (
            picture(dev, dev.pipeline(PLAIN, SHADE, geometry=module, vertex=vertices.dtype, color=FORMAT), vertices)
            for module in (changed(first, "geometry", shorter), first)
        )
        np.testing.assert_array_equal(got, want)
        return got

    assert same_everywhere(make).any() and lengths


def test_buffers_on_the_bytes_of_a_target() -> None:
    """What is captured, and counters, would be written, or read, while the tiles have the pass's targets."""
    dev = tg.Device(cache_dir="off", threads=1)
    memory = _core.DeviceMemory(1 << 16)
    target = dev.image(SIZE, FORMAT, label="target")
    usage = sum(_core.ENUMS["image_usage"][u] for u in ("transfer_src", "transfer_dst", "color_attachment"))
    object.__setattr__(target, "core", _core.Image(target.format_info.number, *SIZE, 1, 1, 1, usage, False, 0, "target"))
    target.core.bind(memory, 0)
    shared, behind = dev.buffer(4096), dev.buffer(4096)
    for buffer, name in ((shared, "shared"), (behind, "behind")):
        object.__setattr__(buffer, "core", _core.Buffer(4096, shared.core.usage, name))
    shared.core.bind(memory, 0), behind.core.bind(memory, 1 << 15)
    vertices = triangles(4, 8)
    other = dev.buffer(4096)
    captures = dev.pipeline(CAPTURE, SHADE, vertex=vertices.dtype, color=FORMAT, label="captures")
    hidden = dev.pipeline(CAPTURE, None, vertex=vertices.dtype, color=FORMAT, rasterizer_discard=True)
    counter = {"shared": [shared.slice(0, 4)], "behind": [behind.slice(0, 4)]}
    written = r"on bytes of color0 of this pass; bind a buffer with other memory"
    pipe = "pipeline 'captures': transform feedback buffer 'shared' is written "
    wrong: list[tuple[str, Any, list[tg.Buffer], dict[str, Any]]] = [
        (pipe + written, captures, [shared, other], {}),
        (pipe + written, captures, [other, shared], {}),
        ("transform feedback counter 'shared' is written " + written, captures, [other, other], {"keep": counter["shared"]}),
        ("transform feedback counter 'shared' reads color0 of this pass", captures, [other, other], {"resume": counter["shared"]}),
    ]

    def draw(at: Any, pipe: Any, buffers: list[tg.Buffer], places: dict[str, Any]) -> None:
        with at.transform_feedback(buffers, **places):
            at.draw(pipe, vertices)

    right: list[tuple[Any, list[tg.Buffer], dict[str, Any]]] = [
        (captures, [behind, other], {"resume": counter["behind"], "keep": counter["behind"]}),
        (hidden, [other, other], {"resume": counter["shared"]}),  # of what the pass loads, and does not write
    ]
    loads = {"color": [tg.Attachment(target)]}
    dev.clear(target, (0, 0, 0, 0))
    for message, pipe_, buffers, places in wrong:
        with pytest.raises(tg.Error, match=message), dev.render_pass(**loads) as rp:
            draw(rp, pipe_, buffers, places)
        with dev.secondary(color=[FORMAT]) as part:
            draw(part, pipe_, buffers, places)
        with pytest.raises(tg.Error, match=message), dev.render_pass(**loads) as rp:
            rp.execute_commands(part)
    for pipe_, buffers, places in right:
        with dev.secondary(color=[FORMAT]) as part:
            draw(part, pipe_, buffers, places)
        with dev.render_pass(**loads) as rp:
            draw(rp, pipe_, buffers, places)
            rp.execute_commands(part)


def test_declarations_that_do_not_agree() -> None:
    """Strides of one buffer, words at one place, streams in one buffer, arrays of other lengths: errors, not memory of others."""
    dev = device(*CASES[1])
    decorate, xfb_stride, offset, array, constant = 71, 37, 35, 28, 43
    two = """#version 450
layout(location = 0) in vec4 p; layout(location = 1) in vec3 c;
layout(location = 0, xfb_buffer = 0, xfb_stride = 16, xfb_offset = 0) out vec2 a;
layout(location = 1, xfb_buffer = 0, xfb_offset = 8) out vec2 b;
void main() { gl_Position = p; a = c.xy; b = c.yz; }"""
    seen: list[int] = []

    def other_stride(op: int, operands: Array) -> None:
        if op == decorate and operands[1] == xfb_stride:
            seen.append(1)
            operands[2] = 16 * len(seen)

    def same_place(op: int, operands: Array) -> None:
        if op == decorate and operands[1] == offset and operands[2] == 8:
            operands[2] = 4

    one: list[int] = []

    def longer(op: int, operands: Array) -> None:  # arrays of three become arrays of four
        if op == constant and operands[2] == 3:
            one.append(int(operands[1]))
            operands[2] = 4

    state: dict[str, Any] = {"vertex": triangles(1, 0).dtype, "color": FORMAT}
    with pytest.raises(tg.Error, match=r"has strides \d+ and \d+ for buffer 0"):
        dev.pipeline(changed(two, "vertex", other_stride), None, topology="point_list", rasterizer_discard=True, **state)
    with pytest.raises(tg.Error, match="captures byte 4 of buffer 0 twice"):
        dev.pipeline(changed(two, "vertex", same_place), None, topology="point_list", rasterizer_discard=True, **state)
    with pytest.raises(tg.Error, match="is an array of 4 vertices; the primitives have 3"):
        dev.pipeline(PLAIN, SHADE, geometry=changed(PASS_TRIANGLES, "geometry", longer), **state)
    assert seen and one and array
    streams = """#version 450
layout(points) in; layout(points, max_vertices = 2) out;
layout(stream = 0, xfb_buffer = 0, xfb_stride = 8, xfb_offset = 0, location = 0) out float a;
layout(stream = 1, xfb_buffer = 1, xfb_stride = 8, xfb_offset = 4, location = 1) out float b;
void main() { a = 1; EmitStreamVertex(0); b = 2; EmitStreamVertex(1); }"""

    def same_buffer(op: int, operands: Array) -> None:
        if op == decorate and operands[1] == 36 and operands[2] == 1:
            operands[2] = 0

    wrong = [
        (changed(streams, "geometry", same_buffer), "writes streams 0 and 1 to buffer 0"),
        (streams.replace("max_vertices = 2", "max_vertices = 0"), "max_vertices is 0; 1 to 256 are allowed"),
    ]
    for geometry, message in wrong:
        with pytest.raises(tg.Error, match=message):
            dev.pipeline(PLAIN, None, geometry=geometry, topology="point_list", rasterizer_discard=True, **state)
    number = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(gl_PrimitiveID); }"
    with pytest.raises(tg.Error, match="reads gl_PrimitiveID, which the geometry shader does not write"):
        dev.pipeline(PLAIN, number, geometry=PASS_TRIANGLES, **state)
