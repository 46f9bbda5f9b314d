"""What was counted, read or kept otherwise than it was given: faces as rows, copies of other numbers, rows of indirect draws, booleans,
sets of another pipeline, captured numbers, two values of one thing, what a frame or a picture loses."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.captured_outputs import captured
from tilegpu.scene import Draw, Frame, Output, Pass, Program, SceneRenderer, Target

COVER = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
POSITION = "#version 450\nlayout(location = 0) in vec3 position; void main() { gl_Position = vec4(position, 1); }"
FLOATS = "r32g32b32a32_sfloat"
TRIANGLE = [(-1, -1, 0), (3, -1, 0), (-1, 3, 0)]
Array = np.ndarray[Any, Any]


def frag(body: str, head: str = "") -> str:
    return f"#version 450\n{head}\nlayout(location = 0) out vec4 o;\nvoid main() {{ {body} }}"


WHITE = frag("o = vec4(1);")


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def said(call: Any, *arguments: Any, **named: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*arguments, **named)
    return [str(w.message) for w in found]


def drawn(dev: tg.Device, pipeline: tg.Pipeline, *arguments: Any, call: str = "draw", **named: Any) -> tuple[Array, tg.RenderPass]:
    out = dev.image((4, 4), FLOATS)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        getattr(rp, call)(pipeline, *arguments, **named)
    return out.numpy(), rp


# ------------------------------------------------------------------------------------------------------------- elements


def test_a_scene_counts_elements_of_any_shape(dev: tg.Device) -> None:
    cube, program = tg.shapes.cube(), Program(POSITION.replace("position, 1", "position * 0.9 + vec3(0, 0, 0.5), 1"), WHITE)
    vertices = np.zeros(len(cube.vertices), [("position", "f4", 3)])
    vertices["position"] = cube.vertices["position"]
    faces, corners = cube.indices.reshape(-1, 3), vertices[cube.indices]
    assert Draw(program, vertices, faces).element_count == cube.indices.size == Draw(program, corners.reshape(-1, 3)).element_count
    assert Draw(program, vertices, faces).triangle_count == len(faces) and Draw(program, vertices, faces, first=3).element_count == 33
    plain = np.zeros((5, 3), np.float32)  # without fields a row is a vertex
    assert Draw(program, plain).element_count == 5
    renderer = SceneRenderer(dev)
    draws = [Draw(program, vertices, i) for i in (cube.indices, faces)] + [Draw(program, v) for v in (corners, corners.reshape(-1, 3))]
    flat, *others = [renderer.render(Frame((16, 16), draws=(draw,))).images[0] for draw in draws]
    assert all(np.array_equal(flat, other) for other in others)
    assert not said(renderer.render, Frame((16, 16), draws=(Draw(program, vertices, faces[:1]),)))


def test_no_elements_are_no_error(dev: tg.Device) -> None:
    dtype = np.dtype([("position", "f4", 3)])
    pipeline = dev.pipeline(POSITION, WHITE, vertex=dtype, color=[FLOATS])
    three = np.array([(p,) for p in TRIANGLE], dtype)
    for vertices, named in ((three, {"indices": []}), (three, {"indices": np.zeros(0)}), ([], {}), (three[:0], {})):
        assert not drawn(dev, pipeline, vertices, **named)[0].any()
    for indirect in ([], np.zeros((0, 4), np.uint32)):
        assert not drawn(dev, pipeline, indirect, three, call="draw_indirect")[0].any()
    renderer, program = SceneRenderer(dev), Program(POSITION, WHITE)
    for draw in (Draw(program, three, np.zeros(0, np.uint32)), Draw(program, three[:0])):
        renderer.render(Frame((4, 4), draws=(draw,)))


# ------------------------------------------------------------------------------------------------------------- copies


def test_copies_of_arrays_are_writes(dev: tg.Device) -> None:
    def copied(given: Any, **named: Any) -> list[float]:
        buffer = dev.buffer(np.zeros(4, np.float32), label="floats")
        dev.copy(given, buffer, **named)
        return buffer.numpy().tolist()

    assert copied([1, 2, 3, 4]) == [1, 2, 3, 4] and copied(np.arange(4, dtype=np.float32)) == [0, 1, 2, 3]
    assert copied(np.ones(2, np.float32), destination_offset=8) == [0, 0, 1, 1]
    assert copied(np.array([1.0], np.float32).tobytes()) == [1, 0, 0, 0]  # bytes are bits
    eight = np.arange(8, dtype=np.float32)
    assert copied(eight, size=16) == [0, 1, 2, 3] and copied(eight, source_offset=16) == [4, 5, 6, 7]
    for wrong, text in (
        (np.arange(4.0), "buffer 'floats': copy of float64; the buffer was made from float32"),
        (np.arange(4), "copy of int64"),
        (eight, "the source has 32 bytes, and buffer 'floats' has room for 16; give size"),
        (5, "copy: source is 5; it must be a buffer, an array or bytes"),
    ):
        with pytest.raises(tg.ValidationError, match=text):
            copied(wrong)
    ints = dev.buffer(np.zeros(4, np.int32))
    dev.copy(dev.buffer(np.ones(4, np.float32)), ints)  # from buffer to buffer bits are meant
    assert ints.numpy()[0] == 0x3F800000
    part = dev.buffer(np.zeros(4, np.float32), label="floats")
    with pytest.raises(tg.ValidationError, match="room for 8"):
        dev.copy(np.ones(4, np.float32), part.slice(8))


# ------------------------------------------------------------------------------------------------------------- indirect

ROWS = np.array([[3, 1, 0, 0]] * 4, np.uint32)
FIVE = np.array([[3, 1, 0, 0, 0]] * 4, np.uint32)
INDEXED = np.dtype([(n, "i4" if n == "vertex_offset" else "u4") for n in (
    "index_count", "instance_count", "first_index", "vertex_offset", "first_instance")])  # fmt: skip


def test_rows_of_indirect_draws(dev: tg.Device) -> None:
    pipeline = dev.pipeline(COVER, WHITE, color=[FLOATS])

    def draws(indirect: Any, **named: Any) -> int:
        return drawn(dev, pipeline, indirect, call="draw_indirect", **named)[1].stats.draws

    eight, three = ROWS.reshape(2, 8), [0, 1, 2]
    assert draws(ROWS) == 4 and draws(ROWS, stride=32) == 2 and draws(ROWS, offset=16) == 3 and draws(ROWS, offset=16, stride=32) == 2
    for array in (ROWS, eight, ROWS.reshape(-1), ROWS.reshape(-1, 1), ROWS.view(np.uint8)):
        assert draws(dev.buffer(array)) == 4
    assert draws(dev.buffer(FIVE), stride=20) == 4 and draws(dev.buffer(FIVE), draw_count=1) == 1 and draws(dev.buffer(FIVE[:1])) == 1
    assert draws(dev.buffer(FIVE), indices=three) == 4
    record = np.zeros(3, INDEXED)
    record["index_count"], record["instance_count"] = 3, 1
    assert draws(dev.buffer(record), indices=three) == 3
    for call, text in (
        (lambda: draws(ROWS, stride=32, draw_count=3), "draw_count is 3; indirect has 2 rows from byte 0 on, 32 bytes apart"),
        (lambda: draws(dev.buffer(FIVE)), "rows of 20 bytes, and a draw takes 16 .*give rows of 4 numbers, or stride=20"),
        (lambda: draws(dev.buffer(ROWS), indices=three), "rows of 16 bytes, and a draw takes 20 .*without indices a draw takes 16"),
        (lambda: draws(dev.buffer(record[:1])), "field 3 is 'vertex_offset', which draws with indices= have"),
        (lambda: draws(ROWS, instances=5), "instances is 5; how many there are is in indirect"),
    ):
        with pytest.raises(tg.ValidationError, match=text):
            call()


def test_rows_may_be_bytes_records_and_whole_floats(dev: tg.Device) -> None:
    pipeline = dev.pipeline(POSITION, WHITE, vertex=np.dtype([("position", "f4", 3)]), color=[FLOATS])
    corners = np.array([(9, 9, 9), *TRIANGLE], "f4").view([("position", "f4", 3)])[:, 0]  # only from the second on it is seen
    four = np.array([1, 1, 2, 3], np.uint32)

    def seen(rows: Any, **named: Any) -> bool:
        pixels, rp = drawn(dev, pipeline, rows, corners, indices=four, call="draw_indirect", **named)
        assert rp.stats.draws == 2
        return bool(pixels.min() == 1)

    right = np.array([[3, 1, 1, -1, 0]] * 2, np.int32)
    record = np.zeros(2, [(n, "f4" if n == "vertex_offset" else "u4") for n in INDEXED.names or ()])
    record[:] = [(3, 1, 1, 0, 0)] * 2
    assert seen(np.where(right < 0, 0, right)) and not seen(right)
    for rows in (record, record.view(np.uint8).reshape(2, 20) * 0 + np.array([[3, 1, 1, 0, 0]] * 2, "<u4").view(np.uint8)):
        assert seen(rows)
    assert seen(np.array([[3, 1, 1, 0, 0]] * 2, "<u4").tobytes()) and seen([[3, 1, 1, 0.0, 0]] * 2)
    assert not seen(right.astype("<i4").view(np.uint8).reshape(-1))  # the sign of the offset is kept
    for wrong, text in (
        ([[3, 1, 1, 0.5, 0]] * 2, "indirect has 0.5; parameters of draws are whole numbers"),
        ([[3, 1, np.nan, 0, 0]], "indirect has nan; parameters"),
        ([[3, 1, 1e20, 0, 0]], r"indirect\[0\] has \d+ as first index; it must be 0 to 4294967295"),
        (np.zeros(2, [*record.dtype.descr, ("radius", "f4")]), "has records of .*; a draw takes 5 whole numbers .*give these alone"),
        (record[[INDEXED.names[1], INDEXED.names[0], *INDEXED.names[2:]]], "field 0 is 'instance_count'; the order"),  # type: ignore[index]
    ):
        with pytest.raises(tg.ValidationError, match=text):
            seen(wrong)


def test_what_a_draw_does_not_read_of_a_record_may_be_anything(dev: tg.Device) -> None:
    pipeline = dev.pipeline(COVER, WHITE, color=[FLOATS])
    own = [(n, "u4") for n in ("vertex_count", "instance_count", "first_vertex", "first_instance")]
    with_radius = np.zeros(3, [*own, ("radius", "f4")])
    with_radius["vertex_count"], with_radius["instance_count"] = 3, 1

    def draws(indirect: Any, **named: Any) -> int:
        return drawn(dev, pipeline, indirect, call="draw_indirect", **named)[1].stats.draws

    assert draws(dev.buffer(with_radius), stride=20) == 3 and draws(dev.buffer(with_radius), stride=20, offset=20) == 2
    assert draws(dev.buffer(with_radius), draw_count=1) == 1
    for stride, offset in ((20, 4), (16, 0), (24, 0)):  # here the radius is read
        with pytest.raises(tg.ValidationError, match="was made from float32; make it from uint32"):
            draws(dev.buffer(with_radius), stride=stride, offset=offset, draw_count=2)
    assert draws(dev.buffer(np.frombuffer(ROWS.tobytes(), np.uint8).reshape(-1, 2))) == 4  # bytes may lie in any rows
    groups = dev.buffer(np.array([(0.5, (1, 1, 1))], [("size", "f4"), ("groups", "u4", 3)]))
    kernel, count = dev.compute_pipeline("#version 450\nlayout(binding = 0) buffer B { uint n; }; void main() { n = 1; }"), dev.buffer([0])
    dev.dispatch_indirect(kernel, groups, offset=4, bind={"B": count})
    assert count.numpy().tolist() == [1]
    with pytest.raises(tg.ValidationError, match="was made from float32"):
        dev.dispatch_indirect(kernel, groups, bind={"B": count})


# ------------------------------------------------------------------------------------------------------------- booleans


@pytest.mark.parametrize(
    ("kind", "field", "value", "given", "expected"),
    [
        ("float", ("?",), True, None, (1, 1, 1, 1)),
        ("vec4", ("?", 4), (1, 0, 0, 1), None, (1, 0, 0, 1)),
        ("uint", ("?",), True, None, (1, 1, 1, 1)),
        ("vec4", ("u1", 4), (255, 0, 0, 255), None, (1, 0, 0, 1)),
        ("vec4", ("u1", 4), (1, 0, 0, 1), ("?", 4), (1, 0, 0, 1)),  # converted to the pipeline's
        ("uint", ("u1",), 1, ("?",), (1, 1, 1, 1)),
    ],
)
@pytest.mark.filterwarnings("ignore::tilegpu.ExtensionWarning")
def test_booleans_of_vertices_are_one(dev: tg.Device, kind: str, field: Any, value: Any, given: Any, expected: Any) -> None:
    vert = f"""#version 450
