"""glTF cameras and KHR_lights_punctual, against the specification's formulas in NumPy. All files are made here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from gltf_documents import Builder
from test_gltf_motion import add_animation, change
from tilegpu.cli import main
from tilegpu.scene import SceneRenderer
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.model import ModelError, ModelScene, load_model

QUAD = np.array([[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]], "f4")
LIGHTS = "KHR_lights_punctual"


def wall(lights: list[dict[str, Any]], nodes: list[dict[str, Any]], **material: Any) -> Builder:
    """A square wall that looks along +z, and lights, each at its node."""
    b = Builder()
    surface = {"baseColorFactor": [0.5, 0.3, 0.8, 1], "metallicFactor": 0.25, "roughnessFactor": 0.6}
    b.json["materials"] = [{"pbrMetallicRoughness": surface, **material}]
    normals = b.accessor(np.tile(np.array([0, 0, 1], "f4"), (4, 1)))
    indices = b.accessor(np.array([0, 1, 2, 0, 2, 3], "u2"))
    b.mesh(material=0, attributes={"POSITION": b.accessor(QUAD), "NORMAL": normals}, indices=indices)
    if lights:
        b.json["extensions"] = {LIGHTS: {"lights": lights}}
        b.json["extensionsUsed"] = [LIGHTS]
    for k, node in enumerate(nodes):
        b.json["nodes"].append({"extensions": {LIGHTS: {"light": k}}, **node})
    return b


def picture(scene: ModelScene, camera: OrbitCamera | None = None, size: tuple[int, int] = (61, 61), time: float = 0.0) -> np.ndarray:
    return SceneRenderer(tg.Device()).render(scene.frame(size, 1, camera=camera, time=time)).images[0]


# ----------------------------------------------------------------------------------------------------------------- cameras


def with_camera(camera: dict[str, Any], **node: Any) -> Builder:
    b = wall([], [])
    b.json["cameras"] = [camera]
    b.json["nodes"].append({"camera": 0, **node})
    return b


PERSPECTIVE = {"type": "perspective", "perspective": {"yfov": 0.8, "znear": 0.5, "zfar": 20, "aspectRatio": 2}}
ORTHOGRAPHIC = {"type": "orthographic", "orthographic": {"xmag": 3, "ymag": 2, "znear": 0, "zfar": 10}}


def project(scene: ModelScene, point: Any, size: tuple[int, int] = (200, 100)) -> np.ndarray:
    clip = scene.frame(size, 1).draws[0].bind["view"]["view_projection"].astype(float) @ [*point, 1]
    return clip[:3] / clip[3]


def test_a_perspective_camera(tmp_path: Path) -> None:
    # At (0, 1, 5), turned by 90 degrees about y: it looks along -x. Its scale does not count.
    node = {"translation": [0, 1, 5], "rotation": [0, math.sin(math.pi / 4), 0, math.cos(math.pi / 4)], "scale": [3, 2, 4], "name": "side"}
    scene = load_model(with_camera(PERSPECTIVE, **node).glb(tmp_path / "a.glb"))
    assert scene.cameras == ["side"] and "1 camera" in scene.description
    seen = scene.configured(camera="side")
    assert seen.default_size[0] == pytest.approx(2 * seen.default_size[1], rel=0.03)
    top = math.tan(0.4)
    assert np.allclose(project(seen, [-0.5, 1, 5]), [0, 0, 0], atol=1e-5)
    assert np.allclose(project(seen, [-20, 1, 5]), [0, 0, 1], atol=1e-5)
    assert np.allclose(project(seen, [-2, 1 + 2 * top, 5])[:2], [0, -1], atol=1e-5)  # y down
    assert np.allclose(project(seen, [-2, 1, 5 - 2 * 2 * top])[:2], [1, 0], atol=1e-5)  # right of -x is -z
    assert np.allclose(project(seen, [-2, 1, 5 - 2 * top], (100, 100))[:2], [1, 0], atol=1e-5)  # the file's height alone
    view = seen.frame((16, 16)).draws[0].bind["view"]
    assert np.allclose(view["eye"][:3], [0, 1, 5])
    endless = {"type": "perspective", "perspective": {"yfov": 0.8, "znear": 0.5}}
    seen = load_model(with_camera(endless, **node).glb(tmp_path / "b.glb")).configured(camera=0)
    assert np.allclose(project(seen, [-0.5, 1, 5]), [0, 0, 0], atol=1e-5) and 0.999 < project(seen, [-5000, 1, 5])[2] < 1
    orbit = seen.camera()  # to turn from there: the same picture of what does not roll
    assert orbit is not None
    assert np.allclose(orbit.eye, [0, 1, 5], atol=1e-5) and orbit.fov_y == pytest.approx(math.degrees(0.8))
    point = np.array([-3, 1.5, 4.5, 1])
    ours, theirs = (m.astype(float) @ point for m in (orbit.view_projection(1.0), view["view_projection"]))
    assert np.allclose(ours[:2] / ours[3], theirs[:2] / theirs[3], atol=1e-5)


def test_an_orthographic_camera_and_its_animation(tmp_path: Path) -> None:
    b = with_camera(ORTHOGRAPHIC, translation=[0, 0, 5])
    add_animation(b, "LINEAR", [(1, "translation", [0, 1], [[0, 0, 5], [1, 0, 5]])])
    scene = load_model(b.glb(tmp_path / "a.glb")).configured(camera="camera 0")
    assert np.allclose(project(scene, [3, 2, 5], (150, 100)), [1, -1, 0], atol=1e-6)
    assert np.allclose(project(scene, [-3, -2, -5], (150, 100)), [-1, 1, 1], atol=1e-6)
    image = picture(scene, None, (90, 60), 1.0)
    row = (image[30] != image[30, 89]).any(-1)
    assert row.sum() == 60 and np.flatnonzero(row)[0] == 0  # 4 of 6 units wide, and moved by one to the left
    free = scene.configured(camera="none")
    assert free.frame((90, 60)).draws[0].bind["view"]["eye"][2] != scene.frame((90, 60)).draws[0].bind["view"]["eye"][2]
    with pytest.raises(ValueError, match="camera is '1'; there is 0 'camera 0'"):
        scene.configured(camera=1)


CAMERAS = {
    "type": (change("cameras", 0, "type", value="fish"), r"cameras\[0\]: type is 'fish'"),
    "far": (change("cameras", 0, "perspective", "zfar", value=0.25), r"perspective: znear is 0.5, zfar 0.25"),
    "near": (change("cameras", 0, "perspective", "znear", value=0), r"znear is 0"),
    "angle": (change("cameras", 0, "perspective", "yfov", value=4), r"yfov is 4; an angle"),
    "aspect": (change("cameras", 0, "perspective", "aspectRatio", value=0), r"aspectRatio is 0"),
    "missing": (change("nodes", 1, "camera", value=3), r"nodes\[1\]: refers to cameras\[3\]"),
}


@pytest.mark.parametrize("what", CAMERAS)
def test_what_is_wrong_with_a_camera_is_said(tmp_path: Path, what: str) -> None:
    import copy

    b = with_camera(copy.deepcopy(PERSPECTIVE))
    put, message = CAMERAS[what]
    put(b.json)
    with pytest.raises(ModelError, match=message):
        load_model(b.glb(tmp_path / "a.glb"))


# ------------------------------------------------------------------------------------------------------------------ lights


def shade(place: np.ndarray, eye: np.ndarray, arriving: list[tuple[np.ndarray, np.ndarray]], view: dict[str, Any]) -> np.ndarray:
    """sRGB in 0..1 of the wall at a place: glTF's BRDF for each (direction to the light, what arrives), and the studio's sky."""
    n, base, metallic, roughness = np.array([0, 0, 1.0]), np.array([0.5, 0.3, 0.8]), 0.25, 0.6
    v = (eye - place) / np.linalg.norm(eye - place)
    f0, diffuse = 0.04 + (base - 0.04) * metallic, base * (1 - metallic)
    n_v, a2 = float(n @ v), roughness**4
    color = np.zeros(3)
    for towards, light in arriving:
        n_l = float(n @ towards)
        if n_l <= 0:
            continue
        h = (towards + v) / np.linalg.norm(towards + v)
        n_h, v_h = float(n @ h), float(v @ h)
        d = a2 / (math.pi * (n_h**2 * (a2 - 1) + 1) ** 2)
        g = 0.5 / (n_l * math.sqrt(n_v**2 * (1 - a2) + a2) + n_v * math.sqrt(n_l**2 * (1 - a2) + a2))
        fresnel = f0 + (1 - f0) * (1 - v_h) ** 5
        color += ((1 - fresnel) * diffuse / math.pi + fresnel * d * g) * light * n_l
    sky, horizon, ground = (view[k][:3].astype(float) for k in ("sky", "horizon", "ground"))

    def smooth(a: float, b: float, x: float) -> float:
        t = min(max((x - a) / (b - a), 0), 1)
        return t * t * (3 - 2 * t)

    r = roughness * np.array([-1, -0.0275, -0.572, 0.022]) + [1, 0.0425, 1.04, -0.04]
    a004 = min(r[0] ** 2, 2 ** (-9.28 * n_v)) * r[0] + r[1]
    scale, bias = -1.04 * a004 + r[2], 1.04 * a004 + r[3]
    reflected = 2 * (n @ v) * n - v
    soft = 0.08 + 0.92 * roughness
    upper = horizon + (sky - horizon) * smooth(0, 0.7 + soft, reflected[1])
    around = ground + (upper - ground) * smooth(-soft, soft, reflected[1])
    irradiance = ground + ((horizon + sky) / 2 - ground) * 0.5
    c = (color + irradiance * diffuse + around * (f0 * scale + bias)) * float(view["eye"][3])
    c = np.clip(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0, 1)
    return np.where(c <= 0.0031308, c * 12.92, 1.055 * c ** (1 / 2.4) - 0.055)


def test_lights_against_the_formulas(tmp_path: Path) -> None:
    lights = [
        {"type": "directional", "color": [1, 0.5, 0.25], "intensity": 1.5},
        {"type": "point", "color": [0.2, 1, 0.2], "intensity": 6, "range": 4},
        {"type": "spot", "intensity": 20, "spot": {"innerConeAngle": 0.2, "outerConeAngle": 0.5}},
    ]
    tilt = [math.sin(-0.3), 0, 0, math.cos(-0.3)]  # about x by -0.6: along -z and down
    nodes = [{"rotation": tilt}, {"translation": [-1, 0.5, 1], "scale": [2, 2, 2]}, {"translation": [1, -0.5, 3]}]
    scene = load_model(wall(lights, nodes).glb(tmp_path / "a.glb"))
    camera = OrbitCamera(distance=5.0, yaw=0.3, pitch=0.2)
    frame = scene.frame((61, 61), 1, camera=camera)
    assert frame.draws[0].bind["Lights"].shape == (3, 3, 4)
    image = SceneRenderer(tg.Device()).render(frame).images[0]
    view = frame.draws[0].bind["view"]
    inverse, eye = np.linalg.inv(view["view_projection"].astype(float)), view["eye"][:3].astype(float)
    checked = lit = 0
    for y in range(2, 60, 5):
        for x in range(2, 60, 5):
            far = inverse @ [(x + 0.5) / 30.5 - 1, (y + 0.5) / 30.5 - 1, 0.9, 1]
            ray = far[:3] / far[3] - eye
            place = eye - ray * (eye[2] / ray[2])
            if np.abs(place[:2]).max() > 1.95:
                continue
            arriving = [(np.array([0, math.sin(0.6), math.cos(0.6)]), 1.5 * np.array([1, 0.5, 0.25]))]
            way = np.array([-1, 0.5, 1]) - place
            d = float(np.linalg.norm(way))
            arriving.append((way / d, 6 * np.array([0.2, 1, 0.2]) * max(min(1 - (d / 4) ** 4, 1), 0) / d**2))
            way = np.array([1, -0.5, 3]) - place
            d = float(np.linalg.norm(way))
            scale = 1 / max(0.001, math.cos(0.2) - math.cos(0.5))
            angle = min(max(way[2] / d * scale - math.cos(0.5) * scale, 0), 1) ** 2
            lit += 0 < angle < 1
            arriving.append((way / d, np.full(3, 20.0) * angle / d**2))
            assert np.abs(image[y, x, :3] / 255 - shade(place, eye, arriving, view)).max() < 1.01 / 255, (x, y)
            checked += 1
    assert checked > 60 and lit > 5
    studio = scene.configured(lights="studio")
    assert "Lights" not in studio.frame((16, 16)).draws[0].bind
    brighter = scene.configured(exposure=1.2)
    assert picture(brighter, camera).mean() > image.mean() + 10
    for options in ({"lights": "sun"}, {"exposure": 0}, {"exposure": math.nan}, {"weather": "rain"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            scene.configured(**options)
    with pytest.raises(ValueError, match="there is studio"):
        load_model(wall([], []).glb(tmp_path / "b.glb")).configured(lights="file")


def test_lights_move_and_leave_unlit_materials_alone(tmp_path: Path) -> None:
    spot = {"type": "point", "intensity": 5}
    b = wall([spot], [{"translation": [-1.5, 0, 0.5]}])
    add_animation(b, "LINEAR", [(1, "translation", [0, 1], [[-1.5, 0, 0.5], [1.5, 0, 0.5]])])
    scene = load_model(b.glb(tmp_path / "a.glb"))
    camera = OrbitCamera(distance=5.0, yaw=0.0, pitch=0.0)
    before, after = (picture(scene, camera, time=t).astype(int) for t in (0.0, 1.0))
    assert before[30, 15].sum() > before[30, 45].sum() + 50 and after[30, 45].sum() > after[30, 15].sum() + 50
    b = wall([spot], [{}], extensions={"KHR_materials_unlit": {}})
    frame = load_model(b.glb(tmp_path / "b.glb")).frame((16, 16))
    assert "Lights" not in frame.draws[0].bind and SceneRenderer(tg.Device()).render(frame).images


@pytest.mark.gl
def test_opengl_draws_the_same(tmp_path: Path) -> None:
    from tilegpu.reference import compare_frame, unavailable

    if missing := unavailable():
        pytest.skip(missing)
    scene = load_model(wall([{"type": "spot", "intensity": 30}], [{"translation": [0, 0, 2]}]).glb(tmp_path / "a.glb"))
    frame = scene.frame((120, 100), 4)
    found = compare_frame(frame, SceneRenderer(tg.Device()).render(frame).images)[0].difference
    assert found.covered_px > 1500 and found.share_over_2_inside < 0.005


WRONG = {
    "number": (change("nodes", 1, "extensions", LIGHTS, "light", value=1), r"nodes\[1\].*refers to lights\[1\]; the file has 1"),
    "type": (change("extensions", LIGHTS, "lights", 0, "type", value="area"), r"lights\[0\]: type is 'area'; allowed are"),
    "cone": (change("extensions", LIGHTS, "lights", 0, "spot", value={"outerConeAngle": 3}), r"outerConeAngle 3; 0 <= inner < outer"),
    "range": (change("extensions", LIGHTS, "lights", 0, "range", value=0), r"range 0.*range not 0"),
    "color": (change("extensions", LIGHTS, "lights", 0, "color", value=[1, 1]), r"color is \[1, 1\]; 3 finite numbers"),
    "lights": (change("extensions", LIGHTS, "lights", value={}), r"lights is not a list of objects"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_light_is_said(tmp_path: Path, what: str) -> None:
    b = wall([{"type": "spot"}], [{}])
    put, message = WRONG[what]
    put(b.json)
    with pytest.raises(ModelError, match=message):
        load_model(b.glb(tmp_path / "a.glb"))


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    b = with_camera(PERSPECTIVE, translation=[0, 0, 4], name="front")
    path, out = str(b.glb(tmp_path / "a.glb")), str(tmp_path / "a.png")
    assert main(["render", path, "-o", out, "--camera", "front", "--size", "32x16", "--exposure", "1", "--lights", "studio"]) == 0
    assert main(["render", path, "-o", out, "--camera", "back"]) == 2
    assert "camera is 'back'; there is 0 'front'" in capsys.readouterr().err
    assert main(["render", path, "-o", out, "--lights", "file"]) == 2
    assert main(["explain", path, "--camera", "0", "--size", "32x16"]) == 0
