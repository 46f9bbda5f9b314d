"""glTF that moves: animations, skins, morph targets, against the specification's formulas; points and lines. All files are made here."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from gltf_documents import TRIANGLE, Builder, with_oddity
from tilegpu.cli import main
from tilegpu.scene import Frame, Program, SceneRenderer, State
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.matrices import slerp
from tilegpu.scene.model import ModelError, ModelScene, load_model
from tilegpu.scene.pose import posed_positions

RNG = np.random.default_rng(5)


def animated(mode: str, path: str, times: list[float], values: Any, node: dict[str, Any] | None = None) -> Builder:
    b = Builder().mesh(node)
    add_animation(b, mode, [(0, path, times, values)])
    return b


def add_animation(b: Builder, mode: str, channels: list[tuple[int, str, list[float], Any]], name: str = "") -> None:
    table: dict[str, Any] = {"samplers": [], "channels": []}
    if name:
        table["name"] = name
    for node, path, times, values in channels:
        output = np.asarray(values, "f4") if not isinstance(values, int) else values
        accessor = output if isinstance(output, int) else b.accessor(output)
        table["samplers"].append({"input": b.accessor(np.array(times, "f4")), "output": accessor, "interpolation": mode})
        table["channels"].append({"sampler": len(table["samplers"]) - 1, "target": {"node": node, "path": path}})
    b.json.setdefault("animations", []).append(table)


def matrix_at(scene: ModelScene, time: float) -> np.ndarray:
    return scene.frame((16, 16), time=time).draws[0].push["model"]


# ---------------------------------------------------------------------------------------------------------------- samplers


def test_step_linear_and_cubic_spline(tmp_path: Path) -> None:
    keys = np.array([[0, 0, 0], [1, 2, 3], [-4, 0, 8]], "f4")
    times = [0.5, 1.0, 3.0]
    for mode in ("STEP", "LINEAR"):
        scene = load_model(animated(mode, "translation", times, keys).glb(tmp_path / f"{mode}.glb"))
        assert scene.duration_s == 3.0
        for time in (0.0, 0.5, 0.7, 1.0, 1.9, 2.999, 3.0):
            k = int(np.searchsorted(times, time, "right")) - 1
            if k < 0:
                expected = keys[0].astype(float)
            elif k >= 2:
                expected = keys[2].astype(float)
            else:
                t = (time - times[k]) / (times[k + 1] - times[k])
                expected = keys[k] if mode == "STEP" else (1 - t) * keys[k] + t * keys[k + 1]
            assert np.allclose(matrix_at(scene, time)[:3, 3], expected, atol=1e-6), (mode, time)
        assert np.array_equal(matrix_at(scene, 3.7), matrix_at(scene, 0.7000000000000002))  # it is repeated
    spline = RNG.normal(size=(3, 3, 3)).astype("f4")  # key, (tangent in, value, tangent out), component
    scene = load_model(animated("CUBICSPLINE", "translation", times, spline.reshape(-1, 3)).glb(tmp_path / "c.glb"))
    for time in (0.6, 0.99, 1.5, 2.9):
        k = 0 if time < 1 else 1
        td = times[k + 1] - times[k]
        t = (time - times[k]) / td
        v0, b0, a1, v1 = (x.astype(float) for x in (spline[k, 1], spline[k, 2], spline[k + 1, 0], spline[k + 1, 1]))
        expected = (2 * t**3 - 3 * t**2 + 1) * v0 + td * (t**3 - 2 * t**2 + t) * b0 + (3 * t**2 - 2 * t**3) * v1 + td * (t**3 - t**2) * a1
        assert np.allclose(matrix_at(scene, time)[:3, 3], expected, atol=1e-6), time


def test_rotations_take_the_shorter_arc(tmp_path: Path) -> None:
    def about_z(degrees: float) -> list[float]:
        half = math.radians(degrees) / 2
        return [0, 0, math.sin(half), math.cos(half)]

    keys = [about_z(10), [-x for x in about_z(100)], about_z(100.0)]  # the negative is the same rotation
    scene = load_model(animated("LINEAR", "rotation", [0, 1, 2], keys).glb(tmp_path / "a.glb"))
    for time, degrees in ((0, 10), (0.25, 32.5), (0.5, 55), (0.75, 77.5), (1, 100), (1.5, 100)):
        m, angle = matrix_at(scene, time), math.radians(degrees)
        assert np.allclose(m[:2, :2], [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]], atol=1e-6), time
    # Integers count as fractions: 127 of 127 is 1.
    b = Builder().mesh()
    add_animation(b, "LINEAR", [(0, "rotation", [0, 1], b.accessor(np.array([[0, 0, 0, 127], [0, 0, 127, 0]], "i1"), normalized=True))])
    m = matrix_at(load_model(b.glb(tmp_path / "b.glb")), 0.5)
    assert np.allclose(m[:2, :2], [[0, -1], [1, 0]], atol=1e-6)
    a, c = np.array([1.0, 0, 0, 0]), np.array([1.0, 1e-9, 0, 0])
    assert np.allclose(slerp(a, c, 0.5), [1, 5e-10, 0, 0], atol=1e-15)


def test_scale_children_and_choice_of_animation(tmp_path: Path) -> None:
    b = Builder().mesh({"translation": [1, 0, 0]})
    b.json["nodes"].append({"children": [0]})
    add_animation(b, "LINEAR", [(1, "scale", [0, 2], [[1, 1, 1], [3, -3, 3]])], "grow")
    add_animation(b, "LINEAR", [(1, "translation", [0, 1], [[0, 0, 0], [0, 5, 0]])], "rise")
    b.json["animations"].append({"channels": [{"sampler": 0, "target": {"path": "pointer"}}], "samplers": []})  # no node: ignored
    scene = load_model(b.glb(tmp_path / "a.glb"))
    assert scene.animations == ["grow", "rise", "animation 2"] and scene.duration_s == 2
    draw = scene.frame((16, 16), time=2.0).draws[0]
    assert np.allclose(draw.push["model"] @ [0, 0, 0, 1], [3, 0, 0, 1]) and draw.state.front_face == "clockwise"  # mirrored at its end
    assert scene.frame((16, 16), time=0.0).draws[0].state.front_face == "counter_clockwise"
    rise = scene.configured(animation="rise")
    assert rise.duration_s == 1 and np.allclose(matrix_at(rise, 0.5)[:3, 3], [1, 2.5, 0])
    assert np.array_equal(matrix_at(scene.configured(animation=1), 0.5), matrix_at(rise, 0.5))
    still = scene.configured(animation="none")
    assert still.duration_s == 0 and np.array_equal(matrix_at(still, 7.0), scene.parts[0].matrix)
    assert np.allclose(matrix_at(scene, 1.0)[:3, :3], np.diag([2, -1, 2]))  # the others are as before
    with pytest.raises(ValueError, match="animation is 'walk'; there is 0 'grow', 1 'rise', 2 'animation 2'"):
        scene.configured(animation="walk")
    with pytest.raises(ValueError, match="animation is '3'"):
        scene.configured(animation=3)


def test_the_camera_frames_the_whole_animation(tmp_path: Path) -> None:
    scene = load_model(animated("LINEAR", "translation", [0, 1], [[0, 0, 0], [10, 0, 0]]).glb(tmp_path / "a.glb"))
    assert scene.low[0] == 0 and scene.high[0] == 11
    for time in (0.0, 0.3, 1.0):
        draw = scene.frame((64, 32), time=time).draws[0]
        places = np.c_[TRIANGLE, np.ones(3)] @ draw.push["model"].T @ draw.bind["view"]["view_projection"].T
        assert np.all(np.abs(places[:, :2] / places[:, 3:]) < 1), time


# ------------------------------------------------------------------------------------------------- skins and morph targets


def tube(rings: int = 12, sides: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(V, 3) positions, normals and triangle indices of an open tube along y from 0 to 2."""
    j, i = np.mgrid[0:rings, 0:sides]
    angle = 2 * math.pi * i / sides
    normals = np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], -1).reshape(-1, 3)
    positions = normals * 0.3 + np.stack([0 * j, 2 * j / (rings - 1), 0 * j], -1).reshape(-1, 3)
    a, b = (j * sides + i)[:-1].reshape(-1), (j * sides + (i + 1) % sides)[:-1].reshape(-1)
    triangles = np.stack([a, b, a + sides, b, b + sides, a + sides], -1).reshape(-1)
    return positions.astype("f4"), normals.astype("f4"), triangles.astype("u2")


