"""``tilegpu bench vertex``: each cache against a simulation of its own, the core's counts, orders, bytes; and batches of every width."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.bench import vertex, vertex_caches
from tilegpu.bench.cache import Cache
from tilegpu.cli import main
from tilegpu.cost_constants import CONSTANTS
from tilegpu.scene import find_scene

PROFILES = [name for name in tg.profile_names() if name != "host"]


def grid(side: int, seed: int | None = None) -> np.ndarray:
    """(2 side^2, 3) triangles of a grid, row by row, or in random order."""
    at = np.arange(side * side) // side * (side + 1) + np.arange(side * side) % side
    triangles = np.stack([at, at + 1, at + side + 1, at + 1, at + side + 2, at + side + 1], 1).reshape(-1, 3)
    return triangles if seed is None else np.random.default_rng(seed).permutation(triangles)


MESHES = {
    "grid": grid(30),
    "shuffled": grid(30, 1),
    "random": np.random.default_rng(2).integers(0, 60, (700, 3)),
    "fan": np.stack([np.zeros(200, int), np.arange(1, 201), np.arange(2, 202)], 1),
    "one": np.array([[5, 5, 9]]),
}


def by_queue(triangles: np.ndarray, entries: int) -> int:
    queue: list[int] = []
    shaded = 0
    for index in triangles.ravel().tolist():
        if index not in queue:
            shaded += 1
            queue = [*queue, index][-entries:]
    return shaded


def by_batches(triangles: np.ndarray, vertices: int, ways: int, chunk: int = 0, most: int = 10**6) -> tuple[int, int]:
    """Vertices and batches; ``chunk`` triangles at a time, 0 for all, and at most ``most`` in a batch."""
    batches: list[set[int]] = []
    taken = 0
    for number, triangle in enumerate(triangles.tolist()):
        with_it = (batches[-1] if batches else set()) | set(triangle)
        full = any(sum(v % (vertices // ways) == s for v in with_it) > ways for s in range(vertices // ways))
        if full or not batches or taken == most or (chunk and number % chunk == 0):
            batches.append(set(triangle))
            taken = 1
        else:
            batches[-1] = with_it
            taken += 1
    return sum(map(len, batches)), len(batches)


def test_the_figures_of_a_grid() -> None:
    indices = grid(30).ravel().tolist()
    assert len(set(indices)) == 961
    assert len(vertex_caches.fifo(indices, 16).vertices) == 1860
    assert len(vertex_caches.batches(indices, 32).vertices) == 1920


@pytest.mark.parametrize("name", MESHES)
def test_fifo_and_batches(name: str) -> None:
    triangles = MESHES[name]
    indices = triangles.ravel().tolist()
    for entries in (1, 3, 16, 24, 32, 64):
        done = vertex_caches.fifo(indices, entries)
        assert len(done.vertices) == by_queue(triangles, entries) and set(done.vertices) == set(indices)
    for vertices, ways in ((3, 3), (16, 16), (32, 32), (48, 48), (64, 64), (32, 4), (64, 4), (64, 8), (12, 3)):
        found = vertex_caches.batches(indices, vertices, ways)
        assert (len(found.vertices), found.batches) == by_batches(triangles, vertices, ways)
    for vertices, ways in ((2, 0), (16, 2), (16, 5)):
        with pytest.raises(ValueError, match=f"vertices is {vertices}"):
            vertex_caches.batches(indices, vertices, ways)


@pytest.mark.parametrize("name", MESHES)
def test_groups_of_four(name: str) -> None:
    triangles = MESHES[name]
    indices = triangles.ravel().tolist()
    for vertices in (4, 16, 32, 128):
        found = vertex_caches.groups(indices, vertices)
        assert len(found.vertices) == 4 * by_queue(triangles // 4, vertices // 4) and found.batches == 0
        assert set(indices) <= set(found.vertices)


def test_the_example_of_arms_engineer() -> None:
    """community.arm.com, 55793: groups "always round down to a naturally aligned base index": of [1, 5, 13] 0-3, 4-7, 12-15; and the three
    indices 0, 7, 15 cost twelve vertices."""
    for indices, expected in (([1, 5, 13], [0, 4, 12]), ([1, 5, 7], [0, 4]), ([1, 10, 15], [0, 8, 12]), ([0, 7, 15], [0, 4, 12])):
        vertices = [base + k for base in expected for k in range(4)]
        assert vertex_caches.groups(indices, 32).vertices == vertices
        found = vertex.count_on("mali-g57", [mesh(np.array([indices]))], "given")
        assert found.shaded == len(vertices) and found.named == 3 and found.vertex_group == 4
        assert vertex.count_on("adreno-a650", [mesh(np.array([indices]))], "given").shaded == 3


def test_explicit_indices_are_the_best_there_is() -> None:
    # Against all ways to throw out, on short lists: no cache of three places that takes every vertex in shades fewer.
    random = np.random.default_rng(4)
    for _ in range(30):
        indices = random.integers(0, 6, 9).tolist()
        states = {frozenset[int](): 0}
        for index in indices:
            following: dict[frozenset[int], int] = {}
            for held, shaded in states.items():
                if index in held:
                    choices = [held]
                elif len(held) < 3:
                    choices = [held | {index}]
                else:
                    choices = [held - {out} | {index} for out in held]
                for choice in choices:
                    cost = shaded + (index not in held)
                    following[choice] = min(following.get(choice, 99), cost)
            states = following
        found = vertex_caches.explicit(indices, 3)
        assert len(found.vertices) == min(states.values())
        assert found.index_B == 9 + 4 * (len(found.vertices) - len(set(indices)))
    for entries in (2, 254):
        with pytest.raises(ValueError, match=f"entries is {entries}"):
            vertex_caches.explicit([0, 1, 2], entries)


def mesh(triangles: np.ndarray, vertex_B: int = 32, index_B: int = 4) -> vertex.Mesh:
    return vertex.Mesh(triangles.astype(np.uint32), vertex_B, index_B)


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("vertex_batch", [3, 16, 32, 33, 48, 64])
def test_the_core_shades_batches(name: str, vertex_batch: int) -> None:
    triangles = MESHES[name]
    found = vertex.count_on("host", [mesh(triangles)], "given", vertex_batch)
    chunk = vertex_caches.chunk_primitives(len(triangles))
    assert (found.shaded, found.batches) == by_batches(triangles, vertex_batch, vertex_batch, chunk, 256)
    assert found.named == len(np.unique(triangles)) and found.vertex_batch == vertex_batch


@pytest.mark.parametrize("name", MESHES)
def test_the_core_shades_ranges(name: str) -> None:
    found = vertex.count_on("host", [mesh(MESHES[name])], "given")
    done = vertex_caches.ranges(MESHES[name].ravel().tolist())
    assert (found.shaded, found.batches, found.vertex_batch) == (len(done.vertices), done.batches, 0)
    assert found.named == len(np.unique(MESHES[name]))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_has_its_batch(profile: str) -> None:
    device = tg.Device(profile)
    batch, group = device.info["vertex_batch"], device.info["vertex_group"]
    row = CONSTANTS[profile]
    assert (batch, group) == (row.vertex_batch.value, row.vertex_group.value) and batch == 32
    assert tg.Device("host").info["vertex_batch"] == 0
    for name in ("kill_queue", "deferred_triangle_px2", "vertex_input_cache_B"):
        assert device.info[name] == getattr(row, name).value, name
    found = vertex.count_on(profile, [mesh(grid(30))], "given")
    assert found == vertex.count_on(profile, [mesh(grid(30))], "given", batch)
    assert found.shaded == {0: 1920, 1: by_queue(grid(30), 32), 4: 4 * by_queue(grid(30) // 4, 8)}[group]
    assert vertex.count_on("host", [mesh(grid(30))], "given", 32).shaded == 1924, "the end of a chunk cuts a batch"
    # With a small heap (a profile's) chunks are of 4,096 triangles.
    for triangles in (grid(60), grid(60, 5)):
        found = vertex.count_on(profile, [mesh(triangles)], "given")
        shaded, batches = by_batches(triangles, 32, 32, 4096)
        if group:
            shaded = sum(group * by_queue(part // group, 32 // group) for part in np.split(triangles, [4096]))
        assert (found.shaded, found.batches) == (shaded, batches)


@pytest.mark.parametrize("vertex_batch", [3, 11, 12, 16, 32, 33, 47, 48, 64])
@pytest.mark.parametrize("profile, size", [("mali-g610", 4), ("mali-g625", 1)])
@pytest.mark.parametrize("name", MESHES)
def test_a_cache_of_every_width(name: str, profile: str, size: int, vertex_batch: int) -> None:
    """Arm: "a vertex that has been evicted from the post-transform cache must be reshaded": what is held stays from batch to batch."""
    triangles = MESHES[name]
    found = vertex.count_on(profile, [mesh(triangles)], "given", vertex_batch)
    assert found.shaded == size * by_queue(triangles // size, max(1, vertex_batch // size))
    assert (found.named, found.vertex_batch, found.vertex_group) == (len(np.unique(triangles)), vertex_batch, size)


def test_who_shades_neighbours() -> None:
    """Arm's performance counter references: 4 vertices a request on Mali-G57, G610 and G720, up to 16 on G725 and G625; a cache on all."""
    groups = {name: tg.Device(name).info["vertex_group"] for name in tg.profile_names()}
    assert {name for name, group in groups.items() if group == 4} == {"mali-g57", "mali-g610", "mali-g720", "immortalis-g920"}
    assert {name for name, group in groups.items() if group == 1} == {"mali-g725", "mali-g625", "immortalis-g925"}
    assert {name for name, group in groups.items() if group == 0} == {
        "host", "adreno-a630", "adreno-a650", "adreno-a740", "desktop-immediate"}  # fmt: skip


