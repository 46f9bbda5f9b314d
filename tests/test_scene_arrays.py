"""Scenes take the arrays that draws take, and say in their own words what they don't."""

from __future__ import annotations

import os
import re
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
        ({"passes": (Pass(color=(Output(TARGET),), samples=3),)}, "samples is 3; it must be 1, 2, 4, 8 or 16"),
    ],
)
def test_fields_of_frames(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        SceneRenderer(tg.Device()).render(Frame((4, 4), depth_format=None, **fields))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4"])
def test_indices_with_a_sign_are_the_same_memory(dtype: str) -> None:
    indices = np.array([0, 1, 2], dtype)
    one, other = Draw(WHITE, VERTICES, indices), Draw(WHITE, VERTICES, indices)
    assert one.indices is not None and np.shares_memory(one.indices, indices) and one.indices.dtype == np.dtype(dtype.replace("i", "u"))
    assert one.indices is other.indices, "renderers know arrays by identity"
    renderer = SceneRenderer(tg.Device())
    frame = Frame((4, 4), depth_format=None, draws=(Draw(WHITE, VERTICES, indices, state=PLAIN),))
    assert renderer.render(frame).images[0][2, 2].tolist() == [255] * 4
    indices[:] = 0  # as it is, not as it was
    assert renderer.render(frame).images[0][2, 2].tolist() != [255] * 4
    indices[1] = -1
    with pytest.raises(tg.ValidationError, match="draw 'x': indices are from -1 to 0; they must be 0 to 4294967295"):
        Draw(WHITE, VERTICES, indices, label="x")
    assert _draw(indices=np.array([[0, 9], [1, 9], [2, 9]], dtype)[:, 0]) == [255] * 4


@pytest.mark.skipif("TILEGPU_SANITIZED" in os.environ, reason="what is freed is kept back there: no id comes again")
def test_views_that_were_made_before_are_of_the_same_memory() -> None:
    """Another array may have the id of one that is gone, whose view somebody keeps."""
    rows, ids, kept = np.arange(100, dtype="f4").reshape(50, 2), set(), []
    for k in range(40):
        part = rows[k : k + 3]
        vertices = Draw(WHITE, part).vertices
        assert vertices is not None and np.shares_memory(vertices, part) and vertices["f0"].tolist() == part.tolist()
        ids.add(id(part))
        kept.append(vertices)
        del part
    assert len(ids) < 40, "one id is that of several arrays"


MASK = [[True, False], [False, False], [False, False]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"vertices": np.ma.MaskedArray(CORNERS, MASK)}, "draw 'x': vertices is a masked array"),
        ({"vertices": np.ma.MaskedArray(VERTICES, [(True,), (False,), (False,)])}, "draw 'x': vertices: field 'p' is a masked array"),
        ({"indices": np.ma.MaskedArray([0, 1, 2], [False, False, True])}, "draw 'x': indices is a masked array"),
        ({"indices": np.ma.MaskedArray(np.array([0, 1, 2], "u4"), [False, False, True])}, "draw 'x': indices is a masked array"),
        ({"program": ROWS, "bind": {"B": np.ma.MaskedArray(np.zeros((3, 3), "f4"), True)}}, "draw 'x': bind 'B' is a masked array"),
        ({"program": ROWS, "bind": {"B": np.ma.MaskedArray(np.zeros(12, "f4"), True)}}, "draw 'x': bind 'B' is a masked array"),
        ({"program": ROWS, "bind": {"B": {"v": np.ma.MaskedArray(np.zeros((3, 3), "f4"), True)}}}, "v is a masked array"),
        ({"program": READ, "bind": {"s": Texture(np.ma.MaskedArray(PIXELS, True))}}, "is a masked array"),
    ],
)
def test_masked_arrays(given: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=f"{said}, and what is masked would be used"):
        _draw(label="x", **given)


def test_nothing_masked_is_an_array() -> None:
    for mask in (False, np.zeros((3, 2), bool)):
        assert _draw(vertices=np.ma.MaskedArray(CORNERS, mask), indices=np.ma.MaskedArray([0, 1, 2])) == [255] * 4


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_floats_of_any_byte_order(order: str, kind: str) -> None:
    assert _draw(vertices=CORNERS.astype(order + kind)) == [255] * 4
    assert _draw(vertices=VERTICES.astype([("p", order + kind, 2)])) == [255] * 4
    assert _draw(indices=np.array([0, 1, 2], order + kind.replace("f", "i"))) == [255] * 4


@pytest.mark.parametrize("kind", ["f4", "<f8", ">f8"])
def test_vertices_without_rows(kind: str) -> None:
    """One number for each vertex is what some shaders take; what has no rows is told in the draw's words, what is empty draws nothing."""
    one = Program(VERT.replace("vec2 p", "float p").replace("vec4(p,", "vec4(p, gl_VertexIndex * 2 - 1,"), WHITE.fragment)
    assert _draw(one, np.array([-1, 3, -1], kind)) == _draw(one, np.array([[-1], [3], [-1]], kind))
    with pytest.raises(tg.ValidationError, match="draw 'x': vertices has numbers beyond what 32-bit floats hold"):
        Draw(one, np.array([1e300], kind.replace("4", "8")), label="x")
    empty = _draw(vertices=VERTICES[:0])
    for given in (np.zeros((0, 2), kind), np.zeros(0, [("p", kind, 2)])):
        assert _draw(vertices=given) == empty
    assert _draw(one, np.zeros(0, kind)) == empty
    must = r"it must have a row for each vertex: an array with fields, of shape \(n, C\) with 1 to 4 numbers in a row, or \(n,\) of one"
    for shape in ((), (3, 0), (3, 5), (1, 3, 2)):
        said = re.escape(f"has shape {shape}") if shape else "is one number"
        with pytest.raises(tg.ValidationError, match=f"draw 'x': vertices {said}; {must}"):
            Draw(WHITE, np.zeros(shape, kind), label="x")
