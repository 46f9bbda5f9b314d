"""Arrays that would reach shaders other than they are meant, and options that nothing looks at: errors, or warnings, with the fix."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import farm
from tilegpu.testing import assert_image_equal

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
COLOR = "r32g32b32a32_sfloat"
PLACE = tg.math.translate(1, 2, 3)
GENERAL = np.arange(16, dtype="f4").reshape(4, 4)
FIELD = np.dtype([("t", "f4", (4, 4))])
MAT4, NEST = "uniform U { mat4 t; }", "uniform U { vec4 pad[4]; mat4 t; }"
LIST = "readonly buffer U { mat4 t[]; }"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def drawn(dev: tg.Device, pipe: Any, *vertices: Any, **arguments: Any) -> Any:
    out = dev.image((4, 4), COLOR)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, *vertices, **arguments)
    return rp, out.numpy()[0, 0].tolist()


def block(dev: tg.Device, declared: str, value: str = "t * vec4(0, 0, 0, 1)") -> Any:
    frag = f"#version 450\nlayout(binding = 0) {declared};\nlayout(location = 0) out vec4 o; void main() {{ o = {value}; }}"
    return dev.pipeline(COVER, frag, color=[COLOR])


def written(buffer: Any, array: Any, offset: int = 0) -> Any:
    buffer.write(array, offset)
    return buffer


@pytest.mark.parametrize("matrix", [PLACE, GENERAL], ids=["place", "general"])
def test_matrices_of_plain_arrays_in_buffers(dev: tg.Device, matrix: Any) -> None:
    fields = np.zeros(2, FIELD)
    fields["t"] = matrix
    columns = np.ascontiguousarray(matrix.T)
    want = matrix[:, 3].tolist()
    one, second, listed = block(dev, MAT4), block(dev, NEST), block(dev, LIST, "t[1] * vec4(0, 0, 0, 1)")
    for given in (matrix, {"t": matrix}, dev.buffer(fields), fields[:1], fields[0], written(dev.buffer(fields), fields)):
        assert drawn(dev, one, count=3, bind={"U": given})[1] == want
    for given in (dev.buffer(matrix.T), dev.buffer(columns.view("u1")), written(dev.buffer(64), columns.tobytes())):
        assert drawn(dev, one, count=3, bind={"U": given})[1] == want
    two = np.stack([matrix] * 2)
    for pipe, given in (
        (one, dev.buffer(matrix)), (one, written(dev.buffer(64), matrix)), (one, dev.buffer(two).slice(64, 64)),
        (second, written(dev.buffer(128), matrix, 64)), (listed, dev.buffer(two)),
        (listed, written(dev.buffer(two.view("u1")), matrix, 64)),
    ):  # fmt: skip
        with pytest.raises(tg.ValidationError, match=r"read as mat4.* 't', holds an array of shape \(\.\.\., 4, 4\), row by row"):
            drawn(dev, pipe, count=3, bind={"U": given})
    # Where no matrix begins, rows are vectors; what is written over is forgotten; other shapes are other things.
    drawn(dev, second, count=3, bind={"U": written(dev.buffer(128), matrix)})
    drawn(dev, one, count=3, bind={"U": written(dev.buffer(matrix), columns.tobytes())})
    drawn(dev, one, count=3, bind={"U": dev.buffer(matrix.reshape(-1))})
    drawn(dev, one, count=3, bind={"U": dev.buffer(np.zeros((4, 4), "f4"))})


def test_shaders_that_declare_rows_take_rows(dev: tg.Device) -> None:
    pipe = block(dev, "uniform U { layout(row_major) mat4 t; }")
    assert drawn(dev, pipe, count=3, bind={"U": dev.buffer(PLACE)})[1] == [1, 2, 3, 1]
    with pytest.raises(tg.ValidationError, match="row by row"):  # padded: neither way lies right
        drawn(dev, block(dev, "uniform U { mat3 t; }", "vec4(t[0], 1)"), count=3, bind={"U": dev.buffer(np.ones((2, 3, 3), "f4"))})


def test_two_matrices_of_a_block_as_one_array(dev: tg.Device) -> None:
    pipe = block(dev, "uniform U { mat4 a; mat4 b; }", "b * vec4(0, 0, 0, 1)")
    with pytest.raises(tg.ValidationError, match="row by row"):
        drawn(dev, pipe, count=3, bind={"U": np.stack([PLACE] * 2)})


def test_matrices_of_instances(dev: tg.Device) -> None:
    vert = """#version 450
