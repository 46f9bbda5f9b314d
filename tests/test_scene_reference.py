"""The reference scenes are those of vkpeer: same bytes of geometry, textures and matrices (hashes taken from that program)."""

from __future__ import annotations

import hashlib
import math
import sys

import numpy as np
import pytest

from tilegpu.scene import Frame, scenes
from tilegpu.scene.camera import OrbitCamera, multiply, rotate_x, rotate_y
from tilegpu.scene.mesh import Random, box, columns, reference_texture_levels, sphere

NAMES = [
    "clear", "fill_opaque_back_to_front", "fill_opaque_front_to_back", "fill_blend", "heavy_overdraw_512", "heavy_overdraw_1080p",
    "mesh_1m", "mesh_100k", "textured_pbr", "gbuffer5", "draws_10k", "msaa1", "multisampling1",
    *(f"{family}{n}_{how}_resolve" for family in ("msaa", "multisampling") for n in (2, 4, 8, 16) for how in ("pass", "store_cmd")),
]  # fmt: skip


def sha(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("nu", "nv", "bump", "vertices", "indices"),
    [
        (1000, 500, 0.05, "2fe3048bc3cad2f1", "354bdec71d7602fc"),
        (320, 156, 0.05, "dacaaedff70e03b5", "3c61d338a32fa066"),
        (142, 71, 0.05, "9b87a8b6f815f063", "5ff389e67a7e42a7"),
        (40, 25, 0.0, "f62809519ce14a05", "663d6290b57e2e79"),
    ],
)
def test_spheres_are_bit_equal(nu: int, nv: int, bump: float, vertices: str, indices: str) -> None:
    mesh = sphere(nu, nv, bump)
    assert (sha(mesh.vertices), sha(mesh.indices)) == (vertices, indices)


def test_texture_and_columns() -> None:
    assert sha(np.concatenate([level.reshape(-1) for level in reference_texture_levels()])) == "80206b6cf1d118cc"
    mesh, colours = columns()
    assert (sha(mesh.indices), sha(colours)) == ("df7671c040f2896e", "dd2c5ec9d85a7e4c")
    # Positions go through a float cosine: 13 of the 600 angles round differently from glibc's cosf, by one unit in the last place.
    values = mesh.vertices.view("f4").reshape(-1, 8).astype("f8")
    assert np.allclose(np.abs(values).sum(0)[[0, 1, 2]], [10728.148276, 17527.290384, 32305.908173], rtol=0, atol=1e-3)


def test_matrices_are_bit_equal() -> None:
    def mvp(name: str) -> str:
        return sha(scenes()[name].frame().draws[0].push["mvp"].T)

    assert sha(multiply(rotate_x(0.5), rotate_y(0.3)).T) == "aeb1a418cf459ffd"
    assert mvp("textured_pbr") == "a66d673567f4cb44"
    assert mvp("heavy_overdraw_1080p") == "09f36ffe0f2aa873"
    assert mvp("heavy_overdraw_512") == "6bfef9fc4e3d2e35"
    assert mvp("mesh_1m") == "0a29b49ac10513bd"
    assert mvp("multisampling4_pass_resolve") == "74d11d4ce0a8667f"
    push = scenes()["mesh_1m"].frame().draws[0].push
    expected = np.array([0.2841848134994507, 0.8578686714172363, 0.4281357228755951, 0], "f4")
    assert np.array_equal(push["p0"], expected)


def test_every_scene_of_the_list_is_there_with_its_work() -> None:
    table = scenes()
    assert not set(NAMES) - set(table)
    triangles = {"clear": 0, "fill_blend": 32, "heavy_overdraw_512": 2000, "mesh_1m": 1_000_000, "mesh_100k": 99_840,
                 "textured_pbr": 200_000, "gbuffer5": 200_000, "multisampling1": 20_164, "draws_10k": 20_000}  # fmt: skip
    for name, count in triangles.items():
        assert table[name].frame().triangles == count, name
    assert len(table["draws_10k"].frame().draws) == 10_000
    assert table["heavy_overdraw_512"].frame().size == (512, 512)
    assert len(table["gbuffer5"].frame().color_formats) == 5
    assert table["clear"].frame().store_depth and not table["mesh_1m"].frame().store_depth
    frame = table["fill_blend"].frame()
    assert frame.draws[0].state.blend == "alpha" and not frame.draws[0].state.depth_test
    for n in (2, 4, 8, 16):
        for how in ("pass", "store_cmd"):
            scene = table[f"msaa{n}_{how}_resolve"]
            assert {(f.samples, f.resolve) for f in (scene.frame(), scene.frame(samples=n))} == {(n, how)}
            with pytest.raises(ValueError, match=rf"msaa{n}_{how}_resolve': samples is 1; the scene is defined with {n}; leave samples="):
                scene.frame(samples=1)


