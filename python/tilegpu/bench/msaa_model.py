"""``tilegpu bench msaa --profile P``: how much faster a resolve in the tile is than one by a command, modelled, beside a device's figures.

In: a scene of :mod:`tilegpu.bench.msaa`, a profile. Out: for each sample count the cycles of both ways, their ratio, the most that bytes
of attachments allow, what a device gained, and the one constant that explains the distance: how many samples a pixel everything but
attachments is worth. Source: Faith Ekstrand, "Re-thinking framebuffers in PanVK" ("Benchmark results").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilegpu.bench.hsr_model import costs_of_frame

#: Speedups of the article's device, a MediaTek Chromebook, by samples.
PUBLISHED = {2: 4.4, 4: 7.4, 8: 13.2, 16: 25.7}


def other_samples(speedup: float, samples: int) -> float:
    """What else a frame costs, in samples a pixel: k of ``speedup = (2 samples + 1 + k) / (1 + k)``."""
    return (2 * samples + 1 - speedup) / (speedup - 1) if speedup > 1 else float("inf")


def curve(profile: str, frame_of: Callable[[int, str], Any], samples: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each count above 1; ``frame_of``: the frame of a count and a mode (``"in_tile"``, ``"separate"``, whose command costs what
    its ledger says). ``in_tile_cycles``,
    ``separate_cycles``, ``speedup``, ``most`` (2N + 1), ``published`` or ``None``, ``other_samples`` of the model and of the device,
    ``limited_by`` of the frame that is resolved in the tile."""
    rows = []
    for n in samples:
        if n == 1:
            continue
        frames = (frame_of(n, mode) for mode in ("in_tile", "separate"))
        inside, apart = (costs_of_frame(frame, profile, ("default",), commands=True)[0] for frame in frames)
        speedup = apart.cycles / inside.cycles
        published = PUBLISHED.get(n)
        rows.append(
            {"profile": profile, "samples": n, "in_tile_cycles": inside.cycles, "separate_cycles": apart.cycles, "speedup": speedup,
             "most": 2 * n + 1, "published": published, "other_samples": other_samples(speedup, n),
             "published_other_samples": other_samples(published, n) if published else None, "limited_by": inside.limited_by}
        )  # fmt: skip
    return rows


def text_of(scene: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The curve, and what explains it."""
    if not rows:
        return ""
    heads = (("samples", 8), ("separate", 14), ("in tile", 12), ("speedup", 9), ("at most", 9), ("device", 8), ("model/device", 14),
             ("other", 8), ("device", 8))  # fmt: skip
    lines = [
        f"{scene} on {rows[0]['profile']}, modelled: a resolve in the tile against one by a command",
        "".join(name.rjust(width) for name, width in heads) + "  limited by",
    ]
    for r in rows:
        device, ratio, other = ("", "", "")
        if r["published"]:
            device, ratio, other = f"{r['published']:.1f}", f"{r['speedup'] / r['published']:.2f}", f"{r['published_other_samples']:.2f}"
        mine = f"{r['other_samples']:.2f}" if r["other_samples"] < 1e6 else "all"
        lines.append(f"{r['samples']:8}{r['separate_cycles']:14,.0f}{r['in_tile_cycles']:12,.0f}{r['speedup']:9.1f}{r['most']:9}{device:>8}"
                     f"{ratio:>14}{mine:>8}{other:>8}  {r['limited_by']}")  # fmt: skip
    lines.append(
        "other: what a frame costs beside its attachments, as samples a pixel: of the model, and of the device that the article measured. "
        "This one constant is the whole distance from 'at most'."
    )
    return "\n".join(lines)
