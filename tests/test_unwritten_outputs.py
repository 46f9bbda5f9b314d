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
    for kind, fourth in (("triangles", ""), ("quads", "gl_TessLevelOuter[3] = 1;")):
        stages: dict[str, Any] = {"tessellation_control": control(OUTER + fourth), "tessellation_evaluation": evaluation(kind)}
        told(devs, r"never writes gl_TessLevelInner\. Vulkan", FULL, RED, **stages)


@pytest.mark.parametrize(
    ("kind", "levels", "said"),
    [
        ("quads", OUTER + "gl_TessLevelInner[0] = gl_TessLevelInner[1] = 1;",
         r"gl_TessLevelOuter\[3\]; quads have 4 outer levels\. Vulkan leaves it undefined; here it is 0, and nothing is drawn"),
        ("quads", OUTER + "gl_TessLevelOuter[3] = 1;" + INNER, r"gl_TessLevelInner\[1\]; quads have 2 inner levels\. .* here it is 0$"),
        ("triangles", "gl_TessLevelOuter[1] = 1;" + INNER, r"gl_TessLevelOuter\[0\], gl_TessLevelOuter\[2\]; triangles have 3 outer"),
        ("isolines", "gl_TessLevelOuter[1] = 1;", r"gl_TessLevelOuter\[0\]; isolines have 2 outer"),
        ("triangles", OUTER + "gl_TessLevelInner[1] = 1;", r"gl_TessLevelInner\[0\]; triangles have 1 inner level\. "),
        ("triangles", OUTER.replace("[2]", "[K]") + INNER, r"gl_TessLevelOuter\[2\]; triangles"),  # the constant's value
    ],
)  # fmt: skip
def test_levels_that_are_written_in_part(devs: tuple[tg.Device, tg.Device], kind: str, levels: str, said: str) -> None:
    """A blank picture, and not a word."""
    declared = "layout(constant_id = 0) const int K = 2;"
    stages: dict[str, Any] = {"tessellation_control": control(levels, "", declared), "tessellation_evaluation": evaluation(kind)}
    told(devs, "control shader never writes " + said, FULL, RED, **stages, constants={"K": 1} if "K" in levels else None)


@pytest.mark.parametrize(
    ("kind", "levels"),
    [
        ("triangles", OUTER + INNER), ("isolines", OUTER), ("triangles", f"if (gl_InvocationID == 0) {{ {OUTER} {INNER} }}"),
        ("quads", "gl_TessLevelOuter = float[4](1, 1, 1, 1); gl_TessLevelInner = float[2](1, 1);"),
        ("triangles", "for (int i = 0; i < 3; i++) gl_TessLevelOuter[i] = 2.0; gl_TessLevelInner[gl_InvocationID & 1] = 1.0;"),
        ("isolines", "gl_TessLevelOuter[gl_InvocationID] = 1;"), ("isolines", "gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = 1;"),
        ("quads", "if (gl_InvocationID == 0) { " + OUTER + INNER + " } else { gl_TessLevelOuter[3] = gl_TessLevelInner[1] = 1; }"),
        ("quads", "put(gl_TessLevelOuter); gl_TessLevelInner = float[2](1, 1);"),
    ],
)  # fmt: skip
def test_levels_that_are_written(devs: tuple[tg.Device, tg.Device], kind: str, levels: str) -> None:
    text = control(levels, "", "void put(out float to[4]) { to = float[4](1, 1, 1, 1); }")
    devs[1].pipeline(FULL, RED, color=[F], tessellation_control=text, tessellation_evaluation=evaluation(kind))


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


ARRAY, MATRIX = "layout(location = 1) {} vec3 c[3];", "layout(location = 1) {} mat3 c;"
BLOCK = "layout(location = 0) {} S {{ vec3 a; vec3 c[2]; }} s;"
PAIR = "layout(location = 0) {} S {{ vec3 a; vec3 c; }} s;"


@pytest.mark.parametrize(
    ("declared", "written", "read", "said", "fine"),
    [
        (ARRAY, "c[0] = c[2] = uv.xyx;", "c[1]", r"location 2 of its output 'c'", "c[2]"),
        (MATRIX, "c[0] = c[1] = uv.xyx;", "c[2]", r"location 3 of its output 'c'", "c[0]"),
        (BLOCK, "s.a = uv.xyx;", "s.c[1]", r"location 2 of its output 's\.c'", "s.a"),
        (BLOCK, "s.a = s.c[0] = uv.xyx;", "s.c[1]", r"location 2 of its output 's\.c'", "s.c[0]"),
        (BLOCK, "s.c[0] = s.c[1] = uv.xyx;", "s.a", r"its output 's\.a' \(location 0\)", "s.c[1]"),
        (PAIR, "s.a = uv.xyx;", "s.c", r"its output 's\.c' \(location 1\)", "s.a"),
        (ARRAY, "c[gl_VertexIndex] = uv.xyx; d = 1;", "d", r"its output 'e' \(location 8\)", "c[1]"),
    ],
)
def test_variables_that_are_written_in_part(
    devs: tuple[tg.Device, tg.Device], declared: str, written: str, read: str, said: str, fine: str
) -> None:
    def fragment(value: str) -> str:
        more = " layout(location = 8) in float d;" if value == "d" else ""
        return COLORED.replace("layout(location = 0) in vec3 c;", declared.format("in") + more).replace("c, 1", f"vec3({value}), 1")

    more = " float d; layout(location = 8) out float e;" if "d =" in written else ""
    vert = vertex(written, declared.format("out") + more)
    told(devs, f"vertex shader never writes {said}, which the fragment shader reads", vert, fragment(read))
    devs[1].pipeline(vert, fragment(fine), color=[F])


