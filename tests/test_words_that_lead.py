"""Messages lead to the fix: names that are near, both names of one place, the key that is meant, the number of sizes that is a type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.errors import near_names

FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda d: d.image((4, 4), "r8_unorm").view("3d"), r"image is 2d; create it with a size of three numbers, \(width, height, depth"),
        (lambda d: d.image((4, 4), "r8_unorm").view("1d_array"), r"the image is 2d; create it with a size of one number, \(width,\)"),
        (lambda d: d.image((4, 4), "r8_unorm").view("cube"), "is no cube; create it with cube=True"),
        (lambda d: d.image((4,), "r8_unorm").view("2d"), r"the image is 1d; create it with a size of two numbers"),
        (lambda d: d.image((4, 4), "r8_unorm", type="3d"), r"no argument 'type'; the number of sizes says it: \(width,\) is 1d"),
        (lambda d: d.image((4, 4), "r8_unorm", depth=4), r"no argument 'depth'; it is the third number of size"),
        (lambda d: tg.Attachment(d.image((4, 4), "r8_unorm"), claer=1), "no argument 'claer'; did you mean 'clear'"),
    ],
)
def test_what_is_meant(make: Callable[[tg.Device], Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        make(tg.Device())


def test_views_that_images_have_are_made() -> None:
    dev = tg.Device()
    for size, options, types in (
        ((4,), {}, ("1d", "1d_array")),
        ((4, 4), {}, ("2d", "2d_array")),
        ((4, 4), {"cube": True}, ("cube", "cube_array", "2d_array")),
        ((4, 4, 4), {}, ("3d",)),
    ):
        for type_ in types:
            assert dev.image(size, "r8_unorm", **options).view(type_).type == type_
    assert dev.image((4, 4, 4), "r8_unorm").view("2d", level=0, levels=1, layer=1, layers=1).type == "2d"


def test_letters_that_changed_places() -> None:
    assert near_names("claer", ["layer", "clear"])[0] == "clear"
    assert near_names("lable", ["table", "label"])[0] == "label"
    assert near_names("mipmap", ["mipmaps", "map"])[0] == "mipmaps"


def _bound(dev: tg.Device, vert: str, frag: str, bind: Any) -> np.ndarray[Any, Any]:
    out = dev.image((1, 1), "r32g32b32a32_sfloat")
    pipe = dev.pipeline(vert, frag, color=[out.format])
    with dev.render_pass(color=[tg.Attachment(out, load_op="dont_care")]) as rp:
        rp.draw(pipe, count=3, bind=bind)
    return out.numpy()[0, 0]


ONE = "#version 450\nlayout(binding = 0) uniform U { vec4 a; };\nlayout(location = 0) out vec4 o;\nvoid main() { o = a; }"


def test_a_number_is_no_key() -> None:
    dev = tg.Device()
    with pytest.raises(tg.ValidationError, match=r"no binding 0: a key is a name, or \(set, binding\), such as \(0, 0\)"):
        _bound(dev, FULL, ONE, {0: np.ones(4, "f4")})
    with pytest.raises(tg.ValidationError, match=r"no binding 3: a key is a name, or \(set, binding\), such as \(0, 3\)"):
        _bound(dev, FULL, ONE, {3: np.ones(4, "f4")})
    assert _bound(dev, FULL, ONE, {(0, 0): np.ones(4, "f4")}).tolist() == [1, 1, 1, 1]


TWO_VERT = """#version 450
layout(binding = 0) uniform U { vec4 a; };
layout(location = 0) out vec4 v;
void main() { v = a; gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
TWO_FRAG = """#version 450
layout(binding = 0) uniform L { vec4 a; };
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 o;
void main() { o = a + v; }"""
TWO_SAMPLERS = """#version 450
layout(binding = 0) uniform sampler2D first;
layout(binding = 0) uniform sampler2D second;
layout(location = 0) out vec4 o;
void main() { o = texelFetch(first, ivec2(0), 0) + texelFetch(second, ivec2(0), 0); }"""


def test_both_names_of_one_place() -> None:
    dev = tg.Device()
    ones = np.ones(4, "f4")
    interface = dev.pipeline(TWO_VERT, TWO_FRAG, color=["r32g32b32a32_sfloat"]).interface
    assert "U or L" in str(interface) and interface.bindings[0, 0].title == "'U' or 'L' (set 0, binding 0)"
    assert _bound(dev, TWO_VERT, TWO_FRAG, {"L": ones}).tolist() == _bound(dev, TWO_VERT, TWO_FRAG, {"U": ones}).tolist() == [2, 2, 2, 2]
    with pytest.raises(tg.ValidationError, match="bound twice: 'U' and 'L' are at one place; give them a binding each in the shaders"):
        _bound(dev, TWO_VERT, TWO_FRAG, {"U": ones, "L": ones})
    with pytest.raises(tg.ValidationError, match="no binding 'X'; there are: U, L"):
        _bound(dev, TWO_VERT, TWO_FRAG, {"X": ones})
    texture = dev.texture(np.full((1, 1, 4), 51, np.uint8))
    with pytest.raises(tg.ValidationError, match="'first' and 'second' are at one place"):
        _bound(dev, FULL, TWO_SAMPLERS, {"first": texture, "second": texture})
    assert _bound(dev, FULL, TWO_SAMPLERS, {"second": texture}).tolist() == pytest.approx([0.4] * 4)


def test_one_name_of_one_place_stays_one() -> None:
    vert, frag = TWO_VERT.replace("vec4 a; };", "vec4 a; } one;").replace("v = a", "v = one.a"), TWO_FRAG.replace("uniform L", "uniform U")
    binding = tg.Device().pipeline(vert, frag, color=["r32g32b32a32_sfloat"]).interface.bindings[0, 0]
    assert binding.aliases == []


def test_srgb_can_never_be_written_by_shaders() -> None:
    dev = tg.Device()
    store = "#version 450\nlayout(binding = 0) writeonly uniform image2D i;\nvoid main() { imageStore(i, ivec2(0), vec4(1)); }"
    kernel = dev.compute_pipeline(store)
    for format_ in ("r8g8b8a8_srgb", "d32_sfloat"):
        with pytest.raises(tg.ValidationError, match=f"create an image of a colour format that is not sRGB.*can't write {format_}"):
            dev.dispatch(kernel, (1, 1, 1), bind={"i": dev.image((4, 4), format_)})
    with pytest.raises(tg.ValidationError, match="create the image with that usage"):
        dev.dispatch(kernel, (1, 1, 1), bind={"i": dev.image((4, 4), "r8g8b8a8_unorm", usage="sampled")})


@pytest.mark.parametrize(
    ("format_", "said"),
    [
        ("d32_sfloat", "early depth test (stored depth 0)"),
        ("s8_uint", "early stencil test (stored stencil 7)"),
        ("d24_unorm_s8_uint", "early depth/stencil test (stored depth 0, stencil 7)"),
    ],
)
def test_histories_name_the_tests_that_there_are(format_: str, said: str) -> None:
    dev = tg.Device()
    out, buffer = dev.image((4, 4), "r8g8b8a8_unorm"), dev.image((4, 4), format_)
    options: dict[str, Any] = {}
    attached: dict[str, Any] = {}
    if format_.startswith("d"):
        options |= {"depth": format_, "depth_compare": "less"}
        attached["depth"] = tg.Attachment(buffer, clear=0.0)
    if "s8" in format_:
        options |= {"stencil": format_, "stencil_test": {"compare": "never"}}
        attached["stencil"] = tg.Attachment(buffer, clear=7)
    pipe = dev.pipeline(FULL, WHITE, color=[out.format], **options)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))], **attached) as rp:
        rp.draw(pipe, count=3)
    assert rp.why(1, 1).fragments[0].text == f"rejected by the {said}"


