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

import tilegpu as tg

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


def outline(positions: Array, rows: Array, lamp: Array) -> tuple[int, int]:
    """Triangles that face the lamp, and their edges to triangles that don't."""
    a, b, c, d, e, f = positions[rows].astype("f8").transpose(1, 0, 2)
    lit = [(np.cross(v - u, w - u) * (lamp - u)).sum(-1) > 0 for u, v, w in ((a, c, e), (c, a, b), (e, c, d), (a, e, f))]
    return int(lit[0].sum()), int(sum((lit[0] & ~other).sum() for other in lit[1:]))


def test_shadow_volumes() -> None:
    shadows = script("shadow_volumes")
    image, rp, triangles = shadows.render((160, 135))
    casters = [shadows.with_neighbours(vertices["position"], faces) for vertices, faces, _ in shadows.things()[:-1]]
    counted = [outline(positions, rows, np.array((-1.1, 2.9, 1.3))) for positions, rows in casters]
    facing, edges = map(sum, zip(*counted, strict=True))
    assert rp.stats.geometry_invocations == triangles == sum(len(rows) for _, rows in casters)
    assert abs(rp.stats.geometry_primitives - 2 * (facing + edges)) < 40  # caps and walls; doubles may see another side of a few
    stored = rp.stats.traffic
    assert sum(sum(causes.values()) for name, causes in stored.items() if name in ("depth", "stencil")) == 0
    again, more, _ = shadows.render((160, 135), seen=True)
    assert more.stats.geometry_primitives == 2 * rp.stats.geometry_primitives  # counted, and seen
    assert (again.numpy() >= image.numpy()).all() and (again.numpy() != image.numpy()).any()


def test_shadow_volumes_shade_what_the_lamp_does_not_see() -> None:
    """Points of the floor are dark where, and only where, the ray to the lamp meets a thing."""
    shadows = script("shadow_volumes")
    size, lamp, eye = (320, 270), np.array((-1.1, 2.9, 1.3)), np.array((1.5, 2.1, 4.2))
    picture = shadows.render(size)[0].numpy()[..., :3].astype(int).sum(-1)
    m = tg.math
    view = m.multiply(m.perspective(38, size[0] / size[1], 0.1, None), m.look_at(eye, (0.05, 0.6, 0)))
    meshes = [vertices["position"][faces].astype("f8") for vertices, faces, _ in shadows.things()[:-1]]
    u, v, w = np.concatenate(meshes).transpose(1, 0, 2)

    def hit(start: Array, end: Array) -> bool:
        along, e1, e2 = end - start, v - u, w - u  # Moeller and Trumbore's test of a segment and all triangles
        p = np.cross(along, e2)
        det = (e1 * p).sum(-1)
        s = start - u
        with np.errstate(divide="ignore", invalid="ignore"):
            a, q = (s * p).sum(-1) / det, np.cross(s, e1)
            b, t = (q @ along) / det, (e2 * q).sum(-1) / det
            return bool(((a >= 0) & (b >= 0) & (a + b <= 1) & (t > 1e-6) & (t < 1)).any())

    seen: dict[bool, list[int]] = {False: [], True: []}
    for x, z in np.random.default_rng(0).uniform((-1.4, -0.2), (2.4, 2.2), (140, 2)):
        around = [np.array((x + dx, 0, z + dz)) for dx, dz in ((0, 0), (0.05, 0), (-0.05, 0), (0, 0.05), (0, -0.05))]
        dark = {hit(at, lamp) for at in around}
        clip = view.astype("f8") @ (x, 0, z, 1)
        px, py = ((clip[:2] / clip[3] + 1) / 2 * size).astype(int)
        if len(dark) == 1 and 0 <= px < size[0] and 0 <= py < size[1] and not any(hit(eye, at) for at in around):
            seen[dark.pop()].append(picture[py, px])
    assert min(map(len, seen.values())) > 10
    assert max(seen[True]) + 100 < min(seen[False]), (max(seen[True]), min(seen[False]))


