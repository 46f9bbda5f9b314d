"""What lies over the picture: help, messages, costs, legends, the pixel below the mouse, errors. In: texts. Out: RGBA in the window's size.

Drawn by Pillow, in its own font (:mod:`tilegpu.legend`), and only when something of it changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilegpu.legend import font, text_width, wrapped
from tilegpu.viewer.mapping import Size

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GROUND, _INK, _SOFT, _ERROR = (16, 16, 20, 215), (240, 240, 242, 255), (172, 172, 180, 255), (120, 18, 24, 235)


@dataclass(frozen=True)
class Overlay:
    """Everything that is shown over the picture; equal ones look alike. ``help``: rows of (key, text). ``strip``: a legend, as RGB bytes
    with its size. ``tile``, ``pixel``: where they are in the window, in pixels. ``scale``: of the display."""

    size: Size
    scale: float = 1.0
    help: tuple[tuple[str, str], ...] = ()
    message: str = ""
    status: str = ""
    cost: str = ""
    probe: str = ""
    error: str = ""
    strip: tuple[bytes, Size] | None = None
    tile: tuple[int, int, int, int] | None = None
    pixel: tuple[int, int] | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return self == Overlay(self.size, self.scale)


class _Sheet:
    """A transparent picture to write on."""

    def __init__(self, size: Size, scale: float) -> None:
        from PIL import Image, ImageDraw

        self.size = size
        self.image = Image.new("RGBA", size, (0, 0, 0, 0))
        self.draw = ImageDraw.Draw(self.image)
        small = min(1.0, min(size[0] / 420, size[1] / 260))  # a small window has small letters
        self.px = max(9, round(14 * scale * max(small, 0.65)))
        self.line = self.px + max(3, self.px // 3)
        self.pad = max(5, self.px // 2 + 2)

    def box(self, x: int, y: int, width: int, height: int, ground: tuple[int, int, int, int] = _GROUND) -> None:
        self.draw.rounded_rectangle((x, y, x + width - 1, y + height - 1), self.pad // 2, fill=ground)

    def text(self, x: int, y: int, text: str, ink: tuple[int, int, int, int] = _INK) -> None:
        self.draw.text((x, y), text, fill=ink, font=font(self.px))

    def lines_of(self, text: str, width: int) -> list[str]:
        """Wrapped, and cut where the window ends."""
        most = max(1, (self.size[1] - 4 * self.pad) // self.line)
        letters = most * max(8, width // 3)  # more than can be seen
        seen = "\n".join(line[:letters] for line in text.replace("\t", "  ").split("\n")[: most + 1])
        lines = wrapped(seen, max(40, width), self.px)
        return lines if len(lines) <= most else [*lines[: most - 1], "..."]

    def note(self, text: str, place: str, ground: tuple[int, int, int, int] = _GROUND, most: float = 0.92, below: int = 0) -> int:
        """A box of text at ``"top left"``, ``"top right"``, ``"bottom"``, ``"bottom right"`` or ``"middle"``. Returns its
        height, and what keeps it apart."""
        lines = self.lines_of(text, int(self.size[0] * most) - 2 * self.pad)
        width = max(text_width(line, self.px) for line in lines) + 2 * self.pad
        height = self.line * len(lines) + 2 * self.pad - (self.line - self.px)
        w, h = self.size
        x = self.pad if place == "top left" else w - width - self.pad if "right" in place else (w - width) // 2
        y = {"bottom": h - height - 2 * self.pad - below, "bottom right": h - height - self.pad, "middle": (h - height) // 2}.get(
            place, self.pad + below
        )
        self.box(x, y, width, height, ground)
        for k, line in enumerate(lines):
            self.text(x + self.pad, y + self.pad + k * self.line - self.px // 6, line)
        return height + self.pad

    def table(self, rows: tuple[tuple[str, str], ...]) -> None:
        """Two columns in the middle, as small as they must be."""
        while True:
            left = max(text_width(key, self.px) for key, _ in rows)
            left = min(left, int(0.34 * self.size[0]))
            room = max(60, int(0.94 * self.size[0]) - left - 4 * self.pad)
            cells = [(wrapped(key, left, self.px), wrapped(text, room, self.px)) for key, text in rows]
            height = sum(max(len(a), len(b)) for a, b in cells) * self.line + 2 * self.pad
            if height <= self.size[1] - 2 * self.pad or self.px <= 9:
                break
            self.px -= 1
            self.line, self.pad = self.px + max(2, self.px // 4), max(4, self.px // 2)
        width = left + 3 * self.pad + max(text_width(line, self.px) for _, lines in cells for line in lines) + self.pad
        x, y = (self.size[0] - width) // 2, max(0, (self.size[1] - height) // 2)
        self.box(x, y, width, height)
        y += self.pad
        for keys, lines in cells:
            for k, line in enumerate(keys):
                self.text(x + self.pad, y + k * self.line, line)
            for k, line in enumerate(lines):
                self.text(x + left + 3 * self.pad, y + k * self.line, line, _SOFT)
            y += max(len(keys), len(lines)) * self.line

    def strip(self, data: bytes, size: Size) -> None:
        """A legend at the bottom left."""
        from PIL import Image

        self.image.paste(Image.frombytes("RGB", size, data), (self.pad, max(0, self.size[1] - size[1] - self.pad)))

    def marks(self, tile: tuple[int, int, int, int] | None, pixel: tuple[int, int] | None) -> None:
        """The tile's outline, and a cross about the pixel."""
        if tile is not None:
            x, y, right, bottom = tile
            self.draw.rectangle((x, y, right - 1, bottom - 1), outline=(255, 255, 255, 230))
            self.draw.rectangle((x - 1, y - 1, right, bottom), outline=(0, 0, 0, 160))
        if pixel is not None:
            x, y = pixel
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                self.draw.line((x + 3 * dx, y + 3 * dy, x + 8 * dx, y + 8 * dy), fill=(255, 255, 255, 255))


def draw(overlay: Overlay) -> NDArray[np.uint8] | None:
    """(H, W, 4), row 0 on top, alpha as coverage; ``None`` for nothing."""
    if overlay.empty or min(overlay.size) < 16:
        return None
    sheet = _Sheet(overlay.size, overlay.scale)
    if overlay.help:  # alone, so that it can be read
        sheet.table(overlay.help)
        return np.asarray(sheet.image)
    sheet.marks(overlay.tile, overlay.pixel)
    below = 0
    if overlay.error:
        below = sheet.note(overlay.error, "top left", _ERROR)
    if overlay.cost:
        below += sheet.note(overlay.cost, "top left", below=below)
    if overlay.probe:
        high = overlay.pixel is not None and overlay.pixel[1] < overlay.size[1] // 2  # the box leaves room for what it is about
        sheet.note(overlay.probe, "bottom right" if high else "top right", most=0.75, below=0 if high else below)
    under = 0
    if overlay.strip is not None:
        sheet.strip(*overlay.strip)
        under = overlay.strip[1][1] + sheet.pad
    if overlay.message:
        sheet.note(overlay.message, "bottom", below=under)
    if overlay.status:
        sheet.note(overlay.status, "middle")
    return np.asarray(sheet.image)
