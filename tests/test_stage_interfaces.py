"""What one stage writes and the next reads: numbers of another kind are refused, absent components are 0 whatever ran before."""

# ruff: noqa: E501
from __future__ import annotations

import itertools

import numpy as np
import pytest

import tilegpu as tg

FMT = "r32g32b32a32_sfloat"
#: What a fragment shader makes four floats of.
SHOWN = {
    "float": "vec4(c)", "vec2": "vec4(c, 0, 0)", "vec3": "vec4(c, 0)", "vec4": "c", "int": "vec4(c)", "uint": "vec4(c)", "ivec2": "vec4(c, 0, 0)",
    "uvec3": "vec4(c, 0)", "ivec4": "vec4(c)", "uvec4": "vec4(c)", "double": "vec4(float(c))", "dvec2": "vec4(vec2(c), 0, 0)",
    "int64_t": "vec4(float(c))", "mat2": "vec4(c[0], c[1])",
}  # fmt: skip
KINDS = {"double": "double", "dvec2": "double", "int64_t": "long"} | {
    name: "integer" if name[0] in "iu" else "float" for name in SHOWN if name not in ("double", "dvec2", "int64_t")
}
EXTENSION = "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"


def vertex(out: str, value: str, qualifier: str = "") -> str:
    flat = "flat" if KINDS.get(out.split()[0], "float") != "float" else ""
    return f"""#version 450
{EXTENSION}layout(location = 0{qualifier}) {flat} out {out} c;
void main() {{ gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); c = {value}; }}"""


def fragment(type_: str, qualifier: str = "") -> str:
    flat = "flat" if KINDS[type_] != "float" else ""
    return f"""#version 450
{EXTENSION}layout(location = 0{qualifier}) {flat} in {type_} c;
layout(location = 0) out vec4 o; void main() {{ o = {SHOWN[type_]}; }}"""


def drawn(dev: tg.Device, vert: str, frag: str) -> np.ndarray:
    out = dev.image((8, 8), FMT)
    with dev.render_pass(color=[tg.Attachment(out, clear=(9, 9, 9, 9))]) as rp:
        rp.draw(dev.pipeline(vert, frag, color=[FMT]), count=3)
    return out.numpy()


def components(name: str) -> int:
    """Of a scalar or vector."""
    return int(name[-1]) if name[-1].isdigit() else 1


@pytest.mark.parametrize("written", SHOWN)
def test_numbers_of_another_kind_are_refused(written: str) -> None:
    """Every pair of 14 types: 196."""
    dev = tg.Device(cache_dir="off")
    for read in SHOWN:
        vert, frag = vertex(written, f"{written}(1)"), fragment(read)
        if KINDS[written] == KINDS[read]:
            if (read == "mat2" and written != "mat2") or read == "dvec2":  # of more locations
                continue
            if "d" not in read[0] + written[0] and components(read) > components(written):
                with pytest.raises(tg.ValidationError, match=f"as {read}, which the vertex shader writes as {written} 'c'; declare as many"):
                    dev.pipeline(vert, frag, color=[FMT])
            elif KINDS[written] == "integer" and written[0] != read[0]:
                with pytest.raises(tg.ValidationError, match=f"writes as {written} 'c'; declare both alike, signed or not"):
                    dev.pipeline(vert, frag, color=[FMT])
            else:
                dev.pipeline(vert, frag, color=[FMT])
            continue
        with pytest.raises(tg.Error) as caught:
            dev.pipeline(vert, frag, color=[FMT])
        said = str(caught.value)
        assert f"reads 'c' (location 0) as {read}, which the vertex shader writes as {written} 'c'" in said or (
            read == "mat2" and "(location 1), which the vertex shader does not write" in said
        ), said


def test_the_other_components_of_a_location_do_not_matter() -> None:
    dev = tg.Device(cache_dir="off")
    vert = """#version 450
layout(location = 0) out vec2 c; layout(location = 0, component = 2) flat out ivec2 n;
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); c = vec2(0.5, 0.25); n = ivec2(7, -3); }"""
    frag = """#version 450
layout(location = 0, component = 2) flat in ivec2 n; layout(location = 0) in vec2 c;
layout(location = 0) out vec4 o; void main() { o = vec4(c, n); }"""
    assert (drawn(dev, vert, frag) == (0.5, 0.25, 7, -3)).all()
    with pytest.raises(tg.Error, match="writes as ivec2 'n'"):
        dev.pipeline(vert, fragment("vec3"), color=[FMT])


def test_arrays_and_blocks_by_their_places() -> None:
    dev = tg.Device(cache_dir="off")
    vert = """#version 450
layout(location = 0) out Block { vec2 uv[2]; flat ivec3 id; } b;
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); b.uv[0] = vec2(1, 2); b.uv[1] = vec2(3, 4); b.id = ivec3(5); }"""
    good = """#version 450
layout(location = 0) in Block { vec2 uv[2]; flat ivec3 id; } b;
layout(location = 0) out vec4 o; void main() { o = vec4(b.uv[1], b.id.xy); }"""
    assert (drawn(dev, vert, good) == (3, 4, 5, 5)).all()
    for wrong in ("vec2 uv[2]; vec3 id;", "flat ivec2 uv[2]; flat ivec3 id;"):
        read = good.replace("vec2 uv[2]; flat ivec3 id;", wrong)
        with pytest.raises(tg.Error, match="declare numbers of one kind"):
            dev.pipeline(vert, read, color=[FMT])


def test_components_that_are_not_written_are_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python they are an error; programs on the driver read them."""
    monkeypatch.setattr("tilegpu.pipeline_rules._check_interfaces", lambda *_: None)
    dirty = (vertex("vec4", "vec4(4, 5, 6, 7)"), fragment("vec4"))
    for lanes, threads in itertools.product((4, 8, 16), (1, 2)):
        dev = tg.Device(cache_dir="off", lanes=lanes, threads=threads)
        assert (drawn(dev, *dirty) == (4, 5, 6, 7)).all()
        assert (drawn(dev, vertex("vec2", "vec2(1, 2)"), fragment("vec4")) == (1, 2, 0, 0)).all()
        assert (drawn(dev, vertex("float", "1.0", ", component = 1"), fragment("vec3")) == (0, 1, 0, 0)).all()


def test_stages_between() -> None:
    dev = tg.Device(cache_dir="off")
    geometry = """#version 450
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in TYPE c[]; layout(location = 0) out vec4 d;
void main() { for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position; d = vec4(c[i], 1); EmitVertex(); } }"""
    frag = fragment("vec4")
    dev.pipeline(vertex("vec3", "vec3(1)"), frag, geometry=geometry.replace("TYPE", "vec3"), color=[FMT])
    with pytest.raises(tg.Error, match=r"the geometry shader reads 'c' \(location 0\) as ivec3, which the vertex shader writes as vec3"):
        dev.pipeline(vertex("vec3", "vec3(1)"), frag, geometry=geometry.replace("TYPE", "ivec3"), color=[FMT])
