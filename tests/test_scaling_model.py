"""``tilegpu bench scaling --model``: the simulated pool against tables worked out by hand, what recording changes (nothing), rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.bench import scaling_cores, scaling_record
from tilegpu.bench.scaling_model import FREE, LOSSES, Costs, RecordedFrame, Run, simulate, simulate_run
from tilegpu.cli import main
from tilegpu.scene import SceneRenderer, find_scene

#: A line is 8 ns, two at once; nobody sleeps, memory is endless.
LINES = Costs(line_ns=8, parallel_lines=2, socket_GBps=1e12)


@pytest.mark.parametrize(
    ("jobs", "workers", "ns", "steals"),
    [
        ((), 4, 0, 0),
        ((7, 3), 1, 10, 0),
        ((9,), 4, 9, 0),  # one job is the caller's
        ((5, 5), 2, 5, 0),
        ((1, 1, 1, 1, 1), 2, 3, 1),  # both are done at 2, and worker 0, which is first, takes 4 from worker 1
        ((10, 1, 1, 1), 2, 10, 1),  # worker 1 does 2 and 3, then takes 1 from worker 0
        # Worker 0 has 0 and 1, worker 1 has 2 and 3, worker 2 has 4 and 5. At 1 worker 2 begins 5, done at 2, and takes the last one of
        # who has most left, the first of these: 1 of worker 0's. Job 3 is worker 1's own, from 4 on.
        ((6, 4, 4, 4, 1, 1), 3, 8, 1),
        ((8, 1, 1, 1, 1, 1, 1, 1), 4, 8, 1),  # 1 is taken at 2, by the first of those who are done
        ((1, 1, 1, 9), 2, 10, 0),  # own jobs in order: the long one comes last, and nobody takes what has begun
    ],
)
def test_pool_by_hand(jobs: tuple[float, ...], workers: int, ns: float, steals: int) -> None:
    done = simulate_run(jobs, workers, FREE)
    assert (done.ns, done.steals) == (ns, steals)


def test_costs_by_hand() -> None:
    """Two workers, a job each of 100: the caller has published two lines at 8; worker 1 has read the generation's line, then two, at 32."""
    done = simulate_run((100, 100), 2, LINES)
    # Both look at two lines (8) before they know that nothing is left: 116 and 140. Worker 1 counts itself out (148), the caller sees it
    # (156).
    assert done.done_ns == (116, 140) and done.ns == 156
    # A steal: worker 1 ends its own at 33 + 8 + 8 of scan and exchange; the victim's next own job would pay for its line again.
    done = simulate_run((100, 1, 1, 1), 2, LINES)
    assert done.steals == 1 and done.done_ns == (116, 32 + 1 + 1 + 16 + 1 + 8)
    assert simulate_run((0, 0), 2, LINES).ns == 8 + 8 + 16 + 8 + 8 + 8
    # Who slept is awake 50 us later; the caller, who has waited for long, sleeps as well.
    slept = simulate_run((10, 10), 2, LINES, asleep=True)
    assert slept.steals == 1 and slept.done_ns[0] == 8 + 1000 + 10 + 16 + 10 + 8
    assert slept.ns == pytest.approx(8 + 1000 + 50_000 + 16 + 8 + 16)


def frame(*runs: Run, tail_ns: float = 0.0) -> RecordedFrame:
    return RecordedFrame(runs, tail_ns)


@pytest.mark.parametrize(
    ("recorded", "threads", "ns", "why"),
    [
        (frame(Run("tiles", (10,) * 40, gap_ns=100)), 4, 200, "serial part"),
        (frame(Run("tiles", (10,) * 2)), 4, 10, "too few jobs"),
        (frame(Run("tiles", (90, *(10,) * 9))), 4, 90, "longest job"),
        (frame(Run("tiles", (10,) * 9)), 8, 20, "uneven ends"),
        (frame(Run("tiles", (10,) * 40, moved_B=1000)), 4, 1000, "memory bandwidth"),
    ],
)
def test_what_is_lost(recorded: RecordedFrame, threads: int, ns: float, why: str) -> None:
    """The losses and the ideal time add up to the time, and the largest has the name."""
    costs = Costs(line_ns=0, wake_ns=0, wake_each_ns=0, socket_GBps=1)
    if why != "memory bandwidth":
        costs = FREE
    done = simulate(recorded, recorded, threads, costs)
    assert done.ns == pytest.approx(ns) and done.why == why
    assert done.ideal_ns + sum(done.losses.values()) == pytest.approx(done.ns)


