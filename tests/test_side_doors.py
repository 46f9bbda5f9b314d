"""Rules that hold however something comes in: written or copied as if made from it, in an indirect draw as in a draw, set as if given."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

F = "r8g8b8a8_unorm"
HEAD = "#version 450\n"
FULL = HEAD + "void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
RED = HEAD + "layout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"
AT = HEAD + "layout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
SCALED = HEAD + """layout(location = 0) in vec2 position; layout(location = 1) in float scale;
void main() { gl_Position = vec4(position * scale, 0, 1); }"""
VERTEX, INSTANCE = np.dtype([("position", "f4", 2)]), np.dtype([("scale", "f4")])
TRIANGLE = np.array([((-1, -1),), ((3, -1),), ((-1, 3),)], VERTEX)
XYZ = np.arange(1, 25, dtype=np.float32).reshape(8, 3)
RED_PIXEL = [255, 0, 0, 255]


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def drawn(dev: tg.Device, draw: Callable[[Any], None]) -> list[int]:
    out = dev.image((4, 4), F)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))) as rp:
        draw(rp)
    return list(out.numpy()[2, 2].tolist())


def read_by(dev: tg.Device, declaration: str, value: str, bind: dict[str, Any]) -> list[int]:
    frag = HEAD + f"{declaration}\nlayout(location = 0) out vec4 o; void main() {{ o = {value}; }}"
    pipeline = dev.pipeline(FULL, frag, color=[F])
    return drawn(dev, lambda rp: rp.draw(pipeline, count=3, bind=bind))


def written(dev: tg.Device, array: Any = XYZ) -> tg.Buffer:
    buffer = dev.buffer(128)
    buffer.write(array)
    return buffer


def copied(dev: tg.Device, array: Any = XYZ) -> tg.Buffer:
    buffer = dev.buffer(128)
    dev.copy(array, buffer)
    return buffer


def copied_of_a_buffer(dev: tg.Device, array: Any = XYZ) -> tg.Buffer:
    buffer = dev.buffer(128)
    dev.copy(dev.buffer(array), buffer)
    return buffer


def copied_twice(dev: tg.Device, array: Any = XYZ) -> tg.Buffer:
    buffer = dev.buffer(128)
    dev.copy(written(dev, array), buffer)
    return buffer


def in_two_parts(dev: tg.Device, array: Any = XYZ) -> tg.Buffer:
    buffer = dev.buffer(128)
    half = len(array) // 2
    buffer.write(array[:half])
    buffer.write(array[half:], offset=array[:half].nbytes)
    return buffer


WAYS = [written, copied, copied_of_a_buffer, copied_twice, in_two_parts]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["vec4", "vec3"])
def test_rows_that_were_written_are_no_vectors_of_another_width(dev: tg.Device, way: Any, kind: str) -> None:
    """Only `dev.buffer(xyz)` was an error; the same rows written were read across, shifted."""
    block = f"layout(binding = 0) readonly buffer B {{ {kind} x[]; }};"
    with pytest.raises(tg.ValidationError, match=r"'B' .*buffer 'buffer' was written with float32, whose numbers lie in rows of 3"):
        read_by(dev, block, "vec4(x[1].xyz, 1)", {"B": way(dev)})
    assert read_by(dev, "layout(binding = 0) readonly buffer B { float x[]; };", "vec4(x[0], 0, 0, 1)", {"B": way(dev)}) == RED_PIXEL


@pytest.mark.parametrize("way", WAYS)
def test_rows_that_were_written_are_no_vertices_of_another_width(dev: tg.Device, way: Any) -> None:
    pipeline = dev.pipeline(AT, RED, vertex=VERTEX, color=[F])
    with pytest.raises(tg.ValidationError, match=r"was written with float32 with rows of 3; a vertex of the pipeline's .* takes 2"):
        drawn(dev, lambda rp: rp.draw(pipeline, way(dev), count=3))
    flat = way(dev, TRIANGLE["position"].copy())
    for _ in range(2):  # the second is recorded by the core
        assert drawn(dev, lambda rp: rp.draw(pipeline, flat, count=3)) == RED_PIXEL
    flat.write(XYZ)  # what was drawn with is looked at again
    with pytest.raises(tg.ValidationError, match=r"rows of 3"):
        drawn(dev, lambda rp: rp.draw(pipeline, flat, count=3))


@pytest.mark.parametrize("way", [lambda dev: dev.buffer(XYZ), *WAYS])
def test_rows_are_no_texels_of_another_width(dev: tg.Device, way: Any) -> None:
    """Not even of an array that the buffer was made from."""
    texels = "layout(binding = 0) uniform samplerBuffer t;"
    buffer = way(dev)
    said = r"'t' .*with rows of 3 numbers \(12 bytes\), and a texel of r32g32b32a32_sfloat has 16 bytes: give a format"
    with pytest.raises(tg.ValidationError, match=said):
        read_by(dev, texels, "texelFetch(t, 1)", {"t": buffer.texels("r32g32b32a32_sfloat")})
    assert read_by(dev, texels, "vec4(texelFetch(t, 0).r, 0, 0, 1)", {"t": buffer.texels("r32_sfloat")}) == RED_PIXEL
    flat = dev.buffer(XYZ.reshape(-1))
    assert read_by(dev, texels, "vec4(texelFetch(t, 1).r, 0, 0, 1)", {"t": flat.texels("r32g32b32a32_sfloat")}) == RED_PIXEL


def test_sets_that_are_kept_look_at_rows_again(dev: tg.Device) -> None:
    """Draws that bind the same buffer find its set; that it fitted was of the rows that it had."""
    pipeline = dev.pipeline(FULL, HEAD + """layout(binding = 0) readonly buffer B { vec4 x[]; };
        layout(location = 0) out vec4 o; void main() { o = x[0]; }""", color=[F])
    buffer = written(dev, np.float32([(1, 0, 0, 1)] * 6))
    for _ in range(3):
        assert drawn(dev, lambda rp: rp.draw(pipeline, count=3, bind={"B": buffer})) == RED_PIXEL
    buffer.write(XYZ)
    with pytest.raises(tg.ValidationError, match=r"rows of 3"):
        drawn(dev, lambda rp: rp.draw(pipeline, count=3, bind={"B": buffer}))


def test_rows_of_parameters_that_were_written(dev: tg.Device) -> None:
    """Rows of indexed draws, of five numbers, for draws of four: the second began in the first's last."""
    pipeline = dev.pipeline(FULL, RED, color=[F])
    for way in WAYS:
        with pytest.raises(tg.ValidationError, match=r"rows of 20 bytes, and a draw takes 16 .*with indices= a draw takes 20"):
            drawn(dev, lambda rp, way=way: rp.draw_indirect(pipeline, way(dev, np.ones((2, 5), np.uint32)), draw_count=2))
    right = copied(dev, np.uint32([(3, 1, 0, 0), (3, 1, 0, 0)]))
    assert drawn(dev, lambda rp: rp.draw_indirect(pipeline, right, draw_count=2)) == RED_PIXEL


