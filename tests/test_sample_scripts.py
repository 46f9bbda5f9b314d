"""The scripts of samples/scripts: each draws, in small, and what it prints of itself is right: counts, closed surfaces, equal pictures."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "samples" / "scripts"
Array = np.ndarray[Any, Any]
SIZE = (240, 135)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def corners_of(triangles: Array) -> Array:
    """(n, 3): the number of each corner's position."""
    _, corner = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    return corner.reshape(-1, 3)


def test_marching_cubes_cuts_each_edge_whose_ends_differ() -> None:
    """In all 256 cases, and all triangles of a cell face away from what is inside."""
    cubes = script("marching_cubes")
    for case, edges in enumerate(cubes.TABLE):
        wanted = {k for k, (a, b) in enumerate(cubes.EDGES) if (case >> a ^ case >> b) & 1}
        assert set(edges) == wanted and len(edges) % 3 == 0, case
    for one in range(8):  # a corner alone: its one triangle looks away from it
        ends = [np.mean([[c & 1, c >> 1 & 1, c >> 2] for c in cubes.EDGES[e]], axis=0) for e in cubes.TABLE[1 << one]]
        normal = np.cross(ends[1] - ends[0], ends[2] - ends[0])
        assert normal @ (ends[0] - [one & 1, one >> 1 & 1, one >> 2]) > 0


def test_marching_cubes() -> None:
    cubes = script("marching_cubes")
    image, triangles, figures = cubes.render(SIZE, 20)
    assert figures["cells"] == 8000 and figures["triangles"] == figures["drawn"] == len(triangles) > 500
    assert figures["vertex_B"] == triangles.nbytes
    balls = np.array(cubes.BALLS)
    at = (np.mgrid[0:21, 0:21, 0:21].reshape(3, -1).T / 20 * 2 - 1) * 1.9
    inside = ((balls[:, 3] ** 2 / ((at[:, None] - balls[:, :3]) ** 2).sum(-1)).sum(-1) > 1).reshape(21, 21, 21)
    case = sum(inside[c & 1 :, c >> 1 & 1 :, c >> 2 :][:20, :20, :20].astype(int) << c for c in range(8))
    assert figures["triangles"] == sum(len(cubes.TABLE[k]) // 3 for k in np.ravel(case))
    assert cubes.open_edges(triangles) == 0 and cubes.open_edges(triangles[1:]) == 3
    a, b, c = np.moveaxis(triangles.astype(float), 1, 0)
    volume = (a * np.cross(b, c)).sum() / 6  # of a closed surface, positive where it is seen from outside
    assert volume == pytest.approx(inside.sum() * (3.8 / 20) ** 3, rel=0.03)
    assert len(np.unique(image.numpy().reshape(-1, 4), axis=0)) > 2000


def test_particles() -> None:
    fountain = script("particles")
    image, sparks, rp, invocations = fountain.render(SIZE, 1000, 150)
    assert invocations == 150 * 1024  # whole workgroups
    place, age, bounces = sparks["place"][:, :3].astype(float), sparks["place"][:, 3], sparks["motion"][:, 3]
    born = place[:, 1] > -1
    assert 0.7 < born.mean() < 0.9  # 150 of the 192 steps of a life, each of which begins as many
    assert (age >= 0).all() and (age < 3.2).all() and (place[born, 1] >= 0).all()
    assert np.linalg.norm(place - (0.7, 0.55, 0), axis=1).min() > 0.5499
    assert 0.05 < (bounces > 0).mean() < born.mean()
    young = born & (bounces == 0)  # only drag changes how fast these go sideways, so the way follows from the speed at the end
    steps, drag = np.floor(age[young] * 60), 1 - 0.12 / 60
    before = age[young] - (steps + 1) / 60  # at the speed of the start
    way = before / drag ** (steps + 1) + sum(np.where(i <= steps, drag**-i, 0) / 60 for i in range(200))
    assert young.sum() > 300
    assert np.allclose(place[young][:, [0, 2]] - (-0.9, 0), sparks["motion"][young][:, [0, 2]] * way[:, None], atol=2e-4)
    overdraw = rp.heatmap("rasterized")
    assert overdraw.sum() == rp.stats.fragments_rasterized and overdraw.max() > 3
    assert rp.stats.bytes("store") == SIZE[0] * SIZE[1] * 8  # half floats; depth and the four samples stay in the tile
    assert len(np.unique(image.numpy().reshape(-1, 4), axis=0)) > 2000


def test_volume() -> None:
    head = script("volume")
    image, density, figures, (solid, rays) = head.render(SIZE, 64)
    assert figures["invocations"] == density.size == 64**3
    assert np.array_equal(density, density[:, :, ::-1])  # left and right; rows are y up, slices z
    center = density[:, :, 31] / 65535
    for y, z, wanted in ((60, 60, 0), (2, 26, 0.3), (35, 30, 0.42)):  # air, neck, brain
        assert center[z, y] == pytest.approx(wanted, abs=0.02), (y, z)
    assert 0.7 < center[27, 57] < 0.95  # the top of the skull, three voxels thick
    counted = figures["ended_by_mesh"], figures["full"], figures["samples"]
    assert 500 < counted[0] < solid.stats.fragments_shaded and 3000 < counted[1] < SIZE[0] * SIZE[1] / 4
    assert counted[2] < 2 * 64 * np.sqrt(3) * SIZE[0] * SIZE[1]  # no ray is longer than the cube's diagonal
    assert solid.stats.traffic["depth"]["store"] and rays.stats.bytes("store") == SIZE[0] * SIZE[1] * 4
    picture = image.numpy()[..., :3].astype(int)
    ring, chin = picture[110, 125], picture[90, 125]  # in front of the head is steel, above it bone
    assert np.ptp(ring) < 25 and chin[0] - chin[2] > 20 and chin.min() > 120


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_each_runs_as_it_is(path: Path, tmp_path: Path) -> None:
    given = [str(FOLDER.parent.parent / "docs/images/demo.png")] if path.stem == "video_frame" else []
    done = subprocess.run([sys.executable, path, *given, "x.png"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert (tmp_path / "x.png").stat().st_size > 10_000
    assert done.stdout or path.stem == "video_frame"