@pytest.mark.parametrize(
    ("read", "certain"),
    [
        ("for (int i = 0; i < 3; i++) o.xyz += c * i;", True), ("int i = 0; do { o.xyz += c; } while (++i < 3);", True),
        ("if (k > 0) o.x = 0; else o.y = 0; o.xyz += c;", True), ("o.xyz += f();", True), ("o.xyz += interpolateAtCentroid(c);", True),
        ("switch (k) { case 0: o.x = 0; break; default: o.y = 0; } o.xyz += c;", True),
        ("for (int i = 0; i < k; i++) o.xyz += c * i;", False),
        ("for (int i = 0; i < 0; i++) o.xyz += c * i;", False),
        ("if (k > 0) return; o.xyz += c;", False), ("if (k > 0) discard; o.xyz += c;", False), ("if (k > 0) o.xyz += f();", False),
        ("for (int i = 0; i < 3; i++) { if (k > i) break; o.xyz += c; }", False),
        ("o.xyz += k > 0 && k < f().x ? vec3(1) : vec3(0);", False),
        ("switch (k) { case 0: o.xyz = c; break; default: o.y = 0; }", False),
    ],
)  # fmt: skip
def test_what_is_read_whatever_comes(devs: tuple[tg.Device, tg.Device], read: str, certain: bool) -> None:
    """Loops that turn, and what comes behind selections; not what a selection or an end before it may leave out."""
    head = "layout(location = 0) in vec3 c; layout(location = 0) out vec4 o; layout(push_constant) uniform P { int k; };"
    frag = HEAD + f"{head} vec3 f() {{ return c; }} void main() {{ o = vec4(1); {read} }}"
    if certain:
        told(devs, r"never writes its output 'c' \(location 0\), which the fragment shader reads", vertex(), frag)
    else:
        devs[1].pipeline(vertex(), frag, color=[F])


GEOMETRY = HEAD + """layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
    void main() { for (int i = 0; i < 3; i++) { BODY EmitVertex(); } }"""
NOTHING = HEAD + "void main() {}"


def test_built_ins_that_nobody_wrote(devs: tuple[tg.Device, tg.Device]) -> None:
    """undefined.md said so of outputs, and of gl_Position nothing came; it is drawn at 0."""
    geometry = GEOMETRY.replace("BODY", "gl_Position = gl_in[i].gl_Position;")
    told(devs, "vertex shader never writes gl_Position, which the geometry shader reads", NOTHING, RED, geometry=geometry)
    tess = {"tessellation_control": control(OUTER + INNER), "tessellation_evaluation": evaluation()}
    told(devs, "vertex shader never writes gl_Position, which the tessellation control shader reads", NOTHING, RED, **tess)
    tess["tessellation_control"] = HEAD + f"layout(vertices = 3) out; void main() {{ {OUTER} {INNER} }}"
    told(devs, "tessellation control shader never writes gl_Position, which the tessellation evaluation shader reads", FULL, RED, **tess)
    sized = GEOMETRY.replace("BODY", "gl_Position = gl_in[i].gl_Position * gl_in[i].gl_PointSize;")
    told(devs, "vertex shader never writes gl_PointSize, which the geometry", FULL, RED, geometry=sized)
    reads = evaluation(body="gl_Position.x += gl_TessLevelOuter[3];")
    tess = {"tessellation_control": control(OUTER + INNER), "tessellation_evaluation": reads}
    told(devs, r"control shader never writes gl_TessLevelOuter\[3\], which the tessellation evaluation shader reads", FULL, RED, **tess)


def test_clip_distances(devs: tuple[tg.Device, tg.Device]) -> None:
    told(devs, r"vertex shader never writes gl_ClipDistance\[0\], by which", vertex("gl_ClipDistance[1] = 1;", ""), RED)
    told(devs, r"vertex shader never writes gl_CullDistance\[0\], gl_CullDistance\[1\]", vertex("gl_CullDistance[2] = 1;", ""), RED)
    reads = RED.replace("void main() {", "in float gl_ClipDistance[2]; void main() {").replace("(1, 0, 0, 1)", "(gl_ClipDistance[1])")
    told(devs, r"never writes gl_ClipDistance\[1\], which the fragment shader reads", vertex("gl_ClipDistance[0] = 1;", ""), reads)
    devs[1].pipeline(vertex("gl_ClipDistance[0] = gl_ClipDistance[1] = 1;", ""), reads, color=[F])
    devs[1].pipeline(vertex("for (int i = 0; i < 3; i++) gl_ClipDistance[i] = i;", "out float gl_ClipDistance[3];"), RED, color=[F])


