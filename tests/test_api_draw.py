"""Passes and draws from Python: small pictures whose pixels are known, and every message about wrong arguments."""

# ruff: noqa: E501, SIM117, RUF043
from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

VERT = """#version 450
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = vec4(position, 0.5, 1.0); v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; }"""
# A rectangle over everything, without vertex data.
FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
DTYPE = np.dtype([("position", "f4", 2), ("color", "f4", 4)])
RED, GREEN, BLUE = (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)


def quad(color: Any = RED, x0: float = -1, y0: float = -1, x1: float = 1, y1: float = 1) -> np.ndarray:
    """Six vertices."""
    corners = [(x0, y0), (x1, y0), (x0, y1), (x0, y1), (x1, y0), (x1, y1)]
    return np.array([(c, color) for c in corners], DTYPE)


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


@pytest.fixture(scope="module")
def pipe(dev: tg.Device) -> tg.Pipeline:
    return dev.pipeline(VERT, FRAG, vertex=DTYPE, color=["r8g8b8a8_unorm"], label="plain")


@pytest.fixture
def out(dev: tg.Device) -> tg.Image:
    return dev.image((8, 8), "r8g8b8a8_unorm", label="out")


def fragment(body: str, declarations: str = "") -> str:
    return f"#version 450\n{declarations}\nlayout(location = 0) out vec4 o_color;\nvoid main() {{ {body} }}"


def solid(dev: tg.Device, frag: str, draw: dict[str, Any] | None = None, **state: Any) -> np.ndarray:
    """The first pixel after one rectangle over a black image."""
    out = dev.image((8, 8), "r8g8b8a8_unorm", label="out")
    pipe = dev.pipeline(FULL, frag, color=[out.format], label="solid", **state)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, **(draw or {}))
    array = out.numpy()
    assert (array == array[0, 0]).all()
    return array[0, 0]


# -- passes


def test_clear_only(dev: tg.Device, out: tg.Image) -> None:
    with dev.render_pass(color=[tg.Attachment(out, clear=(0.2, 0.4, 0.6, 1))]):
        pass
    assert (out.numpy() == [51, 102, 153, 255]).all()


def test_images_are_attachments_that_load_and_store(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    dev.clear(out, BLUE)
    with dev.render_pass(color=[out]) as rp:
        rp.draw(pipe, quad(RED, x1=0))
    array = out.numpy()
    assert (array[:, :4] == [255, 0, 0, 255]).all()
    assert (array[:, 4:] == [0, 0, 255, 255]).all()


def test_area_limits_what_changes(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    dev.clear(out, BLUE)
    with dev.render_pass(color=[tg.Attachment(out, clear=GREEN)], area=(2, 1, 4, 3)) as rp:
        rp.draw(pipe, quad(RED, y1=0))
    array = out.numpy()
    assert (array[0] == [0, 0, 255, 255]).all()
    assert (array[1:4, 2:6] == [255, 0, 0, 255]).all()
    assert (array[1:4, :2] == [0, 0, 255, 255]).all()


def test_an_exception_discards_the_pass(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    dev.clear(out, BLUE)
    with pytest.raises(KeyError), dev.render_pass(color=[tg.Attachment(out, clear=RED)]) as rp:
        rp.draw(pipe, quad())
        raise KeyError("user's own")
    assert (out.numpy() == [0, 0, 255, 255]).all()
    with pytest.raises(tg.ValidationError, match="ended without an exception"):
        _ = rp.stats


def test_resolve_in_the_pass_and_samples_that_were_not_stored(dev: tg.Device, out: tg.Image) -> None:
    msaa = dev.image((8, 8), "r8g8b8a8_unorm", samples=4, transient=True, label="msaa")
    pipe = dev.pipeline(VERT, FRAG, vertex=DTYPE, color=[msaa], samples=4)
    with dev.render_pass(
        color=[tg.Attachment(msaa, clear=(0, 0, 0, 0), store_op="dont_care", resolve=out)], label="main"
    ) as rp:
        rp.draw(pipe, np.array([((-1, -1), (1, 1, 1, 1)), ((1, -1), (1, 1, 1, 1)), ((-1, 1), (1, 1, 1, 1))], DTYPE))
    array = out.numpy()
    assert array[0, 0, 0] == 255
    assert array[7, 7, 0] == 0
    assert 0 < array[4, 3, 0] < 255
    with pytest.raises(tg.UndefinedContentsError, match="(?s)image 'msaa'.*pass 'main'.*dont_care.*resolve="):
        msaa.numpy()


def test_multisampled_image_reads_as_samples_but_not_as_a_picture(dev: tg.Device, tmp_path: Any) -> None:
    msaa = dev.image((8, 4), "r8g8b8a8_unorm", samples=4, label="msaa")
    with dev.render_pass(color=[tg.Attachment(msaa, clear=(1, 0, 0, 1))]):
        pass
    assert msaa.numpy().shape == msaa.shape == (4, 8, 4, 4)
    assert (msaa.numpy() == [255, 0, 0, 255]).all()
    assert np.asarray(msaa).shape == msaa.shape
    with pytest.raises(tg.ValidationError, match="save one with sample=0 to 3"):
        msaa.save(tmp_path / "x.png")
    msaa.save(tmp_path / "x.png", sample=3)
    msaa.save(tmp_path / "x.npy")
    assert np.load(tmp_path / "x.npy").shape == (4, 8, 4, 4)


def test_depth_is_stored_and_shown(dev: tg.Device, out: tg.Image, tmp_path: Any) -> None:
    depth = dev.image((8, 8), "d32_sfloat", label="z")
    pipe = dev.pipeline(VERT, FRAG, vertex=DTYPE, color=[out], depth=depth)
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)], depth=tg.Attachment(depth, clear=1.0)) as rp:
        rp.draw(pipe, quad(RED, x1=0))
    assert depth.numpy().shape == (8, 8, 1)
    assert (depth.numpy()[:, :4] == 0.5).all()
    assert (np.asarray(depth)[:, 4:] == 1).all()
    depth.save(tmp_path / "z.png")