def test_barriers_and_more_work() -> None:
    small = frame(*[Run("tiles", (10,) * 128)] * 10)
    done = simulate(small, small, 128, Costs())
    assert done.why == "barriers and steals" and done.ns > 10 * 128 * Costs().line_ns
    finer = simulate(frame(Run("dispatch", (30,) * 4)), frame(Run("dispatch", (20,) * 2)), 4, FREE)
    assert finer.why == "more work" and finer.losses["more work"] == 20
    shared = Costs(line_ns=10, socket_GBps=1e12, shared_operations={"tiles": 3})
    assert simulate(small, small, 1, shared).ns == small.work_ns  # who is alone waits for no line
    assert simulate(small, small, 2, shared).ns > small.work_ns / 2 + 10 * 64 * 30


def measured(jobs: list[int], gap: int, wall: int) -> scaling_record.Measured:
    start = 1000 + gap
    return scaling_record.Measured(
        ((1000, start + sum(jobs) + 5, [("tiles", start, start + sum(jobs), jobs)]),), wall, 900
    )


def test_median_of_frames() -> None:
    """Job by job, over those that are cut alike."""
    frames = [measured([3, 8], 20, 60), measured([5, 4], 10, 80), measured([4, 100], 30, 400), measured([1], 1, 10)]
    found = scaling_record.median_frame(frames, {"tiles": 64.0})
    assert found.runs == (Run("tiles", (4, 8), 20, 120, 64.0),) and found.tail_ns == 5
    assert found.serial_ns == 25 and found.outside_ns == pytest.approx(56)  # 24, 56 and 261 of Python's


@pytest.mark.parametrize("scene", ["mesh_100k", "bloom_chain", "shadow_map"])
def test_recording_changes_nothing(scene: str) -> None:
    """The same bits with and without; as many jobs as bins and chunks for any number of threads; afterwards nothing is recorded."""
    pictures = []
    for threads in (2, 16):
        device = tg.Device(threads=threads)
        renderer = SceneRenderer(device)
        drawn = find_scene(scene).frame((200, 130))
        plain = renderer.render(drawn)
        device.core.record_jobs(True)
        recorded = renderer.render(drawn)
        records = device.core.take_job_records()
        assert device.core.take_job_records() == []
        device.core.record_jobs(False)
        again = renderer.render(drawn)
        assert device.core.take_job_records() == []
        pictures += [plain.images[0], recorded.images[0], again.images[0]]
        runs = [run for _, _, runs in records for run in runs]
        stats = recorded.stats if isinstance(recorded.stats, tg.FrameStats) else tg.FrameStats("", [recorded.stats])
        assert {run[0] for run in runs} <= {"census", "geometry", "binning", "tiles", "transfer"}
        # A job takes one bin, or several that are only cleared.
        assert len(stats.passes) <= sum(len(run[3]) for run in runs if run[0] == "tiles") <= stats.bins
        for start, end, inside in records:
            at = start
            for _, run_start, run_end, jobs in inside:
                assert at <= run_start and sum(jobs) == run_end - run_start
                at = run_end
            assert at <= end
    assert all(np.array_equal(pictures[0], other) for other in pictures[1:])


def test_dispatches_are_cut_for_the_threads() -> None:
    kernel = """#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { uint a[]; };
void main() { a[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 3u; }"""
    for threads in (1, 4, 128):
        device = tg.Device(threads=threads)
        numbers = device.buffer(np.zeros(64 * 4000, np.uint32))
        pipeline = device.compute_pipeline(kernel)
        device.core.record_jobs(True)
        device.dispatch(pipeline, 4000, bind={"A": numbers})
        (record,) = device.core.take_job_records()
        assert [(run[0], len(run[3])) for run in record[2]] == [("dispatch", min(16 * threads, 4000))]
        assert np.array_equal(numbers.numpy().view(np.uint32).ravel(), np.arange(64 * 4000, dtype=np.uint32) * 3)


