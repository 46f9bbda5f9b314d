"""Numbers that are taken for others: averaged integers, bytes as floats, matrices of NaN, causes that there are not; and messages that name
what was given."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.stats import CAUSES

FORMAT = "r8g8b8a8_unorm"
WHITE = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"
COLORED = """#version 450
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 c;
void main() { gl_Position = vec4(position, 0, 1); c = color; }"""
THROUGH = "#version 450\nlayout(location = 0) in vec4 c;\nlayout(location = 0) out vec4 o;\nvoid main() { o = c; }"
PLACED = "#version 450\nlayout(location = 0) in vec3 position;\nvoid main() { gl_Position = vec4(position, 1); }"


@pytest.fixture
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=1)


# ----------------------------------------------------------------------------------------------------------------- mipmaps


@pytest.mark.parametrize("format_", ["r8_uint", "r16_sint", "r8g8b8a8_uint"])
def test_mipmaps_of_integers(dev: tg.Device, format_: str) -> None:
    info = tg.format_info(format_)
    pixels = np.ones((2, 2, info.component_count), np.int16 if "16" in format_ else np.uint8)
    image = dev.image((2, 2), format_, mip_levels=None, label="ids")
    image.write(pixels)
    said = f"the format is {format_}, and integers are not averaged; take texels for each level, dev.blit.*'nearest'.*mipmaps="
    with pytest.raises(tg.ValidationError, match="generate_mipmaps: image 'ids': " + said):
        dev.generate_mipmaps(image)
    with pytest.raises(tg.ValidationError, match="texture: " + said):
        dev.texture(pixels, format_, mipmaps=True)
    dev.blit(image, image, filter="nearest", source_level=0, destination_level=1)  # as the message says
    assert (image.numpy(level=1) == 1).all()
    levels = dev.texture(pixels, format_, mipmaps=[pixels[:1, :1]])
    assert levels.image.mip_levels == 2


# ------------------------------------------------------------------------------------------------------------------- bytes


def _colored(dev: tg.Device, own: Any, given: Any, value: float, count: int = 4) -> Any:
    """The colour of a picture drawn with vertices of another dtype than the pipeline's, and what is warned of."""
    of = [np.dtype([("position", "f4", 2), ("color", kind, count)]) for kind in (own, given)]
    vertices = np.zeros(3, of[1])
    vertices["position"], vertices["color"] = [[-1, -1], [3, -1], [-1, 3]], value
    image = dev.image((2, 2), FORMAT)
    pipe = dev.pipeline(COLORED, THROUGH, vertex=of[0], color=[FORMAT])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 1))) as rp:
            rp.draw(pipe, vertices=vertices)
    return image.numpy()[0, 0, 0], [str(one.message) for one in told if one.category is tg.ClampedValueWarning]


def test_bytes_for_a_field_of_floats(dev: tg.Device) -> None:
    color, told = _colored(dev, "f4", "u1", 64)
    assert color == 255
    (text,) = told
    assert (
        "vertex field 'color' has bytes (uint8) up to 64, which the pipeline's float32 takes as they are: 64 is 64.0, not 1"
        in text
    )
    assert "give dev.pipeline a dtype with uint8 there" in text
    assert _colored(dev, "u1", "u1", 64) == (64, [])  # as the message says


@pytest.mark.parametrize(
    ("own", "given", "value"), [("f4", "u1", 1), ("f4", "i2", 64), ("f4", "u2", 64), ("f4", "i8", 2), ("f4", "f8", 0.5)]
)
def test_other_numbers_for_a_field_of_floats(dev: tg.Device, own: str, given: str, value: float) -> None:
    assert _colored(dev, own, given, value)[1] == []


# ---------------------------------------------------------------------------------------------------------------- matrices

