"""Outputs that a stage never writes though the next one reads them: told when a pipeline is made, where it is certain, and only there."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tilegpu as tg

F = "r8g8b8a8_unorm"
HEAD = "#version 450\n"
PLACE = "vec2 uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2; gl_Position = vec4(uv * 2 - 1, 0, 1);"
FULL = HEAD + f"void main() {{ {PLACE} }}"
RED = HEAD + "layout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"
COLORED = HEAD + "layout(location = 0) in vec3 c; layout(location = 0) out vec4 o; void main() { o = vec4(c, 1); }"
OUTER, INNER = "gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 1.0;", "gl_TessLevelInner[0] = 1.0;"


@pytest.fixture(scope="module")
def devs() -> tuple[tg.Device, tg.Device]:
    return tg.Device(threads=1), tg.Device(threads=1, strict=True)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def vertex(body: str = "", declared: str = "layout(location = 0) out vec3 c;") -> str:
    return HEAD + f"{declared} void main() {{ {PLACE} {body} }}"


def control(levels: str, body: str = "", declared: str = "") -> str:
    return HEAD + f"""layout(vertices = 3) out; {declared}
        void main() {{ gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position; {levels} {body} }}"""


def evaluation(kind: str = "triangles", body: str = "", declared: str = "") -> str:
    return HEAD + f"layout({kind}) in; {declared} void main() {{ gl_Position = gl_in[0].gl_Position; {body} }}"


def told(devs: tuple[tg.Device, tg.Device], said: str, *shaders: str, **more: Any) -> None:
    with pytest.warns(tg.UndefinedContentsWarning, match=said):
        devs[0].pipeline(*shaders, color=[F], **more)
    with pytest.raises(tg.UndefinedContentsError, match=said):
        devs[1].pipeline(*shaders, color=[F], **more)


def test_levels(devs: tuple[tg.Device, tg.Device]) -> None:
    """Nothing was drawn, and nothing said so; of gl_Position it was."""
    said = r"control shader never writes gl_TessLevelOuter\. Vulkan leaves it undefined; here it is 0, and nothing is drawn"
    told(devs, said, FULL, RED, tessellation_control=control(""), tessellation_evaluation=evaluation())
    told(devs, said, FULL, RED, tessellation_control=control(INNER), tessellation_evaluation=evaluation())
    for kind in ("triangles", "quads"):
        stages = {"tessellation_control": control(OUTER), "tessellation_evaluation": evaluation(kind)}
        told(devs, "never writes gl_TessLevelInner", FULL, RED, **stages)


@pytest.mark.parametrize(
    ("kind", "levels"),
    [
        ("triangles", OUTER + INNER), ("isolines", OUTER), ("triangles", f"if (gl_InvocationID == 0) {{ {OUTER} {INNER} }}"),
        ("quads", "gl_TessLevelOuter = float[4](1, 1, 1, 1); gl_TessLevelInner = float[2](1, 1);"),
        ("triangles", "for (int i = 0; i < 3; i++) gl_TessLevelOuter[i] = 2.0; gl_TessLevelInner[gl_InvocationID & 1] = 1.0;"),
    ],
)  # fmt: skip
def test_levels_that_are_written(devs: tuple[tg.Device, tg.Device], kind: str, levels: str) -> None:
    devs[1].pipeline(FULL, RED, color=[F], tessellation_control=control(levels), tessellation_evaluation=evaluation(kind))


def test_variables(devs: tuple[tg.Device, tg.Device]) -> None:
    said = r"the vertex shader never writes its output 'c' \(location 0\), which the fragment shader reads\. Vulkan leaves it undefined"
    told(devs, said, vertex(), COLORED)
    block = COLORED.replace("in vec3 c;", "in S { vec3 c; } s;").replace("c, 1", "s.c, 1")
    told(devs, r"never writes its output 's\.c'", vertex(declared="layout(location = 0) out S { vec3 c; } s;"), block)
    tess = {
        "tessellation_control": control(OUTER + INNER, "c[gl_InvocationID] = v[gl_InvocationID];",
                                        "layout(location = 0) in vec3 v[]; layout(location = 0) out vec3 c[];"),
        "tessellation_evaluation": evaluation("triangles", "e = c[0];",
                                              "layout(location = 0) in vec3 c[]; layout(location = 0) out vec3 e;"),
    }  # fmt: skip
    told(devs, r"vertex shader never writes its output 'c' .*, which the tessellation control shader reads", vertex(), COLORED, **tess)
    tess["tessellation_control"] = control(OUTER + INNER, "", "layout(location = 0) out vec3 c[];")
    told(devs, r"control shader never writes its output 'c' .*, which the tessellation evaluation shader reads", FULL, COLORED, **tess)


@pytest.mark.parametrize(
    ("vert", "frag"),
    [
        (vertex("c = uv.xyx;"), COLORED),
        (vertex("c.x = 1;"), COLORED),  # some of it
        (vertex("if (gl_VertexIndex > 5) c = vec3(1);"), COLORED),
        (vertex("f(c);", "layout(location = 0) out vec3 c; void f(out vec3 x) { x = vec3(1); }"), COLORED),
        (vertex(), RED),  # and nobody reads it
        (vertex(), COLORED.replace("o = vec4(c, 1);", "o = vec4(1);")),
        # Under a condition it may never be read.
        (vertex(), COLORED.replace("void main() {", "layout(push_constant) uniform P { int k; }; void main() { o = vec4(1); if (k > 0)")),
        (vertex(), COLORED.replace("void main() {", "layout(constant_id = 0) const int k = 0; void main() { o = vec4(1); if (k > 0)")),
        (vertex("a = vec2(1);", "layout(location = 0, component = 0) out vec2 a; layout(location = 0, component = 2) out vec2 b;"),
         COLORED.replace("vec3 c;", "vec2 c;").replace("vec4(c, 1)", "vec4(c, 1, 1)")),
    ],
)  # fmt: skip
def test_variables_that_are_written_or_not_read(devs: tuple[tg.Device, tg.Device], vert: str, frag: str) -> None:
    devs[1].pipeline(vert, frag, color=[F])


def test_what_shades_nothing(devs: tuple[tg.Device, tg.Device]) -> None:
    devs[1].pipeline(vertex(), COLORED, color=[F], dynamic=["rasterizer_discard_enable"])
