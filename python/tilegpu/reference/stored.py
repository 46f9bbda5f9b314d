"""Pictures of the reference kept in the repository, for machines without OpenGL or spirv-cross.

``tests/reference/<scene>_<W>x<H>_<N>.png`` with a ``.json`` beside it: renderer, driver, size, samples, when it was made and with
what. Colour attachment 0, 8 bits. A kept picture has no edge mask, so its tolerance is wider.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.reference.compare import Comparison, Tolerance, clear_value
from tilegpu.reference.gl import Renderer
from tilegpu.reference.metrics import difference, differs_from
from tilegpu.scene import Frame

#: Edges count as inside, where coverage may differ by a rounding.
TOLERANCE = Tolerance(inside_share_over_2=0.02, edges_share_over_2=0.02, inside_over_8_px=1_000_000_000)


@dataclass(frozen=True)
class Kept:
    """A kept picture, (H, W, 4) uint8, and its sidecar."""

    image: NDArray[np.uint8]
    provenance: dict[str, str]


def folder() -> Path | None:
    """``TILEGPU_REFERENCE`` or the repository's ``tests/reference``; ``None`` where neither exists."""
    for candidate in (os.environ.get("TILEGPU_REFERENCE"), Path(__file__).resolve().parents[3] / "tests" / "reference"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


def stem(scene: str, frame: Frame) -> str:
    """File name, without suffix, of the picture for a scene at this size and sample count."""
    return f"{scene}_{frame.size[0]}x{frame.size[1]}_{frame.samples}"


def find(scene: str, frame: Frame, where: Path | None = None) -> Kept | None:
    """The kept picture for this frame, if there is one."""
    from PIL import Image

    where = where or folder()
    if where is None:
        return None
    picture, sidecar = where / f"{stem(scene, frame)}.png", where / f"{stem(scene, frame)}.json"
    if not (picture.is_file() and sidecar.is_file()):
        return None
    with Image.open(picture) as image:
        pixels = np.asarray(image.convert("RGBA"))
    return Kept(pixels, json.loads(sidecar.read_text(encoding="utf-8")))


def keep(scene: str, frame: Frame, where: Path) -> Path:
    """Draws the frame by the reference and keeps its colour 0 with provenance; returns the picture's path."""
    from PIL import Image

    with Renderer.shared(exact_lod=True) as renderer:
        picture = renderer.render(frame)
    image: NDArray[Any] = picture.images[0]
    if image.dtype != np.uint8 or image.shape[2] != 4:
        raise ValueError(f"scene '{scene}': colour 0 is {frame.color_formats[0]}; only 8-bit RGBA pictures are kept")
    path = where / f"{stem(scene, frame)}.png"
    Image.fromarray(image).save(path, optimize=True)
    sidecar = {
        "scene": scene,
        "size": f"{frame.size[0]}x{frame.size[1]}",
        "samples": str(frame.samples),
        **picture.provenance,
    }
    path.with_suffix(".json").write_text(json.dumps(sidecar, indent=1) + "\n", encoding="utf-8")
    return path


def compare(kept: Kept, frame: Frame, ours: list[NDArray[Any]]) -> Comparison:
    """Colour 0 against a kept picture."""
    clear = clear_value(frame.color_formats[0], frame.clear_color(0), 4)
    cover = differs_from(ours[0], clear, 1.0) | differs_from(kept.image, clear, 1.0)
    return Comparison(0, ours[0], kept.image, None, difference(ours[0], kept.image, None, cover), kept.provenance)
