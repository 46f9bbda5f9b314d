"""``tilegpu bench passes``: unaligned render areas, the old way against in-bounds and border operations.

A pass over part of an image clears it and draws. The old way, which OpenGL's rules forced on tilers: the area is rounded up to whole
tiles, everything in them is loaded, the clear is a draw, everything is stored. The new way: clears clear inside the area, and only an
image whose layout needs whole blocks loads a border around it. Bytes are the ledger's; times are medians by turns. The pictures are
compared: both ways must leave the same image.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import tilegpu as tg
from tilegpu.bench.timing import by_turns
from tilegpu.terminal import progress

AREAS = {
    "whole": (0, 0, 1920, 1080),
    "half, aligned": (480, 256, 960, 512),
    "half, odd": (483, 271, 957, 541),
    "dialog": (701, 403, 517, 263),
    "row of text": (33, 517, 1801, 21),
    "cursor": (1011, 519, 12, 19),
}
SIZE = (1920, 1080)
MODES = ("old", "border")

_VERT = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
_FRAG = """#version 450
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(fract(gl_FragCoord.xy / 64.0), 0.5, 1.0); }"""


@dataclass(frozen=True)
class Row:
    """One area of one image, one way. Bytes are between tile memory and the image, for one pass."""

    area: str
    tiling: str
    samples: int
    mode: str
    load_B: int
    store_B: int
    border_B: int
    bytes_per_px: float
    ms: float | None


def rounded(area: tuple[int, int, int, int], tile: tuple[int, int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """(x, y, width, height) grown to whole tiles, cut with the image."""
    x, y = area[0] // tile[0] * tile[0], area[1] // tile[1] * tile[1]
    ends = [
        min(limit, -(-(start + extent) // step) * step)
        for start, extent, step, limit in zip(area[:2], area[2:], tile, size, strict=True)
    ]
    return x, y, ends[0] - x, ends[1] - y


class _Case:
    """Both ways of one area: a recorded pass each, on an image of its own with the same contents."""

    def __init__(
        self, device: tg.Device, area: tuple[int, int, int, int], tiling: str, samples: int, size: tuple[int, int]
    ) -> None:
        format_ = "r8g8b8a8_unorm"
        pipe = device.pipeline(_VERT, _FRAG, color=[format_], samples=samples, label="bench passes")
        self.images: dict[str, tg.Image] = {}
        self.passes: dict[str, tg.RenderPass] = {}
        self.traffic: dict[str, dict[str, int]] = {}  # of the first execution, transaction elimination left out
        # What is drawn leaves some of the cleared area to be seen.
        x, y, width, height = area
        part = (x + width // 4, y + height // 4, max(1, width // 2), max(1, height // 2))
        for mode in MODES:
            image = device.image(size, format_, samples=samples, tiling=tiling, label=f"{tiling} {mode}")
            with device.render_pass(color=[tg.Attachment(image, clear=(0.25, 0.5, 0.75, 1.0))], label="before") as rp:
                rp.draw(pipe, count=3)
            if mode == "old":
                with device.render_pass(color=[image], label="probe") as probe:
                    pass
                tile = (probe.layout["tile_width_px"] or 32, probe.layout["tile_height_px"] or 32)
                whole = rounded(area, tile, size)
                with device.render_pass(color=[tg.Attachment(image, load_op="load")], area=whole, label="old") as rp:
                    rp.clear((0.1, 0.1, 0.1, 1.0), rect=area)
                    rp.draw(pipe, count=3, scissor=part)
            else:
                attachment = tg.Attachment(image, clear=(0.1, 0.1, 0.1, 1.0))
                with device.render_pass(color=[attachment], area=area, label="border") as rp:
                    rp.draw(pipe, count=3, scissor=part)
            self.images[mode], self.passes[mode] = image, rp
            traffic = rp.stats.traffic["color0"]
            self.traffic[mode] = traffic | {"store": traffic["store"] + traffic["saved_transaction_elimination"]}
        old, border = (self.images[m].numpy() for m in MODES)
        if not np.array_equal(old, border):
            raise RuntimeError(f"area {area}, {tiling}, {samples} samples: the two ways leave different images")


def measure(
    device: tg.Device,
    areas: dict[str, tuple[int, int, int, int]],
    samples: tuple[int, ...],
    size: tuple[int, int],
    seconds: float,
) -> list[Row]:
    """Rows for every area, layout, sample count and way; ``seconds`` of timing for each, 0 for none."""
    rows = []
    for name, area in progress(areas.items(), len(areas), "bench passes"):
        for tiling in ("linear", "block_compressed"):
            for count in samples:
                case = _Case(device, area, tiling, count, size)
                device.wait_compiles()
                times: dict[str, list[float]] = {}
                if seconds:
                    times = by_turns({m: case.passes[m].replay for m in MODES}, seconds, 5)
                for mode in MODES:
                    traffic = case.traffic[mode]
                    border = traffic["border_load"] + traffic["border_store"]
                    moved = traffic["load"] + traffic["store"] + border
                    rows.append(
                        Row(
                            name,
                            tiling,
                            count,
                            mode,
                            traffic["load"],
                            traffic["store"],
                            border,
                            round(moved / (area[2] * area[3]), 3),
                            round(statistics.median(times[mode]), 4) if times else None,
                        )
                    )
    return rows


def print_table(rows: list[Row]) -> None:
    """A line for each area and layout: both ways side by side."""
    print(
        f"{'area':<14} {'layout':<17} {'samples':>7} {'old B/px':>9} {'new B/px':>9} {'bytes':>7} {'old ms':>8} {'new ms':>8}"
    )
    for old, new in zip(rows[::2], rows[1::2], strict=True):
        times = "".join(f" {r.ms:>8.3f}" if r.ms is not None else f" {'-':>8}" for r in (old, new))
        ratio = old.bytes_per_px / new.bytes_per_px if new.bytes_per_px else float("inf")
        print(
            f"{old.area:<14} {old.tiling:<17} {old.samples:>7} {old.bytes_per_px:>9.2f} {new.bytes_per_px:>9.2f} {ratio:>6.2f}x{times}"
        )


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "passes",
        help="unaligned render areas: load all and clear by a draw, against in-bounds and border",
        description=(__doc__ or "").split("\n\n")[1].replace("\n", " "),
    )
    parser.add_argument("--profile", default="mali-g725", help="whose tiles the old way rounds to (default mali-g725)")
    parser.add_argument(
        "--seconds", type=float, default=0.5, help="of timing for each way; 0: bytes only (default 0.5)"
    )
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    rows = measure(tg.Device(profile=options.profile), AREAS, (1, 4), SIZE, options.seconds)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        print_table(rows)
    return 0
