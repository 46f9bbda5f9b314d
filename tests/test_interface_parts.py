"""Parts of what a stage hands to the next, in structures, blocks, arrays and matrices: each must have the components that are read."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest

import tilegpu as tg

F = "r8g8b8a8_unorm"
HEAD = "#version 450\n"
#: Declarations of a struct T and of a variable at location 0, a statement that writes to it and an expression that reads it; {x} is the
#: type that one side may have too short, {s} "out" or "in", {n} the vertices' brackets, {at} an index of these.
FORMS = {
    "plain": ("", "layout(location = 0) {s} {x} a{n};", "a{at} = {x}(1)", "a{at}"),
    "array": ("", "layout(location = 0) {s} {x} a{n}[2];", "a{at}[1] = {x}(1)", "a{at}[1]"),
    "struct": ("struct T {{ float k; {x} v; }};", "layout(location = 0) {s} T a{n};", "a{at}.v = {x}(1)", "a{at}.v"),
    "structs": ("struct T {{ vec3 k; {x} v; }};", "layout(location = 0) {s} T a{n}[2];", "a{at}[1].v = {x}(1)", "a{at}[1].v"),
    "nested": (
        "struct U {{ vec2 j; {x} v[2]; }}; struct T {{ mat3 k; U u; }};",
        "layout(location = 0) {s} T a{n};",
        "a{at}.u.v[0] = {x}(1)",
        "a{at}.u.v[0]",
    ),
    "block": ("", "layout(location = 0) {s} B {{ vec3 k; {x} v; }} a{n};", "a{at}.v = {x}(1)", "a{at}.v"),
    "block of structs": (
        "struct T {{ {x} v; }};",
        "layout(location = 0) {s} B {{ vec3 k; T t[2]; }} a{n};",
        "a{at}.t[1].v = {x}(1)",
        "a{at}.t[1].v",
    ),
}
NAMED = {
    "plain": "a",
    "array": "a",
    "struct": "a.v",
    "structs": r"a\[0\]\.v",
    "nested": r"a\.u\.v",
    "block": r"a\.v",
    "block of structs": r"a\.t\[0\]\.v",
}
PAIRS = [
    "vertex fragment",
    "vertex geometry",
    "geometry fragment",
    "vertex control",
    "control evaluation",
    "control evaluation patch",
    "evaluation fragment",
    "evaluation geometry",
]
POSITION = "gl_Position = vec4(0, 0, 0, 1); "


def shaders(form: str, pair: str, wrote: str, read: str) -> dict[str, str]:
    """A pipeline's shaders, of which the first of the pair writes ``wrote`` and the second reads ``read``."""
    writer, reader, patch = (pair + " ").split(" ")[:3]
    structs, declared, writes, reads = FORMS[form]

    def head(stage: str) -> str:
        text = HEAD
        for kind, side, type_ in (("out", writer, wrote), ("in", reader, read)):
            if side == stage:
                many = not patch and (stage == "control" or (kind == "in" and stage in ("geometry", "evaluation")))
                block = declared.format(x=type_, s=f"patch {kind}" if patch else kind, n="[]" if many else "")
                text += f"{structs.format(x=type_)}\n{block}\n"
        return text

    def write(stage: str, at: str = "") -> str:
        return f"{writes.format(x=wrote, at=at)}; " if writer == stage else ""

    def value(stage: str, at: str = "") -> str:
        text = reads.format(at=at)
        return f"vec4({text}{', 0, 0' if read == 'vec2' else ''})" if reader == stage else "vec4(0)"

    found = {"vertex": f"{head('vertex')}void main() {{ {write('vertex')}{POSITION}}}"}
    found["fragment"] = f"{head('fragment')}layout(location = 0) out vec4 o; void main() {{ o = {value('fragment')}; }}"
    if "geometry" in (writer, reader):
        text = f"{head('geometry')}layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;\nvoid main() {{ "
        body = f"{write('geometry')}gl_Position = {value('geometry', '[0]')}; EmitVertex();"
        found["geometry"] = f"{text}for (int k = 0; k < 3; k++) {{ {body} }} }}"
    if {"control", "evaluation"} & {writer, reader}:
        body = "gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 1; "
        body += f"gl_out[gl_InvocationID].gl_Position = {value('control', '[0]')}; "
        body += write("control", "" if patch else "[gl_InvocationID]")
        found["tessellation_control"] = f"{head('control')}layout(vertices = 3) out;\nvoid main() {{ {body}}}"
        text = f"{head('evaluation')}layout(triangles) in;\nvoid main() {{ "
        found["tessellation_evaluation"] = f"{text}{write('evaluation')}gl_Position = {value('evaluation', '' if patch else '[0]')}; }}"
    return found


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