def test_store_op_dont_care_is_named_when_read(dev: tg.Device) -> None:
    depth = dev.image((8, 8), "d32_sfloat", label="z")
    with dev.render_pass(depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"), label="main"):
        pass
    with pytest.raises(tg.UndefinedContentsError, match="(?s)image 'z'.*depth.*'main'.*store_op='store'"):
        depth.numpy()


def test_several_targets(dev: tg.Device) -> None:
    a, b = dev.image((4, 4), "r8g8b8a8_unorm"), dev.image((4, 4), "r32_uint")
    frag = "#version 450\nlayout(location = 0) out vec4 a;\nlayout(location = 1) out uint b;\nvoid main() { a = vec4(1, 0, 1, 1); b = 77u; }"
    pipe = dev.pipeline(FULL, frag, color=[a, b])
    with dev.render_pass(color=[tg.Attachment(a, clear=RED), tg.Attachment(b, clear=(5,))]) as rp:
        rp.draw(pipe, count=3)
        rp.clear({1: (9, 0, 0, 0)}, rect=(0, 0, 2, 2))
    assert (a.numpy() == [255, 0, 255, 255]).all()
    assert b.numpy()[0, 0, 0] == 9
    assert b.numpy()[3, 3, 0] == 77


# -- arguments of draws


def test_indices_of_any_integer_type(dev: tg.Device, pipe: tg.Pipeline) -> None:
    corners = np.array([((-1, -1), RED), ((1, -1), RED), ((-1, 1), RED), ((1, 1), RED)], DTYPE)
    faces = [[0, 1, 2], [2, 1, 3]]
    for indices in (
        np.array(faces),
        np.array(faces, "u1"),
        np.array(faces, ">u2"),
        np.array(faces, "u4"),
        dev.buffer(np.array(faces, "u2")),
    ):
        image = dev.image((8, 8), "r8g8b8a8_unorm")
        with dev.render_pass(color=[tg.Attachment(image, clear=BLUE)]) as rp:
            rp.draw(pipe, corners, indices=indices)
        assert (image.numpy() == [255, 0, 0, 255]).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.astype(v.dtype.newbyteorder(">")),
        lambda v: np.repeat(v, 2)[::2],
        lambda v: v.astype([("position", "f8", 2), ("color", "f4", 4)]),
        lambda v: v[["color", "position"]],
        lambda v: np.concatenate([v["position"], v["color"]], axis=1).astype(np.float64),
    ],
    ids=["big-endian", "strided", "float64 field", "other order", "plain columns"],
)
def test_vertex_arrays_are_converted(
    dev: tg.Device, out: tg.Image, pipe: tg.Pipeline, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw(pipe, change(quad((1, 0, 0, 1))))
    assert (out.numpy() == [255, 0, 0, 255]).all()


def test_numpy_arguments_are_copied_at_the_draw_and_buffers_are_not(
    dev: tg.Device, out: tg.Image, pipe: tg.Pipeline
) -> None:
    array, buffer = quad(RED, x1=0), dev.buffer(quad(RED, x0=0))
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw(pipe, array)
        rp.draw(pipe, buffer)
        array["color"] = GREEN
        buffer.numpy()["color"] = GREEN
    assert (out.numpy()[:, :4] == [255, 0, 0, 255]).all()
    assert (out.numpy()[:, 4:] == [0, 255, 0, 255]).all()


def test_first_and_count_and_vertex_offset(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    vertices = np.concatenate([quad(RED, y1=0), quad(GREEN, y0=0, x1=0), quad(BLUE, y0=0, x0=0)])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, vertices, count=6)
        rp.draw(pipe, vertices, first=6, count=6)
        rp.draw(pipe, vertices, indices=np.arange(6), vertex_offset=12)
    array = out.numpy()
    assert (array[:4] == [255, 0, 0, 255]).all()
    assert (array[4:, :4] == [0, 255, 0, 255]).all()
    assert (array[4:, 4:] == [0, 0, 255, 255]).all()


def test_fields_match_by_name_else_by_location(dev: tg.Device, out: tg.Image) -> None:
    """By location where there are no names: NumPy's own f0, f1 are none."""
    by_order = np.dtype("2f4,4f4")
    pipe = dev.pipeline(VERT, FRAG, vertex=by_order, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw(pipe, quad(GREEN).view(by_order))
    assert (out.numpy() == [0, 255, 0, 255]).all()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ([("rgba", "f4", 4), ("xy", "f4", 2)], r"no field of vertex= \(rgba, xy\) has the name of an input .* \(position, color\); name the"),
        ([("postion", "f4", 2), ("colour", "f4", 4)], r"\(postion, colour\).*; did you mean 'position' by 'postion'\? name the fields"),
        ([("postion", "f4", 2), ("color", "f4", 4)], r"reads 'position' .*feeds it; did you mean 'position' by 'postion'\? fields left are: postion"),
        ([("in_position", "f4", 2)], r"did you mean 'position' by 'in_position'\?"),
        ([("rgba", "f4", 4), ("f", "f4", 2)], r"\(rgba, f\)"),
    ],
)
def test_names_of_which_none_matches_are_an_error(dev: tg.Device, fields: list[Any], said: str) -> None:
    """They were fed by order, colours to positions, without a word."""
    with pytest.raises(tg.ValidationError, match=said):
        dev.pipeline(VERT, FRAG, vertex=np.dtype(fields), color=["r8g8b8a8_unorm"])


def test_one_misspelt_field_is_an_error(dev: tg.Device) -> None:
    vert = "#version 450\nlayout(location = 0) in vec2 position;\nvoid main() { gl_Position = vec4(position, 0, 1); }"
    with pytest.raises(tg.ValidationError, match=r"no field of vertex= \(postion\) .*did you mean 'position' by 'postion'\?"):
        dev.pipeline(vert, vertex=np.dtype([("postion", "f4", 2)]), depth="d32_sfloat")
    dev.pipeline(vert, vertex=np.dtype(("f4", 2)), depth="d32_sfloat")
    dev.pipeline(vert, vertex=np.dtype([("f0", "f4", 2)]), depth="d32_sfloat")


def test_two_bindings_and_small_types(dev: tg.Device, out: tg.Image) -> None:
    positions, colors = np.dtype([("position", "i1", 2)]), np.dtype([("color", "u1", 4)])
    pipe = dev.pipeline(VERT, FRAG, vertex=[positions, colors], color=[out])
    p = np.zeros(6, positions)
    p["position"] = quad()["position"] * 127
    c = np.zeros(6, colors)
    c["color"] = (0, 255, 0, 255)
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw(pipe, [p, c])
    assert (out.numpy() == [0, 255, 0, 255]).all()


INSTANCED = """#version 450
layout(location = 0) in vec2 position;
layout(location = 1) in mat4 place;
layout(location = 5) in vec4 tint;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = place * vec4(position, 0.5, 1.0); v_color = tint; }"""


@pytest.mark.parametrize("as_buffer", [False, True])
def test_instance_data_with_matrices(dev: tg.Device, out: tg.Image, as_buffer: bool) -> None:
    instance = np.dtype([("place", "f4", (4, 4)), ("tint", "f4", 4)])
    pipe = dev.pipeline(INSTANCED, FRAG, vertex=np.dtype([("position", "f4", 2)]), instance=instance, color=[out])
    data = np.zeros(2, instance)
    data["place"] = np.eye(4)
    data["place"][:, 0, 0] = 0.5  # half as wide
    data["place"][0, 0, 3], data["place"][1, 0, 3] = -0.5, 0.5  # left and right
    data["tint"] = RED, GREEN
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw(pipe, quad()["position"], instances=dev.buffer(data) if as_buffer else data)
    assert (out.numpy()[:, :4] == [255, 0, 0, 255]).all()
    assert (out.numpy()[:, 4:] == [0, 255, 0, 255]).all()


