"""Where more machines stop to pay: measured job lengths, a simulated network. The tables of docs/scaling.md.

In: scenes. Measured here, with one thread: how long a frame takes to render and to save, how many bytes its file has, how much longer a
picture takes in tiles, and what a frame's passes store (the ledger). Simulated: workers that hold eight tasks each, a coordinator that
answers one at a time and writes what comes, one link that all results share. Out: Markdown.
"""

from __future__ import annotations

import argparse
import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tilegpu
from tilegpu.farm import encoded
from tilegpu.scene import SceneRenderer, scenes

#: What a frame costs beside rendering and saving with Dask (make bench-farm): its scheduler, hashing, writing, the journal, the next task.
COORDINATOR_MS = 2.4
#: Tasks that a worker holds.
HELD = 8
MACHINES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: Name, bytes a second, round trip in ms.
NETWORKS = (("1 Gbit/s, one room", 117e6, 0.3), ("10 Gbit/s, one room", 1.17e9, 0.1), ("100 Mbit/s, another town", 11.7e6, 20.0))


@dataclass
class Length:
    """Of a frame, on one core."""

    scene: str
    render_ms: float
    save_ms: float
    file_B: int
    raw_B: int
    stored_B: int  # by all passes, as the ledger has it


def best_ms(work: Callable[[], Any], times: int) -> float:
    """The shortest of some runs: others use this machine too."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append((time.perf_counter() - start) * 1e3)
    return min(found)


def stored(stats: Any) -> int:
    """Bytes from tiles to images, of all passes."""
    passes = getattr(stats, "passes", [stats])
    return sum(causes.get(cause, 0) for one in passes for causes in one.traffic.values() for cause in ("store", "resolve"))


def lengths(names: list[str], size: tuple[int, int], times: int) -> list[Length]:
    device = tilegpu.Device(threads=1)
    found = []
    for name in names:
        frame = scenes()[name].frame(size)
        renderer = SceneRenderer(device)
        result = renderer.render(frame)
        device.wait_compiles()
        image = result.images[0]
        render_ms = best_ms(lambda renderer=renderer, frame=frame: renderer.render(frame), times)
        save_ms = best_ms(lambda image=image: encoded(image, ".png"), 2)
        found.append(Length(name, render_ms, save_ms, len(encoded(image, ".png")), image.nbytes, stored(result.stats)))
    return found


def simulate(task_ms: float, result_B: float, tasks: int, workers: int, link_B_s: float, trip_ms: float) -> float:
    """Milliseconds until all answers are written. Workers are cores; each holds a task that it does and one that waits."""
    link_ms = result_B / link_B_s * 1e3
    free_at = [0.0] * workers
    ready: list[tuple[float, int]] = []  # (when its answer is at the link, worker)
    left = tasks
    for w in range(workers):
        for _ in range(min(HELD, left)):
            start = max(free_at[w], trip_ms / 2)
            free_at[w] = start + task_ms
            heapq.heappush(ready, (free_at[w], w))
            left -= 1
    link_free = coordinator_free = 0.0
    while ready:
        at, w = heapq.heappop(ready)
        link_free = max(link_free, at) + link_ms
        coordinator_free = max(coordinator_free, link_free + trip_ms / 2) + COORDINATOR_MS
        if left:
            left -= 1
            start = max(free_at[w], coordinator_free + trip_ms / 2)
            free_at[w] = start + task_ms
            heapq.heappush(ready, (free_at[w], w))
    return coordinator_free


def table_of_frames(found: list[Length], cores: int) -> None:
    print("| scene | render ms | save ms | file | pixels | stored by passes |\n|---|---|---|---|---|---|")
    for one in found:
        print(
            f"| `{one.scene}` | {one.render_ms:.0f} | {one.save_ms:.0f} | {one.file_B / 1e6:.2f} MB | {one.raw_B / 1e6:.1f} MB | "
            f"{one.stored_B / 1e6:.1f} MB |"
        )
    for name, link_B_s, trip_ms in NETWORKS:
        print(f"\n{name}: frames a second, and how much of the cores is used\n")
        print("| scene | " + " | ".join(f"{m}" for m in MACHINES) + " | half used at |\n|---|" + "---|" * (len(MACHINES) + 1))
        for one in found:
            task_ms = one.render_ms + one.save_ms
            cells, half = [], "-"
            for machines in MACHINES:
                workers = machines * cores
                tasks = max(1000, 20 * workers)
                took_ms = simulate(task_ms, one.file_B, tasks, workers, link_B_s, trip_ms)
                used = tasks * task_ms / (took_ms * workers)
                cells.append(f"{tasks / took_ms * 1e3:.0f} ({used:.0%})")
                if used < 0.5 and half == "-":
                    half = f"{machines}"
            print(f"| `{one.scene}` | {' | '.join(cells)} | {half} |", flush=True)


def table_of_tiles(name: str, side: int, times: int) -> None:
    """How much longer a picture takes in tiles: geometry is processed for each."""
    device = tilegpu.Device(threads=1)
    frame = scenes()[name].frame((side, side))
    renderer = SceneRenderer(device)
    renderer.render(frame)
    device.wait_compiles()
    whole_ms = best_ms(lambda: renderer.render(frame), times)
    print(f"\n`{name}`, {side}x{side} px, one core\n\n| tiles | ms, all of them | to the whole | bytes of each |\n|---|---|---|---|")
    print(f"| whole | {whole_ms:.0f} | 1.00 | {side * side * 4 / 1e6:.1f} MB |")
    for tile in (side // 2, side // 4, side // 8):
        total = 0.0
        for y in range(0, side, tile):
            for x in range(0, side, tile):
                window = (x, y, tile, tile)
                renderer.render(frame, window=window)
                total += best_ms(lambda window=window: renderer.render(frame, window=window), 1)
        print(f"| {tile}x{tile} | {total:.0f} | {total / whole_ms:.2f} | {tile * tile * 4 / 1e6:.1f} MB |", flush=True)


def table_of_passes(names: list[str], size: tuple[int, int]) -> None:
    """What a pass would have to send, were the next one on another machine."""
    device = tilegpu.Device(threads=1)
    print("\n| frame | pass | ms | stores | at 1 Gbit/s | at 10 Gbit/s |\n|---|---|---|---|---|---|")
    for name in names:
        frame = scenes()[name].frame(size)
        renderer = SceneRenderer(device)
        renderer.render(frame)
        device.wait_compiles()
        result = min((renderer.render(frame) for _ in range(3)), key=lambda r: sum(p.geometry_ms + p.tiles_ms for p in r.stats.passes))
        for one in result.stats.passes:
            store_B = stored(one)
            moved = [f"{store_B / link_B_s * 1e3:.0f} ms" for _, link_B_s, _ in NETWORKS[:2]]
            print(f"| `{name}` | {one.label} | {one.geometry_ms + one.tiles_ms:.0f} | {store_B / 1e6:.1f} MB | {' | '.join(moved)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--cores", type=int, default=8, help="of each simulated machine")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    names = ["triangle", "fill_blend", "textured_pbr", "mesh_1m", "shadow_map", "heavy_overdraw_1080p"]
    found = lengths(names, (width, height), options.times)
    table_of_frames(found, options.cores)
    table_of_tiles("textured_pbr", 4096, options.times)
    table_of_passes(["shadow_map", "bloom", "deferred", "mobile_frame"], (width, height))


if __name__ == "__main__":
    main()