@pytest.mark.parametrize(
    ("more", "written"),
    [
        ("", "gl_Position = vec4(i);"), ("", "if (gl_PrimitiveIDIn > 9) gl_Position = gl_in[i].gl_Position; else gl_Position = vec4(i);"),
        ("", "gl_Layer = 0; gl_Position = vec4(i); gl_PrimitiveID = gl_PrimitiveIDIn;"),
    ],
)  # fmt: skip
def test_built_ins_that_nobody_reads(devs: tuple[tg.Device, tg.Device], more: str, written: str) -> None:
    devs[1].pipeline(NOTHING, RED, geometry=GEOMETRY.replace("BODY", more + written), color=[F])


QUADS = OUTER + "gl_TessLevelOuter[3] = gl_TessLevelInner[1] = 1;" + INNER


def test_vertices_beyond_the_patch(devs: tuple[tg.Device, tg.Device]) -> None:
    """36 of 64 pixels of a quad, and not a word."""
    control_of = {n: control(QUADS).replace("vertices = 3", f"vertices = {n}") for n in (2, 3, 4)}
    said = r"evaluation shader reads gl_in\[3\]; the control shader makes patches of 3 \(layout\(vertices = 3\) out\)\. .* here it is 0"
    for body in ("gl_Position += gl_in[3].gl_Position;", "for (int i = 0; i < 4; i++) gl_Position += gl_in[i].gl_Position;"):
        tess: dict[str, Any] = {"tessellation_control": control_of[3], "tessellation_evaluation": evaluation("quads", body)}
        told(devs, said, FULL, RED, **tess)
        devs[1].pipeline(FULL, RED, color=[F], **tess | {"tessellation_control": control_of[4]}, patch_control_points=4)
    tess = {"tessellation_control": control_of[4], "tessellation_evaluation": evaluation("quads")}
    told(devs, r"control shader reads gl_in\[3\]; patches have 3 \(patch_control_points\)", FULL, RED, **tess)
    devs[1].pipeline(FULL, RED, color=[F], **tess, dynamic=["patch_control_points"])
    users = control(QUADS, "gl_out[gl_InvocationID].gl_Position.xyz += v[5];", "layout(location = 0) in vec3 v[];")
    given: dict[str, Any] = {"tessellation_control": users, "tessellation_evaluation": evaluation("quads")}
    told(devs, r"control shader reads v\[5\]; patches have 3", vertex("c = uv.xyx;"), RED, **given)
    devs[1].pipeline(vertex("c = uv.xyx;"), RED, color=[F], **given, patch_control_points=6)


@pytest.mark.parametrize(
    "body",
    [
        "if (gl_PatchVerticesIn > 3) gl_Position += gl_in[3].gl_Position;",
        "for (int i = 0; i < gl_PatchVerticesIn; i++) gl_Position += gl_in[i].gl_Position;",
        "for (int i = 0; i < 4; i++) { if (i >= gl_PatchVerticesIn) break; gl_Position += gl_in[i].gl_Position; }",
        "for (int i = 0; i < 4; i++) { if (i < 3) gl_Position += gl_in[i].gl_Position; }",
        "for (int i = 0; i < 3; i++) gl_Position += gl_in[i].gl_Position;",
        "gl_Position += gl_in[min(gl_PatchVerticesIn - 1, 3)].gl_Position;",
    ],
)
def test_vertices_of_the_patch(devs: tuple[tg.Device, tg.Device], body: str) -> None:
    devs[1].pipeline(FULL, RED, color=[F], tessellation_control=control(QUADS), tessellation_evaluation=evaluation("quads", body))


def test_what_lies_beyond_a_patch_is_zero(devs: tuple[tg.Device, tg.Device]) -> None:
    """As docs/undefined.md says."""
    place = "gl_Position = vec4(gl_TessCoord.x > 0.5 ? vec2(-1) : gl_TessCoord.y > 0.5 ? vec2(3, -1) : vec2(-1, 3), 0, 1);"
    reads = evaluation("triangles", place + "c = gl_in[3].gl_Position.w;", "layout(location = 0) out float c;")
    shows = HEAD + "layout(location = 0) in float c; layout(location = 0) out vec4 o; void main() { o = vec4(c, 1, 1, 1); }"
    with pytest.warns(tg.UndefinedContentsWarning, match="patches of 3"):
        pipeline = devs[0].pipeline(FULL, shows, color=[F], tessellation_control=control(OUTER + INNER), tessellation_evaluation=reads)
    image = devs[0].image((4, 4), F)
    with devs[0].render_pass(color=tg.Attachment(image, clear=(1, 0, 0, 0))) as rp:
        rp.draw(pipeline, count=6)
    assert image.numpy().reshape(-1, 4).tolist() == [[0, 255, 255, 255]] * 16


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