def test_gpu_driven() -> None:
    town = script("gpu_driven")
    size = (320, 180)
    _, rows = town.ride(size, 4, 4)
    things, m = town.town(4), tg.math
    boxes = np.array([[x, y, z, 0] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    for k, row in enumerate(rows):
        assert row["differ"] == 0 and row["things"] == len(things)
        eye = (16.4 + 0.6 * k, 4.2, 66.0 - 8 * k)  # the ride's
        view = m.multiply(m.perspective(52, size[0] / size[1], 0.3, 1500), m.look_at(eye, (eye[0] - 1.5 - 2.0 * k, 5.5, eye[2] - 20)))
        center, extent = (np.concatenate([things[f], np.full((len(things), 1), w)], 1)[:, None] for f, w in (("center", 1), ("size", 0)))
        p = (center + boxes * extent) @ view.astype("f8").T
        x, y, z, w = np.moveaxis(p, -1, 0)
        inside = ~np.any([(b).all(1) for b in (x < -w, x > w, y < -w, y > w, z < 0, z > w)], axis=0)
        assert abs(row["inside"] - int(inside.sum())) <= 1  # of floats of 32 bits
        assert row["inside"] <= row["first"] + row["second"] + row["hidden"]
        assert row["hidden"] > 100 if k else row["hidden"] == row["first"] == 0
    assert rows[0]["second"] == rows[0]["inside"] and rows[3]["first"] + rows[3]["second"] < rows[3]["inside"] / 2
    assert rows[3]["triangles"] < rows[3]["all_triangles"] / 4


def test_gpu_driven_whatever_the_camera_does() -> None:
    """What was seen last is no promise: a camera that jumps and turns round sees all the same."""
    town = script("gpu_driven")
    scene, m = town.Town((200, 120), 3), tg.math
    second = []
    for eye, at in [((0, 60, 90), (0, 0, 0)), ((18, 4, 40), (18, 5, 0)), ((18, 4, 40), (60, 5, 80)), ((18, 2, 18), (0, 0, 0))]:
        view = m.multiply(m.perspective(60, 200 / 120, 0.3, 900), m.look_at(eye, at))
        _, counts = scene.frame(view, eye)
        picture = scene.color.numpy().copy()
        scene.everything(view, eye)
        assert np.array_equal(picture, scene.color.numpy()), eye
        second.append(int(counts[1, 0]))
    assert max(second[1:]) > 50


def blended_lists(house: Any, behind: Array) -> Array:
    """What the lists say, farthest first, in floats of 32 bits."""
    lengths = house.lengths.numpy()[..., 0]
    items = house.items.numpy(np.uint32).reshape(*lengths.shape, -1, 2)
    out = behind[..., :3].copy()
    for k in range(items.shape[2] - 1, -1, -1):
        color = (items[..., k, 1, None] >> np.array([0, 8, 16, 24], np.uint32) & 255).astype(np.float32) / np.float32(255)
        mixed = color[..., :3] * color[..., 3:] + out * (1 - color[..., 3:])
        out = np.where((k < lengths)[..., None], mixed, out)
    return out


def test_order_independent() -> None:
    glass = script("order_independent")
    house, things = glass.Glasshouse((120, 120)), glass.glass()
    triangles = np.concatenate(things)
    lists, blended = house.by_lists(triangles), house.by_blending(triangles)
    lengths = house.lengths.numpy()[..., 0]
    assert lengths.sum() == house.inserted.stats.fragments_shaded and 8 < lengths.max() <= glass.DEEPEST
    depths = house.items.numpy(np.uint32).reshape(*lengths.shape, -1, 2)[..., 0].view(np.float32)
    later = np.arange(1, glass.DEEPEST) < lengths[..., None]
    assert (np.diff(depths)[later] >= 0).all() and np.allclose(lists, blended_lists(house, house.behind.numpy()), atol=1e-6)
    for seed in (1, 2):
        order = np.random.default_rng(seed).permutation(len(triangles))
        assert np.array_equal(house.by_lists(triangles[order]), lists)
    differ = glass.pixels_that_differ
    assert differ(house.by_blending(triangles[::-1]), blended) > 2000
    by_thing, by_triangle = (differ(house.by_blending(house.farthest_first(parts)), lists) for parts in (things, triangles))
    assert 0 < by_triangle < by_thing / 10


@pytest.mark.parametrize("count", [7, 20])
def test_order_independent_is_sorting_where_that_can_be_done(count: int) -> None:
    """Sheets one behind another: the same bits as blending them farthest first; of more than the lists hold, the nearest."""
    glass = script("order_independent")
    house, m = glass.Glasshouse((96, 96)), tg.math
    rng = np.random.default_rng(3)
    sheet = tg.shapes.plane((1.6, 1.2))
    places = [m.multiply(m.translate(*rng.uniform(-0.1, 0.1, 2), 0.5 + 0.04 * k), m.rotate_x(1.5708)) for k in range(count)]
    things = [glass.triangles_of(sheet, place, (*rng.uniform(0, 1, 3), 0.4)) for place in places]
    mixed = np.concatenate([things[k] for k in rng.permutation(count)])
    lists = house.by_lists(mixed)
    lengths = house.lengths.numpy()[..., 0]
    few, all_there = lengths <= glass.DEEPEST, lengths == count
    assert all_there.sum() > 500
    sorted_all, nearest = (house.by_blending(np.concatenate(some)) for some in (things, things[-glass.DEEPEST :]))
    assert np.array_equal(lists[few], sorted_all[few]) and np.array_equal(lists[all_there], nearest[all_there])
    assert np.array_equal(lists, house.by_lists(mixed[::-1]))


def drawn(name: str) -> Array:
    """A small picture of a script."""
    module = script(name)
    if name == "order_independent":
        return module.Glasshouse((64, 64)).by_lists(np.concatenate(module.glass()))
    small = {"marching_cubes": (SIZE, 16), "particles": (SIZE, 500, 100), "volume": ((96, 54), 32), "shadow_volumes": ((80, 67), True)}
    render = module.ride if name == "gpu_driven" else module.render
    return render(*small.get(name, ((128, 72), 2, 2)))[0].numpy()


@pytest.mark.parametrize("name", ["marching_cubes", "particles", "volume", "shadow_volumes", "gpu_driven", "order_independent"])
def test_the_same_bits_on_another_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = drawn(name)
    device, made = tg.Device, []

    def other() -> tg.Device:
        made.append(device("adreno-a740", lanes=4, threads=1))
        return made[-1]

    monkeypatch.setattr(tg, "Device", other)
    assert np.array_equal(drawn(name), picture) and made and np.ptp(picture) > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_each_runs_as_it_is(path: Path, tmp_path: Path) -> None:
    given = [str(FOLDER.parent.parent / "docs/images/demo.png")] if path.stem == "video_frame" else []
    done = subprocess.run([sys.executable, path, *given, "x.png"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert (tmp_path / "x.png").stat().st_size > 10_000
    assert done.stdout or path.stem == "video_frame"
