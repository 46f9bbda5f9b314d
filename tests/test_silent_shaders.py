"""Shaders that do not do what their pipeline is for: misspelt macros, outputs that are only declared, positions that nobody writes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"
BRIGHT = """#version 450
layout(location = 0) out vec4 o;
void main() {
#ifdef HDR
    o = vec4(1);
#else
    o = vec4(0);
#endif
}"""
FORMAT = "r8g8b8a8_unorm"
COMPUTE = "#version 450\nlayout(local_size_x = 4) in;\nvoid main() {}"
NOWHERE = "#version 450\nlayout(location = 0) in vec3 position;\nvoid main() {}"
PLACES = np.dtype([("position", "f4", 3)])


@pytest.fixture
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=1)


def silent(dev: tg.Device, *shaders: Any, **state: Any) -> tg.Pipeline:
    """A pipeline of which nothing is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return dev.pipeline(*shaders, **{"color": [FORMAT], **state})


# ------------------------------------------------------------------------------------------------------------------ macros


def test_misspelt_define(dev: tg.Device) -> None:
    with pytest.warns(
        tg.UnusedNameWarning, match="defines has 'HRD', which no shader text of the pipeline names; did you mean 'HDR'"
    ) as told:
        dev.pipeline(FULL, BRIGHT, color=[FORMAT], defines={"HRD": 1})
    assert len(told) == 1
    with pytest.warns(tg.UnusedNameWarning, match="defines has 'SIZE', which no shader text .* leave it out"):
        dev.compute_pipeline(COMPUTE, defines={"SIZE": 4})


def test_defines_that_are_named(dev: tg.Device, tmp_path: Path) -> None:
    silent(dev, FULL, BRIGHT, defines={"HDR": 1})
    silent(
        dev, FULL.replace("450", "450\n#ifdef HDR\n#endif"), WHITE, defines={"HDR": None}
    )  # one of the stages is enough
    silent(dev, FULL, WHITE.replace("(1)", "(ONE)"), defines={"ONE": "UNIT", "UNIT": 1})  # by another one's value
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "deep.glsl").write_text("#ifdef DEEP\n#endif\n")
    (tmp_path / "near.glsl").write_text('#include "deep.glsl"\n#ifdef NEAR\n#endif\n')
    (tmp_path / "a.frag").write_text(
        WHITE.replace("450", '450\n#extension GL_GOOGLE_include_directive : require\n#include "near.glsl"')
    )
    silent(dev, FULL, tmp_path / "a.frag", include=[tmp_path / "inc"], defines={"NEAR": 1, "DEEP": 1})
    with pytest.warns(tg.UnusedNameWarning, match="'DEPE', .*did you mean 'DEEP'"):
        dev.pipeline(FULL, tmp_path / "a.frag", color=[FORMAT], include=[tmp_path / "inc"], defines={"DEPE": 1})
    pasted = WHITE.replace("450", "450\n#define JOIN(a, b) a##b").replace("(1)", "(JOIN(O, NE))")
    silent(dev, FULL, pasted, defines={"ONE": 1})


def test_false_is_no_define(dev: tg.Device) -> None:
    for make in (
        lambda: dev.pipeline(FULL, BRIGHT, color=[FORMAT], defines={"HDR": False}),
        lambda: dev.compute_pipeline(COMPUTE.replace("4)", "HDR)"), defines={"HDR": False}),
        lambda: tg.compile_glsl(BRIGHT, "fragment", defines={"HDR": False}),
    ):
        with pytest.raises(
            tg.ValidationError,
            match="in defines 'HDR' is False, and #ifdef would find it defined; leave the name out, or give 0 for #if",
        ):
            make()
    silent(dev, FULL, BRIGHT, defines={"HDR": True})
    silent(dev, FULL, BRIGHT.replace("#ifdef HDR", "#if HDR"), defines={"HDR": 0})


def test_a_missing_include_folder_is_told_once(dev: tg.Device) -> None:
    for make in (
        lambda: dev.pipeline(FULL, WHITE, color=[FORMAT], include="nodir"),
        lambda: dev.compute_pipeline(COMPUTE, include="nodir"),
    ):
        with pytest.warns(tg.UnusedNameWarning, match="pipeline: include: there is no folder nodir") as told:
            make()
        assert len(told) == 1


# ----------------------------------------------------------------------------------------------------------------- outputs


def test_output_that_is_only_declared(dev: tg.Device) -> None:
    two = WHITE.replace("out vec4 o;", "out vec4 o;\nlayout(location = 1) out vec4 glow;")
    with pytest.warns(
        tg.UnusedNameWarning, match=r"color\[1\]: the fragment shader never writes its output 'glow' \(location 1\)"
    ) as told:
        dev.pipeline(FULL, two, color=[FORMAT, FORMAT])
    assert len(told) == 1
    silent(dev, FULL, two, color=[FORMAT, None])
    silent(dev, FULL, two, color=[FORMAT, FORMAT], write_mask=["rgba", ""])
    silent(dev, FULL, two, color=[FORMAT, FORMAT], attachment_locations=[0, None])
    through = two.replace("void main() {", "void fill(out vec4 to) { to = vec4(0); }\nvoid main() { fill(glow);")
    silent(dev, FULL, through, color=[FORMAT, FORMAT])
    silent(
        dev,
        FULL,
        two.replace("o = vec4(1);", "o = vec4(1); if (gl_FragCoord.x < 1) glow.x = 1;"),
        color=[FORMAT, FORMAT],
    )