@pytest.mark.parametrize("name", ["mesh_100k", "gbuffer5", "demo"])
def test_batches_change_no_bit(name: str) -> None:
    from tilegpu.scene.render import render

    frame = find_scene(name).frame((200, 120))
    pictures = []
    for options in (
        {},
        {"vertex_batch": 32},
        {"vertex_batch": 48},
        {"vertex_batch": 64, "threads": 4, "lanes": 4},
        {"vertex_batch": 33},
    ):
        result = render(tg.Device(**options), frame)  # type: ignore[arg-type]
        pictures.append([np.asarray(image).tobytes() for image in result.images])
    assert all(picture == pictures[0] for picture in pictures)


def test_what_is_no_filled_triangle_goes_in_batches_of_32() -> None:
    """Lines, and vertices that a query or a capture counts: batches as wide as the shader's call."""
    fragment = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
    shader = (
        "#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex % 7 / 7.0, gl_VertexIndex % 5 / 5.0, 0.5, 1); }"
    )
    counts = []
    for batch in (32, 64):
        device = tg.Device(vertex_batch=batch)
        target = device.image((8, 8), "r8g8b8a8_unorm")
        pipeline = device.pipeline(shader, fragment, color=["r8g8b8a8_unorm"], topology="line_list")
        with device.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipeline, indices=np.arange(200, dtype=np.uint16))
        counts.append((rp.stats.vertices_shaded, rp.stats.vertex_batches, target.numpy().tobytes()))
    assert counts[0] == counts[1]


