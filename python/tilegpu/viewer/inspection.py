"""What the window tells about a picture: its cost, a heatmap with its legend, the pixel below the mouse and its tile.

In: the renderer that drew it. Out: texts, and pictures as arrays. A pass that can't be asked is a text that says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tilegpu as tg
from tilegpu import legend
from tilegpu.files import size_text
from tilegpu.history import HEATMAPS, KILLERS, killers_picture, ramp_picture
from tilegpu.hsr import TECHNIQUES
from tilegpu.scene import SceneRenderer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_STRIP_PX, _MOST_FRAGMENTS = 380, 14
#: Maps whose sums over a tile are shown.
_OF_A_TILE = (
    "rasterized", "early_killed", "pre_pass", "forward_kill", "visibility_buffer", "shaded", "discarded", "late_killed", "overwritten",
)  # fmt: skip


@dataclass
class Look:
    """``picture``: a map in place of the picture, (H, W, 3). ``strip``: its legend, RGB bytes and size. ``text``: of the pixel. ``tile``:
    (left, top, right, bottom) in pixels of the picture."""

    picture: NDArray[np.uint8] | None = None
    strip: tuple[bytes, tuple[int, int]] | None = None
    text: str = ""
    tile: tuple[int, int, int, int] | None = None


def cost_text(stats: Any, device: tg.Device) -> str:
    """What the picture cost, in four lines."""
    total = stats if isinstance(stats, tg.FrameStats) else tg.FrameStats("", [stats])
    if not total.passes:
        return "no render pass of this device to count"
    s = total
    killed = s.fragments_early_killed + s.fragments_killed_by_prepass + s.fragments_killed_by_fpk + s.fragments_late_killed
    on = {name.partition(":")[0] for name in device.hsr}
    techniques = "  ".join(f"{k}{'+' if name in on else '-'} {name.replace('_', ' ')}" for k, name in enumerate(TECHNIQUES, 1))
    passes = f"{len(total.passes)} passes, " if len(total.passes) > 1 else ""
    return (
        f"{passes}{s.draws:,} draw{'s' if s.draws != 1 else ''}, {s.primitives_in:,} primitives, "
        f"{size_text(total.moved_B)} between tiles and images\n"
        f"fragments: {s.fragments_rasterized:,} rasterized, {killed:,} killed, {s.fragments_shaded:,} shaded\n"
        f"{techniques}"
    )


def look(
    renderer: SceneRenderer, heatmap: str, probe: tuple[int, int] | None, from_last: int, picture: tuple[int, int]
) -> Look:
    """A map, or the pixel, or both, of a pass: 0 is the last, 1 the one before. ``probe``: in pixels of the picture that is shown, which is
    the map where there is one."""
    out = Look()
    passes = renderer.passes
    if not passes:
        out.text = "the function that drew the frame has no render pass to ask"
        return out
    at = len(passes) - 1 - from_last % len(passes)
    render_pass = passes[at]
    if len(passes) > 1:
        out.text = f"pass {at + 1} of {len(passes)}: {render_pass.label}"
    if heatmap:
        try:
            out.picture, out.strip = _map(render_pass, heatmap)
        except tg.Error as error:
            out.text = f"{out.text}\nno heatmap: {error}".strip()
    if probe is not None:
        try:
            layout = render_pass.layout
            size = int(layout["width_px"]), int(layout["height_px"])
            if out.picture is None and size != picture:
                probe = int((probe[0] + 0.5) / picture[0] * size[0]), int((probe[1] + 0.5) / picture[1] * size[1])
            text, out.tile = _pixel(render_pass, layout, min(probe[0], size[0] - 1), min(probe[1], size[1] - 1))
            out.tile = out.tile if size == picture else None
        except tg.Error as error:
            text = f"the pixel can't be asked: {error}"
        out.text = f"{out.text}\n{text}".strip()
    return out


def _map(render_pass: tg.RenderPass, kind: str) -> tuple[Any, Any]:
    if kind == "killed_by":
        maps = {name: render_pass.heatmap(name) for name in HEATMAPS if name in KILLERS or name == "early_killed"}
        strip = legend.killers(maps, _STRIP_PX)
        picture = killers_picture(maps)
    else:
        values = render_pass.heatmap(kind)
        strip, picture = legend.ramp(kind, values, _STRIP_PX), ramp_picture(values)
    return picture, (strip.tobytes(), strip.size)


def _pixel(render_pass: tg.RenderPass, layout: dict[str, Any], x: int, y: int) -> tuple[str, tuple[int, int, int, int]]:
    history = render_pass.why(x, y, 0)
    samples = int(layout["samples"])
    of = f", sample 0 of {samples}" if samples > 1 else ""
    count = len(history.fragments)
    lines = [f"pass '{render_pass.label}', pixel ({x}, {y}){of}: {count} fragment{'s' if count != 1 else ''}"]
    left_out = max(0, count - _MOST_FRAGMENTS)
    lines += [f"the first {left_out} are left out"] * bool(left_out)
    for f in history.fragments[left_out:]:
        instance = f" instance {f.instance}" if f.instance else ""
        lines.append(f"draw {f.draw}{instance} primitive {f.primitive}, depth {f.depth:.6g}: {f.text}")
    tile, moved = _tile(render_pass, layout, x, y)
    left, top, right, bottom = tile
    part = slice(max(top, 0), bottom), slice(max(left, 0), right)
    counts = ((name, int(render_pass.heatmap(name)[part].sum())) for name in _OF_A_TILE)
    lines.append(f"tile ({left}, {top}), {right - left} x {bottom - top} px: fragments " + ", ".join(
        f"{n:,} {name.replace('_', ' ')}" for name, n in counts if n))  # fmt: skip
    return "\n".join([*lines, *moved]), tile


def _tile(render_pass: tg.RenderPass, layout: dict[str, Any], x: int, y: int) -> tuple[tuple[int, int, int, int], list[str]]:
    """The tile at a pixel, and what moved between it and images."""
    try:
        tiles = render_pass.tiles()
    except tg.ValidationError:
        width, height = int(layout["tile_width_px"]), int(layout["tile_height_px"])
        left, top = x // width * width, y // height * height
        tile = left, top, min(left + width, int(layout["width_px"])), min(top + height, int(layout["height_px"]))
        return tile, ["bytes of the tile: make the pass with trace=True"]
    here = [t for t in tiles if t["layer"] == 0 and 0 <= x - t["x"] < t["width"] and 0 <= y - t["y"] < t["height"]]
    moved: dict[str, int] = {}
    for one in here:
        for attachment, causes in one["traffic"].items():
            for cause, count in causes.items():
                if count:
                    name = f"{attachment} {cause.replace('_', ' ')}"
                    moved[name] = moved.get(name, 0) + count
    lines = ["moved: " + (", ".join(f"{name} {size_text(n)}" for name, n in moved.items()) or "nothing")]
    first = here[0]
    right = min(first["x"] + first["width"], int(layout["width_px"]))
    return (first["x"], first["y"], right, min(first["y"] + first["height"], int(layout["height_px"]))), lines
