"""The experiments of ``tilegpu bench depth-filter``: a model drawn on a system, and what its filter rejected.

Yu and Kim, "An Adaptive Spatial Filter for Early Depth Test". Counts only: nothing here is timed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tilegpu as tg
from tilegpu.bench.depth_filter_models import SIZE_PX, Model
from tilegpu.scene import SceneRenderer

#: The four systems, with the bits that a pixel takes.
SYSTEMS = {"one_plane": 1, "two_plane": 2, "three_plane": 2, "two_plane_skip": 2}
#: Positions of the filter: multiples of a sixteenth of the depth range.
POSITIONS = range(1, 16)
#: Pixels a second of the paper's reference (Radeon 9700 Pro), and its miss rate for one plane and model (b).
FILL_RATE, PAPER_MISS_RATE = 2.6e9, 0.057
#: Pixels whose bits the filter's memory moves at once; bytes of a pixel that is drawn, and of one whose depth is not read.
LINE_px, ACCESS_B, UNREAD_B = 64, 20, 16


def required_bandwidth(
    rejection: float, skipped: float, miss_rate: float, bits: int, fill_rate: float = FILL_RATE
) -> float:
    """Bytes a second that the pixels and the filter move: section 5 of the paper.

    ``rejection`` (RR), ``skipped`` (SR: depth not read) and ``miss_rate`` (MR: of accesses to the filter's memory) are shares of all
    fragments, ``bits`` the filter's bits for a pixel (0: no filter, the conventional test).
    """
    pixels = fill_rate * (skipped * UNREAD_B + (1 - rejection - skipped) * ACCESS_B)
    return pixels + 2 * fill_rate * miss_rate * LINE_px * bits / 8


@dataclass(frozen=True)
class Row:
    """One frame of one model on one system. Ratios are shares of the fragments; the bandwidth is that of the paper's formula."""

    model: str
    system: str
    frame: int
    position: int
    fragments: int
    in_front: int
    survived: int
    rejected: int
    failed: int
    rejection: float
    effective_rejection: float
    depth_reads_skipped: float
    miss_rate: float
    required_GBps: float
    conventional_GBps: float


def _row(model: Model, system: str, frame: int, stats: Any) -> Row:
    s, fragments = stats.depth_filter, stats.fragments_rasterized
    rejection = s["samples_rejected"] / fragments
    hidden = s["samples_rejected"] + s["samples_failed"]
    skipped = s["reads_skipped"] / fragments
    # A line of the filter comes in and goes out once for each bin that touches it; the paper's cache is not described.
    miss_rate = s["lines"] / fragments
    return Row(
        model.name, system, frame, s["position"], fragments, s["samples_in_front"], s["samples_survived"], s["samples_rejected"],
        s["samples_failed"], rejection, s["samples_rejected"] / hidden if hidden else 0.0, skipped, miss_rate,
        required_bandwidth(rejection, skipped, miss_rate, SYSTEMS[system]) / 1e9, required_bandwidth(0, 0, 0, 0) / 1e9,
    )  # fmt: skip


def run_frames(model: Model, system: str, frames: int, position: int | str = "", spacing: int = 0) -> list[Row]:
    """The model drawn ``frames`` times on a new device. ``position``: 1 to 15 holds the planes there, ``"counters"`` moves them as hardware
    does; ``spacing`` of neighbouring planes in 64ths of the depth range, 0 for the default.
    """
    choice = f"depth_filter:{system}" + (f"@{position}" if position else "") + (f"/{spacing}" if spacing else "")
    renderer = SceneRenderer(tg.Device(hsr=[choice]))
    frame = model.frame(SIZE_PX)
    return [_row(model, system, k, renderer.render(frame, read=False).stats) for k in range(1, frames + 1)]


def best_position(model: Model, system: str) -> Row:
    """Exhaustive search: the position that rejects most (the nearest of equals)."""
    return max((run_frames(model, system, 1, p)[0] for p in POSITIONS), key=lambda row: (row.rejected, -row.position))