def test_buffers_of_several_arrays_say_nothing(dev: tg.Device) -> None:
    """What is not known is no mistake: parts of a buffer for several things, and one that is used again for others."""
    vec4 = "layout(binding = 0) readonly buffer B { vec4 x[]; };"
    ones = np.float32([(1, 0, 0, 1)] * 4)
    several = dev.buffer(1024)
    several.write(XYZ, offset=512)
    several.write(ones)
    assert read_by(dev, vec4, "x[0]", {"B": several}) == RED_PIXEL
    assert read_by(dev, vec4, "x[0]", {"B": several.slice(0, 512)}) == RED_PIXEL
    with pytest.raises(tg.ValidationError, match="rows of 3"):
        read_by(dev, vec4, "x[0]", {"B": several.slice(512)})
    behind = dev.buffer(256)
    behind.write(np.float32([1, 0, 0, 1]))
    behind.write(XYZ, offset=16)  # a header, and rows behind it
    assert read_by(dev, vec4, "x[0]", {"B": behind}) == RED_PIXEL
    again = written(dev)
    again.write(ones)
    assert read_by(dev, vec4, "x[0]", {"B": again}) == RED_PIXEL
    cleared = written(dev)
    cleared.write(np.zeros(32, np.float32))
    fill = dev.compute_pipeline(HEAD + """layout(local_size_x = 4) in; layout(binding = 0) buffer B { vec4 x[]; };
        void main() { x[gl_LocalInvocationIndex] = vec4(1, 0, 0, 1); }""")
    dev.dispatch(fill, 1, bind={"B": cleared})
    assert read_by(dev, vec4, "x[0]", {"B": cleared}) == RED_PIXEL
    viewed = written(dev)
    viewed.numpy(np.float32)[:4] = 1, 0, 0, 1
    assert read_by(dev, vec4, "x[0]", {"B": viewed}) == RED_PIXEL
    only = written(dev)
    stores = dev.compute_pipeline(HEAD + """layout(local_size_x = 4) in; layout(binding = 0) writeonly buffer B { vec4 x[]; };
        void main() { x[gl_LocalInvocationIndex] = vec4(1, 0, 0, 1); }""")
    dev.dispatch(stores, 1, bind={"B": only})
    assert read_by(dev, vec4, "x[0]", {"B": only}) == RED_PIXEL
    texels = written(dev)
    dev.copy(dev.texture(np.full((1, 8, 4), 1, np.float32)).image, texels)
    assert read_by(dev, vec4, "x[0]", {"B": texels}) == [255, 255, 255, 255]


