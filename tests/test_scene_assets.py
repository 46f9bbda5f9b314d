"""The eleven models of ../shared/assets, where they are (TILEGPU_ASSETS names another folder)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tilegpu.scene.model import ModelScene, load_model

ASSETS = Path(os.environ.get("TILEGPU_ASSETS") or Path(__file__).resolve().parents[2] / "shared" / "assets")
pytestmark = pytest.mark.skipif(not ASSETS.is_dir(), reason=f"no models at {ASSETS}")

MODELS = {  # triangles, draws of the default frame, alpha modes
    "box_textured/BoxTextured.glb": (12, 1, {"OPAQUE"}),
    "duck/Duck.glb": (4_212, 1, {"OPAQUE"}),
    "water_bottle/WaterBottle.gltf": (4_510, 1, {"OPAQUE"}),
    "flight_helmet/FlightHelmet.gltf": (94_722, 6, {"OPAQUE", "BLEND"}),
    "alpha_blend_mode_test/AlphaBlendModeTest.glb": (61, 9, {"OPAQUE", "MASK", "BLEND"}),
    "normal_tangent_test/NormalTangentTest.glb": (7_774, 1, {"OPAQUE"}),
    "sheen_cloth/SheenCloth.gltf": (115_200, 1, {"OPAQUE"}),
    "house/house.glb": (10_497, 2, {"OPAQUE", "MASK"}),
    "skull/skull.obj": (100_002, 1, {"OPAQUE"}),
    "spot/spot_triangulated.obj": (5_856, 1, {"OPAQUE"}),
    "teapot/teapot.obj": (6_320, 1, {"OPAQUE"}),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> tuple[ModelScene, tuple[int, int, set[str]]]:
    return load_model(ASSETS / request.param), MODELS[request.param]


def test_what_is_in_it(model: tuple[ModelScene, tuple[int, int, set[str]]]) -> None:
    scene, (triangles, draws, modes) = model
    assert sum(part.indices.size // 3 for part in scene.parts) == triangles
    assert {part.material.alpha_mode for part in scene.parts} == modes
    frame = scene.frame()
    assert len(frame.draws) >= draws
    for part in scene.parts:
        v = part.vertices
        assert all(np.all(np.isfinite(v[name])) for name in part.attributes)
        assert np.abs(np.linalg.norm(v["normal"], axis=1) - 1).max() < 1e-2
        if "tangent" in part.attributes:
            assert set(np.unique(v["tangent"][:, 3])) <= {-1.0, 1.0}


@pytest.mark.parametrize("aspect", [None, 16 / 9, 0.5])
def test_the_camera_frames_it(model: tuple[ModelScene, tuple[int, int, set[str]]], aspect: float | None) -> None:
    scene, _ = model
    width, height = scene.default_size
    used = width / height if aspect is None else aspect
    points = np.concatenate([part.world_positions() for part in scene.parts])
    clip = np.c_[points, np.ones(len(points))] @ scene.camera(used).view_projection(used).astype("f8").T
    ndc = clip[:, :3] / clip[:, 3:]
    extent = np.abs(ndc[:, :2]).max(0)
    assert 0.9 < extent.max() < 0.97  # it touches the frame's margin, and stays inside
    assert np.all(np.abs(ndc[:, :2].max(0) + ndc[:, :2].min(0)) < 0.03)  # in the middle
    assert ndc[:, 2].min() > 0 and ndc[:, 2].max() < 1
    if aspect is None:
        assert np.prod(np.ptp(ndc[:, :2], axis=0)) / 4 > 0.3


def test_generated_tangents_agree_with_given_ones() -> None:
    from tilegpu.scene.tangents import generate_tangents

    for part in load_model(ASSETS / "flight_helmet/FlightHelmet.gltf").parts:
        v = part.vertices
        triangles = part.indices.reshape(-1, 3)
        made, source, _ = generate_tangents(v["position"], v["normal"], v["uv0"], triangles)
        given = v["tangent"][source]
        assert (made[:, 3] == given[:, 3]).mean() > 0.99
        assert np.median((made[:, :3] * given[:, :3]).sum(1)) > 0.999


def test_spot_takes_the_picture_beside_it_and_its_texture_has_no_cracks() -> None:
    part = load_model(ASSETS / "spot/spot_triangulated.obj").parts[0]
    assert part.material.maps["base_color"].pixels.shape == (1024, 1024, 4)
    uv = part.vertices["uv0"][part.indices].reshape(-1, 3, 2)
    assert np.ptp(uv, axis=1).max() < 0.2  # no triangle spans two islands
