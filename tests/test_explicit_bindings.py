"""Explicit vertex bindings end where the data ends: vertices and instances, arrays and buffers, direct, indirect and in secondaries.

Beside them: what has no length says so, and formats in other interfaces' words for numbers.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COLOR = "r8g8b8a8_unorm"
F2, F4 = "r32g32_sfloat", "r32g32b32a32_sfloat"
HEAD = "#version 450\n"
AT = HEAD + "layout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); gl_PointSize = 1; }"
MOVED = HEAD + """layout(location = 0) in vec2 position; layout(location = 1) in vec2 by;
void main() { gl_Position = vec4(position + by, 0, 1); }"""
RED = HEAD + "layout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"
TRIANGLE = np.array([(-1, -1), (3, -1), (-1, 3)], "f4")
CORNERS = np.array([0, 1, 2], "u2")
BY = np.array([(9, 9), (0, 0)], "f4")
RED_PIXEL, BLACK = [255, 0, 0, 255], [0, 0, 0, 255]
B = tg.VertexBinding
Draw = Callable[[Any], None]


@pytest.fixture(scope="module", params=[False, True], ids=["default", "strict"])
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return tg.Device(threads=1, strict=request.param)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def in_pass(dev: tg.Device, draw: Draw) -> list[int]:
    out = dev.image((4, 4), COLOR)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))) as rp:
        draw(rp)
    return list(out.numpy()[2, 2].tolist())


def in_secondary(dev: tg.Device, draw: Draw) -> list[int]:
    with dev.secondary(color=[COLOR]) as part:
        draw(part)
    return in_pass(dev, lambda rp: rp.execute_commands(part))


def source(dev: tg.Device, kind: str, array: Any) -> Any:
    if kind == "array":
        return array
    buffer = dev.buffer(np.concatenate([np.zeros(16, "u1"), np.ascontiguousarray(array).reshape(-1).view("u1")]))
    return buffer.slice(16) if kind == "slice" else dev.buffer(array)


def by_vertex(dev: tg.Device, attributes: Any, stride: int = 8, **state: Any) -> tg.Pipeline:
    return dev.pipeline(AT, RED, vertex=B(stride, attributes), color=[COLOR], **state)


def by_instance(dev: tg.Device, offset: int = 0, divisor: int = 1, stride: int = 8) -> tg.Pipeline:
    instance = B(stride, [(1, F2, offset)], "instance", divisor)
    return dev.pipeline(MOVED, RED, vertex=B(8, [(0, F2, 0)]), instance=instance, color=[COLOR])


def rows(*given: list[int]) -> Any:
    return np.array(given, "u4")


# ------------------------------------------------------------------------------------------------------------- vertices

REACHES = [([(0, F2, 8)], 2), ([(0, F2, 16)], 1), ([(0, F4, 0)], 2), ([(0, F2, 4)], 2)]


@pytest.mark.parametrize("run", [in_pass, in_secondary])
@pytest.mark.parametrize("kind", ["array", "buffer", "slice"])
@pytest.mark.parametrize(("attributes", "there"), REACHES)
def test_vertices_end_with_the_data(dev: tg.Device, run: Any, kind: str, attributes: Any, there: int) -> None:
    """The last of them read zeros, without a word; with indices it was an error."""
    pipeline, data = by_vertex(dev, attributes), source(dev, kind, TRIANGLE)
    with pytest.raises(tg.ValidationError, match=rf"first=0, count=3 reaches vertex 2; there (is 1 vertex|are {there} vertices)"):
        run(dev, lambda rp: rp.draw(pipeline, data, count=3))
    with pytest.raises(tg.ValidationError, match=rf"first=0, count=3 reaches vertex 2; there (is 1 vertex|are {there} vertices)"):
        run(dev, lambda rp: rp.draw_indirect(pipeline, rows([3, 1, 0, 0]), data))
    with pytest.raises(tg.ValidationError, match=rf"reaches vertex {there + 2}; there (is 1 vertex|are {there} vertices)"):
        run(dev, lambda rp: rp.draw(pipeline, data, first=there, count=3))
    with pytest.raises(tg.ValidationError, match=rf"indices reach vertex 2; there (is 1 vertex|are {there} vertices)"):
        run(dev, lambda rp: rp.draw(pipeline, data, indices=CORNERS))
    with pytest.raises(tg.LostPrimitivesWarning, match=r"vert(ex|ices) makes? no primitive"):  # by default all that are whole
        run(dev, lambda rp: rp.draw(pipeline, data))
    points = by_vertex(dev, attributes, topology="point_list")
    run(dev, lambda rp: rp.draw(points, data, count=there))
    run(dev, lambda rp: rp.draw_indirect(points, rows([there, 1, 0, 0], [1, 1, there - 1, 0]), data))


@pytest.mark.parametrize("kind", ["array", "buffer", "slice"])
def test_no_vertex_is_whole(dev: tg.Device, kind: str) -> None:
    pipeline, data = by_vertex(dev, [(0, F2, 64)]), source(dev, kind, TRIANGLE)
    for draw in (
        lambda rp: rp.draw(pipeline, data), lambda rp: rp.draw(pipeline, data, count=3),
        lambda rp: rp.draw_indirect(pipeline, rows([3, 1, 0, 0]), data),
    ):  # fmt: skip
        with pytest.raises(tg.ValidationError, match=r"vertex binding 0 has 24 bytes of data, .* end at byte 72: give more, or"):
            in_pass(dev, draw)


def test_the_same_vertices_twice(dev: tg.Device) -> None:
    """What the pass knows of a buffer that is drawn again is known of it still."""
    pipeline, data = by_vertex(dev, [(0, F2, 8)], topology="point_list"), dev.buffer(TRIANGLE)

    def draw(rp: Any) -> None:
        rp.draw(pipeline, data)
        rp.draw(pipeline, data, count=2)
        rp.draw(pipeline, data, count=3)

    with pytest.raises(tg.ValidationError, match="there are 2 vertices"):
        in_pass(dev, draw)


def test_a_last_vertex_that_ends_before_its_stride(dev: tg.Device) -> None:
    """As many as can be read: of records from their second field on the last has no bytes behind it."""
    records = np.zeros((3, 4), "f4")
    records[:, 2:] = TRIANGLE
    pipeline = by_vertex(dev, [(0, F2, 0)], 16)
    data = dev.buffer(records).slice(8)
    assert in_pass(dev, lambda rp: rp.draw(pipeline, data)) == RED_PIXEL
    assert in_pass(dev, lambda rp: rp.draw(pipeline, data, count=3)) == RED_PIXEL


def test_fields_one_behind_the_other(dev: tg.Device) -> None:
    """All positions, then all of the other field, in one array: three vertices, not six."""
    data = np.concatenate([TRIANGLE, np.zeros((3, 2), "f4")])
    pipeline = dev.pipeline(MOVED, RED, vertex=B(8, [(0, F2, 0), (1, F2, 24)]), color=[COLOR])
    assert in_pass(dev, lambda rp: rp.draw(pipeline, data)) == RED_PIXEL
    assert in_pass(dev, lambda rp: rp.draw(pipeline, dev.buffer(data), count=3)) == RED_PIXEL
    with pytest.raises(tg.ValidationError, match="there are 3 vertices"):
        in_pass(dev, lambda rp: rp.draw(pipeline, data, count=6))


def test_attributes_that_the_shader_does_not_read(dev: tg.Device) -> None:
    """They reach nothing: one binding may serve several shaders."""
    pipeline = by_vertex(dev, [(0, F2, 0), (1, F4, 8)])
    for data in (TRIANGLE, dev.buffer(TRIANGLE)):
        assert in_pass(dev, lambda rp: rp.draw(pipeline, data)) == RED_PIXEL  # noqa: B023
        assert in_pass(dev, lambda rp: rp.draw(pipeline, data, indices=CORNERS)) == RED_PIXEL  # noqa: B023


def test_all_columns_of_a_matrix_are_read(dev: tg.Device) -> None:
    vert = HEAD + "layout(location = 0) in mat2 m; void main() { gl_Position = vec4(m[0] + m[1], 0, 1); }"
    data = np.hstack([TRIANGLE, np.zeros((3, 2), "f4")])
    binding = [(0, F2, 0), (1, F2, 8)]
    pipeline = dev.pipeline(vert, RED, vertex=B(16, binding), color=[COLOR])
    assert in_pass(dev, lambda rp: rp.draw(pipeline, dev.buffer(data))) == RED_PIXEL
    with pytest.raises(tg.ValidationError, match="there are 2 vertices"):
        in_pass(dev, lambda rp: rp.draw(pipeline, dev.buffer(data).slice(0, 40), count=3))


def test_a_stride_of_zero_has_no_end(dev: tg.Device) -> None:
    """All vertices, or instances, read the same element. Its bytes were taken for as many elements."""
    both = dev.pipeline(MOVED, RED, vertex=[B(8, [(0, F2, 0)]), B(0, [(1, F2, 0)])], color=[COLOR])
    one = np.zeros(2, "f4")
    for shared in (one, dev.buffer(one)):
        assert in_pass(dev, lambda rp: rp.draw(both, [TRIANGLE, shared])) == RED_PIXEL  # noqa: B023
    alone = by_vertex(dev, [(0, F2, 0)], 0, topology="point_list")
    in_pass(dev, lambda rp: rp.draw(alone, dev.buffer(one), count=5))
    with pytest.raises(tg.ValidationError, match="the stride of the vertices is 0, which any number reads; give count="):
        in_pass(dev, lambda rp: rp.draw(alone, dev.buffer(one)))
    for pipeline in (by_instance(dev, stride=0), by_instance(dev, divisor=0)):
        assert in_pass(dev, lambda rp: rp.draw(pipeline, TRIANGLE, instances=dev.buffer(one))) == RED_PIXEL  # noqa: B023
        lots = rows([3, 70, 0, 0])
        assert in_pass(dev, lambda rp: rp.draw_indirect(pipeline, lots, TRIANGLE, instances=dev.buffer(one))) == RED_PIXEL  # noqa: B023


@pytest.mark.parametrize("state", ["vertex_input", "vertex_input_binding_stride", "all"])
@pytest.mark.parametrize("vertex", [B(8, [(0, F2, 8)]), np.dtype([("position", "f4", 2)])], ids=["explicit", "dtype"])
def test_layouts_that_are_dynamic_have_the_same_end(dev: tg.Device, state: str, vertex: Any) -> None:
    """What is set then is the pipeline's own too; nothing was checked."""
    pipeline = dev.pipeline(AT, RED, vertex=vertex, color=[COLOR], dynamic=state if state == "all" else [state])
    data = dev.buffer(TRIANGLE if isinstance(vertex, tg.VertexBinding) else TRIANGLE[:2])

    def draw(rp: Any) -> None:
        rp.set(primitive_topology="triangle_list")
        rp.draw(pipeline, data, count=3)

    with pytest.raises(tg.ValidationError, match="reaches vertex 2; there are 2 vertices"):
        in_pass(dev, draw if state == "all" else lambda rp: rp.draw(pipeline, data, count=3))


