"""Buffers hold the numbers that are read of them: dtype and rows against vertex attributes, texels and blocks; blocks of two stages.

What can be seen of the array that a buffer was made from is an error where it differs; bytes fit everything.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"""
VERT = """#version 450
layout(location = 0) in vec2 position; layout(location = 1) in vec2 more;
void main() { gl_Position = vec4(position + 0 * more, 0, 1); }"""
ONE_INPUT = "#version 450\nlayout(location = 0) in vec4 position; void main() { gl_Position = vec4(position.xy, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
COLOR = "r32g32b32a32_sfloat"
FIELDS = np.dtype([("position", "f4", 2), ("more", "f4", 2)])
CORNERS = np.array([[-1, -1, 0, 0], [3, -1, 0, 0], [-1, 3, 0, 0]])


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def drawn(dev: tg.Device, pipe: Any, *vertices: Any, **arguments: Any) -> np.ndarray[Any, Any]:
    out = dev.image((4, 4), COLOR)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, *vertices, **arguments)
    return np.asarray(out.numpy()[0, 0])


EXPLICIT = tg.VertexBinding(16, [(0, "r32g32_sfloat", 0), (1, "r32g32_sfloat", 8)])


@pytest.mark.parametrize("vertex", [FIELDS, np.dtype(("f4", 4)), EXPLICIT], ids=["fields", "plain", "explicit"])
@pytest.mark.parametrize("dtype", ["f8", "i4", "u4", "f2", "i8", "i2"])
def test_vertices_of_other_numbers(dev: tg.Device, vertex: Any, dtype: str) -> None:
    plain = not isinstance(vertex, tg.VertexBinding) and vertex.names is None  # one input for all four numbers
    pipe = dev.pipeline(ONE_INPUT if plain else VERT, WHITE, vertex=vertex, color=[COLOR])
    with pytest.raises(tg.ValidationError, match=rf"buffer 'b' was made from {np.dtype(dtype)}, the pipeline"):
        drawn(dev, pipe, dev.buffer(CORNERS.astype(dtype), label="b"))
    right = CORNERS.astype("f4")
    for buffer in (dev.buffer(right), dev.buffer(right.reshape(-1)), dev.buffer(right.view("u1")), dev.buffer(right.tobytes())):
        assert drawn(dev, pipe, buffer, count=3).tolist() == [1, 1, 1, 1]


def test_rows_of_vertices(dev: tg.Device) -> None:
    pipe = dev.pipeline(VERT, WHITE, vertex=FIELDS, color=[COLOR])
    for rows, shape in ((3, (4, 3)), (2, (6, 2))):
        with pytest.raises(tg.ValidationError, match=rf"with rows of {rows}; a vertex of the pipeline's .* takes 4"):
            drawn(dev, pipe, dev.buffer(np.zeros(shape, "f4")))
    assert drawn(dev, pipe, dev.buffer(CORNERS.astype("f4").reshape(3, 2, 2))).tolist() == [1, 1, 1, 1]


def test_packed_attributes_are_what_they_are_packed_in(dev: tg.Device) -> None:
    vert = "#version 450\nlayout(location = 0) in vec4 c; void main() { gl_Position = c; }"
    for format_, dtype, fits in (
        ("r8g8b8a8_unorm", "u4", True), ("r16g16_unorm", "u4", True), ("r16g16b16a16_sfloat", "u2", True),
        ("r16g16b16a16_sfloat", "f2", True), ("a2b10g10r10_unorm_pack32", "u4", True), ("b10g11r11_ufloat_pack32", "u4", True),
        ("r8g8b8a8_unorm", "i4", False), ("r8g8b8a8_unorm", "f4", False), ("r16g16b16a16_sfloat", "f4", False),
        ("r32_sfloat", "f8", False), ("r32_uint", "f4", False), ("r32_uint", "i4", True),
    ):  # fmt: skip
        kind = "uvec4" if format_ == "r32_uint" else "vec4"
        text = vert.replace("in vec4", f"in {kind}").replace("= c", "= vec4(c)")
        pipe = dev.pipeline(text, WHITE, vertex=tg.VertexBinding(16, [(0, format_, 0)]), color=[COLOR])
        buffer = dev.buffer(np.zeros(24, dtype))
        if fits:
            drawn(dev, pipe, buffer, count=3)
        else:
            with pytest.raises(tg.ValidationError, match=f"was made from {np.dtype(dtype)}, the pipeline's attributes are {format_}"):
                drawn(dev, pipe, buffer, count=3)


