"""Advice that led to something else: names of other interfaces beside names that are spelt alike and mean another test; messages that
went in a circle, or named the half of a fix; shaders in each other's place."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import _core, enum_names, enums
from tilegpu.scene import Blend, Draw, Frame, Program, State
from tilegpu.scene.render import SceneRenderer

F = "r8g8b8a8_unorm"
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
STENCIL: dict[str, Any] = {"stencil": "s8_uint"}


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def advised(kind: str, name: str) -> str:
    with pytest.raises(tg.ValidationError) as found:
        enums.parse(kind, name, "x")
    return str(found.value).partition("; ")[2].partition("?")[0]


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        ("compare_op", "lequal", "less_or_equal"),
        ("compare_op", "GL_GEQUAL", "greater_or_equal"),
        ("compare_op", "less-equal", "less_or_equal"),
        ("compare_op", "<=", "less_or_equal"),
        ("stencil_op", "increment-clamp", "increment_and_clamp"),
        ("stencil_op", "IncrementSaturate", "increment_and_clamp"),
        ("stencil_op", "decr_wrap", "decrement_and_wrap"),
        ("front_face", "anticlockwise", "counter_clockwise"),
        ("front_face", "ccw", "counter_clockwise"),
        ("blend_factor", "INV_SRC_ALPHA", "one_minus_src_alpha"),
        ("blend_factor", "one-minus-constant", "one_minus_constant_color"),
        ("blend_op", "func_reverse_subtract", "reverse_subtract"),
        ("blend_op", "REV_SUBTRACT", "reverse_subtract"),
        ("logic_op", "xnor", "equivalent"),
        ("sampler_address_mode", "wrap", "repeat"),
        ("sampler_address_mode", "mirror_once", "mirror_clamp_to_edge"),
        ("primitive_topology", "triangles", "triangle_list"),
        ("primitive_topology", "line_loop", "line_strip"),
        ("attachment_load_op", "discard", "dont_care"),
        ("buffer_usage", "constant_buffer", "uniform_buffer"),
        ("shader_stage", "tes", "tessellation_evaluation"),
    ],
)
def test_names_of_other_interfaces(kind: str, name: str, meant: str) -> None:
    assert advised(kind, name) == f"did you mean '{meant}'"


@pytest.mark.parametrize(
    ("kind", "name", "several"),
    [
        ("stencil_op", "increment", ("increment_and_clamp", "increment_and_wrap")),  # OpenGL's INCR, and Direct3D's
        ("stencil_op", "GL_DECR", ("decrement_and_clamp", "decrement_and_wrap")),
        ("border_color", "opaque_black", ("float_opaque_black", "int_opaque_black")),
        ("image_usage", "render_attachment", ("color_attachment", "depth_stencil_attachment")),
    ],
)
def test_names_that_interfaces_differ_in(kind: str, name: str, several: tuple[str, ...]) -> None:
    assert advised(kind, name) == "did you mean " + " or ".join(f"'{one}'" for one in several)


def test_the_table_leads_to_names_that_there_are() -> None:
    """And says nothing of a name that is Vulkan's own."""
    fields = {"dynamic state": list(_core.DYNAMIC_STATES)}
    for kind, names in enum_names._WORDS.items():
        known = _core.ENUMS.get(kind) or fields.get(kind)
        for own, foreign in names.items() if known else ():
            assert own in known, (kind, own)
            for word in foreign.split():
                assert word not in known, (kind, word)


def test_fields_of_other_interfaces(dev: tg.Device) -> None:
    for state, meant in (
        ({**STENCIL, "stencil_test": {"zfail": "keep"}}, "depth_fail"), ({**STENCIL, "stencil_test": {"func": "equal"}}, "compare"),
        ({"blend": {"srcFactor": "one"}}, "src_color"), ({"blend": "normal"}, "alpha"), ({"dynamic": ["write_mask"]}, "color_write_mask"),
        ({"dynamic": ["line_mode"]}, "line_rasterization_mode"), ({"depth": "d32_sfloat", "depth_bias": {"factor": 1}}, "slope"),
    ):  # fmt: skip
        with pytest.raises(tg.ValidationError, match=f"did you mean '{meant}'"):
            dev.pipeline(FULL, WHITE, color=[F], **state)


# -------------------------------------------------------------------------------------------------------------- scenes


def test_how_scenes_blend(dev: tg.Device) -> None:
    """Three messages named each other, and none the class that is meant."""
    given = {"src_color": "one", "dst_color": "one"}
    with pytest.raises(tg.ValidationError, match=r"give tilegpu\.scene\.Blend\((.*)\)$") as found:
        State(blend=given)  # type: ignore[arg-type]
    made = eval(str(found.value).partition("give tilegpu.scene.")[2], {"Blend": Blend})
    assert isinstance(made, Blend)

    def drawn(blend: Any) -> Any:
        half = WHITE.replace("vec4(1)", "vec4(0.25, 0.25, 0.25, 0.5)")
        draws = (Draw(Program(FULL, half), count=3, state=State(blend=blend, depth_test=False)),) * 2
        return SceneRenderer(dev).render(Frame((4, 4), draws=draws, depth_format=None, clear_colors=((0, 0, 0, 0),))).images[0]

    assert (drawn(made) == drawn("additive")).all()
    for wrong in (True, 5, ["alpha"], {"src": "one"}):
        with pytest.raises(tg.ValidationError, match=r"State: blend is .*None, 'alpha' or a tilegpu\.scene\.Blend"):
            State(blend=wrong)  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=r"did you mean 'additive'.*or give a tilegpu\.scene\.Blend\("):
        drawn("additve")
    assert dataclasses.replace(State(), blend=False).blend is False  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------------- draws