# ------------------------------------------------------------------------------------------------------------ instances


@pytest.mark.parametrize("run", [in_pass, in_secondary])
@pytest.mark.parametrize("kind", ["array", "buffer", "slice"])
@pytest.mark.parametrize(
    ("offset", "divisor", "row", "said"),
    [
        (0, 1, [3, 5, 0, 0], r"draws 5 instances from 0 on; instances has data for 2"),
        (0, 1, [3, 2, 0, 1], r"draws 2 instances from 1 on; instances has data for 2"),
        (8, 1, [3, 2, 0, 0], r"draws 2 instances from 0 on; instances has data for 1"),
        (0, 2, [3, 9, 0, 0], r"draws 9 instances from 0 on; instances has data for 2 times 2"),
        (0, 2, [3, 3, 0, 1], r"draws 3 instances from 1 on; instances has data for 2 times 2"),
        (0, 0, [3, 1, 0, 2], r"draws 1 instances from 2 on; instances has data for 2, which all instances share"),
    ],
)  # fmt: skip
def test_instances_of_rows_end_with_the_data(
    dev: tg.Device, run: Any, kind: str, offset: int, divisor: int, row: list[int], said: str
) -> None:
    pipeline, data = by_instance(dev, offset, divisor), source(dev, kind, BY)
    with pytest.raises(tg.ValidationError, match=r"indirect\[1\] " + said + "$"):
        run(dev, lambda rp: rp.draw_indirect(pipeline, rows([3, 1, 0, 0], row), TRIANGLE, instances=data))
    with pytest.raises(tg.ValidationError, match=r"indirect\[0\] " + said + "$"):
        indexed = rows([*row[:3], 0, row[3]])
        run(dev, lambda rp: rp.draw_indirect(pipeline, indexed, TRIANGLE, indices=CORNERS, instances=data))