# --------------------------------------------------------------------------------------------------------------- blocks


def block(dev: tg.Device, declared: str, result: str, value: Any) -> list[float]:
    frag = f"""#version 450
struct S {{ vec3 a; vec3 b; }};
layout(location = 0) out vec4 o; layout(binding = 0, {declared}; void main() {{ o = vec4({result}); }}"""
    pipe = dev.pipeline(COVER, frag, color=[COLOR], label="p")
    return [float(v) for v in drawn(dev, pipe, count=3, bind={(0, 0): value})]


FLOATS, INTS = "std430) buffer B { float v[]; }", "std430) buffer B { int v[]; }"


@pytest.mark.parametrize(
    ("declared", "dtype", "text"),
    [
        (FLOATS, "i4", "was made from int32, the block has float"),
        (FLOATS, "u4", "was made from uint32, the block has float"),
        (FLOATS, "f2", "was made from float16, the block has float"),
        (FLOATS, "f8", "was made from float64, the block has no numbers of 64 bits; make it from float32"),
        (FLOATS, "?", "was made from bool, the block has float"),
        (INTS, "f4", "was made from float32, the block has int"),
        (INTS, "i2", "was made from int16, the block has int"),
        (INTS, "i8", "was made from int64, the block has no numbers of 64 bits; make it from int32"),
        (INTS, "i4", ""),
        (INTS, "u4", ""),
        (INTS, "u1", ""),
        (FLOATS, "f4", ""),
        (FLOATS, "u1", ""),
        ("std140) uniform B { ivec4 n; vec4 v[1]; }", "i4", ""),
        ("std140) uniform B { ivec4 n; vec4 v[1]; }", "f4", ""),
        ("std140) uniform B { ivec4 n; vec4 v[1]; }", "f2", "was made from float16, the block has int, float"),
    ],
)
def test_numbers_of_blocks(dev: tg.Device, declared: str, dtype: str, text: str) -> None:
    buffer = dev.buffer(np.ones(64, dtype), label="b")
    if text:
        with pytest.raises(tg.ValidationError, match=rf"\(set 0, binding 0\): buffer 'b' {text}"):
            block(dev, declared, "v[0]", buffer)
    else:
        block(dev, declared, "v[0]", buffer)


