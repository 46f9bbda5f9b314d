"""What was taken for something else without a word: signs of vertex attributes, constants of two types, lines of OBJ files, rotations of
glTF, skies of other shapes, colours of borders and pictures beyond what holds them, frames of another device."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import Environment, SceneRenderer, find_scene
from tilegpu.scene.user_file import FunctionScene

F = "r8g8b8a8_unorm"
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


@pytest.mark.parametrize("declared", ["int", "uint", "ivec2", "uvec2"])
@pytest.mark.parametrize("kind", ["i4", "u4", "i2", "u2", "i1", "u1"])
def test_signs_of_vertex_attributes(dev: tg.Device, declared: str, kind: str) -> None:
    """-1 of an int32 field was 4294967295 in a uint (VUID-VkGraphicsPipelineCreateInfo-Input-08733)."""
    head = f"#version 450\nlayout(location = 0) in vec2 p; layout(location = 1) in {declared} id;\n"
    vertex = head + "void main() { gl_Position = vec4(p, 0, 1) + 0 * float(id" + (".x" if "vec" in declared else "") + "); }"
    dtype = np.dtype([("p", "f4", 2), ("id", kind, 2 if "vec" in declared else ())], align=True)
    signed = declared.startswith("i")
    if signed == (kind[0] == "i"):
        dev.pipeline(vertex, WHITE, vertex=dtype, color=[F])
    else:
        with pytest.raises(tg.ValidationError, match=r"'id' \(\w+, location 1\) gets u?int\d+ .*; make the array's field u?int\d+"):
            dev.pipeline(vertex, WHITE, vertex=dtype, color=[F])


def test_a_constant_of_two_types_is_each_of_them(dev: tg.Device) -> None:
    """Of one id, or name, in two stages: the second got the first one's bits."""
    head = "layout(constant_id = 0) const int N = 1; layout(location = 0) flat out float k;\n"
    vertex = FULL.replace("void main() {", f"{head}void main() {{ k = N;")
    head = "#version 450\nlayout(constant_id = 0) const float N = 1; layout(location = 0) flat in float k;\n"
    fragment = f"{head}layout(location = 0) out vec4 o;\nvoid main() {{ o = vec4(N, k, 0, 1) / 8; }}"
    out = dev.image((4, 4), "r32g32b32a32_sfloat")
    for constants in ({0: 2}, {"N": 2}):
        pipe = dev.pipeline(vertex, fragment, color=[out.format], constants=constants)
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, count=3)
        assert out.numpy()[1, 1, :2].tolist() == [0.25, 0.25]
    with pytest.raises(tg.ValidationError, match=r"2\.5; the shader's constant is of type int"):
        dev.pipeline(vertex, fragment, color=[out.format], constants={0: 2.5})