@pytest.mark.parametrize("row", [(3, 1, 0, 5, 0), (3, 1, 0, -1, 0), (2, 1, 0, 0, 0), (3, 1, 1, 0, 0)])
def test_indirect_rows_reach_vertices_as_draws_do(dev: tg.Device, row: tuple[int, ...]) -> None:
    """`rp.draw` with the same numbers was an error, the array of parameters drew nothing."""
    pipeline = dev.pipeline(AT, RED, vertex=VERTEX, color=[F], topology="point_list")
    indices = np.uint16([0, 9, 2, 1]) if row[0] == 2 or row[2] else np.uint16([0, 1, 2])
    with pytest.raises(tg.ValidationError, match=r"reach vertex (7|-1|9); there are 3 vertices") as direct:
        drawn(dev, lambda rp: rp.draw(pipeline, TRIANGLE, indices=indices, count=row[0], first=row[2], vertex_offset=row[3]))
    for vertices in (TRIANGLE, dev.buffer(TRIANGLE)):
        rows = np.array([(0, 1, 0, 9, 0), (3, 0, 0, 9, 0), row], np.int32)  # those that draw nothing reach nothing
        with pytest.raises(tg.ValidationError) as caught:
            drawn(dev, lambda rp, vertices=vertices, rows=rows: rp.draw_indirect(pipeline, rows, vertices, indices=indices))
        assert str(caught.value) == str(direct.value)


def test_indirect_rows_that_reach_what_is_there(dev: tg.Device) -> None:
    pipeline = dev.pipeline(AT, RED, vertex=VERTEX, color=[F])
    more = np.concatenate([TRIANGLE, TRIANGLE])
    rows = np.int32([(3, 1, 3, 0, 0), (3, 1, 0, 3, 0), (3, 1, 3, 0, 0)])  # an index of the others may be anything
    indices = np.uint32([0, 1, 2, 3, 4, 5, 99])
    assert drawn(dev, lambda rp: rp.draw_indirect(pipeline, rows, more, indices=indices)) == RED_PIXEL


