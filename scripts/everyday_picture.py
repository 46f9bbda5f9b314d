"""docs/images/everyday.png: all everyday scenes side by side, in the order of ``tilegpu bench peers --set everyday``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import tilegpu as tg
from tilegpu.bench.peers import EVERYDAY
from tilegpu.scene import SceneRenderer, find_scene

OUT = Path(__file__).resolve().parent.parent / "docs" / "images" / "everyday.png"
COLUMNS, WIDE, HIGH, GAP = 6, 216, 122, 4


def main() -> None:
    """Each scene at 864x488 (its own size if that is less), made small."""
    renderer = SceneRenderer(tg.Device())
    rows = -(-len(EVERYDAY) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * (WIDE + GAP) - GAP, rows * (HIGH + GAP) - GAP), "white")
    for k, name in enumerate(EVERYDAY):
        scene = find_scene(name)
        size = (4 * WIDE, 4 * HIGH) if scene.default_size[0] > 64 else (64, 64)
        picture = Image.fromarray(np.asarray(renderer.render(scene.frame(size)).images[0])[..., :3])
        if size == (64, 64):  # at its own size, in the middle
            small = Image.new("RGB", (WIDE, HIGH), (230, 237, 247))
            small.paste(picture, ((WIDE - 64) // 2, (HIGH - 64) // 2))
        else:
            small = picture.resize((WIDE, HIGH), Image.Resampling.BOX)
        sheet.paste(small, (k % COLUMNS * (WIDE + GAP), k // COLUMNS * (HIGH + GAP)))
    colors = sheet.quantize(256, Image.Quantize.FASTOCTREE)  # a third of the bytes; Pillow dithers only to colours that it is given
    sheet.quantize(palette=colors, dither=Image.Dither.FLOYDSTEINBERG).save(OUT, optimize=True)
    print(f"wrote {OUT}, {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