def test_indirect_draws(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    vertices = np.concatenate([quad(RED, x1=0), quad(GREEN, x0=0)])
    commands = dev.buffer(np.array([[6, 1, 0, 0], [6, 1, 6, 0]], np.uint32), usage="indirect")
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw_indirect(pipe, commands, vertices)
    assert (out.numpy()[:, :4] == [255, 0, 0, 255]).all()
    assert (out.numpy()[:, 4:] == [0, 255, 0, 255]).all()
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw_indirect(pipe, [[6, 1, 0, 6, 0]], vertices, indices=np.arange(6, dtype=np.uint16))
    assert (out.numpy()[:, :4] == [0, 0, 255, 255]).all()
    assert (out.numpy()[:, 4:] == [0, 255, 0, 255]).all()


UNIFORM = "layout(set = 0, binding = 1) uniform Tint { vec4 rgba; mat2 m; } tint;"


@pytest.mark.parametrize("key", ["tint", "Tint", (0, 1)])
def test_bind_by_name_or_numbers(dev: tg.Device, key: Any) -> None:
    value = {"rgba": (0, 1, 0, 1), "m": np.eye(2)}
    assert solid(dev, fragment("o_color = tint.rgba * tint.m[0][0];", UNIFORM), {"bind": {key: value}}).tolist() == [
        0,
        255,
        0,
        255,
    ]


def test_buffers_slices_bytes_and_arrays_bind_alike(dev: tg.Device) -> None:
    frag = fragment("o_color = tint.rgba * tint.m[0][0];", UNIFORM)
    pipe = dev.pipeline(FULL, frag, color=["r8g8b8a8_unorm"], label="solid")
    data = pipe.struct("tint", rgba=(0, 0, 1, 1), m=np.eye(2))
    padded = dev.buffer(b"\0" * 64 + data, usage="uniform")
    for value in (data, dev.buffer(data), padded.slice(64), np.frombuffer(data, np.float32)):
        assert solid(dev, frag, {"bind": {"tint": value}}).tolist() == [0, 0, 255, 255]


def test_push_constants(dev: tg.Device) -> None:
    frag = fragment("o_color = on ? rgba : vec4(0);", "layout(push_constant) uniform Push { vec4 rgba; bool on; };")
    assert solid(dev, frag, {"push": {"rgba": (1, 0, 1, 1), "on": True}}).tolist() == [255, 0, 255, 255]
    assert solid(dev, frag, {"push": {"rgba": (1, 0, 1, 1), "on": False}}).tolist() == [0, 0, 0, 0]


def test_matrix_is_that_of_mathematics(dev: tg.Device) -> None:
    frag = fragment("o_color = m * vec4(1, 0, 0, 0);", "layout(push_constant) uniform Push { mat4 m; };")
    m = np.zeros((4, 4))
    m[:, 0] = (0.2, 0.4, 0.6, 1.0)  # what M @ (1, 0, 0, 0) is
    assert solid(dev, frag, {"push": {"m": m}}).tolist() == [51, 102, 153, 255]


def test_textures_and_samplers(dev: tg.Device) -> None:
    pixels = np.full((2, 2, 4), (10, 20, 30, 40), np.uint8)
    texture = dev.texture(pixels, filter="nearest")
    combined = fragment("o_color = texture(t, vec2(0.5));", "layout(set = 0, binding = 0) uniform sampler2D t;")
    for value in (texture, (texture.image, texture.sampler), (texture.image.view(), dev.sampler(filter="nearest"))):
        assert solid(dev, combined, {"bind": {"t": value}}).tolist() == [10, 20, 30, 40]
    swizzled = (texture.image.view(swizzle="bgr1"), texture.sampler)
    assert solid(dev, combined, {"bind": {"t": swizzled}}).tolist() == [30, 20, 10, 255]
    separate = fragment(
        "o_color = texture(sampler2D(i, s), vec2(0.5));",
        "layout(set = 0, binding = 0) uniform texture2D i;\nlayout(set = 1, binding = 0) uniform sampler s;",
    )
    assert solid(dev, separate, {"bind": {"i": texture.image, "s": texture.sampler}}).tolist() == [10, 20, 30, 40]
    array = fragment("o_color = texture(t[1], vec2(0.5));", "layout(set = 0, binding = 0) uniform sampler2D t[2];")
    other = dev.texture(pixels[:, :, ::-1], filter="nearest")
    assert solid(dev, array, {"bind": {"t": [texture, other]}}).tolist() == [40, 30, 20, 10]


@pytest.mark.parametrize(
    ("body", "alpha"),
    [
        ("o_color = texture(t, vec2(0.4));", 40),
        ("vec4 c = texture(t, vec2(0.4)); c.rgb *= 1.0; o_color = vec4(c.rgb, c.a);", 40),
        ("o_color = vec4(texture(t, vec2(0.4)).rgb, textureLod(t, vec2(0.6), 0.0).a);", 40),
        ("vec4 c = vec4(0); if (gl_FragCoord.x > 0.0) c = texture(t, vec2(0.4)); o_color = c;", 40),
        ("o_color = vec4(texture(t, vec2(0.4)).rgb, 1.0);", 255),
    ],
)
def test_alpha_is_left_out_of_samples_only_where_nobody_uses_it(dev: tg.Device, body: str, alpha: int) -> None:
    texture = dev.texture(np.full((4, 4, 4), (10, 20, 30, 40), np.uint8), filter="linear")
    frag = fragment(body, "layout(set = 0, binding = 0) uniform sampler2D t;")
    assert solid(dev, frag, {"bind": {"t": texture}}).tolist() == [10, 20, 30, alpha]


def test_cube_and_array_textures(dev: tg.Device) -> None:
    faces = np.zeros((6, 2, 2, 4), np.uint8)
    faces[:] = np.arange(6)[:, None, None, None] * 40
    cube = dev.texture(faces, cube=True, filter="nearest")
    frag = fragment("o_color = texture(t, vec3(0, -1, 0));", "layout(set = 0, binding = 0) uniform samplerCube t;")
    assert solid(dev, frag, {"bind": {"t": cube}}).tolist() == [120] * 4
    layers = dev.texture(faces[:3], filter="nearest")
    frag = fragment(
        "o_color = texture(t, vec3(0.5, 0.5, 2));", "layout(set = 0, binding = 0) uniform sampler2DArray t;"
    )
    assert solid(dev, frag, {"bind": {"t": layers}}).tolist() == [80] * 4


def test_storage_buffers_are_written(dev: tg.Device) -> None:
    frag = fragment(
        "atomicAdd(total, 1u); o_color = vec4(1);", "layout(set = 0, binding = 0) buffer Count { uint total; };"
    )
    count = dev.buffer(np.zeros(1, np.uint32), usage="storage")
    solid(dev, frag, {"bind": {"Count": count}})
    assert count.numpy()[0] == 64


def test_specialisation_constants_by_name_and_number(dev: tg.Device) -> None:
    frag = fragment(
        "o_color = vec4(R, float(N) / 255.0, ON ? 1 : 0, 1);",
        "layout(constant_id = 0) const float R = 0.0; layout(constant_id = 5) const int N = 1; layout(constant_id = 9) const bool ON = false;",
    )
    assert solid(dev, frag).tolist() == [0, 1, 0, 255]
    assert solid(dev, frag, constants={"R": 1.0, 5: 51, "ON": True}).tolist() == [255, 51, 255, 255]


def test_state_by_names(dev: tg.Device) -> None:
    half = fragment("o_color = vec4(1, 1, 1, 0.5);")
    assert solid(dev, half, blend="alpha").tolist() == [128, 128, 128, 128]
    assert solid(dev, half, blend={"src_color": "VK_BLEND_FACTOR_ZERO", "dst_color": "one"})[:3].tolist() == [0, 0, 0]
    assert solid(dev, half, write_mask="ra").tolist() == [255, 0, 0, 128]
    assert solid(dev, half, cull="front_and_back").tolist() == [0, 0, 0, 0]
    assert solid(
        dev, half, blend={"src_color": "constant_color", "dst_color": "zero"}, blend_constants=(0.2, 0.4, 0.6, 1)
    )[:3].tolist() == [51, 102, 153]


def test_dynamic_state_does_not_stay_for_the_next_draw(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, quad(RED), scissor=(0, 0, 8, 4), viewport=(0, 0, 4, 8))
        rp.draw(pipe, quad(GREEN, y0=0))
    array = out.numpy()
    assert (array[:4, :4] == [255, 0, 0, 255]).all()
    assert (array[:4, 4:] == 0).all()
    assert (array[4:] == [0, 255, 0, 255]).all()


def test_stencil_with_reference_at_the_draw(dev: tg.Device, out: tg.Image) -> None:
    stencil = dev.image((8, 8), "s8_uint")
    mark = dev.pipeline(
        VERT, FRAG, vertex=DTYPE, color=[out], stencil=stencil, write_mask="", stencil_test={"pass": "replace"}
    )
    show = dev.pipeline(
        VERT, FRAG, vertex=DTYPE, color=[out], stencil=stencil, stencil_test={"compare": "equal", "reference": 3}
    )
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)], stencil=tg.Attachment(stencil, clear=0)) as rp:
        rp.draw(mark, quad(x1=0), stencil_reference=3)
        rp.draw(mark, quad(x0=0), stencil_reference=4)
        rp.draw(show, quad(RED))
    assert (stencil.numpy()[:, :4] == 3).all()
    assert (out.numpy()[:, :4] == [255, 0, 0, 255]).all()
    assert (out.numpy()[:, 4:] == [0, 0, 255, 255]).all()