def test_orders() -> None:
    shuffled = mesh(grid(40))
    random = vertex.in_order(shuffled, "random")
    assert sorted(map(tuple, random.triangles.tolist())) == sorted(map(tuple, shuffled.triangles.tolist()))
    assert not np.array_equal(random.triangles, shuffled.triangles)
    assert np.array_equal(vertex.in_order(shuffled, "random").triangles, random.triangles), "the same at every run"
    pytest.importorskip("meshopt")
    best = vertex.in_order(random, "optimised")
    assert best.triangles.shape == random.triangles.shape and len(np.unique(best.triangles)) == 41 * 41
    first_use = list(dict.fromkeys(best.triangles.ravel().tolist()))
    assert first_use == list(range(41 * 41)), "vertices lie in the order of their first use"
    ratio = {
        m: len(vertex_caches.batches(x.triangles.ravel().tolist(), 32).vertices) / 1681
        for m, x in (("r", random), ("o", best))
    }
    assert ratio["o"] < 1.75 < 5 < ratio["r"]


def test_bytes_that_come_in() -> None:
    one_line = Cache(1, 1)
    # 48 bytes a vertex: vertex 0 in line 0, vertex 1 in lines 0 and 1, vertex 2 in 1 and 2, vertex 3 in 2.
    assert vertex.fetched_B([0, 1, 2, 3], 48, one_line) == 3 * 64
    assert vertex.fetched_B([3, 0, 3], 48, one_line) == 3 * 64
    assert vertex.fetched_B([3, 0, 3], 48, Cache(4, 4)) == 2 * 64
    assert vertex.fetched_B([0, 1], 0, one_line) == 0
    row = vertex.simulate(
        [mesh(grid(4), 16, 2), mesh(grid(4), 16, 2)], "given", "FIFO of 16", vertex.input_cache_of(16)
    )
    assert (row.triangles, row.named, row.vertex_B, row.index_B) == (64, 50, 2 * 7 * 64, 2 * 3 * 64)
    explicit = vertex.simulate([mesh(grid(4), 16, 2)], "given", "explicit, 253 places", vertex.input_cache_of(16))
    assert explicit.index_B == 2 * 64, "a byte each"


def test_strips_and_fans() -> None:
    indices = np.array([3, 4, 5, 6, 7], np.uint32)
    assert vertex._strip(indices).tolist() == [[3, 4, 5], [4, 6, 5], [5, 6, 7]]
    assert vertex._fan(indices).tolist() == [[4, 5, 3], [5, 6, 3], [6, 7, 3]]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "vertex", "cube", "--order", "given", "--order", "random"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in (*vertex_caches.CACHES, *tg.profile_names(), "12 triangles"))
    assert main(["bench", "vertex", "cube", "--order", "given", "--json", "--input-cache", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["caches"]) == len(vertex_caches.CACHES) and len(found["profiles"]) == len(tg.profile_names())
    assert all(row["shaded"] >= row["named"] > 0 for row in itertools.chain(found["caches"], found["profiles"]))
    for arguments, expected in (
        (["cube", "--input-cache", "3"], "not a power of two"),
        (["no_such_mesh"], "no_such_mesh"),
    ):
        assert main(["bench", "vertex", *arguments]) == 2
        assert expected in capsys.readouterr().err


def test_without_the_optimiser(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "meshopt", None)
    assert main(["bench", "vertex", "cube", "--json"]) == 0, "nobody asked for the optimised order"
    out, err = capsys.readouterr()
    assert {row["order"] for part in json.loads(out).values() for row in part} == {"given", "random"}
    assert "note: bench vertex: the optimised order needs the package meshopt" in err and "(tilegpu[mesh]); it is left out" in err
    assert main(["bench", "vertex", "cube", "--order", "optimised"]) == 2
    assert "pip install meshopt (tilegpu[mesh])" in capsys.readouterr().err