def test_pictures_of_explain_are_heatmaps_too() -> None:
    dev = tg.Device()
    out = dev.image((4, 4), "r8g8b8a8_unorm")
    pipe = dev.pipeline(FULL, WHITE, color=[out.format])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
        rp.draw(pipe, count=3)
    assert np.array_equal(rp.heatmap("overdraw"), rp.heatmap("rasterized")) and rp.heatmap("overdraw").sum() == 16
    assert rp.heatmap("tile_time").shape == (4, 4)
    with pytest.raises(tg.ValidationError, match="heatmap 'shade' is not known; did you mean 'shaded'"):
        rp.heatmap("shade")


def test_push_constants_that_are_too_long_lead_to_a_uniform_block() -> None:
    """By their block, not by an id of SPIR-V."""
    dev = tg.Device(threads=1)
    frag = "#version 450\nlayout(location=0) out vec4 o; void main(){o=vec4(1);}"
    block = "#version 450\nlayout(push_constant) uniform P{{vec4 x[20];}} {}; void main(){{gl_Position={}x[gl_VertexIndex];}}"
    for name, said in (("", "the block of push constants takes 320 bytes"), ("pc", "block 'pc' takes 320 bytes of push constants")):
        with pytest.raises(tg.ShaderError, match=rf"{said}; at most 256 are allowed: put it into a uniform block"):
            dev.pipeline(block.format(name, f"{name}." if name else ""), frag, color=["r8g8b8a8_unorm"])
        compute = "#version 450\nlayout(push_constant) uniform P{{vec4 x[20];}} {};\nlayout(binding=0) buffer B{{vec4 b;}};\n"
        compute += "void main(){{b={}x[0];}}"
        with pytest.raises(tg.ShaderError, match=rf"{said}; at most 256 are allowed: put it into a uniform block"):
            dev.compute_pipeline(compute.format(name, f"{name}." if name else ""))


def test_an_old_version_of_glsl_leads_to_450() -> None:
    old = "#version 330\nlayout(location=0) in vec4 p; layout(location=0) out vec2 uv; void main(){gl_Position=p;uv=p.xy;}"
    with pytest.raises(tg.ShaderError, match="its first line says #version 330: write #version 450"):
        tg.compile_glsl(old, "vertex")
    with pytest.raises(tg.ShaderError, match="its first line says #version 300 es: write #version 450"):
        tg.compile_glsl("#version 300 es\nin vec4 p; void main(){gl_Position=p;}", "vertex")
    with pytest.raises(tg.ShaderError) as caught:
        tg.compile_glsl("#version 330\nvoid main(){gl_Position=nothing;}", "vertex")
    assert "write #version" not in str(caught.value), "that is not why"