@pytest.mark.parametrize(
    ("declared", "result", "array", "text"),
    [
        ("std430) buffer B { vec3 v[]; }", "v[1], 1", np.ones((4, 3), "f4"), "in rows of 3; elements .* 16 bytes apart"),
        ("std140) uniform B { float v[4]; }", "v[1]", np.ones(16, "f4"), "one behind the other; elements"),
        ("std140) uniform B { vec2 v[4]; }", "v[1], v[1]", np.ones((8, 2), "f4"), "in rows of 2; elements"),
        ("std430) buffer B { vec3 v[]; }", "v[1], 1", np.ones((4, 4), "f4"), ""),
        ("std140) uniform B { float v[4]; }", "v[1]", np.ones((4, 4), "f4"), ""),
        ("std430) buffer B { vec2 v[]; }", "v[1], v[1]", np.ones((4, 2), "f4"), ""),
        ("std430) buffer B { float v[]; }", "v[1]", np.ones((4, 3), "f4"), ""),
        ("std430) buffer B { vec3 v[]; }", "v[1], 1", np.ones(16, "f4"), ""),
        ("std430) buffer B { S v[]; }", "v[1].a, 1", np.ones((8, 3), "f4"), "in rows of 3; elements of the block's 'v' are 32 bytes apart"),
        ("std430) buffer B { S v[]; }", "v[1].a, 1", np.ones((4, 8), "f4"), ""),
        ("std430) buffer B { S v[]; }", "v[1].a, 1", np.ones((4, 2, 4), "f4"), ""),
        ("std430) buffer B { vec4 v[]; }", "v[1]", np.ones((4, 4, 3), "f4"), "rows of 3; the block's 'v' reads 4 at"),
        ("std430) buffer B { vec4 v[]; }", "v[1]", np.ones((4, 3, 4), "f4"), ""),
        ("std430) buffer B { vec4 v[]; }", "v[1]", np.ones((4, 2, 2), "f4"), ""),
        ("std430) buffer B { vec4 v[]; }", "v[1]", np.ones((4, 4, 3), "f4").reshape(-1), ""),
        ("std430) buffer B { mat3 v[]; }", "v[1] * vec3(1) / 3, 1", np.ones((4, 4, 3), "f4"), "rows of 3; .*has columns 4 numbers apart"),
        ("std430) buffer B { mat3 v[]; }", "v[1] * vec3(1) / 3, 1", np.ones((4, 9), "f4"), "rows of 9; .*has columns 4 numbers apart"),
        ("std430) buffer B { mat3 v[]; }", "v[1] * vec3(1) / 3, 1", np.ones((4, 3, 4), "f4"), ""),
        ("std430) buffer B { mat3 v[]; }", "v[1] * vec3(1) / 3, 1", np.ones((4, 12), "f4"), ""),
        ("std430) buffer B { mat3 v[]; }", "v[1] * vec3(1) / 3, 1", np.ones(48, "f4"), ""),
        ("std430) buffer B { mat4 v[]; }", "v[1] * vec4(0.25)", np.ones((4, 16), "f4"), ""),
        ("std430) buffer B { mat2 v[]; }", "v[1] * vec2(0.5), 1, 1", np.ones((4, 4), "f4"), ""),
        ("std140) uniform B { mat2 v[4]; }", "v[1] * vec2(0.5), 1, 1", np.ones((4, 4), "f4"), ""),
        ("std140) uniform B { mat2 v[4]; }", "v[1] * vec2(0.5), 1, 1", np.ones((4, 4, 2), "f4"), "rows of 2; .*has columns 4 numbers"),
    ],
)  # fmt: skip
def test_rows_of_arrays_in_blocks(dev: tg.Device, declared: str, result: str, array: Any, text: str) -> None:
    if text:
        with pytest.raises(tg.ValidationError, match=text):
            block(dev, declared, result, dev.buffer(array))
    else:
        assert block(dev, declared, result, dev.buffer(array)) == [1, 1, 1, 1]


PADDED = {"names": ["a", "b"], "formats": [("f4", 3), ("f4", 3)], "offsets": [0, 16], "itemsize": 32}