def test_query_counts_samples(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        with rp.query() as all_of_it:
            rp.draw(pipe, quad())
        with rp.query() as half:
            rp.draw(pipe, quad(x1=0))
        with pytest.raises(tg.ValidationError, match="only after the pass's with block has ended"):
            _ = half.samples
    assert (all_of_it.samples, half.samples) == (64, 32)


def test_stats_are_attributes_a_table_a_dictionary_and_html(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)], label="main") as rp:
        rp.draw(pipe, quad())
    stats = rp.stats
    assert stats.draws == 1
    assert stats.fragments_shaded == 64
    assert stats.traffic["color0"]["store"] == stats.bytes("store") == 8 * 8 * 4
    assert "fragments_shaded" in dir(stats)
    assert stats.asdict()["label"] == "main"
    assert "pass 'main'" in str(stats)
    assert "color0 store" in str(stats)
    assert stats._repr_html_().startswith("<table>")
    with pytest.raises(AttributeError, match="no attribute 'fragment'; did you mean 'fragments_shaded'"):
        _ = stats.fragment


def test_what_a_profile_has_not_is_not_printed(tmp_path: Path) -> None:
    """All of it is in asdict(), and what the profile has is printed where it is 0 too."""
    gmem, arms, lrz = ("GMEM", "sysmem", "visibility stream"), ("pre-pass", "while they waited"), ("low-resolution Z",)
    bins = ("bins with primitives", "tiler heap")
    has = {"host": bins, "mali-g725": bins, "adreno-a740": (*bins, *gmem), "desktop-immediate": ()}
    for profile, there in has.items():
        dev = tg.Device(profile=profile)
        target = dev.image((64, 64), "r8g8b8a8_unorm")
        depth = dev.image((64, 64), "d32_sfloat")
        pipe = dev.pipeline(VERT, FRAG, vertex=DTYPE, color=[target.format], depth="d32_sfloat", depth_test=True, depth_write=True)
        with dev.render_pass(color=[tg.Attachment(target, clear=BLUE)], depth=tg.Attachment(depth, clear=1.0), label="main") as rp:
            rp.draw(pipe, quad())
        for text in (str(rp.stats), rp.stats._repr_html_(), str(pickle.loads(pickle.dumps(rp.stats)))):
            assert [word for word in (*bins, *gmem) if word in text] == list(there), profile
            assert profile != "host" or not any(word in text for word in (*arms, *lrz))
        assert {"gmem_bandwidth_B", "lrz_blocks_rejected", "fragments_killed_by_fpk", "bins"} <= rp.stats.asdict().keys()
        rp.capture(tmp_path / "x.tgcap")
        (again,) = dev.load_capture(tmp_path / "x.tgcap").run()
        assert all((word in str(again)) == (word in there) for word in (*bins, *gmem)), profile