NAN, INF = float("nan"), float("inf")
M = tg.math


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: M.translate(NAN, 0, 0), r"translate: the offset is \(nan, 0, 0\); it must be finite"),
        (lambda: M.translate(INF, 0, 0), r"translate: the offset is \(inf, 0, 0\)"),
        (lambda: M.translate(1e300, 0, 0), "numbers that float32 holds"),
        (lambda: M.scale(NAN), "scale: the factor is"),
        (lambda: M.scale((1, 1, -INF)), "scale: the factor is"),
        (lambda: M.rotate_x(NAN), "rotate: angle is nan; it must be finite"),
        (lambda: M.rotate_y(INF), "rotate: angle is inf; it must be finite"),
        (lambda: M.rotate_z(-INF), "rotate: angle is -inf; it must be finite"),
        (lambda: M.rotate((0, NAN, 0), 1), "rotate: axis is"),
        (lambda: M.quaternion((0, 1, 0), NAN), "quaternion: angle is nan"),
        (lambda: M.slerp((0, 0, 0, 1), (0, 1, 0, 0), NAN), "slerp: t is nan"),
        (lambda: M.look_at((NAN, 0, 0), (0, 0, 0)), "look_at: eye is"),
        (lambda: M.look_at((0, 0, 1), (INF, 0, 0)), "look_at: target is"),
        (lambda: M.cube_face_views((NAN, 0, 0)), "cube_face_views: eye is"),
        (lambda: M.pixels(INF, 1), "pixels: width is inf"),
        (lambda: M.perspective(NAN, 1, 0.1, 1), "fov_y_degrees is nan"),
    ],
)
def test_matrices_of_what_is_not_finite(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        make()


# -------------------------------------------------------------------------------------------------------------- statistics


def test_causes_of_what_has_no_attachment(dev: tg.Device) -> None:
    image = dev.image((4, 4), FORMAT)
    with dev.frame("x") as frame:
        dev.clear(image, (1, 0, 0, 1))
    with dev.render_pass(area=(0, 0, 4, 4)) as rp:
        pass
    for stats in (frame.stats, rp.stats):
        assert stats.bytes("store") == 0
        with pytest.raises(
            tg.ValidationError, match=r"bytes\('stores'\): there is no such cause; did you mean 'store'\?"
        ):
            stats.bytes("stores")
    with dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 1))) as rp:
        pass
    assert tuple(rp.stats.traffic["color0"]) == CAUSES


# ---------------------------------------------------------------------------------------------------------------- messages


def _image(dev: tg.Device) -> tg.Image:
    return dev.image((16, 16), FORMAT, label="i")


@pytest.mark.parametrize(
    ("do", "said"),
    [
        (
            lambda d: d.clear(_image(d), (1, 0, 0, 1), depth=1.0),
            r"depth= is given, and format r8g8b8a8_unorm is of colours: .*\(r, g, b, a\)",
        ),
        (lambda d: d.clear(_image(d), depth=1.0), "clear of image 'i': depth= is given"),
        (lambda d: d.clear(_image(d), (1, 0, 0, 1), stencil=1), "stencil= is given"),
        (
            lambda d: d.clear(d.image((4, 4), "d32_sfloat"), (1, 0, 0, 1)),
            "a colour is given, and format d32_sfloat takes depth=",
        ),
        (
            lambda d: d.blit(d.texture(np.zeros((16, 16, 4), np.uint8)), _image(d), source_rect=(8, 8, 8, 8)),
            r"source_rect .* rects are two corners, \(x0, y0, x1, y1\), and not a corner and a size",
        ),
        (
            lambda d: d.copy(d.buffer(np.zeros((16, 16, 4), np.uint8)), _image(d), row_length=64),
            "buffer bytes .* row_length=64 is in pixels, not bytes",
        ),
        (
            lambda d: d.copy(d.texture(np.zeros((16, 16, 4), np.uint8)), d.buffer(1024), row_length=64),
            "row_length=64 is in pixels, not bytes",
        ),
        (
            lambda d: d.pipeline(
                PLACED, WHITE, vertex=tg.VertexBinding(12, [(1, "r32g32b32_sfloat", 0)]), color=[FORMAT]
            ),
            r"reads 'position' \(vec3, location 0\), and the attributes of vertex= .*VertexBinding\) are at locations: 1; add \(0, format",
        ),
        (
            lambda d: d.texture(io.BytesIO(b"x")),
            r"pixels is <_io.BytesIO .*; they must be numbers \(an array\), a path or a Pillow image",
        ),
        (lambda d: _image(d).write(None), "pixels is None; they must be numbers"),
        (lambda d: d.buffer(None), "buffer 'buffer': data is None; it must be numbers, bytes, or a size in bytes"),
        (lambda d: d.copy(None, _image(d)), "copy: source is None; it must be an image, a buffer, an array or bytes"),
        (
            lambda d: tg.Device("Immortalis-G925"),
            "profile 'Immortalis-G925' is not known; did you mean 'immortalis-g925'",
        ),
        (
            lambda d: d.texture(np.full((4, 4, 4), 255)),
            r"dtype int64 have no default format; give format=, or .astype\(np.uint8\)",
        ),
        (
            lambda d: d.texture(np.zeros((4, 4, 4), int), FORMAT),
            r"int64, which can't become .* or .astype\(np.uint8\) for bytes",
        ),
    ],
)
def test_messages_name_what_was_given(dev: tg.Device, do: Callable[[tg.Device], Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        do(dev)
