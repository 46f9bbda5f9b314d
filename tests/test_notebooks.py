"""What a notebook shows: HTML that parses, says what the text says, escapes what users name, and needs no style of its own page."""

from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import tilegpu as tg
from tilegpu import notebook
from tilegpu.texels import samples_side_by_side

VERT = """#version 450
layout(location = 0) in vec2 position;
layout(push_constant) uniform P { vec4 tint; float depth; };
layout(location = 0) out vec4 v;
void main() { v = tint; gl_Position = vec4(position, depth, 1.0); }"""
FRAG = """#version 450
layout(location = 0) in vec4 v;
layout(set = 0, binding = 1) uniform sampler2D wood;
layout(set = 0, binding = 2) uniform Light { vec3 direction; float power; } light;
layout(constant_id = 3) const int TAPS = 4;
layout(location = 0) out vec4 o;
void main() { o = v * light.power + texture(wood, v.xy) * float(TAPS) * 0.0; }"""
NAME = "<img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """Elements that are open at the end, all text, and cells by row."""

    VOID = ("img", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.rows: list[list[str]] = []
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


class Drawn:
    def __init__(self, format: str = "r8g8b8a8_unorm", samples: int = 1) -> None:
        dev = tg.Device()
        self.out = dev.image((32, 24), format, samples=samples, label=NAME)
        v = np.array([((-1, -1),), ((3, -1),), ((-1, 3),)], [("position", "f4", 2)])
        half = np.array([((-1, -1),), ((1, -1),), ((-1, 1),)], v.dtype)
        self.pipe = dev.pipeline(VERT, FRAG, vertex=v.dtype, color=[format], samples=samples, label=NAME, blend="alpha")
        wood = dev.texture(np.zeros((2, 2, 4), np.uint8))
        bind = {"wood": wood, "light": {"direction": (0, 0, 1), "power": 1.0}}
        with dev.render_pass(color=[tg.Attachment(self.out, clear=(0, 0, 0, 1))], label=NAME) as self.rp:
            self.rp.draw(self.pipe, v, bind=bind, push={"tint": (1, 0, 0, 1), "depth": 0.5})
            self.rp.draw(self.pipe, half, bind=bind, push={"tint": (0, 1, 0, 0.5), "depth": 0.25})


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return Drawn()


def test_all_tables_parse_and_escape_names(drawn: Drawn) -> None:
    frames = tg.FrameStats(NAME, [drawn.rp.stats]), tg.FrameStats("x", [])
    shown = [drawn.rp.why(2, 2), drawn.pipe.interface, drawn.rp.explain(), drawn.rp.stats, *frames]
    for one in shown:
        text = one._repr_html_()
        page = Page(text)
        assert "onerror" not in {name for _, attributes in page.tags for name in attributes}
        assert NAME in "".join(page.text) or one is shown[-1]
        assert "color:" not in re.sub(r"background:rgb\(\d+,\d+,\d+\)", "", text), "themes choose it"
        assert not re.search(r"\sclass=|<style|<script|http", text)


def test_history_has_a_row_for_each_fragment_with_its_colours(drawn: Drawn) -> None:
    page = Page(drawn.rp.why(2, 2)._repr_html_())
    head, first, second = page.rows
    assert head == ["draw", "pipeline", "of", "depth", "colour", "what became of it"]
    assert first[3] == "0.5" and second[3] == "0.25" and "blended" in second[5]
    squares = [a["style"] for tag, a in page.tags if tag == "span"]
    found = [tuple(map(int, re.search(r"rgb\((\d+),(\d+),(\d+)\)", s).groups())) for s in squares]
    assert found == [(0, 0, 0), (255, 0, 0), (255, 0, 0), (128, 128, 0)]
    # As a screen shows it: linear light is encoded.
    linear = Page(Drawn("r8g8b8a8_srgb").rp.why(2, 2)._repr_html_())
    last = [a["style"] for tag, a in linear.tags if tag == "span"][-1]
    assert re.search(r"rgb\(18[78],18[78],0\)", last)
    one_and_many = Page(Drawn(samples=4).rp.why(2, 2)._repr_html_())
    assert one_and_many.rows[0][0] == "sample" and [r[0] for r in one_and_many.rows[1:]] == ["0", "0", "1", "1", "2", "2", "3", "3"]
    assert Page(drawn.rp.why(30, 22)._repr_html_()).rows[-1][0] == "0"


def test_interface_names_everything(drawn: Drawn) -> None:
    page = Page(drawn.pipe.interface._repr_html_())
    assert ["0", "vec2", "position"] in page.rows
    assert any(row[:3] == ["0", "1", "combined_image_sampler"] and row[3] == "wood" for row in page.rows)
    assert any(row[2] == "uniform_buffer" and "12 B  float        power" in row[3] for row in page.rows)
    assert ["0", "vec4", "tint"] in page.rows and ["16", "float", "depth"] in page.rows
    assert ["3", "int", "TAPS", "4", "fragment"] in page.rows
    assert ["0", "vec4", "o"] in page.rows


def test_statistics_have_the_numbers_of_the_text(drawn: Drawn) -> None:
    page = Page(drawn.rp.stats._repr_html_())
    assert ["shaded", f"{drawn.rp.stats.fragments_shaded:,}"] in page.rows
    frame = Page(tg.FrameStats("f", [drawn.rp.stats, drawn.rp.stats])._repr_html_())
    assert len(frame.rows) == 4 and {row[0] for row in frame.rows[1:]} == {"all", NAME}


@pytest.mark.parametrize(("samples", "grid"), [(2, (2, 1)), (4, (2, 2)), (8, (4, 2)), (16, (4, 4))])
def test_samples_are_shown_beside_each_other(samples: int, grid: tuple[int, int]) -> None:
    image = Drawn(samples=samples).out
    page = Page(image._repr_html_())
    (address,) = [a["src"] for tag, a in page.tags if tag == "img"]
    shown = np.asarray(Pillow.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))))
    assert shown.shape == (grid[1] * 26 - 2, grid[0] * 34 - 2, 4)
    pixels = image.numpy()
    for k in range(samples):
        y, x = k // grid[0] * 26, k % grid[0] * 34
        assert np.array_equal(shown[y : y + 24, x : x + 32], pixels[:, :, k])
    assert f"its {samples} samples" in "".join(page.text) and image._repr_png_()[:4] == b"\x89PNG"


def test_large_ones_fit() -> None:
    assert max(samples_side_by_side(np.zeros((1080, 1920, 16, 4), np.uint8)).shape) <= 1280 + 6
    assert samples_side_by_side(np.zeros((3, 5, 2, 1), np.float32)).shape == (3, 12, 1)


def test_nothing_stored_shows_nothing() -> None:
    dev = tg.Device()
    for image in (dev.image((4, 4), "r8g8b8a8_unorm", samples=4), dev.image((4, 4), "r8g8b8a8_unorm")):
        assert image._repr_html_() is None and image._repr_png_() is None


def test_squares_of_odd_values() -> None:
    assert "rgb(255,0,0)" in notebook.swatch((7.0, float("nan"), -1.0, 1.0), "sfloat")
    assert "rgb(128,128,128)" in notebook.swatch((0.5,), "unorm")


def test_statistics_of_a_dispatch_are_printed_as_a_table() -> None:
    """As those of a pass; they were a tuple with names. A constant of one stage names it once."""
    dev = tg.Device(threads=1)
    head = "#version 450\nlayout(local_size_x_id = 0) in;\nlayout(constant_id = 0) const uint N = 64;\n"
    pipe = dev.compute_pipeline(head + "layout(binding = 0) buffer B { uint b[]; };\nvoid main() { b[0] = N; }", constants={0: 8})
    assert "(compute, compute)" not in str(pipe.interface) and "(compute)" in str(pipe.interface)
    lines = str(dev.dispatch(pipe, (2, 1, 1), bind={"B": dev.buffer(4)})).split("\n")
    assert lines[0] == "dispatch" and [line.split()[-1] for line in lines[1:3]] == ["1", "16"]