@pytest.mark.parametrize(
    ("declared", "result", "dtype", "text"),
    [
        ("std140) uniform B { vec3 a; vec3 b; }", "b, 1", [("a", "f4", 3), ("b", "f4", 3)], "'b' is at byte 12, the shader has it at 16"),
        ("std140) uniform B { vec3 a; vec3 b; }", "b, 1", PADDED, ""),
        ("std140) uniform B { vec4 a; ivec4 b; }", "b", [("a", "f4", 4), ("b", "f4", 4)], "field 'b' is float32, the shader's is int"),
        ("std140) uniform B { float a[4]; }", "a[1]", [("a", "f4", 4)], "field 'a' has 16 bytes, the shader's float spans 52"),
        ("std430) buffer B { S s[]; }", "s[1].b, 1", [("a", "f4", 3), ("b", "f4", 3)], "elements are 24 bytes apart, those .* 32"),
        ("std430) buffer B { S s[]; }", "s[1].b, 1", PADDED, ""),
        ("std140) uniform B { vec4 a; vec4 b; }", "b", [("x", "f4", 4), ("y", "f4", 4)], ""),
        ("std140) uniform B { mat4 a; vec4 b; }", "b", [("a", "f4", (4, 4)), ("b", "f4", 4)], ""),
    ],
)  # fmt: skip
def test_fields_lie_where_the_members_do(dev: tg.Device, declared: str, result: str, dtype: Any, text: str) -> None:
    array = np.ones(2, np.dtype(dtype))
    declared = declared.replace("buffer B { S", "buffer B { S")
    frag = (
        f"#version 450\nstruct S {{ vec3 a; vec3 b; }};\nlayout(location = 0) out vec4 o; layout(binding = 0, {declared};\n"
        f"void main() {{ o = vec4({result}); }}"
    )
    pipe = dev.pipeline(COVER, frag, color=[COLOR])
    if text:
        with pytest.raises(tg.ValidationError, match=text):
            drawn(dev, pipe, count=3, bind={(0, 0): dev.buffer(array)})
    else:
        assert drawn(dev, pipe, count=3, bind={(0, 0): dev.buffer(array)}).tolist() == [1, 1, 1, 1]


def test_texels_of_other_numbers(dev: tg.Device) -> None:
    frag = WHITE.replace("layout", "layout(binding = 0) uniform samplerBuffer t; layout", 1).replace("vec4(1)", "texelFetch(t, 0)")
    pipe = dev.pipeline(COVER, frag, color=[COLOR])
    with pytest.raises(tg.ValidationError, match="buffer 'b' was made from int32, format is r32g32b32a32_sfloat"):
        drawn(dev, pipe, count=3, bind={"t": dev.buffer(np.ones(8, "i4"), label="b").texels("r32g32b32a32_sfloat")})
    assert drawn(dev, pipe, count=3, bind={"t": dev.buffer(np.ones(8, "f4")).texels("r32g32b32a32_sfloat")}).tolist() == [1, 1, 1, 1]


# ------------------------------------------------------------------------------------------------- blocks of two stages

BOTH = """#version 450
layout(binding = 0) uniform B {{ {0} }} b;
layout(location = 0) {2};
void main() {{ {1} }}"""
TRIANGLE = "vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); v = "


def two_blocks(dev: tg.Device, vertex: tuple[str, str], fragment: tuple[str, str], value: Any) -> list[float]:
    vert = BOTH.format(vertex[0], TRIANGLE + vertex[1] + ";", "out vec4 v")
    frag = BOTH.format(fragment[0], f"o = v + {fragment[1]};", "in vec4 v; layout(location = 0) out vec4 o")
    pipe = dev.pipeline(vert, frag, color=[COLOR], label="p")
    return [float(v) for v in drawn(dev, pipe, count=3, bind={"b": value})]


def test_names_of_two_blocks_at_one_binding(dev: tg.Device) -> None:
    a, ab = ("vec4 a;", "b.a"), ("vec4 a; vec4 c;", "b.c")
    ones, twos = (1.0,) * 4, (2.0,) * 4
    assert two_blocks(dev, a, ab, {"a": ones, "c": twos}) == [3] * 4  # one is the beginning of the other
    assert two_blocks(dev, ab, a, {"a": ones, "c": twos}) == [3] * 4
    # Each has a part of its own: the names of both.
    apart = ("layout(offset = 16) vec4 c;", "b.c")
    assert two_blocks(dev, a, apart, {"a": ones, "c": twos}) == [3] * 4
    assert two_blocks(dev, apart, a, {"a": ones, "c": twos}) == [3] * 4