def test_replay_reads_buffers_anew(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    buffer = dev.buffer(quad(RED, x1=0))
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw(pipe, buffer)
        rp.draw(pipe, quad(GREEN, x0=0))
    first = rp.stats
    buffer.numpy()["color"] = (1, 1, 1, 1)
    assert rp.replay().draws == first.draws == 2
    assert (out.numpy()[:, :4] == 255).all()
    assert (out.numpy()[:, 4:] == [0, 255, 0, 255]).all()


def test_replay_keeps_its_arrays(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    """What a draw copied stays, whatever later passes copy."""
    uniform = dev.pipeline(FULL, fragment("o_color = c;", "layout(binding = 0) uniform C { vec4 c; };"), color=[out.format])

    def record(color: Any) -> tg.RenderPass:
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, quad(color, x1=0), indices=np.arange(6))
            rp.draw(uniform, count=3, bind={"C": {"c": color}}, scissor=(4, 0, 4, 8))
        return rp

    first = record(RED)
    right = out.numpy()
    second = record(BLUE)
    first.replay()
    assert np.array_equal(out.numpy(), right)
    record(GREEN)
    assert "-> (0, 0, 1, 1)" in str(second.why(6, 3))


@pytest.mark.parametrize("kind", ["strips", "indirect", "plain"])
def test_replay_plans_anew_what_may_have_changed(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline, kind: str) -> None:
    """Which primitives there are, in strips that restart and in indirect draws; the rest of a plan is kept."""
    strips = dev.pipeline(
        VERT, FRAG, vertex=DTYPE, color=["r8g8b8a8_unorm"], topology="triangle_strip", primitive_restart=True
    )
    corners = np.concatenate([quad(RED, x1=0), quad(GREEN, x0=0, y1=0)])
    indices = dev.buffer(np.array([0, 1, 2, 5, 0xFFFF, 6, 7, 8, 11], np.uint16), usage="index")
    commands = dev.buffer(np.array([6, 1, 0, 0, 0, 1, 6, 0], np.uint32), usage="indirect")

    def record() -> tg.RenderPass:
        with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
            if kind == "strips":
                rp.draw(strips, corners, indices=indices)
            elif kind == "indirect":
                rp.draw_indirect(pipe, commands, corners)
            else:
                rp.draw(pipe, corners)
                rp.draw(pipe, corners, indices=np.arange(6, dtype=np.uint32), instances=2)
        return rp

    def of(rp: tg.RenderPass) -> tuple[bytes, dict[str, Any]]:
        # Which code packs fragments changes when what is made in the background is ready.
        packing = ("packets", "idle_lanes", "helper_lanes")
        return out.numpy().tobytes(), {k: v for k, v in rp.stats.asdict().items() if not k.endswith("_ms") and k not in packing}

    rp = record()
    for primitives in {"strips": (4, 3), "indirect": (2, 4), "plain": (8, 8)}[kind]:
        rp.replay()
        found = of(rp)
        assert found == of(record())
        assert found[1]["primitives_in"] == primitives
        indices.numpy()[:] = [6, 7, 8, 0xFFFF, 0, 1, 2, 5, 0xFFFF]
        commands.numpy()[4] = 6


def test_replay_needs_an_ended_pass(dev: tg.Device, out: tg.Image) -> None:
    rp = dev.render_pass(color=[out], label="p")
    with pytest.raises(tg.ValidationError, match=r"pass 'p': replay\(\) is for a pass whose with block has ended"):
        rp.replay()


def test_unused_names_warn_once(dev: tg.Device, out: tg.Image) -> None:
    dtype = np.dtype([("position", "f4", 2), ("color", "f4", 4), ("normal", "f4", 3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # many pipelines share a layout: a field that one of them does not use is no mistake
        pipe = dev.pipeline(VERT, fragment("o_color = vec4(1);", UNIFORM), vertex=dtype, color=[out], label="p")
    value = {"tint": {"rgba": (1, 1, 1, 1), "m": np.eye(2)}}
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        with pytest.warns(tg.UnusedNameWarning, match="do not use 'tint'") as drawn:
            rp.draw(pipe, np.zeros(3, dtype), bind=value)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rp.draw(pipe, np.zeros(3, dtype), bind=value)
    assert drawn[0].filename == __file__  # the user's line, not one of ours


def test_empty_draws_are_nothing(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    with dev.render_pass(color=[tg.Attachment(out, clear=BLUE)]) as rp:
        rp.draw(pipe, np.zeros(0, DTYPE))
        rp.draw(pipe, quad(), instances=0)
        rp.draw(pipe, quad(), indices=np.zeros(0, np.uint32))
        rp.draw(pipe, quad(), first=6)
    assert (out.numpy() == [0, 0, 255, 255]).all()


def test_block_compressed_image_reads_as_any_other(dev: tg.Device, pipe: tg.Pipeline) -> None:
    image = dev.image((40, 24), "r8g8b8a8_unorm", tiling="block_compressed", label="compressed")
    with dev.render_pass(color=[tg.Attachment(image, clear=BLUE)]) as rp:
        rp.draw(pipe, quad(RED, x1=0))
    array = image.numpy()
    assert (array[:, :20] == [255, 0, 0, 255]).all()
    assert (array[:, 20:] == [0, 0, 255, 255]).all()
    assert np.array_equal(np.asarray(image), array)
    with pytest.raises(tg.ValidationError, match="has tiling block_compressed; that needs a copy"):
        image.__array__(copy=False)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    "name", ["d16_unorm", "x8_d24_unorm_pack32", "d24_unorm_s8_uint", "d32_sfloat", "d32_sfloat_s8_uint", "s8_uint"]
)
def test_depth_and_stencil_formats_read_back(dev: tg.Device, name: str, samples: int, tmp_path: Any) -> None:
    image = dev.image((10, 6), name, samples=samples)
    aspects = tg.format_info(name).aspects
    depth = tg.Attachment(image, clear=0.75) if "depth" in aspects else None
    stencil = tg.Attachment(image, clear=9) if "stencil" in aspects else None
    pipe = dev.pipeline(
        FULL,
        depth=image if depth else None,
        stencil=image if stencil else None,
        samples=samples,
        stencil_test={"pass": "increment_and_clamp"} if stencil else None,
    )
    with dev.render_pass(depth=depth, stencil=stencil) as rp:
        rp.draw(pipe, count=3, scissor=(0, 0, 5, 6))
    expected = {"depth": (0.5, 0.75, np.float32), "stencil": (10, 9, np.uint8)}
    for aspect in aspects:
        left, right, dtype = expected[aspect]
        array = image.numpy(aspect=aspect)
        assert array.shape == image.shape
        assert array.dtype == dtype
        np.testing.assert_allclose(array[:, :5], left, atol=1e-5)
        np.testing.assert_allclose(array[:, 5:], right, atol=1e-5)
        image.save(tmp_path / "z.png", aspect=aspect, sample=samples - 1)


def test_levels_and_layers_as_attachments(dev: tg.Device) -> None:
    mips = dev.image((8, 8), "r8g8b8a8_unorm", mip_levels=None)
    for level in range(4):
        with dev.render_pass(color=[tg.Attachment(mips, clear=(level / 5, 0, 0, 1), level=level)]):
            pass
    assert [mips.numpy(level=level)[0, 0, 0] for level in range(4)] == [0, 51, 102, 153]
    cube = dev.image((4, 4), "r8g8b8a8_unorm", cube=True)
    for layer in range(6):
        with dev.render_pass(color=[tg.Attachment(cube, clear=(layer / 5, 0, 0, 1), layer=layer)]):
            pass
    frag = fragment("o_color = texture(t, vec3(0, 0, 1));", "layout(set = 0, binding = 0) uniform samplerCube t;")
    assert solid(dev, frag, {"bind": {"t": (cube, dev.sampler(filter="nearest"))}}).tolist() == [204, 0, 0, 255]


def test_shadow_sampler_compares(dev: tg.Device) -> None:
    depth = dev.image((4, 4), "d32_sfloat")
    dev.clear(depth, depth=0.5)
    frag = fragment(
        "o_color = vec4(texture(t, vec3(0.5, 0.5, 0.4)), texture(t, vec3(0.5, 0.5, 0.6)), 0, 1);",
        "layout(set = 0, binding = 0) uniform sampler2DShadow t;",
    )
    bind = {"t": (depth, dev.sampler(compare="less", filter="nearest"))}
    assert solid(dev, frag, {"bind": bind}).tolist() == [255, 0, 0, 255]


def test_multisampled_texture_is_fetched(dev: tg.Device) -> None:
    image = dev.image((4, 4), "r8g8b8a8_unorm", samples=4)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0.2, 0.4, 0.6, 1))]):
        pass
    frag = fragment("o_color = texelFetch(t, ivec2(1, 1), 2);", "layout(set = 0, binding = 0) uniform sampler2DMS t;")
    sampler = dev.sampler(filter="nearest")
    assert solid(dev, frag, {"bind": {"t": (image, sampler)}}).tolist() == [51, 102, 153, 255]
    resolved = dev.texture(np.zeros((4, 4, 4), np.uint8))
    with pytest.raises(
        tg.ValidationError, match="the shader reads a multisampled image .sampler2DMS., image .* has 1 sample"
    ):
        solid(dev, frag, {"bind": {"t": resolved}})
    single = fragment("o_color = texture(t, vec2(0));", "layout(set = 0, binding = 0) uniform sampler2D t;")
    with pytest.raises(
        tg.ValidationError, match="reads a single-sampled image, image .* has 4 samples; resolve it first"
    ):
        solid(dev, single, {"bind": {"t": (image, sampler)}})