def test_the_million_triangles_are_made_whole_and_kept() -> None:
    """By NumPy: Python's own calls don't grow with them."""
    sphere.cache_clear()
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        first = scenes()["mesh_1m"].frame()
    finally:
        sys.setprofile(None)
    assert calls < 20_000
    second = scenes()["mesh_1m"].frame()
    assert first.draws[0].vertices is second.draws[0].vertices
    assert first.draws[0].program is second.draws[0].program


@pytest.mark.parametrize("name", ["mesh_1m", "textured_pbr", "multisampling1", "heavy_overdraw_512"])
def test_the_camera_begins_at_the_scenes_own_view(name: str) -> None:
    scene = scenes()[name]
    camera = scene.camera()
    assert camera is not None
    own, moved = scene.frame().draws[0].push, scene.frame(camera=camera).draws[0].push
    for key in own:
        assert np.allclose(own[key], moved[key], atol=2e-6), key


def test_a_size_or_sample_count_that_makes_no_sense_is_an_error() -> None:
    scene = scenes()["mesh_100k"]
    with pytest.raises(ValueError, match=r"mesh_100k.*0x5.*16384"):
        scene.frame((0, 5))
    with pytest.raises(ValueError, match="samples is 3; allowed"):
        scene.frame(samples=3)


def test_random_numbers() -> None:
    random = Random()
    state = 12345
    for _ in range(5):
        state = (state * 1664525 + 1013904223) % 2**32
        assert random.next() == np.float32((state >> 8) / 2**24)


def test_box_faces_outwards() -> None:
    mesh = box((1, 2, 3))
    p = mesh.vertices["aPos"][mesh.indices].reshape(-1, 3, 3)
    face = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    assert np.all((face * p.mean(1)).sum(1) > 0)
    assert np.allclose(face / np.linalg.norm(face, axis=1)[:, None], mesh.vertices["aNormal"][mesh.indices[::3]])
    assert np.allclose(np.abs(p).reshape(-1, 3).max(0), [0.5, 1, 1.5])


def test_orbit_camera() -> None:
    camera = OrbitCamera.framing((-1, -1, -1), (1, 1, 1), yaw=0.7, pitch=0.4, aspect=1.5, fill=0.9)
    corners = np.array([[x, y, z, 1] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], "f8")
    clip = corners @ camera.view_projection(1.5).astype("f8").T
    ndc = clip[:, :3] / clip[:, 3:]
    assert np.abs(ndc[:, :2]).max() == pytest.approx(0.9, abs=0.02)
    assert ndc[:, 2].min() > 0 and ndc[:, 2].max() < 1
    up = camera.view_projection(1.0) @ np.array([*camera.target, 1], "f4") - camera.view_projection(1.0) @ np.array(
        [camera.target[0], camera.target[1] + 0.1, camera.target[2], 1], "f4"
    )
    assert up[1] > 0  # y is down in clip space, so going up lowers it
    assert np.linalg.norm(camera.eye - np.array(camera.target)) == pytest.approx(camera.distance, rel=1e-5)
    camera.rotate(1.0, 9.0)
    assert camera.pitch < math.pi / 2
    camera.zoom(0.5)
    camera.pan(0.1, 0.1)
    camera.reset()
    assert camera.yaw == 0.7 and camera.pitch == 0.4


def test_small_samples_describe_a_frame() -> None:
    for name in ("triangle", "cube", "demo"):
        frame = scenes()[name].frame((64, 48), samples=1)
        assert isinstance(frame, Frame) and frame.draws and frame.resolve == "none"
        assert scenes()[name].frame((64, 48)).resolve == "pass"
