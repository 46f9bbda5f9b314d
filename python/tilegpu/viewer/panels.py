"""What lies over the picture: help, messages, costs, legends, the pixel below the mouse, errors. In: texts. Out: RGBA in the window's size.

Drawn by Pillow, in its own font (:mod:`tilegpu.legend`), and only when something of it changed.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilegpu.legend import font, text_width, wrapped
from tilegpu.viewer.mapping import Size

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GROUND, _INK, _SOFT, _ERROR = (16, 16, 20, 215), (240, 240, 242, 255), (172, 172, 180, 255), (120, 18, 24, 235)


@functools.lru_cache(maxsize=256)
def _wrapped(text: str, width: int, px: int) -> tuple[str, ...]:
    return tuple(wrapped(text, width, px))


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
    """A transparent picture to write on, with letters of a size."""

    def __init__(self, size: Size, px: int) -> None:
        from PIL import Image, ImageDraw

        self.size, self.px = size, px
        self.image = Image.new("RGBA", size, (0, 0, 0, 0))
        self.draw = ImageDraw.Draw(self.image)
        self.line = px + max(3, px // 3)
        self.pad = max(5, px // 2 + 2)

    def box(self, x: int, y: int, width: int, height: int, ground: tuple[int, int, int, int] = _GROUND) -> None:
        self.draw.rounded_rectangle((x, y, x + width - 1, y + height - 1), self.pad // 2, fill=ground)

    def text(self, x: int, y: int, text: str, ink: tuple[int, int, int, int] = _INK) -> None:
        self.draw.text((x, y), text, fill=ink, font=font(self.px))

    def lines_of(self, text: str, width: int, height: int = 0, end: str = "...") -> list[str]:
        """Wrapped to a width, and cut to a height (0: the window's), with ``end`` for what is left out."""
        most = max(1, ((height or self.size[1] - 2 * self.pad) - 2 * self.pad + self.line - self.px) // self.line)
        letters = (most + 1) * max(8, width // 3)  # more than can be seen
        seen = "\n".join(line[:letters] for line in text.replace("\t", "  ").split("\n")[: most + 1])
        lines = _wrapped(seen, max(40, width), self.px)
        return list(lines) if len(lines) <= most else [*lines[: most - 1], end if text_width(end, self.px) <= max(40, width) else "..."]

    def extent(self, lines: list[str]) -> Size:
        """Of a box with these lines."""
        width = max((text_width(line, self.px) for line in lines), default=0) + 2 * self.pad
        return width, self.line * len(lines) + 2 * self.pad - (self.line - self.px)

    def note(self, box: Box) -> None:
        """A box of text."""
        self.box(box.x, box.y, box.width, box.height, box.ground)
        for k, line in enumerate(box.lines):
            self.text(box.x + self.pad, box.y + self.pad + k * self.line - self.px // 6, line)

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


@dataclass(frozen=True)
class Box:
    """What is shown somewhere: lines of text, or a legend (``strip``), in pixels of the window."""

    kind: str
    x: int
    y: int
    width: int
    height: int
    lines: tuple[str, ...] = ()
    ground: tuple[int, int, int, int] = _GROUND

    def holds(self, place: tuple[int, int] | None) -> bool:
        """Whether it covers a pixel."""
        return place is not None and self.x <= place[0] < self.x + self.width and self.y <= place[1] < self.y + self.height


#: What is left out of a box says how to see it.
_REST = "... a larger window shows the rest"


class _Arrangement:
    """Boxes of one size of letters, none over another: errors and costs at the top left, the legend at the bottom left, messages above it,
    the pixel's box in what is left. ``brief``: of the costs the first line; ``cut``: the pixel's box is cut to its room."""

    def __init__(self, overlay: Overlay, px: int, brief: bool, cut: bool) -> None:
        self.sheet, self.overlay = _Sheet(overlay.size, px), overlay
        self.boxes: list[Box] = []
        self.fits = True
        pad, (width, height) = self.sheet.pad, overlay.size
        self.top, self.bottom = pad, height - pad  # what is free of whole rows
        if overlay.error:
            most = height - 2 * pad if not (overlay.cost or overlay.probe or overlay.strip) else height * 2 // 5
            self.top += self._add("error", overlay.error, pad, self.top, int(0.92 * width), most, _ERROR).height + pad
        self._strip()
        self._message()
        beside = self._cost(brief)
        if overlay.probe:
            self._probe(beside, cut)
        self._status()

    def _cost(self, brief: bool) -> tuple[int, int]:
        """Returns where the costs begin, and what is to their right."""
        cost, sheet, room = self.overlay.cost, self.sheet, self.bottom - self.top
        if not cost:
            return self.top, sheet.pad
        if room < sheet.px + 2 * sheet.pad:
            self.fits = False
            return self.top, sheet.pad
        head, _, rest = cost.partition("\n")
        text = f"{head}\n{_REST}" if brief and rest else cost
        box = self._add("cost", text, sheet.pad, self.top, int(0.92 * self.overlay.size[0]), room)
        self.fits &= box.lines[-1] != _REST or brief
        self.top += box.height + sheet.pad
        return box.y, box.x + box.width + sheet.pad

    def _add(self, kind: str, text: str, x: int, y: int, width: int, height: int, ground: tuple[int, int, int, int] = _GROUND) -> Box:
        """From (x, y) on, not larger than that with its margins."""
        lines = self.sheet.lines_of(text, width - 2 * self.sheet.pad, height, _REST)
        box = Box(kind, x, y, *self.sheet.extent(lines), tuple(lines), ground)
        self.boxes.append(box)
        return box

    def _strip(self) -> None:
        """The legend, smaller in a small window; where it would take half of it, the words."""
        if self.overlay.strip is None:
            return
        (w, h), pad, (width, height) = self.overlay.strip[1], self.sheet.pad, self.overlay.size
        factor = min(1.0, (width - 2 * pad) / w)
        w, h = int(w * factor), int(h * factor)
        if factor < 0.6 or h > 0.45 * height:
            lines = self.sheet.lines_of("no room for the heatmap's legend", width - 4 * pad, height // 4)
            w, h = self.sheet.extent(lines)
            self.boxes.append(Box("no strip", pad, self.bottom - h, w, h, tuple(lines)))
        else:
            self.boxes.append(Box("strip", pad, self.bottom - h, w, h))
        self.bottom -= h + pad

    def _message(self) -> None:
        """The row of messages is kept free where the pixel's box would jump as they come and go."""
        if not (self.overlay.message or self.overlay.probe):
            return
        wide = int(0.92 * self.overlay.size[0]) - 2 * self.sheet.pad
        lines = self.sheet.lines_of(self.overlay.message or "-", wide, self.overlay.size[1] // 3)
        w, h = self.sheet.extent(lines)
        self.bottom -= h
        if self.overlay.message:
            self.boxes.append(Box("message", (self.overlay.size[0] - w) // 2, self.bottom, w, h, tuple(lines)))
        self.bottom -= self.sheet.pad

    def _probe(self, beside: tuple[int, int], cut: bool) -> None:
        """To the right of the costs, or below them; the pixel itself stays free where it can."""
        sheet, (width, _), pixel = self.sheet, self.overlay.size, self.overlay.pixel
        rooms = [(beside[1], beside[0], width - sheet.pad - beside[1]), (max(sheet.pad, width // 4), self.top, 0)]
        rooms[1] = (*rooms[1][:2], width - sheet.pad - rooms[1][0])
        found: list[Box] = []
        for x, y, wide in rooms:
            tall = self.bottom - y
            if wide < 12 * sheet.px or tall < sheet.px + 2 * sheet.pad:
                continue
            lines = sheet.lines_of(self.overlay.probe, wide - 2 * sheet.pad, tall if cut else 1 << 20, _REST)
            w, h = sheet.extent(lines)
            if h <= tall:
                at = ((width - sheet.pad - w, y), (width - sheet.pad - w, self.bottom - h), (x, y), (x, self.bottom - h))
                found += [Box("probe", *place, w, h, tuple(lines)) for place in at]
        clear = [box for box in found if not box.holds(pixel)]
        if self.overlay.tile is not None:
            left, above, right, below = self.overlay.tile
            tile = Box("tile", left, above, right - left, below - above)
            clear = [box for box in clear if not overlap(box, tile)] or clear
        best = max(clear or found, key=lambda box: (len(box.lines) if cut else 0, -box.height), default=None)
        self.fits &= best is not None
        if best is not None:
            self.boxes.append(best)

    def _status(self) -> None:
        """In the middle; where something is there, in the row of messages."""
        if not self.overlay.status:
            return
        (width, height), sheet = self.overlay.size, self.sheet
        lines = sheet.lines_of(self.overlay.status, int(0.92 * width) - 2 * sheet.pad, height // 2)
        w, h = sheet.extent(lines)
        row = min(max(0, self.bottom + sheet.pad), height - h)
        for y in ((height - h) // 2, row):
            box = Box("status", (width - w) // 2, y, w, h, tuple(lines))
            if not any(overlap(box, other) for other in self.boxes):
                self.boxes.append(box)
                return

    @property
    def covers(self) -> float:
        """The part of the window that lies below boxes."""
        return sum(box.width * box.height for box in self.boxes) / max(1, self.overlay.size[0] * self.overlay.size[1])


def overlap(a: Box, b: Box) -> bool:
    """Whether one covers a part of the other."""
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def letters_px(size: Size, scale: float) -> int:
    """Height of letters: a small window has small ones."""
    return max(9, round(14 * scale * max(min(1.0, size[0] / 420, size[1] / 260), 0.65)))


def arrange(overlay: Overlay) -> _Arrangement:
    """The largest letters with which all fits beside each other and leaves half of the picture free; else what is cut least."""
    px = letters_px(overlay.size, overlay.scale)
    least = max(9, round(0.7 * px))
    for brief, most in ((False, 0.5), (False, 0.6), (True, 0.6)):
        for size in dict.fromkeys((px, (px + least) // 2, least)):
            made = _Arrangement(overlay, size, brief, False)
            if made.fits and (made.covers <= most or not overlay.probe):
                return made
    return _Arrangement(overlay, least, True, True)


def draw(overlay: Overlay) -> NDArray[np.uint8] | None:
    """(H, W, 4), row 0 on top, alpha as coverage; ``None`` for nothing."""
    from PIL import Image

    if overlay.empty or min(overlay.size) < 16:
        return None
    if overlay.help:  # alone, so that it can be read
        sheet = _Sheet(overlay.size, letters_px(overlay.size, overlay.scale))
        sheet.table(overlay.help)
        return np.asarray(sheet.image)
    made = arrange(overlay)
    sheet = made.sheet
    sheet.marks(overlay.tile, overlay.pixel)
    for box in made.boxes:
        if box.kind != "strip":
            sheet.note(box)
        elif overlay.strip is not None:
            picture = Image.frombytes("RGB", overlay.strip[1], overlay.strip[0])
            size = box.width, box.height
            sheet.image.paste(picture if picture.size == size else picture.resize(size, Image.Resampling.LANCZOS), (box.x, box.y))
    return np.asarray(sheet.image)