def test_idle_threads_are_not_counted_twice() -> None:
    """Workers begin with their first bin: what those without one counted in the pass before must not be there."""
    device = tg.Device(threads=7)
    renderer = SceneRenderer(device)
    many, few = (find_scene("mesh_100k").frame(size) for size in ((400, 300), (64, 64)))
    alone = SceneRenderer(tg.Device(threads=1)).render(few).stats
    for _ in range(3):
        renderer.render(many)
        stats = renderer.render(few).stats
        assert stats.fragments_shaded == alone.fragments_shaded and stats.samples_written == alone.samples_written
        assert stats.traffic == alone.traffic and stats.vertices_unique_requested == alone.vertices_unique_requested


def test_vertices_are_counted_by_all_threads() -> None:
    """More vertices than one piece of the census has, at both ends of it and in two draws, one of them instanced."""
    device = tg.Device(threads=3)
    layout = np.dtype([("position", np.float32, 2)])
    pipeline = device.pipeline(
        "#version 450\nlayout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
        "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1.0); }",
        vertex=layout,
        color=["r8g8b8a8_unorm"],
    )
    vertices = device.buffer(np.zeros(700_000, layout))
    indices = np.array([0, 262_143, 262_144, 262_145, 524_287, 524_288, 699_999, 0, 262_144], np.uint32)
    target = tg.Attachment(device.image((16, 16), "r8g8b8a8_unorm"), clear=(0, 0, 0, 0))
    with device.render_pass(color=[target]) as rp:
        rp.draw(pipeline, vertices, indices=indices)
        rp.draw(pipeline, vertices, indices=indices[:6], instances=5)
    assert rp.stats.vertices_unique_requested == 7 + 6 * 5
    assert rp.replay().vertices_unique_requested == 7 + 6 * 5


def test_rows_and_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling_cores, "THREADS", (1, 2, 8))
    monkeypatch.setattr(scaling_cores, "ROUNDS", 2)
    assert main(["bench", "scaling", "--model", "triangle", "--size", "160x120", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["scene"], r["threads"]) for r in rows] == [("triangle", 1), ("triangle", 2), ("triangle", 8)]
    for row in rows:
        assert row["why"] in LOSSES and set(row["losses_ms"]) == set(LOSSES)
        assert row["ms"] > row["serial_ms"] > 0 and row["python_ms"] > 0 and row["jobs"] > 0
        assert row["moved_B"] >= 160 * 120 * 4 and row["GBps"] > 0
    assert rows[0]["speed_up"] == pytest.approx(1.0)
    assert main(["bench", "scaling", "--model", "triangle", "--size", "160x120"]) == 0
    out = capsys.readouterr().out
    assert "half at" in out and "because of" in out and "triangle" in out and "x8" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "--serial"], "not allowed with"),
        (["--model", "--series", "draws"], "leave --series and --limit out"),
        (["--model", "nothing_of_that_name"], "nothing_of_that_name"),
        (["--model", "triangle", "--line-ns", "0"], "must be more than 0"),
        (["--serial", "--series", "size"], "none of"),
        (["--serial", "--series", "layers", "--plot", "x.png"], ""),
        (["--series", "vertices"], "without --serial"),
    ],
)
def test_refused(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["bench", "scaling", *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code != 0 and words in capsys.readouterr().err


def test_help_and_plot(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["bench", "scaling", "--help"]) == 0
    out = capsys.readouterr().out
    assert "--model" in out and "--serial" in out and "--line-ns" in out
    pytest.importorskip("matplotlib")
    run = frame(Run("tiles", (10.0,) * 300, gap_ns=50))
    rows = [scaling_cores.row_of("one", run, run, simulate(run, run, n, Costs())) for n in scaling_cores.THREADS]
    assert scaling_cores.half_used(rows) is not None
    scaling_cores.write_plot(rows, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