def limb(normals: bool = True, sets: int = 1, targets: bool = True) -> Builder:
    """A tube with three joints that bend, two morph targets, and an animation of both."""
    b = Builder()
    position, normal, triangles = tube()
    n = len(position)
    weights = RNG.random((n, 4 * sets)) * (RNG.random((n, 4 * sets)) < 0.7)
    weights[0] = 0  # follows its first joint
    joints = RNG.integers(0, 3, (n, 4 * sets)).astype("u1")
    attributes = {"POSITION": b.accessor(position)}
    if normals:
        attributes["NORMAL"] = b.accessor(normal)
    for k in range(sets):
        attributes[f"JOINTS_{k}"] = b.accessor(np.ascontiguousarray(joints[:, 4 * k : 4 * k + 4]))
        attributes[f"WEIGHTS_{k}"] = b.accessor(np.ascontiguousarray(weights[:, 4 * k : 4 * k + 4]).astype("f4"))
    morphs: dict[str, Any] = {}
    if targets:
        bulge = (position * [0.5, 0, 0.5] * np.sin(position[:, 1:2] * math.pi / 2)).astype("f4")
        b.json["accessors"].append({  # nothing but what is sparse
            "componentType": 5126, "count": n, "type": "VEC3", "sparse": {
                "count": 2,
                "indices": {"bufferView": b.view(np.array([3, 40], "u2").tobytes()), "componentType": 5123},
                "values": {"bufferView": b.view(np.array([[0, 0, 1], [0, 1, 0]], "f4").tobytes())},
            }})  # fmt: skip
        sparse = len(b.json["accessors"]) - 1
        morphs["targets"] = [{"POSITION": b.accessor(bulge), "NORMAL": b.accessor((bulge * 0.1).astype("f4"))}, {"POSITION": sparse}]
    b.mesh({"skin": 0, "translation": [50, 60, 70]}, attributes=attributes, indices=b.accessor(triangles), **morphs)
    if targets:
        b.json["meshes"][0]["weights"] = [0.25, 0.5]
    b.json["nodes"] += [{"children": [2]}, {"translation": [0, 1, 0], "children": [3]}, {"translation": [0, 0.5, 0], "scale": [1, 1, 1.5]}]
    inverse = np.stack([np.eye(4), np.eye(4), np.eye(4)])
    inverse[1, 1, 3], inverse[2, 1, 3] = -1, -1.5
    b.json["skins"] = [{"joints": [1, 2, 3], "inverseBindMatrices": b.accessor(inverse.transpose(0, 2, 1).reshape(-1, 16).astype("f4"))}]
    half = math.radians(35)
    bend = [[0, 0, 0, 1], [0, 0, math.sin(half), math.cos(half)]]
    channels: list[tuple[int, str, list[float], Any]] = [(2, "rotation", [0, 1], bend)]
    if targets:
        channels.append((0, "weights", [0, 1], np.array([0, 0, 1, -0.5], "f4")))
    add_animation(b, "LINEAR", channels)
    return b