layout(location = 0) in vec3 position; layout(location = 1) in {kind} v; layout(location = 0) flat out vec4 q;
void main() {{ gl_Position = vec4(position, 1); q = vec4(v); }}"""
    dtype = np.dtype([("position", "f4", 3), ("v", *field)])
    pipeline = dev.pipeline(vert, frag("o = q;", "layout(location = 0) flat in vec4 q;"), vertex=dtype, color=[FLOATS])
    vertices = np.zeros(3, dtype if given is None else [("position", "f4", 3), ("v", *given)])
    vertices["position"], vertices["v"] = TRIANGLE, value
    assert drawn(dev, pipeline, vertices)[0][0, 0].tolist() == list(expected)


def test_booleans_of_pixels_are_one(dev: tg.Device) -> None:
    ones = np.ones((2, 2), bool)
    for format_, one in (
        (None, 255), ("r8_unorm", 255), ("r16_unorm", 65535), ("r8_srgb", 255), ("r32_sfloat", 1), ("r8_uint", 1), ("r32_uint", 1),
        ("r16_sint", 1),
    ):  # fmt: skip
        assert (dev.texture(ones, format_).image.numpy() == one).all(), format_
    stencil = dev.image((2, 2), "s8_uint")
    stencil.write(ones)
    assert (stencil.numpy() == 1).all()


# ------------------------------------------------------------------------------------------------------------- bindings

READS = "layout(set = 0, binding = 0) readonly buffer U { float x[]; };"


def test_sets_fit_the_pipeline_that_draws_with_them(dev: tg.Device) -> None:
    of_ints = dev.pipeline(COVER, frag("o = vec4(x[0]);", READS.replace("float", "int")), color=[FLOATS])
    of_floats = dev.pipeline(COVER, frag("o = vec4(x[0]);", READS), color=[FLOATS])
    buffer = dev.buffer(np.ones(4, np.int32), label="ints")
    own = dev.descriptor_set(of_ints, bind={"U": buffer}, label="own")
    assert drawn(dev, of_ints, count=3, sets={0: own})[0].all()
    layout = dev.descriptor_set_layout({0: "storage_buffer"})
    shared = dev.pipeline(COVER, frag("o = vec4(x[0]);", READS), color=[FLOATS], set_layouts={0: layout})
    for pipeline, given in ((of_floats, own), (shared, dev.descriptor_set(layout, bind={0: buffer}))):
        with pytest.raises(tg.ValidationError, match=r"set 0, '.*': 'U' .*buffer 'ints' was made from int32, the block has float"):
            drawn(dev, pipeline, count=3, sets={0: given})
    raw = dev.buffer(np.ones(4, np.float32).tobytes())
    assert drawn(dev, shared, count=3, sets={0: dev.descriptor_set(layout, bind={0: raw})})[0].all()
    with pytest.raises(tg.ValidationError, match=r"'U' .*is bound twice, as 'U' and 0"):
        dev.descriptor_set(of_ints, bind={"U": buffer, 0: raw})
    dev.descriptor_set(of_ints, bind={"U": buffer, 0: buffer})


def test_one_constant_has_one_value(dev: tg.Device) -> None:
    shader = frag("o = vec4(N);", "layout(constant_id = 3) const int N = 1;")
    with pytest.raises(tg.ValidationError, match="two values of one constant, as 'N' and 3"):
        dev.pipeline(COVER, shader, color=[FLOATS], constants={"N": 5, 3: 6})
    for constants in ({"N": 5}, {3: 5}, {"N": 5, 3: 5}):
        assert (drawn(dev, dev.pipeline(COVER, shader, color=[FLOATS], constants=constants), count=3)[0] == 5).all()


def test_captured_numbers_are_the_buffers_own(dev: tg.Device) -> None:
    head, end = "#version 450\n", COVER.split("{", 1)[1]
    plain = f"{head}layout(xfb_buffer = 0, xfb_stride = 16, xfb_offset = 0, location = 0) out vec4 q; void main() {{ q = vec4(2); {end}"
    block = f"""{head}layout(xfb_buffer = 1, xfb_stride = 32, location = 0) out B {{
    layout(xfb_offset = 0) flat ivec4 q; layout(xfb_offset = 16) vec2 z; float left_out; }};
layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out gl_PerVertex {{ vec4 gl_Position; }};
void main() {{ q = ivec4(1); z = vec2(2); left_out = 1; {end}"""

    def capture(vert: str, *kinds: str) -> list[Array]:
        pipeline = dev.pipeline(vert, WHITE, color=[FLOATS])
        buffers = [dev.buffer(256, label=k) if k == "size" else dev.buffer(np.zeros(64, k), label=k) for k in kinds]
        with dev.render_pass(color=[tg.Attachment(dev.image((4, 4), FLOATS), clear=(0, 0, 0, 0))]) as rp:
            with rp.transform_feedback(buffers):
                rp.draw(pipeline, count=3)
            rp.draw(dev.pipeline(plain, WHITE, color=[FLOATS]), count=3)  # after it
        return [b.numpy() for b in buffers]

    assert (capture(plain, "f4")[0][:12] == 2).all()
    capture(plain, "size")
    assert capture(block, "f4", "i4")[1][0] == 1
    capture(block, "f4", "f4")  # some of them are
    for vert, kinds, text in (
        (plain, ("i4",), "transform feedback: buffer 'i4' was made from int32, captured are float32"),
        (plain, ("f8",), "made from float64"),
        (block, ("u4", "f4"), "'u4' was made from uint32, captured are float32"),
        (block, ("f4", "f8"), "'f8' was made from float64, captured are"),
    ):
        with pytest.raises(tg.ValidationError, match=text):
            capture(vert, *kinds)
    assert captured(dev.pipeline(COVER, WHITE, color=[FLOATS]).stages["vertex"].spirv) == {}


@pytest.mark.parametrize(
    ("kind", "aspect", "text"),
    [
        ("sampler2D", "depth", ""),
        ("usampler2D", "stencil", ""),
        ("sampler2D", "stencil", r"reads float, and the stencil aspect of the image is integers \(uint\); declare usampler2D"),
        ("usampler2D", "depth", "reads uint, and the depth aspect of the image is floats; declare sampler2D"),
    ],
)
def test_aspects_are_what_shaders_read(dev: tg.Device, kind: str, aspect: str, text: str) -> None:
    image = dev.image((2, 2), "d32_sfloat_s8_uint")
    image.write(np.full((2, 2), 0.5, np.float32), aspect="depth")
    image.write(np.ones((2, 2), np.uint8), aspect="stencil")
    shader = frag("o = vec4(texture(t, vec2(0.5)));", f"layout(binding = 0) uniform {kind} t;")
    bind = {"t": (image.view(aspect=aspect), dev.sampler(filter="nearest"))}
    pipeline = dev.pipeline(COVER, shader, color=[FLOATS])
    if not text:
        assert drawn(dev, pipeline, count=3, bind=bind)[0][0, 0, 0] == (0.5 if aspect == "depth" else 1)
        return
    with pytest.raises(tg.ValidationError, match=text):
        drawn(dev, pipeline, count=3, bind=bind)


# ------------------------------------------------------------------------------------------------------------- arguments


def test_arguments_of_wrong_kinds_are_named(dev: tg.Device) -> None:
    pipeline = dev.pipeline(COVER, WHITE, color=[FLOATS])
    for arguments, named, text in (
        ((), {"count": 3, "instances": 2.0}, "instances is 2.0; it must be a whole number"),
        ((), {"count": 3, "instances": [1, 2]}, "instances is data, but"),
        ((3,), {}, "vertices is 3; a number of them is count="),
    ):
        with pytest.raises(tg.ValidationError, match=text):
            drawn(dev, pipeline, *arguments, **named)
    with pytest.raises(ValueError, match="jit_target is 'sse'; allowed are"):
        tg.Device(jit_target="sse")
    with pytest.raises(ValueError, match="at most 1048576 are allowed"):
        dev.descriptor_set_layout({0: ("sampled_image", 10**7)})



# ------------------------------------------------------------------------------------------------------------- frames


def test_what_a_frame_has_no_place_for(dev: tg.Device) -> None:
    renderer, draw = SceneRenderer(dev), Draw(Program(COVER, WHITE), count=3)
    color, depth = Output(Target()), Target("d32_sfloat")

    def warned(**named: Any) -> str:
        return " ".join(said(renderer.render, Frame((4, 4), draws=(draw,), **named)))

    two, black = ("r8g8b8a8_unorm",) * 2, (0.0, 0.0, 0.0, 1.0)
    assert "clear_colors has 2, and color_formats 1" in warned(clear_colors=(black, black))
    with pytest.raises(tg.ValidationError, match="clear_colors has 2, and color_formats 3"):
        warned(color_formats=two[:1] * 3, clear_colors=(black, black))
    assert "store_depth has no effect without" in warned(store_depth=True, depth_format=None)
    assert "no draw writes color 1" in warned(color_formats=two)
    red = Pass((color,), Output(depth, clear=(1.0, 0.0, 0.0, 1.0)), (draw,))
    assert "clear of depth is (1.0, 0.0, 0.0, 1.0), and it is cleared to 1" in warned(passes=(red,))
    for quiet in (Output(depth), Output(depth, clear=0.5), Output(depth, clear=(1.0, 1.0, 1.0, 1.0))):
        assert not warned(passes=(Pass((color,), quiet, (draw,)),), store_depth=True)
    assert not said(renderer.render, Frame((4, 4), draws=(Draw(Program(COVER, "#version 450\nvoid main() {}"), count=3),)))
    second = Program(COVER, "#version 450\nlayout(location = 1) out vec4 o; void main() { o = vec4(1); }")
    assert not said(renderer.render, Frame((4, 4), color_formats=two, draws=(draw, Draw(second, count=3))))


def test_what_a_frame_writes_and_nobody_reads(dev: tg.Device) -> None:
    renderer, store = SceneRenderer(dev), "layout(binding = 0) buffer U { float x[]; };"
    writes, reads = frag("o = vec4(1); x[0] = 1.0;", store), frag("o = vec4(x[0]);", store)
    both, atomic = frag("o = vec4(x[0]); x[0] = 2.0;", store), frag("o = vec4(atomicAdd(x[0], 1u));", store.replace("float", "uint"))
    data = np.zeros(4, np.float32)

    def warned(*shaders: str, given: Any = data) -> list[str]:
        draws = tuple(Draw(Program(COVER, shader), count=3, bind={"U": given}) for shader in shaders)
        return said(renderer.render, Frame((4, 4), draws=draws))

    for lost in ((writes,), (writes, writes)):
        (found,) = warned(*lost)
        assert "the shaders write 'U' (set 0, binding 0)" in found and "the result is lost" in found
    assert not warned(writes, reads) and not warned(reads) and not warned(both) and not warned(atomic, given=np.zeros(4, np.uint32))


# ------------------------------------------------------------------------------------------------------------- pictures


def test_pictures_that_eight_bits_lose(dev: tg.Device, tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).random((8, 8, 4)).astype(np.float32)
    pixels[..., 3] = 1

    def saved(change: Any = None, suffix: str = ".png") -> str:
        array = pixels.copy()
        if change is not None:
            change(array)
        image = dev.image((8, 8), FLOATS)
        image.write(array)
        return " ".join(said(image.save, tmp_path / f"a{suffix}"))

    def spot(array: Array) -> None:
        array[...] = 0
        array[2:4, 2:4] = 200

    assert "pixels are up to 200, and .png holds 0 to 1: 6.2 % of the values are above 1, and become 1; divide pixels of 255" in saved(spot)
    assert "of the values are above 1, and become 1" in saved(lambda a: a.__imul__(255), ".jpg")
    assert "1 pixel is NaN, which .png holds as 0" in saved(lambda a: a[1, 1].fill(np.nan))
    assert not saved(spot, ".npy")
    for ordinary in (None, lambda a: a[:3].fill(20), lambda a: a[0, 0].fill(np.inf), lambda a: a.fill(0), lambda a: a[..., 3].fill(9)):
        assert not saved(ordinary)


def test_whose_folder_a_cache_may_lie_in(tmp_path: Path) -> None:
    """What docs/install.md says: ``objects`` is the user's own; the folder around it may be anyone's where only owners rename (/tmp)."""
    tmp_path.chmod(0o777)
    objects = tmp_path / "objects"
    (found,) = said(tg.Device, threads=1, cache_dir=tmp_path)
    assert "which anybody may write to; chmod o-w it" in found
    tmp_path.chmod(0o1777)
    assert not said(tg.Device, threads=1, cache_dir=tmp_path) and objects.stat().st_mode & 0o77 == 0
    objects.chmod(0o777)
    (found,) = said(tg.Device, threads=1, cache_dir=tmp_path)
    assert str(objects) in found
