"""Values to bytes: blocks in the shader's layout, and what is said about wrong ones. Only push constants are rendered."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import shader
from tilegpu.interface import Interface

VERTEX = """#version 450
struct Light { vec3 direction; float power; mat3 turn; };
layout(set = 0, binding = 0) uniform Camera { mat4 view_proj; vec3 eye; float taps[3]; Light lights[2]; } camera;
layout(set = 1, binding = 4, std430) readonly buffer Items { int count; vec3 items[]; };
layout(set = 1, binding = 5) uniform Tall { layout(row_major) mat2x3 rows; mat2x3 columns; ivec2 cell; bool on; } tall;
layout(push_constant) uniform Push { mat4 model; vec4 tint; uint mode; };
layout(location = 0) in vec3 position;
void main() {
  vec3 l = camera.lights[1].turn * camera.lights[0].direction * camera.lights[1].power;
  vec3 t = tall.rows * vec2(tall.cell) + tall.columns * vec2(tall.on ? 1.0 : 0.0, 1.0);
  gl_Position = camera.view_proj * model * vec4(position + camera.eye * camera.taps[2] + l + items[count] + t, float(mode)) * tint;
}"""

MATRIX = np.arange(16, dtype=np.float64).reshape(4, 4)
LIGHT = {"direction": (1, 2, 3), "power": 4.0, "turn": np.arange(9).reshape(3, 3)}


def camera(**changes: Any) -> dict[str, Any]:
    return {"view_proj": MATRIX, "eye": [1, 2, 3], "taps": [5, 6, 7], "lights": [LIGHT, LIGHT], **changes}


@pytest.fixture(scope="module")
def interface() -> Interface:
    return Interface("pipeline 'p'", {"vertex": shader.load(VERTEX, "vertex")})


def floats(data: bytes) -> np.ndarray:
    return np.frombuffer(data, "<f4")


def test_std140_offsets_strides_and_matrix_columns(interface: Interface) -> None:
    values = floats(interface.names["camera"].layout.pack(camera()))
    assert len(values) == 64  # 64 + 16 + 3 * 16 + 2 * 64 bytes
    np.testing.assert_array_equal(values[:16].reshape(4, 4), MATRIX.T)  # columns lie in memory
    np.testing.assert_array_equal(values[16:19], [1, 2, 3])
    np.testing.assert_array_equal(values[20:32].reshape(3, 4)[:, 0], [5, 6, 7])  # an element each 16 bytes
    light = values[32:48]
    np.testing.assert_array_equal(light[:4], [1, 2, 3, 4])
    np.testing.assert_array_equal(light[4:].reshape(3, 4)[:, :3], np.arange(9).reshape(3, 3).T)
    np.testing.assert_array_equal(values[48:], light)


def test_row_major_matrix_and_integers(interface: Interface) -> None:
    tall = np.arange(6).reshape(3, 2)  # mat2x3 of GLSL: 2 columns, 3 rows
    data = interface.names["tall"].layout.pack({"rows": tall, "columns": tall, "cell": (-1, 7), "on": True})
    np.testing.assert_array_equal(floats(data[:48]).reshape(3, 4)[:, :2], tall)
    np.testing.assert_array_equal(floats(data[48:80]).reshape(2, 4)[:, :3], tall.T)
    np.testing.assert_array_equal(np.frombuffer(data[80:88], "<i4"), [-1, 7])
    assert np.frombuffer(data[88:92], "<u4")[0] == 1


def test_runtime_array_takes_its_length_from_the_value(interface: Interface) -> None:
    points = np.arange(12, dtype=np.float32).reshape(4, 3)
    data = interface.names["Items"].layout.pack({"count": 4, "items": points})
    assert len(data) == 16 + 4 * 16  # vec3 has a stride of 16
    np.testing.assert_array_equal(floats(data[16:]).reshape(4, 4)[:, :3], points)


def test_structured_array_and_mapping_of_arrays_fill_an_array_of_structs(interface: Interface) -> None:
    layout = interface.names["camera"].layout
    lights = np.zeros(2, [("direction", "f4", 3), ("power", "f4"), ("turn", "f4", (3, 3))])
    lights["direction"], lights["power"], lights["turn"] = LIGHT["direction"], 4, LIGHT["turn"]
    columns = {"direction": lights["direction"], "power": lights["power"], "turn": lights["turn"]}
    assert layout.pack(camera(lights=lights)) == layout.pack(camera()) == layout.pack(camera(lights=columns))


def test_block_name_and_instance_name_mean_the_same(interface: Interface) -> None:
    assert interface.names["Camera"] is interface.names["camera"]


def test_push_constants(interface: Interface) -> None:
    assert interface.push_layout is not None
    data = interface.push_layout.pack({"model": MATRIX, "tint": (1, 2, 3, 4), "mode": 9})
    np.testing.assert_array_equal(floats(data[:64]).reshape(4, 4), MATRIX.T)
    assert np.frombuffer(data[80:84], "<u4")[0] == 9


def test_interface_prints_names_numbers_offsets_and_types(interface: Interface) -> None:
    text = str(interface)
    for part in (
        "position",
        "set 0 binding 0",
        "uniform_buffer",
        "view_proj",
        "mat4",
        "float[3]",
        "128 B",
        "vec3[]",
        "push constants",
        "tint",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"view_prj": 1}, "has no member 'view_prj'; did you mean 'view_proj'?"),
        ({"view_proj": MATRIX[:3]}, "view_proj has shape (3, 4); the shader's mat4 takes shape (4, 4)"),
        ({"eye": 1.0}, "eye has shape (); the shader's vec3 takes shape (3,)"),
        ({"eye": "abc"}, "it must be numbers of shape (3,)"),
        ({"taps": [1, 2]}, "taps has shape (2,); the shader's float takes shape (3,)"),
        ({"lights": [LIGHT]}, "lights has 1 elements; the shader's array has 2"),
        ({"lights": [LIGHT, {**LIGHT, "colour": 1}]}, "lights[1] has no member 'colour'"),
        ({"lights": [LIGHT, {"power": 1}]}, "lights[1]: missing 'direction'"),
        ({"lights": [LIGHT, 5]}, "lights[1] is 5; the shader's struct takes a mapping"),
        ({"lights": 5}, "lights is 5; the shader's array takes a sequence"),
    ],
)
def test_wrong_values(interface: Interface, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(tg.ValidationError) as caught:
        interface.names["camera"].layout.pack(camera(**changes))
    assert message in str(caught.value)
    assert "camera" in str(caught.value)


def test_missing_members_are_listed(interface: Interface) -> None:
    with pytest.raises(
        tg.ValidationError, match="missing 'eye', 'lights'; the shader's block has: view_proj, eye, taps, lights"
    ):
        interface.names["camera"].layout.pack({"view_proj": MATRIX, "taps": [1, 2, 3]})


@pytest.mark.parametrize(("cell", "message"), [((0.5, 1), "takes whole numbers"), ((2**31, 0), "outside the range")])
def test_integers_must_fit(interface: Interface, cell: Any, message: str) -> None:
    with pytest.raises(tg.ValidationError, match=message):
        interface.names["tall"].layout.pack(
            {"rows": np.zeros((3, 2)), "columns": np.zeros((3, 2)), "cell": cell, "on": False}
        )


def test_stages_must_agree_about_push_constants() -> None:
    vertex = shader.load(
        "#version 450\nlayout(push_constant) uniform P { vec4 a; };\nvoid main() { gl_Position = a; }", "vertex"
    )
    fragment = shader.load(
        "#version 450\nlayout(push_constant) uniform P { float a; };\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(a); }",
        "fragment",
    )
    with pytest.raises(
        tg.ValidationError, match="push constant 'a' is vec4 at byte 0 in the vertex shader and float at byte 0"
    ):
        Interface("pipeline 'p'", {"vertex": vertex, "fragment": fragment})


def test_push_constants_of_both_stages_are_one_table() -> None:
    vertex = shader.load(
        "#version 450\nlayout(push_constant) uniform P { vec4 a; };\nvoid main() { gl_Position = a; }", "vertex"
    )
    fragment = shader.load(
        "#version 450\nlayout(push_constant) uniform P { layout(offset = 16) float b; };\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(b); }",
        "fragment",
    )
    layout = Interface("pipeline 'p'", {"vertex": vertex, "fragment": fragment}).push_layout
    assert layout is not None
    np.testing.assert_array_equal(floats(layout.pack({"a": (1, 2, 3, 4), "b": 5})), [1, 2, 3, 4, 5])


@pytest.mark.parametrize("order", ["column_major", "row_major"])
@pytest.mark.parametrize("both", [False, True])
def test_push_constants_of_floats_are_the_bytes_of_the_general_way(order: str, both: bool) -> None:
    """Dictionaries of floats are packed by the core; what is unusual goes the way of everything else, and the bytes are the same."""
    device = tg.Device(cache_dir="off", threads=1)
    block = f"layout(push_constant) uniform P {{ layout({order}) mat3x4 m; vec3 v; float f; float a[4]; }};"
    vertex = f"""#version 450
    {block if both else ""}
    void main() {{ gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }}"""
    fragment = (
        f"#version 450\n{block}"
        + """
    layout(location = 0) out uvec4 o;
    void main() {
      int x = int(gl_FragCoord.x);
      o = floatBitsToUint(x < 3 ? m[x] : x == 3 ? vec4(v, f) : vec4(a[0], a[1], a[2], a[3]));
    }"""
    )
    pipe = device.pipeline(vertex, fragment, color=["r32g32b32a32_uint"])
    assert pipe.interface.push_floats is not None
    out = device.image((5, 1), "r32g32b32a32_uint")

    def drawn(push: Any) -> bytes:
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3, push=b"\x55" * len(pipe.pack_push(plain)))  # what was there before does not stay
            rp.draw(pipe, count=3, push=push)
        return out.numpy().tobytes()

    m = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
    plain: dict[str, Any] = {
        "m": m,
        "v": (1.0, 2.5, -0.0),
        "f": 0.1,
        "a": np.array([1.0, 1e-40, np.nan, np.inf], np.float32),
    }
    others: list[dict[str, Any]] = [
        {},
        {"m": m.astype(np.float64) / 3},
        {"m": np.asfortranarray(m)},
        {"m": np.zeros((8, 6), np.float32)[::2, ::-2] + m},
        {"m": m.astype(">f4")},
        {"m": m.tolist()},
        {"v": (1, 2.5, 16777217)},
        {"v": np.array([1, 2, 3])},
        {"v": np.arange(9.0)[::3]},
        {"f": 3},
        {"f": np.float32(0.3)},
        {"f": np.array(0.7)},
        {"f": float("inf")},
        {"a": (0.1, 0.2, 0.3, 0.4)},
    ]
    for other in others:
        push = {**plain, **other}
        assert drawn(push) == drawn(pipe.pack_push(push)), other
    for wrong in ({"x": 1.0}, {"v": (1.0, 2.0)}, {"f": "text"}, {"m": m.T}):
        with pytest.raises(tg.ValidationError):
            drawn({**plain, **wrong})
    with pytest.raises(tg.ValidationError):
        drawn({"m": m, "v": (0.0, 0.0, 0.0), "x": 1.0, "a": (0.0,) * 4})


def test_an_array_of_more_dimensions_is_a_run_of_elements() -> None:
    code = """#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { vec3 b[]; };
