"""Mistakes that are told where they are made, in the words of the arguments: cameras, models, arrays, constants, names of parameters."""

from __future__ import annotations

import ast
import base64
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.errors import in_own_words, needs_packages
from tilegpu.scene import Frame, SceneRenderer, UnknownSceneError, find_scene
from tilegpu.scene.frame_checks import check_frame

FORMAT = "r8g8b8a8_unorm"
FULL = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
RED = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"
dev = tg.Device(threads=1)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"distance": float("nan")}, "distance is nan; it must be a number above 0"),
        ({"distance": 0}, "distance is 0"),
        ({"fov_y": 180}, "fov_y is 180; it must be between 0 and 180 degrees"),
        ({"yaw": "x"}, "yaw is 'x'; it must be a number of radians"),
        ({"pitch": float("inf")}, "pitch is inf"),
        ({"target": (0, 0)}, r"target is \(0, 0\); it must be three numbers"),
        ({"radius": -1}, "radius is -1"),
        ({"near": -1}, "near is -1; it must be a distance above 0, or None"),
        ({"near": 5, "far": 1}, "near is 5 and far is 1; far must be beyond near"),
        ({"near": 100}, r"near is 100 and far is 7 \(distance \+ 4 \* radius\)"),
    ],
)
def test_a_camera_that_makes_no_picture(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=f"OrbitCamera: {said}"):
        tg.math.OrbitCamera(**fields)


def test_a_camera_is_looked_at_when_it_is_used() -> None:
    camera = tg.math.OrbitCamera()
    with pytest.raises(tg.ValidationError, match="OrbitCamera: aspect is 0"):
        camera.view_projection(0)
    camera.fov_y = 0
    with pytest.raises(tg.ValidationError, match="fov_y is 0"):
        camera.view_projection(1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"time": float("nan")}, "time is nan; it must be a number of seconds"),
        ({"time": "1"}, "time is '1'"),
        ({"camera": np.eye(4)}, "camera is array.*OrbitCamera, or None"),
        ({"size": "640x480"}, r"size is '640x480'; it must be \(width, height\)"),
        ({"samples": 5}, "samples is 5"),
    ],
)
def test_arguments_of_a_scene(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.ValidationError, match=f"scene 'cube': {said}"):
        find_scene("cube").frame(**arguments)


def test_a_scene_that_there_is_not() -> None:
    with pytest.raises(UnknownSceneError, match=r"^no scene and no model file 'demoo'; did you mean demo") as caught:
        find_scene("demoo")
    assert isinstance(caught.value, tg.Error) and isinstance(caught.value, KeyError)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (None, "frame is None; it must be a tilegpu.scene.Frame"),
        (Frame((8, 8), draws=1), "draws is 1; it must be a tuple"),  # type: ignore[arg-type]
        (Frame((8, 8), draws=(None,)), r"draws\[0\] is None; it must be a tilegpu.scene.Draw"),  # type: ignore[arg-type]
        (Frame((8, 8), passes=(3,)), r"passes\[0\] is 3; it must be a tilegpu.scene.Pass"),  # type: ignore[arg-type]
    ],
)
def test_frames_of_other_things(frame: Any, said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        check_frame(frame, "render")
    with pytest.raises(tg.ValidationError, match="SceneRenderer: device is 'host'"):
        SceneRenderer("host")  # type: ignore[arg-type]


def gltf(path: Path, change: Callable[[dict[str, Any]], Any], indices: tuple[int, ...] = (0, 1, 2)) -> str:
    data = np.array((*indices, *[0] * (len(indices) % 2)), "<u2").tobytes()
    start_B = len(data)
    data += np.array(((0, 0, 0), (1, 0, 0), (0, 1, 0)), "<f4").tobytes()
    table: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 1}, "indices": 0, "material": 0}]}],
        "materials": [{}],
        "buffers": [{"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}],
        "bufferViews": [{"buffer": 0, "byteLength": 2 * len(indices)}, {"buffer": 0, "byteOffset": start_B, "byteLength": 36}],
        "accessors": [
            {"bufferView": 0, "componentType": 5123, "count": len(indices), "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
        ],
    }
    change(table)
    path.write_text(json.dumps(table))
    return str(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda g: g["nodes"][0].update(matrix=[1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), r"last row of matrix is \(5, 0, 0, 1\)"),
        (lambda g: g["nodes"][0].update(matrix=np.eye(4).ravel().tolist(), scale=[2, 2, 2]), "has matrix and scale"),
        (lambda g: g["materials"][0].update(pbrMetallicRoughness={"roughnessFactor": -1}), "roughnessFactor is -1; factors are from"),
        (lambda g: g["materials"][0].update(pbrMetallicRoughness={"baseColorFactor": [5, 0, 0, 1]}), "baseColorFactor is 5, 0, 0, 1"),
        (lambda g: g["materials"][0].update(emissiveFactor=[0, 0, 2]), "emissiveFactor is 0, 0, 2"),
    ],
)
def test_models_that_a_validator_rejects(tmp_path: Path, change: Callable[[dict[str, Any]], Any], said: str) -> None:
    with pytest.raises(tg.Error, match=said):
        find_scene(gltf(tmp_path / "m.gltf", change))


def test_models_that_lose_something(tmp_path: Path) -> None:
    assert len(PNG) > 8
    with pytest.warns(tg.LostPrimitivesWarning, match=r"1 of 4 indices are left over: triangles take 3 each"):
        find_scene(gltf(tmp_path / "m.gltf", lambda g: None, (0, 1, 2, 0)))

    def textured(g: dict[str, Any]) -> None:
        g["images"], g["textures"] = [{"uri": f"data:image/png;base64,{PNG}"}], [{"source": 0}]
        g["materials"][0]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}

    with pytest.warns(UserWarning, match="drawn without baseColorTexture, whose texture coordinates"):
        find_scene(gltf(tmp_path / "t.gltf", textured))


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC"