@pytest.mark.parametrize(
    ("vertex", "fragment", "text"),
    [
        (("vec4 a;", "b.a"), ("vec4 c;", "b.c"), "vec4 'a' at byte 0, the other vec4 'c' at byte 0, which are the same bytes"),
        (("vec4 a; vec4 c;", "b.a"), ("vec4 c; vec4 a;", "b.c"), "vec4 '[ac]' at byte (0|16), the other vec4 '[ac]' at byte (0|16)"),
        (("mat4 m; vec4 c;", "b.c"), ("vec4 c;", "b.c"), "vec4 'c' at byte"),
        (("vec4 a;", "b.a"), ("ivec4 a;", "vec4(b.a)"), "'a' at byte 0"),
    ],
)  # fmt: skip
def test_names_that_mean_two_things_are_refused(dev: tg.Device, vertex: Any, fragment: Any, text: str) -> None:
    names = {"a": (1.0,) * 4, "c": (2.0,) * 4}
    for value in (names, {"a": (1.0,) * 4}, {"c": (1.0,) * 4}, np.ones(4, "f4")):
        with pytest.raises(tg.ValidationError, match="the stages declare other blocks at this binding: .*" + text):
            two_blocks(dev, vertex, fragment, value)
    two_blocks(dev, vertex, fragment, np.ones(32, "f4").tobytes())  # whose bytes they are is the program's
    two_blocks(dev, vertex, fragment, dev.buffer(np.ones(32, "f4")))


STORED = "readonly buffer"


def read_back(dev: tg.Device, declared: str, shown: str, buffer: Any, head: str = "", layout: str = "std430", kind: str = STORED) -> Any:
    text = f"#version 450\n{head}\nlayout({layout}, binding = 0) {kind} B {{ {declared} }};\nlayout(location = 0) out vec4 o;\n"
    return drawn(dev, dev.pipeline(COVER, text + f"void main() {{ o = {shown}; }}", color=[COLOR]), count=3, bind={"B": buffer})


PADDED = np.dtype({"names": ["v"], "formats": [("f4", 3)], "offsets": [0], "itemsize": 16})


FIRST = {"vec3": "v[0].xyzz", "mat3": "v[0][0].xyzz", "vec2": "v[0].xyxy", "float": "vec4(v[0])", "uint": "vec4(v[0])", "S": "v[0].a"}


@pytest.mark.parametrize(
    ("declared", "fields", "says"),
    [
        ("vec3 v[];", [("v", "f4", 3)], "elements are 12 bytes apart, those of the block's 'v' 16"),
        ("vec3 v[];", [("position", "f4", 3)], "elements are 12 bytes apart, those of the block's 'v' 16"),
        ("mat3 v[];", [("v", "f4", (3, 3))], "elements are 36 bytes apart, those of the block's 'v' 48"),
        ("vec2 v[];", [("v", "f4", 2), ("w", "f4")], "elements are 12 bytes apart, those of the block's 'v' 8"),
        ("vec3 v[];", [("p", "f4", 3), ("n", "f4", 3), ("t", "f4", 2)], "field 'n' begins within an element of the block's 'v'"),
        ("vec3 v[];", [("v", "f4", (5, 3))], "field 'v' .* give bytes"),
        ("vec2 v[4];", [("v", "f4", (4, 2))], "field 'v' lies in memory in rows of 4, and the shader reads 2 at a time"),
        ("uint v[];", [("x", "f4")], "the block has uint"),
        ("float v[];", [("x", "i4"), ("y", "u4", 2)], "the block has float"),
        ("uint n; float v[];", [("x", "f8")], "the block has uint, float"),
        ("S v[];", [("x", "f4", 3)], "elements are 12 bytes apart, those of the block's 'v' 16"),
        ("S v[];", [("x", "i4", 4)], "the block has float"),
    ],
)
def test_fields_that_the_block_has_no_names_for(dev: tg.Device, declared: str, fields: Any, says: str) -> None:
    with pytest.raises(tg.ValidationError, match=says):
        shown = FIRST[declared.replace("uint n; ", "").split()[0]]
        read_back(dev, declared, shown, dev.buffer(np.zeros(4, fields)), "struct S { vec4 a; };")