layout(set = 0, binding = 2, std430) buffer O { float o[]; };
void main() { o[0] = a[7]; o[1] = float(a.length()); o[2] = b[5].z; o[3] = float(b.length()); }"""
    device = tg.Device(cache_dir="off", threads=1)
    out = device.buffer(np.zeros(4, np.float32))
    a, b = np.arange(12.0).reshape(3, 4), np.arange(18.0).reshape(2, 3, 3)
    device.dispatch(device.compute_pipeline(code), 1, bind={"A": {"a": a}, "B": {"b": b}, "O": out})
    assert out.numpy().tolist() == [7, 12, 17, 6]
    with pytest.raises(tg.ValidationError, match=r"'b': it is a member of block 'B'; bind the block, as 'B'"):
        device.dispatch(device.compute_pipeline(code), 1, bind={"A": a, "b": b, "O": out})


def test_structs_of_more_dimensions_are_a_run_of_elements() -> None:
    code = """#version 450
layout(local_size_x = 1) in;
struct S { vec2 p; float w; };
layout(set = 0, binding = 0, std430) readonly buffer A { S a[]; };
layout(set = 0, binding = 1, std430) buffer O { float o[]; };
void main() { o[0] = a[4].w; o[1] = a[5].p.y; o[2] = float(a.length()); }"""
    device = tg.Device(cache_dir="off", threads=1)
    out, a = device.buffer(np.zeros(3, np.float32)), np.zeros((2, 3), [("p", "f4", 2), ("w", "f4")])
    a["w"], a["p"][1, 2] = np.arange(6).reshape(2, 3), (7, 8)
    device.dispatch(device.compute_pipeline(code), 1, bind={"A": {"a": a}, "O": out})
    assert out.numpy().tolist() == [4, 8, 6]