@pytest.mark.parametrize("kind", ["array", "buffer", "slice"])
def test_instances_that_are_there(dev: tg.Device, kind: str) -> None:
    data = source(dev, kind, BY)
    for divisor, row in ((1, [3, 2, 0, 0]), (1, [3, 1, 0, 1]), (2, [3, 4, 0, 0]), (2, [3, 2, 0, 1]), (0, [3, 9, 0, 1])):
        pipeline = by_instance(dev, 0, divisor)
        rows_ = rows(row, [0, 99, 0, 99], [3, 0, 0, 99])  # two draw nothing
        assert in_pass(dev, lambda rp: rp.draw_indirect(pipeline, rows_, TRIANGLE, instances=data)) == RED_PIXEL  # noqa: B023


@pytest.mark.parametrize("kind", ["array", "buffer", "slice"])
def test_a_draw_has_the_instances_that_are_whole(dev: tg.Device, kind: str) -> None:
    """The last one read zeros, which here move nothing, and the triangle was seen."""
    pipeline, data = by_instance(dev, 8), source(dev, kind, np.full((2, 2), 9, "f4"))
    assert in_pass(dev, lambda rp: rp.draw(pipeline, TRIANGLE, instances=data)) == BLACK
    with pytest.raises(tg.ValidationError, match=r"first_instance is 1; there is 1 element"):
        in_pass(dev, lambda rp: rp.draw(pipeline, TRIANGLE, instances=data, first_instance=1))
    far = by_instance(dev, 64)
    with pytest.raises(tg.ValidationError, match=r"vertex binding 1 has 16 bytes of data, .* end at byte 72"):
        in_pass(dev, lambda rp: rp.draw(far, TRIANGLE, instances=data))