def test_fields_of_uniforms_lie_apart_too(dev: tg.Device) -> None:
    for declared, field in (("float f[4];", ("x", "f4")), ("vec2 f[4];", ("x", "f4", 2))):
        with pytest.raises(tg.ValidationError, match="bytes apart, those of the block's 'f' 16"):
            shown = "vec4(f[1])" if "float" in declared else "f[1].xyxy"
            read_back(dev, declared, shown, dev.buffer(np.zeros(16, [field])), layout="std140", kind="uniform")
    with pytest.raises(tg.ValidationError, match=r"descriptor set 's'.*12 bytes apart"):
        text = "#version 450\nlayout(binding = 0) readonly buffer B { vec3 v[]; };\nlayout(location = 0) out vec4 o;"
        pipe = dev.pipeline(COVER, text + "void main() { o.rgb = v[0]; }", color=[COLOR])
        dev.descriptor_set(pipe, 0, {"B": dev.buffer(np.zeros(2, [("v", "f4", 3)]))}, label="s")


@pytest.mark.parametrize(
    ("declared", "shown", "fields"),
    [
        ("float v[];", "v[5]", [("p", "f4", 3), ("m", "f4")]),  # vertices pulled: numbers one behind the other
        ("float v[];", "v[5]", [("v", "f4", 4)]),
        ("float v[];", "v[5]", [("p", "f4", 2), ("id", "u4"), ("w", "f4")]),
        ("uint v[];", "uintBitsToFloat(v[5])", [("p", "f4", 3), ("c", "u4")]),
        ("uint v[];", "uintBitsToFloat(v[5])", [("p", "f4", 3), ("c", "u1", 4)]),
        ("vec4 v[];", "v[1].y", [("p", "f4", 3), ("id", "i4")]),
        ("vec4 v[];", "v[1].y", [("p", "f4", 3), ("n", "f4", 3), ("t", "f4", 2)]),
        ("vec2 v[];", "v[2].y", [("p", "f4", 2), ("q", "f4", 2)]),
        ("vec4 v[];", "v[1].y", [("x", "f4")]),
        ("vec3 v[];", "v[1].y", PADDED),
        ("vec3 v[];", "v[1].y", [("p", "f4", 3), ("m", "f4")]),
        ("vec3 v[];", "v[1].y", [("p", "f4", 3), ("m", "f4"), ("n", "f4", 3), ("k", "f4")]),
        ("mat4 v[];", "v[0][1].y", [("v", "f4", (4, 4))]),
        ("S v[];", "v[1].a.y", [("x", "f4", 4)]),
    ],
)
def test_fields_that_are_read_as_they_lie(dev: tg.Device, declared: str, shown: str, fields: Any) -> None:
    array = np.zeros(8, fields)
    flat = array.view("u1").reshape(-1)[: array.nbytes].view("f4")
    flat[5] = 7
    assert read_back(dev, declared, f"vec4({shown})", dev.buffer(array), "struct S { vec4 a; };").tolist() == [7] * 4


def test_one_element_alone_is_read_right(dev: tg.Device) -> None:
    three = np.array([((1, 2, 3),), ((4, 5, 6),)], [("v", "f4", 3)])
    for buffer in (dev.buffer(three[1:]), dev.buffer(three).slice(0, 12), dev.buffer(three["v"][1:].copy())):
        assert read_back(dev, "vec3 v[];", "vec4(v[0], 1)", buffer)[3] == 1
    scalar = "#extension GL_EXT_scalar_block_layout : require"
    assert read_back(dev, "vec3 v[];", "vec4(v[1], 1)", dev.buffer(three), scalar, "scalar").tolist() == [4, 5, 6, 1]


