"""``tilegpu bench msaa``: what several samples cost, resolved in the tile, or stored and resolved by a command of its own.

The scenes ``multisampling`` (one model that fills the view) and ``msaa`` (tiny triangles) at 1 to 16 samples. ``in_tile``: the samples
never leave the tile. ``separate``: all are stored, read again and averaged by ``vkCmdResolveImage``, as framebuffer abstractions without
resolves do it. Samples moved come from the ledgers of the pass and of the command (of block-compressed images the command's counts what the
tile had stored and resolved, as its own has texels). Frames are timed by turns, submit until the image is complete; ratios are medians of
ratios of neighbouring frames.

With ``--kernel PROGRAM`` (``make bench-msaa`` builds it from benchmarks/cpp/bench_resolve.cpp) the least that storing all samples and
averaging them can cost on this machine stands beside what ``separate`` costs beyond ``in_tile``.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import tilegpu as tg
from tilegpu.bench import msaa_model
from tilegpu.costs import constants_of
from tilegpu.scene import Frame, SceneRenderer, find_scene
from tilegpu.terminal import profile_name, progress

SCENES = ("multisampling", "msaa")
SAMPLES = (1, 2, 4, 8, 16)
MODES = ("in_tile", "separate")
#: Causes of the ledger that move bytes (the others say what was saved).
MOVES = ("load", "clear", "store", "resolve", "border_load", "border_store", "spill_load", "spill_store")


@dataclass(frozen=True)
class Row:
    """One scene, sample count and mode. ``bytes``: colour between tile and memory, for one frame; ``ms``: median."""

    scene: str
    samples: int
    mode: str
    samples_moved_per_px: float
    bytes: int
    ms: float


def scene_name(family: str, samples: int, mode: str) -> str:
    """The reference scene of a family; with one sample there is nothing to resolve."""
    if samples == 1:
        return f"{family}1"
    return f"{family}{samples}_{'pass_resolve' if mode == 'in_tile' else 'store_cmd_resolve'}"


class _CompressingDevice(tg.Device):
    """Attachments are block-compressed images."""

    def image(self, size: Sequence[int], format: Any, **options: Any) -> tg.Image:
        if str(options.get("label", "")).startswith(("color", "resolved")):
            options["tiling"] = "block_compressed"
        return super().image(size, format, **options)


def _pass_bytes(traffic: dict[str, dict[str, int]]) -> int:
    return sum(traffic["color0"].get(cause, 0) for cause in MOVES)


def moved_bytes(device: tg.Device, family: str, samples: int, mode: str, size: tuple[int, int]) -> int:
    """Bytes of colour that one frame moves between the tile and memory, and within memory, by its passes and commands."""
    with device.frame("bench msaa") as frame:
        SceneRenderer(device).render(find_scene(scene_name(family, samples, mode)).frame(size), read=False)
    passed = sum(_pass_bytes(one.traffic) for one in frame.stats.passes)
    resolved = sum(command.moved_B for command in frame.stats.commands if command.command == "resolve")
    if resolved and isinstance(device, _CompressingDevice):
        # Commands count texels: of compressed images it reads what was stored, and writes what a resolve in the tile would have written.
        resolved = passed + moved_bytes(device, family, samples, "in_tile", size)
    return passed + resolved


class _Run:
    """A scene that is drawn again and again."""

    def __init__(self, device: tg.Device, frame: Frame) -> None:
        self.renderer, self.frame = SceneRenderer(device), frame
        self.times_ms: list[float] = []
        for _ in range(2):  # pipelines, memory
            self.renderer.render(frame, read=False)
            device.wait_compiles()

    def time(self) -> None:
        start = time.perf_counter()
        self.renderer.render(self.frame, read=False)
        self.times_ms.append((time.perf_counter() - start) * 1e3)


def measure(
    device: tg.Device, families: Sequence[str], samples: Sequence[int], size: tuple[int, int], frames: int
) -> tuple[list[Row], dict[str, float]]:
    """The rows, and the ratios that matter: more samples over fewer, separate over in the tile."""
    rows: list[Row] = []
    ratios: dict[str, float] = {}
    for family in progress(families, len(families), "bench msaa"):
        kinds = [(n, mode) for n in samples for mode in MODES if n > 1 or mode == "in_tile"]
        runs = {k: _Run(device, find_scene(scene_name(family, *k)).frame(size)) for k in kinds}
        for _ in range(frames):
            for run in runs.values():
                run.time()
        for (n, mode), run in runs.items():
            moved = moved_bytes(device, family, n, mode, size)
            rows.append(Row(family, n, mode, moved / (4 * size[0] * size[1]), moved, statistics.median(run.times_ms)))

        def ratio(label: str, a: tuple[int, str], b: tuple[int, str], runs: Any = runs, family: str = family) -> None:
            if a in runs and b in runs:
                pairs = zip(runs[a].times_ms, runs[b].times_ms, strict=True)
                ratios[f"{family}: {label}"] = statistics.median(x / y for x, y in pairs)

        ratio("4 samples over 1", (4, "in_tile"), (1, "in_tile"))
        ratio("16 samples over 2", (16, "in_tile"), (2, "in_tile"))
        for n in samples:
            ratio(f"separate over in the tile, {n} samples", (n, "separate"), (n, "in_tile"))
    return rows, ratios


def compressed_rows(
    profile: str, families: Sequence[str], samples: Sequence[int], size: tuple[int, int]
) -> list[dict[str, Any]]:
    """The same bytes with everything on: block-compressed images on a profile with clean tiles and its own tile sizes."""
    device = _CompressingDevice(profile)
    out = []
    for family in families:
        for n in samples:
            for mode in MODES if n > 1 else ("in_tile",):
                moved = moved_bytes(device, family, n, mode, size)
                out.append(
                    {
                        "scene": family,
                        "samples": n,
                        "mode": mode,
                        "profile": profile,
                        "samples_moved_per_px": moved / (4 * size[0] * size[1]),
                        "bytes": moved,
                    }
                )
    return out


def modelled_rows(profile: str, family: str, samples: Sequence[int], size: tuple[int, int]) -> list[dict[str, Any]]:
    """The curve of :mod:`tilegpu.bench.msaa_model`; none for ``host``, which is measured."""
    if profile == "host":
        return []

    def frame_of(n: int, mode: str) -> Frame:
        return find_scene(scene_name(family, n, mode)).frame(size)

    return [{"scene": family, **row} for row in msaa_model.curve(profile, frame_of, samples)]


def kernel_ms(program: str, threads: int) -> dict[int, float]:
    """Milliseconds by sample count of benchmarks/cpp/bench_resolve.cpp at 1920x1080, the faster of its two ways."""
    text = subprocess.run([program, str(threads)], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"(\d+) samples: +([\d.]+) ms past the caches, +([\d.]+) through", text)
    return {int(n): min(float(a), float(b)) for n, a, b in found}


def beyond_in_tile(rows: Sequence[Row], kernels: Sequence[dict[int, float]]) -> list[dict[str, Any]]:
    """For each scene and count: what ``separate`` costs beyond ``in_tile``, and the kernel's time, in milliseconds."""
    ms = {(row.scene, row.samples, row.mode): row.ms for row in rows}
    out = []
    for scene, samples, mode in ms:
        if mode != "separate":
            continue
        least = statistics.median(kernel[samples] for kernel in kernels)
        beyond = ms[scene, samples, "separate"] - ms[scene, samples, "in_tile"]
        out.append({"scene": scene, "samples": samples, "beyond_in_tile_ms": beyond, "kernel_ms": least})
    return out


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "msaa",
        help="what several samples cost, resolved in the tile or by a command",
        description=__doc__.split("\n\n")[1].replace("\n", " "),
    )
    parser.add_argument("--scene", action="append", choices=SCENES, help="only this one (default: both)")
    parser.add_argument("--samples", type=int, action="append", choices=SAMPLES, help="only this count (default: all)")
    parser.add_argument("--size", default="1920x1080", metavar="WxH")
    parser.add_argument("--frames", type=int, default=11, help="timed frames of each row (default 11)")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument(
        "--profile",
        type=profile_name,
        default="immortalis-g925",
        metavar="P",
        help="of the second table, and of the modelled curve beside a device's (default immortalis-g925)",
    )
    parser.add_argument("--kernel", metavar="PROGRAM", help="bench_resolve: the least that storing and averaging costs here")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    from tilegpu.terminal import UsageError

    try:
        width, height = (int(v) for v in options.size.split("x"))
    except ValueError:
        raise UsageError(f"--size is '{options.size}'; it must be WIDTHxHEIGHT, such as 1920x1080") from None
    size, families, samples = (width, height), options.scene or SCENES, options.samples or SAMPLES
    if options.kernel and size != (1920, 1080):
        raise UsageError("--kernel is for --size 1920x1080, the only size that it knows")
    device = tg.Device(threads=options.threads)
    threads = int(device.info["threads"])
    kernels = [kernel_ms(options.kernel, threads)] if options.kernel else []
    rows, ratios = measure(device, families, samples, size, max(options.frames, 1))
    if options.kernel:
        kernels.append(kernel_ms(options.kernel, threads))
    beyond = beyond_in_tile(rows, kernels) if kernels else []
    tiled = options.profile == "host" or constants_of(options.profile).kind != "immediate"
    compressed = compressed_rows(options.profile, families, samples, size) if tiled else []
    curves = {family: modelled_rows(options.profile, family, samples, size) for family in families}
    if options.json:
        print(json.dumps([asdict(row) for row in rows] + compressed + beyond + [r for c in curves.values() for r in c], indent=1))
        return 0
    print(f"{'scene':15}{'samples':>8} {'mode':10}{'moved/px':>9}{'MB':>9}{'ms':>9}")
    for row in rows:
        print(
            f"{row.scene:15}{row.samples:8} {row.mode:10}{row.samples_moved_per_px:9.2f}{row.bytes / 1e6:9.1f}{row.ms:9.2f}"
        )
    for label, value in ratios.items():
        print(f"{label}: {value:.2f}")
    for line in beyond:
        share = line["kernel_ms"] / line["beyond_in_tile_ms"] if line["beyond_in_tile_ms"] > 0 else float("inf")
        print(
            f"{line['scene']}, {line['samples']} samples: separate costs {line['beyond_in_tile_ms']:.2f} ms beyond in the tile; "
            f"the least for storing and averaging is {line['kernel_ms']:.2f} ms here ({share:.0%})"
        )
    if compressed:
        print(f"\neverything on ({options.profile}, block-compressed images):")
    for entry in compressed:
        print(
            f"{entry['scene']:15}{entry['samples']:8} {entry['mode']:10}{entry['samples_moved_per_px']:9.2f}"
            f"{entry['bytes'] / 1e6:9.1f}"
        )
    for family, curve in curves.items():
        if curve:
            print("\n" + msaa_model.text_of(family, curve))
    print(
        "\nmoved/px: samples of colour moved for each pixel, by the ledgers of the pass and of the command"
    )
    return 0