def test_largest_and_smallest_images(dev: tg.Device) -> None:
    big = dev.image((16384, 16384), "r8_unorm")
    with dev.render_pass(color=[tg.Attachment(big, clear=(1,))], area=(16380, 16380, 4, 4)):
        pass
    assert np.asarray(big)[-5:, -5:, 0].tolist() == [[0] * 5] + [[0, 255, 255, 255, 255]] * 4
    one = dev.image((1, 1), "r8_unorm")
    with dev.render_pass(color=[tg.Attachment(one, clear=(1,))]):
        pass
    assert one.numpy().tolist() == [[[255]]]


# -- messages of pipelines

FORMATS = {"color": ["r8g8b8a8_unorm"]}
PipelineCase = tuple[dict[str, Any], str]

PIPELINE_CASES: list[PipelineCase] = [
    ({"vertex": None}, "the vertex shader reads 'position' .vec2, location 0., but no vertex= was given"),
    ({"vertex": np.dtype([("position", "f4", 2), ("colour", "f4", 4)])}, "reads 'color' .*no field of vertex= feeds it; did you mean 'color' by 'colour'. fields left are: colour"),
    ({"vertex": np.dtype([("position", "f8", 2), ("color", "f4", 4)])}, "'position' of dtype float64: the shader's 'position' is vec2, which 64-bit floats can't feed; use 'f4'"),
    ({"vertex": np.dtype([("position", "i4", 2), ("color", "f4", 4)])}, "32-bit integers can't be converted"),
    ({"vertex": np.dtype([("position", "f4", (2, 2)), ("color", "f4", 4)])}, r"which takes a field of shape \(2,\)"),
    ({"vertex": np.dtype([("position", "f4", 5), ("color", "f4", 4)])}, "1 to 4 components are allowed"),
    ({"vertex": 3.5}, "vertex=3.5 is no dtype"),
    ({"color": ["r8g8b8a8"]}, r"color\[0\]: format 'r8g8b8a8' is not known"),
    ({"depth_compare": "less"}, "depth is tested, but depth= names no format"),
    ({"depth": "d32_sfloat", "depth_compare": "lesser"}, "depth_compare is 'lesser'.*did you mean 'less'"),
    ({"stencil_test": {"pass": "replace"}}, "stencil is tested, but stencil= names no format"),
    ({"stencil": "s8_uint", "stencil_test": {"passs": "keep"}}, "has no field 'passs'.*did you mean 'pass'"),
    ({"stencil": "r8_unorm"}, "r8_unorm has no stencil"),
    ({"depth": "r8_unorm"}, "r8_unorm has no depth"),
    ({"blend": "alhpa"}, "blend.0. is 'alhpa', which is no preset; did you mean 'alpha'"),
    ({"blend": 3}, "blend.0. is 3; it must be None, a preset"),
    ({"blend": {"src": "one"}}, "has no field 'src'"),
    ({"blend": {"src_color": "on"}}, "src_color is 'on', which is no blend_factor"),
    ({"blend": [None, None]}, "blend has 2 entries; there is 1 colour format"),
    ({"blend_constants": (1, 2)}, "blend_constants is .*; it must be four numbers"),
    ({"write_mask": "xyz"}, "write_mask is 'xyz'; it must be some of the letters 'rgba'"),
    ({"logic_op": "nandd"}, "logic_op is 'nandd'.*did you mean 'nand'"),
    ({"cull": "bakc"}, "cull is 'bakc'.*did you mean 'back'"),
    ({"front_face": "cw"}, "front_face is 'cw'.*counter_clockwise, clockwise"),
    ({"topology": "quads"}, "topology is 'quads'"),
    ({"polygon_mode": "lines"}, "polygon_mode is 'lines'.*did you mean 'line'"),
    ({"provoking_vertex": "middle"}, "provoking_vertex is 'middle'; it must be 'first' or 'last'"),
    ({"samples": 3}, "samples is 3; allowed are 1, 2, 4, 8 and 16"),
    ({"sample_mask": -1}, "sample_mask is -1; it must be a 32-bit mask"),
    ({"depth_bias": (1, 2, 3, 4)}, "depth_bias is .*constant, clamp, slope"),
    ({"depth_bias": {"scale": 1}}, "depth_bias has no field 'scale'"),
    ({"constants": {"N": 1}}, "no specialisation constant 'N'; there are: none"),
    ({"vert": 5}, "vertex shader is int; give GLSL text, a path, or SPIR-V bytes"),
    ({"vert": "missing.vert"}, "can't read vertex shader 'missing.vert'"),
]  # fmt: skip