def test_arrays_that_are_not_what_they_look_like() -> None:
    with pytest.raises(tg.ValidationError, match=r"masked array, .*\.filled"):
        dev.buffer(np.ma.masked_array(np.ones(3, np.float32), mask=[0, 1, 0]))
    fields = np.ma.masked_array(np.zeros(3, [("p", "f4", 2), ("w", "f4")]))
    fields.mask["w"][1] = True
    with pytest.raises(tg.ValidationError, match=r"masked array, .*\.filled"):
        dev.buffer(fields)
    fields.mask["w"][1] = False
    assert dev.buffer(fields).size == 36
    with pytest.raises(tg.ValidationError, match=r"data is the number 64 in an array .*int\(64\) .*\[64\]"):
        dev.buffer(np.array(64))
    with pytest.raises(tg.OutOfMemoryError, match=f"buffer 'huge': {1 << 40} bytes can't be had"):
        dev.buffer(1 << 40, label="huge")
    with pytest.raises(tg.ValidationError, match=r"plane: size is .*two"):
        tg.shapes.plane((1, 2, 3))  # type: ignore[arg-type]


def test_words_of_the_core() -> None:
    for core, own in (
        ("p: end_rendering while a query is active; call end_query first", "p: the pass ends while a query is open; leave its with"),
        ("begin_query while another occlusion query is active; call end_query first", "a query while another occlusion query is open;"),
        ("is 4294967295 levels from 1, 4294967295 layers from 0, allowed", "is all levels from 1 on, all layers from 0 on, allowed"),
    ):
        assert in_own_words(core).startswith(own)


def test_draws_of_meshes_pictures_and_names_out_of_order() -> None:
    pipe = dev.pipeline(FULL.replace("void", "layout(location = 0) in vec3 p;\nvoid"), RED, color=[FORMAT], vertex=np.dtype(("f4", 3)))
    out = dev.image((8, 8), FORMAT)
    wrong = np.zeros(1, [("instanceCount", "u4"), ("vertex_count", "u4"), ("first", "u4"), ("base", "u4")])
    for said, draw in (
        ("vertices is a Mesh; give mesh.vertices, and indices=mesh.indices", lambda rp: rp.draw(pipe, tg.shapes.cube())),
        ("and no picture", lambda rp: rp.draw(pipe, out)),
        ("field 0 is 'instanceCount'; the order is vertex count, ", lambda rp: rp.draw_indirect(pipe, dev.buffer(wrong), np.zeros((3, 3)))),
    ):
        with (
            pytest.raises(tg.ValidationError, match=said),
            dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp,
        ):
            draw(rp)


def test_what_a_pipeline_is_given_in_vain() -> None:
    prints = "#version 450\n#extension GL_EXT_debug_printf : require\nvoid main() { debugPrintfEXT(\"%d\", 1); gl_Position = vec4(0); }"
    constant = RED.replace("void", "layout(constant_id = 0) const float N = 1; void").replace("vec4(1,", "vec4(N,")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dev.pipeline(prints, RED, color=[FORMAT], include=["/nowhere/at/all"])
        dev.pipeline(FULL, RED, color=[FORMAT], depth="d32_sfloat", input_attachments=["color0"])
        said = [str(w.message) for w in caught if w.category is tg.UnusedNameWarning]
    assert len([text for text in said if "debugPrintfEXT prints nothing" in text]) == 1
    assert any("there is no folder /nowhere/at/all" in text for text in said)
    assert any("input_attachments has no effect as no shader reads" in text for text in said)
    with pytest.raises(tg.ValidationError, match="is '2'; the shader's constant is of type float"):
        dev.pipeline(FULL, constant, color=[FORMAT], constants={"N": "2"})


def test_packages_that_are_missing_are_told_alike() -> None:
    """One place has the words; each package stands in the extra that its message names."""
    said = needs_packages("the window", "glfw", "moderngl", extra="view")
    assert said == "the window needs the packages glfw and moderngl, which are not installed: pip install glfw moderngl (tilegpu[view])"
    said = needs_packages("x.mp4", "av", extra="video")
    assert said == "x.mp4 needs the package av, which is not installed: pip install av (tilegpu[video])"
    root = Path(__file__).resolve().parent.parent
    extras = dict(re.findall(r"^(\w+) = \[(.*?)\]", (root / "pyproject.toml").read_text().partition("optional-dependencies]")[2], re.M))
    asked = []
    for path in sorted((root / "python").rglob("*.py")):
        tree = ast.parse(path.read_text())
        documents = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
                assert "pip install" not in node.value or path.name == "errors.py", f"{path}:{node.lineno}: needs_packages() says so"
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("needs_packages") and len(node.args) > 1:
                extra = next(k.value for k in node.keywords if k.arg == "extra")
                packages = [a.value for a in node.args[1:] if isinstance(a, ast.Constant)]
                asked += [(package, extra.value) for package in packages if isinstance(extra, ast.Constant)]
    assert len(asked) >= 9
    assert [(package, extra) for package, extra in asked if f'"{package}>=' not in extras[extra]] == []