def test_data_of_instances_beside_vertices(dev: tg.Device) -> None:
    text = "#version 450\nlayout(location = 0) in vec2 p; layout(location = 1) in vec2 q; void main() { gl_Position = vec4(p + q, 0, 1); }"
    pair = np.dtype(("f4", 2))
    pipe, out = dev.pipeline(text, WHITE, vertex=[pair, pair], color=[F]), dev.image((4, 4), F)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        with pytest.raises(tg.ValidationError, match=r"6 elements, vertices\[1\] has 2; .*dev\.pipeline\(instance=\.\.\.\)"):
            rp.draw(pipe, [np.zeros((6, 2), "f4"), np.zeros((2, 2), "f4")])
        rp.draw(pipe, [np.zeros((3, 2), "f4"), np.zeros((3, 2), "f4")])


def test_bias_without_depth(dev: tg.Device) -> None:
    """Its advice was an argument that had no effect either."""
    out, pipe = dev.image((4, 4), F), dev.pipeline(FULL, WHITE, color=[F])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3, depth_bias=(1, 1))
    assert "give depth=, and depth_bias=(0, 0)" in str(found[0].message)


def test_shaders_in_each_others_place(dev: tg.Device) -> None:
    with pytest.raises(tg.ShaderError, match=r"'gl_VertexIndex' is of vertex shaders, .*as the fragment shader \(dev\.pipeline takes"):
        dev.pipeline(WHITE, FULL, color=[F])
    with pytest.raises(tg.ShaderError, match="'gl_FragCoord' is of fragment shaders, and this text was given as the vertex shader"):
        dev.pipeline("#version 450\nvoid main() { gl_Position = gl_FragCoord; }", WHITE, color=[F])
    with pytest.raises(tg.ShaderError, match=r"(?m)given as the compute shader$"):
        dev.compute_pipeline(FULL)
    with pytest.raises(tg.ShaderError) as found:
        dev.pipeline(FULL, WHITE.replace("vec4(1)", "vec4(typo)"), color=[F])
    assert "was given as" not in str(found.value)


GEOMETRY = """#version 450
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
void main() { gl_Position = gl_in[0].gl_Position; EmitVertex(); }"""
CONTROL = "#version 450\nlayout(vertices = 3) out; void main() { gl_out[gl_InvocationID].gl_Position = gl_in[0].gl_Position; }"
WORK = "#version 450\nlayout(local_size_x = 1) in; void main() {}"
SWAPPED: list[tuple[str, str, str]] = [
    ("fragment", GEOMETRY, "'EmitVertex' is of geometry shaders, and this text was given as the fragment shader"),
    ("vertex", CONTROL, "'gl_out' is of tessellation control shaders"),
    ("tessellation_evaluation", CONTROL, "'gl_out' is of tessellation control shaders"),
    ("vertex", WORK, "'local_size_x' is of compute shaders, and this text was given as the vertex shader"),
    ("fragment", WORK, "'local_size_x' is of compute shaders"),
    ("compute", WHITE, "variables that are in and out are of shaders that draw"),
    ("geometry", WHITE, "this text, which was given as the geometry shader, is one of another stage"),
    ("tessellation_control", WHITE, "this text, which was given as the tessellation control shader, is one of another stage"),
    ("tessellation_evaluation", WHITE, "this text, which was given as the tessellation evaluation shader, is one of another stage"),
]


@pytest.mark.parametrize("stage, text, said", SWAPPED)
def test_a_stage_in_anothers_place_is_said_before_what_follows_from_it(stage: str, text: str, said: str) -> None:
    with pytest.raises(tg.ShaderError) as found:
        tg.compile_glsl(text, stage)
    assert said in str(found.value).splitlines()[1]


def test_what_is_only_unfinished_is_of_its_stage() -> None:
    """A variable called like an identifier of layouts, and shaders that lack a part of their own."""
    for stage, text in (
        ("vertex", "#version 450\nvoid main() { gl_Position = vertices[gl_VertexIndex] + max_vertices + local_size_x; }"),
        ("geometry", GEOMETRY.replace("layout(triangles) in;", "")),
        ("tessellation_evaluation", "#version 450\nvoid main() { gl_Position = vec4(gl_TessCoord, 1); }"),
    ):
        with pytest.raises(tg.ShaderError) as found:
            tg.compile_glsl(text, stage)
        assert "was given as" not in str(found.value), stage