def oracle(b: Builder, scene: ModelScene, time: float | None) -> tuple[np.ndarray, np.ndarray]:
    """World positions and unnormalised normals of a limb, vertex by vertex, from what the test put into the file."""
    raw = memoryview(b.data)

    def read(accessor: int) -> np.ndarray:
        table = b.json["accessors"][accessor]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[table["type"]]
        dtype = {5126: "f4", 5121: "u1", 5123: "u2"}[table["componentType"]]
        if "bufferView" not in table:
            out = np.zeros((table["count"], width), dtype)
            part = table["sparse"]
            views = [b.json["bufferViews"][part[k]["bufferView"]]["byteOffset"] for k in ("indices", "values")]
            out[np.frombuffer(raw, "u2", part["count"], views[0])] = np.frombuffer(raw, "f4", 3 * part["count"], views[1]).reshape(-1, 3)
            return out
        at = b.json["bufferViews"][table["bufferView"]]["byteOffset"]
        return np.frombuffer(raw, dtype, table["count"] * width, at).reshape(-1, width)

    primitive = b.json["meshes"][0]["primitives"][0]
    attributes = {name: read(k).astype(float) for name, k in primitive["attributes"].items()}
    position, normal = attributes["POSITION"].copy(), attributes.get("NORMAL", attributes["POSITION"]).copy()
    weights = [0.25, 0.5] if time is None else [time, -0.5 * time]
    for weight, target in zip(weights, primitive.get("targets", []), strict=False):
        position += weight * read(target["POSITION"])
        if "NORMAL" in target:
            normal += weight * read(target["NORMAL"])
    angle = math.radians(70) * (time or 0)
    joint = [np.eye(4) for _ in range(3)]
    joint[1] = np.array([[math.cos(angle), -math.sin(angle), 0, 0], [math.sin(angle), math.cos(angle), 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])
    joint[2] = joint[1] @ np.array([[1, 0, 0, 0], [0, 1, 0, 0.5], [0, 0, 1.5, 0], [0, 0, 0, 1]])
    inverse = read(b.json["skins"][0]["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    out, directions = np.zeros_like(position), np.zeros_like(position)
    sets = [k for k in (0, 1) if f"JOINTS_{k}" in attributes]
    for v in range(len(position)):
        numbers = np.concatenate([attributes[f"JOINTS_{k}"][v] for k in sets]).astype(int)
        w = np.concatenate([attributes[f"WEIGHTS_{k}"][v] for k in sets])
        if w.sum() == 0:
            numbers[0] = 0
            w[0] = 1
        w = w / w.sum()
        skin = sum(w[k] * joint[numbers[k]] @ inverse[numbers[k]] for k in range(len(w)))
        out[v] = (skin @ [*position[v], 1])[:3]
        directions[v] = np.linalg.inv(skin[:3, :3]).T @ normal[v]
    return out, directions


def shaded(scene: ModelScene, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """(V, 3) positions and normals that the vertex shader of draw 0 makes, by drawing each vertex to a pixel of its own."""
    draw = frame.draws[0]
    n = len(draw.vertices)
    text = draw.program.vertex
    assert text.count("gl_Position = ") == 1 and "POINTS" in text
    line = "gl_Position = view.view_projection * world;"
    text = text.replace(line, f"gl_Position = vec4((float(gl_VertexIndex) + 0.5) / {n}.0 * 2.0 - 1.0, 0.0, 0.0, 1.0); gl_PointSize = 1.0;")
    both = "NO_NORMAL 1" not in text
    fragment = "#version 450\nlayout(location = 0) in vec3 p; layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;\n" + (
        "layout(location = 1) in vec3 q; void main() { a = vec4(p, 1.0); b = vec4(q, 1.0); }"
        if both else "void main() { a = vec4(p, 1.0); b = a; }"
    )  # fmt: skip
    form = "r32g32b32a32_sfloat"
    bind = {name: value for name, value in draw.bind.items() if name[0].isupper()}  # storage blocks; what is read of the view is gone
    one = dataclasses.replace(draw, program=Program(text, fragment), indices=None, state=State(topology="point_list"), bind=bind)
    picture = Frame((n, 1), 1, (form, form), draws=(one,), depth_format=None)
    images = SceneRenderer(tg.Device()).render(picture).images
    assert np.all(images[0][0, :, 3] == 1)
    return images[0][0, :, :3], images[1][0, :, :3]


@pytest.mark.parametrize("sets", [1, 2])
@pytest.mark.parametrize("time", [None, 0.0, 0.6, 1.0])
def test_vertices_of_skins_and_morph_targets(tmp_path: Path, sets: int, time: float | None) -> None:
    b = limb(sets=sets)
    scene = load_model(b.glb(tmp_path / "a.glb"))
    if time is None:
        scene = scene.configured(animation="none")
    frame = scene.frame((64, 64), time=time or 0.0)
    expected, directions = oracle(b, scene, time)
    positions, normals = shaded(scene, frame)
    assert np.abs(positions - expected).max() < 2e-6
    assert np.abs(posed_positions(scene.parts[0], scene._pose(time or 0.0)[0]) - expected).max() < 1e-6
    # The shader blends no inverse: where the blend is well-behaved its cofactors are the inverse transpose up to a factor.
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    assert np.abs(normals - unit).max() < 2e-5


def test_a_skin_of_one_joint_is_a_node_that_moves(tmp_path: Path) -> None:
    position, normal, triangles = tube()
    pictures = []
    for skinned in (False, True):
        b = Builder()
        attributes = {"POSITION": b.accessor(position), "NORMAL": b.accessor(normal)}
        if skinned:
            attributes["JOINTS_0"] = b.accessor(np.zeros((len(position), 4), "u1"))
            attributes["WEIGHTS_0"] = b.accessor(np.tile(np.array([[255, 0, 0, 0]], "u1"), (len(position), 1)), normalized=True)
            b.json["skins"] = [{"joints": [1]}]
        b.mesh({"skin": 0} if skinned else None, attributes=attributes, indices=b.accessor(triangles))
        place = {"translation": [1, 2, 3], "rotation": [0.5, 0.5, 0.5, 0.5], "scale": [1, 2, 1]}
        if skinned:
            b.json["nodes"].append(place)
        else:
            b.json["nodes"][0].update(place)
        scene = load_model(b.glb(tmp_path / f"{skinned}.glb"))
        pictures.append(SceneRenderer(tg.Device()).render(scene.frame((96, 96), 4)).images[0])
    assert np.array_equal(*pictures) and len(np.unique(pictures[0])) > 20


def test_meshes_that_bend_without_normals_get_facets(tmp_path: Path) -> None:
    """Flat normals of what the mesh became: the picture of the same vertices in a file that stands still."""
    b = limb(normals=False)
    scene = load_model(b.glb(tmp_path / "a.glb"))
    camera = scene.camera()
    moving = SceneRenderer(tg.Device()).render(scene.frame((96, 96), 1, camera=camera, time=1.0)).images[0]
    still = Builder()
    still.mesh(attributes={"POSITION": still.accessor(oracle(b, scene, 1.0)[0].astype("f4"))}, indices=still.accessor(tube()[2]))
    other = load_model(still.glb(tmp_path / "b.glb")).frame((96, 96), 1, camera=camera)
    difference = np.abs(moving.astype(int) - SceneRenderer(tg.Device()).render(other).images[0]).max(-1)
    assert (difference > 2).mean() < 0.01 and moving.std() > 10


def test_weights_of_nodes_and_shared_meshes(tmp_path: Path) -> None:
    b = Builder()
    delta = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 8]], "f4")
    b.mesh(targets=[{"POSITION": b.accessor(delta)}])
    b.json["meshes"][0]["weights"] = [0.5]
    b.json["nodes"].append({"mesh": 0, "weights": [1.0]})
    scene = load_model(b.glb(tmp_path / "a.glb"))
    poses = scene._pose(0.0)
    heights = [posed_positions(part, pose)[2, 2] for part, pose in zip(scene.parts, poses, strict=True)]
    assert heights == [4, 8] and scene.high[2] == 8


def test_pictures_of_a_moving_limb(tmp_path: Path) -> None:
    """The same bits for any number of threads and lanes, and other bits at another time."""
    scene = load_model(limb().glb(tmp_path / "a.glb"))
    frame = scene.frame((80, 64), 4, time=0.7)
    pictures = [SceneRenderer(tg.Device(**options)).render(frame).images[0] for options in ({}, {"threads": 1, "lanes": 4}, {"lanes": 16})]
    assert all(np.array_equal(pictures[0], one) for one in pictures)
    other = SceneRenderer(tg.Device()).render(scene.frame((80, 64), 4, time=0.2)).images[0]
    assert (other != pictures[0]).any(-1).mean() > 0.05


@pytest.mark.gl
def test_opengl_draws_the_same(tmp_path: Path) -> None:
    from tilegpu.reference import compare_frame, unavailable

    if missing := unavailable():
        pytest.skip(missing)
    for normals in (True, False):
        scene = load_model(limb(normals=normals, sets=2).glb(tmp_path / "a.glb"))
        frame = scene.frame((160, 120), 4, time=0.8)
        found = compare_frame(frame, SceneRenderer(tg.Device()).render(frame).images)[0].difference
        assert found.covered_px > 1500 and found.share_over_2_inside < 0.005 and found.share_over_2_edges < 0.02


# --------------------------------------------------------------------------------------------------------- points and lines


@pytest.mark.parametrize(
    ("mode", "indices"), [(0, [0, 1, 2, 3]), (1, [0, 1, 2, 3]), (2, [0, 1, 1, 2, 2, 3, 3, 0]), (3, [0, 1, 1, 2, 2, 3])]
)
def test_points_and_lines(tmp_path: Path, mode: int, indices: list[int]) -> None:
    b = Builder()
    b.json["materials"] = [{"pbrMetallicRoughness": {"baseColorFactor": [0.5, 0, 0, 1]}, "emissiveFactor": [0.5, 0, 1]}]
    square = b.accessor(np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], "f4"))
    b.mesh(attributes={"POSITION": square}, mode=mode, material=0)
    scene = load_model(b.glb(tmp_path / "a.glb"))
    assert scene.parts[0].indices.tolist() == indices and scene.parts[0].topology == ("line_list" if mode else "point_list")
    camera = OrbitCamera(distance=4.0, yaw=0.0, pitch=0.0)
    frame = scene.frame((101, 101), 1, camera=camera)
    assert frame.triangles == 0
    image = SceneRenderer(tg.Device()).render(frame).images[0]
    drawn = (image == [255, 0, 255, 255]).all(-1)  # base colour and emission, no light
    side = int(drawn[:, 50].sum())
    count = int(drawn.sum())
    assert {0: count == 4, 1: 100 < count < 140 and side == 2, 2: 200 < count < 260, 3: 150 < count < 200 and side == 2}[mode], count