def test_depth_that_nothing_looks_at(dev: tg.Device) -> None:
    """gl_FragDepth without a depth attachment, with early tests was computed for nothing, and nothing said so."""
    depth = WHITE.replace("o = vec4(1);", "o = vec4(1); gl_FragDepth = 0.25;")
    early = depth.replace("#version 450", "#version 450\nlayout(early_fragment_tests) in;")
    z: Any = {"color": [FORMAT], "depth": "d32_sfloat"}
    cases: list[tuple[str, dict[str, Any], str]] = [
        (depth, {"color": [FORMAT]}, r"no effect without a depth attachment; give depth="),
        (early, z, r"early_fragment_tests\), which takes the primitive's"),
        (early, {"color": [FORMAT]}, "early_fragment_tests"),
    ]  # fmt: skip
    for text, given, said in cases:
        with pytest.warns(tg.UnusedNameWarning, match="gl_FragDepth, which the fragment shader writes, has .*" + said) as told:
            dev.pipeline(FULL, text, **given)
        assert len(told) == 1
    stencil = WHITE.replace("#version 450", "#version 450\n#extension GL_ARB_shader_stencil_export : require")
    stencil = stencil.replace("o = vec4(1);", "o = vec4(1); gl_FragStencilRefARB = 1;")
    for given, said in (({}, "without a stencil attachment"), ({"stencil": "s8_uint"}, "without stencil_test")):
        with pytest.warns(tg.UnusedNameWarning, match="gl_FragStencilRefARB, which the fragment shader writes, has no effect " + said):
            dev.pipeline(FULL, stencil, color=[FORMAT], **given)
    silent(dev, FULL, depth, **z)
    silent(dev, FULL, depth, **z, depth_compare="always", depth_write=False)
    silent(dev, FULL, depth, **z, depth_test=False)
    silent(dev, FULL, depth, rasterizer_discard=True)
    silent(dev, FULL, early.replace("gl_FragDepth = 0.25;", ""), **z)
    silent(dev, FULL, stencil, color=[FORMAT], stencil="s8_uint", stencil_test={"pass": "replace"})


# --------------------------------------------------------------------------------------------------------------- positions


def test_no_position(dev: tg.Device) -> None:
    said = "the vertex shader never writes gl_Position; write it, or give rasterizer_discard=True"
    with pytest.warns(tg.UndefinedContentsWarning, match=said) as told:
        dev.pipeline(NOWHERE, WHITE, vertex=PLACES, color=[FORMAT])
    assert len(told) == 1
    with pytest.warns(tg.UndefinedContentsWarning, match=said):
        dev.pipeline(NOWHERE.replace("{}", "{ gl_PointSize = 1; }"), WHITE, vertex=PLACES, color=[FORMAT])
    with pytest.warns(tg.UndefinedContentsWarning, match=said):
        dev.pipeline(NOWHERE, None, vertex=PLACES, depth="d32_sfloat")
    with pytest.raises(tg.UndefinedContentsError, match=said):
        tg.Device(cache_dir="off", strict=True).pipeline(NOWHERE, WHITE, vertex=PLACES, color=[FORMAT])


GEOMETRY = """#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
void main() {
    for (int k = 0; k < 3; ++k) { POSITION EmitVertex(); }
}"""
STORES = "#version 450\nlayout(binding = 0) buffer B { uint n[]; };\nvoid main() { n[gl_VertexIndex] = 1; }"


def test_positions_that_some_stage_writes(dev: tg.Device) -> None:
    written = GEOMETRY.replace("POSITION", "gl_Position = vec4(k, 0, 0, 1);")
    silent(dev, "#version 450\nvoid main() {}", WHITE, geometry=written)
    with pytest.warns(tg.UndefinedContentsWarning, match="the geometry shader never writes gl_Position"):
        dev.pipeline(FULL, WHITE, geometry=GEOMETRY.replace("POSITION", "gl_PrimitiveID = k;"), color=[FORMAT])
    silent(
        dev,
        FULL.replace("gl_Position = ", "vec4 p = ").replace("; }", "; gl_Position.xyz = p.xyz; gl_Position.w = p.w; }"),
        WHITE,
    )
    through = FULL.replace(
        "void main() { gl_Position = ", "void put(out vec4 to, vec4 p) { to = p; }\nvoid main() { put(gl_Position, "
    )
    silent(dev, through.replace("1); }", "1)); }"), WHITE)
    silent(dev, "#version 450\nvoid main() {}", WHITE, rasterizer_discard=True)
    silent(dev, "#version 450\nvoid main() {}", WHITE, dynamic=["rasterizer_discard_enable"])
    silent(dev, STORES, None, color=[])