def test_rows_that_are_no_vectors(dev: tg.Device) -> None:
    rows = np.arange(12, dtype="f4").reshape(4, 3)
    with pytest.raises(tg.ValidationError, match="numbers lie in rows of 3; the block's 'a' reads 4 at a time"):
        read_back(dev, "vec4 a[];", "a[1]", dev.buffer(rows))
    assert read_back(dev, "vec4 a[];", "a[1]", dev.buffer(rows.reshape(-1))).tolist() == [4, 5, 6, 7]
    assert read_back(dev, "vec4 a[];", "a[1]", dev.buffer(rows.reshape(-1, 2))).tolist() == [4, 5, 6, 7]
    assert read_back(dev, "vec4 a[];", "a[1]", dev.buffer(rows[:2].reshape(1, 6).repeat(2, 0).reshape(1, 12))).tolist() == [4, 5, 0, 1]


def test_an_array_for_numbers_of_two_kinds_is_refused(dev: tg.Device) -> None:
    """Of either kind the others would get the bits."""
    declared, shown = "uint n; float f; vec2 v;", "vec4(n, f, v)"

    def given(value: Any) -> list[float]:
        out = dev.image((4, 4), COLOR)
        pipe = dev.pipeline(COVER, f"""#version 450
            layout(binding = 0, std140) uniform B {{ {declared} }}; layout(location = 0) out vec4 o; void main() {{ o = {shown}; }}""",
            color=[COLOR])
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, count=3, bind={"B": value})
        return [float(v) for v in out.numpy()[0, 0]]

    for dtype, other in (("f4", "uint"), ("u4", "float"), ("i4", "float")):
        with pytest.raises(tg.ValidationError, match=rf"array is of {np.dtype(dtype)}, the block has {other} too; give an array with"):
            given(np.ones(4, dtype))
    fields = np.array([(1, 2, (3, 4))], [("n", "u4"), ("f", "f4"), ("v", "f4", 2)])
    for right in (fields, fields.view(np.uint8), fields.tobytes(), {"n": 1, "f": 2.0, "v": (3, 4)}):
        assert given(right) == [1, 2, 3, 4]


PAIR = ("vec4 a; vec4 b;", "b", "std140", "uniform")


