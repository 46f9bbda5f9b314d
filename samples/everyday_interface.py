"""Everyday work, flat: an interface, a page of text at 4K, a drawing of 64x64 pixels and one at 8K.

Letters are a distance field (tilegpu.scene.glyphs), panels are rounded rectangles by formula; nothing is read from a file.
"""

from __future__ import annotations

import functools

from tilegpu._samples._everyday import frame_of, read_only

from tilegpu.scene import Draw, Frame, Page, Scene, glyphs, procedural

INK, DIM, WHITE = (226, 232, 240, 255), (148, 163, 184, 255), (255, 255, 255, 255)
ACCENTS = ((56, 189, 248, 255), (52, 211, 153, 255), (251, 191, 36, 255), (248, 113, 113, 255), (167, 139, 250, 255))

TEXT = """the light of a tile falls on every pixel once and the order of its draws is kept while many threads take bins
from a list so that no lane waits for another a picture is a promise about bits and not about time yet time is
what its readers ask for first of all vertices become triangles triangles become fragments fragments become
colours and what is hidden is never shaded at all small machines have little memory near them and so they cut
the screen into squares that fit"""
WORDS = TEXT.split()


def words(seed: int, count: int) -> list[str]:
    """So many words in an order that looks like prose."""
    return [WORDS[int(r * len(WORDS))] for r in procedural.random_numbers(seed, count)]


def paragraphs(seed: int, columns: int, lines: int) -> list[str]:
    """Lines of at most ``columns`` letters: sentences, with an empty line here and there."""
    out: list[str] = []
    line, start = "", True
    for k, word in enumerate(words(seed, columns * lines)):
        end = k % 11 == 10
        text = (word.capitalize() if start else word) + ("." if end else "")
        start = end
        if len(line) + len(text) >= columns:
            out.append(line)
            line = ""
            if len(out) % 13 == 12:
                out.append("")
        line += (" " if line else "") + text
        if len(out) >= lines:
            break
    return out


def tone(color, alpha=1.0) -> tuple[float, float, float, float]:
    """Floats of a colour of bytes."""
    return (color[0] / 255, color[1] / 255, color[2] / 255, alpha)


class Interface(Scene):
    name = "interface"
    description = "a desktop application: clipped panels, 249 draws, the largest of 4,434 letters"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        return frame_of(self, size, samples, drawn_interface(size, time), clear_colors=((0.043, 0.055, 0.09, 1),), depth_format=None)


@functools.lru_cache(4)
@read_only
def drawn_interface(size: tuple[int, int], time: float) -> tuple[Draw, ...]:
    page = Page(size, (1920, 1080))
    page.panel((0, 0, 1920, 1080), (0.06, 0.075, 0.12, 1), low=(0.035, 0.04, 0.075, 1), label="background")
    sidebar(page)
    cards(page)
    table(page, 26 * time)
    document(page)
    page.panel((1480, 900, 420, 150), (0, 0, 0, 0.55), radius=18, soft=26, label="shadow")
    page.panel((1492, 904, 396, 134), (0.13, 0.16, 0.24, 0.96), radius=12, border=(0.3, 0.4, 0.6, 1), width=1.5, label="message")
    page.text(
        [
            ("Build finished", 1550, 926, 15, WHITE),
            ("312 tests passed in 4.2 s", 1550, 962, 10, DIM),
            ("Show report", 1550, 1004, 11, ACCENTS[0]),
        ],
        "message",
    )
    page.panel((1508, 926, 28, 28), tone(ACCENTS[1]), radius=14, label="mark")
    return tuple(page.draws)


def sidebar(page: Page) -> None:
    page.panel((0, 0, 250, 1080), (0.05, 0.06, 0.1, 1), border=(0.12, 0.14, 0.2, 1), width=1, label="sidebar")
    page.text([("tilegpu", 66, 30, 20, WHITE)], "name")
    page.panel((22, 24, 32, 32), tone(ACCENTS[0]), radius=8, low=tone(ACCENTS[4]), label="logo")
    names = (
        "Overview",
        "Frames",
        "Passes",
        "Tiles",
        "Shaders",
        "Textures",
        "Memory",
        "Bandwidth",
        "Captures",
        "Reports",
        "Devices",
        "Settings",
    )
    for k, name in enumerate(names):
        y = 96 + 48 * k
        if k == 1:
            page.panel((12, y - 6, 226, 40), (0.13, 0.2, 0.33, 1), radius=9, label="chosen")
        page.panel((26, y + 4, 20, 20), tone(ACCENTS[k % 5], 0.9 if k == 1 else 0.5), radius=6 if k & 1 else 10, label="icon")
        page.text([(name, 62, y + 8, 11, WHITE if k == 1 else DIM)], name)
    for k in range(3):
        y = 800 + 76 * k
        page.text([(("Processor", "Memory", "Disk")[k], 24, y, 10, DIM), (f"{(62, 38, 81)[k]} %", 190, y, 10, INK)], "gauge")
        page.panel((24, y + 22, 202, 8), (0.12, 0.14, 0.2, 1), radius=4, label="gauge")
        page.panel((24, y + 22, 2 * (62, 38, 81)[k], 8), tone(ACCENTS[k]), radius=4, label="value")