def test_several_bindings_of_instances(dev: tg.Device) -> None:
    """Each has an end of its own, in its own share."""
    vert = MOVED.replace("void", "layout(location = 2) in vec2 more; void").replace("+ by", "+ by + more")
    instance = [B(8, [(1, F2, 0)], "instance", 2), np.dtype([("more", "f4", 2)])]
    pipeline = dev.pipeline(vert, RED, vertex=B(8, [(0, F2, 0)]), instance=instance, color=[COLOR])
    data = [dev.buffer(np.zeros((2, 2), "f4")), dev.buffer(np.zeros((4, 2), "f4"))]
    assert in_pass(dev, lambda rp: rp.draw_indirect(pipeline, rows([3, 4, 0, 0]), TRIANGLE, instances=data)) == RED_PIXEL
    with pytest.raises(tg.ValidationError, match=r"draws 5 instances from 0 on; instances\[0\] has data for 2 times 2"):
        in_pass(dev, lambda rp: rp.draw_indirect(pipeline, rows([3, 5, 0, 0]), TRIANGLE, instances=data))
    with pytest.raises(tg.ValidationError, match=r"draws 2 instances from 3 on; instances\[0\] has data for 2 times 2"):
        in_pass(dev, lambda rp: rp.draw_indirect(pipeline, rows([3, 2, 0, 3]), TRIANGLE, instances=data))
    with pytest.raises(tg.ValidationError, match=r"draws 4 instances from 1 on; instances\[0\] has"):
        in_pass(dev, lambda rp: rp.draw_indirect(pipeline, rows([3, 4, 0, 1]), TRIANGLE, instances=data))
    data[0] = dev.buffer(np.zeros((9, 2), "f4"))
    with pytest.raises(tg.ValidationError, match=r"draws 4 instances from 1 on; instances\[1\] has data for 4$"), warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.LostPrimitivesWarning)
        in_pass(dev, lambda rp: rp.draw_indirect(pipeline, rows([3, 4, 0, 1]), TRIANGLE, instances=data))