SQUARE = "# a comment\no thing\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\ns off\nf 1 2 3\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("F 2 4 3", "line 9: 'F' is no keyword of OBJ files; that line of the file is left out"),
        ("face 2 4 3", "line 9: 'face' is no keyword"),
        ("l 2 4 3\nl 1 2", "line 9: lines are not drawn; 2 lines of the file that begin so are left out"),
        ("p 4", "line 9: points are not drawn"),
        ("f 2 4 3", ""),
        ("vp 0.1 0.2\n#f 1 2 3\ng other", ""),
    ],
)
def test_lines_of_obj_files_that_nobody_reads(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "a.obj").write_text(f"{SQUARE}{line}\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        find_scene(tmp_path / "a.obj")
    assert [said in str(w.message) for w in caught if issubclass(w.category, tg.ModelWarning)] == [True] * bool(said)


def gltf(folder: Path, **changes: Any) -> Path:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "f4")
    (folder / "a.bin").write_bytes(positions.tobytes())
    document: dict[str, Any] = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "buffers": [{"byteLength": 36, "uri": "a.bin"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
    }  # fmt: skip
    document.update(changes)
    path = folder / "a.gltf"
    path.write_text(json.dumps({key: value for key, value in document.items() if value is not None}))
    return path


@pytest.mark.parametrize("rotation", [[0, 0, 90, 1], [0, 0, 3, 4], [0, 0, 0, 0.5]])
def test_rotations_of_gltf_have_length_1(tmp_path: Path, rotation: list[float]) -> None:
    with pytest.warns(tg.ModelWarning, match=r"nodes\[0\]: rotation has length .*; it is a quaternion of length 1, and no angles"):
        find_scene(gltf(tmp_path, nodes=[{"mesh": 0, "rotation": rotation}]))


def test_a_scene_that_gltf_has_not(tmp_path: Path) -> None:
    with pytest.raises(tg.Error, match="scene"):
        find_scene(gltf(tmp_path, scenes=None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_scene(gltf(tmp_path, scenes=None, scene=None))
        find_scene(gltf(tmp_path, nodes=[{"mesh": 0, "rotation": [0, 0, 0.70711, 0.70711]}]))


@pytest.mark.parametrize("shape", [(64, 64, 3), (72, 96, 3), (128, 64, 3)])
def test_skies_of_other_shapes(shape: tuple[int, ...]) -> None:
    with pytest.warns(tg.ModelWarning, match="equirectangular ones are twice as wide as high"):
        Environment(np.ones(shape, "f4"))


@pytest.mark.parametrize(
    ("color", "told"), [((128.0, 64.0, 0.0, 255.0), True), ((-1.0, 0.0, 0.0, 1.0), True), ((0.2, 1.0, 0.0, 1.0), False)]
)
def test_borders_beyond_the_format(dev: tg.Device, color: tuple[float, ...], told: bool) -> None:
    texture = dev.texture(np.zeros((4, 4, 4), np.uint8), F, address="clamp_to_border", border_color=color)
    fragment = "#version 450\nlayout(binding = 0) uniform sampler2D t; layout(location = 0) out vec4 o;\n"
    fragment += "void main() { o = texture(t, vec2(5)); }"
    pipe, out = dev.pipeline(FULL, fragment, color=[F]), dev.image((4, 4), F)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, count=3, bind={"t": texture})
    assert ["border_color is from" in str(w.message) for w in caught] == [True] * told


def test_negative_snorm_in_a_picture(dev: tg.Device, tmp_path: Path) -> None:
    image = dev.image((2, 2), "r8g8b8a8_snorm")
    image.write(np.full((2, 2, 4), -127, np.int8))
    with pytest.warns(tg.ClampedValueWarning, match="pixels are down to -1"):
        image.save(tmp_path / "a.png")


@pytest.mark.parametrize(("value", "told"), [(300, True), (-5, True), (255, False)])
def test_whole_numbers_of_a_function(dev: tg.Device, value: int, told: bool) -> None:
    def draw() -> Any:
        return np.full((8, 8, 3), value, np.int32)

    frame = FunctionScene("draw", draw, Path(__file__), later=True).frame()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SceneRenderer(dev).render(frame)
        frame.say_clamped()  # type: ignore[attr-defined]
    assert any("whole numbers from" in str(w.message) for w in caught) is told


def test_a_frame_that_has_nothing(dev: tg.Device) -> None:
    """A pass of another device was recorded nowhere, without a word."""
    other = tg.Device(threads=1)
    out, pipe = other.image((4, 4), F), other.pipeline(FULL, WHITE, color=[F])
    with (
        pytest.warns(tg.UnusedNameWarning, match="frame 'mine': nothing was recorded in it; a frame has what its own device executes"),
        dev.frame("mine"),
        other.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp,
    ):
        rp.draw(pipe, count=3)


def test_indices_that_restart_elsewhere(dev: tg.Device) -> None:
    vertex = "#version 450\nlayout(location = 0) in vec2 p; void main() { gl_Position = vec4(p, 0, 1); }"
    dtype = np.dtype([("p", "f4", 2)])
    corners, out = np.zeros(4, dtype), dev.image((4, 4), F)
    pipe = dev.pipeline(vertex, WHITE, vertex=dtype, color=[F], topology="triangle_strip", primitive_restart=True)
    with (
        pytest.raises(tg.ValidationError, match=r"reach vertex 65535.*; indices of uint32 restart a strip at 4294967295"),
        dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp,
    ):
        rp.draw(pipe, corners, indices=np.array([0, 1, 2, 65535, 1, 2, 3], np.uint32))


@pytest.mark.parametrize(
    ("wrote", "read", "use", "fits"),
    [
        ("mat2", "vec4", "", False), ("vec2 {}[2]", "vec4", "", False), ("vec2 {}[2]", "vec4 {}[2]", "[1]", False),
        ("mat2", "mat2x3", "[1], 1", False), ("mat4", "mat4", "[3]", True), ("vec4 {}[3]", "vec4 {}[2]", "[1]", True),
        ("mat3", "mat3x2", "[1], 1, 1", True), ("vec4 {}[2]", "vec3 {}[2]", "[1], 1", True), ("vec4 {}[2]", "mat2x4", "[1]", True),
    ],
)  # fmt: skip
def test_arrays_and_matrices_between_stages(dev: tg.Device, wrote: str, read: str, use: str, fits: bool) -> None:
    """Components that nobody writes were 0 (VUID-RuntimeSpirv-OpEntryPoint-08743)."""
    out, in_ = (text.format("x") if "{}" in text else f"{text} x" for text in (wrote, read))
    parts = int(wrote[-2] if "{}" in wrote else wrote[3])
    written = " ".join(f"x[{i}] = vec{wrote[3]}(1);" for i in range(parts))
    vertex = FULL.replace("void main() {", f"layout(location = 1) out {out};\nvoid main() {{ {written}")
    fragment = f"#version 450\nlayout(location = 1) in {in_}; layout(location = 0) out vec4 o; void main() {{ o = vec4(x{use}); }}"
    if fits:
        dev.pipeline(vertex, fragment, color=[F])
    else:
        with pytest.raises(tg.ValidationError, match=r"reads 'x' \(location 1\) as .*; declare as many components there"):
            dev.pipeline(vertex, fragment, color=[F])