def test_indirect_rows_draw_the_instances_that_there_are(dev: tg.Device) -> None:
    """`rp.draw` takes their number from the data; a row may say more, which read zeros."""
    pipeline = dev.pipeline(SCALED, RED, vertex=VERTEX, instance=INSTANCE, color=[F])
    data = np.ones(3, INSTANCE)
    for count, first in ((3, 0), (1, 2), (0, 9)):
        drawn(dev, lambda rp, row=(3, count, 0, first): rp.draw_indirect(pipeline, np.uint32([row]), TRIANGLE, instances=data))
    for count, first in ((4, 0), (3, 1), (1, 3)):
        for given in (data, dev.buffer(data)):
            said = rf"indirect\[1\] draws {count} instances from {first} on; instances has data for 3"
            with pytest.raises(tg.ValidationError, match=said):
                rows = np.uint32([(3, 1, 0, 0), (3, count, 0, first)])
                drawn(dev, lambda rp, rows=rows, given=given: rp.draw_indirect(pipeline, rows, TRIANGLE, instances=given))


DEPTHS: dict[str, Callable[[tg.Device, float], Any]] = {
    "texture": lambda dev, v: dev.texture(np.full((4, 4), v, np.float32), "d32_sfloat"),
    "mipmaps": lambda dev, v: dev.texture(np.zeros((4, 4), np.float32), "d32_sfloat", mipmaps=[np.full((2, 2), v, np.float32)]),
    "layers": lambda dev, v: dev.texture(np.stack([np.zeros((4, 4, 1)), np.full((4, 4, 1), v)]).astype("f4"), "d32_sfloat"),
    "both aspects": lambda dev, v: dev.texture(np.full((4, 4), v, np.float32), "d32_sfloat_s8_uint"),
}


@pytest.mark.parametrize("way", list(DEPTHS))
@pytest.mark.parametrize("value", [2.0, -0.5, np.nan])
def test_depth_beyond_one_by_textures(way: str, value: float) -> None:
    """Writes and copies said so; `d32_sfloat_s8_uint` was a ValueError of the bindings."""
    with pytest.warns(tg.ExtensionWarning, match=r"is given as depth of image .*; depth is from 0 to 1"):
        DEPTHS[way](tg.Device(threads=1), value)
    with pytest.raises(tg.ValidationError, match="depth is from 0 to 1"):
        DEPTHS[way](tg.Device(threads=1, strict=True), value)
    DEPTHS[way](tg.Device(threads=1, strict=True), 1.0)


def test_depths_of_fixed_point_by_textures(dev: tg.Device) -> None:
    """A write refuses what a texture clamped."""
    for format_ in ("d16_unorm", "x8_d24_unorm_pack32", "d24_unorm_s8_uint"):
        with pytest.raises(tg.ValidationError, match=r"pixels are from .*; depth of \w+ is from 0 to 1"):
            dev.texture(np.full((4, 4), 1.2, np.float32), format_)
        assert dev.texture(np.full((4, 4), 255, np.uint8), format_).image.numpy(aspect="depth")[0, 0] == 1


NAMED = [("z", "u4"), ("y", "u4"), ("x", "u4")]
COUNTS = HEAD + "layout(local_size_x = 1) in; layout(binding = 0) buffer B { uvec3 n; }; void main() { n = gl_NumWorkGroups; }"


@pytest.mark.parametrize("names", ["zyx", ["group_count_y", "group_count_x", "group_count_z"], ["x", "z", "y"]])
def test_names_of_workgroups_are_in_order(dev: tg.Device, names: Any) -> None:
    """(z, y, x) was taken for (x, y, z); records of draws in another order were refused."""
    pipeline = dev.compute_pipeline(COUNTS)
    for pad in (0, 1):
        dtype = [("pad", "u4")] * pad + [(name, "u4") for name in names]
        buffer = dev.buffer(np.ones(2, dtype))
        with pytest.raises(tg.ValidationError, match=r"buffer 'buffer': word \d is '.*'; the order is x, y, z"):
            dev.dispatch_indirect(pipeline, buffer, offset=4 * pad, bind={"B": dev.buffer(12)})