# ------------------------------------------------------------------------------------------------------- what has no length


def test_what_has_no_length_says_so(dev: tg.Device) -> None:
    texture = dev.texture(np.zeros((2, 3, 4), "u1"), COLOR)
    buffer = dev.buffer(np.zeros(8, "f4"))
    for thing, said in (
        (texture.image, r"^image .* has no length; \.size is \(width, height\), and \.numpy\(\) is an array"),
        (texture.image.view(), r"^image view .*has no length; \.image\.size is .*, and numpy\.asarray of it is an array"),
        (texture, r"^texture .*has no length; .*array"),
        (buffer.slice(4, 8), r"^buffer slice has no length; \.size is in bytes"),
    ):
        with pytest.raises(tg.Error, match=said) as raised:
            len(thing)  # type: ignore[arg-type]
        assert isinstance(raised.value, TypeError)  # as Python's own
        assert thing
        assert bool(thing) is True
    assert len(buffer) == 8
    assert len(texture.image.numpy()) == 2
    assert hasattr(texture, "size")


def test_arrays_are_made_of_what_has_no_length(dev: tg.Device) -> None:
    """NumPy and others ask for lengths on the way."""
    given = np.arange(24, dtype="u1").reshape(2, 3, 4)
    texture = dev.texture(given, COLOR)
    for thing in (texture, texture.image, texture.image.view()):
        np.testing.assert_array_equal(np.asarray(thing), given)
        np.testing.assert_array_equal(np.array(thing, copy=True), given)
        assert np.array([thing, thing]).shape == (2, 2, 3, 4)
        assert np.shape(thing) == (2, 3, 4)
    np.testing.assert_array_equal(np.from_dlpack(texture.image), given)
    with pytest.raises(TypeError):
        list(texture.image)  # type: ignore[call-overload]
    into = dev.image((3, 2), COLOR)
    into.write(texture.image)
    np.testing.assert_array_equal(into.numpy(), given)
    assert repr(texture.image)


# ------------------------------------------------------------------------------------------------------ words for formats


@pytest.mark.parametrize(
    ("word", "format_"),
    [
        ("float32", "r32_sfloat"), ("f4", "r32_sfloat"), ("<f4", "r32_sfloat"), ("float32x2", F2), ("2f", F2), ("f32x2", F2), ("2f4", F2),
        ("vec2", F2), ("float2", F2), ("3f", "r32g32b32_sfloat"), ("float4", F4), ("f2", "r16_sfloat"), ("half4", "r16g16b16a16_sfloat"),
        ("float16x4", "r16g16b16a16_sfloat"), ("uint8", "r8_unorm"), ("u1", "r8_unorm"), ("uint8x4", "r8g8b8a8_uint"), ("4f1", COLOR),
        ("unorm8x4", COLOR), ("snorm16x2", "r16g16_snorm"), ("sint32x3", "r32g32b32_sint"), ("uvec4", "r32g32b32a32_uint"),
        ("int32", "r32_sint"), ("u8x4", "r8g8b8a8_uint"), ("uchar4Normalized", COLOR), ("unorm8x4-bgra", "b8g8r8a8_unorm"),
        ("unorm10-10-10-2", "a2b10g10r10_unorm_pack32"), ("float64", "r32_sfloat"), ("f8", "r32_sfloat"),
    ],
)  # fmt: skip
def test_formats_in_words_for_numbers(dev: tg.Device, word: str, format_: str) -> None:
    """NumPy's, WebGPU's of vertices, moderngl's of buffers, GLSL's and Metal's: the hint was ten formats, none of which helps."""
    assert tg.parse_format(format_, "").name == format_
    for ask in (lambda: dev.image((4, 4), word), lambda: by_vertex(dev, [(0, word, 0)])):
        with pytest.raises(tg.UnsupportedError, match=rf"'{re.escape(word)}' is not known; did you mean '{format_}'\?"):
            ask()


@pytest.mark.parametrize("word", ["f3", "float32x9", "x2", "9f", "n", "f128"])
def test_words_that_mean_no_format(dev: tg.Device, word: str) -> None:
    with pytest.raises(tg.UnsupportedError, match="is not known"):
        dev.image((4, 4), word)