def cards(page: Page) -> None:
    page.panel((270, 20, 1180, 44), (0.09, 0.11, 0.16, 1), radius=10, border=(0.16, 0.19, 0.27, 1), width=1, label="search")
    page.text([("Search frames, passes and draws", 300, 36, 11, DIM)], "search")
    for k, name in enumerate(("Run", "Compare", "Share")):
        page.panel((1480 + 142 * k, 20, 130, 44), tone(ACCENTS[0 if k == 0 else 4], 0.9 if k == 0 else 0.25), radius=10, label="button")
        page.text([(name, 1512 + 142 * k, 36, 12, WHITE)], name)
    values = (
        ("Frame time", "4.31 ms", "-8 %"),
        ("Fragments", "2.07 M", "+0 %"),
        ("Memory read", "18.4 MB", "-31 %"),
        ("Draws", "1,284", "+4 %"),
    )
    for k, (name, value, change) in enumerate(values):
        x = 270 + 300 * k
        page.panel((x + 4, 88, 280, 150), (0, 0, 0, 0.4), radius=16, soft=16, label="shadow")
        page.panel(
            (x, 80, 284, 150),
            (0.1, 0.125, 0.19, 1),
            radius=14,
            low=(0.075, 0.09, 0.14, 1),
            border=(0.17, 0.2, 0.29, 1),
            width=1,
            label="card",
        )
        page.text(
            [(name, x + 20, 100, 10, DIM), (value, x + 20, 128, 22, WHITE), (change, x + 222, 100, 10, ACCENTS[1 if k != 3 else 2])], name
        )
        for bar, r in enumerate(procedural.random_numbers(40 + k, 24)):
            high = 8 + 38 * float(r)
            page.panel((x + 20 + 10 * bar, 218 - high, 7, high), tone(ACCENTS[k], 0.85), radius=2, label="bar")


def table(page: Page, scroll_px: float) -> None:
    clip = (270, 300, 760, 760)
    page.panel((270, 250, 760, 810), (0.075, 0.09, 0.14, 1), radius=12, border=(0.15, 0.18, 0.26, 1), width=1, label="table")
    page.text(
        [("Pass", 296, 270, 11, DIM), ("Draws", 560, 270, 11, DIM), ("Time", 690, 270, 11, DIM), ("Share", 830, 270, 11, DIM)], "head"
    )
    kinds = ("shadow map", "depth", "g-buffer", "lights", "sky", "particles", "bloom", "tone curve", "interface")
    numbers = procedural.random_numbers(7, 90)
    for k in range(24):
        y = 296 + 36 * k - scroll_px % 36
        if k & 1:
            page.panel((271, y, 758, 36), (0.095, 0.115, 0.175, 1), clip, label="row")
        ms = 0.05 + 2.4 * float(numbers[k])
        row = [
            (f"{k + 1:02}  {kinds[k % 9]}", 296, y + 12, 11, INK),
            (str(int(300 * numbers[k + 30])), 560, y + 12, 11, INK),
            (f"{ms:.2f} ms", 690, y + 12, 11, INK),
        ]
        page.text(row, "row", clip)
        page.panel((830, y + 13, 170, 10), (0.13, 0.15, 0.22, 1), clip, radius=5, label="track")
        page.panel((830, y + 13, 8 + 66 * ms, 10), tone(ACCENTS[k % 5]), clip, radius=5, label="share")
    page.panel((1018, 330, 6, 240), (0.3, 0.35, 0.45, 1), radius=3, label="scroll bar")