# ------------------------------------------------------------------------------------------------------------------ errors


def change(*at: Any, value: Any) -> Any:
    def put(document: dict[str, Any]) -> None:
        table: Any = document
        for key in at[:-1]:
            table = table[key]
        table[at[-1]] = value

    return put


A = ("animations", 0)
WRONG = {
    "joints": (change("skins", 0, "joints", value=[]), r"skins\[0\]: joints is \[\]; a list of nodes"),
    "joint": (change("skins", 0, "joints", value=[1, 2, 9]), r"skins\[0\].joints\[2\]: refers to nodes\[9\]"),
    "outside": (lambda d: d.update(scenes=[{"nodes": [0, 1]}, {"nodes": [2]}], nodes=[*d["nodes"][:1], {}, *d["nodes"][2:]]),
                r"skins\[0\]: joints\[1\] is nodes\[2\], which is not in the drawn scene"),
    "matrices": (change("skins", 0, "joints", value=[1, 2, 3, 1]), r"inverseBindMatrices has 3 matrices for 4 joints"),
    "number": (change("skins", 0, value={"joints": [1]}), r"JOINTS_0 refers to joint 2; the skin has 1"),
    "skin": (change("nodes", 0, "skin", value=4), r"nodes\[0\]: refers to skins\[4\]; the file has 1"),
    "weights": (lambda d: d["meshes"][0]["primitives"][0]["attributes"].pop("WEIGHTS_0"), r"JOINTS_0 without WEIGHTS_0"),
    "joints of weights": (lambda d: d["meshes"][0]["primitives"][0]["attributes"].pop("JOINTS_0"), r"WEIGHTS_0 without JOINTS_0"),
    "joints of more": (lambda d: (lambda a: a.update(WEIGHTS_1=a["WEIGHTS_0"]))(d["meshes"][0]["primitives"][0]["attributes"]),
                       r"WEIGHTS_1 without JOINTS_1"),
    "more joints alone": (lambda d: (lambda a: a.update(JOINTS_1=a.pop("JOINTS_0"), WEIGHTS_1=a.pop("WEIGHTS_0")))(
        d["meshes"][0]["primitives"][0]["attributes"]), r"JOINTS_1 without JOINTS_0"),
    "count of weights": (change("meshes", 0, "weights", value=[1]), r"meshes\[0\]: weights is \[1\]; 2 finite numbers"),
    "targets": (change("meshes", 0, "primitives", 0, "targets", value=[3]), r"targets is not a list of objects"),
    "target": (change("meshes", 0, "primitives", 0, "targets", 0, "POSITION", value=99), r"refers to accessors\[99\]"),
    "path": (change(*A, "channels", 0, "target", "path", value="spin"), r"path is 'spin'; allowed are translation, rotation"),
    "sampler": (change(*A, "channels", 0, "sampler", value=7), r"channels\[0\]: refers to samplers\[7\]; the animation has 2"),
    "mode": (change(*A, "samplers", 0, "interpolation", value="SMOOTH"), r"interpolation is 'SMOOTH'"),
    "output": (change(*A, "samplers", 0, "interpolation", value="CUBICSPLINE"), r"2 key frames of rotation, CUBICSPLINE, need 6"),
    "no targets": (change(*A, "channels", 1, "target", "node", value=1), r"moves weights of nodes\[1\], whose mesh has no morph targets"),
    "twice": (lambda d: d["animations"][0]["channels"].append(d["animations"][0]["channels"][0]), r"rotation of nodes\[2\] a second time"),
    "matrix": (change("nodes", 2, value={"children": [3], "matrix": np.eye(4).reshape(-1).tolist()}), r"nodes\[2\], which has a matrix"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said(tmp_path: Path, what: str) -> None:
    b = limb()
    put, message = WRONG[what]
    put(b.json)
    with pytest.raises(ModelError, match=rf"bad\.glb.*{message}"):
        load_model(b.glb(tmp_path / "bad.glb"))


def test_a_skin_that_bends_nothing_is_said(tmp_path: Path) -> None:
    b = limb()
    attributes = b.json["meshes"][0]["primitives"][0]["attributes"]
    del attributes["JOINTS_0"], attributes["WEIGHTS_0"]
    said = r"a\.glb': meshes\[0\]\.primitives\[0\]: drawn without its node's skin, as it has no JOINTS_0"
    with pytest.warns(tg.ModelWarning, match=said):
        load_model(b.glb(tmp_path / "a.glb"))


def test_times_must_grow(tmp_path: Path) -> None:
    for times in ([0, 0], [1, 0.5], [-1, 0], [0, math.nan]):
        with pytest.raises(ModelError, match="not strictly increasing"):
            load_model(animated("LINEAR", "scale", times, np.ones((2, 3))).glb(tmp_path / "a.glb"))


def test_targets_are_counted_before_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    b = Builder()
    b.json["accessors"].append({"componentType": 5126, "count": 200_000, "type": "VEC3"})  # zeros, of no bytes
    b.mesh(attributes={"POSITION": 0}, targets=[{"POSITION": 0}] * 400)
    monkeypatch.setenv("TILEGPU_MODEL_MEMORY_MB", "500")
    with pytest.raises(ModelError, match=r"primitives\[0\].*needs [\d,]+ MB; a model may take"):
        load_model(b.glb(tmp_path / "a.glb"))


@pytest.mark.filterwarnings("ignore:.*drawn without:UserWarning")
@pytest.mark.filterwarnings("error")
def test_odd_values_at_any_place_never_crash(tmp_path: Path) -> None:
    from test_gltf import ODD, places

    b = limb()
    path = b.gltf(tmp_path / "a.gltf")
    whole = path.read_text()
    moving = ("animations", "skins", "nodes", "meshes")
    cases = [(at, odd) for at in places(b.json) if at[0] in moving for odd in [*ODD, "missing"]]
    refused = 0
    for at, odd in random.Random(1).sample(cases, 250):
        path.write_text(json.dumps(with_oddity(whole, at, odd)))
        try:
            load_model(path).frame((16, 16), time=0.5)
        except ModelError as error:
            assert "a.gltf" in str(error)
            refused += 1
    assert refused > 100


# ------------------------------------------------------------------------------------------------------- the command line


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL import Image

    path = str(limb().glb(tmp_path / "limb.glb"))
    out = tmp_path / "p.png"
    common = ["--size", "48x48", "--samples", "1"]
    assert main(["render", path, "-o", str(out), "--time", "0.5", *common]) == 0
    half = np.asarray(Image.open(out))
    assert main(["render", path, "-o", str(out), "--frames", "4", *common]) == 0
    frames = [np.asarray(Image.open(tmp_path / f"p_{k:03}.png")) for k in range(4)]
    assert np.array_equal(frames[2], half) and not np.array_equal(frames[0], frames[1])
    assert main(["render", path, "-o", str(out), "--frames", "2", "--fps", "2", *common]) == 0
    assert np.array_equal(np.asarray(Image.open(tmp_path / "p_001.png")), half)
    assert main(["render", path, "-o", str(out), "--animation", "none", *common]) == 0
    assert main(["render", path, "-o", str(out), "--animation", "walk", *common]) == 2
    assert "animation is 'walk'; there is 0 'animation 0'" in capsys.readouterr().err
    assert main(["render", "triangle", "-o", str(out), "--animation", "walk"]) == 2
    assert "scene 'triangle' has no animation to choose" in capsys.readouterr().err
    assert main(["render", path, "-o", str(out), "--time", "soon"]) == 2
    assert "'soon' is no time" in capsys.readouterr().err


def test_samplers_that_many_channels_name_are_made_once(tmp_path: Path) -> None:
    """A copy for each of a hundred channels took 300 MB of a file of 267 kB, past the model's budget."""
    b = Builder()
    b.mesh(attributes={"POSITION": b.accessor(TRIANGLE)})
    count = 40
    keys = b.accessor(np.arange(5000, dtype="f4"))
    places = b.accessor(np.zeros((5000, 3), "f4"))
    b.json["nodes"] += [{} for _ in range(count)]
    first = len(b.json["nodes"]) - count
    channels = [{"sampler": 0, "target": {"node": first + k, "path": "translation"}} for k in range(count)]
    b.json["animations"] = [{"samplers": [{"input": keys, "output": places}], "channels": channels}]
    model = load_model(b.gltf(tmp_path / "a.gltf"))
    samplers = {id(sampler) for _, _, sampler in model._poser._animations[0].channels}
    assert len(samplers) == 1


def test_a_mesh_under_many_skins_is_built_once(tmp_path: Path) -> None:
    """It was built for each number of joints, and counted once: 7 kB took 314 MB."""
    b = limb()
    model_path = b.gltf(tmp_path / "a.gltf")
    document = json.loads(model_path.read_text())
    joints = document["skins"][0]["joints"]
    node = next(k for k, one in enumerate(document["nodes"]) if "skin" in one)
    for extra in range(1, 4):
        document["skins"].append({"joints": joints + joints[:extra]})
        document["nodes"].append({**document["nodes"][node], "skin": extra})
    model_path.write_text(json.dumps(document))
    model = load_model(model_path)
    assert len(model.parts) == 4 and len({id(part.vertices) for part in model.parts}) == 1
