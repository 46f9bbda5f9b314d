"""What draws take from buffers beside their vertices: attributes that instances share, how many draws there are."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg
from primitive_scenes import (
    CASES,
    FORMAT,
    SIZE,
    Array,
    device,
    same_everywhere,
)


@pytest.mark.parametrize("divisor", [0, 1, 3, 100])
@pytest.mark.parametrize("dynamic", [False, True])
def test_instances_that_share_attributes(divisor: int, dynamic: bool) -> None:
    """VK_EXT_vertex_attribute_divisor: the first instance has the first element, the next divisor - 1 as well; from firstInstance on."""
    capture = """#version 450
layout(location = 0) in vec4 own; layout(location = 1) in float shared_;
layout(xfb_buffer = 0, xfb_stride = 8, xfb_offset = 0, location = 0) out vec2 seen;
void main() { gl_Position = own; seen = vec2(shared_, gl_InstanceIndex); }"""
    n, first = 20, 4
    values = np.arange(30, dtype=np.float32) * 7

    def make(dev: tg.Device) -> Array:
        pipe = dev.pipeline(
            capture,
            None,
            vertex=[
                tg.VertexBinding(16, [(0, "r32g32b32a32_sfloat", 0)]),
                tg.VertexBinding(4, [(1, "r32_sfloat", 0)], "instance", divisor),
            ],
            color=FORMAT,
            topology="point_list",
            rasterizer_discard=True,
            dynamic=["vertex_input"] if dynamic else (),
        )
        out = dev.buffer(8 * n)
        command = dev.buffer(np.array([1, n, 0, first], np.uint32), usage=("indirect_buffer", "storage_buffer"))
        with dev.render_pass(color=[dev.image(SIZE, FORMAT)]) as rp, rp.transform_feedback(out):
            rp.draw_indirect(pipe, command, dev.buffer(np.zeros(4, np.float32)), instances=dev.buffer(values))
        got = out.numpy(np.float32, (n, 2))
        element = first + (np.arange(n) // divisor if divisor else np.zeros(n, int))
        np.testing.assert_array_equal(got, np.stack([values[element], first + np.arange(n)], 1))
        return got

    same_everywhere(make)


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("draws", [0, 3, 5, 9])
def test_a_number_of_draws_in_a_buffer(indexed: bool, draws: int) -> None:
    """Of five commands as many are drawn as the buffer says, at most all."""
    capture = """#version 450
layout(location = 0) in vec4 p;
layout(xfb_buffer = 0, xfb_stride = 8, xfb_offset = 0, location = 0) out ivec2 seen;
void main() { gl_Position = p; seen = ivec2(gl_VertexIndex, gl_InstanceIndex); }"""
    dev = device(*CASES[1])
    pipe = dev.pipeline(capture, None, vertex=np.dtype([("p", "f4", 4)]), color=FORMAT, topology="point_list", rasterizer_discard=True)
    words = [[2, 1, 10 * k, *([0, k] if indexed else [k])] for k in range(5)]
    commands = dev.buffer(np.array(words, np.uint32), usage=("indirect_buffer", "storage_buffer"))
    number, out = dev.buffer(np.array([77, draws], np.uint32)), dev.buffer(8 * 20)
    points = np.zeros(64, np.dtype([("p", "f4", 4)]))
    with dev.render_pass(color=[dev.image(SIZE, FORMAT)]) as rp, rp.transform_feedback(out) as captured:
        rp.draw_indirect(pipe, commands, points, indices=np.arange(64, dtype=np.uint32) if indexed else None, draw_count=number.slice(4, 4))
    n = min(draws, 5)
    assert captured.primitives == 2 * n
    want = [(10 * k + i, k) for k in range(n) for i in range(2)]
    np.testing.assert_array_equal(out.numpy(np.int32, (20, 2))[: 2 * n], np.array(want, np.int32).reshape(-1, 2))