def document(page: Page) -> None:
    page.panel((1050, 250, 850, 810), (0.05, 0.06, 0.1, 1), radius=12, border=(0.15, 0.18, 0.26, 1), width=1, label="editor")
    page.panel((1050, 250, 850, 40), (0.085, 0.1, 0.15, 1), radius=12, label="tabs")
    page.text([("notes.md", 1076, 266, 11, WHITE), ("passes.py", 1190, 266, 11, DIM), ("light.frag", 1310, 266, 11, DIM)], "tabs")
    lines = paragraphs(3, 100, 58)
    parts = []
    for k, line in enumerate(lines):
        y = 306 + 15.2 * k
        parts.append((f"{k + 1:2}", 1062, y, 7, (71, 85, 105, 255)))
        parts.append((line, 1096, y, 7, (*ACCENTS[k // 13 % 5][:3], 255) if k % 13 == 0 else INK))
    page.text(parts, "document", (1050, 292, 848, 766))


class Newspaper(Scene):
    name, description = "text_4k", "a printed page at 4K: 12,363 letters in one draw"
    default_size = (3840, 2160)
    moves = False

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        return frame_of(self, size, samples, drawn_page(size), clear_colors=((0.945, 0.925, 0.875, 1),), depth_format=None)


@functools.lru_cache(4)
@read_only
def drawn_page(size: tuple[int, int]) -> tuple[Draw, ...]:
    page = Page(size, (3840, 2160))
    black, grey = (24, 22, 20, 255), (90, 84, 76, 255)
    title = "The Daily Tile"
    page.text(
        [
            (title, 1920 - glyphs.width_px(title, 150) / 2, 70, 150, black),
            ("No. 1,080", 90, 260, 22, grey),
            ("All the bits that are fit to print", 2700, 260, 22, grey),
            ("Price: one frame", 3420, 260, 22, grey),
        ],
        "title",
    )
    for y, high in ((300, 8), (314, 3)):
        page.panel((80, y, 3680, high), (0.09, 0.085, 0.08, 1), label="rule")
    parts = []
    heads = (
        "Depth test settles in tile memory",
        "Blending: order is kept",
        "Sampler found to be honest",
        "Lanes full again, say packers",
        "Weather: soft shadows",
        "Chess: bins against threads",
    )
    for k in range(6):
        x = 90 + 620 * k
        y = 350.0
        for block in range(2):
            first, rest = (head_lines := paragraphs_of(heads[(k + 3 * block) % 6], 17))[0], head_lines[1:]
            for line in (first, *rest):
                parts.append((line, x, y, 34, black))
                y += 62
            y += 8
            for line in paragraphs(100 + 7 * k + block, 43, 31 if block == 0 else 33):
                parts.append((line, x, y, 13.2, (40, 37, 34, 255)))
                y += 25.5
            y += 26
        if k:
            page.panel((x - 32, 350, 2, 1730), (0.6, 0.58, 0.54, 1), label="rule")
    page.text(parts, "columns")
    return tuple(page.draws)


def paragraphs_of(text: str, columns: int) -> list[str]:
    """A text in lines of at most so many letters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= columns:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


class Tiny(Scene):
    name, description = "tiny_64", "64x64 pixels and six draws, as an icon or an agent's view has them"
    default_size = (64, 64)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        page = Page(size, (64, 64))
        blink = 1.5 if time % 4 > 3.8 else 9.0
        page.panel((9, 14, 46, 42), (0.36, 0.62, 0.9, 1), radius=11, low=(0.2, 0.38, 0.75, 1), border=(0.1, 0.16, 0.35, 1), width=2)
        page.panel((15, 22, 34, 22), (0.07, 0.1, 0.2, 1), radius=7)
        page.panel((20, 33 - blink / 2, 8, blink), (0.45, 1.0, 0.85, 1), radius=4)
        page.panel((36, 33 - blink / 2, 8, blink), (0.45, 1.0, 0.85, 1), radius=4)
        page.panel((22, 48, 20, 4), (0.95, 0.8, 0.35, 1), radius=2)
        page.panel((28, 4, 8, 8), (0.98, 0.35, 0.35, 1), radius=4, border=(0.1, 0.16, 0.35, 1), width=1)
        return frame_of(self, size, samples, page.draws, clear_colors=((0.9, 0.93, 0.97, 1),), depth_format=None)


class Poster(Scene):
    name, description = "poster_8k", "a poster at 8K: 500 translucent discs, and capitals 560 pixels high"
    default_size = (7680, 4320)
    moves = False

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        return frame_of(self, size, samples, drawn_poster(size), clear_colors=((0.96, 0.94, 0.9, 1),), depth_format=None)


@functools.lru_cache(4)
@read_only
def drawn_poster(size: tuple[int, int]) -> tuple[Draw, ...]:
    page = Page(size, (7680, 4320))
    palette = ((0.93, 0.27, 0.22), (0.98, 0.66, 0.15), (0.13, 0.35, 0.6), (0.1, 0.6, 0.56), (0.36, 0.2, 0.45), (0.95, 0.82, 0.6))
    for k, (a, b, c) in enumerate(procedural.random_numbers(12, 1500).reshape(-1, 3).tolist()):
        radius = 30 + 520 * c * c * c * (0.4 + 0.6 * a)
        x, y = 7680 * a, 4320 * (0.08 + 0.84 * b)
        color = (*palette[k % 6], 0.32 + 0.3 * c)
        hollow = k % 7 == 0
        page.panel(
            (x - radius, y - radius, 2 * radius, 2 * radius),
            (*color[:3], 0.0) if hollow else color,
            radius=radius,
            border=color if hollow else (0, 0, 0, 0),
            width=16.0 if hollow else 0.0,
            label="disc",
        )
    page.panel((500, 1500, 6680, 1400), (0.08, 0.08, 0.12, 0.86), radius=120, label="band")
    dark, light = (250, 240, 220, 255), (250, 190, 90, 255)
    page.text([("ORDER & LIGHT", 7680 / 2 - glyphs.width_px("ORDER & LIGHT", 560) / 2, 1760, 560, dark)], "title")
    line = "an exhibition of pictures that are the same everywhere"
    page.text([(line, 7680 / 2 - glyphs.width_px(line, 120) / 2, 2600, 120, light)], "line")
    return tuple(page.draws)


SCENES = [Interface(), Newspaper(), Tiny(), Poster()]
