"""Maps of a pass as pictures that say what they show. In: numbers by pixel (:meth:`tilegpu.RenderPass.heatmap`). Out: Pillow images: the
map, a pixel for a pixel, and below it a ramp with numbers, or the colours with names.

Text is drawn by Pillow, in the font that it brings along.
"""

from __future__ import annotations

import bisect
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu.history import HEATMAPS, KILLERS, killers_picture, ramp_picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GROUND, _INK, _SOFT = (22, 22, 26), (235, 235, 238), (165, 165, 172)
_LEAST_PX, _MARGIN_PX, _TEXT_PX = 380, 10, 13


@functools.cache
def font(px: int) -> Any:
    """A font of that size; of one size alone where Pillow was built without FreeType."""
    from PIL import ImageFont

    try:
        return ImageFont.load_default(size=px)
    except (ImportError, OSError):
        return ImageFont.load_default()


def text_width(text: str, px: int) -> int:
    """Pixels that a line takes."""
    return math.ceil(font(px).getlength(text))


def wrapped(text: str, width_px: int, px: int) -> list[str]:
    """Lines of at most that width, broken at spaces where there are any."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if not line or text_width(longer, px) <= width_px:
                line = longer
            else:
                lines.append(line)
                line = word
            while text_width(line, px) > width_px and len(line) > 1:  # a word that is longer than a line
                cut = max(1, bisect.bisect_right(range(1, len(line)), width_px, key=lambda k: text_width(line[:k], px)))
                lines.append(line[:cut])
                line = line[cut:]
        lines.append(line)
    return lines


def number_text(value: float) -> str:
    """A number of a legend."""
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def ticks(top: float, whole: bool, most: int = 5) -> list[float]:
    """Numbers from 0 to ``top``, both among them, at steps of 1, 2 or 5 times a power of ten; whole ones of counts."""
    if not top > 0:
        return [0.0]
    step = 10.0 ** math.floor(math.log10(top / most))
    step = next(step * k for k in (1, 2, 5, 10) if top / (step * k) <= most)
    step = max(step, 1.0) if whole else step
    inner = [k * step for k in range(1, math.ceil(top / step)) if top - k * step > 0.45 * step]
    return [0.0, *inner, float(top)]


def title_of(kind: str, values: NDArray[Any]) -> str:
    """What a map shows, its greatest number and its sum."""
    form = ".3g" if kind == "tile_ms" else ","
    most = values.max() if values.size else 0
    return f"{HEATMAPS[kind]}; up to {most:{form}}, sum {values.sum():{form}}"


def ramp(kind: str, values: NDArray[Any], width_px: int) -> Any:
    """The strip below a map: what it shows, and the ramp from 0 to the greatest with numbers."""
    from PIL import Image, ImageDraw

    inner = width_px - 2 * _MARGIN_PX
    lines = wrapped(title_of(kind, values), inner, _TEXT_PX)
    line_px = _TEXT_PX + 4
    bar_y = _MARGIN_PX + line_px * len(lines) + 2
    strip = Image.new("RGB", (width_px, bar_y + 12 + 6 + line_px + _MARGIN_PX - 4), _GROUND)
    draw = ImageDraw.Draw(strip)
    for k, line in enumerate(lines):
        draw.text((_MARGIN_PX, _MARGIN_PX - 3 + k * line_px), line, fill=_INK, font=font(_TEXT_PX))
    colors = ramp_picture(np.linspace(0, 1, inner)[None, :], 1.0)
    strip.paste(Image.fromarray(np.repeat(colors, 12, axis=0)), (_MARGIN_PX, bar_y))
    top = float(values.max()) if values.size else 0.0
    for value in ticks(top, kind != "tile_ms"):
        x = _MARGIN_PX + (round((inner - 1) * value / top) if top else 0)
        draw.line((x, bar_y + 12, x, bar_y + 15), fill=_SOFT)
        text = number_text(value)
        left = min(max(x - text_width(text, _TEXT_PX) // 2, _MARGIN_PX), width_px - _MARGIN_PX - text_width(text, _TEXT_PX))
        draw.text((left, bar_y + 16), text, fill=_SOFT, font=font(_TEXT_PX))
    return strip


def killers(maps: dict[str, NDArray[Any]], width_px: int) -> Any:
    """The strip below a map of who killed: each colour, its name, and how many."""
    from PIL import Image, ImageDraw

    counts = {**maps, "early_test": maps["early_killed"] - maps["hierarchical_z"]}
    inner, line_px = width_px - 2 * _MARGIN_PX, _TEXT_PX + 5
    head = "who killed fragments; brighter where more were killed"
    entries = [(f"{name.replace('_', ' ')}: {int(counts[name].sum()):,}", color) for name, color in KILLERS.items()]
    column_px = max(text_width(text, _TEXT_PX) for text, _ in entries) + 34
    columns = max(1, inner // column_px)
    rows = -(-len(entries) // columns)
    heads = wrapped(head, inner, _TEXT_PX)
    strip = Image.new("RGB", (width_px, 2 * _MARGIN_PX + line_px * (len(heads) + rows)), _GROUND)
    draw = ImageDraw.Draw(strip)
    for k, line in enumerate(heads):
        draw.text((_MARGIN_PX, _MARGIN_PX - 3 + k * line_px), line, fill=_INK, font=font(_TEXT_PX))
    for k, (text, color) in enumerate(entries):
        x, y = _MARGIN_PX + k // rows * column_px, _MARGIN_PX + line_px * (len(heads) + k % rows)
        draw.rectangle((x, y, x + 12, y + 12), fill=color)
        draw.text((x + 20, y - 2), text, fill=_INK, font=font(_TEXT_PX))
    return strip


def _above(picture: NDArray[np.uint8], strip: Any) -> Any:
    from PIL import Image

    whole = Image.new("RGB", (max(picture.shape[1], strip.width), picture.shape[0] + strip.height), _GROUND)
    whole.paste(Image.fromarray(picture), (0, 0))
    whole.paste(strip, (0, picture.shape[0]))
    return whole


def map_with_legend(kind: str, values: NDArray[Any]) -> Any:
    """A heatmap's picture: black is 0, pale yellow the greatest; at the top left a pixel for each of the framebuffer's."""
    return _above(ramp_picture(values), ramp(kind, values, max(values.shape[1], _LEAST_PX)))


def killers_with_legend(maps: dict[str, NDArray[Any]]) -> Any:
    """Who killed fragments, by colour (:data:`tilegpu.history.KILLERS`)."""
    picture = killers_picture(maps)
    return _above(picture, killers(maps, max(picture.shape[1], _LEAST_PX)))
