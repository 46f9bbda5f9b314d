"""What the lint of a layout says is what a framebuffer that follows it has: a grid of profiles, samples, targets and formats, each advice
followed by a pass of its own. In: the line of ``rp.lint()``. Compared with: ``rp.layout`` of the pass that does what it says."""

from __future__ import annotations

import functools
import re

import pytest

import tilegpu as tg

SAMPLES = (1, 2, 4, 8, 16)
TARGETS = range(1, 9)
MALI = ("mali-g57", "mali-g610", "mali-g720", "mali-g725", "mali-g625", "immortalis-g920", "immortalis-g925")
ADRENO = ("adreno-a630", "adreno-a650", "adreno-a740")
NARROW = "r8g8b8a8_unorm"  # 4 B a sample in every tile memory
#: A target's format by its number.
MIXES: dict[str, tuple[str, ...]] = {
    "8 bits": ("r8_unorm",),
    "rgba8": (NARROW,),
    "half": ("r16g16b16a16_sfloat",),
    "float": ("r32g32b32a32_sfloat",),
    "one wide": ("r32g32b32a32_sfloat", *["r8g8b8a8_unorm"] * 7),
    "two bytes": ("r16_sfloat", "r16_sfloat", "r32g32_sfloat", "r8g8b8a8_unorm"),
}
WIDE = ("r16g16b16a16_sfloat", "r32g32b32a32_sfloat", "r32g32_sfloat")
Tile = tuple[int, int]
SIZE = (150, 100)  # larger than the least tile of a GMEM


@functools.cache
def device(profile: str) -> tg.Device:
    return tg.Device(profile, threads=1)


@functools.cache
def laid_out(profile: str, formats: tuple[str, ...], samples: int) -> tuple[Tile | None, str]:
    """The tile, None where GMEM holds none, and what lint says of it."""
    dev = device(profile)
    ops = {"load_op": "dont_care", "store_op": "dont_care"}
    color = [tg.Attachment(dev.image(SIZE, name, samples=samples, transient=True), **ops) for name in formats]
    depth = stencil = None
    if profile in ADRENO:  # counts in GMEM; a Mali's tile has room for it with and without
        depth = stencil = tg.Attachment(dev.image(SIZE, "d32_sfloat_s8_uint", samples=samples, transient=True), **ops)
    with dev.render_pass(color=color, depth=depth, stencil=stencil) as rp:
        pass
    lines = [line for line in rp.lint() if line.startswith("layout: ") and ("shrink" in line or "do not fit" in line)]
    assert len(lines) < 2
    layout = rp.layout
    fits = not any("do not fit" in line for line in lines)
    return (layout["tile_width_px"], layout["tile_height_px"]) if fits else None, lines[0] if lines else ""


def px(tile: Tile | None) -> int:
    return tile[0] * tile[1] if tile else 0


def said(line: str, words: str) -> Tile | None:
    found = re.search(rf"(?:; |, ){words} (\d+)x(\d+) px", line)
    return (int(found[1]), int(found[2])) if found else None


def check(profile: str, formats: tuple[str, ...], samples: int) -> str:
    """The line, each part of which has been followed."""
    now, line = laid_out(profile, formats, samples)
    narrow = tuple(NARROW if name in WIDE else name for name in formats)
    largest = laid_out(profile, ("r8_unorm",), 1)[0]
    shrinks = now is None if profile in ADRENO else px(now) < px(largest)
    what = f"{profile}, {samples} samples, {formats}: {now}, {line}"
    assert bool(line) == shrinks, what
    if not line:
        return ""
    one, small, both = (laid_out(profile, *how)[0] for how in ((formats, 1), (narrow, samples), (narrow, 1)))
    assert said(line, "one sample a pixel gives") == (one if px(one) > px(now) else None), what
    assert said(line, "colour formats of 4 B a sample give") == (small if px(small) > px(now) else None), what
    best = max(px(now), px(one), px(small))
    assert said(line, "both") == (both if px(both) > best else None), what
    more = px(both) < px(largest) and profile in MALI
    assert (re.search(r"fewer targets (more|give a larger one)", line) is not None) == more, what
    if more:
        assert px(laid_out(profile, narrow[:1], 1)[0]) > px(both), what
    if "smaller colour formats alone give nothing" in line:
        smallest = laid_out(profile, ("r8_uint",) * len(formats), samples)[0]
        assert smallest == now and small == now, what
    return line


@pytest.mark.parametrize("profile", [*MALI, *ADRENO])
def test_what_lint_says_of_a_layout_is_what_following_it_lays_out(profile: str) -> None:
    lines = set()
    for mix in MIXES.values():
        for targets in TARGETS:
            formats = tuple(mix[k % len(mix)] for k in range(targets))
            for samples in SAMPLES:
                try:
                    laid_out(profile, formats, samples)
                except tg.ValidationError as refused:  # not even 4x4 pixels
                    assert profile == "mali-g57" and samples == 16 and "colour in tile memory" in str(refused)
                    continue
                lines.add(check(profile, formats, samples))
    kinds = ["one sample a pixel gives", "colour formats of 4 B a sample give"]
    if profile in MALI:
        kinds += ["both", "with fewer targets more" if profile != "mali-g57" else "one sample"]
    if profile in ("mali-g720", "mali-g610", "mali-g57", "immortalis-g920"):  # half of the depth
        kinds += ["smaller colour formats alone give nothing", "and so do its"]
    missing = [kind for kind in kinds if not any(kind in line for line in lines)]
    assert not missing


@pytest.mark.parametrize(("profile", "format", "targets", "samples", "line"), [
    ("mali-g720", "r32g32b32a32_sfloat", 4, 4, "layout: 256 B of colour a pixel shrink the tile of mali-g720 to 16x8 px; one sample a "
     "pixel gives 32x16 px, colour formats of 4 B a sample give 32x16 px, both 64x32 px; with fewer targets more"),
    ("mali-g610", "r32g32b32a32_sfloat", 4, 4, "layout: 256 B of colour a pixel shrink the tile of mali-g610 to 8x8 px; one sample a pixel "
     "gives 16x16 px, colour formats of 4 B a sample give 16x16 px, both 32x32 px"),
    ("mali-g720", "r8g8b8a8_unorm", 2, 4, "layout: 16 B of depth a pixel shrink the tile of mali-g720 to 32x32 px, and so do its 32 B of "
     "colour (depth takes 4 a sample, with and without a depth attachment); one sample a pixel gives 64x64 px; smaller colour formats "
     "alone give nothing"),
    ("immortalis-g925", "r8g8b8a8_unorm", 8, 1, "layout: 32 B of colour a pixel shrink the tile of immortalis-g925 to 64x32 px; fewer "
     "targets give a larger one"),
])  # fmt: skip
def test_the_words_of_a_small_tile(profile: str, format: str, targets: int, samples: int, line: str) -> None:
    assert laid_out(profile, (format,) * targets, samples)[1] == line