@pytest.mark.parametrize("dtype", ["i4", "u4", "f8", "f2", "i8", "u2", "i1"])
def test_an_array_for_several_names_is_of_their_numbers(dev: tg.Device, dtype: str) -> None:
    declared, shown, layout, kind = PAIR
    for count in (32 // np.dtype(dtype).itemsize, 12):
        with pytest.raises(tg.ValidationError, match=rf"the array is of {np.dtype(dtype)}, the block has .* a mapping with: a, b"):
            read_back(dev, declared, shown, np.zeros(count, dtype), layout=layout, kind=kind)
    text = f"#version 450\nlayout(binding = 0) uniform B {{ {declared} }};\nlayout(location = 0) out vec4 o; void main() {{ o = b; }}"
    with pytest.raises(tg.ValidationError, match=f"the array is of {np.dtype(dtype)}"):
        dev.descriptor_set(dev.pipeline(COVER, text, color=[COLOR]), 0, {"B": np.zeros(32 // np.dtype(dtype).itemsize, dtype)})


def test_an_array_for_several_names_that_fits(dev: tg.Device) -> None:
    declared, shown, layout, kind = PAIR
    right = np.arange(8, dtype="f4")
    records = right.view([("a", "f4", 4), ("b", "f4", 4)])
    for array in (right, right.reshape(2, 4), right.reshape(4, 2), right.view("u1"), right.astype(">f4"), records):
        assert read_back(dev, declared, shown, array, layout=layout, kind=kind).tolist() == [4, 5, 6, 7]
    swapped = np.array([((4, 5, 6, 7), (0, 1, 2, 3))], [("b", "f4", 4), ("a", "f4", 4)])  # by name
    assert read_back(dev, declared, shown, swapped, layout=layout, kind=kind).tolist() == [4, 5, 6, 7]
    with pytest.raises(tg.ValidationError, match="the array: field 'a' is at byte 16, the shader has it at 0"):
        read_back(dev, declared, shown, np.zeros(1, [("c", "f4", 4), ("a", "f4", 4)]), layout=layout, kind=kind)
    for one in ("u4", "f4"):  # of its kinds
        with pytest.raises(tg.ValidationError, match=r"the block has (float|uint) too"):
            read_back(dev, "vec4 a; uvec4 b;", "vec4(b) + a", np.zeros(8, one), layout=layout, kind=kind)


def test_rows_of_a_matrix_among_several_names(dev: tg.Device) -> None:
    m, c = np.arange(16, dtype="f4").reshape(4, 4), np.zeros(4, "f4")
    declared = "vec4 c; mat4 m;"
    with pytest.raises(tg.ValidationError, match=r"shape \(5, 4\), row by row; shaders read the columns of mat4 'm'"):
        read_back(dev, declared, "m[1] + c", np.vstack([c, m]), layout="std140", kind="uniform")
    for array in (np.vstack([c, m.T]).reshape(-1), {"c": c, "m": m}):
        assert read_back(dev, declared, "m[1] + c", array, layout="std140", kind="uniform").tolist() == [1, 5, 9, 13]
    moved = np.eye(4, dtype="f4")
    moved[:3, 3] = 2, 3, 4
    turned = np.vstack([c, moved.T])  # as a placement's columns lie
    assert read_back(dev, declared, "m[3] + c", turned, layout="std140", kind="uniform").tolist() == [2, 3, 4, 1]


@pytest.mark.filterwarnings("error::tilegpu.ShortBufferWarning")
def test_what_is_wrong_is_not_called_short_too(dev: tg.Device) -> None:
    flat = dev.buffer(np.zeros(4, "f4"))
    with pytest.raises(tg.ValidationError, match="elements of the block's 'f' are 16 bytes apart"):
        read_back(dev, "float f[4];", "vec4(f[1])", flat, layout="std140", kind="uniform")
    text = "#version 450\nlayout(binding = 0) uniform B { float f[4]; };\nlayout(location = 0) out vec4 o; void main() { o = vec4(f[1]); }"
    with pytest.raises(tg.ValidationError, match="elements of the block's 'f' are 16 bytes apart"):
        dev.descriptor_set(dev.pipeline(COVER, text, color=[COLOR]), 0, {"B": flat})


@pytest.mark.parametrize("block", ["float", "int", "uint", "vec2", "ivec4", "double"])
@pytest.mark.parametrize("made_of", ["i8", "f8", "i4", "u4", "f4", "u2", "i1"])
def test_the_kind_that_is_advised_fits(dev: tg.Device, block: str, made_of: str) -> None:
    """It was int32 for whatever had 64 bits: done so, the next error wanted floats."""
    declared = f"layout(std430, binding = 0) buffer B {{ {block} a[]; }};"
    pipe = dev.compute_pipeline(f"#version 450\n{declared}\nvoid main() {{ a[0] = {block}(1); }}")
    try:
        dev.dispatch(pipe, (1, 1, 1), bind={"B": dev.buffer(np.zeros(4, made_of))})
    except tg.ValidationError as error:
        advised = re.search(r"make it from (\w+) \(array\.astype\)", str(error))
        assert advised, str(error)
        dev.dispatch(pipe, (1, 1, 1), bind={"B": dev.buffer(np.zeros(4, made_of).astype(advised[1]))})


def test_a_layout_without_shaders_takes_buffers_and_bytes_alone(dev: tg.Device) -> None:
    """The message named arrays and mappings, which it refuses too."""
    layout = dev.descriptor_set_layout({0: "uniform_buffer"})
    for given in (np.zeros(4, "f4"), {"a": 1.0}, [1.0, 2.0], 3):
        with pytest.raises(tg.ValidationError, match=r"it must be a tilegpu\.Buffer or bytes \(array\.tobytes\(\)\), as a layout"):
            dev.descriptor_set(layout, bind={0: given})
    dev.descriptor_set(layout, bind={0: np.zeros(4, "f4").tobytes()})