layout(location = 0) in mat4 t; layout(location = 0) flat out vec4 v;
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1);
  v = t * vec4(0, 0, 0, 1); }"""
    frag = "#version 450\nlayout(location = 0) flat in vec4 v; layout(location = 0) out vec4 o; void main() { o = v; }"
    many = np.stack([PLACE] * 2)
    fields = np.zeros(2, FIELD)
    fields["t"] = PLACE
    for instance in (FIELD, np.dtype(("f4", (4, 4)))):
        pipe = dev.pipeline(vert, frag, instance=instance, color=[COLOR])
        assert drawn(dev, pipe, count=3, instances=many)[1] == [1, 2, 3, 1]
        with pytest.raises(tg.ValidationError, match=r"instances: buffer 'buffer' holds an array of shape .* row by row"):
            drawn(dev, pipe, count=3, instances=dev.buffer(many))
    pipe = dev.pipeline(vert, frag, instance=FIELD, color=[COLOR])
    assert drawn(dev, pipe, count=3, instances=dev.buffer(fields))[1] == [1, 2, 3, 1]


TWO = """#version 450
layout(location = 0) in vec2 p; layout(location = 1) in vec2 c; void main() { gl_Position = vec4(p + 0 * c, 0, 1); }"""
PAIR = np.dtype(("f4", 2))


def test_vertex_arrays_of_different_lengths(dev: tg.Device) -> None:
    pipe = dev.pipeline(TWO, WHITE, vertex=[PAIR, PAIR], color=[COLOR])
    long, short = np.zeros((300, 2), "f4"), np.zeros((3, 2), "f4")
    with pytest.raises(tg.ValidationError, match=r"vertices\[0\] has 300 elements, vertices\[1\] has 3; .* count="):
        drawn(dev, pipe, [long, short])
    with pytest.warns(tg.LostPrimitivesWarning, match=r"vertices\[1\] has 300 elements, vertices\[0\] has 3"):
        drawn(dev, pipe, [short, dev.buffer(long)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert drawn(dev, pipe, [long, short], count=3)[0].stats.primitives_in == 1
        drawn(dev, pipe, [long, short], indices=[0, 1, 2])
        drawn(dev, pipe, [long, dev.buffer(long)])
    pipe = dev.pipeline(TWO, WHITE, instance=[PAIR, PAIR], color=[COLOR])
    with pytest.raises(tg.ValidationError, match=r"instances\[0\] has 300 elements, instances\[1\] has 3; .* slices"):
        drawn(dev, pipe, count=3, instances=[long, short])


def test_a_list_for_one_binding(dev: tg.Device) -> None:
    one = "#version 450\nlayout(location = 0) in vec2 p; void main() { gl_Position = vec4(p, 0, 1); }"
    dtype = np.dtype([("p", "f4", 2)])
    for vertex, array in ((dtype, np.zeros(3, dtype)), (PAIR, np.zeros((3, 2), "f4"))):
        pipe = dev.pipeline(one, WHITE, vertex=vertex, color=[COLOR])
        with pytest.raises(tg.ValidationError, match=r"2 vertex array\(s\); the pipeline has 1"):
            drawn(dev, pipe, [array, array])
        assert drawn(dev, pipe, [array])[0].stats.primitives_in == 1
    assert drawn(dev, pipe, [(0, 0), (1, 0), (0, 1)])[0].stats.primitives_in == 1
    with pytest.raises(tg.ValidationError, match=r"vertex=float32 is one number .* 'p' is vec2; give np.dtype\(\('f4', 2\)\)"):
        dev.pipeline(one, WHITE, vertex=np.zeros(6, "f4").dtype, color=[COLOR])


def test_a_frame_within_an_open_pass(dev: tg.Device) -> None:
    with dev.render_pass(color=tg.Attachment(dev.image((4, 4), COLOR), clear=(0, 0, 0, 0)), label="shadow"):
        with pytest.raises(tg.ValidationError, match="frame 'f': pass 'shadow' is open"), dev.frame("f"):
            pass
        with tg.Device(threads=1).frame("of another device"):
            pass


def test_conditions_and_views_of_other_numbers(dev: tg.Device) -> None:
    with (
        dev.render_pass(color=tg.Attachment(dev.image((4, 4), COLOR), clear=(0, 0, 0, 0))) as rp,
        pytest.raises(tg.ValidationError, match="made from float32; make it from uint32"),
    ):
        rp.conditional(dev.buffer(np.ones(1, "f4")))
    buffer = dev.buffer(np.arange(3, dtype="f4"))
    with pytest.raises(tg.ValidationError, match=r"12 bytes are no whole number of these, 4 are left over"):
        buffer.numpy(np.float64)
    assert len(buffer.numpy(np.uint16)) == 6


def test_options_that_nothing_looks_at(dev: tg.Device) -> None:
    image = dev.image((4, 4), COLOR)
    dev.clear(image, (0, 0, 0, 0))
    for call, text in (
        (lambda: dev.pipeline(COVER, WHITE, color=[COLOR], depth_bias=(1, 2)), "depth_bias has no effect without a depth"),
        (lambda: dev.pipeline(COVER, WHITE, color=[COLOR], blend_constants=(1, 1, 1, 1)), "blend_constants has no effect without"),
        (lambda: dev.sampler(border_color="float_opaque_white"), "border_color has no effect with address='repeat'"),
        (lambda: dev.generate_mipmaps(image), "generate_mipmaps has no effect: .* mip_levels=None"),
    ):
        with pytest.warns(tg.UnusedNameWarning, match=text):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dev.pipeline(COVER, WHITE, color=[COLOR], depth="d32_sfloat", depth_bias=(1, 2))
        dev.pipeline(COVER, WHITE, color=[COLOR], blend={"src_color": "constant_color"}, blend_constants=(1, 1, 1, 1))
        dev.sampler(border_color="float_opaque_white", address=("repeat", "clamp_to_border"))
        dev.generate_mipmaps(dev.texture(np.zeros((1, 1, 4), np.uint8), "r8g8b8a8_unorm").image)


def run(dev: tg.Device, declared: str, body: str, buffer: Any) -> Any:
    head = f"#version 450\nlayout(local_size_x = 4) in; layout(binding = 0) {declared};\n"
    code = head + f"void main() {{ uint i = gl_LocalInvocationIndex; {body} }}"
    dev.dispatch(dev.compute_pipeline(code), 1, bind={"X": buffer})
    return buffer.numpy()


def test_numbers_that_fit_though_they_are_called_otherwise(dev: tg.Device) -> None:
    start = np.arange(4) + 1j
    for dtype, vector in (("c8", "vec2"), ("c16", "dvec2")):
        got = run(dev, f"buffer X {{ {vector} x[]; }}", "x[i] = x[i].yx;", dev.buffer(start.astype(dtype)))
        assert got.tolist() == (1 + 1j * np.arange(4)).tolist()
    with pytest.raises(tg.ValidationError, match="made from complex64"):
        run(dev, "buffer X { uvec2 x[]; }", "x[i] = x[i].yx;", dev.buffer(start.astype("c8")))
    halves = run(dev, "buffer X { uint x[]; }", "x[i] = packHalf2x16(unpackHalf2x16(x[i]) * 2);", dev.buffer(np.ones(8, "f2")))
    assert halves.tolist() == [2] * 8
    arena = dev.buffer(np.zeros(16, np.uint8))
    arena.write(np.arange(4, dtype="f4"))
    assert arena.numpy("f4").tolist() == [0, 1, 2, 3]


def test_arguments_of_other_kinds(tmp_path: Any) -> None:
    with pytest.raises(farm.FarmError, match=r"job is 'triangle'; it must be a tilegpu.farm.Job"):
        farm.render("triangle", tmp_path / "a.png")  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=r"own_keys is \['w'\]; it must be text"):
        tg.show(lambda: None, own_keys=["w"])
    picture = np.zeros((4, 4, 4), np.uint8)
    with pytest.raises(TypeError, match="assert_image_equal: tolerance is '2'; it must be a number"):
        assert_image_equal(picture, tmp_path / "a.png", tolerance="2")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="assert_image_equal: name is 3"):
        assert_image_equal(picture, 3)  # type: ignore[arg-type]
