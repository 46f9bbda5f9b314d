"""The depth filter's peers, caches, closed forms and sweeps: against the core's counters, and simulations one fragment at a time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.bench import depth_filter as bench
from tilegpu.bench.cache import Cache, misses
from tilegpu.bench.depth_filter_cells import SPACING, Cells, follow
from tilegpu.bench.depth_filter_curves import DISTRIBUTIONS, closed_forms, survived
from tilegpu.bench.depth_filter_machines import depth_filter, depth_traffic, hyper_z, visits_of
from tilegpu.bench.depth_filter_models import Model, balls_model, columns_model, knots_model, plane_model
from tilegpu.bench.depth_filter_peers import FILTER_CACHES, Misses, compare, miss_curve, miss_rates
from tilegpu.bench.depth_filter_stream import Stream, stream_of
from tilegpu.bench.depth_filter_sweep import FRAMES, SPACINGS, Sweep, sweep, sweep_one
from tilegpu.cli import main

SYSTEMS = list(bench.SYSTEMS)


@pytest.fixture(scope="module")
def streams() -> dict[str, Stream]:
    return {m.name: stream_of(m) for m in (columns_model(), knots_model(), balls_model(), plane_model())}


@pytest.fixture(scope="module")
def cells(streams: dict[str, Stream]) -> dict[str, Cells]:
    return {name: Cells(stream) for name, stream in streams.items()}


@pytest.mark.parametrize("model", [columns_model(), balls_model(), plane_model()], ids=lambda m: m.name)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_cores_counts(streams: dict[str, Stream], cells: dict[str, Cells], model: Model, system: str) -> None:
    stream = streams[model.name]
    for position, spacing in ((8, SPACING), (11, 3)):
        row = bench.run_frames(
            model, system, 1, position, 0 if spacing == SPACING or system == "one_plane" else spacing
        )[0]
        count = cells[model.name].count(system, position, spacing)
        assert row.fragments == len(stream)
        # Depth is rounded in another order: a fragment on a plane may go to either side.
        assert abs(row.rejected - count.rejected * len(stream)) <= 3
        assert abs(row.in_front - count.front * len(stream)) <= 3
        assert abs(row.survived - count.survived * len(stream)) <= 3
        assert row.depth_reads_skipped == pytest.approx(count.unread, abs=1e-6)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_cores_positions(streams: dict[str, Stream], cells: dict[str, Cells], system: str) -> None:
    model = balls_model()
    fragments = len(streams[model.name])
    for position, held in (("", 0), ("counters", fragments)):
        path = follow(lambda at: cells[model.name].count(system, at), 6, fragments=held)
        assert [row.position for row in bench.run_frames(model, system, 6, position)] == path


# --- one fragment at a time


def small_stream(seed: int, triangles: int = 60, size_px: tuple[int, int] = (32, 16)) -> Stream:
    """Rectangles at random depths, one after the other."""
    random = np.random.default_rng(seed)
    parts: list[tuple[int, int, float]] = []
    for k in range(triangles):
        x0, y0 = random.integers(0, size_px[0]), random.integers(0, size_px[1])
        x1, y1 = min(size_px[0], x0 + random.integers(1, 20)), min(size_px[1], y0 + random.integers(1, 12))
        depth = float(random.integers(0, 129)) / 128
        parts += [(k, y * size_px[0] + x, depth) for y in range(y0, y1) for x in range(x0, x1)]
    triangle, pixel, depth_ = zip(*parts, strict=True)
    return Stream(size_px, np.array(triangle, np.int32), np.array(pixel, np.int32), np.array(depth_, np.float32))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("planes", [[], [0.5], [0.375, 0.625], [0.25, 0.5, 0.75]])
def test_filter_and_hyper_z_one_by_one(seed: int, planes: list[float]) -> None:
    stream = small_stream(seed)
    width_px, height_px = stream.size_px
    stored: dict[int, float] = {}
    blocks: dict[tuple[int, int], dict[int, float]] = {}
    filtered, unread, passed, rejected = [], [], [], []
    farthest_before: dict[tuple[int, tuple[int, int]], float] = {}
    for t, pixel, z in zip(stream.triangle.tolist(), stream.pixel.tolist(), stream.depth.tolist(), strict=True):
        old = stored.get(pixel)
        block = (pixel % width_px // 8, pixel // width_px // 8)
        inside = blocks.setdefault(block, {})
        key = (t, block)  # a triangle meets a block as a whole: what it writes there counts for the next
        if key not in farthest_before:
            farthest_before[key] = max(inside.values()) if len(inside) == 64 else 1.0
        rejected.append(z >= farthest_before[key])
        filtered.append(any(old is not None and old < p <= z for p in planes))
        unread.append(old is None and z < 1)
        passed.append(z < (1.0 if old is None else old))
        if passed[-1]:
            stored[pixel] = inside[pixel] = z
    assert height_px == 16
    outcome = depth_filter(stream, planes, skips_reads=True)
    assert (
        outcome.rejected.tolist() == filtered
        and outcome.unread.tolist() == unread
        and outcome.passed.tolist() == passed
    )
    hyper, updates = hyper_z(stream)
    assert hyper.rejected.tolist() == rejected and hyper.passed.tolist() == passed
    changed = {(t, b) for t, b, p in zip(stream.triangle.tolist(), stream.block().tolist(), passed, strict=True) if p}
    assert updates == len(changed)


@pytest.mark.parametrize(("lines", "ways"), [(1, 1), (3, 3), (4, 1), (4, 2), (8, 2), (12, 3)])
def test_cache_one_by_one(lines: int, ways: int) -> None:
    numbers = np.random.default_rng(lines).integers(0, 30, 2000).tolist()
    sets: list[list[int]] = [[] for _ in range(lines // ways)]
    count = 0
    for number in numbers:
        held = sets[number % len(sets)]
        if number in held:
            held.remove(number)
        else:
            count += 1
        held.append(number)
        del held[:-ways]
    assert misses(Cache(lines, ways), numbers) == count
    with pytest.raises(ValueError, match="lines must be the ways times a power of two"):
        Cache(6, 2)
    with pytest.raises(ValueError, match="lines is 4 with 0 ways"):
        Cache(4, 0)


def test_depth_behind_a_cache() -> None:
    # Two layers over 8 x 4 pixels, two lines of 4 x 4. With room for both each is fetched and written back once, whatever passes.
    pixel = np.tile(np.arange(32), 2).astype(np.int32)
    triangle, depth = np.repeat([0, 1], 32).astype(np.int32), np.repeat([0.75, 0.25], 32).astype(np.float32)
    stream = Stream((8, 4), triangle, pixel, depth)
    conventional = depth_filter(stream, [])
    assert depth_traffic(Cache(2, 2), stream, conventional) == (128, 128)
    assert depth_traffic(Cache(1, 1), stream, conventional) == (256, 256)
    # What is never read at first is not fetched; but the second layer reads what the small cache has lost.
    skipping = depth_filter(stream, [0.5], skips_reads=True)
    assert depth_traffic(Cache(1, 1), stream, skipping) == (128, 256)
    assert len(visits_of(stream, (4, 4)).begin) == 4


# --- what came of the paper's claims


def test_closed_forms() -> None:
    t = np.arange(1025) / 1024
    for p in DISTRIBUTIONS:
        middle = (t[1:] + t[:-1]) / 2
        assert np.cumsum(p.density(middle)) / 1024 == pytest.approx(p.front(t)[1:], abs=1e-5), (
            "FP is the density's integral"
        )
        assert p.front(t)[-1] == 1
    uniform = closed_forms()[0]
    # 3 t (1 - t)^2 is most at 1/3: 4/9.
    assert uniform.best == pytest.approx(1 / 3, abs=1e-3) and uniform.most_rejected == pytest.approx(4 / 9, abs=1e-5)
    for found, p in zip(closed_forms(), DISTRIBUTIONS, strict=True):
        at = np.array([found.crossing])
        assert p.front(at)[0] == pytest.approx(survived(at, p.front(at))[0], abs=2e-3)
        assert found.most_rejected * 0.96 < found.rejected_there <= found.most_rejected, (
            "the crossing is close to the best"
        )


def test_a_cache_has_the_papers_miss_rate(streams: dict[str, Stream]) -> None:
    """Section 5: 5.7 % of the accesses with one plane on model (b); here by five lines of 64 bits."""
    small, larger = miss_rates(streams["b"])
    assert round(100 * small, 1) == 5.7 and 64 * FILTER_CACHES[0].cache.lines == 320
    assert larger < 0.01
    curve = {(row.line_px, row.lines): row for row in miss_curve(knots_model(), streams["b"])}
    assert curve[(16, 4), 5].miss_rate == small and curve[(8, 8), 64].miss_rate == larger
    assert curve[(8, 8), 3].miss_rate > 0.057 > curve[(8, 8), 4].miss_rate
    assert (curve[(8, 8), 64].size_B, curve[(8, 8), 64].ways, curve[(8, 8), 5].ways) == (512, 4, 5)
    assert bench.required_bandwidth(0, 0, 0.057, 1) - bench.required_bandwidth(0, 0, 0, 0) == pytest.approx(
        2.371e9, rel=1e-3
    )


def test_the_papers_order_of_the_systems(cells: dict[str, Cells], streams: dict[str, Stream]) -> None:
    """Figure 8: two planes that skip reads best for (a) and (d). True of (d); of (a) at no spacing, but with a cache for depth."""

    def gains(name: str, spacing: int) -> dict[str, float]:
        return {s: sweep_one(name, cells[name], len(streams[name]), s, "secant", spacing).gain for s in SYSTEMS}

    def best(found: dict[str, float]) -> str:
        return max(found, key=found.__getitem__)

    assert best(gains("d", SPACING)) == "two_plane_skip"
    assert {best(gains("a", spacing)) for spacing in SPACINGS} == {"one_plane", "three_plane"}
    assert {best(gains("b", spacing)) for spacing in SPACINGS} == {"three_plane"}
    # "More efficient than adding one plane from a 2-plane to a 3-plane system": not on (a) to (c).
    for name in "abc":
        found = gains(name, SPACING)
        assert found["three_plane"] > found["two_plane_skip"] > found["two_plane"]
    cached = {
        p.machine: p.cached_gain for p in compare(columns_model(), streams["a"], cells["a"]) if p.machine in SYSTEMS
    }
    assert best(cached) == "two_plane_skip"


@pytest.fixture(scope="module")
def swept(cells: dict[str, Cells], streams: dict[str, Stream]) -> dict[tuple[str, str, str, int], Sweep]:
    """All rows of ``--sweep``, by model, system, adaptation and spacing."""
    rows = sweep([(name, cells[name], len(streams[name])) for name in "abc"])
    return {(row.model, row.system, row.adaptation, row.spacing): row for row in rows}


def test_three_planes_follow_faster(swept: dict[tuple[str, str, str, int], Sweep]) -> None:
    """Section 4.2. True against one plane at some spacings, not against two planes on every model."""

    def frames(name: str, system: str, spacing: int = SPACING) -> float:
        return swept[name, system, "secant", spacing].frames_to_settle

    slower = {name: [n for n in SPACINGS if frames(name, "three_plane", n) > frames(name, "one_plane")] for name in "abc"}
    assert slower == {"a": [10, 12], "b": [], "c": [2, 4, 16]}
    faster = [n for n in SPACINGS if all(frames(name, "three_plane", n) < frames(name, "one_plane") for name in "abc")]
    assert faster == [6, SPACING]
    assert [round(frames("a", "three_plane", n), 1) for n in (1, 2, 10, 12)] == [2.5, 2.5, 3.0, 3.4]
    assert [round(frames(name, "three_plane"), 1) for name in "abc"] == [1.6, 1.7, 2.7]
    assert [round(frames(name, "one_plane"), 1) for name in "abc"] == [2.5, 2.1, 3.5]
    assert frames("b", "three_plane") >= frames("b", "two_plane")
    assert 0 < frames("a", "two_plane") - frames("a", "three_plane") < 0.2


def test_three_frames_are_not_enough_everywhere(swept: dict[tuple[str, str, str, int], Sweep]) -> None:
    """Section 4.2 has all systems converge in three frames: from the worst start that is true of model (b) alone."""
    worst = {name: [swept[name, s, "secant", SPACING].frames_at_worst for s in SYSTEMS] for name in "abc"}
    assert SYSTEMS == ["one_plane", "two_plane", "three_plane", "two_plane_skip"]
    assert worst == {"a": [4] * 4, "b": [3] * 4, "c": [6, FRAMES, 4, FRAMES]}
    # Two planes on (c): from one start, where they stand at the best already, in no frame; from 14 never, which counts as twelve.
    assert round(swept["c", "two_plane", "secant", SPACING].frames_to_settle * 15) in range(14 * FRAMES, 15 * FRAMES)


def test_where_counters_wander(swept: dict[tuple[str, str, str, int], Sweep]) -> None:
    """What moves by counters swings between two positions, also with three planes at the default spacing; the secant always rests."""
    assert not any(row.wandering for row in swept.values() if row.adaptation == "secant")
    wandering = {key: row.wandering for key, row in swept.items() if row.wandering and "skip" not in row.system}
    assert {(name, system, spacing): n for (name, system, _, spacing), n in wandering.items()} == {
        ("a", "three_plane", 6): 7, ("a", "three_plane", 8): 7, ("a", "three_plane", 10): 15, ("a", "three_plane", 12): 15,
        ("b", "one_plane", 8): 7, ("b", "two_plane", 1): 7, ("b", "two_plane", 2): 7, ("b", "three_plane", 1): 7, ("c", "one_plane", 8): 15,
    }  # fmt: skip
    slower = []
    for (name, system, adaptation, spacing), row in swept.items():
        secant = swept[name, system, "secant", spacing]
        reaches = secant.frames_at_worst < FRAMES  # where FP = SP is a good place
        if adaptation == "counters" and reaches and not row.wandering and row.frames_to_settle >= secant.frames_to_settle:
            slower.append((name, system, spacing))
    assert slower == [("c", "three_plane", 12)]
    row = swept["c", "three_plane", "counters", 12]
    assert round(row.frames_to_settle, 1) == 4.3 and row.frames_at_worst == FRAMES


def test_peers_on_the_plane_and_the_balls(streams: dict[str, Stream], cells: dict[str, Cells]) -> None:
    for model in (plane_model(), balls_model()):
        peers = {p.machine: p for p in compare(model, streams[model.name], cells[model.name])}
        assert set(peers) == {"conventional", *SYSTEMS, "hyper_z", "mid_texturing"}
        assert peers["conventional"].moved_B[0] == 20 and peers["conventional"].cached_gain == 1
        if model.name == "d":
            assert peers["mid_texturing"].moved_B[0] == 24 and peers["hyper_z"].moved_B[0] == 20
            assert peers["two_plane_skip"].gain[0] > 1 > peers["three_plane"].gain[0]
        else:
            assert peers["mid_texturing"].effective_rejection == pytest.approx(1)
            assert 1 > peers["hyper_z"].effective_rejection > peers["three_plane"].effective_rejection > 0.6
            assert peers["hyper_z"].upkeep_B > 18 and peers["hyper_z"].gain_with_upkeep == pytest.approx(0.71, abs=0.005)
            assert peers["hyper_z"].inside_B == 512 * 512 // 64 * 3 and peers["three_plane"].inside_B == 80


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    few = (plane_model(),)
    monkeypatch.setattr(bench, "models", lambda: few)
    assert main(["bench", "depth-filter", "--frames", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {k: len(v) for k, v in found.items()} == {
        "frames": 8,
        "closed_forms": 3,
        "peers": 7,
        "sweep": 0,
        "misses": 0,
    }
    assert main(["bench", "depth-filter", "--frames", "1"]) == 0
    said = capsys.readouterr().out
    assert "mid_texturing" in said and "closed form" in said and "hyper_z, with upkeep" in said and "wander" not in said
    bench.print_misses([Misses("b", (16, 4), 5, 5, 40, 0.0569)])
    assert capsys.readouterr().out.splitlines()[-1].split() == ["b", "16x4", "5", "5", "40", "B", "5.69%"]
    assert tg.Device(hsr="depth_filter:two_plane@counters/4").hsr == ("depth_filter:two_plane@counters/4",)


def test_plots(
    tmp_path: Path, cells: dict[str, Cells], streams: dict[str, Stream], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    from tilegpu.bench.depth_filter_plots import write_plots

    swept = [
        sweep_one("c", cells["c"], len(streams["c"]), system, adaptation, spacing)
        for system in SYSTEMS
        for adaptation in ("secant", "counters")
        for spacing in ((4, 8) if system != "one_plane" else (8,))
    ]
    rows = [row for system in SYSTEMS for row in bench.run_frames(plane_model(), system, 2)]
    curve = miss_curve(plane_model(), streams["d"])
    written = write_plots(rows, cells, swept, curve, tmp_path)
    assert [p.name for p in written] == [
        f"depth_filter_{n}.png" for n in ("figure3", "figure5", "figure7", "figure8", "sweep", "misses")
    ]
    assert all(p.stat().st_size > 5000 for p in written)
    assert capsys.readouterr().out.count("wrote") == 6
