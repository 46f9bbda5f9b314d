"""``tilegpu bench hsr --profile P``: Arm's table, modelled: what one technique takes off a frame's costs, the others left on.

In: scenes, a profile. Out: for each scene operations, bytes read and written and cycles with the technique and without it, and by how
much they fall; what rises is a negative row. Source: Arm, "Hidden Surface Removal in Immortalis-G925: The Fragment Prepass" ("How good is
it really?"); the model: :mod:`tilegpu.costs`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tilegpu.costs import PassCosts

#: Columns: what Arm's table calls them, and how they are read of a model's costs.
COLUMNS: dict[str, Callable[[PassCosts], float]] = {
    "GPU cycles": lambda c: c.cycles,
    "fragment read": lambda c: sum(n for what, n in c.read_B.items() if what not in ("vertices", "vertices, binning", "indices")),
    "external read": lambda c: c.total("read_B"),
    "external write": lambda c: c.total("write_B"),
    "arithmetic": lambda c: c.total("arithmetic"),
    "texture": lambda c: c.total("texture"),
}
#: Which technique is switched, if nobody says: the first that the profile has.
_TECHNIQUES = ("pre_pass", "lrz", "forward_pixel_kill", "hierarchical_z")


def technique_of(names: Sequence[str]) -> str:
    """Of a profile's techniques the one that its table is about."""
    return next((name for name in _TECHNIQUES if name in names), _TECHNIQUES[-1])


def costs_of_frame(
    frame: Any, profile: str, choices: Sequence[Any], isolate: bool = False, commands: bool = False
) -> list[PassCosts]:
    """All passes of a scene's frame on a profile, for each choice of techniques (what ``hsr=`` takes): drawn once, and what was drawn run
    again on a device of each. ``commands``: with what copies, resolves and the like cost between them. ``isolate``: its shaders are
    compiled in processes of their own."""
    import tilegpu as tg
    from tilegpu.frame_profiles import run
    from tilegpu.hsr import parse
    from tilegpu.scene import SceneRenderer

    device = tg.Device(isolate_compiler=isolate)
    drawn = device.frame("frame")
    drawn.takes_inner = True
    with drawn:
        SceneRenderer(device).render(frame, read=False)
    found = []
    with tempfile.TemporaryDirectory(prefix="tilegpu-bench-") as folder:
        path = Path(folder) / "frame.tgcap"
        drawn.capture(path)
        for choice in choices:
            done = run(path, profile, parse(choice, profile, "bench"), options=device._options)
            costs = done.modelled(commands=commands)
            assert costs is not None
            found.append(costs)
    return found


def measure(
    scene: Any, size: tuple[int, int] | None, profile: str, techniques: Sequence[str] = (), isolate: bool = False
) -> list[dict[str, Any]]:
    """A row for each technique (default: :func:`technique_of`): ``scene``, ``profile``, ``technique``, ``off`` and ``on`` by the names of
    :data:`COLUMNS`, ``reduction`` in percent (negative: it costs more), ``limited_by_off``, ``limited_by_on``."""
    import tilegpu as tg

    frame = scene.frame(size)
    has = list(tg.Device(profile=profile).hsr)
    rows = []
    for technique in techniques or [technique_of(has)]:
        others = [name for name in has if name.partition(":")[0] != technique]
        off, on = costs_of_frame(frame, profile, (others or "off", [*others, technique]), isolate)
        found: dict[str, Mapping[str, float]] = {
            key: {name: read(costs) for name, read in COLUMNS.items()} for key, costs in (("off", off), ("on", on))
        }
        rows.append(
            {"scene": scene.name, "profile": profile, "technique": technique, **found,
             "reduction": {name: reduction(found["off"][name], found["on"][name]) for name in COLUMNS},
             "limited_by_off": off.limited_by, "limited_by_on": on.limited_by}
        )  # fmt: skip
    return rows


def reduction(off: float, on: float) -> float:
    """In percent of what it was; negative where it grew."""
    return 100 * (off - on) / off if off else 0.0


def _percent(value: float) -> str:
    return f"{value:.2f}" if 0 < abs(value) < 0.05 else f"{value:.1f}"


def text_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Arm's table: the reduction in each column, then the figures behind it."""
    width = max(len(f"{r['scene']}: {r['technique']}") for r in rows)
    lines = [f"reduction on {rows[0]['profile']}, modelled; negative: more with the technique than without",
             " " * width + "".join(f"{name:>16}" for name in COLUMNS) + "   limited by"]  # fmt: skip
    for r in rows:
        limits = r["limited_by_off"] if r["limited_by_off"] == r["limited_by_on"] else f"{r['limited_by_off']}, then {r['limited_by_on']}"
        name = f"{r['scene']}: {r['technique']}"
        lines.append(name.ljust(width) + "".join(f"{_percent(r['reduction'][c]):>14} %" for c in COLUMNS) + f"   {limits}")
        for key in ("off", "on"):
            lines.append(f"  {key}".ljust(width) + "".join(f"{r[key][c]:16,.0f}" for c in COLUMNS))
    return "\n".join(lines)