def make(dev: tg.Device, found: Mapping[str, str | bytes], **more: object) -> tg.Pipeline:
    more |= {"patch_control_points": 3} if "tessellation_control" in found else {}
    others = {stage: text for stage, text in found.items() if stage not in ("vertex", "fragment")}
    return dev.pipeline(found["vertex"], found["fragment"], color=[F], **others, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("form", "pair"), list(itertools.product(FORMS, PAIRS)))
def test_too_few_components(dev: tg.Device, form: str, pair: str) -> None:
    """Members of structures that nobody wrote were 0, and so was what followed an array's first element where each vertex has one."""
    make(dev, shaders(form, pair, "vec4", "vec4"))
    make(dev, shaders(form, pair, "vec4", "vec2"))  # more than is read
    with pytest.raises(
        tg.ValidationError, match=rf"reads '{NAMED[form]}.*' \(location \d+\) as vec4.*writes as vec2.*declare as many components there"
    ):
        make(dev, shaders(form, pair, "vec2", "vec4"))


@pytest.mark.parametrize("form", ["array", "struct", "structs", "nested"])
def test_signs_in_structures(dev: tg.Device, form: str) -> None:
    found = shaders(form, "vertex fragment", "ivec4", "ivec4")
    found = {stage: text.replace("layout(location = 0) in", "layout(location = 0) flat in") for stage, text in found.items()}
    make(dev, found)
    with pytest.raises(tg.ValidationError, match=r"as uvec4.*writes as ivec4.*declare both alike, signed or not"):
        make(dev, found | {"fragment": found["fragment"].replace("ivec4", "uvec4")})


def test_what_is_valid_is_taken(dev: tg.Device) -> None:
    """A location of several outputs, arrays of a constant's length, numbers of 64 bits, a patch's place beside that of its vertices."""
    body = "void main() { gl_Position = vec4(0); "
    split = "layout(location = 0) out vec2 a; layout(location = 0, component = 2) out vec2 b;\n"
    last = "layout(location = 0) out vec4 o; void main() { o = "
    make(dev, {"vertex": f"{HEAD}{split}{body} a = vec2(1); b = a; }}", "fragment": f"{HEAD}layout(location = 0) in vec4 a; {last} a; }}"})
    taken = "struct S { vec4 a; }; layout(location = 0) in S s;"
    make(dev, {"vertex": f"{HEAD}{split}{body} a = vec2(1); b = a; }}", "fragment": f"{HEAD}{taken} {last} s.a; }}"})
    count = "layout(constant_id = 0) const int N = 1; layout(location = 0)"
    array = {
        "vertex": f"{HEAD}{count} out vec4 a[N]; {body} a[N - 1] = vec4(1); }}",
        "fragment": f"{HEAD}layout(location = 0) in vec4 a[2]; {last} a[1]; }}",
    }
    make(dev, array, constants={"N": 2})
    with pytest.raises(tg.Error, match=r"reads 'a' \(location 1\), which the vertex shader does not write|declare as many"):
        make(dev, array)
    wide = "struct S { double k; dvec3 a[2]; float b; };"
    vertex = f"{HEAD}{wide} layout(location = 0) flat out S s; {body} s.k = 1; s.a[0] = s.a[1] = dvec3(1); s.b = 1; }}"
    fragment = f"{HEAD}{wide} layout(location = 0) flat in S s; {last} vec4(s.a[1] * s.k, s.b); }}"
    make(dev, {"vertex": vertex, "fragment": fragment})
    with pytest.raises(tg.Error, match=r"'s.a' \(location 1\) as dvec3\[2\].*writes as dvec2\[2\]|does not write"):
        make(dev, {"vertex": vertex.replace("dvec3", "dvec2"), "fragment": fragment})
    both = shaders("plain", "control evaluation patch", "vec4", "vec4")
    both["tessellation_control"] = (
        both["tessellation_control"]
        .replace("layout(vertices", "layout(location = 1) out vec2 c[]; layout(vertices")
        .replace("void main() {", "void main() { c[gl_InvocationID] = vec2(0);")
    )
    make(dev, both)