def test_names_of_workgroups_that_are_right(dev: tg.Device) -> None:
    pipeline, result = dev.compute_pipeline(COUNTS), dev.buffer(12)
    for dtype, offset in (
        ([("x", "u4"), ("y", "u4"), ("z", "u4")], 0),
        ([("x", "u4"), ("y", "u4"), ("z", "u4")], 12),  # the second record
        ([("total", "u4"), ("x", "u4"), ("y", "u4"), ("z", "u4")], 4),
        ([("a", "u4"), ("b", "u4"), ("c", "u4")], 0),
        ([("groups", "u4", 3), ("z", "u4")], 0),
    ):
        buffer = dev.buffer(np.ones(2, dtype))
        dev.dispatch_indirect(pipeline, buffer, offset=offset, bind={"B": result})
        assert result.numpy(np.uint32).tolist() == [1, 1, 1]


def test_names_of_parameters_are_looked_at_where_they_are_read(dev: tg.Device) -> None:
    """A word before them made the first of them the second field, which was an error."""
    pipeline = dev.pipeline(FULL, RED, color=[F])
    names = ["vertex_count", "instance_count", "first_vertex", "first_instance"]
    right = dev.buffer(np.array([(7, 3, 1, 0, 0)], [(name, "u4") for name in ("total", *names)]))
    assert drawn(dev, lambda rp: rp.draw_indirect(pipeline, right, offset=4)) == RED_PIXEL
    wrong = dev.buffer(np.array([(7, 1, 3, 0, 0)], [(name, "u4") for name in ("total", names[1], names[0], *names[2:])]))
    with pytest.raises(tg.ValidationError, match="field 0 is 'instance_count'; the order is"):
        drawn(dev, lambda rp: rp.draw_indirect(pipeline, wrong, offset=4))


LISTS: dict[str, list[Any]] = {
    "color_blend_enable": [False, False],
    "color_blend_equation": ["alpha", "alpha"],
    "color_write_mask": ["rgba", "g"],
    "color_write_enable": [True, True],
    "color_blend_advanced": ["multiply", "screen"],
}


@pytest.mark.parametrize("name", list(LISTS))
def test_lists_of_attachments_that_there_are_not(dev: tg.Device, name: str) -> None:
    """dev.pipeline refuses two masks for one attachment; set took the first."""
    pipeline = dev.pipeline(FULL, RED, color=[F], dynamic=[name])

    def draw(value: Any) -> Callable[[Any], None]:
        def record(rp: Any) -> None:
            rp.set(**{name: value})
            rp.draw(pipeline, count=3)

        return record

    with pytest.raises(tg.ValidationError, match=rf"{name} has 2 entries; there is 1 colour attachment: give one value for all"):
        drawn(dev, draw(LISTS[name]))
    assert drawn(dev, draw(LISTS[name][:1])) == drawn(dev, draw(LISTS[name][0])) == RED_PIXEL


def test_patches_of_no_vertices(dev: tg.Device) -> None:
    """Was a ZeroDivisionError at the draw; dev.pipeline refuses it."""
    out = dev.image((4, 4), F)
    said = "set: patch_control_points is 0; a patch has 1 to 32 vertices"
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))) as rp, pytest.raises(tg.ValidationError, match=said):
        rp.set(patch_control_points=0)


def test_layers_that_there_are_not_of_a_resolve(dev: tg.Device) -> None:
    """How many there are from it on was -1, which the bindings did not take."""
    many, one = dev.image((4, 4), F, samples=4), dev.image((4, 4), F)
    dev.clear(many, (1, 1, 1, 1))
    for layer in (1, 2, np.float32(2)):
        with pytest.raises(tg.ValidationError, match=rf"resolve: source_layer is {int(layer)}; image '.*' has 1 layer"):
            dev.resolve(many, one, source_layer=layer)
