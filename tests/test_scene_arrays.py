"""Scenes take the arrays that draws take, and say in their own words what they don't."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import Draw, Frame, Output, Pass, Program, Sampled, SceneRenderer, State, Target, Texture

VERT = "#version 450\nlayout(location = 0) in vec2 p;\nvoid main() { gl_Position = vec4(p, 0, 1); }"
WHITE = Program(VERT, "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }")
READ = Program(VERT, """#version 450
layout(binding = 0) uniform sampler2D s;
layout(location = 0) out vec4 o;
void main() { o = texture(s, vec2(0.5)); }""")
ROWS = Program(VERT, """#version 450
layout(binding = 0) readonly buffer B { vec3 v[]; };
layout(location = 0) out vec4 o;
void main() { o = vec4(v[1], 1); }""")
PLAIN = State(depth_test=False, depth_write=False)
CORNERS = np.array([(-1, -1), (3, -1), (-1, 3)], "f4")
VERTICES = CORNERS.view([("p", "f4", 2)]).reshape(-1)
PIXELS = np.full((2, 2, 4), 128, np.uint8)
TARGET = Target("r8g8b8a8_unorm", (4, 4), "shadow")


def _draw(program: Program = WHITE, vertices: Any = VERTICES, indices: Any = None, **more: Any) -> list[int]:
    frame = Frame((4, 4), depth_format=None, draws=(Draw(program, vertices, indices, state=PLAIN, **more),),
                  passes=(Pass(color=(Output(TARGET, clear=(1, 0, 0, 1)),)),))  # fmt: skip
    return [int(v) for v in SceneRenderer(tg.Device()).render(frame).images[0][2, 2]]


@pytest.mark.parametrize(
    "vertices",
    [CORNERS, CORNERS.astype("f8"), VERTICES.astype([("p", "f8", 2)]), CORNERS.astype("f8").view([("p", "f8", 2)]).reshape(-1)],
    ids=["rows", "rows of 64 bits", "fields of 64 bits", "another array with fields"],
)
def test_vertices(vertices: Any) -> None:
    assert _draw(vertices=vertices) == [255] * 4
    assert Draw(WHITE, VERTICES).vertices is VERTICES  # what fits is the object that was given: renderers know it again


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i2", "i4", "i8", "u8"])
def test_indices(dtype: str) -> None:
    assert _draw(indices=np.array([0, 1, 2], dtype)) == [255] * 4


def test_numbers_that_nothing_holds() -> None:
    with pytest.raises(tg.ValidationError, match="draw 'x': indices are from -1 to 2; they must be 0 to 4294967295"):
        Draw(WHITE, VERTICES, np.array([-1, 0, 2]), label="x")
    with pytest.raises(tg.ValidationError, match="draw 'x': vertices has numbers beyond what 32-bit floats hold"):
        Draw(WHITE, CORNERS.astype("f8") * 1e300, label="x")


def test_rows_of_a_block() -> None:
    rows = np.array([[0, 0, 0], [1, 0.2, 0.4], [0, 0, 0]])
    for given in (rows, rows.astype("f4"), {"v": rows}, np.pad(rows, ((0, 0), (0, 1))).astype("f4")):
        assert _draw(ROWS, bind={"B": given}) == [255, 51, 102, 255]


@pytest.mark.parametrize(
    ("program", "name", "value", "said"),
    [
        (READ, "s", PIXELS, r"bind 's' is an array of shape \(2, 2, 4\), and a combined_image_sampler; give a tilegpu.scene.Texture\("),
        (READ, "s", TARGET, r"bind 's' is target 'shadow' alone; give tilegpu.scene.Sampled\(target\)"),
        (READ, "s", Output(TARGET), "bind 's' is target 'shadow' alone"),
        (READ, "s", "x", "bind 's' is 'x', and a combined_image_sampler"),
        (ROWS, "B", Sampled(TARGET), "bind 'B' is a tilegpu.scene.Sampled, and a storage_buffer; give an array"),
        (ROWS, "B", Texture(PIXELS), "bind 'B' is a tilegpu.scene.Texture, and a storage_buffer; give an array"),
    ],
)
def test_what_a_binding_does_not_take(program: Program, name: str, value: Any, said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        _draw(program, bind={name: value})
    assert _draw(READ, bind={"s": Texture(PIXELS, mipmaps=False)}) == [128] * 4
    assert _draw(READ, bind={"s": Sampled(TARGET)}) == [255, 0, 0, 255]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"samples": 4, "resolve": "yes"}, "frame 'frame': resolve is 'yes'; it must be 'none', 'pass' or 'store_cmd'"),
        ({"samples": "4"}, "frame 'frame': samples is '4'; it must be 1, 2, 4, 8 or 16"),
        ({"color_formats": "r8g8b8a8_unorm"}, "color_formats is 'r8g8b8a8_unorm'; it must be a tuple of formats"),
        ({"clear_colors": (1, 0, 0, 1)}, "clear_colors is 1; it must be a tuple of colours"),
        ({"clear_colors": np.ones((1, 4))}, "clear_colors is array"),
        ({"passes": (Pass(color=(Output(TARGET, load="yes"),)),)}, "load of target 'shadow' is 'yes'; it must be 'clear', 'load' or"),  # type: ignore[arg-type]
        ({"passes": (Pass(color=(Output(TARGET),), samples=3),)}, "samples is 3; allowed are 1, 2, 4, 8 and 16"),
    ],
)
def test_fields_of_frames(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        SceneRenderer(tg.Device()).render(Frame((4, 4), depth_format=None, **fields))