def test_arrays_end_at_the_last_location(dev: tg.Device) -> None:
    """VUID-RuntimeSpirv-Location-06272 asked where a variable begins, and not where it ends."""
    text = "layout(location = 30) {} vec4 a[{}];\n"
    body = "void main() {{ gl_Position = vec4(0); a[0] = a[1] = vec4(1); }}"
    for count, most in ((2, None), (3, "locations 30 to 32; between stages locations go from 0 to 31")):
        found = {"vertex": HEAD + text.format("out", count) + body.format(), "fragment": HEAD + text.format("in", count)}
        found["fragment"] += "layout(location = 0) out vec4 o; void main() { o = a[1]; }"
        if most is None:
            make(dev, found)
        else:
            with pytest.raises(tg.ValidationError, match=most):
                make(dev, found)


SHARED = {
    "vertex": HEAD + "void main() { gl_Position = vec4(4 * (gl_VertexIndex & 1) - 1, 4 * (gl_VertexIndex >> 1) - 1, 0, 1); }",
    "tessellation_control": HEAD
    + """layout(vertices = 3) out;
layout(location = 1, component = 1) out float a[][2];
layout(location = 1, component = 2) out vec2 b[][2];
layout(location = 1) out float c[][2];
void main() {
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 1;
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    for (int k = 0; k < 2; k++) {
        a[gl_InvocationID][k] = 0.25 * k;
        b[gl_InvocationID][k] = vec2(0.5 * k, 0.75 * k);
        c[gl_InvocationID][k] = k;
    }
}""",
    "tessellation_evaluation": HEAD
    + """layout(triangles) in;
layout(location = 1, component = 1) in float a[][2];
layout(location = 1, component = 2) in vec2 b[][2];
layout(location = 1) in float c[][2];
layout(location = 0) out vec4 color;
void main() {
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position + gl_TessCoord.z * gl_in[2].gl_Position;
    color = vec4(a[1][1], b[2][1], c[0][1]) + vec4(a[1][0], b[0][0], c[2][0]);
}""",
    "fragment": HEAD + "layout(location = 0) in vec4 color; layout(location = 0) out vec4 o; void main() { o = color; }",
}


def test_arrays_of_vertices_share_locations(dev: tg.Device) -> None:
    """SPIRV-Tools of 2023 look through one array, and refused components of such as each vertex has."""
    image = dev.image((8, 8), F)
    pipeline = make(dev, SHARED)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipeline, count=3)
    assert (image.numpy() == (64, 128, 191, 255)).all()


def test_a_place_that_two_arrays_have_is_an_error(dev: tg.Device) -> None:
    """What the validator is not shown is looked at."""
    words = np.frombuffer(tg.compile_glsl(SHARED["tessellation_control"], "tessellation_control"), np.uint32).copy()
    at = next(k for k in range(len(words) - 3) if words[k] == 4 << 16 | 71 and words[k + 2] == 31 and words[k + 3] == 1)
    words[at + 3] = 2  # OpDecorate, Component
    with pytest.raises(tg.Error, match="output location 1, component 2 is of two variables"):
        make(dev, SHARED | {"tessellation_control": words.tobytes()})


def test_two_components_of_one_array_are_an_error(dev: tg.Device) -> None:
    words = np.frombuffer(tg.compile_glsl(SHARED["tessellation_control"], "tessellation_control"), np.uint32)
    at = next(k for k in range(len(words) - 3) if words[k] == 4 << 16 | 71 and words[k + 2] == 31 and words[k + 3] == 1)
    for other in (0, 7):
        twice = np.concatenate([words[:at], [4 << 16 | 71, words[at + 1], 31, other], words[at:]]).astype(np.uint32)
        with pytest.raises(tg.ShaderError, match="not valid SPIR-V"):
            make(dev, SHARED | {"tessellation_control": twice.tobytes()})
