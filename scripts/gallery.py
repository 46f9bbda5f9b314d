"""Draws the pictures of docs/tiles.md: a grid of tiles over the image, and what each tile loaded, stored and skipped.

    python scripts/gallery.py [folder]

Every picture is a pass of its own, traced (``render_pass(..., trace=True)``); the colours come from ``rp.tiles()``.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw

import tilegpu as tg
from tilegpu.scene import SceneRenderer, find_scene

REPOSITORY = Path(__file__).resolve().parent.parent
SIZE = (512, 288)
TILE = 32

#: What happened in a tile: colour of its frame, text of the legend. The first that applies is the frame; fills are tints.
LOOKS = {
    "spilled": ((235, 60, 200), "spilled and loaded again"),
    "border": ((255, 150, 40), "border loaded and stored"),
    "loaded": ((70, 150, 255), "loaded and stored"),
    "stored": ((70, 220, 110), "stored, nothing loaded"),
    "eliminated": ((250, 225, 70), "equal to what is there: not written"),
    "clean": ((130, 130, 140), "clean: neither loaded nor stored"),
}

VERT = """#version 450
layout(push_constant) uniform PC { vec4 rect; vec4 color; } pc;
void main() { gl_Position = vec4(mix(pc.rect.xy, pc.rect.zw, vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1)), 0.5, 1.0); }"""
FRAG = """#version 450
layout(push_constant) uniform PC { vec4 rect; vec4 color; } pc;
layout(location = 0) out vec4 o_color;
void main() { o_color = pc.color; }"""


def rectangle(rp: tg.RenderPass, pipe: tg.Pipeline, box: tuple[int, int, int, int], color: tuple[float, ...]) -> None:
    x, y, w, h = box
    to_ndc = lambda px, size: px / size * 2 - 1  # noqa: E731
    rect = (to_ndc(x, SIZE[0]), to_ndc(y, SIZE[1]), to_ndc(x + w, SIZE[0]), to_ndc(y + h, SIZE[1]))
    rp.draw(pipe, count=4, push={"rect": rect, "color": color})


def happened(traffic: dict[str, int]) -> str:
    if traffic["spill_load"] or traffic["spill_store"]:
        return "spilled"
    if traffic["border_load"] or traffic["border_store"]:
        return "border"
    if traffic["load"]:
        return "loaded"
    if traffic["saved_transaction_elimination"] and not traffic["store"] + traffic["resolve"]:
        return "eliminated"
    return "stored" if traffic["store"] + traffic["resolve"] else "clean"


def draw(pixels: np.ndarray, rp: tg.RenderPass, attachment: str, area: tuple[int, int, int, int] | None = None) -> Picture.Image:
    """The picture with the grid, and a legend with the bytes below it."""
    places: dict[tuple[int, int], dict[str, int]] = {}
    for tile in rp.tiles():
        sums = places.setdefault((tile["x"], tile["y"]), {})
        for cause, count in tile["traffic"][attachment].items():
            sums[cause] = sums.get(cause, 0) + count
    picture = Picture.fromarray(pixels[..., :3].copy()).convert("RGB")
    pen = ImageDraw.Draw(picture, "RGBA")
    seen: dict[str, int] = {}
    for (x, y), traffic in places.items():
        what = happened(traffic)
        seen[what] = seen.get(what, 0) + 1
        color = LOOKS[what][0]
        box = (x + 1, y + 1, min(x + TILE, SIZE[0]) - 2, min(y + TILE, SIZE[1]) - 2)
        pen.rectangle(box, fill=(*color, 70 if what in ("border", "spilled", "eliminated") else 26), outline=(*color, 255))
        if what == "clean":
            pen.line((box[0], box[1], box[2], box[3]), fill=(*color, 140))
    if area is not None:
        pen.rectangle((area[0], area[1], area[0] + area[2] - 1, area[1] + area[3] - 1), outline=(255, 255, 255, 255))
    height = 18 * len(seen) + 10
    out = Picture.new("RGB", (SIZE[0], SIZE[1] + height), (24, 24, 28))
    out.paste(picture, (0, 0))
    pen = ImageDraw.Draw(out)
    for row, (what, count) in enumerate(sorted(seen.items(), key=lambda item: list(LOOKS).index(item[0]))):
        y = SIZE[1] + 6 + 18 * row
        pen.rectangle((8, y + 1, 20, y + 13), outline=LOOKS[what][0], width=2)
        pen.text((28, y + 1), f"{count} tiles {LOOKS[what][1]}", fill=(225, 225, 230))
    return out


def deferred(device: tg.Device) -> Picture.Image:
    """A g-buffer that never leaves the tile."""
    spec = importlib.util.spec_from_file_location("deferred", REPOSITORY / "samples" / "deferred.py")
    assert spec and spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lit, rp = module.render(device, SIZE, 4, trace=True)
    return draw(lit.numpy(), rp, "color2")


def background(device: tg.Device) -> np.ndarray:
    return SceneRenderer(device).render(find_scene("demo").frame(SIZE)).images[0]


def canvas(device: tg.Device, format_: str = "r8g8b8a8_unorm", **arguments: Any) -> tg.Image:
    image = device.image(SIZE, format_, **arguments)
    device.copy(np.ascontiguousarray(background(device)), image)
    return image


def panel(rp: tg.RenderPass, pipe: tg.Pipeline) -> None:
    rectangle(rp, pipe, (300, 60, 150, 90), (0.12, 0.13, 0.18, 1))
    rectangle(rp, pipe, (312, 72, 126, 12), (0.9, 0.6, 0.2, 1))
    for i in range(3):
        rectangle(rp, pipe, (312, 94 + 16 * i, 90 - 20 * i, 8), (0.7, 0.7, 0.75, 1))


def clean(device: tg.Device) -> Picture.Image:
    """A panel over a picture that is kept: only the tiles under it move."""
    image, pipe = canvas(device), device.pipeline(VERT, FRAG, color=["r8g8b8a8_unorm"], topology="triangle_strip")
    with device.render_pass(color=[image], trace=True) as rp:
        panel(rp, pipe)
    return draw(image.numpy(), rp, "color0")


def border(device: tg.Device) -> Picture.Image:
    """An odd render area of a block-compressed image: cleared inside, the border loaded, no full load."""
    image = canvas(device, tiling="block_compressed")
    pipe = device.pipeline(VERT, FRAG, color=["r8g8b8a8_unorm"], topology="triangle_strip")
    area = (283, 43, 187, 131)
    with device.render_pass(color=[tg.Attachment(image, clear=(0.05, 0.06, 0.1, 1))], area=area, trace=True) as rp:
        panel(rp, pipe)
    return draw(image.numpy(), rp, "color0", area)


def elimination() -> Picture.Image:
    """The same frame again, with a pointer that moved: transaction elimination of a Mali profile."""
    device = tg.Device(profile="mali-g610", bin_px=TILE)
    image, pipe = canvas(device), device.pipeline(VERT, FRAG, color=["r8g8b8a8_unorm"], topology="triangle_strip")
    for frame in range(2):
        with device.render_pass(color=[tg.Attachment(image, clear=(0.2, 0.25, 0.3, 1))], trace=True) as rp:
            for i in range(6):
                rectangle(rp, pipe, (20 + 80 * i, 30 + 20 * i, 60, 100), (0.3 + 0.1 * i, 0.5, 0.8 - 0.1 * i, 1))
            rectangle(rp, pipe, (90 + 130 * frame, 180 + 20 * frame, 14, 20), (1, 1, 1, 1))
    return draw(image.numpy(), rp, "color0")


def split() -> Picture.Image:
    """A tiler heap that is too small: the pass is split, and tiles with primitives go out and come back."""
    device = tg.Device(bin_px=TILE, tiler_heap=1)
    image, pipe = canvas(device), device.pipeline(VERT, FRAG, color=["r8g8b8a8_unorm"], topology="triangle_strip")
    with device.render_pass(color=[image], trace=True) as rp:
        for i in range(4):
            rectangle(rp, pipe, (30 + 110 * i, 40 + 30 * i, 100, 90), (0.3 + 0.15 * i, 0.5, 0.8 - 0.15 * i, 1))
    return draw(image.numpy(), rp, "color0")


def heatmaps() -> Picture.Image:
    """Overdraw, what is shaded without hidden-surface removal (the same scale), who kills by default, and by the pre-pass and LRZ."""
    from tilegpu.history import killers_picture, ramp_picture

    frame = find_scene("heavy_overdraw_512").frame((240, 240))
    passes = {}
    for hsr in ("off", "default", ("pre_pass", "lrz")):
        renderer = SceneRenderer(tg.Device(hsr=hsr))
        renderer.render(frame, read=False)
        passes[hsr] = renderer.render_pass
    most = float(passes["off"].heatmap("rasterized").max())
    kinds = ("rasterized", "early_killed", "hierarchical_z", "visibility_buffer", "pre_pass", "forward_kill", "late_killed", "discarded")
    parts = [
        ramp_picture(passes["off"].heatmap("rasterized"), most),
        ramp_picture(passes["off"].heatmap("shaded"), most),
        *(killers_picture({k: passes[hsr].heatmap(k) for k in kinds}) for hsr in ("default", ("pre_pass", "lrz"))),
    ]
    picture = Picture.new("RGB", (4 * 240 + 3 * 8, 240), (255, 255, 255))
    for i, part in enumerate(parts):
        picture.paste(Picture.fromarray(part), (i * 248, 0))
    return picture


def draw_all(folder: Path) -> None:
    """All pictures, as ``gallery_NAME.png``."""
    folder.mkdir(parents=True, exist_ok=True)
    device = tg.Device(bin_px=TILE)
    for name, picture in (
        ("deferred", deferred(device)), ("clean", clean(device)), ("border", border(device)),
        ("elimination", elimination()), ("split", split()), ("heatmaps", heatmaps()),
    ):  # fmt: skip
        picture.quantize(255, dither=Picture.Dither.NONE).save(folder / f"gallery_{name}.png", optimize=True)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "docs" / "images"
    draw_all(folder)
    for path in sorted(folder.glob("gallery_*.png")):
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