@pytest.mark.parametrize("case", PIPELINE_CASES, ids=[c[1][:40] for c in PIPELINE_CASES])
def test_pipeline_message(dev: tg.Device, case: PipelineCase) -> None:
    changes, pattern = dict(case[0]), case[1]
    arguments: dict[str, Any] = {"vertex": DTYPE, "label": "p", **FORMATS, **changes}
    vert = arguments.pop("vert", VERT)
    with pytest.raises(tg.Error, match=f"(?s){pattern}"):
        dev.pipeline(vert, FRAG, **arguments)


def test_constant_of_the_wrong_type(dev: tg.Device) -> None:
    frag = fragment("o_color = vec4(N);", "layout(constant_id = 0) const int N = 1;")
    for value in (1.5, "a", 2**40, None):
        with pytest.raises(tg.ValidationError, match="constant 'N' is .*; the shader's constant is of type int"):
            dev.pipeline(FULL, frag, constants={"N": value}, **FORMATS)
    with pytest.raises(tg.ValidationError, match=r"no specialisation constant 'M'.*N \(0\)"):
        dev.pipeline(FULL, frag, constants={"M": 1}, **FORMATS)


# -- messages of passes and draws


PassCase = tuple[Callable[[tg.Device, tg.Image], dict[str, Any]], str]

PASS_CASES: list[PassCase] = [
    (lambda d, o: {}, "pass 'p' has no attachment"),
    (lambda d, o: {"color": ["x"]}, r"color\[0\] is 'x'; it must be a tilegpu.Attachment, an image"),
    (lambda d, o: {"color": [o] * 9}, "color has 9 attachments; at most 8"),
    (lambda d, o: {"color": [o], "depth": o}, "depth: image 'out' has format r8g8b8a8_unorm, which has no depth"),
    (lambda d, o: {"color": [d.image((4, 4), "d32_sfloat", label="z")]}, "image 'z' has format d32_sfloat, which is no colour"),
    (lambda d, o: {"color": [tg.Attachment(o, load_op="keep")]}, r"color\[0\]: load_op is 'keep'.*load, clear, dont_care, none"),
    (lambda d, o: {"color": [tg.Attachment(o, store_op="save")]}, "store_op is 'save'.*store, dont_care, none"),
    (lambda d, o: {"color": [tg.Attachment(o, load_op="load", clear=RED)]}, "clear is given, but load_op is 'load'"),
    (lambda d, o: {"color": [tg.Attachment(o, clear=3)]}, r"clear is 3; it must be \(r, g, b, a\)"),
    (lambda d, o: {"color": [tg.Attachment(o, clear=RED, resolve_mode="average")]}, "resolve_mode is 'average', but resolve= names no image"),
    (lambda d, o: {"color": [tg.Attachment(o, level=3)]}, "level 3, layer 0 .*image 'out' has 1 levels and 1 layers"),
    (lambda d, o: {"color": [o], "area": (0, 0, 0, 4)}, "area is .*width and height must be at least 1"),
    (lambda d, o: {"color": [o], "area": (0, 0, 9, 9)}, "(?i)area"),
    (lambda d, o: {"color": [o], "area": 5}, r"area is 5; it must be \(x, y, width, height\)"),
    (lambda d, o: {"color": [o], "layers": 0}, "layers is 0"),
    (lambda d, o: {"color": [o], "depth": tg.Attachment(d.image((8, 8), "d32_sfloat"), clear=1.5)}, "clear is 1.5; depth is 0 to 1"),
    (lambda d, o: {"color": [o, d.image((8, 8), "r8_unorm", samples=4)]}, "(?i)sample"),
]  # fmt: skip


@pytest.mark.parametrize("case", PASS_CASES, ids=[c[1][:40] for c in PASS_CASES])
def test_pass_message(dev: tg.Device, out: tg.Image, case: PassCase) -> None:
    with pytest.raises(tg.Error, match=f"(?s){case[1]}"), dev.render_pass(**case[0](dev, out), label="p"):
        pass


BOUND = fragment(
    "o_color = tint.rgba * tint.m[0][0] + texture(t, vec2(0)) * k + c.v[0];",
    UNIFORM
    + "\nlayout(set = 0, binding = 2) uniform sampler2D t;\nlayout(push_constant) uniform P { float k; };\nlayout(set = 1, binding = 0) buffer C { vec4 v[]; } c;",
)


@pytest.fixture(scope="module")
def bound(dev: tg.Device) -> tuple[tg.Pipeline, dict[str, Any]]:
    pipe = dev.pipeline(VERT, BOUND, vertex=DTYPE, label="b", **FORMATS)
    good = {"tint": {"rgba": RED, "m": np.eye(2)}, "t": dev.texture(np.zeros((2, 2, 4), np.uint8)), "c": dev.buffer(64)}
    return pipe, good


def drop(d: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in d.items() if k != key}


DrawCase = tuple[Callable[[tg.Device, dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]], str]

DRAW_CASES: list[DrawCase] = [
    (lambda d, b: ((), {}), "the vertex shader reads 1 vertex binding.*give vertices="),
    (lambda d, b: ((3.5,), {}), "vertices are 3.5; give an array"),
    (lambda d, b: ((quad()[["position"]],), {}), "vertices have no field 'color'; they have: position"),
    (lambda d, b: ((np.zeros((3, 5)),), {}), r"have 5 columns; the pipeline's .* takes 6"),
    (lambda d, b: ((np.zeros(3, [("position", "f4", 3), ("color", "f4", 4)]),), {}), r"vertex field 'position' has shape \(3,\), the pipeline has \(2,\)"),
    (lambda d, b: ((d.buffer(np.zeros(3, [("q", "f4", 6)]), label="v"),), {}), "buffer 'v' was made from .*, the pipeline was made for"),
    (lambda d, b: ((d.buffer(quad(), usage="uniform", label="v"),), {}), "buffer 'v' has usage uniform_buffer; create it with usage='vertex' too"),
    (lambda d, b: ((quad(),), {"indices": np.zeros(3)}), "indices have dtype float64; they must be integers"),
    (lambda d, b: ((quad(),), {"indices": [0, -1, 2]}), "indices go from -1 to 2; allowed are 0 to 4294967295"),
    (lambda d, b: ((quad(),), {"indices": d.buffer(np.zeros(3, "i8"), label="i")}), "index buffer 'i' was made from int64"),
    (lambda d, b: ((quad(),), {"instances": -1}), "instances is -1"),
    (lambda d, b: ((quad(),), {"instances": quad()}), "the pipeline was made without instance="),
    (lambda d, b: ((quad(),), {"count": -1}), "count=-1"),
    (lambda d, b: ((quad(),), {"vertex_offset": 2}), "vertex_offset=2 is for indexed draws; use first="),
    (lambda d, b: ((quad(),), {"bind": drop(b, "t")}), r"bind= lacks 't' \(set 0, binding 2\), a combined_image_sampler"),
    (lambda d, b: ((quad(),), {"bind": None}), "bind= lacks 'tint'.*'t'.*'c'"),
    (lambda d, b: ((quad(),), {"bind": {**b, "tin": 1}}), "the shaders have no binding 'tin'; did you mean 'tint'. there are: tint, t, c"),
    (lambda d, b: ((quad(),), {"bind": {**b, (3, 1): 1}}), r"no binding \(3, 1\)"),
    (lambda d, b: ((quad(),), {"bind": {**b, (0, 1): 1}}), "'tint' .*is bound twice"),
    (lambda d, b: ((quad(),), {"bind": {**b, "t": d.buffer(4)}}), "it must be a texture or .image, sampler."),
    (lambda d, b: ((quad(),), {"bind": {**b, "t": b["t"].image}}), "it must be a texture or .image, sampler."),
    (lambda d, b: ((quad(),), {"bind": {**b, "t": (b["t"].image, 5)}}), "the second of the pair is 5; it must be a sampler"),
    (lambda d, b: ((quad(),), {"bind": {**b, "t": d.texture(np.zeros((6, 2, 2, 4)), cube=True)}}), "the shader reads a 2d image, image .* has 6 layers"),
    (lambda d, b: ((quad(),), {"bind": {**b, "tint": b["t"]}}), "'tint' .*is a uniform_buffer; given is <tilegpu.Texture"),
    (lambda d, b: ((quad(),), {"bind": {**b, "tint": b"123"}}), "takes 48 bytes; the given buffer has 3|takes 40 bytes; the given buffer has 3"),
    (lambda d, b: ((quad(),), {"bind": {**b, "tint": np.zeros(3, "f4")}}), "can't fill the block; give a mapping with: rgba, m"),
    (lambda d, b: ((quad(),), {"bind": {**b, "tint": {"rgba": RED}}}), "missing 'm'"),
    (lambda d, b: ((quad(),), {"bind": {**b, "c": np.zeros((2, 4))}}), "is written by the shaders; given is ndarray, it must be a tilegpu.Buffer"),
    (lambda d, b: ((quad(),), {"push": None}), r"the shaders have push constants \(k\); give push="),
    (lambda d, b: ((quad(),), {"push": {"q": 1}}), "push constants has no member 'q'"),
    (lambda d, b: ((quad(),), {"push": b"12"}), "push has 2 bytes; the shaders' push constants take 4"),
    (lambda d, b: ((quad(),), {"push": 5}), "push is 5; it must be a mapping by name"),
    (lambda d, b: ((quad(),), {"viewport": (1, 2)}), "viewport is .1, 2.; it must be"),
    (lambda d, b: ((quad(),), {"viewport": (0, 0, np.nan, 4)}), "finite numbers"),
    (lambda d, b: ((quad(),), {"scissor": (0, 0, -1, 4)}), "scissor is .*must not be negative"),
    (lambda d, b: ((quad(),), {"stencil_reference": 999}), "stencil_reference is 999; it must be 0 to 255"),
    (lambda d, b: ((quad(),), {"blend_constants": (1,)}), "blend_constants is .*four numbers"),
]  # fmt: skip


@pytest.mark.parametrize("case", DRAW_CASES, ids=[c[1][:40] for c in DRAW_CASES])
def test_draw_message(dev: tg.Device, out: tg.Image, bound: tuple[tg.Pipeline, dict[str, Any]], case: DrawCase) -> None:
    pipe, good = bound
    arguments, options = case[0](dev, good)
    with (
        pytest.raises(tg.Error, match=f"(?s){case[1]}") as caught,
        dev.render_pass(color=[tg.Attachment(out, clear=RED)], label="main") as rp,
    ):
        rp.draw(pipe, *arguments, **{"bind": good, "push": {"k": 1.0}, **options})
    text = str(caught.value)
    assert "pass 'main'" in text or "pipeline 'b'" in text


def test_draw_outside_of_the_with_block(dev: tg.Device, out: tg.Image, pipe: tg.Pipeline) -> None:
    rp = dev.render_pass(color=[tg.Attachment(out, clear=RED)], label="p")
    with pytest.raises(tg.ValidationError, match="pass 'p' is not open; draw inside its with block"):
        rp.draw(pipe, quad())
    with rp:
        pass
    with pytest.raises(tg.ValidationError, match="was entered before"), rp:
        pass


def test_pipeline_that_does_not_fit_the_pass(dev: tg.Device, pipe: tg.Pipeline) -> None:
    other = dev.image((8, 8), "r16g16b16a16_sfloat")
    with pytest.raises(
        tg.ValidationError,
        match=r"color\[0\] has format r16g16b16a16_sfloat in the pass and r8g8b8a8_unorm in the pipeline",
    ):
        with dev.render_pass(color=[tg.Attachment(other, clear=RED)]) as rp:
            rp.draw(pipe, quad())
    with pytest.raises(tg.ValidationError, match="samples"):
        with dev.render_pass(color=[tg.Attachment(dev.image((8, 8), "r8g8b8a8_unorm", samples=4), clear=RED)]) as rp:
            rp.draw(pipe, quad())


def test_vertices_without_vertex_input(dev: tg.Device, out: tg.Image) -> None:
    pipe = dev.pipeline(FULL, fragment("o_color = vec4(1);"), color=[out])
    with pytest.raises(tg.ValidationError, match="vertices are given, but the pipeline was made without vertex="):
        with dev.render_pass(color=[tg.Attachment(out, clear=RED)]) as rp:
            rp.draw(pipe, quad())
    with pytest.raises(tg.ValidationError, match="no vertices and no indices; give count="):
        with dev.render_pass(color=[tg.Attachment(out, clear=RED)]) as rp:
            rp.draw(pipe)


def test_struct_messages(dev: tg.Device, bound: tuple[tg.Pipeline, dict[str, Any]]) -> None:
    pipe = bound[0]
    with pytest.raises(tg.ValidationError, match="no block 'tin'; did you mean 'tint'"):
        pipe.struct("tin", rgba=RED)
    with pytest.raises(tg.ValidationError, match="is a combined_image_sampler, which has no members"):
        pipe.struct("t", x=1)
    assert pipe.struct("push", k=1.0) == np.float32(1).tobytes()


def test_what_is_no_pipeline_is_named() -> None:
    dev = tg.Device()
    image = dev.image((4, 4), "r8g8b8a8_unorm")
    for draw in (lambda rp: rp.draw("triangle"), lambda rp: rp.draw_indirect("triangle", np.zeros((1, 4), np.uint32))):
        with pytest.raises(tg.ValidationError, match="draw's first argument is 'triangle'; it must be a pipeline"), dev.render_pass(image) as rp:
            draw(rp)
